/* The environment variables that say where the service is. */
#include "client_fixture.h"
#include "endpoint.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void clear_environment(void)
{
    static const char *const names[] = {"SOMA_SERVER", "SOMA_TOKEN", "SOMA_TOKEN_FILE",
                                        "SOMA_TIMEOUT_MS"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unsetenv(names[i]);
}

static void test_server_values(void)
{
    static const struct {
        const char *server, *url, *path; /* url NULL: refused */
    } rows[] = {
        {"", "", ""},
        {"http://127.0.0.1:8080", "http://127.0.0.1:8080", ""},
        {"http://[::1]:8080/", "http://[::1]:8080", ""},
        {"http://soma.example", "http://soma.example", ""},
        {"unix:/run/soma.sock", "http://localhost", "/run/soma.sock"},
        {"unix:relative", NULL, NULL},
        {"https://127.0.0.1", NULL, NULL},
        {"127.0.0.1:8080", NULL, NULL},
        {"http://", NULL, NULL},
        {"http://host/path", NULL, NULL},
        {"http://user@host", NULL, NULL},
        {"http://a b", NULL, NULL},
        {"unix:/"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client_endpoint endpoint;
        clear_environment();
        (void)setenv("SOMA_SERVER", rows[i].server, 1);
        aclError error = client_endpoint_read(&endpoint);
        if (rows[i].url == NULL) {
            const char *text = aclGetRecentErrMsg();
            (void)EXPECT(error == ACL_ERROR_INVALID_PARAM && text != NULL &&
                             (strstr(text, "SOMA_SERVER") != NULL || strstr(text, "unix:") != NULL),
                         "SOMA_SERVER=%s: %d, %s", rows[i].server, error, text);
        } else {
            (void)EXPECT(error == ACL_SUCCESS && same_words(endpoint.url, rows[i].url) &&
                             same_words(endpoint.unix_path, rows[i].path),
                         "SOMA_SERVER=%s: %d, %s, %s", rows[i].server, error, endpoint.url,
                         endpoint.unix_path);
        }
    }
    clear_environment();
}

static void test_timeout_values(void)
{
    static const struct {
        const char *text;
        long value; /* 0: refused */
    } rows[] = {{"1", 1},
                {"250", 250},
                {"86400000", 86400000},
                {"", 10000},
                {"0", 0},
                {"-1", 0},
                {"1.5", 0},
                {"10s", 0},
                {" 5", 0},
                {"86400001", 0},
                {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client_endpoint endpoint;
        clear_environment();
        (void)setenv("SOMA_TIMEOUT_MS", rows[i].text, 1);
        aclError error = client_endpoint_read(&endpoint);
        const char *text = aclGetRecentErrMsg();
        if (rows[i].value == 0)
            (void)EXPECT(error == ACL_ERROR_INVALID_PARAM &&
                             strstr(text, "SOMA_TIMEOUT_MS") != NULL,
                         "SOMA_TIMEOUT_MS=%s: %d, %s", rows[i].text, error, text);
        else
            (void)EXPECT(error == ACL_SUCCESS && endpoint.timeout_ms == rows[i].value,
                         "SOMA_TIMEOUT_MS=%s: %d, %ld", rows[i].text, error, endpoint.timeout_ms);
    }
    clear_environment();
}

static void test_pipeline_switch(void)
{
    static const struct {
        const char *text;
        aclError error;
        bool asks_each_time;
    } rows[] = {{"", ACL_SUCCESS, false},
                {"0", ACL_SUCCESS, true},
                {"1", ACL_SUCCESS, false},
                {"off", ACL_ERROR_INVALID_PARAM, false},
                {"00", ACL_ERROR_INVALID_PARAM, false}};
    const char *set = getenv("SOMA_PIPELINE");
    char *before = set != NULL ? strdup(set) : NULL; /* how the other tests run */
    clear_environment();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client_endpoint endpoint;
        (void)setenv("SOMA_PIPELINE", rows[i].text, 1);
        aclError error = client_endpoint_read(&endpoint);
        (void)EXPECT(error == rows[i].error && endpoint.asks_each_time == rows[i].asks_each_time,
                     "SOMA_PIPELINE=%s: %d", rows[i].text, error);
        (void)EXPECT(error == ACL_SUCCESS || strstr(aclGetRecentErrMsg(), "SOMA_PIPELINE") != NULL,
                     "SOMA_PIPELINE=%s is not named", rows[i].text);
    }
    (void)unsetenv("SOMA_PIPELINE");
    if (before != NULL)
        (void)setenv("SOMA_PIPELINE", before, 1);
    free(before);
}

static void test_token(void)
{
    struct client_endpoint endpoint;
    clear_environment();
    (void)setenv("SOMA_SERVER", "http://h:1", 1);
    (void)setenv("SOMA_TOKEN", "secret-1", 1);
    (void)EXPECT(client_endpoint_read(&endpoint) == ACL_SUCCESS &&
                     same_words(endpoint.authorization, "Authorization: Bearer secret-1"),
                 "%s", endpoint.authorization);
    (void)setenv("SOMA_TOKEN", "two words", 1);
    (void)EXPECT(client_endpoint_read(&endpoint) == ACL_ERROR_INVALID_PARAM, "a space in it");
    (void)unsetenv("SOMA_TOKEN");
    char path[] = "/tmp/soma-test-token-XXXXXX";
    int fd = mkstemp(path);
    if (!EXPECT(fd >= 0 && write(fd, "from-file\nsecond\n", 17) == 17, "a file for the token"))
        return;
    (void)setenv("SOMA_TOKEN_FILE", path, 1);
    (void)EXPECT(client_endpoint_read(&endpoint) == ACL_SUCCESS &&
                     same_words(endpoint.authorization, "Authorization: Bearer from-file"),
                 "%s", endpoint.authorization);
    (void)close(fd);
    (void)unlink(path);
    (void)EXPECT(client_endpoint_read(&endpoint) == ACL_ERROR_INVALID_PARAM, "the file is gone");
    (void)EXPECT(strstr(aclGetRecentErrMsg(), "SOMA_TOKEN_FILE") != NULL, "names the variable");
    clear_environment();
}

static const struct client_test tests[] = {
    {"SOMA_SERVER", test_server_values},
    {"SOMA_TIMEOUT_MS", test_timeout_values},
    {"SOMA_PIPELINE", test_pipeline_switch},
    {"SOMA_TOKEN and SOMA_TOKEN_FILE", test_token},
    {NULL, NULL},
};
const struct client_suite suite_endpoint = {"endpoint", tests};
