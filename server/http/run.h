/* Running a request that is there in whole, and handing it from thread to thread. */
#ifndef SOMA_HTTP_RUN_H
#define SOMA_HTTP_RUN_H

#include "internal.h"

/* ---- on the connection's thread ---- */

/* Run a request whose body is complete. true: req->answer is ready to be sent; false: it is
 * parked, and must not be touched. */
bool request_start(struct request *req);

/* Run on after request_wake. As request_start. */
bool request_run_on(struct request *req);

/* The connection of a request that was woken has ended: settle it with what was run. */
void request_cut(struct request *req);

/* ---- by whoever owns the request ---- */

/* With the lock of req->session held: execute. true: it is parked, and no longer ours. */
bool request_execute(struct request *req);

/* Make the answer of what was executed, and finish. No lock held. */
void request_conclude(struct request *req);

/* Before another owner may see the request: suspend its connection, unless it is already. false:
 * the server is cutting waits short; the request stays with the caller, who answers DRAINING. */
bool request_park(struct request *req);

/* Give a parked request back to its connection's thread, which runs it on. The caller must not
 * touch it any more. */
void request_wake(struct request *req);

/* req->answer is ready: settle its key and, when it is parked, hand it to its connection, after
 * which the caller must not touch it any more. */
void request_finish(struct request *req);

#endif
