/* Sending what is buffered, and what becomes of it. At most one request is on its way; the lock is
 * not held meanwhile, so calls go on being buffered. */
#include "pipeline_internal.h"

#include "call.h"
#include "error.h"
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FULL_BYTES ((size_t)1 << 16)   /* a batch this large is sent at once */
#define BUFFER_BYTES ((size_t)1 << 22) /* calls wait while this much is buffered */
#define LINGER_NS 2000000              /* a batch waits this long for company */

/* ---- what is wrong ---- */

/* From now on every call fails with this. */
aclError pipeline_break_off(struct client_pipeline *pipeline, aclError error, const char *why)
{
    if (pipeline->broken == ACL_SUCCESS) {
        pipeline->broken = error;
        (void)snprintf(pipeline->why, sizeof(pipeline->why), "%s", why);
    }
    (void)pthread_cond_broadcast(&pipeline->changed);
    return pipeline->broken;
}

aclError pipeline_fail_broken(const struct client_pipeline *pipeline)
{
    return client_fail(pipeline->broken,
                       "the session is over, because what has run is not known: call aclFinalize "
                       "and aclInit to begin again; first came: %s",
                       pipeline->why);
}

aclError pipeline_break_off_unequal(struct client_pipeline *pipeline,
                                    const struct soma_batch_answer *answer, uint64_t sequence,
                                    uint64_t digest)
{
    char why[SOMA_MESSAGE_BYTES];
    (void)snprintf(why, sizeof(why),
                   "the service and this library disagree about the session: after command "
                   "%" PRIu64 " its digest should be %016" PRIx64
                   ", and the service has run %" PRIu64 " with digest %016" PRIx64
                   ": somebody else uses the session, or soma has a bug; "
                   "SOMA_PIPELINE=0 asks the service each time",
                   sequence, digest, answer->next_sequence, answer->digest);
    return pipeline_break_off(pipeline, ACL_ERROR_RT_INTERNAL_ERROR, why);
}

/* ---- sending ---- */

/* One request; the lock is not held. */
aclError pipeline_post(struct client_pipeline *pipeline, struct exchange *exchange)
{
    struct client_request request = {.method = SOMA_METHOD_POST,
                                     .path = "/v1/commands",
                                     .session = pipeline->session_id,
                                     .content_type = SOMA_BATCH_TYPE,
                                     .body = pipeline->body.ptr,
                                     .body_len = pipeline->body.len,
                                     .tail = exchange->tail.ptr,
                                     .tail_len = exchange->tail.len,
                                     .into = exchange->into,
                                     .into_len = exchange->into_len,
                                     .into_at = SOMA_BATCH_BYTES_AT,
                                     .is_sequenced = true,
                                     .cancel = &pipeline->is_ending,
                                     .connection = &pipeline->connection};
    struct client_answer *answer = &exchange->answer;
    aclError error = client_send(pipeline->endpoint, &request, answer);
    if (error == ACL_SUCCESS && answer->http != 200)
        error = client_fail_http(pipeline->endpoint, answer);
    if (error == ACL_SUCCESS &&
        !soma_batch_open_answer(&exchange->reader, answer->body, answer->len))
        error = client_fail_http(pipeline->endpoint, answer);
    return error;
}

bool pipeline_is_timeout(enum soma_status status)
{
    return status == SOMA_STREAM_SYNC_TIMEOUT || status == SOMA_EVENT_SYNC_TIMEOUT ||
           status == SOMA_DEVICE_SYNC_TIMEOUT || status == SOMA_STREAM_WAIT_TIMEOUT;
}

/* Read a command of the batch that was sent last again, and tell it as JSON. Contents stand apart
 * and are not told. Returns its number in the session, from 1. */
static uint64_t tell_command(const struct client_pipeline *pipeline, uint32_t index,
                             struct soma_writer *told)
{
    struct soma_batch_reader batch;
    struct soma_command command;
    struct wire_arena arena;
    wire_arena_init(&arena);
    bool good = soma_batch_open(&batch, pipeline->body.ptr, pipeline->body.len, NULL) == SOMA_OK;
    uint64_t first = good ? batch.header.sequence : 0;
    while (good && batch.taken <= index && batch.taken < batch.header.count)
        good = soma_batch_next(&batch, &arena, &command, NULL) == SOMA_OK;
    if (good) {
        command.present &= ~SOMA_HAS(data);
        wire_encode_command(told, &command);
    }
    wire_arena_release(&arena);
    return first + index + 1;
}

/* ---- launches that failed ---- */

void pipeline_drop_tickets(struct client_pipeline *pipeline, uint64_t sequence)
{
    while (pipeline->tickets != NULL && pipeline->tickets->number <= sequence) {
        struct client_ticket *gone = pipeline->tickets;
        pipeline->tickets = gone->next;
        free(gone);
    }
    if (pipeline->tickets == NULL)
        pipeline->tickets_end = &pipeline->tickets;
}

void pipeline_fail_ticket(struct client_pipeline *pipeline, struct client_ticket *ticket,
                          const struct soma_error *error)
{
    char text[SOMA_MESSAGE_BYTES + 64];
    (void)snprintf(text, sizeof(text), "command %" PRIu64 " of this program: %s (%s)",
                   ticket->number, error->message, soma_status_reason(error->status));
    if (!ticket->fail(ticket, soma_status_info(error->status)->acl_error, text))
        (void)pipeline_break_off(pipeline, ACL_ERROR_BAD_ALLOC,
                                 "the host has no memory to remember that a kernel failed");
}

/* Of the batch that was sent last, the launch at this place has failed. */
static void fail_launch(struct client_pipeline *pipeline, uint32_t index,
                        const struct soma_error *error)
{
    struct soma_batch_reader batch;
    bool good = soma_batch_open(&batch, pipeline->body.ptr, pipeline->body.len, NULL) == SOMA_OK;
    struct client_ticket *ticket = good ? pipeline->tickets : NULL;
    while (ticket != NULL && ticket->number != batch.header.sequence + index + 1)
        ticket = ticket->next;
    if (ticket != NULL)
        pipeline_fail_ticket(pipeline, ticket, error);
}

/* ---- what a quiet batch answers ---- */

/* What the service refused after the call had returned. */
static aclError fail_refused(struct client_pipeline *pipeline, uint32_t index,
                             const struct soma_error *error)
{
    char why[SOMA_MESSAGE_BYTES];
    struct soma_writer told;
    soma_writer_init(&told, SOMA_MESSAGE_BYTES);
    uint64_t number = tell_command(pipeline, index, &told);
    (void)snprintf(why, sizeof(why),
                   "command %" PRIu64 " of this program failed at the service after its call had "
                   "returned: %.*s: %.450s",
                   number, (int)(told.len < 200 ? told.len : 200), told.len > 0 ? told.ptr : "",
                   error->message);
    soma_writer_release(&told);
    return pipeline_break_off(pipeline, soma_status_info(error->status)->acl_error, why);
}

/* Kernels that failed, time that ran out, which the copy has foreseen (the digest tells), or what
 * the service refused. */
static aclError take_records(struct client_pipeline *pipeline,
                             struct soma_batch_answer_reader *reader)
{
    struct soma_result result;
    struct soma_error error;
    aclError first = ACL_SUCCESS;
    for (uint32_t i = 0; i < reader->answer.records; i++) {
        enum soma_status status = soma_batch_next_answer(reader, &result, &error);
        if (status == SOMA_OK)
            client_result_clear(&result);
        else if (soma_is_kernel_failure(status))
            fail_launch(pipeline, reader->error_index, &error);
        else if (!pipeline_is_timeout(status) && first == ACL_SUCCESS)
            first = fail_refused(pipeline, reader->error_index, &error);
        if (status == SOMA_MALFORMED_BATCH)
            break;
    }
    return first;
}

/* Send the batch that is buffered. Lock held, given up meanwhile; nobody else is sending.
 *   contents  what its last command leaves out (soma_batch_writer); borrowed */
void pipeline_send_with(struct client_pipeline *pipeline, struct soma_text contents)
{
    struct exchange exchange = {.tail = contents};
    const struct soma_batch_answer *answer = &exchange.reader.answer;
    uint64_t sequence = pipeline->issued, digest = engine_digest(pipeline->copy);
    uint32_t kernels = pipeline->has_launches ? SOMA_BATCH_KERNELS : 0;
    pipeline->has_launches = false;
    pipeline->has_deadline = false;
    if (!soma_batch_finish(&pipeline->batch,
                           SOMA_BATCH_CONTINUE | SOMA_BATCH_QUIET | SOMA_BATCH_SEQUENCED | kernels,
                           sequence - pipeline->batch.count, &pipeline->body)) {
        (void)pipeline_break_off(pipeline, ACL_ERROR_BAD_ALLOC,
                                 "the host has no memory for a batch");
        return;
    }
    pipeline->is_sending = true;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = pipeline_post(pipeline, &exchange);
    (void)pthread_mutex_lock(&pipeline->lock);
    pipeline->is_sending = false;
    if (error != ACL_SUCCESS)
        (void)pipeline_break_off(pipeline, error, client_error_rest());
    else if (answer->records > 0)
        error = take_records(pipeline, &exchange.reader);
    if (error == ACL_SUCCESS && (answer->next_sequence != sequence || answer->digest != digest))
        (void)pipeline_break_off_unequal(pipeline, answer, sequence, digest);
    else if (error == ACL_SUCCESS)
        pipeline->confirmed = sequence;
    if (error == ACL_SUCCESS)
        pipeline_drop_tickets(pipeline, sequence);
    (void)pthread_cond_broadcast(&pipeline->changed);
}

static void send_batch(struct client_pipeline *pipeline)
{
    pipeline_send_with(pipeline, (struct soma_text){NULL, 0});
}

bool pipeline_is_over(const struct client_pipeline *pipeline)
{
    return pipeline->broken != ACL_SUCCESS || pipeline->is_left ||
           atomic_load(&pipeline->is_ending);
}

/* Until the service has confirmed the first `sequence` commands. */
void pipeline_confirm(struct client_pipeline *pipeline, uint64_t sequence)
{
    while (pipeline->confirmed < sequence && !pipeline_is_over(pipeline)) {
        if (pipeline->is_sending)
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        else
            send_batch(pipeline);
    }
}

/* ---- the flusher: sends what nobody waits for ---- */

void *pipeline_flusher_run(void *user)
{
    struct client_pipeline *pipeline = user;
    client_begin("pipeline");
    (void)pthread_mutex_lock(&pipeline->lock);
    while (!pipeline_is_over(pipeline)) {
        bool is_full = soma_batch_bytes(&pipeline->batch) >= FULL_BYTES;
        int late = 0;
        if (pipeline->batch.count > 0 && is_full && !pipeline->is_sending) {
            send_batch(pipeline);
            continue;
        }
        if (pipeline->is_sending || !pipeline->has_deadline)
            (void)pthread_cond_wait(pipeline->is_sending ? &pipeline->changed : &pipeline->has_work,
                                    &pipeline->lock);
        else
            late =
                pthread_cond_timedwait(&pipeline->has_work, &pipeline->lock, &pipeline->deadline);
        if (late != ETIMEDOUT || pipeline->is_sending)
            continue;
        pipeline->has_deadline = false;
        if (pipeline->batch.count > 0)
            send_batch(pipeline);
    }
    (void)pthread_mutex_unlock(&pipeline->lock);
    client_curl_thread_end();
    return NULL;
}

static atomic_uint test_commands_max; /* of a batch; 0: as many as there are */

void client_pipeline_limit_batches(unsigned commands_max)
{
    atomic_store(&test_commands_max, commands_max);
}

/* Whether calls have to wait until a part of the buffer is sent. */
static bool has_too_much(const struct client_pipeline *pipeline)
{
    unsigned commands_max = atomic_load_explicit(&test_commands_max, memory_order_relaxed);
    return soma_batch_bytes(&pipeline->batch) >= BUFFER_BYTES ||
           (commands_max > 0 && pipeline->batch.count >= commands_max);
}

/* There is something to send, some time. */
void pipeline_schedule(struct client_pipeline *pipeline)
{
    size_t bytes = soma_batch_bytes(&pipeline->batch);
    if (!pipeline->has_deadline && pipeline->batch.count > 0) {
        (void)clock_gettime(CLOCK_MONOTONIC, &pipeline->deadline);
        pipeline->deadline.tv_nsec += LINGER_NS;
        if (pipeline->deadline.tv_nsec >= 1000000000) {
            pipeline->deadline.tv_nsec -= 1000000000;
            pipeline->deadline.tv_sec++;
        }
        pipeline->has_deadline = true;
        (void)pthread_cond_signal(&pipeline->has_work);
    } else if (bytes >= FULL_BYTES && !pipeline->is_sending) {
        (void)pthread_cond_signal(&pipeline->has_work);
    }
    while (has_too_much(pipeline) && !pipeline_is_over(pipeline)) {
        if (pipeline->is_sending)
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        else
            send_batch(pipeline);
    }
}
