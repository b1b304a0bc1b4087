/* What a device is: figures of its SoC, names, numbers, and which devices reach each other. */
#include "acl_device_info.h"

#include "call.h"
#include "catalog.h"
#include "context.h"
#include "error.h"
#include "session.h"

#include "acl/acl.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define STREAM_PRIORITY_LEAST 7
#define STREAM_PRIORITY_GREATEST 0

aclError acl_soc(const struct soma_soc **soc)
{
    struct client_session *session = NULL;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    *soc = session->soc;
    client_session_release(session);
    const char *name = *soc == NULL ? client_soc_name() : NULL;
    if (name != NULL)
        *soc = soma_soc_find(name, strlen(name));
    return *soc != NULL ? ACL_SUCCESS
                        : client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                      "the server did not say which SoC it emulates, or this "
                                      "library does not know it: use the library of its release");
}

/* ---- figures ---- */

static aclError total_memory(uint32_t device, int64_t *value)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_MEMORY_INFO);
    soma_command_set(&command, SOMA_FIELD_device, device);
    aclError error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *value = (int64_t)result.u.memory_info.total_bytes;
    return error;
}

/* SoCs without separate cores have 0 cube cores in the table: their AI cores hold one each. */
static int64_t cube_cores(const struct soma_soc *soc)
{
    return soc->cube_cores != 0 ? soc->cube_cores : soc->ai_cores;
}

static aclError device_figure(const struct soma_soc *soc, uint32_t device, aclrtDevAttr attr,
                              int64_t *value)
{
    switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM: *value = soc->ai_cpus; return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM: *value = soc->ai_cores; return ACL_SUCCESS;
    case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = cube_cores(soc); return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = soc->vector_cores; return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: return total_memory(device, value);
    case ACL_DEV_ATTR_L2_CACHE_SIZE: *value = (int64_t)soc->l2_bytes; return ACL_SUCCESS;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID: *value = device; return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH: *value = soc->npu_arch; return ACL_SUCCESS;
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
        *value = ACL_DEVICE_FORM_FACTOR_PCIE_CARD;
        return ACL_SUCCESS;
    /* No emulated SoC runs threads on its vector cores: CANN answers 0 for such a chip. */
    case ACL_DEV_ATTR_WARP_SIZE:
    case ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_MAX_GRID_DIM_X:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Y:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Z:
    case ACL_DEV_ATTR_MAX_BLOCK_PER_GRID:
    case ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_X:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Y:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Z:
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
    case ACL_DEV_ATTR_HD_CONNECT_TYPE: /* ACL_HOST_DEVICE_CONNECT_TYPE_PCIE */
    case ACL_DEV_ATTR_IS_VIRTUAL: *value = 0; return ACL_SUCCESS;
    default:
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "attr is %d: give an enumerator of aclrtDevAttr", (int)attr);
    }
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    client_begin("aclrtGetDeviceInfo");
    const struct soma_soc *soc = NULL;
    if (value == NULL)
        return client_fail_null("value");
    aclError error = client_device_check(deviceId <= INT32_MAX ? (int32_t)deviceId : -1);
    if (error == ACL_SUCCESS)
        error = acl_soc(&soc);
    return error != ACL_SUCCESS ? error : device_figure(soc, deviceId, attr, value);
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                  int32_t *value)
{
    client_begin("aclrtGetDeviceCapability");
    if (value == NULL)
        return client_fail_null("value");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "devFeatureType is %d: features are 1 and 21", (int)devFeatureType);
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;
    return ACL_SUCCESS;
}

/* Time is virtual, so an emulated device is never busy while somebody asks. */
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)
{
    client_begin("aclrtGetDeviceUtilizationRate");
    if (utilizationInfo == NULL)
        return client_fail_null("utilizationInfo");
    if (utilizationInfo->utilizationExtend != NULL)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "utilizationInfo->utilizationExtend is reserved: set it to NULL");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    utilizationInfo->cubeUtilization = 0;
    utilizationInfo->vectorUtilization = 0;
    utilizationInfo->aicpuUtilization = 0;
    utilizationInfo->memoryUtilization = -1;
    return ACL_SUCCESS;
}

/* The same for a device of the same number in every session. */
aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid)
{
    client_begin("aclrtDeviceGetUuid");
    if (uuid == NULL)
        return client_fail_null("uuid");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    char text[sizeof(uuid->bytes) + 1];
    (void)snprintf(text, sizeof(text), "soma-device-%04x", (unsigned)deviceId & 0xffffu);
    memcpy(uuid->bytes, text, sizeof(uuid->bytes));
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    client_begin("aclrtDeviceGetStreamPriorityRange");
    if (leastPriority != NULL)
        *leastPriority = STREAM_PRIORITY_LEAST;
    if (greatestPriority != NULL)
        *greatestPriority = STREAM_PRIORITY_GREATEST;
    return ACL_SUCCESS;
}

static const struct soma_soc *soc_of_name(const char *name)
{
    return soma_soc_find(name, strlen(name));
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
    client_begin("aclrtCheckArchCompatibility");
    const struct soma_soc *soc = NULL;
    if (socVersion == NULL || canCompatible == NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL: give an address",
                           socVersion == NULL ? "socVersion" : "canCompatible");
    const struct soma_soc *wanted = soc_of_name(socVersion);
    if (wanted == NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "there is no SoC \"%.64s\": give a name such as Ascend910B1",
                           socVersion);
    aclError error = acl_soc(&soc);
    if (error == ACL_SUCCESS)
        *canCompatible = wanted->npu_arch == soc->npu_arch ? 1 : 0;
    return error;
}

/* ---- features ---- */

static bool has_feature(const struct soma_soc *soc, aclCannAttr attr)
{
    return attr == ACL_CANN_ATTR_JIT_COMPILE || soc->npu_arch == 2201;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    client_begin("aclGetCannAttribute");
    const struct soma_soc *soc = NULL;
    if (value == NULL)
        return client_fail_null("value");
    if ((int)cannAttr < ACL_CANN_ATTR_INF_NAN || (int)cannAttr > ACL_CANN_ATTR_JIT_COMPILE)
        return client_fail(ACL_ERROR_INVALID_PARAM, "cannAttr is %d: features are 0 to 2",
                           (int)cannAttr);
    aclError error = acl_soc(&soc);
    if (error == ACL_SUCCESS)
        *value = has_feature(soc, cannAttr) ? 1 : 0;
    return error;
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    client_begin("aclGetCannAttributeList");
    static const aclCannAttr features[] = {ACL_CANN_ATTR_JIT_COMPILE, ACL_CANN_ATTR_BF16,
                                           ACL_CANN_ATTR_INF_NAN};
    const struct soma_soc *soc = NULL;
    if (cannAttrList == NULL || num == NULL)
        return client_fail_null(cannAttrList == NULL ? "cannAttrList" : "num");
    aclError error = acl_soc(&soc);
    if (error != ACL_SUCCESS)
        return error;
    *cannAttrList = features;
    *num = has_feature(soc, ACL_CANN_ATTR_BF16) ? sizeof(features) / sizeof(features[0]) : 1;
    return ACL_SUCCESS;
}

/* ---- numbers: a session's devices are all numbered alike ---- */

static aclError same_number(const char *call, int32_t device, int32_t *number)
{
    client_begin(call);
    if (number == NULL)
        return client_fail_null("the place for the number");
    aclError error = client_device_check(device);
    if (error == ACL_SUCCESS)
        *number = device;
    return error;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    return same_number("aclrtGetLogicDevIdByUserDevId", userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    return same_number("aclrtGetUserDevIdByLogicDevId", logicDevId, userDevid);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    return same_number("aclrtGetUserDevIdByPhyDevId", phyDevId, userDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    return same_number("aclrtGetPhyDevIdByUserDevId", userDevId, phyDevId);
}

/* ---- other devices ---- */

/* Whether device i may reach device k. Copies between devices work either way. */
static atomic_bool peers[SOMA_DEVICES_MAX][SOMA_DEVICES_MAX];

void acl_peers_forget(uint32_t device)
{
    for (uint32_t i = 0; i < SOMA_DEVICES_MAX; i++)
        atomic_store(&peers[device][i], false);
}

static aclError check_peers(int32_t device, int32_t peer)
{
    if (device == peer)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "both devices are device %d: give two different ones", device);
    aclError error = client_device_check(device);
    return error != ACL_SUCCESS ? error : client_device_check(peer);
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    client_begin("aclrtDeviceCanAccessPeer");
    aclError error = check_peers(deviceId, peerDeviceId);
    if (error == ACL_SUCCESS && canAccessPeer == NULL)
        error = client_fail(ACL_ERROR_RT_PARAM_INVALID, "canAccessPeer is NULL: give an address");
    if (error == ACL_SUCCESS)
        *canAccessPeer = 1;
    return error;
}

static aclError set_peer(int32_t peer, bool is_open)
{
    struct client_object context;
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        error = check_peers((int32_t)context.device, peer);
    if (error == ACL_SUCCESS)
        atomic_store(&peers[context.device][peer], is_open);
    return error;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    client_begin("aclrtDeviceEnablePeerAccess");
    if (flags != 0)
        return client_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "flags is %u: it is reserved, give 0",
                           flags);
    return set_peer(peerDeviceId, true);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    client_begin("aclrtDeviceDisablePeerAccess");
    return set_peer(peerDeviceId, false);
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    client_begin("aclrtDevicePeerAccessStatus");
    if (status == NULL)
        return client_fail_null("status");
    aclError error = check_peers(deviceId, peerDeviceId);
    if (error == ACL_SUCCESS)
        *status = atomic_load(&peers[deviceId][peerDeviceId]) ? 1 : 0;
    return error;
}
