/* Shards of relaxed atomic counters, summed when they are asked for. Sums over sessions are taken
 * without waiting for a busy one (session_look). */
#include "metrics.h"

#include "connection.h"
#include "router.h"
#include "sessions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* HTTP codes that the server answers; anything else counts as the last. */
static const int codes[] = {200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 413,
                            415, 422, 429, 431, 500, 501, 503, 504, 505, 0};

#define CODE_COUNT (sizeof(codes) / sizeof(codes[0]))

/* Upper ends of the buckets. Each counter holds its own bucket only; sums are made on the way out.
 */
static const uint64_t latency_ns[] = {50000,     100000,    250000,    500000,     1000000,
                                      2500000,   5000000,   10000000,  25000000,   50000000,
                                      100000000, 250000000, 500000000, 1000000000, 10000000000};
static const uint64_t batch_sizes[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000};

#define LATENCY_COUNT (sizeof(latency_ns) / sizeof(latency_ns[0]))
#define BATCH_COUNT (sizeof(batch_sizes) / sizeof(batch_sizes[0]))
#define STATUS_MAX 300u

typedef _Atomic uint64_t counter;

struct route_counters {
    counter codes[CODE_COUNT];
    counter latency[LATENCY_COUNT + 1];
    counter duration_ns;
};

struct shard {
    _Alignas(64) counter statuses[STATUS_MAX];
    counter batches[BATCH_COUNT + 1];
    counter batch_commands;
    struct route_counters *routes; /* one per route, and the last for requests without */
};

struct metrics {
    const struct router *router;
    size_t route_count;
    uint64_t started_ns;
    struct shard shards[METRICS_SHARDS];
};

struct metrics *metrics_create(const struct router *router)
{
    struct metrics *metrics = aligned_alloc(64, (sizeof(*metrics) + 63) / 64 * 64);
    if (metrics == NULL)
        return NULL;
    memset(metrics, 0, sizeof(*metrics));
    metrics->router = router;
    metrics->route_count = router_route_count(router);
    metrics->started_ns = monotonic_ns();
    for (unsigned i = 0; i < METRICS_SHARDS; i++) {
        struct shard *shard = &metrics->shards[i];
        shard->routes = calloc(metrics->route_count + 1, sizeof(*shard->routes));
        if (shard->routes == NULL) {
            metrics_destroy(metrics);
            return NULL;
        }
    }
    return metrics;
}

void metrics_destroy(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (unsigned i = 0; i < METRICS_SHARDS; i++)
        free(metrics->shards[i].routes);
    free(metrics);
}

/* ---- counting ---- */

static void add(counter *to, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

static size_t bucket_of(const uint64_t *ends, size_t count, uint64_t value)
{
    size_t i = 0;
    while (i < count && value > ends[i])
        i++;
    return i;
}

static size_t code_index(int http)
{
    size_t i = 0;
    while (i < CODE_COUNT - 1 && codes[i] != http)
        i++;
    return i;
}

void metrics_count_request(struct metrics *metrics, unsigned shard, const struct route *route,
                           int http, enum soma_status status, uint64_t duration_ns)
{
    struct shard *to = &metrics->shards[shard];
    struct route_counters *counters =
        &to->routes[route != NULL ? route->index : metrics->route_count];
    add(&counters->codes[code_index(http)], 1);
    add(&counters->latency[bucket_of(latency_ns, LATENCY_COUNT, duration_ns)], 1);
    add(&counters->duration_ns, duration_ns);
    if (status != SOMA_OK)
        metrics_count_error(metrics, shard, status);
}

void metrics_count_error(struct metrics *metrics, unsigned shard, enum soma_status status)
{
    if ((unsigned)status < STATUS_MAX)
        add(&metrics->shards[shard].statuses[status], 1);
}

void metrics_count_batch(struct metrics *metrics, unsigned shard, uint64_t command_count)
{
    struct shard *to = &metrics->shards[shard];
    add(&to->batches[bucket_of(batch_sizes, BATCH_COUNT, command_count)], 1);
    add(&to->batch_commands, command_count);
}

/* ---- writing ---- */

static void SOMA_PRINTF(2, 3) put(struct soma_writer *writer, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    soma_writer_raw(writer, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

static void head(struct soma_writer *writer, const char *name, const char *type, const char *help)
{
    put(writer, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_value(struct soma_writer *writer, const char *name, const char *type,
                      const char *help, uint64_t value)
{
    head(writer, name, type, help);
    put(writer, "%s %" PRIu64 "\n", name, value);
}

static uint64_t get(counter *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

/* The sum over all shards of the route's counter that lies this far into its struct. */
static uint64_t route_sum(struct metrics *metrics, size_t route, size_t offset)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < METRICS_SHARDS; i++)
        sum += get((counter *)(void *)((char *)&metrics->shards[i].routes[route] + offset));
    return sum;
}

#define ROUTE_SUM(metrics, route, member)                                                          \
    route_sum((metrics), (route), offsetof(struct route_counters, member))

static void route_labels(const struct metrics *metrics, size_t index, char *buf, size_t buf_bytes)
{
    if (index == metrics->route_count) {
        (void)snprintf(buf, buf_bytes, "method=\"\",route=\"unmatched\"");
        return;
    }
    const struct route *route = router_route(metrics->router, index);
    (void)snprintf(buf, buf_bytes, "method=\"%s\",route=\"%s\"", soma_method_name(route->method),
                   route->path);
}

static void put_requests(struct metrics *metrics, struct soma_writer *writer)
{
    char labels[160];
    head(writer, "soma_http_requests_total", "counter", "Requests, by route and HTTP status.");
    for (size_t route = 0; route <= metrics->route_count; route++) {
        route_labels(metrics, route, labels, sizeof(labels));
        for (size_t i = 0; i < CODE_COUNT; i++) {
            size_t offset = offsetof(struct route_counters, codes) + i * sizeof(counter);
            uint64_t count = route_sum(metrics, route, offset);
            if (count > 0)
                put(writer, "soma_http_requests_total{%s,status=\"%d\"} %" PRIu64 "\n", labels,
                    codes[i], count);
        }
    }
}

static void put_latency_of(struct metrics *metrics, struct soma_writer *writer, size_t route)
{
    static const char name[] = "soma_http_request_duration_seconds";
    char labels[160];
    uint64_t sums[LATENCY_COUNT + 1], total = 0;
    for (size_t i = 0; i <= LATENCY_COUNT; i++) {
        size_t offset = offsetof(struct route_counters, latency) + i * sizeof(counter);
        total += route_sum(metrics, route, offset);
        sums[i] = total;
    }
    if (total == 0)
        return;
    route_labels(metrics, route, labels, sizeof(labels));
    for (size_t i = 0; i < LATENCY_COUNT; i++)
        put(writer, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels,
            (double)latency_ns[i] / 1e9, sums[i]);
    put(writer, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, total);
    put(writer, "%s_sum{%s} %.9f\n", name, labels,
        (double)ROUTE_SUM(metrics, route, duration_ns) / 1e9);
    put(writer, "%s_count{%s} %" PRIu64 "\n", name, labels, total);
}

static void put_latency(struct metrics *metrics, struct soma_writer *writer)
{
    head(writer, "soma_http_request_duration_seconds", "histogram",
         "Time from a request's first line to the end of its answer, waits included.");
    for (size_t route = 0; route <= metrics->route_count; route++)
        put_latency_of(metrics, writer, route);
}

static void put_errors(struct metrics *metrics, struct soma_writer *writer)
{
    head(writer, "soma_errors_total", "counter", "Errors answered, by reason.");
    for (unsigned row = 0; soma_status_row(row) != NULL; row++) {
        const struct soma_status_info *info = soma_status_row(row);
        uint64_t count = 0;
        for (unsigned i = 0; i < METRICS_SHARDS && (unsigned)info->status < STATUS_MAX; i++)
            count += get(&metrics->shards[i].statuses[info->status]);
        if (count > 0)
            put(writer, "soma_errors_total{reason=\"%s\",kind=\"%s\"} %" PRIu64 "\n",
                soma_status_reason(info->status), info->name, count);
    }
}

static void put_batches(struct metrics *metrics, struct soma_writer *writer)
{
    uint64_t total = 0, commands = 0;
    head(writer, "soma_batch_commands", "histogram", "Commands per POST /v1/commands.");
    for (size_t i = 0; i <= BATCH_COUNT; i++) {
        for (unsigned s = 0; s < METRICS_SHARDS; s++)
            total += get(&metrics->shards[s].batches[i]);
        if (i < BATCH_COUNT)
            put(writer, "soma_batch_commands_bucket{le=\"%" PRIu64 "\"} %" PRIu64 "\n",
                batch_sizes[i], total);
    }
    for (unsigned s = 0; s < METRICS_SHARDS; s++)
        commands += get(&metrics->shards[s].batch_commands);
    put(writer,
        "soma_batch_commands_bucket{le=\"+Inf\"} %" PRIu64 "\nsoma_batch_commands_sum %" PRIu64
        "\nsoma_batch_commands_count %" PRIu64 "\n",
        total, commands, total);
}

/* ---- state ---- */

static void put_pools(struct soma_writer *writer, const struct engine_totals *totals)
{
    put_value(writer, "soma_pools", "gauge", "Memory pools that exist.", totals->pools);
    put_value(writer, "soma_pool_reserved_bytes", "gauge",
              "Device memory mapped by pools (RESERVED).", totals->reserved_bytes);
    put_value(writer, "soma_pool_used_bytes", "gauge", "Bytes in live pool blocks (USED).",
              totals->used_bytes);
    put_value(writer, "soma_pool_mapped_bytes_total", "counter", "Device bytes mapped by pools.",
              totals->mapped_bytes);
    put_value(writer, "soma_pool_unmapped_bytes_total", "counter",
              "Device bytes unmapped by pools.", totals->unmapped_bytes);
    put_value(writer, "soma_pool_mallocs_total", "counter", "Pool allocations.", totals->mallocs);
    put_value(writer, "soma_pool_frees_total", "counter", "Pool frees.", totals->frees);
    head(writer, "soma_pool_reuse_total", "counter", "Pool allocations, by what served them.");
    const struct soma_word_list *words = soma_words(SOMA_GROUP_reuse);
    for (size_t i = 0; i < words->count; i++)
        put(writer, "soma_pool_reuse_total{kind=\"%s\"} %" PRIu64 "\n", words->words[i].word,
            totals->reuse[words->words[i].value]);
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double processor_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static uint64_t connection_count(struct soma_server *server)
{
    uint64_t count = 0;
    struct connection *conn;
    (void)pthread_mutex_lock(&server->connections_lock);
    TAILQ_FOREACH(conn, &server->connections, entry)
    count++;
    (void)pthread_mutex_unlock(&server->connections_lock);
    return count;
}

void metrics_write(struct soma_server *server, struct soma_writer *writer)
{
    struct metrics *metrics = server->metrics;
    struct sessions_totals totals;
    sessions_totals(server->sessions, &totals);
    put(writer,
        "# HELP soma_build_info Version of the server.\n# TYPE soma_build_info gauge\n"
        "soma_build_info{version=\"%s\"} 1\n",
        SOMA_VERSION);
    put_value(writer, "soma_uptime_seconds", "gauge", "Seconds since the server was started.",
              (monotonic_ns() - metrics->started_ns) / 1000000000);
    put_value(writer, "soma_sessions", "gauge", "Sessions that exist.", totals.sessions);
    put_value(writer, "soma_sessions_limit", "gauge", "Sessions that may exist (--max-sessions).",
              server->max_sessions);
    put_value(writer, "soma_ready", "gauge", "1: takes new sessions; 0: is leaving (/readyz).",
              atomic_load(&server->is_leaving) ? 0 : 1);
    put_value(writer, "soma_connections", "gauge", "Open connections.", connection_count(server));
    put_value(writer, "soma_requests_in_progress", "gauge", "Requests begun and not over.",
              connections_active(server));
    put_value(writer, "soma_requests_waiting", "gauge",
              "Of these, those that wait for a session, a lock or a device.",
              atomic_load(&server->suspended_requests));
    put_pools(writer, &totals.engines);
    put_value(writer, "soma_device_mapped_bytes", "gauge",
              "Device memory mapped by pools and allocations.", totals.device_bytes);
    put_value(writer, "soma_contents_address_space_bytes", "gauge",
              "Host address space that holds contents; resident is what was written.",
              totals.contents_bytes);
    put_value(writer, "process_resident_memory_bytes", "gauge", "Resident memory of the server.",
              resident_bytes());
    head(writer, "process_cpu_seconds_total", "counter", "Processor time of the server.");
    put(writer, "process_cpu_seconds_total %.3f\n", processor_seconds());
    put_requests(metrics, writer);
    put_latency(metrics, writer);
    put_errors(metrics, writer);
    put_batches(metrics, writer);
}
