/* MallocAsync where no cached block serves: late memory, pools on demand, steps (f) and (g), and
 * the numbers that a pool keeps. */
#include "engine_fixture.h"
#include "expect.h"
#include "malloc_scenes.h"
#include "suites.h"

#define ORDERED_2                                                                                  \
    "event.create -> event=1\n"                                                                    \
    "event.record event=1 stream=1\n"                                                              \
    "stream.waitEvent stream=2 event=1\n"

/* ---- memory released before its free had completed ---- */

/* clang-format off */
static const struct scene late_scenes[] = {
    {"memory that was released before its free had completed makes the stream wait until then",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=50us -> now=6us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=1g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=56us status=NOT_READY"},
    {"memory that was released after it does not",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=2us -> now=6us\n"
     "pool.free pool=1 ptr=$a stream=1 -> now=7us\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> now=8us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=9us status=COMPLETE"},
    {"the time is each granule's own: who takes other ones does not wait",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1\n"
     "b: pool.malloc pool=1 size=2g stream=2\n"
     "stream.delay stream=1 durationNs=50us -> now=7us\n"
     "stream.delay stream=2 durationNs=90us -> now=8us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=4g\n"
     "map pool=1 -> F16\n"
     "pool.malloc pool=1 size=1g stream=3 -> ptr=p1\n"
     "stream.get stream=3 -> readyAtNs=57us\n"
     "pool.malloc pool=1 size=1g stream=3 -> ptr=p1+1g\n"
     "stream.get stream=3 -> readyAtNs=57us\n"
     "pool.malloc pool=1 size=1g stream=3 -> ptr=p1+2g\n"
     "stream.get stream=3 -> readyAtNs=98us"},
    {"a range waits for the latest of its granules",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=2\n"
     "stream.delay stream=1 durationNs=90us -> now=7us\n"
     "stream.delay stream=2 durationNs=50us -> now=8us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.malloc pool=1 size=3g stream=3 -> ptr=p1\n"
     "stream.get stream=3 -> readyAtNs=97us"},
    {"only the low end of a late range is taken: the rest is still late",
     POOL
     "a: pool.malloc pool=1 size=4g stream=1\n"
     "stream.delay stream=1 durationNs=90us -> now=6us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1\n"
     "pool.malloc pool=1 size=1g stream=3 -> ptr=p1+1g\n"
     "stream.get stream=3 -> readyAtNs=96us\n"
     "pool.malloc pool=1 size=2g stream=2 -> ptr=p1+2g\n"
     "stream.get stream=2 -> readyAtNs=96us"},
    {"memory that was waited for once is late no more",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=50us -> now=6us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "b: pool.malloc pool=1 size=1g stream=2 -> ptr=p1\n"
     "memory.free ptr=$b\n"
     "pool.malloc pool=1 size=1g stream=3 -> ptr=p1\n"
     "stream.get stream=3 -> status=COMPLETE"},
    {"when the host clock has passed the free, nobody waits",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=50us -> now=6us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "stream.synchronize stream=1 -> now=56us\n"
     "pool.malloc pool=1 size=1g stream=2 -> ptr=p1 now=57us\n"
     "stream.get stream=2 -> readyAtNs=57us"},
    {"released behind a wait for a record to come: who takes it is blocked until then",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=3\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=3\n"
     "stream.delay stream=3 durationNs=40us -> now=9us\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=1 durationNs=7us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=2g\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=none pendingTasks=1\n"
     "event.record event=1 stream=0 -> now=17us\n"
     "stream.get stream=1 -> readyAtNs=24us\n"
     "stream.get stream=2 -> readyAtNs=49us"},
    {"two such ranges behind different waits: the stream waits for both, as one task",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=3\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.create kind=PLAIN -> event=2\n"
     "event.reset event=1 stream=0\n"
     "event.reset event=2 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=2g\n"
     "pool.malloc pool=1 size=2g stream=2 -> ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=none pendingTasks=1\n"
     "event.record event=1 stream=0\n"
     "stream.get stream=2 -> readyAtNs=none pendingTasks=1\n"
     "event.record event=2 stream=0 -> now=20us\n"
     "stream.get stream=2 -> readyAtNs=20us pendingTasks=0"},
    {"two such ranges, the other record first",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=3\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.create kind=PLAIN -> event=2\n"
     "event.reset event=1 stream=0\n"
     "event.reset event=2 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.malloc pool=1 size=2g stream=2 -> ptr=p1\n"
     "event.record event=2 stream=0\n"
     "stream.get stream=2 -> readyAtNs=none pendingTasks=1\n"
     "event.record event=1 stream=0 -> now=19us\n"
     "stream.get stream=2 -> readyAtNs=19us"},
    {"what is freed behind such a malloc has not completed when half of its waits have",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=3\n"
     "c: pool.malloc pool=1 size=1g stream=2\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.create kind=PLAIN -> event=2\n"
     "event.reset event=1 stream=0\n"
     "event.reset event=2 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=3 event=2\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=2g\n"
     "pool.malloc pool=1 size=2g stream=2 -> ptr=p1\n"
     "pool.free pool=1 ptr=$c stream=2\n"
     "event.record event=1 stream=0\n"
     "pool.malloc pool=1 size=1g stream=0 -> reuse=FRESH\n"
     "event.record event=2 stream=0\n"
     "pool.malloc pool=1 size=1g stream=0 -> reuse=OPPORTUNISTIC ptr=p1+2g"},
    {"waiting for late memory does not tell what its free came to know of others",
     POOL EVENT_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=2g stream=3\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=1g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "event.record event=1 stream=3\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH ptr=p1+3g\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=EVENT ptr=p1+1g"},
    {"waiting for late memory orders no other memory",
     POOL EVENT_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=1g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "event.record event=1 stream=0\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH ptr=p1+3g"},
};
/* clang-format on */

static void test_late(void)
{
    RUN_SCENES(late_scenes);
}

/* One malloc of memory that many streams released, each behind a wait of its own. */
static void test_many_waits(void)
{
    enum { STREAMS = 20 };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "many waits",
                         "pool.create maxSize=20g -> pool=1\nstream.create -> stream=1");
    for (int i = 0; i < STREAMS; i++) {
        (void)fixture_run(&fixture, "stream.create");
        (void)fixture_run(&fixture, "event.create kind=PLAIN");
        (void)fixture_run(&fixture, "event.reset event=%d stream=0", i + 1);
        (void)fixture_run(&fixture, "stream.waitEvent stream=%d event=%d", i + 2, i + 1);
        (void)fixture_run(&fixture, "pool.malloc pool=1 size=1g stream=%d", i + 2);
        (void)fixture_run(&fixture, "pool.free pool=1 ptr=p1+%dg stream=%d", i, i + 2);
    }
    (void)fixture_script(&fixture, "many waits",
                         "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=20g\n"
                         "pool.malloc pool=1 size=20g stream=1 -> reuse=FRESH ptr=p1");
    for (int i = 0; i < STREAMS; i++) {
        int event = 1 + i * 7 % STREAMS;
        (void)fixture_script(&fixture, "one task that waits for all",
                             "stream.get stream=1 -> readyAtNs=none pendingTasks=1");
        (void)fixture_run(&fixture, "event.record event=%d stream=0", event);
    }
    uint64_t now_ns = engine_now_ns(fixture.engine);
    (void)fixture_run(&fixture, "stream.get stream=1");
    EXPECT(fixture_number(&fixture, "readyAtNs") == now_ns, "ready with the last record");
    fixture_finish(&fixture, "many waits");
}

/* ---- (e) on demand ---- */

/* clang-format off */
static const struct scene demand_scenes[] = {
    {"(e) a pool that draws on demand also needs that much free device memory",
     "pool.create -> pool=1 maxSize=64g\n"
     "a: memory.malloc size=60g\n"
     "pool.malloc pool=1 size=4g -> reuse=FRESH\n"
     "pool.malloc pool=1 size=1 -> POOL_EXHAUSTED acl=507000 says=device\n"
     "memory.free ptr=$a\n"
     "pool.malloc pool=1 size=60g -> reuse=FRESH"},
    {"(e) other pools are not trimmed for it",
     "pool.create -> pool=1\n"
     "pool.create -> pool=2\n"
     "a: pool.malloc pool=2 size=60g\n"
     "pool.free pool=2 ptr=$a\n"
     "pool.malloc pool=1 size=5g -> POOL_EXHAUSTED\n"
     "map pool=2 -> C60@0 F4\n"
     "pool.malloc pool=1 size=4g"},
    {"(f) its own cached memory counts when it is released for the request",
     "pool.create -> pool=1\n"
     "memory.malloc size=56g\n"
     "a: pool.malloc pool=1 size=4g\n"
     "b: pool.malloc pool=1 size=4g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.malloc pool=1 size=5g -> POOL_EXHAUSTED\n"
     "map pool=1 -> C4@0 B4@0 F56\n"
     "pool.free pool=1 ptr=$b\n"
     "pool.malloc pool=1 size=8g -> reuse=SAME_STREAM ptr=p1"},
    {"(f) the device has room only once the claimed blocks are released",
     "pool.create -> pool=1\n"
     "memory.malloc size=58g\n"
     "a: pool.malloc pool=1 size=2g\n"
     "b: pool.malloc pool=1 size=2g\n"
     "c: pool.malloc pool=1 size=2g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.free pool=1 ptr=$c\n"
     "pool.malloc pool=1 size=4g -> reuse=FRESH ptr=p1+4g\n"
     "map pool=1 -> F2 B2@0 B4@0 F56\n"
     "memory.info -> freeBytes=0"},
};
/* clang-format on */

static void test_on_demand(void)
{
    RUN_SCENES(demand_scenes);
}

/* ---- (f) and (g) ---- */

/* A full pool: 6, 4 and 6 granules. */
#define FULL_POOL                                                                                  \
    POOL "a: pool.malloc pool=1 size=6g stream=1 -> ptr=p1\n"                                      \
         "b: pool.malloc pool=1 size=4g stream=1 -> ptr=p1+6g\n"                                   \
         "c: pool.malloc pool=1 size=6g stream=1 -> ptr=p1+10g\n"

/* clang-format off */
static const struct scene coalesce_scenes[] = {
    {"(f) cached neighbours of different frees are released together when that helps",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C6@1 C4@1 B6@1\n"
     "pool.malloc pool=1 size=10g stream=1 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B10@1 B6@1\n"
     "pool.get pool=1 -> usage.reuse.fresh=4 usage.unmappedBytesTotal=10g "
         "usage.mappedBytesTotal=26g"},
    {"(f) all that the stream may claim is released, also where it is not needed",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=7g stream=1 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B7@1 F3 B6@1"},
    {"(f) CACHED and FREE neighbours together",
     FULL_POOL
     "memory.free ptr=$b\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "map pool=1 -> C6@1 F4 B6@1\n"
     "pool.malloc pool=1 size=9g stream=1 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B9@1 F1 B6@1"},
    {"(f) a little CACHED behind much FREE",
     FULL_POOL
     "memory.free ptr=$a\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> F6 C4@1 B6@1\n"
     "pool.malloc pool=1 size=7g stream=1 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B7@1 F3 B6@1"},
    {"(f) best fit over the runs that would come of it",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "b: pool.malloc pool=1 size=3g stream=1\n"
     "pool.malloc pool=1 size=1g stream=1\n"
     "c: pool.malloc pool=1 size=2g stream=1\n"
     "d: pool.malloc pool=1 size=2g stream=1\n"
     "pool.malloc pool=1 size=1g stream=1\n"
     "e: pool.malloc pool=1 size=2g stream=1\n"
     "f: pool.malloc pool=1 size=2g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "pool.free pool=1 ptr=$e stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "pool.free pool=1 ptr=$f stream=1\n"
     "map pool=1 -> C3@1 C3@1 B1@1 C2@1 C2@1 B1@1 C2@1 C2@1\n"
     "pool.malloc pool=1 size=4g stream=1 -> reuse=FRESH ptr=p1+7g\n"
     "map pool=1 -> F6 B1@1 B4@1 B1@1 F4"},
    {"(f) what the stream may not use stays, and nothing is released when that is in the way",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=7g stream=1 -> POOL_EXHAUSTED\n"
     "map pool=1 -> C6@1 C4@2 B6@1\n"
     "pool.get pool=1 -> usage.unmappedBytesTotal=0"},
    {"(f) refused when releasing everything would not be enough",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=11g stream=1 -> POOL_EXHAUSTED\n"
     "map pool=1 -> C6@1 C4@1 B6@1"},
    {"(f) blocks of other streams that are ordered by events",
     FULL_POOL EVENT_ON
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     ORDERED_2
     "pool.malloc pool=1 size=10g stream=2 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B10@2 B6@1"},
    {"(f) without the attribute they are not claimed",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     ORDERED_2
     "pool.malloc pool=1 size=10g stream=2 -> POOL_EXHAUSTED"},
    {"(f) blocks of other streams whose frees have completed",
     FULL_POOL OPPORTUNISTIC_ON
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=10g stream=3 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=3 -> status=COMPLETE"},
    {"(f) blocks usable only by waiting: the stream waits for all that it has released",
     FULL_POOL INTERNAL_ON
     "stream.delay stream=1 durationNs=50us -> now=9us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=2 durationNs=90us -> now=11us\n"
     "pool.free pool=1 ptr=$c stream=2\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.malloc pool=1 size=9g stream=3 -> reuse=FRESH ptr=p1\n"
     "map pool=1 -> B9@3 F7\n"
     "stream.get stream=3 -> readyAtNs=101us"},
    {"(f) and is ordered behind those frees from then on, as by (d)",
     FULL_POOL INTERNAL_ON
     "pool.create maxSize=4g -> pool=2\n"
     "pool.setAttribute pool=2 name=reuseFollowEventDependencies value=1\n"
     "d: pool.malloc pool=2 size=1g stream=1\n"
     "pool.free pool=2 ptr=$d stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=2 size=1g stream=3 -> reuse=FRESH ptr=p2+1g\n"
     "pool.malloc pool=1 size=10g stream=3 -> reuse=FRESH ptr=p1\n"
     "pool.malloc pool=2 size=1g stream=3 -> reuse=EVENT ptr=p2"},
    {"(f) blocks behind a wait for a record to come block the stream",
     FULL_POOL INTERNAL_ON
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=2\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=10g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=none\n"
     "event.record event=1 stream=3 -> now=16us\n"
     "stream.get stream=2 -> readyAtNs=16us"},
    {"(f) late memory in the run is waited for too",
     FULL_POOL
     "stream.delay stream=1 durationNs=50us -> now=8us\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=4g\n"
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.malloc pool=1 size=10g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=58us"},
    {"(f) claimed memory whose free has not completed stays late for others",
     FULL_POOL
     "stream.delay stream=1 durationNs=50us -> now=8us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=7g stream=1 -> reuse=FRESH ptr=p1\n"
     "pool.malloc pool=1 size=3g stream=2 -> reuse=FRESH ptr=p1+7g\n"
     "stream.get stream=2 -> readyAtNs=58us"},
};
/* clang-format on */

static void test_coalesce(void)
{
    RUN_SCENES(coalesce_scenes);
}

/* clang-format off */
static const struct scene full_scenes[] = {
    {"(g) a full pool: nothing changed, and the message tells requested, used, cached and by whom",
     FULL_POOL
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.malloc pool=1 size=5g stream=1 -> POOL_EXHAUSTED acl=507000 field=size says=10 "
         "says=used says=24 says=cached says=8 says=stream says=largest says=trim says=attribute "
         "says=larger\n"
     "map pool=1 -> B6@1 C4@2 B6@1"},
    {"(g) the message lists who has cached memory",
     FULL_POOL
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.malloc pool=1 size=7g stream=1 -> POOL_EXHAUSTED says=(12 says=2, says=8 says=3)"},
    {"(g) larger than the pool",
     POOL
     "pool.malloc pool=1 size=17g stream=1 -> POOL_EXHAUSTED\n"
     "pool.malloc pool=1 size=16g stream=1 -> ptr=p1"},
    {"(g) room enough but in pieces",
     POOL FIVE_BLOCKS
     "memory.free ptr=$a\n"
     "memory.free ptr=$e\n"
     "pool.malloc pool=1 size=4g stream=1 -> POOL_EXHAUSTED"},
    {"(g) a message about very many streams is cut, not broken",
     "pool.create maxSize=16g -> pool=1\n"
     "stream.create -> stream=1\n"
     "stream.create -> stream=2\n"
     "stream.create -> stream=3\n"
     "stream.create -> stream=4\n"
     "stream.create -> stream=5\n"
     "stream.create -> stream=6\n"
     "stream.create -> stream=7\n"
     "stream.create -> stream=8\n"
     "stream.create -> stream=9\n"
     "a: pool.malloc pool=1 size=1\n"
     "b: pool.malloc pool=1 size=1\n"
     "c: pool.malloc pool=1 size=1\n"
     "d: pool.malloc pool=1 size=1\n"
     "e: pool.malloc pool=1 size=1\n"
     "f: pool.malloc pool=1 size=1\n"
     "g: pool.malloc pool=1 size=1\n"
     "h: pool.malloc pool=1 size=1\n"
     "i: pool.malloc pool=1 size=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.free pool=1 ptr=$c stream=3\n"
     "pool.free pool=1 ptr=$d stream=4\n"
     "pool.free pool=1 ptr=$e stream=5\n"
     "pool.free pool=1 ptr=$f stream=6\n"
     "pool.free pool=1 ptr=$g stream=7\n"
     "pool.free pool=1 ptr=$h stream=8\n"
     "pool.free pool=1 ptr=$i stream=9\n"
     "pool.malloc pool=1 size=16g -> POOL_EXHAUSTED says=larger"},
};
/* clang-format on */

static void test_full(void)
{
    RUN_SCENES(full_scenes);
}

/* ---- numbers ---- */

/* clang-format off */
static const struct scene number_scenes[] = {
    {"high-water marks follow malloc and stay when memory goes",
     POOL
     "a: pool.malloc pool=1 size=4g stream=1\n"
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.get pool=1 -> attributes.usedMemCurrent=2g attributes.usedMemHigh=6g "
         "attributes.reservedMemCurrent=6g attributes.reservedMemHigh=6g\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=2g attributes.reservedMemHigh=6g\n"
     "pool.malloc pool=1 size=5g stream=1\n"
     "pool.get pool=1 -> attributes.usedMemHigh=7g attributes.reservedMemHigh=7g"},
    {"reuse raises USED but not RESERVED",
     POOL
     "a: pool.malloc pool=1 size=4g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.setAttribute pool=1 name=usedMemHigh value=0 -> value=0\n"
     "pool.malloc pool=1 size=3g stream=1\n"
     "pool.get pool=1 -> attributes.usedMemHigh=3g attributes.reservedMemHigh=4g "
         "attributes.reservedMemCurrent=4g usage.cachedBytes=1g"},
    {"usage counts mallocs, frees and what served them",
     POOL EVENT_ON OPPORTUNISTIC_ON INTERNAL_ON
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> reuse=SAME_STREAM\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=OPPORTUNISTIC\n"
     "stream.delay stream=2 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.malloc pool=1 size=1 stream=3 -> reuse=INTERNAL\n"
     "pool.free pool=1 ptr=$a stream=3\n"
     "event.create -> event=1\n"
     "event.record event=1 stream=3\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> reuse=EVENT\n"
     "pool.malloc pool=1 size=99g stream=1 -> POOL_EXHAUSTED\n"
     "pool.free pool=1 ptr=$a+1 stream=1 -> INVALID_ADDRESS\n"
     "pool.get pool=1 -> usage.mallocs=5 usage.frees=4 usage.liveAllocations=1 "
         "usage.reuse.fresh=1 usage.reuse.sameStream=1 usage.reuse.event=1 "
         "usage.reuse.opportunistic=1 usage.reuse.internal=1 usage.mappedBytesTotal=1g "
         "usage.unmappedBytesTotal=0 usage.largestFreeBytes=15g"},
    {"newly mapped memory reads as zero, memory reused without release keeps its contents",
     POOL
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "memory.read ptr=$a size=4 -> base64=....\n"
     "memory.write ptr=$a base64=abcd\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> reuse=SAME_STREAM\n"
     "memory.read ptr=$a size=4 -> base64=abcd\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.malloc pool=1 size=1 stream=1 -> reuse=FRESH ptr=p1\n"
     "memory.read ptr=$a size=4 -> base64=...."},
    {"coalesced memory was released: it reads as zero",
     FULL_POOL
     "memory.write ptr=p1+1g base64=abcd\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=10g stream=1 -> reuse=FRESH ptr=p1\n"
     "memory.read ptr=p1+1g size=4 -> base64=...."},
};
/* clang-format on */

static void test_numbers(void)
{
    RUN_SCENES(number_scenes);
}

static const struct soma_test tests[] = {
    {"late memory", test_late},
    {"late memory of many", test_many_waits},
    {"pools that draw on demand", test_on_demand},
    {"(f) coalesce", test_coalesce},
    {"(g) full", test_full},
    {"numbers and contents", test_numbers},
    {NULL, NULL},
};

const struct soma_suite suite_engine_malloc_fresh = {"engine_malloc_fresh", tests};
