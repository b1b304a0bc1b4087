/* Memory of devices and page-locked memory of the host. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "managed.h"
#include "ranges.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLICY_PAGES_MAX ((uint32_t)ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
#define POLICY_FLAGS                                                                               \
    ((uint32_t)ACL_MEM_TYPE_LOW_BAND_WIDTH | (uint32_t)ACL_MEM_TYPE_HIGH_BAND_WIDTH |              \
     (uint32_t)ACL_MEM_ACCESS_USER_SPACE_READONLY)
#define HOST_ALIGN_BYTES 64u

/* ---- device memory ---- */

static aclError check_policy(aclrtMemMallocPolicy policy)
{
    if (((uint32_t)policy & ~POLICY_FLAGS) <= POLICY_PAGES_MAX)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "policy is %d: give an enumerator of aclrtMemMallocPolicy, such as "
                       "ACL_MEM_MALLOC_HUGE_FIRST (0)",
                       (int)policy);
}

static aclError check_config(const aclrtMallocConfig *cfg, const struct client_object *context)
{
    if (cfg == NULL)
        return ACL_SUCCESS;
    if (cfg->numAttrs > 0 && cfg->attrs == NULL)
        return client_fail_null("cfg->attrs");
    for (size_t i = 0; i < cfg->numAttrs; i++) {
        const aclrtMallocAttribute *attr = &cfg->attrs[i];
        bool is_known =
            (int)attr->attr >= ACL_RT_MEM_ATTR_RSV && (int)attr->attr <= ACL_RT_MEM_ATTR_VA_FLAG;
        if (!is_known)
            return client_fail(ACL_ERROR_INVALID_PARAM,
                               "cfg->attrs[%zu].attr is %d: settings are 0 to 3", i,
                               (int)attr->attr);
        if (attr->attr == ACL_RT_MEM_ATTR_DEVICE_ID && context != NULL &&
            attr->value.deviceId != context->device)
            return client_fail(
                ACL_ERROR_INVALID_PARAM,
                "cfg->attrs[%zu] names device %u and this thread works on device %u: "
                "call aclrtSetDevice first",
                i, attr->value.deviceId, context->device);
    }
    return ACL_SUCCESS;
}

static aclError malloc_device(void **ptr, size_t size, aclrtMemMallocPolicy policy,
                              const aclrtMallocConfig *cfg)
{
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (ptr == NULL)
        return client_fail_null("devPtr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    aclError error = check_policy(policy);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        error = check_config(cfg, &context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_MALLOC);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    soma_command_set(&command, SOMA_FIELD_size, size);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    struct client_range range = {.address = result.u.memory_block.ptr,
                                 .size_bytes = result.u.memory_block.size,
                                 .device = context.device};
    if (!client_ranges_add(&range)) {
        soma_command_init(&command, SOMA_OP_MEMORY_FREE);
        soma_command_set(&command, SOMA_FIELD_device, context.device);
        soma_command_set(&command, SOMA_FIELD_ptr, range.address);
        (void)!client_call(&command, NULL);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the books");
    }
    *ptr = (void *)(uintptr_t)range.address;
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    client_begin("aclrtMalloc");
    return malloc_device(devPtr, size, policy, NULL);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    client_begin("aclrtMallocAlign32");
    return malloc_device(devPtr, size, policy, NULL);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    client_begin("aclrtMallocCached");
    return malloc_device(devPtr, size, policy, NULL);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg)
{
    client_begin("aclrtMallocWithCfg");
    return malloc_device(devPtr, size, policy, cfg);
}

/* The device of an address that the books know, else the thread's: the service then says what is
 * wrong with the address. */
static aclError device_of(const void *ptr, uint32_t *device)
{
    struct client_range range;
    struct client_object context;
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    *device = client_ranges_find((uint64_t)(uintptr_t)ptr, &range) ? range.device : context.device;
    return ACL_SUCCESS;
}

static aclError free_device(void *ptr)
{
    struct soma_command command;
    uint32_t device = 0;
    struct client_range range;
    if (ptr == NULL)
        return client_fail_null("devPtr");
    aclError error = device_of(ptr, &device);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_FREE);
    soma_command_set(&command, SOMA_FIELD_device, device);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)ptr);
    error = client_call(&command, NULL);
    if (error == ACL_SUCCESS && client_managed_remove((uint64_t)(uintptr_t)ptr))
        return ACL_SUCCESS;
    if (error == ACL_SUCCESS && client_ranges_find((uint64_t)(uintptr_t)ptr, &range) &&
        !range.is_pool)
        (void)client_ranges_remove(device, range.address, NULL);
    return error;
}

static aclError synchronize(uint32_t device)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_DEVICE_SYNCHRONIZE);
    soma_command_set(&command, SOMA_FIELD_device, device);
    aclError error = client_call(&command, NULL);
    return error != ACL_SUCCESS ? error : client_stream_take_device_fault(device);
}

aclError aclrtFree(void *devPtr)
{
    client_begin("aclrtFree");
    return free_device(devPtr);
}

aclError aclrtFreeWithDevSync(void *devPtr)
{
    client_begin("aclrtFreeWithDevSync");
    uint32_t device = 0;
    if (devPtr == NULL)
        return client_fail_null("devPtr");
    aclError error = device_of(devPtr, &device);
    if (error == ACL_SUCCESS)
        error = synchronize(device);
    return error != ACL_SUCCESS ? error : free_device(devPtr);
}

static aclError describe(const void *ptr, struct soma_memory_description *description)
{
    struct soma_command command;
    struct soma_result result;
    uint32_t device = 0;
    aclError error = device_of(ptr, &device);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_DESCRIBE);
    soma_command_set(&command, SOMA_FIELD_device, device);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)ptr);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *description = result.u.memory_description;
    return error;
}

static aclError check_live(const char *call, void *ptr, size_t size)
{
    client_begin(call);
    struct soma_memory_description description;
    if (ptr == NULL)
        return client_fail_null("devPtr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    aclError error = describe(ptr, &description);
    if (error == ACL_SUCCESS && size > description.size - description.offset)
        error = client_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "%zu bytes at %p leave the block of %llu bytes that holds it", size,
                            ptr, (unsigned long long)description.size);
    return error;
}

aclError aclrtMemFlush(void *devPtr, size_t size)
{
    return check_live("aclrtMemFlush", devPtr, size);
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
    return check_live("aclrtMemInvalidate", devPtr, size);
}

/* ---- host memory ---- */

static aclError malloc_host(void **ptr, uint64_t size, const aclrtMallocConfig *cfg)
{
    struct client_object context;
    if (ptr == NULL)
        return client_fail_null("hostPtr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        error = check_config(cfg, NULL);
    if (error != ACL_SUCCESS)
        return error;
    struct client_range range = {.size_bytes = size, .device = CLIENT_HOST_RANGES};
    if (size > SIZE_MAX - HOST_ALIGN_BYTES ||
        posix_memalign(&range.owned, HOST_ALIGN_BYTES, (size_t)size) != 0)
        return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                           "the host has no %llu bytes: free some or ask for less",
                           (unsigned long long)size);
    range.address = (uint64_t)(uintptr_t)range.owned;
    if (!client_ranges_add(&range)) {
        free(range.owned);
        return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory for the books");
    }
    *ptr = range.owned;
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    client_begin("aclrtMallocHost");
    return malloc_host(hostPtr, size, NULL);
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    client_begin("aclrtMallocHostWithCfg");
    return malloc_host(ptr, size, cfg);
}

static aclError free_host(void *ptr)
{
    struct client_range range;
    if (ptr == NULL)
        return client_fail_null("hostPtr");
    bool is_ours = client_ranges_find_host((uint64_t)(uintptr_t)ptr, &range) && range.owned != NULL;
    if (!is_ours || !client_ranges_remove(CLIENT_HOST_RANGES, (uint64_t)(uintptr_t)ptr, &range))
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%p did not come from aclrtMallocHost, or was freed before", ptr);
    free(range.owned);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *hostPtr)
{
    client_begin("aclrtFreeHost");
    return free_host(hostPtr);
}

aclError aclrtFreeHostWithDevSync(void *hostPtr)
{
    client_begin("aclrtFreeHostWithDevSync");
    struct client_object context;
    if (hostPtr == NULL)
        return client_fail_null("hostPtr");
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        error = synchronize(context.device);
    return error != ACL_SUCCESS ? error : free_host(hostPtr);
}

/* ---- asking ---- */

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
    client_begin("aclrtGetMemInfo");
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (free == NULL || total == NULL)
        return client_fail_null(free == NULL ? "free" : "total");
    if ((int)attr < ACL_DDR_MEM || (int)attr > ACL_MEM_P2P_HUGE1G)
        return client_fail(ACL_ERROR_RT_INVALID_MEMORY_TYPE,
                           "attr is %d: kinds of memory are 0 to %d", (int)attr,
                           (int)ACL_MEM_P2P_HUGE1G);
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_INFO);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    *free = (size_t)result.u.memory_info.free_bytes;
    *total = (size_t)result.u.memory_info.total_bytes;
    return ACL_SUCCESS;
}

/* One component: this process, and whoever shares its session. Its peak is not counted. */
aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
                              size_t *outputNum)
{
    client_begin("aclrtGetMemUsageInfo");
    struct soma_command command;
    struct soma_result result;
    if (memUsageInfo == NULL || outputNum == NULL)
        return client_fail_null(memUsageInfo == NULL ? "memUsageInfo" : "outputNum");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_INFO);
    soma_command_set(&command, SOMA_FIELD_device, (uint64_t)deviceId);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    *outputNum = inputNum > 0 ? 1 : 0;
    if (inputNum == 0)
        return ACL_SUCCESS;
    uint64_t used = result.u.memory_info.total_bytes - result.u.memory_info.free_bytes;
    memset(memUsageInfo, 0, sizeof(*memUsageInfo));
    (void)snprintf(memUsageInfo->name, sizeof(memUsageInfo->name), "soma");
    memUsageInfo->curMemSize = used;
    memUsageInfo->memPeakSize = used;
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    client_begin("aclrtPointerGetAttributes");
    struct client_range range;
    if (ptr == NULL || attributes == NULL)
        return client_fail_null(ptr == NULL ? "ptr" : "attributes");
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    memset(attributes, 0, sizeof(*attributes));
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    if (client_managed_left(address) > 0) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_MANAGED;
        attributes->pageSize = (uint32_t)SOMA_GRANULE_BYTES;
    } else if (client_ranges_find_host(address, &range)) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
        attributes->pageSize = (uint32_t)SOMA_SMALL_PAGE_BYTES;
    } else if (client_ranges_find(address, &range)) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        attributes->location.id = range.device;
        attributes->pageSize = range.address >= SOMA_ADDRESS_SMALL_BASE
                                   ? (uint32_t)SOMA_SMALL_PAGE_BYTES
                                   : (uint32_t)SOMA_GRANULE_BYTES;
    }
    return ACL_SUCCESS;
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
    client_begin("aclrtMemGetAddressRange");
    struct client_range range;
    struct soma_memory_description description;
    if (ptr == NULL || (pbase == NULL && psize == NULL))
        return client_fail_null(ptr == NULL ? "ptr" : "pbase and psize");
    uint64_t base = 0, size = 0;
    if (client_ranges_find_host((uint64_t)(uintptr_t)ptr, &range)) {
        base = range.address;
        size = range.size_bytes;
    } else {
        aclError error = describe(ptr, &description);
        if (error != ACL_SUCCESS)
            return error;
        base = description.base;
        size = description.size;
    }
    if (pbase != NULL)
        *pbase = (void *)(uintptr_t)base;
    if (psize != NULL)
        *psize = (size_t)size;
    return ACL_SUCCESS;
}

aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult,
                           uint32_t reserve)
{
    client_begin("aclrtCheckMemType");
    const uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
    struct client_range range;
    if (addrList == NULL || checkResult == NULL)
        return client_fail_null(addrList == NULL ? "addrList" : "checkResult");
    if (size == 0 || reserve != 0 || memType == 0 || (memType & ~known) != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "size is %u (at least 1), memType 0x%x (bits of 0x%x), reserve %u (0)",
                           size, memType, known, reserve);
    uint32_t good = 1;
    for (uint32_t i = 0; i < size; i++) {
        bool is_device = client_ranges_find((uint64_t)(uintptr_t)addrList[i], &range);
        good = good != 0 && is_device && (memType & ACL_RT_MEM_TYPE_DEV) != 0 ? 1 : 0;
    }
    *checkResult = good;
    return ACL_SUCCESS;
}
