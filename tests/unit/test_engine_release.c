/* FreeAsync, and what gives memory back: synchronisation, TrimTo, aclrtFree. */
#include "engine_fixture.h"
#include "suites.h"

/* Pool 1 of 16 granules, streams 1 and 2. */
#define POOL                                                                                       \
    "pool.create maxSize=16g -> pool=1\n"                                                          \
    "stream.create -> stream=1\n"                                                                  \
    "stream.create -> stream=2\n"

/* Cached blocks of 3, 1, 2 and 1 granules, apart from each other; 4 are used: 11 reserved. */
#define CACHED_3_1_2_1                                                                             \
    "a: pool.malloc pool=1 size=3g stream=1 -> ptr=p1\n"                                           \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "b: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "c: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+6g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "d: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+9g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "pool.free pool=1 ptr=$a stream=1\n"                                                           \
    "pool.free pool=1 ptr=$b stream=1\n"                                                           \
    "pool.free pool=1 ptr=$c stream=2\n"                                                           \
    "pool.free pool=1 ptr=$d stream=1\n"

/* clang-format off */
static const struct scene free_scenes[] = {
    {"a freed block is CACHED at once in the books: USED falls at the call, RESERVED does not",
     POOL
     "a: pool.malloc pool=1 size=3g+1 stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "pool.free pool=1 ptr=$a stream=1 -> size=4g\n"
     "pool.get pool=1 -> attributes.usedMemCurrent=0 attributes.reservedMemCurrent=4g "
         "usage.cachedBytes=4g usage.requestedBytes=0 usage.liveAllocations=0 usage.frees=1 "
         "usage.cachedByStream.count=1 usage.cachedByStream[0].stream=1 "
         "usage.cachedByStream[0].bytes=4g\n"
     "map pool=1 -> C4@1 F12"},
    {"without a stream it is stream 0",
     POOL
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a\n"
     "map pool=1 -> C1@0 F15"},
    {"a free is a task of its stream",
     POOL
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "stream.delay stream=1 durationNs=20us -> now=5us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.get stream=1 -> pendingTasks=2 readyAtNs=25us"},
    {"NULL is refused",
     POOL
     "pool.free pool=1 ptr=0 stream=1 -> NULL_ADDRESS acl=100000 field=ptr\n"
     "memory.freeAsync ptr=0 stream=1 -> NULL_ADDRESS acl=100000"},
    {"an address inside a block is refused, and nothing changes",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "pool.free pool=1 ptr=$a+1 stream=1 -> INVALID_ADDRESS acl=107000 says=inside\n"
     "pool.free pool=1 ptr=$a+1g stream=1 -> INVALID_ADDRESS says=inside\n"
     "pool.free pool=1 ptr=$a+3g-1 stream=1 -> INVALID_ADDRESS\n"
     "map pool=1 -> B3@1 F13"},
    {"an address that was freed already is refused",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.free pool=1 ptr=$a stream=1 -> INVALID_ADDRESS acl=107000 says=already\n"
     "pool.free pool=1 ptr=$a+1g stream=2 -> INVALID_ADDRESS says=already\n"
     "map pool=1 -> C3@1 F13"},
    {"an address that was never allocated is refused",
     POOL
     "pool.free pool=1 ptr=p1 stream=1 -> INVALID_ADDRESS acl=107000 says=nothing\n"
     "pool.free pool=1 ptr=p1+16g stream=1 -> INVALID_ADDRESS\n"
     "pool.free pool=1 ptr=p1-1 stream=1 -> INVALID_ADDRESS\n"
     "pool.free pool=1 ptr=1 stream=1 -> INVALID_ADDRESS\n"
     "pool.free pool=1 ptr=max stream=1 -> INVALID_ADDRESS"},
    {"a destroyed stream and one of another device are refused",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "stream.create device=1 -> stream=3\n"
     "stream.destroy stream=2\n"
     "pool.free pool=1 ptr=$a stream=2 -> NO_SUCH_STREAM acl=107017\n"
     "pool.free pool=1 ptr=$a stream=3 -> STREAM_OF_OTHER_DEVICE acl=107003\n"
     "pool.free device=1 pool=1 ptr=$a stream=3 -> NO_SUCH_POOL\n"
     "pool.free device=7 pool=1 ptr=$a stream=3 -> NO_SUCH_DEVICE\n"
     "map pool=1 -> B3@1 F13"},
    {"a block of another pool is refused by pool.free, but not by memory.freeAsync",
     POOL
     "pool.create maxSize=4g -> pool=2\n"
     "a: pool.malloc pool=2 size=1 stream=1\n"
     "pool.free pool=1 ptr=$a stream=1 -> ADDRESS_OF_OTHER_POOL acl=107000 says=2\n"
     "memory.freeAsync ptr=$a stream=1\n"
     "map pool=2 -> C1@1 F3"},
    {"the address of a pool that is gone, or never was, is refused",
     POOL
     "a: pool.malloc pool=1 size=1 stream=1\n"
     "pool.destroy pool=1\n"
     "pool.free pool=1 ptr=$a stream=1 -> NO_SUCH_POOL acl=507000 says=destroyed\n"
     "memory.freeAsync ptr=$a stream=1 -> INVALID_ADDRESS acl=107000\n"
     "memory.free ptr=$a -> INVALID_ADDRESS acl=107000\n"
     "pool.free pool=5 ptr=$a stream=1 -> NO_SUCH_POOL says=never"},
    {"aclrtFree on a pool address: freed at once, USED and RESERVED both fall",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "stream.delay stream=1 durationNs=1ms\n"
     "memory.free ptr=$a -> now=6us\n"
     "pool.get pool=1 -> attributes.usedMemCurrent=0 attributes.reservedMemCurrent=0 "
         "usage.frees=1 usage.unmappedBytesTotal=3g usage.requestedBytes=0\n"
     "map pool=1 -> F16\n"
     "pool.malloc pool=1 size=3g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> status=COMPLETE"},
    {"aclrtFree unmaps: the memory reads as zero when it comes back",
     POOL
     "a: pool.malloc pool=1 size=1g stream=1\n"
     "memory.write ptr=$a base64=gone\n"
     "memory.free ptr=$a\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=FRESH ptr=p1\n"
     "memory.read ptr=p1 size=4 -> base64=...."},
    {"aclrtFree of what is not a live block is refused",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "memory.free ptr=$a+1g -> INVALID_ADDRESS acl=107000 says=inside\n"
     "memory.free ptr=$a+3g -> INVALID_ADDRESS says=nothing\n"
     "memory.free device=1 ptr=$a -> INVALID_ADDRESS says=device\n"
     "memory.freeAsync device=1 ptr=$a stream=0 -> INVALID_ADDRESS says=device\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "memory.free ptr=$a -> INVALID_ADDRESS says=already\n"
     "map pool=1 -> C3@1 F13"},
};
/* clang-format on */

static void test_free(void)
{
    RUN_SCENES(free_scenes);
}

/* clang-format off */
static const struct scene sync_scenes[] = {
    {"a wait with release 0 only waits",
     POOL CACHED_3_1_2_1
     "stream.delay stream=1 durationNs=1ms\n"
     "stream.synchronize stream=1 release=0 timeoutMs=0 -> STREAM_SYNC_TIMEOUT\n"
     "stream.synchronize stream=1 release=0 -> status=COMPLETE releasedBytes=0 nowNs=1ms+16us\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=11g\n"
     "stream.synchronize stream=1 release=1 -> releasedBytes=7g"},
    {"synchronising a stream releases all that is idle: the threshold is 0 by default",
     POOL CACHED_3_1_2_1
     "stream.synchronize stream=1 -> releasedBytes=7g\n"
     "map pool=1 -> F3 B1@1 F1 B1@1 F2 B1@1 F1 B1@1 F5\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=4g attributes.usedMemCurrent=4g "
         "usage.unmappedBytesTotal=7g"},
    {"so does synchronising an event",
     POOL CACHED_3_1_2_1
     "event.create -> event=1\n"
     "event.synchronize event=1 -> releasedBytes=7g"},
    {"and synchronising a device",
     POOL CACHED_3_1_2_1
     "device.synchronize -> releasedBytes=7g"},
    {"another stream's frees are released too",
     POOL
     "a: pool.malloc pool=1 size=3g stream=1\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "stream.synchronize stream=2 -> releasedBytes=3g"},
    {"all pools of the device, none of another",
     POOL
     "pool.create maxSize=4g -> pool=2\n"
     "pool.create device=1 maxSize=4g -> pool=3\n"
     "a: pool.malloc pool=1 size=3g\n"
     "b: pool.malloc pool=2 size=2g\n"
     "c: pool.malloc device=1 pool=3 size=1g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.free pool=2 ptr=$b\n"
     "pool.free device=1 pool=3 ptr=$c\n"
     "stream.synchronize stream=1 -> releasedBytes=5g\n"
     "map pool=1 -> F16\n"
     "map pool=2 -> F4\n"
     "map device=1 pool=3 -> C1@0 F3\n"
     "event.create device=1 -> event=1\n"
     "event.synchronize device=1 event=1 -> releasedBytes=1g"},
    {"idle memory up to the threshold stays",
     POOL CACHED_3_1_2_1
     "pool.setAttribute pool=1 name=releaseThreshold value=7g\n"
     "stream.synchronize stream=1 -> releasedBytes=0\n"
     "map pool=1 -> C3@1 B1@1 C1@1 B1@1 C2@2 B1@1 C1@1 B1@1 F5"},
    {"above it: smallest first, among equals the lowest, until idle is the threshold",
     POOL CACHED_3_1_2_1
     "pool.setAttribute pool=1 name=releaseThreshold value=6g\n"
     "stream.synchronize stream=1 -> releasedBytes=1g\n"
     "map pool=1 -> C3@1 B1@1 F1 B1@1 C2@2 B1@1 C1@1 B1@1 F5\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=5g\n"
     "stream.synchronize stream=1 -> releasedBytes=1g\n"
     "map pool=1 -> C3@1 B1@1 F1 B1@1 C2@2 B1@1 F1 B1@1 F5"},
    {"of the last block only its low end",
     POOL CACHED_3_1_2_1
     "pool.setAttribute pool=1 name=releaseThreshold value=4g\n"
     "stream.synchronize stream=1 -> releasedBytes=3g\n"
     "map pool=1 -> C3@1 B1@1 F1 B1@1 F1 C1@2 B1@1 F1 B1@1 F5\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=1g\n"
     "stream.synchronize stream=1 -> releasedBytes=3g\n"
     "map pool=1 -> F2 C1@1 B1@1 F1 B1@1 F2 B1@1 F1 B1@1 F5"},
    {"the threshold is rounded up to 2 MiB",
     POOL
     "a: pool.malloc pool=1 size=3g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=2g+1\n"
     "stream.synchronize stream=1 -> releasedBytes=0\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=2g\n"
     "stream.synchronize stream=1 -> releasedBytes=1g\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=1\n"
     "stream.synchronize stream=1 -> releasedBytes=1g\n"
     "map pool=1 -> F2 C1@0 F13"},
    {"queries and polling release nothing",
     POOL CACHED_3_1_2_1
     "event.create -> event=1\n"
     "event.record event=1 stream=1\n"
     "stream.get stream=1 -> status=COMPLETE\n"
     "event.get event=1 -> status=COMPLETE\n"
     "stream.list\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=11g"},
    {"a synchronise that times out releases nothing",
     POOL CACHED_3_1_2_1
     "event.create -> event=1\n"
     "stream.delay stream=2 durationNs=100ms\n"
     "event.record event=1 stream=2\n"
     "stream.synchronize stream=2 timeoutMs=1 -> STREAM_SYNC_TIMEOUT\n"
     "event.synchronize event=1 timeoutMs=1 -> EVENT_SYNC_TIMEOUT\n"
     "device.synchronize timeoutMs=1 -> DEVICE_SYNC_TIMEOUT\n"
     "pool.get pool=1 -> attributes.reservedMemCurrent=11g"},
    {"contents of BUSY blocks never change, released memory reads as zero when it comes back",
     POOL CACHED_3_1_2_1
     "memory.write ptr=p1+3g base64=keep\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g\n"
     "memory.write ptr=p1+4g base64=gone\n"
     "pool.free pool=1 ptr=p1+4g stream=1\n"
     "device.synchronize -> releasedBytes=7g\n"
     "memory.read ptr=p1+3g size=4 -> base64=keep\n"
     "pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g reuse=FRESH\n"
     "memory.read ptr=p1+4g size=4 -> base64=...."},
    {"what was only half released keeps the contents of its other half",
     POOL
     "a: pool.malloc pool=1 size=2g stream=1\n"
     "memory.write ptr=$a base64=low\n"
     "memory.write ptr=$a+1g base64=high\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=1g -> releasedBytes=1g\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=SAME_STREAM ptr=p1+1g\n"
     "memory.read ptr=p1+1g size=4 -> base64=high\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=FRESH ptr=p1\n"
     "memory.read ptr=p1 size=3 -> base64=..."},
    {"a pool that draws on demand gives its idle memory back to the device",
     "pool.create -> pool=1\n"
     "a: pool.malloc pool=1 size=10g\n"
     "pool.malloc pool=1 size=2g\n"
     "pool.free pool=1 ptr=$a\n"
     "memory.info -> freeBytes=52g\n"
     "device.synchronize -> releasedBytes=10g\n"
     "memory.info -> freeBytes=62g"},
    {"a pool with a maxSize keeps it set aside whatever is mapped",
     POOL
     "a: pool.malloc pool=1 size=10g\n"
     "memory.info -> freeBytes=48g\n"
     "pool.free pool=1 ptr=$a\n"
     "device.synchronize -> releasedBytes=10g\n"
     "memory.info -> freeBytes=48g"},
};
/* clang-format on */

static void test_synchronise(void)
{
    RUN_SCENES(sync_scenes);
}

/* clang-format off */
static const struct scene trim_scenes[] = {
    {"trimming takes effect at once, in the order of a release, and ranks above the threshold",
     POOL CACHED_3_1_2_1
     "pool.setAttribute pool=1 name=releaseThreshold value=16g\n"
     "pool.trimTo pool=1 minBytesToKeep=9g -> reservedMemCurrent=9g releasedBytes=2g\n"
     "map pool=1 -> C3@1 B1@1 F1 B1@1 C2@2 B1@1 F1 B1@1 F5\n"
     "pool.trimTo pool=1 minBytesToKeep=8g -> reservedMemCurrent=8g releasedBytes=1g\n"
     "map pool=1 -> C3@1 B1@1 F1 B1@1 F1 C1@2 B1@1 F1 B1@1 F5"},
    {"minBytesToKeep is rounded up to 2 MiB",
     POOL CACHED_3_1_2_1
     "pool.trimTo pool=1 minBytesToKeep=9g+1 -> reservedMemCurrent=10g releasedBytes=1g\n"
     "pool.trimTo pool=1 minBytesToKeep=9g-1 -> reservedMemCurrent=9g releasedBytes=1g\n"
     "pool.trimTo pool=1 minBytesToKeep=8g+1 -> reservedMemCurrent=9g releasedBytes=0"},
    {"keeping less than USED is no error: BUSY memory is never touched",
     POOL CACHED_3_1_2_1
     "pool.trimTo pool=1 minBytesToKeep=1 -> reservedMemCurrent=4g releasedBytes=7g\n"
     "pool.trimTo pool=1 minBytesToKeep=0 -> reservedMemCurrent=4g releasedBytes=0\n"
     "map pool=1 -> F3 B1@1 F1 B1@1 F2 B1@1 F1 B1@1 F5"},
    {"keeping at least RESERVED changes nothing",
     POOL CACHED_3_1_2_1
     "pool.trimTo pool=1 minBytesToKeep=11g -> reservedMemCurrent=11g releasedBytes=0\n"
     "pool.trimTo pool=1 minBytesToKeep=16g -> reservedMemCurrent=11g releasedBytes=0"},
    {"keeping more than maxSize is refused",
     POOL
     "pool.trimTo pool=1 minBytesToKeep=16g+1 -> TRIM_EXCEEDS_POOL acl=507000 "
         "field=minBytesToKeep\n"
     "pool.trimTo pool=1 minBytesToKeep=max -> TRIM_EXCEEDS_POOL\n"
     "pool.trimTo pool=2 minBytesToKeep=0 -> NO_SUCH_POOL acl=507000\n"
     "pool.trimTo device=1 pool=1 minBytesToKeep=0 -> NO_SUCH_POOL\n"
     "pool.trimTo device=9 pool=1 minBytesToKeep=0 -> NO_SUCH_DEVICE"},
    {"trimming an empty pool",
     POOL
     "pool.trimTo pool=1 minBytesToKeep=0 -> reservedMemCurrent=0 releasedBytes=0"},
    {"trimming a pool that draws on demand gives the memory to the device",
     "pool.create -> pool=1\n"
     "a: pool.malloc pool=1 size=10g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.trimTo pool=1 minBytesToKeep=3g -> releasedBytes=7g\n"
     "memory.info -> freeBytes=61g"},
    {"one pool only",
     POOL
     "pool.create maxSize=4g -> pool=2\n"
     "a: pool.malloc pool=1 size=3g\n"
     "b: pool.malloc pool=2 size=2g\n"
     "pool.free pool=1 ptr=$a\n"
     "pool.free pool=2 ptr=$b\n"
     "pool.trimTo pool=1 minBytesToKeep=0\n"
     "map pool=2 -> C2@0 F2"},
    {"a block whose free has not completed is released like any other; each part stays late",
     POOL
     "a: pool.malloc pool=1 size=4g stream=1\n"
     "stream.delay stream=1 durationNs=90us -> now=5us\n"
     "pool.free pool=1 ptr=$a stream=1\n"
     "pool.trimTo pool=1 minBytesToKeep=3g -> releasedBytes=1g\n"
     "pool.trimTo pool=1 minBytesToKeep=1g -> releasedBytes=2g\n"
     "map pool=1 -> F3 C1@1 F12\n"
     "pool.malloc pool=1 size=3g stream=2 -> reuse=FRESH ptr=p1\n"
     "stream.get stream=2 -> readyAtNs=95us\n"
     "pool.malloc pool=1 size=1g stream=1 -> reuse=SAME_STREAM ptr=p1+3g"},
};
/* clang-format on */

static void test_trim(void)
{
    RUN_SCENES(trim_scenes);
}

static const struct soma_test tests[] = {
    {"freeing", test_free},
    {"release at synchronisation", test_synchronise},
    {"trimming", test_trim},
    {NULL, NULL},
};

const struct soma_suite suite_engine_release = {"engine_release", tests};
