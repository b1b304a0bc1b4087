/* Streams: creation, state, and the commands that only submit a task. */
#include "internal.h"

#include <inttypes.h>

/* Keys: 1 + d for stream 0 of device d, then the created streams by id. 0 is no stream. */
#define CREATED_KEYS ((uint64_t)SOMA_DEVICES_MAX)

void stream_init(struct stream *stream, struct device *device, uint64_t id)
{
    stream->device = device;
    stream->id = id;
    stream->key = id == 0 ? 1 + device->number : CREATED_KEYS + id;
    stream->is_alive = true;
}

void stream_clear(struct engine *engine, struct stream *stream)
{
    stream_drop(engine, stream, engine->now_ns);
    engine_free(engine, stream->flights);
    stream->flights = NULL;
    stream->flight_capacity = 0;
}

static struct stream *lookup(const struct engine *engine, uint64_t id, uint64_t device_number)
{
    struct tree_node *node = tree_find(&engine->streams, id, id == 0 ? device_number : 0);
    return TREE_ENTRY(node, struct stream, by_id);
}

struct stream *stream_by_key(const struct engine *engine, uint64_t key)
{
    return key <= CREATED_KEYS ? lookup(engine, 0, key - 1) : lookup(engine, key - CREATED_KEYS, 0);
}

struct stream *stream_find(struct call *call, struct device *device, uint64_t id)
{
    struct stream *stream = lookup(call->engine, id, device->number);
    if (stream == NULL || !stream->is_alive) {
        bool was = id != 0 && id <= call->engine->last_id[ID_STREAM];
        (void)soma_fail(call->error, SOMA_NO_SUCH_STREAM, "stream",
                        "stream %" PRIu64 " %s; list the streams of device %" PRIu64
                        " or create one (0 is its default stream)",
                        id, was ? "was destroyed" : "never was", device->number);
        return NULL;
    }
    if (stream->device != device) {
        (void)soma_fail(call->error, SOMA_STREAM_OF_OTHER_DEVICE, "stream",
                        "stream %" PRIu64 " belongs to device %" PRIu64 ", not to device %" PRIu64,
                        id, stream->device->number, device->number);
        return NULL;
    }
    return stream;
}

static enum soma_status stream_fail_stopped(struct call *call, const struct stream *stream)
{
    return soma_fail(call->error, SOMA_STREAM_STOPPED, "stream",
                     "stream %" PRIu64 " stopped when a kernel failed on it, as its failure mode "
                     "says: destroy it and create another one",
                     stream->id);
}

struct stream *stream_find_going(struct call *call, struct device *device, uint64_t id)
{
    struct stream *stream = stream_find(call, device, id);
    if (stream == NULL || !stream->is_stopped)
        return stream;
    (void)stream_fail_stopped(call, stream);
    return NULL;
}

bool stream_is_blocked(const struct stream *stream)
{
    return stream->head != NULL;
}

void stream_settle(struct stream *stream, uint64_t now_ns)
{
    while (stream->flight_count > 0 && stream->flights[stream->flight_first].end_ns <= now_ns) {
        stream->done_position = stream->flights[stream->flight_first].position;
        stream->flight_first = (stream->flight_first + 1) % stream->flight_capacity;
        stream->flight_count--;
    }
}

void stream_forget(struct engine *engine, struct stream *stream)
{
    if (stream->is_alive || stream->cached_blocks > 0)
        return;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL; node = tree_next(node))
        cached_lists_drop(engine, TREE_ENTRY(node, struct pool, by_id), stream);
    tree_remove(&engine->streams, &stream->by_id);
    stream_clear(engine, stream);
    engine_free(engine, stream);
}

static uint64_t pending_tasks(const struct stream *stream)
{
    uint64_t tasks = stream->unresolved_tasks;
    for (size_t i = 0; i < stream->flight_count; i++)
        tasks += stream->flights[(stream->flight_first + i) % stream->flight_capacity].tasks;
    return tasks;
}

static void describe(struct stream *stream, uint64_t now_ns, struct soma_stream *out)
{
    stream_settle(stream, now_ns);
    bool blocked = stream_is_blocked(stream);
    *out = (struct soma_stream){
        .stream = stream->id,
        .device = stream->device->number,
        .priority = stream->priority,
        .status = blocked || stream->ready_ns > now_ns ? SOMA_COMPLETION_NOT_READY
                                                       : SOMA_COMPLETION_COMPLETE,
        .ready_at_ns = blocked ? SOMA_NONE : stream->ready_ns,
        .pending_tasks = pending_tasks(stream),
        .failure_mode = (int)stream->failure_mode,
        .stopped = stream->is_stopped,
    };
}

enum soma_status stream_create(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    if (device->stream_count >= engine->soc->max_streams)
        return soma_fail(call->error, SOMA_STREAM_LIMIT, "device",
                         "device %" PRIu64 " holds %" PRIu64 " streams, as many as %s can; destroy "
                         "some first",
                         device->number, device->stream_count, engine->soc->name);
    struct stream *stream = engine_alloc(engine, sizeof(*stream));
    if (stream == NULL)
        return engine_no_memory(call);
    stream_init(stream, device, ++engine->last_id[ID_STREAM]);
    stream->priority = call->command->priority;
    tree_insert(&engine->streams, &stream->by_id, stream->id, 0);
    device->stream_count++;
    call->result->u.stream_created = (struct soma_stream_created){stream->id, device->number};
    return SOMA_OK;
}

enum soma_status stream_list(struct call *call)
{
    struct engine *engine = call->engine;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    void *items = NULL;
    size_t count = 0;
    enum soma_status status = engine_result_array(call, (size_t)device->stream_count + 1,
                                                  sizeof(struct soma_stream), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_stream *streams = items;
    for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
         node = tree_next(node)) {
        struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        if (stream->device == device && stream->is_alive)
            describe(stream, call->now_ns, &streams[count++]);
    }
    call->result->u.stream_list.streams.items = streams;
    call->result->u.stream_list.streams.count = count;
    return SOMA_OK;
}

struct stream *stream_named(struct call *call)
{
    struct device *device = device_find(call);
    return device == NULL ? NULL : stream_find(call, device, call->command->stream);
}

struct stream *stream_named_going(struct call *call)
{
    struct device *device = device_find(call);
    return device == NULL ? NULL : stream_find_going(call, device, call->command->stream);
}

enum soma_status stream_get(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    describe(stream, call->now_ns, &call->result->u.stream);
    return SOMA_OK;
}

enum soma_status stream_destroy(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    if (stream->id == 0)
        return soma_fail(call->error, SOMA_DEFAULT_STREAM, "stream",
                         "stream 0 is device %" PRIu64 "'s default stream; it lives as long as the "
                         "session",
                         stream->device->number);
    struct wait wait;
    timeline_wait_for_stream(stream, &wait);
    enum soma_status status = timeline_wait(call, &wait);
    if (status != SOMA_OK)
        return status;
    stream_settle(stream, call->now_ns);
    stream->is_alive = false;
    stream->device->stream_count--;
    stream_forget(call->engine, stream);
    return SOMA_OK;
}

enum soma_status stream_take_fault(struct call *call, struct stream *stream)
{
    static const char *const nouns[] = {[POINT_OF_STREAM] = "work of stream",
                                        [POINT_OF_EVENT] = "event",
                                        [POINT_OF_HOST_FUNC] = "host function",
                                        [POINT_OF_NOTIFY] = "notify",
                                        [POINT_OF_VALUE] = "value"};
    if (!stream->has_fault)
        return SOMA_OK;
    stream->has_fault = false;
    call->keeps_clock = true;
    return soma_fail(call->error, SOMA_STREAM_WAIT_TIMEOUT, "stream",
                     "a wait of stream %" PRIu64 " for %s %" PRIu64
                     " ran out of the time that it was given, and the stream went on without it: "
                     "give it more, or signal earlier",
                     stream->id, nouns[stream->fault_kind], stream->fault_id);
}

enum soma_status stream_synchronize(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    enum soma_status status = device_release_prepare(call, stream->device);
    if (status != SOMA_OK)
        return status;
    if (stream->is_stopped)
        return stream_fail_stopped(call, stream);
    struct wait wait;
    timeline_wait_for_stream(stream, &wait);
    status = timeline_wait(call, &wait);
    if (status == SOMA_OK)
        status = stream_take_fault(call, stream);
    if (status != SOMA_OK || call->command->release != 0)
        return status == SOMA_OK ? device_release(call, stream->device) : status;
    call->result->u.synchronized =
        (struct soma_synchronized){SOMA_COMPLETION_COMPLETE, call->now_ns, 0};
    return SOMA_OK;
}

/* ---- dropping work ---- */

void stream_abort_work(struct call *call, struct stream *stream)
{
    stream_drop(call->engine, stream, call->now_ns);
    host_funcs_drop(call->engine, stream->device, stream->key);
}

enum soma_status stream_abort(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    stream_abort_work(call, stream);
    timeline_resolve(call->engine, call->now_ns);
    return SOMA_OK;
}

enum soma_status stream_stop(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    struct task *task = stream->head;
    if (task == NULL || task->after == NULL)
        return SOMA_OK;
    if (task->after->kind == POINT_OF_HOST_FUNC)
        host_func_drop(call->engine, task->after->id);
    point_unref(call->engine, task->after);
    task->after = NULL;
    if (task->after_ns < call->now_ns)
        task->after_ns = call->now_ns;
    timeline_resolve(call->engine, call->now_ns);
    return SOMA_OK;
}

/* ---- tasks ---- */

/* Submit a task of this cost that waits for nothing but its stream. */
static enum soma_status submit_plain(struct call *call, struct submission *sub)
{
    if (!submission_prepare(call, sub, NULL, 0))
        return engine_no_memory(call);
    submission_commit(call, sub, NULL);
    return SOMA_OK;
}

enum soma_status stream_delay(struct call *call)
{
    struct submission sub = {.stream = stream_named_going(call),
                             .cost_ns = call->command->duration_ns};
    return sub.stream == NULL ? call->error->status : submit_plain(call, &sub);
}

enum soma_status stream_wait_event(struct call *call)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream_named_going(call)};
    if (sub.stream == NULL)
        return call->error->status;
    struct event *event = event_find(call, NULL, call->command->event);
    if (event == NULL)
        return call->error->status;
    if (event->record == NULL && !event->was_reset) {
        if (event->kind == SOMA_EVENT_KIND_EX)
            return submit_plain(call, &sub);
        return soma_fail(call->error, SOMA_EVENT_NOT_RECORDED, "event",
                         "event %" PRIu64
                         " (PLAIN) was never recorded: there is nothing to wait for; "
                         "record it first, or create it with kind EX",
                         event->id);
    }
    struct point *fresh = NULL;
    struct point *point = event->record != NULL ? event->record : event->to_come;
    if (point == NULL)
        point = fresh = point_new_of(engine, POINT_OF_EVENT, event->id);
    submission_limit(call, &sub);
    struct vclock *clock = NULL;
    bool good =
        point != NULL && vclock_join(engine, sub.stream->clock, point->clock, point->stream_key,
                                     point->position, sub.stream->key, &clock);
    if (!good || !submission_prepare(call, &sub, &point, 1)) {
        vclock_unref(engine, clock);
        point_unref(engine, fresh);
        return engine_no_memory(call);
    }
    if (fresh != NULL)
        event->to_come = fresh;
    vclock_unref(engine, sub.stream->clock);
    sub.stream->clock = clock;
    submission_commit(call, &sub, NULL);
    return SOMA_OK;
}

enum soma_status stream_launch_kernel(struct call *call)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream_named_going(call)};
    if (sub.stream == NULL)
        return call->error->status;
    if (!submission_prepare(call, &sub, NULL, 0))
        return engine_no_memory(call);
    uint64_t cost_ns = call->command->kernel_cost_ns;
    enum soma_status status = SOMA_OK;
    if (call->command->kernel_status != SOMA_OK)
        status = soma_fail(call->error, call->command->kernel_status, "args", "the kernel failed");
    if (engine->has_bytes)
        status =
            engine->bytes.kernel(engine->bytes.ctx, engine, call->command, &cost_ns, call->error);
    bool has_failed = soma_is_kernel_failure(status);
    if (status != SOMA_OK && !has_failed) {
        submission_drop(engine, &sub);
        return status;
    }
    sub.cost_ns = time_add(engine->costs.kernel_ns, cost_ns);
    submission_commit(call, &sub, NULL);
    call->result->u.launched = (struct soma_launched){sub.start_ns, sub.end_ns, cost_ns};
    call->keeps_clock = has_failed;
    if (has_failed && sub.stream->failure_mode == SOMA_FAILURE_MODE_STOP)
        sub.stream->is_stopped = true;
    return status;
}

enum soma_status stream_set_failure_mode(struct call *call)
{
    struct stream *stream = stream_named(call);
    if (stream == NULL)
        return call->error->status;
    enum soma_failure_mode mode = (enum soma_failure_mode)call->command->failure_mode;
    if (stream->failure_mode == SOMA_FAILURE_MODE_STOP && mode != SOMA_FAILURE_MODE_STOP)
        return soma_fail(call->error, SOMA_NOT_SUPPORTED, "failureMode",
                         "stream %" PRIu64 " stops on failure, which cannot be undone: create "
                         "another one",
                         stream->id);
    stream->failure_mode = mode;
    return SOMA_OK;
}
