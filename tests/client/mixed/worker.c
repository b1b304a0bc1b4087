/* What a thread does: at random, and always with the order that a device would need. */
#include "worker.h"

#include "registry.h"

#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* Count a call; say what failed. */
#define CALL(worker, call) check((worker), (call), #call)

static bool check(struct worker *worker, aclError error, const char *call)
{
    worker->calls++;
    if (error == ACL_SUCCESS)
        return true;
    const char *text = aclGetRecentErrMsg();
    (void)fprintf(stderr, "thread %u: %s: %d: %s\n", worker->number, call, error,
                  text != NULL ? text : "(no text)");
    return false;
}

static uint64_t below(struct worker *worker, uint64_t limit)
{
    return random_below(&worker->random, limit);
}

bool mixed_create_pool(aclrtMemPool *pool, int number)
{
    static const aclrtMemPoolAttr reuse[] = {ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES,
                                             ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC,
                                             ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES};
    struct worker nobody = {.number = 0};
    aclrtMemPoolProps props;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = POOL_BYTES;
    bool good = CALL(&nobody, aclrtMemPoolCreate(pool, &props));
    for (int i = 0; i < 3 && good; i++) {
        uint32_t is_on = (number & (1 << i)) != 0;
        good = CALL(&nobody, aclrtMemPoolSetAttr(*pool, reuse[i], &is_on));
    }
    uint64_t threshold = (uint64_t)(number % 4) * 32 * MIB;
    return good && CALL(&nobody, aclrtMemPoolSetAttr(*pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD,
                                                     &threshold));
}

/* ---- contents ---- */

static void make_stamp(char *bytes, uint32_t stamp)
{
    for (size_t i = 0; i < STAMP_BYTES; i++)
        bytes[i] = (char)((stamp * 2654435761u + (uint32_t)i * 40503u) >> 13);
}

static bool is_stamp(struct worker *worker, const char *bytes, const struct block *block,
                     const char *where)
{
    char wanted[STAMP_BYTES];
    make_stamp(wanted, block->stamp);
    if (memcmp(wanted, bytes, STAMP_BYTES) == 0)
        return true;
    (void)fprintf(stderr, "thread %u: %s of %p (%zu bytes) is not what was written\n",
                  worker->number, where, (void *)block->ptr, block->size_bytes);
    return false;
}

static char *end_of(const struct block *block)
{
    return block->ptr + block->size_bytes - STAMP_BYTES;
}

/* The start from ordinary memory, the end from the device itself. */
static bool write_block(struct worker *worker, struct block *block, aclrtStream stream)
{
    char bytes[STAMP_BYTES];
    block->stamp = worker->number << 20 | ++worker->stamps;
    make_stamp(bytes, block->stamp);
    return CALL(worker, aclrtMemcpyAsync(block->ptr, block->size_bytes, bytes, STAMP_BYTES,
                                         ACL_MEMCPY_HOST_TO_DEVICE, stream)) &&
           CALL(worker, aclrtMemcpyAsync(end_of(block), STAMP_BYTES, block->ptr, STAMP_BYTES,
                                         ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static bool read_block(struct worker *worker, const struct block *block, aclrtStream stream)
{
    char bytes[STAMP_BYTES];
    if (!CALL(worker, aclrtMemcpyAsync(bytes, STAMP_BYTES, block->ptr, STAMP_BYTES,
                                       ACL_MEMCPY_DEVICE_TO_HOST, stream)) ||
        !is_stamp(worker, bytes, block, "the start"))
        return false;
    if (worker->pinned == NULL)
        return CALL(worker, aclrtMemcpy(bytes, STAMP_BYTES, end_of(block), STAMP_BYTES,
                                        ACL_MEMCPY_DEVICE_TO_HOST)) &&
               is_stamp(worker, bytes, block, "the end");
    return CALL(worker, aclrtMemcpyAsync(worker->pinned, STAMP_BYTES, end_of(block), STAMP_BYTES,
                                         ACL_MEMCPY_DEVICE_TO_HOST, stream)) &&
           CALL(worker, aclrtSynchronizeStream(stream)) &&
           is_stamp(worker, worker->pinned, block, "the end");
}

/* ---- what it does: each returns whether all went well ---- */

/* The second stream goes on behind what the first has been given, or the other way round. */
static bool order_streams(struct worker *worker, aclrtStream first, aclrtStream second)
{
    return CALL(worker, aclrtRecordEvent(worker->event, first)) &&
           CALL(worker, aclrtStreamWaitEvent(second, worker->event));
}

static bool free_block(struct worker *worker, size_t index)
{
    struct block block = worker->blocks[index];
    aclrtStream stream = worker->streams[0];
    if (!read_block(worker, &block, stream) || !registry_remove((uint64_t)(uintptr_t)block.ptr))
        return false;
    worker->blocks[index] = worker->blocks[--worker->count];
    if (below(worker, 3) == 0) {
        if (!order_streams(worker, stream, worker->streams[1]))
            return false;
        stream = worker->streams[1];
    }
    bool good = CALL(worker, aclrtMemPoolFreeAsync(block.ptr, stream));
    if (good && stream == worker->streams[1])
        good = order_streams(worker, stream, worker->streams[0]);
    return good;
}

static bool allocate(struct worker *worker)
{
    static const size_t sizes[] = {2 * STAMP_BYTES, MIB, 2 * MIB, 3 * MIB, 5 * MIB, 9 * MIB};
    if (worker->count == OWN_BLOCKS)
        return free_block(worker, below(worker, OWN_BLOCKS));
    struct block block = {.size_bytes = sizes[below(worker, sizeof(sizes) / sizeof(sizes[0]))] +
                                        below(worker, 4096)};
    void *ptr = NULL;
    bool is_own = below(worker, 3) == 0;
    aclrtMemPool pool = is_own ? worker->pool : worker->shared->pools[below(worker, SHARED_POOLS)];
    aclError error = aclrtMemPoolMallocAsync(&ptr, block.size_bytes, pool, worker->streams[0]);
    if (error == ACL_ERROR_RT_INTERNAL_ERROR) { /* full, which a pool that is shared may be */
        worker->calls++;
        atomic_fetch_add(&worker->shared->times_full, 1);
        (void)aclGetRecentErrMsg();
        return worker->count == 0 || free_block(worker, below(worker, worker->count));
    }
    block.ptr = ptr;
    if (!check(worker, error, "aclrtMemPoolMallocAsync") ||
        !registry_add((uint64_t)(uintptr_t)ptr,
                      (block.size_bytes + 2 * MIB - 1) / (2 * MIB) * 2 * MIB, worker->number))
        return false;
    worker->blocks[worker->count++] = block;
    return write_block(worker, &worker->blocks[worker->count - 1], worker->streams[0]);
}

static bool rewrite_or_read(struct worker *worker)
{
    if (worker->count == 0)
        return true;
    struct block *block = &worker->blocks[below(worker, worker->count)];
    return below(worker, 2) == 0 ? write_block(worker, block, worker->streams[0])
                                 : read_block(worker, block, worker->streams[0]);
}

/* Give a block to whoever takes it, and take one. Both sides' streams are ordered by the host. */
static bool hand_over(struct worker *worker)
{
    struct shared *shared = worker->shared;
    if (!CALL(worker, aclrtSynchronizeStream(worker->streams[0])))
        return false;
    (void)pthread_mutex_lock(&shared->mailbox_lock);
    if (worker->count > 0 && shared->mailbox_count < MAILBOX) {
        shared->mailbox[shared->mailbox_count++] = worker->blocks[--worker->count];
        atomic_fetch_add(&shared->handed_over, 1);
    }
    if (worker->count < OWN_BLOCKS && shared->mailbox_count > 0) {
        size_t index = below(worker, shared->mailbox_count);
        worker->blocks[worker->count++] = shared->mailbox[index];
        shared->mailbox[index] = shared->mailbox[--shared->mailbox_count];
    }
    (void)pthread_mutex_unlock(&shared->mailbox_lock);
    return true;
}

/* Numbers that other threads change meanwhile, but that hold at each moment. */
static bool look(struct worker *worker)
{
    uint64_t used = 0, high = 0;
    aclrtStreamStatus status;
    aclrtMemPool pool = worker->shared->pools[below(worker, SHARED_POOLS)];
    bool good =
        CALL(worker, aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used)) &&
        CALL(worker, aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &high)) &&
        CALL(worker, aclrtStreamQuery(worker->streams[below(worker, 2)], &status));
    if (good && (used > high || high > POOL_BYTES)) {
        (void)fprintf(stderr, "a pool: used %llu, at most %llu\n", (unsigned long long)used,
                      (unsigned long long)high);
        return false;
    }
    return good;
}

static bool give_back(struct worker *worker)
{
    if (below(worker, 2) == 0)
        return CALL(worker, aclrtMemPoolTrimTo(worker->shared->pools[below(worker, SHARED_POOLS)],
                                               below(worker, POOL_BYTES)));
    return CALL(worker, aclrtSynchronizeStream(worker->streams[below(worker, 2)]));
}

/* Memory outside pools, freed at once or in a stream. */
static bool use_plain_memory(struct worker *worker)
{
    struct block block = {.size_bytes = 2 * STAMP_BYTES + below(worker, 4096)};
    void *ptr = NULL;
    if (!CALL(worker, aclrtMalloc(&ptr, block.size_bytes, ACL_MEM_MALLOC_HUGE_FIRST)))
        return false;
    block.ptr = ptr;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    bool good = registry_add(address, block.size_bytes, worker->number) &&
                write_block(worker, &block, worker->streams[0]) &&
                read_block(worker, &block, worker->streams[0]) && registry_remove(address);
    if (!good)
        return false;
    return below(worker, 2) == 0 ? CALL(worker, aclrtFree(ptr))
                                 : CALL(worker, aclrtMemPoolFreeAsync(ptr, worker->streams[0]));
}

/* ---- a thread's life ---- */

static bool begin(struct worker *worker)
{
    void *pinned = NULL;
    bool good = CALL(worker, aclrtSetCurrentContext(worker->shared->context)) &&
                CALL(worker, aclrtCreateStream(&worker->streams[0])) &&
                CALL(worker, aclrtCreateStream(&worker->streams[1])) &&
                CALL(worker, aclrtCreateEvent(&worker->event)) &&
                CALL(worker, aclrtMallocHost(&pinned, STAMP_BYTES)) &&
                mixed_create_pool(&worker->pool, (int)worker->number);
    worker->pinned = pinned;
    return good;
}

static bool act(struct worker *worker)
{
    static const struct {
        unsigned weight;
        bool (*run)(struct worker *worker);
    } acts[] = {{40, allocate}, {25, rewrite_or_read}, {10, hand_over},
                {10, look},     {10, give_back},       {5, use_plain_memory}};
    uint64_t drawn = below(worker, 100);
    size_t i = 0;
    for (; drawn >= acts[i].weight; i++)
        drawn -= acts[i].weight;
    return acts[i].run(worker);
}

static bool end(struct worker *worker)
{
    bool good = true;
    while (good && worker->count > 0)
        good = free_block(worker, worker->count - 1);
    good = good && CALL(worker, aclrtDestroyStream(worker->streams[1])) &&
           CALL(worker, aclrtSynchronizeStream(worker->streams[0])) &&
           CALL(worker, aclrtDestroyStream(worker->streams[0])) &&
           CALL(worker, aclrtDestroyEvent(worker->event)) &&
           CALL(worker, aclrtFreeHost(worker->pinned));
    return good;
}

void *mixed_worker_run(void *user)
{
    struct worker *worker = user;
    bool good = begin(worker);
    while (good && worker->calls < worker->wanted)
        good = act(worker);
    good = good && end(worker);
    worker->has_failed = !good;
    return NULL;
}

bool mixed_empty_mailbox(struct shared *shared)
{
    struct worker nobody = {.number = 0, .shared = shared};
    bool good = true;
    while (good && shared->mailbox_count > 0) {
        const struct block *block = &shared->mailbox[--shared->mailbox_count];
        good = read_block(&nobody, block, NULL) &&
               registry_remove((uint64_t)(uintptr_t)block->ptr) &&
               CALL(&nobody, aclrtFree(block->ptr));
    }
    return good;
}
