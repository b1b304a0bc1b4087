/* Random programs, each run with the pipeline, with batches of random sizes, and asking for each
 * call: every number, address, time, content and text that they are told is the same. */
#include "pipeline_tests.h"

#include "pipeline.h"
#include "random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 3, EVENTS = 4, POOLS = 2, BLOCKS = 24, SEEDS = 12, STEPS = 600 };
#define HOST_BYTES ((size_t)1 << 18)

struct block {
    void *ptr;
    size_t bytes;
};

struct world {
    struct random_source random; /* of the program */
    struct random_source sizes;  /* of batches */
    bool varies;
    FILE *told;
    unsigned step;
    aclrtStream streams[STREAMS];
    aclrtEvent events[EVENTS];
    aclrtMemPool pools[POOLS];
    struct block blocks[BLOCKS];
    void *freed; /* an address that was freed */
    aclrtFuncHandle add;
    char out[HOST_BYTES], back[HOST_BYTES];
};

static uint64_t below(struct world *world, uint64_t limit)
{
    return random_below(&world->random, limit);
}

/* Handles, unlike addresses of the device, are another number in each session of a process. */
static void write_text(FILE *told, const char *text)
{
    static const char handle[] = "0x5a";
    const char *at;
    for (; (at = strstr(text, handle)) != NULL; text = at + strspn(at, "0123456789abcdefx"))
        (void)fprintf(told, "%.*sHANDLE", (int)(at - text), text);
    (void)fprintf(told, "%s\n", text);
}

/* Note what a call was told; its number is handed on. The texts of kernels that failed tell the
 * number of the command where there is one, and are not compared. */
__attribute__((format(printf, 4, 5))) static aclError tell(struct world *world, const char *call,
                                                           aclError error, const char *format, ...)
{
    const char *text = error != ACL_SUCCESS ? aclGetRecentErrMsg() : NULL;
    va_list args;
    va_start(args, format);
    (void)fprintf(world->told, "%u: %s = %d ", world->step, call, error);
    (void)vfprintf(world->told, format, args);
    va_end(args);
    (void)fprintf(world->told, " ");
    write_text(world->told, text == NULL || error == ACL_ERROR_RT_AICORE_EXCEPTION ? "" : text);
    return error;
}

#define TELL(world, call, ...) tell((world), #call, (call), __VA_ARGS__)

static aclrtStream a_stream(struct world *world)
{
    return world->streams[below(world, STREAMS)];
}

/* A block that is allocated; NULL: none was met. */
static struct block *a_block(struct world *world)
{
    struct block *block = NULL;
    for (int i = 0; i < 8 && (block == NULL || block->ptr == NULL); i++)
        block = &world->blocks[below(world, BLOCKS)];
    return block->ptr != NULL ? block : NULL;
}

static size_t a_size(struct world *world)
{
    static const size_t sizes[] = {1,       32,      64,      4096,     100000, 200000,
                                   1 << 20, 2 << 20, 3 << 20, 40 << 20, 1 << 30};
    return sizes[below(world, sizeof(sizes) / sizeof(sizes[0]))];
}

static size_t a_part(struct world *world, const struct block *block)
{
    return 1 + below(world, block->bytes < HOST_BYTES ? block->bytes : HOST_BYTES);
}

static uint64_t sum_of(const char *bytes, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* ---- steps ---- */

static void change_stream(struct world *world)
{
    aclrtStream *stream = &world->streams[below(world, STREAMS)];
    uint64_t mode = below(world, 4) == 0 ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
    (void)TELL(world, aclrtDestroyStream(*stream), "-");
    (void)TELL(world, aclrtCreateStream(stream), "-");
    if (below(world, 4) == 0)
        (void)TELL(world, aclrtSetStreamFailureMode(*stream, mode), "-");
}

static void use_event(struct world *world)
{
    aclrtEvent *event = &world->events[below(world, EVENTS)];
    aclrtStream stream = a_stream(world);
    switch (below(world, 8)) {
    case 0:
        (void)TELL(world, aclrtDestroyEvent(*event), "-");
        (void)TELL(world, aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE),
                   "-");
        break;
    case 1:
    case 2: (void)TELL(world, aclrtStreamWaitEvent(stream, *event), "-"); break;
    case 3: (void)TELL(world, aclrtSynchronizeEvent(*event), "-"); break;
    default: (void)TELL(world, aclrtRecordEvent(*event, stream), "-"); break;
    }
}

static void ask_event(struct world *world)
{
    aclrtEvent event = world->events[below(world, EVENTS)];
    aclrtEvent other = world->events[below(world, EVENTS)];
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    float ms = -1;
    uint64_t us = 0;
    aclError error = aclrtQueryEventStatus(event, &status);
    (void)tell(world, "query", error, "%d", (int)status);
    error = aclrtEventElapsedTime(&ms, event, other);
    (void)tell(world, "elapsed", error, "%.6f", (double)ms);
    error = aclrtEventGetTimestamp(event, &us);
    (void)tell(world, "timestamp", error, "%" PRIu64, us);
}

static void use_pool(struct world *world)
{
    aclrtMemPool pool = world->pools[below(world, POOLS)];
    uint32_t flag = (uint32_t)below(world, 2);
    uint64_t value = below(world, 2) == 0 ? 0 : (uint64_t)64 << 20;
    aclrtMemPoolAttr attr = (aclrtMemPoolAttr)(1 + below(world, 9));
    switch (below(world, 4)) {
    case 0:
        (void)TELL(world, aclrtMemPoolSetAttr(pool, (aclrtMemPoolAttr)(1 + below(world, 3)), &flag),
                   "-");
        break;
    case 1:
        (void)TELL(world, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
                   "-");
        break;
    case 2: (void)TELL(world, aclrtMemPoolTrimTo(pool, a_size(world)), "-"); break;
    default:
        value = 0;
        aclError error = aclrtMemPoolGetAttr(pool, attr, &value);
        (void)tell(world, "attribute", error, "%d is %" PRIu64, (int)attr, value);
        break;
    }
}

static void allocate(struct world *world)
{
    struct block *block = &world->blocks[below(world, BLOCKS)];
    void *ptr = NULL;
    size_t bytes = a_size(world);
    aclrtMemPool pool = world->pools[below(world, POOLS)];
    if (block->ptr != NULL)
        return;
    aclError error = below(world, 4) == 0
                         ? aclrtMalloc(&ptr, bytes, ACL_MEM_MALLOC_HUGE_FIRST)
                         : aclrtMemPoolMallocAsync(&ptr, bytes, pool, a_stream(world));
    if (tell(world, "allocate", error, "%zu at %p", bytes, ptr) == ACL_SUCCESS)
        *block = (struct block){ptr, bytes};
}

static void release(struct world *world)
{
    struct block *block = a_block(world);
    void *ptr = block != NULL && below(world, 8) > 0 ? block->ptr : world->freed;
    if (ptr == NULL)
        return;
    aclError error =
        below(world, 6) == 0 ? aclrtFree(ptr) : aclrtMemPoolFreeAsync(ptr, a_stream(world));
    if (tell(world, "free", error, "%p", ptr) != ACL_SUCCESS)
        return;
    world->freed = ptr;
    if (block != NULL && block->ptr == ptr)
        block->ptr = NULL;
}

/* The program's memory changes as soon as the call has returned. */
static void copy_in(struct world *world)
{
    struct block *block = a_block(world);
    if (block == NULL)
        return;
    size_t bytes = a_part(world, block);
    memset(world->out, (int)below(world, 256), bytes);
    (void)TELL(world,
               aclrtMemcpyAsync(block->ptr, block->bytes, world->out, bytes,
                                ACL_MEMCPY_HOST_TO_DEVICE, a_stream(world)),
               "%zu", bytes);
    memset(world->out, 0xee, bytes);
}

static void copy_out(struct world *world)
{
    struct block *block = a_block(world);
    if (block == NULL)
        return;
    size_t bytes = a_part(world, block);
    memset(world->back, 1, bytes);
    aclError error =
        below(world, 2) == 0
            ? aclrtMemcpy(world->back, HOST_BYTES, block->ptr, bytes, ACL_MEMCPY_DEVICE_TO_HOST)
            : aclrtMemcpyAsync(world->back, HOST_BYTES, block->ptr, bytes,
                               ACL_MEMCPY_DEVICE_TO_HOST, a_stream(world));
    (void)tell(world, "copy out", error, "%zu: %" PRIx64, bytes, sum_of(world->back, bytes));
}

static void change_memory(struct world *world)
{
    struct block *to = a_block(world), *from = a_block(world);
    if (to == NULL || from == NULL)
        return;
    size_t bytes = a_part(world, to->bytes < from->bytes ? to : from);
    if (below(world, 2) == 0)
        (void)TELL(world, aclrtMemsetAsync(to->ptr, to->bytes, 7, bytes, a_stream(world)), "-");
    else
        (void)TELL(world,
                   aclrtMemcpyAsync(to->ptr, to->bytes, from->ptr, bytes,
                                    ACL_MEMCPY_DEVICE_TO_DEVICE, a_stream(world)),
                   "-");
}

/* Kernels that add, that touch what is not theirs, and that are refused. */
static void launch(struct world *world)
{
    struct block *x = a_block(world), *y = a_block(world);
    if (x == NULL || y == NULL)
        return;
    struct {
        void *x, *y, *z;
        uint32_t count, type;
    } block = {x->ptr, y->ptr, x->ptr, 1 + (uint32_t)below(world, 100), ACL_INT32};
    if (below(world, 5) == 0)
        block.y = (void *)(uintptr_t)0x4242;
    if (below(world, 6) == 0)
        block.type = 99;
    (void)TELL(world, aclrtLaunchKernel(world->add, 1, &block, sizeof(block), a_stream(world)),
               "-");
}

static void wait_for_work(struct world *world)
{
    size_t free_bytes = 0, all_bytes = 0;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    aclrtStream stream = a_stream(world);
    aclError error;
    switch (below(world, 4)) {
    case 0: (void)TELL(world, aclrtSynchronizeDevice(), "-"); break;
    case 1:
        error = aclrtStreamQuery(stream, &status);
        (void)tell(world, "stream", error, "%d", (int)status);
        break;
    case 2:
        error = aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &all_bytes);
        (void)tell(world, "memory", error, "%zu of %zu", free_bytes, all_bytes);
        break;
    default: (void)TELL(world, aclrtSynchronizeStream(stream), "-"); break;
    }
}

/* ---- programs ---- */

static void begin(struct world *world)
{
    aclrtMemPoolProps props;
    aclrtBinHandle library = NULL;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CU_ASSERT_FATAL(GIVES(ACL_SUCCESS, aclInit(NULL)));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("add_custom.o", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &world->add));
    for (int i = 0; i < STREAMS; i++)
        (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&world->streams[i]));
    for (int i = 0; i < EVENTS; i++)
        (void)GIVES(ACL_SUCCESS, aclrtCreateEventExWithFlag(&world->events[i],
                                                            ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    for (int i = 0; i < POOLS; i++) {
        props.maxSize = i == 0 ? (size_t)64 << 20 : 0;
        (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&world->pools[i], &props));
    }
}

/* Run the program of this seed in a session of its own. Everything that it was told; free(). */
static char *run(uint64_t seed, const char *pipeline, bool varies)
{
    static void (*const steps[])(struct world *) = {
        change_stream, use_event, use_event,     use_event, ask_event, use_pool,     use_pool,
        allocate,      allocate,  allocate,      allocate,  release,   release,      release,
        copy_in,       copy_out,  change_memory, launch,    launch,    wait_for_work};
    static struct world world;
    char *text = NULL;
    size_t len = 0;
    memset(&world, 0, sizeof(world));
    world.random.state = seed;
    world.sizes.state = seed + 99;
    world.told = open_memstream(&text, &len);
    CU_ASSERT_FATAL(world.told != NULL && setenv("SOMA_PIPELINE", pipeline, 1) == 0);
    begin(&world);
    for (world.step = 0; world.step < STEPS; world.step++) {
        if (varies)
            client_pipeline_limit_batches(1 + (unsigned)random_below(&world.sizes, 7));
        steps[below(&world, sizeof(steps) / sizeof(steps[0]))](&world);
    }
    client_pipeline_limit_batches(0);
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    (void)fclose(world.told);
    return text;
}

/* The first line that differs. */
static void compare(uint64_t seed, const char *way, const char *asked, const char *other)
{
    while (*asked != '\0' && *asked == *other) {
        size_t line = strcspn(asked, "\n") + 1;
        if (strncmp(asked, other, line) != 0)
            break;
        asked += line;
        other += line;
    }
    (void)EXPECT(*asked == '\0' && *other == '\0', "seed %d, asked: %.*s\n%s: %.*s", (int)seed,
                 (int)strcspn(asked, "\n"), asked, way, (int)strcspn(other, "\n"), other);
}

static void test_programs(void)
{
    struct scene scene;
    scene_begin(&scene, false, NULL);
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        char *asked = run(seed, "0", false), *pipelined = run(seed, "1", false);
        char *varied = run(seed, "1", true);
        compare(seed, "pipelined", asked, pipelined);
        compare(seed, "in batches of random sizes", asked, varied);
        free(asked);
        free(pipelined);
        free(varied);
    }
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    scene_end(&scene);
    (void)unsetenv("SOMA_PIPELINE");
}

const struct pipeline_test same_tests[] = {
    {"random programs", test_programs},
    {NULL, NULL},
};
