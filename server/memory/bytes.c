/* Ranges in a tree by address; host memory by mmap on first touch.
 *
 * Invariants: ranges never overlap (the engine sees to it). A range whose host is NULL has no
 * contents: it reads as zero. A shared mapping (struct window) lives as long as one touched range
 * lies in it, and its bytes outside touched ranges are always zero: a range that ends gives its
 * pages back before its addresses can be used again. Physical memory, whose addresses begin at
 * SOMA_PHYSICAL_BASE, lies in a file of memory at its address less that base: so pieces that are
 * mapped one behind the other can be seen one behind the other (bytes_view).
 * Snapshots of the bytes (snapshot.h) are told before any of them changes. */
#include "bytes.h"

#include "kernels.h"
#include "pages.h"
#include "random_numbers.h"
#include "reduce.h"

#include <bsd/sys/tree.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Ranges of at most max_bytes share mappings of window_bytes, by the address they start at. A
 * mapping is max_bytes longer than its window, so the last range in it is contiguous too. */
static const struct window_class {
    uint64_t max_bytes, window_bytes;
} window_classes[] = {
    {UINT64_C(1) << 20, UINT64_C(64) << 20},
    {UINT64_C(64) << 20, UINT64_C(4) << 30},
};

#define WINDOW_CLASS_COUNT (sizeof(window_classes) / sizeof(window_classes[0]))

#define TAKEN_BYTES (UINT64_C(2) << 20) /* moved before their pages are given back */

struct window {
    RB_ENTRY(window) entry;
    uint64_t key; /* first device address, with the class in its low bits */
    unsigned char *host;
    uint64_t map_bytes;
    uint64_t touched_ranges;
};

struct range {
    RB_ENTRY(range) entry;
    uint64_t address, size_bytes;
    unsigned char *host;   /* NULL until touched */
    struct window *window; /* NULL: the mapping is the range's own */
};

RB_HEAD(range_tree, range);
RB_HEAD(window_tree, window);

struct bytes {
    struct range_tree ranges;
    struct window_tree windows;
    int physical_fd; /* a file of memory, for physical memory; -1: none yet */
    struct snapshot_list snapshots;
    struct pages pages;            /* of ranges in private memory */
    const struct kernels *kernels; /* borrowed */
    uint64_t page_bytes;
    _Atomic uint64_t mapped_bytes;
};

static int compare_ranges(const struct range *a, const struct range *b)
{
    return (a->address > b->address) - (a->address < b->address);
}

static int compare_windows(const struct window *a, const struct window *b)
{
    return (a->key > b->key) - (a->key < b->key);
}

#define TREE_FUNCTION __attribute__((unused)) static
RB_GENERATE_INTERNAL(range_tree, range, entry, compare_ranges, TREE_FUNCTION)
RB_GENERATE_INTERNAL(window_tree, window, entry, compare_windows, TREE_FUNCTION)

/* The range that holds all of [address, address + size), NULL when there is none. */
static struct range *find_range(struct bytes *bytes, uint64_t address, uint64_t size_bytes)
{
    struct range *at = RB_ROOT(&bytes->ranges), *found = NULL;
    while (at != NULL) {
        if (at->address <= address) {
            found = at;
            at = RB_RIGHT(at, entry);
        } else {
            at = RB_LEFT(at, entry);
        }
    }
    if (found == NULL || size_bytes > found->size_bytes ||
        address - found->address > found->size_bytes - size_bytes)
        return NULL;
    return found;
}

static enum soma_status no_such_range(uint64_t address, uint64_t size_bytes,
                                      struct soma_error *error)
{
    return soma_fail(error, SOMA_INVALID_ADDRESS, "",
                     "no contents are kept for %" PRIu64 " bytes at 0x%" PRIx64, size_bytes,
                     address);
}

static enum soma_status no_host_memory(uint64_t size_bytes, struct soma_error *error)
{
    char text[32];
    return soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "",
                     "the host gave no address space for %s of contents (%s); free memory that "
                     "was written, end sessions, or raise the server's memory limit, "
                     "vm.max_map_count or vm.overcommit_memory",
                     soma_bytes_text(text, size_bytes), strerror(errno));
}

static unsigned char *map_pages(struct bytes *bytes, uint64_t size_bytes)
{
    void *host = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
        return NULL;
    atomic_fetch_add_explicit(&bytes->mapped_bytes, size_bytes, memory_order_relaxed);
    return host;
}

static void unmap_pages(struct bytes *bytes, unsigned char *host, uint64_t size_bytes)
{
    (void)munmap(host, size_bytes);
    pages_forget(&bytes->pages, host, size_bytes);
    atomic_fetch_sub_explicit(&bytes->mapped_bytes, size_bytes, memory_order_relaxed);
}

static struct window *create_window(struct bytes *bytes, uint64_t key,
                                    const struct window_class *class)
{
    struct window *window = malloc(sizeof(*window));
    if (window == NULL)
        return NULL;
    window->key = key;
    window->touched_ranges = 0;
    window->map_bytes = class->window_bytes + class->max_bytes;
    window->host = map_pages(bytes, window->map_bytes);
    if (window->host == NULL) {
        free(window);
        return NULL;
    }
    /* Small ranges would each cost a huge page. */
    if (class == &window_classes[0])
        (void)madvise(window->host, window->map_bytes, MADV_NOHUGEPAGE);
    RB_INSERT(window_tree, &bytes->windows, window);
    return window;
}

/* Give a range host memory in a mapping it shares. false: it needs one of its own. */
static bool touch_in_window(struct bytes *bytes, struct range *range)
{
    for (unsigned i = 0; i < WINDOW_CLASS_COUNT; i++) {
        const struct window_class *class = &window_classes[i];
        if (range->size_bytes > class->max_bytes)
            continue;
        uint64_t start = range->address - range->address % class->window_bytes;
        struct window wanted = {.key = start | i};
        struct window *window = RB_FIND(window_tree, &bytes->windows, &wanted);
        if (window == NULL)
            window = create_window(bytes, wanted.key, class);
        if (window == NULL)
            return false;
        window->touched_ranges++;
        range->window = window;
        range->host = window->host + (range->address - start);
        return true;
    }
    return false;
}

/* ---- physical memory ---- */

static bool is_physical(uint64_t address)
{
    return address >= SOMA_PHYSICAL_BASE;
}

/* Map a part of the file at `at`, or anywhere. NULL with errno. */
static unsigned char *map_physical(struct bytes *bytes, void *at, uint64_t address,
                                   uint64_t size_bytes)
{
    const off_t file_bytes = (off_t)(SOMA_PHYSICAL_END - SOMA_PHYSICAL_BASE);
    if (bytes->physical_fd < 0) {
        int fd = memfd_create("soma physical memory", MFD_CLOEXEC);
        if (fd >= 0 && ftruncate(fd, file_bytes) != 0) {
            int error = errno;
            (void)close(fd);
            errno = error;
            fd = -1;
        }
        bytes->physical_fd = fd;
    }
    if (bytes->physical_fd < 0)
        return NULL;
    void *host = mmap(at, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0), bytes->physical_fd,
                      (off_t)(address - SOMA_PHYSICAL_BASE));
    return host == MAP_FAILED ? NULL : host;
}

static bool touch_physical(struct bytes *bytes, struct range *range)
{
    range->host = map_physical(bytes, NULL, range->address, range->size_bytes);
    if (range->host != NULL)
        atomic_fetch_add_explicit(&bytes->mapped_bytes, range->size_bytes, memory_order_relaxed);
    return range->host != NULL;
}

static void forget_physical(struct bytes *bytes, struct range *range)
{
    unmap_pages(bytes, range->host, range->size_bytes);
    (void)fallocate(bytes->physical_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)(range->address - SOMA_PHYSICAL_BASE), (off_t)range->size_bytes);
    range->host = NULL;
}

static enum soma_status touch(struct bytes *bytes, struct range *range, struct soma_error *error)
{
    if (range->host != NULL)
        return SOMA_OK;
    if (is_physical(range->address))
        return touch_physical(bytes, range) ? SOMA_OK : no_host_memory(range->size_bytes, error);
    if (touch_in_window(bytes, range))
        return SOMA_OK;
    range->host = map_pages(bytes, range->size_bytes);
    return range->host != NULL ? SOMA_OK : no_host_memory(range->size_bytes, error);
}

/* Give whole pages back; what is left of the first and last page is cleared by hand. */
static void discard(const struct bytes *bytes, unsigned char *host, uint64_t size_bytes)
{
    uintptr_t start = (uintptr_t)host, end = start + size_bytes;
    uintptr_t first = (start + bytes->page_bytes - 1) / bytes->page_bytes * bytes->page_bytes;
    uintptr_t last = end / bytes->page_bytes * bytes->page_bytes;
    if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) != 0) {
        memset(host, 0, size_bytes);
        return;
    }
    memset(host, 0, first - start);
    memset((void *)last, 0, end - last);
}

static void forget_host(struct bytes *bytes, struct range *range)
{
    struct window *window = range->window;
    if (range->host == NULL)
        return;
    snapshots_keep(&bytes->snapshots, range->host, range->size_bytes);
    if (is_physical(range->address)) {
        forget_physical(bytes, range);
        return;
    }
    if (window == NULL) {
        unmap_pages(bytes, range->host, range->size_bytes);
    } else if (--window->touched_ranges == 0) {
        RB_REMOVE(window_tree, &bytes->windows, window);
        unmap_pages(bytes, window->host, window->map_bytes);
        free(window);
    } else {
        discard(bytes, range->host, range->size_bytes);
    }
    range->host = NULL;
    range->window = NULL;
}

/* ---- views ---- */

bool bytes_is_mapped(const struct engine *engine, uint64_t address)
{
    struct engine_piece piece;
    engine_translate(engine, address, &piece);
    return is_physical(piece.address);
}

/* Show a piece, in whole pages, at an offset of the view. */
static enum soma_status show(struct bytes *bytes, const struct bytes_view *view, uint64_t offset,
                             const struct bytes_span *piece, struct soma_error *error)
{
    uint64_t page = bytes->page_bytes;
    uint64_t map_bytes = (piece->size_bytes + page - 1) / page * page;
    if (!is_physical(piece->address))
        return no_such_range(piece->address, piece->size_bytes, error);
    void *host;
    enum soma_status status = bytes_host(bytes, piece->address, piece->size_bytes, &host, error);
    if (status != SOMA_OK)
        return status;
    return map_physical(bytes, view->map + offset, piece->address, map_bytes) != NULL
               ? SOMA_OK
               : no_host_memory(piece->size_bytes, error);
}

/* Mappings begin and end at multiples of any page, and so do pieces. */
enum soma_status bytes_view_open(struct bytes *bytes, const struct engine *engine,
                                 const struct bytes_span *span, struct bytes_view *view,
                                 struct soma_error *error)
{
    uint64_t page = bytes->page_bytes, in_page = span->address % page;
    uint64_t whole = in_page + span->size_bytes;
    *view = (struct bytes_view){.map_bytes = (whole + page - 1) / page * page};
    void *map =
        mmap(NULL, view->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return no_host_memory(span->size_bytes, error);
    view->map = map;
    view->host = view->map + in_page;
    enum soma_status status = SOMA_OK;
    for (uint64_t at = 0, size; at < whole && status == SOMA_OK; at += size) {
        struct engine_piece piece;
        engine_translate(engine, span->address - in_page + at, &piece);
        size = piece.bytes < whole - at ? piece.bytes : whole - at;
        status = show(bytes, view, at, &(struct bytes_span){piece.address, size}, error);
    }
    if (status != SOMA_OK)
        bytes_view_close(view);
    return status;
}

void bytes_view_close(struct bytes_view *view)
{
    if (view->map != NULL)
        (void)munmap(view->map, view->map_bytes);
    *view = (struct bytes_view){0};
}

/* ---- the engine's table ---- */

static enum soma_status reserve(void *ctx, uint64_t address, uint64_t size_bytes,
                                struct soma_error *error)
{
    struct bytes *bytes = ctx;
    struct range *range = calloc(1, sizeof(*range));
    if (range == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "", "no memory to note a device range");
    range->address = address;
    range->size_bytes = size_bytes;
    RB_INSERT(range_tree, &bytes->ranges, range);
    return SOMA_OK;
}

static void release(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct bytes *bytes = ctx;
    struct range *range = find_range(bytes, address, size_bytes);
    if (range == NULL)
        return;
    forget_host(bytes, range);
    RB_REMOVE(range_tree, &bytes->ranges, range);
    free(range);
}

static void unmap(void *ctx, uint64_t address, uint64_t size_bytes)
{
    struct bytes *bytes = ctx;
    struct range *range = find_range(bytes, address, size_bytes);
    if (range == NULL || range->host == NULL)
        return;
    if (size_bytes == range->size_bytes) {
        forget_host(bytes, range);
        return;
    }
    unsigned char *host = range->host + (address - range->address);
    snapshots_keep(&bytes->snapshots, host, size_bytes);
    discard(bytes, host, size_bytes);
}

enum soma_status bytes_host(struct bytes *bytes, uint64_t address, uint64_t size_bytes, void **host,
                            struct soma_error *error)
{
    struct range *range = find_range(bytes, address, size_bytes);
    if (range == NULL)
        return no_such_range(address, size_bytes, error);
    enum soma_status status = touch(bytes, range, error);
    if (status != SOMA_OK)
        return status;
    unsigned char *start = range->host + (address - range->address);
    snapshots_keep(&bytes->snapshots, start, size_bytes); /* who asks may write */
    *host = start;
    return SOMA_OK;
}

void bytes_attach(struct bytes *bytes, struct snapshot *snapshot, uint64_t address)
{
    const struct range *range = find_range(bytes, address, snapshot_size(snapshot));
    if (range != NULL && range->host != NULL)
        snapshot_attach(snapshot, &bytes->snapshots, range->host + (address - range->address));
}

const void *bytes_peek(struct bytes *bytes, uint64_t address, uint64_t size_bytes)
{
    const struct range *range = find_range(bytes, address, size_bytes);
    return range != NULL && range->host != NULL ? range->host + (address - range->address) : NULL;
}

static enum soma_status touch_bytes(void *ctx, uint64_t address, uint64_t size_bytes,
                                    struct soma_error *error)
{
    void *host;
    return bytes_host(ctx, address, size_bytes, &host, error);
}

static enum soma_status write_bytes(void *ctx, uint64_t address, const void *from,
                                    uint64_t size_bytes, struct soma_error *error)
{
    void *host;
    enum soma_status status = bytes_host(ctx, address, size_bytes, &host, error);
    if (status == SOMA_OK)
        memcpy(host, from, size_bytes);
    return status;
}

/* Give the whole pages among these bytes of the heap back to the system: they read as zero. */
static void empty_pages(const struct bytes *bytes, void *from, uint64_t size_bytes)
{
    uintptr_t start = (uintptr_t)from, end = start + size_bytes;
    uintptr_t first = (start + bytes->page_bytes - 1) / bytes->page_bytes * bytes->page_bytes;
    uintptr_t last = end / bytes->page_bytes * bytes->page_bytes;
    if (first < last)
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
}

/* Part by part, so that the bytes are never there twice. */
static enum soma_status take_bytes(void *ctx, uint64_t address, void *from, uint64_t size_bytes,
                                   struct soma_error *error)
{
    void *host;
    enum soma_status status = bytes_host(ctx, address, size_bytes, &host, error);
    for (uint64_t at = 0; status == SOMA_OK && at < size_bytes; at += TAKEN_BYTES) {
        uint64_t left = size_bytes - at, part = left < TAKEN_BYTES ? left : TAKEN_BYTES;
        memcpy((char *)host + at, (char *)from + at, part);
        empty_pages(ctx, (char *)from + at, part);
    }
    return status;
}

/* The part of a page that is left at the end is copied. */
static bool exchange_bytes(void *ctx, uint64_t address, void *from, uint64_t size_bytes)
{
    struct bytes *bytes = ctx;
    uint64_t rest = size_bytes % bytes->page_bytes, whole = size_bytes - rest;
    struct soma_error error;
    void *host;
    if (is_physical(address) || bytes_host(bytes, address, size_bytes, &host, &error) != SOMA_OK ||
        (uintptr_t)host % bytes->page_bytes != 0 || (uintptr_t)from % bytes->page_bytes != 0 ||
        !pages_exchange(&bytes->pages, host, from, whole))
        return false;
    memcpy((char *)host + whole, (char *)from + whole, rest);
    return true;
}

static enum soma_status read_bytes(void *ctx, uint64_t address, void *to, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct range *range = find_range(ctx, address, size_bytes);
    if (range == NULL)
        return no_such_range(address, size_bytes, error);
    if (range->host == NULL)
        memset(to, 0, size_bytes);
    else
        memcpy(to, range->host + (address - range->address), size_bytes);
    return SOMA_OK;
}

static enum soma_status set_bytes(void *ctx, uint64_t address, uint8_t value, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct range *range = find_range(ctx, address, size_bytes);
    if (range == NULL)
        return no_such_range(address, size_bytes, error);
    if (range->host == NULL && value == 0)
        return SOMA_OK;
    void *host;
    enum soma_status status = bytes_host(ctx, address, size_bytes, &host, error);
    if (status == SOMA_OK)
        memset(host, value, size_bytes);
    return status;
}

static enum soma_status copy_bytes(void *ctx, uint64_t dst, uint64_t src, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct range *from = find_range(ctx, src, size_bytes);
    struct range *to = find_range(ctx, dst, size_bytes);
    if (from == NULL || to == NULL)
        return no_such_range(from == NULL ? src : dst, size_bytes, error);
    if (from->host == NULL)
        return set_bytes(ctx, dst, 0, size_bytes, error);
    void *host;
    enum soma_status status = bytes_host(ctx, dst, size_bytes, &host, error);
    if (status == SOMA_OK)
        memmove(host, from->host + (src - from->address), size_bytes);
    return status;
}

static enum soma_status reduce(void *ctx, const struct engine_reduce *what,
                               struct soma_error *error)
{
    void *to, *from;
    enum soma_status status = bytes_host(ctx, what->dst, what->size_bytes, &to, error);
    if (status == SOMA_OK)
        status = bytes_host(ctx, what->src, what->size_bytes, &from, error);
    if (status == SOMA_OK)
        reduce_elements(what, to, from);
    return status;
}

static void make_random(void *ctx, const struct engine_random *what, uint64_t first, uint64_t count,
                        void *to)
{
    (void)ctx;
    random_make(what, first, count, to);
}

static enum soma_status run_kernel(void *ctx, const struct engine *engine,
                                   const struct soma_command *command, uint64_t *cost_ns,
                                   struct soma_error *error)
{
    struct bytes *bytes = ctx;
    if (bytes->kernels == NULL)
        return soma_fail(error, SOMA_NO_SUCH_KERNEL, "kernel", "no kernels can be launched");
    return kernels_launch(bytes->kernels, bytes, engine, command, cost_ns, error);
}

struct bytes *bytes_create(const struct kernels *kernels)
{
    struct bytes *bytes = calloc(1, sizeof(*bytes));
    if (bytes == NULL)
        return NULL;
    RB_INIT(&bytes->ranges);
    RB_INIT(&bytes->windows);
    TAILQ_INIT(&bytes->snapshots);
    RB_INIT(&bytes->pages.seams);
    bytes->kernels = kernels;
    bytes->physical_fd = -1;
    bytes->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    atomic_init(&bytes->mapped_bytes, 0);
    return bytes;
}

void bytes_destroy(struct bytes *bytes)
{
    if (bytes == NULL)
        return;
    struct range *range, *next;
    RB_FOREACH_SAFE(range, range_tree, &bytes->ranges, next)
    {
        forget_host(bytes, range);
        RB_REMOVE(range_tree, &bytes->ranges, range);
        free(range);
    }
    snapshots_forget(&bytes->snapshots);
    if (bytes->physical_fd >= 0)
        (void)close(bytes->physical_fd);
    free(bytes);
}

struct engine_bytes bytes_table(struct bytes *bytes)
{
    return (struct engine_bytes){.ctx = bytes,
                                 .reserve = reserve,
                                 .release = release,
                                 .unmap = unmap,
                                 .touch = touch_bytes,
                                 .write = write_bytes,
                                 .read = read_bytes,
                                 .set = set_bytes,
                                 .copy = copy_bytes,
                                 .reduce = reduce,
                                 .random = make_random,
                                 .kernel = run_kernel,
                                 .take = take_bytes,
                                 .exchange = exchange_bytes};
}

uint64_t bytes_mapped(const struct bytes *bytes)
{
    return atomic_load_explicit(&bytes->mapped_bytes, memory_order_relaxed);
}
