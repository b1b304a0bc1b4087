/* Notifies, and dropping work. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

/* clang-format off */
static const struct scene notify_scenes[] = {
    {"a record lets the wait behind it go on",
     "stream.create -> stream=1\n"
     "notify.create -> notify=1 device=0 records=0 waits=0\n"
     "stream.delay stream=0 durationNs=50us\n"
     "stream.recordNotify stream=0 notify=1\n"
     "notify.get notify=1 -> records=1 waits=0\n"
     "stream.waitNotify stream=1 notify=1\n"
     "notify.get notify=1 -> records=0 waits=0\n"
     "stream.get stream=1 -> readyAtNs=53us"},
    {"and the wait before it",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.waitNotify stream=1 notify=1\n"
     "notify.get notify=1 -> records=0 waits=1\n"
     "stream.synchronize stream=1 -> MUST_WAIT\n"
     "stream.synchronize stream=1 timeoutMs=0 -> STREAM_SYNC_TIMEOUT says=notify\n"
     "stream.delay stream=0 durationNs=50us -> now=6us\n"
     "stream.recordNotify stream=0 notify=1\n"
     "notify.get notify=1 -> records=0 waits=0\n"
     "stream.synchronize stream=1 -> now=56us"},
    {"each record lets one wait go on, the oldest",
     "stream.create -> stream=1\n"
     "stream.create -> stream=2\n"
     "notify.create\n"
     "stream.waitNotify stream=2 notify=1\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.get stream=2 -> status=COMPLETE\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"records are taken one by one",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.get stream=1 -> status=COMPLETE\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.get stream=1 -> status=NOT_READY"},
    {"a reset takes back what no wait has taken",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.recordNotify stream=0 notify=1\n"
     "notify.reset notify=1\n"
     "stream.waitNotify stream=1 notify=1\n"
     "notify.reset notify=1\n"
     "notify.get notify=1 -> waits=1\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"devices signal each other",
     "stream.create device=1 -> stream=1\n"
     "notify.create device=1 -> notify=1 device=1\n"
     "stream.waitNotify device=1 stream=1 notify=1\n"
     "stream.recordNotify stream=0 notify=1\n"
     "stream.get device=1 stream=1 -> status=COMPLETE\n"
     "notify.get notify=1 -> NO_SUCH_NOTIFY acl=107017 says=belongs\n"
     "notify.list device=1 -> notifies.count=1 notifies[0].notify=1\n"
     "notify.list -> notifies.count=0"},
    {"a wait that runs out takes no record",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.waitNotify stream=1 notify=1 timeoutMs=3\n"
     "clock.advance durationNs=3ms\n"
     "notify.get notify=1 -> waits=0\n"
     "stream.recordNotify stream=0 notify=1\n"
     "notify.get notify=1 -> records=1\n"
     "stream.synchronize stream=1 -> STREAM_WAIT_TIMEOUT says=notify\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.synchronize stream=1"},
    {"a stale id is an error",
     "notify.create\n"
     "notify.destroy notify=1\n"
     "notify.get notify=1 -> NO_SUCH_NOTIFY says=destroyed\n"
     "stream.waitNotify stream=0 notify=1 -> NO_SUCH_NOTIFY\n"
     "stream.recordNotify stream=0 notify=2 -> NO_SUCH_NOTIFY says=never\n"
     "stream.recordNotify stream=9 notify=2 -> NO_SUCH_STREAM\n"
     "notify.create -> notify=2"},
    {"a device that is reset loses its notifies",
     "notify.create\n"
     "notify.create device=1\n"
     "device.reset\n"
     "notify.get notify=1 -> NO_SUCH_NOTIFY\n"
     "notify.get device=1 notify=2 -> notify=2"},
    {"a wait orders memory as an event does",
     "stream.create -> stream=1\n"
     "stream.create -> stream=2\n"
     "notify.create\n"
     "pool.create maxSize=2g -> pool=1\n"
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
     "pool.malloc pool=1 size=2g stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=p1 stream=1\n"
     "pool.malloc pool=1 size=2g stream=2 -> POOL_EXHAUSTED\n"
     "stream.waitNotify stream=2 notify=1\n"
     "stream.recordNotify stream=1 notify=1\n"
     "pool.malloc pool=1 size=2g stream=2 -> reuse=EVENT"},
};

static const struct scene abort_scenes[] = {
    {"an abort drops what waits and what runs, and the stream can be used",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.delay stream=1 durationNs=1000ms\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=1 durationNs=1000ms\n"
     "stream.abort stream=1 -> now=8us\n"
     "stream.get stream=1 -> status=COMPLETE readyAtNs=8us pendingTasks=0\n"
     "stream.delay stream=1 durationNs=1us\n"
     "stream.synchronize stream=1 -> now=11us"},
    {"who waits for dropped work waits no longer",
     "stream.create -> stream=1\n"
     "stream.create -> stream=2\n"
     "event.create -> event=1\n"
     "stream.launchHostFunc stream=1\n"
     "event.record event=1 stream=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "stream.get stream=2 -> status=NOT_READY\n"
     "stream.abort stream=1\n"
     "stream.get stream=2 -> status=COMPLETE\n"
     "hostFunc.list -> hostFuncs.count=0"},
    {"only the stream's own functions go with it",
     "stream.create -> stream=1\n"
     "stream.launchHostFunc stream=1 blockType=NO_BLOCK\n"
     "stream.launchHostFunc stream=0 blockType=NO_BLOCK\n"
     "stream.abort stream=1\n"
     "hostFunc.take -> hostFunc=2"},
    {"a dropped wait takes no record",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.abort stream=1\n"
     "stream.recordNotify stream=0 notify=1\n"
     "notify.get notify=1 -> records=1"},
    {"memory that dropped work was to free is free",
     "memory.malloc size=2g\n"
     "memory.info -> freeBytes=62g\n"
     "stream.launchHostFunc stream=0\n"
     "memory.freeAsync ptr=large stream=0\n"
     "memory.info -> freeBytes=62g\n"
     "stream.abort stream=0\n"
     "memory.info -> freeBytes=64g"},
    {"an abort of a device reaches all its streams and no other's, and leaves what it holds",
     "stream.create -> stream=1\n"
     "stream.create device=1 -> stream=2\n"
     "event.create -> event=1\n"
     "stream.launchHostFunc stream=0\n"
     "stream.launchHostFunc stream=1\n"
     "stream.launchHostFunc device=1 stream=2\n"
     "device.abort\n"
     "device.synchronize\n"
     "event.get event=1 -> event=1\n"
     "stream.get stream=1 -> status=COMPLETE\n"
     "hostFunc.list -> hostFuncs.count=1 hostFuncs[0].hostFunc=3\n"
     "device.abort device=9 -> NO_SUCH_DEVICE"},
    {"a stop ends the wait that the stream stands at, and no other",
     "stream.create -> stream=1\n"
     "notify.create\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.waitNotify stream=1 notify=1\n"
     "stream.stop stream=1 -> now=6us\n"
     "stream.get stream=1 -> status=NOT_READY pendingTasks=2\n"
     "stream.stop stream=1\n"
     "stream.synchronize stream=1 -> now=16us\n"
     "stream.stop stream=1\n"
     "stream.stop stream=7 -> NO_SUCH_STREAM"},
    {"a stop ends a function that the stream waits for",
     "stream.launchHostFunc stream=0\n"
     "stream.launchHostFunc stream=0\n"
     "stream.stop stream=0\n"
     "hostFunc.complete hostFunc=1 -> NO_SUCH_HOST_FUNC\n"
     "hostFunc.take -> hostFunc=2"},
    {"a stop does not cut a task short",
     "stream.delay stream=0 durationNs=10us\n"
     "stream.stop stream=0\n"
     "stream.get stream=0 -> readyAtNs=11us"},
    {"an abort forgets that a wait ran out",
     "notify.create\n"
     "stream.waitNotify stream=0 notify=1 timeoutMs=0\n"
     "stream.abort stream=0\n"
     "stream.synchronize stream=0"},
};
/* clang-format on */

static void test_notifies(void)
{
    RUN_SCENES(notify_scenes);
}

static void test_aborts(void)
{
    RUN_SCENES(abort_scenes);
}

static void test_limit(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    for (unsigned i = 0; i < SOMA_NOTIFIES_MAX; i++)
        EXPECT(fixture_run(&fixture, "notify.create") == SOMA_OK, "notify %u", i + 1);
    EXPECT(fixture_run(&fixture, "notify.create") == SOMA_NOTIFY_LIMIT, "one too many");
    EXPECT(fixture_run(&fixture, "notify.create device=1") == SOMA_OK, "another device");
    EXPECT(fixture_run(&fixture, "notify.destroy notify=1") == SOMA_OK, "destroy");
    EXPECT(fixture_run(&fixture, "notify.create") == SOMA_OK, "one more");
    fixture_finish(&fixture, "notifies");
}

static const struct soma_test tests[] = {
    {"notifies", test_notifies},
    {"aborts and stops", test_aborts},
    {"the limit of a device", test_limit},
    {NULL, NULL},
};

const struct soma_suite suite_engine_notify = {"engine_notify", tests};
