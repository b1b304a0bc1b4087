/* The built-in kernels. Device memory is read and written by memcpy, so no address has to be
 * aligned for its element. Sums run in one fixed order, whatever blockDim is. */
#include "half.h"
#include "kernels_internal.h"

#include <inttypes.h>
#include <string.h>

/* aclDataType, as add_custom takes it. */
enum { ACL_TYPE_FLOAT = 0, ACL_TYPE_FLOAT16 = 1, ACL_TYPE_INT32 = 3 };

static float load_f32(const unsigned char *from, uint64_t index)
{
    float value;
    memcpy(&value, from + index * sizeof(value), sizeof(value));
    return value;
}

static void store_f32(unsigned char *to, uint64_t index, float value)
{
    memcpy(to + index * sizeof(value), &value, sizeof(value));
}

static uint32_t u32_value(const struct kernel_call *call, size_t index)
{
    return (uint32_t)call->values[index];
}

static float f32_value(const struct kernel_call *call, size_t index)
{
    uint32_t bits = (uint32_t)call->values[index];
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- add_custom ---- */

static void add_f16(unsigned char *z, const unsigned char *x, const unsigned char *y,
                    uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint16_t a, b;
        memcpy(&a, x + i * 2, 2);
        memcpy(&b, y + i * 2, 2);
        /* A float holds twice the bits of a half and two more: rounding twice is rounding once. */
        uint16_t sum = half_from_float(half_to_float(a) + half_to_float(b));
        memcpy(z + i * 2, &sum, 2);
    }
}

static void add_f32(unsigned char *z, const unsigned char *x, const unsigned char *y,
                    uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        store_f32(z, i, load_f32(x, i) + load_f32(y, i));
}

static void add_i32(unsigned char *z, const unsigned char *x, const unsigned char *y,
                    uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t a, b;
        memcpy(&a, x + i * 4, 4);
        memcpy(&b, y + i * 4, 4);
        uint32_t sum = a + b; /* two's complement: wraps */
        memcpy(z + i * 4, &sum, 4);
    }
}

static const struct add_type {
    uint32_t acl_type;
    uint64_t element_bytes;
    void (*add)(unsigned char *z, const unsigned char *x, const unsigned char *y, uint64_t count);
} add_types[] = {
    {ACL_TYPE_FLOAT, 4, add_f32},
    {ACL_TYPE_FLOAT16, 2, add_f16},
    {ACL_TYPE_INT32, 4, add_i32},
};

static const struct add_type *find_add_type(uint32_t acl_type)
{
    for (size_t i = 0; i < sizeof(add_types) / sizeof(add_types[0]); i++) {
        if (add_types[i].acl_type == acl_type)
            return &add_types[i];
    }
    return NULL;
}

/* Without a count: f16, as many as the smallest of the three blocks was asked for. */
static enum soma_status add_count(struct kernel_call *call, uint64_t *count,
                                  struct soma_error *error)
{
    uint64_t smallest = UINT64_MAX;
    for (size_t i = 0; i < 3; i++) {
        uint64_t bytes;
        enum soma_status status = kernel_requested(call, i, &bytes, error);
        if (status != SOMA_OK)
            return status;
        smallest = bytes < smallest ? bytes : smallest;
    }
    *count = smallest / 2;
    return SOMA_OK;
}

static enum soma_status run_add_custom(struct kernel_call *call, struct soma_error *error)
{
    uint32_t acl_type = ACL_TYPE_FLOAT16;
    uint64_t count = 0;
    enum soma_status status = SOMA_OK;
    if (call->value_count == 3) {
        status = add_count(call, &count, error);
    } else {
        count = u32_value(call, 3);
        acl_type = u32_value(call, 4);
    }
    if (status != SOMA_OK)
        return status;
    const struct add_type *type = find_add_type(acl_type);
    if (type == NULL)
        return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                         "add_custom: aclDataType %" PRIu32 " is none of 0 (ACL_FLOAT), "
                         "1 (ACL_FLOAT16) and 3 (ACL_INT32)",
                         acl_type);
    unsigned char *spans[3];
    for (size_t i = 0; i < 3; i++) {
        status = kernel_span(call, i, count, type->element_bytes, &spans[i], error);
        if (status != SOMA_OK)
            return status;
    }
    type->add(spans[2], spans[0], spans[1], count);
    call->cost_ns = kernel_move_ns(3 * count * type->element_bytes);
    return SOMA_OK;
}

/* ---- fill, copy, saxpy, reduce_sum ---- */

static enum soma_status run_fill(struct kernel_call *call, struct soma_error *error)
{
    uint64_t count = call->values[1];
    uint32_t value = u32_value(call, 2);
    unsigned char *dst;
    enum soma_status status = kernel_span(call, 0, count, sizeof(value), &dst, error);
    if (status != SOMA_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        memcpy(dst + i * sizeof(value), &value, sizeof(value));
    call->cost_ns = kernel_move_ns(count * sizeof(value));
    return SOMA_OK;
}

static enum soma_status run_copy(struct kernel_call *call, struct soma_error *error)
{
    uint64_t size_bytes = call->values[2];
    unsigned char *dst, *src;
    enum soma_status status = kernel_span(call, 0, size_bytes, 1, &dst, error);
    if (status == SOMA_OK)
        status = kernel_span(call, 1, size_bytes, 1, &src, error);
    if (status != SOMA_OK)
        return status;
    if (size_bytes != 0)
        memmove(dst, src, size_bytes);
    call->cost_ns = kernel_move_ns(2 * size_bytes);
    return SOMA_OK;
}

static enum soma_status run_saxpy(struct kernel_call *call, struct soma_error *error)
{
    float a = f32_value(call, 2);
    uint64_t count = u32_value(call, 3);
    unsigned char *y, *x;
    enum soma_status status = kernel_span(call, 0, count, sizeof(a), &y, error);
    if (status == SOMA_OK)
        status = kernel_span(call, 1, count, sizeof(a), &x, error);
    if (status != SOMA_OK)
        return status;
    for (uint64_t i = 0; i < count; i++) {
        float product = a * load_f32(x, i);
        store_f32(y, i, product + load_f32(y, i));
    }
    call->cost_ns = kernel_move_ns(3 * count * sizeof(a));
    return SOMA_OK;
}

static enum soma_status run_reduce_sum(struct kernel_call *call, struct soma_error *error)
{
    uint64_t count = call->values[2];
    unsigned char *dst, *src;
    enum soma_status status = kernel_span(call, 0, 1, sizeof(float), &dst, error);
    if (status == SOMA_OK)
        status = kernel_span(call, 1, count, sizeof(float), &src, error);
    if (status != SOMA_OK)
        return status;
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)load_f32(src, i);
    store_f32(dst, 0, (float)sum);
    call->cost_ns = kernel_move_ns(count * sizeof(float));
    return SOMA_OK;
}

/* ---- matmul ---- */

static bool overlap(const unsigned char *a, uint64_t a_bytes, const unsigned char *b,
                    uint64_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second ? second - first < a_bytes : first - second < b_bytes;
}

static void multiply(unsigned char *c, const unsigned char *a, const unsigned char *b,
                     const uint64_t *size)
{
    uint64_t m = size[0], k = size[1], n = size[2];
    memset(c, 0, m * n * sizeof(float));
    for (uint64_t row = 0; row < m; row++) {
        unsigned char *c_row = c + row * n * sizeof(float);
        for (uint64_t i = 0; i < k; i++) {
            float factor = load_f32(a, row * k + i);
            const unsigned char *b_row = b + i * n * sizeof(float);
            for (uint64_t column = 0; column < n; column++) {
                float product = factor * load_f32(b_row, column);
                store_f32(c_row, column, load_f32(c_row, column) + product);
            }
        }
    }
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static enum soma_status run_matmul(struct kernel_call *call, struct soma_error *error)
{
    uint64_t size[3] = {u32_value(call, 3), u32_value(call, 4), u32_value(call, 5)};
    uint64_t counts[3] = {size[0] * size[2], size[0] * size[1], size[1] * size[2]};
    unsigned char *spans[3];
    for (size_t i = 0; i < 3; i++) {
        enum soma_status status = kernel_span(call, i, counts[i], sizeof(float), &spans[i], error);
        if (status != SOMA_OK)
            return status;
    }
    for (size_t i = 1; i < 3; i++) {
        if (counts[0] != 0 && counts[i] != 0 &&
            overlap(spans[0], counts[0] * sizeof(float), spans[i], counts[i] * sizeof(float)))
            return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                             "matmul: c overlaps %s; it is written while that is read",
                             call->kernel->parameters[i].name);
    }
    if (counts[0] != 0)
        multiply(spans[0], spans[1], spans[2], size);
    uint64_t operations = multiply_saturating(multiply_saturating(counts[0], size[1]), 2);
    uint64_t compute_ns = operations / 50000;
    uint64_t move_ns = kernel_move_ns(sizeof(float) * (counts[0] + counts[1] + counts[2]));
    call->cost_ns = compute_ns > move_ns ? compute_ns : move_ns;
    if (call->cost_ns > SOMA_DURATION_NS_MAX)
        call->cost_ns = SOMA_DURATION_NS_MAX;
    return SOMA_OK;
}

/* ---- the table ---- */

/* clang-format off */
static const struct kernel built_in[] = {
    {"add_custom", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"x", SOMA_ARG_PTR, "first summand"}, {"y", SOMA_ARG_PTR, "second summand"},
      {"z", SOMA_ARG_PTR, "sum; may be x or y"},
      {"count", SOMA_ARG_U32, "elements; without it f16, as many as the smallest of the three blocks was asked for"},
      {"aclDataType", SOMA_ARG_U32, "0 ACL_FLOAT, 1 ACL_FLOAT16, 3 ACL_INT32"}},
     5, 3, "z[i] = x[i] + y[i]; i32 wraps", "3 * count * element size bytes at 400 GB/s", run_add_custom},
    {"fill", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"dst", SOMA_ARG_PTR, "where to write"}, {"count", SOMA_ARG_U64, "32-bit words"},
      {"value", SOMA_ARG_U32, "the word"}},
     3, 3, "dst[i] = value, 32-bit words", "4 * count bytes at 400 GB/s", run_fill},
    {"copy", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"dst", SOMA_ARG_PTR, "where to write"}, {"src", SOMA_ARG_PTR, "what to read; may overlap dst"},
      {"bytes", SOMA_ARG_U64, "bytes"}},
     3, 3, "dst = src, as memmove", "2 * bytes at 400 GB/s", run_copy},
    {"saxpy", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"y", SOMA_ARG_PTR, "f32, read and written"}, {"x", SOMA_ARG_PTR, "f32"},
      {"a", SOMA_ARG_F32, "factor"}, {"n", SOMA_ARG_U32, "elements"}},
     4, 4, "y[i] = a * x[i] + y[i], f32, rounded after each operation", "12 * n bytes at 400 GB/s", run_saxpy},
    {"reduce_sum", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"dst", SOMA_ARG_PTR, "one f32"}, {"src", SOMA_ARG_PTR, "f32"}, {"n", SOMA_ARG_U64, "elements"}},
     3, 3, "dst[0] = sum of src[i], f32, summed from the first on in double", "4 * n bytes at 400 GB/s", run_reduce_sum},
    {"matmul", SOMA_KERNEL_ORIGIN_BUILT_IN,
     {{"c", SOMA_ARG_PTR, "m x n, must not overlap a or b"}, {"a", SOMA_ARG_PTR, "m x k"}, {"b", SOMA_ARG_PTR, "k x n"},
      {"m", SOMA_ARG_U32, "rows of a"}, {"k", SOMA_ARG_U32, "columns of a, rows of b"}, {"n", SOMA_ARG_U32, "columns of b"}},
     6, 6, "c = a * b, f32, row by row, summed in f32 in the order of k",
     "the larger of 2*m*n*k operations at 50 TFLOP/s and 4*(m*n+m*k+k*n) bytes at 400 GB/s", run_matmul},
};
/* clang-format on */

const struct kernel *kernels_built_in(size_t *count)
{
    *count = sizeof(built_in) / sizeof(built_in[0]);
    return built_in;
}
