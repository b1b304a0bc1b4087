/* bufIdSize: how many buffers a TBufPool may hold, and what its child pools take of that.
 *
 * A pool that does not share takes from the pool around it: at once what was given as its
 * bufIdSize, or, when none was given, as much as it comes to use. `taken` keeps the sum; `promised`
 * the sum of the bufIdSizes themselves, which further child pools are measured against. */
#include "internal.h"

#include <stdio.h>

bool ids_are_nested(const struct pipe *pipe)
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

const struct onchip *ids_lacking(const struct pipe *pipe, const struct onchip *pool, uint64_t more)
{
    for (; pool != NULL; pool = ids_next(pipe, pool)) {
        if (more > (uint64_t)(pool->buf_id_size - pool->taken))
            return pool;
    }
    return NULL;
}

void ids_take(const struct pipe *pipe, struct onchip *pool, uint64_t more)
{
    for (; pool != NULL; pool = ids_next(pipe, pool))
        pool->taken = (uint8_t)(pool->taken + more);
}

void ids_give_back(const struct pipe *pipe, struct onchip *pool, uint64_t fewer)
{
    for (; pool != NULL; pool = ids_next(pipe, pool))
        pool->taken = (uint8_t)(pool->taken - fewer);
}

const char *ids_text(const struct onchip *pool, char *buf, size_t size)
{
    (void)snprintf(buf, size, "bufIdSize %u: %u for its buffers, %u for its pools, %u left",
                   pool->buf_id_size, pool->buffers, pool->taken - pool->buffers,
                   pool->buf_id_size - pool->taken);
    return buf;
}
