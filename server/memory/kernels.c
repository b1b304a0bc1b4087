/* The registry: running kernels, and describing them. */
#include "kernels.h"

#include "kernel_libraries.h"
#include "kernels_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernels {
    struct soma_kernel_row *rows; /* the built-in ones first */
    size_t built_in_count, count;
    struct kernel_libraries *libraries; /* NULL: none */
    struct soma_kernel *described;      /* one per row, for GET /v1/kernels */
    struct soma_kernel_parameter *parameters;
};

static void describe_row(const struct soma_kernel_row *row, bool is_built_in,
                         struct soma_kernel *out, struct soma_kernel_parameter *parameters)
{
    *out = (struct soma_kernel){.name = row->name,
                                .origin = is_built_in ? SOMA_KERNEL_ORIGIN_BUILT_IN
                                                      : SOMA_KERNEL_ORIGIN_FILE,
                                .help = row->help,
                                .cost = row->cost,
                                .library = row->library,
                                .fixed_ns = is_built_in ? SOMA_NONE : row->fixed_ns,
                                .block_ns = is_built_in ? SOMA_NONE : row->block_ns};
    out->parameters.items = parameters;
    out->parameters.count = row->parameter_count;
    for (size_t i = 0; i < row->parameter_count; i++)
        parameters[i] = (struct soma_kernel_parameter){
            .name = row->parameters[i].name,
            .type = soma_arg_kind_name(row->parameters[i].kind),
            .required = i < row->required,
            .help = row->parameters[i].help,
            .unit_ps = is_built_in ? SOMA_NONE : row->parameters[i].unit_ps};
}

static bool describe(struct kernels *kernels)
{
    size_t parameters = 0;
    for (size_t i = 0; i < kernels->count; i++)
        parameters += kernels->rows[i].parameter_count;
    kernels->described = calloc(kernels->count, sizeof(*kernels->described));
    kernels->parameters = calloc(parameters, sizeof(*kernels->parameters));
    if (kernels->described == NULL || kernels->parameters == NULL)
        return false;
    struct soma_kernel_parameter *next = kernels->parameters;
    for (size_t i = 0; i < kernels->count; i++) {
        describe_row(&kernels->rows[i], i < kernels->built_in_count, &kernels->described[i], next);
        next += kernels->rows[i].parameter_count;
    }
    return true;
}

static bool collect(struct kernels *kernels)
{
    size_t more = 0;
    const struct soma_kernel_row *built_in = soma_kernel_rows_built_in(&kernels->built_in_count);
    const struct soma_kernel_row *loaded =
        kernels->libraries != NULL ? kernel_libraries_rows(kernels->libraries, &more) : NULL;
    kernels->count = kernels->built_in_count + more;
    kernels->rows = calloc(kernels->count, sizeof(*kernels->rows));
    if (kernels->rows == NULL)
        return false;
    memcpy(kernels->rows, built_in, kernels->built_in_count * sizeof(*built_in));
    if (more > 0)
        memcpy(kernels->rows + kernels->built_in_count, loaded, more * sizeof(*loaded));
    return true;
}

struct kernels *kernels_create_with(struct kernel_libraries *libraries)
{
    struct kernels *kernels = calloc(1, sizeof(*kernels));
    if (kernels == NULL) {
        kernel_libraries_close(libraries);
        return NULL;
    }
    kernels->libraries = libraries;
    if (collect(kernels) && describe(kernels))
        return kernels;
    kernels_destroy(kernels);
    return NULL;
}

struct kernels *kernels_create(void)
{
    return kernels_create_with(NULL);
}

void kernels_destroy(struct kernels *kernels)
{
    if (kernels == NULL)
        return;
    kernel_libraries_close(kernels->libraries);
    free(kernels->described);
    free(kernels->parameters);
    free(kernels->rows);
    free(kernels);
}

void kernels_list(const struct kernels *kernels, struct soma_kernel_list *list)
{
    list->kernels.items = kernels->described;
    list->kernels.count = kernels->count;
}

/* ---- launching ---- */

static uint64_t requested(const void *ctx, uint64_t device, uint64_t address)
{
    uint64_t base, block, asked;
    if (engine_resolve(ctx, device, address, 1, &base, &block, &asked, NULL) != SOMA_OK)
        return 0;
    return address - base < asked ? asked - (address - base) : 0;
}

enum soma_status kernels_launch(const struct kernels *kernels, struct bytes *bytes,
                                const struct engine *engine, const struct soma_command *command,
                                uint64_t *cost_ns, struct soma_error *error)
{
    struct kernel_call call = {
        .args = {.requested = requested, .ctx = engine}, .bytes = bytes, .engine = engine};
    enum soma_status status =
        soma_kernel_read(kernels->rows, kernels->count, command, &call.args, error);
    if (status != SOMA_OK)
        return status;
    *cost_ns = soma_kernel_cost_ns(&call.args);
    size_t number = (size_t)(call.args.row - kernels->rows);
    if (number >= kernels->built_in_count)
        return kernel_libraries_run(kernels->libraries, number - kernels->built_in_count,
                                    &call.args, bytes, engine, error);
    status = kernel_run_built_in(call.args.row->name)(&call, error);
    while (call.view_count > 0)
        bytes_view_close(&call.views[--call.view_count]);
    return status;
}

/* ---- for the kernels ---- */

static enum soma_status fault(const struct kernel_call *call, size_t index, uint64_t size_bytes,
                              struct soma_error *error)
{
    char text[256];
    return soma_fail(error, SOMA_KERNEL_FAULT, "args",
                     "%s: %s: %" PRIu64 " bytes at 0x%" PRIx64
                     " are not live memory of device %" PRIu64,
                     soma_kernel_call_text(&call->args, text, sizeof(text)),
                     call->args.row->parameters[index].name, size_bytes, call->args.values[index],
                     call->args.device);
}

/* Bytes of several mappings in one view. */
static enum soma_status see(struct kernel_call *call, uint64_t address, uint64_t size_bytes,
                            unsigned char **host, struct soma_error *error)
{
    if (call->view_count == KERNEL_VIEWS_MAX)
        return soma_fail(error, SOMA_INTERNAL, "args", "a kernel looks at too many ranges");
    struct bytes_view *view = &call->views[call->view_count];
    struct bytes_span span = {address, size_bytes};
    enum soma_status status = bytes_view_open(call->bytes, call->engine, &span, view, error);
    if (status != SOMA_OK)
        return status;
    call->view_count++;
    *host = view->host;
    return SOMA_OK;
}

enum soma_status kernel_span(struct kernel_call *call, size_t index, uint64_t count,
                             uint64_t element_bytes, unsigned char **host, struct soma_error *error)
{
    uint64_t size_bytes = count > UINT64_MAX / element_bytes ? UINT64_MAX : count * element_bytes;
    uint64_t base, block, requested, address = call->args.values[index];
    *host = NULL;
    if (size_bytes == 0)
        return SOMA_OK;
    if (engine_resolve(call->engine, call->args.device, address, size_bytes, &base, &block,
                       &requested, NULL) != SOMA_OK)
        return fault(call, index, size_bytes, error);
    struct engine_piece piece;
    engine_translate(call->engine, address, &piece);
    if (piece.bytes < size_bytes)
        return see(call, address, size_bytes, host, error);
    void *place;
    enum soma_status status = bytes_host(call->bytes, piece.address, size_bytes, &place, error);
    if (status == SOMA_OK)
        *host = place;
    return status;
}
