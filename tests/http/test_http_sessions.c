/* Sessions over HTTP: isolation, leases, limits, the report at the end. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static void test_life(void)
{
    struct fixture f;
    char id[64], path[128];
    fixture_start(&f, NULL);
    fixture_open_session(f.client,
                         "{\"label\":\"a b\",\"ttlSeconds\":60,\"devices\":2,"
                         "\"soc\":\"Ascend910B4\",\"clock\":\"wall\"}",
                         id);
    fixture_do(f.client, "POST", "/v1/devices/1/pools", "{\"maxSize\":\"8MiB\"}", 201);
    fixture_do(f.client, "POST", "/v1/devices/1/pools/1:malloc", "{\"size\":3000000}", 200);
    fixture_do(f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":100}", 200);
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    cJSON *tree = fixture_call(f.client, "GET", path, NULL, 200);
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(tree, "counts");
    EXPECT(same_words(text_of(tree, "label"), "a b") && number_of(tree, "ttlSeconds") == 60 &&
               same_words(text_of(tree, "clock"), "wall"),
           "what was asked for");
    EXPECT(number_of(counts, "devices") == 2 && number_of(counts, "pools") == 1 &&
               number_of(counts, "poolAllocations") == 1 &&
               number_of(counts, "deviceAllocations") == 1,
           "counts");
    EXPECT(number_of(tree, "mappedBytes") >= 4194304, "mapped");
    cJSON_Delete(tree);
    tree = fixture_call(f.client, "DELETE", path, NULL, 200);
    const cJSON *leaks = cJSON_GetObjectItemCaseSensitive(tree, "leaks");
    EXPECT(cJSON_GetArraySize(leaks) == 2, "%d leaks", cJSON_GetArraySize(leaks));
    EXPECT(number_of(cJSON_GetObjectItemCaseSensitive(tree, "freed"), "pools") == 1, "freed");
    cJSON_Delete(tree);
    fixture_refused(f.client, "GET", "/v1/devices", NULL, 404, "NO_SUCH_SESSION");
    http_client_set_session(f.client, NULL);
    fixture_refused(f.client, "GET", path, NULL, 404, "NO_SUCH_SESSION");
    fixture_refused(f.client, "DELETE", path, NULL, 404, "NO_SUCH_SESSION");
    fixture_stop(&f);
}

static void test_isolation(void)
{
    struct fixture f;
    char a[64], b[64];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"devices\":1}", a);
    fixture_do(f.client, "POST", "/v1/devices/0/pools", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/pools/1:malloc", "{\"size\":4}", 200);
    fixture_do(f.client, "POST", "/v1/devices/0/memory:set",
               "{\"ptr\":\"0x12c0c0000000\",\"value\":9,\"size\":4}", 204);
    fixture_open_session(f.client, "{\"devices\":1}", b);
    fixture_refused(f.client, "GET", "/v1/devices/0/pools/1", NULL, 404, "NO_SUCH_POOL");
    fixture_do(f.client, "POST", "/v1/devices/0/pools", NULL, 201);
    fixture_do(f.client, "POST", "/v1/devices/0/pools/1:malloc", "{\"size\":4}", 200);
    struct http_answer answer =
        fixture_send(f.client, "GET", "/v1/devices/0/memory/0x12c0c0000000?size=4", NULL);
    EXPECT(answer.body_len == 4 && memcmp(answer.body, "\0\0\0\0", 4) == 0, "other contents");
    http_answer_release(&answer);
    fixture_stop(&f);
}

static void test_default_is_renewed(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_do(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(f.client, "DELETE", "/v1/sessions/default", NULL, 200);
    cJSON *tree = fixture_call(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
    EXPECT(number_of(tree, "stream") == 1, "ids begin anew");
    cJSON_Delete(tree);
    tree = fixture_call(f.client, "GET", "/v1/sessions/default", NULL, 200);
    EXPECT(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(tree, "ttlSeconds")), "no lease");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static void few_sessions(struct soma_config *config)
{
    config->max_sessions = 2;
}

static void test_limit(void)
{
    struct fixture f;
    char id[64], path[128];
    fixture_start(&f, few_sessions);
    fixture_do(f.client, "POST", "/v1/sessions", NULL, 201);
    fixture_open_session(f.client, NULL, id);
    http_client_set_session(f.client, NULL);
    fixture_refused(f.client, "POST", "/v1/sessions", NULL, 429, "SESSION_LIMIT");
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    fixture_do(f.client, "DELETE", path, NULL, 200);
    fixture_do(f.client, "POST", "/v1/sessions", NULL, 201);
    fixture_stop(&f);
}

struct lease {
    struct fixture *f;
    const char *path;
};

static bool has_ended(void *ctx)
{
    struct lease *lease = ctx;
    struct http_answer answer = fixture_send(lease->f->client, "GET", lease->path, NULL);
    long status = answer.status;
    http_answer_release(&answer);
    return status == 404;
}

static void test_lease(void)
{
    struct fixture f;
    char id[64], kept[64], path[128], keep_alive[128];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"ttlSeconds\":1}", kept);
    (void)snprintf(keep_alive, sizeof(keep_alive), "/v1/sessions/%s:keepAlive", kept);
    fixture_open_session(f.client, "{\"ttlSeconds\":1}", id);
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    http_client_set_session(f.client, NULL);
    struct lease lease = {.f = &f, .path = path};
    uint64_t start = now_ms();
    while (now_ms() - start < 5000 && !has_ended(&lease)) {
        fixture_do(f.client, "POST", keep_alive, NULL, 204);
        sleep_ms(100);
    }
    uint64_t took = now_ms() - start;
    EXPECT(has_ended(&lease), "looking does not extend a lease");
    EXPECT(took >= 900, "it ended after %llu ms", (unsigned long long)took);
    fixture_do(f.client, "POST", keep_alive, NULL, 204);
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", kept);
    EXPECT(wait_until(has_ended, &lease), "then the other one");
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"life", test_life},
    {"isolation", test_isolation},
    {"default is renewed", test_default_is_renewed},
    {"limit", test_limit},
    {"lease", test_lease},
    {NULL, NULL},
};
const struct soma_suite suite_http_sessions = {"http_sessions", tests};
