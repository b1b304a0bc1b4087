/* The built-in kernels: parameters and costs. What they do is in server/memory. */
#include "kernel_table.h"

#include <inttypes.h>

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Time to move this many bytes, at the speed of a copy on the device: 400 GB/s. */
static uint64_t move_ns(uint64_t size_bytes)
{
    return size_bytes / 400 + (size_bytes % 400 != 0);
}

/* ---- add_custom ---- */

/* aclDataType, as add_custom takes it. */
enum { ACL_TYPE_FLOAT = 0, ACL_TYPE_FLOAT16 = 1, ACL_TYPE_INT32 = 3 };

uint64_t soma_add_custom_element_bytes(uint64_t acl_data_type)
{
    switch (acl_data_type) {
    case ACL_TYPE_FLOAT16: return 2;
    case ACL_TYPE_FLOAT:
    case ACL_TYPE_INT32: return 4;
    default: return 0;
    }
}

uint64_t soma_add_custom_count(const struct soma_kernel_call *call)
{
    uint64_t smallest = UINT64_MAX;
    for (size_t i = 0; i < 3; i++) {
        uint64_t bytes = call->requested(call->ctx, call->device, call->values[i]);
        smallest = bytes < smallest ? bytes : smallest;
    }
    return smallest / 2;
}

static enum soma_status check_add_custom(const struct soma_kernel_call *call,
                                         struct soma_error *error)
{
    if (call->value_count == 3 || soma_add_custom_element_bytes(call->values[4]) != 0)
        return SOMA_OK;
    return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                     "add_custom: aclDataType %" PRIu64 " is none of 0 (ACL_FLOAT), "
                     "1 (ACL_FLOAT16) and 3 (ACL_INT32)",
                     call->values[4]);
}

static uint64_t cost_of_add_custom(const struct soma_kernel_call *call)
{
    if (call->value_count == 3 || call->row->parameters[3].kind == SOMA_ARG_PTR)
        return move_ns(3 * 2 * soma_add_custom_count(call));
    return move_ns(3 * call->values[3] * soma_add_custom_element_bytes(call->values[4]));
}

/* ---- the others ---- */

static uint64_t cost_of_fill(const struct soma_kernel_call *call)
{
    return move_ns(multiply_saturating(call->values[1], 4));
}

static uint64_t cost_of_copy(const struct soma_kernel_call *call)
{
    return move_ns(multiply_saturating(call->values[2], 2));
}

static uint64_t cost_of_saxpy(const struct soma_kernel_call *call)
{
    return move_ns(12 * call->values[3]);
}

static uint64_t cost_of_reduce_sum(const struct soma_kernel_call *call)
{
    return move_ns(multiply_saturating(call->values[2], 4));
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b ? b - a < a_bytes : a - b < b_bytes;
}

/* Elements of c, a and b; below 2^64. */
static void matmul_counts(const struct soma_kernel_call *call, uint64_t *counts)
{
    uint64_t m = call->values[3], k = call->values[4], n = call->values[5];
    counts[0] = m * n;
    counts[1] = m * k;
    counts[2] = k * n;
}

static enum soma_status check_matmul(const struct soma_kernel_call *call, struct soma_error *error)
{
    uint64_t counts[3];
    matmul_counts(call, counts);
    for (size_t i = 1; i < 3; i++) {
        if (counts[0] != 0 && counts[i] != 0 &&
            overlap(call->values[0], multiply_saturating(counts[0], 4), call->values[i],
                    multiply_saturating(counts[i], 4)))
            return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                             "matmul: c overlaps %s; it is written while that is read",
                             call->row->parameters[i].name);
    }
    return SOMA_OK;
}

static uint64_t cost_of_matmul(const struct soma_kernel_call *call)
{
    uint64_t counts[3], bytes = 0;
    matmul_counts(call, counts);
    uint64_t operations = multiply_saturating(multiply_saturating(counts[0], call->values[4]), 2);
    for (size_t i = 0; i < 3; i++) {
        uint64_t more = multiply_saturating(counts[i], 4);
        bytes = bytes > UINT64_MAX - more ? UINT64_MAX : bytes + more;
    }
    uint64_t compute_ns = operations / 50000;
    return compute_ns > move_ns(bytes) ? compute_ns : move_ns(bytes);
}

static uint64_t cost_of_nothing(const struct soma_kernel_call *call)
{
    (void)call;
    return 0;
}

/* ---- the table ---- */

/* clang-format off */
static const struct soma_kernel_row rows[] = {
    {.name = "add_custom",
     .parameters = {{"x", SOMA_ARG_PTR, "first summand", 0}, {"y", SOMA_ARG_PTR, "second summand", 0},
      {"z", SOMA_ARG_PTR, "sum; may be x or y", 0},
      {"count", SOMA_ARG_U32, "elements; without it f16, as many as the smallest of the three blocks was asked for", 0},
      {"aclDataType", SOMA_ARG_U32, "0 ACL_FLOAT, 1 ACL_FLOAT16, 3 ACL_INT32", 0}},
     .parameter_count = 5, .required = 3, .help = "z[i] = x[i] + y[i]; i32 wraps",
     .cost = "3 * count * element size bytes at 400 GB/s",
     .check = check_add_custom, .cost_ns = cost_of_add_custom},
    {.name = "add_custom",
     .parameters = {{"x", SOMA_ARG_PTR, "first summand, f16", 0}, {"y", SOMA_ARG_PTR, "second summand, f16", 0},
      {"z", SOMA_ARG_PTR, "sum, f16; may be x or y", 0},
      {"tilingLength", SOMA_ARG_PTR, "one i32: elements", 0},
      {"tilingNum", SOMA_ARG_PTR, "one i32, at least 1: tiles of each block; changes no result", 0}},
     .parameter_count = 5, .required = 5, .help = "z[i] = x[i] + y[i], with its tiling in device memory",
     .cost = "6 bytes at 400 GB/s for each element of the smallest of the three blocks",
     .cost_ns = cost_of_add_custom},
    {.name = "fill",
     .parameters = {{"dst", SOMA_ARG_PTR, "where to write", 0}, {"count", SOMA_ARG_U64, "32-bit words", 0},
      {"value", SOMA_ARG_U32, "the word", 0}},
     .parameter_count = 3, .required = 3, .help = "dst[i] = value, 32-bit words",
     .cost = "4 * count bytes at 400 GB/s", .cost_ns = cost_of_fill},
    {.name = "copy",
     .parameters = {{"dst", SOMA_ARG_PTR, "where to write", 0}, {"src", SOMA_ARG_PTR, "what to read; may overlap dst", 0},
      {"bytes", SOMA_ARG_U64, "bytes", 0}},
     .parameter_count = 3, .required = 3, .help = "dst = src, as memmove",
     .cost = "2 * bytes at 400 GB/s", .cost_ns = cost_of_copy},
    {.name = "saxpy",
     .parameters = {{"y", SOMA_ARG_PTR, "f32, read and written", 0}, {"x", SOMA_ARG_PTR, "f32", 0},
      {"a", SOMA_ARG_F32, "factor", 0}, {"n", SOMA_ARG_U32, "elements", 0}},
     .parameter_count = 4, .required = 4, .help = "y[i] = a * x[i] + y[i], f32, rounded after each operation",
     .cost = "12 * n bytes at 400 GB/s", .cost_ns = cost_of_saxpy},
    {.name = "reduce_sum",
     .parameters = {{"dst", SOMA_ARG_PTR, "one f32", 0}, {"src", SOMA_ARG_PTR, "f32", 0}, {"n", SOMA_ARG_U64, "elements", 0}},
     .parameter_count = 3, .required = 3, .help = "dst[0] = sum of src[i], f32, summed from the first on in double",
     .cost = "4 * n bytes at 400 GB/s", .cost_ns = cost_of_reduce_sum},
    {.name = "matmul",
     .parameters = {{"c", SOMA_ARG_PTR, "m x n, must not overlap a or b", 0}, {"a", SOMA_ARG_PTR, "m x k", 0},
      {"b", SOMA_ARG_PTR, "k x n", 0}, {"m", SOMA_ARG_U32, "rows of a", 0},
      {"k", SOMA_ARG_U32, "columns of a, rows of b", 0}, {"n", SOMA_ARG_U32, "columns of b", 0}},
     .parameter_count = 6, .required = 6,
     .help = "c = a * b, f32, row by row, summed in f32 in the order of k",
     .cost = "the larger of 2*m*n*k operations at 50 TFLOP/s and 4*(m*n+m*k+k*n) bytes at 400 GB/s",
     .check = check_matmul, .cost_ns = cost_of_matmul},
    {.name = "trap",
     .parameters = {{"code", SOMA_ARG_U32, "told with the failure", 0}},
     .parameter_count = 1, .required = 0,
     .help = "always fails when it runs: to see how a program takes it",
     .cost = "nothing", .cost_ns = cost_of_nothing},
};
/* clang-format on */

const struct soma_kernel_row *soma_kernel_rows_built_in(size_t *count)
{
    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
