/* What tests of ACL functions share: a session in the fake service, and checks of error numbers
 * that print the text. */
#ifndef SOMA_TESTS_CLIENT_FIXTURE_H
#define SOMA_TESTS_CLIENT_FIXTURE_H

#include "acl/acl.h"
#include "expect.h"
#include "fake_service.h"

#include <stdbool.h>

/* aclInit against the fake service and aclrtSetDevice(0). */
void fixture_begin(void);

/* aclFinalize, and the fake service must hold no session. */
void fixture_end(void);

/* The call gave this number; when it is an error, its text names the call (the part of `call`
 * before
 * "(") and is there once; when it is ACL_SUCCESS there is no text: what an earlier call left has to
 * be taken before. */
#define GIVES(number, call) gives((number), (call), #call, __FILE__, __LINE__)
bool gives(aclError want, aclError got, const char *call, const char *file, int line);

/* The last error's text holds `part`. */
#define SAYS(part) says((part), __FILE__, __LINE__)
bool says(const char *part, const char *file, int line);

/* Pointers that are no handles. */
extern void *const made_up[];
extern const unsigned made_up_count;

aclrtMemPool make_pool(size_t max_size);

#endif
