/* Settings of streams. */
#include "client_fixture.h"
#include "suites.h"

#include <string.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static void test_made_with_settings(void)
{
    aclrtStream stream = NULL;
    uint32_t value = 0, before = 0;
    size_t flag = ACL_STREAM_FAST_LAUNCH, wrong = 0x40;
    uint32_t priority = 9;
    fixture_begin();
    aclrtStreamConfigHandle *handle = aclrtCreateStreamConfigHandle();
    (void)EXPECT(handle != NULL && handle->flag == 0 && handle->priority == 0, "not empty");
    (void)GIVES(PARAM, aclrtSetStreamConfigOpt(NULL, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    (void)GIVES(PARAM, aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, NULL, sizeof(flag)));
    (void)GIVES(PARAM, aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, 1));
    (void)GIVES(PARAM,
                aclrtSetStreamConfigOpt(handle, (aclrtStreamConfigAttr)4, &flag, sizeof(flag)));
    (void)GIVES(ACL_SUCCESS,
                aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    uint32_t short_flag = ACL_STREAM_FAST_SYNC;
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &short_flag,
                                                     sizeof(short_flag)));
    (void)EXPECT(handle->flag == short_flag, "a flag of four bytes: %zu", handle->flag);
    (void)GIVES(ACL_SUCCESS,
                aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority,
                                                     sizeof(priority)));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAvailableNum(&before));
    (void)GIVES(PARAM, aclrtCreateStreamV2(NULL, handle));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStreamV2(&stream, handle));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetFlags(stream, &value));
    (void)EXPECT(value == ACL_STREAM_FAST_LAUNCH, "0x%x", value);
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetPriority(stream, &value));
    (void)EXPECT(value == 7, "%u", value);
    (void)GIVES(PARAM, aclrtGetStreamAvailableNum(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAvailableNum(&value));
    (void)EXPECT(value == before - 1, "%u of %u", value, before);
    (void)GIVES(ACL_SUCCESS,
                aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &wrong, sizeof(wrong)));
    (void)GIVES(PARAM, aclrtCreateStreamV2(&stream, handle));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStreamV2(&stream, NULL));
    (void)GIVES(PARAM, aclrtDestroyStreamConfigHandle(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStreamConfigHandle(handle));
    fixture_end();
}

static void test_failure_mode(void)
{
    aclrtStream stream = NULL;
    aclrtContext context = NULL, other = NULL;
    aclrtStreamAttrValue value;
    fixture_begin();
    memset(&value, 0xff, sizeof(value));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    (void)EXPECT(value.failureMode == ACL_CONTINUE_ON_FAILURE, "not as made");
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    (void)EXPECT(value.failureMode == ACL_STOP_ON_FAILURE, "not as set");
    /* It is the context's: other streams of it, old and new ones, stop too. */
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAttribute(NULL, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    (void)EXPECT(value.failureMode == ACL_STOP_ON_FAILURE, "not the context's");
    aclrtStream later = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&later));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamAttribute(later, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    (void)EXPECT(value.failureMode == ACL_STOP_ON_FAILURE, "not that of a later one");
    for (unsigned i = 0; i < made_up_count; i++)
        (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(made_up[i], 1));
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&other, 0));
    (void)GIVES(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamFailureMode(stream, 1));
    (void)GIVES(ACL_SUCCESS, aclrtSetCurrentContext(context));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(other));
    fixture_end();
}

static void test_attributes(void)
{
    aclrtStream stream = NULL;
    aclrtStreamAttrValue value;
    uint32_t flag = 9;
    fixture_begin();
    memset(&value, 0, sizeof(value));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(PARAM, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL));
    (void)GIVES(PARAM, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL));
    (void)GIVES(BAD, aclrtSetStreamAttribute(stream, (aclrtStreamAttr)0, &value));
    (void)GIVES(BAD, aclrtGetStreamAttribute(stream, (aclrtStreamAttr)6, &value));
    value.userCustomTag = 77;
    (void)GIVES(ACL_SUCCESS,
                aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    value.userCustomTag = 0;
    (void)GIVES(ACL_SUCCESS,
                aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    (void)EXPECT(value.userCustomTag == 77, "%u", value.userCustomTag);
    (void)GIVES(ACL_SUCCESS,
                aclrtGetStreamAttribute(NULL, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    (void)EXPECT(value.userCustomTag == 0, "the default stream: %u", value.userCustomTag);
    value.streamPriority = 8;
    (void)GIVES(BAD, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    value.streamPriority = 5;
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetPriority(stream, &flag));
    (void)EXPECT(flag == 5, "%u", flag);
    value.cacheOpInfoSwitch = 1;
    (void)GIVES(ACL_SUCCESS,
                aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    value.cacheOpInfoSwitch = 2;
    (void)GIVES(PARAM, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    (void)GIVES(ACL_SUCCESS,
                aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    (void)EXPECT(value.cacheOpInfoSwitch == 1, "%u", value.cacheOpInfoSwitch);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE,
                aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    fixture_end();
}

static void test_overflow(void)
{
    aclrtStream stream = NULL;
    uint32_t flag = 9;
    void *ptr = NULL;
    unsigned char bytes[64];
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(PARAM, aclrtSetStreamOverflowSwitch(stream, 2));
    (void)GIVES(PARAM, aclrtGetStreamOverflowSwitch(stream, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(stream, &flag));
    (void)EXPECT(flag == 0, "%u", flag);
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamOverflowSwitch(stream, 1));
    (void)GIVES(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(stream, &flag));
    (void)EXPECT(flag == 1, "%u", flag);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(ptr, 64, 0xee, 64));
    (void)GIVES(PARAM, aclrtGetOverflowStatus(NULL, 64, stream));
    (void)GIVES(BAD, aclrtGetOverflowStatus(ptr, 65, stream));
    (void)GIVES(BAD, aclrtGetOverflowStatus(ptr, 0, stream));
    (void)GIVES(ACL_SUCCESS, aclrtGetOverflowStatus(ptr, 64, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(bytes, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)EXPECT(bytes[i] == 0, "byte %zu is %u", i, bytes[i]);
    (void)GIVES(ACL_SUCCESS, aclrtResetOverflowStatus(stream));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtResetOverflowStatus(made_up[0]));
    fixture_end();
}

static void test_events_left(void)
{
    aclrtEvent event = NULL;
    uint32_t before = 0, after = 0;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetEventAvailNum(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetEventAvailNum(&before));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtGetEventAvailNum(&after));
    (void)EXPECT(after == before - 1, "%u of %u", after, before);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyEvent(event));
    (void)GIVES(ACL_SUCCESS, aclrtGetEventAvailNum(&after));
    (void)EXPECT(after == before, "%u of %u", after, before);
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetEventAvailNum(&after));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamAvailableNum(&after));
    fixture_end();
}

static const struct client_test tests[] = {
    {"made with settings", test_made_with_settings},
    {"failure mode", test_failure_mode},
    {"attributes", test_attributes},
    {"overflow", test_overflow},
    {"events left", test_events_left},
    {NULL, NULL},
};
const struct client_suite suite_stream_settings = {"stream_settings", tests};
