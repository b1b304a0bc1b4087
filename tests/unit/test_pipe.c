/* Pipes: what each SoC gives, ids, and objects without memory. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scene identity_scenes[] = {
    {"ids count up from 1 per session and kind, over all pipes, and are never reused",
     "pipe.create -> pipe=1\n"
     "pipe.create -> pipe=2\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=1\n"
     "pipe.createTQue pipe=2 position=VECIN -> tque=2\n"
     "pipe.createTBuf pipe=2 position=VECCALC -> tbuf=1\n"
     "pipe.createTBufPool pipe=1 position=VECCALC -> tbufpool=1\n"
     "pipe.destroy pipe=1\n"
     "pipe.describe pipe=1 -> NO_SUCH_PIPE acl=107017 field=pipe says=destroyed\n"
     "pipe.describe pipe=4 -> NO_SUCH_PIPE says=never\n"
     "pipe.create -> pipe=3\n"
     "pipe.createTQue pipe=3 position=A1 -> tque=3"},
    {"an object belongs to its pipe",
     "pipe.create\n"
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTBuf pipe=1 position=VECIN\n"
     "pipe.createTBufPool pipe=1 position=VECIN\n"
     "pipe.initBuffer pipe=2 tque=1 num=1 len=32 -> NO_SUCH_TQUE acl=107017 field=tque\n"
     "pipe.initBuffer pipe=2 tbuf=1 len=32 -> NO_SUCH_TBUF acl=107017 field=tbuf\n"
     "pipe.initBufPool pipe=2 tbufpool=1 len=32 -> NO_SUCH_TBUFPOOL acl=107017 field=tbufpool\n"
     "pipe.poolInitBuffer pipe=2 tbufpool=1 tque=1 num=1 len=32 -> NO_SUCH_TBUFPOOL\n"
     "pipe.poolInitBufPool pipe=2 parent=1 tbufpool=1 len=32 -> NO_SUCH_TBUFPOOL field=parent\n"
     "pipe.poolReset pipe=2 tbufpool=1 -> NO_SUCH_TBUFPOOL\n"
     "pipe.initBuffer pipe=1 tque=2 num=1 len=32 -> NO_SUCH_TQUE\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=32 shareBuf=9 -> NO_SUCH_TBUFPOOL field=shareBuf"},
    {"every pipe command needs a pipe that is there",
     "pipe.destroy pipe=1 -> NO_SUCH_PIPE\n"
     "pipe.createTQue pipe=1 position=VECIN -> NO_SUCH_PIPE\n"
     "pipe.createTBuf pipe=1 position=VECIN -> NO_SUCH_PIPE\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> NO_SUCH_PIPE\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=1 -> NO_SUCH_PIPE\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1 -> NO_SUCH_PIPE\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=1 -> NO_SUCH_PIPE\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=1 len=1 -> NO_SUCH_PIPE\n"
     "pipe.poolReset pipe=1 tbufpool=1 -> NO_SUCH_PIPE\n"
     "pipe.reset pipe=1 -> NO_SUCH_PIPE\n"
     "pipe.allocTensor pipe=1 tque=1 -> NO_SUCH_PIPE\n"
     "pipe.enQue pipe=1 tque=1 tensor=1 -> NO_SUCH_PIPE\n"
     "pipe.deQue pipe=1 tque=1 -> NO_SUCH_PIPE\n"
     "pipe.freeTensor pipe=1 tque=1 tensor=1 -> NO_SUCH_PIPE\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 -> NO_SUCH_PIPE\n"
     "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=int8 size=1 bufOffset=0 -> NO_SUCH_PIPE\n"
     "pipe.layout pipe=1 -> NO_SUCH_PIPE\n"
     "pipe.list -> pipes.count=0"},
    {"a pipe is of the session's SoC unless it says so",
     "pipe.create -> pipe=1 soc=Ascend910B1 checks=documented memories.UB=196608 "
     "memories.L1=524288 memories.L0A=65536 memories.L0B=65536 memories.L0C=131072 "
     "memories.BT=1024 limits.buffers=64 limits.poolBuffers=16 "
     "limits.queueBuffersPerPosition=8\n"
     "pipe.create soc=Ascend310P3 checks=device -> pipe=2 soc=Ascend310P3 checks=device "
     "memories.UB=262144 memories.L1=1048576 memories.L0C=262144 memories.BT=none\n"
     "pipe.create soc=Ascend910A -> limits.queueBuffersPerPosition=4\n"
     "pipe.create soc=Ascend310B1 -> memories.UB=253952 limits.queueBuffersPerPosition=8\n"
     "pipe.create soc=Ascend950 -> UNKNOWN_SOC field=soc says=Ascend950\n"
     "pipe.describe pipe=2 -> soc=Ascend310P3 checks=device\n"
     "pipe.list -> pipes.count=4 pipes[0].pipe=1 pipes[1].soc=Ascend310P3"},
    {"a refused create uses no id", "pipe.create soc=ascend910b1 -> UNKNOWN_SOC\n"
                                    "pipe.create -> pipe=1\n"
                                    "pipe.createTQue pipe=1 position=CO2 -> POSITION_UNSUPPORTED\n"
                                    "pipe.createTQue pipe=1 position=CO1 -> tque=1"},
    {"commands on pipes move the host clock as all do, refused ones do not",
     "pipe.create -> now=1000\n"
     "pipe.createTQue pipe=1 position=VECIN -> now=2000\n"
     "pipe.allocTensor pipe=1 tque=1 -> NOT_INITIALIZED now=2000\n"
     "pipe.layout pipe=1 -> now=3000"},
    {"bufIdSize is 1 to 16",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=0 -> VALUE_OUT_OF_RANGE acl=100000 "
     "field=bufIdSize\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=17 -> VALUE_OUT_OF_RANGE\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=16 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=1 -> tbufpool=2"},
};

static void test_identity(void)
{
    RUN_SCENES(identity_scenes);
}

/* ---- positions ---- */

enum { POSITIONS = 12 };

static const char *const positions[POSITIONS] = {"VECIN", "VECOUT", "VECCALC", "A1",  "B1", "C1",
                                                 "TSCM",  "A2",     "B2",      "CO1", "C2", "CO2"};

/* Where a first buffer of 64 bytes lies: memory, and its address; TSCM ends where L1 does. */
static const char *const new_memories[POSITIONS] = {"UB", "UB",  "UB",  "L1",  "L1", "L1",
                                                    "L1", "L0A", "L0B", "L0C", "BT", NULL};
static const char *const old_memories[POSITIONS] = {"UB", "UB",  "UB",  "L1",  "L1",  "UB",
                                                    "L1", "L0A", "L0B", "L0C", "L0C", "UB"};

/* One object at one position of a fresh pipe; `creates` and its id's field. */
static void expect_position(struct fixture *fixture, const struct soma_soc *soc, unsigned position,
                            const char *noun, const char *field)
{
    bool is_old = soc->npu_arch == 1001 || soc->npu_arch == 2002;
    const char *memory = is_old ? old_memories[position] : new_memories[position];
    bool is_pool = strcmp(noun, "TBufPool") == 0;
    bool takes_pools = position <= 5; /* VECIN, VECOUT, VECCALC, A1, B1, C1 */
    bool is_refused = memory == NULL || (is_pool && !takes_pools);
    char script[1024], rule[64];
    uint32_t address = position == 6 ? soc->l1_bytes - 64 : 0;
    (void)fixture_run(fixture, "pipe.create soc=%s", soc->name);
    uint64_t pipe = fixture_number(fixture, "pipe");
    enum soma_status status = fixture_run(fixture, "pipe.create%s pipe=%" PRIu64 " position=%s",
                                          noun, pipe, positions[position]);
    (void)snprintf(rule, sizeof(rule), "%s: a %s at %s", soc->name, noun, positions[position]);
    if (!EXPECT((status == SOMA_POSITION_UNSUPPORTED) == is_refused, "%s: %s", rule,
                fixture->error.message) ||
        is_refused)
        return;
    uint64_t id = fixture_number(fixture, field);
    if (is_pool)
        (void)snprintf(script, sizeof(script),
                       "pipe.initBufPool pipe=%" PRIu64 " tbufpool=%" PRIu64
                       " len=33 -> memory=%s startAddress=0 len=64 paddingBytes=31",
                       pipe, id, memory);
    else
        (void)snprintf(script, sizeof(script),
                       "pipe.initBuffer pipe=%" PRIu64 " %s=%" PRIu64
                       " len=33%s -> memory=%s len=64 buffers.count=1 buffers[0].address=%" PRIu32
                       " buffers[0].len=64 paddingBytes=31 warnings.count=0",
                       pipe, field, id, strcmp(noun, "TQue") == 0 ? " num=1" : "", memory, address);
    (void)fixture_script(fixture, rule, script);
}

static void test_positions(void)
{
    const struct soma_soc *soc;
    for (unsigned i = 0; (soc = soma_soc_row(i)) != NULL; i++) {
        struct fixture fixture;
        if (!fixture_start(&fixture, NULL))
            abort();
        for (unsigned position = 0; position < POSITIONS; position++) {
            expect_position(&fixture, soc, position, "TQue", "tque");
            expect_position(&fixture, soc, position, "TBuf", "tbuf");
            expect_position(&fixture, soc, position, "TBufPool", "tbufpool");
        }
        fixture_finish(&fixture, soc->name);
    }
}

/* Every memory of every SoC holds exactly its bytes. */
static void test_capacities(void)
{
    static const char *const names[] = {"VECIN", "A1", "A2", "B2", "CO1", "C2"};
    const struct soma_soc *soc;
    for (unsigned i = 0; (soc = soma_soc_row(i)) != NULL; i++) {
        const uint32_t bytes[] = {soc->ub_bytes,  soc->l1_bytes,  soc->l0a_bytes,
                                  soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes};
        struct fixture fixture;
        if (!fixture_start(&fixture, NULL))
            abort();
        (void)fixture_run(&fixture, "pipe.create soc=%s", soc->name);
        for (unsigned memory = 0; memory < 6; memory++) {
            char script[512];
            if (bytes[memory] == 0)
                continue;
            (void)snprintf(
                script, sizeof(script),
                "pipe.createTQue pipe=1 position=%s\n"
                "pipe.initBuffer pipe=1 tque=%u num=2 len=%" PRIu32 " -> MEMORY_OVERFLOW\n"
                "pipe.initBuffer pipe=1 tque=%u num=1 len=%" PRIu32 " -> MEMORY_OVERFLOW\n"
                "pipe.initBuffer pipe=1 tque=%u num=2 len=%" PRIu32
                " -> buffers[1].address=%" PRIu32,
                names[memory], memory + 1, bytes[memory] / 2 + 1, memory + 1, bytes[memory] + 1,
                memory + 1, bytes[memory] / 2, bytes[memory] / 2);
            (void)fixture_script(&fixture, soc->name, script);
        }
        fixture_finish(&fixture, soc->name);
    }
}

/* ---- memory of the host ---- */

static const char *const lines_of_a_plan[] = {
    "pipe.create",
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 name=pool",
    "pipe.createTBufPool pipe=1 position=VECCALC",
    "pipe.createTBufPool pipe=1 position=VECCALC",
    "pipe.createTQue pipe=1 position=VECIN depth=2 name=in",
    "pipe.createTQue pipe=1 position=VECIN",
    "pipe.createTBuf pipe=1 position=VECCALC",
    "pipe.createTQue pipe=1 position=VECOUT",
    "pipe.initBufPool pipe=1 tbufpool=1 len=128K",
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=64K",
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=64K shareBuf=2",
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=2 len=1000",
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=2 num=2 len=2000",
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tbuf=1 len=100",
    "pipe.initBuffer pipe=1 tque=3 num=9 len=32",
    "pipe.allocTensor pipe=1 tque=1",
    "pipe.enQue pipe=1 tque=1 tensor=1",
    "pipe.layout pipe=1",
    "pipe.list",
    "pipe.poolReset pipe=1 tbufpool=3",
    "pipe.reset pipe=1",
};

/* Each allocation fails once; the command that needed it is refused and then works. */
static void test_no_memory(void)
{
    struct fixture fixture;
    long count = 0;
    for (long fail = 1; fail == 1 || fail <= count; fail++) {
        if (!fixture_start(&fixture, NULL))
            abort();
        long before = fixture.memory.allocations;
        fixture.memory.fail_at = before + fail;
        for (size_t i = 0; i < sizeof(lines_of_a_plan) / sizeof(lines_of_a_plan[0]); i++) {
            const char *line = lines_of_a_plan[i];
            enum soma_status status = fixture_run(&fixture, "%s", line);
            if (status == SOMA_OUT_OF_MEMORY) {
                EXPECT(fixture.memory.has_failed, "%s: out of memory without reason", line);
                status = fixture_run(&fixture, "%s", line);
            }
            EXPECT(status == SOMA_OK, "allocation %ld, %s: %s", fail, line, fixture.error.message);
        }
        count = fixture.memory.allocations - before;
        fixture_finish(&fixture, "no memory");
    }
    EXPECT(count > 30, "only %ld allocations", count);
}

static const struct soma_test tests[] = {
    {"ids, SoCs and what is not there", test_identity},
    {"positions and their memories, on every SoC", test_positions},
    {"every memory holds its bytes and no more", test_capacities},
    {"allocations that fail", test_no_memory},
    {NULL, NULL},
};

const struct soma_suite suite_pipe = {"pipe", tests};
