/* Growing text, request memory and the names of a batch. */
#include "expect.h"
#include "fault.h"
#include "random.h"
#include "suites.h"
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool writer_is(const struct soma_writer *writer, const char *text)
{
    return !writer->failed && writer->len == strlen(text) &&
           (writer->len == 0 || memcmp(writer->ptr, text, writer->len) == 0);
}

static void test_writer(void)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 100);
    EXPECT(writer.ptr == NULL && writer.len == 0, "empty");
    soma_writer_text(&writer, "");
    soma_writer_text(&writer, "a=");
    soma_writer_u64(&writer, 0);
    soma_writer_raw(&writer, ",x", 2);
    soma_writer_u64(&writer, UINT64_MAX);
    EXPECT(writer_is(&writer, "a=0,x18446744073709551615"), "%.*s", (int)writer.len, writer.ptr);
    soma_writer_clear(&writer);
    EXPECT(writer_is(&writer, "") && writer.capacity > 0, "cleared, memory kept");
    soma_writer_release(&writer);
    EXPECT(writer.ptr == NULL && writer.capacity == 0, "released");
}

static void test_writer_max(void)
{
    static const char text[] = "0123456789";
    struct soma_writer writer;
    soma_writer_init(&writer, 25);
    soma_writer_text(&writer, text);
    soma_writer_text(&writer, text);
    EXPECT(!writer.failed, "20 of 25");
    soma_writer_text(&writer, "12345");
    EXPECT(!writer.failed && writer.len == 25, "25 of 25");
    soma_writer_raw(&writer, "x", 1);
    EXPECT(writer.failed && writer.len == 25, "past max");
    soma_writer_clear(&writer);
    soma_writer_text(&writer, "x");
    EXPECT(writer_is(&writer, "x"), "usable again after clear");
    soma_writer_base64(&writer, (const unsigned char *)text, 10); /* 18 with its quotes */
    EXPECT(!writer.failed && writer.len == 19, "19 of 25");
    soma_writer_base64(&writer, (const unsigned char *)text, SIZE_MAX - 1);
    EXPECT(writer.failed, "a length that overflows");
    soma_writer_release(&writer);
}

static void test_writer_grows(void)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 20);
    for (unsigned i = 0; i < 100000; i++)
        soma_writer_u64(&writer, i % 10);
    EXPECT(!writer.failed && writer.len == 100000, "%zu", writer.len);
    for (unsigned i = 0; i < 100000; i++) {
        if (writer.ptr[i] != (char)('0' + i % 10)) {
            EXPECT(false, "byte %u", i);
            break;
        }
    }
    soma_writer_release(&writer);
}

static void test_writer_string(void)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    struct soma_writer writer;
    soma_writer_init(&writer, 1000);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        soma_writer_clear(&writer);
        soma_writer_string(&writer, rows[i].text, strlen(rows[i].text));
        EXPECT(writer_is(&writer, rows[i].json), "%.*s, not %s", (int)writer.len, writer.ptr,
               rows[i].json);
    }
    soma_writer_clear(&writer);
    soma_writer_string(&writer, "\0", 1);
    EXPECT(writer_is(&writer, "\"\\u0000\""), "NUL");
    soma_writer_release(&writer);
}

static void test_writer_base64(void)
{
    static const char *const rows[][2] = {
        {"", "\"\""},
        {"f", "\"Zg==\""},
        {"fo", "\"Zm8=\""},
        {"foo", "\"Zm9v\""},
        {"foob", "\"Zm9vYg==\""},
        {"fooba", "\"Zm9vYmE=\""},
        {"foobar", "\"Zm9vYmFy\""},
        {"\xff\xff\xfe", "\"///+\""},
    };
    struct soma_writer writer;
    soma_writer_init(&writer, 1000);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        soma_writer_clear(&writer);
        soma_writer_base64(&writer, (const unsigned char *)rows[i][0], strlen(rows[i][0]));
        EXPECT(writer_is(&writer, rows[i][1]), "%.*s, not %s", (int)writer.len, writer.ptr,
               rows[i][1]);
    }
    soma_writer_release(&writer);
}

static void test_writer_out_of_memory(void)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 20);
    soma_writer_text(&writer, "kept");
    char *long_text = calloc(1, 4096);
    if (long_text == NULL)
        abort();
    fault_begin(1);
    soma_writer_raw(&writer, long_text, 4096);
    (void)fault_end();
    EXPECT(writer.failed && writer.len == 4, "nothing half written");
    soma_writer_text(&writer, "x");
    EXPECT(writer.failed && writer.len == 4, "later writes are ignored");
    free(long_text);
    soma_writer_release(&writer);
}

static void test_arena(void)
{
    struct wire_arena arena;
    wire_arena_init(&arena);
    unsigned char *blocks[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * i % 5000;
        blocks[i] = wire_arena_alloc(&arena, size);
        if (!EXPECT(blocks[i] != NULL, "block %zu", i))
            return;
        EXPECT((uintptr_t)blocks[i] % _Alignof(max_align_t) == 0, "block %zu is aligned", i);
        memset(blocks[i], (int)i, size);
    }
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * i % 5000;
        EXPECT(size == 0 ||
                   (blocks[i][0] == (unsigned char)i && blocks[i][size - 1] == (unsigned char)i),
               "block %zu was written to", i);
    }
    EXPECT(wire_arena_alloc(&arena, SIZE_MAX) == NULL, "all of memory");
    fault_begin(1);
    EXPECT(wire_arena_alloc(&arena, 100000) == NULL, "no memory");
    (void)fault_end();
    EXPECT(wire_arena_alloc(&arena, 100000) != NULL, "memory again");
    wire_arena_release(&arena);
    EXPECT(wire_arena_alloc(&arena, 1) != NULL, "usable after release");
    wire_arena_release(&arena);
}

static void test_names(void)
{
    struct wire_names names;
    struct soma_error error;
    uint64_t value = 0;
    wire_names_init(&names);
    EXPECT(!wire_names_get(&names, "a", 1, &value), "empty");
    for (uint64_t i = 0; i < 10000; i++) {
        char name[32];
        int len = snprintf(name, sizeof(name), "n%" PRIu64, i);
        EXPECT(wire_names_put(&names, name, (size_t)len, i * 3, &error) == SOMA_OK, "%s", name);
    }
    EXPECT(wire_names_put(&names, "n77", 3, 5, &error) == SOMA_OK, "replaced");
    for (uint64_t i = 0; i < 10000; i++) {
        char name[32];
        int len = snprintf(name, sizeof(name), "n%" PRIu64, i);
        EXPECT(wire_names_get(&names, name, (size_t)len, &value) && value == (i == 77 ? 5 : i * 3),
               "%s", name);
    }
    EXPECT(!wire_names_get(&names, "n10000", 6, &value), "never named");
    EXPECT(!wire_names_get(&names, "n", 1, &value), "part of a name");
    wire_names_release(&names);
    EXPECT(!wire_names_get(&names, "n1", 2, &value), "released");
}

static void test_names_lengths(void)
{
    char name[SOMA_NAME_BYTES_MAX + 1];
    struct wire_names names;
    struct soma_error error;
    uint64_t value = 0;
    memset(name, 'x', sizeof(name));
    wire_names_init(&names);
    for (size_t len = 1; len <= SOMA_NAME_BYTES_MAX; len++)
        EXPECT(wire_names_put(&names, name, len, len, &error) == SOMA_OK, "%zu bytes", len);
    for (size_t len = 1; len <= SOMA_NAME_BYTES_MAX; len++)
        EXPECT(wire_names_get(&names, name, len, &value) && value == len, "%zu bytes", len);
    EXPECT(wire_names_put(&names, name, 0, 1, &error) == SOMA_INVALID_VALUE, "no name");
    EXPECT(wire_names_put(&names, name, sizeof(name), 1, &error) == SOMA_INVALID_VALUE, "too long");
    EXPECT(same_words(error.field, "as"), "%s", error.field);
    EXPECT(!wire_names_get(&names, name, 0, &value), "no name");
    EXPECT(!wire_names_get(&names, name, sizeof(name), &value), "too long");
    wire_names_release(&names);
}

static void test_names_reserve(void)
{
    struct wire_names names;
    struct soma_error error;
    uint64_t value = 0;
    wire_names_init(&names);
    fault_begin(1);
    EXPECT(wire_names_reserve(&names, 1, &error) == SOMA_OUT_OF_MEMORY, "no memory");
    (void)fault_end();
    EXPECT(wire_names_reserve(&names, 100, &error) == SOMA_OK, "memory");
    fault_begin(1);
    for (char i = 0; i < 100; i++)
        EXPECT(wire_names_put(&names, &i, 1, 7, &error) == SOMA_OK, "name %d", i);
    EXPECT(fault_end() == 0, "puts that were reserved for allocate nothing");
    char zero = 0;
    EXPECT(wire_names_get(&names, &zero, 1, &value) && value == 7, "any byte may stand in a name");
    wire_names_release(&names);
}

static const struct soma_test tests[] = {
    {"writer", test_writer},
    {"writer: max", test_writer_max},
    {"writer: grows", test_writer_grows},
    {"writer: strings", test_writer_string},
    {"writer: base64", test_writer_base64},
    {"writer: out of memory", test_writer_out_of_memory},
    {"arena", test_arena},
    {"names", test_names},
    {"names: lengths", test_names_lengths},
    {"names: reserve", test_names_reserve},
    {NULL, NULL},
};

const struct soma_suite suite_wire_store = {"wire_store", tests};
