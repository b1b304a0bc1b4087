/* Blocking sockets with poll for the deadline. */
#include "raw.h"

#include "sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int raw_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool raw_send_text(int fd, const char *text)
{
    return sockets_send_all(fd, text, strlen(text));
}

static long now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool raw_read(int fd, char *buf, const char *until, unsigned timeout_ms)
{
    size_t len = 0;
    long deadline = now_ms() + timeout_ms;
    buf[0] = '\0';
    while (len + 1 < RAW_BYTES) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        long left = deadline - now_ms();
        if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
            return false;
        ssize_t got = recv(fd, buf + len, RAW_BYTES - 1 - len, 0);
        if (got <= 0)
            return true;
        len += (size_t)got;
        buf[len] = '\0';
        if (until != NULL && strstr(buf, until) != NULL)
            return false;
    }
    return false;
}

long raw_status(const char *buf)
{
    const char *space = strncmp(buf, "HTTP/1.", 7) == 0 ? strchr(buf, ' ') : NULL;
    return space != NULL ? strtol(space, NULL, 10) : 0;
}

const char *raw_body(const char *buf)
{
    const char *end = strstr(buf, "\r\n\r\n");
    return end != NULL ? end + 4 : "";
}
