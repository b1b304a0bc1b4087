/* The suites of client_tests. A suite that is not listed is not run.
 * S(name, needs_fake): 1 for suites that look into the fake service or make it fail. */
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
    S(error, 0)                                                                                    \
    S(endpoint, 0)                                                                                 \
    S(handle, 0)                                                                                   \
    S(ranges, 0)                                                                                   \
    S(session, 1)                                                                                  \
    S(context, 0)                                                                                  \
    S(refusals, 0)                                                                                 \
    S(stream_event, 0)                                                                             \
    S(mempool, 0)                                                                                  \
    S(memory, 0)                                                                                   \
    S(kernel, 0)                                                                                   \
    S(kernel_dir, 0)                                                                               \
    S(tasks, 0)                                                                                    \
    S(memory_map, 0)                                                                               \
    S(managed, 0)                                                                                  \
    S(tpipe, 0)                                                                                    \
    S(data, 0)                                                                                     \
    S(threads, 1)                                                                                  \
    S(device_info, 0)                                                                              \
    S(stream_settings, 0)                                                                          \
    S(allocator, 0)                                                                                \
    S(host_func, 0)                                                                                \
    S(signals, 0)                                                                                  \
    S(callbacks, 0)                                                                                \
    S(exception, 0)                                                                                \
    S(host_register, 0)                                                                            \
    S(no_memory, 0)

#define CLIENT_ROW(name, needs_fake) extern const struct client_suite suite_##name;
CLIENT_SUITES(CLIENT_ROW)
#undef CLIENT_ROW

#endif
