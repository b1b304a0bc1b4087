/* Devices and contexts of threads. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>

static void test_set_and_reset_count(void)
{
    int32_t device = -1, active = -1;
    uint32_t flags = 9;
    aclrtStream stream = NULL;
    void *ptr = NULL;
    fixture_begin(); /* sets device 0 once */
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtGetPrimaryCtxState(0, &flags, &active));
    (void)EXPECT(active == 1 && flags == 0, "%d, %u", active, flags);
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0));
    (void)GIVES(ACL_SUCCESS, aclrtGetPrimaryCtxState(0, NULL, &active));
    (void)EXPECT(active == 0, "%d", active);
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtResetDeviceForce(0));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    fixture_end();
}

static void test_device_numbers(void)
{
    static const int32_t bad[] = {-1, 8, 64, INT32_MAX, INT32_MIN};
    aclrtContext context = NULL;
    int32_t device = -1, active = 0;
    aclrtDeviceStatus status;
    fixture_begin();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(bad[i]));
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(bad[i]));
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceForce(bad[i]));
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, bad[i]));
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPrimaryCtxState(bad[i], NULL, &active));
        (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtQueryDeviceStatus(bad[i], &status));
    }
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(7));
    (void)GIVES(ACL_SUCCESS, aclrtGetDevice(&device));
    (void)EXPECT(device == 7, "%d", device);
    (void)GIVES(ACL_SUCCESS, aclrtQueryDeviceStatus(3, &status));
    (void)EXPECT(status == ACL_RT_DEVICE_STATUS_NORMAL, "%d", (int)status);
    fixture_end();
}

static void test_contexts_of_a_program(void)
{
    aclrtContext primary = NULL, mine = NULL, now = NULL;
    aclrtStream in_mine = NULL, of_primary = NULL, fallback = NULL;
    int32_t device = -1;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&primary));
    (void)GIVES(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&of_primary));
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&mine, 2));
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&now));
    (void)EXPECT(now == mine && mine != primary, "CreateContext makes it current");
    (void)GIVES(ACL_SUCCESS, aclrtGetDevice(&device));
    (void)EXPECT(device == 2, "%d", device);
    (void)GIVES(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&fallback));
    (void)EXPECT(fallback != of_primary, "its own default stream");
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(fallback));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&in_mine));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0)); /* replaces the context set before */
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&now));
    (void)EXPECT(now == primary, "SetDevice makes the default context current");
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(in_mine)); /* of another context: allowed */
    (void)GIVES(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(in_mine));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(primary));
    (void)GIVES(ACL_SUCCESS, aclrtSetCurrentContext(mine));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(mine));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&now));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(in_mine));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(mine));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(mine));
    (void)GIVES(ACL_SUCCESS, aclrtSetCurrentContext(primary));
    fixture_end();
}

static void test_a_reset_leaves_made_contexts_to_be_destroyed(void)
{
    aclrtContext mine = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&mine, 0));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(mine));
    fixture_end();
}

struct other {
    aclrtContext primary;
    aclError before, set, after, device_error;
    int32_t device;
    aclrtContext context;
};

static void *run_other(void *user)
{
    struct other *other = user;
    other->before = aclrtSynchronizeStream(NULL);
    other->set = aclrtSetCurrentContext(other->primary);
    other->after = aclrtSynchronizeStream(NULL);
    other->device_error = aclrtSetDevice(1);
    (void)aclrtGetDevice(&other->device);
    (void)aclrtGetCurrentContext(&other->context);
    return NULL;
}

static void test_a_context_is_of_the_thread(void)
{
    struct other other = {0};
    int32_t device = -1;
    pthread_t thread;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&other.primary));
    if (EXPECT(pthread_create(&thread, NULL, run_other, &other) == 0, "a thread"))
        (void)pthread_join(thread, NULL);
    (void)EXPECT(other.before == ACL_ERROR_RT_CONTEXT_NULL, "a new thread has none: %d",
                 other.before);
    (void)EXPECT(other.set == ACL_SUCCESS && other.after == ACL_SUCCESS, "%d %d", other.set,
                 other.after);
    (void)EXPECT(other.device_error == ACL_SUCCESS && other.device == 1 &&
                     other.context != other.primary,
                 "device %d", other.device);
    (void)GIVES(ACL_SUCCESS, aclrtGetDevice(&device));
    (void)EXPECT(device == 0, "the other thread's choice came here");
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(1)); /* counts are of the process */
    fixture_end();
}

static const struct client_test tests[] = {
    {"SetDevice and ResetDevice count", test_set_and_reset_count},
    {"device numbers", test_device_numbers},
    {"contexts of a program", test_contexts_of_a_program},
    {"a reset leaves made contexts to be destroyed",
     test_a_reset_leaves_made_contexts_to_be_destroyed},
    {"a context is of the thread", test_a_context_is_of_the_thread},
    {NULL, NULL},
};
const struct client_suite suite_context = {"context", tests};
