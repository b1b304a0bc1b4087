/* fork, exec, and the first line of what somad prints. */
#include "somad_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 10000
#define ARGUMENTS_MAX 32u

static long now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void run_child(const char *path, const char *listen, const char *const *options,
                                int out, pid_t parent)
{
    const char *arguments[ARGUMENTS_MAX] = {path, "--listen", listen};
    size_t count = 3;
    for (size_t i = 0; options != NULL && options[i] != NULL && count + 1 < ARGUMENTS_MAX; i++)
        arguments[count++] = options[i];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0) {
        /* execv takes what it does not write as if it did. */
        char *copies[ARGUMENTS_MAX] = {NULL};
        memcpy(copies, arguments, sizeof(copies));
        (void)execv(path, copies);
    }
    (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

/* Read up to the line "somad listening on URL"; url holds 256 bytes. */
static bool read_url(int in, char *url)
{
    static const char words[] = "somad listening on ";
    char text[4096];
    size_t len = 0;
    long deadline = now_ms() + WAIT_MS;
    while (len + 1 < sizeof(text)) {
        struct pollfd ready = {.fd = in, .events = POLLIN};
        long left = deadline - now_ms();
        if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
            return false;
        ssize_t got = read(in, text + len, sizeof(text) - 1 - len);
        if (got <= 0)
            return false;
        len += (size_t)got;
        text[len] = '\0';
        const char *line = strstr(text, words);
        const char *end = line == NULL ? NULL : strchr(line, '\n');
        if (end != NULL) {
            line += sizeof(words) - 1;
            (void)snprintf(url, 256, "%.*s", (int)(end - line), line);
            return true;
        }
    }
    return false;
}

bool somad_start(struct somad_process *process, const char *path, const char *listen,
                 const char *const *options)
{
    int ends[2];
    memset(process, 0, sizeof(*process));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t parent = getpid();
    process->pid = fork();
    if (process->pid == 0)
        run_child(path, listen == NULL ? "127.0.0.1:0" : listen, options, ends[1], parent);
    (void)close(ends[1]);
    bool good = process->pid > 0 && read_url(ends[0], process->url);
    (void)close(ends[0]);
    if (!good) {
        fprintf(stderr, "%s did not say where it listens\n", path);
        if (process->pid > 0)
            (void)somad_stop(process);
    }
    return good;
}

int somad_stop(struct somad_process *process)
{
    const struct timespec pause = {0, 5000000};
    long deadline = now_ms() + WAIT_MS;
    int state = 0;
    (void)kill(process->pid, SIGTERM);
    for (;;) {
        pid_t ended = waitpid(process->pid, &state, WNOHANG);
        if (ended == process->pid)
            break;
        if (ended < 0)
            return -1;
        if (now_ms() > deadline) {
            (void)kill(process->pid, SIGKILL);
            (void)waitpid(process->pid, &state, 0);
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    process->pid = 0;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}
