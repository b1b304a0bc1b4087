/* A pipe's layout in the form that the request's Accept asks for. */
#ifndef SOMA_HTTP_REPLY_LAYOUT_H
#define SOMA_HTTP_REPLY_LAYOUT_H

#include "internal.h"

enum layout_form { LAYOUT_JSON, LAYOUT_SVG, LAYOUT_TEXT };

/* The form that an Accept field prefers; JSON when it is absent, or names none of the three. */
enum layout_form layout_form_of(struct soma_text accept);

/* Answer with req->result, which is a layout. */
void reply_layout(struct request *req);

#endif
