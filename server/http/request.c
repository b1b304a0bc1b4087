/* The callbacks of libmicrohttpd, in the order in which they are called: a request line
 * (request_on_uri), the header (first request_on_data), pieces of the body, the end of the body
 * (last request_on_data, and again after each resume), request_on_completed. */
#include "request.h"

#include "auth.h"
#include "bodies.h"
#include "connection.h"
#include "handlers.h"
#include "headers.h"
#include "metrics.h"
#include "mhd_errors.h"
#include "reply.h"
#include "router.h"
#include "run.h"
#include "sessions.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_FIRST 1024u
#define BODY_BYTES_KEPT 65536u /* a buffer up to this size serves the next request too */
#define NS_PER_S UINT64_C(1000000000)

/* ---- begin ---- */

static struct request *begin(struct connection *conn)
{
    struct request *req = &conn->request;
    char *body = req->body;
    size_t capacity = req->body_capacity;
    /* All but the large members at the end, which are filled before they are read. */
    memset(req, 0, offsetof(struct request, command));
    req->conn = conn;
    req->body = body;
    req->body_capacity = capacity;
    req->is_active = true;
    req->started_ns = monotonic_ns();
    req->result.message = SOMA_MESSAGE_NONE;
    wire_arena_init(&req->arena);
    wire_tree_init(&req->tree);
    atomic_store_explicit(&req->wait.is_gone, false, memory_order_relaxed);
    atomic_store_explicit(&conn->received, 0, memory_order_relaxed);
    connection_enter(conn, CONNECTION_RECEIVING, req->started_ns);
    return req;
}

void *request_on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    (void)cls;
    (void)uri;
    return info == NULL || info->socket_context == NULL ? NULL : begin(info->socket_context);
}

size_t request_on_unescape(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text); /* the router decodes, segment by segment */
}

/* Keep a small buffer for the next request. */
static void drop_body(struct request *req)
{
    req->body_len = 0;
    mhd_receive_stop(&req->receive);
    if (req->body_capacity <= BODY_BYTES_KEPT)
        return;
    if (req->pages.map != NULL)
        bodies_give(req->conn->server->bodies, &req->pages);
    else
        free(req->body);
    req->body = NULL;
    req->body_capacity = 0;
}

/* Keep an early error; the body is read and dropped, and the error answered in its place. */
static void refuse(struct request *req)
{
    req->is_refused = true;
    drop_body(req);
}

/* ---- the header ---- */

static bool is_raw(const struct route *route)
{
    return route->op != NULL && route->op->op == SOMA_OP_MEMORY_WRITE;
}

static enum soma_status check_token(struct request *req)
{
    const struct auth *auth = req->conn->server->auth;
    if (auth == NULL || (req->route != NULL && req->route->is_open))
        return SOMA_OK;
    struct soma_text token = headers_bearer(req->authorization);
    if (token.ptr != NULL && auth_accepts(auth, token.ptr, token.len))
        return SOMA_OK;
    return soma_fail(&req->error, SOMA_UNAUTHENTICATED, "Authorization",
                     "%s; send the header \"Authorization: Bearer TOKEN\" with a token of the "
                     "server's token file",
                     token.ptr != NULL ? "the bearer token is not valid"
                                       : "the request has no bearer token");
}

static enum soma_status find_route(struct request *req)
{
    struct connection *conn = req->conn;
    const char *allow = "";
    if (router_recall(conn->memos, req->method, req->path, &req->route, req->captures))
        return SOMA_OK;
    switch (router_match(conn->server->router, req->method, req->path, &req->arena, &req->route,
                         req->captures, &allow)) {
    case ROUTER_FOUND:
        router_remember(&conn->memos[conn->next_memo++ % ROUTE_MEMOS], req->path, req->route,
                        req->captures);
        return SOMA_OK;
    case ROUTER_BAD_PATH:
        return soma_fail(&req->error, SOMA_BAD_REQUEST, "",
                         "the path has a malformed percent escape");
    case ROUTER_NO_METHOD:
        req->answer.allow = allow;
        return soma_fail(&req->error, SOMA_METHOD_NOT_ALLOWED, "",
                         "%.200s has the methods %s, not %.20s", req->path, allow, req->method);
    case ROUTER_NO_ROUTE:
    default:
        return soma_fail(&req->error, SOMA_NO_SUCH_ROUTE, "",
                         "no route has the path %.200s; GET /v1/openapi.json lists them",
                         req->path);
    }
}

static enum soma_status too_large(struct request *req)
{
    char text[32];
    bool raw = is_raw(req->route);
    return soma_fail(&req->error, SOMA_CONTENT_TOO_LARGE, "",
                     "the body is larger than the %s that %s may have%s",
                     soma_bytes_text(text, req->body_max), raw ? "raw bodies" : "JSON bodies",
                     raw ? " (--max-body); write in parts" : "");
}

/* Commands may also come in the compact form. */
static bool is_compact(const struct request *req)
{
    return req->route->handler == &handler_commands && req->content_type.ptr != NULL &&
           headers_is_type(req->content_type, SOMA_BATCH_TYPE);
}

static enum soma_status check_body(struct request *req)
{
    uint64_t max = req->conn->server->max_body_bytes;
    bool raw = is_raw(req->route);
    req->body_max =
        raw || is_compact(req) || max < SOMA_JSON_BODY_BYTES_MAX ? max : SOMA_JSON_BODY_BYTES_MAX;
    if (req->body_announced > req->body_max)
        return too_large(req);
    bool has_body = req->is_chunked || req->body_announced > 0;
    const char *type = raw ? "application/octet-stream" : "application/json";
    if (!has_body || req->content_type.ptr == NULL || headers_is_type(req->content_type, type) ||
        is_compact(req))
        return SOMA_OK;
    return soma_fail(&req->error, SOMA_UNSUPPORTED_MEDIA_TYPE, "Content-Type",
                     "Content-Type is \"%.*s\"; this route reads %s (or leave the header out)",
                     (int)(req->content_type.len < 100 ? req->content_type.len : 100),
                     req->content_type.ptr, type);
}

static enum soma_status read_header(struct request *req, const char *version)
{
    enum soma_status status = headers_read(req, version, &req->error);
    enum soma_status found = status == SOMA_OK ? find_route(req) : SOMA_OK;
    struct soma_error route_error;
    if (status != SOMA_OK)
        return status;
    if (found != SOMA_OK)
        route_error = req->error;
    /* Without a token nobody learns which routes there are. */
    status = check_token(req);
    if (status == SOMA_OK && found != SOMA_OK)
        req->error = route_error;
    if (status != SOMA_OK)
        req->answer.allow = NULL;
    status = status != SOMA_OK ? status : found;
    return status != SOMA_OK ? status : check_body(req);
}

static enum MHD_Result on_header(struct request *req, const char *path, const char *method,
                                 const char *version)
{
    req->method = method;
    req->path = path;
    req->is_head = strcmp(method, "HEAD") == 0;
    if (read_header(req, version) == SOMA_OK)
        return MHD_YES;
    refuse(req);
    /* Answered before its body is read, a request ends its connection. */
    bool has_body = req->is_chunked || req->body_announced > 0;
    bool at_once = req->is_unreadable || (req->has_expect && has_body) ||
                   req->body_announced > DRAIN_BYTES_MAX;
    if (!at_once)
        return MHD_YES;
    req->closes = true;
    reply_error(req, &req->error);
    return reply_send(req);
}

/* ---- the body ---- */

/* A body whose length is known to be large gets its memory at once. The contents in a batch are at
 * its end. */
static bool take_body(struct request *req)
{
    size_t bytes = (size_t)req->body_announced;
    char *body = bodies_take(req->conn->server->bodies, bytes, !is_raw(req->route), &req->pages);
    if (body == NULL)
        return false;
    free(req->body);
    req->body = body;
    req->body_capacity = bytes;
    return true;
}

static bool grow_body(struct request *req, size_t len)
{
    size_t needed = req->body_len + len;
    size_t capacity = req->body_capacity > 0 ? req->body_capacity : BODY_BYTES_FIRST;
    if (needed <= req->body_capacity)
        return true;
    if (req->body_len == 0 && req->body_announced >= BODIES_BYTES_MIN &&
        needed <= req->body_announced)
        return take_body(req);
    while (capacity < needed)
        capacity *= 2;
    if (req->body_announced >= needed && req->body_announced < capacity)
        capacity = (size_t)req->body_announced;
    char *body = realloc(req->body, capacity);
    if (body == NULL)
        return false;
    req->body = body;
    req->body_capacity = capacity;
    return true;
}

/* Answer past libmicrohttpd, which cannot in the middle of a body. What still comes is dropped for
 * a while, so that a client that only sends gets to see the answer. */
static void answer_early(struct request *req)
{
    if (req->is_answered)
        return;
    req->conn->closes = true;
    req->is_answered = true;
    req->answer.http = soma_status_info(req->error.status)->http;
    req->answer.status = req->error.status;
    mhd_send_error(req->conn, &req->error);
}

/* A large body goes straight to its memory, but for what came with the header. */
static void store(struct request *req, const char *data, size_t len)
{
    const struct connection *conn = req->conn;
    if (!req->receive.is_active)
        memcpy(req->body + req->body_len, data, len);
    req->body_len += len;
    if (!req->receive.is_active && req->pages.map != NULL && !conn->is_tls)
        mhd_receive_start(&req->receive, conn->fd, req->body + req->body_len,
                          (size_t)req->body_announced - req->body_len);
}

static enum MHD_Result on_body(struct request *req, const char *data, size_t len)
{
    req->body_received += len;
    atomic_store_explicit(&req->conn->received, req->body_received, memory_order_relaxed);
    if (!req->is_refused && req->body_received > req->body_max) {
        (void)too_large(req);
        refuse(req);
        answer_early(req);
    }
    if (!req->is_refused && !grow_body(req, len)) {
        (void)soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "", "no memory for the body");
        refuse(req);
    }
    if (!req->is_refused) {
        store(req, data, len);
    } else if (req->body_received > DRAIN_BYTES_MAX + req->body_max) {
        answer_early(req); /* it does not end */
        return MHD_NO;
    }
    return MHD_YES;
}

/* ---- the end ---- */

/* Its connection was resumed, if it was suspended at all: the request is ours again. */
static void take_back(struct request *req)
{
    if (!req->is_suspended)
        return;
    req->is_suspended = false;
    (void)atomic_fetch_sub(&req->conn->server->suspended_requests, 1);
}

/* The request is there in whole, or was resumed. */
static enum MHD_Result on_end(struct request *req)
{
    bool is_answered = true;
    take_back(req);
    if (req->is_answered)
        return MHD_NO;
    if (req->phase == REQUEST_RECEIVING) {
        connection_enter(req->conn, CONNECTION_BUSY, req->started_ns);
        is_answered = request_start(req);
    } else if (req->phase == REQUEST_WOKEN) {
        is_answered = request_run_on(req);
    }
    /* Once it is parked the request may be anywhere: it is not looked at. */
    return is_answered ? reply_send(req) : MHD_YES;
}

enum MHD_Result request_on_data(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *data,
                                size_t *data_len, void **ctx)
{
    struct request *req = *ctx;
    (void)cls;
    (void)mhd;
    if (req == NULL)
        return MHD_NO;
    if (req->method == NULL)
        return on_header(req, url, method, version);
    /* Without data it is the end; a piece may be empty when Expect comes without a body. */
    if (data != NULL) {
        size_t len = *data_len;
        *data_len = 0;
        return len > 0 ? on_body(req, data, len) : MHD_YES;
    }
    return on_end(req);
}

static void release(struct request *req, uint64_t now_ns)
{
    session_result_clear(&req->result);
    if (req->is_batch) {
        wire_names_release(&req->batch.names);
        soma_writer_release(&req->batch.writer);
    }
    cJSON_Delete(req->root);
    req->root = NULL;
    wire_tree_release(&req->tree);
    wire_arena_release(&req->arena);
    free(req->answer.owned);
    req->answer.owned = NULL;
    snapshot_release(req->answer.snapshot);
    req->answer.snapshot = NULL;
    snapshot_release(req->snapshot);
    req->snapshot = NULL;
    if (req->session != NULL) {
        session_touch_at(req->session, now_ns);
        session_unreference(req->session);
        req->session = NULL;
    }
    drop_body(req);
}

/* libmicrohttpd gives up on a request: say why, past it, when that is the client's doing. */
static void tell_why(struct request *req, enum MHD_RequestTerminationCode code)
{
    struct connection *conn = req->conn;
    struct soma_error error;
    bool is_overdue = atomic_load_explicit(&conn->is_overdue, memory_order_relaxed);
    unsigned seconds = (unsigned)(conn->server->idle_timeout_ns / NS_PER_S);
    if (is_overdue || code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
        (void)soma_fail(&error, SOMA_REQUEST_TIMEOUT, "",
                        "the request did not arrive in whole within the %u seconds of "
                        "--idle-timeout",
                        seconds);
    else if (code == MHD_REQUEST_TERMINATED_CLIENT_ABORT)
        (void)soma_fail(&error, SOMA_BAD_REQUEST, "",
                        "the client closed its side before the request was there in whole");
    else
        return;
    req->answer.status = error.status;
    req->answer.http = soma_status_info(error.status)->http;
    mhd_send_error(conn, &error);
}

/* The connection ends although its request was given back with an outcome: libmicrohttpd looks at
 * the socket first, and a client that has closed its side is one that has gone. It may still read.
 */
static void answer_past(struct request *req)
{
    if (req->phase == REQUEST_WOKEN)
        request_cut(req);
    if (req->phase != REQUEST_ANSWERED)
        return;
    req->is_answered = true;
    mhd_send_answer(req->conn, &req->answer);
}

void request_on_completed(void *cls, struct MHD_Connection *mhd, void **ctx,
                          enum MHD_RequestTerminationCode code)
{
    struct request *req = *ctx;
    (void)cls;
    (void)mhd;
    if (req == NULL || !req->is_active)
        return;
    struct connection *conn = req->conn;
    uint64_t now_ns = monotonic_ns();
    take_back(req);
    if (!req->is_answered && req->phase != REQUEST_RECEIVING)
        answer_past(req);
    else if (!req->is_answered)
        tell_why(req, code);
    metrics_count_request(conn->server->metrics, conn->shard, req->route, req->answer.http,
                          req->answer.status, now_ns - req->started_ns);
    conn->closes = conn->closes || req->closes || code != MHD_REQUEST_TERMINATED_COMPLETED_OK;
    release(req, now_ns);
    req->is_active = false;
    req->is_head = false;
    connection_enter(conn, CONNECTION_IDLE, now_ns);
}
