/* Events: records, waits and times. */
#include "acl_limits.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>

#define EVENT_ALL (ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS)
#define EVENT_ALONE (ACL_EVENT_EXTERNAL | ACL_EVENT_IPC) /* not with any other */
#define EVENT_FLAGS (EVENT_ALL | ACL_EVENT_DEVICE_USE_ONLY | EVENT_ALONE)

static void event_command(struct soma_command *command, enum soma_op op,
                          const struct client_object *event)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, event->device);
    soma_command_set(command, SOMA_FIELD_event, event->id);
}

/* ---- making and ending ---- */

#define EVENTS_MAX 65536u /* of a device of Atlas A2; the service itself has no such limit */

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
    client_begin("aclrtGetEventAvailNum");
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (eventCount == NULL)
        return client_fail_null("eventCount");
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_EVENT_LIST);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    size_t used = result.u.event_list.events.count;
    *eventCount = used < EVENTS_MAX ? EVENTS_MAX - (uint32_t)used : 0;
    client_result_clear(&result);
    return ACL_SUCCESS;
}

static aclError check_flags(uint32_t flag)
{
    bool is_single = (flag & (flag - 1)) == 0;
    if (flag != 0 && (flag & ~EVENT_FLAGS) == 0 && ((flag & EVENT_ALONE) == 0 || is_single))
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "flag 0x%x: give ACL_EVENT_SYNC (1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (2), "
                       "ACL_EVENT_TIME_LINE (8) or ACL_EVENT_DEVICE_USE_ONLY (0x10), combined with "
                       "|, or ACL_EVENT_EXTERNAL or ACL_EVENT_IPC alone",
                       flag);
}

static aclError create_event(aclrtEvent *event, uint32_t flags, bool is_ex)
{
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (event == NULL)
        return client_fail_null("event");
    aclError error = check_flags(flags);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_EVENT_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    soma_command_set(&command, SOMA_FIELD_kind, is_ex ? SOMA_EVENT_KIND_EX : SOMA_EVENT_KIND_PLAIN);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {.kind = CLIENT_EVENT,
                                   .device = context.device,
                                   .id = result.u.event_created.event,
                                   .context = context.handle,
                                   .is_ex = is_ex,
                                   .flags = flags};
    if (client_handle_add(&object) == NULL) {
        event_command(&command, SOMA_OP_EVENT_DESTROY, &object);
        (void)!client_call(&command, NULL);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for an event");
    }
    *event = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    client_begin("aclrtCreateEvent");
    return create_event(event, EVENT_ALL, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    client_begin("aclrtCreateEventWithFlag");
    return create_event(event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    client_begin("aclrtCreateEventExWithFlag");
    return create_event(event, flag, true);
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    client_begin("aclrtDestroyEvent");
    struct client_object object;
    struct soma_command command;
    aclError error = client_event_find(event, &object);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_DESTROY, &object);
    error = client_queue(&command);
    if (error == ACL_SUCCESS)
        (void)client_handle_remove(CLIENT_EVENT, event, NULL);
    return error;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    client_begin("aclrtGetEventId");
    struct client_object object;
    if (eventId == NULL)
        return client_fail_null("eventId");
    aclError error = client_event_find(event, &object);
    if (error == ACL_SUCCESS)
        *eventId = (uint32_t)object.id;
    return error;
}

/* ---- records and waits ---- */

static aclError find_both(aclrtEvent event, aclrtStream stream, struct client_object *the_event,
                          struct client_object *the_stream)
{
    aclError error = client_event_find(event, the_event);
    return error != ACL_SUCCESS ? error : client_stream_find_to_queue(stream, the_stream);
}

static aclError check_can_sync(const struct client_object *event)
{
    if ((event->flags & ACL_EVENT_SYNC) != 0)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event %p was made with flags 0x%x: only events with ACL_EVENT_SYNC can be "
                       "waited for by streams and reset",
                       event->handle, event->flags);
}

static aclError record_event(aclrtEvent event, aclrtStream stream)
{
    struct client_object the_event, the_stream;
    struct soma_command command;
    aclError error = find_both(event, stream, &the_event, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_RECORD, &the_event);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    error = client_queue(&command);
    if (error == ACL_SUCCESS &&
        (!the_event.is_recorded || the_event.recorded_on != the_stream.id)) {
        the_event.is_recorded = true;
        the_event.recorded_on = the_stream.id;
        (void)client_handle_put(&the_event);
    }
    return error;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    client_begin("aclrtRecordEvent");
    return record_event(event, stream);
}

/* Flags of record and wait: 0, or EXTERNAL (1), which only captured streams know. */
static aclError check_external(uint32_t flag)
{
    if (flag == 0)
        return ACL_SUCCESS;
    if (flag == ACL_EVENT_RECORD_EXTERNAL)
        return client_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "flag 1 (EXTERNAL) is for streams that are captured, which soma does not "
            "emulate: give 0");
    return client_fail(ACL_ERROR_INVALID_PARAM, "flag 0x%x: give 0", flag);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    client_begin("aclrtRecordEventWithFlag");
    aclError error = check_external(flag);
    return error != ACL_SUCCESS ? error : record_event(event, stream);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    client_begin("aclrtResetEvent");
    struct client_object the_event, the_stream;
    struct soma_command command;
    aclError error = find_both(event, stream, &the_event, &the_stream);
    if (error == ACL_SUCCESS)
        error = check_can_sync(&the_event);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_RESET, &the_event);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    return client_queue(&command);
}

#define WAIT_SECONDS_MAX 1000000u /* eleven days: longer waits are without limit */

/* seconds: 0 without limit */
static aclError wait_event(aclrtStream stream, aclrtEvent event, uint32_t seconds)
{
    struct client_object the_event, the_stream;
    struct soma_command command;
    aclError error = find_both(event, stream, &the_event, &the_stream);
    if (error == ACL_SUCCESS)
        error = check_can_sync(&the_event);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_STREAM_WAIT_EVENT);
    soma_command_set(&command, SOMA_FIELD_device, the_stream.device);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    soma_command_set(&command, SOMA_FIELD_event, the_event.id);
    if (seconds > 0 && seconds <= WAIT_SECONDS_MAX)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, (uint64_t)seconds * 1000);
    error = client_queue(&command);
    if (error == ACL_SUCCESS && !the_event.is_waited) {
        the_event.is_waited = true;
        (void)client_handle_put(&the_event);
    }
    return error;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    client_begin("aclrtStreamWaitEvent");
    return wait_event(stream, event, acl_op_wait_timeout());
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    client_begin("aclrtStreamWaitEventWithTimeout");
    if (timeout < 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "timeout is %d: give seconds, or 0 for no limit", timeout);
    return wait_event(stream, event, (uint32_t)timeout);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag)
{
    client_begin("aclrtStreamWaitEventWithFlag");
    aclError error = check_external(flag);
    return error != ACL_SUCCESS ? error : wait_event(stream, event, timeout);
}

static aclError synchronize_event(aclrtEvent event, int32_t timeout)
{
    struct client_object object;
    struct soma_command command;
    aclError error = client_event_find(event, &object);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_SYNCHRONIZE, &object);
    if (timeout > 0)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, (uint64_t)timeout);
    error = client_call(&command, NULL);
    if (error == ACL_SUCCESS && object.is_recorded)
        error = client_stream_take_fault(object.device, object.recorded_on);
    return error;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    client_begin("aclrtSynchronizeEvent");
    return synchronize_event(event, -1);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    client_begin("aclrtSynchronizeEventWithTimeout");
    aclError error = client_timeout_check(timeout);
    return error != ACL_SUCCESS ? error : synchronize_event(event, timeout);
}

/* ---- asking ---- */

static aclError look_at(aclrtEvent event, struct client_object *object, struct soma_event *state)
{
    struct soma_command command;
    struct soma_result result;
    aclError error = client_event_find(event, object);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_GET, object);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *state = result.u.event;
    return error;
}

static aclError refuse_ex(aclrtEvent event, const char *instead)
{
    struct client_object object;
    aclError error = client_event_find(event, &object);
    if (error != ACL_SUCCESS || !object.is_ex)
        return error;
    return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event %p came from aclrtCreateEventExWithFlag: use %s", event, instead);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    client_begin("aclrtQueryEvent");
    struct client_object object;
    struct soma_event state;
    if (status == NULL)
        return client_fail_null("status");
    aclError error = refuse_ex(event, "aclrtQueryEventStatus");
    if (error == ACL_SUCCESS)
        error = look_at(event, &object, &state);
    if (error == ACL_SUCCESS)
        *status = state.status == SOMA_COMPLETION_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                           : ACL_EVENT_STATUS_NOT_READY;
    return error;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    client_begin("aclrtQueryEventStatus");
    struct client_object object;
    struct soma_event state;
    if (status == NULL)
        return client_fail_null("status");
    aclError error = look_at(event, &object, &state);
    if (error == ACL_SUCCESS)
        *status = state.status == SOMA_COMPLETION_COMPLETE ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                           : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return error;
}

/* A wait is over when the event is: streams that wait do nothing else until then. */
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    client_begin("aclrtQueryEventWaitStatus");
    struct client_object object;
    struct soma_event state;
    if (status == NULL)
        return client_fail_null("status");
    aclError error = refuse_ex(event, "aclrtStreamQuery of the stream that waits");
    if (error == ACL_SUCCESS)
        error = look_at(event, &object, &state);
    if (error == ACL_SUCCESS)
        *status = object.is_waited && state.status != SOMA_COMPLETION_COMPLETE
                      ? ACL_EVENT_WAIT_STATUS_NOT_READY
                      : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return error;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    client_begin("aclrtEventElapsedTime");
    struct client_object start, end;
    struct soma_command command;
    struct soma_result result;
    if (ms == NULL)
        return client_fail_null("ms");
    aclError error = client_event_find(startEvent, &start);
    if (error == ACL_SUCCESS)
        error = client_event_find(endEvent, &end);
    if (error != ACL_SUCCESS)
        return error;
    event_command(&command, SOMA_OP_EVENT_ELAPSED, &end);
    soma_command_set(&command, SOMA_FIELD_since, start.id);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *ms = (float)result.u.elapsed.elapsed_ms;
    return error;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    client_begin("aclrtEventGetTimestamp");
    struct client_object object;
    struct soma_event state;
    if (timestamp == NULL)
        return client_fail_null("timestamp");
    aclError error = look_at(event, &object, &state);
    if (error != ACL_SUCCESS)
        return error;
    if (!state.recorded)
        return client_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                           "event %p was never recorded: it has no time; record it first", event);
    if (state.timestamp_ns == SOMA_NONE)
        return client_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                           "event %p has not been reached yet; synchronise it first", event);
    *timestamp = state.timestamp_ns / 1000;
    return ACL_SUCCESS;
}
