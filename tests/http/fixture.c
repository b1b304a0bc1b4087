/* Helpers that check as they go. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fixture_start(struct fixture *f, void (*tune)(struct soma_config *config))
{
    struct soma_config config;
    char error[CONFIG_ERROR_BYTES];
    CU_ASSERT_FATAL(soma_config_init(&config));
    free(config.listen[0]);
    config.listen[0] = strdup("127.0.0.1:0");
    config.log_level = LOG_LEVEL_ERROR;
    if (tune != NULL)
        tune(&config);
    bool good = soma_server_start(&config, &f->server, error);
    EXPECT(good, "%s", error);
    CU_ASSERT_FATAL(good);
    soma_config_release(&config);
    f->url = soma_server_address(f->server, 0);
    f->client = http_client_create(f->url);
    CU_ASSERT_FATAL(f->client != NULL);
}

void fixture_stop(struct fixture *f)
{
    http_client_destroy(f->client);
    soma_server_stop(f->server);
}

struct http_answer fixture_send_with(struct http_client *client, const char *method,
                                     const char *path, const char *body, const char *const *headers)
{
    struct http_answer answer;
    struct http_request request = {.method = method,
                                   .path = path,
                                   .content_type = body != NULL ? "application/json" : NULL,
                                   .body = body,
                                   .body_len = body != NULL ? strlen(body) : 0,
                                   .headers = headers};
    if (!http_send(client, &request, &answer)) {
        EXPECT(false, "%s %s: %s", method, path, http_client_why(client));
        memset(&answer, 0, sizeof(answer));
        answer.body = calloc(1, 1);
    }
    return answer;
}

struct http_answer fixture_send(struct http_client *client, const char *method, const char *path,
                                const char *body)
{
    return fixture_send_with(client, method, path, body, NULL);
}

cJSON *fixture_call(struct http_client *client, const char *method, const char *path,
                    const char *body, long status)
{
    struct http_answer answer = fixture_send(client, method, path, body);
    EXPECT(answer.status == status, "%s %s %s: %ld %s", method, path, body != NULL ? body : "",
           answer.status, answer.body);
    EXPECT(answer.body_len == 0 || strcmp(answer.content_type, "application/json") == 0,
           "%s %s: %s", method, path, answer.content_type);
    cJSON *tree = answer.body_len > 0 ? cJSON_Parse(answer.body) : NULL;
    EXPECT(answer.body_len == 0 || tree != NULL, "%s %s: %s", method, path, answer.body);
    http_answer_release(&answer);
    return tree;
}

void fixture_do(struct http_client *client, const char *method, const char *path, const char *body,
                long status)
{
    cJSON_Delete(fixture_call(client, method, path, body, status));
}

bool is_error_body(const char *text, long status, const char *reason)
{
    cJSON *tree = cJSON_ParseWithOpts(text, NULL, true);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(tree, "error");
    const cJSON *detail = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(error, "details"), 0);
    bool good = number_of(error, "code") == (double)status && text_of(error, "status") != NULL &&
                text_of(error, "message") != NULL && text_of(error, "message")[0] != '\0' &&
                number_of(detail, "aclError") > 0 &&
                (reason == NULL || same_words(text_of(detail, "reason"), reason));
    cJSON_Delete(tree);
    return good;
}

void fixture_refused(struct http_client *client, const char *method, const char *path,
                     const char *body, long status, const char *reason)
{
    struct http_answer answer = fixture_send(client, method, path, body);
    EXPECT(answer.status == status && is_error_body(answer.body, status, reason) &&
               strcmp(answer.content_type, "application/json") == 0,
           "%s %s %s: %ld %s, not %ld %s", method, path, body != NULL ? body : "", answer.status,
           answer.body, status, reason != NULL ? reason : "");
    http_answer_release(&answer);
}

void fixture_open_session(struct http_client *client, const char *body, char id[64])
{
    http_client_set_session(client, NULL);
    cJSON *tree = fixture_call(client, "POST", "/v1/sessions", body, 201);
    const char *text = text_of(tree, "session");
    CU_ASSERT_FATAL(text != NULL);
    (void)snprintf(id, 64, "%s", text);
    http_client_set_session(client, id);
    cJSON_Delete(tree);
}

void fixture_block_stream(struct fixture *f)
{
    fixture_do(f->client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(f->client, "POST", "/v1/devices/0/events", "{\"kind\":\"PLAIN\"}", 201);
    fixture_do(f->client, "POST", "/v1/devices/0/events/1:record", "{\"stream\":0}", 204);
    fixture_do(f->client, "POST", "/v1/devices/0/events/1:reset", "{\"stream\":0}", 204);
    fixture_do(f->client, "POST", "/v1/devices/0/streams/1:waitEvent", "{\"event\":1}", 204);
}

double number_of(const cJSON *tree, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, name);
    return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

const char *text_of(const cJSON *tree, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, name));
}

double fixture_metric(struct http_client *client, const char *name)
{
    struct http_answer answer = fixture_send(client, "GET", "/metrics", NULL);
    double value = -1;
    size_t len = strlen(name);
    char *rest = NULL;
    for (char *line = strtok_r(answer.body, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, name, len) == 0 && line[len] == ' ')
            value = strtod(line + len, NULL);
    }
    http_answer_release(&answer);
    return value;
}

uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void sleep_ms(unsigned ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&pause, NULL);
}

bool wait_until(bool (*check)(void *ctx), void *ctx)
{
    uint64_t deadline = now_ms() + 10000;
    while (now_ms() < deadline) {
        if (check(ctx))
            return true;
        sleep_ms(5);
    }
    return check(ctx);
}
