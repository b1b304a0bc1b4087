/* Current contexts, and how often each device was set. */
#include "context.h"

#include "call.h"
#include "error.h"
#include "host_funcs.h"
#include "ranges.h"
#include "stream.h"

#include <pthread.h>
#include <string.h>

struct device_state {
    uint32_t set_count; /* aclrtSetDevice calls that were not undone */
    void *primary;      /* its default context while set_count > 0 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device_state devices[SOMA_DEVICES_MAX];
static _Thread_local void *current; /* may have been destroyed since */

aclError client_context_require(struct client_object *context)
{
    if (current != NULL && client_handle_get(CLIENT_CONTEXT, current, context))
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_CONTEXT_NULL,
                       "this thread has no context%s: call aclrtSetDevice, aclrtCreateContext or "
                       "aclrtSetCurrentContext in it first",
                       current != NULL ? " any longer (its own was destroyed)" : "");
}

void client_context_set_current(void *context)
{
    current = context;
}

aclError client_device_check(int32_t device)
{
    uint32_t count = 0;
    aclError error = client_device_count(&count);
    if (error != ACL_SUCCESS)
        return error;
    if (device >= 0 && (uint32_t)device < count)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_INVALID_DEVICEID,
                       "there is no device %d: the session has devices 0 to %u (SOMA_DEVICES sets "
                       "how many)",
                       device, count - 1);
}

aclError client_context_add(uint32_t device, uint64_t stream_id, bool is_primary, void **context)
{
    struct client_object row = {.kind = CLIENT_CONTEXT, .device = device, .is_primary = is_primary};
    struct client_object stream = {
        .kind = CLIENT_STREAM, .device = device, .id = stream_id, .is_default = true};
    if (client_handle_add(&row) == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a context");
    stream.context = row.handle;
    row.stream = client_handle_add(&stream);
    if (row.stream == NULL) {
        (void)client_handle_remove(CLIENT_CONTEXT, row.handle, NULL);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a context");
    }
    (void)client_handle_put(&row);
    *context = row.handle;
    return ACL_SUCCESS;
}

aclError client_device_set(uint32_t device)
{
    (void)pthread_mutex_lock(&lock);
    struct device_state *state = &devices[device];
    aclError error = ACL_SUCCESS;
    if (state->set_count == 0)
        error = client_context_add(device, 0, true, &state->primary);
    if (error == ACL_SUCCESS) {
        state->set_count++;
        current = state->primary;
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

/* Contexts that aclrtCreateContext made stay, so that they can be destroyed; what was in them is
 * gone with the device. */
static bool goes_with_device(const struct client_object *object, const void *user)
{
    const uint32_t *device = user;
    bool is_on_device = object->kind == CLIENT_STREAM || object->kind == CLIENT_EVENT ||
                        object->kind == CLIENT_POOL || object->kind == CLIENT_NOTIFY ||
                        object->kind == CLIENT_PHYSICAL ||
                        (object->kind == CLIENT_CONTEXT && object->is_primary);
    return is_on_device && object->device == *device;
}

static aclError reset_on_service(uint32_t device)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_DEVICE_RESET);
    soma_command_set(&command, SOMA_FIELD_device, device);
    aclError error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    client_stream_forget_faults(device);
    client_host_funcs_forget(device, true, 0);
    client_handle_remove_all(goes_with_device, &device);
    client_ranges_remove_device(device);
    return ACL_SUCCESS;
}

/* Count one aclrtSetDevice less, or all; *is_last: none is left. The lock is not held while the
 * service is asked, because the end of the session takes it while it holds the session's. */
static aclError uncount(uint32_t device, bool all, struct device_state *before, bool *is_last)
{
    (void)pthread_mutex_lock(&lock);
    struct device_state *state = &devices[device];
    aclError error = ACL_SUCCESS;
    *before = *state;
    *is_last = all || state->set_count == 1;
    if (state->set_count == 0)
        error = client_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                            "device %u is not set in this process, or was reset as often as it was "
                            "set: call aclrtSetDevice first",
                            device);
    else if (*is_last)
        *state = (struct device_state){0, NULL};
    else
        state->set_count--;
    (void)pthread_mutex_unlock(&lock);
    return error;
}

aclError client_device_reset(uint32_t device, bool all)
{
    struct device_state before;
    bool is_last = false;
    aclError error = uncount(device, all, &before, &is_last);
    if (error != ACL_SUCCESS || !is_last)
        return error;
    error = reset_on_service(device);
    if (error != ACL_SUCCESS) { /* nothing has changed, unless another thread set it again */
        (void)pthread_mutex_lock(&lock);
        if (devices[device].set_count == 0)
            devices[device] = before;
        (void)pthread_mutex_unlock(&lock);
    }
    return error;
}

bool client_device_is_set(uint32_t device)
{
    (void)pthread_mutex_lock(&lock);
    bool is_set = devices[device].set_count > 0;
    (void)pthread_mutex_unlock(&lock);
    return is_set;
}

void client_context_forget_all(void)
{
    (void)pthread_mutex_lock(&lock);
    memset(devices, 0, sizeof(devices));
    (void)pthread_mutex_unlock(&lock);
}

void client_context_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void client_context_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}
