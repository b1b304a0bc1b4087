/* Bodies are written once, into memory that libmicrohttpd frees when it has sent them. */
#include "reply.h"

#include "mhd_errors.h"
#include "router.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#define SENT_BYTES ((size_t)1 << 18) /* of contents, between two looks at other connections */

static const char json_type[] = "application/json";

static void set_answer(struct request *req, struct answer answer)
{
    free(req->answer.owned);
    snapshot_release(req->answer.snapshot);
    req->answer = answer;
}

static void reply_no_memory(struct request *req)
{
    const struct soma_server *server = req->conn->server;
    set_answer(req, (struct answer){.http = soma_status_info(SOMA_OUT_OF_MEMORY)->http,
                                    .content_type = json_type,
                                    .body = server->no_memory_body,
                                    .len = server->no_memory_len,
                                    .status = SOMA_OUT_OF_MEMORY});
}

void reply_writer(struct request *req, int http, const char *content_type,
                  struct soma_writer *writer)
{
    if (writer->failed) {
        soma_writer_release(writer);
        reply_no_memory(req);
        return;
    }
    set_answer(req, (struct answer){.http = http,
                                    .content_type = content_type,
                                    .body = writer->ptr,
                                    .len = writer->len,
                                    .owned = writer->ptr});
    soma_writer_init(writer, 0); /* given away */
}

void reply_message(struct request *req, int http, enum soma_message message, const void *base)
{
    struct soma_writer *writer = &req->conn->small;
    if (message == SOMA_MESSAGE_NONE) {
        set_answer(req, (struct answer){.http = http});
        return;
    }
    if (writer->ptr == NULL)
        soma_writer_init(writer, SOMA_ANSWER_BYTES_MAX);
    soma_writer_clear(writer);
    wire_encode_message(writer, message, base);
    /* The connection keeps the memory of small ones; it outlives their sending. */
    if (!writer->failed && writer->len <= KEPT_BODY_BYTES && req->entry == NULL)
        set_answer(req, (struct answer){.http = http,
                                        .content_type = json_type,
                                        .body = writer->ptr,
                                        .len = writer->len});
    else
        reply_writer(req, http, json_type, writer);
}

void reply_result(struct request *req, const struct soma_result *result)
{
    reply_message(req, req->route->op->http, result->message, &result->u);
}

void reply_error(struct request *req, const struct soma_error *error)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 8 * SOMA_MESSAGE_BYTES);
    wire_encode_error(&writer, error);
    const char *allow = req->answer.allow;
    reply_writer(req, soma_status_info(error->status)->http, json_type, &writer);
    req->answer.allow = allow;
    if (req->answer.status == SOMA_OK)
        req->answer.status = error->status;
}

void reply_bytes(struct request *req, const char *content_type, const void *ptr, size_t len,
                 void *owned)
{
    set_answer(
        req,
        (struct answer){
            .http = 200, .content_type = content_type, .body = ptr, .len = len, .owned = owned});
}

void reply_snapshot(struct request *req, size_t len)
{
    req->answer.snapshot = req->snapshot;
    req->answer.snapshot_len = len;
    req->snapshot = NULL;
}

bool reply_prepare(struct soma_server *server)
{
    struct soma_error error;
    struct soma_writer writer;
    (void)soma_fail(&error, SOMA_OUT_OF_MEMORY, "", "the server has no memory for the answer");
    soma_writer_init(&writer, 8 * SOMA_MESSAGE_BYTES);
    wire_encode_error(&writer, &error);
    server->no_memory_body = writer.ptr;
    server->no_memory_len = writer.len;
    return !writer.failed;
}

/* ---- sending ---- */

static void no_free(void *ptr)
{
    (void)ptr;
}

ssize_t reply_read(const struct answer *answer, uint64_t at, char *to, size_t room)
{
    size_t done = 0;
    if (at < answer->len) {
        done = answer->len - at < room ? answer->len - (size_t)at : room;
        memcpy(to, answer->body + at, done);
    }
    uint64_t from = at + done - answer->len, size = snapshot_size(answer->snapshot);
    if (done < room && from < size) {
        size_t len = size - from < room - done ? (size_t)(size - from) : room - done;
        if (!snapshot_read(answer->snapshot, from, to + done, len))
            return -1;
        done += len;
    }
    from = at + done - answer->len;
    if (done < room && from >= size && from < answer->snapshot_len) {
        size_t len = answer->snapshot_len - from < room - done ? answer->snapshot_len - (size_t)from
                                                               : room - done;
        memset(to + done, 0, len);
        done += len;
    }
    return (ssize_t)done;
}

static ssize_t on_read(void *ctx, uint64_t at, char *to, size_t room)
{
    ssize_t len = reply_read(ctx, at, to, room);
    return len > 0 ? len : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_sent(void *ctx)
{
    struct answer *answer = ctx;
    snapshot_release(answer->snapshot);
    free(answer->owned);
    free(answer);
}

/* Contents are sent from where they lie. Takes the answer's body and snapshot over. */
static struct MHD_Response *make_snapshot_response(struct answer *answer)
{
    struct answer *copy = malloc(sizeof(*copy));
    if (copy == NULL)
        return NULL;
    *copy = *answer;
    answer->owned = NULL;
    answer->snapshot = NULL;
    struct MHD_Response *response = MHD_create_response_from_callback(
        copy->len + copy->snapshot_len, SENT_BYTES, on_read, copy, on_sent);
    if (response == NULL)
        on_sent(copy);
    return response;
}

static struct MHD_Response *make_response(struct answer *answer)
{
    if (answer->snapshot != NULL)
        return make_snapshot_response(answer);
    void *body = answer->owned;
    if (body == NULL)
        memcpy(&body, &answer->body, sizeof(body)); /* static: libmicrohttpd only reads it */
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(
        answer->len, body, answer->owned != NULL ? free : no_free);
    if (response == NULL)
        free(answer->owned);
    answer->owned = NULL;
    return response;
}

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_instance(const struct soma_server *server, struct MHD_Response *response)
{
    return server->instance[0] == '\0' || add_header(response, INSTANCE_HEADER, server->instance);
}

static bool add_headers(struct request *req, struct MHD_Response *response)
{
    const struct answer *answer = &req->answer;
    struct soma_server *server = req->conn->server;
    bool good = add_instance(server, response);
    if (answer->content_type != NULL)
        good = add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type) && good;
    if (answer->allow != NULL)
        good = add_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow) && good;
    if (answer->is_replay)
        good = add_header(response, "Idempotent-Replayed", "true") && good;
    if (answer->http == MHD_HTTP_UNAUTHORIZED)
        good = add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer") && good;
    if (req->closes || atomic_load_explicit(&server->is_draining, memory_order_relaxed)) {
        req->closes = true;
        good = add_header(response, MHD_HTTP_HEADER_CONNECTION, "close") && good;
    }
    return good;
}

/* ---- small answers ---- */

/* Whether nothing but length and body tells the answer from others of its connection. */
static bool is_plain(const struct request *req)
{
    const struct answer *answer = &req->answer;
    return answer->content_type == json_type && answer->len <= KEPT_BODY_BYTES &&
           answer->allow == NULL && !answer->is_replay && answer->http != MHD_HTTP_UNAUTHORIZED &&
           !req->closes &&
           !atomic_load_explicit(&req->conn->server->is_draining, memory_order_relaxed);
}

/* The kept response for bodies of this length; NULL: no memory for one. */
static struct kept_response *keep_response(struct connection *conn, size_t len)
{
    for (unsigned i = 0; i < KEPT_RESPONSES; i++) {
        if (conn->kept[i].response != NULL && conn->kept[i].len == len)
            return &conn->kept[i];
    }
    struct MHD_Response *response = NULL;
    struct kept_response *kept = &conn->kept[conn->next_kept++ % KEPT_RESPONSES];
    response = MHD_create_response_from_buffer(len, kept->body, MHD_RESPMEM_PERSISTENT);
    if (response == NULL || !add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, json_type) ||
        !add_instance(conn->server, response)) {
        if (response != NULL)
            MHD_destroy_response(response);
        return NULL;
    }
    if (kept->response != NULL)
        MHD_destroy_response(kept->response);
    kept->response = response;
    kept->len = len;
    return kept;
}

void reply_forget(struct connection *conn)
{
    soma_writer_release(&conn->small);
    for (unsigned i = 0; i < KEPT_RESPONSES; i++) {
        if (conn->kept[i].response != NULL)
            MHD_destroy_response(conn->kept[i].response);
        conn->kept[i].response = NULL;
    }
}

static enum MHD_Result send_kept(struct request *req, struct kept_response *kept)
{
    memcpy(kept->body, req->answer.body, kept->len);
    enum MHD_Result result = mhd_queue(req->conn->mhd, (unsigned)req->answer.http, kept->response);
    req->is_answered = result == MHD_YES;
    return result;
}

enum MHD_Result reply_send(struct request *req)
{
    struct kept_response *kept = is_plain(req) ? keep_response(req->conn, req->answer.len) : NULL;
    if (kept != NULL)
        return send_kept(req, kept);
    struct MHD_Response *response = make_response(&req->answer);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (add_headers(req, response))
        result = mhd_queue(req->conn->mhd, (unsigned)req->answer.http, response);
    MHD_destroy_response(response);
    req->is_answered = true; /* for better or worse: its body is gone */
    return result;
}
