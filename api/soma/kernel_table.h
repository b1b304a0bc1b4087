/* What kernels are: their parameters, how arguments are given, and what a launch costs. The service
 * runs them; the client foresees launches by the same rules. Pure; constant data is thread-safe.
 * Several rows may have one name: forms of one kernel that take other arguments. */
#ifndef SOMA_KERNEL_TABLE_H
#define SOMA_KERNEL_TABLE_H

#include "command.h"

#define SOMA_KERNEL_PARAMETERS_MAX 16u

struct soma_kernel_row_parameter {
    const char *name;
    enum soma_arg_kind kind; /* never SOMA_ARG_BYTES */
    const char *help;
    uint64_t unit_ps; /* of a kernel with a linear cost: picoseconds for each unit of the argument;
                       * of a pointer, for each byte from there to the end of what its block was
                       * asked for */
};

struct soma_kernel_call;

/* One form of a kernel. Arguments come as the first `required` parameters, or as all of them. */
struct soma_kernel_row {
    const char *name;
    const char *library; /* NULL: built in */
    struct soma_kernel_row_parameter parameters[SOMA_KERNEL_PARAMETERS_MAX];
    size_t parameter_count;
    size_t required;
    const char *help;
    const char *cost; /* the formula behind soma_kernel_cost_ns, for people */
    /* More than types can say of the arguments; NULL: nothing. */
    enum soma_status (*check)(const struct soma_kernel_call *call, struct soma_error *error);
    uint64_t (*cost_ns)(const struct soma_kernel_call *call); /* NULL: linear, by the next two */
    uint64_t fixed_ns, block_ns;                              /* once; for each block */
};

/* A launch whose arguments have the right number and types. */
struct soma_kernel_call {
    const struct soma_kernel_row *row;
    uint64_t block_dim;
    uint64_t values[SOMA_KERNEL_PARAMETERS_MAX]; /* bits of the parameter's own type */
    size_t value_count;
    /* How many bytes lie from this address to the end of what its block was asked for; 0: it is no
     * live memory of the device. */
    uint64_t (*requested)(const void *ctx, uint64_t device, uint64_t address);
    const void *ctx;
    uint64_t device;
};

/* The built-in kernels; *count: out. */
const struct soma_kernel_row *soma_kernel_rows_built_in(size_t *count);

/* Find the row that a STREAM_LAUNCH_KERNEL's command means, and read its arguments.
 *   rows   a kernel is named NAME, or LIBRARY/NAME when it is of a library; the first that fits
 *   call   out, on SOMA_OK; requested and ctx are the caller's to set before
 * SOMA_OK; SOMA_NO_SUCH_KERNEL; SOMA_KERNEL_ARGUMENTS, the message tells the forms. */
enum soma_status soma_kernel_read(const struct soma_kernel_row *rows, size_t count,
                                  const struct soma_command *command, struct soma_kernel_call *call,
                                  struct soma_error *error) SOMA_MUST_USE;

/* The kernel's own figure, virtual nanoseconds, at most SOMA_DURATION_NS_MAX. */
uint64_t soma_kernel_cost_ns(const struct soma_kernel_call *call);

/* "add_custom(x=0x12c0c0000000, y=..., count=64)"; returns buf, which is cut when too small. */
const char *soma_kernel_call_text(const struct soma_kernel_call *call, char *buf, size_t size);

/* The key of the argument in launchKernel's args, such as ptr; and the reverse: false, unknown. */
const char *soma_arg_kind_name(enum soma_arg_kind kind);
bool soma_arg_kind_of(const char *name, enum soma_arg_kind *kind);

/* Bytes of an argument in a raw block; 0 for SOMA_ARG_BYTES. */
size_t soma_arg_kind_bytes(enum soma_arg_kind kind);

/* How many elements add_custom adds without a count, by the smallest of its blocks. */
uint64_t soma_add_custom_count(const struct soma_kernel_call *call);

/* Bytes of an element by its aclDataType; 0: a kernel does not know it. */
uint64_t soma_add_custom_element_bytes(uint64_t acl_data_type);

#endif
