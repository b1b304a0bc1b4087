/* Blocks of pools: how they are found, taken, freed and unmapped. A pool is an array of granules;
 * a block is a run of granules that belong together, worked out anew each time. */
#include "model_state.h"

#include <stdlib.h>

/* ---- blocks ---- */

static bool is_same_block(const struct model *model, const struct model_granule *left,
                          const struct model_granule *right)
{
    if (left->state != right->state)
        return false;
    if (left->state == SOMA_BLOCK_STATE_BUSY)
        return left->first == right->first;
    if (left->state == SOMA_BLOCK_STATE_CACHED)
        return left->stream == right->stream && (left->position == right->position ||
                                                 model_has_mutant(model, MUTANT_MERGE_POSITIONS));
    return true;
}

uint32_t model_block_end(const struct model *model, const struct model_pool *pool, uint32_t first)
{
    if (first >= pool->touched)
        return pool->granule_count;
    uint32_t end = first + 1;
    while (end < pool->touched &&
           is_same_block(model, &pool->granules[first], &pool->granules[end]))
        end++;
    bool is_free = pool->granules[first].state == SOMA_BLOCK_STATE_FREE;
    return is_free && end == pool->touched ? pool->granule_count : end;
}

/* Have entries up to and with this one. */
static void grow(struct model_pool *pool, uint32_t granule)
{
    uint32_t old = pool->granule_capacity;
    if (granule < old)
        return;
    pool->granule_capacity = granule + 1 + old;
    pool->granules = realloc(pool->granules, pool->granule_capacity * sizeof(*pool->granules));
    if (pool->granules == NULL)
        abort();
    for (uint32_t i = old; i < pool->granule_capacity; i++)
        pool->granules[i] = (struct model_granule){
            .state = SOMA_BLOCK_STATE_FREE, .late_task = MODEL_NONE, .last_free = MODEL_NONE};
}

void model_pool_init(struct model_pool *pool)
{
    grow(pool, 0);
}

static void set_state(struct model_pool *pool, uint32_t granule, enum soma_block_state state)
{
    enum soma_block_state old = pool->granules[granule].state;
    pool->used -= old == SOMA_BLOCK_STATE_BUSY ? SOMA_GRANULE_BYTES : 0;
    pool->reserved -= old != SOMA_BLOCK_STATE_FREE ? SOMA_GRANULE_BYTES : 0;
    pool->used += state == SOMA_BLOCK_STATE_BUSY ? SOMA_GRANULE_BYTES : 0;
    pool->reserved += state != SOMA_BLOCK_STATE_FREE ? SOMA_GRANULE_BYTES : 0;
    pool->granules[granule].state = (uint8_t)state;
    if (granule >= pool->touched)
        pool->touched = granule + 1;
    grow(pool, pool->touched);
}

uint32_t model_busy_start(const struct model_pool *pool, uint64_t address)
{
    if (address < pool->base || address >= pool->base + pool->max_bytes ||
        (address - pool->base) % SOMA_GRANULE_BYTES != 0)
        return MODEL_NONE;
    uint32_t granule = (uint32_t)((address - pool->base) / SOMA_GRANULE_BYTES);
    if (granule >= pool->touched)
        return MODEL_NONE;
    const struct model_granule *found = &pool->granules[granule];
    return found->state == SOMA_BLOCK_STATE_BUSY && found->first == granule ? granule : MODEL_NONE;
}

void model_pool_leaks(const struct model *model, const struct model_pool *pool,
                      struct model_list *leaks)
{
    for (uint32_t first = 0; first < pool->granule_count;) {
        const struct model_granule *granule = &pool->granules[first];
        uint32_t end = model_block_end(model, pool, first);
        if (granule->state == SOMA_BLOCK_STATE_BUSY) {
            struct soma_leak *leak = model_list_add(leaks, sizeof(*leak));
            leak->kind = SOMA_MEMORY_KIND_POOL;
            leak->device = pool->device;
            leak->pool = pool->id;
            leak->ptr = pool->base + first * SOMA_GRANULE_BYTES;
            leak->size = (end - first) * SOMA_GRANULE_BYTES;
            leak->requested_size = granule->requested;
            leak->stream = model_stream(model, granule->stream)->id;
            leak->allocated_by = granule->allocated_by;
        }
        first = end;
    }
}

/* ---- unmapping ---- */

static void unmap(struct model_pool *pool, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        bool is_cached = pool->granules[i].state == SOMA_BLOCK_STATE_CACHED;
        pool->granules[i].late_task = is_cached ? pool->granules[i].free_task : MODEL_NONE;
        set_state(pool, i, SOMA_BLOCK_STATE_FREE);
    }
    pool->unmapped_total += (end - first) * SOMA_GRANULE_BYTES;
}

/* The CACHED block that goes next: MODEL_NONE: there is none. */
static uint32_t next_to_unmap(const struct model *model, const struct model_pool *pool)
{
    uint32_t best = MODEL_NONE;
    uint32_t best_count = 0;
    for (uint32_t first = 0; first < pool->touched;) {
        uint32_t end = model_block_end(model, pool, first);
        bool is_better = best == MODEL_NONE || end - first < best_count;
        if (model_has_mutant(model, MUTANT_RELEASE_LARGEST))
            is_better = best == MODEL_NONE || end - first > best_count;
        if (pool->granules[first].state == SOMA_BLOCK_STATE_CACHED && is_better) {
            best = first;
            best_count = end - first;
        }
        first = end;
    }
    return best;
}

uint64_t model_shrink(struct model *model, struct model_pool *pool, uint64_t target_bytes)
{
    uint64_t before = pool->reserved;
    while (pool->reserved > target_bytes) {
        uint32_t first = next_to_unmap(model, pool);
        if (first == MODEL_NONE)
            break;
        uint32_t end = model_block_end(model, pool, first);
        uint64_t excess = (pool->reserved - target_bytes) / SOMA_GRANULE_BYTES;
        uint32_t count = end - first < excess ? end - first : (uint32_t)excess;
        if (model_has_mutant(model, MUTANT_RELEASE_HIGH_END))
            first = end - count;
        unmap(pool, first, first + count);
    }
    return before - pool->reserved;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + SOMA_GRANULE_BYTES - 1) / SOMA_GRANULE_BYTES * SOMA_GRANULE_BYTES;
}

static uint64_t release_idle_of(struct model *model, struct model_pool *pool)
{
    uint64_t threshold = pool->threshold;
    if (model_has_mutant(model, MUTANT_THRESHOLD_IGNORED))
        threshold = 0;
    if (model_has_mutant(model, MUTANT_THRESHOLD_FLOOR))
        threshold = threshold / SOMA_GRANULE_BYTES * SOMA_GRANULE_BYTES;
    if (pool->reserved - pool->used <= threshold)
        return 0;
    return model_shrink(model, pool, pool->used + round_up(threshold));
}

uint64_t model_release_idle(struct model *model, uint32_t device)
{
    uint64_t released = 0;
    bool is_everywhere = model_has_mutant(model, MUTANT_RELEASE_ALL_DEVICES);
    for (uint32_t i = 0; i < model->pools.count; i++) {
        struct model_pool *pool = model_pool(model, i);
        if (pool->is_live && (pool->device == device || is_everywhere))
            released += release_idle_of(model, pool);
    }
    return released;
}

void model_pool_drop(struct model *model, struct model_pool *pool)
{
    (void)model;
    pool->is_live = false;
    pool->unmapped_total += pool->reserved;
    free(pool->granules);
    pool->granules = NULL;
}

/* ---- freeing ---- */

void model_pool_free_on(struct model *model, struct model_pool *pool, uint32_t first,
                        uint32_t stream)
{
    uint32_t position = model_stream(model, stream)->position;
    struct model_submission submission = model_plain_task(stream, 0);
    submission.is_pool_free = true;
    uint32_t task = model_submit(model, &submission);
    uint32_t end = model_block_end(model, pool, first);
    for (uint32_t i = first; i < end; i++) {
        struct model_granule *granule = &pool->granules[i];
        uint32_t owner =
            model_has_mutant(model, MUTANT_FREE_OF_ALLOCATOR) ? pool->granules[i].stream : stream;
        granule->position = owner == stream ? position : model_stream(model, owner)->position;
        granule->stream = owner;
        granule->free_task = task;
        granule->last_free = task;
        set_state(pool, i, SOMA_BLOCK_STATE_CACHED);
    }
    pool->frees++;
}

void model_pool_free_now(struct model *model, struct model_pool *pool, uint32_t first)
{
    uint32_t end = model_block_end(model, pool, first);
    for (uint32_t i = first; i < end; i++)
        pool->granules[i].last_free = MODEL_NONE; /* the host vouches for it */
    unmap(pool, first, end);
    pool->frees++;
}

/* ---- allocating ---- */

/* One malloc under way. */
struct request {
    struct model *model;
    struct model_pool *pool;
    uint32_t stream;
    uint64_t size_bytes;     /* as asked for */
    uint32_t count;          /* granules */
    struct model_list waits; /* of model_dependency */
};

static bool is_free_over(const struct request *request, uint32_t first)
{
    uint32_t end = model_block_end(request->model, request->pool, first);
    bool is_over = true;
    for (uint32_t i = first; i < end; i++) {
        uint32_t task = request->pool->granules[i].free_task;
        uint64_t now_ns = request->model->now_ns;
        if (model_has_mutant(request->model, MUTANT_OPPORTUNISTIC_STRICT))
            now_ns--;
        is_over = is_over && model_is_over(request->model, task, now_ns);
    }
    return is_over || model_has_mutant(request->model, MUTANT_OPPORTUNISTIC_EARLY);
}

/* May the stream take this CACHED block under this rule? */
static bool is_usable(const struct request *request, uint32_t first, enum soma_reuse reuse)
{
    const struct model_pool *pool = request->pool;
    const struct model_granule *granule = &pool->granules[first];
    bool is_own = granule->stream == request->stream;
    switch (reuse) {
    case SOMA_REUSE_SAME_STREAM: return is_own;
    case SOMA_REUSE_EVENT:
        return !is_own &&
               (pool->follow_events || model_has_mutant(request->model, MUTANT_EVENT_ALWAYS)) &&
               model_is_ordered(request->model, request->stream, granule->stream,
                                granule->position);
    case SOMA_REUSE_OPPORTUNISTIC:
        return !is_own && pool->allow_opportunistic && is_free_over(request, first);
    case SOMA_REUSE_INTERNAL: return pool->allow_internal;
    case SOMA_REUSE_FRESH:
    default: return false;
    }
}

/* Is a block of `count` granules a better fit than the best so far? */
static bool is_better_fit(const struct request *request, uint32_t count, uint32_t best_count)
{
    if (count < request->count)
        return false;
    if (best_count == 0)
        return true;
    if (model_has_mutant(request->model, MUTANT_FIRST_FIT))
        return false;
    if (model_has_mutant(request->model, MUTANT_HIGHEST_AMONG_EQUALS))
        return count <= best_count;
    return count < best_count;
}

/* Best fit among FREE blocks (FRESH) or the CACHED blocks usable under this rule. Returns the first
 * of the granules to take: MODEL_NONE: no block is large enough. */
static uint32_t find_block(const struct request *request, enum soma_reuse reuse)
{
    uint32_t best = MODEL_NONE;
    uint32_t best_count = 0;
    for (uint32_t first = 0; first < request->pool->granule_count;) {
        uint8_t state = request->pool->granules[first].state;
        uint32_t end = model_block_end(request->model, request->pool, first);
        bool is_candidate = reuse == SOMA_REUSE_FRESH ? state == SOMA_BLOCK_STATE_FREE
                                                      : state == SOMA_BLOCK_STATE_CACHED;
        if (is_candidate && is_better_fit(request, end - first, best_count) &&
            (reuse == SOMA_REUSE_FRESH || is_usable(request, first, reuse))) {
            best = first;
            best_count = end - first;
        }
        first = end;
    }
    if (best != MODEL_NONE && model_has_mutant(request->model, MUTANT_SPLIT_HIGH))
        best += best_count - request->count;
    return best;
}

/* Behind the last of the neighbouring CACHED blocks that the stream freed, whatever the positions.
 */
static uint32_t own_end(const struct request *request, uint32_t first)
{
    const struct model_pool *pool = request->pool;
    uint32_t end = first;
    while (end < pool->touched && pool->granules[end].state == SOMA_BLOCK_STATE_CACHED &&
           pool->granules[end].stream == request->stream)
        end++;
    return end;
}

/* Step a: one block has to be large enough; best fit is over neighbours that are the stream's. */
static uint32_t find_own(const struct request *request)
{
    uint32_t found = find_block(request, SOMA_REUSE_SAME_STREAM);
    if (model_has_mutant(request->model, MUTANT_OWN_APART) ||
        (found == MODEL_NONE && !model_has_mutant(request->model, MUTANT_OWN_TOGETHER)))
        return found;
    uint32_t best = MODEL_NONE;
    uint32_t best_count = 0;
    for (uint32_t first = 0; first < request->pool->touched;) {
        uint32_t end = own_end(request, first);
        if (end > first && is_better_fit(request, end - first, best_count)) {
            best = first;
            best_count = end - first;
        }
        first = end > first ? end : first + 1;
    }
    if (best != MODEL_NONE && model_has_mutant(request->model, MUTANT_SPLIT_HIGH))
        best += best_count - request->count;
    return best;
}

static uint32_t find_cached(const struct request *request, enum soma_reuse reuse)
{
    return reuse == SOMA_REUSE_SAME_STREAM ? find_own(request) : find_block(request, reuse);
}

static uint32_t find_fresh(const struct request *request)
{
    const struct model_pool *pool = request->pool;
    if (pool->is_demand && !model_has_mutant(request->model, MUTANT_DEMAND_UNLIMITED) &&
        model_device_free(request->model, pool->device) < request->count * SOMA_GRANULE_BYTES)
        return MODEL_NONE;
    return find_block(request, SOMA_REUSE_FRESH);
}

static void add_wait(struct request *request, uint32_t task, enum model_reason reason)
{
    struct model_dependency *waits = request->waits.items;
    for (uint32_t i = 0; i < request->waits.count; i++) {
        if (waits[i].task == task && waits[i].reason == reason)
            return;
    }
    struct model_dependency *wait = model_list_add(&request->waits, sizeof(*wait));
    wait->task = task;
    wait->reason = reason;
}

/* The stream waits for the frees of these CACHED granules. */
static void wait_for_frees(struct request *request, uint32_t first, uint32_t end,
                           enum model_mutant no_wait, enum model_mutant no_edge)
{
    if (model_has_mutant(request->model, no_wait))
        return;
    bool has_edge = !model_has_mutant(request->model, no_edge);
    for (uint32_t i = first; i < end; i++)
        add_wait(request, request->pool->granules[i].free_task,
                 has_edge ? MODEL_BECAUSE_FREE : MODEL_BECAUSE_TIME);
}

/* Under which rule may the stream have this CACHED block? FRESH: under none. */
static enum soma_reuse usable_by(const struct request *request, uint32_t first)
{
    for (int reuse = SOMA_REUSE_SAME_STREAM; reuse <= SOMA_REUSE_INTERNAL; reuse++) {
        if (is_usable(request, first, (enum soma_reuse)reuse))
            return (enum soma_reuse)reuse;
    }
    return model_has_mutant(request->model, MUTANT_COALESCE_ANY) ? SOMA_REUSE_SAME_STREAM
                                                                 : SOMA_REUSE_FRESH;
}

/* Would the request fit if every CACHED block that the stream may use were released? */
static bool would_coalesce(const struct request *request)
{
    const struct model_pool *pool = request->pool;
    uint64_t released = 0;
    uint32_t run = 0;
    uint32_t longest = 0;
    for (uint32_t first = 0; first < pool->granule_count;) {
        uint32_t end = model_block_end(request->model, pool, first);
        uint8_t state = pool->granules[first].state;
        bool is_usable_block =
            state == SOMA_BLOCK_STATE_CACHED && usable_by(request, first) != SOMA_REUSE_FRESH;
        released += is_usable_block ? (end - first) * SOMA_GRANULE_BYTES : 0;
        run = is_usable_block || state == SOMA_BLOCK_STATE_FREE ? run + end - first : 0;
        longest = run > longest ? run : longest;
        first = end;
    }
    if (longest < request->count || model_has_mutant(request->model, MUTANT_NO_COALESCE))
        return false;
    return !pool->is_demand || model_device_free(request->model, pool->device) + released >=
                                   request->count * SOMA_GRANULE_BYTES;
}

static void coalesce(struct request *request)
{
    struct model_pool *pool = request->pool;
    for (uint32_t first = 0; first < pool->granule_count;) {
        uint32_t end = model_block_end(request->model, pool, first);
        if (pool->granules[first].state == SOMA_BLOCK_STATE_CACHED) {
            enum soma_reuse reuse = usable_by(request, first);
            if (reuse == SOMA_REUSE_INTERNAL)
                wait_for_frees(request, first, end, MUTANT_COALESCE_NO_WAIT,
                               MUTANT_COALESCE_NO_EDGE);
            if (reuse != SOMA_REUSE_FRESH)
                unmap(pool, first, end);
        }
        first = end;
    }
}

static const enum soma_reuse *search_order(const struct model *model)
{
    static const enum soma_reuse order[] = {SOMA_REUSE_SAME_STREAM, SOMA_REUSE_EVENT,
                                            SOMA_REUSE_OPPORTUNISTIC, SOMA_REUSE_INTERNAL};
    static const enum soma_reuse wrong[] = {SOMA_REUSE_SAME_STREAM, SOMA_REUSE_INTERNAL,
                                            SOMA_REUSE_EVENT, SOMA_REUSE_OPPORTUNISTIC};
    return model_has_mutant(model, MUTANT_INTERNAL_FIRST) ? wrong : order;
}

/* Steps a to f. Returns the first granule to take: MODEL_NONE: the pool is full. */
static uint32_t search(struct request *request, enum soma_reuse *reuse)
{
    const enum soma_reuse *order = search_order(request->model);
    for (int step = 0; step < 4; step++) {
        uint32_t first = find_cached(request, order[step]);
        if (first == MODEL_NONE)
            continue;
        *reuse = order[step];
        if (*reuse == SOMA_REUSE_INTERNAL)
            wait_for_frees(request, first, first + request->count, MUTANT_INTERNAL_NO_WAIT,
                           MUTANT_INTERNAL_NO_EDGE);
        return first;
    }
    *reuse = SOMA_REUSE_FRESH;
    uint32_t first = find_fresh(request);
    if (first == MODEL_NONE && would_coalesce(request)) {
        coalesce(request);
        first = find_fresh(request);
    }
    return first;
}

static void map(struct request *request, uint32_t first)
{
    struct model *model = request->model;
    struct model_pool *pool = request->pool;
    uint32_t last = first + request->count - 1;
    grow(pool, last);
    for (uint32_t i = first; i <= last; i++) {
        uint32_t late = pool->granules[i].late_task;
        bool is_skipped = model_has_mutant(model, MUTANT_FRESH_NO_WAIT) ||
                          (i < last && model_has_mutant(model, MUTANT_FRESH_LAST_WAIT));
        if (late != MODEL_NONE && !is_skipped)
            add_wait(request, late, MODEL_BECAUSE_TIME);
        pool->granules[i].late_task = MODEL_NONE;
    }
    uint64_t bytes = request->count * SOMA_GRANULE_BYTES;
    pool->mapped_total += bytes;
    if (!model_has_mutant(model, MUTANT_NOT_ZEROED))
        sim_bytes_zero(model->bytes, pool->base + first * SOMA_GRANULE_BYTES, bytes);
}

static void note_hand_over(struct model *model, uint32_t free_task, uint32_t malloc_task)
{
    if (free_task == MODEL_NONE || model_is_over(model, free_task, model->now_ns))
        return;
    struct model_hand_over *over = model_list_add(&model->hand_overs, sizeof(*over));
    over->free_task = free_task;
    over->malloc_task = malloc_task;
}

static void take(struct request *request, uint32_t first, enum soma_reuse reuse)
{
    struct model *model = request->model;
    struct model_pool *pool = request->pool;
    struct model_submission submission = model_plain_task(request->stream, 0);
    if (reuse == SOMA_REUSE_FRESH)
        map(request, first);
    submission.dependencies = request->waits.items;
    submission.dependency_count = request->waits.count;
    uint32_t task = model_submit(model, &submission);
    for (uint32_t i = first; i < first + request->count; i++) {
        note_hand_over(model, pool->granules[i].last_free, task);
        set_state(pool, i, SOMA_BLOCK_STATE_BUSY);
        pool->granules[i].first = first;
        pool->granules[i].stream = request->stream;
    }
    pool->granules[first].requested = request->size_bytes;
    pool->granules[first].allocated_by = model->applied + 1;
    pool->mallocs++;
    pool->reuse[reuse]++;
    if (model_has_mutant(model, MUTANT_HIGH_NOT_MOVED))
        return;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    pool->reserved_high =
        pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
}

enum soma_status model_pool_malloc(struct model *model, const struct soma_command *command,
                                   struct soma_result *result)
{
    uint32_t pool, stream;
    if (!model_has_device(model, command))
        return SOMA_NO_SUCH_DEVICE;
    enum soma_status status = model_find_pool(model, command->device, command->pool, &pool);
    if (status != SOMA_OK)
        return status;
    if (command->size == 0)
        return SOMA_ZERO_SIZE;
    if (command->size > UINT64_MAX - (SOMA_GRANULE_BYTES - 1))
        return SOMA_SIZE_OVERFLOW;
    status = model_find_stream(model, command->device, command->stream, &stream);
    if (status != SOMA_OK)
        return status;
    uint64_t size = round_up(command->size);
    if (size > model_pool(model, pool)->max_bytes)
        return SOMA_POOL_EXHAUSTED;
    struct request request = {.model = model,
                              .pool = model_pool(model, pool),
                              .stream = stream,
                              .size_bytes = command->size,
                              .count = (uint32_t)(size / SOMA_GRANULE_BYTES)};
    enum soma_reuse reuse;
    uint32_t first = search(&request, &reuse);
    if (first != MODEL_NONE) {
        take(&request, first, reuse);
        result->message = SOMA_MESSAGE_POOL_BLOCK;
        result->u.pool_block.ptr = request.pool->base + first * SOMA_GRANULE_BYTES;
        result->u.pool_block.size = size;
        result->u.pool_block.requested_size = command->size;
        result->u.pool_block.reuse = (int)reuse;
    }
    free(request.waits.items);
    return first != MODEL_NONE ? SOMA_OK : SOMA_POOL_EXHAUSTED;
}
