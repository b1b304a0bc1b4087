/* One HTTP connection for tests, over libcurl. Blocking; every request has a deadline. */
#ifndef SOMA_TESTS_HTTP_CLIENT_H
#define SOMA_TESTS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct http_client;

struct http_request {
    const char *method;
    const char *path;         /* from the "/", with the query */
    const char *content_type; /* NULL: no such header */
    const void *body;         /* NULL: none */
    size_t body_len;
    const char *const *headers; /* "Name: value" each, NULL at the end; NULL: none */
};

struct http_answer {
    long status;
    char *body; /* NUL behind it; never NULL once http_send succeeded */
    size_t body_len;
    size_t capacity;        /* bytes at body */
    char content_type[128]; /* "" when there is none */
};

/* url: http://HOST:PORT, or unix:PATH. NULL: no memory. */
struct http_client *http_client_create(const char *url);
void http_client_destroy(struct http_client *client);

/* Sent as Soma-Session with every request from now on. NULL: no session. Copied. */
void http_client_set_session(struct http_client *client, const char *session);

/* Send and wait for the answer. false: there is none; `why` tells (http_client_why). */
bool http_send(struct http_client *client, const struct http_request *request,
               struct http_answer *answer);
void http_answer_release(struct http_answer *answer);
const char *http_client_why(const struct http_client *client);

/* Write text percent-encoded for a path segment or query value; cut where the buffer ends. */
void http_escape(char *to, size_t to_bytes, const char *text);

#endif
