/* Events: records, waits, resets, elapsed time. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

/* clang-format off */
static const struct scene identity_scenes[] = {
    {"event ids count up from 1 over all devices and are never reused",
     "event.create -> event=1 device=0\n"
     "event.create device=1 -> event=2 device=1\n"
     "event.destroy event=1\n"
     "event.create -> event=3\n"
     "event.get event=1 -> NO_SUCH_EVENT acl=107017 field=event says=destroyed\n"
     "event.get event=4 -> NO_SUCH_EVENT says=never"},
    {"a refused create uses no id",
     "event.create device=2 -> NO_SUCH_DEVICE acl=107001\n"
     "event.create -> event=1"},
    {"an event lives on the device that it was created on",
     "event.create device=1 -> event=1\n"
     "event.get event=1 -> NO_SUCH_EVENT says=belongs\n"
     "event.destroy event=1 -> NO_SUCH_EVENT\n"
     "event.record event=1 stream=0 -> NO_SUCH_EVENT\n"
     "event.reset event=1 stream=0 -> NO_SUCH_EVENT\n"
     "event.synchronize event=1 -> NO_SUCH_EVENT\n"
     "event.elapsed event=1 since=1 -> NO_SUCH_EVENT\n"
     "event.get device=1 event=1 -> event=1"},
    {"an event is recorded and reset on streams of its device only",
     "event.create kind=PLAIN -> event=1\n"
     "stream.create device=1 -> stream=1\n"
     "event.record event=1 stream=1 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "event.reset event=1 stream=1 -> STREAM_OF_OTHER_DEVICE\n"
     "event.record event=1 stream=2 -> NO_SUCH_STREAM\n"
     "event.reset event=1 stream=2 -> NO_SUCH_STREAM"},
    {"every event command names a device that exists",
     "event.list device=9 -> NO_SUCH_DEVICE\n"
     "event.get device=9 event=1 -> NO_SUCH_DEVICE\n"
     "event.destroy device=9 event=1 -> NO_SUCH_DEVICE\n"
     "event.record device=9 event=1 stream=0 -> NO_SUCH_DEVICE\n"
     "event.reset device=9 event=1 stream=0 -> NO_SUCH_DEVICE\n"
     "event.synchronize device=9 event=1 -> NO_SUCH_DEVICE\n"
     "event.elapsed device=9 event=1 since=1 -> NO_SUCH_DEVICE"},
    {"the list has the live events of the device by id",
     "event.create kind=PLAIN -> event=1\n"
     "event.create device=1 -> event=2\n"
     "event.create -> event=3\n"
     "event.create -> event=4\n"
     "event.destroy event=3\n"
     "event.list -> events.count=2 events[0].event=1 events[0].kind=PLAIN events[1].event=4 "
         "events[1].kind=EX\n"
     "event.list device=1 -> events.count=1 events[0].event=2"},
    {"a list may be empty",
     "event.list -> events.count=0"},
};
/* clang-format on */

static void test_identity(void)
{
    RUN_SCENES(identity_scenes);
}

/* clang-format off */
static const struct scene never_scenes[] = {
    {"EX, never recorded: complete, without a time",
     "event.create kind=EX -> event=1\n"
     "event.get event=1 -> kind=EX recorded=false status=COMPLETE timestampNs=none"},
    {"EX, never recorded: a wait waits for nothing, and is a command of its stream",
     "event.create -> event=1\n"
     "stream.waitEvent stream=0 event=1 -> now=2us\n"
     "stream.get stream=0 -> status=COMPLETE readyAtNs=2us"},
    {"EX, never recorded: synchronising is over at once",
     "event.create -> event=1\n"
     "event.synchronize event=1 -> status=COMPLETE nowNs=2us"},
    {"EX: reset is refused, recorded or not",
     "event.create -> event=1\n"
     "event.reset event=1 stream=0 -> EVENT_RESET_UNSUPPORTED acl=207000\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0 -> EVENT_RESET_UNSUPPORTED says=PLAIN\n"
     "event.get event=1 -> recorded=true"},
    {"PLAIN, never recorded: not ready, and there is nothing to wait for",
     "event.create kind=PLAIN -> event=1\n"
     "event.get event=1 -> kind=PLAIN recorded=false status=NOT_READY timestampNs=none\n"
     "stream.waitEvent stream=0 event=1 -> EVENT_NOT_RECORDED acl=107000 field=event\n"
     "event.synchronize event=1 -> EVENT_NOT_RECORDED acl=107000\n"
     "stream.get stream=0 -> readyAtNs=0"},
    {"PLAIN, after a reset: not ready, without a time, and whoever synchronises waits",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.get event=1 -> status=COMPLETE recorded=true timestampNs=2us\n"
     "event.reset event=1 stream=0\n"
     "event.get event=1 -> status=NOT_READY recorded=false timestampNs=none now=5us\n"
     "event.synchronize event=1 -> MUST_WAIT wait=none now=5us\n"
     "event.synchronize event=1 timeoutMs=2 -> MUST_WAIT\n"
     "!event.synchronize event=1 timeoutMs=2 -> EVENT_SYNC_TIMEOUT acl=507047 now=2ms+6us\n"
     "event.record event=1 stream=0\n"
     "event.synchronize event=1 -> status=COMPLETE"},
    {"PLAIN, reset before it was ever recorded: a wait stays pending as well",
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=0 event=1\n"
     "stream.get stream=0 -> status=NOT_READY readyAtNs=none"},
    {"a reset is a task of its stream, of no cost",
     "event.create kind=PLAIN -> event=1\n"
     "stream.delay stream=0 durationNs=10us -> now=2us\n"
     "event.reset event=1 stream=0\n"
     "stream.get stream=0 -> readyAtNs=12us pendingTasks=2"},
};
/* clang-format on */

static void test_never_recorded(void)
{
    RUN_SCENES(never_scenes);
}

/* clang-format off */
static const struct scene record_scenes[] = {
    {"a record is reached when its stream comes there: its time is the stream's ready time",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=5us -> now=2us\n"
     "event.record event=1 stream=0\n"
     "event.get event=1 -> now=4us recorded=true status=NOT_READY timestampNs=none\n"
     "event.get event=1 -> now=5us status=NOT_READY\n"
     "event.get event=1 -> now=6us status=NOT_READY\n"
     "event.get event=1 -> now=7us status=COMPLETE timestampNs=7us"},
    {"a record on an idle stream is reached at once",
     "event.create -> event=1\n"
     "event.record event=1 stream=0 -> now=2us\n"
     "event.get event=1 -> status=COMPLETE timestampNs=2us"},
    {"synchronising an event moves the host clock to its time, not to its stream's",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=10us -> now=2us\n"
     "event.record event=1 stream=0\n"
     "stream.delay stream=0 durationNs=10us\n"
     "event.synchronize event=1 -> nowNs=12us\n"
     "stream.get stream=0 -> status=NOT_READY readyAtNs=22us"},
    {"an event synchronise that times out moves the clock by its timeout",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=10ms -> now=2us\n"
     "event.record event=1 stream=0\n"
     "event.synchronize event=1 timeoutMs=4 -> EVENT_SYNC_TIMEOUT acl=507047 now=4ms+4us\n"
     "event.synchronize event=1 timeoutMs=0 -> EVENT_SYNC_TIMEOUT now=4ms+5us\n"
     "event.synchronize event=1 timeoutMs=6 -> nowNs=10ms+2us"},
    {"a wait takes the latest record at that moment: a later record does not touch it",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "event.record event=1 stream=0 -> now=3us\n"
     "stream.waitEvent stream=1 event=1 -> now=4us\n"
     "stream.delay stream=0 durationNs=50us\n"
     "event.record event=1 stream=0\n"
     "stream.get stream=1 -> status=COMPLETE readyAtNs=4us\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.get stream=1 -> status=NOT_READY readyAtNs=55us"},
    {"a record replaces the last one, also when it is reached earlier",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=50us\n"
     "event.record event=1 stream=0\n"
     "event.record event=1 stream=1 -> now=5us\n"
     "event.get event=1 -> status=COMPLETE timestampNs=5us"},
    {"synchronising an event whose stream is gone works",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.delay stream=1 durationNs=10us -> now=3us\n"
     "event.record event=1 stream=1\n"
     "stream.destroy stream=1 -> now=13us\n"
     "event.synchronize event=1 -> nowNs=14us\n"
     "event.get event=1 -> status=COMPLETE timestampNs=13us\n"
     "stream.waitEvent stream=0 event=1"},
    {"streams wait for events of other devices",
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=10us -> now=2us\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "stream.get device=1 stream=0 -> readyAtNs=12us"},
    {"a destroyed event's waits stay what they were",
     "stream.create -> stream=1\n"
     "event.create -> event=1\n"
     "stream.delay stream=0 durationNs=10us -> now=3us\n"
     "event.record event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "event.destroy event=1\n"
     "stream.get stream=1 -> readyAtNs=13us"},
};
/* clang-format on */

static void test_records(void)
{
    RUN_SCENES(record_scenes);
}

/* What begins scenes with a blocked stream: event 1 is PLAIN and was reset; now is 5 us. */
#define RESET_EVENT_1                                                                              \
    "stream.create -> stream=1\n"                                                                  \
    "stream.create -> stream=2\n"                                                                  \
    "event.create kind=PLAIN -> event=1\n"                                                         \
    "event.record event=1 stream=0\n"                                                              \
    "event.reset event=1 stream=0 -> now=5us\n"

/* clang-format off */
static const struct scene pending_scenes[] = {
    {"after a reset a wait stays pending until the next record, wherever that is made",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "stream.get stream=1 -> readyAtNs=none status=NOT_READY\n"
     "stream.delay stream=2 durationNs=20us -> now=8us\n"
     "event.record event=1 stream=2\n"
     "stream.get stream=1 -> readyAtNs=28us status=NOT_READY\n"
     "event.get event=1 -> status=NOT_READY\n"
     "event.synchronize event=1 -> nowNs=28us"},
    {"all who wait are released by one record, in the same moment",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent device=1 stream=0 event=1\n"
     "stream.waitEvent stream=2 event=1\n"
     "event.record event=1 stream=0 -> now=9us\n"
     "stream.get stream=1 -> readyAtNs=9us\n"
     "stream.get stream=2 -> readyAtNs=9us\n"
     "stream.get device=1 stream=0 -> readyAtNs=9us"},
    {"a second reset leaves what waits pending",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=2 event=1\n"
     "stream.get stream=1 -> readyAtNs=none\n"
     "event.record event=1 stream=0 -> now=10us\n"
     "stream.get stream=1 -> readyAtNs=10us\n"
     "stream.get stream=2 -> readyAtNs=10us"},
    {"tasks behind a wait run one after the other when it ends",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=1 durationNs=10us\n"
     "stream.delay stream=1 durationNs=5us\n"
     "stream.get stream=1 -> pendingTasks=3\n"
     "event.record event=1 stream=0 -> now=10us\n"
     "stream.get stream=1 -> readyAtNs=25us pendingTasks=2"},
    {"a task behind a wait does not start before it was submitted",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "event.record event=1 stream=0 -> now=7us\n"
     "event.reset event=1 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.delay stream=2 durationNs=1us\n"
     "stream.delay stream=1 durationNs=4us -> now=11us\n"
     "event.record event=1 stream=2 -> now=12us\n"
     "stream.get stream=1 -> readyAtNs=16us"},
    {"an event recorded behind a pending wait is not ready until that wait ends",
     RESET_EVENT_1
     "event.create -> event=2\n"
     "stream.waitEvent stream=1 event=1\n"
     "event.record event=2 stream=1\n"
     "event.get event=2 -> recorded=true status=NOT_READY timestampNs=none\n"
     "event.synchronize event=2 -> MUST_WAIT wait=none\n"
     "event.elapsed event=2 since=2 -> EVENT_NOT_COMPLETE acl=107006\n"
     "event.record event=1 stream=0 -> now=10us\n"
     "event.get event=2 -> status=COMPLETE timestampNs=10us"},
    {"records and waits behind a pending wait resolve in a chain, whatever their order",
     RESET_EVENT_1
     "event.create -> event=2\n"
     "event.create -> event=3\n"
     "stream.waitEvent stream=2 event=1\n"
     "stream.delay stream=2 durationNs=10us\n"
     "event.record event=2 stream=2\n"
     "stream.waitEvent stream=1 event=2\n"
     "stream.delay stream=1 durationNs=10us\n"
     "event.record event=3 stream=1\n"
     "stream.waitEvent device=1 stream=0 event=3\n"
     "stream.delay device=1 stream=0 durationNs=10us -> now=15us\n"
     "stream.get device=1 stream=0 -> readyAtNs=none pendingTasks=2\n"
     "event.record event=1 stream=0 -> now=17us\n"
     "stream.get stream=2 -> readyAtNs=27us\n"
     "stream.get stream=1 -> readyAtNs=37us\n"
     "stream.get device=1 stream=0 -> readyAtNs=47us\n"
     "event.get event=3 -> status=NOT_READY\n"
     "stream.synchronize device=1 stream=0 -> nowNs=47us\n"
     "event.get event=3 -> timestampNs=37us"},
    {"two pending waits on one stream: the second record ends it",
     RESET_EVENT_1
     "event.create kind=PLAIN -> event=2\n"
     "event.reset event=2 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=1 event=2\n"
     "event.record event=2 stream=0\n"
     "stream.get stream=1 -> readyAtNs=none pendingTasks=2\n"
     "event.record event=1 stream=0 -> now=12us\n"
     "stream.get stream=1 -> readyAtNs=12us pendingTasks=0"},
    {"a wait for a reset event whose record stands in the waiting stream itself never ends",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "event.record event=1 stream=1\n"
     "stream.get stream=1 -> readyAtNs=none pendingTasks=2\n"
     "event.record event=1 stream=0\n"
     "stream.synchronize stream=1 -> MUST_WAIT\n"
     "stream.get stream=0 -> status=COMPLETE"},
    {"a record on a blocked stream keeps those waiting who wait for it",
     RESET_EVENT_1
     "event.create kind=PLAIN -> event=2\n"
     "event.reset event=2 stream=0\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=2 event=2\n"
     "event.record event=1 stream=2\n"
     "stream.get stream=1 -> readyAtNs=none\n"
     "event.record event=2 stream=0 -> now=12us\n"
     "stream.get stream=1 -> readyAtNs=12us"},
    {"an event that is destroyed while it is awaited is never recorded: who waits for it goes on",
     RESET_EVENT_1
     "stream.waitEvent stream=1 event=1\n"
     "event.destroy event=1\n"
     "stream.get stream=1 -> readyAtNs=none\n"
     "stream.synchronize stream=1 -> MUST_WAIT wait=none"},
    {"a wait that was pending knows what the record's stream knew of a stream that is gone by now",
     RESET_EVENT_1
     "stream.create -> stream=3\n"
     "event.create -> event=2\n"
     "event.record event=2 stream=3\n"
     "stream.waitEvent stream=2 event=2\n"
     "stream.destroy stream=3\n"
     "stream.waitEvent stream=1 event=1\n"
     "event.record event=1 stream=2\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"a pending wait behind which another waits for a record of a stream that is gone by now",
     RESET_EVENT_1
     "stream.create -> stream=3\n"
     "event.create -> event=2\n"
     "event.create kind=PLAIN -> event=3\n"
     "event.reset event=3 stream=0\n"
     "stream.waitEvent stream=3 event=3\n"
     "event.record event=2 stream=3\n"
     "stream.waitEvent stream=1 event=1\n"
     "stream.waitEvent stream=1 event=2\n"
     "event.record event=3 stream=0\n"
     "stream.destroy stream=3\n"
     "event.record event=1 stream=0 -> now=16us\n"
     "stream.get stream=1 -> readyAtNs=16us"},
};
/* clang-format on */

static void test_pending(void)
{
    RUN_SCENES(pending_scenes);
}

/* clang-format off */
static const struct scene elapsed_scenes[] = {
    {"elapsed is the time between two records in milliseconds",
     "event.create -> event=1\n"
     "event.create -> event=2\n"
     "event.record event=1 stream=0 -> now=3us\n"
     "stream.delay stream=0 durationNs=2500us -> now=4us\n"
     "event.record event=2 stream=0\n"
     "stream.synchronize stream=0\n"
     "event.elapsed event=2 since=1 -> elapsedMs=2.501"},
    {"in reversed order it is negative",
     "event.create -> event=1\n"
     "event.create -> event=2\n"
     "event.record event=1 stream=0\n"
     "event.record event=2 stream=0\n"
     "event.elapsed event=1 since=2 -> elapsedMs=-0.001"},
    {"an event is no time after itself",
     "event.create -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.elapsed event=1 since=1 -> elapsedMs=0"},
    {"of an event never recorded there is none",
     "event.create -> event=1\n"
     "event.create -> event=2\n"
     "event.record event=1 stream=0\n"
     "event.elapsed event=1 since=2 -> EVENT_TIME_NOT_RECORDED acl=507000 field=since\n"
     "event.elapsed event=2 since=1 -> EVENT_TIME_NOT_RECORDED field=event\n"
     "event.elapsed event=1 since=3 -> NO_SUCH_EVENT\n"
     "event.elapsed event=3 since=1 -> NO_SUCH_EVENT"},
    {"of an event that was reset there is none",
     "event.create kind=PLAIN -> event=1\n"
     "event.record event=1 stream=0\n"
     "event.reset event=1 stream=0\n"
     "event.elapsed event=1 since=1 -> EVENT_TIME_NOT_RECORDED says=reset"},
    {"of an event that has not been reached there is none yet",
     "event.create -> event=1\n"
     "event.create -> event=2\n"
     "event.record event=1 stream=0\n"
     "stream.delay stream=0 durationNs=10us\n"
     "event.record event=2 stream=0\n"
     "event.elapsed event=2 since=1 -> EVENT_NOT_COMPLETE acl=107006 field=event\n"
     "event.elapsed event=1 since=2 -> EVENT_NOT_COMPLETE field=since"},
    {"events of two devices can be compared",
     "event.create -> event=1\n"
     "event.create device=1 -> event=2\n"
     "event.record event=1 stream=0 -> now=3us\n"
     "event.record device=1 event=2 stream=0 -> now=4us\n"
     "event.elapsed device=1 event=2 since=1 -> elapsedMs=0.001"},
};
/* clang-format on */

static void test_elapsed(void)
{
    RUN_SCENES(elapsed_scenes);
}

static const struct soma_test tests[] = {
    {"ids and lists", test_identity},    {"never recorded, or reset", test_never_recorded},
    {"records and waits", test_records}, {"waits that are pending", test_pending},
    {"elapsed time", test_elapsed},      {NULL, NULL},
};

const struct soma_suite suite_engine_event = {"engine_event", tests};
