/* The environment variables that say where the service is. */
#include "endpoint.h"

#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *client_env(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

aclError client_env_number(const char *name, const char *unit, long min, long max, long *value)
{
    const char *text = client_env(name);
    if (text == NULL)
        return ACL_SUCCESS;
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < min ||
        number > max)
        return client_fail(
            ACL_ERROR_INVALID_PARAM,
            "%s=%.80s is not a whole number of %s from %ld to %ld: change or unset it", name, text,
            unit, min, max);
    *value = number;
    return ACL_SUCCESS;
}

aclError client_endpoint_set_unix(struct client_endpoint *endpoint, const char *path)
{
    if (strlen(path) >= sizeof(endpoint->unix_path))
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "unix:%.200s: a socket's path has at most %zu bytes; use a shorter one",
                           path, sizeof(endpoint->unix_path) - 1);
    (void)snprintf(endpoint->unix_path, sizeof(endpoint->unix_path), "%s", path);
    (void)snprintf(endpoint->url, sizeof(endpoint->url), "http://localhost");
    (void)snprintf(endpoint->where, sizeof(endpoint->where), "unix:%s", path);
    return ACL_SUCCESS;
}

static bool is_url_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           strchr(".-_:[]%", c) != NULL;
}

/* Only host and port may follow http://: a path or user would go unnoticed to a wrong place. */
static aclError set_tcp(struct client_endpoint *endpoint, const char *server)
{
    const char *host = server + strlen("http://");
    size_t len = strlen(host);
    if (len > 0 && host[len - 1] == '/')
        len--;
    bool is_good = len > 0 && len < 256;
    for (size_t i = 0; is_good && i < len; i++)
        is_good = host[i] != '\0' && is_url_character(host[i]);
    if (!is_good)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "SOMA_SERVER=%.200s is not http://host:port: correct it, or unset it to "
                           "have a server of this process's own",
                           server);
    (void)snprintf(endpoint->url, sizeof(endpoint->url), "http://%.*s", (int)len, host);
    (void)snprintf(endpoint->where, sizeof(endpoint->where), "%s", endpoint->url);
    return ACL_SUCCESS;
}

static aclError set_server(struct client_endpoint *endpoint, const char *server)
{
    if (strncmp(server, "unix:", 5) == 0 && server[5] == '/')
        return client_endpoint_set_unix(endpoint, server + 5);
    if (strncmp(server, "http://", 7) == 0)
        return set_tcp(endpoint, server);
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "SOMA_SERVER=%.200s is neither http://host:port nor unix:/path: correct it, "
                       "or unset it to have a server of this process's own",
                       server);
}

static aclError set_token(struct client_endpoint *endpoint, const char *token, const char *source)
{
    size_t len = strcspn(token, "\r\n");
    bool is_good = len > 0 && len <= 512;
    for (size_t i = 0; is_good && i < len; i++)
        is_good = (unsigned char)token[i] > 0x20 && (unsigned char)token[i] < 0x7f;
    if (!is_good)
        return client_fail(
            ACL_ERROR_INVALID_PARAM,
            "%s does not hold a token: one line of 1 to 512 visible ASCII characters", source);
    (void)snprintf(endpoint->authorization, sizeof(endpoint->authorization),
                   "Authorization: Bearer %.*s", (int)len, token);
    return ACL_SUCCESS;
}

static aclError read_token_file(struct client_endpoint *endpoint, const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return client_fail(ACL_ERROR_INVALID_PARAM, "SOMA_TOKEN_FILE=%.300s cannot be read: %s",
                           path, strerror(errno));
    char token[1024];
    size_t len = fread(token, 1, sizeof(token) - 1, file);
    (void)fclose(file);
    token[len] = '\0';
    return set_token(endpoint, token, "the file that SOMA_TOKEN_FILE names");
}

static aclError read_pipeline(struct client_endpoint *endpoint)
{
    const char *value = client_env("SOMA_PIPELINE");
    endpoint->asks_each_time = value != NULL && strcmp(value, "0") == 0;
    if (value == NULL || endpoint->asks_each_time || strcmp(value, "1") == 0)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "SOMA_PIPELINE=%.80s is neither 0 (every call asks the service and waits) "
                       "nor 1: change or unset it",
                       value);
}

aclError client_endpoint_read(struct client_endpoint *endpoint)
{
    memset(endpoint, 0, sizeof(*endpoint));
    endpoint->timeout_ms = CLIENT_TIMEOUT_MS_DEFAULT;
    aclError error = client_env_number("SOMA_TIMEOUT_MS", "milliseconds", 1, CLIENT_TIMEOUT_MS_MAX,
                                       &endpoint->timeout_ms);
    if (error == ACL_SUCCESS)
        error = read_pipeline(endpoint);
    const char *server = client_env("SOMA_SERVER");
    if (error != ACL_SUCCESS || server == NULL)
        return error;
    error = set_server(endpoint, server);
    const char *token = client_env("SOMA_TOKEN");
    const char *token_file = client_env("SOMA_TOKEN_FILE");
    if (error == ACL_SUCCESS && token != NULL)
        error = set_token(endpoint, token, "SOMA_TOKEN");
    else if (error == ACL_SUCCESS && token_file != NULL)
        error = read_token_file(endpoint, token_file);
    return error;
}
