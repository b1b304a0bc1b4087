/* What is allowed, but ought to be told to whoever plans a kernel. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

void pipe_warn_event_ids(const struct pipe *pipe, unsigned position, unsigned buffers, char *out)
{
    unsigned limit = pipe_tensors_max(pipe);
    (void)snprintf(
        out, SOMA_MESSAGE_BYTES,
        "position %s has %u TQue buffers, but %s has %u event ids for a position: no more "
        "than %u of their tensors can be held at the same time",
        onchip_position_name(position), buffers, pipe->soc->name, limit, limit);
}

struct sink {
    char (*items)[SOMA_MESSAGE_BYTES]; /* NULL: only count */
    size_t count;
};

/* Where the next warning goes; NULL when it is only counted. */
static char *next_place(struct sink *sink)
{
    size_t index = sink->count++;
    return sink->items == NULL ? NULL : sink->items[index];
}

static void warn_positions(const struct pipe *pipe, struct sink *sink)
{
    for (unsigned position = 0; position < ONCHIP_POSITIONS; position++) {
        unsigned buffers = pipe->tque_buffers[position];
        if (buffers <= pipe_tensors_max(pipe))
            continue;
        char *out = next_place(sink);
        if (out != NULL)
            pipe_warn_event_ids(pipe, position, buffers, out);
    }
}

static void warn_tail(const struct pipe *pipe, struct sink *sink)
{
    uint32_t tail = onchip_reserved(pipe->soc);
    uint32_t begin = pipe->soc->ub_bytes - tail;
    const struct onchip *last = pipe->first[SOMA_ONCHIP_MEMORY_UB];
    if (tail == 0 || last == NULL || pipe->next_free[SOMA_ONCHIP_MEMORY_UB] <= begin)
        return;
    char title[ONCHIP_TITLE_BYTES];
    char *out = next_place(sink);
    if (out != NULL)
        (void)snprintf(out, SOMA_MESSAGE_BYTES,
                       "%s reaches into the last %" PRIu32 " bytes of UB, from %" PRIu32
                       " on: on %s some vector operations keep temporary values there",
                       onchip_title(last, title), tail, begin, pipe->soc->name);
}

static void warn_large(const struct pipe *pipe, const struct onchip *object, struct sink *sink)
{
    uint32_t capacity = onchip_capacity(pipe->soc, object->memory);
    if (!object->is_initialized || object->size <= capacity / 2)
        return;
    char title[ONCHIP_TITLE_BYTES];
    char *out = next_place(sink);
    if (out != NULL)
        (void)snprintf(out, SOMA_MESSAGE_BYTES,
                       "%s: one buffer takes %" PRIu32 " of the %" PRIu32
                       " bytes of %s, more than half",
                       onchip_title(object, title), object->size, capacity,
                       onchip_memory_name(object->memory));
}

size_t pipe_warnings(const struct pipe *pipe, char (*items)[SOMA_MESSAGE_BYTES])
{
    struct sink sink = {items, 0};
    warn_positions(pipe, &sink);
    warn_tail(pipe, &sink);
    for (unsigned kind = 0; kind < ONCHIP_KINDS; kind++) {
        const struct onchip_list *list = &pipe->objects[kind];
        for (uint32_t i = 0; kind != ONCHIP_TBUFPOOL && i < list->count; i++)
            warn_large(pipe, list->items[i], &sink);
    }
    return sink.count;
}
