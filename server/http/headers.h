/* What the server reads from a request's header, checked. */
#ifndef SOMA_HTTP_HEADERS_H
#define SOMA_HTTP_HEADERS_H

#include "internal.h"

/* Fill the header members of the request from its connection: session_id, key, authorization,
 * content_type, accept, has_expect, is_chunked, body_announced, closes, is_unreadable.
 *   version  "HTTP/1.1"
 * SOMA_OK; SOMA_HEADERS_TOO_LARGE; SOMA_BAD_HEADER and SOMA_BAD_REQUEST with the header's name as
 * the field; SOMA_NOT_SUPPORTED (a transfer coding). */
enum soma_status headers_read(struct request *req, const char *version,
                              struct soma_error *error) SOMA_MUST_USE;

/* Whether a media type, its parameters aside, is this one ("application/json"). JSON with another
 * charset than UTF-8 is not. */
bool headers_is_type(struct soma_text value, const char *type);

/* The token of "Bearer TOKEN"; {NULL, 0} when it is something else. */
struct soma_text headers_bearer(struct soma_text authorization);

#endif
