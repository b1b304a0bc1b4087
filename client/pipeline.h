/* Commands without waiting: a copy of the session's engine tells what the service will answer, and
 * the commands go to the service together, a little later.
 *
 * Each batch carries the number of its first command, and its answer the digest of the session as
 * it then stands. When that is not what the copy expects, the session is broken: every further
 * call fails and says so. How it works: schema/PIPELINE.md. Thread-safe. */
#ifndef SOMA_CLIENT_PIPELINE_H
#define SOMA_CLIENT_PIPELINE_H

#include "acl/acl_base.h"
#include "command.h"
#include "endpoint.h"
#include "message.h"

#include <stdbool.h>
#include <stdint.h>

struct client_pipeline;

/* A pipeline for a session that has just been opened and that nobody else uses.
 *   pipeline  out: NULL when SOMA_PIPELINE=0; end it with client_pipeline_stop
 *   endpoint, session_id  kept until client_pipeline_stop
 * ACL_SUCCESS; 200000. */
aclError client_pipeline_start(struct client_pipeline **pipeline,
                               const struct client_endpoint *endpoint, const char *session_id,
                               uint32_t device_count, const struct soma_soc *soc) SOMA_MUST_USE;

/* Nothing more is sent; calls that wait end with 507901. Then the threads' last calls may still
 * return: client_pipeline_free when nobody is inside. Both take NULL. */
void client_pipeline_stop(struct client_pipeline *pipeline);
void client_pipeline_free(struct client_pipeline *pipeline);

/* What a call gives when commands cannot be foreseen any longer, since aclrtValueWait: it was not
 * run and nothing is recorded; the service has confirmed all before it and is asked from now on. */
#define CLIENT_PIPELINE_LEFT (-1)

/* Run a command. Those of which ACL needs no answer return at once; the others after the service
 * has confirmed all that came before, and them.
 *   result  out, on ACL_SUCCESS; NULL: not wanted
 * Errors as client_call; CLIENT_PIPELINE_LEFT. */
aclError client_pipeline_run(struct client_pipeline *pipeline, const struct soma_command *command,
                             struct soma_result *result) SOMA_MUST_USE;

/* A launch that is under way: what to do when its kernel fails. Allocated with malloc by who
 * launches; given to the pipeline, which frees it. */
struct client_ticket {
    struct client_ticket *next; /* the pipeline's */
    uint64_t number;            /* the pipeline's: of the command in the session, from 1 */
    bool must_ask;              /* wait for the outcome: it decides what comes next */
    /* The kernel has failed. Called once at most, from any thread; takes no lock but the tables'.
     *   text  tells the command, its number and what went wrong
     * false: the host has no memory to remember it. */
    bool (*fail)(struct client_ticket *ticket, aclError number, const char *text);
};

/* Run SOMA_OP_STREAM_LAUNCH_KERNEL of a kernel that client_kernel_find has found. ACL_SUCCESS also
 * when it fails in execution: then the ticket tells. Errors as client_call; CLIENT_PIPELINE_LEFT,
 * and then the ticket is the caller's still. */
aclError client_pipeline_launch(struct client_pipeline *pipeline,
                                const struct soma_command *command,
                                struct client_ticket *ticket) SOMA_MUST_USE;

/* SOMA_OP_MEMORY_READ straight to `into`. Errors as client_pipeline_run. */
aclError client_pipeline_read(struct client_pipeline *pipeline, const struct soma_command *command,
                              void *into) SOMA_MUST_USE;

/* For tests: a batch is sent as soon as it holds so many commands; 0: as it comes. Not exported. */
void client_pipeline_limit_batches(unsigned commands_max);

#endif
