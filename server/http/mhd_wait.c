/* The only file that knows how libmicrohttpd waits. */
#include "mhd_wait.h"

#include "mhd_receive.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

typedef int wait_fn(int epfd, struct epoll_event *events, int max_events, int timeout);

/* While there are bytes to tell (mhd_receive.h), so many times at most there is work without asking
 * epoll; then other connections have their turn. */
enum { UNASKED_MAX = 8 };

static _Thread_local bool is_marked;
static _Thread_local unsigned unasked; /* times in a row */
static _Thread_local bool was_full;    /* the marked thread's last call; it has one epoll set */

void mhd_wait_mark_thread(void)
{
    is_marked = true;
}

/* The definition of the C library. Looked up once; never changed then. */
static wait_fn *real_wait(void)
{
    static _Atomic(wait_fn *) known;
    wait_fn *found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "epoll_wait");
        if (symbol == NULL)
            abort(); /* there is no C library */
        memcpy(&found, &symbol, sizeof(found));
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found;
}

int epoll_wait(int epfd, struct epoll_event *events, int max_events, int timeout)
{
    bool has_work = is_marked && mhd_receive_is_ahead();
    if (has_work && unasked < UNASKED_MAX) {
        unasked++;
        return 0;
    }
    unasked = 0;
    int count = real_wait()(epfd, events, max_events, was_full || has_work ? 0 : timeout);
    was_full = is_marked && count == max_events;
    return count;
}
