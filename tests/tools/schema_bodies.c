/* Objects of the contract: bodies of routes, commands of POST /v1/commands, answers, errors. */
#include "schema_docs.def"
#include "schema_types.h"

#include <stdio.h>
#include <string.h>

/* ---- what is asked ---- */

bool schema_is_raw_body(const struct soma_op_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].kind == SOMA_KIND_BASE64 && info->fields[i].where == SOMA_WHERE_BODY)
            return true;
    }
    return false;
}

bool schema_is_raw_answer(const struct soma_op_info *info)
{
    if (info->result == SOMA_MESSAGE_NONE)
        return false;
    const struct soma_message_info *message = soma_message_info((enum soma_message)info->result);
    for (size_t i = 0; i < message->member_count; i++) {
        if (message->members[i].kind == SOMA_MEMBER_KIND_DATA)
            return true;
    }
    return false;
}

static void default_value(struct json *json, const struct soma_field_row *row)
{
    enum soma_enum_group group = soma_field_kind_info(row->kind)->words;
    if (group != SOMA_GROUP_COUNT)
        json_text(json, "default", soma_word_of(group, (int)row->default_value));
    else if (row->kind == SOMA_KIND_TIMEOUT && row->default_value == UINT64_MAX)
        json_int(json, "default", -1);
    else
        json_u64(json, "default", row->default_value);
}

/* "field": its kind, help and default. */
static void field(struct schema *schema, const struct soma_op_info *info,
                  const struct soma_field_row *row, bool in_batch)
{
    struct json *json = &schema->json;
    char text[300];
    const char *absent = schema_absent(info->op, row->field);
    const char *help = soma_field_help(row->field);
    json_open(json, soma_field_json(row->field), '{');
    schema_kind(schema, row->kind, in_batch && schema_takes_name(row->kind));
    if (absent != NULL)
        (void)snprintf(text, sizeof(text), "%s; absent: %s", help, absent);
    json_text(json, "description", absent != NULL ? text : help);
    if (in_batch && row->field == SOMA_FIELD_device)
        json_u64(json, "default", 0);
    else if (!row->required && absent == NULL)
        default_value(json, row);
    json_close(json, '}');
}

/* Is the field asked for in this place? */
static bool is_shown(const struct soma_field_row *row, bool in_batch)
{
    return in_batch || row->where == SOMA_WHERE_BODY;
}

static void fields(struct schema *schema, const struct soma_op_info *info, bool in_batch)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (is_shown(&info->fields[i], in_batch))
            field(schema, info, &info->fields[i], in_batch);
    }
}

static void required_fields(struct json *json, const struct soma_op_info *info, bool in_batch)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        bool may_miss = in_batch && row->field == SOMA_FIELD_device;
        if (row->required && !may_miss && is_shown(row, in_batch))
            json_text(json, NULL, soma_field_json(row->field));
    }
}

static bool has_required(const struct soma_op_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].required && info->fields[i].where == SOMA_WHERE_BODY)
            return true;
    }
    return false;
}

void schema_body(struct schema *schema, const struct soma_op_info *info)
{
    struct json *json = &schema->json;
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    fields(schema, info, false);
    json_close(json, '}');
    if (has_required(info)) {
        json_open_line(json, "required", '[');
        required_fields(json, info, false);
        json_close(json, ']');
    }
    json_bool(json, "additionalProperties", false);
}

void schema_command(struct schema *schema, const struct soma_op_info *info)
{
    struct json *json = &schema->json;
    json_text(json, "description", schema_op_summary(info->op));
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open_line(json, "op", '{');
    json_text(json, "const", info->name);
    json_close(json, '}');
    if (wire_creates(info->op)) {
        json_open(json, "as", '{');
        json_text(json, "type", "string");
        json_u64(json, "minLength", 1);
        json_u64(json, "maxLength", SOMA_NAME_BYTES_MAX);
        json_text(json, "description", "a name for what is created, for later commands: \"$name\"");
        json_close(json, '}');
    }
    fields(schema, info, true);
    json_close(json, '}');
    json_open_line(json, "required", '[');
    json_text(json, NULL, "op");
    required_fields(json, info, true);
    json_close(json, ']');
    json_bool(json, "additionalProperties", false);
}

void schema_define_commands(struct schema *schema)
{
    char name[SCHEMA_NAME_BYTES];
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        json_open(&schema->json, schema_name(name, "Command", info->name), '{');
        schema_command(schema, info);
        json_close(&schema->json, '}');
    }
}

/* oneOf every command, told apart by "op". */
static void any_command(struct schema *schema)
{
    struct json *json = &schema->json;
    char name[SCHEMA_NAME_BYTES], ref[2 * SCHEMA_NAME_BYTES];
    json_text(json, "type", "object");
    json_open(json, "discriminator", '{');
    json_text(json, "propertyName", "op");
    json_open(json, "mapping", '{');
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        (void)snprintf(ref, sizeof(ref), "%s%s", schema->refs,
                       schema_name(name, "Command", info->name));
        json_text(json, info->name, ref);
    }
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, "oneOf", '[');
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        json_open_line(json, NULL, '{');
        schema_ref(schema, NULL,
                   schema_name(name, "Command", soma_op_info((enum soma_op)op)->name));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void schema_batch(struct schema *schema)
{
    struct json *json = &schema->json;
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "commands", '{');
    json_text(json, "type", "array");
    json_open(json, "items", '{');
    any_command(schema);
    json_close(json, '}');
    json_text(json, "description", "run in this order, one after the other");
    json_close(json, '}');
    json_open(json, "onError", '{');
    json_text(json, "type", "string");
    json_list(json, "enum", "stop", "continue", NULL);
    json_text(json, "description", "whether the commands behind a refused one are run");
    json_text(json, "default", "stop");
    json_close(json, '}');
    json_close(json, '}');
    json_list(json, "required", "commands", NULL);
    json_bool(json, "additionalProperties", false);
}

enum form { FORM_TEXT, FORM_COUNT, FORM_SOC, FORM_CLOCK };

static void session_field(struct schema *schema, enum form form, uint64_t max)
{
    struct json *json = &schema->json;
    const struct soma_word_list *clocks = soma_words(SOMA_GROUP_clock);
    switch (form) {
    case FORM_TEXT:
        json_text(json, "type", "string");
        json_u64(json, "maxLength", max);
        return;
    case FORM_COUNT: schema_count(schema, max); return;
    case FORM_SOC:
        json_text(json, "type", "string");
        json_open_line(json, "enum", '[');
        for (unsigned i = 0; soma_soc_row(i) != NULL; i++)
            json_text(json, NULL, soma_soc_row(i)->name);
        json_close(json, ']');
        return;
    case FORM_CLOCK:
        json_text(json, "type", "string");
        json_open_line(json, "enum", '[');
        for (size_t i = 0; i < clocks->count; i++)
            json_text(json, NULL, clocks->words[i].word);
        json_close(json, ']');
        return;
    }
}

void schema_session_create(struct schema *schema)
{
    static const struct {
        const char *json;
        enum form form;
        uint64_t max;
        const char *help;
    } rows[] = {
#define SOMA_ROW(json, FORM, max, help) {json, FORM_##FORM, (max), help},
        SOMA_SESSION_FIELDS(SOMA_ROW)
#undef SOMA_ROW
    };
    struct json *json = &schema->json;
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_open(json, rows[i].json, '{');
        session_field(schema, rows[i].form, rows[i].max);
        json_text(json, "description", rows[i].help);
        json_close(json, '}');
    }
    json_close(json, '}');
    json_bool(json, "additionalProperties", false);
}

/* ---- what is answered ---- */

static void message_or_ref(struct schema *schema, enum soma_message message)
{
    char name[SCHEMA_NAME_BYTES];
    if (schema->refs != NULL)
        schema_ref(schema, NULL, schema_name(name, "", soma_message_info(message)->name));
    else
        schema_message(schema, message);
}

static void u64_type(struct schema *schema, bool or_null)
{
    struct json *json = &schema->json;
    if (or_null)
        json_list(json, "type", "integer", "null", NULL);
    else
        json_text(json, "type", "integer");
    json_u64(json, "minimum", 0);
    if (schema->has_formats)
        json_text(json, "format", "int64");
}

static void enum_type(struct json *json, enum soma_enum_group group)
{
    const struct soma_word_list *list = soma_words(group);
    json_text(json, "type", "string");
    json_open_line(json, "enum", '[');
    for (size_t i = 0; i < list->count; i++)
        json_text(json, NULL, list->words[i].word);
    json_close(json, ']');
}

static void items_type(struct schema *schema, const struct soma_member *member)
{
    json_text(&schema->json, "type", "array");
    json_open(&schema->json, "items", '{');
    if (member->kind == SOMA_MEMBER_KIND_NAMES)
        json_text(&schema->json, "type", "string");
    else
        message_or_ref(schema, (enum soma_message)member->sub);
    json_close(&schema->json, '}');
}

static void member_type(struct schema *schema, const struct soma_member *member)
{
    struct json *json = &schema->json;
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64: u64_type(schema, false); return;
    case SOMA_MEMBER_KIND_NULL_U64: u64_type(schema, true); return;
    case SOMA_MEMBER_KIND_BOOL: json_text(json, "type", "boolean"); return;
    case SOMA_MEMBER_KIND_F64: json_text(json, "type", "number"); return;
    case SOMA_MEMBER_KIND_ADDRESS:
        json_text(json, "type", "string");
        json_text(json, "pattern", "^0x[0-9a-f]{1,16}$");
        return;
    case SOMA_MEMBER_KIND_ENUM: enum_type(json, (enum soma_enum_group)member->sub); return;
    case SOMA_MEMBER_KIND_TEXT:
    case SOMA_MEMBER_KIND_NAME: json_text(json, "type", "string"); return;
    case SOMA_MEMBER_KIND_DATA:
        json_text(json, "type", "string");
        json_text(json, "contentEncoding", "base64");
        return;
    case SOMA_MEMBER_KIND_OBJECT: message_or_ref(schema, (enum soma_message)member->sub); return;
    case SOMA_MEMBER_KIND_ARRAY:
    case SOMA_MEMBER_KIND_NAMES: items_type(schema, member); return;
    }
}

static bool is_short(const struct soma_member *member)
{
    return member->kind != SOMA_MEMBER_KIND_ARRAY && member->kind != SOMA_MEMBER_KIND_OBJECT;
}

void schema_message(struct schema *schema, enum soma_message message)
{
    struct json *json = &schema->json;
    const struct soma_message_info *info = soma_message_info(message);
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        (is_short(member) ? json_open_line : json_open)(json, member->json, '{');
        member_type(schema, member);
        json_close(json, '}');
    }
    json_close(json, '}');
    json_open_line(json, "required", '[');
    for (size_t i = 0; i < info->member_count; i++) {
        if (info->members[i].kind != SOMA_MEMBER_KIND_OPT_U64)
            json_text(json, NULL, info->members[i].json);
    }
    json_close(json, ']');
}

void schema_define_messages(struct schema *schema)
{
    char name[SCHEMA_NAME_BYTES];
    for (int i = 0; i < SOMA_MESSAGE_COUNT; i++) {
        enum soma_message message = (enum soma_message)i;
        json_open(&schema->json, schema_name(name, "", soma_message_info(message)->name), '{');
        schema_message(schema, message);
        json_close(&schema->json, '}');
    }
}

/* Every reason that can be answered, each once. */
static void reasons(struct json *json)
{
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *row = soma_status_row(i);
        const char *reason = soma_status_reason(row->status);
        if (row->status != SOMA_MUST_WAIT && strcmp(reason, row->name) == 0)
            json_text(json, NULL, reason);
    }
}

static void error_detail(struct json *json)
{
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "reason", '{');
    json_text(json, "type", "string");
    json_open(json, "enum", '[');
    reasons(json);
    json_close(json, ']');
    json_close(json, '}');
    json_property(json, "field", "string", "the field at fault, when there is one");
    json_property(json, "aclError", "integer", "the number that the C client returns");
    json_close(json, '}');
    json_list(json, "required", "reason", "aclError", NULL);
}

void schema_error(struct schema *schema)
{
    struct json *json = &schema->json;
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "error", '{');
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_property(json, "code", "integer", "the HTTP status code");
    json_property(json, "status", "string", "its name, as google.rpc.Code spells it");
    json_property(json, "message", "string", "what happened, with the values, and what to do next");
    json_open(json, "details", '{');
    json_text(json, "type", "array");
    json_u64(json, "minItems", 1);
    json_open(json, "items", '{');
    error_detail(json);
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, '}');
    json_list(json, "required", "code", "status", "message", "details", NULL);
    json_close(json, '}');
    json_close(json, '}');
    json_list(json, "required", "error", NULL);
}

/* The messages that commands answer with, each once; then the error, then {}. */
static void any_result(struct schema *schema)
{
    struct json *json = &schema->json;
    char name[SCHEMA_NAME_BYTES];
    bool seen[SOMA_MESSAGE_COUNT] = {false};
    json_open(json, "anyOf", '[');
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        int message = soma_op_info((enum soma_op)op)->result;
        if (message == SOMA_MESSAGE_NONE || seen[message])
            continue;
        seen[message] = true;
        json_open_line(json, NULL, '{');
        message_or_ref(schema, (enum soma_message)message);
        json_close(json, '}');
    }
    json_open_line(json, NULL, '{');
    schema_ref(schema, NULL, schema_name(name, "", "error"));
    json_close(json, '}');
    json_open_line(json, NULL, '{');
    json_text(json, "type", "object");
    json_u64(json, "maxProperties", 0);
    json_close(json, '}');
    json_close(json, ']');
}

void schema_batch_results(struct schema *schema)
{
    struct json *json = &schema->json;
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "results", '{');
    json_text(json, "type", "array");
    json_open(json, "items", '{');
    any_result(schema);
    json_close(json, '}');
    json_text(json, "description",
              "one for each command that was run, in order: the answer of its route, or its error");
    json_close(json, '}');
    json_open_line(json, "completed", '{');
    json_text(json, "type", "integer");
    json_u64(json, "minimum", 0);
    json_text(json, "description", "how many succeeded");
    json_close(json, '}');
    json_close(json, '}');
    json_list(json, "required", "results", "completed", NULL);
}
