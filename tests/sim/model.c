/* The model's skeleton: creation, lookup of objects, dispatch and the host clock. */
#include "model.h"

#include "model_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- mutants ---- */

static const struct {
    const char *name;
    const char *text;
} mutant_rows[] = {{"NONE", "the rules as they are"},
#define SOMA_ROW(NAME, text) {#NAME, text},
                   SIM_MUTANTS(SOMA_ROW)
#undef SOMA_ROW
};

const char *model_mutant_name(enum model_mutant mutant)
{
    return mutant_rows[mutant].name;
}

const char *model_mutant_text(enum model_mutant mutant)
{
    return mutant_rows[mutant].text;
}

bool model_has_mutant(const struct model *model, enum model_mutant mutant)
{
    return model->config.mutant == mutant;
}

/* ---- memory ---- */

void *model_alloc(size_t size_bytes)
{
    void *ptr = calloc(1, size_bytes > 0 ? size_bytes : 1);
    if (ptr == NULL)
        abort();
    return ptr;
}

void model_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

void *model_list_add(struct model_list *list, size_t item_bytes)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items = realloc(list->items, list->capacity * item_bytes);
        if (list->items == NULL)
            abort();
    }
    char *item = (char *)list->items + list->count * item_bytes;
    list->count++;
    memset(item, 0, item_bytes);
    return item;
}

struct model_task *model_task(const struct model *model, uint32_t index)
{
    return (struct model_task *)model->tasks.items + index;
}

struct model_stream *model_stream(const struct model *model, uint32_t index)
{
    return (struct model_stream *)model->streams.items + index;
}

struct model_event *model_event(const struct model *model, uint32_t index)
{
    return (struct model_event *)model->events.items + index;
}

struct model_pool *model_pool(const struct model *model, uint32_t index)
{
    return (struct model_pool *)model->pools.items + index;
}

struct model_allocation *model_allocation(const struct model *model, uint32_t index)
{
    return (struct model_allocation *)model->allocations.items + index;
}

/* ---- lookup ---- */

bool model_has_device(const struct model *model, const struct soma_command *command)
{
    return command->device < model->config.device_count;
}

enum soma_status model_find_stream(const struct model *model, uint64_t device, uint64_t id,
                                   uint32_t *stream)
{
    for (uint32_t i = 0; i < model->streams.count; i++) {
        const struct model_stream *found = model_stream(model, i);
        if (!found->is_live || found->id != id)
            continue;
        if (found->device == device) {
            *stream = i;
            return SOMA_OK;
        }
        if (id != 0)
            return SOMA_STREAM_OF_OTHER_DEVICE;
    }
    return SOMA_NO_SUCH_STREAM;
}

enum soma_status model_find_going_stream(const struct model *model, uint64_t device, uint64_t id,
                                         uint32_t *stream)
{
    enum soma_status status = model_find_stream(model, device, id, stream);
    return status == SOMA_OK && model_stream(model, *stream)->is_stopped ? SOMA_STREAM_STOPPED
                                                                         : status;
}

enum soma_status model_find_event(const struct model *model, uint64_t device, uint64_t id,
                                  uint32_t *event)
{
    for (uint32_t i = 0; i < model->events.count; i++) {
        const struct model_event *found = model_event(model, i);
        if (found->is_live && found->id == id && found->device == device) {
            *event = i;
            return SOMA_OK;
        }
    }
    return SOMA_NO_SUCH_EVENT;
}

enum soma_status model_find_pool(const struct model *model, uint64_t device, uint64_t id,
                                 uint32_t *pool)
{
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *found = model_pool(model, i);
        if (found->is_live && found->id == id && found->device == device) {
            *pool = i;
            return SOMA_OK;
        }
    }
    return SOMA_NO_SUCH_POOL;
}

/* ---- life ---- */

struct model *model_create(const struct model_config *config)
{
    struct model *model = model_alloc(sizeof(*model));
    model->config = *config;
    model->next_stream = 1;
    model->next_event = 1;
    model->next_pool = 1;
    model->bytes = sim_bytes_create();
    for (uint32_t device = 0; device < config->device_count; device++) {
        struct model_stream *stream = model_list_add(&model->streams, sizeof(*stream));
        stream->device = device;
        stream->is_live = true;
        stream->last_task = MODEL_NONE;
    }
    return model;
}

void model_destroy(struct model *model)
{
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < model->pools.count; i++)
        free(model_pool(model, i)->granules);
    free(model->tasks.items);
    free(model->dependencies.items);
    free(model->streams.items);
    free(model->events.items);
    free(model->pools.items);
    free(model->allocations.items);
    free(model->hand_overs.items);
    free(model->funcs.items);
    sim_bytes_destroy(model->bytes);
    free(model);
}

/* ---- commands ---- */

typedef enum soma_status model_command_fn(struct model *model, const struct soma_command *command,
                                          struct soma_result *result);

static model_command_fn *const command_functions[SOMA_OP_COUNT] = {
#define SOMA_ROW(OP, name) [SOMA_OP_##OP] = model_##name,
    MODEL_COMMANDS(SOMA_ROW)
#undef SOMA_ROW
};

static bool is_timeout(enum soma_status status)
{
    return status == SOMA_STREAM_SYNC_TIMEOUT || status == SOMA_EVENT_SYNC_TIMEOUT ||
           status == SOMA_DEVICE_SYNC_TIMEOUT;
}

/* Allocations freed on a stream go when the host clock has passed that free; it passes when the
 * next command comes, even if that is refused then. */
static void bury_allocations(struct model *model)
{
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        struct model_allocation *allocation = model_allocation(model, i);
        if (!allocation->is_live && !allocation->is_gone &&
            model_is_over(model, allocation->free_task, model->now_ns))
            allocation->is_gone = true;
    }
}

enum soma_status model_apply(struct model *model, const struct soma_command *command,
                             struct soma_result *result)
{
    memset(result, 0, sizeof(*result));
    result->message = SOMA_MESSAGE_NONE;
    if (command_functions[command->op] == NULL)
        return SOMA_NOT_SUPPORTED;
    bool is_query = soma_op_info(command->op)->method == SOMA_METHOD_GET;
    model->now_ns = model->clock_ns + model->config.costs.host_call_ns;
    if (is_query && model_has_mutant(model, MUTANT_QUERY_NO_TIME))
        model->now_ns = model->clock_ns;
    if (model->config.is_wall_clock && model->wall_ns > model->now_ns)
        model->now_ns = model->wall_ns;
    model->wait_ns = SOMA_NONE;
    bury_allocations(model);
    enum soma_status status = command_functions[command->op](model, command, result);
    bool moves = status == SOMA_OK || is_timeout(status) || status == SOMA_KERNEL_FAULT;
    if (status == SOMA_OK || status == SOMA_KERNEL_FAULT)
        model->applied++;
    if (is_timeout(status) && model_has_mutant(model, MUTANT_TIMEOUT_NO_TIME))
        moves = false;
    if (status != SOMA_MUST_WAIT && model_has_mutant(model, MUTANT_REFUSED_TAKES_TIME))
        moves = true;
    if (moves)
        model->clock_ns = model->now_ns;
    return status;
}

/* ---- the whole session ---- */

uint64_t model_now_ns(const struct model *model)
{
    return model->clock_ns;
}

void model_set_wall(struct model *model, uint64_t now_ns)
{
    model->wall_ns = now_ns > model->wall_ns ? now_ns : model->wall_ns;
}

uint64_t model_wait_ns(const struct model *model)
{
    return model->wait_ns;
}

uint64_t model_mapped_bytes(const struct model *model)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < model->pools.count; i++) {
        if (model_pool(model, i)->is_live)
            bytes += model_pool(model, i)->reserved;
    }
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        if (!model_allocation(model, i)->is_gone)
            bytes += model_allocation(model, i)->page_bytes;
    }
    return bytes;
}

bool model_is_safe(const struct model *model)
{
    for (uint32_t i = 0; i < model->hand_overs.count; i++) {
        const struct model_hand_over *over =
            (const struct model_hand_over *)model->hand_overs.items + i;
        const struct model_task *freed = model_task(model, over->free_task);
        const struct model_task *taken = model_task(model, over->malloc_task);
        if (!over->is_void && taken->is_resolved &&
            (!freed->is_resolved || taken->end_ns < freed->end_ns))
            return false;
    }
    return true;
}

static int compare_leaks(const void *left, const void *right)
{
    uint64_t a = ((const struct soma_leak *)left)->ptr;
    uint64_t b = ((const struct soma_leak *)right)->ptr;
    return a < b ? -1 : a > b;
}

void model_leaks(const struct model *model, struct soma_leak **items, size_t *count)
{
    struct model_list leaks = {0};
    for (uint32_t i = 0; i < model->pools.count; i++) {
        if (model_pool(model, i)->is_live)
            model_pool_leaks(model, model_pool(model, i), &leaks);
    }
    for (uint32_t i = 0; i < model->allocations.count; i++) {
        const struct model_allocation *allocation = model_allocation(model, i);
        if (!allocation->is_live)
            continue;
        struct soma_leak *leak = model_list_add(&leaks, sizeof(*leak));
        leak->kind = SOMA_MEMORY_KIND_DEVICE;
        leak->device = allocation->device;
        leak->pool = SOMA_NONE;
        leak->ptr = allocation->base;
        leak->size = allocation->bytes;
        leak->requested_size = allocation->requested;
        leak->stream = SOMA_NONE;
        leak->allocated_by = allocation->allocated_by;
    }
    if (leaks.count > 0)
        qsort(leaks.items, leaks.count, sizeof(struct soma_leak), compare_leaks);
    *items = leaks.items;
    *count = leaks.count;
}

void model_counts(const struct model *model, struct soma_counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    counts->devices = model->config.device_count;
    for (uint32_t i = 0; i < model->streams.count; i++)
        counts->streams += model_stream(model, i)->is_live && model_stream(model, i)->id != 0;
    for (uint32_t i = 0; i < model->events.count; i++)
        counts->events += model_event(model, i)->is_live;
    for (uint32_t i = 0; i < model->pools.count; i++)
        counts->pools += model_pool(model, i)->is_live;
    struct soma_leak *leaks;
    size_t count;
    model_leaks(model, &leaks, &count);
    for (size_t i = 0; i < count; i++) {
        if (leaks[i].kind == SOMA_MEMORY_KIND_POOL)
            counts->pool_allocations++;
        else
            counts->device_allocations++;
    }
    free(leaks);
}

void model_totals(const struct model *model, struct model_totals *totals)
{
    memset(totals, 0, sizeof(*totals));
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct model_pool *pool = model_pool(model, i);
        totals->pools += pool->is_live;
        totals->reserved_bytes += pool->is_live ? pool->reserved : 0;
        totals->used_bytes += pool->is_live ? pool->used : 0;
        totals->mapped_bytes += pool->mapped_total;
        totals->unmapped_bytes += pool->unmapped_total;
        totals->mallocs += pool->mallocs;
        totals->frees += pool->frees;
        for (int reuse = 0; reuse < 5; reuse++)
            totals->reuse[reuse] += pool->reuse[reuse];
    }
}
