/* Outcome of every fallible call of soma, and what is known of each outcome.
 * Expanded from status.def; thread-safe (constant data). */
#ifndef SOMA_STATUS_H
#define SOMA_STATUS_H

#include "limits.h"
#include "status.def"

#include <stdarg.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define SOMA_MUST_USE __attribute__((warn_unused_result))
#define SOMA_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define SOMA_MUST_USE
#define SOMA_PRINTF(text, first)
#endif

enum soma_status {
    SOMA_OK = 0,
#define SOMA_ROW(NAME, number, rpc, acl, text) SOMA_##NAME = (number),
    SOMA_STATUSES(SOMA_ROW)
#undef SOMA_ROW
};

/* What the table says of one status. */
struct soma_status_info {
    enum soma_status status;
    const char *name; /* of the row, without SOMA_ */
    const char *rpc;  /* google.rpc.Code name: `status` on the wire */
    int http;         /* HTTP status code */
    int acl_error;    /* what the C client returns */
    const char *text; /* the general meaning */
};

/* Never NULL: an unknown status gives the row of SOMA_INTERNAL. */
const struct soma_status_info *soma_status_info(enum soma_status status);

/* The stable upper-case word: `reason` on the wire. */
const char *soma_status_reason(enum soma_status status);

/* The status whose `reason` is this word, SOMA_INTERNAL when there is none. Where two rows share
 * a reason on purpose, acl_error tells them apart (0: the first). */
enum soma_status soma_status_of_reason(const char *reason, int acl_error);

/* Row i of the table, NULL past the end: for docs and tests. */
const struct soma_status_info *soma_status_row(unsigned i);

/* Whether this is a kernel that was launched and failed when it ran. The launch has taken place: it
 * took its time, and changed no contents. */
bool soma_is_kernel_failure(enum soma_status status);

/* An error as it is answered: the status, the field at fault ("" if none) and a sentence that
 * names the value, the limit and the remedy. */
struct soma_error {
    enum soma_status status;
    char field[SOMA_FIELD_BYTES];
    char message[SOMA_MESSAGE_BYTES];
};

/* Fill *error (which may be NULL) and return status, so that a check can end with
 * `return soma_fail(error, SOMA_..., "field", "...", ...);`. Long texts are cut at a whole
 * UTF-8 character. */
enum soma_status soma_fail(struct soma_error *error, enum soma_status status, const char *field,
                           const char *format, ...) SOMA_PRINTF(4, 5);

/* "3 GiB", "65536 bytes": a byte count for people. buf holds at least 32 bytes; returns buf. */
const char *soma_bytes_text(char *buf, uint64_t bytes);

#endif
