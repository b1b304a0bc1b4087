/* The kernels of the simulation, run by the model and behind the engine alike:
 *   spin {u64 cost}        only takes time
 *   invert {ptr, u64 size} inverts every bit of size bytes, 1..SIM_KERNEL_BYTES_MAX */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "bytes.h"
#include "command.h"

#define SIM_KERNEL_BYTES_MAX 4096u
#define SIM_KERNEL_BYTES_PER_NS 16u

struct sim_kernel {
    uint64_t address, size_bytes; /* what it touches; 0 bytes: nothing */
    uint64_t cost_ns;             /* its own figure */
};

/* SOMA_OK; SOMA_NO_SUCH_KERNEL; SOMA_KERNEL_ARGUMENTS. */
enum soma_status sim_kernel_parse(const struct soma_command *command, struct sim_kernel *kernel);

/* Change the bytes that the kernel changes. */
void sim_kernel_invert(struct sim_bytes *bytes, const struct sim_kernel *kernel);

#endif
