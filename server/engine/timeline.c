/* Tasks in virtual time: when each starts and ends, and who waits for whom.
 *
 * Most tasks get their end at once. A stream that waits for something without a time yet is
 * blocked: its tasks queue up until timeline_resolve can give them one. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

struct point *point_new(struct engine *engine)
{
    struct point *point = engine_alloc(engine, sizeof(*point));
    if (point != NULL)
        point->refs = 1;
    return point;
}

struct point *point_new_of(struct engine *engine, enum point_kind kind, uint64_t id)
{
    struct point *point = point_new(engine);
    if (point != NULL) {
        point->kind = kind;
        point->id = id;
    }
    return point;
}

struct point *point_ref(struct point *point)
{
    if (point != NULL)
        point->refs++;
    return point;
}

void point_unref(struct engine *engine, struct point *point)
{
    if (point == NULL || --point->refs > 0)
        return;
    vclock_unref(engine, point->clock);
    engine_free(engine, point);
}

uint64_t point_time(const struct point *point, uint64_t fallback_ns)
{
    if (point == NULL)
        return fallback_ns;
    return point->is_resolved ? point->time_ns : SOMA_NONE;
}

bool point_is_over(const struct point *point, uint64_t fallback_ns, uint64_t now_ns)
{
    uint64_t time_ns = point_time(point, fallback_ns);
    return time_ns != SOMA_NONE && time_ns <= now_ns;
}

#define TIME_END_NS (UINT64_C(1) << 62)

uint64_t time_add(uint64_t time_ns, uint64_t span_ns)
{
    if (time_ns >= TIME_END_NS || span_ns >= TIME_END_NS - time_ns)
        return TIME_END_NS;
    return time_ns + span_ns;
}

/* ---- submitting ---- */

/* Room for one more flight. */
static bool flights_reserve(struct engine *engine, struct stream *stream)
{
    if (stream->flight_count < stream->flight_capacity)
        return true;
    size_t capacity = stream->flight_capacity == 0 ? 4 : stream->flight_capacity * 2;
    struct flight *flights = engine_alloc(engine, capacity * sizeof(*flights));
    if (flights == NULL)
        return false;
    for (size_t i = 0; i < stream->flight_count; i++)
        flights[i] = stream->flights[(stream->flight_first + i) % stream->flight_capacity];
    engine_free(engine, stream->flights);
    stream->flights = flights;
    stream->flight_first = 0;
    stream->flight_capacity = capacity;
    return true;
}

/* A task at the end of sub->tasks; false: no memory. */
static bool add_task(struct engine *engine, struct submission *sub, struct point *after,
                     bool is_ordered)
{
    struct task *task = engine_alloc(engine, sizeof(*task));
    if (task == NULL)
        return false;
    task->after = point_ref(after);
    task->is_ordered = is_ordered;
    struct task **link = &sub->tasks;
    while (*link != NULL)
        link = &(*link)->next;
    *link = task;
    return true;
}

void submission_limit(const struct call *call, struct submission *sub)
{
    uint64_t timeout_ms = call->command->timeout_ms;
    sub->has_limit = call_has(call, SOMA_HAS(timeout_ms)) && timeout_ms != UINT64_MAX;
    sub->limit_ns = sub->has_limit ? timeout_ms * 1000000 : 0;
}

bool submission_prepare(struct call *call, struct submission *sub, struct point *const *points,
                        size_t count)
{
    bool good = true, is_ordered = false;
    struct point *last = NULL;
    for (size_t i = 0; i < count && good; i++) {
        if (points[i]->is_resolved && !sub->has_limit) {
            if (points[i]->time_ns > sub->after_ns)
                sub->after_ns = points[i]->time_ns;
            continue;
        }
        if (last != NULL)
            good = add_task(call->engine, sub, last, is_ordered);
        last = points[i];
        is_ordered = i >= sub->late_count;
    }
    if (good && (last != NULL || stream_is_blocked(sub->stream)))
        good = add_task(call->engine, sub, last, is_ordered);
    good = good && flights_reserve(call->engine, sub->stream);
    if (!good)
        submission_drop(call->engine, sub);
    return good;
}

static void task_free(struct engine *engine, struct task *task)
{
    point_unref(engine, task->after);
    point_unref(engine, task->arrival);
    engine->value_waits -= task->access.use == VALUE_AWAITED ? 1 : 0;
    while (task->points != NULL) {
        struct point *point = task->points;
        task->points = point->next;
        point->next = NULL;
        point_unref(engine, point);
    }
    engine_free(engine, task);
}

void submission_drop(struct engine *engine, struct submission *sub)
{
    while (sub->tasks != NULL) {
        struct task *task = sub->tasks;
        sub->tasks = task->next;
        task_free(engine, task);
    }
}

/* A task of known end has come: remember it while it is in flight. flights_reserve before. */
static void fly(struct stream *stream, uint64_t end_ns, uint64_t position, uint64_t tasks,
                uint64_t now_ns)
{
    stream->ready_ns = end_ns;
    if (end_ns <= now_ns && stream->flight_count == 0) {
        stream->done_position = position;
        return;
    }
    if (stream->flight_count > 0) {
        size_t at = (stream->flight_first + stream->flight_count - 1) % stream->flight_capacity;
        struct flight *last = &stream->flights[at];
        if (last->end_ns == end_ns) {
            last->position = position;
            last->tasks += tasks;
            return;
        }
    }
    size_t at = (stream->flight_first + stream->flight_count++) % stream->flight_capacity;
    stream->flights[at] = (struct flight){end_ns, position, tasks};
}

static void place_point(struct point *point, const struct stream *stream)
{
    point->is_placed = true;
    point->stream_key = stream->key;
    point->position = stream->position;
}

/* When the task at the front of its stream starts, what it waits for not counted. */
static uint64_t start_of(const struct stream *stream, const struct task *task)
{
    uint64_t start = stream->ready_ns > task->submitted_ns ? stream->ready_ns : task->submitted_ns;
    return start > task->after_ns ? start : task->after_ns;
}

/* The task at the front of a stream has come there: who asked learns when, and its limit begins. */
static void arrive(struct engine *engine, struct stream *stream)
{
    struct task *task = stream->head;
    if (task == NULL || task->has_arrived)
        return;
    uint64_t arrived_ns = start_of(stream, task);
    task->has_arrived = true;
    if (task->arrival != NULL) {
        task->arrival->is_resolved = true;
        task->arrival->time_ns = arrived_ns;
    }
    if (!task->has_limit)
        return;
    task->deadline_ns = time_add(arrived_ns, task->limit_ns);
    if (task->deadline_ns < engine->deadline_ns)
        engine->deadline_ns = task->deadline_ns;
}

void submission_commit(struct call *call, struct submission *sub, struct point *point)
{
    struct stream *stream = sub->stream;
    if (!sub->is_free)
        stream->position++;
    if (point != NULL)
        place_point(point, stream);
    if (sub->tasks == NULL) {
        stream_settle(stream, call->now_ns);
        uint64_t start = stream->ready_ns > call->now_ns ? stream->ready_ns : call->now_ns;
        sub->start_ns = start > sub->after_ns ? start : sub->after_ns;
        sub->end_ns = time_add(sub->start_ns, sub->cost_ns);
        fly(stream, sub->end_ns, stream->position, 1, call->now_ns);
        if (sub->cost_ns > 0 && sub->end_ns > call->engine->wrote_ns)
            call->engine->wrote_ns = sub->end_ns;
        if (point != NULL) {
            point->is_resolved = true;
            point->time_ns = sub->end_ns;
        }
        return;
    }
    sub->start_ns = sub->end_ns = SOMA_NONE;
    struct task *last = sub->tasks;
    for (struct task *task = sub->tasks; task != NULL; task = task->next) {
        task->submitted_ns = call->now_ns;
        task->position = stream->position - (sub->is_free || task->next == NULL ? 0 : 1);
        task->is_gate = task->next != NULL;
        last = task;
    }
    last->cost_ns = sub->cost_ns;
    last->after_ns = sub->after_ns;
    last->has_limit = sub->has_limit;
    last->limit_ns = sub->limit_ns;
    last->arrival = point_ref(sub->arrival);
    last->access = sub->access;
    call->engine->value_waits += sub->access.use == VALUE_AWAITED ? 1 : 0;
    last->points = point_ref(point);
    stream->unresolved_tasks++;
    if (stream->tail != NULL)
        stream->tail->next = sub->tasks;
    else
        stream->head = sub->tasks;
    stream->tail = last;
    sub->tasks = NULL;
    arrive(call->engine, stream);
    if (sub->has_limit)
        timeline_resolve(call->engine, call->now_ns);
}

/* ---- resolving ---- */

/* Does the wait of this task, which stands at the front, run out before what it waits for comes? */
static bool runs_out(const struct task *task, uint64_t now_ns)
{
    if (!task->has_limit || task->after == NULL)
        return false;
    return task->after->is_resolved ? task->after->time_ns > task->deadline_ns
                                    : task->deadline_ns <= now_ns;
}

/* Give the first task of a blocked stream its end, when it can have one. */
static bool resolve_head(struct engine *engine, struct stream *stream, uint64_t now_ns)
{
    struct task *task = stream->head;
    arrive(engine, stream);
    bool is_late = task != NULL && runs_out(task, now_ns);
    if (task == NULL || (task->after != NULL && !task->after->is_resolved && !is_late))
        return false;
    stream_settle(stream, now_ns);
    if (!flights_reserve(engine, stream)) {
        engine->resolve_again = true;
        return false;
    }
    uint64_t start = start_of(stream, task);
    if (is_late) {
        start = task->deadline_ns;
        stream->fault_kind = stream->has_fault ? stream->fault_kind : task->after->kind;
        stream->fault_id = stream->has_fault ? stream->fault_id : task->after->id;
        stream->has_fault = true;
    } else if (task->after != NULL && start < task->after->time_ns) {
        start = task->after->time_ns;
    }
    if (task->access.use == VALUE_WRITTEN && !value_write(engine, stream, &task->access, start)) {
        engine->resolve_again = true;
        return false;
    }
    stream->head = task->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    if (!task->is_gate)
        stream->unresolved_tasks--;
    fly(stream, time_add(start, task->cost_ns), task->position, task->is_gate ? 0 : 1, now_ns);
    for (struct point *point = task->points; point != NULL; point = point->next) {
        point->is_resolved = true;
        point->time_ns = stream->ready_ns;
    }
    task_free(engine, task);
    return true;
}

/* The earliest deadline of all tasks that stand at the front. */
static void find_deadline(struct engine *engine)
{
    engine->deadline_ns = SOMA_NONE;
    for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
         node = tree_next(node)) {
        const struct task *task = TREE_ENTRY(node, struct stream, by_id)->head;
        if (task != NULL && task->has_arrived && task->has_limit &&
            task->deadline_ns < engine->deadline_ns)
            engine->deadline_ns = task->deadline_ns;
    }
}

void timeline_resolve(struct engine *engine, uint64_t now_ns)
{
    bool moved = true;
    engine->resolve_again = false;
    while (moved) {
        moved = false;
        for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
             node = tree_next(node)) {
            struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
            while (resolve_head(engine, stream, now_ns))
                moved = true;
        }
    }
    if (engine->deadline_ns != SOMA_NONE)
        find_deadline(engine);
}

/* Resetting a device drops a stream's work: who waits for it waits no longer, and the stream no
 * longer knows what its dropped waits would have told it. */
void stream_drop(struct engine *engine, struct stream *stream, uint64_t now_ns)
{
    while (stream->head != NULL) {
        struct task *task = stream->head;
        stream->head = task->next;
        for (struct point *point = task->points; point != NULL; point = point->next) {
            point->is_resolved = true;
            point->time_ns = now_ns;
        }
        task_free(engine, task);
    }
    vclock_unref(engine, stream->clock);
    stream->clock = NULL;
    stream->tail = NULL;
    stream->unresolved_tasks = 0;
    stream->has_fault = false;
    stream->flight_count = 0;
    stream->done_position = stream->position;
    if (stream->ready_ns > now_ns)
        stream->ready_ns = now_ns;
}

/* ---- waiting ---- */

void timeline_wait_for_stream(const struct stream *stream, struct wait *wait)
{
    bool is_blocked = stream_is_blocked(stream);
    *wait = (struct wait){is_blocked ? SOMA_NONE : stream->ready_ns, SOMA_STREAM_SYNC_TIMEOUT,
                          "stream", stream->id, is_blocked ? stream->head->after : NULL};
}

/* What nobody has done yet that the point waits for in the end, through as many streams as there
 * are. Streams that wait for each other in a ring lead nowhere: then it is one of them. */
static const struct point *root_of(const struct engine *engine, const struct point *point)
{
    struct tree_node *node = tree_first(&engine->streams);
    for (; node != NULL && point != NULL && point->is_placed; node = tree_next(node)) {
        const struct stream *stream = stream_by_key(engine, point->stream_key);
        if (stream == NULL || stream->head == NULL || stream->head->after == NULL)
            return point;
        point = stream->head->after;
    }
    return point;
}

/* "it waits for event 3, which nobody has recorded: record it" */
static void tell_root(const struct point *root, char *text, size_t size)
{
    switch (root == NULL || root->is_placed ? POINT_OF_STREAM : root->kind) {
    case POINT_OF_EVENT:
        (void)snprintf(text, size, "for event %" PRIu64 ", which nobody has recorded: record it",
                       root->id);
        return;
    case POINT_OF_HOST_FUNC:
        (void)snprintf(text, size,
                       "for host function %" PRIu64 ", which has not returned: complete it",
                       root->id);
        return;
    case POINT_OF_NOTIFY:
        (void)snprintf(text, size,
                       "for notify %" PRIu64 ", which nobody has recorded for it: record it",
                       root->id);
        return;
    case POINT_OF_VALUE:
        (void)snprintf(text, size,
                       "for the 8 bytes at 0x%" PRIx64 ", which do not meet its condition: write "
                       "others there",
                       root->id);
        return;
    case POINT_OF_STREAM:
    default:
        (void)snprintf(text, size, "for streams that wait for each other: abort one of them");
        return;
    }
}

static enum soma_status fail_blocked(struct call *call, const struct wait *wait)
{
    char text[160];
    tell_root(root_of(call->engine, wait->point), text, sizeof(text));
    return soma_fail(call->error, wait->timeout, "timeoutMs",
                     "%s %" PRIu64 " was not over after %" PRIu64
                     " ms: it waits %s, or wait without a limit",
                     wait->noun, wait->id, call->command->timeout_ms, text);
}

enum soma_status timeline_wait(struct call *call, const struct wait *wait)
{
    uint64_t target_ns = wait->target_ns;
    if (target_ns != SOMA_NONE && target_ns <= call->now_ns)
        return SOMA_OK;
    struct engine *engine = call->engine;
    const struct soma_command *command = call->command;
    bool has_limit = call_has(call, SOMA_HAS(timeout_ms)) && command->timeout_ms != UINT64_MAX;
    bool must_wait = target_ns == SOMA_NONE || engine->wall_clock;
    uint64_t limit_ns =
        has_limit ? time_add(call->now_ns, command->timeout_ms * 1000000u) : UINT64_MAX;
    if (!must_wait && target_ns <= limit_ns) {
        call->now_ns = target_ns;
        return SOMA_OK;
    }
    if (must_wait && !(has_limit && (command->expired || command->timeout_ms == 0))) {
        if (engine->wall_clock)
            engine->wait_ns = target_ns != SOMA_NONE ? target_ns : engine->deadline_ns;
        return SOMA_MUST_WAIT;
    }
    call->keeps_clock = true;
    if (!engine->wall_clock)
        call->now_ns = limit_ns;
    if (target_ns == SOMA_NONE)
        return fail_blocked(call, wait);
    return soma_fail(call->error, wait->timeout, "timeoutMs",
                     "%s %" PRIu64 " was not over after %" PRIu64 " ms: its work ends at %" PRIu64
                     " ns and the host clock is at %" PRIu64 " ns; allow more time",
                     wait->noun, wait->id, command->timeout_ms, target_ns, call->now_ns);
}

/* ---- the host's own time ---- */

enum soma_status clock_advance(struct call *call)
{
    struct engine *engine = call->engine;
    call->now_ns = time_add(call->now_ns, call->command->duration_ns);
    if (call->now_ns >= engine->deadline_ns)
        timeline_resolve(engine, call->now_ns);
    call->result->u.clock_reading.now_ns = call->now_ns;
    return SOMA_OK;
}
