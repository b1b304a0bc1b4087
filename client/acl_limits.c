/* Limits and settings of devices, of kernels' times, and of the process. They can be set and read
 * back; none changes what an emulated device computes. */
#include "acl_attach.h"
#include "acl_device_info.h"
#include "acl_limits.h"
#include "call.h"
#include "context.h"
#include "error.h"

#include "acl/acl.h"

#include <stdatomic.h>
#include <stdio.h>

/* ---- cores ---- */

#define LIMIT_KINDS 2u

static atomic_uint limits[SOMA_DEVICES_MAX][LIMIT_KINDS]; /* limit + 1; 0: not limited */

void acl_limits_forget(uint32_t device)
{
    for (unsigned kind = 0; kind < LIMIT_KINDS; kind++)
        atomic_store(&limits[device][kind], 0);
}

static aclError check_limit(aclrtDevResLimitType type, uint32_t *most)
{
    const struct soma_soc *soc = NULL;
    if ((unsigned)type >= LIMIT_KINDS)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "type is %d: give ACL_RT_DEV_RES_CUBE_CORE (0) or "
                           "ACL_RT_DEV_RES_VECTOR_CORE (1)",
                           (int)type);
    aclError error = acl_soc(&soc);
    if (error != ACL_SUCCESS)
        return error;
    uint32_t cubes = soc->cube_cores != 0 ? soc->cube_cores : soc->ai_cores;
    *most = type == ACL_RT_DEV_RES_CUBE_CORE ? cubes : soc->vector_cores;
    return ACL_SUCCESS;
}

static aclError check_set(int32_t device)
{
    aclError error = client_device_check(device);
    if (error != ACL_SUCCESS || client_device_is_set((uint32_t)device))
        return error;
    return client_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                       "device %d is not in use: call aclrtSetDevice first", device);
}

static uint32_t limit_of(uint32_t device, aclrtDevResLimitType type, uint32_t most)
{
    unsigned set = atomic_load(&limits[device][type]);
    return set == 0 ? most : set - 1;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    client_begin("aclrtGetDeviceResLimit");
    uint32_t most = 0;
    if (value == NULL)
        return client_fail_null("value");
    aclError error = check_limit(type, &most);
    if (error == ACL_SUCCESS)
        error = check_set(deviceId);
    if (error == ACL_SUCCESS)
        *value = limit_of((uint32_t)deviceId, type, most);
    return error;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
    client_begin("aclrtSetDeviceResLimit");
    uint32_t most = 0;
    aclError error = check_limit(type, &most);
    if (error == ACL_SUCCESS)
        error = check_set(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    if (value > most)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "value is %u and the device has %u cores",
                           value, most);
    atomic_store(&limits[deviceId][type], value + 1);
    return ACL_SUCCESS;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId)
{
    client_begin("aclrtResetDeviceResLimit");
    aclError error = check_set(deviceId);
    if (error == ACL_SUCCESS)
        acl_limits_forget((uint32_t)deviceId);
    return error;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    client_begin("aclrtGetResInCurrentThread");
    struct client_object context;
    uint32_t most = 0;
    if (value == NULL)
        return client_fail_null("value");
    aclError error = check_limit(type, &most);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        *value = limit_of(context.device, type, most);
    return error;
}

/* ---- times of kernels: kept in microseconds, and never over ---- */

#define TIME_STEP_NS UINT64_C(4294967296) /* as Atlas A2 counts them */
#define TIME_STEPS_MAX UINT64_C(254)
#define TIME_MAX_US (TIME_STEPS_MAX * TIME_STEP_NS / 1000u)
#define TIME_MS_MAX UINT32_C(1000000)

static _Atomic uint64_t execute_time; /* microseconds + 1; 0: not set */

static void set_execute_time(uint64_t microseconds)
{
    atomic_store(&execute_time, microseconds + 1);
}

/* What is in force for a time that was asked for: whole steps; 0 is the longest. */
static uint64_t effective(uint64_t microseconds)
{
    if (microseconds == 0 || microseconds > TIME_MAX_US)
        return TIME_MAX_US;
    uint64_t steps = (microseconds * 1000u + TIME_STEP_NS - 1) / TIME_STEP_NS;
    return steps * TIME_STEP_NS / 1000u;
}

static atomic_uint op_wait_timeout; /* seconds; 0: none */

uint32_t acl_op_wait_timeout(void)
{
    return atomic_load(&op_wait_timeout);
}

void acl_op_wait_timeout_forget(void)
{
    atomic_store(&op_wait_timeout, 0);
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    client_begin("aclrtSetOpWaitTimeout");
    atomic_store(&op_wait_timeout, timeout);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    client_begin("aclrtSetOpExecuteTimeOut");
    set_execute_time((uint64_t)timeout * 1000000u);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    client_begin("aclrtSetOpExecuteTimeOutWithMs");
    set_execute_time((uint64_t)(timeout > TIME_MS_MAX ? TIME_MS_MAX : timeout) * 1000u);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    client_begin("aclrtSetOpExecuteTimeOutV2");
    struct client_object context;
    if (actualTimeout == NULL)
        return client_fail_null("actualTimeout");
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    set_execute_time(timeout < UINT64_MAX ? timeout : UINT64_MAX - 1);
    *actualTimeout = effective(timeout);
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    client_begin("aclrtGetOpExecuteTimeout");
    if (timeoutMs == NULL)
        return client_fail_null("timeoutMs");
    uint64_t set = atomic_load(&execute_time);
    uint64_t time_us = set == 0 ? TIME_MAX_US : effective(set - 1);
    *timeoutMs = (uint32_t)((time_us + 999u) / 1000u);
    return ACL_SUCCESS;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
    client_begin("aclrtGetOpTimeOutInterval");
    struct client_object context;
    if (interval == NULL)
        return client_fail_null("interval");
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        *interval = TIME_STEP_NS / 1000u;
    return error;
}

/* ---- number overflow ---- */

static _Atomic int sat_mode = ACL_RT_OVERFLOW_MODE_INFNAN;

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    client_begin("aclrtSetDeviceSatMode");
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "mode is %d: give ACL_RT_OVERFLOW_MODE_SATURATION (0) or "
                           "ACL_RT_OVERFLOW_MODE_INFNAN (1)",
                           (int)mode);
    atomic_store(&sat_mode, (int)mode);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    client_begin("aclrtGetDeviceSatMode");
    if (mode == NULL)
        return client_fail_null("mode");
    *mode = (aclrtFloatOverflowMode)atomic_load(&sat_mode);
    return ACL_SUCCESS;
}

/* ---- options of the process and of contexts ---- */

#define DETERMINISTIC_MAX 3
#define SWITCH_MAX 1

static aclError check_option(aclSysParamOpt opt, bool is_of_context)
{
    int most = is_of_context ? ACL_OPT_STRONG_CONSISTENCY : ACL_OPT_ENABLE_KERNEL_EARLY_START;
    if ((int)opt >= 0 && (int)opt <= most)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_INVALID_PARAM, "opt is %d: settings are 0 to %d", (int)opt, most);
}

static aclError set_option(const void *owner, aclSysParamOpt opt, int64_t value)
{
    int most = opt == ACL_OPT_DETERMINISTIC ? DETERMINISTIC_MAX : SWITCH_MAX;
    if (value < 0 || value > most)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "value is %lld: give 0 to %d",
                           (long long)value, most);
    return acl_attach(owner, ACL_SETTING_SYSTEM_OPTION + (unsigned)opt, (uint64_t)value);
}

static aclError get_option(const void *owner, aclSysParamOpt opt, int64_t *value)
{
    uint64_t set = 0;
    if (!acl_attached(owner, ACL_SETTING_SYSTEM_OPTION + (unsigned)opt, &set))
        return client_fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "setting %d was never set", (int)opt);
    *value = (int64_t)set;
    return ACL_SUCCESS;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    client_begin("aclrtSetSysParamOpt");
    aclError error = check_option(opt, false);
    return error != ACL_SUCCESS ? error : set_option(NULL, opt, value);
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    client_begin("aclrtGetSysParamOpt");
    if (value == NULL)
        return client_fail_null("value");
    aclError error = check_option(opt, false);
    return error != ACL_SUCCESS ? error : get_option(NULL, opt, value);
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    client_begin("aclrtCtxSetSysParamOpt");
    struct client_object context;
    aclError error = check_option(opt, true);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    return error != ACL_SUCCESS ? error : set_option(context.handle, opt, value);
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    client_begin("aclrtCtxGetSysParamOpt");
    struct client_object context;
    if (value == NULL)
        return client_fail_null("value");
    aclError error = check_option(opt, true);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    return error != ACL_SUCCESS ? error : get_option(context.handle, opt, value);
}
