/* Looking streams and events up; faults that wait to be told. */
#include "stream.h"

#include "context.h"
#include "error.h"
#include "host_funcs.h"
#include "tables.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static aclError fail_handle(const char *kind, const void *handle, const char *maker)
{
    return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "%p is no %s: it was destroyed, or did not come from %s", handle, kind,
                       maker);
}

static aclError find(const void *stream, struct client_object *object,
                     struct client_object *context)
{
    if (stream != NULL && !client_handle_get(CLIENT_STREAM, stream, object))
        return fail_handle("stream", stream, "aclrtCreateStream");
    aclError error = client_context_require(context);
    if (error != ACL_SUCCESS || stream != NULL)
        return error;
    if (!client_handle_get(CLIENT_STREAM, context->stream, object))
        return client_fail(
            ACL_ERROR_RT_INVALID_HANDLE,
            "the default stream of this thread's context went with a device that was "
            "reset: make another context");
    return ACL_SUCCESS;
}

aclError client_stream_find(const void *stream, struct client_object *object)
{
    struct client_object context;
    return find(stream, object, &context);
}

aclError client_stream_find_to_queue(const void *stream, struct client_object *object)
{
    struct client_object context;
    aclError error = find(stream, object, &context);
    if (error != ACL_SUCCESS || object->context == context.handle)
        return error;
    return client_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                       "stream %p belongs to context %p and this thread's is %p: call "
                       "aclrtSetCurrentContext with the stream's context first",
                       object->handle, object->context, context.handle);
}

aclError client_stream_find_to_move(const void *stream, struct client_object *object)
{
    aclError error = client_stream_find_to_queue(stream, object);
    if (error == ACL_SUCCESS)
        client_host_funcs_let_pass(object);
    return error;
}

aclError client_event_find(const void *event, struct client_object *object)
{
    struct client_object context;
    if (event == NULL)
        return client_fail(ACL_ERROR_INVALID_PARAM, "event is NULL: give one of aclrtCreateEvent");
    if (!client_handle_get(CLIENT_EVENT, event, object))
        return fail_handle("event", event, "aclrtCreateEvent");
    return client_context_require(&context);
}

aclError client_timeout_check(int32_t timeout)
{
    if (timeout == -1 || timeout > 0)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "timeout is %d: give milliseconds, at least 1, or -1 for no limit", timeout);
}

/* ---- faults ---- */

struct fault {
    struct fault *next;
    struct client_fault is; /* its text is the next member */
    char text[CLIENT_TEXT_BYTES];
};

static struct fault *faults;           /* under the tables' lock */
static atomic_uint stopping_max_count; /* faults with `stops`, or more: 0 is certain */

bool client_stream_add_fault(const struct client_fault *fault)
{
    struct fault *fresh = malloc(sizeof(*fresh));
    if (fresh == NULL)
        return false;
    fresh->next = NULL;
    fresh->is = *fault;
    (void)snprintf(fresh->text, sizeof(fresh->text), "%s", fault->text);
    fresh->is.text = fresh->text;
    client_tables_lock();
    struct fault **link = &faults;
    bool is_known = false;
    for (; *link != NULL; link = &(*link)->next) {
        bool is_same =
            (*link)->is.device == fault->device && (*link)->is.stream_id == fault->stream_id;
        if (is_same)
            (*link)->is.stops = (*link)->is.stops || fault->stops;
        is_known = is_known || is_same;
    }
    if (!is_known)
        *link = fresh;
    client_tables_unlock();
    if (fault->stops)
        atomic_fetch_add(&stopping_max_count, 1);
    if (is_known)
        free(fresh);
    return true;
}

bool client_stream_is_stopping(uint64_t device, uint64_t stream_id)
{
    if (atomic_load_explicit(&stopping_max_count, memory_order_relaxed) == 0)
        return false;
    client_tables_lock();
    const struct fault *fault = faults;
    while (fault != NULL &&
           !(fault->is.stops && fault->is.device == device && fault->is.stream_id == stream_id))
        fault = fault->next;
    client_tables_unlock();
    return fault != NULL;
}

/* The first fault of the device, and of the stream unless any_stream; NULL: none. */
static struct fault *take(uint32_t device, bool any_stream, uint64_t stream_id)
{
    client_tables_lock();
    struct fault **link = &faults;
    while (*link != NULL &&
           ((*link)->is.device != device || (!any_stream && (*link)->is.stream_id != stream_id)))
        link = &(*link)->next;
    struct fault *fault = *link;
    if (fault != NULL)
        *link = fault->next;
    client_tables_unlock();
    return fault;
}

static aclError tell(struct fault *fault)
{
    if (fault == NULL)
        return ACL_SUCCESS;
    aclError number =
        client_fail(fault->is.number, "work queued on stream %llu of device %u failed: %s",
                    (unsigned long long)fault->is.stream_id, fault->is.device, fault->text);
    free(fault);
    return number;
}

aclError client_stream_take_fault(uint32_t device, uint64_t stream_id)
{
    return tell(take(device, false, stream_id));
}

aclError client_stream_take_device_fault(uint32_t device)
{
    return tell(take(device, true, 0));
}

void client_stream_forget_fault(uint32_t device, uint64_t stream_id)
{
    free(take(device, false, stream_id));
}

void client_stream_forget_faults(uint32_t device)
{
    struct fault *fault;
    while ((fault = take(device, true, 0)) != NULL)
        free(fault);
}

void client_stream_forget_all_faults(void)
{
    for (uint32_t device = 0; device < SOMA_DEVICES_MAX; device++)
        client_stream_forget_faults(device);
}

/* ---- aborts ---- */

static _Atomic uint64_t device_aborts[SOMA_DEVICES_MAX];

void client_stream_note_abort(const struct client_object *stream)
{
    struct client_object object;
    if (client_handle_get(CLIENT_STREAM, stream->handle, &object)) {
        object.aborts++;
        (void)client_handle_put(&object);
    }
}

void client_stream_note_device_abort(uint32_t device)
{
    atomic_fetch_add(&device_aborts[device], 1);
}

struct client_aborts client_stream_aborts(const struct client_object *stream, uint32_t device)
{
    struct client_object object = {.aborts = 0};
    if (stream != NULL)
        (void)client_handle_get(CLIENT_STREAM, stream->handle, &object);
    return (struct client_aborts){object.aborts, atomic_load(&device_aborts[device])};
}

aclError client_stream_check_aborts(const struct client_object *stream, uint32_t device,
                                    const struct client_aborts *before)
{
    struct client_aborts now = client_stream_aborts(stream, device);
    if (stream != NULL && now.of_stream > before->of_stream)
        return client_fail(ACL_ERROR_RT_STREAM_ABORT,
                           "the work of stream %p was dropped by aclrtStreamAbort meanwhile",
                           stream->handle);
    if (now.of_device != before->of_device)
        return client_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                           "the work of device %u was dropped by aclrtDeviceTaskAbort meanwhile",
                           device);
    return ACL_SUCCESS;
}
