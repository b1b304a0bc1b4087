/* The other side is a process that reads blocks into memory and answers each with a byte. */
#include "loopback.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static _Noreturn void receive(int listener, char *block, size_t bytes)
{
    int fd = accept(listener, NULL, NULL);
    size_t len = 0;
    ssize_t got;
    while ((got = recv(fd, block + len, bytes - len, 0)) > 0) {
        len = (len + (size_t)got) % bytes;
        if (len == 0 && !send_all(fd, "", 1))
            break;
    }
    _exit(0);
}

static int listen_somewhere(struct sockaddr_in *address)
{
    socklen_t len = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && bind(fd, (struct sockaddr *)address, len) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)address, &len) == 0)
        return fd;
    return -1;
}

static bool send_blocks(int fd, const char *block, size_t bytes, double seconds, double *rate)
{
    double start = bench_now(), now = start, sent = 0;
    char byte;
    while (now - start < seconds) {
        if (!send_all(fd, block, bytes) || recv(fd, &byte, 1, 0) != 1)
            return bench_fail("the loopback connection was lost");
        sent += (double)bytes;
        now = bench_now();
    }
    *rate = sent / (now - start) / 1e9;
    return true;
}

bool loopback_measure(size_t bytes, double seconds, struct bench_series *rates)
{
    struct sockaddr_in address;
    double rate = 0;
    char *block = malloc(bytes);
    int listener = listen_somewhere(&address);
    if (block == NULL || listener < 0)
        return bench_fail("no loopback socket");
    memset(block, 7, bytes);
    pid_t child = fork();
    if (child == 0)
        receive(listener, block, bytes);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = child > 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                send_blocks(fd, block, bytes, seconds, &rate);
    if (good)
        bench_series_add(rates, rate);
    (void)close(fd);
    (void)close(listener);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    free(block);
    return good;
}
