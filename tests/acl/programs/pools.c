/* Memory pools: rounds that repeat their addresses, and the same rounds with aclrtMalloc. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, COUNT = 1 << 16, BYTES = COUNT * 4 };

struct round {
    float *a, *b, *sum; /* of the host; sum is page-locked */
    aclrtStream stream;
};

static bool make_round(struct round *round)
{
    void *sum = NULL;
    round->a = malloc(BYTES);
    round->b = malloc(BYTES);
    bool good = HOLDS(round->a != NULL && round->b != NULL) &&
                GAVE(ACL_SUCCESS, aclrtMallocHost(&sum, BYTES)) &&
                GAVE(ACL_SUCCESS, aclrtCreateStream(&round->stream));
    round->sum = sum;
    for (int i = 0; i < COUNT && good; i++) {
        round->a[i] = (float)(i % 1000) * 0.5f;
        round->b[i] = (float)(i % 77) * 0.25f;
    }
    return good;
}

static void end_round(struct round *round)
{
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(round->stream));
    (void)GAVE(ACL_SUCCESS, aclrtFreeHost(round->sum));
    free(round->a);
    free(round->b);
}

static bool is_sum(const struct round *round)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        float want = round->a[i] + round->b[i];
        wrong += round->sum[i] < want || round->sum[i] > want;
    }
    return wrong == 0;
}

/* The inputs are freed before the copy to the host, the result behind it. */
static bool pool_round(struct round *round, aclrtMemPool pool, void *ptr[3])
{
    for (int i = 0; i < 3; i++)
        if (!GAVE(ACL_SUCCESS, aclrtMemPoolMallocAsync(&ptr[i], BYTES, pool, round->stream)))
            return false;
    return GAVE(ACL_SUCCESS, aclrtMemcpyAsync(ptr[0], BYTES, round->a, BYTES,
                                              ACL_MEMCPY_HOST_TO_DEVICE, round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtMemcpyAsync(ptr[1], BYTES, round->b, BYTES,
                                              ACL_MEMCPY_HOST_TO_DEVICE, round->stream)) &&
           GAVE(ACL_SUCCESS, program_add(ptr[0], ptr[1], ptr[2], COUNT, round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr[0], round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr[1], round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtMemcpyAsync(round->sum, BYTES, ptr[2], BYTES,
                                              ACL_MEMCPY_DEVICE_TO_HOST, round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr[2], round->stream)) &&
           GAVE(ACL_SUCCESS, aclrtSynchronizeStream(round->stream));
}

static void test_addresses_repeat(struct round *round)
{
    void *first[3] = {NULL}, *ptr[3] = {NULL};
    uint64_t threshold = (uint64_t)64 << 20, read = 0, reserved = 0;
    aclrtMemPool pool = program_pool((size_t)64 << 20);
    (void)GAVE(ACL_SUCCESS,
               aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    (void)GAVE(ACL_SUCCESS,
               aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &read));
    (void)HOLDS(read == threshold);
    for (int i = 0; i < ROUNDS; i++) {
        memset(round->sum, 0, BYTES);
        if (!pool_round(round, pool, ptr))
            break;
        if (i == 0)
            memcpy(first, ptr, sizeof(first));
        (void)HOLDS(memcmp(first, ptr, sizeof(first)) == 0);
        (void)HOLDS(is_sum(round));
    }
    (void)GAVE(ACL_SUCCESS,
               aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    (void)HOLDS(reserved == (uint64_t)3 * (2 << 20)); /* no round took new memory */
    (void)GAVE(ACL_SUCCESS, aclrtMemPoolDestroy(pool));
}

/* Threshold 0: each synchronisation gives everything back, and results are right all the same. */
static void test_nothing_kept(struct round *round)
{
    void *ptr[3] = {NULL};
    uint64_t reserved = 1;
    aclrtMemPool pool = program_pool((size_t)64 << 20);
    for (int i = 0; i < 3 && pool_round(round, pool, ptr); i++) {
        (void)HOLDS(is_sum(round));
        (void)GAVE(ACL_SUCCESS,
                   aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
        (void)HOLDS(reserved == 0);
    }
    (void)GAVE(ACL_SUCCESS, aclrtMemPoolDestroy(pool));
}

static void test_plain_memory(struct round *round)
{
    void *ptr[3] = {NULL};
    memset(round->sum, 0, BYTES);
    for (int i = 0; i < 3; i++)
        (void)GAVE(ACL_SUCCESS, aclrtMalloc(&ptr[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GAVE(ACL_SUCCESS, aclrtMemcpy(ptr[0], BYTES, round->a, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GAVE(ACL_SUCCESS, aclrtMemcpy(ptr[1], BYTES, round->b, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GAVE(ACL_SUCCESS, program_add(ptr[0], ptr[1], ptr[2], COUNT, round->stream));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(round->stream));
    (void)GAVE(ACL_SUCCESS,
               aclrtMemcpy(round->sum, BYTES, ptr[2], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)HOLDS(is_sum(round));
    for (int i = 0; i < 3; i++)
        (void)GAVE(ACL_SUCCESS, aclrtFree(ptr[i]));
}

int program_pools(void)
{
    struct round round = {NULL, NULL, NULL, NULL};
    program_begin();
    if (make_round(&round)) {
        test_addresses_repeat(&round);
        test_nothing_kept(&round);
        test_plain_memory(&round);
    }
    end_round(&round);
    program_end();
    return program_failures();
}
