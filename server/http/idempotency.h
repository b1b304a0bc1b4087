/* The Idempotency-Keys of one session: which request came with a key, and what it was answered.
 *
 * A key is in flight from idempotency_begin until the request that holds it is completed or
 * abandoned; the same request coming meanwhile is parked behind it. The last
 * SOMA_IDEMPOTENCY_KEYS_KEPT completed keys are kept. Of very large answers only the fact is kept
 * when they are many (SOMA_IDEMPOTENCY_BYTES_KEPT): the request still runs once. Thread-safe. */
#ifndef SOMA_HTTP_IDEMPOTENCY_H
#define SOMA_HTTP_IDEMPOTENCY_H

#include "internal.h"

struct idempotency;

struct idempotency *idempotency_create(void);       /* NULL: no memory */
void idempotency_destroy(struct idempotency *keys); /* nothing may be in flight; takes NULL */

enum idempotency_outcome {
    IDEMPOTENCY_RUN,     /* a new key: req->entry is set; complete or abandon it */
    IDEMPOTENCY_REPLAY,  /* *answer is the first answer, owned by the caller */
    IDEMPOTENCY_PARKED,  /* suspended behind the same request; it is woken to begin again */
    IDEMPOTENCY_REFUSED, /* *error says why: other request, answer not kept, no memory */
};

/* Look at req->key for this request (method, path with query, body). Call on the thread of the
 * connection. The request is parked with request_park. */
enum idempotency_outcome idempotency_begin(struct idempotency *keys, struct request *req,
                                           struct answer *answer, struct soma_error *error);

/* Keep req->answer for req->entry, or forget the key when the request was abandoned, and wake
 * those behind it. */
void idempotency_end(struct idempotency *keys, struct request *req);

/* Wake the parked requests whose client is gone: they end with CLIENT_GONE. */
void idempotency_wake_gone(struct idempotency *keys);

#endif
