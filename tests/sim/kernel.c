/* Two kernels, just enough to see that launches happen, in order and once. */
#include "kernel.h"

#include <string.h>

static bool is_named(const struct soma_text *text, const char *name)
{
    return text->len == strlen(name) && memcmp(text->ptr, name, text->len) == 0;
}

static enum soma_status parse_spin(const struct soma_kernel_args *args, struct sim_kernel *kernel)
{
    if (args->count != 1 || args->items[0].kind != SOMA_ARG_U64)
        return SOMA_KERNEL_ARGUMENTS;
    kernel->cost_ns = args->items[0].bits;
    return SOMA_OK;
}

static enum soma_status parse_invert(const struct soma_kernel_args *args, struct sim_kernel *kernel)
{
    if (args->count != 2 || args->items[0].kind != SOMA_ARG_PTR ||
        args->items[1].kind != SOMA_ARG_U64 || args->items[1].bits == 0 ||
        args->items[1].bits > SIM_KERNEL_BYTES_MAX)
        return SOMA_KERNEL_ARGUMENTS;
    kernel->address = args->items[0].bits;
    kernel->size_bytes = args->items[1].bits;
    kernel->cost_ns = kernel->size_bytes / SIM_KERNEL_BYTES_PER_NS;
    return SOMA_OK;
}

enum soma_status sim_kernel_parse(const struct soma_command *command, struct sim_kernel *kernel)
{
    memset(kernel, 0, sizeof(*kernel));
    if (is_named(&command->kernel, "spin"))
        return parse_spin(&command->args, kernel);
    if (is_named(&command->kernel, "invert"))
        return parse_invert(&command->args, kernel);
    return SOMA_NO_SUCH_KERNEL;
}

void sim_kernel_invert(struct sim_bytes *bytes, const struct sim_kernel *kernel)
{
    unsigned char touched[SIM_KERNEL_BYTES_MAX];
    sim_bytes_read(bytes, kernel->address, touched, kernel->size_bytes);
    for (uint64_t i = 0; i < kernel->size_bytes; i++)
        touched[i] = (unsigned char)~touched[i];
    sim_bytes_write(bytes, kernel->address, touched, kernel->size_bytes);
}
