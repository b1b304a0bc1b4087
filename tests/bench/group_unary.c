/* One :malloc and one :free, each a request of its own, over connections that are kept alive:
 * beside the constant handlers of the same daemon, and beside gRPC's unary calls.
 *
 * Every connection has a pool and a stream of its own in the session `default`, so that each answer
 * is known byte for byte, and is compared. One thread drives all connections. Client, server and
 * the peer share the machine. */
#include "bench.h"
#include "grpc_peer.h"
#include "raw_http.h"
#include "service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CONNECTIONS_MAX 8u
#define REQUEST_BYTES 256u
#define ANSWER_BYTES 128u
#define SLICES 5u       /* of a round */
#define CLOCK_EVERY 64u /* answers between two looks at the clock */

struct text {
    char ptr[REQUEST_BYTES];
    size_t len;
};

/* What one connection says and hears. */
struct talk {
    struct text requests[2];       /* malloc, free */
    char answers[2][ANSWER_BYTES]; /* of the server */
    const char *constants[2];      /* of the constant handler */
};

struct unary {
    struct service service;
    struct grpc_peer grpc;
    struct talk talks[CONNECTIONS_MAX];
};

/* ---- preparing ---- */

static void make_request(struct text *request, const char *path, const char *body)
{
    int len = snprintf(request->ptr, sizeof(request->ptr),
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       path, strlen(body), body);
    request->len = (size_t)len < sizeof(request->ptr) ? (size_t)len : 0;
}

static bool is_body(const struct raw_answer *answer, const char *text)
{
    return answer->body_len == strlen(text) && memcmp(answer->body, text, answer->body_len) == 0;
}

static bool ask(struct raw_http *http, const char *path, const char *body, int status,
                struct raw_answer *answer)
{
    struct text request;
    make_request(&request, path, body);
    return (raw_http_exchange(http, request.ptr, request.len, answer) &&
            answer->status == status) ||
           bench_fail("POST %s was not answered with %d", path, status);
}

/* Copies the value of "name":"..." of the answer. */
static bool read_word(const struct raw_answer *answer, const char *name, char *word, size_t bytes)
{
    const char *at = memmem(answer->body, answer->body_len, name, strlen(name));
    size_t left = at == NULL ? 0 : answer->body_len - (size_t)(at - answer->body) - strlen(name);
    const char *end = at == NULL ? NULL : memchr(at + strlen(name), '"', left);
    if (end == NULL || (size_t)(end - at) - strlen(name) >= bytes)
        return bench_fail("%s is not in the answer", name);
    (void)snprintf(word, bytes, "%.*s", (int)((size_t)(end - at) - strlen(name)),
                   at + strlen(name));
    return true;
}

static bool make_talk(struct raw_http *http, unsigned index, struct talk *talk)
{
    char path[64], body[96], address[32];
    struct raw_answer answer;
    unsigned id = index + 1; /* ids count up from 1 */
    if (!ask(http, "/v1/devices/0/streams", "", 201, &answer) ||
        !ask(http, "/v1/devices/0/pools", "{\"maxSize\":\"64MiB\"}", 201, &answer) ||
        !read_word(&answer, "\"baseAddress\":\"", address, sizeof(address)))
        return false;
    (void)snprintf(path, sizeof(path), "/v1/devices/0/pools/%u:malloc", id);
    (void)snprintf(body, sizeof(body), "{\"size\":4096,\"stream\":%u}", id);
    make_request(&talk->requests[0], path, body);
    (void)snprintf(talk->answers[0], ANSWER_BYTES,
                   "{\"ptr\":\"%s\",\"size\":2097152,\"requestedSize\":4096,"
                   "\"reuse\":\"SAME_STREAM\"}",
                   address);
    talk->constants[0] = service_malloc_answer;
    /* The first block is fresh; all the others are this one again. */
    if (!ask(http, path, body, 200, &answer))
        return false;
    (void)snprintf(path, sizeof(path), "/v1/devices/0/pools/%u:free", id);
    (void)snprintf(body, sizeof(body), "{\"ptr\":\"%s\",\"stream\":%u}", address, id);
    make_request(&talk->requests[1], path, body);
    (void)snprintf(talk->answers[1], ANSWER_BYTES, "{\"size\":2097152}");
    talk->constants[1] = service_free_answer;
    return ask(http, path, body, 200, &answer) &&
           (strlen(talk->answers[0]) == strlen(talk->constants[0]) ||
            bench_fail("the constant has another length than %s", talk->answers[0]));
}

static bool make_talks(struct unary *unary)
{
    struct raw_http http = {.fd = -1};
    bool good = raw_http_connect(&http, unary->service.url) || bench_fail("no connection");
    for (unsigned i = 0; good && i < CONNECTIONS_MAX; i++)
        good = make_talk(&http, i, &unary->talks[i]);
    raw_http_close(&http);
    return good;
}

/* ---- driving ---- */

struct line {
    struct raw_http http;
    const struct talk *talk;
    unsigned turn; /* 0: malloc, 1: free */
};

struct run {
    struct line lines[CONNECTIONS_MAX];
    unsigned count;
    int epoll;
    bool is_constant;
    uint64_t answers;
};

/* What a subject came to in each slice of a round: pairs per second, and microseconds of the
 * server's processor time per pair. */
struct tally {
    struct bench_series rates, cpu;
};

static const char *expected(const struct run *run, const struct line *line)
{
    return run->is_constant ? line->talk->constants[line->turn] : line->talk->answers[line->turn];
}

static bool send_next(struct line *line)
{
    const struct text *request = &line->talk->requests[line->turn];
    return raw_http_send(&line->http, request->ptr, request->len) || bench_fail("cannot send");
}

static bool take_answer(struct run *run, struct line *line, const struct raw_answer *answer)
{
    if (answer->status != 200 || !is_body(answer, expected(run, line)))
        return bench_fail("answered %d %.*s, expected %s", answer->status, (int)answer->body_len,
                          answer->body, expected(run, line));
    line->turn ^= 1;
    run->answers++;
    return true;
}

/* One connection: a blocking socket. Stops behind a free. */
static bool drive_one(struct run *run, double until)
{
    struct line *line = &run->lines[0];
    struct raw_answer answer;
    do {
        for (unsigned i = 0; i < CLOCK_EVERY; i++) {
            const struct text *request = &line->talk->requests[line->turn];
            if (!raw_http_exchange(&line->http, request->ptr, request->len, &answer))
                return bench_fail("the connection was lost");
            if (!take_answer(run, line, &answer))
                return false;
        }
    } while (bench_now() < until);
    return true;
}

static bool on_readable(struct run *run, struct line *line, bool goes_on, unsigned *busy)
{
    struct raw_answer answer;
    enum raw_outcome outcome = raw_http_receive(&line->http, &answer);
    if (outcome == RAW_MORE)
        return true;
    if (outcome == RAW_BAD)
        return bench_fail("the connection was lost");
    if (!take_answer(run, line, &answer))
        return false;
    if (goes_on || line->turn == 1)
        return send_next(line);
    (*busy)--;
    return true;
}

static bool drive_many(struct run *run, double until)
{
    struct epoll_event events[CONNECTIONS_MAX];
    unsigned busy = run->count;
    bool goes_on = true;
    for (unsigned i = 0; i < run->count; i++) {
        if (!send_next(&run->lines[i]))
            return false;
    }
    while (busy > 0) {
        int ready = epoll_wait(run->epoll, events, (int)run->count, 5000);
        if (ready <= 0)
            return bench_fail("no answer within 5 s");
        goes_on = goes_on && bench_now() < until;
        for (int i = 0; i < ready; i++) {
            if (!on_readable(run, &run->lines[events[i].data.u32], goes_on, &busy))
                return false;
        }
    }
    return true;
}

static bool connect_lines(struct run *run, const struct unary *unary, const char *url)
{
    for (unsigned i = 0; i < run->count; i++) {
        struct line *line = &run->lines[i];
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        line->talk = &unary->talks[i];
        if (!raw_http_connect(&line->http, url) ||
            (run->count > 1 && (!raw_http_set_nonblocking(&line->http) ||
                                epoll_ctl(run->epoll, EPOLL_CTL_ADD, line->http.fd, &event) != 0)))
            return bench_fail("cannot connect to %s", url);
    }
    return true;
}

/* Call pairs at this address for some time. */
static bool measure(const struct unary *unary, const char *url, unsigned count, double seconds,
                    struct tally *tally)
{
    struct run run = {
        .count = count, .is_constant = url != unary->service.url, .epoll = epoll_create1(0)};
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        run.lines[i].http.fd = -1;
    bool good = connect_lines(&run, unary, url);
    double cpu = service_cpu(&unary->service), start = bench_now();
    if (good)
        good = count == 1 ? drive_one(&run, start + seconds) : drive_many(&run, start + seconds);
    double elapsed = bench_now() - start, pairs = (double)run.answers / 2;
    if (good) {
        bench_series_add(&tally->rates, pairs / elapsed);
        bench_series_add(&tally->cpu, (service_cpu(&unary->service) - cpu) * 1e6 / pairs);
    }
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        raw_http_close(&run.lines[i].http);
    (void)close(run.epoll);
    return good;
}

/* ---- rows ---- */

enum { SERVER, CONSTANT, PREPARED, SUBJECTS };

struct names {
    unsigned connections;
    const char *constant, *prepared, *cpu, *grpc;
    double grpc_goal;
};

struct figures {
    struct bench_series rates[SUBJECTS], cpu[SUBJECTS], grpc;
};

/* The subjects take turns in short slices, of which the median counts: where the scheduler puts
 * client and server, and what else the machine does, makes more of a difference than they do. */
static bool measure_round(struct bench *bench, struct unary *unary, unsigned connections,
                          struct figures *figures)
{
    const char *const urls[SUBJECTS] = {unary->service.url, unary->service.constant_url,
                                        unary->service.prepared_url};
    struct tally tallies[SUBJECTS];
    bool good = true;
    memset(tallies, 0, sizeof(tallies));
    for (unsigned slice = 0; slice < SLICES; slice++) {
        for (unsigned i = 0; good && i < SUBJECTS; i++)
            good =
                measure(unary, urls[i], connections, bench->options.seconds / SLICES, &tallies[i]);
    }
    if (good && bench->options.grpc != NULL)
        good = grpc_peer_measure(&unary->grpc, connections, bench->options.seconds, &figures->grpc);
    for (unsigned i = 0; good && i < SUBJECTS; i++) {
        bench_series_add(&figures->rates[i], bench_series_median(&tallies[i].rates));
        bench_series_add(&figures->cpu[i], bench_series_median(&tallies[i].cpu));
    }
    return good;
}

static void add_row(struct bench *bench, const char *name, const char *unit, const char *peer,
                    enum bench_goal goal, double goal_ratio, const struct bench_series *values,
                    const struct bench_series *peer_values)
{
    struct bench_row row = {.name = name,
                            .unit = unit,
                            .peer = peer,
                            .goal = goal,
                            .goal_ratio = goal_ratio,
                            .values = *values,
                            .peer_values = *peer_values};
    bench_add(bench, &row);
}

static bool measure_names(struct bench *bench, struct unary *unary, const struct names *names)
{
    static const char constant[] = "a constant handler, same daemon options";
    struct figures figures;
    memset(&figures, 0, sizeof(figures));
    for (unsigned round = 0; round < bench->options.rounds; round++) {
        if (!measure_round(bench, unary, names->connections, &figures))
            return false;
    }
    add_row(bench, names->constant, "pairs/s", constant, BENCH_AT_LEAST, 0.9,
            &figures.rates[SERVER], &figures.rates[CONSTANT]);
    add_row(bench, names->prepared, "pairs/s", "the same, its responses made beforehand",
            BENCH_NO_GOAL, 0, &figures.rates[SERVER], &figures.rates[PREPARED]);
    add_row(bench, names->cpu, "us/pair", constant, BENCH_NO_GOAL, 0, &figures.cpu[SERVER],
            &figures.cpu[CONSTANT]);
    if (bench->options.grpc != NULL)
        add_row(bench, names->grpc, "pairs/s", "gRPC C++ unary, as many connections",
                BENCH_AT_LEAST, names->grpc_goal, &figures.rates[SERVER], &figures.grpc);
    return true;
}

bool group_unary(struct bench *bench)
{
    static const struct names rows[] = {
        {1, "unary.pairs.1.constant", "unary.pairs.1.prepared", "unary.cpu.1.constant",
         "unary.pairs.1.grpc", 1.2},
        {8, "unary.pairs.8.constant", "unary.pairs.8.prepared", "unary.cpu.8.constant",
         "unary.pairs.8.grpc", 2.5},
    };
    struct unary unary;
    memset(&unary, 0, sizeof(unary));
    if (!service_start(&unary.service))
        return false;
    bool good = bench->options.grpc == NULL || grpc_peer_start(&unary.grpc, bench->options.grpc);
    good = good && make_talks(&unary);
    for (size_t i = 0; good && i < sizeof(rows) / sizeof(rows[0]); i++)
        good = measure_names(bench, &unary, &rows[i]);
    grpc_peer_stop(&unary.grpc);
    service_stop(&unary.service);
    return good;
}
