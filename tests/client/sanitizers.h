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

/* A child of a process with threads may allocate. gcc's ASan may not: a thread of the parent can
 * hold its allocator's lock for ever in the child. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER true
#else
#define HAS_ADDRESS_SANITIZER false
#endif
#define CAN_USE_FORKED_CHILD (!HAS_THREAD_SANITIZER && !HAS_ADDRESS_SANITIZER)

#endif
