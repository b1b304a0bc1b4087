/* The C client, pipelined: what a program with libascendcl.so sees.
 *   pairs    MallocAsync and FreeAsync, 10,000 pairs between two synchronises, all confirmed
 *   malloc   time inside the call, as the program sees it, beside the engine called directly */
#include "acl/acl.h"
#include "bench.h"
#include "engine.h"
#include "grpc_peer.h"
#include "host_memory.h"
#include "redis_peer.h"
#include "service.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_PER_SYNC 10000u
#define CALLS 100000u /* whose times are kept for a median */
#define CALLS_QUICK 2000u

struct client {
    struct service service;
    aclrtStream stream;
    aclrtMemPool pool;
};

/* A call that has to succeed. */
#define NEED(call) need((call), #call)

static bool need(aclError error, const char *call)
{
    const char *text = error == ACL_SUCCESS ? NULL : aclGetRecentErrMsg();
    return error == ACL_SUCCESS ||
           bench_fail("%s gave %d: %s", call, error, text != NULL ? text : "no text");
}

static bool client_start(struct client *client)
{
    aclrtMemPoolProps props;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = (size_t)8 << 30;
    if (!service_start(&client->service))
        return false;
    (void)setenv("SOMA_SERVER", client->service.url, 1);
    (void)setenv("SOMA_QUIET", "1", 1);
    return NEED(aclInit(NULL)) && NEED(aclrtSetDevice(0)) &&
           NEED(aclrtCreateStream(&client->stream)) &&
           NEED(aclrtMemPoolCreate(&client->pool, &props));
}

static bool client_stop(struct client *client)
{
    bool good = NEED(aclFinalize());
    service_stop(&client->service);
    return good;
}

/* ---- pairs ---- */

/* Pairs per second; a synchronise behind each ten thousand, so that the service has confirmed all.
 */
static bool measure_pairs(struct client *client, double seconds, struct bench_series *rates)
{
    double start = bench_now(), now = start;
    double pairs = 0;
    while (now - start < seconds) {
        for (unsigned i = 0; i < PAIRS_PER_SYNC; i++) {
            void *ptr = NULL;
            if (!NEED(aclrtMemPoolMallocAsync(&ptr, 4096, client->pool, client->stream)) ||
                !NEED(aclrtMemPoolFreeAsync(ptr, client->stream)))
                return false;
        }
        if (!NEED(aclrtSynchronizeStream(client->stream)))
            return false;
        pairs += PAIRS_PER_SYNC;
        now = bench_now();
    }
    bench_series_add(rates, pairs / (now - start));
    return true;
}

static bool add_pairs(struct bench *bench, struct client *client)
{
    struct bench_row grpc = {.name = "pipeline.pairs.grpc",
                             .unit = "pairs/s",
                             .peer = "gRPC C++ unary, 1 connection",
                             .goal = BENCH_AT_LEAST,
                             .goal_ratio = 100};
    struct bench_row redis = {.name = "pipeline.commands.redis",
                              .unit = "commands/s",
                              .peer = "Redis SET, -P 1000 -c 2",
                              .goal = BENCH_AT_LEAST,
                              .goal_ratio = 1};
    struct bench_row alone = {.name = "pipeline.pairs", .unit = "pairs/s"};
    struct grpc_peer peer = {.path = bench->options.grpc};
    double seconds = bench->options.seconds;
    struct bench_series unused = {.count = 0};
    bool good = measure_pairs(client, seconds / 4, &unused) &&
                (peer.path == NULL || grpc_peer_start(&peer, peer.path));
    for (unsigned round = 0; good && round < bench->options.rounds; round++) {
        good = measure_pairs(client, seconds, &alone.values);
        bench_series_add(&redis.values, 2 * alone.values.values[round]);
        if (good && bench->options.redis)
            good = redis_peer_measure(seconds, &redis.peer_values);
        if (good && peer.path != NULL)
            good = grpc_peer_measure(&peer, 1, seconds, &grpc.peer_values);
    }
    if (peer.path != NULL)
        grpc_peer_stop(&peer);
    grpc.values = alone.values;
    bench_add(bench, peer.path != NULL ? &grpc : &alone);
    if (bench->options.redis)
        bench_add(bench, &redis);
    return good;
}

/* ---- time in the call ---- */

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median_ns(double *times, unsigned count)
{
    qsort(times, count, sizeof(times[0]), compare_doubles);
    return times[count / 2] * 1e9;
}

static bool time_client(struct client *client, double *times, unsigned count, double *p50)
{
    for (unsigned i = 0; i < count; i++) {
        void *ptr = NULL;
        double start = bench_now();
        aclError error = aclrtMemPoolMallocAsync(&ptr, 4096, client->pool, client->stream);
        times[i] = bench_now() - start;
        if (!need(error, "aclrtMemPoolMallocAsync") ||
            !NEED(aclrtMemPoolFreeAsync(ptr, client->stream)))
            return false;
    }
    *p50 = median_ns(times, count);
    return NEED(aclrtSynchronizeStream(client->stream));
}

static bool apply(struct engine *engine, const struct soma_command *command,
                  struct soma_result *result)
{
    struct soma_error error;
    return engine_apply(engine, command, result, &error) == SOMA_OK ||
           bench_fail("engine: %s", error.message);
}

static bool time_engine(struct engine *engine, double *times, unsigned count, double *p50)
{
    struct soma_command command;
    struct soma_result result;
    for (unsigned i = 0; i < count; i++) {
        double start = bench_now();
        soma_command_init(&command, SOMA_OP_POOL_MALLOC);
        soma_command_set(&command, SOMA_FIELD_device, 0);
        soma_command_set(&command, SOMA_FIELD_pool, 1);
        soma_command_set(&command, SOMA_FIELD_size, 4096);
        soma_command_set(&command, SOMA_FIELD_stream, 1);
        bool good = apply(engine, &command, &result);
        times[i] = bench_now() - start;
        if (!good)
            return false;
        soma_command_init(&command, SOMA_OP_POOL_FREE);
        soma_command_set(&command, SOMA_FIELD_device, 0);
        soma_command_set(&command, SOMA_FIELD_pool, 1);
        soma_command_set(&command, SOMA_FIELD_ptr, result.u.pool_block.ptr);
        soma_command_set(&command, SOMA_FIELD_stream, 1);
        if (!apply(engine, &command, &result))
            return false;
    }
    *p50 = median_ns(times, count);
    return true;
}

static struct engine *make_engine(void)
{
    struct engine_mem mem = host_memory_table();
    struct engine_config config = {.device_count = 8, .soc = soma_soc_row(0)};
    struct engine *engine = engine_create(&config, &mem, NULL);
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_STREAM_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    if (engine == NULL || !apply(engine, &command, &result))
        return engine;
    soma_command_init(&command, SOMA_OP_POOL_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    (void)apply(engine, &command, &result);
    return engine;
}

static bool add_call(struct bench *bench, struct client *client)
{
    struct bench_row row = {.name = "pipeline.malloc.p50",
                            .unit = "ns",
                            .peer = "engine malloc, called directly",
                            .goal = BENCH_AT_MOST,
                            .goal_ratio = 3};
    unsigned count = bench->options.is_quick ? CALLS_QUICK : CALLS;
    double *times = calloc(count, sizeof(*times));
    struct engine *engine = make_engine();
    bool good = times != NULL && engine != NULL;
    for (unsigned round = 0; good && round < bench->options.rounds; round++) {
        double ours = 0, theirs = 0;
        good =
            time_client(client, times, count, &ours) && time_engine(engine, times, count, &theirs);
        bench_series_add(&row.values, ours);
        bench_series_add(&row.peer_values, theirs);
    }
    engine_destroy(engine);
    free(times);
    bench_add(bench, &row);
    return good;
}

bool group_pipeline(struct bench *bench)
{
    struct client client;
    memset(&client, 0, sizeof(client));
    return client_start(&client) && add_pairs(bench, &client) && add_call(bench, &client) &&
           client_stop(&client);
}
