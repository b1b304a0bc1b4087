/* Tables for the engine under test. */
#include "subject.h"

#include "kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static void *alloc(void *ctx, size_t size_bytes)
{
    struct subject *subject = ctx;
    if (subject->fail_alloc > 0 && --subject->fail_alloc == 0) {
        subject->has_failed = true;
        return NULL;
    }
    void *ptr = malloc(size_bytes);
    if (ptr == NULL)
        abort();
    memset(ptr, 0xa5, size_bytes);
    subject->blocks_held++;
    return ptr;
}

static void release(void *ctx, void *ptr)
{
    struct subject *subject = ctx;
    subject->blocks_held -= ptr != NULL;
    free(ptr);
}

/* ---- ranges ---- */

static void complain(struct subject *subject, const char *what, uint64_t address,
                     uint64_t size_bytes)
{
    if (subject->complaint[0] == '\0')
        (void)snprintf(subject->complaint, sizeof(subject->complaint),
                       "engine_bytes: %s 0x%" PRIx64 ", %" PRIu64 " bytes", what, address,
                       size_bytes);
}

static void check_range(struct subject *subject, const char *what, uint64_t address,
                        uint64_t size_bytes)
{
    for (uint32_t i = 0; i < subject->range_count; i++) {
        const struct subject_range *range = &subject->ranges[i];
        if (address >= range->base && address - range->base < range->bytes && size_bytes > 0 &&
            size_bytes <= range->bytes - (address - range->base))
            return;
    }
    complain(subject, what, address, size_bytes);
}

static bool must_fail(struct subject *subject)
{
    bool must = subject->fail_bytes;
    subject->fail_bytes = false;
    subject->has_failed = subject->has_failed || must;
    return must;
}

static enum soma_status fail(struct soma_error *error)
{
    return soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "", "made to fail");
}

static enum soma_status reserve(void *ctx, uint64_t address, uint64_t size_bytes,
                                struct soma_error *error)
{
    struct subject *subject = ctx;
    if (must_fail(subject))
        return fail(error);
    for (uint32_t i = 0; i < subject->range_count; i++) {
        const struct subject_range *range = &subject->ranges[i];
        if (address < range->base + range->bytes && range->base < address + size_bytes)
            complain(subject, "reserved twice:", address, size_bytes);
    }
    if (subject->range_count == subject->range_capacity) {
        subject->range_capacity = subject->range_capacity * 2 + 16;
        subject->ranges =
            realloc(subject->ranges, subject->range_capacity * sizeof(*subject->ranges));
        if (subject->ranges == NULL)
            abort();
    }
    subject->ranges[subject->range_count++] = (struct subject_range){address, size_bytes};
    return SOMA_OK;
}

static void release_range(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct subject *subject = ctx;
    for (uint32_t i = 0; i < subject->range_count; i++) {
        struct subject_range *range = &subject->ranges[i];
        if (range->base != address || range->bytes != size_bytes)
            continue;
        sim_bytes_zero(subject->bytes, address, size_bytes);
        *range = subject->ranges[--subject->range_count];
        return;
    }
    complain(subject, "released, but not reserved so:", address, size_bytes);
}

/* ---- contents ---- */

static void unmap(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct subject *subject = ctx;
    check_range(subject, "unmapped outside a range:", address, size_bytes);
    sim_bytes_zero(subject->bytes, address, size_bytes);
}

static enum soma_status write_bytes(void *ctx, uint64_t address, const void *from,
                                    uint64_t size_bytes, struct soma_error *error)
{
    struct subject *subject = ctx;
    if (must_fail(subject))
        return fail(error);
    check_range(subject, "written outside a range:", address, size_bytes);
    sim_bytes_write(subject->bytes, address, from, size_bytes);
    return SOMA_OK;
}

static enum soma_status read_bytes(void *ctx, uint64_t address, void *to, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct subject *subject = ctx;
    if (must_fail(subject))
        return fail(error);
    check_range(subject, "read outside a range:", address, size_bytes);
    sim_bytes_read(subject->bytes, address, to, size_bytes);
    return SOMA_OK;
}

static enum soma_status set_bytes(void *ctx, uint64_t address, uint8_t value, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct subject *subject = ctx;
    if (must_fail(subject))
        return fail(error);
    check_range(subject, "set outside a range:", address, size_bytes);
    sim_bytes_set(subject->bytes, address, value, size_bytes);
    return SOMA_OK;
}

static enum soma_status copy_bytes(void *ctx, uint64_t dst, uint64_t src, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct subject *subject = ctx;
    if (must_fail(subject))
        return fail(error);
    check_range(subject, "copied to outside a range:", dst, size_bytes);
    check_range(subject, "copied from outside a range:", src, size_bytes);
    sim_bytes_copy(subject->bytes, dst, src, size_bytes);
    return SOMA_OK;
}

static enum soma_status run_kernel(void *ctx, const struct engine *engine,
                                   const struct soma_command *command, uint64_t *cost_ns,
                                   struct soma_error *error)
{
    struct subject *subject = ctx;
    struct sim_kernel kernel;
    uint64_t base, block_bytes, requested_bytes;
    if (must_fail(subject))
        return fail(error);
    enum soma_status status = sim_kernel_parse(command, &kernel);
    if (status != SOMA_OK)
        return soma_fail(error, status, "kernel", "the kernel refuses");
    *cost_ns = kernel.cost_ns;
    if (kernel.size_bytes > 0) {
        if (engine_resolve(engine, command->device, kernel.address, kernel.size_bytes, &base,
                           &block_bytes, &requested_bytes, error) != SOMA_OK)
            return soma_fail(error, SOMA_KERNEL_FAULT, "args", "not live memory");
        if (kernel.address < base || kernel.address - base + kernel.size_bytes > block_bytes ||
            requested_bytes > block_bytes)
            complain(subject, "engine_resolve gives another block for", kernel.address,
                     kernel.size_bytes);
        sim_kernel_invert(subject->bytes, &kernel);
    }
    return SOMA_OK;
}

/* ---- life ---- */

void subject_init(struct subject *subject, const struct model_config *config)
{
    memset(subject, 0, sizeof(*subject));
    subject->bytes = sim_bytes_create();
    subject->costs =
        (struct engine_costs){.host_call_ns = config->costs.host_call_ns,
                              .host_copy_ns = config->costs.host_copy_ns,
                              .host_copy_bytes_per_us = config->costs.host_copy_bytes_per_us,
                              .device_copy_ns = config->costs.device_copy_ns,
                              .device_copy_bytes_per_us = config->costs.device_copy_bytes_per_us,
                              .set_ns = config->costs.set_ns,
                              .set_bytes_per_us = config->costs.set_bytes_per_us,
                              .kernel_ns = config->costs.kernel_ns};
    struct engine_config engine_config = {.device_count = config->device_count,
                                          .soc = config->soc,
                                          .memory_bytes = config->memory_bytes,
                                          .wall_clock = config->is_wall_clock,
                                          .costs = &subject->costs};
    struct engine_mem mem = {.ctx = subject, .alloc = alloc, .release = release};
    struct engine_bytes bytes = {.ctx = subject,
                                 .reserve = reserve,
                                 .release = release_range,
                                 .unmap = unmap,
                                 .write = write_bytes,
                                 .read = read_bytes,
                                 .set = set_bytes,
                                 .copy = copy_bytes,
                                 .kernel = run_kernel};
    subject->engine = engine_create(&engine_config, &mem, &bytes);
    subject->predictor = engine_create(&engine_config, &mem, NULL);
    if (subject->engine == NULL || subject->predictor == NULL)
        abort();
}

void subject_release(struct subject *subject)
{
    engine_destroy(subject->engine);
    engine_destroy(subject->predictor);
    subject->engine = subject->predictor = NULL;
    if (subject->range_count > 0)
        complain(subject, "not released:", subject->ranges[0].base, subject->ranges[0].bytes);
    if (subject->blocks_held > 0)
        complain(subject, "memory of the engine not released, blocks:", subject->blocks_held, 0);
    free(subject->ranges);
    sim_bytes_destroy(subject->bytes);
    subject->ranges = NULL;
    subject->bytes = NULL;
}
