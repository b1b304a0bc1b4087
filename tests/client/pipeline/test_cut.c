/* Connections that are cut at every byte of a batch and of its answer: each command runs once. */
#include "pipeline_tests.h"

#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BYTES = 300000 };

/* What a round does between two confirmed states. */
typedef void round_fn(struct scene *scene, unsigned round);

static void allocate(struct scene *scene, unsigned round)
{
    void *first = scene_malloc(scene, 64 + round % 5 * 4096);
    void *second = scene_malloc(scene, 1000);
    scene_free(scene, first);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    scene_free(scene, second);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
}

static void copy(struct scene *scene, size_t bytes, unsigned round)
{
    char *out = malloc(bytes), *back = calloc(1, bytes);
    CU_ASSERT_FATAL(out != NULL && back != NULL);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)(i * 31 + round);
    void *ptr = scene_malloc(scene, bytes);
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyAsync(ptr, bytes, out, bytes, ACL_MEMCPY_HOST_TO_DEVICE, scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(back, bytes, ptr, bytes, ACL_MEMCPY_DEVICE_TO_HOST,
                                              scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    (void)EXPECT(memcmp(out, back, bytes) == 0, "round %u: other bytes came back", round);
    scene_free(scene, ptr);
    free(out);
    free(back);
}

static void copy_small(struct scene *scene, unsigned round)
{
    copy(scene, 61, round);
}

static void copy_large(struct scene *scene, unsigned round)
{
    copy(scene, LARGE_BYTES, round);
}

/* A kernel adds one to a counter, so running it twice is seen. */
static void launch(struct scene *scene, unsigned round)
{
    static void *counter, *one; /* of this round's session */
    int32_t value = 1, told = -1;
    if (round == 0) {
        counter = scene_malloc(scene, 4);
        one = scene_malloc(scene, 4);
        (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(counter, 4, 0, 4, scene->stream));
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(one, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE, scene->stream));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    }
    const struct soma_kernel_arg args[] = {{SOMA_ARG_PTR, (uintptr_t)counter, {NULL, 0}},
                                           {SOMA_ARG_PTR, (uintptr_t)one, {NULL, 0}},
                                           {SOMA_ARG_PTR, (uintptr_t)counter, {NULL, 0}},
                                           {SOMA_ARG_U32, 1, {NULL, 0}},
                                           {SOMA_ARG_U32, 3, {NULL, 0}}};
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_STREAM_LAUNCH_KERNEL);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_stream, 1);
    command.kernel = (struct soma_text){"add_custom", 10};
    command.args = (struct soma_kernel_args){args, 5};
    command.present |= SOMA_HAS(kernel) | SOMA_HAS(args);
    (void)GIVES(ACL_SUCCESS, client_queue(&command));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyAsync(&told, 4, counter, 4, ACL_MEMCPY_DEVICE_TO_HOST, scene->stream));
    (void)EXPECT(told == (int32_t)round + 1, "the kernel ran %d times, not %u", told, round + 1);
}

/* Launches that do not wait, one of which fails: each runs once, and the failure is told once. */
static void launch_and_fail(struct scene *scene, unsigned round)
{
    enum { FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };
    static void *counter, *one; /* of this round's session */
    static aclrtFuncHandle add;
    int32_t value = 1, told = -1;
    if (round == 0) {
        aclrtBinHandle library = NULL;
        counter = scene_malloc(scene, 4);
        one = scene_malloc(scene, 4);
        (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("add_custom.o", NULL, &library));
        (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &add));
        (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(counter, 4, 0, 4, scene->stream));
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(one, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE, scene->stream));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    }
    struct {
        void *x, *y, *z;
        uint32_t count, type;
    } good = {counter, one, counter, 1, ACL_INT32},
      bad = {(void *)(uintptr_t)0x4242, one, counter, 1, ACL_INT32};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 1, &good, sizeof(good), scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 1, &bad, sizeof(bad), scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 1, &good, sizeof(good), scene->stream));
    (void)GIVES(FAULT, aclrtSynchronizeStream(scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&told, 4, counter, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(told == 2 * ((int32_t)round + 1), "kernels ran %d times, not %u", told,
                 2 * (round + 1));
}

/* Rounds until one passes more bytes than the cut allows, each cut one step later. */
static void cut_rounds(round_fn *run, enum proxy_side side, long step)
{
    struct scene scene;
    uint64_t mallocs, frees;
    unsigned round = 0, cuts = 0;
    scene_begin(&scene, true, "10000");
    run(&scene, round++);
    for (long at = 0; CU_get_number_of_failure_records() == 0; at += step) {
        int64_t start_ms = clock_ms();
        proxy_cut(scene.proxy, side, at, 1);
        run(&scene, round++);
        (void)EXPECT(clock_ms() - start_ms < 5000, "cut at %ld: %d ms", at,
                     (int)(clock_ms() - start_ms));
        unsigned done = proxy_cuts(scene.proxy);
        cuts += done;
        if (done == 0)
            break;
    }
    (void)EXPECT(cuts > 50, "only %u cuts", cuts);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    scene_look(&scene, &mallocs, &frees);
    (void)EXPECT(mallocs == scene.mallocs && frees == scene.frees,
                 "the server ran %d mallocs of %d and %d frees of %d", (int)mallocs,
                 (int)scene.mallocs, (int)frees, (int)scene.frees);
    scene_end(&scene);
}

static void test_requests(void)
{
    cut_rounds(allocate, PROXY_REQUEST, 1);
}

static void test_answers(void)
{
    cut_rounds(allocate, PROXY_ANSWER, 1);
}

static void test_copies(void)
{
    cut_rounds(copy_small, PROXY_REQUEST, 3);
    cut_rounds(copy_small, PROXY_ANSWER, 1);
}

static void test_large_copies(void)
{
    cut_rounds(copy_large, PROXY_REQUEST, 4001);
    cut_rounds(copy_large, PROXY_ANSWER, 4001);
}

static void test_launches(void)
{
    cut_rounds(launch, PROXY_REQUEST, 3);
    cut_rounds(launch, PROXY_ANSWER, 1);
    cut_rounds(launch_and_fail, PROXY_REQUEST, 7);
    cut_rounds(launch_and_fail, PROXY_ANSWER, 5);
}

/* Each of the next three sendings is cut, the fourth one comes through. */
static void test_cut_again_and_again(void)
{
    static const struct {
        enum proxy_side side;
        long at;
    } rows[] = {{PROXY_REQUEST, 0}, {PROXY_REQUEST, 150}, {PROXY_ANSWER, 0}, {PROXY_ANSWER, 90}};
    struct scene scene;
    uint64_t mallocs, frees;
    scene_begin(&scene, true, "10000");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        proxy_cut(scene.proxy, rows[i].side, rows[i].at, 3);
        allocate(&scene, (unsigned)i);
        unsigned done = proxy_cuts(scene.proxy);
        (void)EXPECT(done == 3, "row %zu: %u cuts", i, done);
    }
    scene_look(&scene, &mallocs, &frees);
    (void)EXPECT(mallocs == scene.mallocs && frees == scene.frees,
                 "the server ran %d mallocs of %d and %d frees of %d", (int)mallocs,
                 (int)scene.mallocs, (int)frees, (int)scene.frees);
    scene_end(&scene);
}

/* A connection that breaks each time it is used ends the calls with 507901, soon; and for good,
 * because the pipeline cannot know any more what has run. */
static void test_always_cut(void)
{
    struct scene scene;
    scene_begin(&scene, true, "1000");
    (void)scene_malloc(&scene, 64);
    proxy_cut(scene.proxy, PROXY_REQUEST, 100, 1000);
    int64_t start_ms = clock_ms();
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtSynchronizeStream(scene.stream));
    (void)EXPECT(clock_ms() - start_ms < 3000, "%d ms", (int)(clock_ms() - start_ms));
    (void)proxy_cuts(scene.proxy);
    void *ptr = NULL;
    const char *pipeline = getenv("SOMA_PIPELINE");
    bool is_off = pipeline != NULL && strcmp(pipeline, "0") == 0;
    (void)GIVES(is_off ? ACL_SUCCESS : ACL_ERROR_RT_SOCKET_CLOSE,
                aclrtMemPoolMallocAsync(&ptr, 64, scene.pool, scene.stream));
    (void)(is_off || text_has("SOMA_SERVER"));
    scene_end(&scene);
}

const struct pipeline_test cut_tests[] = {
    {"requests are cut at every byte", test_requests},
    {"answers are cut at every byte", test_answers},
    {"copies are cut", test_copies},
    {"large copies are cut", test_large_copies},
    {"launches are cut", test_launches},
    {"sendings are cut three times", test_cut_again_and_again},
    {"a connection is always cut", test_always_cut},
    {NULL, NULL},
};
