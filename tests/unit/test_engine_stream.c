/* Streams: ids, states, tasks, destruction. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

#include <string.h>

/* clang-format off */
static const struct scene identity_scenes[] = {
    {"stream ids count up from 1 and are never reused",
     "stream.create -> stream=1 device=0\n"
     "stream.create -> stream=2\n"
     "stream.destroy stream=2\n"
     "stream.create -> stream=3"},
    {"stream ids count over all devices",
     "stream.create device=1 -> stream=1 device=1\n"
     "stream.create -> stream=2 device=0"},
    {"a refused create uses no id",
     "stream.create device=2 -> NO_SUCH_DEVICE acl=107001 field=device\n"
     "stream.create -> stream=1"},
    {"a stale id is an error, never another stream",
     "stream.create -> stream=1\n"
     "stream.destroy stream=1\n"
     "stream.create -> stream=2\n"
     "stream.get stream=1 -> NO_SUCH_STREAM acl=107017 field=stream says=destroyed\n"
     "stream.delay stream=1 durationNs=5 -> NO_SUCH_STREAM\n"
     "stream.synchronize stream=1 -> NO_SUCH_STREAM\n"
     "stream.destroy stream=1 -> NO_SUCH_STREAM\n"
     "stream.get stream=3 -> NO_SUCH_STREAM says=never"},
    {"stream 0 is the default stream of each device, from the start",
     "stream.get stream=0 -> stream=0 device=0 status=COMPLETE readyAtNs=0 pendingTasks=0\n"
     "stream.get device=1 stream=0 -> stream=0 device=1\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "stream.get stream=0 -> status=NOT_READY\n"
     "stream.get device=1 stream=0 -> status=COMPLETE"},
    {"stream 0 is never destroyed",
     "stream.destroy stream=0 -> DEFAULT_STREAM acl=107000\n"
     "stream.get stream=0 -> status=COMPLETE"},
    {"a stream of another device is refused",
     "stream.create device=1 -> stream=1\n"
     "stream.get stream=1 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "stream.delay stream=1 durationNs=5 -> STREAM_OF_OTHER_DEVICE\n"
     "stream.delay device=1 stream=1 durationNs=5"},
    {"a stream keeps the priority that it was created with",
     "stream.create priority=7 -> stream=1\n"
     "stream.get stream=1 -> priority=7"},
    {"the list has the live streams of the device, stream 0 first",
     "stream.create -> stream=1\n"
     "stream.create device=1 -> stream=2\n"
     "stream.create -> stream=3\n"
     "stream.create -> stream=4\n"
     "stream.destroy stream=3\n"
     "stream.list -> streams.count=3 streams[0].stream=0 streams[1].stream=1 "
         "streams[2].stream=4\n"
     "stream.list device=1 -> streams.count=2 streams[1].stream=2\n"
     "stream.list device=5 -> NO_SUCH_DEVICE\n"
     "device.get -> streams=3"},
    {"every stream command names a device that exists",
     "stream.get device=9 stream=0 -> NO_SUCH_DEVICE\n"
     "stream.destroy device=9 stream=1 -> NO_SUCH_DEVICE\n"
     "stream.synchronize device=9 stream=0 -> NO_SUCH_DEVICE\n"
     "stream.waitEvent device=9 stream=0 event=1 -> NO_SUCH_DEVICE\n"
     "stream.launchKernel device=9 stream=0 kernel=poke args=1 -> NO_SUCH_DEVICE\n"
     "stream.delay device=9 stream=0 durationNs=5 -> NO_SUCH_DEVICE"},
};
/* clang-format on */

static void test_identity(void)
{
    RUN_SCENES(identity_scenes);
}

/* clang-format off */
static const struct scene task_scenes[] = {
    {"a task starts at the host time of its submission when its stream is idle",
     "stream.create -> stream=1 now=1us\n"
     "stream.delay stream=1 durationNs=10us -> now=2us\n"
     "stream.get stream=1 -> now=3us status=NOT_READY readyAtNs=12us pendingTasks=1"},
    {"a task starts when its stream is ready, when that is later",
     "stream.delay stream=0 durationNs=10us -> now=1us\n"
     "stream.delay stream=0 durationNs=5us\n"
     "stream.get stream=0 -> readyAtNs=16us pendingTasks=2"},
    {"streams do not wait for each other by themselves",
     "stream.create -> stream=1\n"
     "stream.delay stream=0 durationNs=10us\n"
     "stream.delay stream=1 durationNs=10us -> now=3us\n"
     "stream.get stream=1 -> readyAtNs=13us"},
    {"a task that takes no time is over at once on an idle stream",
     "stream.delay stream=0 durationNs=0 -> now=1us\n"
     "stream.get stream=0 -> status=COMPLETE readyAtNs=1us pendingTasks=0"},
    {"a query compares with the host clock: at the ready time the stream is complete",
     "stream.delay stream=0 durationNs=2us -> now=1us\n"
     "stream.get stream=0 -> now=2us status=NOT_READY pendingTasks=1\n"
     "stream.get stream=0 -> now=3us status=COMPLETE pendingTasks=0"},
    {"tasks that end at the same time are counted one by one",
     "stream.delay stream=0 durationNs=5us\n"
     "stream.delay stream=0 durationNs=0\n"
     "stream.delay stream=0 durationNs=0\n"
     "stream.get stream=0 -> readyAtNs=6us pendingTasks=3\n"
     "stream.get stream=0 -> now=5us pendingTasks=3\n"
     "stream.get stream=0 -> now=6us pendingTasks=0"},
    {"finished tasks are no longer pending, those behind them are",
     "stream.delay stream=0 durationNs=3us\n"
     "stream.delay stream=0 durationNs=3us\n"
     "stream.delay stream=0 durationNs=3us\n"
     "stream.get stream=0 -> now=4us readyAtNs=10us pendingTasks=2\n"
     "stream.get stream=0 -> now=5us pendingTasks=2\n"
     "stream.get stream=0 -> now=6us pendingTasks=2\n"
     "stream.get stream=0 -> now=7us pendingTasks=1"},
    {"a stream that waits for an event starts no earlier than the record",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=20us -> now=3us\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=1 durationNs=5us\n"
     "stream.get stream=1 -> readyAtNs=28us"},
    {"a wait for a record that is past costs nothing",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1 -> now=4us\n"
     "stream.get stream=1 -> readyAtNs=4us status=COMPLETE"},
    {"a wait names an event that exists",
     "stream.waitEvent stream=0 event=1 -> NO_SUCH_EVENT acl=107017 field=event says=never\n"
     "event.create -> event=1\n"
     "event.destroy event=1\n"
     "stream.waitEvent stream=0 event=1 -> NO_SUCH_EVENT says=destroyed\n"
     "stream.waitEvent stream=4 event=1 -> NO_SUCH_STREAM"},
};
/* clang-format on */

static void test_tasks(void)
{
    RUN_SCENES(task_scenes);
}

/* clang-format off */
static const struct scene wait_scenes[] = {
    {"synchronising moves the host clock to the stream's ready time",
     "stream.delay stream=0 durationNs=50us\n"
     "stream.synchronize stream=0 -> status=COMPLETE nowNs=51us now=51us releasedBytes=0\n"
     "stream.get stream=0 -> status=COMPLETE now=52us"},
    {"synchronising an idle stream takes the time of a call",
     "stream.synchronize stream=0 -> nowNs=1us now=1us\n"
     "stream.synchronize stream=0 -> nowNs=2us now=2us"},
    {"a synchronise waits for its own stream only",
     "stream.create -> stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "stream.synchronize stream=0 -> now=3us"},
    {"a synchronise that times out moves the clock by its timeout and says so",
     "stream.delay stream=0 durationNs=10ms -> now=1us\n"
     "stream.synchronize stream=0 timeoutMs=3 -> STREAM_SYNC_TIMEOUT acl=507046 now=3ms+2us\n"
     "stream.get stream=0 -> status=NOT_READY readyAtNs=10ms+1us\n"
     "stream.synchronize stream=0 timeoutMs=3 -> STREAM_SYNC_TIMEOUT now=6ms+4us\n"
     "stream.synchronize stream=0 timeoutMs=4 -> now=10ms+1us"},
    {"a timeout that is long enough moves the clock to the ready time only",
     "stream.delay stream=0 durationNs=1ms -> now=1us\n"
     "stream.synchronize stream=0 timeoutMs=1 -> now=1ms+1us\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "stream.synchronize stream=0 timeoutMs=2147483647 -> now=2ms+2us"},
    {"a timeout of 0 only looks",
     "stream.delay stream=0 durationNs=3us -> now=1us\n"
     "stream.synchronize stream=0 timeoutMs=0 -> STREAM_SYNC_TIMEOUT now=2us\n"
     "stream.synchronize stream=0 timeoutMs=0 -> STREAM_SYNC_TIMEOUT now=3us\n"
     "stream.synchronize stream=0 timeoutMs=0 -> now=4us"},
    {"without a timeout, or with -1, there is no limit",
     "stream.delay stream=0 durationNs=1000000000000000\n"
     "stream.synchronize stream=0 timeoutMs=max -> now=1000000000000000+1us"},
    {"a blocked stream has no ready time, its tasks are pending, and whoever synchronises waits",
     "stream.create -> stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1 -> now=5us\n"
     "stream.delay stream=1 durationNs=5us\n"
     "stream.get stream=1 -> status=NOT_READY readyAtNs=none pendingTasks=2\n"
     "stream.synchronize stream=1 -> MUST_WAIT wait=none now=7us\n"
     "stream.destroy stream=1 -> MUST_WAIT wait=none now=7us\n"
     "stream.synchronize stream=1 timeoutMs=5 -> MUST_WAIT now=7us\n"
     "!stream.synchronize stream=1 timeoutMs=5 -> STREAM_SYNC_TIMEOUT says=recorded now=5ms+8us\n"
     "stream.synchronize stream=1 timeoutMs=0 -> STREAM_SYNC_TIMEOUT now=5ms+9us\n"
     "event.record event=1 stream=0 -> now=5ms+10us\n"
     "stream.get stream=1 -> readyAtNs=5ms+15us pendingTasks=1\n"
     "stream.synchronize stream=1 -> now=5ms+15us"},
    {"what has expired without a limit goes on waiting",
     "stream.create -> stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "!stream.synchronize stream=1 -> MUST_WAIT\n"
     "!stream.destroy stream=1 -> MUST_WAIT"},
};
/* clang-format on */

static void test_waits(void)
{
    RUN_SCENES(wait_scenes);
}

/* clang-format off */
static const struct scene destroy_scenes[] = {
    {"destroying a stream waits for its work as synchronise does",
     "stream.create -> stream=1\n"
     "stream.delay stream=1 durationNs=30us -> now=2us\n"
     "stream.destroy stream=1 -> now=32us"},
    {"destroying a stream releases nothing",
     "pool.create maxSize=4g -> pool=1\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.destroy stream=1\n"
     "map pool=1 -> C1@1 F3\n"
     "stream.synchronize stream=0 -> releasedBytes=1g\n"
     "map pool=1 -> F4"},
    {"freed blocks of a destroyed stream are still reused by those who may",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
     "stream.create -> stream=1\n"
     "stream.create -> stream=2\n"
     "event.create -> event=1\n"
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "stream.destroy stream=1\n"
     "pool.malloc pool=1 size=1 stream=0 -> reuse=FRESH ptr=p1+1g\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=EVENT ptr=p1"},
    {"blocks of a destroyed stream in two pools, the last of which lets it go",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.create maxSize=4g -> pool=2\n"
     "pool.create maxSize=4g -> pool=3\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "b: pool.malloc pool=2 size=1 stream=1\n"
     "c: pool.malloc pool=3 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=2 ptr=$b stream=1\n"
     "pool.free pool=3 ptr=$c stream=1\n"
     "pool.malloc pool=3 size=1 stream=1 -> reuse=SAME_STREAM\n"
     "stream.destroy stream=1\n"
     "pool.get pool=1 -> usage.cachedByStream[0].stream=1 usage.cachedByStream[0].bytes=1g\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> releasedBytes=1g\n"
     "pool.destroy pool=2\n"
     "pool.get pool=3 -> usage.cachedBytes=0 usage.cachedByStream.count=0"},
    {"a destroyed stream takes no more frees, and its memory can be freed on another",
     "pool.create maxSize=4g -> pool=1\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "stream.destroy stream=1\n"
     "pool.free pool=1 ptr=$a stream=1 -> NO_SUCH_STREAM acl=107017\n"
     "map pool=1 -> B1@1 F3\n"
     "pool.free pool=1 ptr=$a stream=0\n"
     "map pool=1 -> C1@0 F3"},
    {"a list that is empty when its stream is destroyed is gone as well",
     "pool.create maxSize=4g -> pool=1\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.malloc pool=1 size=1 stream=1 -> reuse=SAME_STREAM\n"
     "stream.destroy stream=1\n"
     "stream.create -> stream=2\n"
     "pool.malloc pool=1 size=1 stream=2 -> reuse=FRESH"},
};
/* clang-format on */

static void test_destroy(void)
{
    RUN_SCENES(destroy_scenes);
}

/* clang-format off */
static const struct scene kernel_scenes[] = {
    {"a kernel costs 10 us and its own figure, and says when it runs",
     "a: memory.malloc size=32\n"
     "stream.launchKernel stream=0 kernel=poke args=$a+4 -> now=2us startNs=2us endNs=19us\n"
     "stream.launchKernel stream=0 kernel=poke args=$a -> startNs=19us endNs=36us\n"
     "memory.read ptr=$a size=6 -> base64=*...*."},
    {"a kernel on a blocked stream has no times yet",
     "a: memory.malloc size=32\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=0 event=1\n"
     "stream.launchKernel stream=0 kernel=poke args=$a -> startNs=none endNs=none"},
    {"what cannot be launched changes nothing and takes no time",
     "stream.launchKernel stream=0 kernel=nope args=large -> NO_SUCH_KERNEL acl=100029 now=0\n"
     "stream.launchKernel stream=0 kernel=poke args=1,2 -> KERNEL_ARGUMENTS acl=107000 now=0\n"
     "stream.get stream=0 -> readyAtNs=0 now=1us\n"},
    {"a kernel that fails has been launched and took its time",
     "stream.launchKernel stream=0 kernel=poke args=large -> KERNEL_FAULT acl=507015 now=1us\n"
     "stream.get stream=0 -> readyAtNs=18us failureMode=CONTINUE stopped=false now=2us\n"
     "stream.delay stream=0 durationNs=1000\n"
     "stream.synchronize stream=0 -> nowNs=19us\n"
     "stream.launchKernel stream=3 kernel=poke args=large -> NO_SUCH_STREAM"},
    {"a kernel that fails behind a wait is a task there",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=0 event=1\n"
     "stream.launchKernel stream=0 kernel=poke args=large -> KERNEL_FAULT\n"
     "stream.get stream=0 -> pendingTasks=2"},
    {"with STOP the stream takes no more work, others do",
     "stream.create -> stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "pool.create maxSize=4194304 -> pool=1\n"
     "p: pool.malloc pool=1 size=32 stream=1\n"
     "a: memory.malloc size=32\n"
     "stream.setFailureMode stream=1 failureMode=STOP\n"
     "stream.setFailureMode stream=1 failureMode=STOP\n"
     "stream.setFailureMode stream=1 failureMode=CONTINUE -> NOT_SUPPORTED acl=207000\n"
     "stream.launchKernel stream=1 kernel=poke args=$a\n"
     "stream.get stream=1 -> failureMode=STOP stopped=false\n"
     "stream.launchKernel stream=1 kernel=poke args=small+100000 -> KERNEL_FAULT\n"
     "stream.get stream=1 -> failureMode=STOP stopped=true\n"
     "stream.launchKernel stream=1 kernel=poke args=$a -> STREAM_STOPPED acl=507015\n"
     "stream.delay stream=1 durationNs=1 -> STREAM_STOPPED\n"
     "memory.set ptr=$a value=1 size=1 stream=1 -> STREAM_STOPPED\n"
     "memory.read ptr=$a size=1 stream=1 -> STREAM_STOPPED\n"
     "event.record event=1 stream=1 -> STREAM_STOPPED\n"
     "event.reset event=1 stream=1 -> STREAM_STOPPED\n"
     "stream.waitEvent stream=1 event=1 -> STREAM_STOPPED\n"
     "stream.synchronize stream=1 -> STREAM_STOPPED says=destroy\n"
     "pool.free pool=1 ptr=$p stream=1 -> size=2097152\n"
     "stream.delay stream=0 durationNs=1\n"
     "device.synchronize\n"
     "stream.destroy stream=1"},
    {"a device that is reset has a default stream that goes on",
     "stream.setFailureMode stream=0 failureMode=STOP\n"
     "stream.launchKernel stream=0 kernel=poke args=large -> KERNEL_FAULT\n"
     "stream.delay stream=0 durationNs=1 -> STREAM_STOPPED\n"
     "device.reset\n"
     "stream.delay stream=0 durationNs=1\n"
     "stream.get stream=0 -> failureMode=CONTINUE stopped=false\n"},
};
/* clang-format on */

static void test_kernels(void)
{
    RUN_SCENES(kernel_scenes);
    /* clang-format off */
    static const struct scene without_contents[] = {
    {"without contents a kernel only takes its time",
     "stream.launchKernel stream=0 kernel=poke args=large -> startNs=1us endNs=11us"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.has_contents = false;
    RUN_SCENES_ON(without_contents, &setup);
}

/* As many streams as the SoC has, stream 0 not counted. */
static void test_limit(void)
{
    struct fixture fixture;
    struct fixture_setup setup = fixture_setup_default();
    setup.config.soc = soma_soc_find("Ascend310B4", strlen("Ascend310B4"));
    if (!EXPECT(fixture_start(&fixture, &setup), "start"))
        return;
    for (uint32_t i = 0; i < setup.config.soc->max_streams; i++)
        EXPECT(fixture_run(&fixture, "stream.create") == SOMA_OK, "stream %u", i + 1);
    (void)fixture_script(&fixture, "as many streams as the SoC has, on each device",
                         "stream.create -> STREAM_LIMIT acl=207008 says=480\n"
                         "stream.create device=1 -> stream=481\n"
                         "stream.destroy stream=77\n"
                         "stream.create -> stream=482\n"
                         "stream.create -> STREAM_LIMIT");
    fixture_abandon(&fixture, "limit");
}

/* Keys name streams in clocks: apart for all devices and ids, and found again. */
static void test_keys(void)
{
    static const struct {
        const char *command;
        uint64_t key;
        uint64_t id;
        uint64_t device;
    } rows[] = {
        {"stream.get stream=0", 1, 0, 0},
        {"stream.get device=1 stream=0", 2, 0, 1},
        {"stream.create", SOMA_DEVICES_MAX + 1, 1, 0},
        {"stream.create device=1", SOMA_DEVICES_MAX + 2, 2, 1},
    };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT(fixture_run(&fixture, "%s", rows[i].command) == SOMA_OK, "%s", rows[i].command);
        const struct stream *stream = stream_by_key(fixture.engine, rows[i].key);
        EXPECT(stream != NULL && stream->id == rows[i].id &&
                   stream->device->number == rows[i].device && stream->key == rows[i].key,
               "%s: the stream of this key", rows[i].command);
    }
    EXPECT(stream_by_key(fixture.engine, SOMA_DEVICES_MAX + 3) == NULL, "no such key");
    EXPECT(stream_by_key(fixture.engine, 3) == NULL, "no such device");
    fixture_finish(&fixture, "keys");
}

/* stream_settle moves done_position over what is past, task by task. */
static void test_settle(void)
{
    static const struct {
        uint64_t now_us;
        uint64_t done_position;
        size_t flights;
    } rows[] = {{3, 0, 3}, {10, 0, 3}, {11, 1, 2}, {20, 1, 2}, {21, 3, 1}, {30, 3, 1}, {31, 4, 0}};
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "tasks end at 11, 21 (two) and 31 us",
                         "stream.delay stream=0 durationNs=10us\n"
                         "stream.delay stream=0 durationNs=10us\n"
                         "stream.delay stream=0 durationNs=0\n"
                         "stream.delay stream=0 durationNs=10us");
    struct stream *stream = &fixture.engine->devices[0].default_stream;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        stream_settle(stream, rows[i].now_us * 1000);
        EXPECT(stream->done_position == rows[i].done_position &&
                   stream->flight_count == rows[i].flights && stream->position == 4,
               "at %u us: %u of 4 commands done, %zu flights", (unsigned)rows[i].now_us,
               (unsigned)stream->done_position, stream->flight_count);
    }
    fixture_abandon(&fixture, "settle");
}

static const struct soma_test tests[] = {
    {"ids and lists", test_identity},
    {"tasks and queries", test_tasks},
    {"synchronising", test_waits},
    {"destroying", test_destroy},
    {"kernels", test_kernels},
    {"the limit of the SoC", test_limit},
    {"keys", test_keys},
    {"settling", test_settle},
    {NULL, NULL},
};

const struct soma_suite suite_engine_stream = {"engine_stream", tests};
