/* Requests that wait: none holds up anything else, each ends when it may, or when its client goes.
 */
#include "fixture.h"
#include "raw.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAITERS 64u
#define HOST "Host: x\r\n"

struct waiter {
    pthread_t thread;
    const char *url, *session, *path, *body;
    long status;
    uint64_t took_ms;
    char text[1024];
};

static void *run_waiter(void *ctx)
{
    struct waiter *waiter = ctx;
    struct http_client *client = http_client_create(waiter->url);
    http_client_set_session(client, waiter->session);
    uint64_t start = now_ms();
    struct http_answer answer = fixture_send(client, "POST", waiter->path, waiter->body);
    waiter->took_ms = now_ms() - start;
    waiter->status = answer.status;
    (void)snprintf(waiter->text, sizeof(waiter->text), "%s", answer.body);
    http_answer_release(&answer);
    http_client_destroy(client);
    return NULL;
}

static void start_waiter(struct waiter *waiter, struct fixture *f, const char *session,
                         const char *path, const char *body)
{
    *waiter = (struct waiter){.url = f->url, .session = session, .path = path, .body = body};
    CU_ASSERT_FATAL(pthread_create(&waiter->thread, NULL, run_waiter, waiter) == 0);
}

struct waiting {
    struct http_client *client;
    double count;
};

static bool as_many_wait(void *ctx)
{
    struct waiting *waiting = ctx;
    return fixture_metric(waiting->client, "soma_requests_waiting") == waiting->count;
}

static void expect_waiting(struct fixture *f, double count)
{
    struct waiting waiting = {f->client, count};
    EXPECT(wait_until(as_many_wait, &waiting), "%g wait, not %g",
           fixture_metric(f->client, "soma_requests_waiting"), count);
}

/* Time of /readyz, best of some, in milliseconds. */
static double readyz_ms(struct fixture *f)
{
    double best = 1e9;
    for (unsigned i = 0; i < 20; i++) {
        struct timespec a, b;
        (void)clock_gettime(CLOCK_MONOTONIC, &a);
        fixture_do(f->client, "GET", "/readyz", NULL, 200);
        (void)clock_gettime(CLOCK_MONOTONIC, &b);
        double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
        best = ms < best ? ms : best;
    }
    return best;
}

static void test_sixty_four(void)
{
    struct fixture f;
    char id[64];
    struct waiter *waiters = calloc(WAITERS, sizeof(*waiters));
    CU_ASSERT_FATAL(waiters != NULL);
    fixture_start(&f, NULL);
    double idle = readyz_ms(&f);
    fixture_open_session(f.client, "{\"clock\":\"wall\",\"devices\":1}", id);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/streams/1:delay", "{\"durationNs\":1500000000}",
               204);
    for (unsigned i = 0; i < WAITERS; i++)
        start_waiter(&waiters[i], &f, id, "/v1/devices/0/streams/1:synchronize", NULL);
    expect_waiting(&f, WAITERS);
    http_client_set_session(f.client, NULL);
    double busy = readyz_ms(&f);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201); /* another session */
    expect_waiting(&f, WAITERS);
    printf(" [/readyz idle %.3f ms, with %u waits %.3f ms, ratio %.2f] ", idle, WAITERS, busy,
           busy / idle);
    for (unsigned i = 0; i < WAITERS; i++) {
        (void)pthread_join(waiters[i].thread, NULL);
        EXPECT(waiters[i].status == 200, "%ld %s", waiters[i].status, waiters[i].text);
    }
    expect_waiting(&f, 0);
    free(waiters);
    fixture_stop(&f);
}

static void test_another_command_wakes(void)
{
    struct fixture f;
    struct waiter waiters[3];
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    start_waiter(&waiters[0], &f, NULL, "/v1/devices/0/streams/1:synchronize",
                 "{\"timeoutMs\":-1}");
    start_waiter(&waiters[1], &f, NULL, "/v1/devices/0:synchronize", NULL);
    start_waiter(&waiters[2], &f, NULL, "/v1/commands",
                 "{\"commands\":[{\"op\":\"stream.synchronize\",\"stream\":1},"
                 "{\"op\":\"stream.destroy\",\"stream\":1}]}");
    expect_waiting(&f, 3);
    fixture_do(f.client, "GET", "/v1/devices/0/streams", NULL, 200);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    expect_waiting(&f, 3);
    fixture_do(f.client, "POST", "/v1/devices/0/events/1:record", "{\"stream\":0}", 204);
    for (unsigned i = 0; i < 3; i++) {
        (void)pthread_join(waiters[i].thread, NULL);
        EXPECT(waiters[i].status == 200, "%u: %ld %s", i, waiters[i].status, waiters[i].text);
    }
    EXPECT(strstr(waiters[2].text, "\"completed\":2") != NULL, "%s", waiters[2].text);
    fixture_stop(&f);
}

static void test_timeouts(void)
{
    struct fixture f;
    struct waiter waiter;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    fixture_refused(f.client, "POST", "/v1/devices/0/streams/1:synchronize", "{\"timeoutMs\":0}",
                    504, "STREAM_SYNC_TIMEOUT");
    start_waiter(&waiter, &f, NULL, "/v1/devices/0/streams/1:synchronize", "{\"timeoutMs\":150}");
    (void)pthread_join(waiter.thread, NULL);
    EXPECT(waiter.status == 504 && is_error_body(waiter.text, 504, "STREAM_SYNC_TIMEOUT"), "%s",
           waiter.text);
    EXPECT(waiter.took_ms >= 150 && waiter.took_ms < 2000, "%llu ms",
           (unsigned long long)waiter.took_ms);
    start_waiter(&waiter, &f, NULL, "/v1/devices/0:synchronize", "{\"timeoutMs\":50}");
    (void)pthread_join(waiter.thread, NULL);
    EXPECT(waiter.status == 504 && is_error_body(waiter.text, 504, "DEVICE_SYNC_TIMEOUT"), "%s",
           waiter.text);
    fixture_stop(&f);
}

static void test_wall_timeout(void)
{
    struct fixture f;
    char id[64];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"clock\":\"wall\"}", id);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/streams/1:delay", "{\"durationNs\":300000000}",
               204);
    uint64_t start = now_ms();
    fixture_refused(f.client, "POST", "/v1/devices/0/streams/1:synchronize", "{\"timeoutMs\":60}",
                    504, "STREAM_SYNC_TIMEOUT");
    EXPECT(now_ms() - start >= 60, "too early");
    fixture_do(f.client, "POST", "/v1/devices/0/streams/1:synchronize", "{\"timeoutMs\":5000}",
               200);
    uint64_t took = now_ms() - start;
    EXPECT(took >= 295 && took < 3000, "%llu ms", (unsigned long long)took);
    fixture_stop(&f);
}

static void test_client_goes_away(void)
{
    enum { COUNT = 8 };
    static char text[RAW_BYTES];
    struct fixture f;
    int fds[COUNT];
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    for (unsigned i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(soma_server_port(f.server, 0));
        EXPECT(raw_send_text(fds[i],
                             "POST /v1/devices/0/streams/1:synchronize HTTP/1.1\r\n" HOST "\r\n"),
               "send");
    }
    expect_waiting(&f, COUNT);
    for (unsigned i = 1; i < COUNT; i++)
        (void)close(fds[i]);
    expect_waiting(&f, 1);
    (void)shutdown(fds[0], SHUT_WR); /* half closed: told, not left waiting */
    EXPECT(raw_read(fds[0], text, NULL, 5000) && raw_status(text) == 409 &&
               is_error_body(raw_body(text), 409, "CLIENT_GONE"),
           "%s", text);
    (void)close(fds[0]);
    expect_waiting(&f, 0);
    EXPECT(fixture_metric(f.client, "soma_connections") <= 2, "connections are left");
    fixture_stop(&f);
}

static void test_session_ends(void)
{
    struct fixture f;
    struct waiter waiter;
    char id[64], path[128];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"ttlSeconds\":1}", id);
    fixture_block_stream(&f);
    start_waiter(&waiter, &f, id, "/v1/devices/0/streams/1:synchronize", NULL);
    http_client_set_session(f.client, NULL);
    expect_waiting(&f, 1);
    sleep_ms(2500);
    expect_waiting(&f, 1); /* its lease does not run out while a request waits in it */
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    fixture_do(f.client, "DELETE", path, NULL, 200);
    (void)pthread_join(waiter.thread, NULL);
    EXPECT(waiter.status == 404 && is_error_body(waiter.text, 404, "NO_SUCH_SESSION"), "%s",
           waiter.text);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"sixty-four", test_sixty_four},
    {"another command wakes", test_another_command_wakes},
    {"timeouts", test_timeouts},
    {"timeout on a wall clock", test_wall_timeout},
    {"a client goes away", test_client_goes_away},
    {"its session ends", test_session_ends},
    {NULL, NULL},
};
const struct soma_suite suite_http_waits = {"http_waits", tests};
