/* Pools: creation, attributes, reports, destruction. */
#include "engine_fixture.h"
#include "expect.h"
#include "internal.h"
#include "suites.h"

#include <inttypes.h>

/* clang-format off */
static const struct scene create_scenes[] = {
    {"pool ids count up from 1 over all devices and are never reused",
     "pool.create maxSize=1g -> pool=1 device=0\n"
     "pool.create device=1 maxSize=1g -> pool=2 device=1\n"
     "pool.destroy pool=1\n"
     "pool.create maxSize=1g -> pool=3\n"
     "pool.get pool=1 -> NO_SUCH_POOL acl=507000 field=pool says=destroyed\n"
     "pool.get pool=4 -> NO_SUCH_POOL says=never"},
    {"a refused create uses no id, whatever refused it",
     "pool.create device=2 maxSize=1g -> NO_SUCH_DEVICE acl=107001\n"
     "pool.create maxSize=65g -> POOL_SIZE_EXCEEDS_DEVICE\n"
     "pool.create allocType=7 -> UNSUPPORTED_ALLOC_TYPE\n"
     "pool.create maxSize=1g -> pool=1"},
    {"allocType must be PINNED",
     "pool.create maxSize=1g allocType=1 -> UNSUPPORTED_ALLOC_TYPE acl=100000 field=allocType\n"
     "pool.create maxSize=1g allocType=PINNED -> pool=1"},
    {"location.type must be DEVICE",
     "pool.create maxSize=1g location=0 -> UNSUPPORTED_LOCATION acl=100000 field=location.type\n"
     "pool.create maxSize=1g location=2 -> UNSUPPORTED_LOCATION\n"
     "pool.create maxSize=1g location=1 -> pool=1"},
    {"location.id must be the device",
     "pool.create maxSize=1g location=1 location.id=1 -> WRONG_LOCATION acl=107001 "
         "field=location.id\n"
     "pool.create maxSize=1g location=1 location.id=77 -> WRONG_LOCATION\n"
     "pool.create device=1 maxSize=1g location=1 location.id=1 -> pool=1"},
    {"handleType NONE and POSIX are accepted",
     "pool.create maxSize=1g handleType=NONE -> pool=1\n"
     "pool.create maxSize=1g handleType=POSIX -> pool=2\n"
     "pool.create maxSize=1g handleType=1 -> INVALID_VALUE field=handleType\n"
     "pool.create maxSize=1g -> pool=3"},
    {"maxSize is rounded up to 2 MiB",
     "pool.create maxSize=1 -> maxSize=1g granularity=1g\n"
     "pool.create maxSize=1g -> maxSize=1g\n"
     "pool.create maxSize=1g+1 -> maxSize=2g\n"
     "pool.get pool=3 -> maxSize=2g usage.largestFreeBytes=2g"},
    {"a rounded maxSize above the device's total is refused, and the message names both",
     "pool.create maxSize=64g+1 -> POOL_SIZE_EXCEEDS_DEVICE acl=107000 field=maxSize says=130 "
         "says=128\n"
     "pool.create maxSize=max -> POOL_SIZE_EXCEEDS_DEVICE\n"
     "pool.create maxSize=max-1g+1 -> POOL_SIZE_EXCEEDS_DEVICE\n"
     "pool.create maxSize=64g -> pool=1"},
    {"a rounded maxSize above the device's free memory is refused: it is set aside at creation",
     "pool.create maxSize=60g -> pool=1\n"
     "memory.info -> freeBytes=4g totalBytes=64g\n"
     "pool.create maxSize=4g+1 -> DEVICE_MEMORY_EXHAUSTED acl=507000 field=maxSize\n"
     "pool.create maxSize=4g -> pool=2\n"
     "memory.info -> freeBytes=0\n"
     "pool.create device=1 maxSize=64g -> pool=3\n"
     "pool.destroy pool=1\n"
     "memory.info -> freeBytes=60g"},
    {"maxSize 0: the device's total memory; the pool draws on the device as it grows",
     "pool.create -> pool=1 maxSize=64g\n"
     "pool.create maxSize=0 -> pool=2 maxSize=64g\n"
     "memory.info -> freeBytes=64g\n"
     "a: pool.malloc pool=1 size=3g\n"
     "memory.info -> freeBytes=61g\n"
     "pool.malloc pool=2 size=61g\n"
     "memory.info -> freeBytes=0\n"
     "memory.free ptr=$a\n"
     "memory.info -> freeBytes=3g\n"
     "pool.destroy pool=2\n"
     "memory.info -> freeBytes=64g"},
    {"creating a pool trims nothing",
     "pool.create -> pool=1\n"
     "a: pool.malloc pool=1 size=60g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.create maxSize=5g -> DEVICE_MEMORY_EXHAUSTED\n"
     "map pool=1 -> C60@0 F4\n"
     "pool.create maxSize=4g -> pool=2"},
    {"each pool has one address range, 2 MiB aligned, and they do not overlap",
     "pool.create maxSize=3g -> baseAddress=large\n"
     "pool.create device=1 maxSize=5g -> baseAddress=large+3g\n"
     "memory.malloc size=2g -> ptr=large+8g\n"
     "pool.create maxSize=2g -> baseAddress=large+10g\n"
     "pool.destroy device=1 pool=2\n"
     "pool.create maxSize=4g -> baseAddress=large+3g\n"
     "pool.create maxSize=1g -> baseAddress=large+7g"},
};
/* clang-format on */

static void test_create(void)
{
    RUN_SCENES(create_scenes);
    /* clang-format off */
            static const struct scene odd_scenes[] = {
    {"maxSize 0 on a device whose memory is not whole granules: rounded down",
     "memory.info -> totalBytes=3g+1024K\n"
     "pool.create -> maxSize=3g\n"
     "pool.malloc pool=1 size=3g\n"
     "memory.info -> freeBytes=1024K\n"
     "pool.create maxSize=1024K -> DEVICE_MEMORY_EXHAUSTED\n"
     "pool.create device=1 maxSize=3g+1 -> POOL_SIZE_EXCEEDS_DEVICE\n"
     "pool.create device=1 maxSize=3g -> pool=2"},
};
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = 3 * SOMA_GRANULE_BYTES + SOMA_GRANULE_BYTES / 2;
    RUN_SCENES_ON(odd_scenes, &setup);
}

/* When there are no contents for the range, the pool is refused and its place is free again. */
static void test_create_without_contents(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "start"))
        return;
    fixture.contents.fail_next = true;
    (void)fixture_script(&fixture, "no contents for a pool",
                         "pool.create maxSize=3g -> HOST_MEMORY_EXHAUSTED\n"
                         "memory.info -> freeBytes=64g\n"
                         "pool.create maxSize=3g -> pool=1 baseAddress=large");
    fixture_finish(&fixture, "no contents for a pool");
}

/* clang-format off */
static const struct scene attribute_scenes[] = {
    {"attributes 1 to 3 are off by default, all others 0",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.getAttributes pool=1 -> reuseFollowEventDependencies=0 reuseAllowOpportunistic=0 "
         "reuseAllowInternalDependencies=0 releaseThreshold=0 reservedMemCurrent=0 "
         "reservedMemHigh=0 usedMemCurrent=0 usedMemHigh=0"},
    {"attributes 1 to 3: 0, or anything else for 1",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=77 -> "
         "name=reuseFollowEventDependencies value=1\n"
     "pool.setAttribute pool=1 name=reuseAllowOpportunistic value=max -> value=1\n"
     "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1 -> value=1\n"
     "pool.getAttributes pool=1 -> reuseFollowEventDependencies=1 reuseAllowOpportunistic=1 "
         "reuseAllowInternalDependencies=1\n"
     "pool.setAttribute pool=1 name=reuseAllowOpportunistic value=0 -> value=0\n"
     "pool.getAttribute pool=1 name=reuseAllowOpportunistic -> value=0\n"
     "pool.getAttribute pool=1 name=reuseFollowEventDependencies -> value=1"},
    {"the threshold is kept as it is given, at most maxSize",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=1g+1 -> value=1g+1\n"
     "pool.getAttribute pool=1 name=releaseThreshold -> value=1g+1 name=releaseThreshold\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=4g -> value=4g\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=4g+1 -> ATTRIBUTE_VALUE acl=507000 "
         "field=value\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=max -> ATTRIBUTE_VALUE\n"
     "pool.getAttribute pool=1 name=releaseThreshold -> value=4g"},
    {"current values are read-only",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.setAttribute pool=1 name=reservedMemCurrent value=0 -> ATTRIBUTE_READ_ONLY acl=107000 "
         "field=name\n"
     "pool.setAttribute pool=1 name=usedMemCurrent value=0 -> ATTRIBUTE_READ_ONLY acl=107000"},
    {"high-water marks can only be set to 0, which means the current value",
     "pool.create maxSize=8g -> pool=1\n"
     "a: pool.malloc pool=1 size=5g\n"
     "b: pool.malloc pool=1 size=2g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.trimTo pool=1 minBytesToKeep=4g\n"
     "pool.getAttributes pool=1 -> usedMemHigh=7g usedMemCurrent=2g reservedMemHigh=7g "
         "reservedMemCurrent=4g\n"
     "pool.setAttribute pool=1 name=usedMemHigh value=1 -> ATTRIBUTE_VALUE acl=507000\n"
     "pool.setAttribute pool=1 name=reservedMemHigh value=7g -> ATTRIBUTE_VALUE acl=507000\n"
     "pool.setAttribute pool=1 name=usedMemHigh value=0 -> name=usedMemHigh value=2g\n"
     "pool.getAttributes pool=1 -> usedMemHigh=2g reservedMemHigh=7g\n"
     "pool.setAttribute pool=1 name=reservedMemHigh value=0 -> value=4g\n"
     "pool.getAttribute pool=1 name=reservedMemHigh -> value=4g\n"
     "pool.getAttribute pool=1 name=reservedMemCurrent -> value=4g\n"
     "pool.getAttribute pool=1 name=usedMemCurrent -> value=2g\n"
     "pool.getAttribute pool=1 name=usedMemHigh -> value=2g"},
    {"attributes of an unknown or destroyed pool: 107000",
     "pool.getAttributes pool=1 -> NO_SUCH_POOL_ATTRIBUTES acl=107000 says=never\n"
     "pool.create maxSize=4g -> pool=1\n"
     "pool.getAttributes device=1 pool=1 -> NO_SUCH_POOL_ATTRIBUTES acl=107000\n"
     "pool.destroy pool=1\n"
     "pool.getAttributes pool=1 -> NO_SUCH_POOL_ATTRIBUTES acl=107000 says=destroyed\n"
     "pool.getAttribute pool=1 name=usedMemHigh -> NO_SUCH_POOL_ATTRIBUTES acl=107000\n"
     "pool.setAttribute pool=1 name=usedMemHigh value=0 -> NO_SUCH_POOL_ATTRIBUTES acl=107000"},
    {"unknown attribute: 507000",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.getAttribute pool=1 name=0 -> UNKNOWN_ATTRIBUTE acl=507000 field=name\n"
     "pool.getAttribute pool=1 name=9 -> UNKNOWN_ATTRIBUTE acl=507000\n"
     "pool.setAttribute pool=1 name=9 value=0 -> UNKNOWN_ATTRIBUTE acl=507000\n"
     "pool.setAttribute pool=1 name=max value=0 -> UNKNOWN_ATTRIBUTE"},
    {"attributes are a pool's own",
     "pool.create maxSize=4g -> pool=1\n"
     "pool.create maxSize=4g -> pool=2\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=2g\n"
     "pool.getAttribute pool=2 name=releaseThreshold -> value=0"},
};
/* clang-format on */

static void test_attributes(void)
{
    RUN_SCENES(attribute_scenes);
}

/* clang-format off */
static const struct scene report_scenes[] = {
    {"the list has the live pools of the device by id",
     "pool.list -> pools.count=0\n"
     "pool.create maxSize=1g -> pool=1\n"
     "pool.create device=1 maxSize=2g -> pool=2\n"
     "pool.create maxSize=3g -> pool=3\n"
     "pool.create maxSize=4g -> pool=4\n"
     "pool.destroy pool=3\n"
     "pool.list -> pools.count=2 pools[0].pool=1 pools[0].maxSize=1g pools[0].baseAddress=p1 "
         "pools[0].granularity=1g pools[1].pool=4 pools[1].device=0\n"
     "pool.list device=1 -> pools.count=1 pools[0].pool=2 pools[0].device=1\n"
     "pool.list device=9 -> NO_SUCH_DEVICE\n"
     "device.get -> pools=2"},
    {"a new pool is one FREE block and nothing is used",
     "pool.create maxSize=5g -> pool=1\n"
     "pool.get pool=1 -> pool=1 device=0 baseAddress=p1 maxSize=5g granularity=1g "
         "usage.liveAllocations=0 usage.requestedBytes=0 usage.cachedBytes=0 "
         "usage.largestFreeBytes=5g usage.cachedByStream.count=0 usage.mallocs=0 usage.frees=0 "
         "usage.mappedBytesTotal=0 usage.unmappedBytesTotal=0\n"
     "map pool=1 -> F5"},
    {"a pool of another device",
     "pool.create device=1 maxSize=5g -> pool=1\n"
     "pool.get device=1 pool=1 -> pool=1 device=1"},
    {"a full pool has no free block",
     "pool.create maxSize=5g -> pool=1\n"
     "pool.malloc pool=1 size=5g\n"
     "pool.get pool=1 -> usage.largestFreeBytes=0"},
    {"reports need the pool's own device",
     "pool.create maxSize=5g -> pool=1\n"
     "pool.get device=1 pool=1 -> NO_SUCH_POOL says=belongs\n"
     "pool.segments device=1 pool=1 -> NO_SUCH_POOL\n"
     "pool.get device=9 pool=1 -> NO_SUCH_DEVICE\n"
     "pool.segments device=9 pool=1 -> NO_SUCH_DEVICE\n"
     "pool.getAttribute device=9 pool=1 name=usedMemHigh -> NO_SUCH_DEVICE\n"
     "pool.setAttribute device=9 pool=1 name=usedMemHigh value=0 -> NO_SUCH_DEVICE\n"
     "pool.destroy device=9 pool=1 -> NO_SUCH_DEVICE"},
};
/* clang-format on */

static void test_reports(void)
{
    RUN_SCENES(report_scenes);
}

/* clang-format off */
static const struct scene destroy_scenes[] = {
    {"a live pool can always be destroyed; live blocks go with it and are reported",
     "pool.create maxSize=8g -> pool=1\n"
     "stream.create -> stream=1\n"
     "pool.malloc pool=1 size=3 stream=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "pool.malloc pool=1 size=2g-5\n"
     "pool.free pool=1 ptr=$a\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.destroy pool=1 -> leakedAllocations=2 leakedBytes=3g leaks.count=2 leaks[0].kind=POOL "
         "leaks[0].device=0 leaks[0].pool=1 leaks[0].ptr=p1 leaks[0].size=1g "
         "leaks[0].requestedSize=3 leaks[0].stream=1 leaks[0].allocatedBy=3 leaks[1].ptr=p1+2g "
         "leaks[1].size=2g leaks[1].requestedSize=2g-5 leaks[1].stream=0 leaks[1].allocatedBy=5"},
    {"refused commands have no number",
     "pool.create maxSize=8g -> pool=1\n"
     "pool.malloc pool=1 size=0 -> ZERO_SIZE\n"
     "pool.malloc pool=1 size=1\n"
     "pool.destroy pool=1 -> leaks[0].allocatedBy=2"},
    {"a pool without live blocks leaks nothing",
     "pool.create maxSize=8g -> pool=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.destroy pool=1 -> leakedAllocations=0 leakedBytes=0 leaks.count=0"},
    {"using the pool later: 507000 in malloc, trim and destroy, 107000 for its addresses",
     "pool.create maxSize=8g -> pool=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "pool.destroy pool=1\n"
     "pool.malloc pool=1 size=1 -> NO_SUCH_POOL acl=507000\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> NO_SUCH_POOL acl=507000\n"
     "pool.destroy pool=1 -> NO_SUCH_POOL acl=507000\n"
     "pool.segments pool=1 -> NO_SUCH_POOL\n"
     "memory.free ptr=$a -> INVALID_ADDRESS acl=107000\n"
     "memory.describe ptr=$a -> INVALID_ADDRESS acl=107000\n"
     "memory.set ptr=$a value=1 size=1 -> INVALID_ADDRESS acl=107000"},
    {"the range is free again, and reads as zero",
     "pool.create maxSize=8g -> pool=1\n"
     "a: pool.malloc pool=1 size=1g\n"
     "memory.write ptr=$a base64=abc\n"
     "pool.destroy pool=1\n"
     "pool.create maxSize=8g -> pool=2 baseAddress=p1\n"
     "pool.malloc pool=2 size=1g -> ptr=p1\n"
     "memory.read ptr=p1 size=3 -> base64=..."},
    {"cached blocks behind a wait, and late ones, go with their pool",
     "pool.create maxSize=8g -> pool=1\n"
     "event.create kind=PLAIN -> event=1\n"
     "event.reset event=1 stream=0\n"
     "stream.create -> stream=1\n"
     "stream.waitEvent stream=1 event=1\n"
     "a: pool.malloc pool=1 size=2g\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=1g\n"
     "map pool=1 -> F1 C1@1 F6\n"
     "pool.destroy pool=1\n"
     "event.record event=1 stream=0\n"
     "stream.get stream=1 -> status=COMPLETE"},
};
/* clang-format on */

static void test_destroy(void)
{
    RUN_SCENES(destroy_scenes);
}

/* A pool with more live blocks than are listed. */
static void test_many_leaks(void)
{
    struct fixture fixture;
    struct fixture_setup setup = fixture_setup_default();
    setup.config.memory_bytes = 256 * SOMA_GRANULE_BYTES;
    if (!EXPECT(fixture_start(&fixture, &setup), "start"))
        return;
    (void)fixture_run(&fixture, "pool.create maxSize=200g");
    for (int i = 0; i < 150; i++)
        (void)fixture_run(&fixture, "pool.malloc pool=1 size=1");
    (void)fixture_script(&fixture, "all leaks are counted, the first 100 listed",
                         "pool.destroy pool=1 -> leakedAllocations=150 leakedBytes=150g "
                         "leaks.count=100 leaks[99].ptr=p1+99g");
    fixture_finish(&fixture, "many leaks");
}

static void test_round_up(void)
{
    static const struct {
        uint64_t size, unit, wanted;
    } rows[] = {
        {0, 32, 0},
        {1, 32, 32},
        {32, 32, 32},
        {33, 32, 64},
        {SOMA_GRANULE_BYTES - 1, SOMA_GRANULE_BYTES, SOMA_GRANULE_BYTES},
        {UINT64_MAX - 31, 32, UINT64_MAX - 31},
        {UINT64_MAX - 30, 32, 0},
        {UINT64_MAX, 32, 0},
        {UINT64_MAX, 1, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        EXPECT(round_up(rows[i].size, rows[i].unit) == rows[i].wanted,
               "%" PRIu64 " rounded up to %" PRIu64 " is %" PRIu64, rows[i].size, rows[i].unit,
               round_up(rows[i].size, rows[i].unit));
}

static const struct soma_test tests[] = {
    {"creation", test_create},       {"no contents for a new pool", test_create_without_contents},
    {"attributes", test_attributes}, {"reports", test_reports},
    {"destruction", test_destroy},   {"many leaks", test_many_leaks},
    {"rounding", test_round_up},     {NULL, NULL},
};

const struct soma_suite suite_engine_pool = {"engine_pool", tests};
