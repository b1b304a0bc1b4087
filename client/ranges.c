/* Two sorted arrays of ranges: devices' and the host's. Finding is a binary search; adding and
 * removing move the tail, which stays cheap for the tens of thousands of allocations that programs
 * hold. */
#include "ranges.h"

#include "limits.h"
#include "tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct set {
    struct client_range *items; /* by address */
    size_t count, capacity;
};

static struct set device_set, host_set;

static struct set *set_of(uint32_t device)
{
    return device == CLIENT_HOST_RANGES ? &host_set : &device_set;
}

/* Index of the first range that ends after the address; count when there is none. */
static size_t lower(const struct set *set, uint64_t address)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct client_range *range = &set->items[middle];
        if (address - range->address < range->size_bytes || address < range->address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool grow(struct set *set)
{
    if (set->count < set->capacity)
        return true;
    size_t capacity = set->capacity == 0 ? 64 : set->capacity * 2;
    struct client_range *items = realloc(set->items, capacity * sizeof(*items));
    if (items == NULL)
        return false;
    set->items = items;
    set->capacity = capacity;
    return true;
}

static void remove_span(struct set *set, size_t from, size_t to)
{
    memmove(&set->items[from], &set->items[to], (set->count - to) * sizeof(set->items[0]));
    set->count -= to - from;
}

bool client_ranges_add(const struct client_range *range)
{
    client_tables_lock();
    struct set *set = set_of(range->device);
    bool good = grow(set);
    if (good) {
        size_t at = lower(set, range->address);
        size_t end = at;
        while (end < set->count && set->items[end].address < range->address + range->size_bytes)
            end++;
        if (end > at)
            remove_span(set, at, end);
        memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof(*range));
        set->items[at] = *range;
        set->count++;
    }
    client_tables_unlock();
    return good;
}

static bool find(const struct set *set, uint64_t address, struct client_range *range)
{
    client_tables_lock();
    size_t at = lower(set, address);
    bool found = at < set->count && set->items[at].address <= address;
    if (found)
        *range = set->items[at];
    client_tables_unlock();
    return found;
}

bool client_ranges_find(uint64_t address, struct client_range *range)
{
    return find(&device_set, address, range);
}

bool client_ranges_find_host(uint64_t address, struct client_range *range)
{
    return find(&host_set, address, range);
}

bool client_ranges_remove(uint32_t device, uint64_t address, struct client_range *range)
{
    client_tables_lock();
    struct set *set = set_of(device);
    size_t at = lower(set, address);
    bool found =
        at < set->count && set->items[at].address == address && set->items[at].device == device;
    if (found && range != NULL)
        *range = set->items[at];
    if (found)
        remove_span(set, at, at + 1);
    client_tables_unlock();
    return found;
}

void client_ranges_remove_device(uint32_t device)
{
    client_tables_lock();
    size_t kept = 0;
    for (size_t i = 0; i < device_set.count; i++) {
        if (device_set.items[i].device != device)
            device_set.items[kept++] = device_set.items[i];
    }
    device_set.count = kept;
    client_tables_unlock();
}

void client_ranges_remove_devices(void)
{
    client_tables_lock();
    device_set.count = 0;
    client_tables_unlock();
}

bool client_is_device_address(const void *ptr)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    return address >= SOMA_ADDRESS_BASE && address < SOMA_ADDRESS_SMALL_END;
}

static bool is_reserved;

static void reserve_once(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *base = (void *)(uintptr_t)SOMA_ADDRESS_BASE;
    size_t size_bytes = (size_t)(SOMA_ADDRESS_SMALL_END - SOMA_ADDRESS_BASE);
    void *got = mmap(base, size_bytes, PROT_NONE, flags, -1, 0);
    if (got != MAP_FAILED && got != base) /* a kernel that does not know the last flag */
        (void)munmap(got, size_bytes);
    else if (got != MAP_FAILED)
        is_reserved = true;
    if (is_reserved)
        (void)madvise(got, size_bytes, MADV_DONTDUMP);
}

void client_addresses_reserve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, reserve_once);
}

/* Where the addresses could not be reserved, something of the program may be there. */
bool client_addresses_map(uint64_t address, uint64_t size_bytes)
{
    void *at = (void *)(uintptr_t)address;
    client_addresses_reserve();
    void *got = mmap(at, (size_t)size_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                         (is_reserved ? MAP_FIXED : MAP_FIXED_NOREPLACE),
                     -1, 0);
    if (got != MAP_FAILED && got != at)
        (void)munmap(got, (size_t)size_bytes);
    return got == at;
}

void client_addresses_unmap(uint64_t address, uint64_t size_bytes)
{
    void *at = (void *)(uintptr_t)address;
    if (!is_reserved)
        (void)munmap(at, (size_t)size_bytes);
    else
        (void)!mmap(at, (size_t)size_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
