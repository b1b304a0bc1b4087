/* TLS of TCP listeners: the certificate and key that libmicrohttpd is given, and writing past it.
 */
#ifndef SOMA_HTTP_TLS_H
#define SOMA_HTTP_TLS_H

#include "internal.h"

#include <sys/uio.h>

struct tls {
    char *certificate, *key; /* PEM; owned, and read by libmicrohttpd while it runs */
};

/* Read and check both files.
 *   tls    out, only on true; give it to tls_release
 *   error  out, on false: one line that names the option and the file */
bool tls_load(const char *certificate_file, const char *key_file, struct tls **tls,
              char error[CONFIG_ERROR_BYTES]);
void tls_release(struct tls *tls); /* takes NULL */

/* Versions and ciphers, in GnuTLS's words. */
extern const char tls_priorities[];

/* Whether the connection is a TLS one. Not once it is closed. */
bool tls_is_used(struct MHD_Connection *mhd);

/* Write on a TLS connection that is about to be closed, without blocking. Nothing is written when
 * its handshake is not over or the client does not read. false: not all of it was taken. */
bool tls_send(struct MHD_Connection *mhd, const struct iovec *parts, size_t count);

#endif
