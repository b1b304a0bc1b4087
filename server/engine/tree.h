/* An intrusive AVL tree ordered by (major, minor), each node knowing the least weight below it.
 *
 * The weight lets a search ask for "the smallest block of at least this size among those freed
 * before that point" in O(log n), which the tree macros of the common libraries cannot.
 * Nodes belong to the caller; the tree allocates nothing. Equal keys are a caller's mistake. */
#ifndef SOMA_ENGINE_TREE_H
#define SOMA_ENGINE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_node {
    struct tree_node *left, *right, *parent;
    uint64_t major, minor; /* the key; not changed while the node is in a tree */
    uint64_t weight;       /* set before insertion; tree_reweigh to change it */
    uint64_t weight_min;   /* least weight of this node and all below it; the tree's own */
    int height;            /* the tree's own */
};

struct tree {
    struct tree_node *root;
};

/* The struct that holds a node: TREE_ENTRY(node, struct block, by_address). NULL stays NULL. */
#define TREE_ENTRY(node, type, member) ((type *)tree_entry((node), offsetof(type, member)))

static inline void *tree_entry(const struct tree_node *node, size_t offset)
{
    return node == NULL ? NULL : (void *)((uintptr_t)node - offset);
}

void tree_insert(struct tree *tree, struct tree_node *node, uint64_t major, uint64_t minor);
void tree_remove(struct tree *tree, struct tree_node *node);
void tree_reweigh(struct tree_node *node, uint64_t weight);
/* Put `node` where `old` is: it gets its key and weight. */
void tree_replace(struct tree *tree, const struct tree_node *old, struct tree_node *node);

struct tree_node *tree_first(const struct tree *tree);
struct tree_node *tree_last(const struct tree *tree);
struct tree_node *tree_next(const struct tree_node *node);

/* The last node before this one whose weight is below the limit. */
struct tree_node *tree_previous_below(const struct tree_node *node, uint64_t weight_limit);

/* Exactly this key; NULL when there is none. */
struct tree_node *tree_find(const struct tree *tree, uint64_t major, uint64_t minor);

/* The greatest key <= (major, minor). */
struct tree_node *tree_floor(const struct tree *tree, uint64_t major, uint64_t minor);

/* The least key >= (major, 0) whose weight is below the limit. */
struct tree_node *tree_ceil_below(const struct tree *tree, uint64_t major, uint64_t weight_limit);

/* The least key >= (major, 0). */
struct tree_node *tree_ceil(const struct tree *tree, uint64_t major);

/* true when the tree is ordered, balanced and its least weights are right. */
bool tree_check(const struct tree *tree);

#endif
