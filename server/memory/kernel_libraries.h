/* Kernels of shared objects: a soma-kernel-worker that has loaded them, and launches in processes
 * that it forks. Whatever a kernel does, this process goes on: it hands over copies of the blocks
 * that a launch may touch, and takes them back only when every block of the kernel has returned.
 * Thread-safe: launches of several sessions run side by side. */
#ifndef SOMA_MEMORY_KERNEL_LIBRARIES_H
#define SOMA_MEMORY_KERNEL_LIBRARIES_H

#include "bytes.h"
#include "kernel_table.h"

struct kernel_libraries;

struct kernel_libraries_config {
    const char *directory;
    const char *worker;    /* path of soma-kernel-worker; NULL: beside this program, or in
                            * ../libexec/soma from there */
    uint64_t time_ms;      /* longest launch, at least 1 */
    uint64_t memory_bytes; /* of the device blocks of a launch together; of what it allocates */
};

/* Start the worker and learn what kernels there are.
 *   why  out, when NULL is returned: a sentence */
struct kernel_libraries *kernel_libraries_open(const struct kernel_libraries_config *config,
                                               char *why, size_t why_bytes);

/* Launches that run are not waited for by this; the owner sees to it. Takes NULL. */
void kernel_libraries_close(struct kernel_libraries *libraries);

/* Rows of all kernels; borrowed until close. A kernel's number is its place there. */
const struct soma_kernel_row *kernel_libraries_rows(const struct kernel_libraries *libraries,
                                                    size_t *count);

/* Run kernel `number` with the arguments of call->row, which is its row.
 * SOMA_OK; SOMA_KERNEL_FAULT; SOMA_KERNEL_TIMEOUT; SOMA_HOST_MEMORY_EXHAUSTED. Contents change on
 * SOMA_OK alone. */
enum soma_status kernel_libraries_run(struct kernel_libraries *libraries, size_t number,
                                      const struct soma_kernel_call *call, struct bytes *bytes,
                                      const struct engine *engine,
                                      struct soma_error *error) SOMA_MUST_USE;

#endif
