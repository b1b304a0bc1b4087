/* What every transport shares: keys that make requests repeatable. */
#include "transport.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static client_send_fn *replaced; /* by a test; NULL: libcurl */

void client_transport_replace(client_send_fn *send)
{
    replaced = send;
}

/* Random once per process, so that keys of two processes in one session never meet. */
static uint64_t key_prefix(void)
{
    static _Atomic uint64_t prefix;
    static _Atomic pid_t owner;
    if (atomic_load(&owner) == getpid())
        return atomic_load(&prefix);
    uint64_t value = 0;
    if (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value)) {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        value = ((uint64_t)getpid() << 40) ^ ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec;
    }
    atomic_store(&prefix, value);
    atomic_store(&owner, getpid());
    return value;
}

aclError client_send(const struct client_endpoint *endpoint, const struct client_request *request,
                     struct client_answer *answer)
{
    static _Atomic uint64_t counter;
    client_send_fn *send = replaced != NULL ? replaced : client_curl_send;
    if (request->method == SOMA_METHOD_GET || request->is_sequenced)
        return send(endpoint, request, NULL, answer);
    char key[48];
    (void)snprintf(key, sizeof(key), "%016llx-%llu", (unsigned long long)key_prefix(),
                   (unsigned long long)atomic_fetch_add(&counter, 1));
    return send(endpoint, request, key, answer);
}

aclError client_probe(const struct client_endpoint *endpoint, struct client_connection **connection)
{
    struct client_request request = {.method = SOMA_METHOD_GET,
                                     .path = "/livez",
                                     .patience_ms = (endpoint->timeout_ms + 1) / 2,
                                     .connection = connection};
    struct client_answer answer;
    return client_send(endpoint, &request, &answer);
}
