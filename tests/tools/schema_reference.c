/* schema/REFERENCE.md: the tables as tables for people. */
#include "schema_render.h"
#include "schema_types.h"

#include "routes.def"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void print(struct soma_writer *out, const char *format, ...) SOMA_PRINTF(2, 3);

static void print(struct soma_writer *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    out->failed |= len < 0 || (size_t)len >= sizeof(text);
    soma_writer_text(out, text);
}

/* A text inside a table's cell. */
static void cell(struct soma_writer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            soma_writer_text(out, "\\");
        soma_writer_raw(out, text, 1);
    }
}

/* ---- errors ---- */

static void errors(struct soma_writer *out)
{
    print(out, "## Errors\n\n"
               "`reason` and number never change. 1 to 99: the request is wrong; 100 to 199: the "
               "state refuses; from 200 on: the service cannot. A reason that stands twice has "
               "another `aclError` in another command.\n\n"
               "| reason | number | HTTP | status | aclError | meaning |\n"
               "|---|---|---|---|---|---|\n");
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *row = soma_status_row(i);
        if (row->status == SOMA_MUST_WAIT)
            continue;
        print(out, "| `%s` | %d | %d | %s | %d | ", soma_status_reason(row->status),
              (int)row->status, row->http, row->rpc, row->acl_error);
        cell(out, row->text);
        print(out, " |\n");
    }
}

/* ---- commands ---- */

static void default_text(struct soma_writer *out, const struct soma_field_row *row)
{
    enum soma_enum_group group = soma_field_kind_info(row->kind)->words;
    if (group != SOMA_GROUP_COUNT)
        print(out, "%s", soma_word_of(group, (int)row->default_value));
    else if (row->default_value == UINT64_MAX)
        print(out, "-1");
    else
        print(out, "%" PRIu64, row->default_value);
}

/* "`size` bytes", "`stream` id = 0", "`since` id (query)". */
static void command_field(struct soma_writer *out, const struct soma_op_info *info,
                          const struct soma_field_row *row)
{
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    print(out, "`%s` ", soma_field_json(row->field));
    if (kind->words != SOMA_GROUP_COUNT)
        print(out, "%s", soma_words(kind->words)->name);
    else
        cell(out, kind->type);
    if (row->where == SOMA_WHERE_QUERY)
        print(out, " (query)");
    if (row->required)
        return;
    const char *absent = schema_absent(info->op, row->field);
    if (absent != NULL) {
        print(out, " (absent: %s)", absent);
    } else {
        print(out, " = ");
        default_text(out, row);
    }
}

static void command(struct soma_writer *out, const struct soma_op_info *info)
{
    bool is_first = true;
    print(out, "| `%s` | %s `%s` | ", info->name, soma_method_name(info->method), info->path);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        if (row->where == SOMA_WHERE_PATH)
            continue;
        print(out, is_first ? "" : ", ");
        is_first = false;
        command_field(out, info, row);
    }
    print(out, " | %d", info->http);
    if (info->result != SOMA_MESSAGE_NONE)
        print(out, " %s", soma_message_info((enum soma_message)info->result)->name);
    print(out, " |\n");
}

static void commands(struct soma_writer *out)
{
    print(out,
          "## Commands\n\n"
          "Each is a route, and an `op` of POST /v1/commands, where its fields and those of its "
          "path stand in one object and `device` is 0 by default. A field with `=` may be left "
          "out and then has that value.\n\n"
          "| op | route | fields beside the path's | answer |\n"
          "|---|---|---|---|\n");
    for (int op = 0; op < SOMA_OP_COUNT; op++)
        command(out, soma_op_info((enum soma_op)op));
}

static void service_routes(struct soma_writer *out)
{
    print(out, "## Service routes\n\n"
               "| route | code | what it does |\n"
               "|---|---|---|\n");
#define SOMA_ROW(NAME, METHOD, path, http, summary)                                                \
    print(out, "| %s `%s` | %d | %s |\n", #METHOD, path, http, summary);
    SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW
}

/* ---- fields ---- */

static const char *form_of(enum soma_field_kind kind)
{
    switch (kind) {
    case SOMA_KIND_BYTES: return "number, string of digits, or string with KiB, MiB, GiB, TiB";
    case SOMA_KIND_ADDRESS:
        return "string: `0x` and up to 16 hexadecimal digits, or digits; number";
    case SOMA_KIND_TIMEOUT: return "number, string of digits, or -1";
    case SOMA_KIND_LOCATION: return "object";
    case SOMA_KIND_TEXT: return "string";
    case SOMA_KIND_BASE64: return "string of base64; on the single route the raw body";
    case SOMA_KIND_ARGS: return "array of objects with one key each";
    case SOMA_KIND_ENUM_FAILURE_MODE:
    case SOMA_KIND_ENUM_EVENT_KIND:
    case SOMA_KIND_ENUM_BLOCK_TYPE:
    case SOMA_KIND_ENUM_VALUE_CONDITION:
    case SOMA_KIND_ENUM_ALLOC_TYPE:
    case SOMA_KIND_ENUM_HANDLE_TYPE:
    case SOMA_KIND_ENUM_POOL_ATTRIBUTE:
    case SOMA_KIND_ENUM_CHECKS:
    case SOMA_KIND_ENUM_POSITION:
    case SOMA_KIND_ENUM_REDUCE_KIND:
    case SOMA_KIND_ENUM_DISTRIBUTION:
    case SOMA_KIND_ENUM_ACCESS:
    case SOMA_KIND_ENUM_DTYPE: return "one of its words";
    case SOMA_KIND_DEVICE:
    case SOMA_KIND_ID:
    case SOMA_KIND_U8:
    case SOMA_KIND_U32:
    case SOMA_KIND_U64:
    case SOMA_KIND_BLOCKS:
    case SOMA_KIND_DURATION:
    case SOMA_KIND_COUNT: break;
    }
    return "number, or string of digits";
}

static void kind_row(struct soma_writer *out, enum soma_field_kind kind)
{
    const struct soma_field_kind_info *info = soma_field_kind_info(kind);
    char name[SCHEMA_NAME_BYTES];
    print(out, "| %s | ", schema_name(name, "", info->name));
    cell(out, info->type);
    print(out, " | %s | ", form_of(kind));
    if (info->words != SOMA_GROUP_COUNT)
        print(out, "%s", soma_words(info->words)->name);
    else if (kind == SOMA_KIND_TEXT)
        print(out, "at most %" PRIu64 " bytes", info->max);
    else if (kind == SOMA_KIND_ARGS)
        print(out, "at most %" PRIu64, info->max);
    else if (info->max == UINT64_MAX && kind != SOMA_KIND_BASE64)
        print(out, "%" PRIu64 " to 2^64-1", info->min);
    else if (kind != SOMA_KIND_LOCATION && kind != SOMA_KIND_BASE64)
        print(out, "%" PRIu64 " to %" PRIu64, info->min, info->max);
    print(out, " |\n");
}

static void kinds(struct soma_writer *out)
{
    print(out, "## Kinds of fields\n\n"
               "A number token must be an integer below 2^53 without fraction or exponent. Digits "
               "have no sign, spaces or leading zeros. Ids and addresses in POST /v1/commands may "
               "also be `\"$name\"`.\n\n"
               "| kind | called | written as | range |\n"
               "|---|---|---|---|\n");
    for (int kind = 0; kind < SOMA_KIND_COUNT; kind++)
        kind_row(out, (enum soma_field_kind)kind);
    print(out, "\n## Fields\n\n"
               "| field | meaning |\n"
               "|---|---|\n");
    for (int field = 0; field < SOMA_FIELD_COUNT; field++) {
        print(out, "| `%s` | ", soma_field_json((enum soma_field)field));
        cell(out, soma_field_help((enum soma_field)field));
        print(out, " |\n");
    }
}

/* ---- answers ---- */

static const char *member_text(char buf[SCHEMA_NAME_BYTES], const struct soma_member *member)
{
    static const char *const texts[] = {
        [SOMA_MEMBER_KIND_U64] = "integer",
        [SOMA_MEMBER_KIND_OPT_U64] = "integer, may be absent",
        [SOMA_MEMBER_KIND_NULL_U64] = "integer or null",
        [SOMA_MEMBER_KIND_BOOL] = "boolean",
        [SOMA_MEMBER_KIND_F64] = "number",
        [SOMA_MEMBER_KIND_ADDRESS] = "address",
        [SOMA_MEMBER_KIND_TEXT] = "string",
        [SOMA_MEMBER_KIND_NAME] = "string",
        [SOMA_MEMBER_KIND_DATA] = "base64",
        [SOMA_MEMBER_KIND_NAMES] = "array of strings",
    };
    if (member->kind == SOMA_MEMBER_KIND_ENUM)
        return soma_words((enum soma_enum_group)member->sub)->name;
    if (member->kind == SOMA_MEMBER_KIND_OBJECT)
        return soma_message_info((enum soma_message)member->sub)->name;
    if (member->kind != SOMA_MEMBER_KIND_ARRAY)
        return texts[member->kind];
    (void)snprintf(buf, SCHEMA_NAME_BYTES, "array of %s",
                   soma_message_info((enum soma_message)member->sub)->name);
    return buf;
}

static void messages(struct soma_writer *out)
{
    char text[SCHEMA_NAME_BYTES];
    print(out, "## Answers\n\n"
               "| message | members |\n"
               "|---|---|\n");
    for (int message = 0; message < SOMA_MESSAGE_COUNT; message++) {
        const struct soma_message_info *info = soma_message_info((enum soma_message)message);
        print(out, "| %s |", info->name);
        for (size_t i = 0; i < info->member_count; i++)
            print(out, "%s `%s` %s", i == 0 ? "" : ",", info->members[i].json,
                  member_text(text, &info->members[i]));
        print(out, " |\n");
    }
}

/* ---- words and SoCs ---- */

static void words(struct soma_writer *out)
{
    print(out, "## Words\n\n"
               "A word in parentheses is understood as well, and never answered.\n\n"
               "| group | words |\n"
               "|---|---|\n");
    for (int group = 0; group < SOMA_GROUP_COUNT; group++) {
        const struct soma_word_list *list = soma_words((enum soma_enum_group)group);
        print(out, "| %s |", list->name);
        for (size_t i = 0; i < list->count; i++) {
            const struct soma_word *word = &list->words[i];
            print(out, "%s `%s`", i == 0 ? "" : ",", word->word);
            if (word->alias != NULL)
                print(out, " (`%s`)", word->alias);
        }
        print(out, " |\n");
    }
}

static void socs(struct soma_writer *out)
{
    char memory[32], l2[32];
    print(out,
          "## SoCs\n\n"
          "Memory is each device's. BT 0: there is none.\n\n"
          "| SoC | npu_arch | AI cores | cube | vector | AI CPUs | memory | L2 | UB | L1 | L0A "
          "| L0B | L0C | BT | streams |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned i = 0; soma_soc_row(i) != NULL; i++) {
        const struct soma_soc *soc = soma_soc_row(i);
        print(out, "| %s | %u | %u | %u | %u | %u | %s | %s |", soc->name, soc->npu_arch,
              soc->ai_cores, soc->cube_cores, soc->vector_cores, soc->ai_cpus,
              soma_bytes_text(memory, soc->memory_bytes), soma_bytes_text(l2, soc->l2_bytes));
        print(out, " %u | %u | %u | %u | %u | %u | %u |\n", soc->ub_bytes, soc->l1_bytes,
              soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes, soc->max_streams);
    }
}

void render_reference(struct soma_writer *out)
{
    print(out,
          "# Reference\n\n"
          "Every error, command, word and SoC of protocol version %d. Rendered from "
          "`api/soma/*.def` by `schema_render`; do not edit. The contract in prose: "
          "[PROTOCOL.md](PROTOCOL.md).\n\n",
          SOMA_PROTOCOL);
    errors(out);
    print(out, "\n");
    commands(out);
    print(out, "\n");
    service_routes(out);
    print(out, "\n");
    kinds(out);
    print(out, "\n");
    messages(out);
    print(out, "\n");
    words(out);
    print(out, "\n");
    socs(out);
}
