/* Its programs print one line: where it serves, or how many pairs in how many seconds. */
#include "grpc_peer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run the program and read its first line. 0: it did not run or said nothing. */
static pid_t run(char *const *arguments, char *line, int line_bytes)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execv(arguments[0], arguments);
        _exit(127);
    }
    (void)close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    bool good = pid > 0 && file != NULL && fgets(line, line_bytes, file) != NULL;
    if (file != NULL)
        (void)fclose(file);
    if (!good && pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return good ? pid : 0;
}

static char *copy(char *to, size_t bytes, const char *text)
{
    (void)snprintf(to, bytes, "%s", text);
    return to;
}

bool grpc_peer_start(struct grpc_peer *peer, const char *path)
{
    char program[1024], mode[8], address[16];
    char *arguments[] = {copy(program, sizeof(program), path), copy(mode, sizeof(mode), "serve"),
                         copy(address, sizeof(address), "127.0.0.1:0"), NULL};
    peer->path = path;
    peer->pid = run(arguments, peer->address, (int)sizeof(peer->address));
    peer->address[strcspn(peer->address, "\n")] = '\0';
    return peer->pid > 0 || bench_fail("%s does not serve", path);
}

void grpc_peer_stop(struct grpc_peer *peer)
{
    if (peer->pid <= 0)
        return;
    (void)kill(peer->pid, SIGTERM);
    (void)waitpid(peer->pid, NULL, 0);
    peer->pid = 0;
}

bool grpc_peer_measure(const struct grpc_peer *peer, unsigned connections, double seconds,
                       struct bench_series *rates)
{
    char program[1024], mode[8], address[64], count[16], duration[32], line[128];
    char *arguments[] = {copy(program, sizeof(program), peer->path),
                         copy(mode, sizeof(mode), "drive"),
                         copy(address, sizeof(address), peer->address),
                         count,
                         duration,
                         NULL};
    double pairs, elapsed;
    int state = 0;
    (void)snprintf(count, sizeof(count), "%u", connections);
    (void)snprintf(duration, sizeof(duration), "%.3f", seconds);
    pid_t pid = run(arguments, line, (int)sizeof(line));
    if (pid <= 0)
        return bench_fail("%s drive said nothing", peer->path);
    (void)waitpid(pid, &state, 0);
    if (state != 0 || sscanf(line, "pairs %lf seconds %lf", &pairs, &elapsed) != 2 || elapsed <= 0)
        return bench_fail("the gRPC peer failed: %s", line);
    bench_series_add(rates, pairs / elapsed);
    return true;
}
