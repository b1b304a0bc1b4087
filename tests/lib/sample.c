/* Walks the same descriptors as the encoder, with random values. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

static void *must_alloc(struct wire_arena *arena, size_t bytes)
{
    void *ptr = arena != NULL ? wire_arena_alloc(arena, bytes) : malloc(bytes == 0 ? 1 : bytes);
    if (ptr == NULL)
        abort();
    return ptr;
}

/* ---- commands ---- */

/* Valid UTF-8 with everything that needs an escape, at most max bytes, no NUL. */
static size_t sample_utf8(struct random_source *source, char *to, size_t max)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "0",
                                         " ",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\x01",
                                         "\x7f",
                                         "\xc3\xa9",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80",
                                         "{",
                                         "$"};
    size_t len = 0;
    size_t wanted = random_below(source, max + 1);
    for (;;) {
        const char *piece = pieces[random_below(source, sizeof(pieces) / sizeof(pieces[0]))];
        if (len + strlen(piece) > wanted)
            return len;
        memcpy(to + len, piece, strlen(piece));
        len += strlen(piece);
    }
}

static struct soma_text sample_bytes(struct random_source *source, struct wire_arena *arena)
{
    size_t len = random_below(source, 100);
    char *bytes = must_alloc(arena, len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)random_below(source, 256);
    return (struct soma_text){bytes, len};
}

/* Bits of a finite float that is `bits` wide, `fraction` of them the fraction. */
static uint64_t sample_float(struct random_source *source, unsigned bits, unsigned fraction)
{
    uint64_t value = random_next(source) >> (64 - bits);
    uint64_t exponent = ((UINT64_C(1) << (bits - fraction - 1)) - 1) << fraction;
    if ((value & exponent) == exponent)
        value ^= UINT64_C(1) << fraction;
    return value;
}

static struct soma_kernel_arg sample_arg(struct random_source *source, struct wire_arena *arena)
{
    struct soma_kernel_arg arg = {.kind = (enum soma_arg_kind)random_below(source, 11)};
    switch (arg.kind) {
    case SOMA_ARG_PTR:
    case SOMA_ARG_U64:
    case SOMA_ARG_I64: arg.bits = random_edge(source, 0, UINT64_MAX); break;
    case SOMA_ARG_U8: arg.bits = random_edge(source, 0, UINT8_MAX); break;
    case SOMA_ARG_U16: arg.bits = random_edge(source, 0, UINT16_MAX); break;
    case SOMA_ARG_U32: arg.bits = random_edge(source, 0, UINT32_MAX); break;
    case SOMA_ARG_I32: arg.bits = (uint64_t)(int64_t)(int32_t)random_next(source); break;
    case SOMA_ARG_F16: arg.bits = sample_float(source, 16, 10); break;
    case SOMA_ARG_F32: arg.bits = sample_float(source, 32, 23); break;
    case SOMA_ARG_F64: arg.bits = sample_float(source, 64, 52); break;
    case SOMA_ARG_BYTES: arg.bytes = sample_bytes(source, arena); break;
    }
    return arg;
}

static uint64_t sample_word(struct random_source *source, enum soma_enum_group group)
{
    const struct soma_word_list *list = soma_words(group);
    return (uint64_t)list->words[random_below(source, list->count)].value;
}

static void sample_struct(struct random_source *source, const struct soma_field_row *row,
                          struct wire_arena *arena, struct soma_command *command)
{
    void *place = (char *)command + soma_field_offset(row->field);
    if (row->kind == SOMA_KIND_ARGS) {
        struct soma_kernel_args *args = place;
        args->count = random_below(source, SOMA_KERNEL_ARGS_MAX + 1);
        struct soma_kernel_arg *items = must_alloc(arena, args->count * sizeof(*items));
        for (size_t i = 0; i < args->count; i++)
            items[i] = sample_arg(source, arena);
        args->items = items;
    } else if (row->kind == SOMA_KIND_TEXT) {
        char *text = must_alloc(arena, SOMA_NAME_BYTES_MAX);
        size_t len = sample_utf8(source, text, SOMA_NAME_BYTES_MAX);
        *(struct soma_text *)place = (struct soma_text){text, len};
    } else {
        *(struct soma_text *)place = sample_bytes(source, arena);
    }
    command->present |= UINT64_C(1) << row->field;
}

static void sample_field(struct random_source *source, const struct soma_field_row *row,
                         struct wire_arena *arena, struct soma_command *command)
{
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    if (row->kind == SOMA_KIND_LOCATION) {
        soma_command_set(command, SOMA_FIELD_location_type,
                         sample_word(source, SOMA_GROUP_location_type));
        soma_command_set(command, SOMA_FIELD_location_id, random_edge(source, 0, UINT64_MAX));
    } else if (row->kind == SOMA_KIND_ARGS || row->kind == SOMA_KIND_TEXT ||
               row->kind == SOMA_KIND_BASE64) {
        sample_struct(source, row, arena, command);
    } else if (kind->words != SOMA_GROUP_COUNT) {
        soma_command_set(command, row->field, sample_word(source, kind->words));
    } else if (row->kind == SOMA_KIND_TIMEOUT && random_below(source, 4) == 0) {
        soma_command_set(command, row->field, UINT64_MAX);
    } else {
        soma_command_set(command, row->field, random_edge(source, kind->min, kind->max));
    }
}

void sample_command(struct random_source *source, enum soma_op op, struct wire_arena *arena,
                    struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(op);
    soma_command_init(command, op);
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].required || random_below(source, 2) == 0)
            sample_field(source, &info->fields[i], arena, command);
    }
}

/* ---- comparison ---- */

static bool same_bytes(const struct soma_text *a, const struct soma_text *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->ptr, b->ptr, a->len) == 0);
}

static bool same_args(const struct soma_kernel_args *a, const struct soma_kernel_args *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].kind != b->items[i].kind || a->items[i].bits != b->items[i].bits ||
            !same_bytes(&a->items[i].bytes, &b->items[i].bytes))
            return false;
    }
    return true;
}

bool sample_same_command(const struct soma_command *a, const struct soma_command *b)
{
    if (a->op != b->op || a->present != b->present || a->location_id != b->location_id)
        return false;
    const struct soma_op_info *info = soma_op_info(a->op);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        const void *of_a = (const char *)a + soma_field_offset(row->field);
        const void *of_b = (const char *)b + soma_field_offset(row->field);
        bool same;
        if (row->kind == SOMA_KIND_ARGS)
            same = same_args(of_a, of_b);
        else if (row->kind == SOMA_KIND_TEXT || row->kind == SOMA_KIND_BASE64)
            same = same_bytes(of_a, of_b);
        else
            same = soma_command_get(a, row->field) == soma_command_get(b, row->field);
        if (!same)
            return false;
    }
    return true;
}

/* ---- answers ---- */

static void sample_message(struct random_source *source, enum soma_message message, char *base);

static void sample_text(struct random_source *source, void *place)
{
    const char *text = "";
    const struct soma_soc *soc = soma_soc_row((unsigned)random_below(source, 8));
    if (soc != NULL)
        text = soc->name;
    memcpy(place, &text, sizeof(text));
}

static void sample_array(struct random_source *source, enum soma_message message, void *place)
{
    struct soma_array array = {NULL, random_below(source, 4)};
    size_t size = soma_message_info(message)->size;
    if (array.count > 0) {
        array.items = must_alloc(NULL, array.count * size);
        memset(array.items, 0, array.count * size);
    }
    for (size_t i = 0; i < array.count; i++)
        sample_message(source, message, (char *)array.items + i * size);
    memcpy(place, &array, sizeof(array));
}

static void sample_names(struct random_source *source, struct soma_names *names)
{
    names->count = random_below(source, 4);
    names->items = must_alloc(NULL, names->count * sizeof(*names->items));
    for (size_t i = 0; i < names->count; i++) {
        size_t len = sample_utf8(source, names->items[i], SOMA_MESSAGE_BYTES - 1);
        names->items[i][len] = '\0';
    }
}

static void sample_number(struct random_source *source, const struct soma_member *member,
                          void *place)
{
    uint64_t most = member->kind == SOMA_MEMBER_KIND_ADDRESS ? UINT64_MAX : SOMA_JSON_INTEGER_MAX;
    uint64_t value = random_edge(source, 0, most);
    bool may_lack =
        member->kind == SOMA_MEMBER_KIND_OPT_U64 || member->kind == SOMA_MEMBER_KIND_NULL_U64;
    if (may_lack && random_below(source, 2) == 0)
        value = SOMA_NONE;
    memcpy(place, &value, sizeof(value));
}

static void sample_member(struct random_source *source, const struct soma_member *member,
                          void *place)
{
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_ADDRESS: sample_number(source, member, place); break;
    case SOMA_MEMBER_KIND_BOOL: *(bool *)place = random_below(source, 2) == 0; break;
    case SOMA_MEMBER_KIND_F64: {
        uint64_t bits = sample_float(source, 64, 52);
        memcpy(place, &bits, sizeof(bits));
        break;
    }
    case SOMA_MEMBER_KIND_ENUM:
        *(int *)place = (int)sample_word(source, (enum soma_enum_group)member->sub);
        break;
    case SOMA_MEMBER_KIND_TEXT: sample_text(source, place); break;
    case SOMA_MEMBER_KIND_NAME:
        ((char *)place)[sample_utf8(source, place, SOMA_NAME_BYTES_MAX)] = '\0';
        break;
    case SOMA_MEMBER_KIND_DATA: {
        struct soma_text bytes = sample_bytes(source, NULL);
        struct soma_buffer buffer = {NULL, bytes.len};
        memcpy(&buffer.ptr, &bytes.ptr, sizeof(buffer.ptr));
        memcpy(place, &buffer, sizeof(buffer));
        break;
    }
    case SOMA_MEMBER_KIND_OBJECT:
        sample_message(source, (enum soma_message)member->sub, place);
        break;
    case SOMA_MEMBER_KIND_ARRAY: sample_array(source, (enum soma_message)member->sub, place); break;
    case SOMA_MEMBER_KIND_NAMES: sample_names(source, place); break;
    }
}

static void sample_message(struct random_source *source, enum soma_message message, char *base)
{
    const struct soma_message_info *info = soma_message_info(message);
    for (size_t i = 0; i < info->member_count; i++)
        sample_member(source, &info->members[i], base + info->members[i].offset);
}

void sample_result(struct random_source *source, enum soma_message message,
                   struct soma_result *result)
{
    memset(result, 0, sizeof(*result));
    result->message = message;
    if (message != SOMA_MESSAGE_NONE)
        sample_message(source, message, (char *)&result->u);
}

static void release_malloc(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

void sample_release(struct soma_result *result)
{
    soma_result_clear(result, release_malloc, NULL);
}
