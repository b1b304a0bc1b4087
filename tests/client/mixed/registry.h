/* The live blocks of all threads, and a check that none overlap. Thread-safe. */
#ifndef SOMA_TESTS_CLIENT_MIXED_REGISTRY_H
#define SOMA_TESTS_CLIENT_MIXED_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

/* A block was allocated: enter it at once. false, with a line on stderr: it overlaps a live one. */
bool registry_add(uint64_t address, uint64_t size_bytes, uint32_t owner);

/* It is about to be freed. false: it is not there. */
bool registry_remove(uint64_t address);

bool registry_is_empty(void);

#endif
