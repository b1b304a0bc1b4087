/* Short sequences that chance alone would rarely put together. Planned steps come in their order,
 * with random ones between them. */
#include "workload_state.h"

static struct workload_step step_on(enum soma_op op, uint32_t device)
{
    struct workload_step step = workload_step_of(op);
    workload_set(&step, SOMA_FIELD_device, device);
    return step;
}

static void plan_on(struct workload *workload, enum soma_op op, uint32_t device)
{
    struct workload_step step = step_on(op, device);
    workload_plan(workload, &step);
}

static void plan_with(struct workload *workload, enum soma_op op, enum soma_field field,
                      uint32_t object)
{
    struct workload_step step = step_on(op, workload->objects[object].device);
    workload_refer(workload, &step, field, object, 0);
    workload_plan(workload, &step);
}

static void plan_event_on_stream(struct workload *workload, enum soma_op op, uint32_t event,
                                 uint32_t stream)
{
    struct workload_step step = step_on(op, workload->objects[stream].device);
    workload_refer(workload, &step, SOMA_FIELD_event, event, 0);
    workload_refer(workload, &step, SOMA_FIELD_stream, stream, 0);
    workload_plan(workload, &step);
}

static void plan_free(struct workload *workload, uint32_t block, uint32_t stream)
{
    struct workload_step step = step_on(SOMA_OP_POOL_FREE, workload->objects[block].device);
    workload_refer(workload, &step, SOMA_FIELD_pool, workload->objects[block].owner, 0);
    workload_refer(workload, &step, SOMA_FIELD_ptr, block, 0);
    workload_refer(workload, &step, SOMA_FIELD_stream, stream, 0);
    step.target = block;
    workload_plan(workload, &step);
}

static void plan_malloc(struct workload *workload, uint32_t pool, uint64_t size, uint32_t stream)
{
    struct workload_step step = step_on(SOMA_OP_POOL_MALLOC, workload->objects[pool].device);
    workload_refer(workload, &step, SOMA_FIELD_pool, pool, 0);
    workload_set(&step, SOMA_FIELD_size, size);
    workload_refer(workload, &step, SOMA_FIELD_stream, stream, 0);
    step.target = pool;
    workload_plan(workload, &step);
}

static void plan_delay(struct workload *workload, uint32_t stream)
{
    struct workload_step step = step_on(SOMA_OP_STREAM_DELAY, workload->objects[stream].device);
    workload_refer(workload, &step, SOMA_FIELD_stream, stream, 0);
    workload_set(&step, SOMA_FIELD_duration_ns, workload_below(workload, 4 * workload->delay_ns));
    workload_plan(workload, &step);
}

static void plan_attribute(struct workload *workload, uint32_t pool, uint64_t attribute,
                           uint64_t value)
{
    struct workload_step step = step_on(SOMA_OP_POOL_SET_ATTRIBUTE, workload->objects[pool].device);
    workload_refer(workload, &step, SOMA_FIELD_pool, pool, 0);
    workload_set(&step, SOMA_FIELD_attribute, attribute);
    workload_set(&step, SOMA_FIELD_value, value);
    workload_plan(workload, &step);
}

void workload_plan_attributes(struct workload *workload, uint32_t pool)
{
    uint64_t max = workload->objects[pool].bytes;
    if (workload_chance(workload, workload->has_event_reuse))
        plan_attribute(workload, pool, SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES, 1);
    if (workload_chance(workload, workload->has_opportunistic))
        plan_attribute(workload, pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC, 7);
    if (workload_chance(workload, workload->has_internal))
        plan_attribute(workload, pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 1);
    if (workload_chance(workload, 600))
        plan_attribute(workload, pool, SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD,
                       workload_chance(workload, 500) ? max : workload_below(workload, max + 1));
}

void workload_plan_audit(struct workload *workload)
{
    plan_on(workload, SOMA_OP_DEVICE_LIST, 0);
    for (uint32_t device = 0; device < workload->program->config.device_count; device++) {
        plan_on(workload, SOMA_OP_STREAM_LIST, device);
        plan_on(workload, SOMA_OP_EVENT_LIST, device);
        plan_on(workload, SOMA_OP_POOL_LIST, device);
    }
    for (uint32_t i = 0; i < workload->object_count; i++) {
        if (workload->objects[i].kind != WORKLOAD_POOL || !workload->objects[i].is_live)
            continue;
        plan_with(workload, SOMA_OP_POOL_GET, SOMA_FIELD_pool, i);
        plan_with(workload, SOMA_OP_POOL_SEGMENTS, SOMA_FIELD_pool, i);
    }
}

void workload_plan_chain(struct workload *workload)
{
    uint32_t block = workload_pick(workload, WORKLOAD_BLOCK, WORKLOAD_NONE);
    if (block == WORKLOAD_NONE)
        return;
    uint32_t device = workload->objects[block].device;
    uint32_t stream = workload_pick(workload, WORKLOAD_STREAM, device);
    if (workload_chance(workload, 500))
        plan_delay(workload, stream);
    plan_free(workload, block, stream);
    for (uint64_t links = workload_between(workload, 0, 3); links > 0; links--) {
        uint32_t event = workload_pick(workload, WORKLOAD_EVENT, device);
        uint32_t next = workload_pick(workload, WORKLOAD_STREAM,
                                      workload_chance(workload, 100) ? WORKLOAD_NONE : device);
        if (event == WORKLOAD_NONE || workload->objects[stream].device != device)
            break;
        plan_event_on_stream(workload, SOMA_OP_EVENT_RECORD, event, stream);
        plan_event_on_stream(workload, SOMA_OP_STREAM_WAIT_EVENT, event, next);
        stream = next;
    }
    if (workload->objects[stream].device == device)
        plan_malloc(workload, workload->objects[block].owner, workload->objects[block].bytes,
                    stream);
}

/* A PLAIN event of the device: WORKLOAD_NONE: it has none. */
static uint32_t pick_plain(struct workload *workload, uint32_t device)
{
    for (uint32_t i = 0; i < workload->object_count; i++) {
        const struct workload_object *object = &workload->objects[i];
        if (object->kind == WORKLOAD_EVENT && object->is_live && object->is_plain &&
            object->device == device && workload_chance(workload, 400))
            return i;
    }
    return WORKLOAD_NONE;
}

void workload_plan_pending(struct workload *workload)
{
    uint32_t devices = workload->program->config.device_count;
    uint32_t device = (uint32_t)workload_below(workload, devices);
    uint32_t event = pick_plain(workload, device);
    uint32_t blocked = workload_pick(workload, WORKLOAD_STREAM,
                                     workload_chance(workload, 150) ? WORKLOAD_NONE : device);
    if (event == WORKLOAD_NONE)
        return;
    uint32_t recorder = workload_pick(workload, WORKLOAD_STREAM, device);
    if (recorder == blocked && workload_chance(workload, 900))
        return; /* would wait for itself */
    plan_event_on_stream(workload, SOMA_OP_EVENT_RECORD, event, recorder);
    plan_event_on_stream(workload, SOMA_OP_EVENT_RESET, event,
                         workload_pick(workload, WORKLOAD_STREAM, device));
    plan_event_on_stream(workload, SOMA_OP_STREAM_WAIT_EVENT, event, blocked);
    for (uint64_t frees = workload_below(workload, 4); frees > 0; frees--) {
        uint32_t block = workload_pick(workload, WORKLOAD_BLOCK, workload->objects[blocked].device);
        if (block != WORKLOAD_NONE)
            plan_free(workload, block, blocked);
    }
    plan_with(workload, SOMA_OP_STREAM_GET, SOMA_FIELD_stream, blocked);
    for (uint64_t queries = workload_below(workload, 10); queries > 0; queries--)
        plan_with(workload, SOMA_OP_EVENT_GET, SOMA_FIELD_event, event);
    if (workload_chance(workload, 950))
        plan_event_on_stream(workload, SOMA_OP_EVENT_RECORD, event, recorder);
}

void workload_plan_pressure(struct workload *workload)
{
    uint32_t pool = workload_pick(workload, WORKLOAD_POOL, WORKLOAD_NONE);
    if (pool == WORKLOAD_NONE)
        return;
    uint32_t device = workload->objects[pool].device;
    for (uint32_t i = 0; i < workload->pool_granules; i++)
        plan_malloc(workload, pool, SOMA_GRANULE_BYTES * workload_between(workload, 1, 2),
                    workload_pick(workload, WORKLOAD_STREAM, device));
    for (uint32_t i = 0; i < workload->object_count; i++) {
        const struct workload_object *object = &workload->objects[i];
        if (object->kind == WORKLOAD_BLOCK && object->is_live && object->owner == pool &&
            workload_chance(workload, 800))
            plan_free(workload, i, workload_pick(workload, WORKLOAD_STREAM, device));
    }
    for (int i = 0; i < 3; i++)
        plan_malloc(workload, pool,
                    SOMA_GRANULE_BYTES * workload_between(workload, 2, workload->pool_granules + 1),
                    workload_pick(workload, WORKLOAD_STREAM, device));
}

/* One access in the window of a block or allocation that workload_plan_contents looks at. */
static struct workload_step access_step(struct workload *workload, enum soma_op op,
                                        enum soma_field field, uint32_t object, uint64_t offset)
{
    struct workload_step step = step_on(op, workload->objects[object].device);
    workload_refer(workload, &step, field, object, offset);
    return step;
}

void workload_plan_contents(struct workload *workload)
{
    enum workload_kind kind = workload_chance(workload, 700) ? WORKLOAD_BLOCK : WORKLOAD_ALLOCATION;
    uint32_t object = workload_pick(workload, kind, WORKLOAD_NONE);
    if (object == WORKLOAD_NONE || workload->objects[object].bytes < 1024)
        return;
    uint64_t window = workload_below(workload, workload->objects[object].bytes - 1023);
    struct workload_step step =
        access_step(workload, SOMA_OP_MEMORY_WRITE, SOMA_FIELD_ptr, object, window);
    workload_put_bytes(workload, &step, 1024);
    workload_plan(workload, &step);
    for (uint64_t copies = workload_between(workload, 1, 3); copies > 0; copies--) {
        uint64_t size = workload_between(workload, 1, 900);
        uint64_t src = workload_below(workload, 1024 - size);
        uint64_t dst = workload_below(workload, 1024 - size);
        step = access_step(workload, SOMA_OP_MEMORY_COPY, SOMA_FIELD_dst, object, window + dst);
        workload_refer(workload, &step, SOMA_FIELD_src, object, window + src);
        workload_set(&step, SOMA_FIELD_size, size);
        workload_plan(workload, &step);
    }
    step = access_step(workload, SOMA_OP_MEMORY_SET, SOMA_FIELD_ptr, object, window + 500);
    workload_set(&step, SOMA_FIELD_value, workload_below(workload, 256));
    workload_set(&step, SOMA_FIELD_size, workload_between(workload, 1, 100));
    workload_plan(workload, &step);
    step = access_step(workload, SOMA_OP_MEMORY_READ, SOMA_FIELD_ptr, object, window);
    workload_set(&step, SOMA_FIELD_size, 1024);
    workload_plan(workload, &step);
}
