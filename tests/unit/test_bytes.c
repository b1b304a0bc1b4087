/* Contents of device memory: zero when fresh, sparse, given back, and never somebody else's. */
#include "bytes.h"
#include "expect.h"
#include "random.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)

struct fixture {
    struct bytes *bytes;
    struct engine_bytes table;
    struct soma_error error;
};

static void set_up(struct fixture *f)
{
    f->bytes = bytes_create(NULL);
    CU_ASSERT_FATAL(f->bytes != NULL);
    f->table = bytes_table(f->bytes);
}

static void reserve(struct fixture *f, uint64_t address, uint64_t size)
{
    EXPECT(f->table.reserve(f->table.ctx, address, size, &f->error) == SOMA_OK, "reserve");
}

static bool is_filled(struct fixture *f, uint64_t address, uint64_t size, unsigned char value)
{
    unsigned char *buf = malloc(size);
    CU_ASSERT_FATAL(buf != NULL);
    memset(buf, (unsigned char)~value, size);
    bool good = f->table.read(f->table.ctx, address, buf, size, &f->error) == SOMA_OK;
    for (uint64_t i = 0; good && i < size; i++)
        good = buf[i] == value;
    free(buf);
    return good;
}

static void fill(struct fixture *f, uint64_t address, uint64_t size, uint8_t value)
{
    EXPECT(f->table.set(f->table.ctx, address, value, size, &f->error) == SOMA_OK, "set: %s",
           f->error.message);
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fscanf(file, "%*u %llu", &pages) == 1);
    (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_fresh_is_zero(void)
{
    struct fixture f;
    set_up(&f);
    reserve(&f, 0x1000000, 64 * MIB);
    EXPECT(is_filled(&f, 0x1000000, 4096, 0), "fresh memory");
    EXPECT(bytes_mapped(f.bytes) == 0, "reading costs nothing");
    fill(&f, 0x1000000, 64 * MIB, 0);
    EXPECT(bytes_mapped(f.bytes) == 0, "neither does clearing what is zero");
    fill(&f, 0x1000000 + 100, 10, 7);
    EXPECT(bytes_mapped(f.bytes) > 0, "writing does");
    EXPECT(is_filled(&f, 0x1000000 + 100, 10, 7) && is_filled(&f, 0x1000000, 100, 0) &&
               is_filled(&f, 0x1000000 + 110, 1000, 0),
           "around what was written");
    bytes_destroy(f.bytes);
}

static void test_write_copy(void)
{
    struct fixture f;
    unsigned char text[] = "0123456789", buf[11] = {0};
    set_up(&f);
    reserve(&f, 2 * MIB, 2 * MIB);
    reserve(&f, 8 * MIB, 2 * MIB);
    CU_ASSERT(f.table.write(f.table.ctx, 2 * MIB, text, 10, &f.error) == SOMA_OK);
    CU_ASSERT(f.table.copy(f.table.ctx, 2 * MIB + 2, 2 * MIB, 8, &f.error) == SOMA_OK);
    CU_ASSERT(f.table.read(f.table.ctx, 2 * MIB, buf, 10, &f.error) == SOMA_OK);
    EXPECT(memcmp(buf, "0101234567", 10) == 0, "overlap: %s", (char *)buf);
    CU_ASSERT(f.table.copy(f.table.ctx, 8 * MIB, 2 * MIB, 10, &f.error) == SOMA_OK);
    CU_ASSERT(f.table.read(f.table.ctx, 8 * MIB, buf, 10, &f.error) == SOMA_OK);
    EXPECT(memcmp(buf, "0101234567", 10) == 0, "copy: %s", (char *)buf);
    reserve(&f, 16 * MIB, MIB);
    CU_ASSERT(f.table.copy(f.table.ctx, 8 * MIB, 16 * MIB, 10, &f.error) == SOMA_OK);
    EXPECT(is_filled(&f, 8 * MIB, 10, 0), "a copy of untouched memory is zero");
    bytes_destroy(f.bytes);
}

static void test_unmap_release(void)
{
    struct fixture f;
    set_up(&f);
    reserve(&f, 64 * MIB, 16 * MIB);
    fill(&f, 64 * MIB, 16 * MIB, 9);
    f.table.unmap(f.table.ctx, 66 * MIB, 2 * MIB);
    EXPECT(is_filled(&f, 66 * MIB, 2 * MIB, 0), "unmapped");
    EXPECT(is_filled(&f, 64 * MIB, 2 * MIB, 9) && is_filled(&f, 68 * MIB, 12 * MIB, 9), "the rest");
    f.table.unmap(f.table.ctx, 64 * MIB, 16 * MIB);
    EXPECT(is_filled(&f, 64 * MIB, 16 * MIB, 0) && bytes_mapped(f.bytes) == 0, "all unmapped");
    fill(&f, 64 * MIB, 4096, 1);
    f.table.release(f.table.ctx, 64 * MIB, 16 * MIB);
    EXPECT(bytes_mapped(f.bytes) == 0, "released");
    unsigned char byte;
    EXPECT(f.table.read(f.table.ctx, 64 * MIB, &byte, 1, &f.error) == SOMA_INVALID_ADDRESS,
           "a released range is gone");
    reserve(&f, 64 * MIB, 16 * MIB);
    EXPECT(is_filled(&f, 64 * MIB, 4096, 0), "and fresh when its addresses come back");
    bytes_destroy(f.bytes);
}

static void test_unknown_ranges(void)
{
    struct fixture f;
    unsigned char byte = 0;
    void *host;
    set_up(&f);
    reserve(&f, MIB, 4096);
    static const struct {
        uint64_t address, size;
    } rows[] = {{0, 1},          {MIB - 1, 1}, {MIB - 1, 2},      {MIB + 4096, 1},
                {MIB + 4095, 2}, {MIB, 4097},  {MIB, UINT64_MAX}, {MIB + 1, UINT64_MAX - MIB},
                {UINT64_MAX, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT(bytes_host(f.bytes, rows[i].address, rows[i].size, &host, &f.error) ==
                   SOMA_INVALID_ADDRESS,
               "row %zu", i);
        EXPECT(f.table.copy(f.table.ctx, MIB, rows[i].address, rows[i].size, &f.error) ==
                   SOMA_INVALID_ADDRESS,
               "row %zu", i);
    }
    f.table.release(f.table.ctx, 5 * MIB, 1);
    f.table.unmap(f.table.ctx, 5 * MIB, 1);
    CU_ASSERT(f.table.read(f.table.ctx, MIB, &byte, 1, &f.error) == SOMA_OK);
    bytes_destroy(f.bytes);
}

/* Far more touched ranges than the system allows mappings. */
static void test_many_small_ranges(void)
{
    enum { COUNT = 150000 };
    struct fixture f;
    set_up(&f);
    for (uint64_t i = 0; i < COUNT; i++) {
        reserve(&f, i * 4096, 32);
        if (f.table.set(f.table.ctx, i * 4096, (uint8_t)(i % 251 + 1), 32, &f.error) != SOMA_OK) {
            EXPECT(false, "range %u: %s", (unsigned)i, f.error.message);
            break;
        }
    }
    /* Every other one goes, and its addresses are used again. */
    for (uint64_t i = 0; i < COUNT; i += 2)
        f.table.release(f.table.ctx, i * 4096, 32);
    for (uint64_t i = 0; i < COUNT; i += 997) {
        if (i % 2 == 0)
            reserve(&f, i * 4096, 32);
        EXPECT(is_filled(&f, i * 4096, 32, (uint8_t)(i % 2 == 0 ? 0 : i % 251 + 1)), "range %u",
               (unsigned)i);
    }
    bytes_destroy(f.bytes);
}

/* Shared mappings: neighbours at the end of one, and kernels that see a range in one piece. */
static void test_range_over_a_window(void)
{
    struct fixture f;
    void *host = NULL;
    uint64_t address = 64 * MIB - 4096;
    set_up(&f);
    reserve(&f, address, MIB);
    reserve(&f, address + MIB, 4096);
    fill(&f, address + MIB, 4096, 3);
    CU_ASSERT_FATAL(bytes_host(f.bytes, address, MIB, &host, &f.error) == SOMA_OK);
    memset(host, 5, MIB);
    EXPECT(is_filled(&f, address, MIB, 5) && is_filled(&f, address + MIB, 4096, 3), "contents");
    f.table.release(f.table.ctx, address, MIB);
    EXPECT(is_filled(&f, address + MIB, 4096, 3), "the neighbour keeps its own");
    bytes_destroy(f.bytes);
}

static void test_no_address_space(void)
{
    struct fixture f;
    unsigned char byte = 1;
    set_up(&f);
    reserve(&f, MIB, UINT64_C(1) << 60);
    EXPECT(f.table.write(f.table.ctx, MIB, &byte, 1, &f.error) == SOMA_HOST_MEMORY_EXHAUSTED,
           "2^60 bytes were mapped");
    EXPECT(strstr(f.error.message, "free memory") != NULL, "no remedy: %s", f.error.message);
    EXPECT(is_filled(&f, MIB, 16, 0) && bytes_mapped(f.bytes) == 0, "nothing changed");
    bytes_destroy(f.bytes);
}

static void test_resident_memory(void)
{
    struct fixture f;
    set_up(&f);
    reserve(&f, UINT64_C(1) << 40, UINT64_C(64) << 30);
    uint64_t before = resident_bytes();
    fill(&f, UINT64_C(1) << 40, 256 * MIB, 1);
    EXPECT(resident_bytes() >= before + 200 * MIB, "256 MiB written, but not resident");
    f.table.unmap(f.table.ctx, UINT64_C(1) << 40, 254 * MIB);
    EXPECT(resident_bytes() <= before + 32 * MIB, "%llu KiB stay resident",
           (unsigned long long)(resident_bytes() - before) / 1024);
    bytes_destroy(f.bytes);
}

/* Contents in pages of their own, put to their place by exchange; whether that was possible. */
static bool exchange(struct fixture *f, uint64_t address, const void *from, uint64_t size)
{
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(pages != MAP_FAILED);
    memcpy(pages, from, size);
    bool is_done = f->table.exchange(f->table.ctx, address, pages, size);
    EXPECT(is_done || memcmp(pages, from, size) == 0, "what was not exchanged is gone");
    (void)munmap(pages, size);
    return is_done;
}

static void test_exchange(void)
{
    static const struct {
        uint64_t address, size;
        bool is_done;
    } rows[] = {
        {64 * MIB, 2 * MIB, true},
        {64 * MIB, 2 * MIB, true},
        {66 * MIB + 4096, 2 * MIB + 4095, true}, /* the rest of a page */
        {78 * MIB, 2 * MIB, true},               /* up to the end */
        {64 * MIB + 512, 2 * MIB, false},
        {78 * MIB + 4096, 2 * MIB, false},
        {128 * MIB, 2 * MIB, true}, /* a range that has a mapping of its own */
        {SOMA_PHYSICAL_BASE, 2 * MIB, false},
    };
    struct fixture f;
    char *bytes = malloc(3 * MIB);
    CU_ASSERT_FATAL(bytes != NULL);
    set_up(&f);
    reserve(&f, 64 * MIB, 16 * MIB);
    reserve(&f, 128 * MIB, 128 * MIB);
    reserve(&f, SOMA_PHYSICAL_BASE, 2 * MIB);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t address = rows[i].address, size = rows[i].size;
        fill(&f, address & ~(MIB - 1), 4096, 100);
        memset(bytes, (int)i + 1, size);
        EXPECT(exchange(&f, address, bytes, size) == rows[i].is_done, "row %zu", i);
        EXPECT(!rows[i].is_done || is_filled(&f, address, size, (unsigned char)(i + 1)), "row %zu",
               i);
    }
    EXPECT(is_filled(&f, 66 * MIB, 4096, 100) && is_filled(&f, 68 * MIB + 4096 + 4095, 4097, 0),
           "its neighbours");
    f.table.unmap(f.table.ctx, 64 * MIB, 2 * MIB);
    EXPECT(is_filled(&f, 64 * MIB, 2 * MIB, 0), "unmapped");
    f.table.release(f.table.ctx, 64 * MIB, 16 * MIB);
    f.table.release(f.table.ctx, 128 * MIB, 128 * MIB);
    bytes_destroy(f.bytes);
    free(bytes);
}

/* A reader gets what was there before, wherever the pages are now. */
static void test_exchange_under_a_snapshot(void)
{
    struct fixture f;
    char *bytes = malloc(4 * MIB);
    struct snapshot *snapshot = snapshot_create(4 * MIB);
    CU_ASSERT_FATAL(bytes != NULL && snapshot != NULL);
    set_up(&f);
    reserve(&f, 64 * MIB, 16 * MIB);
    fill(&f, 64 * MIB, 4 * MIB, 1);
    bytes_attach(f.bytes, snapshot, 64 * MIB);
    memset(bytes, 2, 4 * MIB);
    EXPECT(exchange(&f, 65 * MIB, bytes, 2 * MIB), "refused");
    EXPECT(is_filled(&f, 65 * MIB, 2 * MIB, 2), "contents");
    EXPECT(snapshot_read(snapshot, 0, bytes, 4 * MIB) && bytes[0] == 1 &&
               memcmp(bytes, bytes + 1, 4 * MIB - 1) == 0,
           "other bytes");
    snapshot_release(snapshot);
    bytes_destroy(f.bytes);
    free(bytes);
}

/* A plain array and the real thing, step by step. */
static void test_against_an_array(void)
{
    enum { SIZE = 6 * 1024 * 1024 };
    struct fixture f;
    struct random_source random = {99};
    unsigned char *model = calloc(1, SIZE), *buf = malloc(SIZE);
    uint64_t base = 62 * MIB;
    CU_ASSERT_FATAL(model != NULL && buf != NULL);
    set_up(&f);
    reserve(&f, base, SIZE);
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t at = random_below(&random, SIZE), to = random_below(&random, SIZE);
        uint64_t last = at > to ? at : to;
        uint64_t size = 1 + random_below(&random, SIZE - last < 100000 ? SIZE - last : 100000);
        uint8_t value = (uint8_t)random_below(&random, 4);
        switch (random_below(&random, 5)) {
        case 4:
            at = at / 4096 * 4096;
            memset(buf, value + 10, size);
            memcpy(model + at, buf, size);
            if (size >= 4096)
                EXPECT(exchange(&f, base + at, buf, size), "step %u", i);
            else
                CU_ASSERT(f.table.write(f.table.ctx, base + at, buf, size, &f.error) == SOMA_OK);
            break;
        case 0:
            fill(&f, base + at, size, value);
            memset(model + at, value, size);
            break;
        case 1:
            CU_ASSERT(f.table.copy(f.table.ctx, base + to, base + at, size, &f.error) == SOMA_OK);
            memmove(model + to, model + at, size);
            break;
        case 2:
            f.table.unmap(f.table.ctx, base + at, size);
            memset(model + at, 0, size);
            break;
        default:
            CU_ASSERT(f.table.read(f.table.ctx, base + at, buf, size, &f.error) == SOMA_OK);
            EXPECT(memcmp(buf, model + at, size) == 0, "step %u", i);
            break;
        }
    }
    free(model);
    free(buf);
    bytes_destroy(f.bytes);
}

static const struct soma_test tests[] = {
    {"fresh is zero", test_fresh_is_zero},
    {"write and copy", test_write_copy},
    {"unmap and release", test_unmap_release},
    {"unknown ranges", test_unknown_ranges},
    {"many small ranges", test_many_small_ranges},
    {"a range over a window's end", test_range_over_a_window},
    {"no address space", test_no_address_space},
    {"resident memory", test_resident_memory},
    {"exchange", test_exchange},
    {"exchange under a snapshot", test_exchange_under_a_snapshot},
    {"against an array", test_against_an_array},
    {NULL, NULL},
};
const struct soma_suite suite_bytes = {"bytes", tests};
