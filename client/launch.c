/* Starting and ending a private somad. */
#include "launch.h"

#include "error.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h> /* <limits.h> would be soma's */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_WAIT_MS 2000
#define OUTPUT_BYTES 2048u /* of the server's first words */

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* ---- finding somad ---- */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* somad at `beside` from the directory of this library. */
static bool find_beside(const char *beside, char *path, size_t path_bytes)
{
    Dl_info info;
    char library[PATH_MAX];
    if (dladdr((void *)(uintptr_t)client_server_start, &info) == 0 || info.dli_fname == NULL ||
        realpath(info.dli_fname, library) == NULL)
        return false;
    char *slash = strrchr(library, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    int len = snprintf(path, path_bytes, "%s/%s", library, beside);
    return len > 0 && (size_t)len < path_bytes && is_program(path);
}

static bool find_in_path(char *path, size_t path_bytes)
{
    const char *rest = getenv("PATH");
    while (rest != NULL && *rest != '\0') {
        size_t len = strcspn(rest, ":");
        int done = snprintf(path, path_bytes, "%.*s/somad", (int)len, rest);
        if (len > 0 && done > 0 && (size_t)done < path_bytes && is_program(path))
            return true;
        rest += len;
        rest += *rest == ':';
    }
    return false;
}

static aclError find_somad(char *path, size_t path_bytes)
{
    static const char *const beside[] = {"../server/somad", "../bin/somad", "../../bin/somad",
                                         "somad"};
    const char *named = client_env("SOMA_SOMAD");
    if (named != NULL) {
        (void)snprintf(path, path_bytes, "%s", named);
        if (strlen(named) < path_bytes && is_program(named))
            return ACL_SUCCESS;
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "SOMA_SOMAD=%.300s is not a program: set it to the path of somad, or "
                           "SOMA_SERVER to a running server",
                           named);
    }
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        if (find_beside(beside[i], path, path_bytes))
            return ACL_SUCCESS;
    }
    if (find_in_path(path, path_bytes))
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                       "SOMA_SERVER is not set and no somad was found beside libascendcl.so or in "
                       "PATH: set SOMA_SERVER to a running server (http://host:port or unix:/path) "
                       "or SOMA_SOMAD to the path of somad");
}

/* ---- the child's side: only system calls from here ---- */

struct plan {
    const char *program;
    char **argv;
    char **envp;
    int output, lifeline, report, null; /* the server's ends */
};

/* What the first child tells: the server's pid, and why it could not be run. */
struct report {
    pid_t pid;
    int error; /* errno of exec, 0 before it */
};

static void reset_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < 32; number++)
        (void)sigaction(number, &action, NULL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Every descriptor but the standard ones closes at exec. */
static void close_at_exec(void)
{
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (int fd = 3; fd < 1024; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* SIGTERM when the writing end closes, also if it did so before. */
static bool hold_lifeline(int lifeline)
{
    char byte;
    bool good = fcntl(lifeline, F_SETFD, 0) == 0 && fcntl(lifeline, F_SETOWN, getpid()) == 0 &&
                fcntl(lifeline, F_SETSIG, SIGTERM) == 0 &&
                fcntl(lifeline, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
    return good && read(lifeline, &byte, 1) < 0; /* 0: the process is gone already */
}

/* As _exit, of which ThreadSanitizer makes an occasion to report. */
static _Noreturn void leave(int code)
{
    for (;;)
        (void)syscall(SYS_exit_group, code);
}

static _Noreturn void become_server(const struct plan *plan)
{
    struct report report = {getpid(), 0};
    (void)!write(plan->report, &report, sizeof(report));
    (void)umask(077);
    (void)dup2(plan->null, 0);
    (void)dup2(plan->output, 1);
    (void)dup2(plan->output, 2);
    close_at_exec();
    reset_signals();
    if (hold_lifeline(plan->lifeline)) {
        (void)execve(plan->program, plan->argv, plan->envp);
        report.error = errno;
    } else {
        report.error = errno != 0 ? errno : EIO;
    }
    (void)!write(plan->report, &report, sizeof(report));
    leave(127);
}

/* ThreadSanitizer's, in programs that are built with it: the calling thread tells it of no more
 * synchronisation. */
void AnnotateIgnoreSyncBegin(const char *file, int line) __attribute__((weak));

/* The sanitizer's system calls take locks of its own, which another thread may have held when this
 * process was forked. */
static _Noreturn void run_first_child(const struct plan *plan)
{
    if (AnnotateIgnoreSyncBegin != NULL)
        AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    (void)setsid();
    pid_t pid = _Fork();
    if (pid == 0)
        become_server(plan);
    leave(pid > 0 ? 0 : 1);
}

/* ---- this side ---- */

/* The environment without what would make somad listen elsewhere or ask for a token. Free with
 * free; NULL: no memory. */
static char **server_environment(void)
{
    static const char *const dropped[] = {"SOMAD_LISTEN=", "SOMAD_TOKEN_FILE=", "SOMAD_CONFIG="};
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **envp = calloc(count + 1, sizeof(char *));
    if (envp == NULL)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_dropped = false;
        for (size_t d = 0; d < sizeof(dropped) / sizeof(dropped[0]); d++)
            is_dropped = is_dropped || strncmp(environ[i], dropped[d], strlen(dropped[d])) == 0;
        if (!is_dropped)
            envp[kept++] = environ[i];
    }
    return envp;
}

/* A name that nobody can guess; the server makes the socket with the modes of umask 077. */
static void choose_path(char *path, size_t path_bytes)
{
    uint64_t random[2] = {0, 0};
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        random[0] = (uint64_t)now_ms();
    const char *dir = client_env("TMPDIR");
    if (dir == NULL || dir[0] != '/' || strlen(dir) > 48)
        dir = "/tmp";
    (void)snprintf(path, path_bytes, "%s/soma-%d-%016llx%08llx.sock", dir, (int)getpid(),
                   (unsigned long long)random[0], (unsigned long long)(random[1] & 0xffffffffu));
}

/* Fork twice; the first child is reaped at once. Signals are held back so that no handler of the
 * program runs in the children. */
static bool fork_server(const struct plan *plan)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = _Fork();
    if (child == 0)
        run_first_child(plan);
    int fork_error = errno;
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = fork_error;
    return child > 0;
}

static bool wait_readable(int fd, int64_t deadline_ms)
{
    for (;;) {
        int64_t left_ms = deadline_ms - now_ms();
        struct pollfd item = {fd, POLLIN, 0};
        int count = poll(&item, 1, left_ms > 0 ? (int)left_ms : 0);
        if (count != 0 || left_ms <= 0)
            return count > 0;
        if (count < 0 && errno != EINTR)
            return false;
    }
}

/* Read until the server says that it listens. */
static aclError wait_listening(const struct client_server *server, const char *program,
                               long timeout_ms)
{
    char said[OUTPUT_BYTES];
    size_t len = 0;
    int64_t deadline_ms = now_ms() + timeout_ms;
    said[0] = '\0';
    while (strstr(said, "somad listening on ") == NULL) {
        if (!wait_readable(server->output, deadline_ms))
            return client_fail(
                ACL_ERROR_RT_SOCKET_CLOSE,
                "%.200s did not listen on unix:%s within %ld ms: set SOMA_TIMEOUT_MS "
                "to more, or SOMA_SERVER to a running server",
                program, server->path, timeout_ms);
        ssize_t got = read(server->output, said + len, sizeof(said) - 1 - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                               "%.200s ended before it listened on unix:%s: %.400s; set SOMA_SOMAD "
                               "to another somad, or SOMA_SERVER to a running server",
                               program, server->path, len > 0 ? said : "it said nothing");
        len += (size_t)got;
        said[len] = '\0';
        if (len == sizeof(said) - 1) /* talkative: keep the end */
            len = OUTPUT_BYTES / 2, memmove(said, said + sizeof(said) - 1 - len, len + 1);
    }
    return ACL_SUCCESS;
}

struct ends {
    int output[2], lifeline[2], report[2], null;
};

static bool open_ends(struct ends *ends)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, -1};
    ends->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return ends->null >= 0 && pipe2(ends->output, O_CLOEXEC) == 0 &&
           pipe2(ends->lifeline, O_CLOEXEC) == 0 && pipe2(ends->report, O_CLOEXEC) == 0;
}

static void close_ends(struct ends *ends)
{
    close_fd(&ends->output[1]);
    close_fd(&ends->lifeline[0]);
    close_fd(&ends->report[1]);
    close_fd(&ends->null);
}

/* Learn the server's pid and whether exec worked: then the report ends after the first one. */
static aclError read_report(struct client_server *server, int report, const char *program)
{
    struct report first = {0, 0}, second = {0, 0};
    ssize_t got = 0;
    while ((got = read(report, &first, sizeof(first))) < 0 && errno == EINTR)
        continue;
    if (got != (ssize_t)sizeof(first))
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "no process for %.200s could be made: set "
                           "SOMA_SERVER to a running server",
                           program);
    server->pid = first.pid;
    while ((got = read(report, &second, sizeof(second))) < 0 && errno == EINTR)
        continue;
    if (got == 0)
        return ACL_SUCCESS;
    server->pid = 0;
    return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                       "%.200s could not be run: %s; set SOMA_SOMAD to the path of somad, or "
                       "SOMA_SERVER to a running server",
                       program, strerror(second.error));
}

static aclError spawn(struct client_server *server, const char *program)
{
    char listen[128];
    (void)snprintf(listen, sizeof(listen), "unix:%s", server->path);
    char *argv[] = {(char *)(uintptr_t)program,        (char *)(uintptr_t) "--listen", listen,
                    (char *)(uintptr_t) "--log-level", (char *)(uintptr_t) "error",    NULL};
    char **envp = server_environment();
    struct ends ends;
    bool good = open_ends(&ends) && envp != NULL;
    struct plan plan = {program,          argv,           envp,     ends.output[1],
                        ends.lifeline[0], ends.report[1], ends.null};
    good = good && fork_server(&plan);
    int spawn_error = errno;
    close_ends(&ends);
    free(envp);
    server->output = ends.output[0];
    server->lifeline = ends.lifeline[1];
    aclError error = good ? read_report(server, ends.report[0], program)
                          : client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                                        "no process for %.200s could be made: %s; set SOMA_SERVER "
                                        "to a running server",
                                        program, strerror(spawn_error));
    close_fd(&ends.report[0]);
    return error;
}

aclError client_server_start(struct client_server *server, struct client_endpoint *endpoint)
{
    char program[PATH_MAX];
    *server = (struct client_server){0, -1, -1, ""};
    aclError error = find_somad(program, sizeof(program));
    if (error != ACL_SUCCESS)
        return error;
    choose_path(server->path, sizeof(server->path));
    error = spawn(server, program);
    if (error == ACL_SUCCESS)
        error = wait_listening(server, program, endpoint->timeout_ms);
    if (error == ACL_SUCCESS)
        error = client_endpoint_set_unix(endpoint, server->path);
    if (error != ACL_SUCCESS)
        client_server_stop(server);
    return error;
}

/* Whether the server's output ends before the deadline. */
static bool wait_gone(const struct client_server *server, int64_t deadline_ms)
{
    char rest[512];
    while (wait_readable(server->output, deadline_ms)) {
        ssize_t got = read(server->output, rest, sizeof(rest));
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return true;
    }
    return false;
}

void client_server_stop(struct client_server *server)
{
    close_fd(&server->lifeline);
    if (server->pid > 0 && !wait_gone(server, now_ms() + STOP_WAIT_MS)) {
        (void)kill(server->pid, SIGKILL);
        (void)wait_gone(server, now_ms() + STOP_WAIT_MS);
    }
    if (server->path[0] != '\0')
        (void)unlink(server->path); /* of a server that could not */
    client_server_forget(server);
}

void client_server_forget(struct client_server *server)
{
    close_fd(&server->lifeline);
    close_fd(&server->output);
    server->pid = 0;
    server->path[0] = '\0';
}
