#include "schema_types.h"

#include "schema_docs.def"
#include "wire_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DECIMAL "(0|[1-9][0-9]{0,19})"
#define DECIMAL_PATTERN "^" DECIMAL "$"
#define BYTES_PATTERN "^" DECIMAL "(KiB|MiB|GiB|TiB)?$"
#define ADDRESS_PATTERN "^(0x[0-9a-fA-F]{1,16}|" DECIMAL ")$"
#define NAME_PATTERN "^\\$[\\s\\S]+$"

/* ---- schema_docs.def ---- */

static const char *const op_docs[] = {
#define SOMA_ROW(OP, text) [SOMA_OP_##OP] = text,
    SOMA_OP_DOCS(SOMA_ROW)
#undef SOMA_ROW
};

enum {
#define SOMA_ROW(OP, text) OP_DOC_##OP,
    SOMA_OP_DOCS(SOMA_ROW)
#undef SOMA_ROW
        OP_DOC_COUNT
};
_Static_assert((int)OP_DOC_COUNT == (int)SOMA_OP_COUNT, "a command has no row in SOMA_OP_DOCS");

static const struct {
    enum soma_op op;
    enum soma_field field;
    const char *text;
} absent_docs[] = {
#define SOMA_ROW(OP, member, text) {SOMA_OP_##OP, SOMA_FIELD_##member, text},
    SOMA_ABSENT_DOCS(SOMA_ROW)
#undef SOMA_ROW
};

const char *schema_op_summary(enum soma_op op)
{
    return op_docs[op];
}

const char *schema_absent(enum soma_op op, enum soma_field field)
{
    for (size_t i = 0; i < sizeof(absent_docs) / sizeof(absent_docs[0]); i++) {
        if (absent_docs[i].op == op && absent_docs[i].field == field)
            return absent_docs[i].text;
    }
    return NULL;
}

/* ---- names ---- */

const char *schema_name(char buf[SCHEMA_NAME_BYTES], const char *prefix, const char *name)
{
    bool is_shouting = name[0] != '\0' && isupper((unsigned char)name[0]);
    bool begins_word = true;
    size_t len = (size_t)snprintf(buf, SCHEMA_NAME_BYTES, "%s", prefix);
    for (; *name != '\0' && len + 1 < SCHEMA_NAME_BYTES; name++) {
        if (*name == '_' || *name == '.') {
            begins_word = true;
            continue;
        }
        int c = (unsigned char)*name;
        buf[len++] = (char)(begins_word ? toupper(c) : is_shouting ? tolower(c) : c);
        begins_word = false;
    }
    buf[len] = '\0';
    return buf;
}

void schema_ref(struct schema *schema, const char *key, const char *name)
{
    char ref[2 * SCHEMA_NAME_BYTES];
    (void)snprintf(ref, sizeof(ref), "%s%s", schema->refs, name);
    if (key != NULL)
        json_open_line(&schema->json, key, '{');
    json_text(&schema->json, "$ref", ref);
    if (key != NULL)
        json_close(&schema->json, '}');
}

/* ---- kinds ---- */

static void integer(struct json *json, int min, uint64_t max)
{
    json_text(json, "type", "integer");
    json_int(json, "minimum", min);
    json_u64(json, "maximum", max < SOMA_JSON_INTEGER_MAX ? max : SOMA_JSON_INTEGER_MAX);
}

static void string(struct json *json, const char *pattern)
{
    json_text(json, "type", "string");
    json_text(json, "pattern", pattern);
}

static void words(struct json *json, enum soma_enum_group group, bool with_aliases)
{
    const struct soma_word_list *list = soma_words(group);
    json_text(json, "type", "string");
    json_open_line(json, "enum", '[');
    for (size_t i = 0; i < list->count; i++)
        json_text(json, NULL, list->words[i].word);
    for (size_t i = 0; i < list->count && with_aliases; i++) {
        if (list->words[i].alias != NULL)
            json_text(json, NULL, list->words[i].alias);
    }
    json_close(json, ']');
}

void schema_count(struct schema *schema, uint64_t max)
{
    struct json *json = &schema->json;
    json_open_line(json, "anyOf", '[');
    json_open(json, NULL, '{');
    integer(json, 1, max);
    json_close(json, '}');
    json_open(json, NULL, '{');
    string(json, DECIMAL_PATTERN);
    json_close(json, '}');
    json_close(json, ']');
}

static const char *pattern_of(enum soma_field_kind kind)
{
    if (kind == SOMA_KIND_TIMEOUT)
        return "^(-1|" DECIMAL ")$";
    if (kind == SOMA_KIND_BYTES)
        return BYTES_PATTERN;
    return kind == SOMA_KIND_ADDRESS ? ADDRESS_PATTERN : DECIMAL_PATTERN;
}

/* A number token, or a string of it. */
static void number(struct json *json, enum soma_field_kind kind, bool or_name)
{
    const struct soma_field_kind_info *info = soma_field_kind_info(kind);
    json_open(json, "anyOf", '[');
    json_open_line(json, NULL, '{');
    integer(json, kind == SOMA_KIND_TIMEOUT ? -1 : (int)info->min, info->max);
    json_close(json, '}');
    json_open_line(json, NULL, '{');
    string(json, pattern_of(kind));
    json_close(json, '}');
    if (or_name) {
        json_open_line(json, NULL, '{');
        string(json, NAME_PATTERN);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void location(struct json *json)
{
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "type", '{');
    words(json, SOMA_GROUP_location_type, true);
    json_text(json, "description", "DEVICE is the only one that is supported.");
    json_text(json, "default", soma_word_of(SOMA_GROUP_location_type, SOMA_LOCATION_TYPE_DEVICE));
    json_close(json, '}');
    json_open(json, "id", '{');
    number(json, SOMA_KIND_U64, false);
    json_text(json, "description", "The device of the request, which it also is when absent.");
    json_close(json, '}');
    json_close(json, '}');
    json_bool(json, "additionalProperties", false);
}

/* One kernel argument of this kind, as {"word": value}. */
static void argument(struct json *json, enum soma_arg_kind kind, bool or_name)
{
    static const struct {
        int min;
        uint64_t max;
        const char *pattern; /* as a string; NULL: a floating-point number only */
    } rows[] = {
        [SOMA_ARG_PTR] = {0, UINT64_MAX, ADDRESS_PATTERN},
        [SOMA_ARG_U8] = {0, UINT8_MAX, DECIMAL_PATTERN},
        [SOMA_ARG_U16] = {0, UINT16_MAX, DECIMAL_PATTERN},
        [SOMA_ARG_U32] = {0, UINT32_MAX, DECIMAL_PATTERN},
        [SOMA_ARG_U64] = {0, UINT64_MAX, DECIMAL_PATTERN},
        [SOMA_ARG_I32] = {INT32_MIN, INT32_MAX, "^(0|-?[1-9][0-9]{0,18})$"},
        [SOMA_ARG_I64] = {-1, UINT64_MAX, "^(0|-?[1-9][0-9]{0,18})$"},
        [SOMA_ARG_F16] = {0, 0, NULL},
        [SOMA_ARG_F32] = {0, 0, NULL},
        [SOMA_ARG_F64] = {0, 0, NULL},
        [SOMA_ARG_BYTES] = {0, 0, NULL},
    };
    json_open(json, wire_arg_word(kind), '{');
    if (kind == SOMA_ARG_BYTES) {
        json_text(json, "type", "string");
        json_text(json, "contentEncoding", "base64");
    } else if (rows[kind].pattern == NULL) {
        json_text(json, "type", "number");
    } else {
        json_open_line(json, "anyOf", '[');
        json_open(json, NULL, '{');
        if (kind == SOMA_ARG_I64)
            json_text(json, "type", "integer");
        else
            integer(json, rows[kind].min, rows[kind].max);
        json_close(json, '}');
        json_open(json, NULL, '{');
        string(json, rows[kind].pattern);
        json_close(json, '}');
        if (kind == SOMA_ARG_PTR && or_name) {
            json_open(json, NULL, '{');
            string(json, NAME_PATTERN);
            json_close(json, '}');
        }
        json_close(json, ']');
    }
    json_close(json, '}');
}

static void arguments(struct json *json, bool or_name)
{
    json_text(json, "type", "array");
    json_u64(json, "maxItems", SOMA_KERNEL_ARGS_MAX);
    json_open(json, "items", '{');
    json_text(json, "type", "object");
    json_u64(json, "minProperties", 1);
    json_u64(json, "maxProperties", 1);
    json_open(json, "properties", '{');
    for (int kind = SOMA_ARG_PTR; kind <= SOMA_ARG_BYTES; kind++)
        argument(json, (enum soma_arg_kind)kind, or_name);
    json_close(json, '}');
    json_bool(json, "additionalProperties", false);
    json_close(json, '}');
}

static void kind_in_place(struct json *json, enum soma_field_kind kind, bool or_name)
{
    const struct soma_field_kind_info *info = soma_field_kind_info(kind);
    if (info->words != SOMA_GROUP_COUNT) {
        words(json, info->words, true);
    } else if (kind == SOMA_KIND_LOCATION) {
        location(json);
    } else if (kind == SOMA_KIND_ARGS) {
        arguments(json, or_name);
    } else if (kind == SOMA_KIND_BASE64) {
        json_text(json, "type", "string");
        json_text(json, "contentEncoding", "base64");
    } else if (kind == SOMA_KIND_TEXT) {
        json_text(json, "type", "string");
        json_u64(json, "maxLength", info->max);
    } else {
        number(json, kind, or_name);
    }
}

static const char *kind_name(char buf[SCHEMA_NAME_BYTES], enum soma_field_kind kind, bool or_name)
{
    schema_name(buf, "Field", soma_field_kind_info(kind)->name);
    size_t len = strlen(buf);
    (void)snprintf(buf + len, SCHEMA_NAME_BYTES - len, "%s", or_name ? "OrName" : "");
    return buf;
}

void schema_kind(struct schema *schema, enum soma_field_kind kind, bool or_name)
{
    char name[SCHEMA_NAME_BYTES];
    if (schema->refs != NULL)
        schema_ref(schema, NULL, kind_name(name, kind, or_name));
    else
        kind_in_place(&schema->json, kind, or_name);
}

void schema_path_kind(struct schema *schema, enum soma_field_kind kind)
{
    const struct soma_field_kind_info *info = soma_field_kind_info(kind);
    if (info->words != SOMA_GROUP_COUNT)
        words(&schema->json, info->words, true);
    else if (kind == SOMA_KIND_BYTES || kind == SOMA_KIND_ADDRESS)
        string(&schema->json, pattern_of(kind));
    else
        integer(&schema->json, (int)info->min, info->max);
}

bool schema_takes_name(enum soma_field_kind kind)
{
    return kind == SOMA_KIND_ID || kind == SOMA_KIND_ADDRESS || kind == SOMA_KIND_ARGS;
}

bool schema_kind_is_used(enum soma_field_kind kind)
{
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        for (size_t i = 0; i < info->field_count; i++) {
            if (info->fields[i].kind == kind &&
                (info->fields[i].where == SOMA_WHERE_BODY || !schema_takes_name(kind)))
                return true;
        }
    }
    return false;
}

void schema_define_kinds(struct schema *schema)
{
    char name[SCHEMA_NAME_BYTES];
    for (int i = 0; i < SOMA_KIND_COUNT; i++) {
        enum soma_field_kind kind = (enum soma_field_kind)i;
        for (int or_name = 0; or_name < 2; or_name++) {
            if (or_name ? !schema_takes_name(kind) : !schema_kind_is_used(kind))
                continue;
            json_open(&schema->json, kind_name(name, kind, or_name), '{');
            kind_in_place(&schema->json, kind, or_name);
            json_close(&schema->json, '}');
        }
    }
}
