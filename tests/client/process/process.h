/* Tests with real processes: this program runs itself as the program under test, with a role, and
 * watches it from outside. */
#ifndef SOMA_TESTS_CLIENT_PROCESS_H
#define SOMA_TESTS_CLIENT_PROCESS_H

#include "expect.h"
#include "http_client.h"
#include "somad_process.h"

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_test {
    const char *name;
    void (*run)(void);
};

extern const struct process_test private_tests[], shared_tests[], lost_tests[];

/* Where somad is (SOMA_TEST_SOMAD, else beside this program's build tree). */
const char *somad_path(void);

/* What the program under test does, by its role; returns its exit code. */
int role_run(const char *role);

/* ---- running this program in a role ---- */

struct program {
    pid_t pid;
    int said_fd;     /* its standard output and error */
    char said[8192]; /* what it said so far, NUL-terminated */
    size_t said_len;
};

/* environment: "NAME=value" each, NULL at the end; names not listed are as here, without SOMA_*. */
bool program_start(struct program *program, const char *role, const char *const *environment);

/* Wait until it has said `word`; false after ten seconds, or when it ended first. */
bool program_wait_for(struct program *program, const char *word);

/* Wait until it ends. Its exit code; 128 + the signal; -1 after timeout_ms (then it is killed). */
int program_end(struct program *program, long timeout_ms);

/* Start, wait for the end, and expect exit code 0. */
bool program_run(const char *role, const char *const *environment);

/* The path of the private server's socket in what the program said; false: none. */
bool program_socket(const struct program *program, char *path, size_t path_bytes);

int64_t clock_ms(void);
void pause_ms(long ms);

/* Whether a file is there; waits up to timeout_ms for it to be so. */
bool is_file_there(const char *path, bool want, long timeout_ms);

/* ---- the shared server ---- */

/* somad, quiet; listen and token_file may be NULL. */
bool start_somad(struct somad_process *somad, const char *listen, const char *token_file);

/* How many sessions it has, the default one not counted; -1: it did not say. */
int count_sessions(const char *url);

/* Wait until it has so many. */
bool wait_sessions(const char *url, int want, long timeout_ms);

#endif
