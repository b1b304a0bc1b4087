/* Callbacks for kernels that fail. */
#include "client_fixture.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAULT = ACL_ERROR_RT_AICORE_EXCEPTION, BAD = ACL_ERROR_RT_PARAM_INVALID };

struct block {
    void *x, *y, *z;
    uint32_t count, type;
};

static struct {
    unsigned calls, other_calls;
    uint32_t task, stream, thread, device, code, args_bytes;
    void *args;
    aclrtFuncHandle function;
} seen;

static void on_failure(aclrtExceptionInfo *info)
{
    seen.calls++;
    seen.task = aclrtGetTaskIdFromExceptionInfo(info);
    seen.stream = aclrtGetStreamIdFromExceptionInfo(info);
    seen.thread = aclrtGetThreadIdFromExceptionInfo(info);
    seen.device = aclrtGetDeviceIdFromExceptionInfo(info);
    seen.code = aclrtGetErrorCodeFromExceptionInfo(info);
    (void)EXPECT(aclrtGetArgsFromExceptionInfo(info, &seen.args, &seen.args_bytes) == ACL_SUCCESS &&
                     aclrtGetFuncHandleFromExceptionInfo(info, &seen.function) == ACL_SUCCESS,
                 "what failed");
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtGetFuncHandleFromExceptionInfo(info, NULL));
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtGetArgsFromExceptionInfo(info, NULL, &seen.args_bytes));
}

static void on_failure_too(aclrtExceptionInfo *info)
{
    (void)info;
    seen.other_calls++;
}

static void expect_calls(unsigned calls, unsigned others)
{
    (void)EXPECT(seen.calls == calls && seen.other_calls == others, "%u and %u calls", seen.calls,
                 seen.other_calls);
    memset(&seen, 0, sizeof(seen));
}

static aclrtFuncHandle begin(aclrtStream *stream)
{
    aclrtBinHandle library = NULL;
    aclrtFuncHandle add = NULL;
    fixture_begin();
    memset(&seen, 0, sizeof(seen));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("add_custom.o", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &add));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(stream));
    return add;
}

static void launch_bad(aclrtFuncHandle add, aclrtStream stream)
{
    void *const bad = (void *)(uintptr_t)0x4242;
    struct block block = {bad, bad, bad, 4, ACL_FLOAT};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(add, 1, &block, sizeof(block), NULL, stream));
}

static void test_who_is_called(void)
{
    aclrtStream stream = NULL;
    aclrtStreamStatus status;
    aclrtFuncHandle add = begin(&stream);
    (void)GIVES(BAD, aclrtExceptionInfoCallbackRegister(NULL));
    (void)GIVES(BAD, aclrtExceptionInfoCallbackUnregister(NULL));
    launch_bad(add, stream);
    (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
    expect_calls(0, 0);
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(on_failure_too));
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(on_failure));
    (void)GIVES(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(on_failure_too));
    (void)GIVES(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(on_failure_too));
    launch_bad(add, stream);
    expect_calls(0, 0);
    (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
    (void)SAYS("aclrtLaunchKernelV2");
    (void)SAYS("0x4242");
    expect_calls(1, 1);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    expect_calls(0, 0);
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(NULL));
    launch_bad(add, stream);
    unsigned queries = 0;
    while (aclrtStreamQuery(stream, &status) == ACL_SUCCESS && queries++ < 100)
        (void)EXPECT(status == ACL_STREAM_STATUS_NOT_READY, "query %u", queries);
    (void)EXPECT(queries > 1 && queries < 100 && aclrtGetLastError(ACL_RT_THREAD_LEVEL) == FAULT,
                 "%u queries", queries);
    (void)aclGetRecentErrMsg();
    expect_calls(0, 1);
    (void)GIVES(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(on_failure_too));
    launch_bad(add, stream);
    (void)GIVES(FAULT, aclrtSynchronizeDevice());
    expect_calls(0, 0);
    fixture_end();
}

static void test_what_is_told(void)
{
    aclrtStream stream = NULL, other = NULL;
    void *on_device = NULL, *const bad = (void *)(uintptr_t)0x4242;
    int32_t id = 0;
    uint32_t task = 0, next = 0;
    char place[32];
    aclrtFuncHandle add = begin(&stream);
    struct block block = {bad, bad, bad, 4, ACL_FLOAT};
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(on_failure));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&on_device, sizeof(block), ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(on_device, sizeof(block), &block, sizeof(block),
                                         ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(add, 1, on_device, sizeof(block), NULL, stream));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtGetThreadLastTaskId(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetThreadLastTaskId(&task));
    launch_bad(add, other);
    (void)GIVES(ACL_SUCCESS, aclrtGetThreadLastTaskId(&next));
    (void)EXPECT(next == task + 1, "%u after %u", next, task);
    (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
    (void)EXPECT(seen.task == task && seen.stream == (uint32_t)id && seen.device == 0 &&
                     seen.code == FAULT && seen.thread == (uint32_t)syscall(SYS_gettid),
                 "task %u, stream %u, device %u, code %u, thread %u", seen.task, seen.stream,
                 seen.device, seen.code, seen.thread);
    (void)EXPECT(seen.function == add && seen.args == on_device && seen.args_bytes == sizeof(block),
                 "%p: %u bytes at %p", seen.function, seen.args_bytes, seen.args);
    expect_calls(1, 0);
    (void)GIVES(FAULT, aclrtSynchronizeStream(other));
    (void)snprintf(place, sizeof(place), ", task %u: ", next);
    (void)SAYS(place);
    (void)EXPECT(seen.task == next && seen.args == NULL && seen.args_bytes == 0, "task %u",
                 seen.task);
    expect_calls(1, 0);
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(NULL));
    (void)EXPECT(aclrtGetTaskIdFromExceptionInfo(NULL) == UINT32_MAX &&
                     aclrtGetStreamIdFromExceptionInfo(NULL) == UINT32_MAX &&
                     aclrtGetThreadIdFromExceptionInfo(NULL) == UINT32_MAX &&
                     aclrtGetDeviceIdFromExceptionInfo(NULL) == UINT32_MAX &&
                     aclrtGetErrorCodeFromExceptionInfo(NULL) == UINT32_MAX,
                 "of nothing");
    (void)GIVES(-1, aclrtGetFuncHandleFromExceptionInfo(NULL, &add));
    (void)GIVES(-1, aclrtGetArgsFromExceptionInfo(NULL, &on_device, &task));
    fixture_end();
}

static void test_what_failed_on_a_device(void)
{
    aclrtStream stream = NULL;
    aclrtErrorInfo info;
    aclrtFuncHandle add = begin(&stream);
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtGetErrorVerbose(0, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetErrorVerbose(99, &info));
    (void)GIVES(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
    (void)EXPECT(info.errorType == ACL_RT_NO_ERROR && info.hasDetail == 0, "%d",
                 (int)info.errorType);
    launch_bad(add, stream);
    (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
    (void)EXPECT(info.errorType == ACL_RT_ERROR_AICORE && info.hasDetail == 1 &&
                     info.detail.aicoreErrType == ACL_RT_AICORE_ERROR_SW && info.tryRepair == 0,
                 "%d", (int)info.errorType);
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
    (void)EXPECT(info.errorType == ACL_RT_NO_ERROR, "after a reset: %d", (int)info.errorType);
    fixture_end();
}

static const struct client_test tests[] = {
    {"who is called", test_who_is_called},
    {"what is told", test_what_is_told},
    {"what failed on a device", test_what_failed_on_a_device},
    {NULL, NULL},
};
const struct client_suite suite_exception = {"exception", tests};
