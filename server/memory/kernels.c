/* The registry: finding kernels, checking arguments, describing parameters. */
#include "kernels.h"

#include "kernels_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernels {
    const struct kernel *items; /* static storage */
    size_t count;
    struct soma_kernel *described; /* one per item, for GET /v1/kernels */
    struct soma_kernel_parameter *parameters;
};

/* Names as in launchKernel's args, and sizes in a raw argument block. */
static const struct {
    const char *name;
    size_t size_bytes;
} arg_kinds[] = {
    [SOMA_ARG_PTR] = {"ptr", 8}, [SOMA_ARG_U8] = {"u8", 1},        [SOMA_ARG_U16] = {"u16", 2},
    [SOMA_ARG_U32] = {"u32", 4}, [SOMA_ARG_U64] = {"u64", 8},      [SOMA_ARG_I32] = {"i32", 4},
    [SOMA_ARG_I64] = {"i64", 8}, [SOMA_ARG_F16] = {"f16", 2},      [SOMA_ARG_F32] = {"f32", 4},
    [SOMA_ARG_F64] = {"f64", 8}, [SOMA_ARG_BYTES] = {"base64", 0},
};

static void describe(struct kernels *kernels)
{
    struct soma_kernel_parameter *next = kernels->parameters;
    for (size_t i = 0; i < kernels->count; i++) {
        const struct kernel *kernel = &kernels->items[i];
        struct soma_kernel *out = &kernels->described[i];
        *out = (struct soma_kernel){.name = kernel->name,
                                    .origin = (int)kernel->origin,
                                    .help = kernel->help,
                                    .cost = kernel->cost};
        out->parameters.items = next;
        out->parameters.count = kernel->parameter_count;
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            const struct kernel_parameter *parameter = &kernel->parameters[p];
            *next++ = (struct soma_kernel_parameter){.name = parameter->name,
                                                     .type = arg_kinds[parameter->kind].name,
                                                     .required = p < kernel->required,
                                                     .help = parameter->help};
        }
    }
}

struct kernels *kernels_create(void)
{
    struct kernels *kernels = calloc(1, sizeof(*kernels));
    if (kernels == NULL)
        return NULL;
    kernels->items = kernels_built_in(&kernels->count);
    size_t parameters = 0;
    for (size_t i = 0; i < kernels->count; i++)
        parameters += kernels->items[i].parameter_count;
    kernels->described = calloc(kernels->count, sizeof(*kernels->described));
    kernels->parameters = calloc(parameters, sizeof(*kernels->parameters));
    if (kernels->described == NULL || kernels->parameters == NULL) {
        kernels_destroy(kernels);
        return NULL;
    }
    describe(kernels);
    return kernels;
}

void kernels_destroy(struct kernels *kernels)
{
    if (kernels == NULL)
        return;
    free(kernels->described);
    free(kernels->parameters);
    free(kernels);
}

void kernels_list(const struct kernels *kernels, struct soma_kernel_list *list)
{
    list->kernels.items = kernels->described;
    list->kernels.count = kernels->count;
}

static const struct kernel *find_kernel(const struct kernels *kernels, struct soma_text name)
{
    for (size_t i = 0; i < kernels->count; i++) {
        const char *candidate = kernels->items[i].name;
        if (strlen(candidate) == name.len && memcmp(candidate, name.ptr, name.len) == 0)
            return &kernels->items[i];
    }
    return NULL;
}

/* ---- arguments ---- */

/* Bytes of a C struct of the first `count` parameters. *unpadded: without its tail padding. */
static size_t block_bytes(const struct kernel *kernel, size_t count, size_t *unpadded)
{
    size_t at = 0, align_max = 1;
    for (size_t i = 0; i < count; i++) {
        size_t size = arg_kinds[kernel->parameters[i].kind].size_bytes;
        at = (at + size - 1) / size * size + size;
        align_max = size > align_max ? size : align_max;
    }
    *unpadded = at;
    return (at + align_max - 1) / align_max * align_max;
}

/* "add_custom takes (ptr x, ptr y, ptr z [, u32 count, u32 aclDataType]), ..." */
static enum soma_status wrong_arguments(const struct kernel *kernel, const char *what,
                                        struct soma_error *error)
{
    char list[256];
    size_t len = 0, unpadded;
    for (size_t i = 0; i < kernel->parameter_count && len < sizeof(list); i++) {
        const struct kernel_parameter *parameter = &kernel->parameters[i];
        const char *before = i == 0 ? "" : i == kernel->required ? " [, " : ", ";
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s %s", before,
                                arg_kinds[parameter->kind].name, parameter->name);
    }
    bool has_optional = kernel->required < kernel->parameter_count;
    size_t whole = block_bytes(kernel, kernel->parameter_count, &unpadded);
    if (!has_optional)
        return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                         "%s: %s; it takes (%s), or one argument block of %zu bytes laid out "
                         "as a C struct",
                         kernel->name, what, list, whole);
    return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args",
                     "%s: %s; it takes (%s]), or one argument block of %zu or %zu bytes laid out "
                     "as a C struct",
                     kernel->name, what, list, block_bytes(kernel, kernel->required, &unpadded),
                     whole);
}

static bool is_argument_count(const struct kernel *kernel, size_t count)
{
    return count == kernel->required || count == kernel->parameter_count;
}

static uint64_t load_bits(const char *from, size_t size_bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size_bytes) {
    case 1: memcpy(&u8, from, 1); return u8;
    case 2: memcpy(&u16, from, 2); return u16;
    case 4: memcpy(&u32, from, 4); return u32;
    default: memcpy(&u64, from, 8); return u64;
    }
}

static enum soma_status read_block(struct kernel_call *call, struct soma_text block,
                                   struct soma_error *error)
{
    const struct kernel *kernel = call->kernel;
    size_t counts[] = {kernel->required, kernel->parameter_count};
    for (size_t c = 0; c < 2; c++) {
        size_t unpadded, padded = block_bytes(kernel, counts[c], &unpadded);
        if (block.len != unpadded && block.len != padded)
            continue;
        size_t at = 0;
        for (size_t i = 0; i < counts[c]; i++) {
            size_t size = arg_kinds[kernel->parameters[i].kind].size_bytes;
            at = (at + size - 1) / size * size;
            call->values[i] = load_bits(block.ptr + at, size);
            at += size;
        }
        call->value_count = counts[c];
        return SOMA_OK;
    }
    char what[64];
    (void)snprintf(what, sizeof(what), "an argument block of %zu bytes", block.len);
    return wrong_arguments(kernel, what, error);
}

static enum soma_status read_list(struct kernel_call *call, const struct soma_kernel_args *args,
                                  struct soma_error *error)
{
    const struct kernel *kernel = call->kernel;
    char what[96];
    if (!is_argument_count(kernel, args->count)) {
        (void)snprintf(what, sizeof(what), "%zu arguments", args->count);
        return wrong_arguments(kernel, what, error);
    }
    for (size_t i = 0; i < args->count; i++) {
        const struct kernel_parameter *parameter = &kernel->parameters[i];
        if (args->items[i].kind != parameter->kind) {
            (void)snprintf(what, sizeof(what), "argument %zu (%s) is given as %s", i,
                           parameter->name, arg_kinds[args->items[i].kind].name);
            return wrong_arguments(kernel, what, error);
        }
        call->values[i] = args->items[i].bits;
    }
    call->value_count = args->count;
    return SOMA_OK;
}

enum soma_status kernels_launch(const struct kernels *kernels, struct bytes *bytes,
                                const struct engine *engine, const struct soma_command *command,
                                uint64_t *cost_ns, struct soma_error *error)
{
    struct kernel_call call = {.kernel = find_kernel(kernels, command->kernel),
                               .bytes = bytes,
                               .engine = engine,
                               .device = command->device};
    if (call.kernel == NULL)
        return soma_fail(error, SOMA_NO_SUCH_KERNEL, "kernel",
                         "no kernel is named \"%.*s\"; GET /v1/kernels lists them",
                         (int)command->kernel.len, command->kernel.ptr);
    const struct soma_kernel_args *args = &command->args;
    bool is_block = args->count == 1 && args->items[0].kind == SOMA_ARG_BYTES;
    enum soma_status status =
        is_block ? read_block(&call, args->items[0].bytes, error) : read_list(&call, args, error);
    if (status != SOMA_OK)
        return status;
    status = call.kernel->run(&call, error);
    if (status == SOMA_OK)
        *cost_ns = call.cost_ns;
    return status;
}

/* ---- for the kernels ---- */

static enum soma_status fault(const struct kernel_call *call, size_t index, uint64_t size_bytes,
                              struct soma_error *error)
{
    return soma_fail(error, SOMA_KERNEL_FAULT, "args",
                     "%s: %s: %" PRIu64 " bytes at 0x%" PRIx64
                     " are not live memory of device %" PRIu64,
                     call->kernel->name, call->kernel->parameters[index].name, size_bytes,
                     call->values[index], call->device);
}

enum soma_status kernel_span(struct kernel_call *call, size_t index, uint64_t count,
                             uint64_t element_bytes, unsigned char **host, struct soma_error *error)
{
    uint64_t size_bytes = count > UINT64_MAX / element_bytes ? UINT64_MAX : count * element_bytes;
    uint64_t base, block, requested, address = call->values[index];
    *host = NULL;
    if (size_bytes == 0)
        return SOMA_OK;
    if (engine_resolve(call->engine, call->device, address, size_bytes, &base, &block, &requested,
                       NULL) != SOMA_OK)
        return fault(call, index, size_bytes, error);
    void *place;
    enum soma_status status = bytes_host(call->bytes, address, size_bytes, &place, error);
    if (status == SOMA_OK)
        *host = place;
    return status;
}

enum soma_status kernel_requested(struct kernel_call *call, size_t index, uint64_t *bytes,
                                  struct soma_error *error)
{
    uint64_t base, block, requested, address = call->values[index];
    if (engine_resolve(call->engine, call->device, address, 1, &base, &block, &requested, NULL) !=
        SOMA_OK)
        return fault(call, index, 1, error);
    uint64_t offset = address - base;
    *bytes = offset < requested ? requested - offset : 0;
    return SOMA_OK;
}

uint64_t kernel_move_ns(uint64_t size_bytes)
{
    return size_bytes / 400 + (size_bytes % 400 != 0); /* 400 GB/s */
}
