/* What the service can run, and what it emulates: asked once a session. Thread-safe. */
#ifndef SOMA_CLIENT_CATALOG_H
#define SOMA_CLIENT_CATALOG_H

#include "acl/acl_base.h"
#include "limits.h"
#include "status.h"

#include <stddef.h>

struct client_kernel {
    char name[SOMA_NAME_BYTES_MAX + 1];
    size_t required;                                /* parameters that every launch gives */
    unsigned char size_bytes[SOMA_KERNEL_ARGS_MAX]; /* of each of them: 1, 2, 4 or 8 */
};

/* Find a kernel of the service by its name.
 *   kernel  out, on ACL_SUCCESS
 * ACL_SUCCESS; 100029 there is none, the text lists those that there are; 507901. */
aclError client_kernel_find(const char *name, struct client_kernel *kernel) SOMA_MUST_USE;

/* Name of the emulated SoC; stays readable. NULL: the error is recorded. */
const char *client_soc_name(void);

/* The session has ended: ask again. */
void client_catalog_forget(void);

#endif
