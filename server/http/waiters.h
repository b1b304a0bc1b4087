/* Requests that wait, and the one timer thread: it tries waiting commands again when they are due,
 * finds clients that went away, ends leases and stalled connections. */
#ifndef SOMA_HTTP_WAITERS_H
#define SOMA_HTTP_WAITERS_H

#include "internal.h"

struct waiters;

/* Starts the thread. NULL: no memory or no thread. */
struct waiters *waiters_create(struct soma_server *server);

/* Stop the thread. Nothing may be parked. Takes NULL. */
void waiters_destroy(struct waiters *waiters);

/* Note a parked request, so that its client is watched; req->wait.due_ns tells when its session
 * is to be woken. */
void waiters_add(struct waiters *waiters, struct request *req);

/* The request will be resumed: forget it. */
void waiters_remove(struct waiters *waiters, struct request *req);

/* With session->lock held, req being parked: put the request that must wait for req->command on
 * the session's list. */
void waiters_wait(struct session *session, struct request *req);

/* With session->lock held, after its state may have changed: try every waiting command again and
 * wake the requests whose wait is over. */
void waiters_wake(struct session *session);

/* With session->lock held: take a request whose outcome is there off the list and wake it. */
void waiters_end(struct session *session, struct request *req);

/* server->is_cutting was set: end every wait now. */
void waiters_cut(struct waiters *waiters);

#endif
