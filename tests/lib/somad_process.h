/* A somad of one's own for a test: started on a free port, ended by its process id. It ends with
 * the test program, whatever becomes of that. */
#ifndef SOMA_TESTS_SOMAD_PROCESS_H
#define SOMA_TESTS_SOMAD_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct somad_process {
    pid_t pid;
    char url[256]; /* what it says that it listens on: http://HOST:PORT or unix:PATH */
};

/* Start the program at path and wait until it listens.
 *   listen   value of --listen; NULL: a free port of 127.0.0.1
 *   options  further arguments, NULL at the end; NULL: none
 * false: it did not start within ten seconds; nothing is left running; why is printed. */
bool somad_start(struct somad_process *process, const char *path, const char *listen,
                 const char *const *options);

/* Ask it to end (SIGTERM) and wait. Its exit code, or -1 when a signal ended it or it had to be
 * killed after ten seconds. */
int somad_stop(struct somad_process *process);

#endif
