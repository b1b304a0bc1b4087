/* Exchanging the pages of two places of memory instead of copying what they hold. Used by one
 * thread at a time; different structures by different threads at once. */
#ifndef SOMA_MEMORY_PAGES_H
#define SOMA_MEMORY_PAGES_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all places of the process together: the system allows a process 65,530 mappings
 * (vm.max_map_count), and each seam may make one more. */
#define PAGES_SEAMS_MAX 16384u

struct pages_seam;
RB_HEAD(pages_seams, pages_seam);

/* Where mappings that were split by exchanges meet. Initialise with RB_INIT. */
struct pages {
    struct pages_seams seams;
};

/* Put the contents of `from` at `place`, both private and anonymous memory that can be written, by
 * moving its pages there; those of the place come to `from`, which holds anything afterwards.
 *   from   is one mapping, or a part of one that is exchanged as a whole or not at all
 *   bytes  both and it are multiples of the page size
 * false: nothing has changed, and it has to be copied: the system cannot, there is no memory, or
 * too many seams. Nobody else may look at either meanwhile. */
bool pages_exchange(struct pages *pages, void *place, void *from, size_t bytes);

/* The mapping at [start, start + bytes) is gone, or about to go. */
void pages_forget(struct pages *pages, const void *start, size_t bytes);

#endif
