/* Servers that die and sessions that somebody else touches or ends. */
#include "pipeline_tests.h"

#include "http_client.h"
#include "session.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Calls without an answer until one fails, while the server is killed: it fails soon, clearly, and
 * so does everything after it. */
static void run_until_killed(struct scene *scene, int signal, long limit_ms)
{
    aclError error = ACL_SUCCESS;
    void *ptr = NULL;
    unsigned calls = 0;
    int64_t start_ms = clock_ms(), killed_ms = 0;
    while (error == ACL_SUCCESS && clock_ms() - start_ms < 20000) {
        error = aclrtMemPoolMallocAsync(&ptr, 4096, scene->pool, scene->stream);
        if (error == ACL_SUCCESS)
            error = aclrtMemPoolFreeAsync(ptr, scene->stream);
        if (++calls == 30000) {
            (void)kill(scene->somad.pid, signal);
            killed_ms = clock_ms();
        }
    }
    (void)EXPECT(error == ACL_ERROR_RT_SOCKET_CLOSE && killed_ms > 0, "%u calls, then %d", calls,
                 error);
    (void)EXPECT(clock_ms() - killed_ms < limit_ms, "%d ms later", (int)(clock_ms() - killed_ms));
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtSynchronizeStream(scene->stream));
    (void)text_has("SOMA_SERVER");
}

static void test_server_dies(void)
{
    static const int signals[] = {SIGKILL, SIGSTOP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct scene scene;
        scene_begin(&scene, false, "1000");
        run_until_killed(&scene, signals[i], 4000);
        (void)kill(scene.somad.pid, SIGKILL);
        (void)waitpid(scene.somad.pid, NULL, 0);
        scene.somad.pid = 0;
        scene_end(&scene);
    }
}

/* Send a request into the program's own session, as somebody else would. */
static void send_foreign(const struct scene *scene, const char *method, const char *path,
                         const char *body)
{
    struct client_session *session = NULL;
    struct http_answer answer;
    char whole[256];
    struct http_client *client = http_client_create(scene->somad.url);
    CU_ASSERT_FATAL(client != NULL && client_session_get(&session) == ACL_SUCCESS);
    bool is_delete = strcmp(path, "/v1/sessions/") == 0;
    (void)snprintf(whole, sizeof(whole), "%s%s", path, is_delete ? session->id : "");
    struct http_request request = {.method = method,
                                   .path = whole,
                                   .content_type = body != NULL ? "application/json" : NULL,
                                   .body = body,
                                   .body_len = body != NULL ? strlen(body) : 0};
    http_client_set_session(client, is_delete ? NULL : session->id);
    CU_ASSERT_FATAL(http_send(client, &request, &answer));
    (void)EXPECT(answer.status < 300, "%s %s: %s", method, whole, answer.body);
    http_answer_release(&answer);
    client_session_release(session);
    http_client_destroy(client);
}

static void test_foreign_command(void)
{
    struct scene scene;
    void *ptr = NULL;
    scene_begin(&scene, false, NULL);
    (void)scene_malloc(&scene, 64);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    send_foreign(&scene, "POST", "/v1/devices/0/streams", "{}");
    (void)scene_malloc(&scene, 64);
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(scene.stream));
    (void)text_has("disagree");
    (void)text_has("digest");
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR,
                aclrtMemPoolMallocAsync(&ptr, 64, scene.pool, scene.stream));
    (void)text_has("disagree");
    scene_end(&scene);
    scene_begin(&scene, false, NULL); /* a new session is as good as ever */
    scene_free(&scene, scene_malloc(&scene, 64));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    scene_end(&scene);
}

/* What the copy allows and the service refuses: told with its arguments and its place. */
static void test_late_failure(void)
{
    struct scene scene;
    char address[32];
    scene_begin(&scene, false, NULL);
    void *ptr = scene_malloc(&scene, 64);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    send_foreign(&scene, "DELETE", "/v1/devices/0/pools/1", NULL);
    scene_free(&scene, ptr);
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(scene.stream));
    (void)snprintf(address, sizeof(address), "\"ptr\":\"%p\"", ptr);
    (void)text_has("failed at the service after its call had returned");
    (void)text_has("\"op\":\"memory.freeAsync\"");
    (void)text_has(address);
    (void)text_has("command ");
    scene_end(&scene);
}

static void test_session_ended(void)
{
    struct scene scene;
    scene_begin(&scene, false, NULL);
    send_foreign(&scene, "DELETE", "/v1/sessions/", NULL);
    (void)scene_malloc(&scene, 64);
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtSynchronizeStream(scene.stream));
    (void)text_has("gone");
    (void)GIVES(ACL_ERROR_RT_SOCKET_CLOSE, aclrtSynchronizeDevice());
    (void)text_has("aclInit");
    scene_end(&scene);
}

const struct pipeline_test lost_tests[] = {
    {"a command that fails later is told with its arguments", test_late_failure},
    {"the server is killed or stopped in mid-batch", test_server_dies},
    {"a command of somebody else", test_foreign_command},
    {"the session is ended by somebody else", test_session_ended},
    {NULL, NULL},
};
