/* Kernels of libraries (examples/kernels), launched through the engine in processes of their own.
 */
#include "expect.h"
#include "kernel_fixture.h"
#include "suites.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY SOMA_BINARY_DIR "/examples/kernels"
#define WORKER SOMA_BINARY_DIR "/server/soma-kernel-worker"

static void set_up_in(struct kernel_fixture *f, const char *directory, uint64_t time_ms,
                      uint64_t memory_bytes)
{
    char why[256];
    struct kernel_libraries *libraries = kernel_libraries_open(
        &(struct kernel_libraries_config){directory, WORKER, time_ms, memory_bytes}, why,
        sizeof(why));
    CU_ASSERT_FATAL(EXPECT(libraries != NULL, "%s", why));
    kernel_fixture_start(f, libraries);
}

static void set_up(struct kernel_fixture *f, uint64_t time_ms, uint64_t memory_bytes)
{
    set_up_in(f, DIRECTORY, time_ms, memory_bytes);
}

static enum soma_status launch(struct kernel_fixture *f, const char *kernel, uint64_t blocks,
                               const void *block, size_t size)
{
    const struct soma_kernel_arg arg = {.kind = SOMA_ARG_BYTES, .bytes = {block, size}};
    return kernel_fixture_launch(f, kernel, blocks, &arg, 1);
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

/* ---- what they do ---- */

static void test_results(void)
{
    struct kernel_fixture f;
    uint32_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float row[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    double sums[2];
    set_up(&f, 5000, UINT64_C(1) << 30);
    uint64_t x = kernel_fixture_allocate(&f, sizeof(numbers)),
             sums_at = kernel_fixture_allocate(&f, sizeof(sums));
    kernel_fixture_put(&f, x, numbers, sizeof(numbers));
    EXPECT(launch(&f, "EasyOP", 8, &x, 8) == SOMA_OK, "%s", f.error.message);
    EXPECT(f.launched.cost_ns == 800, "100 ns a block: %" PRIu64, f.launched.cost_ns);
    EXPECT(launch(&f, "easy_ops/ShortOP", 4, &x, 8) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, x, numbers, sizeof(numbers));
    for (uint32_t i = 0; i < 8; i++)
        EXPECT(numbers[i] == (i + 1) * (i < 4 ? 2 : 1), "x[%u] is %u", i, numbers[i]);
    EXPECT(launch(&f, "LongOP", 1, &x, 8) == SOMA_OK, "%s", f.error.message);
    EXPECT(f.launched.cost_ns == 1000000000, "%" PRIu64, f.launched.cost_ns);
    kernel_fixture_put(&f, x, row, sizeof(row));
    struct {
        uint64_t x;
        uint32_t count;
        float factor;
    } scale = {x, 8, 0.5f};
    EXPECT(launch(&f, "scale", 3, &scale, sizeof(scale)) == SOMA_OK, "%s", f.error.message);
    EXPECT(f.launched.cost_ns == 1, "160 ps: %" PRIu64, f.launched.cost_ns);
    struct {
        uint64_t matrix, sums;
        uint32_t rows, columns;
    } rows = {x, sums_at, 2, 4};
    EXPECT(launch(&f, "sum_rows", 2, &rows, sizeof(rows)) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, sums_at, sums, sizeof(sums));
    EXPECT(sums[0] == 5 && sums[1] == 13, "%g %g", sums[0], sums[1]);
    EXPECT(launch(&f, "scale", 1, &scale, 8) == SOMA_KERNEL_ARGUMENTS, "too short");
    EXPECT(launch(&f, "vector/EasyOP", 1, &x, 8) == SOMA_NO_SUCH_KERNEL, "another library's");
    kernel_fixture_stop(&f);
}

/* Blocks of a pool, reached from their middle; what nobody touched costs nothing. */
static void test_large_blocks(void)
{
    enum { BYTES = 64 << 20 };
    struct kernel_fixture f;
    set_up(&f, 5000, 2 * (uint64_t)BYTES);
    uint64_t a = kernel_fixture_allocate(&f, BYTES),
             b = kernel_fixture_allocate(&f, 2 * (uint64_t)BYTES);
    uint64_t mapped = bytes_mapped(f.bytes);
    uint64_t args[2] = {a + BYTES / 2, BYTES / 2 - 1};
    EXPECT(launch(&f, "Peek", 1, args, sizeof(args)) == SOMA_OK, "%s", f.error.message);
    EXPECT(bytes_mapped(f.bytes) == mapped, "zeros were written to zeros");
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_OK, "%s", f.error.message);
    unsigned char last;
    kernel_fixture_get(&f, a + BYTES - 1, &last, 1);
    EXPECT(last == 1, "%u", last);
    args[1]++;
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_KERNEL_FAULT, "behind its end");
    args[0] = b;
    args[1] = 0;
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_OK, "%s", f.error.message);
    struct {
        uint64_t matrix, sums;
        uint32_t rows, columns;
    } rows = {a, b, 0, 0};
    EXPECT(launch(&f, "sum_rows", 1, &rows, sizeof(rows)) == SOMA_KERNEL_FAULT &&
               strstr(f.error.message, "--kernel-memory") != NULL,
           "more than there may be: %s", f.error.message);
    kernel_fixture_stop(&f);
}

/* Run a command on addresses or physical memory; which fields depends on the op. */
static uint64_t run_memory(struct kernel_fixture *f, enum soma_op op, uint64_t ptr,
                           uint64_t physical)
{
    struct soma_command command;
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    soma_command_init(&command, op);
    if (op == SOMA_OP_MEMORY_RESERVE || op == SOMA_OP_MEMORY_MALLOC_MANAGED)
        soma_command_set(&command, SOMA_FIELD_size, 4 * SOMA_GRANULE_BYTES);
    else
        soma_command_set(&command, SOMA_FIELD_size, SOMA_GRANULE_BYTES);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_ptr, ptr);
    soma_command_set(&command, SOMA_FIELD_physical, physical);
    EXPECT(engine_apply(f->engine, &command, &result, &f->error) == SOMA_OK, "%s",
           f->error.message);
    return result.message == SOMA_MESSAGE_PHYSICAL       ? result.u.physical.physical
           : result.message == SOMA_MESSAGE_MEMORY_BLOCK ? result.u.memory_block.ptr
                                                         : 0;
}

/* Bytes that may lie in several mappings. */
static void access_bytes(struct kernel_fixture *f, uint64_t address, void *bytes, size_t size,
                         bool writes)
{
    struct engine_bytes table = bytes_table(f->bytes);
    struct engine_piece piece;
    for (size_t at = 0, part; at < size; at += part) {
        engine_translate(f->engine, address + at, &piece);
        part = piece.bytes < size - at ? (size_t)piece.bytes : size - at;
        enum soma_status status =
            writes ? table.write(table.ctx, piece.address, (char *)bytes + at, part, &f->error)
                   : table.read(table.ctx, piece.address, (char *)bytes + at, part, &f->error);
        EXPECT(status == SOMA_OK, "%s", f->error.message);
    }
}

/* A pointer into mapped memory leads to all mappings around it that touch; in managed memory. */
static void test_mapped_memory(void)
{
    struct kernel_fixture f;
    uint32_t numbers[8];
    unsigned char poked = 0;
    set_up(&f, 5000, UINT64_C(1) << 30);
    uint64_t base = run_memory(&f, SOMA_OP_MEMORY_RESERVE, 0, 0);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t physical = run_memory(&f, SOMA_OP_MEMORY_MALLOC_PHYSICAL, 0, 0);
        (void)run_memory(&f, SOMA_OP_MEMORY_MAP, base + (2 - i) * SOMA_GRANULE_BYTES, physical);
    }
    uint64_t managed = run_memory(&f, SOMA_OP_MEMORY_MALLOC_MANAGED, 0, 0);
    const uint64_t places[] = {base + SOMA_GRANULE_BYTES - 16, managed + 64};
    for (size_t p = 0; p < 2; p++) {
        for (uint32_t i = 0; i < 8; i++)
            numbers[i] = 10 * i;
        access_bytes(&f, places[p], numbers, sizeof(numbers), true);
        EXPECT(launch(&f, "EasyOP", 8, &places[p], 8) == SOMA_OK, "%s", f.error.message);
        access_bytes(&f, places[p], numbers, sizeof(numbers), false);
        for (uint32_t i = 0; i < 8; i++)
            EXPECT(numbers[i] == 10 * i + 1, "place %zu: x[%u] is %u", p, i, numbers[i]);
    }
    uint64_t args[2] = {base + 5, 3 * SOMA_GRANULE_BYTES - 6};
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_OK, "%s", f.error.message);
    access_bytes(&f, base + 3 * SOMA_GRANULE_BYTES - 1, &poked, 1, false);
    EXPECT(poked == 1, "%u", poked);
    args[1]++;
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_KERNEL_FAULT, "behind the last");
    (void)run_memory(&f, SOMA_OP_MEMORY_UNMAP, base + SOMA_GRANULE_BYTES, 0);
    args[1] = SOMA_GRANULE_BYTES;
    EXPECT(launch(&f, "Poke", 1, args, sizeof(args)) == SOMA_KERNEL_FAULT, "in the hole");
    kernel_fixture_stop(&f);
}

/* ---- what they do wrong ---- */

static void test_failures(void)
{
    struct kernel_fixture f;
    unsigned char before[64], after[64];
    set_up(&f, 300, UINT64_C(64) << 20);
    uint64_t x = kernel_fixture_allocate(&f, 64), other = kernel_fixture_allocate(&f, 64);
    memset(before, 0x33, sizeof(before));
    kernel_fixture_put(&f, x, before, sizeof(before));
    char past[32], next[32];
    (void)snprintf(past, sizeof(past), "0x%" PRIx64 ",", x + 64);
    (void)snprintf(next, sizeof(next), "0x%" PRIx64 ": it is live", other);
    const struct {
        const char *kernel;
        uint64_t x, offset;
        enum soma_status status;
        const char *says;
    } rows[] = {
        {"Poke", x, 64, SOMA_KERNEL_FAULT, past},
        {"Poke", x, other - x, SOMA_KERNEL_FAULT, next},
        {"Poke", x, UINT64_C(0x10000000000), SOMA_KERNEL_FAULT, "no live memory of device 0"},
        {"Poke", 0x4242, 0, SOMA_KERNEL_FAULT, "touched 0x4242"},
        {"Peek", 0, 0, SOMA_KERNEL_FAULT, "touched 0x0"},
        {"HalfDone", x, 0, SOMA_KERNEL_FAULT, "SIGABRT"},
        {"ErrorOP", 0, 0, SOMA_KERNEL_FAULT, "SIG"},
        {"Heap", 0, 0, SOMA_KERNEL_FAULT, "SIG"},
        {"Recursion", 0, 0, SOMA_KERNEL_FAULT, "touched"},
        {"Leaves", 0, 0, SOMA_KERNEL_FAULT, "ended its process"},
        {"Endless", 0, 0, SOMA_KERNEL_TIMEOUT, "300 ms"},
    };
    size_t descriptors = count_descriptors();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t args[2] = {rows[i].x, rows[i].offset};
        bool has_pointer = i < 6;
        enum soma_status status =
            launch(&f, rows[i].kernel, 2, args, has_pointer ? sizeof(args) : 4);
        EXPECT(status == rows[i].status, "%s: %d", rows[i].kernel, (int)status);
        EXPECT(strstr(f.error.message, rows[i].says) != NULL, "%s: %s", rows[i].kernel,
               f.error.message);
        kernel_fixture_get(&f, x, after, sizeof(after));
        EXPECT(memcmp(before, after, sizeof(before)) == 0, "%s left something", rows[i].kernel);
    }
    EXPECT(count_descriptors() == descriptors, "descriptors stayed open");
    EXPECT(launch(&f, "EasyOP", 1, &x, 8) == SOMA_OK, "afterwards: %s", f.error.message);
    kernel_fixture_stop(&f);
}

static pid_t find_child(void)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    int got = file != NULL ? fscanf(file, "%d", &child) : 0;
    if (file != NULL)
        (void)fclose(file);
    return got == 1 ? child : 0;
}

static void test_a_worker_that_ends(void)
{
    struct kernel_fixture f;
    uint32_t value = 0;
    set_up(&f, 5000, UINT64_C(64) << 20);
    uint64_t x = kernel_fixture_allocate(&f, sizeof(value));
    for (uint32_t round = 1; round < 4; round++) {
        pid_t worker = find_child();
        if (worker > 0) /* systems without that file still test the rest */
            (void)kill(worker, SIGKILL);
        EXPECT(launch(&f, "EasyOP", 1, &x, 8) == SOMA_OK, "%s", f.error.message);
        kernel_fixture_get(&f, x, &value, sizeof(value));
        EXPECT(value == round, "%u after %u rounds", value, round);
    }
    kernel_fixture_stop(&f);
}

/* Gone, or waits to be taken note of. */
static bool has_ended(int32_t process)
{
    char path[64], state = 'X';
    (void)snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", process);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    int got = fscanf(file, "%*d %*s %c", &state);
    (void)fclose(file);
    return got != 1 || state == 'Z' || state == 'X';
}

/* Neither is the kernel's fault, and neither is anybody's harm. */
static void test_its_own_group(void)
{
    struct kernel_fixture f;
    int32_t child = 0;
    set_up(&f, 5000, UINT64_C(64) << 20);
    uint64_t x = kernel_fixture_allocate(&f, sizeof(child));
    const uint64_t args[2] = {x, 0};
    EXPECT(launch(&f, "Signals", 1, args, 4) == SOMA_OK, "%s", f.error.message);
    EXPECT(launch(&f, "Forks", 1, args, sizeof(args)) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_get(&f, x, &child, sizeof(child));
    CU_ASSERT_FATAL(child > 1);
    for (int ms = 0; ms < 20000 && !has_ended(child); ms++)
        (void)usleep(1000);
    EXPECT(has_ended(child), "process %" PRId32 " of a launch that is over lives on", child);
    if (!has_ended(child))
        (void)kill(child, SIGKILL);
    kernel_fixture_stop(&f);
}

/* Launches say why the worker does not come back, and go on when the libraries do. */
static void test_libraries_that_change(void)
{
    char directory[] = "/tmp/soma-kernels-XXXXXX", from[256], to[256];
    struct kernel_fixture f;
    CU_ASSERT_FATAL(mkdtemp(directory) != NULL);
    (void)snprintf(from, sizeof(from), "%s/easy_ops.so", DIRECTORY);
    (void)snprintf(to, sizeof(to), "%s/easy_ops.so", directory);
    CU_ASSERT_FATAL(symlink(from, to) == 0);
    set_up_in(&f, directory, 5000, UINT64_C(64) << 20);
    uint64_t x = kernel_fixture_allocate(&f, 4);
    pid_t worker = find_child();
    EXPECT(launch(&f, "EasyOP", 1, &x, 8) == SOMA_OK, "%s", f.error.message);
    (void)unlink(to);
    if (worker > 0) {
        (void)kill(worker, SIGKILL);
        EXPECT(launch(&f, "EasyOP", 1, &x, 8) == SOMA_KERNEL_FAULT, "%s", f.error.message);
        EXPECT(strstr(f.error.message, "put them back") != NULL, "%s", f.error.message);
    }
    CU_ASSERT_FATAL(symlink(from, to) == 0);
    EXPECT(launch(&f, "EasyOP", 1, &x, 8) == SOMA_OK, "%s", f.error.message);
    kernel_fixture_stop(&f);
    (void)unlink(to);
    (void)rmdir(directory);
}

/* ---- loading ---- */

static void expect_refused(const char *directory, const char *worker, const char *says)
{
    char why[256];
    size_t descriptors = count_descriptors();
    struct kernel_libraries *libraries = kernel_libraries_open(
        &(struct kernel_libraries_config){directory, worker, 1000, 1 << 20}, why, sizeof(why));
    EXPECT(libraries == NULL && strstr(why, says) != NULL, "%s: %s", directory, why);
    EXPECT(count_descriptors() == descriptors, "descriptors stayed open");
    kernel_libraries_close(libraries);
}

static void test_loading(void)
{
    char directory[] = "/tmp/soma-kernels-XXXXXX", path[128], why[256];
    CU_ASSERT_FATAL(mkdtemp(directory) != NULL);
    expect_refused("/nonexistent", WORKER, "/nonexistent cannot be read");
    expect_refused(directory, "/nonexistent/worker", "could not be run");
    struct kernel_libraries *none = kernel_libraries_open(
        &(struct kernel_libraries_config){directory, WORKER, 1000, 1 << 20}, why, sizeof(why));
    size_t count = 1;
    EXPECT(none != NULL, "an empty directory: %s", why);
    if (none != NULL)
        (void)kernel_libraries_rows(none, &count);
    EXPECT(count == 0, "%zu kernels", count);
    kernel_libraries_close(none);
    (void)snprintf(path, sizeof(path), "%s/text.so", directory);
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    (void)fputs("no library\n", file);
    (void)fclose(file);
    expect_refused(directory, WORKER, "text.so");
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/other.so", directory);
    EXPECT(symlink(SOMA_BINARY_DIR "/client/libascendcl.so", path) == 0, "%s", path);
    expect_refused(directory, WORKER, "other");
    (void)unlink(path);
    (void)rmdir(directory);
}

static const struct soma_test tests[] = {
    {"results", test_results},
    {"large blocks", test_large_blocks},
    {"mapped and managed memory", test_mapped_memory},
    {"failures", test_failures},
    {"a worker that ends", test_a_worker_that_ends},
    {"its own group", test_its_own_group},
    {"libraries that change", test_libraries_that_change},
    {"loading", test_loading},
    {NULL, NULL},
};
const struct soma_suite suite_kernel_libraries = {"kernel libraries", tests};
