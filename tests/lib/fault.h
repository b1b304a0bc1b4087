/* Allocations that fail on demand. The test program is linked with --wrap for malloc, calloc and
 * realloc, so this reaches every static library of ours; cJSON is reached through its hooks. Counts
 * are kept per thread. */
#ifndef SOMA_TESTS_FAULT_H
#define SOMA_TESTS_FAULT_H

/* Let cJSON allocate through the wrapped functions. Before the first use of cJSON; may be repeated.
 */
void fault_hook_cjson(void);

/* Count this thread's allocations from here on, and let the one numbered fail_at (from 1) fail.
 * 0: none fails. */
void fault_begin(long fail_at);

/* Stop; returns how many allocations there were, the failed one included. */
long fault_end(void);

#endif
