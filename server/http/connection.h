/* Connections: accepted, closed, and watched for requests that do not arrive. */
#ifndef SOMA_HTTP_CONNECTION_H
#define SOMA_HTTP_CONNECTION_H

#include "internal.h"

/* MHD_OPTION_NOTIFY_CONNECTION; cls is the server. */
void connection_on_notify(void *cls, struct MHD_Connection *mhd, void **ctx,
                          enum MHD_ConnectionNotificationCode code);

void connection_enter(struct connection *conn, enum connection_stage stage, uint64_t now_ns);

/* Requests begun and not over, of all connections: no counter that every request would touch. */
uint64_t connections_active(struct soma_server *server);

/* Stop reading from connections whose request is overdue. From the timer thread. */
void connections_sweep(struct soma_server *server, uint64_t now_ns);

#endif
