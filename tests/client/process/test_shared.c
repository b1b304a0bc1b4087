/* A server that several programs share. */
#include "process.h"
#include "sanitizers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char server_variable[320];
static const char *environment[4];

static const char *const *use_server(const char *url, const char *more)
{
    (void)snprintf(server_variable, sizeof(server_variable), "SOMA_SERVER=%s", url);
    environment[0] = server_variable;
    environment[1] = more;
    environment[2] = NULL;
    return environment;
}

/* Sessions come and go with their programs; TCP and unix socket are alike. */
static void test_programs_run_on_a_shared_server(void)
{
    static const char *const roles[] = {"whole",
                                        "without_init",
                                        "exit",
                                        "fork",
                                        "exit_while_waiting",
                                        "exit_with_work",
                                        "exit_with_functions",
                                        "fork_quietly",
                                        "exit_while_busy",
                                        "fork_while_busy",
                                        "finalize_while_busy"};
    char listen[64];
    (void)snprintf(listen, sizeof(listen), "unix:/tmp/soma-test-%d.sock", (int)getpid());
    for (int is_unix = 0; is_unix < 2; is_unix++) {
        struct somad_process somad;
        if (!EXPECT(start_somad(&somad, is_unix ? listen : NULL, NULL), "no somad"))
            return;
        for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
            (void)program_run(roles[i], use_server(somad.url, NULL));
            (void)wait_sessions(somad.url, 0, 3000);
        }
        struct program programs[3];
        for (size_t i = 0; i < 3; i++)
            (void)program_start(&programs[i], "hold", use_server(somad.url, NULL));
        for (size_t i = 0; i < 3; i++)
            (void)program_wait_for(&programs[i], "ready");
        (void)wait_sessions(somad.url, 3, 3000);
        for (size_t i = 0; i < 3; i++) {
            (void)EXPECT(strstr(programs[i].said, somad.url) != NULL, "does not say where: %s",
                         programs[i].said);
            (void)kill(programs[i].pid, SIGKILL);
            (void)program_end(&programs[i], 5000);
        }
        (void)EXPECT(somad_stop(&somad) == 0, "somad did not end well");
    }
}

/* A program that is ended inside a call: its session goes with its lease at the latest. */
static void test_ended_inside_a_call(void)
{
    static const struct {
        const char *role;
        int signal, code;
    } rows[] = {
        {"wait_for_ever", SIGTERM, 128 + SIGTERM}, {"wait_for_ever", SIGKILL, 128 + SIGKILL},
        {"copy_for_ever", SIGTERM, 128 + SIGTERM}, {"copy_for_ever", SIGKILL, 128 + SIGKILL},
        {"handler_exits_a_wait", SIGTERM, 0},      {"handler_exits_a_look", SIGTERM, 0},
        {"handler_exits_a_look", SIGTERM, 0},      {"handler_exits_a_look", SIGTERM, 0}};
    struct somad_process somad;
    if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct program program;
        if (HAS_THREAD_SANITIZER && strncmp(rows[i].role, "handler", 7) == 0)
            continue; /* it reports what the handler does */
        if (!program_start(&program, rows[i].role, use_server(somad.url, "SOMA_SESSION_TTL=2")) ||
            !program_wait_for(&program, "ready"))
            continue;
        (void)kill(program.pid, rows[i].signal);
        int code = program_end(&program, 10000);
        (void)EXPECT(code == rows[i].code, "role %s: %d, not %d", rows[i].role, code, rows[i].code);
        (void)wait_sessions(somad.url, 0, 6000);
    }
    (void)somad_stop(&somad);
}

/* A program's lease is kept while it lives, and ends it when it was killed. */
static void test_leases(void)
{
    struct somad_process somad;
    struct program program;
    if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
        return;
    (void)program_run("idle", use_server(somad.url, "SOMA_SESSION_TTL=1"));
    if (program_start(&program, "hold", use_server(somad.url, "SOMA_SESSION_TTL=1")) &&
        program_wait_for(&program, "ready")) {
        (void)EXPECT(count_sessions(somad.url) == 1, "its session");
        (void)kill(program.pid, SIGKILL);
        (void)program_end(&program, 5000);
        (void)wait_sessions(somad.url, 0, 5000);
    }
    (void)somad_stop(&somad);
}

static void test_token(void)
{
    struct somad_process somad;
    struct program program;
    char path[] = "/tmp/soma-test-token-XXXXXX", variable[128];
    int fd = mkstemp(path);
    if (!EXPECT(fd >= 0 && write(fd, "open-sesame\n", 12) == 12, "a file"))
        return;
    (void)close(fd);
    if (EXPECT(start_somad(&somad, NULL, path), "no somad")) {
        (void)snprintf(variable, sizeof(variable), "SOMA_TOKEN_FILE=%s", path);
        (void)program_run("whole", use_server(somad.url, variable));
        (void)program_run("whole", use_server(somad.url, "SOMA_TOKEN=open-sesame"));
        if (program_start(&program, "try_init", use_server(somad.url, "SOMA_TOKEN=wrong"))) {
            (void)program_end(&program, 10000);
            (void)EXPECT(strstr(program.said, "aclInit: 500000") != NULL &&
                             strstr(program.said, "SOMA_TOKEN") != NULL,
                         "%s", program.said);
        }
        (void)somad_stop(&somad);
    }
    (void)unlink(path);
}

const struct process_test shared_tests[] = {
    {"programs run on a shared server", test_programs_run_on_a_shared_server},
    {"ended inside a call", test_ended_inside_a_call},
    {"leases", test_leases},
    {"tokens", test_token},
    {NULL, NULL},
};
