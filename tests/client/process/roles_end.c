/* Programs under test: ways to end, and children. Each of them may leave nothing behind and must
 * not hang. */
#include "roles.h"
#include "sanitizers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 6 };

static aclrtMemPool make_pool(void)
{
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = (size_t)64 << 20;
    NEED(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    return pool;
}

/* Much is queued, and nobody waits for it. */
static int exit_with_work(void)
{
    static char bytes[1 << 16];
    void *ptr = NULL;
    aclrtStream stream = NULL;
    begin();
    aclrtMemPool pool = make_pool();
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (int i = 0; i < 500; i++) {
        NEED(ACL_SUCCESS, aclrtMemPoolMallocAsync(&ptr, sizeof(bytes), pool, stream));
        NEED(ACL_SUCCESS, aclrtMemsetAsync(ptr, sizeof(bytes), i & 0xff, sizeof(bytes), stream));
        NEED(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr, stream));
    }
    NEED(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    return 0;
}

/* ---- busy threads ---- */

struct busy {
    aclrtContext context;
    aclrtMemPool pool;
    atomic_bool is_over;
    atomic_uint rounds;
    aclError error; /* of the thread that failed first */
};

static aclError one_round(const struct busy *busy, aclrtStream stream)
{
    void *ptr = NULL;
    char bytes[64] = "busy";
    aclError error = aclrtMemPoolMallocAsync(&ptr, sizeof(bytes), busy->pool, stream);
    if (error == ACL_SUCCESS)
        error = aclrtMemcpyAsync(ptr, sizeof(bytes), bytes, sizeof(bytes),
                                 ACL_MEMCPY_HOST_TO_DEVICE, stream);
    if (error == ACL_SUCCESS)
        error = aclrtMemcpyAsync(bytes, sizeof(bytes), ptr, sizeof(bytes),
                                 ACL_MEMCPY_DEVICE_TO_HOST, stream);
    if (error == ACL_SUCCESS)
        error = aclrtMemPoolFreeAsync(ptr, stream);
    return error == ACL_SUCCESS ? aclrtSynchronizeStream(stream) : error;
}

static void *be_busy(void *user)
{
    struct busy *busy = user;
    aclrtStream stream = NULL;
    aclError error = aclrtSetCurrentContext(busy->context);
    if (error == ACL_SUCCESS)
        error = aclrtCreateStream(&stream);
    while (error == ACL_SUCCESS && !atomic_load(&busy->is_over)) {
        error = one_round(busy, stream);
        atomic_fetch_add(&busy->rounds, 1);
    }
    return (void *)(intptr_t)error;
}

static void start_busy(struct busy *busy, pthread_t *threads)
{
    begin();
    busy->pool = make_pool();
    NEED(ACL_SUCCESS, aclrtGetCurrentContext(&busy->context));
    for (int i = 0; i < THREADS; i++)
        NEED(0, pthread_create(&threads[i], NULL, be_busy, busy));
    while (atomic_load(&busy->rounds) < 20)
        pause_ms(1);
}

static void stop_busy(struct busy *busy, const pthread_t *threads)
{
    void *error = NULL;
    atomic_store(&busy->is_over, true);
    for (int i = 0; i < THREADS; i++) {
        NEED(0, pthread_join(threads[i], &error));
        NEED(ACL_SUCCESS, (aclError)(intptr_t)error);
    }
}

static int exit_while_busy(void)
{
    static struct busy busy;
    pthread_t threads[THREADS];
    start_busy(&busy, threads);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_detach(threads[i]);
    exit(0);
}

/* Calls of the others end with an error, or come too early for it. */
static int finalize_while_busy(void)
{
    static struct busy busy;
    pthread_t threads[THREADS];
    start_busy(&busy, threads);
    NEED(ACL_SUCCESS, aclFinalize());
    atomic_store(&busy.is_over, true);
    for (int i = 0; i < THREADS; i++)
        NEED(0, pthread_join(threads[i], NULL));
    (void)aclGetRecentErrMsg();
    begin();
    work();
    return 0;
}

static void leave(int number)
{
    (void)number;
    exit(0); /* not allowed in a handler, and often done */
}

/* SIGTERM comes to the thread inside calls that only look something up, and that the session never
 * sees: it may hold the locks of tables. (In calls that allocate or speak to the server it may hold
 * the allocator's, which other exit handlers need, OpenSSL's for one: no library can help there.)
 */
static int handler_exits_a_look(void)
{
    aclrtStream stream = NULL;
    int32_t id = 0;
    (void)signal(SIGTERM, leave);
    begin();
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    say("ready");
    for (;;)
        NEED(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
    return 0;
}

static int handler_exits_a_wait(void)
{
    (void)signal(SIGTERM, leave);
    begin();
    aclrtStream stream = make_blocked_stream();
    say("ready");
    (void)aclrtSynchronizeStream(stream);
    return 1;
}

/* ---- children ---- */

static void expect_child(pid_t child, int code)
{
    int status = -1;
    NEED(0, waitpid(child, &status, 0) == child ? 0 : -1);
    NEED(0, WIFEXITED(status) && WEXITSTATUS(status) == code ? 0 : status);
}

/* Children that make no call: their end is not their parent's. */
static int fork_quietly(void)
{
    begin();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0 && i % 2 == 0)
            exit(7);
        if (child == 0)
            _exit(7);
        expect_child(child, 7);
        work();
    }
    return 0;
}

/* Forks while other threads are inside calls: the children have a session of their own. */
static int fork_while_busy(void)
{
    static struct busy busy;
    pthread_t threads[THREADS];
    pid_t children[CHILDREN];
    start_busy(&busy, threads);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            if (!CAN_USE_FORKED_CHILD)
                _exit(0);
            begin();
            work();
            NEED(ACL_SUCCESS, aclFinalize());
            exit(0);
        }
        pause_ms(3);
    }
    for (int i = 0; i < CHILDREN; i++)
        expect_child(children[i], 0);
    stop_busy(&busy, threads);
    work();
    return 0;
}

/* ---- functions of the program in streams ---- */

static atomic_uint functions_begun;

static void run_for_ever(void *args)
{
    (void)args;
    atomic_fetch_add(&functions_begun, 1);
    for (;;)
        pause_ms(1000);
}

/* One runs, others wait behind it and for what never comes: the process does not. */
static int exit_with_functions(void)
{
    aclrtStream stream = NULL;
    aclrtNotify notify = NULL;
    begin();
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    NEED(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    NEED(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    NEED(ACL_SUCCESS, aclrtLaunchHostFunc(stream, run_for_ever, NULL));
    NEED(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, run_for_ever, NULL));
    NEED(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, run_for_ever, NULL));
    while (atomic_load(&functions_begun) == 0)
        pause_ms(1);
    exit(0);
}

static void end_the_process(void *args)
{
    exit(*(const int *)args);
}

static int function_exits(void)
{
    int code = 0;
    begin();
    NEED(ACL_SUCCESS, aclrtLaunchHostFunc(NULL, end_the_process, &code));
    (void)aclrtSynchronizeDevice();
    pause_ms(60000);
    return 1;
}

int role_run_end(const char *role)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } roles[] = {
        {"exit_with_work", exit_with_work},
        {"exit_while_busy", exit_while_busy},
        {"finalize_while_busy", finalize_while_busy},
        {"exit_with_functions", exit_with_functions},
        {"function_exits", function_exits},
        {"handler_exits_a_look", handler_exits_a_look},
        {"handler_exits_a_wait", handler_exits_a_wait},
        {"fork_quietly", fork_quietly},
        {"fork_while_busy", fork_while_busy},
    };
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, role) == 0)
            return roles[i].run();
    }
    (void)fprintf(stderr, "there is no role %s\n", role);
    return 2;
}
