/* engine_check can fail: one field per invariant is broken, found, and mended again. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

#include <string.h>

/* A session that has one of everything. Pool 1, in granules: F1 (late) B2 C2 C2 B2 C2 B2 F20; pool
 * 2 draws on demand. Stream 1 works, stream 2 is blocked, stream 3 is gone but for a cached block.
 */
static const char *const everything = "pool.create maxSize=33g -> pool=1\n"
                                      "pool.create -> pool=2\n"
                                      "stream.create -> stream=1\n"
                                      "stream.create -> stream=2\n"
                                      "stream.create -> stream=3\n"
                                      "event.create kind=PLAIN -> event=1\n"
                                      "event.create -> event=2\n"
                                      "event.reset event=1 stream=0\n"
                                      "x: pool.malloc pool=1 size=1g stream=1\n"
                                      "pool.malloc pool=1 size=2g stream=1\n"
                                      "stream.delay stream=1 durationNs=1ms\n"
                                      "pool.free pool=1 ptr=$x stream=1\n"
                                      "pool.trimTo pool=1 minBytesToKeep=0\n"
                                      "a: pool.malloc pool=1 size=2g stream=1\n"
                                      "b: pool.malloc pool=1 size=2g stream=1\n"
                                      "pool.malloc pool=1 size=2g stream=1\n"
                                      "d: pool.malloc pool=1 size=2g stream=3\n"
                                      "pool.malloc pool=1 size=2g-9 stream=1\n"
                                      "pool.free pool=1 ptr=$a stream=1\n"
                                      "stream.delay stream=1 durationNs=5us\n"
                                      "pool.free pool=1 ptr=$b stream=1\n"
                                      "stream.delay stream=1 durationNs=5us\n"
                                      "pool.free pool=1 ptr=$d stream=3\n"
                                      "stream.destroy stream=3\n"
                                      "pool.malloc pool=2 size=3g\n"
                                      "stream.waitEvent stream=2 event=1\n"
                                      "stream.delay stream=2 durationNs=5us\n"
                                      "event.record event=2 stream=2\n"
                                      "g: memory.malloc size=1g\n"
                                      "memory.malloc size=2g\n"
                                      "memory.free ptr=$g\n"
                                      "h: memory.malloc size=5\n"
                                      "memory.malloc size=5\n"
                                      "memory.freeAsync ptr=$h stream=1\n"
                                      "pipe.create\n"
                                      "r: memory.reserveAddress size=9g\n"
                                      "memory.mallocPhysical size=1g -> physical=1\n"
                                      "memory.mallocPhysical size=2g -> physical=2\n"
                                      "memory.map ptr=$r size=1g physical=1\n"
                                      "memory.map ptr=$r+1g size=2g physical=2\n"
                                      "memory.freePhysical physical=2\n"
                                      "memory.mallocManaged size=2g\n"
                                      "map pool=1 -> F1 B2@1 C2@1 C2@1 B2@1 C2@3 B2@1 F20";

/* ---- where things are ---- */

static struct pool *pool_of(const struct engine *engine)
{
    return TREE_ENTRY(tree_first(&engine->pools), struct pool, by_id);
}

/* Block number `index` of pool 1, from 0. */
static struct block *block_of(const struct engine *engine, int index)
{
    struct block *block = block_at(pool_of(engine), pool_of(engine)->base);
    while (index-- > 0)
        block = block->next;
    return block;
}

static struct stream *stream_of(const struct engine *engine, uint64_t id)
{
    return stream_by_key(engine, SOMA_DEVICES_MAX + id);
}

static struct cached_list *list_of(const struct engine *engine, uint64_t stream_id)
{
    return cached_list_of(pool_of(engine), SOMA_DEVICES_MAX + stream_id);
}

static struct late *late_of(const struct engine *engine)
{
    return TREE_ENTRY(tree_first(&pool_of(engine)->lates), struct late, by_address);
}

/* The first gap of an area, and the one behind it. */
static struct gap *gap_of(const struct space *space)
{
    return TREE_ENTRY(tree_first(&space->by_address), struct gap, by_address);
}

static struct gap *second_gap_of(const struct space *space)
{
    return TREE_ENTRY(tree_next(tree_first(&space->by_address)), struct gap, by_address);
}

/* ---- changes: done with sign 1, taken back with sign -1 ---- */

#define G SOMA_GRANULE_BYTES
#define PLUS(place, amount) ((place) += sign * (amount))
#define MINUS(place, amount) ((place) -= sign * (amount))
#define CHANGE(name, statement)                                                                    \
    static void name(struct engine *engine, uint64_t sign)                                         \
    {                                                                                              \
        statement;                                                                                 \
    }

CHANGE(block_size, PLUS(block_of(engine, 1)->size, G))
CHANGE(block_unaligned, PLUS(block_of(engine, 7)->size, 1))
CHANGE(block_requested, PLUS(block_of(engine, 1)->requested_size, 2 * G))
CHANGE(block_requested_none, MINUS(block_of(engine, 6)->requested_size, 2 * G - 9))
CHANGE(block_position, MINUS(block_of(engine, 3)->idle->position, 1))
CHANGE(block_weight, PLUS(block_of(engine, 2)->idle->by_size.weight, 1))
CHANGE(block_base, PLUS(block_of(engine, 0)->address, G))
CHANGE(free_bytes, PLUS(pool_of(engine)->free_bytes, G))
CHANGE(cached_bytes, PLUS(pool_of(engine)->cached_bytes, G))
CHANGE(live_allocations, PLUS(pool_of(engine)->live_allocations, 1))
CHANGE(requested_bytes, PLUS(pool_of(engine)->requested_bytes, 1))
CHANGE(used_high, MINUS(pool_of(engine)->attributes[SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH], 9 * G))
CHANGE(reserved_high,
       MINUS(pool_of(engine)->attributes[SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH], 3 * G))
CHANGE(threshold, PLUS(pool_of(engine)->attributes[SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD], 34 * G))
CHANGE(reuse, PLUS(pool_of(engine)->reuse[SOMA_REUSE_EVENT], 1))
CHANGE(mallocs, PLUS(pool_of(engine)->mallocs, 1))
CHANGE(frees, PLUS(pool_of(engine)->frees, 1))
CHANGE(mapped, PLUS(pool_of(engine)->mapped_total, G))
CHANGE(unmapped, PLUS(pool_of(engine)->unmapped_total, G))
CHANGE(list_bytes, PLUS(list_of(engine, 1)->bytes, G))
CHANGE(list_order, PLUS(TREE_ENTRY(tree_first(&list_of(engine, 1)->blocks), struct idle, by_size)
                            ->by_size.weight_min,
                        1))
CHANGE(run_order, PLUS(list_of(engine, 1)->runs.root->weight_min, 1))
CHANGE(idle_block, block_of(engine, 2)->idle->block = block_of(engine, sign == 1 ? 3 : 2))
CHANGE(run_flag, block_of(engine, 3)->goes_on = sign != 1)
CHANGE(run_mark, radix_mark(&pool_of(engine)->blocks, 5, sign == 1))
CHANGE(flag_of_busy, block_of(engine, 1)->goes_on = sign == 1)
CHANGE(late_size, PLUS(late_of(engine)->size, G))
CHANGE(late_address, PLUS(late_of(engine)->by_address.major, G))
CHANGE(tree_blocks, pool_of(engine)->blocks.root.marked ^= (sign * sign) << 63)
CHANGE(tree_free, PLUS(pool_of(engine)->free_blocks.root->weight_min, 1))
CHANGE(tree_lists, PLUS(pool_of(engine)->cached_lists.root->weight_min, 1))
CHANGE(tree_lates, PLUS(pool_of(engine)->lates.root->weight_min, 1))
CHANGE(stream_cached, PLUS(stream_of(engine, 1)->cached_blocks, 1))
CHANGE(flight_end,
       PLUS(stream_of(engine, 1)->flights[stream_of(engine, 1)->flight_first].end_ns, 9999999))
CHANGE(flight_position,
       MINUS(stream_of(engine, 1)->flights[stream_of(engine, 1)->flight_first].position, 6))
CHANGE(ready, PLUS(stream_of(engine, 1)->ready_ns, 1))
CHANGE(unresolved, PLUS(stream_of(engine, 2)->unresolved_tasks, 1))
CHANGE(position, MINUS(engine->devices[0].default_stream.position, 1))
CHANGE(device_streams, PLUS(engine->devices[0].stream_count, 1))
CHANGE(device_pools, PLUS(engine->devices[1].pool_count, 1))
CHANGE(set_aside, PLUS(engine->devices[0].set_aside_bytes, G))
CHANGE(on_demand, PLUS(engine->devices[0].on_demand_bytes, G))
CHANGE(allocated, PLUS(engine->devices[0].allocated_bytes, G))
CHANGE(total, MINUS(engine->devices[0].total_bytes, 60 * G))
CHANGE(gap_size, MINUS(second_gap_of(&engine->large)->size, G))
CHANGE(small_gap_size, MINUS(gap_of(&engine->small)->size, 4096))
CHANGE(gap_outside, MINUS(gap_of(&engine->large)->address, 1000 * G))
CHANGE(gap_touches, PLUS(gap_of(&engine->large)->size, 13 * G))
CHANGE(gap_too_long, PLUS(second_gap_of(&engine->large)->size, G))
CHANGE(tree_gaps, PLUS(engine->large.by_address.root->weight_min, 1))
CHANGE(tree_gap_sizes, PLUS(engine->small.by_size.root->weight_min, 1))
CHANGE(tree_streams, PLUS(engine->streams.root->weight_min, 1))
CHANGE(tree_events, PLUS(engine->events.root->weight_min, 1))
CHANGE(tree_pools, PLUS(engine->pools.root->weight_min, 1))
CHANGE(tree_bases, PLUS(engine->pools_by_base.root->weight_min, 1))
CHANGE(tree_allocations, PLUS(engine->allocations.root->weight_min, 1))
CHANGE(tree_pipes, PLUS(engine->pipes.root->weight_min, 1))
CHANGE(pipes, PLUS(engine->pipe_count, 1))
CHANGE(tree_due, PLUS(engine->due_frees.root->weight_min, 1))

/* Fields that are no numbers. */

static void block_lost(struct engine *engine, uint64_t sign)
{
    radix_replace(&pool_of(engine)->blocks, 1, block_of(engine, 0)->next->next);
    if (sign != 1)
        radix_replace(&pool_of(engine)->blocks, 1, block_of(engine, 0)->next);
}

static void block_surplus(struct engine *engine, uint64_t sign)
{
    if (sign == 1)
        radix_insert(&pool_of(engine)->blocks, 2, block_of(engine, 2), &engine->spare_nodes);
    else
        radix_remove(&pool_of(engine)->blocks, 2, &engine->spare_nodes);
}

static void block_link(struct engine *engine, uint64_t sign)
{
    block_of(engine, 2)->previous = block_of(engine, sign == 1 ? 0 : 1);
}

/* The second block of a run says that it is the first of one, in both places that know it. */
static void run_second(struct engine *engine, uint64_t sign)
{
    run_flag(engine, sign);
    run_mark(engine, sign);
}

static void block_free(struct engine *engine, uint64_t sign)
{
    static struct block before;
    static struct idle idle;
    struct block *block = block_of(engine, 6);
    if (sign == 1) {
        before = *block;
        idle.block = block;
        block->state = SOMA_BLOCK_STATE_FREE;
        block->idle = &idle;
    } else {
        *block = before;
    }
}

static void block_pool(struct engine *engine, uint64_t sign)
{
    static struct pool *pool;
    if (sign == 1)
        pool = block_of(engine, 1)->pool;
    block_of(engine, 1)->pool = sign == 1 ? NULL : pool;
}

static void block_list(struct engine *engine, uint64_t sign)
{
    block_of(engine, 2)->idle->list = list_of(engine, sign == 1 ? 3 : 1);
}

static void list_stream(struct engine *engine, uint64_t sign)
{
    list_of(engine, 3)->stream = stream_of(engine, sign == 1 ? 2 : 3);
}

static void list_missing(struct engine *engine, uint64_t sign)
{
    static struct cached_list *list;
    if (sign == 1) {
        list = list_of(engine, 3);
        tree_remove(&pool_of(engine)->cached_lists, &list->by_stream);
    } else {
        tree_insert(&pool_of(engine)->cached_lists, &list->by_stream, SOMA_DEVICES_MAX + 3, 0);
    }
}

/* The run of blocks 2 and 3 is said to have this size. */
static void run_resize(struct engine *engine, uint64_t size)
{
    struct block *first = block_of(engine, 2);
    tree_remove(&first->idle->list->runs, &first->idle->in_runs);
    tree_insert(&first->idle->list->runs, &first->idle->in_runs, size, first->address);
}

static void run_size(struct engine *engine, uint64_t sign)
{
    run_resize(engine, sign == 1 ? 2 * G : 4 * G);
}

static void run_surplus(struct engine *engine, uint64_t sign)
{
    struct block *second = block_of(engine, 3);
    if (sign == 1)
        tree_insert(&second->idle->list->runs, &second->idle->in_runs, 2 * G, second->address);
    else
        tree_remove(&second->idle->list->runs, &second->idle->in_runs);
}

static struct reservation *reservation_of(const struct engine *engine)
{
    return TREE_ENTRY(tree_first(&engine->reservations), struct reservation, by_address);
}

static struct mapping *mapping_of(const struct engine *engine, bool is_last)
{
    const struct tree *mappings = &reservation_of(engine)->mappings;
    return TREE_ENTRY(is_last ? tree_last(mappings) : tree_first(mappings), struct mapping,
                      by_address);
}

static struct physical *physical_of(const struct engine *engine)
{
    return TREE_ENTRY(tree_first(&engine->physicals), struct physical, by_id);
}

CHANGE(physical_bytes, PLUS(engine->devices[0].physical_bytes, 1))
CHANGE(mapping_place, PLUS(mapping_of(engine, true)->by_address.major, 1))
CHANGE(mapping_overlap, MINUS(mapping_of(engine, true)->address, 1))
CHANGE(mapping_outside, PLUS(mapping_of(engine, true)->physical->size, 9 * G))
CHANGE(mapping_device, PLUS(mapping_of(engine, true)->physical->device, 1))
CHANGE(mapped_bytes, PLUS(reservation_of(engine)->mapped_bytes, 1))
CHANGE(mapping_count, PLUS(reservation_of(engine)->mapping_count, 1))
CHANGE(physical_mappings, PLUS(physical_of(engine)->mappings, 1))
CHANGE(managed_bytes, PLUS(engine->managed_bytes, 1))
CHANGE(contents_gap, MINUS(physical_of(engine)->contents, SOMA_PHYSICAL_BASE))
CHANGE(tree_reservations, PLUS(engine->reservations.root->major, SOMA_ADDRESS_END))
CHANGE(tree_physicals, PLUS(engine->physicals.root->major, 5))

static void stream_dead(struct engine *engine, uint64_t sign)
{
    stream_of(engine, 2)->is_alive = sign != 1;
}

static void stream_tail(struct engine *engine, uint64_t sign)
{
    static struct task *tail;
    struct stream *stream = stream_of(engine, 2);
    if (sign == 1)
        tail = stream->tail;
    stream->tail = sign == 1 ? stream->head : tail;
}

static void stream_gate(struct engine *engine, uint64_t sign)
{
    stream_of(engine, 2)->head->is_gate = sign == 1;
}

static const struct {
    const char *what;
    void (*change)(struct engine *engine, uint64_t sign);
    const char *says; /* part of the sentence */
} rows[] = {
    {"a block is longer than its place", block_size, "cover"},
    {"a block is no whole granules", block_unaligned, "cover"},
    {"a block is another pool's", block_pool, "cover"},
    {"the first block begins elsewhere", block_base, "first block"},
    {"another block is found at a block's start", block_lost, "not where"},
    {"a block is found inside another", block_surplus, "not where"},
    {"a block's neighbour", block_link, "not where"},
    {"what another block has", idle_block, "not where"},
    {"a block that goes on a run without saying so", run_flag, "not where"},
    {"a mark where no run begins", run_mark, "not where"},
    {"a BUSY block that goes on a run", flag_of_busy, "not where"},
    {"two FREE blocks stand side by side", block_free, "two neighbouring FREE"},
    {"two CACHED blocks of one free stand side by side", block_position, "two neighbouring CACHED"},
    {"a CACHED block's place in its list is wrong", block_weight, "not in its list"},
    {"a CACHED block names another list", block_list, "not in its list"},
    {"more was asked for than a block has", block_requested, "smaller than was asked"},
    {"nothing was asked for", block_requested_none, "smaller than was asked"},
    {"FREE bytes", free_bytes, "sums"},
    {"CACHED bytes", cached_bytes, "sums"},
    {"live allocations", live_allocations, "sums"},
    {"requested bytes", requested_bytes, "sums"},
    {"USED above its high-water mark", used_high, "high-water"},
    {"RESERVED above its high-water mark", reserved_high, "high-water"},
    {"a threshold above maxSize", threshold, "threshold"},
    {"mallocs that nothing served", mallocs, "totals"},
    {"served more often than asked", reuse, "totals"},
    {"frees", frees, "totals"},
    {"mapped bytes in all", mapped, "totals"},
    {"unmapped bytes in all", unmapped, "totals"},
    {"a list's bytes", list_bytes, "list's bytes"},
    {"a list's tree", list_order, "list of cached blocks"},
    {"a list of another stream", list_stream, "list of cached blocks"},
    {"a list that is not there", list_missing, "in no list"},
    {"the tree of a list's runs", run_order, "list of cached blocks"},
    {"a block that goes on a run and says it begins one", run_second, "not in its run"},
    {"a run's bytes", run_size, "not in its run"},
    {"a run in the middle of another", run_surplus, "run that is none"},
    {"late memory reaches into a block in use", late_size, "not FREE"},
    {"late memory where a block is in use", late_address, "not FREE"},
    {"the tree of blocks", tree_blocks, "pool 1: a tree"},
    {"the tree of FREE blocks", tree_free, "pool 1: a tree"},
    {"the tree of lists", tree_lists, "pool 1: a tree"},
    {"the tree of late memory", tree_lates, "pool 1: a tree"},
    {"a stream's cached blocks", stream_cached, "stream 1: its cached blocks"},
    {"a dead stream that nobody needs", stream_dead, "stream 2: its cached blocks"},
    {"a task that ends after the next", flight_end, "stream 1: its tasks are out of order"},
    {"a task in flight that is done", flight_position, "stream 1: its tasks are out of order"},
    {"a ready time that is not the last task's", ready, "stream 1: its ready time"},
    {"a queue whose tail is not its last task", stream_tail, "stream 2: its queue"},
    {"tasks without a time", unresolved, "stream 2: its tasks are miscounted"},
    {"a task that counts as none", stream_gate, "stream 2: its tasks are miscounted"},
    {"more commands done than submitted", position, "stream 0: its tasks are miscounted"},
    {"a device's streams", device_streams, "device 0: its objects"},
    {"a device's pools", device_pools, "device 1: its objects"},
    {"memory set aside", set_aside, "device 0: free"},
    {"memory mapped on demand", on_demand, "device 0: free"},
    {"memory allocated", allocated, "device 0: free"},
    {"more memory given out than there is", total, "device 0: free"},
    {"addresses that nobody has", gap_size, "bytes are lost"},
    {"small addresses that nobody has", small_gap_size, "bytes are lost"},
    {"a gap before the area", gap_outside, "gaps touch or lie outside"},
    {"a gap behind the area", gap_too_long, "gaps touch or lie outside"},
    {"two gaps that touch", gap_touches, "gaps touch or lie outside"},
    {"the tree of gaps", tree_gaps, "address space"},
    {"the tree of gaps by size", tree_gap_sizes, "address space"},
    {"the tree of streams", tree_streams, "a tree"},
    {"the tree of events", tree_events, "a tree"},
    {"the tree of pools", tree_pools, "a tree"},
    {"the tree of pools by address", tree_bases, "a tree"},
    {"the tree of allocations", tree_allocations, "a tree"},
    {"the tree of frees that are due", tree_due, "a tree"},
    {"the tree of pipes", tree_pipes, "a tree"},
    {"pipes", pipes, "pipes are miscounted"},
    {"physical memory", physical_bytes, "device 0: free"},
    {"a mapping's place in its tree", mapping_place, "overlap"},
    {"two mappings overlap", mapping_overlap, "overlap"},
    {"a mapping that leaves its addresses", mapping_outside, "sums"},
    {"a mapping of another device", mapping_device, "several devices"},
    {"mapped bytes", mapped_bytes, "sums"},
    {"mappings", mapping_count, "sums"},
    {"mappings of physical memory", physical_mappings, "mappings are miscounted"},
    {"managed bytes", managed_bytes, "mappings are miscounted"},
    {"contents that nobody has", contents_gap, "bytes are lost"},
    {"the tree of reservations", tree_reservations, "a tree"},
    {"the tree of physical memory", tree_physicals, "a tree"},
};

static void test_finds(void)
{
    struct fixture fixture;
    char why[256] = "";
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    if (!EXPECT(fixture_script(&fixture, "everything", everything), "everything"))
        return;
    struct engine *engine = fixture.engine;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows[i].change(engine, 1);
        EXPECT(!engine_check(engine, why, sizeof(why)), "not found: %s", rows[i].what);
        EXPECT(strstr(why, rows[i].says) != NULL, "%s: found \"%s\", not \"%s\"", rows[i].what, why,
               rows[i].says);
        rows[i].change(engine, UINT64_MAX);
        EXPECT(engine_check(engine, why, sizeof(why)), "%s: mended, but \"%s\"", rows[i].what, why);
    }
    fixture_finish(&fixture, "broken and mended");
}

/* The sentence is cut where there is no room for it. */
static void test_short_why(void)
{
    struct fixture fixture;
    char why[16];
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    fixture.engine->devices[0].pool_count++;
    EXPECT(!engine_check(fixture.engine, why, sizeof(why)) && strcmp(why, "device 0: its o") == 0,
           "cut: %s", why);
    fixture.engine->devices[0].pool_count--;
    fixture_abandon(&fixture, "short");
}

static const struct soma_test tests[] = {
    {"each broken invariant is found", test_finds},
    {"room for the sentence", test_short_why},
    {NULL, NULL},
};

const struct soma_suite suite_engine_check = {"engine_check", tests};
