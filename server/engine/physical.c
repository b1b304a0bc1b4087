/* Physical memory: what aclrtMallocPhysical takes from a device and aclrtMapMem puts behind
 * reserved addresses. Its contents stand at addresses that only the engine and its table of bytes
 * know, so they stay where they are whatever is mapped. */
#include "internal.h"

#include <inttypes.h>

struct physical *physical_find(struct call *call, uint64_t id)
{
    struct physical *physical =
        TREE_ENTRY(tree_find(&call->engine->physicals, id, 0), struct physical, by_id);
    if (physical != NULL && physical->handles > 0)
        return physical;
    (void)soma_fail(call->error, SOMA_NO_SUCH_PHYSICAL, "physical",
                    "physical memory %" PRIu64 " %s", id,
                    physical != NULL                           ? "has no handle left"
                    : id <= call->engine->last_id[ID_PHYSICAL] ? "was freed"
                                                               : "never was");
    return NULL;
}

enum soma_status physical_new(struct call *call, struct device *device, uint64_t size,
                              struct physical **out)
{
    struct engine *engine = call->engine;
    struct physical *physical = engine_alloc(engine, sizeof(*physical));
    if (physical == NULL)
        return engine_no_memory(call);
    physical->device = device;
    physical->size = size;
    physical->allocated_by = engine->command_number;
    enum soma_status status =
        space_take(engine, &engine->contents, size, &physical->contents, &physical->gap);
    if (status == SOMA_OK && engine->has_bytes) {
        status = engine->bytes.reserve(engine->bytes.ctx, physical->contents, size, call->error);
        if (status != SOMA_OK) {
            space_give(engine, &engine->contents, physical->contents, size, physical->gap);
            engine_free(engine, physical);
            return status;
        }
    }
    if (status == SOMA_OK) {
        if (device != NULL)
            device->physical_bytes += size;
        *out = physical;
        return SOMA_OK;
    }
    engine_free(engine, physical);
    return status == SOMA_OUT_OF_MEMORY
               ? engine_no_memory(call)
               : soma_fail(call->error, status, "size",
                           "the session has no room for %" PRIu64
                           " bytes of contents; free physical or managed memory",
                           size);
}

void physical_drop(struct engine *engine, struct physical *physical)
{
    if (physical->handles > 0 || physical->mappings > 0)
        return;
    if (physical->id != 0)
        tree_remove(&engine->physicals, &physical->by_id);
    if (physical->device != NULL)
        physical->device->physical_bytes -= physical->size;
    if (engine->has_bytes)
        engine->bytes.release(engine->bytes.ctx, physical->contents, physical->size);
    space_give(engine, &engine->contents, physical->contents, physical->size, physical->gap);
    engine_free(engine, physical);
}

void physicals_release(struct engine *engine, const struct device *device)
{
    struct tree_node *node, *next;
    for (node = tree_first(&engine->physicals); node != NULL; node = next) {
        struct physical *physical = TREE_ENTRY(node, struct physical, by_id);
        next = tree_next(node);
        if (device != NULL && physical->device != device)
            continue;
        physical->handles = 0;
        physical_drop(engine, physical);
    }
}

void physical_describe(const struct physical *physical, struct soma_physical *out)
{
    *out =
        (struct soma_physical){physical->id,        physical->device->number, physical->size,
                               physical->page_size, physical->handles,        physical->mappings};
}

/* ---- commands ---- */

static enum soma_status check_pages(struct call *call)
{
    const struct soma_command *command = call->command;
    uint64_t size = command->size, page_size = command->page_size;
    if (page_size != SOMA_GRANULE_BYTES && page_size != SOMA_GIANT_PAGE_BYTES)
        return soma_fail(call->error, SOMA_INVALID_VALUE, "pageSize",
                         "pageSize is %" PRIu64 "; pages have 2 MiB or 1 GiB", page_size);
    if (page_size == SOMA_GIANT_PAGE_BYTES && call->engine->soc->npu_arch != SOMA_ARCH_A2)
        return soma_fail(call->error, SOMA_SOC_UNSUPPORTED, "pageSize",
                         "%s has no pages of 1 GiB; take pages of 2 MiB", call->engine->soc->name);
    if (size == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "size", "size is 0; give at least a page");
    if (size % page_size != 0)
        return soma_fail(call->error, SOMA_ADDRESS_UNALIGNED, "size",
                         "size is %" PRIu64 "; give a multiple of the page size, %" PRIu64, size,
                         page_size);
    return SOMA_OK;
}

enum soma_status memory_malloc_physical(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    struct physical *physical = NULL;
    bool must_trim = false;
    if (device == NULL)
        return call->error->status;
    enum soma_status status = check_pages(call);
    if (status == SOMA_OK)
        status = memory_check_room(call, device, call->command->size, &must_trim);
    if (status == SOMA_OK)
        status = physical_new(call, device, call->command->size, &physical);
    if (status != SOMA_OK)
        return status;
    if (must_trim)
        memory_trim(call, device);
    physical->id = ++engine->last_id[ID_PHYSICAL];
    physical->page_size = call->command->page_size;
    physical->handles = 1;
    tree_insert(&engine->physicals, &physical->by_id, physical->id, 0);
    physical_describe(physical, &call->result->u.physical);
    return SOMA_OK;
}

enum soma_status memory_get_physical(struct call *call)
{
    const struct physical *physical = physical_find(call, call->command->physical);
    if (physical == NULL)
        return call->error->status;
    physical_describe(physical, &call->result->u.physical);
    return SOMA_OK;
}

enum soma_status memory_free_physical(struct call *call)
{
    struct physical *physical = physical_find(call, call->command->physical);
    if (physical == NULL)
        return call->error->status;
    physical->handles--;
    call->result->u.physical_left =
        (struct soma_physical_left){physical->handles, physical->mappings};
    physical_drop(call->engine, physical);
    return SOMA_OK;
}
