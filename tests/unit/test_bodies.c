/* Memory of large bodies: used again soon, and given back soon. */
#include "bodies.h"
#include "expect.h"
#include "fault.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void test_sizes(void)
{
    static const struct {
        size_t bytes, capacity;
        bool is_kept;
    } rows[] = {
        {1, 1, false},
        {BODIES_BYTES_MIN - 1, BODIES_BYTES_MIN - 1, false},
        {BODIES_BYTES_MIN, BODIES_BYTES_MIN, true},
        {BODIES_BYTES_MIN + 1, 2 * MIB, true},
        {16 * MIB + 72, 17 * MIB, true},
        {BODIES_BYTES_MAX, BODIES_BYTES_MAX, true},
        {BODIES_BYTES_MAX + 1, BODIES_BYTES_MAX + 1, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bodies *bodies = bodies_create();
        size_t capacity = 0;
        CU_ASSERT_FATAL(bodies != NULL);
        char *ptr = bodies_take(bodies, rows[i].bytes, &capacity);
        CU_ASSERT_FATAL(ptr != NULL);
        EXPECT(capacity == rows[i].capacity, "%zu: %zu", rows[i].bytes, capacity);
        memset(ptr, 1, capacity);
        bodies_give(bodies, ptr, capacity);
        fault_begin(1);
        char *again = bodies_take(bodies, rows[i].bytes, &capacity);
        (void)fault_end();
        EXPECT((again != NULL) == rows[i].is_kept, "%zu", rows[i].bytes);
        free(again);
        bodies_destroy(bodies);
    }
}

/* What is too small stays for others; no more than a few are kept. */
static void test_choice(void)
{
    struct bodies *bodies = bodies_create();
    void *ptrs[BODIES_KEPT + 2];
    size_t capacities[BODIES_KEPT + 2], capacity = 7;
    CU_ASSERT_FATAL(bodies != NULL);
    for (unsigned i = 0; i < BODIES_KEPT + 2; i++) {
        ptrs[i] = bodies_take(bodies, (i + 1) * MIB, &capacities[i]);
        CU_ASSERT_FATAL(ptrs[i] != NULL);
    }
    for (unsigned i = 0; i < BODIES_KEPT + 2; i++)
        bodies_give(bodies, ptrs[i], capacities[i]);
    fault_begin(1);
    EXPECT(bodies_take(bodies, (BODIES_KEPT + 1) * MIB, &capacity) == NULL && capacity == 7,
           "more are kept");
    (void)fault_end();
    void *third = bodies_take(bodies, 3 * MIB - 5, &capacity);
    EXPECT(third == ptrs[3] && capacity == 4 * MIB, "not the last that is large enough");
    bodies_give(bodies, third, capacity);
    bodies_give(bodies, NULL, 0);
    bodies_destroy(bodies);
    bodies_destroy(NULL);
}

static void test_sweep(void)
{
    struct bodies *bodies = bodies_create();
    size_t capacity;
    CU_ASSERT_FATAL(bodies != NULL);
    bodies_sweep(bodies);
    void *ptr = bodies_take(bodies, MIB, &capacity);
    for (unsigned i = 0; i < 3; i++) { /* used between two sweeps: it stays */
        bodies_give(bodies, ptr, capacity);
        bodies_sweep(bodies);
        EXPECT(bodies_take(bodies, MIB, &capacity) == ptr, "gone");
    }
    bodies_give(bodies, ptr, capacity);
    bodies_sweep(bodies);
    bodies_sweep(bodies);
    fault_begin(1);
    EXPECT(bodies_take(bodies, MIB, &capacity) == NULL, "still there");
    (void)fault_end();
    bodies_destroy(bodies);
}

static const struct soma_test tests[] = {
    {"sizes", test_sizes},
    {"choice", test_choice},
    {"sweep", test_sweep},
    {NULL, NULL},
};
const struct soma_suite suite_bodies = {"bodies", tests};
