/* The copy, the buffer and the sending. One lock guards all of it; it is not held while a request
 * is on its way, so calls go on being buffered meanwhile. At most one request is on its way. */
#include "pipeline.h"

#include "batch.h"
#include "call.h"
#include "engine.h"
#include "error.h"
#include "transport.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FULL_BYTES ((size_t)1 << 16)   /* a batch this large is sent at once */
#define BUFFER_BYTES ((size_t)1 << 22) /* calls wait while this much is buffered */
#define BATCH_BYTES_MAX ((size_t)3 << 30)
#define LARGE_BYTES ((size_t)1 << 17) /* contents of this size are not copied on their way */
#define LINGER_NS 2000000             /* a batch waits this long for company */

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
    struct soma_writer body; /* of the request on its way */
    uint64_t issued;         /* commands that the copy has run */
    uint64_t confirmed;      /* of these, confirmed by the service */
    unsigned waiters;        /* threads that wait for the copy to change */
    bool is_sending;
    bool is_frozen; /* a command is asked that the copy cannot foresee */
    bool has_deadline;
    struct timespec deadline; /* CLOCK_MONOTONIC: the batch goes then */
    aclError broken;          /* ACL_SUCCESS, or what every call says */
    char why[SOMA_MESSAGE_BYTES];
};

static aclError fail_memory(void)
{
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a command");
}

/* ---- the copy ---- */

static void *copy_alloc(void *ctx, size_t size_bytes)
{
    (void)ctx;
    return malloc(size_bytes);
}

static void copy_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static struct engine *copy_create(uint32_t device_count, const struct soma_soc *soc)
{
    struct engine_config config = {.device_count = device_count, .soc = soc};
    struct engine_mem mem = {NULL, copy_alloc, copy_release};
    return engine_create(&config, &mem, NULL);
}

/* ---- what is wrong ---- */

/* From now on every call fails with this. */
static aclError break_off(struct client_pipeline *pipeline, aclError error, const char *why)
{
    if (pipeline->broken == ACL_SUCCESS) {
        pipeline->broken = error;
        (void)snprintf(pipeline->why, sizeof(pipeline->why), "%s", why);
    }
    (void)pthread_cond_broadcast(&pipeline->changed);
    return pipeline->broken;
}

static aclError fail_broken(const struct client_pipeline *pipeline)
{
    return client_fail(pipeline->broken, "%s", pipeline->why);
}

static aclError break_off_unequal(struct client_pipeline *pipeline,
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
    return break_off(pipeline, ACL_ERROR_RT_INTERNAL_ERROR, why);
}

/* ---- sending ---- */

/* A request and its answer. */
struct exchange {
    struct soma_text tail; /* contents that stand behind the body */
    void *into;            /* where the bytes of a read go; NULL: into the answer */
    size_t into_len;
    struct client_answer answer;
    struct soma_batch_answer_reader reader; /* stands before the first record */
};

/* One request; the lock is not held. */
static aclError post(const struct client_pipeline *pipeline, struct exchange *exchange)
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
                                     .cancel = &pipeline->is_ending};
    struct client_answer *answer = &exchange->answer;
    aclError error = client_send(pipeline->endpoint, &request, answer);
    if (error == ACL_SUCCESS && answer->http != 200)
        error = client_fail_http(pipeline->endpoint, answer);
    if (error == ACL_SUCCESS &&
        !soma_batch_open_answer(&exchange->reader, answer->body, answer->len))
        error = client_fail_http(pipeline->endpoint, answer);
    return error;
}

static bool is_timeout(enum soma_status status)
{
    return status == SOMA_STREAM_SYNC_TIMEOUT || status == SOMA_EVENT_SYNC_TIMEOUT ||
           status == SOMA_DEVICE_SYNC_TIMEOUT;
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

/* The first record of a batch that answers nothing else: a wait whose time ran out, which the copy
 * has foreseen (the digest tells), or what the service refused. */
static aclError fail_refused(struct client_pipeline *pipeline,
                             struct soma_batch_answer_reader *reader)
{
    struct soma_result result;
    struct soma_error error;
    char why[SOMA_MESSAGE_BYTES];
    enum soma_status status = soma_batch_next_answer(reader, &result, &error);
    if (is_timeout(status))
        return ACL_SUCCESS;
    if (status == SOMA_OK) {
        client_result_clear(&result);
        return ACL_SUCCESS;
    }
    struct soma_writer told;
    soma_writer_init(&told, SOMA_MESSAGE_BYTES);
    uint64_t number = tell_command(pipeline, reader->error_index, &told);
    (void)snprintf(why, sizeof(why),
                   "command %" PRIu64 " of this program failed at the service after its call had "
                   "returned: %.*s: %.450s",
                   number, (int)(told.len < 200 ? told.len : 200), told.len > 0 ? told.ptr : "",
                   error.message);
    soma_writer_release(&told);
    return break_off(pipeline, soma_status_info(status)->acl_error, why);
}

/* Send the batch that is buffered. Lock held, given up meanwhile; nobody else is sending.
 *   contents  what its last command leaves out (soma_batch_writer); borrowed */
static void send_with(struct client_pipeline *pipeline, struct soma_text contents)
{
    struct exchange exchange = {.tail = contents};
    const struct soma_batch_answer *answer = &exchange.reader.answer;
    uint64_t sequence = pipeline->issued, digest = engine_digest(pipeline->copy);
    pipeline->has_deadline = false;
    if (!soma_batch_finish(&pipeline->batch,
                           SOMA_BATCH_CONTINUE | SOMA_BATCH_QUIET | SOMA_BATCH_SEQUENCED,
                           sequence - pipeline->batch.count, &pipeline->body)) {
        (void)break_off(pipeline, ACL_ERROR_BAD_ALLOC, "the host has no memory for a batch");
        return;
    }
    pipeline->is_sending = true;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = post(pipeline, &exchange);
    (void)pthread_mutex_lock(&pipeline->lock);
    pipeline->is_sending = false;
    if (error != ACL_SUCCESS)
        (void)break_off(pipeline, error, client_error_rest());
    else if (answer->records > 0)
        error = fail_refused(pipeline, &exchange.reader);
    if (error == ACL_SUCCESS && (answer->next_sequence != sequence || answer->digest != digest))
        (void)break_off_unequal(pipeline, answer, sequence, digest);
    else if (error == ACL_SUCCESS)
        pipeline->confirmed = sequence;
    (void)pthread_cond_broadcast(&pipeline->changed);
}

static void send_batch(struct client_pipeline *pipeline)
{
    send_with(pipeline, (struct soma_text){NULL, 0});
}

static bool is_over(const struct client_pipeline *pipeline)
{
    return pipeline->broken != ACL_SUCCESS || atomic_load(&pipeline->is_ending);
}

/* Until the service has confirmed the first `sequence` commands. */
static void confirm(struct client_pipeline *pipeline, uint64_t sequence)
{
    while (pipeline->confirmed < sequence && !is_over(pipeline)) {
        if (pipeline->is_sending)
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        else
            send_batch(pipeline);
    }
}

/* ---- the flusher: sends what nobody waits for ---- */

static void *flusher_run(void *user)
{
    struct client_pipeline *pipeline = user;
    client_begin("pipeline");
    (void)pthread_mutex_lock(&pipeline->lock);
    while (!is_over(pipeline)) {
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
static void schedule(struct client_pipeline *pipeline)
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
    while (has_too_much(pipeline) && !is_over(pipeline)) {
        if (pipeline->is_sending)
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        else
            send_batch(pipeline);
    }
}

/* ---- running ---- */

/* Commands of which ACL wants no answer from the device. */
static bool is_answered_at_once(enum soma_op op)
{
    switch ((int)op) {
    case SOMA_OP_STREAM_CREATE:
    case SOMA_OP_STREAM_WAIT_EVENT:
    case SOMA_OP_EVENT_CREATE:
    case SOMA_OP_EVENT_DESTROY:
    case SOMA_OP_EVENT_RECORD:
    case SOMA_OP_EVENT_RESET:
    case SOMA_OP_POOL_CREATE:
    case SOMA_OP_POOL_SET_ATTRIBUTE:
    case SOMA_OP_POOL_MALLOC:
    case SOMA_OP_POOL_FREE:
    case SOMA_OP_POOL_TRIM_TO:
    case SOMA_OP_MEMORY_MALLOC:
    case SOMA_OP_MEMORY_FREE:
    case SOMA_OP_MEMORY_FREE_ASYNC:
    case SOMA_OP_MEMORY_SET:
    case SOMA_OP_MEMORY_COPY:
    case SOMA_OP_MEMORY_WRITE: return true;
    default: return false;
    }
}

static struct timespec in_ms(uint64_t ms)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)(ms / 1000);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static bool is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Wait for the copy to change. A wait may last for ever, so now and then the service is asked
 * whether it lives; when it does not, the pipeline breaks off. Half of the timeout passes before
 * that and half is the probe's. limit NULL: none. Returns whether the limit has come. */
static bool wait_for_change(struct client_pipeline *pipeline, const struct timespec *limit)
{
    struct timespec probe = in_ms(((uint64_t)pipeline->endpoint->timeout_ms + 1) / 2);
    bool is_limit = limit != NULL && is_earlier(limit, &probe);
    int code =
        pthread_cond_timedwait(&pipeline->changed, &pipeline->lock, is_limit ? limit : &probe);
    if (code != ETIMEDOUT || is_limit)
        return code == ETIMEDOUT;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = client_probe(pipeline->endpoint);
    (void)pthread_mutex_lock(&pipeline->lock);
    if (error != ACL_SUCCESS && !is_over(pipeline))
        (void)break_off(pipeline, error, client_error_rest());
    return false;
}

/* The copy says that the command has to wait: until another thread's command lets it go on, or its
 * timeout is over. SOMA_MUST_WAIT: the pipeline is over. */
static enum soma_status wait_in_copy(struct client_pipeline *pipeline, struct soma_command *command,
                                     struct soma_result *result, struct soma_error *error)
{
    enum soma_status status = SOMA_MUST_WAIT;
    bool has_limit =
        (command->present & SOMA_HAS(timeout_ms)) != 0 && command->timeout_ms != UINT64_MAX;
    struct timespec limit = in_ms(has_limit ? command->timeout_ms : 0);
    pipeline->waiters++;
    while (status == SOMA_MUST_WAIT && !is_over(pipeline)) {
        command->expired = wait_for_change(pipeline, has_limit ? &limit : NULL);
        while (pipeline->is_frozen && !is_over(pipeline))
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        if (!is_over(pipeline))
            status = engine_apply(pipeline->copy, command, result, error);
    }
    pipeline->waiters--;
    return status;
}

/* The copy has run the command with this outcome: does the session's history have it? */
static bool is_history(enum soma_status status)
{
    return status == SOMA_OK || is_timeout(status);
}

/* Put what the copy has run behind the buffered commands. */
static bool append(struct client_pipeline *pipeline, const struct soma_command *command)
{
    if (!soma_batch_add(&pipeline->batch, command)) {
        (void)break_off(pipeline, ACL_ERROR_BAD_ALLOC, "the host has no memory for a command");
        return false;
    }
    pipeline->issued++;
    if (pipeline->waiters > 0)
        (void)pthread_cond_broadcast(&pipeline->changed);
    return true;
}

/* All that is buffered is confirmed and nothing is on its way. false: it is over. */
static bool drain(struct client_pipeline *pipeline)
{
    confirm(pipeline, pipeline->issued);
    while (pipeline->is_sending && !is_over(pipeline))
        (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    return !is_over(pipeline);
}

/* Send this command alone and take its answer: all before it is confirmed, and nothing is run
 * meanwhile. Lock held, given up meanwhile. */
static aclError ask(struct client_pipeline *pipeline, const struct soma_command *command,
                    struct exchange *exchange)
{
    if (!drain(pipeline))
        return ACL_ERROR_RT_SOCKET_CLOSE;
    if (!soma_batch_add(&pipeline->batch, command))
        return fail_memory();
    if (!soma_batch_finish(&pipeline->batch, SOMA_BATCH_SEQUENCED, pipeline->issued,
                           &pipeline->body))
        return break_off(pipeline, ACL_ERROR_BAD_ALLOC, "the host has no memory for a batch");
    pipeline->is_sending = true;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = post(pipeline, exchange);
    (void)pthread_mutex_lock(&pipeline->lock);
    pipeline->is_sending = false;
    if (error != ACL_SUCCESS)
        (void)break_off(pipeline, error, client_error_rest());
    else
        pipeline->confirmed = ++pipeline->issued;
    (void)pthread_cond_broadcast(&pipeline->changed);
    return error;
}

/* Take the only record of an answer. ACL_SUCCESS and *result, or the error that it tells. Bytes
 * that have gone to exchange->into are not in *result. */
static aclError take_result(struct exchange *exchange, struct soma_result *result)
{
    struct soma_error error;
    result->message = SOMA_MESSAGE_NONE;
    if (exchange->answer.is_into)
        return soma_batch_answers_bytes(&exchange->reader, exchange->into_len)
                   ? ACL_SUCCESS
                   : client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the answer is no batch");
    enum soma_status status = soma_batch_next_answer(&exchange->reader, result, &error);
    return status == SOMA_OK ? ACL_SUCCESS : client_fail_answer(&error, 0);
}

/* The copy follows a command that was asked: the kernel's cost is known now. */
static aclError follow(struct client_pipeline *pipeline, const struct soma_command *command,
                       const struct soma_result *answered, const struct soma_batch_answer *service)
{
    struct soma_command followed = *command;
    struct soma_result result;
    struct soma_error error;
    if (answered->message == SOMA_MESSAGE_LAUNCHED)
        followed.kernel_cost_ns = answered->u.launched.cost_ns;
    enum soma_status status = engine_apply(pipeline->copy, &followed, &result, &error);
    if (status == SOMA_OK)
        engine_result_clear(pipeline->copy, &result);
    uint64_t digest = engine_digest(pipeline->copy);
    if (status == SOMA_OK && service->digest == digest &&
        service->next_sequence == pipeline->issued)
        return ACL_SUCCESS;
    (void)break_off_unequal(pipeline, service, pipeline->issued, digest);
    return fail_broken(pipeline);
}

/* From now on other threads' commands wait. Lock held. */
static void freeze(struct client_pipeline *pipeline)
{
    pipeline->is_frozen = true;
}

static void thaw(struct client_pipeline *pipeline)
{
    pipeline->is_frozen = false;
    (void)pthread_cond_broadcast(&pipeline->changed);
}

/* Run a command that only the service can answer. Lock held. */
static aclError run_asked(struct client_pipeline *pipeline, const struct soma_command *command,
                          struct exchange *exchange, struct soma_result *result)
{
    freeze(pipeline);
    aclError error = ask(pipeline, command, exchange);
    result->message = SOMA_MESSAGE_NONE;
    if (error == ACL_SUCCESS)
        error = take_result(exchange, result);
    else if (pipeline->broken != ACL_SUCCESS)
        error = fail_broken(pipeline);
    if (error == ACL_SUCCESS) {
        error = follow(pipeline, command, result, &exchange->reader.answer);
        if (error != ACL_SUCCESS)
            client_result_clear(result);
    }
    thaw(pipeline);
    return error;
}

/* Write large contents: sent at once, from where they are. Lock held. */
static aclError write_through(struct client_pipeline *pipeline, const struct soma_command *command,
                              struct soma_result *result)
{
    struct soma_error error;
    enum soma_status status = SOMA_OK;
    freeze(pipeline);
    if (drain(pipeline))
        status = engine_apply(pipeline->copy, command, result, &error);
    if (status == SOMA_OK && !is_over(pipeline)) {
        pipeline->batch.leaves_bytes = true;
        if (append(pipeline, command))
            send_with(pipeline, command->data);
        pipeline->batch.leaves_bytes = false;
    }
    thaw(pipeline);
    if (status != SOMA_OK)
        return client_fail_answer(&error, 0);
    if (pipeline->broken != ACL_SUCCESS)
        return fail_broken(pipeline);
    return is_over(pipeline)
               ? client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session ended while the call waited")
               : ACL_SUCCESS;
}

/* Run a command that the copy can foresee. Lock held. */
static aclError run_foreseen(struct client_pipeline *pipeline, const struct soma_command *command,
                             struct soma_result *result)
{
    struct soma_command waited;
    struct soma_error error;
    enum soma_status status = engine_apply(pipeline->copy, command, result, &error);
    if (status == SOMA_MUST_WAIT) {
        waited = *command;
        command = &waited;
        status = wait_in_copy(pipeline, &waited, result, &error);
    }
    if (status == SOMA_MUST_WAIT && pipeline->broken == ACL_SUCCESS)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session ended while the call waited");
    if (is_history(status) && append(pipeline, command)) {
        if (is_answered_at_once(command->op))
            schedule(pipeline);
        else
            confirm(pipeline, pipeline->issued);
    }
    if (pipeline->broken == ACL_SUCCESS)
        return status == SOMA_OK ? ACL_SUCCESS : client_fail_answer(&error, 0);
    if (status == SOMA_OK)
        client_result_clear(result);
    return fail_broken(pipeline);
}

/* Take the lock when commands can be run. false: it is over, and the lock is not held. */
static bool enter(struct client_pipeline *pipeline)
{
    (void)pthread_mutex_lock(&pipeline->lock);
    while (pipeline->is_frozen && !is_over(pipeline))
        (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    if (!is_over(pipeline))
        return true;
    if (pipeline->broken != ACL_SUCCESS)
        (void)fail_broken(pipeline);
    else
        (void)client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session is being ended");
    (void)pthread_mutex_unlock(&pipeline->lock);
    return false;
}

static aclError run(struct client_pipeline *pipeline, const struct soma_command *command,
                    struct soma_result *result)
{
    struct exchange exchange = {.into = NULL};
    if (command->op == SOMA_OP_STREAM_LAUNCH_KERNEL)
        return run_asked(pipeline, command, &exchange, result);
    if (command->op == SOMA_OP_MEMORY_WRITE && command->data.len >= LARGE_BYTES)
        return write_through(pipeline, command, result);
    return run_foreseen(pipeline, command, result);
}

aclError client_pipeline_run(struct client_pipeline *pipeline, const struct soma_command *command,
                             struct soma_result *result)
{
    struct soma_result unwanted;
    struct soma_result *out = result != NULL ? result : &unwanted;
    if (!enter(pipeline))
        return client_error_last(false);
    aclError error = run(pipeline, command, out);
    (void)pthread_mutex_unlock(&pipeline->lock);
    if (error == ACL_SUCCESS && result == NULL)
        client_result_clear(out);
    return error;
}

aclError client_pipeline_read(struct client_pipeline *pipeline, const struct soma_command *command,
                              void *into)
{
    struct soma_result result;
    struct exchange exchange = {.into = NULL};
    if (command->size >= LARGE_BYTES) {
        exchange.into = into;
        exchange.into_len = (size_t)command->size;
    }
    if (!enter(pipeline))
        return client_error_last(false);
    aclError error = run_asked(pipeline, command, &exchange, &result);
    (void)pthread_mutex_unlock(&pipeline->lock);
    if (error != ACL_SUCCESS || exchange.answer.is_into)
        return error;
    const struct soma_buffer *data = &result.u.memory_bytes.data;
    if (data->len == command->size)
        memcpy(into, data->ptr, data->len);
    else
        error = client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                            "%zu bytes were answered where %" PRIu64 " were asked for", data->len,
                            command->size);
    client_result_clear(&result);
    return error;
}

/* ---- beginning and end ---- */

static bool is_switched_off(void)
{
    const char *value = client_env("SOMA_PIPELINE");
    return value != NULL && strcmp(value, "0") == 0;
}

static bool start_flusher(struct client_pipeline *pipeline)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&pipeline->flusher, NULL, flusher_run, pipeline) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void init_locks(struct client_pipeline *pipeline)
{
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&pipeline->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pipeline->changed, &attributes);
    (void)pthread_cond_init(&pipeline->has_work, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

aclError client_pipeline_start(struct client_pipeline **out, const struct client_endpoint *endpoint,
                               const char *session_id, uint32_t device_count,
                               const struct soma_soc *soc)
{
    *out = NULL;
    if (soc == NULL || is_switched_off())
        return ACL_SUCCESS;
    struct client_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (pipeline == NULL)
        return fail_memory();
    init_locks(pipeline);
    pipeline->endpoint = endpoint;
    pipeline->session_id = session_id;
    atomic_init(&pipeline->is_ending, false);
    soma_batch_writer_init(&pipeline->batch, BATCH_BYTES_MAX);
    soma_writer_init(&pipeline->body, BATCH_BYTES_MAX);
    pipeline->copy = copy_create(device_count, soc);
    if (pipeline->copy == NULL || !start_flusher(pipeline)) {
        client_pipeline_free(pipeline);
        return fail_memory();
    }
    *out = pipeline;
    return ACL_SUCCESS;
}

void client_pipeline_stop(struct client_pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    (void)pthread_mutex_lock(&pipeline->lock);
    atomic_store(&pipeline->is_ending, true);
    (void)pthread_cond_broadcast(&pipeline->changed);
    (void)pthread_cond_broadcast(&pipeline->has_work);
    (void)pthread_mutex_unlock(&pipeline->lock);
    (void)pthread_join(pipeline->flusher, NULL);
}

void client_pipeline_free(struct client_pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    engine_destroy(pipeline->copy);
    soma_batch_writer_release(&pipeline->batch);
    soma_writer_release(&pipeline->body);
    (void)pthread_cond_destroy(&pipeline->changed);
    (void)pthread_cond_destroy(&pipeline->has_work);
    (void)pthread_mutex_destroy(&pipeline->lock);
    free(pipeline);
}
