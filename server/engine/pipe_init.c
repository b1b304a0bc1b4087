/* InitBuffer and InitBufPool: everything is checked, then the memory is taken. */
#include "internal.h"

#include <inttypes.h>

/* The pool that gives: its id is `id`; not there or without memory: false, call->error set. */
static bool find_giver(struct call *call, struct demand *demand, uint64_t id, const char *field)
{
    demand->pool = onchip_find(call, demand->pipe, ONCHIP_TBUFPOOL, id, field);
    return demand->pool != NULL && onchip_check_initialized(call, demand->pool, field) == SOMA_OK;
}

enum soma_status onchip_check_initialized(struct call *call, const struct onchip *object,
                                          const char *field)
{
    char title[ONCHIP_TITLE_BYTES];
    if (object->is_initialized)
        return SOMA_OK;
    return soma_fail(call->error, SOMA_NOT_INITIALIZED, field, "%s has no memory yet: %s first",
                     onchip_title(object, title),
                     object->kind == ONCHIP_TBUFPOOL ? "InitBufPool" : "InitBuffer");
}

static enum soma_status check_fresh(struct call *call, const struct onchip *object,
                                    const char *field)
{
    char title[ONCHIP_TITLE_BYTES];
    if (!object->is_initialized)
        return SOMA_OK;
    return soma_fail(call->error, SOMA_ALREADY_INITIALIZED, field,
                     "%s has its memory already, %" PRIu64 " bytes of %s at %" PRIu32
                     ": it can be initialised again after the pipe's Reset",
                     onchip_title(object, title), onchip_bytes(object),
                     onchip_memory_name(object->memory), object->address);
}

static enum soma_status check_memory(struct call *call, const struct demand *demand,
                                     const char *field)
{
    const struct onchip *pool = demand->pool, *object = demand->object;
    char title[ONCHIP_TITLE_BYTES], pool_title[ONCHIP_TITLE_BYTES];
    if (pool == NULL || pool->memory == object->memory)
        return SOMA_OK;
    return soma_fail(
        call->error, SOMA_POSITION_MISMATCH, field,
        "%s at %s lies in %s, %s at %s in %s: a pool gives only memory of its own kind",
        onchip_title(object, title), onchip_position_name(object->position),
        onchip_memory_name(object->memory), onchip_title(pool, pool_title),
        onchip_position_name(pool->position), onchip_memory_name(pool->memory));
}

/* ---- InitBuffer ---- */

/* The TQue or TBuf and how many buffers it is to get; false with call->error set. */
static bool read_buffers(struct call *call, struct demand *demand, const char **field)
{
    const struct soma_command *command = call->command;
    bool is_tque = call_has(call, SOMA_HAS(tque)), is_tbuf = call_has(call, SOMA_HAS(tbuf));
    bool has_num = call_has(call, SOMA_HAS(num));
    *field = is_tque ? "tque" : "tbuf";
    demand->num = is_tque ? command->num : 1;
    demand->len = command->len;
    if (is_tque == is_tbuf)
        (void)soma_fail(call->error, is_tque ? SOMA_INVALID_VALUE : SOMA_MISSING_FIELD, "tque",
                        "InitBuffer takes either \"tque\" with \"num\", or \"tbuf\"; it got %s",
                        is_tque ? "both" : "neither");
    else if (is_tbuf && has_num)
        (void)soma_fail(call->error, SOMA_INVALID_VALUE, "num",
                        "num is for a TQue: a TBuf has one buffer");
    else if (is_tque && !has_num)
        (void)soma_fail(call->error, SOMA_MISSING_FIELD, "num",
                        "InitBuffer of a TQue needs \"num\", the number of its buffers");
    else if (demand->num == 0)
        (void)soma_fail(call->error, SOMA_VALUE_OUT_OF_RANGE, "num",
                        "num is 0; a TQue has at least 1 buffer");
    else
        demand->object = onchip_find(call, demand->pipe, is_tque ? ONCHIP_TQUE : ONCHIP_TBUF,
                                     is_tque ? command->tque : command->tbuf, NULL);
    return demand->object != NULL;
}

static enum soma_status check_counts(struct call *call, const struct demand *demand,
                                     const char *field)
{
    const struct pipe *pipe = demand->pipe;
    const struct onchip *lacking = ids_lacking(pipe, demand->pool, demand->num);
    char title[ONCHIP_TITLE_BYTES], pool_title[ONCHIP_TITLE_BYTES], ids[128];
    if (lacking != NULL)
        return soma_fail(
            call->error, SOMA_BUF_ID_LIMIT, field,
            "%s cannot get %" PRIu64 " more buffers from %s, %s; create the pool with a "
            "larger bufIdSize (at most %u)",
            onchip_title(demand->object, title), demand->num, onchip_title(lacking, pool_title),
            ids_text(lacking, ids, sizeof(ids)), SOMA_TBUFPOOL_BUFFERS_MAX);
    if (demand->num > (uint64_t)(SOMA_PIPE_BUFFERS_MAX - pipe->buffers))
        return soma_fail(call->error, SOMA_BUFFER_LIMIT, field,
                         "%s cannot get %" PRIu64 " more buffers: pipe %" PRIu64
                         " has %u of at most "
                         "%u, those in its pools counted",
                         onchip_title(demand->object, title), demand->num, pipe->by_id.major,
                         pipe->buffers, SOMA_PIPE_BUFFERS_MAX);
    return SOMA_OK;
}

/* The answer, before anything changes: it needs memory. */
static enum soma_status answer_buffers(struct call *call, const struct demand *demand)
{
    const struct pipe *pipe = demand->pipe;
    const struct onchip *object = demand->object;
    struct soma_buffers *out = &call->result->u.buffers;
    unsigned limit = pipe_tensors_max(pipe);
    uint64_t count = pipe->tque_buffers[object->position] + demand->num;
    bool warns = object->kind == ONCHIP_TQUE && count > limit;
    void *slots = NULL, *warnings = NULL;
    enum soma_status status =
        engine_result_array(call, (size_t)demand->num, sizeof(struct soma_buffer_slot), &slots);
    if (status != SOMA_OK)
        return status;
    out->buffers.items = slots;
    out->buffers.count = (size_t)demand->num;
    status = engine_result_array(call, warns, SOMA_MESSAGE_BYTES, &warnings);
    if (status != SOMA_OK)
        return status;
    out->memory = object->memory;
    out->len = demand->size;
    out->padding_bytes = demand->num * (demand->size - demand->len);
    if (warns) {
        out->warnings.items = warnings;
        out->warnings.count = 1;
        pipe_warn_event_ids(pipe, object->position, (unsigned)count, out->warnings.items[0]);
    }
    return SOMA_OK;
}

static enum soma_status init_buffer(struct call *call, struct demand *demand)
{
    const char *field = NULL;
    enum soma_status status;
    if (!read_buffers(call, demand, &field) ||
        (status = demand_check_len(call, demand)) != SOMA_OK ||
        (status = check_fresh(call, demand->object, field)) != SOMA_OK ||
        (status = check_memory(call, demand, field)) != SOMA_OK ||
        (status = check_counts(call, demand, field)) != SOMA_OK ||
        (status = demand_check_room(call, demand)) != SOMA_OK ||
        (status = answer_buffers(call, demand)) != SOMA_OK)
        return call->error->status;
    struct pipe *pipe = demand->pipe;
    struct onchip *object = demand->object;
    if (object->kind == ONCHIP_TQUE) {
        object->slots = engine_alloc(call->engine, demand->num * sizeof(*object->slots));
        if (object->slots == NULL)
            return engine_no_memory(call);
        pipe->tque_buffers[object->position] =
            (uint8_t)(pipe->tque_buffers[object->position] + demand->num);
    }
    demand_take(demand);
    object->num = (uint8_t)demand->num;
    pipe->buffers = (uint8_t)(pipe->buffers + demand->num);
    if (demand->pool != NULL) {
        demand->pool->buffers = (uint8_t)(demand->pool->buffers + demand->num);
        ids_take(pipe, demand->pool, demand->num);
    }
    for (unsigned i = 0; i < object->num; i++)
        call->result->u.buffers.buffers.items[i] =
            (struct soma_buffer_slot){object->address + i * object->size, object->size};
    return SOMA_OK;
}

enum soma_status pipe_init_buffer(struct call *call)
{
    struct demand demand = {.pipe = pipe_find(call)};
    return demand.pipe == NULL ? call->error->status : init_buffer(call, &demand);
}

enum soma_status pipe_pool_init_buffer(struct call *call)
{
    struct demand demand = {.pipe = pipe_find(call)};
    if (demand.pipe == NULL || !find_giver(call, &demand, call->command->tbufpool, "tbufpool"))
        return call->error->status;
    return init_buffer(call, &demand);
}

/* ---- InitBufPool ---- */

/* A region of its own: bytes, and ids of the parent. */
static enum soma_status check_own_region(struct call *call, const struct demand *demand)
{
    const struct onchip *object = demand->object, *parent = demand->pool;
    if (parent != NULL && ids_are_nested(demand->pipe)) {
        unsigned used = (unsigned)parent->buffers + parent->promised;
        unsigned left = parent->buf_id_size > used ? parent->buf_id_size - used : 0;
        const struct onchip *lacking =
            ids_lacking(demand->pipe, parent, object->has_own_ids ? object->buf_id_size : 0);
        char title[ONCHIP_TITLE_BYTES], parent_title[ONCHIP_TITLE_BYTES];
        if (object->buf_id_size > left)
            return soma_fail(call->error, SOMA_BUF_ID_SIZE, "tbufpool",
                             "%s, bufIdSize %u, is more than %s has left: bufIdSize %u, less %u "
                             "buffers and %u set aside for its pools, leaves %u",
                             onchip_title(object, title), object->buf_id_size,
                             onchip_title(parent, parent_title), parent->buf_id_size,
                             parent->buffers, parent->promised, left);
        if (lacking != NULL)
            return soma_fail(call->error, SOMA_BUF_ID_SIZE, "tbufpool",
                             "%s, bufIdSize %u, is more than %s around it has left: %u",
                             onchip_title(object, title), object->buf_id_size,
                             onchip_title(lacking, parent_title),
                             lacking->buf_id_size - lacking->taken);
    }
    return demand_check_room(call, demand);
}

/* The region of `share`, which must lie inside what the giver has. */
static enum soma_status check_shared_region(struct call *call, const struct demand *demand,
                                            const struct onchip *share)
{
    const struct onchip *object = demand->object, *parent = demand->pool;
    char title[ONCHIP_TITLE_BYTES], other[ONCHIP_TITLE_BYTES];
    enum soma_status status = onchip_check_initialized(call, share, "shareBuf");
    if (status != SOMA_OK)
        return status;
    if (share->memory != object->memory)
        return soma_fail(call->error, SOMA_SHARE_MISMATCH, "shareBuf",
                         "%s lies in %s, %s in %s: pools share memory of one kind",
                         onchip_title(object, title), onchip_memory_name(object->memory),
                         onchip_title(share, other), onchip_memory_name(share->memory));
    if (parent != NULL && (share->address < parent->address ||
                           share->address + share->size > parent->address + parent->size))
        return soma_fail(
            call->error, SOMA_SHARE_MISMATCH, "shareBuf",
            "%s, %" PRIu32 "..%" PRIu32 ", does not lie inside %s, %" PRIu32 "..%" PRIu32,
            onchip_title(share, title), share->address, share->address + share->size,
            onchip_title(parent, other), parent->address, parent->address + parent->size);
    if (object->buf_id_size > share->buf_id_size && ids_are_nested(demand->pipe))
        return soma_fail(call->error, SOMA_BUF_ID_SIZE, "tbufpool",
                         "%s, bufIdSize %u, is to share with %s, bufIdSize %u: at most that",
                         onchip_title(object, title), object->buf_id_size,
                         onchip_title(share, other), share->buf_id_size);
    if (demand->size > share->size)
        return soma_fail(call->error, SOMA_SHARE_TOO_LARGE, "len",
                         "%s: InitBufPool of %" PRIu64 " bytes (%" PRIu64
                         " after rounding to 32) is "
                         "longer than %s, whose region it shares: %" PRIu32 " bytes",
                         onchip_title(object, title), demand->len, demand->size,
                         onchip_title(share, other), share->size);
    return SOMA_OK;
}

static void take_shared_region(struct demand *demand, const struct onchip *share)
{
    struct onchip *object = demand->object;
    object->pool = demand->pool;
    object->address = share->address;
    object->size = share->size;
    object->asked = (uint32_t)demand->len;
    object->is_initialized = true;
    object->is_shared = true;
    object->region = share->region;
    demand->pipe->shared_pools++;
    demand_link(demand);
}

static void take_own_region(struct demand *demand)
{
    struct onchip *object = demand->object, *parent = demand->pool;
    demand_take(demand);
    object->region = ++demand->pipe->last_region;
    if (parent == NULL || !ids_are_nested(demand->pipe))
        return;
    parent->promised = (uint8_t)(parent->promised + object->buf_id_size);
    if (object->has_own_ids)
        ids_take(demand->pipe, parent, object->buf_id_size);
}

static enum soma_status init_buf_pool(struct call *call, struct demand *demand)
{
    const struct soma_command *command = call->command;
    const struct onchip *share = NULL;
    enum soma_status status;
    demand->num = 1;
    demand->len = command->len;
    demand->object =
        onchip_find(call, demand->pipe, ONCHIP_TBUFPOOL, command->tbufpool, "tbufpool");
    if (demand->object == NULL)
        return call->error->status;
    if (call_has(call, SOMA_HAS(share_buf))) {
        share = onchip_find(call, demand->pipe, ONCHIP_TBUFPOOL, command->share_buf, "shareBuf");
        if (share == NULL)
            return call->error->status;
    }
    if ((status = demand_check_len(call, demand)) != SOMA_OK ||
        (status = check_fresh(call, demand->object, "tbufpool")) != SOMA_OK ||
        (status = check_memory(call, demand, "tbufpool")) != SOMA_OK)
        return status;
    status =
        share != NULL ? check_shared_region(call, demand, share) : check_own_region(call, demand);
    if (status != SOMA_OK)
        return status;
    if (share != NULL)
        take_shared_region(demand, share);
    else
        take_own_region(demand);
    struct onchip *object = demand->object;
    object->next_free = object->address;
    call->result->u.buf_pool =
        (struct soma_buf_pool){object->id, object->memory, object->address, object->size,
                               share != NULL ? 0 : demand->size - demand->len};
    return SOMA_OK;
}

enum soma_status pipe_init_buf_pool(struct call *call)
{
    struct demand demand = {.pipe = pipe_find(call)};
    return demand.pipe == NULL ? call->error->status : init_buf_pool(call, &demand);
}

enum soma_status pipe_pool_init_buf_pool(struct call *call)
{
    struct demand demand = {.pipe = pipe_find(call)};
    if (demand.pipe == NULL || !find_giver(call, &demand, call->command->parent, "parent"))
        return call->error->status;
    return init_buf_pool(call, &demand);
}
