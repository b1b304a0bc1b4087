/* Start and end of ACL against the fake service. */
#include "client_fixture.h"
#include "sanitizers.h"
#include "session.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_init_and_finalize_counts(void)
{
    uint64_t left = 77;
    fake_service_start();
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    (void)GIVES(ACL_ERROR_REPEAT_INITIALIZE, aclInit(""));
    (void)GIVES(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalizeReference(&left));
    (void)EXPECT(left == 2 && fake_service_has_session(), "%u left", (unsigned)left);
    (void)GIVES(ACL_SUCCESS, aclFinalizeReference(NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalizeReference(&left));
    (void)EXPECT(left == 0 && !fake_service_has_session(), "the last one ends the session");
    (void)GIVES(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left));
    (void)GIVES(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    (void)GIVES(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    (void)EXPECT(!fake_service_has_session(), "whatever the count was");
    (void)GIVES(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    fake_service_stop();
}

static void test_first_call_initialises(void)
{
    uint32_t count = 0;
    fake_service_start();
    (void)setenv("SOMA_DEVICES", "3", 1);
    (void)GIVES(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    (void)unsetenv("SOMA_DEVICES");
    (void)EXPECT(count == 3 && fake_service_has_session(), "%u devices", count);
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    (void)GIVES(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    fixture_end();
}

static void test_calls_without_need_open_nothing(void)
{
    aclrtRunMode mode;
    int32_t major, minor, patch;
    fake_service_start();
    (void)GIVES(ACL_SUCCESS, aclrtGetRunMode(&mode));
    (void)EXPECT(mode == ACL_HOST, "%d", (int)mode);
    (void)GIVES(ACL_SUCCESS, aclrtGetVersion(&major, &minor, &patch));
    (void)EXPECT(major == 1 && minor == 17 && patch == 0, "%d.%d.%d", major, minor, patch);
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(NULL));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMalloc(NULL, 1, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)EXPECT(fake_service_requests() == 0, "%u requests", fake_service_requests());
    fake_service_stop();
}

static void test_configuration_file(void)
{
    static const struct {
        const char *text;
        aclError error;
    } rows[] = {{"{}", 0},
                {"{\"dump\":{\"dump_list\":[]}}", 0},
                {"", 0},
                {"[]", ACL_ERROR_PARSE_FILE},
                {"{\"a\":", ACL_ERROR_PARSE_FILE},
                {"no", ACL_ERROR_PARSE_FILE}};
    char path[] = "/tmp/soma-test-config-XXXXXX";
    int fd = mkstemp(path);
    fake_service_start();
    (void)EXPECT(fd >= 0, "a file");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        FILE *file = fopen(path, "w");
        (void)fputs(rows[i].text, file);
        (void)fclose(file);
        if (GIVES(rows[i].error, aclInit(path)) && rows[i].error == ACL_SUCCESS)
            (void)aclFinalize();
    }
    (void)close(fd);
    (void)unlink(path);
    (void)GIVES(ACL_ERROR_INVALID_FILE, aclInit(path));
    (void)SAYS(path);
    (void)GIVES(ACL_ERROR_INVALID_FILE, aclInit("/tmp"));
    fake_service_stop();
}

static void test_a_socket_where_nobody_listens(void)
{
    char server[64];
    (void)snprintf(server, sizeof(server), "unix:/tmp/soma-nobody-%ld.sock", (long)getpid());
    (void)setenv("SOMA_SERVER", server, 1);
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclInit(NULL));
    (void)SAYS(server);
    (void)SAYS("No such file or directory");
    (void)unsetenv("SOMA_SERVER");
}

static void test_a_failed_init_can_be_repeated(void)
{
    static const struct {
        enum fake_mood mood;
        aclError error;
        const char *says;
    } rows[] = {
        {FAKE_GONE, ACL_ERROR_RT_SOCKET_CLOSE, "nobody answers"},
        {FAKE_NONSENSE, ACL_ERROR_RT_SOCKET_CLOSE, "SOMA_SERVER"},
        {FAKE_PROTOCOL_2, ACL_ERROR_RT_SOCKET_CLOSE,
         "speaks protocol 2 and this library protocol 1"},
        {FAKE_TOKEN, ACL_ERROR_INTERNAL_ERROR, "SOMA_TOKEN"},
    };
    fake_service_start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake_service_set_mood(rows[i].mood, 1);
        (void)GIVES(rows[i].error, aclInit(NULL));
        (void)SAYS(rows[i].says);
        (void)GIVES(ACL_SUCCESS, aclInit(NULL));
        (void)GIVES(ACL_SUCCESS, aclFinalize());
    }
    static const char *const variables[] = {"SOMA_SESSION_TTL", "SOMA_DEVICES", "SOMA_TIMEOUT_MS"};
    for (size_t i = 0; i < 3; i++) {
        (void)setenv(variables[i], "many", 1);
        (void)GIVES(ACL_ERROR_INVALID_PARAM, aclInit(NULL));
        (void)SAYS(variables[i]);
        (void)unsetenv(variables[i]);
        (void)GIVES(ACL_SUCCESS, aclInit(NULL));
        (void)GIVES(ACL_SUCCESS, aclFinalize());
    }
    fake_service_stop();
}

/* A somad of another build understands no batches of this one: the session works without. */
static void test_another_build_is_asked_each_time(void)
{
    struct client_session *session;
    fake_service_start();
    for (int is_other = 0; is_other < 2; is_other++) {
        fake_service_set_mood(is_other == 1 ? FAKE_OTHER_BUILD : FAKE_GOOD, 1);
        (void)GIVES(ACL_SUCCESS, aclInit(NULL));
        CU_ASSERT_FATAL(client_session_get(&session) == ACL_SUCCESS);
        (void)EXPECT(session->is_other_build == (is_other == 1), "other build: %d", is_other);
        (void)EXPECT(is_other == 0 || session->pipeline == NULL, "batches are sent");
        client_session_release(session);
        (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
        aclrtMemPool pool = make_pool(4 << 20);
        (void)GIVES(ACL_SUCCESS, aclrtMemPoolDestroy(pool));
        (void)GIVES(ACL_SUCCESS, aclFinalize());
    }
    fake_service_stop();
}

/* The end succeeds, says nothing, and the next beginning is a new one. */
static void test_the_end_without_a_service(void)
{
    fixture_begin();
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    fake_service_set_mood(FAKE_GONE, 1);
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    (void)EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS, "an error is left");
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    fake_service_stop();
}

static void test_service_that_fails_later(void)
{
    aclrtStream stream = NULL;
    fixture_begin();
    fake_service_set_mood(FAKE_GONE, 1);
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtCreateStream(&stream));
    fake_service_set_mood(FAKE_NONSENSE, 1);
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtCreateStream(&stream));
    fake_service_set_mood(FAKE_NO_SESSION, 1);
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtCreateStream(&stream));
    (void)SAYS("call aclFinalize and aclInit");
    (void)EXPECT(stream == NULL, "an output was written");
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    fixture_end();
}

/* The child: no session, no context, its parent's handles mean nothing; its first call opens a
 * session of its own. */
static int run_child(aclrtStream stream)
{
    uint32_t count = 0;
    if (fake_service_has_session() && aclrtSynchronizeStream(stream) != ACL_ERROR_RT_INVALID_HANDLE)
        return 1;
    if (aclrtSynchronizeStream(NULL) != ACL_ERROR_RT_CONTEXT_NULL)
        return 2;
    if (!CAN_USE_FORKED_CHILD)
        return 0;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS || count != 8)
        return 3;
    if (aclrtSetDevice(1) != ACL_SUCCESS || aclrtSynchronizeDevice() != ACL_SUCCESS)
        return 4;
    return aclFinalize() == ACL_SUCCESS ? 0 : 5;
}

static void test_fork(void)
{
    aclrtStream stream = NULL;
    aclDataBuffer *buffer = aclCreateDataBuffer(&stream, 8);
    int status = -1;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    pid_t pid = fork();
    if (pid == 0)
        _exit(aclGetDataBufferSizeV2(buffer) == 8 ? run_child(stream) : 9);
    (void)EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "child: 0x%x", status);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    fixture_end();
    (void)GIVES(ACL_SUCCESS, aclDestroyDataBuffer(buffer));
}

static const struct client_test tests[] = {
    {"init and finalize count", test_init_and_finalize_counts},
    {"the first call initialises", test_first_call_initialises},
    {"calls without need open nothing", test_calls_without_need_open_nothing},
    {"configuration file", test_configuration_file},
    {"a socket where nobody listens", test_a_socket_where_nobody_listens},
    {"a failed init can be repeated", test_a_failed_init_can_be_repeated},
    {"another build is asked each time", test_another_build_is_asked_each_time},
    {"the end without a service", test_the_end_without_a_service},
    {"a service that fails later", test_service_that_fails_later},
    {"fork", test_fork},
    {NULL, NULL},
};
const struct client_suite suite_session = {"session", tests};
