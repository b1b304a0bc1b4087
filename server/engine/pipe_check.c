/* What must be true of a pipe, whatever its commands were: part of engine_check. */
#include "internal.h"

#include <string.h>

/* One buffer. */
struct place_of_buffer {
    const struct onchip *object;
    unsigned index;
};

struct buffers {
    struct place_of_buffer items[SOMA_PIPE_BUFFERS_MAX];
    size_t count;
};

static uint32_t begin_of(const struct place_of_buffer *place)
{
    return place->object->address + place->index * place->object->size;
}

static bool is_live(const struct place_of_buffer *place)
{
    return place->object->kind == ONCHIP_TQUE && place->object->slots[place->index].tensor != 0;
}

static bool overlap(const struct place_of_buffer *a, const struct place_of_buffer *b)
{
    return a->object->memory == b->object->memory && begin_of(a) < begin_of(b) + b->object->size &&
           begin_of(b) < begin_of(a) + a->object->size;
}

/* Whether a sharing pool holds `object`, but not `other`. */
static bool shares_without(const struct onchip *object, const struct onchip *other)
{
    for (const struct onchip *pool = object->pool; pool != NULL; pool = pool->pool) {
        const struct onchip *around = other->pool;
        while (around != NULL && around != pool)
            around = around->pool;
        if (pool->is_shared && around == NULL)
            return true;
    }
    return false;
}

static bool is_legal_overlap(const struct onchip *a, const struct onchip *b)
{
    return shares_without(a, b) || shares_without(b, a);
}

/* ---- one object ---- */

static const char *check_tque(const struct onchip *tque)
{
    unsigned queued = 0;
    for (unsigned i = 0; i < tque->num; i++) {
        const struct onchip_slot *slot = &tque->slots[i];
        bool is_queued = slot->state == SOMA_REGION_STATE_QUEUED;
        if ((slot->tensor == 0) != (slot->state == SOMA_REGION_STATE_IDLE) ||
            is_queued != (slot->order != 0) || slot->order > tque->last_order)
            return "a buffer's state is not its tensor's";
        for (unsigned j = 0; is_queued && j < i; j++) {
            if (tque->slots[j].order == slot->order)
                return "two tensors have one place in a queue";
        }
        queued += is_queued;
    }
    if (queued > (tque->depth == 0 ? 1 : tque->depth))
        return "a queue holds more than its depth";
    return tque->last <= tque->num ? NULL : "a queue has lost its turn";
}

static bool has_no_memory(const struct onchip *object)
{
    return object->pool == NULL && object->next == NULL && object->address == 0 &&
           object->size == 0 && object->asked == 0 && !object->is_shared && object->num == 0 &&
           object->buffers == 0 && object->promised == 0 && object->taken == 0 &&
           (object->kind == ONCHIP_TBUFPOOL ? object->first == NULL && object->next_free == 0
                                            : object->slots == NULL);
}

static const char *check_object(const struct pipe *pipe, const struct onchip *object)
{
    const struct onchip *pool = object->pool;
    uint64_t num = object->kind == ONCHIP_TBUFPOOL ? 1 : object->num;
    uint64_t end = object->address + num * object->size;
    if (!object->is_initialized)
        return has_no_memory(object) ? NULL : "an object without memory has some";
    if (object->size == 0 || object->size % SOMA_ONCHIP_ALIGN_BYTES != 0 ||
        object->address % SOMA_ONCHIP_ALIGN_BYTES != 0 || num == 0)
        return "a buffer is not made of 32-byte blocks";
    if (object->asked == 0 || object->asked > object->size ||
        (!object->is_shared && object->size - object->asked >= SOMA_ONCHIP_ALIGN_BYTES))
        return "a buffer has not the size that was asked for";
    if (end > onchip_capacity(pipe->soc, object->memory))
        return "a buffer leaves its memory";
    if (pool != NULL && (!pool->is_initialized || pool->memory != object->memory ||
                         object->address < pool->address || end > pool->address + pool->size))
        return "a buffer leaves its pool";
    if (pool != NULL && !object->is_shared && end > pool->next_free)
        return "a pool has not counted what it gave";
    return object->kind == ONCHIP_TQUE ? check_tque(object) : NULL;
}

/* ---- pools and their lists ---- */

/* What those that do not share have in sum. */
struct list_sums {
    uint64_t bytes, buffers, promised, taken;
};

/* The list of a giver: descending addresses, and no bytes twice. */
static const char *check_list(const struct onchip *first, const struct onchip *pool,
                              struct list_sums *sums)
{
    uint64_t above = UINT64_MAX, limit = UINT64_MAX;
    for (const struct onchip *object = first; object != NULL; object = object->next) {
        uint64_t num = object->kind == ONCHIP_TBUFPOOL ? 1 : object->num;
        uint64_t bytes = num * object->size;
        if (!object->is_initialized || object->pool != pool || object->address > above)
            return "a list of what was given out is out of order";
        above = object->address;
        if (object->is_shared)
            continue;
        if (object->address + bytes > limit)
            return "two objects have the same bytes and do not share";
        limit = object->address;
        sums->bytes += bytes;
        if (object->kind != ONCHIP_TBUFPOOL) {
            sums->buffers += num;
            continue;
        }
        sums->promised += object->buf_id_size;
        sums->taken += object->has_own_ids ? object->buf_id_size : object->taken;
    }
    return NULL;
}

static const char *check_pool(const struct pipe *pipe, const struct onchip *pool)
{
    struct list_sums sums = {0};
    bool is_nested = !(pipe->follows_device && pipe->soc->npu_arch == 2201);
    uint64_t given = pool->next_free - pool->address;
    const char *why = check_list(pool->first, pool, &sums);
    if (why != NULL)
        return why;
    if (pool->next_free < pool->address || given > pool->size)
        return "a pool gave more than it has";
    if (pipe->follows_device ? sums.bytes > given : sums.bytes != given)
        return "a pool's bytes do not add up";
    if (sums.buffers != pool->buffers || pool->taken > pool->buf_id_size)
        return "a pool's buffers are miscounted";
    if (is_nested ? pool->promised != sums.promised || pool->taken != pool->buffers + sums.taken
                  : pool->taken != pool->buffers)
        return "a pool's buffer ids are miscounted";
    return NULL;
}

static const char *check_memory(const struct pipe *pipe, unsigned memory)
{
    struct list_sums sums = {0};
    uint32_t capacity = onchip_capacity(pipe->soc, memory), used = pipe_used(pipe, memory);
    const char *why = check_list(pipe->first[memory], NULL, &sums);
    if (why != NULL)
        return why;
    if (used > capacity || pipe->peak[memory] < used || pipe->peak[memory] > capacity ||
        (memory == SOMA_ONCHIP_MEMORY_L1 && pipe->next_free[memory] > pipe->top))
        return "a memory gave more than it has";
    if (pipe->follows_device ? sums.bytes > used : sums.bytes != used)
        return "a memory's bytes do not add up";
    return NULL;
}

/* ---- the pipe ---- */

/* Sums over all objects, to be compared with what the pipe says. */
struct pipe_sums {
    unsigned buffers, held[ONCHIP_POSITIONS], tque_buffers[ONCHIP_POSITIONS];
    uint32_t shared_pools, initialized, listed;
};

static const char *sum_object(const struct engine *engine, const struct onchip *object,
                              struct pipe_sums *sums, struct buffers *buffers)
{
    sums->buffers += object->num;
    sums->shared_pools += object->is_shared;
    sums->initialized += object->is_initialized;
    if (sums->buffers > SOMA_PIPE_BUFFERS_MAX)
        return "it has more buffers than a pipe can";
    for (unsigned i = 0; i < object->num; i++) {
        struct place_of_buffer place = {object, i};
        buffers->items[buffers->count++] = place;
        if (object->kind != ONCHIP_TQUE)
            continue;
        sums->tque_buffers[object->position]++;
        sums->held[object->position] += is_live(&place);
        if (object->slots[i].tensor > engine->last_id[ID_TENSOR])
            return "a tensor has an id that was never given";
    }
    return NULL;
}

static const char *check_buffers(const struct buffers *buffers)
{
    for (size_t i = 0; i < buffers->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct place_of_buffer *a = &buffers->items[i], *b = &buffers->items[j];
            if (!overlap(a, b))
                continue;
            if (is_live(a) && is_live(b))
                return "two live tensors overlap";
            if (!is_legal_overlap(a->object, b->object))
                return "two buffers overlap and do not share";
        }
    }
    return NULL;
}

static const char *check_sums(const struct pipe *pipe, const struct pipe_sums *sums)
{
    if (sums->buffers != pipe->buffers || sums->shared_pools != pipe->shared_pools ||
        sums->initialized != sums->listed)
        return "its objects are miscounted";
    for (unsigned position = 0; position < ONCHIP_POSITIONS; position++) {
        if (sums->held[position] != pipe->held[position] ||
            sums->tque_buffers[position] != pipe->tque_buffers[position])
            return "the buffers of a position are miscounted";
        if (sums->held[position] > pipe_tensors_max(pipe))
            return "a position holds more tensors than it has event ids";
    }
    return NULL;
}

const char *pipe_check(const struct engine *engine, const struct pipe *pipe)
{
    struct pipe_sums sums = {0};
    struct buffers buffers = {.count = 0};
    const char *why = NULL;
    for (unsigned kind = 0; kind < ONCHIP_KINDS; kind++) {
        const struct onchip_list *list = &pipe->objects[kind];
        for (uint32_t i = 0; i < list->count && why == NULL; i++) {
            const struct onchip *object = list->items[i];
            if (object->kind != kind || (i > 0 && object->id <= list->items[i - 1]->id))
                return "its objects are out of order";
            why = check_object(pipe, object);
            if (why == NULL)
                why = sum_object(engine, object, &sums, &buffers);
            if (why == NULL && object->kind == ONCHIP_TBUFPOOL && object->is_initialized)
                why = check_pool(pipe, object);
        }
    }
    for (unsigned memory = 0; memory < ONCHIP_MEMORIES && why == NULL; memory++) {
        struct onchip *first = pipe->first[memory];
        why = check_memory(pipe, memory);
        for (const struct onchip *o = onchip_walk(first, NULL, NULL); o != NULL && why == NULL;
             o = onchip_walk(first, NULL, o))
            sums.listed++;
    }
    if (why == NULL)
        why = check_sums(pipe, &sums);
    return why != NULL ? why : check_buffers(&buffers);
}
