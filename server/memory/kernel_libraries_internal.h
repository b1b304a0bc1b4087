/* What starting the worker and launching in it share. */
#ifndef SOMA_MEMORY_KERNEL_LIBRARIES_INTERNAL_H
#define SOMA_MEMORY_KERNEL_LIBRARIES_INTERNAL_H

#include "kernel_libraries.h"
#include "worker/protocol.h"

#include <pthread.h>
#include <sys/types.h>

struct kernel_libraries {
    char *directory, *worker;
    uint64_t time_ms, memory_bytes;
    struct soma_kernel_row *rows; /* texts are of the messages */
    struct worker_message **messages;
    size_t count;
    pthread_mutex_t lock; /* guards the next three */
    uint64_t starts;      /* of the worker */
    pid_t pid;            /* of the worker; 0: none */
    int socket;           /* -1: none */
};

/* Send a launch and its two descriptors to the worker, which is started again when it has ended.
 *   start  out: which start of the worker got it
 * false: that is impossible, and why says the reason. */
bool kernel_worker_send(struct kernel_libraries *libraries, const struct worker_launch *launch,
                        int memory, int outcome, uint64_t *start, char *why, size_t why_bytes);

/* Whether the worker of this start has ended, and all launches with it. */
bool kernel_worker_is_gone(struct kernel_libraries *libraries, uint64_t start);

/* End the worker and every launch in it. */
void kernel_worker_stop(struct kernel_libraries *libraries);

#endif
