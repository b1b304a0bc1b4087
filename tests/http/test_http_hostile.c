/* Bytes that no good client sends: always one JSON error or a plain end, and the server lives. */
#include "fixture.h"
#include "raw.h"
#include "sockets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: x\r\n"
#define POST_SESSIONS "POST /v1/sessions HTTP/1.1\r\n" HOST

static void fast_timeout(struct soma_config *config)
{
    config->idle_timeout_seconds = 1;
}

/* Send, read to the end and expect one answer of this status (0: none) with an error in it. */
static void exchange(struct fixture *f, const char *name, const char *request, size_t len,
                     long status, const char *reason)
{
    static char text[RAW_BYTES];
    int fd = raw_connect(soma_server_port(f->server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    (void)sockets_send_all(fd, request, len);
    (void)raw_read(fd, text, "}]}}", 5000);
    EXPECT(raw_status(text) == status, "%s: %.300s", name, text);
    if (status >= 400) {
        EXPECT(is_error_body(raw_body(text), status, reason), "%s: %s", name, raw_body(text));
        EXPECT(strstr(text, "Content-Type: application/json\r\n") != NULL, "%s: %s", name, text);
        EXPECT(strstr(raw_body(text), "\r\n\r\n") == NULL, "%s: two headers: %s", name, text);
    }
    (void)close(fd);
}

static void test_malformed(void)
{
    static const struct {
        const char *name, *request;
        long status;
        const char *reason;
    } rows[] = {
        {"words", "hello\r\n\r\n", 400, "BAD_REQUEST"},
        {"TLS", "\x16\x03\x01\x02\r\n\r\n", 400, "BAD_REQUEST"},
        {"no version", "GET /livez\r\n\r\n", 400, "BAD_REQUEST"},
        {"other protocol", "GET /livez FTP/1.1\r\n" HOST "\r\n", 400, "BAD_REQUEST"},
        {"spaces", "GET /a b HTTP/1.1\r\n" HOST "\r\n", 400, "BAD_REQUEST"},
        {"future version", "GET /livez HTTP/9.9\r\n" HOST "\r\n", 505,
         "HTTP_VERSION_NOT_SUPPORTED"},
        {"no Host", "GET /livez HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST"},
        {"two Hosts", "GET /livez HTTP/1.1\r\n" HOST "host: y\r\n\r\n", 400, "BAD_HEADER"},
        {"no colon", "GET /livez HTTP/1.1\r\nHost x\r\n\r\n", 400, "BAD_REQUEST"},
        {"space before colon", "GET /livez HTTP/1.1\r\n" HOST "A : b\r\n\r\n", 400, "BAD_REQUEST"},
        {"length of letters", POST_SESSIONS "Content-Length: abc\r\n\r\n", 400, "BAD_REQUEST"},
        {"negative length", POST_SESSIONS "Content-Length: -1\r\n\r\n", 400, "BAD_REQUEST"},
        {"huge length", POST_SESSIONS "Content-Length: 99999999999999999999999\r\n\r\n", 413,
         "CONTENT_TOO_LARGE"},
        {"length over the limit", POST_SESSIONS "Content-Length: 99999999\r\n\r\n{}", 413,
         "CONTENT_TOO_LARGE"},
        {"two lengths", POST_SESSIONS "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400,
         "BAD_REQUEST"},
        {"length and chunks",
         POST_SESSIONS
         "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         400, "BAD_REQUEST"},
        {"gzip", POST_SESSIONS "Transfer-Encoding: gzip\r\n\r\n{}", 501, "NOT_SUPPORTED"},
        {"bad chunk", POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400,
         "BAD_REQUEST"},
        {"huge chunk",
         POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n{}\r\n", 413,
         "CONTENT_TOO_LARGE"},
        {"chunk without end", POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
         400, "BAD_REQUEST"},
        {"413 before the body",
         POST_SESSIONS "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", 413,
         "CONTENT_TOO_LARGE"},
        {"415 before the body",
         POST_SESSIONS "Expect: 100-continue\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\n",
         415, "UNSUPPORTED_MEDIA_TYPE"},
        {"two sessions",
         "GET /v1/devices HTTP/1.1\r\n" HOST
         "Soma-Session: default\r\nsoma-session: default\r\n\r\n",
         400, "BAD_HEADER"},
        {"path of no UTF-8", "GET /\xff\xfe HTTP/1.1\r\n" HOST "\r\n", 404, "NO_SUCH_ROUTE"},
    };
    struct fixture f;
    fixture_start(&f, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        exchange(&f, rows[i].name, rows[i].request, strlen(rows[i].request), rows[i].status,
                 rows[i].reason);
    fixture_do(f.client, "GET", "/livez", NULL, 200);
    fixture_stop(&f);
}

static void small_body(struct soma_config *config)
{
    config->max_body_bytes = 4096;
}

/* A chunked body is refused when it passes the limit, not when it ends; it goes on for a while. */
static void test_too_many_chunks(void)
{
    struct fixture f;
    char text[RAW_BYTES], chunk[5000];
    fixture_start(&f, small_body);
    int fd = raw_connect(soma_server_port(f.server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    memset(chunk, ' ', sizeof(chunk));
    EXPECT(raw_send_text(fd, POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n1388\r\n") &&
               sockets_send_all(fd, chunk, sizeof(chunk)),
           "send");
    EXPECT(!raw_read(fd, text, "}]}}", 5000) && raw_status(text) == 413 &&
               strstr(raw_body(text), "CONTENT_TOO_LARGE") != NULL,
           "%s", text);
    EXPECT(raw_send_text(fd, "\r\n0\r\n\r\n") && raw_read(fd, text, NULL, 5000) && text[0] == '\0',
           "it ends with one answer: %s", text);
    (void)close(fd);
    fixture_stop(&f);
}

/* A request with a header field of this many bytes. */
static void send_header(struct fixture *f, const char *name, size_t bytes, long status)
{
    char *request = malloc(bytes + 128);
    CU_ASSERT_FATAL(request != NULL);
    int len = snprintf(request, 128, "GET /v1/nope HTTP/1.1\r\n" HOST "X: ");
    memset(request + len, 'a', bytes);
    memcpy(request + len + bytes, "\r\n\r\n", 5);
    exchange(f, name, request, (size_t)len + bytes + 4, status, NULL);
    free(request);
}

static void test_large_headers(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    send_header(&f, "30 KiB", 30 << 10, 404);
    send_header(&f, "33 KiB", 33 << 10, 431);
    send_header(&f, "1 MiB", 1 << 20, 431);
    char *request = calloc(1, 300000);
    CU_ASSERT_FATAL(request != NULL);
    size_t len = (size_t)snprintf(request, 64, "GET /v1/nope HTTP/1.1\r\n" HOST);
    while (len < 40000)
        len += (size_t)snprintf(request + len, 8, "a:b\r\n");
    len += (size_t)snprintf(request + len, 8, "\r\n");
    exchange(&f, "8000 fields", request, len, 431, "HEADERS_TOO_LARGE");
    memset(request, 'a', 299999);
    memcpy(request, "GET /", 5);
    exchange(&f, "a path of 300 kB", request, 299999, 431, "HEADERS_TOO_LARGE");
    free(request);
    fixture_stop(&f);
}

static void test_pipelined(void)
{
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    EXPECT(raw_send_text(fd, POST_SESSIONS
                         "Content-Type: a/b\r\nContent-Length: 2\r\n\r\n{}"
                         "GET /v1/nope HTTP/1.1\r\n" HOST "\r\n"
                         "POST /v1/devices/0/streams HTTP/1.1\r\n" HOST
                         "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
                         "GET /v1/devices/0/streams/1 HTTP/1.1\r\n" HOST
                         "Connection: close\r\n\r\n"),
           "send");
    EXPECT(raw_read(fd, text, NULL, 5000), "the last one closes");
    const char *second = strstr(text + 1, "HTTP/1.1"), *third = strstr(second + 1, "HTTP/1.1");
    EXPECT(raw_status(text) == 415 && raw_status(second) == 404 && raw_status(third) == 201, "%s",
           text);
    EXPECT(strstr(third, "\"pendingTasks\"") != NULL, "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

static void test_half_closed(void)
{
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(fd, "GET /livez HTTP/1.1\r\n" HOST "\r\n"), "send");
    (void)shutdown(fd, SHUT_WR);
    EXPECT(raw_read(fd, text, NULL, 5000) && raw_status(text) == 200, "%s", text);
    (void)close(fd);
    fd = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(fd, POST_SESSIONS "Content-Length: 20\r\n\r\n{"), "send");
    (void)shutdown(fd, SHUT_WR);
    EXPECT(raw_read(fd, text, NULL, 5000) && raw_status(text) == 400 &&
               is_error_body(raw_body(text), 400, "BAD_REQUEST"),
           "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

static void test_expect_continue(void)
{
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(fd, POST_SESSIONS "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
           "send");
    EXPECT(!raw_read(fd, text, "\r\n\r\n", 5000) && raw_status(text) == 100, "%s", text);
    EXPECT(raw_send_text(fd, "{}"), "send");
    (void)raw_read(fd, text, "}", 5000);
    EXPECT(raw_status(text) == 201, "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

/* What follows on the connection is no part of it. */
static void test_expect_without_body(void)
{
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(fd, "PATCH /livez HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n\r\n"
                             "GET /livez HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"),
           "send");
    EXPECT(raw_read(fd, text, NULL, 5000), "not closed");
    const char *refused = strstr(text, "HTTP/1.1 405"), *good = strstr(text, "HTTP/1.1 200");
    EXPECT(refused != NULL && good != NULL && refused < good, "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

static void test_stalled(void)
{
    static const struct {
        const char *name, *request;
        long status;
    } rows[] = {
        {"silent", "", 0},
        {"in the request line", "GET /li", 0},
        {"in the header", "GET /livez HTTP/1.1\r\nHo", 408},
        {"in the body", POST_SESSIONS "Content-Length: 20\r\n\r\n{", 408},
        {"in a chunk", POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n5\r\n{", 408},
        {"between requests", "GET /livez HTTP/1.1\r\n" HOST "\r\n", 200},
    };
    enum { COUNT = sizeof(rows) / sizeof(rows[0]) };
    static char text[RAW_BYTES];
    struct fixture f;
    int fds[COUNT];
    fixture_start(&f, fast_timeout);
    for (size_t i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(soma_server_port(f.server, 0));
        EXPECT(raw_send_text(fds[i], rows[i].request), "send");
    }
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT(raw_read(fds[i], text, NULL, 8000), "%s: not closed", rows[i].name);
        EXPECT(raw_status(text) == rows[i].status, "%s: %s", rows[i].name, text);
        EXPECT(rows[i].status != 408 || is_error_body(raw_body(text), 408, "REQUEST_TIMEOUT"),
               "%s: %s", rows[i].name, text);
        (void)close(fds[i]);
    }
    fixture_stop(&f);
}

/* Never idle, and never done. */
static void test_slow_body(void)
{
    static char text[RAW_BYTES];
    struct fixture f;
    fixture_start(&f, fast_timeout);
    int fd = raw_connect(soma_server_port(f.server, 0));
    EXPECT(raw_send_text(fd, POST_SESSIONS "Content-Length: 2000\r\n\r\n"), "send");
    unsigned sent = 0;
    while (sent < 60 && raw_send_text(fd, " ")) {
        sent++;
        sleep_ms(100);
    }
    EXPECT(sent < 60, "a byte every 100 ms is waited for without end");
    (void)raw_read(fd, text, NULL, 1000);
    EXPECT(raw_status(text) == 408, "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

/* Connections that end anywhere in a request leave nothing behind. */
static void test_cut_off(void)
{
    static const char request[] =
        "POST /v1/commands HTTP/1.1\r\n" HOST "Idempotency-Key: a\r\nContent-Length: 30\r\n\r\n"
        "{\"commands\":[{\"op\":\"device.list\"}]}";
    struct fixture f;
    fixture_start(&f, NULL);
    for (size_t len = 0; len < sizeof(request); len += 3) {
        int fd = raw_connect(soma_server_port(f.server, 0));
        EXPECT(sockets_send_all(fd, request, len), "send");
        (void)close(fd);
    }
    fixture_do(f.client, "GET", "/livez", NULL, 200);
    double left = fixture_metric(f.client, "soma_requests_in_progress");
    for (unsigned tries = 0; left > 1 && tries < 500; tries++) {
        sleep_ms(10);
        left = fixture_metric(f.client, "soma_requests_in_progress");
    }
    EXPECT(left == 1, "%g requests are left", left);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"malformed", test_malformed},
    {"too many chunks", test_too_many_chunks},
    {"large headers", test_large_headers},
    {"pipelined", test_pipelined},
    {"half closed", test_half_closed},
    {"Expect: 100-continue", test_expect_continue},
    {"Expect without a body", test_expect_without_body},
    {"stalled", test_stalled},
    {"slow body", test_slow_body},
    {"cut off", test_cut_off},
    {NULL, NULL},
};
const struct soma_suite suite_http_hostile = {"http_hostile", tests};
