/* aclrtMalloc and aclrtFree beside the pools, and what an address is. */
#include "internal.h"

#include <inttypes.h>

/* The live allocation that holds the address; NULL when there is none. */
static struct allocation *allocation_at(const struct engine *engine, uint64_t address)
{
    struct allocation *allocation =
        TREE_ENTRY(tree_floor(&engine->allocations, address, 0), struct allocation, by_address);
    bool holds = allocation != NULL && !allocation->is_freeing &&
                 address - allocation->address < allocation->size;
    return holds ? allocation : NULL;
}

static struct space *space_of(struct engine *engine, uint64_t address)
{
    return address >= SOMA_ADDRESS_SMALL_BASE ? &engine->small : &engine->large;
}

void allocation_release(struct engine *engine, struct allocation *allocation)
{
    tree_remove(&engine->allocations, &allocation->by_address);
    if (allocation->is_freeing && allocation->free_point == NULL)
        tree_remove(&engine->due_frees, &allocation->by_time);
    point_unref(engine, allocation->free_point);
    allocation->device->allocated_bytes -= allocation->paged_size;
    if (engine->has_bytes)
        engine->bytes.release(engine->bytes.ctx, allocation->address, allocation->paged_size);
    space_give(engine, space_of(engine, allocation->address), allocation->address,
               allocation->paged_size, allocation->gap);
    engine_free(engine, allocation);
}

/* ---- frees that wait for their stream ---- */

/* Its stream comes to the free at time_ns. */
static void set_due(struct engine *engine, struct allocation *allocation, uint64_t time_ns)
{
    point_unref(engine, allocation->free_point);
    allocation->free_point = NULL;
    tree_insert(&engine->due_frees, &allocation->by_time, time_ns, allocation->address);
}

/* Frees whose time has become known move to the tree of those that are due. */
static void collect_resolved(struct engine *engine)
{
    struct allocation **link = &engine->unresolved_frees;
    while (*link != NULL) {
        struct allocation *allocation = *link;
        if (allocation->free_point->is_resolved) {
            *link = allocation->next_unresolved;
            set_due(engine, allocation, allocation->free_point->time_ns);
        } else {
            link = &allocation->next_unresolved;
        }
    }
}

void memory_settle(struct engine *engine, uint64_t now_ns)
{
    collect_resolved(engine);
    struct tree_node *node;
    while ((node = tree_first(&engine->due_frees)) != NULL && node->major <= now_ns)
        allocation_release(engine, TREE_ENTRY(node, struct allocation, by_time));
}

void memory_forget_unresolved(struct engine *engine, const struct device *device)
{
    struct allocation **link = &engine->unresolved_frees;
    while (*link != NULL) {
        if (device == NULL || (*link)->device == device)
            *link = (*link)->next_unresolved;
        else
            link = &(*link)->next_unresolved;
    }
}

/* ---- commands ---- */

enum soma_status memory_info(struct call *call)
{
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    call->result->u.memory_info =
        (struct soma_memory_info){device->total_bytes, device_free_bytes(device)};
    return SOMA_OK;
}

/* Bytes that pools drawing on the device hold idle. */
static uint64_t trimmable(const struct engine *engine, const struct device *device)
{
    uint64_t bytes = 0;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device == device && pool->on_demand)
            bytes += pool->cached_bytes;
    }
    return bytes;
}

void memory_trim(struct call *call, const struct device *device)
{
    struct engine *engine = call->engine;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device == device && pool->on_demand)
            (void)pool_shrink(engine, pool, pool_used(pool), call->now_ns);
    }
}

enum soma_status memory_check_room(struct call *call, const struct device *device, uint64_t bytes,
                                   bool *must_trim)
{
    struct engine *engine = call->engine;
    uint64_t free_bytes = device_free_bytes(device);
    char wanted[32], has[32];
    *must_trim = bytes > free_bytes;
    if (*must_trim && bytes > free_bytes + trimmable(engine, device))
        return soma_fail(call->error, SOMA_DEVICE_OUT_OF_MEMORY, "size",
                         "device %" PRIu64 " has %s free, %s are needed; free memory, or destroy "
                         "pools that set memory aside",
                         device->number, soma_bytes_text(has, free_bytes),
                         soma_bytes_text(wanted, bytes));
    return !*must_trim || blocks_reserve(engine, 1, 1) ? SOMA_OK : engine_no_memory(call);
}

/* Sizes of a request: rounded to 32 bytes, and in pages. */
static enum soma_status sizes_of_new(struct call *call, uint64_t *size, uint64_t *paged_size)
{
    uint64_t wanted = call->command->size;
    if (wanted == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "size", "size is 0; give at least 1 byte");
    *size = round_up(wanted, SOMA_ALLOC_ALIGN_BYTES);
    *paged_size = round_up(*size, *size > SOMA_SMALL_ALLOC_BYTES ? SOMA_GRANULE_BYTES
                                                                 : SOMA_SMALL_PAGE_BYTES);
    if (*size == 0 || *paged_size == 0)
        return soma_fail(call->error, SOMA_MALLOC_SIZE_OVERFLOW, "size",
                         "size %" PRIu64 " rounded up leaves 64 bits", wanted);
    return SOMA_OK;
}

/* Give a new allocation its addresses. */
static enum soma_status place(struct call *call, struct allocation *allocation)
{
    struct engine *engine = call->engine;
    struct space *space =
        allocation->size > SOMA_SMALL_ALLOC_BYTES ? &engine->large : &engine->small;
    enum soma_status status =
        space_take(engine, space, allocation->paged_size, &allocation->address, &allocation->gap);
    if (status == SOMA_OUT_OF_MEMORY)
        return engine_no_memory(call);
    if (status != SOMA_OK)
        return soma_fail(call->error, status, "size",
                         "the session's device addresses have no gap of %" PRIu64
                         " bytes left; free "
                         "memory or destroy pools",
                         allocation->paged_size);
    if (!engine->has_bytes)
        return SOMA_OK;
    status = engine->bytes.reserve(engine->bytes.ctx, allocation->address, allocation->paged_size,
                                   call->error);
    if (status != SOMA_OK)
        space_give(engine, space, allocation->address, allocation->paged_size, allocation->gap);
    return status;
}

enum soma_status memory_malloc(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    uint64_t size = 0, paged_size = 0;
    bool must_trim = false;
    enum soma_status status = sizes_of_new(call, &size, &paged_size);
    if (status == SOMA_OK)
        status = memory_check_room(call, device, paged_size, &must_trim);
    if (status != SOMA_OK)
        return status;
    struct allocation *allocation = engine_alloc(engine, sizeof(*allocation));
    if (allocation == NULL)
        return engine_no_memory(call);
    allocation->device = device;
    allocation->size = size;
    allocation->paged_size = paged_size;
    status = place(call, allocation);
    if (status != SOMA_OK) {
        engine_free(engine, allocation);
        return status;
    }
    if (must_trim)
        memory_trim(call, device);
    allocation->requested_size = call->command->size;
    allocation->allocated_by = engine->command_number;
    device->allocated_bytes += paged_size;
    tree_insert(&engine->allocations, &allocation->by_address, allocation->address, 0);
    call->result->u.memory_block = (struct soma_memory_block){allocation->address, size};
    return SOMA_OK;
}

/* The allocation of this device that starts at the command's ptr, or the reason why not. */
static struct allocation *named_allocation(struct call *call, const struct device *device)
{
    uint64_t ptr = call->command->ptr;
    struct allocation *allocation = allocation_at(call->engine, ptr);
    const struct reservation *reservation = reservation_at(call->engine, ptr);
    if (reservation != NULL && reservation->is_managed)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " is managed memory; free its start, 0x%" PRIx64
                        ", without a stream",
                        ptr, reservation->address);
    else if (reservation != NULL)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " is a reserved address; unmap, free the physical memory and "
                        "release the addresses",
                        ptr);
    else if (allocation == NULL)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " is not allocated: it was freed already, or never was", ptr);
    else if (allocation->device != device)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " belongs to device %" PRIu64 ", not to device %" PRIu64, ptr,
                        allocation->device->number, device->number);
    else if (allocation->address != ptr)
        (void)soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                        "0x%" PRIx64 " lies inside an allocation; free its start, 0x%" PRIx64, ptr,
                        allocation->address);
    else
        return allocation;
    return NULL;
}

static enum soma_status check_not_null(struct call *call)
{
    return call->command->ptr != 0 ? SOMA_OK
                                   : soma_fail(call->error, SOMA_NULL_ADDRESS, "ptr",
                                               "ptr is 0; give an address that a malloc returned");
}

/* The pool of this device that holds ptr. *pool NULL and SOMA_OK: no pool holds it. */
static enum soma_status pool_of_ptr(struct call *call, const struct device *device,
                                    struct pool **pool)
{
    uint64_t ptr = call->command->ptr;
    *pool = pool_by_address(call->engine, ptr);
    if (*pool != NULL && (*pool)->device != device)
        return soma_fail(call->error, SOMA_INVALID_ADDRESS, "ptr",
                         "0x%" PRIx64 " belongs to pool %" PRIu64 " of device %" PRIu64
                         ", not to device %" PRIu64,
                         ptr, (*pool)->id, (*pool)->device->number, device->number);
    return SOMA_OK;
}

enum soma_status memory_free(struct call *call)
{
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct pool *pool = NULL;
    enum soma_status status = check_not_null(call);
    if (status == SOMA_OK)
        status = pool_of_ptr(call, device, &pool);
    if (status != SOMA_OK)
        return status;
    if (pool != NULL)
        return pool_free_now(call, pool, call->command->ptr);
    struct reservation *reservation = reservation_at(call->engine, call->command->ptr);
    if (reservation != NULL && reservation->is_managed &&
        reservation->address == call->command->ptr) {
        reservation_release(call->engine, reservation);
        return SOMA_OK;
    }
    struct allocation *allocation = named_allocation(call, device);
    if (allocation == NULL)
        return call->error->status;
    allocation_release(call->engine, allocation);
    return SOMA_OK;
}

/* Free an allocation when the stream comes there. */
static enum soma_status free_allocation_on(struct call *call, struct stream *stream,
                                           struct allocation *allocation)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream};
    struct point *point = point_new(engine);
    if (point == NULL || !submission_prepare(call, &sub, NULL, 0)) {
        point_unref(engine, point);
        return engine_no_memory(call);
    }
    submission_commit(call, &sub, point);
    allocation->is_freeing = true;
    allocation->free_point = point;
    if (point->is_resolved) {
        set_due(engine, allocation, point->time_ns);
    } else {
        allocation->next_unresolved = engine->unresolved_frees;
        engine->unresolved_frees = allocation;
    }
    return SOMA_OK;
}

enum soma_status memory_free_async(struct call *call)
{
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    enum soma_status status = check_not_null(call);
    if (status != SOMA_OK)
        return status;
    struct stream *stream = stream_find(call, device, call->command->stream);
    if (stream == NULL)
        return call->error->status;
    struct pool *pool = NULL;
    uint64_t size = 0;
    status = pool_of_ptr(call, device, &pool);
    if (status != SOMA_OK)
        return status;
    if (pool != NULL)
        return pool_free_on(call, pool, stream, call->command->ptr, &size);
    struct allocation *allocation = named_allocation(call, device);
    return allocation == NULL ? call->error->status : free_allocation_on(call, stream, allocation);
}

/* ---- what an address is ---- */

enum soma_status memory_locate(const struct engine *engine, const struct device *device,
                               const struct range *range, struct place *place,
                               struct soma_error *error)
{
    uint64_t address = range->address, size_bytes = range->size;
    const struct device *owner = NULL;
    const struct pool *pool = pool_by_address(engine, address);
    const struct block *block = pool == NULL ? NULL : block_at(pool, address);
    const struct allocation *allocation = pool == NULL ? allocation_at(engine, address) : NULL;
    if (block != NULL && block->state == SOMA_BLOCK_STATE_BUSY) {
        owner = pool->device;
        *place = (struct place){pool, block->address, block->size, block->requested_size, NULL};
    } else if (allocation != NULL) {
        owner = allocation->device;
        *place = (struct place){NULL, allocation->address, allocation->size,
                                allocation->requested_size, NULL};
    } else if (pool == NULL) {
        const struct reservation *reservation = reservation_at(engine, address);
        if (reservation != NULL)
            return reservation_locate(reservation, device, range, place, error);
    }
    if (owner == NULL)
        return soma_fail(error, SOMA_INVALID_ADDRESS, range->field,
                         "0x%" PRIx64 " is not live memory: %s", address,
                         pool != NULL ? "its pool has nothing allocated there, or it was freed"
                                      : "it was freed, or no allocation holds it");
    if (owner != device)
        return soma_fail(error, SOMA_INVALID_ADDRESS, range->field,
                         "0x%" PRIx64 " belongs to device %" PRIu64 ", not to device %" PRIu64,
                         address, owner->number, device->number);
    if (size_bytes > place->size - (address - place->base))
        return soma_fail(error, SOMA_INVALID_ADDRESS, range->size_field,
                         "%" PRIu64 " bytes from 0x%" PRIx64 " leave the block of %" PRIu64
                         " bytes at 0x%" PRIx64 "; at most %" PRIu64 " are left there",
                         size_bytes, address, place->size, place->base,
                         place->size - (address - place->base));
    return SOMA_OK;
}

enum soma_status engine_resolve(const struct engine *engine, uint64_t device, uint64_t address,
                                uint64_t size_bytes, uint64_t *base, uint64_t *block_bytes,
                                uint64_t *requested_bytes, struct soma_error *error)
{
    struct place place;
    if (device >= engine->device_count)
        return soma_fail(error, SOMA_NO_SUCH_DEVICE, "device", "no device %" PRIu64, device);
    struct range range = {address, size_bytes, "ptr", "size"};
    enum soma_status status =
        memory_locate(engine, &engine->devices[device], &range, &place, error);
    if (status != SOMA_OK)
        return status;
    *base = place.base;
    *block_bytes = place.size;
    *requested_bytes = place.requested_size;
    return SOMA_OK;
}

enum soma_status engine_block_around(const struct engine *engine, uint64_t device, uint64_t address,
                                     uint64_t *base, uint64_t *block_bytes)
{
    struct place place;
    struct range range = {address, 1, "ptr", "size"};
    if (device >= engine->device_count ||
        memory_locate(engine, &engine->devices[device], &range, &place, NULL) != SOMA_OK)
        return SOMA_INVALID_ADDRESS;
    if (place.reservation != NULL)
        reservation_run(place.reservation, &engine->devices[device], &place);
    *base = place.base;
    *block_bytes = place.size;
    return SOMA_OK;
}

static enum soma_memory_kind kind_of(const struct place *place)
{
    if (place->reservation != NULL)
        return place->reservation->is_managed ? SOMA_MEMORY_KIND_MANAGED : SOMA_MEMORY_KIND_MAPPED;
    return place->pool != NULL ? SOMA_MEMORY_KIND_POOL : SOMA_MEMORY_KIND_DEVICE;
}

enum soma_status memory_describe(struct call *call)
{
    struct place place;
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    uint64_t ptr = call->command->ptr;
    struct range range = {ptr, 1, "ptr", "size"};
    enum soma_status status = memory_locate(call->engine, device, &range, &place, call->error);
    if (status != SOMA_OK)
        return status;
    if (place.reservation != NULL)
        reservation_run(place.reservation, device, &place);
    call->result->u.memory_description = (struct soma_memory_description){
        (int)kind_of(&place), place.pool != NULL ? place.pool->id : SOMA_NONE,
        place.base,           place.size,
        ptr - place.base,     SOMA_BLOCK_STATE_BUSY};
    return SOMA_OK;
}
