/* The answer of ACL functions that soma does not emulate. */
#ifndef SOMA_CLIENT_ACL_UNSUPPORTED_H
#define SOMA_CLIENT_ACL_UNSUPPORTED_H

#include "acl/acl_base.h"

#include <stdatomic.h>
#include <stddef.h>

#define SOMA_ACL_UNSUPPORTED_TEXT_BYTES 256u /* of the longest text, its NUL included */

/* Write the text of the error: which function is missing, and what to do about it.
 *   name  of the function; borrowed
 *   text  out: at most text_bytes bytes, its NUL included
 * Cannot fail; a text that is too long is cut. Thread-safe. */
void soma_acl_unsupported_text(const char *name, char *text, size_t text_bytes);

/* Report a call of a function that is not emulated: an error text for the thread, and one line on
 * stderr at the first call, nothing there if SOMA_QUIET=1.
 *   name    of the function; static storage
 *   is_out  one flag per function, clear at the start: set once the line is out
 * Returns ACL_ERROR_RT_FEATURE_NOT_SUPPORT. Thread-safe: of many threads one writes the line. */
aclError soma_acl_unsupported(const char *name, atomic_flag *is_out);

#endif
