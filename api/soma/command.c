/* Words, fields, commands and SoCs, expanded from their tables. */
#include "command.h"

#include "message.h"
#include "soc.def"

#include <string.h>

/* ---- words ---- */

#define SOMA_ROW(GROUP, NAME, value, word, alias) {(value), (word), (alias)},
#define SOMA_GROUP(GROUP, type)                                                                    \
    static const struct soma_word words_##type[] = {SOMA_ENUM_##GROUP(SOMA_ROW)};
SOMA_ENUM_GROUPS(SOMA_GROUP)
#undef SOMA_GROUP
#undef SOMA_ROW

static const struct soma_word_list word_lists[] = {
#define SOMA_GROUP(GROUP, type)                                                                    \
    {#type, words_##type, sizeof(words_##type) / sizeof(words_##type[0])},
    SOMA_ENUM_GROUPS(SOMA_GROUP)
#undef SOMA_GROUP
};

const struct soma_word_list *soma_words(enum soma_enum_group group)
{
    return &word_lists[group];
}

const char *soma_word_of(enum soma_enum_group group, int value)
{
    const struct soma_word_list *list = &word_lists[group];
    for (size_t i = 0; i < list->count; i++) {
        if (list->words[i].value == value)
            return list->words[i].word;
    }
    return NULL;
}

static bool same_text(const char *text, const char *ptr, size_t len)
{
    return text != NULL && strlen(text) == len && memcmp(text, ptr, len) == 0;
}

bool soma_value_of(enum soma_enum_group group, const char *word, size_t len, int *value)
{
    const struct soma_word_list *list = &word_lists[group];
    for (size_t i = 0; i < list->count; i++) {
        if (same_text(list->words[i].word, word, len) ||
            same_text(list->words[i].alias, word, len)) {
            *value = list->words[i].value;
            return true;
        }
    }
    return false;
}

/* ---- fields ---- */

static const struct {
    const char *json;
    const char *help;
    size_t offset;
} field_rows[] = {
#define SOMA_ROW(TYPE, member, json, help) {json, help, offsetof(struct soma_command, member)},
    SOMA_FIELDS(SOMA_ROW)
#undef SOMA_ROW
};

const char *soma_field_json(enum soma_field field)
{
    return field_rows[field].json;
}

const char *soma_field_help(enum soma_field field)
{
    return field_rows[field].help;
}

size_t soma_field_offset(enum soma_field field)
{
    return field_rows[field].offset;
}

static const struct soma_field_kind_info kind_rows[] = {
#define SOMA_ROW(KIND, min, max, words, type) {#KIND, (min), (max), SOMA_GROUP_##words, (type)},
    SOMA_FIELD_KINDS(SOMA_ROW)
#undef SOMA_ROW
};

const struct soma_field_kind_info *soma_field_kind_info(enum soma_field_kind kind)
{
    return &kind_rows[kind];
}

/* ---- commands ---- */

const char *soma_method_name(enum soma_method method)
{
    static const char *const names[] = {"GET", "POST", "PUT", "DELETE"};
    return names[method];
}

#define IS_REQUIRED 1
#define IS_OPTIONAL 0
#define SOMA_FIELD_ROW(X, KIND, member, WHERE, NEED, value)                                        \
    {SOMA_FIELD_##member, SOMA_KIND_##KIND, SOMA_WHERE_##WHERE, IS_##NEED, (value)},
/* The last row closes lists that would be empty; it is not counted. */
#define SOMA_ROW(OP, op, METHOD, path, http, RESULT)                                               \
    static const struct soma_field_row fields_##OP[] = {SOMA_COMMAND_##OP(SOMA_FIELD_ROW, _){      \
        SOMA_FIELD_COUNT, SOMA_KIND_COUNT, SOMA_WHERE_BODY, 0, 0}};
SOMA_COMMANDS(SOMA_ROW)
#undef SOMA_ROW

static const struct soma_op_info op_rows[] = {
#define SOMA_ROW(OP, op, METHOD, path, http, RESULT)                                               \
    {SOMA_OP_##OP,                                                                                 \
     op,                                                                                           \
     SOMA_METHOD_##METHOD,                                                                         \
     path,                                                                                         \
     http,                                                                                         \
     SOMA_MESSAGE_##RESULT,                                                                        \
     fields_##OP,                                                                                  \
     sizeof(fields_##OP) / sizeof(fields_##OP[0]) - 1},
    SOMA_COMMANDS(SOMA_ROW)
#undef SOMA_ROW
};

const struct soma_op_info *soma_op_info(enum soma_op op)
{
    return &op_rows[op];
}

const struct soma_op_info *soma_op_find(const char *name, size_t len)
{
    for (size_t i = 0; i < SOMA_OP_COUNT; i++) {
        if (same_text(op_rows[i].name, name, len))
            return &op_rows[i];
    }
    return NULL;
}

void soma_command_init(struct soma_command *command, enum soma_op op)
{
    memset(command, 0, sizeof(*command));
    command->op = op;
    const struct soma_op_info *info = &op_rows[op];
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        if (!row->required && row->default_value != 0)
            memcpy((char *)command + field_rows[row->field].offset, &row->default_value,
                   sizeof(row->default_value));
    }
}

void soma_command_set(struct soma_command *command, enum soma_field field, uint64_t value)
{
    memcpy((char *)command + field_rows[field].offset, &value, sizeof(value));
    command->present |= UINT64_C(1) << field;
}

uint64_t soma_command_get(const struct soma_command *command, enum soma_field field)
{
    uint64_t value;
    memcpy(&value, (const char *)command + field_rows[field].offset, sizeof(value));
    return value;
}

enum soma_status soma_command_complete(const struct soma_command *command, struct soma_error *error)
{
    const struct soma_op_info *info = &op_rows[command->op];
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        if (row->required && (command->present >> row->field & 1u) == 0)
            return soma_fail(error, SOMA_MISSING_FIELD, field_rows[row->field].json,
                             "%s needs the field \"%s\" (%s: %s)", info->name,
                             field_rows[row->field].json, kind_rows[row->kind].type,
                             field_rows[row->field].help);
    }
    return SOMA_OK;
}

/* ---- SoCs ---- */

static const struct soma_soc soc_rows[] = {
#define SOMA_ROW(name, arch, ai, cube, vec, cpu, mem, ...)                                         \
    {name, arch, ai, cube, vec, cpu, (mem) == 0 ? SOMA_MEMORY_BYTES_DEFAULT : (mem), __VA_ARGS__},
    SOMA_SOCS(SOMA_ROW)
#undef SOMA_ROW
};

const struct soma_soc *soma_soc_row(unsigned i)
{
    return i < sizeof(soc_rows) / sizeof(soc_rows[0]) ? &soc_rows[i] : NULL;
}

const struct soma_soc *soma_soc_find(const char *name, size_t len)
{
    for (unsigned i = 0; soma_soc_row(i) != NULL; i++) {
        if (same_text(soc_rows[i].name, name, len))
            return &soc_rows[i];
    }
    return NULL;
}
