/* The only place that makes answers: into req->answer by any thread, from there to the socket by
 * the connection's own. */
#ifndef SOMA_HTTP_REPLY_H
#define SOMA_HTTP_REPLY_H

#include "internal.h"

#include <sys/types.h>

/* In every answer of a server with a name: which instance it is. */
#define INSTANCE_HEADER "X-Soma-Instance"

/* A message of messages.def; SOMA_MESSAGE_NONE: no body. base: borrowed. */
void reply_message(struct request *req, int http, enum soma_message message, const void *base);

/* What a command gave. */
void reply_result(struct request *req, const struct soma_result *result);

/* The error, in the contract's form. */
void reply_error(struct request *req, const struct soma_error *error);

/* Bytes as they are.
 *   owned  what free() takes once they are sent; NULL: they are static */
void reply_bytes(struct request *req, const char *content_type, const void *ptr, size_t len,
                 void *owned);

/* The writer's text as the body; takes it over. A writer that failed gives OUT_OF_MEMORY. */
void reply_writer(struct request *req, int http, const char *content_type,
                  struct soma_writer *writer);

/* Let the contents of req->snapshot follow the body of the answer, which is a good one; the answer
 * takes the snapshot over.
 *   len  of the contents with the zeros that are to stand behind them */
void reply_snapshot(struct request *req, size_t len);

/* Copy a part of the answer's body, contents included, from place `at` on: what is there is not
 * copied again. Returns the bytes, at most `room`; -1: there was no memory to keep the contents. */
ssize_t reply_read(const struct answer *answer, uint64_t at, char *to, size_t room);

/* Queue req->answer. On the connection's thread only; what the answer owns is given away. */
enum MHD_Result reply_send(struct request *req);

/* Give back the responses that the connection keeps: at its end. */
void reply_forget(struct connection *conn);

/* Make server->no_memory_body. false: no memory. */
bool reply_prepare(struct soma_server *server);

#endif
