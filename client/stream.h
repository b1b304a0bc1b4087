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

/* As client_stream_find_to_queue, for work that reads or writes memory: see
 * client_host_funcs_let_pass. */
aclError client_stream_find_to_move(const void *stream, struct client_object *object) SOMA_MUST_USE;

/* The event of a handle. ACL_SUCCESS; 100000 NULL; 107017; 107002 the thread has no context. */
aclError client_event_find(const void *event, struct client_object *object) SOMA_MUST_USE;

/* A timeout in milliseconds: -1 (no limit) or at least 1. ACL_SUCCESS; 107000. */
aclError client_timeout_check(int32_t timeout) SOMA_MUST_USE;

/* Work queued on a stream has failed: remember it until a synchronisation tells it. Of several the
 * first one stays. */
struct client_fault {
    uint32_t device;
    uint64_t stream_id;
    aclError number;
    bool stops;       /* the stream takes no more work */
    const char *text; /* opens with the call that queued the work; borrowed */
};

/* false: no memory; nothing is remembered. */
bool client_stream_add_fault(const struct client_fault *fault);

/* Whether the stream has stopped and the program does not know it yet: no synchronisation has told.
 */
bool client_stream_is_stopping(uint64_t device, uint64_t stream_id);

/* Tell what work on the stream failed with, once. ACL_SUCCESS; the error. */
aclError client_stream_take_fault(uint32_t device, uint64_t stream_id);

/* The same for any stream of a device. */
aclError client_stream_take_device_fault(uint32_t device);

void client_stream_forget_fault(uint32_t device, uint64_t stream_id);
void client_stream_forget_faults(uint32_t device);
void client_stream_forget_all_faults(void);

/* ---- aborts ---- */

/* Drop the stream's work: client/acl_abort.c. */
aclError client_stream_abort(const struct client_object *stream) SOMA_MUST_USE;

/* Count an abort of the stream, or of all streams of the device, that is about to be. */
void client_stream_note_abort(const struct client_object *stream);
void client_stream_note_device_abort(uint32_t device);

/* How often the work of a stream was dropped; NULL: of the device as a whole. */
struct client_aborts {
    uint64_t of_stream, of_device;
};
struct client_aborts client_stream_aborts(const struct client_object *stream, uint32_t device);

/* What a wait that was begun with `before` gives: ACL_SUCCESS; 107023 the stream, 107022 the device
 * was aborted meanwhile. */
aclError client_stream_check_aborts(const struct client_object *stream, uint32_t device,
                                    const struct client_aborts *before) SOMA_MUST_USE;

#endif
