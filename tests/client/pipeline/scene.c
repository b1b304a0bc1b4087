/* Shared parts of the tests of the pipelined client. */
#include "pipeline_tests.h"

#include "http_client.h"
#include "session.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static char last_text[2048];

int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&left, NULL);
}

bool gives(aclError want, aclError got, const char *call, const char *file, int line)
{
    const char *text = aclGetRecentErrMsg();
    (void)snprintf(last_text, sizeof(last_text), "%s", text != NULL ? text : "");
    return expect_that(got == want, file, line, "%s gave %d, not %d: %s", call, got, want,
                       last_text);
}

bool text_has(const char *part)
{
    return expect_that(strstr(last_text, part) != NULL, __FILE__, __LINE__, "\"%s\" has no \"%s\"",
                       last_text, part);
}

void scene_begin(struct scene *scene, bool has_proxy, const char *timeout_ms)
{
    static const char *const options[] = {"--log-level", "error", NULL};
    aclrtMemPoolProps props;
    memset(&props, 0, sizeof(props));
    memset(scene, 0, sizeof(*scene));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = (size_t)1 << 30;
    CU_ASSERT_FATAL(somad_start(&scene->somad, somad_path, NULL, options));
    scene->proxy = has_proxy ? proxy_start(scene->somad.url) : NULL;
    (void)setenv("SOMA_SERVER", has_proxy ? proxy_url(scene->proxy) : scene->somad.url, 1);
    if (timeout_ms != NULL)
        (void)setenv("SOMA_TIMEOUT_MS", timeout_ms, 1);
    else
        (void)unsetenv("SOMA_TIMEOUT_MS");
    CU_ASSERT_FATAL(GIVES(ACL_SUCCESS, aclInit(NULL)));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&scene->pool, &props));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
}

void scene_end(struct scene *scene)
{
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    if (scene->proxy != NULL)
        proxy_stop(scene->proxy);
    if (scene->somad.pid > 0)
        (void)EXPECT(somad_stop(&scene->somad) == 0, "somad ended badly");
}

void *scene_malloc(struct scene *scene, size_t bytes)
{
    void *ptr = NULL;
    if (GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&ptr, bytes, scene->pool, scene->stream)))
        scene->mallocs++;
    return ptr;
}

void scene_free(struct scene *scene, void *ptr)
{
    if (GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(ptr, scene->stream)))
        scene->frees++;
}

/* ---- what the server says ---- */

static cJSON *get(struct http_client *client, const char *path)
{
    struct http_request request = {.method = "GET", .path = path};
    struct http_answer answer;
    CU_ASSERT_FATAL(http_send(client, &request, &answer));
    cJSON *tree = cJSON_Parse(answer.body);
    (void)EXPECT(answer.status == 200, "GET %s: %ld %s", path, answer.status, answer.body);
    http_answer_release(&answer);
    return tree;
}

static uint64_t number_in(const cJSON *tree, const char *name)
{
    const cJSON *usage = cJSON_GetObjectItemCaseSensitive(tree, "usage");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(usage != NULL ? usage : tree, name);
    (void)EXPECT(cJSON_IsNumber(item), "the pool does not tell %s", name);
    return cJSON_IsNumber(item) ? (uint64_t)item->valuedouble : 0;
}

void scene_look(const struct scene *scene, uint64_t *mallocs, uint64_t *frees)
{
    struct http_client *client = http_client_create(scene->somad.url);
    struct client_session *session;
    *mallocs = *frees = UINT64_MAX;
    if (client != NULL && client_session_get(&session) == ACL_SUCCESS) {
        http_client_set_session(client, session->id);
        cJSON *pool = get(client, "/v1/devices/0/pools/1");
        *mallocs = number_in(pool, "mallocs");
        *frees = number_in(pool, "frees");
        cJSON_Delete(pool);
        client_session_release(session);
    }
    http_client_destroy(client);
}
