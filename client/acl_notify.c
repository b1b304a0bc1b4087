/* Notifies: signals from one stream to one other. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

#define WAIT_SECONDS_MAX 1000000u /* eleven days: longer waits are without limit */

static void notify_command(struct soma_command *command, enum soma_op op,
                           const struct client_object *notify)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, notify->device);
    soma_command_set(command, SOMA_FIELD_notify, notify->id);
}

static aclError find(aclrtNotify notify, struct client_object *object)
{
    struct client_object context;
    if (notify == NULL)
        return client_fail_null("notify");
    if (!client_handle_get(CLIENT_NOTIFY, notify, object))
        return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                           "%p is no notify: it was destroyed, or did not come from "
                           "aclrtCreateNotify",
                           notify);
    return client_context_require(&context);
}

/* ---- making and ending ---- */

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    client_begin("aclrtCreateNotify");
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (notify == NULL)
        return client_fail_null("notify");
    if ((flag & ~(uint64_t)ACL_NOTIFY_DEVICE_USE_ONLY) != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "flag is 0x%llx: give ACL_NOTIFY_DEFAULT (0) or "
                           "ACL_NOTIFY_DEVICE_USE_ONLY (1)",
                           (unsigned long long)flag);
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_NOTIFY_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {.kind = CLIENT_NOTIFY,
                                   .device = context.device,
                                   .id = result.u.notify.notify,
                                   .context = context.handle};
    if (client_handle_add(&object) == NULL) {
        notify_command(&command, SOMA_OP_NOTIFY_DESTROY, &object);
        (void)!client_call(&command, NULL);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a notify");
    }
    *notify = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    client_begin("aclrtDestroyNotify");
    struct client_object object;
    struct soma_command command;
    aclError error = find(notify, &object);
    if (error != ACL_SUCCESS)
        return error;
    notify_command(&command, SOMA_OP_NOTIFY_DESTROY, &object);
    error = client_queue(&command);
    if (error == ACL_SUCCESS)
        (void)client_handle_remove(CLIENT_NOTIFY, notify, NULL);
    return error;
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    client_begin("aclrtGetNotifyId");
    struct client_object object;
    if (notifyId == NULL)
        return client_fail_null("notifyId");
    aclError error = find(notify, &object);
    if (error == ACL_SUCCESS)
        *notifyId = (uint32_t)object.id;
    return error;
}

/* ---- in streams ---- */

/* seconds: 0 without limit */
static aclError queue(enum soma_op op, aclrtNotify notify, aclrtStream stream, uint32_t seconds)
{
    struct client_object the_notify, the_stream;
    struct soma_command command;
    aclError error = find(notify, &the_notify);
    if (error == ACL_SUCCESS)
        error = client_stream_find_to_queue(stream, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, op);
    soma_command_set(&command, SOMA_FIELD_device, the_stream.device);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    soma_command_set(&command, SOMA_FIELD_notify, the_notify.id);
    if (seconds > 0 && seconds <= WAIT_SECONDS_MAX)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, (uint64_t)seconds * 1000);
    return client_queue(&command);
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    client_begin("aclrtRecordNotify");
    return queue(SOMA_OP_STREAM_RECORD_NOTIFY, notify, stream, 0);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    client_begin("aclrtWaitAndResetNotify");
    return queue(SOMA_OP_STREAM_WAIT_NOTIFY, notify, stream, timeout);
}

aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    client_begin("aclrtNotifyBatchReset");
    struct client_object object;
    struct soma_command command;
    aclError error = ACL_SUCCESS;
    if (notifies == NULL)
        return client_fail_null("notifies");
    if (num == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "num is 0: give at least 1 notify");
    for (size_t i = 0; i < num && error == ACL_SUCCESS; i++)
        error = find(notifies[i], &object);
    for (size_t i = 0; i < num && error == ACL_SUCCESS; i++) {
        error = find(notifies[i], &object);
        notify_command(&command, SOMA_OP_NOTIFY_RESET, &object);
        if (error == ACL_SUCCESS)
            error = client_queue(&command);
    }
    return error;
}
