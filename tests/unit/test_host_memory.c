/* The host's memory for engines: where large requests lie, and what cannot be had. */
#include "expect.h"
#include "host_memory.h"
#include "suites.h"

#include <string.h>

static void test_sizes(void)
{
    static const struct {
        size_t bytes;
        bool is_large;
    } rows[] = {{1, false},
                {HOST_LARGE_BYTES - 1, false},
                {HOST_LARGE_BYTES, true},
                {HOST_LARGE_BYTES + 1, true},
                {3 * (size_t)HOST_LARGE_BYTES, true}};
    struct engine_mem mem = host_memory_table();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char *ptr = mem.alloc(mem.ctx, rows[i].bytes);
        if (!EXPECT(ptr != NULL, "%zu bytes", rows[i].bytes))
            return;
        memset(ptr, 1, rows[i].bytes);
        EXPECT(!rows[i].is_large || (uintptr_t)ptr % HOST_LARGE_BYTES == 0, "%zu bytes at %p",
               rows[i].bytes, (void *)ptr);
        mem.release(mem.ctx, ptr);
    }
    mem.release(mem.ctx, NULL);
}

static void test_too_much(void)
{
    struct engine_mem mem = host_memory_table();
    EXPECT(mem.alloc(mem.ctx, SIZE_MAX) == NULL, "all bytes");
    EXPECT(mem.alloc(mem.ctx, SIZE_MAX - HOST_LARGE_BYTES + 1) == NULL, "and the fewest too many");
}

static const struct soma_test tests[] = {
    {"small and large", test_sizes},
    {"more than there is", test_too_much},
    {NULL, NULL},
};

const struct soma_suite suite_host_memory = {"host_memory", tests};
