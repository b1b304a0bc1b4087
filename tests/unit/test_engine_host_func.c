/* Functions of the host in streams, and waits that run out of time. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

/* clang-format off */
static const struct scene function_scenes[] = {
    {"a function on an idle stream has arrived at once",
     "stream.launchHostFunc stream=0 -> hostFunc=1 device=0 stream=0 group=0 blockType=BLOCK "
         "state=ARRIVED arrivedAtNs=1us now=1us\n"
     "hostFunc.take -> hostFunc=1 state=TAKEN\n"
     "hostFunc.list -> hostFuncs.count=1 hostFuncs[0].state=TAKEN\n"
     "hostFunc.complete hostFunc=1\n"
     "hostFunc.list -> hostFuncs.count=0"},
    {"it arrives when what stands before it has an end, and the host does not wait for that",
     "stream.delay stream=0 durationNs=1ms\n"
     "stream.launchHostFunc stream=0 -> state=ARRIVED arrivedAtNs=1ms+1us\n"
     "hostFunc.take -> hostFunc=1 now=3us\n"
     "hostFunc.complete hostFunc=1 -> now=4us\n"
     "stream.get stream=0 -> readyAtNs=1ms+1us"},
    {"the stream waits for it, and goes on at the host's time",
     "stream.launchHostFunc stream=0\n"
     "stream.delay stream=0 durationNs=10us\n"
     "stream.get stream=0 -> status=NOT_READY readyAtNs=none pendingTasks=2\n"
     "stream.synchronize stream=0 -> MUST_WAIT wait=none\n"
     "stream.synchronize stream=0 timeoutMs=0 -> STREAM_SYNC_TIMEOUT acl=507046 says=host\n"
     "hostFunc.complete hostFunc=1 -> now=5us\n"
     "stream.get stream=0 -> readyAtNs=15us pendingTasks=1\n"
     "stream.synchronize stream=0 -> now=15us"},
    {"NO_BLOCK: the stream goes on, and the function is gone when it is taken",
     "stream.launchHostFunc stream=0 blockType=NO_BLOCK -> state=ARRIVED blockType=NO_BLOCK\n"
     "stream.get stream=0 -> status=COMPLETE\n"
     "hostFunc.take -> hostFunc=1\n"
     "hostFunc.list -> hostFuncs.count=0\n"
     "hostFunc.complete hostFunc=1 -> NO_SUCH_HOST_FUNC acl=107017 field=hostFunc says=complete"},
    {"functions of a stream arrive one after the other",
     "stream.launchHostFunc stream=0\n"
     "stream.launchHostFunc stream=0 -> hostFunc=2 state=QUEUED arrivedAtNs=none\n"
     "hostFunc.complete hostFunc=2 -> HOST_FUNC_NOT_ARRIVED acl=107000 says=take\n"
     "hostFunc.take -> hostFunc=1\n"
     "hostFunc.take -> MUST_WAIT wait=none\n"
     "hostFunc.take timeoutMs=0 -> HOST_FUNC_TIMEOUT acl=507012 field=timeoutMs now=3us\n"
     "hostFunc.complete hostFunc=1\n"
     "hostFunc.take -> hostFunc=2\n"
     "hostFunc.complete hostFunc=2"},
    {"a group takes its own, oldest first",
     "stream.create -> stream=1\n"
     "stream.launchHostFunc stream=1 group=7\n"
     "stream.launchHostFunc stream=0 group=7\n"
     "stream.launchHostFunc stream=0 group=8\n"
     "hostFunc.take timeoutMs=0 -> HOST_FUNC_TIMEOUT says=group\n"
     "hostFunc.take group=8 timeoutMs=0 -> HOST_FUNC_TIMEOUT\n"
     "hostFunc.take group=7 -> hostFunc=1\n"
     "hostFunc.take group=7 -> hostFunc=2\n"
     "hostFunc.take group=7 timeoutMs=0 -> HOST_FUNC_TIMEOUT\n"
     "hostFunc.complete hostFunc=2\n"
     "hostFunc.take group=8 -> hostFunc=3"},
    {"others wait for what stands behind a function",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.launchHostFunc stream=0\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.synchronize stream=1 timeoutMs=0 -> STREAM_SYNC_TIMEOUT says=host\n"
     "device.synchronize timeoutMs=0 -> DEVICE_SYNC_TIMEOUT says=host\n"
     "event.synchronize event=1 timeoutMs=0 -> EVENT_SYNC_TIMEOUT says=host\n"
     "hostFunc.complete hostFunc=1\n"
     "stream.synchronize stream=1"},
    {"a function may be complete without having been taken",
     "stream.launchHostFunc stream=0\n"
     "hostFunc.complete hostFunc=1\n"
     "hostFunc.take timeoutMs=0 -> HOST_FUNC_TIMEOUT\n"
     "stream.synchronize stream=0"},
    {"ids are never used again; a refused launch uses none",
     "stream.launchHostFunc stream=5 -> NO_SUCH_STREAM\n"
     "stream.launchHostFunc stream=0 -> hostFunc=1\n"
     "hostFunc.complete hostFunc=1\n"
     "stream.launchHostFunc stream=0 -> hostFunc=2\n"
     "hostFunc.complete hostFunc=1 -> NO_SUCH_HOST_FUNC\n"
     "hostFunc.complete hostFunc=3 -> NO_SUCH_HOST_FUNC says=never"},
    {"a device that is reset drops its functions, others keep theirs",
     "stream.create device=1 -> stream=1\n"
     "stream.launchHostFunc stream=0\n"
     "stream.launchHostFunc device=1 stream=1\n"
     "stream.launchHostFunc stream=0 blockType=NO_BLOCK\n"
     "hostFunc.take -> hostFunc=1\n"
     "device.reset\n"
     "hostFunc.list -> hostFuncs.count=1 hostFuncs[0].hostFunc=2 hostFuncs[0].device=1\n"
     "hostFunc.complete hostFunc=1 -> NO_SUCH_HOST_FUNC says=dropped\n"
     "stream.get stream=0 -> status=COMPLETE\n"
     "hostFunc.take -> hostFunc=2"},
    {"a stream is not destroyed before its functions; those that do not block outlive it",
     "stream.create -> stream=1\n"
     "stream.launchHostFunc stream=1 blockType=NO_BLOCK\n"
     "stream.launchHostFunc stream=1\n"
     "stream.destroy stream=1 -> MUST_WAIT\n"
     "hostFunc.complete hostFunc=2\n"
     "stream.destroy stream=1\n"
     "hostFunc.take -> hostFunc=1 stream=1"},
};

static const struct scene limit_scenes[] = {
    {"a wait runs out when the host's clock comes there; the next synchronise tells, once",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=2 -> now=5us\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.synchronize stream=1 -> MUST_WAIT\n"
     "clock.advance durationNs=1ms -> nowNs=1ms+7us\n"
     "stream.get stream=1 -> status=NOT_READY readyAtNs=none\n"
     "clock.advance durationNs=1ms -> nowNs=2ms+9us\n"
     "stream.get stream=1 -> readyAtNs=2ms+15us\n"
     "stream.synchronize stream=1 -> STREAM_WAIT_TIMEOUT acl=107020 says=event\n"
     "stream.synchronize stream=1"},
    {"what comes in time is waited for",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=2\n"
     "clock.advance durationNs=1ms\n"
     "event.record event=1 stream=0\n"
     "clock.advance durationNs=5ms\n"
     "stream.synchronize stream=1"},
    {"what comes, but too late, is not",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=5ms\n"
     "event.record event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=2 -> now=5us\n"
     "stream.get stream=1 -> readyAtNs=2ms+5us\n"
     "stream.synchronize stream=1 -> STREAM_WAIT_TIMEOUT now=2ms+5us\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=20\n"
     "stream.synchronize stream=1 -> now=5ms+2us"},
    {"the limit begins when the stream comes to the wait",
     "event.create -> event=1\n"
     "stream.create -> stream=1\n"
     "stream.delay stream=0 durationNs=5ms\n"
     "event.record event=1 stream=0\n"
     "stream.delay stream=1 durationNs=4ms\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=2\n"
     "stream.synchronize stream=1 -> now=5ms+3us"},
    {"no time at all: only what is there already counts",
     "event.create -> event=1\n"
     "event.record event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=0\n"
     "stream.synchronize stream=1\n"
     "stream.delay stream=0 durationNs=5ms\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=0\n"
     "device.synchronize -> STREAM_WAIT_TIMEOUT says=event\n"
     "device.synchronize"},
    {"a wait behind a function runs out too, from when the function has returned",
     "event.create -> event=1\n"
     "stream.create -> stream=1\n"
     "stream.delay stream=0 durationNs=50ms\n"
     "event.record event=1 stream=0\n"
     "stream.launchHostFunc stream=1\n"
     "stream.waitEvent stream=1 event=1 timeoutMs=2\n"
     "clock.advance durationNs=5ms\n"
     "hostFunc.complete hostFunc=1 -> now=5ms+8us\n"
     "stream.get stream=1 -> readyAtNs=7ms+8us"},
    {"a reset forgets that a wait ran out",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=5ms\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=0 event=1 timeoutMs=0\n"
     "device.reset\n"
     "stream.synchronize stream=0"},
};
/* clang-format on */

static void test_functions(void)
{
    RUN_SCENES(function_scenes);
}

static void test_limits(void)
{
    RUN_SCENES(limit_scenes);
}

static const struct soma_test tests[] = {
    {"functions of the host", test_functions},
    {"waits run out of time", test_limits},
    {NULL, NULL},
};

const struct soma_suite suite_engine_host_func = {"engine_host_func", tests};
