/* The seam between ACL and the service: every ACL function that reaches the service does it by one
 * of the calls of this file. Today each is one request that is answered before it returns; a
 * command buffer will sit behind client_queue. Thread-safe; errors are recorded (error.h). */
#ifndef SOMA_CLIENT_CALL_H
#define SOMA_CLIENT_CALL_H

#include "acl/acl_base.h"
#include "command.h"
#include "message.h"
#include "pipeline.h"
#include "status.h"
#include "transport.h"

#include <cjson/cJSON.h>

/* Run a command and get its answer. Opens the session if there is none.
 *   command  borrowed; soma_command_init and soma_command_set made it
 *   result   out, on ACL_SUCCESS: give it back with client_result_clear; NULL: not wanted
 * Waits as long as the command does. ACL_SUCCESS; the error of the command, with its text; 507901.
 */
aclError client_call(const struct soma_command *command, struct soma_result *result) SOMA_MUST_USE;

/* client_call and client_read in a session that the caller holds: they open none, and leave managed
 * memory alone. For threads of the library, and for managed memory itself. */
struct client_session;
aclError client_session_call(struct client_session *session, const struct soma_command *command,
                             struct soma_result *result) SOMA_MUST_USE;
aclError client_session_read(struct client_session *session, const struct soma_command *command,
                             void *into) SOMA_MUST_USE;

/* SOMA_OP_STREAM_LAUNCH_KERNEL; see client_pipeline_launch. The ticket is given. */
aclError client_call_launch(const struct soma_command *command,
                            struct client_ticket *ticket) SOMA_MUST_USE;

/* A command of which no answer is needed now: it is carried out after all that the thread called
 * before. On a stream that a kernel has stopped, of which the program does not know yet
 * (client_stream_is_stopping), nothing is: ACL_SUCCESS. Errors as client_call. */
aclError client_queue(const struct soma_command *command) SOMA_MUST_USE;

/* SOMA_OP_MEMORY_READ of command->size bytes straight to `into`. Errors as client_call. */
aclError client_read(const struct soma_command *command, void *into) SOMA_MUST_USE;

/* Free what an answer holds; an answer that holds nothing may be dropped. */
void client_result_clear(struct soma_result *result);

/* How many devices the session has. */
aclError client_device_count(uint32_t *count) SOMA_MUST_USE;

/* GET a route that is not a command, in the session.
 *   root  out, on ACL_SUCCESS: the object that was answered; cJSON_Delete */
aclError client_get(const char *path, cJSON **root) SOMA_MUST_USE;

/* Record what an answer other than the one that was asked for says: the error in its JSON, or that
 * it is no soma server. Never ACL_SUCCESS. */
aclError client_fail_http(const struct client_endpoint *endpoint,
                          const struct client_answer *answer);

/* Send any request and read the JSON object of its answer (NULL for an empty one). An answer that
 * is an error is recorded and its number returned. Used by the session before there is one. */
aclError client_exchange(const struct client_endpoint *endpoint,
                         const struct client_request *request, cJSON **root) SOMA_MUST_USE;

#endif
