/* Commands that act on the bytes: set, copy, write, read. Their effect is at once, in the order of
 * submission; their time is the stream's, or the host's when no stream is named. */
#include "internal.h"

#include <inttypes.h>

/* What bytes take at bytes_per_us, after a start-up time. */
static uint64_t cost_of(uint64_t start_ns, uint64_t size_bytes, uint64_t bytes_per_us)
{
    uint64_t us = size_bytes / bytes_per_us, rest = size_bytes % bytes_per_us;
    return start_ns + us * 1000 + rest * 1000 / bytes_per_us;
}

/* Check device, ranges and stream, and prepare the task: all that can be refused but the bytes
 * themselves. sub->stream NULL: the host waits. */
static enum soma_status prepare(struct call *call, const struct range *ranges, size_t count,
                                struct submission *sub)
{
    struct place place;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].size == 0)
            return soma_fail(call->error, SOMA_ZERO_SIZE, ranges[i].size_field,
                             "%s is 0 bytes; give at least 1", ranges[i].size_field);
        enum soma_status status =
            memory_locate(call->engine, device, &ranges[i], &place, call->error);
        if (status != SOMA_OK)
            return status;
    }
    if (!call_has(call, SOMA_HAS(stream)))
        return SOMA_OK;
    sub->stream = stream_find(call, device, call->command->stream);
    if (sub->stream == NULL)
        return call->error->status;
    return submission_prepare(call, sub, NULL, 0) ? SOMA_OK : engine_no_memory(call);
}

/* The bytes have been moved, or could not be: queue the task, or let the host wait. */
static enum soma_status finish(struct call *call, struct submission *sub, enum soma_status status)
{
    if (status != SOMA_OK)
        submission_drop(call->engine, sub);
    else if (sub->stream != NULL)
        submission_commit(call, sub, NULL);
    else
        call->now_ns = time_add(call->now_ns, sub->cost_ns);
    return status;
}

enum soma_status memory_set(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {command->ptr, command->size, "ptr", "size"};
    struct submission sub = {.cost_ns =
                                 cost_of(costs->set_ns, command->size, costs->set_bytes_per_us)};
    enum soma_status status = prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = engine->bytes.set(engine->bytes.ctx, range.address, (uint8_t)command->value,
                                   range.size, call->error);
    return finish(call, &sub, status);
}

enum soma_status memory_copy(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range ranges[] = {{command->dst, command->size, "dst", "size"},
                             {command->src, command->size, "src", "size"}};
    struct submission sub = {
        .cost_ns = cost_of(costs->device_copy_ns, command->size, costs->device_copy_bytes_per_us)};
    enum soma_status status = prepare(call, ranges, 2, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = engine->bytes.copy(engine->bytes.ctx, command->dst, command->src, command->size,
                                    call->error);
    return finish(call, &sub, status);
}

enum soma_status memory_write(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {command->ptr, command->data.len, "ptr", "base64"};
    struct submission sub = {
        .cost_ns = cost_of(costs->host_copy_ns, range.size, costs->host_copy_bytes_per_us)};
    enum soma_status status = prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = engine->bytes.write(engine->bytes.ctx, range.address, command->data.ptr,
                                     range.size, call->error);
    return finish(call, &sub, status);
}

enum soma_status memory_read(struct call *call)
{
    struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {call->command->ptr, call->command->size, "ptr", "size"};
    struct submission sub = {
        .cost_ns = cost_of(costs->host_copy_ns, range.size, costs->host_copy_bytes_per_us)};
    enum soma_status status = prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (!engine->has_bytes)
        return finish(call, &sub, SOMA_OK);
    struct soma_buffer *data = &call->result->u.memory_bytes.data;
    data->ptr =
        engine->mem.alloc(engine->mem.ctx, (size_t)range.size); /* read fills it: not zeroed */
    if (data->ptr == NULL)
        return finish(call, &sub, engine_no_memory(call));
    data->len = (size_t)range.size;
    status =
        engine->bytes.read(engine->bytes.ctx, range.address, data->ptr, range.size, call->error);
    return finish(call, &sub, status);
}
