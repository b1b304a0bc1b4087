/* Bytes through a plain socket, from one process to another: what copies stand beside. */
#ifndef SOMA_BENCH_SOCKET_PEER_H
#define SOMA_BENCH_SOCKET_PEER_H

#include "bench.h"

struct socket_peer {
    bool is_unix; /* a unix socket; else TCP over loopback */
    bool is_out;  /* this process sends, as for H2D; else it receives */
    size_t bytes; /* of a block */
};

/* GB/s of blocks, each asked for or confirmed by one byte from the other side. The memory of both
 * sides was touched before. */
bool socket_peer_measure(const struct socket_peer *peer, double seconds,
                         struct bench_series *rates);

#endif
