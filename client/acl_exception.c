/* Callbacks for kernels that fail, and what can be asked about one. */
#include "acl_exception.h"

#include "context.h"
#include "error.h"
#include "launches.h"
#include "stream.h"
#include "tables.h"

#include "acl/acl.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct rtExceptionInfo {
    uint32_t task, stream, thread, device, code;
    void *args; /* in device memory; NULL: the block was of the host */
    uint32_t args_bytes;
    aclrtFuncHandle function;
};

struct failed { /* told by no synchronisation yet */
    struct failed *next;
    struct rtExceptionInfo info;
};

struct listener {
    struct listener *next;
    aclrtExceptionInfoCallback callback;
    bool is_set; /* by aclrtSetExceptionInfoCallback: there is one at most */
};

/* Under the tables' lock. */
static struct failed *failures; /* oldest first */
static struct listener *listeners;

static atomic_bool has_failed[SOMA_DEVICES_MAX]; /* since the device was set */
static _Atomic uint32_t task_count;
static _Thread_local uint32_t last_task;

/* ---- failing ---- */

static void remember(const struct rtExceptionInfo *info)
{
    struct failed *fresh = malloc(sizeof(*fresh));
    if (fresh == NULL)
        return; /* the failure is told all the same, only no callback is called */
    *fresh = (struct failed){NULL, *info};
    client_tables_lock();
    struct failed **link = &failures;
    while (*link != NULL)
        link = &(*link)->next;
    *link = fresh;
    client_tables_unlock();
}

/* A launch, until it is known whether its kernel fails. */
struct launch_ticket {
    struct client_ticket base; /* first */
    const char *call;          /* the ACL function */
    uint64_t stream_id;
    struct rtExceptionInfo info;
};

static bool launch_failed(struct client_ticket *base, aclError number, const char *text)
{
    struct launch_ticket *ticket = (struct launch_ticket *)(void *)base;
    char all[CLIENT_TEXT_BYTES];
    (void)snprintf(all, sizeof(all), "%s, task %u: %s", ticket->call, ticket->info.task, text);
    const struct client_fault fault = {ticket->info.device, ticket->stream_id, number,
                                       ticket->base.must_ask, all};
    ticket->info.code = (uint32_t)number;
    remember(&ticket->info);
    return client_stream_add_fault(&fault);
}

static struct client_ticket *make_ticket(const struct client_launch *launch, uint32_t task)
{
    struct launch_ticket *ticket = malloc(sizeof(*ticket));
    if (ticket == NULL)
        return NULL;
    bool on_device = launch->block == NULL;
    *ticket = (struct launch_ticket){
        .base = {.must_ask = launch->stream->failure_mode == ACL_STOP_ON_FAILURE,
                 .fail = launch_failed},
        .call = client_call_name(),
        .stream_id = launch->stream->id,
        .info = {.task = task,
                 .stream = (uint32_t)launch->stream->id,
                 .thread = (uint32_t)syscall(SYS_gettid),
                 .device = launch->stream->device,
                 .args = on_device ? (void *)(uintptr_t)launch->block_address : NULL,
                 .args_bytes = on_device ? (uint32_t)launch->block_size : 0,
                 .function = launch->function->handle}};
    return &ticket->base;
}

aclError acl_launch(struct client_launch *launch)
{
    if (client_stream_is_stopping(launch->stream->device, launch->stream->id))
        return ACL_SUCCESS;
    uint32_t task = atomic_fetch_add(&task_count, 1) + 1;
    launch->ticket = make_ticket(launch, task);
    if (launch->ticket == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a launch");
    aclError error = client_launch(launch);
    if (error == ACL_SUCCESS)
        last_task = task;
    return error;
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId)
{
    client_begin("aclrtGetThreadLastTaskId");
    if (taskId == NULL)
        return client_fail_null("taskId");
    *taskId = last_task;
    return ACL_SUCCESS;
}

/* ---- telling ---- */

static struct failed *take(uint32_t device, bool any_stream, uint64_t stream_id)
{
    client_tables_lock();
    struct failed **link = &failures;
    while (*link != NULL && ((*link)->info.device != device ||
                             (!any_stream && (*link)->info.stream != (uint32_t)stream_id)))
        link = &(*link)->next;
    struct failed *found = *link;
    if (found != NULL)
        *link = found->next;
    client_tables_unlock();
    return found;
}

static void call_listeners(struct rtExceptionInfo *info)
{
    size_t all = 0, count = 0;
    client_tables_lock();
    for (const struct listener *at = listeners; at != NULL; at = at->next)
        all++;
    aclrtExceptionInfoCallback *copies = all > 0 ? malloc(all * sizeof(*copies)) : NULL;
    for (const struct listener *at = listeners; at != NULL && copies != NULL; at = at->next)
        copies[count++] = at->callback;
    client_tables_unlock();
    for (size_t i = 0; i < count; i++)
        copies[i](info);
    free(copies);
}

aclError acl_tell_exception(aclError error, uint32_t device, bool any_stream, uint64_t stream_id)
{
    if (error != ACL_ERROR_RT_AICORE_EXCEPTION && error != ACL_ERROR_RT_AICORE_TIMEOUT)
        return error;
    atomic_store(&has_failed[device], true);
    struct failed *failed = take(device, any_stream, stream_id);
    if (failed == NULL)
        return error;
    char text[CLIENT_TEXT_BYTES];
    const char *call = client_call_name();
    (void)snprintf(text, sizeof(text), "%s", client_error_rest());
    call_listeners(&failed->info);
    free(failed);
    client_begin(call);
    return client_fail(error, "%s", text);
}

void acl_exceptions_forget(uint32_t device)
{
    struct failed *failed;
    while ((failed = take(device, true, 0)) != NULL)
        free(failed);
    atomic_store(&has_failed[device], false);
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo)
{
    client_begin("aclrtGetErrorVerbose");
    if (errorInfo == NULL)
        return client_fail_null("errorInfo");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    memset(errorInfo, 0, sizeof(*errorInfo));
    errorInfo->errorType = ACL_RT_NO_ERROR;
    if (atomic_load(&has_failed[deviceId])) {
        errorInfo->errorType = ACL_RT_ERROR_AICORE;
        errorInfo->hasDetail = 1;
        errorInfo->detail.aicoreErrType = ACL_RT_AICORE_ERROR_SW;
    }
    return ACL_SUCCESS;
}

/* ---- who listens ---- */

/* Put `callback` (NULL: nothing) in place of the listener that was set, or that is the same. */
static aclError listen(aclrtExceptionInfoCallback old, bool is_set,
                       aclrtExceptionInfoCallback callback)
{
    struct listener *fresh = callback != NULL ? malloc(sizeof(*fresh)) : NULL;
    if (callback != NULL && fresh == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a callback");
    client_tables_lock();
    struct listener **link = &listeners;
    while (*link != NULL && ((*link)->is_set != is_set || (!is_set && (*link)->callback != old)))
        link = &(*link)->next;
    struct listener *gone = *link;
    if (gone != NULL)
        *link = gone->next;
    if (fresh != NULL) {
        *fresh = (struct listener){*link, callback, is_set};
        *link = fresh;
    }
    client_tables_unlock();
    free(gone);
    return ACL_SUCCESS;
}

static aclError fail_callback(void)
{
    return client_fail(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL: give a function");
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    client_begin("aclrtSetExceptionInfoCallback");
    return listen(NULL, true, callback);
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    client_begin("aclrtExceptionInfoCallbackRegister");
    return callback == NULL ? fail_callback() : listen(callback, false, callback);
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    client_begin("aclrtExceptionInfoCallbackUnregister");
    return callback == NULL ? fail_callback() : listen(callback, false, NULL);
}

/* ---- asking ---- */

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != NULL ? info->task : UINT32_MAX;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != NULL ? info->stream : UINT32_MAX;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != NULL ? info->thread : UINT32_MAX;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != NULL ? info->device : UINT32_MAX;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != NULL ? info->code : UINT32_MAX;
}

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **devArgsPtr,
                                       uint32_t *devArgsLen)
{
    client_begin("aclrtGetArgsFromExceptionInfo");
    if (info == NULL)
        return client_fail(-1, "info is NULL: give what the callback got");
    if (devArgsPtr == NULL || devArgsLen == NULL)
        return client_fail_null(devArgsPtr == NULL ? "devArgsPtr" : "devArgsLen");
    *devArgsPtr = info->args;
    *devArgsLen = info->args_bytes;
    return ACL_SUCCESS;
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *func)
{
    client_begin("aclrtGetFuncHandleFromExceptionInfo");
    if (info == NULL)
        return client_fail(-1, "info is NULL: give what the callback got");
    if (func == NULL)
        return client_fail_null("func");
    *func = info->function;
    return ACL_SUCCESS;
}
