/* Every suite of the test runner, by hand: a suite that is not listed is not run.
 * A suite is `const struct soma_suite suite_<name>` in tests/<folder>/test_<name>.c. */
#ifndef SOMA_TESTS_SUITES_H
#define SOMA_TESTS_SUITES_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

struct soma_test {
    const char *name;
    void (*run)(void);
};

struct soma_suite {
    const char *name;
    const struct soma_test *tests; /* ends with {NULL, NULL} */
};

/* A runner of its own names its list. */
#ifdef SOMA_SUITES_FILE
#include SOMA_SUITES_FILE
#else
#define SOMA_SUITES(S)                                                                             \
    S(status)                                                                                      \
    S(command)                                                                                     \
    S(message)                                                                                     \
    S(wire_store)                                                                                  \
    S(wire_parse)                                                                                  \
    S(wire_decode)                                                                                 \
    S(wire_encode)                                                                                 \
    S(wire_answer)                                                                                 \
    S(batch)                                                                                       \
    S(engine_tree)                                                                                 \
    S(engine_radix)                                                                                \
    S(engine_slab)                                                                                 \
    S(host_memory)                                                                                 \
    S(engine_host_func)                                                                            \
    S(engine_notify)                                                                               \
    S(engine_value)                                                                                \
    S(engine_stream)                                                                               \
    S(engine_event)                                                                                \
    S(engine_vclock)                                                                               \
    S(pipe)                                                                                        \
    S(pipe_init)                                                                                   \
    S(pipe_queue)                                                                                  \
    S(pipe_samples)                                                                                \
    S(pipe_layout)                                                                                 \
    S(layout)                                                                                      \
    S(layout_accept)                                                                               \
    S(engine_malloc)                                                                               \
    S(engine_malloc_fresh)                                                                         \
    S(engine_block)                                                                                \
    S(engine_release)                                                                              \
    S(engine_pool)                                                                                 \
    S(engine_memory)                                                                               \
    S(config)                                                                                      \
    S(log)                                                                                         \
    S(router)                                                                                      \
    S(auth)                                                                                        \
    S(half)                                                                                        \
    S(random_numbers)                                                                              \
    S(reduce)                                                                                      \
    S(bytes)                                                                                       \
    S(snapshot)                                                                                    \
    S(bodies)                                                                                      \
    S(pages)                                                                                       \
    S(mhd_receive)                                                                                 \
    S(kernels)                                                                                     \
    S(kernel_libraries)                                                                            \
    S(idempotency)                                                                                 \
    S(sessions)                                                                                    \
    S(metrics)                                                                                     \
    S(engine_contents)                                                                             \
    S(engine_addresses)                                                                            \
    S(addresses_model)                                                                             \
    S(engine_device)                                                                               \
    S(engine_space)                                                                                \
    S(engine_timeline)                                                                             \
    S(engine_engine)                                                                               \
    S(engine_check)                                                                                \
    S(engine_oom)
#endif

#define SOMA_ROW(name) extern const struct soma_suite suite_##name;
SOMA_SUITES(SOMA_ROW)
#undef SOMA_ROW

#endif
