/* The session as a whole: creation, the way of a command, sums. */
#include "internal.h"

#include <inttypes.h>
#include <string.h>

#ifdef SOMA_ENGINE_CHECK
#include <stdio.h>
#include <stdlib.h>
#endif

_Static_assert(sizeof((struct engine){0}.last_id) == ID_KINDS * sizeof(uint64_t), "a last id each");

void *engine_alloc(struct engine *engine, size_t size_bytes)
{
    void *ptr = engine->mem.alloc(engine->mem.ctx, size_bytes);
    if (ptr != NULL)
        memset(ptr, 0, size_bytes);
    return ptr;
}

void engine_free(struct engine *engine, void *ptr)
{
    if (ptr != NULL)
        engine->mem.release(engine->mem.ctx, ptr);
}

enum soma_status engine_no_memory(struct call *call)
{
    return soma_fail(call->error, SOMA_OUT_OF_MEMORY, "",
                     "no memory for %s; end sessions that are not used, or give the service more",
                     soma_op_info(call->command->op)->name);
}

enum soma_status engine_result_array(struct call *call, size_t count, size_t item_size,
                                     void **items)
{
    *items = NULL;
    if (count == 0)
        return SOMA_OK;
    *items = engine_alloc(call->engine, count * item_size);
    return *items == NULL ? engine_no_memory(call) : SOMA_OK;
}

bool call_has(const struct call *call, uint64_t field_bit)
{
    return (call->command->present & field_bit) != 0;
}

/* Every SoC takes the same time so far; a SoC of its own gets a row of its own. */
static const struct engine_costs costs_of_all = {
    .host_call_ns = SOMA_HOST_CALL_NS_DEFAULT,
    .host_copy_ns = 10000,
    .host_copy_bytes_per_us = 24000,
    .device_copy_ns = 5000,
    .device_copy_bytes_per_us = 400000,
    .set_ns = 5000,
    .set_bytes_per_us = 800000,
    .kernel_ns = 10000,
};

const struct engine_costs *engine_costs_of(const struct soma_soc *soc)
{
    (void)soc;
    return &costs_of_all;
}

static bool devices_init(struct engine *engine, const struct engine_config *config)
{
    engine->devices = engine_alloc(engine, config->device_count * sizeof(*engine->devices));
    if (engine->devices == NULL)
        return false;
    engine->device_count = config->device_count;
    for (uint32_t i = 0; i < config->device_count; i++) {
        struct device *device = &engine->devices[i];
        device->number = i;
        device->total_bytes =
            config->memory_bytes != 0 ? config->memory_bytes : config->soc->memory_bytes;
        stream_init(&device->default_stream, device, 0);
        tree_insert(&engine->streams, &device->default_stream.by_id, 0, i);
    }
    return true;
}

struct engine *engine_create(const struct engine_config *config, const struct engine_mem *mem,
                             const struct engine_bytes *bytes)
{
    struct engine *engine = mem->alloc(mem->ctx, sizeof(*engine));
    if (engine == NULL)
        return NULL;
    memset(engine, 0, sizeof(*engine));
    engine->mem = *mem;
    engine->soc = config->soc;
    engine->costs = config->costs != NULL ? *config->costs : *engine_costs_of(config->soc);
    engine->wall_clock = config->wall_clock;
    engine->wait_ns = SOMA_NONE;
    engine->deadline_ns = SOMA_NONE;
    engine->blocks.object_bytes = sizeof(struct block);
    engine->nodes.object_bytes = sizeof(struct radix_node);
    if (bytes != NULL) {
        engine->bytes = *bytes;
        engine->has_bytes = true;
    }
    if (!devices_init(engine, config) ||
        !space_init(engine, &engine->large, SOMA_ADDRESS_BASE, SOMA_ADDRESS_END) ||
        !space_init(engine, &engine->small, SOMA_ADDRESS_SMALL_BASE, SOMA_ADDRESS_SMALL_END) ||
        !space_init(engine, &engine->contents, SOMA_PHYSICAL_BASE, SOMA_PHYSICAL_END)) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

static void release_streams(struct engine *engine)
{
    struct tree_node *node, *next;
    for (node = tree_first(&engine->streams); node != NULL; node = tree_next(node))
        stream_drop(engine, TREE_ENTRY(node, struct stream, by_id), engine->now_ns);
    for (node = tree_first(&engine->streams); node != NULL; node = next) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        next = tree_next(node);
        tree_remove(&engine->streams, node);
        stream_clear(engine, stream);
        if (stream->id != 0)
            engine_free(engine, stream);
    }
}

void engine_destroy(struct engine *engine)
{
    if (engine == NULL)
        return;
    struct tree_node *node;
    memory_forget_unresolved(engine, NULL);
    while ((node = tree_first(&engine->pools)) != NULL)
        pool_release(engine, TREE_ENTRY(node, struct pool, by_id));
    while ((node = tree_first(&engine->allocations)) != NULL)
        allocation_release(engine, TREE_ENTRY(node, struct allocation, by_address));
    while ((node = tree_first(&engine->notifies)) != NULL)
        notify_release(engine, TREE_ENTRY(node, struct notify, by_id));
    while ((node = tree_first(&engine->host_funcs)) != NULL)
        host_func_release(engine, TREE_ENTRY(node, struct host_func, by_id));
    while ((node = tree_first(&engine->reservations)) != NULL)
        reservation_release(engine, TREE_ENTRY(node, struct reservation, by_address));
    physicals_release(engine, NULL);
    while ((node = tree_first(&engine->events)) != NULL)
        event_release(engine, TREE_ENTRY(node, struct event, by_id));
    while ((node = tree_first(&engine->pipes)) != NULL)
        pipe_release(engine, TREE_ENTRY(node, struct pipe, by_id));
    release_streams(engine);
    spares_clear(engine);
    space_clear(engine, &engine->large);
    space_clear(engine, &engine->small);
    space_clear(engine, &engine->contents);
    engine_free(engine, engine->devices);
    engine->mem.release(engine->mem.ctx, engine);
}

/* ---- the way of a command ---- */

static command_handler *const handlers[SOMA_OP_COUNT] = {
    [SOMA_OP_DEVICE_LIST] = device_list,
    [SOMA_OP_DEVICE_GET] = device_get,
    [SOMA_OP_DEVICE_SYNCHRONIZE] = device_synchronize,
    [SOMA_OP_DEVICE_RESET] = device_reset,
    [SOMA_OP_STREAM_CREATE] = stream_create,
    [SOMA_OP_STREAM_LIST] = stream_list,
    [SOMA_OP_STREAM_GET] = stream_get,
    [SOMA_OP_STREAM_DESTROY] = stream_destroy,
    [SOMA_OP_STREAM_SYNCHRONIZE] = stream_synchronize,
    [SOMA_OP_STREAM_WAIT_EVENT] = stream_wait_event,
    [SOMA_OP_STREAM_DELAY] = stream_delay,
    [SOMA_OP_STREAM_LAUNCH_KERNEL] = stream_launch_kernel,
    [SOMA_OP_STREAM_SET_FAILURE_MODE] = stream_set_failure_mode,
    [SOMA_OP_STREAM_LAUNCH_HOST_FUNC] = stream_launch_host_func,
    [SOMA_OP_DEVICE_ABORT] = device_abort,
    [SOMA_OP_STREAM_WRITE_VALUE] = stream_write_value,
    [SOMA_OP_STREAM_WAIT_VALUE] = stream_wait_value,
    [SOMA_OP_STREAM_ABORT] = stream_abort,
    [SOMA_OP_STREAM_STOP] = stream_stop,
    [SOMA_OP_STREAM_WAIT_NOTIFY] = stream_wait_notify,
    [SOMA_OP_STREAM_RECORD_NOTIFY] = stream_record_notify,
    [SOMA_OP_NOTIFY_CREATE] = notify_create,
    [SOMA_OP_NOTIFY_LIST] = notify_list,
    [SOMA_OP_NOTIFY_GET] = notify_get,
    [SOMA_OP_NOTIFY_RESET] = notify_reset,
    [SOMA_OP_NOTIFY_DESTROY] = notify_destroy,
    [SOMA_OP_HOST_FUNC_LIST] = host_func_list,
    [SOMA_OP_HOST_FUNC_TAKE] = host_func_take,
    [SOMA_OP_HOST_FUNC_COMPLETE] = host_func_complete,
    [SOMA_OP_CLOCK_ADVANCE] = clock_advance,
    [SOMA_OP_EVENT_CREATE] = event_create,
    [SOMA_OP_EVENT_LIST] = event_list,
    [SOMA_OP_EVENT_GET] = event_get,
    [SOMA_OP_EVENT_DESTROY] = event_destroy,
    [SOMA_OP_EVENT_RECORD] = event_record,
    [SOMA_OP_EVENT_RESET] = event_reset,
    [SOMA_OP_EVENT_SYNCHRONIZE] = event_synchronize,
    [SOMA_OP_EVENT_ELAPSED] = event_elapsed,
    [SOMA_OP_POOL_CREATE] = pool_create,
    [SOMA_OP_POOL_LIST] = pool_list,
    [SOMA_OP_POOL_GET] = pool_get,
    [SOMA_OP_POOL_SEGMENTS] = pool_segments,
    [SOMA_OP_POOL_GET_ATTRIBUTES] = pool_get_attributes,
    [SOMA_OP_POOL_GET_ATTRIBUTE] = pool_get_attribute,
    [SOMA_OP_POOL_SET_ATTRIBUTE] = pool_set_attribute,
    [SOMA_OP_POOL_MALLOC] = pool_malloc,
    [SOMA_OP_POOL_FREE] = pool_free,
    [SOMA_OP_POOL_TRIM_TO] = pool_trim_to,
    [SOMA_OP_POOL_DESTROY] = pool_destroy,
    [SOMA_OP_MEMORY_INFO] = memory_info,
    [SOMA_OP_MEMORY_MALLOC] = memory_malloc,
    [SOMA_OP_MEMORY_FREE] = memory_free,
    [SOMA_OP_MEMORY_FREE_ASYNC] = memory_free_async,
    [SOMA_OP_MEMORY_SET] = memory_set,
    [SOMA_OP_MEMORY_COPY] = memory_copy,
    [SOMA_OP_MEMORY_REDUCE] = memory_reduce,
    [SOMA_OP_MEMORY_RANDOM] = memory_random,
    [SOMA_OP_MEMORY_MALLOC_MANAGED] = memory_malloc_managed,
    [SOMA_OP_MEMORY_RESERVE] = memory_reserve,
    [SOMA_OP_MEMORY_RELEASE] = memory_release,
    [SOMA_OP_MEMORY_RESERVATIONS] = memory_reservations,
    [SOMA_OP_MEMORY_MAP] = memory_map,
    [SOMA_OP_MEMORY_UNMAP] = memory_unmap,
    [SOMA_OP_MEMORY_SET_ACCESS] = memory_set_access,
    [SOMA_OP_MEMORY_GET_ACCESS] = memory_get_access,
    [SOMA_OP_MEMORY_MALLOC_PHYSICAL] = memory_malloc_physical,
    [SOMA_OP_MEMORY_GET_PHYSICAL] = memory_get_physical,
    [SOMA_OP_MEMORY_FREE_PHYSICAL] = memory_free_physical,
    [SOMA_OP_MEMORY_RETAIN_PHYSICAL] = memory_retain_physical,
    [SOMA_OP_MEMORY_DESCRIBE] = memory_describe,
    [SOMA_OP_MEMORY_WRITE] = memory_write,
    [SOMA_OP_MEMORY_READ] = memory_read,
    [SOMA_OP_PIPE_CREATE] = pipe_create,
    [SOMA_OP_PIPE_LIST] = pipe_list,
    [SOMA_OP_PIPE_DESCRIBE] = pipe_describe,
    [SOMA_OP_PIPE_DESTROY] = pipe_destroy,
    [SOMA_OP_PIPE_CREATE_TQUE] = pipe_create_tque,
    [SOMA_OP_PIPE_CREATE_TBUF] = pipe_create_tbuf,
    [SOMA_OP_PIPE_CREATE_TBUFPOOL] = pipe_create_tbufpool,
    [SOMA_OP_PIPE_INIT_BUFFER] = pipe_init_buffer,
    [SOMA_OP_PIPE_INIT_BUF_POOL] = pipe_init_buf_pool,
    [SOMA_OP_PIPE_POOL_INIT_BUFFER] = pipe_pool_init_buffer,
    [SOMA_OP_PIPE_POOL_INIT_BUF_POOL] = pipe_pool_init_buf_pool,
    [SOMA_OP_PIPE_POOL_RESET] = pipe_pool_reset,
    [SOMA_OP_PIPE_RESET] = pipe_reset,
    [SOMA_OP_PIPE_ALLOC_TENSOR] = pipe_alloc_tensor,
    [SOMA_OP_PIPE_EN_QUE] = pipe_en_que,
    [SOMA_OP_PIPE_DE_QUE] = pipe_de_que,
    [SOMA_OP_PIPE_FREE_TENSOR] = pipe_free_tensor,
    [SOMA_OP_PIPE_TBUF_GET] = pipe_tbuf_get,
    [SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET] = pipe_tbuf_get_with_offset,
    [SOMA_OP_PIPE_LAYOUT] = pipe_layout,
};

#ifdef SOMA_ENGINE_CHECK
static void check_or_abort(const struct engine *engine, const struct soma_command *command)
{
    char why[256];
    if (engine_check(engine, why, sizeof(why)))
        return;
    fprintf(stderr, "engine invariant broken by %s: %s\n", soma_op_info(command->op)->name, why);
    abort();
}
#endif

/* The host clock of the command that comes now. */
static uint64_t clock_of_next(const struct engine *engine)
{
    uint64_t now_ns = time_add(engine->now_ns, engine->costs.host_call_ns);
    return engine->wall_clock && engine->wall_ns > now_ns ? time_add(engine->wall_ns, 0) : now_ns;
}

/* ---- the digest ---- */

/* The number that tells this answer from the other ones that its command might have had. */
static uint64_t essence(const struct soma_result *result)
{
    switch ((int)result->message) {
    case SOMA_MESSAGE_POOL_BLOCK:
        return result->u.pool_block.ptr + (uint64_t)result->u.pool_block.reuse;
    case SOMA_MESSAGE_POOL_FREED: return result->u.pool_freed.size;
    case SOMA_MESSAGE_POOL_TRIMMED: return result->u.pool_trimmed.reserved_mem_current;
    case SOMA_MESSAGE_POOL_CREATED: return result->u.pool_created.base_address;
    case SOMA_MESSAGE_POOL_DESTROYED: return result->u.pool_destroyed.leaked_bytes;
    case SOMA_MESSAGE_MEMORY_BLOCK: return result->u.memory_block.ptr;
    case SOMA_MESSAGE_PHYSICAL: return result->u.physical.physical + result->u.physical.handles;
    case SOMA_MESSAGE_PHYSICAL_LEFT: return result->u.physical_left.handles;
    case SOMA_MESSAGE_ACCESS_RIGHT: return (uint64_t)result->u.access_right.access;
    case SOMA_MESSAGE_SYNCHRONIZED: return result->u.synchronized.released_bytes;
    case SOMA_MESSAGE_STREAM_CREATED: return result->u.stream_created.stream;
    case SOMA_MESSAGE_NOTIFY: return result->u.notify.notify;
    case SOMA_MESSAGE_HOST_FUNC: return result->u.host_func.host_func;
    case SOMA_MESSAGE_EVENT_CREATED: return result->u.event_created.event;
    case SOMA_MESSAGE_LAUNCHED: return result->u.launched.end_ns;
    case SOMA_MESSAGE_BUFFERS: return result->u.buffers.len;
    case SOMA_MESSAGE_BUF_POOL: return result->u.buf_pool.start_address;
    case SOMA_MESSAGE_TENSOR: return result->u.tensor.address;
    default: return 0;
    }
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 32;
}

/* What was asked: every number, absent ones by their defaults, texts by their bytes. Of data only
 * the length counts, of kernel arguments nothing: contents are not the engine's. */
static uint64_t mix_fields(uint64_t digest, const struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        struct soma_text text;
        if (row->kind == SOMA_KIND_ARGS)
            continue;
        if (row->kind != SOMA_KIND_TEXT && row->kind != SOMA_KIND_BASE64) {
            digest = mix(digest, soma_command_get(command, row->field));
            continue;
        }
        memcpy(&text, (const char *)command + soma_field_offset(row->field), sizeof(text));
        digest = mix(digest, text.len);
        for (size_t at = 0; at < text.len && row->kind == SOMA_KIND_TEXT; at++)
            digest = mix(digest, (unsigned char)text.ptr[at]);
    }
    return digest;
}

/* A kernel that fails has been launched all the same: who foresees the launch does not know. */
static void fold_digest(struct engine *engine, const struct soma_command *command,
                        const struct soma_result *result, enum soma_status status)
{
    if (soma_is_kernel_failure(status))
        status = SOMA_OK;
    uint64_t digest = mix(engine->digest, (uint64_t)command->op << 16 | (uint64_t)status);
    digest = mix_fields(mix(digest, engine->now_ns), command);
    engine->digest = mix(digest, status == SOMA_OK ? essence(result) : 0);
}

uint64_t engine_digest(const struct engine *engine)
{
    return engine->digest;
}

enum soma_status engine_apply(struct engine *engine, const struct soma_command *command,
                              struct soma_result *result, struct soma_error *error)
{
    struct soma_error scratch;
    struct call call = {.engine = engine,
                        .command = command,
                        .result = result,
                        .error = error != NULL ? error : &scratch,
                        .now_ns = clock_of_next(engine)};
    engine->command_number++;
    engine->wait_ns = SOMA_NONE;
    result->message = (enum soma_message)soma_op_info(command->op)->result;
    if (result->message != SOMA_MESSAGE_NONE)
        memset(&result->u, 0, soma_message_info(result->message)->size);
    /* What is due by the new clock is settled first, even if the command is refused: the next one
     * has no earlier clock, so nobody can tell. */
    engine->wrote_ns = 0;
    if (engine->resolve_again || call.now_ns >= engine->deadline_ns) {
        timeline_resolve(engine, call.now_ns);
        values_check(engine, call.now_ns);
    }
    memory_settle(engine, call.now_ns);
    enum soma_status status = handlers[command->op](&call);
    if (status == SOMA_OK)
        values_check(engine, call.now_ns);
    if (status == SOMA_OK || call.keeps_clock) {
        engine->now_ns = call.now_ns;
        fold_digest(engine, command, result, status);
    }
    if (status != SOMA_OK) {
        engine->command_number -= soma_is_kernel_failure(status) ? 0 : 1;
        engine_result_clear(engine, result);
    }
#ifdef SOMA_ENGINE_CHECK
    check_or_abort(engine, command);
#endif
    return status;
}

void engine_result_clear(struct engine *engine, struct soma_result *result)
{
    if (result->message == SOMA_MESSAGE_NONE)
        return;
    soma_result_clear(result, engine->mem.release, engine->mem.ctx);
}

uint64_t engine_wait_ns(const struct engine *engine)
{
    return engine->wait_ns;
}

uint64_t engine_deadline_ns(const struct engine *engine)
{
    return engine->deadline_ns;
}

void engine_set_wall(struct engine *engine, uint64_t now_ns)
{
    if (now_ns > engine->wall_ns)
        engine->wall_ns = now_ns;
}

uint64_t engine_now_ns(const struct engine *engine)
{
    return engine->now_ns;
}

/* ---- sums ---- */

void engine_counts(const struct engine *engine, struct soma_counts *counts)
{
    *counts = (struct soma_counts){.devices = engine->device_count, .pipes = engine->pipe_count};
    for (uint32_t i = 0; i < engine->device_count; i++) {
        counts->streams += engine->devices[i].stream_count;
        counts->pools += engine->devices[i].pool_count;
    }
    struct tree_node *node;
    for (node = tree_first(&engine->events); node != NULL; node = tree_next(node))
        counts->events++;
    for (node = tree_first(&engine->pools); node != NULL; node = tree_next(node))
        counts->pool_allocations += TREE_ENTRY(node, struct pool, by_id)->live_allocations;
    for (node = tree_first(&engine->allocations); node != NULL; node = tree_next(node))
        counts->device_allocations += !TREE_ENTRY(node, struct allocation, by_address)->is_freeing;
    for (node = tree_first(&engine->physicals); node != NULL; node = tree_next(node))
        counts->physical_allocations++;
    for (node = tree_first(&engine->reservations); node != NULL; node = tree_next(node))
        counts->device_allocations += TREE_ENTRY(node, struct reservation, by_address)->is_managed;
}

uint64_t engine_mapped_bytes(const struct engine *engine)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < engine->device_count; i++)
        bytes += engine->devices[i].allocated_bytes + engine->devices[i].physical_bytes;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL; node = tree_next(node))
        bytes += pool_reserved(TREE_ENTRY(node, struct pool, by_id));
    return bytes;
}

void engine_totals(const struct engine *engine, struct engine_totals *totals)
{
    *totals = engine->past;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        totals->pools++;
        totals->reserved_bytes += pool_reserved(pool);
        totals->used_bytes += pool_used(pool);
        totals->mapped_bytes += pool->mapped_total;
        totals->unmapped_bytes += pool->unmapped_total;
        totals->mallocs += pool->mallocs;
        totals->frees += pool->frees;
        for (size_t i = 0; i < sizeof(totals->reuse) / sizeof(totals->reuse[0]); i++)
            totals->reuse[i] += pool->reuse[i];
    }
}

/* Managed memory, then physical memory, which has no address of its own. Returns how many. */
static size_t other_leaks(const struct engine *engine, struct soma_leak *leaks, size_t room)
{
    size_t filled = 0;
    struct tree_node *node;
    for (node = tree_first(&engine->reservations); node != NULL && filled < room;
         node = tree_next(node)) {
        const struct reservation *r = TREE_ENTRY(node, struct reservation, by_address);
        const struct mapping *mapping =
            TREE_ENTRY(tree_first(&r->mappings), struct mapping, by_address);
        if (r->is_managed)
            leaks[filled++] = (struct soma_leak){SOMA_MEMORY_KIND_MANAGED,
                                                 0,
                                                 SOMA_NONE,
                                                 r->address,
                                                 r->size,
                                                 r->requested_size,
                                                 SOMA_NONE,
                                                 mapping->physical->allocated_by};
    }
    for (node = tree_first(&engine->physicals); node != NULL && filled < room;
         node = tree_next(node)) {
        const struct physical *p = TREE_ENTRY(node, struct physical, by_id);
        leaks[filled++] = (struct soma_leak){SOMA_MEMORY_KIND_PHYSICAL,
                                             p->device->number,
                                             SOMA_NONE,
                                             0,
                                             p->size,
                                             p->size,
                                             SOMA_NONE,
                                             p->allocated_by};
    }
    return filled;
}

enum soma_status engine_leaks(struct engine *engine, size_t max, struct soma_leak **items,
                              size_t *count)
{
    struct soma_counts counts;
    engine_counts(engine, &counts);
    uint64_t live =
        counts.pool_allocations + counts.device_allocations + counts.physical_allocations;
    size_t room = live < max ? (size_t)live : max;
    *items = NULL;
    *count = 0;
    if (room == 0)
        return SOMA_OK;
    struct soma_leak *leaks = engine_alloc(engine, room * sizeof(*leaks));
    if (leaks == NULL)
        return SOMA_OUT_OF_MEMORY;
    /* Ranges of pools and allocations never overlap: whichever begins first comes first. */
    size_t filled = 0;
    struct tree_node *next_pool = tree_first(&engine->pools_by_base);
    struct tree_node *next = tree_first(&engine->allocations);
    while (filled < room && (next_pool != NULL || next != NULL)) {
        if (next == NULL || (next_pool != NULL && next_pool->major < next->major)) {
            filled += pool_leaks(TREE_ENTRY(next_pool, struct pool, by_base), leaks + filled,
                                 room - filled);
            next_pool = tree_next(next_pool);
            continue;
        }
        const struct allocation *a = TREE_ENTRY(next, struct allocation, by_address);
        if (!a->is_freeing)
            leaks[filled++] = (struct soma_leak){
                SOMA_MEMORY_KIND_DEVICE, a->device->number, SOMA_NONE,      a->address, a->size,
                a->requested_size,       SOMA_NONE,         a->allocated_by};
        next = tree_next(next);
    }
    filled += other_leaks(engine, leaks + filled, room - filled);
    *items = leaks;
    *count = filled;
    return SOMA_OK;
}
