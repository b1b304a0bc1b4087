/* POST /v1/commands in the compact form: sequences, flags, digests and hostile bodies. That its
 * answers are those of JSON is shown by the conformance cases. */
#include "batch.h"
#include "fixture.h"
#include "raw.h"
#include "sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch under construction, and the answer to it. */
struct exchange {
    struct soma_batch_writer batch;
    struct soma_writer body;
    struct http_answer answer;
    struct soma_batch_answer_reader reader;
};

static void exchange_begin(struct exchange *x)
{
    memset(x, 0, sizeof(*x));
    soma_batch_writer_init(&x->batch, 1 << 24);
    soma_writer_init(&x->body, 1 << 24);
}

static void exchange_end(struct exchange *x)
{
    soma_batch_writer_release(&x->batch);
    soma_writer_release(&x->body);
    http_answer_release(&x->answer);
}

/* Up to three numbers; SOMA_FIELD_COUNT ends them. */
static void add(struct exchange *x, enum soma_op op, enum soma_field a, uint64_t value_a,
                enum soma_field b, uint64_t value_b)
{
    struct soma_command command;
    soma_command_init(&command, op);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    if (a != SOMA_FIELD_COUNT)
        soma_command_set(&command, a, value_a);
    if (b != SOMA_FIELD_COUNT)
        soma_command_set(&command, b, value_b);
    CU_ASSERT_FATAL(soma_batch_add(&x->batch, &command));
}

#define ADD(x, op) add((x), (op), SOMA_FIELD_COUNT, 0, SOMA_FIELD_COUNT, 0)

static void add_malloc(struct exchange *x, uint64_t pool, uint64_t size)
{
    add(x, SOMA_OP_POOL_MALLOC, SOMA_FIELD_pool, pool, SOMA_FIELD_size, size);
}

/* Send x->body and open its answer. */
static bool post(struct fixture *f, struct exchange *x)
{
    struct http_request request = {.method = "POST",
                                   .path = "/v1/commands",
                                   .content_type = SOMA_BATCH_TYPE,
                                   .body = x->body.ptr,
                                   .body_len = x->body.len};
    http_answer_release(&x->answer);
    memset(&x->answer, 0, sizeof(x->answer));
    CU_ASSERT_FATAL(http_send(f->client, &request, &x->answer));
    return EXPECT(x->answer.status == 200 &&
                      soma_batch_open_answer(&x->reader, x->answer.body, x->answer.body_len),
                  "status %ld", x->answer.status);
}

/* Finish what was added, and send it. */
static bool send_batch(struct fixture *f, struct exchange *x, uint32_t flags, uint64_t sequence)
{
    CU_ASSERT_FATAL(soma_batch_finish(&x->batch, flags, sequence, &x->body));
    return post(f, x);
}

static void release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

/* The next record: its status; *value: the id or address that it tells. */
static enum soma_status next(struct exchange *x, enum soma_op op, uint64_t *value)
{
    struct soma_result result;
    struct soma_error error = {.message = ""};
    enum soma_status status = soma_batch_next_answer(&x->reader, &result, &error);
    if (status != SOMA_OK)
        return status;
    if (value != NULL)
        (void)EXPECT(wire_created_value(op, &result, value), "nothing was created");
    soma_result_clear(&result, release, NULL);
    return SOMA_OK;
}

static bool is_answer(const struct exchange *x, uint32_t records, uint32_t completed,
                      uint64_t next_sequence)
{
    const struct soma_batch_answer *answer = &x->reader.answer;
    return EXPECT(answer->records == records && answer->completed == completed &&
                      answer->next_sequence == next_sequence,
                  "%u records, %u completed, next is %d", answer->records, answer->completed,
                  (int)answer->next_sequence);
}

static double mallocs_of(struct fixture *f)
{
    cJSON *tree = fixture_call(f->client, "GET", "/v1/devices/0/pools/1", NULL, 200);
    const cJSON *usage = cJSON_GetObjectItemCaseSensitive(tree, "usage");
    double mallocs = number_of(usage != NULL ? usage : tree, "mallocs");
    cJSON_Delete(tree);
    return mallocs;
}

static void begin(struct fixture *f, struct exchange *x)
{
    char id[64];
    fixture_start(f, NULL);
    fixture_open_session(f->client, NULL, id);
    exchange_begin(x);
}

static void end(struct fixture *f, struct exchange *x)
{
    exchange_end(x);
    fixture_stop(f);
}

/* ---- sequences ---- */

static void test_sent_twice(void)
{
    enum { SEQUENCED = SOMA_BATCH_SEQUENCED | SOMA_BATCH_QUIET };
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    for (int i = 0; i < 3; i++)
        add_malloc(&x, 1, 64);
    if (send_batch(&f, &x, SEQUENCED, 0) && is_answer(&x, 0, 4, 4)) {
        uint64_t digest = x.reader.answer.digest, now_ns = x.reader.answer.now_ns;
        for (int i = 0; i < 3; i++)
            (void)EXPECT(post(&f, &x) && is_answer(&x, 0, 0, 4) &&
                             x.reader.answer.digest == digest && x.reader.answer.now_ns == now_ns,
                         "sent again");
        (void)EXPECT(mallocs_of(&f) == 3, "%g mallocs", mallocs_of(&f));
    }
    end(&f, &x);
}

/* A batch that begins before the session's next command goes on there. */
static void test_goes_on(void)
{
    enum { SEQUENCED = SOMA_BATCH_SEQUENCED | SOMA_BATCH_QUIET };
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    add_malloc(&x, 1, 64);
    (void)EXPECT(send_batch(&f, &x, SEQUENCED, 0) && is_answer(&x, 0, 2, 2), "two");
    ADD(&x, SOMA_OP_POOL_CREATE);
    for (int i = 0; i < 4; i++)
        add_malloc(&x, 1, 64);
    (void)EXPECT(send_batch(&f, &x, SEQUENCED, 0) && is_answer(&x, 0, 3, 5), "three of five");
    (void)EXPECT(mallocs_of(&f) == 4, "%g mallocs", mallocs_of(&f));
    end(&f, &x);
}

static void test_gaps(void)
{
    static const struct {
        uint64_t sequence;
        enum soma_status status;
    } rows[] = {{2, SOMA_SEQUENCE_GAP},
                {UINT64_MAX, SOMA_SEQUENCE_GAP},
                {1, SOMA_OK},
                {0, SOMA_SEQUENCE_GAP}};
    uint64_t next_sequence = 1;
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    (void)send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        add_malloc(&x, 1, 64);
        if (!send_batch(&f, &x, SOMA_BATCH_SEQUENCED, rows[i].sequence))
            continue;
        next_sequence += rows[i].status == SOMA_OK ? 1 : 0;
        (void)is_answer(&x, 1, rows[i].status == SOMA_OK ? 1 : 0, next_sequence);
        (void)EXPECT(next(&x, SOMA_OP_POOL_MALLOC, NULL) == rows[i].status, "row %zu", i);
    }
    (void)EXPECT(mallocs_of(&f) == 1, "%g mallocs", mallocs_of(&f));
    end(&f, &x);
}

/* The answer to the last command comes again, also when the command was refused. */
static void test_answered_again(void)
{
    uint64_t first = 0, again = 1;
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    (void)send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 0);
    add_malloc(&x, 1, 64);
    (void)EXPECT(send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 1) && is_answer(&x, 1, 1, 2) &&
                     next(&x, SOMA_OP_POOL_MALLOC, &first) == SOMA_OK && post(&f, &x) &&
                     is_answer(&x, 1, 0, 2) && next(&x, SOMA_OP_POOL_MALLOC, &again) == SOMA_OK &&
                     first == again,
                 "malloc");
    add_malloc(&x, 7, 64);
    (void)EXPECT(send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 2) && is_answer(&x, 1, 0, 3) &&
                     next(&x, SOMA_OP_POOL_MALLOC, NULL) == SOMA_NO_SUCH_POOL && post(&f, &x) &&
                     is_answer(&x, 1, 0, 3) &&
                     next(&x, SOMA_OP_POOL_MALLOC, NULL) == SOMA_NO_SUCH_POOL,
                 "refused");
    end(&f, &x);
}

/* Large contents are not kept but read again; the session's time does not move. */
static void test_large_read_again(void)
{
    enum { BYTES = 300000 };
    struct soma_command command;
    char *contents = malloc(BYTES);
    uint64_t ptr = 0;
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    CU_ASSERT_FATAL(contents != NULL);
    for (size_t i = 0; i < BYTES; i++)
        contents[i] = (char)(i * 7);
    add(&x, SOMA_OP_MEMORY_MALLOC, SOMA_FIELD_size, BYTES, SOMA_FIELD_COUNT, 0);
    (void)EXPECT(send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 0) &&
                     next(&x, SOMA_OP_MEMORY_MALLOC, &ptr) == SOMA_OK,
                 "malloc");
    soma_command_init(&command, SOMA_OP_MEMORY_WRITE);
    soma_command_set(&command, SOMA_FIELD_ptr, ptr);
    command.data = (struct soma_text){contents, BYTES};
    command.present |= SOMA_HAS(data);
    CU_ASSERT_FATAL(soma_batch_add(&x.batch, &command));
    (void)EXPECT(send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 1) && is_answer(&x, 1, 1, 2), "write");
    add(&x, SOMA_OP_MEMORY_READ, SOMA_FIELD_ptr, ptr, SOMA_FIELD_size, BYTES);
    (void)send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 2);
    uint64_t digest = x.reader.answer.digest, now_ns = x.reader.answer.now_ns;
    for (int i = 0; i < 2; i++) {
        struct soma_result result = {.message = SOMA_MESSAGE_NONE};
        struct soma_error error;
        const struct soma_buffer *data = &result.u.memory_bytes.data;
        (void)EXPECT(is_answer(&x, 1, i == 0 ? 1 : 0, 3) &&
                         soma_batch_next_answer(&x.reader, &result, &error) == SOMA_OK,
                     "read %d", i);
        (void)EXPECT(data->len == BYTES && memcmp(data->ptr, contents, BYTES) == 0 &&
                         x.reader.answer.digest == digest && x.reader.answer.now_ns == now_ns,
                     "bytes of read %d", i);
        soma_result_clear(&result, release, NULL);
        (void)post(&f, &x);
    }
    free(contents);
    end(&f, &x);
}

/* ---- flags and digests ---- */

static void test_flags(void)
{
    static const struct {
        uint32_t flags, records, completed;
    } rows[] = {
        {0, 3, 2},
        {SOMA_BATCH_CONTINUE, 5, 3},
        {SOMA_BATCH_QUIET, 1, 2},
        {SOMA_BATCH_QUIET | SOMA_BATCH_CONTINUE, 1, 3},
        {SOMA_BATCH_FLAGS_ALL, 1, 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct exchange x;
        begin(&f, &x);
        ADD(&x, SOMA_OP_POOL_CREATE);
        add_malloc(&x, 1, 64);
        add_malloc(&x, 2, 64);
        add_malloc(&x, 3, 64);
        add_malloc(&x, 1, 64);
        (void)EXPECT(send_batch(&f, &x, rows[i].flags, 0) &&
                         is_answer(&x, rows[i].records, rows[i].completed,
                                   (rows[i].flags & SOMA_BATCH_SEQUENCED) != 0 ? 5 : 0),
                     "row %zu", i);
        enum soma_status status = SOMA_OK;
        for (uint32_t record = 0; record < rows[i].records && status == SOMA_OK; record++)
            status = next(&x, SOMA_OP_POOL_MALLOC, NULL);
        (void)EXPECT(status == SOMA_NO_SUCH_POOL, "row %zu: %s", i, soma_status_reason(status));
        end(&f, &x);
    }
}

/* Equal histories have equal digests; what else is run in the session changes them. */
static void test_digests(void)
{
    uint64_t digests[4] = {0};
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    for (int session = 0; session < 3; session++) {
        char id[64];
        fixture_open_session(f.client, NULL, id);
        ADD(&x, SOMA_OP_POOL_CREATE);
        add_malloc(&x, 1, 64);
        (void)send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 0);
        if (session == 1) /* refused: no trace */
            fixture_refused(f.client, "GET", "/v1/devices/0/pools/9", NULL, 404, "NO_SUCH_POOL");
        if (session == 2)
            fixture_do(f.client, "POST", "/v1/devices/0/streams", "{}", 201);
        add_malloc(&x, 1, 64);
        (void)send_batch(&f, &x, SOMA_BATCH_SEQUENCED, 2);
        (void)is_answer(&x, 1, 1, 3);
        digests[session] = x.reader.answer.digest;
    }
    (void)EXPECT(digests[0] == digests[1] && digests[0] != digests[2], "digests");
    end(&f, &x);
}

/* A wait in the compact form waits; one whose time is said to be over does not. */
static void test_waits(void)
{
    struct soma_command command;
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_STREAM_CREATE);
    ADD(&x, SOMA_OP_STREAM_CREATE);
    add(&x, SOMA_OP_EVENT_CREATE, SOMA_FIELD_kind, SOMA_EVENT_KIND_PLAIN, SOMA_FIELD_COUNT, 0);
    add(&x, SOMA_OP_EVENT_RECORD, SOMA_FIELD_event, 1, SOMA_FIELD_stream, 2);
    add(&x, SOMA_OP_EVENT_RESET, SOMA_FIELD_event, 1, SOMA_FIELD_stream, 2);
    add(&x, SOMA_OP_STREAM_WAIT_EVENT, SOMA_FIELD_stream, 1, SOMA_FIELD_event, 1);
    (void)EXPECT(send_batch(&f, &x, SOMA_BATCH_QUIET, 0) && is_answer(&x, 0, 6, 0), "blocked");
    for (int expired = 0; expired < 2; expired++) {
        uint64_t start_ms = now_ms();
        soma_command_init(&command, SOMA_OP_STREAM_SYNCHRONIZE);
        soma_command_set(&command, SOMA_FIELD_stream, 1);
        soma_command_set(&command, SOMA_FIELD_timeout_ms, expired ? 600000 : 50);
        command.expired = expired == 1;
        CU_ASSERT_FATAL(soma_batch_add(&x.batch, &command));
        (void)EXPECT(send_batch(&f, &x, 0, 0) && is_answer(&x, 1, 0, 0) &&
                         next(&x, SOMA_OP_STREAM_SYNCHRONIZE, NULL) == SOMA_STREAM_SYNC_TIMEOUT,
                     "timeout");
        (void)EXPECT(expired || now_ms() - start_ms >= 50, "it did not wait");
    }
    end(&f, &x);
}

static void one_thread(struct soma_config *config)
{
    config->threads = 1;
}

/* Send bytes on a connection of their own and leave it open; close() it. */
static int send_apart(struct fixture *f, const char *head, const void *body, size_t len)
{
    char text[512];
    int fd = raw_connect(soma_server_port(f->server, 0));
    (void)snprintf(text, sizeof(text), "POST %sHost: x\r\nContent-Length: %zu\r\n\r\n", head, len);
    (void)EXPECT(fd >= 0 && raw_send_text(fd, text) && sockets_send_all(fd, body, len), "not sent");
    return fd;
}

static bool one_waits(void *ctx)
{
    const struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") == 1;
}

/* A batch that is sent again while it waits, or just when its wait ends, runs once. */
static void test_again_while_it_waits(void)
{
    enum { SEQUENCED = SOMA_BATCH_SEQUENCED | SOMA_BATCH_QUIET, ROUNDS = 40 };
    static const char record[] = "{\"stream\":0}";
    char id[64], batch_head[256], record_head[256];
    struct fixture f;
    struct exchange x;
    fixture_start(&f, one_thread);
    fixture_open_session(f.client, NULL, id);
    exchange_begin(&x);
    (void)snprintf(batch_head, sizeof(batch_head),
                   "/v1/commands HTTP/1.1\r\nSoma-Session: %s\r\nContent-Type: %s\r\n", id,
                   SOMA_BATCH_TYPE);
    (void)snprintf(record_head, sizeof(record_head),
                   "/v1/devices/0/events/1:record HTTP/1.1\r\nSoma-Session: %s\r\n", id);
    ADD(&x, SOMA_OP_STREAM_CREATE);
    ADD(&x, SOMA_OP_POOL_CREATE);
    add(&x, SOMA_OP_EVENT_CREATE, SOMA_FIELD_kind, SOMA_EVENT_KIND_PLAIN, SOMA_FIELD_COUNT, 0);
    add(&x, SOMA_OP_EVENT_RECORD, SOMA_FIELD_event, 1, SOMA_FIELD_stream, 0);
    uint64_t sequence = 4;
    (void)EXPECT(send_batch(&f, &x, SEQUENCED, 0) && is_answer(&x, 0, 4, sequence), "begun");
    for (int i = 0; i < ROUNDS; i++) {
        add(&x, SOMA_OP_EVENT_RESET, SOMA_FIELD_event, 1, SOMA_FIELD_stream, 0);
        add(&x, SOMA_OP_STREAM_WAIT_EVENT, SOMA_FIELD_stream, 1, SOMA_FIELD_event, 1);
        add(&x, SOMA_OP_STREAM_SYNCHRONIZE, SOMA_FIELD_stream, 1, SOMA_FIELD_COUNT, 0);
        add_malloc(&x, 1, 64);
        CU_ASSERT_FATAL(soma_batch_finish(&x.batch, SEQUENCED, sequence, &x.body));
        int fds[3], at = 0;
        fds[at++] = send_apart(&f, batch_head, x.body.ptr, x.body.len);
        (void)EXPECT(wait_until(one_waits, &f), "it does not wait");
        if (i % 2 == 0)
            fds[at++] = send_apart(&f, batch_head, x.body.ptr, x.body.len);
        fds[at++] = send_apart(&f, record_head, record, strlen(record));
        if (i % 2 == 1)
            fds[at++] = send_apart(&f, batch_head, x.body.ptr, x.body.len);
        sequence += 4;
        /* The second may come behind this one and end it. */
        for (int tries = 0; tries < 2 && x.reader.answer.next_sequence != sequence; tries++)
            (void)post(&f, &x);
        (void)EXPECT(x.reader.answer.next_sequence == sequence, "round %d: the next command is %d",
                     i, (int)x.reader.answer.next_sequence);
        (void)EXPECT(mallocs_of(&f) == i + 1, "round %d: %g mallocs", i, mallocs_of(&f));
        while (at > 0)
            (void)close(fds[--at]);
    }
    end(&f, &x);
}

/* ---- hostile bodies ---- */

static void test_refused_bodies(void)
{
    char body[64] = "SMBQ";
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    for (size_t len = 0; len < sizeof(body); len += 7) {
        struct http_answer answer;
        struct http_request request = {.method = "POST",
                                       .path = "/v1/commands",
                                       .content_type = SOMA_BATCH_TYPE,
                                       .body = body,
                                       .body_len = len};
        CU_ASSERT_FATAL(http_send(f.client, &request, &answer));
        (void)EXPECT(answer.status == 400 && is_error_body(answer.body, 400, "MALFORMED_BATCH"),
                     "%zu bytes: %s", len, answer.body);
        http_answer_release(&answer);
    }
    end(&f, &x);
}

/* What stands before the fault has run; what stands behind it has not, whatever the flags say. */
static void test_broken_inside(void)
{
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    add_malloc(&x, 1, 64);
    size_t at = soma_batch_bytes(&x.batch);
    add_malloc(&x, 1, 64);
    add_malloc(&x, 1, 64);
    CU_ASSERT_FATAL(soma_batch_finish(&x.batch, SOMA_BATCH_FLAGS_ALL, 0, &x.body));
    memset(x.body.ptr + at, 0xff, 4);
    (void)EXPECT(post(&f, &x) && is_answer(&x, 1, 2, 2) &&
                     next(&x, SOMA_OP_POOL_MALLOC, NULL) == SOMA_MALFORMED_BATCH,
                 "broken");
    (void)EXPECT(mallocs_of(&f) == 1, "%g mallocs", mallocs_of(&f));
    end(&f, &x);
}

/* Nobody is given more bytes at once than --max-body says. */
static void test_too_large_a_read(void)
{
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    add(&x, SOMA_OP_MEMORY_READ, SOMA_FIELD_ptr, SOMA_ADDRESS_BASE, SOMA_FIELD_size,
        UINT64_C(1) << 40);
    (void)EXPECT(send_batch(&f, &x, 0, 0) && is_answer(&x, 1, 0, 0) &&
                     next(&x, SOMA_OP_MEMORY_READ, NULL) == SOMA_VALUE_OUT_OF_RANGE,
                 "1 TiB");
    end(&f, &x);
}

static void add_launch(struct exchange *x, const char *kernel)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_STREAM_LAUNCH_KERNEL);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_stream, 0);
    command.kernel = (struct soma_text){kernel, strlen(kernel)};
    command.args = (struct soma_kernel_args){NULL, 0};
    command.present |= SOMA_HAS(kernel) | SOMA_HAS(args);
    CU_ASSERT_FATAL(soma_batch_add(&x->batch, &command));
}

static void expect_failures(struct exchange *x)
{
    static const struct {
        enum soma_status status;
        uint32_t index;
    } rows[] = {{SOMA_KERNEL_FAULT, 1}, {SOMA_NO_SUCH_KERNEL, 2}, {SOMA_KERNEL_FAULT, 4}};
    for (size_t i = 0; i < 3; i++) {
        enum soma_status status = next(x, SOMA_OP_STREAM_LAUNCH_KERNEL, NULL);
        (void)EXPECT(status == rows[i].status && x->reader.error_index == rows[i].index,
                     "record %zu: %d of command %u", i, (int)status, x->reader.error_index);
    }
}

/* A quiet batch answers with each kernel that failed, and again when it is sent again. */
static void test_kernels_that_fail(void)
{
    enum { FLAGS = SOMA_BATCH_SEQUENCED | SOMA_BATCH_QUIET | SOMA_BATCH_CONTINUE };
    struct fixture f;
    struct exchange x;
    begin(&f, &x);
    ADD(&x, SOMA_OP_POOL_CREATE);
    add_launch(&x, "trap");
    add_launch(&x, "no_such");
    add_launch(&x, "no_such_too"); /* only the first refusal is told */
    add_launch(&x, "trap");
    add_malloc(&x, 1, 64);
    if (send_batch(&f, &x, FLAGS | SOMA_BATCH_KERNELS, 0) && is_answer(&x, 3, 2, 6))
        expect_failures(&x);
    uint64_t digest = x.reader.answer.digest;
    (void)EXPECT(post(&f, &x) && is_answer(&x, 2, 0, 6) && x.reader.answer.digest == digest &&
                     next(&x, SOMA_OP_STREAM_LAUNCH_KERNEL, NULL) == SOMA_KERNEL_FAULT &&
                     x.reader.error_index == 1 &&
                     next(&x, SOMA_OP_STREAM_LAUNCH_KERNEL, NULL) == SOMA_KERNEL_FAULT &&
                     x.reader.error_index == 4,
                 "sent again");
    /* What it does not know is forgotten with the next batch. */
    add_malloc(&x, 1, 64);
    (void)EXPECT(send_batch(&f, &x, FLAGS, 6) && is_answer(&x, 0, 1, 7) && post(&f, &x) &&
                     is_answer(&x, 0, 0, 7),
                 "the next batch");
    end(&f, &x);
}

static const struct soma_test tests[] = {
    {"a batch sent twice runs once", test_sent_twice},
    {"a batch goes on where the session is", test_goes_on},
    {"gaps", test_gaps},
    {"the last command is answered again", test_answered_again},
    {"a large read is answered again", test_large_read_again},
    {"kernels that fail", test_kernels_that_fail},
    {"flags", test_flags},
    {"digests", test_digests},
    {"waits", test_waits},
    {"sent again while it waits", test_again_while_it_waits},
    {"refused bodies", test_refused_bodies},
    {"broken inside", test_broken_inside},
    {"too large a read", test_too_large_a_read},
    {NULL, NULL},
};

const struct soma_suite suite_http_batch = {"http_batch", tests};
