/* The only file that knows how libmicrohttpd receives. */
#include "mhd_receive.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STEP_BYTES ((size_t)1 << 18)

typedef ssize_t recv_fn(int fd, void *to, size_t len, int flags);

SLIST_HEAD(receive_list, mhd_receive);

static _Thread_local struct receive_list active; /* zeros: an empty list */

/* The definition of the C library. Looked up once; never changed then. */
static recv_fn *real_recv(void)
{
    static _Atomic(recv_fn *) known;
    recv_fn *found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "recv");
        if (symbol == NULL)
            abort(); /* there is no C library */
        memcpy(&found, &symbol, sizeof(found));
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found;
}

void mhd_receive_start(struct mhd_receive *receive, int fd, char *to, size_t bytes)
{
    *receive = (struct mhd_receive){.fd = fd, .to = to, .left = bytes, .is_active = true};
    SLIST_INSERT_HEAD(&active, receive, entry);
}

/* When the server stops its threads have ended, and their lists with them: then it is in none. */
void mhd_receive_stop(struct mhd_receive *receive)
{
    const struct mhd_receive *other;
    bool is_here = false;
    SLIST_FOREACH(other, &active, entry)
    {
        is_here = is_here || other == receive;
    }
    if (is_here)
        SLIST_REMOVE(&active, receive, mhd_receive, entry);
    *receive = (struct mhd_receive){0};
}

bool mhd_receive_is_ahead(void)
{
    const struct mhd_receive *receive;
    SLIST_FOREACH(receive, &active, entry)
    {
        if (receive->untold > 0)
            return true;
    }
    return false;
}

static struct mhd_receive *find(int fd)
{
    struct mhd_receive *receive;
    SLIST_FOREACH(receive, &active, entry)
    {
        if (receive->fd == fd && (receive->left > 0 || receive->untold > 0))
            return receive;
    }
    return NULL;
}

/* What recv answers. */
static ssize_t receive_more(struct mhd_receive *receive, int flags)
{
    size_t asked = receive->left < STEP_BYTES ? receive->left : STEP_BYTES;
    ssize_t got = real_recv()(receive->fd, receive->to, asked, flags);
    if (got > 0) {
        receive->to += got;
        receive->left -= (size_t)got;
        receive->untold += (size_t)got;
    }
    return got;
}

/* Receive what is behind the body, after its last `told` bytes; how many bytes that are together.
 */
static ssize_t receive_behind(const struct mhd_receive *receive, char *to, size_t told, size_t room,
                              int flags)
{
    if (told == room)
        return (ssize_t)told;
    ssize_t got = real_recv()(receive->fd, to + told, room - told, flags);
    return (ssize_t)told + (got > 0 ? got : 0);
}

/* libmicrohttpd takes less than it has room for as a sign that there is no more, until epoll has
 * something new to tell. epoll may have told of it already while there were bytes to tell, so less
 * is answered only when the socket has just said itself that there is no more. */
static ssize_t tell(struct mhd_receive *receive, char *to, size_t room, int flags)
{
    size_t told = 0;
    while (told < room && (receive->untold > 0 || receive->left > 0)) {
        ssize_t got = receive->untold == 0 ? receive_more(receive, flags) : 1;
        if (got <= 0)
            return told > 0 ? (ssize_t)told : got;
        size_t part = receive->untold < room - told ? receive->untold : room - told;
        receive->untold -= part;
        told += part;
    }
    return receive_behind(receive, to, told, room, flags);
}

ssize_t recv(int fd, void *to, size_t len, int flags)
{
    struct mhd_receive *receive = SLIST_EMPTY(&active) ? NULL : find(fd);
    if (receive == NULL || (flags & MSG_PEEK) != 0)
        return real_recv()(fd, to, len, flags);
    return tell(receive, to, len, flags);
}
