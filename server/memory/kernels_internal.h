/* What the registry of kernels and the built-in kernels share. */
#ifndef SOMA_MEMORY_KERNELS_INTERNAL_H
#define SOMA_MEMORY_KERNELS_INTERNAL_H

#include "kernels.h"

#include "kernel_table.h"

enum { KERNEL_VIEWS_MAX = 2 * SOMA_KERNEL_PARAMETERS_MAX };

/* A launch whose arguments have the right number and types. */
struct kernel_call {
    struct soma_kernel_call args;
    struct bytes *bytes;
    const struct engine *engine;
    struct bytes_view views[KERNEL_VIEWS_MAX]; /* of spans that lie in several mappings */
    size_t view_count;
};

/* Check every range, then compute. SOMA_OK; SOMA_KERNEL_FAULT; SOMA_HOST_MEMORY_EXHAUSTED. */
typedef enum soma_status kernel_run(struct kernel_call *call, struct soma_error *error);

/* The bytes that ptr parameter `index` points to, or SOMA_KERNEL_FAULT.
 *   count, element_bytes  the range is their product; one that leaves 64 bits is a fault
 *   host  out: NULL when the range is empty; stays until the kernel returns */
enum soma_status kernel_span(struct kernel_call *call, size_t index, uint64_t count,
                             uint64_t element_bytes, unsigned char **host,
                             struct soma_error *error) SOMA_MUST_USE;

/* What a built-in kernel does; NULL: there is none of this name. */
kernel_run *kernel_run_built_in(const char *name);

#endif
