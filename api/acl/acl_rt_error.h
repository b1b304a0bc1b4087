/* What went wrong: the last error of a thread, tasks that failed, memory errors and number
 * overflow. */
#ifndef SOMA_ACL_RT_ERROR_H
#define SOMA_ACL_RT_ERROR_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The last error ---- */

/* Whose last error is meant. */
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

/* Take the text of the calling thread's last error: which call failed, with which values, and
 * what to do about it. Taking it clears it.
 * Returns NULL when there is none. The string belongs to the library and lives until the
 * thread's next call of this function. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

/* The number of the calling thread's last error, which stays; ACL_SUCCESS when there is none.
 *   level  ACL_RT_THREAD_LEVEL
 * Errors: 107000 another level. */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/* As aclrtPeekAtLastError, and forgets it.
 *   level  ACL_RT_THREAD_LEVEL
 * Errors: 107000 another level. */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/* ---- Tasks that failed ---- */

/* Called once for a stream's kernel that failed, in the thread whose synchronisation (or query)
 * learns of it, before that call returns. It may call any function but those that wait. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *exceptionInfo);

/* Have callback called for failed tasks; replaces the one set before, NULL ends it. */
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/* Have callback called as well; several can be registered, each once.
 * Errors: 107000 NULL. */
ACL_FUNC_VISIBILITY aclError
aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/* Undo aclrtExceptionInfoCallbackRegister; nothing to undo is no error.
 * Errors: 107000 NULL. */
ACL_FUNC_VISIBILITY aclError
aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/* Number of the task; UINT32_MAX for NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);

/* Number of its stream; UINT32_MAX for NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);

/* Thread that queued it; UINT32_MAX for NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);

/* Its device; UINT32_MAX for NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);

/* Its error number; UINT32_MAX for NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);

/* Argument block of the kernel that failed, on the device, and its size in bytes; NULL and 0 when
 * the block was in host memory. Errors: -1 info is NULL. */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info,
                                                           void **devArgsPtr, uint32_t *devArgsLen);

/* The kernel that failed.
 * Errors: -1 info is NULL. */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info,
                                                                 aclrtFuncHandle *func);

/* What failed on a device. */
typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 65535
} aclrtErrorType;

/* Why a core failed. */
typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/* Lengths of the arrays below, in elements. */
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20U

/* Memory with an error that the hardware cannot correct. */
typedef struct aclrtMemUceInfo {
    void *addr; /* its start */
    size_t len; /* bytes */
    size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/* All such memory of a device. */
typedef struct aclrtMemUceInfoArray {
    size_t arraySize; /* elements in use */
    aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/* Details, by error type. */
typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;       /* ACL_RT_ERROR_MEMORY */
    aclrtAicoreErrorType aicoreErrType; /* ACL_RT_ERROR_AICORE */
} aclrtErrorInfoDetail;

/* An error of a device. */
typedef struct aclrtErrorInfo {
    uint8_t tryRepair; /* 1: aclrtRepairError may help */
    uint8_t hasDetail; /* 1: detail is set */
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/* What failed on a device. On an emulated device the only failures are kernels that touch memory
 * that is not live: ACL_RT_ERROR_AICORE once a synchronisation has told one, until the device is
 * reset, else ACL_RT_NO_ERROR.
 *   errorInfo  out: the whole struct is written
 * Errors: 107001 no such device. */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo);

/* Repair what aclrtGetErrorVerbose reported. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo);

/* List memory with errors. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                                size_t arraySize, size_t *retSize);

/* Repair memory with errors. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                               size_t arraySize);

/* ---- Giving up the work of a device ---- */

/* When an abort callback runs. */
typedef enum aclrtDeviceTaskAbortStage {
    ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
    ACL_RT_DEVICE_TASK_ABORT_POST = 1
} aclrtDeviceTaskAbortStage;

/* Called before and after an abort; timeout in milliseconds. */
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage,
                                                uint32_t timeout, void *args);

/* Drop all work of a device, as aclrtStreamAbort does for a stream. A thread that synchronises it
 * gets 107022.
 *   timeout  milliseconds, at most 2,160,000; 0 for as long as it takes. It takes no time here.
 * Errors: 107001; 107000 a longer timeout. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/* Have a function called before and after each aclrtDeviceTaskAbort; NULL undoes it. What it
 * answers does not stop the abort. Errors: 100000 no name; 107000 a long one, or one that is in
 * use. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceTaskAbortCallback(const char *regName,
                                                             aclrtDeviceTaskAbortCallback callback,
                                                             void *args);

/* ---- Number overflow ---- */

/* What becomes of a result that is too large. */
typedef enum aclrtFloatOverflowMode {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0,
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,
    ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

/* Choose what becomes of results that are too large. Kept only, for the process.
 *   mode  saturation, or inf/nan (as at the start)
 * Errors: 107000 another mode. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/* What aclrtSetDeviceSatMode chose. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);

/* Queue writing whether a result was too large to outputAddr on the device, outputSize bytes: no
 * kernel of an emulated device reports an overflow, so they become 0.
 * Errors: 107002, 107003, 107017; 107000 outputSize is 0, or not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize,
                                                    aclrtStream stream);

/* Queue forgetting that a result was too large.
 * Errors: 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);

/* Whether work queued on stream from now on is watched for overflow: flag 1 or 0. Kept only.
 * Errors: 100000 another flag; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/* Whether the stream is watched for overflow: *flag is 1 or 0.
 * Errors: 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);

/* Device memory that holds the overflow mark. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr);

/* Queue copying the overflow mark. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize,
                                                         aclrtStream stream);

/* Queue clearing the overflow mark. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtResetFloatOverflowStatus(aclrtStream stream);

/* Queue copying the overflow mark, by check mode. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize,
                                                            uint32_t checkMode, aclrtStream stream);

/* Queue clearing the overflow mark, by check mode. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode,
                                                              aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
