/* Streams: queues of work on a device, functions of the program that run in them, and time
 * limits.
 *
 * Work of one stream runs in the order in which it was queued; streams run side by side unless
 * events, notifies or memory order them. A NULL stream is the default stream of the thread's
 * context. Functions that take a stream answer 107002 in a thread without a context, and 107003
 * for a stream of another context when they queue work; waiting for such a stream and asking
 * about it work. */
#ifndef SOMA_ACL_RT_STREAM_H
#define SOMA_ACL_RT_STREAM_H

#include "acl_rt_device.h"
#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making and ending streams ---- */

/* Flags of a stream: bits. */
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

/* Make a stream in the calling thread's context.
 *   stream  out: ended by aclrtDestroyStream, or with its context
 * Errors: 107002 no context; 207008 the device has no stream left. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);

/* As aclrtCreateStream, with a priority and flags; both can be read back and change no result.
 *   priority  smaller is higher; see aclrtDeviceGetStreamPriorityRange
 *   flag      ACL_STREAM_FAST_LAUNCH and the like, combined with |, or 0
 * Errors: 107002 no context; 207008 the device has no stream left. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                                         uint32_t flag);

/* Wait for the stream's work and end it. Events recorded on it stay good.
 * Errors: 100000 NULL; 107017 destroyed before; 107003 of another context; 107000 a default
 * stream; the error of a task that failed. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/* End a stream at once; work that has not begun is dropped.
 * Errors: as aclrtDestroyStream, except those of tasks. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/* Settings of a stream that is made by aclrtCreateStreamV2. */
typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3
} aclrtStreamConfigAttr;

/* Settings put together for aclrtCreateStreamV2. */
typedef struct aclrtStreamConfigHandle {
    void *workptr;   /* device memory that the stream may use, or NULL */
    size_t workSize; /* bytes */
    size_t flag;     /* as in aclrtCreateStreamWithConfig */
    uint32_t priority;
} aclrtStreamConfigHandle;

/* Make settings, all 0; NULL when the host has no memory. */
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);

/* Free settings; handle must come from aclrtCreateStreamConfigHandle. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);

/* Change one setting: valueSize bytes at attrValue, the size of the member.
 * Errors: 100000 NULL, no such setting, or another size. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
                                                     aclrtStreamConfigAttr attr,
                                                     const void *attrValue, size_t valueSize);

/* Make a stream with settings; NULL for none. The work memory is not used.
 * Errors: as aclrtCreateStreamWithConfig. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream *stream,
                                                 const aclrtStreamConfigHandle *handle);

/* ---- Waiting for a stream ---- */

/* Whether all work of a stream is done. */
typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 65535
} aclrtStreamStatus;

/* Wait until all work queued on a stream so far is done, then let the device's pools release
 * memory that is idle above their thresholds.
 * Errors: 107017; the error of a task that failed (507015 a kernel that touched memory that is
 * not live), whose text names the call that queued it. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/* As aclrtSynchronizeStream, for a limited time; a wait that runs out releases nothing.
 *   timeout  milliseconds, at least 1; -1 as long as it takes
 * Errors: as aclrtSynchronizeStream; 507046 not done in time, the text says what the stream
 * waits for; 107000 0 or below -1. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/* Whether all work of a stream is done. Never waits and releases no pool memory.
 *   status  out: ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY
 * Errors: 107017; the error of a task that failed. */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

/* Drop all work of a stream, what runs and what waits, functions of the program included; NULL: of
 * the default stream. It is idle then and can be used. A thread that synchronises it gets 107023;
 * streams that wait for its work wait no longer.
 * Errors: 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/* End the wait that a stream stands at; what is queued behind it stays and goes on. A task that
 * runs is not cut short. Errors: 107000 NULL or a default stream; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/* ---- What a stream is ---- */

/* Number of a stream, never used again for another; the default stream of a device is 0.
 *   streamId  out
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);

/* Priority that the stream was made with.
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);

/* Flags that the stream was made with.
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);

/* How many more streams the device can have.
 * Errors: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t *streamCount);

/* What a stream does after a task that failed. */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

/* What a stream does after a kernel that failed; the next synchronisation tells it in both modes.
 *   mode  ACL_CONTINUE_ON_FAILURE (as streams are made), or ACL_STOP_ON_FAILURE: what follows is
 *         not run, and the stream can only be destroyed; the other streams of its context
 *         stop so too. Its lowest bit counts.
 * Errors: 107002, 107003, 107017; 207000 from stopping back to continuing. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/* Settings of a stream that can change. */
typedef enum aclrtStreamAttr {
    ACL_STREAM_ATTR_FAILURE_MODE = 1,
    ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
    ACL_STREAM_ATTR_PRIORITY = 5
} aclrtStreamAttr;

/* Value of such a setting. */
typedef union aclrtStreamAttrValue {
    uint64_t failureMode;    /* ACL_STREAM_ATTR_FAILURE_MODE */
    uint32_t overflowSwitch; /* 1 or 0 */
    uint32_t userCustomTag;
    uint32_t cacheOpInfoSwitch; /* 1 or 0 */
    uint32_t streamPriority;
    uint32_t reserve[4]; /* 0 */
} aclrtStreamAttrValue;

/* Change a setting of a stream. The failure mode is as aclrtSetStreamFailureMode sets it; the
 * others are kept only, and the priority is what aclrtStreamGetPriority answers.
 * Errors: 107000 no such setting, or a priority over 7; 100000 a switch that is not 0 or 1; as
 * aclrtSetStreamFailureMode; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream,
                                                     aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue *value);

/* Read a setting of a stream; 0 if it was never changed.
 * Errors: 107000 no such setting; 107002, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream,
                                                     aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue *value);

/* When a stream callback runs. */
typedef enum aclrtStreamState {
    ACL_RT_STREAM_STATE_CREATE_POST = 1,
    ACL_RT_STREAM_STATE_DESTROY_PRE = 2
} aclrtStreamState;

/* Called after a stream is made and before it is destroyed. */
typedef void (*aclrtStreamStateCallback)(aclrtStream stm, aclrtStreamState state, void *args);

/* Have callback called, in the thread that makes the call, for streams other than default ones.
 *   regName   at most 127 bytes; copied
 *   callback  NULL ends it
 *   args      kept
 * Errors: 107000 the name has a callback. */
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char *regName,
                                                         aclrtStreamStateCallback callback,
                                                         void *args);

/* ---- Functions of the program in a stream ---- */

/* Queue a call of fn(args), made by a thread of the library when the stream gets there; the
 * stream waits for it to return. A stream that aclrtSubscribeHostFunc or aclrtSubscribeReport
 * named a thread for has it called there. fn must not call functions that wait for the stream.
 * Copies, sets and kernels that are queued behind it wait in their call until fn has returned.
 *   fn    called once; never when the stream's work is dropped (device reset, aclFinalize) before
 *   args  kept until fn has returned; not read
 * Errors: 107000 fn is NULL; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/* Whether the stream waits until the callback has returned. */
typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1
} aclrtCallbackBlockType;

/* Name the thread whose aclrtProcessReport runs the callbacks of a stream.
 *   threadId  as pthread_self gives it
 * Errors: 107011 the stream has a thread; 107012 the thread serves another device; 107017; 507000
 * 1,024 threads are named, those of aclrtSubscribeHostFunc among them. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Queue a call of fn(userData), made in the thread that aclrtSubscribeReport named.
 * Errors: 107015 none was named; 107011 aclrtLaunchHostFunc has used the stream; 107000 fn is
 * NULL; 100000 another blockType; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/* Run callbacks that are due, at least one.
 *   timeout  milliseconds to wait for the first, at least 1; -1 for as long as it takes
 * Errors: 507012 none became due in time; 107012 this thread was named for no stream; 100000. */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/* Undo aclrtSubscribeReport. Callbacks that were not called wait until a thread is named again.
 * Errors: 107011 the stream has no thread; 107012 it has another one; 107017. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Name the thread whose aclrtProcessHostFunc runs the host functions of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                    aclrtStream exeStream);

/* Run host functions that are due, at least one.
 *   timeout  milliseconds to wait for the first, at least 1; -1 for as long as it takes
 * Errors: 507012 none became due in time; 107012 this thread was named for no stream; 107000. */
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/* Undo aclrtSubscribeHostFunc. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                      aclrtStream exeStream);

/* ---- Time limits ---- */

/* How long the waits of aclrtStreamWaitEvent may take that are queued from now on: seconds, 0
 * without limit (as at the start). One that runs out is told by the next synchronisation (107020),
 * and the stream goes on. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/* How long a kernel may take: seconds, 0 for the longest time. Kept only, for the process. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/* As aclrtSetOpExecuteTimeOut, in milliseconds, at most 1,000,000. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/* As aclrtSetOpExecuteTimeOut, in microseconds; *actualTimeout is what is in force: 1 to 254 steps
 * of aclrtGetOpTimeOutInterval. Errors: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout);

/* How long a kernel may take: milliseconds. */
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs);

/* Step in which kernel time limits count: microseconds.
 * Errors: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t *interval);

/* ---- Cores of a stream ---- */

/* How many cores of a kind a stream may use. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t *value);

/* Limit the cores of a stream. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t value);

/* Undo aclrtSetStreamResLimit. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);

/* Apply a stream's limits to the thread. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/* Undo aclrtUseStreamResInCurrentThread. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/* ---- The last task ---- */

/* Number of the kernel that the calling thread launched last; 0 before the first. Other work has no
 * numbers here. */
ACL_FUNC_VISIBILITY aclError aclrtGetThreadLastTaskId(uint32_t *taskId);

/* Queue a mark for the profiler. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
