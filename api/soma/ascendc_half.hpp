// The 16-bit floating-point types of Ascend C, for ascendc.hpp. Portable; nothing here fails.
#ifndef SOMA_ASCENDC_HALF_HPP
#define SOMA_ASCENDC_HALF_HPP

#include <cstdint>
#include <cstring>

namespace AscendC
{

namespace detail
{

inline std::uint32_t BitsOf(float value)
{
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

inline float FloatOf(std::uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

// Drop the low `shift` bits (1 to 31), to nearest, ties to even.
inline std::uint32_t RoundShift(std::uint32_t value, std::uint32_t shift)
{
    std::uint32_t unit = std::uint32_t{1} << (shift - 1);
    std::uint32_t rest = value & (unit * 2 - 1), kept = value >> shift;
    return kept + (rest > unit || (rest == unit && (kept & 1u) != 0) ? 1u : 0u);
}

// Too large becomes infinity, NaN stays NaN, tiny values become subnormal or zero.
inline std::uint16_t HalfOf(float value)
{
    std::uint32_t bits = BitsOf(value), sign = bits >> 16 & 0x8000u;
    std::uint32_t exponent = bits >> 23 & 0xffu, fraction = bits & 0x7fffffu;
    std::uint32_t magnitude = 0;
    if (exponent == 0xff)
        magnitude = fraction != 0 ? 0x7e00u : 0x7c00u;
    else if (exponent >= 143)
        magnitude = 0x7c00u;
    else if (exponent >= 113)
        magnitude = RoundShift((exponent - 112) << 23 | fraction, 13);
    else if (exponent >= 102)
        magnitude = RoundShift(fraction | 0x800000u, 126 - exponent);
    return static_cast<std::uint16_t>(sign | magnitude);
}

inline float FloatOfHalf(std::uint16_t half)
{
    std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1fu;
    std::uint32_t fraction = half & 0x3ffu;
    if (exponent == 31)
        return FloatOf(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return FloatOf(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = static_cast<float>(fraction) / 16777216.0f; // exact
    return sign != 0 ? -magnitude : magnitude;
}

} // namespace detail

// IEEE 754 binary16. Arithmetic is that of float; storing it rounds to nearest, ties to even.
class half
{
  public:
    half() = default;
    half(float value) : bits_(detail::HalfOf(value))
    {
    }
    operator float() const
    {
        return detail::FloatOfHalf(bits_);
    }

  private:
    std::uint16_t bits_;
};

// The upper half of a float; rounded to nearest, ties to even. Kept and copied, not computed with.
class bfloat16_t
{
  public:
    bfloat16_t() = default;
    bfloat16_t(float value)
    {
        std::uint32_t bits = detail::BitsOf(value);
        bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
        bits_ =
            static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40u : detail::RoundShift(bits, 16));
    }
    operator float() const
    {
        return detail::FloatOf(static_cast<std::uint32_t>(bits_) << 16);
    }

  private:
    std::uint16_t bits_;
};

} // namespace AscendC

#endif
