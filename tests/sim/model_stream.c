/* Devices and streams. */
#include "model_state.h"

#include <stdlib.h>

/* ---- devices ---- */

static void describe_device(const struct model *model, uint32_t device, struct soma_device *out)
{
    out->device = device;
    out->soc = model->config.soc->name;
    out->emulated = true;
    out->total_bytes = model->config.memory_bytes;
    out->free_bytes = model_device_free(model, device);
    for (uint32_t i = 0; i < model->streams.count; i++) {
        const struct model_stream *stream = model_stream(model, i);
        out->streams += stream->is_live && stream->device == device;
    }
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        out->pools += pool->is_live && pool->device == device;
    }
}

enum soma_status model_device_list(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    (void)command;
    struct soma_device_list *list = &result->u.device_list;
    result->message = SOMA_MESSAGE_DEVICE_LIST;
    list->devices.count = model->config.device_count;
    list->devices.items = model_alloc(list->devices.count * sizeof(*list->devices.items));
    for (uint32_t i = 0; i < model->config.device_count; i++)
        describe_device(model, i, &list->devices.items[i]);
    return SOMA_OK;
}

enum soma_status model_device_get(struct model *model, const struct soma_command *command,
                                  struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    result->message = SOMA_MESSAGE_DEVICE;
    describe_device(model, (uint32_t)command->device, &result->u.device);
    return SOMA_OK;
}

void model_answer_synchronized(struct model *model, uint32_t device, struct soma_result *result)
{
    result->message = SOMA_MESSAGE_SYNCHRONIZED;
    result->u.synchronized.status = SOMA_COMPLETION_COMPLETE;
    result->u.synchronized.now_ns = model->now_ns;
    result->u.synchronized.released_bytes =
        device != MODEL_NONE ? model_release_idle(model, device) : 0;
}

enum soma_status model_device_synchronize(struct model *model, const struct soma_command *command,
                                          struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    bool is_known = true;
    uint64_t last_ns = 0;
    for (uint32_t i = 0; i < model->streams.count; i++) {
        const struct model_stream *stream = model_stream(model, i);
        uint64_t ready_ns;
        if (!stream->is_live || stream->device != command->device)
            continue;
        is_known = model_ready_ns(model, i, &ready_ns) && is_known;
        last_ns = ready_ns > last_ns ? ready_ns : last_ns;
    }
    enum soma_status status =
        model_wait(model, command, is_known, last_ns, SOMA_DEVICE_SYNC_TIMEOUT);
    if (status == SOMA_OK)
        model_answer_synchronized(model, (uint32_t)command->device, result);
    return status;
}

static void drop_objects(struct model *model, uint32_t device)
{
    for (uint32_t i = 0; i < model->streams.count; i++) {
        struct model_stream *stream = model_stream(model, i);
        if (stream->device != device)
            continue;
        stream->is_live = stream->id == 0;
    }
    for (uint32_t i = 0; i < model->events.count; i++) {
        if (model_event(model, i)->device == device &&
            !model_has_mutant(model, MUTANT_RESET_KEEPS_EVENTS))
            model_event(model, i)->is_live = false;
    }
    for (uint32_t i = 0; i < model->pools.count; i++) {
        if (model_pool(model, i)->is_live && model_pool(model, i)->device == device)
            model_pool_drop(model, model_pool(model, i));
    }
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        struct model_allocation *allocation = model_allocation(model, i);
        if (allocation->device != device)
            continue;
        allocation->is_live = false;
        allocation->is_gone = true;
    }
}

enum soma_status model_device_reset(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    (void)result;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    model_drop_work(model, (uint32_t)command->device);
    drop_objects(model, (uint32_t)command->device);
    for (uint32_t i = 0; i < model->streams.count; i++) {
        if (model_stream(model, i)->device == command->device)
            model_stream(model, i)->stops_on_failure = model_stream(model, i)->is_stopped = false;
    }
    return SOMA_OK;
}

/* ---- streams ---- */

static enum soma_status find_stream(const struct model *model, const struct soma_command *command,
                                    uint32_t *stream)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    return model_find_stream(model, command->device, command->stream, stream);
}

enum soma_status model_stream_create(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    uint32_t live = 0;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    for (uint32_t i = 0; i < model->streams.count; i++) {
        const struct model_stream *stream = model_stream(model, i);
        live += stream->is_live && stream->id != 0 && stream->device == command->device;
    }
    if (live >= model->config.soc->max_streams)
        return SOMA_STREAM_LIMIT;
    if (model->streams.count == MODEL_STREAMS_MAX)
        abort(); /* the workload makes fewer */
    struct model_stream *stream = model_list_add(&model->streams, sizeof(*stream));
    stream->id = model->next_stream++;
    stream->device = (uint32_t)command->device;
    stream->priority = command->priority;
    stream->is_live = true;
    stream->last_task = MODEL_NONE;
    result->message = SOMA_MESSAGE_STREAM_CREATED;
    result->u.stream_created.stream = stream->id;
    result->u.stream_created.device = command->device;
    return SOMA_OK;
}

static uint64_t pending_tasks(const struct model *model, uint32_t stream)
{
    uint64_t count = 0;
    uint32_t task = model_stream(model, stream)->last_task;
    while (task != MODEL_NONE && !model_is_over(model, task, model->now_ns)) {
        count++;
        task = model_task(model, task)->previous;
    }
    return count;
}

static void describe_stream(const struct model *model, uint32_t index, struct soma_stream *out)
{
    const struct model_stream *stream = model_stream(model, index);
    uint64_t ready_ns;
    bool is_known = model_ready_ns(model, index, &ready_ns);
    out->stream = stream->id;
    out->device = stream->device;
    out->priority = stream->priority;
    out->ready_at_ns = is_known ? ready_ns : SOMA_NONE;
    out->status = is_known && ready_ns <= model->now_ns ? SOMA_COMPLETION_COMPLETE
                                                        : SOMA_COMPLETION_NOT_READY;
    out->pending_tasks = pending_tasks(model, index);
    out->failure_mode =
        stream->stops_on_failure ? SOMA_FAILURE_MODE_STOP : SOMA_FAILURE_MODE_CONTINUE;
    out->stopped = stream->is_stopped;
}

enum soma_status model_stream_list(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    struct soma_stream_list *list = &result->u.stream_list;
    result->message = SOMA_MESSAGE_STREAM_LIST;
    list->streams.items = model_alloc(model->streams.count * sizeof(*list->streams.items));
    for (uint32_t i = 0; i < model->streams.count; i++) {
        const struct model_stream *stream = model_stream(model, i);
        if (stream->is_live && stream->device == command->device)
            describe_stream(model, i, &list->streams.items[list->streams.count++]);
    }
    return SOMA_OK;
}

enum soma_status model_stream_get(struct model *model, const struct soma_command *command,
                                  struct soma_result *result)
{
    uint32_t stream;
    enum soma_status status = find_stream(model, command, &stream);
    if (status != SOMA_OK)
        return status;
    result->message = SOMA_MESSAGE_STREAM;
    describe_stream(model, stream, &result->u.stream);
    if (model_has_mutant(model, MUTANT_QUERY_RELEASES))
        model_release_idle(model, (uint32_t)command->device);
    return SOMA_OK;
}

enum soma_status model_stream_destroy(struct model *model, const struct soma_command *command,
                                      struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    uint64_t ready_ns;
    enum soma_status status = find_stream(model, command, &stream);
    if (status != SOMA_OK)
        return status;
    if (command->stream == 0)
        return SOMA_DEFAULT_STREAM;
    if (!model_ready_ns(model, stream, &ready_ns))
        return SOMA_MUST_WAIT;
    if (!model_has_mutant(model, MUTANT_DESTROY_NO_TIME))
        status = model_wait(model, command, true, ready_ns, SOMA_STREAM_SYNC_TIMEOUT);
    if (status != SOMA_OK)
        return status;
    model_stream(model, stream)->is_live = false;
    if (model_has_mutant(model, MUTANT_DESTROY_RELEASES))
        model_release_idle(model, (uint32_t)command->device);
    return SOMA_OK;
}

enum soma_status model_stream_synchronize(struct model *model, const struct soma_command *command,
                                          struct soma_result *result)
{
    uint32_t stream;
    uint64_t ready_ns;
    enum soma_status status = find_stream(model, command, &stream);
    if (status != SOMA_OK)
        return status;
    if (model_stream(model, stream)->is_stopped)
        return SOMA_STREAM_STOPPED;
    bool is_known = model_ready_ns(model, stream, &ready_ns);
    status = model_wait(model, command, is_known, ready_ns, SOMA_STREAM_SYNC_TIMEOUT);
    bool releases = command->release != 0 || model_has_mutant(model, MUTANT_WAIT_RELEASES);
    if (status == SOMA_OK)
        model_answer_synchronized(model, releases ? (uint32_t)command->device : MODEL_NONE, result);
    return status;
}

enum soma_status model_stream_set_failure_mode(struct model *model,
                                               const struct soma_command *command,
                                               struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    enum soma_status status = find_stream(model, command, &stream);
    if (status != SOMA_OK)
        return status;
    bool stops = command->failure_mode == SOMA_FAILURE_MODE_STOP;
    if (!stops && model_stream(model, stream)->stops_on_failure)
        return SOMA_NOT_SUPPORTED;
    model_stream(model, stream)->stops_on_failure = stops;
    return SOMA_OK;
}

enum soma_status model_stream_delay(struct model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    (void)result;
    uint32_t stream;
    enum soma_status status = find_stream(model, command, &stream);
    if (status == SOMA_OK && model_stream(model, stream)->is_stopped)
        status = SOMA_STREAM_STOPPED;
    if (status != SOMA_OK)
        return status;
    struct model_submission task = model_plain_task(stream, command->duration_ns);
    model_submit(model, &task);
    return SOMA_OK;
}
