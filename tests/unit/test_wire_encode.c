/* Commands, answers and errors as text, and back: every row of the tables, with random values. */
#include "decode.h"
#include "expect.h"
#include "fault.h"
#include "random.h"
#include "sample.h"
#include "suites.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200

static bool writer_is(const struct soma_writer *writer, const char *text)
{
    return !writer->failed && writer->len == strlen(text) &&
           memcmp(writer->ptr, text, writer->len) == 0;
}

/* ---- commands ---- */

static void check_command_round_trip(struct random_source *source, enum soma_op op)
{
    struct wire_arena arena;
    struct soma_writer writer;
    struct soma_command sent, received;
    struct soma_error error = {.message = ""};
    wire_arena_init(&arena);
    soma_writer_init(&writer, 1 << 20);
    sample_command(source, op, &arena, &sent);
    wire_encode_command(&writer, &sent);
    soma_command_init(&received, op);
    enum soma_status status = decode_text(writer.ptr, writer.len, true, &arena, &received, &error);
    EXPECT(status == SOMA_OK && sample_same_command(&sent, &received), "%.*s: %s", (int)writer.len,
           writer.ptr, error.message);
    soma_writer_release(&writer);
    wire_arena_release(&arena);
}

static void test_commands_round_trip(void)
{
    struct random_source source = {1};
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        for (int round = 0; round < ROUNDS; round++)
            check_command_round_trip(&source, (enum soma_op)op);
    }
}

static void check_command(const struct soma_command *command, const char *text)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 16);
    wire_encode_command(&writer, command);
    EXPECT(writer_is(&writer, text), "%.*s, not %s", (int)writer.len, writer.ptr, text);
    soma_writer_release(&writer);
}

static void test_command_texts(void)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_DEVICE_LIST);
    check_command(&command, "{\"op\":\"device.list\"}");
    soma_command_init(&command, SOMA_OP_POOL_MALLOC);
    soma_command_set(&command, SOMA_FIELD_size, 4194304);
    soma_command_set(&command, SOMA_FIELD_pool, UINT64_C(1) << 53);
    check_command(&command,
                  "{\"op\":\"pool.malloc\",\"pool\":\"9007199254740992\",\"size\":4194304}");
    soma_command_init(&command, SOMA_OP_POOL_FREE);
    soma_command_set(&command, SOMA_FIELD_ptr, UINT64_C(0x12c0c0000000));
    check_command(&command, "{\"op\":\"pool.free\",\"ptr\":\"0x12c0c0000000\"}");
    soma_command_init(&command, SOMA_OP_STREAM_SYNCHRONIZE);
    soma_command_set(&command, SOMA_FIELD_timeout_ms, UINT64_MAX);
    check_command(&command, "{\"op\":\"stream.synchronize\",\"timeoutMs\":-1}");
    soma_command_init(&command, SOMA_OP_POOL_CREATE);
    soma_command_set(&command, SOMA_FIELD_location_id, 3);
    check_command(&command, "{\"op\":\"pool.create\",\"location\":{\"id\":3}}");
}

/* Numbers of an enumeration that have no word are sent so that the other side refuses them as it
 * should. */
static void test_numbers_without_word(void)
{
    static const struct {
        enum soma_op op;
        enum soma_field field;
        enum soma_status status;
    } rows[] = {
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_alloc_type, SOMA_UNSUPPORTED_ALLOC_TYPE},
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_handle_type, SOMA_INVALID_VALUE},
        {SOMA_OP_POOL_CREATE, SOMA_FIELD_location_type, SOMA_UNSUPPORTED_LOCATION},
        {SOMA_OP_POOL_GET_ATTRIBUTE, SOMA_FIELD_attribute, SOMA_UNKNOWN_ATTRIBUTE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_command command;
        struct soma_error error;
        struct soma_writer writer;
        struct wire_arena arena;
        wire_arena_init(&arena);
        soma_writer_init(&writer, 1 << 16);
        soma_command_init(&command, rows[i].op);
        soma_command_set(&command, rows[i].field, i == 0 ? UINT64_MAX : 99);
        wire_encode_command(&writer, &command);
        enum soma_status status =
            decode_text(writer.ptr, writer.len, true, &arena, &command, &error);
        EXPECT(status == rows[i].status, "%.*s gives %s", (int)writer.len, writer.ptr,
               soma_status_reason(status));
        wire_arena_release(&arena);
        soma_writer_release(&writer);
    }
}

/* What JSON cannot say goes as the integer of the same bytes. */
static void test_floats_not_finite(void)
{
    static const struct {
        struct soma_kernel_arg arg;
        const char *text;
    } rows[] = {
        {{SOMA_ARG_F16, 0x7c00, {NULL, 0}}, "{\"u16\":31744}"},
        {{SOMA_ARG_F16, 0xfe01, {NULL, 0}}, "{\"u16\":65025}"},
        {{SOMA_ARG_F32, 0x7fc00001, {NULL, 0}}, "{\"u32\":2143289345}"},
        {{SOMA_ARG_F64, UINT64_C(0xfff0000000000000), {NULL, 0}},
         "{\"u64\":\"18442240474082181120\"}"},
        {{SOMA_ARG_F16, 0x0001, {NULL, 0}}, "{\"f16\":5.9604644775390625e-08}"},
        {{SOMA_ARG_F32, 0x3dcccccd, {NULL, 0}}, "{\"f32\":0.10000000149011612}"},
        {{SOMA_ARG_F64, UINT64_C(0x3fb999999999999a), {NULL, 0}}, "{\"f64\":0.1}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        struct soma_command command;
        soma_command_init(&command, SOMA_OP_STREAM_LAUNCH_KERNEL);
        command.args = (struct soma_kernel_args){&rows[i].arg, 1};
        command.present = SOMA_HAS(args);
        (void)snprintf(text, sizeof(text), "{\"op\":\"stream.launchKernel\",\"args\":[%s]}",
                       rows[i].text);
        check_command(&command, text);
    }
}

/* ---- answers ---- */

static void check_message_round_trip(struct random_source *source, enum soma_message message)
{
    struct soma_result sent, received;
    struct soma_writer first, second;
    struct soma_error error = {.message = ""};
    cJSON *root = NULL;
    soma_writer_init(&first, 1 << 20);
    soma_writer_init(&second, 1 << 20);
    sample_result(source, message, &sent);
    wire_encode_result(&first, &sent);
    enum soma_status status = wire_parse(first.ptr, first.len, &root, &error);
    if (status == SOMA_OK)
        status = wire_decode_result(root, message, &received, &error);
    if (EXPECT(status == SOMA_OK, "%.*s: %s", (int)first.len, first.ptr, error.message)) {
        wire_encode_result(&second, &received);
        EXPECT(second.len == first.len && memcmp(second.ptr, first.ptr, first.len) == 0,
               "%.*s becomes %.*s", (int)first.len, first.ptr, (int)second.len, second.ptr);
        sample_release(&received);
    }
    sample_release(&sent);
    cJSON_Delete(root);
    soma_writer_release(&first);
    soma_writer_release(&second);
}

static void test_messages_round_trip(void)
{
    struct random_source source = {2};
    for (int message = SOMA_MESSAGE_NONE; message < SOMA_MESSAGE_COUNT; message++) {
        for (int round = 0; round < ROUNDS; round++)
            check_message_round_trip(&source, (enum soma_message)message);
    }
}

static void check_result(const struct soma_result *result, const char *text)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 16);
    wire_encode_result(&writer, result);
    EXPECT(writer_is(&writer, text), "%.*s, not %s", (int)writer.len, writer.ptr, text);
    soma_writer_release(&writer);
}

static void test_message_texts(void)
{
    struct soma_result none = {.message = SOMA_MESSAGE_NONE};
    check_result(&none, "{}");
    struct soma_result block = {.message = SOMA_MESSAGE_POOL_BLOCK,
                                .u.pool_block = {.ptr = UINT64_C(0x12c0c0000000),
                                                 .size = 4194304,
                                                 .requested_size = 4194303,
                                                 .reuse = SOMA_REUSE_SAME_STREAM}};
    check_result(&block, "{\"ptr\":\"0x12c0c0000000\",\"size\":4194304,\"requestedSize\":4194303,"
                         "\"reuse\":\"SAME_STREAM\"}");
    struct soma_result stream = {.message = SOMA_MESSAGE_STREAM,
                                 .u.stream = {.stream = 1, .ready_at_ns = SOMA_NONE}};
    check_result(&stream, "{\"stream\":1,\"device\":0,\"priority\":0,\"status\":\"COMPLETE\","
                          "\"readyAtNs\":null,\"pendingTasks\":0,"
                          "\"failureMode\":\"CONTINUE\",\"stopped\":false}");
    struct soma_result described = {.message = SOMA_MESSAGE_MEMORY_DESCRIPTION,
                                    .u.memory_description = {.kind = SOMA_MEMORY_KIND_DEVICE,
                                                             .pool = SOMA_NONE,
                                                             .size = 64,
                                                             .state = SOMA_BLOCK_STATE_BUSY}};
    check_result(&described, "{\"kind\":\"DEVICE\",\"base\":\"0x0\",\"size\":64,\"offset\":0,"
                             "\"state\":\"BUSY\"}");
    struct soma_result elapsed = {.message = SOMA_MESSAGE_ELAPSED, .u.elapsed = {-0.001}};
    check_result(&elapsed, "{\"elapsedMs\":-0.001}");
    elapsed.u.elapsed.elapsed_ms = 0.1 + 0.2;
    check_result(&elapsed, "{\"elapsedMs\":0.30000000000000004}");
    elapsed.u.elapsed.elapsed_ms = strtod("inf", NULL);
    check_result(&elapsed, "{\"elapsedMs\":null}");
    struct soma_result list = {.message = SOMA_MESSAGE_SEGMENT_LIST};
    check_result(&list, "{\"segments\":[]}");
}

/* ---- errors ---- */

static void test_error_text(void)
{
    struct soma_error error;
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 16);
    (void)soma_fail(&error, SOMA_POOL_SIZE_EXCEEDS_DEVICE, "maxSize", "maxSize \"99 GiB\"");
    wire_encode_error(&writer, &error);
    EXPECT(writer_is(&writer,
                     "{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\","
                     "\"message\":\"maxSize \\\"99 GiB\\\"\",\"details\":[{\"reason\":"
                     "\"POOL_SIZE_EXCEEDS_DEVICE\",\"field\":\"maxSize\",\"aclError\":107000}]}}"),
           "%.*s", (int)writer.len, writer.ptr);
    soma_writer_clear(&writer);
    (void)soma_fail(&error, SOMA_NO_SUCH_ROUTE, "", "%s", "");
    wire_encode_error(&writer, &error);
    EXPECT(writer_is(&writer, "{\"error\":{\"code\":404,\"status\":\"NOT_FOUND\",\"message\":"
                              "\"no route has this path\",\"details\":[{\"reason\":"
                              "\"NO_SUCH_ROUTE\",\"aclError\":100000}]}}"),
           "%.*s", (int)writer.len, writer.ptr);
    soma_writer_release(&writer);
}

static void test_created_values(void)
{
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        struct random_source source = {(uint64_t)op};
        struct soma_result result;
        uint64_t value = 0;
        sample_result(&source, (enum soma_message)info->result, &result);
        bool creates = wire_creates((enum soma_op)op);
        EXPECT(wire_created_value((enum soma_op)op, &result, &value) == creates, "%s", info->name);
        EXPECT(creates || info->http != 201, "%s creates something", info->name);
        sample_release(&result);
    }
    uint64_t value = 0;
    struct soma_result block = {.message = SOMA_MESSAGE_POOL_BLOCK, .u.pool_block = {.ptr = 77}};
    EXPECT(wire_created_value(SOMA_OP_POOL_MALLOC, &block, &value) && value == 77, "ptr");
    struct soma_result pipe = {.message = SOMA_MESSAGE_PIPE, .u.pipe = {.pipe = 5}};
    EXPECT(wire_created_value(SOMA_OP_PIPE_CREATE, &pipe, &value) && value == 5, "pipe");
    EXPECT(!wire_created_value(SOMA_OP_PIPE_DESCRIBE, &pipe, &value), "describe creates nothing");
}

/* With every limit of the writer short of the whole, it fails and holds only a beginning. */
static void test_writer_limits(void)
{
    struct random_source source = {3};
    struct soma_result result;
    struct soma_writer whole;
    soma_writer_init(&whole, 1 << 20);
    sample_result(&source, SOMA_MESSAGE_LAYOUT, &result);
    wire_encode_result(&whole, &result);
    for (size_t max = 0; max <= whole.len; max++) {
        struct soma_writer writer;
        soma_writer_init(&writer, max);
        wire_encode_result(&writer, &result);
        EXPECT(writer.failed == (max < whole.len) && writer.len <= max, "max %zu", max);
        soma_writer_release(&writer);
    }
    sample_release(&result);
    soma_writer_release(&whole);
}

static void test_out_of_memory(void)
{
    struct random_source source = {4};
    struct soma_result result;
    sample_result(&source, SOMA_MESSAGE_LAYOUT, &result);
    for (long fail_at = 1;; fail_at++) {
        struct soma_writer writer;
        soma_writer_init(&writer, 1 << 20);
        fault_begin(fail_at);
        wire_encode_result(&writer, &result);
        bool failed = fault_end() >= fail_at;
        EXPECT(writer.failed == failed, "allocation %ld", fail_at);
        soma_writer_release(&writer);
        if (!failed)
            break;
    }
    sample_release(&result);
}

static const struct soma_test tests[] = {
    {"commands round trip", test_commands_round_trip},
    {"commands as text", test_command_texts},
    {"numbers without a word", test_numbers_without_word},
    {"floats", test_floats_not_finite},
    {"messages round trip", test_messages_round_trip},
    {"messages as text", test_message_texts},
    {"errors as text", test_error_text},
    {"what a command creates", test_created_values},
    {"writer limits", test_writer_limits},
    {"out of memory", test_out_of_memory},
    {NULL, NULL},
};

const struct soma_suite suite_wire_encode = {"wire_encode", tests};
