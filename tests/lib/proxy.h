/* A TCP proxy of a test's own between a client and a server, which cuts a connection at a byte that
 * the test chooses: both directions are closed when so many more bytes have passed in one. */
#ifndef SOMA_TESTS_PROXY_H
#define SOMA_TESTS_PROXY_H

#include <stdbool.h>

struct proxy;

enum proxy_side { PROXY_REQUEST, PROXY_ANSWER };

/* Between a free port of 127.0.0.1 and `url` (http://127.0.0.1:PORT). NULL: it did not work. */
struct proxy *proxy_start(const char *url);
void proxy_stop(struct proxy *proxy);

/* Where it listens. */
const char *proxy_url(const struct proxy *proxy);

/* Let `bytes` more bytes of this side pass, over whatever connection, and cut when another one
 * comes, which is lost. Done so many times, each after as many bytes. */
void proxy_cut(struct proxy *proxy, enum proxy_side side, long bytes, unsigned times);

/* Cuts that were not done are dropped; how many were done since the last call. */
unsigned proxy_cuts(struct proxy *proxy);

/* Bytes that passed so far. */
long proxy_passed(const struct proxy *proxy, enum proxy_side side);

#endif
