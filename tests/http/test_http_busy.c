/* A session that computes for long holds up nobody but itself. */
#include "batch.h"
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH "/v1/devices/0/streams/0:launchKernel"

struct worker {
    pthread_t thread;
    const char *url, *session, *path, *body;
    unsigned count;
    unsigned failed;
    uint64_t longest_ms;
};

static void *work(void *ctx)
{
    struct worker *worker = ctx;
    struct http_client *client = http_client_create(worker->url);
    http_client_set_session(client, worker->session);
    for (unsigned i = 0; i < worker->count; i++) {
        uint64_t start = now_ms();
        struct http_answer answer = fixture_send(client, "POST", worker->path, worker->body);
        worker->failed += answer.status / 100 != 2;
        worker->longest_ms =
            now_ms() - start > worker->longest_ms ? now_ms() - start : worker->longest_ms;
        http_answer_release(&answer);
    }
    http_client_destroy(client);
    return NULL;
}

static void start_worker(struct worker *worker, struct fixture *f, const char *session,
                         const char *path, const char *body, unsigned count)
{
    *worker = (struct worker){
        .url = f->url, .session = session, .path = path, .body = body, .count = count};
    CU_ASSERT_FATAL(pthread_create(&worker->thread, NULL, work, worker) == 0);
}

static bool is_slow_running(void *ctx)
{
    struct fixture *f = ctx;
    return fixture_metric(f->client, "soma_requests_waiting") >= 1;
}

static void kernel_body(char *body, size_t size, unsigned n)
{
    (void)snprintf(body, size,
                   "{\"kernel\":\"matmul\",\"args\":[{\"ptr\":\"0x12c0c0000000\"},"
                   "{\"ptr\":\"0x12c0c2000000\"},{\"ptr\":\"0x12c0c4000000\"},"
                   "{\"u32\":%u},{\"u32\":%u},{\"u32\":%u}]}",
                   n, n, n);
}

static void allocate_matrices(struct fixture *f)
{
    fixture_do(f->client, "POST", "/v1/devices/0/pools", NULL, 201);
    for (unsigned i = 0; i < 3; i++)
        fixture_do(f->client, "POST", "/v1/devices/0/pools/1:malloc", "{\"size\":\"32MiB\"}", 200);
}

/* A matmul that takes its time, more requests for its session behind it, and everyone else. */
static void test_long_kernel(void)
{
    char body[256];
    enum { BEHIND = 6 };
    struct fixture f;
    struct worker slow, behind[BEHIND], other;
    char id[64];
    kernel_body(body, sizeof(body), IS_SANITIZED ? 150 : 600);
    fixture_start(&f, NULL);
    fixture_open_session(f.client, "{\"devices\":1}", id);
    allocate_matrices(&f);
    http_client_set_session(f.client, NULL);
    uint64_t start = now_ms();
    start_worker(&slow, &f, id, LAUNCH, body, 1);
    EXPECT(wait_until(is_slow_running, &f), "the kernel does not run");
    for (unsigned i = 0; i < BEHIND; i++)
        start_worker(&behind[i], &f, id, "/v1/devices/0/streams", NULL, 5);
    start_worker(&other, &f, NULL, "/v1/devices/0/streams", NULL, 50);
    uint64_t longest = 0;
    for (unsigned i = 0; i < 50; i++) {
        uint64_t before = now_ms();
        fixture_do(f.client, "GET", "/readyz", NULL, 200);
        EXPECT(fixture_metric(f.client, "soma_sessions") == 2, "metrics");
        fixture_do(f.client, "GET", "/v1/sessions", NULL, 200);
        longest = now_ms() - before > longest ? now_ms() - before : longest;
    }
    (void)pthread_join(other.thread, NULL);
    (void)pthread_join(slow.thread, NULL);
    uint64_t kernel_ms = now_ms() - start;
    for (unsigned i = 0; i < BEHIND; i++) {
        (void)pthread_join(behind[i].thread, NULL);
        EXPECT(behind[i].failed == 0, "%u failed behind the kernel", behind[i].failed);
    }
    printf(" [kernel %llu ms; longest of others: service %llu ms, session %llu ms] ",
           (unsigned long long)kernel_ms, (unsigned long long)longest,
           (unsigned long long)other.longest_ms);
    EXPECT(slow.failed == 0 && other.failed == 0, "failed");
    fixture_stop(&f);
}

/* Long kernels in more sessions than there are processors: a short one in another session does not
 * stand in a queue behind them. */
static void test_long_kernels(void)
{
    enum { SLOW = 6 };
    struct fixture f;
    struct worker slow[SLOW], quick;
    char body[256], ids[SLOW][64], id[64];
    fixture_start(&f, NULL);
    kernel_body(body, sizeof(body), IS_SANITIZED ? 150 : 400);
    uint64_t start = now_ms();
    for (unsigned i = 0; i < SLOW; i++) {
        fixture_open_session(f.client, "{\"devices\":1}", ids[i]);
        allocate_matrices(&f);
        start_worker(&slow[i], &f, ids[i], LAUNCH, body, 4);
    }
    fixture_open_session(f.client, "{\"devices\":1}", id);
    allocate_matrices(&f);
    start_worker(&quick, &f, id, LAUNCH,
                 "{\"kernel\":\"fill\",\"args\":[{\"ptr\":\"0x12c0c0000000\"},{\"u64\":4},"
                 "{\"u32\":1}]}",
                 4);
    (void)pthread_join(quick.thread, NULL);
    uint64_t quick_ms = now_ms() - start;
    for (unsigned i = 0; i < SLOW; i++) {
        (void)pthread_join(slow[i].thread, NULL);
        EXPECT(slow[i].failed == 0, "%u failed", slow[i].failed);
    }
    uint64_t slow_ms = now_ms() - start;
    printf(" [short kernels %llu ms, long ones %llu ms] ", (unsigned long long)quick_ms,
           (unsigned long long)slow_ms);
    EXPECT(quick.failed == 0 && quick_ms < slow_ms, "%llu ms", (unsigned long long)quick_ms);
    fixture_stop(&f);
}

/* Many sessions at once, light and heavy requests mixed: all are answered, ids stay in step. */
static void test_mixed_load(void)
{
    enum { SESSIONS = 6, PER = 3 };
    static const char *const batch =
        "{\"commands\":[{\"op\":\"memory.malloc\",\"size\":2097152,\"as\":\"a\"},"
        "{\"op\":\"memory.set\",\"ptr\":\"$a\",\"value\":1,\"size\":2097152},"
        "{\"op\":\"memory.free\",\"ptr\":\"$a\"}]}";
    struct fixture f;
    struct worker workers[SESSIONS * PER];
    char ids[SESSIONS][64];
    fixture_start(&f, NULL);
    for (unsigned i = 0; i < SESSIONS; i++) {
        fixture_open_session(f.client, "{\"devices\":1}", ids[i]);
        start_worker(&workers[i * PER], &f, ids[i], "/v1/devices/0/streams", NULL, 200);
        start_worker(&workers[i * PER + 1], &f, ids[i], "/v1/commands", batch, 30);
        start_worker(&workers[i * PER + 2], &f, ids[i], "/v1/devices/0:synchronize", NULL, 200);
    }
    for (unsigned i = 0; i < SESSIONS * PER; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        EXPECT(workers[i].failed == 0, "%s: %u failed", workers[i].path, workers[i].failed);
    }
    for (unsigned i = 0; i < SESSIONS; i++) {
        http_client_set_session(f.client, ids[i]);
        cJSON *tree = fixture_call(f.client, "POST", "/v1/devices/0/streams", NULL, 201);
        EXPECT(number_of(tree, "stream") == 201, "stream %g", number_of(tree, "stream"));
        cJSON_Delete(tree);
    }
    fixture_stop(&f);
}

/* ---- large sets in a batch that is not answered ---- */

static void one_thread(struct soma_config *config)
{
    config->threads = 1;
}

struct setter {
    pthread_t thread;
    const char *url;
    struct soma_writer body;
    uint64_t took_ms;
    long status;
    _Atomic bool is_over;
};

/* Sets of 16 MiB, as the C client sends them. */
static void make_sets(struct soma_writer *body, unsigned count)
{
    struct soma_batch_writer batch;
    soma_batch_writer_init(&batch, 1 << 20);
    soma_writer_init(body, 1 << 20);
    for (unsigned i = 0; i < count; i++) {
        struct soma_command command;
        soma_command_init(&command, SOMA_OP_MEMORY_SET);
        soma_command_set(&command, SOMA_FIELD_device, 0);
        soma_command_set(&command, SOMA_FIELD_ptr, SOMA_ADDRESS_BASE);
        soma_command_set(&command, SOMA_FIELD_value, 1 + i % 2);
        soma_command_set(&command, SOMA_FIELD_size, 16 << 20);
        CU_ASSERT_FATAL(soma_batch_add(&batch, &command));
    }
    CU_ASSERT_FATAL(soma_batch_finish(&batch, SOMA_BATCH_QUIET, 0, body));
    soma_batch_writer_release(&batch);
}

static void *set(void *ctx)
{
    struct setter *setter = ctx;
    struct http_client *client = http_client_create(setter->url);
    struct http_request request = {.method = "POST",
                                   .path = "/v1/commands",
                                   .content_type = SOMA_BATCH_TYPE,
                                   .body = setter->body.ptr,
                                   .body_len = setter->body.len};
    struct http_answer answer = {0};
    uint64_t start = now_ms();
    setter->status = http_send(client, &request, &answer) ? answer.status : 0;
    setter->took_ms = now_ms() - start;
    atomic_store(&setter->is_over, true);
    http_answer_release(&answer);
    http_client_destroy(client);
    return NULL;
}

/* One thread of libmicrohttpd: what others ask is answered long before the sets are done. */
static void test_large_sets(void)
{
    struct fixture f;
    struct setter setter = {.status = 0};
    uint64_t longest = 0;
    fixture_start(&f, one_thread);
    fixture_do(f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":\"16MiB\"}", 200);
    make_sets(&setter.body, IS_SANITIZED ? 50 : 400);
    setter.url = f.url;
    CU_ASSERT_FATAL(pthread_create(&setter.thread, NULL, set, &setter) == 0);
    unsigned count = 0;
    for (; !atomic_load(&setter.is_over); count++) {
        uint64_t before = now_ms();
        fixture_do(f.client, "GET", "/readyz", NULL, 200);
        longest = now_ms() - before > longest ? now_ms() - before : longest;
    }
    (void)pthread_join(setter.thread, NULL);
    printf(" [sets %llu ms; longest of %u others %llu ms] ", (unsigned long long)setter.took_ms,
           count, (unsigned long long)longest);
    EXPECT(setter.status == 200, "%ld", setter.status);
    EXPECT(longest < setter.took_ms / 2, "others waited for the sets");
    soma_writer_release(&setter.body);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"a long kernel", test_long_kernel},
    {"long kernels", test_long_kernels},
    {"mixed load", test_mixed_load},
    {"large sets", test_large_sets},
    {NULL, NULL},
};
const struct soma_suite suite_http_busy = {"http_busy", tests};
