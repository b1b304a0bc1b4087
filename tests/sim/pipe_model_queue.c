/* Tensors of queues and slices of buffers. */
#include "pipe_model_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors ---- */

static enum soma_status find_tque(const struct pipe_model *model,
                                  const struct soma_command *command, struct item **tque)
{
    const struct pipe_of_model *pipe = find_pipe(model, command->pipe);
    if (pipe == NULL)
        return SOMA_NO_SUCH_PIPE;
    *tque = find_item(model, pipe, PIPE_MODEL_TQUE, command->tque);
    if (*tque == NULL)
        return SOMA_NO_SUCH_TQUE;
    return (*tque)->has_memory ? SOMA_OK : SOMA_NOT_INITIALIZED;
}

static int place_of(const struct item *tque, uint64_t tensor)
{
    for (uint64_t i = 0; tensor != 0 && i < tque->num; i++) {
        if (tque->tensors[i] == tensor)
            return (int)i;
    }
    return -1;
}

static enum soma_status find_tensor(const struct pipe_model *model,
                                    const struct soma_command *command, struct item **tque,
                                    int *place)
{
    enum soma_status status = find_tque(model, command, tque);
    if (status != SOMA_OK)
        return status;
    *place = place_of(*tque, command->tensor);
    if (*place >= 0)
        return SOMA_OK;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe == (*tque)->pipe && item->kind == PIPE_MODEL_TQUE &&
            place_of(item, command->tensor) >= 0)
            return SOMA_TENSOR_STATE;
    }
    return SOMA_NO_SUCH_TENSOR;
}

static bool is_anything_live(const struct pipe_of_model *pipe, unsigned memory, uint64_t begin,
                             uint64_t end)
{
    for (uint64_t byte = begin; byte < end; byte++) {
        if (pipe->live[memory][byte / CELL] != 0)
            return true;
    }
    return false;
}

static uint64_t held_at(const struct pipe_model *model, const struct pipe_of_model *pipe,
                        unsigned position)
{
    uint64_t held = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        for (uint64_t j = 0; item->pipe == pipe && item->kind == PIPE_MODEL_TQUE &&
                             item->position == position && j < item->num;
             j++)
            held += item->tensors[j] != 0;
    }
    return held;
}

static void answer_tensor(const struct item *tque, int place, struct soma_tensor *out)
{
    out->tensor = tque->tensors[place];
    out->address = tque->address + (uint64_t)place * tque->each;
    out->len = tque->each;
}

enum soma_status model_alloc_tensor(struct pipe_model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    struct item *tque = NULL;
    enum soma_status status = find_tque(model, command, &tque);
    int place = -1;
    if (status != SOMA_OK)
        return status;
    unsigned first = has_mutant(model, PIPE_MUTANT_FIRST_FREE) ? 0 : tque->turn;
    for (unsigned i = 0; i < tque->num && place < 0; i++) {
        unsigned at = (first + i) % (unsigned)tque->num;
        place = tque->tensors[at] == 0 ? (int)at : -1;
    }
    uint64_t most = most_held(tque->pipe) + has_mutant(model, PIPE_MUTANT_HELD_9);
    if (place < 0 || held_at(model, tque->pipe, tque->position) >= most)
        return SOMA_QUEUE_BUFFERS_HELD;
    uint64_t begin = tque->address + (uint64_t)place * tque->each;
    if (is_anything_live(tque->pipe, tque->memory, begin, begin + tque->each) &&
        !has_mutant(model, PIPE_MUTANT_OVERLAP))
        return SOMA_BUFFER_OVERLAP;
    tque->tensors[place] = ++model->last_tensor;
    tque->states[place] = SOMA_REGION_STATE_ALLOCATED;
    tque->turn = ((unsigned)place + 1) % (unsigned)tque->num;
    for (uint64_t cell = 0; cell < tque->each / CELL; cell++)
        tque->pipe->live[tque->memory][begin / CELL + cell] = tque->tensors[place];
    answer_tensor(tque, place, &result->u.tensor);
    return SOMA_OK;
}

enum soma_status model_en_que(struct pipe_model *model, const struct soma_command *command)
{
    struct item *tque = NULL;
    int place = -1;
    enum soma_status status = find_tensor(model, command, &tque, &place);
    if (status != SOMA_OK)
        return status;
    if (tque->states[place] == SOMA_REGION_STATE_QUEUED)
        return SOMA_TENSOR_STATE;
    uint64_t depth = tque->depth == 0 ? 1 : tque->depth;
    if (tque->queued >= depth + has_mutant(model, PIPE_MUTANT_DEPTH_PLUS_1))
        return SOMA_QUEUE_FULL;
    tque->states[place] = SOMA_REGION_STATE_QUEUED;
    tque->queue[tque->queued++] = command->tensor;
    return SOMA_OK;
}

enum soma_status model_de_que(struct pipe_model *model, const struct soma_command *command,
                              struct soma_result *result)
{
    struct item *tque = NULL;
    enum soma_status status = find_tque(model, command, &tque);
    if (status != SOMA_OK)
        return status;
    if (tque->queued == 0)
        return SOMA_QUEUE_EMPTY;
    tque->queued--;
    uint64_t tensor = tque->queue[0];
    if (has_mutant(model, PIPE_MUTANT_LIFO))
        tensor = tque->queue[tque->queued];
    else
        memmove(tque->queue, tque->queue + 1, tque->queued * sizeof(tque->queue[0]));
    int place = place_of(tque, tensor);
    if (place < 0) /* a mutant let it be freed */
        return SOMA_INTERNAL;
    tque->states[place] = SOMA_REGION_STATE_DEQUEUED;
    answer_tensor(tque, place, &result->u.tensor);
    return SOMA_OK;
}

enum soma_status model_free_tensor(struct pipe_model *model, const struct soma_command *command)
{
    struct item *tque = NULL;
    int place = -1;
    enum soma_status status = find_tensor(model, command, &tque, &place);
    if (status != SOMA_OK)
        return status;
    if (tque->states[place] == SOMA_REGION_STATE_QUEUED &&
        !has_mutant(model, PIPE_MUTANT_FREE_QUEUED))
        return SOMA_TENSOR_STATE;
    uint64_t begin = tque->address + (uint64_t)place * tque->each;
    for (uint64_t cell = 0; cell < tque->each / CELL; cell++)
        tque->pipe->live[tque->memory][begin / CELL + cell] = 0;
    tque->tensors[place] = 0;
    tque->states[place] = SOMA_REGION_STATE_IDLE;
    return SOMA_OK;
}

/* ---- TBuf ---- */

static uint64_t bytes_of_type(uint64_t dtype)
{
    const char *word = soma_word_of(SOMA_GROUP_dtype, (int)dtype);
    const char *digits = word + strcspn(word, "0123456789");
    return strtoull(digits, NULL, 10) / 8;
}

enum soma_status model_get_slice(struct pipe_model *model, const struct soma_command *command,
                                 struct soma_result *result)
{
    bool has_offset = command->op == SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET;
    const struct pipe_of_model *pipe = find_pipe(model, command->pipe);
    if (pipe == NULL)
        return SOMA_NO_SUCH_PIPE;
    const struct item *tbuf = find_item(model, pipe, PIPE_MODEL_TBUF, command->tbuf);
    if (tbuf == NULL)
        return SOMA_NO_SUCH_TBUF;
    if (!tbuf->has_memory)
        return SOMA_NOT_INITIALIZED;
    uint64_t offset = has_offset ? command->buf_offset : 0;
    uint64_t each = bytes_of_type(command->dtype);
    uint64_t size = has_mutant(model, PIPE_MUTANT_GET_UNROUNDED) ? tbuf->asked : tbuf->each;
    uint64_t elements = size / each;
    if (has_offset)
        elements = command->size;
    else if ((command->present & SOMA_HAS(len)) != 0)
        elements = command->len;
    if (offset % 32 != 0)
        return SOMA_OFFSET_UNALIGNED;
    if (elements == 0)
        return SOMA_ZERO_SIZE;
    if (elements > size || offset > size || offset + elements * each > size)
        return SOMA_BUFFER_RANGE;
    uint64_t begin = tbuf->address + offset;
    if (is_anything_live(pipe, tbuf->memory, begin, begin + elements * each) &&
        !has_mutant(model, PIPE_MUTANT_GET_ANYWAY))
        return SOMA_BUFFER_OVERLAP;
    result->u.tbuf_slice = (struct soma_tbuf_slice){begin, elements, elements * each};
    return SOMA_OK;
}
