/* (method, path) -> row of the command and service tables, by a trie over path segments.
 * Constant once created; used by any number of threads. */
#ifndef SOMA_HTTP_ROUTER_H
#define SOMA_HTTP_ROUTER_H

#include "internal.h"

/* A row of either table. */
struct route {
    enum soma_method method;
    const char *path;
    const struct handler *handler;
    const struct soma_op_info *op;                       /* NULL: a service route */
    const struct soma_field_row *captured[CAPTURES_MAX]; /* per {member}; NULL: {session} */
    unsigned index;                                      /* of this route, from 0 */
    bool is_open;                                        /* answered without a token */
};

struct router;

/* NULL when there is no memory. */
struct router *router_create(void);
void router_destroy(struct router *router);

size_t router_route_count(const struct router *router);
const struct route *router_route(const struct router *router, size_t index);

/* soma_op_find at the speed of a hash. */
const struct soma_op_info *router_op(const struct router *router, const char *name, size_t len);

enum router_match { ROUTER_FOUND, ROUTER_NO_ROUTE, ROUTER_NO_METHOD, ROUTER_BAD_PATH };

/* Look a path up.
 *   method    any token; only GET, POST, PUT and DELETE are routed
 *   path      as it came, without the query; borrowed until the request is over
 *   arena     holds the path once more when it has percent escapes
 *   route     out, on ROUTER_FOUND
 *   captures  out, on ROUTER_FOUND: the text of each {member}, in order
 *   allow     out, on ROUTER_NO_METHOD: the methods that the path has; belongs to the router
 * ROUTER_BAD_PATH: a malformed escape, or one of NUL. */
enum router_match router_match(const struct router *router, const char *method, const char *path,
                               struct wire_arena *arena, const struct route **route,
                               struct capture captures[CAPTURES_MAX], const char **allow);

/* The same from memory: what router_remember was told of this method and path. false: it was not,
 * or not lately. */
bool router_recall(const struct route_memo memos[ROUTE_MEMOS], const char *method, const char *path,
                   const struct route **route, struct capture captures[CAPTURES_MAX]);

/* Keep what router_match has found; paths that are long or have escapes are not kept. */
void router_remember(struct route_memo *memo, const char *path, const struct route *route,
                     const struct capture captures[CAPTURES_MAX]);

/* Decode %XX in place; *len in and out. false: malformed, or a NUL. */
bool router_unescape(char *text, size_t *len);

#endif
