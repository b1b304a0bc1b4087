/* Many threads on one session. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 40 };

struct worker {
    unsigned number;
    aclrtContext context;
    aclrtMemPool pool;
    aclrtStream shared;
    aclError error;
    unsigned bad_bytes;
};

/* What one program does over and over; the first error ends it. */
static aclError run_round(struct worker *worker, aclrtStream stream, unsigned round)
{
    unsigned char bytes[64], back[64] = {0};
    void *ptr = NULL;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(worker->number * 50 + round + i);
    aclError error = aclrtMemPoolMallocAsync(&ptr, sizeof(bytes), worker->pool, stream);
    if (error == ACL_SUCCESS)
        error = aclrtMemcpyAsync(ptr, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    if (error == ACL_SUCCESS)
        error = aclrtMemcpyAsync(back, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    for (size_t i = 0; i < sizeof(bytes); i++)
        worker->bad_bytes += error == ACL_SUCCESS && back[i] != bytes[i] ? 1 : 0;
    if (error == ACL_SUCCESS)
        error = aclrtMemPoolFreeAsync(ptr, stream);
    if (error == ACL_SUCCESS)
        error = aclrtSynchronizeStream(stream);
    return error;
}

static void *work(void *user)
{
    struct worker *worker = user;
    aclrtStream own = NULL;
    worker->error = aclrtSetCurrentContext(worker->context);
    if (worker->error == ACL_SUCCESS)
        worker->error = aclrtCreateStream(&own);
    for (unsigned round = 0; round < ROUNDS && worker->error == ACL_SUCCESS; round++)
        worker->error = run_round(worker, round % 2 == 0 ? own : worker->shared, round);
    if (worker->error == ACL_SUCCESS)
        worker->error = aclrtDestroyStream(own);
    return NULL;
}

static void test_threads_share_a_session(void)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    aclrtContext context = NULL;
    aclrtStream shared = NULL;
    uint64_t used = 1;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&shared));
    aclrtMemPool pool = make_pool((size_t)256 << 20);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){i, context, pool, shared, ACL_SUCCESS, 0};
        (void)pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        (void)EXPECT(workers[i].error == ACL_SUCCESS && workers[i].bad_bytes == 0,
                     "thread %u: %d, %u bad bytes", i, workers[i].error, workers[i].bad_bytes);
    }
    (void)GIVES(ACL_SUCCESS,
                aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used));
    (void)EXPECT(used == 0, "%u bytes are used", (unsigned)used);
    fixture_end();
}

static void *open_and_count(void *user)
{
    uint32_t count = 0;
    aclError *error = user;
    *error = aclrtGetDeviceCount(&count);
    if (*error == ACL_SUCCESS && count != 8)
        *error = -1;
    return NULL;
}

static void test_first_calls_of_many_threads_open_one_session(void)
{
    pthread_t threads[THREADS];
    aclError errors[THREADS];
    fake_service_start();
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_create(&threads[i], NULL, open_and_count, &errors[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        (void)EXPECT(errors[i] == ACL_SUCCESS, "thread %u: %d", i, errors[i]);
    }
    (void)EXPECT(fake_service_requests() == 2, "%u requests", fake_service_requests());
    fixture_end();
}

static const struct client_test tests[] = {
    {"threads share a session", test_threads_share_a_session},
    {"first calls of many threads open one session",
     test_first_calls_of_many_threads_open_one_session},
    {NULL, NULL},
};
const struct client_suite suite_threads = {"threads", tests};
