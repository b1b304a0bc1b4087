/* Called before each step of a test, by any thread. */
#include "vary_batches.h"

#include "pipeline.h"

#include <stdatomic.h>
#include <stdlib.h>

void vary_batches(void)
{
    static _Atomic unsigned state;
    const char *seed = getenv("SOMA_TEST_FLUSH");
    if (seed == NULL)
        return;
    unsigned next = atomic_load(&state);
    if (next == 0)
        next = (unsigned)strtoul(seed, NULL, 10) | 1u;
    next = next * 1664525u + 1013904223u;
    atomic_store(&state, next);
    client_pipeline_limit_batches(1 + (next >> 16) % 7);
}
