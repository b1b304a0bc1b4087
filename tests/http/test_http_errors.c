/* Every error that the HTTP side answers: code, reason, form. */
#include "fixture.h"
#include "raw.h"

#include <string.h>
#include <unistd.h>

static void test_refused(void)
{
    static const struct {
        const char *method, *path, *body;
        long status;
        const char *reason;
    } rows[] = {
        {"GET", "/nope", NULL, 404, "NO_SUCH_ROUTE"},
        {"GET", "/v1/devices/0/pools/1/", NULL, 404, "NO_SUCH_ROUTE"},
        {"DELETE", "/livez", NULL, 405, "METHOD_NOT_ALLOWED"},
        {"PATCH", "/v1/devices", NULL, 405, "METHOD_NOT_ALLOWED"},
        {"OPTIONS", "/v1/devices", NULL, 405, "METHOD_NOT_ALLOWED"},
        {"GET", "/v1/devices/%zz", NULL, 400, "BAD_REQUEST"},
        {"GET", "/v1/devices/0?a=%2", NULL, 400, "BAD_REQUEST"},
        {"GET", "/v1/devices/9", NULL, 404, "NO_SUCH_DEVICE"},
        {"GET", "/v1/devices/99", NULL, 404, "NO_SUCH_DEVICE"},
        {"GET", "/v1/devices/x", NULL, 400, "INVALID_VALUE"},
        {"GET", "/v1/devices/0x0", NULL, 400, "INVALID_VALUE"},
        {"GET", "/v1/devices/00", NULL, 400, "INVALID_VALUE"},
        {"GET", "/v1/devices/-1", NULL, 400, NULL},
        {"GET", "/v1/devices/0/streams/77", NULL, 404, "NO_SUCH_STREAM"},
        {"GET", "/v1/devices/0/pools/1", NULL, 404, "NO_SUCH_POOL"},
        {"GET", "/v1/devices/0?x=1", NULL, 400, "UNKNOWN_FIELD"},
        {"GET", "/livez?x", NULL, 400, "UNKNOWN_FIELD"},
        {"GET", "/v1/devices/0/memory/0x10?size=1&size=2", NULL, 400, "DUPLICATE_FIELD"},
        {"GET", "/v1/devices/0/memory/0x10", NULL, 400, "MISSING_FIELD"},
        {"GET", "/v1/devices/0/memory/0x10?size=", NULL, 400, NULL},
        {"GET", "/v1/devices/0/memory/0x10?size=1", NULL, 400, "INVALID_ADDRESS"},
        {"GET", "/v1/devices/0/memory/0x10?size=9999999999999", NULL, 400, "VALUE_OUT_OF_RANGE"},
        {"GET", "/v1/devices/0/pools/1/attributes/nope", NULL, 400, "UNKNOWN_ATTRIBUTE"},
        {"GET", "/v1/devices", "{\"a\":1}", 400, "UNKNOWN_FIELD"},
        {"POST", "/v1/devices/0/pools", "{", 400, "MALFORMED_JSON"},
        {"POST", "/v1/devices/0/pools", "{} x", 400, "MALFORMED_JSON"},
        {"POST", "/v1/devices/0/pools", "[]", 400, NULL},
        {"POST", "/v1/devices/0/pools", "\"\\ud800\"", 400, "MALFORMED_JSON"},
        {"POST", "/v1/devices/0/pools", "{\"maxSize\":1,\"maxSize\":2}", 400, "DUPLICATE_FIELD"},
        {"POST", "/v1/devices/0/pools", "{\"maxsize\":1}", 400, "UNKNOWN_FIELD"},
        {"POST", "/v1/devices/0/pools", "{\"maxSize\":1.5}", 400, NULL},
        {"POST", "/v1/devices/0/pools", "{\"maxSize\":9007199254740993}", 400, NULL},
        {"POST", "/v1/devices/0/pools", "{\"maxSize\":true}", 400, "WRONG_TYPE"},
        {"POST", "/v1/devices/0/pools", "{\"device\":0}", 400, "UNKNOWN_FIELD"},
        {"POST", "/v1/devices/0/pools/1:malloc", "{}", 400, "MISSING_FIELD"},
        {"POST", "/v1/devices/0/streams/0:launchKernel", "{\"kernel\":\"nope\",\"args\":[]}", 404,
         "NO_SUCH_KERNEL"},
        {"POST", "/v1/sessions/nope:keepAlive", NULL, 404, "NO_SUCH_SESSION"},
        {"DELETE", "/v1/sessions/nope", NULL, 404, "NO_SUCH_SESSION"},
        {"DELETE", "/v1/sessions/default", "{\"x\":1}", 400, "UNKNOWN_FIELD"},
        {"POST", "/v1/commands", "[]", 400, "WRONG_TYPE"},
        {"POST", "/v1/commands", "{}", 400, "MISSING_FIELD"},
        {"POST", "/v1/commands", "{\"commands\":{}}", 400, "WRONG_TYPE"},
        {"POST", "/v1/commands", "{\"commands\":[],\"onError\":\"maybe\"}", 400, "INVALID_VALUE"},
        {"POST", "/v1/commands", "{\"commands\":[],\"onError\":1}", 400, "WRONG_TYPE"},
        {"POST", "/v1/commands", "{\"commands\":[],\"x\":1}", 400, "UNKNOWN_FIELD"},
        {"POST", "/v1/commands?x=1", "{\"commands\":[]}", 400, "UNKNOWN_FIELD"},
    };
    struct fixture f;
    fixture_start(&f, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fixture_refused(f.client, rows[i].method, rows[i].path, rows[i].body, rows[i].status,
                        rows[i].reason);
    fixture_stop(&f);
}

static void test_session_options(void)
{
    static const struct {
        const char *body, *reason;
    } rows[] = {
        {"[]", "WRONG_TYPE"},
        {"{\"label\":1}", "WRONG_TYPE"},
        {"{\"ttlSeconds\":0}", "VALUE_OUT_OF_RANGE"},
        {"{\"ttlSeconds\":-1}", NULL},
        {"{\"ttlSeconds\":604801}", "VALUE_OUT_OF_RANGE"},
        {"{\"ttlSeconds\":\"01\"}", "INVALID_VALUE"},
        {"{\"ttlSeconds\":\" 1\"}", "INVALID_VALUE"},
        {"{\"ttlSeconds\":null}", "WRONG_TYPE"},
        {"{\"devices\":0}", "VALUE_OUT_OF_RANGE"},
        {"{\"devices\":65}", "VALUE_OUT_OF_RANGE"},
        {"{\"devices\":1.5}", NULL},
        {"{\"soc\":\"Ascend\"}", "UNKNOWN_SOC"},
        {"{\"soc\":5}", "WRONG_TYPE"},
        {"{\"clock\":\"WALL\"}", "INVALID_VALUE"},
        {"{\"clock\":true}", "WRONG_TYPE"},
        {"{\"nope\":1}", "UNKNOWN_FIELD"},
        {"{\"devices\":1,\"devices\":1}", "DUPLICATE_FIELD"},
    };
    struct fixture f;
    char body[256] = "{\"label\":\"";
    fixture_start(&f, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fixture_refused(f.client, "POST", "/v1/sessions", rows[i].body, 400, rows[i].reason);
    memset(body + 10, 'x', 128);
    memcpy(body + 138, "\"}", 3);
    fixture_do(f.client, "POST", "/v1/sessions", body, 201);
    memcpy(body + 138, "x\"}", 4);
    fixture_refused(f.client, "POST", "/v1/sessions", body, 400, "VALUE_OUT_OF_RANGE");
    fixture_do(f.client, "POST", "/v1/sessions", "{\"ttlSeconds\":\"5\",\"devices\":\"2\"}", 201);
    fixture_stop(&f);
}

static void test_headers(void)
{
    static const struct {
        const char *header;
        long status;
        const char *reason;
    } rows[] = {
        {"Soma-Session: nope", 404, "NO_SUCH_SESSION"},
        {"Soma-Session:", 200, NULL}, /* libcurl sends no header without a value */
        {"Soma-Session: \t ", 400, "BAD_HEADER"},
        {"Soma-Session:  default  ", 200, NULL},
        {"Idempotency-Key: \t", 400, "BAD_HEADER"},
        {"Content-Type: text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"Content-Type: application/json; charset=latin1", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"Content-Type: application/json; charset=UTF-8", 200, NULL},
    };
    struct fixture f;
    fixture_start(&f, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[RAW_BYTES], request[512];
        int fd = raw_connect(soma_server_port(f.server, 0));
        CU_ASSERT_FATAL(fd >= 0);
        (void)snprintf(request, sizeof(request),
                       "POST /v1/devices/0:synchronize HTTP/1.1\r\nHost: x\r\n%s\r\n"
                       "Connection: close\r\nContent-Length: 2\r\n\r\n{}",
                       rows[i].reason == NULL && i == 1 ? "X: y" : rows[i].header);
        EXPECT(raw_send_text(fd, request), "send");
        (void)raw_read(fd, text, NULL, 5000);
        EXPECT(raw_status(text) == rows[i].status, "%s: %s", rows[i].header, text);
        EXPECT(rows[i].reason == NULL ||
                   is_error_body(raw_body(text), rows[i].status, rows[i].reason),
               "%s: %s", rows[i].header, text);
        (void)close(fd);
    }
    fixture_stop(&f);
}

static void test_allow(void)
{
    struct fixture f;
    char text[RAW_BYTES];
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    EXPECT(raw_send_text(fd, "POST /v1/devices/0/memory/0x1 HTTP/1.1\r\nHost: x\r\n"
                             "Content-Length: 0\r\nConnection: close\r\n\r\n"),
           "send");
    EXPECT(raw_read(fd, text, NULL, 5000), "closed");
    EXPECT(raw_status(text) == 405 && strstr(text, "Allow: GET, HEAD, PUT\r\n") != NULL, "%s",
           text);
    (void)close(fd);
    fixture_stop(&f);
}

/* The answer to GET without its body; the connection goes on. */
static void test_head(void)
{
    static const struct {
        const char *path;
        long status;
    } rows[] = {
        {"/livez", 200},
        {"/metrics", 200},
        {"/v1/devices/0", 200},
        {"/v1/devices/99", 404},
        {"/v1/devices/0:reset", 405},
        {"/nope", 404},
    };
    struct fixture f;
    char text[RAW_BYTES], request[256];
    fixture_start(&f, NULL);
    int fd = raw_connect(soma_server_port(f.server, 0));
    CU_ASSERT_FATAL(fd >= 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(request, sizeof(request), "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n",
                       rows[i].path);
        EXPECT(raw_send_text(fd, request) && !raw_read(fd, text, "\r\n\r\n", 5000), "%s",
               rows[i].path);
        EXPECT(raw_status(text) == rows[i].status && raw_body(text)[0] == '\0' &&
                   strstr(text, "Content-Length: ") != NULL,
               "%s: %s", rows[i].path, text);
    }
    EXPECT(raw_send_text(fd, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
           "send");
    EXPECT(raw_read(fd, text, NULL, 5000) && raw_status(text) == 200 &&
               same_words(raw_body(text), "{\"status\":\"ok\"}"),
           "%s", text);
    (void)close(fd);
    fixture_stop(&f);
}

/* What a message tells is the word, not a number alone. */
static void test_words_in_messages(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    struct http_answer answer =
        fixture_send(f.client, "POST", "/v1/devices/0/pools", "{\"location\":{\"type\":\"HOST\"}}");
    EXPECT(answer.status == 400 && strstr(answer.body, "location.type HOST") != NULL, "%s",
           answer.body);
    http_answer_release(&answer);
    fixture_stop(&f);
}

static void small_body(struct soma_config *config)
{
    config->max_body_bytes = 4096;
}

static void test_large_bodies(void)
{
    struct fixture f;
    static char body[5000];
    fixture_start(&f, small_body);
    memset(body, ' ', sizeof(body) - 1);
    struct http_request request = {.method = "PUT",
                                   .path = "/v1/devices/0/memory/0x10",
                                   .content_type = "application/octet-stream",
                                   .body = body,
                                   .body_len = 4097};
    struct http_answer answer;
    CU_ASSERT_FATAL(http_send(f.client, &request, &answer));
    EXPECT(answer.status == 413 && is_error_body(answer.body, 413, "CONTENT_TOO_LARGE"), "%s",
           answer.body);
    http_answer_release(&answer);
    request.body_len = 4096;
    CU_ASSERT_FATAL(http_send(f.client, &request, &answer));
    EXPECT(answer.status == 400 && is_error_body(answer.body, 400, "INVALID_ADDRESS"), "%s",
           answer.body);
    http_answer_release(&answer);
    request.content_type = "application/json";
    CU_ASSERT_FATAL(http_send(f.client, &request, &answer));
    EXPECT(answer.status == 415 && is_error_body(answer.body, 415, "UNSUPPORTED_MEDIA_TYPE"), "%s",
           answer.body);
    http_answer_release(&answer);
    fixture_refused(f.client, "POST", "/v1/devices/0/pools", body, 413, "CONTENT_TOO_LARGE");
    fixture_stop(&f);
}

static const char token_path[] = "/tmp/soma-http-token";

static void with_token(struct soma_config *config)
{
    FILE *file = fopen(token_path, "w");
    CU_ASSERT_FATAL(file != NULL);
    (void)fputs("secret\n", file);
    (void)fclose(file);
    config->token_file = strdup(token_path);
}

static void test_token(void)
{
    static const char *const good[] = {"Authorization: Bearer secret", NULL};
    static const char *const bad[] = {"Authorization: Bearer secreT", NULL};
    struct fixture f;
    fixture_start(&f, with_token);
    fixture_do(f.client, "GET", "/livez", NULL, 200);
    fixture_do(f.client, "GET", "/readyz", NULL, 200);
    fixture_refused(f.client, "GET", "/metrics", NULL, 401, "UNAUTHENTICATED");
    fixture_refused(f.client, "GET", "/v1/version", NULL, 401, "UNAUTHENTICATED");
    fixture_refused(f.client, "GET", "/no/such/route", NULL, 401, "UNAUTHENTICATED");
    fixture_refused(f.client, "POST", "/v1/sessions", "{}", 401, "UNAUTHENTICATED");
    struct http_answer answer = fixture_send_with(f.client, "GET", "/v1/version", NULL, bad);
    EXPECT(answer.status == 401, "a wrong token: %ld", answer.status);
    http_answer_release(&answer);
    answer = fixture_send_with(f.client, "GET", "/v1/version", NULL, good);
    EXPECT(answer.status == 200, "the token: %ld", answer.status);
    http_answer_release(&answer);
    (void)unlink(token_path);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"refused", test_refused},
    {"session options", test_session_options},
    {"headers", test_headers},
    {"Allow", test_allow},
    {"HEAD", test_head},
    {"words in messages", test_words_in_messages},
    {"large bodies", test_large_bodies},
    {"token", test_token},
    {NULL, NULL},
};
const struct soma_suite suite_http_errors = {"http_errors", tests};
