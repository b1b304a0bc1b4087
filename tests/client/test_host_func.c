/* Functions of the program in streams. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

#define MS 1000u /* of usleep */

/* ---- what functions do ---- */

static atomic_uint calls;

static void count_call(void *args)
{
    (void)args;
    atomic_fetch_add(&calls, 1);
}

static void expect_calls(unsigned want)
{
    (void)EXPECT(atomic_load(&calls) == want, "%u calls, not %u", atomic_load(&calls), want);
}

/* A function that stays until it may go. */
struct gate {
    atomic_bool is_in, may_go, is_out;
};

static void pass_gate(void *args)
{
    struct gate *gate = args;
    atomic_store(&gate->is_in, true);
    while (!atomic_load(&gate->may_go))
        (void)usleep(MS);
    atomic_store(&gate->is_out, true);
}

static void wait_until(const atomic_bool *flag)
{
    while (!atomic_load(flag))
        (void)usleep(MS);
}

static void *open_gate_soon(void *user)
{
    struct gate *gate = user;
    wait_until(&gate->is_in);
    (void)usleep(20 * MS);
    atomic_store(&gate->may_go, true);
    return NULL;
}

/* ---- aclrtLaunchHostFunc ---- */

static void test_refusals(void)
{
    fixture_begin();
    aclrtStream stream = NULL, gone = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&gone));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(gone));
    (void)GIVES(BAD, aclrtLaunchHostFunc(stream, NULL, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchHostFunc(gone, count_call, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtSubscribeReport(1, gone));
    (void)GIVES(PARAM, aclrtLaunchCallback(count_call, NULL, (aclrtCallbackBlockType)7, stream));
    (void)GIVES(BAD, aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream));
    (void)GIVES(ACL_ERROR_RT_STREAM_NO_CB_REG,
                aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, stream));
    (void)GIVES(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(1, stream));
    (void)GIVES(PARAM, aclrtProcessReport(0));
    (void)GIVES(PARAM, aclrtProcessReport(-2));
    (void)GIVES(BAD, aclrtProcessHostFunc(0));
    (void)GIVES(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(10));
    (void)GIVES(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessHostFunc(10));
    (void)GIVES(PARAM, aclrtSubscribeHostFunc(1, NULL));
    (void)GIVES(PARAM, aclrtUnSubscribeHostFunc(1, NULL));
    fixture_end();
}

static void test_thread_and_stream_names(void)
{
    fixture_begin();
    aclrtStream one = NULL, two = NULL, other = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&one));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&two));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(5, one));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(5, two));
    (void)GIVES(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(6, one));
    (void)GIVES(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(6, one));
    (void)GIVES(ACL_SUCCESS, aclrtUnSubscribeReport(5, one));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(6, one));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(1));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtSubscribeReport(5, other));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(7, other));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(two));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&two));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(8, two));
    atomic_store(&calls, 0);
    aclrtStream mine = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&mine));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(mine, count_call, NULL));
    (void)GIVES(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(8, mine));
    (void)GIVES(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, mine));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(mine));
    expect_calls(1);
    fixture_end();
}

/* As many threads as there are may come and go; 1,024 at a time. */
static void test_many_threads(void)
{
    enum { MOST = 1024 };
    static aclrtStream streams[MOST];
    aclrtStream one = NULL, more = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&one));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&more));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(1, more));
    for (uint64_t thread = 1; thread <= 3 * MOST; thread++) {
        (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(thread, one));
        (void)GIVES(ACL_SUCCESS, aclrtUnSubscribeReport(thread, one));
    }
    for (unsigned i = 1; i < MOST; i++) {
        (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&streams[i]));
        (void)GIVES(ACL_SUCCESS, aclrtSubscribeHostFunc(i, streams[i]));
    }
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSubscribeReport(MOST, one));
    (void)SAYS("aclrtUnSubscribeReport");
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(1, one)); /* it is one of them */
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(one));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(streams[1]));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&one));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(MOST, one));
    fixture_end();
}

/* What a copy brought is there when the function behind it is called, and what it left is taken by
 * the copy behind it. */
struct look {
    uint32_t *pinned;
    uint32_t seen;
};

static void look_and_leave(void *args)
{
    struct look *look = args;
    look->seen = *look->pinned;
    atomic_fetch_add(&calls, 1);
}

static void test_order_with_copies(void)
{
    fixture_begin();
    aclrtStream stream = NULL;
    void *device = NULL, *pinned = NULL;
    struct look looks[8];
    uint32_t values[8];
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&device, sizeof(values), ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, sizeof(values)));
    for (uint32_t i = 0; i < 8; i++)
        values[i] = 100 + i;
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(device, sizeof(values), values, sizeof(values),
                                         ACL_MEMCPY_HOST_TO_DEVICE));
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t *to = (uint32_t *)pinned + i;
        const uint32_t *from = (const uint32_t *)device + i;
        looks[i] = (struct look){to, 0};
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(to, 4, from, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, look_and_leave, &looks[i]));
    }
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    expect_calls(8);
    for (uint32_t i = 0; i < 8; i++)
        (void)EXPECT(looks[i].seen == 100 + i, "%u: saw %u", i, looks[i].seen);
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    fixture_end();
}

/* Takes its time, then leaves the double of what it found. */
static void double_slowly(void *args)
{
    uint32_t *value = args;
    const struct timespec pause = {0, 50000000};
    uint32_t found = *value;
    (void)nanosleep(&pause, NULL);
    *value = 2 * found;
    atomic_fetch_add(&calls, 1);
}

/* A round trip through the host: each copy takes what the function before it left, also in a stream
 * that waits for the function's stream. */
static void test_copies_behind_functions(void)
{
    fixture_begin();
    aclrtStream streams[2] = {NULL, NULL};
    aclrtEvent event = NULL;
    void *device = NULL, *pinned = NULL;
    uint32_t value = 7;
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&streams[0]));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&streams[1]));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&device, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, 4));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(device, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    for (unsigned i = 0; i < 3; i++) {
        aclrtStream other = streams[i == 1 ? 1 : 0];
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(pinned, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
        (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(streams[0], double_slowly, pinned));
        (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, streams[0]));
        (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(other, event));
        (void)GIVES(ACL_SUCCESS,
                    aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, other));
        expect_calls(i + 1);
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(other));
    }
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&value, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(value == 56, "%u", value);
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    fixture_end();
}

enum { STREAMS = 16, ROUNDS = 100 };

struct step {
    atomic_uint *next; /* of the stream */
    unsigned number;
    atomic_uint *wrong;
};

static void take_step(void *args)
{
    struct step *step = args;
    if (atomic_fetch_add(step->next, 1) != step->number)
        atomic_fetch_add(step->wrong, 1);
}

static void test_many_streams(void)
{
    static struct step steps[STREAMS][ROUNDS];
    static atomic_uint next[STREAMS], wrong;
    aclrtStream streams[STREAMS];
    fixture_begin();
    atomic_store(&wrong, 0);
    for (unsigned s = 0; s < STREAMS; s++) {
        atomic_store(&next[s], 0);
        (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&streams[s]));
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (unsigned s = 0; s < STREAMS; s++) {
            steps[s][r] = (struct step){&next[s], r, &wrong};
            aclError error = aclrtLaunchHostFunc(streams[s], take_step, &steps[s][r]);
            CU_ASSERT_FATAL(error == ACL_SUCCESS);
        }
    }
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    for (unsigned s = 0; s < STREAMS; s++)
        (void)EXPECT(atomic_load(&next[s]) == ROUNDS, "stream %u: %u", s, atomic_load(&next[s]));
    (void)EXPECT(atomic_load(&wrong) == 0, "%u out of order", atomic_load(&wrong));
    fixture_end();
}

static void test_stream_waits_for_function(void)
{
    pthread_t helper;
    fixture_begin();
    struct gate gate = {false, false, false};
    aclrtStream stream = NULL, other = NULL;
    aclrtEvent event = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, pass_gate, &gate));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(other, event));
    wait_until(&gate.is_in);
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 10));
    (void)SAYS("waits for host function");
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(other, 10));
    (void)SAYS("waits for host function");
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    (void)EXPECT(status == ACL_STREAM_STATUS_NOT_READY, "status %d", (int)status);
    (void)pthread_create(&helper, NULL, open_gate_soon, &gate);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(other));
    (void)EXPECT(atomic_load(&gate.is_out), "the function runs");
    (void)pthread_join(helper, NULL);
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    fixture_end();
}

static void use_acl(void *args)
{
    aclrtContext context = NULL;
    aclrtStreamStatus status;
    void *ptr = NULL;
    aclError *error = args;
    *error = aclrtGetCurrentContext(&context);
    if (*error == ACL_SUCCESS)
        *error = aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    if (*error == ACL_SUCCESS)
        *error = aclrtMemset(ptr, 64, 1, 64);
    if (*error == ACL_SUCCESS)
        *error = aclrtFree(ptr);
    if (*error == ACL_SUCCESS)
        *error = aclrtStreamQuery(NULL, &status);
}

static void test_function_uses_acl(void)
{
    fixture_begin();
    aclError error = -1;
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, use_acl, &error));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)EXPECT(error == ACL_SUCCESS, "%d", error);
    fixture_end();
}

/* ---- functions that are never called, and ends ---- */

/* A stream that waits for an event that nobody records. */
static aclrtStream make_stuck_stream(void)
{
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtResetEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
    return stream;
}

static void test_device_is_reset(void)
{
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(make_stuck_stream(), count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    expect_calls(0);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    expect_calls(1);
    fixture_end();
}

static void test_finalize_waits_for_function(void)
{
    pthread_t helper;
    struct gate gate = {false, false, false};
    atomic_store(&calls, 0);
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(make_stuck_stream(), count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, pass_gate, &gate));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, count_call, NULL));
    wait_until(&gate.is_in);
    (void)pthread_create(&helper, NULL, open_gate_soon, &gate);
    fixture_end();
    (void)EXPECT(atomic_load(&gate.is_out), "the function still runs");
    (void)pthread_join(helper, NULL);
    fixture_begin();
    unsigned before = atomic_load(&calls);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, count_call, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    expect_calls(before + 1);
    fixture_end();
}

static void finalize(void *args)
{
    *(aclError *)args = aclFinalize();
    atomic_fetch_add(&calls, 1);
}

static void test_function_finalizes(void)
{
    aclError error = -1;
    atomic_store(&calls, 0);
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, finalize, &error));
    while (atomic_load(&calls) == 0)
        (void)usleep(MS);
    (void)EXPECT(error == ACL_SUCCESS, "%d", error);
    fixture_begin();
    fixture_end();
}

static void test_fork(void)
{
    int status = -1;
    struct gate gate = {false, false, false};
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, pass_gate, &gate));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, count_call, NULL));
    wait_until(&gate.is_in);
    pid_t child = fork();
    if (child == 0)
        _exit(aclrtLaunchHostFunc(NULL, count_call, NULL) == ACL_ERROR_RT_CONTEXT_NULL ? 7 : 1);
    (void)waitpid(child, &status, 0);
    (void)EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status 0x%x", (unsigned)status);
    atomic_store(&gate.may_go, true);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    expect_calls(1);
    fixture_end();
}

/* ---- threads of the program ---- */

struct server {
    aclrtContext context;
    atomic_bool is_ready, is_over;
    bool is_host_func;
    uint64_t thread;
    unsigned runs, timeouts, others;
};

static void *serve(void *user)
{
    struct server *server = user;
    server->thread = (uint64_t)pthread_self();
    (void)aclrtSetCurrentContext(server->context);
    atomic_store(&server->is_ready, true);
    while (!atomic_load(&server->is_over)) {
        aclError error = server->is_host_func ? aclrtProcessHostFunc(20) : aclrtProcessReport(20);
        server->runs += error == ACL_SUCCESS ? 1 : 0;
        server->timeouts += error == ACL_ERROR_RT_REPORT_TIMEOUT ? 1 : 0;
        server->others += error != ACL_SUCCESS && error != ACL_ERROR_RT_REPORT_TIMEOUT &&
                                  error != ACL_ERROR_RT_THREAD_SUBSCRIBE
                              ? 1
                              : 0;
        if (error == ACL_ERROR_RT_THREAD_SUBSCRIBE)
            (void)usleep(MS);
    }
    return NULL;
}

static pthread_t start_server(struct server *server, bool is_host_func)
{
    pthread_t thread;
    *server = (struct server){.is_host_func = is_host_func};
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&server->context));
    (void)pthread_create(&thread, NULL, serve, server);
    wait_until(&server->is_ready);
    return thread;
}

static void stop_server(struct server *server, pthread_t thread)
{
    atomic_store(&server->is_over, true);
    (void)pthread_join(thread, NULL);
    (void)EXPECT(server->others == 0, "%u other errors", server->others);
}

static void note_thread(void *args)
{
    *(uint64_t *)args = (uint64_t)pthread_self();
    atomic_fetch_add(&calls, 1);
}

static void test_threads_of_the_program(void)
{
    struct server report, host_func;
    aclrtStream stream = NULL;
    uint64_t in_report = 0, in_host_func = 0;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    pthread_t one = start_server(&report, false), two = start_server(&host_func, true);
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(report.thread, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeHostFunc(host_func.thread, stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchCallback(note_thread, &in_report, ACL_CALLBACK_BLOCK, stream));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note_thread, &in_host_func));
    for (unsigned i = 0; i < 5; i++)
        (void)GIVES(ACL_SUCCESS, aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    expect_calls(7);
    (void)EXPECT(in_report == report.thread, "the callback's thread");
    (void)EXPECT(in_host_func == host_func.thread, "the host function's thread");
    stop_server(&report, one);
    stop_server(&host_func, two);
    (void)GIVES(ACL_SUCCESS, aclrtUnSubscribeReport(report.thread, stream));
    (void)GIVES(ACL_SUCCESS, aclrtUnSubscribeHostFunc(host_func.thread, stream));
    fixture_end();
}

static void test_report_is_processed_here(void)
{
    aclrtStream stream = NULL;
    fixture_begin();
    atomic_store(&calls, 0);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    uint64_t self = (uint64_t)pthread_self();
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(self, stream));
    (void)GIVES(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(20));
    for (unsigned i = 0; i < 3; i++)
        (void)GIVES(ACL_SUCCESS,
                    aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_NO_BLOCK, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    expect_calls(0);
    (void)GIVES(ACL_SUCCESS, aclrtProcessReport(-1));
    expect_calls(3);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, stream));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchHostFunc(stream, count_call, NULL));
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 10));
    (void)GIVES(ACL_SUCCESS, aclrtUnSubscribeReport(self, stream));
    (void)GIVES(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(20));
    (void)GIVES(ACL_ERROR_RT_STREAM_NO_CB_REG,
                aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, stream));
    expect_calls(3);
    (void)GIVES(ACL_SUCCESS, aclrtSubscribeReport(self, stream));
    (void)GIVES(ACL_SUCCESS, aclrtProcessReport(1000));
    expect_calls(5);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    fixture_end();
}

/* ---- waits that run out ---- */

static void test_event_wait_runs_out(void)
{
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtResetEvent(event, stream));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(stream, event, 1));
    (void)GIVES(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    (void)GIVES(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    (void)SAYS("wait of stream");
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    fixture_end();
}

static const struct client_test tests[] = {
    {"refusals", test_refusals},
    {"names of threads and streams", test_thread_and_stream_names},
    {"many threads come and go", test_many_threads},
    {"functions run in order with copies", test_order_with_copies},
    {"copies behind functions take what these left", test_copies_behind_functions},
    {"many streams, many functions", test_many_streams},
    {"a stream waits for its function", test_stream_waits_for_function},
    {"a function uses ACL", test_function_uses_acl},
    {"a device that is reset calls no function", test_device_is_reset},
    {"aclFinalize waits for a function that runs", test_finalize_waits_for_function},
    {"a function calls aclFinalize", test_function_finalizes},
    {"fork while a function runs", test_fork},
    {"threads of the program run functions", test_threads_of_the_program},
    {"aclrtProcessReport in the thread itself", test_report_is_processed_here},
    {"a wait for an event runs out", test_event_wait_runs_out},
    {NULL, NULL},
};
const struct client_suite suite_host_func = {"host_func", tests};
