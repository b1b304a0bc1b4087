/* A server in this process on a free port, and one client of it. */
#ifndef SOMA_TESTS_HTTP_FIXTURE_H
#define SOMA_TESTS_HTTP_FIXTURE_H

#include "expect.h"
#include "http_client.h"
#include "server.h"
#include "suites.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* 1 in builds that are watched: slower by far, and with memory use of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

struct fixture {
    struct soma_server *server;
    struct http_client *client;
    const char *url;
};

/* tune: changes the options before the start; NULL: none. */
void fixture_start(struct fixture *f, void (*tune)(struct soma_config *config));
void fixture_stop(struct fixture *f);

/* Send with a JSON body (NULL: none) and give back the whole answer; release it. */
struct http_answer fixture_send(struct http_client *client, const char *method, const char *path,
                                const char *body);

/* The same with headers, NULL at the end. */
struct http_answer fixture_send_with(struct http_client *client, const char *method,
                                     const char *path, const char *body,
                                     const char *const *headers);

/* Send and expect this status; the body as a tree (NULL when it is empty); delete it. */
cJSON *fixture_call(struct http_client *client, const char *method, const char *path,
                    const char *body, long status);

/* As fixture_call, for answers that do not matter. */
void fixture_do(struct http_client *client, const char *method, const char *path, const char *body,
                long status);

/* Expect an error of this status and reason, whole and consistent. */
void fixture_refused(struct http_client *client, const char *method, const char *path,
                     const char *body, long status, const char *reason);

/* Whether the text is an error in the contract's form with this code and reason (NULL: any). */
bool is_error_body(const char *text, long status, const char *reason);

/* Open a session with this body and let the client work in it; its id in id[64]. */
void fixture_open_session(struct http_client *client, const char *body, char id[64]);

/* Stream 1 of a fresh session waits for event 1, which nobody records. */
void fixture_block_stream(struct fixture *f);

double number_of(const cJSON *tree, const char *name); /* -1 when there is none */
const char *text_of(const cJSON *tree, const char *name);

/* The value of the line "name VALUE" of /metrics, -1 when there is none. */
double fixture_metric(struct http_client *client, const char *name);

uint64_t now_ms(void);
void sleep_ms(unsigned ms);

/* Try up to ten seconds until check(ctx) holds. */
bool wait_until(bool (*check)(void *ctx), void *ctx);

#endif
