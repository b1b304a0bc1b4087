/* Memory pools whose allocations and frees are ordered with the work of streams (SOMA).
 *
 * A pool is one range of device addresses. Its memory is free (nothing behind it), cached
 * (freed, still mapped) or busy (allocated). Used bytes are the busy ones, reserved bytes the
 * busy and cached ones. A free makes a block cached and orders it by the stream that freed it;
 * synchronising releases cached blocks above the pool's threshold. An allocation takes a cached
 * block that its stream may use, else free memory. All sizes are rounded up to 2 MiB. */
#ifndef SOMA_ACL_RT_MEMORY_SOMA_H
#define SOMA_ACL_RT_MEMORY_SOMA_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool; ended by aclrtMemPoolDestroy, or with its device. */
typedef void *aclrtMemPool;

/* Attributes of a pool: 1 to 3 are uint32_t, 4 to 8 are uint64_t. */
typedef enum aclrtMemPoolAttr {
    ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,   /* after a wait for the free: 0 or 1 */
    ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,         /* frees that are done: 0 or 1 */
    ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /* any, adding a wait: 0 or 1 */
    ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,            /* bytes kept at synchronisation */
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,         /* bytes; read-only */
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,            /* bytes, the most so far */
    ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,             /* bytes; read-only */
    ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8                 /* bytes, the most so far */
} aclrtMemPoolAttr;

/* What pool to make. */
typedef struct aclrtMemPoolProps {
    aclrtMemAllocationType allocType; /* ACL_MEM_ALLOCATION_TYPE_PINNED */
    aclrtMemHandleType handleType;    /* NONE or POSIX */
    aclrtMemLocation location;        /* ACL_MEM_LOCATION_TYPE_DEVICE and a device */
    size_t maxSize;                   /* bytes; 0: all of the device, taken as the pool grows */
    unsigned char reserved[32];       /* all 0 */
} aclrtMemPoolProps;

/* Make a pool. An explicit maxSize is set aside on the device at once; pages come as they are
 * used.
 *   memPool    out
 *   poolProps  copied; maxSize is rounded up to 2 MiB
 * Errors: 100000 wrong kinds, or reserved bytes not 0; 107001 no such device; 107000 maxSize is
 * over the device's memory; 507000 the device has not that much free. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolCreate(aclrtMemPool *memPool,
                                                const aclrtMemPoolProps *poolProps);

/* End a pool and all that is allocated from it.
 * Errors: 100000 NULL; 507000 destroyed before or made up. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);

/* Set an attribute. The reuse attributes: 0 is off, as pools are made, all else is on.
 *   value  reads 4 bytes for attributes 1 to 3, 8 bytes for 4 to 8
 * Errors: 107000 NULL value, a destroyed pool, or a read-only attribute; 507000 an unknown
 * attribute, a threshold over maxSize, or a high-water mark set to other than 0, which sets it
 * to the current value. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr,
                                                 void *value);

/* Read an attribute, as it is after all that was called before.
 *   value  out: writes 4 bytes for attributes 1 to 3, 8 bytes for 4 to 8
 * Errors: 107000 NULL value or a destroyed pool; 507000 an unknown attribute. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr,
                                                 void *value);

/* Take memory for work that is queued on the stream after this call.
 *   ptr     out: device address aligned to 2 MiB, for aclrtMemPoolFreeAsync; not written when
 *           size is 0
 *   size    bytes; 0 is a success that allocates nothing
 *   stream  not NULL
 * Reuse: same stream; then, where the attributes allow it, frees that the stream waited for,
 * frees that are done, any free; then new memory. New memory reads as 0, reused memory keeps its
 * contents.
 * Errors: 100000 NULL; 507000 the pool is full (the text says by what, and the next step), or
 * destroyed; 107000 the size overflows; 107017, 107003 the stream. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool,
                                                     aclrtStream stream);

/* Give memory back, ordered after all work queued on the stream so far. Used bytes fall at the
 * call, reserved bytes at the next release. An address of aclrtMalloc is freed when the stream
 * gets there.
 *   ptr     start of an allocation
 *   stream  not NULL
 * Errors: 100000 NULL ptr; 507000 NULL stream; 107000 not the start of a live allocation, and
 * nothing changes; 107017, 107003 the stream. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream);

/* Release cached memory now, whatever the threshold, until at most minBytesToKeep stay reserved,
 * or nothing is cached. Busy memory is never touched.
 *   minBytesToKeep  bytes; rounded up to 2 MiB
 * Errors: 507000 more than maxSize, or a destroyed pool. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif
