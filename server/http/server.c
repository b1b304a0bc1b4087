/* Putting the parts together and taking them apart, in order. */
#include "server.h"

#include "auth.h"
#include "bodies.h"
#include "command.h"
#include "connection.h"
#include "executor.h"
#include "idempotency.h"
#include "internal.h"
#include "kernel_libraries.h"
#include "kernels.h"
#include "listener.h"
#include "metrics.h"
#include "reply.h"
#include "router.h"
#include "sessions.h"
#include "tls.h"
#include "waiters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define STOP_GRACE_MS 500u /* for the last answers to be sent */
#define CUT_GRACE_MS 2000u /* for waits that were cut short to be answered */

uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- start ---- */

static bool fail(char error[CONFIG_ERROR_BYTES], const char *why)
{
    (void)snprintf(error, CONFIG_ERROR_BYTES, "%s", why);
    return false;
}

/* Every connection is a descriptor. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool open_listeners(struct soma_server *server, const struct soma_config *config,
                           char error[CONFIG_ERROR_BYTES])
{
    server->listeners = calloc(config->listen_count, sizeof(*server->listeners));
    if (server->listeners == NULL)
        return fail(error, "no memory for the listeners");
    for (size_t i = 0; i < config->listen_count; i++) {
        struct listener *listener = &server->listeners[i];
        if (!listener_open(listener, config->listen[i], error))
            return false;
        server->listener_count++;
        if (server->tls != NULL)
            listener_secure(listener);
        if (!listener->is_loopback && server->auth == NULL && !config->insecure) {
            (void)snprintf(error, CONFIG_ERROR_BYTES,
                           "--listen: %s is reached from other machines: give --token-file, or "
                           "--insecure to let anyone in",
                           config->listen[i]);
            return false;
        }
    }
    return true;
}

static bool create_kernels(struct soma_server *server, const struct soma_config *config,
                           char error[CONFIG_ERROR_BYTES])
{
    char why[256];
    struct kernel_libraries *libraries = NULL;
    if (config->kernel_dir != NULL) {
        libraries = kernel_libraries_open(
            &(struct kernel_libraries_config){.directory = config->kernel_dir,
                                              .time_ms = config->kernel_timeout_ms,
                                              .memory_bytes = config->kernel_memory_bytes},
            why, sizeof(why));
        if (libraries == NULL) {
            (void)snprintf(error, CONFIG_ERROR_BYTES, "--kernel-dir: %s", why);
            return false;
        }
    }
    server->kernels = kernels_create_with(libraries);
    return server->kernels != NULL || fail(error, "no memory to start");
}

static bool create_parts(struct soma_server *server, char error[CONFIG_ERROR_BYTES])
{
    server->router = router_create();
    server->keys = idempotency_create();
    server->bodies = bodies_create();
    if (server->router == NULL || server->keys == NULL || server->bodies == NULL ||
        !reply_prepare(server))
        return fail(error, "no memory to start");
    server->metrics = metrics_create(server->router);
    server->sessions = sessions_create(server);
    if (server->metrics == NULL || server->sessions == NULL)
        return fail(error, "no memory to start");
    server->executor = executor_create();
    if (server->executor != NULL)
        server->waiters = waiters_create(server);
    return server->waiters != NULL || fail(error, "no threads to start with");
}

static bool serve(struct soma_server *server, char error[CONFIG_ERROR_BYTES])
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (!listener_serve(&server->listeners[i], server, NULL, NULL, error))
            return false;
        LOG(&server->log, LOG_LEVEL_INFO, "listening",
            LOG_TEXT("address", server->listeners[i].address));
    }
    atomic_store(&server->is_ready, true);
    return true;
}

static uint64_t commands_answer_bytes(uint64_t max_body_bytes)
{
    if (max_body_bytes < SOMA_COMMANDS_ANSWER_BYTES_MIN)
        return SOMA_COMMANDS_ANSWER_BYTES_MIN;
    return max_body_bytes < SOMA_COMMANDS_ANSWER_BYTES_MAX ? max_body_bytes
                                                           : SOMA_COMMANDS_ANSWER_BYTES_MAX;
}

static struct soma_server *create_server(const struct soma_config *config)
{
    struct soma_server *server = calloc(1, sizeof(*server));
    if (server == NULL)
        return NULL;
    server->log = (struct log){.fd = STDERR_FILENO, .level = config->log_level};
    server->soc = soma_soc_find(config->soc, strlen(config->soc));
    server->devices = (uint32_t)config->devices;
    server->threads = config->threads;
    server->max_body_bytes = config->max_body_bytes;
    server->commands_answer_bytes = commands_answer_bytes(config->max_body_bytes);
    server->max_sessions = config->max_sessions;
    server->session_ttl_seconds = config->session_ttl_seconds;
    server->idle_timeout_ns = config->idle_timeout_seconds * NS_PER_S;
    if (config->instance != NULL)
        (void)snprintf(server->instance, sizeof(server->instance), "%s", config->instance);
    (void)getrandom(&server->start_mark, sizeof(server->start_mark), 0);
    TAILQ_INIT(&server->connections);
    (void)pthread_mutex_init(&server->connections_lock, NULL);
    return server;
}

bool soma_server_start(const struct soma_config *config, struct soma_server **server,
                       char error[CONFIG_ERROR_BYTES])
{
    struct soma_server *created = create_server(config);
    if (created == NULL)
        return fail(error, "no memory to start");
    raise_descriptor_limit();
    bool good = config->token_file == NULL || auth_load(config->token_file, &created->auth, error);
    good = good && (config->tls_cert == NULL ||
                    tls_load(config->tls_cert, config->tls_key, &created->tls, error));
    good = good && open_listeners(created, config, error) &&
           create_kernels(created, config, error) && create_parts(created, error) &&
           serve(created, error);
    if (good)
        *server = created;
    else
        soma_server_stop(created);
    return good;
}

const char *soma_server_address(const struct soma_server *server, size_t i)
{
    return i < server->listener_count ? server->listeners[i].address : NULL;
}

uint16_t soma_server_port(const struct soma_server *server, size_t i)
{
    return i < server->listener_count ? server->listeners[i].port : 0;
}

/* ---- stop ---- */

typedef uint64_t count_fn(struct soma_server *server);

static uint64_t suspended_requests(struct soma_server *server)
{
    return atomic_load(&server->suspended_requests);
}

/* Wait until the count is 0, at most bound_ms. */
static bool wait_for_zero(struct soma_server *server, count_fn *count, uint64_t bound_ms)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    uint64_t until_ns = monotonic_ns() + bound_ms * NS_PER_MS;
    while (count(server) != 0 && monotonic_ns() < until_ns)
        (void)nanosleep(&pause, NULL);
    return count(server) == 0;
}

static void cut_waits(struct soma_server *server)
{
    atomic_store(&server->is_cutting, true);
    if (server->waiters != NULL)
        waiters_cut(server->waiters);
}

void soma_server_leave(struct soma_server *server)
{
    if (atomic_exchange(&server->is_leaving, true))
        return;
    LOG(&server->log, LOG_LEVEL_INFO, "leaving",
        LOG_NUMBER("sessions", soma_server_sessions(server)));
}

void soma_server_retire(struct soma_server *server)
{
    soma_server_leave(server);
    if (atomic_exchange(&server->is_draining, true))
        return;
    LOG(&server->log, LOG_LEVEL_INFO, "draining",
        LOG_NUMBER("requests", connections_active(server)));
}

size_t soma_server_sessions(const struct soma_server *server)
{
    return sessions_count(server->sessions) - 1;
}

bool soma_server_drain(struct soma_server *server, uint64_t bound_ms)
{
    soma_server_retire(server);
    if (wait_for_zero(server, connections_active, bound_ms))
        return true;
    LOG(&server->log, LOG_LEVEL_WARN, "drain_bound_reached",
        LOG_NUMBER("requests", connections_active(server)));
    cut_waits(server);
    return wait_for_zero(server, connections_active, CUT_GRACE_MS);
}

void soma_server_remove_sockets(const struct soma_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->listeners[i].unix_path != NULL)
            (void)unlink(server->listeners[i].unix_path);
    }
}

/* libmicrohttpd cannot stop while a connection is suspended. Requests that were cut short get a
 * moment to be answered. */
static void close_listeners(struct soma_server *server)
{
    cut_waits(server);
    (void)wait_for_zero(server, suspended_requests, UINT32_MAX);
    (void)wait_for_zero(server, connections_active, STOP_GRACE_MS);
    atomic_store(&server->is_stopping, true);
    for (size_t i = 0; i < server->listener_count; i++)
        listener_close(&server->listeners[i]);
}

void soma_server_stop(struct soma_server *server)
{
    if (server == NULL)
        return;
    atomic_store(&server->is_draining, true);
    close_listeners(server);
    waiters_destroy(server->waiters);
    executor_destroy(server->executor);
    sessions_destroy(server->sessions);
    idempotency_destroy(server->keys);
    bodies_destroy(server->bodies);
    metrics_destroy(server->metrics);
    kernels_destroy(server->kernels);
    router_destroy(server->router);
    auth_release(server->auth);
    tls_release(server->tls);
    if (atomic_load(&server->is_ready))
        LOG(&server->log, LOG_LEVEL_INFO, "stopped",
            LOG_NUMBER("listeners", server->listener_count));
    (void)pthread_mutex_destroy(&server->connections_lock);
    free(server->listeners);
    free(server->no_memory_body);
    free(server);
}
