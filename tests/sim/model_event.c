/* Events: their latest record, and waits for it. */
#include "model_state.h"

static enum soma_status find_event(const struct model *model, const struct soma_command *command,
                                   uint32_t *event)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    return model_find_event(model, command->device, command->event, event);
}

/* An event of any device. */
static enum soma_status find_any_event(const struct model *model, uint64_t id, uint32_t *event)
{
    for (uint32_t i = 0; i < model->events.count; i++) {
        if (model_event(model, i)->is_live && model_event(model, i)->id == id) {
            *event = i;
            return SOMA_OK;
        }
    }
    return SOMA_NO_SUCH_EVENT;
}

enum soma_status model_event_create(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    if (!model_has_device(model, command)) {
        if (model_has_mutant(model, MUTANT_IDS_REUSED))
            model->next_event++;
        return SOMA_NO_SUCH_DEVICE;
    }
    struct model_event *event = model_list_add(&model->events, sizeof(*event));
    event->id = model->next_event++;
    event->device = (uint32_t)command->device;
    event->kind = (int)command->kind;
    event->is_live = true;
    event->record = MODEL_NONE;
    result->message = SOMA_MESSAGE_EVENT_CREATED;
    result->u.event_created.event = event->id;
    result->u.event_created.device = command->device;
    return SOMA_OK;
}

static void describe_event(const struct model *model, uint32_t index, struct soma_event *out)
{
    const struct model_event *event = model_event(model, index);
    out->event = event->id;
    out->kind = event->kind;
    out->recorded = event->state == MODEL_RECORDED;
    out->timestamp_ns = SOMA_NONE;
    out->status = SOMA_COMPLETION_NOT_READY;
    if (event->state == MODEL_NEVER_RECORDED && event->kind == SOMA_EVENT_KIND_EX &&
        !model_has_mutant(model, MUTANT_EX_NOT_READY))
        out->status = SOMA_COMPLETION_COMPLETE;
    if (event->state == MODEL_RECORDED && model_is_over(model, event->record, model->now_ns)) {
        out->timestamp_ns = model_task(model, event->record)->end_ns;
        out->status = SOMA_COMPLETION_COMPLETE;
    }
}

enum soma_status model_event_list(struct model *model, const struct soma_command *command,
                                  struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    struct soma_event_list *list = &result->u.event_list;
    result->message = SOMA_MESSAGE_EVENT_LIST;
    list->events.items = model_alloc(model->events.count * sizeof(*list->events.items));
    for (uint32_t i = 0; i < model->events.count; i++) {
        const struct model_event *event = model_event(model, i);
        if (event->is_live && event->device == command->device)
            describe_event(model, i, &list->events.items[list->events.count++]);
    }
    return SOMA_OK;
}

enum soma_status model_event_get(struct model *model, const struct soma_command *command,
                                 struct soma_result *result)
{
    uint32_t event;
    enum soma_status status = find_event(model, command, &event);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_EVENT;
    describe_event(model, event, &result->u.event);
    return SOMA_OK;
}

enum soma_status model_event_destroy(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    (void)result;
    uint32_t event;
    enum soma_status status = find_event(model, command, &event);
    if (status == SOMA_OK)
        model_event(model, event)->is_live = false;
    return status;
}

enum soma_status model_event_record(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    (void)result;
    uint32_t event, stream;
    enum soma_status status = find_event(model, command, &event);
    if (status == SOMA_OK)
        status = model_find_going_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    struct model_submission task = model_plain_task(stream, 0);
    uint32_t record = model_submit(model, &task);
    model_event(model, event)->state = MODEL_RECORDED;
    model_event(model, event)->record = record;
    model_resolve_waits(model, event, record);
    return SOMA_OK;
}

enum soma_status model_event_reset(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    (void)result;
    uint32_t event, stream;
    enum soma_status status = find_event(model, command, &event);
    if (status == SOMA_OK)
        status = model_find_going_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    if (model_event(model, event)->kind == SOMA_EVENT_KIND_EX)
        return SOMA_EVENT_RESET_UNSUPPORTED;
    struct model_submission task = model_plain_task(stream, 0);
    model_submit(model, &task);
    model_event(model, event)->state = MODEL_RESET;
    return SOMA_OK;
}

/* Wait for the latest record; for the next one after a reset. */
static void submit_wait(struct model *model, uint32_t stream, uint32_t index)
{
    const struct model_event *event = model_event(model, index);
    struct model_submission task = model_plain_task(stream, 0);
    struct model_dependency record = {event->record, MODEL_BECAUSE_RECORD};
    bool is_pending =
        event->state == MODEL_RESET && !model_has_mutant(model, MUTANT_PENDING_IGNORED);
    if (is_pending)
        task.awaited_event = index;
    if (event->state == MODEL_RECORDED) {
        task.dependencies = &record;
        task.dependency_count = 1;
        if (model_has_mutant(model, MUTANT_WAIT_LATEST_LATER) &&
            !model_is_over(model, event->record, model->now_ns)) {
            task.awaited_event = index;
            task.dependency_count = 0;
        }
    }
    model_submit(model, &task);
}

enum soma_status model_stream_wait_event(struct model *model, const struct soma_command *command,
                                         struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    uint32_t event;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    enum soma_status status =
        model_find_going_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    status = find_any_event(model, command->event, &event);
    if (status != SOMA_OK)
        return status;
    if (model_event(model, event)->state == MODEL_NEVER_RECORDED &&
        model_event(model, event)->kind == SOMA_EVENT_KIND_PLAIN)
        return SOMA_EVENT_NOT_RECORDED;
    submit_wait(model, stream, event);
    return SOMA_OK;
}

enum soma_status model_event_synchronize(struct model *model, const struct soma_command *command,
                                         struct soma_result *result)
{
    uint32_t index;
    enum soma_status status = find_event(model, command, &index);
    if (status != SOMA_OK)
        return status;
    const struct model_event *event = model_event(model, index);
    if (event->state == MODEL_NEVER_RECORDED && event->kind == SOMA_EVENT_KIND_PLAIN)
        return SOMA_EVENT_NOT_RECORDED;
    bool is_known = event->state != MODEL_RESET;
    uint64_t end_ns = 0;
    if (event->state == MODEL_RECORDED) {
        is_known = model_task(model, event->record)->is_resolved;
        end_ns = model_task(model, event->record)->end_ns;
    }
    status = model_wait(model, command, is_known, end_ns, SOMA_EVENT_SYNC_TIMEOUT);
    if (status == SOMA_OK)
        model_answer_synchronized(model, event->device, result);
    return status;
}

static enum soma_status check_time(const struct model *model, const struct model_event *event)
{
    if (event->state != MODEL_RECORDED)
        return SOMA_EVENT_TIME_NOT_RECORDED;
    return model_is_over(model, event->record, model->now_ns) ? SOMA_OK : SOMA_EVENT_NOT_COMPLETE;
}

static double difference_ms(const struct model *model, uint64_t end_ns, uint64_t since_ns)
{
    if (end_ns >= since_ns)
        return (double)(end_ns - since_ns) / 1e6;
    double ms = (double)(since_ns - end_ns) / 1e6;
    return model_has_mutant(model, MUTANT_ELAPSED_ABSOLUTE) ? ms : -ms;
}

enum soma_status model_event_elapsed(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    uint32_t event, since;
    enum soma_status status = find_event(model, command, &event);
    if (status == SOMA_OK)
        status = find_any_event(model, command->since, &since);
    if (status != SOMA_OK)
        return status;
    const struct model_event *later = model_event(model, event);
    const struct model_event *earlier = model_event(model, since);
    status = check_time(model, later);
    if (status == SOMA_OK)
        status = check_time(model, earlier);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_ELAPSED;
    result->u.elapsed.elapsed_ms = difference_ms(model, model_task(model, later->record)->end_ns,
                                                 model_task(model, earlier->record)->end_ns);
    return SOMA_OK;
}
