/* somad --kernel-dir with the libraries of examples/kernels: what it lists, launches by REST, and a
 * launch that goes wrong while another session goes on. */
#include "fixture.h"
#include "somad_process.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define SOMAD SOMA_BINARY_DIR "/server/somad"
#define DIRECTORY SOMA_BINARY_DIR "/examples/kernels"
#define LAUNCH "/v1/devices/0/streams/0:launchKernel"

static struct somad_process start(const char *timeout_ms)
{
    struct somad_process somad;
    const char *const words[] = {
        "--kernel-dir", DIRECTORY,   "--log-level", "error", "--kernel-timeout",
        timeout_ms,     "--threads", "4",           NULL};
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, NULL, words));
    return somad;
}

static struct http_client *open_client(const struct somad_process *somad)
{
    char id[64];
    struct http_client *client = http_client_create(somad->url);
    CU_ASSERT_FATAL(client != NULL);
    fixture_open_session(client, NULL, id);
    fixture_do(client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":4096}", 200);
    return client;
}

static uint32_t first_word(struct http_client *client)
{
    uint32_t word = UINT32_MAX;
    struct http_answer answer =
        fixture_send(client, "GET", "/v1/devices/0/memory/0x500000000000?size=4", NULL);
    if (EXPECT(answer.status == 200 && answer.body_len == 4, "status %ld", answer.status))
        memcpy(&word, answer.body, 4);
    http_answer_release(&answer);
    return word;
}

static void test_listed(void)
{
    struct somad_process somad = start("5000");
    struct http_client *client = http_client_create(somad.url);
    cJSON *tree = fixture_call(client, "GET", "/v1/kernels", NULL, 200);
    const cJSON *kernel;
    unsigned found = 0;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(tree, "kernels"))
    {
        const char *name = text_of(kernel, "name"), *origin = text_of(kernel, "origin");
        if (name == NULL || origin == NULL || strcmp(name, "LongOP") != 0)
            continue;
        found++;
        EXPECT(strcmp(origin, "FILE") == 0, "%s", origin);
        EXPECT(same_words(text_of(kernel, "library"), "easy_ops"), "library");
        EXPECT(number_of(kernel, "fixedNs") == 1e9 && number_of(kernel, "nsPerBlock") == 0, "cost");
    }
    EXPECT(found == 1, "%u", found);
    cJSON_Delete(tree);
    http_client_destroy(client);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

static void test_launched(void)
{
    struct somad_process somad = start("5000");
    struct http_client *client = open_client(&somad);
    fixture_do(client, "POST", LAUNCH,
               "{\"kernel\":\"EasyOP\",\"blockDim\":8,\"args\":[{\"ptr\":\"0x500000000000\"}]}",
               200);
    fixture_do(client, "POST", LAUNCH,
               "{\"kernel\":\"easy_ops/ShortOP\",\"args\":[{\"ptr\":\"0x500000000000\"}]}", 200);
    EXPECT(first_word(client) == 2, "%u", first_word(client));
    fixture_refused(client, "POST", LAUNCH, "{\"kernel\":\"EasyOP\",\"args\":[{\"u32\":1}]}", 400,
                    "KERNEL_ARGUMENTS");
    fixture_refused(client, "POST", LAUNCH,
                    "{\"kernel\":\"vector/EasyOP\",\"args\":[{\"ptr\":\"0x500000000000\"}]}", 404,
                    "NO_SUCH_KERNEL");
    http_client_destroy(client);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

struct endless {
    struct http_client *client;
    long status;
};

static void *run_endless(void *user)
{
    struct endless *endless = user;
    struct http_answer answer = fixture_send(endless->client, "POST", LAUNCH,
                                             "{\"kernel\":\"Endless\",\"args\":[{\"u32\":0}]}");
    endless->status = answer.status;
    if (!EXPECT(is_error_body(answer.body, 400, "KERNEL_TIMEOUT"), "%s", answer.body))
        endless->status = 0;
    http_answer_release(&answer);
    return NULL;
}

/* One session's kernel never ends and then everything else of it fails; the other one works. */
static void test_contained(void)
{
    static const char *const bad[] = {
        "{\"kernel\":\"Poke\",\"args\":[{\"ptr\":\"0x500000000000\"},{\"u64\":4096}]}",
        "{\"kernel\":\"HalfDone\",\"args\":[{\"ptr\":\"0x500000000000\"},{\"u64\":0}]}",
        "{\"kernel\":\"Heap\",\"args\":[{\"u32\":0}]}",
        "{\"kernel\":\"Leaves\",\"args\":[{\"u32\":0}]}",
        "{\"kernel\":\"ErrorOP\",\"args\":[{\"u32\":0}]}"};
    struct somad_process somad = start("1500");
    struct endless endless = {open_client(&somad), 0};
    struct http_client *other = open_client(&somad);
    pthread_t thread;
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, run_endless, &endless) == 0);
    uint32_t launches = 0;
    for (; launches < 20; launches++)
        fixture_do(other, "POST", LAUNCH,
                   "{\"kernel\":\"EasyOP\",\"args\":[{\"ptr\":\"0x500000000000\"}]}", 200);
    (void)pthread_join(thread, NULL);
    EXPECT(endless.status == 400, "status %ld", endless.status);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fixture_refused(endless.client, "POST", LAUNCH, bad[i], 400, "KERNEL_FAULT");
        fixture_do(other, "POST", LAUNCH,
                   "{\"kernel\":\"EasyOP\",\"args\":[{\"ptr\":\"0x500000000000\"}]}", 200);
        launches++;
    }
    EXPECT(first_word(other) == launches, "%u of %u", first_word(other), launches);
    EXPECT(first_word(endless.client) == 0, "a failed launch left %u", first_word(endless.client));
    http_client_destroy(endless.client);
    http_client_destroy(other);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

static const struct soma_test tests[] = {
    {"libraries are listed", test_listed},
    {"kernels of libraries are launched", test_launched},
    {"what goes wrong stays in its session", test_contained},
    {NULL, NULL},
};
const struct soma_suite suite_http_kernels = {"http_kernels", tests};
