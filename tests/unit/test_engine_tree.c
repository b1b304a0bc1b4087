/* The tree against an array that is searched from end to end. */
#include "expect.h"
#include "random.h"
#include "suites.h"
#include "tree.h"

#include <inttypes.h>
#include <string.h>

enum { NODES = 200, ROUNDS = 6000 };

struct item {
    uint64_t before; /* so that the node is not the struct's start */
    struct tree_node node;
    bool is_in;
};

static int order(const struct tree_node *node, uint64_t major, uint64_t minor)
{
    if (node->major != major)
        return node->major < major ? -1 : 1;
    return node->minor == minor ? 0 : node->minor < minor ? -1 : 1;
}

/* The least key of those in the tree that are >= (major, 0) and lighter than the limit. */
static const struct tree_node *naive_ceil(const struct item *items, uint64_t major, uint64_t limit)
{
    const struct tree_node *best = NULL;
    for (size_t i = 0; i < NODES; i++) {
        const struct tree_node *node = &items[i].node;
        if (items[i].is_in && order(node, major, 0) >= 0 && node->weight < limit &&
            (best == NULL || order(node, best->major, best->minor) < 0))
            best = node;
    }
    return best;
}

static const struct tree_node *naive_floor(const struct item *items, uint64_t major, uint64_t minor)
{
    const struct tree_node *best = NULL;
    for (size_t i = 0; i < NODES; i++) {
        const struct tree_node *node = &items[i].node;
        if (items[i].is_in && order(node, major, minor) <= 0 &&
            (best == NULL || order(node, best->major, best->minor) > 0))
            best = node;
    }
    return best;
}

/* The greatest key below this one of those in the tree that are lighter than the limit. */
static const struct tree_node *naive_previous(const struct item *items,
                                              const struct tree_node *behind, uint64_t limit)
{
    const struct tree_node *best = NULL;
    for (size_t i = 0; i < NODES; i++) {
        const struct tree_node *node = &items[i].node;
        if (items[i].is_in && order(node, behind->major, behind->minor) < 0 &&
            node->weight < limit && (best == NULL || order(node, best->major, best->minor) > 0))
            best = node;
    }
    return best;
}

static bool is_key_in(const struct item *items, uint64_t major, uint64_t minor)
{
    const struct tree_node *node = naive_floor(items, major, minor);
    return node != NULL && order(node, major, minor) == 0;
}

/* Walk from the first node to the last: ascending, and as many as are in. */
static void check_walk(const struct tree *tree, const struct item *items, const char *when)
{
    size_t wanted = 0, count = 0;
    const struct tree_node *last = NULL;
    for (size_t i = 0; i < NODES; i++)
        wanted += items[i].is_in;
    for (const struct tree_node *node = tree_first(tree); node != NULL; node = tree_next(node)) {
        EXPECT(last == NULL || order(last, node->major, node->minor) < 0, "%s: out of order", when);
        last = node;
        count++;
    }
    EXPECT(count == wanted, "%s: %zu of %zu nodes", when, count, wanted);
    EXPECT(last == tree_last(tree), "%s: the last node", when);
    EXPECT(tree_check(tree), "%s: tree_check", when);
}

static void check_searches(const struct tree *tree, const struct item *items,
                           struct random_source *source)
{
    uint64_t major = random_below(source, 42), minor = random_below(source, 12);
    uint64_t limit = random_below(source, 22);
    const struct tree_node *floor = naive_floor(items, major, minor);
    bool is_in = floor != NULL && order(floor, major, minor) == 0;
    EXPECT(tree_floor(tree, major, minor) == floor, "floor of %" PRIu64 ", %" PRIu64, major, minor);
    EXPECT(tree_find(tree, major, minor) == (is_in ? floor : NULL), "find %" PRIu64 ", %" PRIu64,
           major, minor);
    EXPECT(tree_ceil(tree, major) == naive_ceil(items, major, UINT64_MAX), "ceil of %" PRIu64,
           major);
    EXPECT(tree_ceil_below(tree, major, limit) == naive_ceil(items, major, limit),
           "ceil of %" PRIu64 " below %" PRIu64, major, limit);
    if (floor != NULL)
        EXPECT(tree_previous_below(floor, limit) == naive_previous(items, floor, limit),
               "before %" PRIu64 ", %" PRIu64 " below %" PRIu64, floor->major, floor->minor, limit);
}

/* An item that is not in takes the place of one that is. */
static void replace(struct tree *tree, struct item *items, struct item *item)
{
    struct item *other = items;
    while (other < items + NODES && other->is_in)
        other++;
    if (other == items + NODES)
        return;
    tree_replace(tree, &item->node, &other->node);
    item->is_in = false;
    other->is_in = true;
}

/* Put the item in, take it out, give it another weight, or its place to another one. */
static void change(struct tree *tree, struct item *items, struct random_source *source)
{
    struct item *item = &items[random_below(source, NODES)];
    uint64_t major = random_below(source, 40), minor = random_below(source, 10);
    uint64_t weight = random_below(source, 20);
    if (item->is_in && random_below(source, 4) == 0) {
        tree_reweigh(&item->node, weight);
    } else if (item->is_in && random_below(source, 4) == 0) {
        replace(tree, items, item);
    } else if (item->is_in) {
        tree_remove(tree, &item->node);
        item->is_in = false;
    } else if (!is_key_in(items, major, minor)) {
        item->node.weight = weight;
        tree_insert(tree, &item->node, major, minor);
        item->is_in = true;
    }
}

static void test_random(void)
{
    static struct item items[NODES];
    struct random_source source = {1};
    struct tree tree = {0};
    memset(items, 0, sizeof(items));
    for (int round = 0; round < ROUNDS; round++) {
        change(&tree, items, &source);
        check_searches(&tree, items, &source);
        if (round % 50 == 0)
            check_walk(&tree, items, "random changes");
    }
    check_walk(&tree, items, "the end");
    for (size_t i = 0; i < NODES; i++) {
        if (items[i].is_in)
            tree_remove(&tree, &items[i].node);
        items[i].is_in = false;
        EXPECT(tree_check(&tree), "%zu nodes removed", i);
    }
    EXPECT(tree.root == NULL, "nothing is left");
}

/* Insertion in rising, falling and zig-zag order keeps the tree low. */
static void test_balance(void)
{
    static const struct {
        const char *what;
        uint64_t step; /* of the key, modulo 1024 */
    } rows[] = {{"rising keys", 1}, {"falling keys", 1023}, {"keys from everywhere", 619}};
    static struct tree_node nodes[1024];
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct tree tree = {0};
        for (uint64_t i = 0; i < 1024; i++)
            tree_insert(&tree, &nodes[i], i * rows[row].step % 1024, 0);
        EXPECT(tree_check(&tree), "%s", rows[row].what);
        EXPECT(tree.root->height <= 14, "%s: height %d for 1024 nodes, 14 at most (1.44 log2)",
               rows[row].what, tree.root->height);
        for (uint64_t i = 0; i < 1024; i += 2)
            tree_remove(&tree, &nodes[i]);
        EXPECT(tree_check(&tree) && tree.root->height <= 12, "%s: every other node removed",
               rows[row].what);
    }
}

static void test_edges(void)
{
    struct tree tree = {0};
    struct item item = {0};
    EXPECT(tree_first(&tree) == NULL && tree_last(&tree) == NULL, "an empty tree has no ends");
    EXPECT(tree_find(&tree, 0, 0) == NULL && tree_floor(&tree, UINT64_MAX, UINT64_MAX) == NULL &&
               tree_ceil(&tree, 0) == NULL && tree_ceil_below(&tree, 0, UINT64_MAX) == NULL,
           "nothing is found in an empty tree");
    EXPECT(tree_check(&tree), "an empty tree is well");
    tree_insert(&tree, &item.node, UINT64_MAX, UINT64_MAX);
    EXPECT(tree_find(&tree, UINT64_MAX, UINT64_MAX) == &item.node, "the largest key is found");
    EXPECT(tree_ceil_below(&tree, UINT64_MAX, 0) == NULL, "no weight is below 0");
    EXPECT(tree_next(&item.node) == NULL, "nothing comes after the only node");
    EXPECT(tree_previous_below(&item.node, UINT64_MAX) == NULL, "nor before it");
    EXPECT(TREE_ENTRY(tree_first(&tree), struct item, node) == &item, "the struct around a node");
    EXPECT(TREE_ENTRY(NULL, struct item, node) == NULL, "NULL stays NULL");
}

static void corrupt_major(struct tree_node *nodes)
{
    nodes[0].major = 5;
}

static void corrupt_minor(struct tree_node *nodes)
{
    nodes[1].minor = nodes[2].minor;
    nodes[1].major = nodes[2].major;
}

static void corrupt_height(struct tree_node *nodes)
{
    nodes[1].height = 7;
}

static void corrupt_parent(struct tree_node *nodes)
{
    nodes[0].parent = &nodes[2];
}

static void corrupt_weight(struct tree_node *nodes)
{
    nodes[2].weight = 1;
}

static void corrupt_weight_min(struct tree_node *nodes)
{
    nodes[1].weight_min = 4;
}

static void corrupt_balance(struct tree_node *nodes)
{
    nodes[1].left = NULL;
    nodes[0].parent = NULL;
    nodes[3].left = &nodes[0]; /* too deep, and out of order */
}

static void test_check_finds(void)
{
    static const struct {
        const char *what;
        void (*corrupt)(struct tree_node *nodes);
    } rows[] = {
        {"a key that is larger than its parent's", corrupt_major},
        {"two equal keys", corrupt_minor},
        {"a wrong height", corrupt_height},
        {"a wrong parent", corrupt_parent},
        {"a weight that nobody was told of", corrupt_weight},
        {"a wrong least weight", corrupt_weight_min},
        {"a branch in the wrong place", corrupt_balance},
    };
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct tree tree = {0};
        struct tree_node nodes[4];
        memset(nodes, 0, sizeof(nodes));
        for (uint64_t i = 0; i < 4; i++) {
            nodes[i].weight = 10 + i;
            tree_insert(&tree, &nodes[i], i, i);
        }
        EXPECT(tree.root == &nodes[1] && tree_check(&tree), "%s: sound before", rows[row].what);
        rows[row].corrupt(nodes);
        EXPECT(!tree_check(&tree), "tree_check does not see %s", rows[row].what);
    }
}

static const struct soma_test tests[] = {
    {"random changes and searches", test_random},
    {"balance", test_balance},
    {"edges", test_edges},
    {"tree_check can fail", test_check_finds},
    {NULL, NULL},
};

const struct soma_suite suite_engine_tree = {"engine_tree", tests};
