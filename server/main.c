/* somad: options, the server, and a wait for the signal that ends it. */
#include "config.h"
#include "healthcheck.h"
#include "server.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTICE_S 3u    /* for balancers that look every second */
#define DRAIN_MS 8000u /* below the ten seconds that container engines grant */

extern char **environ;

static int fail(const char *why)
{
    (void)fprintf(stderr, "somad: %s\n", why);
    return 2;
}

/* Large blocks come from the system and go back to it at once, whatever was freed before. */
static void tune_allocator(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

static void block_signals(sigset_t *ends)
{
    (void)sigemptyset(ends);
    (void)sigaddset(ends, SIGTERM);
    (void)sigaddset(ends, SIGINT);
    (void)sigaddset(ends, SIGHUP); /* its terminal is gone: options are read at the start only */
    (void)pthread_sigmask(SIG_BLOCK, ends, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void announce(const struct soma_server *server)
{
    const char *address;
    for (size_t i = 0; (address = soma_server_address(server, i)) != NULL; i++)
        (void)printf("somad listening on %s\n", address);
    (void)fflush(stdout);
}

/* Until no session is open, the time is over, or another signal comes. Balancers get some of the
 * time to notice: who is sent here meanwhile is still served. */
static void wait_for_the_end(struct soma_server *server, const sigset_t *ends, uint64_t seconds)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    soma_server_leave(server);
    for (uint64_t i = 0; i < 10 * seconds && soma_server_sessions(server) > 0; i++) {
        if (sigtimedwait(ends, NULL, &pause) > 0)
            return;
        if (i == 10 * NOTICE_S)
            soma_server_retire(server);
    }
}

static int run(const struct soma_config *config)
{
    struct soma_server *server;
    char error[CONFIG_ERROR_BYTES];
    sigset_t ends;
    int number;
    block_signals(&ends); /* before there are threads: they inherit it */
    if (!soma_server_start(config, &server, error))
        return fail(error);
    announce(server);
    (void)sigwait(&ends, &number);
    if (config->drain_timeout_seconds > 0)
        wait_for_the_end(server, &ends, config->drain_timeout_seconds);
    if (soma_server_drain(server, DRAIN_MS)) {
        soma_server_stop(server);
        return 0;
    }
    /* A kernel that runs cannot be stopped; the system takes back what is left. */
    soma_server_remove_sockets(server);
    _exit(0);
}

int main(int argc, char **argv)
{
    struct soma_config config;
    char error[CONFIG_ERROR_BYTES];
    int code = 0;
    tune_allocator();
    if (!soma_config_init(&config))
        return fail("no memory");
    if (!soma_config_load(&config, argc, argv, environ, error)) {
        code = fail(error);
    } else if (config.help) {
        soma_config_help(stdout);
    } else if (config.version) {
        (void)printf("somad %s\n", SOMA_VERSION);
    } else if (config.healthcheck) {
        code = soma_healthcheck(&config);
    } else {
        soma_config_warn(stderr, environ);
        code = run(&config);
    }
    soma_config_release(&config);
    return code;
}
