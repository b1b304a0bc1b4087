/* Plans that CANN publishes, with the numbers that come out there: the two stages of the article on
 * TBufPool, the three scenarios of the sample tbufpool_management, and what the kernel code's own
 * unit tests expect of TPipe. Where soma refuses on purpose what CANN lets pass, the scene says so.
 */
#include "engine_fixture.h"
#include "suites.h"

/* ---- the article ---- */

/* p0 has 128 KiB: q0, then p1, which p2 shares. Each stage has its own pool. */
static const struct scene article_scenes[] = {
    {"two stages over one region",
     "pipe.create soc=Ascend910B1\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 name=p0 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 name=p1 -> tbufpool=2\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 name=p2 -> tbufpool=3\n"
     "pipe.createTQue pipe=1 position=VECIN name=q0 -> tque=1\n"
     "pipe.createTQue pipe=1 position=VECIN name=q1 -> tque=2\n"
     "pipe.createTQue pipe=1 position=VECIN name=q2 -> tque=3\n"
     "pipe.createTQue pipe=1 position=VECOUT name=d0 -> tque=4\n"
     "pipe.createTQue pipe=1 position=VECOUT name=d1 -> tque=5\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=131072 -> startAddress=0 len=131072\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536 -> buffers[0].address=0\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=65536 -> startAddress=65536\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=65536 shareBuf=2 -> startAddress=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32768 -> buffers[0].address=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=4 num=1 len=32768 -> buffers[0].address=98304\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=1 address=0 len=65536\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> tensor=2\n"
     "pipe.enQue pipe=1 tque=2 tensor=2\n"
     "pipe.deQue pipe=1 tque=1 -> tensor=1\n"
     "pipe.deQue pipe=1 tque=2 -> tensor=2\n"
     "pipe.allocTensor pipe=1 tque=4 -> tensor=3 address=98304\n"
     "pipe.enQue pipe=1 tque=4 tensor=3\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.freeTensor pipe=1 tque=2 tensor=2\n"
     "pipe.deQue pipe=1 tque=4 -> tensor=3\n"
     "pipe.freeTensor pipe=1 tque=4 tensor=3\n"
     "pipe.poolReset pipe=1 tbufpool=2\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=3 num=1 len=32768 -> buffers[0].address=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=5 num=1 len=32768 -> buffers[0].address=98304\n"
     "pipe.allocTensor pipe=1 tque=3 -> tensor=4 address=65536\n"
     "pipe.deQue pipe=1 tque=1 -> tensor=1\n"
     "pipe.allocTensor pipe=1 tque=5 -> tensor=5 address=98304\n"
     "pipe.allocTensor pipe=1 tque=2 -> BUFFER_OVERLAP\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
     "pipe.poolReset pipe=1 tbufpool=3\n"
     "pipe.poolReset pipe=1 tbufpool=1\n"
     "pipe.reset pipe=1\n"
     "pipe.layout pipe=1 -> memories[0].usedBytes=0 memories[0].peakBytes=131072"},
};

static void test_article(void)
{
    RUN_SCENES(article_scenes);
}

/* ---- tbufpool_management ---- */

#define SAMPLE_QUEUES                                                                              \
    "pipe.createTQue pipe=1 position=VECIN name=srcQue0 -> tque=1\n"                               \
    "pipe.createTQue pipe=1 position=VECIN name=srcQue1 -> tque=2\n"                               \
    "pipe.createTQue pipe=1 position=VECIN name=srcQue2 -> tque=3\n"                               \
    "pipe.createTQue pipe=1 position=VECIN name=srcQue3 -> tque=4\n"                               \
    "pipe.createTQue pipe=1 position=VECOUT name=dstQue0 -> tque=5\n"                              \
    "pipe.createTQue pipe=1 position=VECOUT name=dstQue1 -> tque=6\n"

/* Scenario 2: pool0 of 128 KiB holds pool1, srcQue0, and pool2 over pool1; all three have the
 * default bufIdSize. */
#define SAMPLE_DIVISION                                                                            \
    SAMPLE_QUEUES                                                                                  \
    "pipe.createTBufPool pipe=1 position=VECCALC name=pool0 -> tbufpool=1\n"                       \
    "pipe.createTBufPool pipe=1 position=VECCALC name=pool1 -> tbufpool=2\n"                       \
    "pipe.createTBufPool pipe=1 position=VECCALC name=pool2 -> tbufpool=3\n"                       \
    "pipe.initBufPool pipe=1 tbufpool=1 len=131072 -> startAddress=0\n"                            \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=65536 -> startAddress=0 len=65536\n"      \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536 -> buffers[0].address=65536\n"   \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=65536 shareBuf=2 -> startAddress=0\n"     \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32768 -> buffers[0].address=0\n"       \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=5 num=1 len=32768 -> buffers[0].address=32768\n"   \
    "pipe.allocTensor pipe=1 tque=1 -> tensor=1 address=65536\n"                                   \
    "pipe.enQue pipe=1 tque=1 tensor=1\n"                                                          \
    "pipe.allocTensor pipe=1 tque=2 -> tensor=2 address=0\n"                                       \
    "pipe.enQue pipe=1 tque=2 tensor=2\n"                                                          \
    "pipe.deQue pipe=1 tque=1 -> tensor=1\n"                                                       \
    "pipe.deQue pipe=1 tque=2 -> tensor=2\n"                                                       \
    "pipe.allocTensor pipe=1 tque=5 -> tensor=3 address=32768\n"                                   \
    "pipe.enQue pipe=1 tque=5 tensor=3\n"                                                          \
    "pipe.freeTensor pipe=1 tque=1 tensor=1\n"                                                     \
    "pipe.freeTensor pipe=1 tque=2 tensor=2\n"                                                     \
    "pipe.deQue pipe=1 tque=5 -> tensor=3\n"                                                       \
    "pipe.freeTensor pipe=1 tque=5 tensor=3\n"                                                     \
    "pipe.poolReset pipe=1 tbufpool=2\n"                                                           \
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=3 num=1 len=32768 -> buffers[0].address=0\n"       \
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=6 num=1 len=32768 -> buffers[0].address=32768\n"   \
    "pipe.allocTensor pipe=1 tque=1 -> tensor=4 address=65536\n"                                   \
    "pipe.allocTensor pipe=1 tque=3 -> tensor=5 address=0\n"                                       \
    "pipe.allocTensor pipe=1 tque=6 -> tensor=6 address=32768\n"                                   \
    "pipe.freeTensor pipe=1 tque=1 tensor=4\n"                                                     \
    "pipe.freeTensor pipe=1 tque=3 tensor=5\n"                                                     \
    "pipe.freeTensor pipe=1 tque=6 tensor=6\n"                                                     \
    "pipe.poolReset pipe=1 tbufpool=3\n"                                                           \
    "pipe.poolReset pipe=1 tbufpool=1\n"                                                           \
    "pipe.reset pipe=1"

/* Scenario 1: all of UB twice. */
#define SAMPLE_REUSE                                                                               \
    SAMPLE_QUEUES                                                                                  \
    "pipe.createTBufPool pipe=1 position=VECCALC name=pool1 -> tbufpool=1\n"                       \
    "pipe.createTBufPool pipe=1 position=VECCALC name=pool2 -> tbufpool=2\n"                       \
    "pipe.initBufPool pipe=1 tbufpool=1 len=196608 -> startAddress=0 len=196608\n"                 \
    "pipe.initBufPool pipe=1 tbufpool=2 len=196608 shareBuf=1 -> startAddress=0 len=196608\n"      \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536 -> buffers[0].address=0\n"       \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=2 num=1 len=65536 -> buffers[0].address=65536\n"   \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=5 num=1 len=65536 -> buffers[0].address=131072\n"  \
    "pipe.allocTensor pipe=1 tque=1\n"                                                             \
    "pipe.allocTensor pipe=1 tque=2\n"                                                             \
    "pipe.allocTensor pipe=1 tque=5\n"                                                             \
    "pipe.poolReset pipe=1 tbufpool=1\n"                                                           \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=3 num=1 len=65536 -> buffers[0].address=0\n"       \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=4 num=1 len=65536 -> buffers[0].address=65536\n"   \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=6 num=1 len=65536 -> buffers[0].address=131072\n"  \
    "pipe.allocTensor pipe=1 tque=3 -> tensor=4 address=0\n"                                       \
    "pipe.allocTensor pipe=1 tque=4 -> tensor=5 address=65536\n"                                   \
    "pipe.allocTensor pipe=1 tque=6 -> tensor=6 address=131072\n"                                  \
    "pipe.poolReset pipe=1 tbufpool=2\n"

static const struct scene management_scenes[] = {
    {"scenario 1, reuse",
     "pipe.create\n" SAMPLE_REUSE
     "pipe.layout pipe=1 -> memories[0].usedBytes=196608 memories[0].freeBytes=0 warnings.count=1"},
    {"scenario 1, checks=device", "pipe.create checks=device\n" SAMPLE_REUSE},
    {"scenario 2, division: the default bufIdSize is enough", "pipe.create\n" SAMPLE_DIVISION},
    {"scenario 2, checks=device", "pipe.create checks=device\n" SAMPLE_DIVISION},
    {"scenario 3, a pool of 16 buffers instead of a custom pool",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 -> tbufpool=1\n" SAMPLE_QUEUES
     "pipe.createTBuf pipe=1 position=VECIN -> tbuf=1\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=196608 -> startAddress=0 len=196608\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536 -> buffers[0].address=0\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=65536 -> buffers[0].address=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=5 num=1 len=65536 -> buffers[0].address=131072\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=half -> address=65536 elements=32768"},
};

static void test_management(void)
{
    RUN_SCENES(management_scenes);
}

/* ---- unit tests of the kernel code ---- */

static const struct scene kernel_scenes[] = {
    {"a TBuf at A1", "pipe.create\n"
                     "pipe.createTBuf pipe=1 position=A1\n"
                     "pipe.initBuffer pipe=1 tbuf=1 len=128 -> memory=L1 buffers[0].address=0\n"
                     "pipe.layout pipe=1 -> memories[1].usedBytes=128"},
    {"a TQue at VECOUT, and after a reset",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECOUT\n"
     "pipe.initBuffer pipe=1 tque=1 num=2 len=128 -> buffers[0].address=0 buffers[1].address=128\n"
     "pipe.layout pipe=1 -> memories[0].usedBytes=256\n"
     "pipe.reset pipe=1\n"
     "pipe.layout pipe=1 -> memories[0].usedBytes=0"},
    {"two pools of the pipe, one over the other",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=65536 -> startAddress=0\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=65536 shareBuf=1 -> startAddress=0 len=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=128\n"
     "pipe.layout pipe=1 -> buffers=2 memories[0].regions[0].name=p1 "
     "memories[0].regions[0].len=65536 memories[0].regions[0].freeBytes=65280\n"
     "pipe.reset pipe=1\n"
     "pipe.layout pipe=1 -> buffers=0 memories[0].usedBytes=0"},
    {"pools in a pool; with the default bufIdSize only as the device code does it",
     "pipe.create checks=device\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=131072\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=128\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=65536 -> startAddress=256\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=65536 shareBuf=2 -> startAddress=256\n"
     "pipe.layout pipe=1 -> memories[0].regions[0].freeBytes=65280"},
    {"... documented: the child may have at most the 2 that are left",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=2\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=131072\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=128\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=65536 -> BUF_ID_SIZE\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=65536 -> startAddress=256"},
    {"a TQue and a TBuf in a pool",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=128\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=128 -> buffers[0].address=256\n"
     "pipe.layout pipe=1 -> buffers=3 memories[0].regions[0].freeBytes=65152"},
    {"lengths that are no multiple of 32",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=65537 -> len=65568 paddingBytes=31\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=127 -> len=128 paddingBytes=1"},
    {"a custom pool gives the rest to a TBuf",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=196608\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=131072 -> buffers[0].address=65536"},
    {"five buffers in a pool of four, and a TQue twice: passes there, refused here",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECOUT depth=2\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=65536\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=4 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=1024 -> BUF_ID_LIMIT\n"
     "pipe.initBuffer pipe=1 tque=1 num=4 len=1024 -> ALREADY_INITIALIZED"},
    {"round robin: the second tensor is the second buffer",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECOUT depth=2\n"
     "pipe.initBuffer pipe=1 tque=1 num=4 len=1024\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=1 address=0\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=2 address=1024"},
    {"ten buffers and five tensors: passes, with our warning",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN depth=10\n"
     "pipe.initBuffer pipe=1 tque=1 num=10 len=1024 -> warnings.count=1\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=5 address=4096\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\npipe.enQue pipe=1 tque=1 tensor=2\n"
     "pipe.enQue pipe=1 tque=1 tensor=3\npipe.enQue pipe=1 tque=1 tensor=4\n"
     "pipe.enQue pipe=1 tque=1 tensor=5\n"
     "pipe.deQue pipe=1 tque=1 -> tensor=1"},
};

static void test_kernel_code(void)
{
    RUN_SCENES(kernel_scenes);
}

static const struct soma_test tests[] = {
    {"the article's two stages", test_article},
    {"the sample tbufpool_management", test_management},
    {"numbers of the kernel code's unit tests", test_kernel_code},
    {NULL, NULL},
};

const struct soma_suite suite_pipe_samples = {"pipe_samples", tests};
