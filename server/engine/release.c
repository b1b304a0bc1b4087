/* FreeAsync, and what gives memory back: release at synchronisation, TrimTo, aclrtFree. */
#include "internal.h"

#include <inttypes.h>

/* ---- freeing ---- */

/* The BUSY block that starts at this address of the pool, or the reason why there is none. */
static struct block *find_busy(struct call *call, const struct pool *pool, uint64_t address)
{
    struct block *block = block_at(pool, address);
    if (block->state != SOMA_BLOCK_STATE_BUSY)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " in pool %" PRIu64 " is not allocated: %s", address, pool->id,
                        block->state == SOMA_BLOCK_STATE_CACHED
                            ? "it was freed already and is cached for reuse"
                            : "nothing was allocated there, or it was released");
    else if (block->address != address)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " lies inside a block of pool %" PRIu64
                        "; free its start, 0x%" PRIx64,
                        address, pool->id, block->address);
    else
        return block;
    return NULL;
}

static void count_free(struct pool *pool, const struct block *block)
{
    pool->frees++;
    pool->live_allocations--;
    pool->requested_bytes -= block->requested_size;
}

enum soma_status pool_free_now(struct call *call, struct pool *pool, uint64_t address)
{
    struct engine *engine = call->engine;
    struct block *block = find_busy(call, pool, address);
    if (block == NULL)
        return call->error->status;
    if (!blocks_reserve(engine, 1, 0))
        return engine_no_memory(call);
    count_free(pool, block);
    pool->unmapped_total += block->size;
    if (pool->on_demand)
        pool->device->on_demand_bytes -= block->size;
    if (engine->has_bytes)
        engine->bytes.unmap(engine->bytes.ctx, block->address, block->size);
    block_set_free(engine, block, call->now_ns);
    return SOMA_OK;
}

/* Where in the stream a free submitted now stands. freed->point is owned, NULL when the time is
 * known; freed->late is there when the free is not over at once. false: no memory. */
static bool place_free(struct call *call, struct pool *pool, struct stream *stream,
                       struct freed *freed)
{
    struct engine *engine = call->engine;
    bool blocked = stream_is_blocked(stream);
    freed->position = stream->position;
    freed->freed_ns = stream->ready_ns > call->now_ns ? stream->ready_ns : call->now_ns;
    freed->list = cached_list_get(engine, pool, stream);
    if (freed->list == NULL || !blocks_reserve(engine, 1, 1))
        return false;
    if (blocked) {
        freed->point = point_new(engine);
        if (freed->point == NULL)
            return false;
        freed->point->clock = vclock_ref(stream->clock);
    }
    if (blocked || freed->freed_ns > call->now_ns)
        freed->late = late_take_spare(engine);
    return true;
}

enum soma_status pool_free_on(struct call *call, struct pool *pool, struct stream *stream,
                              uint64_t address, uint64_t *size)
{
    struct engine *engine = call->engine;
    struct block *block = find_busy(call, pool, address);
    if (block == NULL)
        return call->error->status;
    struct submission sub = {.stream = stream, .is_free = true};
    struct freed freed = {0};
    if (!submission_prepare(call, &sub, NULL, 0) || !place_free(call, pool, stream, &freed)) {
        submission_drop(engine, &sub);
        point_unref(engine, freed.point);
        late_put_spare(engine, freed.late);
        return engine_no_memory(call);
    }
    *size = block->size;
    count_free(pool, block);
    submission_commit(call, &sub, freed.point);
    block_set_cached(engine, block, &freed);
    return SOMA_OK;
}

enum soma_status pool_free(struct call *call)
{
    const struct soma_command *command = call->command;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct pool *pool = pool_find(call, device, SOMA_NO_SUCH_POOL);
    if (pool == NULL)
        return call->error->status;
    if (command->ptr == 0)
        return soma_fail(call->error, SOMA_NULL_ADDRESS, "ptr",
                         "ptr is 0; give an address that malloc returned");
    struct stream *stream = stream_find(call, device, command->stream);
    if (stream == NULL)
        return call->error->status;
    struct pool *owner = pool_by_address(call->engine, command->ptr);
    if (owner != NULL && owner != pool)
        return soma_fail(call->error, SOMA_ADDRESS_OF_OTHER_POOL, "ptr",
                         "0x%" PRIx64 " belongs to pool %" PRIu64 ", not to pool %" PRIu64,
                         command->ptr, owner->id, pool->id);
    if (owner == NULL)
        return soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                         "0x%" PRIx64 " is not an address of pool %" PRIu64, command->ptr,
                         pool->id);
    return pool_free_on(call, pool, stream, command->ptr, &call->result->u.pool_freed.size);
}

/* ---- releasing ---- */

uint64_t pool_shrink(struct engine *engine, struct pool *pool, uint64_t target, uint64_t now_ns)
{
    uint64_t before = pool_reserved(pool);
    struct cached_walk walk;
    struct block *block;
    if (before <= target)
        return 0;
    cached_walk_begin(pool, &walk);
    while (pool_reserved(pool) > target && (block = cached_walk_next(&walk)) != NULL) {
        uint64_t excess = pool_reserved(pool) - target;
        if (block->size > excess)
            block = block_split_low(engine, block, excess);
        if (engine->has_bytes)
            engine->bytes.unmap(engine->bytes.ctx, block->address, block->size);
        block_set_free(engine, block, now_ns);
    }
    uint64_t released = before - pool_reserved(pool);
    pool->unmapped_total += released;
    if (pool->on_demand)
        pool->device->on_demand_bytes -= released;
    return released;
}

/* What a pool keeps at a synchronisation: USED and the threshold, in whole granules. */
static uint64_t kept_by_threshold(const struct pool *pool)
{
    uint64_t threshold = pool->attributes[SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD];
    return pool_used(pool) + round_up(threshold, SOMA_GRANULE_BYTES);
}

enum soma_status device_release_prepare(struct call *call, const struct device *device)
{
    struct engine *engine = call->engine;
    size_t cuts = 0, nodes = 0; /* only a pool that keeps some of what is cached cuts a block */
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device == device && kept_by_threshold(pool) > pool_used(pool)) {
            cuts++;
            nodes += blocks_nodes_max(pool);
        }
    }
    bool good = blocks_reserve(engine, cuts, cuts) && nodes_reserve(engine, nodes);
    return good ? SOMA_OK : engine_no_memory(call);
}

enum soma_status device_release(struct call *call, const struct device *device)
{
    struct engine *engine = call->engine;
    uint64_t released = 0;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device == device)
            released += pool_shrink(engine, pool, kept_by_threshold(pool), call->now_ns);
    }
    call->result->u.synchronized =
        (struct soma_synchronized){SOMA_COMPLETION_COMPLETE, call->now_ns, released};
    return SOMA_OK;
}

enum soma_status pool_trim_to(struct call *call)
{
    struct engine *engine = call->engine;
    char wanted[32], limit[32];
    uint64_t keep = call->command->min_bytes_to_keep;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct pool *pool = pool_find(call, device, SOMA_NO_SUCH_POOL);
    if (pool == NULL)
        return call->error->status;
    if (keep > pool->max_size)
        return soma_fail(call->error, SOMA_TRIM_EXCEEDS_POOL, "minBytesToKeep",
                         "minBytesToKeep %s is more than pool %" PRIu64 "'s maxSize %s",
                         soma_bytes_text(wanted, keep), pool->id,
                         soma_bytes_text(limit, pool->max_size));
    if (!blocks_reserve(engine, 1, 1) || !nodes_reserve(engine, blocks_nodes_max(pool)))
        return engine_no_memory(call);
    uint64_t target = round_up(keep, SOMA_GRANULE_BYTES);
    if (target < pool_used(pool))
        target = pool_used(pool);
    uint64_t released = pool_shrink(engine, pool, target, call->now_ns);
    call->result->u.pool_trimmed = (struct soma_pool_trimmed){pool_reserved(pool), released};
    return SOMA_OK;
}
