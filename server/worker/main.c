/* soma-kernel-worker DIRECTORY: loads kernel libraries for somad and forks a process for each
 * launch. Kernels never run in this process itself, so no launch leaves anything behind for
 * another. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Processes of launches have ended. What a kernel has forked goes with it: each launch is a process
 * group, whose number is taken until its leader is waited for. */
static void reap(int number)
{
    siginfo_t ended;
    int before = errno;
    (void)number;
    for (;;) {
        ended.si_pid = 0;
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0)
            break;
        (void)kill(-ended.si_pid, SIGKILL);
        (void)waitpid(ended.si_pid, NULL, WNOHANG);
    }
    errno = before;
}

/* The next launch and its descriptors. false: somad is gone. */
static bool receive(struct worker_launch *launch, int descriptors[2])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec part = {launch, sizeof(*launch)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t got;
    while ((got = recvmsg(WORKER_SOCKET, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (got != (ssize_t)sizeof(*launch) || header == NULL ||
        header->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        return false;
    memcpy(descriptors, CMSG_DATA(header), 2 * sizeof(int));
    return true;
}

static void serve(void)
{
    static struct worker_launch launch;
    int descriptors[2];
    pid_t self = getpid();
    while (receive(&launch, descriptors)) {
        pid_t child = fork();
        if (child == 0) {
            (void)setpgid(0, 0);
            (void)signal(SIGCHLD, SIG_DFL);
            (void)close(WORKER_SOCKET);
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == self)
                launch_run(&launch, descriptors[0], descriptors[1]);
            _exit(0); /* the worker is gone */
        }
        /* Without a process the pipe ends here, which tells. */
        (void)close(descriptors[0]);
        (void)close(descriptors[1]);
    }
}

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    if (argc != 2) {
        (void)fprintf(stderr, "soma-kernel-worker is started by somad --kernel-dir DIRECTORY\n");
        return 2;
    }
    /* The end of somad ends it, not a Ctrl-C meant for somad. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    const struct sigaction on_end = {.sa_handler = reap, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    (void)sigaction(SIGCHLD, &on_end, NULL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (!libraries_load(argv[1]))
        return 1;
    serve();
    return 0;
}
