/* The other side is a process of its own. Blocks that it sends are asked for by a byte; those that
 * it receives it answers with one. */
#include "socket_peer.h"

#include "sockets.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One block and the byte that goes the other way, on the side that leads. */
static bool exchange(const struct socket_peer *peer, int fd, char *block)
{
    char byte = 0;
    if (peer->is_out)
        return sockets_send_all(fd, block, peer->bytes) && sockets_receive_all(fd, &byte, 1);
    return sockets_send_all(fd, &byte, 1) && sockets_receive_all(fd, block, peer->bytes);
}

static _Noreturn void follow(const struct socket_peer *peer, int fd, char *block)
{
    bool good = true;
    char byte = 0;
    while (good) {
        if (peer->is_out)
            good = sockets_receive_all(fd, block, peer->bytes) && sockets_send_all(fd, &byte, 1);
        else
            good = sockets_receive_all(fd, &byte, 1) && sockets_send_all(fd, block, peer->bytes);
    }
    _exit(0);
}

static bool connect_over_loopback(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = listener >= 0 && ends[0] >= 0 &&
                bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&address, &len) == 0 &&
                connect(ends[0], (struct sockaddr *)&address, len) == 0;
    ends[1] = good ? accept(listener, NULL, NULL) : -1;
    (void)close(listener);
    if (!good)
        (void)close(ends[0]);
    return good && ends[1] >= 0;
}

static bool lead(const struct socket_peer *peer, int fd, char *block, double seconds, double *rate)
{
    if (!exchange(peer, fd, block)) /* not timed: the other side touches its memory */
        return bench_fail("the connection of the plain socket was lost");
    double start = bench_now(), now = start, moved = 0;
    while (now - start < seconds) {
        if (!exchange(peer, fd, block))
            return bench_fail("the connection of the plain socket was lost");
        moved += (double)peer->bytes;
        now = bench_now();
    }
    *rate = moved / (now - start) / 1e9;
    return true;
}

bool socket_peer_measure(const struct socket_peer *peer, double seconds, struct bench_series *rates)
{
    int ends[2];
    double rate = 0;
    char *block = malloc(peer->bytes);
    bool is_connected = peer->is_unix
                            ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0
                            : connect_over_loopback(ends);
    if (block == NULL || !is_connected) {
        free(block);
        return bench_fail("no plain socket");
    }
    memset(block, 7, peer->bytes);
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        memset(block, 8, peer->bytes); /* pages of its own */
        follow(peer, ends[1], block);
    }
    (void)close(ends[1]);
    bool good = child > 0 && lead(peer, ends[0], block, seconds, &rate);
    if (good)
        bench_series_add(rates, rate);
    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    free(block);
    return good;
}
