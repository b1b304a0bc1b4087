/* The parts of handler_commands for a body in the compact form. */
#ifndef SOMA_HTTP_HANDLE_BATCH_H
#define SOMA_HTTP_HANDLE_BATCH_H

#include "internal.h"

/* As the parts of a handler; req->batch is initialised. */
bool batch_prepare(struct request *req);
enum step batch_execute(struct request *req);
void batch_finish(struct request *req);

#endif
