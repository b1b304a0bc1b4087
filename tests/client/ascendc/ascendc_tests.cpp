// ascendc.hpp against a real server: plans, errors, and arithmetic that is checked element by
// element. Prints what fails; exit code 0 only when nothing did.
#include "soma/ascendc.hpp"

#include "acl/acl.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

using namespace AscendC;

namespace
{

unsigned checks, failures;

void Expect(bool condition, const char *what, int line)
{
    checks++;
    if (condition)
        return;
    failures++;
    std::printf("line %d: not so: %s\n", line, what);
}
#define EXPECT(condition) Expect((condition), #condition, __LINE__)

// The call throws an Error of this number whose text has this part.
template <typename Call> void Throws(aclError code, const char *part, int line, Call call)
{
    checks++;
    try {
        call();
    } catch (const std::runtime_error &error) {
        const auto *known = dynamic_cast<const Error *>(&error);
        if (known != nullptr && known->Code() == code &&
            std::string(error.what()).find(part) != std::string::npos)
            return;
        std::printf("line %d: %s\n", line, error.what());
        failures++;
        return;
    }
    std::printf("line %d: nothing was thrown\n", line);
    failures++;
}
#define THROWS(code, part, ...) Throws(code, part, __LINE__, [&] { __VA_ARGS__; })

// The numbers of CANN's unit tests of TPipe and TBufPool.
void TestPlans()
{
    TPipe pipe("Ascend910B1");
    TBufPool<TPosition::VECCALC, 16> pool1;
    TBufPool<TPosition::VECCALC> pool2, pool3;
    TQue<TPosition::VECIN, 1> que;
    TBuf<> buf;
    EXPECT(pipe.InitBufPool(pool1, 131072));
    EXPECT(pool1.InitBuffer(que, 2, 128));
    EXPECT(pool1.InitBufPool(pool2, 65536));
    EXPECT(pool1.InitBufPool(pool3, 65536, pool2));
    EXPECT(pool2.InitBuffer(buf, 100));
    LocalTensor<half> all = buf.Get<half>();
    EXPECT(all.GetAddress() == 256 && all.GetSize() == 64 && all.GetLength() == 128);
    EXPECT(buf.Get<float>(8).GetSize() == 8);
    EXPECT(buf.GetWithOffset<std::int32_t>(8, 64).GetAddress() == 256 + 64);
    EXPECT(all.GetPosition() == TPosition::VECCALC && all.GetMemory() == SOMA_TMEMORY_UB);
    THROWS(107000, "(OFFSET_UNALIGNED)", (void)buf.GetWithOffset<std::int32_t>(1, 20));
    THROWS(107000, "(BUFFER_RANGE)", (void)buf.Get<half>(65));
    THROWS(107000, "(ALREADY_INITIALIZED)", pipe.InitBuffer(que, 1, 32));
    pipe.Reset();
    EXPECT(pipe.InitBuffer(que, 1, 64));
    EXPECT(que.AllocTensor<half>().GetAddress() == 0);
}

// 4 is not given: what is free stays with the pool around; another number is set aside.
void TestBufIdSize()
{
    TPipe pipe("Ascend910B1");
    TBufPool<TPosition::VECCALC> outer, inner;
    TQue<TPosition::VECIN, 1> first;
    EXPECT(pipe.InitBufPool(outer, 4096));
    EXPECT(outer.InitBufPool(inner, 1024));
    EXPECT(outer.InitBuffer(first, 4, 32));
    TBufPool<TPosition::VECCALC> second;
    TBufPool<TPosition::VECCALC, 3> given;
    TQue<TPosition::VECIN, 1> more;
    EXPECT(pipe.InitBufPool(second, 4096));
    EXPECT(second.InitBufPool(given, 1024));
    THROWS(107000, "(BUF_ID_LIMIT)", second.InitBuffer(more, 2, 32));
}

void TestQueues()
{
    TPipe pipe("Ascend910B1");
    TQue<TPosition::VECIN, 2> que("input");
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 0> bind;
    THROWS(100000, "TQue input: it was never initialised", (void)que.AllocTensor<half>());
    pipe.InitBuffer(que, 2, 64);
    pipe.InitBuffer(bind, 1, 64);
    EXPECT(que.HasIdleBuffer() && que.VacantInQue() && !que.HasTensorInQue());
    LocalTensor<half> a = que.AllocTensor<half>(), b = que.AllocTensor<half>();
    THROWS(107000, "(QUEUE_BUFFERS_HELD)", (void)que.AllocTensor<half>());
    EXPECT(!que.HasIdleBuffer());
    THROWS(107000, "(QUEUE_EMPTY)", (void)que.DeQue<half>());
    EXPECT(que.EnQue(a) && que.EnQue(b));
    EXPECT(que.GetTensorCountInQue() == 2 && !que.VacantInQue());
    EXPECT(que.DeQue<half>().GetAddress() == 0);
    que.FreeTensor(a);
    THROWS(107017, "(NO_SUCH_TENSOR)", que.FreeTensor(a));
    LocalTensor<float> in_place;
    bind.AllocTensor(in_place);
    bind.EnQue(in_place);
    bind.DeQue(in_place);
    EXPECT(in_place.GetSize() == 16 && in_place.GetAddress() == 128);
    bind.FreeTensor(in_place);
    LocalTensor<half> nothing;
    THROWS(100000, "has no memory", (void)nothing.GetPhyAddr());
}

// Pools that share memory share it here too, and a live tensor protects it.
void TestSharing()
{
    TPipe pipe("Ascend910B1");
    TBufPool<TPosition::VECCALC> pool1("one"), pool2("two");
    TQue<TPosition::VECIN, 1> que1, que2;
    pipe.InitBufPool(pool1, 1024);
    pipe.InitBufPool(pool2, 1024, pool1);
    pool1.InitBuffer(que1, 1, 1024);
    pool2.InitBuffer(que2, 1, 1024);
    LocalTensor<std::int32_t> one = que1.AllocTensor<std::int32_t>();
    Duplicate(one, 7, 256);
    THROWS(107000, "(BUFFER_OVERLAP)", (void)que2.AllocTensor<std::int32_t>());
    que1.FreeTensor(one);
    LocalTensor<std::int32_t> two = que2.AllocTensor<std::int32_t>();
    EXPECT(two.GetPhyAddr() == one.GetPhyAddr() && two.GetValue(255) == 7);
    que2.FreeTensor(two);
    pool2.Reset();
    EXPECT(two.GetValue(0) == static_cast<std::int32_t>(0xa5a5a5a5));
}

template <typename T> void TestArithmetic(T x, T y)
{
    constexpr std::uint32_t count = 64;
    TPipe pipe("Ascend910B1");
    TBuf<> buf;
    pipe.InitBuffer(buf, 3 * count * sizeof(T));
    LocalTensor<T> all = buf.Get<T>();
    LocalTensor<T> a = all[0], b = all[count], c = all[2 * count];
    std::vector<T> from(count), to(count);
    GlobalTensor<T> source, target;
    for (std::uint32_t i = 0; i < count; i++)
        from[i] = static_cast<T>(x + static_cast<T>(static_cast<float>(i)));
    source.SetGlobalBuffer(from.data(), count);
    target.SetGlobalBuffer(to.data(), count);
    DataCopy(a, source, count);
    Duplicate(b, y, count);
    struct {
        T first, last;
    } got[5];
    unsigned step = 0;
    auto keep = [&] {
        DataCopy(target, c, count);
        got[step++] = {to[0], to[count - 1]};
    };
    Add(c, a, b, count);
    keep();
    Sub(c, a, b, count);
    keep();
    Mul(c, a, b, count);
    keep();
    Adds(c, a, y, count);
    keep();
    Muls(c, a, y, count);
    keep();
    T last = from[count - 1];
    EXPECT(got[0].first == static_cast<T>(x + y) && got[0].last == static_cast<T>(last + y));
    EXPECT(got[1].first == static_cast<T>(x - y) && got[1].last == static_cast<T>(last - y));
    EXPECT(got[2].first == static_cast<T>(x * y) && got[2].last == static_cast<T>(last * y));
    EXPECT(got[3].first == got[0].first && got[3].last == got[0].last);
    EXPECT(got[4].first == got[2].first && got[4].last == got[2].last);
    DataCopy(b, a, count);
    EXPECT(b.GetValue(count - 1) == last && b(0) == from[0]);
    THROWS(100000, "elements, but a tensor has", Add(c, a, b, count + 1));
    THROWS(100000, "multiples of 32", DataCopy(c, a, 1));
    THROWS(100000, "leave its", DataCopy(all, source, 2 * count));
    THROWS(100000, "element 64 of 64", (void)c.GetValue(count));
}

void TestNumbers()
{
    EXPECT(static_cast<float>(half(1.0f / 3)) == 0.333251953125f);
    EXPECT(std::isinf(static_cast<float>(half(65520.0f))));
    EXPECT(static_cast<float>(half(65519.0f)) == 65504.0f);
    EXPECT(std::isnan(static_cast<float>(half(NAN))) && std::isnan(float(bfloat16_t(NAN))));
    unsigned wrong = 0; // every half is itself, and what is between two goes to the nearer one
    for (std::uint32_t bits = 0; bits < 0x7bff; bits++) {
        float low = detail::FloatOfHalf(static_cast<std::uint16_t>(bits));
        float high = detail::FloatOfHalf(static_cast<std::uint16_t>(bits + 1));
        float middle = (low + high) / 2;
        wrong += detail::HalfOf(low) != bits || detail::HalfOf(-high) != (0x8000u | (bits + 1));
        wrong += detail::HalfOf(std::nextafter(middle, 0.0f)) != bits;
        wrong += detail::HalfOf(std::nextafter(middle, INFINITY)) != bits + 1;
        wrong += detail::HalfOf(middle) != bits + (bits & 1u);
    }
    EXPECT(wrong == 0);
    EXPECT(static_cast<float>(bfloat16_t(1.00390625f)) == 1.0f);
    EXPECT(static_cast<float>(bfloat16_t(1.01171875f)) == 1.015625f);
    TPipe pipe("Ascend910B1");
    TBuf<> buf;
    pipe.InitBuffer(buf, 32);
    LocalTensor<std::int32_t> i = buf.Get<std::int32_t>();
    Duplicate(i, std::numeric_limits<std::int32_t>::max(), 8);
    Adds(i, i, 1, 8);
    EXPECT(i.GetValue(7) == std::numeric_limits<std::int32_t>::min());
    Duplicate(i, 0x3f800000, 8);
    EXPECT(i.ReinterpretCast<float>().GetValue(3) == 1.0f);
}

// Compute calls want UB; a pipe that has ended says so.
void TestElsewhere()
{
    LocalTensor<float> left;
    {
        TPipe pipe("Ascend910B1");
        TQue<TPosition::A1, 1> que;
        TQue<TPosition::CO2, 1> nowhere;
        pipe.InitBuffer(que, 1, 64);
        THROWS(107000, "(POSITION_UNSUPPORTED)", pipe.InitBuffer(nowhere, 1, 64));
        left = que.AllocTensor<float>();
        EXPECT(left.GetMemory() == SOMA_TMEMORY_L1);
        THROWS(100000, "not in UB", Add(left, left, left, 8));
        pipe.Destroy();
        THROWS(107017, "(NO_SUCH_PIPE)", que.FreeTensor(left));
    }
    left.SetValue(0, 2.0f); // its memory is still there
    EXPECT(left.GetValue(0) == 2.0f);
    THROWS(100000, "(UNKNOWN_SOC)", TPipe("Ascend0"));
    std::size_t count = 1;
    EXPECT(soma_tpipe_list(nullptr, 0, &count) == ACL_SUCCESS && count == 0);
}

} // namespace

int main()
{
    if (aclInit(nullptr) != ACL_SUCCESS) {
        std::printf("%s\n", aclGetRecentErrMsg());
        return 1;
    }
    try {
        TestPlans();
        TestBufIdSize();
        TestQueues();
        TestSharing();
        TestArithmetic<float>(1.5f, -2.25f);
        TestArithmetic<half>(1.5f, -2.25f);
        TestArithmetic<std::int32_t>(-5, 3);
        TestNumbers();
        TestElsewhere();
    } catch (const std::exception &error) {
        std::printf("not caught: %s\n", error.what());
        failures++;
    }
    EXPECT(aclFinalize() == ACL_SUCCESS);
    std::printf("%u checks, %u failed\n", checks, failures);
    return failures == 0 ? 0 : 1;
}
