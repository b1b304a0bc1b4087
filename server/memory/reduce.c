/* One loop for each kind of element: what it is stored as, and what it is reckoned with. */
#include "reduce.h"

#include "half.h"

#include <math.h>
#include <string.h>

/* Integers: sums in the unsigned type, where they wrap. */
#define REDUCE_INTEGERS(name, type, sum_type)                                                      \
    static void name(enum soma_reduce_kind kind, unsigned char *to, const unsigned char *from,     \
                     uint64_t count)                                                               \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a, b;                                                                             \
            memcpy(&a, to + i * sizeof(a), sizeof(a));                                             \
            memcpy(&b, from + i * sizeof(b), sizeof(b));                                           \
            sum_type sum = (sum_type)((sum_type)a + (sum_type)b);                                  \
            type more = a > b ? a : b, less = a > b ? b : a;                                       \
            const void *result = kind == SOMA_REDUCE_KIND_SUM   ? (const void *)&sum               \
                                 : kind == SOMA_REDUCE_KIND_MAX ? (const void *)&more              \
                                                                : (const void *)&less;             \
            memcpy(to + i * sizeof(a), result, sizeof(a));                                         \
        }                                                                                          \
    }

REDUCE_INTEGERS(reduce_i8, int8_t, uint8_t)
REDUCE_INTEGERS(reduce_u8, uint8_t, uint8_t)
REDUCE_INTEGERS(reduce_i16, int16_t, uint16_t)
REDUCE_INTEGERS(reduce_u16, uint16_t, uint16_t)
REDUCE_INTEGERS(reduce_i32, int32_t, uint32_t)
REDUCE_INTEGERS(reduce_u32, uint32_t, uint32_t)
REDUCE_INTEGERS(reduce_i64, int64_t, uint64_t)
REDUCE_INTEGERS(reduce_u64, uint64_t, uint64_t)

static float combine(enum soma_reduce_kind kind, float a, float b)
{
    switch (kind) {
    case SOMA_REDUCE_KIND_MAX: return fmaxf(a, b);
    case SOMA_REDUCE_KIND_MIN: return fminf(a, b);
    case SOMA_REDUCE_KIND_SUM:
    default: return a + b;
    }
}

static void reduce_f32(enum soma_reduce_kind kind, unsigned char *to, const unsigned char *from,
                       uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        float a, b;
        memcpy(&a, to + i * sizeof(a), sizeof(a));
        memcpy(&b, from + i * sizeof(b), sizeof(b));
        a = combine(kind, a, b);
        memcpy(to + i * sizeof(a), &a, sizeof(a));
    }
}

/* A float holds twice the bits of either and two more: rounding twice is rounding once. */
#define REDUCE_HALVES(name, widen, narrow)                                                         \
    static void name(enum soma_reduce_kind kind, unsigned char *to, const unsigned char *from,     \
                     uint64_t count)                                                               \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            uint16_t a, b;                                                                         \
            memcpy(&a, to + i * sizeof(a), sizeof(a));                                             \
            memcpy(&b, from + i * sizeof(b), sizeof(b));                                           \
            a = narrow(combine(kind, widen(a), widen(b)));                                         \
            memcpy(to + i * sizeof(a), &a, sizeof(a));                                             \
        }                                                                                          \
    }

REDUCE_HALVES(reduce_f16, half_to_float, half_from_float)
REDUCE_HALVES(reduce_bf16, bfloat_to_float, bfloat_from_float)

void reduce_elements(const struct engine_reduce *what, unsigned char *to, const unsigned char *from)
{
    static const struct {
        void (*reduce)(enum soma_reduce_kind kind, unsigned char *to, const unsigned char *from,
                       uint64_t count);
        unsigned size_bytes;
    } loops[] = {
        [SOMA_DTYPE_INT8] = {reduce_i8, 1},     [SOMA_DTYPE_UINT8] = {reduce_u8, 1},
        [SOMA_DTYPE_INT16] = {reduce_i16, 2},   [SOMA_DTYPE_UINT16] = {reduce_u16, 2},
        [SOMA_DTYPE_INT32] = {reduce_i32, 4},   [SOMA_DTYPE_UINT32] = {reduce_u32, 4},
        [SOMA_DTYPE_INT64] = {reduce_i64, 8},   [SOMA_DTYPE_UINT64] = {reduce_u64, 8},
        [SOMA_DTYPE_FLOAT16] = {reduce_f16, 2}, [SOMA_DTYPE_BFLOAT16] = {reduce_bf16, 2},
        [SOMA_DTYPE_FLOAT32] = {reduce_f32, 4},
    };
    loops[what->dtype].reduce(what->kind, to, from,
                              what->size_bytes / loops[what->dtype].size_bytes);
}
