/* The command table and its words: one check per row of each. */
#include "command.h"
#include "expect.h"
#include "message.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

static void check_word(const struct soma_word_list *list, enum soma_enum_group group, size_t index)
{
    const struct soma_word *word = &list->words[index];
    int value = -1;
    EXPECT(same_words(soma_word_of(group, word->value), word->word), "%s: %s", list->name,
           word->word);
    EXPECT(soma_value_of(group, word->word, strlen(word->word), &value) && value == word->value,
           "%s: %s", list->name, word->word);
    EXPECT(!soma_value_of(group, word->word, strlen(word->word) - 1, &value), "%s: part of %s",
           list->name, word->word);
    value = -1;
    if (word->alias != NULL)
        EXPECT(soma_value_of(group, word->alias, strlen(word->alias), &value) &&
                   value == word->value,
               "%s: alias %s", list->name, word->alias);
    for (size_t i = index + 1; i < list->count; i++)
        EXPECT(list->words[i].value != word->value && !same_words(list->words[i].word, word->word),
               "%s: %s stands twice", list->name, word->word);
}

static void test_words(void)
{
    for (int group = 0; group < SOMA_GROUP_COUNT; group++) {
        const struct soma_word_list *list = soma_words((enum soma_enum_group)group);
        EXPECT(list->count > 0 && strlen(list->name) > 0, "group %d", group);
        for (size_t i = 0; i < list->count; i++)
            check_word(list, (enum soma_enum_group)group, i);
        EXPECT(soma_word_of((enum soma_enum_group)group, 4711) == NULL, "%s: 4711", list->name);
    }
    int value;
    EXPECT(!soma_value_of(SOMA_GROUP_event_kind, "ex", 2, &value), "case matters");
    EXPECT(!soma_value_of(SOMA_GROUP_event_kind, "", 0, &value), "no word");
}

/* ---- fields ---- */

static void test_fields(void)
{
    for (int i = 0; i < SOMA_FIELD_COUNT; i++) {
        enum soma_field field = (enum soma_field)i;
        EXPECT(strlen(soma_field_json(field)) > 0 && strlen(soma_field_help(field)) > 0, "field %d",
               i);
        EXPECT(soma_field_offset(field) + sizeof(uint64_t) <= sizeof(struct soma_command), "%s",
               soma_field_json(field));
    }
    for (int i = 0; i < SOMA_KIND_COUNT; i++) {
        const struct soma_field_kind_info *kind = soma_field_kind_info((enum soma_field_kind)i);
        EXPECT(strlen(kind->name) > 0 && strlen(kind->type) > 0 && kind->min <= kind->max,
               "kind %d", i);
    }
}

/* ---- commands ---- */

/* Whether {word} stands in the path of the command. */
static bool path_has(const struct soma_op_info *info, const char *word)
{
    char part[64];
    (void)snprintf(part, sizeof(part), "{%s}", word);
    return strstr(info->path, part) != NULL;
}

static void check_field_row(const struct soma_op_info *info, size_t index)
{
    const struct soma_field_row *row = &info->fields[index];
    const char *json = soma_field_json(row->field);
    bool in_path = path_has(info, json);
    EXPECT(in_path == (row->where == SOMA_WHERE_PATH), "%s: %s and the path", info->name, json);
    EXPECT(row->where != SOMA_WHERE_PATH || row->required, "%s: %s is in the path", info->name,
           json);
    EXPECT(row->where != SOMA_WHERE_BODY || info->method == SOMA_METHOD_POST ||
               info->method == SOMA_METHOD_PUT,
           "%s: %s in the body of a %s", info->name, json, soma_method_name(info->method));
    for (size_t i = index + 1; i < info->field_count; i++)
        EXPECT(!same_words(soma_field_json(info->fields[i].field), json), "%s: two fields %s",
               info->name, json);
}

static void check_command(enum soma_op op)
{
    const struct soma_op_info *info = soma_op_info(op);
    size_t braces = 0, path_fields = 0;
    EXPECT(info->op == op && soma_op_find(info->name, strlen(info->name)) == info, "%s",
           info->name);
    EXPECT(info->http == 200 || info->http == 201 || info->http == 204, "%s: %d", info->name,
           info->http);
    EXPECT((info->http == 204) == (info->result == SOMA_MESSAGE_NONE), "%s: %d and its answer",
           info->name, info->http);
    EXPECT(info->result >= SOMA_MESSAGE_NONE && info->result < SOMA_MESSAGE_COUNT, "%s",
           info->name);
    EXPECT(strncmp(info->path, "/v1/", 4) == 0, "%s: %s", info->name, info->path);
    for (const char *at = info->path; *at != '\0'; at++)
        braces += *at == '{';
    for (size_t i = 0; i < info->field_count; i++) {
        check_field_row(info, i);
        path_fields += info->fields[i].where == SOMA_WHERE_PATH;
    }
    EXPECT(braces == path_fields, "%s: %zu braces, %zu path fields", info->name, braces,
           path_fields);
}

static void test_commands(void)
{
    for (int op = 0; op < SOMA_OP_COUNT; op++)
        check_command((enum soma_op)op);
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        for (int other = op + 1; other < SOMA_OP_COUNT; other++) {
            const struct soma_op_info *next = soma_op_info((enum soma_op)other);
            EXPECT(!same_words(info->name, next->name), "%s stands twice", info->name);
            EXPECT(info->method != next->method || !same_words(info->path, next->path),
                   "%s and %s share a route", info->name, next->name);
        }
    }
    EXPECT(soma_op_find("pool.mallo", 10) == NULL, "part of a name");
    EXPECT(soma_op_find("pool.malloc2", 12) == NULL, "longer than a name");
    EXPECT(soma_op_find("", 0) == NULL, "no name");
    EXPECT(soma_op_find("Pool.malloc", 11) == NULL, "case matters");
}

static bool is_number(enum soma_field_kind kind)
{
    return kind != SOMA_KIND_TEXT && kind != SOMA_KIND_BASE64 && kind != SOMA_KIND_ARGS;
}

/* Present fields of a command that has all that it needs but `except`. */
static void fill_required(struct soma_command *command, const struct soma_field_row *except)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].required && &info->fields[i] != except)
            command->present |= UINT64_C(1) << info->fields[i].field;
    }
}

static void test_init_and_complete(void)
{
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        struct soma_command command;
        struct soma_error error;
        soma_command_init(&command, (enum soma_op)op);
        EXPECT(command.present == 0 && !command.expired, "%s", info->name);
        fill_required(&command, NULL);
        EXPECT(soma_command_complete(&command, &error) == SOMA_OK, "%s", info->name);
        for (size_t i = 0; i < info->field_count; i++) {
            const struct soma_field_row *row = &info->fields[i];
            const char *json = soma_field_json(row->field);
            soma_command_init(&command, (enum soma_op)op);
            if (!row->required && is_number(row->kind))
                EXPECT(soma_command_get(&command, row->field) == row->default_value, "%s: %s",
                       info->name, json);
            fill_required(&command, row);
            enum soma_status status = soma_command_complete(&command, &error);
            EXPECT(status == (row->required ? SOMA_MISSING_FIELD : SOMA_OK), "%s: %s", info->name,
                   json);
            EXPECT(!row->required || same_words(error.field, json), "%s: %s", info->name, json);
        }
    }
}

static void test_set_and_get(void)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_POOL_MALLOC);
    soma_command_set(&command, SOMA_FIELD_size, UINT64_MAX);
    EXPECT(command.size == UINT64_MAX && soma_command_get(&command, SOMA_FIELD_size) == UINT64_MAX,
           "size");
    EXPECT(command.present == SOMA_HAS(size), "present");
}

static void test_socs(void)
{
    unsigned count = 0;
    for (const struct soma_soc *soc; (soc = soma_soc_row(count)) != NULL; count++) {
        EXPECT(soma_soc_find(soc->name, strlen(soc->name)) == soc, "%s", soc->name);
        EXPECT(soc->memory_bytes > 0, "%s has no memory", soc->name);
    }
    EXPECT(count > 10, "%u SoCs", count);
    EXPECT(soma_soc_find(SOMA_SOC_DEFAULT, strlen(SOMA_SOC_DEFAULT)) != NULL, "the default");
    EXPECT(soma_soc_find("ascend910b1", 11) == NULL, "case matters");
}

static void test_method_names(void)
{
    EXPECT(same_words(soma_method_name(SOMA_METHOD_GET), "GET"), "GET");
    EXPECT(same_words(soma_method_name(SOMA_METHOD_POST), "POST"), "POST");
    EXPECT(same_words(soma_method_name(SOMA_METHOD_PUT), "PUT"), "PUT");
    EXPECT(same_words(soma_method_name(SOMA_METHOD_DELETE), "DELETE"), "DELETE");
}

static const struct soma_test tests[] = {
    {"words", test_words},
    {"fields", test_fields},
    {"every command's row is whole", test_commands},
    {"defaults and completeness", test_init_and_complete},
    {"set and get", test_set_and_get},
    {"SoCs", test_socs},
    {"methods", test_method_names},
    {NULL, NULL},
};

const struct soma_suite suite_command = {"command", tests};
