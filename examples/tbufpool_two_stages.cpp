// A kernel class in Ascend C, compiled for the host: two stages that use the same 64 KiB of the
// unified buffer one after the other, and an operand that stays in UB for both.
//
//   stage 1:  y = a + x   with q1 and d0 of the pool p1
//   stage 2:  z = a * y   with q2 and d1 of the pool p2, which lies over p1
//
// Init and Process are as a kernel has them; the plan is the service's, the arithmetic is done on
// memory of this process at the planned addresses. Checks every element; exit code 1 when one is
// wrong.
//
//   c++ -std=c++17 -I api examples/tbufpool_two_stages.cpp -o two_stages
//      -L build/client -lascendcl -Wl,-rpath,"$PWD/build/client"
//
// Nothing has to be set up: the library starts a server of its own, or uses SOMA_SERVER.
#include "soma/ascendc.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

using namespace AscendC;

constexpr std::uint32_t COUNT = 16384;                      // halves: 32 KiB
constexpr std::uint32_t STAGE_BYTES = COUNT * sizeof(half); // of one buffer of a stage

class KernelTwoStages
{
  public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        aGm.SetGlobalBuffer((__gm__ half *)a, COUNT);
        xGm.SetGlobalBuffer((__gm__ half *)x, COUNT);
        yGm.SetGlobalBuffer((__gm__ half *)y, COUNT);
        zGm.SetGlobalBuffer((__gm__ half *)z, COUNT);
        pipe.InitBufPool(pool0, 131072);
        pool0.InitBuffer(srcQue0, 1, 65536);
        pool0.InitBufPool(pool1, 65536);
        pool0.InitBufPool(pool2, 65536, pool1);
    }

    __aicore__ inline void Process()
    {
        LocalTensor<half> a = CopyIn(srcQue0, aGm);

        pool1.InitBuffer(srcQue1, 1, STAGE_BYTES);
        pool1.InitBuffer(dstQue0, 1, STAGE_BYTES);
        LocalTensor<half> x = CopyIn(srcQue1, xGm);
        LocalTensor<half> sum = dstQue0.AllocTensor<half>();
        stage1Address = sum.GetAddress();
        Add(sum, a, x, COUNT);
        srcQue1.FreeTensor(x);
        CopyOut(dstQue0, sum, yGm);
        pool1.Reset();

        pool2.InitBuffer(srcQue2, 1, STAGE_BYTES);
        pool2.InitBuffer(dstQue1, 1, STAGE_BYTES);
        LocalTensor<half> y = CopyIn(srcQue2, yGm);
        LocalTensor<half> product = dstQue1.AllocTensor<half>();
        stage2Address = product.GetAddress();
        Mul(product, a, y, COUNT);
        srcQue2.FreeTensor(y);
        CopyOut(dstQue1, product, zGm);
        pool2.Reset();

        srcQue0.FreeTensor(a);
        pool0.Reset();
        pipe.Reset();
    }

    std::uint64_t stage1Address = 0, stage2Address = 0;

  private:
    template <typename Queue>
    __aicore__ inline LocalTensor<half> CopyIn(Queue &queue, const GlobalTensor<half> &from)
    {
        LocalTensor<half> local = queue.template AllocTensor<half>();
        DataCopy(local, from, COUNT);
        queue.EnQue(local);
        return queue.template DeQue<half>();
    }

    template <typename Queue>
    __aicore__ inline void CopyOut(Queue &queue, const LocalTensor<half> &local,
                                   const GlobalTensor<half> &to)
    {
        queue.EnQue(local);
        LocalTensor<half> done = queue.template DeQue<half>();
        DataCopy(to, done, COUNT);
        queue.FreeTensor(done);
    }

    TPipe pipe;
    TBufPool<TPosition::VECCALC, 16> pool0{"p0"};
    TBufPool<TPosition::VECCALC> pool1{"p1"}, pool2{"p2"};
    TQue<TPosition::VECIN, 1> srcQue0{"q0"}, srcQue1{"q1"}, srcQue2{"q2"};
    TQue<TPosition::VECOUT, 1> dstQue0{"d0"}, dstQue1{"d1"};
    GlobalTensor<half> aGm, xGm, yGm, zGm;
};

static GM_ADDR AddressOf(std::vector<half> &vector)
{
    return reinterpret_cast<GM_ADDR>(vector.data());
}

static int Run()
{
    std::vector<half> a(COUNT), x(COUNT), y(COUNT), z(COUNT);
    for (std::uint32_t i = 0; i < COUNT; i++) {
        a[i] = static_cast<float>(i % 31) / 4.0f;
        x[i] = static_cast<float>(i % 17) - 8.0f;
    }
    KernelTwoStages kernel;
    kernel.Init(AddressOf(a), AddressOf(x), AddressOf(y), AddressOf(z));
    kernel.Process();
    for (std::uint32_t i = 0; i < COUNT; i++) { // these values are exact in half
        float sum = a[i] + x[i];
        if (y[i] != sum || z[i] != static_cast<float>(half(a[i] * sum))) {
            std::fprintf(stderr, "element %u: y %g, z %g\n", static_cast<unsigned>(i),
                         static_cast<double>(y[i]), static_cast<double>(z[i]));
            return 1;
        }
    }
    std::printf("both stages wrote to UB at %llu and %llu\n",
                static_cast<unsigned long long>(kernel.stage1Address),
                static_cast<unsigned long long>(kernel.stage2Address));
    if (kernel.stage1Address != 98304 || kernel.stage2Address != 98304)
        return 1;
    std::printf("all %u products are right\n", static_cast<unsigned>(COUNT));
    return 0;
}

int main()
{
    try {
        return Run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
