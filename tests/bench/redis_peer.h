/* The Redis peer: redis-server and redis-benchmark of the machine. */
#ifndef SOMA_BENCH_REDIS_PEER_H
#define SOMA_BENCH_REDIS_PEER_H

#include "bench.h"

/* SET commands per second over a unix socket, -P 1000 -c 2, for about so long. */
bool redis_peer_measure(double seconds, struct bench_series *rates);

#endif
