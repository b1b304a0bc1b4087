/* libcurl's easy interface, one handle a client. */
#include "http_client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 60000L

struct http_client {
    CURL *curl;
    char base[256];    /* what a path is appended to */
    char socket[256];  /* path of a unix socket, "" when the url is http */
    char session[160]; /* the header, "" when there is none */
    char why[CURL_ERROR_SIZE];
};

struct http_client *http_client_create(const char *url)
{
    struct http_client *client = calloc(1, sizeof(*client));
    if (client == NULL)
        return NULL;
    client->curl = curl_easy_init();
    if (client->curl == NULL) {
        free(client);
        return NULL;
    }
    bool is_unix = strncmp(url, "unix:", 5) == 0;
    (void)snprintf(client->base, sizeof(client->base), "%s", is_unix ? "http://localhost" : url);
    if (is_unix)
        (void)snprintf(client->socket, sizeof(client->socket), "%s", url + 5);
    return client;
}

void http_client_destroy(struct http_client *client)
{
    if (client == NULL)
        return;
    curl_easy_cleanup(client->curl);
    free(client);
}

void http_client_set_session(struct http_client *client, const char *session)
{
    client->session[0] = '\0';
    if (session != NULL)
        (void)snprintf(client->session, sizeof(client->session), "Soma-Session: %s", session);
}

const char *http_client_why(const struct http_client *client)
{
    return client->why;
}

static size_t take_body(char *ptr, size_t size, size_t count, void *user)
{
    struct http_answer *answer = user;
    size_t len = size * count;
    size_t needed = answer->body_len + len + 1;
    if (needed > answer->capacity) { /* doubled: under a sanitizer each realloc copies */
        size_t capacity = needed > 2 * answer->capacity ? needed : 2 * answer->capacity;
        char *grown = realloc(answer->body, capacity);
        if (grown == NULL)
            return 0;
        answer->body = grown;
        answer->capacity = capacity;
    }
    memcpy(answer->body + answer->body_len, ptr, len);
    answer->body_len += len;
    answer->body[answer->body_len] = '\0';
    return len;
}

/* Add a header to the list, which stays whole when there is no memory. */
static bool add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer == NULL)
        return false;
    *list = longer;
    return true;
}

static bool build_headers(const struct http_client *client, const struct http_request *request,
                          struct curl_slist **list)
{
    char line[256] = "Content-Type:"; /* without a value: libcurl sends none of its own */
    if (request->content_type != NULL)
        (void)snprintf(line, sizeof(line), "Content-Type: %s", request->content_type);
    bool good = add_header(list, line) && add_header(list, "Expect:");
    if (client->session[0] != '\0')
        good = good && add_header(list, client->session);
    for (size_t i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
        good = good && add_header(list, request->headers[i]);
    return good;
}

static CURLcode perform(struct http_client *client, const struct http_request *request,
                        struct curl_slist *headers, struct http_answer *answer)
{
    CURL *curl = client->curl;
    char url[2048];
    (void)snprintf(url, sizeof(url), "%s%s", client->base, request->path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (client->socket[0] != '\0')
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
    if (request->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
    } else if (strcmp(request->method, "POST") == 0 || strcmp(request->method, "PUT") == 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
    }
    return curl_easy_perform(curl);
}

bool http_send(struct http_client *client, const struct http_request *request,
               struct http_answer *answer)
{
    struct curl_slist *headers = NULL;
    memset(answer, 0, sizeof(*answer));
    client->why[0] = '\0';
    bool good = build_headers(client, request, &headers) &&
                perform(client, request, headers, answer) == CURLE_OK;
    curl_slist_free_all(headers);
    if (good && answer->body == NULL) {
        answer->body = calloc(1, 1);
        good = answer->body != NULL;
    }
    if (!good) {
        http_answer_release(answer);
        return false;
    }
    const char *type = NULL;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(client->curl, CURLINFO_CONTENT_TYPE, &type);
    (void)snprintf(answer->content_type, sizeof(answer->content_type), "%s",
                   type == NULL ? "" : type);
    return true;
}

void http_answer_release(struct http_answer *answer)
{
    free(answer->body);
    answer->body = NULL;
    answer->body_len = answer->capacity = 0;
}

void http_escape(char *to, size_t to_bytes, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t len = 0;
    for (; *text != '\0' && len + 4 <= to_bytes; text++) {
        unsigned char c = (unsigned char)*text;
        if (strchr(plain, c) != NULL) {
            to[len++] = (char)c;
        } else {
            to[len++] = '%';
            to[len++] = hex[c >> 4];
            to[len++] = hex[c & 15];
        }
    }
    to[len] = '\0';
}
