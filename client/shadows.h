/* Page-locked memory of the host that a kernel's pointers lead into: "zero copy". The kernel runs
 * in the service, so each such range goes there with the launch, whole, and what the kernel has
 * changed of it comes back before the launch returns. */
#ifndef SOMA_CLIENT_SHADOWS_H
#define SOMA_CLIENT_SHADOWS_H

#include "acl/acl_base.h"
#include "command.h"
#include "handle.h"
#include "kernel_table.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct client_shadow {
    unsigned char *host; /* of the program: the whole range */
    size_t size;
    bool is_read_only;
    uint64_t address;      /* of the device; 0: none */
    unsigned char *before; /* what was brought; owned */
};

struct client_shadows {
    struct client_shadow items[SOMA_KERNEL_PARAMETERS_MAX];
    size_t count;
    char *block; /* the arguments with the addresses of the device; owned */
};

/* Whether something that looks like a pointer into such memory stands in the block: cheap. */
bool client_shadows_are_needed(const void *block, size_t size);

/* Bring what the pointers of the launch lead into.
 *   command  a launch with one raw block
 *   shadows  out, on errors too: client_shadows_release
 * ACL_SUCCESS; 200000; errors as client_call. */
aclError client_shadows_bring(struct client_shadows *shadows, const struct client_object *stream,
                              const struct soma_command *command) SOMA_MUST_USE;

/* Write to the program's memory what the kernel has changed, byte by byte. */
aclError client_shadows_take_back(const struct client_shadows *shadows,
                                  const struct client_object *stream) SOMA_MUST_USE;

void client_shadows_release(struct client_shadows *shadows, const struct client_object *stream);

#endif
