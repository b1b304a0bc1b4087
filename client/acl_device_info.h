/* What a device is, for other files of ACL functions. */
#ifndef SOMA_CLIENT_ACL_DEVICE_INFO_H
#define SOMA_CLIENT_ACL_DEVICE_INFO_H

#include "acl/acl_base.h"
#include "command.h"
#include "status.h"

/* The emulated SoC; static storage. Opens the session. ACL_SUCCESS; 207000 it is not known. */
aclError acl_soc(const struct soma_soc **soc) SOMA_MUST_USE;

/* The device was reset: forget all that is kept of it here; limits of its cores; which devices it
 * may reach. */
void acl_device_forget(uint32_t device);
void acl_limits_forget(uint32_t device);
void acl_peers_forget(uint32_t device);

#endif
