/* MallocAsync: which block serves a request. The steps (a)-(g) stand in schema/POOLS.md. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/* One request. */
struct request {
    struct pool *pool;
    struct stream *stream;
    uint64_t size; /* rounded */
};

static bool is_on(const struct pool *pool, enum soma_pool_attribute attribute)
{
    return pool->attributes[attribute] != 0;
}

/* ---- who may take what ---- */

/* Frees on list's stream at positions below this are ordered before the request by events. */
static uint64_t event_limit(const struct request *request, const struct cached_list *list)
{
    return is_on(request->pool, SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES)
               ? vclock_get(request->stream->clock, list->stream->key)
               : 0;
}

/* Frees on list's stream at positions below this have completed by the host clock. */
static uint64_t opportunistic_limit(const struct request *request, const struct cached_list *list,
                                    uint64_t now_ns)
{
    if (!is_on(request->pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC))
        return 0;
    stream_settle(list->stream, now_ns);
    return list->stream->done_position + 1;
}

/* The better of two nodes of blocks by size: smaller, then lower. NULL is worst. */
static struct tree_node *better(struct tree_node *a, struct tree_node *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    if (a->major != b->major)
        return a->major < b->major ? a : b;
    return a->minor < b->minor ? a : b;
}

static struct block *block_by_size(const struct tree_node *node)
{
    return node == NULL ? NULL : TREE_ENTRY(node, struct idle, by_size)->block;
}

/* Best fit among what other streams freed, by event order or by completion. */
static struct block *find_of_others(const struct call *call, const struct request *request,
                                    enum soma_reuse kind)
{
    struct tree_node *best = NULL;
    for (struct tree_node *node = tree_first(&request->pool->cached_lists); node != NULL;
         node = tree_next(node)) {
        const struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        if (list->stream == request->stream || list->bytes < request->size)
            continue;
        uint64_t limit = kind == SOMA_REUSE_EVENT
                             ? event_limit(request, list)
                             : opportunistic_limit(request, list, call->now_ns);
        best = better(best, tree_ceil_below(&list->blocks, request->size, limit));
    }
    return block_by_size(best);
}

/* Best fit among all that is cached. */
static struct block *find_any(const struct request *request)
{
    struct tree_node *best = NULL;
    for (struct tree_node *node = tree_first(&request->pool->cached_lists); node != NULL;
         node = tree_next(node)) {
        const struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        best = better(best, tree_ceil(&list->blocks, request->size));
    }
    return block_by_size(best);
}

/* Step (a): when the stream has freed a block that is large enough, the first block of the run that
 * fits best: its own neighbouring blocks are as one for it, wherever in the stream it freed them.
 */
static struct block *find_own(const struct request *request)
{
    const struct cached_list *own = cached_list_of(request->pool, request->stream->key);
    if (own == NULL)
        return NULL;
    const struct tree_node *run = tree_ceil(&own->runs, request->size);
    if (run == NULL)
        return NULL;
    const struct idle *first = TREE_ENTRY(run, struct idle, in_runs);
    bool has_one =
        first->by_size.major >= request->size || tree_last(&own->blocks)->major >= request->size;
    return has_one ? first->block : NULL;
}

/* Steps (a) to (d). */
static struct block *find_cached(const struct call *call, const struct request *request,
                                 enum soma_reuse *kind)
{
    const struct pool *pool = request->pool;
    if (pool->cached_bytes < request->size)
        return NULL;
    struct block *block = find_own(request);
    *kind = SOMA_REUSE_SAME_STREAM;
    if (block == NULL && is_on(pool, SOMA_POOL_ATTRIBUTE_REUSE_FOLLOW_EVENT_DEPENDENCIES)) {
        *kind = SOMA_REUSE_EVENT;
        block = find_of_others(call, request, *kind);
    }
    if (block == NULL && is_on(pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_OPPORTUNISTIC)) {
        *kind = SOMA_REUSE_OPPORTUNISTIC;
        block = find_of_others(call, request, *kind);
    }
    if (block == NULL && is_on(pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES)) {
        *kind = SOMA_REUSE_INTERNAL;
        block = find_any(request);
    }
    return block;
}

/* ---- what the stream has to wait for ---- */

/* Points and times that a malloc waits for, and what the stream knows afterwards. */
struct waits {
    struct submission sub;
    struct point **points;
    size_t count, capacity;
    struct vclock *clock; /* owned */
};

static void waits_drop(struct engine *engine, struct waits *waits)
{
    submission_drop(engine, &waits->sub);
    engine_free(engine, waits->points);
    vclock_unref(engine, waits->clock);
}

/* Wait for a point, or until time_ns where there is none. */
static bool waits_add(struct engine *engine, struct waits *waits, struct point *point,
                      uint64_t time_ns)
{
    uint64_t known_ns = point_time(point, time_ns);
    if (known_ns != SOMA_NONE) {
        if (known_ns > waits->sub.after_ns)
            waits->sub.after_ns = known_ns;
        return true;
    }
    if (waits->count == waits->capacity) {
        size_t capacity = waits->capacity == 0 ? 8 : waits->capacity * 2;
        struct point **points = engine_alloc(engine, capacity * sizeof(struct point *));
        if (points == NULL)
            return false;
        for (size_t i = 0; i < waits->count; i++)
            points[i] = waits->points[i];
        engine_free(engine, waits->points);
        waits->points = points;
        waits->capacity = capacity;
    }
    waits->points[waits->count++] = point;
    return true;
}

/* The edge of step (d): as an event recorded right after the block's free and waited for. A free
 * behind a pending wait has learned what came with the record: its point knows. */
static bool waits_add_edge(struct engine *engine, struct waits *waits, const struct block *block)
{
    struct vclock *known =
        block->idle->point != NULL ? block->idle->point->clock : block->idle->clock;
    struct vclock *joined;
    if (!vclock_join(engine, waits->clock, known, block->idle->list->stream->key,
                     block->idle->position + 1, waits->sub.stream->key, &joined))
        return false;
    vclock_unref(engine, waits->clock);
    waits->clock = joined;
    return waits_add(engine, waits, block->idle->point, block->idle->freed_ns);
}

/* Memory that was released before its free had completed and that lies in the range. It comes
 * before all edges. */
static bool waits_add_lates(struct engine *engine, struct waits *waits, const struct pool *pool,
                            uint64_t address, uint64_t size)
{
    struct tree_node *node = tree_floor(&pool->lates, address, 0);
    if (node == NULL || node->major + TREE_ENTRY(node, struct late, by_address)->size <= address)
        node = node == NULL ? tree_first(&pool->lates) : tree_next(node);
    for (; node != NULL && node->major < address + size; node = tree_next(node)) {
        const struct late *late = TREE_ENTRY(node, struct late, by_address);
        if (!waits_add(engine, waits, late->point, late->time_ns))
            return false;
    }
    waits->sub.late_count = waits->count;
    return true;
}

/* The range is taken: nobody waits for its frees any more. It starts where a FREE block starts. */
static void lates_take(struct engine *engine, struct pool *pool, uint64_t address, uint64_t size)
{
    struct tree_node *node = tree_ceil(&pool->lates, address);
    while (node != NULL && node->major < address + size) {
        struct late *late = TREE_ENTRY(node, struct late, by_address);
        struct tree_node *next = tree_next(node);
        uint64_t end = node->major + late->size;
        tree_remove(&pool->lates, node);
        if (end > address + size) {
            late->size = end - (address + size);
            tree_insert(&pool->lates, node, address + size, 0);
        } else {
            late_put_spare(engine, late);
        }
        node = next;
    }
}

/* ---- taking ---- */

/* The block becomes the answer. Everything is prepared: this cannot fail. */
static void take(struct call *call, const struct request *request, struct waits *waits,
                 struct block *block, enum soma_reuse kind)
{
    struct engine *engine = call->engine;
    struct pool *pool = request->pool;
    struct stream *stream = request->stream;
    block = block_take_low(engine, block, request->size);
    block->requested_size = call->command->size;
    block->stream_id = stream->id;
    block->allocated_by = engine->command_number;
    if (kind == SOMA_REUSE_FRESH) {
        lates_take(engine, pool, block->address, block->size);
        pool->mapped_total += block->size;
        if (pool->on_demand)
            pool->device->on_demand_bytes += block->size;
    }
    pool->mallocs++;
    pool->reuse[kind]++;
    pool->live_allocations++;
    pool->requested_bytes += block->requested_size;
    uint64_t *attributes = pool->attributes;
    if (attributes[SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH] < pool_used(pool))
        attributes[SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH] = pool_used(pool);
    if (attributes[SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH] < pool_reserved(pool))
        attributes[SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH] = pool_reserved(pool);
    vclock_unref(engine, stream->clock);
    stream->clock = vclock_ref(waits->clock);
    submission_commit(call, &waits->sub, NULL);
    call->result->u.pool_block =
        (struct soma_pool_block){block->address, block->size, block->requested_size, (int)kind};
}

/* Steps (a) to (e) on a block that was found. */
static enum soma_status serve(struct call *call, const struct request *request, struct block *block,
                              enum soma_reuse kind)
{
    struct engine *engine = call->engine;
    struct waits waits = {.sub = {.stream = request->stream},
                          .clock = vclock_ref(request->stream->clock)};
    bool good = block_reserve_at(engine, request->pool, block->address + request->size);
    if (good && kind == SOMA_REUSE_INTERNAL)
        good = waits_add_edge(engine, &waits, block);
    if (good && kind == SOMA_REUSE_FRESH)
        good = waits_add_lates(engine, &waits, request->pool, block->address, request->size);
    good = good && submission_prepare(call, &waits.sub, waits.points, waits.count);
    if (good)
        take(call, request, &waits, block, kind);
    waits_drop(engine, &waits);
    return good ? SOMA_OK : engine_no_memory(call);
}

/* ---- (e) and (f) ---- */

static struct block *find_free(const struct request *request)
{
    const struct pool *pool = request->pool;
    if (pool->on_demand && device_free_bytes(pool->device) < request->size)
        return NULL;
    return block_by_size(tree_ceil(&pool->free_blocks, request->size));
}

enum claim { CLAIM_NONE, CLAIM_OWN, CLAIM_BY_WAITING };

/* May the stream have this CACHED block released for it, and must it wait for the free? */
static enum claim claim_on(const struct call *call, const struct request *request,
                           const struct block *block)
{
    const struct cached_list *list = block->idle->list;
    if (list->stream == request->stream || block->idle->position < event_limit(request, list) ||
        block->idle->position < opportunistic_limit(request, list, call->now_ns))
        return CLAIM_OWN;
    return is_on(request->pool, SOMA_POOL_ATTRIBUTE_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
               ? CLAIM_BY_WAITING
               : CLAIM_NONE;
}

/* Where the request would be served if all that the stream may claim were FREE: best fit over the
 * runs that would come of it. false: that would not help. */
static bool find_after_release(const struct call *call, const struct request *request,
                               uint64_t *address)
{
    const struct pool *pool = request->pool;
    if (pool->free_bytes + pool->cached_bytes < request->size)
        return false;
    uint64_t run = 0, start = 0, best = UINT64_MAX, claimed = 0;
    for (const struct block *block = block_first(pool); block != NULL; block = block->next) {
        bool is_claimed =
            block->state == SOMA_BLOCK_STATE_CACHED && claim_on(call, request, block) != CLAIM_NONE;
        bool joins = is_claimed || block->state == SOMA_BLOCK_STATE_FREE;
        start = run == 0 ? block->address : start;
        run += joins ? block->size : 0;
        claimed += is_claimed ? block->size : 0;
        if (joins && block->next != NULL)
            continue;
        if (run >= request->size && run < best) {
            best = run;
            *address = start;
        }
        run = 0;
    }
    bool device_has =
        !pool->on_demand || device_free_bytes(pool->device) + claimed >= request->size;
    return claimed > 0 && best != UINT64_MAX && device_has;
}

/* Unmap a claimed block. */
static void release_claimed(struct call *call, struct block *block)
{
    struct engine *engine = call->engine;
    struct pool *pool = block->pool;
    pool->unmapped_total += block->size;
    if (pool->on_demand)
        pool->device->on_demand_bytes -= block->size;
    if (engine->has_bytes)
        engine->bytes.unmap(engine->bytes.ctx, block->address, block->size);
    block_set_free(engine, block, call->now_ns);
}

/* Step (f): release what the stream may claim, then serve from FREE memory. */
static enum soma_status coalesce(struct call *call, const struct request *request, uint64_t address)
{
    struct engine *engine = call->engine;
    struct pool *pool = request->pool;
    struct waits waits = {.sub = {.stream = request->stream},
                          .clock = vclock_ref(request->stream->clock)};
    bool good = block_reserve_at(engine, pool, address + request->size) &&
                waits_add_lates(engine, &waits, pool, address, request->size);
    struct cached_walk walk;
    struct block *block;
    cached_walk_begin(pool, &walk);
    while (good && (block = cached_walk_next(&walk)) != NULL) {
        if (claim_on(call, request, block) == CLAIM_BY_WAITING)
            good = waits_add_edge(engine, &waits, block);
    }
    good = good && submission_prepare(call, &waits.sub, waits.points, waits.count);
    if (good) {
        cached_walk_begin(pool, &walk);
        while ((block = cached_walk_next(&walk)) != NULL) {
            if (claim_on(call, request, block) != CLAIM_NONE)
                release_claimed(call, block);
        }
        take(call, request, &waits, block_at(pool, address), SOMA_REUSE_FRESH);
    }
    waits_drop(engine, &waits);
    return good ? SOMA_OK : engine_no_memory(call);
}

/* ---- (g) ---- */

/* "; 4 MiB cached by stream 1, 2 MiB by stream 3" or "". */
static void describe_cached(const struct pool *pool, char *buf, size_t size)
{
    size_t len = 0;
    char bytes[32];
    buf[0] = '\0';
    for (struct tree_node *node = tree_first(&pool->cached_lists); node != NULL && len + 64 < size;
         node = tree_next(node)) {
        const struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        if (list->bytes == 0)
            continue;
        int wrote = snprintf(buf + len, size - len, "%s%s %sby stream %" PRIu64,
                             len == 0 ? " (" : ", ", soma_bytes_text(bytes, list->bytes),
                             len == 0 ? "freed " : "", list->stream->id);
        len += wrote > 0 ? (size_t)wrote : 0;
    }
    if (len > 0)
        (void)snprintf(buf + len, size - len, ")");
}

static enum soma_status exhausted(struct call *call, const struct request *request)
{
    const struct pool *pool = request->pool;
    char cached_by[256], wanted[32], used[32], cached[32], largest[32], device_free[64] = "";
    struct tree_node *last = tree_last(&pool->free_blocks);
    describe_cached(pool, cached_by, sizeof(cached_by));
    if (pool->on_demand)
        (void)snprintf(device_free, sizeof(device_free), ", device free %s",
                       soma_bytes_text(wanted, device_free_bytes(pool->device)));
    return soma_fail(
        call->error, SOMA_POOL_EXHAUSTED, "size",
        "pool %" PRIu64 " has no room for %s: used %s, cached %s%s, largest free block "
        "%s%s; free blocks, synchronise or trim, enable a reuse attribute, or create a "
        "larger pool",
        pool->id, soma_bytes_text(wanted, request->size), soma_bytes_text(used, pool_used(pool)),
        soma_bytes_text(cached, pool->cached_bytes), cached_by,
        soma_bytes_text(largest, last == NULL ? 0 : last->major), device_free);
}

enum soma_status pool_malloc(struct call *call)
{
    const struct soma_command *command = call->command;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct request request = {.pool = pool_find(call, device, SOMA_NO_SUCH_POOL)};
    if (request.pool == NULL)
        return call->error->status;
    if (command->size == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "size", "size is 0; give at least 1 byte");
    request.size = round_up(command->size, SOMA_GRANULE_BYTES);
    if (request.size == 0)
        return soma_fail(call->error, SOMA_SIZE_OVERFLOW, "size",
                         "size %" PRIu64 " rounded up to 2 MiB leaves 64 bits; pool %" PRIu64
                         " holds %" PRIu64 " bytes at most",
                         command->size, request.pool->id, request.pool->max_size);
    request.stream = stream_find(call, device, command->stream);
    if (request.stream == NULL)
        return call->error->status;
    enum soma_reuse kind = SOMA_REUSE_FRESH;
    struct block *block = find_cached(call, &request, &kind);
    if (block == NULL) {
        kind = SOMA_REUSE_FRESH;
        block = find_free(&request);
    }
    if (block != NULL)
        return serve(call, &request, block, kind);
    uint64_t address = 0;
    if (find_after_release(call, &request, &address))
        return coalesce(call, &request, address);
    return exhausted(call, &request);
}
