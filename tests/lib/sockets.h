/* Whole buffers through blocking sockets. false: the other side is gone. */
#ifndef SOMA_TESTS_SOCKETS_H
#define SOMA_TESTS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

bool sockets_send_all(int fd, const void *bytes, size_t len);
bool sockets_receive_all(int fd, void *bytes, size_t len);

#endif
