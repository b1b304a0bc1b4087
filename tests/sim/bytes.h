/* The bytes behind 64-bit addresses, kept in pages that exist only where something was written:
 * a pool of 64 GiB costs nothing until it is used. What was never written reads as zero. Aborts
 * when the host has no memory. The model and the engine under test have one each. */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include <stdint.h>

struct sim_bytes;

struct sim_bytes *sim_bytes_create(void);
void sim_bytes_destroy(struct sim_bytes *bytes);

void sim_bytes_zero(struct sim_bytes *bytes, uint64_t address, uint64_t size_bytes);
void sim_bytes_set(struct sim_bytes *bytes, uint64_t address, uint8_t value, uint64_t size_bytes);
void sim_bytes_write(struct sim_bytes *bytes, uint64_t address, const void *from,
                     uint64_t size_bytes);
void sim_bytes_read(const struct sim_bytes *bytes, uint64_t address, void *to, uint64_t size_bytes);

/* As memmove. */
void sim_bytes_copy(struct sim_bytes *bytes, uint64_t dst, uint64_t src, uint64_t size_bytes);

#endif
