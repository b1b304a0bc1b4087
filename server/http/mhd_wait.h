/* Waiting for connections without losing any.
 *
 * libmicrohttpd 0.9.75 asks epoll_wait for 128 events at a time, and again as long as it gets 128,
 * each time with the time that it is willing to wait. So when 128 connections are ready, and no
 * more, it waits with all of them in hand until another one is: up to --idle-timeout. It calls
 * epoll_wait through the dynamic linker, so a definition in the executable is called in its place
 * (see mhd_errors.h); in the threads of libmicrohttpd, ours does not wait behind a call that was
 * answered in full. */
#ifndef SOMA_HTTP_MHD_WAIT_H
#define SOMA_HTTP_MHD_WAIT_H

/* The calling thread is one of libmicrohttpd's: of each one, before it has many connections. */
void mhd_wait_mark_thread(void);

#endif
