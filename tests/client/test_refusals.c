/* Every function that takes a handle, with NULL, destroyed, made-up handles and those of another
 * kind: an error of CANN's number and never a crash. */
#include "client_fixture.h"
#include "suites.h"

#include <stdint.h>

static char bytes[64];
static aclrtStream good_stream;
static aclrtEvent good_event;
static aclrtMemPool good_pool;
static aclrtFuncHandle good_function;
static void *good_memory;

static aclError destroy_context(void *h)
{
    return aclrtDestroyContext(h);
}
static aclError set_context(void *h)
{
    return aclrtSetCurrentContext(h);
}
static aclError destroy_stream(void *h)
{
    return aclrtDestroyStream(h);
}
static aclError destroy_stream_force(void *h)
{
    return aclrtDestroyStreamForce(h);
}
static aclError sync_stream(void *h)
{
    return aclrtSynchronizeStream(h);
}
static aclError sync_stream_ms(void *h)
{
    return aclrtSynchronizeStreamWithTimeout(h, 5);
}
static aclError stream_id(void *h)
{
    int32_t v;
    return aclrtStreamGetId(h, &v);
}
static aclError stream_flags(void *h)
{
    uint32_t v;
    return aclrtStreamGetFlags(h, &v);
}
static aclError stream_priority(void *h)
{
    uint32_t v;
    return aclrtStreamGetPriority(h, &v);
}
static aclError stream_query(void *h)
{
    aclrtStreamStatus v;
    return aclrtStreamQuery(h, &v);
}
static aclError wait_on_stream(void *h)
{
    return aclrtStreamWaitEvent(h, good_event);
}
static aclError record_on_stream(void *h)
{
    return aclrtRecordEvent(good_event, h);
}
static aclError reset_on_stream(void *h)
{
    return aclrtResetEvent(good_event, h);
}
static aclError destroy_event(void *h)
{
    return aclrtDestroyEvent(h);
}
static aclError record(void *h)
{
    return aclrtRecordEvent(h, good_stream);
}
static aclError record_flag(void *h)
{
    return aclrtRecordEventWithFlag(h, good_stream, 0);
}
static aclError reset_event(void *h)
{
    return aclrtResetEvent(h, good_stream);
}
static aclError wait_event(void *h)
{
    return aclrtStreamWaitEvent(good_stream, h);
}
static aclError wait_event_s(void *h)
{
    return aclrtStreamWaitEventWithTimeout(good_stream, h, 1);
}
static aclError wait_event_flag(void *h)
{
    return aclrtStreamWaitEventWithFlag(good_stream, h, 1, 0);
}
static aclError sync_event(void *h)
{
    return aclrtSynchronizeEvent(h);
}
static aclError sync_event_ms(void *h)
{
    return aclrtSynchronizeEventWithTimeout(h, 5);
}
static aclError query(void *h)
{
    aclrtEventStatus v;
    return aclrtQueryEvent(h, &v);
}
static aclError query_status(void *h)
{
    aclrtEventRecordedStatus v;
    return aclrtQueryEventStatus(h, &v);
}
static aclError query_wait(void *h)
{
    aclrtEventWaitStatus v;
    return aclrtQueryEventWaitStatus(h, &v);
}
static aclError elapsed_start(void *h)
{
    float v;
    return aclrtEventElapsedTime(&v, h, good_event);
}
static aclError elapsed_end(void *h)
{
    float v;
    return aclrtEventElapsedTime(&v, good_event, h);
}
static aclError event_time(void *h)
{
    uint64_t v;
    return aclrtEventGetTimestamp(h, &v);
}
static aclError event_id(void *h)
{
    uint32_t v;
    return aclrtGetEventId(h, &v);
}
static aclError destroy_pool(void *h)
{
    return aclrtMemPoolDestroy(h);
}
static aclError trim_pool(void *h)
{
    return aclrtMemPoolTrimTo(h, 0);
}
static aclError pool_malloc(void *h)
{
    void *ptr;
    return aclrtMemPoolMallocAsync(&ptr, 8, h, good_stream);
}
static aclError pool_malloc_stream(void *h)
{
    void *ptr;
    return aclrtMemPoolMallocAsync(&ptr, 8, good_pool, h);
}
static aclError pool_free_stream(void *h)
{
    return aclrtMemPoolFreeAsync(good_memory, h);
}
static aclError pool_get(void *h)
{
    uint64_t v;
    return aclrtMemPoolGetAttr(h, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &v);
}
static aclError pool_set(void *h)
{
    uint64_t v = 0;
    return aclrtMemPoolSetAttr(h, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &v);
}
static aclError copy_on_stream(void *h)
{
    return aclrtMemcpyAsync(good_memory, 64, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE, h);
}
static aclError set_on_stream(void *h)
{
    return aclrtMemsetAsync(good_memory, 64, 1, 8, h);
}
static aclError unload(void *h)
{
    return aclrtBinaryUnLoad(h);
}
static aclError get_function(void *h)
{
    aclrtFuncHandle v;
    return aclrtBinaryGetFunction(h, "add_custom", &v);
}
static aclError destroy_binary(void *h)
{
    return aclrtDestroyBinary(h);
}
static aclError load_binary(void *h)
{
    aclrtBinHandle v;
    return aclrtBinaryLoad(h, &v);
}
static aclError function_name(void *h)
{
    return aclrtGetFunctionName(h, sizeof(bytes), bytes);
}
static aclError launch(void *h)
{
    return aclrtLaunchKernel(h, 1, bytes, 24, good_stream);
}
static aclError launch_v2(void *h)
{
    return aclrtLaunchKernelV2(h, 1, bytes, 24, NULL, good_stream);
}
static aclError launch_on_stream(void *h)
{
    return aclrtLaunchKernelV2(good_function, 1, bytes, 24, NULL, h);
}
static aclError args_init(void *h)
{
    aclrtArgsHandle v;
    return aclrtKernelArgsInit(h, &v);
}
static aclError args_append(void *h)
{
    aclrtParamHandle v;
    return aclrtKernelArgsAppend(h, bytes, 8, &v);
}
static aclError args_final(void *h)
{
    return aclrtKernelArgsFinalize(h);
}
static aclError destroy_buffer(void *h)
{
    return aclDestroyDataBuffer(h);
}
static aclError update_buffer(void *h)
{
    return aclUpdateDataBuffer(h, NULL, 0);
}

enum { PARAM = 100000, RT = 107000, NO_CONTEXT = 107002, HANDLE = 107017, INTERNAL = 507000 };

/* null 0: NULL has a meaning, and is not tried. */
static const struct row {
    const char *name;
    aclError (*call)(void *handle);
    aclError null, bad;
} rows[] = {
    {"aclrtDestroyContext", destroy_context, PARAM, NO_CONTEXT},
    {"aclrtSetCurrentContext", set_context, PARAM, RT},
    {"aclrtDestroyStream", destroy_stream, PARAM, HANDLE},
    {"aclrtDestroyStreamForce", destroy_stream_force, PARAM, HANDLE},
    {"aclrtSynchronizeStream", sync_stream, 0, HANDLE},
    {"aclrtSynchronizeStreamWithTimeout", sync_stream_ms, 0, HANDLE},
    {"aclrtStreamGetId", stream_id, 0, HANDLE},
    {"aclrtStreamGetFlags", stream_flags, 0, HANDLE},
    {"aclrtStreamGetPriority", stream_priority, 0, HANDLE},
    {"aclrtStreamQuery", stream_query, 0, HANDLE},
    {"aclrtStreamWaitEvent", wait_on_stream, 0, HANDLE},
    {"aclrtRecordEvent", record_on_stream, 0, HANDLE},
    {"aclrtResetEvent", reset_on_stream, 0, HANDLE},
    {"aclrtDestroyEvent", destroy_event, PARAM, HANDLE},
    {"aclrtRecordEvent", record, PARAM, HANDLE},
    {"aclrtRecordEventWithFlag", record_flag, PARAM, HANDLE},
    {"aclrtResetEvent", reset_event, PARAM, HANDLE},
    {"aclrtStreamWaitEvent", wait_event, PARAM, HANDLE},
    {"aclrtStreamWaitEventWithTimeout", wait_event_s, PARAM, HANDLE},
    {"aclrtStreamWaitEventWithFlag", wait_event_flag, PARAM, HANDLE},
    {"aclrtSynchronizeEvent", sync_event, PARAM, HANDLE},
    {"aclrtSynchronizeEventWithTimeout", sync_event_ms, PARAM, HANDLE},
    {"aclrtQueryEvent", query, PARAM, HANDLE},
    {"aclrtQueryEventStatus", query_status, PARAM, HANDLE},
    {"aclrtQueryEventWaitStatus", query_wait, PARAM, HANDLE},
    {"aclrtEventElapsedTime", elapsed_start, PARAM, HANDLE},
    {"aclrtEventElapsedTime", elapsed_end, PARAM, HANDLE},
    {"aclrtEventGetTimestamp", event_time, PARAM, HANDLE},
    {"aclrtGetEventId", event_id, PARAM, HANDLE},
    {"aclrtMemPoolDestroy", destroy_pool, PARAM, INTERNAL},
    {"aclrtMemPoolTrimTo", trim_pool, PARAM, INTERNAL},
    {"aclrtMemPoolMallocAsync", pool_malloc, PARAM, INTERNAL},
    {"aclrtMemPoolMallocAsync", pool_malloc_stream, PARAM, HANDLE},
    {"aclrtMemPoolFreeAsync", pool_free_stream, INTERNAL, HANDLE},
    {"aclrtMemPoolGetAttr", pool_get, PARAM, RT},
    {"aclrtMemPoolSetAttr", pool_set, PARAM, RT},
    {"aclrtMemcpyAsync", copy_on_stream, 0, HANDLE},
    {"aclrtMemsetAsync", set_on_stream, 0, HANDLE},
    {"aclrtBinaryUnLoad", unload, PARAM, HANDLE},
    {"aclrtBinaryGetFunction", get_function, PARAM, HANDLE},
    {"aclrtDestroyBinary", destroy_binary, PARAM, HANDLE},
    {"aclrtBinaryLoad", load_binary, PARAM, HANDLE},
    {"aclrtGetFunctionName", function_name, PARAM, HANDLE},
    {"aclrtLaunchKernel", launch, PARAM, HANDLE},
    {"aclrtLaunchKernelV2", launch_v2, PARAM, HANDLE},
    {"aclrtLaunchKernelV2", launch_on_stream, 0, HANDLE},
    {"aclrtKernelArgsInit", args_init, PARAM, HANDLE},
    {"aclrtKernelArgsAppend", args_append, PARAM, HANDLE},
    {"aclrtKernelArgsFinalize", args_final, PARAM, HANDLE},
    {"aclDestroyDataBuffer", destroy_buffer, PARAM, HANDLE},
    {"aclUpdateDataBuffer", update_buffer, PARAM, HANDLE},
};

static void check(const struct row *row, void *handle, aclError want, const char *what)
{
    aclError got = row->call(handle);
    const char *text = aclGetRecentErrMsg();
    (void)EXPECT(got == want && text != NULL, "%s of %s: %d, not %d: %s", row->name, what, got,
                 want, text != NULL ? text : "(no text)");
}

static void test_handles_of_all_functions(void)
{
    aclrtStream gone_stream = NULL;
    aclrtEvent gone_event = NULL;
    aclrtContext gone_context = NULL, primary = NULL;
    aclrtBinHandle library = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&primary));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&good_stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&good_event));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&good_memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("x/add_custom.o", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &good_function));
    good_pool = make_pool(64u << 20);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&gone_stream));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(gone_stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&gone_event));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyEvent(gone_event));
    aclrtMemPool gone_pool = make_pool(2u << 20);
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolDestroy(gone_pool));
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&gone_context, 0));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(gone_context));
    (void)GIVES(ACL_SUCCESS, aclrtSetCurrentContext(primary));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        if (row->null != 0)
            check(row, NULL, row->null, "NULL");
        for (unsigned m = 0; m < made_up_count; m++)
            check(row, made_up[m], row->bad, "a made-up handle");
        check(row, gone_stream, row->bad, "a destroyed stream");
        check(row, gone_event, row->bad, "a destroyed event");
        check(row, gone_pool, row->bad, "a destroyed pool");
        check(row, gone_context, row->bad, "a destroyed context");
    }
    (void)EXPECT(sync_stream(good_event) == HANDLE && sync_event(good_stream) == HANDLE &&
                     pool_get(good_stream) == RT && destroy_context(good_pool) == NO_CONTEXT &&
                     launch(library) == HANDLE,
                 "handles of another kind");
    (void)aclGetRecentErrMsg();
    fixture_end();
}

/* ---- NULL outputs and other values that are never right ---- */

static void test_null_outputs(void)
{
    size_t size;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetDevice(NULL));
    (void)GIVES(PARAM, aclrtGetDeviceCount(NULL));
    (void)GIVES(PARAM, aclrtGetRunMode(NULL));
    (void)GIVES(PARAM, aclrtGetVersion(NULL, NULL, NULL));
    (void)GIVES(PARAM, aclrtCreateContext(NULL, 0));
    (void)GIVES(PARAM, aclrtGetCurrentContext(NULL));
    (void)GIVES(PARAM, aclrtCtxGetCurrentDefaultStream(NULL));
    (void)GIVES(PARAM, aclrtGetPrimaryCtxState(0, NULL, NULL));
    (void)GIVES(PARAM, aclrtCreateStream(NULL));
    (void)GIVES(PARAM, aclrtCreateStreamWithConfig(NULL, 0, 0));
    (void)GIVES(PARAM, aclrtCreateEvent(NULL));
    (void)GIVES(PARAM, aclrtCreateEventWithFlag(NULL, ACL_EVENT_SYNC));
    (void)GIVES(PARAM, aclrtCreateEventExWithFlag(NULL, ACL_EVENT_SYNC));
    (void)GIVES(PARAM, aclrtMalloc(NULL, 1, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(PARAM, aclrtFree(NULL));
    (void)GIVES(PARAM, aclrtFreeWithDevSync(NULL));
    (void)GIVES(PARAM, aclrtMallocHost(NULL, 1));
    (void)GIVES(PARAM, aclrtFreeHost(NULL));
    (void)GIVES(PARAM, aclrtGetMemInfo(ACL_HBM_MEM, NULL, &size));
    (void)GIVES(PARAM, aclrtGetMemInfo(ACL_HBM_MEM, &size, NULL));
    (void)GIVES(PARAM, aclrtMemPoolCreate(NULL, NULL));
    (void)GIVES(PARAM, aclrtMemPoolFreeAsync(NULL, good_stream));
    (void)GIVES(PARAM, aclrtMemPoolMallocAsync(NULL, 1, good_pool, good_stream));
    (void)GIVES(PARAM, aclrtBinaryLoadFromFile(NULL, NULL, &good_memory));
    (void)GIVES(PARAM, aclrtBinaryLoadFromFile("x", NULL, NULL));
    (void)GIVES(PARAM, aclrtPointerGetAttributes(&size, NULL));
    (void)GIVES(PARAM, aclrtMemGetAddressRange(&size, NULL, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_MEMORY_TYPE, aclrtGetMemInfo((aclrtMemAttr)99, &size, &size));
    fixture_end();
}

static void test_timeouts(void)
{
    static const int32_t bad[] = {0, -2, INT32_MIN};
    aclrtEvent event = NULL;
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (size_t i = 0; i < 3; i++) {
        (void)GIVES(RT, aclrtSynchronizeStreamWithTimeout(stream, bad[i]));
        (void)GIVES(RT, aclrtSynchronizeEventWithTimeout(event, bad[i]));
        (void)GIVES(RT, aclrtSynchronizeDeviceWithTimeout(bad[i]));
    }
    (void)GIVES(RT, aclrtStreamWaitEventWithTimeout(stream, event, -1));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(stream, event, 0));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, -1));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 1));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDeviceWithTimeout(1));
    fixture_end();
}

static const struct client_test tests[] = {
    {"NULL, destroyed, made-up and mixed-up handles", test_handles_of_all_functions},
    {"NULL outputs", test_null_outputs},
    {"timeouts", test_timeouts},
    {NULL, NULL},
};
const struct client_suite suite_refusals = {"refusals", tests};
