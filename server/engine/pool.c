/* Pools: creation, attributes, reports and destruction. Blocks move in malloc.c and release.c. */
#include "internal.h"

#include <inttypes.h>

uint64_t pool_reserved(const struct pool *pool)
{
    return pool->max_size - pool->free_bytes;
}

uint64_t pool_used(const struct pool *pool)
{
    return pool_reserved(pool) - pool->cached_bytes;
}

struct pool *pool_find(struct call *call, struct device *device, enum soma_status absent)
{
    struct engine *engine = call->engine;
    uint64_t id = call->command->pool;
    struct pool *pool = TREE_ENTRY(tree_find(&engine->pools, id, 0), struct pool, by_id);
    if (pool != NULL && pool->device == device)
        return pool;
    if (pool != NULL)
        (void)soma_fail(call->error, absent, "pool",
                        "pool %" PRIu64 " belongs to device %" PRIu64 ", not to device %" PRIu64,
                        id, pool->device->number, device->number);
    else
        (void)soma_fail(call->error, absent, "pool", "pool %" PRIu64 " %s", id,
                        id != 0 && id <= engine->last_id[ID_POOL] ? "was destroyed"
                                                                  : "never was; create one first");
    return NULL;
}

/* The pool that the command names; NULL with call->error set. */
static struct pool *named_pool(struct call *call, enum soma_status absent)
{
    struct device *device = device_find(call);
    return device == NULL ? NULL : pool_find(call, device, absent);
}

struct pool *pool_by_address(const struct engine *engine, uint64_t address)
{
    struct pool *pool =
        TREE_ENTRY(tree_floor(&engine->pools_by_base, address, 0), struct pool, by_base);
    return pool != NULL && address - pool->base < pool->max_size ? pool : NULL;
}

/* ---- creation ---- */

static enum soma_status refuse_location(struct call *call, uint64_t type)
{
    const char *word = type <= INT32_MAX ? soma_word_of(SOMA_GROUP_location_type, (int)type) : NULL;
    return soma_fail(call->error, SOMA_UNSUPPORTED_LOCATION, "location.type",
                     "location.type %s (%" PRIu64 ") is not supported: pools live on a DEVICE",
                     word != NULL ? word : "without a name", type);
}

static enum soma_status check_props(struct call *call, const struct device *device)
{
    const struct soma_command *command = call->command;
    if (command->alloc_type != SOMA_ALLOC_TYPE_PINNED)
        return soma_fail(call->error, SOMA_UNSUPPORTED_ALLOC_TYPE, "allocType",
                         "allocType %" PRIu64 " is not supported: pools are PINNED (0) memory",
                         command->alloc_type);
    if (soma_word_of(SOMA_GROUP_handle_type, (int)command->handle_type) == NULL)
        return soma_fail(call->error, SOMA_INVALID_VALUE, "handleType",
                         "handleType %" PRIu64 " is not one of NONE (0) and POSIX (2)",
                         command->handle_type);
    if (command->location_type != SOMA_LOCATION_TYPE_DEVICE)
        return refuse_location(call, command->location_type);
    if (call_has(call, SOMA_HAS(location_id)) && command->location_id != device->number)
        return soma_fail(call->error, SOMA_WRONG_LOCATION, "location.id",
                         "location.id %" PRIu64 " is not device %" PRIu64
                         ", on which the pool is created",
                         command->location_id, device->number);
    return SOMA_OK;
}

/* The pool's size, checked against the device. */
static enum soma_status size_of_new(struct call *call, const struct device *device, uint64_t *size)
{
    char wanted[32], limit[32];
    uint64_t max_size = call->command->max_size;
    if (max_size == 0) {
        *size = device->total_bytes / SOMA_GRANULE_BYTES * SOMA_GRANULE_BYTES;
        return SOMA_OK;
    }
    *size = round_up(max_size, SOMA_GRANULE_BYTES);
    if (*size == 0 || *size > device->total_bytes)
        return soma_fail(call->error, SOMA_POOL_SIZE_EXCEEDS_DEVICE, "maxSize",
                         "maxSize %s is more than device %" PRIu64
                         " has: %s; give at most that, or 0 "
                         "for a pool that draws on the device as it grows",
                         soma_bytes_text(wanted, *size == 0 ? max_size : *size), device->number,
                         soma_bytes_text(limit, device->total_bytes));
    if (*size > device_free_bytes(device))
        return soma_fail(call->error, SOMA_DEVICE_MEMORY_EXHAUSTED, "maxSize",
                         "maxSize %s cannot be set aside: device %" PRIu64
                         " has %s free; destroy or "
                         "trim other pools, free memory, or give maxSize 0",
                         soma_bytes_text(wanted, *size), device->number,
                         soma_bytes_text(limit, device_free_bytes(device)));
    return SOMA_OK;
}

/* Give the pool its range of addresses. */
static enum soma_status place(struct call *call, struct pool *pool)
{
    struct engine *engine = call->engine;
    char wanted[32];
    enum soma_status status =
        space_take(engine, &engine->large, pool->max_size, &pool->base, &pool->gap);
    if (status == SOMA_OUT_OF_MEMORY)
        return engine_no_memory(call);
    if (status != SOMA_OK)
        return soma_fail(call->error, status, "maxSize",
                         "the session's device addresses have no gap of %s left; destroy pools or "
                         "give smaller maxSizes",
                         soma_bytes_text(wanted, pool->max_size));
    if (!engine->has_bytes)
        return SOMA_OK;
    status = engine->bytes.reserve(engine->bytes.ctx, pool->base, pool->max_size, call->error);
    if (status != SOMA_OK)
        space_give(engine, &engine->large, pool->base, pool->max_size, pool->gap);
    return status;
}

enum soma_status pool_create(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    uint64_t size = 0;
    enum soma_status status = check_props(call, device);
    if (status == SOMA_OK)
        status = size_of_new(call, device, &size);
    if (status != SOMA_OK)
        return status;
    struct pool *pool = engine_alloc(engine, sizeof(*pool));
    if (pool == NULL || !blocks_reserve(engine, 1, 0)) {
        engine_free(engine, pool);
        return engine_no_memory(call);
    }
    pool->max_size = size;
    status = place(call, pool);
    if (status != SOMA_OK) {
        engine_free(engine, pool);
        return status;
    }
    pool->device = device;
    pool->id = ++engine->last_id[ID_POOL];
    pool->on_demand = call->command->max_size == 0;
    blocks_init(engine, pool);
    tree_insert(&engine->pools, &pool->by_id, pool->id, 0);
    tree_insert(&engine->pools_by_base, &pool->by_base, pool->base, 0);
    device->pool_count++;
    if (!pool->on_demand)
        device->set_aside_bytes += size;
    call->result->u.pool_created = (struct soma_pool_created){pool->id, device->number, pool->base,
                                                              pool->max_size, SOMA_GRANULE_BYTES};
    return SOMA_OK;
}

void pool_release(struct engine *engine, struct pool *pool)
{
    struct device *device = pool->device;
    struct engine_totals *past = &engine->past;
    if (pool->on_demand)
        device->on_demand_bytes -= pool_reserved(pool);
    else
        device->set_aside_bytes -= pool->max_size;
    device->pool_count--;
    past->mapped_bytes += pool->mapped_total;
    past->unmapped_bytes += pool->unmapped_total + pool_reserved(pool);
    past->mallocs += pool->mallocs;
    past->frees += pool->frees;
    for (size_t i = 0; i < sizeof(past->reuse) / sizeof(past->reuse[0]); i++)
        past->reuse[i] += pool->reuse[i];
    tree_remove(&engine->pools, &pool->by_id);
    tree_remove(&engine->pools_by_base, &pool->by_base);
    blocks_clear(engine, pool);
    if (engine->has_bytes)
        engine->bytes.release(engine->bytes.ctx, pool->base, pool->max_size);
    space_give(engine, &engine->large, pool->base, pool->max_size, pool->gap);
    engine_free(engine, pool);
}

/* ---- reports ---- */

enum soma_status pool_list(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    void *items = NULL;
    enum soma_status status = engine_result_array(call, (size_t)device->pool_count,
                                                  sizeof(struct soma_pool_created), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_pool_created *pools = items;
    size_t count = 0;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device == device)
            pools[count++] = (struct soma_pool_created){pool->id, device->number, pool->base,
                                                        pool->max_size, SOMA_GRANULE_BYTES};
    }
    call->result->u.pool_list.pools.items = pools;
    call->result->u.pool_list.pools.count = count;
    return SOMA_OK;
}

/* The value of one attribute. */
static uint64_t attribute_value(const struct pool *pool, enum soma_pool_attribute attribute)
{
    if (attribute == SOMA_POOL_ATTRIBUTE_RESERVED_MEM_CURRENT)
        return pool_reserved(pool);
    if (attribute == SOMA_POOL_ATTRIBUTE_USED_MEM_CURRENT)
        return pool_used(pool);
    return pool->attributes[attribute];
}

static void describe_attributes(const struct pool *pool, struct soma_pool_attributes *out)
{
    const uint64_t *values = pool->attributes;
    *out = (struct soma_pool_attributes){
        values[SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES],
        values[SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC],
        values[SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES],
        values[SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD],
        pool_reserved(pool),
        values[SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH],
        pool_used(pool),
        values[SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH],
    };
}

static enum soma_status describe_usage(struct call *call, const struct pool *pool,
                                       struct soma_pool_usage *out)
{
    size_t count = 0;
    struct tree_node *node;
    for (node = tree_first(&pool->cached_lists); node != NULL; node = tree_next(node))
        count += TREE_ENTRY(node, struct cached_list, by_stream)->bytes > 0;
    void *items = NULL;
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_stream_bytes), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_stream_bytes *by_stream = items;
    size_t filled = 0;
    for (node = tree_first(&pool->cached_lists); node != NULL; node = tree_next(node)) {
        const struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        if (list->bytes > 0)
            by_stream[filled++] = (struct soma_stream_bytes){list->stream->id, list->bytes};
    }
    struct tree_node *largest = tree_last(&pool->free_blocks);
    *out = (struct soma_pool_usage){
        .live_allocations = pool->live_allocations,
        .requested_bytes = pool->requested_bytes,
        .cached_bytes = pool->cached_bytes,
        .largest_free_bytes = largest == NULL ? 0 : largest->major,
        .cached_by_stream = {by_stream, count},
        .mallocs = pool->mallocs,
        .frees = pool->frees,
        .reuse = {pool->reuse[SOMA_REUSE_FRESH], pool->reuse[SOMA_REUSE_SAME_STREAM],
                  pool->reuse[SOMA_REUSE_EVENT], pool->reuse[SOMA_REUSE_OPPORTUNISTIC],
                  pool->reuse[SOMA_REUSE_INTERNAL]},
        .mapped_bytes_total = pool->mapped_total,
        .unmapped_bytes_total = pool->unmapped_total,
    };
    return SOMA_OK;
}

enum soma_status pool_get(struct call *call)
{
    const struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL);
    if (pool == NULL)
        return call->error->status;
    struct soma_pool *out = &call->result->u.pool;
    out->pool = pool->id;
    out->device = pool->device->number;
    out->base_address = pool->base;
    out->max_size = pool->max_size;
    out->granularity = SOMA_GRANULE_BYTES;
    describe_attributes(pool, &out->attributes);
    return describe_usage(call, pool, &out->usage);
}

enum soma_status pool_segments(struct call *call)
{
    const struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL);
    if (pool == NULL)
        return call->error->status;
    size_t count = 0, filled = 0;
    const struct block *block;
    for (block = block_first(pool); block != NULL; block = block->next)
        count++;
    void *items = NULL;
    enum soma_status status = engine_result_array(call, count, sizeof(struct soma_segment), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_segment *segments = items;
    for (block = block_first(pool); block != NULL; block = block->next) {
        bool busy = block->state == SOMA_BLOCK_STATE_BUSY;
        uint64_t stream = busy ? block->stream_id : SOMA_NONE;
        if (block->state == SOMA_BLOCK_STATE_CACHED)
            stream = block->idle->list->stream->id;
        segments[filled++] = (struct soma_segment){block->address, block->size, (int)block->state,
                                                   stream, busy ? block->requested_size : 0};
    }
    call->result->u.segment_list.segments.items = segments;
    call->result->u.segment_list.segments.count = count;
    return SOMA_OK;
}

/* ---- attributes ---- */

enum soma_status pool_get_attributes(struct call *call)
{
    const struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL_ATTRIBUTES);
    if (pool == NULL)
        return call->error->status;
    describe_attributes(pool, &call->result->u.pool_attributes);
    return SOMA_OK;
}

/* Is the command's attribute one of the eight? */
static enum soma_status check_attribute(struct call *call)
{
    uint64_t attribute = call->command->attribute;
    if (attribute >= SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
        attribute <= SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH)
        return SOMA_OK;
    return soma_fail(call->error, SOMA_UNKNOWN_ATTRIBUTE, "name",
                     "no pool attribute has the number %" PRIu64 "; they are 1 to 8", attribute);
}

enum soma_status pool_get_attribute(struct call *call)
{
    const struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL_ATTRIBUTES);
    if (pool == NULL)
        return call->error->status;
    enum soma_status status = check_attribute(call);
    if (status != SOMA_OK)
        return status;
    enum soma_pool_attribute attribute = (enum soma_pool_attribute)call->command->attribute;
    call->result->u.attribute_value =
        (struct soma_attribute_value){(int)attribute, attribute_value(pool, attribute)};
    return SOMA_OK;
}

/* Set attribute to value, or say why it cannot have it. */
static enum soma_status assign(struct call *call, struct pool *pool,
                               enum soma_pool_attribute attribute, uint64_t value)
{
    const char *name = soma_word_of(SOMA_GROUP_pool_attribute, (int)attribute);
    char wanted[32], limit[32];
    switch (attribute) {
    case SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC:
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->attributes[attribute] = value != 0;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD:
        if (value > pool->max_size)
            return soma_fail(
                call->error, SOMA_ATTRIBUTE_VALUE, "value",
                "releaseThreshold %s is more than pool %" PRIu64 "'s maxSize %s; give at "
                "most that",
                soma_bytes_text(wanted, value), pool->id, soma_bytes_text(limit, pool->max_size));
        pool->attributes[attribute] = value;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH:
    case SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH:
        if (value != 0)
            return soma_fail(
                call->error, SOMA_ATTRIBUTE_VALUE, "value",
                "%s can only be set to 0, which resets it to the current value, not to "
                "%" PRIu64,
                name, value);
        pool->attributes[attribute] =
            attribute == SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH ? pool_used(pool) : pool_reserved(pool);
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_RESERVED_MEM_CURRENT:
    case SOMA_POOL_ATTRIBUTE_USED_MEM_CURRENT:
    default:
        return soma_fail(call->error, SOMA_ATTRIBUTE_READ_ONLY, "name",
                         "%s is read-only: it follows mallocs, frees and releases", name);
    }
}

enum soma_status pool_set_attribute(struct call *call)
{
    struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL_ATTRIBUTES);
    if (pool == NULL)
        return call->error->status;
    enum soma_status status = check_attribute(call);
    if (status != SOMA_OK)
        return status;
    enum soma_pool_attribute attribute = (enum soma_pool_attribute)call->command->attribute;
    status = assign(call, pool, attribute, call->command->value);
    if (status != SOMA_OK)
        return status;
    call->result->u.attribute_value =
        (struct soma_attribute_value){(int)attribute, attribute_value(pool, attribute)};
    return SOMA_OK;
}

/* ---- destruction ---- */

enum { LEAKS_LISTED = 100 };

/* The pool's live blocks, the first LEAKS_LISTED of them. */
static enum soma_status list_leaks(struct call *call, const struct pool *pool,
                                   struct soma_pool_destroyed *out)
{
    size_t count = pool->live_allocations < LEAKS_LISTED ? (size_t)pool->live_allocations
                                                         : (size_t)LEAKS_LISTED;
    void *items = NULL;
    enum soma_status status = engine_result_array(call, count, sizeof(struct soma_leak), &items);
    if (status != SOMA_OK)
        return status;
    out->leaks.items = items;
    out->leaks.count = pool_leaks(pool, out->leaks.items, count);
    return SOMA_OK;
}

size_t pool_leaks(const struct pool *pool, struct soma_leak *items, size_t max)
{
    size_t count = 0;
    for (const struct block *block = block_first(pool); block != NULL && count < max;
         block = block->next) {
        if (block->state == SOMA_BLOCK_STATE_BUSY)
            items[count++] = (struct soma_leak){
                SOMA_MEMORY_KIND_POOL, pool->device->number, pool->id,
                block->address,        block->size,          block->requested_size,
                block->stream_id,      block->allocated_by};
    }
    return count;
}

enum soma_status pool_destroy(struct call *call)
{
    struct pool *pool = named_pool(call, SOMA_NO_SUCH_POOL);
    if (pool == NULL)
        return call->error->status;
    struct soma_pool_destroyed *out = &call->result->u.pool_destroyed;
    enum soma_status status = list_leaks(call, pool, out);
    if (status != SOMA_OK)
        return status;
    out->leaked_allocations = pool->live_allocations;
    out->leaked_bytes = pool_used(pool);
    pool_release(call->engine, pool);
    return SOMA_OK;
}
