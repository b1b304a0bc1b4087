/* Tasks: when they start and end, and what their streams have seen. A task's times and its vector
 * clock follow from the task before it, from what it waits for and from nothing else; while one of
 * these is unknown (a wait for a record that has not been made) so is everything behind it. */
#include "model_state.h"

#include <string.h>

static uint32_t later_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t model_cost(const struct model *model, uint64_t fixed_ns, uint64_t size_bytes,
                    uint64_t bytes_per_us)
{
    uint64_t scaled = size_bytes * 1000;
    if (model_has_mutant(model, MUTANT_COST_ROUNDED_UP))
        scaled += bytes_per_us - 1;
    return fixed_ns + scaled / bytes_per_us;
}

/* ---- vector clocks ---- */

static const struct model_dependency *dependency_of(const struct model *model,
                                                    const struct model_task *task, uint32_t i)
{
    return (const struct model_dependency *)model->dependencies.items + task->dependency_first + i;
}

static void see(uint32_t *seen, const uint32_t *other)
{
    for (uint32_t i = 0; i < MODEL_STREAMS_MAX; i++)
        seen[i] = later_u32(seen[i], other[i]);
}

static void see_dependency(const struct model *model, const struct model_dependency *dependency,
                           uint32_t *seen)
{
    const struct model_task *awaited = model_task(model, dependency->task);
    uint32_t *own = &seen[awaited->stream];
    if (dependency->reason == MODEL_BECAUSE_RECORD) {
        if (model_has_mutant(model, MUTANT_EVENT_DIRECT_ONLY))
            *own = later_u32(*own, awaited->position + 1);
        else
            see(seen, awaited->seen);
    } else if (dependency->reason == MODEL_BECAUSE_FREE) {
        see(seen, awaited->seen);
        *own = later_u32(*own, awaited->position + 1);
    }
}

/* Recompute what the task has seen. Returns whether that changed. */
static bool update_seen(struct model *model, struct model_task *task)
{
    uint32_t seen[MODEL_STREAMS_MAX] = {0};
    if (task->previous != MODEL_NONE)
        memcpy(seen, model_task(model, task->previous)->seen, sizeof(seen));
    for (uint32_t i = 0; i < task->dependency_count; i++)
        see_dependency(model, dependency_of(model, task, i), seen);
    if (task->is_counted)
        seen[task->stream] = task->position + 1;
    bool is_same = memcmp(seen, task->seen, sizeof(seen)) == 0;
    memcpy(task->seen, seen, sizeof(seen));
    return !is_same;
}

bool model_is_ordered(const struct model *model, uint32_t stream, uint32_t other, uint32_t position)
{
    uint32_t last = model_stream(model, stream)->last_task;
    if (last == MODEL_NONE)
        return false;
    uint32_t seen = model_task(model, last)->seen[other];
    if (model_has_mutant(model, MUTANT_EVENT_OFF_BY_ONE))
        return position <= seen;
    return position < seen;
}

/* ---- times ---- */

/* Find out when the task starts and ends, if that can be known. Returns whether it became known. */
static bool update_times(const struct model *model, struct model_task *task)
{
    if (task->is_resolved || task->awaited_event != MODEL_NONE || task->is_held)
        return false;
    uint64_t start_ns = later(task->submit_ns, task->released_ns);
    if (task->previous != MODEL_NONE) {
        const struct model_task *previous = model_task(model, task->previous);
        if (!previous->is_resolved)
            return false;
        start_ns = later(start_ns, previous->end_ns);
    }
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const struct model_dependency *dependency = dependency_of(model, task, i);
        const struct model_task *awaited = model_task(model, dependency->task);
        if (!awaited->is_resolved)
            return false;
        start_ns = later(start_ns, awaited->end_ns);
    }
    task->start_ns = start_ns;
    task->end_ns = start_ns + task->cost_ns;
    task->is_resolved = true;
    return true;
}

/* Something became known: work out what follows from it, until nothing does. */
static void settle(struct model *model)
{
    bool is_changing = true;
    while (is_changing) {
        is_changing = false;
        for (uint32_t i = 0; i < model->tasks.count; i++) {
            struct model_task *task = model_task(model, i);
            if (task->is_resolved)
                continue;
            bool sees_more = update_seen(model, task);
            bool is_known = update_times(model, task);
            is_changing = is_changing || sees_more || is_known;
        }
    }
}

bool model_is_over(const struct model *model, uint32_t task, uint64_t now_ns)
{
    if (task == MODEL_NONE)
        return true;
    const struct model_task *found = model_task(model, task);
    return found->is_resolved && found->end_ns <= now_ns;
}

bool model_ready_ns(const struct model *model, uint32_t stream, uint64_t *ready_ns)
{
    *ready_ns = model_stream(model, stream)->idle_ns;
    for (uint32_t last = model_stream(model, stream)->last_task; last != MODEL_NONE;
         last = model_task(model, last)->previous) {
        const struct model_task *task = model_task(model, last);
        if (!task->is_resolved)
            return false;
        if (!task->is_counted && model_has_mutant(model, MUTANT_FREE_NO_TIME))
            continue;
        *ready_ns = task->end_ns;
        break;
    }
    return true;
}

/* ---- submission ---- */

struct model_submission model_plain_task(uint32_t stream, uint64_t cost_ns)
{
    return (struct model_submission){
        .stream = stream, .cost_ns = cost_ns, .awaited_event = MODEL_NONE};
}

static void add_dependency(struct model *model, const struct model_dependency *dependency)
{
    struct model_dependency *added = model_list_add(&model->dependencies, sizeof(*added));
    *added = *dependency;
}

uint32_t model_submit(struct model *model, const struct model_submission *submission)
{
    uint32_t index = model->tasks.count;
    struct model_task *task = model_list_add(&model->tasks, sizeof(*task));
    struct model_stream *stream = model_stream(model, submission->stream);
    bool is_counted = !submission->is_pool_free || model_has_mutant(model, MUTANT_FREE_COUNTS);
    task->stream = submission->stream;
    task->previous = stream->last_task;
    task->position = stream->position;
    task->is_counted = is_counted;
    task->submit_ns = model->now_ns;
    task->cost_ns = submission->cost_ns;
    task->awaited_event = submission->awaited_event;
    task->is_held = submission->is_held;
    /* Room for the record that a pending wait may find later. */
    task->dependency_first = model->dependencies.count;
    for (uint32_t i = 0; i < submission->dependency_count; i++)
        add_dependency(model, &submission->dependencies[i]);
    task->dependency_count = submission->dependency_count;
    if (submission->awaited_event != MODEL_NONE)
        add_dependency(model, &(struct model_dependency){0});
    stream->last_task = index;
    stream->position += is_counted;
    update_seen(model, task);
    update_times(model, task);
    return index;
}

bool model_arrival_ns(const struct model *model, uint32_t task, uint64_t *arrival_ns)
{
    const struct model_task *found = model_task(model, task);
    *arrival_ns = found->submit_ns;
    if (found->previous == MODEL_NONE)
        return true;
    const struct model_task *previous = model_task(model, found->previous);
    *arrival_ns = later(*arrival_ns, previous->end_ns);
    return previous->is_resolved;
}

void model_complete(struct model *model, uint32_t task)
{
    model_task(model, task)->is_held = false;
    model_task(model, task)->released_ns = model->now_ns;
    settle(model);
}

void model_resolve_waits(struct model *model, uint32_t event, uint32_t record)
{
    bool has_found = false;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        struct model_task *task = model_task(model, i);
        if (task->awaited_event != event)
            continue;
        struct model_dependency *dependencies = model->dependencies.items;
        dependencies += task->dependency_first + task->dependency_count;
        dependencies->task = record;
        dependencies->reason = model_has_mutant(model, MUTANT_EVENT_NO_PENDING)
                                   ? MODEL_BECAUSE_TIME
                                   : MODEL_BECAUSE_RECORD;
        task->dependency_count++;
        task->awaited_event = MODEL_NONE;
        has_found = true;
    }
    if (has_found)
        settle(model);
}

/* ---- resets ---- */

/* Until when the stream is known to work: the end of its last task that has one. */
static uint64_t known_end_ns(const struct model *model, const struct model_stream *stream)
{
    uint32_t last = stream->last_task;
    while (last != MODEL_NONE && !model_task(model, last)->is_resolved)
        last = model_task(model, last)->previous;
    return last == MODEL_NONE ? stream->idle_ns : model_task(model, last)->end_ns;
}

/* A stream of the device is idle from now on: without work, as if it had never had any. */
static void make_idle(struct model *model, struct model_stream *stream)
{
    uint64_t end_ns = known_end_ns(model, stream);
    stream->idle_ns = end_ns < model->now_ns ? end_ns : model->now_ns;
    stream->last_task = MODEL_NONE;
}

/* A reset breaks promises: what was handed over on the device goes with its pools, and what work
 * without a time yet waits for elsewhere may have been dropped. */
static void void_hand_overs(struct model *model, uint32_t device)
{
    for (uint32_t i = 0; i < model->hand_overs.count; i++) {
        struct model_hand_over *over = (struct model_hand_over *)model->hand_overs.items + i;
        const struct model_task *taken = model_task(model, over->malloc_task);
        if (!taken->is_resolved || model_stream(model, taken->stream)->device == device)
            over->is_void = true;
    }
}

/* Work without a time yet is over now for whoever waits for it; a time that is known stays. */
void model_drop_work(struct model *model, uint32_t device)
{
    void_hand_overs(model, device);
    for (uint32_t i = 0; i < model->streams.count; i++) {
        if (model_stream(model, i)->device == device)
            make_idle(model, model_stream(model, i));
    }
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        struct model_task *task = model_task(model, i);
        task->is_dropped = task->is_dropped || model_stream(model, task->stream)->device == device;
        if (model_stream(model, task->stream)->device != device || task->is_resolved ||
            model_has_mutant(model, MUTANT_RESET_KEEPS_WAITS))
            continue;
        task->is_resolved = true;
        task->awaited_event = MODEL_NONE;
        task->is_held = false;
        task->start_ns = task->end_ns = model->now_ns;
    }
    settle(model);
}

/* ---- waiting of the host ---- */

enum soma_status model_wait(struct model *model, const struct soma_command *command, bool is_known,
                            uint64_t ready_ns, enum soma_status timeout)
{
    bool is_finite =
        command->timeout_ms != SOMA_NONE && (command->present & SOMA_HAS(timeout_ms)) != 0;
    bool is_expired = is_finite && (command->expired || command->timeout_ms == 0);
    bool is_wall = model->config.is_wall_clock;
    uint64_t limit_ns = is_finite ? model->now_ns + command->timeout_ms * 1000000 : 0;
    if (is_known && ready_ns <= model->now_ns)
        return SOMA_OK;
    if ((!is_known || is_wall) && !is_expired) {
        model->wait_ns = is_known ? ready_ns : SOMA_NONE;
        return SOMA_MUST_WAIT;
    }
    if (is_wall)
        return timeout;
    if (is_finite && (!is_known || ready_ns > limit_ns)) {
        model->now_ns = limit_ns;
        return timeout;
    }
    model->now_ns = ready_ns;
    return SOMA_OK;
}
