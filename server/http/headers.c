/* One pass over the fields; those that are not ours are skipped after a look at their length. */
#include "headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct scan {
    struct request *req;
    struct soma_error *error;
    enum soma_status status;
    struct soma_text connection, host;
    bool has_length, has_coding;
};

static bool is_name(const char *key, const char *name)
{
    return strcasecmp(key, name) == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct soma_text trimmed(const char *value)
{
    struct soma_text text = {value, value != NULL ? strlen(value) : 0};
    while (text.len > 0 && is_blank(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Keep a field that may stand once. */
static void keep(struct scan *scan, struct soma_text *place, const char *name, const char *value)
{
    if (place->ptr != NULL) {
        scan->status = soma_fail(scan->error, SOMA_BAD_HEADER, name, "%s stands twice", name);
        scan->req->is_unreadable = true;
        return;
    }
    *place = trimmed(value);
    if (place->ptr == NULL)
        place->ptr = "";
}

static void read_length(struct scan *scan, const char *value)
{
    struct soma_text text = trimmed(value);
    uint64_t length = 0;
    bool good = text.len > 0 && text.len < 20 && !scan->has_length;
    for (size_t i = 0; good && i < text.len; i++) {
        good = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        length = length * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    scan->has_length = true;
    scan->req->body_announced = length;
    if (good)
        return;
    scan->req->is_unreadable = true;
    scan->status = soma_fail(scan->error, SOMA_BAD_REQUEST, "Content-Length",
                             "Content-Length stands twice or is no number");
}

static void read_coding(struct scan *scan, const char *value)
{
    struct soma_text text = trimmed(value);
    bool is_chunked = text.len == 7 && strncasecmp(text.ptr, "chunked", 7) == 0;
    scan->req->is_chunked = true;
    if (is_chunked && !scan->has_coding) {
        scan->has_coding = true;
        return;
    }
    scan->req->is_unreadable = true;
    scan->status = soma_fail(scan->error, SOMA_NOT_SUPPORTED, "Transfer-Encoding",
                             "the only Transfer-Encoding that the server reads is chunked");
}

static void read_field(struct scan *scan, const char *key, size_t len, const char *value)
{
    struct request *req = scan->req;
    switch (len) {
    case 4:
        if (is_name(key, "Host"))
            keep(scan, &scan->host, "Host", value);
        break;
    case 6:
        req->has_expect = req->has_expect || is_name(key, "Expect");
        if (is_name(key, "Accept") && req->accept.ptr == NULL)
            req->accept = trimmed(value);
        break;
    case 10:
        if (is_name(key, "Connection"))
            scan->connection = trimmed(value);
        break;
    case 12:
        if (is_name(key, "Soma-Session"))
            keep(scan, &req->session_id, "Soma-Session", value);
        else if (is_name(key, "Content-Type"))
            keep(scan, &req->content_type, "Content-Type", value);
        break;
    case 13:
        if (is_name(key, "Authorization"))
            keep(scan, &req->authorization, "Authorization", value);
        break;
    case 14:
        if (is_name(key, "Content-Length"))
            read_length(scan, value);
        break;
    case 15:
        if (is_name(key, "Idempotency-Key"))
            keep(scan, &req->key, "Idempotency-Key", value);
        break;
    case 17:
        if (is_name(key, "Transfer-Encoding"))
            read_coding(scan, value);
        break;
    default: break;
    }
}

static enum MHD_Result on_field(void *ctx, enum MHD_ValueKind kind, const char *key,
                                const char *value)
{
    struct scan *scan = ctx;
    (void)kind;
    size_t len = strlen(key);
    if (len == 0 || key[len - 1] == ' ' || key[len - 1] == '\t') {
        scan->req->is_unreadable = true;
        scan->status = soma_fail(scan->error, SOMA_BAD_REQUEST, "",
                                 "a header field has no name, or a space before its colon");
    } else {
        read_field(scan, key, len, value);
    }
    return scan->status == SOMA_OK ? MHD_YES : MHD_NO;
}

static bool has_token(struct soma_text list, const char *token)
{
    size_t len = strlen(token);
    for (size_t i = 0; i + len <= list.len; i++) {
        bool starts = i == 0 || strchr(", \t", list.ptr[i - 1]) != NULL;
        bool ends = i + len == list.len || strchr(", \t", list.ptr[i + len]) != NULL;
        if (starts && ends && strncasecmp(list.ptr + i, token, len) == 0)
            return true;
    }
    return false;
}

static enum soma_status check(struct scan *scan)
{
    struct request *req = scan->req;
    if (scan->has_length && req->is_chunked) {
        req->is_unreadable = true;
        return soma_fail(scan->error, SOMA_BAD_REQUEST, "Content-Length",
                         "Content-Length and Transfer-Encoding exclude each other");
    }
    if (req->key.ptr != NULL &&
        (req->key.len == 0 || req->key.len > SOMA_IDEMPOTENCY_KEY_BYTES_MAX))
        return soma_fail(scan->error, SOMA_BAD_HEADER, "Idempotency-Key",
                         "Idempotency-Key has %zu characters; it may have 1 to %u", req->key.len,
                         SOMA_IDEMPOTENCY_KEY_BYTES_MAX);
    if (req->session_id.ptr != NULL && req->session_id.len == 0)
        return soma_fail(scan->error, SOMA_BAD_HEADER, "Soma-Session",
                         "Soma-Session is empty; leave it out to work in the session \"default\"");
    return SOMA_OK;
}

enum soma_status headers_read(struct request *req, const char *version, struct soma_error *error)
{
    struct scan scan = {.req = req, .error = error, .status = SOMA_OK};
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(req->conn->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    (void)MHD_get_connection_values(req->conn->mhd, MHD_HEADER_KIND, on_field, &scan);
    bool is_old = strcmp(version, "HTTP/1.0") == 0;
    if (has_token(scan.connection, "close") ||
        (is_old && !has_token(scan.connection, "keep-alive")))
        req->closes = true;
    if (size != NULL && size->header_size > SOMA_HEADER_BYTES_MAX)
        return soma_fail(error, SOMA_HEADERS_TOO_LARGE, "",
                         "the request line and header fields take %zu bytes; the server reads %u",
                         size->header_size, SOMA_HEADER_BYTES_MAX);
    return scan.status != SOMA_OK ? scan.status : check(&scan);
}

bool headers_is_type(struct soma_text value, const char *type)
{
    size_t len = strlen(type);
    if (value.len < len || strncasecmp(value.ptr, type, len) != 0)
        return false;
    struct soma_text rest = {value.ptr + len, value.len - len};
    while (rest.len > 0 && strchr(" \t;", rest.ptr[0]) != NULL) {
        rest.ptr++;
        rest.len--;
    }
    if (rest.len == 0)
        return true;
    /* Only a parameter may follow, behind a semicolon. */
    if (memchr(value.ptr + len, ';', value.len - len - rest.len) == NULL)
        return false;
    if (rest.len < 8 || strncasecmp(rest.ptr, "charset=", 8) != 0)
        return true;
    struct soma_text charset = {rest.ptr + 8, rest.len - 8};
    return (charset.len == 5 && strncasecmp(charset.ptr, "utf-8", 5) == 0) ||
           (charset.len == 7 && strncasecmp(charset.ptr, "\"utf-8\"", 7) == 0);
}

struct soma_text headers_bearer(struct soma_text authorization)
{
    struct soma_text none = {NULL, 0};
    if (authorization.len < 8 || strncasecmp(authorization.ptr, "Bearer ", 7) != 0)
        return none;
    struct soma_text token = {authorization.ptr + 7, authorization.len - 7};
    while (token.len > 0 && token.ptr[0] == ' ') {
        token.ptr++;
        token.len--;
    }
    return token;
}
