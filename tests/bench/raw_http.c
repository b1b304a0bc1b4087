/* Answers of somad always have Content-Length, or are 204 and have nothing. */
#include "raw_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BUF_BYTES_FIRST ((size_t)4096)
#define ANSWER_BYTES_MAX ((size_t)1 << 31)

/* ---- connecting ---- */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static int connect_tcp(const char *host_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64];
    int on = 1;
    const char *colon = strrchr(host_port, ':');
    if (colon == NULL || (size_t)(colon - host_port) >= sizeof(host))
        return -1;
    (void)snprintf(host, sizeof(host), "%.*s", (int)(colon - host_port), host_port);
    address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool raw_http_connect(struct raw_http *http, const char *url)
{
    http->fd = -1;
    http->len = 0;
    if (strncmp(url, "unix:", 5) == 0)
        http->fd = connect_unix(url + 5);
    else if (strncmp(url, "http://", 7) == 0)
        http->fd = connect_tcp(url + 7);
    return http->fd >= 0;
}

void raw_http_close(struct raw_http *http)
{
    if (http->fd >= 0)
        (void)close(http->fd);
    free(http->buf);
    *http = (struct raw_http){.fd = -1};
}

bool raw_http_set_nonblocking(struct raw_http *http)
{
    return fcntl(http->fd, F_SETFL, O_NONBLOCK) == 0;
}

/* ---- sending ---- */

bool raw_http_send(const struct raw_http *http, const void *request, size_t len)
{
    const char *at = request;
    while (len > 0) {
        ssize_t sent = send(http->fd, at, len, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            len -= (size_t)sent;
            continue;
        }
        struct pollfd ready = {.fd = http->fd, .events = POLLOUT};
        if (errno != EAGAIN && errno != EINTR)
            return false;
        (void)poll(&ready, 1, 1000);
    }
    return true;
}

/* ---- receiving ---- */

static bool starts_with(const char *line, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    return len >= name_len && strncasecmp(line, name, name_len) == 0;
}

/* One header line. false: a number that is none. */
static bool read_line(const char *line, size_t len, struct raw_answer *answer)
{
    static const char length[] = "Content-Length: ";
    if (starts_with(line, len, length)) {
        char *end;
        answer->body_len = strtoul(line + sizeof(length) - 1, &end, 10);
        return end == line + len && answer->body_len < ANSWER_BYTES_MAX;
    }
    if (starts_with(line, len, "Connection: close"))
        answer->closes = true;
    else if (starts_with(line, len, "Idempotent-Replayed: true"))
        answer->is_replay = true;
    return true;
}

/* The bytes of the header with the empty line behind it; 0: not all there; SIZE_MAX: no HTTP. */
static size_t read_header(const struct raw_http *http, struct raw_answer *answer)
{
    const char *end = memmem(http->buf, http->len, "\r\n\r\n", 4);
    const char *line = http->buf;
    if (end == NULL)
        return 0;
    *answer = (struct raw_answer){.status = 0};
    if (!starts_with(line, http->len, "HTTP/1.1 ") || line[12] != ' ')
        return SIZE_MAX;
    answer->status = (int)strtol(line + 9, NULL, 10);
    while (line < end) {
        const char *next = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);
        if (!read_line(line, (size_t)(next - line), answer))
            return SIZE_MAX;
        line = next + 2;
    }
    return (size_t)(end + 4 - http->buf);
}

/* Room for `needed` bytes and a NUL, which ends numbers in a torn header. */
static bool reserve(struct raw_http *http, size_t needed)
{
    size_t capacity = http->capacity > 0 ? http->capacity : BUF_BYTES_FIRST;
    if (needed < http->capacity)
        return true;
    while (capacity <= needed)
        capacity *= 2;
    char *buf = capacity > 2 * ANSWER_BYTES_MAX ? NULL : realloc(http->buf, capacity);
    if (buf == NULL)
        return false;
    http->buf = buf;
    http->capacity = capacity;
    return true;
}

enum raw_outcome raw_http_receive(struct raw_http *http, struct raw_answer *answer)
{
    if (!reserve(http, http->len + 1))
        return RAW_BAD;
    ssize_t got = recv(http->fd, http->buf + http->len, http->capacity - 1 - http->len, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? RAW_MORE : RAW_BAD;
    if (got == 0)
        return RAW_BAD;
    http->len += (size_t)got;
    http->buf[http->len] = '\0';
    size_t header = read_header(http, answer);
    if (header == SIZE_MAX)
        return RAW_BAD;
    if (header == 0 || http->len < header + answer->body_len) {
        bool has_room = reserve(http, header == 0 ? http->len + 1 : header + answer->body_len);
        return has_room ? RAW_MORE : RAW_BAD;
    }
    if (http->len > header + answer->body_len)
        return RAW_BAD; /* nobody asked for more */
    answer->body = http->buf + header;
    http->len = 0;
    return RAW_DONE;
}

bool raw_http_exchange(struct raw_http *http, const void *request, size_t len,
                       struct raw_answer *answer)
{
    enum raw_outcome outcome = RAW_BAD;
    if (raw_http_send(http, request, len)) {
        do
            outcome = raw_http_receive(http, answer);
        while (outcome == RAW_MORE);
    }
    return outcome == RAW_DONE;
}
