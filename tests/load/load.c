/* soma_load SOMAD [--seconds N] [--connections N] [--sessions N] [--seed N] [--commands N]
 *           [--growth MIB]
 *
 * Drives a somad of its own over many connections in many sessions with random commands, checks
 * every session against the model (load.h), and looks at the server's memory and descriptors
 * before and after. Prints one line of JSON. Exit code 0 only when nothing was wrong. */
#include "load.h"
#include "somad_process.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_MS 20000    /* without any answer: something hangs */
#define SETTLE_MS 5000      /* for the server to notice that connections were closed */
#define CHURN_REQUESTS 300u /* a connection is renewed after about so many requests */

struct options {
    const char *somad;
    double seconds;
    uint32_t connections, sessions, commands;
    uint64_t seed;
    uint64_t
        growth_bytes; /* resident memory may be so much more than after a first, shorter load */
};

struct connection {
    struct raw_http http;
    struct load_session *session;
    uint32_t lane;
    uint32_t requests_left; /* until it is renewed */
    bool is_busy;
};

struct drive {
    const struct options *options;
    const char *url;
    int epoll;
    struct connection *connections;
    struct load_session *sessions;
    uint32_t lanes; /* of a session */
    uint32_t over;  /* sessions that ended and were not followed by another */
    uint64_t next_seed;
    double until;
    struct random_source random;
    struct load_totals totals;
};

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- connections ---- */

static bool open_connection(struct drive *drive, struct connection *conn)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
    conn->requests_left = 1 + (uint32_t)random_below(&drive->random, 2 * CHURN_REQUESTS);
    return (raw_http_connect(&conn->http, drive->url) && raw_http_set_nonblocking(&conn->http) &&
            epoll_ctl(drive->epoll, EPOLL_CTL_ADD, conn->http.fd, &event) == 0) ||
           load_fail(conn->session, "cannot connect to %s", drive->url);
}

static bool renew(struct drive *drive, struct connection *conn)
{
    if (conn->requests_left-- > 1)
        return true;
    raw_http_close(&conn->http);
    return open_connection(drive, conn);
}

/* Send what the lane has to send, if anything. */
static bool kick(struct drive *drive, struct connection *conn)
{
    bool is_late = now() >= drive->until;
    if (conn->is_busy || !load_session_next(conn->session, conn->lane, is_late))
        return true;
    if (!renew(drive, conn))
        return false;
    const struct soma_writer *text = &conn->session->lanes[conn->lane].text;
    conn->is_busy = true;
    return raw_http_send(&conn->http, text->ptr, text->len) ||
           load_fail(conn->session, "a request could not be sent");
}

static void begin_session(struct drive *drive, struct load_session *session)
{
    const struct load_kind *kind = drive->next_seed % 2 == 0 ? &load_stamped : &load_apart;
    load_session_begin(session, kind, drive->next_seed++, drive->lanes, drive->options->commands);
}

/* After an answer: the lane goes on, and when the stage has changed all of them do. */
static bool go_on(struct drive *drive, struct connection *conn, enum load_stage before)
{
    struct load_session *session = conn->session;
    struct connection *first = conn - conn->lane;
    if (session->stage == LOAD_OVER && now() < drive->until)
        begin_session(drive, session);
    else if (session->stage == LOAD_OVER)
        drive->over++;
    if (!kick(drive, conn))
        return false;
    for (uint32_t i = 0; session->stage != before && i < drive->lanes; i++) {
        if (!kick(drive, &first[i]))
            return false;
    }
    return true;
}

static bool on_readable(struct drive *drive, struct connection *conn)
{
    struct raw_answer answer;
    enum load_stage before = conn->session->stage;
    enum raw_outcome outcome = raw_http_receive(&conn->http, &answer);
    if (outcome == RAW_MORE)
        return true;
    if (outcome == RAW_BAD)
        return load_fail(conn->session, "a connection was lost");
    conn->is_busy = false;
    return load_session_take(conn->session, conn->lane, &answer, &drive->totals) &&
           go_on(drive, conn, before);
}

/* ---- a load ---- */

static bool start(struct drive *drive)
{
    const struct options *options = drive->options;
    for (uint32_t i = 0; i < options->sessions; i++)
        begin_session(drive, &drive->sessions[i]);
    for (uint32_t i = 0; i < options->connections; i++) {
        struct connection *conn = &drive->connections[i];
        conn->http.fd = -1;
        conn->session = &drive->sessions[i / drive->lanes];
        conn->lane = i % drive->lanes;
        if (!open_connection(drive, conn))
            return false;
    }
    for (uint32_t i = 0; i < options->connections; i++) {
        if (!kick(drive, &drive->connections[i]))
            return false;
    }
    return true;
}

static bool run(struct drive *drive)
{
    struct epoll_event events[256];
    while (drive->over < drive->options->sessions) {
        int ready = epoll_wait(drive->epoll, events, 256, SILENCE_MS);
        if (ready <= 0)
            return load_fail(drive->sessions, "no answer for %d s", SILENCE_MS / 1000);
        for (int i = 0; i < ready; i++) {
            if (!on_readable(drive, events[i].data.ptr))
                return false;
        }
    }
    return true;
}

static void release(struct drive *drive)
{
    for (uint32_t i = 0; drive->connections != NULL && i < drive->options->connections; i++)
        raw_http_close(&drive->connections[i].http);
    for (uint32_t i = 0; drive->sessions != NULL && i < drive->options->sessions; i++)
        load_session_release(&drive->sessions[i]);
    free(drive->connections);
    free(drive->sessions);
    (void)close(drive->epoll);
}

static bool load(const struct options *options, const char *url, double seconds, uint64_t seed,
                 struct load_totals *totals)
{
    struct drive drive = {.options = options,
                          .url = url,
                          .epoll = epoll_create1(EPOLL_CLOEXEC),
                          .lanes = options->connections / options->sessions,
                          .next_seed = seed,
                          .random = {seed},
                          .until = now() + seconds};
    drive.connections = calloc(options->connections, sizeof(*drive.connections));
    drive.sessions = calloc(options->sessions, sizeof(*drive.sessions));
    if (drive.connections == NULL || drive.sessions == NULL)
        abort();
    bool good = start(&drive) && run(&drive);
    *totals = drive.totals;
    release(&drive);
    return good;
}

/* ---- before and after ---- */

struct sight {
    uint64_t resident_bytes, descriptors;
};

/* Wait until the server has closed what was closed. */
static struct sight look(const struct somad_process *somad, uint64_t descriptors)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    double until = now() + SETTLE_MS / 1000.0;
    while (process_descriptors(somad->pid) > descriptors && now() < until)
        (void)nanosleep(&pause, NULL);
    return (struct sight){process_resident_bytes(somad->pid), process_descriptors(somad->pid)};
}

static bool compare(const struct options *options, const struct sight *start,
                    const struct sight *before, const struct sight *after)
{
    bool good = true;
    if (before->descriptors != start->descriptors || after->descriptors != start->descriptors) {
        (void)fprintf(stderr,
                      "soma_load: descriptors: %" PRIu64 " at start, %" PRIu64 " and %" PRIu64
                      " after loads\n",
                      start->descriptors, before->descriptors, after->descriptors);
        good = false;
    }
    if (after->resident_bytes > before->resident_bytes + options->growth_bytes) {
        (void)fprintf(stderr,
                      "soma_load: resident memory grew from %" PRIu64 " to %" PRIu64 " bytes\n",
                      before->resident_bytes, after->resident_bytes);
        good = false;
    }
    return good;
}

static bool load_twice(const struct options *options, const struct somad_process *somad)
{
    struct load_totals totals, first;
    struct sight start = look(somad, 0);
    bool good = load(options, somad->url, options->seconds / 4, options->seed, &first);
    struct sight before = look(somad, start.descriptors);
    double started = now();
    good = good && load(options, somad->url, options->seconds, options->seed + 1000000, &totals);
    if (!good)
        return false;
    double elapsed = now() - started;
    struct sight after = look(somad, start.descriptors);
    good = compare(options, &start, &before, &after);
    (void)printf("{\"seconds\":%.1f,\"connections\":%u,\"sessionsAtATime\":%u,\"sessions\":%" PRIu64
                 ",\"requests\":%" PRIu64 ",\"commands\":%" PRIu64 ",\"refused\":%" PRIu64
                 ",\"replays\":%" PRIu64 ",\"looks\":%" PRIu64 ",\"requestsPerSecond\":%.0f"
                 ",\"descriptors\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64
                 "],\"residentBytes\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]}\n",
                 elapsed, options->connections, options->sessions, totals.sessions, totals.requests,
                 totals.commands, totals.refused, totals.replays, totals.asides,
                 (double)totals.requests / elapsed, start.descriptors, before.descriptors,
                 after.descriptors, start.resident_bytes, before.resident_bytes,
                 after.resident_bytes);
    return good;
}

/* ---- options ---- */

static bool read_number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return *text != '\0' && *end == '\0' && *value >= 1 && *value <= max;
}

static bool read_options(struct options *options, int argc, char **argv)
{
    uint64_t value;
    *options = (struct options){.seconds = 20,
                                .connections = 1000,
                                .sessions = 100,
                                .commands = 2000,
                                .seed = 1,
                                .growth_bytes = UINT64_C(16) << 20};
    if (argc < 2 || argv[1][0] == '-')
        return false;
    options->somad = argv[1];
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 == argc || !read_number(argv[i + 1], 1000000000, &value))
            return false;
        if (strcmp(argv[i], "--seconds") == 0)
            options->seconds = (double)value;
        else if (strcmp(argv[i], "--connections") == 0)
            options->connections = (uint32_t)value;
        else if (strcmp(argv[i], "--sessions") == 0)
            options->sessions = (uint32_t)value;
        else if (strcmp(argv[i], "--commands") == 0)
            options->commands = (uint32_t)value;
        else if (strcmp(argv[i], "--seed") == 0)
            options->seed = value;
        else if (strcmp(argv[i], "--growth") == 0)
            options->growth_bytes = value << 20;
        else
            return false;
    }
    uint32_t lanes = options->connections / options->sessions;
    return lanes >= 1 && lanes <= LOAD_LANES_MAX &&
           options->connections == lanes * options->sessions;
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    static const char *const quiet[] = {"--log-level", "warn", NULL};
    struct options options;
    struct somad_process somad;
    if (!read_options(&options, argc, argv)) {
        (void)fputs("usage: soma_load SOMAD [--seconds N] [--connections N] [--sessions N]\n"
                    "                 [--commands N] [--seed N] [--growth MIB]\n"
                    "  connections: 1 to 16 for each session\n",
                    stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    if (!somad_start(&somad, options.somad, NULL, quiet))
        return 1;
    bool good = load_twice(&options, &somad);
    int code = somad_stop(&somad);
    if (code != 0)
        (void)fprintf(stderr, "soma_load: somad ended with %d\n", code);
    return good && code == 0 ? 0 : 1;
}
