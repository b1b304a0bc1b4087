/* Sockets are made here, not by libmicrohttpd, so that what fails can be told with its address. */
#include "listener.h"

#include "connection.h"
#include "request.h"
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Of a connection: a request's header with its records has to fit, and it is cleared after each
 * request. Headers over SOMA_HEADER_BYTES_MAX are refused before they fill it. */
#define CONNECTION_MEMORY_BYTES ((size_t)40960)
#define BACKLOG 1024

static bool fail(char error[CONFIG_ERROR_BYTES], const char *text, const char *why)
{
    (void)snprintf(error, CONFIG_ERROR_BYTES, "--listen: %.300s: %s", text, why);
    return false;
}

/* ---- unix sockets ---- */

/* Remove a socket file that nobody listens on. false: somebody does, or it is no socket. */
static bool remove_stale(const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(address->sun_path, &status) != 0)
        return true;
    if (!S_ISSOCK(status.st_mode)) {
        errno = EEXIST;
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_alive = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
    if (fd >= 0)
        (void)close(fd);
    if (is_alive) {
        errno = EADDRINUSE;
        return false;
    }
    return unlink(address->sun_path) == 0;
}

static bool open_unix(struct listener *listener, const char *text, char error[CONFIG_ERROR_BYTES])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = text + 5;
    if (strlen(path) >= sizeof(address.sun_path))
        return fail(error, text, "the path is too long for a unix socket");
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!remove_stale(&address))
        return fail(error, text, strerror(errno));
    char *copy = strdup(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (copy != NULL && fd >= 0 &&
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(fd, BACKLOG) == 0) {
        listener->fd = fd;
        listener->unix_path = copy;
        listener->is_loopback = true;
        (void)snprintf(listener->address, sizeof(listener->address), "%s", text);
        return true;
    }
    (void)fail(error, text, strerror(errno));
    free(copy);
    if (fd >= 0)
        (void)close(fd);
    return false;
}

/* ---- TCP ---- */

/* "[::1]:80" or "127.0.0.1:80" into host and port. */
static bool split(const char *text, char *host, size_t host_bytes, const char **port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL)
        return false;
    size_t len = (size_t)(colon - text);
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len == 0 || len >= host_bytes)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    *port = colon + 1;
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, address, sizeof(in6));
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

static int bind_tcp(const struct addrinfo *info)
{
    int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

/* The address that was bound, port 0 resolved. */
static void describe(struct listener *listener, const char *host)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    if (getsockname(listener->fd, (struct sockaddr *)&bound, &len) == 0) {
        struct sockaddr_in in;
        memcpy(&in, &bound, sizeof(in)); /* the port stands at the same place in sockaddr_in6 */
        listener->port = ntohs(in.sin_port);
    }
    bool is_six = strchr(host, ':') != NULL;
    (void)snprintf(listener->address, sizeof(listener->address), "http://%s%s%s:%u",
                   is_six ? "[" : "", host, is_six ? "]" : "", (unsigned)listener->port);
}

static bool open_tcp(struct listener *listener, const char *text, char error[CONFIG_ERROR_BYTES])
{
    char host[256];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (!split(text, host, sizeof(host), &port))
        return fail(error, text, "is neither HOST:PORT nor unix:PATH");
    int outcome = getaddrinfo(host, port, &hints, &found);
    if (outcome != 0)
        return fail(error, text, gai_strerror(outcome));
    int fd = bind_tcp(found);
    bool loopback = is_loopback(found->ai_addr);
    int saved = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return fail(error, text, strerror(saved));
    listener->fd = fd;
    listener->is_loopback = loopback;
    describe(listener, host);
    return true;
}

bool listener_open(struct listener *listener, const char *text, char error[CONFIG_ERROR_BYTES])
{
    struct listener opened = {.fd = -1};
    bool good = strncmp(text, "unix:", 5) == 0 ? open_unix(&opened, text, error)
                                               : open_tcp(&opened, text, error);
    if (good)
        *listener = opened;
    return good;
}

void listener_secure(struct listener *listener)
{
    char text[sizeof(listener->address)];
    if (listener->unix_path != NULL)
        return;
    listener->is_tls = true;
    (void)snprintf(text, sizeof(text), "%s", listener->address + strlen("http://"));
    (void)snprintf(listener->address, sizeof(listener->address), "https://%.300s", text);
}

/* ---- serving ---- */

static void on_message(void *ctx, const char *format, va_list args)
{
    const struct soma_server *server = ctx;
    char text[512];
    (void)vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    LOG(&server->log, LOG_LEVEL_DEBUG, "http", LOG_TEXT("message", text));
}

/* As many connections as there may be descriptors, less some for ourselves. */
static unsigned connection_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1000000)
        return 1000000;
    return limit.rlim_cur > 128 ? (unsigned)limit.rlim_cur - 64 : 64;
}

bool listener_serve(struct listener *listener, struct soma_server *server,
                    MHD_AccessHandlerCallback handler, void *ctx, char error[CONFIG_ERROR_BYTES])
{
    /* With TURBO a connection is not shut down before it is closed, which leaves connection.c
     * the chance to answer what libmicrohttpd could not read. */
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     MHD_USE_TURBO | MHD_USE_ITC;
    unsigned threads = (unsigned)server->threads;
    const struct tls *tls = listener->is_tls ? server->tls : NULL;
    bool is_ours = handler == NULL;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_message, server},
        {MHD_OPTION_LISTEN_SOCKET, listener->fd, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)CONNECTION_MEMORY_BYTES, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)connection_limit(), NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(server->idle_timeout_ns / 1000000000), NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)request_on_unescape, NULL},
        /* A pool of one thread is not one. */
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_CONNECTION_MEMORY_INCREMENT,
         threads > 1 ? (intptr_t)threads : 1024, NULL},
        {is_ours ? MHD_OPTION_URI_LOG_CALLBACK : MHD_OPTION_END, (intptr_t)request_on_uri, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)request_on_completed, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection_on_notify, server},
        {tls != NULL ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0,
         tls != NULL ? tls->certificate : NULL},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, tls != NULL ? tls->key : NULL},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    /* A TLS connection is shut down, which tells the client that it was not cut. */
    if (tls != NULL)
        flags = (flags & ~(unsigned)MHD_USE_TURBO) | MHD_USE_TLS;
    listener->daemon = MHD_start_daemon(flags, 0, NULL, NULL, is_ours ? request_on_data : handler,
                                        ctx, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (listener->daemon == NULL)
        return fail(error, listener->address, "the HTTP threads could not be started");
    listener->fd = -1; /* the daemon's now */
    return true;
}

void listener_close(struct listener *listener)
{
    if (listener->daemon != NULL)
        MHD_stop_daemon(listener->daemon);
    if (listener->fd >= 0)
        (void)close(listener->fd);
    if (listener->unix_path != NULL)
        (void)unlink(listener->unix_path);
    free(listener->unix_path);
    memset(listener, 0, sizeof(*listener));
    listener->fd = -1;
}
