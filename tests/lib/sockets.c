#include "sockets.h"

#include <sys/socket.h>
#include <sys/types.h>

bool sockets_send_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

bool sockets_receive_all(int fd, void *bytes, size_t len)
{
    char *at = bytes;
    while (len > 0) {
        ssize_t got = recv(fd, at, len, 0);
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}
