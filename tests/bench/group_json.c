/* JSON batches of 1,000 commands over one connection, beside cJSON parsing the same bytes and doing
 * nothing with them. */
#include "bench.h"
#include "raw_http.h"
#include "service.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS 1000u
#define BODY_BYTES ((size_t)1 << 18)

static const char create_body[] =
    "{\"commands\":[{\"op\":\"stream.create\"},{\"op\":\"pool.create\"}]}";

/* Pairs of a malloc and a free by name, so that one body can be sent again and again. */
static void make_body(char *body)
{
    size_t len = (size_t)snprintf(body, BODY_BYTES, "{\"commands\":[");
    for (unsigned i = 0; i < COMMANDS / 2; i++)
        len += (size_t)snprintf(
            body + len, BODY_BYTES - len,
            "%s{\"op\":\"pool.malloc\",\"device\":0,\"pool\":1,\"size\":4096,\"stream\":1,"
            "\"as\":\"p\"},{\"op\":\"pool.free\",\"device\":0,\"pool\":1,\"ptr\":\"$p\","
            "\"stream\":1}",
            i > 0 ? "," : "");
    (void)snprintf(body + len, BODY_BYTES - len, "]}");
}

static char *make_request(const char *body, size_t *len)
{
    size_t bytes = strlen(body) + 256;
    char *request = malloc(bytes);
    if (request == NULL)
        abort();
    *len = (size_t)snprintf(request, bytes,
                            "POST /v1/commands HTTP/1.1\r\nHost: bench\r\nContent-Type: "
                            "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                            strlen(body), body);
    return request;
}

static bool send_body(struct raw_http *http, const char *body, const char *completed)
{
    struct raw_answer answer;
    size_t len;
    char *request = make_request(body, &len);
    bool good = raw_http_exchange(http, request, len, &answer) && answer.status == 200;
    free(request);
    size_t end = strlen(completed);
    return (good && answer.body_len > end &&
            memcmp(answer.body + answer.body_len - end, completed, end) == 0) ||
           bench_fail("a batch was not completed");
}

static bool measure_service(struct raw_http *http, const char *body, double seconds,
                            struct bench_series *rates)
{
    double start = bench_now(), now = start, commands = 0;
    while (now - start < seconds) {
        if (!send_body(http, body, "\"completed\":1000}"))
            return false;
        commands += COMMANDS;
        now = bench_now();
    }
    bench_series_add(rates, commands / (now - start));
    return true;
}

static bool measure_parser(const char *body, double seconds, struct bench_series *rates)
{
    double start = bench_now(), now = start, commands = 0;
    size_t len = strlen(body);
    while (now - start < seconds) {
        cJSON *tree = cJSON_ParseWithLength(body, len);
        if (tree == NULL)
            return bench_fail("cJSON refuses the body");
        cJSON_Delete(tree);
        commands += COMMANDS;
        now = bench_now();
    }
    bench_series_add(rates, commands / (now - start));
    return true;
}

bool group_json(struct bench *bench)
{
    struct bench_row row = {.name = "json.commands",
                            .unit = "commands/s",
                            .peer = "cJSON parsing the same bytes",
                            .goal = BENCH_AT_LEAST,
                            .goal_ratio = 0.5};
    double seconds = bench->options.seconds;
    struct service service;
    struct raw_http http = {.fd = -1};
    char *body = malloc(BODY_BYTES);
    if (body == NULL || !service_start(&service))
        return false;
    make_body(body);
    bool good =
        raw_http_connect(&http, service.url) && send_body(&http, create_body, "\"completed\":2}");
    for (unsigned round = 0; good && round < bench->options.rounds; round++)
        good = measure_service(&http, body, seconds, &row.values) &&
               measure_parser(body, seconds, &row.peer_values);
    bench_add(bench, &row);
    raw_http_close(&http);
    service_stop(&service);
    free(body);
    return good;
}
