// Ascend C's on-chip memory on the host: the Init and Process part of a kernel class compiles with
// g++ or clang++ (C++17) and runs against the service. Header only; link libascendcl.
//
// TPipe, TQue, TQueBind, TBuf and TBufPool have Ascend C's members, and each of them asks the
// service (soma/tpipe.h; rules: schema/ONCHIP.md). The memories themselves stand in this process,
// one set for each TPipe: a LocalTensor lies there at the address that the service planned, so
// buffers that share memory on a device share it here. DataCopy and the compute calls of half,
// float and int32_t do their work on it at once, one element after another.
//
// What is not as on a device:
// - A mistake is an exception instead of a hang: AscendC::Error, a std::runtime_error. Its what()
//   is the service's text with the reason in brackets, such as "(MEMORY_OVERFLOW)"; Code() is the
//   aclError. Mistakes that are found here, such as an index outside of a tensor, have 100000.
// - A kernel runs as one block of the calling thread: GetBlockIdx() is 0, GetBlockNum() is 1.
//   Everything is done when the call returns; PipeBarrier does nothing.
// - Each TPipe is one pipe of its own; it ends with its TPipe. Objects are made at the service when
//   they are first initialised. One that is initialised by another TPipe is made there anew.
// - Constructors take a name for messages and layouts, which Ascend C's do not have; it is a string
//   that outlives the object.
// - Memory that was never written, and that of a Reset, is filled with 0xA5.
// - int32_t wraps on overflow; half is rounded to nearest, ties to even, after each operation.
//
// Thread-safety: different pipes may be used by different threads at the same time; a pipe and its
// objects by one thread at a time.
#ifndef SOMA_ASCENDC_HPP
#define SOMA_ASCENDC_HPP

#include "soma/ascendc_tensor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

// Words of kernel sources that mean nothing on the host.
#ifndef GM_ADDR
#define GM_ADDR std::uint8_t *
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif

namespace AscendC
{

class TPipe;
template <TPosition pos, std::uint32_t bufIDSize> class TBufPool;

// A queue of buffers between two positions; its memory is that of src, of dst where src is GM.
//   depth  tensors between EnQue and DeQue; 0: used in place, holds one
template <TPosition src, TPosition dst, std::int32_t depth, auto mask = 0> class TQueBind
{
  public:
    static constexpr TPosition position = src == TPosition::GM ? dst : src;
    static_assert(detail::NumberOf(position) != detail::NO_POSITION,
                  "this TPosition has no on-chip memory");
    static_assert(depth >= 0, "the depth of a queue is at least 0");

    explicit TQueBind(const char *name = nullptr) : name_(name)
    {
    }

    template <typename T> LocalTensor<T> AllocTensor()
    {
        soma_ttensor tensor;
        Require();
        detail::Check(soma_tque_alloc_tensor(tque_, &tensor));
        return Local<T>(tensor);
    }
    template <typename T> void AllocTensor(LocalTensor<T> &tensor)
    {
        tensor = AllocTensor<T>();
    }
    // Always true: a queue that is full is an exception.
    template <typename T> bool EnQue(const LocalTensor<T> &tensor)
    {
        Require();
        detail::Check(soma_tque_en_que(tque_, tensor.GetTensor()));
        return true;
    }
    template <typename T> LocalTensor<T> DeQue()
    {
        soma_ttensor tensor;
        Require();
        detail::Check(soma_tque_de_que(tque_, &tensor));
        return Local<T>(tensor);
    }
    template <typename T> void DeQue(LocalTensor<T> &tensor)
    {
        tensor = DeQue<T>();
    }
    template <typename T> void FreeTensor(const LocalTensor<T> &tensor)
    {
        Require();
        detail::Check(soma_tque_free_tensor(tque_, tensor.GetTensor()));
    }
    void FreeAllEvent()
    {
    }

    // Whether there is room for one more EnQue; whether there is one to DeQue, and how many;
    // whether a buffer is free.
    bool VacantInQue() const
    {
        return GetTensorCountInQue() < (depth == 0 ? 1 : depth);
    }
    bool HasTensorInQue() const
    {
        return Count(SOMA_TSTATE_QUEUED) > 0;
    }
    std::int32_t GetTensorCountInQue() const
    {
        return Count(SOMA_TSTATE_QUEUED);
    }
    bool HasIdleBuffer() const
    {
        return Count(SOMA_TSTATE_IDLE) > 0;
    }

    // The queue at the service.
    soma_tque GetHandle() const
    {
        return tque_;
    }

  private:
    friend class TPipe;
    template <TPosition pos, std::uint32_t bufIDSize> friend class TBufPool;

    soma_tque HandleIn(const detail::CorePtr &core)
    {
        if (core_ != core) {
            detail::Check(soma_tpipe_create_tque(
                core->pipe, static_cast<soma_tposition>(detail::NumberOf(position)),
                static_cast<std::uint32_t>(depth), name_, &tque_));
            core_ = core;
        }
        return tque_;
    }
    void Take(const soma_tbuffers &got)
    {
        memory_ = got.memory;
    }
    void Require() const
    {
        if (core_ == nullptr)
            detail::RefuseUnready("TQue", name_);
    }
    template <typename T> LocalTensor<T> Local(const soma_ttensor &tensor) const
    {
        LocalTensor<T> local(core_, memory_, position, tensor.address, tensor.len / sizeof(T));
        local.SetTensor(tensor);
        return local;
    }
    std::int32_t Count(soma_tregion_state state) const
    {
        Require();
        std::size_t count = 0;
        detail::Check(soma_tpipe_regions(core_->pipe, nullptr, 0, &count));
        std::vector<soma_tregion> regions(count);
        detail::Check(soma_tpipe_regions(core_->pipe, regions.data(), regions.size(), &count));
        return static_cast<std::int32_t>(
            std::count_if(regions.begin(), regions.end(), [&](const soma_tregion &region) {
                return region.tque == tque_.id && region.state == state;
            }));
    }

    const char *name_;
    detail::CorePtr core_;
    soma_tque tque_{};
    soma_tmemory memory_ = SOMA_TMEMORY_UB;
};

template <TPosition pos, std::int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos, pos, depth, mask>
{
  public:
    explicit TQue(const char *name = nullptr) : TQueBind<pos, pos, depth, mask>(name)
    {
    }
};

// One buffer, cut into typed pieces.
template <TPosition pos = TPosition::LCM> class TBuf
{
  public:
    static_assert(detail::NumberOf(pos) != detail::NO_POSITION,
                  "this TPosition has no on-chip memory");

    explicit TBuf(const char *name = nullptr) : name_(name)
    {
    }

    // The whole of it; the first len elements.
    template <typename T> LocalTensor<T> Get()
    {
        return Slice<T>(SOMA_TPIPE_NONE);
    }
    template <typename T> LocalTensor<T> Get(std::uint32_t len)
    {
        return Slice<T>(len);
    }
    // size elements from bufOffset bytes on.
    template <typename T> LocalTensor<T> GetWithOffset(std::uint32_t size, std::uint32_t bufOffset)
    {
        soma_tslice slice;
        Require();
        detail::Check(
            soma_tbuf_get_with_offset(tbuf_, detail::Dtype<T>::value, size, bufOffset, &slice));
        return LocalTensor<T>(core_, memory_, pos, slice.address, slice.elements);
    }

    // The buffer at the service.
    soma_tbuf GetHandle() const
    {
        return tbuf_;
    }

  private:
    friend class TPipe;
    template <TPosition other, std::uint32_t bufIDSize> friend class TBufPool;

    soma_tbuf HandleIn(const detail::CorePtr &core)
    {
        if (core_ != core) {
            detail::Check(soma_tpipe_create_tbuf(
                core->pipe, static_cast<soma_tposition>(detail::NumberOf(pos)), name_, &tbuf_));
            core_ = core;
        }
        return tbuf_;
    }
    void Take(const soma_tbuffers &got)
    {
        memory_ = got.memory;
    }
    void Require() const
    {
        if (core_ == nullptr)
            detail::RefuseUnready("TBuf", name_);
    }
    template <typename T> LocalTensor<T> Slice(std::uint64_t elements)
    {
        soma_tslice slice;
        Require();
        detail::Check(soma_tbuf_get(tbuf_, detail::Dtype<T>::value, elements, &slice));
        return LocalTensor<T>(core_, memory_, pos, slice.address, slice.elements);
    }

    const char *name_;
    detail::CorePtr core_;
    soma_tbuf tbuf_{};
    soma_tmemory memory_ = SOMA_TMEMORY_UB;
};

// A region of a memory that is divided further.
//   bufIDSize  buffers that it may hold, 1 to 16. 4 counts as not given: a pool around it sets
//              nothing aside for it.
template <TPosition pos, std::uint32_t bufIDSize = 4> class TBufPool
{
  public:
    static_assert(detail::NumberOf(pos) != detail::NO_POSITION,
                  "this TPosition has no on-chip memory");
    static_assert(bufIDSize != 0, "bufIDSize is 1 to 16");

    explicit TBufPool(const char *name = nullptr) : name_(name)
    {
    }

    template <TPosition src, TPosition dst, std::int32_t depth, auto mask>
    bool InitBuffer(TQueBind<src, dst, depth, mask> &que, std::uint8_t num, std::uint32_t len)
    {
        soma_tbuffers got;
        Require();
        detail::Check(soma_tbufpool_init_tque(tbufpool_, que.HandleIn(core_), num, len, &got));
        que.Take(got);
        return true;
    }
    template <TPosition bufPos> bool InitBuffer(TBuf<bufPos> &buf, std::uint32_t len)
    {
        soma_tbuffers got;
        Require();
        detail::Check(soma_tbufpool_init_tbuf(tbufpool_, buf.HandleIn(core_), len, &got));
        buf.Take(got);
        return true;
    }
    template <TPosition other, std::uint32_t otherSize>
    bool InitBufPool(TBufPool<other, otherSize> &bufPool, std::uint32_t len)
    {
        return Divide(bufPool, len, nullptr);
    }
    template <TPosition other, std::uint32_t otherSize, TPosition shared, std::uint32_t sharedSize>
    bool InitBufPool(TBufPool<other, otherSize> &bufPool, std::uint32_t len,
                     TBufPool<shared, sharedSize> &shareBuf)
    {
        soma_tbufpool share = shareBuf.SharedHandle();
        return Divide(bufPool, len, &share);
    }
    void Reset()
    {
        Require();
        detail::Check(soma_tbufpool_reset(tbufpool_));
        core_->Fill(region_.memory, region_.start_address, region_.len);
    }

    // The pool at the service.
    soma_tbufpool GetHandle() const
    {
        return tbufpool_;
    }

  private:
    friend class TPipe;
    template <TPosition other, std::uint32_t otherSize> friend class TBufPool;

    soma_tbufpool HandleIn(const detail::CorePtr &core)
    {
        if (core_ != core) {
            detail::Check(soma_tpipe_create_tbufpool(
                core->pipe, static_cast<soma_tposition>(detail::NumberOf(pos)),
                bufIDSize == 4 ? 0 : bufIDSize, name_, &tbufpool_));
            core_ = core;
        }
        return tbufpool_;
    }
    soma_tbufpool SharedHandle() const
    {
        Require();
        return tbufpool_;
    }
    void Require() const
    {
        if (core_ == nullptr)
            detail::RefuseUnready("TBufPool", name_);
    }
    template <TPosition other, std::uint32_t otherSize>
    bool Divide(TBufPool<other, otherSize> &bufPool, std::uint32_t len, const soma_tbufpool *share)
    {
        Require();
        detail::Check(soma_tbufpool_init_buf_pool(tbufpool_, bufPool.HandleIn(core_), len, share,
                                                  &bufPool.region_));
        return true;
    }

    const char *name_;
    detail::CorePtr core_;
    soma_tbufpool tbufpool_{};
    soma_tregion_given region_{};
};

// One kernel's pipe: owner of all on-chip memory of a core.
class TPipe
{
  public:
    // soc: such as "Ascend910B1"; nullptr: that of the session
    explicit TPipe(const char *soc = nullptr, soma_tchecks checks = SOMA_TCHECKS_DOCUMENTED)
        : core_(std::make_shared<detail::Core>())
    {
        soma_tpipe_info info;
        detail::Check(soma_tpipe_create(&core_->pipe, soc, checks));
        detail::Check(soma_tpipe_describe(core_->pipe, &info));
        for (std::size_t i = 0; i < core_->memories.size(); i++)
            core_->memories[i].assign(info.memory_bytes[i], detail::UNWRITTEN);
    }
    ~TPipe()
    {
        Destroy();
    }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    // The constructor has done it.
    void Init()
    {
    }
    // End the pipe at the service; tensors that are left keep their memory. Never throws.
    void Destroy() noexcept
    {
        if (!is_destroyed_)
            (void)soma_tpipe_destroy(core_->pipe);
        is_destroyed_ = true;
    }

    template <TPosition src, TPosition dst, std::int32_t depth, auto mask>
    bool InitBuffer(TQueBind<src, dst, depth, mask> &que, std::uint8_t num, std::uint32_t len)
    {
        soma_tbuffers got;
        detail::Check(soma_tpipe_init_tque(core_->pipe, que.HandleIn(core_), num, len, &got));
        que.Take(got);
        return true;
    }
    template <TPosition pos> bool InitBuffer(TBuf<pos> &buf, std::uint32_t len)
    {
        soma_tbuffers got;
        detail::Check(soma_tpipe_init_tbuf(core_->pipe, buf.HandleIn(core_), len, &got));
        buf.Take(got);
        return true;
    }
    template <TPosition pos, std::uint32_t bufIDSize>
    bool InitBufPool(TBufPool<pos, bufIDSize> &bufPool, std::uint32_t len)
    {
        detail::Check(soma_tpipe_init_buf_pool(core_->pipe, bufPool.HandleIn(core_), len, nullptr,
                                               &bufPool.region_));
        return true;
    }
    template <TPosition pos, std::uint32_t bufIDSize, TPosition shared, std::uint32_t sharedSize>
    bool InitBufPool(TBufPool<pos, bufIDSize> &bufPool, std::uint32_t len,
                     TBufPool<shared, sharedSize> &shareBuf)
    {
        soma_tbufpool share = shareBuf.SharedHandle();
        detail::Check(soma_tpipe_init_buf_pool(core_->pipe, bufPool.HandleIn(core_), len, &share,
                                               &bufPool.region_));
        return true;
    }
    void Reset()
    {
        detail::Check(soma_tpipe_reset(core_->pipe));
        for (auto &memory : core_->memories)
            std::fill(memory.begin(), memory.end(), detail::UNWRITTEN);
    }

    // The pipe at the service.
    soma_tpipe GetHandle() const
    {
        return core_->pipe;
    }

  private:
    detail::CorePtr core_;
    bool is_destroyed_ = false;
};

inline std::int64_t GetBlockIdx()
{
    return 0;
}
inline std::int64_t GetBlockNum()
{
    return 1;
}

} // namespace AscendC

#include "soma/ascendc_compute.hpp"

#endif
