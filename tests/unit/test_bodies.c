/* Memory of large bodies: used again soon, given back soon, and laid out so that pages can be
 * exchanged. */
#include "bodies.h"
#include "expect.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)

static void test_layout(void)
{
    static const struct {
        size_t bytes;
        bool ends;
        size_t map_bytes, begins_at, pages_at, page_bytes;
    } rows[] = {
        {MIB, false, MIB, 0, 0, MIB},
        {MIB + 1, false, MIB + PAGE, 0, 0, MIB},
        {MIB + 72, true, MIB + PAGE, PAGE - 72, PAGE, MIB},
        {MIB, true, MIB, 0, PAGE, MIB - PAGE},
        {BODIES_BYTES_MAX + 5, false, BODIES_BYTES_MAX + PAGE, 0, 0, BODIES_BYTES_MAX},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bodies *bodies = bodies_create();
        struct body body;
        CU_ASSERT_FATAL(bodies != NULL);
        char *begin = bodies_take(bodies, rows[i].bytes, rows[i].ends, &body);
        CU_ASSERT_FATAL(begin != NULL);
        EXPECT(body.map_bytes == rows[i].map_bytes && body.page_bytes == rows[i].page_bytes &&
                   body.pages == body.map + rows[i].pages_at && (uintptr_t)body.map % PAGE == 0 &&
                   begin == body.map + rows[i].begins_at,
               "row %zu", i);
        memset(begin, 1, rows[i].bytes);
        size_t len = body.page_bytes;
        EXPECT(bodies_can_exchange(&body, body.pages, len) &&
                   bodies_can_exchange(&body, body.pages, len + PAGE - 1) &&
                   !bodies_can_exchange(&body, body.pages, len + PAGE) &&
                   !bodies_can_exchange(&body, body.pages, len - 1) &&
                   !bodies_can_exchange(&body, body.pages + PAGE, len),
               "row %zu", i);
        bodies_give(bodies, &body);
        EXPECT(body.map == NULL && !bodies_can_exchange(&body, NULL, 0), "row %zu", i);
        bodies_give(bodies, &body);
        bodies_destroy(bodies);
    }
    bodies_destroy(NULL);
}

static void test_sizes(void)
{
    static const struct {
        size_t bytes;
        bool is_kept;
    } rows[] = {
        {BODIES_BYTES_MIN, true},
        {16 * MIB + 72, true},
        {BODIES_BYTES_MAX, true},
        {BODIES_BYTES_MAX + 1, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bodies *bodies = bodies_create();
        struct body body, again;
        CU_ASSERT_FATAL(bodies != NULL);
        char *begin = bodies_take(bodies, rows[i].bytes, false, &body);
        CU_ASSERT_FATAL(begin != NULL);
        memset(begin, 7, rows[i].bytes);
        bodies_give(bodies, &body);
        begin = bodies_take(bodies, rows[i].bytes, false, &again);
        CU_ASSERT_FATAL(begin != NULL);
        EXPECT((begin[0] == 7) == rows[i].is_kept, "%zu", rows[i].bytes);
        bodies_give(bodies, &again);
        bodies_destroy(bodies);
    }
}

/* Only for a body that is laid out alike; the last few are kept. */
static void test_choice(void)
{
    struct bodies *bodies = bodies_create();
    struct body body[BODIES_KEPT + 1], others[6];
    CU_ASSERT_FATAL(bodies != NULL);
    for (unsigned i = 0; i <= BODIES_KEPT; i++) {
        char *begin = bodies_take(bodies, (i + 1) * MIB, false, &body[i]);
        CU_ASSERT_FATAL(begin != NULL);
        memset(begin, 1, (i + 1) * MIB);
    }
    for (unsigned i = 0; i <= BODIES_KEPT; i++)
        bodies_give(bodies, &body[i]);
    const struct {
        size_t bytes;
        bool ends, is_kept;
    } rows[] = {
        {MIB, false, false},         /* the first one had to go */
        {2 * MIB, true, false},      /* other pages of it would be exchanged */
        {2 * MIB - 1, false, false}, /* likewise */
        {3 * MIB / 2, false, false}, /* of any larger one a part */
        {2 * MIB, false, true},      {(BODIES_KEPT + 1) * MIB, false, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *begin = bodies_take(bodies, rows[i].bytes, rows[i].ends, &others[i]);
        CU_ASSERT_FATAL(begin != NULL);
        EXPECT((begin[rows[i].bytes - 1] == 1) == rows[i].is_kept, "row %zu", i);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        bodies_give(bodies, &others[i]);
    bodies_destroy(bodies);
}

static void test_no_memory(void)
{
    struct bodies *bodies = bodies_create();
    struct body body = {.page_bytes = 5};
    CU_ASSERT_FATAL(bodies != NULL);
    EXPECT(bodies_take(bodies, (size_t)1 << 60, false, &body) == NULL && body.page_bytes == 5,
           "2^60 bytes");
    bodies_destroy(bodies);
}

static void test_sweep(void)
{
    struct bodies *bodies = bodies_create();
    struct body body;
    CU_ASSERT_FATAL(bodies != NULL);
    bodies_sweep(bodies);
    char *begin = bodies_take(bodies, MIB, false, &body);
    CU_ASSERT_FATAL(begin != NULL);
    begin[0] = 1;
    for (unsigned i = 0; i < 3; i++) { /* used between two sweeps: it stays */
        bodies_give(bodies, &body);
        bodies_sweep(bodies);
        EXPECT(bodies_take(bodies, MIB, false, &body) == begin && begin[0] == 1, "gone");
    }
    bodies_give(bodies, &body);
    bodies_sweep(bodies);
    bodies_sweep(bodies);
    begin = bodies_take(bodies, MIB, false, &body);
    CU_ASSERT_FATAL(begin != NULL);
    EXPECT(begin[0] == 0, "still there");
    bodies_give(bodies, &body);
    bodies_destroy(bodies);
}

static const struct soma_test tests[] = {
    {"layout", test_layout},       {"sizes", test_sizes}, {"choice", test_choice},
    {"no memory", test_no_memory}, {"sweep", test_sweep}, {NULL, NULL},
};
const struct soma_suite suite_bodies = {"bodies", tests};
