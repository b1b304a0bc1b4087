/* aclrtMalloc and aclrtFree, frees in stream order, and what an address is. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

#include <inttypes.h>

/* clang-format off */
static const struct scene malloc_scenes[] = {
    {"the size is rounded up to 32 bytes, and the device's memory falls by whole pages of 4 KiB",
     "memory.malloc size=1 -> ptr=small size=32\n"
     "memory.info -> freeBytes=64g-4K totalBytes=64g\n"
     "memory.malloc size=33 -> ptr=small+4K size=64\n"
     "memory.malloc size=4K -> ptr=small+8K size=4K\n"
     "memory.malloc size=4K+1 -> ptr=small+12K size=4K+32\n"
     "memory.info -> freeBytes=64g-20K"},
    {"up to 1 MiB the address is aligned to 4 KiB, above it to 2 MiB, and so are the pages",
     "memory.malloc size=1024K -> ptr=small size=1024K\n"
     "memory.info -> freeBytes=64g-1024K\n"
     "memory.malloc size=1024K-31 -> ptr=small+1024K size=1024K\n"
     "memory.malloc size=1024K+1 -> ptr=large size=1024K+32\n"
     "memory.info -> freeBytes=63g-2048K\n"
     "memory.malloc size=2g+1 -> ptr=large+1g size=2g+32\n"
     "memory.info -> freeBytes=60g-2048K"},
    {"size 0 and sizes that overflow are refused with 100000",
     "memory.malloc size=0 -> ZERO_SIZE acl=100000 field=size\n"
     "memory.malloc size=max -> MALLOC_SIZE_OVERFLOW acl=100000 field=size\n"
     "memory.malloc size=max-30 -> MALLOC_SIZE_OVERFLOW\n"
     "memory.malloc size=max-31 -> MALLOC_SIZE_OVERFLOW\n"
     "memory.malloc size=max-2g -> DEVICE_OUT_OF_MEMORY acl=207001"},
    {"a full device: 207001, nothing changes, and the message names both sizes",
     "memory.malloc size=60g\n"
     "memory.malloc size=4g+1 -> DEVICE_OUT_OF_MEMORY acl=207001 field=size says=8 says=10\n"
     "memory.malloc size=4g -> ptr=large+60g\n"
     "memory.info -> freeBytes=0\n"
     "memory.malloc size=1 -> DEVICE_OUT_OF_MEMORY"},
    {"devices do not share their memory, but the session's addresses",
     "memory.malloc size=64g -> ptr=large\n"
     "memory.malloc device=1 size=64g -> ptr=large+64g\n"
     "memory.malloc device=1 size=1 -> DEVICE_OUT_OF_MEMORY\n"
     "memory.malloc device=2 size=1 -> NO_SUCH_DEVICE acl=107001\n"
     "memory.info device=2 -> NO_SUCH_DEVICE"},
    {"memory comes as zero, also where something was written before",
     "a: memory.malloc size=64\n"
     "memory.write ptr=$a base64=abc\n"
     "memory.free ptr=$a\n"
     "memory.malloc size=64 -> ptr=small\n"
     "memory.read ptr=small size=3 -> base64=..."},
};
/* clang-format on */

static void test_malloc(void)
{
    RUN_SCENES(malloc_scenes);
}

/* clang-format off */
static const struct scene trim_scenes[] = {
    {"a full device: every pool of it that draws on demand is trimmed to its USED, thresholds or "
     "not",
     "pool.create -> pool=1\n"
     "pool.create -> pool=2\n"
     "pool.create device=1 -> pool=3\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=64g\n"
     "a: pool.malloc pool=1 size=20g\n"
     "pool.malloc pool=1 size=2g\n"
     "b: pool.malloc pool=2 size=30g\n"
     "c: pool.malloc device=1 pool=3 size=9g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.free pool=2 ptr=$b\n"
     "pool.free device=1 pool=3 ptr=$c\n"
     "memory.info -> freeBytes=12g\n"
     "memory.malloc size=13g -> size=13g\n"
     "map pool=1 -> F20 B2@0 F42\n"
     "map pool=2 -> F64\n"
     "map device=1 pool=3 -> C9@0 F55\n"
     "memory.info -> freeBytes=49g"},
    {"not when the request fits without",
     "pool.create -> pool=1\n"
     "a: pool.malloc pool=1 size=20g\n"
     "pool.free pool=1 ptr=$a\n"
     "memory.malloc size=44g\n"
     "map pool=1 -> C20@0 F44\n"
     "memory.info -> freeBytes=0"},
    {"not when the request does not fit all the same: then nothing changes",
     "pool.create -> pool=1\n"
     "a: pool.malloc pool=1 size=20g\n"
     "pool.malloc pool=1 size=10g\n"
     "pool.free pool=1 ptr=$a\n"
     "memory.malloc size=54g+1 -> DEVICE_OUT_OF_MEMORY\n"
     "map pool=1 -> C20@0 B10@0 F34\n"
     "memory.malloc size=54g\n"
     "map pool=1 -> F20 B10@0 F34"},
    {"a pool with a maxSize keeps its idle memory: that would free nothing",
     "pool.create maxSize=40g -> pool=1\n"
     "a: pool.malloc pool=1 size=20g\n"
     "pool.free pool=1 ptr=$a\n"
     "memory.malloc size=25g -> DEVICE_OUT_OF_MEMORY\n"
     "map pool=1 -> C20@0 F20"},
    {"what is trimmed before its free has completed stays late",
     "pool.create -> pool=1\n"
     "stream.create -> stream=1\n"
     "a: pool.malloc pool=1 size=20g\n"
     "stream.delay stream=0 durationNs=90us -> now=4us\n"
     "pool.free pool=1 ptr=$a\n"
     "b: memory.malloc size=45g\n"
     "map pool=1 -> F64\n"
     "memory.free ptr=$b\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=1 -> readyAtNs=94us"},
    {"all kinds of memory make up the total, always",
     "pool.create maxSize=10g -> pool=1\n"
     "pool.create -> pool=2\n"
     "pool.malloc pool=2 size=5g\n"
     "memory.malloc size=3g\n"
     "memory.malloc size=1\n"
     "memory.info -> freeBytes=46g-4K\n"
     "device.get -> freeBytes=46g-4K totalBytes=64g"},
};
/* clang-format on */

static void test_full_device(void)
{
    RUN_SCENES(trim_scenes);
}

/* clang-format off */
static const struct scene free_scenes[] = {
    {"aclrtFree gives the memory back at once",
     "a: memory.malloc size=3g\n"
     "b: memory.malloc size=1\n"
     "memory.free ptr=$a\n"
     "memory.info -> freeBytes=64g-4K\n"
     "memory.free ptr=$b\n"
     "memory.info -> freeBytes=64g"},
    {"unknown, interior and freed addresses are refused with 107000",
     "a: memory.malloc size=3g\n"
     "memory.free ptr=$a+1 -> INVALID_ADDRESS acl=107000 field=ptr says=inside\n"
     "memory.free ptr=$a+1g -> INVALID_ADDRESS says=inside\n"
     "memory.free ptr=$a+3g -> INVALID_ADDRESS\n"
     "memory.free ptr=$a-1 -> INVALID_ADDRESS\n"
     "memory.free ptr=max -> INVALID_ADDRESS\n"
     "memory.free ptr=0 -> NULL_ADDRESS acl=100000 field=ptr\n"
     "memory.free device=1 ptr=$a -> INVALID_ADDRESS says=device\n"
     "memory.free device=9 ptr=$a -> NO_SUCH_DEVICE\n"
     "memory.free ptr=$a\n"
     "memory.free ptr=$a -> INVALID_ADDRESS says=already"},
    {"behind the rounded size, inside the page, is not inside the allocation",
     "a: memory.malloc size=40\n"
     "memory.free ptr=$a+63 -> INVALID_ADDRESS says=inside\n"
     "memory.free ptr=$a+64 -> INVALID_ADDRESS says=allocated"},
    {"addresses are given again, best fit, lowest first",
     "a: memory.malloc size=3g -> ptr=large\n"
     "memory.malloc size=1g -> ptr=large+3g\n"
     "b: memory.malloc size=1g -> ptr=large+4g\n"
     "memory.malloc size=1g -> ptr=large+5g\n"
     "c: memory.malloc size=1g -> ptr=large+6g\n"
     "memory.malloc size=1g -> ptr=large+7g\n"
     "memory.free ptr=$c\n"
     "memory.free ptr=$a\n"
     "memory.free ptr=$b\n"
     "memory.malloc size=1g -> ptr=large+4g\n"
     "memory.malloc size=1g -> ptr=large+6g\n"
     "memory.malloc size=1g -> ptr=large\n"
     "memory.malloc size=3g -> ptr=large+8g\n"
     "memory.malloc size=2g -> ptr=large+1g"},
};
/* clang-format on */

static void test_free(void)
{
    RUN_SCENES(free_scenes);
}

/* clang-format off */
static const struct scene async_scenes[] = {
    {"memory is freed when the stream reaches it: the device's memory rises when the clock is "
     "there",
     "a: memory.malloc size=3g -> now=1us\n"
     "stream.delay stream=0 durationNs=3us -> now=2us\n"
     "memory.freeAsync ptr=$a stream=0 -> now=3us\n"
     "memory.info -> now=4us freeBytes=61g\n"
     "memory.info -> now=5us freeBytes=64g"},
    {"without a stream it is stream 0, and an idle stream is there at once",
     "a: memory.malloc size=3g\n"
     "memory.freeAsync ptr=$a\n"
     "memory.info -> freeBytes=64g"},
    {"access and a second free are refused at once",
     "a: memory.malloc size=3g\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "memory.freeAsync ptr=$a stream=0\n"
     "memory.freeAsync ptr=$a stream=0 -> INVALID_ADDRESS acl=107000\n"
     "memory.free ptr=$a -> INVALID_ADDRESS acl=107000\n"
     "memory.read ptr=$a size=1 -> INVALID_ADDRESS acl=107000\n"
     "memory.describe ptr=$a -> INVALID_ADDRESS\n"
     "memory.malloc size=1g -> ptr=large+3g\n"
     "stream.synchronize stream=0\n"
     "memory.malloc size=1g -> ptr=large"},
    {"streams and addresses have to fit",
     "a: memory.malloc size=3g\n"
     "stream.create device=1 -> stream=1\n"
     "memory.freeAsync ptr=$a stream=1 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "memory.freeAsync ptr=$a stream=7 -> NO_SUCH_STREAM acl=107017\n"
     "memory.freeAsync device=1 ptr=$a stream=1 -> INVALID_ADDRESS says=device\n"
     "memory.freeAsync device=8 ptr=$a -> NO_SUCH_DEVICE\n"
     "memory.freeAsync ptr=$a+1g -> INVALID_ADDRESS says=inside\n"
     "memory.freeAsync ptr=large+9g -> INVALID_ADDRESS\n"
     "memory.info -> freeBytes=61g"},
    {"in order of time, whatever the order of the calls",
     "stream.create -> stream=1\n"
     "a: memory.malloc size=1g\n"
     "b: memory.malloc size=2g\n"
     "stream.delay stream=0 durationNs=6us -> now=4us\n"
     "stream.delay stream=1 durationNs=3us -> now=5us\n"
     "memory.freeAsync ptr=$a stream=0\n"
     "memory.freeAsync ptr=$b stream=1 -> now=7us\n"
     "memory.info -> now=8us freeBytes=63g\n"
     "memory.info -> now=9us freeBytes=63g\n"
     "memory.info -> now=10us freeBytes=64g"},
    {"behind a wait for a record to come it stays until that is made",
     "a: memory.malloc size=1g\n"
     "b: memory.malloc size=2g\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1\n"
     "memory.freeAsync ptr=$a stream=1\n"
     "stream.delay stream=1 durationNs=5us\n"
     "memory.freeAsync ptr=$b stream=1 -> now=9us\n"
     "memory.info -> freeBytes=61g\n"
     "event.record event=1 stream=0 -> now=11us\n"
     "memory.info -> now=12us freeBytes=62g\n"
     "memory.info -> now=13us\n"
     "memory.info -> now=14us\n"
     "memory.info -> now=15us\n"
     "memory.info -> now=16us freeBytes=64g"},
    {"a synchronise settles what it has waited for by the next command",
     "a: memory.malloc size=1g\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "memory.freeAsync ptr=$a stream=0\n"
     "stream.synchronize stream=0\n"
     "memory.info -> freeBytes=64g"},
    {"memory on its way back does not count as live, but still as taken",
     "a: memory.malloc size=64g\n"
     "stream.delay stream=0 durationNs=1ms\n"
     "memory.freeAsync ptr=$a stream=0\n"
     "memory.malloc size=1 -> DEVICE_OUT_OF_MEMORY\n"
     "pool.create maxSize=1 -> DEVICE_MEMORY_EXHAUSTED\n"
     "device.synchronize\n"
     "pool.create maxSize=64g -> pool=1"},
};
/* clang-format on */

static void test_free_async(void)
{
    RUN_SCENES(async_scenes);
}

/* clang-format off */
static const struct scene describe_scenes[] = {
    {"an address of a pool block: where the block begins, how long it is, how far in",
     "pool.create maxSize=8g -> pool=1\n"
     "pool.malloc pool=1 size=1g\n"
     "a: pool.malloc pool=1 size=2g-7\n"
     "memory.describe ptr=$a+1g+5 -> kind=POOL pool=1 base=p1+1g size=2g offset=1g+5 state=BUSY\n"
     "memory.describe ptr=$a -> offset=0\n"
     "memory.describe ptr=$a+2g-1 -> offset=2g-1\n"
     "memory.describe ptr=$a+2g -> INVALID_ADDRESS acl=107000 field=ptr"},
    {"an address of an allocation",
     "a: memory.malloc size=40\n"
     "memory.describe ptr=$a+63 -> kind=DEVICE pool=none base=small size=64 offset=63 "
         "state=BUSY\n"
     "memory.describe ptr=$a+64 -> INVALID_ADDRESS"},
    {"what is not live memory of this device",
     "pool.create maxSize=8g -> pool=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "memory.describe ptr=$a+1g -> INVALID_ADDRESS says=pool\n"
     "memory.describe ptr=0 -> INVALID_ADDRESS\n"
     "memory.describe ptr=max -> INVALID_ADDRESS\n"
     "memory.describe device=1 ptr=$a -> INVALID_ADDRESS says=device\n"
     "memory.describe device=9 ptr=$a -> NO_SUCH_DEVICE\n"
     "pool.free pool=1 ptr=$a\n"
     "memory.describe ptr=$a -> INVALID_ADDRESS says=freed"},
};
/* clang-format on */

static void test_describe(void)
{
    RUN_SCENES(describe_scenes);
}

static void test_malloc_without_contents(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "a cached block",
                         "pool.create -> pool=1\n"
                         "a: pool.malloc pool=1 size=60g\n"
                         "pool.free pool=1 ptr=$a");
    fixture.contents.fail_next = true;
    (void)fixture_script(&fixture, "no contents for an allocation: nothing was trimmed for it",
                         "memory.malloc size=5g -> HOST_MEMORY_EXHAUSTED acl=207001\n"
                         "map pool=1 -> C60@0 F4\n"
                         "memory.malloc size=4g -> ptr=large+64g\n"
                         "memory.info -> freeBytes=0");
    fixture_finish(&fixture, "no contents for an allocation");
}

/* engine_resolve says the same to kernels and to the prediction of addresses. */
static void test_resolve(void)
{
    static const struct {
        const char *what;
        uint64_t device, offset, size; /* from the pool's base */
        enum soma_status status;
        uint64_t base, block_bytes, requested_bytes; /* base from the pool's base */
    } rows[] = {
        {"a byte", 0, 0, 1, SOMA_OK, 0, 2 * SOMA_GRANULE_BYTES, SOMA_GRANULE_BYTES + 9},
        {"the whole block", 0, 0, 2 * SOMA_GRANULE_BYTES, SOMA_OK, 0, 2 * SOMA_GRANULE_BYTES,
         SOMA_GRANULE_BYTES + 9},
        {"its last byte", 0, 2 * SOMA_GRANULE_BYTES - 1, 1, SOMA_OK, 0, 2 * SOMA_GRANULE_BYTES,
         SOMA_GRANULE_BYTES + 9},
        {"a byte more than the block", 0, 1, 2 * SOMA_GRANULE_BYTES, SOMA_INVALID_ADDRESS, 0, 0, 0},
        {"a size that wraps", 0, 1, UINT64_MAX, SOMA_INVALID_ADDRESS, 0, 0, 0},
        {"behind the block", 0, 2 * SOMA_GRANULE_BYTES, 1, SOMA_INVALID_ADDRESS, 0, 0, 0},
        {"another device", 1, 0, 1, SOMA_INVALID_ADDRESS, 0, 0, 0},
        {"no device", 2, 0, 1, SOMA_NO_SUCH_DEVICE, 0, 0, 0},
        {"no device at all", UINT64_MAX, 0, 1, SOMA_NO_SUCH_DEVICE, 0, 0, 0},
    };
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    (void)fixture_script(&fixture, "a block",
                         "pool.create maxSize=8g -> pool=1\n"
                         "pool.malloc pool=1 size=1g+9");
    uint64_t pool_base = fixture.bases[1];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t base = 0, block_bytes = 0, requested_bytes = 0;
        struct soma_error error;
        enum soma_status status =
            engine_resolve(fixture.engine, rows[i].device, pool_base + rows[i].offset, rows[i].size,
                           &base, &block_bytes, &requested_bytes, &error);
        EXPECT(status == rows[i].status, "%s: status %d", rows[i].what, (int)status);
        EXPECT(base == (status == SOMA_OK ? pool_base + rows[i].base : 0) &&
                   block_bytes == rows[i].block_bytes && requested_bytes == rows[i].requested_bytes,
               "%s: block of %" PRIu64 ", asked for %" PRIu64, rows[i].what, block_bytes,
               requested_bytes);
    }
    fixture_finish(&fixture, "resolve");
}

static const struct soma_test tests[] = {
    {"allocating", test_malloc},
    {"a full device", test_full_device},
    {"freeing", test_free},
    {"freeing in stream order", test_free_async},
    {"what an address is", test_describe},
    {"no contents for an allocation", test_malloc_without_contents},
    {"engine_resolve", test_resolve},
    {NULL, NULL},
};

const struct soma_suite suite_engine_memory = {"engine_memory", tests};
