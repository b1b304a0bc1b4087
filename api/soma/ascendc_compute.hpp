// DataCopy and the compute calls of ascendc.hpp, which includes this file.
//
// Counts are elements. All tensors of a call have at least that many, else it throws AscendC::Error
// and nothing is written. Copies are multiples of 32 bytes at addresses that are multiples of 32,
// as on a device. Compute calls need tensors in UB; source and destination may be the same.
#ifndef SOMA_ASCENDC_COMPUTE_HPP
#define SOMA_ASCENDC_COMPUTE_HPP

#include "soma/ascendc_tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace AscendC
{

namespace detail
{

template <typename T>
inline T *Room(const char *call, const LocalTensor<T> &tensor, std::uint64_t count)
{
    if (count > tensor.GetSize())
        Refuse(std::string(call) + ": " + std::to_string(count) + " elements, but a tensor has " +
               std::to_string(tensor.GetSize()));
    return tensor.GetPhyAddr();
}

template <typename T>
inline T *Aligned(const char *call, const LocalTensor<T> &tensor, std::uint64_t count)
{
    if (count * sizeof(T) % BLOCK_BYTES != 0 || tensor.GetAddress() % BLOCK_BYTES != 0)
        Refuse(std::string(call) + ": " + std::to_string(count * sizeof(T)) + " bytes at " +
               std::to_string(tensor.GetAddress()) + ": both must be multiples of 32");
    return Room(call, tensor, count);
}

template <typename T>
inline T *Vector(const char *call, const LocalTensor<T> &tensor, std::int32_t count)
{
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float> ||
                      std::is_same_v<T, std::int32_t>,
                  "compute calls are there for half, float and int32_t");
    if (count < 0)
        Refuse(std::string(call) + ": " + std::to_string(count) + " elements");
    T *elements = Room(call, tensor, static_cast<std::uint64_t>(count));
    if (tensor.GetMemory() != SOMA_TMEMORY_UB)
        Refuse(std::string(call) + ": a tensor is not in UB, where the vector unit works");
    return elements;
}

// int32_t as uint32_t, which wraps; half as float, which is rounded when it is stored.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, float>;

template <typename T, typename Operation>
inline void Each(T *dst, const T *a, const T *b, std::int32_t count, Operation operation)
{
    for (std::int32_t i = 0; i < count; i++)
        dst[i] = static_cast<T>(operation(static_cast<Wide<T>>(a[i]), static_cast<Wide<T>>(b[i])));
}

template <typename T, typename Operation>
inline void EachScalar(T *dst, const T *a, T scalar, std::int32_t count, Operation operation)
{
    for (std::int32_t i = 0; i < count; i++)
        dst[i] =
            static_cast<T>(operation(static_cast<Wide<T>>(a[i]), static_cast<Wide<T>>(scalar)));
}

// So that a scalar does not decide the type of a call: Adds(halves, halves, 1.0f, n).
template <typename T> struct Same {
    using type = T;
};

} // namespace detail

// ---- copies ----

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, std::uint32_t count)
{
    T *to = detail::Aligned("DataCopy", dst, count);
    std::memcpy(to, src.At(0, count), count * sizeof(T));
}

template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, std::uint32_t count)
{
    const T *from = detail::Aligned("DataCopy", src, count);
    std::memcpy(dst.At(0, count), from, count * sizeof(T));
}

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, std::uint32_t count)
{
    T *to = detail::Aligned("DataCopy", dst, count);
    const T *from = detail::Aligned("DataCopy", src, count);
    std::memmove(to, from, count * sizeof(T));
}

// ---- two tensors ----

#define SOMA_ASCENDC_BINARY(Name, sign)                                                            \
    template <typename T>                                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,   \
              std::int32_t count)                                                                  \
    {                                                                                              \
        const T *a = detail::Vector(#Name, src0, count);                                           \
        const T *b = detail::Vector(#Name, src1, count);                                           \
        detail::Each(detail::Vector(#Name, dst, count), a, b, count,                               \
                     [](auto x, auto y) { return x sign y; });                                     \
    }
SOMA_ASCENDC_BINARY(Add, +)
SOMA_ASCENDC_BINARY(Sub, -)
SOMA_ASCENDC_BINARY(Mul, *)
#undef SOMA_ASCENDC_BINARY

// ---- a tensor and a scalar ----

#define SOMA_ASCENDC_SCALAR(Name, sign)                                                            \
    template <typename T>                                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                \
              typename detail::Same<T>::type scalar, std::int32_t count)                           \
    {                                                                                              \
        const T *a = detail::Vector(#Name, src, count);                                            \
        detail::EachScalar(detail::Vector(#Name, dst, count), a, scalar, count,                    \
                           [](auto x, auto y) { return x sign y; });                               \
    }
SOMA_ASCENDC_SCALAR(Adds, +)
SOMA_ASCENDC_SCALAR(Muls, *)
#undef SOMA_ASCENDC_SCALAR

// Every element becomes the scalar.
template <typename T>
void Duplicate(const LocalTensor<T> &dst, typename detail::Same<T>::type scalar, std::int32_t count)
{
    T *to = detail::Vector("Duplicate", dst, count);
    std::fill(to, to + count, scalar);
}

} // namespace AscendC

#endif
