/* Functions that the program wants called, for other files of ACL functions. They run in the thread
 * that causes the call, with no lock held. */
#ifndef SOMA_CLIENT_ACL_CALLBACKS_H
#define SOMA_CLIENT_ACL_CALLBACKS_H

#include "acl/acl.h"
#include "status.h"

#include <stdbool.h>

/* aclInit has succeeded: the callbacks of init, with the configuration's text. The first error. */
aclError acl_call_init(const char *config, bool has_path) SOMA_MUST_USE;

/* aclFinalize is about to end the session. The first error. */
aclError acl_call_finalize(void) SOMA_MUST_USE;

void acl_call_device_state(uint32_t device, aclrtDeviceState state);
void acl_call_task_abort(uint32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout);
void acl_call_stream_state(aclrtStream stream, aclrtStreamState state);

/* Whether aclInit was called and not undone, and the text of its configuration; of acl_init.c. */
bool acl_is_initialized(void);
const char *acl_config_text(void);

#endif
