/* The radix tree against an array that is searched from end to end. */
#include "expect.h"
#include "radix.h"
#include "random.h"
#include "suites.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBERS = 6000, NODES = 200, ROUNDS = 6000 };

/* A tree over [0, NUMBERS) and what should be in it. */
struct subject {
    struct radix radix;
    struct radix_node nodes[NODES];
    struct radix_spares spares;
    bool is_in[NUMBERS], is_marked[NUMBERS];
    char items[NUMBERS + 1]; /* only their addresses count */
};

/* Empty, with nodes at hand. */
static void start(struct subject *subject)
{
    memset(subject, 0, sizeof(*subject));
    for (size_t i = 0; i < NODES; i++)
        radix_spares_put(&subject->spares, &subject->nodes[i]);
}

static const void *naive_floor(const struct subject *subject, uint64_t number, bool only_marked)
{
    for (uint64_t i = number + 1; i-- > 0;) {
        if (subject->is_in[i] && (!only_marked || subject->is_marked[i]))
            return &subject->items[i];
    }
    return NULL;
}

static void check_searches(const struct subject *subject, uint64_t number)
{
    const struct radix *radix = &subject->radix;
    const void *exact = subject->is_in[number] ? &subject->items[number] : NULL;
    EXPECT(radix_find(radix, number) == exact, "find %" PRIu64, number);
    EXPECT(radix_floor(radix, number) == naive_floor(subject, number, false), "floor of %" PRIu64,
           number);
    EXPECT(radix_floor_marked(radix, number) == naive_floor(subject, number, true),
           "marked floor of %" PRIu64, number);
}

/* Put an item in or take it out, or mark it otherwise. */
static void change(struct subject *subject, uint64_t number, bool is_mark)
{
    if (!subject->is_in[number]) {
        size_t before = subject->spares.count, most = radix_nodes_for(&subject->radix, number);
        EXPECT(most <= radix_nodes_up_to(&subject->radix, NUMBERS - 1), "nodes for %" PRIu64,
               number);
        radix_insert(&subject->radix, number, &subject->items[number], &subject->spares);
        subject->is_in[number] = subject->is_marked[number] = true;
        EXPECT(before - subject->spares.count <= most, "%zu nodes for one item, not %zu",
               before - subject->spares.count, most);
    } else if (is_mark) {
        subject->is_marked[number] = !subject->is_marked[number];
        radix_mark(&subject->radix, number, subject->is_marked[number]);
    } else {
        radix_remove(&subject->radix, number, &subject->spares);
        subject->is_in[number] = false;
    }
}

/* Few items far apart, and many. */
static void test_random(void)
{
    static const struct {
        const char *what;
        uint64_t range; /* changes are at a multiple of NUMBERS / range */
    } rows[] = {{"few", 40}, {"many", NUMBERS}};
    static struct subject subject;
    struct random_source source = {1};
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        start(&subject);
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t number = random_below(&source, rows[row].range) * (NUMBERS / rows[row].range);
            change(&subject, number, random_below(&source, 3) == 0);
            check_searches(&subject, random_below(&source, NUMBERS));
            check_searches(&subject, number);
            if (round % 50 == 0)
                EXPECT(radix_check(&subject.radix), "%s: round %d", rows[row].what, round);
        }
        for (uint64_t i = 0; i < NUMBERS; i++) {
            if (subject.is_in[i])
                change(&subject, i, false);
        }
        EXPECT(subject.spares.count == NODES && subject.radix.root.used == 0 &&
                   radix_check(&subject.radix),
               "%s: all nodes come back, but the root", rows[row].what);
        EXPECT(radix_floor(&subject.radix, NUMBERS - 1) == NULL, "%s: nothing is left",
               rows[row].what);
    }
}

static void test_replace(void)
{
    static struct subject subject;
    start(&subject);
    change(&subject, 100, false);
    change(&subject, 100, true);
    radix_replace(&subject.radix, 100, &subject.items[NUMBERS]);
    EXPECT(radix_find(&subject.radix, 100) == &subject.items[NUMBERS], "the other item");
    EXPECT(radix_floor_marked(&subject.radix, 100) == NULL, "the mark stays as it was");
    EXPECT(radix_check(&subject.radix), "check");
}

/* How many nodes a number needs that an empty tree, or one of number 0, has not. */
static void test_nodes(void)
{
    static const struct {
        uint64_t number;
        size_t nodes;
    } rows[] = {{0, 0},
                {63, 0},
                {64, 2},
                {4095, 2},
                {4096, 4},
                {262143, 4},
                {UINT64_MAX, 2 * (RADIX_LEVELS_MAX - 1)}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static struct radix_node nodes[2 * RADIX_LEVELS_MAX];
        struct radix radix = {0};
        struct radix_spares spares = {0};
        int low, high;
        size_t most = radix_nodes_for(&radix, rows[i].number);
        memset(nodes, 0, sizeof(nodes));
        for (size_t n = 0; n < most; n++)
            radix_spares_put(&spares, &nodes[n]);
        EXPECT(most == rows[i].nodes && radix_nodes_up_to(&radix, rows[i].number) == most,
               "row %zu: %zu nodes", i, most);
        radix_insert(&radix, 0, &low, &spares);
        EXPECT(radix_find(&radix, UINT64_MAX) == NULL && radix_floor(&radix, UINT64_MAX) == &low,
               "row %zu: beyond all", i);
        if (rows[i].number == 0)
            continue;
        radix_insert(&radix, rows[i].number, &high, &spares);
        EXPECT(spares.count == 0 && radix_check(&radix), "row %zu: %zu are left", i, spares.count);
        EXPECT(radix_find(&radix, rows[i].number) == &high && radix_find(&radix, 0) == &low,
               "row %zu: both", i);
        EXPECT(radix_floor(&radix, rows[i].number - 1) == &low, "row %zu: below the higher", i);
        EXPECT(radix_nodes_for(&radix, rows[i].number) == 0, "row %zu: no more", i);
    }
}

/* Each thing that a broken tree may say is found. */
static void test_check(void)
{
    static struct subject subject;
    start(&subject);
    for (uint64_t i = 0; i < NUMBERS; i += 70)
        change(&subject, i, false);
    struct radix_node *root = &subject.radix.root;
    struct radix_node *inner = root->children[0], *leaf = inner->children[0];
    uint64_t *words[] = {&root->used,    &root->marked, &inner->used,
                         &inner->marked, &leaf->used,   &leaf->marked};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            bool is_leaf_mark = words[i] == &leaf->marked && (leaf->used >> bit & 1) != 0;
            uint64_t before = *words[i];
            *words[i] ^= UINT64_C(1) << bit;
            EXPECT(!radix_check(&subject.radix) || (is_leaf_mark && *words[i] != 0),
                   "word %zu, bit %u", i, bit);
            *words[i] = before;
        }
    }
    EXPECT(radix_check(&subject.radix), "mended");
}

static const struct soma_test tests[] = {
    {"random changes", test_random},
    {"another item", test_replace},
    {"nodes for a number", test_nodes},
    {"check finds what is wrong", test_check},
    {NULL, NULL},
};

const struct soma_suite suite_engine_radix = {"engine_radix", tests};
