/* Sessions whose lanes keep apart: lane n works on device n, in pools, streams and events that were
 * made in one batch beforehand. Nothing that one lane does is seen by another, except through the
 * session's clock, and nothing here depends on that: no opportunistic reuse, no timeouts, no
 * queries. */
#include "load.h"

#include <stdlib.h>

#define POOLS 2u
#define STREAMS 2u
#define EVENTS 2u
#define BLOCKS_MAX 24u
#define ACCESS_BYTES_MAX 4096u
#define STALE 77777u /* an id that nothing has */

struct block {
    uint64_t pool, ptr, size;
};

/* What a lane works with. Block tables are as the answers left them. */
struct lane {
    uint64_t pools[POOLS], streams[STREAMS + 1], events[EVENTS];
    uint32_t pool_count, stream_count, event_count;
    struct block blocks[BLOCKS_MAX];
    uint32_t block_count;
};

struct apart {
    struct lane lanes[LOAD_LANES_MAX];
};

static uint64_t below(struct load_session *session, uint64_t limit)
{
    return random_below(&session->random, limit);
}

static bool is_wrong(struct load_session *session)
{
    return below(session, 100) < 3;
}

static void begin(struct load_session *session)
{
    static const char soc[] = SOMA_SOC_DEFAULT;
    struct apart *state = calloc(1, sizeof(*state));
    if (state == NULL)
        abort();
    session->state = state;
    session->config = (struct model_config){.device_count = session->lane_count,
                                            .soc = soma_soc_find(soc, sizeof(soc) - 1),
                                            .costs = {.host_call_ns = SOMA_HOST_CALL_NS_DEFAULT,
                                                      .host_copy_ns = 10000,
                                                      .host_copy_bytes_per_us = 24000,
                                                      .device_copy_ns = 5000,
                                                      .device_copy_bytes_per_us = 400000,
                                                      .set_ns = 5000,
                                                      .set_bytes_per_us = 800000,
                                                      .kernel_ns = 10000}};
    session->config.memory_bytes = session->config.soc->memory_bytes;
    for (uint32_t i = 0; i < session->lane_count; i++)
        state->lanes[i].stream_count = 1; /* stream 0 is there */
}

static void end(struct load_session *session)
{
    free(session->state);
}

/* ---- setup ---- */

static struct soma_command *add(struct load_request *request, enum soma_op op, uint64_t device)
{
    struct soma_command *command = &request->commands[request->count++];
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, device);
    return command;
}

static void set(struct soma_command *command, enum soma_field field, uint64_t value)
{
    soma_command_set(command, field, value);
}

static void setup(struct load_session *session, struct load_request *request)
{
    for (uint32_t lane = 0; lane < session->lane_count; lane++) {
        for (uint32_t i = 0; i < STREAMS; i++)
            add(request, SOMA_OP_STREAM_CREATE, lane);
        for (uint32_t i = 0; i < EVENTS; i++)
            add(request, SOMA_OP_EVENT_CREATE, lane);
        for (uint32_t i = 0; i < POOLS; i++) {
            struct soma_command *command = add(request, SOMA_OP_POOL_CREATE, lane);
            set(command, SOMA_FIELD_max_size, (8 + below(session, 24)) * SOMA_GRANULE_BYTES);
        }
    }
}

static void learn_created(struct lane *lane, enum soma_op op, const struct soma_result *result)
{
    if (op == SOMA_OP_STREAM_CREATE)
        lane->streams[lane->stream_count++] = result->u.stream_created.stream;
    else if (op == SOMA_OP_EVENT_CREATE)
        lane->events[lane->event_count++] = result->u.event_created.event;
    else if (op == SOMA_OP_POOL_CREATE)
        lane->pools[lane->pool_count++] = result->u.pool_created.pool;
}

static void forget(struct lane *lane, uint64_t ptr)
{
    for (uint32_t i = 0; i < lane->block_count; i++) {
        if (lane->blocks[i].ptr == ptr)
            lane->blocks[i] = lane->blocks[--lane->block_count];
    }
}

static void learn(struct load_session *session, uint32_t index, uint32_t token,
                  const struct soma_command *command, enum soma_status status,
                  const struct soma_result *result)
{
    struct apart *state = session->state;
    struct lane *lane = &state->lanes[command->device < session->lane_count ? command->device : 0];
    (void)index;
    (void)token;
    if (status != SOMA_OK)
        return;
    if (command->op == SOMA_OP_POOL_MALLOC && lane->block_count < BLOCKS_MAX)
        lane->blocks[lane->block_count++] =
            (struct block){command->pool, result->u.pool_block.ptr, result->u.pool_block.size};
    else if (command->op == SOMA_OP_POOL_FREE || command->op == SOMA_OP_MEMORY_FREE ||
             command->op == SOMA_OP_MEMORY_FREE_ASYNC)
        forget(lane, command->ptr);
    else
        learn_created(lane, command->op, result);
}

/* ---- choices ---- */

static uint64_t any_stream(struct load_session *session, const struct lane *lane)
{
    return is_wrong(session) ? STALE : lane->streams[below(session, STREAMS + 1)];
}

static uint64_t any_event(struct load_session *session, const struct lane *lane)
{
    return is_wrong(session) ? STALE : lane->events[below(session, EVENTS)];
}

static uint64_t any_pool(struct load_session *session, const struct lane *lane)
{
    return is_wrong(session) ? STALE : lane->pools[below(session, POOLS)];
}

static struct block any_block(struct load_session *session, const struct lane *lane)
{
    if (lane->block_count == 0 || is_wrong(session))
        return (struct block){lane->pools[0], SOMA_ADDRESS_SMALL_BASE, SOMA_GRANULE_BYTES};
    return lane->blocks[below(session, lane->block_count)];
}

static uint64_t any_size(struct load_session *session, uint64_t max)
{
    return is_wrong(session) ? max + 1
                             : 1 + below(session, max < ACCESS_BYTES_MAX ? max : ACCESS_BYTES_MAX);
}

/* ---- makers ---- */

typedef void make_fn(struct load_session *session, const struct lane *lane,
                     struct soma_command *command);

static void make_malloc(struct load_session *session, const struct lane *lane,
                        struct soma_command *command)
{
    uint64_t size = 1 + below(session, 3 * SOMA_GRANULE_BYTES);
    set(command, SOMA_FIELD_pool, any_pool(session, lane));
    set(command, SOMA_FIELD_size, is_wrong(session) ? 0 : size);
    set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_free(struct load_session *session, const struct lane *lane,
                      struct soma_command *command)
{
    struct block block = any_block(session, lane);
    set(command, SOMA_FIELD_pool, is_wrong(session) ? any_pool(session, lane) : block.pool);
    set(command, SOMA_FIELD_ptr, is_wrong(session) ? block.ptr + 1 : block.ptr);
    set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_pointer_free(struct load_session *session, const struct lane *lane,
                              struct soma_command *command)
{
    set(command, SOMA_FIELD_ptr, any_block(session, lane).ptr);
    if (command->op == SOMA_OP_MEMORY_FREE_ASYNC)
        set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_record(struct load_session *session, const struct lane *lane,
                        struct soma_command *command)
{
    set(command, SOMA_FIELD_event, any_event(session, lane));
    set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_on_stream(struct load_session *session, const struct lane *lane,
                           struct soma_command *command)
{
    set(command, SOMA_FIELD_stream, any_stream(session, lane));
    if (command->op == SOMA_OP_STREAM_DELAY)
        set(command, SOMA_FIELD_duration_ns, below(session, 2000000));
}

static void make_on_event(struct load_session *session, const struct lane *lane,
                          struct soma_command *command)
{
    set(command, SOMA_FIELD_event, any_event(session, lane));
}

static void make_on_device(struct load_session *session, const struct lane *lane,
                           struct soma_command *command)
{
    (void)session;
    (void)lane;
    (void)command;
}

static void make_on_pool(struct load_session *session, const struct lane *lane,
                         struct soma_command *command)
{
    set(command, SOMA_FIELD_pool, any_pool(session, lane));
    if (command->op == SOMA_OP_POOL_TRIM_TO)
        set(command, SOMA_FIELD_min_bytes_to_keep, below(session, 8) * SOMA_GRANULE_BYTES);
    if (command->op == SOMA_OP_POOL_GET_ATTRIBUTE)
        set(command, SOMA_FIELD_attribute, 1 + below(session, 8));
}

static void make_set_attribute(struct load_session *session, const struct lane *lane,
                               struct soma_command *command)
{
    static const enum soma_pool_attribute some[] = {
        SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES,
        SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
        SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD, SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH};
    uint64_t which = some[below(session, sizeof(some) / sizeof(some[0]))];
    uint64_t value = which == SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD
                         ? below(session, 10) * SOMA_GRANULE_BYTES
                         : below(session, 2);
    set(command, SOMA_FIELD_pool, any_pool(session, lane));
    set(command, SOMA_FIELD_attribute, which);
    set(command, SOMA_FIELD_value, value);
}

/* Bytes for writes. */
static const char *some_bytes(void)
{
    static char bytes[2 * ACCESS_BYTES_MAX];
    uint32_t value = 2463534242u;
    for (size_t i = 0; bytes[0] == 0 && i < sizeof(bytes); i++) {
        value = value * 1664525u + 1013904223u;
        bytes[sizeof(bytes) - 1 - i] = (char)(value >> 24 | 1u);
    }
    return bytes;
}

static void make_access(struct load_session *session, const struct lane *lane,
                        struct soma_command *command)
{
    struct block block = any_block(session, lane);
    uint64_t offset = below(session, 3) == 0 ? 0 : below(session, block.size);
    uint64_t size = any_size(session, block.size - offset);
    if (command->op == SOMA_OP_MEMORY_WRITE) {
        if (size > ACCESS_BYTES_MAX)
            size = ACCESS_BYTES_MAX;
        command->data =
            (struct soma_text){some_bytes() + below(session, ACCESS_BYTES_MAX), (size_t)size};
        command->present |= SOMA_HAS(data);
    } else {
        set(command, SOMA_FIELD_size, size);
    }
    set(command, SOMA_FIELD_ptr, block.ptr + offset);
    if (command->op == SOMA_OP_MEMORY_SET)
        set(command, SOMA_FIELD_value, below(session, 256));
    if (below(session, 2) == 0)
        set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_copy(struct load_session *session, const struct lane *lane,
                      struct soma_command *command)
{
    struct block from = any_block(session, lane), to = any_block(session, lane);
    set(command, SOMA_FIELD_src, from.ptr);
    set(command, SOMA_FIELD_dst, to.ptr + below(session, to.size));
    set(command, SOMA_FIELD_size, any_size(session, SOMA_GRANULE_BYTES));
    set(command, SOMA_FIELD_stream, any_stream(session, lane));
}

static void make_describe(struct load_session *session, const struct lane *lane,
                          struct soma_command *command)
{
    struct block block = any_block(session, lane);
    set(command, SOMA_FIELD_ptr, block.ptr + below(session, block.size));
}

static const struct {
    enum soma_op op;
    uint32_t weight;
    make_fn *make;
} rows[] = {
    {SOMA_OP_POOL_MALLOC, 240, make_malloc},
    {SOMA_OP_POOL_FREE, 170, make_free},
    {SOMA_OP_MEMORY_FREE_ASYNC, 30, make_pointer_free},
    {SOMA_OP_MEMORY_FREE, 20, make_pointer_free},
    {SOMA_OP_EVENT_RECORD, 60, make_record},
    {SOMA_OP_STREAM_WAIT_EVENT, 60, make_record},
    {SOMA_OP_STREAM_DELAY, 60, make_on_stream},
    {SOMA_OP_STREAM_SYNCHRONIZE, 20, make_on_stream},
    {SOMA_OP_EVENT_SYNCHRONIZE, 10, make_on_event},
    {SOMA_OP_DEVICE_SYNCHRONIZE, 8, make_on_device},
    {SOMA_OP_MEMORY_INFO, 6, make_on_device},
    {SOMA_OP_POOL_TRIM_TO, 12, make_on_pool},
    {SOMA_OP_POOL_GET, 12, make_on_pool},
    {SOMA_OP_POOL_SEGMENTS, 12, make_on_pool},
    {SOMA_OP_POOL_GET_ATTRIBUTES, 8, make_on_pool},
    {SOMA_OP_POOL_GET_ATTRIBUTE, 8, make_on_pool},
    {SOMA_OP_POOL_SET_ATTRIBUTE, 20, make_set_attribute},
    {SOMA_OP_MEMORY_WRITE, 40, make_access},
    {SOMA_OP_MEMORY_READ, 40, make_access},
    {SOMA_OP_MEMORY_SET, 15, make_access},
    {SOMA_OP_MEMORY_COPY, 20, make_copy},
    {SOMA_OP_MEMORY_DESCRIBE, 10, make_describe},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void next(struct load_session *session, uint32_t index, struct load_request *request)
{
    struct apart *state = session->state;
    const struct lane *lane = &state->lanes[index];
    uint32_t sum = 0;
    size_t row = 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        sum += rows[i].weight;
    uint64_t place = below(session, sum);
    while (place >= rows[row].weight)
        place -= rows[row++].weight;
    /* A lane knows so many blocks; what it forgot would stay until the session's end. */
    bool is_full = rows[row].op == SOMA_OP_POOL_MALLOC && lane->block_count == BLOCKS_MAX;
    size_t chosen = is_full ? 1 : row;
    struct soma_command *command = add(request, rows[chosen].op, index);
    rows[chosen].make(session, lane, command);
}

const struct load_kind load_apart = {.name = "apart",
                                     .is_batch = false,
                                     .has_times = false,
                                     .begin = begin,
                                     .setup = setup,
                                     .next = next,
                                     .learn = learn,
                                     .end = end};
