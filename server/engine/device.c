/* Devices: their memory in sum, synchronise and reset. */
#include "internal.h"

#include <inttypes.h>

struct device *device_find(struct call *call)
{
    struct engine *engine = call->engine;
    uint64_t number = call->command->device;
    if (number < engine->device_count)
        return &engine->devices[number];
    (void)soma_fail(call->error, SOMA_NO_SUCH_DEVICE, "device",
                    "device %" PRIu64 " does not exist: this session has devices 0 to %u", number,
                    engine->device_count - 1);
    return NULL;
}

uint64_t device_free_bytes(const struct device *device)
{
    return device->total_bytes - device->set_aside_bytes - device->on_demand_bytes -
           device->allocated_bytes - device->physical_bytes;
}

static void describe(const struct engine *engine, const struct device *device,
                     struct soma_device *out)
{
    *out = (struct soma_device){
        .device = device->number,
        .soc = engine->soc->name,
        .emulated = true,
        .total_bytes = device->total_bytes,
        .free_bytes = device_free_bytes(device),
        .streams = device->stream_count + 1,
        .pools = device->pool_count,
    };
}

enum soma_status device_list(struct call *call)
{
    struct engine *engine = call->engine;
    void *items = NULL;
    enum soma_status status =
        engine_result_array(call, engine->device_count, sizeof(struct soma_device), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_device *devices = items;
    for (uint32_t i = 0; i < engine->device_count; i++)
        describe(engine, &engine->devices[i], &devices[i]);
    call->result->u.device_list.devices.items = devices;
    call->result->u.device_list.devices.count = engine->device_count;
    return SOMA_OK;
}

enum soma_status device_get(struct call *call)
{
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    describe(call->engine, device, &call->result->u.device);
    return SOMA_OK;
}

/* When all streams of the device are idle, or what blocks the first that is blocked. */
static void wait_for_device(const struct engine *engine, const struct device *device,
                            struct wait *wait)
{
    *wait = (struct wait){0, SOMA_DEVICE_SYNC_TIMEOUT, "device", device->number, NULL};
    for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
         node = tree_next(node)) {
        const struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        if (stream->device != device || !stream->is_alive)
            continue;
        struct wait of_stream;
        timeline_wait_for_stream(stream, &of_stream);
        if (of_stream.target_ns > wait->target_ns) {
            wait->target_ns = of_stream.target_ns;
            wait->point = of_stream.point;
        }
    }
}

/* Tell once that a limited wait on a stream of the device ran out. */
static enum soma_status take_fault(struct call *call, const struct device *device)
{
    enum soma_status status = SOMA_OK;
    for (struct tree_node *node = tree_first(&call->engine->streams);
         node != NULL && status == SOMA_OK; node = tree_next(node)) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        if (stream->device == device && stream->is_alive)
            status = stream_take_fault(call, stream);
    }
    return status;
}

enum soma_status device_synchronize(struct call *call)
{
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    enum soma_status status = device_release_prepare(call, device);
    if (status != SOMA_OK)
        return status;
    struct wait wait;
    wait_for_device(call->engine, device, &wait);
    status = timeline_wait(call, &wait);
    if (status == SOMA_OK)
        status = take_fault(call, device);
    return status == SOMA_OK ? device_release(call, device) : status;
}

/* Pools, allocations, physical memory, events and notifies of the device. */
static void release_objects(struct engine *engine, const struct device *device)
{
    struct tree_node *node, *next;
    memory_forget_unresolved(engine, device);
    for (node = tree_first(&engine->pools); node != NULL; node = next) {
        struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        next = tree_next(node);
        if (pool->device == device)
            pool_release(engine, pool);
    }
    for (node = tree_first(&engine->allocations); node != NULL; node = next) {
        struct allocation *allocation = TREE_ENTRY(node, struct allocation, by_address);
        next = tree_next(node);
        if (allocation->device == device)
            allocation_release(engine, allocation);
    }
    for (node = tree_first(&engine->reservations); node != NULL; node = tree_next(node))
        reservation_unmap_all(engine, TREE_ENTRY(node, struct reservation, by_address), device);
    physicals_release(engine, device);
    for (node = tree_first(&engine->events); node != NULL; node = next) {
        struct event *event = TREE_ENTRY(node, struct event, by_id);
        next = tree_next(node);
        if (event->device == device)
            event_release(engine, event);
    }
    for (node = tree_first(&engine->notifies); node != NULL; node = next) {
        struct notify *notify = TREE_ENTRY(node, struct notify, by_id);
        next = tree_next(node);
        if (notify->device == device)
            notify_release(engine, notify);
    }
}

enum soma_status device_abort(struct call *call)
{
    struct engine *engine = call->engine;
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
         node = tree_next(node)) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        if (stream->device == device && stream->is_alive)
            stream_abort_work(call, stream);
    }
    timeline_resolve(engine, call->now_ns);
    return SOMA_OK;
}

enum soma_status device_reset(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct tree_node *node, *next;
    for (node = tree_first(&engine->streams); node != NULL; node = tree_next(node)) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        if (stream->device != device)
            continue;
        stream_drop(engine, stream, call->now_ns);
        stream->failure_mode = SOMA_FAILURE_MODE_CONTINUE;
        stream->is_stopped = false;
    }
    host_funcs_drop(engine, device, 0);
    release_objects(engine, device);
    for (node = tree_first(&engine->streams); node != NULL; node = next) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        next = tree_next(node);
        if (stream->device != device || stream->id == 0)
            continue;
        if (stream->is_alive)
            device->stream_count--;
        stream->is_alive = false;
        stream_forget(engine, stream);
    }
    timeline_resolve(engine, call->now_ns);
    return SOMA_OK;
}
