/* Contents over HTTP: raw bytes in and out, and resident memory that follows what is reserved. */
#include "fixture.h"
#include "random.h"
#include "somad_process.h"

#include <stdlib.h>
#include <string.h>

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

static const struct soma_test tests[] = {
    {"round trip", test_round_trip},
    {"kernel", test_kernel},
    {"resident memory", test_resident_memory},
    {NULL, NULL},
};
const struct soma_suite suite_http_memory = {"http_memory", tests};
