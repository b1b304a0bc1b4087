/* Snapshots: what was there when they were attached is read, whatever is done to it meanwhile. */
#include "bytes.h"
#include "expect.h"
#include "fault.h"
#include "random.h"
#include "suites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)
#define BASE (62 * MIB) /* so that the range leaves a shared window */
#define SIZE (5 * MIB + 4321)

struct fixture {
    struct bytes *bytes;
    struct engine_bytes table;
    struct soma_error error;
    unsigned char *before; /* contents of the range */
};

static void set_up(struct fixture *f, uint64_t base, uint64_t size)
{
    struct random_source random = {7};
    f->bytes = bytes_create(NULL);
    f->before = malloc(size);
    CU_ASSERT_FATAL(f->bytes != NULL && f->before != NULL);
    f->table = bytes_table(f->bytes);
    for (uint64_t i = 0; i < size; i++)
        f->before[i] = (unsigned char)random_next(&random);
    CU_ASSERT_FATAL(f->table.reserve(f->table.ctx, base, size, &f->error) == SOMA_OK);
    CU_ASSERT_FATAL(f->table.write(f->table.ctx, base, f->before, size, &f->error) == SOMA_OK);
}

static void tear_down(struct fixture *f)
{
    bytes_destroy(f->bytes);
    free(f->before);
}

static struct snapshot *attach(struct fixture *f, uint64_t address, uint64_t size)
{
    struct snapshot *snapshot = snapshot_create(size);
    CU_ASSERT_FATAL(snapshot != NULL && snapshot_size(snapshot) == size);
    bytes_attach(f->bytes, snapshot, address);
    return snapshot;
}

/* Read [at, end) in pieces of odd lengths. */
static bool shows(struct snapshot *snapshot, uint64_t at, uint64_t end, const unsigned char *want)
{
    static _Thread_local unsigned char piece[300001];
    while (at < end) {
        size_t len = end - at < sizeof(piece) ? (size_t)(end - at) : sizeof(piece);
        if (!snapshot_read(snapshot, at, piece, len) || memcmp(piece, want + at, len) != 0)
            return false;
        at += len;
    }
    return true;
}

/* ---- what may happen to the bytes ---- */

static void do_nothing(struct fixture *f)
{
    (void)f;
}

static void do_set(struct fixture *f)
{
    CU_ASSERT(f->table.set(f->table.ctx, BASE, 0, SIZE, &f->error) == SOMA_OK);
}

static void do_write(struct fixture *f)
{
    static const char byte = 'x';
    for (uint64_t at = 0; at < SIZE; at += 700001)
        CU_ASSERT(f->table.write(f->table.ctx, BASE + at, &byte, 1, &f->error) == SOMA_OK);
}

static void do_take(struct fixture *f)
{
    char *from = calloc(1, SIZE);
    CU_ASSERT_FATAL(from != NULL);
    CU_ASSERT(f->table.take(f->table.ctx, BASE, from, SIZE, &f->error) == SOMA_OK);
    free(from);
}

static void do_copy(struct fixture *f)
{
    CU_ASSERT(f->table.copy(f->table.ctx, BASE + 1, BASE, SIZE - 1, &f->error) == SOMA_OK);
}

static void do_host(struct fixture *f)
{
    void *host;
    CU_ASSERT_FATAL(bytes_host(f->bytes, BASE + 5, 3 * MIB, &host, &f->error) == SOMA_OK);
    memset(host, 1, 3 * MIB);
}

static void do_unmap_part(struct fixture *f)
{
    f->table.unmap(f->table.ctx, BASE + MIB, 3 * MIB);
}

static void do_unmap(struct fixture *f)
{
    f->table.unmap(f->table.ctx, BASE, SIZE);
}

static void do_release(struct fixture *f)
{
    f->table.release(f->table.ctx, BASE, SIZE);
}

static void do_destroy(struct fixture *f)
{
    bytes_destroy(f->bytes);
    f->bytes = NULL;
}

static const struct {
    const char *what;
    void (*run)(struct fixture *f);
} changes[] = {
    {"nothing", do_nothing},
    {"set", do_set},
    {"write", do_write},
    {"take", do_take},
    {"copy", do_copy},
    {"a kernel", do_host},
    {"unmap part", do_unmap_part},
    {"unmap all", do_unmap},
    {"release", do_release},
    {"destroy", do_destroy},
};

/* The change comes before anything is read, in the middle of a part, and at the end. */
static void test_changes(void)
{
    static const uint64_t places[] = {0, MIB, 2 * MIB + 12345, SIZE};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
            struct fixture f;
            set_up(&f, BASE, SIZE);
            struct snapshot *snapshot = attach(&f, BASE, SIZE);
            EXPECT(shows(snapshot, 0, places[k], f.before), "before: %s", changes[i].what);
            changes[i].run(&f);
            EXPECT(shows(snapshot, places[k], SIZE, f.before), "%s at %d", changes[i].what,
                   (int)places[k]);
            if (f.bytes != NULL)
                changes[i].run(&f);
            snapshot_release(snapshot);
            tear_down(&f);
        }
    }
}

/* A change beside the snapshot, and one of what has been read, save nothing. */
static void test_saves_only_what_it_must(void)
{
    static const struct {
        const char *what;
        uint64_t passed, at, size;
        long allocations;
    } rows[] = {
        {"below", 0, 0, MIB, 0},
        {"above", 0, 4 * MIB, MIB, 0},
        {"its first byte", 0, MIB, 1, 1},
        {"its last byte", 0, 4 * MIB - 1, 1, 1},
        {"all of it", 0, 0, SIZE, 3},
        {"two bytes over two parts", 0, 2 * MIB - 1, 2, 2},
        {"what was read", MIB + 5, MIB, MIB, 0},
        {"behind what was read in the same part", MIB + 5, 2 * MIB, 100, 1},
        {"all of it, read", 3 * MIB, 0, SIZE, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        set_up(&f, BASE, SIZE);
        struct snapshot *snapshot = attach(&f, BASE + MIB, 3 * MIB);
        EXPECT(shows(snapshot, 0, rows[i].passed, f.before + MIB), "%s: before", rows[i].what);
        fault_begin(0);
        CU_ASSERT(f.table.set(f.table.ctx, BASE + rows[i].at, 0, rows[i].size, &f.error) ==
                  SOMA_OK);
        long allocations = fault_end();
        EXPECT(allocations == rows[i].allocations, "%s: %ld parts", rows[i].what, allocations);
        EXPECT(shows(snapshot, rows[i].passed, 3 * MIB, f.before + MIB), "%s", rows[i].what);
        snapshot_release(snapshot);
        tear_down(&f);
    }
}

static void test_untouched(void)
{
    static const unsigned char zeros[4096];
    struct fixture f;
    set_up(&f, BASE, SIZE);
    CU_ASSERT(f.table.reserve(f.table.ctx, 256 * MIB, 4096, &f.error) == SOMA_OK);
    struct snapshot *snapshot = attach(&f, 256 * MIB, 4096);
    CU_ASSERT(f.table.set(f.table.ctx, 256 * MIB, 7, 4096, &f.error) == SOMA_OK);
    EXPECT(shows(snapshot, 0, 4096, zeros), "what was never written is zero, and stays so");
    snapshot_release(snapshot);
    tear_down(&f);
}

static void test_no_memory(void)
{
    struct fixture f;
    set_up(&f, BASE, SIZE);
    unsigned char byte;
    fault_begin(1);
    EXPECT(snapshot_create(SIZE) == NULL, "created");
    (void)fault_end();
    struct snapshot *broken = attach(&f, BASE, SIZE), *late = attach(&f, BASE, SIZE);
    fault_begin(1); /* the first snapshot's part; the second one gets its own */
    CU_ASSERT(f.table.set(f.table.ctx, BASE, 0, 1, &f.error) == SOMA_OK);
    (void)fault_end();
    EXPECT(!snapshot_read(broken, 0, &byte, 1), "a part that could not be kept was read");
    EXPECT(shows(late, 0, SIZE, f.before), "the other snapshot");
    snapshot_release(broken);
    snapshot_release(late);
    snapshot_release(NULL);
    tear_down(&f);
}

/* What is given away is written whole, wherever it lies. */
static void test_take(void)
{
    static const size_t offsets[] = {0, 1, 4096, 5000};
    unsigned char *from = malloc(SIZE + 8192), *back = malloc(SIZE);
    CU_ASSERT_FATAL(from != NULL && back != NULL);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        struct fixture f;
        set_up(&f, BASE, SIZE);
        memset(from, 9, SIZE + 8192);
        for (uint64_t k = 0; k < SIZE; k++)
            from[offsets[i] + k] = (unsigned char)(f.before[k] + 1);
        CU_ASSERT(f.table.take(f.table.ctx, BASE, from + offsets[i], SIZE, &f.error) == SOMA_OK);
        CU_ASSERT(f.table.read(f.table.ctx, BASE, back, SIZE, &f.error) == SOMA_OK);
        bool is_good = true;
        for (uint64_t k = 0; k < SIZE; k++)
            is_good = is_good && back[k] == (unsigned char)(f.before[k] + 1);
        EXPECT(is_good, "offset %zu", offsets[i]);
        bool is_kept = true; /* what lies around it is not the range's */
        for (size_t k = 0; k < SIZE + 8192; k++)
            is_kept = is_kept && ((k >= offsets[i] && k < offsets[i] + SIZE) || from[k] == 9);
        EXPECT(is_kept, "offset %zu: bytes beside it", offsets[i]);
        EXPECT(f.table.take(f.table.ctx, BASE - 1, from, SIZE, &f.error) == SOMA_INVALID_ADDRESS,
               "an unknown range");
        tear_down(&f);
    }
    free(from);
    free(back);
}

/* ---- threads ---- */

struct reader {
    struct snapshot *snapshot;
    const unsigned char *want;
    bool is_good;
};

static void *read_all(void *user)
{
    struct reader *reader = user;
    reader->is_good = shows(reader->snapshot, 0, SIZE, reader->want);
    snapshot_release(reader->snapshot);
    return NULL;
}

/* Readers without the lock of the bytes, beside an owner that changes them. */
static void test_threads(void)
{
    enum { ROUNDS = 20, READERS = 2 };
    struct random_source random = {3};
    struct fixture f;
    set_up(&f, BASE, SIZE);
    unsigned char *now = malloc(READERS * SIZE);
    CU_ASSERT_FATAL(now != NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct reader readers[READERS];
        pthread_t threads[READERS];
        for (unsigned i = 0; i < READERS; i++) {
            CU_ASSERT(f.table.set(f.table.ctx, BASE + i * MIB, (uint8_t)round, MIB, &f.error) ==
                      SOMA_OK);
            CU_ASSERT(f.table.read(f.table.ctx, BASE, now + i * SIZE, SIZE, &f.error) == SOMA_OK);
            readers[i] = (struct reader){attach(&f, BASE, SIZE), now + i * SIZE, false};
            CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, read_all, &readers[i]) == 0);
        }
        for (unsigned i = 0; i < 10; i++) {
            uint64_t at = random_below(&random, SIZE);
            uint64_t size = 1 + random_below(&random, SIZE - at);
            CU_ASSERT(f.table.set(f.table.ctx, BASE + at, (uint8_t)i, size, &f.error) == SOMA_OK);
        }
        for (unsigned i = 0; i < READERS; i++) {
            (void)pthread_join(threads[i], NULL);
            EXPECT(readers[i].is_good, "round %u, reader %u", round, i);
        }
    }
    free(now);
    tear_down(&f);
}

static const struct soma_test tests[] = {
    {"changes", test_changes},
    {"saves only what it must", test_saves_only_what_it_must},
    {"untouched", test_untouched},
    {"no memory", test_no_memory},
    {"take", test_take},
    {"threads", test_threads},
    {NULL, NULL},
};
const struct soma_suite suite_snapshot = {"snapshot", tests};
