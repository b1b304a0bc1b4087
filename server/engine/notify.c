/* Notifies: each record lets one wait go on, in the order in which records and waits come. */
#include "internal.h"

#include <inttypes.h>

static struct notify *find(struct call *call, const struct device *device)
{
    struct engine *engine = call->engine;
    uint64_t id = call->command->notify;
    struct notify *notify = TREE_ENTRY(tree_find(&engine->notifies, id, 0), struct notify, by_id);
    if (notify == NULL) {
        bool was = id != 0 && id <= engine->last_id[ID_NOTIFY];
        (void)soma_fail(call->error, SOMA_NO_SUCH_NOTIFY, "notify", "notify %" PRIu64 " %s", id,
                        was ? "was destroyed" : "never was; create one first");
        return NULL;
    }
    if (device != NULL && notify->device != device) {
        (void)soma_fail(call->error, SOMA_NO_SUCH_NOTIFY, "notify",
                        "notify %" PRIu64 " belongs to device %" PRIu64 ", not to device %" PRIu64,
                        id, notify->device->number, device->number);
        return NULL;
    }
    return notify;
}

/* The notify that the command names, on the command's device. */
static struct notify *named(struct call *call)
{
    const struct device *device = device_find(call);
    return device == NULL ? NULL : find(call, device);
}

/* ---- signals ---- */

/* Unlink the oldest and hand its reference over; NULL: there is none. */
static struct point *pop(struct engine *engine, struct notify *notify)
{
    struct signal *signal = notify->signals;
    if (signal == NULL)
        return NULL;
    struct point *point = signal->point;
    notify->signals = signal->next;
    engine_free(engine, signal);
    return point;
}

/* Takes the point's reference. */
static void push(struct notify *notify, struct signal *signal, struct point *point)
{
    struct signal **link = &notify->signals;
    while (*link != NULL)
        link = &(*link)->next;
    signal->point = point;
    *link = signal;
}

/* Waits whose streams have dropped them, or that ran out, are nobody's any more. */
static void drop_dead_waits(struct engine *engine, struct notify *notify)
{
    struct signal **link = &notify->signals;
    while (notify->is_awaited && *link != NULL) {
        struct signal *signal = *link;
        if (signal->point->refs > 1) {
            link = &signal->next;
            continue;
        }
        *link = signal->next;
        point_unref(engine, signal->point);
        engine_free(engine, signal);
    }
    if (notify->signals == NULL)
        notify->is_awaited = false;
}

void notify_release(struct engine *engine, struct notify *notify)
{
    struct point *point;
    while ((point = pop(engine, notify)) != NULL)
        point_unref(engine, point);
    tree_remove(&engine->notifies, &notify->by_id);
    notify->device->notify_count--;
    engine_free(engine, notify);
}

/* ---- commands ---- */

static void describe(struct engine *engine, struct notify *notify, struct soma_notify *out)
{
    uint64_t count = 0;
    drop_dead_waits(engine, notify);
    for (const struct signal *signal = notify->signals; signal != NULL; signal = signal->next)
        count++;
    *out = (struct soma_notify){.notify = notify->id,
                                .device = notify->device->number,
                                .records = notify->is_awaited ? 0 : count,
                                .waits = notify->is_awaited ? count : 0};
}

enum soma_status notify_create(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    if (device->notify_count >= SOMA_NOTIFIES_MAX)
        return soma_fail(call->error, SOMA_NOTIFY_LIMIT, "device",
                         "device %" PRIu64 " holds %u notifies, as many as it can; destroy some "
                         "first",
                         device->number, SOMA_NOTIFIES_MAX);
    struct notify *notify = engine_alloc(engine, sizeof(*notify));
    if (notify == NULL)
        return engine_no_memory(call);
    notify->device = device;
    notify->id = ++engine->last_id[ID_NOTIFY];
    device->notify_count++;
    tree_insert(&engine->notifies, &notify->by_id, notify->id, 0);
    describe(engine, notify, &call->result->u.notify);
    return SOMA_OK;
}

enum soma_status notify_list(struct call *call)
{
    struct engine *engine = call->engine;
    const struct device *device = device_find(call);
    void *items = NULL;
    size_t filled = 0;
    if (device == NULL)
        return call->error->status;
    enum soma_status status =
        engine_result_array(call, (size_t)device->notify_count, sizeof(struct soma_notify), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_notify *notifies = items;
    for (struct tree_node *node = tree_first(&engine->notifies); node != NULL;
         node = tree_next(node)) {
        struct notify *notify = TREE_ENTRY(node, struct notify, by_id);
        if (notify->device == device)
            describe(engine, notify, &notifies[filled++]);
    }
    call->result->u.notify_list.notifies.items = notifies;
    call->result->u.notify_list.notifies.count = filled;
    return SOMA_OK;
}

enum soma_status notify_get(struct call *call)
{
    struct notify *notify = named(call);
    if (notify == NULL)
        return call->error->status;
    describe(call->engine, notify, &call->result->u.notify);
    return SOMA_OK;
}

enum soma_status notify_reset(struct call *call)
{
    struct notify *notify = named(call);
    if (notify == NULL)
        return call->error->status;
    struct point *point;
    while (!notify->is_awaited && (point = pop(call->engine, notify)) != NULL)
        point_unref(call->engine, point);
    return SOMA_OK;
}

enum soma_status notify_destroy(struct call *call)
{
    struct notify *notify = named(call);
    if (notify == NULL)
        return call->error->status;
    notify_release(call->engine, notify);
    return SOMA_OK;
}

/* ---- in streams ---- */

/* Prepare a wait for this point: the clock that the stream will have, and the task. */
static bool prepare_wait(struct call *call, struct submission *sub, struct point *point,
                         struct vclock **clock)
{
    struct engine *engine = call->engine;
    if (!vclock_join(engine, sub->stream->clock, point->clock, point->stream_key, point->position,
                     sub->stream->key, clock))
        return false;
    if (submission_prepare(call, sub, &point, 1))
        return true;
    vclock_unref(engine, *clock);
    return false;
}

enum soma_status stream_wait_notify(struct call *call)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream_named_going(call)};
    struct notify *notify = sub.stream == NULL ? NULL : find(call, NULL);
    if (notify == NULL)
        return call->error->status;
    drop_dead_waits(engine, notify);
    submission_limit(call, &sub);
    bool has_record = !notify->is_awaited && notify->signals != NULL;
    struct point *point =
        has_record ? notify->signals->point : point_new_of(engine, POINT_OF_NOTIFY, notify->id);
    struct signal *fresh = has_record ? NULL : engine_alloc(engine, sizeof(*fresh));
    struct vclock *clock = NULL;
    if (point == NULL || (!has_record && fresh == NULL) ||
        !prepare_wait(call, &sub, point, &clock)) {
        if (!has_record)
            point_unref(engine, point);
        engine_free(engine, fresh);
        return engine_no_memory(call);
    }
    vclock_unref(engine, sub.stream->clock);
    sub.stream->clock = clock;
    if (!has_record) {
        push(notify, fresh, point);
        notify->is_awaited = true;
    }
    submission_commit(call, &sub, NULL);
    if (has_record)
        point_unref(engine, pop(engine, notify));
    return SOMA_OK;
}

enum soma_status stream_record_notify(struct call *call)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream_named_going(call)};
    struct notify *notify = sub.stream == NULL ? NULL : find(call, NULL);
    if (notify == NULL)
        return call->error->status;
    drop_dead_waits(engine, notify);
    bool is_awaited = notify->is_awaited;
    struct signal *fresh = is_awaited ? NULL : engine_alloc(engine, sizeof(*fresh));
    struct point *point =
        is_awaited ? notify->signals->point : point_new_of(engine, POINT_OF_NOTIFY, notify->id);
    if (point == NULL || (!is_awaited && fresh == NULL) ||
        !submission_prepare(call, &sub, NULL, 0)) {
        if (!is_awaited)
            point_unref(engine, point);
        engine_free(engine, fresh);
        return engine_no_memory(call);
    }
    point->clock = vclock_ref(sub.stream->clock);
    submission_commit(call, &sub, point);
    if (!is_awaited) {
        push(notify, fresh, point);
        return SOMA_OK;
    }
    (void)pop(engine, notify);
    drop_dead_waits(engine, notify);
    event_spread(engine, point);
    timeline_resolve(engine, call->now_ns);
    point_unref(engine, point);
    return SOMA_OK;
}
