/* Time limits that hold for the process. Thread-safe. */
#ifndef SOMA_CLIENT_ACL_LIMITS_H
#define SOMA_CLIENT_ACL_LIMITS_H

#include <stdint.h>

/* How long aclrtStreamWaitEvent waits: seconds; 0 without limit. */
uint32_t acl_op_wait_timeout(void);

/* aclFinalize: as at the start. */
void acl_op_wait_timeout_forget(void);

#endif
