/* What pipeline.c (running commands) and pipeline_send.c (sending them) share. Everything here but
 * pipeline_post is called with the lock held. */
#ifndef SOMA_CLIENT_PIPELINE_INTERNAL_H
#define SOMA_CLIENT_PIPELINE_INTERNAL_H

#include "pipeline.h"

#include "batch.h"
#include "engine.h"
#include "transport.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct client_pipeline {
    const struct client_endpoint *endpoint;
    const char *session_id;
    pthread_t flusher;
    atomic_bool is_ending;

    pthread_mutex_t lock;
    pthread_cond_t changed;  /* the copy has changed, a request is over, or it is the end */
    pthread_cond_t has_work; /* for the flusher */
    struct engine *copy;
    struct soma_batch_writer batch;
    struct soma_writer body;              /* of the request on its way */
    struct client_connection *connection; /* for one at a time, whichever thread sends it: another
                                           * thread of the program needs no further socket */
    uint64_t issued;                      /* commands that the copy has run */
    uint64_t confirmed;                   /* of these, confirmed by the service */
    unsigned waiters;                     /* threads that wait for the copy to change */
    uint64_t limit_ns;                    /* engine_deadline_ns as last seen by one of them */
    struct timespec limit; /* CLOCK_MONOTONIC: when that much time has passed since */
    struct client_ticket *tickets, **tickets_end; /* of launches not confirmed, oldest first */
    bool has_launches;                            /* the buffered batch has some */
    bool is_sending;
    bool is_left;   /* nothing can be foreseen any more: every call asks the service */
    bool is_frozen; /* a command is asked that the copy cannot foresee */
    bool has_deadline;
    struct timespec deadline; /* CLOCK_MONOTONIC: the batch goes then */
    aclError broken;          /* ACL_SUCCESS, or what every call says */
    char why[SOMA_MESSAGE_BYTES];
};

/* A request and its answer. */
struct exchange {
    struct soma_text tail; /* contents that stand behind the body */
    void *into;            /* where the bytes of a read go; NULL: into the answer */
    size_t into_len;
    struct client_answer answer;
    struct soma_batch_answer_reader reader; /* stands before the first record */
};

/* From now on every call fails with this. Returns what it fails with. */
aclError pipeline_break_off(struct client_pipeline *pipeline, aclError error, const char *why);
/* The service and the copy disagree after the first `sequence` commands. */
aclError pipeline_break_off_unequal(struct client_pipeline *pipeline,
                                    const struct soma_batch_answer *answer, uint64_t sequence,
                                    uint64_t digest);
aclError pipeline_fail_broken(const struct client_pipeline *pipeline);
bool pipeline_is_over(const struct client_pipeline *pipeline);
bool pipeline_is_timeout(enum soma_status status);

/* The kernel of this launch has failed; the ticket stays the caller's. */
void pipeline_fail_ticket(struct client_pipeline *pipeline, struct client_ticket *ticket,
                          const struct soma_error *error);

/* The session has confirmed the first `sequence` commands: forget their tickets. */
void pipeline_drop_tickets(struct client_pipeline *pipeline, uint64_t sequence);

/* One request; the lock is not held. */
aclError pipeline_post(struct client_pipeline *pipeline, struct exchange *exchange);

/* Send the batch that is buffered; the lock is given up meanwhile; nobody else is sending.
 *   contents  what its last command leaves out (soma_batch_writer); borrowed */
void pipeline_send_with(struct client_pipeline *pipeline, struct soma_text contents);

/* Until the service has confirmed the first `sequence` commands. */
void pipeline_confirm(struct client_pipeline *pipeline, uint64_t sequence);

/* There is something to send, some time. Waits while too much is buffered. */
void pipeline_schedule(struct client_pipeline *pipeline);

/* The thread that sends what nobody waits for. */
void *pipeline_flusher_run(void *user);

#endif
