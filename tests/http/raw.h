/* Bytes to a server as they are, and what comes back. */
#ifndef SOMA_TESTS_HTTP_RAW_H
#define SOMA_TESTS_HTTP_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_BYTES 65536

/* A connection to 127.0.0.1; -1 when there is none. close() it. */
int raw_connect(uint16_t port);

/* Send all of it; false when the server does not take it. Bytes: sockets_send_all. */
bool raw_send_text(int fd, const char *text);

/* Read until the server closes, or `until` stands in what was read (NULL: only the end), or the
 * time is over. buf: RAW_BYTES, NUL-terminated. true: the server has closed. */
bool raw_read(int fd, char *buf, const char *until, unsigned timeout_ms);

/* The status code of the first answer in buf, 0 when there is none, and its body. */
long raw_status(const char *buf);
const char *raw_body(const char *buf);

#endif
