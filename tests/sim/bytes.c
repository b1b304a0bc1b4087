/* Pages of 4 KiB in a hash table with chains. A page holds one value throughout, or bytes of its
 * own; a page that is not in the table is zero throughout. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES UINT64_C(4096)
#define BUCKET_COUNT 4096u

struct page {
    struct page *next;
    uint64_t number;
    unsigned char *own; /* NULL: `value` throughout */
    uint8_t value;
};

struct sim_bytes {
    struct page *buckets[BUCKET_COUNT];
    uint64_t page_count;
};

static void *alloc_or_abort(size_t size_bytes)
{
    void *ptr = calloc(1, size_bytes);
    if (ptr == NULL)
        abort();
    return ptr;
}

struct sim_bytes *sim_bytes_create(void)
{
    return alloc_or_abort(sizeof(struct sim_bytes));
}

static void destroy_page(struct page *page)
{
    free(page->own);
    free(page);
}

void sim_bytes_destroy(struct sim_bytes *bytes)
{
    if (bytes == NULL)
        return;
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        while (bytes->buckets[i] != NULL) {
            struct page *page = bytes->buckets[i];
            bytes->buckets[i] = page->next;
            destroy_page(page);
        }
    }
    free(bytes);
}

static unsigned bucket_of(uint64_t number)
{
    return (unsigned)(number % BUCKET_COUNT);
}

static struct page *find_page(const struct sim_bytes *bytes, uint64_t number)
{
    struct page *page = bytes->buckets[bucket_of(number)];
    while (page != NULL && page->number != number)
        page = page->next;
    return page;
}

static struct page *make_page(struct sim_bytes *bytes, uint64_t number)
{
    struct page *page = find_page(bytes, number);
    if (page != NULL)
        return page;
    page = alloc_or_abort(sizeof(*page));
    page->number = number;
    page->next = bytes->buckets[bucket_of(number)];
    bytes->buckets[bucket_of(number)] = page;
    bytes->page_count++;
    return page;
}

static void drop_page(struct sim_bytes *bytes, uint64_t number)
{
    struct page **link = &bytes->buckets[bucket_of(number)];
    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    if (*link == NULL)
        return;
    struct page *page = *link;
    *link = page->next;
    destroy_page(page);
    bytes->page_count--;
}

static unsigned char *own_bytes(struct page *page)
{
    if (page->own == NULL) {
        page->own = alloc_or_abort(PAGE_BYTES);
        memset(page->own, page->value, PAGE_BYTES);
    }
    return page->own;
}

/* The part of [address, address + size_bytes) that lies in the first page. */
static uint64_t first_part(uint64_t address, uint64_t size_bytes)
{
    uint64_t room = PAGE_BYTES - address % PAGE_BYTES;
    return size_bytes < room ? size_bytes : room;
}

static void set_part(struct sim_bytes *bytes, uint64_t address, uint8_t value, uint64_t size_bytes)
{
    if (size_bytes == PAGE_BYTES && value == 0) {
        drop_page(bytes, address / PAGE_BYTES);
        return;
    }
    struct page *page = find_page(bytes, address / PAGE_BYTES);
    if (page == NULL && value == 0)
        return;
    if (page == NULL)
        page = make_page(bytes, address / PAGE_BYTES);
    if (size_bytes == PAGE_BYTES) {
        free(page->own);
        page->own = NULL;
        page->value = value;
        return;
    }
    memset(own_bytes(page) + address % PAGE_BYTES, value, size_bytes);
}

/* Whole pages of a range, when it has more pages than the table. */
static void drop_pages_between(struct sim_bytes *bytes, uint64_t first, uint64_t end)
{
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        struct page **link = &bytes->buckets[i];
        while (*link != NULL) {
            struct page *page = *link;
            if (page->number < first || page->number >= end) {
                link = &page->next;
                continue;
            }
            *link = page->next;
            destroy_page(page);
            bytes->page_count--;
        }
    }
}

void sim_bytes_zero(struct sim_bytes *bytes, uint64_t address, uint64_t size_bytes)
{
    uint64_t first = (address + PAGE_BYTES - 1) / PAGE_BYTES;
    uint64_t end = (address + size_bytes) / PAGE_BYTES;
    if (first < end && end - first > bytes->page_count + BUCKET_COUNT) {
        drop_pages_between(bytes, first, end);
        sim_bytes_set(bytes, address, 0, first * PAGE_BYTES - address);
        sim_bytes_set(bytes, end * PAGE_BYTES, 0, address + size_bytes - end * PAGE_BYTES);
        return;
    }
    sim_bytes_set(bytes, address, 0, size_bytes);
}

void sim_bytes_set(struct sim_bytes *bytes, uint64_t address, uint8_t value, uint64_t size_bytes)
{
    while (size_bytes > 0) {
        uint64_t part = first_part(address, size_bytes);
        set_part(bytes, address, value, part);
        address += part;
        size_bytes -= part;
    }
}

void sim_bytes_write(struct sim_bytes *bytes, uint64_t address, const void *from,
                     uint64_t size_bytes)
{
    const unsigned char *source = from;
    while (size_bytes > 0) {
        uint64_t part = first_part(address, size_bytes);
        struct page *page = make_page(bytes, address / PAGE_BYTES);
        memcpy(own_bytes(page) + address % PAGE_BYTES, source, part);
        source += part;
        address += part;
        size_bytes -= part;
    }
}

void sim_bytes_read(const struct sim_bytes *bytes, uint64_t address, void *to, uint64_t size_bytes)
{
    unsigned char *target = to;
    while (size_bytes > 0) {
        uint64_t part = first_part(address, size_bytes);
        const struct page *page = find_page(bytes, address / PAGE_BYTES);
        if (page != NULL && page->own != NULL)
            memcpy(target, page->own + address % PAGE_BYTES, part);
        else
            memset(target, page == NULL ? 0 : page->value, part);
        target += part;
        address += part;
        size_bytes -= part;
    }
}

/* At most a page, inside one page of either side. */
static void copy_part(struct sim_bytes *bytes, uint64_t dst, uint64_t src, uint64_t size_bytes)
{
    const struct page *page = find_page(bytes, src / PAGE_BYTES);
    if (page == NULL || page->own == NULL) {
        set_part(bytes, dst, page == NULL ? 0 : page->value, size_bytes);
        return;
    }
    unsigned char part[PAGE_BYTES];
    memcpy(part, page->own + src % PAGE_BYTES, size_bytes);
    sim_bytes_write(bytes, dst, part, size_bytes);
}

static void copy_upwards(struct sim_bytes *bytes, uint64_t dst, uint64_t src, uint64_t size_bytes)
{
    while (size_bytes > 0) {
        uint64_t part = first_part(dst, first_part(src, size_bytes));
        copy_part(bytes, dst, src, part);
        dst += part;
        src += part;
        size_bytes -= part;
    }
}

/* The part of [.., end) that lies in the last page. */
static uint64_t last_part(uint64_t end, uint64_t size_bytes)
{
    uint64_t room = (end - 1) % PAGE_BYTES + 1;
    return size_bytes < room ? size_bytes : room;
}

static void copy_downwards(struct sim_bytes *bytes, uint64_t dst, uint64_t src, uint64_t size_bytes)
{
    while (size_bytes > 0) {
        uint64_t part = last_part(dst + size_bytes, last_part(src + size_bytes, size_bytes));
        size_bytes -= part;
        copy_part(bytes, dst + size_bytes, src + size_bytes, part);
    }
}

void sim_bytes_copy(struct sim_bytes *bytes, uint64_t dst, uint64_t src, uint64_t size_bytes)
{
    if (dst < src)
        copy_upwards(bytes, dst, src, size_bytes);
    else if (dst > src)
        copy_downwards(bytes, dst, src, size_bytes);
}
