/* Errors that libmicrohttpd finds by itself, as JSON.
 *
 * libmicrohttpd answers requests that it cannot read (no Host, a header too large, bad chunks ...)
 * with HTML pages of its own, and offers no way to replace them. It queues them with the public
 * function MHD_queue_response, called through the dynamic linker, so a definition of that function
 * in the executable is called in its place. Ours writes the error to the socket instead, and has
 * the connection closed; responses of our own go through mhd_queue. Checked with 0.9.75; should a
 * later version not call through the linker, the pages are HTML again and nothing else changes. */
#ifndef SOMA_HTTP_MHD_ERRORS_H
#define SOMA_HTTP_MHD_ERRORS_H

#include "internal.h"

/* MHD_queue_response for responses of our own: of every handler in a program that links this. */
enum MHD_Result mhd_queue(struct MHD_Connection *mhd, unsigned http, struct MHD_Response *response);

/* Write a whole answer to the connection, without blocking; it is about to be closed. Does nothing
 * when the client does not read; of a large answer it may send only the beginning. */
void mhd_send_answer(struct connection *conn, const struct answer *answer);

/* The same with an error. */
void mhd_send_error(struct connection *conn, const struct soma_error *error);

#endif
