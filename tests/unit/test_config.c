/* Options: every source, their rank, and what is refused by name. */
#include "config.h"
#include "expect.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 8

struct load {
    struct soma_config config;
    bool good;
    char error[CONFIG_ERROR_BYTES];
};

/* Load from words and variables, each list NULL at its end. Release load->config. */
static void load(struct load *load, const char *const *words, const char *const *variables)
{
    char *argv[WORDS_MAX + 1] = {strdup("somad")};
    char *envp[WORDS_MAX + 1] = {NULL};
    int argc = 1;
    for (int i = 0; words != NULL && words[i] != NULL; i++)
        argv[argc++] = strdup(words[i]);
    for (int i = 0; variables != NULL && variables[i] != NULL; i++)
        envp[i] = strdup(variables[i]);
    load->error[0] = '\0';
    CU_ASSERT_FATAL(soma_config_init(&load->config));
    load->good = soma_config_load(&load->config, argc, argv, envp, load->error);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    for (int i = 0; envp[i] != NULL; i++)
        free(envp[i]);
}

static void test_defaults(void)
{
    struct load l;
    load(&l, NULL, NULL);
    EXPECT(l.good, "%s", l.error);
    EXPECT(l.config.listen_count == 1 && same_words(l.config.listen[0], "127.0.0.1:8080"),
           "listen");
    EXPECT(l.config.devices == 8 && same_words(l.config.soc, "Ascend910B1"), "devices");
    EXPECT(l.config.threads >= 2, "threads");
    EXPECT(l.config.max_body_bytes == UINT64_C(1) << 30, "max-body");
    EXPECT(l.config.log_level == LOG_LEVEL_INFO, "log-level");
    EXPECT(l.config.token_file == NULL && !l.config.insecure && !l.config.help, "flags");
    soma_config_release(&l.config);
}

static void test_command_line(void)
{
    static const char *const words[] = {"--listen",          "127.0.0.1:0", "--listen=unix:/tmp/x",
                                        "--max-body",        "2MiB",        "--insecure",
                                        "--soc=Ascend910B4", NULL};
    struct load l;
    load(&l, words, NULL);
    EXPECT(l.good, "%s", l.error);
    EXPECT(l.config.listen_count == 2 && same_words(l.config.listen[1], "unix:/tmp/x"), "listen");
    EXPECT(l.config.max_body_bytes == 2097152, "max-body");
    EXPECT(l.config.insecure && same_words(l.config.soc, "Ascend910B4"), "insecure, soc");
    soma_config_release(&l.config);
}

static void test_environment(void)
{
    static const char *const variables[] = {"SOMAD_LISTEN=127.0.0.1:0,[::1]:0",
                                            "SOMAD_MAX_SESSIONS=7",
                                            "SOMAD_INSECURE=true",
                                            "SOMAD_PORT=tcp://10.0.0.1:80",
                                            "PATH=/bin",
                                            NULL};
    static const char *const words[] = {"--max-sessions", "9", NULL};
    struct load l;
    load(&l, NULL, variables);
    EXPECT(l.good, "%s", l.error);
    EXPECT(l.config.listen_count == 2 && same_words(l.config.listen[1], "[::1]:0"), "listen");
    EXPECT(l.config.max_sessions == 7 && l.config.insecure, "max-sessions, insecure");
    soma_config_release(&l.config);
    load(&l, words, variables);
    EXPECT(l.good && l.config.max_sessions == 9, "the command line ranks above");
    soma_config_release(&l.config);
}

/* A file with this text; its path in buf. */
static void write_file(char *buf, const char *text)
{
    memcpy(buf, "/tmp/soma-config-XXXXXX", 24);
    int fd = mkstemp(buf);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CU_ASSERT(close(fd) == 0);
}

static void test_file(void)
{
    char path[32], word[64], variable[64];
    struct load l;
    write_file(path, "# a comment\n\nlisten = 127.0.0.1:1\nlisten=127.0.0.1:2\n"
                     " devices = 3 \nthreads = 5\nlog-level = warn\n");
    (void)snprintf(word, sizeof(word), "--config=%s", path);
    (void)snprintf(variable, sizeof(variable), "SOMAD_THREADS=6");
    const char *const words[] = {word, "--devices", "4", NULL};
    const char *const variables[] = {variable, NULL};
    load(&l, words, variables);
    EXPECT(l.good, "%s", l.error);
    EXPECT(l.config.listen_count == 2 && same_words(l.config.listen[0], "127.0.0.1:1"), "listen");
    EXPECT(l.config.devices == 4, "command line above file");
    EXPECT(l.config.threads == 6, "environment above file");
    EXPECT(l.config.log_level == LOG_LEVEL_WARN, "log-level");
    soma_config_release(&l.config);
    CU_ASSERT(unlink(path) == 0);
}

static void test_refused_words(void)
{
    static const struct {
        const char *words[3];
        const char *names; /* what the line must name */
    } rows[] = {
        {{"--nonsense", "1"}, "--nonsense"},
        {{"nonsense"}, "nonsense"},
        {{"--listen"}, "--listen"},
        {{"--listen", "8080"}, "--listen"},
        {{"--listen", "host:"}, "--listen"},
        {{"--listen", "host:70000"}, "--listen"},
        {{"--listen", "host:1x"}, "--listen"},
        {{"--listen", "unix:"}, "--listen"},
        {{"--devices", "0"}, "--devices"},
        {{"--devices", "65"}, "--devices"},
        {{"--devices", "-1"}, "--devices"},
        {{"--devices", " 1"}, "--devices"},
        {{"--devices", "1KiB"}, "--devices"},
        {{"--devices", "99999999999999999999999"}, "--devices"},
        {{"--max-body", "1kb"}, "--max-body"},
        {{"--max-body", "99999999TiB"}, "--max-body"},
        {{"--max-body", "1"}, "--max-body"},
        {{"--soc", "Ascend"}, "--soc"},
        {{"--log-level", "loud"}, "--log-level"},
        {{"--insecure=maybe"}, "--insecure"},
        {{"--token-file", ""}, "--token-file"},
        {{"--config", "/nonexistent/x"}, "--config"},
        {{"--session-ttl", "0"}, "--session-ttl"},
        {{"--idle-timeout", ""}, "--idle-timeout"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct load l;
        load(&l, rows[i].words, NULL);
        EXPECT(!l.good, "%s %s was taken", rows[i].words[0],
               rows[i].words[1] != NULL ? rows[i].words[1] : "");
        EXPECT(strstr(l.error, rows[i].names) != NULL && strchr(l.error, '\n') == NULL,
               "\"%s\" does not name %s", l.error, rows[i].names);
        soma_config_release(&l.config);
    }
}

static void test_refused_elsewhere(void)
{
    static const char *const variables[] = {"SOMAD_DEVICES=many", NULL};
    static const char *const files[] = {"devices 3\n", "nope = 1\n", "devices = x\n",
                                        "config = /tmp/y\n"};
    struct load l;
    load(&l, NULL, variables);
    EXPECT(!l.good && strstr(l.error, "SOMAD_DEVICES") != NULL &&
               strstr(l.error, "--devices") != NULL,
           "%s", l.error);
    soma_config_release(&l.config);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[32];
        write_file(path, files[i]);
        const char *const words[] = {"--config", path, NULL};
        load(&l, words, NULL);
        EXPECT(!l.good && strstr(l.error, path) != NULL, "%s: \"%s\"", files[i], l.error);
        soma_config_release(&l.config);
        CU_ASSERT(unlink(path) == 0);
    }
}

static void test_help(void)
{
    static const char *const names[] = {"listen",     "devices",      "soc",         "threads",
                                        "max-body",   "max-sessions", "session-ttl", "idle-timeout",
                                        "token-file", "log-level",    "config",      "insecure",
                                        "version",    "help"};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    CU_ASSERT_FATAL(out != NULL);
    soma_config_help(out);
    (void)fclose(out);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char word[32];
        (void)snprintf(word, sizeof(word), "--%s", names[i]);
        EXPECT(strstr(text, word) != NULL, "the help does not tell %s", word);
    }
    EXPECT(strstr(text, "127.0.0.1:8080") != NULL, "nor the defaults");
    free(text);
}

static const struct soma_test tests[] = {
    {"defaults", test_defaults},
    {"command line", test_command_line},
    {"environment", test_environment},
    {"file", test_file},
    {"refused words", test_refused_words},
    {"refused variables and files", test_refused_elsewhere},
    {"help", test_help},
    {NULL, NULL},
};
const struct soma_suite suite_config = {"config", tests};
