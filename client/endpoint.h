/* Where the service is and how to speak to it, as the environment says. */
#ifndef SOMA_CLIENT_ENDPOINT_H
#define SOMA_CLIENT_ENDPOINT_H

#include "acl/acl_base.h"
#include "status.h"

#include <stdbool.h>

#define CLIENT_TIMEOUT_MS_DEFAULT 10000
#define CLIENT_TIMEOUT_MS_MAX 86400000

struct client_endpoint {
    char url[512];           /* http://host:port, without a slash at the end */
    char unix_path[108];     /* of the socket; "" when it is TCP */
    char where[576];         /* for people: as SOMA_SERVER has it */
    char authorization[600]; /* header "Authorization: Bearer ..."; "" without a token */
    long timeout_ms;         /* longest silence of the service before it counts as gone */
    bool asks_each_time;     /* SOMA_PIPELINE=0: no call runs ahead of the service */
};

/* Fill *endpoint from SOMA_SERVER, SOMA_TOKEN, SOMA_TOKEN_FILE, SOMA_TIMEOUT_MS and SOMA_PIPELINE.
 * Without SOMA_SERVER, or with an empty one, url stays "" and the library starts a server of its
 * own. ACL_SUCCESS; 100000 for a value that cannot be, the text names the variable. */
aclError client_endpoint_read(struct client_endpoint *endpoint) SOMA_MUST_USE;

/* Make it a unix socket at path; 100000 when the path is too long for one. */
aclError client_endpoint_set_unix(struct client_endpoint *endpoint, const char *path) SOMA_MUST_USE;

/* A whole decimal number within min..max from an environment variable.
 *   value  in: the default; out: the variable's value when it is set and not empty
 *   unit   for the text of the error, such as "seconds"
 * ACL_SUCCESS; 100000, the text names the variable. */
aclError client_env_number(const char *name, const char *unit, long min, long max,
                           long *value) SOMA_MUST_USE;

/* The value of a variable that is set and not empty, else NULL. */
const char *client_env(const char *name);

#endif
