/* Sockets that are listened on, and the libmicrohttpd daemon behind each. */
#ifndef SOMA_HTTP_LISTENER_H
#define SOMA_HTTP_LISTENER_H

#include "internal.h"

struct listener {
    struct MHD_Daemon *daemon;
    char address[320]; /* as a client writes it */
    char *unix_path;   /* owned; removed at the end; NULL: TCP */
    uint16_t port;     /* of TCP */
    bool is_loopback;  /* reached from this machine only */
    bool is_tls;
    int fd; /* until a daemon has it; else -1 */
};

/* Bind and listen.
 *   text  "HOST:PORT", "[ADDR]:PORT", "unix:PATH"; a stale unix socket is replaced
 * false: *listener is unchanged, error names the address. */
bool listener_open(struct listener *listener, const char *text, char error[CONFIG_ERROR_BYTES]);

/* Have it speak the server's TLS, before it serves. Unix sockets are left as they are. */
void listener_secure(struct listener *listener);

/* Serve with threads of its own: thread_count epoll loops that call handler(ctx, ...). With
 * handler NULL, the server's. false: error tells why. */
bool listener_serve(struct listener *listener, struct soma_server *server,
                    MHD_AccessHandlerCallback handler, void *ctx, char error[CONFIG_ERROR_BYTES]);

/* Close it, its connections too, and remove the unix socket. Nothing may be suspended. */
void listener_close(struct listener *listener);

#endif
