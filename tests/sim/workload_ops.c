/* One random command at a time. Most are right; with the session's chance of being wrong an id is
 * stale or made up, an address lies inside a block or nowhere, a size is 0 or wraps. */
#include "workload_state.h"

#define MIB UINT64_C(1048576)
#define STREAMS_MADE_MAX 100u /* in one session */

/* ---- choices ---- */

static bool is_wrong(struct workload *workload)
{
    return workload_chance(workload, workload->wrong);
}

static uint32_t pick_any(struct workload *workload, enum workload_kind kind)
{
    uint32_t found = WORKLOAD_NONE;
    uint64_t count = 0;
    for (uint32_t i = 0; i < workload->object_count; i++) {
        if (workload->objects[i].kind != kind)
            continue;
        count++;
        if (workload_below(workload, count) == 0)
            found = i;
    }
    return found;
}

/* Fill an id field. Returns the object that is meant, WORKLOAD_NONE when it is made up. */
static uint32_t put_object(struct workload *workload, struct workload_step *step,
                           enum soma_field field, enum workload_kind kind, uint32_t device)
{
    uint32_t object =
        is_wrong(workload) ? pick_any(workload, kind) : workload_pick(workload, kind, device);
    if (object == WORKLOAD_NONE || workload_chance(workload, workload->wrong / 4)) {
        workload_set(step, field, workload_below(workload, 40));
        return WORKLOAD_NONE;
    }
    workload_refer(workload, step, field, object, 0);
    return object;
}

static uint32_t put_stream(struct workload *workload, struct workload_step *step, uint32_t device)
{
    return put_object(workload, step, SOMA_FIELD_stream, WORKLOAD_STREAM, device);
}

/* A stream, or none: then the command is not on a stream, or on stream 0. */
static void put_stream_or_not(struct workload *workload, struct workload_step *step,
                              uint32_t device)
{
    if (workload_chance(workload, 850))
        put_stream(workload, step, device);
}

static uint32_t put_event(struct workload *workload, struct workload_step *step, uint32_t device)
{
    return put_object(workload, step, SOMA_FIELD_event, WORKLOAD_EVENT, device);
}

static uint32_t put_pool(struct workload *workload, struct workload_step *step, uint32_t device)
{
    return put_object(workload, step, SOMA_FIELD_pool, WORKLOAD_POOL, device);
}

static void put_timeout(struct workload *workload, struct workload_step *step)
{
    static const uint64_t timeouts[] = {0, 0, 1, 1, 5, 1000, UINT64_C(2147483647), UINT64_MAX};
    if (workload_chance(workload, 500))
        workload_set(step, SOMA_FIELD_timeout_ms, timeouts[workload_below(workload, 8)]);
}

static uint64_t block_size(struct workload *workload)
{
    uint64_t granules = workload_between(workload, 1, workload->block_granules);
    uint64_t bytes = granules * SOMA_GRANULE_BYTES;
    if (workload_chance(workload, 10))
        return UINT64_MAX - workload_below(workload, 2 * SOMA_GRANULE_BYTES);
    if (workload_chance(workload, 10))
        return 0;
    if (workload_chance(workload, 40))
        return workload_between(workload, 1, 2ull * workload->pool_granules * SOMA_GRANULE_BYTES);
    return workload_chance(workload, 500) ? bytes : bytes - workload_below(workload, MIB * 2);
}

/* A place inside a block: its start, near it, anywhere, near its end. */
static uint64_t place_inside(struct workload *workload, uint64_t bytes)
{
    if (workload_chance(workload, 500))
        return 0;
    if (workload_chance(workload, 500))
        return workload_below(workload, bytes < 8192 ? bytes : 8192);
    if (workload_chance(workload, 500))
        return workload_below(workload, bytes);
    return bytes - workload_between(workload, 1, bytes < 64 ? bytes : 64);
}

static uint32_t pick_memory(struct workload *workload, uint32_t device)
{
    enum workload_kind kind = workload_chance(workload, 700) ? WORKLOAD_BLOCK : WORKLOAD_ALLOCATION;
    return is_wrong(workload) ? pick_any(workload, kind) : workload_pick(workload, kind, device);
}

/* Fill an address field with a place inside something. Returns the bytes from there to its end. */
static uint64_t put_place(struct workload *workload, struct workload_step *step,
                          enum soma_field field, uint32_t device)
{
    uint32_t object = pick_memory(workload, device);
    if (object == WORKLOAD_NONE) {
        workload_set(step, field, workload_random(workload) >> workload_below(workload, 64));
        return 4096;
    }
    uint64_t bytes = workload->objects[object].bytes;
    uint64_t offset = place_inside(workload, bytes);
    workload_refer(workload, step, field, object, offset);
    return bytes - offset;
}

/* How many bytes, when so many are left in the block. */
static uint64_t access_size(struct workload *workload, uint64_t left, uint64_t max)
{
    if (workload_chance(workload, workload->wrong / 2))
        return workload_chance(workload, 500) ? 0 : left + 1;
    uint64_t limit = left < max ? left : max;
    if (workload_chance(workload, 100))
        return limit;
    return workload_between(workload, 1, limit < 64 ? limit : 64);
}

/* The start of a block or allocation for a free. */
static void put_start(struct workload *workload, struct workload_step *step, uint32_t object)
{
    if (object == WORKLOAD_NONE) {
        workload_set(step, SOMA_FIELD_ptr,
                     workload_chance(workload, 200)
                         ? 0
                         : SOMA_ADDRESS_BASE + workload_below(workload, 64) * SOMA_GRANULE_BYTES);
        return;
    }
    uint64_t offset = 0;
    if (is_wrong(workload))
        offset = workload_chance(workload, 500) ? SOMA_GRANULE_BYTES : 1;
    workload_refer(workload, step, SOMA_FIELD_ptr, object, offset);
    if (offset == 0)
        step->target = object;
}

/* ---- makers: fill everything but the device ---- */

typedef void make_fn(struct workload *workload, struct workload_step *step, uint32_t device);

static void make_nothing(struct workload *workload, struct workload_step *step, uint32_t device)
{
    (void)workload;
    (void)step;
    (void)device;
}

static void make_device_wait(struct workload *workload, struct workload_step *step, uint32_t device)
{
    (void)device;
    put_timeout(workload, step);
}

static void make_stream_create(struct workload *workload, struct workload_step *step,
                               uint32_t device)
{
    (void)device;
    if (workload_chance(workload, 200))
        workload_set(step, SOMA_FIELD_priority, workload_below(workload, 8));
}

static void make_on_stream(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_stream(workload, step, device);
}

static void make_stream_destroy(struct workload *workload, struct workload_step *step,
                                uint32_t device)
{
    step->target = put_stream(workload, step, device);
}

static void make_stream_wait(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_stream(workload, step, device);
    put_timeout(workload, step);
    if (workload_chance(workload, 300))
        workload_set(step, SOMA_FIELD_release, workload_below(workload, 2));
}

static void make_wait_event(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_stream(workload, step, device);
    put_event(workload, step, workload_chance(workload, 150) ? WORKLOAD_NONE : device);
}

static void make_delay(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_stream(workload, step, device);
    uint64_t duration = workload_below(workload, 2 * workload->delay_ns);
    if (workload_chance(workload, 20))
        duration = workload_chance(workload, 500) ? 0 : UINT64_C(10000000000);
    workload_set(step, SOMA_FIELD_duration_ns, duration);
}

/* ---- functions of the host: ids count up from 1, and most are complete soon ---- */

static void make_host_func(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_stream(workload, step, device);
    workload_set(step, SOMA_FIELD_group, workload_below(workload, 3));
    if (workload_chance(workload, 300))
        workload_set(step, SOMA_FIELD_block_type, SOMA_BLOCK_TYPE_NO_BLOCK);
    workload->funcs++;
}

static void make_take(struct workload *workload, struct workload_step *step, uint32_t device)
{
    (void)device;
    workload_set(step, SOMA_FIELD_group, workload_below(workload, 3));
    workload_set(step, SOMA_FIELD_timeout_ms, 0);
}

static void make_complete(struct workload *workload, struct workload_step *step, uint32_t device)
{
    (void)device;
    uint64_t oldest = workload->funcs < 8 ? 0 : workload->funcs - 8;
    workload_set(step, SOMA_FIELD_host_func,
                 workload_between(workload, oldest, workload->funcs + 1));
}

static void make_advance(struct workload *workload, struct workload_step *step, uint32_t device)
{
    (void)device;
    workload_set(step, SOMA_FIELD_duration_ns, workload_below(workload, 2 * workload->delay_ns));
}

static void make_failure_mode(struct workload *workload, struct workload_step *step,
                              uint32_t device)
{
    put_stream(workload, step, device);
    workload_set(step, SOMA_FIELD_failure_mode, workload_below(workload, 2));
}

static void make_launch(struct workload *workload, struct workload_step *step, uint32_t device)
{
    static const char spin[] = "spin";
    static const char invert[] = "invert";
    put_stream(workload, step, device);
    struct soma_command *command = &step->command;
    command->present |= SOMA_HAS(kernel) | SOMA_HAS(args);
    uint32_t object = pick_memory(workload, device);
    if (object == WORKLOAD_NONE || workload_chance(workload, 300)) {
        command->kernel = (struct soma_text){spin, sizeof(spin) - (is_wrong(workload) ? 2 : 1)};
        step->args[0] = (struct soma_kernel_arg){
            .kind = SOMA_ARG_U64, .bits = workload_below(workload, workload->delay_ns)};
        command->args.count = is_wrong(workload) ? 0 : 1;
        return;
    }
    uint64_t bytes = workload->objects[object].bytes;
    uint64_t offset = place_inside(workload, bytes);
    command->kernel = (struct soma_text){invert, sizeof(invert) - 1};
    step->args[0] = (struct soma_kernel_arg){.kind = SOMA_ARG_PTR, .bits = offset};
    step->arg_step = workload->objects[object].step;
    step->args[1] = (struct soma_kernel_arg){.kind = SOMA_ARG_U64,
                                             .bits = access_size(workload, bytes - offset, 4096)};
    command->args.count = 2;
}

static void make_event_create(struct workload *workload, struct workload_step *step,
                              uint32_t device)
{
    (void)device;
    if (workload_chance(workload, workload->is_plain))
        workload_set(step, SOMA_FIELD_kind, SOMA_EVENT_KIND_PLAIN);
}

static void make_on_event(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_event(workload, step, device);
}

static void make_event_destroy(struct workload *workload, struct workload_step *step,
                               uint32_t device)
{
    step->target = put_event(workload, step, device);
}

static void make_event_on_stream(struct workload *workload, struct workload_step *step,
                                 uint32_t device)
{
    put_event(workload, step, device);
    put_stream(workload, step, device);
}

static void make_event_wait(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_event(workload, step, device);
    put_timeout(workload, step);
}

static void make_elapsed(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_event(workload, step, device);
    put_object(workload, step, SOMA_FIELD_since, WORKLOAD_EVENT, device);
}

static void make_pool_create(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint64_t bytes = workload_between(workload, 1, workload->pool_granules) * SOMA_GRANULE_BYTES;
    if (workload_chance(workload, 300))
        bytes -= workload_below(workload, SOMA_GRANULE_BYTES);
    if (workload_chance(workload, 20))
        bytes = workload_random(workload) >> workload_below(workload, 64);
    if (workload_chance(workload, 30))
        bytes = workload_between(workload, 1, workload->program->config.memory_bytes);
    if (workload_chance(workload, workload->is_demand))
        bytes = 0;
    if (bytes != 0 || workload_chance(workload, 300))
        workload_set(step, SOMA_FIELD_max_size, bytes);
    if (workload_chance(workload, 200))
        workload_set(step, SOMA_FIELD_handle_type, is_wrong(workload) ? 1 : SOMA_HANDLE_TYPE_POSIX);
    if (is_wrong(workload))
        workload_set(step, SOMA_FIELD_alloc_type, workload_below(workload, 2));
    if (workload_chance(workload, 100)) {
        workload_set(step, SOMA_FIELD_location_type,
                     is_wrong(workload) ? SOMA_LOCATION_TYPE_HOST : SOMA_LOCATION_TYPE_DEVICE);
        workload_set(step, SOMA_FIELD_location_id, is_wrong(workload) ? device + 1 : device);
    }
}

static void make_on_pool(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_pool(workload, step, device);
}

static uint64_t attribute_name(struct workload *workload)
{
    return is_wrong(workload) ? workload_below(workload, 12) : workload_between(workload, 1, 8);
}

static void make_get_attribute(struct workload *workload, struct workload_step *step,
                               uint32_t device)
{
    put_pool(workload, step, device);
    workload_set(step, SOMA_FIELD_attribute, attribute_name(workload));
}

static void make_set_attribute(struct workload *workload, struct workload_step *step,
                               uint32_t device)
{
    uint32_t pool = put_pool(workload, step, device);
    uint64_t max = pool == WORKLOAD_NONE ? SOMA_GRANULE_BYTES : workload->objects[pool].bytes;
    uint64_t attribute = attribute_name(workload);
    uint64_t value = workload_below(workload, 3);
    if (attribute == SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD) {
        value = workload_below(workload, max + 1);
        if (is_wrong(workload))
            value = max + workload_below(workload, 3);
    } else if (attribute > SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD) {
        value = is_wrong(workload) ? 1 : 0;
    }
    workload_set(step, SOMA_FIELD_attribute, attribute);
    workload_set(step, SOMA_FIELD_value, value);
}

static void make_pool_malloc(struct workload *workload, struct workload_step *step, uint32_t device)
{
    step->target = put_pool(workload, step, device);
    workload_set(step, SOMA_FIELD_size, block_size(workload));
    put_stream_or_not(workload, step, device);
}

static void make_pool_free(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint32_t block = is_wrong(workload) ? pick_any(workload, WORKLOAD_BLOCK)
                                        : workload_pick(workload, WORKLOAD_BLOCK, device);
    if (block == WORKLOAD_NONE || is_wrong(workload))
        put_pool(workload, step, device);
    else
        workload_refer(workload, step, SOMA_FIELD_pool, workload->objects[block].owner, 0);
    put_start(workload, step, block);
    put_stream_or_not(workload, step, device);
}

static void make_trim(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint32_t pool = put_pool(workload, step, device);
    uint64_t max = pool == WORKLOAD_NONE ? SOMA_GRANULE_BYTES : workload->objects[pool].bytes;
    uint64_t keep = workload_chance(workload, 300) ? 0 : workload_below(workload, max + 1);
    if (is_wrong(workload))
        keep = max + workload_below(workload, 3);
    workload_set(step, SOMA_FIELD_min_bytes_to_keep, keep);
}

static void make_pool_destroy(struct workload *workload, struct workload_step *step,
                              uint32_t device)
{
    step->target = put_pool(workload, step, device);
}

static void make_memory_malloc(struct workload *workload, struct workload_step *step,
                               uint32_t device)
{
    (void)device;
    uint64_t bytes = workload_between(workload, 1, 9000);
    if (workload_chance(workload, 500))
        bytes = workload_between(workload, 1, 8 * SOMA_GRANULE_BYTES);
    if (workload_chance(workload, 60))
        bytes = SOMA_SMALL_ALLOC_BYTES + workload_below(workload, 3) - 1;
    if (workload_chance(workload, 60))
        bytes = workload_between(workload, 1, workload->program->config.memory_bytes);
    if (is_wrong(workload))
        bytes = workload_chance(workload, 500)
                    ? 0
                    : UINT64_MAX - workload_below(workload, 3 * SOMA_GRANULE_BYTES);
    workload_set(step, SOMA_FIELD_size, bytes);
}

static void make_memory_free(struct workload *workload, struct workload_step *step, uint32_t device)
{
    bool is_block = workload_chance(workload, 300);
    enum workload_kind kind = is_block ? WORKLOAD_BLOCK : WORKLOAD_ALLOCATION;
    uint32_t object =
        is_wrong(workload) ? pick_any(workload, kind) : workload_pick(workload, kind, device);
    put_start(workload, step, object);
}

static void make_free_async(struct workload *workload, struct workload_step *step, uint32_t device)
{
    make_memory_free(workload, step, device);
    put_stream_or_not(workload, step, device);
}

/* Bytes for writes: fixed, without a pattern that repeats. */
static const unsigned char *random_bytes(void)
{
    static unsigned char bytes[65536];
    static bool is_filled;
    uint32_t value = 12345;
    for (uint32_t i = 0; !is_filled && i < sizeof(bytes); i++) {
        value = value * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(value >> 24);
    }
    is_filled = true;
    return bytes;
}

void workload_put_bytes(struct workload *workload, struct workload_step *step, uint64_t size_bytes)
{
    uint64_t len = size_bytes > 32768 ? 32768 : size_bytes;
    step->command.data.ptr = (const char *)random_bytes() + workload_below(workload, 32768);
    step->command.data.len = len;
    step->command.present |= SOMA_HAS(data);
}

static void make_write(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint64_t left = put_place(workload, step, SOMA_FIELD_ptr, device);
    workload_put_bytes(workload, step, access_size(workload, left, 8192));
    put_stream_or_not(workload, step, device);
}

static void make_read(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint64_t left = put_place(workload, step, SOMA_FIELD_ptr, device);
    workload_set(step, SOMA_FIELD_size, access_size(workload, left, 8192));
    put_stream_or_not(workload, step, device);
}

static void make_set(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint64_t left = put_place(workload, step, SOMA_FIELD_ptr, device);
    uint64_t max = workload_chance(workload, 100) ? 64 * MIB : 10000;
    workload_set(step, SOMA_FIELD_value, workload_below(workload, 256));
    workload_set(step, SOMA_FIELD_size, access_size(workload, left, max));
    put_stream_or_not(workload, step, device);
}

static void make_copy(struct workload *workload, struct workload_step *step, uint32_t device)
{
    uint64_t left = put_place(workload, step, SOMA_FIELD_dst, device);
    uint64_t other;
    if (workload_chance(workload, 300) && step->reference_count > 0) {
        /* From the same block, near by: the ranges overlap. */
        uint64_t offset = step->command.dst;
        uint64_t back = workload_below(workload, offset < 40 ? offset + 1 : 40);
        bool is_back = workload_chance(workload, 500);
        step->references[1] = step->references[0];
        step->references[1].field = SOMA_FIELD_src;
        step->reference_count = 2;
        workload_set(step, SOMA_FIELD_src, is_back ? offset - back : offset + 8);
        other = is_back ? left : (left > 8 ? left - 8 : 1);
    } else {
        other = put_place(workload, step, SOMA_FIELD_src, device);
    }
    uint64_t max = workload_chance(workload, 50) ? 64 * MIB : 10000;
    workload_set(step, SOMA_FIELD_size, access_size(workload, left < other ? left : other, max));
    put_stream_or_not(workload, step, device);
}

static void make_describe(struct workload *workload, struct workload_step *step, uint32_t device)
{
    put_place(workload, step, SOMA_FIELD_ptr, device);
}

/* ---- the table ---- */

static const struct {
    enum soma_op op;
    uint32_t weight;
    make_fn *make;
} op_rows[] = {
    {SOMA_OP_DEVICE_LIST, 2, make_nothing},
    {SOMA_OP_DEVICE_GET, 3, make_nothing},
    {SOMA_OP_DEVICE_SYNCHRONIZE, 8, make_device_wait},
    {SOMA_OP_DEVICE_RESET, 1, make_nothing},
    {SOMA_OP_STREAM_CREATE, 12, make_stream_create},
    {SOMA_OP_STREAM_LIST, 2, make_nothing},
    {SOMA_OP_STREAM_GET, 12, make_on_stream},
    {SOMA_OP_STREAM_DESTROY, 4, make_stream_destroy},
    {SOMA_OP_STREAM_SYNCHRONIZE, 18, make_stream_wait},
    {SOMA_OP_STREAM_WAIT_EVENT, 60, make_wait_event},
    {SOMA_OP_STREAM_DELAY, 80, make_delay},
    {SOMA_OP_STREAM_LAUNCH_KERNEL, 15, make_launch},
    {SOMA_OP_STREAM_SET_FAILURE_MODE, 2, make_failure_mode},
    {SOMA_OP_STREAM_LAUNCH_HOST_FUNC, 8, make_host_func},
    {SOMA_OP_HOST_FUNC_LIST, 4, make_nothing},
    {SOMA_OP_HOST_FUNC_TAKE, 12, make_take},
    {SOMA_OP_HOST_FUNC_COMPLETE, 24, make_complete},
    {SOMA_OP_CLOCK_ADVANCE, 2, make_advance},
    {SOMA_OP_EVENT_CREATE, 16, make_event_create},
    {SOMA_OP_EVENT_LIST, 2, make_nothing},
    {SOMA_OP_EVENT_GET, 12, make_on_event},
    {SOMA_OP_EVENT_DESTROY, 4, make_event_destroy},
    {SOMA_OP_EVENT_RECORD, 60, make_event_on_stream},
    {SOMA_OP_EVENT_RESET, 4, make_event_on_stream},
    {SOMA_OP_EVENT_SYNCHRONIZE, 10, make_event_wait},
    {SOMA_OP_EVENT_ELAPSED, 10, make_elapsed},
    {SOMA_OP_POOL_CREATE, 10, make_pool_create},
    {SOMA_OP_POOL_LIST, 2, make_nothing},
    {SOMA_OP_POOL_GET, 14, make_on_pool},
    {SOMA_OP_POOL_SEGMENTS, 14, make_on_pool},
    {SOMA_OP_POOL_GET_ATTRIBUTES, 8, make_on_pool},
    {SOMA_OP_POOL_GET_ATTRIBUTE, 8, make_get_attribute},
    {SOMA_OP_POOL_SET_ATTRIBUTE, 20, make_set_attribute},
    {SOMA_OP_POOL_MALLOC, 210, make_pool_malloc},
    {SOMA_OP_POOL_FREE, 215, make_pool_free},
    {SOMA_OP_POOL_TRIM_TO, 12, make_trim},
    {SOMA_OP_POOL_DESTROY, 3, make_pool_destroy},
    {SOMA_OP_MEMORY_INFO, 10, make_nothing},
    {SOMA_OP_MEMORY_MALLOC, 30, make_memory_malloc},
    {SOMA_OP_MEMORY_FREE, 20, make_memory_free},
    {SOMA_OP_MEMORY_FREE_ASYNC, 30, make_free_async},
    {SOMA_OP_MEMORY_SET, 15, make_set},
    {SOMA_OP_MEMORY_COPY, 20, make_copy},
    {SOMA_OP_MEMORY_DESCRIBE, 10, make_describe},
    {SOMA_OP_MEMORY_WRITE, 20, make_write},
    {SOMA_OP_MEMORY_READ, 40, make_read},
};

#define ROW_COUNT ((uint32_t)(sizeof(op_rows) / sizeof(op_rows[0])))
_Static_assert(sizeof(op_rows) / sizeof(op_rows[0]) <= WORKLOAD_OPS_MAX, "a weight per row");

/* Every session likes some commands more and others less. */
void workload_weigh(struct workload *workload)
{
    static const uint32_t quarters[] = {1, 4, 4, 4, 12};
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        workload->weights[i] = op_rows[i].weight * quarters[workload_below(workload, 5)];
        workload->weight_sum += workload->weights[i];
    }
}

static uint32_t random_row(struct workload *workload)
{
    uint64_t place = workload_below(workload, workload->weight_sum);
    uint32_t row = 0;
    while (place >= workload->weights[row]) {
        place -= workload->weights[row];
        row++;
    }
    return row;
}

/* Creates are left out when there is enough already. */
static bool is_enough(const struct workload *workload, enum soma_op op)
{
    uint32_t devices = workload->program->config.device_count;
    if (op == SOMA_OP_STREAM_CREATE)
        return workload->live[WORKLOAD_STREAM] >= devices * (1 + workload->streams_per_device) ||
               workload->made[WORKLOAD_STREAM] >= STREAMS_MADE_MAX;
    if (op == SOMA_OP_EVENT_CREATE)
        return workload->live[WORKLOAD_EVENT] >= devices * workload->events_per_device;
    if (op == SOMA_OP_POOL_CREATE)
        return workload->live[WORKLOAD_POOL] >= devices * workload->pools_per_device;
    if (op == SOMA_OP_MEMORY_MALLOC)
        return workload->live[WORKLOAD_ALLOCATION] >= 40;
    return false;
}

/* What must live on the device for the command to mean anything. */
static enum workload_kind needed_kind(enum soma_op op)
{
    if (op == SOMA_OP_STREAM_WAIT_EVENT || (op > SOMA_OP_EVENT_LIST && op <= SOMA_OP_EVENT_ELAPSED))
        return WORKLOAD_EVENT;
    if (op == SOMA_OP_POOL_FREE)
        return WORKLOAD_BLOCK;
    if (op > SOMA_OP_POOL_LIST && op <= SOMA_OP_POOL_DESTROY)
        return WORKLOAD_POOL;
    if (op >= SOMA_OP_MEMORY_FREE && op <= SOMA_OP_MEMORY_READ)
        return WORKLOAD_ALLOCATION;
    return WORKLOAD_STREAM; /* the default one always lives */
}

/* Mostly the command that chance chose; where there is nothing for it, the one that makes it. */
static enum soma_op sensible_op(struct workload *workload, enum soma_op op, uint32_t device)
{
    static const enum soma_op creates[] = {
        [WORKLOAD_STREAM] = SOMA_OP_STREAM_CREATE,     [WORKLOAD_EVENT] = SOMA_OP_EVENT_CREATE,
        [WORKLOAD_POOL] = SOMA_OP_POOL_CREATE,         [WORKLOAD_BLOCK] = SOMA_OP_POOL_MALLOC,
        [WORKLOAD_ALLOCATION] = SOMA_OP_MEMORY_MALLOC,
    };
    for (int i = 0; i < 3; i++) {
        enum workload_kind kind = needed_kind(op);
        if (workload_pick(workload, kind, device) != WORKLOAD_NONE ||
            workload_chance(workload, 2 * workload->wrong))
            break;
        op = creates[kind];
    }
    return op;
}

static uint32_t row_of(enum soma_op op)
{
    uint32_t row = 0;
    while (op_rows[row].op != op)
        row++;
    return row;
}

struct workload_step workload_random_step(struct workload *workload)
{
    uint32_t devices = workload->program->config.device_count;
    uint32_t row = random_row(workload);
    while (is_enough(workload, op_rows[row].op))
        row = random_row(workload);
    uint32_t device = (uint32_t)workload_below(workload, devices);
    row = row_of(sensible_op(workload, op_rows[row].op, device));
    struct workload_step step = workload_step_of(op_rows[row].op);
    op_rows[row].make(workload, &step, device);
    bool is_made_up = workload_chance(workload, workload->wrong / 8);
    workload_set(&step, SOMA_FIELD_device,
                 is_made_up ? devices + workload_below(workload, 70) : device);
    return step;
}
