/* Weights, sizes and targets of random commands. */
#include "pipe_workload.h"

#include <string.h>

static bool one_in(struct random_source *source, uint64_t limit)
{
    return random_below(source, limit) == 0;
}

static void set(struct soma_command *command, enum soma_field field, uint64_t value)
{
    soma_command_set(command, field, value);
}

/* ---- sizes ---- */

/* Often a bit of what is left, sometimes just that or a little more, seldom nonsense. */
static uint64_t pick_len(struct random_source *source, uint64_t left, uint64_t num)
{
    uint64_t share = left / (num == 0 ? 1 : num);
    switch (random_below(source, 12)) {
    case 0: return share;
    case 1: return share + 1 - random_below(source, 33);
    case 2: return share / 2 + 1;
    case 3: return random_edge(source, 0, UINT64_MAX);
    case 4: return random_below(source, 3);
    case 5: return 1 + random_below(source, share + 1);
    case 6: return 32 * (1 + random_below(source, 8));
    default: return 1 + random_below(source, 200);
    }
}

static uint64_t pick_num(struct random_source *source)
{
    switch (random_below(source, 24)) {
    case 0: return random_edge(source, 0, UINT64_MAX);
    case 1: return random_below(source, 70);
    case 2: return 9 + random_below(source, 8);
    default: return 1 + random_below(source, 3);
    }
}

/* ---- targets ---- */

/* An object that fits, or now and then one that does not. */
static uint64_t pick_id(const struct pipe_model *model, struct random_source *source,
                        const struct soma_command *command, enum pipe_model_kind kind,
                        bool is_initialized)
{
    if (one_in(source, 40))
        return random_edge(source, 0, 40);
    bool wanted = one_in(source, 15) ? !is_initialized : is_initialized;
    uint64_t id = pipe_model_pick(model, source, command->pipe, kind, wanted);
    return id != 0 ? id : pipe_model_pick(model, source, command->pipe, kind, !wanted);
}

static void create_pipe(struct random_source *source, struct soma_command *command)
{
    static const char *const socs[] = {"Ascend910B1", "Ascend310P3",    "Ascend910A",
                                       "Ascend310B1", "Ascend910_9362", "Ascend1"};
    if (!one_in(source, 3)) {
        const char *soc = socs[random_below(source, sizeof(socs) / sizeof(socs[0]))];
        command->soc = (struct soma_text){soc, strlen(soc)};
        command->present |= SOMA_HAS(soc);
    }
    if (one_in(source, 3))
        set(command, SOMA_FIELD_checks, SOMA_CHECKS_DEVICE);
}

static void declare(struct random_source *source, struct soma_command *command)
{
    static const char *const names[] = {
        "x", "in", "a name", "sixty-four bytes is what a name may have; this one has them all."};
    bool is_pool = command->op == SOMA_OP_PIPE_CREATE_TBUFPOOL;
    uint64_t position = random_below(source, 3); /* VECIN, VECOUT, VECCALC */
    if (one_in(source, 3))
        position = random_below(source, is_pool ? 7 : 12);
    set(command, SOMA_FIELD_position, position);
    if (command->op == SOMA_OP_PIPE_CREATE_TQUE && !one_in(source, 3))
        set(command, SOMA_FIELD_depth, random_below(source, 5));
    if (is_pool && !one_in(source, 3))
        set(command, SOMA_FIELD_buf_id_size, random_below(source, 18));
    if (one_in(source, 4)) {
        const char *name = names[random_below(source, sizeof(names) / sizeof(names[0]))];
        command->object_name = (struct soma_text){name, strlen(name)};
        command->present |= SOMA_HAS(object_name);
    }
}

static void init_buffer(const struct pipe_model *model, struct random_source *source,
                        struct soma_command *command)
{
    uint64_t num = pick_num(source), pool = 0;
    if (command->op == SOMA_OP_PIPE_POOL_INIT_BUFFER) {
        pool = pick_id(model, source, command, PIPE_MODEL_TBUFPOOL, true);
        set(command, SOMA_FIELD_tbufpool, pool);
    }
    bool is_tque = !one_in(source, 3);
    if (is_tque || one_in(source, 60))
        set(command, SOMA_FIELD_tque, pick_id(model, source, command, PIPE_MODEL_TQUE, false));
    if (!is_tque || one_in(source, 60))
        set(command, SOMA_FIELD_tbuf, pick_id(model, source, command, PIPE_MODEL_TBUF, false));
    if (is_tque != one_in(source, 60))
        set(command, SOMA_FIELD_num, num);
    uint64_t left = pipe_model_left(model, command->pipe, pool);
    set(command, SOMA_FIELD_len, pick_len(source, left, is_tque ? num : 1));
}

static void init_pool(const struct pipe_model *model, struct random_source *source,
                      struct soma_command *command)
{
    uint64_t pool = 0;
    if (command->op == SOMA_OP_PIPE_POOL_INIT_BUF_POOL) {
        pool = pick_id(model, source, command, PIPE_MODEL_TBUFPOOL, true);
        set(command, SOMA_FIELD_parent, pool);
    }
    set(command, SOMA_FIELD_tbufpool, pick_id(model, source, command, PIPE_MODEL_TBUFPOOL, false));
    uint64_t left = pipe_model_left(model, command->pipe, pool);
    if (one_in(source, 2)) {
        set(command, SOMA_FIELD_share_buf,
            pick_id(model, source, command, PIPE_MODEL_TBUFPOOL, true));
        left = 1 + random_below(source, 3000);
    }
    /* Pools are better large: something shall be put into them. */
    set(command, SOMA_FIELD_len,
        one_in(source, 3) ? pick_len(source, left, 1) : left / (1 + random_below(source, 4)));
}

static void use_tensor(const struct pipe_model *model, struct random_source *source,
                       struct soma_command *command)
{
    uint64_t tque = 0;
    uint64_t tensor = pipe_model_pick_tensor(model, source, command->pipe, &tque);
    if (tensor == 0 || one_in(source, 20))
        tque = pick_id(model, source, command, PIPE_MODEL_TQUE, true);
    if (tensor == 0 || one_in(source, 40))
        tensor = random_edge(source, 0, 300);
    set(command, SOMA_FIELD_tque, tque);
    if (command->op == SOMA_OP_PIPE_EN_QUE || command->op == SOMA_OP_PIPE_FREE_TENSOR)
        set(command, SOMA_FIELD_tensor, tensor);
}

static void use_tbuf(const struct pipe_model *model, struct random_source *source,
                     struct soma_command *command)
{
    set(command, SOMA_FIELD_tbuf, pick_id(model, source, command, PIPE_MODEL_TBUF, true));
    set(command, SOMA_FIELD_dtype, random_below(source, 11));
    if (command->op == SOMA_OP_PIPE_TBUF_GET) {
        if (one_in(source, 2))
            set(command, SOMA_FIELD_len,
                one_in(source, 10) ? random_edge(source, 0, UINT64_MAX)
                                   : random_below(source, 300));
        return;
    }
    set(command, SOMA_FIELD_size,
        one_in(source, 10) ? random_edge(source, 0, UINT64_MAX) : random_below(source, 100));
    set(command, SOMA_FIELD_buf_offset,
        one_in(source, 10) ? random_edge(source, 0, UINT64_MAX) : 32 * random_below(source, 8));
}

static void choose_op(const struct pipe_model *model, struct random_source *source,
                      struct soma_command *command)
{
    static const struct {
        enum soma_op op;
        unsigned weight;
    } weights[] = {
        {SOMA_OP_PIPE_CREATE, 2},
        {SOMA_OP_PIPE_LIST, 1},
        {SOMA_OP_PIPE_DESCRIBE, 1},
        {SOMA_OP_PIPE_DESTROY, 2},
        {SOMA_OP_PIPE_CREATE_TQUE, 40},
        {SOMA_OP_PIPE_CREATE_TBUF, 14},
        {SOMA_OP_PIPE_CREATE_TBUFPOOL, 26},
        {SOMA_OP_PIPE_INIT_BUFFER, 20},
        {SOMA_OP_PIPE_INIT_BUF_POOL, 26},
        {SOMA_OP_PIPE_POOL_INIT_BUFFER, 90},
        {SOMA_OP_PIPE_POOL_INIT_BUF_POOL, 40},
        {SOMA_OP_PIPE_POOL_RESET, 8},
        {SOMA_OP_PIPE_RESET, 2},
        {SOMA_OP_PIPE_ALLOC_TENSOR, 90},
        {SOMA_OP_PIPE_EN_QUE, 44},
        {SOMA_OP_PIPE_DE_QUE, 30},
        {SOMA_OP_PIPE_FREE_TENSOR, 40},
        {SOMA_OP_PIPE_TBUF_GET, 16},
        {SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET, 12},
        {SOMA_OP_PIPE_LAYOUT, 10},
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
        sum += weights[i].weight;
    uint64_t at = random_below(source, sum);
    size_t i = 0;
    while (at >= weights[i].weight)
        at -= weights[i++].weight;
    uint64_t pipe = pipe_model_pick_pipe(model, source);
    soma_command_init(command, pipe == 0 ? SOMA_OP_PIPE_CREATE : weights[i].op);
    if (command->op != SOMA_OP_PIPE_CREATE && command->op != SOMA_OP_PIPE_LIST)
        set(command, SOMA_FIELD_pipe, one_in(source, 60) ? random_edge(source, 0, 30) : pipe);
}

void pipe_workload_next(const struct pipe_model *model, struct random_source *source,
                        struct soma_command *command)
{
    choose_op(model, source, command);
    enum soma_op op = command->op;
    if (op == SOMA_OP_PIPE_CREATE)
        create_pipe(source, command);
    else if (op == SOMA_OP_PIPE_CREATE_TQUE || op == SOMA_OP_PIPE_CREATE_TBUF ||
             op == SOMA_OP_PIPE_CREATE_TBUFPOOL)
        declare(source, command);
    else if (op == SOMA_OP_PIPE_INIT_BUFFER || op == SOMA_OP_PIPE_POOL_INIT_BUFFER)
        init_buffer(model, source, command);
    else if (op == SOMA_OP_PIPE_INIT_BUF_POOL || op == SOMA_OP_PIPE_POOL_INIT_BUF_POOL)
        init_pool(model, source, command);
    else if (op == SOMA_OP_PIPE_POOL_RESET)
        set(command, SOMA_FIELD_tbufpool,
            pick_id(model, source, command, PIPE_MODEL_TBUFPOOL, true));
    else if (op == SOMA_OP_PIPE_ALLOC_TENSOR)
        set(command, SOMA_FIELD_tque, pick_id(model, source, command, PIPE_MODEL_TQUE, true));
    else if (op == SOMA_OP_PIPE_EN_QUE || op == SOMA_OP_PIPE_DE_QUE ||
             op == SOMA_OP_PIPE_FREE_TENSOR)
        use_tensor(model, source, command);
    else if (op == SOMA_OP_PIPE_TBUF_GET || op == SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET)
        use_tbuf(model, source, command);
}
