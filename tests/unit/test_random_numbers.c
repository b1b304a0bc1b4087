/* Philox against published vectors; the distributions by their moments, limits and repetition. */
#include "expect.h"
#include "half.h"
#include "random_numbers.h"
#include "suites.h"

#include <math.h>
#include <string.h>

enum { COUNT = 40000 };

static void test_philox(void)
{
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t words[4];
    } rows[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         UINT64_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         UINT64_C(0x299f31d0a4093822),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t words[4];
        philox(rows[i].counter, rows[i].key, words);
        EXPECT(memcmp(words, rows[i].words, sizeof(words)) == 0, "row %zu: 0x%08x", i, words[0]);
    }
}

static uint64_t f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Element i of a result, as a number. */
static double number(enum soma_dtype dtype, const void *values, size_t i)
{
    float real;
    uint16_t half;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    const unsigned char *at = values;
    switch ((int)dtype) {
    case SOMA_DTYPE_FLOAT32: memcpy(&real, at + 4 * i, 4); return (double)real;
    case SOMA_DTYPE_FLOAT16: memcpy(&half, at + 2 * i, 2); return (double)half_to_float(half);
    case SOMA_DTYPE_BFLOAT16: memcpy(&half, at + 2 * i, 2); return (double)bfloat_to_float(half);
    case SOMA_DTYPE_INT32: memcpy(&i32, at + 4 * i, 4); return i32;
    case SOMA_DTYPE_UINT32: memcpy(&u32, at + 4 * i, 4); return u32;
    case SOMA_DTYPE_INT64: memcpy(&i64, at + 8 * i, 8); return (double)i64;
    default: memcpy(&u64, at + 8 * i, 8); return (double)u64;
    }
}

static const struct distribution_row {
    enum soma_distribution distribution;
    enum soma_dtype dtype;
    uint64_t per_block;
    uint64_t parameters[2];
    double low, high; /* low <= x < high */
    double mean, deviation;
} rows[] = {
#define UNIFORM(dtype, each, a, b, low, high)                                                      \
    {                                                                                              \
        SOMA_DISTRIBUTION_UNIFORM, SOMA_DTYPE_##dtype, each, {(uint64_t)(a), (uint64_t)(b)}, low,  \
            high, ((double)(low) + (double)(high)) / 2,                                            \
            ((double)(high) - (double)(low)) * 0.288675                                            \
    }
    UNIFORM(FLOAT32, 4, 0x3f800000, 0x40000000, 1, 2),
    UNIFORM(FLOAT16, 4, 0x3c00, 0x4000, 1, 2),
    UNIFORM(BFLOAT16, 4, 0xbf800000, 0x3f800000, -1, 1),
    UNIFORM(INT32, 4, -1000000, 1000000, -1e6, 1e6),
    UNIFORM(UINT32, 4, 7, 4000000007, 7, 4000000007),
    UNIFORM(INT64, 2, INT64_MIN, INT64_MAX, -0x1p63, 0x1p63),
    UNIFORM(UINT64, 2, 0, UINT64_MAX, 0, 0x1p64),
#undef UNIFORM
#define NORMAL(name, dtype, each, mean_bits, deviation_bits, ...)                                  \
    {                                                                                              \
        SOMA_DISTRIBUTION_##name, SOMA_DTYPE_##dtype, each, {mean_bits, deviation_bits},           \
            __VA_ARGS__                                                                            \
    }
    NORMAL(NORMAL, FLOAT32, 4, 0x40400000, 0x40000000, -9, 15, 3, 2),
    NORMAL(NORMAL, FLOAT16, 4, 0x4200, 0x4000, -9, 15, 3, 2),
    NORMAL(NORMAL, BFLOAT16, 4, 0x40400000, 0x40000000, -9, 15, 3, 2),
    NORMAL(TRUNCATED_NORMAL, FLOAT32, 1, 0x40400000, 0x40000000, -1, 7.0001, 3, 1.7592),
    NORMAL(TRUNCATED_NORMAL, FLOAT16, 1, 0x4200, 0x4000, -1, 7.0001, 3, 1.7592),
    NORMAL(TRUNCATED_NORMAL, BFLOAT16, 1, 0x40400000, 0x40000000, -1, 7.0001, 3, 1.7592),
#undef NORMAL
};

static struct engine_random random_of(const struct distribution_row *row, uint64_t seed)
{
    return (struct engine_random){.distribution = row->distribution,
                                  .dtype = row->dtype,
                                  .seed = seed,
                                  .counter = {5, 0},
                                  .per_block = row->per_block,
                                  .parameters = {row->parameters[0], row->parameters[1]}};
}

static void test_moments(void)
{
    static uint64_t values[COUNT];
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const struct distribution_row *row = &rows[r];
        struct engine_random what = random_of(row, 1234567 + r);
        double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
        random_make(&what, 0, COUNT, values);
        for (size_t i = 0; i < COUNT; i++) {
            double x = number(row->dtype, values, i);
            double d = (x - row->mean) / row->deviation;
            sum += d;
            squares += d * d;
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        /* Seven standard errors: fails by chance once in 10^11. bfloat16 has steps of 1/64 here. */
        EXPECT(fabs(sum / COUNT) < 7 / sqrt(COUNT) + 0.005, "row %zu: mean off by %g", r,
               sum / COUNT);
        EXPECT(fabs(squares / COUNT - 1) < 0.06, "row %zu: variance %g", r, squares / COUNT);
        bool is_last = row->dtype == SOMA_DTYPE_INT64 || row->dtype == SOMA_DTYPE_UINT64;
        EXPECT(low >= row->low && (high < row->high || (is_last && high <= row->high)),
               "row %zu: %g to %g", r, low, high);
        EXPECT((high - low) > 0.9 * (row->high - row->low) || row->high - row->low > 7 * 1.8,
               "row %zu: only %g to %g", r, low, high);
    }
}

/* A sequence is the same however it is cut, and another with another seed or counter. */
static void test_sequences(void)
{
    static uint64_t whole[COUNT], parts[COUNT];
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct engine_random what = random_of(&rows[r], 99);
        bool is_long = rows[r].dtype == SOMA_DTYPE_INT64 || rows[r].dtype == SOMA_DTYPE_UINT64;
        bool is_half = rows[r].dtype == SOMA_DTYPE_FLOAT16 || rows[r].dtype == SOMA_DTYPE_BFLOAT16;
        size_t size = is_long ? 8 : is_half ? 2 : 4;
        random_make(&what, 0, 1000, whole);
        random_make(&what, 0, 7, parts);
        random_make(&what, 7, 600, (char *)parts + 7 * size);
        random_make(&what, 607, 393, (char *)parts + 607 * size);
        EXPECT(memcmp(whole, parts, 1000 * size) == 0, "row %zu: parts differ", r);
        what.counter[0] += 3;
        random_make(&what, 0, 900, parts);
        EXPECT(memcmp((char *)whole + 3 * what.per_block * size, parts, 900 * size) == 0,
               "row %zu: the counter does not count blocks", r);
        what.seed++;
        random_make(&what, 0, 900, parts);
        EXPECT(memcmp((char *)whole + 3 * what.per_block * size, parts, 900 * size) != 0,
               "row %zu: the seed does not matter", r);
    }
    /* The counter has 128 bits. */
    struct engine_random what = random_of(&rows[0], 1);
    what.counter[0] = UINT64_MAX;
    random_make(&what, 0, 8, whole);
    what.counter[0] = 0;
    what.counter[1]++;
    random_make(&what, 0, 4, parts);
    EXPECT(memcmp((char *)whole + 16, parts, 16) == 0, "no carry");
}

static void test_mask(void)
{
    static unsigned char mask[COUNT / 8 + 1];
    struct engine_random what = {.distribution = SOMA_DISTRIBUTION_DROPOUT_BITMASK,
                                 .dtype = SOMA_DTYPE_FLOAT32,
                                 .seed = 3,
                                 .per_block = 4,
                                 .parameters = {f32(0.4f), 0}};
    size_t kept = 0;
    mask[COUNT / 8] = 0x55;
    random_make(&what, 0, COUNT, mask);
    for (size_t i = 0; i < COUNT; i++)
        kept += ((unsigned)mask[i / 8] >> i % 8) & 1u;
    EXPECT(fabs((double)kept / COUNT - 0.6) < 0.02, "%zu of %d kept", kept, (int)COUNT);
    EXPECT(mask[COUNT / 8] == 0x55, "wrote behind the mask");
}

/* What rounds up to max is the number below it. */
static void test_below_max(void)
{
    static uint16_t values[COUNT];
    struct engine_random what = {.distribution = SOMA_DISTRIBUTION_UNIFORM,
                                 .dtype = SOMA_DTYPE_FLOAT16,
                                 .seed = 3,
                                 .per_block = 4,
                                 .parameters = {half_from_float(-2048), half_from_float(0)}};
    size_t negative = 0;
    random_make(&what, 0, COUNT, values);
    for (size_t i = 0; i < COUNT; i++)
        negative += half_to_float(values[i]) < 0;
    EXPECT(negative == COUNT, "%zu are not below 0", COUNT - negative);
}

static const struct soma_test tests[] = {
    {"Philox", test_philox}, {"moments", test_moments},     {"sequences", test_sequences},
    {"a mask", test_mask},   {"below max", test_below_max}, {NULL, NULL},
};

const struct soma_suite suite_random_numbers = {"random_numbers", tests};
