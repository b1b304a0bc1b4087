/* The program: what it prints, when it refuses, how it ends. */
#include "fixture.h"
#include "raw.h"
#include "somad_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMAD SOMA_BINARY_DIR "/server/somad"
#define WORDS_MAX 8

/* Run somad to its end; its exit code, and what it wrote on both outputs. */
static int run(const char *const *words, char *text, size_t size)
{
    int ends[2], state = 0;
    CU_ASSERT_FATAL(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[WORDS_MAX + 2] = {strdup(SOMAD)};
        for (int i = 0; words[i] != NULL && i < WORDS_MAX; i++)
            argv[i + 1] = strdup(words[i]);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)execv(SOMAD, argv);
        _exit(127);
    }
    (void)close(ends[1]);
    size_t len = 0;
    ssize_t got;
    while (len + 1 < size && (got = read(ends[0], text + len, size - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    (void)close(ends[0]);
    CU_ASSERT_FATAL(waitpid(pid, &state, 0) == pid);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void test_words(void)
{
    static const struct {
        const char *words[WORDS_MAX];
        int code;
        const char *tells;
    } rows[] = {
        {{"--help"}, 0, "--max-sessions"},
        {{"--version"}, 0, "somad " SOMA_VERSION},
        {{"--nonsense"}, 2, "--nonsense"},
        {{"--devices", "many"}, 2, "--devices"},
        {{"--listen", "0.0.0.0:0"}, 2, "--insecure"},
        {{"--listen", "256.1.1.1:0"}, 2, "256.1.1.1"},
        {{"--listen", "unix:/nonexistent/dir/sock"}, 2, "/nonexistent/dir/sock"},
        {{"--token-file", "/nonexistent/token"}, 2, "/nonexistent/token"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[8192];
        int code = run(rows[i].words, text, sizeof(text));
        EXPECT(code == rows[i].code, "%s: exit %d: %s", rows[i].words[0], code, text);
        EXPECT(strstr(text, rows[i].tells) != NULL, "%s: %s", rows[i].words[0], text);
        const char *newline = strchr(text, '\n');
        EXPECT(code == 0 || (newline != NULL && newline[1] == '\0'), "more than one line: %s",
               text);
    }
}

static void test_port_in_use(void)
{
    struct somad_process somad;
    char text[2048], listen[300];
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, NULL, NULL));
    (void)snprintf(listen, sizeof(listen), "%s", somad.url + strlen("http://"));
    const char *const words[] = {"--listen", listen, NULL};
    EXPECT(run(words, text, sizeof(text)) == 2, "exit code");
    EXPECT(strstr(text, listen) != NULL && strstr(text, "in use") != NULL, "%s", text);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

static void test_insecure(void)
{
    struct somad_process somad;
    const char *const words[] = {"--insecure", "--log-level", "error", NULL};
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, "0.0.0.0:0", words));
    EXPECT(strncmp(somad.url, "http://0.0.0.0:", 15) == 0, "%s", somad.url);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

static void test_unix_socket(void)
{
    struct somad_process first, second;
    struct stat status;
    char path[64], listen[80];
    (void)snprintf(path, sizeof(path), "/tmp/soma-test-%d.sock", (int)getpid());
    (void)snprintf(listen, sizeof(listen), "unix:%s", path);
    const char *const quiet[] = {"--log-level", "error", NULL};
    CU_ASSERT_FATAL(somad_start(&first, SOMAD, listen, quiet));
    EXPECT(same_words(first.url, listen), "%s", first.url);
    struct http_client *client = http_client_create(first.url);
    fixture_do(client, "GET", "/livez", NULL, 200);
    http_client_destroy(client);
    char text[2048];
    const char *const words[] = {"--listen", listen, NULL};
    EXPECT(run(words, text, sizeof(text)) == 2 && strstr(text, "in use") != NULL, "%s", text);
    (void)kill(first.pid, SIGKILL); /* leaves its socket behind */
    (void)waitpid(first.pid, NULL, 0);
    EXPECT(stat(path, &status) == 0, "no stale socket to replace");
    CU_ASSERT_FATAL(somad_start(&second, SOMAD, listen, quiet));
    EXPECT(somad_stop(&second) == 0, "exit code");
    EXPECT(stat(path, &status) != 0, "the socket stays behind");
    int fd = open(path, O_CREAT | O_WRONLY, 0600); /* a file of someone else's */
    (void)close(fd);
    EXPECT(run(words, text, sizeof(text)) == 2, "%s", text);
    EXPECT(stat(path, &status) == 0, "the file was removed");
    (void)unlink(path);
}

/* A signal while a request waits: it is answered, and the exit code is 0. */
static void check_end(int number)
{
    struct somad_process somad;
    const char *const quiet[] = {"--log-level", "error", NULL};
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, NULL, quiet));
    struct http_client *client = http_client_create(somad.url);
    char id[64];
    fixture_open_session(client, "{\"clock\":\"wall\"}", id);
    fixture_do(client, "POST", "/v1/devices/0/streams", NULL, 201);
    fixture_do(client, "POST", "/v1/devices/0/streams/1:delay", "{\"durationNs\":500000000}", 204);
    pid_t killer = fork();
    if (killer == 0) {
        sleep_ms(150);
        (void)kill(somad.pid, number);
        _exit(0);
    }
    fixture_do(client, "POST", "/v1/devices/0/streams/1:synchronize", NULL, 200);
    http_client_destroy(client);
    (void)waitpid(killer, NULL, 0);
    int state = 0;
    EXPECT(waitpid(somad.pid, &state, 0) == somad.pid && WIFEXITED(state) &&
               WEXITSTATUS(state) == 0,
           "signal %d, state %d", number, state);
}

static void test_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        check_end(numbers[i]);
}

/* A variable that names no option is told once, and does not stop the start. */
static void test_unknown_variables(void)
{
    static const char *const words[] = {"--listen", "127.0.0.1:8080x", NULL};
    static const char *const quiet[] = {"--listen", "192.0.2.1:1", NULL};
    char text[2048];
    CU_ASSERT(setenv("SOMAD_MAX_BODYS", "1", 1) == 0 && setenv("SOMAD_PORT", "tcp://x", 1) == 0);
    EXPECT(run(quiet, text, sizeof(text)) == 2, "it starts: %s", text);
    CU_ASSERT(unsetenv("SOMAD_MAX_BODYS") == 0 && unsetenv("SOMAD_PORT") == 0);
    const char *told = strstr(text, "SOMAD_MAX_BODYS");
    EXPECT(told != NULL && strstr(told + 1, "SOMAD_MAX_BODYS") == NULL &&
               strstr(text, "SOMAD_PORT") == NULL,
           "%s", text);
    EXPECT(run(words, text, sizeof(text)) == 2 && strstr(text, "SOMAD_") == NULL, "%s", text);
}

static void test_environment(void)
{
    struct somad_process somad;
    CU_ASSERT(setenv("SOMAD_DEVICES", "3", 1) == 0 && setenv("SOMAD_LOG_LEVEL", "error", 1) == 0);
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, NULL, NULL));
    CU_ASSERT(unsetenv("SOMAD_DEVICES") == 0 && unsetenv("SOMAD_LOG_LEVEL") == 0);
    struct http_client *client = http_client_create(somad.url);
    cJSON *tree = fixture_call(client, "GET", "/v1/devices", NULL, 200);
    EXPECT(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(tree, "devices")) == 3, "devices");
    cJSON_Delete(tree);
    http_client_destroy(client);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

/* libmicrohttpd takes notice of 128 connections at a time. When so many are ready at once, and no
 * more, all of them are answered. */
static void test_all_ready_at_once(void)
{
    enum { READY = 128 };
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    static char buf[RAW_BYTES];
    struct somad_process somad;
    int fds[READY];
    unsigned answered = 0;
    const char *const words[] = {"--threads", "1", "--log-level", "error", NULL};
    CU_ASSERT_FATAL(somad_start(&somad, SOMAD, NULL, words));
    uint16_t port = (uint16_t)strtoul(strrchr(somad.url, ':') + 1, NULL, 10);
    for (unsigned i = 0; i < READY; i++) { /* each is known to the server before it stops */
        fds[i] = raw_connect(port);
        CU_ASSERT_FATAL(fds[i] >= 0 && raw_send_text(fds[i], request));
        (void)raw_read(fds[i], buf, "}", 10000);
        CU_ASSERT_FATAL(raw_status(buf) == 200);
    }
    (void)kill(somad.pid, SIGSTOP);
    for (unsigned i = 0; i < READY; i++)
        CU_ASSERT(raw_send_text(fds[i], request));
    (void)kill(somad.pid, SIGCONT);
    for (unsigned i = 0; i < READY && answered == i; i++) {
        (void)raw_read(fds[i], buf, "}", 10000);
        answered += raw_status(buf) == 200;
    }
    EXPECT(answered == READY, "the first %u of %d were answered", answered, READY);
    for (unsigned i = 0; i < READY; i++)
        (void)close(fds[i]);
    EXPECT(somad_stop(&somad) == 0, "exit code");
}

static const struct soma_test tests[] = {
    {"words", test_words},
    {"port in use", test_port_in_use},
    {"insecure", test_insecure},
    {"unix socket", test_unix_socket},
    {"signals", test_signals},
    {"unknown variables", test_unknown_variables},
    {"environment", test_environment},
    {"all ready at once", test_all_ready_at_once},
    {NULL, NULL},
};
const struct soma_suite suite_somad = {"somad", tests};
