/* The plainest table of contents that an engine can be given: no mappings, no sharing, no kernels.
 * It is what the server's own memory is compared with, and it aborts when the engine leaves the
 * ranges that it reserved. */
#ifndef SOMA_TESTS_FLAT_BYTES_H
#define SOMA_TESTS_FLAT_BYTES_H

#include "engine.h"

struct flat_bytes;

/* write_limit: after so many bytes written, set and copied in all, the next such call is refused
 * with SOMA_HOST_MEMORY_EXHAUSTED. Aborts when there is no memory, as all of it does. */
struct flat_bytes *flat_bytes_create(uint64_t write_limit);
void flat_bytes_destroy(struct flat_bytes *bytes);

/* The table to hand to engine_create; valid as long as bytes is. */
struct engine_bytes flat_bytes_table(struct flat_bytes *bytes);

/* Ranges that are reserved now: none when the engine is gone. */
size_t flat_bytes_ranges(const struct flat_bytes *bytes);

#endif
