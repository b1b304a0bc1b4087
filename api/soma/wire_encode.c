/* From answers, errors and commands to JSON text, by the tables' descriptors. Integers are written
 * as integers, digit by digit; the text is valid JSON and UTF-8 whatever it is given. */
#include "wire_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static void write_char(struct soma_writer *writer, char c)
{
    char *room = wire_writer_room(writer, 1);
    if (room != NULL) {
        *room = c;
        writer->len++;
    }
}

static void write_address(struct soma_writer *writer, uint64_t address)
{
    static const char hex[] = "0123456789abcdef";
    char text[20]; /* two quotes, 0x, 16 digits */
    size_t at = sizeof(text);
    text[--at] = '"';
    do {
        text[--at] = hex[address & 15];
        address >>= 4;
    } while (address != 0);
    text[--at] = 'x';
    text[--at] = '0';
    text[--at] = '"';
    soma_writer_raw(writer, text + at, sizeof(text) - at);
}

/* The shortest of the usual forms that reads back as the same number. JSON has no infinities. */
static void write_double(struct soma_writer *writer, double value)
{
    char text[40];
    if (!isfinite(value)) {
        soma_writer_text(writer, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    soma_writer_text(writer, text);
}

/* A number that the reader takes exactly: from 2^53 on as a string. */
static void write_exact(struct soma_writer *writer, uint64_t value)
{
    bool as_string = value > SOMA_JSON_INTEGER_MAX;
    if (as_string)
        write_char(writer, '"');
    soma_writer_u64(writer, value);
    if (as_string)
        write_char(writer, '"');
}

static void write_signed(struct soma_writer *writer, int64_t value)
{
    uint64_t size = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    bool as_string = size > SOMA_JSON_INTEGER_MAX;
    if (as_string)
        write_char(writer, '"');
    if (value < 0)
        write_char(writer, '-');
    soma_writer_u64(writer, size);
    if (as_string)
        write_char(writer, '"');
}

/* A word in quotes; a number without a word as its digits in quotes, which the other side refuses
 * as it refuses any word that it does not know. */
static void write_word(struct soma_writer *writer, enum soma_enum_group group, uint64_t value)
{
    const char *word = value <= INT32_MAX ? soma_word_of(group, (int)value) : NULL;
    write_char(writer, '"');
    if (word != NULL)
        soma_writer_text(writer, word);
    else
        soma_writer_u64(writer, value);
    write_char(writer, '"');
}

static void write_string(struct soma_writer *writer, const char *text)
{
    soma_writer_string(writer, text, strlen(text));
}

/* "key": behind a comma unless it is the first of its object. Keys of the tables need no escape. */
static void write_key(struct soma_writer *writer, const char *key, bool *first)
{
    size_t len = strlen(key);
    char *room = wire_writer_room(writer, len + 4);
    if (room == NULL)
        return;
    char *at = room;
    if (!*first)
        *at++ = ',';
    *first = false;
    *at++ = '"';
    memcpy(at, key, len);
    at += len;
    *at++ = '"';
    *at++ = ':';
    writer->len += (size_t)(at - room);
}

/* ---- messages ---- */

static void write_names(struct soma_writer *writer, const struct soma_names *names)
{
    write_char(writer, '[');
    for (size_t i = 0; i < names->count; i++) {
        if (i > 0)
            write_char(writer, ',');
        write_string(writer, names->items[i]);
    }
    write_char(writer, ']');
}

static void write_array(struct soma_writer *writer, enum soma_message message, const void *place)
{
    struct soma_array array;
    memcpy(&array, place, sizeof(array));
    size_t item_size = soma_message_info(message)->size;
    write_char(writer, '[');
    for (size_t i = 0; i < array.count; i++) {
        if (i > 0)
            write_char(writer, ',');
        wire_encode_message(writer, message, (const char *)array.items + i * item_size);
    }
    write_char(writer, ']');
}

static uint64_t load_u64(const void *place)
{
    uint64_t value;
    memcpy(&value, place, sizeof(value));
    return value;
}

static void write_text(struct soma_writer *writer, const void *place)
{
    const char *text;
    memcpy(&text, place, sizeof(text));
    write_string(writer, text == NULL ? "" : text);
}

static void write_null_u64(struct soma_writer *writer, uint64_t value)
{
    if (value == SOMA_NONE)
        soma_writer_text(writer, "null");
    else
        soma_writer_u64(writer, value);
}

static void write_member(struct soma_writer *writer, const struct soma_member *member,
                         const void *place)
{
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64: soma_writer_u64(writer, load_u64(place)); break;
    case SOMA_MEMBER_KIND_NULL_U64: write_null_u64(writer, load_u64(place)); break;
    case SOMA_MEMBER_KIND_BOOL:
        soma_writer_text(writer, *(const bool *)place ? "true" : "false");
        break;
    case SOMA_MEMBER_KIND_F64: write_double(writer, *(const double *)place); break;
    case SOMA_MEMBER_KIND_ADDRESS: write_address(writer, load_u64(place)); break;
    case SOMA_MEMBER_KIND_ENUM:
        write_word(writer, (enum soma_enum_group)member->sub, (uint64_t)(*(const int *)place));
        break;
    case SOMA_MEMBER_KIND_TEXT: write_text(writer, place); break;
    case SOMA_MEMBER_KIND_NAME: write_string(writer, place); break;
    case SOMA_MEMBER_KIND_DATA: {
        const struct soma_buffer *buffer = place;
        soma_writer_base64(writer, buffer->ptr, buffer->len);
        break;
    }
    case SOMA_MEMBER_KIND_OBJECT:
        wire_encode_message(writer, (enum soma_message)member->sub, place);
        break;
    case SOMA_MEMBER_KIND_ARRAY: write_array(writer, (enum soma_message)member->sub, place); break;
    case SOMA_MEMBER_KIND_NAMES: write_names(writer, place); break;
    }
}

void wire_encode_message(struct soma_writer *writer, enum soma_message message, const void *base)
{
    bool first = true;
    write_char(writer, '{');
    if (message != SOMA_MESSAGE_NONE) {
        const struct soma_message_info *info = soma_message_info(message);
        for (size_t i = 0; i < info->member_count; i++) {
            const struct soma_member *member = &info->members[i];
            const void *place = (const char *)base + member->offset;
            if (member->kind == SOMA_MEMBER_KIND_OPT_U64 && load_u64(place) == SOMA_NONE)
                continue;
            write_key(writer, member->json, &first);
            write_member(writer, member, place);
        }
    }
    write_char(writer, '}');
}

void wire_encode_result(struct soma_writer *writer, const struct soma_result *result)
{
    wire_encode_message(writer, result->message, &result->u);
}

/* ---- errors ---- */

void wire_encode_error(struct soma_writer *writer, const struct soma_error *error)
{
    const struct soma_status_info *info = soma_status_info(error->status);
    soma_writer_text(writer, "{\"error\":{\"code\":");
    soma_writer_u64(writer, (uint64_t)info->http);
    soma_writer_text(writer, ",\"status\":");
    write_string(writer, info->rpc);
    soma_writer_text(writer, ",\"message\":");
    write_string(writer, error->message[0] == '\0' ? info->text : error->message);
    soma_writer_text(writer, ",\"details\":[{\"reason\":");
    write_string(writer, soma_status_reason(info->status));
    if (error->field[0] != '\0') {
        soma_writer_text(writer, ",\"field\":");
        write_string(writer, error->field);
    }
    soma_writer_text(writer, ",\"aclError\":");
    soma_writer_u64(writer, (uint64_t)info->acl_error);
    soma_writer_text(writer, "}]}}");
}

/* ---- commands ---- */

static bool has_field(const struct soma_command *command, enum soma_field field)
{
    return (command->present >> field & 1u) != 0;
}

static void write_location(struct soma_writer *writer, const struct soma_command *command)
{
    bool first = true;
    write_char(writer, '{');
    if (has_field(command, SOMA_FIELD_location_type)) {
        write_key(writer, "type", &first);
        write_word(writer, SOMA_GROUP_location_type, command->location_type);
    }
    if (has_field(command, SOMA_FIELD_location_id)) {
        write_key(writer, "id", &first);
        write_exact(writer, command->location_id);
    }
    write_char(writer, '}');
}

/* A float that JSON cannot say goes as the integer of the same bytes. */
static void write_float_arg(struct soma_writer *writer, const struct soma_kernel_arg *arg,
                            bool *first)
{
    double value;
    enum soma_arg_kind raw = SOMA_ARG_U64;
    if (arg->kind == SOMA_ARG_F16) {
        raw = SOMA_ARG_U16;
        bool is_number = (arg->bits & 0x7c00u) != 0x7c00u;
        value = is_number ? wire_of_half((uint16_t)arg->bits) : HUGE_VAL;
    } else if (arg->kind == SOMA_ARG_F32) {
        raw = SOMA_ARG_U32;
        uint32_t bits = (uint32_t)arg->bits;
        float narrow;
        memcpy(&narrow, &bits, sizeof(narrow));
        value = (double)narrow;
    } else {
        memcpy(&value, &arg->bits, sizeof(value));
    }
    bool finite = isfinite(value);
    write_key(writer, wire_arg_word(finite ? arg->kind : raw), first);
    if (finite)
        write_double(writer, value);
    else
        write_exact(writer, arg->bits);
}

static void write_arg(struct soma_writer *writer, const struct soma_kernel_arg *arg)
{
    bool first = true;
    write_char(writer, '{');
    switch (arg->kind) {
    case SOMA_ARG_F16:
    case SOMA_ARG_F32:
    case SOMA_ARG_F64: write_float_arg(writer, arg, &first); break;
    case SOMA_ARG_PTR:
        write_key(writer, wire_arg_word(arg->kind), &first);
        write_address(writer, arg->bits);
        break;
    case SOMA_ARG_I32:
    case SOMA_ARG_I64:
        write_key(writer, wire_arg_word(arg->kind), &first);
        write_signed(writer, (int64_t)arg->bits);
        break;
    case SOMA_ARG_U8:
    case SOMA_ARG_U16:
    case SOMA_ARG_U32:
    case SOMA_ARG_U64:
        write_key(writer, wire_arg_word(arg->kind), &first);
        write_exact(writer, arg->bits);
        break;
    case SOMA_ARG_BYTES:
        write_key(writer, wire_arg_word(arg->kind), &first);
        soma_writer_base64(writer, (const unsigned char *)arg->bytes.ptr, arg->bytes.len);
        break;
    }
    write_char(writer, '}');
}

static void write_args(struct soma_writer *writer, const struct soma_kernel_args *args)
{
    write_char(writer, '[');
    for (size_t i = 0; i < args->count; i++) {
        if (i > 0)
            write_char(writer, ',');
        write_arg(writer, &args->items[i]);
    }
    write_char(writer, ']');
}

static void write_number(struct soma_writer *writer, enum soma_field_kind kind, uint64_t value)
{
    enum soma_enum_group group = soma_field_kind_info(kind)->words;
    if (group != SOMA_GROUP_COUNT)
        write_word(writer, group, value);
    else if (kind == SOMA_KIND_ADDRESS)
        write_address(writer, value);
    else if (kind == SOMA_KIND_TIMEOUT && value == UINT64_MAX)
        soma_writer_text(writer, "-1");
    else
        write_exact(writer, value);
}

static void write_field(struct soma_writer *writer, const struct soma_command *command,
                        const struct soma_field_row *row)
{
    const void *place = (const char *)command + soma_field_offset(row->field);
    const struct soma_text *text = place;
    if (row->kind == SOMA_KIND_LOCATION)
        write_location(writer, command);
    else if (row->kind == SOMA_KIND_ARGS)
        write_args(writer, place);
    else if (row->kind == SOMA_KIND_TEXT)
        soma_writer_string(writer, text->ptr, text->len);
    else if (row->kind == SOMA_KIND_BASE64)
        soma_writer_base64(writer, (const unsigned char *)text->ptr, text->len);
    else
        write_number(writer, row->kind, load_u64(place));
}

void wire_encode_command(struct soma_writer *writer, const struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    bool first = true;
    write_char(writer, '{');
    write_key(writer, "op", &first);
    write_string(writer, info->name);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        bool present =
            has_field(command, row->field) ||
            (row->kind == SOMA_KIND_LOCATION && has_field(command, SOMA_FIELD_location_id));
        if (present) {
            write_key(writer, soma_field_json(row->field), &first);
            write_field(writer, command, row);
        }
    }
    write_char(writer, '}');
}
