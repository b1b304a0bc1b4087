/* Values in memory that streams write, and wait for. A value is written when its stream comes
 * there, and not, as other contents are, when it is submitted: who waits for it must not see it
 * before. */
#include "internal.h"

#include <inttypes.h>

#define VALUE_BYTES 8u

/* Contents of the engine's own accord: no command is refused for them. */
static struct call call_for(struct engine *engine, struct soma_error *error)
{
    return (struct call){.engine = engine, .error = error};
}

/* Whether the 8 bytes are live memory of the device. */
static bool is_live(const struct engine *engine, const struct device *device, uint64_t address)
{
    struct soma_error error;
    struct place place;
    struct range range = {address, VALUE_BYTES, "ptr", "ptr"};
    return memory_locate(engine, device, &range, &place, &error) == SOMA_OK;
}

/* Memory that was freed meanwhile is nobody's: nothing is written there. */
bool value_write(struct engine *engine, const struct stream *stream,
                 const struct value_access *access, uint64_t end_ns)
{
    struct soma_error error;
    struct call call = call_for(engine, &error);
    if (engine->has_bytes && is_live(engine, stream->device, access->address) &&
        contents_write(&call, access->address, &access->value, VALUE_BYTES) != SOMA_OK)
        return false;
    if (end_ns > engine->wrote_ns)
        engine->wrote_ns = end_ns;
    return true;
}

static bool holds(struct engine *engine, const struct stream *stream,
                  const struct value_access *access)
{
    struct soma_error error;
    struct call call = call_for(engine, &error);
    uint64_t word = 0, value = access->value;
    if (!is_live(engine, stream->device, access->address) ||
        contents_read(&call, access->address, &word, VALUE_BYTES) != SOMA_OK)
        return false;
    switch (access->condition) {
    case SOMA_VALUE_CONDITION_EQ: return word == value;
    case SOMA_VALUE_CONDITION_AND: return (word & value) != 0;
    case SOMA_VALUE_CONDITION_NOR: return ~(word | value) != 0;
    case SOMA_VALUE_CONDITION_GEQ:
    default: return word - value <= (uint64_t)INT64_MAX;
    }
}

/* Look at the wait that the stream stands at. Whether it is over now: since what this command did,
 * or since the stream came there and found the value. */
static bool check_stream(struct engine *engine, struct stream *stream, uint64_t now_ns)
{
    struct task *task = stream->head;
    if (task == NULL || task->access.use != VALUE_AWAITED || task->after == NULL ||
        task->after->is_resolved)
        return false;
    if (!holds(engine, stream, &task->access)) {
        task->access.is_seen = true;
        return false;
    }
    uint64_t since_ns = engine->wrote_ns;
    if (since_ns == 0 && task->access.is_seen)
        since_ns = now_ns;
    task->after->is_resolved = true;
    task->after->time_ns = since_ns;
    return true;
}

void values_check(struct engine *engine, uint64_t now_ns)
{
    bool has_moved = engine->value_waits > 0 && engine->has_bytes;
    while (has_moved) {
        has_moved = false;
        for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
             node = tree_next(node))
            has_moved |= check_stream(engine, TREE_ENTRY(node, struct stream, by_id), now_ns);
        if (has_moved)
            timeline_resolve(engine, now_ns);
    }
}

/* ---- commands ---- */

/* The stream that the command names, when its ptr leads to 8 live bytes of the device. */
static struct stream *find(struct call *call)
{
    struct place place;
    struct stream *stream = stream_named_going(call);
    struct range range = {call->command->ptr, VALUE_BYTES, "ptr", "ptr"};
    if (stream == NULL ||
        memory_locate(call->engine, stream->device, &range, &place, call->error) != SOMA_OK)
        return NULL;
    return stream;
}

enum soma_status stream_write_value(struct call *call)
{
    struct engine *engine = call->engine;
    uint64_t address = call->command->ptr;
    struct submission sub = {
        .stream = find(call),
        .access = {.use = VALUE_WRITTEN, .address = address, .value = call->command->value}};
    if (sub.stream == NULL)
        return call->error->status;
    if (address % VALUE_BYTES != 0)
        return soma_fail(call->error, SOMA_VALUE_UNALIGNED, "ptr",
                         "0x%" PRIx64 " is no multiple of %u: a value of 8 bytes is written in one",
                         address, VALUE_BYTES);
    if (!submission_prepare(call, &sub, NULL, 0))
        return engine_no_memory(call);
    enum soma_status status = SOMA_OK;
    if (!stream_is_blocked(sub.stream) && engine->has_bytes)
        status = contents_write(call, address, &sub.access.value, VALUE_BYTES);
    if (status != SOMA_OK) {
        submission_drop(engine, &sub);
        return status;
    }
    submission_commit(call, &sub, NULL);
    if (sub.end_ns != SOMA_NONE && sub.end_ns > engine->wrote_ns)
        engine->wrote_ns = sub.end_ns;
    return SOMA_OK;
}

enum soma_status stream_wait_value(struct call *call)
{
    struct engine *engine = call->engine;
    const struct soma_command *command = call->command;
    struct submission sub = {.stream = find(call),
                             .access = {.use = VALUE_AWAITED,
                                        .condition = (enum soma_value_condition)command->condition,
                                        .address = command->ptr,
                                        .value = command->value}};
    if (sub.stream == NULL)
        return call->error->status;
    struct point *point = point_new_of(engine, POINT_OF_VALUE, command->ptr);
    if (point == NULL || !submission_prepare(call, &sub, &point, 1)) {
        point_unref(engine, point);
        return engine_no_memory(call);
    }
    submission_commit(call, &sub, NULL);
    point_unref(engine, point);
    return SOMA_OK;
}
