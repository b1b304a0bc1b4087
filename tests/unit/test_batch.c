/* The compact form: every row of the tables there and back, equal to the JSON form, and refusals of
 * what does not fit. */
#include "batch.h"
#include "decode.h"
#include "expect.h"
#include "fault.h"
#include "random.h"
#include "sample.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 100
enum { HEADER_BYTES = 32, ANSWER_HEADER_BYTES = 40 };

static const uint32_t all_flags = SOMA_BATCH_FLAGS_ALL;

static void put_u64(char *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (char)(unsigned char)(value >> (8 * i));
}

/* ---- requests ---- */

/* One command as a whole request, in out. */
static void write_one(const struct soma_command *command, struct soma_writer *out)
{
    struct soma_batch_writer batch;
    soma_batch_writer_init(&batch, 1 << 20);
    soma_writer_init(out, 1 << 20);
    if (!soma_batch_add(&batch, command) || !soma_batch_finish(&batch, all_flags, 7, out))
        abort();
    soma_batch_writer_release(&batch);
}

/* A command that several rows have something of: text and arguments. */
static void sample_launch(struct random_source *source, struct wire_arena *arena,
                          struct soma_command *command)
{
    do
        sample_command(source, SOMA_OP_STREAM_LAUNCH_KERNEL, arena, command);
    while (command->args.count < 3 || command->args.count > 12);
}

/* Read every command of a request; the first status that is not SOMA_OK. */
static enum soma_status read_all(const void *body, size_t len, struct soma_error *error)
{
    struct soma_batch_reader reader;
    struct soma_command command;
    struct wire_arena arena;
    wire_arena_init(&arena);
    enum soma_status status = soma_batch_open(&reader, body, len, error);
    while (status == SOMA_OK && reader.taken < reader.header.count)
        status = soma_batch_next(&reader, &arena, &command, error);
    wire_arena_release(&arena);
    return status;
}

/* The same bytes where a read past their end is seen by sanitizers and valgrind. */
static enum soma_status read_copy(const char *body, size_t len, struct soma_error *error)
{
    char *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL)
        abort();
    memcpy(copy, body, len);
    enum soma_status status = read_all(copy, len, error);
    free(copy);
    return status;
}

static enum soma_status read_json(const struct soma_command *sent, struct wire_arena *arena,
                                  struct soma_command *command, struct soma_error *error)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 20);
    wire_encode_command(&writer, sent);
    soma_command_init(command, sent->op);
    enum soma_status status = decode_text(writer.ptr, writer.len, true, arena, command, error);
    soma_writer_release(&writer);
    return status;
}

/* Whether JSON refuses the command in the same words. */
static bool is_refused_alike(const struct soma_command *sent, const struct soma_error *compact)
{
    struct soma_command command;
    struct soma_error error = {.message = ""};
    struct wire_arena arena;
    wire_arena_init(&arena);
    enum soma_status status = read_json(sent, &arena, &command, &error);
    wire_arena_release(&arena);
    return EXPECT(status == compact->status && strcmp(error.field, compact->field) == 0 &&
                      strcmp(error.message, compact->message) == 0,
                  "JSON: %s, compact: %s", error.message, compact->message);
}

static void check_command_round_trip(struct random_source *source, enum soma_op op)
{
    struct wire_arena arena;
    struct soma_writer body;
    struct soma_batch_reader reader;
    struct soma_command sent, compact, json;
    struct soma_error error = {.message = ""};
    const char *name = soma_op_info(op)->name;
    wire_arena_init(&arena);
    sample_command(source, op, &arena, &sent);
    sent.expired = random_below(source, 2) == 0;
    write_one(&sent, &body);
    enum soma_status status = soma_batch_open(&reader, body.ptr, body.len, &error);
    EXPECT(status == SOMA_OK && reader.header.flags == all_flags && reader.header.count == 1 &&
               reader.header.sequence == 7,
           "%s: %s", name, error.message);
    if (status == SOMA_OK)
        status = soma_batch_next(&reader, &arena, &compact, &error);
    EXPECT(status == SOMA_OK && reader.taken == 1 && compact.expired == sent.expired, "%s: %s",
           name, error.message);
    EXPECT(read_json(&sent, &arena, &json, &error) == SOMA_OK &&
               sample_same_command(&json, &compact),
           "%s is another command than in JSON", name);
    soma_writer_release(&body);
    wire_arena_release(&arena);
}

static void test_commands_round_trip(void)
{
    struct random_source source = {11};
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        for (int round = 0; round < ROUNDS; round++)
            check_command_round_trip(&source, (enum soma_op)op);
    }
}

/* A location of which only the id is given is a location. */
static void test_half_a_location(void)
{
    struct soma_command sent, compact;
    struct soma_batch_reader reader;
    struct soma_error error;
    struct soma_writer body;
    struct wire_arena arena;
    wire_arena_init(&arena);
    for (int round = 0; round < 2; round++) {
        soma_command_init(&sent, SOMA_OP_POOL_CREATE);
        soma_command_set(&sent, SOMA_FIELD_device, 3);
        if (round == 0)
            soma_command_set(&sent, SOMA_FIELD_location_id, 5);
        else
            soma_command_set(&sent, SOMA_FIELD_location_type, SOMA_LOCATION_TYPE_DEVICE);
        write_one(&sent, &body);
        EXPECT(soma_batch_open(&reader, body.ptr, body.len, &error) == SOMA_OK &&
                   soma_batch_next(&reader, &arena, &compact, &error) == SOMA_OK &&
                   compact.location_id == (round == 0 ? 5u : 3u) &&
                   compact.location_type == SOMA_LOCATION_TYPE_DEVICE,
               "%d: id %d", round, (int)compact.location_id);
        soma_writer_release(&body);
    }
    wire_arena_release(&arena);
}

static void test_many_commands(void)
{
    enum { COUNT = 300 };
    struct soma_batch_writer batch;
    struct soma_batch_reader reader;
    struct soma_command sent[COUNT], command;
    struct soma_writer body;
    struct soma_error error;
    struct wire_arena arena;
    struct random_source source = {12};
    wire_arena_init(&arena);
    soma_batch_writer_init(&batch, 1 << 24);
    soma_writer_init(&body, 1 << 24);
    for (size_t i = 0; i < COUNT; i++) {
        sample_command(&source, (enum soma_op)random_below(&source, SOMA_OP_COUNT), &arena,
                       &sent[i]);
        EXPECT(soma_batch_add(&batch, &sent[i]), "command %zu", i);
    }
    size_t bytes = soma_batch_bytes(&batch);
    EXPECT(soma_batch_finish(&batch, 0, UINT64_MAX, &body) && body.len == bytes, "%zu bytes",
           body.len);
    EXPECT(batch.count == 0 && soma_batch_bytes(&batch) == HEADER_BYTES, "not empty again");
    EXPECT(soma_batch_open(&reader, body.ptr, body.len, &error) == SOMA_OK &&
               reader.header.count == COUNT && reader.header.sequence == UINT64_MAX,
           "header");
    for (size_t i = 0; i < COUNT; i++) {
        enum soma_status status = soma_batch_next(&reader, &arena, &command, &error);
        EXPECT(status == SOMA_OK && command.op == sent[i].op, "command %zu: %s", i, error.message);
    }
    soma_batch_writer_release(&batch);
    soma_writer_release(&body);
    wire_arena_release(&arena);
}

/* ---- what is refused ---- */

static void test_cut_at_every_byte(void)
{
    struct random_source source = {13};
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        struct soma_command sent;
        struct soma_writer body;
        struct soma_error error;
        struct wire_arena arena;
        wire_arena_init(&arena);
        if (op == SOMA_OP_STREAM_LAUNCH_KERNEL)
            sample_launch(&source, &arena, &sent);
        else
            sample_command(&source, (enum soma_op)op, &arena, &sent);
        write_one(&sent, &body);
        for (size_t len = 0; len < body.len; len++)
            EXPECT(read_copy(body.ptr, len, &error) == SOMA_MALFORMED_BATCH, "%s: %zu of %zu",
                   soma_op_info(sent.op)->name, len, body.len);
        soma_writer_release(&body);
        wire_arena_release(&arena);
    }
}

/* Whatever bits come, they are read within their bounds and refused with a text, or are a command.
 */
static void test_flipped_bits(void)
{
    struct random_source source = {14};
    struct soma_command sent;
    struct soma_writer body;
    struct wire_arena arena;
    wire_arena_init(&arena);
    sample_launch(&source, &arena, &sent);
    write_one(&sent, &body);
    for (size_t bit = 0; bit < 8 * body.len; bit++) {
        struct soma_error error = {.message = ""};
        body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
        enum soma_status status = read_copy(body.ptr, body.len, &error);
        EXPECT(status == SOMA_OK || error.message[0] != '\0', "bit %zu: no text", bit);
        body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
    }
    for (int round = 0; round < 20000; round++) {
        struct soma_error error;
        char bytes[160];
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)random_below(&source, random_below(&source, 2) == 0 ? 4 : 256);
        memcpy(bytes, body.ptr, 8);
        put_u64(bytes + 8, 1 + random_below(&source, 12));
        put_u64(bytes + 24, 8 * random_below(&source, 16));
        (void)read_copy(bytes, random_below(&source, sizeof(bytes) + 1), &error);
    }
    soma_writer_release(&body);
    wire_arena_release(&arena);
}

/* A row: eight bytes of a good request replaced. */
static void test_bad_headers(void)
{
    static const uint64_t good = SOMA_BATCH_REQUEST | UINT64_C(1) << 32;
    static const struct {
        size_t at;
        uint64_t value;
        const char *what;
    } rows[] = {
        {0, good + 1, "begin with SMBQ"},
        {0, good + (UINT64_C(1) << 32), "version"},
        {0, good & UINT32_MAX, "version"},
        {0, good | UINT64_C(16) << 48, "flags"},
        {8, 2, "fewer records"},
        {8, UINT64_C(1) << 32, "fewer records"},
        {8, UINT64_MAX, "fewer records"},
        {8, 0, "left over"},
        {24, 8, ""},
        {24, UINT64_MAX, "longer than the body"},
        {32, (UINT64_C(1) << 63) | SOMA_OP_POOL_MALLOC, "fields"},
        {32, SOMA_OP_COUNT, "no command has the number"},
        {32, UINT32_MAX, "no command has the number"},
    };
    struct soma_command sent;
    struct soma_error error;
    struct soma_writer body;
    soma_command_init(&sent, SOMA_OP_POOL_MALLOC);
    soma_command_set(&sent, SOMA_FIELD_pool, 1);
    soma_command_set(&sent, SOMA_FIELD_stream, 1);
    soma_command_set(&sent, SOMA_FIELD_size, 64);
    write_one(&sent, &body);
    EXPECT(read_copy(body.ptr, body.len, &error) == SOMA_OK, "%s", error.message);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[256];
        memcpy(bytes, body.ptr, body.len);
        put_u64(bytes + rows[i].at, rows[i].value);
        error.message[0] = '\0';
        enum soma_status status = read_copy(bytes, body.len, &error);
        EXPECT(status == SOMA_MALFORMED_BATCH && strstr(error.message, rows[i].what) != NULL,
               "row %zu: %s", i, error.message);
    }
    soma_writer_release(&body);
}

/* A value that the rules refuse, before and behind a good command: the others are read. */
static void test_refused_values(void)
{
    static const struct {
        enum soma_op op;
        enum soma_field field;
        uint64_t value;
        enum soma_status status;
        bool is_word; /* JSON cannot say it */
    } rows[] = {
        {SOMA_OP_POOL_MALLOC, SOMA_FIELD_device, SOMA_DEVICES_MAX + 1, SOMA_NO_SUCH_DEVICE, false},
        {SOMA_OP_STREAM_SYNCHRONIZE, SOMA_FIELD_timeout_ms, SOMA_TIMEOUT_MS_MAX + 1,
         SOMA_VALUE_OUT_OF_RANGE, false},
        {SOMA_OP_STREAM_CREATE, SOMA_FIELD_priority, UINT64_C(1) << 32, SOMA_VALUE_OUT_OF_RANGE,
         false},
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_handle_type, 99, SOMA_INVALID_VALUE, true},
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_alloc_type, 99, SOMA_UNSUPPORTED_ALLOC_TYPE, true},
        {SOMA_OP_POOL_GET_ATTRIBUTE, SOMA_FIELD_attribute, UINT64_MAX, SOMA_UNKNOWN_ATTRIBUTE,
         true},
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_location_type, 99, SOMA_UNSUPPORTED_LOCATION, true},
        {SOMA_OP_EVENT_DESTROY, SOMA_FIELD_COUNT, 0, SOMA_MISSING_FIELD, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_batch_writer batch;
        struct soma_batch_reader reader;
        struct soma_command good, bad, command;
        struct soma_writer body;
        struct soma_error error;
        struct wire_arena arena;
        wire_arena_init(&arena);
        soma_batch_writer_init(&batch, 1 << 16);
        soma_writer_init(&body, 1 << 16);
        soma_command_init(&good, SOMA_OP_DEVICE_LIST);
        soma_command_init(&bad, rows[i].op);
        if (rows[i].field != SOMA_FIELD_COUNT)
            soma_command_set(&bad, rows[i].field, rows[i].value);
        EXPECT(soma_batch_add(&batch, &good) && soma_batch_add(&batch, &bad) &&
                   soma_batch_add(&batch, &good) && soma_batch_finish(&batch, 0, 0, &body),
               "writing");
        EXPECT(soma_batch_open(&reader, body.ptr, body.len, &error) == SOMA_OK, "opening");
        EXPECT(soma_batch_next(&reader, &arena, &command, &error) == SOMA_OK, "before");
        enum soma_status status = soma_batch_next(&reader, &arena, &command, &error);
        EXPECT(status == rows[i].status, "row %zu gives %s: %s", i, soma_status_reason(status),
               error.message);
        EXPECT(rows[i].is_word ? strstr(error.message, "is not a word for it: use ") != NULL
                               : is_refused_alike(&bad, &error),
               "row %zu: %s", i, error.message);
        EXPECT(soma_batch_next(&reader, &arena, &command, &error) == SOMA_OK &&
                   command.op == SOMA_OP_DEVICE_LIST && reader.taken == 3,
               "row %zu: behind", i);
        soma_batch_writer_release(&batch);
        soma_writer_release(&body);
        wire_arena_release(&arena);
    }
}

static void test_refused_texts(void)
{
    static const struct {
        const char *text;
        size_t len;
        enum soma_status status;
    } rows[] = {
        {"add", 3, SOMA_OK},
        {"a\0b", 3, SOMA_INVALID_VALUE},
        {"\xff", 1, SOMA_INVALID_VALUE},
        {"\xc3", 1, SOMA_INVALID_VALUE},
        {"0123456789012345678901234567890123456789012345678901234567890123", 64, SOMA_OK},
        {"01234567890123456789012345678901234567890123456789012345678901234", 65,
         SOMA_VALUE_OUT_OF_RANGE},
    };
    struct random_source source = {15};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_command sent;
        struct soma_writer body;
        struct soma_error error;
        struct wire_arena arena;
        wire_arena_init(&arena);
        sample_launch(&source, &arena, &sent);
        sent.kernel = (struct soma_text){rows[i].text, rows[i].len};
        write_one(&sent, &body);
        EXPECT(read_copy(body.ptr, body.len, &error) == rows[i].status, "row %zu: %s", i,
               error.message);
        if (rows[i].status == SOMA_VALUE_OUT_OF_RANGE)
            (void)is_refused_alike(&sent, &error);
        soma_writer_release(&body);
        wire_arena_release(&arena);
    }
}

static void test_refused_arguments(void)
{
    static const struct {
        enum soma_arg_kind kind;
        uint64_t bits;
        bool good;
    } rows[] = {
        {SOMA_ARG_U8, 255, true},
        {SOMA_ARG_U8, 256, false},
        {SOMA_ARG_U16, 65536, false},
        {SOMA_ARG_U32, UINT64_C(1) << 32, false},
        {SOMA_ARG_I32, (uint64_t)INT32_MIN, true},
        {SOMA_ARG_I32, (uint64_t)INT32_MIN - 1, false},
        {SOMA_ARG_I32, INT32_MAX, true},
        {SOMA_ARG_I32, UINT64_C(1) << 31, false},
        {SOMA_ARG_F16, 65536, false},
        {SOMA_ARG_F32, UINT64_C(1) << 32, false},
        {SOMA_ARG_F64, UINT64_MAX, true},
        {(enum soma_arg_kind)(SOMA_ARG_BYTES + 1), 0, false},
    };
    struct random_source source = {16};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_kernel_arg arg = {.kind = rows[i].kind, .bits = rows[i].bits};
        struct soma_command sent;
        struct soma_writer body;
        struct soma_error error;
        struct wire_arena arena;
        wire_arena_init(&arena);
        sample_launch(&source, &arena, &sent);
        sent.args = (struct soma_kernel_args){&arg, 1};
        write_one(&sent, &body);
        EXPECT(read_copy(body.ptr, body.len, &error) ==
                   (rows[i].good ? SOMA_OK : SOMA_MALFORMED_BATCH),
               "row %zu: %s", i, error.message);
        soma_writer_release(&body);
        wire_arena_release(&arena);
    }
}

/* What does not fit, or finds no memory, is not added; what was added before stays. */
static void check_not_added(struct soma_batch_writer *batch, const struct soma_command *command,
                            long fail_at, bool *was_added)
{
    size_t bytes = soma_batch_bytes(batch);
    uint32_t count = batch->count;
    if (fail_at > 0)
        fault_begin(fail_at);
    *was_added = soma_batch_add(batch, command);
    if (fail_at > 0)
        (void)fault_end();
    EXPECT(*was_added || (soma_batch_bytes(batch) == bytes && batch->count == count),
           "a part was added");
}

static void test_limits(void)
{
    struct random_source source = {17};
    struct soma_command small, large;
    struct wire_arena arena;
    wire_arena_init(&arena);
    soma_command_init(&small, SOMA_OP_DEVICE_LIST);
    sample_launch(&source, &arena, &large);
    for (size_t max = 0; max < 400; max += 4) {
        struct soma_batch_writer batch;
        struct soma_writer body;
        struct soma_error error;
        bool was_added;
        soma_batch_writer_init(&batch, max);
        soma_writer_init(&body, 1 << 16);
        check_not_added(&batch, &small, 0, &was_added);
        check_not_added(&batch, &large, 0, &was_added);
        check_not_added(&batch, &large, 0, &was_added);
        uint32_t count = batch.count;
        EXPECT(soma_batch_finish(&batch, 0, 0, &body) &&
                   read_copy(body.ptr, body.len, &error) == SOMA_OK,
               "max %zu, %u commands", max, count);
        soma_batch_writer_release(&batch);
        soma_writer_release(&body);
    }
    wire_arena_release(&arena);
}

static void test_out_of_memory(void)
{
    struct random_source source = {18};
    struct soma_command command;
    struct wire_arena arena;
    bool was_added = false;
    wire_arena_init(&arena);
    sample_launch(&source, &arena, &command);
    for (long fail_at = 1; !was_added; fail_at++) {
        struct soma_batch_writer batch;
        soma_batch_writer_init(&batch, 1 << 20);
        check_not_added(&batch, &command, fail_at, &was_added);
        soma_batch_writer_release(&batch);
        EXPECT(fail_at < 100, "it never ends");
    }
    wire_arena_release(&arena);
}

/* ---- answers ---- */

static void check_message_round_trip(struct random_source *source, enum soma_message message)
{
    struct soma_result sent, received;
    struct soma_writer body, first, second;
    struct soma_batch_answer_reader reader;
    struct soma_error error = {.message = ""};
    soma_writer_init(&body, 1 << 20);
    soma_writer_init(&first, 1 << 20);
    soma_writer_init(&second, 1 << 20);
    sample_result(source, message, &sent);
    soma_batch_begin_answer(&body);
    soma_batch_put_result(&body, &sent);
    soma_batch_end_answer(&body, &(struct soma_batch_answer){1, 2, 3, 4, 5});
    if (EXPECT(soma_batch_open_answer(&reader, body.ptr, body.len) && reader.answer.records == 1 &&
                   reader.answer.completed == 2 && reader.answer.next_sequence == 3 &&
                   reader.answer.digest == 4 && reader.answer.now_ns == 5 &&
                   soma_batch_next_answer(&reader, &received, &error) == SOMA_OK &&
                   reader.at == reader.end,
               "message %d: %s", message, error.message)) {
        wire_encode_result(&first, &sent);
        wire_encode_result(&second, &received);
        EXPECT(received.message == message && first.len == second.len &&
                   memcmp(first.ptr, second.ptr, first.len) == 0,
               "%.*s becomes %.*s", (int)first.len, first.ptr, (int)second.len, second.ptr);
        sample_release(&received);
    }
    sample_release(&sent);
    soma_writer_release(&body);
    soma_writer_release(&first);
    soma_writer_release(&second);
}

static void test_messages_round_trip(void)
{
    struct random_source source = {21};
    for (int message = SOMA_MESSAGE_NONE; message < SOMA_MESSAGE_COUNT; message++) {
        for (int round = 0; round < ROUNDS; round++)
            check_message_round_trip(&source, (enum soma_message)message);
    }
}

static void test_errors_round_trip(void)
{
    const struct soma_status_info *row;
    for (unsigned i = 0; (row = soma_status_row(i)) != NULL; i++) {
        struct soma_writer body;
        struct soma_result result;
        struct soma_batch_answer_reader reader;
        struct soma_error sent, received = {.message = ""};
        if (row->status == SOMA_OK)
            continue;
        soma_writer_init(&body, 1 << 16);
        (void)soma_fail(&sent, row->status, "size", "a text with %u%%", i);
        soma_batch_begin_answer(&body);
        soma_batch_put_error(&body, &sent, 7);
        soma_batch_end_answer(&body, &(struct soma_batch_answer){1, 0, 0, 0, 0});
        EXPECT(soma_batch_open_answer(&reader, body.ptr, body.len) &&
                   soma_batch_next_answer(&reader, &result, &received) == row->status &&
                   received.status == row->status && reader.error_index == 7 &&
                   same_words(received.field, "size") &&
                   same_words(received.message, sent.message) && reader.at == reader.end,
               "%s becomes %s", sent.message, received.message);
        soma_writer_release(&body);
    }
}

/* Read an answer from memory of exactly its length, whatever it is. */
static enum soma_status read_answer(const char *body, size_t len)
{
    struct soma_batch_answer_reader reader;
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    struct soma_error error;
    enum soma_status status = SOMA_MALFORMED_BATCH;
    char *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL)
        abort();
    memcpy(copy, body, len);
    if (soma_batch_open_answer(&reader, copy, len))
        status = soma_batch_next_answer(&reader, &result, &error);
    if (status == SOMA_OK)
        sample_release(&result);
    free(copy);
    return status;
}

static void test_broken_answers(void)
{
    struct random_source source = {22};
    for (int message = 0; message < SOMA_MESSAGE_COUNT; message++) {
        struct soma_writer body;
        struct soma_result sent;
        soma_writer_init(&body, 1 << 20);
        sample_result(&source, (enum soma_message)message, &sent);
        soma_batch_begin_answer(&body);
        soma_batch_put_result(&body, &sent);
        soma_batch_end_answer(&body, &(struct soma_batch_answer){1, 1, 1, 1, 1});
        for (size_t len = 0; len < body.len; len++)
            EXPECT(read_answer(body.ptr, len) == SOMA_MALFORMED_BATCH, "message %d: %zu of %zu",
                   message, len, body.len);
        for (size_t bit = 0; bit < 8 * body.len; bit++) {
            body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
            (void)read_answer(body.ptr, body.len);
            body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
        }
        sample_release(&sent);
        soma_writer_release(&body);
    }
}

/* An error of a later release is an error still. */
static void test_error_of_the_future(void)
{
    char body[ANSWER_HEADER_BYTES + 24] = {0};
    struct soma_writer head;
    soma_writer_init(&head, 1 << 10);
    soma_batch_begin_answer(&head);
    soma_batch_end_answer(&head, &(struct soma_batch_answer){1, 0, 0, 0, 0});
    memcpy(body, head.ptr, ANSWER_HEADER_BYTES);
    put_u64(body + ANSWER_HEADER_BYTES, 0xfff0);
    enum soma_status status = read_answer(body, sizeof(body));
    EXPECT(status != SOMA_OK && status != SOMA_MALFORMED_BATCH, "%s", soma_status_reason(status));
    soma_writer_release(&head);
}

/* ---- how much a batch moves ---- */

struct moved {
    enum soma_op op;
    enum soma_field field; /* SOMA_FIELD_COUNT: none */
    uint64_t value;
};

static void test_moves(void)
{
    enum { LIMIT = 1 << 20 };
    static const struct {
        const char *what;
        struct moved commands[3];
        bool moves;
    } rows[] = {
        {"nothing", {{SOMA_OP_DEVICE_LIST, SOMA_FIELD_COUNT, 0}}, false},
        {"a large set", {{SOMA_OP_MEMORY_SET, SOMA_FIELD_size, LIMIT}}, true},
        {"almost", {{SOMA_OP_MEMORY_SET, SOMA_FIELD_size, LIMIT - 1}}, false},
        {"a copy", {{SOMA_OP_MEMORY_COPY, SOMA_FIELD_size, UINT64_MAX}}, true},
        {"a reduction", {{SOMA_OP_MEMORY_REDUCE, SOMA_FIELD_size, LIMIT}}, true},
        {"numbers of 8 bytes", {{SOMA_OP_MEMORY_RANDOM, SOMA_FIELD_count, LIMIT / 8}}, true},
        {"fewer", {{SOMA_OP_MEMORY_RANDOM, SOMA_FIELD_count, LIMIT / 8 - 1}}, false},
        {"more than fit", {{SOMA_OP_MEMORY_RANDOM, SOMA_FIELD_count, UINT64_MAX / 2}}, true},
        {"a large malloc", {{SOMA_OP_POOL_MALLOC, SOMA_FIELD_size, UINT64_MAX}}, false},
        {"in sum",
         {{SOMA_OP_MEMORY_SET, SOMA_FIELD_size, LIMIT / 2},
          {SOMA_OP_POOL_CREATE, SOMA_FIELD_location_id, 1},
          {SOMA_OP_MEMORY_COPY, SOMA_FIELD_size, LIMIT / 2}},
         true},
        {"not in sum",
         {{SOMA_OP_MEMORY_SET, SOMA_FIELD_size, LIMIT / 2},
          {SOMA_OP_POOL_CREATE, SOMA_FIELD_location_id, 1},
          {SOMA_OP_MEMORY_COPY, SOMA_FIELD_size, LIMIT / 2 - 1}},
         false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_batch_writer batch;
        struct soma_batch_reader reader;
        struct soma_writer body;
        struct soma_error error;
        soma_batch_writer_init(&batch, 1 << 20);
        soma_writer_init(&body, 1 << 20);
        for (size_t k = 0; k < 3 && (k == 0 || rows[i].commands[k].value != 0); k++) {
            const struct moved *moved = &rows[i].commands[k];
            struct soma_command command;
            soma_command_init(&command, moved->op);
            if (moved->field == SOMA_FIELD_location_id)
                soma_command_set(&command, SOMA_FIELD_location_type, 1);
            if (moved->field != SOMA_FIELD_COUNT)
                soma_command_set(&command, moved->field, moved->value);
            CU_ASSERT_FATAL(soma_batch_add(&batch, &command));
        }
        CU_ASSERT_FATAL(soma_batch_finish(&batch, 0, 0, &body) &&
                        soma_batch_open(&reader, body.ptr, body.len, &error) == SOMA_OK);
        EXPECT(soma_batch_moves(&reader, LIMIT) == rows[i].moves, "%s", rows[i].what);
        reader.records_end = reader.at + 7; /* cut: no more than can be read */
        EXPECT(!soma_batch_moves(&reader, LIMIT), "%s, cut", rows[i].what);
        soma_batch_writer_release(&batch);
        soma_writer_release(&body);
    }
}

static const struct soma_test tests[] = {
    {"commands round trip, as in JSON", test_commands_round_trip},
    {"half a location", test_half_a_location},
    {"many commands", test_many_commands},
    {"requests cut at every byte", test_cut_at_every_byte},
    {"flipped bits", test_flipped_bits},
    {"headers", test_bad_headers},
    {"refused values keep their frame", test_refused_values},
    {"texts", test_refused_texts},
    {"kernel arguments", test_refused_arguments},
    {"limits", test_limits},
    {"out of memory", test_out_of_memory},
    {"how much a batch moves", test_moves},
    {"messages round trip", test_messages_round_trip},
    {"errors round trip", test_errors_round_trip},
    {"broken answers", test_broken_answers},
    {"an error of the future", test_error_of_the_future},
    {NULL, NULL},
};

const struct soma_suite suite_batch = {"batch", tests};
