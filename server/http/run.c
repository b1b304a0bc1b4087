/* From a request that is there in whole to its answer: its key, its session's lock, the parts of
 * its handler, and the hand-over between threads. */
#include "run.h"

#include "executor.h"
#include "handlers.h"
#include "idempotency.h"
#include "reply.h"
#include "router.h"
#include "sessions.h"
#include "waiters.h"

#include <string.h>

/* What became of a request on its connection's thread. */
enum fate { FATE_ANSWERED, FATE_PARKED };

static enum fate fail_request(struct request *req)
{
    reply_error(req, &req->error);
    request_finish(req);
    return FATE_ANSWERED;
}

static bool find_session(struct request *req)
{
    struct soma_server *server = req->conn->server;
    bool is_default = req->session_id.ptr == NULL;
    struct soma_text id = req->session_id;
    if (is_default)
        id = (struct soma_text){SESSION_DEFAULT, strlen(SESSION_DEFAULT)};
    req->session = sessions_peek(server->sessions, id.ptr, id.len);
    if (req->session != NULL) {
        session_touch_at(req->session, req->started_ns);
        return true;
    }
    (void)sessions_missing(server->sessions, id, "Soma-Session", &req->error);
    return false;
}

/* The first one with this key runs, the same again is replayed or waits for the first. */
static enum fate run_key(struct request *req, bool *goes_on)
{
    *goes_on = false;
    if (atomic_load_explicit(&req->wait.is_gone, memory_order_relaxed)) {
        (void)soma_fail(&req->error, SOMA_CLIENT_GONE, "",
                        "the client closed its connection while the request waited for the first "
                        "one with its Idempotency-Key");
        return fail_request(req);
    }
    switch (idempotency_begin(req->keys, req, &req->answer, &req->error)) {
    case IDEMPOTENCY_RUN:
        req->stage = STAGE_PREPARE;
        *goes_on = true;
        return FATE_ANSWERED;
    case IDEMPOTENCY_REPLAY: request_finish(req); return FATE_ANSWERED;
    case IDEMPOTENCY_REFUSED: return fail_request(req);
    case IDEMPOTENCY_PARKED:
    default: return FATE_PARKED;
    }
}

static enum fate run_in_session(struct request *req)
{
    struct session *session = req->session;
    if (!req->is_slow && session_enter(session)) {
        bool is_parked = request_execute(req);
        (void)pthread_mutex_unlock(&session->lock);
        if (is_parked)
            return FATE_PARKED;
        request_conclude(req);
        return FATE_ANSWERED;
    }
    if (request_park(req)) {
        executor_submit(req->conn->server->executor, req);
        return FATE_PARKED;
    }
    (void)soma_fail(&req->error, SOMA_DRAINING, "", "the server is going down");
    return fail_request(req);
}

static enum fate run(struct request *req)
{
    if (req->stage == STAGE_KEY) {
        bool goes_on;
        enum fate fate = run_key(req, &goes_on);
        if (!goes_on)
            return fate;
    }
    if (req->stage == STAGE_PREPARE) {
        if (!req->route->handler->prepare(req)) {
            request_finish(req);
            return FATE_ANSWERED;
        }
        req->stage = STAGE_EXECUTE;
    }
    return run_in_session(req);
}

bool request_start(struct request *req)
{
    bool in_session =
        req->route != NULL && (req->route->op != NULL || req->route->handler == &handler_commands);
    if (req->is_refused || (in_session && !find_session(req)))
        return fail_request(req) == FATE_ANSWERED;
    bool has_key = req->key.ptr != NULL && req->route->method != SOMA_METHOD_GET;
    if (has_key)
        req->keys = in_session ? req->session->keys : req->conn->server->keys;
    req->stage = has_key ? STAGE_KEY : STAGE_PREPARE;
    return run(req) == FATE_ANSWERED;
}

bool request_run_on(struct request *req)
{
    return run(req) == FATE_ANSWERED;
}

void request_cut(struct request *req)
{
    const struct handler *handler = req->route->handler;
    if (req->stage != STAGE_EXECUTE)
        return; /* it waited for the first one with its key, and has run nothing */
    (void)pthread_mutex_lock(&req->session->lock);
    req->is_cut = true;
    (void)handler->execute(req);
    (void)pthread_mutex_unlock(&req->session->lock);
    request_conclude(req);
}

bool request_execute(struct request *req)
{
    const struct handler *handler = req->route->handler;
    struct session *session = req->session;
    enum step step = handler->execute(req);
    while (step == STEP_WAIT) {
        if (request_park(req)) {
            waiters_wait(session, req);
            break;
        }
        req->status = soma_fail(&req->error, SOMA_DRAINING, "", "the server is going down");
        req->has_outcome = true;
        step = handler->execute(req);
    }
    if (!TAILQ_EMPTY(&session->waiters) && req->route->method != SOMA_METHOD_GET)
        waiters_wake(session);
    return step == STEP_WAIT;
}

void request_conclude(struct request *req)
{
    req->route->handler->finish(req);
    request_finish(req);
}

/* ---- hand-over ---- */

bool request_park(struct request *req)
{
    struct soma_server *server = req->conn->server;
    if (!req->is_suspended)
        (void)atomic_fetch_add(&server->suspended_requests, 1);
    /* After the count: whoever sets is_cutting then waits for it to fall. */
    if (atomic_load(&server->is_cutting)) {
        if (!req->is_suspended)
            (void)atomic_fetch_sub(&server->suspended_requests, 1);
        return false;
    }
    if (!req->is_suspended) {
        req->is_suspended = true;
        MHD_suspend_connection(req->conn->mhd);
    }
    req->phase = REQUEST_PARKED;
    return true;
}

void request_wake(struct request *req)
{
    req->phase = REQUEST_WOKEN;
    MHD_resume_connection(req->conn->mhd);
}

void request_finish(struct request *req)
{
    if (req->entry != NULL)
        idempotency_end(req->keys, req);
    bool is_suspended = req->is_suspended;
    struct MHD_Connection *mhd = req->conn->mhd;
    req->phase = REQUEST_ANSWERED;
    if (is_suspended)
        MHD_resume_connection(mhd);
}
