/* An engine of one device of an Ascend910B that keeps contents and runs kernels. */
#ifndef SOMA_TESTS_KERNEL_FIXTURE_H
#define SOMA_TESTS_KERNEL_FIXTURE_H

#include "bytes.h"
#include "engine.h"
#include "kernel_libraries.h"
#include "kernels.h"

struct kernel_fixture {
    struct kernels *kernels;
    struct bytes *bytes;
    struct engine *engine;
    struct soma_error error;       /* of the last command that failed */
    struct soma_launched launched; /* of the last launch that succeeded */
};

/* libraries: taken over; NULL: the built-in kernels only. */
void kernel_fixture_start(struct kernel_fixture *f, struct kernel_libraries *libraries);
void kernel_fixture_stop(struct kernel_fixture *f);

/* Run a command whose result nobody looks at. */
enum soma_status kernel_fixture_apply(struct kernel_fixture *f, const struct soma_command *command);

/* On stream 0. */
enum soma_status kernel_fixture_launch(struct kernel_fixture *f, const char *kernel,
                                       uint64_t block_dim, const struct soma_kernel_arg *args,
                                       size_t count);

/* Memory of this many bytes; its address. */
uint64_t kernel_fixture_allocate(struct kernel_fixture *f, uint64_t size);

void kernel_fixture_put(struct kernel_fixture *f, uint64_t address, const void *from, size_t size);
void kernel_fixture_get(struct kernel_fixture *f, uint64_t address, void *to, size_t size);

#endif
