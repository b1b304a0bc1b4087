/* Path and query come as text, percent-decoded here where they were not by the router. */
#include "input.h"

#include "router.h"

#include <stdio.h>
#include <string.h>

struct query {
    struct request *req;
    enum soma_status status;
};

static bool is_text(const char *text, struct soma_text other)
{
    return strlen(text) == other.len && memcmp(text, other.ptr, other.len) == 0;
}

/* The text with its escapes decoded; in the request's arena when it has any. */
static enum soma_status decode(struct request *req, const char *raw, struct soma_text *text)
{
    *text = (struct soma_text){raw, strlen(raw)};
    if (strchr(raw, '%') == NULL)
        return SOMA_OK;
    char *copy = wire_arena_alloc(&req->arena, text->len);
    if (copy == NULL)
        return soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "", "no memory for the query");
    memcpy(copy, raw, text->len);
    text->ptr = copy;
    if (router_unescape(copy, &text->len))
        return SOMA_OK;
    return soma_fail(&req->error, SOMA_BAD_REQUEST, "", "the query has a malformed percent escape");
}

static enum soma_status unknown_argument(struct request *req, struct soma_text key)
{
    char name[SOMA_FIELD_BYTES];
    size_t len = key.len < sizeof(name) - 1 ? key.len : sizeof(name) - 1;
    memcpy(name, key.ptr, len);
    name[len] = '\0';
    return soma_fail(&req->error, SOMA_UNKNOWN_FIELD, name,
                     "the query of %s %s has no parameter \"%s\"", req->method, req->route->path,
                     name);
}

static enum soma_status set_argument(struct request *req, struct soma_text key,
                                     struct soma_text value)
{
    const struct soma_op_info *op = req->route->op;
    for (size_t i = 0; op != NULL && i < op->field_count; i++) {
        const struct soma_field_row *row = &op->fields[i];
        const char *name = soma_field_json(row->field);
        if (row->where != SOMA_WHERE_QUERY || !is_text(name, key))
            continue;
        if ((req->command.present >> row->field & 1u) != 0)
            return soma_fail(&req->error, SOMA_DUPLICATE_FIELD, name,
                             "the query has the parameter \"%s\" twice", name);
        return wire_set_text(&req->command, row, value.ptr, value.len, &req->error);
    }
    return unknown_argument(req, key);
}

static enum MHD_Result on_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
                                   const char *value)
{
    struct query *query = ctx;
    struct soma_text name, text;
    (void)kind;
    query->status = decode(query->req, key, &name);
    if (query->status == SOMA_OK)
        query->status = decode(query->req, value != NULL ? value : "", &text);
    if (query->status == SOMA_OK)
        query->status = set_argument(query->req, name, text);
    return query->status == SOMA_OK ? MHD_YES : MHD_NO;
}

static enum soma_status read_query(struct request *req)
{
    struct query query = {.req = req, .status = SOMA_OK};
    (void)MHD_get_connection_values(req->conn->mhd, MHD_GET_ARGUMENT_KIND, on_argument, &query);
    return query.status;
}

enum soma_status input_read_target(struct request *req)
{
    for (size_t i = 0; i < CAPTURES_MAX && req->route->captured[i] != NULL; i++) {
        const struct soma_field_row *row = req->route->captured[i];
        struct capture text = req->captures[i];
        enum soma_status status =
            wire_set_text(&req->command, row, text.text, text.len, &req->error);
        if (status != SOMA_OK)
            return status;
    }
    return read_query(req);
}

enum soma_status input_read(struct request *req)
{
    return wire_read(req->body, req->body_len, &req->arena, &req->tree, &req->error);
}

enum soma_status input_parse(struct request *req)
{
    return wire_parse(req->body, req->body_len, &req->root, &req->error);
}

enum soma_status input_expect_none(struct request *req)
{
    enum soma_status status = read_query(req);
    if (status != SOMA_OK || req->body_len == 0)
        return status;
    status = input_read(req);
    if (status != SOMA_OK)
        return status;
    const struct wire_value *body = req->tree.values;
    if (body->type != WIRE_OBJECT)
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "", "the body must be empty or an object");
    if (body->size == 1)
        return SOMA_OK;
    const struct wire_value *item = wire_first(body);
    char field[SOMA_FIELD_BYTES];
    (void)snprintf(field, sizeof(field), "%.*s", (int)item->key_len, item->key);
    return soma_fail(&req->error, SOMA_UNKNOWN_FIELD, field, "%s %s takes no fields", req->method,
                     req->route->path);
}
