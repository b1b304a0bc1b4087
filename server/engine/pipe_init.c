/* InitBuffer, InitBufPool and Reset: who has which bytes of an on-chip memory.
 *
 * Memory is only ever divided, from the low end upwards (TSCM: from the top downwards), and comes
 * back with a reset of the whole pipe. With checks=device a reset of a pool empties it, and its
 * bytes are lost until then. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What one command wants. */
struct demand {
    struct pipe *pipe;
    struct onchip *pool;   /* that gives the memory; NULL: the pipe */
    struct onchip *object; /* that gets it */
    uint64_t num, len;     /* as asked for */
    uint64_t size, total;  /* of one, rounded up; of all */
};

/* "TBufPool p1" or "UB of pipe 1": what is divided. */
static const char *giver_title(const struct demand *demand, char *buf)
{
    if (demand->pool != NULL)
        return onchip_title(demand->pool, buf);
    (void)snprintf(buf, ONCHIP_TITLE_BYTES, "%s of pipe %" PRIu64,
                   onchip_memory_name(demand->object->memory), demand->pipe->by_id.major);
    return buf;
}

/* ---- bufIdSize ---- */

/* Whether bufIdSize of nested and sharing pools is compared: no device code does. */
static bool ids_are_nested(const struct pipe *pipe)
{
    return !(pipe->follows_device && pipe->soc->npu_arch == 2201);
}

/* What `more` buffers in this pool take goes up to the pools around it, as far as each only passes
 * on what it uses: a bufIdSize that was given is set aside already, a sharing pool takes none. */
static struct onchip *ids_next(const struct pipe *pipe, const struct onchip *pool)
{
    bool ends = pool->has_own_ids || pool->is_shared || !ids_are_nested(pipe);
    return ends ? NULL : pool->pool;
}

/* The pool that has no ids left for `more` buffers; NULL: all have. */
static const struct onchip *ids_lacking(const struct pipe *pipe, const struct onchip *pool,
                                        uint64_t more)
{
    for (; pool != NULL; pool = ids_next(pipe, pool)) {
        if (more > (uint64_t)(pool->buf_id_size - pool->taken))
            return pool;
    }
    return NULL;
}

static void ids_take(const struct pipe *pipe, struct onchip *pool, uint64_t more)
{
    for (; pool != NULL; pool = ids_next(pipe, pool))
        pool->taken = (uint8_t)(pool->taken + more);
}

static void ids_give_back(const struct pipe *pipe, struct onchip *pool, uint64_t fewer)
{
    for (; pool != NULL; pool = ids_next(pipe, pool))
        pool->taken = (uint8_t)(pool->taken - fewer);
}

/* "bufIdSize 4: 1 for its buffers, 3 for its pools, 0 left" */
static const char *ids_text(const struct onchip *pool, char *buf, size_t size)
{
    (void)snprintf(buf, size, "bufIdSize %u: %u for its buffers, %u for its pools, %u left",
                   pool->buf_id_size, pool->buffers, pool->taken - pool->buffers,
                   pool->buf_id_size - pool->taken);
    return buf;
}

/* ---- sizes ---- */

static enum soma_status check_len(struct call *call, struct demand *demand)
{
    if (demand->len == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "len", "len is 0; give at least 1 byte");
    demand->size = round_up(demand->len, SOMA_ONCHIP_ALIGN_BYTES);
    if (demand->size == 0 || demand->num > UINT64_MAX / demand->size)
        return soma_fail(call->error, SOMA_SIZE_OVERFLOW, "len",
                         "%" PRIu64 " x %" PRIu64
                         " bytes, rounded up to 32, leaves 64 bits; %s has "
                         "%" PRIu32 " bytes",
                         demand->num, demand->len, onchip_memory_name(demand->object->memory),
                         onchip_capacity(demand->pipe->soc, demand->object->memory));
    demand->total = demand->num * demand->size;
    return SOMA_OK;
}

/* Those that hold the most of what a pool or a memory has given out. */
struct holders {
    uint32_t count;
    const struct onchip *largest[3];
};

static uint32_t bytes_of(const struct onchip *object)
{
    return object->kind == ONCHIP_TBUFPOOL ? object->size : object->size * object->num;
}

static struct holders find_holders(const struct onchip *first)
{
    struct holders holders = {0};
    for (const struct onchip *object = first; object != NULL; object = object->next) {
        if (object->is_shared)
            continue; /* holds nothing of its own */
        holders.count++;
        const struct onchip *rest = object;
        for (size_t i = 0; i < 3 && rest != NULL; i++) {
            const struct onchip *here = holders.largest[i];
            if (here != NULL && bytes_of(here) > bytes_of(rest))
                continue;
            holders.largest[i] = rest;
            rest = here;
        }
    }
    return holders;
}

/* "none used", "32768 used by q1; largest: q1 32768", "96 used by 7 objects; largest: ..." */
static void describe_holders(const struct holders *holders, uint64_t used, char *buf, size_t size)
{
    char name[ONCHIP_NAME_BYTES];
    size_t len = 0;
    if (used == 0 || holders->count == 0) {
        (void)snprintf(buf, size,
                       used == 0 ? "none used" : "%" PRIu64 " lost until the pipe's Reset", used);
        return;
    }
    len += (size_t)snprintf(buf, size, "%" PRIu64 " used by ", used);
    if (holders->count > 3)
        len += (size_t)snprintf(buf + len, size - len, "%" PRIu32 " objects", holders->count);
    for (size_t i = 0; i < holders->count && holders->count <= 3; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%s", i == 0 ? "" : ", ",
                                onchip_name(holders->largest[i], name));
    len += (size_t)snprintf(buf + len, size - len, "; largest: ");
    for (size_t i = 0; i < 3 && holders->largest[i] != NULL; i++)
        len +=
            (size_t)snprintf(buf + len, size - len, "%s%s %" PRIu32, i == 0 ? "" : ", ",
                             onchip_name(holders->largest[i], name), bytes_of(holders->largest[i]));
}

/* Where the free bytes of the giver begin and end. */
static void free_range(const struct demand *demand, uint32_t *begin, uint32_t *end)
{
    const struct pipe *pipe = demand->pipe;
    unsigned memory = demand->object->memory;
    if (demand->pool != NULL) {
        *begin = demand->pool->next_free;
        *end = demand->pool->address + demand->pool->size;
        return;
    }
    *begin = pipe->next_free[memory];
    *end = memory == SOMA_ONCHIP_MEMORY_L1 ? pipe->top : onchip_capacity(pipe->soc, memory);
}

static enum soma_status check_room(struct call *call, const struct demand *demand)
{
    const struct pipe *pipe = demand->pipe;
    const struct onchip *pool = demand->pool;
    unsigned memory = demand->object->memory;
    uint32_t begin = 0, end = 0;
    free_range(demand, &begin, &end);
    if (demand->total <= end - begin)
        return SOMA_OK;
    char title[ONCHIP_TITLE_BYTES], used_by[5 * ONCHIP_TITLE_BYTES + 128], what[64];
    struct holders holders = find_holders(pool != NULL ? pool->first : pipe->first[memory]);
    uint32_t capacity = pool != NULL ? pool->size : onchip_capacity(pipe->soc, memory);
    describe_holders(&holders, capacity - (end - begin), used_by, sizeof(used_by));
    if (demand->object->kind == ONCHIP_TBUFPOOL)
        (void)snprintf(what, sizeof(what), "InitBufPool of %" PRIu64 " bytes", demand->len);
    else
        (void)snprintf(what, sizeof(what), "InitBuffer of %" PRIu64 " x %" PRIu64 " bytes",
                       demand->num, demand->len);
    return soma_fail(call->error, pool != NULL ? SOMA_POOL_OVERFLOW : SOMA_MEMORY_OVERFLOW, "len",
                     "%s: %s (%" PRIu64 " after rounding to 32) does not fit: %" PRIu32
                     " bytes, %s; %" PRIu32 " left, ask for less or %s",
                     giver_title(demand, title), what, demand->total, capacity, used_by,
                     end - begin, pool != NULL ? "make the pool larger" : "let pools share memory");
}

/* ---- taking ---- */

/* Into the list of its giver, which runs from high addresses to low ones. */
static void link_object(const struct demand *demand)
{
    struct onchip *object = demand->object;
    struct onchip **link =
        demand->pool != NULL ? &demand->pool->first : &demand->pipe->first[object->memory];
    while (*link != NULL && (*link)->address > object->address)
        link = &(*link)->next;
    object->next = *link;
    *link = object;
}

/* Give the object its memory. It fits. */
static void take_memory(const struct demand *demand)
{
    struct pipe *pipe = demand->pipe;
    struct onchip *object = demand->object;
    unsigned memory = object->memory;
    uint32_t begin = 0, end = 0, total = (uint32_t)demand->total;
    free_range(demand, &begin, &end);
    object->pool = demand->pool;
    object->size = (uint32_t)demand->size;
    object->asked = (uint32_t)demand->len;
    object->is_initialized = true;
    object->address = begin;
    if (demand->pool != NULL)
        demand->pool->next_free += total;
    else if (object->position == SOMA_POSITION_TSCM)
        object->address = pipe->top -= total;
    else
        pipe->next_free[memory] += total;
    if (pipe_used(pipe, memory) > pipe->peak[memory])
        pipe->peak[memory] = pipe_used(pipe, memory);
    link_object(demand);
}

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
                     "%s has its memory already, %" PRIu32 " bytes of %s at %" PRIu32
                     ": it can be initialised again after the pipe's Reset",
                     onchip_title(object, title), bytes_of(object),
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
    if (!read_buffers(call, demand, &field) || (status = check_len(call, demand)) != SOMA_OK ||
        (status = check_fresh(call, demand->object, field)) != SOMA_OK ||
        (status = check_memory(call, demand, field)) != SOMA_OK ||
        (status = check_counts(call, demand, field)) != SOMA_OK ||
        (status = check_room(call, demand)) != SOMA_OK ||
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
    take_memory(demand);
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
    return check_room(call, demand);
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
    link_object(demand);
}

static void take_own_region(struct demand *demand)
{
    struct onchip *object = demand->object, *parent = demand->pool;
    take_memory(demand);
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
    if ((status = check_len(call, demand)) != SOMA_OK ||
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

/* ---- Reset ---- */

/* End what is in flight in a TQue. */
static void drop_tensors(struct pipe *pipe, struct onchip *tque)
{
    for (unsigned i = 0; i < tque->num; i++) {
        if (tque->slots[i].tensor != 0)
            pipe->held[tque->position]--;
        tque->slots[i] = (struct onchip_slot){0};
    }
}

/* Back to what it was when it was created. Lists that it stands in are the caller's. */
static void forget_memory(struct engine *engine, struct pipe *pipe, struct onchip *object)
{
    if (object->kind == ONCHIP_TQUE && object->is_initialized) {
        drop_tensors(pipe, object);
        engine_free(engine, object->slots);
        pipe->tque_buffers[object->position] =
            (uint8_t)(pipe->tque_buffers[object->position] - object->num);
    }
    pipe->buffers = (uint8_t)(pipe->buffers - object->num);
    if (object->is_shared)
        pipe->shared_pools--;
    if (object->kind == ONCHIP_TBUFPOOL) {
        object->first = NULL;
        object->next_free = 0;
    } else {
        object->slots = NULL;
    }
    object->pool = object->next = NULL;
    object->address = object->size = object->asked = object->last_order = 0;
    object->is_initialized = object->is_shared = false;
    object->num = object->last = object->buffers = object->promised = object->taken = 0;
}

struct onchip *onchip_walk(struct onchip *first, const struct onchip *root,
                           const struct onchip *object)
{
    struct onchip *next = object == NULL ? first : object->next;
    if (object != NULL && next == NULL)
        return object->pool == root ? NULL : object->pool;
    while (next != NULL && next->kind == ONCHIP_TBUFPOOL && next->first != NULL)
        next = next->first;
    return next;
}

/* checks=device: nothing stands in the pool any more, and it has no region. */
static void empty_pool(struct engine *engine, struct pipe *pipe, struct onchip *pool)
{
    struct onchip *parent = pool->pool;
    struct onchip **link = parent != NULL ? &parent->first : &pipe->first[pool->memory];
    struct onchip *next;
    for (struct onchip *object = onchip_walk(pool->first, pool, NULL); object != NULL;
         object = next) {
        next = onchip_walk(pool->first, pool, object);
        forget_memory(engine, pipe, object);
    }
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    if (parent != NULL && !pool->is_shared && ids_are_nested(pipe)) {
        parent->promised = (uint8_t)(parent->promised - pool->buf_id_size);
        ids_give_back(pipe, parent, pool->has_own_ids ? pool->buf_id_size : pool->taken);
    }
    forget_memory(engine, pipe, pool);
}

enum soma_status pipe_pool_reset(struct call *call)
{
    struct pipe *pipe = pipe_find(call);
    struct onchip *pool = pipe == NULL ? NULL
                                       : onchip_find(call, pipe, ONCHIP_TBUFPOOL,
                                                     call->command->tbufpool, "tbufpool");
    if (pool == NULL)
        return call->error->status;
    if (pipe->follows_device) {
        if (pool->is_initialized)
            empty_pool(call->engine, pipe, pool);
        return SOMA_OK;
    }
    enum soma_status status = onchip_check_initialized(call, pool, "tbufpool");
    if (status != SOMA_OK)
        return status;
    for (struct onchip *object = onchip_walk(pool->first, pool, NULL); object != NULL;
         object = onchip_walk(pool->first, pool, object)) {
        if (object->kind == ONCHIP_TQUE)
            drop_tensors(pipe, object);
    }
    return SOMA_OK;
}

enum soma_status pipe_reset(struct call *call)
{
    struct pipe *pipe = pipe_find(call);
    if (pipe == NULL)
        return call->error->status;
    for (unsigned kind = 0; kind < ONCHIP_KINDS; kind++) {
        const struct onchip_list *list = &pipe->objects[kind];
        for (uint32_t i = 0; i < list->count; i++)
            forget_memory(call->engine, pipe, list->items[i]);
    }
    memset(pipe->first, 0, sizeof(pipe->first));
    memset(pipe->next_free, 0, sizeof(pipe->next_free));
    pipe->top = pipe->soc->l1_bytes;
    pipe->last_region = 0;
    return SOMA_OK;
}
