/* Shared parts of the tests of ACL functions. */
#include "client_fixture.h"

#include "vary_batches.h"

#include <stdio.h>
#include <string.h>

static char last_text[2048]; /* of the last error that gives() saw */

void fixture_begin(void)
{
    fake_service_start();
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
}

void fixture_end(void)
{
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    (void)EXPECT(!fake_service_has_session(), "the session is still open after aclFinalize");
    fake_service_stop();
}

bool gives(aclError want, aclError got, const char *call, const char *file, int line)
{
    const char *text = aclGetRecentErrMsg();
    vary_batches();
    if (got != want)
        return expect_that(false, file, line, "%s gave %d, not %d: %s", call, got, want,
                           text != NULL ? text : "(no text)");
    if (want == ACL_SUCCESS)
        return expect_that(text == NULL, file, line, "%s succeeded and left a text: %s", call,
                           text != NULL ? text : "");
    (void)snprintf(last_text, sizeof(last_text), "%s", text != NULL ? text : "");
    size_t len = strcspn(call, "(");
    bool good = text != NULL && strncmp(text, call, len) == 0 && strncmp(text + len, ": ", 2) == 0;
    if (strncmp(call, "acl", 3) != 0) /* through a variable */
        good = text != NULL && strstr(text, ": ") != NULL;
    bool is_taken = aclGetRecentErrMsg() == NULL;
    return expect_that(good, file, line, "%s: the text does not open with the call: %s", call,
                       text != NULL ? text : "(no text)") &&
           expect_that(is_taken, file, line, "%s: the text is there twice", call);
}

bool says(const char *part, const char *file, int line)
{
    return expect_that(strstr(last_text, part) != NULL, file, line, "\"%s\" does not say \"%s\"",
                       last_text, part);
}

static int on_heap_of_program;
void *const made_up[] = {(void *)1,
                         (void *)0xdeadbeef,
                         (void *)(uintptr_t)UINT64_MAX,
                         (void *)(uintptr_t)UINT64_C(0x5a0100ffff000000),
                         (void *)(uintptr_t)UINT64_C(0x5a02000001ffffff),
                         (void *)(uintptr_t)UINT64_C(0x5aff000001000000),
                         (void *)(uintptr_t)UINT64_C(0x12c0c0000000),
                         &on_heap_of_program};
const unsigned made_up_count = sizeof(made_up) / sizeof(made_up[0]);

aclrtMemPool make_pool(size_t max_size)
{
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps props;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = max_size;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    return pool;
}
