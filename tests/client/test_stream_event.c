/* Streams and events: order, waits, times, and what CANN's two kinds of events do. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static void *device_memory(size_t size)
{
    void *ptr = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return ptr;
}

/* Work that takes time on the stream. */
static void busy(aclrtStream stream, void *memory)
{
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(memory, 64 * MIB, 1, 64 * MIB, stream));
}

static void test_stream_life(void)
{
    aclrtStream stream = NULL, fallback = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    int32_t id = 0, other = 0;
    uint32_t priority = 0, flags = 0;
    fixture_begin();
    void *memory = device_memory(64 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStreamWithConfig(&stream, 99, ACL_STREAM_FAST_LAUNCH));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetPriority(stream, &priority));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetFlags(stream, &flags));
    (void)EXPECT(priority == 7 && flags == ACL_STREAM_FAST_LAUNCH, "%u, 0x%x", priority, flags);
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(&stream, 0, 0x80000000u));
    (void)GIVES(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&fallback));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetId(fallback, &id));
    (void)EXPECT(id == 0, "the default stream is %d", id);
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    (void)EXPECT(status == ACL_STREAM_STATUS_COMPLETE, "%d", (int)status);
    busy(stream, memory);
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    (void)EXPECT(status == ACL_STREAM_STATUS_NOT_READY, "%d", (int)status);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    (void)EXPECT(status == ACL_STREAM_STATUS_COMPLETE, "%d", (int)status);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetId(stream, &other));
    (void)EXPECT(other != id, "the id %d came back", id);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    fixture_end();
}

static void test_never_recorded(void)
{
    aclrtEvent plain = NULL, ex = NULL;
    aclrtEventRecordedStatus status;
    aclrtEventStatus old_status;
    aclrtStream stream = NULL;
    uint64_t time;
    float ms;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&plain));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventStatus(plain, &status));
    (void)EXPECT(status == ACL_EVENT_RECORDED_STATUS_NOT_READY, "plain: %d", (int)status);
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventStatus(ex, &status));
    (void)EXPECT(status == ACL_EVENT_RECORDED_STATUS_COMPLETE, "ex: %d", (int)status);
    (void)GIVES(ACL_SUCCESS, aclrtQueryEvent(plain, &old_status));
    (void)EXPECT(old_status == ACL_EVENT_STATUS_NOT_READY, "plain: %d", (int)old_status);
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(ex, &old_status));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEvent(stream, plain));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(stream, ex));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(ex, stream));
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&ms, plain, ex));
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventGetTimestamp(ex, &time));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeEvent(ex));
    fixture_end();
}

static void test_flags(void)
{
    static const struct {
        uint32_t flag;
        bool good;
    } rows[] = {{0, false},
                {ACL_EVENT_SYNC, true},
                {ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, true},
                {ACL_EVENT_CAPTURE_STREAM_PROGRESS, true},
                {ACL_EVENT_DEVICE_USE_ONLY, true},
                {ACL_EVENT_EXTERNAL, true},
                {ACL_EVENT_IPC, true},
                {ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC, false},
                {ACL_EVENT_IPC | ACL_EVENT_EXTERNAL, false},
                {4, false},
                {0x80, false},
                {UINT32_MAX, false}};
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aclError want = rows[i].good ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
        (void)GIVES(want, aclrtCreateEventWithFlag(&event, rows[i].flag));
        (void)GIVES(want, aclrtCreateEventExWithFlag(&event, rows[i].flag));
    }
    (void)GIVES(ACL_SUCCESS, aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream, event));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(event, stream));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRecordEventWithFlag(event, stream, 1));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(event, stream, 2));
    fixture_end();
}

static void test_times(void)
{
    aclrtStream stream = NULL;
    aclrtEvent start = NULL, end = NULL;
    uint64_t first = 0, last = 0;
    float ms = 0, back = 0;
    fixture_begin();
    void *memory = device_memory(64 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&start));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&end));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(start, stream));
    busy(stream, memory);
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(end, stream));
    (void)GIVES(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, end));
    (void)GIVES(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(end, &last));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeEvent(end));
    (void)GIVES(ACL_SUCCESS, aclrtEventElapsedTime(&ms, start, end));
    (void)GIVES(ACL_SUCCESS, aclrtEventElapsedTime(&back, end, start));
    (void)GIVES(ACL_SUCCESS, aclrtEventGetTimestamp(start, &first));
    (void)GIVES(ACL_SUCCESS, aclrtEventGetTimestamp(end, &last));
    /* 5,000 ns and 64 MiB at 800 GB/s */
    (void)EXPECT(ms > 0.088f && ms < 0.091f && back < -0.088f, "%f and %f ms", (double)ms,
                 (double)back);
    (void)EXPECT(last - first == 88 || last - first == 89, "%u us", (unsigned)(last - first));
    fixture_end();
}

static void test_event_outlives_its_stream(void)
{
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclrtEventRecordedStatus status;
    fixture_begin();
    void *memory = device_memory(64 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    busy(stream, memory);
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    (void)EXPECT(status == ACL_EVENT_RECORDED_STATUS_COMPLETE, "%d", (int)status);
    fixture_end();
}

struct signaller {
    aclrtContext context;
    aclrtEvent event;
    aclrtStream stream;
    aclError error;
};

static void *signal_later(void *user)
{
    struct signaller *signaller = user;
    (void)usleep(50000);
    signaller->error = aclrtSetCurrentContext(signaller->context);
    if (signaller->error == ACL_SUCCESS)
        signaller->error = aclrtRecordEvent(signaller->event, signaller->stream);
    return NULL;
}

/* A stream that waits for what nobody has signalled; a timeout, then another thread signals. */
static void test_wait_that_another_thread_ends(void)
{
    aclrtStream waiting = NULL, other = NULL;
    aclrtEvent event = NULL;
    aclrtEventWaitStatus wait_status;
    struct signaller signaller = {0};
    pthread_t thread;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&waiting));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventWaitStatus(event, &wait_status));
    (void)EXPECT(wait_status == ACL_EVENT_WAIT_STATUS_COMPLETE, "%d", (int)wait_status);
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, other));
    (void)GIVES(ACL_SUCCESS, aclrtResetEvent(event, other));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventWaitStatus(event, &wait_status));
    (void)EXPECT(wait_status == ACL_EVENT_WAIT_STATUS_NOT_READY, "%d", (int)wait_status);
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 20));
    (void)SAYS("event");
    (void)GIVES(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(20));
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&signaller.context));
    signaller.event = event;
    signaller.stream = other;
    if (EXPECT(pthread_create(&thread, NULL, signal_later, &signaller) == 0, "a thread")) {
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
        (void)pthread_join(thread, NULL);
    }
    (void)EXPECT(signaller.error == ACL_SUCCESS, "%d", signaller.error);
    (void)GIVES(ACL_SUCCESS, aclrtQueryEventWaitStatus(event, &wait_status));
    (void)EXPECT(wait_status == ACL_EVENT_WAIT_STATUS_COMPLETE, "%d", (int)wait_status);
    fixture_end();
}

static void test_other_context(void)
{
    aclrtContext primary = NULL, mine = NULL;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    char bytes[8] = {0};
    void *ptr = NULL;
    fixture_begin();
    void *memory = device_memory(64);
    aclrtMemPool pool = make_pool(8 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&primary));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&ptr, 8, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&mine, 0));
    enum { OTHER = ACL_ERROR_RT_STREAM_CONTEXT };
    (void)GIVES(OTHER, aclrtRecordEvent(event, stream));
    (void)GIVES(OTHER, aclrtStreamWaitEvent(stream, event));
    (void)GIVES(OTHER, aclrtMemsetAsync(memory, 64, 1, 8, stream));
    (void)GIVES(OTHER, aclrtMemcpyAsync(memory, 64, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    (void)GIVES(OTHER, aclrtMemPoolFreeAsync(ptr, stream));
    void *second = &ptr;
    (void)GIVES(OTHER, aclrtMemPoolMallocAsync(&second, 8, pool, stream));
    (void)EXPECT(second == &ptr, "the output was written");
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtSetCurrentContext(primary));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr, stream));
    fixture_end();
}

static const struct client_test tests[] = {
    {"a stream's life", test_stream_life},
    {"events that were never recorded", test_never_recorded},
    {"flags of events", test_flags},
    {"elapsed time and timestamps", test_times},
    {"an event outlives its stream", test_event_outlives_its_stream},
    {"a wait that another thread ends", test_wait_that_another_thread_ends},
    {"streams of another context", test_other_context},
    {NULL, NULL},
};
const struct client_suite suite_stream_event = {"stream_event", tests};
