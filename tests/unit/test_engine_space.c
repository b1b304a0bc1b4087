/* The address space against a map of its pages, and the commands that run out of it. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "random.h"
#include "suites.h"

#include <inttypes.h>
#include <string.h>

enum { PAGES = 64, PAGE = 0x1000, BASE = 0x100000, TAKES_MAX = 64, ROUNDS = 4000 };

/* What a taker keeps. */
struct taken {
    uint64_t address, size;
    struct gap *gap;
};

struct map {
    bool is_taken[PAGES];
    struct taken takes[TAKES_MAX];
    size_t take_count;
};

/* Where best fit, then lowest address, would put so many pages; PAGES when nowhere. */
static size_t naive_fit(const struct map *map, size_t pages)
{
    size_t best = PAGES, best_run = PAGES + 1;
    for (size_t start = 0; start < PAGES;) {
        size_t run = 0;
        while (start + run < PAGES && !map->is_taken[start + run])
            run++;
        if (run >= pages && run < best_run) {
            best = start;
            best_run = run;
        }
        start += run + 1;
    }
    return best;
}

static void take(struct engine *engine, struct space *space, struct map *map, size_t pages)
{
    struct taken taken = {.size = pages * PAGE};
    size_t wanted = naive_fit(map, pages);
    enum soma_status status = space_take(engine, space, taken.size, &taken.address, &taken.gap);
    if (!EXPECT(status == (wanted < PAGES ? SOMA_OK : SOMA_ADDRESS_SPACE_EXHAUSTED),
                "%zu pages: status %d", pages, (int)status) ||
        status != SOMA_OK)
        return;
    EXPECT(taken.address == BASE + wanted * PAGE, "%zu pages: 0x%" PRIx64 ", not page %zu", pages,
           taken.address, wanted);
    memset(map->is_taken + wanted, true, pages);
    map->takes[map->take_count++] = taken;
}

static void give(struct engine *engine, struct space *space, struct map *map, size_t index)
{
    struct taken taken = map->takes[index];
    space_give(engine, space, taken.address, taken.size, taken.gap);
    memset(map->is_taken + (taken.address - BASE) / PAGE, false, taken.size / PAGE);
    map->takes[index] = map->takes[--map->take_count];
}

/* Gaps are as many as the map has runs: neighbours are one. */
static void check_gaps(const struct space *space, const struct map *map)
{
    size_t runs = 0, gaps = 0;
    for (size_t i = 0; i < PAGES; i++)
        runs += !map->is_taken[i] && (i == 0 || map->is_taken[i - 1]);
    for (struct tree_node *node = tree_first(&space->by_address); node != NULL;
         node = tree_next(node))
        gaps++;
    EXPECT(gaps == runs, "%zu gaps for %zu runs", gaps, runs);
    EXPECT(tree_check(&space->by_address) && tree_check(&space->by_size), "trees");
}

static void test_random(void)
{
    static struct map map;
    struct fixture fixture;
    struct space space = {0};
    struct random_source source = {3};
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct engine *engine = fixture.engine;
    long live = fixture.memory.live;
    memset(&map, 0, sizeof(map));
    EXPECT(space_init(engine, &space, BASE, BASE + PAGES * PAGE), "init");
    for (int round = 0; round < ROUNDS; round++) {
        if (map.take_count < TAKES_MAX && random_below(&source, 5) < 3)
            take(engine, &space, &map, 1 + (size_t)random_below(&source, 9));
        else if (map.take_count > 0)
            give(engine, &space, &map, (size_t)random_below(&source, map.take_count));
        check_gaps(&space, &map);
    }
    while (map.take_count > 0)
        give(engine, &space, &map, 0);
    check_gaps(&space, &map);
    take(engine, &space, &map, PAGES);
    EXPECT(map.take_count == 1 && space.by_address.root == NULL, "all of it can be taken at once");
    take(engine, &space, &map, 1);
    give(engine, &space, &map, 0);
    space_clear(engine, &space);
    EXPECT(fixture.memory.live == live, "nothing is left");
    fixture_finish(&fixture, "random");
}

/* Without memory nothing is taken; giving back needs none. */
static void test_no_memory(void)
{
    struct fixture fixture;
    struct space space = {0};
    struct taken a = {.size = PAGE}, b = {.size = 2 * PAGE};
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct engine *engine = fixture.engine;
    fixture.memory.fail_at = fixture.memory.allocations + 1;
    EXPECT(!space_init(engine, &space, BASE, BASE + 3 * PAGE), "no memory for the first gap");
    EXPECT(space_init(engine, &space, BASE, BASE + 3 * PAGE), "init");
    EXPECT(space_take(engine, &space, a.size, &a.address, &a.gap) == SOMA_OK, "a page");
    fixture.memory.fail_at = fixture.memory.allocations + 1;
    EXPECT(space_take(engine, &space, PAGE, &b.address, &b.gap) == SOMA_OUT_OF_MEMORY,
           "part of a gap needs a struct");
    fixture.memory.fail_at = fixture.memory.allocations + 1;
    EXPECT(space_take(engine, &space, b.size, &b.address, &b.gap) == SOMA_OK &&
               b.address == BASE + PAGE,
           "all of a gap does not");
    space_give(engine, &space, a.address, a.size, a.gap);
    space_give(engine, &space, b.address, b.size, b.gap);
    EXPECT(space.by_size.root != NULL && space.by_size.root->major == 3 * PAGE, "one gap again");
    space_clear(engine, &space);
    fixture_finish(&fixture, "no memory");
}

/* Devices with more memory than there are addresses. */
static void test_exhausted(void)
{
    /* clang-format off */
        static const struct scene scenes[] = {
    {"no gap is large enough for a pool: refused, no id is used",
     "pool.create maxSize=17000000g -> pool=1\n"
     "pool.create maxSize=16000000g -> ADDRESS_SPACE_EXHAUSTED acl=507000 field=maxSize\n"
     "pool.create -> ADDRESS_SPACE_EXHAUSTED\n"
     "pool.create maxSize=1g -> pool=2"},
    {"or for an allocation",
     "pool.create maxSize=17000000g -> pool=1\n"
     "memory.malloc size=16000000g -> ADDRESS_SPACE_EXHAUSTED field=size\n"
     "memory.malloc size=1g -> ptr=large+17000000g"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = UINT64_C(1) << 47;
    RUN_SCENES_ON(scenes, &setup);
}

static const struct soma_test tests[] = {
    {"random takes and gives", test_random},
    {"without memory", test_no_memory},
    {"no addresses left", test_exhausted},
    {NULL, NULL},
};

const struct soma_suite suite_engine_space = {"engine_space", tests};
