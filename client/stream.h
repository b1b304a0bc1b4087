/* Streams and events by their handles, and what went wrong on a stream after it was queued. */
#ifndef SOMA_CLIENT_STREAM_H
#define SOMA_CLIENT_STREAM_H

#include "acl/acl_base.h"
#include "handle.h"
#include "status.h"

/* The stream of a handle; NULL: the default stream of the thread's context.
 * ACL_SUCCESS; 107017 destroyed, made up or another kind; 107002 the thread has no context. */
aclError client_stream_find(const void *stream, struct client_object *object) SOMA_MUST_USE;

/* As client_stream_find, for work to be queued: 107003 a stream of another context. */
aclError client_stream_find_to_queue(const void *stream,
                                     struct client_object *object) SOMA_MUST_USE;

/* The event of a handle. ACL_SUCCESS; 100000 NULL; 107017; 107002 the thread has no context. */
aclError client_event_find(const void *event, struct client_object *object) SOMA_MUST_USE;

/* A timeout in milliseconds: -1 (no limit) or at least 1. ACL_SUCCESS; 107000. */
aclError client_timeout_check(int32_t timeout) SOMA_MUST_USE;

/* Remember the error that the thread has just recorded: work queued on the stream has failed. The
 * first one stays until it is told. Without memory it is told at once: false. */
bool client_stream_set_fault(const struct client_object *stream, aclError number);

/* Tell what work on the stream failed with, once. ACL_SUCCESS; the error. */
aclError client_stream_take_fault(uint32_t device, uint64_t stream_id);

/* The same for any stream of a device. */
aclError client_stream_take_device_fault(uint32_t device);

void client_stream_forget_faults(uint32_t device);
void client_stream_forget_all_faults(void);

#endif
