/* Who gets which cells, and who has how many ids left. */
#include "pipe_model_state.h"

/* The cells of the giver, and how many there are. */
const struct item **cells_of(const struct pipe_of_model *pipe, const struct item *giver,
                             unsigned memory, uint64_t *count)
{
    *count = (giver == NULL ? memory_bytes(pipe->soc, memory) : giver->each) / CELL;
    return giver == NULL ? pipe->given[memory] : giver->cells;
}

/* ---- bufIdSize ---- */

static bool compares_ids(const struct pipe_model *model, const struct pipe_of_model *pipe)
{
    bool is_loose = pipe->follows_device && pipe->soc->npu_arch == 2201;
    return !is_loose || has_mutant(model, PIPE_MUTANT_DEVICE_NESTS);
}

static bool takes_ids(const struct pipe_model *model, const struct item *child,
                      const struct item *pool)
{
    return child->kind == PIPE_MODEL_TBUFPOOL && child->has_memory && child->giver == pool &&
           (!child->is_sharing || has_mutant(model, PIPE_MUTANT_SHARE_TAKES));
}

/* What the pool has of its ids in use: its buffers, and what its child pools took. */
static uint64_t ids_in_use(const struct pipe_model *model, const struct item *pool)
{
    uint64_t used = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->has_memory && item->giver == pool && item->kind != PIPE_MODEL_TBUFPOOL)
            used += item->num;
        if (!takes_ids(model, item, pool) || !compares_ids(model, pool->pipe))
            continue;
        bool takes_all = (item->gave_ids && !has_mutant(model, PIPE_MUTANT_CHILD_TAKES_NOTHING)) ||
                         has_mutant(model, PIPE_MUTANT_DEFAULT_TAKES_ALL);
        used += takes_all ? item->ids : ids_in_use(model, item);
    }
    return used;
}

/* What is left for a further child pool: every child counts with its bufIdSize. */
static uint64_t ids_unpromised(const struct pipe_model *model, const struct item *pool)
{
    uint64_t used = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->has_memory && item->giver == pool && item->kind != PIPE_MODEL_TBUFPOOL)
            used += item->num;
        if (takes_ids(model, item, pool) &&
            (item->gave_ids || !has_mutant(model, PIPE_MUTANT_DEFAULT_UNPROMISED)))
            used += item->ids;
    }
    return used > pool->ids ? 0 : pool->ids - used;
}

/* Whether no pool of the pipe uses more ids than it has. */
static bool ids_suffice(const struct pipe_model *model, const struct pipe_of_model *pipe)
{
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe == pipe && item->kind == PIPE_MODEL_TBUFPOOL && item->has_memory &&
            ids_in_use(model, item) > item->ids)
            return false;
    }
    return true;
}

/* ---- giving memory ---- */

static bool round_up_to_cell(const struct pipe_model *model, uint64_t len, uint64_t *rounded)
{
    if (len > UINT64_MAX - (CELL - 1))
        return false;
    *rounded = (len + CELL - 1) / CELL * CELL;
    if (has_mutant(model, PIPE_MUTANT_NO_ROUNDING) && len >= CELL)
        *rounded = len / CELL * CELL;
    return true;
}

/* Find `total` free bytes; false: there are not that many. *offset from the giver's start. */
static bool find_room(const struct pipe_model *model, const struct item *giver,
                      const struct item *item, uint64_t total, uint64_t *offset)
{
    uint64_t count, begin = 0;
    const struct item **cells = cells_of(item->pipe, giver, item->memory, &count);
    uint64_t end = count;
    while (begin < count && cells[begin] != NULL)
        begin++;
    while (end > begin && cells[end - 1] != NULL)
        end--;
    if (total / CELL > end - begin)
        return false;
    bool is_downwards = giver == NULL && item->position == SOMA_POSITION_TSCM &&
                        !has_mutant(model, PIPE_MUTANT_TSCM_UPWARDS);
    *offset = is_downwards ? end * CELL - total : begin * CELL;
    return true;
}

static void give(struct pipe_model *model, struct item *item, struct item *giver, uint64_t offset,
                 uint64_t total)
{
    uint64_t count;
    struct pipe_of_model *pipe = item->pipe;
    const struct item **cells = cells_of(pipe, giver, item->memory, &count);
    for (uint64_t i = 0; i < total / CELL; i++)
        cells[offset / CELL + i] = item;
    item->has_memory = true;
    item->giver = giver;
    item->address = offset + (giver == NULL ? 0 : giver->address);
    item->sequence = ++model->last_sequence;
    if (bytes_given(pipe, item->memory) > pipe->peak[item->memory])
        pipe->peak[item->memory] = bytes_given(pipe, item->memory);
}

static uint64_t buffers_of(const struct pipe_model *model, const struct pipe_of_model *pipe)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe == pipe && item->has_memory && item->kind != PIPE_MODEL_TBUFPOOL &&
            (item->giver == NULL || !has_mutant(model, PIPE_MUTANT_POOL_BUFFERS_FREE)))
            count += item->num;
    }
    return count;
}

static uint64_t tque_buffers_at(const struct pipe_model *model, const struct pipe_of_model *pipe,
                                unsigned position)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe == pipe && item->has_memory && item->kind == PIPE_MODEL_TQUE &&
            item->position == position)
            count += item->num;
    }
    return count;
}

static void answer_buffers(const struct pipe_model *model, const struct item *item,
                           struct soma_buffers *out)
{
    out->memory = (int)item->memory;
    out->len = item->each;
    out->buffers.items = must_alloc(item->num, sizeof(*out->buffers.items));
    out->buffers.count = item->num;
    for (uint64_t i = 0; i < item->num; i++) {
        out->buffers.items[i].address = item->address + i * item->each;
        out->buffers.items[i].len = item->each;
    }
    out->padding_bytes = item->num * (item->each - item->asked);
    bool warns = item->kind == PIPE_MODEL_TQUE &&
                 tque_buffers_at(model, item->pipe, item->position) > most_held(item->pipe);
    if (warns) {
        out->warnings.items = must_alloc(1, sizeof(*out->warnings.items));
        out->warnings.count = 1;
    }
}

/* The TQue or TBuf that a command names. */
static enum soma_status find_target(const struct pipe_model *model,
                                    const struct soma_command *command,
                                    const struct pipe_of_model *pipe, struct item **item)
{
    bool has_tque = (command->present & SOMA_HAS(tque)) != 0;
    bool has_tbuf = (command->present & SOMA_HAS(tbuf)) != 0;
    bool has_num = (command->present & SOMA_HAS(num)) != 0;
    if (has_tque && has_tbuf)
        return SOMA_INVALID_VALUE;
    if (!has_tque && !has_tbuf)
        return SOMA_MISSING_FIELD;
    if (has_tbuf && has_num)
        return SOMA_INVALID_VALUE;
    if (has_tque && !has_num)
        return SOMA_MISSING_FIELD;
    if (has_tque && command->num == 0)
        return SOMA_VALUE_OUT_OF_RANGE;
    *item = has_tque ? find_item(model, pipe, PIPE_MODEL_TQUE, command->tque)
                     : find_item(model, pipe, PIPE_MODEL_TBUF, command->tbuf);
    return *item != NULL ? SOMA_OK : has_tque ? SOMA_NO_SUCH_TQUE : SOMA_NO_SUCH_TBUF;
}

enum soma_status model_init_buffer(struct pipe_model *model, const struct soma_command *command,
                                   struct pipe_of_model *pipe, struct item *giver,
                                   struct soma_result *result)
{
    struct item *item = NULL;
    uint64_t each = 0, offset = 0;
    enum soma_status status = find_target(model, command, pipe, &item);
    if (status != SOMA_OK)
        return status;
    uint64_t num = item->kind == PIPE_MODEL_TQUE ? command->num : 1;
    if (command->len == 0)
        return SOMA_ZERO_SIZE;
    if (!round_up_to_cell(model, command->len, &each) || num > UINT64_MAX / each)
        return SOMA_SIZE_OVERFLOW;
    if (item->has_memory && has_mutant(model, PIPE_MUTANT_INIT_TWICE))
        drop_memory(item);
    if (item->has_memory)
        return SOMA_ALREADY_INITIALIZED;
    if (giver != NULL && giver->memory != item->memory)
        return SOMA_POSITION_MISMATCH;
    /* Would every pool still have the ids that it uses? */
    item->has_memory = true;
    item->giver = giver;
    item->num = num < 100 ? num : 100;
    bool has_ids = ids_suffice(model, pipe);
    item->has_memory = false;
    item->giver = NULL;
    item->num = 0;
    if (!has_ids)
        return SOMA_BUF_ID_LIMIT;
    uint64_t limit = has_mutant(model, PIPE_MUTANT_BUFFERS_65) ? 65 : 64;
    if (num > limit || buffers_of(model, pipe) + num > limit)
        return SOMA_BUFFER_LIMIT;
    if (!find_room(model, giver, item, num * each, &offset))
        return giver != NULL ? SOMA_POOL_OVERFLOW : SOMA_MEMORY_OVERFLOW;
    item->each = each;
    item->asked = command->len;
    item->num = num < BUFFERS_MAX ? num : BUFFERS_MAX;
    give(model, item, giver, offset, num * each);
    answer_buffers(model, item, &result->u.buffers);
    return SOMA_OK;
}

static enum soma_status share(struct pipe_model *model, const struct soma_command *command,
                              struct item *item, struct item *giver)
{
    const struct item *other =
        find_item(model, item->pipe, PIPE_MODEL_TBUFPOOL, command->share_buf);
    if (!other->has_memory)
        return SOMA_NOT_INITIALIZED;
    if (other->memory != item->memory)
        return SOMA_SHARE_MISMATCH;
    if (giver != NULL && (other->address < giver->address ||
                          other->address + other->each > giver->address + giver->each))
        return SOMA_SHARE_MISMATCH;
    if (item->ids > other->ids && compares_ids(model, item->pipe) &&
        !has_mutant(model, PIPE_MUTANT_SHARE_ANY_IDS))
        return SOMA_BUF_ID_SIZE;
    if (command->len > other->each && !has_mutant(model, PIPE_MUTANT_SHARE_LONGER))
        return SOMA_SHARE_TOO_LARGE;
    item->each = other->each;
    if (has_mutant(model, PIPE_MUTANT_SHARE_SHORTER))
        (void)round_up_to_cell(model, command->len, &item->each);
    item->has_memory = true;
    item->is_sharing = true;
    item->giver = giver;
    item->address = other->address;
    item->region = other->region;
    item->sequence = ++model->last_sequence;
    return SOMA_OK;
}

static enum soma_status divide(struct pipe_model *model, struct item *item, struct item *giver,
                               uint64_t each)
{
    uint64_t offset = 0;
    bool compares = giver != NULL && compares_ids(model, item->pipe);
    if (compares && item->ids > ids_unpromised(model, giver))
        return SOMA_BUF_ID_SIZE;
    item->has_memory = true;
    item->giver = giver;
    bool has_ids = !compares || ids_suffice(model, item->pipe);
    item->has_memory = false;
    item->giver = NULL;
    if (!has_ids)
        return SOMA_BUF_ID_SIZE;
    if (!find_room(model, giver, item, each, &offset))
        return giver != NULL ? SOMA_POOL_OVERFLOW : SOMA_MEMORY_OVERFLOW;
    item->each = each;
    item->region = ++model->last_region;
    give(model, item, giver, offset, each);
    return SOMA_OK;
}

enum soma_status model_init_pool(struct pipe_model *model, const struct soma_command *command,
                                 struct pipe_of_model *pipe, struct item *giver,
                                 struct soma_result *result)
{
    bool shares = (command->present & SOMA_HAS(share_buf)) != 0;
    struct item *item = find_item(model, pipe, PIPE_MODEL_TBUFPOOL, command->tbufpool);
    uint64_t each = 0;
    if (item == NULL)
        return SOMA_NO_SUCH_TBUFPOOL;
    if (shares && find_item(model, pipe, PIPE_MODEL_TBUFPOOL, command->share_buf) == NULL)
        return SOMA_NO_SUCH_TBUFPOOL;
    if (command->len == 0)
        return SOMA_ZERO_SIZE;
    if (!round_up_to_cell(model, command->len, &each))
        return SOMA_SIZE_OVERFLOW;
    if (item->has_memory)
        return SOMA_ALREADY_INITIALIZED;
    if (giver != NULL && giver->memory != item->memory)
        return SOMA_POSITION_MISMATCH;
    enum soma_status status =
        shares ? share(model, command, item, giver) : divide(model, item, giver, each);
    if (status != SOMA_OK)
        return status;
    item->asked = command->len;
    item->cells = must_alloc(item->each / CELL, sizeof(struct item *));
    result->u.buf_pool = (struct soma_buf_pool){.tbufpool = item->id,
                                                .memory = (int)item->memory,
                                                .start_address = item->address,
                                                .len = item->each,
                                                .padding_bytes = shares ? 0 : each - command->len};
    return SOMA_OK;
}
