/* Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3") and the distributions. */
#include "random_numbers.h"

#include "half.h"

#include <math.h>
#include <string.h>

#define ROUNDS 10
#define TWO_PI 6.283185307179586476925
#define TRUNCATED_AT 2.0 /* standard deviations */

void philox(const uint32_t counter[4], uint64_t key, uint32_t words[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t a = (uint64_t)c[0] * 0xd2511f53u, b = (uint64_t)c[2] * 0xcd9e8d57u;
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof(c));
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    memcpy(words, c, sizeof(c));
}

/* The words of block `index` of a sequence; attempt: a sequence beside it, 0 the first. */
static void block(const struct engine_random *what, uint64_t index, uint32_t attempt,
                  uint32_t words[4])
{
    uint64_t low = what->counter[0] + index;
    uint64_t high = what->counter[1] + (low < index);
    const uint32_t counter[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                                 (uint32_t)(high >> 32) ^ attempt << 24};
    philox(counter, what->seed, words);
}

/* ---- numbers of the element types ---- */

static double float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static double parameter(const struct engine_random *what, unsigned index)
{
    uint64_t bits = what->parameters[index];
    return what->dtype == SOMA_DTYPE_FLOAT16 ? (double)half_to_float((uint16_t)bits)
                                             : float_of((uint32_t)bits);
}

static uint32_t bits_of(enum soma_dtype dtype, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    if (dtype == SOMA_DTYPE_FLOAT16)
        return half_from_float(narrow);
    return dtype == SOMA_DTYPE_BFLOAT16 ? bfloat_from_float(narrow) : bits;
}

static double value_of(enum soma_dtype dtype, uint32_t bits)
{
    if (dtype == SOMA_DTYPE_FLOAT16)
        return (double)half_to_float((uint16_t)bits);
    return dtype == SOMA_DTYPE_BFLOAT16 ? (double)bfloat_to_float((uint16_t)bits) : float_of(bits);
}

/* The next number below. */
static uint32_t bits_below(enum soma_dtype dtype, uint32_t bits)
{
    uint32_t sign = dtype == SOMA_DTYPE_FLOAT32 ? UINT32_C(1) << 31 : UINT32_C(1) << 15;
    if ((bits & (sign - 1)) == 0)
        return sign | 1;
    return (bits & sign) != 0 ? bits + 1 : bits - 1;
}

static void store(unsigned char *to, uint64_t index, size_t size, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    uint16_t half = (uint16_t)bits;
    const void *from = size == 8 ? (const void *)&bits : size == 4 ? (void *)&word : (void *)&half;
    memcpy(to + index * size, from, size);
}

static size_t size_of(enum soma_dtype dtype)
{
    bool is_long = dtype == SOMA_DTYPE_INT64 || dtype == SOMA_DTYPE_UINT64;
    bool is_half = dtype == SOMA_DTYPE_FLOAT16 || dtype == SOMA_DTYPE_BFLOAT16;
    return is_long ? 8 : is_half ? 2 : 4;
}

/* ---- the distributions: element `index` of a sequence from the words of its block ---- */

/* The high half of a product of 64-bit numbers. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

static uint64_t uniform_integer(const struct engine_random *what, uint64_t index,
                                const uint32_t words[4])
{
    uint64_t min = what->parameters[0], span = what->parameters[1] - min;
    if (size_of(what->dtype) == 4)
        return min + ((uint64_t)words[index % 4] * (uint32_t)span >> 32);
    unsigned at = (unsigned)(index % 2) * 2;
    return min + multiply_high((uint64_t)words[at + 1] << 32 | words[at], span);
}

static uint64_t uniform_real(const struct engine_random *what, uint64_t index,
                             const uint32_t words[4])
{
    double min = parameter(what, 0), max = parameter(what, 1);
    double part = (words[index % 4] >> 8) * 0x1p-24;
    uint32_t bits = bits_of(what->dtype, min + part * (max - min));
    if (min < max && value_of(what->dtype, bits) >= max) /* rounded up */
        bits = bits_below(what->dtype, bits);
    return bits;
}

/* Of the four standard normal numbers of a block. */
static double normal(const uint32_t words[4], unsigned index)
{
    const uint32_t *pair = words + index / 2 * 2;
    double radius = sqrt(-2.0 * log((pair[0] + 0.5) * 0x1p-32));
    double angle = TWO_PI * (pair[1] * 0x1p-32);
    return radius * (index % 2 == 0 ? cos(angle) : sin(angle));
}

static uint64_t any_normal(const struct engine_random *what, uint64_t index,
                           const uint32_t words[4])
{
    return bits_of(what->dtype,
                   parameter(what, 0) + parameter(what, 1) * normal(words, (unsigned)(index % 4)));
}

/* A block an element: the first of its numbers that lies within. One in 20 does not. */
static uint64_t truncated_normal(const struct engine_random *what, uint64_t index,
                                 const uint32_t first_words[4])
{
    uint32_t words[4];
    double number = 0;
    memcpy(words, first_words, sizeof(words));
    for (uint32_t attempt = 1; attempt < 256; attempt++) {
        for (unsigned i = 0; i < 4; i++) {
            number = normal(words, i);
            if (fabs(number) <= TRUNCATED_AT)
                return bits_of(what->dtype, parameter(what, 0) + parameter(what, 1) * number);
        }
        block(what, index, attempt, words);
    }
    return bits_of(what->dtype, parameter(what, 0)); /* one in 10^1300 */
}

static void make_mask(const struct engine_random *what, uint64_t first, uint64_t count,
                      unsigned char *to)
{
    double rate = parameter(what, 0);
    uint32_t words[4];
    memset(to, 0, (size_t)(count / 8 + (count % 8 != 0)));
    for (uint64_t i = 0; i < count; i++) {
        if (i % 4 == 0)
            block(what, (first + i) / 4, 0, words);
        if (words[i % 4] * 0x1p-32 >= rate)
            to[i / 8] = (unsigned char)(to[i / 8] | 1u << i % 8);
    }
}

void random_make(const struct engine_random *what, uint64_t first, uint64_t count, void *to)
{
    typedef uint64_t make_fn(const struct engine_random *, uint64_t, const uint32_t[4]);
    bool is_real = what->dtype == SOMA_DTYPE_FLOAT32 || what->dtype == SOMA_DTYPE_FLOAT16 ||
                   what->dtype == SOMA_DTYPE_BFLOAT16;
    make_fn *make = what->distribution == SOMA_DISTRIBUTION_NORMAL             ? any_normal
                    : what->distribution == SOMA_DISTRIBUTION_TRUNCATED_NORMAL ? truncated_normal
                    : is_real                                                  ? uniform_real
                                                                               : uniform_integer;
    size_t size = size_of(what->dtype);
    uint32_t words[4] = {0};
    if (what->distribution == SOMA_DISTRIBUTION_DROPOUT_BITMASK) {
        make_mask(what, first, count, to);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        if (i == 0 || index % what->per_block == 0)
            block(what, index / what->per_block, 0, words);
        store(to, i, size, make(what, index, words));
    }
}
