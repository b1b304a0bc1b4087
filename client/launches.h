/* Putting a launch together: an argument block in host memory, with pointers to data that travels
 * with it. */
#ifndef SOMA_CLIENT_LAUNCHES_H
#define SOMA_CLIENT_LAUNCHES_H

#include "acl/acl.h"
#include "handle.h"
#include "pipeline.h"
#include "status.h"

#include <stddef.h>

/* A pointer in the block whose data has to be brought to the device. */
struct client_patch {
    size_t at;        /* where the pointer stands in the block, bytes */
    const void *data; /* of the host */
    size_t size;      /* bytes, at least 1 */
};

struct client_launch {
    const struct client_object *function;
    const struct client_object *stream;
    uint32_t blocks;
    void *block; /* pointers in it are patched; NULL: block_address is in device memory */
    uint64_t block_address;
    size_t block_size; /* bytes */
    const struct client_patch *patches;
    size_t patch_count;
    struct client_ticket *ticket; /* given */
};

/* Queue it. A kernel that fails when it runs is told to the ticket, which this frees. */
aclError client_launch(const struct client_launch *launch) SOMA_MUST_USE;

/* Look up what a launch runs and where. ACL_SUCCESS; 100000 NULL function; 107017; 107002; 107003.
 */
aclError client_launch_find(const void *function, const void *stream,
                            struct client_object *the_function,
                            struct client_object *the_stream) SOMA_MUST_USE;

/* Settings of a launch: known ones have no effect. ACL_SUCCESS; 100000. */
aclError client_launch_check_config(const aclrtLaunchKernelCfg *cfg) SOMA_MUST_USE;

/* Free the arguments that were begun for a function; NULL: for all. */
void client_args_forget(const void *function);

#endif
