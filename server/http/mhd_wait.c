/* The only file that knows how libmicrohttpd waits. */
#include "mhd_wait.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

typedef int wait_fn(int epfd, struct epoll_event *events, int max_events, int timeout);

static _Atomic(wait_fn *) real_wait; /* of the C library; NULL: not looked for yet */

void mhd_wait_prepare(void)
{
    wait_fn *found;
    void *symbol = dlsym(RTLD_NEXT, "epoll_wait");
    if (symbol == NULL)
        abort(); /* there is no C library */
    memcpy(&found, &symbol, sizeof(found));
    atomic_store_explicit(&real_wait, found, memory_order_relaxed);
}

int epoll_wait(int epfd, struct epoll_event *events, int max_events, int timeout)
{
    static _Thread_local int full_epfd = -1; /* of the thread's last call, if it came back full */
    wait_fn *wait = atomic_load_explicit(&real_wait, memory_order_relaxed);
    if (wait == NULL) {
        mhd_wait_prepare();
        wait = atomic_load_explicit(&real_wait, memory_order_relaxed);
    }
    int count = wait(epfd, events, max_events, epfd == full_epfd ? 0 : timeout);
    full_epfd = count == max_events ? epfd : -1;
    return count;
}
