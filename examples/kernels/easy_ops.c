/* Small kernels of the kind that CANN's samples start with <<<>>>: each block works on one number.
 *
 *   cc -shared -fPIC -I<include> easy_ops.c -o kernels/easy_ops.so
 *   somad --kernel-dir kernels
 */
#include "soma/kernel.h"

#include <stdio.h>

/* The arguments, as the program hands them over: a C struct in the order declared below. */
struct easy_args {
    uint32_t *x; /* device memory: in a kernel a device pointer is just a pointer */
};

/* x[block] += 1 */
static void easy_op(const struct soma_kernel_block *block)
{
    const struct easy_args *args = block->args;
    args->x[block->index] += 1;
}

/* x[block] *= 2 */
static void short_op(const struct soma_kernel_block *block)
{
    const struct easy_args *args = block->args;
    args->x[block->index] *= 2;
}

/* x[block] += 1, after a long time: what a launch costs is declared, not measured. */
static void long_op(const struct soma_kernel_block *block)
{
    easy_op(block);
}

struct write_args {
    int32_t *x;
    int32_t value;
};

/* x[block] = value. What a kernel prints goes to somad's output. */
static void write_do(const struct soma_kernel_block *block)
{
    const struct write_args *args = block->args;
    args->x[block->index] = args->value;
    (void)printf("Source data: %d\n", (int)args->value);
    (void)fflush(stdout);
}

struct read_args {
    const int32_t *x;
};

static void read_do(const struct soma_kernel_block *block)
{
    const struct read_args *args = block->args;
    (void)printf("Destination data: %d\n", (int)args->x[block->index]);
    (void)fflush(stdout);
}

/* What somad learns: names, arguments and costs. */
static const struct soma_kernel_declaration kernels[] = {
    {.name = "EasyOP",
     .run = easy_op,
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "u32, one for each block"}},
     .help = "x[block] += 1",
     .block_ns = 100},
    {.name = "ShortOP",
     .run = short_op,
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "u32, one for each block"}},
     .help = "x[block] *= 2",
     .block_ns = 100},
    {.name = "LongOP",
     .run = long_op,
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "u32, one for each block"}},
     .help = "x[block] += 1, and takes a second",
     .fixed_ns = 1000000000},
    {.name = "WriteDo",
     .run = write_do,
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "i32, one for each block"},
                   {.name = "value", .type = SOMA_KERNEL_I32, .help = "what is written"}},
     .help = "x[block] = value, printed",
     .block_ns = 100},
    {.name = "ReadDo",
     .run = read_do,
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "i32, one for each block"}},
     .help = "prints x[block]",
     .block_ns = 100},
};

SOMA_KERNEL_LIBRARY(kernels);
