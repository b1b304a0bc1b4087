/* The blocks of a pool: an address-ordered cover of its range, each block in the lists of its
 * state. Neighbouring FREE blocks are always one; neighbouring CACHED blocks are one if and only
 * if the same stream freed them at the same position. Neighbouring CACHED blocks of one stream are
 * a run, which that stream may take from as from one block. Nothing here fails: callers reserve. */
#include "internal.h"

enum { SPARES_KEPT = 64 };

/* ---- spares ---- */

bool blocks_reserve(struct engine *engine, size_t blocks, size_t lates)
{
    while (engine->spare_block_count < blocks) {
        struct block *block = engine_alloc(engine, sizeof(*block));
        if (block == NULL)
            return false;
        block->next_spare = engine->spare_blocks;
        engine->spare_blocks = block;
        engine->spare_block_count++;
    }
    while (engine->spare_late_count < lates) {
        struct late *late = engine_alloc(engine, sizeof(*late));
        if (late == NULL)
            return false;
        late->next_spare = engine->spare_lates;
        engine->spare_lates = late;
        engine->spare_late_count++;
    }
    return true;
}

static struct block *block_take_spare(struct engine *engine)
{
    struct block *block = engine->spare_blocks;
    engine->spare_blocks = block->next_spare;
    engine->spare_block_count--;
    *block = (struct block){0};
    return block;
}

static void block_put_spare(struct engine *engine, struct block *block)
{
    if (engine->spare_block_count >= SPARES_KEPT) {
        engine_free(engine, block);
        return;
    }
    block->next_spare = engine->spare_blocks;
    engine->spare_blocks = block;
    engine->spare_block_count++;
}

struct late *late_take_spare(struct engine *engine)
{
    struct late *late = engine->spare_lates;
    engine->spare_lates = late->next_spare;
    engine->spare_late_count--;
    *late = (struct late){0};
    return late;
}

void late_put_spare(struct engine *engine, struct late *late)
{
    if (late == NULL)
        return;
    point_unref(engine, late->point);
    if (engine->spare_late_count >= SPARES_KEPT) {
        engine_free(engine, late);
        return;
    }
    late->point = NULL;
    late->next_spare = engine->spare_lates;
    engine->spare_lates = late;
    engine->spare_late_count++;
}

void spares_clear(struct engine *engine)
{
    while (engine->spare_blocks != NULL) {
        struct block *block = engine->spare_blocks;
        engine->spare_blocks = block->next_spare;
        engine_free(engine, block);
    }
    while (engine->spare_lates != NULL) {
        struct late *late = engine->spare_lates;
        engine->spare_lates = late->next_spare;
        engine_free(engine, late);
    }
    engine->spare_block_count = engine->spare_late_count = 0;
}

/* ---- lists ---- */

struct cached_list *cached_list_of(const struct pool *pool, uint64_t stream_key)
{
    return TREE_ENTRY(tree_find(&pool->cached_lists, stream_key, 0), struct cached_list, by_stream);
}

struct cached_list *cached_list_get(struct engine *engine, struct pool *pool, struct stream *stream)
{
    struct cached_list *list = cached_list_of(pool, stream->key);
    if (list != NULL)
        return list;
    list = engine_alloc(engine, sizeof(*list));
    if (list == NULL)
        return NULL;
    list->stream = stream;
    tree_insert(&pool->cached_lists, &list->by_stream, stream->key, 0);
    return list;
}

static void cached_list_free(struct engine *engine, struct pool *pool, struct cached_list *list)
{
    tree_remove(&pool->cached_lists, &list->by_stream);
    engine_free(engine, list);
}

void cached_lists_drop(struct engine *engine, struct pool *pool, const struct stream *stream)
{
    struct cached_list *list = cached_list_of(pool, stream->key);
    if (list != NULL && list->bytes == 0)
        cached_list_free(engine, pool, list);
}

/* ---- runs ---- */

enum { RUN_FIRST, RUN_GOES_ON }; /* weight of block.by_address */

static void run_insert(struct block *first, uint64_t size)
{
    tree_insert(&first->list->runs, &first->in_runs, size, first->address);
}

/* Take the run out; returns its size. */
static uint64_t run_remove(struct block *first)
{
    tree_remove(&first->list->runs, &first->in_runs);
    return first->in_runs.major;
}

/* The first block of the run that a CACHED block belongs to. */
static struct block *run_first(struct block *block)
{
    return block->by_address.weight == RUN_FIRST
               ? block
               : TREE_ENTRY(tree_previous_below(&block->by_address, RUN_GOES_ON), struct block,
                            by_address);
}

/* A block becomes CACHED: it goes on the run before it, and the run behind goes on it. */
static void run_join(struct block *block, struct block *previous, struct block *next)
{
    struct block *first = block;
    uint64_t size = block->size;
    if (block_is_cached_in(previous, block->list)) {
        first = run_first(previous);
        size += run_remove(first);
        tree_reweigh(&block->by_address, RUN_GOES_ON);
    }
    if (block_is_cached_in(next, block->list)) {
        size += run_remove(next);
        tree_reweigh(&next->by_address, RUN_GOES_ON);
    }
    run_insert(first, size);
}

/* A block is CACHED no longer: what was before it and what comes behind are two runs. */
static void run_leave(struct block *block)
{
    struct block *first = run_first(block);
    uint64_t end = first->address;
    end += run_remove(first);
    if (first != block)
        run_insert(first, block->address - first->address);
    tree_reweigh(&block->by_address, RUN_FIRST);
    if (block->address + block->size == end)
        return;
    struct block *next = block_next(block);
    tree_reweigh(&next->by_address, RUN_FIRST);
    run_insert(next, end - next->address);
}

/* The block behind one of its run takes its place in it. */
static void run_replace(struct block *old, struct block *block)
{
    block->by_address.weight = old->by_address.weight;
    if (old->by_address.weight == RUN_FIRST)
        tree_insert(&block->list->runs, &block->in_runs, run_remove(old), old->in_runs.minor);
}

/* ---- lists of a state ---- */

/* Enter the block in the lists of its state. */
static void enter(struct block *block)
{
    struct pool *pool = block->pool;
    if (block->state == SOMA_BLOCK_STATE_FREE) {
        tree_insert(&pool->free_blocks, &block->by_size, block->size, block->address);
        pool->free_bytes += block->size;
    } else if (block->state == SOMA_BLOCK_STATE_CACHED) {
        tree_insert(&pool->cached_blocks, &block->by_size, block->size, block->address);
        block->in_list.weight = block->position;
        tree_insert(&block->list->blocks, &block->in_list, block->size, block->address);
        pool->cached_bytes += block->size;
        block->list->bytes += block->size;
        block->list->stream->cached_blocks++;
    }
}

/* Take it out of them; a list that its dead stream no longer needs stays until forget_list. */
static void leave(struct block *block)
{
    struct pool *pool = block->pool;
    if (block->state == SOMA_BLOCK_STATE_FREE) {
        tree_remove(&pool->free_blocks, &block->by_size);
        pool->free_bytes -= block->size;
    } else if (block->state == SOMA_BLOCK_STATE_CACHED) {
        tree_remove(&pool->cached_blocks, &block->by_size);
        tree_remove(&block->list->blocks, &block->in_list);
        pool->cached_bytes -= block->size;
        block->list->bytes -= block->size;
        block->list->stream->cached_blocks--;
    }
}

/* A CACHED block is about to become something else: drop what only CACHED blocks have. */
static void forget_free(struct engine *engine, struct block *block)
{
    struct cached_list *list = block->list;
    vclock_unref(engine, block->clock);
    point_unref(engine, block->point);
    block->clock = NULL;
    block->point = NULL;
    block->list = NULL;
    late_put_spare(engine, block->late);
    block->late = NULL;
    if (list != NULL && list->bytes == 0 && !list->stream->is_alive) {
        struct stream *stream = list->stream;
        cached_list_free(engine, block->pool, list);
        stream_forget(engine, stream);
    }
}

/* ---- blocks ---- */

void blocks_init(struct engine *engine, struct pool *pool)
{
    struct block *block = block_take_spare(engine);
    block->pool = pool;
    block->address = pool->base;
    block->size = pool->max_size;
    block->state = SOMA_BLOCK_STATE_FREE;
    tree_insert(&pool->blocks, &block->by_address, block->address, 0);
    enter(block);
}

void blocks_clear(struct engine *engine, struct pool *pool)
{
    struct tree_node *node;
    while ((node = tree_first(&pool->blocks)) != NULL) {
        struct block *block = TREE_ENTRY(node, struct block, by_address);
        leave(block);
        tree_remove(&pool->blocks, node);
        forget_free(engine, block);
        engine_free(engine, block);
    }
    while ((node = tree_first(&pool->cached_lists)) != NULL)
        cached_list_free(engine, pool, TREE_ENTRY(node, struct cached_list, by_stream));
    while ((node = tree_first(&pool->lates)) != NULL) {
        struct late *late = TREE_ENTRY(node, struct late, by_address);
        tree_remove(&pool->lates, node);
        late_put_spare(engine, late);
    }
}

struct block *block_at(const struct pool *pool, uint64_t address)
{
    return TREE_ENTRY(tree_floor(&pool->blocks, address, 0), struct block, by_address);
}

struct block *block_next(const struct block *block)
{
    return TREE_ENTRY(tree_next(&block->by_address), struct block, by_address);
}

struct block *block_previous(const struct block *block)
{
    return TREE_ENTRY(tree_previous_below(&block->by_address, RUN_GOES_ON + 1), struct block,
                      by_address);
}

bool block_is_cached_in(const struct block *block, const struct cached_list *list)
{
    return block != NULL && block->state == SOMA_BLOCK_STATE_CACHED && block->list == list;
}

struct block *block_split_low(struct engine *engine, struct block *block, uint64_t size)
{
    if (block->size == size)
        return block;
    struct pool *pool = block->pool;
    struct block *low = block_take_spare(engine);
    leave(block);
    tree_remove(&pool->blocks, &block->by_address);
    *low = *block;
    low->size = size;
    block->address += size;
    block->size -= size;
    if (block->state == SOMA_BLOCK_STATE_CACHED) {
        run_replace(block, low);
        block->by_address.weight = RUN_GOES_ON;
        (void)vclock_ref(low->clock);
        (void)point_ref(low->point);
        if (block->late != NULL)
            low->late = late_take_spare(engine);
    }
    tree_insert(&pool->blocks, &low->by_address, low->address, 0);
    tree_insert(&pool->blocks, &block->by_address, block->address, 0);
    enter(low);
    enter(block);
    return low;
}

void block_set_busy(struct engine *engine, struct block *block)
{
    if (block->state == SOMA_BLOCK_STATE_CACHED)
        run_leave(block);
    leave(block);
    block->state = SOMA_BLOCK_STATE_BUSY;
    forget_free(engine, block);
}

/* The neighbour is swallowed: its range becomes the block's, its struct a spare. */
static void swallow(struct engine *engine, struct block *block, struct block *neighbour)
{
    struct pool *pool = block->pool;
    leave(neighbour);
    tree_remove(&pool->blocks, &neighbour->by_address);
    if (neighbour->address < block->address) {
        tree_remove(&pool->blocks, &block->by_address);
        if (block->state == SOMA_BLOCK_STATE_CACHED)
            run_replace(neighbour, block);
        block->address = neighbour->address;
        tree_insert(&pool->blocks, &block->by_address, block->address, 0);
    }
    block->size += neighbour->size;
    neighbour->list = NULL; /* the list stays in use: block is about to enter it */
    forget_free(engine, neighbour);
    block_put_spare(engine, neighbour);
}

struct block *run_take_low(struct engine *engine, struct block *first, uint64_t size)
{
    struct block *taken = NULL;
    struct block *block = first;
    for (uint64_t rest = size; rest > 0;) {
        struct block *next = block_next(block);
        block = block_split_low(engine, block, block->size < rest ? block->size : rest);
        block_set_busy(engine, block);
        rest -= block->size;
        if (taken == NULL) {
            taken = block;
        } else {
            tree_remove(&block->pool->blocks, &block->by_address);
            taken->size += block->size;
            block_put_spare(engine, block);
        }
        block = next;
    }
    return taken;
}

static bool is_same_free(const struct block *a, const struct block *b)
{
    return a != NULL && a->state == b->state &&
           (a->state == SOMA_BLOCK_STATE_FREE ||
            (a->state == SOMA_BLOCK_STATE_CACHED && a->list == b->list &&
             a->position == b->position));
}

/* Enter a block, one with the neighbours that it belongs to. */
static void enter_merged(struct engine *engine, struct block *block)
{
    struct block *previous = block_previous(block);
    struct block *next = block_next(block);
    if (block->state == SOMA_BLOCK_STATE_CACHED)
        run_join(block, previous, next);
    if (is_same_free(previous, block))
        swallow(engine, block, previous);
    if (is_same_free(next, block))
        swallow(engine, block, next);
    enter(block);
}

void block_set_cached(struct engine *engine, struct block *block, const struct freed *freed)
{
    block->state = SOMA_BLOCK_STATE_CACHED;
    block->list = freed->list;
    block->position = freed->position;
    block->freed_ns = freed->freed_ns;
    block->point = freed->point;
    block->late = freed->late;
    block->clock = vclock_ref(freed->list->stream->clock);
    enter_merged(engine, block);
}

void block_set_free(struct engine *engine, struct block *block, uint64_t now_ns)
{
    struct late *late = NULL;
    if (block->state == SOMA_BLOCK_STATE_CACHED &&
        !point_is_over(block->point, block->freed_ns, now_ns)) {
        late = block->late;
        block->late = NULL;
        late->size = block->size;
        late->time_ns = block->freed_ns;
        late->point = point_ref(block->point);
        tree_insert(&block->pool->lates, &late->by_address, block->address, 0);
    }
    if (block->state == SOMA_BLOCK_STATE_CACHED)
        run_leave(block);
    leave(block);
    forget_free(engine, block);
    block->state = SOMA_BLOCK_STATE_FREE;
    enter_merged(engine, block);
}
