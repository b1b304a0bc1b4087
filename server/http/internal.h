/* What the files of server/http share: the request, the connection and the server.
 *
 * Who runs what: a thread of libmicrohttpd owns a connection and its request. It lets go of the
 * request after request_park (which suspends the connection) and gets it back when another thread
 * has called request_wake or request_finish, which resume it. Between the two exactly one owner
 * has the request: a session's list of waiters, the executor, or the keys of a session.
 * Locks, outermost first: session.lock, that of its keys, that of the waiters. None is held while
 * an answer is made. */
#ifndef SOMA_HTTP_INTERNAL_H
#define SOMA_HTTP_INTERNAL_H

#include "batch.h"
#include "bodies.h"
#include "config.h"
#include "engine.h"
#include "log.h"
#include "mhd_receive.h"
#include "wire.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <bsd/sys/tree.h>

struct auth;
struct snapshot;
struct executor;
struct idempotency;
struct idempotency_entry;
struct kernels;
struct listener;
struct metrics;
struct router;
struct session;
struct sessions;
struct soma_server;
struct tls;
struct waiters;

#define DRAIN_BYTES_MAX (UINT64_C(1) << 20) /* read and dropped behind an early error */
#define SLOW_BODY_BYTES (UINT64_C(1) << 16) /* a batch this large runs in the executor */
#define SLOW_BYTES (UINT64_C(1) << 20)      /* so do copies of this many bytes */

/* ---- answers ---- */

struct answer {
    int http;
    const char *content_type; /* static storage; NULL: there is no body */
    const char *body;
    size_t len;
    void *owned;               /* what free() takes once it is sent; NULL: the body is static */
    struct snapshot *snapshot; /* owned: contents that follow the body; NULL: none */
    size_t snapshot_len;       /* of them, with zeros behind their end */
    const char *allow;         /* value of Allow, static storage; NULL: none */
    enum soma_status status;   /* SOMA_OK, or the error that it tells */
    bool is_replay;            /* Idempotent-Replayed: true */
};

/* ---- requests ---- */

enum request_phase {
    REQUEST_RECEIVING, /* the body may still be coming */
    REQUEST_PARKED,    /* suspended: someone else owns it */
    REQUEST_WOKEN,     /* resumed: to be run on */
    REQUEST_ANSWERED   /* the answer is there to be sent */
};

/* What request_run does next. */
enum request_stage { STAGE_KEY, STAGE_PREPARE, STAGE_EXECUTE };

enum step { STEP_DONE, STEP_WAIT };

struct request;

/* What a route does, in up to three parts. */
struct handler {
    /* Check and decode; no lock. false: the answer is there. */
    bool (*prepare)(struct request *req);
    /* Under the session's lock. STEP_WAIT: req->command has to wait; it is applied again and
     * execute is called again with req->has_outcome set. NULL: prepare answers. */
    enum step (*execute)(struct request *req);
    /* Make the answer; no lock. */
    void (*finish)(struct request *req);
};

struct route; /* router.h */

struct capture {
    const char *text; /* percent-decoded; borrowed until the request is over */
    size_t len;
};

#define CAPTURES_MAX 4u

/* A request that waits for a command of its session. */
struct wait {
    TAILQ_ENTRY(request) session_entry; /* under session.lock */
    TAILQ_ENTRY(request) parked_entry;  /* this and the rest under the lock of waiters */
    RB_ENTRY(request) due_entry;
    uint64_t due_ns;      /* try again then; UINT64_MAX: only when the session changes */
    uint64_t deadline_ns; /* timeoutMs; UINT64_MAX: none. Owner only */
    bool is_due_listed;
    _Atomic bool is_gone; /* the client has closed its side */
};

/* State of POST /v1/commands. */
struct batch {
    bool is_compact; /* the body is in the compact form: reader to outcome are in use */
    bool has_begun;
    bool is_superseded; /* it was sent again while it waited: that one goes on */
    struct soma_batch_reader reader;
    uint32_t records; /* in the answer */
    bool has_error;   /* one of them is an error other than a kernel that failed */
    struct soma_batch_answer outcome;
    const struct wire_value *next, *end; /* elements to run, of the array of commands */
    bool goes_on;                        /* onError continue */
    struct wire_names names;
    struct soma_writer writer;
    uint64_t count, completed;
};

struct request {
    struct connection *conn;
    const struct route *route; /* NULL: none matched, or not looked for yet */
    enum request_phase phase;
    enum request_stage stage;
    bool is_active;     /* begun and not completed; counted */
    bool is_suspended;  /* its connection is; counted */
    bool is_answered;   /* a response is queued or sent */
    bool is_refused;    /* error is an early error; the body is dropped */
    bool is_slow;       /* to be run by the executor */
    bool has_outcome;   /* status, result and error of req->command are there */
    bool is_abandoned;  /* nothing was changed, and nobody hears the answer */
    bool is_batch;      /* batch is in use */
    bool is_cut;        /* its connection has ended: only the outcome that is there is taken */
    bool is_unreadable; /* where the body ends cannot be told */
    bool closes;        /* the connection ends with this request */
    uint64_t started_ns;

    /* Borrowed from libmicrohttpd until the request is over. */
    const char *method, *path;
    struct capture captures[CAPTURES_MAX];
    struct soma_text session_id, key, authorization, content_type, accept;
    bool has_expect, is_chunked, is_head;

    char *body;                 /* owned, or in pages */
    struct body pages;          /* of a large body; owned; map NULL: none */
    struct mhd_receive receive; /* of what is left of a large body */
    size_t body_len, body_capacity;
    uint64_t body_max, body_announced, body_received;

    struct session *session;  /* reference held */
    struct idempotency *keys; /* where key counts; NULL: it does not. Lives as long as session */
    struct idempotency_entry *entry;  /* ours to end */
    struct idempotency_entry *behind; /* whose end it is parked for; under the lock of keys */
    TAILQ_ENTRY(request) queue_entry; /* of the executor, or of keys */
    struct wait wait;

    struct snapshot *snapshot; /* owned: of a large read; NULL: none */
    struct wire_arena arena;
    struct wire_tree tree; /* the values of a body in JSON */
    cJSON *root;           /* the same as cJSON's tree, where that is read; owned */
    enum soma_status status;
    struct answer answer;

    /* Not cleared when a request begins. */
    struct soma_command command;
    struct soma_result result;
    struct batch batch;
    struct soma_error error;
};

TAILQ_HEAD(request_list, request);

/* ---- connections ---- */

enum connection_stage {
    CONNECTION_IDLE,      /* no request has begun */
    CONNECTION_RECEIVING, /* one is on its way */
    CONNECTION_BUSY       /* one is there in whole */
};

#define ROUTE_MEMOS 4u
#define ROUTE_MEMO_BYTES 64u

/* A path that was looked up, with what it was found to be: clients ask for few paths often. */
struct route_memo {
    const struct route *route; /* NULL: empty */
    char path[ROUTE_MEMO_BYTES];
    struct {
        uint8_t at, len; /* of a {member} in the path; len 0: there are no more */
    } captures[CAPTURES_MAX];
};

#define KEPT_BODY_BYTES 256u
#define KEPT_RESPONSES 2u

/* A response whose body is rewritten: on one connection an answer is sent before the next one is
 * made, and making responses costs more than filling them. */
struct kept_response {
    struct MHD_Response *response; /* owned; NULL: none yet. It reads body. */
    size_t len;                    /* of the body; fixed for a response */
    char body[KEPT_BODY_BYTES];
};

struct connection {
    struct soma_server *server;
    struct MHD_Connection *mhd;
    int fd;
    bool is_tls;
    unsigned shard;            /* of the metrics */
    bool closes;               /* its last request ended it; libmicrohttpd's thread only */
    _Atomic int stage;         /* enum connection_stage */
    _Atomic uint64_t since_ns; /* when the stage began */
    _Atomic uint64_t received; /* bytes of the body so far */
    _Atomic bool is_overdue;   /* its request took too long to arrive: reading was shut down */
    TAILQ_ENTRY(connection) entry;
    struct kept_response kept[KEPT_RESPONSES]; /* libmicrohttpd's thread only */
    unsigned next_kept;                        /* which is replaced next */
    struct route_memo memos[ROUTE_MEMOS];      /* libmicrohttpd's thread only */
    unsigned next_memo;                        /* which is replaced next */
    struct soma_writer small;                  /* text of a small answer; its request's owner */
    struct request request;
};

TAILQ_HEAD(connection_list, connection);

/* ---- the server ---- */

struct soma_server {
    struct log log;
    struct soma_soc const *soc;
    uint32_t devices;
    uint64_t commands_answer_bytes; /* that the answer of POST /v1/commands may have */
    uint64_t threads, max_body_bytes, max_sessions, session_ttl_seconds, idle_timeout_ns;
    char instance[CONFIG_INSTANCE_BYTES_MAX + 1]; /* "": it has no name */
    uint32_t start_mark; /* another one each start: whose sessions are ours */
    struct router *router;
    struct auth *auth; /* NULL: anyone may ask */
    struct tls *tls;   /* NULL: TCP listeners speak plain HTTP */
    struct kernels *kernels;
    struct metrics *metrics;
    struct sessions *sessions;
    struct executor *executor;
    struct waiters *waiters;
    struct idempotency *keys; /* of requests that belong to no session */
    struct bodies *bodies;
    struct listener *listeners;
    size_t listener_count;
    char *no_memory_body; /* what is answered when an answer cannot be made */
    size_t no_memory_len;

    pthread_mutex_t connections_lock; /* guards the list */
    struct connection_list connections;
    unsigned next_shard;

    _Atomic uint64_t suspended_requests;
    _Atomic bool is_ready;    /* takes requests: says /readyz */
    _Atomic bool is_leaving;  /* says so on /readyz, and goes on */
    _Atomic bool is_draining; /* opens no session; answers end their connections */
    _Atomic bool is_cutting;  /* nothing is parked any more, and what is gets DRAINING */
    _Atomic bool is_stopping; /* connections are being closed */
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t monotonic_ns(void);

#endif
