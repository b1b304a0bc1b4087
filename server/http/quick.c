/* Only the kinds whose text and whose number token mean the same are read here. */
#include "quick.h"

#include <string.h>

#define DIGITS_MAX 15u /* stays below 2^53, in a token and in a string */

static bool is_plain_number(enum soma_field_kind kind)
{
    return kind == SOMA_KIND_DEVICE || kind == SOMA_KIND_ID || kind == SOMA_KIND_U8 ||
           kind == SOMA_KIND_U32 || kind == SOMA_KIND_U64 || kind == SOMA_KIND_BYTES ||
           kind == SOMA_KIND_DURATION || kind == SOMA_KIND_TIMEOUT;
}

static bool read_digits(const char *text, size_t len, uint64_t *value)
{
    uint64_t sum = 0;
    if (len == 0 || len > DIGITS_MAX || (text[0] == '0' && len > 1))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        sum = sum * 10 + (uint64_t)(text[i] - '0');
    }
    *value = sum;
    return true;
}

static bool read_hex(const char *text, size_t len, uint64_t *value)
{
    uint64_t sum = 0;
    if (len < 3 || len > 18 || text[0] != '0' || text[1] != 'x')
        return false;
    for (size_t i = 2; i < len; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9')
            sum = sum * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            sum = sum * 16 + (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *value = sum;
    return true;
}

bool quick_set(struct soma_command *command, const struct soma_field_row *row, const char *text,
               size_t len)
{
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    uint64_t value;
    bool good = row->kind == SOMA_KIND_ADDRESS
                    ? read_hex(text, len, &value)
                    : is_plain_number(row->kind) && read_digits(text, len, &value);
    if (!good || value < kind->min || value > kind->max)
        return false;
    soma_command_set(command, row->field, value);
    return true;
}

static const struct soma_field_row *find_row(const struct soma_op_info *op, const char *key,
                                             size_t len)
{
    for (size_t i = 0; i < op->field_count; i++) {
        if (op->fields[i].where != SOMA_WHERE_BODY || len == 0)
            continue;
        const char *json = soma_field_json(op->fields[i].field);
        if (json[0] == key[0] && strlen(json) == len && memcmp(json, key, len) == 0)
            return &op->fields[i];
    }
    return NULL;
}

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static void skip_spaces(struct cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && (*at == ' ' || *at == '\n'))
        at++;
    cursor->at = at;
}

/* The text lies between the quotes. What stands in it is not looked at: it is compared with names
 * and read as digits, and neither takes an escape or anything else that is special. */
static bool take_string(struct cursor *cursor, struct soma_text *text)
{
    if (!take(cursor, '"'))
        return false;
    const char *quote = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
    if (quote == NULL)
        return false;
    *text = (struct soma_text){cursor->at, (size_t)(quote - cursor->at)};
    cursor->at = quote + 1;
    return true;
}

static bool take_value(struct cursor *cursor, struct soma_text *text)
{
    if (cursor->at < cursor->end && *cursor->at == '"')
        return take_string(cursor, text);
    const char *at = cursor->at;
    while (at < cursor->end && *at >= '0' && *at <= '9')
        at++;
    *text = (struct soma_text){cursor->at, (size_t)(at - cursor->at)};
    cursor->at = at;
    return text->len > 0;
}

static bool take_member(struct cursor *cursor, const struct soma_op_info *op,
                        struct soma_command *command)
{
    struct soma_text key, value;
    skip_spaces(cursor);
    if (!take_string(cursor, &key))
        return false;
    skip_spaces(cursor);
    if (!take(cursor, ':'))
        return false;
    skip_spaces(cursor);
    if (!take_value(cursor, &value))
        return false;
    skip_spaces(cursor);
    const struct soma_field_row *row = find_row(op, key.ptr, key.len);
    return row != NULL && (command->present >> row->field & 1u) == 0 &&
           quick_set(command, row, value.ptr, value.len);
}

static bool take_members(struct cursor *cursor, const struct soma_op_info *op,
                         struct soma_command *command)
{
    if (!take(cursor, '{'))
        return false;
    do {
        if (!take_member(cursor, op, command))
            return false;
    } while (take(cursor, ','));
    return take(cursor, '}') && cursor->at == cursor->end;
}

/* Put the body fields back to their defaults. */
static void undo(struct soma_command *command, uint64_t present)
{
    const struct soma_op_info *op = soma_op_info(command->op);
    for (size_t i = 0; i < op->field_count; i++) {
        const struct soma_field_row *row = &op->fields[i];
        if (((command->present ^ present) >> row->field & 1u) != 0)
            soma_command_set(command, row->field, row->default_value);
    }
    command->present = present;
}

bool quick_read(struct soma_command *command, const char *body, size_t len)
{
    struct cursor cursor = {body, body + len};
    uint64_t present = command->present;
    if (take_members(&cursor, soma_op_info(command->op), command) &&
        soma_command_complete(command, NULL) == SOMA_OK)
        return true;
    undo(command, present);
    return false;
}
