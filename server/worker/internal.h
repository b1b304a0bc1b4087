/* What the files of soma-kernel-worker share. It has one thread and links nothing of somad. */
#ifndef SOMA_WORKER_INTERNAL_H
#define SOMA_WORKER_INTERNAL_H

#include "protocol.h"

#include <stdbool.h>

/* Load every *.so of the directory, in the order of names, and tell somad each kernel. false: what
 * is wrong was told. */
bool libraries_load(const char *directory);

/* The kernel of this number, NULL past the last. */
const struct soma_kernel_declaration *libraries_kernel(uint32_t number);

/* In the process of one launch: run it, write what became of it to the pipe, and end. Closes
 * nothing that the kernel could miss. */
_Noreturn void launch_run(const struct worker_launch *launch, int memory, int outcome);

#endif
