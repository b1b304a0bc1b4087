/* JSON objects and path texts to commands: what every kind of field takes and refuses, by name. */
#include "expect.h"
#include "fault.h"
#include "suites.h"
#include "wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One body decoded. */
struct decoded {
    enum soma_status status;
    struct soma_command command;
    struct soma_error error;
    struct wire_arena arena;
    struct wire_tree tree;
};

static const struct soma_op_info *must_find(const char *op)
{
    const struct soma_op_info *info = soma_op_find(op, strlen(op));
    if (info == NULL)
        abort();
    return info;
}

/* Decode body as the op's body: of its single route, with path and query fields set to 1, or of a
 * batch. */
static void decode(struct decoded *decoded, const char *op, const char *body, bool in_batch,
                   const struct wire_names *names)
{
    const struct soma_op_info *info = must_find(op);
    memset(decoded, 0, sizeof(*decoded));
    wire_arena_init(&decoded->arena);
    wire_tree_init(&decoded->tree);
    soma_command_init(&decoded->command, info->op);
    for (size_t i = 0; i < info->field_count && !in_batch; i++) {
        if (info->fields[i].where != SOMA_WHERE_BODY)
            soma_command_set(&decoded->command, info->fields[i].field, 1);
    }
    decoded->status =
        wire_read(body, strlen(body), &decoded->arena, &decoded->tree, &decoded->error);
    if (decoded->status == SOMA_OK)
        decoded->status = wire_decode_command(decoded->tree.values, in_batch, names,
                                              &decoded->arena, &decoded->command, &decoded->error);
}

static void decoded_release(struct decoded *decoded)
{
    wire_tree_release(&decoded->tree);
    wire_arena_release(&decoded->arena);
}

/* ---- refusals ---- */

struct refusal {
    const char *op, *body;
    enum soma_status status;
    const char *field;
};

static void check_refusal(const struct refusal *row, bool in_batch)
{
    struct decoded decoded;
    decode(&decoded, row->op, row->body, in_batch, NULL);
    EXPECT(decoded.status == row->status, "%s %s gives %s: %s", row->op, row->body,
           decoded.status == SOMA_OK ? "OK" : soma_status_reason(decoded.status),
           decoded.error.message);
    if (decoded.status != SOMA_OK) {
        EXPECT(same_words(decoded.error.field, row->field), "%s %s blames \"%s\": %s", row->op,
               row->body, decoded.error.field, decoded.error.message);
        EXPECT(strlen(decoded.error.message) > 10, "%s %s", row->op, row->body);
    }
    decoded_release(&decoded);
}

#define CHECK_REFUSALS(rows, in_batch)                                                             \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
    check_refusal(&(rows)[i], (in_batch))

static void test_shape(void)
{
    static const struct refusal rows[] = {
        {"pool.malloc", "[]", SOMA_WRONG_TYPE, ""},
        {"pool.malloc", "null", SOMA_WRONG_TYPE, ""},
        {"pool.malloc", "\"x\"", SOMA_WRONG_TYPE, ""},
        {"pool.malloc", "1", SOMA_WRONG_TYPE, ""},
        {"pool.malloc", "", SOMA_MISSING_FIELD, "size"},
        {"pool.malloc", "{}", SOMA_MISSING_FIELD, "size"},
        {"pool.malloc", "{\"stream\":1}", SOMA_MISSING_FIELD, "size"},
        {"pool.malloc", "{\"size\":1,\"sizes\":1}", SOMA_UNKNOWN_FIELD, "sizes"},
        {"pool.malloc", "{\"size\":1,\"Size\":1}", SOMA_UNKNOWN_FIELD, "Size"},
        {"pool.malloc", "{\"size\":1,\"\":1}", SOMA_UNKNOWN_FIELD, ""},
        {"pool.malloc", "{\"size\":1,\"pool\":1}", SOMA_UNKNOWN_FIELD, "pool"},
        {"pool.malloc", "{\"size\":1,\"device\":0}", SOMA_UNKNOWN_FIELD, "device"},
        {"pool.malloc", "{\"size\":1,\"op\":\"pool.malloc\"}", SOMA_UNKNOWN_FIELD, "op"},
        {"pool.malloc", "{\"size\":1,\"as\":\"a\"}", SOMA_UNKNOWN_FIELD, "as"},
        {"pool.malloc", "{\"size\":1,\"ptr\":1}", SOMA_UNKNOWN_FIELD, "ptr"},
        {"memory.read", "{\"size\":1}", SOMA_UNKNOWN_FIELD, "size"},
        {"stream.launchKernel", "{\"kernel\":\"k\"}", SOMA_MISSING_FIELD, "args"},
        {"device.list", "{\"device\":1}", SOMA_UNKNOWN_FIELD, "device"},
        {"pool.malloc", "{\"size\":1}", SOMA_OK, ""},
        {"device.list", "", SOMA_OK, ""},
    };
    CHECK_REFUSALS(rows, false);
}

static void test_numbers_refused(void)
{
    static const struct refusal rows[] = {
        {"pool.malloc", "{\"size\":1,\"stream\":-1}", SOMA_VALUE_OUT_OF_RANGE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":null}", SOMA_WRONG_TYPE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":true}", SOMA_WRONG_TYPE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":{}}", SOMA_WRONG_TYPE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":[1]}", SOMA_WRONG_TYPE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"01\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\" 1\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"1 \"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"+1\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"-1\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"1.0\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"1e3\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"0x1\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"1KiB\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"$s\"}", SOMA_INVALID_VALUE, "stream"},
        {"pool.malloc", "{\"size\":1,\"stream\":\"18446744073709551616\"}", SOMA_VALUE_OUT_OF_RANGE,
         "stream"},
        {"pool.malloc", "{\"size\":-5}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"memory.set", "{\"ptr\":1,\"size\":1,\"value\":256}", SOMA_VALUE_OUT_OF_RANGE, "value"},
        {"memory.set", "{\"ptr\":1,\"size\":1,\"value\":\"256\"}", SOMA_VALUE_OUT_OF_RANGE,
         "value"},
        {"stream.create", "{\"priority\":4294967296}", SOMA_VALUE_OUT_OF_RANGE, "priority"},
        {"stream.launchKernel", "{\"kernel\":\"k\",\"args\":[],\"blockDim\":0}",
         SOMA_VALUE_OUT_OF_RANGE, "blockDim"},
        {"stream.launchKernel", "{\"kernel\":\"k\",\"args\":[],\"blockDim\":65536}",
         SOMA_VALUE_OUT_OF_RANGE, "blockDim"},
        {"stream.delay", "{\"durationNs\":1000000000000001}", SOMA_VALUE_OUT_OF_RANGE,
         "durationNs"},
        {"stream.synchronize", "{\"timeoutMs\":-2}", SOMA_VALUE_OUT_OF_RANGE, "timeoutMs"},
        {"stream.synchronize", "{\"timeoutMs\":\"-2\"}", SOMA_INVALID_VALUE, "timeoutMs"},
        {"stream.synchronize", "{\"timeoutMs\":2147483648}", SOMA_VALUE_OUT_OF_RANGE, "timeoutMs"},
    };
    CHECK_REFUSALS(rows, false);
}

static void test_byte_counts_refused(void)
{
    static const struct refusal rows[] = {
        {"pool.malloc", "{\"size\":\"\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"KiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1 KiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1KiB \"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"01KiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1kib\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1KB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1K\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1PiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"1.5GiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"-1GiB\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"0x10\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"$a\"}", SOMA_INVALID_VALUE, "size"},
        {"pool.malloc", "{\"size\":\"16777216TiB\"}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"pool.malloc", "{\"size\":\"18014398509481984KiB\"}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"pool.malloc", "{\"size\":\"99999999999999999999\"}", SOMA_VALUE_OUT_OF_RANGE, "size"},
    };
    CHECK_REFUSALS(rows, false);
}

static void test_addresses_refused(void)
{
    static const struct refusal rows[] = {
        {"pool.free", "{\"ptr\":\"\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"0x\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"0X10\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"x10\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"0xg\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"ff\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\" 0x10\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"0x10 \"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"-0x10\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"010\"}", SOMA_INVALID_VALUE, "ptr"},
        {"pool.free", "{\"ptr\":\"0x11112222333344445\"}", SOMA_VALUE_OUT_OF_RANGE, "ptr"},
        {"pool.free", "{\"ptr\":\"18446744073709551616\"}", SOMA_VALUE_OUT_OF_RANGE, "ptr"},
        {"pool.free", "{\"ptr\":-1}", SOMA_VALUE_OUT_OF_RANGE, "ptr"},
        {"pool.free", "{\"ptr\":false}", SOMA_WRONG_TYPE, "ptr"},
    };
    CHECK_REFUSALS(rows, false);
}

static void test_words_refused(void)
{
    static const struct refusal rows[] = {
        {"event.create", "{\"kind\":\"ex\"}", SOMA_INVALID_VALUE, "kind"},
        {"event.create", "{\"kind\":\"\"}", SOMA_INVALID_VALUE, "kind"},
        {"event.create", "{\"kind\":0}", SOMA_WRONG_TYPE, "kind"},
        {"event.create", "{\"kind\":null}", SOMA_WRONG_TYPE, "kind"},
        {"pool.create", "{\"allocType\":\"MANAGED\"}", SOMA_UNSUPPORTED_ALLOC_TYPE, "allocType"},
        {"pool.create", "{\"handleType\":\"WIN32\"}", SOMA_INVALID_VALUE, "handleType"},
        {"pipe.createTBuf", "{\"position\":\"VECIN \"}", SOMA_INVALID_VALUE, "position"},
        {"pipe.tbufGet", "{\"dtype\":\"INT8\"}", SOMA_INVALID_VALUE, "dtype"},
        {"pipe.create", "{\"checks\":\"none\"}", SOMA_INVALID_VALUE, "checks"},
        {"pool.create", "{\"location\":\"DEVICE\"}", SOMA_WRONG_TYPE, "location"},
        {"pool.create", "{\"location\":null}", SOMA_WRONG_TYPE, "location"},
        {"pool.create", "{\"location\":{\"type\":1}}", SOMA_WRONG_TYPE, "location.type"},
        {"pool.create", "{\"location\":{\"type\":\"MOON\"}}", SOMA_UNSUPPORTED_LOCATION,
         "location.type"},
        {"pool.create", "{\"location\":{\"id\":\"x\"}}", SOMA_INVALID_VALUE, "location.id"},
        {"pool.create", "{\"location\":{\"id\":-1}}", SOMA_VALUE_OUT_OF_RANGE, "location.id"},
        {"pool.create", "{\"location\":{\"name\":1}}", SOMA_UNKNOWN_FIELD, "location.name"},
        {"pool.create", "{\"location.id\":1}", SOMA_UNKNOWN_FIELD, "location.id"},
    };
    CHECK_REFUSALS(rows, false);
}

static void test_strings_refused(void)
{
    static const struct refusal rows[] = {
        {"pipe.create", "{\"soc\":1}", SOMA_WRONG_TYPE, "soc"},
        {"pipe.create",
         "{\"soc\":\"0123456789012345678901234567890123456789012345678901234567890123\"}", SOMA_OK,
         ""},
        {"pipe.create",
         "{\"soc\":\"01234567890123456789012345678901234567890123456789012345678901234\"}",
         SOMA_VALUE_OUT_OF_RANGE, "soc"},
        {"memory.write", "{\"base64\":7}", SOMA_WRONG_TYPE, "base64"},
        {"memory.write", "{\"base64\":\"A\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AA\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AAA\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AA=\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"A===\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"====\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AA=A\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AA==AAAA\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AAAA\\nAAAA\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AA-_\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AB==\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"AAB=\"}", SOMA_INVALID_VALUE, "base64"},
        {"memory.write",
         "{\"base64\":\"\xc3\xa9"
         "AA\"}",
         SOMA_INVALID_VALUE, "base64"},
        {"memory.write", "{\"base64\":\"\"}", SOMA_OK, ""},
        {"memory.write", "{\"base64\":\"AA==\"}", SOMA_OK, ""},
        {"memory.write", "{\"base64\":\"AAA=\"}", SOMA_OK, ""},
        {"memory.write", "{\"base64\":\"Az+/\"}", SOMA_OK, ""},
    };
    CHECK_REFUSALS(rows, false);
}

#define LAUNCH(args) "{\"kernel\":\"k\",\"args\":" args "}"
#define ARG_OP "stream.launchKernel"

static void test_args_refused(void)
{
    static const struct refusal rows[] = {
        {ARG_OP, LAUNCH("{}"), SOMA_WRONG_TYPE, "args"},
        {ARG_OP, LAUNCH("null"), SOMA_WRONG_TYPE, "args"},
        {ARG_OP, LAUNCH("[1]"), SOMA_WRONG_TYPE, "args[0]"},
        {ARG_OP, LAUNCH("[{}]"), SOMA_INVALID_VALUE, "args[0]"},
        {ARG_OP, LAUNCH("[{\"u8\":1},{\"u8\":1,\"u16\":2}]"), SOMA_INVALID_VALUE, "args[1]"},
        {ARG_OP, LAUNCH("[{\"u128\":1}]"), SOMA_UNKNOWN_FIELD, "args[0]"},
        {ARG_OP, LAUNCH("[{\"u8\":256}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].u8"},
        {ARG_OP, LAUNCH("[{\"u16\":65536}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].u16"},
        {ARG_OP, LAUNCH("[{\"u32\":4294967296}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].u32"},
        {ARG_OP, LAUNCH("[{\"u64\":\"18446744073709551616\"}]"), SOMA_VALUE_OUT_OF_RANGE,
         "args[0].u64"},
        {ARG_OP, LAUNCH("[{\"u32\":-1}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].u32"},
        {ARG_OP, LAUNCH("[{\"u32\":\"1KiB\"}]"), SOMA_INVALID_VALUE, "args[0].u32"},
        {ARG_OP, LAUNCH("[{\"i32\":2147483648}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].i32"},
        {ARG_OP, LAUNCH("[{\"i32\":-2147483649}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].i32"},
        {ARG_OP, LAUNCH("[{\"i64\":\"9223372036854775808\"}]"), SOMA_VALUE_OUT_OF_RANGE,
         "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":\"-9223372036854775809\"}]"), SOMA_VALUE_OUT_OF_RANGE,
         "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":\"--1\"}]"), SOMA_INVALID_VALUE, "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":\"-\"}]"), SOMA_INVALID_VALUE, "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":\"-0\"}]"), SOMA_INVALID_VALUE, "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":\"-01\"}]"), SOMA_INVALID_VALUE, "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"i64\":true}]"), SOMA_WRONG_TYPE, "args[0].i64"},
        {ARG_OP, LAUNCH("[{\"ptr\":\"0xZ\"}]"), SOMA_INVALID_VALUE, "args[0].ptr"},
        {ARG_OP, LAUNCH("[{\"f32\":\"1\"}]"), SOMA_WRONG_TYPE, "args[0].f32"},
        {ARG_OP, LAUNCH("[{\"f16\":65520}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].f16"},
        {ARG_OP, LAUNCH("[{\"f16\":-1e9}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].f16"},
        {ARG_OP, LAUNCH("[{\"f32\":3.4028235677973366e38}]"), SOMA_VALUE_OUT_OF_RANGE,
         "args[0].f32"},
        {ARG_OP, LAUNCH("[{\"f32\":-1e39}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].f32"},
        {ARG_OP, LAUNCH("[{\"f64\":1e309}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].f64"},
        {ARG_OP, LAUNCH("[{\"f32\":1e999}]"), SOMA_VALUE_OUT_OF_RANGE, "args[0].f32"},
        {ARG_OP, LAUNCH("[{\"base64\":\"A\"}]"), SOMA_INVALID_VALUE, "args[0].base64"},
        {ARG_OP, LAUNCH("[{\"base64\":1}]"), SOMA_WRONG_TYPE, "args[0].base64"},
    };
    CHECK_REFUSALS(rows, false);
    CHECK_REFUSALS(rows, true);
}

static void test_args_count(void)
{
    char body[2048] = "{\"kernel\":\"k\",\"args\":[";
    size_t len = strlen(body);
    for (int i = 0; i < 65; i++, len += 9)
        memcpy(body + len, "{\"u8\":1},", 9);
    memcpy(body + len - 1, "]}", 3);
    check_refusal(&(struct refusal){ARG_OP, body, SOMA_VALUE_OUT_OF_RANGE, "args"}, false);
    memcpy(strrchr(body, ','), "]}", 3);
    check_refusal(&(struct refusal){ARG_OP, body, SOMA_OK, ""}, false);
}

static void test_batch_refused(void)
{
    static const struct refusal rows[] = {
        {"pool.malloc", "{\"op\":\"pool.malloc\",\"size\":1}", SOMA_MISSING_FIELD, "pool"},
        {"pool.malloc", "{\"size\":1,\"pool\":\"$p\"}", SOMA_UNKNOWN_NAME, "pool"},
        {"pool.malloc", "{\"size\":1,\"pool\":\"$\"}", SOMA_UNKNOWN_NAME, "pool"},
        {"pool.malloc", "{\"size\":\"$a\",\"pool\":1}", SOMA_INVALID_VALUE, "size"},
        {"pool.free", "{\"ptr\":\"$a\",\"pool\":1}", SOMA_UNKNOWN_NAME, "ptr"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"device\":\"$d\"}", SOMA_INVALID_VALUE, "device"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"device\":64}", SOMA_NO_SUCH_DEVICE, "device"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"device\":-1}", SOMA_NO_SUCH_DEVICE, "device"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"as\":1}", SOMA_WRONG_TYPE, "as"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"as\":\"\"}", SOMA_INVALID_VALUE, "as"},
        {"pool.malloc",
         "{\"size\":1,\"pool\":1,"
         "\"as\":\"01234567890123456789012345678901234567890123456789012345678901234\"}",
         SOMA_INVALID_VALUE, "as"},
        {"pool.free", "{\"ptr\":1,\"pool\":1,\"as\":\"a\"}", SOMA_INVALID_VALUE, "as"},
        {"pool.getAttribute", "{\"pool\":1,\"name\":\"nope\"}", SOMA_UNKNOWN_ATTRIBUTE, "name"},
        {"pipe.createTQue", "{\"pipe\":1,\"position\":\"VECIN\",\"name\":1}", SOMA_WRONG_TYPE,
         "name"},
        {"device.get", "{\"op\":\"device.get\",\"devices\":1}", SOMA_UNKNOWN_FIELD, "devices"},
        {"device.get", "{\"op\":\"device.get\"}", SOMA_OK, ""},
        {"device.list", "{\"op\":\"device.list\"}", SOMA_OK, ""},
        {"device.list", "{\"device\":0}", SOMA_UNKNOWN_FIELD, "device"},
        {"pool.malloc", "{\"size\":1,\"pool\":1,\"as\":\"a\"}", SOMA_OK, ""},
    };
    CHECK_REFUSALS(rows, true);
}

/* A number that is marked in a batch is refused like one of a single body. */
static void test_marked_numbers(void)
{
    static const struct refusal rows[] = {
        {"pool.malloc", "{\"commands\":[{\"pool\":1,\"size\":1.5}]}", SOMA_WRONG_TYPE, "size"},
        {"pool.malloc", "{\"commands\":[{\"pool\":1,\"size\":9007199254740993}]}",
         SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"pool.create", "{\"commands\":[{\"location\":{\"id\":1e0}}]}", SOMA_WRONG_TYPE,
         "location.id"},
        {ARG_OP, "{\"commands\":[{\"stream\":1,\"kernel\":\"k\",\"args\":[{\"i32\":1.5}]}]}",
         SOMA_WRONG_TYPE, "args[0].i32"},
        {"pipe.create", "{\"commands\":[{\"soc\":1.5}]}", SOMA_WRONG_TYPE, "soc"},
        {"pipe.create", "{\"commands\":[{\"sock\":1.5}]}", SOMA_UNKNOWN_FIELD, "sock"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_error error;
        struct soma_command command;
        struct wire_arena arena;
        struct wire_tree tree;
        wire_arena_init(&arena);
        wire_tree_init(&tree);
        soma_command_init(&command, must_find(rows[i].op)->op);
        if (EXPECT(wire_read(rows[i].body, strlen(rows[i].body), &arena, &tree, &error) == SOMA_OK,
                   "%s", error.message)) {
            const struct wire_value *element = wire_first(wire_first(tree.values));
            enum soma_status status =
                wire_decode_command(element, true, NULL, &arena, &command, &error);
            EXPECT(status == rows[i].status && same_words(error.field, rows[i].field),
                   "%s gives %s: %s", rows[i].body, soma_status_reason(status), error.message);
        }
        wire_tree_release(&tree);
        wire_arena_release(&arena);
    }
}

/* ---- what is understood ---- */

struct reading {
    const char *op, *body;
    enum soma_field field;
    uint64_t value;
};

static const struct reading readings[] = {
    {"pool.malloc", "{\"size\":0}", SOMA_FIELD_size, 0},
    {"pool.malloc", "{\"size\":-0}", SOMA_FIELD_size, 0},
    {"pool.malloc", "{\"size\":9007199254740991}", SOMA_FIELD_size, SOMA_JSON_INTEGER_MAX},
    {"pool.malloc", "{\"size\":\"9007199254740993\"}", SOMA_FIELD_size, UINT64_C(9007199254740993)},
    {"pool.malloc", "{\"size\":\"18446744073709551615\"}", SOMA_FIELD_size, UINT64_MAX},
    {"pool.malloc", "{\"size\":\"0\"}", SOMA_FIELD_size, 0},
    {"pool.malloc", "{\"size\":\"0KiB\"}", SOMA_FIELD_size, 0},
    {"pool.malloc", "{\"size\":\"3KiB\"}", SOMA_FIELD_size, 3072},
    {"pool.malloc", "{\"size\":\"4MiB\"}", SOMA_FIELD_size, 4194304},
    {"pool.malloc", "{\"size\":\"14GiB\"}", SOMA_FIELD_size, UINT64_C(15032385536)},
    {"pool.malloc", "{\"size\":\"16777215TiB\"}", SOMA_FIELD_size, UINT64_C(0xffffff0000000000)},
    {"pool.malloc", "{\"size\":\"\\u0034\"}", SOMA_FIELD_size, 4},
    {"pool.malloc", "{\"size\":1,\"stream\":\"18446744073709551615\"}", SOMA_FIELD_stream,
     UINT64_MAX},
    {"pool.malloc", "{\"size\":1}", SOMA_FIELD_stream, 0},
    {"pool.free", "{\"ptr\":\"0x12c0c0000000\"}", SOMA_FIELD_ptr, UINT64_C(0x12c0c0000000)},
    {"pool.free", "{\"ptr\":\"0xFFffFFffFFffFFff\"}", SOMA_FIELD_ptr, UINT64_MAX},
    {"pool.free", "{\"ptr\":\"0x000012c0c0000000\"}", SOMA_FIELD_ptr, UINT64_C(0x12c0c0000000)},
    {"pool.free", "{\"ptr\":\"4096\"}", SOMA_FIELD_ptr, 4096},
    {"pool.free", "{\"ptr\":4096}", SOMA_FIELD_ptr, 4096},
    {"stream.synchronize", "{}", SOMA_FIELD_timeout_ms, UINT64_MAX},
    {"stream.synchronize", "{\"timeoutMs\":-1}", SOMA_FIELD_timeout_ms, UINT64_MAX},
    {"stream.synchronize", "{\"timeoutMs\":\"-1\"}", SOMA_FIELD_timeout_ms, UINT64_MAX},
    {"stream.synchronize", "{\"timeoutMs\":0}", SOMA_FIELD_timeout_ms, 0},
    {"stream.synchronize", "{\"timeoutMs\":\"250\"}", SOMA_FIELD_timeout_ms, 250},
    {"event.create", "{}", SOMA_FIELD_kind, SOMA_EVENT_KIND_EX},
    {"event.create", "{\"kind\":\"PLAIN\"}", SOMA_FIELD_kind, SOMA_EVENT_KIND_PLAIN},
    {"pool.create", "{\"handleType\":\"ACL_MEM_HANDLE_TYPE_POSIX\"}", SOMA_FIELD_handle_type,
     SOMA_HANDLE_TYPE_POSIX},
    {"pool.create", "{}", SOMA_FIELD_location_type, SOMA_LOCATION_TYPE_DEVICE},
    {"pool.create", "{\"location\":{}}", SOMA_FIELD_location_type, SOMA_LOCATION_TYPE_DEVICE},
    {"pool.create", "{\"location\":{}}", SOMA_FIELD_location_id, 1},
    {"pool.create", "{\"location\":{\"type\":\"HOST\"}}", SOMA_FIELD_location_type,
     SOMA_LOCATION_TYPE_HOST},
    {"pool.create", "{\"location\":{\"id\":77}}", SOMA_FIELD_location_id, 77},
    {"pipe.createTBufPool", "{\"position\":\"A1\"}", SOMA_FIELD_buf_id_size, 4},
    {"pipe.tbufGet", "{\"dtype\":\"half\"}", SOMA_FIELD_dtype, SOMA_DTYPE_FLOAT16},
};

static void test_readings(void)
{
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        const struct reading *row = &readings[i];
        struct decoded decoded;
        decode(&decoded, row->op, row->body, false, NULL);
        if (EXPECT(decoded.status == SOMA_OK, "%s: %s", row->body, decoded.error.message)) {
            uint64_t value = soma_command_get(&decoded.command, row->field);
            EXPECT(value == row->value, "%s gives %" PRIu64, row->body, value);
        }
        decoded_release(&decoded);
    }
}

static void test_location_presence(void)
{
    struct decoded decoded;
    const uint64_t both = SOMA_HAS(location_type) | SOMA_HAS(location_id);
    decode(&decoded, "pool.create", "{}", false, NULL);
    EXPECT((decoded.command.present & both) == 0, "no location");
    decoded_release(&decoded);
    decode(&decoded, "pool.create", "{\"location\":{},\"device\":5}", true, NULL);
    EXPECT((decoded.command.present & both) == both && decoded.command.location_id == 5,
           "the device's own location");
    decoded_release(&decoded);
}

static void test_names_and_text(void)
{
    struct wire_names names;
    struct soma_error error;
    struct decoded decoded;
    wire_names_init(&names);
    EXPECT(wire_names_put(&names, "p", 1, 7, &error) == SOMA_OK, "put");
    EXPECT(wire_names_put(&names, "a b", 3, UINT64_C(0x12c0c0000000), &error) == SOMA_OK, "put");
    decode(&decoded, "pool.free", "{\"op\":\"pool.free\",\"pool\":\"$p\",\"ptr\":\"$a b\"}", true,
           &names);
    EXPECT(decoded.status == SOMA_OK && decoded.command.pool == 7 &&
               decoded.command.ptr == UINT64_C(0x12c0c0000000) && decoded.command.device == 0,
           "%s", decoded.error.message);
    EXPECT((decoded.command.present & SOMA_HAS(device)) != 0, "device has its default");
    decoded_release(&decoded);
    decode(&decoded, ARG_OP, "{\"stream\":0,\"kernel\":\"k\",\"args\":[{\"ptr\":\"$a b\"}]}", true,
           &names);
    EXPECT(decoded.status == SOMA_OK && decoded.command.args.count == 1 &&
               decoded.command.args.items[0].bits == UINT64_C(0x12c0c0000000),
           "%s", decoded.error.message);
    decoded_release(&decoded);
    decode(&decoded, "pipe.createTQue", "{\"position\":\"VECIN\",\"name\":\"in \\u00e9\"}", false,
           NULL);
    EXPECT(decoded.status == SOMA_OK && decoded.command.object_name.len == 5 &&
               memcmp(decoded.command.object_name.ptr, "in \xc3\xa9", 5) == 0,
           "%s", decoded.error.message);
    decoded_release(&decoded);
    wire_names_release(&names);
}

static void test_args_read(void)
{
    static const struct {
        const char *body;
        enum soma_arg_kind kind;
        uint64_t bits;
    } rows[] = {
        {LAUNCH("[{\"ptr\":\"0xff\"}]"), SOMA_ARG_PTR, 255},
        {LAUNCH("[{\"u8\":255}]"), SOMA_ARG_U8, 255},
        {LAUNCH("[{\"u64\":\"18446744073709551615\"}]"), SOMA_ARG_U64, UINT64_MAX},
        {LAUNCH("[{\"i32\":-2147483648}]"), SOMA_ARG_I32, UINT64_C(0xffffffff80000000)},
        {LAUNCH("[{\"i32\":\"-1\"}]"), SOMA_ARG_I32, UINT64_MAX},
        {LAUNCH("[{\"i32\":-0}]"), SOMA_ARG_I32, 0},
        {LAUNCH("[{\"i64\":\"-9223372036854775808\"}]"), SOMA_ARG_I64, UINT64_C(1) << 63},
        {LAUNCH("[{\"i64\":\"9223372036854775807\"}]"), SOMA_ARG_I64, INT64_MAX},
        {LAUNCH("[{\"f64\":1}]"), SOMA_ARG_F64, UINT64_C(0x3ff0000000000000)},
        {LAUNCH("[{\"f64\":-0.0}]"), SOMA_ARG_F64, UINT64_C(1) << 63},
        {LAUNCH("[{\"f32\":0.1}]"), SOMA_ARG_F32, 0x3dcccccd},
        {LAUNCH("[{\"f32\":3.4028235e38}]"), SOMA_ARG_F32, 0x7f7fffff},
        {LAUNCH("[{\"f16\":1}]"), SOMA_ARG_F16, 0x3c00},
        {LAUNCH("[{\"f16\":-2}]"), SOMA_ARG_F16, 0xc000},
        {LAUNCH("[{\"f16\":65504}]"), SOMA_ARG_F16, 0x7bff},
        {LAUNCH("[{\"f16\":65519.99}]"), SOMA_ARG_F16, 0x7bff},
        {LAUNCH("[{\"f16\":0.1}]"), SOMA_ARG_F16, 0x2e66},
        {LAUNCH("[{\"f16\":2049}]"), SOMA_ARG_F16, 0x6800},             /* a tie, to even: 2048 */
        {LAUNCH("[{\"f16\":2051}]"), SOMA_ARG_F16, 0x6802},             /* a tie, to even: 2052 */
        {LAUNCH("[{\"f16\":2049.0000001}]"), SOMA_ARG_F16, 0x6801},     /* just past the tie */
        {LAUNCH("[{\"f16\":0.00006103515625}]"), SOMA_ARG_F16, 0x0400}, /* smallest normal */
        {LAUNCH("[{\"f16\":0.00006100535}]"), SOMA_ARG_F16, 0x03ff},    /* largest subnormal */
        {LAUNCH("[{\"f16\":5.9604644775390625e-8}]"), SOMA_ARG_F16, 0x0001},
        {LAUNCH("[{\"f16\":2.98023223876953125e-8}]"), SOMA_ARG_F16, 0x0000}, /* tie to zero */
        {LAUNCH("[{\"f16\":2.9802322387695317e-8}]"), SOMA_ARG_F16, 0x0001},
        {LAUNCH("[{\"f16\":-1e-300}]"), SOMA_ARG_F16, 0x8000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decoded decoded;
        decode(&decoded, ARG_OP, rows[i].body, false, NULL);
        if (EXPECT(decoded.status == SOMA_OK, "%s: %s", rows[i].body, decoded.error.message)) {
            const struct soma_kernel_arg *arg = decoded.command.args.items;
            EXPECT(arg->kind == rows[i].kind && arg->bits == rows[i].bits, "%s gives 0x%" PRIx64,
                   rows[i].body, arg->bits);
        }
        decoded_release(&decoded);
    }
}

static void test_base64_read(void)
{
    struct decoded decoded;
    decode(&decoded, "memory.write", "{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\"}", false, NULL);
    EXPECT(decoded.status == SOMA_OK && decoded.command.data.len == 16, "%s",
           decoded.error.message);
    for (size_t i = 0; i < decoded.command.data.len; i++)
        EXPECT(decoded.command.data.ptr[i] == (char)i, "byte %zu", i);
    decoded_release(&decoded);
}

/* ---- path and query texts ---- */

static void test_set_text(void)
{
    static const struct {
        const char *op;
        size_t row; /* of the op */
        const char *text;
        enum soma_status status;
        uint64_t value;
    } rows[] = {
        {"pool.getAttribute", 0, "3", SOMA_OK, 3},
        {"pool.getAttribute", 0, "64", SOMA_NO_SUCH_DEVICE, 0},
        {"pool.getAttribute", 0, "99999999999999999999", SOMA_NO_SUCH_DEVICE, 0},
        {"pool.getAttribute", 0, "x", SOMA_INVALID_VALUE, 0},
        {"pool.getAttribute", 0, "", SOMA_INVALID_VALUE, 0},
        {"pool.getAttribute", 1, "18446744073709551615", SOMA_OK, UINT64_MAX},
        {"pool.getAttribute", 1, "007", SOMA_INVALID_VALUE, 0},
        {"pool.getAttribute", 1, "$p", SOMA_INVALID_VALUE, 0},
        {"pool.getAttribute", 2, "usedMemHigh", SOMA_OK, 8},
        {"pool.getAttribute", 2, "ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH", SOMA_OK, 8},
        {"pool.getAttribute", 2, "8", SOMA_UNKNOWN_ATTRIBUTE, 0},
        {"memory.read", 1, "0x12c0c0000000", SOMA_OK, UINT64_C(0x12c0c0000000)},
        {"memory.read", 1, "4096", SOMA_OK, 4096},
        {"memory.read", 1, "12c0", SOMA_INVALID_VALUE, 0},
        {"memory.read", 2, "2MiB", SOMA_OK, 2097152},
        {"memory.read", 2, "2 MiB", SOMA_INVALID_VALUE, 0},
        {"memory.read", 2, "-1", SOMA_INVALID_VALUE, 0},
        {"memory.write", 2, "AAAA", SOMA_WRONG_TYPE, 0},
        {"pipe.create", 0, "Ascend910B1", SOMA_WRONG_TYPE, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct soma_op_info *info = must_find(rows[i].op);
        const struct soma_field_row *row = &info->fields[rows[i].row];
        struct soma_command command;
        struct soma_error error;
        soma_command_init(&command, info->op);
        enum soma_status status =
            wire_set_text(&command, row, rows[i].text, strlen(rows[i].text), &error);
        EXPECT(status == rows[i].status, "%s %s gives %s", rows[i].op, rows[i].text,
               status == SOMA_OK ? "OK" : soma_status_reason(status));
        bool present = (command.present >> row->field & 1u) != 0;
        EXPECT(present == (status == SOMA_OK), "%s %s", rows[i].op, rows[i].text);
        EXPECT(status != SOMA_OK || soma_command_get(&command, row->field) == rows[i].value,
               "%s %s", rows[i].op, rows[i].text);
        EXPECT(status == SOMA_OK || same_words(error.field, soma_field_json(row->field)), "%s",
               error.field);
    }
}

/* ---- messages ---- */

static void test_messages(void)
{
    static const struct {
        const char *op, *body, *says;
    } rows[] = {
        {"pool.malloc", "{\"size\":9007199254740993}",
         "size: 9007199254740993 is not exact as a JSON number (2^53 or more): send it as a string "
         "\"9007199254740993\""},
        {"event.create", "{\"kind\":\"X\"}", "kind: \"X\" is not a word for it: use EX, PLAIN"},
        {"pool.malloc", "{\"sise\":1}", "pool.malloc has no field \"sise\"; it has size, stream"},
        {"memory.set", "{\"ptr\":1,\"size\":1,\"value\":300}", "value: 300 is outside 0..255"},
        {"stream.delay", "{\"durationNs\":\"x\"}", "decimal digits"},
        {"pool.malloc", "{\"size\":\"4MB\"}", "KiB, MiB, GiB or TiB"},
        {"pool.malloc", "{\"size\":1,\"pool\":1}", "takes it from the path"},
        {"device.reset", "{\"x\":1}", "it has none"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decoded decoded;
        decode(&decoded, rows[i].op, rows[i].body, false, NULL);
        EXPECT(decoded.status != SOMA_OK && strstr(decoded.error.message, rows[i].says) != NULL,
               "%s says: %s", rows[i].body, decoded.error.message);
        decoded_release(&decoded);
    }
}

static void test_out_of_memory(void)
{
    static const char *const rows[][2] = {
        {ARG_OP, LAUNCH("[{\"base64\":\"AAAA\"},{\"u8\":1}]")},
        {"memory.write", "{\"base64\":\"AAAA\"}"},
        {"pipe.create", "{\"soc\":\"\\u0078\"}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (long fail_at = 1;; fail_at++) {
            struct soma_command command;
            struct soma_error error;
            struct wire_arena arena;
            struct wire_tree tree;
            wire_arena_init(&arena);
            wire_tree_init(&tree);
            soma_command_init(&command, must_find(rows[i][0])->op);
            command.present = SOMA_HAS(device) | SOMA_HAS(stream) | SOMA_HAS(ptr);
            fault_begin(fail_at);
            enum soma_status status =
                wire_read(rows[i][1], strlen(rows[i][1]), &arena, &tree, &error);
            if (status == SOMA_OK)
                status = wire_decode_command(tree.values, false, NULL, &arena, &command, &error);
            bool failed = fault_end() >= fail_at;
            wire_tree_release(&tree);
            wire_arena_release(&arena);
            EXPECT(status == (failed ? SOMA_OUT_OF_MEMORY : SOMA_OK), "%s, allocation %ld: %s",
                   rows[i][1], fail_at, soma_status_reason(status));
            if (!failed)
                break;
        }
    }
}

static const struct soma_test tests[] = {
    {"shape", test_shape},
    {"numbers that are refused", test_numbers_refused},
    {"byte counts that are refused", test_byte_counts_refused},
    {"addresses that are refused", test_addresses_refused},
    {"words that are refused", test_words_refused},
    {"strings that are refused", test_strings_refused},
    {"arguments that are refused", test_args_refused},
    {"number of arguments", test_args_count},
    {"batch: refused", test_batch_refused},
    {"batch: marked numbers", test_marked_numbers},
    {"readings", test_readings},
    {"location", test_location_presence},
    {"batch: names, and text", test_names_and_text},
    {"arguments", test_args_read},
    {"base64", test_base64_read},
    {"path and query texts", test_set_text},
    {"messages", test_messages},
    {"out of memory", test_out_of_memory},
    {NULL, NULL},
};

const struct soma_suite suite_wire_decode = {"wire_decode", tests};
