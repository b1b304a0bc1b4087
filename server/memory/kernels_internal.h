/* What the registry of kernels and the kernels themselves share. */
#ifndef SOMA_MEMORY_KERNELS_INTERNAL_H
#define SOMA_MEMORY_KERNELS_INTERNAL_H

#include "kernels.h"

#define KERNEL_PARAMETERS_MAX 8u

struct kernel_parameter {
    const char *name;
    enum soma_arg_kind kind;
    const char *help;
};

struct kernel_call;

/* One kernel. Arguments come as the first `required` parameters, or as all of them. */
struct kernel {
    const char *name;
    enum soma_kernel_origin origin;
    struct kernel_parameter parameters[KERNEL_PARAMETERS_MAX];
    size_t parameter_count;
    size_t required;
    const char *help;
    const char *cost; /* the formula behind cost_ns, for people */
    /* Check every range, then compute; sets call->cost_ns on SOMA_OK. */
    enum soma_status (*run)(struct kernel_call *call, struct soma_error *error);
};

/* A launch whose arguments have the right number and types. */
struct kernel_call {
    const struct kernel *kernel;
    struct bytes *bytes;
    const struct engine *engine;
    uint64_t device;
    uint64_t values[KERNEL_PARAMETERS_MAX]; /* bits of the parameter's own type */
    size_t value_count;
    uint64_t cost_ns;
};

/* The bytes that ptr parameter `index` points to, or SOMA_KERNEL_FAULT.
 *   count, element_bytes  the range is their product; one that leaves 64 bits is a fault
 *   host  out: NULL when the range is empty */
enum soma_status kernel_span(struct kernel_call *call, size_t index, uint64_t count,
                             uint64_t element_bytes, unsigned char **host,
                             struct soma_error *error) SOMA_MUST_USE;

/* How many bytes from ptr parameter `index` to the end of what its block was asked for. */
enum soma_status kernel_requested(struct kernel_call *call, size_t index, uint64_t *bytes,
                                  struct soma_error *error) SOMA_MUST_USE;

/* Time to move this many bytes, at the speed of a copy on the device; saturates. */
uint64_t kernel_move_ns(uint64_t size_bytes);

/* The built-in kernels; *count: out. */
const struct kernel *kernels_built_in(size_t *count);

#endif
