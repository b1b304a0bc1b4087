/* Going down: what runs may finish, what is new is refused, what waits too long is told so. */
#include "connection.h"
#include "fixture.h"
#include "raw.h"
#include "sockets.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct caller {
    pthread_t thread;
    const char *url, *session, *path, *body;
    long status;
    char text[1024];
};

static void *call(void *ctx)
{
    struct caller *caller = ctx;
    struct http_client *client = http_client_create(caller->url);
    http_client_set_session(client, caller->session);
    struct http_answer answer = fixture_send(client, "POST", caller->path, caller->body);
    caller->status = answer.status;
    (void)snprintf(caller->text, sizeof(caller->text), "%s", answer.body);
    http_answer_release(&answer);
    http_client_destroy(client);
    return NULL;
}

struct drainer {
    pthread_t thread;
    struct soma_server *server;
    uint64_t bound_ms, took_ms;
    bool is_empty;
};

static void *drain(void *ctx)
{
    struct drainer *drainer = ctx;
    uint64_t start = now_ms();
    drainer->is_empty = soma_server_drain(drainer->server, drainer->bound_ms);
    drainer->took_ms = now_ms() - start;
    return NULL;
}

static bool one_waits(void *ctx)
{
    struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") == 1;
}

/* A wait in the session; the drain begins while it lasts. */
static void start_both(struct fixture *f, struct caller *caller, struct drainer *drainer)
{
    CU_ASSERT_FATAL(pthread_create(&caller->thread, NULL, call, caller) == 0);
    EXPECT(wait_until(one_waits, f), "nothing waits");
    CU_ASSERT_FATAL(pthread_create(&drainer->thread, NULL, drain, drainer) == 0);
}

static bool is_draining(void *ctx)
{
    struct fixture *f = ctx;
    struct http_answer answer = fixture_send(f->client, "GET", "/readyz", NULL);
    long status = answer.status;
    http_answer_release(&answer);
    return status == 503;
}

static void test_finishes(void)
{
    struct fixture f;
    char id[64];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"clock\":\"wall\"}", id);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/streams/1:delay", "{\"durationNs\":800000000}",
               204);
    struct caller caller = {
        .url = f.url, .session = id, .path = "/v1/devices/0/streams/1:synchronize"};
    struct drainer drainer = {.server = f.server, .bound_ms = 8000};
    start_both(&f, &caller, &drainer);
    EXPECT(wait_until(is_draining, &f), "readyz");
    fixture_do(f.client, "GET", "/livez", NULL, 200);
    fixture_refused(f.client, "GET", "/readyz", NULL, 503, "DRAINING");
    fixture_do(f.client, "GET", "/v1/devices", NULL, 200);
    http_client_set_session(f.client, NULL);
    fixture_refused(f.client, "POST", "/v1/sessions", NULL, 503, "DRAINING");
    (void)pthread_join(caller.thread, NULL);
    (void)pthread_join(drainer.thread, NULL);
    EXPECT(caller.status == 200, "%ld %s", caller.status, caller.text);
    EXPECT(drainer.is_empty && drainer.took_ms < 7000, "%llu ms",
           (unsigned long long)drainer.took_ms);
    fixture_stop(&f);
}

static void test_bound(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    struct caller caller = {.url = f.url, .path = "/v1/devices/0/streams/1:synchronize"};
    struct drainer drainer = {.server = f.server, .bound_ms = 300};
    start_both(&f, &caller, &drainer);
    (void)pthread_join(caller.thread, NULL);
    (void)pthread_join(drainer.thread, NULL);
    EXPECT(caller.status == 503 && is_error_body(caller.text, 503, "DRAINING"), "%s", caller.text);
    EXPECT(drainer.is_empty && drainer.took_ms >= 300 && drainer.took_ms < 2300, "%llu ms",
           (unsigned long long)drainer.took_ms);
    fixture_stop(&f);
}

/* Stopping without draining does not hang on a wait, nor on open connections. */
static void test_stop_at_once(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    struct caller caller = {.url = f.url,
                            .path = "/v1/commands",
                            .body = "{\"commands\":[{\"op\":\"stream.synchronize\",\"stream\":1},"
                                    "{\"op\":\"stream.create\"}],\"onError\":\"continue\"}"};
    CU_ASSERT_FATAL(pthread_create(&caller.thread, NULL, call, &caller) == 0);
    EXPECT(wait_until(one_waits, &f), "nothing waits");
    uint64_t start = now_ms();
    soma_server_stop(f.server);
    EXPECT(now_ms() - start < 3000, "it took %llu ms", (unsigned long long)(now_ms() - start));
    (void)pthread_join(caller.thread, NULL);
    http_client_destroy(f.client);
}

/* Clients that go away within a body, whose ends are seen while the body is still being read: no
 * connection is left over, however often, and whenever, they are looked at. */
static void test_gone_clients(void)
{
    enum { CLIENTS = 24, SENT_BYTES = 1000000 };
    static char body[SENT_BYTES];
    static const char head[] = "PUT /v1/devices/0/memory/0x1 HTTP/1.1\r\nHost: x\r\n"
                               "Content-Length: 1000001\r\n\r\n";
    struct fixture f;
    fixture_start(&f, NULL);
    for (unsigned i = 0; i < CLIENTS; i++) {
        int fd = raw_connect(soma_server_port(f.server, 0));
        CU_ASSERT_FATAL(fd >= 0 && raw_send_text(fd, head) &&
                        sockets_send_all(fd, body, SENT_BYTES));
        (void)close(fd);
        connections_sweep(f.server, monotonic_ns());
    }
    uint64_t start = now_ms();
    while (connections_active(f.server) > 0 && now_ms() - start < 10000)
        connections_sweep(f.server, monotonic_ns());
    EXPECT(connections_active(f.server) == 0, "%d connections are left",
           (int)connections_active(f.server));
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"what runs finishes", test_finishes},
    {"bound", test_bound},
    {"stop at once", test_stop_at_once},
    {"gone clients", test_gone_clients},
    {NULL, NULL},
};
const struct soma_suite suite_http_drain = {"http_drain", tests};
