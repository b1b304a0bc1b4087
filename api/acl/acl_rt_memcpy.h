/* Copies, fills, and work that the device does on memory by itself: reduction, random numbers,
 * cache operations.
 *
 * Addresses tell where memory lies, so kind is checked for being an enumerator and otherwise of
 * no effect. What is queued with ordinary memory of the host is done when the call returns; with
 * memory of aclrtMallocHost or registered memory it is asynchronous, and the memory must stay
 * until the stream got there. */
#ifndef SOMA_ACL_RT_MEMCPY_H
#define SOMA_ACL_RT_MEMCPY_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Copies ---- */

/* Direction of a copy. */
typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4, /* as the addresses say */
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

/* Copy at once, without waiting for any stream: work that is queued and not done may see either
 * contents. Overlapping ranges are copied as memmove does.
 *   destMax  bytes at dst, at least count
 *   count    bytes; 0: nothing is done or checked
 * Errors: 107002 no context; 100000 NULL or a bad kind; 107000 count is over destMax, or a
 * range is not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                                         aclrtMemcpyKind kind);

/* Queue a copy; see above for memory of the host.
 *   destMax  bytes at dst, at least count
 *   count    bytes; 0: nothing is done or checked
 * Errors: 107002, 107003, 107017; 100000 NULL or a bad kind; 107000 count is over destMax, or
 * a range is not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/* Copy a matrix between host and device, or on a device, at once: height rows of width bytes.
 *   dpitch, spitch  bytes from one row to the next, at least width
 * Errors: as aclrtMemcpy; 100000 a pitch below width. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/* Queue what aclrtMemcpy2d does.
 *   dpitch, spitch  bytes from one row to the next, at least width
 * Errors: as aclrtMemcpyAsync; 100000 a pitch below width. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src,
                                                size_t spitch, size_t width, size_t height,
                                                aclrtMemcpyKind kind, aclrtStream stream);

/* Old form of aclrtMemcpyAsync. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax,
                                                           const void *src, size_t count,
                                                           aclrtMemcpyKind kind,
                                                           aclrtStream stream);

/* Queue a copy whose addresses stand in device memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax,
                                                        size_t dstDataOffset, const void **src,
                                                        size_t count, size_t srcDataOffset,
                                                        aclrtMemcpyKind kind, aclrtStream stream);

/* Bytes of a copy description. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize);

/* Write a copy description. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr,
                                                void *dstAddr, size_t count, void *config);

/* Queue the copy that a description holds. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind,
                                                      aclrtStream stream);

/* Let another device reach memory. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId,
                                            uint64_t flags);

/* ---- Many copies in one call ---- */

/* Where the two sides of copies lie. */
typedef struct aclrtMemcpyBatchAttr {
    aclrtMemLocation dstLoc;
    aclrtMemLocation srcLoc;
    uint8_t rsv[16]; /* 0 */
} aclrtMemcpyBatchAttr;

/* Make numBatches copies between host and devices; copies of 0 bytes are skipped. attrs[k] holds
 * from copy attrsIndexes[k] on; the first index is 0, and they rise. failIndex  out: the copy that
 * failed, those before it are done; SIZE_MAX if none did. Written whenever the arguments before it
 * are good Errors: 100000 NULL, numBatches 0, a size over its destMax, rsv not 0; 107000 bad
 * indexes, or locations other than host and device; as aclrtMemcpy. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs,
                                              size_t *sizes, size_t numBatches,
                                              aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                              size_t numAttrs, size_t *failIndex);

/* Queue what aclrtMemcpyBatch does.
 * Errors: as aclrtMemcpyBatch and aclrtMemcpyAsync. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs,
                                                   size_t *sizes, size_t numBatches,
                                                   aclrtMemcpyBatchAttr *attrs,
                                                   size_t *attrsIndexes, size_t numAttrs,
                                                   size_t *failIndex, aclrtStream stream);

/* As aclrtMemcpyBatch, without failIndex. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs,
                                                size_t *sizes, size_t numBatches,
                                                aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                                size_t numAttrs);

/* As aclrtMemcpyBatchAsync, without failIndex. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs,
                                                     size_t *sizes, size_t numBatches,
                                                     aclrtMemcpyBatchAttr *attrs,
                                                     size_t *attrsIndexes, size_t numAttrs,
                                                     aclrtStream stream);

/* ---- Fills ---- */

/* Set bytes of device or host memory at once, without waiting for any stream.
 *   maxCount  bytes at devPtr, at least count
 *   value     the byte: the low 8 bits
 *   count     bytes; 0: nothing is done or checked
 * Errors: 107002 no context; 100000 NULL; 107000 count is over maxCount, or not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value,
                                         size_t count);

/* Queue what aclrtMemset does.
 * Errors: 107002, 107003, 107017; 100000 and 107000 as aclrtMemset. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

/* Set 32-bit words of device or host memory at once.
 *   ptr      a multiple of 4
 *   memSize  bytes at ptr, at least 4 N
 *   N        words; 0: nothing is done or checked
 * Errors: 107002 no context; 100000 NULL, ptr is not a multiple of 4, or 4 N is over memSize;
 * 107000 not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N);

/* Queue what aclrtMemsetD32 does.
 * Errors: 107002, 107003, 107017; 107000 and 100000 as aclrtMemsetD32. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value,
                                                 size_t N, aclrtStream stream);

/* ---- Variables of kernels ---- */

/* Device address of a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr);

/* Size of a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolSize(const void *symbol, size_t *size);

/* Copy from a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol,
                                                   size_t count, size_t offset,
                                                   aclrtMemcpyKind kind);

/* Queue a copy from a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax,
                                                        const void *symbol, size_t count,
                                                        size_t offset, aclrtMemcpyKind kind,
                                                        aclrtStream stream);

/* Copy to a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                                                 size_t offset, aclrtMemcpyKind kind);

/* Queue a copy to a variable. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src,
                                                      size_t count, size_t offset,
                                                      aclrtMemcpyKind kind, aclrtStream stream);

/* ---- Reduction and random numbers ---- */

/* What to do with each pair of elements. */
typedef enum aclrtReduceKind {
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13
} aclrtReduceKind;

/* Queue combining count bytes of elements at src into those at dst; reserve is NULL. Types depend
 * on the SoC; on Ascend910B: ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16.
 * 100000 NULL, another type; 107000 count 0 or no multiple of the element, a kind that is none,
 * SUM of more than 4 GiB, an address that is not aligned or not live memory of the stream's device;
 * 207000 the SoC cannot do it; as for every task on a stream. */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count,
                                              aclrtReduceKind kind, aclDataType type,
                                              aclrtStream stream, void *reserve);

/* How random numbers are spread. */
typedef enum aclrtRandomNumFuncType {
    ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS = 1,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS = 2,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS = 3
} aclrtRandomNumFuncType;

/* A parameter: itself, or the device address where it stands. */
typedef struct aclrtRandomParaInfo {
    uint8_t isAddr;         /* 1: valueOrAddr is an address */
    uint8_t valueOrAddr[8]; /* in the host order of bytes */
    uint8_t size;           /* bytes of the parameter */
    uint8_t rsv[6];         /* 0 */
} aclrtRandomParaInfo;

/* Parameters of a dropout mask. */
typedef struct aclrtDropoutBitmaskInfo {
    aclrtRandomParaInfo dropoutRation; /* the rate that is dropped */
} aclrtDropoutBitmaskInfo;

/* Parameters of the uniform distribution. */
typedef struct aclrtUniformDisInfo {
    aclrtRandomParaInfo min;
    aclrtRandomParaInfo max;
} aclrtUniformDisInfo;

/* Parameters of the normal and the truncated normal distribution. */
typedef struct aclrtNormalDisInfo {
    aclrtRandomParaInfo mean;
    aclrtRandomParaInfo stddev;
} aclrtNormalDisInfo;

/* How random numbers are spread. */
typedef struct aclrtRandomNumFuncParaInfo {
    aclrtRandomNumFuncType funcType;
    union {
        aclrtDropoutBitmaskInfo dropoutBitmaskInfo;
        aclrtUniformDisInfo uniformDisInfo;
        aclrtNormalDisInfo normalDisInfo;
    } paramInfo;
} aclrtRandomNumFuncParaInfo;

/* What to make. */
typedef struct aclrtRandomNumTaskInfo {
    aclDataType dataType;
    aclrtRandomNumFuncParaInfo randomNumFuncParaInfo;
    void *randomParaAddr;    /* NULL, or 16 bytes of device memory for the parameters */
    void *randomResultAddr;  /* device memory for the numbers */
    void *randomCounterAddr; /* 16 bytes of device memory: where the sequence stands */
    aclrtRandomParaInfo randomSeed;
    aclrtRandomParaInfo randomNum; /* how many */
    uint8_t rsv[8];                /* 0 */
} aclrtRandomNumTaskInfo;

/* Queue making random numbers, and moving the counter on; reserve is NULL. The same seed and
 * counter give the same numbers. A mask takes one bit for each of randomNum, 1 means kept. 100000
 * NULL, another type; 107000 a type or parameters that do not fit the distribution, memory that is
 * not live; 207000 the SoC has no generator; as for every task on a stream. */
ACL_FUNC_VISIBILITY aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo,
                                                 const aclrtStream stream, void *reserve);

/* ---- Cache operations ---- */

/* Operations that one barrier waits for at most. */
#define ACL_RT_CMO_MAX_BARRIER_NUM 6U

/* Cache operations. */
typedef enum aclrtCmoType {
    ACL_RT_CMO_TYPE_PREFETCH = 0,
    ACL_RT_CMO_TYPE_WRITEBACK = 1,
    ACL_RT_CMO_TYPE_INVALID = 2,
    ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

/* An operation that a barrier waits for. */
typedef struct aclrtBarrierCmoInfo {
    aclrtCmoType cmoType;
    uint32_t barrierId;
} aclrtBarrierCmoInfo;

/* Operations that a barrier waits for. */
typedef struct aclrtBarrierTaskInfo {
    size_t barrierNum;
    aclrtBarrierCmoInfo cmoInfo[ACL_RT_CMO_MAX_BARRIER_NUM];
} aclrtBarrierTaskInfo;

/* Queue a cache operation. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
                                           aclrtStream stream);

/* Queue a cache operation with a barrier. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType,
                                                      uint32_t barrierId, aclrtStream stream);

/* Queue waiting for a barrier. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream,
                                                 uint32_t flag);

/* Bytes of a description. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t *size);

/* Write a description. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size);

/* Queue the cache operation that a description holds. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType,
                                                   aclrtStream stream, const void *reserve);

#ifdef __cplusplus
}
#endif

#endif
