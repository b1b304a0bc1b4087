/* Memory outside pools, addresses, and contents. */
#include "model_state.h"

#include "kernel.h"

#include <stdlib.h>

/* ---- the device's memory ---- */

static bool is_held(const struct model *model, const struct model_allocation *allocation)
{
    if (allocation->is_live)
        return true;
    if (allocation->is_gone || model_has_mutant(model, MUTANT_ASYNC_FREE_AT_ONCE))
        return false;
    return !model_is_over(model, allocation->free_task, model->now_ns);
}

uint64_t model_device_free(const struct model *model, uint32_t device)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        bool is_set_aside = !pool->is_demand && !model_has_mutant(model, MUTANT_POOL_NOT_SET_ASIDE);
        if (pool->is_live && pool->device == device)
            taken += is_set_aside ? pool->max_bytes : pool->reserved;
    }
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        const struct model_allocation *allocation = model_allocation(model, i);
        if (allocation->device == device && is_held(model, allocation))
            taken += allocation->page_bytes;
    }
    return taken > model->config.memory_bytes ? 0 : model->config.memory_bytes - taken;
}

/* ---- addresses ---- */

struct range {
    uint64_t base, bytes;
};

static int compare_ranges(const void *left, const void *right)
{
    uint64_t a = ((const struct range *)left)->base;
    uint64_t b = ((const struct range *)right)->base;
    return a < b ? -1 : a > b;
}

/* Every range of the session that is taken, lowest first. */
static struct model_list taken_ranges(const struct model *model)
{
    struct model_list ranges = {0};
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        if (!pool->is_live)
            continue;
        struct range *range = model_list_add(&ranges, sizeof(*range));
        *range = (struct range){pool->base, pool->max_bytes};
    }
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        const struct model_allocation *allocation = model_allocation(model, i);
        if (!is_held(model, allocation))
            continue;
        struct range *range = model_list_add(&ranges, sizeof(*range));
        *range = (struct range){allocation->base, allocation->page_bytes};
    }
    if (ranges.count > 0)
        qsort(ranges.items, ranges.count, sizeof(struct range), compare_ranges);
    return ranges;
}

uint64_t model_find_space(const struct model *model, uint64_t size_bytes, uint64_t begin,
                          uint64_t end)
{
    struct model_list ranges = taken_ranges(model);
    uint64_t best = 0;
    uint64_t best_bytes = 0;
    uint64_t gap = begin;
    for (uint32_t i = 0; i <= ranges.count; i++) {
        const struct range *range = (const struct range *)ranges.items + i;
        if (i < ranges.count && (range->base < begin || range->base >= end))
            continue;
        uint64_t gap_end = i < ranges.count ? range->base : end;
        bool is_better = best == 0 || gap_end - gap < best_bytes;
        if (best != 0 && model_has_mutant(model, MUTANT_SPACE_FIRST_FIT))
            is_better = false;
        if (gap_end - gap >= size_bytes && is_better) {
            best = gap;
            best_bytes = gap_end - gap;
        }
        if (i < ranges.count)
            gap = range->base + range->bytes;
    }
    free(ranges.items);
    return best;
}

uint32_t model_pool_of_address(const struct model *model, uint64_t address)
{
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        if (pool->is_live && address >= pool->base && address - pool->base < pool->max_bytes)
            return i;
    }
    return MODEL_NONE;
}

static bool is_inside(const struct model_place *place, uint64_t address, uint64_t size_bytes)
{
    return address >= place->base && address - place->base < place->bytes &&
           size_bytes <= place->bytes - (address - place->base);
}

bool model_locate(const struct model *model, uint64_t device, uint64_t address, uint64_t size_bytes,
                  struct model_place *place)
{
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        const struct model_allocation *allocation = model_allocation(model, i);
        *place = (struct model_place){MODEL_NONE, allocation->base, allocation->bytes};
        if (allocation->is_live && allocation->device == device &&
            is_inside(place, address, size_bytes))
            return true;
    }
    uint32_t index = model_pool_of_address(model, address);
    if (index == MODEL_NONE || model_pool(model, index)->device != device)
        return false;
    const struct model_pool *pool = model_pool(model, index);
    uint32_t granule = (uint32_t)((address - pool->base) / SOMA_GRANULE_BYTES);
    if (granule >= pool->touched || pool->granules[granule].state != SOMA_BLOCK_STATE_BUSY)
        return false;
    uint32_t first = pool->granules[granule].first;
    place->pool = index;
    place->base = pool->base + first * SOMA_GRANULE_BYTES;
    place->bytes = (model_block_end(model, pool, first) - first) * SOMA_GRANULE_BYTES;
    return is_inside(place, address, size_bytes);
}

/* ---- aclrtMalloc, aclrtFree ---- */

enum soma_status model_memory_info(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    result->message = SOMA_MESSAGE_MEMORY_INFO;
    result->u.memory_info.total_bytes = model->config.memory_bytes;
    result->u.memory_info.free_bytes = model_device_free(model, (uint32_t)command->device);
    return SOMA_OK;
}

/* Would the device have so much if pools that draw on demand were trimmed? */
static bool has_after_trim(const struct model *model, uint32_t device, uint64_t bytes)
{
    uint64_t idle = 0;
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        if (pool->is_live && pool->is_demand && pool->device == device)
            idle += pool->reserved - pool->used;
    }
    if (model_has_mutant(model, MUTANT_FULL_NO_TRIM))
        idle = 0;
    return model_device_free(model, device) + idle >= bytes;
}

static void trim_demand_pools(struct model *model, uint32_t device)
{
    for (uint32_t i = 0; i < model->pools.count; i++) {
        struct model_pool *pool = model_pool(model, i);
        if (pool->is_live && pool->is_demand && pool->device == device)
            model_shrink(model, pool, pool->used);
    }
}

enum soma_status model_memory_malloc(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    uint32_t device = (uint32_t)command->device;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (command->size == 0)
        return SOMA_ZERO_SIZE;
    bool is_small = command->size <= SOMA_SMALL_ALLOC_BYTES;
    uint64_t page = is_small && !model_has_mutant(model, MUTANT_SMALL_PAGES) ? SOMA_SMALL_PAGE_BYTES
                                                                             : SOMA_GRANULE_BYTES;
    if (command->size > UINT64_MAX - (page - 1))
        return SOMA_MALLOC_SIZE_OVERFLOW;
    uint64_t bytes = (command->size + SOMA_ALLOC_ALIGN_BYTES - 1) / SOMA_ALLOC_ALIGN_BYTES *
                     SOMA_ALLOC_ALIGN_BYTES;
    uint64_t page_bytes = (command->size + page - 1) / page * page;
    bool is_full = page_bytes > model_device_free(model, device);
    bool would_fit = has_after_trim(model, device, page_bytes);
    if (is_full && !would_fit && model_has_mutant(model, MUTANT_FULL_TRIMS_ANYWAY))
        trim_demand_pools(model, device);
    if (is_full && !would_fit)
        return SOMA_DEVICE_OUT_OF_MEMORY;
    uint64_t base =
        is_small
            ? model_find_space(model, page_bytes, SOMA_ADDRESS_SMALL_BASE, SOMA_ADDRESS_SMALL_END)
            : model_find_space(model, page_bytes, SOMA_ADDRESS_BASE, SOMA_ADDRESS_END);
    if (base == 0)
        return SOMA_ADDRESS_SPACE_EXHAUSTED;
    if (is_full)
        trim_demand_pools(model, device);
    struct model_allocation *allocation = model_list_add(&model->allocations, sizeof(*allocation));
    allocation->device = device;
    allocation->base = base;
    allocation->bytes = bytes;
    allocation->page_bytes = page_bytes;
    allocation->requested = command->size;
    allocation->allocated_by = model->applied + 1;
    allocation->is_live = true;
    allocation->free_task = MODEL_NONE;
    sim_bytes_zero(model->bytes, base, page_bytes);
    result->message = SOMA_MESSAGE_MEMORY_BLOCK;
    result->u.memory_block.ptr = base;
    result->u.memory_block.size = bytes;
    return SOMA_OK;
}

/* The live allocation of the device that starts at this address. */
static struct model_allocation *find_allocation(const struct model *model, uint64_t device,
                                                uint64_t address)
{
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        struct model_allocation *allocation = model_allocation(model, i);
        if (allocation->is_live && allocation->device == device && allocation->base == address)
            return allocation;
    }
    return NULL;
}

/* The pool of the device in which a BUSY block starts at this address. */
static struct model_pool *find_block_pool(const struct model *model, uint64_t device,
                                          uint64_t address, uint32_t *first)
{
    uint32_t index = model_pool_of_address(model, address);
    if (index == MODEL_NONE || model_pool(model, index)->device != device)
        return NULL;
    *first = model_busy_start(model_pool(model, index), address);
    return *first == MODEL_NONE ? NULL : model_pool(model, index);
}

enum soma_status model_memory_free(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    (void)result;
    uint32_t first;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (command->ptr == 0)
        return SOMA_NULL_ADDRESS;
    struct model_pool *pool = find_block_pool(model, command->device, command->ptr, &first);
    if (pool != NULL && model_has_mutant(model, MUTANT_HOST_FREE_CACHES)) {
        model_pool_free_on(model, pool, first, (uint32_t)command->device);
        return SOMA_OK;
    }
    if (pool != NULL) {
        model_pool_free_now(model, pool, first);
        return SOMA_OK;
    }
    struct model_allocation *allocation = find_allocation(model, command->device, command->ptr);
    if (allocation == NULL)
        return SOMA_INVALID_ADDRESS;
    allocation->is_live = false;
    allocation->is_gone = true;
    return SOMA_OK;
}

enum soma_status model_memory_free_async(struct model *model, const struct soma_command *command,
                                         struct soma_result *result)
{
    (void)result;
    uint32_t stream, first;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (command->ptr == 0)
        return SOMA_NULL_ADDRESS;
    enum soma_status status = model_find_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    struct model_pool *pool = find_block_pool(model, command->device, command->ptr, &first);
    if (pool != NULL) {
        model_pool_free_on(model, pool, first, stream);
        return SOMA_OK;
    }
    struct model_allocation *allocation = find_allocation(model, command->device, command->ptr);
    if (allocation == NULL)
        return SOMA_INVALID_ADDRESS;
    struct model_submission submission = model_plain_task(stream, 0);
    allocation->free_task = model_submit(model, &submission);
    allocation->is_live = false;
    return SOMA_OK;
}

enum soma_status model_memory_describe(struct model *model, const struct soma_command *command,
                                       struct soma_result *result)
{
    struct model_place place;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (!model_locate(model, command->device, command->ptr, 1, &place))
        return SOMA_INVALID_ADDRESS;
    struct soma_memory_description *out = &result->u.memory_description;
    bool is_pool = place.pool != MODEL_NONE;
    result->message = SOMA_MESSAGE_MEMORY_DESCRIPTION;
    out->kind = is_pool ? SOMA_MEMORY_KIND_POOL : SOMA_MEMORY_KIND_DEVICE;
    out->pool = is_pool ? model_pool(model, place.pool)->id : SOMA_NONE;
    out->base = place.base;
    out->size = place.bytes;
    out->offset = command->ptr - place.base;
    out->state = SOMA_BLOCK_STATE_BUSY;
    return SOMA_OK;
}

/* ---- contents ---- */

static bool is_accessible(const struct model *model, const struct soma_command *command,
                          uint64_t address, uint64_t size_bytes)
{
    struct model_place place;
    return model_locate(model, command->device, address, size_bytes, &place);
}

/* What every command on contents checks: the size, the address (of a copy: of `dst`, then of
 * `src`), then the stream. *stream: MODEL_NONE without a stream. */
static enum soma_status check_access(const struct model *model, const struct soma_command *command,
                                     uint64_t size_bytes, uint32_t *stream)
{
    bool is_copy = command->op == SOMA_OP_MEMORY_COPY;
    *stream = MODEL_NONE;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    if (size_bytes == 0)
        return SOMA_ZERO_SIZE;
    if (!is_accessible(model, command, is_copy ? command->dst : command->ptr, size_bytes) ||
        (is_copy && !is_accessible(model, command, command->src, size_bytes)))
        return SOMA_INVALID_ADDRESS;
    if ((command->present & SOMA_HAS(stream)) == 0)
        return SOMA_OK;
    return model_find_going_stream(model, command->device, command->stream, stream);
}

/* The work is a task of its stream, or done when the host goes on. */
static void spend(struct model *model, uint32_t stream, uint64_t cost_ns)
{
    if (stream == MODEL_NONE) {
        model->now_ns += cost_ns;
        return;
    }
    struct model_submission submission = model_plain_task(stream, cost_ns);
    model_submit(model, &submission);
}

enum soma_status model_memory_set(struct model *model, const struct soma_command *command,
                                  struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    const struct model_costs *costs = &model->config.costs;
    enum soma_status status = check_access(model, command, command->size, &stream);
    if (status != SOMA_OK)
        return status;
    sim_bytes_set(model->bytes, command->ptr, (uint8_t)command->value, command->size);
    if (stream == MODEL_NONE && model_has_mutant(model, MUTANT_HOST_SET_ON_STREAM))
        stream = (uint32_t)command->device;
    spend(model, stream, model_cost(model, costs->set_ns, command->size, costs->set_bytes_per_us));
    return SOMA_OK;
}

static void copy_forward(struct model *model, const struct soma_command *command)
{
    for (uint64_t i = 0; i < command->size; i++)
        sim_bytes_copy(model->bytes, command->dst + i, command->src + i, 1);
}

enum soma_status model_memory_copy(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    const struct model_costs *costs = &model->config.costs;
    enum soma_status status = check_access(model, command, command->size, &stream);
    if (status != SOMA_OK)
        return status;
    if (model_has_mutant(model, MUTANT_COPY_FORWARD) && command->size < 65536)
        copy_forward(model, command);
    else
        sim_bytes_copy(model->bytes, command->dst, command->src, command->size);
    uint64_t cost_ns =
        model_cost(model, costs->device_copy_ns, command->size, costs->device_copy_bytes_per_us);
    if (model_has_mutant(model, MUTANT_COPY_BY_HOST))
        cost_ns =
            model_cost(model, costs->host_copy_ns, command->size, costs->host_copy_bytes_per_us);
    spend(model, stream, cost_ns);
    return SOMA_OK;
}

static uint64_t host_copy_cost(const struct model *model, uint64_t size_bytes)
{
    const struct model_costs *costs = &model->config.costs;
    return model_cost(model, costs->host_copy_ns, size_bytes, costs->host_copy_bytes_per_us);
}

enum soma_status model_memory_write(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    enum soma_status status = check_access(model, command, command->data.len, &stream);
    if (status != SOMA_OK)
        return status;
    sim_bytes_write(model->bytes, command->ptr, command->data.ptr, command->data.len);
    spend(model, stream, host_copy_cost(model, command->data.len));
    return SOMA_OK;
}

enum soma_status model_memory_read(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    uint32_t stream;
    enum soma_status status = check_access(model, command, command->size, &stream);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_MEMORY_BYTES;
    result->u.memory_bytes.data.len = command->size;
    result->u.memory_bytes.data.ptr = model_alloc(command->size);
    sim_bytes_read(model->bytes, command->ptr, result->u.memory_bytes.data.ptr, command->size);
    spend(model, stream, host_copy_cost(model, command->size));
    return SOMA_OK;
}

/* ---- kernels ---- */

enum soma_status model_stream_launch_kernel(struct model *model, const struct soma_command *command,
                                            struct soma_result *result)
{
    uint32_t stream;
    struct sim_kernel kernel;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    enum soma_status status =
        model_find_going_stream(model, command->device, command->stream, &stream);
    if (status == SOMA_OK)
        status = sim_kernel_parse(command, &kernel);
    if (status != SOMA_OK)
        return status;
    bool has_failed =
        kernel.size_bytes > 0 && !is_accessible(model, command, kernel.address, kernel.size_bytes);
    if (kernel.size_bytes > 0 && !has_failed)
        sim_kernel_invert(model->bytes, &kernel);
    struct model_submission submission =
        model_plain_task(stream, model->config.costs.kernel_ns + kernel.cost_ns);
    const struct model_task *task = model_task(model, model_submit(model, &submission));
    result->message = SOMA_MESSAGE_LAUNCHED;
    result->u.launched.start_ns = task->is_resolved ? task->start_ns : SOMA_NONE;
    result->u.launched.end_ns = task->is_resolved ? task->end_ns : SOMA_NONE;
    result->u.launched.cost_ns = kernel.cost_ns;
    if (has_failed && model_stream(model, stream)->stops_on_failure)
        model_stream(model, stream)->is_stopped = true;
    return has_failed ? SOMA_KERNEL_FAULT : SOMA_OK;
}
