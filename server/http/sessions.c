/* The registry is a hash by id under a reader-writer lock. References keep a session usable after
 * it has left the registry; its engine goes in session_end, under its own lock. */
#include "sessions.h"

#include "host_memory.h"
#include "idempotency.h"
#include "waiters.h"

#define XXH_INLINE_ALL
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#define BUCKET_COUNT 4096u /* a power of two */
#define ENTER_YIELDS 100u
#define ENTER_PAUSE_NS 20000

LIST_HEAD(session_bucket, session);
TAILQ_HEAD(session_list, session);

struct sessions {
    struct soma_server *server;
    pthread_rwlock_t lock;    /* guards the rest */
    struct session_list list; /* oldest first */
    size_t count;             /* `default` included */
    struct session_bucket buckets[BUCKET_COUNT];
    pthread_mutex_t past_lock;
    struct engine_totals past; /* of sessions that ended; under past_lock */
};

void session_result_clear(struct soma_result *result)
{
    if (result->message != SOMA_MESSAGE_NONE)
        soma_result_clear(result, host_memory_release, NULL);
}

/* ---- one session ---- */

/* What ids of the server begin with. */
static const char *home_of(const struct soma_server *server)
{
    return server->instance[0] != '\0' ? server->instance : "s";
}

static bool fill_id(const struct soma_server *server, char id[SESSION_ID_BYTES])
{
    unsigned char random[(SESSION_ID_DIGITS - SESSION_START_DIGITS) / 2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return false;
    int at = snprintf(id, SESSION_ID_BYTES, "%s-", home_of(server));
    for (size_t i = 0; i < sizeof(random); i++)
        at += snprintf(id + at, SESSION_ID_BYTES - (size_t)at, "%02x", random[i]);
    (void)snprintf(id + at, SESSION_ID_BYTES - (size_t)at, "%08" PRIx32, server->start_mark);
    return true;
}

static size_t home_len_of(struct soma_text id)
{
    size_t digits = 0;
    while (digits < id.len && strchr("0123456789abcdef", id.ptr[id.len - 1 - digits]) != NULL)
        digits++;
    bool has_shape =
        digits == SESSION_ID_DIGITS && id.len > digits + 1 && id.ptr[id.len - digits - 1] == '-';
    return has_shape ? id.len - digits - 1 : 0;
}

enum soma_status sessions_missing(const struct sessions *sessions, struct soma_text id,
                                  const char *field, struct soma_error *error)
{
    const struct soma_server *server = sessions->server;
    const char *home = home_of(server);
    size_t home_len = home_len_of(id);
    int shown = (int)(id.len < SESSION_ID_BYTES ? id.len : SESSION_ID_BYTES);
    char start[SESSION_START_DIGITS + 1];
    (void)snprintf(start, sizeof(start), "%08" PRIx32, server->start_mark);
    if (home_len == 0)
        return soma_fail(error, SOMA_NO_SUCH_SESSION, field,
                         "no session is named \"%.*s\": it ended, its lease ran out, or it never "
                         "was",
                         shown, id.ptr);
    if (home_len != strlen(home) || memcmp(id.ptr, home, home_len) != 0)
        return soma_fail(error, SOMA_SESSION_LOST, field,
                         "the session \"%.*s\" lives in the instance \"%.*s\" and this is \"%s\": "
                         "its instance is gone with all that the session held, or cannot be "
                         "reached; open a new session",
                         shown, id.ptr, (int)home_len, id.ptr, home);
    if (memcmp(id.ptr + id.len - SESSION_START_DIGITS, start, SESSION_START_DIGITS) != 0)
        return soma_fail(error, SOMA_SESSION_LOST, field,
                         "the session \"%.*s\" ended with all that it held when its instance was "
                         "started anew; open a new session",
                         shown, id.ptr);
    return soma_fail(error, SOMA_NO_SUCH_SESSION, field,
                     "no session is named \"%.*s\": it ended, or its lease ran out", shown, id.ptr);
}

/* Add what only grows. */
static void add_totals(struct engine_totals *sum, const struct engine_totals *more)
{
    sum->mapped_bytes += more->mapped_bytes;
    sum->unmapped_bytes += more->unmapped_bytes;
    sum->mallocs += more->mallocs;
    sum->frees += more->frees;
    for (size_t i = 0; i < sizeof(sum->reuse) / sizeof(sum->reuse[0]); i++)
        sum->reuse[i] += more->reuse[i];
}

/* Destroy engine and contents, and keep the sums for the metrics. */
static void destroy_engine(struct session *session)
{
    struct sessions *owner = session->owner;
    if (session->engine != NULL) {
        struct engine_totals totals;
        engine_totals(session->engine, &totals);
        (void)pthread_mutex_lock(&owner->past_lock);
        add_totals(&owner->past, &totals);
        (void)pthread_mutex_unlock(&owner->past_lock);
    }
    engine_destroy(session->engine);
    session->engine = NULL;
    bytes_destroy(session->bytes);
    session->bytes = NULL;
}

static void free_session(struct session *session)
{
    destroy_engine(session);
    idempotency_destroy(session->keys);
    soma_writer_release(&session->kept_answer);
    soma_writer_release(&session->kept_failures);
    (void)pthread_mutex_destroy(&session->lock);
    (void)pthread_mutex_destroy(&session->snapshot_lock);
    free(session);
}

/* id NULL: a fresh one. */
static struct session *create_session(struct sessions *sessions, const char *id,
                                      const struct session_options *options)
{
    struct session *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return NULL;
    struct engine_mem mem = host_memory_table();
    struct engine_config config = {.device_count = options->device_count,
                                   .soc = options->soc,
                                   .wall_clock = options->clock == SOMA_CLOCK_WALL};
    (void)pthread_mutex_init(&session->lock, NULL);
    (void)pthread_mutex_init(&session->snapshot_lock, NULL);
    TAILQ_INIT(&session->waiters);
    TAILQ_INIT(&session->jobs);
    session->owner = sessions;
    session->clock = options->clock;
    session->ttl_seconds = options->ttl_seconds;
    session->device_count = options->device_count;
    session->start_ns = monotonic_ns();
    memcpy(session->label, options->label.ptr, options->label.len);
    atomic_init(&session->references, 1);
    atomic_init(&session->last_used_ns, session->start_ns);
    atomic_init(&session->slow, 0);
    bool has_id = id == NULL ? fill_id(sessions->server, session->id) : true;
    if (id != NULL)
        memcpy(session->id, id, strlen(id) + 1);
    session->keys = idempotency_create();
    session->bytes = bytes_create(sessions->server->kernels);
    if (session->bytes != NULL) {
        struct engine_bytes table = bytes_table(session->bytes);
        session->engine = engine_create(&config, &mem, &table);
    }
    if (has_id && session->engine != NULL && session->keys != NULL) {
        engine_counts(session->engine, &session->snapshot.counts);
        return session;
    }
    free_session(session);
    return NULL;
}

static struct session *create_default(struct sessions *sessions)
{
    struct session_options options = {.label = {"", 0},
                                      .device_count = sessions->server->devices,
                                      .soc = sessions->server->soc,
                                      .clock = SOMA_CLOCK_VIRTUAL};
    return create_session(sessions, SESSION_DEFAULT, &options);
}

void session_reference(struct session *session)
{
    (void)atomic_fetch_add_explicit(&session->references, 1, memory_order_relaxed);
}

void session_unreference(struct session *session)
{
    if (atomic_fetch_sub_explicit(&session->references, 1, memory_order_acq_rel) == 1)
        free_session(session);
}

void session_touch_at(struct session *session, uint64_t now_ns)
{
    atomic_store_explicit(&session->last_used_ns, now_ns, memory_order_relaxed);
}

bool session_enter(struct session *session)
{
    const struct timespec pause = {.tv_nsec = ENTER_PAUSE_NS};
    for (unsigned tries = 0; pthread_mutex_trylock(&session->lock) != 0; tries++) {
        if (atomic_load_explicit(&session->slow, memory_order_relaxed) > 0)
            return false;
        /* Whoever has it is done in no time, unless the system runs something else instead. */
        if (tries < ENTER_YIELDS)
            (void)sched_yield();
        else
            (void)nanosleep(&pause, NULL);
    }
    return true;
}

void session_touch(struct session *session)
{
    session_touch_at(session, monotonic_ns());
}

const char *session_shown(const struct session *session, char shown[SESSION_ID_SHOWN_BYTES])
{
    const char *random = strrchr(session->id, '-');
    int len = random == NULL ? 10 : (int)(random - session->id) + 9;
    (void)snprintf(shown, SESSION_ID_SHOWN_BYTES, "%.*s", len, session->id);
    return shown;
}

enum soma_status session_apply(struct session *session, const struct soma_command *command,
                               struct soma_result *result, struct soma_error *error)
{
    if (session->engine == NULL)
        return soma_fail(error, SOMA_NO_SUCH_SESSION, "",
                         "the session %s ended while the request was on its way", session->id);
    if (session->clock == SOMA_CLOCK_WALL)
        engine_set_wall(session->engine, monotonic_ns() - session->start_ns);
    return engine_apply(session->engine, command, result, error);
}

void session_end(struct session *session)
{
    destroy_engine(session);
    waiters_wake(session);
    (void)pthread_mutex_lock(&session->snapshot_lock);
    memset(&session->snapshot, 0, sizeof(session->snapshot));
    (void)pthread_mutex_unlock(&session->snapshot_lock);
}

void session_look(struct session *session, struct session_snapshot *snapshot)
{
    struct session_snapshot fresh;
    bool is_fresh = false;
    if (pthread_mutex_trylock(&session->lock) == 0) {
        is_fresh = session->engine != NULL;
        if (is_fresh) {
            engine_counts(session->engine, &fresh.counts);
            engine_totals(session->engine, &fresh.totals);
            fresh.device_bytes = engine_mapped_bytes(session->engine);
            fresh.contents_bytes = bytes_mapped(session->bytes);
        }
        (void)pthread_mutex_unlock(&session->lock);
    }
    (void)pthread_mutex_lock(&session->snapshot_lock);
    if (is_fresh)
        session->snapshot = fresh;
    *snapshot = session->snapshot;
    (void)pthread_mutex_unlock(&session->snapshot_lock);
}

/* ---- the registry ---- */

static struct session_bucket *bucket_of(struct sessions *sessions, const char *id, size_t len)
{
    return &sessions->buckets[XXH3_64bits(id, len) & (BUCKET_COUNT - 1)];
}

/* With the lock held, here and below. */
static void add_to_table(struct sessions *sessions, struct session *session)
{
    LIST_INSERT_HEAD(bucket_of(sessions, session->id, strlen(session->id)), session, bucket_entry);
    TAILQ_INSERT_TAIL(&sessions->list, session, entry);
    sessions->count++;
}

/* The registry's reference is the caller's then. */
static void remove_from_table(struct sessions *sessions, struct session *session)
{
    LIST_REMOVE(session, bucket_entry);
    TAILQ_REMOVE(&sessions->list, session, entry);
    sessions->count--;
}

static struct session *find_in_table(struct sessions *sessions, const char *id, size_t len)
{
    struct session *session;
    LIST_FOREACH(session, bucket_of(sessions, id, len), bucket_entry)
    {
        if (strlen(session->id) == len && memcmp(session->id, id, len) == 0)
            return session;
    }
    return NULL;
}

struct sessions *sessions_create(struct soma_server *server)
{
    struct sessions *sessions = calloc(1, sizeof(*sessions));
    if (sessions == NULL)
        return NULL;
    sessions->server = server;
    TAILQ_INIT(&sessions->list);
    (void)pthread_mutex_init(&sessions->past_lock, NULL);
    struct session *session = create_default(sessions);
    if (session == NULL) {
        free(sessions);
        return NULL;
    }
    (void)pthread_rwlock_init(&sessions->lock, NULL);
    add_to_table(sessions, session);
    return sessions;
}

void sessions_destroy(struct sessions *sessions)
{
    if (sessions == NULL)
        return;
    struct session *session;
    while ((session = TAILQ_FIRST(&sessions->list)) != NULL) {
        remove_from_table(sessions, session);
        session_unreference(session);
    }
    (void)pthread_mutex_destroy(&sessions->past_lock);
    (void)pthread_rwlock_destroy(&sessions->lock);
    free(sessions);
}

enum soma_status sessions_open(struct sessions *sessions, const struct session_options *options,
                               struct session **session, struct soma_error *error)
{
    uint64_t max = sessions->server->max_sessions;
    struct session *created = create_session(sessions, NULL, options);
    if (created == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "", "no memory for another session");
    (void)pthread_rwlock_wrlock(&sessions->lock);
    bool has_room = sessions->count - 1 < max;
    if (has_room) {
        session_reference(created);
        add_to_table(sessions, created);
    }
    (void)pthread_rwlock_unlock(&sessions->lock);
    if (has_room) {
        *session = created;
        return SOMA_OK;
    }
    free_session(created);
    return soma_fail(error, SOMA_SESSION_LIMIT, "",
                     "the server holds %" PRIu64 " sessions, as many as --max-sessions allows; "
                     "end one, or wait until a lease is over",
                     max);
}

struct session *sessions_peek(struct sessions *sessions, const char *id, size_t len)
{
    (void)pthread_rwlock_rdlock(&sessions->lock);
    struct session *session = find_in_table(sessions, id, len);
    if (session != NULL)
        session_reference(session);
    (void)pthread_rwlock_unlock(&sessions->lock);
    return session;
}

struct session *sessions_find(struct sessions *sessions, const char *id, size_t len)
{
    struct session *session = sessions_peek(sessions, id, len);
    if (session != NULL)
        session_touch(session);
    return session;
}

struct session **sessions_list(struct sessions *sessions, size_t *count)
{
    struct session *session;
    size_t filled = 0;
    (void)pthread_rwlock_rdlock(&sessions->lock);
    struct session **list = malloc(sessions->count * sizeof(struct session *));
    if (list != NULL) {
        TAILQ_FOREACH(session, &sessions->list, entry)
        {
            session_reference(session);
            list[filled++] = session;
        }
    }
    (void)pthread_rwlock_unlock(&sessions->lock);
    *count = filled;
    return list;
}

size_t sessions_count(struct sessions *sessions)
{
    (void)pthread_rwlock_rdlock(&sessions->lock);
    size_t count = sessions->count;
    (void)pthread_rwlock_unlock(&sessions->lock);
    return count;
}

void sessions_totals(struct sessions *sessions, struct sessions_totals *totals)
{
    size_t count;
    struct session **list = sessions_list(sessions, &count);
    memset(totals, 0, sizeof(*totals));
    for (size_t i = 0; i < count; i++) {
        struct session_snapshot snapshot;
        session_look(list[i], &snapshot);
        session_unreference(list[i]);
        add_totals(&totals->engines, &snapshot.totals);
        totals->engines.pools += snapshot.totals.pools;
        totals->engines.reserved_bytes += snapshot.totals.reserved_bytes;
        totals->engines.used_bytes += snapshot.totals.used_bytes;
        totals->device_bytes += snapshot.device_bytes;
        totals->contents_bytes += snapshot.contents_bytes;
    }
    totals->sessions = count;
    free(list);
    (void)pthread_mutex_lock(&sessions->past_lock);
    add_totals(&totals->engines, &sessions->past);
    (void)pthread_mutex_unlock(&sessions->past_lock);
}

bool sessions_take_out(struct sessions *sessions, struct session *session)
{
    bool is_default = strcmp(session->id, SESSION_DEFAULT) == 0;
    struct session *successor = is_default ? create_default(sessions) : NULL;
    if (is_default && successor == NULL)
        return false;
    (void)pthread_rwlock_wrlock(&sessions->lock);
    bool taken = find_in_table(sessions, session->id, strlen(session->id)) == session;
    if (taken) {
        remove_from_table(sessions, session);
        if (successor != NULL)
            add_to_table(sessions, successor);
    }
    (void)pthread_rwlock_unlock(&sessions->lock);
    if (taken)
        session_unreference(session); /* the registry's; the caller has its own */
    else if (successor != NULL)
        free_session(successor);
    return taken;
}

static bool is_expired(struct session *session, uint64_t now_ns)
{
    uint64_t ttl_ns = session->ttl_seconds * UINT64_C(1000000000);
    uint64_t used_ns = atomic_load_explicit(&session->last_used_ns, memory_order_relaxed);
    bool is_idle = atomic_load_explicit(&session->references, memory_order_relaxed) == 1;
    return session->ttl_seconds != 0 && is_idle && now_ns > used_ns && now_ns - used_ns > ttl_ns;
}

static bool has_expired(struct sessions *sessions, uint64_t now_ns)
{
    struct session *session;
    bool found = false;
    (void)pthread_rwlock_rdlock(&sessions->lock);
    TAILQ_FOREACH(session, &sessions->list, entry)
    found = found || is_expired(session, now_ns);
    (void)pthread_rwlock_unlock(&sessions->lock);
    return found;
}

/* Move the expired ones from the registry to *gone, the registry's references with them. */
static void take_expired(struct sessions *sessions, uint64_t now_ns, struct session_list *gone)
{
    (void)pthread_rwlock_wrlock(&sessions->lock);
    struct session *next, *session = TAILQ_FIRST(&sessions->list);
    for (; session != NULL; session = next) {
        next = TAILQ_NEXT(session, entry);
        if (!is_expired(session, now_ns))
            continue;
        remove_from_table(sessions, session);
        TAILQ_INSERT_TAIL(gone, session, entry);
    }
    (void)pthread_rwlock_unlock(&sessions->lock);
}

void sessions_expire(struct sessions *sessions, uint64_t now_ns)
{
    struct session_list gone = TAILQ_HEAD_INITIALIZER(gone);
    struct session *session;
    if (!has_expired(sessions, now_ns))
        return;
    take_expired(sessions, now_ns, &gone);
    while ((session = TAILQ_FIRST(&gone)) != NULL) {
        char shown[SESSION_ID_SHOWN_BYTES];
        LOG(&sessions->server->log, LOG_LEVEL_INFO, "session_expired",
            LOG_TEXT("session", session_shown(session, shown)),
            LOG_NUMBER("ttlSeconds", session->ttl_seconds));
        TAILQ_REMOVE(&gone, session, entry);
        session_unreference(session); /* the last one: nobody else can find it */
    }
}
