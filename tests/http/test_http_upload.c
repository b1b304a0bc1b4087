/* Large bodies: received straight to their memory, put to their place by exchanging pages, and
 * never in part. */
#include "batch.h"
#include "fixture.h"
#include "random.h"
#include "raw.h"
#include "sockets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB ((size_t)1048576)
#define BASE UINT64_C(0x12c0c0000000)
#define BLOCK (40 * MIB)

/* ---- pages that were moved, three times for each exchange ---- */

static _Atomic unsigned moves;

void *mremap(void *from, size_t bytes, size_t new_bytes, int flags, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, flags);
    void *to = (flags & MREMAP_FIXED) != 0 ? __builtin_va_arg(list, void *) : NULL;
    __builtin_va_end(list);
    (void)atomic_fetch_add(&moves, 1);
    long outcome = syscall(SYS_mremap, from, bytes, new_bytes, (long)flags, to);
    void *moved;
    memcpy(&moved, &outcome, sizeof(moved));
    return outcome < 0 ? MAP_FAILED : moved;
}

/* ---- a block, and what it should hold ---- */

struct block {
    struct fixture f;
    struct random_source random;
    unsigned char *model;
};

static void one_thread(struct soma_config *config)
{
    config->threads = 1;
}

static void set_up(struct block *block)
{
    block->random = (struct random_source){7};
    block->model = calloc(1, BLOCK);
    CU_ASSERT_FATAL(block->model != NULL);
    fixture_start(&block->f, one_thread);
    fixture_do(block->f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":\"40MiB\"}", 200);
}

static void tear_down(struct block *block)
{
    struct http_answer answer = fixture_send(
        block->f.client, "GET", "/v1/devices/0/memory/0x12c0c0000000?size=41943040", NULL);
    EXPECT(answer.body_len == BLOCK && memcmp(answer.body, block->model, BLOCK) == 0,
           "other contents");
    http_answer_release(&answer);
    fixture_stop(&block->f);
    free(block->model);
}

/* Other bytes for a part of the block. */
static void change(struct block *block, size_t at, size_t len)
{
    unsigned char seed = (unsigned char)random_next(&block->random);
    for (size_t i = 0; i < len; i++)
        block->model[at + i] = (unsigned char)(seed + (i * 2654435761u >> 21));
}

static bool send_body(struct block *block, const struct http_request *request, long status)
{
    struct http_answer answer;
    if (!EXPECT(http_send(block->f.client, request, &answer), "%s",
                http_client_why(block->f.client)))
        return false;
    bool good = EXPECT(answer.status == status, "%ld %s", answer.status, answer.body);
    http_answer_release(&answer);
    return good;
}

static void put(struct block *block, size_t at, size_t len)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/v1/devices/0/memory/0x%llx",
                   (unsigned long long)(BASE + at));
    change(block, at, len);
    (void)send_body(block,
                    &(struct http_request){.method = "PUT",
                                           .path = path,
                                           .content_type = "application/octet-stream",
                                           .body = block->model + at,
                                           .body_len = len},
                    204);
}

/* The same as the last command of a compact batch. */
static void write_in_batch(struct block *block, size_t at, size_t len)
{
    struct soma_batch_writer batch;
    struct soma_writer body;
    struct soma_command command;
    change(block, at, len);
    soma_batch_writer_init(&batch, 1 << 26);
    soma_writer_init(&body, 1 << 26);
    soma_command_init(&command, SOMA_OP_MEMORY_WRITE);
    soma_command_set(&command, SOMA_FIELD_ptr, BASE + at);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    command.data = (struct soma_text){(const char *)block->model + at, len};
    command.present |= SOMA_HAS(data);
    CU_ASSERT(soma_batch_add(&batch, &command) &&
              soma_batch_finish(&batch, SOMA_BATCH_QUIET, 0, &body));
    (void)send_body(block,
                    &(struct http_request){.method = "POST",
                                           .path = "/v1/commands",
                                           .content_type = SOMA_BATCH_TYPE,
                                           .body = body.ptr,
                                           .body_len = body.len},
                    200);
    soma_writer_release(&body);
    soma_batch_writer_release(&batch);
}

static void test_exchanged(void)
{
    static const struct {
        size_t at, len;
        bool is_batch, is_exchanged;
    } rows[] = {
        {0, 2 * MIB, false, true},
        {0, 2 * MIB, false, true},
        {2 * MIB, 3 * MIB + 5, false, true},
        {4096, MIB, false, true},
        {4096 + 512, 2 * MIB, false, false},
        {0, MIB - 4096, false, false},
        {3 * MIB, 36 * MIB + 8, false, true},
        {8 * MIB, 2 * MIB, true, true},
        {8 * MIB, 2 * MIB, true, true},
        {BLOCK - 4 * MIB, 4 * MIB, true, true},
        {9 * MIB, 2 * MIB + 8, true, false},
        {9 * MIB + 512, 2 * MIB, true, false},
    };
    struct block block;
    set_up(&block);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned before = atomic_load(&moves);
        if (rows[i].is_batch)
            write_in_batch(&block, rows[i].at, rows[i].len);
        else
            put(&block, rows[i].at, rows[i].len);
        bool is_exchanged = atomic_load(&moves) != before;
        EXPECT(is_exchanged == rows[i].is_exchanged, "row %zu: %d", i, is_exchanged);
    }
    tear_down(&block);
}

/* Begin a PUT of len bytes at a place of the block. */
static int begin_put(struct block *block, size_t at, size_t len)
{
    char text[256];
    int fd = raw_connect(soma_server_port(block->f.server, 0));
    (void)snprintf(text, sizeof(text),
                   "PUT /v1/devices/0/memory/0x%llx HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
                   "Content-Type: application/octet-stream\r\n\r\n",
                   (unsigned long long)(BASE + at), len);
    CU_ASSERT_FATAL(fd >= 0 && raw_send_text(fd, text));
    return fd;
}

/* A body that breaks off changes nothing, wherever it does. */
static void test_broken_off(void)
{
    struct block block;
    unsigned char *other = malloc(3 * MIB);
    CU_ASSERT_FATAL(other != NULL);
    memset(other, 0xee, 3 * MIB);
    set_up(&block);
    put(&block, 0, 4 * MIB);
    for (unsigned i = 0; i < 12; i++) {
        int fd = begin_put(&block, 0, 3 * MIB);
        size_t len = i == 0 ? 3 * MIB - 1 : (size_t)random_below(&block.random, 3 * MIB);
        EXPECT(sockets_send_all(fd, other, len), "send");
        (void)close(fd);
        put(&block, 3 * MIB, 2 * MIB); /* memory of bodies goes on to others */
    }
    free(other);
    tear_down(&block);
}

/* Bodies in pieces of any size, two at a time for one thread, and a request right behind. */
static void test_in_pieces(void)
{
    static const char behind[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    static const size_t steps[] = {70000, 400000, 3 * MIB};
    enum { LEN = 3 * MIB / 2 + 77 };
    struct block block;
    set_up(&block);
    for (unsigned round = 0; round < 6; round++) {
        size_t at[2] = {round * MIB, 20 * MIB + round}, sent[2] = {0, 0};
        size_t step = steps[round % 3];
        int fds[2];
        for (unsigned i = 0; i < 2; i++) {
            change(&block, at[i], LEN);
            fds[i] = begin_put(&block, at[i], LEN);
        }
        while (sent[0] < LEN || sent[1] < LEN) {
            unsigned i = sent[1] < sent[0];
            size_t len = 1 + (size_t)random_below(&block.random, step);
            len = len < LEN - sent[i] ? len : LEN - sent[i];
            EXPECT(sockets_send_all(fds[i], block.model + at[i] + sent[i], len), "send");
            sent[i] += len;
            if (sent[i] == LEN)
                EXPECT(raw_send_text(fds[i], behind), "send");
        }
        for (unsigned i = 0; i < 2; i++) {
            char text[RAW_BYTES];
            (void)raw_read(fds[i], text, "HTTP/1.1 200", 10000);
            EXPECT(raw_status(text) == 204, "round %u: %s", round, text);
            EXPECT(strstr(text, "HTTP/1.1 200") != NULL, "round %u: behind: %s", round, text);
            (void)close(fds[i]);
        }
    }
    tear_down(&block);
}

/* The server stops while bodies are on their way. */
static void test_stopped(void)
{
    struct block block;
    int fds[3];
    set_up(&block);
    for (unsigned i = 0; i < 3; i++) {
        fds[i] = begin_put(&block, 0, 2 * MIB);
        EXPECT(sockets_send_all(fds[i], block.model, MIB), "send");
    }
    put(&block, 0, 2 * MIB); /* they have been begun by now */
    fixture_stop(&block.f);
    for (unsigned i = 0; i < 3; i++)
        (void)close(fds[i]);
    free(block.model);
}

static const struct soma_test tests[] = {
    {"exchanged", test_exchanged},
    {"broken off", test_broken_off},
    {"in pieces", test_in_pieces},
    {"the server stops", test_stopped},
    {NULL, NULL},
};
const struct soma_suite suite_http_upload = {"http_upload", tests};
