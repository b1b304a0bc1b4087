#include "sockets.h"

#include <sys/socket.h>
#include <sys/types.h>

bool sockets_send_all(int fd, const char *bytes, size_t len)
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

bool sockets_receive_all(int fd, char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t got = recv(fd, bytes, len, 0);
        if (got <= 0)
            return false;
        bytes += got;
        len -= (size_t)got;
    }
    return true;
}
