/* The ways that the runner knows. Each create gives a way whose ctx is released by its destroy. */
#ifndef SOMA_CONFORMANCE_WAYS_H
#define SOMA_CONFORMANCE_WAYS_H

#include "runner.h"

struct engine_way;
struct http_way;

/* In this process: decoder, engine, encoder. own_memory: contents as the server keeps them, else
 * the plain ones. Aborts when there is no memory. */
struct engine_way *engine_way_create(bool own_memory);
void engine_way_destroy(struct engine_way *engine_way);
struct conformance_way engine_way_table(struct engine_way *engine_way);

/* A somad that is started here, on a free port. NULL: it did not start; why is printed. */
struct http_way *http_way_create(const char *somad_path);
void http_way_destroy(struct http_way *http_way);
struct conformance_way http_way_commands(struct http_way *http_way); /* POST /v1/commands */
struct conformance_way http_way_routes(struct http_way *http_way);   /* the route of each op */

struct http_client;
struct http_client *http_way_client(struct http_way *http_way); /* kept by the way */

/* POST /v1/commands in the compact form, over a way that outlives it. */
struct batch_way;
struct batch_way *batch_way_create(struct http_way *http_way);
void batch_way_destroy(struct batch_way *batch_way);
struct conformance_way batch_way_table(struct batch_way *batch_way);

#endif
