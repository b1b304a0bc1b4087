/* Managed memory: one address for the program and for every device. The program's bytes are
 * ordinary memory of its process, at the device's address; the devices' are the service's.
 *
 * A block's bytes go to the service before a command that may use it there: a launch with a pointer
 * into it, or any other that names it. They come back when the program has waited: at a
 * synchronisation, at a query that says complete, before a function of the host, or when a call of
 * this library reads them. In between both sides may have written: what the program wrote since the
 * last exchange is told from a copy of that time and goes before what the device did. Thread-safe.
 */
#ifndef SOMA_CLIENT_MANAGED_H
#define SOMA_CLIENT_MANAGED_H

#include "acl/acl_base.h"
#include "command.h"
#include "message.h"
#include "status.h"

struct client_session;

/* The service has made a block: let the program use it.
 *   size_bytes  its addresses; used_bytes: what the program asked for, which is kept equal
 * ACL_SUCCESS; 200000, 207001: the host has no memory, or not at this address. */
aclError client_managed_add(uint64_t address, uint64_t size_bytes,
                            uint64_t used_bytes) SOMA_MUST_USE;

/* The block that begins here is gone; false: there is none. */
bool client_managed_remove(uint64_t address);
void client_managed_remove_all(void);

/* How many bytes of what was asked for there are from an address on; 0: it is not managed. */
uint64_t client_managed_left(uint64_t address);

/* Around a command: before it, what it may use is brought to the service; after it has succeeded,
 * what the device has written is fetched if the command was a wait. ACL_SUCCESS; errors as
 * client_call. */
aclError client_managed_before(struct client_session *session,
                               const struct soma_command *command) SOMA_MUST_USE;
aclError client_managed_after(struct client_session *session, const struct soma_command *command,
                              const struct soma_result *result) SOMA_MUST_USE;

/* Fetch what devices have written into any block. */
aclError client_managed_fetch(struct client_session *session) SOMA_MUST_USE;

/* In the child after fork, which has no session: its blocks are ordinary memory now. */
void client_managed_forked(void);

#endif
