/* The session of this process: opened by aclInit or by the first call that needs it, ended by
 * aclFinalize or with the process. Thread-safe.
 *
 * A child after fork has no session, no contexts and no handles of its parent: its first call opens
 * a session of its own. */
#ifndef SOMA_CLIENT_SESSION_H
#define SOMA_CLIENT_SESSION_H

#include "acl/acl_base.h"
#include "endpoint.h"
#include "keeper.h"
#include "command.h"
#include "launch.h"
#include "pipeline.h"
#include "status.h"

#include <stdatomic.h>

#define CLIENT_SESSION_ID_BYTES 72u

struct client_session {
    atomic_uint refs;
    char id[CLIENT_SESSION_ID_BYTES];
    uint32_t device_count;
    long ttl_seconds; /* 0: it never ends by itself */
    struct client_endpoint endpoint;
    struct client_server server; /* pid 0: the server is not ours */
    struct client_keeper keeper;
    const struct soma_soc *soc;       /* of its devices; NULL: the server did not say */
    bool is_other_build;              /* the service's tables are not this library's */
    struct client_pipeline *pipeline; /* NULL: each call asks the service */
};

/* The session, opened if there is none.
 *   session  out: give it back with client_session_release
 * ACL_SUCCESS; what opening it says. */
aclError client_session_get(struct client_session **session) SOMA_MUST_USE;

void client_session_reference(struct client_session *session); /* one more, to be released */
void client_session_release(struct client_session *session);

/* aclInit, after the configuration was checked. ACL_SUCCESS; 100002 initialised before: counted. */
aclError client_session_init(void) SOMA_MUST_USE;

/* aclFinalize: ends the session whatever the count. ACL_SUCCESS; 100037 nothing to end. */
aclError client_session_finalize(void) SOMA_MUST_USE;

/* aclFinalizeReference. left: out, may be NULL. */
aclError client_session_finalize_one(uint64_t *left) SOMA_MUST_USE;

#endif
