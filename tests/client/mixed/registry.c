/* An array in order of addresses: there are a few hundred blocks at a time. */
#include "registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS_MAX = 16384 };

struct entry {
    uint64_t address, size_bytes;
    uint32_t owner;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[BLOCKS_MAX];
static size_t count;

/* The first entry at or behind an address. */
static size_t lower(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool overlaps(const struct entry *a, const struct entry *b)
{
    if (a->address + a->size_bytes <= b->address || b->address + b->size_bytes <= a->address)
        return false;
    (void)fprintf(stderr,
                  "0x%" PRIx64 " (%" PRIu64 " bytes, thread %" PRIu32 ") and 0x%" PRIx64
                  " (%" PRIu64 " bytes, thread %" PRIu32 ") overlap\n",
                  a->address, a->size_bytes, a->owner, b->address, b->size_bytes, b->owner);
    return true;
}

bool registry_add(uint64_t address, uint64_t size_bytes, uint32_t owner)
{
    const struct entry entry = {address, size_bytes, owner};
    (void)pthread_mutex_lock(&lock);
    size_t at = lower(address);
    bool good = count < BLOCKS_MAX && !(at > 0 && overlaps(&entries[at - 1], &entry)) &&
                !(at < count && overlaps(&entries[at], &entry));
    if (good) {
        memmove(&entries[at + 1], &entries[at], (count - at) * sizeof(entry));
        entries[at] = entry;
        count++;
    }
    (void)pthread_mutex_unlock(&lock);
    return good;
}

bool registry_remove(uint64_t address)
{
    (void)pthread_mutex_lock(&lock);
    size_t at = lower(address);
    bool found = at < count && entries[at].address == address;
    if (found) {
        count--;
        memmove(&entries[at], &entries[at + 1], (count - at) * sizeof(entries[0]));
    }
    (void)pthread_mutex_unlock(&lock);
    if (!found)
        (void)fprintf(stderr, "0x%" PRIx64 " is no live block\n", address);
    return found;
}

bool registry_is_empty(void)
{
    (void)pthread_mutex_lock(&lock);
    size_t left = count;
    (void)pthread_mutex_unlock(&lock);
    if (left > 0)
        (void)fprintf(stderr, "%zu blocks are left\n", left);
    return left == 0;
}
