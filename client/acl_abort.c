/* Dropping work that was queued. */
#include "acl_callbacks.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "host_funcs.h"
#include "stream.h"

#include "acl/acl.h"

#define ABORT_MS_MAX (36u * 60u * 1000u)

static void stream_command(struct soma_command *command, enum soma_op op,
                           const struct client_object *stream)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, stream->device);
    soma_command_set(command, SOMA_FIELD_stream, stream->id);
}

aclError client_stream_abort(const struct client_object *stream)
{
    struct soma_command command;
    stream_command(&command, SOMA_OP_STREAM_ABORT, stream);
    client_stream_note_abort(stream);
    aclError error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    client_host_funcs_forget(stream->device, false, stream->id);
    client_stream_forget_fault(stream->device, stream->id);
    return ACL_SUCCESS;
}

aclError aclrtStreamAbort(aclrtStream stream)
{
    client_begin("aclrtStreamAbort");
    struct client_object object;
    aclError error = client_stream_find_to_queue(stream, &object);
    return error != ACL_SUCCESS ? error : client_stream_abort(&object);
}

aclError aclrtStreamStop(aclrtStream stream)
{
    client_begin("aclrtStreamStop");
    struct client_object object;
    struct soma_command command;
    if (stream == NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "stream is NULL: the default stream cannot be stopped");
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (object.is_default)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%p is the default stream of a context: it cannot be stopped", stream);
    stream_command(&command, SOMA_OP_STREAM_STOP, &object);
    return client_call(&command, NULL);
}

/* Nothing of an emulated device takes real time to give up: the timeout is only checked. */
aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
{
    client_begin("aclrtDeviceTaskAbort");
    struct soma_command command;
    if (timeout > ABORT_MS_MAX)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "timeout is %u: give at most %u milliseconds, or 0 for no limit",
                           timeout, ABORT_MS_MAX);
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    uint32_t device = (uint32_t)deviceId;
    acl_call_task_abort(device, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout);
    soma_command_init(&command, SOMA_OP_DEVICE_ABORT);
    soma_command_set(&command, SOMA_FIELD_device, device);
    client_stream_note_device_abort(device);
    error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    client_host_funcs_forget(device, true, 0);
    client_stream_forget_faults(device);
    acl_call_task_abort(device, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
    return ACL_SUCCESS;
}
