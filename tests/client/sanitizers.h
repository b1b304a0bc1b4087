/* Which sanitizer the tests are built with. */
#ifndef SOMA_TESTS_SANITIZERS_H
#define SOMA_TESTS_SANITIZERS_H

#include <stdbool.h>

/* ThreadSanitizer cannot follow a child after fork that starts threads. */
#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER true
#endif
#endif
#ifndef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER false
#endif

#endif
