/* Functions of the host that streams call: when each is due, and letting a stream go on. */
#include "internal.h"

#include <inttypes.h>

void host_func_release(struct engine *engine, struct host_func *func)
{
    tree_remove(&engine->host_funcs, &func->by_id);
    if (!func->is_taken)
        tree_remove(&engine->free_host_funcs, &func->by_group);
    point_unref(engine, func->arrival);
    point_unref(engine, func->release);
    engine_free(engine, func);
}

void host_func_drop(struct engine *engine, uint64_t id)
{
    struct tree_node *node = tree_find(&engine->host_funcs, id, 0);
    if (node != NULL)
        host_func_release(engine, TREE_ENTRY(node, struct host_func, by_id));
}

void host_funcs_drop(struct engine *engine, const struct device *device, uint64_t stream_key)
{
    struct tree_node *next, *node = tree_first(&engine->host_funcs);
    for (; node != NULL; node = next) {
        struct host_func *func = TREE_ENTRY(node, struct host_func, by_id);
        next = tree_next(node);
        if (func->device == device && (stream_key == 0 || func->stream_key == stream_key))
            host_func_release(engine, func);
    }
}

/* All before it on its stream is over. On a virtual clock that is so as soon as the time is known:
 * the host waits for nobody, and its clock is only moved by what it does. */
static bool has_arrived(const struct call *call, const struct host_func *func)
{
    return func->arrival->is_resolved &&
           (!call->engine->wall_clock || func->arrival->time_ns <= call->now_ns);
}

static void describe(const struct call *call, const struct host_func *func,
                     struct soma_host_func *out)
{
    enum soma_host_func_state state =
        has_arrived(call, func) ? SOMA_HOST_FUNC_STATE_ARRIVED : SOMA_HOST_FUNC_STATE_QUEUED;
    *out = (struct soma_host_func){
        .host_func = func->id,
        .device = func->device->number,
        .stream = func->stream_id,
        .group = func->group,
        .block_type = func->release != NULL ? SOMA_BLOCK_TYPE_BLOCK : SOMA_BLOCK_TYPE_NO_BLOCK,
        .state = func->is_taken ? (int)SOMA_HOST_FUNC_STATE_TAKEN : (int)state,
        .arrived_at_ns = point_time(func->arrival, 0),
    };
}

/* ---- launching ---- */

static struct host_func *func_new(struct engine *engine, bool blocks)
{
    struct host_func *func = engine_alloc(engine, sizeof(*func));
    if (func == NULL)
        return NULL;
    func->arrival = point_new(engine);
    if (blocks)
        func->release = point_new_of(engine, POINT_OF_HOST_FUNC, engine->last_id[ID_HOST_FUNC] + 1);
    if (func->arrival != NULL && (!blocks || func->release != NULL))
        return func;
    point_unref(engine, func->arrival);
    point_unref(engine, func->release);
    engine_free(engine, func);
    return NULL;
}

enum soma_status stream_launch_host_func(struct call *call)
{
    struct engine *engine = call->engine;
    struct submission sub = {.stream = stream_named_going(call)};
    if (sub.stream == NULL)
        return call->error->status;
    bool blocks = call->command->block_type == SOMA_BLOCK_TYPE_BLOCK;
    struct host_func *func = func_new(engine, blocks);
    if (func == NULL || !submission_prepare(call, &sub, &func->release, blocks ? 1 : 0)) {
        if (func != NULL) {
            point_unref(engine, func->arrival);
            point_unref(engine, func->release);
            engine_free(engine, func);
        }
        return engine_no_memory(call);
    }
    func->device = sub.stream->device;
    func->stream_id = sub.stream->id;
    func->stream_key = sub.stream->key;
    func->group = call->command->group;
    func->id = ++engine->last_id[ID_HOST_FUNC];
    tree_insert(&engine->host_funcs, &func->by_id, func->id, 0);
    tree_insert(&engine->free_host_funcs, &func->by_group, func->group, func->id);
    sub.arrival = blocks ? func->arrival : NULL;
    submission_commit(call, &sub, blocks ? NULL : func->arrival);
    describe(call, func, &call->result->u.host_func);
    return SOMA_OK;
}

enum soma_status host_func_list(struct call *call)
{
    struct engine *engine = call->engine;
    void *items = NULL;
    size_t count = 0, filled = 0;
    struct tree_node *node;
    for (node = tree_first(&engine->host_funcs); node != NULL; node = tree_next(node))
        count++;
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_host_func), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_host_func *funcs = items;
    for (node = tree_first(&engine->host_funcs); node != NULL; node = tree_next(node))
        describe(call, TREE_ENTRY(node, struct host_func, by_id), &funcs[filled++]);
    call->result->u.host_func_list.host_funcs.items = funcs;
    call->result->u.host_func_list.host_funcs.count = count;
    return SOMA_OK;
}

/* ---- taking ---- */

/* Of the functions of the command's group that have arrived, the oldest; NULL: none has. With
 * clock=wall, *next_ns: when the first of the others will. */
static struct host_func *find_arrived(const struct call *call, uint64_t *next_ns)
{
    uint64_t group = call->command->group;
    struct tree_node *node = tree_ceil(&call->engine->free_host_funcs, group);
    *next_ns = SOMA_NONE;
    for (; node != NULL && node->major == group; node = tree_next(node)) {
        struct host_func *func = TREE_ENTRY(node, struct host_func, by_group);
        if (has_arrived(call, func))
            return func;
        uint64_t time_ns = point_time(func->arrival, 0);
        if (time_ns < *next_ns)
            *next_ns = time_ns;
    }
    return NULL;
}

enum soma_status host_func_take(struct call *call)
{
    struct engine *engine = call->engine;
    const struct soma_command *command = call->command;
    uint64_t next_ns;
    struct host_func *func = find_arrived(call, &next_ns);
    if (func != NULL) {
        tree_remove(&engine->free_host_funcs, &func->by_group);
        func->is_taken = true;
        describe(call, func, &call->result->u.host_func);
        if (func->release == NULL)
            host_func_release(engine, func);
        return SOMA_OK;
    }
    bool has_limit = call_has(call, SOMA_HAS(timeout_ms)) && command->timeout_ms != UINT64_MAX;
    if (has_limit && (command->expired || command->timeout_ms == 0))
        return soma_fail(call->error, SOMA_HOST_FUNC_TIMEOUT, "timeoutMs",
                         "no host function of group %" PRIu64 " has arrived after %" PRIu64
                         " ms: launch one, let its stream come to it, or wait longer",
                         command->group, command->timeout_ms);
    if (engine->wall_clock)
        engine->wait_ns = next_ns < engine->deadline_ns ? next_ns : engine->deadline_ns;
    return SOMA_MUST_WAIT;
}

enum soma_status host_func_complete(struct call *call)
{
    struct engine *engine = call->engine;
    uint64_t id = call->command->host_func;
    struct host_func *func =
        TREE_ENTRY(tree_find(&engine->host_funcs, id, 0), struct host_func, by_id);
    if (func == NULL) {
        bool was = id != 0 && id <= engine->last_id[ID_HOST_FUNC];
        return soma_fail(call->error, SOMA_NO_SUCH_HOST_FUNC, "hostFunc",
                         "host function %" PRIu64 " %s", id,
                         was ? "is complete, or was dropped with the work of its stream"
                             : "never was; launch one first");
    }
    if (!has_arrived(call, func))
        return soma_fail(call->error, SOMA_HOST_FUNC_NOT_ARRIVED, "hostFunc",
                         "stream %" PRIu64 " has not come to host function %" PRIu64
                         ": hostFunc.take tells when it has",
                         func->stream_id, id);
    if (func->release != NULL) {
        func->release->is_resolved = true;
        func->release->time_ns = call->now_ns;
    }
    host_func_release(engine, func);
    timeline_resolve(engine, call->now_ns);
    return SOMA_OK;
}
