/* The built-in kernels, launched through the engine: results, both forms of arguments, and what is
 * refused without a trace. */
#include "expect.h"
#include "half.h"
#include "kernel_fixture.h"
#include "suites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct soma_kernel_arg ptr_arg(uint64_t address)
{
    return (struct soma_kernel_arg){.kind = SOMA_ARG_PTR, .bits = address};
}

static struct soma_kernel_arg u32_arg(uint32_t value)
{
    return (struct soma_kernel_arg){.kind = SOMA_ARG_U32, .bits = value};
}

static struct soma_kernel_arg u64_arg(uint64_t value)
{
    return (struct soma_kernel_arg){.kind = SOMA_ARG_U64, .bits = value};
}

static struct soma_kernel_arg f32_arg(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (struct soma_kernel_arg){.kind = SOMA_ARG_F32, .bits = bits};
}

static struct soma_kernel_arg block_arg(const void *block, size_t size)
{
    return (struct soma_kernel_arg){.kind = SOMA_ARG_BYTES, .bytes = {block, size}};
}

/* ---- add_custom ---- */

static void test_add_f16(void)
{
    enum { COUNT = 1000 };
    struct kernel_fixture f;
    uint16_t x[COUNT], y[COUNT], z[COUNT + 1];
    kernel_fixture_start(&f, NULL);
    uint64_t at[3] = {kernel_fixture_allocate(&f, sizeof(x)),
                      kernel_fixture_allocate(&f, sizeof(x) + 64),
                      kernel_fixture_allocate(&f, sizeof(x) + 2)};
    for (unsigned i = 0; i < COUNT; i++) {
        x[i] = half_from_float((float)i * 0.25f);
        y[i] = half_from_float((float)i);
    }
    kernel_fixture_put(&f, at[0], x, sizeof(x));
    kernel_fixture_put(&f, at[1], y, sizeof(y));
    const struct soma_kernel_arg args[] = {ptr_arg(at[0]), ptr_arg(at[1]), ptr_arg(at[2])};
    static const uint64_t block_dims[] = {1, 8, 65535};
    for (size_t b = 0; b < 3; b++) {
        memset(z, 0xff, sizeof(z));
        kernel_fixture_put(&f, at[2], z, sizeof(z));
        EXPECT(kernel_fixture_launch(&f, "add_custom", block_dims[b], args, 3) == SOMA_OK, "%s",
               f.error.message);
        kernel_fixture_get(&f, at[2], z, sizeof(z));
        for (unsigned i = 0; i < COUNT; i++)
            EXPECT(z[i] == half_from_float((float)i * 1.25f), "element %u", i);
        EXPECT(z[COUNT] == 0xffff, "the smallest block tells how many");
        EXPECT(f.launched.end_ns > f.launched.start_ns + 10000, "time");
    }
    /* The same as a C program hands it over. */
    struct {
        uint64_t x, y, z;
    } block = {at[0], at[1], at[2]};
    const struct soma_kernel_arg raw = block_arg(&block, sizeof(block));
    memset(z, 0, sizeof(z));
    kernel_fixture_put(&f, at[2], z, sizeof(z));
    EXPECT(kernel_fixture_launch(&f, "add_custom", 1, &raw, 1) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, at[2], z, sizeof(z));
    EXPECT(z[999] == half_from_float(1248.75f), "raw block");
    kernel_fixture_stop(&f);
}

static void test_add_types(void)
{
    struct kernel_fixture f;
    float x[4] = {1.5f, -2, 3, 1e30f}, y[4] = {1, 2, 0.25f, 1e30f}, z[4];
    uint32_t i[4] = {1, UINT32_MAX, 0x7fffffff, 0}, j[4] = {2, 1, 1, 0}, k[4];
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, 16), b = kernel_fixture_allocate(&f, 16);
    kernel_fixture_put(&f, a, x, 16);
    kernel_fixture_put(&f, b, y, 16);
    struct {
        uint64_t x, y, z;
        uint32_t count, type;
    } block = {a, b, a, 4, 0};
    const struct soma_kernel_arg raw = block_arg(&block, sizeof(block));
    EXPECT(kernel_fixture_launch(&f, "add_custom", 2, &raw, 1) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, a, z, 16);
    for (unsigned n = 0; n < 4; n++)
        EXPECT(z[n] == x[n] + y[n], "f32 %u", n);
    kernel_fixture_put(&f, a, i, 16);
    kernel_fixture_put(&f, b, j, 16);
    const struct soma_kernel_arg args[] = {ptr_arg(a), ptr_arg(b), ptr_arg(b), u32_arg(4),
                                           u32_arg(3)};
    EXPECT(kernel_fixture_launch(&f, "add_custom", 1, args, 5) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, b, k, 16);
    EXPECT(k[0] == 3 && k[1] == 0 && k[2] == 0x80000000u && k[3] == 0, "i32 wraps");
    const struct soma_kernel_arg unknown[] = {ptr_arg(a), ptr_arg(b), ptr_arg(b), u32_arg(4),
                                              u32_arg(2)};
    EXPECT(kernel_fixture_launch(&f, "add_custom", 1, unknown, 5) == SOMA_KERNEL_ARGUMENTS &&
               strstr(f.error.message, "aclDataType") != NULL,
           "type 2: %s", f.error.message);
    kernel_fixture_stop(&f);
}

/* Five pointers: the length and the number of tiles lie in device memory. */
static void test_add_tiling(void)
{
    enum { COUNT = 100 };
    struct kernel_fixture f;
    uint16_t x[COUNT], z[COUNT];
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, sizeof(x)), b = kernel_fixture_allocate(&f, sizeof(z));
    uint64_t length_at = kernel_fixture_allocate(&f, 4), tiles_at = kernel_fixture_allocate(&f, 4);
    for (unsigned i = 0; i < COUNT; i++)
        x[i] = half_from_float((float)i);
    kernel_fixture_put(&f, a, x, sizeof(x));
    struct {
        uint64_t x, y, z, length, tiles;
    } block = {a, a, b, length_at, tiles_at};
    const struct soma_kernel_arg raw = block_arg(&block, sizeof(block));
    const struct soma_kernel_arg list[] = {ptr_arg(a), ptr_arg(a), ptr_arg(b), ptr_arg(length_at),
                                           ptr_arg(tiles_at)};
    static const struct {
        int32_t length, tiles;
        enum soma_status status;
        unsigned added;
        const char *what;
    } rows[] = {
        {COUNT, 8, SOMA_OK, COUNT, "all"},
        {COUNT / 2, 1, SOMA_OK, COUNT / 2, "a part"},
        {COUNT, 0, SOMA_OK, 0, "no tiles, no work"},
        {-1, 8, SOMA_KERNEL_FAULT, 0, "a negative length"},
        {COUNT, -8, SOMA_KERNEL_FAULT, 0, "a negative number of tiles"},
        {COUNT * 2, 8, SOMA_KERNEL_FAULT, 0, "more than there is"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(z, 0, sizeof(z));
        kernel_fixture_put(&f, b, z, sizeof(z));
        kernel_fixture_put(&f, length_at, &rows[i].length, 4);
        kernel_fixture_put(&f, tiles_at, &rows[i].tiles, 4);
        enum soma_status status = kernel_fixture_launch(
            &f, "add_custom", 8, i % 2 == 0 ? &raw : list, i % 2 == 0 ? 1 : 5);
        EXPECT(status == rows[i].status, "%s: %s", rows[i].what, f.error.message);
        kernel_fixture_get(&f, b, z, sizeof(z));
        for (unsigned n = 1; n < COUNT; n++)
            EXPECT(z[n] == (n < rows[i].added ? half_from_float((float)(2 * n)) : 0), "%s: %u",
                   rows[i].what, n);
    }
    block.tiles = 0x4242;
    EXPECT(kernel_fixture_launch(&f, "add_custom", 8, &raw, 1) == SOMA_KERNEL_FAULT &&
               strstr(f.error.message, "tilingNum=0x4242") != NULL,
           "%s", f.error.message);
    kernel_fixture_stop(&f);
}

static void test_trap(void)
{
    struct kernel_fixture f;
    const struct soma_kernel_arg code = u32_arg(77);
    kernel_fixture_start(&f, NULL);
    EXPECT(kernel_fixture_launch(&f, "trap", 1, NULL, 0) == SOMA_KERNEL_FAULT, "without a code");
    EXPECT(kernel_fixture_launch(&f, "trap", 1, &code, 1) == SOMA_KERNEL_FAULT &&
               strstr(f.error.message, "trap(code=77)") != NULL,
           "%s", f.error.message);
    kernel_fixture_stop(&f);
}

/* ---- the others ---- */

static void test_fill_and_copy(void)
{
    struct kernel_fixture f;
    uint32_t words[4] = {0}, wanted[4] = {7, 7, 7, 0};
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, 16), b = kernel_fixture_allocate(&f, 16);
    const struct soma_kernel_arg fill[] = {ptr_arg(a), u64_arg(3), u32_arg(7)};
    EXPECT(kernel_fixture_launch(&f, "fill", 1, fill, 3) == SOMA_OK, "%s", f.error.message);
    const struct soma_kernel_arg copy[] = {ptr_arg(b), ptr_arg(a), u64_arg(16)};
    EXPECT(kernel_fixture_launch(&f, "copy", 1, copy, 3) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, b, words, 16);
    EXPECT(memcmp(words, wanted, 16) == 0, "fill and copy");
    /* 20 bytes, and 24 with the struct's tail. */
    struct {
        uint64_t dst, count;
        uint32_t value;
    } block = {a, 4, 9};
    const struct soma_kernel_arg short_block = block_arg(&block, 20);
    const struct soma_kernel_arg long_block = block_arg(&block, sizeof(block));
    EXPECT(kernel_fixture_launch(&f, "fill", 1, &short_block, 1) == SOMA_OK, "%s", f.error.message);
    EXPECT(kernel_fixture_launch(&f, "fill", 1, &long_block, 1) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, a, words, 16);
    EXPECT(words[0] == 9 && words[3] == 9, "raw fill");
    const struct soma_kernel_arg none[] = {ptr_arg(1), ptr_arg(2), u64_arg(0)};
    EXPECT(kernel_fixture_launch(&f, "copy", 1, none, 3) == SOMA_OK, "nothing is touched: %s",
           f.error.message);
    kernel_fixture_stop(&f);
}

static void test_saxpy_and_sum(void)
{
    struct kernel_fixture f;
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, sum;
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, 12), b = kernel_fixture_allocate(&f, 12),
             c = kernel_fixture_allocate(&f, 4);
    kernel_fixture_put(&f, a, x, 12);
    kernel_fixture_put(&f, b, y, 12);
    struct {
        uint64_t y, x;
        float a;
        uint32_t n;
    } block = {b, a, 0.5f, 3};
    const struct soma_kernel_arg raw = block_arg(&block, sizeof(block));
    EXPECT(kernel_fixture_launch(&f, "saxpy", 4, &raw, 1) == SOMA_OK, "%s", f.error.message);
    const struct soma_kernel_arg args[] = {ptr_arg(b), ptr_arg(a), f32_arg(0.5f), u32_arg(3)};
    EXPECT(kernel_fixture_launch(&f, "saxpy", 1, args, 4) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, b, y, 12);
    EXPECT(y[0] == 11 && y[1] == 22 && y[2] == 33, "saxpy twice");
    const struct soma_kernel_arg reduce[] = {ptr_arg(c), ptr_arg(b), u64_arg(3)};
    EXPECT(kernel_fixture_launch(&f, "reduce_sum", 1, reduce, 3) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, c, &sum, 4);
    EXPECT(sum == 66, "sum %g", (double)sum);
    kernel_fixture_stop(&f);
}

static void test_matmul(void)
{
    struct kernel_fixture f;
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12}, c[4];
    kernel_fixture_start(&f, NULL);
    uint64_t at[3] = {kernel_fixture_allocate(&f, sizeof(c)),
                      kernel_fixture_allocate(&f, sizeof(a)),
                      kernel_fixture_allocate(&f, sizeof(b))};
    kernel_fixture_put(&f, at[1], a, sizeof(a));
    kernel_fixture_put(&f, at[2], b, sizeof(b));
    const struct soma_kernel_arg args[] = {ptr_arg(at[0]), ptr_arg(at[1]), ptr_arg(at[2]),
                                           u32_arg(2),     u32_arg(3),     u32_arg(2)};
    EXPECT(kernel_fixture_launch(&f, "matmul", 3, args, 6) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, at[0], c, sizeof(c));
    EXPECT(c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154, "%g %g %g %g", (double)c[0],
           (double)c[1], (double)c[2], (double)c[3]);
    const struct soma_kernel_arg overlap[] = {ptr_arg(at[1]), ptr_arg(at[1]), ptr_arg(at[2]),
                                              u32_arg(1),     u32_arg(1),     u32_arg(1)};
    EXPECT(kernel_fixture_launch(&f, "matmul", 1, overlap, 6) == SOMA_KERNEL_ARGUMENTS, "overlap");
    kernel_fixture_stop(&f);
}

/* ---- what is refused ---- */

static void test_wrong_arguments(void)
{
    struct kernel_fixture f;
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, 64);
    unsigned char block[40] = {0};
    const struct {
        const char *kernel;
        struct soma_kernel_arg args[4];
        size_t count;
        enum soma_status status;
        const char *names;
    } rows[] = {
        {"nope", {ptr_arg(a)}, 1, SOMA_NO_SUCH_KERNEL, "nope"},
        {"add_custo", {ptr_arg(a)}, 1, SOMA_NO_SUCH_KERNEL, "add_custo"},
        {"fill", {ptr_arg(a)}, 1, SOMA_KERNEL_ARGUMENTS, "ptr dst, u64 count, u32 value"},
        {"fill",
         {ptr_arg(a), u64_arg(1), u32_arg(1), u32_arg(1)},
         4,
         SOMA_KERNEL_ARGUMENTS,
         "4 arguments"},
        {"fill", {ptr_arg(a), u32_arg(1), u32_arg(1)}, 3, SOMA_KERNEL_ARGUMENTS, "(count)"},
        {"fill", {u64_arg(a), u64_arg(1), u32_arg(1)}, 3, SOMA_KERNEL_ARGUMENTS, "(dst)"},
        {"fill", {block_arg(block, 19)}, 1, SOMA_KERNEL_ARGUMENTS, "19 bytes"},
        {"fill", {block_arg(block, 40)}, 1, SOMA_KERNEL_ARGUMENTS, "24 bytes"},
        {"add_custom", {block_arg(block, 28)}, 1, SOMA_KERNEL_ARGUMENTS, "24 or 32 bytes"},
        {"add_custom", {block_arg(block, 39)}, 1, SOMA_KERNEL_ARGUMENTS, "40 bytes"},
        {"add_custom",
         {ptr_arg(a), ptr_arg(a), ptr_arg(a), u32_arg(1)},
         4,
         SOMA_KERNEL_ARGUMENTS,
         "4 arguments"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum soma_status status =
            kernel_fixture_launch(&f, rows[i].kernel, 1, rows[i].args, rows[i].count);
        EXPECT(status == rows[i].status, "row %zu: %d", i, (int)status);
        EXPECT(strstr(f.error.message, rows[i].names) != NULL, "row %zu: %s", i, f.error.message);
    }
    kernel_fixture_stop(&f);
}

static void test_faults(void)
{
    struct kernel_fixture f;
    uint32_t before[16], after[16];
    kernel_fixture_start(&f, NULL);
    uint64_t a = kernel_fixture_allocate(&f, 64), b = kernel_fixture_allocate(&f, 64);
    memset(before, 0x5a, sizeof(before));
    kernel_fixture_put(&f, a, before, 64);
    const struct {
        uint64_t dst, count;
    } rows[] = {{a, 17}, {a + 4, 16}, {a, UINT64_MAX}, {a, UINT64_MAX / 4 + 2}, {0, 1}, {1, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct soma_kernel_arg args[] = {ptr_arg(rows[i].dst), u64_arg(rows[i].count),
                                               u32_arg(1)};
        char address[32];
        (void)snprintf(address, sizeof(address), "0x%" PRIx64, rows[i].dst);
        EXPECT(kernel_fixture_launch(&f, "fill", 1, args, 3) == SOMA_KERNEL_FAULT, "row %zu", i);
        EXPECT(strstr(f.error.message, address) != NULL, "row %zu: %s", i, f.error.message);
    }
    /* The last range is the bad one: the others are untouched all the same. */
    const struct soma_kernel_arg add[] = {ptr_arg(b), ptr_arg(b), ptr_arg(a + 32), u32_arg(16),
                                          u32_arg(0)};
    EXPECT(kernel_fixture_launch(&f, "add_custom", 1, add, 5) == SOMA_KERNEL_FAULT,
           "z leaves its block");
    kernel_fixture_get(&f, a, after, 64);
    EXPECT(memcmp(before, after, 64) == 0, "a fault left something behind");
    kernel_fixture_stop(&f);
}

static void test_list(void)
{
    static const char *const names[] = {"add_custom", "add_custom", "fill",   "copy",
                                        "saxpy",      "reduce_sum", "matmul", "trap"};
    struct soma_kernel_list list;
    struct kernels *kernels = kernels_create();
    CU_ASSERT_FATAL(kernels != NULL);
    kernels_list(kernels, &list);
    EXPECT(list.kernels.count == 8, "%zu kernels", list.kernels.count);
    for (size_t i = 0; i < list.kernels.count && i < 8; i++) {
        const struct soma_kernel *kernel = &list.kernels.items[i];
        bool is_trap = same_words(kernel->name, "trap");
        EXPECT(same_words(kernel->name, names[i]), "%s", kernel->name);
        EXPECT(kernel->parameters.count >= (is_trap ? 1 : 3), "%s", kernel->name);
        EXPECT(kernel->parameters.items[0].required == !is_trap, "%s", kernel->name);
        EXPECT(same_words(kernel->parameters.items[0].type, is_trap ? "u32" : "ptr"), "%s",
               kernel->name);
        EXPECT(kernel->help[0] != '\0' && kernel->cost[0] != '\0', "%s", kernel->name);
    }
    kernels_destroy(kernels);
}

static const struct soma_test tests[] = {
    {"add_custom f16", test_add_f16},
    {"add_custom types", test_add_types},
    {"add_custom with its tiling in memory", test_add_tiling},
    {"trap", test_trap},
    {"fill and copy", test_fill_and_copy},
    {"saxpy and reduce_sum", test_saxpy_and_sum},
    {"matmul", test_matmul},
    {"wrong arguments", test_wrong_arguments},
    {"faults", test_faults},
    {"list", test_list},
    {NULL, NULL},
};
const struct soma_suite suite_kernels = {"kernels", tests};
