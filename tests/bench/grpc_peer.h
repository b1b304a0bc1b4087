/* The gRPC peer (grpc/peer.cc) as processes: one that serves, and one per measurement that calls.
 */
#ifndef SOMA_BENCH_GRPC_PEER_H
#define SOMA_BENCH_GRPC_PEER_H

#include "bench.h"

#include <sys/types.h>

struct grpc_peer {
    const char *path;
    pid_t pid; /* of the one that serves; 0: none */
    char address[64];
};

/* path: borrowed until stop. false: why is printed. */
bool grpc_peer_start(struct grpc_peer *peer, const char *path);
void grpc_peer_stop(struct grpc_peer *peer);

/* Pairs per second over so many connections, each with a thread of its own. */
bool grpc_peer_measure(const struct grpc_peer *peer, unsigned connections, double seconds,
                       struct bench_series *rates);

#endif
