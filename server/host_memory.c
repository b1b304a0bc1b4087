#include "host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *host_memory_alloc(void *ctx, size_t size_bytes)
{
    (void)ctx;
    if (size_bytes < HOST_LARGE_BYTES)
        return malloc(size_bytes);
    if (size_bytes > SIZE_MAX - HOST_LARGE_BYTES)
        return NULL; /* rounded up it leaves size_t */
    size_t whole = (size_bytes + HOST_LARGE_BYTES - 1) / HOST_LARGE_BYTES * HOST_LARGE_BYTES;
    void *ptr = aligned_alloc(HOST_LARGE_BYTES, whole);
    if (ptr != NULL)
        (void)madvise(ptr, whole, MADV_HUGEPAGE); /* a hint: without it only time is lost */
    return ptr;
}

void host_memory_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

struct engine_mem host_memory_table(void)
{
    return (struct engine_mem){NULL, host_memory_alloc, host_memory_release};
}
