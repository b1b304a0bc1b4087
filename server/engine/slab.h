/* Objects of one size, many to a chunk of memory: a million of them lie close together, and the
 * host may back large chunks by large pages. A new chunk has room for a part of the objects that
 * there are, SLAB_CHUNK_BYTES at most; it goes back to the host with its last object. */
#ifndef SOMA_ENGINE_SLAB_H
#define SOMA_ENGINE_SLAB_H

#include "engine.h"

#include <stddef.h>

enum { SLAB_CHUNK_BYTES = 2 * 1024 * 1024 };

struct slab_chunk;

struct slab {
    size_t object_bytes;     /* set before the first slab_take; a multiple of 8, at least 8 */
    size_t count;            /* objects taken and not given back */
    struct slab_chunk *open; /* chunks with room; owned */
};

/* A zeroed object, aligned to 8 bytes; NULL: no memory. */
void *slab_take(struct slab *slab, const struct engine_mem *mem);
void slab_give(struct slab *slab, const struct engine_mem *mem, void *object);

#endif
