/* What libmicrohttpd is told of a body that is received for it, and when epoll is asked meanwhile.
 */
#include "expect.h"
#include "mhd_receive.h"
#include "mhd_wait.h"
#include "suites.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 20000, PIECE = 30000, BODY = 2 * PIECE + 5000, BEHIND = 100 };

struct ends {
    int in, out;
};

static void connect_ends(struct ends *ends)
{
    int fds[2];
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    *ends = (struct ends){fds[0], fds[1]};
}

static void close_ends(const struct ends *ends)
{
    (void)close(ends->in);
    (void)close(ends->out);
}

static void arrive(const struct ends *ends, char value, size_t len)
{
    char bytes[PIECE];
    memset(bytes, value, sizeof(bytes));
    EXPECT(send(ends->out, bytes, len, MSG_NOSIGNAL) == (ssize_t)len, "send");
}

/* Less than there is room for is answered only when the socket has no more at that moment: epoll
 * may have told of what came since. */
static void test_told(void)
{
    static char body[BODY], buffer[ROOM];
    struct mhd_receive receive;
    struct ends ends;
    connect_ends(&ends);
    mhd_receive_start(&receive, ends.in, body, BODY);
    EXPECT(recv(ends.in, buffer, ROOM, 0) == -1 && errno == EAGAIN, "nothing has come");
    arrive(&ends, 'a', PIECE);
    EXPECT(recv(ends.in, buffer, ROOM, 0) == ROOM && mhd_receive_is_ahead(), "the first part");
    arrive(&ends, 'b', PIECE);
    EXPECT(recv(ends.in, buffer, ROOM, 0) == ROOM && mhd_receive_is_ahead(), "more than was here");
    EXPECT(recv(ends.in, buffer, ROOM, 0) == 2 * PIECE - 2 * ROOM, "the rest of what is here");
    EXPECT(!mhd_receive_is_ahead(), "all is told");
    arrive(&ends, 'c', BODY - 2 * PIECE + BEHIND);
    EXPECT(recv(ends.in, buffer, ROOM, 0) == BODY - 2 * PIECE + BEHIND, "the end and behind it");
    EXPECT(body[0] == 'a' && body[PIECE] == 'b' && body[BODY - 1] == 'c', "the body");
    EXPECT(buffer[BODY - 2 * PIECE] == 'c', "what is behind it is the buffer's");
    arrive(&ends, 'd', BEHIND);
    EXPECT(recv(ends.in, buffer, ROOM, 0) == BEHIND && buffer[0] == 'd', "no more of the body");
    mhd_receive_stop(&receive);
    close_ends(&ends);
}

struct beside {
    struct ends ends, other;
    int epfd; /* of the other */
};

/* In a thread of its own, which is marked for good. */
static void *wait_beside(void *arg)
{
    static char body[BODY], buffer[ROOM];
    const struct beside *beside = arg;
    struct epoll_event event;
    struct mhd_receive receive;
    unsigned asked = 0;
    mhd_wait_mark_thread();
    mhd_receive_start(&receive, beside->ends.in, body, BODY);
    EXPECT(recv(beside->ends.in, buffer, 1, 0) == 1 && mhd_receive_is_ahead(), "one byte");
    for (unsigned i = 0; i < 100; i++)
        asked += epoll_wait(beside->epfd, &event, 1, 1000) == 1;
    EXPECT(asked > 5 && asked < 50, "another connection was seen %u times", asked);
    mhd_receive_stop(&receive);
    EXPECT(epoll_wait(beside->epfd, &event, 1, 0) == 1, "asked each time");
    return NULL;
}

static void test_others(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct beside beside = {.epfd = epoll_create1(0)};
    pthread_t thread;
    connect_ends(&beside.ends);
    connect_ends(&beside.other);
    arrive(&beside.ends, 'a', PIECE);
    arrive(&beside.other, 'x', 1);
    CU_ASSERT_FATAL(epoll_ctl(beside.epfd, EPOLL_CTL_ADD, beside.other.in, &event) == 0);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, wait_beside, &beside) == 0);
    (void)pthread_join(thread, NULL);
    close_ends(&beside.ends);
    close_ends(&beside.other);
    (void)close(beside.epfd);
}

static const struct soma_test tests[] = {
    {"what is told", test_told},
    {"others have their turn", test_others},
    {NULL, NULL},
};
const struct soma_suite suite_mhd_receive = {"mhd_receive", tests};
