/* The layout of a pipe: what lies where in each memory, who shares, what is live in which stage,
 * who holds the most. Changes nothing. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names in the sharedWith of one pool, so that a plan of very many pools stays answerable. */
enum { SHARERS_MAX = 63, SHARERS_IN_ALL = 4096, LARGEST_MAX = 8 };

/* One object of the memory that is looked at, each pool before what it holds. */
struct entry {
    const struct onchip *object;
    struct soma_layout_region *region; /* the first of its regions */
    size_t parent;                     /* entry of its pool; NO_ENTRY: the pipe gave it */
    size_t stage;                      /* of the memory's stages; 0 is what no sharing pool holds */
    uint32_t sharers;                  /* pools with this region, this one included */
    struct tree_node by_region;        /* pools: major number of the region, minor entry */
};

#define NO_ENTRY SIZE_MAX

struct survey {
    const struct pipe *pipe;
    unsigned memory;
    struct entry *entries;
    size_t count, pool_count;
    struct soma_layout_memory *out;
};

/* ---- objects in order ---- */

static bool survey_init(struct engine *engine, struct survey *survey)
{
    struct onchip *first = survey->pipe->first[survey->memory];
    for (const struct onchip *o = onchip_walk(first, NULL, NULL); o != NULL;
         o = onchip_walk(first, NULL, o)) {
        survey->count++;
        survey->pool_count += o->kind == ONCHIP_TBUFPOOL;
    }
    if (survey->count == 0)
        return true;
    survey->entries = engine_alloc(engine, survey->count * sizeof(*survey->entries));
    if (survey->entries == NULL)
        return false;
    size_t at = survey->count; /* the walk is the wanted order backwards */
    for (const struct onchip *o = onchip_walk(first, NULL, NULL); o != NULL;
         o = onchip_walk(first, NULL, o))
        survey->entries[--at].object = o;
    for (size_t i = 0; i < survey->count; i++) {
        size_t parent = i == 0 ? NO_ENTRY : i - 1;
        const struct onchip *pool = survey->entries[i].object->pool;
        while (parent != NO_ENTRY && survey->entries[parent].object != pool)
            parent = survey->entries[parent].parent;
        survey->entries[i].parent = parent;
    }
    return true;
}

/* ---- regions ---- */

static enum soma_region_state state_of(const struct onchip *object, unsigned index)
{
    return object->kind == ONCHIP_TQUE ? (enum soma_region_state)object->slots[index].state
                                       : SOMA_REGION_STATE_IDLE;
}

static void fill_region(const struct survey *survey, const struct entry *entry, unsigned index,
                        struct soma_layout_region *out)
{
    const struct onchip *object = entry->object;
    bool is_pool = object->kind == ONCHIP_TBUFPOOL, is_tque = object->kind == ONCHIP_TQUE;
    uint64_t tensor = is_tque ? object->slots[index].tensor : 0;
    const struct entry *parent = entry->parent == NO_ENTRY ? NULL : &survey->entries[entry->parent];
    out->address = object->address + index * object->size;
    out->len = object->size;
    out->kind = is_pool ? SOMA_REGION_KIND_POOL : SOMA_REGION_KIND_BUFFER;
    (void)onchip_name(object, out->name);
    if (parent != NULL)
        (void)onchip_name(parent->object, out->owner);
    else
        (void)snprintf(out->owner, sizeof(out->owner), "pipe");
    out->state = (int)state_of(object, index);
    out->position = object->position;
    out->level = parent == NULL ? 0 : parent->region->level + 1;
    out->padding_bytes = is_pool ? 0 : object->size - object->asked;
    out->tque = is_tque ? object->id : SOMA_NONE;
    out->index = is_tque ? index : SOMA_NONE;
    out->tensor = tensor != 0 ? tensor : SOMA_NONE;
    out->tbuf = object->kind == ONCHIP_TBUF ? object->id : SOMA_NONE;
    out->tbufpool = is_pool ? object->id : SOMA_NONE;
    out->free_bytes = is_pool ? object->address + object->size - object->next_free : SOMA_NONE;
    out->buf_id_size = is_pool ? object->buf_id_size : SOMA_NONE;
    out->buffers = is_pool ? object->buffers : SOMA_NONE;
}

/* A pool is in use while something that it holds is. */
static void mark_in_use(const struct survey *survey, size_t parent)
{
    while (parent != NO_ENTRY) {
        struct soma_layout_region *region = survey->entries[parent].region;
        if (region->state != SOMA_REGION_STATE_IDLE)
            return;
        region->state = SOMA_REGION_STATE_ALLOCATED;
        parent = survey->entries[parent].parent;
    }
}

static enum soma_status fill_regions(struct call *call, struct survey *survey)
{
    size_t count = 0, at = 0;
    void *items = NULL;
    for (size_t i = 0; i < survey->count; i++) {
        const struct onchip *object = survey->entries[i].object;
        count += object->kind == ONCHIP_TBUFPOOL ? 1 : object->num;
    }
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_layout_region), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_layout_region *regions = items;
    survey->out->regions.items = regions;
    survey->out->regions.count = count;
    for (size_t i = 0; i < survey->count; i++) {
        struct entry *entry = &survey->entries[i];
        unsigned num = entry->object->kind == ONCHIP_TBUFPOOL ? 1 : entry->object->num;
        entry->region = &regions[at];
        for (unsigned index = 0; index < num; index++) {
            struct soma_layout_region *region = &regions[at++];
            fill_region(survey, entry, index, region);
            survey->out->padding_bytes += region->padding_bytes;
            if (region->tensor == SOMA_NONE)
                continue;
            survey->out->live_bytes += region->len;
            mark_in_use(survey, entry->parent);
        }
    }
    return SOMA_OK;
}

/* ---- sharing ---- */

/* The pools by their regions, in `pools`, which has room for them. */
static void order_by_region(const struct survey *survey, struct entry **pools)
{
    struct tree order = {NULL};
    for (size_t i = 0; i < survey->count; i++) {
        struct entry *entry = &survey->entries[i];
        if (entry->object->kind == ONCHIP_TBUFPOOL)
            tree_insert(&order, &entry->by_region, entry->object->region, i);
    }
    for (struct tree_node *node = tree_first(&order); node != NULL; node = tree_next(node))
        *pools++ = TREE_ENTRY(node, struct entry, by_region);
}

static enum soma_status share_with_group(struct call *call, struct entry *const *group,
                                         size_t count, size_t most)
{
    for (size_t i = 0; i < count; i++) {
        struct soma_names *names = &group[i]->region->shared_with;
        size_t wanted = count - 1 < most ? count - 1 : most;
        void *items = NULL;
        enum soma_status status = engine_result_array(call, wanted, SOMA_MESSAGE_BYTES, &items);
        if (status != SOMA_OK)
            return status;
        names->items = items;
        for (size_t j = 0; names->count < wanted; j++) {
            if (j != i)
                (void)onchip_name(group[j]->object, names->items[names->count++]);
        }
        group[i]->sharers = (uint32_t)count;
    }
    return SOMA_OK;
}

/* Pools of one region. */
static enum soma_status share_pools(struct call *call, struct survey *survey)
{
    enum soma_status status = SOMA_OK;
    size_t count = survey->pool_count, end = 0;
    if (count < 2 || survey->pipe->shared_pools == 0)
        return SOMA_OK;
    size_t most = SHARERS_IN_ALL / count + 1;
    struct entry **pools = engine_alloc(call->engine, count * sizeof(struct entry *));
    if (pools == NULL)
        return engine_no_memory(call);
    order_by_region(survey, pools);
    for (size_t begin = 0; begin < count && status == SOMA_OK; begin = end) {
        for (end = begin; end < count && pools[end]->object->region == pools[begin]->object->region;
             end++) {
        }
        if (end - begin > 1)
            status = share_with_group(call, &pools[begin], end - begin,
                                      most < SHARERS_MAX ? most : SHARERS_MAX);
    }
    engine_free(call->engine, pools);
    return status;
}

static bool overlaps(const struct soma_layout_region *a, const struct soma_layout_region *b)
{
    return a->address < b->address + b->len && b->address < a->address + a->len;
}

/* Write, or with items NULL only count, the TQues and TBufs with a byte of this buffer. */
static size_t overlapping(const struct survey *survey, const struct entry *entry,
                          const struct soma_layout_region *region,
                          char (*items)[SOMA_MESSAGE_BYTES])
{
    size_t found = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const struct entry *other = &survey->entries[i];
        bool shares = false;
        if (other == entry || other->object->kind == ONCHIP_TBUFPOOL)
            continue;
        for (unsigned index = 0; index < other->object->num; index++)
            shares = shares || overlaps(region, other->region + index);
        if (shares && items != NULL)
            (void)onchip_name(other->object, items[found]);
        found += shares;
    }
    return found;
}

/* Buffers that overlap. There are at most SOMA_PIPE_BUFFERS_MAX. */
static enum soma_status share_buffers(struct call *call, const struct survey *survey)
{
    for (size_t i = 0; survey->pipe->shared_pools > 0 && i < survey->count; i++) {
        const struct entry *entry = &survey->entries[i];
        for (unsigned index = 0; index < entry->object->num; index++) {
            struct soma_layout_region *region = entry->region + index;
            size_t count = overlapping(survey, entry, region, NULL);
            void *items = NULL;
            enum soma_status status = engine_result_array(call, count, SOMA_MESSAGE_BYTES, &items);
            if (status != SOMA_OK)
                return status;
            region->shared_with.items = items;
            region->shared_with.count = overlapping(survey, entry, region, items);
        }
    }
    return SOMA_OK;
}

/* ---- stages ---- */

static void count_in_stage(const struct entry *entry, struct soma_layout_stage *stage)
{
    const struct onchip *object = entry->object;
    for (unsigned i = 0; i < object->num; i++) {
        bool is_live = entry->region[i].tensor != SOMA_NONE;
        stage->buffers++;
        stage->buffer_bytes += object->size;
        stage->live_tensors += is_live;
        stage->live_bytes += is_live ? object->size : 0;
    }
}

static void name_live(const struct entry *entry, struct soma_layout_stage *stage)
{
    const struct onchip *object = entry->object;
    char which[16] = "";
    for (unsigned i = 0; i < object->num; i++) {
        const struct soma_layout_region *region = &entry->region[i];
        if (region->tensor == SOMA_NONE)
            continue;
        if (object->num > 1)
            (void)snprintf(which, sizeof(which), "[%u]", i);
        (void)snprintf(stage->live.items[stage->live.count++], SOMA_MESSAGE_BYTES,
                       "%s%s: tensor %" PRIu64 ", %s", region->name, which, region->tensor,
                       soma_word_of(SOMA_GROUP_region_state, region->state));
    }
}

static void begin_stages(struct survey *survey)
{
    struct soma_layout_stage *stages = survey->out->stages.items;
    size_t count = 1;
    stages[0].tbufpool = SOMA_NONE;
    (void)snprintf(stages[0].name, sizeof(stages[0].name), "always");
    for (size_t i = 0; i < survey->count; i++) {
        struct entry *entry = &survey->entries[i];
        entry->stage = entry->parent == NO_ENTRY ? 0 : survey->entries[entry->parent].stage;
        if (entry->sharers > 1) {
            entry->stage = count;
            stages[count].tbufpool = entry->object->id;
            (void)onchip_name(entry->object, stages[count].name);
            count++;
        }
        count_in_stage(entry, &stages[entry->stage]);
    }
}

static enum soma_status fill_stages(struct call *call, struct survey *survey)
{
    size_t count = survey->count > 0;
    void *items = NULL;
    for (size_t i = 0; i < survey->count; i++)
        count += survey->entries[i].sharers > 1;
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_layout_stage), &items);
    if (status != SOMA_OK || count == 0)
        return status;
    struct soma_layout_stage *stages = items;
    survey->out->stages.items = stages;
    survey->out->stages.count = count;
    begin_stages(survey);
    for (size_t i = 0; i < count; i++) {
        status =
            engine_result_array(call, (size_t)stages[i].live_tensors, SOMA_MESSAGE_BYTES, &items);
        if (status != SOMA_OK)
            return status;
        stages[i].live.items = items;
    }
    for (size_t i = 0; i < survey->count; i++)
        name_live(&survey->entries[i], &stages[survey->entries[i].stage]);
    return SOMA_OK;
}

/* ---- the whole ---- */

static enum soma_status fill_memory(struct call *call, const struct pipe *pipe, unsigned memory,
                                    struct soma_layout_memory *out)
{
    struct survey survey = {.pipe = pipe, .memory = memory, .out = out};
    uint32_t capacity = onchip_capacity(pipe->soc, memory);
    out->memory = (int)memory;
    out->capacity_bytes = capacity;
    out->used_bytes = pipe_used(pipe, memory);
    out->peak_bytes = pipe->peak[memory];
    out->free_bytes = capacity - pipe_used(pipe, memory);
    out->reserved_bytes = memory == SOMA_ONCHIP_MEMORY_UB ? onchip_reserved(pipe->soc) : 0;
    if (!survey_init(call->engine, &survey))
        return engine_no_memory(call);
    enum soma_status status = fill_regions(call, &survey);
    if (status == SOMA_OK)
        status = share_pools(call, &survey);
    if (status == SOMA_OK)
        status = share_buffers(call, &survey);
    if (status == SOMA_OK)
        status = fill_stages(call, &survey);
    engine_free(call->engine, survey.entries);
    return status;
}

static enum soma_status fill_memories(struct call *call, const struct pipe *pipe)
{
    size_t count = 0;
    void *items = NULL;
    for (unsigned memory = 0; memory < ONCHIP_MEMORIES; memory++)
        count += onchip_capacity(pipe->soc, memory) > 0;
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_layout_memory), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_layout_memory *memories = items;
    call->result->u.layout.memories.items = memories;
    call->result->u.layout.memories.count = count;
    for (unsigned memory = 0; memory < ONCHIP_MEMORIES && status == SOMA_OK; memory++) {
        if (onchip_capacity(pipe->soc, memory) > 0)
            status = fill_memory(call, pipe, memory, memories++);
    }
    return status;
}

/* Put the object where it belongs among the largest; among equals the older comes first. */
static size_t keep_largest(const struct onchip **largest, size_t count, const struct onchip *object)
{
    size_t at = count;
    while (at > 0 && onchip_bytes(largest[at - 1]) < onchip_bytes(object))
        at--;
    if (at == LARGEST_MAX)
        return count;
    if (count < LARGEST_MAX)
        count++;
    for (size_t i = count - 1; i > at; i--)
        largest[i] = largest[i - 1];
    largest[at] = object;
    return count;
}

/* The TQues and TBufs with the most bytes, in order. */
static size_t find_largest(const struct pipe *pipe, const struct onchip **largest)
{
    size_t count = 0;
    for (unsigned kind = 0; kind < ONCHIP_TBUFPOOL; kind++) {
        const struct onchip_list *list = &pipe->objects[kind];
        for (uint32_t i = 0; i < list->count; i++) {
            if (list->items[i]->is_initialized)
                count = keep_largest(largest, count, list->items[i]);
        }
    }
    return count;
}

static enum soma_status fill_largest(struct call *call, const struct pipe *pipe)
{
    const struct onchip *largest[LARGEST_MAX];
    size_t count = find_largest(pipe, largest);
    void *items = NULL;
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_layout_holder), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_layout_holder *holders = items;
    for (size_t i = 0; i < count; i++) {
        const struct onchip *object = largest[i];
        (void)onchip_name(object, holders[i].name);
        if (object->pool != NULL)
            (void)onchip_name(object->pool, holders[i].owner);
        else
            (void)snprintf(holders[i].owner, sizeof(holders[i].owner), "pipe");
        holders[i].memory = object->memory;
        holders[i].buffers = object->num;
        holders[i].bytes = onchip_bytes(object);
    }
    call->result->u.layout.largest.items = holders;
    call->result->u.layout.largest.count = count;
    return SOMA_OK;
}

static enum soma_status fill_warnings(struct call *call, const struct pipe *pipe)
{
    struct soma_names *warnings = &call->result->u.layout.warnings;
    size_t count = pipe_warnings(pipe, NULL);
    void *items = NULL;
    enum soma_status status = engine_result_array(call, count, SOMA_MESSAGE_BYTES, &items);
    if (status != SOMA_OK || count == 0)
        return status;
    warnings->items = items;
    warnings->count = pipe_warnings(pipe, warnings->items);
    return SOMA_OK;
}

enum soma_status pipe_layout(struct call *call)
{
    const struct pipe *pipe = pipe_find(call);
    if (pipe == NULL)
        return call->error->status;
    struct soma_layout *out = &call->result->u.layout;
    out->pipe = pipe->by_id.major;
    out->soc = pipe->soc->name;
    out->checks = pipe->follows_device ? SOMA_CHECKS_DEVICE : SOMA_CHECKS_DOCUMENTED;
    out->buffers = pipe->buffers;
    enum soma_status status = fill_memories(call, pipe);
    if (status == SOMA_OK)
        status = fill_largest(call, pipe);
    return status == SOMA_OK ? fill_warnings(call, pipe) : status;
}
