/* The session as a whole: clocks, sums, leaks, digests, and that nothing depends on anything but
 * the commands. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "random.h"
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the clock ---- */

/* clang-format off */
static const struct scene virtual_scenes[] = {
    {"each accepted command moves the host clock by the cost of a call",
     "device.list -> now=1us\n"
     "device.get -> now=2us\n"
     "stream.create -> now=3us\n"
     "memory.info -> now=4us"},
    {"a refused command does not move it",
     "device.get device=9 -> NO_SUCH_DEVICE now=0\n"
     "pool.create maxSize=max -> POOL_SIZE_EXCEEDS_DEVICE now=0\n"
     "event.get event=1 -> NO_SUCH_EVENT now=0\n"
     "stream.delay stream=0 durationNs=5us -> now=1us"},
    {"so a loop that polls comes to an end",
     "stream.delay stream=0 durationNs=3us\n"
     "stream.get stream=0 -> status=NOT_READY\n"
     "stream.get stream=0 -> status=NOT_READY\n"
     "stream.get stream=0 -> status=COMPLETE"},
    {"the wall clock is nothing to a virtual one",
     "wall 5ms\n"
     "device.get -> now=1us\n"
     "stream.delay stream=0 durationNs=3ms\n"
     "stream.synchronize stream=0 -> nowNs=3ms+2us"},
};
/* clang-format on */

/* clang-format off */
static const struct scene wall_scenes[] = {
    {"the host clock is never behind the wall clock, and moves with each command all the same",
     "device.get -> now=1us\n"
     "wall 50us\n"
     "device.get -> now=50us\n"
     "device.get -> now=51us\n"
     "wall 51us\n"
     "device.get -> now=52us\n"
     "wall 20us\n"
     "device.get -> now=53us\n"
     "wall 90us\n"
     "device.get -> now=90us"},
    {"refused commands do not move it",
     "wall 50us\n"
     "device.get device=9 -> NO_SUCH_DEVICE now=0\n"
     "device.get -> now=50us"},
    {"synchronising really waits: until the engine says so, or another command has run",
     "wall 10us\n"
     "stream.delay stream=0 durationNs=1ms -> now=10us\n"
     "stream.synchronize stream=0 -> MUST_WAIT wait=1ms+10us now=10us\n"
     "wall 500us\n"
     "stream.synchronize stream=0 -> MUST_WAIT wait=1ms+10us now=10us\n"
     "stream.get stream=0 -> status=NOT_READY wait=none now=500us\n"
     "wall 1ms+9us\n"
     "stream.synchronize stream=0 -> MUST_WAIT wait=1ms+10us\n"
     "wall 1ms+10us\n"
     "stream.synchronize stream=0 -> nowNs=1ms+10us"},
    {"it is over when the time has come",
     "stream.delay stream=0 durationNs=1ms -> now=1us\n"
     "wall 1ms+1us\n"
     "stream.synchronize stream=0 -> nowNs=1ms+1us wait=none"},
    {"events, devices and destroyed streams wait as well",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.delay stream=1 durationNs=1ms -> now=3us\n"
     "event.record event=1 stream=1\n"
     "event.synchronize event=1 -> MUST_WAIT wait=1ms+3us\n"
     "device.synchronize -> MUST_WAIT wait=1ms+3us\n"
     "stream.destroy stream=1 -> MUST_WAIT wait=1ms+3us now=4us\n"
     "wall 1ms+3us\n"
     "stream.destroy stream=1 -> now=1ms+3us\n"
     "event.synchronize event=1 -> nowNs=1ms+4us"},
    {"a timeout is over when its owner says so; the clock is then the wall's",
     "stream.delay stream=0 durationNs=9ms -> now=1us\n"
     "stream.synchronize stream=0 timeoutMs=2 -> MUST_WAIT wait=9ms+1us now=1us\n"
     "wall 2ms+70us\n"
     "!stream.synchronize stream=0 timeoutMs=2 -> STREAM_SYNC_TIMEOUT acl=507046 now=2ms+70us\n"
     "stream.synchronize stream=0 timeoutMs=0 -> STREAM_SYNC_TIMEOUT now=2ms+71us"},
    {"work that is over has not timed out, whatever its owner says",
     "stream.delay stream=0 durationNs=9ms -> now=1us\n"
     "wall 10ms\n"
     "!stream.synchronize stream=0 timeoutMs=2 -> nowNs=10ms"},
    {"what nobody has recorded is waited for without a time",
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "event.synchronize event=1 -> MUST_WAIT wait=none\n"
     "event.record event=1 stream=0\n"
     "event.synchronize event=1"},
    {"copies of the host move the clock by their cost",
     "a: memory.malloc size=32 -> now=1us\n"
     "memory.set ptr=$a value=1 size=1 -> now=7us\n"
     "wall 9us\n"
     "memory.info -> now=9us"},
};
/* clang-format on */

static void test_clocks(void)
{
    RUN_SCENES(virtual_scenes);
    struct fixture_setup setup = fixture_setup_default();
    setup.config.wall_clock = true;
    RUN_SCENES_ON(wall_scenes, &setup);
}

/* ---- sums ---- */

/* After each script, what the session holds. */
static const struct {
    const char *script;
    struct soma_counts counts;
    uint64_t mapped_granules;
} count_rows[] = {
    {"device.list", {.devices = 2}, 0},
    {"stream.create -> stream=1\nstream.create device=1", {.devices = 2, .streams = 2}, 0},
    {"event.create\nevent.create device=1 -> event=2",
     {.devices = 2, .streams = 2, .events = 2},
     0},
    {"pool.create maxSize=8g\npool.create device=1",
     {.devices = 2, .streams = 2, .events = 2, .pools = 2},
     0},
    {"a: pool.malloc pool=1 size=2g\nb: pool.malloc device=1 pool=2 size=3g",
     {.devices = 2, .streams = 2, .events = 2, .pools = 2, .pool_allocations = 2},
     5},
    {"c: memory.malloc size=4g\nd: memory.malloc device=1 size=1g",
     {.devices = 2,
      .streams = 2,
      .events = 2,
      .pools = 2,
      .pool_allocations = 2,
      .device_allocations = 2},
     10},
    {"pool.free pool=1 ptr=$a",
     {.devices = 2,
      .streams = 2,
      .events = 2,
      .pools = 2,
      .pool_allocations = 1,
      .device_allocations = 2},
     10},
    {"stream.delay stream=0 durationNs=1ms\nmemory.freeAsync ptr=$c",
     {.devices = 2,
      .streams = 2,
      .events = 2,
      .pools = 2,
      .pool_allocations = 1,
      .device_allocations = 1},
     10},
    {"stream.synchronize stream=0\ndevice.list",
     {.devices = 2,
      .streams = 2,
      .events = 2,
      .pools = 2,
      .pool_allocations = 1,
      .device_allocations = 1},
     4},
    {"stream.destroy stream=1\nevent.destroy event=1\npool.destroy pool=1",
     {.devices = 2,
      .streams = 1,
      .events = 1,
      .pools = 1,
      .pool_allocations = 1,
      .device_allocations = 1},
     4},
    {"device.reset device=1", {.devices = 2}, 0},
};

static void test_counts(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (size_t i = 0; i < sizeof(count_rows) / sizeof(count_rows[0]); i++) {
        struct soma_counts counts;
        (void)fixture_script(&fixture, "counts", count_rows[i].script);
        engine_counts(fixture.engine, &counts);
        EXPECT(memcmp(&counts, &count_rows[i].counts, sizeof(counts)) == 0,
               "after \"%s\": %" PRIu64 " streams, %" PRIu64 " events, %" PRIu64 " pools, %" PRIu64
               " and %" PRIu64 " allocations",
               count_rows[i].script, counts.streams, counts.events, counts.pools,
               counts.pool_allocations, counts.device_allocations);
        EXPECT(engine_mapped_bytes(fixture.engine) ==
                   count_rows[i].mapped_granules * SOMA_GRANULE_BYTES,
               "after \"%s\": %" PRIu64 " bytes mapped", count_rows[i].script,
               engine_mapped_bytes(fixture.engine));
    }
    fixture_finish(&fixture, "counts");
}

#define G SOMA_GRANULE_BYTES

static void test_totals(void)
{
    static const struct {
        const char *script;
        struct engine_totals totals;
    } rows[] = {
        {"pool.create maxSize=8g\npool.create -> pool=2", {.pools = 2}},
        {"a: pool.malloc pool=1 size=2g\nb: pool.malloc pool=2 size=3g",
         {2, 5 * G, 5 * G, 5 * G, 0, 2, 0, {2}}},
        {"pool.free pool=1 ptr=$a\npool.malloc pool=1 size=1g -> reuse=SAME_STREAM",
         {2, 5 * G, 4 * G, 5 * G, 0, 3, 1, {2, 1}}},
        {"pool.trimTo pool=1 minBytesToKeep=0", {2, 4 * G, 4 * G, 5 * G, G, 3, 1, {2, 1}}},
        {"memory.free ptr=$b", {2, G, G, 5 * G, 4 * G, 3, 2, {2, 1}}},
        {"pool.destroy pool=1", {1, 0, 0, 5 * G, 5 * G, 3, 2, {2, 1}}},
        {"pool.malloc pool=2 size=1", {1, G, G, 6 * G, 5 * G, 4, 2, {3, 1}}},
        {"device.reset", {0, 0, 0, 6 * G, 6 * G, 4, 2, {3, 1}}},
    };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct engine_totals totals;
        (void)fixture_script(&fixture, "totals", rows[i].script);
        engine_totals(fixture.engine, &totals);
        EXPECT(memcmp(&totals, &rows[i].totals, sizeof(totals)) == 0,
               "after \"%s\": %" PRIu64 " mapped, %" PRIu64 " unmapped, %" PRIu64 " reserved",
               rows[i].script, totals.mapped_bytes / G, totals.unmapped_bytes / G,
               totals.reserved_bytes / G);
    }
    fixture_finish(&fixture, "totals");
}

static void test_leaks(void)
{
    static const struct soma_leak wanted[] = {
        {SOMA_MEMORY_KIND_DEVICE, 0, SOMA_NONE, SOMA_ADDRESS_BASE, 3 * G, 3 * G, SOMA_NONE, 1},
        {SOMA_MEMORY_KIND_POOL, 1, 1, SOMA_ADDRESS_BASE + 3 * G, G, 5, 0, 3},
        {SOMA_MEMORY_KIND_POOL, 1, 1, SOMA_ADDRESS_BASE + 5 * G, G, 7, 0, 5},
        {SOMA_MEMORY_KIND_DEVICE, 1, SOMA_NONE, SOMA_ADDRESS_SMALL_BASE, 64, 40, SOMA_NONE, 7},
    };
    struct fixture fixture;
    struct soma_leak *leaks;
    size_t count;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    EXPECT(engine_leaks(fixture.engine, 9, &leaks, &count) == SOMA_OK && leaks == NULL &&
               count == 0,
           "a new session leaks nothing");
    (void)fixture_script(&fixture, "leaks",
                         "memory.malloc size=3g -> ptr=large\n"
                         "pool.create device=1 maxSize=8g -> pool=1\n"
                         "pool.malloc device=1 pool=1 size=5\n"
                         "a: pool.malloc device=1 pool=1 size=6\n"
                         "pool.malloc device=1 pool=1 size=7\n"
                         "pool.free device=1 pool=1 ptr=$a\n"
                         "memory.malloc device=1 size=40\n"
                         "b: memory.malloc size=50\n"
                         "stream.delay stream=0 durationNs=1ms\n"
                         "memory.freeAsync ptr=$b");
    for (size_t max = 0; max <= 5; max++) {
        size_t listed = max < 4 ? max : 4;
        EXPECT(engine_leaks(fixture.engine, max, &leaks, &count) == SOMA_OK && count == listed,
               "at most %zu: %zu", max, count);
        EXPECT(listed == 0 || memcmp(leaks, wanted, listed * sizeof(wanted[0])) == 0,
               "at most %zu: lowest address first", max);
        counted_memory_table(&fixture.memory).release(&fixture.memory, leaks);
    }
    fixture.memory.fail_at = fixture.memory.allocations + 1;
    EXPECT(engine_leaks(fixture.engine, 9, &leaks, &count) == SOMA_OUT_OF_MEMORY, "no memory");
    (void)fixture_script(&fixture, "a pool is the last",
                         "device.reset\nmemory.free device=1 ptr=small");
    EXPECT(engine_leaks(fixture.engine, 9, &leaks, &count) == SOMA_OK && count == 2 &&
               memcmp(leaks, &wanted[1], 2 * sizeof(wanted[0])) == 0,
           "a pool is the last");
    counted_memory_table(&fixture.memory).release(&fixture.memory, leaks);
    fixture_finish(&fixture, "leaks");
}

/* ---- digests ---- */

static uint64_t digest_of(const char *script, const char *more)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return 0;
    (void)fixture_script(&fixture, more, script);
    (void)fixture_script(&fixture, more, more);
    uint64_t digest = engine_digest(fixture.engine);
    fixture_finish(&fixture, more);
    return digest;
}

/* Two histories that differ in one command differ in their digests. */
static void test_digest_differs(void)
{
    static const char *const begin = "pool.create maxSize=8g -> pool=1\n"
                                     "stream.create -> stream=1\n"
                                     "event.create kind=PLAIN -> event=1\n"
                                     "event.create kind=PLAIN -> event=2\n"
                                     "event.record event=1 stream=0\n"
                                     "event.record event=2 stream=0\n"
                                     "a: pool.malloc pool=1 size=1g\n"
                                     "b: pool.malloc pool=1 size=1g\n"
                                     "c: memory.malloc size=64\n"
                                     "d: memory.malloc size=64\n";
    static const struct {
        const char *one, *other;
    } rows[] = {
        {"stream.get stream=0", "stream.list"},
        {"pool.malloc pool=1 size=1", "pool.malloc pool=1 size=2g"},
        {"pool.malloc pool=1 size=1", "pool.malloc pool=1 size=1 stream=1"},
        {"pool.malloc pool=1 size=1", "pool.malloc pool=1 size=2"},
        {"pool.free pool=1 ptr=$a", "pool.free pool=1 ptr=$b"},
        {"pool.free pool=1 ptr=$a", "pool.free pool=1 ptr=$a stream=1"},
        {"memory.free ptr=$c", "memory.free ptr=$d"},
        {"memory.freeAsync ptr=$c", "memory.freeAsync ptr=$d"},
        {"stream.waitEvent stream=0 event=1", "stream.waitEvent stream=0 event=2"},
        {"event.record event=1 stream=0", "event.record event=1 stream=1"},
        {"event.reset event=1 stream=0", "event.reset event=2 stream=0"},
        {"event.destroy event=1", "event.destroy event=2"},
        {"event.create kind=EX", "event.create kind=PLAIN"},
        {"stream.create priority=1", "stream.create priority=2"},
        {"stream.delay stream=0 durationNs=1us", "stream.delay stream=0 durationNs=2us"},
        {"pool.create maxSize=1g", "pool.create maxSize=2g"},
        {"pool.setAttribute pool=1 name=releaseThreshold value=1",
         "pool.setAttribute pool=1 name=releaseThreshold value=2"},
        {"pool.setAttribute pool=1 name=reuseAllowOpportunistic value=1",
         "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1"},
        {"memory.set ptr=$c value=1 size=8 stream=0", "memory.set ptr=$c value=1 size=9 stream=0"},
        {"device.reset", "device.reset device=1"},
        {"memory.write ptr=$c base64=abc stream=0", "memory.write ptr=$c base64=abcd stream=0"},
        {"pipe.create soc=Ascend910B1", "pipe.create soc=Ascend910B2"},
        {"pipe.create", "pipe.create checks=device"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        EXPECT(digest_of(begin, rows[i].one) != digest_of(begin, rows[i].other), "%s and %s",
               rows[i].one, rows[i].other);
}

/* A figure that only the answer has: the cost of a kernel that somebody else ran. */
static void test_digest_of_answers(void)
{
    uint64_t digests[2] = {0, 0};
    for (uint64_t i = 0; i < 2; i++) {
        struct fixture fixture;
        struct fixture_input input;
        struct fixture_setup setup = fixture_setup_default();
        setup.has_contents = false;
        if (!EXPECT(fixture_start(&fixture, &setup), "start"))
            return;
        (void)fixture_parse(&fixture, "stream.launchKernel stream=0 kernel=poke args=0", &input);
        input.command.kernel_cost_ns = 100 + i;
        EXPECT(fixture_apply(&fixture, &input.command) == SOMA_OK &&
                   fixture_number(&fixture, "endNs") == 11100 + i,
               "a kernel takes what it is said to take");
        digests[i] = engine_digest(fixture.engine);
        fixture_finish(&fixture, "kernel cost");
    }
    EXPECT(digests[0] != digests[1], "answers that differ");
}

/* What does not happen leaves no trace: refused commands and waits. */
static void test_digest_same(void)
{
    static const struct {
        const char *what, *one, *other;
    } rows[] = {
        {"a refused command", "stream.delay stream=0 durationNs=5us",
         "stream.delay stream=7 durationNs=5us -> NO_SUCH_STREAM\n"
         "stream.delay stream=0 durationNs=5us"},
        {"a wait", "event.create kind=PLAIN\nevent.reset event=1 stream=0\ndevice.get",
         "event.create kind=PLAIN\nevent.reset event=1 stream=0\n"
         "event.synchronize event=1 -> MUST_WAIT\ndevice.get"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        EXPECT(digest_of("", rows[i].one) == digest_of("", rows[i].other), "%s", rows[i].what);
    EXPECT(digest_of("stream.delay stream=0 durationNs=5ms",
                     "stream.synchronize stream=0 timeoutMs=1 -> STREAM_SYNC_TIMEOUT") !=
               digest_of("stream.delay stream=0 durationNs=5ms", ""),
           "a time-out has happened");
}

/* ---- random commands ---- */

enum { COMMANDS = 1500, ADDRESSES = 24 };

/* Draws commands that are often valid: late ids, addresses that were answered before. */
struct drawer {
    struct random_source source;
    const struct engine *engine;
    uint64_t addresses[ADDRESSES];
    struct soma_kernel_arg arg;
};

static uint64_t draw_address(struct drawer *drawer)
{
    uint64_t address = drawer->addresses[random_below(&drawer->source, ADDRESSES)];
    return address +
           (random_below(&drawer->source, 8) == 0 ? random_edge(&drawer->source, 0, G) : 0);
}

static uint64_t draw_size(struct drawer *drawer)
{
    switch (random_below(&drawer->source, 6)) {
    case 0: return random_edge(&drawer->source, 0, UINT64_MAX);
    case 1: return random_edge(&drawer->source, 0, 3 * G);
    case 2: return random_below(&drawer->source, 64);
    default: return (1 + random_below(&drawer->source, 6)) * G;
    }
}

/* One of the last ids of the field's kind, or one that comes next. */
static uint64_t draw_id(struct drawer *drawer, enum soma_field field)
{
    const uint64_t *last_ids = drawer->engine->last_id;
    uint64_t last = field == SOMA_FIELD_stream ? last_ids[ID_STREAM]
                    : field == SOMA_FIELD_pool ? last_ids[ID_POOL]
                                               : last_ids[ID_EVENT];
    uint64_t back = random_below(&drawer->source, 5);
    if (field == SOMA_FIELD_stream && random_below(&drawer->source, 4) == 0)
        return 0;
    return random_below(&drawer->source, 30) == 0 ? last + 1 : last > back ? last - back : last;
}

/* Commands that end things are rare, so that there is something to work with. */
static enum soma_op draw_op(struct drawer *drawer)
{
    enum soma_op op = (enum soma_op)random_below(&drawer->source, SOMA_OP_PIPE_CREATE);
    bool is_end = op == SOMA_OP_DEVICE_RESET || op == SOMA_OP_POOL_DESTROY ||
                  op == SOMA_OP_STREAM_DESTROY || op == SOMA_OP_EVENT_DESTROY;
    if (is_end && random_below(&drawer->source, 8) > 0)
        op = SOMA_OP_POOL_FREE;
    if (random_below(&drawer->source, 2) == 0)
        op = random_below(&drawer->source, 5) < 3 ? SOMA_OP_POOL_MALLOC : SOMA_OP_POOL_FREE;
    return op;
}

static uint64_t draw_value(struct drawer *drawer, const struct soma_field_row *row)
{
    struct random_source *source = &drawer->source;
    switch ((int)row->kind) {
    case SOMA_KIND_DEVICE: return random_below(source, 15) == 0 ? random_below(source, 3) : 0;
    case SOMA_KIND_ID: return draw_id(drawer, row->field);
    case SOMA_KIND_ADDRESS: return draw_address(drawer);
    case SOMA_KIND_BYTES: return draw_size(drawer);
    case SOMA_KIND_TIMEOUT: return random_below(source, 3);
    case SOMA_KIND_DURATION: return random_below(source, 20) * 1000;
    case SOMA_KIND_ENUM_POOL_ATTRIBUTE: return random_below(source, 10);
    default: return random_below(source, 3);
    }
}

static struct soma_command draw_command(struct drawer *drawer)
{
    struct soma_command command;
    enum soma_op op = draw_op(drawer);
    const struct soma_op_info *info = soma_op_info(op);
    soma_command_init(&command, op);
    command.expired = random_below(&drawer->source, 2) == 0;
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        if (!row->required && random_below(&drawer->source, 2) == 0)
            continue;
        command.present |= UINT64_C(1) << row->field;
        if (row->kind == SOMA_KIND_ARGS) {
            drawer->arg =
                (struct soma_kernel_arg){.kind = SOMA_ARG_PTR, .bits = draw_address(drawer)};
            command.args = (struct soma_kernel_args){&drawer->arg, 1};
        } else if (row->kind == SOMA_KIND_TEXT) {
            command.kernel = (struct soma_text){"poke", 4};
        } else if (row->kind == SOMA_KIND_BASE64) {
            command.data = (struct soma_text){"written", 7};
        } else {
            soma_command_set(&command, row->field, draw_value(drawer, row));
        }
    }
    if (op == SOMA_OP_MEMORY_SET || op == SOMA_OP_MEMORY_COPY || op == SOMA_OP_MEMORY_READ)
        command.size = random_below(&drawer->source, 5000);
    const struct pool *owner = pool_by_address(drawer->engine, command.ptr);
    if (op == SOMA_OP_POOL_FREE && owner != NULL)
        command.pool = owner->id;
    return command;
}

struct random_run {
    uint64_t seed;
    struct fixture_setup setup;
    bool fails;                     /* allocations fail now and then */
    struct fixture_text transcript; /* all that is answered */
};

/* Let one of the next few allocations fail, now and then. */
static void arm(struct fixture *fixture, struct random_source *source)
{
    fixture->memory.has_failed = false;
    if (random_below(source, 3) == 0)
        fixture->memory.fail_at = fixture->memory.allocations + 1 + (long)random_below(source, 4);
}

/* Run a command and write down its answer. One that is refused for want of memory is run again.
 * false: memory ran out and the command succeeded all the same, which may cost reuse. */
static bool run_one(struct fixture *fixture, struct random_run *run,
                    const struct soma_command *command)
{
    enum soma_status status = fixture_apply(fixture, command);
    bool is_told = !fixture->memory.has_failed || status == SOMA_OUT_OF_MEMORY;
    fixture->memory.fail_at = 0;
    if (status == SOMA_OUT_OF_MEMORY && EXPECT(run->fails, "out of memory without a reason"))
        status = fixture_apply(fixture, command);
    fixture_text_add(&run->transcript, "%s %d %s\n%s", soma_op_info(command->op)->name, (int)status,
                     status == SOMA_OK || status == SOMA_MUST_WAIT ? "" : fixture->error.message,
                     fixture->answer.ptr == NULL ? "" : fixture->answer.ptr);
    return is_told;
}

#define RANDOM_BEGIN                                                                               \
    "pool.create maxSize=20g -> pool=1\npool.create -> pool=2\n"                                   \
    "stream.create -> stream=1\nstream.create -> stream=2\n"                                       \
    "event.create -> event=1\nevent.create kind=PLAIN -> event=2\n"                                \
    "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"                         \
    "pool.setAttribute pool=2 name=reuseAllowOpportunistic value=1\n"                              \
    "pool.setAttribute pool=2 name=reuseAllowInternalDependencies value=1"

static void run_random(struct random_run *run)
{
    struct drawer drawer = {.source = {run->seed}};
    struct random_source failures = {run->seed};
    struct fixture fixture;
    char what[64], why[256];
    (void)snprintf(what, sizeof(what), "seed %" PRIu64, run->seed);
    if (!EXPECT(fixture_start(&fixture, &run->setup), "start"))
        return;
    (void)fixture_script(&fixture, what, RANDOM_BEGIN);
    drawer.engine = fixture.engine;
    bool is_told = true;
    for (int i = 0; i < COMMANDS && is_told; i++) {
        struct soma_command command = draw_command(&drawer);
        if (run->setup.config.wall_clock && random_below(&drawer.source, 4) == 0)
            fixture_set_wall(&fixture,
                             engine_now_ns(fixture.engine) + random_below(&drawer.source, 30000));
        if (run->fails)
            arm(&fixture, &failures);
        is_told = run_one(&fixture, run, &command);
        if (i % 16 == 0)
            EXPECT(engine_check(fixture.engine, why, sizeof(why)), "%s: %s", what, why);
        if (fixture.status == SOMA_OK &&
            (command.op == SOMA_OP_POOL_MALLOC || command.op == SOMA_OP_MEMORY_MALLOC))
            drawer.addresses[random_below(&drawer.source, ADDRESSES)] =
                fixture_number(&fixture, "ptr");
    }
    EXPECT(engine_check(fixture.engine, why, sizeof(why)), "%s, at the end: %s", what, why);
    if (is_told)
        fixture_finish(&fixture, what);
    else
        fixture_abandon(&fixture, what); /* it may offer less reuse than its log */
}

/* The same commands have the same answers, to the byte, and refused ones change nothing. */
static void test_random_twice(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct random_run first = {.seed = seed, .setup = fixture_setup_default()};
        first.setup.config.wall_clock = seed % 4 == 0;
        first.setup.has_contents = seed % 3 != 0;
        struct random_run second = first;
        run_random(&first);
        run_random(&second);
        EXPECT(same_words(first.transcript.ptr, second.transcript.ptr),
               "seed %" PRIu64 ": two runs differ", seed);
        fixture_text_clear(&first.transcript);
        fixture_text_clear(&second.transcript);
    }
}

/* Nor do commands that memory was missing for: the others answer what they would have answered. */
static void test_random_without_memory(void)
{
    size_t whole = 0, failed = 0;
    for (uint64_t seed = 21; seed <= 36; seed++) {
        struct random_run good = {.seed = seed, .setup = fixture_setup_default()};
        struct random_run bad = good;
        bad.fails = true;
        run_random(&good);
        run_random(&bad);
        EXPECT(strncmp(good.transcript.ptr, bad.transcript.ptr, bad.transcript.len) == 0,
               "seed %" PRIu64 ": answers differ where memory was missing", seed);
        whole += good.transcript.len;
        failed += bad.transcript.len;
        fixture_text_clear(&good.transcript);
        fixture_text_clear(&bad.transcript);
    }
    EXPECT(failed * 4 > whole, "runs without memory end too early: %zu of %zu bytes", failed,
           whole);
}

/* ---- creation ---- */

static void test_create(void)
{
    static const uint32_t device_counts[] = {1, 2, SOMA_DEVICES_MAX};
    for (size_t i = 0; i < sizeof(device_counts) / sizeof(device_counts[0]); i++) {
        struct fixture fixture;
        struct fixture_setup setup = fixture_setup_default();
        setup.config.device_count = device_counts[i];
        if (!EXPECT(fixture_start(&fixture, &setup), "%u devices", device_counts[i]))
            continue;
        EXPECT(engine_now_ns(fixture.engine) == 0, "time begins with 0");
        EXPECT(engine_wait_ns(fixture.engine) == SOMA_NONE, "nobody waits");
        (void)fixture_run(&fixture, "device.list");
        EXPECT(fixture_number(&fixture, "devices.count") == device_counts[i], "%u devices",
               device_counts[i]);
        EXPECT(fixture_run(&fixture, "device.get device=%u", device_counts[i] - 1) == SOMA_OK &&
                   fixture_run(&fixture, "device.get device=%u", device_counts[i]) ==
                       SOMA_NO_SUCH_DEVICE,
               "devices 0 to %u", device_counts[i] - 1);
        fixture_abandon(&fixture, "devices");
    }
    engine_destroy(NULL);
}

/* Every SoC has its costs, and commands may be run without somewhere to put an error. */
static void test_small_things(void)
{
    struct fixture fixture;
    const struct soma_soc *soc;
    for (unsigned i = 0; (soc = soma_soc_row(i)) != NULL; i++) {
        const struct engine_costs *costs = engine_costs_of(soc);
        EXPECT(costs->host_call_ns == SOMA_HOST_CALL_NS_DEFAULT && costs->host_copy_ns == 10000 &&
                   costs->host_copy_bytes_per_us == 24000 && costs->device_copy_ns == 5000 &&
                   costs->device_copy_bytes_per_us == 400000 && costs->set_ns == 5000 &&
                   costs->set_bytes_per_us == 800000 && costs->kernel_ns == 10000,
               "%s", soc->name);
    }
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_STREAM_GET);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_stream, 5);
    EXPECT(engine_apply(fixture.engine, &command, &result, NULL) == SOMA_NO_SUCH_STREAM,
           "an error that nobody wants to read");
    EXPECT(result.message == SOMA_MESSAGE_NONE, "a refused command has no answer");
    engine_result_clear(fixture.engine, &result);
    fixture_finish(&fixture, "small things");
}

static const struct soma_test tests[] = {
    {"clocks", test_clocks},
    {"counts", test_counts},
    {"totals", test_totals},
    {"leaks", test_leaks},
    {"digests of different histories", test_digest_differs},
    {"digests of different answers", test_digest_of_answers},
    {"digests of the same history", test_digest_same},
    {"random commands, twice", test_random_twice},
    {"random commands without memory", test_random_without_memory},
    {"creation", test_create},
    {"small things", test_small_things},
    {NULL, NULL},
};

const struct soma_suite suite_engine_engine = {"engine_engine", tests};
