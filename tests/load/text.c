/* HTTP requests from commands, by the command table. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct soma_writer *text, const char *name, const char *value)
{
    soma_writer_text(text, name);
    soma_writer_text(text, value);
    soma_writer_text(text, "\r\n");
}

/* type NULL: there is no body. */
static void put_request(struct soma_writer *text, const char *method, const char *path,
                        const char *session, const char *key, const char *type, const char *body,
                        size_t body_len)
{
    soma_writer_clear(text);
    soma_writer_text(text, method);
    soma_writer_text(text, " ");
    soma_writer_text(text, path);
    soma_writer_text(text, " HTTP/1.1\r\nHost: localhost\r\n");
    if (session[0] != '\0')
        put(text, "Soma-Session: ", session);
    if (key != NULL)
        put(text, "Idempotency-Key: ", key);
    if (type != NULL) {
        put(text, "Content-Type: ", type);
        soma_writer_text(text, "Content-Length: ");
        soma_writer_u64(text, body_len);
        soma_writer_text(text, "\r\n");
    }
    soma_writer_text(text, "\r\n");
    if (body_len > 0)
        soma_writer_raw(text, body, body_len);
    if (text->failed)
        abort();
}

void load_text_request(struct soma_writer *text, const char *method, const char *path,
                       const char *session, const char *key, const char *body, size_t body_len)
{
    const char *type = strcmp(method, "POST") == 0 ? "application/json" : NULL;
    put_request(text, method, path, session, key, type, body, body_len);
}

void load_text_batch(struct soma_writer *text, const struct soma_command *commands, uint32_t count,
                     const char *session, const char *key)
{
    struct soma_writer body;
    soma_writer_init(&body, SOMA_JSON_BODY_BYTES_MAX);
    soma_writer_text(&body, "{\"onError\":\"continue\",\"commands\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            soma_writer_text(&body, ",");
        wire_encode_command(&body, &commands[i]);
    }
    soma_writer_text(&body, "]}");
    put_request(text, "POST", "/v1/commands", session, key, "application/json", body.ptr, body.len);
    soma_writer_release(&body);
}

/* ---- single routes ---- */

static bool is_present(const struct soma_command *command, const struct soma_field_row *row)
{
    return (command->present >> row->field & 1u) != 0;
}

static void put_value(struct soma_writer *to, const struct soma_command *command,
                      const struct soma_field_row *row, bool is_json)
{
    uint64_t value = soma_command_get(command, row->field);
    enum soma_enum_group words = soma_field_kind_info(row->kind)->words;
    char digits[24];
    bool quotes = is_json && (words != SOMA_GROUP_COUNT || row->kind == SOMA_KIND_ADDRESS ||
                              value > SOMA_JSON_INTEGER_MAX);
    if (quotes)
        soma_writer_text(to, "\"");
    if (words != SOMA_GROUP_COUNT) {
        soma_writer_text(to, soma_word_of(words, (int)value));
    } else if (row->kind == SOMA_KIND_ADDRESS) {
        (void)snprintf(digits, sizeof(digits), "0x%" PRIx64, value);
        soma_writer_text(to, digits);
    } else {
        soma_writer_u64(to, value);
    }
    if (quotes)
        soma_writer_text(to, "\"");
}

/* Members in braces stand in the order of the PATH rows. */
static void put_path(struct soma_writer *path, const struct soma_command *command)
{
    const struct soma_op_info *op = soma_op_info(command->op);
    size_t row = 0;
    for (const char *at = op->path; *at != '\0'; at++) {
        if (*at != '{') {
            soma_writer_raw(path, at, 1);
            continue;
        }
        while (op->fields[row].where != SOMA_WHERE_PATH)
            row++;
        put_value(path, command, &op->fields[row++], false);
        at = strchr(at, '}');
    }
    const char *before = "?";
    for (row = 0; row < op->field_count; row++) {
        if (op->fields[row].where != SOMA_WHERE_QUERY || !is_present(command, &op->fields[row]))
            continue;
        soma_writer_text(path, before);
        soma_writer_text(path, soma_field_json(op->fields[row].field));
        soma_writer_text(path, "=");
        put_value(path, command, &op->fields[row], false);
        before = "&";
    }
    soma_writer_raw(path, "", 1);
}

static void put_body(struct soma_writer *body, const struct soma_command *command)
{
    const struct soma_op_info *op = soma_op_info(command->op);
    const char *before = "{";
    for (size_t i = 0; i < op->field_count; i++) {
        const struct soma_field_row *row = &op->fields[i];
        if (row->where != SOMA_WHERE_BODY || !is_present(command, row))
            continue;
        soma_writer_text(body, before);
        soma_writer_text(body, "\"");
        soma_writer_text(body, soma_field_json(row->field));
        soma_writer_text(body, "\":");
        put_value(body, command, row, true);
        before = ",";
    }
    soma_writer_text(body, before[0] == '{' ? "{}" : "}");
}

void load_text_command(struct soma_writer *text, const struct soma_command *command,
                       const char *session, const char *key)
{
    const struct soma_op_info *op = soma_op_info(command->op);
    const char *method = soma_method_name(op->method);
    struct soma_writer path, body;
    soma_writer_init(&path, 4096);
    soma_writer_init(&body, 4096);
    put_path(&path, command);
    if (command->op == SOMA_OP_MEMORY_WRITE) {
        put_request(text, method, path.ptr, session, key, "application/octet-stream",
                    command->data.ptr, command->data.len);
    } else if (op->method == SOMA_METHOD_POST || op->method == SOMA_METHOD_PUT) {
        put_body(&body, command);
        put_request(text, method, path.ptr, session, key, "application/json", body.ptr, body.len);
    } else {
        put_request(text, method, path.ptr, session, key, NULL, NULL, 0);
    }
    soma_writer_release(&path);
    soma_writer_release(&body);
}
