/* What the files of the load test share: sessions with a journal each, and their lanes.
 *
 * A session has several connections (lanes) that send at the same time, so only the server knows
 * the order in which it ran the commands. Two kinds of sessions make it known what they should have
 * come to nevertheless (README.md):
 *   stamped  every request is a batch that ends with a synchronise of an idle device. Its answer
 *            holds the session's clock, which grows with every command, and a batch runs in one
 *            piece: sorted by clock, the requests stand in the server's order.
 *   apart    every request is one command by its own route. Each lane has a device of its own and
 *            objects made beforehand, so that commands of different lanes commute, but for times,
 *            which are left out of the comparison.
 * When a session has run its commands and all answers are there, its journal is run through the
 * model of tests/sim: every answer has to be the model's, those of the last look at everything
 * included. Then the next session takes its place. */
#ifndef SOMA_LOAD_H
#define SOMA_LOAD_H

#include "command.h"
#include "message.h"
#include "model.h"
#include "random.h"
#include "raw_http.h"
#include "wire.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_LANES_MAX 16u
#define LOAD_COMMANDS_MAX 128u /* of one request: a look at everything has the most */
#define LOAD_ID_BYTES 96u

/* ---- requests ---- */

/* What a lane has sent and not been answered. */
struct load_request {
    struct soma_command *commands;      /* LOAD_COMMANDS_MAX of them; owned by the lane */
    uint32_t tokens[LOAD_COMMANDS_MAX]; /* the kind's own, one for each command */
    uint32_t count;
    bool is_batch;
    bool is_aside;            /* no command: a look at the service; only its status counts */
    bool is_keyed;            /* has an Idempotency-Key: sent twice, executed once */
    bool is_replay;           /* this is the second time */
    struct soma_writer text;  /* the whole HTTP request */
    struct soma_writer first; /* keyed: body of the first answer */
};

/* ---- journals ---- */

struct load_entry {
    uint64_t order; /* entries are applied in this order, equals as they were added */
    size_t place;   /* when it was added */
    struct soma_command command;
    enum soma_status status;
    struct soma_result result; /* owned */
};

struct load_journal {
    struct load_entry *entries;
    size_t count, capacity;
};

/* ---- sessions ---- */

enum load_stage {
    LOAD_OPENING,  /* one lane opens it */
    LOAD_SETUP,    /* one lane makes what all use */
    LOAD_RUNNING,  /* all lanes send */
    LOAD_SETTLING, /* no more is sent; answers are awaited */
    LOAD_AUDIT,    /* one lane looks at everything */
    LOAD_ENDING,   /* one lane ends it */
    LOAD_OVER
};

struct load_session;

struct load_kind {
    const char *name;
    bool is_batch;                               /* stamped */
    bool has_times;                              /* times are compared */
    void (*begin)(struct load_session *session); /* fills config and state */
    /* Commands that make what all lanes use, as one batch; fills request->commands and count. */
    void (*setup)(struct load_session *session, struct load_request *request);
    /* The next request of a lane. */
    void (*next)(struct load_session *session, uint32_t lane, struct load_request *request);
    /* How a command of setup or next went; `token` is what they put beside it. */
    void (*learn)(struct load_session *session, uint32_t lane, uint32_t token,
                  const struct soma_command *command, enum soma_status status,
                  const struct soma_result *result);
    void (*end)(struct load_session *session);
};

extern const struct load_kind load_stamped;
extern const struct load_kind load_apart;

struct load_pool {
    uint64_t device, pool;
};

struct load_session {
    const struct load_kind *kind;
    void *state; /* the kind's */
    struct random_source random;
    struct model_config config;
    char id[LOAD_ID_BYTES];
    enum load_stage stage;
    uint32_t lane_count, busy_count; /* busy: a request is under way */
    uint32_t command_count, command_limit;
    struct load_request lanes[LOAD_LANES_MAX];
    struct load_journal journal;
    struct load_pool *pools; /* all that were made */
    size_t pool_count;
    uint64_t seed;
};

/* Sums over all sessions. */
struct load_totals {
    uint64_t requests, commands, refused, asides, replays, sessions;
};

/* ---- text.c: HTTP requests ---- */

void load_text_request(struct soma_writer *text, const char *method, const char *path,
                       const char *session, const char *key, const char *body, size_t body_len);

/* By the command's own route. */
void load_text_command(struct soma_writer *text, const struct soma_command *command,
                       const char *session, const char *key);

/* POST /v1/commands, going on behind errors. */
void load_text_batch(struct soma_writer *text, const struct soma_command *commands, uint32_t count,
                     const char *session, const char *key);

/* ---- journal.c ---- */

/* Takes the result over. */
void load_journal_add(struct load_journal *journal, uint64_t order,
                      const struct soma_command *command, enum soma_status status,
                      struct soma_result *result);

/* Run all of it through a model and compare every answer; the session's end as well.
 *   ended  what the server said when the session ended
 * false: the first difference is printed. */
bool load_journal_check(struct load_session *session, const struct soma_session_ended *ended);
void load_journal_clear(struct load_journal *journal);

/* ---- session.c ---- */

/* A new session in place of the old one; called first with *session zeroed. */
void load_session_begin(struct load_session *session, const struct load_kind *kind, uint64_t seed,
                        uint32_t lane_count, uint32_t command_limit);
void load_session_release(struct load_session *session);

/* What the lane shall send now: lanes[lane].text. false: nothing at the moment.
 *   is_late  no new commands; come to an end */
bool load_session_next(struct load_session *session, uint32_t lane, bool is_late);

/* The answer to it. false: it was wrong, and why is printed. */
bool load_session_take(struct load_session *session, uint32_t lane, const struct raw_answer *answer,
                       struct load_totals *totals);

/* Print where it happened and what; false. */
bool load_fail(const struct load_session *session, const char *format, ...) SOMA_PRINTF(2, 3);

/* ---- process.c: a process looked at from outside ---- */

uint64_t process_resident_bytes(int pid); /* 0: cannot be told */
uint64_t process_descriptors(int pid);

#endif
