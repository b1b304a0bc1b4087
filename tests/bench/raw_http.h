/* The leanest HTTP/1.1 client: requests are texts made beforehand, answers are looked at where they
 * were received. No pipelining: one answer per request. For measurements and loads, where a real
 * client would cost more than the server. */
#ifndef SOMA_TESTS_RAW_HTTP_H
#define SOMA_TESTS_RAW_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct raw_http {
    int fd; /* -1: not connected */
    char *buf;
    size_t len, capacity; /* bytes of the answer so far */
};

struct raw_answer {
    int status;
    const char *body; /* borrowed until the next request; no NUL behind it */
    size_t body_len;
    bool closes;    /* the server ends the connection */
    bool is_replay; /* Idempotent-Replayed */
};

/* url: http://HOST:PORT with a numeric host, or unix:PATH. The socket blocks until
 * raw_http_set_nonblocking. false: not connected; errno tells. */
bool raw_http_connect(struct raw_http *http, const char *url);
void raw_http_close(struct raw_http *http);
bool raw_http_set_nonblocking(struct raw_http *http);

/* Send all of it; waits while the socket is full. */
bool raw_http_send(const struct raw_http *http, const void *request, size_t len);

enum raw_outcome {
    RAW_MORE, /* not there yet */
    RAW_DONE, /* *answer is filled */
    RAW_BAD   /* connection lost, or not HTTP as somad speaks it */
};

/* Receive once and look. On a blocking socket call it until it is not RAW_MORE. */
enum raw_outcome raw_http_receive(struct raw_http *http, struct raw_answer *answer);

/* Send, and receive until the answer is there; blocking sockets. */
bool raw_http_exchange(struct raw_http *http, const void *request, size_t len,
                       struct raw_answer *answer);

#endif
