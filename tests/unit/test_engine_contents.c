/* Commands that act on the bytes: ranges, times, effects in the order of submission. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

/* A block of 2 granules of pool 1 at p1, of which 1g+9 were asked for; an allocation of 64 bytes.
 */
#define MEMORY                                                                                     \
    "pool.create maxSize=8g -> pool=1\n"                                                           \
    "pool.malloc pool=1 size=1g+9 -> ptr=p1\n"                                                     \
    "a: memory.malloc size=40 -> ptr=small size=64\n"                                              \
    "stream.create -> stream=1 now=4us\n"

/* clang-format off */
static const struct scene range_scenes[] = {
    {"a pool block may be accessed from its address for its rounded size",
     MEMORY
     "memory.set ptr=p1 value=65 size=2g\n"
     "memory.set ptr=p1+2g-1 value=66 size=1\n"
     "memory.read ptr=p1+2g-2 size=2 -> base64=AB\n"
     "memory.set ptr=p1 value=65 size=2g+1 -> INVALID_ADDRESS acl=107000 field=size\n"
     "memory.set ptr=p1+2g-1 value=65 size=2 -> INVALID_ADDRESS\n"
     "memory.set ptr=p1+2g value=65 size=1 -> INVALID_ADDRESS field=ptr\n"
     "memory.set ptr=p1+1 value=65 size=max -> INVALID_ADDRESS field=size"},
    {"an allocation for its size rounded to 32 bytes, not for its page",
     MEMORY
     "memory.set ptr=$a+63 value=65 size=1\n"
     "memory.set ptr=$a+63 value=65 size=2 -> INVALID_ADDRESS\n"
     "memory.set ptr=$a+64 value=65 size=1 -> INVALID_ADDRESS\n"
     "memory.set ptr=$a-1 value=65 size=1 -> INVALID_ADDRESS"},
    {"a range may not reach into the next block, though that is live",
     MEMORY
     "pool.malloc pool=1 size=1g -> ptr=p1+2g\n"
     "memory.set ptr=p1+1g value=65 size=1g+1 -> INVALID_ADDRESS\n"
     "memory.copy dst=p1+2g src=p1+2g-4 size=8 -> INVALID_ADDRESS\n"
     "memory.copy dst=p1+2g-4 src=p1+2g size=8 -> INVALID_ADDRESS\n"
     "memory.write ptr=p1+2g-2 base64=abc -> INVALID_ADDRESS\n"
     "memory.read ptr=p1+2g-2 size=3 -> INVALID_ADDRESS"},
    {"memory of another device and freed memory are refused",
     MEMORY
     "b: memory.malloc device=1 size=64\n"
     "memory.set device=1 ptr=$a value=1 size=1 -> INVALID_ADDRESS acl=107000 says=device\n"
     "memory.copy dst=$a src=$b size=1 -> INVALID_ADDRESS field=src\n"
     "memory.copy dst=$b src=$a size=1 -> INVALID_ADDRESS field=dst\n"
     "memory.read device=1 ptr=p1 size=1 -> INVALID_ADDRESS\n"
     "pool.free pool=1 ptr=p1\n"
     "memory.read ptr=p1 size=1 -> INVALID_ADDRESS says=freed\n"
     "memory.write ptr=p1 base64=a -> INVALID_ADDRESS\n"
     "memory.free ptr=$a\n"
     "memory.set ptr=$a value=1 size=1 -> INVALID_ADDRESS"},
    {"size 0 is refused",
     MEMORY
     "memory.set ptr=p1 value=65 size=0 -> ZERO_SIZE acl=100000 field=size\n"
     "memory.copy dst=p1 src=$a size=0 -> ZERO_SIZE\n"
     "memory.write ptr=p1 base64= -> ZERO_SIZE\n"
     "memory.read ptr=p1 size=0 -> ZERO_SIZE"},
    {"the device and the stream have to be there",
     MEMORY
     "memory.set device=4 ptr=p1 value=1 size=1 -> NO_SUCH_DEVICE acl=107001\n"
     "memory.copy device=4 dst=p1 src=$a size=1 -> NO_SUCH_DEVICE\n"
     "memory.write device=4 ptr=p1 base64=a -> NO_SUCH_DEVICE\n"
     "memory.read device=4 ptr=p1 size=1 -> NO_SUCH_DEVICE\n"
     "stream.create device=1 -> stream=2\n"
     "memory.set ptr=p1 value=1 size=1 stream=2 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "memory.copy dst=p1 src=$a size=1 stream=7 -> NO_SUCH_STREAM acl=107017\n"
     "memory.write ptr=p1 base64=a stream=7 -> NO_SUCH_STREAM\n"
     "memory.read ptr=p1 size=1 stream=7 -> NO_SUCH_STREAM"},
};
/* clang-format on */

/* clang-format off */
static const struct scene reduce_scenes[] = {
    {"each element of dst is combined with that of src",
     MEMORY
     "memory.write ptr=$a base64=abcdefgh\n"
     "memory.set ptr=p1 value=1 size=8\n"
     "memory.reduce dst=$a src=p1 size=4 kind=SUM dtype=int8\n"
     "memory.read ptr=$a size=8 -> base64=bcdeefgh\n"
     "memory.write ptr=p1 base64=azaz\n"
     "memory.reduce dst=$a src=p1 size=2 kind=MAX dtype=int8 stream=1\n"
     "memory.reduce dst=$a+2 src=p1+2 size=2 kind=MIN dtype=int8 stream=1\n"
     "memory.read ptr=$a size=5 -> base64=bzaee"},
    {"it costs what a copy costs, on the stream or on the host",
     MEMORY
     "memory.reduce dst=$a src=p1 size=8 kind=SUM dtype=float32 stream=1 -> now=5us\n"
     "stream.get stream=1 -> readyAtNs=10us\n"
     "memory.reduce dst=$a src=p1 size=8 kind=SUM dtype=float32 -> now=12us"},
    {"addresses and size are whole elements",
     MEMORY
     "memory.reduce dst=$a+2 src=p1 size=8 kind=SUM dtype=float32 -> ADDRESS_UNALIGNED acl=107000 field=dst\n"
     "memory.reduce dst=$a src=p1+1 size=8 kind=SUM dtype=int16 -> ADDRESS_UNALIGNED field=src\n"
     "memory.reduce dst=$a src=p1 size=7 kind=SUM dtype=float16 -> ADDRESS_UNALIGNED field=size\n"
     "memory.reduce dst=$a src=p1 size=0 kind=SUM dtype=float16 -> ZERO_SIZE"},
    {"both have to be live memory of the device",
     MEMORY
     "memory.reduce dst=$a src=p1 size=68 kind=SUM dtype=float32 -> INVALID_ADDRESS acl=107000 field=size\n"
     "memory.reduce dst=p1+4g src=p1 size=4 kind=SUM dtype=float32 -> INVALID_ADDRESS field=dst\n"
     "memory.reduce device=1 dst=$a src=p1 size=4 kind=SUM dtype=float32 -> INVALID_ADDRESS\n"
     "memory.reduce dst=$a src=p1 size=4 kind=SUM dtype=float32 stream=9 -> NO_SUCH_STREAM"},
    {"the SoC decides on types",
     MEMORY
     "memory.reduce dst=$a src=p1 size=8 kind=SUM dtype=int64 -> SOC_UNSUPPORTED acl=207000 field=dtype says=Ascend910B1"},
};

static const struct scene random_scenes[] = {
    {"the counter moves on by the blocks that were used",
     MEMORY
     "memory.write ptr=$a base64=a\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:0,f32:1 seed=1 count=5 -> now=21us\n"
     "memory.read ptr=$a size=3 -> base64=c..\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=int64 args=i64:-1,i64:5 seed=1 count=3 stream=1\n"
     "memory.random ptr=p1 counter=$a distribution=TRUNCATED_NORMAL dtype=float16 args=f16:0,f16:1 seed=1 count=3\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=bfloat16 args=f32:0.5 seed=1 count=13\n"
     "memory.read ptr=$a size=3 -> base64=l.."},
    {"a rate of 0 keeps all, one of 1 nothing",
     MEMORY
     "memory.set ptr=p1 value=42 size=4\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=float32 args=f32:1 seed=1 count=9\n"
     "memory.read ptr=p1 size=4 -> base64=..**\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=float32 args=f32:0 seed=1 count=9\n"
     "memory.read ptr=p1 size=4 -> base64=??**"},
    {"one value only when min is max",
     MEMORY
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=int32 args=i32:1684234849,i32:1684234849 seed=1 count=2\n"
     "memory.read ptr=p1 size=9 -> base64=abcdabcd."},
    {"types, parameters and ranges are checked",
     MEMORY
     "memory.random ptr=p1 counter=$a distribution=NORMAL dtype=int32 args=i32:0,i32:1 seed=1 count=5 -> DTYPE_UNSUPPORTED acl=107000 field=dtype\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=int8 args=i32:0,i32:1 seed=1 count=5 -> DTYPE_UNSUPPORTED\n"
     "memory.random ptr=p1 counter=$a distribution=NORMAL dtype=float32 args=f32:0 seed=1 count=5 -> RANDOM_PARAMETERS acl=107000 field=args\n"
     "memory.random ptr=p1 counter=$a distribution=NORMAL dtype=float32 args=f16:0,f32:1 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:1,f32:-1 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=int64 args=i64:1,i64:-1 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:0,f32:inf seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=NORMAL dtype=float16 args=f16:nan,f16:1 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=NORMAL dtype=float32 args=f32:0,f32:-0.5 seed=1 count=5 -> RANDOM_PARAMETERS acl=107000 field=args\n"
     "memory.random ptr=p1 counter=$a distribution=TRUNCATED_NORMAL dtype=bfloat16 args=f32:0,f32:-1 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=float16 args=f16:1.5 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=float32 args=f32:-0.25 seed=1 count=5 -> RANDOM_PARAMETERS\n"
     "memory.random ptr=p1 counter=$a distribution=DROPOUT_BITMASK dtype=float16 args=f16:-0 seed=1 count=5\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:0,f32:-0 seed=1 count=5\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:0,f32:1 seed=1 count=0 -> ZERO_SIZE field=count\n"
     "memory.random ptr=p1 counter=$a distribution=UNIFORM dtype=float32 args=f32:0,f32:1 seed=1 count=max -> SIZE_OVERFLOW field=count\n"
     "memory.random ptr=$a counter=p1 distribution=UNIFORM dtype=float32 args=f32:0,f32:1 seed=1 count=17 -> INVALID_ADDRESS field=count\n"
     "memory.random ptr=p1 counter=$a+56 distribution=UNIFORM dtype=float32 args=f32:0,f32:1 seed=1 count=1 -> INVALID_ADDRESS field=counter"},
};
/* clang-format on */

static void test_reduce(void)
{
    RUN_SCENES(reduce_scenes);
}

static void test_random(void)
{
    RUN_SCENES(random_scenes);
}

static void test_ranges(void)
{
    RUN_SCENES(range_scenes);
}

/* clang-format off */
static const struct scene effect_scenes[] = {
    {"what is written is read, and the rest stays zero",
     MEMORY
     "memory.write ptr=p1+1 base64=hello\n"
     "memory.read ptr=p1 size=8 -> base64=.hello.."},
    {"set writes its value",
     MEMORY
     "memory.set ptr=p1+2 value=122 size=3\n"
     "memory.read ptr=p1 size=7 -> base64=..zzz.."},
    {"copies go from src to dst, between pools and allocations",
     MEMORY
     "memory.write ptr=p1 base64=hello\n"
     "memory.copy dst=$a+1 src=p1+1 size=3\n"
     "memory.read ptr=$a size=6 -> base64=.ell..\n"
     "memory.read ptr=p1 size=5 -> base64=hello"},
    {"overlapping copies behave as memmove, upwards and downwards",
     MEMORY
     "memory.write ptr=p1 base64=abcdef\n"
     "memory.copy dst=p1+2 src=p1 size=6\n"
     "memory.read ptr=p1 size=8 -> base64=ababcdef\n"
     "memory.copy dst=p1 src=p1+2 size=6\n"
     "memory.read ptr=p1 size=8 -> base64=abcdefef\n"
     "memory.copy dst=p1 src=p1 size=6\n"
     "memory.read ptr=p1 size=8 -> base64=abcdefef"},
    {"effects come in the order of submission, whatever the streams' times",
     MEMORY
     "stream.delay stream=1 durationNs=1ms\n"
     "memory.write ptr=p1 base64=first stream=1\n"
     "memory.write ptr=p1 base64=other stream=0\n"
     "memory.read ptr=p1 size=5 stream=0 -> base64=other"},
    {"also behind a wait for a record to come",
     MEMORY
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "memory.write ptr=p1 base64=abc stream=1\n"
     "memory.read ptr=p1 size=3 -> base64=abc\n"
     "stream.get stream=1 -> pendingTasks=2"},
};
/* clang-format on */

static void test_effects(void)
{
    RUN_SCENES(effect_scenes);
}

/* clang-format off */
static const struct scene time_scenes[] = {
    {"a copy between host and device costs 10 us and its bytes at 24 GB/s, here of the host",
     MEMORY
     "memory.read ptr=p1 size=2g -> now=5us+10us+174762\n"
     "memory.write ptr=p1 base64=abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl -> "
         "now=16us+10us+174762+2"},
    {"on a stream it is a task and the host goes on",
     MEMORY
     "memory.write ptr=p1 base64=abc stream=1 -> now=5us\n"
     "stream.get stream=1 -> readyAtNs=15us pendingTasks=1\n"
     "memory.read ptr=p1 size=24000 stream=1 -> now=7us\n"
     "stream.get stream=1 -> readyAtNs=26us pendingTasks=2"},
    {"a copy on the device costs 5 us and its bytes at 400 GB/s",
     MEMORY
     "memory.copy dst=p1 src=p1+1g size=400000 stream=1 -> now=5us\n"
     "stream.get stream=1 -> readyAtNs=11us\n"
     "memory.copy dst=p1 src=p1+1g size=800001 -> now=7us+7us"},
    {"a set costs 5 us and its bytes at 800 GB/s",
     MEMORY
     "memory.set ptr=p1 value=1 size=800000 stream=1 -> now=5us\n"
     "stream.get stream=1 -> readyAtNs=11us\n"
     "memory.set ptr=p1 value=1 size=1600799 -> now=7us+7us\n"
     "memory.set ptr=p1 value=1 size=1600800 -> now=15us+7us+1"},
    {"on the host they wait for no stream",
     MEMORY
     "stream.delay stream=0 durationNs=1ms\n"
     "memory.set ptr=p1 value=1 size=1 -> now=11us\n"
     "stream.get stream=0 -> status=NOT_READY"},
    {"stream 0, when it is named, is a stream like any other",
     MEMORY
     "memory.set ptr=p1 value=1 size=1 stream=0 -> now=5us\n"
     "stream.get stream=0 -> readyAtNs=10us pendingTasks=1"},
    {"a refused one takes no time",
     MEMORY
     "memory.set ptr=p1 value=1 size=0 stream=1 -> ZERO_SIZE now=4us\n"
     "stream.get stream=1 -> readyAtNs=0 now=5us"},
};
/* clang-format on */

static void test_times(void)
{
    RUN_SCENES(time_scenes);
}

/* Costs of a session of one's own. */
static void test_own_costs(void)
{
    static const struct engine_costs costs = {.host_call_ns = 10,
                                              .host_copy_ns = 100,
                                              .host_copy_bytes_per_us = 1000,
                                              .device_copy_ns = 200,
                                              .device_copy_bytes_per_us = 2000,
                                              .set_ns = 300,
                                              .set_bytes_per_us = 3000,
                                              .kernel_ns = 400};
    /* clang-format off */
        static const struct scene scenes[] = {
    {"the costs can be set",
     "a: memory.malloc size=3000 -> now=10\n"
     "memory.read ptr=$a size=1000 -> now=1120\n"
     "memory.copy dst=$a src=$a size=1000 -> now=1830\n"
     "memory.set ptr=$a value=7 size=1000 -> now=2473\n"
     "stream.launchKernel stream=0 kernel=poke args=$a -> startNs=2483 endNs=9883\n"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.config.costs = &costs;
    RUN_SCENES_ON(scenes, &setup);
}

/* Bytes that cannot be moved: the command is refused, and nothing else has happened. */
static void test_bytes_fail(void)
{
    static const char *const commands[] = {
        "memory.set ptr=p1 value=1 size=4",
        "memory.set ptr=p1 value=1 size=4 stream=1",
        "memory.copy dst=p1 src=small size=4",
        "memory.copy dst=p1 src=small size=4 stream=1",
        "memory.write ptr=p1 base64=abc",
        "memory.write ptr=p1 base64=abc stream=1",
        "memory.read ptr=p1 size=4",
        "memory.read ptr=p1 size=4 stream=1",
        "stream.launchKernel stream=1 kernel=poke args=p1",
    };
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        for (int blocked = 0; blocked < 2; blocked++) {
            struct fixture fixture;
            if (!EXPECT(fixture_start(&fixture, NULL), "start"))
                continue;
            (void)fixture_script(&fixture, commands[i],
                                 MEMORY "memory.write ptr=p1 base64=keep\n"
                                        "event.create kind=PLAIN -> event=1\n"
                                        "event.reset event=1 stream=0\n");
            if (blocked)
                (void)fixture_run(&fixture, "stream.waitEvent stream=1 event=1");
            uint64_t now_ns = engine_now_ns(fixture.engine);
            fixture.contents.fail_next = true;
            EXPECT(fixture_run(&fixture, "%s", commands[i]) == SOMA_HOST_MEMORY_EXHAUSTED, "%s",
                   commands[i]);
            EXPECT(engine_now_ns(fixture.engine) == now_ns, "%s: the clock stays", commands[i]);
            (void)fixture_script(&fixture, commands[i], "memory.read ptr=p1 size=4 -> base64=keep");
            fixture_finish(&fixture, commands[i]);
        }
    }
}

/* Nobody keeps contents: everything takes its time, and nothing is read. */
static void test_without_contents(void)
{
    /* clang-format off */
        static const struct scene scenes[] = {
    {"without contents commands take their time, and reading answers no bytes",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.malloc pool=1 size=1g -> ptr=p1\n"
     "memory.set ptr=p1 value=1 size=1 -> now=3us+5us\n"
     "memory.copy dst=p1 src=p1+9 size=1 -> now=9us+5us\n"
     "memory.write ptr=p1 base64=abc -> now=15us+10us\n"
     "memory.read ptr=p1 size=4 -> now=26us+10us base64=\n"
     "memory.read ptr=p1 size=4 stream=0 -> now=37us\n"
     "stream.get stream=0 -> readyAtNs=47us\n"
     "memory.read ptr=p1 size=1g+1 -> INVALID_ADDRESS\n"
     "memory.read ptr=p1 size=0 -> ZERO_SIZE"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.has_contents = false;
    RUN_SCENES_ON(scenes, &setup);
}

static const struct soma_test tests[] = {
    {"ranges", test_ranges},
    {"effects", test_effects},
    {"reductions", test_reduce},
    {"random numbers", test_random},
    {"times", test_times},
    {"costs of one's own", test_own_costs},
    {"bytes that cannot be moved", test_bytes_fail},
    {"without contents", test_without_contents},
    {NULL, NULL},
};

const struct soma_suite suite_engine_contents = {"engine_contents", tests};
