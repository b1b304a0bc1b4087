/* The handlers of all routes: one for every command, one each for the service routes. */
#ifndef SOMA_HTTP_HANDLERS_H
#define SOMA_HTTP_HANDLERS_H

#include "internal.h"

#include "routes.def"

/* Of every command route. */
extern const struct handler handler_command;

#define SOMA_ROW(NAME, METHOD, path, http, summary) extern const struct handler handler_##NAME;
SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW

#endif
