/* AVL tree with parent links. Heights and least weights are kept up from the place of a change to
 * the root, in one loop. */
#include "tree.h"

static int height_of(const struct tree_node *node)
{
    return node == NULL ? 0 : node->height;
}

static int order(const struct tree_node *node, uint64_t major, uint64_t minor)
{
    if (node->major != major)
        return node->major < major ? -1 : 1;
    if (node->minor != minor)
        return node->minor < minor ? -1 : 1;
    return 0;
}

/* Recompute what a node knows of its subtree; true when that changed. */
static inline bool refresh(struct tree_node *node)
{
    int left = height_of(node->left), right = height_of(node->right);
    int height = 1 + (left > right ? left : right);
    uint64_t least = node->weight;
    if (node->left != NULL && node->left->weight_min < least)
        least = node->left->weight_min;
    if (node->right != NULL && node->right->weight_min < least)
        least = node->right->weight_min;
    bool changed = height != node->height || least != node->weight_min;
    node->height = height;
    node->weight_min = least;
    return changed;
}

/* Put `child` where `node` hung under `parent` (NULL: at the root). */
static void replace_child(struct tree *tree, struct tree_node *parent, struct tree_node *node,
                          struct tree_node *child)
{
    if (parent == NULL)
        tree->root = child;
    else if (parent->left == node)
        parent->left = child;
    else
        parent->right = child;
    if (child != NULL)
        child->parent = parent;
}

static struct tree_node *rotate_left(struct tree *tree, struct tree_node *node)
{
    struct tree_node *up = node->right;
    replace_child(tree, node->parent, node, up);
    node->right = up->left;
    if (up->left != NULL)
        up->left->parent = node;
    up->left = node;
    node->parent = up;
    (void)refresh(node);
    (void)refresh(up);
    return up;
}

static struct tree_node *rotate_right(struct tree *tree, struct tree_node *node)
{
    struct tree_node *up = node->left;
    replace_child(tree, node->parent, node, up);
    node->left = up->right;
    if (up->right != NULL)
        up->right->parent = node;
    up->right = node;
    node->parent = up;
    (void)refresh(node);
    (void)refresh(up);
    return up;
}

/* Restore balance and knowledge from node up to the root. */
static void fix_upwards(struct tree *tree, struct tree_node *node)
{
    while (node != NULL) {
        bool changed = refresh(node);
        int balance = height_of(node->left) - height_of(node->right);
        if (balance > 1) {
            if (height_of(node->left->left) < height_of(node->left->right))
                (void)rotate_left(tree, node->left);
            node = rotate_right(tree, node);
        } else if (balance < -1) {
            if (height_of(node->right->right) < height_of(node->right->left))
                (void)rotate_right(tree, node->right);
            node = rotate_left(tree, node);
        } else if (!changed) {
            return;
        }
        node = node->parent;
    }
}

void tree_insert(struct tree *tree, struct tree_node *node, uint64_t major, uint64_t minor)
{
    struct tree_node *parent = NULL;
    struct tree_node **link = &tree->root;
    node->left = node->right = NULL;
    node->major = major;
    node->minor = minor;
    node->height = 0; /* so that refresh sees a change */
    while (*link != NULL) {
        parent = *link;
        link = order(parent, major, minor) > 0 ? &parent->left : &parent->right;
    }
    *link = node;
    node->parent = parent;
    fix_upwards(tree, node);
}

void tree_remove(struct tree *tree, struct tree_node *node)
{
    struct tree_node *start, *next = NULL;
    if (node->left == NULL || node->right == NULL) {
        start = node->parent;
        replace_child(tree, node->parent, node, node->left != NULL ? node->left : node->right);
    } else {
        next = tree_next(node);
        start = next->parent == node ? next : next->parent;
        replace_child(tree, next->parent, next, next->right);
        next->left = node->left;
        next->right = node->right;
        if (next->left != NULL)
            next->left->parent = next;
        if (next->right != NULL)
            next->right->parent = next;
        next->height = node->height;
        next->weight_min = node->weight_min;
        replace_child(tree, node->parent, node, next);
    }
    fix_upwards(tree, start);
    if (start != next)
        fix_upwards(tree, next); /* its weight is new there, even if nothing changed below */
}

void tree_replace(struct tree *tree, const struct tree_node *old, struct tree_node *node)
{
    *node = *old;
    if (node->left != NULL)
        node->left->parent = node;
    if (node->right != NULL)
        node->right->parent = node;
    if (node->parent == NULL)
        tree->root = node;
    else if (node->parent->left == old)
        node->parent->left = node;
    else
        node->parent->right = node;
}

void tree_reweigh(struct tree_node *node, uint64_t weight)
{
    node->weight = weight;
    for (; node != NULL && refresh(node); node = node->parent) {
    }
}

struct tree_node *tree_first(const struct tree *tree)
{
    struct tree_node *node = tree->root;
    while (node != NULL && node->left != NULL)
        node = node->left;
    return node;
}

struct tree_node *tree_last(const struct tree *tree)
{
    struct tree_node *node = tree->root;
    while (node != NULL && node->right != NULL)
        node = node->right;
    return node;
}

struct tree_node *tree_next(const struct tree_node *node)
{
    if (node->right != NULL) {
        struct tree_node *next = node->right;
        while (next->left != NULL)
            next = next->left;
        return next;
    }
    while (node->parent != NULL && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

/* Whether this subtree has a node whose weight is below the limit. */
static bool has_below(const struct tree_node *node, uint64_t limit)
{
    return node != NULL && node->weight_min < limit;
}

/* The greatest key in this subtree whose weight is below the limit; there is one. */
static struct tree_node *last_below(struct tree_node *node, uint64_t limit)
{
    for (;;) {
        if (has_below(node->right, limit))
            node = node->right;
        else if (node->weight < limit)
            return node;
        else
            node = node->left;
    }
}

struct tree_node *tree_previous_below(const struct tree_node *node, uint64_t weight_limit)
{
    if (has_below(node->left, weight_limit))
        return last_below(node->left, weight_limit);
    for (struct tree_node *up = node->parent; up != NULL; node = up, up = up->parent) {
        if (up->left == node)
            continue;
        if (up->weight < weight_limit)
            return up;
        if (has_below(up->left, weight_limit))
            return last_below(up->left, weight_limit);
    }
    return NULL;
}

struct tree_node *tree_find(const struct tree *tree, uint64_t major, uint64_t minor)
{
    struct tree_node *node = tree_floor(tree, major, minor);
    return node != NULL && node->major == major && node->minor == minor ? node : NULL;
}

struct tree_node *tree_floor(const struct tree *tree, uint64_t major, uint64_t minor)
{
    struct tree_node *best = NULL;
    struct tree_node *node = tree->root;
    while (node != NULL) {
        int side = order(node, major, minor);
        if (side == 0)
            return node;
        if (side < 0)
            best = node;
        node = side < 0 ? node->right : node->left;
    }
    return best;
}

/* The least key in this subtree whose weight is below the limit; there is one. */
static struct tree_node *first_below(struct tree_node *node, uint64_t limit)
{
    for (;;) {
        if (has_below(node->left, limit))
            node = node->left;
        else if (node->weight < limit)
            return node;
        else
            node = node->right;
    }
}

struct tree_node *tree_ceil_below(const struct tree *tree, uint64_t major, uint64_t weight_limit)
{
    /* The answer is the deepest left turn that itself, or whose right subtree, has one. */
    struct tree_node *best = NULL;
    struct tree_node *node = tree->root;
    while (node != NULL && node->weight_min < weight_limit) {
        if (order(node, major, 0) < 0) {
            node = node->right;
            continue;
        }
        if (node->weight < weight_limit)
            best = node;
        else if (has_below(node->right, weight_limit))
            best = first_below(node->right, weight_limit);
        node = node->left;
    }
    return best;
}

struct tree_node *tree_ceil(const struct tree *tree, uint64_t major)
{
    struct tree_node *best = NULL;
    struct tree_node *node = tree->root;
    while (node != NULL) {
        if (order(node, major, 0) >= 0) {
            best = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return best;
}

static bool check_below(const struct tree_node *node, const struct tree_node *parent)
{
    if (node == NULL)
        return true;
    struct tree_node copy = *node;
    int balance = height_of(node->left) - height_of(node->right);
    return node->parent == parent && !refresh(&copy) && balance >= -1 && balance <= 1 &&
           (node->left == NULL || order(node->left, node->major, node->minor) < 0) &&
           (node->right == NULL || order(node->right, node->major, node->minor) > 0) &&
           check_below(node->left, node) && check_below(node->right, node);
}

bool tree_check(const struct tree *tree)
{
    if (!check_below(tree->root, NULL))
        return false;
    const struct tree_node *node = tree_first(tree);
    while (node != NULL) {
        const struct tree_node *next = tree_next(node);
        if (next != NULL && order(node, next->major, next->minor) >= 0)
            return false;
        node = next;
    }
    return true;
}
