/* The programs under test; those whose point is how they end are in roles_end.c. */
#include "roles.h"
#include "sanitizers.h"

#include "acl/acl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void need(aclError want, aclError got, const char *call)
{
    const char *text = aclGetRecentErrMsg();
    if (got == want)
        return;
    (void)fprintf(stderr, "%s gave %d, not %d: %s\n", call, got, want, text != NULL ? text : "-");
    exit(1);
}

void say(const char *word)
{
    (void)printf("%s\n", word);
    (void)fflush(stdout);
}

void begin(void)
{
    NEED(ACL_SUCCESS, aclInit(NULL));
    NEED(ACL_SUCCESS, aclrtSetDevice(0));
}

void work(void)
{
    char bytes[64] = "soma", back[64] = "";
    void *ptr = NULL;
    aclrtStream stream = NULL;
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    NEED(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    NEED(ACL_SUCCESS, aclrtMemcpyAsync(ptr, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    NEED(ACL_SUCCESS, aclrtMemcpyAsync(back, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    NEED(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    NEED(ACL_SUCCESS, strcmp(bytes, back) == 0 ? ACL_SUCCESS : -1);
    NEED(ACL_SUCCESS, aclrtFree(ptr));
    NEED(ACL_SUCCESS, aclrtDestroyStream(stream));
}

static int whole(void)
{
    begin();
    work();
    NEED(ACL_SUCCESS, aclrtResetDevice(0));
    NEED(ACL_SUCCESS, aclFinalize());
    begin();
    work();
    NEED(ACL_SUCCESS, aclFinalize());
    return 0;
}

static int without_init(void)
{
    NEED(ACL_SUCCESS, aclrtSetDevice(0));
    work();
    return 0;
}

static int leave_by_exit(void)
{
    begin();
    work();
    exit(0);
}

static int leave_by__exit(void)
{
    begin();
    say("ready");
    _exit(0);
}

static int leave_by_abort(void)
{
    begin();
    say("ready");
    abort();
}

static int hold(void)
{
    begin();
    say("ready");
    for (;;)
        pause_ms(1000);
    return 0;
}

/* Says "again" after a line on standard input... there is none: after SIGUSR1. */
static volatile sig_atomic_t is_told;

static void on_signal(int number)
{
    (void)number;
    is_told = 1;
}

static void wait_told(void)
{
    while (!is_told)
        pause_ms(5);
    is_told = 0;
}

static int hold_and_call(void)
{
    aclrtStream stream = NULL;
    (void)signal(SIGUSR1, on_signal);
    begin();
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    say("ready");
    for (;;) {
        wait_told();
        int64_t start_ms = clock_ms();
        aclError error = aclrtSynchronizeStream(stream);
        const char *text = aclGetRecentErrMsg();
        (void)printf("called: %d after %d ms: %s\n", error, (int)(clock_ms() - start_ms),
                     text != NULL ? text : "-");
        say("end of call");
    }
    return 0;
}

aclrtStream make_blocked_stream(void)
{
    aclrtStream stream = NULL, other = NULL;
    aclrtEvent event = NULL;
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    NEED(ACL_SUCCESS, aclrtCreateStream(&other));
    NEED(ACL_SUCCESS, aclrtCreateEvent(&event));
    NEED(ACL_SUCCESS, aclrtRecordEvent(event, other));
    NEED(ACL_SUCCESS, aclrtResetEvent(event, other));
    NEED(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
    return stream;
}

static int wait_for_ever(void)
{
    begin();
    aclrtStream stream = make_blocked_stream();
    say("ready");
    int64_t start_ms = clock_ms();
    aclError error = aclrtSynchronizeStream(stream);
    (void)printf("called: %d after %d ms: %s\n", error, (int)(clock_ms() - start_ms),
                 aclGetRecentErrMsg());
    say("end of call");
    return error == ACL_ERROR_RT_SOCKET_CLOSE ? 0 : 1;
}

/* Copies much, until one fails. */
static int copy_for_ever(void)
{
    const size_t size = (size_t)48 << 20;
    char *bytes = calloc(1, size);
    void *ptr = NULL;
    aclError error = bytes != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
    int64_t start_ms = 0;
    begin();
    NEED(ACL_SUCCESS, aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST));
    say("ready");
    for (int i = 0; error == ACL_SUCCESS; i++) {
        start_ms = clock_ms();
        error = i % 2 == 0 ? aclrtMemcpy(ptr, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE)
                           : aclrtMemcpy(bytes, size, ptr, size, ACL_MEMCPY_DEVICE_TO_HOST);
    }
    (void)printf("called: %d after %d ms: %s\n", error, (int)(clock_ms() - start_ms),
                 aclGetRecentErrMsg());
    say("end of call");
    free(bytes);
    return 0;
}

/* Without standard input, output and error. */
static int closed_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)close(fd);
    return whole();
}

static void *wait_in_thread(void *user)
{
    aclrtStream stream = user;
    (void)aclrtSetDevice(0);
    say("ready");
    (void)aclrtSynchronizeStream(stream);
    return NULL;
}

static int exit_while_a_thread_waits(void)
{
    pthread_t thread;
    begin();
    if (pthread_create(&thread, NULL, wait_in_thread, make_blocked_stream()) != 0)
        return 1;
    (void)pthread_detach(thread);
    pause_ms(200);
    exit(0);
}

static void *init_in_thread(void *user)
{
    *(aclError *)user = aclInit(NULL);
    return NULL;
}

/* The server outlives the thread that started it. */
static int init_in_a_thread_that_ends(void)
{
    pthread_t thread;
    aclError error = -1;
    if (pthread_create(&thread, NULL, init_in_thread, &error) != 0)
        return 1;
    (void)pthread_join(thread, NULL);
    NEED(ACL_SUCCESS, error);
    pause_ms(300);
    NEED(ACL_SUCCESS, aclrtSetDevice(0));
    work();
    return 0;
}

/* The server is no child of the program. */
static int wait_for_children(void)
{
    int status = 0;
    begin();
    bool has_none = wait(&status) < 0 && errno == ECHILD;
    work();
    return has_none ? 0 : 1;
}

/* SIGCHLD ignored, SIGTERM blocked, SIGPIPE as it is: none of it matters. */
static int odd_signals(void)
{
    sigset_t set;
    (void)signal(SIGCHLD, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return whole();
}

/* Descriptors of the program do not reach the server. */
static int close_to_the_end(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return 1;
    begin();
    (void)close(ends[1]);
    return read(ends[0], &byte, 1) == 0 ? 0 : 1; /* hangs if the server has the other end */
}

static int fork_and_use_both(void)
{
    int status = -1;
    begin();
    pid_t child = fork();
    if (child == 0) {
        NEED(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
        if (!CAN_USE_FORKED_CHILD)
            exit(0);
        begin();
        work();
        exit(0);
    }
    work();
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    pause_ms(200);
    work();
    return 0;
}

/* The parent of a child that lives on is killed. */
static int fork_and_hold(void)
{
    begin();
    pid_t child = fork();
    if (child == 0) {
        (void)close(1);
        (void)close(2);
        pause_ms(8000);
        _exit(0);
    }
    (void)printf("child %d\n", (int)child);
    say("ready");
    for (;;)
        pause_ms(1000);
    return 0;
}

static int try_init(void)
{
    int64_t start_ms = clock_ms();
    aclError error = aclInit(NULL);
    const char *text = aclGetRecentErrMsg();
    (void)printf("aclInit: %d after %d ms: %s\n", error, (int)(clock_ms() - start_ms),
                 text != NULL ? text : "-");
    aclError again = aclInit(NULL);
    (void)printf("again: %d\n", again);
    return 0;
}

static int idle_past_the_lease(void)
{
    begin();
    say("ready");
    pause_ms(3500);
    work();
    NEED(ACL_SUCCESS, aclFinalize());
    return 0;
}

/* One allocation over a connection that is cut once; how much the pool holds tells how often it
 * ran. */
static int allocate_once(void)
{
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    aclrtStream stream = NULL;
    void *ptr = NULL;
    uint64_t used = 0;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = (size_t)64 << 20;
    begin();
    NEED(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    NEED(ACL_SUCCESS, aclrtCreateStream(&stream));
    NEED(ACL_SUCCESS, aclrtMemPoolMallocAsync(&ptr, 8, pool, stream));
    NEED(ACL_SUCCESS, aclrtMemcpyAsync(ptr, 8, "7 bytes", 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    NEED(ACL_SUCCESS, aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used));
    (void)printf("used: %llu\n", (unsigned long long)used);
    NEED(ACL_SUCCESS, aclFinalize());
    return 0;
}

struct starved {
    aclrtContext context;
    aclrtStream stream, blocked;
};

static void *synchronize(void *user)
{
    struct starved *starved = user;
    NEED(ACL_SUCCESS, aclrtSetCurrentContext(starved->context));
    aclError error = aclrtSynchronizeStream(starved->stream);
    const char *text = aclGetRecentErrMsg();
    (void)printf("starved: %d: %s\n", error, text != NULL ? text : "-");
    (void)printf("waited: %d\n", aclrtSynchronizeStreamWithTimeout(starved->blocked, 800));
    return NULL;
}

/* A new thread calls while the process can have no further descriptor, and waits for longer than
 * the service may be silent; then it can again. */
static int starve(void)
{
    struct starved starved;
    pthread_t thread;
    int fds[256], count = 0;
    (void)setenv("SOMA_TIMEOUT_MS", "500", 1);
    begin();
    starved.blocked = make_blocked_stream();
    NEED(ACL_SUCCESS, aclrtGetCurrentContext(&starved.context));
    NEED(ACL_SUCCESS, aclrtCreateStream(&starved.stream));
    NEED(ACL_SUCCESS, aclrtSynchronizeStream(starved.stream));
    struct rlimit limit = {.rlim_cur = 128, .rlim_max = 128};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    while (count < 256 && (fds[count] = dup(STDOUT_FILENO)) >= 0)
        count++;
    if (count == 256 || pthread_create(&thread, NULL, synchronize, &starved) != 0)
        return 1;
    (void)pthread_join(thread, NULL);
    while (count > 0)
        (void)close(fds[--count]);
    work();
    NEED(ACL_SUCCESS, aclFinalize());
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} roles[] = {
    {"whole", whole},
    {"without_init", without_init},
    {"exit", leave_by_exit},
    {"_exit", leave_by__exit},
    {"abort", leave_by_abort},
    {"hold", hold},
    {"hold_and_call", hold_and_call},
    {"wait_for_ever", wait_for_ever},
    {"copy_for_ever", copy_for_ever},
    {"closed", closed_standard_files},
    {"exit_while_waiting", exit_while_a_thread_waits},
    {"init_in_thread", init_in_a_thread_that_ends},
    {"wait", wait_for_children},
    {"odd_signals", odd_signals},
    {"close", close_to_the_end},
    {"fork", fork_and_use_both},
    {"fork_and_hold", fork_and_hold},
    {"try_init", try_init},
    {"idle", idle_past_the_lease},
    {"allocate_once", allocate_once},
    {"starve", starve},
};

int role_run(const char *role)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, role) == 0)
            return roles[i].run();
    }
    return role_run_end(role);
}
