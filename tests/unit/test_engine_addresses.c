/* Reserved addresses, physical memory, mappings, access, managed memory. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

#include <string.h>

/* Addresses for 8 granules, two pieces of physical memory of 1 and 2 granules. */
#define MEMORY                                                                                     \
    "r: memory.reserveAddress size=8g -> ptr=large size=8g\n"                                      \
    "memory.mallocPhysical size=1g -> physical=1 size=1g device=0 handles=1 mappings=0\n"          \
    "memory.mallocPhysical size=2g -> physical=2\n"

/* clang-format off */
static const struct scene reserve_scenes[] = {
    {"addresses take no memory; sizes are rounded up to 2 MiB",
     "memory.reserveAddress size=1 -> size=1g ptr=large\n"
     "memory.reserveAddress size=4000g -> ptr=large+1g\n"
     "memory.info -> freeBytes=64g\n"
     "memory.listAddresses -> reservations.count=2 reservations[1].size=4000g reservations[1].mappedBytes=0\n"
     "memory.releaseAddress ptr=large\n"
     "memory.reserveAddress size=1g -> ptr=large"},
    {"pools and allocations keep away from them, and they from those",
     "memory.reserveAddress size=2g -> ptr=large\n"
     "memory.malloc size=1g -> ptr=large+2g\n"
     "memory.reserveAddress size=1g -> ptr=large+3g\n"
     "pool.create maxSize=2g -> baseAddress=large+4g"},
    {"where they should begin can be said",
     "memory.reserveAddress size=2g expectPtr=large+5g -> ptr=large+5g\n"
     "memory.reserveAddress size=1g expectPtr=large+6g -> ADDRESS_TAKEN acl=107000 field=expectPtr\n"
     "memory.reserveAddress size=6g expectPtr=large -> ADDRESS_TAKEN\n"
     "memory.reserveAddress size=1g expectPtr=large+3g-1 -> ADDRESS_UNALIGNED\n"
     "memory.reserveAddress size=1000g expectPtr=large+100g -> ADDRESS_UNALIGNED says=1073741824\n"
     "memory.reserveAddress size=1g expectPtr=large-2g -> ADDRESS_TAKEN\n"
     "memory.reserveAddress size=1g expectPtr=small -> ADDRESS_TAKEN\n"
     "memory.reserveAddress size=5g -> ptr=large\n"
     "memory.reserveAddress size=1g -> ptr=large+7g"},
    {"sizes that cannot be",
     "memory.reserveAddress size=0 -> ZERO_SIZE acl=100000 field=size\n"
     "memory.reserveAddress size=max -> SIZE_OVERFLOW acl=107000\n"
     "memory.reserveAddress size=100000000g -> ADDRESS_SPACE_EXHAUSTED"},
    {"only a start is released, and only when nothing is mapped",
     MEMORY
     "memory.map ptr=$r+3g size=1g physical=1\n"
     "memory.releaseAddress ptr=$r+1g -> NO_SUCH_RESERVATION acl=107000\n"
     "memory.releaseAddress ptr=$r -> ALREADY_MAPPED says=unmap\n"
     "memory.unmap ptr=$r+3g\n"
     "memory.releaseAddress ptr=$r\n"
     "memory.releaseAddress ptr=$r -> NO_SUCH_RESERVATION"},
};

static const struct scene physical_scenes[] = {
    {"physical memory takes the device's, mapped or not",
     MEMORY
     "memory.info -> freeBytes=61g\n"
     "memory.info device=1 -> freeBytes=64g\n"
     "memory.map ptr=$r size=2g physical=2\n"
     "memory.info -> freeBytes=61g\n"
     "memory.freePhysical physical=1 -> handles=0 mappings=0\n"
     "memory.info -> freeBytes=62g\n"
     "memory.freePhysical physical=1 -> NO_SUCH_PHYSICAL acl=107000 field=physical says=freed"},
    {"freed while it is mapped, it stays until it is unmapped",
     MEMORY
     "memory.map ptr=$r size=2g physical=2\n"
     "memory.write ptr=$r base64=abc\n"
     "memory.freePhysical physical=2 -> handles=0 mappings=1\n"
     "memory.getPhysical physical=2 -> NO_SUCH_PHYSICAL\n"
     "memory.map ptr=$r+4g size=2g physical=2 -> NO_SUCH_PHYSICAL\n"
     "memory.read ptr=$r size=3 -> base64=abc\n"
     "memory.info -> freeBytes=61g\n"
     "memory.unmap ptr=$r\n"
     "memory.info -> freeBytes=63g"},
    {"a handle retained at an address counts like any other",
     MEMORY
     "memory.map ptr=$r size=1g physical=1\n"
     "memory.retainPhysical ptr=$r -> physical=1 handles=2 mappings=1\n"
     "memory.freePhysical physical=1 -> handles=1\n"
     "memory.freePhysical physical=1 -> handles=0\n"
     "memory.retainPhysical ptr=$r -> physical=1 handles=1\n"
     "memory.unmap ptr=$r\n"
     "memory.getPhysical physical=1 -> size=1g pageSize=2097152 device=0 handles=1 mappings=0\n"
     "memory.retainPhysical ptr=$r -> NOT_MAPPED acl=107000"},
    {"sizes and pages",
     "memory.mallocPhysical size=0 -> ZERO_SIZE acl=100000\n"
     "memory.mallocPhysical size=1g+1 -> ADDRESS_UNALIGNED acl=107000 field=size\n"
     "memory.mallocPhysical size=1g pageSize=4096 -> INVALID_VALUE field=pageSize\n"
     "memory.mallocPhysical size=1g pageSize=1073741824 -> ADDRESS_UNALIGNED\n"
     "memory.mallocPhysical size=65g -> DEVICE_OUT_OF_MEMORY acl=207001\n"
     "memory.mallocPhysical device=9 size=1g -> NO_SUCH_DEVICE\n"
     "memory.mallocPhysical size=64g -> physical=1\n"
     "memory.mallocPhysical size=1g -> DEVICE_OUT_OF_MEMORY\n"
     "memory.malloc size=1g -> DEVICE_OUT_OF_MEMORY\n"
     "memory.mallocPhysical device=1 size=1g -> physical=2 device=1"},
    {"idle memory of pools that draw on the device makes room",
     "pool.create -> pool=1\n"
     "pool.setAttribute pool=1 name=releaseThreshold value=60g\n"
     "pool.malloc pool=1 size=60g -> ptr=p1\n"
     "pool.free pool=1 ptr=p1\n"
     "memory.info -> freeBytes=4g\n"
     "memory.mallocPhysical size=5g\n"
     "memory.info -> freeBytes=59g"},
    {"a device that is reset loses its own; addresses stay",
     MEMORY
     "memory.mallocPhysical device=1 size=1g -> physical=3\n"
     "memory.map ptr=$r size=1g physical=1\n"
     "device.reset device=1\n"
     "memory.getPhysical physical=3 -> NO_SUCH_PHYSICAL\n"
     "memory.set ptr=$r value=1 size=1\n"
     "device.reset device=0\n"
     "memory.getPhysical physical=1 -> NO_SUCH_PHYSICAL\n"
     "memory.listAddresses -> reservations.count=1 reservations[0].mappings.count=0\n"
     "memory.info -> freeBytes=64g\n"
     "memory.releaseAddress ptr=$r"},
};

static const struct scene map_scenes[] = {
    {"accesses cross mappings that touch",
     MEMORY
     "memory.map ptr=$r+2g size=2g physical=2\n"
     "memory.map ptr=$r+1g size=1g physical=1\n"
     "memory.write ptr=$r+2g-3 base64=abcdef\n"
     "memory.read ptr=$r+2g-4 size=8 -> base64=.abcdef.\n"
     "memory.set ptr=$r+2g-1 value=90 size=2\n"
     "memory.read ptr=$r+2g-4 size=8 -> base64=.abZZef.\n"
     "memory.describe ptr=$r+3g -> kind=MAPPED base=large+1g size=3g offset=2g\n"
     "stream.launchKernel stream=0 kernel=poke args=$r+2g\n"
     "memory.read ptr=$r+2g size=1 -> base64=*"},
    {"copies that cross mappings are as memmove, both ways",
     MEMORY
     "memory.map ptr=$r size=1g physical=1\n"
     "memory.map ptr=$r+1g size=2g physical=2\n"
     "memory.write ptr=$r+1g-4 base64=abcdefgh\n"
     "memory.copy dst=$r+1g-2 src=$r+1g-4 size=8\n"
     "memory.read ptr=$r+1g-4 size=10 -> base64=ababcdefgh\n"
     "memory.copy dst=$r+1g-4 src=$r+1g-2 size=8\n"
     "memory.read ptr=$r+1g-4 size=10 -> base64=abcdefghgh\n"
     "memory.copy dst=$r+1g-3 src=$r+1g-4 size=2\n"
     "memory.read ptr=$r+1g-4 size=4 -> base64=aabd"},
    {"reductions and random numbers cross them too",
     MEMORY
     "memory.map ptr=$r size=1g physical=1\n"
     "memory.map ptr=$r+1g size=2g physical=2\n"
     "memory.write ptr=$r+1g-4 base64=abcdefgh\n"
     "memory.set ptr=$r value=1 size=8\n"
     "memory.reduce dst=$r+1g-4 src=$r size=8 kind=SUM dtype=int8\n"
     "memory.read ptr=$r+1g-4 size=8 -> base64=bcdefghi\n"
     "memory.random ptr=$r+1g-4 counter=$r distribution=UNIFORM dtype=int32 "
     "args=i32:1684234849,i32:1684234849 seed=1 count=2\n"
     "memory.read ptr=$r+1g-4 size=8 -> base64=abcdabcd"},
    {"outside mappings there is nothing",
     MEMORY
     "memory.map ptr=$r+1g size=1g physical=1\n"
     "memory.read ptr=$r size=1 -> INVALID_ADDRESS acl=107000 field=ptr says=mapped\n"
     "memory.read ptr=$r+2g-1 size=2 -> INVALID_ADDRESS field=size\n"
     "memory.map ptr=$r+6g size=2g physical=2\n"
     "memory.read ptr=$r+8g-1 size=2 -> INVALID_ADDRESS field=size says=leave\n"
     "memory.write ptr=$r+2g-1 base64=ab -> INVALID_ADDRESS\n"
     "memory.copy dst=$r+6g src=$r+2g-1 size=2 -> INVALID_ADDRESS field=size\n"
     "stream.launchKernel stream=0 kernel=poke args=$r -> KERNEL_FAULT\n"
     "memory.unmap ptr=$r+1g\n"
     "memory.read ptr=$r+1g size=1 -> INVALID_ADDRESS\n"
     "memory.describe ptr=$r -> INVALID_ADDRESS"},
    {"bytes belong to the physical memory, wherever it is mapped",
     MEMORY
     "memory.map ptr=$r size=1g physical=1\n"
     "memory.write ptr=$r+5 base64=hello\n"
     "memory.map ptr=$r+4g size=1g physical=1\n"
     "memory.read ptr=$r+4g+5 size=5 -> base64=hello\n"
     "memory.unmap ptr=$r\n"
     "memory.write ptr=$r+4g+5 base64=J\n"
     "memory.unmap ptr=$r+4g\n"
     "memory.map ptr=$r+7g size=1g physical=1\n"
     "memory.read ptr=$r+7g+5 size=5 -> base64=Jello\n"
     "memory.unmap ptr=$r+7g\n"
     "memory.freePhysical physical=1\n"
     "memory.mallocPhysical size=1g -> physical=3\n"
     "memory.map ptr=$r size=1g physical=3\n"
     "memory.read ptr=$r+5 size=5 -> base64=....."},
    {"what cannot be mapped",
     MEMORY
     "memory.mallocPhysical device=1 size=1g -> physical=3\n"
     "memory.map ptr=$r size=1g physical=2 -> MAPPING_SIZE acl=107000 field=size\n"
     "memory.map ptr=$r size=3g physical=2 -> MAPPING_SIZE\n"
     "memory.map ptr=$r+1 size=1g physical=1 -> ADDRESS_UNALIGNED field=ptr\n"
     "memory.map ptr=$r+7g size=2g physical=2 -> NO_SUCH_RESERVATION field=size\n"
     "memory.map ptr=$r+8g size=1g physical=1 -> NO_SUCH_RESERVATION acl=107000 field=ptr\n"
     "memory.map ptr=$r size=1g physical=9 -> NO_SUCH_PHYSICAL\n"
     "memory.map ptr=$r+2g size=2g physical=2\n"
     "memory.map ptr=$r+2g size=1g physical=1 -> ALREADY_MAPPED acl=107000\n"
     "memory.map ptr=$r+3g size=1g physical=1 -> ALREADY_MAPPED\n"
     "memory.map ptr=$r+1g size=2g physical=2 -> ALREADY_MAPPED\n"
     "memory.map ptr=$r+4g size=1g physical=3 -> MAPPING_OF_OTHER_DEVICE acl=107000\n"
     "memory.unmap ptr=$r+3g -> NOT_MAPPED acl=107000 says=start\n"
     "memory.unmap ptr=$r -> NOT_MAPPED\n"
     "memory.unmap ptr=$r+2g\n"
     "memory.map ptr=$r+4g size=1g physical=3\n"
     "memory.free ptr=$r+4g -> INVALID_ADDRESS says=unmap\n"
     "memory.freeAsync ptr=$r+4g -> INVALID_ADDRESS"},
};

static const struct scene access_scenes[] = {
    {"mapped memory is its device's, until others are let in",
     MEMORY
     "memory.map ptr=$r size=1g physical=1\n"
     "memory.map ptr=$r+1g size=2g physical=2\n"
     "memory.getAccess ptr=$r -> access=READWRITE\n"
     "memory.getAccess device=1 ptr=$r -> access=NONE\n"
     "memory.write ptr=$r base64=abc\n"
     "memory.read device=1 ptr=$r size=3 -> INVALID_ADDRESS acl=107000 field=ptr says=setAccess\n"
     "memory.setAccess device=1 ptr=$r size=1g access=READWRITE\n"
     "memory.getAccess device=1 ptr=$r -> access=READWRITE\n"
     "memory.read device=1 ptr=$r size=3 -> base64=abc\n"
     "memory.read device=1 ptr=$r+1g-1 size=2 -> INVALID_ADDRESS field=size says=setAccess\n"
     "memory.describe device=1 ptr=$r -> base=large size=1g\n"
     "memory.describe ptr=$r+2g -> base=large size=3g\n"
     "memory.setAccess device=1 ptr=$r size=1g access=NONE\n"
     "memory.read device=1 ptr=$r size=3 -> INVALID_ADDRESS"},
    {"mapped without access",
     MEMORY
     "memory.map ptr=$r size=1g physical=1 access=NONE\n"
     "memory.set ptr=$r value=1 size=1 -> INVALID_ADDRESS\n"
     "memory.setAccess ptr=$r size=1g access=READWRITE\n"
     "memory.set ptr=$r value=1 size=1"},
    {"access is set for whole mappings",
     MEMORY
     "memory.map ptr=$r size=2g physical=2\n"
     "memory.setAccess ptr=$r size=1g access=NONE -> MAPPING_SIZE field=size\n"
     "memory.setAccess ptr=$r+1g size=2g access=NONE -> NOT_MAPPED\n"
     "memory.setAccess ptr=$r+2g size=2g access=NONE -> NOT_MAPPED\n"
     "memory.getAccess ptr=$r+1g -> NOT_MAPPED\n"
     "memory.getAccess ptr=5 -> NO_SUCH_RESERVATION\n"
     "memory.setAccess device=4 ptr=$r size=2g access=NONE -> NO_SUCH_DEVICE"},
};

static const struct scene managed_scenes[] = {
    {"managed memory is every device's and takes none of a device",
     "m: memory.mallocManaged size=1g+1 -> ptr=large size=2g\n"
     "memory.info -> freeBytes=64g\n"
     "memory.write ptr=$m+1g-1 base64=abc\n"
     "memory.read device=1 ptr=$m+1g size=1 -> base64=b\n"
     "memory.describe ptr=$m+1g -> kind=MANAGED base=large size=2g\n"
     "memory.read ptr=$m size=2g+1 -> INVALID_ADDRESS\n"
     "memory.listAddresses -> reservations.count=0\n"
     "memory.free ptr=$m+1g -> INVALID_ADDRESS says=managed\n"
     "memory.freeAsync ptr=$m -> INVALID_ADDRESS\n"
     "memory.releaseAddress ptr=$m -> NO_SUCH_RESERVATION says=managed\n"
     "memory.unmap ptr=$m -> NO_SUCH_RESERVATION\n"
     "device.reset device=0\n"
     "memory.read ptr=$m+1g size=1 -> base64=b\n"
     "memory.free device=1 ptr=$m\n"
     "memory.read ptr=$m size=1 -> INVALID_ADDRESS\n"
     "memory.mallocManaged size=1g -> ptr=large\n"
     "memory.read ptr=$m size=1 -> base64=."},
    {"sizes of managed memory",
     "memory.mallocManaged size=0 -> ZERO_SIZE\n"
     "memory.mallocManaged size=max -> SIZE_OVERFLOW\n"
     "memory.mallocManaged size=1572864g -> ptr=large\n"
     "memory.mallocManaged size=1 -> DEVICE_OUT_OF_MEMORY acl=207001"},
};
/* clang-format on */

static void test_reserve(void)
{
    RUN_SCENES(reserve_scenes);
}

static void test_physical(void)
{
    RUN_SCENES(physical_scenes);
}

static void test_map(void)
{
    RUN_SCENES(map_scenes);
}

static void test_access(void)
{
    RUN_SCENES(access_scenes);
}

static void test_managed(void)
{
    RUN_SCENES(managed_scenes);
}

/* What the SoC decides. */
static void test_soc(void)
{
    /* clang-format off */
    static const struct scene scenes[] = {
        {"other SoCs have neither pages of 1 GiB nor managed memory nor random numbers",
         "memory.mallocPhysical size=512g pageSize=1073741824 -> SOC_UNSUPPORTED acl=207000\n"
         "memory.mallocPhysical size=1g\n"
         "memory.mallocManaged size=1 -> SOC_UNSUPPORTED acl=207000\n"
         "a: memory.malloc size=64\n"
         "memory.reduce dst=$a src=$a size=8 kind=MAX dtype=float32 -> SOC_UNSUPPORTED\n"
         "memory.reduce dst=$a src=$a size=8 kind=SUM dtype=int16\n"
         "memory.reduce dst=$a src=$a size=8 kind=SUM dtype=int32 -> SOC_UNSUPPORTED\n"
         "memory.random ptr=$a counter=$a distribution=NORMAL dtype=float32 args=f32:0,f32:1 "
         "seed=1 count=1 -> SOC_UNSUPPORTED"},
    };
    /* clang-format on */
    struct fixture_setup setup = fixture_setup_default();
    setup.config.soc = soma_soc_find("Ascend310P3", strlen("Ascend310P3"));
    RUN_SCENES_ON(scenes, &setup);
}

/* A write to two mappings of which the second has no memory leaves the first as it was. */
static void test_write_fails(void)
{
    struct fixture fixture;
    if (!EXPECT(fixture_start(&fixture, NULL), "no engine"))
        return;
    (void)fixture_run(&fixture, "memory.reserveAddress size=2g");
    (void)fixture_run(&fixture, "memory.mallocPhysical size=1g");
    (void)fixture_run(&fixture, "memory.mallocPhysical size=1g");
    (void)fixture_run(&fixture, "memory.map ptr=large size=1g physical=1");
    (void)fixture_run(&fixture, "memory.map ptr=large+1g size=1g physical=2");
    fixture.contents.fail_next = true;
    EXPECT(fixture_run(&fixture, "memory.write ptr=large+1g-2 base64=abcd") ==
               SOMA_HOST_MEMORY_EXHAUSTED,
           "it did not fail");
    fixture.contents.fail_next = true;
    EXPECT(fixture_run(&fixture, "memory.mallocPhysical size=1g") == SOMA_HOST_MEMORY_EXHAUSTED,
           "it did not fail");
    fixture.contents.fail_next = true;
    EXPECT(fixture_run(&fixture, "memory.mallocManaged size=1g") == SOMA_HOST_MEMORY_EXHAUSTED,
           "it did not fail");
    EXPECT(fixture_run(&fixture, "memory.info") == SOMA_OK &&
               fixture_number(&fixture, "freeBytes") == 62 * SOMA_GRANULE_BYTES,
           "a refusal took memory");
    fixture_finish(&fixture, "writes that fail");
}

static void test_leaks(void)
{
    struct fixture fixture;
    struct soma_leak *items = NULL;
    size_t count = 0;
    if (!EXPECT(fixture_start(&fixture, NULL), "no engine"))
        return;
    (void)fixture_run(&fixture, "memory.mallocPhysical device=1 size=1g");
    (void)fixture_run(&fixture, "memory.mallocManaged size=5");
    (void)fixture_run(&fixture, "memory.reserveAddress size=1g");
    EXPECT(engine_leaks(fixture.engine, 10, &items, &count) == SOMA_OK && count == 2 &&
               items[0].kind == SOMA_MEMORY_KIND_MANAGED && items[0].requested_size == 5 &&
               items[0].allocated_by == 2 && items[1].kind == SOMA_MEMORY_KIND_PHYSICAL &&
               items[1].device == 1 && items[1].allocated_by == 1,
           "%zu leaks", count);
    struct engine_mem mem = counted_memory_table(&fixture.memory);
    mem.release(mem.ctx, items);
    fixture_finish(&fixture, "leaks");
}

static const struct soma_test tests[] = {
    {"addresses", test_reserve},
    {"physical memory", test_physical},
    {"mappings", test_map},
    {"access", test_access},
    {"managed memory", test_managed},
    {"other SoCs", test_soc},
    {"no host memory", test_write_fails},
    {"leaks", test_leaks},
    {NULL, NULL},
};

const struct soma_suite suite_engine_addresses = {"engine_addresses", tests};
