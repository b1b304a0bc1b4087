/* engine_check: everything that must be true of a session, whatever commands it has run. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/* The first thing found wrong, as a sentence in why; false when nothing is. */
struct finding {
    char *why;
    size_t size;
};

static bool fault(const struct finding *finding, const char *rule, const char *noun, uint64_t id)
{
    (void)snprintf(finding->why, finding->size, "%s %" PRIu64 ": %s", noun, id, rule);
    return false;
}

/* ---- pools ---- */

/* Sums over a pool's blocks, to be compared with what the pool says. */
struct block_sums {
    uint64_t free_bytes, cached_bytes, busy, requested_bytes, listed, runs;
};

/* A CACHED block begins a run when it does not go on one; the run has the bytes of its blocks. */
static bool check_run(const struct block *block, struct block_sums *sums)
{
    bool goes_on = block_is_cached_in(block->previous, block->idle->list);
    if (block->goes_on != goes_on)
        return false;
    if (goes_on)
        return true;
    uint64_t bytes = 0;
    for (const struct block *at = block; block_is_cached_in(at, block->idle->list); at = at->next)
        bytes += at->size;
    sums->runs++;
    return tree_find(&block->idle->list->runs, bytes, block->address) == &block->idle->in_runs;
}

/* A block is found where it starts and by its end, and a mark there says that it goes on no run. */
static bool check_place(const struct pool *pool, const struct block *block)
{
    uint64_t number = block_number(block), granules = block->size / SOMA_GRANULE_BYTES;
    return (block->next == NULL || block->next->previous == block) &&
           (!block->goes_on || block->state == SOMA_BLOCK_STATE_CACHED) &&
           (block->state == SOMA_BLOCK_STATE_BUSY || block->idle->block == block) &&
           radix_find(&pool->blocks, number) == block &&
           radix_floor(&pool->blocks, number + granules - 1) == block &&
           (radix_floor_marked(&pool->blocks, number) == block) == !block->goes_on;
}

static bool check_block(const struct pool *pool, const struct block *block, struct block_sums *sums,
                        const struct finding *finding)
{
    const struct block *next = block->next;
    uint64_t end = next != NULL ? next->address : pool->base + pool->max_size;
    if (block->pool != pool || block->size == 0 || block->size % SOMA_GRANULE_BYTES != 0 ||
        block->address + block->size != end)
        return fault(finding, "its blocks do not cover it exactly", "pool", pool->id);
    if (!check_place(pool, block))
        return fault(finding, "a block is not where its address says", "pool", pool->id);
    switch (block->state) {
    case SOMA_BLOCK_STATE_FREE:
        sums->free_bytes += block->size;
        if (next != NULL && next->state == SOMA_BLOCK_STATE_FREE)
            return fault(finding, "two neighbouring FREE blocks", "pool", pool->id);
        return true;
    case SOMA_BLOCK_STATE_CACHED:
        sums->cached_bytes += block->size;
        sums->listed++;
        if (next != NULL && next->state == block->state && next->idle->list == block->idle->list &&
            next->idle->position == block->idle->position)
            return fault(finding, "two neighbouring CACHED blocks of one free", "pool", pool->id);
        if (tree_find(&block->idle->list->blocks, block->size, block->address) !=
                &block->idle->by_size ||
            block->idle->by_size.weight != block->idle->position)
            return fault(finding, "a CACHED block is not in its list", "pool", pool->id);
        if (!check_run(block, sums))
            return fault(finding, "a CACHED block is not in its run", "pool", pool->id);
        return true;
    case SOMA_BLOCK_STATE_BUSY:
    default:
        sums->busy++;
        sums->requested_bytes += block->requested_size;
        if (block->requested_size == 0 || block->requested_size > block->size)
            return fault(finding, "a block is smaller than was asked for", "pool", pool->id);
        return true;
    }
}

static bool check_numbers(const struct pool *pool, const struct block_sums *sums,
                          const struct finding *finding)
{
    const uint64_t *values = pool->attributes;
    uint64_t served = 0;
    for (size_t i = 0; i < sizeof(pool->reuse) / sizeof(pool->reuse[0]); i++)
        served += pool->reuse[i];
    if (sums->free_bytes != pool->free_bytes || sums->cached_bytes != pool->cached_bytes ||
        sums->busy != pool->live_allocations || sums->requested_bytes != pool->requested_bytes)
        return fault(finding, "its sums are not those of its blocks", "pool", pool->id);
    if (pool_used(pool) > values[SOMA_POOL_ATTRIBUTE_USED_MEM_HIGH] ||
        pool_reserved(pool) > values[SOMA_POOL_ATTRIBUTE_RESERVED_MEM_HIGH])
        return fault(finding, "a high-water mark is below its current value", "pool", pool->id);
    if (values[SOMA_POOL_ATTRIBUTE_RELEASE_THRESHOLD] > pool->max_size)
        return fault(finding, "its threshold is above maxSize", "pool", pool->id);
    if (served != pool->mallocs || pool->mallocs - pool->frees != pool->live_allocations ||
        pool->mapped_total - pool->unmapped_total != pool_reserved(pool))
        return fault(finding, "its totals do not add up", "pool", pool->id);
    return true;
}

static bool check_lists(const struct pool *pool, const struct block_sums *sums,
                        const struct finding *finding)
{
    uint64_t listed = sums->listed, runs = sums->runs;
    for (struct tree_node *node = tree_first(&pool->cached_lists); node != NULL;
         node = tree_next(node)) {
        const struct cached_list *list = TREE_ENTRY(node, struct cached_list, by_stream);
        uint64_t bytes = 0;
        if (!tree_check(&list->blocks) || !tree_check(&list->runs) ||
            list->stream->key != node->major)
            return fault(finding, "a list of cached blocks is out of order", "pool", pool->id);
        for (struct tree_node *in = tree_first(&list->blocks); in != NULL; in = tree_next(in)) {
            bytes += in->major;
            listed--;
        }
        for (struct tree_node *in = tree_first(&list->runs); in != NULL; in = tree_next(in))
            runs--;
        if (bytes != list->bytes)
            return fault(finding, "a list's bytes are not those of its blocks", "pool", pool->id);
    }
    if (listed != 0)
        return fault(finding, "a CACHED block is in no list", "pool", pool->id);
    return runs == 0 || fault(finding, "a list has a run that is none", "pool", pool->id);
}

static bool check_lates(const struct pool *pool, const struct finding *finding)
{
    for (struct tree_node *node = tree_first(&pool->lates); node != NULL; node = tree_next(node)) {
        const struct late *late = TREE_ENTRY(node, struct late, by_address);
        const struct block *block = block_at(pool, node->major);
        if (block->state != SOMA_BLOCK_STATE_FREE ||
            node->major + late->size > block->address + block->size)
            return fault(finding, "a free that somebody waits for is not FREE", "pool", pool->id);
    }
    return true;
}

static bool check_pool(const struct pool *pool, const struct finding *finding)
{
    struct block_sums sums = {0};
    if (!radix_check(&pool->blocks) || !tree_check(&pool->free_blocks) ||
        !tree_check(&pool->cached_lists) || !tree_check(&pool->lates))
        return fault(finding, "a tree is out of order", "pool", pool->id);
    const struct block *block = block_first(pool);
    if (block == NULL || block->address != pool->base || block->previous != NULL)
        return fault(finding, "its first block is not at its start", "pool", pool->id);
    for (; block != NULL; block = block->next) {
        if (!check_block(pool, block, &sums, finding))
            return false;
    }
    return check_numbers(pool, &sums, finding) && check_lists(pool, &sums, finding) &&
           check_lates(pool, finding);
}

/* ---- streams ---- */

static bool check_stream(const struct engine *engine, const struct stream *stream,
                         const struct finding *finding)
{
    uint64_t cached = 0, end_ns = 0, tasks = 0;
    for (struct tree_node *node = tree_first(&engine->pools); node != NULL;
         node = tree_next(node)) {
        const struct cached_list *list =
            cached_list_of(TREE_ENTRY(node, struct pool, by_id), stream->key);
        struct tree_node *in = list == NULL ? NULL : tree_first(&list->blocks);
        for (; in != NULL; in = tree_next(in))
            cached++;
    }
    if (cached != stream->cached_blocks || (!stream->is_alive && cached == 0))
        return fault(finding, "its cached blocks are miscounted", "stream", stream->id);
    for (size_t i = 0; i < stream->flight_count; i++) {
        const struct flight *flight =
            &stream->flights[(stream->flight_first + i) % stream->flight_capacity];
        if (flight->end_ns <= end_ns || flight->position < stream->done_position)
            return fault(finding, "its tasks are out of order", "stream", stream->id);
        end_ns = flight->end_ns;
    }
    if (stream->flight_count > 0 && end_ns != stream->ready_ns)
        return fault(finding, "its ready time is not its last task's", "stream", stream->id);
    for (const struct task *task = stream->head; task != NULL; task = task->next) {
        tasks += !task->is_gate;
        if ((task->next == NULL) != (task == stream->tail))
            return fault(finding, "its queue has lost its tail", "stream", stream->id);
        if (task->has_arrived != (task == stream->head))
            return fault(finding, "a task has come to the front, or not", "stream", stream->id);
        if (task->has_arrived && task->has_limit && task->deadline_ns < engine->deadline_ns)
            return fault(finding, "a wait may run out unseen", "stream", stream->id);
    }
    if (tasks != stream->unresolved_tasks || stream->done_position > stream->position)
        return fault(finding, "its tasks are miscounted", "stream", stream->id);
    return true;
}

/* ---- devices and addresses ---- */

static bool check_device(const struct engine *engine, const struct device *device,
                         const struct finding *finding)
{
    uint64_t set_aside = 0, on_demand = 0, allocated = 0, physical = 0, pools = 0, streams = 0;
    struct tree_node *node;
    for (node = tree_first(&engine->pools); node != NULL; node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        if (pool->device != device)
            continue;
        pools++;
        set_aside += pool->on_demand ? 0 : pool->max_size;
        on_demand += pool->on_demand ? pool_reserved(pool) : 0;
    }
    for (node = tree_first(&engine->allocations); node != NULL; node = tree_next(node)) {
        const struct allocation *a = TREE_ENTRY(node, struct allocation, by_address);
        allocated += a->device == device ? a->paged_size : 0;
    }
    for (node = tree_first(&engine->physicals); node != NULL; node = tree_next(node)) {
        const struct physical *p = TREE_ENTRY(node, struct physical, by_id);
        physical += p->device == device ? p->size : 0;
    }
    for (node = tree_first(&engine->streams); node != NULL; node = tree_next(node)) {
        const struct stream *stream = TREE_ENTRY(node, struct stream, by_id);
        streams += stream->device == device && stream->is_alive && stream->id != 0;
    }
    if (pools != device->pool_count || streams != device->stream_count)
        return fault(finding, "its objects are miscounted", "device", device->number);
    if (set_aside != device->set_aside_bytes || on_demand != device->on_demand_bytes ||
        allocated != device->allocated_bytes || physical != device->physical_bytes ||
        set_aside + on_demand + allocated + physical > device->total_bytes)
        return fault(finding,
                     "free, set aside, mapped, allocated and physical do not make its total",
                     "device", device->number);
    return true;
}

/* Gaps in order, never touching; together with what is taken they fill the area. */
static bool check_space(const struct engine *engine, const struct space *space, uint64_t address,
                        uint64_t end, const struct finding *finding)
{
    uint64_t bytes = 0, previous_end = 0;
    struct tree_node *node;
    if (!tree_check(&space->by_address) || !tree_check(&space->by_size))
        return fault(finding, "a tree is out of order", "address space", address);
    for (node = tree_first(&space->by_address); node != NULL; node = tree_next(node)) {
        const struct gap *gap = TREE_ENTRY(node, struct gap, by_address);
        if (gap->address <= previous_end || gap->address < address ||
            gap->address + gap->size > end)
            return fault(finding, "gaps touch or lie outside", "address space", address);
        previous_end = gap->address + gap->size;
        bytes += gap->size;
    }
    for (node = tree_first(&engine->pools); node != NULL; node = tree_next(node)) {
        const struct pool *pool = TREE_ENTRY(node, struct pool, by_id);
        bytes += pool->base >= address && pool->base < end ? pool->max_size : 0;
    }
    for (node = tree_first(&engine->allocations); node != NULL; node = tree_next(node)) {
        const struct allocation *a = TREE_ENTRY(node, struct allocation, by_address);
        bytes += a->address >= address && a->address < end ? a->paged_size : 0;
    }
    for (node = tree_first(&engine->reservations); node != NULL; node = tree_next(node)) {
        const struct reservation *r = TREE_ENTRY(node, struct reservation, by_address);
        const struct mapping *managed =
            TREE_ENTRY(r->is_managed ? tree_first(&r->mappings) : NULL, struct mapping, by_address);
        bytes += r->address >= address && r->address < end ? r->size : 0;
        bytes += address == SOMA_PHYSICAL_BASE && managed != NULL ? managed->physical->size : 0;
    }
    for (node = tree_first(&engine->physicals); node != NULL; node = tree_next(node)) {
        const struct physical *p = TREE_ENTRY(node, struct physical, by_id);
        bytes += p->contents >= address && p->contents < end ? p->size : 0;
    }
    return bytes == end - address || fault(finding, "bytes are lost", "address space", address);
}

/* ---- functions of the host ---- */

static bool check_host_funcs(const struct engine *engine, const struct finding *finding)
{
    size_t untaken = 0;
    if (!tree_check(&engine->host_funcs) || !tree_check(&engine->free_host_funcs))
        return fault(finding, "a tree is out of order", "command", engine->command_number);
    for (struct tree_node *node = tree_first(&engine->host_funcs); node != NULL;
         node = tree_next(node)) {
        const struct host_func *func = TREE_ENTRY(node, struct host_func, by_id);
        untaken += !func->is_taken;
        if (!func->is_taken &&
            tree_find(&engine->free_host_funcs, func->group, func->id) != &func->by_group)
            return fault(finding, "nobody can take it", "host function", func->id);
        if (func->release != NULL && func->release->is_resolved)
            return fault(finding, "it is complete and still there", "host function", func->id);
        if (func->is_taken && (func->release == NULL || !func->arrival->is_resolved))
            return fault(finding, "it was taken too early", "host function", func->id);
    }
    for (struct tree_node *node = tree_first(&engine->free_host_funcs); node != NULL;
         node = tree_next(node))
        untaken--;
    return untaken == 0 ||
           fault(finding, "its host functions are miscounted", "command", engine->command_number);
}

/* ---- reserved addresses ---- */

/* Mappings in order, apart, inside, and of one device; sums right. counts: of each physical's. */
static bool check_reservation(const struct engine *engine, const struct reservation *reservation,
                              const struct finding *finding)
{
    uint64_t end = reservation->address, bytes = 0, count = 0;
    const struct device *device = NULL;
    if (!tree_check(&reservation->mappings))
        return fault(finding, "a tree is out of order", "reservation", reservation->address);
    for (struct tree_node *node = tree_first(&reservation->mappings); node != NULL;
         node = tree_next(node)) {
        const struct mapping *mapping = TREE_ENTRY(node, struct mapping, by_address);
        const struct physical *physical = mapping->physical;
        if (mapping->address < end || node->major != mapping->address || physical->mappings == 0 ||
            (count > 0 && physical->device != device))
            return fault(finding, "mappings overlap, or are of several devices", "reservation",
                         reservation->address);
        if (physical->id != 0 && tree_find(&engine->physicals, physical->id, 0) != &physical->by_id)
            return fault(finding, "a mapping's physical memory is gone", "reservation",
                         reservation->address);
        device = physical->device;
        end = mapping->address + physical->size;
        bytes += physical->size;
        count++;
    }
    return (end <= reservation->address + reservation->size &&
            count == reservation->mapping_count && bytes == reservation->mapped_bytes &&
            (!reservation->is_managed || (count == 1 && bytes == reservation->size))) ||
           fault(finding, "its sums are not those of its mappings", "reservation",
                 reservation->address);
}

static bool check_reservations(const struct engine *engine, const struct finding *finding)
{
    uint64_t mapped = 0, counted = 0, managed = 0;
    struct tree_node *node;
    if (!tree_check(&engine->reservations) || !tree_check(&engine->physicals))
        return fault(finding, "a tree is out of order", "command", engine->command_number);
    for (node = tree_first(&engine->reservations); node != NULL; node = tree_next(node)) {
        const struct reservation *r = TREE_ENTRY(node, struct reservation, by_address);
        if (!check_reservation(engine, r, finding))
            return false;
        mapped += r->is_managed ? 0 : r->mapping_count;
        managed += r->is_managed ? r->size : 0;
    }
    for (node = tree_first(&engine->physicals); node != NULL; node = tree_next(node)) {
        const struct physical *p = TREE_ENTRY(node, struct physical, by_id);
        counted += p->mappings;
        if (p->handles == 0 && p->mappings == 0)
            return fault(finding, "nobody holds it", "physical memory", p->id);
    }
    return (mapped == counted && managed == engine->managed_bytes) ||
           fault(finding, "its mappings are miscounted", "command", engine->command_number);
}

/* ---- values that streams wait for ---- */

static bool check_values(const struct engine *engine, const struct finding *finding)
{
    uint64_t waits = 0;
    for (struct tree_node *node = tree_first(&engine->streams); node != NULL;
         node = tree_next(node)) {
        const struct task *task = TREE_ENTRY(node, struct stream, by_id)->head;
        for (; task != NULL; task = task->next)
            waits += task->access.use == VALUE_AWAITED;
    }
    return waits == engine->value_waits ||
           fault(finding, "its waits for values are miscounted", "command", engine->command_number);
}

/* ---- notifies ---- */

static bool check_notifies(const struct engine *engine, const struct finding *finding)
{
    uint64_t counts[SOMA_DEVICES_MAX] = {0};
    if (!tree_check(&engine->notifies))
        return fault(finding, "a tree is out of order", "command", engine->command_number);
    for (struct tree_node *node = tree_first(&engine->notifies); node != NULL;
         node = tree_next(node)) {
        const struct notify *notify = TREE_ENTRY(node, struct notify, by_id);
        counts[notify->device->number]++;
        for (const struct signal *signal = notify->signals; signal != NULL; signal = signal->next) {
            if (signal->point->is_placed == notify->is_awaited)
                return fault(finding, "a record waits, or a wait is recorded", "notify",
                             notify->id);
        }
    }
    for (uint32_t i = 0; i < engine->device_count; i++) {
        if (counts[i] != engine->devices[i].notify_count)
            return fault(finding, "its notifies are miscounted", "device", i);
    }
    return true;
}

static bool check_pipes(const struct engine *engine, const struct finding *finding)
{
    uint64_t count = 0;
    if (!tree_check(&engine->pipes))
        return fault(finding, "a tree is out of order", "command", engine->command_number);
    for (struct tree_node *node = tree_first(&engine->pipes); node != NULL;
         node = tree_next(node)) {
        const char *rule = pipe_check(engine, TREE_ENTRY(node, struct pipe, by_id));
        if (rule != NULL)
            return fault(finding, rule, "pipe", node->major);
        count++;
    }
    return count == engine->pipe_count ||
           fault(finding, "its pipes are miscounted", "command", engine->command_number);
}

bool engine_check(const struct engine *engine, char *why, size_t why_bytes)
{
    struct finding finding = {why, why_bytes};
    struct tree_node *node;
    if (!tree_check(&engine->streams) || !tree_check(&engine->events) ||
        !tree_check(&engine->pools) || !tree_check(&engine->pools_by_base) ||
        !tree_check(&engine->allocations) || !tree_check(&engine->due_frees))
        return fault(&finding, "a tree is out of order", "command", engine->command_number);
    for (node = tree_first(&engine->pools); node != NULL; node = tree_next(node)) {
        if (!check_pool(TREE_ENTRY(node, struct pool, by_id), &finding))
            return false;
    }
    for (node = tree_first(&engine->streams); node != NULL; node = tree_next(node)) {
        if (!check_stream(engine, TREE_ENTRY(node, struct stream, by_id), &finding))
            return false;
    }
    if (!check_reservations(engine, &finding))
        return false;
    for (uint32_t i = 0; i < engine->device_count; i++) {
        if (!check_device(engine, &engine->devices[i], &finding))
            return false;
    }
    return check_values(engine, &finding) && check_host_funcs(engine, &finding) &&
           check_notifies(engine, &finding) && check_pipes(engine, &finding) &&
           check_space(engine, &engine->contents, SOMA_PHYSICAL_BASE, SOMA_PHYSICAL_END,
                       &finding) &&
           check_space(engine, &engine->large, SOMA_ADDRESS_BASE, SOMA_ADDRESS_END, &finding) &&
           check_space(engine, &engine->small, SOMA_ADDRESS_SMALL_BASE, SOMA_ADDRESS_SMALL_END,
                       &finding);
}
