/* binary16: every value there is, and rounding against the nearest of all of them. */
#include "expect.h"
#include "half.h"
#include "random.h"
#include "suites.h"

#include <math.h>
#include <string.h>

static void test_round_trip(void)
{
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        float value = half_to_float((uint16_t)bits);
        uint16_t back = half_from_float(value);
        bool is_nan = (bits & 0x7c00u) == 0x7c00u && (bits & 0x3ffu) != 0;
        bool good = is_nan ? isnan(value) && (back & 0x7c00u) == 0x7c00u && (back & 0x3ffu) != 0
                           : back == bits;
        if (!EXPECT(good, "0x%04x: %g, back 0x%04x", bits, (double)value, back))
            return;
    }
}

static void test_known(void)
{
    static const struct {
        float value;
        uint16_t half;
    } rows[] = {
        {0.0f, 0x0000},           {-0.0f, 0x8000},          {1.0f, 0x3c00},
        {-2.0f, 0xc000},          {65504.0f, 0x7bff},       {65519.0f, 0x7bff},
        {65520.0f, 0x7c00},       {1e30f, 0x7c00},          {-1e30f, 0xfc00},
        {INFINITY, 0x7c00},       {6.1035156e-05f, 0x0400}, {5.9604645e-08f, 0x0001},
        {2.9802322e-08f, 0x0000}, {2.9802326e-08f, 0x0001}, {1e-30f, 0x0000},
        {1.0009766f, 0x3c01},     {1.00048828125f, 0x3c00}, {1.00146484375f, 0x3c02},
        {6.1005e-05f, 0x03ff},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint16_t half = half_from_float(rows[i].value);
        EXPECT(half == rows[i].half, "%.10g: 0x%04x, not 0x%04x", (double)rows[i].value, half,
               rows[i].half);
    }
}

/* The half nearest to a positive finite value, ties to even, found by search. */
static uint16_t nearest(float value)
{
    uint32_t low = 0, high = 0x7c00;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (half_to_float((uint16_t)middle) <= value)
            low = middle;
        else
            high = middle;
    }
    double below = (double)half_to_float((uint16_t)low);
    double above = high == 0x7c00 ? 65536.0 : (double)half_to_float((uint16_t)high);
    double down = (double)value - below, up = above - (double)value;
    if (down != up)
        return (uint16_t)(down < up ? low : high);
    return (uint16_t)((low & 1u) == 0 ? low : high);
}

static void test_rounding(void)
{
    struct random_source random = {7};
    for (unsigned i = 0; i < 500000; i++) {
        /* Exponents around what halves reach, any fraction. */
        uint32_t bits = (uint32_t)(random_below(&random, 48) + 96) << 23 |
                        (uint32_t)random_below(&random, 1u << 23);
        float value;
        memcpy(&value, &bits, sizeof(value));
        uint16_t half = half_from_float(value), wanted = nearest(value);
        if (!EXPECT(half == wanted, "%.10g: 0x%04x, not 0x%04x", (double)value, half, wanted))
            return;
        EXPECT(half_from_float(-value) == (wanted | 0x8000u), "-%.10g", (double)value);
    }
}

static const struct soma_test tests[] = {{"round trip", test_round_trip},
                                         {"known", test_known},
                                         {"rounding", test_rounding},
                                         {NULL, NULL}};
const struct soma_suite suite_half = {"half", tests};
