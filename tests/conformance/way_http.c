/* Commands over HTTP to a somad that is started here: POST /v1/commands, and the single routes,
 * which are built from the command table. Every answer's status code is checked on the way. */
#include "command.h"
#include "decode.h"
#include "http_client.h"
#include "message.h"
#include "somad_process.h"
#include "ways.h"
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct http_way {
    struct somad_process somad;
    struct http_client *client;
    char session[128]; /* "" while none is open */
};

struct http_way *http_way_create(const char *somad_path)
{
    struct http_way *way = calloc(1, sizeof(*way));
    if (way == NULL)
        return NULL;
    if (!somad_start(&way->somad, somad_path, NULL, NULL)) {
        free(way);
        return NULL;
    }
    way->client = http_client_create(way->somad.url);
    if (way->client == NULL) {
        (void)somad_stop(&way->somad);
        free(way);
        return NULL;
    }
    return way;
}

void http_way_destroy(struct http_way *way)
{
    http_client_destroy(way->client);
    int code = somad_stop(&way->somad);
    if (code != 0)
        printf("somad ended with %d\n", code);
    free(way);
}

struct http_client *http_way_client(struct http_way *way)
{
    return way->client;
}

/* ---- requests ---- */

/* Whether the status code is the one that the body's error tells. */
static bool error_is_whole(const struct http_answer *answer, const cJSON *tree)
{
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(tree, "error");
    const cJSON *code = cJSON_GetObjectItemCaseSensitive(error, "code");
    return cJSON_IsNumber(code) && code->valueint == answer->status &&
           strncmp(answer->content_type, "application/json", 16) == 0;
}

/* Send and parse. good_status: the code of success; an error's body is an answer too. */
static cJSON *send_json(struct http_way *way, const struct http_request *request, long good_status)
{
    struct http_answer answer;
    if (!http_send(way->client, request, &answer)) {
        printf("%s %s: %s\n", request->method, request->path, http_client_why(way->client));
        return NULL;
    }
    bool is_empty = good_status == 204 && answer.status == 204 && answer.body_len == 0;
    cJSON *tree =
        is_empty ? cJSON_CreateObject() : cJSON_ParseWithLength(answer.body, answer.body_len);
    if (tree == NULL || (answer.status != good_status && !error_is_whole(&answer, tree))) {
        printf("%s %s: status %ld, %s: %s\n", request->method, request->path, answer.status,
               answer.content_type, answer.body);
        cJSON_Delete(tree);
        tree = NULL;
    }
    http_answer_release(&answer);
    return tree;
}

static cJSON *post_tree(struct http_way *way, const char *path, const cJSON *tree, long good_status)
{
    char *text = cJSON_PrintUnformatted(tree);
    if (text == NULL)
        return NULL;
    struct http_request request = {.method = "POST",
                                   .path = path,
                                   .content_type = "application/json",
                                   .body = text,
                                   .body_len = strlen(text)};
    cJSON *answer = send_json(way, &request, good_status);
    cJSON_free(text);
    return answer;
}

/* ---- sessions ---- */

static bool way_begin(void *ctx, const cJSON *session)
{
    struct http_way *way = ctx;
    way->session[0] = '\0';
    http_client_set_session(way->client, NULL);
    cJSON *answer = post_tree(way, "/v1/sessions", session, 201);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(answer, "session");
    bool good = cJSON_IsString(id);
    if (good) {
        (void)snprintf(way->session, sizeof(way->session), "%s", id->valuestring);
        http_client_set_session(way->client, way->session);
    } else {
        printf("no session was opened\n");
    }
    cJSON_Delete(answer);
    return good;
}

static void way_end(void *ctx)
{
    struct http_way *way = ctx;
    char path[256] = "/v1/sessions/";
    if (way->session[0] == '\0')
        return;
    http_client_set_session(way->client, NULL);
    http_escape(path + strlen(path), sizeof(path) - strlen(path), way->session);
    struct http_request request = {.method = "DELETE", .path = path};
    cJSON_Delete(send_json(way, &request, 200));
    way->session[0] = '\0';
}

/* ---- POST /v1/commands ---- */

static cJSON *send_commands(struct http_way *way, cJSON *commands, const char *on_error)
{
    cJSON *body = cJSON_CreateObject();
    cJSON_AddItemToObject(body, "commands", commands);
    if (on_error != NULL)
        cJSON_AddStringToObject(body, "onError", on_error);
    cJSON *answer = post_tree(way, "/v1/commands", body, 200);
    cJSON_Delete(body);
    return answer;
}

static cJSON *commands_send(void *ctx, const cJSON *step)
{
    cJSON *commands = cJSON_CreateArray();
    cJSON_AddItemToArray(commands, cJSON_Duplicate(step, 1));
    cJSON *answer = send_commands(ctx, commands, NULL);
    cJSON *result = NULL;
    if (cJSON_GetObjectItemCaseSensitive(answer, "error") != NULL)
        return answer;
    cJSON *results = cJSON_GetObjectItemCaseSensitive(answer, "results");
    const cJSON *completed = cJSON_GetObjectItemCaseSensitive(answer, "completed");
    if (cJSON_GetArraySize(results) == 1 && cJSON_IsNumber(completed)) {
        result = cJSON_DetachItemFromArray(results, 0);
        bool failed = cJSON_GetObjectItemCaseSensitive(result, "error") != NULL;
        if (completed->valueint != (failed ? 0 : 1)) {
            printf("completed is %d\n", completed->valueint);
            cJSON_Delete(result);
            result = NULL;
        }
    }
    cJSON_Delete(answer);
    return result;
}

static cJSON *commands_send_all(void *ctx, const cJSON *steps)
{
    return send_commands(ctx, cJSON_Duplicate(steps, 1), "continue");
}

struct conformance_way http_way_commands(struct http_way *way)
{
    return (struct conformance_way){
        .name = "commands",
        .ctx = way,
        .begin = way_begin,
        .send = commands_send,
        .send_all = commands_send_all,
        .end = way_end,
    };
}

/* ---- single routes ---- */

/* A request under construction. */
struct route {
    const struct soma_op_info *info;
    char path[1024];
    cJSON *body; /* what is left of the step once path and query are filled */
};

/* Take a field out of the step as text; "0" for a device that is not named. */
static bool take_text(cJSON *body, const char *key, char *to, size_t to_bytes)
{
    cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(body, key);
    bool good = true;
    if (cJSON_IsString(item))
        http_escape(to, to_bytes, item->valuestring);
    else if (cJSON_IsNumber(item))
        (void)snprintf(to, to_bytes, "%.0f", item->valuedouble);
    else if (strcmp(key, "device") == 0)
        (void)snprintf(to, to_bytes, "0");
    else
        good = false;
    cJSON_Delete(item);
    return good;
}

/* The field whose name stands at `name`, between braces. */
static const struct soma_field_row *row_of_name(const struct soma_op_info *info, const char *name,
                                                size_t len)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const char *field = soma_field_json(info->fields[i].field);
        if (strlen(field) == len && memcmp(field, name, len) == 0)
            return &info->fields[i];
    }
    return NULL;
}

static bool fill_path(struct route *route)
{
    size_t len = 0;
    for (const char *at = route->info->path; *at != '\0' && len + 256 < sizeof(route->path);) {
        if (*at != '{') {
            route->path[len++] = *at++;
            continue;
        }
        size_t name_len = strcspn(at, "}") - 1;
        const struct soma_field_row *row = row_of_name(route->info, at + 1, name_len);
        if (row == NULL ||
            !take_text(route->body, soma_field_json(row->field), route->path + len, 256))
            return false;
        len += strlen(route->path + len);
        at += name_len + 2;
    }
    route->path[len] = '\0';
    return true;
}

static void fill_query(struct route *route)
{
    char mark = '?';
    for (size_t i = 0; i < route->info->field_count; i++) {
        const struct soma_field_row *row = &route->info->fields[i];
        char value[256];
        size_t len = strlen(route->path);
        if (row->where != SOMA_WHERE_QUERY ||
            !take_text(route->body, soma_field_json(row->field), value, sizeof(value)))
            continue;
        (void)snprintf(route->path + len, sizeof(route->path) - len, "%c%s=%s", mark,
                       soma_field_json(row->field), value);
        mark = '&';
    }
}

/* PUT memory: the bytes that base64 stands for, as they are. The decoder is the server's own; the
 * in-process ways judge it. */
static cJSON *send_bytes(struct http_way *way, struct route *route)
{
    struct soma_command command;
    struct wire_arena arena;
    struct soma_error error;
    struct soma_writer writer;
    cJSON *answer = NULL;
    wire_arena_init(&arena);
    soma_writer_init(&writer, SIZE_MAX / 2);
    soma_command_init(&command, route->info->op);
    command.present = SOMA_HAS(device) | SOMA_HAS(ptr);
    char *text = cJSON_PrintUnformatted(route->body);
    if (text != NULL &&
        decode_text(text, strlen(text), false, &arena, &command, &error) == SOMA_OK) {
        struct http_request request = {.method = "PUT",
                                       .path = route->path,
                                       .content_type = "application/octet-stream",
                                       .body = command.data.ptr,
                                       .body_len = command.data.len};
        answer = send_json(way, &request, route->info->http);
    } else {
        wire_encode_error(&writer, &error);
        answer = cJSON_ParseWithLength(writer.ptr, writer.len);
    }
    cJSON_free(text);
    soma_writer_release(&writer);
    wire_arena_release(&arena);
    return answer;
}

/* GET memory: raw bytes, told as the command tells them. */
static cJSON *receive_bytes(struct http_way *way, const struct route *route)
{
    struct http_request request = {.method = "GET", .path = route->path};
    struct http_answer answer;
    cJSON *tree = NULL;
    if (!http_send(way->client, &request, &answer)) {
        printf("GET %s: %s\n", route->path, http_client_why(way->client));
        return NULL;
    }
    if (answer.status != 200) {
        tree = cJSON_ParseWithLength(answer.body, answer.body_len);
        if (!error_is_whole(&answer, tree))
            printf("GET %s: status %ld: %s\n", route->path, answer.status, answer.body);
    } else if (strcmp(answer.content_type, "application/octet-stream") != 0) {
        printf("GET %s: Content-Type %s\n", route->path, answer.content_type);
    } else {
        struct soma_result result = {.message = SOMA_MESSAGE_MEMORY_BYTES};
        struct soma_writer writer;
        soma_writer_init(&writer, SIZE_MAX / 2);
        result.u.memory_bytes.data.ptr = (unsigned char *)answer.body;
        result.u.memory_bytes.data.len = answer.body_len;
        wire_encode_result(&writer, &result);
        tree = writer.failed ? NULL : cJSON_ParseWithLength(writer.ptr, writer.len);
        soma_writer_release(&writer);
    }
    http_answer_release(&answer);
    return tree;
}

static cJSON *send_route(struct http_way *way, struct route *route)
{
    const struct soma_op_info *info = route->info;
    if (info->op == SOMA_OP_MEMORY_WRITE)
        return send_bytes(way, route);
    if (info->op == SOMA_OP_MEMORY_READ)
        return receive_bytes(way, route);
    struct http_request request = {.method = soma_method_name(info->method), .path = route->path};
    char *text = NULL;
    if (route->body->child != NULL) {
        text = cJSON_PrintUnformatted(route->body);
        request.content_type = "application/json";
        request.body = text;
        request.body_len = text == NULL ? 0 : strlen(text);
    }
    cJSON *answer = send_json(way, &request, info->http);
    cJSON_free(text);
    return answer;
}

static cJSON *routes_send(void *ctx, const cJSON *step)
{
    struct route route = {.body = cJSON_Duplicate(step, 1)};
    cJSON *op = cJSON_DetachItemFromObjectCaseSensitive(route.body, "op");
    cJSON *answer = NULL;
    route.info = soma_op_find(op->valuestring, strlen(op->valuestring));
    if (route.info == NULL || !fill_path(&route)) {
        printf("%s has no route with these fields\n", op->valuestring);
    } else {
        fill_query(&route);
        answer = send_route(ctx, &route);
    }
    cJSON_Delete(op);
    cJSON_Delete(route.body);
    return answer;
}

struct conformance_way http_way_routes(struct http_way *way)
{
    return (struct conformance_way){
        .name = "routes",
        .ctx = way,
        .begin = way_begin,
        .send = routes_send,
        .end = way_end,
    };
}
