/* From a JSON object, or from the text of a path, to a command: a walk over the object's members by
 * the command's own row list. Strict: every field is known, has its type and lies in its range, or
 * the command is refused by name. Knows no HTTP and no engine. */
#include "wire_internal.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the reading of one command has at hand. */
struct reader {
    const struct soma_op_info *info;
    bool in_batch;
    const struct wire_names *names;
    struct wire_arena *arena;
    struct soma_command *command;
    struct soma_error *error;
};

/* ---- refusals ---- */

static const char *type_of(const struct wire_value *item)
{
    static const char *const names[] = {"null",     "a boolean", "a number",
                                        "a string", "an array",  "an object"};
    return names[item->type];
}

static enum soma_status refuse_type(struct soma_error *error, const char *field, const char *needed,
                                    const struct wire_value *item)
{
    return soma_fail(error, SOMA_WRONG_TYPE, field, "%s: %s is needed, not %s", field, needed,
                     type_of(item));
}

/* Add to a list "a, b, c"; it is cut where the buffer ends. */
static void append_word(char *buf, size_t buf_bytes, const char *word)
{
    size_t len = strlen(buf);
    (void)snprintf(buf + len, buf_bytes - len, "%s%s", len == 0 ? "" : ", ", word);
}

static enum soma_status refuse_unknown(const struct reader *reader, const struct wire_value *item,
                                       const struct soma_field_row *row)
{
    char known[400] = "", key[SOMA_FIELD_BYTES], quoted[WIRE_QUOTE_BYTES];
    (void)snprintf(key, sizeof(key), "%.*s", (int)item->key_len, item->key);
    if (row != NULL)
        return soma_fail(reader->error, SOMA_UNKNOWN_FIELD, key,
                         "%s: %s takes it from the %s, not from the body: leave the field out", key,
                         reader->info->name, row->where == SOMA_WHERE_PATH ? "path" : "query");
    for (size_t i = 0; i < reader->info->field_count; i++) {
        const struct soma_field_row *other = &reader->info->fields[i];
        if (reader->in_batch || other->where == SOMA_WHERE_BODY)
            append_word(known, sizeof(known), soma_field_json(other->field));
    }
    return soma_fail(reader->error, SOMA_UNKNOWN_FIELD, key, "%s has no field %s; it has %s",
                     reader->info->name, wire_quote(quoted, item->key, item->key_len),
                     known[0] == '\0' ? "none" : known);
}

enum soma_status wire_refuse_word(struct soma_error *error, const char *field,
                                  enum soma_enum_group group, const char *shown)
{
    char known[512] = "";
    const struct soma_word_list *list = soma_words(group);
    for (size_t i = 0; i < list->count; i++)
        append_word(known, sizeof(known), list->words[i].word);
    enum soma_status status = group == SOMA_GROUP_pool_attribute  ? SOMA_UNKNOWN_ATTRIBUTE
                              : group == SOMA_GROUP_alloc_type    ? SOMA_UNSUPPORTED_ALLOC_TYPE
                              : group == SOMA_GROUP_location_type ? SOMA_UNSUPPORTED_LOCATION
                                                                  : SOMA_INVALID_VALUE;
    return soma_fail(error, status, field, "%s: %s is not a word for it: use %s", field, shown,
                     known);
}

static enum soma_status refuse_word(struct soma_error *error, const char *field,
                                    enum soma_enum_group group, const char *text, size_t len)
{
    char quoted[WIRE_QUOTE_BYTES];
    return wire_refuse_word(error, field, group, wire_quote(quoted, text, len));
}

/* ---- numbers ---- */

static bool takes_names(enum soma_field_kind kind)
{
    return kind == SOMA_KIND_ID || kind == SOMA_KIND_ADDRESS;
}

/* A range of integers and how they are told. */
struct number_rule {
    const char *field;
    enum soma_field_kind kind; /* how text is read */
    uint64_t min, max;
};

static struct number_rule rule_of(const struct soma_field_row *row)
{
    const struct soma_field_kind_info *info = soma_field_kind_info(row->kind);
    return (struct number_rule){soma_field_json(row->field), row->kind, info->min, info->max};
}

static enum soma_status refuse_range(struct soma_error *error, const struct number_rule *rule,
                                     const char *shown)
{
    if (rule->kind == SOMA_KIND_DEVICE)
        return soma_fail(error, SOMA_NO_SUCH_DEVICE, rule->field,
                         "%s: there is no device %s: numbers begin at 0 and end before %u",
                         rule->field, shown, SOMA_DEVICES_MAX);
    return soma_fail(error, SOMA_VALUE_OUT_OF_RANGE, rule->field,
                     "%s: %s is outside %" PRIu64 "..%" PRIu64 "%s", rule->field, shown, rule->min,
                     rule->max, rule->kind == SOMA_KIND_TIMEOUT ? ", and not -1" : "");
}

static enum soma_status check_range(struct soma_error *error, const struct number_rule *rule,
                                    uint64_t value)
{
    if (value >= rule->min && value <= rule->max)
        return SOMA_OK;
    char shown[24];
    (void)snprintf(shown, sizeof(shown), "%" PRIu64, value);
    return refuse_range(error, rule, shown);
}

enum soma_status wire_check_number(const struct soma_field_row *row, uint64_t value,
                                   struct soma_error *error)
{
    struct number_rule rule = rule_of(row);
    if (row->kind == SOMA_KIND_TIMEOUT && value == UINT64_MAX)
        return SOMA_OK; /* -1 */
    return check_range(error, &rule, value);
}

static enum soma_status number_of_text(struct soma_error *error, const struct number_rule *rule,
                                       const char *text, size_t len, uint64_t *value)
{
    char quoted[WIRE_QUOTE_BYTES];
    const char *form = "decimal digits without sign, spaces or leading zeros";
    enum wire_number outcome;
    if (rule->kind == SOMA_KIND_TIMEOUT && len == 2 && memcmp(text, "-1", 2) == 0) {
        *value = UINT64_MAX;
        return SOMA_OK;
    }
    if (rule->kind == SOMA_KIND_BYTES) {
        form = "decimal digits, with KiB, MiB, GiB or TiB right behind them where wanted";
        outcome = wire_read_bytes(text, len, value);
    } else if (rule->kind == SOMA_KIND_ADDRESS) {
        form = "\"0x\" and 1 to 16 hexadecimal digits, or decimal digits";
        outcome = wire_read_address(text, len, value);
    } else {
        outcome = wire_read_decimal(text, len, value);
    }
    if (outcome == WIRE_NUMBER_TOO_LARGE)
        return refuse_range(error, rule, wire_quote(quoted, text, len));
    if (outcome == WIRE_NUMBER_BAD)
        return soma_fail(error, SOMA_INVALID_VALUE, rule->field, "%s: %s is no valid %s: write %s",
                         rule->field, wire_quote(quoted, text, len),
                         soma_field_kind_info(rule->kind)->type, form);
    return check_range(error, rule, *value);
}

/* A number token as an integer in *magnitude, and its sign. */
static enum soma_status integer_of_token(struct soma_error *error, const char *field,
                                         const struct wire_value *item, uint64_t *magnitude,
                                         bool *negative)
{
    size_t sign = item->text[0] == '-' ? 1 : 0;
    if (wire_read_decimal(item->text + sign, item->len - sign, magnitude) != WIRE_NUMBER_OK ||
        *magnitude > SOMA_JSON_INTEGER_MAX)
        return wire_refuse_number(error, field, item->text, item->len);
    *negative = sign > 0 && *magnitude != 0;
    return SOMA_OK;
}

static enum soma_status number_of_token(struct soma_error *error, const struct number_rule *rule,
                                        const struct wire_value *item, uint64_t *value)
{
    bool negative = false;
    uint64_t magnitude = 0;
    enum soma_status status = integer_of_token(error, rule->field, item, &magnitude, &negative);
    if (status != SOMA_OK)
        return status;
    if (negative && rule->kind == SOMA_KIND_TIMEOUT && magnitude == 1) {
        *value = UINT64_MAX;
        return SOMA_OK;
    }
    if (negative) {
        char shown[24];
        (void)snprintf(shown, sizeof(shown), "-%" PRIu64, magnitude);
        return refuse_range(error, rule, shown);
    }
    *value = magnitude;
    return check_range(error, rule, magnitude);
}

static enum soma_status number_of_name(const struct reader *reader, const char *field,
                                       const struct wire_value *item, uint64_t *value)
{
    if (reader->names != NULL &&
        wire_names_get(reader->names, item->text + 1, item->len - 1, value))
        return SOMA_OK;
    char quoted[WIRE_QUOTE_BYTES];
    return soma_fail(reader->error, SOMA_UNKNOWN_NAME, field,
                     "%s: %s was not named by an earlier command of this request: give that "
                     "command \"as\"",
                     field, wire_quote(quoted, item->text, item->len));
}

static enum soma_status read_number(const struct reader *reader, const struct number_rule *rule,
                                    const struct wire_value *item, uint64_t *value)
{
    if (item->type == WIRE_NUMBER)
        return number_of_token(reader->error, rule, item, value);
    if (item->type != WIRE_STRING)
        return refuse_type(reader->error, rule->field, "a number or a string of digits", item);
    if (item->len > 0 && item->text[0] == '$' && reader->in_batch && takes_names(rule->kind))
        return number_of_name(reader, rule->field, item, value);
    return number_of_text(reader->error, rule, item->text, item->len, value);
}

/* ---- words, strings, bytes ---- */

static enum soma_status read_word(const struct reader *reader, const char *field,
                                  enum soma_enum_group group, const struct wire_value *item,
                                  uint64_t *value)
{
    int number;
    if (item->type != WIRE_STRING)
        return refuse_type(reader->error, field, "a word in quotes", item);
    if (!soma_value_of(group, item->text, item->len, &number))
        return refuse_word(reader->error, field, group, item->text, item->len);
    *value = (uint64_t)number;
    return SOMA_OK;
}

static enum soma_status no_memory(const struct reader *reader, const char *field, size_t bytes)
{
    return soma_fail(reader->error, SOMA_OUT_OF_MEMORY, field,
                     "%s: the server has no memory for these %zu bytes", field, bytes);
}

enum soma_status wire_check_length(const char *field, size_t len, struct soma_error *error)
{
    if (len <= SOMA_NAME_BYTES_MAX)
        return SOMA_OK;
    return soma_fail(error, SOMA_VALUE_OUT_OF_RANGE, field,
                     "%s: a name of %zu bytes: at most %u are allowed", field, len,
                     SOMA_NAME_BYTES_MAX);
}

static enum soma_status read_string(const struct reader *reader, const char *field,
                                    const struct wire_value *item, struct soma_text *text)
{
    if (item->type != WIRE_STRING)
        return refuse_type(reader->error, field, "a string", item);
    *text = (struct soma_text){item->text, item->len};
    return wire_check_length(field, item->len, reader->error);
}

static enum soma_status read_base64(const struct reader *reader, const char *field,
                                    const struct wire_value *item, struct soma_text *bytes)
{
    if (item->type != WIRE_STRING)
        return refuse_type(reader->error, field, "a string in base64", item);
    size_t len = wire_base64_bytes(item->text, item->len);
    char *copy = wire_arena_alloc(reader->arena, len);
    if (copy == NULL)
        return no_memory(reader, field, len);
    if (!wire_base64_read(item->text, item->len, (unsigned char *)copy)) {
        char quoted[WIRE_QUOTE_BYTES];
        return soma_fail(reader->error, SOMA_INVALID_VALUE, field,
                         "%s: %s is not base64: A-Z a-z 0-9 + / in groups of four, the last one "
                         "filled up with =",
                         field, wire_quote(quoted, item->text, item->len));
    }
    *bytes = (struct soma_text){copy, len};
    return SOMA_OK;
}

/* ---- location ---- */

/* {"type"?,"id"?}: the location's own fields, each known by its name. */
static enum soma_status read_location(const struct reader *reader, const struct wire_value *object)
{
    static const struct number_rule id_rule = {"location.id", SOMA_KIND_U64, 0, UINT64_MAX};
    struct soma_command *command = reader->command;
    if (object->type != WIRE_OBJECT)
        return refuse_type(reader->error, "location", "an object {\"type\", \"id\"}", object);
    soma_command_set(command, SOMA_FIELD_location_type, SOMA_LOCATION_TYPE_DEVICE);
    const struct wire_value *end = wire_next(object);
    for (const struct wire_value *item = wire_first(object); item < end; item = wire_next(item)) {
        uint64_t value = 0;
        enum soma_status status;
        enum soma_field field = SOMA_FIELD_location_id;
        if (wire_is_key(item, "type")) {
            field = SOMA_FIELD_location_type;
            status = read_word(reader, "location.type", SOMA_GROUP_location_type, item, &value);
        } else if (wire_is_key(item, "id")) {
            status = read_number(reader, &id_rule, item, &value);
        } else {
            char path[SOMA_FIELD_BYTES], quoted[WIRE_QUOTE_BYTES];
            (void)snprintf(path, sizeof(path), "location.%.*s", (int)item->key_len, item->key);
            return soma_fail(reader->error, SOMA_UNKNOWN_FIELD, path,
                             "location has no field %s; it has type, id",
                             wire_quote(quoted, item->key, item->key_len));
        }
        if (status != SOMA_OK)
            return status;
        soma_command_set(command, field, value);
    }
    return SOMA_OK;
}

/* ---- kernel arguments ---- */

static const struct arg_row {
    const char *json;
    enum soma_arg_kind kind;
    uint64_t max; /* of integers without sign */
} arg_rows[] = {
    {"ptr", SOMA_ARG_PTR, UINT64_MAX}, {"u8", SOMA_ARG_U8, UINT8_MAX},
    {"u16", SOMA_ARG_U16, UINT16_MAX}, {"u32", SOMA_ARG_U32, UINT32_MAX},
    {"u64", SOMA_ARG_U64, UINT64_MAX}, {"i32", SOMA_ARG_I32, 0},
    {"i64", SOMA_ARG_I64, 0},          {"f16", SOMA_ARG_F16, 0},
    {"f32", SOMA_ARG_F32, 0},          {"f64", SOMA_ARG_F64, 0},
    {"base64", SOMA_ARG_BYTES, 0},
};

#define ARG_ROW_COUNT (sizeof(arg_rows) / sizeof(arg_rows[0]))

const char *wire_arg_word(enum soma_arg_kind kind)
{
    for (size_t i = 0; i < ARG_ROW_COUNT; i++) {
        if (arg_rows[i].kind == kind)
            return arg_rows[i].json;
    }
    return NULL;
}

static enum soma_status read_signed_arg(const struct reader *reader, const char *field,
                                        const struct wire_value *item, bool is_32, uint64_t *bits)
{
    int64_t min = is_32 ? INT32_MIN : INT64_MIN;
    int64_t max = is_32 ? INT32_MAX : INT64_MAX;
    struct soma_text digits = {item->text, item->len};
    if (item->type == WIRE_NUMBER) {
        bool negative = false;
        uint64_t size = 0;
        enum soma_status status = integer_of_token(reader->error, field, item, &size, &negative);
        if (status != SOMA_OK)
            return status;
        if (size == 0)
            digits = (struct soma_text){"0", 1}; /* the token may be "-0" */
    } else if (item->type != WIRE_STRING) {
        return refuse_type(reader->error, field, "a number or a string of digits", item);
    }
    enum wire_number outcome = wire_read_signed(digits.ptr, digits.len, min, max, bits);
    if (outcome == WIRE_NUMBER_OK)
        return SOMA_OK;
    char quoted[WIRE_QUOTE_BYTES];
    wire_quote(quoted, digits.ptr, digits.len);
    if (outcome == WIRE_NUMBER_TOO_LARGE)
        return soma_fail(reader->error, SOMA_VALUE_OUT_OF_RANGE, field,
                         "%s: %s is outside %" PRId64 "..%" PRId64, field, quoted, min, max);
    return soma_fail(reader->error, SOMA_INVALID_VALUE, field,
                     "%s: %s is not an integer: write decimal digits, with '-' before them where "
                     "wanted",
                     field, quoted);
}

/* The scan has held the token to JSON's form and to WIRE_NUMBER_BYTES_MAX. */
static double double_of_token(const struct wire_value *item)
{
    char token[WIRE_NUMBER_BYTES_MAX + 1];
    memcpy(token, item->text, item->len);
    token[item->len] = '\0';
    return strtod(token, NULL);
}

static enum soma_status read_float_arg(const struct reader *reader, const char *field,
                                       const struct wire_value *item, enum soma_arg_kind kind,
                                       uint64_t *bits)
{
    if (item->type != WIRE_NUMBER)
        return refuse_type(reader->error, field, "a number", item);
    double value = double_of_token(item);
    bool fits = value >= -DBL_MAX && value <= DBL_MAX;
    *bits = 0;
    if (kind == SOMA_ARG_F64) {
        memcpy(bits, &value, sizeof(value));
    } else if (kind == SOMA_ARG_F32) {
        /* Half an ulp past FLT_MAX and more would round to infinity. */
        fits = value > -0x1.ffffffp127 && value < 0x1.ffffffp127;
        float narrow = fits ? (float)value : 0;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        *bits = narrow_bits;
    } else {
        uint16_t half = 0;
        fits = wire_half_of(value, &half);
        *bits = half;
    }
    if (fits)
        return SOMA_OK;
    return soma_fail(reader->error, SOMA_VALUE_OUT_OF_RANGE, field,
                     "%s: %g is too large for %u bits of floating point", field, value,
                     kind == SOMA_ARG_F64   ? 64u
                     : kind == SOMA_ARG_F32 ? 32u
                                            : 16u);
}

static enum soma_status read_arg_value(const struct reader *reader, const char *field,
                                       const struct arg_row *row, const struct wire_value *item,
                                       struct soma_kernel_arg *arg)
{
    const enum soma_arg_kind kind = row->kind;
    *arg = (struct soma_kernel_arg){.kind = kind};
    if (kind == SOMA_ARG_BYTES)
        return read_base64(reader, field, item, &arg->bytes);
    if (kind == SOMA_ARG_F16 || kind == SOMA_ARG_F32 || kind == SOMA_ARG_F64)
        return read_float_arg(reader, field, item, kind, &arg->bits);
    if (kind == SOMA_ARG_I32 || kind == SOMA_ARG_I64)
        return read_signed_arg(reader, field, item, kind == SOMA_ARG_I32, &arg->bits);
    struct number_rule rule = {field, kind == SOMA_ARG_PTR ? SOMA_KIND_ADDRESS : SOMA_KIND_U64, 0,
                               row->max};
    return read_number(reader, &rule, item, &arg->bits);
}

static enum soma_status read_arg(const struct reader *reader, const struct wire_value *object,
                                 size_t index, struct soma_kernel_arg *arg)
{
    char field[SOMA_FIELD_BYTES], quoted[WIRE_QUOTE_BYTES];
    (void)snprintf(field, sizeof(field), "args[%zu]", index);
    if (object->type != WIRE_OBJECT)
        return refuse_type(reader->error, field, "an object such as {\"ptr\": address}", object);
    const struct wire_value *item = wire_first(object);
    if (object->size == 1 || wire_next(item) != wire_next(object))
        return soma_fail(reader->error, SOMA_INVALID_VALUE, field,
                         "%s: an argument is an object with exactly one key", field);
    for (size_t i = 0; i < ARG_ROW_COUNT; i++) {
        if (wire_is_key(item, arg_rows[i].json)) {
            (void)snprintf(field, sizeof(field), "args[%zu].%s", index, arg_rows[i].json);
            return read_arg_value(reader, field, &arg_rows[i], item, arg);
        }
    }
    wire_quote(quoted, item->key, item->key_len);
    return soma_fail(reader->error, SOMA_UNKNOWN_FIELD, field,
                     "%s: %s is no kind of argument: use ptr, u8, u16, u32, u64, i32, i64, f16, "
                     "f32, f64 or base64",
                     field, quoted);
}

static enum soma_status read_args(const struct reader *reader, const struct wire_value *array,
                                  struct soma_kernel_args *args)
{
    if (array->type != WIRE_ARRAY)
        return refuse_type(reader->error, "args", "an array of arguments", array);
    const struct wire_value *end = wire_next(array);
    size_t count = 0;
    for (const struct wire_value *item = wire_first(array); item < end; item = wire_next(item))
        count++;
    if (count > SOMA_KERNEL_ARGS_MAX)
        return soma_fail(reader->error, SOMA_VALUE_OUT_OF_RANGE, "args",
                         "args: %zu arguments: a kernel takes at most %u", count,
                         SOMA_KERNEL_ARGS_MAX);
    struct soma_kernel_arg *items = wire_arena_alloc(reader->arena, count * sizeof(*items));
    if (items == NULL)
        return no_memory(reader, "args", count * sizeof(*items));
    size_t filled = 0;
    for (const struct wire_value *item = wire_first(array); item < end; item = wire_next(item)) {
        enum soma_status status = read_arg(reader, item, filled, &items[filled]);
        if (status != SOMA_OK)
            return status;
        filled++;
    }
    *args = (struct soma_kernel_args){items, count};
    return SOMA_OK;
}

/* ---- commands ---- */

static const struct soma_field_row *find_row(const struct soma_op_info *info,
                                             const struct wire_value *item)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (wire_is_key(item, soma_field_json(info->fields[i].field)))
            return &info->fields[i];
    }
    return NULL;
}

/* Fields that stand in the command as structs: strings, bytes, arguments. */
static enum soma_status read_struct(const struct reader *reader, const struct soma_field_row *row,
                                    const struct wire_value *item)
{
    const char *field = soma_field_json(row->field);
    void *place = (char *)reader->command + soma_field_offset(row->field);
    enum soma_status status = SOMA_OK;
    if (row->kind == SOMA_KIND_ARGS)
        status = read_args(reader, item, place);
    else if (row->kind == SOMA_KIND_TEXT)
        status = read_string(reader, field, item, place);
    else
        status = read_base64(reader, field, item, place);
    if (status == SOMA_OK)
        reader->command->present |= UINT64_C(1) << row->field;
    return status;
}

static enum soma_status read_field(const struct reader *reader, const struct soma_field_row *row,
                                   const struct wire_value *item)
{
    if (row->kind == SOMA_KIND_LOCATION)
        return read_location(reader, item);
    if (row->kind == SOMA_KIND_ARGS || row->kind == SOMA_KIND_TEXT || row->kind == SOMA_KIND_BASE64)
        return read_struct(reader, row, item);
    struct number_rule rule = rule_of(row);
    enum soma_enum_group group = soma_field_kind_info(row->kind)->words;
    uint64_t value = 0;
    enum soma_status status = group == SOMA_GROUP_COUNT
                                  ? read_number(reader, &rule, item, &value)
                                  : read_word(reader, rule.field, group, item, &value);
    if (status == SOMA_OK)
        soma_command_set(reader->command, row->field, value);
    return status;
}

/* "as" is the caller's to use; here it is only held to its form, before anything is done. */
static enum soma_status check_as(const struct reader *reader, const struct wire_value *item)
{
    if (item->type != WIRE_STRING)
        return refuse_type(reader->error, "as", "a string", item);
    if (item->len == 0 || item->len > SOMA_NAME_BYTES_MAX)
        return soma_fail(reader->error, SOMA_INVALID_VALUE, "as",
                         "as: a name has 1 to %u bytes, not %" PRIu32, SOMA_NAME_BYTES_MAX,
                         item->len);
    if (!wire_creates(reader->command->op))
        return soma_fail(reader->error, SOMA_INVALID_VALUE, "as",
                         "as: %s creates nothing that could be named: leave the field out",
                         reader->info->name);
    return SOMA_OK;
}

static enum soma_status read_member(const struct reader *reader, const struct wire_value *item)
{
    if (reader->in_batch && wire_is_key(item, "op"))
        return SOMA_OK;
    if (reader->in_batch && wire_is_key(item, "as"))
        return check_as(reader, item);
    const struct soma_field_row *row = find_row(reader->info, item);
    if (row == NULL || (!reader->in_batch && row->where != SOMA_WHERE_BODY))
        return refuse_unknown(reader, item, row);
    return read_field(reader, row, item);
}

static bool has_field(const struct soma_command *command, enum soma_field field)
{
    return (command->present >> field & 1u) != 0;
}

enum soma_status wire_decode_command(const struct wire_value *object, bool in_batch,
                                     const struct wire_names *names, struct wire_arena *arena,
                                     struct soma_command *command, struct soma_error *error)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    struct reader reader = {info, in_batch, names, arena, command, error};
    if (object->type != WIRE_OBJECT)
        return soma_fail(error, SOMA_WRONG_TYPE, "", "%s: a JSON object is needed, not %s",
                         info->name, type_of(object));
    const struct wire_value *end = wire_next(object);
    for (const struct wire_value *item = wire_first(object); item < end; item = wire_next(item)) {
        enum soma_status status = read_member(&reader, item);
        if (status != SOMA_OK)
            return status;
    }
    return wire_finish_command(command, in_batch, error);
}

enum soma_status wire_finish_command(struct soma_command *command, bool in_batch,
                                     struct soma_error *error)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    if (in_batch && !has_field(command, SOMA_FIELD_device) && info->field_count > 0 &&
        info->fields[0].field == SOMA_FIELD_device)
        soma_command_set(command, SOMA_FIELD_device, 0);
    if (has_field(command, SOMA_FIELD_location_type) && !has_field(command, SOMA_FIELD_location_id))
        soma_command_set(command, SOMA_FIELD_location_id, command->device);
    return soma_command_complete(command, error);
}

enum soma_status wire_set_text(struct soma_command *command, const struct soma_field_row *row,
                               const char *text, size_t len, struct soma_error *error)
{
    const char *field = soma_field_json(row->field);
    enum soma_enum_group group = soma_field_kind_info(row->kind)->words;
    if (row->kind == SOMA_KIND_LOCATION || row->kind == SOMA_KIND_ARGS ||
        row->kind == SOMA_KIND_BASE64 || row->kind == SOMA_KIND_TEXT)
        return soma_fail(error, SOMA_WRONG_TYPE, field, "%s: this field stands in the body", field);
    if (group != SOMA_GROUP_COUNT) {
        int number;
        if (!soma_value_of(group, text, len, &number))
            return refuse_word(error, field, group, text, len);
        soma_command_set(command, row->field, (uint64_t)number);
        return SOMA_OK;
    }
    struct number_rule rule = rule_of(row);
    uint64_t value = 0;
    enum soma_status status = number_of_text(error, &rule, text, len, &value);
    if (status == SOMA_OK)
        soma_command_set(command, row->field, value);
    return status;
}

/* ---- what a command creates ---- */

static const struct {
    enum soma_op op;
    size_t offset; /* of the id or address in struct soma_result, bytes */
} created_rows[] = {
    {SOMA_OP_STREAM_CREATE, offsetof(struct soma_result, u.stream_created.stream)},
    {SOMA_OP_EVENT_CREATE, offsetof(struct soma_result, u.event_created.event)},
    {SOMA_OP_NOTIFY_CREATE, offsetof(struct soma_result, u.notify.notify)},
    {SOMA_OP_STREAM_LAUNCH_HOST_FUNC, offsetof(struct soma_result, u.host_func.host_func)},
    {SOMA_OP_POOL_CREATE, offsetof(struct soma_result, u.pool_created.pool)},
    {SOMA_OP_POOL_MALLOC, offsetof(struct soma_result, u.pool_block.ptr)},
    {SOMA_OP_MEMORY_MALLOC, offsetof(struct soma_result, u.memory_block.ptr)},
    {SOMA_OP_MEMORY_MALLOC_MANAGED, offsetof(struct soma_result, u.memory_block.ptr)},
    {SOMA_OP_MEMORY_RESERVE, offsetof(struct soma_result, u.memory_block.ptr)},
    {SOMA_OP_MEMORY_MALLOC_PHYSICAL, offsetof(struct soma_result, u.physical.physical)},
    {SOMA_OP_MEMORY_RETAIN_PHYSICAL, offsetof(struct soma_result, u.physical.physical)},
    {SOMA_OP_PIPE_CREATE, offsetof(struct soma_result, u.pipe.pipe)},
    {SOMA_OP_PIPE_CREATE_TQUE, offsetof(struct soma_result, u.tque_created.tque)},
    {SOMA_OP_PIPE_CREATE_TBUF, offsetof(struct soma_result, u.tbuf_created.tbuf)},
    {SOMA_OP_PIPE_CREATE_TBUFPOOL, offsetof(struct soma_result, u.tbufpool_created.tbufpool)},
    {SOMA_OP_PIPE_ALLOC_TENSOR, offsetof(struct soma_result, u.tensor.tensor)},
    {SOMA_OP_PIPE_DE_QUE, offsetof(struct soma_result, u.tensor.tensor)},
};

static size_t created_offset(enum soma_op op)
{
    for (size_t i = 0; i < sizeof(created_rows) / sizeof(created_rows[0]); i++) {
        if (created_rows[i].op == op)
            return created_rows[i].offset;
    }
    return SIZE_MAX;
}

bool wire_creates(enum soma_op op)
{
    return created_offset(op) != SIZE_MAX;
}

bool wire_created_value(enum soma_op op, const struct soma_result *result, uint64_t *value)
{
    size_t offset = created_offset(op);
    if (offset == SIZE_MAX || result->message == SOMA_MESSAGE_NONE)
        return false;
    memcpy(value, (const char *)result + offset, sizeof(*value));
    return true;
}
