/* The sessions of a server: an engine and its bytes each, behind one lock each.
 *
 * A session is found by its id, used with a reference held, and freed when the last one is let go.
 * `default` always exists and never expires: ending it puts an empty one in its place. */
#ifndef SOMA_HTTP_SESSIONS_H
#define SOMA_HTTP_SESSIONS_H

#include "bytes.h"
#include "internal.h"

/* INSTANCE-R...S...: the server's name (or "s"), 24 random digits, 8 that tell its start. */
#define SESSION_ID_DIGITS 32u
#define SESSION_START_DIGITS 8u
#define SESSION_ID_BYTES (CONFIG_INSTANCE_BYTES_MAX + 1 + SESSION_ID_DIGITS + 1)
#define SESSION_DEFAULT "default"

struct idempotency;

/* What listings and metrics tell; kept from the last time the lock was free. */
struct session_snapshot {
    struct soma_counts counts;
    struct engine_totals totals;
    uint64_t device_bytes;   /* mapped on the emulated devices */
    uint64_t contents_bytes; /* host address space that holds contents */
};

/* Sums over all sessions. */
struct sessions_totals {
    uint64_t sessions, device_bytes, contents_bytes; /* now */
    struct engine_totals engines;                    /* what only grows: of past sessions too */
};

#define CACHE_LINE_BYTES 64u

struct session {
    /* Constant. */
    char id[SESSION_ID_BYTES];
    char label[SOMA_LABEL_BYTES_MAX + 1];
    enum soma_clock clock;
    uint64_t ttl_seconds;  /* 0: never expires */
    uint64_t start_ns;     /* CLOCK_MONOTONIC */
    uint64_t limit_ns;     /* under the lock: engine_deadline_ns as last seen by waiters.c */
    uint64_t limit_due_ns; /* CLOCK_MONOTONIC: when that much time has passed since */
    uint32_t device_count;
    struct sessions *owner;
    struct idempotency *keys; /* has a lock of its own */

    pthread_mutex_t lock;  /* guards the next group */
    struct engine *engine; /* NULL once it has ended */
    struct bytes *bytes;
    struct request_list waiters;
    unsigned waiter_count;
    uint64_t next_sequence;         /* of sequenced batches: commands run so far */
    struct request *waiting_batch;  /* one of them that has not yet gone on behind its wait */
    uint64_t kept_sequence;         /* kept_answer is of the command before this number */
    struct soma_writer kept_answer; /* empty: none, or too large; see handle_batch.c */
    uint64_t failures_sequence;     /* kept_failures are of the quiet batch that begins with this */
    uint32_t failure_records;
    struct soma_writer kept_failures; /* records of kernels that failed in it */

    /* Changed by requests that do not have the lock: not in the cache lines of one that has. */
    char apart_before[CACHE_LINE_BYTES];
    _Atomic uint32_t references;
    _Atomic uint64_t last_used_ns;
    char apart_behind[CACHE_LINE_BYTES];

    /* Of the executor, under its lock; is_slow is read without. */
    TAILQ_ENTRY(session) run_entry;
    struct request_list jobs;
    bool is_queued, is_prodded;
    _Atomic uint32_t slow; /* how many slow jobs hold, or are about to take, the lock */

    pthread_mutex_t snapshot_lock;
    struct session_snapshot snapshot;

    TAILQ_ENTRY(session) entry; /* these two under the registry's lock */
    LIST_ENTRY(session) bucket_entry;
};

/* What POST /v1/sessions may say. */
struct session_options {
    struct soma_text label;
    uint64_t ttl_seconds;
    uint32_t device_count;
    const struct soma_soc *soc;
    enum soma_clock clock;
};

struct sessions *sessions_create(struct soma_server *server); /* NULL: no memory; has `default` */
void sessions_destroy(struct sessions *sessions);             /* no reference may be held */

/* SOMA_OK and a referenced session, or SOMA_SESSION_LIMIT, SOMA_OUT_OF_MEMORY. */
enum soma_status sessions_open(struct sessions *sessions, const struct session_options *options,
                               struct session **session, struct soma_error *error) SOMA_MUST_USE;

/* NULL when there is none of this id. The reference is given to the caller. */
struct session *sessions_find(struct sessions *sessions, const char *id, size_t len);

/* As sessions_find, without extending the lease. */
struct session *sessions_peek(struct sessions *sessions, const char *id, size_t len);

/* Why there is no session of this id: SOMA_NO_SUCH_SESSION, or SOMA_SESSION_LOST when the id shows
 * that another instance, or an earlier start of this one, has opened it. */
enum soma_status sessions_missing(const struct sessions *sessions, struct soma_text id,
                                  const char *field, struct soma_error *error);

/* Extend the lease. */
void session_touch(struct session *session);
void session_touch_at(struct session *session, uint64_t now_ns); /* by who knows the time */

/* The id's beginning, for logs: the whole id is the key to the session. */
#define SESSION_ID_SHOWN_BYTES (CONFIG_INSTANCE_BYTES_MAX + 1 + 8 + 1)
const char *session_shown(const struct session *session, char shown[SESSION_ID_SHOWN_BYTES]);

void session_reference(struct session *session);
void session_unreference(struct session *session);

/* All sessions, each referenced; *count: out; unreference each, then free() the array. NULL when
 * there is no memory. */
struct session **sessions_list(struct sessions *sessions, size_t *count);
size_t sessions_count(struct sessions *sessions);

/* Take the session out of the registry, so that nobody finds it. false: someone else has, or (for
 * `default`) there was no memory for the one that takes its place. Its contents stay. */
bool sessions_take_out(struct sessions *sessions, struct session *session);

/* Take session->lock without ever blocking on slow work: true; or false when such work has it, or
 * stands in the queue for it, and the executor has to be asked. */
bool session_enter(struct session *session);

/* With session->lock held: free what the session holds and end its waits. */
void session_end(struct session *session);

/* End the sessions whose lease is over. */
void sessions_expire(struct sessions *sessions, uint64_t now_ns);

/* With session->lock held: run one command. As engine_apply; SOMA_NO_SUCH_SESSION once ended. */
enum soma_status session_apply(struct session *session, const struct soma_command *command,
                               struct soma_result *result, struct soma_error *error) SOMA_MUST_USE;

/* Give back what a result owns; no lock needed. */
void session_result_clear(struct soma_result *result);

/* What the session holds: fresh when its lock is free, else as it last was. */
void session_look(struct session *session, struct session_snapshot *snapshot);

void sessions_totals(struct sessions *sessions, struct sessions_totals *totals);

#endif
