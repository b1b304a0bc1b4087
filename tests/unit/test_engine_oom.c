/* Out of memory: a program that has every command in it runs once for each of its allocations, and
 * that one fails. A command then either says so, and has changed nothing, or succeeds all the same.
 */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Every command at least once with success. In between, reports of all that there is. */
#define REPORT                                                                                     \
    "pool.get pool=1", "pool.segments pool=1", "pool.segments pool=2", "stream.list",              \
        "stream.list device=1", "event.list", "memory.info"

/* clang-format off */
static const char *const program[] = {
    "device.list",
    "device.get",
    "stream.create priority=3",
    "stream.create",
    "stream.create device=1",
    "stream.create",
    "stream.get stream=1",
    "event.create",
    "event.create kind=PLAIN",
    "event.create kind=PLAIN",
    "event.get event=1",
    "pool.create maxSize=16g",
    "pool.create",
    "pool.list",
    "pool.getAttributes pool=1",
    "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1",
    "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1",
    "pool.setAttribute pool=2 name=reuseAllowOpportunistic value=1",
    "pool.getAttribute pool=1 name=releaseThreshold",
    /* all steps of a malloc, blocks that split and merge, late memory */
    "pool.malloc pool=1 size=2g stream=1",
    "pool.malloc pool=1 size=3g stream=1",
    "pool.malloc pool=1 size=1g stream=1",
    "stream.delay stream=1 durationNs=100us",
    "pool.free pool=1 ptr=p1 stream=1",
    "event.record event=1 stream=1",
    "stream.waitEvent stream=2 event=1",
    "pool.malloc pool=1 size=1g stream=2",
    "pool.malloc pool=1 size=1g stream=1",
    "pool.free pool=1 ptr=p1+2g stream=1",
    "pool.malloc pool=1 size=2g stream=0",
    "pool.trimTo pool=1 minBytesToKeep=5g-1",
    "pool.malloc pool=1 size=1g stream=2",
    "pool.malloc pool=1 size=99g stream=2",
    REPORT,
    /* coalescing with waits */
    "pool.malloc pool=1 size=9g stream=0",
    "pool.free pool=1 ptr=p1+6g stream=1",
    "pool.free pool=1 ptr=p1+5g stream=2",
    "pool.malloc pool=1 size=10g stream=0",
    REPORT,
    /* waits for what nobody has recorded; frees, internal reuse and late memory behind them */
    "event.record event=2 stream=0",
    "event.reset event=2 stream=0",
    "event.reset event=3 stream=0",
    "stream.waitEvent stream=1 event=2",
    "stream.waitEvent stream=2 event=3",
    "pool.malloc pool=2 size=2g stream=1",
    "pool.malloc pool=2 size=2g stream=2",
    "pool.free pool=2 ptr=p2 stream=1",
    "pool.free pool=2 ptr=p2+2g stream=2",
    "pool.free pool=1 ptr=p1 stream=1",
    "pool.malloc pool=1 size=1g stream=0",
    "pool.trimTo pool=2 minBytesToKeep=1g",
    "pool.malloc pool=2 size=3g stream=0",
    "event.record event=1 stream=2",
    "stream.waitEvent device=1 stream=3 event=1",
    "stream.delay stream=1 durationNs=1us", "stream.delay stream=1 durationNs=1us",
    "stream.delay stream=1 durationNs=1us", "stream.delay stream=1 durationNs=1us",
    "stream.delay stream=1 durationNs=1us", "stream.delay stream=1 durationNs=1us",
    "stream.synchronize stream=1 timeoutMs=0",
    REPORT,
    "event.record event=2 stream=2",
    "event.record event=3 stream=4",
    REPORT,
    "event.synchronize event=2",
    "event.elapsed event=2 since=3",
    /* memory outside pools, and contents */
    "memory.malloc size=100",
    "memory.malloc size=2g",
    "memory.malloc size=1g",
    "memory.write ptr=small base64=hello",
    "memory.write ptr=small base64=there stream=1",
    "memory.set ptr=small+8 value=65 size=3 stream=1",
    "memory.copy dst=small+32 src=small size=12",
    "stream.launchKernel stream=1 kernel=poke args=small",
    "stream.setFailureMode stream=1 failureMode=STOP",
    "memory.reduce dst=small+32 src=small size=12 kind=SUM dtype=int16 stream=1",
    ("memory.random ptr=small+64 counter=small+48 distribution=NORMAL dtype=float32 "
     "args=f32:0,f32:1 seed=7 count=3"),
    "memory.read ptr=small size=50",
    "memory.read ptr=small size=50 stream=2",
    "memory.describe ptr=small+9",
    "memory.freeAsync ptr=small stream=1",
    "memory.info",
    /* functions of the host, and a wait that runs out */
    "stream.launchHostFunc stream=2",
    "stream.delay stream=2 durationNs=1us",
    "stream.launchHostFunc stream=2 blockType=NO_BLOCK group=1",
    "event.record event=2 stream=2",
    "event.reset event=3 stream=4",
    "stream.waitEvent stream=4 event=3 timeoutMs=1",
    "stream.waitEvent stream=4 event=2 timeoutMs=1",
    "hostFunc.list",
    "hostFunc.take",
    "clock.advance durationNs=1ms",
    "hostFunc.complete hostFunc=1",
    "hostFunc.take group=1",
    "stream.synchronize stream=4",
    /* addresses and physical memory */
    "memory.reserveAddress size=9g",
    "memory.reserveAddress size=9g expectPtr=large+200g",
    "memory.mallocPhysical size=1g",
    "memory.mallocPhysical size=2g",
    "memory.map ptr=large+200g size=1g physical=1",
    "memory.map ptr=large+201g size=2g physical=2",
    "memory.setAccess device=1 ptr=large+200g size=1g access=READWRITE",
    "memory.getAccess ptr=large+200g",
    "memory.write ptr=large+201g-2 base64=hello",
    "memory.copy dst=large+201g-3 src=large+201g-2 size=5 stream=1",
    "memory.read ptr=large+201g-4 size=8",
    "memory.retainPhysical ptr=large+200g",
    "memory.getPhysical physical=1",
    "memory.listAddresses",
    "memory.mallocManaged size=1g",
    "memory.freePhysical physical=1",
    "memory.freePhysical physical=1",
    "memory.unmap ptr=large+200g",
    "memory.unmap ptr=large+201g",
    "memory.freePhysical physical=2",
    "memory.releaseAddress ptr=large+200g",
    "memory.info",
    /* notifies */
    "notify.create",
    "stream.waitNotify stream=4 notify=1",
    "stream.waitNotify stream=1 notify=1 timeoutMs=1",
    "stream.launchHostFunc stream=4",
    "stream.recordNotify stream=2 notify=1",
    "notify.get notify=1",
    "clock.advance durationNs=2ms",
    "stream.recordNotify stream=2 notify=1",
    "stream.recordNotify stream=2 notify=1",
    "stream.waitNotify stream=1 notify=1",
    "notify.list",
    "notify.reset notify=1",
    "stream.stop stream=4",
    "stream.waitNotify stream=4 notify=1",
    "stream.abort stream=4",
    "stream.waitNotify stream=4 notify=1",
    "notify.destroy notify=1",
    "device.abort",
    "stream.synchronize stream=1",
    "stream.synchronize stream=1",
    /* values in memory */
    "memory.malloc size=100",
    "stream.waitValue stream=1 ptr=small+96 value=5 condition=EQ",
    "stream.waitEvent stream=4 event=3",
    "stream.writeValue stream=4 ptr=small+96 value=5",
    "stream.waitValue stream=4 ptr=small+96 value=6",
    "event.record event=3 stream=2",
    "stream.writeValue stream=2 ptr=small+96 value=7",
    "stream.synchronize stream=4",
    "memory.free ptr=small+96",
    /* a full device */
    "pool.malloc pool=2 size=4g stream=0",
    "pool.free pool=2 ptr=p2+3g stream=0",
    "memory.info",
    "memory.malloc size=40g",
    REPORT,
    "memory.free ptr=p1+5g",
    "stream.synchronize stream=1",
    "device.synchronize",
    REPORT,
    "pool.destroy pool=1",
    "event.destroy event=1",
    "stream.destroy stream=1",
    /* on-chip memory */
    "pipe.create",
    "pipe.list",
    "pipe.createTQue pipe=1 position=VECIN",
    "pipe.createTQue pipe=1 position=VECIN",
    "pipe.createTBuf pipe=1 position=VECCALC",
    "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=8",
    "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2",
    "pipe.initBuffer pipe=1 tque=1 num=2 len=100",
    "pipe.initBuffer pipe=1 tbuf=1 len=100",
    "pipe.initBufPool pipe=1 tbufpool=1 len=4096",
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024",
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=2 len=64",
    "pipe.allocTensor pipe=1 tque=1",
    "pipe.enQue pipe=1 tque=1 tensor=1",
    "pipe.layout pipe=1",
    "pipe.deQue pipe=1 tque=1",
    "pipe.freeTensor pipe=1 tque=1 tensor=1",
    "pipe.tbufGet pipe=1 tbuf=1 dtype=float",
    "pipe.tbufGetWithOffset pipe=1 tbuf=1 dtype=half size=8 bufOffset=32",
    "pipe.poolReset pipe=1 tbufpool=1",
    "pipe.reset pipe=1",
    "pipe.describe pipe=1",
    "pipe.destroy pipe=1",
    "device.reset",
    "device.reset device=1",
    "device.list",
};
/* clang-format on */

/* What a run of the program has seen. */
struct run {
    long fail_at, fail_more;
    bool has_op[SOMA_OP_COUNT];  /* succeeded */
    struct fixture_text answers; /* of all commands, in order */
    long allocations;
    long refused, absorbed; /* commands that met the failure, by how they took it */
};

/* Run one line; when it is refused for want of memory, run it again. */
static void run_line(struct fixture *fixture, struct run *run, const char *line)
{
    char why[256];
    bool had_failed = fixture->memory.has_failed;
    enum soma_status status = fixture_run(fixture, "%s", line);
    if (fixture->memory.has_failed)
        fixture->memory.fail_at = 0;
    if (!had_failed && fixture->memory.has_failed)
        *(status == SOMA_OUT_OF_MEMORY ? &run->refused : &run->absorbed) += 1;
    if (status == SOMA_OUT_OF_MEMORY) {
        EXPECT(!had_failed && fixture->memory.has_failed, "%s: out of memory without a reason",
               line);
        EXPECT(strstr(fixture->error.message, "memory") != NULL, "%s: %s", line,
               fixture->error.message);
        EXPECT(engine_check(fixture->engine, why, sizeof(why)), "%s, refused: %s", line, why);
        status = fixture_run(fixture, "%s", line);
    }
    EXPECT(engine_check(fixture->engine, why, sizeof(why)), "%s: %s", line, why);
    fixture_text_add(&run->answers, "%s: %s at %" PRIu64 "\n", line, soma_status_info(status)->name,
                     engine_now_ns(fixture->engine));
    fixture_text_add(&run->answers, "%s",
                     status == SOMA_OK && fixture->answer.ptr != NULL ? fixture->answer.ptr : "");
    if (status == SOMA_OK)
        run->has_op[soma_op_find(line, strcspn(line, " "))->op] = true;
}

static void run_program(struct run *run)
{
    struct fixture fixture;
    char line[256];
    (void)snprintf(line, sizeof(line), "allocation %ld", run->fail_at);
    if (!fixture_start_failing(&fixture, NULL, run->fail_at)) {
        run->refused++;
        fixture_abandon(&fixture, line);
        return;
    }
    fixture.memory.fail_more = run->fail_more;
    for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++)
        run_line(&fixture, run, program[i]);
    run->allocations = fixture.memory.allocations;
    (void)snprintf(line, sizeof(line), "allocation %ld", run->fail_at);
    fixture_finish(&fixture, line);
}

/* The line in which two texts differ first. */
static void expect_same_answers(const struct run *wanted, const struct run *run)
{
    const char *a = wanted->answers.ptr, *b = run->answers.ptr;
    size_t at = 0, line = 0;
    while (a[at] != '\0' && a[at] == b[at]) {
        line = a[at] == '\n' ? at + 1 : line;
        at++;
    }
    EXPECT(a[at] == b[at], "allocation %ld: \"%.*s\", not \"%.*s\"", run->fail_at,
           (int)strcspn(b + line, "\n"), b + line, (int)strcspn(a + line, "\n"), a + line);
}

/* Let the n-th allocation fail, and so many behind it in the same command, for every n. */
static void fail_each(long fail_more)
{
    static struct run wanted;
    long refused = 0, absorbed = 0;
    wanted = (struct run){0};
    run_program(&wanted);
    for (int op = 0; op < SOMA_OP_COUNT; op++)
        EXPECT(wanted.has_op[op], "%s does not succeed in the program",
               soma_op_info((enum soma_op)op)->name);
    EXPECT(wanted.allocations > 100, "%ld allocations", wanted.allocations);
    for (long n = 1; n <= wanted.allocations; n++) {
        static struct run run;
        run = (struct run){.fail_at = n, .fail_more = fail_more};
        run_program(&run);
        EXPECT(run.refused + run.absorbed == 1, "allocation %ld did not fail once", n);
        if (run.answers.ptr != NULL)
            expect_same_answers(&wanted, &run);
        refused += run.refused;
        absorbed += run.absorbed;
        fixture_text_clear(&run.answers);
    }
    EXPECT(absorbed * 3 < refused, "%ld of %ld failures were not told", absorbed,
           absorbed + refused);
    fixture_text_clear(&wanted.answers);
}

static void test_one_allocation(void)
{
    fail_each(0);
}

static void test_all_further_allocations(void)
{
    fail_each(1000);
}

static const struct soma_test tests[] = {
    {"each allocation fails once", test_one_allocation},
    {"each allocation fails, and all behind it", test_all_further_allocations},
    {NULL, NULL},
};

const struct soma_suite suite_engine_oom = {"engine_oom", tests};
