/* Threads for work that would hold up other connections: slow requests, and requests whose session
 * is busy with one. At most one thread works for a session at a time, in order of arrival. */
#ifndef SOMA_HTTP_EXECUTOR_H
#define SOMA_HTTP_EXECUTOR_H

#include "internal.h"

struct executor;

struct executor *executor_create(unsigned thread_count); /* NULL: no memory or no thread */

/* Do what is queued, then stop the threads. Takes NULL. */
void executor_destroy(struct executor *executor);

/* Run a parked request under its session's lock. */
void executor_submit(struct executor *executor, struct request *req);

/* Wake the session's waiters as soon as its lock is free. */
void executor_prod(struct executor *executor, struct session *session);

#endif
