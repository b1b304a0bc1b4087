/* Strict JSON: what RFC 8259 does not know is refused, with the path of its field, and nothing that
 * it knows is. */
#include "decode.h"
#include "expect.h"
#include "fault.h"
#include "suites.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse_row {
    const char *body;
    enum soma_status status;
    const char *field; /* of the error */
};

/* The values that wire_read notes are those that cJSON makes. */
static void check_values(const char *body, size_t len, const cJSON *root)
{
    struct wire_tree tree;
    struct wire_arena arena;
    struct soma_error error;
    wire_tree_init(&tree);
    wire_arena_init(&arena);
    EXPECT(wire_read(body, len, &arena, &tree, &error) == SOMA_OK && decode_same(tree.values, root),
           "%.*s is read as another value", (int)len, body);
    wire_tree_release(&tree);
    wire_arena_release(&arena);
}

static void check_row(const struct parse_row *row)
{
    /* An exact copy on the heap, so that the sanitizer sees a byte read too many. */
    size_t len = strlen(row->body);
    char *body = malloc(len == 0 ? 1 : len);
    if (body == NULL)
        abort();
    memcpy(body, row->body, len);
    cJSON *root = NULL;
    struct soma_error error = {.field = "?"};
    enum soma_status status = wire_parse(body, len, &root, &error);
    EXPECT(status == row->status, "%s gives %s: %s", row->body, soma_status_reason(status),
           error.message);
    EXPECT((root != NULL) == (status == SOMA_OK), "%s: a tree", row->body);
    if (status != SOMA_OK) {
        EXPECT(error.status == status, "%s", row->body);
        EXPECT(same_words(error.field, row->field), "%s blames \"%s\", not \"%s\"", row->body,
               error.field, row->field);
        EXPECT(strlen(error.message) > 10, "%s: \"%s\"", row->body, error.message);
    } else
        check_values(body, len, root);
    cJSON_Delete(root);
    free(body);
}

#define CHECK_ROWS(rows)                                                                           \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
    check_row(&(rows)[i])

static void test_accepted(void)
{
    static const struct parse_row rows[] = {
        {"", SOMA_OK, ""},
        {"{}", SOMA_OK, ""},
        {" \t\r\n{ \t\r\n} \t\r\n", SOMA_OK, ""},
        {"[]", SOMA_OK, ""},
        {"null", SOMA_OK, ""},
        {"0", SOMA_OK, ""},
        {"\"\"", SOMA_OK, ""},
        {"{\"a\":true,\"b\":false,\"c\":null,\"d\":[1,2,3],\"e\":{\"a\":{}}}", SOMA_OK, ""},
        {"{\"a\":-1,\"b\":-0,\"c\":9007199254740991,\"d\":-9007199254740991}", SOMA_OK, ""},
        {"{\"\":1}", SOMA_OK, ""},
        {"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"}", SOMA_OK, ""},
        {"{\"a\":\"\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\"}",
         SOMA_OK, ""},
        {"{\"f16\":1.5,\"f32\":-1e-3,\"f64\":1E+300}", SOMA_OK, ""},
        {"{\"f64\":123456789012345678901234567890}", SOMA_OK, ""},
        {"{\"elapsedMs\":1.25}", SOMA_OK, ""},
        {"{\"args\":[{\"f32\":0.1}]}", SOMA_OK, ""},
        {"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]", SOMA_OK, ""},
    };
    CHECK_ROWS(rows);
}

static void test_syntax(void)
{
    static const struct parse_row rows[] = {
        {" ", SOMA_MALFORMED_JSON, ""},
        {"{", SOMA_MALFORMED_JSON, ""},
        {"}", SOMA_MALFORMED_JSON, ""},
        {"[", SOMA_MALFORMED_JSON, "[0]"},
        {"[1,", SOMA_MALFORMED_JSON, "[1]"},
        {"[1,]", SOMA_MALFORMED_JSON, "[1]"},
        {"[1 2]", SOMA_MALFORMED_JSON, "[0]"},
        {"{\"a\"", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\" 1}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":1,}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":1 \"b\":2}", SOMA_MALFORMED_JSON, "a"},
        {"{a:1}", SOMA_MALFORMED_JSON, ""},
        {"{'a':1}", SOMA_MALFORMED_JSON, ""},
        {"{\"a\":'x'}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":tru}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":True}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":nullx}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":NaN}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":Infinity}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":-Infinity}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":undefined}", SOMA_MALFORMED_JSON, "a"},
        {"{} {}", SOMA_MALFORMED_JSON, ""},
        {"{}x", SOMA_MALFORMED_JSON, ""},
        {"{},", SOMA_MALFORMED_JSON, ""},
        {"{}]", SOMA_MALFORMED_JSON, ""},
        {"/* c */{}", SOMA_MALFORMED_JSON, ""},
        {"{}// c", SOMA_MALFORMED_JSON, ""},
        {"\xef\xbb\xbf{}", SOMA_MALFORMED_JSON, ""},
        {"\v{}", SOMA_MALFORMED_JSON, ""},
        {"{}\f", SOMA_MALFORMED_JSON, ""},
        {"{\xc2\xa0}", SOMA_MALFORMED_JSON, ""},
        {"{\"a\":[1}", SOMA_MALFORMED_JSON, "a[0]"},
        {"{\"a\":[{\"b\":1]}", SOMA_MALFORMED_JSON, "a[0].b"},
        {"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", SOMA_MALFORMED_JSON,
         "[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]"},
    };
    CHECK_ROWS(rows);
}

static void test_strings(void)
{
    static const struct parse_row rows[] = {
        {"{\"a", SOMA_MALFORMED_JSON, ""},
        {"{\"a\":\"", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"x\\", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\n\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\t\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\x1f\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\x\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\'\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\u12\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\u12g4\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\u +1\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\u0000\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\\u0000\":1}", SOMA_MALFORMED_JSON, ""},
        {"{\"a\":\"\\ud800\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\ud800\\u0041\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\ud800\\ud800\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\udc00\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\\ud83d", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xc3\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xc0\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xc1\xbf\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xe0\x80\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xed\xa0\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xf0\x80\x80\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xf4\x90\x80\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xf5\x80\x80\x80\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"a\":\"\xff\"}", SOMA_MALFORMED_JSON, "a"},
        {"{\"\xff\":1}", SOMA_MALFORMED_JSON, ""},
        {"{\"a\":\"\xe2\x82", SOMA_MALFORMED_JSON, "a"},
    };
    CHECK_ROWS(rows);
}

static void test_numbers(void)
{
    static const struct parse_row rows[] = {
        {"{\"size\":01}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":-01}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":00}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":+1}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":.5}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1.}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1.e3}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1e}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1e+}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":-}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":--1}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":0x10}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1_000}", SOMA_MALFORMED_JSON, "size"},
        {"{\"size\":1 000}", SOMA_MALFORMED_JSON, "size"},
        {"{\"f32\":01.5}", SOMA_MALFORMED_JSON, "f32"},
        {"{\"size\":1.0}", SOMA_WRONG_TYPE, "size"},
        {"{\"size\":1.5}", SOMA_WRONG_TYPE, "size"},
        {"{\"size\":1e3}", SOMA_WRONG_TYPE, "size"},
        {"{\"size\":1E3}", SOMA_WRONG_TYPE, "size"},
        {"{\"size\":0e0}", SOMA_WRONG_TYPE, "size"},
        {"{\"size\":9007199254740992}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"{\"size\":9007199254740993}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"{\"size\":-9007199254740992}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"{\"size\":18446744073709551616}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"{\"size\":99999999999999999999999999999999}", SOMA_VALUE_OUT_OF_RANGE, "size"},
        {"{\"location\":{\"type\":\"DEVICE\",\"id\":0.5}}", SOMA_WRONG_TYPE, "location.id"},
        {"{\"args\":[{\"ptr\":0},{\"u32\":1.5}]}", SOMA_WRONG_TYPE, "args[1].u32"},
        {"{\"f32\":[1.5]}", SOMA_WRONG_TYPE, "f32[0]"},
        {"[1.5]", SOMA_WRONG_TYPE, "[0]"},
        {"1.5", SOMA_WRONG_TYPE, ""},
        /* longer than any number that is read */
        {"{\"f64\":0.11111111111111111111111111111111111111111111111111111111111111}",
         SOMA_VALUE_OUT_OF_RANGE, "f64"},
        {"{\"f64\":0.1111111111111111111111111111111111111111111111111111111111111}", SOMA_OK, ""},
    };
    CHECK_ROWS(rows);
}

static void test_duplicates(void)
{
    static const struct parse_row rows[] = {
        {"{\"a\":1,\"a\":1}", SOMA_DUPLICATE_FIELD, "a"},
        {"{\"a\":1,\"b\":1,\"\\u0061\":2}", SOMA_DUPLICATE_FIELD, "a"},
        {"{\"a\":1,\"A\":1}", SOMA_OK, ""},
        {"{\"\":1,\"\":1}", SOMA_DUPLICATE_FIELD, ""},
        {"{\"a\":{\"b\":1,\"b\":2}}", SOMA_DUPLICATE_FIELD, "a.b"},
        {"{\"args\":[1,{\"b\":1,\"c\":0,\"b\":2}]}", SOMA_DUPLICATE_FIELD, "args[1].b"},
        {"{\"a\":{\"b\":1},\"c\":{\"b\":1}}", SOMA_OK, ""},
        {"{\"k0\":0,\"k1\":0,\"k2\":0,\"k3\":0,\"k4\":0,\"k5\":0,\"k6\":0,\"k7\":0,\"k8\":0,"
         "\"k9\":0,\"ka\":0,\"kb\":0,\"kc\":0,\"kd\":0,\"ke\":0,\"kf\":0,\"kg\":0,\"k3\":0}",
         SOMA_DUPLICATE_FIELD, "k3"},
        {"{\"k0\":0,\"k1\":0,\"k2\":0,\"k3\":0,\"k4\":0,\"k5\":0,\"k6\":0,\"k7\":0,\"k8\":0,"
         "\"k9\":0,\"ka\":0,\"kb\":0,\"kc\":0,\"kd\":0,\"ke\":0,\"kf\":0,\"kg\":0,\"kh\":0}",
         SOMA_OK, ""},
    };
    CHECK_ROWS(rows);
}

/* Refused with a field that fits and is still UTF-8. */
static void check_long_key(const char *body)
{
    cJSON *root = NULL;
    struct soma_error error;
    EXPECT(wire_parse(body, strlen(body), &root, &error) != SOMA_OK, "%s", body);
    size_t len = strlen(error.field);
    EXPECT(len > 50 && len < SOMA_FIELD_BYTES, "%zu bytes: %s", len, body);
    EXPECT(len > 0 && (unsigned char)error.field[len - 1] != 0xc3, "half a character: %s",
           error.field);
}

static void test_long_keys(void)
{
    char body[4096];
    char key[512];
    for (size_t len = 60; len < 300; len++) {
        memset(key, 'k', len);
        for (size_t i = len % 3; i + 2 <= len; i += 2)
            memcpy(key + i, "\xc3\xa9", 2);
        key[len] = '\0';
        (void)snprintf(body, sizeof(body), "{\"%s\":01}", key);
        check_long_key(body);
        (void)snprintf(body, sizeof(body), "{\"%s\":{\"%s\":1.5}}", key, key);
        check_long_key(body);
    }
}

/* ---- the elements of "commands" ---- */

static const struct wire_value *at_index(const struct wire_value *array, int index)
{
    const struct wire_value *item = wire_first(array);
    for (int i = 0; i < index; i++)
        item = wire_next(item);
    return item;
}

static bool is_token(const struct wire_value *value, const char *token)
{
    return value != NULL && value->type == WIRE_NUMBER &&
           wire_is_text(value->text, value->len, token);
}

static void test_numbers_in_commands_are_kept(void)
{
    static const char body[] =
        "{\"x\":[1],\"commands\":[{\"size\":7},{\"size\":1.5,\"b\":{\"c\":[2,1e2]}},"
        "{\"args\":[{\"f32\":0.5}],\"ptr\":9007199254740993}],\"onError\":\"stop\"}";
    struct wire_tree tree;
    struct wire_arena arena;
    struct soma_error error;
    wire_tree_init(&tree);
    wire_arena_init(&arena);
    if (EXPECT(wire_read(body, strlen(body), &arena, &tree, &error) == SOMA_OK, "%s",
               error.message)) {
        const struct wire_value *commands = wire_member(tree.values, "commands");
        EXPECT(is_token(wire_member(at_index(commands, 0), "size"), "7"), "an exact number");
        EXPECT(is_token(wire_member(at_index(commands, 1), "size"), "1.5"), "a fraction");
        const struct wire_value *c = wire_member(wire_member(at_index(commands, 1), "b"), "c");
        EXPECT(is_token(at_index(c, 0), "2"), "exact, deep");
        EXPECT(is_token(at_index(c, 1), "1e2"), "an exponent, deep");
        EXPECT(is_token(wire_member(at_index(commands, 2), "ptr"), "9007199254740993"), "2^53 + 1");
    }
    wire_tree_release(&tree);
    wire_arena_release(&arena);
}

static void test_numbers_beside_commands(void)
{
    static const struct parse_row rows[] = {
        {"{\"commands\":[1.5]}", SOMA_WRONG_TYPE, "commands[0]"},
        {"{\"commands\":1.5}", SOMA_WRONG_TYPE, "commands"},
        {"{\"commands\":{\"a\":{\"b\":1.5}}}", SOMA_WRONG_TYPE, "commands.a.b"},
        {"{\"other\":[{\"b\":1.5}]}", SOMA_WRONG_TYPE, "other[0].b"},
        {"[[{\"commands\":1.5}]]", SOMA_WRONG_TYPE, "[0][0].commands"},
        {"{\"commands\":[{},{\"a\":01}]}", SOMA_MALFORMED_JSON, "commands[1].a"},
        {"{\"commands\":[{\"a\":1,\"a\":2}]}", SOMA_DUPLICATE_FIELD, "commands[0].a"},
    };
    CHECK_ROWS(rows);
}

/* ---- limits ---- */

static void test_value_limit(void)
{
    for (size_t extra = 0; extra < 2; extra++) {
        size_t count = SOMA_JSON_VALUES_MAX - 1 + extra; /* the array is a value too */
        size_t len = 2 * count + 1;
        char *body = malloc(len);
        if (body == NULL)
            abort();
        for (size_t i = 0; i < count; i++)
            memcpy(body + 2 * i, i == 0 ? "[1" : ",1", 2);
        body[len - 1] = ']';
        cJSON *root = NULL;
        struct soma_error error;
        enum soma_status status = wire_parse(body, len, &root, &error);
        EXPECT(status == (extra == 0 ? SOMA_OK : SOMA_CONTENT_TOO_LARGE), "%zu values: %s", count,
               soma_status_reason(status));
        cJSON_Delete(root);
        free(body);
    }
}

static void test_every_prefix(void)
{
    static const char body[] = "{\"commands\":[{\"op\":\"x\\u0041\",\"a\":-12.5e+3,\"f32\":1.5},"
                               "{\"b\":[true,false,null,{\"\":\"\xc3\xa9\"}]}]}";
    for (size_t len = 1; len < strlen(body); len++) {
        char *cut = malloc(len);
        if (cut == NULL)
            abort();
        memcpy(cut, body, len);
        cJSON *root = NULL;
        struct soma_error error;
        EXPECT(wire_parse(cut, len, &root, &error) == SOMA_MALFORMED_JSON, "%zu bytes", len);
        free(cut);
    }
    cJSON *root = NULL;
    struct soma_error error;
    EXPECT(wire_parse(body, strlen(body), &root, &error) == SOMA_OK, "%s", error.message);
    cJSON_Delete(root);
}

static void test_out_of_memory(void)
{
    static const char body[] =
        "{\"commands\":[{\"size\":1.5,\"a\":[1,2,{\"b\":\"text\"}]},"
        "{\"k0\":0,\"k1\":0,\"k2\":0,\"k3\":0,\"k4\":0,\"k5\":0,\"k6\":0,\"k7\":0,\"k8\":0,"
        "\"k9\":0,\"ka\":0,\"kb\":0,\"kc\":0,\"kd\":0,\"ke\":0,\"kf\":0,\"kg\":0,\"kh\":0}]}";
    fault_hook_cjson();
    for (size_t len = 0; len <= strlen(body); len += strlen(body)) {
        cJSON *root = NULL;
        struct soma_error error;
        fault_begin(0);
        EXPECT(wire_parse(body, len, &root, &error) == SOMA_OK, "it parses");
        long count = fault_end();
        cJSON_Delete(root);
        for (long i = 1; i <= count; i++) {
            root = NULL;
            fault_begin(i);
            enum soma_status status = wire_parse(body, len, &root, &error);
            (void)fault_end();
            EXPECT(status == SOMA_OUT_OF_MEMORY && root == NULL, "allocation %ld of %ld: %s", i,
                   count, soma_status_reason(status));
        }
    }
}

static const struct soma_test tests[] = {
    {"accepted", test_accepted},
    {"syntax", test_syntax},
    {"strings", test_strings},
    {"numbers", test_numbers},
    {"duplicate keys", test_duplicates},
    {"long keys", test_long_keys},
    {"numbers in commands are kept", test_numbers_in_commands_are_kept},
    {"numbers beside commands", test_numbers_beside_commands},
    {"value limit", test_value_limit},
    {"every prefix is malformed", test_every_prefix},
    {"out of memory", test_out_of_memory},
    {NULL, NULL},
};

const struct soma_suite suite_wire_parse = {"wire_parse", tests};
