/* The model as a whole, its pipes and what is declared in them. Everywhere in the model checks
 * stand in the order in which a refusal is named. */
#include "pipe_model_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *must_alloc(size_t count, size_t size)
{
    void *ptr = calloc(count == 0 ? 1 : count, size);
    if (ptr == NULL)
        abort();
    return ptr;
}

void pipe_model_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

/* ---- mutants ---- */

static const struct {
    const char *name, *text;
} mutants[PIPE_MUTANT_COUNT] = {{"NONE", "nothing"},
#define SOMA_ROW(NAME, text) {#NAME, text},
                                PIPE_MUTANTS(SOMA_ROW)
#undef SOMA_ROW
};

const char *pipe_mutant_name(enum pipe_mutant mutant)
{
    return mutants[mutant].name;
}

const char *pipe_mutant_text(enum pipe_mutant mutant)
{
    return mutants[mutant].text;
}

bool has_mutant(const struct pipe_model *model, enum pipe_mutant mutant)
{
    return model->mutant == mutant;
}

/* ---- what there is ---- */

bool is_old_arch(const struct soma_soc *soc)
{
    return soc->npu_arch < 2201;
}

uint64_t memory_bytes(const struct soma_soc *soc, unsigned memory)
{
    switch (memory) {
    case SOMA_ONCHIP_MEMORY_UB: return soc->ub_bytes;
    case SOMA_ONCHIP_MEMORY_L1: return soc->l1_bytes;
    case SOMA_ONCHIP_MEMORY_L0A: return soc->l0a_bytes;
    case SOMA_ONCHIP_MEMORY_L0B: return soc->l0b_bytes;
    case SOMA_ONCHIP_MEMORY_L0C: return soc->l0c_bytes;
    default: return soc->bt_bytes;
    }
}

uint64_t most_held(const struct pipe_of_model *pipe)
{
    return pipe->soc->npu_arch == 1001 ? 4 : 8;
}

struct pipe_of_model *find_pipe(const struct pipe_model *model, uint64_t id)
{
    for (size_t i = 0; i < model->pipe_count; i++) {
        if (model->pipes[i]->id == id)
            return model->pipes[i];
    }
    return NULL;
}

struct item *find_item(const struct pipe_model *model, const struct pipe_of_model *pipe,
                       enum pipe_model_kind kind, uint64_t id)
{
    for (size_t i = 0; i < model->item_count; i++) {
        struct item *item = model->items[i];
        if (item->pipe == pipe && item->kind == kind && item->id == id)
            return item;
    }
    return NULL;
}

bool is_inside(const struct item *item, const struct item *pool)
{
    for (const struct item *giver = item->giver; giver != NULL; giver = giver->giver) {
        if (giver == pool)
            return true;
    }
    return false;
}

const char *item_name(const struct item *item, char *buf)
{
    static const char *const letters[] = {"q", "b", "p"};
    if (item->name[0] != '\0')
        (void)snprintf(buf, SOMA_NAME_BYTES_MAX + 1, "%s", item->name);
    else
        (void)snprintf(buf, SOMA_NAME_BYTES_MAX + 1, "%s%" PRIu64, letters[item->kind], item->id);
    return buf;
}

uint64_t bytes_given(const struct pipe_of_model *pipe, unsigned memory)
{
    uint64_t cells = memory_bytes(pipe->soc, memory) / CELL, given = 0;
    for (uint64_t i = 0; i < cells; i++)
        given += pipe->given[memory][i] != NULL;
    return given * CELL;
}

static void *grown(void *array, size_t count, size_t size)
{
    void *bigger = realloc(array, (count + 1) * size);
    if (bigger == NULL)
        abort();
    return bigger;
}

struct pipe_model *pipe_model_create(const struct soma_soc *soc, enum pipe_mutant mutant)
{
    struct pipe_model *model = must_alloc(1, sizeof(*model));
    model->soc = soc;
    model->mutant = mutant;
    return model;
}

static void free_pipe(struct pipe_model *model, struct pipe_of_model *pipe)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        struct item *item = model->items[i];
        if (item->pipe != pipe) {
            model->items[kept++] = item;
            continue;
        }
        free((void *)item->cells);
        free(item);
    }
    model->item_count = kept;
    for (unsigned memory = 0; memory < MEMORIES; memory++) {
        free((void *)pipe->given[memory]);
        free(pipe->live[memory]);
    }
    kept = 0;
    for (size_t i = 0; i < model->pipe_count; i++) {
        if (model->pipes[i] != pipe)
            model->pipes[kept++] = model->pipes[i];
    }
    model->pipe_count = kept;
    free(pipe);
}

void pipe_model_destroy(struct pipe_model *model)
{
    while (model->pipe_count > 0)
        free_pipe(model, model->pipes[0]);
    free(model->pipes);
    free(model->items);
    free(model);
}

/* ---- pipes and declarations ---- */

static void describe_pipe(const struct pipe_of_model *pipe, struct soma_pipe *out)
{
    const struct soma_soc *soc = pipe->soc;
    memset(out, 0, sizeof(*out));
    out->pipe = pipe->id;
    out->soc = soc->name;
    out->checks = pipe->follows_device ? SOMA_CHECKS_DEVICE : SOMA_CHECKS_DOCUMENTED;
    out->memories.ub = soc->ub_bytes;
    out->memories.l1 = soc->l1_bytes;
    out->memories.l0a = soc->l0a_bytes;
    out->memories.l0b = soc->l0b_bytes;
    out->memories.l0c = soc->l0c_bytes;
    out->memories.bt = soc->bt_bytes > 0 ? soc->bt_bytes : SOMA_NONE;
    out->limits.buffers = 64;
    out->limits.pool_buffers = 16;
    out->limits.queue_buffers_per_position = most_held(pipe);
}

static enum soma_status create_pipe(struct pipe_model *model, const struct soma_command *command,
                                    struct soma_result *result)
{
    const struct soma_soc *soc = model->soc;
    if ((command->present & SOMA_HAS(soc)) != 0)
        soc = soma_soc_find(command->soc.ptr, command->soc.len);
    if (soc == NULL)
        return SOMA_UNKNOWN_SOC;
    struct pipe_of_model *pipe = must_alloc(1, sizeof(*pipe));
    pipe->id = ++model->last_pipe;
    pipe->soc = soc;
    pipe->follows_device = command->checks == SOMA_CHECKS_DEVICE;
    for (unsigned memory = 0; memory < MEMORIES; memory++) {
        uint64_t cells = memory_bytes(soc, memory) / CELL;
        pipe->given[memory] = must_alloc(cells, sizeof(struct item *));
        pipe->live[memory] = must_alloc(cells, sizeof(uint64_t));
    }
    model->pipes = grown(model->pipes, model->pipe_count, sizeof(pipe));
    model->pipes[model->pipe_count++] = pipe;
    describe_pipe(pipe, &result->u.pipe);
    return SOMA_OK;
}

static enum soma_status list_pipes(const struct pipe_model *model, struct soma_result *result)
{
    struct soma_pipe *items = must_alloc(model->pipe_count, sizeof(*items));
    for (size_t i = 0; i < model->pipe_count; i++)
        describe_pipe(model->pipes[i], &items[i]);
    result->u.pipe_list.pipes.items = items;
    result->u.pipe_list.pipes.count = model->pipe_count;
    return SOMA_OK;
}

/* -1: global memory. */
static int memory_at(const struct pipe_model *model, const struct soma_soc *soc, uint64_t position)
{
    bool is_old = is_old_arch(soc);
    const int memories[POSITIONS] = {
        [SOMA_POSITION_VECIN] = SOMA_ONCHIP_MEMORY_UB,
        [SOMA_POSITION_VECOUT] = SOMA_ONCHIP_MEMORY_UB,
        [SOMA_POSITION_VECCALC] = SOMA_ONCHIP_MEMORY_UB,
        [SOMA_POSITION_A1] = SOMA_ONCHIP_MEMORY_L1,
        [SOMA_POSITION_B1] = SOMA_ONCHIP_MEMORY_L1,
        [SOMA_POSITION_C1] = is_old && !has_mutant(model, PIPE_MUTANT_C1_IN_L1)
                                 ? SOMA_ONCHIP_MEMORY_UB
                                 : SOMA_ONCHIP_MEMORY_L1,
        [SOMA_POSITION_TSCM] = SOMA_ONCHIP_MEMORY_L1,
        [SOMA_POSITION_A2] = SOMA_ONCHIP_MEMORY_L0A,
        [SOMA_POSITION_B2] = SOMA_ONCHIP_MEMORY_L0B,
        [SOMA_POSITION_CO1] = SOMA_ONCHIP_MEMORY_L0C,
        [SOMA_POSITION_C2] = is_old ? SOMA_ONCHIP_MEMORY_L0C : SOMA_ONCHIP_MEMORY_BT,
        [SOMA_POSITION_CO2] = is_old ? SOMA_ONCHIP_MEMORY_UB : -1,
    };
    return memories[position];
}

static enum soma_status declare(struct pipe_model *model, const struct soma_command *command,
                                enum pipe_model_kind kind, uint64_t *id)
{
    struct pipe_of_model *pipe;
    if (kind == PIPE_MODEL_TBUFPOOL && (command->buf_id_size < 1 || command->buf_id_size > 16))
        return SOMA_VALUE_OUT_OF_RANGE;
    if ((pipe = find_pipe(model, command->pipe)) == NULL)
        return SOMA_NO_SUCH_PIPE;
    int memory = memory_at(model, pipe->soc, command->position);
    bool may_be_pool = command->position <= SOMA_POSITION_C1;
    if (memory < 0 || (kind == PIPE_MODEL_TBUFPOOL && !may_be_pool))
        return SOMA_POSITION_UNSUPPORTED;
    struct item *item = must_alloc(1, sizeof(*item));
    item->pipe = pipe;
    item->kind = kind;
    item->id = *id = ++model->last_id[kind];
    item->position = (unsigned)command->position;
    item->memory = (unsigned)memory;
    item->depth = command->depth;
    item->ids = command->buf_id_size;
    item->gave_ids = (command->present & SOMA_HAS(buf_id_size)) != 0;
    memcpy(item->name, command->object_name.ptr == NULL ? "" : command->object_name.ptr,
           command->object_name.len);
    model->items = grown(model->items, model->item_count, sizeof(item));
    model->items[model->item_count++] = item;
    return SOMA_OK;
}

/* ---- all commands ---- */

static enum soma_status find_giver(const struct pipe_model *model, struct pipe_of_model *pipe,
                                   uint64_t id, struct item **giver)
{
    *giver = find_item(model, pipe, PIPE_MODEL_TBUFPOOL, id);
    if (*giver == NULL)
        return SOMA_NO_SUCH_TBUFPOOL;
    return (*giver)->has_memory ? SOMA_OK : SOMA_NOT_INITIALIZED;
}

static enum soma_status apply_to_pipe(struct pipe_model *model, const struct soma_command *command,
                                      struct soma_result *result)
{
    struct pipe_of_model *pipe = find_pipe(model, command->pipe);
    struct item *giver = NULL;
    enum soma_status status = pipe == NULL ? SOMA_NO_SUCH_PIPE : SOMA_OK;
    if (status == SOMA_OK && command->op == SOMA_OP_PIPE_POOL_INIT_BUFFER)
        status = find_giver(model, pipe, command->tbufpool, &giver);
    if (status == SOMA_OK && command->op == SOMA_OP_PIPE_POOL_INIT_BUF_POOL)
        status = find_giver(model, pipe, command->parent, &giver);
    if (status != SOMA_OK)
        return status;
    if (command->op == SOMA_OP_PIPE_DESCRIBE)
        describe_pipe(pipe, &result->u.pipe);
    else if (command->op == SOMA_OP_PIPE_DESTROY)
        free_pipe(model, pipe);
    else if (command->op == SOMA_OP_PIPE_LAYOUT)
        model_layout(model, pipe, &result->u.layout);
    else if (command->op == SOMA_OP_PIPE_INIT_BUFFER ||
             command->op == SOMA_OP_PIPE_POOL_INIT_BUFFER)
        return model_init_buffer(model, command, pipe, giver, result);
    else
        return model_init_pool(model, command, pipe, giver, result);
    return SOMA_OK;
}

static enum soma_status run(struct pipe_model *model, const struct soma_command *command,
                            struct soma_result *result)
{
    enum soma_op op = command->op;
    if (op == SOMA_OP_PIPE_CREATE)
        return create_pipe(model, command, result);
    if (op == SOMA_OP_PIPE_LIST)
        return list_pipes(model, result);
    if (op == SOMA_OP_PIPE_CREATE_TQUE)
        return declare(model, command, PIPE_MODEL_TQUE, &result->u.tque_created.tque);
    if (op == SOMA_OP_PIPE_CREATE_TBUF)
        return declare(model, command, PIPE_MODEL_TBUF, &result->u.tbuf_created.tbuf);
    if (op == SOMA_OP_PIPE_CREATE_TBUFPOOL)
        return declare(model, command, PIPE_MODEL_TBUFPOOL, &result->u.tbufpool_created.tbufpool);
    if (op == SOMA_OP_PIPE_POOL_RESET)
        return model_reset_pool(model, command);
    if (op == SOMA_OP_PIPE_RESET)
        return model_reset_pipe(model, command);
    if (op == SOMA_OP_PIPE_ALLOC_TENSOR)
        return model_alloc_tensor(model, command, result);
    if (op == SOMA_OP_PIPE_EN_QUE)
        return model_en_que(model, command);
    if (op == SOMA_OP_PIPE_DE_QUE)
        return model_de_que(model, command, result);
    if (op == SOMA_OP_PIPE_FREE_TENSOR)
        return model_free_tensor(model, command);
    if (op == SOMA_OP_PIPE_TBUF_GET || op == SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET)
        return model_get_slice(model, command, result);
    return apply_to_pipe(model, command, result);
}

enum soma_status pipe_model_apply(struct pipe_model *model, const struct soma_command *command,
                                  struct soma_result *result)
{
    memset(result, 0, sizeof(*result));
    result->message = (enum soma_message)soma_op_info(command->op)->result;
    enum soma_status status = run(model, command, result);
    if (status != SOMA_OK)
        soma_result_clear(result, pipe_model_release, NULL);
    return status;
}
