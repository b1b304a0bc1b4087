/* Ordering and timing of streams: events, notifies, counting notifies, and waits for values in
 * memory.
 *
 * An event is recorded on a stream and waited for by other streams or by the host. A wait takes
 * the latest record at that moment; later records do not change it. Two kinds: events of
 * aclrtCreateEventExWithFlag are complete until they are first recorded and cannot be reset;
 * events of aclrtCreateEvent and aclrtCreateEventWithFlag are not ready until then, and can. */
#ifndef SOMA_ACL_RT_EVENT_H
#define SOMA_ACL_RT_EVENT_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making and ending events ---- */

/* What an event is for: bits. */
#define ACL_EVENT_SYNC 0x00000001U /* streams can wait for it */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U
#define ACL_EVENT_TIME_LINE 0x00000008U /* it has a time */
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

/* Make an event of the kind that is not ready until it is recorded. It can do all that flags
 * choose.
 *   event  out: ended by aclrtDestroyEvent, or with its device
 * Errors: 107002 no context; 207007 no event left. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);

/* As aclrtCreateEvent, for some uses only.
 *   flag  ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS, combined with
 *         |
 * Errors: as aclrtCreateEvent; 107000 no flag, or unknown ones. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);

/* Make an event of the kind that is complete until it is recorded, and that can be recorded
 * again and again. aclrtResetEvent, aclrtQueryEvent and aclrtQueryEventWaitStatus refuse it.
 *   flag  as in aclrtCreateEventWithFlag
 * Errors: as aclrtCreateEventWithFlag. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/* End an event; waits that took a record of it stay in force. Does not wait.
 * Errors: 100000 NULL; 107017 destroyed before. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/* Number of an event: unique in the session, never used again.
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);

/* How many more events a device of Atlas A2 could have, of 65,536; an emulated one has no such
 * limit. Errors: 107002. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t *eventCount);

/* ---- Recording and waiting ---- */

/* How to record and to wait; EXTERNAL is for streams that are captured. */
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x01U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x01U

/* Queue a record: the event completes when all work queued on the stream so far is done. It
 * replaces the record before; waits that took that one keep it.
 * Errors: 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/* As aclrtRecordEvent.
 *   flag  ACL_EVENT_RECORD_DEFAULT
 * Errors: as aclrtRecordEvent; 207000 ACL_EVENT_RECORD_EXTERNAL; 100000 another flag. */
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
                                                      uint32_t flag);

/* Queue forgetting the record, so that the event is not ready until it is recorded again.
 * Errors: 107002, 107003, 107017; 207000 an event of aclrtCreateEventExWithFlag. */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/* Queue a wait: work queued on the stream from now on starts after the event's latest record.
 * Never recorded: an event of aclrtCreateEventExWithFlag is not waited for; another kind is
 * refused.
 * Errors: 107002, 107003, 107017; 107000 never recorded. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/* As aclrtStreamWaitEventWithTimeout.
 *   timeout  seconds; 0 without limit
 *   flag     ACL_EVENT_WAIT_DEFAULT
 * Errors: as aclrtStreamWaitEvent; 207000 ACL_EVENT_WAIT_EXTERNAL; 100000 another flag. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                          uint32_t timeout, uint32_t flag);

/* As aclrtStreamWaitEvent, for a limited time; if it runs out, the stream goes on and the next
 * synchronisation of it gives 107020.
 *   timeout  seconds; 0 without limit
 * Errors: as aclrtStreamWaitEvent; 107000 below 0. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                             int32_t timeout);

/* Wait until the event's latest record is reached, then let the device's pools release memory
 * that is idle above their thresholds. Works when the event's stream is gone.
 * Errors: 107017; the error of a task that failed. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/* As aclrtSynchronizeEvent, for a limited time; a wait that runs out releases nothing.
 *   timeout  milliseconds, at least 1; -1 as long as it takes
 * Errors: as aclrtSynchronizeEvent; 507047 not reached in time; 107000 0 or below -1. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/* ---- Asking about an event ---- */

/* Answers of aclrtQueryEvent. */
typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

/* Answers of aclrtQueryEventStatus. Mind that 1 means complete here. */
typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

/* Answers of aclrtQueryEventWaitStatus. */
typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 65535
} aclrtEventWaitStatus;

/* Whether the latest record is reached; use aclrtQueryEventStatus. Never waits.
 *   status  out: ACL_EVENT_STATUS_COMPLETE or ACL_EVENT_STATUS_NOT_READY
 * Errors: 107017; 207000 an event of aclrtCreateEventExWithFlag. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);

/* Whether the latest record is reached. Never waits and releases no pool memory.
 *   status  out: ACL_EVENT_RECORDED_STATUS_COMPLETE or ACL_EVENT_RECORDED_STATUS_NOT_READY
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus *status);

/* Whether all waits for the event are over. Never waits.
 *   status  out: ACL_EVENT_WAIT_STATUS_COMPLETE or ACL_EVENT_WAIT_STATUS_NOT_READY
 * Errors: 107017; 207000 an event of aclrtCreateEventExWithFlag. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus *status);

/* Time between the latest records of two events, on the devices' clock.
 *   ms  out: milliseconds; negative if endEvent came first
 * Errors: 107017; 507000 never recorded; 107006 not reached yet. */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

/* When the latest record was reached, on the devices' clock.
 *   timestamp  out: microseconds
 * Errors: 107017; 507000 never recorded; 107006 not reached yet. */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

/* ---- Events of other processes ---- */

/* Bytes of a handle. */
#define ACL_IPC_EVENT_HANDLE_SIZE 64U

/* An event, for another process. */
typedef struct aclrtIpcEventHandle {
    char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/* Let other processes use an event. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);

/* Use an event of another process. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);

/* ---- Notifies ---- */

/* Flags of a notify. */
#define ACL_NOTIFY_DEFAULT 0x00000000U
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x00000001U

/* Flags of export and import: bits. */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x02UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x02UL

/* Make a notify on the thread's device, not recorded; ended by aclrtDestroyNotify.
 *   notify  out
 *   flag    ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY, which are the same here
 * Errors: 100000 NULL; 107000 another flag; 107002; 207009 a device holds 8,192. */
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag);

/* End a notify. Streams that wait for it wait on, until their work is dropped.
 * Errors: 100000 NULL; 107017. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

/* Queue a record: one wait goes on, of those that were queued and those to come the oldest. The
 * stream may be of another device than the notify.
 * Errors: 100000 NULL; 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/* Queue a wait for a record that no other wait has taken.
 *   timeout  seconds; 0 without limit. If it runs out, the stream goes on and the next
 *            synchronisation of it gives 107020
 * Errors: as aclrtRecordNotify. */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                                     uint32_t timeout);

/* Number of a notify, never used again for another.
 * Errors: 100000 NULL; 107017. */
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId);

/* Take back, at once, the records of num notifies that no wait has taken.
 * Errors: 100000 NULL; 107000 num is 0; 107017, and then nothing is reset. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num);

/* Let other processes use a notify. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len,
                                                     uint64_t flags);

/* Use a notify of another process. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key,
                                                    uint64_t flags);

/* Name the processes that may use a notify. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num);

/* Name the processes of other hosts that may use a notify. Answers
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify,
                                                                aclrtServerPid *serverPids,
                                                                size_t num);

/* ---- Counting notifies ---- */

/* How a record changes the counter. */
typedef enum aclrtCntNotifyRecordMode {
    ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
    ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4
} aclrtCntNotifyRecordMode;

/* For what a wait waits. */
typedef enum aclrtCntNotifyWaitMode {
    ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4
} aclrtCntNotifyWaitMode;

/* A change of the counter. */
typedef struct aclrtCntNotifyRecordInfo {
    aclrtCntNotifyRecordMode mode;
    uint32_t value;
} aclrtCntNotifyRecordInfo;

/* A wait for the counter. */
typedef struct aclrtCntNotifyWaitInfo {
    aclrtCntNotifyWaitMode mode;
    uint32_t value;
    uint32_t timeout; /* seconds; 0 without limit */
    uint8_t isClear;  /* 1: set it to 0 afterwards */
    uint8_t rsv[3];   /* 0 */
} aclrtCntNotifyWaitInfo;

/* Make a counting notify. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag);

/* End a counting notify. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);

/* Queue a change of the counter. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                                                  aclrtCntNotifyRecordInfo *info);

/* Queue a wait for the counter. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify,
                                                           aclrtStream stream,
                                                           aclrtCntNotifyWaitInfo *info);

/* Queue setting the counter to 0. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);

/* Number of a counting notify. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId);

/* ---- Values in memory ---- */

/* What aclrtValueWait waits for; m is the word in memory, v the value. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U /* (int64_t)(m - v) >= 0 */
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U  /* m == v */
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U /* (m & v) != 0 */
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U /* ~(m | v) != 0 */

/* Queue writing a 64-bit value to device memory: it is there when the stream has come here, and not
 * before.
 *   devAddr  a multiple of 8
 *   flag     0
 * Errors: 100000 NULL; 107000 another flag, an odd address, no memory of the stream's device;
 * 107002, 107003, 107017. */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

/* Queue a wait until the 64-bit word at devAddr meets the condition in flag, whoever writes it: a
 * stream, a copy, a kernel.
 *   flag  ACL_STREAM_WAIT_VALUE_GEQ ... ACL_STREAM_WAIT_VALUE_NOR
 * Errors: 100000 NULL; 107000 another flag, no memory of the stream's device; 107002, 107003,
 * 107017. */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
