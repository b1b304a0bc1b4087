/* mremap with MREMAP_DONTUNMAP moves pages and leaves the mapping, so neither place is a hole that
 * another thread's mmap could fall into. */
#include "pages.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP /* Linux 5.7 */
#define MREMAP_DONTUNMAP 4
#endif

struct pages_seam {
    RB_ENTRY(pages_seam) entry;
    uintptr_t at; /* a mapping begins here */
};

static _Atomic unsigned seam_count; /* of the process */

static int compare(const struct pages_seam *a, const struct pages_seam *b)
{
    return (a->at > b->at) - (a->at < b->at);
}

RB_GENERATE_INTERNAL(pages_seams, pages_seam, entry, compare, __attribute__((unused)) static)

/* ---- seams ---- */

/* The first seam at or behind an address. */
static struct pages_seam *seam_from(struct pages *pages, uintptr_t at)
{
    struct pages_seam wanted = {.at = at};
    return RB_NFIND(pages_seams, &pages->seams, &wanted);
}

/* Without those of [start, end). */
static void remove_seams(struct pages *pages, uintptr_t start, uintptr_t end)
{
    struct pages_seam *seam;
    while ((seam = seam_from(pages, start)) != NULL && seam->at < end) {
        RB_REMOVE(pages_seams, &pages->seams, seam);
        free(seam);
        (void)atomic_fetch_sub_explicit(&seam_count, 1, memory_order_relaxed);
    }
}

/* See that there is a seam. false: no memory, or too many. */
static bool add_seam(struct pages *pages, uintptr_t at)
{
    struct pages_seam *seam = seam_from(pages, at);
    if (seam != NULL && seam->at == at)
        return true;
    if (atomic_fetch_add_explicit(&seam_count, 1, memory_order_relaxed) < PAGES_SEAMS_MAX)
        seam = malloc(sizeof(*seam));
    else
        seam = NULL;
    if (seam == NULL) {
        (void)atomic_fetch_sub_explicit(&seam_count, 1, memory_order_relaxed);
        return false;
    }
    seam->at = at;
    RB_INSERT(pages_seams, &pages->seams, seam);
    return true;
}

/* Also the one at its end: a neighbour begins there at most, and a mapping's own beginning splits
 * nothing. */
void pages_forget(struct pages *pages, const void *start, size_t bytes)
{
    remove_seams(pages, (uintptr_t)start, (uintptr_t)start + bytes + 1);
}

/* ---- moving ---- */

/* Move pages to a place, which is replaced. */
static bool move_to(void *place, void *from, size_t bytes, int flags)
{
    return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | flags, place) != MAP_FAILED;
}

/* The system took a place away and gave nothing for it: there must be memory again before anyone
 * looks, or is given other memory there. */
static void mend(void *place, size_t bytes)
{
    void *again = mmap(place, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (again == MAP_FAILED)
        abort();
}

/* The place is several mappings: its pages go back to the system. */
static bool replace(void *place, void *from, size_t bytes)
{
    if (move_to(place, from, bytes, MREMAP_DONTUNMAP))
        return true;
    if (msync(place, bytes, MS_ASYNC) == 0)
        return false; /* it was refused before anything changed: the place is still mapped */
    mend(place, bytes);
    memcpy(place, from, bytes);
    return true;
}

static bool swap(void *place, void *from, size_t bytes)
{
    void *old = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (old == MAP_FAILED)
        return false;
    if (!move_to(old, place, bytes, MREMAP_DONTUNMAP)) {
        (void)munmap(old, bytes);
        return false;
    }
    bool is_moved = move_to(place, from, bytes, MREMAP_DONTUNMAP);
    if (is_moved && move_to(from, old, bytes, 0))
        return true;
    if (!is_moved && move_to(place, old, bytes, 0))
        return false;
    mend(is_moved ? from : place, bytes);
    if (!is_moved)
        memcpy(place, from, bytes);
    (void)munmap(old, bytes);
    return true;
}

bool pages_exchange(struct pages *pages, void *place, void *from, size_t bytes)
{
    uintptr_t start = (uintptr_t)place, end = start + bytes;
    const struct pages_seam *inside = seam_from(pages, start + 1);
    bool is_split = inside != NULL && inside->at < end;
    /* Seams that there may be no mapping for do no harm. */
    if (!add_seam(pages, start) || !add_seam(pages, end))
        return false;
    if (!(is_split ? replace(place, from, bytes) : swap(place, from, bytes)))
        return false;
    remove_seams(pages, start + 1, end);
    return true;
}
