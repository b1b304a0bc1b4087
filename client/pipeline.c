/* Running commands on the copy of the session's engine and buffering them for the service. One lock
 * guards all of it. */
#include "pipeline_internal.h"

#include "call.h"
#include "catalog.h"
#include "error.h"
#include "host_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES_MAX ((size_t)3 << 30)
#define LARGE_BYTES ((size_t)1 << 17) /* contents of this size are not copied on their way */

static aclError fail_memory(void)
{
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a command");
}

/* ---- the copy ---- */

static struct engine *copy_create(uint32_t device_count, const struct soma_soc *soc)
{
    struct engine_config config = {.device_count = device_count, .soc = soc};
    struct engine_mem mem = host_memory_table();
    return engine_create(&config, &mem, NULL);
}

/* ---- running ---- */

/* Commands of which ACL wants no answer from the device. A wait that releases nothing is one,
 * because it is there for what comes behind it, unless a launch might still be found to have
 * failed. */
static bool is_answered_at_once(const struct client_pipeline *pipeline,
                                const struct soma_command *command)
{
    switch ((int)command->op) {
    case SOMA_OP_STREAM_SYNCHRONIZE: return command->release == 0 && pipeline->tickets == NULL;
    case SOMA_OP_STREAM_CREATE:
    case SOMA_OP_STREAM_SET_FAILURE_MODE:
    case SOMA_OP_STREAM_WAIT_EVENT:
    case SOMA_OP_STREAM_WRITE_VALUE:
    case SOMA_OP_STREAM_WAIT_NOTIFY:
    case SOMA_OP_STREAM_RECORD_NOTIFY:
    case SOMA_OP_NOTIFY_CREATE:
    case SOMA_OP_NOTIFY_RESET:
    case SOMA_OP_NOTIFY_DESTROY:
    case SOMA_OP_STREAM_LAUNCH_HOST_FUNC:
    case SOMA_OP_HOST_FUNC_TAKE:
    case SOMA_OP_HOST_FUNC_COMPLETE:
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
    case SOMA_OP_MEMORY_REDUCE:
    case SOMA_OP_MEMORY_RANDOM:
    case SOMA_OP_MEMORY_MALLOC_MANAGED:
    case SOMA_OP_MEMORY_RESERVE:
    case SOMA_OP_MEMORY_RELEASE:
    case SOMA_OP_MEMORY_MAP:
    case SOMA_OP_MEMORY_UNMAP:
    case SOMA_OP_MEMORY_SET_ACCESS:
    case SOMA_OP_MEMORY_MALLOC_PHYSICAL:
    case SOMA_OP_MEMORY_FREE_PHYSICAL:
    case SOMA_OP_MEMORY_RETAIN_PHYSICAL:
    case SOMA_OP_MEMORY_DESCRIBE:
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

/* Ask the service whether it lives; when it does not, the pipeline breaks off. A batch on its way
 * would find out by itself. Lock held, given up meanwhile. */
static void probe_service(struct client_pipeline *pipeline)
{
    if (pipeline->is_sending)
        return;
    pipeline->is_sending = true;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = client_probe(pipeline->endpoint, &pipeline->connection);
    (void)pthread_mutex_lock(&pipeline->lock);
    pipeline->is_sending = false;
    if (error != ACL_SUCCESS && !pipeline_is_over(pipeline))
        (void)pipeline_break_off(pipeline, error, client_error_rest());
    (void)pthread_cond_broadcast(&pipeline->changed);
}

/* Wait for the copy to change. A wait may last for ever, so now and then the service is asked
 * whether it lives: half of the timeout passes before that and half is the probe's. limit NULL:
 * none. Returns whether the limit has come. */
static bool wait_for_change(struct client_pipeline *pipeline, const struct timespec *limit)
{
    struct timespec probe = in_ms(((uint64_t)pipeline->endpoint->timeout_ms + 1) / 2);
    bool is_limit = limit != NULL && is_earlier(limit, &probe);
    int code =
        pthread_cond_timedwait(&pipeline->changed, &pipeline->lock, is_limit ? limit : &probe);
    if (code != ETIMEDOUT || is_limit)
        return code == ETIMEDOUT;
    probe_service(pipeline);
    return false;
}

/* The copy has run the command with this outcome: does the session's history have it? */
static bool is_history(enum soma_status status)
{
    return status == SOMA_OK || pipeline_is_timeout(status);
}

/* Put what the copy has run behind the buffered commands. */
static bool append(struct client_pipeline *pipeline, const struct soma_command *command)
{
    pipeline->has_launches = pipeline->has_launches || command->op == SOMA_OP_STREAM_LAUNCH_KERNEL;
    if (!soma_batch_add(&pipeline->batch, command)) {
        (void)pipeline_break_off(pipeline, ACL_ERROR_BAD_ALLOC,
                                 "the host has no memory for a command");
        return false;
    }
    pipeline->issued++;
    if (pipeline->waiters > 0)
        (void)pthread_cond_broadcast(&pipeline->changed);
    return true;
}

/* When the first limited wait of the streams runs out; NULL: none has a limit. No virtual time
 * passes while nobody does anything, so the time that is left has been running, as real time, since
 * the limit was first seen here. */
static const struct timespec *stream_limit(struct client_pipeline *pipeline)
{
    uint64_t limit_ns = engine_deadline_ns(pipeline->copy);
    if (limit_ns == SOMA_NONE)
        return NULL;
    if (limit_ns != pipeline->limit_ns) {
        uint64_t now_ns = engine_now_ns(pipeline->copy);
        pipeline->limit_ns = limit_ns;
        pipeline->limit = in_ms(limit_ns > now_ns ? (limit_ns - now_ns + 999999) / 1000000 : 0);
    }
    return &pipeline->limit;
}

/* It has come: the host's clock goes there, and the wait runs out. */
static void pass_stream_limit(struct client_pipeline *pipeline)
{
    struct soma_command command;
    struct soma_result result;
    uint64_t now_ns = engine_now_ns(pipeline->copy);
    uint64_t left_ns = pipeline->limit_ns > now_ns ? pipeline->limit_ns - now_ns : 0;
    soma_command_init(&command, SOMA_OP_CLOCK_ADVANCE);
    soma_command_set(&command, SOMA_FIELD_duration_ns,
                     left_ns < SOMA_DURATION_NS_MAX ? left_ns : SOMA_DURATION_NS_MAX);
    if (engine_apply(pipeline->copy, &command, &result, NULL) == SOMA_OK)
        (void)append(pipeline, &command);
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
    while (status == SOMA_MUST_WAIT && !pipeline_is_over(pipeline)) {
        const struct timespec *first = has_limit ? &limit : NULL;
        const struct timespec *of_streams = stream_limit(pipeline);
        if (of_streams != NULL && (first == NULL || is_earlier(of_streams, first)))
            first = of_streams;
        bool has_come = wait_for_change(pipeline, first);
        while (pipeline->is_frozen && !pipeline_is_over(pipeline))
            (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        if (pipeline_is_over(pipeline))
            break;
        if (has_come && first == of_streams)
            pass_stream_limit(pipeline);
        command->expired = has_come && first == &limit;
        status = engine_apply(pipeline->copy, command, result, error);
    }
    pipeline->waiters--;
    return status;
}

/* All that is buffered is confirmed and nothing is on its way. false: it is over. */
static bool drain(struct client_pipeline *pipeline)
{
    pipeline_confirm(pipeline, pipeline->issued);
    while (pipeline->is_sending && !pipeline_is_over(pipeline))
        (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    return !pipeline_is_over(pipeline);
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
        return pipeline_break_off(pipeline, ACL_ERROR_BAD_ALLOC,
                                  "the host has no memory for a batch");
    pipeline->is_sending = true;
    (void)pthread_mutex_unlock(&pipeline->lock);
    aclError error = pipeline_post(pipeline, exchange);
    (void)pthread_mutex_lock(&pipeline->lock);
    pipeline->is_sending = false;
    if (error != ACL_SUCCESS)
        (void)pipeline_break_off(pipeline, error, client_error_rest());
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
    bool is_same = status == followed.kernel_status;
    if (status == SOMA_OK)
        engine_result_clear(pipeline->copy, &result);
    uint64_t digest = engine_digest(pipeline->copy);
    if (is_same && service->digest == digest && service->next_sequence == pipeline->issued)
        return ACL_SUCCESS;
    (void)pipeline_break_off_unequal(pipeline, service, pipeline->issued, digest);
    return pipeline_fail_broken(pipeline);
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
        error = pipeline_fail_broken(pipeline);
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
    if (status == SOMA_OK && !pipeline_is_over(pipeline)) {
        pipeline->batch.leaves_bytes = true;
        if (append(pipeline, command))
            pipeline_send_with(pipeline, command->data);
        pipeline->batch.leaves_bytes = false;
    }
    thaw(pipeline);
    if (status != SOMA_OK)
        return client_fail_answer(&error, 0);
    if (pipeline->broken != ACL_SUCCESS)
        return pipeline_fail_broken(pipeline);
    return pipeline_is_over(pipeline)
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
    if (status == SOMA_MUST_WAIT && pipeline->is_left)
        return CLIENT_PIPELINE_LEFT;
    if (status == SOMA_MUST_WAIT && pipeline->broken == ACL_SUCCESS)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session ended while the call waited");
    if (is_history(status) && append(pipeline, command)) {
        if (is_answered_at_once(pipeline, command))
            pipeline_schedule(pipeline);
        else
            pipeline_confirm(pipeline, pipeline->issued);
    }
    if (pipeline->broken == ACL_SUCCESS)
        return status == SOMA_OK ? ACL_SUCCESS : client_fail_answer(&error, 0);
    if (status == SOMA_OK)
        client_result_clear(result);
    return pipeline_fail_broken(pipeline);
}

/* ---- kernels ---- */

static uint64_t requested(const void *ctx, uint64_t device, uint64_t address)
{
    uint64_t base, block, asked;
    if (engine_resolve(ctx, device, address, 1, &base, &block, &asked, NULL) != SOMA_OK)
        return 0;
    return address - base < asked ? asked - (address - base) : 0;
}

/* The launch with what its kernel will take. */
static enum soma_status foresee(struct client_pipeline *pipeline, struct soma_command *command,
                                struct soma_error *error)
{
    struct soma_kernel_call call = {.requested = requested, .ctx = pipeline->copy};
    return client_kernel_foresee(command, &call, &command->kernel_cost_ns, error);
}

/* The arguments are refused, unless the stream takes no launch anyhow: the service looks at it
 * first. Nothing changes. */
static aclError refuse_launch(struct client_pipeline *pipeline, struct soma_command *command,
                              enum soma_status status, const struct soma_error *arguments)
{
    struct soma_result result;
    struct soma_error error;
    command->kernel_status = status;
    status = engine_apply(pipeline->copy, command, &result, &error);
    return client_fail_answer(status == command->kernel_status ? arguments : &error, 0);
}

/* Queue a launch. The ticket waits for its confirmation. Lock held. */
static aclError launch_foreseen(struct client_pipeline *pipeline,
                                const struct soma_command *command, struct client_ticket *ticket)
{
    struct soma_result result;
    struct soma_error error;
    enum soma_status status = engine_apply(pipeline->copy, command, &result, &error);
    if (status == SOMA_OK)
        engine_result_clear(pipeline->copy, &result);
    if (status == SOMA_OK && append(pipeline, command)) {
        ticket->number = pipeline->issued;
        *pipeline->tickets_end = ticket;
        pipeline->tickets_end = &ticket->next;
        pipeline_schedule(pipeline);
    } else {
        free(ticket);
    }
    if (pipeline->broken != ACL_SUCCESS)
        return pipeline_fail_broken(pipeline);
    return status == SOMA_OK ? ACL_SUCCESS : client_fail_answer(&error, 0);
}

/* Launch and wait for the outcome. Lock held, given up meanwhile. */
static aclError launch_asked(struct client_pipeline *pipeline, struct soma_command *command,
                             struct client_ticket *ticket)
{
    struct exchange exchange = {.into = NULL};
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    struct soma_error failure;
    enum soma_status status = SOMA_OK;
    freeze(pipeline);
    aclError error = ask(pipeline, command, &exchange);
    if (error == ACL_SUCCESS) {
        status = soma_batch_next_answer(&exchange.reader, &result, &failure);
        if (soma_is_kernel_failure(status))
            command->kernel_status = status;
    } else if (pipeline->broken != ACL_SUCCESS) {
        error = pipeline_fail_broken(pipeline);
    }
    if (error == ACL_SUCCESS && status == command->kernel_status)
        error = follow(pipeline, command, &result, &exchange.reader.answer);
    else if (error == ACL_SUCCESS)
        error = client_fail_answer(&failure, 0);
    if (status == SOMA_OK)
        client_result_clear(&result);
    ticket->number = pipeline->issued;
    if (error == ACL_SUCCESS && status != SOMA_OK)
        pipeline_fail_ticket(pipeline, ticket, &failure);
    free(ticket);
    thaw(pipeline);
    return error;
}

/* Take the lock when commands can be run. Otherwise why not, and the lock is not held. */
static aclError enter(struct client_pipeline *pipeline)
{
    aclError error = CLIENT_PIPELINE_LEFT;
    (void)pthread_mutex_lock(&pipeline->lock);
    while (pipeline->is_frozen && !pipeline_is_over(pipeline))
        (void)pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    if (!pipeline_is_over(pipeline))
        return ACL_SUCCESS;
    if (pipeline->broken != ACL_SUCCESS)
        error = pipeline_fail_broken(pipeline);
    else if (!pipeline->is_left)
        error = client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session is being ended");
    (void)pthread_mutex_unlock(&pipeline->lock);
    return error;
}

/* From here on only the service can tell: what is buffered is confirmed, and whoever waits in the
 * copy asks it. Lock held. */
static aclError leave(struct client_pipeline *pipeline)
{
    freeze(pipeline);
    bool is_drained = drain(pipeline);
    pipeline->is_left = is_drained;
    thaw(pipeline);
    if (is_drained)
        return CLIENT_PIPELINE_LEFT;
    return pipeline->broken != ACL_SUCCESS
               ? pipeline_fail_broken(pipeline)
               : client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session is being ended");
}

static aclError run(struct client_pipeline *pipeline, const struct soma_command *command,
                    struct soma_result *result)
{
    struct exchange exchange = {.into = NULL};
    if (command->op == SOMA_OP_STREAM_WAIT_VALUE)
        return leave(pipeline); /* the copy has no contents */
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
    aclError error = enter(pipeline);
    if (error != ACL_SUCCESS)
        return error;
    error = run(pipeline, command, out);
    (void)pthread_mutex_unlock(&pipeline->lock);
    if (error == ACL_SUCCESS && result == NULL)
        client_result_clear(out);
    return error;
}

aclError client_pipeline_launch(struct client_pipeline *pipeline,
                                const struct soma_command *command, struct client_ticket *ticket)
{
    struct soma_command launch = *command;
    struct soma_error error;
    ticket->next = NULL;
    aclError result = enter(pipeline);
    if (result != ACL_SUCCESS) {
        if (result != CLIENT_PIPELINE_LEFT)
            free(ticket);
        return result;
    }
    enum soma_status status = foresee(pipeline, &launch, &error);
    if (status != SOMA_OK) {
        result = refuse_launch(pipeline, &launch, status, &error);
        free(ticket);
    } else {
        result = ticket->must_ask ? launch_asked(pipeline, &launch, ticket)
                                  : launch_foreseen(pipeline, &launch, ticket);
    }
    (void)pthread_mutex_unlock(&pipeline->lock);
    return result;
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
    aclError error = enter(pipeline);
    if (error != ACL_SUCCESS)
        return error;
    error = run_asked(pipeline, command, &exchange, &result);
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

static bool start_flusher(struct client_pipeline *pipeline)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&pipeline->flusher, NULL, pipeline_flusher_run, pipeline) == 0;
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
    if (soc == NULL || endpoint->asks_each_time)
        return ACL_SUCCESS;
    struct client_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (pipeline == NULL)
        return fail_memory();
    init_locks(pipeline);
    pipeline->endpoint = endpoint;
    pipeline->session_id = session_id;
    pipeline->tickets_end = &pipeline->tickets;
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
    pipeline_drop_tickets(pipeline, UINT64_MAX);
    soma_batch_writer_release(&pipeline->batch);
    soma_writer_release(&pipeline->body);
    client_connection_end(pipeline->connection);
    (void)pthread_cond_destroy(&pipeline->changed);
    (void)pthread_cond_destroy(&pipeline->has_work);
    (void)pthread_mutex_destroy(&pipeline->lock);
    free(pipeline);
}
