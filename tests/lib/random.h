/* A small generator with a seed: the same seed gives the same numbers everywhere. */
#ifndef SOMA_TESTS_RANDOM_H
#define SOMA_TESTS_RANDOM_H

#include <stdint.h>

struct random_source {
    uint64_t state;
};

uint64_t random_next(struct random_source *source);                  /* any 64 bits */
uint64_t random_below(struct random_source *source, uint64_t limit); /* 0..limit-1; limit > 0 */

/* A number of min..max that is often small, at an end, or near a power of two. */
uint64_t random_edge(struct random_source *source, uint64_t min, uint64_t max);

#endif
