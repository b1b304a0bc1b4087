/* Many sessions at one time: what the server's resident memory grows by when each has a pool, a
 * stream and ten blocks. */
#include "bench.h"
#include "raw_http.h"
#include "service.h"

#include <string.h>

#define SESSIONS 10000u
#define SESSIONS_QUICK 200u
#define BLOCKS 10u
#define BOUND_MIB 512.0 /* of 10,000 sessions */
#define TEXT_BYTES 4096u

struct sessions {
    struct service service;
    struct raw_http http;
    char batch[2048]; /* what every session runs */
};

static void make_batch(struct sessions *sessions)
{
    char *at = sessions->batch, *end = at + sizeof(sessions->batch);
    at += snprintf(at, (size_t)(end - at),
                   "{\"commands\":[{\"op\":\"stream.create\"},{\"op\":\"pool.create\"}");
    for (unsigned i = 0; i < BLOCKS; i++)
        at += snprintf(at, (size_t)(end - at),
                       ",{\"op\":\"pool.malloc\",\"pool\":1,\"size\":4096,\"stream\":1}");
    (void)snprintf(at, (size_t)(end - at), "]}");
}

static bool post(struct sessions *sessions, const char *path, const char *session, const char *body,
                 int status, struct raw_answer *answer)
{
    char text[TEXT_BYTES];
    int len = snprintf(text, sizeof(text),
                       "POST %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s"
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                       path, session[0] == '\0' ? "" : "Soma-Session: ", session,
                       session[0] == '\0' ? "" : "\r\n", strlen(body), body);
    return (raw_http_exchange(&sessions->http, text, (size_t)len, answer) &&
            answer->status == status) ||
           bench_fail("POST %s was not answered with %d", path, status);
}

static bool open_session(struct sessions *sessions)
{
    static const char name[] = "\"session\":\"";
    static const char completed[] = "\"completed\":12}";
    struct raw_answer answer;
    char id[128];
    if (!post(sessions, "/v1/sessions", "", "{\"devices\":1}", 201, &answer))
        return false;
    const char *at = memmem(answer.body, answer.body_len, name, sizeof(name) - 1);
    if (at == NULL)
        return bench_fail("a session without id");
    at += sizeof(name) - 1;
    (void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(at, "\""), at);
    return post(sessions, "/v1/commands", id, sessions->batch, 200, &answer) &&
           (memmem(answer.body, answer.body_len, completed, sizeof(completed) - 1) != NULL ||
            bench_fail("a session did not run its commands"));
}

bool group_sessions(struct bench *bench)
{
    unsigned count = bench->options.is_quick ? SESSIONS_QUICK : SESSIONS;
    struct sessions sessions = {.http = {.fd = -1}};
    struct bench_row row = {.name = bench->options.is_quick ? "sessions.200" : "sessions.10000",
                            .unit = "MiB",
                            .peer = "the bound for so many",
                            .goal = BENCH_AT_MOST,
                            .goal_ratio = 1};
    make_batch(&sessions);
    if (!service_start(&sessions.service))
        return false;
    bool good =
        raw_http_connect(&sessions.http, sessions.service.url) || bench_fail("no connection");
    double before = service_resident(&sessions.service);
    for (unsigned i = 0; good && i < count; i++)
        good = open_session(&sessions);
    bench_series_add(&row.values, service_resident(&sessions.service) - before);
    bench_series_add(&row.peer_values, BOUND_MIB * count / SESSIONS);
    if (good)
        bench_add(bench, &row);
    raw_http_close(&sessions.http);
    service_stop(&sessions.service);
    return good;
}
