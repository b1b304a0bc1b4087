/* A chunk is a header and slots; a slot is a pointer to its chunk, then an object. */
#include "slab.h"

#include <string.h>

enum {
    SLOTS_MIN = 4,
    GROWTH = 4 /* a new chunk has room for this part of the objects that there are */
};

struct slab_chunk {
    struct slab_chunk *previous, *next; /* in slab.open */
    void *given_back;                   /* objects, each beginning with a pointer to the next */
    size_t slots, used, fresh;          /* fresh: how many of the slots were ever taken */
};

static size_t slot_bytes(const struct slab *slab)
{
    return sizeof(struct slab_chunk *) + slab->object_bytes;
}

static void link_chunk(struct slab *slab, struct slab_chunk *chunk)
{
    chunk->previous = NULL;
    chunk->next = slab->open;
    if (slab->open != NULL)
        slab->open->previous = chunk;
    slab->open = chunk;
}

static void unlink_chunk(struct slab *slab, struct slab_chunk *chunk)
{
    if (chunk->previous != NULL)
        chunk->previous->next = chunk->next;
    else
        slab->open = chunk->next;
    if (chunk->next != NULL)
        chunk->next->previous = chunk->previous;
}

/* A chunk with room, in slab.open; NULL: no memory. The largest have SLAB_CHUNK_BYTES exactly. */
static struct slab_chunk *chunk_new(struct slab *slab, const struct engine_mem *mem)
{
    size_t most = (SLAB_CHUNK_BYTES - sizeof(struct slab_chunk)) / slot_bytes(slab);
    size_t slots = slab->count / GROWTH < SLOTS_MIN ? SLOTS_MIN : slab->count / GROWTH;
    size_t bytes = sizeof(struct slab_chunk) + slots * slot_bytes(slab);
    if (slots >= most) {
        slots = most;
        bytes = SLAB_CHUNK_BYTES;
    }
    struct slab_chunk *chunk = mem->alloc(mem->ctx, bytes);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct slab_chunk){.slots = slots};
    link_chunk(slab, chunk);
    return chunk;
}

void *slab_take(struct slab *slab, const struct engine_mem *mem)
{
    struct slab_chunk *chunk = slab->open != NULL ? slab->open : chunk_new(slab, mem);
    if (chunk == NULL)
        return NULL;
    void *object = chunk->given_back;
    if (object != NULL) {
        memcpy(&chunk->given_back, object, sizeof(void *));
    } else {
        char *slot = (char *)(chunk + 1) + chunk->fresh++ * slot_bytes(slab);
        memcpy(slot, &chunk, sizeof(struct slab_chunk *));
        object = slot + sizeof(struct slab_chunk *);
    }
    memset(object, 0, slab->object_bytes);
    slab->count++;
    if (++chunk->used == chunk->slots)
        unlink_chunk(slab, chunk);
    return object;
}

void slab_give(struct slab *slab, const struct engine_mem *mem, void *object)
{
    struct slab_chunk *chunk;
    memcpy(&chunk, (char *)object - sizeof(struct slab_chunk *), sizeof(struct slab_chunk *));
    memcpy(object, &chunk->given_back, sizeof(void *));
    chunk->given_back = object;
    slab->count--;
    if (chunk->used-- == chunk->slots)
        link_chunk(slab, chunk);
    if (chunk->used == 0) {
        unlink_chunk(slab, chunk);
        mem->release(mem->ctx, chunk);
    }
}
