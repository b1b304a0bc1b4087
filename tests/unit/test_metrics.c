/* Metrics: what is counted comes out, in the text format, with routes as labels and no ids. */
#include "expect.h"
#include "kernels.h"
#include "metrics.h"
#include "router.h"
#include "sessions.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

/* A server with just what metrics_write looks at. */
static struct soma_server *create_server(void)
{
    struct soma_server *server = calloc(1, sizeof(*server));
    CU_ASSERT_FATAL(server != NULL);
    server->log.fd = -1;
    server->devices = 1;
    server->soc = soma_soc_row(3);
    (void)pthread_mutex_init(&server->connections_lock, NULL);
    TAILQ_INIT(&server->connections);
    server->router = router_create();
    server->kernels = kernels_create();
    server->metrics = metrics_create(server->router);
    server->sessions = sessions_create(server);
    CU_ASSERT_FATAL(server->metrics != NULL && server->sessions != NULL);
    return server;
}

static void destroy_server(struct soma_server *server)
{
    sessions_destroy(server->sessions);
    metrics_destroy(server->metrics);
    kernels_destroy(server->kernels);
    router_destroy(server->router);
    (void)pthread_mutex_destroy(&server->connections_lock);
    free(server);
}

/* The text, NUL-terminated; the caller frees it. */
static char *write_text(struct soma_server *server)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 24);
    metrics_write(server, &writer);
    soma_writer_raw(&writer, "", 1);
    CU_ASSERT_FATAL(!writer.failed);
    return writer.ptr;
}

static void test_counts(void)
{
    static const char *const lines[] = {
        "soma_http_requests_total{method=\"GET\",route=\"/v1/devices\",status=\"200\"} 2\n",
        "soma_http_requests_total{method=\"\",route=\"unmatched\",status=\"404\"} 1\n",
        "soma_errors_total{reason=\"NO_SUCH_ROUTE\",kind=\"NO_SUCH_ROUTE\"} 1\n",
        "soma_http_request_duration_seconds_bucket{method=\"GET\",route=\"/v1/"
        "devices\",le=\"0.0005\"} 1\n",
        "soma_http_request_duration_seconds_bucket{method=\"GET\",route=\"/v1/"
        "devices\",le=\"+Inf\"} 2\n",
        "soma_http_request_duration_seconds_sum{method=\"GET\",route=\"/v1/devices\"} "
        "100.000400000\n",
        "soma_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/devices\"} 2\n",
        "soma_batch_commands_bucket{le=\"20\"} 1\n",
        "soma_batch_commands_sum 17\n",
        "soma_sessions 1\n",
        "soma_pools 0\n",
        "soma_pool_reuse_total{kind=\"FRESH\"} 0\n",
    };
    struct soma_server *server = create_server();
    const struct route *route = router_route(server->router, SOMA_OP_DEVICE_LIST);
    metrics_count_request(server->metrics, 0, route, 200, SOMA_OK, 400000);
    metrics_count_request(server->metrics, 7, route, 200, SOMA_OK, UINT64_C(100000000000));
    metrics_count_request(server->metrics, 3, NULL, 404, SOMA_NO_SUCH_ROUTE, 1000);
    metrics_count_batch(server->metrics, 1, 17);
    char *text = write_text(server);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        EXPECT(strstr(text, lines[i]) != NULL, "no line %s", lines[i]);
    free(text);
    destroy_server(server);
}

static void test_format(void)
{
    struct soma_server *server = create_server();
    metrics_count_request(server->metrics, 0, router_route(server->router, 0), 599, SOMA_INTERNAL,
                          1);
    char *text = write_text(server), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        bool is_comment = strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0;
        const char *value = strrchr(line, ' ');
        char *end = NULL;
        if (!is_comment && value != NULL)
            (void)strtod(value, &end);
        EXPECT(is_comment || (end != NULL && end != value && *end == '\0'), "%s", line);
        EXPECT(strstr(line, "default") == NULL, "a session is named: %s", line);
    }
    free(text);
    destroy_server(server);
}

static const struct soma_test tests[] = {
    {"counts", test_counts}, {"format", test_format}, {NULL, NULL}};
const struct soma_suite suite_metrics = {"metrics", tests};
