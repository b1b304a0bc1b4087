/* The client's side: from a JSON answer to a result or an error. Lenient: fields that are not known
 * are skipped, so that a server may add some; a field that the table promises must be there. */
#include "wire_internal.h"

#include <stdlib.h>
#include <string.h>

static enum soma_status refuse(struct soma_error *error, const char *field, const char *needed)
{
    return soma_fail(error, SOMA_WRONG_TYPE, field, "the answer's field \"%s\" is not %s", field,
                     needed);
}

static enum soma_status no_memory(struct soma_error *error, const char *field)
{
    return soma_fail(error, SOMA_OUT_OF_MEMORY, field, "no memory for the answer's field \"%s\"",
                     field);
}

/* ---- single values ---- */

static bool read_integer(const cJSON *item, uint64_t *value)
{
    if (cJSON_IsString(item))
        return wire_read_decimal(item->valuestring, strlen(item->valuestring), value) ==
               WIRE_NUMBER_OK;
    double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (!(number >= 0 && number <= (double)SOMA_JSON_INTEGER_MAX))
        return false;
    *value = (uint64_t)number;
    return (double)*value == number;
}

static enum soma_status read_u64(const cJSON *item, const struct soma_member *member, void *place,
                                 struct soma_error *error)
{
    uint64_t value;
    if (cJSON_IsNull(item) && member->kind != SOMA_MEMBER_KIND_U64)
        value = SOMA_NONE;
    else if (!read_integer(item, &value))
        return refuse(error, member->json, "an integer");
    memcpy(place, &value, sizeof(value));
    return SOMA_OK;
}

static enum soma_status read_bool(const cJSON *item, const struct soma_member *member, void *place,
                                  struct soma_error *error)
{
    if (!cJSON_IsBool(item))
        return refuse(error, member->json, "a boolean");
    *(bool *)place = cJSON_IsTrue(item) != 0;
    return SOMA_OK;
}

static enum soma_status read_double(const cJSON *item, const struct soma_member *member,
                                    void *place, struct soma_error *error)
{
    if (!cJSON_IsNumber(item))
        return refuse(error, member->json, "a number");
    *(double *)place = item->valuedouble;
    return SOMA_OK;
}

static enum soma_status read_address(const cJSON *item, const struct soma_member *member,
                                     void *place, struct soma_error *error)
{
    uint64_t value;
    bool good = cJSON_IsString(item)
                    ? wire_read_address(item->valuestring, strlen(item->valuestring), &value) ==
                          WIRE_NUMBER_OK
                    : read_integer(item, &value);
    if (!good)
        return refuse(error, member->json, "an address");
    memcpy(place, &value, sizeof(value));
    return SOMA_OK;
}

static enum soma_status read_word(const cJSON *item, const struct soma_member *member, void *place,
                                  struct soma_error *error)
{
    int value;
    if (!cJSON_IsString(item) ||
        !soma_value_of((enum soma_enum_group)member->sub, item->valuestring,
                       strlen(item->valuestring), &value))
        return refuse(error, member->json, "one of its words");
    *(int *)place = value;
    return SOMA_OK;
}

/* Texts of answers name SoCs; static storage is all that a result may borrow. */
static enum soma_status read_text(const cJSON *item, const struct soma_member *member, void *place,
                                  struct soma_error *error)
{
    if (!cJSON_IsString(item))
        return refuse(error, member->json, "a string");
    const struct soma_soc *soc = soma_soc_find(item->valuestring, strlen(item->valuestring));
    const char *text = soc == NULL ? "" : soc->name;
    memcpy(place, &text, sizeof(text));
    return SOMA_OK;
}

static void copy_cut(char *to, size_t to_bytes, const char *text)
{
    size_t len = strlen(text);
    if (len >= to_bytes) {
        len = to_bytes - 1;
        while (len > 0 && ((unsigned char)text[len] & 0xc0u) == 0x80u)
            len--;
    }
    memcpy(to, text, len);
    to[len] = '\0';
}

static enum soma_status read_name(const cJSON *item, const struct soma_member *member, void *place,
                                  struct soma_error *error)
{
    if (!cJSON_IsString(item))
        return refuse(error, member->json, "a string");
    copy_cut(place, SOMA_NAME_BYTES_MAX + 1, item->valuestring);
    return SOMA_OK;
}

/* ---- what owns memory ---- */

static enum soma_status read_data(const cJSON *item, const struct soma_member *member, void *place,
                                  struct soma_error *error)
{
    struct soma_buffer *buffer = place;
    if (!cJSON_IsString(item))
        return refuse(error, member->json, "a string in base64");
    size_t text_len = strlen(item->valuestring);
    size_t len = wire_base64_bytes(item->valuestring, text_len);
    unsigned char *bytes = malloc(len == 0 ? 1 : len);
    if (bytes == NULL)
        return no_memory(error, member->json);
    if (!wire_base64_read(item->valuestring, text_len, bytes)) {
        free(bytes);
        return refuse(error, member->json, "a string in base64");
    }
    buffer->ptr = bytes;
    buffer->len = len;
    return SOMA_OK;
}

static enum soma_status read_names(const cJSON *array, const struct soma_member *member,
                                   void *place, struct soma_error *error)
{
    struct soma_names *names = place;
    if (!cJSON_IsArray(array))
        return refuse(error, member->json, "an array of strings");
    size_t count = (size_t)cJSON_GetArraySize(array);
    names->items = count == 0 ? NULL : malloc(count * sizeof(*names->items));
    if (count > 0 && names->items == NULL)
        return no_memory(error, member->json);
    for (const cJSON *item = array->child; item != NULL; item = item->next) {
        if (!cJSON_IsString(item))
            return refuse(error, member->json, "an array of strings");
        copy_cut(names->items[names->count++], SOMA_MESSAGE_BYTES, item->valuestring);
    }
    return SOMA_OK;
}

static enum soma_status read_message(const cJSON *object, enum soma_message message, void *base,
                                     struct soma_error *error);

static enum soma_status read_array(const cJSON *array, const struct soma_member *member,
                                   void *place, struct soma_error *error)
{
    struct soma_array items = {NULL, 0};
    enum soma_message message = (enum soma_message)member->sub;
    if (!cJSON_IsArray(array))
        return refuse(error, member->json, "an array");
    size_t count = (size_t)cJSON_GetArraySize(array);
    size_t size = soma_message_info(message)->size;
    items.items = count == 0 ? NULL : calloc(count, size);
    if (count > 0 && items.items == NULL)
        return no_memory(error, member->json);
    enum soma_status status = SOMA_OK;
    for (const cJSON *item = array->child; item != NULL && status == SOMA_OK; item = item->next)
        status = read_message(item, message, (char *)items.items + items.count++ * size, error);
    memcpy(place, &items, sizeof(items)); /* also what is half read: it is released with the rest */
    return status;
}

/* ---- messages ---- */

static enum soma_status read_member(const cJSON *item, const struct soma_member *member,
                                    void *place, struct soma_error *error)
{
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64: return read_u64(item, member, place, error);
    case SOMA_MEMBER_KIND_BOOL: return read_bool(item, member, place, error);
    case SOMA_MEMBER_KIND_F64: return read_double(item, member, place, error);
    case SOMA_MEMBER_KIND_ADDRESS: return read_address(item, member, place, error);
    case SOMA_MEMBER_KIND_ENUM: return read_word(item, member, place, error);
    case SOMA_MEMBER_KIND_TEXT: return read_text(item, member, place, error);
    case SOMA_MEMBER_KIND_NAME: return read_name(item, member, place, error);
    case SOMA_MEMBER_KIND_DATA: return read_data(item, member, place, error);
    case SOMA_MEMBER_KIND_OBJECT:
        return read_message(item, (enum soma_message)member->sub, place, error);
    case SOMA_MEMBER_KIND_ARRAY: return read_array(item, member, place, error);
    case SOMA_MEMBER_KIND_NAMES: return read_names(item, member, place, error);
    }
    return SOMA_INTERNAL;
}

static enum soma_status read_message(const cJSON *object, enum soma_message message, void *base,
                                     struct soma_error *error)
{
    static const uint64_t none = SOMA_NONE;
    const struct soma_message_info *info = soma_message_info(message);
    if (!cJSON_IsObject(object))
        return refuse(error, info->name, "an object");
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        void *place = (char *)base + member->offset;
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member->json);
        if (item == NULL && member->kind == SOMA_MEMBER_KIND_OPT_U64) {
            memcpy(place, &none, sizeof(none));
            continue;
        }
        if (item == NULL)
            return soma_fail(error, SOMA_MISSING_FIELD, member->json,
                             "the answer has no field \"%s\"", member->json);
        enum soma_status status = read_member(item, member, place, error);
        if (status != SOMA_OK)
            return status;
    }
    return SOMA_OK;
}

static void release_malloc(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

enum soma_status wire_decode_result(const cJSON *object, enum soma_message message,
                                    struct soma_result *result, struct soma_error *error)
{
    memset(result, 0, sizeof(*result));
    result->message = message;
    if (message == SOMA_MESSAGE_NONE)
        return SOMA_OK;
    enum soma_status status = read_message(object, message, &result->u, error);
    if (status != SOMA_OK)
        soma_result_clear(result, release_malloc, NULL);
    return status;
}

/* ---- errors ---- */

static const char *string_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

bool wire_decode_error(const cJSON *object, struct soma_error *error, int *acl_error)
{
    const cJSON *outer = cJSON_GetObjectItemCaseSensitive(object, "error");
    const cJSON *inner = outer != NULL ? outer : object;
    const cJSON *details = cJSON_GetObjectItemCaseSensitive(inner, "details");
    const cJSON *detail = cJSON_IsArray(details) ? details->child : NULL;
    const char *reason = string_of(detail, "reason");
    const char *message = string_of(inner, "message");
    if (reason == NULL || message == NULL)
        return false;
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(detail, "aclError");
    int acl = cJSON_IsNumber(number) ? number->valueint : 0;
    const char *field = string_of(detail, "field");
    error->status = soma_status_of_reason(reason, acl);
    copy_cut(error->field, sizeof(error->field), field == NULL ? "" : field);
    copy_cut(error->message, sizeof(error->message), message);
    *acl_error = acl != 0 ? acl : soma_status_info(error->status)->acl_error;
    return true;
}
