/* A server of the program's own: it comes and goes with the program, however that ends. */
#include "process.h"
#include "sanitizers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char somad_variable[512];
static const char *environment[4];

static const char *const *use_somad(const char *more)
{
    (void)snprintf(somad_variable, sizeof(somad_variable), "SOMA_SOMAD=%s", somad_path());
    environment[0] = somad_variable;
    environment[1] = more;
    environment[2] = NULL;
    return environment;
}

static void test_programs_run(void)
{
    static const char *const roles[] = {"whole",
                                        "without_init",
                                        "exit",
                                        "init_in_thread",
                                        "wait",
                                        "odd_signals",
                                        "close",
                                        "fork",
                                        "exit_while_waiting",
                                        "exit_with_work",
                                        "exit_with_functions",
                                        "function_exits",
                                        "fork_quietly",
                                        "exit_while_busy",
                                        "fork_while_busy",
                                        "finalize_while_busy"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        struct program program;
        char path[128];
        if (!program_start(&program, roles[i], use_somad(NULL)))
            continue;
        int code = program_end(&program, 30000);
        (void)EXPECT(code == 0, "role %s: exit code %d: %s", roles[i], code, program.said);
        (void)EXPECT(strstr(program.said, "soma: 8 emulated Ascend devices, no NPU") != NULL,
                     "role %s does not say what it runs on: %s", roles[i], program.said);
        if (EXPECT(program_socket(&program, path, sizeof(path)), "no socket: %s", program.said))
            (void)EXPECT(!is_file_there(path, false, 3000), "role %s left %s", roles[i], path);
    }
}

/* However the program ends, the server ends and removes its socket. */
static void test_nothing_is_left(void)
{
    static const struct {
        const char *role;
        int signal, code;
    } rows[] = {{"hold", SIGKILL, 128 + SIGKILL},
                {"hold", SIGTERM, 128 + SIGTERM},
                {"hold", SIGINT, 128 + SIGINT},
                {"_exit", 0, 0},
                {"wait_for_ever", SIGTERM, 128 + SIGTERM},
                {"wait_for_ever", SIGKILL, 128 + SIGKILL},
                {"copy_for_ever", SIGTERM, 128 + SIGTERM},
                {"copy_for_ever", SIGKILL, 128 + SIGKILL},
                {"handler_exits_a_wait", SIGTERM, 0},
                {"handler_exits_a_look", SIGTERM, 0},
                {"handler_exits_a_look", SIGTERM, 0},
                {"handler_exits_a_look", SIGTERM, 0},
                {"abort", 0, 128 + SIGABRT},
                {"fork_and_hold", SIGKILL, 128 + SIGKILL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct program program;
        char path[128] = "/nowhere";
        if (HAS_THREAD_SANITIZER && strncmp(rows[i].role, "handler", 7) == 0)
            continue; /* it reports what the handler does */
        if (!program_start(&program, rows[i].role, use_somad(NULL)) ||
            !program_wait_for(&program, "ready"))
            continue;
        if (EXPECT(program_socket(&program, path, sizeof(path)), "no socket: %s", program.said) &&
            rows[i].signal != 0) {
            struct stat info;
            (void)EXPECT(stat(path, &info) == 0 && (info.st_mode & 077) == 0,
                         "%s may be opened by others: %o", path, info.st_mode);
            (void)kill(program.pid, rows[i].signal);
        }
        int code = program_end(&program, 10000);
        (void)EXPECT(code == rows[i].code, "role %s: %d, not %d", rows[i].role, code, rows[i].code);
        (void)EXPECT(!is_file_there(path, false, 5000), "%s (signal %d) left %s", rows[i].role,
                     rows[i].signal, path);
    }
}

/* A program that closed its standard files first: the server has its own. */
static void test_closed_standard_files(void)
{
    (void)program_run("closed", use_somad(NULL));
}

static void test_quiet(void)
{
    struct program program;
    if (!program_start(&program, "whole", use_somad("SOMA_QUIET=1")))
        return;
    (void)EXPECT(program_end(&program, 30000) == 0, "%s", program.said);
    (void)EXPECT(program.said_len == 0, "not quiet: %s", program.said);
}

static void write_script(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", path))
        (void)close(fd);
}

/* A somad that cannot be started: an error in time that says what was tried. */
static void test_bad_somads(void)
{
    static const struct {
        const char *script, *says;
    } rows[] = {{NULL, "is not a program"},
                {"#!/bin/sh\necho --listen: is taken >&2\nexit 2\n", "is taken"},
                {"#!/bin/sh\nexit 0\n", "it said nothing"},
                {"#!/bin/sh\nexec sleep 60\n", "did not listen"},
                {"#!/no/such/interpreter\n", "could not be run"}};
    char path[] = "/tmp/soma-test-somad-XXXXXX", variable[128];
    int fd = mkstemp(path);
    if (!EXPECT(fd >= 0, "a temporary file"))
        return;
    (void)close(fd);
    (void)snprintf(variable, sizeof(variable), "SOMA_SOMAD=%s", path);
    const char *const bad[] = {variable, "SOMA_TIMEOUT_MS=700", NULL};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct program program;
        if (rows[i].script != NULL)
            write_script(path, rows[i].script);
        else
            (void)unlink(path);
        if (!program_start(&program, "try_init", bad))
            continue;
        (void)EXPECT(program_end(&program, 15000) == 0, "%s", program.said);
        (void)EXPECT(strstr(program.said, "aclInit: 507901") != NULL &&
                         strstr(program.said, "again: 507901") != NULL &&
                         strstr(program.said, rows[i].says) != NULL &&
                         strstr(program.said, path) != NULL &&
                         strstr(program.said, "SOMA_SERVER") != NULL,
                     "row %zu: %s", i, program.said);
    }
    (void)unlink(path);
}

const struct process_test private_tests[] = {
    {"programs run", test_programs_run},
    {"nothing is left, however the program ends", test_nothing_is_left},
    {"closed standard files", test_closed_standard_files},
    {"SOMA_QUIET=1", test_quiet},
    {"a somad that cannot be started", test_bad_somads},
    {NULL, NULL},
};
