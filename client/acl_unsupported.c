/* The functions of ACL that soma does not emulate: one for each ACL_UNSUPPORTED row of
 * acl_functions.def, so that every program links and learns what is missing.
 * Knows neither the service nor the session: these functions work in any state of the process. */
#include "acl_unsupported.h"

#include "error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

static bool is_quiet(void)
{
    const char *quiet = getenv("SOMA_QUIET");
    return quiet != NULL && strcmp(quiet, "1") == 0;
}

void soma_acl_unsupported_text(const char *name, char *text, size_t text_bytes)
{
    (void)snprintf(text, text_bytes,
                   "%s is not emulated by soma: %d (ACL_ERROR_RT_FEATURE_NOT_SUPPORT). Leave the "
                   "call out, or run this part on a device.",
                   name, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

aclError soma_acl_unsupported(const char *name, atomic_flag *is_out)
{
    char text[SOMA_ACL_UNSUPPORTED_TEXT_BYTES];
    client_begin(name);
    (void)client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      "not emulated by soma: leave the call out, or run this part on a device");
    soma_acl_unsupported_text(name, text, sizeof(text));
    if (!is_quiet() && !atomic_flag_test_and_set(is_out))
        (void)fprintf(stderr, "soma: %s\n", text);
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

/* aclError is the only result type that is an int: it gets the number, all others get 0 or NULL.
 * sizeof names the arguments without evaluating anything. */
#define ACL_UNSUPPORTED(tier, name, return_type, parameters, arguments)                            \
    return_type name parameters                                                                    \
    {                                                                                              \
        static atomic_flag is_out = ATOMIC_FLAG_INIT;                                              \
        (void)sizeof(name arguments);                                                              \
        aclError error = soma_acl_unsupported(#name, &is_out);                                     \
        (void)error;                                                                               \
        return _Generic((return_type)0, aclError : error, default : (return_type)0);               \
    }
#define ACL_UNSUPPORTED_VARIADIC(tier, name, return_type, parameters, arguments)                   \
    return_type name parameters                                                                    \
    {                                                                                              \
        static atomic_flag is_out = ATOMIC_FLAG_INIT;                                              \
        (void)sizeof((name arguments, 0));                                                         \
        (void)soma_acl_unsupported(#name, &is_out);                                                \
    }
#include "soma/acl_functions.def"
