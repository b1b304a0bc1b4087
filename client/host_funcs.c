/* The functions that are queued, and the library's thread that runs them. */
#include "host_funcs.h"

#include "call.h"
#include "context.h"
#include "error.h"
#include "managed.h"
#include "session.h"
#include "stream.h"
#include "transport.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A function that was not taken yet. */
struct queued {
    struct queued *next;
    uint64_t id; /* of the service */
    uint32_t device;
    uint64_t stream_id;
    void *context;
    struct client_host_func func;
};

/* Held while a function is launched, so that who takes it finds it here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* what is below has changed */
static struct queued *first, **last = &first;
static const struct client_session *served; /* by the library's thread; NULL: there is none */
static unsigned running;                    /* functions that the library's thread runs */
static unsigned unfinished;                 /* of the library's group: queued, or not completed */
static uint64_t finished;                   /* of them, since the process began */
static unsigned threads;                    /* of the library; old ones may still be ending */
static bool is_held;
static unsigned sessions_ended; /* since the process began; a fork ends one too */
static _Thread_local bool is_library;

/* ---- the queue; with the lock held ---- */

static void append(struct queued *queued)
{
    queued->next = NULL;
    *last = queued;
    last = &queued->next;
}

static void finish(const struct queued *queued)
{
    if (queued->func.group != CLIENT_GROUP_LIBRARY)
        return;
    unfinished--;
    finished++;
    (void)pthread_cond_broadcast(&changed);
}

/* Unlink the one behind this link. */
static struct queued *unlink_at(struct queued **link)
{
    struct queued *queued = *link;
    *link = queued->next;
    if (last == &queued->next)
        last = link;
    return queued;
}

/* NULL: it was forgotten. */
static struct queued *take(uint64_t id)
{
    struct queued **link = &first;
    while (*link != NULL && (*link)->id != id)
        link = &(*link)->next;
    return *link != NULL ? unlink_at(link) : NULL;
}

void client_host_funcs_forget(uint32_t device, bool any_stream, uint64_t stream_id)
{
    (void)pthread_mutex_lock(&lock);
    struct queued **link = &first;
    while (*link != NULL) {
        if ((*link)->device == device && (any_stream || (*link)->stream_id == stream_id)) {
            struct queued *gone = unlink_at(link);
            finish(gone);
            free(gone);
        } else {
            link = &(*link)->next;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- running ---- */

/* The library's thread begins a function. false: the session has ended meanwhile. */
static bool begin(unsigned session)
{
    while (is_library && is_held && sessions_ended == session)
        (void)pthread_cond_wait(&changed, &lock);
    running += is_library ? 1 : 0;
    return sessions_ended == session;
}

static void end(void)
{
    running -= is_library ? 1 : 0;
    (void)pthread_cond_broadcast(&changed);
}

/* Call the function. false: this is the child of a fork that happened in it. */
static bool call(const struct queued *queued, unsigned session)
{
    const char *name = client_call_name();
    if (is_library)
        client_context_set_current(queued->context);
    queued->func.fn(queued->func.args);
    client_begin(name);
    (void)pthread_mutex_lock(&lock);
    bool is_same = sessions_ended == session;
    end();
    (void)pthread_mutex_unlock(&lock);
    return is_same;
}

static void tell_complete(struct client_session *session, uint64_t id)
{
    struct soma_command command;
    struct client_errors before = client_errors_save();
    soma_command_init(&command, SOMA_OP_HOST_FUNC_COMPLETE);
    soma_command_set(&command, SOMA_FIELD_host_func, id);
    (void)!client_session_call(session, &command, NULL);
    client_errors_restore(&before);
}

/* The stream goes on, if the function held it. It may have been aborted meanwhile: then there is
 * nothing to let go on. */
static void complete(struct client_session *session, const struct queued *queued, unsigned number)
{
    if (queued->func.blocks)
        tell_complete(session, queued->id);
    (void)pthread_mutex_lock(&lock);
    if (sessions_ended == number)
        finish(queued);
    (void)pthread_mutex_unlock(&lock);
}

static aclError run_in(struct client_session *session, uint32_t group, uint64_t timeout_ms)
{
    struct soma_command command;
    struct soma_result result;
    (void)pthread_mutex_lock(&lock);
    unsigned session_number = sessions_ended;
    (void)pthread_mutex_unlock(&lock);
    soma_command_init(&command, SOMA_OP_HOST_FUNC_TAKE);
    soma_command_set(&command, SOMA_FIELD_group, group);
    if (timeout_ms != UINT64_MAX)
        soma_command_set(&command, SOMA_FIELD_timeout_ms, timeout_ms);
    aclError error = client_session_call(session, &command, &result);
    if (error != ACL_SUCCESS)
        return error;
    uint64_t id = result.u.host_func.host_func;
    client_result_clear(&result);
    (void)!client_managed_fetch(session); /* the function may look at it */
    (void)pthread_mutex_lock(&lock);
    bool goes_on = begin(session_number);
    struct queued *queued = goes_on ? take(id) : NULL;
    if (queued == NULL)
        end();
    (void)pthread_mutex_unlock(&lock);
    if (queued != NULL)
        goes_on = call(queued, session_number);
    if (goes_on && queued != NULL)
        complete(session, queued, session_number);
    free(queued);
    return goes_on ? ACL_SUCCESS
                   : client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the session ended meanwhile");
}

aclError client_host_func_run(uint32_t group, uint64_t timeout_ms)
{
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    error = run_in(session, group, timeout_ms);
    client_session_release(session);
    return error;
}

/* ---- the library's thread ---- */

static void *library_run(void *user)
{
    struct client_session *session = user;
    is_library = true;
    client_begin("aclrtLaunchHostFunc");
    while (run_in(session, CLIENT_GROUP_LIBRARY, UINT64_MAX) == ACL_SUCCESS)
        continue;
    client_curl_thread_end();
    (void)pthread_mutex_lock(&lock);
    if (served == session)
        served = NULL;
    client_session_release(session);
    threads -= threads > 0 ? 1 : 0; /* 0: in the child of a fork */
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

/* With the lock held. The thread has a reference to the session of its own. */
static aclError require_thread(struct client_session *session)
{
    pthread_t thread;
    sigset_t all, before;
    if (served == session)
        return ACL_SUCCESS;
    client_session_reference(session);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&thread, NULL, library_run, session) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!good) {
        client_session_release(session);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the process can have no further thread");
    }
    (void)pthread_detach(thread);
    threads++;
    served = session;
    return ACL_SUCCESS;
}

/* ---- launching ---- */

static aclError launch_locked(struct client_session *session, struct queued *queued)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_STREAM_LAUNCH_HOST_FUNC);
    soma_command_set(&command, SOMA_FIELD_device, queued->device);
    soma_command_set(&command, SOMA_FIELD_stream, queued->stream_id);
    soma_command_set(&command, SOMA_FIELD_group, queued->func.group);
    soma_command_set(&command, SOMA_FIELD_block_type,
                     queued->func.blocks ? SOMA_BLOCK_TYPE_BLOCK : SOMA_BLOCK_TYPE_NO_BLOCK);
    aclError error =
        queued->func.group == CLIENT_GROUP_LIBRARY ? require_thread(session) : ACL_SUCCESS;
    if (error == ACL_SUCCESS)
        error = client_session_call(session, &command, &result);
    if (error != ACL_SUCCESS)
        return error;
    queued->id = result.u.host_func.host_func;
    client_result_clear(&result);
    append(queued);
    unfinished += queued->func.group == CLIENT_GROUP_LIBRARY ? 1 : 0;
    return ACL_SUCCESS;
}

aclError client_host_func_launch(const struct client_object *stream,
                                 const struct client_host_func *func)
{
    struct client_session *session;
    if (client_stream_is_stopping(stream->device, stream->id))
        return ACL_SUCCESS; /* as client_queue */
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    struct queued *queued = malloc(sizeof(*queued));
    if (queued == NULL) {
        client_session_release(session);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a function");
    }
    *queued = (struct queued){.device = stream->device,
                              .stream_id = stream->id,
                              .context = stream->context,
                              .func = *func};
    (void)pthread_mutex_lock(&lock);
    error = launch_locked(session, queued);
    (void)pthread_mutex_unlock(&lock);
    client_session_release(session);
    if (error != ACL_SUCCESS)
        free(queued);
    return error;
}

/* ---- work behind functions ---- */

static bool is_blocked(const struct client_object *stream)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_STREAM_GET);
    soma_command_set(&command, SOMA_FIELD_device, stream->device);
    soma_command_set(&command, SOMA_FIELD_stream, stream->id);
    if (client_call(&command, &result) != ACL_SUCCESS)
        return false;
    bool blocked = result.u.stream.ready_at_ns == SOMA_NONE;
    client_result_clear(&result);
    return blocked;
}

/* Whether a function of the library's group has its turn. */
static bool is_one_due(void)
{
    struct soma_command command;
    struct soma_result result;
    bool due = false;
    soma_command_init(&command, SOMA_OP_HOST_FUNC_LIST);
    if (client_call(&command, &result) != ACL_SUCCESS)
        return false;
    for (size_t i = 0; i < result.u.host_func_list.host_funcs.count && !due; i++) {
        const struct soma_host_func *func = &result.u.host_func_list.host_funcs.items[i];
        due = func->group == CLIENT_GROUP_LIBRARY && func->state != SOMA_HOST_FUNC_STATE_QUEUED;
    }
    client_result_clear(&result);
    return due;
}

/* Until one is over. `before`: how many were when the caller looked; false: the time is. */
static bool wait_for_one(uint64_t before, const struct timespec *limit)
{
    int code = 0;
    (void)pthread_mutex_lock(&lock);
    while (finished == before && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&changed, &lock, limit);
    (void)pthread_mutex_unlock(&lock);
    return code != ETIMEDOUT;
}

/* finished_before: out, how many are over. */
static bool is_one_left(uint64_t *finished_before)
{
    (void)pthread_mutex_lock(&lock);
    bool is_left = unfinished > 0;
    *finished_before = finished;
    (void)pthread_mutex_unlock(&lock);
    return is_left;
}

void client_host_funcs_let_pass(const struct client_object *stream)
{
    struct client_session *session;
    struct timespec limit;
    uint64_t before;
    if (is_library || !is_one_left(&before) || client_session_get(&session) != ACL_SUCCESS)
        return;
    (void)clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += (session->endpoint.timeout_ms + 999) / 1000;
    client_session_release(session);
    struct client_errors errors = client_errors_save();
    while (is_one_left(&before) && is_blocked(stream) && is_one_due() &&
           wait_for_one(before, &limit))
        continue;
    client_errors_restore(&errors);
}

/* ---- the session's end, and fork ---- */

void client_host_funcs_hold(void)
{
    (void)pthread_mutex_lock(&lock);
    is_held = true;
    while (running > (is_library ? 1u : 0u))
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

static void forget_all(void)
{
    while (first != NULL)
        free(unlink_at(&first));
    finished += unfinished;
    unfinished = 0;
    served = NULL;
    sessions_ended++;
}

void client_host_funcs_resume(bool has_ended)
{
    (void)pthread_mutex_lock(&lock);
    is_held = false;
    if (has_ended)
        forget_all();
    (void)pthread_cond_broadcast(&changed);
    while (has_ended && threads > (is_library ? 1u : 0u))
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

void client_host_funcs_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void client_host_funcs_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

void client_host_funcs_forked(void)
{
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    memcpy(&changed, &fresh, sizeof(changed)); /* other threads may have waited for it */
    is_held = false;
    running = 0;
    threads = 0;
    forget_all();
    (void)pthread_mutex_unlock(&lock);
}
