/* The thread that keeps a session alive while the process makes no call, and that reads away what
 * a private server prints. It holds back all signals and never keeps the process from ending. */
#ifndef SOMA_CLIENT_KEEPER_H
#define SOMA_CLIENT_KEEPER_H

#include "acl/acl_base.h"
#include "endpoint.h"
#include "status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct client_keeper {
    pthread_t thread;
    bool is_running;
    int wake; /* eventfd that ends the thread's sleep */
    atomic_bool is_ending;
    const struct client_endpoint *endpoint; /* kept until client_keeper_stop */
    const char *session_id;                 /* kept until client_keeper_stop */
    long period_ms;                         /* between two requests */
    int output;                             /* of a private server; -1: none */
};

/* Start the thread for a session whose lease is ttl_seconds (0: it has none).
 * ACL_SUCCESS; 200000 the host has no thread or descriptor left. */
aclError client_keeper_start(struct client_keeper *keeper, const struct client_endpoint *endpoint,
                             const char *session_id, long ttl_seconds, int output) SOMA_MUST_USE;

/* End the thread and wait for that: a request of it is given up within a second. */
void client_keeper_stop(struct client_keeper *keeper);

/* In the child after fork, where the thread does not exist. */
void client_keeper_forget(struct client_keeper *keeper);

#endif
