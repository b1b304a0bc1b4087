/* schema/openapi.json, compiled in. */
#ifndef SOMA_HTTP_OPENAPI_H
#define SOMA_HTTP_OPENAPI_H

#include <stddef.h>

const char *openapi_text(size_t *len);

#endif
