/* One HTTP request and its answer. Knows nothing of sessions, commands or JSON. */
#ifndef SOMA_CLIENT_TRANSPORT_H
#define SOMA_CLIENT_TRANSPORT_H

#include "acl/acl_base.h"
#include "command.h"
#include "endpoint.h"
#include "status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A connection that is kept between requests. */
struct client_connection;

/* Everything is borrowed until the answer is there. */
struct client_request {
    enum soma_method method;
    const char *path;         /* with query, "/v1/..." */
    const char *session;      /* value of Soma-Session; NULL: without */
    const char *content_type; /* of the body; NULL: there is none */
    const void *body;
    size_t body_len;
    const void *tail; /* sent behind the body, from where it is, then zeros up to a multiple of 8 */
    size_t tail_len;
    void *into;                /* where the bytes of a good answer go; NULL: answer->body */
    size_t into_len;           /* bytes at into; an answer of another length is an error */
    size_t into_at;            /* where they begin in the answer; when not 0, the rest goes to
                                * answer->body, and so does an answer that is not as long as this
                                * and the bytes, padded to a multiple of 8 */
    bool is_sequenced;         /* the body itself tells the service what it has seen before */
    long patience_ms;          /* longest silence; 0: the timeout of the endpoint */
    bool waits;                /* the service may take as long as it takes, while it lives */
    const atomic_bool *cancel; /* give up when it becomes true; NULL: never */
    struct client_connection **connection; /* where it is sent, made when there is none: for one
                                            * request at a time; NULL: the thread's own */
};

struct client_answer {
    int http;         /* status code */
    const char *body; /* not NUL-terminated; stays until the connection's next request */
    size_t len;
    bool is_into; /* the bytes went to request->into */
};

/* Send a request and wait for its answer, whatever its status code.
 *
 * Requests that are neither GET nor sequenced carry an Idempotency-Key of their own, so when a
 * connection is lost before the answer came, or a balancer says that the service did not give one
 * (503), the request is sent again, three times at most, and still runs once.
 * Silence of the service for longer than the endpoint's timeout ends the request; of a request that
 * `waits`, the service is asked at GET /livez now and then whether it lives, and only silence there
 * ends it. Never raises SIGPIPE. ACL_SUCCESS; 507901, the text says which address was tried and
 * which variable to set. */
aclError client_send(const struct client_endpoint *endpoint, const struct client_request *request,
                     struct client_answer *answer) SOMA_MUST_USE;

/* Ask the service whether it lives, for half of the timeout at most.
 *   connection  as in struct client_request
 * ACL_SUCCESS whatever it answers; 507901. */
aclError client_probe(const struct client_endpoint *endpoint,
                      struct client_connection **connection) SOMA_MUST_USE;

/* Tests put another transport in place of libcurl; NULL: libcurl. Not while a request runs. */
typedef aclError client_send_fn(const struct client_endpoint *endpoint,
                                const struct client_request *request, const char *key,
                                struct client_answer *answer);
void client_transport_replace(client_send_fn *send);

/* The libcurl transport: one easy handle per connection. key NULL: without Idempotency-Key. */
client_send_fn client_curl_send;

/* After fork, in the child: connections of the parent are closed at the next request. */
void client_curl_forked(void);

/* End a connection that requests have made. Takes NULL. */
void client_connection_end(struct client_connection *connection);

/* Free what the calling thread keeps, which is otherwise freed when it ends. */
void client_curl_thread_end(void);

#endif
