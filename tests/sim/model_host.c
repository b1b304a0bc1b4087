/* Functions of the host: in the order of their ids, with plain scans. */
#include "model_state.h"

static struct model_func *func_at(const struct model *model, uint32_t index)
{
    return (struct model_func *)model->funcs.items + index;
}

/* A function goes with the work of its stream. */
static bool is_there(const struct model *model, const struct model_func *func)
{
    return func->is_live && !model_task(model, func->task)->is_dropped;
}

static bool has_arrived(const struct model *model, const struct model_func *func)
{
    uint64_t arrival_ns;
    return model_arrival_ns(model, func->task, &arrival_ns) &&
           (!model->config.is_wall_clock || arrival_ns <= model->now_ns);
}

static void describe(const struct model *model, const struct model_func *func,
                     struct soma_host_func *out)
{
    const struct model_stream *stream = model_stream(model, model_task(model, func->task)->stream);
    uint64_t arrival_ns;
    out->host_func = func->id;
    out->device = stream->device;
    out->stream = stream->id;
    out->group = func->group;
    out->block_type = func->is_blocking ? SOMA_BLOCK_TYPE_BLOCK : SOMA_BLOCK_TYPE_NO_BLOCK;
    out->state =
        has_arrived(model, func) ? SOMA_HOST_FUNC_STATE_ARRIVED : SOMA_HOST_FUNC_STATE_QUEUED;
    if (func->is_taken)
        out->state = SOMA_HOST_FUNC_STATE_TAKEN;
    out->arrived_at_ns = model_arrival_ns(model, func->task, &arrival_ns) ? arrival_ns : SOMA_NONE;
}

enum soma_status model_stream_launch_host_func(struct model *model,
                                               const struct soma_command *command,
                                               struct soma_result *result)
{
    uint32_t stream;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    enum soma_status status =
        model_find_going_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    struct model_submission task = model_plain_task(stream, 0);
    task.is_held = command->block_type == SOMA_BLOCK_TYPE_BLOCK;
    struct model_func *func = model_list_add(&model->funcs, sizeof(*func));
    func->id = model->funcs.count;
    func->group = command->group;
    func->is_blocking = task.is_held;
    func->is_live = true;
    func->task = model_submit(model, &task);
    result->message = SOMA_MESSAGE_HOST_FUNC;
    describe(model, func, &result->u.host_func);
    return SOMA_OK;
}

enum soma_status model_host_func_list(struct model *model, const struct soma_command *command,
                                      struct soma_result *result)
{
    (void)command;
    struct soma_host_func_list *list = &result->u.host_func_list;
    result->message = SOMA_MESSAGE_HOST_FUNC_LIST;
    list->host_funcs.items =
        model_alloc((model->funcs.count + 1) * sizeof(*list->host_funcs.items));
    for (uint32_t i = 0; i < model->funcs.count; i++) {
        if (is_there(model, func_at(model, i)))
            describe(model, func_at(model, i), &list->host_funcs.items[list->host_funcs.count++]);
    }
    return SOMA_OK;
}

enum soma_status model_host_func_take(struct model *model, const struct soma_command *command,
                                      struct soma_result *result)
{
    for (uint32_t i = 0; i < model->funcs.count; i++) {
        struct model_func *func = func_at(model, i);
        if (!is_there(model, func) || func->is_taken || func->group != command->group ||
            !has_arrived(model, func))
            continue;
        func->is_taken = true;
        func->is_live = func->is_blocking;
        result->message = SOMA_MESSAGE_HOST_FUNC;
        describe(model, func, &result->u.host_func);
        return SOMA_OK;
    }
    return SOMA_HOST_FUNC_TIMEOUT; /* the programs never wait for one */
}

enum soma_status model_host_func_complete(struct model *model, const struct soma_command *command,
                                          struct soma_result *result)
{
    (void)result;
    uint64_t id = command->host_func;
    if (id == 0 || id > model->funcs.count || !is_there(model, func_at(model, (uint32_t)id - 1)))
        return SOMA_NO_SUCH_HOST_FUNC;
    struct model_func *func = func_at(model, (uint32_t)id - 1);
    if (!has_arrived(model, func))
        return SOMA_HOST_FUNC_NOT_ARRIVED;
    func->is_live = false;
    if (func->is_blocking)
        model_complete(model, func->task);
    return SOMA_OK;
}

enum soma_status model_clock_advance(struct model *model, const struct soma_command *command,
                                     struct soma_result *result)
{
    model->now_ns += command->duration_ns;
    result->message = SOMA_MESSAGE_CLOCK_READING;
    result->u.clock_reading.now_ns = model->now_ns;
    return SOMA_OK;
}
