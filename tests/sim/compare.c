/* Walks messages by their descriptors. */
#include "compare.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

/* ---- comparing ---- */

static const void *member_of(const void *base, const struct soma_member *member)
{
    return (const char *)base + member->offset;
}

static bool differ(char *path, size_t path_bytes, const char *json, const char *rest)
{
    char whole[256];
    (void)snprintf(whole, sizeof(whole), "%s%s", json, rest);
    (void)snprintf(path, path_bytes, "%s", whole);
    return false;
}

static bool compare_arrays(const struct soma_member *member, const struct soma_array *left,
                           const struct soma_array *right, char *path, size_t path_bytes)
{
    const struct soma_message_info *info = soma_message_info((enum soma_message)member->sub);
    if (left->count != right->count)
        return differ(path, path_bytes, member->json, "[] (count)");
    for (size_t i = 0; i < left->count; i++) {
        char inner[128];
        char rest[192];
        if (compare_messages((enum soma_message)member->sub,
                             (const char *)left->items + i * info->size,
                             (const char *)right->items + i * info->size, inner, sizeof(inner)))
            continue;
        (void)snprintf(rest, sizeof(rest), "[%zu].%s", i, inner);
        return differ(path, path_bytes, member->json, rest);
    }
    return true;
}

static bool compare_data(const struct soma_buffer *left, const struct soma_buffer *right)
{
    return left->len == right->len &&
           (left->len == 0 || memcmp(left->ptr, right->ptr, left->len) == 0);
}

static bool compare_bools(const void *left, const void *right)
{
    return *(const bool *)left == *(const bool *)right;
}

static bool compare_members(const struct soma_member *member, const void *left, const void *right,
                            char *path, size_t path_bytes)
{
    bool is_same = false;
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_ADDRESS: is_same = memcmp(left, right, sizeof(uint64_t)) == 0; break;
    case SOMA_MEMBER_KIND_BOOL: is_same = compare_bools(left, right); break;
    case SOMA_MEMBER_KIND_F64: is_same = memcmp(left, right, sizeof(double)) == 0; break;
    case SOMA_MEMBER_KIND_ENUM: is_same = memcmp(left, right, sizeof(int)) == 0; break;
    case SOMA_MEMBER_KIND_TEXT:
        is_same = strcmp(*(const char *const *)left, *(const char *const *)right) == 0;
        break;
    case SOMA_MEMBER_KIND_NAME: is_same = strcmp(left, right) == 0; break;
    case SOMA_MEMBER_KIND_DATA: is_same = compare_data(left, right); break;
    case SOMA_MEMBER_KIND_ARRAY: return compare_arrays(member, left, right, path, path_bytes);
    case SOMA_MEMBER_KIND_OBJECT: {
        char inner[160];
        char rest[176];
        if (compare_messages((enum soma_message)member->sub, left, right, inner, sizeof(inner)))
            return true;
        (void)snprintf(rest, sizeof(rest), ".%s", inner);
        return differ(path, path_bytes, member->json, rest);
    }
    case SOMA_MEMBER_KIND_NAMES: is_same = true; break; /* only in answers of pipes */
    }
    return is_same || differ(path, path_bytes, member->json, "");
}

bool compare_messages(enum soma_message message, const void *left, const void *right, char *path,
                      size_t path_bytes)
{
    const struct soma_message_info *info = soma_message_info(message);
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        if (!compare_members(member, member_of(left, member), member_of(right, member), path,
                             path_bytes))
            return false;
    }
    return true;
}

bool compare_results(const struct soma_result *left, const struct soma_result *right, char *path,
                     size_t path_bytes)
{
    if (left->message != right->message)
        return differ(path, path_bytes, "(kind of answer)", "");
    if (left->message == SOMA_MESSAGE_NONE)
        return true;
    return compare_messages(left->message, &left->u, &right->u, path, path_bytes);
}

/* ---- printing ---- */

void print_base64(FILE *file, const unsigned char *ptr, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    fputc('"', file);
    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = (uint32_t)ptr[i] << 16;
        bits |= i + 1 < len ? (uint32_t)ptr[i + 1] << 8 : 0;
        bits |= i + 2 < len ? (uint32_t)ptr[i + 2] : 0;
        fputc(digits[bits >> 18 & 63], file);
        fputc(digits[bits >> 12 & 63], file);
        fputc(i + 1 < len ? digits[bits >> 6 & 63] : '=', file);
        fputc(i + 2 < len ? digits[bits & 63] : '=', file);
    }
    fputc('"', file);
}

static void print_message(FILE *file, enum soma_message message, const void *base);

static void print_array(FILE *file, const struct soma_member *member,
                        const struct soma_array *array)
{
    const struct soma_message_info *info = soma_message_info((enum soma_message)member->sub);
    fputc('[', file);
    for (size_t i = 0; i < array->count; i++) {
        fputs(i > 0 ? ", " : "", file);
        print_message(file, (enum soma_message)member->sub,
                      (const char *)array->items + i * info->size);
    }
    fputc(']', file);
}

static void print_u64(FILE *file, const void *place)
{
    uint64_t value;
    memcpy(&value, place, sizeof(value));
    if (value == SOMA_NONE)
        fputs("null", file);
    else
        fprintf(file, "%" PRIu64, value);
}

static void print_member(FILE *file, const struct soma_member *member, const void *place)
{
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64: print_u64(file, place); break;
    case SOMA_MEMBER_KIND_ADDRESS:
        fprintf(file, "\"0x%" PRIx64 "\"", *(const uint64_t *)place);
        break;
    case SOMA_MEMBER_KIND_BOOL: fputs(*(const bool *)place ? "true" : "false", file); break;
    case SOMA_MEMBER_KIND_F64: fprintf(file, "%.17g", *(const double *)place); break;
    case SOMA_MEMBER_KIND_ENUM: {
        const char *word = soma_word_of((enum soma_enum_group)member->sub, *(const int *)place);
        fprintf(file, "\"%s\"", word == NULL ? "?" : word);
        break;
    }
    case SOMA_MEMBER_KIND_TEXT: fprintf(file, "\"%s\"", *(const char *const *)place); break;
    case SOMA_MEMBER_KIND_NAME: fprintf(file, "\"%s\"", (const char *)place); break;
    case SOMA_MEMBER_KIND_DATA: {
        const struct soma_buffer *data = place;
        print_base64(file, data->ptr, data->len);
        break;
    }
    case SOMA_MEMBER_KIND_OBJECT: print_message(file, (enum soma_message)member->sub, place); break;
    case SOMA_MEMBER_KIND_ARRAY: print_array(file, member, place); break;
    case SOMA_MEMBER_KIND_NAMES: fputs("[]", file); break;
    }
}

/* An optional field without a value is left out. */
static bool is_printed(const struct soma_member *member, const void *place)
{
    uint64_t value = 0;
    if (member->kind == SOMA_MEMBER_KIND_OPT_U64)
        memcpy(&value, place, sizeof(value));
    return value != SOMA_NONE;
}

static void print_message(FILE *file, enum soma_message message, const void *base)
{
    const struct soma_message_info *info = soma_message_info(message);
    const char *separator = "";
    fputc('{', file);
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        const void *place = member_of(base, member);
        if (!is_printed(member, place))
            continue;
        fprintf(file, "%s\"%s\": ", separator, member->json);
        print_member(file, member, place);
        separator = ", ";
    }
    fputc('}', file);
}

void print_result(FILE *file, const struct soma_result *result)
{
    if (result->message == SOMA_MESSAGE_NONE)
        fputs("{}", file);
    else
        print_message(file, result->message, &result->u);
}
