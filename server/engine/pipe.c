/* Pipes and what is declared in them: TQues, TBufs and TBufPools without memory. They get it in
 * pipe_init.c and are used in pipe_queue.c. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what a SoC has ---- */

/* npu_arch 1001 and 2002: no bias table, and results leave through the unified buffer. */
static bool is_old(const struct soma_soc *soc)
{
    return soc->npu_arch == 1001 || soc->npu_arch == 2002;
}

uint32_t onchip_capacity(const struct soma_soc *soc, unsigned memory)
{
    const uint32_t bytes[ONCHIP_MEMORIES] = {soc->ub_bytes,  soc->l1_bytes,  soc->l0a_bytes,
                                             soc->l0b_bytes, soc->l0c_bytes, soc->bt_bytes};
    return bytes[memory];
}

uint32_t onchip_reserved(const struct soma_soc *soc)
{
    bool has_tail = is_old(soc) || soc->npu_arch == 2201;
    return has_tail ? ONCHIP_UB_TAIL_BYTES : 0;
}

/* The memory behind a position; -1: global memory, which no pipe gives out. */
static int memory_of(const struct soma_soc *soc, uint64_t position)
{
    switch ((enum soma_position)position) {
    case SOMA_POSITION_VECIN:
    case SOMA_POSITION_VECOUT:
    case SOMA_POSITION_VECCALC: return SOMA_ONCHIP_MEMORY_UB;
    case SOMA_POSITION_A1:
    case SOMA_POSITION_B1:
    case SOMA_POSITION_TSCM: return SOMA_ONCHIP_MEMORY_L1;
    case SOMA_POSITION_C1: return is_old(soc) ? SOMA_ONCHIP_MEMORY_UB : SOMA_ONCHIP_MEMORY_L1;
    case SOMA_POSITION_A2: return SOMA_ONCHIP_MEMORY_L0A;
    case SOMA_POSITION_B2: return SOMA_ONCHIP_MEMORY_L0B;
    case SOMA_POSITION_CO1: return SOMA_ONCHIP_MEMORY_L0C;
    case SOMA_POSITION_C2: return is_old(soc) ? SOMA_ONCHIP_MEMORY_L0C : SOMA_ONCHIP_MEMORY_BT;
    case SOMA_POSITION_CO2: return is_old(soc) ? SOMA_ONCHIP_MEMORY_UB : -1;
    }
    return -1;
}

unsigned pipe_tensors_max(const struct pipe *pipe)
{
    return pipe->soc->npu_arch == 1001 ? SOMA_QUEUE_TENSORS_MAX_1001 : SOMA_QUEUE_TENSORS_MAX;
}

uint32_t pipe_used(const struct pipe *pipe, unsigned memory)
{
    uint32_t from_top = memory == SOMA_ONCHIP_MEMORY_L1 ? pipe->soc->l1_bytes - pipe->top : 0;
    return pipe->next_free[memory] + from_top;
}

const char *onchip_position_name(unsigned position)
{
    return soma_word_of(SOMA_GROUP_position, (int)position);
}

const char *onchip_memory_name(unsigned memory)
{
    return soma_word_of(SOMA_GROUP_onchip_memory, (int)memory);
}

/* ---- names ---- */

static const struct {
    const char *noun;
    const char *field;
    char letter; /* of an object without a name: q1, b1, p1 */
    enum id_kind ids;
    enum soma_status absent;
} kinds[ONCHIP_KINDS] = {
    [ONCHIP_TQUE] = {"TQue", "tque", 'q', ID_TQUE, SOMA_NO_SUCH_TQUE},
    [ONCHIP_TBUF] = {"TBuf", "tbuf", 'b', ID_TBUF, SOMA_NO_SUCH_TBUF},
    [ONCHIP_TBUFPOOL] = {"TBufPool", "tbufpool", 'p', ID_TBUFPOOL, SOMA_NO_SUCH_TBUFPOOL},
};

const char *onchip_noun(const struct onchip *object)
{
    return kinds[object->kind].noun;
}

const char *onchip_name(const struct onchip *object, char *buf)
{
    if (object->name_len > 0) {
        memcpy(buf, object->name, object->name_len);
        buf[object->name_len] = '\0';
    } else {
        (void)snprintf(buf, ONCHIP_NAME_BYTES, "%c%" PRIu64, kinds[object->kind].letter,
                       object->id);
    }
    return buf;
}

const char *onchip_title(const struct onchip *object, char *buf)
{
    char name[ONCHIP_NAME_BYTES];
    (void)snprintf(buf, ONCHIP_TITLE_BYTES, "%s %s", onchip_noun(object),
                   onchip_name(object, name));
    return buf;
}

/* ---- finding ---- */

struct pipe *pipe_find(struct call *call)
{
    const struct engine *engine = call->engine;
    uint64_t id = call->command->pipe;
    struct pipe *pipe = TREE_ENTRY(tree_find(&engine->pipes, id, 0), struct pipe, by_id);
    if (pipe == NULL)
        (void)soma_fail(call->error, SOMA_NO_SUCH_PIPE, "pipe", "pipe %" PRIu64 " %s", id,
                        id != 0 && id <= engine->last_id[ID_PIPE] ? "was destroyed"
                                                                  : "never was; create one first");
    return pipe;
}

static struct onchip *lookup(const struct onchip_list *list, uint64_t id)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->items[low]->id == id ? list->items[low] : NULL;
}

struct onchip *onchip_find(struct call *call, const struct pipe *pipe, enum onchip_kind kind,
                           uint64_t id, const char *field)
{
    struct onchip *object = lookup(&pipe->objects[kind], id);
    if (object == NULL) {
        bool was = id != 0 && id <= call->engine->last_id[kinds[kind].ids];
        (void)soma_fail(call->error, kinds[kind].absent, field != NULL ? field : kinds[kind].field,
                        "pipe %" PRIu64 " has no %s %" PRIu64 ": %s", pipe->by_id.major,
                        kinds[kind].noun, id,
                        was ? "it belongs, or belonged, to another pipe"
                            : "none has this id yet; create it first");
    }
    return object;
}

/* ---- pipes ---- */

static void describe(const struct pipe *pipe, struct soma_pipe *out)
{
    const struct soma_soc *soc = pipe->soc;
    *out = (struct soma_pipe){
        .pipe = pipe->by_id.major,
        .soc = soc->name,
        .checks = pipe->follows_device ? SOMA_CHECKS_DEVICE : SOMA_CHECKS_DOCUMENTED,
        .memories = {soc->ub_bytes, soc->l1_bytes, soc->l0a_bytes, soc->l0b_bytes, soc->l0c_bytes,
                     soc->bt_bytes != 0 ? soc->bt_bytes : SOMA_NONE},
        .limits = {SOMA_PIPE_BUFFERS_MAX, SOMA_TBUFPOOL_BUFFERS_MAX, pipe_tensors_max(pipe)},
    };
}

enum soma_status pipe_create(struct call *call)
{
    struct engine *engine = call->engine;
    const struct soma_command *command = call->command;
    const struct soma_soc *soc = engine->soc;
    if (call_has(call, SOMA_HAS(soc)))
        soc = soma_soc_find(command->soc.ptr, command->soc.len);
    if (soc == NULL)
        return soma_fail(call->error, SOMA_UNKNOWN_SOC, "soc",
                         "no SoC is called \"%.*s\"; one of them is %s", (int)command->soc.len,
                         command->soc.ptr, SOMA_SOC_DEFAULT);
    struct pipe *pipe = engine_alloc(engine, sizeof(*pipe));
    if (pipe == NULL)
        return engine_no_memory(call);
    pipe->soc = soc;
    pipe->follows_device = command->checks == SOMA_CHECKS_DEVICE;
    pipe->top = soc->l1_bytes;
    tree_insert(&engine->pipes, &pipe->by_id, ++engine->last_id[ID_PIPE], 0);
    engine->pipe_count++;
    describe(pipe, &call->result->u.pipe);
    return SOMA_OK;
}

enum soma_status pipe_list(struct call *call)
{
    struct engine *engine = call->engine;
    void *items = NULL;
    enum soma_status status =
        engine_result_array(call, (size_t)engine->pipe_count, sizeof(struct soma_pipe), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_pipe *pipes = items;
    size_t count = 0;
    for (struct tree_node *node = tree_first(&engine->pipes); node != NULL; node = tree_next(node))
        describe(TREE_ENTRY(node, struct pipe, by_id), &pipes[count++]);
    call->result->u.pipe_list.pipes.items = pipes;
    call->result->u.pipe_list.pipes.count = count;
    return SOMA_OK;
}

enum soma_status pipe_describe(struct call *call)
{
    const struct pipe *pipe = pipe_find(call);
    if (pipe == NULL)
        return call->error->status;
    describe(pipe, &call->result->u.pipe);
    return SOMA_OK;
}

void pipe_release(struct engine *engine, struct pipe *pipe)
{
    for (unsigned kind = 0; kind < ONCHIP_KINDS; kind++) {
        struct onchip_list *list = &pipe->objects[kind];
        for (uint32_t i = 0; i < list->count; i++) {
            if (kind == ONCHIP_TQUE)
                engine_free(engine, list->items[i]->slots);
            engine_free(engine, list->items[i]);
        }
        engine_free(engine, list->items);
    }
    tree_remove(&engine->pipes, &pipe->by_id);
    engine->pipe_count--;
    engine_free(engine, pipe);
}

enum soma_status pipe_destroy(struct call *call)
{
    struct pipe *pipe = pipe_find(call);
    if (pipe == NULL)
        return call->error->status;
    pipe_release(call->engine, pipe);
    return SOMA_OK;
}

/* ---- objects ---- */

/* Room for one more. */
static bool list_reserve(struct engine *engine, struct onchip_list *list)
{
    if (list->count < list->capacity)
        return true;
    if (list->capacity > UINT32_MAX / 2)
        return false;
    uint32_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
    struct onchip **items = engine_alloc(engine, (size_t)capacity * sizeof(struct onchip *));
    if (items == NULL)
        return false;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(struct onchip *));
    engine_free(engine, list->items);
    list->items = items;
    list->capacity = capacity;
    return true;
}

static enum soma_status check_position(struct call *call, const struct pipe *pipe,
                                       enum onchip_kind kind)
{
    uint64_t position = call->command->position;
    bool is_pool_position = position <= SOMA_POSITION_VECCALC || position == SOMA_POSITION_A1 ||
                            position == SOMA_POSITION_B1 || position == SOMA_POSITION_C1;
    if (kind == ONCHIP_TBUFPOOL && !is_pool_position)
        return soma_fail(
            call->error, SOMA_POSITION_UNSUPPORTED, "position",
            "position %s: a TBufPool lies at VECIN, VECOUT, VECCALC, A1, B1 or C1 only",
            onchip_position_name((unsigned)position));
    if (memory_of(pipe->soc, position) < 0)
        return soma_fail(
            call->error, SOMA_POSITION_UNSUPPORTED, "position",
            "position %s is global memory on %s (npu_arch %u): a TPipe gives no buffers "
            "there",
            onchip_position_name((unsigned)position), pipe->soc->name, pipe->soc->npu_arch);
    return SOMA_OK;
}

/* An object of this kind, as the command describes it; NULL with call->error set. Its id is
 * counted, so nothing may fail afterwards. */
static struct onchip *create_object(struct call *call, enum onchip_kind kind)
{
    struct engine *engine = call->engine;
    const struct soma_text *name = &call->command->object_name;
    struct pipe *pipe = pipe_find(call);
    if (pipe == NULL || check_position(call, pipe, kind) != SOMA_OK)
        return NULL;
    if (name->len > SOMA_NAME_BYTES_MAX) {
        (void)soma_fail(call->error, SOMA_INVALID_VALUE, "name",
                        "the name has %zu bytes; at most %u are kept", name->len,
                        SOMA_NAME_BYTES_MAX);
        return NULL;
    }
    struct onchip_list *list = &pipe->objects[kind];
    struct onchip *object = NULL;
    if (list_reserve(engine, list))
        object = engine_alloc(engine, sizeof(*object) + name->len);
    if (object == NULL) {
        (void)engine_no_memory(call);
        return NULL;
    }
    object->id = ++engine->last_id[kinds[kind].ids];
    object->kind = (uint8_t)kind;
    object->position = (uint8_t)call->command->position;
    object->memory = (uint8_t)memory_of(pipe->soc, call->command->position);
    object->name_len = (uint8_t)name->len;
    if (name->len > 0)
        memcpy(object->name, name->ptr, name->len);
    list->items[list->count++] = object;
    return object;
}

enum soma_status pipe_create_tque(struct call *call)
{
    struct onchip *tque = create_object(call, ONCHIP_TQUE);
    if (tque == NULL)
        return call->error->status;
    tque->depth = (uint32_t)call->command->depth;
    call->result->u.tque_created.tque = tque->id;
    return SOMA_OK;
}

enum soma_status pipe_create_tbuf(struct call *call)
{
    const struct onchip *tbuf = create_object(call, ONCHIP_TBUF);
    if (tbuf == NULL)
        return call->error->status;
    call->result->u.tbuf_created.tbuf = tbuf->id;
    return SOMA_OK;
}

enum soma_status pipe_create_tbufpool(struct call *call)
{
    uint64_t size = call->command->buf_id_size;
    if (size == 0 || size > SOMA_TBUFPOOL_BUFFERS_MAX)
        return soma_fail(call->error, SOMA_VALUE_OUT_OF_RANGE, "bufIdSize",
                         "bufIdSize %" PRIu64 ": a TBufPool holds 1 to %u buffers", size,
                         SOMA_TBUFPOOL_BUFFERS_MAX);
    struct onchip *tbufpool = create_object(call, ONCHIP_TBUFPOOL);
    if (tbufpool == NULL)
        return call->error->status;
    tbufpool->buf_id_size = (uint8_t)size;
    tbufpool->has_own_ids = call_has(call, SOMA_HAS(buf_id_size));
    call->result->u.tbufpool_created.tbufpool = tbufpool->id;
    return SOMA_OK;
}
