/* What the service can run, and what it emulates: asked once a session. Thread-safe. */
#ifndef SOMA_CLIENT_CATALOG_H
#define SOMA_CLIENT_CATALOG_H

#include "acl/acl_base.h"
#include "kernel_table.h"
#include "limits.h"
#include "status.h"

#include <stddef.h>

struct client_kernel {
    char name[SOMA_NAME_BYTES_MAX + 1];
    char library[SOMA_NAME_BYTES_MAX + 1];          /* "": built in, or found by its name alone */
    size_t required;                                /* parameters that every launch gives */
    unsigned char size_bytes[SOMA_KERNEL_ARGS_MAX]; /* of each of them: 1, 2, 4 or 8 */
};

/* Find a kernel of the service: that of this library, else the first one of this name.
 *   kernel  out, on ACL_SUCCESS
 * ACL_SUCCESS; 100029 there is none, the text lists those that there are; 507901. */
aclError client_kernel_find(const char *library, const char *name,
                            struct client_kernel *kernel) SOMA_MUST_USE;

/* Read a launch as the service will.
 *   call     requested and ctx are set; the rest is filled in
 *   cost_ns  out, on SOMA_OK: what its kernel takes
 * Errors as soma_kernel_read. */
enum soma_status client_kernel_foresee(const struct soma_command *command,
                                       struct soma_kernel_call *call, uint64_t *cost_ns,
                                       struct soma_error *error) SOMA_MUST_USE;

/* Where in the raw argument block of a launch its pointers stand, in bytes; 0: the arguments do not
 * fit. Returns how many. */
size_t client_kernel_pointers(const struct soma_command *command,
                              size_t offsets[SOMA_KERNEL_PARAMETERS_MAX]);

/* Name of the emulated SoC; stays readable. NULL: the error is recorded. */
const char *client_soc_name(void);

/* The session has ended: ask again. */
void client_catalog_forget(void);

#endif
