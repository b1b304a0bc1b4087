/* The suites of soma_http_tests; see ../suites.h. */
#define SOMA_SUITES(S)                                                                             \
    S(http_routes)                                                                                 \
    S(http_errors)                                                                                 \
    S(http_hostile)                                                                                \
    S(http_idempotency)                                                                            \
    S(http_commands)                                                                               \
    S(http_batch)                                                                                  \
    S(http_memory)                                                                                 \
    S(http_upload)                                                                                 \
    S(http_kernels)                                                                                \
    S(http_sessions)                                                                               \
    S(http_waits)                                                                                  \
    S(http_busy)                                                                                   \
    S(http_drain)                                                                                  \
    S(somad)
