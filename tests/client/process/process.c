/* Starting this program again, and watching it. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

const char *somad_path(void)
{
    const char *path = getenv("SOMA_TEST_SOMAD");
    return path != NULL ? path : SOMA_TEST_SOMAD_DEFAULT;
}

/* Only async-signal-safe calls but setenv: the parent has one thread while programs start. */
static _Noreturn void become(const char *role, const char *const *environment, int out)
{
    for (char **item = environ; *item != NULL;) {
        char name[128];
        size_t len = strcspn(*item, "=");
        if (strncmp(*item, "SOMA_", 5) != 0 || len >= sizeof(name)) {
            item++;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)len, *item);
        (void)unsetenv(name); /* closes the gap in environ */
    }
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
        char name[128];
        size_t len = strcspn(environment[i], "=");
        (void)snprintf(name, sizeof(name), "%.*s", (int)len, environment[i]);
        (void)setenv(name, environment[i] + len + 1, 1);
    }
    (void)dup2(out, 1);
    (void)dup2(out, 2);
    char *argv[] = {(char *)(uintptr_t) "client_process_tests", (char *)(uintptr_t) "--role",
                    (char *)(uintptr_t)role, NULL};
    (void)execv("/proc/self/exe", argv);
    _exit(127);
}

bool program_start(struct program *program, const char *role, const char *const *environment)
{
    int ends[2];
    memset(program, 0, sizeof(*program));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    program->pid = fork();
    if (program->pid == 0)
        become(role, environment, ends[1]);
    (void)close(ends[1]);
    program->said_fd = ends[0];
    return EXPECT(program->pid > 0, "no process for role %s", role);
}

/* Read what the program says until the deadline or its end; false: it has closed its output. */
static bool listen_until(struct program *program, int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms - clock_ms();
    struct pollfd item = {program->said_fd, POLLIN, 0};
    if (left_ms <= 0 || poll(&item, 1, (int)left_ms) <= 0)
        return true;
    size_t room = sizeof(program->said) - 1 - program->said_len;
    if (room == 0) { /* keep the start, which has the socket's path */
        program->said_len = sizeof(program->said) / 2;
        room = sizeof(program->said) - 1 - program->said_len;
    }
    ssize_t got = read(program->said_fd, program->said + program->said_len, room);
    if (got > 0)
        program->said_len += (size_t)got;
    program->said[program->said_len] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

bool program_wait_for(struct program *program, const char *word)
{
    int64_t deadline_ms = clock_ms() + 10000;
    while (strstr(program->said, word) == NULL) {
        if (clock_ms() >= deadline_ms || !listen_until(program, deadline_ms))
            return expect_that(strstr(program->said, word) != NULL, __FILE__, __LINE__,
                               "the program did not say \"%s\" but: %s", word, program->said);
    }
    return true;
}

int program_end(struct program *program, long timeout_ms)
{
    int64_t deadline_ms = clock_ms() + timeout_ms;
    int status = 0, code = -1;
    pid_t ended = 0;
    while ((ended = waitpid(program->pid, &status, WNOHANG)) == 0 && clock_ms() < deadline_ms) {
        int64_t soon_ms = clock_ms() + 5;
        if (!listen_until(program, soon_ms < deadline_ms ? soon_ms : deadline_ms))
            pause_ms(2);
    }
    if (ended == program->pid)
        code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ended == 0) {
        (void)kill(program->pid, SIGKILL);
        (void)waitpid(program->pid, &status, 0);
    }
    while (listen_until(program, clock_ms() + 20) &&
           program->said_len < sizeof(program->said) / 2 && clock_ms() < deadline_ms + 100)
        continue;
    (void)close(program->said_fd);
    return code;
}

bool program_run(const char *role, const char *const *environment)
{
    struct program program;
    if (!program_start(&program, role, environment))
        return false;
    int code = program_end(&program, 30000);
    return EXPECT(code == 0, "role %s: exit code %d, %s", role, code, program.said);
}

bool program_socket(const struct program *program, char *path, size_t path_bytes)
{
    const char *at = strstr(program->said, "unix:/");
    if (at == NULL)
        return false;
    at += strlen("unix:");
    (void)snprintf(path, path_bytes, "%.*s", (int)strcspn(at, "\r\n "), at);
    return true;
}

bool is_file_there(const char *path, bool want, long timeout_ms)
{
    int64_t deadline_ms = clock_ms() + timeout_ms;
    bool is = access(path, F_OK) == 0;
    while (is != want && clock_ms() < deadline_ms) {
        pause_ms(5);
        is = access(path, F_OK) == 0;
    }
    return is;
}

bool start_somad(struct somad_process *somad, const char *listen, const char *token_file)
{
    const char *const options[] = {"--log-level", "error",
                                   token_file != NULL ? "--token-file" : NULL, token_file, NULL};
    return somad_start(somad, somad_path(), listen, options);
}

int count_sessions(const char *url)
{
    struct http_client *client = http_client_create(url);
    struct http_request request = {.method = "GET", .path = "/v1/sessions"};
    struct http_answer answer;
    int count = -1;
    if (client != NULL && http_send(client, &request, &answer)) {
        for (const char *at = answer.body; at != NULL; count++)
            at = strstr(at + (at != answer.body), "\"session\":");
        count--; /* the default one */
        http_answer_release(&answer);
    }
    http_client_destroy(client);
    return count;
}

bool wait_sessions(const char *url, int want, long timeout_ms)
{
    int64_t deadline_ms = clock_ms() + timeout_ms;
    int count = count_sessions(url);
    while (count != want && clock_ms() < deadline_ms) {
        pause_ms(20);
        count = count_sessions(url);
    }
    return EXPECT(count == want, "%s has %d sessions, not %d", url, count, want);
}
