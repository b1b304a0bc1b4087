/* Devices and contexts. */
#include "acl_attach.h"
#include "acl_callbacks.h"
#include "acl_device_info.h"
#include "acl_exception.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "catalog.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdatomic.h>
#include <stdio.h>

/* ---- choosing ---- */

static atomic_uint set_calls[SOMA_DEVICES_MAX]; /* of aclrtSetDevice: when callbacks are due */

void acl_device_forget(uint32_t device)
{
    acl_limits_forget(device);
    acl_peers_forget(device);
    acl_exceptions_forget(device);
    atomic_store(&set_calls[device], 0);
}

aclError aclrtSetDevice(int32_t deviceId)
{
    client_begin("aclrtSetDevice");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    bool is_first = !client_device_is_set((uint32_t)deviceId);
    if (is_first)
        acl_call_device_state((uint32_t)deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
    error = client_device_set((uint32_t)deviceId);
    if (error != ACL_SUCCESS)
        return error;
    atomic_fetch_add(&set_calls[deviceId], 1);
    if (is_first)
        acl_call_device_state((uint32_t)deviceId, ACL_RT_DEVICE_STATE_SET_POST);
    return ACL_SUCCESS;
}

static aclError reset_device(const char *call, int32_t device, bool all)
{
    client_begin(call);
    aclError error = client_device_check(device);
    if (error != ACL_SUCCESS)
        return error;
    bool is_last =
        client_device_is_set((uint32_t)device) && (all || atomic_load(&set_calls[device]) <= 1);
    if (is_last)
        acl_call_device_state((uint32_t)device, ACL_RT_DEVICE_STATE_RESET_PRE);
    error = client_device_reset((uint32_t)device, all);
    if (error != ACL_SUCCESS)
        return error;
    if (!is_last) {
        atomic_fetch_sub(&set_calls[device], 1);
        return ACL_SUCCESS;
    }
    acl_device_forget((uint32_t)device);
    acl_call_device_state((uint32_t)device, ACL_RT_DEVICE_STATE_RESET_POST);
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    return reset_device("aclrtResetDevice", deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    return reset_device("aclrtResetDeviceForce", deviceId, true);
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    client_begin("aclrtGetDevice");
    struct client_object context;
    if (deviceId == NULL)
        return client_fail_null("deviceId");
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        *deviceId = (int32_t)context.device;
    return error;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    client_begin("aclrtGetDeviceCount");
    return count == NULL ? client_fail_null("count") : client_device_count(count);
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    client_begin("aclrtGetRunMode");
    if (runMode == NULL)
        return client_fail_null("runMode");
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    client_begin("aclrtQueryDeviceStatus");
    if (deviceStatus == NULL)
        return client_fail_null("deviceStatus");
    aclError error = client_device_check(deviceId);
    if (error == ACL_SUCCESS)
        *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return error;
}

const char *aclrtGetSocName(void)
{
    client_begin("aclrtGetSocName");
    return client_soc_name();
}

/* ---- waiting ---- */

static aclError synchronize_device(int32_t timeout)
{
    struct client_object context;
    struct soma_command command;
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_DEVICE_SYNCHRONIZE);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    if (timeout > 0)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, (uint64_t)timeout);
    struct client_aborts aborts = client_stream_aborts(NULL, context.device);
    error = client_call(&command, NULL);
    if (error == ACL_SUCCESS)
        error = client_stream_check_aborts(NULL, context.device, &aborts);
    if (error == ACL_SUCCESS)
        error = client_stream_take_device_fault(context.device);
    return acl_tell_exception(error, context.device, true, 0);
}

aclError aclrtSynchronizeDevice(void)
{
    client_begin("aclrtSynchronizeDevice");
    return synchronize_device(-1);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    client_begin("aclrtSynchronizeDeviceWithTimeout");
    aclError error = client_timeout_check(timeout);
    return error != ACL_SUCCESS ? error : synchronize_device(timeout);
}

/* ---- contexts ---- */

static aclError destroy_stream(const struct client_object *stream)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_STREAM_DESTROY);
    soma_command_set(&command, SOMA_FIELD_device, stream->device);
    soma_command_set(&command, SOMA_FIELD_stream, stream->id);
    return client_call(&command, NULL);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    client_begin("aclrtCreateContext");
    struct soma_command command;
    struct soma_result result;
    if (context == NULL)
        return client_fail_null("context");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_STREAM_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, (uint64_t)deviceId);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    void *made = NULL;
    uint64_t id = result.u.stream_created.stream;
    error = client_context_add((uint32_t)deviceId, id, false, &made);
    if (error != ACL_SUCCESS) {
        struct client_object stream = {.device = (uint32_t)deviceId, .id = id};
        (void)!destroy_stream(&stream);
        return error;
    }
    client_context_set_current(made);
    *context = made;
    return ACL_SUCCESS;
}

static bool is_stream_of(const struct client_object *object, const void *user)
{
    const struct client_object *context = user;
    return object->kind == CLIENT_STREAM && object->context == context->handle;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    client_begin("aclrtDestroyContext");
    struct client_object object, stream;
    if (context == NULL)
        return client_fail_null("context");
    if (!client_handle_get(CLIENT_CONTEXT, context, &object))
        return client_fail(ACL_ERROR_RT_CONTEXT_NULL,
                           "%p is no context: it was destroyed, or did not come from "
                           "aclrtCreateContext",
                           context);
    if (object.is_primary)
        return client_fail(ACL_ERROR_RT_CONTEXT_NULL,
                           "%p is the default context of device %u: aclrtResetDevice ends it",
                           context, object.device);
    while (client_handle_find(is_stream_of, &object, &stream)) {
        acl_call_stream_state(stream.handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
        aclError error = destroy_stream(&stream);
        if (error != ACL_SUCCESS && error != ACL_ERROR_RT_INVALID_HANDLE)
            return error;
        (void)client_handle_remove(CLIENT_STREAM, stream.handle, NULL);
        acl_detach(stream.handle);
    }
    (void)client_handle_remove(CLIENT_CONTEXT, context, NULL);
    acl_detach(context);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    client_begin("aclrtSetCurrentContext");
    if (context == NULL)
        return client_fail_null("context");
    if (!client_handle_get(CLIENT_CONTEXT, context, NULL))
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%p is no context: it was destroyed, or did not come from "
                           "aclrtCreateContext or aclrtGetCurrentContext",
                           context);
    client_context_set_current(context);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    client_begin("aclrtGetCurrentContext");
    struct client_object object;
    if (context == NULL)
        return client_fail_null("context");
    aclError error = client_context_require(&object);
    if (error == ACL_SUCCESS)
        *context = object.handle;
    return error;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    client_begin("aclrtCtxGetCurrentDefaultStream");
    struct client_object object;
    if (stream == NULL)
        return client_fail_null("stream");
    aclError error = client_stream_find(NULL, &object);
    if (error == ACL_SUCCESS)
        *stream = object.handle;
    return error;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    client_begin("aclrtGetPrimaryCtxState");
    if (active == NULL)
        return client_fail_null("active");
    aclError error = client_device_check(deviceId);
    if (error != ACL_SUCCESS)
        return error;
    *active = client_device_is_set((uint32_t)deviceId) ? 1 : 0;
    if (flags != NULL)
        *flags = 0;
    return ACL_SUCCESS;
}
