/* Threads of one client, waits that another thread ends, timeouts, and an idle pipeline. */
#include "pipeline_tests.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 400 };

struct worker {
    struct scene *scene;
    aclrtContext context;
    unsigned seed;
    aclError error;
    uint64_t mallocs, frees;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Random allocations, frees and synchronises on a stream of its own. */
static void *work(void *user)
{
    struct worker *worker = user;
    aclrtStream stream = NULL;
    void *live[16] = {NULL};
    aclError error = aclrtSetCurrentContext(worker->context);
    if (error == ACL_SUCCESS)
        error = aclrtCreateStream(&stream);
    for (unsigned i = 0; i < ROUNDS && error == ACL_SUCCESS; i++) {
        unsigned slot = next_random(&worker->seed) % 16;
        if (live[slot] != NULL) {
            error = aclrtMemPoolFreeAsync(live[slot], stream);
            worker->frees++;
            live[slot] = NULL;
        } else {
            size_t bytes = 1 + next_random(&worker->seed) % 100000;
            error = aclrtMemPoolMallocAsync(&live[slot], bytes, worker->scene->pool, stream);
            worker->mallocs++;
        }
        if (error == ACL_SUCCESS && next_random(&worker->seed) % 16 == 0)
            error = aclrtSynchronizeStream(stream);
    }
    worker->error = error;
    return NULL;
}

static void test_random_commands(void)
{
    struct scene scene;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    aclrtContext context = NULL;
    uint64_t mallocs, frees;
    scene_begin(&scene, true, NULL);
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    proxy_cut(scene.proxy, PROXY_ANSWER, 5000, 3);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&scene, context, i, -1, 0, 0};
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        (void)EXPECT(workers[i].error == ACL_SUCCESS, "thread %u: %d", i, workers[i].error);
        scene.mallocs += workers[i].mallocs;
        scene.frees += workers[i].frees;
    }
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    scene_look(&scene, &mallocs, &frees);
    (void)EXPECT(mallocs == scene.mallocs && frees == scene.frees,
                 "the server ran %d mallocs of %d and %d frees of %d", (int)mallocs,
                 (int)scene.mallocs, (int)frees, (int)scene.frees);
    scene_end(&scene);
}

/* ---- waits ---- */

/* A stream that waits for an event which nobody has recorded again. */
static aclrtStream make_blocked(aclrtStream other, aclrtEvent *event)
{
    aclrtStream stream = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(event));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(*event, other));
    (void)GIVES(ACL_SUCCESS, aclrtResetEvent(*event, other));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(stream, *event));
    return stream;
}

struct waiter {
    aclrtContext context;
    aclrtStream stream;
    aclError error;
    int64_t ended_ms;
};

static void *wait_for_stream(void *user)
{
    struct waiter *waiter = user;
    waiter->error = aclrtSetCurrentContext(waiter->context);
    if (waiter->error == ACL_SUCCESS)
        waiter->error = aclrtSynchronizeStream(waiter->stream);
    waiter->ended_ms = clock_ms();
    return NULL;
}

static void test_wait_ended_by_another_thread(void)
{
    struct scene scene;
    struct waiter waiter = {.error = -1};
    pthread_t thread;
    aclrtEvent event = NULL;
    char byte = 0;
    scene_begin(&scene, false, NULL);
    waiter.stream = make_blocked(scene.stream, &event);
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&waiter.context));
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, wait_for_stream, &waiter) == 0);
    for (int i = 0; i < 50; i++) { /* meanwhile others work, and read */
        void *ptr = scene_malloc(&scene, 64);
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(&byte, 1, ptr, 1, ACL_MEMCPY_DEVICE_TO_HOST, scene.stream));
        scene_free(&scene, ptr);
        pause_ms(2);
    }
    int64_t recorded_ms = clock_ms();
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, scene.stream));
    (void)pthread_join(thread, NULL);
    (void)EXPECT(waiter.error == ACL_SUCCESS && waiter.ended_ms >= recorded_ms &&
                     waiter.ended_ms - recorded_ms < 2000,
                 "%d, %d ms after", waiter.error, (int)(waiter.ended_ms - recorded_ms));
    scene_end(&scene);
}

static void test_timeouts(void)
{
    struct scene scene;
    aclrtEvent event = NULL;
    scene_begin(&scene, false, NULL);
    aclrtStream blocked = make_blocked(scene.stream, &event);
    for (int i = 0; i < 3; i++) {
        int64_t start_ms = clock_ms();
        (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                    aclrtSynchronizeStreamWithTimeout(blocked, 60));
        int64_t ms = clock_ms() - start_ms;
        (void)EXPECT(ms >= 60 && ms < 2000, "%d ms", (int)ms);
        scene_free(&scene, scene_malloc(&scene, 64));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    }
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(blocked, 1000));
    scene_end(&scene);
}

/* ---- an idle pipeline ---- */

static double cpu_ms(void)
{
    return (double)clock() * 1000 / CLOCKS_PER_SEC;
}

/* Neither a sent batch nor a refused command keeps a thread busy. */
static void test_idle(void)
{
    struct scene scene;
    void *ptr = NULL;
    scene_begin(&scene, false, NULL);
    scene_free(&scene, scene_malloc(&scene, 64));
    (void)EXPECT(aclrtMemPoolMallocAsync(&ptr, (size_t)1 << 40, scene.pool, scene.stream) !=
                     ACL_SUCCESS,
                 "1 TiB fits");
    pause_ms(20);
    double before_ms = cpu_ms();
    pause_ms(300);
    (void)EXPECT(cpu_ms() - before_ms < 60, "%g ms of CPU in 300 ms", cpu_ms() - before_ms);
    scene_end(&scene);
}

/* Copies of rows between memory of the host that is pinned and the device do not wait: they share
 * their answers. */
static void test_rows_do_not_wait(void)
{
    enum { COPIES = 100, ANSWER_BYTES_MIN = 100 };
    struct scene scene;
    void *pinned = NULL;
    scene_begin(&scene, true, NULL);
    char *ptr = scene_malloc(&scene, 1024);
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, 1024));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    long before = proxy_passed(scene.proxy, PROXY_ANSWER);
    for (int i = 0; i < COPIES; i++)
        (void)GIVES(ACL_SUCCESS, aclrtMemcpy2dAsync(ptr, 128, pinned, 64, 32, 4,
                                                    ACL_MEMCPY_HOST_TO_DEVICE, scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    long bytes = proxy_passed(scene.proxy, PROXY_ANSWER) - before;
    (void)EXPECT(bytes > 0 && bytes < COPIES / 2 * ANSWER_BYTES_MIN, "%ld bytes of answers", bytes);
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    scene_end(&scene);
}

const struct pipeline_test threads_tests[] = {
    {"random commands of threads over a breaking connection", test_random_commands},
    {"a wait is ended by another thread", test_wait_ended_by_another_thread},
    {"timeouts", test_timeouts},
    {"an idle pipeline", test_idle},
    {"copies of rows do not wait", test_rows_do_not_wait},
    {NULL, NULL},
};
