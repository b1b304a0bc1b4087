/* Events: records in streams, and who waits for them. */
#include "internal.h"

#include <inttypes.h>

struct event *event_find(struct call *call, struct device *device, uint64_t id)
{
    struct event *event = TREE_ENTRY(tree_find(&call->engine->events, id, 0), struct event, by_id);
    if (event == NULL) {
        bool was = id != 0 && id <= call->engine->last_id[ID_EVENT];
        (void)soma_fail(call->error, SOMA_NO_SUCH_EVENT, "event", "event %" PRIu64 " %s", id,
                        was ? "was destroyed" : "never was; create one first");
        return NULL;
    }
    if (device != NULL && event->device != device) {
        (void)soma_fail(call->error, SOMA_NO_SUCH_EVENT, "event",
                        "event %" PRIu64 " belongs to device %" PRIu64 ", not to device %" PRIu64,
                        id, event->device->number, device->number);
        return NULL;
    }
    return event;
}

/* The event that the command names, on the command's device. */
static struct event *named_event(struct call *call)
{
    struct device *device = device_find(call);
    return device == NULL ? NULL : event_find(call, device, call->command->event);
}

void event_release(struct engine *engine, struct event *event)
{
    tree_remove(&engine->events, &event->by_id);
    point_unref(engine, event->record);
    point_unref(engine, event->to_come);
    engine_free(engine, event);
}

static bool is_complete(const struct event *event, uint64_t now_ns)
{
    if (event->record != NULL)
        return point_is_over(event->record, 0, now_ns);
    return event->kind == SOMA_EVENT_KIND_EX;
}

static void describe(const struct event *event, uint64_t now_ns, struct soma_event *out)
{
    bool complete = is_complete(event, now_ns);
    *out = (struct soma_event){
        .event = event->id,
        .kind = (int)event->kind,
        .recorded = event->record != NULL,
        .status = complete ? SOMA_COMPLETION_COMPLETE : SOMA_COMPLETION_NOT_READY,
        .timestamp_ns = complete && event->record != NULL ? event->record->time_ns : SOMA_NONE,
    };
}

enum soma_status event_create(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct event *event = engine_alloc(engine, sizeof(*event));
    if (event == NULL)
        return engine_no_memory(call);
    event->device = device;
    event->id = ++engine->last_id[ID_EVENT];
    event->kind = (enum soma_event_kind)call->command->kind;
    tree_insert(&engine->events, &event->by_id, event->id, 0);
    call->result->u.event_created = (struct soma_event_created){event->id, device->number};
    return SOMA_OK;
}

enum soma_status event_list(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    size_t count = 0;
    for (struct tree_node *node = tree_first(&engine->events); node != NULL; node = tree_next(node))
        count += TREE_ENTRY(node, struct event, by_id)->device == device;
    void *items = NULL;
    enum soma_status status = engine_result_array(call, count, sizeof(struct soma_event), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_event *events = items;
    size_t filled = 0;
    for (struct tree_node *node = tree_first(&engine->events); node != NULL;
         node = tree_next(node)) {
        const struct event *event = TREE_ENTRY(node, struct event, by_id);
        if (event->device == device)
            describe(event, call->now_ns, &events[filled++]);
    }
    call->result->u.event_list.events.items = events;
    call->result->u.event_list.events.count = count;
    return SOMA_OK;
}

enum soma_status event_get(struct call *call)
{
    const struct event *event = named_event(call);
    if (event == NULL)
        return call->error->status;
    describe(event, call->now_ns, &call->result->u.event);
    return SOMA_OK;
}

enum soma_status event_destroy(struct call *call)
{
    struct event *event = named_event(call);
    if (event == NULL)
        return call->error->status;
    event_release(call->engine, event);
    return SOMA_OK;
}

/* ---- recording ---- */

/* Streams that already wait for a record that has just been placed now know what it knows, and so
 * does everything recorded behind them, and who waits for that. */

/* Join `other`, and the extra entry if it names a stream, into *clock. Returns whether that grew.
 * No memory for a joined clock costs reuse, never safety. */
static bool learn(struct engine *engine, struct vclock **clock, struct vclock *other,
                  struct vclock_entry extra, uint64_t self)
{
    struct vclock *joined;
    if (!vclock_join(engine, *clock, other, extra.stream_key, extra.position, self, &joined))
        return false;
    bool grew = joined != *clock;
    vclock_unref(engine, *clock);
    *clock = joined;
    return grew;
}

/* Pass on what the waits of a queue have been told in this pass or the last one. What a point of
 * the queue knows is known by all behind it: where nothing is new, nothing is new any more. */
static bool learn_in_queue(struct engine *engine, struct stream *stream)
{
    const struct vclock_entry nothing = {0, 0};
    struct vclock *told = NULL; /* not known behind here yet */
    bool grew = false;
    for (struct task *task = stream->head; task != NULL; task = task->next) {
        const struct point *after = task->after;
        if (after != NULL && task->is_ordered && after->is_placed &&
            after->news + 1 >= engine->passes)
            (void)learn(engine, &told, after->clock,
                        (struct vclock_entry){after->stream_key, after->position}, stream->key);
        for (struct point *point = task->points; point != NULL && told != NULL;
             point = point->next) {
            if (learn(engine, &point->clock, told, nothing, stream->key)) {
                point->news = engine->passes;
                grew = true;
            } else {
                vclock_unref(engine, told);
                told = NULL;
            }
        }
    }
    (void)learn(engine, &stream->clock, told, nothing, stream->key);
    vclock_unref(engine, told);
    return grew;
}

/* The point is news. Clocks only grow: pass over the queues until none does. */
void event_spread(struct engine *engine, struct point *point)
{
    bool grew = true;
    point->news = ++engine->passes;
    while (grew) {
        grew = false;
        engine->passes++;
        for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
             node = tree_next(node))
            grew |= learn_in_queue(engine, TREE_ENTRY(node, struct stream, by_id));
    }
}

enum soma_status event_record(struct call *call)
{
    struct engine *engine = call->engine;
    struct event *event = named_event(call);
    if (event == NULL)
        return call->error->status;
    struct submission sub = {.stream =
                                 stream_find_going(call, event->device, call->command->stream)};
    if (sub.stream == NULL)
        return call->error->status;
    struct point *point =
        event->to_come != NULL ? event->to_come : point_new_of(engine, POINT_OF_EVENT, event->id);
    if (point == NULL)
        return engine_no_memory(call);
    if (!submission_prepare(call, &sub, NULL, 0)) {
        if (event->to_come == NULL)
            point_unref(engine, point);
        return engine_no_memory(call);
    }
    bool was_awaited = event->to_come != NULL;
    point->clock = vclock_ref(sub.stream->clock);
    submission_commit(call, &sub, point);
    point_unref(engine, event->record);
    event->record = point;
    event->to_come = NULL;
    event->was_reset = false;
    if (was_awaited) {
        event_spread(engine, point);
        timeline_resolve(engine, call->now_ns);
    }
    return SOMA_OK;
}

enum soma_status event_reset(struct call *call)
{
    struct engine *engine = call->engine;
    struct event *event = named_event(call);
    if (event == NULL)
        return call->error->status;
    struct submission sub = {.stream =
                                 stream_find_going(call, event->device, call->command->stream)};
    if (sub.stream == NULL)
        return call->error->status;
    if (event->kind == SOMA_EVENT_KIND_EX)
        return soma_fail(call->error, SOMA_EVENT_RESET_UNSUPPORTED, "event",
                         "event %" PRIu64
                         " is of kind EX, which cannot be reset; create it with kind "
                         "PLAIN",
                         event->id);
    if (!submission_prepare(call, &sub, NULL, 0))
        return engine_no_memory(call);
    submission_commit(call, &sub, NULL);
    point_unref(engine, event->record);
    event->record = NULL;
    event->was_reset = true;
    return SOMA_OK;
}

enum soma_status event_synchronize(struct call *call)
{
    struct event *event = named_event(call);
    if (event == NULL)
        return call->error->status;
    if (event->record == NULL && !event->was_reset && event->kind == SOMA_EVENT_KIND_PLAIN)
        return soma_fail(call->error, SOMA_EVENT_NOT_RECORDED, "event",
                         "event %" PRIu64
                         " (PLAIN) was never recorded: there is nothing to wait for; "
                         "record it first",
                         event->id);
    enum soma_status status = device_release_prepare(call, event->device);
    if (status != SOMA_OK)
        return status;
    uint64_t target = SOMA_NONE;
    if (event->record != NULL)
        target = point_time(event->record, 0);
    else if (event->kind == SOMA_EVENT_KIND_EX)
        target = call->now_ns;
    struct point never = {.kind = POINT_OF_EVENT, .id = event->id};
    struct wait wait = {target, SOMA_EVENT_SYNC_TIMEOUT, "event", event->id,
                        event->record != NULL ? event->record : &never};
    status = timeline_wait(call, &wait);
    if (status != SOMA_OK)
        return status;
    return device_release(call, event->device);
}

/* The time of an event for elapsed, or the reason why it has none. */
static enum soma_status time_of(struct call *call, const struct event *event, const char *field,
                                uint64_t *time_ns)
{
    if (event->record == NULL)
        return soma_fail(call->error, SOMA_EVENT_TIME_NOT_RECORDED, field,
                         "event %" PRIu64 " was never recorded%s: it has no time", event->id,
                         event->was_reset ? " since its reset" : "");
    if (!point_is_over(event->record, 0, call->now_ns))
        return soma_fail(call->error, SOMA_EVENT_NOT_COMPLETE, field,
                         "event %" PRIu64 " has not been reached yet; synchronise it first",
                         event->id);
    *time_ns = event->record->time_ns;
    return SOMA_OK;
}

enum soma_status event_elapsed(struct call *call)
{
    uint64_t end_ns = 0, start_ns = 0;
    const struct event *end = named_event(call);
    if (end == NULL)
        return call->error->status;
    const struct event *start = event_find(call, NULL, call->command->since);
    if (start == NULL)
        return call->error->status;
    enum soma_status status = time_of(call, end, "event", &end_ns);
    if (status == SOMA_OK)
        status = time_of(call, start, "since", &start_ns);
    if (status != SOMA_OK)
        return status;
    double sign = end_ns < start_ns ? -1.0 : 1.0;
    uint64_t difference = end_ns < start_ns ? start_ns - end_ns : end_ns - start_ns;
    call->result->u.elapsed.elapsed_ms = sign * (double)difference / 1e6;
    return SOMA_OK;
}
