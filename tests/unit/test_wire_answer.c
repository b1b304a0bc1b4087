/* Answers and errors as the client reads them: lenient about more, strict about less. */
#include "expect.h"
#include "fault.h"
#include "sample.h"
#include "suites.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

static enum soma_status decode(const char *text, enum soma_message message,
                               struct soma_result *result, struct soma_error *error)
{
    cJSON *root = cJSON_Parse(text);
    if (root == NULL)
        abort();
    enum soma_status status = wire_decode_result(root, message, result, error);
    cJSON_Delete(root);
    return status;
}

static void test_refused(void)
{
    static const struct {
        enum soma_message message;
        const char *text;
        enum soma_status status;
        const char *field;
    } rows[] = {
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":7}", SOMA_OK, ""},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":7,\"of the future\":[{}]}", SOMA_OK, ""},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":\"7\"}", SOMA_OK, ""},
        {SOMA_MESSAGE_POOL_FREED, "{}", SOMA_MISSING_FIELD, "size"},
        {SOMA_MESSAGE_POOL_FREED, "[]", SOMA_WRONG_TYPE, "pool_freed"},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":null}", SOMA_WRONG_TYPE, "size"},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":-1}", SOMA_WRONG_TYPE, "size"},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":1.5}", SOMA_WRONG_TYPE, "size"},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":1e300}", SOMA_WRONG_TYPE, "size"},
        {SOMA_MESSAGE_POOL_FREED, "{\"size\":\"x\"}", SOMA_WRONG_TYPE, "size"},
        {SOMA_MESSAGE_MEMORY_BLOCK, "{\"ptr\":\"0xg\",\"size\":1}", SOMA_WRONG_TYPE, "ptr"},
        {SOMA_MESSAGE_MEMORY_BLOCK, "{\"ptr\":4096,\"size\":1}", SOMA_OK, ""},
        {SOMA_MESSAGE_MEMORY_BLOCK, "{\"ptr\":true,\"size\":1}", SOMA_WRONG_TYPE, "ptr"},
        {SOMA_MESSAGE_SEGMENT,
         "{\"address\":\"0x1\",\"size\":1,\"state\":\"FREE\",\"stream\":null,\"requestedSize\":0}",
         SOMA_OK, ""},
        {SOMA_MESSAGE_SEGMENT,
         "{\"address\":\"0x1\",\"size\":1,\"state\":\"FREE\",\"requestedSize\":0}",
         SOMA_MISSING_FIELD, "stream"},
        {SOMA_MESSAGE_EVENT,
         "{\"event\":1,\"kind\":\"NEW\",\"recorded\":true,\"status\":\"COMPLETE\","
         "\"timestampNs\":null}",
         SOMA_WRONG_TYPE, "kind"},
        {SOMA_MESSAGE_EVENT,
         "{\"event\":1,\"kind\":\"EX\",\"recorded\":1,\"status\":\"COMPLETE\",\"timestampNs\":0}",
         SOMA_WRONG_TYPE, "recorded"},
        {SOMA_MESSAGE_ELAPSED, "{\"elapsedMs\":\"1\"}", SOMA_WRONG_TYPE, "elapsedMs"},
        {SOMA_MESSAGE_MEMORY_BYTES, "{\"base64\":\"A\"}", SOMA_WRONG_TYPE, "base64"},
        {SOMA_MESSAGE_MEMORY_BYTES, "{\"base64\":[]}", SOMA_WRONG_TYPE, "base64"},
        {SOMA_MESSAGE_STREAM_LIST, "{\"streams\":{}}", SOMA_WRONG_TYPE, "streams"},
        {SOMA_MESSAGE_STREAM_LIST, "{\"streams\":[{}]}", SOMA_MISSING_FIELD, "stream"},
        {SOMA_MESSAGE_BUFFERS,
         "{\"memory\":\"UB\",\"len\":32,\"buffers\":[{\"address\":0,\"len\":32},"
         "{\"address\":\"x\",\"len\":32}],\"paddingBytes\":0,\"warnings\":[]}",
         SOMA_WRONG_TYPE, "address"},
        {SOMA_MESSAGE_BUFFERS,
         "{\"memory\":\"UB\",\"len\":32,\"buffers\":[{\"address\":0,\"len\":32}],"
         "\"paddingBytes\":0,\"warnings\":[\"a\",1]}",
         SOMA_WRONG_TYPE, "warnings"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_result result;
        struct soma_error error = {.field = ""};
        enum soma_status status = decode(rows[i].text, rows[i].message, &result, &error);
        EXPECT(status == rows[i].status && same_words(error.field, rows[i].field),
               "%s gives %s: %s", rows[i].text,
               status == SOMA_OK ? "OK" : soma_status_reason(status), error.message);
        sample_release(&result);
    }
}

static void test_optional(void)
{
    struct soma_result result;
    struct soma_error error;
    enum soma_status status = decode("{\"kind\":\"DEVICE\",\"base\":\"0x1000\",\"size\":64,"
                                     "\"offset\":0,\"state\":\"BUSY\"}",
                                     SOMA_MESSAGE_MEMORY_DESCRIPTION, &result, &error);
    EXPECT(status == SOMA_OK && result.u.memory_description.pool == SOMA_NONE, "no pool");
    sample_release(&result);
}

static void test_texts(void)
{
    static const char form[] = "{\"device\":0,\"soc\":\"%s\",\"emulated\":true,\"totalBytes\":1,"
                               "\"freeBytes\":1,\"streams\":0,\"pools\":0}";
    static const char *const rows[][2] = {{"Ascend910B1", "Ascend910B1"}, {"Other", ""}};
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        struct soma_result result;
        struct soma_error error;
        size_t head = strcspn(form, "%");
        memcpy(text, form, head);
        memcpy(text + head, rows[i][0], strlen(rows[i][0]));
        memcpy(text + head + strlen(rows[i][0]), form + head + 2, sizeof(form) - head - 2);
        EXPECT(decode(text, SOMA_MESSAGE_DEVICE, &result, &error) == SOMA_OK, "%s", text);
        EXPECT(same_words(result.u.device.soc, rows[i][1]), "%s", result.u.device.soc);
        sample_release(&result);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *text;
        bool good;
        enum soma_status status;
        const char *field;
        int acl_error;
    } rows[] = {
        {"{\"error\":{\"code\":404,\"status\":\"NOT_FOUND\",\"message\":\"m\",\"details\":"
         "[{\"reason\":\"NO_SUCH_POOL\",\"aclError\":107000}]}}",
         true, SOMA_NO_SUCH_POOL_ATTRIBUTES, "", 107000},
        {"{\"code\":400,\"status\":\"X\",\"message\":\"m\",\"details\":[{\"reason\":\"ZERO_SIZE\","
         "\"field\":\"size\",\"aclError\":100000}]}",
         true, SOMA_ZERO_SIZE, "size", 100000},
        {"{\"message\":\"m\",\"details\":[{\"reason\":\"OF_THE_FUTURE\",\"aclError\":123}]}", true,
         SOMA_INTERNAL, "", 123},
        {"{\"message\":\"m\",\"details\":[{\"reason\":\"ZERO_SIZE\"}]}", true, SOMA_ZERO_SIZE, "",
         100000},
        {"{\"message\":\"m\",\"details\":[]}", false, SOMA_OK, "", 0},
        {"{\"message\":\"m\",\"details\":[{\"reason\":7}]}", false, SOMA_OK, "", 0},
        {"{\"details\":[{\"reason\":\"ZERO_SIZE\"}]}", false, SOMA_OK, "", 0},
        {"{\"error\":\"no\"}", false, SOMA_OK, "", 0},
        {"{\"ptr\":\"0x1\"}", false, SOMA_OK, "", 0},
        {"[]", false, SOMA_OK, "", 0},
        {"\"error\"", false, SOMA_OK, "", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_error error = {.status = SOMA_OK};
        int acl_error = 0;
        cJSON *root = cJSON_Parse(rows[i].text);
        bool good = wire_decode_error(root, &error, &acl_error);
        EXPECT(good == rows[i].good && error.status == rows[i].status &&
                   same_words(error.field, rows[i].field) && acl_error == rows[i].acl_error,
               "%s: %d, %s", rows[i].text, acl_error, soma_status_reason(error.status));
        cJSON_Delete(root);
    }
    struct soma_error error;
    int acl_error;
    EXPECT(!wire_decode_error(NULL, &error, &acl_error), "no tree");
}

/* What wire_encode_error writes is what wire_decode_error reads, for every row. */
static void test_errors_round_trip(void)
{
    const struct soma_status_info *row;
    for (unsigned i = 0; (row = soma_status_row(i)) != NULL; i++) {
        struct soma_error sent, received;
        struct soma_writer writer;
        int acl_error = 0;
        soma_writer_init(&writer, 1 << 16);
        (void)soma_fail(&sent, row->status, i % 2 == 0 ? "" : "args[3].u32", "%s \"\n\"",
                        row->text);
        wire_encode_error(&writer, &sent);
        cJSON *root = cJSON_ParseWithLength(writer.ptr, writer.len);
        EXPECT(wire_decode_error(root, &received, &acl_error) && received.status == row->status &&
                   acl_error == row->acl_error && same_words(received.field, sent.field) &&
                   same_words(received.message, sent.message),
               "%s", row->name);
        cJSON_Delete(root);
        soma_writer_release(&writer);
    }
}

static void test_out_of_memory(void)
{
    struct random_source source = {4};
    struct soma_result sent, received;
    struct soma_writer writer;
    struct soma_error error;
    soma_writer_init(&writer, 1 << 20);
    sample_result(&source, SOMA_MESSAGE_LAYOUT, &sent);
    wire_encode_result(&writer, &sent);
    cJSON *root = cJSON_ParseWithLength(writer.ptr, writer.len);
    for (long fail_at = 1;; fail_at++) {
        fault_begin(fail_at);
        enum soma_status status = wire_decode_result(root, SOMA_MESSAGE_LAYOUT, &received, &error);
        bool failed = fault_end() >= fail_at;
        EXPECT(status == (failed ? SOMA_OUT_OF_MEMORY : SOMA_OK), "allocation %ld", fail_at);
        sample_release(&received);
        if (!failed)
            break;
    }
    cJSON_Delete(root);
    sample_release(&sent);
    soma_writer_release(&writer);
}

static const struct soma_test tests[] = {
    {"answers that are refused", test_refused},
    {"optional fields", test_optional},
    {"texts", test_texts},
    {"errors", test_errors},
    {"errors round trip", test_errors_round_trip},
    {"out of memory", test_out_of_memory},
    {NULL, NULL},
};

const struct soma_suite suite_wire_answer = {"wire_answer", tests};
