/* Where the engines of a process get their memory from: malloc, and large pages for what is large.
 * Thread-safe. */
#ifndef SOMA_HOST_MEMORY_H
#define SOMA_HOST_MEMORY_H

#include "engine.h"

/* For engine_mem. Requests of at least HOST_LARGE_BYTES come aligned to so much and, where the
 * system allows, on large pages: the blocks of a pool lie all over them, and a processor knows the
 * addresses of few small pages. free() takes it back as well. */
enum { HOST_LARGE_BYTES = 2 * 1024 * 1024 };
void *host_memory_alloc(void *ctx, size_t size_bytes);
void host_memory_release(void *ctx, void *ptr);

struct engine_mem host_memory_table(void);

#endif
