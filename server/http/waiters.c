/* Parked requests in a list (to watch their clients) and, when they are due at a time, in a tree
 * by it. The thread never blocks on a session: a busy one is prodded through the executor. */
#include "waiters.h"

#include "bodies.h"
#include "connection.h"
#include "executor.h"
#include "idempotency.h"
#include "run.h"
#include "sessions.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define TICK_NS NS_PER_S /* how often clients, leases and connections are looked at */
#define PRODS_MAX 64u

RB_HEAD(due_tree, request);

struct waiters {
    struct soma_server *server;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest, and what struct wait says it guards */
    pthread_cond_t changed;
    struct due_tree due;
    struct request_list parked;
    size_t parked_count;
    bool is_stopping, is_cut;
    uint64_t next_tick_ns;
};

static int compare_due(const struct request *a, const struct request *b)
{
    if (a->wait.due_ns != b->wait.due_ns)
        return a->wait.due_ns < b->wait.due_ns ? -1 : 1;
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return (first > second) - (first < second);
}

RB_GENERATE_INTERNAL(due_tree, request, wait.due_entry, compare_due, __attribute__((unused)) static)

/* ---- listing; with the lock held ---- */

static void list_due(struct waiters *waiters, struct request *req)
{
    if (req->wait.due_ns == UINT64_MAX)
        return;
    RB_INSERT(due_tree, &waiters->due, req);
    req->wait.is_due_listed = true;
    if (RB_MIN(due_tree, &waiters->due) == req)
        (void)pthread_cond_signal(&waiters->changed);
}

static void unlist_due(struct waiters *waiters, struct request *req)
{
    if (req->wait.is_due_listed)
        RB_REMOVE(due_tree, &waiters->due, req);
    req->wait.is_due_listed = false;
}

void waiters_add(struct waiters *waiters, struct request *req)
{
    (void)pthread_mutex_lock(&waiters->lock);
    TAILQ_INSERT_TAIL(&waiters->parked, req, wait.parked_entry);
    waiters->parked_count++;
    list_due(waiters, req);
    (void)pthread_mutex_unlock(&waiters->lock);
}

void waiters_remove(struct waiters *waiters, struct request *req)
{
    (void)pthread_mutex_lock(&waiters->lock);
    unlist_due(waiters, req);
    TAILQ_REMOVE(&waiters->parked, req, wait.parked_entry);
    waiters->parked_count--;
    (void)pthread_mutex_unlock(&waiters->lock);
}

static void move_due(struct waiters *waiters, struct request *req, uint64_t due_ns)
{
    (void)pthread_mutex_lock(&waiters->lock);
    unlist_due(waiters, req);
    req->wait.due_ns = due_ns;
    list_due(waiters, req);
    (void)pthread_mutex_unlock(&waiters->lock);
}

/* ---- waiting and waking; with the session's lock held ---- */

/* When the first limited wait of the session's streams runs out. Nothing passes on a virtual clock
 * while nobody does anything, so the time that is left has been running, as real time, since the
 * limit was first seen here. UINT64_MAX: none has a limit, or the clock is the wall's. */
static uint64_t limit_due(struct session *session)
{
    uint64_t limit_ns = engine_deadline_ns(session->engine);
    if (limit_ns == SOMA_NONE || session->clock == SOMA_CLOCK_WALL)
        return UINT64_MAX;
    if (limit_ns != session->limit_ns) {
        uint64_t now_ns = engine_now_ns(session->engine);
        session->limit_ns = limit_ns;
        session->limit_due_ns = monotonic_ns() + (limit_ns > now_ns ? limit_ns - now_ns : 0);
    }
    return session->limit_due_ns;
}

/* The limit may have come: then the host's clock goes there, and the wait runs out. */
static void pass_limit(struct session *session)
{
    struct soma_command command;
    struct soma_result result;
    if (session->engine == NULL || limit_due(session) > monotonic_ns())
        return;
    uint64_t now_ns = engine_now_ns(session->engine);
    soma_command_init(&command, SOMA_OP_CLOCK_ADVANCE);
    soma_command_set(&command, SOMA_FIELD_duration_ns,
                     session->limit_ns > now_ns ? session->limit_ns - now_ns : 0);
    (void)!session_apply(session, &command, &result, NULL);
}

static uint64_t due_of(struct session *session, const struct request *req)
{
    uint64_t ready_ns = engine_wait_ns(session->engine);
    uint64_t due_ns = ready_ns != SOMA_NONE ? session->start_ns + ready_ns : limit_due(session);
    return due_ns < req->wait.deadline_ns ? due_ns : req->wait.deadline_ns;
}

void waiters_wait(struct session *session, struct request *req)
{
    uint64_t timeout_ms = req->command.timeout_ms;
    if (req->wait.deadline_ns == 0)
        req->wait.deadline_ns =
            timeout_ms > SOMA_TIMEOUT_MS_MAX ? UINT64_MAX : monotonic_ns() + timeout_ms * 1000000;
    req->wait.due_ns = due_of(session, req);
    TAILQ_INSERT_TAIL(&session->waiters, req, wait.session_entry);
    waiters_add(req->conn->server->waiters, req);
}

/* Fill the request's outcome. false: it waits on. */
static bool is_over(struct session *session, struct request *req)
{
    struct soma_server *server = req->conn->server;
    if (atomic_load_explicit(&req->wait.is_gone, memory_order_relaxed)) {
        req->closes = true;
        req->status = soma_fail(&req->error, SOMA_CLIENT_GONE, "",
                                "the client closed its connection while the request waited");
        return true;
    }
    if (atomic_load(&server->is_cutting)) {
        req->status = soma_fail(&req->error, SOMA_DRAINING, "",
                                "the server is going down; the wait was cut short");
        return true;
    }
    pass_limit(session);
    req->command.expired = monotonic_ns() >= req->wait.deadline_ns;
    req->status = session_apply(session, &req->command, &req->result, &req->error);
    if (req->status != SOMA_MUST_WAIT)
        return true;
    move_due(server->waiters, req, due_of(session, req));
    return false;
}

void waiters_end(struct session *session, struct request *req)
{
    TAILQ_REMOVE(&session->waiters, req, wait.session_entry);
    waiters_remove(req->conn->server->waiters, req);
    request_wake(req);
}

void waiters_wake(struct session *session)
{
    bool has_changed = !TAILQ_EMPTY(&session->waiters);
    /* A synchronise that ends may end others. */
    while (has_changed) {
        struct request *next, *req = TAILQ_FIRST(&session->waiters);
        has_changed = false;
        for (; req != NULL; req = next) {
            next = TAILQ_NEXT(req, wait.session_entry);
            if (!is_over(session, req))
                continue;
            has_changed = true;
            req->has_outcome = true;
            waiters_end(session, req);
        }
    }
}

/* ---- the thread ---- */

/* Sessions to prod, each referenced; NULL stands for the keys that belong to no session. */
struct prods {
    struct session *sessions[PRODS_MAX];
    size_t count;
};

static void add_prod(struct prods *prods, struct session *session)
{
    if (prods->count > 0 && prods->sessions[prods->count - 1] == session)
        return;
    if (session != NULL)
        session_reference(session);
    prods->sessions[prods->count++] = session;
}

static void prod_all(struct waiters *waiters, struct prods *prods)
{
    for (size_t i = 0; i < prods->count; i++) {
        struct session *session = prods->sessions[i];
        if (session == NULL) {
            idempotency_wake_gone(waiters->server->keys);
            continue;
        }
        idempotency_wake_gone(session->keys);
        if (session_enter(session)) {
            waiters_wake(session);
            (void)pthread_mutex_unlock(&session->lock);
        } else {
            executor_prod(waiters->server->executor, session);
        }
        session_unreference(session);
    }
    prods->count = 0;
}

/* With the lock held: the sessions whose requests are due. */
static void take_due(struct waiters *waiters, struct prods *prods)
{
    uint64_t now_ns = monotonic_ns();
    struct request *req;
    while (prods->count < PRODS_MAX && (req = RB_MIN(due_tree, &waiters->due)) != NULL &&
           req->wait.due_ns <= now_ns) {
        unlist_due(waiters, req);
        add_prod(prods, req->session);
    }
}

/* With the lock held: mark the requests whose clients closed their side. Some may be left for the
 * next tick. */
static void take_gone(struct waiters *waiters, struct prods *prods)
{
    size_t count = waiters->parked_count, i = 0;
    struct pollfd *polls = count > 0 ? calloc(count, sizeof(*polls)) : NULL;
    struct request *req;
    if (polls == NULL)
        return;
    TAILQ_FOREACH(req, &waiters->parked, wait.parked_entry)
    polls[i++] = (struct pollfd){.fd = req->conn->fd, .events = POLLRDHUP};
    int ready = poll(polls, count, 0);
    i = 0;
    TAILQ_FOREACH(req, &waiters->parked, wait.parked_entry)
    {
        bool is_gone = ready > 0 && (polls[i++].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
        if (!is_gone || prods->count == PRODS_MAX)
            continue;
        atomic_store_explicit(&req->wait.is_gone, true, memory_order_relaxed);
        add_prod(prods, req->session);
    }
    free(polls);
}

/* With the lock held: every session with a parked request, round by round. */
static void take_all(struct waiters *waiters, struct prods *prods)
{
    struct request *req;
    TAILQ_FOREACH(req, &waiters->parked, wait.parked_entry)
    {
        if (prods->count < PRODS_MAX)
            add_prod(prods, req->session);
    }
}

static void sleep_until_due(struct waiters *waiters)
{
    struct request *first = RB_MIN(due_tree, &waiters->due);
    uint64_t until_ns = waiters->next_tick_ns;
    if (first != NULL && first->wait.due_ns < until_ns)
        until_ns = first->wait.due_ns;
    if (waiters->is_cut && waiters->parked_count > 0)
        until_ns = monotonic_ns() + NS_PER_S / 100;
    struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                             .tv_nsec = (long)(until_ns % NS_PER_S)};
    (void)pthread_cond_timedwait(&waiters->changed, &waiters->lock, &until);
}

static void tick(struct soma_server *server)
{
    uint64_t now_ns = monotonic_ns();
    sessions_expire(server->sessions, now_ns);
    connections_sweep(server, now_ns);
    bodies_sweep(server->bodies);
}

static void *run_thread(void *ctx)
{
    struct waiters *waiters = ctx;
    struct prods prods = {.count = 0};
    (void)pthread_mutex_lock(&waiters->lock);
    while (!waiters->is_stopping) {
        bool is_tick = monotonic_ns() >= waiters->next_tick_ns;
        take_due(waiters, &prods);
        if (is_tick) {
            take_gone(waiters, &prods);
            waiters->next_tick_ns = monotonic_ns() + TICK_NS;
        }
        if (waiters->is_cut)
            take_all(waiters, &prods);
        if (is_tick || prods.count > 0) {
            (void)pthread_mutex_unlock(&waiters->lock);
            prod_all(waiters, &prods);
            if (is_tick)
                tick(waiters->server);
            (void)pthread_mutex_lock(&waiters->lock);
        }
        if (!waiters->is_stopping)
            sleep_until_due(waiters);
    }
    (void)pthread_mutex_unlock(&waiters->lock);
    return NULL;
}

void waiters_cut(struct waiters *waiters)
{
    (void)pthread_mutex_lock(&waiters->lock);
    waiters->is_cut = true;
    (void)pthread_cond_signal(&waiters->changed);
    (void)pthread_mutex_unlock(&waiters->lock);
}

struct waiters *waiters_create(struct soma_server *server)
{
    struct waiters *waiters = calloc(1, sizeof(*waiters));
    pthread_condattr_t attributes;
    if (waiters == NULL)
        return NULL;
    waiters->server = server;
    waiters->next_tick_ns = monotonic_ns() + TICK_NS;
    RB_INIT(&waiters->due);
    TAILQ_INIT(&waiters->parked);
    (void)pthread_mutex_init(&waiters->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&waiters->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&waiters->thread, NULL, run_thread, waiters) == 0)
        return waiters;
    (void)pthread_cond_destroy(&waiters->changed);
    (void)pthread_mutex_destroy(&waiters->lock);
    free(waiters);
    return NULL;
}

void waiters_destroy(struct waiters *waiters)
{
    if (waiters == NULL)
        return;
    (void)pthread_mutex_lock(&waiters->lock);
    waiters->is_stopping = true;
    (void)pthread_cond_signal(&waiters->changed);
    (void)pthread_mutex_unlock(&waiters->lock);
    (void)pthread_join(waiters->thread, NULL);
    (void)pthread_cond_destroy(&waiters->changed);
    (void)pthread_mutex_destroy(&waiters->lock);
    free(waiters);
}
