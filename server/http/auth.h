/* Bearer tokens of --token-file. Constant once loaded. */
#ifndef SOMA_HTTP_AUTH_H
#define SOMA_HTTP_AUTH_H

#include "config.h"
#include "message.h"

#include <stdbool.h>
#include <stddef.h>

struct auth;

/* One token a line, 1..256 visible ASCII characters; empty lines and lines that begin with # are
 * skipped; there must be one. false: error tells why. */
bool auth_load(const char *path, struct auth **auth, char error[CONFIG_ERROR_BYTES]);
void auth_release(struct auth *auth);

/* Whether this is one of the tokens. Takes the same time whichever it is, or nearly is. */
bool auth_accepts(const struct auth *auth, const char *token, size_t len);

#endif
