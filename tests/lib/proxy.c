/* One thread accepts and one serves each connection; they share the numbers below. */
#include "proxy.h"

#include "sockets.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct proxy {
    int listener;
    uint16_t port; /* of the server */
    char url[64];
    pthread_t thread;
    atomic_bool is_over;
    atomic_uint connections; /* being served */
    atomic_long passed[2];

    pthread_mutex_t lock; /* guards the rest */
    enum proxy_side side;
    long at, left;        /* bytes until the next cut */
    unsigned times, done; /* cuts that are to come, and that were */
};

struct route {
    struct proxy *proxy;
    int client;
};

const char *proxy_url(const struct proxy *proxy)
{
    return proxy->url;
}

long proxy_passed(const struct proxy *proxy, enum proxy_side side)
{
    return atomic_load(&proxy->passed[side]);
}

void proxy_cut(struct proxy *proxy, enum proxy_side side, long bytes, unsigned times)
{
    (void)pthread_mutex_lock(&proxy->lock);
    proxy->side = side;
    proxy->at = proxy->left = bytes;
    proxy->times = times;
    (void)pthread_mutex_unlock(&proxy->lock);
}

unsigned proxy_cuts(struct proxy *proxy)
{
    (void)pthread_mutex_lock(&proxy->lock);
    unsigned done = proxy->done;
    proxy->times = proxy->done = 0;
    (void)pthread_mutex_unlock(&proxy->lock);
    return done;
}

/* How many of these bytes may pass. *is_cut: out, the connection ends behind them. */
static size_t allow(struct proxy *proxy, enum proxy_side side, size_t len, bool *is_cut)
{
    *is_cut = false;
    (void)pthread_mutex_lock(&proxy->lock);
    if (proxy->times > 0 && proxy->side == side) {
        *is_cut = (long)len > proxy->left;
        if (*is_cut) {
            len = (size_t)proxy->left;
            proxy->left = proxy->at;
            proxy->times--;
            proxy->done++;
        } else {
            proxy->left -= (long)len;
        }
    }
    (void)pthread_mutex_unlock(&proxy->lock);
    return len;
}

/* Pass on what there is; false: the connection is over. */
static bool pass(struct proxy *proxy, enum proxy_side side, int from, int to)
{
    char bytes[65536];
    bool is_cut;
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    if (got <= 0)
        return false;
    size_t len = allow(proxy, side, (size_t)got, &is_cut);
    bool good = sockets_send_all(to, bytes, len);
    atomic_fetch_add(&proxy->passed[side], (long)len);
    return good && !is_cut;
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

static void *serve(void *user)
{
    struct route *route = user;
    struct proxy *proxy = route->proxy;
    struct pollfd fds[2] = {{.fd = route->client, .events = POLLIN},
                            {.fd = connect_to(proxy->port), .events = POLLIN}};
    bool good = fds[1].fd >= 0;
    while (good && !atomic_load(&proxy->is_over)) {
        if (poll(fds, 2, 50) <= 0)
            continue;
        if (fds[0].revents != 0)
            good = pass(proxy, PROXY_REQUEST, fds[0].fd, fds[1].fd);
        if (good && fds[1].revents != 0)
            good = pass(proxy, PROXY_ANSWER, fds[1].fd, fds[0].fd);
    }
    (void)close(fds[0].fd);
    if (fds[1].fd >= 0)
        (void)close(fds[1].fd);
    free(route);
    atomic_fetch_sub(&proxy->connections, 1);
    return NULL;
}

static void *accept_all(void *user)
{
    struct proxy *proxy = user;
    while (!atomic_load(&proxy->is_over)) {
        pthread_t thread;
        int client = accept(proxy->listener, NULL, NULL);
        if (client < 0)
            continue;
        struct route *route = malloc(sizeof(*route));
        if (route == NULL)
            abort();
        *route = (struct route){proxy, client};
        atomic_fetch_add(&proxy->connections, 1);
        if (pthread_create(&thread, NULL, serve, route) != 0)
            abort();
        (void)pthread_detach(thread);
    }
    return NULL;
}

static bool listen_somewhere(struct proxy *proxy)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (proxy->listener < 0 ||
        bind(proxy->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(proxy->listener, 64) != 0 ||
        getsockname(proxy->listener, (struct sockaddr *)&address, &len) != 0)
        return false;
    (void)snprintf(proxy->url, sizeof(proxy->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
    return true;
}

struct proxy *proxy_start(const char *url)
{
    const char *port = strrchr(url, ':');
    struct proxy *proxy = calloc(1, sizeof(*proxy));
    if (proxy == NULL || port == NULL)
        abort();
    proxy->port = (uint16_t)strtoul(port + 1, NULL, 10);
    (void)pthread_mutex_init(&proxy->lock, NULL);
    if (listen_somewhere(proxy) && pthread_create(&proxy->thread, NULL, accept_all, proxy) == 0)
        return proxy;
    free(proxy);
    return NULL;
}

void proxy_stop(struct proxy *proxy)
{
    atomic_store(&proxy->is_over, true);
    (void)shutdown(proxy->listener, SHUT_RDWR);
    (void)pthread_join(proxy->thread, NULL);
    (void)close(proxy->listener);
    while (atomic_load(&proxy->connections) > 0)
        (void)poll(NULL, 0, 5);
    (void)pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}
