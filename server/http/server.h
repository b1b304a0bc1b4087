/* The service as a library: start it, ask for its addresses, stop it. somad's main, tests and
 * benchmarks use nothing else of server/http. No globals: several servers may run in one process.
 */
#ifndef SOMA_HTTP_SERVER_H
#define SOMA_HTTP_SERVER_H

#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soma_server;

/* Listen and serve.
 *   config  copied where needed; may be released at once
 *   server  out, only on true; stop it with soma_server_stop
 *   error   out, on false: one line that names the option or the address
 * Never returns half started. */
bool soma_server_start(const struct soma_config *config, struct soma_server **server,
                       char error[CONFIG_ERROR_BYTES]);

/* Listener i as a client writes it: "http://127.0.0.1:8080", "http://[::1]:80", "unix:/path".
 * NULL past the last one. Borrowed until stop. */
const char *soma_server_address(const struct soma_server *server, size_t i);

/* TCP port of listener i, 0 for a unix socket. */
uint16_t soma_server_port(const struct soma_server *server, size_t i);

/* From now on /readyz answers 503, and all else goes on: balancers are to notice. From any thread.
 */
void soma_server_leave(struct soma_server *server);

/* Leave, open no session any more, and close connections after their answer. From any thread. */
void soma_server_retire(struct soma_server *server);

/* How many sessions are open, `default` not counted. */
size_t soma_server_sessions(const struct soma_server *server);

/* Retire the server, if it is not yet, and wait until no request is under way, at most bound_ms;
 * requests that still wait for something then are answered with DRAINING. true: none is left. May
 * be called from any thread, once. */
bool soma_server_drain(struct soma_server *server, uint64_t bound_ms);

/* Remove the files of unix sockets: for a process that ends without soma_server_stop. */
void soma_server_remove_sockets(const struct soma_server *server);

/* Close every connection, end every session, free everything. Requests under way are cut off;
 * kernels that run are waited for. Takes NULL. */
void soma_server_stop(struct soma_server *server);

#endif
