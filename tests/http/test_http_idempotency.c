/* Idempotency-Key over HTTP: replays, refusals, and the same request at the same time. */
#include "fixture.h"
#include "raw.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST "Host: x\r\n"

/* One request on a connection of its own; the whole answer, header included. */
static void exchange(struct fixture *f, const char *request, char *text)
{
    int fd = raw_connect(soma_server_port(f->server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    EXPECT(raw_send_text(fd, request), "send");
    (void)raw_read(fd, text, NULL, 8000);
    (void)close(fd);
}

static bool is_replay(const char *text)
{
    return strstr(text, "Idempotent-Replayed: true\r\n") != NULL;
}

static void test_replay(void)
{
    static char first[RAW_BYTES], second[RAW_BYTES];
    static const char request[] = "POST /v1/devices/0/streams HTTP/1.1\r\n" HOST
                                  "Connection: close\r\nIdempotency-Key: one\r\n\r\n";
    struct fixture f;
    fixture_start(&f, NULL);
    exchange(&f, request, first);
    exchange(&f, request, second);
    EXPECT(raw_status(first) == 201 && !is_replay(first), "%s", first);
    EXPECT(raw_status(second) == 201 && is_replay(second), "%s", second);
    EXPECT(strcmp(raw_body(first), raw_body(second)) == 0, "%s %s", first, second);
    cJSON *tree = fixture_call(f.client, "GET", "/v1/devices/0/streams", NULL, 200);
    EXPECT(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(tree, "streams")) == 2,
           "it ran once");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static void expect_status(struct fixture *f, const char *method, const char *path, const char *body,
                          const char *key, long status)
{
    char header[300];
    const char *const headers[] = {header, NULL};
    (void)snprintf(header, sizeof(header), "Idempotency-Key: %s", key);
    struct http_answer answer = fixture_send_with(f->client, method, path, body, headers);
    EXPECT(answer.status == status, "%s %s %s: %ld %s", method, path, key, answer.status,
           answer.body);
    http_answer_release(&answer);
}

static void test_rules(void)
{
    struct fixture f;
    char longest[256];
    fixture_start(&f, NULL);
    expect_status(&f, "POST", "/v1/devices/0/pools", "{\"maxSize\":2097152}", "a", 201);
    expect_status(&f, "POST", "/v1/devices/0/pools", "{\"maxSize\": 2097152}", "a", 422);
    expect_status(&f, "POST", "/v1/devices/1/pools", "{\"maxSize\":2097152}", "a", 422);
    expect_status(&f, "DELETE", "/v1/devices/0/pools/1", NULL, "b", 200);
    expect_status(&f, "DELETE", "/v1/devices/0/pools/1", NULL, "b", 200);
    expect_status(&f, "DELETE", "/v1/devices/0/pools/1", NULL, "c", 404);
    expect_status(&f, "POST", "/v1/devices/0/pools", NULL, "d", 201);
    expect_status(&f, "DELETE", "/v1/devices/0/pools/1", NULL, "c", 404);   /* an error, again */
    expect_status(&f, "GET", "/v1/devices", NULL, "a", 200);                /* no key for GET */
    expect_status(&f, "POST", "/v1/sessions", "{\"devices\":1}", "a", 201); /* no session's key */
    expect_status(&f, "POST", "/v1/sessions", "{\"devices\":1}", "a", 201);
    EXPECT(fixture_metric(f.client, "soma_sessions") == 2, "one session was opened");
    memset(longest, 'k', 255);
    longest[255] = '\0';
    expect_status(&f, "POST", "/v1/devices/0:synchronize", NULL, longest, 200);
    char id[64];
    fixture_open_session(f.client, "{}", id);
    expect_status(&f, "POST", "/v1/devices/0/pools", "{}", "a", 201); /* keys are per session */
    expect_status(&f, "PUT", "/v1/devices/0/pools/1/attributes/releaseThreshold", "{\"value\":5}",
                  "p", 200);
    expect_status(&f, "PUT", "/v1/devices/0/pools/1/attributes/releaseThreshold", "{\"value\":6}",
                  "p", 422);
    fixture_stop(&f);
}

struct racer {
    pthread_t thread;
    struct fixture *f;
    char text[RAW_BYTES];
};

static void *race(void *ctx)
{
    struct racer *racer = ctx;
    exchange(racer->f,
             "POST /v1/sessions HTTP/1.1\r\n" HOST
             "Connection: close\r\nIdempotency-Key: race\r\n\r\n",
             racer->text);
    return NULL;
}

static void test_race(void)
{
    enum { COUNT = 16 };
    struct fixture f;
    struct racer *racers = calloc(COUNT, sizeof(*racers));
    unsigned replays = 0;
    CU_ASSERT_FATAL(racers != NULL);
    fixture_start(&f, NULL);
    for (unsigned i = 0; i < COUNT; i++) {
        racers[i].f = &f;
        CU_ASSERT_FATAL(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        (void)pthread_join(racers[i].thread, NULL);
        EXPECT(raw_status(racers[i].text) == 201 &&
                   strcmp(raw_body(racers[i].text), raw_body(racers[0].text)) == 0,
               "%s", racers[i].text);
        replays += is_replay(racers[i].text);
    }
    EXPECT(replays == COUNT - 1, "%u replays", replays);
    EXPECT(fixture_metric(f.client, "soma_sessions") == 2, "one session was opened");
    free(racers);
    fixture_stop(&f);
}

static bool four_wait(void *ctx)
{
    struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") == 4;
}

static bool none_waits(void *ctx)
{
    struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") == 0;
}

/* The first request waits; the same again waits behind it and gets its answer; one of those goes
 * away meanwhile. */
static void test_behind_a_wait(void)
{
    static const char request[] = "POST /v1/devices/0/streams/1:synchronize HTTP/1.1\r\n" HOST
                                  "Connection: close\r\nIdempotency-Key: w\r\n\r\n";
    static char text[RAW_BYTES];
    struct fixture f;
    int fds[4];
    unsigned replays = 0;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    for (unsigned i = 0; i < 4; i++) {
        fds[i] = raw_connect(soma_server_port(f.server, 0));
        EXPECT(raw_send_text(fds[i], request), "send");
    }
    EXPECT(wait_until(four_wait, &f), "not all wait");
    expect_status(&f, "POST", "/v1/devices/0/streams/1:synchronize", "{}", "w", 422);
    fixture_do(f.client, "POST", "/v1/devices/0/events/1:record", "{\"stream\":0}", 204);
    for (unsigned i = 0; i < 4; i++) {
        EXPECT(raw_read(fds[i], text, NULL, 5000) && raw_status(text) == 200, "%s", text);
        replays += is_replay(text);
        (void)close(fds[i]);
    }
    EXPECT(replays == 3, "%u replays", replays);
    EXPECT(wait_until(none_waits, &f), "some still wait");
    fixture_stop(&f);
}

static bool two_wait(void *ctx)
{
    struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") == 2;
}

/* The client of a list goes away at its wait, which is over soon: whoever comes with its key hears
 * what was run, and whether the rest was. */
static void test_left_in_a_list(void)
{
    enum { ROUNDS = 20 };
    static const char body[] = "{\"commands\":[{\"op\":\"stream.create\"},{\"op\":"
                               "\"stream.synchronize\",\"stream\":1},{\"op\":\"stream.create\"}]}";
    static char request[1024], text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    for (int i = 0; i < ROUNDS; i++) {
        (void)snprintf(request, sizeof(request),
                       "POST /v1/commands HTTP/1.1\r\n" HOST "Connection: close\r\n"
                       "Idempotency-Key: %d\r\nContent-Length: %zu\r\n\r\n%s",
                       i, strlen(body), body);
        int first = raw_connect(soma_server_port(f.server, 0));
        int second = raw_connect(soma_server_port(f.server, 0));
        EXPECT(raw_send_text(first, request) && raw_send_text(second, request), "send");
        EXPECT(wait_until(two_wait, &f), "not both wait");
        (void)close(first);
        sleep_ms(20);
        fixture_do(f.client, "POST", "/v1/devices/0/events/1:record", "{\"stream\":0}", 204);
        EXPECT(raw_read(second, text, NULL, 5000) && raw_status(text) == 200 &&
                   (strstr(text, "CLIENT_GONE") != NULL || strstr(text, "\"completed\":3") != NULL),
               "round %d: %s", i, text);
        (void)close(second);
        fixture_do(f.client, "POST", "/v1/devices/0/events/1:reset", "{\"stream\":0}", 204);
        fixture_do(f.client, "POST", "/v1/devices/0/streams/1:waitEvent", "{\"event\":1}", 204);
    }
    fixture_stop(&f);
}

/* The client of the first goes away: its key is free again, and the next one runs. */
static void test_abandoned(void)
{
    static const char request[] = "POST /v1/devices/0/streams/1:synchronize HTTP/1.1\r\n" HOST
                                  "Connection: close\r\nIdempotency-Key: w\r\n\r\n";
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_block_stream(&f);
    int first = raw_connect(soma_server_port(f.server, 0));
    int second = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(first, request) && raw_send_text(second, request), "send");
    EXPECT(wait_until(two_wait, &f), "not both wait");
    (void)close(first);
    sleep_ms(1500); /* it is noticed within a second */
    fixture_do(f.client, "POST", "/v1/devices/0/events/1:record", "{\"stream\":0}", 204);
    EXPECT(raw_read(second, text, NULL, 5000) && raw_status(text) == 200 && !is_replay(text), "%s",
           text);
    (void)close(second);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"replay", test_replay},
    {"rules", test_rules},
    {"race", test_race},
    {"behind a wait", test_behind_a_wait},
    {"abandoned", test_abandoned},
    {"left in a list", test_left_in_a_list},
    {NULL, NULL},
};
const struct soma_suite suite_http_idempotency = {"http_idempotency", tests};
