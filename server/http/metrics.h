/* Counters of the server, and their Prometheus text. Counting takes no lock: each connection
 * counts in one of a few shards. No label names a session or an object. */
#ifndef SOMA_HTTP_METRICS_H
#define SOMA_HTTP_METRICS_H

#include "internal.h"

struct metrics;
struct router;

struct metrics *metrics_create(const struct router *router); /* NULL: no memory; router is kept */
void metrics_destroy(struct metrics *metrics);

/* Shards for connections to choose from: 0 .. METRICS_SHARDS - 1. */
#define METRICS_SHARDS 8u

/* A request is over.
 *   route  NULL: none matched */
void metrics_count_request(struct metrics *metrics, unsigned shard, const struct route *route,
                           int http, enum soma_status status, uint64_t duration_ns);

/* An error inside an answer that is none itself: of one command of a batch. */
void metrics_count_error(struct metrics *metrics, unsigned shard, enum soma_status status);

void metrics_count_batch(struct metrics *metrics, unsigned shard, uint64_t command_count);

/* Everything as text, sessions and their memory included. */
void metrics_write(struct soma_server *server, struct soma_writer *writer);

#endif
