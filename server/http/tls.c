/* The only file of the server that knows GnuTLS. */
#include "tls.h"

#include <gnutls/gnutls.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEM_BYTES_MAX ((size_t)1 << 20)

const char tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static bool fail(char error[CONFIG_ERROR_BYTES], const char *option, const char *path,
                 const char *why)
{
    (void)snprintf(error, CONFIG_ERROR_BYTES, "--%s: %.300s: %s", option, path, why);
    return false;
}

/* The whole file as a string. */
static bool load_text(const char *option, const char *path, char **text,
                      char error[CONFIG_ERROR_BYTES])
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail(error, option, path, strerror(errno));
    char *loaded = calloc(1, PEM_BYTES_MAX);
    size_t len = loaded != NULL ? fread(loaded, 1, PEM_BYTES_MAX - 1, file) : 0;
    bool good = len > 0 && ferror(file) == 0 && feof(file) != 0;
    (void)fclose(file);
    if (good) {
        char *fitted = realloc(loaded, len + 1);
        *text = fitted != NULL ? fitted : loaded;
        return true;
    }
    free(loaded);
    return fail(error, option, path, "cannot be read, is empty or too large");
}

/* Whether both can be read, and belong together. */
static bool check_pair(const struct tls *tls, const char *path, char error[CONFIG_ERROR_BYTES])
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t certificate = {(unsigned char *)tls->certificate,
                                  (unsigned)strlen(tls->certificate)};
    gnutls_datum_t key = {(unsigned char *)tls->key, (unsigned)strlen(tls->key)};
    if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS)
        return fail(error, "tls-cert", path, "no memory");
    int code =
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return code >= 0 || fail(error, "tls-cert", path, gnutls_strerror(code));
}

bool tls_load(const char *certificate_file, const char *key_file, struct tls **tls,
              char error[CONFIG_ERROR_BYTES])
{
    struct tls *loaded = calloc(1, sizeof(*loaded));
    bool good = loaded != NULL
                    ? load_text("tls-cert", certificate_file, &loaded->certificate, error) &&
                          load_text("tls-key", key_file, &loaded->key, error) &&
                          check_pair(loaded, certificate_file, error)
                    : fail(error, "tls-cert", certificate_file, "no memory");
    if (good)
        *tls = loaded;
    else
        tls_release(loaded);
    return good;
}

void tls_release(struct tls *tls)
{
    if (tls == NULL)
        return;
    if (tls->key != NULL)
        explicit_bzero(tls->key, strlen(tls->key));
    free(tls->key);
    free(tls->certificate);
    free(tls);
}

static gnutls_session_t session_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info != NULL ? (gnutls_session_t)info->tls_session : NULL;
}

bool tls_is_used(struct MHD_Connection *mhd)
{
    return session_of(mhd) != NULL;
}

bool tls_send(struct MHD_Connection *mhd, const struct iovec *parts, size_t count)
{
    gnutls_session_t session = session_of(mhd);
    if (session == NULL || gnutls_cipher_get(session) == GNUTLS_CIPHER_NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (gnutls_record_send(session, parts[i].iov_base, parts[i].iov_len) < 0)
            return false;
    }
    return true;
}
