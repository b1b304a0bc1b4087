/* schema/openapi.json: every route of the tables as OpenAPI 3.1. */
#include "schema_docs.def"
#include "schema_render.h"
#include "schema_types.h"

#include "routes.def"

#include <stdio.h>
#include <string.h>

#define COMPONENTS "#/components/schemas/"

/* A route of either table. */
struct route {
    enum soma_method method;
    const char *path;
    const char *name;  /* operationId */
    const char *group; /* tag */
    const char *summary;
    int http;
    int result;                      /* enum soma_message */
    const struct soma_op_info *info; /* NULL: a service route */
};

/* ---- the routes ---- */

static const struct route service_routes[] = {
#define SOMA_ROW(NAME, METHOD, path, http, summary)                                                \
    {SOMA_METHOD_##METHOD, path, #NAME, NULL, summary, http, SOMA_MESSAGE_NONE, NULL},
    SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW
};

enum {
#define SOMA_ROW(NAME, METHOD, path, http, summary) SERVICE_##NAME,
    SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW
        SERVICE_COUNT
};

static const struct {
    int result;
    const char *group;
} service_docs[] = {
#define SOMA_ROW(NAME, RESULT, group) [SERVICE_##NAME] = {SOMA_MESSAGE_##RESULT, #group},
    SOMA_SERVICE_DOCS(SOMA_ROW)
#undef SOMA_ROW
};

enum {
#define SOMA_ROW(NAME, RESULT, group) SERVICE_DOC_##NAME,
    SOMA_SERVICE_DOCS(SOMA_ROW)
#undef SOMA_ROW
        SERVICE_DOC_COUNT
};
_Static_assert((int)SERVICE_DOC_COUNT == (int)SERVICE_COUNT, "a route has no SOMA_SERVICE_DOCS");

#define ROUTE_COUNT ((size_t)SERVICE_COUNT + (size_t)SOMA_OP_COUNT)

static bool is_service(const struct route *route, int service)
{
    return route->info == NULL && strcmp(route->name, service_routes[service].name) == 0;
}

/* Route i of both tables. group_buf holds its group. */
static struct route route_at(size_t i, char group_buf[SCHEMA_NAME_BYTES])
{
    if (i < SERVICE_COUNT) {
        struct route route = service_routes[i];
        route.result = service_docs[i].result;
        route.group = service_docs[i].group;
        return route;
    }
    const struct soma_op_info *info = soma_op_info((enum soma_op)(i - SERVICE_COUNT));
    (void)snprintf(group_buf, SCHEMA_NAME_BYTES, "%.*s", (int)strcspn(info->name, "."), info->name);
    return (struct route){
        info->method, info->path,   info->name, group_buf, schema_op_summary(info->op),
        info->http,   info->result, info};
}

static bool is_command_like(const struct route *route)
{
    return route->info != NULL || is_service(route, SERVICE_commands);
}

static bool is_probe(const struct route *route)
{
    return is_service(route, SERVICE_livez) || is_service(route, SERVICE_readyz);
}

/* ---- parameters ---- */

static void parameter_ref(struct json *json, const char *name)
{
    char ref[SCHEMA_NAME_BYTES];
    (void)snprintf(ref, sizeof(ref), "#/components/parameters/%s", name);
    json_open_line(json, NULL, '{');
    json_text(json, "$ref", ref);
    json_close(json, '}');
}

static void field_parameter(struct schema *schema, const struct soma_op_info *info,
                            const struct soma_field_row *row)
{
    struct json *json = &schema->json;
    bool in_path = row->where == SOMA_WHERE_PATH;
    char text[300];
    const char *absent = schema_absent(info->op, row->field);
    (void)snprintf(text, sizeof(text), "%s%s%s", soma_field_help(row->field),
                   absent != NULL ? "; absent: " : "", absent != NULL ? absent : "");
    json_open(json, NULL, '{');
    json_text(json, "name", soma_field_json(row->field));
    json_text(json, "in", in_path ? "path" : "query");
    if (row->required)
        json_bool(json, "required", true);
    json_text(json, "description", text);
    json_open_line(json, "schema", '{');
    schema_path_kind(schema, row->kind);
    json_close(json, '}');
    json_close(json, '}');
}

static void parameters(struct schema *schema, const struct route *route)
{
    struct json *json = &schema->json;
    bool is_change = route->method != SOMA_METHOD_GET;
    bool has_session = strstr(route->path, "{session}") != NULL;
    if (!is_change && !has_session && !is_command_like(route))
        return;
    json_open(json, "parameters", '[');
    for (size_t i = 0; route->info != NULL && i < route->info->field_count; i++) {
        if (route->info->fields[i].where != SOMA_WHERE_BODY)
            field_parameter(schema, route->info, &route->info->fields[i]);
    }
    if (has_session) {
        json_open(json, NULL, '{');
        json_text(json, "name", "session");
        json_text(json, "in", "path");
        json_bool(json, "required", true);
        json_text(json, "description", "session id");
        json_open_line(json, "schema", '{');
        json_text(json, "type", "string");
        json_close(json, '}');
        json_close(json, '}');
    }
    if (is_command_like(route))
        parameter_ref(json, "SomaSession");
    if (is_change)
        parameter_ref(json, "IdempotencyKey");
    json_close(json, ']');
}

/* ---- bodies ---- */

static bool has_json_body(const struct soma_op_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].where == SOMA_WHERE_BODY)
            return !schema_is_raw_body(info);
    }
    return false;
}

static bool needs_body(const struct soma_op_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].where == SOMA_WHERE_BODY && info->fields[i].required)
            return true;
    }
    return false;
}

static void empty_content(struct json *json, const char *type)
{
    json_open_line(json, type, '{');
    json_close(json, '}');
}

static void ref_content(struct schema *schema, const char *name)
{
    json_open_line(&schema->json, "application/json", '{');
    schema_ref(schema, "schema", name);
    json_close(&schema->json, '}');
}

/* A body of JSON that is its own type. */
static void command_body(struct schema *schema, const struct soma_op_info *info)
{
    struct json *json = &schema->json;
    json_open(json, "application/json", '{');
    json_open(json, "schema", '{');
    schema_body(schema, info);
    json_close(json, '}');
    json_close(json, '}');
}

static void request_body(struct schema *schema, const struct route *route)
{
    struct json *json = &schema->json;
    const struct soma_op_info *info = route->info;
    bool is_raw = info != NULL && schema_is_raw_body(info);
    bool is_batch = is_service(route, SERVICE_commands);
    bool is_session = is_service(route, SERVICE_session_create);
    if (!is_batch && !is_session && !is_raw && (info == NULL || !has_json_body(info)))
        return;
    json_open(json, "requestBody", '{');
    json_bool(json, "required", is_batch || (info != NULL && needs_body(info)));
    json_open(json, "content", '{');
    if (is_raw)
        empty_content(json, "application/octet-stream");
    else if (info != NULL)
        command_body(schema, info);
    else
        ref_content(schema, is_batch ? "Commands" : "SessionCreate");
    json_close(json, '}');
    json_close(json, '}');
}

/* ---- answers ---- */

static void text_content(struct json *json, const char *type)
{
    json_open_line(json, type, '{');
    json_open(json, "schema", '{');
    json_text(json, "type", "string");
    json_close(json, '}');
    json_close(json, '}');
}

static void success_content(struct schema *schema, const struct route *route)
{
    struct json *json = &schema->json;
    char name[SCHEMA_NAME_BYTES];
    json_open(json, "content", '{');
    if (is_service(route, SERVICE_metrics)) {
        text_content(json, "text/plain");
    } else if (is_service(route, SERVICE_commands)) {
        ref_content(schema, "CommandResults");
    } else if (is_service(route, SERVICE_openapi)) {
        json_open_line(json, "application/json", '{');
        json_open(json, "schema", '{');
        json_text(json, "type", "object");
        json_close(json, '}');
        json_close(json, '}');
    } else if (route->info != NULL && schema_is_raw_answer(route->info)) {
        empty_content(json, "application/octet-stream");
    } else {
        ref_content(schema, schema_name(name, "",
                                        soma_message_info((enum soma_message)route->result)->name));
    }
    if (route->info != NULL && route->info->op == SOMA_OP_PIPE_LAYOUT) { /* as Accept asks */
        text_content(json, "image/svg+xml");
        text_content(json, "text/plain");
    }
    json_close(json, '}');
}

static void success(struct schema *schema, const struct route *route)
{
    struct json *json = &schema->json;
    char code[8];
    (void)snprintf(code, sizeof(code), "%d", route->http);
    json_open(json, code, '{');
    json_text(json, "description",
              route->http == 201   ? "Created."
              : route->http == 204 ? "Done; there is nothing to say."
                                   : "Done.");
    if (route->method != SOMA_METHOD_GET) {
        json_open_line(json, "headers", '{');
        json_open(json, "Idempotent-Replayed", '{');
        json_text(json, "$ref", "#/components/headers/IdempotentReplayed");
        json_close(json, '}');
        json_close(json, '}');
    }
    if (route->http != 204)
        success_content(schema, route);
    json_close(json, '}');
}

static bool may_time_out(const struct soma_op_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].field == SOMA_FIELD_timeout_ms)
            return true;
    }
    return false;
}

/* Can this route answer with this HTTP code? Every code can also come as `default`. */
static bool may_answer(const struct route *route, int http)
{
    bool is_change = route->method != SOMA_METHOD_GET;
    switch (http) {
    case 400:
    case 408:
    case 431:
    case 500:
    case 503: return true;
    case 401:
    case 429: return !is_probe(route);
    case 404: return is_command_like(route) || strstr(route->path, "{session}") != NULL;
    case 413:
    case 415:
    case 422: return is_change;
    case 501: return route->info != NULL;
    case 504: return route->info != NULL && may_time_out(route->info);
    default: return false;
    }
}

/* Calls each HTTP code of errors once, in order. 0: no more. */
static int next_error_code(int after)
{
    int next = 0;
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *row = soma_status_row(i);
        if (row->status != SOMA_MUST_WAIT && row->http > after && (next == 0 || row->http < next))
            next = row->http;
    }
    return next;
}

static void error_ref(struct json *json, const char *code, const char *name)
{
    char ref[SCHEMA_NAME_BYTES];
    (void)snprintf(ref, sizeof(ref), "#/components/responses/%s", name);
    json_open_line(json, code, '{');
    json_text(json, "$ref", ref);
    json_close(json, '}');
}

static void responses(struct schema *schema, const struct route *route)
{
    struct json *json = &schema->json;
    char code[12], name[24];
    json_open(json, "responses", '{');
    success(schema, route);
    for (int http = next_error_code(0); http != 0; http = next_error_code(http)) {
        if (!may_answer(route, http))
            continue;
        (void)snprintf(code, sizeof(code), "%d", http);
        (void)snprintf(name, sizeof(name), "Error%d", http);
        error_ref(json, code, name);
    }
    error_ref(json, "default", "Error");
    json_close(json, '}');
}

/* ---- operations ---- */

static void operation(struct schema *schema, const struct route *route)
{
    static const char *const keys[] = {"get", "post", "put", "delete"};
    struct json *json = &schema->json;
    json_open(json, keys[route->method], '{');
    json_text(json, "operationId", route->name);
    json_list(json, "tags", route->group, NULL);
    json_text(json, "summary", route->summary);
    if (is_probe(route)) {
        json_open_line(json, "security", '[');
        json_close(json, ']');
    }
    parameters(schema, route);
    request_body(schema, route);
    responses(schema, route);
    json_close(json, '}');
}

/* One item for each path, with all its methods. */
static void paths(struct schema *schema)
{
    char group[SCHEMA_NAME_BYTES], other_group[SCHEMA_NAME_BYTES];
    json_open(&schema->json, "paths", '{');
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        struct route route = route_at(i, group);
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = strcmp(route_at(j, other_group).path, route.path) != 0;
        if (!is_first)
            continue;
        json_open(&schema->json, route.path, '{');
        for (size_t j = i; j < ROUTE_COUNT; j++) {
            struct route other = route_at(j, other_group);
            if (strcmp(other.path, route.path) == 0)
                operation(schema, &other);
        }
        json_close(&schema->json, '}');
    }
    json_close(&schema->json, '}');
}

/* ---- components ---- */

static void header_parameters(struct json *json)
{
    json_open(json, "parameters", '{');
    json_open(json, "SomaSession", '{');
    json_text(json, "name", "Soma-Session");
    json_text(json, "in", "header");
    json_text(json, "description",
              "The session in which the command runs; absent: the session `default`, which always "
              "exists and never expires.");
    json_open_line(json, "schema", '{');
    json_text(json, "type", "string");
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, "IdempotencyKey", '{');
    json_text(json, "name", "Idempotency-Key");
    json_text(json, "in", "header");
    json_text(json, "description",
              "The same key with the same request gives the first answer again; it is run once.");
    json_open_line(json, "schema", '{');
    json_text(json, "type", "string");
    json_u64(json, "minLength", 1);
    json_u64(json, "maxLength", SOMA_IDEMPOTENCY_KEY_BYTES_MAX);
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, '}');
    json_open(json, "headers", '{');
    json_open(json, "IdempotentReplayed", '{');
    json_text(json, "description",
              "`true` when this is the first answer given again; else absent.");
    json_open_line(json, "schema", '{');
    json_list(json, "enum", "true", NULL);
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, '}');
}

/* "- `REASON`: what it means" for each reason of this code. */
static void reasons_text(struct soma_writer *text, int http)
{
    char head[64];
    bool has_head = false;
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *row = soma_status_row(i);
        if (row->status == SOMA_MUST_WAIT || row->http != http)
            continue;
        if (!has_head)
            (void)snprintf(head, sizeof(head), "HTTP %d. `reason` is one of:\n", http);
        soma_writer_text(text, has_head ? "" : head);
        has_head = true;
        soma_writer_text(text, "\n- `");
        soma_writer_text(text, soma_status_reason(row->status));
        soma_writer_text(text, "`: ");
        soma_writer_text(text, row->text);
    }
    soma_writer_raw(text, "", 1);
}

/* details[].reason: one of this code's. */
static void reasons_schema(struct json *json, int http)
{
    json_open(json, "reason", '{');
    json_open(json, "enum", '[');
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *row = soma_status_row(i);
        const char *reason = soma_status_reason(row->status);
        if (row->http == http && row->status != SOMA_MUST_WAIT && strcmp(reason, row->name) == 0)
            json_text(json, NULL, reason);
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* The error with this code and its reasons only. */
static void narrowed_error(struct schema *schema, int http)
{
    struct json *json = &schema->json;
    json_open(json, "allOf", '[');
    json_open_line(json, NULL, '{');
    schema_ref(schema, NULL, "Error");
    json_close(json, '}');
    json_open(json, NULL, '{');
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open(json, "error", '{');
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    json_open_line(json, "code", '{');
    json_int(json, "const", http);
    json_close(json, '}');
    json_open(json, "details", '{');
    json_text(json, "type", "array");
    json_open(json, "items", '{');
    json_text(json, "type", "object");
    json_open(json, "properties", '{');
    reasons_schema(json, http);
    for (int i = 0; i < 6; i++)
        json_close(json, '}');
    json_close(json, '}');
    json_close(json, ']');
}

static void error_response(struct schema *schema, int http)
{
    struct json *json = &schema->json;
    struct soma_writer text;
    char name[24];
    soma_writer_init(&text, 1u << 20);
    reasons_text(&text, http);
    (void)snprintf(name, sizeof(name), "Error%d", http);
    json_open(json, name, '{');
    if (!text.failed)
        json_text(json, "description", text.ptr);
    json->out->failed |= text.failed;
    soma_writer_release(&text);
    json_open(json, "content", '{');
    json_open(json, "application/json", '{');
    json_open(json, "schema", '{');
    narrowed_error(schema, http);
    for (int i = 0; i < 4; i++)
        json_close(json, '}');
}

/* Is there a route that names this code? */
static bool is_answered(int http)
{
    char group[SCHEMA_NAME_BYTES];
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        struct route route = route_at(i, group);
        if (may_answer(&route, http))
            return true;
    }
    return false;
}

static void error_responses(struct schema *schema)
{
    struct json *json = &schema->json;
    json_open(json, "responses", '{');
    for (int http = next_error_code(0); http != 0; http = next_error_code(http)) {
        if (is_answered(http))
            error_response(schema, http);
    }
    json_open(json, "Error", '{');
    json_text(json, "description", "Any other error; all have the same form.");
    json_open(json, "content", '{');
    ref_content(schema, "Error");
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, '}');
}

static void named(struct schema *schema, const char *name, void (*write)(struct schema *))
{
    json_open(&schema->json, name, '{');
    write(schema);
    json_close(&schema->json, '}');
}

static void schemas(struct schema *schema)
{
    json_open(&schema->json, "schemas", '{');
    named(schema, "Error", schema_error);
    named(schema, "SessionCreate", schema_session_create);
    named(schema, "Commands", schema_batch);
    named(schema, "CommandResults", schema_batch_results);
    schema_define_commands(schema);
    schema_define_kinds(schema);
    schema_define_messages(schema);
    json_close(&schema->json, '}');
}

static void components(struct schema *schema)
{
    struct json *json = &schema->json;
    json_open(json, "components", '{');
    json_open(json, "securitySchemes", '{');
    json_open(json, "bearer", '{');
    json_text(json, "type", "http");
    json_text(json, "scheme", "bearer");
    json_text(
        json, "description",
        "Needed when the server was started with --token-file, on all but /livez and /readyz.");
    json_close(json, '}');
    json_close(json, '}');
    header_parameters(json);
    error_responses(schema);
    schemas(schema);
    json_close(json, '}');
}

/* ---- the whole ---- */

static void info(struct json *json)
{
    char version[16];
    (void)snprintf(version, sizeof(version), "%d", SOMA_PROTOCOL);
    json_open(json, "info", '{');
    json_text(json, "title", "soma");
    json_text(json, "version", version);
    json_text(json, "summary", "Emulated Ascend devices with stream-ordered memory pools.");
    json_text(json, "description",
              "The contract in prose is schema/PROTOCOL.md; every error and word stands in "
              "schema/REFERENCE.md. Input is strict: an integer is a number token below 2^53 "
              "without fraction or exponent, or a string of its digits; unknown and duplicate "
              "fields are refused. Clients should ignore fields that they do not know in answers.");
    json_close(json, '}');
}

static void tags(struct json *json)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
#define SOMA_ROW(name, text) {name, text},
        SOMA_GROUP_DOCS(SOMA_ROW)
#undef SOMA_ROW
    };
    json_open(json, "tags", '[');
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_open_line(json, NULL, '{');
        json_text(json, "name", rows[i].name);
        json_text(json, "description", rows[i].text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void render_openapi(struct soma_writer *out)
{
    struct schema schema = {{.out = out}, COMPONENTS, true};
    struct json *json = &schema.json;
    json_open(json, NULL, '{');
    json_text(json, "openapi", "3.1.0");
    info(json);
    json_open(json, "servers", '[');
    json_open_line(json, NULL, '{');
    json_text(json, "url", "/");
    json_close(json, '}');
    json_close(json, ']');
    json_open_line(json, "security", '[');
    json_open(json, NULL, '{');
    json_close(json, '}');
    json_open(json, NULL, '{');
    json_open(json, "bearer", '[');
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
    tags(json);
    paths(&schema);
    components(&schema);
    json_close(json, '}');
}
