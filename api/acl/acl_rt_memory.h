/* Memory of devices and page-locked memory of the host: getting and giving back, registering
 * memory of the program, and asking what an address is. Pools are in acl_rt_memory_soma.h,
 * address ranges that are mapped by hand in acl_rt_memory_map.h.
 *
 * Device addresses are numbers of the emulated device: the program hands them on and calculates
 * with them, and copies to reach what is behind; reading through one is a fault, as on a device. */
#ifndef SOMA_ACL_RT_MEMORY_H
#define SOMA_ACL_RT_MEMORY_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Device memory ---- */

/* Kinds of pages to take; accepted and of no effect here. */
typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 256,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 4096,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 1048576
} aclrtMemMallocPolicy;

/* Settings of an allocation. */
typedef enum aclrtMallocAttrType {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1,
    ACL_RT_MEM_ATTR_DEVICE_ID = 2,
    ACL_RT_MEM_ATTR_VA_FLAG = 3
} aclrtMallocAttrType;

/* Value of such a setting. */
typedef union aclrtMallocAttrValue {
    uint16_t moduleId;
    uint32_t deviceId;
    uint32_t vaFlag;
    uint8_t rsv[8];
} aclrtMallocAttrValue;

/* One setting. */
typedef struct aclrtMallocAttribute {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/* Settings of an allocation. */
typedef struct aclrtMallocConfig {
    aclrtMallocAttribute *attrs; /* array of numAttrs */
    size_t numAttrs;
} aclrtMallocConfig;

/* Take memory of the thread's device; the contents are not defined. Does not wait for any
 * stream.
 *   devPtr  out: device address, for aclrtFree; aligned to 2 MiB if size is over 1 MiB, else to
 *           4 KiB
 *   size    bytes, at least 1; rounded up to 32
 *   policy  one of the enumerators; of no effect
 * Errors: 107002 no context; 100000 size 0, or one that overflows; 207001 the device has not
 * that much free memory, the text says how much it has. */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/* The same as aclrtMalloc here.
 * Errors: as aclrtMalloc. */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy);

/* The same as aclrtMalloc here: the host sees no caches of a device.
 * Errors: as aclrtMalloc. */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void **devPtr, size_t size,
                                               aclrtMemMallocPolicy policy);

/* As aclrtMalloc, with settings.
 *   cfg  NULL for none; ACL_RT_MEM_ATTR_DEVICE_ID must name the thread's device
 * Errors: as aclrtMalloc; 100000 another device or an unknown setting. */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig *cfg);

/* Take memory that the task scheduler can use. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size,
                                                         aclrtMemMallocPolicy policy,
                                                         aclrtMallocConfig *cfg);

/* Give memory back at once, without waiting for work that uses it. Also takes an address of a
 * pool, which leaves the pool's used and reserved bytes at once.
 *   devPtr  start of a live allocation
 * Errors: 100000 NULL; 107002 no context; 107000 not the start of a live allocation. */
ACL_FUNC_VISIBILITY aclError aclrtFree(void *devPtr);

/* Wait for all work of the device, then aclrtFree.
 * Errors: as aclrtFree; the error of a task that failed. */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void *devPtr);

/* Checks its arguments and does nothing else: the host sees no caches of a device.
 *   size  bytes, at least 1
 * Errors: 100000 size 0; 107000 not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void *devPtr, size_t size);

/* Checks its arguments and does nothing else: the host sees no caches of a device.
 *   size  bytes, at least 1
 * Errors: 100000 size 0; 107000 not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void *devPtr, size_t size);

/* ---- Host memory ---- */

/* Take page-locked memory of the host: asynchronous copies with it are really asynchronous.
 *   hostPtr  out: aligned to 64 bytes, for aclrtFreeHost
 *   size     bytes, at least 1
 * Errors: 100000 size 0; 107002 no context; 207001 the host has no memory. */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **hostPtr, size_t size);

/* As aclrtMallocHost, with settings.
 *   cfg  NULL for none
 * Errors: as aclrtMallocHost; 100000 an unknown setting. */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size,
                                                    aclrtMallocConfig *cfg);

/* Give back what aclrtMallocHost took, at once; no queued work may still use it.
 * Errors: 100000 NULL; 107000 not from aclrtMallocHost, or freed before. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *hostPtr);

/* Wait for all work of the thread's device, then aclrtFreeHost.
 * Errors: as aclrtFreeHost; the error of a task that failed. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void *hostPtr);

/* How to register memory. */
typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8
} aclrtHostRegisterType;

/* Flags of aclrtHostRegisterV2: bits. */
#define ACL_HOST_REG_MAPPED 0x2UL
#define ACL_HOST_REG_IOMEMORY 0x4UL
#define ACL_HOST_REG_READONLY 0x8UL
#define ACL_HOST_REG_PINNED 0x10000000UL

/* Units of a device that reach memory. */
typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9
} aclrtHacType;

/* Whether they reach memory of the host. */
typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1
} aclrtHostMemMapCapability;

/* Register memory of the program as page-locked. Its device address is ptr itself: copies and fills
 * reach it there, and kernels that get it as an argument: the range goes to the service with the
 * launch, and what the kernel changed comes back before the launch returns.
 *   devPtr  out
 * Errors: 100000 NULL, size 0; 107002; 207000 unknown type; 507910 some of it is registered; 107000
 * device memory, or more than a block of aclrtMallocHost. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
                                               void **devPtr);

/* As aclrtHostRegister, as flag says: ACL_HOST_REG_PINNED alone gives no device address.
 * Errors: as aclrtHostRegister; 107000 no flag, or unknown ones. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);

/* Device address of memory that is registered for devices, or of aclrtMallocHost.
 *   flag  0
 * Errors: 100000 NULL, or flag is not 0; 107002; 107000 not registered for devices. */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag);

/* Undo registering; ptr is the address that was registered.
 * Errors: 107002; 507911 not registered. */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void *ptr);

/* Whether a unit reaches registered memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                                         aclrtHostMemMapCapability *capabilities);

/* ---- Asking ---- */

/* What an address is. */
typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize; /* bytes; 0 for memory that ACL does not know */
    uint32_t rsv[4];
} aclrtPtrAttributes;

/* Memory that a component uses. */
typedef struct aclrtMemUsageInfo {
    char name[32];
    uint64_t curMemSize;  /* bytes */
    uint64_t memPeakSize; /* bytes */
    size_t reserved[8];
} aclrtMemUsageInfo;

/* Kinds of device memory, for aclrtCheckMemType: bits. */
#define ACL_RT_MEM_TYPE_DEV 0x2U /* of aclrtMalloc and pools */
#define ACL_RT_MEM_TYPE_DVPP 0x8U
#define ACL_RT_MEM_TYPE_RSVD 0x10U /* of aclrtReserveMemAddress */

/* Memory of the thread's device: free + set aside for pools + mapped by pools that grow +
 * allocated is always total.
 *   attr   the kind; all kinds are the same memory here
 *   free   out: bytes
 *   total  out: bytes
 * Errors: 107002 no context. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

/* Memory that each component uses: at most inputNum of them, *outputNum says how many. Here all is
 * one component, "soma"; its peak is not counted and equals what it uses.
 * Errors: 107001 no such device. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo,
                                                  size_t inputNum, size_t *outputNum);

/* Where an address lies: on which device, in page-locked or registered memory of the host, or in
 * ordinary memory (ACL_MEM_LOCATION_TYPE_UNREGISTERED).
 *   attributes  out: the whole struct is written
 * Errors: 100000 NULL. */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void *ptr,
                                                       aclrtPtrAttributes *attributes);

/* Start and size of the allocation in which an address lies: device, pool, page-locked or mapped
 * memory.
 *   pbase  out: its start; may be NULL if psize is not
 *   psize  out: its bytes; may be NULL if pbase is not
 * Errors: 107000 not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize);

/* Whether all addresses are device memory of the kinds in memType.
 *   addrList     array of size addresses
 *   memType      ACL_RT_MEM_TYPE_DEV and the like, combined with |
 *   checkResult  out: 1 or 0
 *   reserve      0
 * Errors: 100000 size 0, reserve not 0, or unknown kinds. */
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType,
                                               uint32_t *checkResult, uint32_t reserve);

/* ---- Managed memory ---- */

/* Flag of aclrtMemAllocManaged. */
#define ACL_RT_MEM_ATTACH_GLOBAL 0x01U

/* Advice on how managed memory is used. */
typedef enum aclrtMemManagedAdviseType {
    ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
    ACL_MEM_ADVISE_UNSET_READ_MOSTLY = 1,
    ACL_MEM_ADVISE_SET_PREFERRED_LOCATION = 2,
    ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 3,
    ACL_MEM_ADVISE_SET_ACCESSED_BY = 4,
    ACL_MEM_ADVISE_UNSET_ACCESSED_BY = 5
} aclrtMemManagedAdviseType;

/* Where managed memory is. */
typedef enum aclrtMemManagedLocationType {
    ACL_MEM_LOCATIONTYPE_INVALID = 0,
    ACL_MEM_LOCATIONTYPE_DEVICE = 1,
    ACL_MEM_LOCATIONTYPE_HOST = 2,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4
} aclrtMemManagedLocationType;

/* What can be asked of managed memory. */
typedef enum aclrtMemManagedRangeAttribute {
    ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 4,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 5,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 6,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} aclrtMemManagedRangeAttribute;

/* A place. */
typedef struct aclrtMemManagedLocation {
    aclrtMemManagedLocationType type;
    int32_t id; /* device or NUMA node */
} aclrtMemManagedLocation;

/* Take memory that host and devices reach by one address; size is rounded up to 2 MiB, flag is
 * ACL_RT_MEM_ATTACH_GLOBAL. What the host has written is there for kernels that are launched after
 * it, and what they write is there for the host when it has waited for them. For aclrtFree.
 * 100000 NULL, another flag; 107000 size 0; 107002; 207000 the SoC has none; 207001. */
ACL_FUNC_VISIBILITY aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag);

/* Advise how managed memory is used. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedAdvise(const void *const ptr, uint64_t size,
                                                   aclrtMemManagedAdviseType advise,
                                                   aclrtMemManagedLocation location);

/* Read one attribute of managed memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute,
                                                    const void *ptr, size_t size, void *data,
                                                    size_t dataSize);

/* Read several attributes of managed memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes,
                                                     size_t numAttributes, const void *ptr,
                                                     size_t size, void **data, size_t *dataSizes);

/* Queue moving managed memory to a place. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size,
                                                          aclrtMemManagedLocation location,
                                                          uint32_t flags, aclrtStream stream);

/* Queue moving several pieces of managed memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchBatchAsync(
    const void **ptrs, size_t *sizes, size_t count, aclrtMemManagedLocation *prefetchLocs,
    size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
