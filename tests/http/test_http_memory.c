/* Contents over HTTP: raw bytes in and out, and resident memory that follows what is reserved. */
#include "bytes.h"
#include "fixture.h"
#include "internal.h"
#include "mhd_errors.h"
#include "random.h"
#include "raw.h"
#include "sockets.h"
#include "somad_process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MIB ((size_t)1048576)
#define POOL_BASE "0x12c0c0000000"

static void put(struct http_client *client, const char *path, const void *body, size_t len,
                long status)
{
    struct http_request request = {.method = "PUT",
                                   .path = path,
                                   .content_type = "application/octet-stream",
                                   .body = body,
                                   .body_len = len};
    struct http_answer answer;
    if (!EXPECT(http_send(client, &request, &answer), "%s: %s", path, http_client_why(client)))
        return;
    EXPECT(answer.status == status, "PUT %s: %ld %s", path, answer.status, answer.body);
    http_answer_release(&answer);
}

static void test_round_trip(void)
{
    struct fixture f;
    struct random_source random = {5};
    size_t size = 5 * MIB + 12345;
    unsigned char *bytes = malloc(size);
    char path[128];
    CU_ASSERT_FATAL(bytes != NULL);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)random_next(&random);
    fixture_start(&f, NULL);
    fixture_do(f.client, "POST", "/v1/devices/0/pools", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/pools/1:malloc", "{\"size\":\"8MiB\"}", 200);
    put(f.client, "/v1/devices/0/memory/" POOL_BASE, bytes, size, 204);
    (void)snprintf(path, sizeof(path), "/v1/devices/0/memory/" POOL_BASE "?size=%zu&stream=0",
                   size);
    struct http_answer answer = fixture_send(f.client, "GET", path, NULL);
    EXPECT(answer.status == 200 && answer.body_len == size && memcmp(answer.body, bytes, size) == 0,
           "%ld, %zu bytes", answer.status, answer.body_len);
    http_answer_release(&answer);
    put(f.client, "/v1/devices/0/memory/" POOL_BASE, bytes, 0, 400);
    put(f.client, "/v1/devices/0/memory/0x12c0c07fffff", bytes, 2, 400);
    put(f.client, "/v1/devices/0/memory/0x12c0c07fffff", bytes, 1, 204);
    free(bytes);
    fixture_stop(&f);
}

static void test_kernel(void)
{
    struct fixture f;
    static const unsigned char ones[8] = {0x00, 0x3c, 0x00, 0x3c, 0x00, 0x3c, 0x00, 0x3c};
    fixture_start(&f, NULL);
    for (unsigned i = 0; i < 3; i++)
        fixture_do(f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":8}", 200);
    put(f.client, "/v1/devices/0/memory/0x500000000000", ones, 8, 204);
    put(f.client, "/v1/devices/0/memory/0x500000001000", ones, 8, 204);
    fixture_do(f.client, "POST", "/v1/devices/0/streams/0:launchKernel",
               "{\"kernel\":\"add_custom\",\"blockDim\":8,\"args\":[{\"ptr\":\"0x500000000000\"},"
               "{\"ptr\":\"0x500000001000\"},{\"ptr\":\"0x500000002000\"}]}",
               200);
    struct http_answer answer =
        fixture_send(f.client, "GET", "/v1/devices/0/memory/0x500000002000?size=8", NULL);
    EXPECT(answer.body_len == 8 && memcmp(answer.body, "\0\x40\0\x40\0\x40\0\x40", 8) == 0,
           "1 + 1");
    http_answer_release(&answer);
    fixture_refused(f.client, "POST", "/v1/devices/0/streams/0:launchKernel",
                    "{\"kernel\":\"fill\",\"args\":[{\"ptr\":\"0x500000000000\"},{\"u64\":9},"
                    "{\"u32\":1}]}",
                    400, "KERNEL_FAULT");
    fixture_refused(f.client, "POST", "/v1/devices/0/streams/0:launchKernel",
                    "{\"kernel\":\"fill\",\"args\":[{\"base64\":\"AAAA\"}]}", 400,
                    "KERNEL_ARGUMENTS");
    fixture_stop(&f);
}

/* Write 256 MiB into a pool in parts, free and synchronise. */
static void write_and_free(struct http_client *client, const void *part, size_t part_bytes)
{
    char path[128];
    fixture_do(client, "POST", "/v1/devices/0/pools", NULL, 201);
    fixture_do(client, "POST", "/v1/devices/0/pools/1:malloc", "{\"size\":\"256MiB\"}", 200);
    for (size_t at = 0; at < 256 * MIB; at += part_bytes) {
        (void)snprintf(path, sizeof(path), "/v1/devices/0/memory/0x%llx", 0x12c0c0000000ULL + at);
        put(client, path, part, part_bytes, 204);
    }
    EXPECT(fixture_metric(client, "process_resident_memory_bytes") > 256e6, "not resident");
    fixture_do(client, "POST", "/v1/devices/0/pools/1:free", "{\"ptr\":\"" POOL_BASE "\"}", 200);
    fixture_do(client, "POST", "/v1/devices/0:synchronize", NULL, 200);
}

static void test_resident_memory(void)
{
    struct somad_process somad;
    size_t part_bytes = 16 * MIB;
    char *part = malloc(part_bytes);
    CU_ASSERT_FATAL(part != NULL);
    memset(part, 1, part_bytes);
    CU_ASSERT_FATAL(somad_start(&somad, SOMA_BINARY_DIR "/server/somad", NULL,
                                (const char *const[]){"--log-level", "error", NULL}));
    struct http_client *client = http_client_create(somad.url);
    fixture_do(client, "GET", "/livez", NULL, 200);
    double before = fixture_metric(client, "process_resident_memory_bytes");
    write_and_free(client, part, part_bytes);
    double after = fixture_metric(client, "process_resident_memory_bytes");
    printf(" [resident before %.1f MiB, after %.1f MiB] ", before / 1048576, after / 1048576);
    EXPECT(IS_SANITIZED || after - before < 32 * 1048576.0, "%.1f MiB stay resident",
           (after - before) / 1048576);
    http_client_destroy(client);
    EXPECT(somad_stop(&somad) == 0, "exit code");
    free(part);
}

/* ---- large reads are sent from where they lie ---- */

#define LARGE (24 * MIB) /* more than the sockets of both sides hold */

/* Bytes that tell their place. */
static void fill_words(unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 21);
}

/* Ask for the contents over a connection of its own and read no more than the head. */
static int begin_read(struct fixture *f, const char *session)
{
    char text[512];
    size_t len = 0;
    const struct timeval limit = {.tv_sec = 20};
    int fd = raw_connect(soma_server_port(f->server, 0));
    (void)snprintf(text, sizeof(text),
                   "GET /v1/devices/0/memory/0x12c0c0000000?size=%zu HTTP/1.1\r\nHost: x\r\n"
                   "Soma-Session: %s\r\n\r\n",
                   LARGE, session);
    CU_ASSERT_FATAL(fd >= 0 && raw_send_text(fd, text));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    do {
        CU_ASSERT_FATAL(len + 1 < sizeof(text) &&
                        sockets_receive_all(fd, (unsigned char *)text + len, 1));
        text[++len] = '\0';
    } while (strstr(text, "\r\n\r\n") == NULL);
    EXPECT(raw_status(text) == 200, "%s", text);
    return fd;
}

/* Whatever becomes of the memory while a slow client reads it: it gets what was there. */
static void test_sent_as_it_was(void)
{
    static const struct {
        const char *method, *path, *body;
        long status;
    } rows[] = {
        {"POST", "/v1/devices/0/memory:set",
         "{\"ptr\":\"0x12c0c0000000\",\"value\":1,\"size\":\"24MiB\"}", 204},
        {"POST", "/v1/devices/0/memory:set", "{\"ptr\":\"0x12c0c17ffff0\",\"value\":1,\"size\":16}",
         204},
        {"POST", "/v1/devices/0/memory:copy",
         "{\"dst\":\"0x12c0c0000001\",\"src\":\"0x12c0c0000000\",\"size\":25165823}", 204},
        {"POST", "/v1/devices/0/memory:free", "{\"ptr\":\"0x12c0c0000000\"}", 204},
        {"POST", "/v1/devices/0:reset", NULL, 204},
        {"DELETE", "/v1/sessions/", NULL, 200},
    };
    unsigned char *bytes = malloc(LARGE), *back = malloc(LARGE);
    struct fixture f;
    CU_ASSERT_FATAL(bytes != NULL && back != NULL);
    fill_words(bytes, LARGE);
    fixture_start(&f, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char id[64], path[128];
        fixture_open_session(f.client, NULL, id);
        fixture_do(f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":\"24MiB\"}", 200);
        put(f.client, "/v1/devices/0/memory/0x12c0c0000000", bytes, LARGE, 204);
        int first = begin_read(&f, id), second = begin_read(&f, id);
        (void)snprintf(path, sizeof(path), "%s%s", rows[i].path, i == 5 ? id : "");
        fixture_do(f.client, rows[i].method, path, rows[i].body, rows[i].status);
        EXPECT(sockets_receive_all(first, back, LARGE) && memcmp(back, bytes, LARGE) == 0, "%s",
               path);
        (void)close(second); /* goes away in the middle */
        (void)close(first);
        http_client_set_session(f.client, NULL);
    }
    free(bytes);
    free(back);
    fixture_stop(&f);
}

/* What is sent when libmicrohttpd gives up on the connection: the whole, or its beginning. */
static void test_sent_past(void)
{
    static const size_t sizes[] = {1, 16384, 100001, 4 * MIB + 3};
    static struct soma_server server;
    static struct connection conn;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int fds[2];
        char want[64];
        size_t size = sizes[i], padded = (size + 7) / 8 * 8;
        unsigned char *bytes = calloc(1, padded), *got = malloc(padded + 512);
        struct bytes *memory = bytes_create(NULL);
        struct engine_bytes table = bytes_table(memory);
        struct snapshot *snapshot = snapshot_create(size);
        struct soma_error error;
        CU_ASSERT_FATAL(bytes != NULL && got != NULL && snapshot != NULL);
        CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        fill_words(bytes, size);
        CU_ASSERT(table.reserve(memory, 4096, size, &error) == SOMA_OK &&
                  table.write(memory, 4096, bytes, size, &error) == SOMA_OK);
        bytes_attach(memory, snapshot, 4096);
        conn.server = &server;
        conn.fd = fds[0];
        struct answer answer = {.http = 200,
                                .content_type = "application/octet-stream",
                                .body = "head",
                                .len = 4,
                                .snapshot = snapshot,
                                .snapshot_len = padded};
        mhd_send_answer(&conn, &answer);
        (void)close(fds[0]);
        size_t len = 0;
        for (ssize_t n; (n = read(fds[1], got + len, padded + 511 - len)) > 0;)
            len += (size_t)n;
        got[len] = '\0';
        const char *body = raw_body((const char *)got);
        size_t body_len = len - (size_t)(body - (const char *)got);
        (void)snprintf(want, sizeof(want), "Content-Length: %zu\r\n", padded + 4);
        EXPECT(strstr((const char *)got, want) != NULL, "%s", got);
        EXPECT(body_len > 4 && memcmp(body, "head", 4) == 0 &&
                   memcmp(body + 4, bytes, body_len - 4) == 0 &&
                   (size > MIB || body_len == padded + 4),
               "%zu of %zu bytes", body_len, padded + 4);
        snapshot_release(snapshot);
        bytes_destroy(memory);
        (void)close(fds[1]);
        free(bytes);
        free(got);
    }
}

/* VmHWM of the process in MiB. */
static double peak_mib(const struct somad_process *somad)
{
    char path[64], line[256];
    double kib = -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)somad->pid);
    FILE *file = fopen(path, "r");
    CU_ASSERT_FATAL(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    }
    (void)fclose(file);
    return kib / 1024;
}

/* Contents on their way in and out are there once. */
static void test_peak_memory(void)
{
    size_t mib = IS_SANITIZED ? 16 : 256, size = mib * MIB;
    struct somad_process somad;
    char body[64], path[96];
    unsigned char *bytes = malloc(size);
    CU_ASSERT_FATAL(bytes != NULL);
    fill_words(bytes, size);
    CU_ASSERT_FATAL(somad_start(&somad, SOMA_BINARY_DIR "/server/somad", NULL,
                                (const char *const[]){"--log-level", "error", NULL}));
    struct http_client *client = http_client_create(somad.url);
    (void)snprintf(body, sizeof(body), "{\"size\":%zu}", size);
    (void)snprintf(path, sizeof(path), "/v1/devices/0/memory/0x12c0c0000000?size=%zu", size);
    fixture_do(client, "POST", "/v1/devices/0/memory:malloc", body, 200);
    double before = peak_mib(&somad);
    put(client, "/v1/devices/0/memory/0x12c0c0000000", bytes, size, 204);
    double in = peak_mib(&somad) - before;
    struct http_answer answer = fixture_send(client, "GET", path, NULL);
    EXPECT(answer.body_len == size && memcmp(answer.body, bytes, size) == 0, "other bytes");
    double out = peak_mib(&somad) - before;
    printf(" [%zu MiB: %.0f MiB at most in, %.0f with the way out] ", mib, in, out);
    EXPECT(IS_SANITIZED || (in > 250 && in < 280 && out < 280), "it was there twice");
    http_answer_release(&answer);
    http_client_destroy(client);
    EXPECT(somad_stop(&somad) == 0, "exit code");
    free(bytes);
}

static const struct soma_test tests[] = {
    {"round trip", test_round_trip},
    {"kernel", test_kernel},
    {"resident memory", test_resident_memory},
    {"sent as it was", test_sent_as_it_was},
    {"sent past libmicrohttpd", test_sent_past},
    {"peak memory", test_peak_memory},
    {NULL, NULL},
};
const struct soma_suite suite_http_memory = {"http_memory", tests};
