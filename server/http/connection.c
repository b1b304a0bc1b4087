/* The list of connections serves the sweep and the metrics; it is locked when one comes or goes. */
#include "connection.h"

#include "metrics.h"
#include "mhd_errors.h"
#include "mhd_wait.h"
#include "reply.h"
#include "tls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ARRIVAL_BYTES_PER_S 65536u /* the slowest body that is waited for, on average */
#define UNIX_SEND_BYTES (1 << 20)  /* on their way at once; the system may allow less */
#define NS_PER_S UINT64_C(1000000000)

void connection_enter(struct connection *conn, enum connection_stage stage, uint64_t now_ns)
{
    atomic_store_explicit(&conn->since_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&conn->stage, (int)stage, memory_order_release);
}

/* With the little that a unix socket holds by itself both sides sleep and wake for each of it. TCP
 * finds its own measure. */
static void enlarge(int fd)
{
    const int bytes = UNIX_SEND_BYTES;
    int domain = 0;
    socklen_t len = sizeof(domain);
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static struct connection *accept_connection(struct soma_server *server, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *conn = calloc(1, sizeof(*conn));
    if (conn == NULL || info == NULL) {
        free(conn);
        return NULL;
    }
    conn->server = server;
    conn->mhd = mhd;
    conn->fd = info->connect_fd;
    enlarge(conn->fd);
    conn->is_tls = tls_is_used(mhd);
    connection_enter(conn, CONNECTION_IDLE, monotonic_ns());
    (void)pthread_mutex_lock(&server->connections_lock);
    conn->shard = server->next_shard++ % METRICS_SHARDS;
    TAILQ_INSERT_TAIL(&server->connections, conn, entry);
    (void)pthread_mutex_unlock(&server->connections_lock);
    return conn;
}

uint64_t connections_active(struct soma_server *server)
{
    uint64_t count = 0;
    struct connection *conn;
    (void)pthread_mutex_lock(&server->connections_lock);
    TAILQ_FOREACH(conn, &server->connections, entry)
    count += atomic_load_explicit(&conn->stage, memory_order_acquire) != CONNECTION_IDLE;
    (void)pthread_mutex_unlock(&server->connections_lock);
    return count;
}

/* Whether the client still has its side open. */
static bool is_peer_there(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

/* libmicrohttpd closes connections whose request line it cannot split without a word. That is what
 * happened when the connection ends though neither side wanted it to, and not for being idle. With
 * TLS nothing can be told any more at that time. */
static bool is_unreadable(const struct connection *conn)
{
    uint64_t idle_ns = monotonic_ns() - atomic_load(&conn->since_ns);
    return !conn->closes && !conn->is_tls && !atomic_load(&conn->server->is_stopping) &&
           idle_ns < conn->server->idle_timeout_ns && is_peer_there(conn->fd);
}

static void close_connection(struct soma_server *server, struct connection *conn)
{
    if (is_unreadable(conn)) {
        struct soma_error error;
        (void)soma_fail(&error, SOMA_BAD_REQUEST, "",
                        "the request line is not METHOD PATH HTTP/1.1");
        mhd_send_error(conn, &error);
        metrics_count_request(server->metrics, conn->shard, NULL,
                              soma_status_info(SOMA_BAD_REQUEST)->http, SOMA_BAD_REQUEST, 0);
    }
    (void)pthread_mutex_lock(&server->connections_lock);
    TAILQ_REMOVE(&server->connections, conn, entry);
    (void)pthread_mutex_unlock(&server->connections_lock);
    reply_forget(conn);
    free(conn->request.body);
    free(conn);
}

void connection_on_notify(void *cls, struct MHD_Connection *mhd, void **ctx,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        mhd_wait_mark_thread();
        *ctx = accept_connection(cls, mhd);
    } else if (*ctx != NULL) {
        close_connection(cls, *ctx);
        *ctx = NULL;
    }
}

/* Marks of poll for a client that has closed its side. */
#define GONE_MARKS (POLLRDHUP | POLLHUP | POLLERR)

/* Idle connections are libmicrohttpd's to close; one that is idle for twice its time sends a
 * request line bit by bit. */
static bool is_overdue(struct connection *conn, uint64_t now_ns)
{
    uint64_t since_ns = atomic_load_explicit(&conn->since_ns, memory_order_relaxed);
    uint64_t received = atomic_load_explicit(&conn->received, memory_order_relaxed);
    uint64_t timeout_ns = conn->server->idle_timeout_ns;
    int stage = atomic_load_explicit(&conn->stage, memory_order_relaxed);
    uint64_t allowed_ns = stage == CONNECTION_RECEIVING
                              ? timeout_ns + received / ARRIVAL_BYTES_PER_S * NS_PER_S
                              : 2 * timeout_ns;
    return stage != CONNECTION_BUSY && now_ns > since_ns && now_ns - since_ns > allowed_ns;
}

/* End reading, so that libmicrohttpd sees the end of the connection. It misses the client's own
 * when that comes together with its last bytes, because epoll tells it once for both; and it misses
 * this one, too, when it is reading at that moment. So reading is ended again at each sweep, which
 * is told again, as long as the connection is there. */
static void end_reading(const struct connection *conn)
{
    (void)shutdown(conn->fd, SHUT_RD);
}

/* With the list locked: what poll says of each connection, in order; NULL: no memory. */
static struct pollfd *poll_all(struct soma_server *server)
{
    size_t count = 0, i = 0;
    struct connection *conn;
    TAILQ_FOREACH(conn, &server->connections, entry)
    {
        count++;
    }
    struct pollfd *polls = calloc(count + 1, sizeof(*polls));
    if (polls == NULL)
        return NULL;
    TAILQ_FOREACH(conn, &server->connections, entry)
    {
        polls[i++] = (struct pollfd){.fd = conn->fd, .events = POLLRDHUP};
    }
    (void)poll(polls, count, 0);
    return polls;
}

void connections_sweep(struct soma_server *server, uint64_t now_ns)
{
    struct connection *conn;
    size_t i = 0;
    (void)pthread_mutex_lock(&server->connections_lock);
    struct pollfd *polls = poll_all(server);
    TAILQ_FOREACH(conn, &server->connections, entry)
    {
        bool is_gone = polls != NULL && (polls[i].revents & GONE_MARKS) != 0;
        bool is_busy = atomic_load_explicit(&conn->stage, memory_order_relaxed) == CONNECTION_BUSY;
        i++;
        if (is_overdue(conn, now_ns)) {
            atomic_store_explicit(&conn->is_overdue, true, memory_order_relaxed);
            end_reading(conn);
        } else if (is_gone && !is_busy) {
            end_reading(conn);
        }
    }
    (void)pthread_mutex_unlock(&server->connections_lock);
    free(polls);
}
