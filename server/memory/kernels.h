/* The kernels that can be launched, by name: plain computations over device memory.
 *
 * A launch is checked whole (arguments, then every device range it will touch) before a byte is
 * written, so a refused launch changes nothing. Results do not depend on blockDim. A registry is
 * constant once created and may be used by any number of threads. */
#ifndef SOMA_MEMORY_KERNELS_H
#define SOMA_MEMORY_KERNELS_H

#include "bytes.h"

struct kernels;

/* A registry of the built-in kernels. NULL when there is no memory. */
struct kernels *kernels_create(void);
void kernels_destroy(struct kernels *kernels);

/* Run STREAM_LAUNCH_KERNEL's command on the contents in bytes.
 *   engine   tells which memory is live (engine_resolve)
 *   cost_ns  out, on SOMA_OK: the kernel's own figure, virtual nanoseconds
 * SOMA_OK; SOMA_NO_SUCH_KERNEL; SOMA_KERNEL_ARGUMENTS (the message tells the parameters);
 * SOMA_KERNEL_FAULT (with the address); SOMA_HOST_MEMORY_EXHAUSTED. Nothing changed but on OK. */
enum soma_status kernels_launch(const struct kernels *kernels, struct bytes *bytes,
                                const struct engine *engine, const struct soma_command *command,
                                uint64_t *cost_ns, struct soma_error *error) SOMA_MUST_USE;

/* Fill *list for GET /v1/kernels. The items belong to the registry: do not release. */
void kernels_list(const struct kernels *kernels, struct soma_kernel_list *list);

#endif
