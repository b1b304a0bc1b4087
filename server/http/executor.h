/* Threads for work that would hold up other connections: slow requests, and requests whose session
 * is busy with one. At most one thread works for a session at a time, in order of arrival. When all
 * threads work, another is started, up to EXECUTOR_THREADS_MAX: the long work of some sessions does
 * not hold up that of others. */
#ifndef SOMA_HTTP_EXECUTOR_H
#define SOMA_HTTP_EXECUTOR_H

#include "internal.h"

struct executor;

#define EXECUTOR_THREADS_MAX 64u

/* Starts the first thread. NULL: no memory or no thread. */
struct executor *executor_create(void);

/* Do what is queued, then stop the threads. Takes NULL. */
void executor_destroy(struct executor *executor);

/* Run a parked request under its session's lock. */
void executor_submit(struct executor *executor, struct request *req);

/* Wake the session's waiters as soon as its lock is free. */
void executor_prod(struct executor *executor, struct session *session);

#endif
