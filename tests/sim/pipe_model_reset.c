/* Resets of pools and pipes. */
#include "pipe_model_state.h"

#include <stdlib.h>
#include <string.h>

/* What a reset with checks=device left behind: given out, to nobody. */
static const struct item lost;

void drop_memory(struct item *item)
{
    for (uint64_t i = 0; item->kind == PIPE_MODEL_TQUE && i < item->num; i++) {
        for (uint64_t cell = 0; item->tensors[i] != 0 && cell < item->each / CELL; cell++)
            item->pipe->live[item->memory][(item->address + i * item->each) / CELL + cell] = 0;
    }
    free((void *)item->cells);
    item->cells = NULL;
    item->has_memory = item->is_sharing = false;
    item->giver = NULL;
    item->address = item->each = item->asked = item->num = item->region = 0;
    memset(item->tensors, 0, sizeof(item->tensors));
    memset(item->states, 0, sizeof(item->states));
    item->queued = 0;
    item->turn = 0;
}

static void end_tensors(struct item *tque)
{
    for (uint64_t i = 0; i < tque->num; i++) {
        for (uint64_t cell = 0; tque->tensors[i] != 0 && cell < tque->each / CELL; cell++)
            tque->pipe->live[tque->memory][(tque->address + i * tque->each) / CELL + cell] = 0;
        tque->tensors[i] = 0;
        tque->states[i] = SOMA_REGION_STATE_IDLE;
    }
    tque->queued = 0;
}

/* The cells that the item had stay given out; nobody has them. */
static void lose_cells(const struct pipe_model *model, const struct item *item)
{
    uint64_t count;
    const struct item **cells = cells_of(item->pipe, item->giver, item->memory, &count);
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i] == item)
            cells[i] = has_mutant(model, PIPE_MUTANT_DEVICE_GIVES_BACK) ? NULL : &lost;
    }
}

static void empty_pool(struct pipe_model *model, struct item *pool)
{
    struct item **inside = must_alloc(model->item_count, sizeof(struct item *));
    size_t count = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        if (model->items[i]->has_memory && is_inside(model->items[i], pool))
            inside[count++] = model->items[i];
    }
    for (size_t i = 0; i < count; i++)
        drop_memory(inside[i]);
    free(inside);
    if (!pool->is_sharing)
        lose_cells(model, pool);
    drop_memory(pool);
}

enum soma_status model_reset_pool(struct pipe_model *model, const struct soma_command *command)
{
    struct pipe_of_model *pipe = find_pipe(model, command->pipe);
    if (pipe == NULL)
        return SOMA_NO_SUCH_PIPE;
    struct item *pool = find_item(model, pipe, PIPE_MODEL_TBUFPOOL, command->tbufpool);
    if (pool == NULL)
        return SOMA_NO_SUCH_TBUFPOOL;
    if (pipe->follows_device && !has_mutant(model, PIPE_MUTANT_DEVICE_KEEPS)) {
        if (pool->has_memory)
            empty_pool(model, pool);
        return SOMA_OK;
    }
    if (!pool->has_memory)
        return SOMA_NOT_INITIALIZED;
    for (size_t i = 0; i < model->item_count; i++) {
        struct item *item = model->items[i];
        bool is_meant = has_mutant(model, PIPE_MUTANT_RESET_IS_FLAT) ? item->giver == pool
                                                                     : is_inside(item, pool);
        if (item->has_memory && item->kind == PIPE_MODEL_TQUE && is_meant &&
            !has_mutant(model, PIPE_MUTANT_RESET_KEEPS_TENSORS))
            end_tensors(item);
    }
    return SOMA_OK;
}

enum soma_status model_reset_pipe(struct pipe_model *model, const struct soma_command *command)
{
    struct pipe_of_model *pipe = find_pipe(model, command->pipe);
    if (pipe == NULL)
        return SOMA_NO_SUCH_PIPE;
    for (size_t i = 0; i < model->item_count; i++) {
        if (model->items[i]->pipe == pipe && model->items[i]->has_memory)
            drop_memory(model->items[i]);
    }
    for (unsigned memory = 0; memory < MEMORIES; memory++) {
        uint64_t cells = memory_bytes(pipe->soc, memory) / CELL;
        memset((void *)pipe->given[memory], 0, cells * sizeof(struct item *));
        if (has_mutant(model, PIPE_MUTANT_PEAK_FORGETS))
            pipe->peak[memory] = 0;
    }
    return SOMA_OK;
}
