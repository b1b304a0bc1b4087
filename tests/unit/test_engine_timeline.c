/* Tasks in time: points, flights, queues of blocked streams, waits of the host. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "random.h"
#include "suites.h"

#include <inttypes.h>

static void test_points(void)
{
    static const struct {
        const char *what;
        bool has_point, is_resolved;
        uint64_t time_ns, fallback_ns, now_ns;
        bool is_over;
        uint64_t time;
    } rows[] = {
        {"no point: the time given decides", false, false, 0, 5, 4, false, 5},
        {"no point, in time", false, false, 0, 5, 5, true, 5},
        {"a point without a time is never over", true, false, 0, 5, UINT64_MAX, false, SOMA_NONE},
        {"a point's own time decides", true, true, 7, 5, 6, false, 7},
        {"in time", true, true, 7, 9, 7, true, 7},
    };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct point *point = rows[i].has_point ? point_new(fixture.engine) : NULL;
        if (point != NULL) {
            point->is_resolved = rows[i].is_resolved;
            point->time_ns = rows[i].time_ns;
        }
        EXPECT(point_is_over(point, rows[i].fallback_ns, rows[i].now_ns) == rows[i].is_over,
               "%s: over", rows[i].what);
        EXPECT(point_time(point, rows[i].fallback_ns) == rows[i].time, "%s: time", rows[i].what);
        EXPECT(point_ref(point) == point, "%s: a reference", rows[i].what);
        point_unref(fixture.engine, point);
        point_unref(fixture.engine, point);
    }
    fixture_finish(&fixture, "points");
}

/* ---- the end of time ---- */

#define END (UINT64_C(1) << 62)

static void test_time_add(void)
{
    static const struct {
        uint64_t time_ns, span_ns, wanted;
    } rows[] = {
        {0, 0, 0},
        {5, 7, 12},
        {END - 1, 0, END - 1},
        {END - 2, 1, END - 1},
        {END - 1, 1, END},
        {END - 1, 2, END},
        {END, 0, END},
        {END, 1, END},
        {0, UINT64_MAX, END},
        {UINT64_MAX, 0, END},
        {UINT64_MAX, UINT64_MAX, END},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        EXPECT(time_add(rows[i].time_ns, rows[i].span_ns) == rows[i].wanted,
               "%" PRIu64 " and %" PRIu64 " is %" PRIu64, rows[i].time_ns, rows[i].span_ns,
               time_add(rows[i].time_ns, rows[i].span_ns));
}

/* As many of the longest tasks, or time-outs, as it takes: time stops and everything goes on. */
static void test_end_of_time(void)
{
    static const struct {
        const char *begin, *step;
    } rows[] = {
        {"device.get", "stream.delay stream=0 durationNs=1000000000000000"},
        {"stream.create\nevent.create kind=PLAIN\nevent.reset event=1 stream=0\n"
         "stream.waitEvent stream=1 event=1",
         "!stream.synchronize stream=1 timeoutMs=2147483647"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture fixture;
        if (!EXPECT(fixture_start(&fixture, NULL), "start"))
            return;
        (void)fixture_script(&fixture, rows[i].step, rows[i].begin);
        for (int n = 0; n < 4700; n++)
            (void)fixture_run(&fixture, "%s", rows[i].step);
        (void)fixture_script(&fixture, rows[i].step,
                             "stream.synchronize stream=0 -> now=4611686018427387904\n"
                             "stream.get stream=0 -> status=COMPLETE pendingTasks=0\n"
                             "stream.delay stream=0 durationNs=5\n"
                             "stream.get stream=0 -> status=COMPLETE\n"
                             "a: memory.malloc size=1g\n"
                             "memory.set ptr=$a value=1 size=9\n"
                             "memory.freeAsync ptr=$a\n"
                             "memory.info -> now=4611686018427387904 freeBytes=64g");
        fixture_finish(&fixture, rows[i].step);
    }
}

/* ---- many tasks against a list of their ends ---- */

enum { TASKS = 400 };

struct plain_stream {
    uint64_t ends[TASKS];
    size_t count;
    uint64_t ready_ns;
};

static size_t pending_at(const struct plain_stream *stream, uint64_t now_ns)
{
    size_t pending = 0;
    for (size_t i = 0; i < stream->count; i++)
        pending += stream->ends[i] > now_ns;
    return pending;
}

static void test_random_tasks(void)
{
    static struct plain_stream plain;
    struct fixture fixture;
    struct random_source source = {11};
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    plain.count = 0;
    plain.ready_ns = 0;
    while (plain.count < TASKS) {
        if (random_below(&source, 3) < 2) {
            uint64_t cost_ns = random_below(&source, 4) * 700 * random_below(&source, 4);
            (void)fixture_run(&fixture, "stream.delay stream=0 durationNs=%" PRIu64, cost_ns);
            uint64_t now_ns = engine_now_ns(fixture.engine);
            plain.ready_ns = (plain.ready_ns > now_ns ? plain.ready_ns : now_ns) + cost_ns;
            plain.ends[plain.count++] = plain.ready_ns;
        } else {
            (void)fixture_run(&fixture, "stream.get stream=0");
            uint64_t now_ns = engine_now_ns(fixture.engine);
            EXPECT(fixture_number(&fixture, "pendingTasks") == pending_at(&plain, now_ns) &&
                       fixture_number(&fixture, "readyAtNs") == plain.ready_ns,
                   "task %zu at %" PRIu64 " ns", plain.count, now_ns);
        }
    }
    (void)fixture_run(&fixture, "stream.synchronize stream=0");
    EXPECT(engine_now_ns(fixture.engine) >= plain.ready_ns, "synchronised");
    fixture_finish(&fixture, "random tasks");
}

/* ---- queues ---- */

/* Stream 1 waits for event 1, which was reset. */
#define BLOCKED_1                                                                                  \
    "stream.create -> stream=1\n"                                                                  \
    "event.create kind=PLAIN -> event=1\n"                                                         \
    "event.reset event=1 stream=0\n"                                                               \
    "stream.waitEvent stream=1 event=1 -> now=4us\n"

/* clang-format off */
static const struct scene queue_scenes[] = {
    {"every kind of task queues up behind a wait, and takes its own time when that ends",
     BLOCKED_1
     "pool.create maxSize=8g -> pool=1\n"
     "a: memory.malloc size=400000\n"
     "b: pool.malloc pool=1 size=1 stream=1\n"
     "stream.delay stream=1 durationNs=1us\n"
     "memory.set ptr=$a value=1 size=400000 stream=1\n"
     "memory.copy dst=$a src=$a size=400000 stream=1\n"
     "memory.write ptr=$a base64=a stream=1\n"
     "memory.read ptr=$a size=24000 stream=1\n"
     "stream.launchKernel stream=1 kernel=poke args=$a\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "memory.freeAsync ptr=$a stream=1\n"
     "stream.get stream=1 -> pendingTasks=10 readyAtNs=none\n"
     "event.record event=1 stream=0 -> now=17us\n"
     "stream.get stream=1 -> pendingTasks=7 readyAtNs=18us+5500+6us+10us+11us+17us"},
    {"the queue is in order: a later, shorter task does not overtake",
     BLOCKED_1
     "stream.delay stream=1 durationNs=10us\n"
     "event.create -> event=2\n"
     "event.record event=2 stream=1\n"
     "stream.delay stream=1 durationNs=1us\n"
     "event.record event=1 stream=0 -> now=9us\n"
     "event.synchronize event=2 -> nowNs=19us\n"
     "stream.synchronize stream=1 -> nowNs=20us"},
    {"a task with nothing to wait for goes behind the queue",
     BLOCKED_1
     "event.create -> event=2\n"
     "event.record event=2 stream=0\n"
     "stream.waitEvent stream=1 event=2\n"
     "stream.get stream=1 -> pendingTasks=2 readyAtNs=none"},
    {"a wait behind the queue for what has a known time keeps that time",
     BLOCKED_1
     "event.create -> event=2\n"
     "stream.create -> stream=2\n"
     "stream.delay stream=2 durationNs=90us -> now=7us\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=1 event=2\n"
     "event.record event=1 stream=0\n"
     "stream.get stream=1 -> readyAtNs=97us"},
    {"work before the wait ends when it would have ended",
     "stream.create -> stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.delay stream=1 durationNs=3us -> now=4us\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.get stream=1 -> pendingTasks=2 now=6us\n"
     "stream.get stream=1 -> pendingTasks=1 now=7us readyAtNs=none"},
    {"many tasks behind a wait",
     BLOCKED_1
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.get stream=1 -> pendingTasks=11\n"
     "event.record event=1 stream=0 -> now=16us\n"
     "stream.get stream=1 -> pendingTasks=10 readyAtNs=116us\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1\n"
     "stream.get stream=1 -> pendingTasks=9 now=26us"},
};
/* clang-format on */

static void test_queues(void)
{
    RUN_SCENES(queue_scenes);
}

/* Memory runs out while a record gives queued tasks their times: the next command goes on. */
static void test_resolve_again(void)
{
    bool has_failed = false, had_to_again = false;
    for (long n = 1; n <= 8; n++) {
        struct fixture fixture;
        if (!EXPECT(fixture_start(&fixture, NULL), "start"))
            return;
        (void)fixture_script(&fixture, "six tasks behind a wait",
                             BLOCKED_1 "stream.delay stream=1 durationNs=10us\n"
                                       "stream.delay stream=1 durationNs=10us\n"
                                       "stream.delay stream=1 durationNs=10us\n"
                                       "stream.delay stream=1 durationNs=10us\n"
                                       "stream.delay stream=1 durationNs=10us\n"
                                       "stream.delay stream=1 durationNs=10us\n");
        fixture.memory.fail_at = fixture.memory.allocations + n;
        fixture.memory.fail_more = 100;
        enum soma_status status = fixture_run(&fixture, "event.record event=1 stream=0");
        fixture.memory.fail_at = 0;
        has_failed |= fixture.memory.has_failed;
        had_to_again |= fixture.engine->resolve_again;
        EXPECT(status == SOMA_OK || status == SOMA_OUT_OF_MEMORY, "allocation %ld: status %d", n,
               (int)status);
        if (status != SOMA_OK)
            (void)fixture_run(&fixture, "event.record event=1 stream=0");
        (void)fixture_script(&fixture, "the tasks have their times",
                             "stream.get stream=1 -> readyAtNs=71us pendingTasks=6\n");
        EXPECT(!fixture.engine->resolve_again, "there is nothing left to do");
        (void)fixture_script(&fixture, "and they hold",
                             "stream.synchronize stream=1 -> nowNs=71us");
        fixture_finish(&fixture, "memory runs out in a record");
    }
    EXPECT(has_failed && had_to_again, "the case was met");
}

static const struct soma_test tests[] = {
    {"points", test_points},
    {"adding times", test_time_add},
    {"the end of time", test_end_of_time},
    {"random tasks", test_random_tasks},
    {"queues", test_queues},
    {"memory runs out in a record", test_resolve_again},
    {NULL, NULL},
};

const struct soma_suite suite_engine_timeline = {"engine_timeline", tests};
