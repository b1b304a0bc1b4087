/* A somad of this process's own, on a unix socket that nobody else may open.
 *
 * It is started so that it is no child of the program (the program's wait() never sees it), in a
 * session of its own (Ctrl-C in a terminal does not reach it), and with a lifeline: a pipe whose
 * only writing end this process holds. The kernel is told to send the server SIGTERM when that end
 * closes, so the server ends when the process does, even by SIGKILL, and removes its socket. This
 * does not depend on which thread started it, as PR_SET_PDEATHSIG would. */
#ifndef SOMA_CLIENT_LAUNCH_H
#define SOMA_CLIENT_LAUNCH_H

#include "acl/acl_base.h"
#include "endpoint.h"
#include "status.h"

#include <sys/types.h>

struct client_server {
    pid_t pid;      /* 0: none */
    int lifeline;   /* writing end; closing it ends the server */
    int output;     /* what the server prints; end of file: it is gone */
    char path[108]; /* of the socket */
};

/* Start a server and wait until it listens; then *endpoint leads to it.
 *   endpoint  its timeout_ms bounds the wait
 * somad is what SOMA_SOMAD names, else the one beside the library in a build or install tree, else
 * the one in PATH. ACL_SUCCESS; 507901: not found, could not be run, ended or was silent, the text
 * says what was tried and which variable to set. */
aclError client_server_start(struct client_server *server,
                             struct client_endpoint *endpoint) SOMA_MUST_USE;

/* End the server and wait until it is gone, at most two seconds before it is killed. */
void client_server_stop(struct client_server *server);

/* In the child after fork: let go of the parent's server. */
void client_server_forget(struct client_server *server);

#endif
