/* Small settings that ACL functions keep for a handle, a device or the process. Thread-safe; whole
 * in the child after fork. */
#ifndef SOMA_CLIENT_ACL_ATTACH_H
#define SOMA_CLIENT_ACL_ATTACH_H

#include "acl/acl_base.h"
#include "status.h"

#include <stdbool.h>
#include <stdint.h>

enum acl_setting {
    ACL_SETTING_OVERFLOW_SWITCH, /* of a stream */
    ACL_SETTING_USER_TAG,        /* of a stream */
    ACL_SETTING_CACHE_OP_INFO,   /* of a stream */
    ACL_SETTING_SYSTEM_OPTION    /* of a context, NULL: of the process; + aclSysParamOpt, 0 to 3 */
};

/* Remember a value. owner: a handle or NULL. ACL_SUCCESS; 200000 no memory. */
aclError acl_attach(const void *owner, unsigned setting, uint64_t value) SOMA_MUST_USE;

/* The value; false and *value untouched when none was set. */
bool acl_attached(const void *owner, unsigned setting, uint64_t *value);

/* Forget all of an owner; all: of every owner. */
void acl_detach(const void *owner);
void acl_detach_all(void);

#endif
