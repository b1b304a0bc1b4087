/* Random numbers as the devices' generator makes them: Philox4x32-10. Pure: no state but what is
 * handed in, so any thread may call. */
#ifndef SOMA_MEMORY_RANDOM_NUMBERS_H
#define SOMA_MEMORY_RANDOM_NUMBERS_H

#include "engine.h"

/* The four words of the block at this 128-bit counter (low word first) under this key. */
void philox(const uint32_t counter[4], uint64_t key, uint32_t words[4]);

/* engine_bytes.random without its context: elements [first, first + count) to `to`.
 * UNIFORM: min <= x < max, every number of the generator's resolution alike (min when both are the
 * same). NORMAL: by Box and Muller. TRUNCATED_NORMAL: the same, within two standard deviations.
 * DROPOUT_BITMASK: bit i of byte i / 8 is 1, "kept", with probability 1 - rate. */
void random_make(const struct engine_random *what, uint64_t first, uint64_t count, void *to);

#endif
