/* Radix tree: bits of a number, six a level from the highest, lead from the root to its item. */
#include "radix.h"

static unsigned digit(uint64_t number, unsigned level)
{
    return (unsigned)(number >> (level * RADIX_BITS)) % RADIX_CHILDREN;
}

static uint64_t bit(uint64_t number, unsigned level)
{
    return UINT64_C(1) << digit(number, level);
}

/* The child that the highest of these bits, not 0, stands for. */
static void *child_of_highest(const struct radix_node *node, uint64_t bits)
{
    return node->children[RADIX_CHILDREN - 1 - __builtin_clzll(bits)];
}

/* Levels below the root that this number needs. */
static unsigned height_for(uint64_t number)
{
    unsigned height = 0;
    while ((number >>= RADIX_BITS) != 0)
        height++;
    return height;
}

/* Is the number greater than all that a tree of this height has room for? */
static bool is_beyond(const struct radix *radix, uint64_t number)
{
    return number >> (radix->height * RADIX_BITS) >= RADIX_CHILDREN;
}

/* ---- spares ---- */

void radix_spares_put(struct radix_spares *spares, struct radix_node *node)
{
    node->children[0] = spares->first;
    spares->first = node;
    spares->count++;
}

struct radix_node *radix_spares_take(struct radix_spares *spares)
{
    struct radix_node *node = spares->first;
    if (node == NULL)
        return NULL;
    spares->first = node->children[0];
    spares->count--;
    node->children[0] = NULL;
    return node;
}

/* ---- changes ---- */

size_t radix_nodes_for(const struct radix *radix, uint64_t number)
{
    unsigned height = height_for(number), level = radix->height;
    if (height > level)
        return (height - level) + height; /* new levels, then all below the new root */
    const struct radix_node *node = &radix->root;
    for (; level > 0 && node->children[digit(number, level)] != NULL; level--)
        node = node->children[digit(number, level)];
    return level;
}

size_t radix_nodes_up_to(const struct radix *radix, uint64_t number)
{
    unsigned height = height_for(number);
    return height > radix->height ? (height - radix->height) + height : radix->height;
}

/* One level more: what the root held moves below its first child. */
static void grow(struct radix *radix, struct radix_spares *spares)
{
    struct radix_node *root = &radix->root;
    radix->height++;
    if (root->used == 0)
        return;
    struct radix_node *node = radix_spares_take(spares);
    *node = *root;
    *root = (struct radix_node){.used = 1, .marked = node->marked != 0, .children = {node}};
}

void radix_insert(struct radix *radix, uint64_t number, void *item, struct radix_spares *spares)
{
    while (is_beyond(radix, number))
        grow(radix, spares);
    struct radix_node *node = &radix->root;
    for (unsigned level = radix->height; level > 0; level--) {
        void **child = &node->children[digit(number, level)];
        if (*child == NULL)
            *child = radix_spares_take(spares);
        node->used |= bit(number, level);
        node->marked |= bit(number, level);
        node = *child;
    }
    node->used |= bit(number, 0);
    node->marked |= bit(number, 0);
    node->children[digit(number, 0)] = item;
}

/* The nodes on the way to a number that is there, the lowest first. */
static void trace(struct radix *radix, uint64_t number, struct radix_node *path[RADIX_LEVELS_MAX])
{
    struct radix_node *node = &radix->root;
    for (unsigned level = radix->height; level > 0; level--) {
        path[level] = node;
        node = node->children[digit(number, level)];
    }
    path[0] = node;
}

void radix_remove(struct radix *radix, uint64_t number, struct radix_spares *spares)
{
    struct radix_node *path[RADIX_LEVELS_MAX];
    trace(radix, number, path);
    path[0]->used &= ~bit(number, 0);
    path[0]->marked &= ~bit(number, 0);
    path[0]->children[digit(number, 0)] = NULL;
    for (unsigned level = 1; level <= radix->height && path[level - 1]->marked == 0; level++) {
        path[level]->marked &= ~bit(number, level);
        if (path[level - 1]->used == 0) {
            path[level]->used &= ~bit(number, level);
            path[level]->children[digit(number, level)] = NULL;
            radix_spares_put(spares, path[level - 1]);
        }
    }
}

void radix_replace(struct radix *radix, uint64_t number, void *item)
{
    struct radix_node *node = &radix->root;
    for (unsigned level = radix->height; level > 0; level--)
        node = node->children[digit(number, level)];
    node->children[digit(number, 0)] = item;
}

void radix_mark(struct radix *radix, uint64_t number, bool is_marked)
{
    struct radix_node *path[RADIX_LEVELS_MAX];
    trace(radix, number, path);
    for (unsigned level = 0; level <= radix->height; level++) {
        uint64_t before = path[level]->marked;
        if (is_marked)
            path[level]->marked |= bit(number, level);
        else
            path[level]->marked &= ~bit(number, level);
        if ((before == 0) == (path[level]->marked == 0))
            return; /* the node above knows already whether something is marked here */
    }
}

/* ---- search ---- */

/* Ask the processor for the items on both sides of one. */
static void fetch_neighbours(const struct radix_node *node, uint64_t here)
{
    uint64_t below = node->used & (here - 1), above = node->used & ~(here | (here - 1));
    if (below != 0)
        __builtin_prefetch(child_of_highest(node, below));
    if (above != 0)
        __builtin_prefetch(node->children[__builtin_ctzll(above)]);
}

void *radix_find(const struct radix *radix, uint64_t number)
{
    const struct radix_node *node = &radix->root;
    if (is_beyond(radix, number))
        return NULL;
    for (unsigned level = radix->height; level > 0; level--) {
        node = node->children[digit(number, level)];
        if (node == NULL)
            return NULL;
    }
    fetch_neighbours(node, bit(number, 0));
    return node->children[digit(number, 0)];
}

static uint64_t bits_of(const struct radix_node *node, bool only_marked)
{
    return only_marked ? node->marked : node->used;
}

/* Go down where the number leads; where that ends, to the last item of the lowest node on the way
 * that has something below it. */
static void *floor_of(const struct radix *radix, uint64_t number, bool only_marked)
{
    const struct radix_node *node = &radix->root, *turn = NULL;
    unsigned turn_level = 0;
    if (is_beyond(radix, number))
        number = UINT64_MAX;
    uint64_t turn_bits = 0;
    for (unsigned level = radix->height;; level--) {
        uint64_t bits = bits_of(node, only_marked), here = bit(number, level);
        if ((bits & (here - 1)) != 0) {
            turn = node;
            turn_level = level;
            turn_bits = bits & (here - 1);
        }
        if ((bits & here) == 0)
            break;
        if (level == 0)
            return node->children[digit(number, 0)];
        node = node->children[digit(number, level)];
    }
    if (turn == NULL)
        return NULL;
    void *child = child_of_highest(turn, turn_bits);
    for (; turn_level > 0; turn_level--)
        child = child_of_highest(child, bits_of(child, only_marked));
    return child;
}

void *radix_floor(const struct radix *radix, uint64_t number)
{
    return floor_of(radix, number, false);
}

void *radix_floor_marked(const struct radix *radix, uint64_t number)
{
    return floor_of(radix, number, true);
}

/* ---- check ---- */

static bool check_node(const struct radix_node *node, unsigned level)
{
    for (unsigned i = 0; i < RADIX_CHILDREN; i++) {
        const struct radix_node *child = level > 0 ? node->children[i] : NULL;
        bool is_used = (node->used >> i & 1) != 0, is_marked = (node->marked >> i & 1) != 0;
        if (is_used != (node->children[i] != NULL) || (is_marked && !is_used))
            return false;
        if (child != NULL && (child->used == 0 || is_marked != (child->marked != 0) ||
                              !check_node(child, level - 1)))
            return false;
    }
    return true;
}

bool radix_check(const struct radix *radix)
{
    return check_node(&radix->root, radix->height);
}
