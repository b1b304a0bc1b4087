/* The parts of handler_commands for a body in the compact form. */
#ifndef SOMA_HTTP_HANDLE_BATCH_H
#define SOMA_HTTP_HANDLE_BATCH_H

#include "internal.h"

/* Whether the answer of POST /v1/commands may grow by `more` bytes and those of a short result:
 * SOMA_OK, or SOMA_CONTENT_TOO_LARGE, and the batch ends here. In both forms. */
enum soma_status batch_check_room(struct request *req, uint64_t more) SOMA_MUST_USE;

/* As the parts of a handler; req->batch is initialised. */
bool batch_prepare(struct request *req);
enum step batch_execute(struct request *req);
void batch_finish(struct request *req);

#endif
