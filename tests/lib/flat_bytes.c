/* Contents in the pages of the simulation's model, ranges in a list. */
#include "flat_bytes.h"

#include "random_numbers.h"
#include "reduce.h"
#include "sim/bytes.h"

#include <stdlib.h>
#include <string.h>

struct flat_range {
    uint64_t address, size_bytes;
};

struct flat_bytes {
    struct sim_bytes *pages;
    struct flat_range *ranges; /* reserved, in no order */
    size_t range_count, range_capacity;
    uint64_t written_bytes, write_limit;
};

static void require(bool good)
{
    if (!good)
        abort();
}

struct flat_bytes *flat_bytes_create(uint64_t write_limit)
{
    struct flat_bytes *bytes = calloc(1, sizeof(*bytes));
    require(bytes != NULL);
    bytes->pages = sim_bytes_create();
    bytes->write_limit = write_limit;
    return bytes;
}

void flat_bytes_destroy(struct flat_bytes *bytes)
{
    sim_bytes_destroy(bytes->pages);
    free(bytes->ranges);
    free(bytes);
}

size_t flat_bytes_ranges(const struct flat_bytes *bytes)
{
    return bytes->range_count;
}

/* The engine asks for nothing outside one range. */
static void require_inside(const struct flat_bytes *bytes, uint64_t address, uint64_t size_bytes)
{
    for (size_t i = 0; i < bytes->range_count; i++) {
        const struct flat_range *range = &bytes->ranges[i];
        uint64_t offset = address - range->address;
        if (address >= range->address && offset <= range->size_bytes &&
            size_bytes <= range->size_bytes - offset)
            return;
    }
    abort();
}

static enum soma_status spend(struct flat_bytes *bytes, uint64_t size_bytes,
                              struct soma_error *error)
{
    if (size_bytes > bytes->write_limit - bytes->written_bytes)
        return soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "", "the test's limit is reached");
    bytes->written_bytes += size_bytes;
    return SOMA_OK;
}

/* ---- the table ---- */

static enum soma_status flat_reserve(void *ctx, uint64_t address, uint64_t size_bytes,
                                     struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    (void)error;
    for (size_t i = 0; i < bytes->range_count; i++) {
        const struct flat_range *range = &bytes->ranges[i];
        require(address + size_bytes <= range->address ||
                range->address + range->size_bytes <= address);
    }
    if (bytes->range_count == bytes->range_capacity) {
        bytes->range_capacity = bytes->range_capacity * 2 + 16;
        bytes->ranges = realloc(bytes->ranges, bytes->range_capacity * sizeof(*bytes->ranges));
        require(bytes->ranges != NULL);
    }
    bytes->ranges[bytes->range_count++] = (struct flat_range){address, size_bytes};
    return SOMA_OK;
}

static void flat_release(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct flat_bytes *bytes = ctx;
    size_t i = 0;
    while (i < bytes->range_count && bytes->ranges[i].address != address)
        i++;
    require(i < bytes->range_count && bytes->ranges[i].size_bytes == size_bytes);
    bytes->ranges[i] = bytes->ranges[--bytes->range_count];
    sim_bytes_zero(bytes->pages, address, size_bytes);
}

static void flat_unmap(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, address, size_bytes);
    sim_bytes_zero(bytes->pages, address, size_bytes);
}

static enum soma_status flat_touch(void *ctx, uint64_t address, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, address, size_bytes);
    if (size_bytes > bytes->write_limit - bytes->written_bytes)
        return soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "", "the test's limit is reached");
    return SOMA_OK;
}

static enum soma_status flat_write(void *ctx, uint64_t address, const void *from,
                                   uint64_t size_bytes, struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, address, size_bytes);
    enum soma_status status = spend(bytes, size_bytes, error);
    if (status == SOMA_OK)
        sim_bytes_write(bytes->pages, address, from, size_bytes);
    return status;
}

static enum soma_status flat_read(void *ctx, uint64_t address, void *to, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    (void)error;
    require_inside(bytes, address, size_bytes);
    sim_bytes_read(bytes->pages, address, to, size_bytes);
    return SOMA_OK;
}

static enum soma_status flat_set(void *ctx, uint64_t address, uint8_t value, uint64_t size_bytes,
                                 struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, address, size_bytes);
    enum soma_status status = spend(bytes, size_bytes, error);
    if (status == SOMA_OK)
        sim_bytes_set(bytes->pages, address, value, size_bytes);
    return status;
}

static enum soma_status flat_copy(void *ctx, uint64_t dst, uint64_t src, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, dst, size_bytes);
    require_inside(bytes, src, size_bytes);
    enum soma_status status = spend(bytes, size_bytes, error);
    if (status == SOMA_OK)
        sim_bytes_copy(bytes->pages, dst, src, size_bytes);
    return status;
}

static enum soma_status flat_reduce(void *ctx, const struct engine_reduce *what,
                                    struct soma_error *error)
{
    struct flat_bytes *bytes = ctx;
    require_inside(bytes, what->dst, what->size_bytes);
    require_inside(bytes, what->src, what->size_bytes);
    enum soma_status status = spend(bytes, what->size_bytes, error);
    unsigned char to[8], from[8];
    for (uint64_t at = 0; at < what->size_bytes && status == SOMA_OK; at += sizeof(to)) {
        uint64_t left = what->size_bytes - at;
        struct engine_reduce part = *what;
        part.size_bytes = left < sizeof(to) ? left : sizeof(to);
        sim_bytes_read(bytes->pages, what->dst + at, to, part.size_bytes);
        sim_bytes_read(bytes->pages, what->src + at, from, part.size_bytes);
        reduce_elements(&part, to, from);
        sim_bytes_write(bytes->pages, what->dst + at, to, part.size_bytes);
    }
    return status;
}

static void flat_random(void *ctx, const struct engine_random *what, uint64_t first, uint64_t count,
                        void *to)
{
    (void)ctx;
    random_make(what, first, count, to);
}

static enum soma_status flat_kernel(void *ctx, const struct engine *engine,
                                    const struct soma_command *command, uint64_t *cost_ns,
                                    struct soma_error *error)
{
    (void)ctx, (void)engine, (void)command, (void)cost_ns;
    return soma_fail(error, SOMA_NO_SUCH_KERNEL, "kernel", "there are no kernels here");
}

struct engine_bytes flat_bytes_table(struct flat_bytes *bytes)
{
    return (struct engine_bytes){
        .ctx = bytes,
        .reserve = flat_reserve,
        .release = flat_release,
        .unmap = flat_unmap,
        .touch = flat_touch,
        .write = flat_write,
        .read = flat_read,
        .set = flat_set,
        .copy = flat_copy,
        .reduce = flat_reduce,
        .random = flat_random,
        .kernel = flat_kernel,
    };
}
