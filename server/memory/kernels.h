/* The kernels that can be launched, by name: built-in computations over device memory, and kernels
 * of libraries (kernel_libraries.h).
 *
 * A launch is checked whole (arguments, then every device range it will touch) before a byte is
 * written, so a refused launch changes nothing; nor does one that fails. Results of built-in
 * kernels do not depend on blockDim. A registry is constant once created and may be used by any
 * number of threads. */
#ifndef SOMA_MEMORY_KERNELS_H
#define SOMA_MEMORY_KERNELS_H

#include "bytes.h"

struct kernels;

struct kernel_libraries;

/* A registry of the built-in kernels. NULL when there is no memory. */
struct kernels *kernels_create(void);

/* The same, and those of libraries: given, ended by kernels_destroy, and here when NULL is
 * answered. They stand behind the built-in ones, so NAME alone means the built-in kernel of that
 * name. */
struct kernels *kernels_create_with(struct kernel_libraries *libraries);
void kernels_destroy(struct kernels *kernels);

/* Run STREAM_LAUNCH_KERNEL's command on the contents in bytes.
 *   engine   tells which memory is live (engine_resolve)
 *   cost_ns  out, on SOMA_OK and when the kernel fails: its own figure, virtual nanoseconds
 * SOMA_OK; SOMA_NO_SUCH_KERNEL; SOMA_KERNEL_ARGUMENTS (the message tells the parameters); when it
 * fails SOMA_KERNEL_FAULT (with the address) or SOMA_KERNEL_TIMEOUT; SOMA_HOST_MEMORY_EXHAUSTED.
 * Nothing changed but on OK. */
enum soma_status kernels_launch(const struct kernels *kernels, struct bytes *bytes,
                                const struct engine *engine, const struct soma_command *command,
                                uint64_t *cost_ns, struct soma_error *error) SOMA_MUST_USE;

/* Fill *list for GET /v1/kernels. The items belong to the registry: do not release. */
void kernels_list(const struct kernels *kernels, struct soma_kernel_list *list);

#endif
