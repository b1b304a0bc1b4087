/* Kernels over vectors: the blocks of a launch share the work, as on a device. */
#include "soma/kernel.h"

/* The part [*first, *end) of `count` elements that falls to this block. */
static void part_of(const struct soma_kernel_block *block, uint64_t count, uint64_t *first,
                    uint64_t *end)
{
    *first = count * block->index / block->count;
    *end = count * (block->index + 1) / block->count;
}

struct scale_args {
    float *x;
    uint32_t count;
    float factor;
};

/* x[i] *= factor */
static void scale(const struct soma_kernel_block *block)
{
    const struct scale_args *args = block->args;
    uint64_t first, end;
    part_of(block, args->count, &first, &end);
    for (uint64_t i = first; i < end; i++)
        args->x[i] *= args->factor;
}

struct sum_rows_args {
    const float *matrix; /* rows * columns, row by row */
    double *sums;        /* one for each row */
    uint32_t rows, columns;
};

/* sums[r] = the sum of row r; every block has rows of its own, so none waits for another. */
static void sum_rows(const struct soma_kernel_block *block)
{
    const struct sum_rows_args *args = block->args;
    uint64_t first, end;
    part_of(block, args->rows, &first, &end);
    for (uint64_t row = first; row < end; row++) {
        double sum = 0;
        for (uint32_t column = 0; column < args->columns; column++)
            sum += (double)args->matrix[row * args->columns + column];
        args->sums[row] = sum;
    }
}

static const struct soma_kernel_declaration kernels[] = {
    {.name = "scale",
     .run = scale,
     /* 4 bytes are read and 4 written for each element: at 2.5 ps a byte, 20 ps. */
     .arguments = {{.name = "x", .type = SOMA_KERNEL_PTR, .help = "f32, read and written"},
                   {.name = "count", .type = SOMA_KERNEL_U32, .help = "elements", .unit_ps = 20},
                   {.name = "factor", .type = SOMA_KERNEL_F32, .help = "what x is multiplied by"}},
     .help = "x[i] *= factor"},
    {.name = "sum_rows",
     .run = sum_rows,
     /* The matrix is read once: 2.5 ps a byte, rounded up, to the end of its block. */
     .arguments =
         {{.name = "matrix", .type = SOMA_KERNEL_PTR, .help = "f32, row by row", .unit_ps = 3},
          {.name = "sums", .type = SOMA_KERNEL_PTR, .help = "f64, one for each row"},
          {.name = "rows", .type = SOMA_KERNEL_U32, .help = "rows"},
          {.name = "columns", .type = SOMA_KERNEL_U32, .help = "columns"}},
     .help = "sums[r] = sum of row r"},
};

SOMA_KERNEL_LIBRARY(kernels);
