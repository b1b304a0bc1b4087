/* Values in memory that streams write, and wait for. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

/* clang-format off */
static const struct scene scenes[] = {
    {"a value that is there already is not waited for",
     "memory.malloc size=64\n"
     "stream.writeValue stream=0 ptr=small value=7\n"
     "stream.waitValue stream=0 ptr=small value=7 condition=EQ\n"
     "stream.get stream=0 -> status=COMPLETE readyAtNs=3us"},
    {"a stream waits until another has written",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.waitValue stream=1 ptr=small+8 value=7 condition=EQ\n"
     "stream.synchronize stream=1 -> MUST_WAIT\n"
     "stream.synchronize stream=1 timeoutMs=0 -> STREAM_SYNC_TIMEOUT acl=507046 says=bytes\n"
     "stream.writeValue stream=0 ptr=small+8 value=6\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.delay stream=0 durationNs=1ms -> now=7us\n"
     "stream.writeValue stream=0 ptr=small+8 value=7\n"
     "stream.get stream=1 -> status=NOT_READY readyAtNs=1ms+7us\n"
     "stream.synchronize stream=1 -> now=1ms+7us"},
    {"GEQ: signed distance",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.writeValue stream=0 ptr=small value=5\n"
     "stream.waitValue stream=1 ptr=small value=6\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.writeValue stream=0 ptr=small value=18446744073709551615\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.writeValue stream=0 ptr=small value=9223372036854775814\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.writeValue stream=0 ptr=small value=9223372036854775813\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"AND: a bit in common",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.waitValue stream=1 ptr=small value=12 condition=AND\n"
     "stream.writeValue stream=0 ptr=small value=3\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.writeValue stream=0 ptr=small value=8\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"NOR: a bit that neither has",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.writeValue stream=0 ptr=small value=18446744073709551614\n"
     "stream.waitValue stream=1 ptr=small value=1 condition=NOR\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.writeValue stream=0 ptr=small value=18446744073709551612\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"a copy, a set and the host's write let a wait go on too",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.waitValue stream=1 ptr=small value=72340172838076673 condition=EQ\n"
     "memory.set ptr=small value=1 size=8\n"
     "stream.get stream=1 -> status=COMPLETE\n"
     "stream.waitValue stream=1 ptr=small+16 value=72340172838076673 condition=EQ\n"
     "memory.copy dst=small+16 src=small size=8 stream=0\n"
     "stream.synchronize stream=1\n"
     "stream.waitValue stream=1 ptr=small+32 value=97 condition=AND\n"
     "memory.write ptr=small+32 base64=abcdefgh\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"a kernel lets a wait go on, when it is over",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.waitValue stream=1 ptr=small value=1 condition=AND\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "stream.get stream=1 -> readyAtNs=none\n"
     "memory.set ptr=small value=255 size=8 stream=0\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.synchronize stream=0\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"a value that stands behind a wait is not there before",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.launchHostFunc stream=0\n"
     "stream.writeValue stream=0 ptr=small value=4702111234474983745\n"
     "memory.read ptr=small size=8 -> base64=........\n"
     "stream.waitValue stream=1 ptr=small value=4702111234474983745 condition=EQ\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "hostFunc.complete hostFunc=1\n"
     "memory.read ptr=small size=1 -> base64=A\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"streams hand a value to and fro",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.waitValue stream=1 ptr=small value=1 condition=EQ\n"
     "stream.writeValue stream=1 ptr=small value=2\n"
     "stream.waitValue stream=1 ptr=small value=3 condition=EQ\n"
     "stream.writeValue stream=0 ptr=small value=1\n"
     "stream.waitValue stream=0 ptr=small value=2 condition=EQ\n"
     "stream.writeValue stream=0 ptr=small value=3\n"
     "device.synchronize"},
    {"memory that was freed is not written, and not waited for any more but in vain",
     "memory.malloc size=64\n"
     "stream.create -> stream=1\n"
     "stream.launchHostFunc stream=0\n"
     "stream.writeValue stream=0 ptr=small value=7\n"
     "stream.waitValue stream=1 ptr=small value=7 condition=EQ\n"
     "memory.free ptr=small\n"
     "hostFunc.complete hostFunc=1\n"
     "stream.synchronize stream=0\n"
     "stream.get stream=1 -> status=NOT_READY\n"
     "stream.abort stream=1\n"
     "stream.get stream=1 -> status=COMPLETE"},
    {"a stream that a kernel has stopped takes none",
     "memory.malloc size=64\n"
     "stream.setFailureMode stream=0 failureMode=STOP\n"
     "stream.launchKernel stream=0 kernel=poke args=small+100000 -> KERNEL_FAULT\n"
     "stream.writeValue stream=0 ptr=small value=7 -> STREAM_STOPPED\n"
     "stream.waitValue stream=0 ptr=small value=7 -> STREAM_STOPPED"},
    {"refusals",
     "memory.malloc size=64\n"
     "memory.malloc device=1 size=64\n"
     "stream.writeValue stream=0 ptr=small+4 value=7 -> VALUE_UNALIGNED acl=107000 field=ptr\n"
     "stream.waitValue stream=0 ptr=small+60 value=7 -> INVALID_ADDRESS acl=107000 field=ptr\n"
     "stream.writeValue stream=0 ptr=1 value=7 -> INVALID_ADDRESS\n"
     "stream.waitValue stream=0 ptr=1 value=7 -> INVALID_ADDRESS\n"
     "stream.waitValue stream=9 ptr=small value=7 -> NO_SUCH_STREAM\n"
     "stream.get stream=0 -> status=COMPLETE"},
};
/* clang-format on */

static void test_values(void)
{
    RUN_SCENES(scenes);
}

static const struct soma_test tests[] = {
    {"values in memory", test_values},
    {NULL, NULL},
};

const struct soma_suite suite_engine_value = {"engine_value", tests};
