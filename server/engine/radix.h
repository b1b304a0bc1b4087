/* A radix tree: from numbers to items, 64 children to a node, as high as its numbers need.
 *
 * It finds an item by its number, or the last one at or below a number, with one step a level: few
 * cache lines, where a binary tree of a million items has twenty. Items can be marked, and the
 * marked ones alone be asked for.
 * Items belong to the caller. Nodes come from a list of spares that the caller has filled
 * (radix_nodes_for), so that nothing here fails. */
#ifndef SOMA_ENGINE_RADIX_H
#define SOMA_ENGINE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RADIX_BITS = 6, RADIX_CHILDREN = 1 << RADIX_BITS };
enum { RADIX_LEVELS_MAX = (64 + RADIX_BITS - 1) / RADIX_BITS };

struct radix_node {
    uint64_t used;                  /* bit i: child i is there */
    uint64_t marked;                /* bit i: child i is marked, or has something marked below it */
    void *children[RADIX_CHILDREN]; /* on level 0 items, above nodes; NULL: not there */
};

/* Nodes at hand, all zero but for the link to the next one in children[0]. */
struct radix_spares {
    struct radix_node *first;
    size_t count;
};

/* Zero is a tree without items. */
struct radix {
    unsigned height; /* levels below the root, 0..RADIX_LEVELS_MAX - 1; it never shrinks */
    struct radix_node root;
};

void radix_spares_put(struct radix_spares *spares, struct radix_node *node);
struct radix_node *radix_spares_take(struct radix_spares *spares); /* NULL: none */

/* The spares that inserting this number takes at most, and inserting any number up to this one. */
size_t radix_nodes_for(const struct radix *radix, uint64_t number);
size_t radix_nodes_up_to(const struct radix *radix, uint64_t number);
/* The number is not in the tree yet. The item is marked. */
void radix_insert(struct radix *radix, uint64_t number, void *item, struct radix_spares *spares);
/* Nodes that become empty become spares. */
void radix_remove(struct radix *radix, uint64_t number, struct radix_spares *spares);
/* Another item at a number that is there; its mark stays. */
void radix_replace(struct radix *radix, uint64_t number, void *item);
void radix_mark(struct radix *radix, uint64_t number, bool is_marked);

/* The item at exactly this number; NULL: there is none. Its neighbours are fetched into the cache:
 * who takes a block of memory asks for them next. */
void *radix_find(const struct radix *radix, uint64_t number);
/* The item at the greatest number that is at most this one; NULL: there is none. */
void *radix_floor(const struct radix *radix, uint64_t number);
void *radix_floor_marked(const struct radix *radix, uint64_t number);

/* true when every bit says what is true and no node but the root is empty. */
bool radix_check(const struct radix *radix);

#endif
