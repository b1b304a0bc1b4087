/* Blocks: which neighbours are one, what a split keeps, and the spare structs. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

/* Pool 1 of 16 granules, streams 1 and 2, four blocks of a granule in a row on stream 1. */
#define FOUR_BLOCKS                                                                                \
    "pool.create maxSize=16g -> pool=1\n"                                                          \
    "stream.create -> stream=1\n"                                                                  \
    "stream.create -> stream=2\n"                                                                  \
    "a: pool.malloc pool=1 size=1g stream=1 -> ptr=p1\n"                                           \
    "b: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+1g\n"                                        \
    "c: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+2g\n"                                        \
    "d: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+3g\n"

/* clang-format off */
static const struct scene merge_scenes[] = {
    {"cached neighbours of one stream and one position are one block",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C2@1 B1@1 B1@1 F12"},
    {"to the left and to the right at once",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "map pool=1 -> C1@1 B1@1 C1@1 B1@1 F12\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C3@1 B1@1 F12\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "map pool=1 -> C4@1 F12\n"
     "pool.get pool=1 -> usage.cachedBytes=4g usage.cachedByStream.count=1"},
    {"neighbours that different streams freed stay two",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "map pool=1 -> C1@1 C1@2 B1@1 B1@1 F12"},
    {"a command of the stream between two frees keeps their blocks apart",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=0\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C1@1 C1@1 B1@1 B1@1 F12"},
    {"records, waits, mallocs and frees outside pools are such commands, pool frees are not",
     FOUR_BLOCKS
     "event.create -> event=1\n"
     "e: memory.malloc size=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "memory.freeAsync ptr=$e stream=1\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "map pool=1 -> C1@1 C1@1 C1@1 C1@1 F12"},
    {"so are copies, sets and kernels",
     FOUR_BLOCKS
     "e: memory.malloc size=64\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "memory.set ptr=$e value=1 size=8 stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "memory.copy dst=$e src=$e+8 size=8 stream=1\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "stream.launchKernel stream=1 kernel=poke args=$e\n"
     "pool.free pool=1 ptr=$d stream=1\n"
     "map pool=1 -> C1@1 C1@1 C1@1 C1@1 F12"},
    {"commands of other streams and queries are not",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.delay stream=2 durationNs=5us\n"
     "stream.get stream=1\n"
     "pool.getAttributes pool=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C2@1 B1@1 B1@1 F12"},
    {"a free in another pool does not separate them either",
     FOUR_BLOCKS
     "pool.create maxSize=4g -> pool=2\n"
     "e: pool.malloc pool=2 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=2 ptr=$e stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "map pool=1 -> C2@1 B1@1 B1@1 F12"},
    {"cached and free neighbours stay two",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$d stream=1\n"
     "memory.free ptr=$c\n"
     "map pool=1 -> B1@1 B1@1 F1 C1@1 F12"},
    {"FREE neighbours are always one, whoever freed them",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "memory.free ptr=$d\n"
     "map pool=1 -> C1@1 C1@2 B1@1 F13\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "map pool=1 -> F2 B1@1 F13\n"
     "memory.free ptr=$c\n"
     "map pool=1 -> F16"},
    {"two parts of a block that was split become one again",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> ptr=p1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "map pool=1 -> C1@1 C1@1 B1@1 B1@1 F12\n"
     "pool.free pool=1 ptr=$c stream=1\n"
     "map pool=1 -> C1@1 C1@1 C1@1 B1@1 F12"},
    {"a merged block may be taken by exactly those who could take each part",
     FOUR_BLOCKS
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
     "event.create -> event=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "pool.free pool=1 ptr=$b stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=FRESH\n"
     "pool.malloc pool=1 size=1g stream=2 -> reuse=EVENT ptr=p1"},
    {"a merge of a free that has completed with an older one",
     FOUR_BLOCKS
     "stream.delay stream=2 durationNs=4us -> now=8us\n"
     "pool.free pool=1 ptr=$a stream=2\n"
     "stream.get stream=2 -> now=10us\n"
     "stream.get stream=2\n"
     "stream.get stream=2 -> now=12us status=COMPLETE\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "map pool=1 -> C2@2 B1@1 B1@1 F12\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=2g\n"
     "pool.malloc pool=1 size=2g stream=1 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"frees behind a wait for a record to come merge as well",
     FOUR_BLOCKS
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=2 event=1\n"
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.free pool=1 ptr=$b stream=2\n"
     "map pool=1 -> C2@2 B1@1 B1@1 F12\n"
     "event.record event=1 stream=0\n"
     "pool.free pool=1 ptr=$c stream=2\n"
     "map pool=1 -> C3@2 B1@1 F12"},
};
/* clang-format on */

static void test_merge(void)
{
    RUN_SCENES(merge_scenes);
}

/* clang-format off */
static const struct scene list_scenes[] = {
    {"the report lists who has cached memory, by stream, and leaves out who has none",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$a stream=2\n"
     "pool.free pool=1 ptr=$c stream=0\n"
     "pool.free pool=1 ptr=$d stream=2\n"
     "pool.get pool=1 -> usage.cachedByStream.count=2 usage.cachedByStream[0].stream=0 "
         "usage.cachedByStream[0].bytes=1g usage.cachedByStream[1].stream=2 "
         "usage.cachedByStream[1].bytes=2g\n"
     "pool.malloc pool=1 size=1 stream=0 -> reuse=SAME_STREAM\n"
     "pool.get pool=1 -> usage.cachedByStream.count=1 usage.cachedByStream[0].stream=2"},
    {"segments tell each block: address, size, state, stream and what was asked for",
     FOUR_BLOCKS
     "pool.free pool=1 ptr=$b stream=2\n"
     "pool.segments pool=1 -> segments.count=5 segments[0].address=p1 segments[0].size=1g "
         "segments[0].state=BUSY segments[0].stream=1 segments[0].requestedSize=1g "
         "segments[1].address=p1+1g segments[1].state=CACHED segments[1].stream=2 "
         "segments[1].requestedSize=0 segments[4].state=FREE segments[4].stream=none "
         "segments[4].size=12g"},
};
/* clang-format on */

static void test_lists(void)
{
    RUN_SCENES(list_scenes);
}

/* blocks_reserve keeps what it has, adds what is missing, and gives all back. */
static void test_spares(void)
{
    static const struct {
        size_t blocks, lates;
        size_t has_blocks, has_lates;
    } rows[] = {{0, 0, 0, 0}, {2, 0, 2, 0}, {1, 1, 2, 1}, {2, 3, 2, 3}, {5, 1, 5, 3}};
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct engine *engine = fixture.engine;
    long live = fixture.memory.live;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT(blocks_reserve(engine, rows[i].blocks, rows[i].lates), "row %zu", i);
        EXPECT(engine->spare_block_count == rows[i].has_blocks &&
                   engine->spare_idle_count == rows[i].has_blocks &&
                   engine->spare_late_count == rows[i].has_lates,
               "row %zu: %zu blocks and %zu lates", i, engine->spare_block_count,
               engine->spare_late_count);
    }
    fixture.memory.fail_at = fixture.memory.allocations + 2;
    EXPECT(!blocks_reserve(engine, 8, 0) && engine->spare_idle_count == 6,
           "what was got before memory ran out is kept");
    late_put_spare(engine, NULL);
    struct late *late = late_take_spare(engine);
    EXPECT(late->point == NULL && engine->spare_late_count == 2, "a spare comes empty");
    late_put_spare(engine, late);
    spares_clear(engine);
    EXPECT(fixture.memory.live == live && engine->spare_block_count == 0 &&
               engine->spare_idle_count == 0 && engine->blocks.count == 0 &&
               engine->spare_late_count == 0,
           "all spares are given back");
    fixture_finish(&fixture, "spares");
}

/* Only so many spares are kept, however many blocks become one. */
static void test_spares_kept(void)
{
    struct fixture fixture;
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = 1024 * SOMA_GRANULE_BYTES;
    if (!EXPECT(fixture_start(&fixture, &setup), "start"))
        return;
    (void)fixture_run(&fixture, "pool.create maxSize=600g");
    for (int i = 0; i < 300; i++)
        (void)fixture_run(&fixture, "pool.malloc pool=1 size=1g");
    (void)fixture_run(&fixture, "stream.delay stream=0 durationNs=1ms");
    long live = fixture.memory.live;
    for (int i = 0; i < 300; i++)
        (void)fixture_run(&fixture, "pool.free pool=1 ptr=p1+%dg", i);
    EXPECT(fixture_script(&fixture, "300 blocks of one free are one", "map pool=1 -> C300@0 F300"),
           "merged");
    EXPECT(fixture.engine->blocks.count < 150 && fixture.memory.live < live,
           "%zu of 300 blocks were not given back", fixture.engine->blocks.count);
    EXPECT(fixture.engine->spare_block_count <= 64 && fixture.engine->spare_idle_count <= 64 &&
               fixture.engine->spare_late_count <= 64,
           "%zu blocks and %zu lates are spare", fixture.engine->spare_block_count,
           fixture.engine->spare_late_count);
    fixture_finish(&fixture, "many blocks");
}

/* The same of late memory: many ranges that were released early, taken in one. */
static void test_spare_lates_kept(void)
{
    struct fixture fixture;
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = 256 * SOMA_GRANULE_BYTES;
    if (!EXPECT(fixture_start(&fixture, &setup), "start"))
        return;
    (void)fixture_script(&fixture, "late memory",
                         "pool.create maxSize=100g -> pool=1\nstream.create -> stream=1");
    for (int i = 0; i < 100; i++)
        (void)fixture_run(&fixture, "pool.malloc pool=1 size=1g");
    for (int i = 0; i < 100; i++) {
        (void)fixture_run(&fixture, "stream.delay stream=0 durationNs=1ms");
        (void)fixture_run(&fixture, "pool.free pool=1 ptr=p1+%dg", i);
    }
    (void)fixture_script(&fixture, "a hundred late granules",
                         "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=100g\n"
                         "pool.malloc pool=1 size=100g stream=1 -> reuse=FRESH\n"
                         "stream.get stream=1 -> readyAtNs=100ms+103us");
    EXPECT(fixture.engine->spare_late_count <= 64, "%zu lates are spare",
           fixture.engine->spare_late_count);
    fixture_finish(&fixture, "late memory");
}

/* Blocks far from the pool's start need nodes to be found by: without memory for them, and for what
 * else a command needs, it is refused. */
static void test_far(void)
{
    static const char *const lines[] = {
        "pool.malloc pool=1 size=100g",
        "pool.malloc pool=1 size=4999g",
        "pool.free pool=1 ptr=p1",
        "pool.malloc pool=1 size=70g stream=0",
        "memory.free ptr=p1",
        "pool.free pool=1 ptr=p1+100g",
        "pool.trimTo pool=1 minBytesToKeep=300g",
        "memory.info",
    };
    struct fixture fixture;
    struct fixture_setup setup = fixture_setup_default();
    char why[256];
    int refused = 0;
    setup.config.memory_bytes = 8192 * SOMA_GRANULE_BYTES;
    if (!EXPECT(fixture_start(&fixture, &setup), "start"))
        return;
    (void)fixture_run(&fixture, "pool.create maxSize=6000g");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        enum soma_status status = SOMA_OUT_OF_MEMORY;
        for (long more = 1; status == SOMA_OUT_OF_MEMORY && more < 20; more++) {
            fixture.memory.fail_at = fixture.memory.allocations + 1;
            status = fixture_run(&fixture, "%s", lines[i]);
            refused += status == SOMA_OUT_OF_MEMORY;
            fixture.memory.fail_at = more < 19 ? fixture.memory.allocations + 2 : 0;
            if (status == SOMA_OUT_OF_MEMORY)
                status = fixture_run(&fixture, "%s", lines[i]);
            EXPECT(engine_check(fixture.engine, why, sizeof(why)), "%s: %s", lines[i], why);
        }
        EXPECT(status == SOMA_OK, "%s: %s", lines[i], fixture.error.message);
    }
    fixture.memory.fail_at = 0;
    EXPECT(refused >= 4, "%d refused", refused);
    EXPECT(fixture_script(&fixture, "far", "map pool=1 -> F4799 C300@0 F901"), "as without");
    fixture_finish(&fixture, "far");
}

/* Looking blocks up, and the split. */
static void test_lookup(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "look up", FOUR_BLOCKS);
    struct engine *engine = fixture.engine;
    const struct pool *pool = pool_by_address(engine, fixture.bases[1]);
    if (!EXPECT(pool != NULL && pool->id == 1, "the pool at its base"))
        return;
    EXPECT(pool_by_address(engine, pool->base + pool->max_size - 1) == pool, "and at its end");
    EXPECT(pool_by_address(engine, pool->base + pool->max_size) == NULL, "but not behind it");
    EXPECT(pool_by_address(engine, pool->base - 1) == NULL, "nor before it");
    struct block *first = block_at(pool, pool->base + SOMA_GRANULE_BYTES - 1);
    EXPECT(first->address == pool->base, "the block around an address");
    EXPECT(first->next->address == pool->base + SOMA_GRANULE_BYTES, "the block behind it");
    struct block *last = block_at(pool, pool->base + pool->max_size - 1);
    EXPECT(last->state == SOMA_BLOCK_STATE_FREE && last->next == NULL, "the last block");
    EXPECT(block_split_low(engine, last, last->size) == last, "a split of the whole is none");
    EXPECT(cached_list_of(pool, 4711) == NULL, "no list of a stream that freed nothing");
    fixture_finish(&fixture, "look up");
}

static const struct soma_test tests[] = {
    {"which neighbours are one", test_merge},
    {"lists and segments", test_lists},
    {"spare structs", test_spares},
    {"spare structs are few", test_spares_kept},
    {"so are those of late memory", test_spare_lates_kept},
    {"blocks far away", test_far},
    {"look up", test_lookup},
    {NULL, NULL},
};

const struct soma_suite suite_engine_block = {"engine_block", tests};
