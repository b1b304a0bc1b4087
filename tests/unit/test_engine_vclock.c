/* Vector clocks: joins against arrays, and what streams know after chains of records and waits. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "random.h"
#include "suites.h"

#include <inttypes.h>
#include <string.h>

/* ---- joins ---- */

enum { KEYS = 10, JOINS = 3000 };

/* The keys that the joins use: stream 0 of both devices, streams 1..6, and two that never were. */
static const uint64_t keys[KEYS] = {1,
                                    2,
                                    SOMA_DEVICES_MAX + 1,
                                    SOMA_DEVICES_MAX + 2,
                                    SOMA_DEVICES_MAX + 3,
                                    SOMA_DEVICES_MAX + 4,
                                    SOMA_DEVICES_MAX + 5,
                                    SOMA_DEVICES_MAX + 6,
                                    SOMA_DEVICES_MAX + 7,
                                    SOMA_DEVICES_MAX + 90};

/* A clock with what stands in positions (0: nothing); by the engine's own join, an entry a time. */
static struct vclock *clock_of(struct engine *engine, const uint64_t *positions)
{
    struct vclock *clock = NULL;
    for (size_t i = 0; i < KEYS; i++) {
        struct vclock *next = NULL;
        if (positions[i] == 0)
            continue;
        if (!vclock_join(engine, clock, NULL, keys[i], positions[i], 0, &next))
            return clock;
        vclock_unref(engine, clock);
        clock = next;
    }
    return clock;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Does the clock say exactly this, in ascending order and without entries that say nothing? */
static void expect_clock(const struct vclock *clock, const uint64_t *positions, const char *what)
{
    size_t wanted = 0;
    for (size_t i = 0; i < KEYS; i++) {
        wanted += positions[i] != 0;
        EXPECT(vclock_get(clock, keys[i]) == positions[i],
               "%s: key %" PRIu64 " is %" PRIu64 ", not "
               "%" PRIu64,
               what, keys[i], vclock_get(clock, keys[i]), positions[i]);
    }
    size_t count = clock == NULL ? 0 : clock->count;
    EXPECT(count == wanted, "%s: %zu entries, not %zu", what, count, wanted);
    for (size_t i = 1; i < count; i++)
        EXPECT(clock->entries[i - 1].stream_key < clock->entries[i].stream_key, "%s: order", what);
}

/* Random positions, few of them, only of streams that are there (the first eight keys). */
static void random_positions(struct random_source *source, uint64_t *positions)
{
    memset(positions, 0, KEYS * sizeof(*positions));
    for (size_t i = 0; i < 8; i++)
        positions[i] = random_below(source, 2) == 0 ? 0 : random_below(source, 5);
}

static void join_once(struct fixture *fixture, struct random_source *source)
{
    struct engine *engine = fixture->engine;
    uint64_t a_positions[KEYS], b_positions[KEYS], wanted[KEYS];
    random_positions(source, a_positions);
    random_positions(source, b_positions);
    uint64_t self = keys[random_below(source, KEYS)];
    size_t extra = (size_t)random_below(source, KEYS + 1);
    uint64_t position = 1 + random_below(source, 6);
    struct vclock *a = clock_of(engine, a_positions), *b = clock_of(engine, b_positions), *out;
    for (size_t i = 0; i < KEYS; i++) {
        wanted[i] = larger(a_positions[i], b_positions[i]);
        if (i == extra)
            wanted[i] = larger(wanted[i], position);
        if (i >= 8) /* such a stream never was */
            wanted[i] = 0;
    }
    /* A stream's clock never names the stream itself, so neither does a. */
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i] == self && a_positions[i] == 0)
            wanted[i] = 0;
        else if (keys[i] == self)
            self = 0;
    }
    bool good = vclock_join(engine, a, b, extra < KEYS ? keys[extra] : 0,
                            extra < KEYS ? position : 0, self, &out);
    if (EXPECT(good, "a join"))
        expect_clock(out, wanted, "a join");
    vclock_unref(engine, a);
    vclock_unref(engine, b);
    vclock_unref(engine, out);
}

static void test_join_random(void)
{
    struct fixture fixture;
    struct random_source source = {7};
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (int i = 1; i <= 6; i++)
        (void)fixture_run(&fixture, "stream.create device=%d", i % 2);
    long live = fixture.memory.live;
    for (int i = 0; i < JOINS; i++)
        join_once(&fixture, &source);
    EXPECT(fixture.memory.live == live, "joins leave no memory behind");
    fixture_finish(&fixture, "joins");
}

static void test_join_shares(void)
{
    struct fixture fixture;
    struct vclock *small = NULL, *large = NULL, *joined = NULL, *again = NULL;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct engine *engine = fixture.engine;
    (void)fixture_run(&fixture, "stream.create");
    (void)fixture_run(&fixture, "stream.create");
    uint64_t key = SOMA_DEVICES_MAX + 1;
    EXPECT(vclock_join(engine, NULL, NULL, 0, 0, 0, &joined) && joined == NULL,
           "nothing and nothing is nothing");
    EXPECT(vclock_join(engine, NULL, NULL, key, 3, key, &joined) && joined == NULL,
           "of itself a stream needs to know nothing");
    EXPECT(vclock_join(engine, NULL, NULL, key, 3, 0, &small) && vclock_get(small, key) == 3,
           "a first entry");
    EXPECT(vclock_join(engine, small, NULL, key, 2, 0, &joined) && joined == small,
           "what is known already makes no new clock");
    EXPECT(vclock_join(engine, small, small, key, 3, 0, &again) && again == small,
           "a clock joined with itself is itself");
    EXPECT(small->refs == 3, "each answer owns a reference");
    EXPECT(vclock_join(engine, small, NULL, key + 1, 1, 0, &large) && large != small &&
               vclock_get(small, key + 1) == 0 && vclock_get(large, key) == 3,
           "clocks are immutable: the old one does not change");
    vclock_unref(engine, joined);
    vclock_unref(engine, again);
    vclock_unref(engine, small);
    vclock_unref(engine, large);
    fixture_finish(&fixture, "shared clocks");
}

/* Entries of streams that are gone are dropped, and are no reason for a new clock. */
static void test_join_forgets(void)
{
    struct fixture fixture;
    struct vclock *clock = NULL, *joined = NULL, *kept = NULL;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct engine *engine = fixture.engine;
    uint64_t key = SOMA_DEVICES_MAX + 1;
    (void)fixture_run(&fixture, "stream.create");
    (void)fixture_run(&fixture, "stream.create");
    EXPECT(vclock_join(engine, NULL, NULL, key, 5, 0, &clock), "a clock of stream 1");
    (void)fixture_run(&fixture, "stream.destroy stream=1");
    EXPECT(vclock_join(engine, NULL, clock, 0, 0, 0, &joined) && joined == NULL,
           "nothing of it matters");
    EXPECT(vclock_join(engine, NULL, NULL, key, 9, 0, &joined) && joined == NULL,
           "nor does a new position of a stream that is gone");
    EXPECT(vclock_join(engine, clock, NULL, key + 1, 1, 0, &kept) && kept->count == 1 &&
               vclock_get(kept, key) == 0,
           "a new clock leaves it out");
    vclock_unref(engine, clock);
    vclock_unref(engine, kept);
    fixture_finish(&fixture, "streams that are gone");
}

/* ---- what streams know, shown by who may reuse what ---- */

/* Pool 1 with event reuse, streams 1..4, events 1..4. */
#define FOUR_STREAMS                                                                               \
    "pool.create maxSize=16g -> pool=1\n"                                                          \
    "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"                         \
    "stream.create -> stream=1\n"                                                                  \
    "stream.create -> stream=2\n"                                                                  \
    "stream.create -> stream=3\n"                                                                  \
    "stream.create -> stream=4\n"                                                                  \
    "event.create -> event=1\n"                                                                    \
    "event.create -> event=2\n"                                                                    \
    "event.create -> event=3\n"                                                                    \
    "event.create kind=PLAIN -> event=4\n"                                                         \
    "a: pool.malloc pool=1 size=1 stream=1 -> ptr=p1 reuse=FRESH\n"

/* clang-format off */
static const struct scene order_scenes[] = {
    {"a stream that waited for an event recorded after the free is ordered behind it",
     FOUR_STREAMS
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT ptr=p1"},
    {"an event recorded before the free orders nothing",
     FOUR_STREAMS
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH"},
    {"the record just before a free and just after it: only the second counts",
     FOUR_STREAMS
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=2 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH\n"
     "stream.waitEvent stream=2 event=2\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT"},
    {"two frees at one position are on the same side of every record",
     FOUR_STREAMS
     "b: pool.malloc pool=1 size=1 stream=1 -> ptr=p1+1g\n"
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "event.record event=2 stream=1\n"
     "stream.waitEvent stream=2 event=2\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1"},
    {"a chain over three streams: 3 waits for 2, which had waited for 1",
     FOUR_STREAMS
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=EVENT ptr=p1"},
    {"a chain over four streams and two devices",
     FOUR_STREAMS
     "event.create device=1 -> event=5\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent device=1 stream=0 event=2\n"
     "event.record device=1 event=5 stream=0\n"
     "stream.waitEvent stream=4 event=5\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=FRESH\n"
     "pool.malloc pool=1 size=1 stream=4 -> reuse=EVENT ptr=p1"},
    {"a chain in the wrong order is none: 2 recorded before it waited",
     FOUR_STREAMS
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=2 stream=2\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=FRESH"},
    {"the free's place counts, not the wait's: a later free on the same stream is not covered",
     FOUR_STREAMS
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH ptr=p1+3g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1"},
    {"two branches meet: what two streams knew is known together",
     FOUR_STREAMS
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "event.record event=1 stream=1\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=3 event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "event.record event=3 stream=3\n"
     "stream.waitEvent stream=4 event=3\n"
     "pool.malloc pool=1 size=1g stream=4 -> reuse=EVENT ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=4 -> reuse=EVENT ptr=p1+1g"},
    {"a later record says more: waiting for it as well raises what is known",
     FOUR_STREAMS
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=2 stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "event.record event=3 stream=1\n"
     "stream.waitEvent stream=2 event=2\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH\n"
     "stream.waitEvent stream=2 event=3\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT"},
    {"an earlier record takes nothing of what is known away",
     FOUR_STREAMS
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=2 stream=1\n"
     "stream.waitEvent stream=2 event=2\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT"},
    {"a host synchronisation is no event edge",
     FOUR_STREAMS
     "b: pool.malloc pool=1 size=1 stream=1\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=16g\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.synchronize stream=1 -> releasedBytes=0\n"
     "event.synchronize event=1\n"
     "device.synchronize\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH"},
    {"without the attribute order counts for nothing, and turning it on later is enough",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=0\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH\n"
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=9\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT"},
    {"what waits does not have to be over: order is in the streams, not in time",
     FOUR_STREAMS
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1 -> now=14us\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT\n"
     "stream.get stream=2 -> readyAtNs=1ms+12us"},
    {"a chain through a stream that is gone still counts",
     FOUR_STREAMS
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "event.record event=2 stream=2\n"
     "stream.destroy stream=2\n"
     "event.destroy event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=EVENT"},
};
/* clang-format on */

static void test_order(void)
{
    RUN_SCENES(order_scenes);
}

/* clang-format off */
static const struct scene pending_scenes[] = {
    {"a wait that is pending knows the record as soon as it is made",
     FOUR_STREAMS
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT ptr=p1"},
    {"so does a record made behind the pending wait before, and who waited for that",
     FOUR_STREAMS
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=3 event=2\n"
     "event.record event=3 stream=3\n"
     "stream.waitEvent stream=4 event=3\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=4 -> reuse=FRESH\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=1 stream=4 -> reuse=EVENT ptr=p1"},
    {"a record made before the pending wait learns nothing from it",
     FOUR_STREAMS
     "event.reset event=4 stream=0\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=2 event=4\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=FRESH"},
    {"the awaited record is itself behind another pending wait: both are learned",
     FOUR_STREAMS
     "event.create kind=PLAIN -> event=5\n"
     "event.reset event=4 stream=0\n"
     "event.reset event=5 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "stream.waitEvent stream=3 event=5\n"
     "event.record event=4 stream=3\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH\n"
     "event.record event=5 stream=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT ptr=p1"},
    {"a record that is taken after the waits were resolved knows all of it",
     FOUR_STREAMS
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=4 stream=1\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=EVENT ptr=p1"},
    {"news of a second wait reaches what stands behind it, and not what stands before",
     FOUR_STREAMS
     "event.create kind=PLAIN -> event=5\n"
     "event.reset event=4 stream=0\n"
     "event.reset event=5 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=2 event=5\n"
     "event.record event=3 stream=2\n"
     "stream.waitEvent stream=3 event=3\n"
     "stream.waitEvent stream=4 event=2\n"
     "event.record event=5 stream=0\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=1 stream=4 -> reuse=EVENT ptr=p1\n"
     "pool.free pool=1 ptr=$a stream=0\n"
     "event.record event=1 stream=0\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=FRESH"},
    {"the second record has the news",
     FOUR_STREAMS
     "event.create kind=PLAIN -> event=5\n"
     "event.reset event=4 stream=0\n"
     "event.reset event=5 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=2 event=5\n"
     "event.record event=3 stream=2\n"
     "stream.waitEvent stream=3 event=3\n"
     "stream.waitEvent stream=4 event=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=5 stream=1\n"
     "event.record event=4 stream=0\n"
     "pool.malloc pool=1 size=1 stream=4 -> reuse=FRESH\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=EVENT ptr=p1"},
    {"who waits for himself learns nothing and the engine comes to an end",
     FOUR_STREAMS
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "event.record event=1 stream=2\n"
     "stream.waitEvent stream=3 event=1\n"
     "event.record event=2 stream=3\n"
     "stream.waitEvent stream=2 event=2\n"
     "event.record event=4 stream=3\n"
     "stream.synchronize stream=2 -> MUST_WAIT"},
};
/* clang-format on */

static void test_pending(void)
{
    RUN_SCENES(pending_scenes);
}

/* A chain of streams, each of which waits for the next, and the last one for a record to come. */
static void test_long_chain(void)
{
    enum { STREAMS = 60 };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "a long chain",
                         "pool.create maxSize=16g -> pool=1\n"
                         "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
                         "event.create kind=PLAIN -> event=1\n"
                         "event.reset event=1 stream=0\n"
                         "pool.malloc pool=1 size=1 stream=0");
    for (int i = 1; i <= STREAMS; i++) {
        (void)fixture_run(&fixture, "stream.create");
        (void)fixture_run(&fixture, "event.create");
    }
    (void)fixture_run(&fixture, "stream.waitEvent stream=%d event=1", STREAMS);
    for (int i = STREAMS; i > 1; i--) {
        (void)fixture_run(&fixture, "event.record event=%d stream=%d", i + 1, i);
        (void)fixture_run(&fixture, "stream.waitEvent stream=%d event=%d", i - 1, i + 1);
    }
    (void)fixture_script(&fixture, "a long chain",
                         "pool.free pool=1 ptr=p1 stream=0\n"
                         "pool.malloc pool=1 size=1 stream=1 -> reuse=FRESH\n"
                         "stream.get stream=1 -> readyAtNs=none\n"
                         "event.record event=1 stream=0\n"
                         "stream.get stream=1 -> status=COMPLETE\n"
                         "pool.malloc pool=1 size=1 stream=1 -> reuse=EVENT ptr=p1");
    fixture_finish(&fixture, "a long chain");
}

/* Two streams that wait for each other's records again and again, behind a record to come. */
static void test_back_and_forth(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "back and forth",
                         "pool.create maxSize=16g -> pool=1\n"
                         "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
                         "stream.create -> stream=1\n"
                         "stream.create -> stream=2\n"
                         "event.create kind=PLAIN -> event=1\n"
                         "event.create -> event=2\n"
                         "event.reset event=1 stream=0\n"
                         "pool.malloc pool=1 size=1 stream=0\n"
                         "stream.waitEvent stream=1 event=1");
    for (int i = 0; i < 50; i++) {
        (void)fixture_run(&fixture, "event.record event=2 stream=%d", 1 + i % 2);
        (void)fixture_run(&fixture, "stream.waitEvent stream=%d event=2", 2 - i % 2);
    }
    (void)fixture_script(&fixture, "back and forth",
                         "pool.free pool=1 ptr=p1 stream=0\n"
                         "event.record event=1 stream=0\n"
                         "stream.get stream=2 -> status=COMPLETE pendingTasks=0\n"
                         "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT ptr=p1");
    fixture_finish(&fixture, "back and forth");
}

/* clang-format off */
static const struct scene edge_scenes[] = {
    {"an internal edge counts from then on as an event recorded right after the free",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "c: pool.malloc pool=1 size=4g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "stream.delay stream=1 durationNs=1us\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1+1g\n"
     "pool.malloc pool=1 size=4g stream=2 -> reuse=INTERNAL ptr=p1+3g"},
    {"the edge brings what the freeing stream knew at the free",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=INTERNAL ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=EVENT ptr=p1"},
    {"not what it learned after the free",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=INTERNAL ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=INTERNAL ptr=p1"},
    {"the edge is passed on by records like any other order",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL\n"
     "event.record event=1 stream=2\n"
     "stream.waitEvent stream=3 event=1\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=EVENT ptr=p1+1g"},
    {"a free behind a pending wait brings, when the record has come, what that record knew",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=INTERNAL ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=EVENT ptr=p1"},
    {"and what its stream knew before",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=INTERNAL ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=EVENT ptr=p1"},
    {"so it does when the record comes after the internal edge",
     FOUR_STREAMS
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "event.reset event=4 stream=0\n"
     "stream.waitEvent stream=2 event=4\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=INTERNAL ptr=p1+1g\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=4 stream=1\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=EVENT ptr=p1"},
};
/* clang-format on */

static void test_edges(void)
{
    RUN_SCENES(edge_scenes);
}

static const struct soma_test tests[] = {
    {"random joins", test_join_random},
    {"clocks are shared and immutable", test_join_shares},
    {"streams that are gone", test_join_forgets},
    {"order by records and waits", test_order},
    {"waits that are pending", test_pending},
    {"a long chain", test_long_chain},
    {"back and forth", test_back_and_forth},
    {"internal edges", test_edges},
    {NULL, NULL},
};

const struct soma_suite suite_engine_vclock = {"engine_vclock", tests};
