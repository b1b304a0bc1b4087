/* Raw bytes of device memory on their way in and out, so that no large copy is held twice: what was
 * received is used up as it is written, and what is read is sent from where it lies. */
#ifndef SOMA_HTTP_TRANSFER_H
#define SOMA_HTTP_TRANSFER_H

#include "internal.h"

/* Before req->command is applied, whatever it is.
 *   sends_snapshot  the answer can be sent by reply_snapshot: then req->snapshot is made for a
 * large read SOMA_OK; SOMA_VALUE_OUT_OF_RANGE for a read larger than an answer may be;
 * SOMA_OUT_OF_MEMORY. */
enum soma_status transfer_prepare(struct request *req, bool sends_snapshot) SOMA_MUST_USE;

/* Whether a command of the request is a write that is done, as far as can be told before it is
 * applied, by exchanging pages, and that is over in a moment all the same when it is not. */
bool transfer_is_quick(const struct request *req, const struct soma_command *command);

/* With the session's lock held, once it was applied: req->snapshot, if there is one, shows what was
 * read; it is gone when that is in req->result, or nothing was read. */
void transfer_settle(struct request *req);

/* With the session's lock held: read once more what req->command, a MEMORY_READ, has read, into
 * req->snapshot or req->result; takes no time of the session's. The status of the command. */
enum soma_status transfer_read_again(struct request *req, bool sends_snapshot) SOMA_MUST_USE;

#endif
