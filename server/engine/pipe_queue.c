/* Buffers in use: the tensors of TQues, and where a TBuf's elements lie.
 *
 * A tensor is live from AllocTensor to FreeTensor. No two live tensors overlap, so a buffer of a
 * pool cannot be used while its bytes are live in a pool that shares them. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes of one on-chip memory. */
struct span {
    unsigned memory;
    uint32_t begin, end;
};

static struct span span_of(const struct onchip *object, unsigned index)
{
    uint32_t begin = object->address + index * object->size;
    return (struct span){object->memory, begin, begin + object->size};
}

/* " of TBufPool p1" or "". */
static const char *pool_text(const struct onchip *object, char *buf, size_t size)
{
    char title[ONCHIP_TITLE_BYTES];
    buf[0] = '\0';
    if (object->pool != NULL)
        (void)snprintf(buf, size, " of %s", onchip_title(object->pool, title));
    return buf;
}

/* ---- overlap ---- */

static enum soma_status fail_overlap(struct call *call, const struct onchip *user,
                                     const struct span *span, const struct onchip *tque,
                                     unsigned index)
{
    struct span live = span_of(tque, index);
    uint32_t begin = live.begin > span->begin ? live.begin : span->begin;
    uint32_t end = live.end < span->end ? live.end : span->end;
    char title[ONCHIP_TITLE_BYTES], other[ONCHIP_TITLE_BYTES];
    char pool[ONCHIP_TITLE_BYTES + 8], other_pool[ONCHIP_TITLE_BYTES + 8];
    return soma_fail(call->error, SOMA_BUFFER_OVERLAP, user->kind == ONCHIP_TQUE ? "tque" : "tbuf",
                     "%s%s, %s %" PRIu32 "..%" PRIu32 ", overlaps the live tensor %" PRIu64
                     " of %s%s, %" PRIu32 "..%" PRIu32 ", in %" PRIu32 "..%" PRIu32 " (%" PRIu32
                     " bytes): free that tensor, or Reset its pool, before this buffer is used",
                     onchip_title(user, title), pool_text(user, pool, sizeof(pool)),
                     onchip_memory_name(span->memory), span->begin, span->end,
                     tque->slots[index].tensor, onchip_title(tque, other),
                     pool_text(tque, other_pool, sizeof(other_pool)), live.begin, live.end, begin,
                     end, end - begin);
}

/* Refuse the use of bytes in which a tensor is live. Only pools that share can bring that about. */
static enum soma_status check_overlap(struct call *call, const struct pipe *pipe,
                                      const struct onchip *user, const struct span *span)
{
    const struct onchip_list *tques = &pipe->objects[ONCHIP_TQUE];
    for (uint32_t i = 0; pipe->shared_pools > 0 && i < tques->count; i++) {
        const struct onchip *tque = tques->items[i];
        if (!tque->is_initialized || tque->memory != span->memory)
            continue;
        for (unsigned index = 0; index < tque->num; index++) {
            struct span live = span_of(tque, index);
            if (tque->slots[index].tensor != 0 && live.begin < span->end && span->begin < live.end)
                return fail_overlap(call, user, span, tque, index);
        }
    }
    return SOMA_OK;
}

/* ---- queues ---- */

/* The pipe and the TQue that the command names, initialised; NULL with call->error set. */
static struct onchip *named_tque(struct call *call, struct pipe **pipe)
{
    *pipe = pipe_find(call);
    struct onchip *tque =
        *pipe == NULL ? NULL : onchip_find(call, *pipe, ONCHIP_TQUE, call->command->tque, NULL);
    if (tque == NULL || onchip_check_initialized(call, tque, "tque") != SOMA_OK)
        return NULL;
    return tque;
}

static bool find_slot(const struct onchip *tque, uint64_t tensor, unsigned *index)
{
    for (unsigned i = 0; tensor != 0 && i < tque->num; i++) {
        if (tque->slots[i].tensor == tensor) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* The live tensor that the command names, which must be of this TQue; false with call->error set.
 */
static bool find_tensor(struct call *call, const struct pipe *pipe, const struct onchip *tque,
                        unsigned *index)
{
    const struct onchip_list *tques = &pipe->objects[ONCHIP_TQUE];
    uint64_t tensor = call->command->tensor;
    char title[ONCHIP_TITLE_BYTES], other[ONCHIP_TITLE_BYTES];
    if (find_slot(tque, tensor, index))
        return true;
    for (uint32_t i = 0; i < tques->count; i++) {
        if (find_slot(tques->items[i], tensor, index)) {
            (void)soma_fail(call->error, SOMA_TENSOR_STATE, "tensor",
                            "tensor %" PRIu64 " is of %s, not of %s: it goes back to its own queue",
                            tensor, onchip_title(tques->items[i], other),
                            onchip_title(tque, title));
            return false;
        }
    }
    bool was = tensor != 0 && tensor <= call->engine->last_id[ID_TENSOR];
    (void)soma_fail(call->error, SOMA_NO_SUCH_TENSOR, "tensor", "tensor %" PRIu64 " %s", tensor,
                    was ? "is not live in this pipe: it was freed, or its pool or pipe was reset"
                        : "never was; AllocTensor gives one");
    return false;
}

static unsigned count_queued(const struct onchip *tque)
{
    unsigned queued = 0;
    for (unsigned i = 0; i < tque->num; i++)
        queued += tque->slots[i].state == SOMA_REGION_STATE_QUEUED;
    return queued;
}

static void answer_tensor(struct call *call, const struct onchip *tque, unsigned index)
{
    call->result->u.tensor =
        (struct soma_tensor){tque->slots[index].tensor, span_of(tque, index).begin, tque->size};
}

/* The next free buffer after the one taken last, all around; false: none is free. */
static bool next_free_slot(const struct onchip *tque, unsigned *index)
{
    for (unsigned i = 0; i < tque->num; i++) {
        *index = (tque->last + i) % tque->num;
        if (tque->slots[*index].tensor == 0)
            return true;
    }
    return false;
}

enum soma_status pipe_alloc_tensor(struct call *call)
{
    struct pipe *pipe = NULL;
    struct onchip *tque = named_tque(call, &pipe);
    unsigned index = 0;
    char title[ONCHIP_TITLE_BYTES];
    if (tque == NULL)
        return call->error->status;
    if (!next_free_slot(tque, &index))
        return soma_fail(
            call->error, SOMA_QUEUE_BUFFERS_HELD, "tque",
            "%s: all of its %u buffers are held, %u of them in the queue; FreeTensor one "
            "first, or InitBuffer with a larger num",
            onchip_title(tque, title), tque->num, count_queued(tque));
    if (pipe->held[tque->position] >= pipe_tensors_max(pipe))
        return soma_fail(call->error, SOMA_QUEUE_BUFFERS_HELD, "tque",
                         "%s: position %s holds %u tensors, one for each event id of %s (npu_arch "
                         "%u); FreeTensor one first",
                         onchip_title(tque, title), onchip_position_name(tque->position),
                         pipe->held[tque->position], pipe->soc->name, pipe->soc->npu_arch);
    struct span span = span_of(tque, index);
    enum soma_status status = check_overlap(call, pipe, tque, &span);
    if (status != SOMA_OK)
        return status;
    tque->slots[index] = (struct onchip_slot){.tensor = ++call->engine->last_id[ID_TENSOR],
                                              .state = SOMA_REGION_STATE_ALLOCATED};
    tque->last = (uint8_t)(index + 1);
    pipe->held[tque->position]++;
    answer_tensor(call, tque, index);
    return SOMA_OK;
}

/* Let the orders of what is queued begin at 1 again, before they leave 32 bits. */
static void renumber(struct onchip *tque)
{
    uint32_t least = UINT32_MAX;
    for (unsigned i = 0; i < tque->num; i++) {
        if (tque->slots[i].state == SOMA_REGION_STATE_QUEUED && tque->slots[i].order < least)
            least = tque->slots[i].order;
    }
    for (unsigned i = 0; i < tque->num; i++) {
        if (tque->slots[i].state == SOMA_REGION_STATE_QUEUED)
            tque->slots[i].order -= least - 1;
    }
    tque->last_order -= least - 1;
}

enum soma_status pipe_en_que(struct call *call)
{
    struct pipe *pipe = NULL;
    struct onchip *tque = named_tque(call, &pipe);
    unsigned index = 0;
    char title[ONCHIP_TITLE_BYTES];
    if (tque == NULL || !find_tensor(call, pipe, tque, &index))
        return call->error->status;
    struct onchip_slot *slot = &tque->slots[index];
    unsigned queued = count_queued(tque);
    if (slot->state == SOMA_REGION_STATE_QUEUED)
        return soma_fail(call->error, SOMA_TENSOR_STATE, "tensor",
                         "tensor %" PRIu64 " stands in %s already; DeQue it first", slot->tensor,
                         onchip_title(tque, title));
    if (queued >= (tque->depth == 0 ? 1 : tque->depth))
        return soma_fail(call->error, SOMA_QUEUE_FULL, "tque",
                         "%s holds %u tensors, its depth is %" PRIu32
                         "; DeQue one first, or create "
                         "it with a larger depth",
                         onchip_title(tque, title), queued, tque->depth);
    if (queued == 0)
        tque->last_order = 0;
    if (tque->last_order == UINT32_MAX)
        renumber(tque);
    slot->order = ++tque->last_order;
    slot->state = SOMA_REGION_STATE_QUEUED;
    return SOMA_OK;
}

enum soma_status pipe_de_que(struct call *call)
{
    struct pipe *pipe = NULL;
    struct onchip *tque = named_tque(call, &pipe);
    struct onchip_slot *oldest = NULL;
    char title[ONCHIP_TITLE_BYTES];
    if (tque == NULL)
        return call->error->status;
    for (unsigned i = 0; i < tque->num; i++) {
        struct onchip_slot *slot = &tque->slots[i];
        if (slot->state == SOMA_REGION_STATE_QUEUED &&
            (oldest == NULL || slot->order < oldest->order))
            oldest = slot;
    }
    if (oldest == NULL)
        return soma_fail(call->error, SOMA_QUEUE_EMPTY, "tque",
                         "%s is empty: DeQue would wait for ever; EnQue a tensor first",
                         onchip_title(tque, title));
    oldest->state = SOMA_REGION_STATE_DEQUEUED;
    oldest->order = 0;
    answer_tensor(call, tque, (unsigned)(oldest - tque->slots));
    return SOMA_OK;
}

enum soma_status pipe_free_tensor(struct call *call)
{
    struct pipe *pipe = NULL;
    struct onchip *tque = named_tque(call, &pipe);
    unsigned index = 0;
    char title[ONCHIP_TITLE_BYTES];
    if (tque == NULL || !find_tensor(call, pipe, tque, &index))
        return call->error->status;
    struct onchip_slot *slot = &tque->slots[index];
    if (slot->state == SOMA_REGION_STATE_QUEUED)
        return soma_fail(call->error, SOMA_TENSOR_STATE, "tensor",
                         "tensor %" PRIu64 " stands in %s; DeQue it before it is freed",
                         slot->tensor, onchip_title(tque, title));
    *slot = (struct onchip_slot){0};
    pipe->held[tque->position]--;
    return SOMA_OK;
}

/* ---- TBuf ---- */

/* Elements of a TBuf, from an offset on. */
struct slice {
    uint64_t elements, offset;
    const char *field; /* of the command, that counts the elements */
};

static enum soma_status answer_slice(struct call *call, const struct pipe *pipe,
                                     const struct onchip *tbuf, const struct slice *slice)
{
    unsigned each = dtype_bytes((enum soma_dtype)call->command->dtype);
    char title[ONCHIP_TITLE_BYTES];
    if (slice->elements == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, slice->field,
                         "%s is 0; take at least 1 element", slice->field);
    if (slice->offset > tbuf->size || slice->elements > (tbuf->size - slice->offset) / each)
        return soma_fail(call->error, SOMA_BUFFER_RANGE, slice->field,
                         "%s: %" PRIu64 " elements of %u bytes from byte %" PRIu64 " on leave the "
                         "buffer: it has %" PRIu32 " bytes, which is %" PRIu32
                         " elements from its start",
                         onchip_title(tbuf, title), slice->elements, each, slice->offset,
                         tbuf->size, tbuf->size / each);
    uint32_t begin = tbuf->address + (uint32_t)slice->offset;
    uint32_t bytes = (uint32_t)slice->elements * each;
    struct span span = {tbuf->memory, begin, begin + bytes};
    enum soma_status status = check_overlap(call, pipe, tbuf, &span);
    if (status != SOMA_OK)
        return status;
    call->result->u.tbuf_slice = (struct soma_tbuf_slice){begin, slice->elements, bytes};
    return SOMA_OK;
}

/* As named_tque. */
static const struct onchip *named_tbuf(struct call *call, struct pipe **pipe)
{
    *pipe = pipe_find(call);
    const struct onchip *tbuf =
        *pipe == NULL ? NULL : onchip_find(call, *pipe, ONCHIP_TBUF, call->command->tbuf, NULL);
    if (tbuf == NULL || onchip_check_initialized(call, tbuf, "tbuf") != SOMA_OK)
        return NULL;
    return tbuf;
}

enum soma_status pipe_tbuf_get(struct call *call)
{
    struct pipe *pipe = NULL;
    const struct onchip *tbuf = named_tbuf(call, &pipe);
    if (tbuf == NULL)
        return call->error->status;
    struct slice slice = {.field = "len"};
    slice.elements = call_has(call, SOMA_HAS(len))
                         ? call->command->len
                         : tbuf->size / dtype_bytes((enum soma_dtype)call->command->dtype);
    return answer_slice(call, pipe, tbuf, &slice);
}

enum soma_status pipe_tbuf_get_with_offset(struct call *call)
{
    const struct soma_command *command = call->command;
    struct pipe *pipe = NULL;
    const struct onchip *tbuf = named_tbuf(call, &pipe);
    if (tbuf == NULL)
        return call->error->status;
    if (command->buf_offset % SOMA_ONCHIP_ALIGN_BYTES != 0)
        return soma_fail(call->error, SOMA_OFFSET_UNALIGNED, "bufOffset",
                         "bufOffset %" PRIu64 " is not a multiple of %u", command->buf_offset,
                         SOMA_ONCHIP_ALIGN_BYTES);
    struct slice slice = {command->size, command->buf_offset, "size"};
    return answer_slice(call, pipe, tbuf, &slice);
}
