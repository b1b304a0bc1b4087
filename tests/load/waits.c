/* soma_waits SOMAD: how soon /readyz answers while 64 requests wait.
 *
 * The requests are synchronises of streams with work of some seconds, in sessions with clock=wall,
 * so they really wait. Prints one line of JSON with the latencies of /readyz on the idle and on the
 * busy server and their ratio. Exit code 0 unless /readyz does not answer within 5 s, or a wait
 * ends wrongly or too soon. */
#include "load.h"
#include "somad_process.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define WAITS 64u
#define SESSIONS 8u
#define WAIT_NS UINT64_C(3000000000)
#define LOOKS 500u
#define LOOKS_PER_CONNECTION                                                                       \
    25u                  /* which of the server's threads has a connection makes a difference */
#define ANSWER_SECONDS 5 /* /readyz has to answer within */

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool fail(const char *what)
{
    (void)fprintf(stderr, "soma_waits: %s\n", what);
    return false;
}

/* ---- asking ---- */

static bool connect_to(struct raw_http *http, const char *url, time_t seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    return (raw_http_connect(http, url) &&
            setsockopt(http->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0) ||
           fail("cannot connect");
}

/* Receive until the answer is there; false when it is not in time. */
static bool hear(struct raw_http *http, struct raw_answer *answer, double until)
{
    enum raw_outcome outcome = RAW_MORE;
    while (outcome == RAW_MORE && now() < until)
        outcome = raw_http_receive(http, answer);
    return outcome == RAW_DONE;
}

static bool say(const struct raw_http *http, const char *method, const char *path,
                const char *session, const char *body)
{
    struct soma_writer text;
    soma_writer_init(&text, 4096);
    load_text_request(&text, method, path, session, NULL, body, body == NULL ? 0 : strlen(body));
    bool good = raw_http_send(http, text.ptr, text.len);
    soma_writer_release(&text);
    return good || fail("cannot send");
}

static bool ask(struct raw_http *http, const char *method, const char *path, const char *session,
                const char *body, int status, struct raw_answer *answer)
{
    return say(http, method, path, session, body) &&
           ((hear(http, answer, now() + 10) && answer->status == status) || fail(path));
}

/* ---- latencies ---- */

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static bool look_over(const char *url, double *latencies, unsigned count)
{
    struct raw_http http = {.fd = -1};
    struct raw_answer answer;
    bool good = connect_to(&http, url, ANSWER_SECONDS);
    for (unsigned i = 0; good && i < count; i++) {
        double start = now();
        good = say(&http, "GET", "/readyz", "", NULL) &&
               ((hear(&http, &answer, start + ANSWER_SECONDS) && answer.status == 200) ||
                fail("/readyz does not answer within 5 s"));
        latencies[i] = (now() - start) * 1e6;
    }
    raw_http_close(&http);
    return good;
}

/* Sorted, in microseconds. */
static bool look(const char *url, double latencies[LOOKS])
{
    bool good = true;
    for (unsigned i = 0; good && i < LOOKS; i += LOOKS_PER_CONNECTION)
        good = look_over(url, latencies + i, LOOKS_PER_CONNECTION);
    qsort(latencies, LOOKS, sizeof(latencies[0]), compare_doubles);
    return good;
}

/* ---- waits ---- */

static bool open_session(struct raw_http *http, char *id)
{
    struct raw_answer answer;
    if (!ask(http, "POST", "/v1/sessions", "", "{\"clock\":\"wall\",\"devices\":1}", 201, &answer))
        return false;
    static const char name[] = "\"session\":\"";
    const char *at = memmem(answer.body, answer.body_len, name, sizeof(name) - 1);
    if (at == NULL)
        return fail("a session without id");
    (void)snprintf(id, LOAD_ID_BYTES, "%.*s", (int)strcspn(at + sizeof(name) - 1, "\""),
                   at + sizeof(name) - 1);
    return true;
}

/* A session whose stream 1 is busy for WAIT_NS from now on. */
static bool make_session(struct raw_http *http, char *id)
{
    struct raw_answer answer;
    char body[64];
    (void)snprintf(body, sizeof(body), "{\"durationNs\":%" PRIu64 "}", WAIT_NS);
    return open_session(http, id) &&
           ask(http, "POST", "/v1/devices/0/streams", id, "{}", 201, &answer) &&
           ask(http, "POST", "/v1/devices/0/streams/1:delay", id, body, 204, &answer);
}

static bool start_waits(const char *url, struct raw_http waits[WAITS], double *earliest)
{
    struct raw_http http = {.fd = -1};
    char ids[SESSIONS][LOAD_ID_BYTES];
    bool good = connect_to(&http, url, 10);
    *earliest = now() + (double)WAIT_NS / 1e9;
    for (unsigned i = 0; good && i < SESSIONS; i++)
        good = make_session(&http, ids[i]);
    for (unsigned i = 0; good && i < WAITS; i++)
        good =
            connect_to(&waits[i], url, 10) &&
            say(&waits[i], "POST", "/v1/devices/0/streams/1:synchronize", ids[i % SESSIONS], "{}");
    raw_http_close(&http);
    return good;
}

/* None of them has been answered. */
static bool all_wait(const struct raw_http waits[WAITS])
{
    for (unsigned i = 0; i < WAITS; i++) {
        struct pollfd ready = {.fd = waits[i].fd, .events = POLLIN};
        if (poll(&ready, 1, 0) != 0)
            return false;
    }
    return true;
}

static bool end_waits(struct raw_http waits[WAITS], double earliest)
{
    static const char complete[] = "{\"status\":\"COMPLETE\"";
    struct raw_answer answer;
    for (unsigned i = 0; i < WAITS; i++) {
        if (!hear(&waits[i], &answer, earliest + 20) || answer.status != 200 ||
            answer.body_len < sizeof(complete) ||
            memcmp(answer.body, complete, sizeof(complete) - 1) != 0)
            return fail("a wait did not end well");
        if (now() < earliest - 0.001)
            return fail("a wait ended before the work");
    }
    return true;
}

static bool run(const char *url)
{
    static double idle[LOOKS], busy[LOOKS];
    struct raw_http waits[WAITS];
    double earliest;
    for (unsigned i = 0; i < WAITS; i++)
        waits[i] = (struct raw_http){.fd = -1};
    bool good =
        look(url, idle) && look(url, idle) && start_waits(url, waits, &earliest) && look(url, busy);
    bool did_wait = good && all_wait(waits);
    good = good && end_waits(waits, earliest);
    for (unsigned i = 0; i < WAITS; i++)
        raw_http_close(&waits[i]);
    if (!good)
        return false;
    (void)printf("{\"waits\":%u,\"allWaited\":%s,\"looks\":%u,\"idleMicroseconds\":{\"p50\":%.0f,"
                 "\"p99\":%.0f,\"max\":%.0f},\"busyMicroseconds\":{\"p50\":%.0f,\"p99\":%.0f,"
                 "\"max\":%.0f},\"ratio\":{\"p50\":%.2f,\"p99\":%.2f}}\n",
                 WAITS, did_wait ? "true" : "false", LOOKS, idle[LOOKS / 2], idle[LOOKS * 99 / 100],
                 idle[LOOKS - 1], busy[LOOKS / 2], busy[LOOKS * 99 / 100], busy[LOOKS - 1],
                 busy[LOOKS / 2] / idle[LOOKS / 2],
                 busy[LOOKS * 99 / 100] / idle[LOOKS * 99 / 100]);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const quiet[] = {"--log-level", "warn", NULL};
    struct somad_process somad;
    if (argc != 2) {
        (void)fputs("usage: soma_waits SOMAD\n", stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    if (!somad_start(&somad, argv[1], NULL, quiet))
        return 1;
    bool good = run(somad.url);
    return somad_stop(&somad) == 0 && good ? 0 : 1;
}
