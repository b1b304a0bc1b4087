/* Bytes through a plain loopback TCP socket, from one process to another: what copies stand beside.
 */
#ifndef SOMA_BENCH_LOOPBACK_H
#define SOMA_BENCH_LOOPBACK_H

#include "bench.h"

/* GB/s of blocks of so many bytes, each confirmed by one byte from the other side. */
bool loopback_measure(size_t bytes, double seconds, struct bench_series *rates);

#endif
