/* Kernels of your own: C functions in a shared object that somad loads from its --kernel-dir. The
 * file name without ".so" is the name of the kernel library. How to: examples/kernels.
 *
 * A kernel is called once for each block, in order, in a process of its own that lives as long as
 * the launch. There, device memory lies at its device addresses: a pointer among the arguments can
 * be used as it is. What can be touched are the blocks that the launch's pointer arguments lead
 * into, each whole; touching anything else fails the launch with the address (ACL error 507015) and
 * harms nobody else. Device memory changes when all blocks have returned; after a failure it is as
 * it was before the launch. C11 and C++17. */
#ifndef SOMA_KERNEL_H
#define SOMA_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOMA_KERNEL_ABI 1u
#define SOMA_KERNEL_ARGUMENTS_MAX 16u
#define SOMA_KERNEL_NAME_BYTES_MAX 64u /* of kernels, arguments and libraries */

/* Types of arguments. In C: void *, uint8_t ... int64_t, 16 bits of IEEE half, float, double. */
enum soma_kernel_type {
    SOMA_KERNEL_PTR,
    SOMA_KERNEL_U8,
    SOMA_KERNEL_U16,
    SOMA_KERNEL_U32,
    SOMA_KERNEL_U64,
    SOMA_KERNEL_I32,
    SOMA_KERNEL_I64,
    SOMA_KERNEL_F16,
    SOMA_KERNEL_F32,
    SOMA_KERNEL_F64
};

/* What a kernel is called with. */
struct soma_kernel_block {
    uint32_t index;    /* of this block, from 0 */
    uint32_t count;    /* blocks of the launch */
    const void *args;  /* the arguments as a C struct, in the order in which they are declared */
    size_t args_bytes; /* its size */
};

typedef void soma_kernel_function(const struct soma_kernel_block *block);

struct soma_kernel_argument {
    const char *name; /* NULL ends the list */
    enum soma_kernel_type type;
    const char *help;
    /* Picoseconds that the kernel takes for each unit of this argument: of an integer, for 1 of its
     * value; of a pointer, for each byte from there to the end of what its block was asked for.
     * 0: the argument takes no time. Moving a byte at 400 GB/s takes 2.5 ps. */
    uint64_t unit_ps;
};

/* A kernel, and what a launch costs in virtual time:
 *   fixed_ns + block_ns * blocks + the sum of unit_ps * units over the arguments
 * on top of what the device takes to start any kernel. */
struct soma_kernel_declaration {
    const char *name;
    soma_kernel_function *run;
    struct soma_kernel_argument arguments[SOMA_KERNEL_ARGUMENTS_MAX + 1];
    const char *help;
    uint64_t fixed_ns;
    uint64_t block_ns;
};

struct soma_kernel_library {
    uint32_t abi;               /* SOMA_KERNEL_ABI */
    uint32_t declaration_bytes; /* sizeof(struct soma_kernel_declaration) */
    size_t count;
    const struct soma_kernel_declaration *kernels;
};

/* At the end of a kernel library: what is in it. `table` is an array of declarations. */
#define SOMA_KERNEL_LIBRARY(table)                                                                 \
    __attribute__((                                                                                \
        visibility("default"))) extern const struct soma_kernel_library soma_kernel_library;       \
    const struct soma_kernel_library soma_kernel_library = {                                       \
        SOMA_KERNEL_ABI, sizeof(struct soma_kernel_declaration),                                   \
        sizeof(table) / sizeof((table)[0]), table}

#ifdef __cplusplus
}
#endif

#endif
