/* Receiving large bodies where they belong.
 *
 * libmicrohttpd 0.9.75 receives into half of a connection's memory, 20 kB, asks epoll for each of
 * them, and hands them over to be copied. It calls recv through the dynamic linker, so a definition
 * in the executable is called in its place (see mhd_wait.h): ours receives a body that has been
 * announced in large pieces straight to its memory, and then tells libmicrohttpd piece by piece, as
 * many as it has room for, that they have come. What libmicrohttpd believes to have received stands
 * in its buffer only if it came before mhd_receive_start. All of it is done by the thread that has
 * the connection. */
#ifndef SOMA_HTTP_MHD_RECEIVE_H
#define SOMA_HTTP_MHD_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/* The rest of a body that is received. Zeros: none is. */
struct mhd_receive {
    SLIST_ENTRY(mhd_receive) entry;
    int fd;
    char *to;
    size_t left;   /* bytes that have not come */
    size_t untold; /* bytes that have come and libmicrohttpd does not know of */
    bool is_active;
};

/* The next `bytes` bytes that libmicrohttpd receives from fd, which is not TLS, go to `to`, which
 * is borrowed until it has been told of all of them, or mhd_receive_stop. */
void mhd_receive_start(struct mhd_receive *receive, int fd, char *to, size_t bytes);

/* Takes one that is not active. */
void mhd_receive_stop(struct mhd_receive *receive);

/* Whether the calling thread has bytes that libmicrohttpd does not know of. */
bool mhd_receive_is_ahead(void);

#endif
