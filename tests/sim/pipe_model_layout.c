/* The model's layouts, and what helps to make up commands. */
#include "pipe_model_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- regions ---- */

/* What got memory from `giver`, of this memory: the next in address order after `previous` (NULL:
 * the first); among equals the older one. */
static const struct item *next_given(const struct pipe_model *model,
                                     const struct pipe_of_model *pipe, const struct item *giver,
                                     unsigned memory, const struct item *previous)
{
    const struct item *best = NULL;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe != pipe || !item->has_memory || item->giver != giver ||
            item->memory != memory)
            continue;
        if (previous != NULL &&
            (item->address < previous->address ||
             (item->address == previous->address && item->sequence <= previous->sequence)))
            continue;
        if (best == NULL || item->address < best->address ||
            (item->address == best->address && item->sequence < best->sequence))
            best = item;
    }
    return best;
}

struct regions {
    struct soma_layout_region *items;
    const struct item **owners; /* of each */
    size_t count;
};

static void add_region(struct regions *regions, const struct item *item, uint64_t index,
                       uint64_t level)
{
    regions->items = realloc(regions->items, (regions->count + 1) * sizeof(*regions->items));
    regions->owners =
        realloc((void *)regions->owners, (regions->count + 1) * sizeof(*regions->owners));
    if (regions->items == NULL || regions->owners == NULL)
        abort();
    struct soma_layout_region *out = &regions->items[regions->count];
    regions->owners[regions->count++] = item;
    memset(out, 0, sizeof(*out));
    bool is_pool = item->kind == PIPE_MODEL_TBUFPOOL, is_tque = item->kind == PIPE_MODEL_TQUE;
    out->address = item->address + index * item->each;
    out->len = item->each;
    out->kind = is_pool ? SOMA_REGION_KIND_POOL : SOMA_REGION_KIND_BUFFER;
    (void)item_name(item, out->name);
    if (item->giver != NULL)
        (void)item_name(item->giver, out->owner);
    else
        (void)snprintf(out->owner, sizeof(out->owner), "pipe");
    out->state = is_tque ? item->states[index] : SOMA_REGION_STATE_IDLE;
    out->position = (int)item->position;
    out->level = level;
    out->padding_bytes = is_pool ? 0 : item->each - item->asked;
    out->tque = is_tque ? item->id : SOMA_NONE;
    out->index = is_tque ? index : SOMA_NONE;
    out->tensor = is_tque && item->tensors[index] != 0 ? item->tensors[index] : SOMA_NONE;
    out->tbuf = item->kind == PIPE_MODEL_TBUF ? item->id : SOMA_NONE;
    out->tbufpool = is_pool ? item->id : SOMA_NONE;
    out->free_bytes = out->buf_id_size = out->buffers = SOMA_NONE;
}

static void fill_pool(const struct pipe_model *model, const struct item *pool,
                      struct soma_layout_region *out)
{
    out->free_bytes = out->buffers = 0;
    out->buf_id_size = pool->ids;
    for (uint64_t i = 0; i < pool->each / CELL; i++)
        out->free_bytes += pool->cells[i] == NULL ? CELL : 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (!item->has_memory || item->kind == PIPE_MODEL_TBUFPOOL || !is_inside(item, pool))
            continue;
        out->buffers += item->giver == pool ? item->num : 0;
        for (uint64_t j = 0; j < item->num && item->kind == PIPE_MODEL_TQUE; j++) {
            if (item->tensors[j] != 0)
                out->state = SOMA_REGION_STATE_ALLOCATED;
        }
    }
}

static void add_given(const struct pipe_model *model, const struct pipe_of_model *pipe,
                      const struct item *giver, unsigned memory, struct regions *regions)
{
    uint64_t level = 0;
    for (const struct item *around = giver; around != NULL; around = around->giver)
        level++;
    for (const struct item *item = next_given(model, pipe, giver, memory, NULL); item != NULL;
         item = next_given(model, pipe, giver, memory, item)) {
        uint64_t num = item->kind == PIPE_MODEL_TBUFPOOL ? 1 : item->num;
        for (uint64_t i = 0; i < num; i++)
            add_region(regions, item, i, level);
        if (item->kind == PIPE_MODEL_TBUFPOOL) {
            fill_pool(model, item, &regions->items[regions->count - 1]);
            add_given(model, pipe, item, memory, regions);
        }
    }
}

/* ---- sharing ---- */

static void add_name(struct soma_names *names, const char *name)
{
    names->items = realloc(names->items, (names->count + 1) * sizeof(*names->items));
    if (names->items == NULL)
        abort();
    (void)snprintf(names->items[names->count++], SOMA_MESSAGE_BYTES, "%s", name);
}

/* Do two regions have a byte in common, pools only when one shares the other's region? */
static bool shares(const struct regions *regions, size_t a, size_t b)
{
    const struct soma_layout_region *left = &regions->items[a], *right = &regions->items[b];
    if (left->kind != right->kind || regions->owners[a] == regions->owners[b])
        return false;
    if (left->kind == SOMA_REGION_KIND_POOL)
        return regions->owners[a]->region == regions->owners[b]->region;
    for (uint64_t byte = left->address; byte < left->address + left->len; byte += CELL) {
        if (byte >= right->address && byte < right->address + right->len)
            return true;
    }
    return false;
}

static void add_sharers(struct regions *regions)
{
    for (size_t i = 0; i < regions->count; i++) {
        const struct item *last = NULL;
        for (size_t j = 0; j < regions->count; j++) {
            if (!shares(regions, i, j) || regions->owners[j] == last)
                continue;
            last = regions->owners[j];
            add_name(&regions->items[i].shared_with, regions->items[j].name);
        }
    }
}

/* ---- stages ---- */

static bool is_stage(const struct regions *regions, size_t region)
{
    return regions->items[region].kind == SOMA_REGION_KIND_POOL &&
           regions->items[region].shared_with.count > 0;
}

/* Whether the region is of the stage of this pool (NULL: of none): no stage lies between. */
static bool is_of_stage(const struct regions *regions, size_t region, const struct item *pool)
{
    for (const struct item *around = regions->owners[region]->giver; around != NULL;
         around = around->giver) {
        if (around == pool)
            return true;
        for (size_t i = 0; i < regions->count; i++) {
            if (regions->owners[i] == around && is_stage(regions, i))
                return false;
        }
    }
    return pool == NULL;
}

static void fill_stage(const struct regions *regions, const struct item *pool,
                       struct soma_layout_stage *out)
{
    char text[SOMA_MESSAGE_BYTES];
    (void)(pool != NULL ? item_name(pool, out->name)
                        : memcpy(out->name, "always", sizeof("always")));
    out->tbufpool = pool != NULL ? pool->id : SOMA_NONE;
    for (size_t i = 0; i < regions->count; i++) {
        const struct soma_layout_region *region = &regions->items[i];
        if (region->kind == SOMA_REGION_KIND_POOL || !is_of_stage(regions, i, pool))
            continue;
        out->buffers++;
        out->buffer_bytes += region->len;
        if (region->tensor == SOMA_NONE)
            continue;
        out->live_tensors++;
        out->live_bytes += region->len;
        const char *state = soma_word_of(SOMA_GROUP_region_state, region->state);
        (void)snprintf(text, sizeof(text), "%s: tensor %" PRIu64 ", %s", region->name,
                       region->tensor, state);
        if (regions->owners[i]->num > 1)
            (void)snprintf(text, sizeof(text), "%s[%" PRIu64 "]: tensor %" PRIu64 ", %s",
                           region->name, region->index, region->tensor, state);
        add_name(&out->live, text);
    }
}

static void fill_stages(const struct regions *regions, struct soma_layout_memory *out)
{
    if (regions->count == 0)
        return;
    out->stages.items = must_alloc(regions->count + 1, sizeof(*out->stages.items));
    out->stages.count = 1;
    fill_stage(regions, NULL, &out->stages.items[0]);
    for (size_t i = 0; i < regions->count; i++) {
        if (is_stage(regions, i))
            fill_stage(regions, regions->owners[i], &out->stages.items[out->stages.count++]);
    }
}

/* ---- the whole ---- */

static uint64_t tail_of(const struct soma_soc *soc)
{
    return soc->npu_arch <= 2201 ? 8192 : 0;
}

static void fill_memory(const struct pipe_model *model, const struct pipe_of_model *pipe,
                        unsigned memory, struct soma_layout_memory *out)
{
    struct regions regions = {NULL, NULL, 0};
    out->memory = (int)memory;
    out->capacity_bytes = memory_bytes(pipe->soc, memory);
    out->used_bytes = bytes_given(pipe, memory);
    out->peak_bytes = pipe->peak[memory];
    out->free_bytes = out->capacity_bytes - out->used_bytes;
    out->reserved_bytes = memory == SOMA_ONCHIP_MEMORY_UB ? tail_of(pipe->soc) : 0;
    for (uint64_t i = 0; i < out->capacity_bytes / CELL; i++)
        out->live_bytes += pipe->live[memory][i] != 0 ? CELL : 0;
    add_given(model, pipe, NULL, memory, &regions);
    add_sharers(&regions);
    for (size_t i = 0; i < regions.count; i++)
        out->padding_bytes += regions.items[i].padding_bytes;
    fill_stages(&regions, out);
    out->regions.items = regions.items;
    out->regions.count = regions.count;
    free((void *)regions.owners);
}

/* The largest that is not in the list yet, the older among equals, TQues before TBufs. */
static const struct item *next_largest(const struct pipe_model *model,
                                       const struct pipe_of_model *pipe,
                                       const struct item *const *known, size_t count)
{
    const struct item *best = NULL;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        bool is_known =
            item->pipe != pipe || !item->has_memory || item->kind == PIPE_MODEL_TBUFPOOL;
        for (size_t j = 0; j < count; j++)
            is_known = is_known || known[j] == item;
        if (is_known)
            continue;
        uint64_t bytes = item->num * item->each, most = best == NULL ? 0 : best->num * best->each;
        if (bytes > most ||
            (bytes == most && best != NULL &&
             (item->kind < best->kind || (item->kind == best->kind && item->id < best->id))))
            best = item;
    }
    return best;
}

static void fill_largest(const struct pipe_model *model, const struct pipe_of_model *pipe,
                         struct soma_layout *out)
{
    const struct item *known[8];
    size_t count = 0;
    const struct item *item;
    while (count < 8 && (item = next_largest(model, pipe, known, count)) != NULL)
        known[count++] = item;
    out->largest.items = must_alloc(count, sizeof(*out->largest.items));
    out->largest.count = count;
    for (size_t i = 0; i < count; i++) {
        struct soma_layout_holder *holder = &out->largest.items[i];
        (void)item_name(known[i], holder->name);
        if (known[i]->giver != NULL)
            (void)item_name(known[i]->giver, holder->owner);
        else
            (void)snprintf(holder->owner, sizeof(holder->owner), "pipe");
        holder->memory = (int)known[i]->memory;
        holder->buffers = known[i]->num;
        holder->bytes = known[i]->num * known[i]->each;
    }
}

size_t model_warnings(const struct pipe_model *model, const struct pipe_of_model *pipe)
{
    uint64_t at[POSITIONS] = {0};
    size_t warnings = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe != pipe || !item->has_memory || item->kind == PIPE_MODEL_TBUFPOOL)
            continue;
        at[item->position] += item->kind == PIPE_MODEL_TQUE ? item->num : 0;
        warnings += item->each * 2 > memory_bytes(pipe->soc, item->memory);
    }
    for (unsigned position = 0; position < POSITIONS; position++)
        warnings += at[position] > most_held(pipe);
    uint64_t tail = tail_of(pipe->soc);
    bool has_any = next_given(model, pipe, NULL, SOMA_ONCHIP_MEMORY_UB, NULL) != NULL;
    warnings += has_any && tail > 0 &&
                bytes_given(pipe, SOMA_ONCHIP_MEMORY_UB) > pipe->soc->ub_bytes - tail;
    return warnings;
}

void model_layout(const struct pipe_model *model, const struct pipe_of_model *pipe,
                  struct soma_layout *out)
{
    size_t count = 0;
    out->pipe = pipe->id;
    out->soc = pipe->soc->name;
    out->checks = pipe->follows_device ? SOMA_CHECKS_DEVICE : SOMA_CHECKS_DOCUMENTED;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe == pipe && item->kind != PIPE_MODEL_TBUFPOOL)
            out->buffers += item->num;
    }
    out->memories.items = must_alloc(MEMORIES, sizeof(*out->memories.items));
    for (unsigned memory = 0; memory < MEMORIES; memory++) {
        if (memory_bytes(pipe->soc, memory) > 0)
            fill_memory(model, pipe, memory, &out->memories.items[count++]);
    }
    out->memories.count = count;
    fill_largest(model, pipe, out);
    out->warnings.count = model_warnings(model, pipe);
    out->warnings.items = must_alloc(out->warnings.count, sizeof(*out->warnings.items));
}

/* ---- for whoever makes up commands ---- */

uint64_t pipe_model_pick_pipe(const struct pipe_model *model, struct random_source *source)
{
    return model->pipe_count == 0 ? 0 : model->pipes[random_below(source, model->pipe_count)]->id;
}

uint64_t pipe_model_pick(const struct pipe_model *model, struct random_source *source,
                         uint64_t pipe, enum pipe_model_kind kind, bool is_initialized)
{
    uint64_t found = 0, id = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        if (item->pipe->id == pipe && item->kind == kind && item->has_memory == is_initialized &&
            random_below(source, ++found) == 0)
            id = item->id;
    }
    return id;
}

uint64_t pipe_model_pick_tensor(const struct pipe_model *model, struct random_source *source,
                                uint64_t pipe, uint64_t *tque)
{
    uint64_t found = 0, tensor = 0;
    for (size_t i = 0; i < model->item_count; i++) {
        const struct item *item = model->items[i];
        for (uint64_t j = 0;
             item->pipe->id == pipe && item->kind == PIPE_MODEL_TQUE && j < item->num; j++) {
            if (item->tensors[j] == 0 || random_below(source, ++found) != 0)
                continue;
            tensor = item->tensors[j];
            *tque = item->id;
        }
    }
    return tensor;
}

uint64_t pipe_model_left(const struct pipe_model *model, uint64_t pipe, uint64_t pool)
{
    const struct pipe_of_model *of = find_pipe(model, pipe);
    if (of == NULL)
        return 0;
    if (pool == 0)
        return of->soc->ub_bytes - bytes_given(of, SOMA_ONCHIP_MEMORY_UB);
    const struct item *item = find_item(model, of, PIPE_MODEL_TBUFPOOL, pool);
    uint64_t left = 0;
    for (uint64_t i = 0; item != NULL && i < item->each / CELL; i++)
        left += item->cells[i] == NULL ? CELL : 0;
    return left;
}
