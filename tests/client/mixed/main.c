/* Many threads at once through the library: allocations from pools that they share and from pools
 * of their own, copies, events, hand-overs. No two live blocks overlap, each holds what its owner
 * wrote last, and at the end the books are even.
 *
 *   mixed [THREADS [CALLS [SEED]]]   CALLS of ACL by each thread, at least */
#include "registry.h"
#include "worker.h"

#include "sanitizers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_DEFAULT = 16, CALLS_DEFAULT = 10000, CALLS_SANITIZED = 1000 };

static bool check(aclError error, const char *what)
{
    if (error == ACL_SUCCESS)
        return true;
    const char *text = aclGetRecentErrMsg();
    (void)fprintf(stderr, "%s: %d: %s\n", what, error, text != NULL ? text : "(no text)");
    return false;
}

static bool create_shared(struct shared *shared)
{
    bool good = check(aclrtGetCurrentContext(&shared->context), "context");
    for (int i = 0; i < SHARED_POOLS && good; i++)
        good = mixed_create_pool(&shared->pools[i], i);
    return good;
}

static uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr name)
{
    uint64_t value = UINT64_MAX;
    (void)check(aclrtMemPoolGetAttr(pool, name, &value), "attribute");
    return value;
}

/* Nothing is allocated in the pool any more; what it holds can be given back. */
static bool is_even(aclrtMemPool pool)
{
    uint64_t used = attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT);
    uint64_t reserved = attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT);
    uint64_t used_high = attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH);
    uint64_t reserved_high = attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH);
    bool good = used == 0 && used_high > 0 && used_high <= reserved_high &&
                reserved <= reserved_high && reserved_high <= POOL_BYTES;
    good = good && check(aclrtMemPoolTrimTo(pool, 0), "trim") &&
           attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0;
    if (!good)
        (void)fprintf(stderr,
                      "a pool at the end: used %" PRIu64 " (at most %" PRIu64 "), reserved %" PRIu64
                      " (at most %" PRIu64 ")\n",
                      used, used_high, reserved, reserved_high);
    return good;
}

static bool end_pool(aclrtMemPool pool)
{
    return is_even(pool) && check(aclrtMemPoolDestroy(pool), "destroy");
}

static bool end_pools(const struct shared *shared, const struct worker *workers, long threads)
{
    bool good = check(aclrtSynchronizeDevice(), "synchronise");
    for (int i = 0; i < SHARED_POOLS; i++)
        good = end_pool(shared->pools[i]) && good;
    for (long i = 0; i < threads; i++)
        good = end_pool(workers[i].pool) && good;
    return good;
}

static bool run(struct worker *workers, long threads, struct shared *shared)
{
    bool good = true;
    long started = 0;
    while (started < threads &&
           pthread_create(&workers[started].thread, NULL, mixed_worker_run, &workers[started]) == 0)
        started++;
    for (long i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        good = good && !workers[i].has_failed;
        shared->calls += workers[i].calls;
    }
    return good && started == threads;
}

static bool run_all(long threads, long calls, uint64_t seed)
{
    static struct shared shared;
    size_t free_before = 0, free_after = 0, total = 0;
    struct worker *workers = calloc((size_t)threads, sizeof(*workers));
    bool good = workers != NULL && check(aclInit(NULL), "aclInit") &&
                check(aclrtSetDevice(0), "aclrtSetDevice") &&
                check(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), "memory") &&
                create_shared(&shared);
    for (long i = 0; i < threads && good; i++)
        workers[i] = (struct worker){.shared = &shared,
                                     .number = (uint32_t)i + 1,
                                     .wanted = calls,
                                     .random = {seed + (uint64_t)i}};
    good = good && run(workers, threads, &shared);
    good = good && mixed_empty_mailbox(&shared) && end_pools(&shared, workers, threads);
    good = good && registry_is_empty() &&
           check(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), "memory");
    if (good && free_after != free_before)
        good = fprintf(stderr, "device memory: %zu free, then %zu\n", free_before, free_after) < 0;
    good = good && check(aclFinalize(), "aclFinalize");
    free(workers);
    (void)printf("%ld threads, %ld calls, %ld blocks handed over, %ld times full: %s\n", threads,
                 shared.calls, atomic_load(&shared.handed_over), atomic_load(&shared.times_full),
                 good ? "good" : "FAILED");
    return good && atomic_load(&shared.handed_over) > 0;
}

int main(int argc, char **argv)
{
    bool is_slow = HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER;
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : THREADS_DEFAULT;
    long calls = argc > 2 ? strtol(argv[2], NULL, 10) : is_slow ? CALLS_SANITIZED : CALLS_DEFAULT;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (threads < 1 || threads > 256 || calls < 1) {
        (void)fprintf(stderr, "usage: %s [THREADS [CALLS [SEED]]]\n", argv[0]);
        return 2;
    }
    return run_all(threads, calls, seed) ? 0 : 1;
}
