/* What handlers share in reading a request. Each fills req->error when it refuses. */
#ifndef SOMA_HTTP_INPUT_H
#define SOMA_HTTP_INPUT_H

#include "internal.h"

/* Set the command's fields that stand in the path and in the query. */
enum soma_status input_read_target(struct request *req) SOMA_MUST_USE;

/* For routes without fields: the query is empty, and so is the body, or {}. */
enum soma_status input_expect_none(struct request *req) SOMA_MUST_USE;

/* Read the body into req->tree; parse it into req->root. */
enum soma_status input_read(struct request *req) SOMA_MUST_USE;
enum soma_status input_parse(struct request *req) SOMA_MUST_USE;

#endif
