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
    return (uint32_t)call->args.values[index];
}

static float f32_value(const struct kernel_call *call, size_t index)
{
    uint32_t bits = (uint32_t)call->args.values[index];
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

typedef void add_function(unsigned char *z, const unsigned char *x, const unsigned char *y,
                          uint64_t count);

static add_function *add_of(uint64_t acl_type)
{
    switch (acl_type) {
    case ACL_TYPE_FLOAT: return add_f32;
    case ACL_TYPE_INT32: return add_i32;
    default: return add_f16;
    }
}

static enum soma_status read_i32(struct kernel_call *call, size_t index, int32_t *value,
                                 struct soma_error *error)
{
    unsigned char *from;
    enum soma_status status = kernel_span(call, index, 1, sizeof(*value), &from, error);
    if (status == SOMA_OK)
        memcpy(value, from, sizeof(*value));
    if (status == SOMA_OK && *value < 0)
        return soma_fail(error, SOMA_KERNEL_FAULT, "args",
                         "add_custom: %s is %" PRId32 " in device memory; it is at least 0",
                         call->args.row->parameters[index].name, *value);
    return status;
}

/* The tiling lies in device memory. Without tiles nothing is added. */
static enum soma_status read_tiling(struct kernel_call *call, uint64_t *count,
                                    struct soma_error *error)
{
    int32_t length = 0, tiles = 0;
    enum soma_status status = read_i32(call, 3, &length, error);
    if (status == SOMA_OK)
        status = read_i32(call, 4, &tiles, error);
    if (status == SOMA_OK)
        *count = tiles > 0 ? (uint64_t)length : 0;
    return status;
}

/* Without a count: f16, as many as the smallest of the three blocks was asked for. */
static enum soma_status read_blocks(struct kernel_call *call, uint64_t *count,
                                    struct soma_error *error)
{
    for (size_t i = 0; i < 3; i++) {
        unsigned char *first;
        enum soma_status status = kernel_span(call, i, 1, 1, &first, error);
        if (status != SOMA_OK)
            return status;
    }
    *count = soma_add_custom_count(&call->args);
    return SOMA_OK;
}

static enum soma_status run_add_custom(struct kernel_call *call, struct soma_error *error)
{
    uint64_t acl_type = ACL_TYPE_FLOAT16, count = 0;
    enum soma_status status = SOMA_OK;
    if (call->args.value_count == 3) {
        status = read_blocks(call, &count, error);
    } else if (call->args.row->parameters[3].kind == SOMA_ARG_PTR) {
        status = read_tiling(call, &count, error);
    } else {
        count = u32_value(call, 3);
        acl_type = u32_value(call, 4);
    }
    unsigned char *spans[3];
    for (size_t i = 0; i < 3 && status == SOMA_OK; i++)
        status =
            kernel_span(call, i, count, soma_add_custom_element_bytes(acl_type), &spans[i], error);
    if (status == SOMA_OK)
        add_of(acl_type)(spans[2], spans[0], spans[1], count);
    return status;
}

/* ---- fill, copy, saxpy, reduce_sum ---- */

static enum soma_status run_fill(struct kernel_call *call, struct soma_error *error)
{
    uint64_t count = call->args.values[1];
    uint32_t value = u32_value(call, 2);
    unsigned char *dst;
    enum soma_status status = kernel_span(call, 0, count, sizeof(value), &dst, error);
    if (status != SOMA_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        memcpy(dst + i * sizeof(value), &value, sizeof(value));
    return SOMA_OK;
}

static enum soma_status run_copy(struct kernel_call *call, struct soma_error *error)
{
    uint64_t size_bytes = call->args.values[2];
    unsigned char *dst, *src;
    enum soma_status status = kernel_span(call, 0, size_bytes, 1, &dst, error);
    if (status == SOMA_OK)
        status = kernel_span(call, 1, size_bytes, 1, &src, error);
    if (status != SOMA_OK)
        return status;
    if (size_bytes != 0)
        memmove(dst, src, size_bytes);
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
    return SOMA_OK;
}

static enum soma_status run_reduce_sum(struct kernel_call *call, struct soma_error *error)
{
    uint64_t count = call->args.values[2];
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
    return SOMA_OK;
}

/* ---- matmul ---- */

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
    if (counts[0] != 0)
        multiply(spans[0], spans[1], spans[2], size);
    return SOMA_OK;
}

/* ---- trap ---- */

static enum soma_status run_trap(struct kernel_call *call, struct soma_error *error)
{
    char text[256];
    return soma_fail(error, SOMA_KERNEL_FAULT, "args", "%s: this kernel always fails",
                     soma_kernel_call_text(&call->args, text, sizeof(text)));
}

/* ---- the table ---- */

kernel_run *kernel_run_built_in(const char *name)
{
    static const struct {
        const char *name;
        kernel_run *run;
    } runs[] = {
        {"add_custom", run_add_custom},
        {"fill", run_fill},
        {"copy", run_copy},
        {"saxpy", run_saxpy},
        {"matmul", run_matmul},
        {"reduce_sum", run_reduce_sum},
        {"trap", run_trap},
    };
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        if (strcmp(runs[i].name, name) == 0)
            return runs[i].run;
    }
    return NULL;
}
