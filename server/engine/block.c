/* The blocks of a pool: a cover of its range, each block linked to its neighbours, found by its
 * address in a radix tree and standing in the lists of its state. Neighbouring FREE blocks are
 * always one; neighbouring CACHED blocks are one if and only if the same stream freed them at the
 * same position. Neighbouring CACHED blocks of one stream are a run, which that stream may take
 * from as from one block. Nothing here fails: callers reserve. */
#include "internal.h"

enum { SPARES_KEPT = 64 };

/* ---- spares ---- */

bool blocks_reserve(struct engine *engine, size_t blocks, size_t lates)
{
    while (engine->spare_block_count < blocks) {
        struct block *block = slab_take(&engine->blocks, &engine->mem);
        if (block == NULL)
            return false;
        block->next = engine->spare_blocks;
        engine->spare_blocks = block;
        engine->spare_block_count++;
    }
    while (engine->spare_idle_count < blocks) {
        struct idle *idle = engine_alloc(engine, sizeof(*idle));
        if (idle == NULL)
            return false;
        idle->next_spare = engine->spare_idles;
        engine->spare_idles = idle;
        engine->spare_idle_count++;
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

bool nodes_reserve(struct engine *engine, size_t count)
{
    while (engine->spare_nodes.count < count) {
        struct radix_node *node = slab_take(&engine->nodes, &engine->mem);
        if (node == NULL)
            return false;
        radix_spares_put(&engine->spare_nodes, node);
    }
    return true;
}

static struct block *block_take_spare(struct engine *engine)
{
    struct block *block = engine->spare_blocks;
    engine->spare_blocks = block->next;
    engine->spare_block_count--;
    *block = (struct block){0};
    return block;
}

static void block_put_spare(struct engine *engine, struct block *block)
{
    if (engine->spare_block_count >= SPARES_KEPT) {
        slab_give(&engine->blocks, &engine->mem, block);
        return;
    }
    block->next = engine->spare_blocks;
    engine->spare_blocks = block;
    engine->spare_block_count++;
}

/* The block is BUSY no longer, or new: it gets what such blocks have. */
static void idle_take_spare(struct engine *engine, struct block *block)
{
    struct idle *idle = engine->spare_idles;
    engine->spare_idles = idle->next_spare;
    engine->spare_idle_count--;
    *idle = (struct idle){.block = block};
    block->idle = idle;
}

static void idle_put_spare(struct engine *engine, struct idle *idle)
{
    if (engine->spare_idle_count >= SPARES_KEPT) {
        engine_free(engine, idle);
        return;
    }
    idle->next_spare = engine->spare_idles;
    engine->spare_idles = idle;
    engine->spare_idle_count++;
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
        engine->spare_blocks = block->next;
        slab_give(&engine->blocks, &engine->mem, block);
    }
    while (engine->spare_idles != NULL) {
        struct idle *idle = engine->spare_idles;
        engine->spare_idles = idle->next_spare;
        engine_free(engine, idle);
    }
    while (engine->spare_nodes.first != NULL)
        slab_give(&engine->nodes, &engine->mem, radix_spares_take(&engine->spare_nodes));
    while (engine->spare_lates != NULL) {
        struct late *late = engine->spare_lates;
        engine->spare_lates = late->next_spare;
        engine_free(engine, late);
    }
    engine->spare_block_count = engine->spare_idle_count = engine->spare_late_count = 0;
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

static void set_goes_on(struct block *block, bool goes_on)
{
    block->goes_on = goes_on;
    radix_mark(&block->pool->blocks, block_number(block), !goes_on);
}

static void run_insert(struct block *first, uint64_t size)
{
    tree_insert(&first->idle->list->runs, &first->idle->in_runs, size, first->address);
}

/* Take the run out; returns its size. */
static uint64_t run_remove(struct block *first)
{
    tree_remove(&first->idle->list->runs, &first->idle->in_runs);
    return first->idle->in_runs.major;
}

/* The first block of the run that a CACHED block belongs to. */
static struct block *run_first(struct block *block)
{
    return block->goes_on ? radix_floor_marked(&block->pool->blocks, block_number(block)) : block;
}

/* A block becomes CACHED: it goes on the run before it, and the run behind goes on it. */
static void run_join(struct block *block)
{
    struct block *first = block;
    uint64_t size = block->size;
    if (block_is_cached_in(block->previous, block->idle->list)) {
        first = run_first(block->previous);
        size += run_remove(first);
        set_goes_on(block, true);
    }
    if (block_is_cached_in(block->next, block->idle->list)) {
        size += run_remove(block->next);
        set_goes_on(block->next, true);
    }
    run_insert(first, size);
}

/* A CACHED block and all behind it leave their run: what was before it is a run of its own.
 * Returns where the run ended. */
static uint64_t run_cut(struct block *block)
{
    struct block *first = run_first(block);
    uint64_t end = first->address;
    end += run_remove(first);
    if (first != block) {
        run_insert(first, block->address - first->address);
        set_goes_on(block, false);
    }
    return end;
}

/* The rest of a run that was cut, from this block on. */
static void run_begin(struct block *block, uint64_t end)
{
    if (block->goes_on)
        set_goes_on(block, false);
    run_insert(block, end - block->address);
}

/* A block is CACHED no longer: what was before it and what comes behind are two runs. */
static void run_leave(struct block *block)
{
    uint64_t end = run_cut(block);
    if (block->address + block->size < end)
        run_begin(block->next, end);
}

/* ---- lists of a state ---- */

/* Enter the block in the lists of its state. */
static void enter(struct block *block)
{
    struct pool *pool = block->pool;
    if (block->state == SOMA_BLOCK_STATE_FREE) {
        block->idle->by_size.weight = 0;
        tree_insert(&pool->free_blocks, &block->idle->by_size, block->size, block->address);
        pool->free_bytes += block->size;
    } else if (block->state == SOMA_BLOCK_STATE_CACHED) {
        block->idle->by_size.weight = block->idle->position;
        tree_insert(&block->idle->list->blocks, &block->idle->by_size, block->size, block->address);
        pool->cached_bytes += block->size;
        block->idle->list->bytes += block->size;
        block->idle->list->stream->cached_blocks++;
    }
}

/* Take it out of them; a list that its dead stream no longer needs stays until forget_list. */
static void leave(struct block *block)
{
    struct pool *pool = block->pool;
    if (block->state == SOMA_BLOCK_STATE_FREE) {
        tree_remove(&pool->free_blocks, &block->idle->by_size);
        pool->free_bytes -= block->size;
    } else if (block->state == SOMA_BLOCK_STATE_CACHED) {
        tree_remove(&block->idle->list->blocks, &block->idle->by_size);
        pool->cached_bytes -= block->size;
        block->idle->list->bytes -= block->size;
        block->idle->list->stream->cached_blocks--;
    }
}

/* A CACHED block is about to become something else: drop what only CACHED blocks have. */
static void forget_free(struct engine *engine, struct block *block)
{
    struct idle *idle = block->idle;
    struct cached_list *list = idle->list;
    vclock_unref(engine, idle->clock);
    point_unref(engine, idle->point);
    idle->clock = NULL;
    idle->point = NULL;
    idle->list = NULL;
    late_put_spare(engine, idle->late);
    idle->late = NULL;
    if (list != NULL && list->bytes == 0 && !list->stream->is_alive) {
        struct stream *stream = list->stream;
        cached_list_free(engine, block->pool, list);
        stream_forget(engine, stream);
    }
}

/* ---- addresses ---- */

static uint64_t number_of(const struct pool *pool, uint64_t address)
{
    return (address - pool->base) / SOMA_GRANULE_BYTES;
}

uint64_t block_number(const struct block *block)
{
    return number_of(block->pool, block->address);
}

bool block_reserve_at(struct engine *engine, const struct pool *pool, uint64_t address)
{
    return blocks_reserve(engine, 1, 1) &&
           nodes_reserve(engine, radix_nodes_for(&pool->blocks, number_of(pool, address)));
}

size_t blocks_nodes_max(const struct pool *pool)
{
    return radix_nodes_up_to(&pool->blocks, number_of(pool, pool->base + pool->max_size - 1));
}

struct block *block_at(const struct pool *pool, uint64_t address)
{
    uint64_t number = number_of(pool, address);
    struct block *block = radix_find(&pool->blocks, number);
    return block != NULL ? block : radix_floor(&pool->blocks, number);
}

struct block *block_first(const struct pool *pool)
{
    return radix_find(&pool->blocks, 0);
}

/* No block starts where this one does any more. */
static void address_forget(struct engine *engine, const struct block *block)
{
    struct radix_spares *spares = &engine->spare_nodes;
    size_t kept = spares->count > SPARES_KEPT ? spares->count : SPARES_KEPT;
    radix_remove(&block->pool->blocks, block_number(block), spares);
    while (spares->count > kept)
        slab_give(&engine->nodes, &engine->mem, radix_spares_take(spares));
}

/* Hang the block between its neighbours. */
static void link_neighbours(struct block *block, struct block *previous, struct block *next)
{
    block->previous = previous;
    block->next = next;
    if (previous != NULL)
        previous->next = block;
    if (next != NULL)
        next->previous = block;
}

/* The low bytes of a block, which is in no list, become a block of their own: a copy, but for the
 * address and size. */
static struct block *cut_low(struct engine *engine, struct block *block, uint64_t size)
{
    struct block *low = block_take_spare(engine);
    *low = *block;
    low->size = size;
    link_neighbours(low, block->previous, block);
    radix_replace(&block->pool->blocks, block_number(block), low);
    block->address += size;
    block->size -= size;
    block->goes_on = false;
    radix_insert(&block->pool->blocks, block_number(block), block, &engine->spare_nodes);
    return low;
}

/* The low bytes of the next block, which is in no list, become this one's. */
static void take_from_next(struct engine *engine, struct block *block, uint64_t size)
{
    struct block *next = block->next;
    address_forget(engine, next);
    block->size += size;
    next->address += size;
    next->size -= size;
    next->goes_on = false;
    radix_insert(&block->pool->blocks, block_number(next), next, &engine->spare_nodes);
}

/* ---- blocks ---- */

void blocks_init(struct engine *engine, struct pool *pool)
{
    struct block *block = block_take_spare(engine);
    block->pool = pool;
    block->address = pool->base;
    block->size = pool->max_size;
    block->state = SOMA_BLOCK_STATE_FREE;
    idle_take_spare(engine, block);
    radix_insert(&pool->blocks, 0, block, &engine->spare_nodes);
    enter(block);
}

void blocks_clear(struct engine *engine, struct pool *pool)
{
    struct tree_node *node;
    struct block *next;
    for (struct block *block = block_first(pool); block != NULL; block = next) {
        next = block->next;
        leave(block);
        address_forget(engine, block);
        if (block->state != SOMA_BLOCK_STATE_BUSY) {
            forget_free(engine, block);
            engine_free(engine, block->idle);
        }
        slab_give(&engine->blocks, &engine->mem, block);
    }
    while ((node = tree_first(&pool->cached_lists)) != NULL)
        cached_list_free(engine, pool, TREE_ENTRY(node, struct cached_list, by_stream));
    while ((node = tree_first(&pool->lates)) != NULL) {
        struct late *late = TREE_ENTRY(node, struct late, by_address);
        tree_remove(&pool->lates, node);
        late_put_spare(engine, late);
    }
}

bool block_is_cached_in(const struct block *block, const struct cached_list *list)
{
    return block != NULL && block->state == SOMA_BLOCK_STATE_CACHED && block->idle->list == list;
}

struct block *block_split_low(struct engine *engine, struct block *block, uint64_t size)
{
    if (block->size == size)
        return block;
    leave(block);
    struct block *low = cut_low(engine, block, size);
    idle_take_spare(engine, low);
    if (block->state == SOMA_BLOCK_STATE_CACHED) {
        struct idle *idle = low->idle;
        *idle = *block->idle;
        idle->block = low;
        (void)vclock_ref(idle->clock);
        (void)point_ref(idle->point);
        if (idle->late != NULL)
            idle->late = late_take_spare(engine);
        if (!low->goes_on)
            tree_replace(&idle->list->runs, &block->idle->in_runs, &idle->in_runs);
        set_goes_on(block, true);
    }
    enter(low);
    enter(block);
    return low;
}

/* The neighbour is swallowed: its range becomes the block's, its struct a spare. Its list stays in
 * use. */
static void swallow(struct engine *engine, struct block *block, struct block *neighbour)
{
    leave(neighbour);
    block->size += neighbour->size;
    if (neighbour == block->next) {
        address_forget(engine, neighbour);
        link_neighbours(block, block->previous, neighbour->next);
    } else {
        address_forget(engine, block);
        radix_replace(&block->pool->blocks, block_number(neighbour), block);
        link_neighbours(block, neighbour->previous, block->next);
        block->address = neighbour->address;
        block->goes_on = neighbour->goes_on;
        if (block->state == SOMA_BLOCK_STATE_CACHED && !block->goes_on)
            tree_replace(&block->idle->list->runs, &neighbour->idle->in_runs,
                         &block->idle->in_runs);
    }
    neighbour->idle->list = NULL;
    forget_free(engine, neighbour);
    idle_put_spare(engine, neighbour->idle);
    block_put_spare(engine, neighbour);
}

struct block *block_take_low(struct engine *engine, struct block *block, uint64_t size)
{
    bool is_cached = block->state == SOMA_BLOCK_STATE_CACHED;
    uint64_t run_end = is_cached ? run_cut(block) : 0;
    struct block *rest = NULL; /* what is left of the last block */
    leave(block);
    if (block->size > size) {
        rest = block;
        block = cut_low(engine, rest, size);
    } else {
        while (block->size < size && block->next->size <= size - block->size)
            swallow(engine, block, block->next);
        if (block->size < size) {
            rest = block->next;
            leave(rest);
            take_from_next(engine, block, size - block->size);
        }
        forget_free(engine, block);
        idle_put_spare(engine, block->idle);
    }
    block->state = SOMA_BLOCK_STATE_BUSY;
    if (rest != NULL)
        enter(rest);
    if (is_cached && block->address + size < run_end)
        run_begin(block->next, run_end);
    return block;
}

static bool is_same_free(const struct block *a, const struct block *b)
{
    return a != NULL && a->state == b->state &&
           (a->state == SOMA_BLOCK_STATE_FREE ||
            (a->state == SOMA_BLOCK_STATE_CACHED && a->idle->list == b->idle->list &&
             a->idle->position == b->idle->position));
}

/* Enter a block, one with the neighbours that it belongs to. */
static void enter_merged(struct engine *engine, struct block *block)
{
    if (block->state == SOMA_BLOCK_STATE_CACHED)
        run_join(block);
    if (is_same_free(block->previous, block))
        swallow(engine, block, block->previous);
    if (is_same_free(block->next, block))
        swallow(engine, block, block->next);
    enter(block);
}

void block_set_cached(struct engine *engine, struct block *block, const struct freed *freed)
{
    idle_take_spare(engine, block);
    block->state = SOMA_BLOCK_STATE_CACHED;
    block->idle->list = freed->list;
    block->idle->position = freed->position;
    block->idle->freed_ns = freed->freed_ns;
    block->idle->point = freed->point;
    block->idle->late = freed->late;
    block->idle->clock = vclock_ref(freed->list->stream->clock);
    enter_merged(engine, block);
}

void block_set_free(struct engine *engine, struct block *block, uint64_t now_ns)
{
    struct late *late = NULL;
    if (block->state == SOMA_BLOCK_STATE_CACHED &&
        !point_is_over(block->idle->point, block->idle->freed_ns, now_ns)) {
        late = block->idle->late;
        block->idle->late = NULL;
        late->size = block->size;
        late->time_ns = block->idle->freed_ns;
        late->point = point_ref(block->idle->point);
        tree_insert(&block->pool->lates, &late->by_address, block->address, 0);
    }
    if (block->state == SOMA_BLOCK_STATE_CACHED)
        run_leave(block);
    leave(block);
    if (block->state == SOMA_BLOCK_STATE_BUSY)
        idle_take_spare(engine, block);
    forget_free(engine, block);
    block->state = SOMA_BLOCK_STATE_FREE;
    enter_merged(engine, block);
}

/* ---- the walk over CACHED blocks ---- */

static void walk_to(struct cached_walk *walk, struct cached_list *list, struct tree_node *head)
{
    list->head = head;
    if (head != NULL)
        tree_insert(&walk->heads, &list->by_head, head->major, head->minor);
}

void cached_walk_begin(const struct pool *pool, struct cached_walk *walk)
{
    *walk = (struct cached_walk){0};
    for (struct tree_node *node = tree_first(&pool->cached_lists); node != NULL;
         node = tree_next(node)) {
        struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        walk_to(walk, list, tree_first(&list->blocks));
    }
}

struct block *cached_walk_next(struct cached_walk *walk)
{
    struct tree_node *first = tree_first(&walk->heads);
    if (first == NULL)
        return NULL;
    struct cached_list *list = TREE_ENTRY(first, struct cached_list, by_head);
    struct tree_node *head = list->head;
    tree_remove(&walk->heads, first);
    walk_to(walk, list, tree_next(head));
    return TREE_ENTRY(head, struct idle, by_size)->block;
}
