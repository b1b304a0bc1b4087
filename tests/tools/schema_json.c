#include "schema_json.h"

#include <stdarg.h>
#include <string.h>

static void start_line(struct json *json, unsigned depth)
{
    if (json->line_depth != 0)
        return;
    soma_writer_text(json->out, "\n");
    for (unsigned i = 0; i < depth; i++)
        soma_writer_text(json->out, "  ");
}

/* What stands before a value: a comma, the line's start, the key. */
static void begin(struct json *json, const char *key)
{
    bool *is_filled = &json->is_filled[json->depth];
    if (*is_filled)
        soma_writer_text(json->out, json->line_depth != 0 ? ", " : ",");
    if (json->depth > 0)
        start_line(json, json->depth);
    *is_filled = true;
    if (key != NULL) {
        soma_writer_string(json->out, key, strlen(key));
        soma_writer_text(json->out, ": ");
    }
}

void json_open(struct json *json, const char *key, char open)
{
    begin(json, key);
    soma_writer_raw(json->out, &open, 1);
    json->is_filled[++json->depth] = false;
}

void json_open_line(struct json *json, const char *key, char open)
{
    json_open(json, key, open);
    if (json->line_depth == 0)
        json->line_depth = json->depth;
}

void json_close(struct json *json, char close)
{
    bool was_filled = json->is_filled[json->depth--];
    if (was_filled)
        start_line(json, json->depth);
    if (json->line_depth > json->depth)
        json->line_depth = 0;
    soma_writer_raw(json->out, &close, 1);
    if (json->depth == 0)
        soma_writer_text(json->out, "\n");
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin(json, key);
    soma_writer_string(json->out, text, strlen(text));
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
    begin(json, key);
    soma_writer_u64(json->out, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
    begin(json, key);
    if (value < 0)
        soma_writer_text(json->out, "-");
    soma_writer_u64(json->out, value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    soma_writer_text(json->out, value ? "true" : "false");
}

void json_list(struct json *json, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    json_open_line(json, key, '[');
    for (const char *word = va_arg(args, const char *); word != NULL;
         word = va_arg(args, const char *))
        json_text(json, NULL, word);
    json_close(json, ']');
    va_end(args);
}

void json_property(struct json *json, const char *key, const char *type, const char *text)
{
    json_open_line(json, key, '{');
    json_text(json, "type", type);
    json_text(json, "description", text);
    json_close(json, '}');
}
