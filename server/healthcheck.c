/* One request over a blocking socket with time limits. */
#include "healthcheck.h"

#include <gnutls/gnutls.h>

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMEOUT_S 3
#define ANSWER_BYTES 1024u

static const char ask[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

static int unhealthy(const char *where, const char *why)
{
    (void)fprintf(stderr, "somad: %s: %s\n", where, why);
    return 1;
}

/* ---- reaching it ---- */

static int connect_to(const struct sockaddr *address, socklen_t len)
{
    const struct timeval limit = {.tv_sec = TIMEOUT_S};
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)); /* of connect too */
    if (connect(fd, address, len) == 0)
        return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    return connect_to((const struct sockaddr *)&address, sizeof(address));
}

/* "HOST:PORT"; a listener on all addresses is reached on the loopback one. */
static int connect_tcp(const char *text)
{
    char host[256];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(text, ':');
    size_t len = (size_t)(colon - text);
    bool is_six = len >= 2 && text[0] == '[' && text[len - 1] == ']';
    (void)snprintf(host, sizeof(host), "%.*s", (int)(is_six ? len - 2 : len),
                   is_six ? text + 1 : text);
    if (strcmp(host, "0.0.0.0") == 0)
        (void)snprintf(host, sizeof(host), "127.0.0.1");
    if (strcmp(host, "::") == 0)
        (void)snprintf(host, sizeof(host), "::1");
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = connect_to(found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return fd;
}

/* ---- asking ---- */

/* Send the request and read what fits. false: the connection broke. */
static bool exchange(int fd, char answer[ANSWER_BYTES])
{
    size_t len = 0;
    ssize_t got = 0;
    if (send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL) != (ssize_t)(sizeof(ask) - 1))
        return false;
    while (len < ANSWER_BYTES - 1 && (got = recv(fd, answer + len, ANSWER_BYTES - 1 - len, 0)) > 0)
        len += (size_t)got;
    answer[len] = '\0';
    return len > 0;
}

static bool exchange_over(gnutls_session_t session, char answer[ANSWER_BYTES])
{
    size_t len = 0;
    ssize_t got = 0;
    if (gnutls_handshake(session) != GNUTLS_E_SUCCESS ||
        gnutls_record_send(session, ask, sizeof(ask) - 1) < 0)
        return false;
    while (len < ANSWER_BYTES - 1 &&
           (got = gnutls_record_recv(session, answer + len, ANSWER_BYTES - 1 - len)) > 0)
        len += (size_t)got;
    answer[len] = '\0';
    return len > 0;
}

static bool exchange_tls(int fd, char answer[ANSWER_BYTES])
{
    gnutls_session_t session = NULL;
    gnutls_certificate_credentials_t credentials = NULL;
    bool good =
        gnutls_certificate_allocate_credentials(&credentials) == GNUTLS_E_SUCCESS &&
        gnutls_init(&session, GNUTLS_CLIENT) == GNUTLS_E_SUCCESS &&
        gnutls_set_default_priority(session) == GNUTLS_E_SUCCESS &&
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials) == GNUTLS_E_SUCCESS;
    if (good) {
        gnutls_transport_set_int(session, fd);
        good = exchange_over(session, answer);
    }
    if (session != NULL)
        gnutls_deinit(session);
    if (credentials != NULL)
        gnutls_certificate_free_credentials(credentials);
    return good;
}

int soma_healthcheck(const struct soma_config *config)
{
    char answer[ANSWER_BYTES];
    const char *where = config->listen[0];
    bool is_unix = strncmp(where, "unix:", 5) == 0;
    int fd = is_unix ? connect_unix(where + 5) : connect_tcp(where);
    if (fd < 0)
        return unhealthy(where, strerror(errno));
    bool has_tls = config->tls_cert != NULL && !is_unix;
    bool is_answered = has_tls ? exchange_tls(fd, answer) : exchange(fd, answer);
    (void)close(fd);
    if (!is_answered)
        return unhealthy(where, "does not answer");
    if (strncmp(answer, "HTTP/1.1 200 ", 13) == 0)
        return 0;
    answer[strcspn(answer, "\r\n")] = '\0';
    return unhealthy(where, answer);
}
