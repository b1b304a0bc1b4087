/* Kernels that failed, for other files of ACL functions. */
#ifndef SOMA_CLIENT_ACL_EXCEPTION_H
#define SOMA_CLIENT_ACL_EXCEPTION_H

#include "acl/acl_base.h"
#include "launches.h"
#include "status.h"

#include <stdbool.h>

/* client_launch, and remember the kernel if it fails when it runs: its failure is told by the next
 * synchronisation, and by callbacks then. */
aclError acl_launch(struct client_launch *launch) SOMA_MUST_USE;

/* A synchronisation of a device has found `error`: when it is that of a kernel, call the callbacks.
 *   any_stream  of any stream of the device; else of this one
 * Returns `error`, which is the thread's last again. */
aclError acl_tell_exception(aclError error, uint32_t device, bool any_stream, uint64_t stream_id);

/* The device was reset. */
void acl_exceptions_forget(uint32_t device);

#endif
