/* Bearer tokens: what a token file may hold, and which tokens are taken. */
#include "auth.h"
#include "expect.h"
#include "headers.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool load(const char *text, struct auth **auth, char error[CONFIG_ERROR_BYTES])
{
    char path[] = "/tmp/soma-token-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
    bool good = auth_load(path, auth, error);
    (void)unlink(path);
    return good;
}

static void test_tokens(void)
{
    struct auth *auth = NULL;
    char error[CONFIG_ERROR_BYTES], longest[258];
    memset(longest, 'x', 256);
    memcpy(longest + 256, "\n", 2);
    CU_ASSERT_FATAL(load("# tokens\n\nalpha\r\nbeta-2\n", &auth, error));
    EXPECT(auth_accepts(auth, "alpha", 5) && auth_accepts(auth, "beta-2", 6), "tokens");
    EXPECT(!auth_accepts(auth, "alph", 4) && !auth_accepts(auth, "alphaa", 6) &&
               !auth_accepts(auth, "", 0) && !auth_accepts(auth, "# tokens", 8),
           "no tokens");
    char with_nul[] = "alpha\0";
    EXPECT(!auth_accepts(auth, with_nul, 6), "a NUL is no padding");
    auth_release(auth);
    CU_ASSERT_FATAL(load(longest, &auth, error));
    longest[256] = 'x';
    EXPECT(auth_accepts(auth, longest, 256) && !auth_accepts(auth, longest, 257), "256 characters");
    auth_release(auth);
}

static void test_bad_files(void)
{
    struct auth *auth = NULL;
    char error[CONFIG_ERROR_BYTES], too_long[259];
    memset(too_long, 'x', 257);
    memcpy(too_long + 257, "\n", 2);
    const char *const texts[] = {"", "# only\n", "with space\n", "t\xc3\xa4\n", too_long};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        EXPECT(!load(texts[i], &auth, error), "row %zu was taken", i);
        EXPECT(strstr(error, "--token-file") != NULL, "%s", error);
    }
    EXPECT(!auth_load("/nonexistent/x", &auth, error), "no file");
}

static void test_bearer(void)
{
    static const struct {
        const char *value, *token;
    } rows[] = {{"Bearer abc", "abc"}, {"bearer  abc", "abc"}, {"Basic abc", NULL},
                {"Bearer", NULL},      {"Bearer ", NULL},      {"", NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_text token =
            headers_bearer((struct soma_text){rows[i].value, strlen(rows[i].value)});
        bool good = rows[i].token == NULL
                        ? token.ptr == NULL
                        : token.ptr != NULL && same_words(token.ptr, rows[i].token);
        EXPECT(good, "%s", rows[i].value);
    }
}

static void test_media_types(void)
{
    static const struct {
        const char *value;
        bool is_json;
    } rows[] = {
        {"application/json", true},
        {"Application/JSON", true},
        {"application/json; charset=utf-8", true},
        {"application/json;charset=\"UTF-8\"", true},
        {"application/json; charset=latin1", false},
        {"application/json ;", true},
        {"application/jsonx", false},
        {"application/json x", false},
        {"text/plain", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_text value = {rows[i].value, strlen(rows[i].value)};
        EXPECT(headers_is_type(value, "application/json") == rows[i].is_json, "\"%s\"",
               rows[i].value);
    }
}

static const struct soma_test tests[] = {
    {"tokens", test_tokens},
    {"bad files", test_bad_files},
    {"bearer", test_bearer},
    {"media types", test_media_types},
    {NULL, NULL},
};
const struct soma_suite suite_auth = {"auth", tests};
