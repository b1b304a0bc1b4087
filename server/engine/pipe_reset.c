/* Reset of a pool and of a pipe. */
#include "internal.h"

#include <string.h>

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
