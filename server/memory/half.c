/* binary16 <-> binary32 on their bit patterns. */
#include "half.h"

#include <string.h>

#define HALF_EXPONENT_MAX 31u
#define HALF_INFINITY 0x7c00u
#define HALF_QUIET_NAN 0x7e00u

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint32_t fraction = half & 0x3ffu;
    if (exponent == HALF_EXPONENT_MAX)
        return float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    /* Zero or subnormal: fraction * 2^-24, exact in a float. */
    float magnitude = (float)fraction * (1.0f / 16777216.0f);
    return sign != 0 ? -magnitude : magnitude;
}

/* Drop the low `shift` bits of value, to nearest, ties to even. */
static uint32_t round_shift(uint32_t value, unsigned shift)
{
    uint32_t half_unit = UINT32_C(1) << (shift - 1);
    uint32_t rest = value & (half_unit * 2 - 1);
    uint32_t kept = value >> shift;
    return kept + (rest > half_unit || (rest == half_unit && (kept & 1u) != 0));
}

uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t exponent = bits >> 23 & 0xffu;
    uint32_t fraction = bits & 0x7fffffu;
    if (exponent == 0xff)
        return (uint16_t)(sign | (fraction != 0 ? HALF_QUIET_NAN : HALF_INFINITY));
    if (exponent >= 113 + 30)
        return (uint16_t)(sign | HALF_INFINITY);
    if (exponent >= 113) /* a carry out of the fraction raises the exponent, up to infinity */
        return (uint16_t)(sign | round_shift((exponent - 112) << 23 | fraction, 13));
    if (exponent < 102) /* below half the smallest subnormal */
        return (uint16_t)sign;
    return (uint16_t)(sign | round_shift(fraction | 0x800000u, 126 - exponent));
}

float bfloat_to_float(uint16_t bfloat)
{
    return float_of_bits((uint32_t)bfloat << 16);
}

uint16_t bfloat_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)round_shift(bits, 16);
}
