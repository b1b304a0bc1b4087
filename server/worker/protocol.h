/* What somad and its soma-kernel-worker say to each other, over a socket that keeps messages apart
 * (SOCK_SEQPACKET). Both are of one build, so structs travel as they are; all are zeroed first.
 *
 * The worker begins: WORKER_LOADING before each library, WORKER_KERNEL for each kernel in it,
 * WORKER_READY at the end, or WORKER_BAD and it ends. Then somad sends launches, each with two
 * descriptors: the memory (a memfd with the ranges one after the other), and the writing end of a
 * pipe, to which the process of this launch writes its outcome. The pipe ends when that process
 * does, whether it wrote or not. The worker ends when the socket does. */
#ifndef SOMA_WORKER_PROTOCOL_H
#define SOMA_WORKER_PROTOCOL_H

#include "soma/kernel.h"

#define WORKER_SOCKET 3 /* the worker's end */
#define WORKER_NAME_BYTES (SOMA_KERNEL_NAME_BYTES_MAX + 1)
#define WORKER_HELP_BYTES 160u
#define WORKER_PAGE_BYTES UINT64_C(4096) /* ranges begin at multiples of this */

enum worker_kind { WORKER_LOADING, WORKER_KERNEL, WORKER_READY, WORKER_BAD };

struct worker_argument {
    char name[WORKER_NAME_BYTES];
    char help[WORKER_HELP_BYTES];
    uint32_t type; /* enum soma_kernel_type */
    uint64_t unit_ps;
};

/* A message of the worker. */
struct worker_message {
    uint32_t kind; /* enum worker_kind */
    char library[WORKER_NAME_BYTES];
    char name[WORKER_NAME_BYTES];
    char help[WORKER_HELP_BYTES]; /* BAD: why */
    uint64_t fixed_ns, block_ns;
    uint32_t argument_count;
    struct worker_argument arguments[SOMA_KERNEL_ARGUMENTS_MAX];
};

/* A live block of device memory that the kernel may touch. */
struct worker_range {
    uint64_t address;
    uint64_t size_bytes; /* the rest of its last page is filled with WORKER_TAIL */
    uint64_t offset;     /* in the memory, a multiple of the page size */
};

#define WORKER_TAIL 0xa5

struct worker_launch {
    uint32_t kernel; /* number of its WORKER_KERNEL message, from 0 */
    uint32_t block_count;
    uint64_t time_ms;      /* the process is killed after this */
    uint64_t memory_bytes; /* what it may allocate itself */
    uint32_t range_count;
    struct worker_range ranges[SOMA_KERNEL_ARGUMENTS_MAX];
    uint32_t args_bytes;
    _Alignas(8) unsigned char args[8 * SOMA_KERNEL_ARGUMENTS_MAX];
};

enum worker_end {
    WORKER_DONE,   /* all blocks have returned */
    WORKER_SIGNAL, /* one was stopped by `signal`, at `address` where that means something */
    WORKER_WROTE,  /* `address`, behind the end of a block, was written */
    WORKER_NO_MAP, /* memory could not be put to `address`: errno is `signal` */
};

struct worker_outcome {
    uint32_t end; /* enum worker_end */
    int32_t signal;
    uint64_t address;
    uint32_t has_address;
    uint32_t block; /* in which it happened */
};

#endif
