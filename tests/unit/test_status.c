/* The error table: every row keeps its promises, and errors are filled as told. */
#include "expect.h"
#include "status.h"
#include "suites.h"

#include <string.h>

static void test_rows(void)
{
    unsigned count = 0;
    for (const struct soma_status_info *row; (row = soma_status_row(count)) != NULL; count++) {
        EXPECT(soma_status_info(row->status) == row, "%s is not found by its number", row->name);
        EXPECT(row->http >= 400 && row->http <= 599, "%s: http %d", row->name, row->http);
        EXPECT(row->acl_error != 0, "%s has no acl error", row->name);
        EXPECT(strlen(row->rpc) > 0, "%s has no rpc name", row->name);
        EXPECT(strlen(row->text) > 0, "%s has no text", row->name);
        EXPECT(row->status > 0 && row->status < 300, "%s: number %d", row->name, row->status);
    }
    EXPECT(count > 80, "only %u rows", count);
}

static void test_unique_numbers(void)
{
    const struct soma_status_info *row, *other;
    for (unsigned i = 0; (row = soma_status_row(i)) != NULL; i++) {
        for (unsigned j = i + 1; (other = soma_status_row(j)) != NULL; j++) {
            EXPECT(row->status != other->status, "%s and %s share a number", row->name,
                   other->name);
            bool same_reason =
                same_words(soma_status_reason(row->status), soma_status_reason(other->status));
            EXPECT(!same_reason || row->acl_error != other->acl_error,
                   "%s and %s cannot be told apart", row->name, other->name);
        }
    }
}

static void test_reason_round_trip(void)
{
    const struct soma_status_info *row;
    for (unsigned i = 0; (row = soma_status_row(i)) != NULL; i++) {
        const char *reason = soma_status_reason(row->status);
        EXPECT(soma_status_of_reason(reason, row->acl_error) == row->status, "%s: %s, %d",
               row->name, reason, row->acl_error);
        EXPECT(strspn(reason, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(reason),
               "%s is not an upper-case word", reason);
    }
    EXPECT(soma_status_of_reason("NO_SUCH_POOL", 507000) == SOMA_NO_SUCH_POOL, "507000");
    EXPECT(soma_status_of_reason("NO_SUCH_POOL", 107000) == SOMA_NO_SUCH_POOL_ATTRIBUTES, "107000");
    EXPECT(soma_status_of_reason("NO_SUCH_POOL", 0) == SOMA_NO_SUCH_POOL, "any");
    EXPECT(soma_status_of_reason("WORD_OF_THE_FUTURE", 1) == SOMA_INTERNAL, "unknown word");
}

static void test_unknown_status(void)
{
    const struct soma_status_info *row = soma_status_info((enum soma_status)12345);
    EXPECT(row != NULL && row->status == SOMA_INTERNAL, "an unknown status is INTERNAL");
    EXPECT(soma_status_row(100000) == NULL, "past the end");
}

static void test_fail(void)
{
    struct soma_error error;
    EXPECT(soma_fail(&error, SOMA_ZERO_SIZE, "size", "size: %d", 0) == SOMA_ZERO_SIZE, "status");
    EXPECT(error.status == SOMA_ZERO_SIZE, "status in the error");
    EXPECT(same_words(error.field, "size") && same_words(error.message, "size: 0"), "%s: %s",
           error.field, error.message);
    EXPECT(soma_fail(NULL, SOMA_INTERNAL, "", "x") == SOMA_INTERNAL, "error may be NULL");
}

/* A text of two-byte characters longer than the message: cut between two of them. */
static void test_fail_cuts_at_character(void)
{
    char text[2 * SOMA_MESSAGE_BYTES + 1];
    for (unsigned shift = 0; shift < 2; shift++) {
        memset(text, 'x', sizeof(text));
        for (size_t i = shift; i + 2 < sizeof(text); i += 2)
            memcpy(text + i, "\xc3\xa9", 2);
        text[sizeof(text) - 1] = '\0';
        struct soma_error error;
        (void)soma_fail(&error, SOMA_INTERNAL, "", "%s", text);
        size_t len = strlen(error.message);
        EXPECT(len >= SOMA_MESSAGE_BYTES - 3 && len < SOMA_MESSAGE_BYTES, "%zu bytes", len);
        EXPECT((len - shift) % 2 == 0, "half a character at the end");
    }
}

static void test_bytes_text(void)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 bytes"},
        {1, "1 bytes"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1025, "1025 bytes"},
        {2097152, "2 MiB"},
        {UINT64_C(3) << 30, "3 GiB"},
        {UINT64_C(1) << 40, "1 TiB"},
        {UINT64_C(1) << 63, "8388608 TiB"},
        {UINT64_MAX, "18446744073709551615 bytes"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char buf[32];
        EXPECT(same_words(soma_bytes_text(buf, rows[i].bytes), rows[i].text), "%s, not %s", buf,
               rows[i].text);
    }
}

static const struct soma_test tests[] = {
    {"every row is whole", test_rows},
    {"numbers are unique", test_unique_numbers},
    {"reasons round trip", test_reason_round_trip},
    {"unknown status", test_unknown_status},
    {"soma_fail", test_fail},
    {"soma_fail cuts at a character", test_fail_cuts_at_character},
    {"soma_bytes_text", test_bytes_text},
    {NULL, NULL},
};

const struct soma_suite suite_status = {"status", tests};
