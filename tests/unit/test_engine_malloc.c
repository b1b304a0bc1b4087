/* MallocAsync: sizes, and steps (a) to (e): which block serves, and what the stream waits for. */
#include "engine_fixture.h"
#include "expect.h"
#include "malloc_scenes.h"
#include "suites.h"

#define FREE_ALL(stream)                                                                           \
    "pool.free pool=1 ptr=$a stream=" stream "\n"                                                  \
    "pool.free pool=1 ptr=$b stream=" stream "\n"                                                  \
    "pool.free pool=1 ptr=$c stream=" stream "\n"                                                  \
    "pool.free pool=1 ptr=$d stream=" stream "\n"                                                  \
    "pool.free pool=1 ptr=$e stream=" stream "\n"

/* ---- sizes and refusals ---- */

/* clang-format off */
static const struct scene size_scenes[] = {
    {"every size is rounded up to 2 MiB, and the requested bytes are kept",
     POOL
     "pool.malloc pool=1 size=1 stream=1 -> ptr=p1 size=1g requestedSize=1\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+1g size=1g requestedSize=1g\n"
     "pool.malloc pool=1 size=1g+1 stream=1 -> ptr=p1+2g size=2g requestedSize=1g+1\n"
     "pool.malloc pool=1 size=4g-1 stream=1 -> ptr=p1+4g size=4g\n"
     "pool.get pool=1 -> attributes.usedMemCurrent=8g usage.requestedBytes=6g+1\n"
     "pool.segments pool=1 -> segments[0].requestedSize=1 segments[2].requestedSize=1g+1"},
    {"size 0 is refused",
     POOL
     "pool.malloc pool=1 size=0 stream=1 -> ZERO_SIZE acl=100000 field=size\n"
     "map pool=1 -> F16"},
    {"a size that overflows when it is rounded is refused",
     POOL
     "pool.malloc pool=1 size=max stream=1 -> SIZE_OVERFLOW acl=107000 field=size\n"
     "pool.malloc pool=1 size=max-1g+2 stream=1 -> SIZE_OVERFLOW\n"
     "pool.malloc pool=1 size=max-1g+1 stream=1 -> POOL_EXHAUSTED\n"
     "map pool=1 -> F16"},
    {"without a stream it is stream 0",
     POOL
     "pool.malloc pool=1 size=1\n"
     "map pool=1 -> B1@0 F15"},
    {"device, pool and stream have to be there",
     POOL
     "pool.malloc device=4 pool=1 size=1 stream=1 -> NO_SUCH_DEVICE acl=107001\n"
     "pool.malloc pool=2 size=1 stream=1 -> NO_SUCH_POOL acl=507000 says=never\n"
     "pool.malloc device=1 pool=1 size=1 stream=0 -> NO_SUCH_POOL says=belongs\n"
     "pool.malloc pool=1 size=1 stream=9 -> NO_SUCH_STREAM acl=107017\n"
     "stream.create device=1 -> stream=4\n"
     "pool.malloc pool=1 size=1 stream=4 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "pool.destroy pool=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> NO_SUCH_POOL says=destroyed"},
    {"a malloc takes no time of its stream and is one of its tasks",
     POOL
     "stream.delay stream=1 durationNs=20us -> now=5us\n"
     "pool.malloc pool=1 size=1 stream=1\n"
     "stream.get stream=1 -> readyAtNs=25us pendingTasks=2"},
};
/* clang-format on */

static void test_sizes(void)
{
    RUN_SCENES(size_scenes);
}

/* ---- (a) and (e) ---- */

/* clang-format off */
static const struct scene same_stream_scenes[] = {
    {"(a) a block that this stream freed is taken again, whatever the attributes",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1 -> reuse=FRESH\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1"},
    {"(a) the device need not have come there",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1\n"
     "stream.get stream=1 -> status=NOT_READY pendingTasks=3"},
    {"(a) the smallest block that is large enough",
     POOL FIVE_BLOCKS FREE_ALL("1")
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1+6g"},
    {"(a) among equals the lowest address",
     POOL FIVE_BLOCKS FREE_ALL("1")
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+9g\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+6g"},
    {"(a) the low end is split off, the rest keeps its stream and place",
     POOL FIVE_BLOCKS FREE_ALL("1")
     "pool.malloc pool=1 size=2g+1 stream=1 -> ptr=p1\n"
     "map pool=1 -> B3@1 B1@1 C1@1 B1@1 C2@1 B1@1 C1@1 B1@1 C2@1 B1@1 F2\n"
     "pool.malloc pool=1 size=1 stream=1\n"
     "pool.malloc pool=1 size=1 stream=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> ptr=p1+6g\n"
     "map pool=1 -> B3@1 B1@1 B1@1 B1@1 B1@1 C1@1 B1@1 B1@1 B1@1 C2@1 B1@1 F2"},
    {"(a) comes before fresh memory even where that fits better",
     POOL
     "a: pool.malloc pool=1 size=8g stream=1\n"
     "b: pool.malloc pool=1 size=8g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "memory.free ptr=$b\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=SAME_STREAM ptr=p1"},
    {"who frees decides, not who allocated",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=2\n"
     "map pool=1 -> C1@2 F15\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=FRESH ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=SAME_STREAM ptr=p1"},
    {"(e) fresh memory: RESERVED grows, lowest address first",
     POOL
     "pool.malloc pool=1 size=2g stream=1 -> reuse=FRESH ptr=p1\n"
     "pool.malloc pool=1 size=3g stream=2 -> reuse=FRESH ptr=p1+2g\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=5g attributes.usedMemCurrent=5g"},
    {"(e) the smallest FREE block that is large enough, then the lowest",
     POOL FIVE_BLOCKS
     "memory.free ptr=$a\n"
     "memory.free ptr=$b\n"
     "memory.free ptr=$c\n"
     "memory.free ptr=$d\n"
     "memory.free ptr=$e\n"
     "map pool=1 -> F3 B1@1 F1 B1@1 F2 B1@1 F1 B1@1 F2 B1@1 F2\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=FRESH ptr=p1+6g\n"
     "pool.malloc pool=1 size=2g stream=1 -> ptr=p1+11g\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g\n"
     "pool.malloc pool=1 size=3g stream=1 -> ptr=p1"},
    {"(e) neighbouring FREE blocks are one",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=1\n"
     "c: pool.malloc pool=1 size=1g stream=1\n"
     "memory.free ptr=$a\n"
     "memory.free ptr=$c\n"
     "map pool=1 -> F1 B1@1 F14\n"
     "memory.free ptr=$b\n"
     "map pool=1 -> F16\n"
     "pool.malloc pool=1 size=16g stream=1 -> ptr=p1"},
    {"the same program gives the same addresses again",
     POOL FIVE_BLOCKS FREE_ALL("1")
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "pool.malloc pool=1 size=2g stream=2 -> ptr=p1+6g\n"
     "pool.destroy pool=1\n"
     "pool.create maxSize=16g -> pool=2\n"
     "pool.malloc pool=2 size=2g stream=2 -> ptr=p1 ptr=p2"},
};
/* clang-format on */

static void test_same_stream_and_fresh(void)
{
    RUN_SCENES(same_stream_scenes);
}

/* ---- (b) ---- */

#define ORDERED_2                                                                                  \
    "event.create -> event=1\n"                                                                    \
    "event.record event=1 stream=1\n"                                                              \
    "stream.waitEvent stream=2 event=1\n"

/* ---- (a): neighbours that the stream freed at different points ---- */

/* Blocks of 1, 2 and 3 granules, freed in this order with a command between. */
#define THREE_POINTS                                                                               \
    "a: pool.malloc pool=1 size=1g stream=1 -> ptr=p1\n"                                           \
    "b: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+1g\n"                                        \
    "c: pool.malloc pool=1 size=3g stream=1 -> ptr=p1+3g\n"                                        \
    "pool.free pool=1 ptr=$a stream=1\n"                                                           \
    "event.create -> event=1\n"                                                                    \
    "event.record event=1 stream=1\n"                                                              \
    "pool.free pool=1 ptr=$b stream=1\n"                                                           \
    "event.create -> event=2\n"                                                                    \
    "event.record event=2 stream=1\n"                                                              \
    "pool.free pool=1 ptr=$c stream=1\n"                                                           \
    "map pool=1 -> C1@1 C2@1 C3@1 F10\n"

/* clang-format off */
static const struct scene run_scenes[] = {
    {"rounds that free before and after a copy to the host keep their addresses",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1 -> ptr=p1\n"
     "b: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+2g\n"
     "c: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+4g\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "stream.delay stream=1 durationNs=1us\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "map pool=1 -> C4@1 C2@1 F10\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1+2g\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1+4g\n"
     "map pool=1 -> B2@1 B2@1 B2@1 F10"},
    {"what is taken may go over several blocks, and the rest stays as it was",
     POOL EVENT_ON THREE_POINTS
     "d: pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1 size=2g\n"
     "map pool=1 -> B2@1 C1@1 C3@1 F10\n"
     "stream.waitEvent stream=2 event=2\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1+2g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1+6g\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "map pool=1 -> C2@1 B1@2 C3@1 B1@2 F9"},
    {"it is one block from then on",
     POOL THREE_POINTS
     "d: pool.malloc pool=1 size=3g stream=1 -> reuse=SAME_STREAM ptr=p1\n"
     "pool.free pool=1 ptr=$d+1g stream=1 -> INVALID_ADDRESS says=inside\n"
     "pool.segments pool=1 -> segments[0].requestedSize=3g\n"
     "memory.free ptr=$d\n"
     "map pool=1 -> F3 C3@1 F10"},
    {"none of the blocks is large enough: fresh memory",
     POOL THREE_POINTS
     "pool.malloc pool=1 size=4g stream=1 -> reuse=FRESH ptr=p1+6g\n"
     "map pool=1 -> C1@1 C2@1 C3@1 B4@1 F6"},
    {"the neighbours that fit best, whichever block is large enough",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=1\n"
     "pool.malloc pool=1 size=1g stream=1\n"
     "c: pool.malloc pool=1 size=3g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1\n"
     "map pool=1 -> B2@1 B1@1 C3@1 F10"},
    {"what another stream freed lies between",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1\n"
     "b: pool.malloc pool=1 size=2g stream=1\n"
     "c: pool.malloc pool=1 size=2g stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "map pool=1 -> C2@1 C2@2 C2@1 F10\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1+4g\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=SAME_STREAM ptr=p1+2g"},
    {"a part released in the middle divides them, a free joins them",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=1\n"
     "c: pool.malloc pool=1 size=4g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C3@1 C1@1 C4@1 F8\n"
     "pool.trimTo pool=1 minBytesToKeep=7g\n"
     "map pool=1 -> C3@1 F1 C4@1 F8\n"
     "d: pool.malloc pool=1 size=4g stream=1 -> reuse=SAME_STREAM ptr=p1+4g\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=SAME_STREAM ptr=p1\n"
     "e: pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1+3g\n"
     "pool.free pool=1 ptr=$e stream=1\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "map pool=1 -> B2@1 C1@1 C5@1 F8\n"
     "pool.malloc pool=1 size=5g stream=1 -> reuse=SAME_STREAM ptr=p1+2g\n"
     "map pool=1 -> B2@1 B5@1 C1@1 F8"},
};
/* clang-format on */

static void test_runs(void)
{
    RUN_SCENES(run_scenes);
}

/* ---- (b) ---- */

/* clang-format off */
static const struct scene event_scenes[] = {
    {"(b) off by default: another stream's block is not taken",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     ORDERED_2
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH"},
    {"(b) on: the smallest sufficient block, then the lowest address",
     POOL EVENT_ON FIVE_BLOCKS FREE_ALL("1") ORDERED_2
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1+6g\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1+11g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1+4g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1+9g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1\n"
     "map pool=1 -> B1@2 C2@1 B1@1 B1@2 B1@1 B2@2 B1@1 B1@2 B1@1 B2@2 B1@1 F2"},
    {"(b) the best among the blocks of several streams",
     POOL EVENT_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$e stream=1\n"
     "pool.free pool=1 ptr=$c stream=3\n"
     "pool.free pool=1 ptr=$d stream=3\n"
     ORDERED_2
     "event.create -> event=2\n"
     "event.record event=2 stream=3\n"
     "stream.waitEvent stream=2 event=2\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1+6g\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT ptr=p1+11g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1+9g"},
    {"(b) a small block that is not ordered is passed over for a larger one that is",
     POOL EVENT_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     ORDERED_2
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1"},
    {"(b) comes after (a), even for a worse fit",
     POOL EVENT_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$b stream=1\n"
     ORDERED_2
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=SAME_STREAM ptr=p1"},
    {"(b) needs no waiting of its own: the stream waited already",
     POOL EVENT_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=50us -> now=7us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     ORDERED_2
     "stream.get stream=2 -> readyAtNs=57us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT\n"
     "stream.get stream=2 -> readyAtNs=57us"},
};
/* clang-format on */

static void test_event(void)
{
    RUN_SCENES(event_scenes);
}

/* ---- (c) ---- */

/* clang-format off */
static const struct scene opportunistic_scenes[] = {
    {"(c) off by default",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH"},
    {"(c) a free on an idle stream has completed at once",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=8us status=COMPLETE"},
    {"(c) a free on a busy stream has not completed until the host clock is there",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=4us -> now=8us\n"
     "pool.free pool=1 ptr=$a stream=1 -> now=9us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH now=10us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH now=11us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC now=12us ptr=p1"},
    {"(c) of one stream's frees those that are over may be taken, those behind not yet",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=2g stream=1\n"
     "b: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH"},
    {"(c) the smallest sufficient block, then the lowest address",
     POOL OPPORTUNISTIC_ON FIVE_BLOCKS FREE_ALL("1")
     "pool.malloc pool=1 size=2g stream=2 -> reuse=OPPORTUNISTIC ptr=p1+6g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1+4g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=OPPORTUNISTIC ptr=p1+9g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=OPPORTUNISTIC ptr=p1+11g"},
    {"(c) a synchronised stream's frees have completed (and what is released is gone)",
     POOL OPPORTUNISTIC_ON
     "pool.setAttribute pool=1 name=releaseThreshold value=16g\n"
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH\n"
     "stream.synchronize stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC"},
    {"(c) comes after (b)",
     POOL OPPORTUNISTIC_ON EVENT_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     ORDERED_2
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=OPPORTUNISTIC ptr=p1+4g"},
    {"(c) frees on a stream that waits for a record to come have not completed",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=2\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=FRESH\n"
     "event.record event=1 stream=2\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1"},
    {"(c) frees before such a wait have",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=2\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1"},
    {"(c) a free on a stream that never did anything",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=3\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1"},
    {"(c) blocks of a destroyed stream",
     POOL OPPORTUNISTIC_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.destroy stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=OPPORTUNISTIC ptr=p1"},
};
/* clang-format on */

static void test_opportunistic(void)
{
    RUN_SCENES(opportunistic_scenes);
}

/* ---- (d) ---- */

/* clang-format off */
static const struct scene internal_scenes[] = {
    {"(d) any cached block; the stream then waits for that free",
     POOL INTERNAL_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "stream.delay stream=1 durationNs=50us -> now=7us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=50us\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1 now=10us\n"
     "stream.get stream=2 -> status=NOT_READY readyAtNs=57us pendingTasks=1"},
    {"(d) of a free that has completed there is nothing to wait for",
     POOL INTERNAL_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL now=8us\n"
     "stream.get stream=2 -> readyAtNs=8us status=COMPLETE"},
    {"(d) the smallest sufficient block, then the lowest address, of all streams",
     POOL INTERNAL_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=3\n"
     "pool.free pool=1 ptr=$c stream=3\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "pool.free pool=1 ptr=$e stream=1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=INTERNAL ptr=p1+6g\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=INTERNAL ptr=p1+11g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1+4g\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1+9g\n"
     "pool.malloc pool=1 size=3g stream=2 -> reuse=INTERNAL ptr=p1"},
    {"(d) comes after (b) and (c), and before fresh memory",
     POOL INTERNAL_ON OPPORTUNISTIC_ON EVENT_ON FIVE_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     ORDERED_2
     "pool.free pool=1 ptr=$e stream=3\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=SAME_STREAM ptr=p1+11g\n"
     "pool.malloc pool=1 size=2g stream=3 -> reuse=OPPORTUNISTIC ptr=p1+1g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=INTERNAL ptr=p1+4g\n"
     "pool.malloc pool=1 size=1g stream=3 -> reuse=FRESH"},
    {"(d) of a free behind a wait for a record to come: the stream is blocked as well",
     POOL INTERNAL_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=3\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=1 durationNs=10us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1\n"
     "stream.delay stream=2 durationNs=5us\n"
     "stream.get stream=2 -> readyAtNs=none pendingTasks=2\n"
     "event.record event=1 stream=3 -> now=15us\n"
     "stream.get stream=1 -> readyAtNs=25us\n"
     "stream.get stream=2 -> readyAtNs=30us"},
    {"(d) blocks of a destroyed stream",
     POOL INTERNAL_ON
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.destroy stream=1\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=INTERNAL ptr=p1"},
};
/* clang-format on */

static void test_internal(void)
{
    RUN_SCENES(internal_scenes);
}

static const struct soma_test tests[] = {
    {"sizes and refusals", test_sizes},
    {"(a) same stream, (e) fresh", test_same_stream_and_fresh},
    {"(a) neighbours freed at different points", test_runs},
    {"(b) event", test_event},
    {"(c) opportunistic", test_opportunistic},
    {"(d) internal", test_internal},
    {NULL, NULL},
};

const struct soma_suite suite_engine_malloc = {"engine_malloc", tests};
