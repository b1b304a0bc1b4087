/* Figures, numbers, peers, limits and options of devices. */
#include "client_fixture.h"
#include "suites.h"

#include <string.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static void test_figures(void)
{
    int64_t value = -1, cores = 0;
    int32_t feature = -1;
    size_t free_bytes = 0, total = 0;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID,
                aclrtGetDeviceInfo(99, ACL_DEV_ATTR_NPU_ARCH, &value));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID,
                aclrtGetDeviceInfo(UINT32_MAX, ACL_DEV_ATTR_NPU_ARCH, &value));
    (void)GIVES(BAD, aclrtGetDeviceInfo(0, (aclrtDevAttr)0, &value));
    (void)EXPECT(value == -1, "a refused call writes nothing");
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value));
    (void)EXPECT(value == 2201, "%lld", (long long)value);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &cores));
    (void)EXPECT(cores > 0, "%lld", (long long)cores);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &value));
    (void)EXPECT(value == cores, "%lld", (long long)value);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value));
    (void)EXPECT(value == 2 * cores, "%lld", (long long)value);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &value));
    (void)EXPECT(value == 0, "%lld", (long long)value);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value));
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    (void)EXPECT(value == (int64_t)total, "%lld of %zu", (long long)value, total);
    (void)GIVES(PARAM, aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, NULL));
    (void)GIVES(BAD, aclrtGetDeviceCapability(0, (aclrtDevFeatureType)2, &feature));
    (void)GIVES(ACL_SUCCESS,
                aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &feature));
    (void)EXPECT(feature == ACL_DEV_FEATURE_NOT_SUPPORT, "%d", feature);
    fixture_end();
}

static void test_what_software_can_do(void)
{
    const aclCannAttr *list = NULL;
    size_t count = 0;
    int32_t value = -1;
    fixture_begin();
    (void)GIVES(PARAM, aclGetCannAttributeList(NULL, &count));
    (void)GIVES(PARAM, aclGetCannAttributeList(&list, NULL));
    (void)GIVES(ACL_SUCCESS, aclGetCannAttributeList(&list, &count));
    (void)EXPECT(count == 3, "%zu", count);
    for (size_t i = 0; i < count; i++) {
        (void)GIVES(ACL_SUCCESS, aclGetCannAttribute(list[i], &value));
        (void)EXPECT(value == 1, "feature %d", (int)list[i]);
    }
    (void)GIVES(PARAM, aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value));
    (void)GIVES(PARAM, aclGetCannAttribute(ACL_CANN_ATTR_BF16, NULL));
    (void)GIVES(BAD, aclrtCheckArchCompatibility("Ascend1", &value));
    (void)GIVES(BAD, aclrtCheckArchCompatibility(NULL, &value));
    (void)GIVES(BAD, aclrtCheckArchCompatibility("Ascend910B1", NULL));
    (void)GIVES(ACL_SUCCESS, aclrtCheckArchCompatibility("Ascend310P3", &value));
    (void)EXPECT(value == 0, "%d", value);
    (void)GIVES(ACL_SUCCESS, aclrtCheckArchCompatibility("Ascend910B3", &value));
    (void)EXPECT(value == 1, "%d", value);
    fixture_end();
}

static void test_names_and_numbers(void)
{
    aclrtUuid first, again;
    aclrtUtilizationInfo busy;
    int32_t least = -1, greatest = -1, number = -1;
    fixture_begin();
    memset(&busy, 0, sizeof(busy));
    (void)GIVES(PARAM, aclrtDeviceGetUuid(0, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetUuid(-1, &first));
    (void)GIVES(ACL_SUCCESS, aclrtDeviceGetUuid(0, &first));
    (void)GIVES(ACL_SUCCESS, aclrtDeviceGetUuid(0, &again));
    (void)EXPECT(memcmp(&first, &again, sizeof(first)) == 0, "another name");
    (void)GIVES(PARAM, aclrtGetDeviceUtilizationRate(0, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceUtilizationRate(0, &busy));
    (void)EXPECT(busy.cubeUtilization == 0 && busy.memoryUtilization == -1, "%d and %d",
                 busy.cubeUtilization, busy.memoryUtilization);
    busy.utilizationExtend = (aclrtUtilizationExtendInfo *)&busy;
    (void)GIVES(PARAM, aclrtGetDeviceUtilizationRate(0, &busy));
    (void)GIVES(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(NULL, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    (void)EXPECT(least == 7 && greatest == 0, "%d to %d", greatest, least);
    (void)GIVES(PARAM, aclrtGetLogicDevIdByUserDevId(0, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetUserDevIdByLogicDevId(99, &number));
    (void)GIVES(ACL_SUCCESS, aclrtGetLogicDevIdByUserDevId(0, &number));
    (void)EXPECT(number == 0, "%d", number);
    (void)GIVES(ACL_SUCCESS, aclrtGetUserDevIdByLogicDevId(0, &number));
    (void)GIVES(ACL_SUCCESS, aclrtGetUserDevIdByPhyDevId(0, &number));
    (void)GIVES(ACL_SUCCESS, aclrtGetPhyDevIdByUserDevId(0, &number));
    fixture_end();
}

static void test_peers(void)
{
    int32_t can = -1;
    uint32_t count = 0;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    (void)GIVES(PARAM, aclrtDeviceCanAccessPeer(&can, 0, 0));
    (void)GIVES(PARAM, aclrtDeviceEnablePeerAccess(0, 0));
    (void)GIVES(PARAM, aclrtDeviceDisablePeerAccess(0));
    (void)GIVES(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1));
    (void)GIVES(PARAM, aclrtDevicePeerAccessStatus(0, 1, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, 0, 99));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(99, 0));
    if (count > 1) {
        (void)GIVES(BAD, aclrtDeviceCanAccessPeer(NULL, 0, 1));
        (void)GIVES(ACL_SUCCESS, aclrtDeviceCanAccessPeer(&can, 0, 1));
        (void)EXPECT(can == 1, "%d", can);
        (void)GIVES(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &can));
        (void)EXPECT(can == 0, "%d", can);
        (void)GIVES(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
        (void)GIVES(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &can));
        (void)EXPECT(can == 1, "%d", can);
        (void)GIVES(ACL_SUCCESS, aclrtDevicePeerAccessStatus(1, 0, &can));
        (void)EXPECT(can == 0, "one direction only: %d", can);
        (void)GIVES(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
        (void)GIVES(ACL_SUCCESS, aclrtDevicePeerAccessStatus(0, 1, &can));
        (void)EXPECT(can == 0, "%d", can);
    }
    fixture_end();
}

static void test_limits(void)
{
    const aclrtDevResLimitType CUBE = ACL_RT_DEV_RES_CUBE_CORE, VECTOR = ACL_RT_DEV_RES_VECTOR_CORE;
    uint32_t all = 0, value = 0;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetDeviceResLimit(0, VECTOR, NULL));
    (void)GIVES(BAD, aclrtGetDeviceResLimit(0, (aclrtDevResLimitType)2, &value));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDeviceResLimit(99, CUBE, 1));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceResLimit(0, VECTOR, &all));
    (void)GIVES(BAD, aclrtSetDeviceResLimit(0, VECTOR, all + 1));
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceResLimit(0, VECTOR, 3));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceResLimit(0, VECTOR, &value));
    (void)EXPECT(value == 3, "%u", value);
    (void)GIVES(ACL_SUCCESS, aclrtGetResInCurrentThread(VECTOR, &value));
    (void)EXPECT(value == 3, "%u", value);
    (void)GIVES(ACL_SUCCESS, aclrtGetResInCurrentThread(CUBE, &value));
    (void)EXPECT(value == all / 2, "%u", value);
    (void)GIVES(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceResLimit(0, VECTOR, &value));
    (void)EXPECT(value == all, "%u", value);
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceResLimit(0, VECTOR, 1));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtGetDeviceResLimit(0, VECTOR, &value));
    (void)GIVES(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtResetDeviceResLimit(0));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetResInCurrentThread(VECTOR, &value));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceResLimit(0, VECTOR, &value));
    (void)EXPECT(value == all, "a reset ends the limit: %u", value);
    fixture_end();
}

static void test_times(void)
{
    uint64_t step = 0, actual = 0;
    uint32_t ms = 0;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetOpTimeOutInterval(NULL));
    (void)GIVES(PARAM, aclrtGetOpExecuteTimeout(NULL));
    (void)GIVES(PARAM, aclrtSetOpExecuteTimeOutV2(1, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtGetOpTimeOutInterval(&step));
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(1, &actual));
    (void)EXPECT(actual == step, "one step: %llu", (unsigned long long)actual);
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(step + 2, &actual));
    (void)EXPECT(actual / step == 2, "two steps: %llu", (unsigned long long)actual);
    (void)GIVES(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&ms));
    (void)EXPECT(ms == (actual + 999) / 1000, "%u", ms);
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
    (void)EXPECT(actual / step == 254, "the longest: %llu", (unsigned long long)actual);
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOut(5));
    (void)GIVES(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&ms));
    (void)EXPECT(ms >= 5000 && ms <= 5000 + step / 1000, "%u", ms);
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOutWithMs(100));
    (void)GIVES(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&ms));
    (void)EXPECT(ms >= 100 && ms <= 100 + step / 1000, "%u", ms);
    (void)GIVES(ACL_SUCCESS, aclrtSetOpWaitTimeout(10));
    (void)GIVES(ACL_SUCCESS, aclrtSetOpExecuteTimeOut(0));
    fixture_end();
}

static void test_options(void)
{
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    aclrtContext other = NULL;
    int64_t value = -1;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetDeviceSatMode(NULL));
    (void)GIVES(BAD, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
    (void)EXPECT(mode == ACL_RT_OVERFLOW_MODE_INFNAN, "%d by default", (int)mode);
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
    (void)EXPECT(mode == ACL_RT_OVERFLOW_MODE_SATURATION, "%d", (int)mode);
    (void)GIVES(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    (void)GIVES(PARAM, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
    (void)GIVES(PARAM, aclrtSetSysParamOpt((aclSysParamOpt)4, 1));
    (void)GIVES(PARAM, aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1));
    (void)GIVES(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    (void)GIVES(BAD, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4));
    (void)GIVES(BAD, aclrtSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 2));
    (void)GIVES(ACL_SUCCESS, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3));
    (void)GIVES(ACL_SUCCESS, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    (void)EXPECT(value == 3, "%lld", (long long)value);
    (void)GIVES(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    (void)GIVES(ACL_SUCCESS, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    (void)GIVES(ACL_SUCCESS, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    (void)EXPECT(value == 1, "%lld", (long long)value);
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&other, 0));
    (void)GIVES(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(other));
    fixture_end();
}

static const struct client_test tests[] = {
    {"figures", test_figures},
    {"what the software can do", test_what_software_can_do},
    {"names and numbers", test_names_and_numbers},
    {"peers", test_peers},
    {"limits", test_limits},
    {"times", test_times},
    {"options", test_options},
    {NULL, NULL},
};
const struct client_suite suite_device_info = {"device_info", tests};
