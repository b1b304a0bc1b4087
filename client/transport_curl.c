/* The transport over libcurl. Each thread has one easy handle, so connections are kept alive
 * without locks; a destructor of the thread frees it. Requests may name another one, which is its
 * owner's to guard. The environment's proxies are not used. */
#include "transport.h"

#include "error.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define ANSWER_BYTES_MAX ((size_t)SOMA_JSON_BODY_BYTES_MAX)
#define ANSWER_BYTES_KEPT ((size_t)1 << 20) /* a larger buffer is not kept for the next answer */
#define LARGE_BYTES ((size_t)1 << 17)       /* more is sent and received in larger pieces */
#define RECEIVE_BUFFER_BYTES 524288L
#define SEND_BUFFER_BYTES 262144L /* libcurl copies through it: it stays in a processor's cache */
#define ATTEMPTS_MAX 4            /* of one request */
#define UNIX_SEND_BYTES (1 << 20) /* on their way at once; the system may allow less */
#define EXACT_BYTES_MAX ((size_t)1 << 20) /* up to here the timeout holds for the whole request */

/* What is kept between requests, and what callbacks need during one. */
struct client_connection {
    CURL *easy;
    unsigned generation; /* of the process: see client_curl_forked */
    char *body;          /* answer of the last request; owned */
    size_t len, capacity;

    const struct client_endpoint *endpoint; /* during a request */
    const struct client_request *request;
    size_t into_len;       /* bytes written to request->into */
    size_t received;       /* bytes of the answer's body */
    size_t sent;           /* bytes of the request's body, when it has a tail */
    bool is_into;          /* the answer goes there */
    bool is_too_large;     /* the answer does not fit */
    bool is_dead;          /* the service did not answer at /livez */
    int socket_error;      /* errno: the process gets no further socket */
    int64_t last_ms;       /* when bytes moved, or the service last proved to live */
    curl_off_t last_bytes; /* moved by then, both ways */
    char text[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static bool has_key;
static _Atomic unsigned generation;

static size_t padded(size_t len)
{
    return (len + 7) / 8 * 8;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void connection_destroy(void *ptr)
{
    struct client_connection *connection = ptr;
    if (connection->easy != NULL)
        curl_easy_cleanup(connection->easy);
    free(connection->body);
    free(connection);
}

void client_connection_end(struct client_connection *connection)
{
    if (connection != NULL)
        connection_destroy(connection);
}

static void init_once(void)
{
    has_key = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
              pthread_key_create(&thread_key, connection_destroy) == 0;
}

void client_curl_forked(void)
{
    atomic_fetch_add(&generation, 1);
}

void client_curl_thread_end(void)
{
    struct client_connection *connection = has_key ? pthread_getspecific(thread_key) : NULL;
    if (connection == NULL)
        return;
    (void)pthread_setspecific(thread_key, NULL);
    connection_destroy(connection);
}

/* NULL: no memory. */
static struct client_connection *connection_create(void)
{
    struct client_connection *connection = calloc(1, sizeof(*connection));
    if (connection == NULL)
        return NULL;
    connection->easy = curl_easy_init();
    connection->generation = atomic_load(&generation);
    if (connection->easy != NULL)
        return connection;
    connection_destroy(connection);
    return NULL;
}

/* The thread's connection; NULL: no memory. */
static struct client_connection *connection_of_thread(void)
{
    struct client_connection *connection = pthread_getspecific(thread_key);
    if (connection != NULL && connection->generation != atomic_load(&generation)) {
        client_curl_thread_end();
        connection = NULL;
    }
    if (connection != NULL)
        return connection;
    connection = connection_create();
    if (connection == NULL || pthread_setspecific(thread_key, connection) == 0)
        return connection;
    connection_destroy(connection);
    return NULL;
}

/* The connection for the request; NULL: no memory. */
static struct client_connection *connection_get(const struct client_request *request)
{
    (void)pthread_once(&once, init_once);
    if (!has_key)
        return NULL;
    if (request->connection == NULL)
        return connection_of_thread();
    if (*request->connection == NULL)
        *request->connection = connection_create();
    return *request->connection;
}

/* ---- callbacks ---- */

static bool body_grow(struct client_connection *connection, size_t more)
{
    if (more > ANSWER_BYTES_MAX - connection->len)
        return false;
    size_t need = connection->len + more;
    if (need <= connection->capacity)
        return true;
    size_t capacity = connection->capacity < 1024 ? 1024 : connection->capacity;
    while (capacity < need)
        capacity *= 2;
    char *body = realloc(connection->body, capacity);
    if (body == NULL)
        return false;
    connection->body = body;
    connection->capacity = capacity;
    return true;
}

/* Whether the answer is the one that request->into is for; known when its head is there. */
static bool is_for_into(const struct client_connection *connection)
{
    const struct client_request *request = connection->request;
    long http = 0;
    curl_off_t length = -1;
    if (request->into == NULL)
        return false;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &http);
    (void)curl_easy_getinfo(connection->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    size_t whole = request->into_at + padded(request->into_len);
    return http == 200 && (request->into_at == 0 || length == (curl_off_t)whole);
}

/* Take bytes to request->into; what stands behind them is padding. */
static bool take_into(struct client_connection *connection, const char *ptr, size_t len)
{
    const struct client_request *request = connection->request;
    size_t room = request->into_len - connection->into_len;
    if (len > room && request->into_at == 0)
        return false;
    memcpy((char *)request->into + connection->into_len, ptr, len < room ? len : room);
    connection->into_len += len < room ? len : room;
    return true;
}

static bool take_body(struct client_connection *connection, const char *ptr, size_t len)
{
    if (!body_grow(connection, len))
        return false;
    memcpy(connection->body + connection->len, ptr, len);
    connection->len += len;
    return true;
}

static size_t on_bytes(char *ptr, size_t size, size_t count, void *user)
{
    struct client_connection *connection = user;
    size_t len = size * count, to_body = len;
    if (connection->received == 0)
        connection->is_into = is_for_into(connection);
    if (connection->is_into) {
        size_t at = connection->request->into_at;
        size_t before = connection->received < at ? at - connection->received : 0;
        to_body = len < before ? len : before;
    }
    bool good = take_body(connection, ptr, to_body) &&
                (to_body == len || take_into(connection, ptr + to_body, len - to_body));
    connection->is_too_large = !good;
    connection->received += len;
    return good ? len : 0;
}

/* The next bytes of a body with a tail. */
static size_t on_send(char *to, size_t size, size_t count, void *user)
{
    struct client_connection *connection = user;
    const struct client_request *request = connection->request;
    size_t at = connection->sent, room = size * count, len = room;
    if (at < request->body_len) {
        len = room < request->body_len - at ? room : request->body_len - at;
        memcpy(to, (const char *)request->body + at, len);
    } else if (at - request->body_len < request->tail_len) {
        at -= request->body_len;
        len = room < request->tail_len - at ? room : request->tail_len - at;
        memcpy(to, (const char *)request->tail + at, len);
    } else {
        size_t left = request->body_len + padded(request->tail_len) - at;
        len = room < left ? room : left;
        memset(to, 0, len);
    }
    connection->sent += len;
    return len;
}

/* libcurl begins anew on another connection. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
    struct client_connection *connection = user;
    connection->sent = (size_t)offset;
    return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK;
}

/* Programs that a program starts must not inherit the connection. *user: why there is no socket. */
static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    const int bytes = UNIX_SEND_BYTES;
    int *error = user;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    *error = fd < 0 ? errno : 0;
    if (fd >= 0 && address->family == AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* socket_error: see on_socket; stays until the request is over */
static void set_common(CURL *easy, const struct client_endpoint *endpoint, int *socket_error)
{
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, socket_error);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (endpoint->unix_path[0] != '\0')
        (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, endpoint->unix_path);
}

static size_t on_ignored_bytes(char *ptr, size_t size, size_t count, void *user)
{
    (void)ptr;
    (void)user;
    return size * count;
}

static long timeout_of(const struct client_endpoint *endpoint, const struct client_request *request)
{
    return request->patience_ms > 0 ? request->patience_ms : endpoint->timeout_ms;
}

/* Whether GET /livez is answered within timeout_ms, on a connection of its own. */
static bool is_alive(const struct client_endpoint *endpoint, long timeout_ms)
{
    CURL *easy = curl_easy_init();
    if (easy == NULL)
        return true; /* no memory to find out */
    int socket_error = 0;
    char url[sizeof(endpoint->url) + 16];
    (void)snprintf(url, sizeof(url), "%s/livez", endpoint->url);
    set_common(easy, endpoint, &socket_error);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_ignored_bytes);
    bool alive = curl_easy_perform(easy) == CURLE_OK || socket_error != 0; /* nor no socket */
    curl_easy_cleanup(easy);
    return alive;
}

/* Called by libcurl about once a second and whenever bytes move: ends a request whose service is
 * silent. Half of the timeout passes before a probe and half is the probe's, so that a service
 * that died is noticed within the timeout. */
static int on_progress(void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    struct client_connection *connection = user;
    const struct client_request *request = connection->request;
    (void)down_all;
    (void)up_all;
    if (request->cancel != NULL && atomic_load(request->cancel))
        return 1;
    int64_t now = now_ms();
    if (up + down != connection->last_bytes) {
        connection->last_bytes = up + down;
        connection->last_ms = now;
        return 0;
    }
    long timeout_ms = timeout_of(connection->endpoint, request);
    long patience_ms = request->waits ? (timeout_ms + 1) / 2 : timeout_ms;
    if (now - connection->last_ms < patience_ms)
        return 0;
    if (request->waits && is_alive(connection->endpoint, patience_ms)) {
        connection->last_ms = now_ms();
        return 0;
    }
    connection->is_dead = true;
    return 1;
}

/* ---- one request ---- */

static bool add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist *list = curl_slist_append(*headers, line);
    if (list == NULL)
        return false;
    *headers = list;
    return true;
}

static bool make_headers(struct curl_slist **headers, const struct client_endpoint *endpoint,
                         const struct client_request *request, const char *key)
{
    char line[320];
    bool good = add_header(headers, "Expect:"); /* no 100-continue round trip */
    if (request->session != NULL) {
        (void)snprintf(line, sizeof(line), "Soma-Session: %s", request->session);
        good = good && add_header(headers, line);
    }
    if (key != NULL) {
        (void)snprintf(line, sizeof(line), "Idempotency-Key: %s", key);
        good = good && add_header(headers, line);
    }
    if (request->content_type != NULL) {
        (void)snprintf(line, sizeof(line), "Content-Type: %s", request->content_type);
        good = good && add_header(headers, line);
    }
    if (endpoint->authorization[0] != '\0')
        good = good && add_header(headers, endpoint->authorization);
    return good;
}

static void set_tail(struct client_connection *connection)
{
    const struct client_request *request = connection->request;
    size_t len = request->body_len + padded(request->tail_len);
    (void)curl_easy_setopt(connection->easy, CURLOPT_POSTFIELDS, NULL);
    (void)curl_easy_setopt(connection->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    (void)curl_easy_setopt(connection->easy, CURLOPT_READFUNCTION, on_send);
    (void)curl_easy_setopt(connection->easy, CURLOPT_READDATA, connection);
    (void)curl_easy_setopt(connection->easy, CURLOPT_SEEKFUNCTION, on_seek);
    (void)curl_easy_setopt(connection->easy, CURLOPT_SEEKDATA, connection);
}

static void set_method(CURL *easy, const struct client_request *request)
{
    if (request->method == SOMA_METHOD_GET) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    if (request->method == SOMA_METHOD_DELETE && request->content_type == NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
        return;
    }
    (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                           request->body_len > 0 ? request->body : (const void *)"");
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
    if (request->method != SOMA_METHOD_POST)
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, soma_method_name(request->method));
}

/* Whether the connection ended within the head of the answer, which libcurl takes for an answer. */
static bool is_cut_short(CURL *easy)
{
    long http = 0;
    curl_off_t length = -1;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length < 0 && http != 204;
}

static CURLcode perform(struct client_connection *connection, const char *url,
                        struct curl_slist *headers, long left_ms)
{
    CURL *easy = connection->easy;
    const struct client_request *request = connection->request;
    curl_easy_reset(easy); /* options only: connections stay */
    set_common(easy, connection->endpoint, &connection->socket_error);
    connection->socket_error = 0;
    set_method(easy, request);
    if (request->tail_len > 0)
        set_tail(connection);
    if (request->body_len + request->tail_len > LARGE_BYTES)
        (void)curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BUFFER_BYTES);
    if (request->into_len > LARGE_BYTES)
        (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER_BYTES);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, connection->text);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, connection);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, connection);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, left_ms);
    if (!request->waits &&
        request->body_len + request->tail_len + request->into_len <= EXACT_BYTES_MAX)
        (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, left_ms);
    connection->len = 0;
    connection->into_len = 0;
    connection->received = connection->sent = 0;
    connection->is_into = false;
    connection->is_too_large = false;
    connection->is_dead = false;
    connection->last_ms = now_ms();
    connection->last_bytes = 0;
    connection->text[0] = '\0';
    CURLcode code = curl_easy_perform(easy);
    return code == CURLE_OK && is_cut_short(easy) ? CURLE_PARTIAL_FILE : code;
}

/* The connection broke: the service may have run the request or not. */
static bool is_lost(CURLcode code)
{
    return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_PARTIAL_FILE;
}

/* A balancer answers for the service: the request may have run or not, and when the service is gone
 * the next answer says so. */
static bool is_unavailable(const struct client_connection *connection, CURLcode code)
{
    long http = 0;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &http);
    return code == CURLE_OK && http == 503;
}

/* What keeps the client from the server; the system's word where it refused, because libcurl tells
 * of a host and a port for unix sockets too. */
static const char *reason(const struct client_connection *connection, CURLcode code)
{
    long error = 0;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_OS_ERRNO, &error);
    if (code == CURLE_COULDNT_CONNECT && error != 0)
        return strerror((int)error);
    return connection->text[0] != '\0' ? connection->text : curl_easy_strerror(code);
}

static aclError fail_unreachable(const struct client_connection *connection, CURLcode code)
{
    const struct client_endpoint *endpoint = connection->endpoint;
    if (connection->is_too_large)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "the answer of %s is longer than it may be: is it a soma server?",
                           endpoint->where);
    if (connection->is_dead || code == CURLE_OPERATION_TIMEDOUT)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "no answer from the soma server at %s within %ld ms: check that it "
                           "runs, set SOMA_SERVER to where it is, or SOMA_TIMEOUT_MS to more",
                           endpoint->where, endpoint->timeout_ms);
    if (code == CURLE_COULDNT_CONNECT && connection->socket_error != 0)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "no socket for a connection to the soma server at %s: %s; close "
                           "descriptors or raise their limit (ulimit -n)",
                           endpoint->where, strerror(connection->socket_error));
    return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                       "cannot reach the soma server at %s: %.200s; check that it runs, set "
                       "SOMA_SERVER to where it is, or unset it to have one of your own",
                       endpoint->where, reason(connection, code));
}

static aclError finish(struct client_connection *connection, struct client_answer *answer)
{
    long http = 0;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &http);
    const struct client_request *request = connection->request;
    bool needs_into = request->into != NULL && http == 200 && request->into_at == 0;
    if ((needs_into || connection->is_into) && connection->into_len != request->into_len)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "%s answered %zu bytes where %zu were asked for: is it a soma server?",
                           connection->endpoint->where, connection->into_len, request->into_len);
    answer->http = (int)http;
    answer->body = connection->len > 0 ? connection->body : "";
    answer->len = connection->len;
    answer->is_into = connection->is_into;
    return ACL_SUCCESS;
}

aclError client_curl_send(const struct client_endpoint *endpoint,
                          const struct client_request *request, const char *key,
                          struct client_answer *answer)
{
    struct client_connection *connection = connection_get(request);
    struct curl_slist *headers = NULL;
    if (connection == NULL || !make_headers(&headers, endpoint, request, key)) {
        curl_slist_free_all(headers);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a request");
    }
    if (connection->capacity > ANSWER_BYTES_KEPT) {
        free(connection->body);
        connection->body = NULL;
        connection->capacity = 0;
    }
    connection->endpoint = endpoint;
    connection->request = request;
    char url[sizeof(endpoint->url) + 256];
    (void)snprintf(url, sizeof(url), "%s%s", endpoint->url, request->path);
    int64_t start_ms = now_ms();
    long timeout_ms = timeout_of(endpoint, request), left_ms = timeout_ms;
    CURLcode code = perform(connection, url, headers, left_ms);
    for (int i = 1; i < ATTEMPTS_MAX && (is_lost(code) || is_unavailable(connection, code)); i++) {
        left_ms = request->waits ? timeout_ms : timeout_ms - (long)(now_ms() - start_ms);
        if (left_ms <= 0)
            break;
        code = perform(connection, url, headers, left_ms);
    }
    curl_slist_free_all(headers);
    aclError error =
        code == CURLE_OK ? finish(connection, answer) : fail_unreachable(connection, code);
    connection->endpoint = NULL;
    connection->request = NULL;
    return error;
}
