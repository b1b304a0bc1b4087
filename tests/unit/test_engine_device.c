/* Devices: reports, synchronise, reset. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <string.h>

/* clang-format off */
static const struct scene report_scenes[] = {
    {"the list has every device of the session, with its SoC and memory",
     "device.list -> devices.count=2 devices[0].device=0 devices[1].device=1 "
         "devices[0].soc=Ascend910B1 devices[0].emulated=true devices[0].totalBytes=64g "
         "devices[0].freeBytes=64g devices[0].streams=1 devices[0].pools=0"},
    {"a device's report counts its own streams and pools",
     "stream.create -> stream=1\n"
     "stream.create device=1 -> stream=2\n"
     "pool.create maxSize=3g -> pool=1\n"
     "pool.create device=1 -> pool=2\n"
     "pool.create device=1 -> pool=3\n"
     "device.get -> device=0 streams=2 pools=1 freeBytes=61g\n"
     "device.get device=1 -> device=1 streams=2 pools=2 freeBytes=64g\n"
     "stream.destroy stream=1\n"
     "device.get -> streams=1"},
    {"a device that the session has not: 107001",
     "device.get device=2 -> NO_SUCH_DEVICE acl=107001 field=device says=0 says=1\n"
     "device.synchronize device=2 -> NO_SUCH_DEVICE\n"
     "device.reset device=2 -> NO_SUCH_DEVICE\n"
     "device.get device=max -> NO_SUCH_DEVICE"},
};
/* clang-format on */

static void test_reports(void)
{
    RUN_SCENES(report_scenes);
    /* clang-format off */
                static const struct scene default_scenes[] = {
    {"a device has as much memory as its SoC when nothing else is said",
     "device.get -> totalBytes=68719476736 soc=Ascend910B1\n"
     "device.get device=1 -> NO_SUCH_DEVICE"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = 0;
    setup.config.device_count = 1;
    RUN_SCENES_ON(default_scenes, &setup);
}

/* clang-format off */
static const struct scene sync_scenes[] = {
    {"synchronising a device waits for all of its streams",
     "stream.create -> stream=1\n"
     "stream.create device=1 -> stream=2\n"
     "stream.delay stream=1 durationNs=50us -> now=3us\n"
     "stream.delay stream=0 durationNs=20us\n"
     "stream.delay device=1 stream=2 durationNs=1ms\n"
     "device.synchronize -> nowNs=53us status=COMPLETE\n"
     "stream.get device=1 stream=2 -> status=NOT_READY"},
    {"an idle device is there at once",
     "device.synchronize -> nowNs=1us"},
    {"timing out moves the clock by the timeout: 507046",
     "stream.delay stream=0 durationNs=5ms -> now=1us\n"
     "device.synchronize timeoutMs=2 -> DEVICE_SYNC_TIMEOUT acl=507046 now=2ms+2us\n"
     "device.synchronize timeoutMs=0 -> DEVICE_SYNC_TIMEOUT now=2ms+3us\n"
     "device.synchronize timeoutMs=3 -> nowNs=5ms+1us"},
    {"one blocked stream keeps the device waiting",
     "stream.create -> stream=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "device.synchronize -> MUST_WAIT wait=none now=4us\n"
     "!device.synchronize timeoutMs=1 -> DEVICE_SYNC_TIMEOUT now=1ms+5us\n"
     "device.synchronize device=1 -> nowNs=1ms+6us\n"
     "event.record event=1 stream=0\n"
     "device.synchronize"},
    {"a destroyed stream's work is over",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=4g\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1\n"
     "stream.delay stream=1 durationNs=90us -> now=5us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.destroy stream=1 -> now=95us\n"
     "device.synchronize -> nowNs=96us"},
};
/* clang-format on */

static void test_synchronise(void)
{
    RUN_SCENES(sync_scenes);
}

/* clang-format off */
static const struct scene reset_scenes[] = {
    {"a reset drops the device's objects; its stream 0 stays, idle",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "pool.create maxSize=8g -> pool=1\n"
     "pool.create -> pool=2\n"
     "a: memory.malloc size=3g\n"
     "b: pool.malloc pool=2 size=3g\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "event.record event=1 stream=0\n"
     "device.reset -> now=9us\n"
     "stream.get stream=0 -> status=COMPLETE readyAtNs=9us pendingTasks=0\n"
     "stream.get stream=1 -> NO_SUCH_STREAM says=destroyed\n"
     "event.get event=1 -> NO_SUCH_EVENT says=destroyed\n"
     "pool.get pool=1 -> NO_SUCH_POOL says=destroyed\n"
     "memory.free ptr=$a -> INVALID_ADDRESS\n"
     "memory.free ptr=$b -> INVALID_ADDRESS\n"
     "device.get -> streams=1 pools=0 freeBytes=64g\n"
     "stream.list -> streams.count=1\n"
     "event.list -> events.count=0\n"
     "pool.list -> pools.count=0"},
    {"ids go on counting, addresses begin again",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "pool.create maxSize=8g -> pool=1 baseAddress=large\n"
     "device.reset\n"
     "stream.create -> stream=2\n"
     "event.create -> event=2\n"
     "pool.create maxSize=8g -> pool=2 baseAddress=large"},
    {"other devices keep what they have",
     "stream.create device=1 -> stream=1\n"
     "event.create device=1 -> event=1\n"
     "pool.create device=1 maxSize=8g -> pool=1\n"
     "a: memory.malloc device=1 size=3g\n"
     "stream.delay device=1 stream=1 durationNs=1ms\n"
     "device.reset\n"
     "stream.get device=1 stream=1 -> status=NOT_READY pendingTasks=1\n"
     "event.get device=1 event=1 -> event=1\n"
     "pool.get device=1 pool=1 -> pool=1\n"
     "memory.free device=1 ptr=$a"},
    {"who waits elsewhere for a record of the device that had no time yet waits no longer",
     "event.create kind=PLAIN -> event=1\n"
     "event.create -> event=2\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1\n"
     "event.record event=2 stream=1\n"
     "stream.waitEvent device=1 stream=0 event=2\n"
     "stream.delay device=1 stream=0 durationNs=5us -> now=8us\n"
     "stream.get device=1 stream=0 -> readyAtNs=none\n"
     "device.reset -> now=10us\n"
     "stream.get device=1 stream=0 -> readyAtNs=15us pendingTasks=1"},
    {"a wait elsewhere for a record that nobody made goes on",
     "event.create kind=PLAIN device=1 -> event=1\n"
     "event.reset device=1 event=1 stream=0\n"
     "stream.waitEvent stream=0 event=1\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "device.reset -> now=5us\n"
     "stream.get stream=0 -> status=COMPLETE\n"
     "stream.get device=1 stream=0 -> readyAtNs=none\n"
     "event.record device=1 event=1 stream=0\n"
     "stream.get device=1 stream=0 -> readyAtNs=none"},
    {"frees on their way, with and without a time, go with their device",
     "a: memory.malloc size=3g\n"
     "b: memory.malloc size=3g\n"
     "c: memory.malloc device=1 size=3g\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "memory.freeAsync ptr=$a stream=1\n"
     "stream.waitEvent stream=0 event=1\n"
     "memory.freeAsync ptr=$b stream=0\n"
     "event.create device=1 kind=PLAIN -> event=2\n"
     "event.reset device=1 event=2 stream=0\n"
     "stream.create device=1 -> stream=2\n"
     "stream.waitEvent device=1 stream=2 event=2\n"
     "memory.freeAsync device=1 ptr=$c stream=2\n"
     "device.reset\n"
     "memory.info -> freeBytes=64g\n"
     "memory.info device=1 -> freeBytes=61g\n"
     "event.record device=1 event=2 stream=0\n"
     "memory.info device=1 -> freeBytes=64g"},
    {"streams that are destroyed but have cached blocks go with the pools",
     "pool.create maxSize=8g -> pool=1\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.destroy stream=1\n"
     "device.reset\n"
     "device.get -> streams=1"},
    {"what a stream of another device knew of one that is gone does no harm",
     "event.create -> event=1\n"
     "event.create device=1 -> event=2\n"
     "stream.create -> stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "device.reset\n"
     "event.record device=1 event=2 stream=0\n"
     "stream.waitEvent stream=0 event=2\n"
     "stream.get stream=0 -> status=COMPLETE"},
    {"a time that was known before stays what it was for whoever waits elsewhere",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=50us -> now=2us\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "device.reset\n"
     "stream.get stream=0 -> readyAtNs=5us\n"
     "stream.get device=1 stream=0 -> readyAtNs=52us"},
    {"a wait elsewhere for the next record of an event that is gone with its device never ends",
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "device.reset\n"
     "stream.synchronize device=1 stream=0 -> MUST_WAIT wait=none\n"
     "device.reset device=1\n"
     "stream.synchronize device=1 stream=0"},
    {"a wait that was dropped orders nothing: its stream forgets what it would have known",
     "pool.create device=1 maxSize=8g -> pool=1\n"
     "pool.setAttribute device=1 pool=1 name=reuseFollowEventDependencies value=1\n"
     "stream.create device=1 -> stream=1\n"
     "stream.create device=1 -> stream=2\n"
     "event.create device=1 -> event=1\n"
     "a: pool.malloc device=1 pool=1 size=1g stream=1 -> ptr=p1\n"
     "stream.delay device=1 stream=1 durationNs=1ms\n"
     "pool.free device=1 pool=1 ptr=$a stream=1\n"
     "event.record device=1 event=1 stream=1\n"
     "stream.waitEvent stream=0 event=1\n"
     "device.reset\n"
     "event.create -> event=2\n"
     "event.record event=2 stream=0\n"
     "stream.waitEvent device=1 stream=2 event=2\n"
     "pool.malloc device=1 pool=1 size=1g stream=2 -> reuse=FRESH ptr=p1+1g"},
    {"a reset of an untouched device does nothing but take its time",
     "device.reset -> now=1us\n"
     "device.reset -> now=2us\n"
     "stream.get stream=0 -> status=COMPLETE readyAtNs=0"},
    {"positions go on: a record after a reset is behind all frees before it",
     "stream.delay stream=0 durationNs=1us\n"
     "device.reset\n"
     "pool.create maxSize=8g -> pool=1\n"
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "pool.free pool=1 ptr=$a\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=EVENT"},
};
/* clang-format on */

static void test_reset(void)
{
    RUN_SCENES(reset_scenes);
}

static const struct soma_test tests[] = {
    {"reports", test_reports},
    {"synchronising", test_synchronise},
    {"resetting", test_reset},
    {NULL, NULL},
};

const struct soma_suite suite_engine_device = {"engine_device", tests};
