/* The keeper thread of a session. */
#include "keeper.h"

#include "error.h"
#include "transport.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS 1000 /* after a request that failed */

static bool keep_alive(const struct client_keeper *keeper)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s:keepAlive", keeper->session_id);
    struct client_request request = {.method = SOMA_METHOD_POST,
                                     .path = path,
                                     .content_type = "application/json",
                                     .body = "{}",
                                     .body_len = 2,
                                     .cancel = &keeper->is_ending};
    struct client_answer answer;
    return client_send(keeper->endpoint, &request, &answer) == ACL_SUCCESS;
}

/* Read away what the server printed; -1 once it is gone. */
static int drain(int output)
{
    char rest[512];
    ssize_t got = read(output, rest, sizeof(rest));
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)) ? output : -1;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *keeper_run(void *user)
{
    struct client_keeper *keeper = user;
    int output = keeper->output;
    int64_t next_ms = now_ms() + keeper->period_ms;
    client_begin("session");
    while (!atomic_load(&keeper->is_ending)) {
        int64_t left_ms = next_ms - now_ms();
        if (keeper->period_ms > 0 && left_ms <= 0) {
            bool good = keep_alive(keeper);
            next_ms =
                now_ms() + (good || keeper->period_ms < RETRY_MS ? keeper->period_ms : RETRY_MS);
            continue;
        }
        struct pollfd items[2] = {{keeper->wake, POLLIN, 0}, {output, POLLIN, 0}};
        int count = poll(items, output >= 0 ? 2 : 1, keeper->period_ms > 0 ? (int)left_ms : -1);
        if (count > 0 && output >= 0 && items[1].revents != 0)
            output = drain(output);
    }
    client_curl_thread_end();
    return NULL;
}

aclError client_keeper_start(struct client_keeper *keeper, const struct client_endpoint *endpoint,
                             const char *session_id, long ttl_seconds, int output)
{
    keeper->endpoint = endpoint;
    keeper->session_id = session_id;
    keeper->period_ms = ttl_seconds * 1000 / 3;
    keeper->output = output;
    atomic_init(&keeper->is_ending, false);
    keeper->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    keeper->is_running =
        keeper->wake >= 0 && pthread_create(&keeper->thread, NULL, keeper_run, keeper) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (keeper->is_running)
        return ACL_SUCCESS;
    client_keeper_forget(keeper);
    return client_fail(ACL_ERROR_BAD_ALLOC, "the process can have no further thread or descriptor");
}

void client_keeper_stop(struct client_keeper *keeper)
{
    if (!keeper->is_running)
        return;
    atomic_store(&keeper->is_ending, true);
    (void)eventfd_write(keeper->wake, 1);
    (void)pthread_join(keeper->thread, NULL);
    client_keeper_forget(keeper);
}

void client_keeper_forget(struct client_keeper *keeper)
{
    keeper->is_running = false;
    if (keeper->wake >= 0)
        (void)close(keeper->wake);
    keeper->wake = -1;
}
