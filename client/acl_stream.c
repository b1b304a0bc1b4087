/* Streams. */
#include "acl_attach.h"
#include "acl_callbacks.h"
#include "acl_exception.h"
#include "acl_host_func.h"
#include "acl_stream.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>

#define STREAM_FLAGS                                                                               \
    (ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE |     \
     ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)
#define PRIORITY_MAX 7u /* the lowest; larger ones count as it */

/* ---- making and ending ---- */

static void stream_command(struct soma_command *command, enum soma_op op,
                           const struct client_object *stream)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, stream->device);
    soma_command_set(command, SOMA_FIELD_stream, stream->id);
}

aclError acl_stop_on_failure(struct client_object *stream)
{
    struct soma_command command;
    stream_command(&command, SOMA_OP_STREAM_SET_FAILURE_MODE, stream);
    soma_command_set(&command, SOMA_FIELD_failure_mode, SOMA_FAILURE_MODE_STOP);
    aclError error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    stream->failure_mode = ACL_STOP_ON_FAILURE;
    (void)client_handle_put(stream);
    return ACL_SUCCESS;
}

aclError acl_create_stream(aclrtStream *stream, uint32_t priority, uint32_t flags)
{
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (stream == NULL)
        return client_fail_null("stream");
    if ((flags & ~STREAM_FLAGS) != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "flag 0x%x has bits that mean nothing: 0x%x",
                           flags, flags & ~STREAM_FLAGS);
    priority = priority > PRIORITY_MAX ? PRIORITY_MAX : priority;
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_STREAM_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    soma_command_set(&command, SOMA_FIELD_priority, priority);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {.kind = CLIENT_STREAM,
                                   .device = context.device,
                                   .id = result.u.stream_created.stream,
                                   .context = context.handle,
                                   .priority = priority,
                                   .flags = flags};
    if (client_handle_add(&object) == NULL) {
        stream_command(&command, SOMA_OP_STREAM_DESTROY, &object);
        (void)!client_call(&command, NULL);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a stream");
    }
    *stream = object.handle;
    struct client_object first;
    if (client_handle_get(CLIENT_STREAM, context.stream, &first) &&
        first.failure_mode == ACL_STOP_ON_FAILURE)
        error = acl_stop_on_failure(&object);
    acl_call_stream_state(object.handle, ACL_RT_STREAM_STATE_CREATE_POST);
    return error;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    client_begin("aclrtCreateStream");
    return acl_create_stream(stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    client_begin("aclrtCreateStreamWithConfig");
    return acl_create_stream(stream, priority, flag);
}

static aclError destroy_stream(const char *call, aclrtStream stream, bool drops_work)
{
    client_begin(call);
    struct client_object object;
    struct soma_command command;
    if (stream == NULL)
        return client_fail_null("stream");
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (object.is_default)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%p is the default stream of a context and ends with it", stream);
    acl_call_stream_state(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
    if (drops_work)
        error = client_stream_abort(&object);
    stream_command(&command, SOMA_OP_STREAM_DESTROY, &object);
    if (error == ACL_SUCCESS)
        error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    (void)client_handle_remove(CLIENT_STREAM, stream, NULL);
    acl_subscriptions_forget(stream);
    acl_detach(stream);
    return error;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return destroy_stream("aclrtDestroyStream", stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return destroy_stream("aclrtDestroyStreamForce", stream, true);
}

/* ---- waiting ---- */

static aclError synchronize_stream(aclrtStream stream, int32_t timeout)
{
    struct client_object object;
    struct soma_command command;
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    stream_command(&command, SOMA_OP_STREAM_SYNCHRONIZE, &object);
    if (timeout > 0)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, (uint64_t)timeout);
    struct client_aborts aborts = client_stream_aborts(&object, object.device);
    error = client_call(&command, NULL);
    if (error == ACL_SUCCESS)
        error = client_stream_check_aborts(&object, object.device, &aborts);
    bool has_stopped = client_error_status(error) == SOMA_STREAM_STOPPED;
    aclError fault = ACL_SUCCESS;
    if (error == ACL_SUCCESS || has_stopped)
        fault = client_stream_take_fault(object.device, object.id);
    error = fault != ACL_SUCCESS ? fault : error;
    return acl_tell_exception(error, object.device, false, object.id);
}

aclError acl_settle_stream(const struct client_object *stream)
{
    struct soma_command command;
    stream_command(&command, SOMA_OP_STREAM_SYNCHRONIZE, stream);
    soma_command_set(&command, SOMA_FIELD_release, 0);
    aclError error = client_queue(&command);
    if (error == ACL_SUCCESS)
        error = client_stream_take_fault(stream->device, stream->id);
    return acl_tell_exception(error, stream->device, false, stream->id);
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    client_begin("aclrtSynchronizeStream");
    return synchronize_stream(stream, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    client_begin("aclrtSynchronizeStreamWithTimeout");
    aclError error = client_timeout_check(timeout);
    return error != ACL_SUCCESS ? error : synchronize_stream(stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    client_begin("aclrtStreamQuery");
    struct client_object object;
    struct soma_command command;
    struct soma_result result;
    if (status == NULL)
        return client_fail_null("status");
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    stream_command(&command, SOMA_OP_STREAM_GET, &object);
    error = client_call(&command, &result);
    bool is_complete = error == ACL_SUCCESS && result.u.stream.status == SOMA_COMPLETION_COMPLETE;
    bool has_stopped = error == ACL_SUCCESS && result.u.stream.stopped;
    if (is_complete)
        error = client_stream_take_fault(object.device, object.id);
    if (error == ACL_SUCCESS && has_stopped)
        error = client_fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                            "stream %p stopped when a kernel failed on it: destroy it and create "
                            "another one",
                            object.handle);
    error = acl_tell_exception(error, object.device, false, object.id);
    if (error == ACL_SUCCESS)
        *status = is_complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return error;
}

/* ---- what a stream is ---- */

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    client_begin("aclrtStreamGetId");
    struct client_object object;
    if (streamId == NULL)
        return client_fail_null("streamId");
    aclError error = client_stream_find(stream, &object);
    if (error == ACL_SUCCESS)
        *streamId = (int32_t)object.id;
    return error;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    client_begin("aclrtStreamGetPriority");
    struct client_object object;
    if (priority == NULL)
        return client_fail_null("priority");
    aclError error = client_stream_find(stream, &object);
    if (error == ACL_SUCCESS)
        *priority = object.priority;
    return error;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    client_begin("aclrtStreamGetFlags");
    struct client_object object;
    if (flags == NULL)
        return client_fail_null("flags");
    aclError error = client_stream_find(stream, &object);
    if (error == ACL_SUCCESS)
        *flags = object.flags;
    return error;
}
