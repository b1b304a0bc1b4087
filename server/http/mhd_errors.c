/* See the header. The only file that knows how libmicrohttpd reports its own errors. */
#include "mhd_errors.h"

#include "reply.h"
#include "tls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef enum MHD_Result queue_fn(struct MHD_Connection *mhd, unsigned http,
                                 struct MHD_Response *response);

/* The definition of libmicrohttpd. Looked up per call would cost as much as the call: the first
 * one keeps it. The only mutable global of the server, and one that never changes its value. */
static queue_fn *real_queue(void)
{
    static _Atomic(queue_fn *) known;
    queue_fn *found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "MHD_queue_response");
        memcpy(&found, &symbol, sizeof(found));
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found;
}

enum MHD_Result mhd_queue(struct MHD_Connection *mhd, unsigned http, struct MHD_Response *response)
{
    return real_queue()(mhd, http, response);
}

/* What a code of libmicrohttpd's own pages means here. */
static enum soma_status fill_error(unsigned http, struct soma_error *error)
{
    switch (http) {
    case MHD_HTTP_URI_TOO_LONG:
    case MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE:
        return soma_fail(error, SOMA_HEADERS_TOO_LARGE, "",
                         "the request line and header fields are larger than the %u bytes that "
                         "the server reads",
                         SOMA_HEADER_BYTES_MAX);
    case MHD_HTTP_CONTENT_TOO_LARGE:
        return soma_fail(error, SOMA_CONTENT_TOO_LARGE, "",
                         "Content-Length, or the size of a chunk, is too large a number");
    case MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED:
        return soma_fail(error, SOMA_HTTP_VERSION_NOT_SUPPORTED, "",
                         "the server speaks HTTP/1.0 and HTTP/1.1");
    case MHD_HTTP_INTERNAL_SERVER_ERROR:
        return soma_fail(error, SOMA_INTERNAL, "", "the request could not be read to its end");
    default:
        return soma_fail(error, SOMA_BAD_REQUEST, "",
                         "the request is not valid HTTP: its request line, Host, a header field, "
                         "Content-Length or the chunks of its body are malformed or missing");
    }
}

/* Called by libmicrohttpd for its own pages. The answer goes past it: in 0.9.75 a page that is
 * queued while the header is parsed is sent with its own header twice. Refusing the page makes it
 * close the connection, which it would do in any case. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned int http,
                                   struct MHD_Response *page)
{
    struct soma_error error;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info == NULL || info->socket_context == NULL)
        return mhd_queue(mhd, http, page);
    struct connection *conn = info->socket_context;
    enum soma_status status = fill_error(http, &error);
    mhd_send_error(conn, &error);
    conn->closes = true;
    conn->request.is_answered = true;
    conn->request.answer.http = soma_status_info(status)->http;
    conn->request.answer.status = status;
    return MHD_NO;
}

/* false: not all of it was taken. */
static bool send_parts(struct connection *conn, struct iovec *parts, size_t count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += parts[i].iov_len;
    if (conn->is_tls)
        return tls_send(conn->mhd, parts, count);
    return sendmsg(conn->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* What follows the body of the answer, as far as it is taken. */
static void send_snapshot(struct connection *conn, const struct answer *answer)
{
    char piece[16384];
    ssize_t len;
    struct iovec part = {.iov_base = piece};
    for (uint64_t at = answer->len; at < answer->len + answer->snapshot_len; at += (uint64_t)len) {
        len = reply_read(answer, at, piece, sizeof(piece));
        part.iov_len = (size_t)len;
        if (len <= 0 || !send_parts(conn, &part, 1))
            return;
    }
}

void mhd_send_answer(struct connection *conn, const struct answer *answer)
{
    const char *instance = conn->server->instance;
    bool has_body = answer->content_type != NULL;
    char head[512];
    int len =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 %d %s\r\nConnection: close\r\n%s%s%s%s%s%sContent-Length: %zu\r\n\r\n",
                 answer->http, MHD_get_reason_phrase_for((unsigned)answer->http),
                 has_body ? "Content-Type: " : "", has_body ? answer->content_type : "",
                 has_body ? "\r\n" : "", instance[0] != '\0' ? INSTANCE_HEADER ": " : "", instance,
                 instance[0] != '\0' ? "\r\n" : "", answer->len + answer->snapshot_len);
    size_t body_len = conn->request.is_head ? 0 : answer->len;
    struct iovec parts[2] = {{head, (size_t)len}, {NULL, body_len}};
    memcpy(&parts[1].iov_base, &answer->body, sizeof(answer->body)); /* it is only read */
    if (send_parts(conn, parts, 2) && answer->snapshot != NULL && !conn->request.is_head)
        send_snapshot(conn, answer);
}

void mhd_send_error(struct connection *conn, const struct soma_error *error)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 8 * SOMA_MESSAGE_BYTES);
    wire_encode_error(&writer, error);
    struct answer answer = {.http = soma_status_info(error->status)->http,
                            .content_type = "application/json",
                            .body = writer.ptr,
                            .len = writer.len};
    if (!writer.failed)
        mhd_send_answer(conn, &answer);
    soma_writer_release(&writer);
}
