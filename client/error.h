/* What a thread remembers of its errors: the ACL function it is in, the number of its last error
 * and the text that aclGetRecentErrMsg hands out. Thread-local; nothing here locks or fails.
 *
 * A function of the client that returns aclError has recorded its error here before it returns
 * anything but ACL_SUCCESS: callers hand the number on and add nothing. */
#ifndef SOMA_CLIENT_ERROR_H
#define SOMA_CLIENT_ERROR_H

#include "acl/acl_base.h"
#include "status.h"

#include <stdbool.h>

#define CLIENT_TEXT_BYTES 1024u /* of an error text, its NUL included */

/* Begin an ACL function: texts of errors will open with its name.
 *   call  static storage */
void client_begin(const char *call);

/* The ACL function that the thread is in; "soma" before the first. */
const char *client_call_name(void);

/* Record an error and return its number. The text is "<function>: " and the formatted rest; it
 * names the values and the remedy. Long texts are cut. */
aclError client_fail(aclError number, const char *format, ...) SOMA_PRINTF(2, 3);

/* A parameter is NULL that must not be: 100000. */
aclError client_fail_null(const char *parameter);

/* Record what the service answered.
 *   error      borrowed; its message says what happened
 *   acl_error  the number of the answer, 0: that of error->status */
aclError client_fail_answer(const struct soma_error *error, int acl_error);

/* The recorded text, NULL when there is none; it is forgotten here and stays readable until the
 * thread takes the next one. */
const char *client_error_take(void);

/* The text itself, "" when there is none, for handing it to another thread; and what stands in it
 * behind the name of the call. */
const char *client_error_text(void);
const char *client_error_rest(void);

/* What a thread remembers, to be put back after calls whose errors are nobody's. */
struct client_errors {
    aclError last;
    bool has_text;
    char text[CLIENT_TEXT_BYTES];
};
struct client_errors client_errors_save(void);
void client_errors_restore(const struct client_errors *saved);

/* The status behind this error, when it is the thread's last one and a service has answered it;
 * else SOMA_OK. */
enum soma_status client_error_status(aclError error);

/* The number of the thread's last error, ACL_SUCCESS when there was none since it was cleared. */
aclError client_error_last(bool clear);

#endif
