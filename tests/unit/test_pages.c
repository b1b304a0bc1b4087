/* Exchanging pages: what is where afterwards, also when the system refuses in the middle. */
#include "expect.h"
#include "pages.h"
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define BLOCK (1024 * PAGE)

/* ---- a system that refuses ---- */

static unsigned calls, refused; /* bit i of refused: call i, from 0, is */
static bool takes_away;         /* the refused call has unmapped its target before */

void *mremap(void *from, size_t bytes, size_t new_bytes, int flags, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, flags);
    void *to = (flags & MREMAP_FIXED) != 0 ? __builtin_va_arg(list, void *) : NULL;
    __builtin_va_end(list);
    bool is_refused = calls < 32 && (refused >> calls & 1u) != 0;
    calls++;
    if (is_refused) {
        if (takes_away)
            (void)munmap(to, new_bytes);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    long outcome = syscall(SYS_mremap, from, bytes, new_bytes, (long)flags, to);
    void *moved;
    memcpy(&moved, &outcome, sizeof(moved));
    return moved;
}

static void refuse(unsigned which, bool away)
{
    calls = 0;
    refused = which;
    takes_away = away;
}

/* ---- memory ---- */

static char *map(size_t bytes, char value)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(map != MAP_FAILED);
    if (value != 0)
        memset(map, value, bytes);
    return map;
}

static bool is_filled(const char *at, size_t bytes, char value)
{
    return bytes == 0 || (at[0] == value && memcmp(at, at + 1, bytes - 1) == 0);
}

static void test_exchange(void)
{
    struct pages pages;
    RB_INIT(&pages.seams);
    char *place = map(3 * BLOCK, 1), *from = map(BLOCK, 2);
    refuse(0, false);
    EXPECT(pages_exchange(&pages, place + BLOCK, from, BLOCK), "refused");
    EXPECT(is_filled(place, BLOCK, 1) && is_filled(place + BLOCK, BLOCK, 2) &&
               is_filled(place + 2 * BLOCK, BLOCK, 1) && is_filled(from, BLOCK, 1),
           "contents");
    memset(from, 3, BLOCK);
    EXPECT(pages_exchange(&pages, place + BLOCK, from, BLOCK), "again");
    EXPECT(is_filled(place + BLOCK, BLOCK, 3) && is_filled(from, BLOCK, 2), "contents");
    memset(from, 4, BLOCK); /* over a seam: the old pages do not come */
    EXPECT(pages_exchange(&pages, place + BLOCK / 2, from, BLOCK), "over a seam");
    EXPECT(is_filled(place, BLOCK / 2, 1) && is_filled(place + BLOCK / 2, BLOCK, 4) &&
               is_filled(place + BLOCK / 2 + BLOCK, BLOCK / 2, 3) && is_filled(from, BLOCK, 0),
           "contents");
    memset(from, 5, BLOCK); /* what was split is one again */
    calls = 0;
    EXPECT(pages_exchange(&pages, place + BLOCK / 2, from, BLOCK) && calls == 3 &&
               is_filled(from, BLOCK, 4),
           "%u calls", calls);
    char *fresh = map(BLOCK, 0);
    EXPECT(pages_exchange(&pages, fresh, from, BLOCK) && is_filled(fresh, BLOCK, 4) &&
               is_filled(from, BLOCK, 0),
           "a place that nobody has touched");
    (void)munmap(place, 3 * BLOCK);
    pages_forget(&pages, place, 3 * BLOCK);
    (void)munmap(fresh, BLOCK);
    pages_forget(&pages, fresh, BLOCK);
    EXPECT(RB_EMPTY(&pages.seams), "a seam stays");
    (void)munmap(from, BLOCK);
}

static void test_refused(void)
{
    static const struct {
        bool is_split;
        unsigned refused;
        bool takes_away, is_done;
    } rows[] = {
        {false, 1, false, false}, /* the system cannot do it */
        {false, 2, false, false}, /* the pages are put back */
        {false, 2, true, false},  /* likewise, to where there is no mapping any more */
        {false, 6, true, true},   /* they cannot be: copied to a new mapping */
        {false, 4, true, true},   /* the old pages do not come: a new mapping */
        {true, 1, false, false},  {true, 1, true, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pages pages;
        RB_INIT(&pages.seams);
        char *place = map(BLOCK, 1), *from = map(BLOCK, 2), *page = map(PAGE, 1);
        refuse(0, false);
        if (rows[i].is_split)
            CU_ASSERT(pages_exchange(&pages, place + PAGE, page, PAGE));
        refuse(rows[i].refused, rows[i].takes_away);
        bool is_done = pages_exchange(&pages, place, from, BLOCK);
        refuse(0, false);
        EXPECT(is_done == rows[i].is_done, "row %zu: %d", i, is_done);
        EXPECT(is_filled(place, BLOCK, is_done ? 2 : 1), "row %zu: the place", i);
        EXPECT(is_done || is_filled(from, BLOCK, 2), "row %zu: what was to be moved", i);
        memset(from, 6, BLOCK);
        memset(place, 7, BLOCK);
        EXPECT(is_filled(from, BLOCK, 6), "row %zu", i);
        (void)munmap(place, BLOCK);
        pages_forget(&pages, place, BLOCK);
        (void)munmap(from, BLOCK);
        (void)munmap(page, PAGE);
    }
}

/* There are never more seams than the system bears mappings. */
static void test_many(void)
{
    struct pages pages;
    RB_INIT(&pages.seams);
    size_t count = PAGES_SEAMS_MAX / 2 + 10, done = 0, bytes = count * 2 * PAGE;
    char *place = map(bytes, 0), *from = map(PAGE, 1);
    for (size_t i = 0; i < count; i++) {
        memset(from, 1 + (int)(i % 100), PAGE);
        if (pages_exchange(&pages, place + 2 * i * PAGE, from, PAGE))
            done++;
        else
            memcpy(place + 2 * i * PAGE, from, PAGE);
    }
    EXPECT(done == PAGES_SEAMS_MAX / 2, "%zu", done);
    for (size_t i = 0; i < count; i += 17)
        EXPECT(is_filled(place + 2 * i * PAGE, PAGE, (char)(1 + i % 100)) &&
                   is_filled(place + (2 * i + 1) * PAGE, PAGE, 0),
               "%zu", i);
    memset(from, 9, PAGE);
    EXPECT(pages_exchange(&pages, place, from, PAGE) && is_filled(place, PAGE, 9),
           "where there is a seam already");
    (void)munmap(place, bytes);
    pages_forget(&pages, place, bytes);
    place = map(BLOCK, 1);
    EXPECT(pages_exchange(&pages, place, from, PAGE), "they do not go");
    pages_forget(&pages, place, BLOCK);
    (void)munmap(place, BLOCK);
    (void)munmap(from, PAGE);
}

static const struct soma_test tests[] = {
    {"exchange", test_exchange},
    {"refused by the system", test_refused},
    {"many", test_many},
    {NULL, NULL},
};
const struct soma_suite suite_pages = {"pages", tests};
