/* POST /v1/commands: names, errors, and batches large enough to leave the connection's thread. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static const cJSON *result_of(const cJSON *tree, int i)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(tree, "results"), i);
}

static int result_count(const cJSON *tree)
{
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(tree, "results"));
}

static cJSON *run(struct fixture *f, const char *body)
{
    return fixture_call(f->client, "POST", "/v1/commands", body, 200);
}

static bool failed_with(const cJSON *result, const char *reason)
{
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(result, "error");
    const cJSON *detail = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(error, "details"), 0);
    return same_words(text_of(detail, "reason"), reason);
}

static void test_names(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    cJSON *tree = run(
        &f, "{\"commands\":["
            "{\"op\":\"pool.create\",\"device\":0,\"as\":\"p\"},"
            "{\"op\":\"stream.create\",\"as\":\"s\"},"
            "{\"op\":\"pool.malloc\",\"pool\":\"$p\",\"size\":64,\"stream\":\"$s\",\"as\":\"a\"},"
            "{\"op\":\"memory.write\",\"ptr\":\"$a\",\"base64\":\"AAEC\"},"
            "{\"op\":\"memory.read\",\"ptr\":\"$a\",\"size\":4},"
            "{\"op\":\"memory.freeAsync\",\"ptr\":\"$a\",\"stream\":\"$s\"}]}");
    EXPECT(number_of(tree, "completed") == 6 && result_count(tree) == 6, "completed");
    EXPECT(same_words(text_of(result_of(tree, 2), "reuse"), "FRESH"), "malloc");
    EXPECT(same_words(text_of(result_of(tree, 4), "base64"), "AAECAA=="), "read");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static void test_on_error(void)
{
    static const char commands[] = "\"commands\":["
                                   "{\"op\":\"stream.create\"},"
                                   "{\"op\":\"pool.malloc\",\"pool\":7,\"size\":64},"
                                   "{\"op\":\"nope\"},"
                                   "{\"op\":\"pool.get\",\"pool\":\"$x\"},"
                                   "{\"op\":\"pool.get\",\"pool\":1.5},"
                                   "17,"
                                   "{\"size\":1},"
                                   "{\"op\":\"stream.create\",\"sizes\":1},"
                                   "{\"op\":\"memory.read\",\"ptr\":1,\"size\":\"1GiB\"},"
                                   "{\"op\":\"stream.create\"}]";
    static const char *const reasons[] = {
        NULL,         "NO_SUCH_POOL",  "UNKNOWN_OP",    "UNKNOWN_NAME",       NULL,
        "WRONG_TYPE", "MISSING_FIELD", "UNKNOWN_FIELD", "VALUE_OUT_OF_RANGE", NULL};
    char body[1024];
    struct fixture f;
    fixture_start(&f, NULL);
    (void)snprintf(body, sizeof(body), "{%s}", commands);
    cJSON *tree = run(&f, body);
    EXPECT(number_of(tree, "completed") == 1 && result_count(tree) == 2, "stop is the default");
    cJSON_Delete(tree);
    (void)snprintf(body, sizeof(body), "{%s,\"onError\":\"continue\"}", commands);
    tree = run(&f, body);
    EXPECT(number_of(tree, "completed") == 2 && result_count(tree) == 10, "continue");
    for (int i = 0; i < 10; i++)
        EXPECT(reasons[i] == NULL || failed_with(result_of(tree, i), reasons[i]), "result %d", i);
    EXPECT(number_of(result_of(tree, 0), "stream") == 2 &&
               number_of(result_of(tree, 9), "stream") == 3,
           "refused commands take no ids");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static void test_empty(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    cJSON *tree = run(&f, "{\"commands\":[]}");
    EXPECT(number_of(tree, "completed") == 0 && result_count(tree) == 0, "nothing to do");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static void test_large(void)
{
    enum { COUNT = 50000 };
    struct fixture f;
    char *body = malloc(64 * COUNT);
    CU_ASSERT_FATAL(body != NULL);
    fixture_start(&f, NULL);
    size_t len =
        (size_t)snprintf(body, 128, "{\"commands\":[{\"op\":\"pool.create\",\"as\":\"p\"}");
    for (unsigned i = 0; i < COUNT; i++)
        len += (size_t)snprintf(
            body + len, 64,
            i % 2 == 0 ? ",{\"op\":\"pool.malloc\",\"pool\":\"$p\",\"size\":1,\"as\":\"a\"}"
                       : ",{\"op\":\"pool.free\",\"pool\":\"$p\",\"ptr\":\"$a\"}");
    (void)snprintf(body + len, 64, "]}");
    cJSON *tree = run(&f, body);
    EXPECT(number_of(tree, "completed") == COUNT + 1, "completed %g", number_of(tree, "completed"));
    cJSON_Delete(tree);
    free(body);
    fixture_stop(&f);
}

/* A command in the middle has to wait: the batch goes on behind it. */
static void test_wait_in_the_middle(void)
{
    struct fixture f;
    char id[64];
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"clock\":\"wall\",\"devices\":1}", id);
    uint64_t start = now_ms();
    cJSON *tree = run(&f, "{\"commands\":["
                          "{\"op\":\"stream.create\",\"as\":\"s\"},"
                          "{\"op\":\"stream.delay\",\"stream\":\"$s\",\"durationNs\":200000000},"
                          "{\"op\":\"stream.synchronize\",\"stream\":\"$s\"},"
                          "{\"op\":\"stream.delay\",\"stream\":\"$s\",\"durationNs\":200000000},"
                          "{\"op\":\"stream.synchronize\",\"stream\":\"$s\",\"timeoutMs\":50},"
                          "{\"op\":\"stream.get\",\"stream\":\"$s\"}],\"onError\":\"continue\"}");
    uint64_t took = now_ms() - start;
    EXPECT(took >= 240 && took < 2000, "%llu ms", (unsigned long long)took);
    EXPECT(number_of(tree, "completed") == 5, "completed %g", number_of(tree, "completed"));
    EXPECT(same_words(text_of(result_of(tree, 2), "status"), "COMPLETE"), "first");
    EXPECT(failed_with(result_of(tree, 4), "STREAM_SYNC_TIMEOUT"), "second");
    EXPECT(same_words(text_of(result_of(tree, 5), "status"), "NOT_READY"), "third");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

/* Every error of a batch counts, not the last one alone. */
static void test_errors_are_counted(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    cJSON *tree = run(&f, "{\"onError\":\"continue\",\"commands\":[{\"op\":\"nope\"},"
                          "{\"op\":\"stream.create\",\"priority\":-1},{\"op\":\"nope\"}]}");
    cJSON_Delete(tree);
    struct http_answer answer = fixture_send(f.client, "GET", "/metrics", NULL);
    EXPECT(strstr(answer.body,
                  "soma_errors_total{reason=\"UNKNOWN_OP\",kind=\"UNKNOWN_OP\"} 2\n") != NULL &&
               strstr(answer.body, "soma_errors_total{reason=\"VALUE_OUT_OF_RANGE\",kind="
                                   "\"VALUE_OUT_OF_RANGE\"} 1\n") != NULL,
           "%s", answer.body);
    http_answer_release(&answer);
    fixture_stop(&f);
}

static void small_answers(struct soma_config *config)
{
    config->max_body_bytes = 1 << 20; /* the least that answers may have is 64 MiB */
}

/* The batch ends where its answer would be too large: what has run is told, the rest is not run.
 * 50 MiB in base64 are 66.7. */
static void test_answer_limit(void)
{
    struct fixture f;
    fixture_start(&f, small_answers);
    cJSON *tree = run(&f, "{\"onError\":\"continue\",\"commands\":["
                          "{\"op\":\"memory.malloc\",\"size\":\"50MiB\",\"as\":\"a\"},"
                          "{\"op\":\"memory.read\",\"ptr\":\"$a\",\"size\":\"1KiB\"},"
                          "{\"op\":\"memory.read\",\"ptr\":\"$a\",\"size\":\"50MiB\"},"
                          "{\"op\":\"stream.create\"}]}");
    EXPECT(number_of(tree, "completed") == 2 && result_count(tree) == 3 &&
               failed_with(result_of(tree, 2), "CONTENT_TOO_LARGE"),
           "%d results", result_count(tree));
    cJSON_Delete(tree);
    tree = fixture_call(f.client, "GET", "/v1/devices/0/streams", NULL, 200);
    EXPECT(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(tree, "streams")) == 1,
           "a command behind the end was run");
    cJSON_Delete(tree);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"errors are counted", test_errors_are_counted},
    {"answer limit", test_answer_limit},
    {"names", test_names},
    {"on error", test_on_error},
    {"empty", test_empty},
    {"large", test_large},
    {"a wait in the middle", test_wait_in_the_middle},
    {NULL, NULL},
};
const struct soma_suite suite_http_commands = {"http_commands", tests};
