/* Contexts and the devices that threads work on. Each thread has a current context or none; the
 * default context of a device is made by the first aclrtSetDevice and counted. Thread-safe. */
#ifndef SOMA_CLIENT_CONTEXT_H
#define SOMA_CLIENT_CONTEXT_H

#include "acl/acl_base.h"
#include "handle.h"
#include "status.h"

/* The calling thread's context. ACL_SUCCESS; 107002 it has none, or it was destroyed. */
aclError client_context_require(struct client_object *context) SOMA_MUST_USE;

/* Make this handle the calling thread's context; NULL: none. */
void client_context_set_current(void *context);

/* Whether the session has this device; opens the session. ACL_SUCCESS; 107001. */
aclError client_device_check(int32_t device) SOMA_MUST_USE;

/* aclrtSetDevice: count one more, and make the device's default context the thread's. */
aclError client_device_set(uint32_t device) SOMA_MUST_USE;

/* aclrtResetDevice; all: aclrtResetDeviceForce. ACL_SUCCESS; 507007 it is not set. */
aclError client_device_reset(uint32_t device, bool all) SOMA_MUST_USE;

/* Whether the device's default context exists. */
bool client_device_is_set(uint32_t device);

/* Add a context whose default stream has this id; the context is not made current.
 * ACL_SUCCESS and *context; 200000 no memory. */
aclError client_context_add(uint32_t device, uint64_t stream_id, bool is_primary,
                            void **context) SOMA_MUST_USE;

/* The session has ended, or this is the child after fork: no device is set. Contexts that threads
 * still name are gone from the table of handles. */
void client_context_forget_all(void);

void client_context_lock(void); /* around fork */
void client_context_unlock(void);

#endif
