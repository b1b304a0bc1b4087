/* Who has which bytes of an on-chip memory.
 *
 * Memory is only ever divided, from the low end upwards (TSCM: from the top downwards), and comes
 * back with a reset of the whole pipe. With checks=device a reset of a pool empties it, and its
 * bytes are lost until then. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/* "TBufPool p1" or "UB of pipe 1": what is divided. */
static const char *giver_title(const struct demand *demand, char *buf)
{
    if (demand->pool != NULL)
        return onchip_title(demand->pool, buf);
    (void)snprintf(buf, ONCHIP_TITLE_BYTES, "%s of pipe %" PRIu64,
                   onchip_memory_name(demand->object->memory), demand->pipe->by_id.major);
    return buf;
}

/* ---- sizes ---- */

enum soma_status demand_check_len(struct call *call, struct demand *demand)
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

uint64_t onchip_bytes(const struct onchip *object)
{
    return object->kind == ONCHIP_TBUFPOOL ? object->size : (uint64_t)object->size * object->num;
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
            if (here != NULL && onchip_bytes(here) > onchip_bytes(rest))
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
        len += (size_t)snprintf(buf + len, size - len, "%s%s %" PRIu64, i == 0 ? "" : ", ",
                                onchip_name(holders->largest[i], name),
                                onchip_bytes(holders->largest[i]));
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

enum soma_status demand_check_room(struct call *call, const struct demand *demand)
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

void demand_link(const struct demand *demand)
{
    struct onchip *object = demand->object;
    struct onchip **link =
        demand->pool != NULL ? &demand->pool->first : &demand->pipe->first[object->memory];
    while (*link != NULL && (*link)->address > object->address)
        link = &(*link)->next;
    object->next = *link;
    *link = object;
}

void demand_take(const struct demand *demand)
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
    demand_link(demand);
}
