/* Kernels that fail on purpose, each in another way: to see how a program takes it, and that the
 * server does. All end with ACL error 507015 at the next synchronise, Endless with 507014. The last
 * two succeed, and harm nobody. */
#define _POSIX_C_SOURCE 200809L

#include "soma/kernel.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct no_args {
    uint32_t unused;
};

struct pointer_args {
    unsigned char *x;
    uint64_t offset;
};

/* The error of a device's own: nothing good can come of it. */
static void error_op(const struct soma_kernel_block *block)
{
    (void)block;
    __builtin_trap();
}

/* x[offset] = 1, wherever that is */
static void poke(const struct soma_kernel_block *block)
{
    const struct pointer_args *args = block->args;
    *(volatile unsigned char *)(args->x + args->offset) = 1;
}

/* Reads x[offset], and writes it to x[0]. */
static void peek(const struct soma_kernel_block *block)
{
    const struct pointer_args *args = block->args;
    args->x[0] = *(volatile unsigned char *)(args->x + args->offset);
}

/* Writes to x[0] first: a launch that fails changes nothing all the same. */
static void half_done(const struct soma_kernel_block *block)
{
    const struct pointer_args *args = block->args;
    args->x[0] = 0xee;
    abort();
}

/* Spoils the heap and the stack of its process, then goes on. */
static void heap(const struct soma_kernel_block *block)
{
    unsigned char *volatile small = malloc(16);
    (void)block;
    if (small != NULL)
        memset(small - 64, 0x41, 4096);
    free(small);
    free(malloc(100000));
    abort();
}

static volatile unsigned endless_count;

static void endless(const struct soma_kernel_block *block)
{
    (void)block;
    for (;;)
        endless_count++;
}

static unsigned deep(volatile unsigned *depth)
{
    volatile unsigned next = *depth + 1;
    return next == 0 ? 0 : deep(&next) + 1;
}

static void recursion(const struct soma_kernel_block *block)
{
    volatile unsigned depth = block->index;
    (void)deep(&depth);
}

/* Ends its process as if all were well. */
static void leaves(const struct soma_kernel_block *block)
{
    (void)block;
    exit(0);
}

/* Leaves a process behind, whose number it writes to x. */
static void forks(const struct soma_kernel_block *block)
{
    const struct pointer_args *args = block->args;
    int32_t child = (int32_t)fork();
    if (child == 0) {
        for (;;)
            (void)pause();
    }
    memcpy(args->x + args->offset, &child, sizeof(child));
}

/* Sends a signal to all that it can take for its own. */
static void signals(const struct soma_kernel_block *block)
{
    (void)block;
    (void)kill(0, SIGTERM);
}

#define POINTER_ARGUMENTS                                                                          \
    {                                                                                              \
        {.name = "x", .type = SOMA_KERNEL_PTR, .help = "bytes"},                                   \
        {                                                                                          \
            .name = "offset", .type = SOMA_KERNEL_U64, .help = "of the byte that is touched"       \
        }                                                                                          \
    }
#define NO_ARGUMENTS                                                                               \
    {                                                                                              \
        {                                                                                          \
            .name = "unused", .type = SOMA_KERNEL_U32, .help = "any: ACL launches no empty block"  \
        }                                                                                          \
    }

static const struct soma_kernel_declaration kernels[] = {
    {.name = "ErrorOP", .run = error_op, .arguments = NO_ARGUMENTS, .help = "traps"},
    {.name = "Poke", .run = poke, .arguments = POINTER_ARGUMENTS, .help = "x[offset] = 1"},
    {.name = "Peek", .run = peek, .arguments = POINTER_ARGUMENTS, .help = "x[0] = x[offset]"},
    {.name = "HalfDone", .run = half_done, .arguments = POINTER_ARGUMENTS, .help = "x[0], aborts"},
    {.name = "Heap", .run = heap, .arguments = NO_ARGUMENTS, .help = "spoils its heap"},
    {.name = "Endless", .run = endless, .arguments = NO_ARGUMENTS, .help = "never returns"},
    {.name = "Recursion", .run = recursion, .arguments = NO_ARGUMENTS, .help = "has no stack left"},
    {.name = "Leaves", .run = leaves, .arguments = NO_ARGUMENTS, .help = "calls exit"},
    {.name = "Forks", .run = forks, .arguments = POINTER_ARGUMENTS, .help = "leaves a process"},
    {.name = "Signals", .run = signals, .arguments = NO_ARGUMENTS, .help = "to all of its group"},
};

SOMA_KERNEL_LIBRARY(kernels);
