/* The worked example of stream-ordered memory allocation (SOMA), in C through ACL: add two vectors
 * on the device, over and over, with memory from two places:
 *   1. aclrtMalloc and aclrtFree, which keep the host waiting for the stream in every round;
 *   2. a memory pool, whose allocations and frees are queued on the stream like the work itself.
 * Checks every result; exit code 1 when one is wrong or a call fails.
 *
 *   cc -I api examples/soma_article.c -o soma_article -L build/client -lascendcl \
 *      -Wl,-rpath,"$PWD/build/client" && ./soma_article
 *
 * Nothing has to be set up: the library starts a server of its own, or uses SOMA_SERVER. */
#include "acl/acl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1048576u /* floats in a vector */
#define VECTOR_BYTES (COUNT * sizeof(float))
#define POOL_BYTES ((size_t)64 << 20)
#define ROUNDS 20

/* Say which call failed, and why, and give up. */
#define CHECK(call) check((call), #call)

static void check(aclError error, const char *call)
{
    if (error == ACL_SUCCESS)
        return;
    const char *text = aclGetRecentErrMsg();
    fprintf(stderr, "%s gave %d: %s\n", call, error, text != NULL ? text : "no text");
    exit(1);
}

/* What both variants use. */
struct job {
    aclrtStream stream;
    aclrtFuncHandle add;            /* the kernel add_custom */
    float *x, *y, *z;               /* page-locked memory of the host */
    void *last_x, *last_y, *last_z; /* device addresses of the round before */
    unsigned same;                  /* how often a round got the addresses of the one before */
};

/* The kernel's arguments as it reads them: three addresses, how many elements, of which type. */
struct add_arguments {
    void *x, *y, *z;
    uint32_t count, type;
};

static void launch_add(const struct job *job, void *x, void *y, void *z)
{
    struct add_arguments arguments = {x, y, z, COUNT, ACL_FLOAT};
    CHECK(aclrtLaunchKernelV2(job->add, 8, &arguments, sizeof(arguments), NULL, job->stream));
}

static void note_addresses(struct job *job, int round, void *x, void *y, void *z)
{
    if (round < 2)
        printf("  round %d: x %p, y %p, z %p\n", round, x, y, z);
    if (round > 0 && x == job->last_x && y == job->last_y && z == job->last_z)
        job->same++;
    job->last_x = x;
    job->last_y = y;
    job->last_z = z;
}

static void check_sums(const struct job *job, const char *variant)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        if (job->z[i] == job->x[i] + job->y[i])
            continue;
        fprintf(stderr, "%s: z[%u] is %f, not %f\n", variant, i, (double)job->z[i],
                (double)(job->x[i] + job->y[i]));
        exit(1);
    }
    memset(job->z, 0, VECTOR_BYTES);
}

/* One round with memory that comes and goes at the call. The frees take effect at once, so the
 * stream has to be done before them. */
static void round_with_malloc(struct job *job, int round)
{
    void *x, *y, *z;
    CHECK(aclrtMalloc(&x, VECTOR_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&y, VECTOR_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&z, VECTOR_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    note_addresses(job, round, x, y, z);
    CHECK(aclrtMemcpy(x, VECTOR_BYTES, job->x, VECTOR_BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(y, VECTOR_BYTES, job->y, VECTOR_BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    launch_add(job, x, y, z);
    CHECK(aclrtSynchronizeStream(job->stream));
    CHECK(aclrtMemcpy(job->z, VECTOR_BYTES, z, VECTOR_BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(aclrtFree(x));
    CHECK(aclrtFree(y));
    CHECK(aclrtFree(z));
}

/* One round with memory that comes and goes in the order of the stream: nothing waits, and each
 * block can be given to later work of the stream as soon as it is freed. */
static void round_with_pool(struct job *job, int round, aclrtMemPool pool)
{
    void *x, *y, *z;
    CHECK(aclrtMemPoolMallocAsync(&x, VECTOR_BYTES, pool, job->stream));
    CHECK(aclrtMemPoolMallocAsync(&y, VECTOR_BYTES, pool, job->stream));
    CHECK(aclrtMemPoolMallocAsync(&z, VECTOR_BYTES, pool, job->stream));
    note_addresses(job, round, x, y, z);
    CHECK(aclrtMemcpyAsync(x, VECTOR_BYTES, job->x, VECTOR_BYTES, ACL_MEMCPY_HOST_TO_DEVICE,
                           job->stream));
    CHECK(aclrtMemcpyAsync(y, VECTOR_BYTES, job->y, VECTOR_BYTES, ACL_MEMCPY_HOST_TO_DEVICE,
                           job->stream));
    launch_add(job, x, y, z);
    CHECK(aclrtMemcpyAsync(job->z, VECTOR_BYTES, z, VECTOR_BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                           job->stream));
    CHECK(aclrtMemPoolFreeAsync(x, job->stream));
    CHECK(aclrtMemPoolFreeAsync(y, job->stream));
    CHECK(aclrtMemPoolFreeAsync(z, job->stream));
}

static aclrtMemPool make_pool(void)
{
    aclrtMemPool pool;
    aclrtMemPoolProps props;
    uint64_t threshold = POOL_BYTES;  /* keep all that was used once, for the next round */
    memset(&props, 0, sizeof(props)); /* PINNED memory, no shared handle, device 0 */
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = POOL_BYTES;
    CHECK(aclrtMemPoolCreate(&pool, &props));
    CHECK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    return pool;
}

static void print_pool(aclrtMemPool pool)
{
    static const struct {
        const char *name;
        aclrtMemPoolAttr attr;
    } rows[] = {{"used now", ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT},
                {"used at most", ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH},
                {"reserved now", ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT},
                {"reserved at most", ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t bytes;
        CHECK(aclrtMemPoolGetAttr(pool, rows[i].attr, &bytes));
        printf("  pool: %s %llu MiB\n", rows[i].name, (unsigned long long)(bytes >> 20));
    }
}

/* All rounds of one variant; pool NULL: aclrtMalloc. Returns the device's milliseconds. */
static float run_rounds(struct job *job, aclrtMemPool pool)
{
    aclrtEvent start, end;
    float ms;
    job->same = 0;
    CHECK(aclrtCreateEvent(&start));
    CHECK(aclrtCreateEvent(&end));
    CHECK(aclrtRecordEvent(start, job->stream));
    for (int round = 0; round < ROUNDS; round++) {
        if (pool == NULL)
            round_with_malloc(job, round);
        else
            round_with_pool(job, round, pool);
    }
    CHECK(aclrtRecordEvent(end, job->stream));
    CHECK(aclrtSynchronizeEvent(end));
    CHECK(aclrtEventElapsedTime(&ms, start, end));
    CHECK(aclrtDestroyEvent(start));
    CHECK(aclrtDestroyEvent(end));
    check_sums(job, pool == NULL ? "aclrtMalloc" : "pool");
    return ms;
}

static void begin(struct job *job, aclrtBinHandle *library)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&job->stream));
    CHECK(aclrtBinaryLoadFromFile("add_custom.o", NULL, library));
    CHECK(aclrtBinaryGetFunction(*library, "add_custom", &job->add));
    CHECK(aclrtMallocHost((void **)&job->x, VECTOR_BYTES));
    CHECK(aclrtMallocHost((void **)&job->y, VECTOR_BYTES));
    CHECK(aclrtMallocHost((void **)&job->z, VECTOR_BYTES));
    for (uint32_t i = 0; i < COUNT; i++) {
        job->x[i] = (float)(i % 1000);
        job->y[i] = (float)(i % 7) / 4;
    }
}

static void end(struct job *job, aclrtBinHandle library)
{
    CHECK(aclrtFreeHost(job->x));
    CHECK(aclrtFreeHost(job->y));
    CHECK(aclrtFreeHost(job->z));
    CHECK(aclrtBinaryUnLoad(library));
    CHECK(aclrtDestroyStream(job->stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
}

int main(void)
{
    struct job job;
    aclrtBinHandle library;
    memset(&job, 0, sizeof(job));
    begin(&job, &library);

    printf("aclrtMalloc and aclrtFree, %d rounds of 3 x %zu MiB:\n", ROUNDS, VECTOR_BYTES >> 20);
    float malloc_ms = run_rounds(&job, NULL);
    printf("  %.3f ms on the device\n", (double)malloc_ms);

    printf("a memory pool of %zu MiB, the same rounds:\n", POOL_BYTES >> 20);
    aclrtMemPool pool = make_pool();
    float pool_ms = run_rounds(&job, pool);
    printf("  the same addresses as the round before: %u of %d rounds\n", job.same, ROUNDS - 1);
    print_pool(pool);
    printf("  %.3f ms on the device\n", (double)pool_ms);
    CHECK(aclrtMemPoolTrimTo(pool, 0));
    CHECK(aclrtMemPoolDestroy(pool));

    end(&job, library);
    printf("all sums are right\n");
    return 0;
}
