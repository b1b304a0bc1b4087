/* Runs conformance cases (README.md) through one way into soma. The runner knows JSON and
 * expectations; a way knows how a command gets to an engine and its answer back. */
#ifndef SOMA_CONFORMANCE_RUNNER_H
#define SOMA_CONFORMANCE_RUNNER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* A way to send commands. ctx is handed to every function. */
struct conformance_way {
    const char *name;
    void *ctx;

    /* Open a session as this body of POST /v1/sessions says. false: it could not be opened; the
     * way has printed why. */
    bool (*begin)(void *ctx, const cJSON *session);

    /* Run one step: {"op", fields...}, names resolved. Returns the answer, or {"error":{...}} when
     * it is refused; given to the caller (cJSON_Delete). NULL: no answer that could be judged; the
     * way has printed why. */
    cJSON *(*send)(void *ctx, const cJSON *step);

    /* Run all steps in one request, "as" and "$x" left in. Returns {"results":[...]} as above, all
     * steps run although some are refused. NULL where a way has no such request. */
    cJSON *(*send_all)(void *ctx, const cJSON *steps);

    /* Whether the way can run this op at all; a case with another is skipped. NULL: every op. */
    bool (*can)(void *ctx, const char *op);

    /* Close the session. Also called when begin failed. */
    void (*end)(void *ctx);
};

struct conformance_counts {
    unsigned passed, failed, skipped;
};

/* Run every *.json of dir, in the order of their names; prints a line for each case.
 *   skip  cases that have an op with this prefix are skipped; NULL: none
 * false: the directory could not be read, or a file in it is no case. */
bool conformance_run(const struct conformance_way *way, const char *dir, const char *skip,
                     struct conformance_counts *counts);

#endif
