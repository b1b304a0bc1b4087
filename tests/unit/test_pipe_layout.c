/* The layout of a pipe as a message: sums, regions, sharing, stages, holders, warnings; and what a
 * session of many pipes takes. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TWO_STAGES                                                                                 \
    "pipe.create\n"                                                                                \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 name=outer\n"                        \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4\n"                                    \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4\n"                                    \
    "pipe.createTQue pipe=1 position=VECIN name=src\n"                                             \
    "pipe.createTQue pipe=1 position=VECIN\n"                                                      \
    "pipe.createTQue pipe=1 position=VECOUT\n"                                                     \
    "pipe.createTBuf pipe=1 position=VECCALC\n"                                                    \
    "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"                                                \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=1000\n"                                \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=2048\n"                                   \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=2048 shareBuf=2\n"                        \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=2 len=500\n"                                 \
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=3 num=1 len=600\n"                                 \
    "pipe.initBuffer pipe=1 tbuf=1 len=96\n"

static const struct scene layout_scenes[] = {
    {"an empty pipe tells its memories",
     "pipe.create\n"
     "pipe.layout pipe=1 -> pipe=1 soc=Ascend910B1 checks=documented buffers=0 memories.count=6 "
     "memories[0].memory=UB memories[0].capacityBytes=196608 memories[0].usedBytes=0 "
     "memories[0].freeBytes=196608 memories[0].reservedBytes=8192 memories[1].memory=L1 "
     "memories[1].reservedBytes=0 memories[5].memory=BT memories[5].capacityBytes=1024 "
     "memories[0].regions.count=0 memories[0].stages.count=0 largest.count=0 warnings.count=0\n"
     "pipe.create soc=Ascend310P1\n"
     "pipe.layout pipe=2 -> memories.count=5 memories[4].memory=L0C "
     "memories[0].reservedBytes=8192\n"
     "pipe.create soc=Ascend310B1\n"
     "pipe.layout pipe=3 -> memories.count=6 memories[0].reservedBytes=0"},
    {"sums: given out, peak, padding, live", TWO_STAGES
     "pipe.layout pipe=1 -> buffers=5 memories[0].usedBytes=4192 memories[0].peakBytes=4192 "
     "memories[0].freeBytes=192416 memories[0].paddingBytes=56 memories[0].liveBytes=0\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=2\n"
     "pipe.layout pipe=1 -> memories[0].liveBytes=1536\n"
     "pipe.reset pipe=1\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=32\n"
     "pipe.layout pipe=1 -> memories[0].usedBytes=32 memories[0].peakBytes=4192 "
     "memories[0].paddingBytes=0 memories[0].liveBytes=0"},
    {"regions: in address order, a pool before what it holds",
     TWO_STAGES "pipe.layout pipe=1 -> memories[0].regions.count=8 "
                "memories[0].regions[0].name=outer memories[0].regions[0].kind=POOL "
                "memories[0].regions[0].owner=pipe memories[0].regions[0].level=0 "
                "memories[0].regions[0].len=4096 memories[0].regions[0].freeBytes=1024 "
                "memories[0].regions[0].tbufpool=1 memories[0].regions[0].tque=none "
                "memories[0].regions[0].bufIdSize=16 memories[0].regions[0].buffers=1\n"
                "pipe.layout pipe=1 -> "
                "memories[0].regions[1].name=src memories[0].regions[1].kind=BUFFER "
                "memories[0].regions[1].owner=outer memories[0].regions[1].level=1 "
                "memories[0].regions[1].address=0 memories[0].regions[1].len=1024 "
                "memories[0].regions[1].paddingBytes=24 memories[0].regions[1].tque=1 "
                "memories[0].regions[1].index=0 memories[0].regions[1].position=VECIN "
                "memories[0].regions[1].tbufpool=none memories[0].regions[1].freeBytes=none\n"
                "pipe.layout pipe=1 -> "
                "memories[0].regions[2].name=p2 memories[0].regions[2].address=1024 "
                "memories[0].regions[3].name=q2 memories[0].regions[3].index=0 "
                "memories[0].regions[3].level=2 memories[0].regions[4].name=q2 "
                "memories[0].regions[4].index=1 memories[0].regions[4].address=1536\n"
                "pipe.layout pipe=1 -> "
                "memories[0].regions[5].name=p3 memories[0].regions[5].address=1024 "
                "memories[0].regions[6].name=q3 memories[0].regions[6].level=2 "
                "memories[0].regions[7].name=b1 memories[0].regions[7].tbuf=1 "
                "memories[0].regions[7].address=4096 memories[0].regions[7].level=0 "
                "memories[0].regions[7].index=none"},
    {"regions: who shares bytes with whom", TWO_STAGES
     "pipe.layout pipe=1 -> memories[0].regions[0].sharedWith.count=0 "
     "memories[0].regions[1].sharedWith.count=0 memories[0].regions[2].sharedWith.count=1 "
     "memories[0].regions[2].sharedWith[0]=p3 memories[0].regions[3].sharedWith[0]=q3 "
     "memories[0].regions[4].sharedWith[0]=q3 memories[0].regions[5].sharedWith[0]=p2 "
     "memories[0].regions[6].sharedWith.count=1 memories[0].regions[6].sharedWith[0]=q2 "
     "memories[0].regions[7].sharedWith.count=0"},
    {"regions: what is in use",
     TWO_STAGES "pipe.allocTensor pipe=1 tque=2\n"
                "pipe.allocTensor pipe=1 tque=2\n"
                "pipe.enQue pipe=1 tque=2 tensor=2\n"
                "pipe.layout pipe=1 -> memories[0].regions[0].state=ALLOCATED "
                "memories[0].regions[1].state=IDLE memories[0].regions[1].tensor=none "
                "memories[0].regions[2].state=ALLOCATED memories[0].regions[3].state=ALLOCATED "
                "memories[0].regions[3].tensor=1 memories[0].regions[4].state=QUEUED "
                "memories[0].regions[4].tensor=2 memories[0].regions[5].state=IDLE\n"
                "pipe.deQue pipe=1 tque=2\n"
                "pipe.freeTensor pipe=1 tque=2 tensor=1\n"
                "pipe.layout pipe=1 -> memories[0].regions[3].state=IDLE "
                "memories[0].regions[4].state=DEQUEUED"},
    {"stages: what lies in no sharing pool, then each sharing pool", TWO_STAGES
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.allocTensor pipe=1 tque=3\n"
     "pipe.layout pipe=1 -> memories[0].stages.count=3 memories[0].stages[0].name=always "
     "memories[0].stages[0].tbufpool=none memories[0].stages[0].buffers=2 "
     "memories[0].stages[0].bufferBytes=1120 memories[0].stages[0].liveTensors=1 "
     "memories[0].stages[0].liveBytes=1024 memories[0].stages[0].live.count=1\n"
     "pipe.layout pipe=1 -> memories[0].stages[1].name=p2 memories[0].stages[1].tbufpool=2 "
     "memories[0].stages[1].buffers=2 memories[0].stages[1].bufferBytes=1024 "
     "memories[0].stages[1].liveTensors=0 memories[0].stages[1].live.count=0 "
     "memories[0].stages[2].name=p3 memories[0].stages[2].liveTensors=1 "
     "memories[0].stages[2].liveBytes=608 memories[0].stages[2].live.count=1"},
    {"a pool inside a sharing pool is of its stage",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=A1\n"
     "pipe.createTBufPool pipe=1 position=A1\n"
     "pipe.createTBufPool pipe=1 position=A1\n"
     "pipe.createTQue pipe=1 position=A1\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=64\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=64 shareBuf=1\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=3 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=1 num=1 len=32\n"
     "pipe.layout pipe=1 -> memories[1].stages.count=3 memories[1].stages[0].buffers=0 "
     "memories[1].stages[1].buffers=0 memories[1].stages[2].name=p2 "
     "memories[1].stages[2].buffers=1"},
    {"TSCM stands where it lies: at the end",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=TSCM\n"
     "pipe.createTQue pipe=1 position=TSCM\n"
     "pipe.createTQue pipe=1 position=A1\n"
     "pipe.initBuffer pipe=1 tque=1 num=2 len=32\n"
     "pipe.initBuffer pipe=1 tque=2 num=1 len=32\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=32\n"
     "pipe.layout pipe=1 -> memories[1].regions.count=4 memories[1].regions[0].name=q3 "
     "memories[1].regions[1].name=q2 memories[1].regions[2].name=q1 "
     "memories[1].regions[2].index=0 memories[1].regions[3].index=1 "
     "memories[1].regions[3].address=524256 memories[1].usedBytes=128"},
    {"the largest: TQues and TBufs by all their bytes, eight at most", TWO_STAGES
     "pipe.layout pipe=1 -> largest.count=4 largest[0].name=src largest[0].bytes=1024 "
     "largest[0].owner=outer largest[0].memory=UB largest[0].buffers=1 largest[1].name=q2 "
     "largest[1].bytes=1024 largest[1].buffers=2 largest[2].name=q3 largest[3].name=b1 "
     "largest[3].owner=pipe\n"
     "pipe.createTQue pipe=1 position=A1\npipe.createTQue pipe=1 position=A1\n"
     "pipe.createTQue pipe=1 position=A1\npipe.createTQue pipe=1 position=A1\n"
     "pipe.createTQue pipe=1 position=A1\n"
     "pipe.initBuffer pipe=1 tque=4 num=1 len=64\npipe.initBuffer pipe=1 tque=5 num=1 len=2048\n"
     "pipe.initBuffer pipe=1 tque=6 num=1 len=800\npipe.initBuffer pipe=1 tque=7 num=1 len=32\n"
     "pipe.initBuffer pipe=1 tque=8 num=2 len=320\n"
     "pipe.layout pipe=1 -> largest.count=8 largest[0].name=q5 largest[0].memory=L1 "
     "largest[1].name=src largest[2].name=q2 largest[3].name=q6 largest[4].name=q8 "
     "largest[5].name=q3 largest[6].name=b1 largest[7].name=q4"},
};

static void test_layouts(void)
{
    RUN_SCENES(layout_scenes);
}

static const struct scene warning_scenes[] = {
    {"more TQue buffers at a position than event ids",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBuffer pipe=1 tque=1 num=8 len=32\n"
     "pipe.layout pipe=1 -> warnings.count=0\n"
     "pipe.initBuffer pipe=1 tque=2 num=1 len=32\n"
     "pipe.layout pipe=1 -> warnings.count=1"},
    {"the tail of UB that vector operations use", "pipe.create\n"
                                                  "pipe.createTQue pipe=1 position=VECIN\n"
                                                  "pipe.createTQue pipe=1 position=VECIN\n"
                                                  "pipe.initBuffer pipe=1 tque=1 num=2 len=92K\n"
                                                  "pipe.layout pipe=1 -> warnings.count=0\n"
                                                  "pipe.initBuffer pipe=1 tque=2 num=1 len=32\n"
                                                  "pipe.layout pipe=1 -> warnings.count=1\n"
                                                  "pipe.create soc=Ascend310B1\n"
                                                  "pipe.createTQue pipe=2 position=VECIN\n"
                                                  "pipe.initBuffer pipe=2 tque=3 num=2 len=124K\n"
                                                  "pipe.layout pipe=2 -> warnings.count=0"},
    {"one buffer over half of its memory", "pipe.create\n"
                                           "pipe.createTQue pipe=1 position=C2\n"
                                           "pipe.createTBuf pipe=1 position=CO1\n"
                                           "pipe.initBuffer pipe=1 tque=1 num=2 len=512\n"
                                           "pipe.initBuffer pipe=1 tbuf=1 len=64K\n"
                                           "pipe.layout pipe=1 -> warnings.count=0\n"
                                           "pipe.reset pipe=1\n"
                                           "pipe.initBuffer pipe=1 tque=1 num=1 len=513\n"
                                           "pipe.initBuffer pipe=1 tbuf=1 len=65537\n"
                                           "pipe.layout pipe=1 -> warnings.count=2"},
    {"a pool over half is no warning", "pipe.create\n"
                                       "pipe.createTBufPool pipe=1 position=VECIN\n"
                                       "pipe.initBufPool pipe=1 tbufpool=1 len=180K\n"
                                       "pipe.layout pipe=1 -> warnings.count=0"},
};

static void test_warnings(void)
{
    RUN_SCENES(warning_scenes);
}

/* ---- size ---- */

struct counter {
    size_t bytes;
};

/* Blocks with their size in front, and what a heap adds to each. */
static void *counted_alloc(void *ctx, size_t size_bytes)
{
    struct counter *counter = ctx;
    size_t *block = malloc(size_bytes + 16);
    if (block == NULL)
        return NULL;
    counter->bytes += block[0] = (size_bytes + 8 + 15) / 16 * 16;
    return block + 2;
}

static void counted_release(void *ctx, void *ptr)
{
    struct counter *counter = ctx;
    if (ptr == NULL)
        return;
    size_t *block = (size_t *)ptr - 2;
    counter->bytes -= block[0];
    free(block);
}

static uint64_t apply(struct engine *engine, enum soma_op op, uint64_t pipe,
                      const uint64_t (*fields)[2], size_t count)
{
    struct soma_command command;
    struct soma_result result;
    struct soma_error error = {.message = ""};
    soma_command_init(&command, op);
    if (pipe != 0)
        soma_command_set(&command, SOMA_FIELD_pipe, pipe);
    for (size_t i = 0; i < count; i++)
        soma_command_set(&command, (enum soma_field)fields[i][0], fields[i][1]);
    if (!EXPECT(engine_apply(engine, &command, &result, &error) == SOMA_OK, "%s", error.message))
        return 0;
    uint64_t id = result.u.pipe.pipe; /* ids stand first in what creates answer */
    engine_result_clear(engine, &result);
    return id;
}

#define APPLY(engine, op, pipe, ...)                                                               \
    apply((engine), (op), (pipe), (const uint64_t[][2]){__VA_ARGS__},                              \
          sizeof((const uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]))

/* A pipe as full as it can be: 16 pools and 64 buffers, each of a TQue of its own. */
static void fill_pipe(struct engine *engine)
{
    uint64_t pipe = APPLY(engine, SOMA_OP_PIPE_CREATE, 0, {SOMA_FIELD_checks, 0});
    for (unsigned i = 0; i < 16; i++) {
        uint64_t pool = APPLY(engine, SOMA_OP_PIPE_CREATE_TBUFPOOL, pipe,
                              {SOMA_FIELD_position, SOMA_POSITION_VECCALC});
        (void)APPLY(engine, SOMA_OP_PIPE_INIT_BUF_POOL, pipe, {SOMA_FIELD_tbufpool, pool},
                    {SOMA_FIELD_len, 8192});
        for (unsigned j = 0; j < 4; j++) {
            uint64_t tque = APPLY(engine, SOMA_OP_PIPE_CREATE_TQUE, pipe,
                                  {SOMA_FIELD_position, SOMA_POSITION_VECIN});
            (void)APPLY(engine, SOMA_OP_PIPE_POOL_INIT_BUFFER, pipe, {SOMA_FIELD_tbufpool, pool},
                        {SOMA_FIELD_tque, tque}, {SOMA_FIELD_num, 1}, {SOMA_FIELD_len, 2048});
        }
    }
}

/* 10,000 pipes in 100 MiB, even if every one of them is full. */
static void test_size(void)
{
    enum { PIPES = 20 };
    struct counter counter = {0};
    struct engine_mem mem = {&counter, counted_alloc, counted_release};
    struct engine_config config = {.device_count = 1, .soc = soma_soc_row(3)};
    struct engine *engine = engine_create(&config, &mem, NULL);
    if (engine == NULL)
        abort();
    size_t before = counter.bytes;
    for (unsigned i = 0; i < PIPES; i++)
        fill_pipe(engine);
    size_t each = (counter.bytes - before) / PIPES;
    EXPECT(each * 10000 < (size_t)100 << 20, "a full pipe takes %zu bytes", each);
    before = counter.bytes;
    for (unsigned i = 0; i < PIPES; i++)
        (void)APPLY(engine, SOMA_OP_PIPE_CREATE, 0, {SOMA_FIELD_checks, 0});
    each = (counter.bytes - before) / PIPES;
    EXPECT(each < 512, "an empty pipe takes %zu bytes", each);
    engine_destroy(engine);
    EXPECT(counter.bytes == 0, "%zu bytes are left", counter.bytes);
}

/* Very many pools that share: still an answer, with as many names as there is room for. */
static void test_many_sharers(void)
{
    struct fixture fixture;
    char line[128];
    if (!fixture_start(&fixture, NULL))
        abort();
    (void)fixture_run(&fixture, "pipe.create");
    for (unsigned i = 1; i <= 200; i++) {
        (void)fixture_run(&fixture, "pipe.createTBufPool pipe=1 position=VECIN");
        (void)snprintf(line, sizeof(line), "pipe.initBufPool pipe=1 tbufpool=%u len=64%s", i,
                       i > 1 ? " shareBuf=1" : "");
        (void)fixture_run(&fixture, "%s", line);
    }
    (void)fixture_script(&fixture, "200 pools share",
                         "pipe.layout pipe=1 -> memories[0].regions.count=200 "
                         "memories[0].regions[199].sharedWith.count=21 "
                         "memories[0].stages.count=201");
    fixture_finish(&fixture, "200 pools share");
}

static const struct soma_test tests[] = {
    {"layouts", test_layouts},
    {"warnings", test_warnings},
    {"what pipes take", test_size},
    {"very many pools that share", test_many_sharers},
    {NULL, NULL},
};

const struct soma_suite suite_pipe_layout = {"pipe_layout", tests};
