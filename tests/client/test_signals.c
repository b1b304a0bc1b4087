/* Notifies, aborts and stops. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

#define MS 1000u /* of usleep */

static bool is_complete(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
}

/* ---- notifies ---- */

static void test_notify_refusals(void)
{
    fixture_begin();
    aclrtNotify notify = NULL, gone = NULL;
    uint32_t first = 0, second = 0;
    (void)GIVES(PARAM, aclrtCreateNotify(NULL, 0));
    (void)GIVES(BAD, aclrtCreateNotify(&notify, 6));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&gone, ACL_NOTIFY_DEFAULT));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, ACL_NOTIFY_DEVICE_USE_ONLY));
    (void)GIVES(PARAM, aclrtGetNotifyId(notify, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetNotifyId(gone, &first));
    (void)GIVES(ACL_SUCCESS, aclrtGetNotifyId(notify, &second));
    (void)EXPECT(second == first + 1, "ids %u and %u", first, second);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyNotify(gone));
    (void)GIVES(PARAM, aclrtDestroyNotify(NULL));
    (void)GIVES(PARAM, aclrtRecordNotify(NULL, NULL));
    (void)GIVES(PARAM, aclrtWaitAndResetNotify(NULL, NULL, 0));
    (void)GIVES(PARAM, aclrtNotifyBatchReset(NULL, 1));
    (void)GIVES(BAD, aclrtNotifyBatchReset(&notify, 0));
    aclrtNotify both[] = {notify, gone};
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyBatchReset(both, 2));
    for (unsigned i = 0; i < made_up_count; i++) {
        (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(made_up[i], NULL));
        (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtWaitAndResetNotify(notify, made_up[i], 0));
    }
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyNotify(gone));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(gone, NULL));
    fixture_end();
}

static void test_notify_between_streams(void)
{
    fixture_begin();
    aclrtStream one = NULL, two = NULL;
    aclrtNotify notify = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&one));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&two));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, two, 0));
    (void)EXPECT(!is_complete(two), "nobody has recorded it");
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(two, 10));
    (void)SAYS("waits for notify");
    (void)GIVES(ACL_SUCCESS, aclrtRecordNotify(notify, one));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(two));
    (void)GIVES(ACL_SUCCESS, aclrtRecordNotify(notify, one));
    (void)GIVES(ACL_SUCCESS, aclrtNotifyBatchReset(&notify, 1));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, two, 1));
    (void)EXPECT(!is_complete(two), "the record was taken back");
    (void)GIVES(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(two));
    (void)SAYS("notify");
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(two));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyNotify(notify));
    fixture_end();
}

struct recorder {
    aclrtContext context;
    aclrtNotify notify;
    aclrtStream stream;
    aclError error;
};

static void *record_soon(void *user)
{
    struct recorder *recorder = user;
    recorder->error = aclrtSetCurrentContext(recorder->context);
    (void)usleep(20 * MS);
    if (recorder->error == ACL_SUCCESS)
        recorder->error = aclrtRecordNotify(recorder->notify, recorder->stream);
    return NULL;
}

static void test_another_thread_records(void)
{
    pthread_t thread;
    struct recorder recorder = {.error = -1};
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&recorder.context));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&recorder.stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&recorder.notify, 0));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(recorder.notify, stream, 60));
    (void)pthread_create(&thread, NULL, record_soon, &recorder);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)pthread_join(thread, NULL);
    (void)EXPECT(recorder.error == ACL_SUCCESS, "%d", recorder.error);
    fixture_end();
}

/* ---- others ---- */

struct waiter {
    aclrtContext context;
    aclrtStream stream;
    bool waits_for_device;
    atomic_bool is_in;
    aclError error;
};

static void *wait_for_it(void *user)
{
    struct waiter *waiter = user;
    waiter->error = aclrtSetCurrentContext(waiter->context);
    atomic_store(&waiter->is_in, true);
    if (waiter->error == ACL_SUCCESS)
        waiter->error = waiter->waits_for_device ? aclrtSynchronizeDevice()
                                                 : aclrtSynchronizeStream(waiter->stream);
    return NULL;
}

static pthread_t start_waiter(struct waiter *waiter, aclrtStream stream, bool waits_for_device)
{
    pthread_t thread;
    *waiter = (struct waiter){.stream = stream, .waits_for_device = waits_for_device};
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&waiter->context));
    (void)pthread_create(&thread, NULL, wait_for_it, waiter);
    while (!atomic_load(&waiter->is_in))
        (void)usleep(MS);
    (void)usleep(50 * MS);
    return thread;
}

static void expect_waited(struct waiter *waiter, pthread_t thread, aclError want)
{
    (void)pthread_join(thread, NULL);
    (void)EXPECT(waiter->error == want, "%d, not %d", waiter->error, want);
}

static atomic_uint calls;

static void count_call(void *args)
{
    (void)args;
    atomic_fetch_add(&calls, 1);
}

/* ---- values in memory ---- */

static void test_value_refusals(void)
{
    void *memory = NULL;
    uint64_t on_host = 0;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(PARAM, aclrtValueWrite(NULL, 1, 0, NULL));
    (void)GIVES(PARAM, aclrtValueWait(NULL, 1, 0, NULL));
    (void)GIVES(BAD, aclrtValueWrite(memory, 1, 1, NULL));
    (void)GIVES(BAD, aclrtValueWait(memory, 1, 4, NULL));
    (void)GIVES(BAD, aclrtValueWrite((char *)memory + 4, 1, 0, NULL));
    (void)GIVES(BAD, aclrtValueWrite(&on_host, 1, 0, NULL));
    (void)GIVES(BAD, aclrtValueWait(&on_host, 1, 0, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtValueWrite(memory, 1, 0, made_up[0]));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    fixture_end();
}

struct writer {
    aclrtContext context;
    void *memory;
    aclError error;
};

static void *write_soon(void *user)
{
    struct writer *writer = user;
    writer->error = aclrtSetCurrentContext(writer->context);
    (void)usleep(20 * MS);
    if (writer->error == ACL_SUCCESS)
        writer->error = aclrtMemset(writer->memory, 8, 1, 8);
    return NULL;
}

static void test_value_wait(void)
{
    pthread_t thread;
    struct writer writer = {.error = -1};
    aclrtStream one = NULL, two = NULL;
    uint64_t value = 0;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&writer.context));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&one));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&two));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&writer.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtValueWait(writer.memory, 5, ACL_STREAM_WAIT_VALUE_EQ, one));
    (void)GIVES(ACL_SUCCESS, aclrtValueWrite(writer.memory, 6, 0, one));
    (void)EXPECT(!is_complete(one), "nobody has written");
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(one, 10));
    (void)SAYS("waits for the 8 bytes");
    (void)GIVES(ACL_SUCCESS, aclrtValueWrite(writer.memory, 5, 0, two));
    (void)GIVES(ACL_SUCCESS, aclrtValueWait(writer.memory, 6, ACL_STREAM_WAIT_VALUE_GEQ, two));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(two));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&value, 8, writer.memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(value == 6, "%u", (unsigned)value);
    (void)GIVES(ACL_SUCCESS, aclrtValueWait(writer.memory, 256, ACL_STREAM_WAIT_VALUE_AND, one));
    (void)pthread_create(&thread, NULL, write_soon, &writer);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(one));
    (void)pthread_join(thread, NULL);
    (void)EXPECT(writer.error == ACL_SUCCESS, "%d", writer.error);
    fixture_end();
}

/* A thread waits in the copy when the first aclrtValueWait comes: it goes on at the service. */
static void test_value_wait_while_others_wait(void)
{
    pthread_t thread;
    struct recorder recorder = {.error = -1};
    aclrtStream stream = NULL, other = NULL;
    void *memory = NULL;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&recorder.context));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&recorder.stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&recorder.notify, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(recorder.notify, stream, 0));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    struct waiter waiter;
    pthread_t waiting = start_waiter(&waiter, stream, false);
    (void)GIVES(ACL_SUCCESS, aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_GEQ, other));
    (void)pthread_create(&thread, NULL, record_soon, &recorder);
    expect_waited(&waiter, waiting, ACL_SUCCESS);
    (void)pthread_join(thread, NULL);
    (void)EXPECT(recorder.error == ACL_SUCCESS, "%d", recorder.error);
    (void)EXPECT(atomic_load(&calls) == 1, "%u calls", atomic_load(&calls));
    (void)GIVES(ACL_SUCCESS, aclrtValueWrite(memory, 1, 0, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    fixture_end();
}

/* ---- aborts ---- */

static void test_stream_abort(void)
{
    struct waiter waiter;
    aclrtStream stream = NULL, gone = NULL;
    aclrtNotify notify = NULL;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&gone));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    pthread_t thread = start_waiter(&waiter, stream, false);
    (void)GIVES(ACL_SUCCESS, aclrtStreamAbort(stream));
    expect_waited(&waiter, thread, ACL_ERROR_RT_STREAM_ABORT);
    (void)EXPECT(is_complete(stream), "the work was dropped");
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(atomic_load(&calls) == 1, "%u calls", atomic_load(&calls));
    (void)GIVES(ACL_SUCCESS, aclrtStreamAbort(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(gone));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamAbort(gone));
    fixture_end();
}

static void test_destroy_with_force(void)
{
    aclrtStream stream = NULL;
    aclrtNotify notify = NULL;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    (void)GIVES(ACL_SUCCESS, aclrtRecordNotify(notify, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)EXPECT(atomic_load(&calls) == 0, "a function of the stream was called");
    fixture_end();
}

static void test_stop(void)
{
    aclrtStream stream = NULL, default_stream = NULL;
    aclrtNotify notify = NULL;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    (void)GIVES(BAD, aclrtStreamStop(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&default_stream));
    (void)GIVES(BAD, aclrtStreamStop(default_stream));
    (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtStreamStop(stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(atomic_load(&calls) == 1, "%u calls", atomic_load(&calls));
    fixture_end();
}

static char stages[8];

static int32_t note_stage(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout,
                          void *args)
{
    size_t *count = args;
    if (*count < sizeof(stages) && device == 0 && timeout == 100)
        stages[(*count)++] = stage == ACL_RT_DEVICE_TASK_ABORT_PRE ? '<' : '>';
    return -1;
}

static void test_device_task_abort(void)
{
    struct waiter waiter;
    aclrtStream streams[2] = {NULL, NULL};
    aclrtNotify notify = NULL;
    size_t count = 0;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    for (unsigned i = 0; i < 2; i++) {
        (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&streams[i]));
        (void)GIVES(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, streams[i], 0));
    }
    (void)GIVES(BAD, aclrtDeviceTaskAbort(0, 2160001));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceTaskAbort(99, 0));
    (void)GIVES(PARAM, aclrtSetDeviceTaskAbortCallback(NULL, note_stage, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", note_stage, &count));
    (void)GIVES(BAD, aclrtSetDeviceTaskAbortCallback("test", note_stage, &count));
    pthread_t thread = start_waiter(&waiter, NULL, true);
    (void)GIVES(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 100));
    expect_waited(&waiter, thread, ACL_ERROR_RT_DEVICE_TASK_ABORT);
    (void)EXPECT(count == 2 && stages[0] == '<' && stages[1] == '>', "%zu stages", count);
    (void)EXPECT(is_complete(streams[0]) && is_complete(streams[1]), "work is left");
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", NULL, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 100));
    (void)EXPECT(count == 2, "%zu stages", count);
    fixture_end();
}

static const struct client_test tests[] = {
    {"notify: refusals", test_notify_refusals},
    {"notify: between streams", test_notify_between_streams},
    {"notify: another thread records", test_another_thread_records},
    {"values: refusals", test_value_refusals},
    {"values: waiting", test_value_wait},
    {"values: waiting while others wait", test_value_wait_while_others_wait},
    {"aclrtStreamAbort", test_stream_abort},
    {"aclrtDestroyStreamForce drops work", test_destroy_with_force},
    {"aclrtStreamStop", test_stop},
    {"aclrtDeviceTaskAbort", test_device_task_abort},
    {NULL, NULL},
};
const struct client_suite suite_signals = {"signals", tests};
