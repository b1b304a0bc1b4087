/* The suites of client_tests. A suite that is not listed is not run. */
#ifndef SOMA_CLIENT_TESTS_SUITES_H
#define SOMA_CLIENT_TESTS_SUITES_H

#include <CUnit/CUnit.h>

struct client_test {
    const char *name;
    void (*run)(void);
};

struct client_suite {
    const char *name;
    const struct client_test *tests; /* ends with {NULL, NULL} */
};

#define CLIENT_SUITES(S)                                                                           \
    S(error)                                                                                       \
    S(endpoint)                                                                                    \
    S(handle)                                                                                      \
    S(ranges)                                                                                      \
    S(session)                                                                                     \
    S(context)                                                                                     \
    S(refusals)                                                                                    \
    S(stream_event)                                                                                \
    S(mempool)                                                                                     \
    S(memory)                                                                                      \
    S(kernel)                                                                                      \
    S(data)                                                                                        \
    S(threads)                                                                                     \
    S(no_memory)

#define CLIENT_ROW(name) extern const struct client_suite suite_##name;
CLIENT_SUITES(CLIENT_ROW)
#undef CLIENT_ROW

#endif
