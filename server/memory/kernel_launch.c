/* One launch of a kernel of a library: the blocks go out as copies in a memfd, the outcome comes
 * back through a pipe, and then the bytes that have changed. */
#include "kernel_libraries_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GRACE_MS 2000 /* behind its time, until a launch's process must be gone */

struct launch {
    struct kernel_libraries *libraries;
    const struct soma_kernel_call *call;
    struct bytes *bytes;
    const struct engine *engine;
    struct worker_launch message;
    uint64_t total_bytes;                               /* of the memory */
    int memory;                                         /* memfd; -1: none */
    unsigned char *view;                                /* of the memory; NULL: none */
    struct bytes_view views[SOMA_KERNEL_ARGUMENTS_MAX]; /* of ranges of mapped memory */
};

static enum soma_status fail(const struct launch *launch, struct soma_error *error,
                             const char *format, ...) SOMA_PRINTF(3, 4);

static enum soma_status fail(const struct launch *launch, struct soma_error *error,
                             const char *format, ...)
{
    char call[320], what[320];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return soma_fail(error, SOMA_KERNEL_FAULT, "args", "%s: %s",
                     soma_kernel_call_text(launch->call, call, sizeof(call)), what);
}

static enum soma_status no_host_memory(struct soma_error *error)
{
    return soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "",
                     "the host gave no memory for the blocks of a kernel: %s; free memory, or "
                     "raise the server's memory limit",
                     strerror(errno));
}

/* ---- going out ---- */

static uint64_t whole_pages(uint64_t size_bytes)
{
    return (size_bytes + WORKER_PAGE_BYTES - 1) / WORKER_PAGE_BYTES * WORKER_PAGE_BYTES;
}

static bool has_range(const struct launch *launch, uint64_t address)
{
    for (uint32_t i = 0; i < launch->message.range_count; i++) {
        if (launch->message.ranges[i].address == address)
            return true;
    }
    return false;
}

/* The blocks that pointers lead into, each once. A pointer to nothing only fails when it is used.
 */
static enum soma_status gather(struct launch *launch, struct soma_error *error)
{
    const struct soma_kernel_call *call = launch->call;
    uint64_t base, block;
    char total[32], limit[32];
    for (size_t i = 0; i < call->value_count; i++) {
        if (call->row->parameters[i].kind != SOMA_ARG_PTR ||
            engine_block_around(launch->engine, call->device, call->values[i], &base, &block) !=
                SOMA_OK ||
            has_range(launch, base))
            continue;
        launch->message.ranges[launch->message.range_count++] =
            (struct worker_range){base, block, launch->total_bytes};
        launch->total_bytes += whole_pages(block);
    }
    if (launch->total_bytes <= launch->libraries->memory_bytes)
        return SOMA_OK;
    return fail(launch, error,
                "its pointers lead to %s of device memory, and one launch of a library's kernel "
                "has at most %s (--kernel-memory)",
                soma_bytes_text(total, launch->total_bytes),
                soma_bytes_text(limit, launch->libraries->memory_bytes));
}

static void put_args(struct launch *launch)
{
    const struct soma_kernel_call *call = launch->call;
    size_t at = 0;
    for (size_t i = 0; i < call->value_count; i++) {
        size_t size = soma_arg_kind_bytes(call->row->parameters[i].kind);
        uint64_t bits = call->values[i];
        uint32_t low32 = (uint32_t)bits;
        uint16_t low16 = (uint16_t)bits;
        uint8_t low8 = (uint8_t)bits;
        const void *from = size == 8   ? (const void *)&bits
                           : size == 4 ? (const void *)&low32
                           : size == 2 ? (const void *)&low16
                                       : (const void *)&low8;
        at = (at + size - 1) / size * size;
        memcpy(launch->message.args + at, from, size);
        at += size;
    }
    launch->message.args_bytes = (uint32_t)at;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static size_t page_at(uint64_t size_bytes, uint64_t offset)
{
    uint64_t left = size_bytes - offset;
    return (size_t)(left < WORKER_PAGE_BYTES ? left : WORKER_PAGE_BYTES);
}

/* See ranges of mapped memory, which lie in pieces, each in one view. */
static enum soma_status open_views(struct launch *launch, struct soma_error *error)
{
    enum soma_status status = SOMA_OK;
    for (uint32_t i = 0; i < launch->message.range_count && status == SOMA_OK; i++) {
        const struct worker_range *range = &launch->message.ranges[i];
        struct bytes_span span = {range->address, range->size_bytes};
        if (bytes_is_mapped(launch->engine, range->address))
            status =
                bytes_view_open(launch->bytes, launch->engine, &span, &launch->views[i], error);
    }
    return status;
}

static void close_views(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->message.range_count; i++)
        bytes_view_close(&launch->views[i]);
}

/* Where the contents of a range lie, to look at; NULL: zeros. */
static const unsigned char *contents_of(const struct launch *launch,
                                        const struct worker_range *range)
{
    const struct bytes_view *view = &launch->views[range - launch->message.ranges];
    return view->map != NULL ? view->host
                             : bytes_peek(launch->bytes, range->address, range->size_bytes);
}

/* Pages of zeros stay holes. */
static bool copy_out(const struct launch *launch, const struct worker_range *range)
{
    const unsigned char *host = contents_of(launch, range);
    for (uint64_t at = 0; host != NULL && at < range->size_bytes; at += WORKER_PAGE_BYTES) {
        size_t size = page_at(range->size_bytes, at);
        if (!is_zero(host + at, size) &&
            pwrite(launch->memory, host + at, size, (off_t)(range->offset + at)) != (ssize_t)size)
            return false;
    }
    return true;
}

static bool make_memory(struct launch *launch)
{
    launch->memory = memfd_create("soma-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (launch->memory < 0 || ftruncate(launch->memory, (off_t)launch->total_bytes) != 0 ||
        fcntl(launch->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return false;
    for (uint32_t i = 0; i < launch->message.range_count; i++) {
        if (!copy_out(launch, &launch->message.ranges[i]))
            return false;
    }
    return true;
}

/* ---- the outcome ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* false: the process ended without a word, or is not to be ended. */
static bool read_outcome(int pipe, uint64_t deadline_ms, struct worker_outcome *outcome)
{
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd item = {pipe, POLLIN, 0};
        int count = poll(&item, 1, now < deadline_ms ? (int)(deadline_ms - now) : 0);
        if (count == 0)
            return false;
        ssize_t got = count > 0 ? read(pipe, outcome, sizeof(*outcome)) : -1;
        if (got >= 0 || errno != EINTR)
            return got == (ssize_t)sizeof(*outcome);
    }
}

static enum soma_status fail_late(const struct launch *launch, struct soma_error *error)
{
    char call[320];
    return soma_fail(error, SOMA_KERNEL_TIMEOUT, "args",
                     "%s: it ran longer than %" PRIu64 " ms (--kernel-timeout) and was stopped",
                     soma_kernel_call_text(launch->call, call, sizeof(call)),
                     launch->libraries->time_ms);
}

/* Whether a live block of the device that was not handed over holds this address. */
static bool is_elsewhere(const struct launch *launch, uint64_t address)
{
    uint64_t base, block, requested;
    return engine_resolve(launch->engine, launch->call->device, address, 1, &base, &block,
                          &requested, NULL) == SOMA_OK;
}

static enum soma_status fail_signal(const struct launch *launch,
                                    const struct worker_outcome *outcome, struct soma_error *error)
{
    const char *name = sigabbrev_np(outcome->signal);
    uint64_t device = launch->call->device;
    if (!outcome->has_address)
        return fail(launch, error, "block %u was stopped by SIG%s", outcome->block,
                    name != NULL ? name : "?");
    if (is_elsewhere(launch, outcome->address))
        return fail(launch, error,
                    "block %u touched 0x%" PRIx64 ": it is live memory of device %" PRIu64
                    ", but none of the arguments leads into its block; pass one that does",
                    outcome->block, outcome->address, device);
    return fail(launch, error,
                "block %u touched 0x%" PRIx64 ", which is no live memory of device %" PRIu64,
                outcome->block, outcome->address, device);
}

static enum soma_status judge(const struct launch *launch, const struct worker_outcome *outcome,
                              struct soma_error *error)
{
    switch (outcome->end) {
    case WORKER_DONE: return SOMA_OK;
    case WORKER_SIGNAL: return fail_signal(launch, outcome, error);
    case WORKER_WROTE:
        return fail(launch, error,
                    "block %u wrote to 0x%" PRIx64 ", behind the end of a block of device %" PRIu64,
                    outcome->block, outcome->address, launch->call->device);
    default:
        return fail(launch, error, "device memory could not be put to 0x%" PRIx64 ": %s",
                    outcome->address, strerror(outcome->signal));
    }
}

/* *is_lost: out, the worker ended under the launch, which has not failed by itself. */
static enum soma_status execute(const struct launch *launch, bool *is_lost,
                                struct soma_error *error)
{
    uint64_t worker;
    int ends[2];
    struct worker_outcome outcome;
    char why[256] = "";
    if (pipe2(ends, O_CLOEXEC) != 0)
        return no_host_memory(error);
    uint64_t start_ms = now_ms(), time_ms = launch->libraries->time_ms;
    bool sent = kernel_worker_send(launch->libraries, &launch->message, launch->memory, ends[1],
                                   &worker, why, sizeof(why));
    (void)close(ends[1]);
    bool told = sent && read_outcome(ends[0], start_ms + time_ms + GRACE_MS, &outcome);
    (void)close(ends[0]);
    uint64_t took_ms = now_ms() - start_ms;
    if (told)
        return judge(launch, &outcome, error);
    if (sent && took_ms >= time_ms + GRACE_MS)
        kernel_worker_stop(launch->libraries); /* it does not do its work */
    if (sent && took_ms >= time_ms)
        return fail_late(launch, error);
    if (!sent)
        return fail(launch, error,
                    "the process that runs kernels could not be started again (if the libraries "
                    "have changed, put them back or restart the server): %s",
                    why);
    *is_lost = kernel_worker_is_gone(launch->libraries, worker);
    return fail(launch, error, "it ended its process");
}

/* ---- coming back ---- */

/* Apply `visit` to every page of a range that the memory holds and that differs from the contents.
 * Holes are zeros that nobody touched, or only read. */
static bool visit_changes(const struct launch *launch, const struct worker_range *range,
                          unsigned char *to)
{
    off_t end = (off_t)(range->offset + range->size_bytes);
    const unsigned char *host = contents_of(launch, range);
    bool has_changes = false;
    for (off_t at = (off_t)range->offset; at < end;) {
        off_t data = lseek(launch->memory, at, SEEK_DATA);
        off_t hole = data >= 0 && data < end ? lseek(launch->memory, data, SEEK_HOLE) : end;
        if (data < 0 || data >= end)
            break;
        at = hole < end ? hole : end;
        for (uint64_t page = (uint64_t)data - range->offset; page < (uint64_t)at - range->offset;
             page += WORKER_PAGE_BYTES) {
            size_t size = page_at(range->size_bytes, page);
            const unsigned char *fresh = launch->view + range->offset + page;
            if (host != NULL ? memcmp(host + page, fresh, size) == 0 : is_zero(fresh, size))
                continue;
            has_changes = true;
            if (to != NULL)
                memcpy(to + page, fresh, size);
        }
    }
    return has_changes;
}

/* First get host memory for all that has changed, then change it. */
static enum soma_status copy_back(const struct launch *launch, struct soma_error *error)
{
    void *hosts[SOMA_KERNEL_ARGUMENTS_MAX] = {NULL};
    for (uint32_t i = 0; i < launch->message.range_count; i++) {
        const struct worker_range *range = &launch->message.ranges[i];
        if (!visit_changes(launch, range, NULL))
            continue;
        hosts[i] = launch->views[i].host;
        if (hosts[i] != NULL)
            continue;
        enum soma_status status =
            bytes_host(launch->bytes, range->address, range->size_bytes, &hosts[i], error);
        if (status != SOMA_OK)
            return status;
    }
    for (uint32_t i = 0; i < launch->message.range_count; i++) {
        if (hosts[i] != NULL)
            (void)visit_changes(launch, &launch->message.ranges[i], hosts[i]);
    }
    return SOMA_OK;
}

static enum soma_status take_back(struct launch *launch, struct soma_error *error)
{
    if (launch->total_bytes == 0)
        return SOMA_OK;
    void *view = mmap(NULL, launch->total_bytes, PROT_READ, MAP_SHARED, launch->memory, 0);
    if (view == MAP_FAILED)
        return no_host_memory(error);
    launch->view = view;
    enum soma_status status = copy_back(launch, error);
    (void)munmap(view, launch->total_bytes);
    return status;
}

static enum soma_status run(struct launch *launch, bool *is_lost, struct soma_error *error)
{
    enum soma_status status = open_views(launch, error);
    if (status == SOMA_OK && !make_memory(launch))
        status = no_host_memory(error);
    if (status == SOMA_OK)
        status = execute(launch, is_lost, error);
    if (status == SOMA_OK)
        status = take_back(launch, error);
    if (launch->memory >= 0)
        (void)close(launch->memory);
    close_views(launch);
    return status;
}

enum soma_status kernel_libraries_run(struct kernel_libraries *libraries, size_t number,
                                      const struct soma_kernel_call *call, struct bytes *bytes,
                                      const struct engine *engine, struct soma_error *error)
{
    bool is_lost = false;
    struct launch launch = {.libraries = libraries,
                            .call = call,
                            .bytes = bytes,
                            .engine = engine,
                            .memory = -1,
                            .message = {.kernel = (uint32_t)number,
                                        .block_count = (uint32_t)call->block_dim,
                                        .time_ms = libraries->time_ms,
                                        .memory_bytes = libraries->memory_bytes}};
    put_args(&launch);
    enum soma_status status = gather(&launch, error);
    if (status == SOMA_OK)
        status = run(&launch, &is_lost, error);
    if (is_lost) /* nothing has changed: once more, with the worker's successor */
        status = run(&launch, &is_lost, error);
    return status;
}
