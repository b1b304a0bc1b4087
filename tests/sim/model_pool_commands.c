/* Pools as objects: creation, description, attributes, trimming, freeing, destruction. */
#include "model_state.h"

#include <stdlib.h>

#define LEAKS_MAX 100u /* named when a pool is destroyed; all are counted */

static enum soma_status find_pool(const struct model *model, const struct soma_command *command,
                                  struct model_pool **pool)
{
    uint32_t index;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    enum soma_status status = model_find_pool(model, command->device, command->pool, &index);
    if (status == SOMA_OK)
        *pool = model_pool(model, index);
    return status;
}

/* ---- creation ---- */

static enum soma_status check_create(const struct model *model, const struct soma_command *command)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (command->alloc_type != SOMA_ALLOC_TYPE_PINNED)
        return SOMA_UNSUPPORTED_ALLOC_TYPE;
    if (command->handle_type != SOMA_HANDLE_TYPE_NONE &&
        command->handle_type != SOMA_HANDLE_TYPE_POSIX)
        return SOMA_INVALID_VALUE;
    if (command->location_type != SOMA_LOCATION_TYPE_DEVICE)
        return SOMA_UNSUPPORTED_LOCATION;
    if ((command->present & SOMA_HAS(location_id)) != 0 && command->location_id != command->device)
        return SOMA_WRONG_LOCATION;
    if (command->max_size > model->config.memory_bytes / SOMA_GRANULE_BYTES * SOMA_GRANULE_BYTES)
        return SOMA_POOL_SIZE_EXCEEDS_DEVICE;
    return SOMA_OK;
}

static void describe_created(const struct model_pool *pool, struct soma_pool_created *out)
{
    out->pool = pool->id;
    out->device = pool->device;
    out->base_address = pool->base;
    out->max_size = pool->max_bytes;
    out->granularity = SOMA_GRANULE_BYTES;
}

enum soma_status model_pool_create(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    enum soma_status status = check_create(model, command);
    if (status != SOMA_OK)
        return status;
    bool is_demand = command->max_size == 0;
    uint64_t granules = is_demand
                            ? model->config.memory_bytes / SOMA_GRANULE_BYTES
                            : (command->max_size + SOMA_GRANULE_BYTES - 1) / SOMA_GRANULE_BYTES;
    uint64_t bytes = granules * SOMA_GRANULE_BYTES;
    if (!is_demand && bytes > model_device_free(model, (uint32_t)command->device))
        return SOMA_DEVICE_MEMORY_EXHAUSTED;
    uint64_t base = model_find_space(model, bytes, SOMA_ADDRESS_BASE, SOMA_ADDRESS_END);
    if (base == 0)
        return SOMA_ADDRESS_SPACE_EXHAUSTED;
    struct model_pool *pool = model_list_add(&model->pools, sizeof(*pool));
    pool->id = model->next_pool++;
    pool->device = (uint32_t)command->device;
    pool->is_live = true;
    pool->is_demand = is_demand;
    pool->base = base;
    pool->max_bytes = bytes;
    pool->granule_count = (uint32_t)granules;
    model_pool_init(pool);
    result->message = SOMA_MESSAGE_POOL_CREATED;
    describe_created(pool, &result->u.pool_created);
    return SOMA_OK;
}

enum soma_status model_pool_list(struct model *model, const struct soma_command *command,
                                 struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    struct soma_pool_list *list = &result->u.pool_list;
    result->message = SOMA_MESSAGE_POOL_LIST;
    list->pools.items = model_alloc(model->pools.count * sizeof(*list->pools.items));
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        if (pool->is_live && pool->device == command->device)
            describe_created(pool, &list->pools.items[list->pools.count++]);
    }
    return SOMA_OK;
}

/* ---- attributes ---- */

static uint64_t attribute_of(const struct model_pool *pool, uint64_t attribute)
{
    switch (attribute) {
    case SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES: return pool->follow_events;
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC: return pool->allow_opportunistic;
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return pool->allow_internal;
    case SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD: return pool->threshold;
    case SOMA_POOL_ATTRIBUTE_RESERVED_MEM_CURRENT: return pool->reserved;
    case SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH: return pool->reserved_high;
    case SOMA_POOL_ATTRIBUTE_USED_MEM_CURRENT: return pool->used;
    default: return pool->used_high;
    }
}

static void describe_attributes(const struct model_pool *pool, struct soma_pool_attributes *out)
{
    out->reuse_follow_event_dependencies = pool->follow_events;
    out->reuse_allow_opportunistic = pool->allow_opportunistic;
    out->reuse_allow_internal_dependencies = pool->allow_internal;
    out->release_threshold = pool->threshold;
    out->reserved_mem_current = pool->reserved;
    out->reserved_mem_high = pool->reserved_high;
    out->used_mem_current = pool->used;
    out->used_mem_high = pool->used_high;
}

static enum soma_status find_attributes(const struct model *model,
                                        const struct soma_command *command,
                                        struct model_pool **pool)
{
    enum soma_status status = find_pool(model, command, pool);
    return status == SOMA_NO_SUCH_POOL ? SOMA_NO_SUCH_POOL_ATTRIBUTES : status;
}

static bool is_attribute(uint64_t attribute)
{
    return attribute >= 1 && attribute <= 8;
}

enum soma_status model_pool_get_attributes(struct model *model, const struct soma_command *command,
                                           struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_attributes(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_POOL_ATTRIBUTES;
    describe_attributes(pool, &result->u.pool_attributes);
    return SOMA_OK;
}

enum soma_status model_pool_get_attribute(struct model *model, const struct soma_command *command,
                                          struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_attributes(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    if (!is_attribute(command->attribute))
        return SOMA_UNKNOWN_ATTRIBUTE;
    result->message = SOMA_MESSAGE_ATTRIBUTE_VALUE;
    result->u.attribute_value.name = (int)command->attribute;
    result->u.attribute_value.value = attribute_of(pool, command->attribute);
    return SOMA_OK;
}

static void reset_high(const struct model *model, uint64_t *high, uint64_t current)
{
    *high = model_has_mutant(model, MUTANT_HIGH_TO_ZERO) ? 0 : current;
}

static enum soma_status set_attribute(const struct model *model, struct model_pool *pool,
                                      uint64_t attribute, uint64_t value)
{
    switch (attribute) {
    case SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        pool->follow_events = value != 0;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC:
        pool->allow_opportunistic = value != 0;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->allow_internal = value != 0;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD:
        if (value > pool->max_bytes)
            return SOMA_ATTRIBUTE_VALUE;
        pool->threshold = value;
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH:
        if (value != 0)
            return SOMA_ATTRIBUTE_VALUE;
        reset_high(model, &pool->reserved_high, pool->reserved);
        return SOMA_OK;
    case SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH:
        if (value != 0)
            return SOMA_ATTRIBUTE_VALUE;
        reset_high(model, &pool->used_high, pool->used);
        return SOMA_OK;
    default: return SOMA_ATTRIBUTE_READ_ONLY;
    }
}

enum soma_status model_pool_set_attribute(struct model *model, const struct soma_command *command,
                                          struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_attributes(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    if (!is_attribute(command->attribute))
        return SOMA_UNKNOWN_ATTRIBUTE;
    status = set_attribute(model, pool, command->attribute, command->value);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_ATTRIBUTE_VALUE;
    result->u.attribute_value.name = (int)command->attribute;
    result->u.attribute_value.value = attribute_of(pool, command->attribute);
    return SOMA_OK;
}

/* ---- description ---- */

/* Add a CACHED block to the list, which stands in the order of stream ids. */
static void count_cached(struct soma_pool_usage *usage, uint64_t stream, uint64_t bytes)
{
    size_t place = 0;
    while (place < usage->cached_by_stream.count &&
           usage->cached_by_stream.items[place].stream < stream)
        place++;
    struct soma_stream_bytes *items = usage->cached_by_stream.items;
    if (place == usage->cached_by_stream.count || items[place].stream != stream) {
        for (size_t i = usage->cached_by_stream.count; i > place; i--)
            items[i] = items[i - 1];
        items[place] = (struct soma_stream_bytes){stream, 0};
        usage->cached_by_stream.count++;
    }
    items[place].bytes += bytes;
}

static void count_blocks(const struct model *model, const struct model_pool *pool,
                         struct soma_pool_usage *usage)
{
    usage->cached_by_stream.items =
        model_alloc(MODEL_STREAMS_MAX * sizeof(*usage->cached_by_stream.items));
    for (uint32_t first = 0; first < pool->granule_count;) {
        const struct model_granule *granule = &pool->granules[first];
        uint32_t end = model_block_end(model, pool, first);
        uint64_t bytes = (end - first) * SOMA_GRANULE_BYTES;
        if (granule->state == SOMA_BLOCK_STATE_BUSY) {
            usage->live_allocations++;
            usage->requested_bytes += granule->requested;
        } else if (granule->state == SOMA_BLOCK_STATE_CACHED) {
            usage->cached_bytes += bytes;
            count_cached(usage, model_stream(model, granule->stream)->id, bytes);
        } else if (bytes > usage->largest_free_bytes) {
            usage->largest_free_bytes = bytes;
        }
        first = end;
    }
}

enum soma_status model_pool_get(struct model *model, const struct soma_command *command,
                                struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_pool(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    struct soma_pool *out = &result->u.pool;
    struct soma_pool_created created;
    result->message = SOMA_MESSAGE_POOL;
    describe_created(pool, &created);
    out->pool = created.pool;
    out->device = created.device;
    out->base_address = created.base_address;
    out->max_size = created.max_size;
    out->granularity = created.granularity;
    describe_attributes(pool, &out->attributes);
    count_blocks(model, pool, &out->usage);
    out->usage.mallocs = pool->mallocs;
    out->usage.frees = pool->frees;
    out->usage.reuse.fresh = pool->reuse[SOMA_REUSE_FRESH];
    out->usage.reuse.same_stream = pool->reuse[SOMA_REUSE_SAME_STREAM];
    out->usage.reuse.event = pool->reuse[SOMA_REUSE_EVENT];
    out->usage.reuse.opportunistic = pool->reuse[SOMA_REUSE_OPPORTUNISTIC];
    out->usage.reuse.internal = pool->reuse[SOMA_REUSE_INTERNAL];
    out->usage.mapped_bytes_total = pool->mapped_total;
    out->usage.unmapped_bytes_total = pool->unmapped_total;
    return SOMA_OK;
}

enum soma_status model_pool_segments(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_pool(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    struct soma_segment_list *list = &result->u.segment_list;
    result->message = SOMA_MESSAGE_SEGMENT_LIST;
    list->segments.items = model_alloc((pool->touched + 1) * sizeof(*list->segments.items));
    for (uint32_t first = 0; first < pool->granule_count;) {
        const struct model_granule *granule = &pool->granules[first];
        struct soma_segment *segment = &list->segments.items[list->segments.count++];
        uint32_t end = model_block_end(model, pool, first);
        segment->address = pool->base + first * SOMA_GRANULE_BYTES;
        segment->size = (end - first) * SOMA_GRANULE_BYTES;
        segment->state = granule->state;
        segment->stream = granule->state == SOMA_BLOCK_STATE_FREE
                              ? SOMA_NONE
                              : model_stream(model, granule->stream)->id;
        segment->requested_size = granule->state == SOMA_BLOCK_STATE_BUSY ? granule->requested : 0;
        first = end;
    }
    return SOMA_OK;
}

/* ---- freeing, trimming, destroying ---- */

enum soma_status model_pool_free(struct model *model, const struct soma_command *command,
                                 struct soma_result *result)
{
    struct model_pool *pool;
    uint32_t stream;
    enum soma_status status = find_pool(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    if (command->ptr == 0)
        return SOMA_NULL_ADDRESS;
    status = model_find_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    uint32_t first = model_busy_start(pool, command->ptr);
    if (first == MODEL_NONE) {
        uint32_t other = model_pool_of_address(model, command->ptr);
        return other != MODEL_NONE && model_pool(model, other) != pool ? SOMA_ADDRESS_OF_OTHER_POOL
                                                                       : SOMA_INVALID_ADDRESS;
    }
    result->message = SOMA_MESSAGE_POOL_FREED;
    result->u.pool_freed.size = (model_block_end(model, pool, first) - first) * SOMA_GRANULE_BYTES;
    model_pool_free_on(model, pool, first, stream);
    return SOMA_OK;
}

enum soma_status model_pool_trim_to(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_pool(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    uint64_t keep = command->min_bytes_to_keep;
    if (keep > pool->max_bytes)
        return SOMA_TRIM_EXCEEDS_POOL;
    if (keep < pool->used && model_has_mutant(model, MUTANT_TRIM_BELOW_USED))
        return SOMA_TRIM_EXCEEDS_POOL;
    if (!model_has_mutant(model, MUTANT_TRIM_FLOOR))
        keep += SOMA_GRANULE_BYTES - 1;
    keep = keep / SOMA_GRANULE_BYTES * SOMA_GRANULE_BYTES;
    keep = keep < pool->used ? pool->used : keep;
    result->message = SOMA_MESSAGE_POOL_TRIMMED;
    result->u.pool_trimmed.released_bytes = model_shrink(model, pool, keep);
    result->u.pool_trimmed.reserved_mem_current = pool->reserved;
    return SOMA_OK;
}

enum soma_status model_pool_destroy(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    struct model_pool *pool;
    enum soma_status status = find_pool(model, command, &pool);
    if (status != SOMA_OK)
        return status;
    struct model_list leaks = {0};
    model_pool_leaks(model, pool, &leaks);
    result->message = SOMA_MESSAGE_POOL_DESTROYED;
    result->u.pool_destroyed.leaked_allocations = leaks.count;
    result->u.pool_destroyed.leaked_bytes = pool->used;
    result->u.pool_destroyed.leaks.items = leaks.items;
    result->u.pool_destroyed.leaks.count = leaks.count < LEAKS_MAX ? leaks.count : LEAKS_MAX;
    model_pool_drop(model, pool);
    return SOMA_OK;
}
