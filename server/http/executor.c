/* Sessions with work stand in one queue; their jobs in a queue of their own. A session that a
 * thread works for stays marked as queued, so no second thread takes it. */
#include "executor.h"

#include "idempotency.h"
#include "run.h"
#include "sessions.h"
#include "waiters.h"

#include <stdlib.h>

TAILQ_HEAD(run_queue, session);

struct executor {
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct run_queue queue; /* of sessions, each referenced */
    bool is_stopping;
    unsigned thread_count, idle_count; /* idle: without a session */
    unsigned queued_count;             /* sessions in the queue */
    pthread_t threads[EXECUTOR_THREADS_MAX];
};

static void *run_thread(void *ctx);

/* With the lock held. false: there is no thread to be had. */
static bool start_thread(struct executor *executor)
{
    if (pthread_create(&executor->threads[executor->thread_count], NULL, run_thread, executor) != 0)
        return false;
    executor->thread_count++;
    executor->idle_count++;
    return true;
}

/* With the lock held. */
static void enqueue(struct executor *executor, struct session *session)
{
    if (session->is_queued)
        return;
    session->is_queued = true;
    session_reference(session);
    TAILQ_INSERT_TAIL(&executor->queue, session, run_entry);
    executor->queued_count++;
    if (executor->queued_count > executor->idle_count &&
        executor->thread_count < EXECUTOR_THREADS_MAX && !executor->is_stopping)
        (void)start_thread(executor); /* without it, the work waits for one of the others */
    (void)pthread_cond_signal(&executor->has_work);
}

void executor_submit(struct executor *executor, struct request *req)
{
    struct session *session = req->session;
    (void)atomic_fetch_add(&session->slow, 1);
    (void)pthread_mutex_lock(&executor->lock);
    TAILQ_INSERT_TAIL(&session->jobs, req, queue_entry);
    enqueue(executor, session);
    (void)pthread_mutex_unlock(&executor->lock);
}

void executor_prod(struct executor *executor, struct session *session)
{
    (void)pthread_mutex_lock(&executor->lock);
    session->is_prodded = true;
    enqueue(executor, session);
    (void)pthread_mutex_unlock(&executor->lock);
}

static void run_job(struct session *session, struct request *req)
{
    (void)pthread_mutex_lock(&session->lock);
    bool is_parked = request_execute(req);
    (void)pthread_mutex_unlock(&session->lock);
    (void)atomic_fetch_sub(&session->slow, 1);
    if (!is_parked)
        request_conclude(req);
}

static void wake(struct session *session)
{
    (void)pthread_mutex_lock(&session->lock);
    waiters_wake(session);
    (void)pthread_mutex_unlock(&session->lock);
}

/* Take one job, or the order to wake. false: there is none, and the session is let go of. */
static bool next_job(struct executor *executor, struct session *session, struct request **req,
                     bool *wakes)
{
    (void)pthread_mutex_lock(&executor->lock);
    *wakes = session->is_prodded;
    *req = TAILQ_FIRST(&session->jobs);
    session->is_prodded = false;
    if (*req != NULL)
        TAILQ_REMOVE(&session->jobs, *req, queue_entry);
    session->is_queued = *wakes || *req != NULL;
    bool goes_on = session->is_queued;
    (void)pthread_mutex_unlock(&executor->lock);
    return goes_on;
}

static void work_for(struct executor *executor, struct session *session)
{
    struct request *req;
    bool wakes;
    while (next_job(executor, session, &req, &wakes)) {
        if (wakes)
            wake(session);
        if (req != NULL)
            run_job(session, req);
    }
    session_unreference(session);
}

static void *run_thread(void *ctx)
{
    struct executor *executor = ctx;
    (void)pthread_mutex_lock(&executor->lock);
    for (;;) {
        struct session *session = TAILQ_FIRST(&executor->queue);
        if (session == NULL && executor->is_stopping)
            break;
        if (session == NULL) {
            (void)pthread_cond_wait(&executor->has_work, &executor->lock);
            continue;
        }
        TAILQ_REMOVE(&executor->queue, session, run_entry);
        executor->queued_count--;
        executor->idle_count--;
        (void)pthread_mutex_unlock(&executor->lock);
        work_for(executor, session);
        (void)pthread_mutex_lock(&executor->lock);
        executor->idle_count++;
    }
    (void)pthread_mutex_unlock(&executor->lock);
    return NULL;
}

struct executor *executor_create(void)
{
    struct executor *executor = calloc(1, sizeof(*executor));
    if (executor == NULL)
        return NULL;
    (void)pthread_mutex_init(&executor->lock, NULL);
    (void)pthread_cond_init(&executor->has_work, NULL);
    TAILQ_INIT(&executor->queue);
    (void)pthread_mutex_lock(&executor->lock);
    bool good = start_thread(executor);
    (void)pthread_mutex_unlock(&executor->lock);
    if (good)
        return executor;
    executor_destroy(executor);
    return NULL;
}

void executor_destroy(struct executor *executor)
{
    if (executor == NULL)
        return;
    (void)pthread_mutex_lock(&executor->lock);
    executor->is_stopping = true;
    (void)pthread_cond_broadcast(&executor->has_work);
    (void)pthread_mutex_unlock(&executor->lock);
    for (unsigned i = 0; i < executor->thread_count; i++)
        (void)pthread_join(executor->threads[i], NULL);
    (void)pthread_cond_destroy(&executor->has_work);
    (void)pthread_mutex_destroy(&executor->lock);
    free(executor);
}
