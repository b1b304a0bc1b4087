/* Making streams, for other files of ACL functions. */
#ifndef SOMA_CLIENT_ACL_STREAM_H
#define SOMA_CLIENT_ACL_STREAM_H

#include "acl/acl.h"
#include "handle.h"
#include "status.h"

/* Make a stream in the thread's context; a priority over 7 counts as 7.
 * ACL_SUCCESS; 100000 NULL or unknown flags; 107002; 207008. */
aclError acl_create_stream(aclrtStream *stream, uint32_t priority, uint32_t flags) SOMA_MUST_USE;

/* Wait until the stream's work is done; pools release nothing. ACL_SUCCESS; what its work failed
 * with; 507901. */
aclError acl_settle_stream(const struct client_object *stream) SOMA_MUST_USE;

/* Let a stream stop when a kernel fails on it. Errors as client_call. */
aclError acl_stop_on_failure(struct client_object *stream) SOMA_MUST_USE;

#endif
