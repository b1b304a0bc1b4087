/* Errors of a thread. */
#include "client_fixture.h"
#include "error.h"
#include "suites.h"

#include <pthread.h>
#include <string.h>

static void test_text_names_call_and_is_taken_once(void)
{
    client_begin("aclrtSomething");
    (void)EXPECT(client_fail(107000, "size is %d", 7) == 107000, "the number comes back");
    const char *text = aclGetRecentErrMsg();
    (void)EXPECT(same_words(text, "aclrtSomething: size is 7"), "%s", text);
    (void)EXPECT(aclGetRecentErrMsg() == NULL, "taken once");
    (void)EXPECT(same_words(text, "aclrtSomething: size is 7"), "stays readable");
}

static void test_last_error_peek_and_get(void)
{
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    (void)EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS, "none yet");
    (void)client_fail(507046, "late");
    (void)EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == 507046, "seen");
    (void)EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 507046, "taken");
    (void)EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS, "gone");
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtPeekAtLastError((aclrtLastErrLevel)1));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtGetLastError((aclrtLastErrLevel)7));
}

static void test_long_text_is_cut_at_a_character(void)
{
    char huge[3000];
    for (size_t i = 0; i + 2 < sizeof(huge); i += 2)
        memcpy(huge + i, "\xc3\xa4", 2);
    huge[sizeof(huge) - 2] = '\0';
    client_begin("x");
    for (int shift = 0; shift < 2; shift++) {
        (void)client_fail(1, "%s%s", shift == 0 ? "" : "y", huge);
        const char *text = aclGetRecentErrMsg();
        size_t len = strlen(text);
        (void)EXPECT(len < CLIENT_TEXT_BYTES && len > CLIENT_TEXT_BYTES - 4, "%zu bytes", len);
        (void)EXPECT((unsigned char)text[len - 1] == 0xa4, "ends with half a character");
    }
}

static void *other_thread(void *user)
{
    *(bool *)user =
        aclGetRecentErrMsg() == NULL && aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS;
    return NULL;
}

static void test_errors_are_of_the_thread(void)
{
    bool is_clean = false;
    pthread_t thread;
    (void)client_fail(1, "mine");
    if (EXPECT(pthread_create(&thread, NULL, other_thread, &is_clean) == 0, "a thread"))
        (void)pthread_join(thread, NULL);
    (void)EXPECT(is_clean, "another thread sees this one's error");
    (void)aclGetRecentErrMsg();
}

static const struct client_test tests[] = {
    {"text names call and is taken once", test_text_names_call_and_is_taken_once},
    {"last error: peek and get", test_last_error_peek_and_get},
    {"a long text is cut at a character", test_long_text_is_cut_at_a_character},
    {"errors are of the thread", test_errors_are_of_the_thread},
    {NULL, NULL},
};
const struct client_suite suite_error = {"error", tests};
