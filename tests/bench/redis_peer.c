/* A server is started for each measurement and ended by its process id. */
#include "redis_peer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS_PER_SECOND 1000000.0 /* a guess: how many to ask for */

static pid_t start_server(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        /* What it says on stdout would stand in our JSON. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        (void)execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save",
                     "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning",
                     (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 500 && access(path, F_OK) != 0; i++)
        (void)usleep(10000);
    return child;
}

/* The line "SET",RATE,... */
static bool run_benchmark(const char *path, double seconds, double *rate)
{
    char command[256], line[512];
    (void)snprintf(command, sizeof(command),
                   "redis-benchmark -s %s -P 1000 -c 2 -n %.0f -t set --csv", path,
                   COMMANDS_PER_SECOND * seconds);
    FILE *out = popen(command, "re");
    *rate = 0;
    while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
        if (strncmp(line, "\"SET\",\"", 7) == 0)
            *rate = strtod(line + 7, NULL);
    }
    return out != NULL && pclose(out) == 0 && *rate > 0;
}

bool redis_peer_measure(double seconds, struct bench_series *rates)
{
    char dir[] = "/tmp/soma-bench-XXXXXX", path[64];
    double rate = 0;
    if (mkdtemp(dir) == NULL)
        return bench_fail("no directory for redis");
    (void)snprintf(path, sizeof(path), "%s/redis.sock", dir);
    pid_t server = start_server(path);
    bool good = server > 0 && run_benchmark(path, seconds, &rate);
    if (server > 0) {
        (void)kill(server, SIGTERM);
        (void)waitpid(server, NULL, 0);
    }
    (void)unlink(path);
    (void)rmdir(dir);
    if (good)
        bench_series_add(rates, rate);
    return good || bench_fail("redis-benchmark gave no rate");
}
