/* Reductions: each element type at its edges. */
#include "expect.h"
#include "reduce.h"
#include "suites.h"

#include <string.h>

static const struct reduce_row {
    enum soma_dtype dtype;
    unsigned size_bytes;
    uint64_t a, b;
    uint64_t sum, max, min;
} rows[] = {
    {SOMA_DTYPE_INT8, 1, 0x7f, 0x01, 0x80, 0x7f, 0x01},
    {SOMA_DTYPE_INT8, 1, 0xff, 0x01, 0x00, 0x01, 0xff},
    {SOMA_DTYPE_UINT8, 1, 0xff, 0x02, 0x01, 0xff, 0x02},
    {SOMA_DTYPE_INT16, 2, 0x8000, 0xffff, 0x7fff, 0xffff, 0x8000},
    {SOMA_DTYPE_UINT16, 2, 0x8000, 0xffff, 0x7fff, 0xffff, 0x8000},
    {SOMA_DTYPE_INT32, 4, 0x7fffffff, 1, 0x80000000, 0x7fffffff, 1},
    {SOMA_DTYPE_INT32, 4, 0xfffffffe, 1, 0xffffffff, 1, 0xfffffffe},
    {SOMA_DTYPE_UINT32, 4, 0xfffffffe, 1, 0xffffffff, 0xfffffffe, 1},
    {SOMA_DTYPE_INT64, 8, UINT64_MAX, 1, 0, 1, UINT64_MAX},
    {SOMA_DTYPE_UINT64, 8, UINT64_MAX, 1, 0, UINT64_MAX, 1},
    {SOMA_DTYPE_FLOAT32, 4, 0x3f800000, 0xc0000000, 0xbf800000, 0x3f800000, 0xc0000000},
    {SOMA_DTYPE_FLOAT32, 4, 0x7fc00000, 0x3f800000, 0x7fc00000, 0x3f800000, 0x3f800000},
    {SOMA_DTYPE_FLOAT16, 2, 0x3c00, 0x4000, 0x4200, 0x4000, 0x3c00},
    {SOMA_DTYPE_FLOAT16, 2, 0x6800, 0x3c00, 0x6800, 0x6800, 0x3c00}, /* 2048 + 1: to even */
    {SOMA_DTYPE_FLOAT16, 2, 0x7bff, 0x7bff, 0x7c00, 0x7bff, 0x7bff},
    {SOMA_DTYPE_BFLOAT16, 2, 0x3f80, 0x4000, 0x4040, 0x4000, 0x3f80},
    {SOMA_DTYPE_BFLOAT16, 2, 0x4380, 0x3f80, 0x4380, 0x4380, 0x3f80}, /* 256 + 1: to even */
    {SOMA_DTYPE_BFLOAT16, 2, 0x4381, 0x3f80, 0x4382, 0x4381, 0x3f80}, /* 258 + 1: to even */
};

static void check(const struct reduce_row *row, enum soma_reduce_kind kind, uint64_t want)
{
    /* Three elements at an odd address; what lies around them stays. */
    unsigned char to[3 * 8 + 2], from[3 * 8];
    memset(to, 0xee, sizeof(to));
    for (unsigned i = 0; i < 3; i++) {
        memcpy(to + 1 + i * row->size_bytes, &row->a, row->size_bytes);
        memcpy(from + i * row->size_bytes, &row->b, row->size_bytes);
    }
    struct engine_reduce what = {0, 0, UINT64_C(3) * row->size_bytes, kind, row->dtype};
    reduce_elements(&what, to + 1, from);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t got = 0;
        memcpy(&got, to + 1 + i * row->size_bytes, row->size_bytes);
        EXPECT(got == want, "row %td, kind %d: 0x%llx, not 0x%llx", row - rows, (int)kind,
               (unsigned long long)got, (unsigned long long)want);
    }
    EXPECT(to[0] == 0xee && to[1 + 3 * row->size_bytes] == 0xee, "row %td: wrote outside",
           row - rows);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(&rows[i], SOMA_REDUCE_KIND_SUM, rows[i].sum);
        check(&rows[i], SOMA_REDUCE_KIND_MAX, rows[i].max);
        check(&rows[i], SOMA_REDUCE_KIND_MIN, rows[i].min);
    }
}

static const struct soma_test tests[] = {
    {"every element type", test_rows},
    {NULL, NULL},
};

const struct soma_suite suite_reduce = {"reduce", tests};
