// Errors, positions, LocalTensor and GlobalTensor of ascendc.hpp, which includes this file.
#ifndef SOMA_ASCENDC_TENSOR_HPP
#define SOMA_ASCENDC_TENSOR_HPP

#include "acl/acl_base.h"
#include "acl/acl_rt_error.h"
#include "soma/ascendc_half.hpp"
#include "soma/tpipe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace AscendC
{

// What a refusal throws.
class Error : public std::runtime_error
{
  public:
    Error(aclError code, const std::string &text) : std::runtime_error(text), code_(code)
    {
    }
    aclError Code() const noexcept
    {
        return code_;
    }

  private:
    aclError code_;
};

// Ascend C's positions. Those that are no memory of a core (GM, SPM, C2PIPE2GM, C2PIPE2LOCAL) do
// not compile as the position of an object.
enum class TPosition : std::uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;

namespace detail
{

inline void Check(aclError error)
{
    if (error == ACL_SUCCESS)
        return;
    const char *text = aclGetRecentErrMsg();
    throw Error(error, text != nullptr ? text : "error " + std::to_string(error));
}

[[noreturn]] inline void Refuse(const std::string &text)
{
    throw Error(ACL_ERROR_INVALID_PARAM, text);
}

constexpr int NO_POSITION = -1;

constexpr int NumberOf(TPosition position)
{
    switch (position) {
    case TPosition::VECIN: return SOMA_TPOSITION_VECIN;
    case TPosition::VECOUT: return SOMA_TPOSITION_VECOUT;
    case TPosition::VECCALC: return SOMA_TPOSITION_VECCALC;
    case TPosition::A1: return SOMA_TPOSITION_A1;
    case TPosition::B1: return SOMA_TPOSITION_B1;
    case TPosition::C1: return SOMA_TPOSITION_C1;
    case TPosition::TSCM: return SOMA_TPOSITION_TSCM;
    case TPosition::A2: return SOMA_TPOSITION_A2;
    case TPosition::B2: return SOMA_TPOSITION_B2;
    case TPosition::CO1: return SOMA_TPOSITION_CO1;
    case TPosition::C2: return SOMA_TPOSITION_C2;
    case TPosition::CO2: return SOMA_TPOSITION_CO2;
    case TPosition::GM:
    case TPosition::SPM:
    case TPosition::C2PIPE2GM:
    case TPosition::C2PIPE2LOCAL:
    case TPosition::MAX: break;
    }
    return NO_POSITION;
}

template <typename T> struct Dtype {
    static_assert(sizeof(T) == 0, "no type of on-chip elements: int8_t to uint64_t, half, "
                                  "bfloat16_t, float");
};
#define SOMA_ASCENDC_DTYPE(type, name)                                                             \
    template <> struct Dtype<type> {                                                               \
        static constexpr soma_tdtype value = SOMA_TDTYPE_##name;                                   \
    };
SOMA_ASCENDC_DTYPE(std::int8_t, INT8)
SOMA_ASCENDC_DTYPE(std::uint8_t, UINT8)
SOMA_ASCENDC_DTYPE(std::int16_t, INT16)
SOMA_ASCENDC_DTYPE(std::uint16_t, UINT16)
SOMA_ASCENDC_DTYPE(std::int32_t, INT32)
SOMA_ASCENDC_DTYPE(std::uint32_t, UINT32)
SOMA_ASCENDC_DTYPE(std::int64_t, INT64)
SOMA_ASCENDC_DTYPE(std::uint64_t, UINT64)
SOMA_ASCENDC_DTYPE(half, FLOAT16)
SOMA_ASCENDC_DTYPE(bfloat16_t, BFLOAT16)
SOMA_ASCENDC_DTYPE(float, FLOAT32)
#undef SOMA_ASCENDC_DTYPE

constexpr std::uint8_t UNWRITTEN = 0xa5;
constexpr std::size_t BLOCK_BYTES = 32; // unit of addresses and of copies

// The memories of one pipe. Tensors keep it alive, so none of them ever dangles.
struct Core {
    soma_tpipe pipe{};
    std::array<std::vector<std::uint8_t>, SOMA_TMEMORY_COUNT> memories;

    void Fill(soma_tmemory memory, std::uint64_t address, std::uint64_t len)
    {
        auto &bytes = memories[static_cast<std::size_t>(memory)];
        std::uint64_t from = std::min<std::uint64_t>(address, bytes.size());
        std::uint64_t to = std::min<std::uint64_t>(address + len, bytes.size());
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                  bytes.begin() + static_cast<std::ptrdiff_t>(to), UNWRITTEN);
    }
};
using CorePtr = std::shared_ptr<Core>;

[[noreturn]] inline void RefuseUnready(const char *kind, const char *name)
{
    Refuse(std::string(kind) + (name != nullptr ? " " + std::string(name) : "") +
           ": it was never initialised: call InitBuffer or InitBufPool first");
}

} // namespace detail

// Elements in an on-chip memory. A copy is the same memory. Made by TQue and TBuf.
template <typename T> class LocalTensor
{
  public:
    using PrimType = T;

    LocalTensor() = default;
    LocalTensor(detail::CorePtr core, soma_tmemory memory, TPosition position,
                std::uint64_t address, std::uint64_t elements)
        : core_(std::move(core)), memory_(memory), position_(position), address_(address),
          elements_(elements)
    {
        auto &bytes = core_->memories[static_cast<std::size_t>(memory)];
        if (address > bytes.size() || elements * sizeof(T) > bytes.size() - address)
            detail::Refuse("LocalTensor: " + std::to_string(elements * sizeof(T)) + " bytes at " +
                           std::to_string(address) + " leave the memory of " +
                           std::to_string(bytes.size()) + " bytes");
    }

    T GetValue(std::uint32_t index) const
    {
        T value;
        std::memcpy(&value, At(index), sizeof(value));
        return value;
    }
    void SetValue(std::uint32_t index, T value) const
    {
        std::memcpy(At(index), &value, sizeof(value));
    }

    // Elements; and to fewer of them.
    std::uint32_t GetSize() const
    {
        return static_cast<std::uint32_t>(elements_);
    }
    void SetSize(std::uint32_t elements)
    {
        if (elements > elements_)
            detail::Refuse("LocalTensor: SetSize(" + std::to_string(elements) + ") of " +
                           std::to_string(elements_) + " elements: a tensor cannot grow");
        elements_ = elements;
    }
    // Bytes.
    std::uint32_t GetLength() const
    {
        return static_cast<std::uint32_t>(elements_ * sizeof(T));
    }
    // Where the bytes are in this process, and where they would be on a device.
    T *GetPhyAddr(std::uint32_t offset = 0) const
    {
        return reinterpret_cast<T *>(Bytes() + offset * sizeof(T));
    }
    std::uint64_t GetAddress() const
    {
        return address_;
    }
    TPosition GetPosition() const
    {
        return position_;
    }
    soma_tmemory GetMemory() const
    {
        return memory_;
    }

    // The tensor from an element on.
    LocalTensor operator[](std::uint32_t offset) const
    {
        if (offset > elements_)
            detail::Refuse("LocalTensor: offset " + std::to_string(offset) + " of " +
                           std::to_string(elements_) + " elements");
        LocalTensor rest = *this;
        rest.address_ += offset * sizeof(T);
        rest.elements_ -= offset;
        return rest;
    }
    // The element itself.
    T &operator()(std::uint32_t index) const
    {
        return *reinterpret_cast<T *>(At(index));
    }
    // The same bytes as elements of another type.
    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        if (core_ == nullptr)
            return LocalTensor<U>();
        LocalTensor<U> other(core_, memory_, position_, address_,
                             elements_ * sizeof(T) / sizeof(U));
        other.SetTensor(tensor_);
        return other;
    }

    // Which tensor of the service it is; of a TBuf: id 0.
    const soma_ttensor &GetTensor() const
    {
        return tensor_;
    }
    void SetTensor(const soma_ttensor &tensor)
    {
        tensor_ = tensor;
    }

  private:
    std::uint8_t *Bytes() const
    {
        if (core_ == nullptr)
            detail::Refuse("LocalTensor: it has no memory: AllocTensor, DeQue or Get give some");
        return core_->memories[static_cast<std::size_t>(memory_)].data() + address_;
    }
    std::uint8_t *At(std::uint64_t index) const
    {
        if (index >= elements_)
            detail::Refuse("LocalTensor: element " + std::to_string(index) + " of " +
                           std::to_string(elements_));
        return Bytes() + index * sizeof(T);
    }

    detail::CorePtr core_;
    soma_tmemory memory_ = SOMA_TMEMORY_UB;
    TPosition position_ = TPosition::MAX;
    std::uint64_t address_ = 0, elements_ = 0;
    soma_ttensor tensor_{};
};

// Elements in global memory: here memory of this process, which the caller owns.
template <typename T> class GlobalTensor
{
  public:
    using PrimType = T;

    // elements 0: how many there are is not known, and nothing checks that accesses stay inside.
    void SetGlobalBuffer(T *buffer, std::uint64_t elements = 0)
    {
        buffer_ = buffer;
        elements_ = elements;
    }
    T GetValue(std::uint64_t index) const
    {
        return *At(index, 1);
    }
    void SetValue(std::uint64_t index, T value) const
    {
        *At(index, 1) = value;
    }
    T &operator()(std::uint64_t index) const
    {
        return *At(index, 1);
    }
    std::uint64_t GetSize() const
    {
        return elements_;
    }
    const T *GetPhyAddr(std::uint64_t offset = 0) const
    {
        return buffer_ + offset;
    }
    GlobalTensor operator[](std::uint64_t offset) const
    {
        GlobalTensor rest;
        if (elements_ != 0 && offset >= elements_)
            detail::Refuse("GlobalTensor: offset " + std::to_string(offset) + " of " +
                           std::to_string(elements_) + " elements");
        rest.SetGlobalBuffer(buffer_ + offset, elements_ != 0 ? elements_ - offset : 0);
        return rest;
    }
    // The place of `count` elements from index on.
    T *At(std::uint64_t index, std::uint64_t count) const
    {
        if (buffer_ == nullptr)
            detail::Refuse("GlobalTensor: it has no memory: call SetGlobalBuffer");
        if (elements_ != 0 && (index > elements_ || count > elements_ - index))
            detail::Refuse("GlobalTensor: " + std::to_string(count) + " elements from " +
                           std::to_string(index) + " on leave its " + std::to_string(elements_));
        return buffer_ + index;
    }

  private:
    T *buffer_ = nullptr;
    std::uint64_t elements_ = 0;
};

} // namespace AscendC

#endif
