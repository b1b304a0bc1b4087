/* Tensors of TQues, slices of TBufs, and buffers that share bytes. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A pipe with TQue q1 at VECIN, depth 2, four buffers of 32 bytes. */
#define QUEUE_OF_FOUR                                                                              \
    "pipe.create\n"                                                                                \
    "pipe.createTQue pipe=1 position=VECIN depth=2 -> tque=1\n"                                    \
    "pipe.initBuffer pipe=1 tque=1 num=4 len=32\n"

static const struct scene queue_scenes[] = {
    {"alloc, enqueue, dequeue, free, all the way round",
     QUEUE_OF_FOUR "pipe.allocTensor pipe=1 tque=1 -> tensor=1 address=0 len=32\n"
                   "pipe.enQue pipe=1 tque=1 tensor=1\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=1 address=0 len=32\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=2 address=32"},
    {"tensor ids count up over the session's pipes",
     QUEUE_OF_FOUR "pipe.create -> pipe=2\n"
                   "pipe.createTQue pipe=2 position=VECOUT -> tque=2\n"
                   "pipe.initBuffer pipe=2 tque=2 num=1 len=1\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=1\n"
                   "pipe.allocTensor pipe=2 tque=2 -> tensor=2\n"
                   "pipe.allocTensor pipe=2 tque=2 -> QUEUE_BUFFERS_HELD\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=3"},
    {"AllocTensor goes on after the buffer that it took last",
     QUEUE_OF_FOUR "pipe.allocTensor pipe=1 tque=1 -> address=0\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=32\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=64\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=2\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=96\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=0\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=32\n"
                   "pipe.allocTensor pipe=1 tque=1 -> QUEUE_BUFFERS_HELD acl=107000 field=tque\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=3\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=7 address=64"},
    {"FreeTensor straight after AllocTensor, and EnQue again after DeQue",
     QUEUE_OF_FOUR "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
                   "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.enQue pipe=1 tque=1 tensor=2\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=2\n"
                   "pipe.enQue pipe=1 tque=1 tensor=2\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=2\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=2"},
    {"first in, first out, whatever the buffers' order",
     QUEUE_OF_FOUR "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.enQue pipe=1 tque=1 tensor=3\n"
                   "pipe.enQue pipe=1 tque=1 tensor=1\n"
                   "pipe.enQue pipe=1 tque=1 tensor=2 -> QUEUE_FULL acl=107000 field=tque says=2\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=3\n"
                   "pipe.enQue pipe=1 tque=1 tensor=2\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=1\n"
                   "pipe.enQue pipe=1 tque=1 tensor=3\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=2\n"
                   "pipe.deQue pipe=1 tque=1 -> tensor=3\n"
                   "pipe.deQue pipe=1 tque=1 -> QUEUE_EMPTY acl=107000 field=tque"},
    {"the depth is 1 when it is not given, and 0 queues one tensor, in place",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN depth=0\n"
     "pipe.initBuffer pipe=1 tque=1 num=2 len=32\n"
     "pipe.initBuffer pipe=1 tque=2 num=2 len=32\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.enQue pipe=1 tque=1 tensor=2 -> QUEUE_FULL\n"
     "pipe.allocTensor pipe=1 tque=2\n"
     "pipe.allocTensor pipe=1 tque=2\n"
     "pipe.enQue pipe=1 tque=2 tensor=3\n"
     "pipe.enQue pipe=1 tque=2 tensor=4 -> QUEUE_FULL\n"
     "pipe.deQue pipe=1 tque=2 -> tensor=3"},
    {"a tensor is freed once, queued once, and out of the queue when it is freed", QUEUE_OF_FOUR
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.enQue pipe=1 tque=1 tensor=1 -> TENSOR_STATE acl=107000 field=tensor\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1 -> TENSOR_STATE field=tensor says=DeQue\n"
     "pipe.deQue pipe=1 tque=1\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1 -> NO_SUCH_TENSOR acl=107017 "
     "field=tensor says=freed\n"
     "pipe.enQue pipe=1 tque=1 tensor=1 -> NO_SUCH_TENSOR says=freed\n"
     "pipe.enQue pipe=1 tque=1 tensor=2 -> NO_SUCH_TENSOR says=never\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=0 -> NO_SUCH_TENSOR says=never"},
    {"a tensor of another queue is refused",
     QUEUE_OF_FOUR "pipe.createTQue pipe=1 position=VECIN name=other\n"
                   "pipe.initBuffer pipe=1 tque=2 num=1 len=32\n"
                   "pipe.allocTensor pipe=1 tque=2 -> tensor=1\n"
                   "pipe.enQue pipe=1 tque=1 tensor=1 -> TENSOR_STATE acl=107000 says=other\n"
                   "pipe.freeTensor pipe=1 tque=1 tensor=1 -> TENSOR_STATE says=q1\n"
                   "pipe.freeTensor pipe=1 tque=2 tensor=1"},
    {"a queue without memory",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.allocTensor pipe=1 tque=1 -> NOT_INITIALIZED acl=107000 field=tque says=InitBuffer\n"
     "pipe.enQue pipe=1 tque=1 tensor=1 -> NOT_INITIALIZED\n"
     "pipe.deQue pipe=1 tque=1 -> NOT_INITIALIZED\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1 -> NOT_INITIALIZED\n"
     "pipe.allocTensor pipe=1 tque=2 -> NO_SUCH_TQUE"},
    {"at most 8 tensors are held at a position, over all its queues",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECOUT\n"
     "pipe.initBuffer pipe=1 tque=1 num=6 len=32\n"
     "pipe.initBuffer pipe=1 tque=2 num=6 len=32\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=32\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=2\npipe.allocTensor pipe=1 tque=2 -> tensor=8\n"
     "pipe.allocTensor pipe=1 tque=2 -> QUEUE_BUFFERS_HELD field=tque says=VECIN\n"
     "pipe.allocTensor pipe=1 tque=3 -> tensor=9\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> tensor=10"},
    {"and 4 on npu_arch 1001", "pipe.create soc=Ascend910A\n"
                               "pipe.createTQue pipe=1 position=A1\n"
                               "pipe.initBuffer pipe=1 tque=1 num=5 len=32\n"
                               "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
                               "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
                               "pipe.allocTensor pipe=1 tque=1 -> QUEUE_BUFFERS_HELD"},
};

static void test_queues(void)
{
    RUN_SCENES(queue_scenes);
}

/* ---- TBuf ---- */

static const struct scene tbuf_scenes[] = {
    {"the whole buffer, a part from its start, a part from an offset",
     "pipe.create\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=96\n"
     "pipe.initBuffer pipe=1 tbuf=2 len=1000 -> len=1024\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int32 -> address=96 elements=256 bytes=1024\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=half -> elements=512 bytes=1024\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int32 len=128 -> address=96 elements=128 bytes=512\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int8 len=1 -> address=96 elements=1 bytes=1\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int32 len=256 -> elements=256\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int32 len=257 -> BUFFER_RANGE acl=107000 field=len\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int32 size=128 bufOffset=64 -> address=160 "
     "elements=128 bytes=512\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int64 size=4 bufOffset=992 -> address=1088\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int64 size=5 bufOffset=992 -> BUFFER_RANGE "
     "field=size\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int8 size=1 bufOffset=1024 -> BUFFER_RANGE\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int8 size=1 bufOffset=1056 -> BUFFER_RANGE\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=2 dtype=int8 size=1 bufOffset=20 -> OFFSET_UNALIGNED "
     "acl=107000 field=bufOffset"},
    {"numbers that leave 64 bits",
     "pipe.create\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=64\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int64 len=max -> BUFFER_RANGE\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int64 len=2305843009213693953 -> BUFFER_RANGE\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=32 bufOffset=max-31 -> BUFFER_RANGE\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=max bufOffset=32 -> BUFFER_RANGE"},
    {"at least one element",
     "pipe.create\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=64\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 len=0 -> ZERO_SIZE field=len\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=0 bufOffset=0 -> ZERO_SIZE field=size"},
    {"a TBuf without memory",
     "pipe.create\n"
     "pipe.createTBuf pipe=1 position=VECCALC\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 -> NOT_INITIALIZED acl=107000 field=tbuf\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=1 bufOffset=0 -> NOT_INITIALIZED\n"
     "pipe.tbufGet pipe=1 tbuf=2 dtype=int8 -> NO_SUCH_TBUF"},
};

static void test_tbufs(void)
{
    static const struct {
        const char *dtype;
        unsigned bytes;
    } dtypes[] = {{"int8", 1},  {"uint8", 1},    {"int16", 2}, {"uint16", 2}, {"float16", 2},
                  {"half", 2},  {"bfloat16", 2}, {"int32", 4}, {"uint32", 4}, {"float32", 4},
                  {"float", 4}, {"int64", 8},    {"uint64", 8}};
    struct fixture fixture;
    char script[256];
    RUN_SCENES(tbuf_scenes);
    if (!fixture_start(&fixture, NULL))
        abort();
    (void)fixture_script(&fixture, "a TBuf",
                         "pipe.create\npipe.createTBuf pipe=1 position=CO1\n"
                         "pipe.initBuffer pipe=1 tbuf=1 len=64");
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        (void)snprintf(script, sizeof(script),
                       "pipe.tbufGet pipe=1 tbuf=1 dtype=%s -> elements=%u bytes=64\n"
                       "pipe.tbufGet pipe=1 tbuf=1 dtype=%s len=3 -> bytes=%u",
                       dtypes[i].dtype, 64 / dtypes[i].bytes, dtypes[i].dtype, 3 * dtypes[i].bytes);
        (void)fixture_script(&fixture, dtypes[i].dtype, script);
    }
    fixture_finish(&fixture, "dtypes");
}

/* ---- overlap ---- */

/* Pools p1 and p2 share 1024 bytes: q1 has 3 x 256 in p1; q2 256 and b1 512 in p2. */
#define SHARING_POOLS                                                                              \
    "pipe.create\n"                                                                                \
    "pipe.createTBufPool pipe=1 position=VECCALC\n"                                                \
    "pipe.createTBufPool pipe=1 position=VECCALC\n"                                                \
    "pipe.createTQue pipe=1 position=VECIN\n"                                                      \
    "pipe.createTQue pipe=1 position=VECOUT\n"                                                     \
    "pipe.createTBuf pipe=1 position=VECCALC\n"                                                    \
    "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"                                                \
    "pipe.initBufPool pipe=1 tbufpool=2 len=1024 shareBuf=1\n"                                     \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=3 len=256\n"                                 \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=256\n"                                 \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tbuf=1 len=512\n"

static const struct scene overlap_scenes[] = {
    {"a buffer whose bytes are live in another pool cannot be taken", SHARING_POOLS
     "pipe.allocTensor pipe=1 tque=1 -> tensor=1 address=0\n"
     "pipe.allocTensor pipe=1 tque=2 -> BUFFER_OVERLAP acl=107000 field=tque says=p1\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> BUFFER_OVERLAP says=256\n"
     "pipe.deQue pipe=1 tque=1\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> tensor=2 address=0\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=3 address=256\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=4 address=512\n"
     "pipe.allocTensor pipe=1 tque=1 -> BUFFER_OVERLAP says=q2"},
    {"a refused AllocTensor keeps the queue's turn",
     SHARING_POOLS "pipe.allocTensor pipe=1 tque=2 -> address=0\n"
                   "pipe.allocTensor pipe=1 tque=1 -> BUFFER_OVERLAP\n"
                   "pipe.allocTensor pipe=1 tque=1 -> BUFFER_OVERLAP\n"
                   "pipe.freeTensor pipe=1 tque=2 tensor=1\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=2 address=0"},
    {"Reset of the other pool makes its bytes usable",
     SHARING_POOLS "pipe.allocTensor pipe=1 tque=1\n"
                   "pipe.poolReset pipe=1 tbufpool=1\n"
                   "pipe.allocTensor pipe=1 tque=2 -> tensor=2 address=0\n"
                   "pipe.poolReset pipe=1 tbufpool=2\n"
                   "pipe.allocTensor pipe=1 tque=1 -> tensor=3"},
    {"TBuf.Get is a use, but leaves nothing live; it uses the bytes that it answers",
     SHARING_POOLS "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 -> address=256\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=0\n"
                   "pipe.tbufGet pipe=1 tbuf=1 dtype=int8\n"
                   "pipe.allocTensor pipe=1 tque=1 -> address=256\n"
                   "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 -> BUFFER_OVERLAP field=tbuf says=q1\n"
                   "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 len=1 -> BUFFER_OVERLAP\n"
                   "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=256 bufOffset=256\n"
                   "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=256 bufOffset=224 -> "
                   "BUFFER_OVERLAP says=32"},
    {"pools that do not share never overlap",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=512\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=256\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=2 len=256\n"
     "pipe.allocTensor pipe=1 tque=1\npipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=2\npipe.allocTensor pipe=1 tque=2"},
    {"a pool inside a sharing pool overlaps too",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024 shareBuf=1\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=3 len=512\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=2 num=1 len=32\n"
     "pipe.allocTensor pipe=1 tque=2\n"
     "pipe.allocTensor pipe=1 tque=1 -> BUFFER_OVERLAP says=p3\n"
     "pipe.poolReset pipe=1 tbufpool=2\n"
     "pipe.allocTensor pipe=1 tque=1"},
    {"a pool may share the pool that it lies in",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTBufPool pipe=1 position=VECCALC\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024 shareBuf=1 -> startAddress=0\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32 -> buffers[0].address=0\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32 -> buffers[0].address=0\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> BUFFER_OVERLAP\n"
     "pipe.layout pipe=1 -> memories[0].regions[0].name=p1 memories[0].regions[0].sharedWith[0]=p2 "
     "memories[0].regions[1].name=p2 memories[0].regions[1].level=1"},
};

static void test_overlap(void)
{
    RUN_SCENES(overlap_scenes);
}

static const struct soma_test tests[] = {
    {"queues", test_queues},
    {"TBufs", test_tbufs},
    {"bytes that are live elsewhere", test_overlap},
    {NULL, NULL},
};

const struct soma_suite suite_pipe_queue = {"pipe_queue", tests};
