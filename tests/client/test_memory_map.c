/* Reserved addresses, physical memory, mappings; the way in which torch_npu grows its segments. */
#include "client_fixture.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static aclrtPhysicalMemProp prop_of(uint32_t device)
{
    return (aclrtPhysicalMemProp){.handleType = ACL_MEM_HANDLE_TYPE_NONE,
                                  .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                  .memAttr = ACL_HBM_MEM_HUGE,
                                  .location = {.id = device, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
}

static void *reserve(size_t size)
{
    void *ptr = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtReserveMemAddress(&ptr, size, 0, NULL, 0));
    return ptr;
}

static aclrtDrvMemHandle take(uint32_t device, size_t size)
{
    aclrtDrvMemHandle handle = NULL;
    const aclrtPhysicalMemProp prop = prop_of(device);
    (void)GIVES(ACL_SUCCESS, aclrtMallocPhysical(&handle, size, &prop, 0));
    return handle;
}

static size_t free_bytes(void)
{
    size_t has = 0, total = 0;
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &has, &total));
    return has;
}

static void test_granularity(void)
{
    size_t step = 0;
    fixture_begin();
    aclrtPhysicalMemProp prop = prop_of(0);
    const aclrtMemGranularityOptions minimum = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    (void)EXPECT(step == 2 * MIB, "%zu", step);
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAllocationGranularity(
                                 &prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &step));
    (void)EXPECT(step == 2 * MIB, "%zu", step);
    (void)GIVES(BAD, aclrtMemGetAllocationGranularity(&prop, (aclrtMemGranularityOptions)2, &step));
    (void)GIVES(PARAM, aclrtMemGetAllocationGranularity(NULL, minimum, &step));
    (void)GIVES(PARAM, aclrtMemGetAllocationGranularity(&prop, minimum, NULL));
    prop.memAttr = ACL_HBM_MEM_HUGE1G;
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    (void)EXPECT(step == GIB, "%zu", step);
    prop.memAttr = ACL_DDR_MEM_HUGE;
    (void)GIVES(PARAM, aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    prop.memAttr = (aclrtMemAttr)999;
    (void)GIVES(PARAM, aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    prop = prop_of(8);
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID,
                aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    prop = prop_of(0);
    prop.location.type = ACL_MEM_LOCATION_TYPE_MANAGED;
    (void)GIVES(PARAM, aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtMemGetAllocationGranularity(&prop, minimum, &step));
    fixture_end();
}

static void test_reserve_rules(void)
{
    void *ptr = NULL, *other = NULL;
    fixture_begin();
    size_t before = free_bytes();
    (void)GIVES(PARAM, aclrtReserveMemAddress(NULL, 1, 0, NULL, 0));
    (void)GIVES(PARAM, aclrtReserveMemAddress(&ptr, 0, 0, NULL, 0));
    (void)GIVES(PARAM, aclrtReserveMemAddress(&ptr, 1, 0, NULL, 2));
    (void)GIVES(BAD, aclrtReserveMemAddress(&ptr, 1, 4096, NULL, 0));
    (void)GIVES(BAD, aclrtReserveMemAddress(&ptr, 1, 0, &ptr, 0));
    (void)GIVES(ACL_SUCCESS, aclrtReserveMemAddress(&ptr, 100 * GIB, 0, NULL, 1));
    (void)EXPECT((uintptr_t)ptr % (2 * MIB) == 0 && free_bytes() == before, "%p", ptr);
    char *behind = (char *)ptr + 200 * GIB;
    behind -= (uintptr_t)behind % GIB;
    (void)GIVES(ACL_SUCCESS, aclrtReserveMemAddress(&other, 2 * GIB, 0, behind, 0));
    (void)EXPECT(other == behind, "%p, not %p", other, (void *)behind);
    (void)GIVES(BAD, aclrtReserveMemAddress(&other, 2 * MIB, 0, behind + GIB, 0));
    (void)GIVES(BAD, aclrtReleaseMemAddress((char *)ptr + 2 * MIB));
    (void)GIVES(PARAM, aclrtReleaseMemAddress(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtReleaseMemAddress(ptr));
    (void)GIVES(BAD, aclrtReleaseMemAddress(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtReleaseMemAddress(other));
    fixture_end();
}

static void test_physical_rules(void)
{
    aclrtDrvMemHandle handle = NULL;
    fixture_begin();
    aclrtPhysicalMemProp prop = prop_of(0), read;
    (void)GIVES(PARAM, aclrtMallocPhysical(NULL, 2 * MIB, &prop, 0));
    (void)GIVES(PARAM, aclrtMallocPhysical(&handle, 2 * MIB, NULL, 0));
    (void)GIVES(PARAM, aclrtMallocPhysical(&handle, 0, &prop, 0));
    (void)GIVES(PARAM, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 1));
    (void)GIVES(BAD, aclrtMallocPhysical(&handle, 2 * MIB + 1, &prop, 0));
    (void)GIVES(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocPhysical(&handle, 65 * GIB, &prop, 0));
    prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    (void)GIVES(PARAM, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    prop = prop_of(0);
    prop.allocationType = (aclrtMemAllocationType)1;
    (void)GIVES(PARAM, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    prop = prop_of(0);
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    prop = prop_of(9);
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    (void)EXPECT(handle == NULL, "a refusal wrote the output");
    prop = prop_of(1);
    prop.memAttr = ACL_MEM_HUGE1G;
    (void)GIVES(BAD, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMallocPhysical(&handle, GIB, &prop, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAllocationPropertiesFromHandle(handle, &read));
    (void)EXPECT(memcmp(&read, &prop, sizeof(prop)) == 0, "memAttr %d, device %u",
                 (int)read.memAttr, read.location.id);
    (void)GIVES(PARAM, aclrtMemGetAllocationPropertiesFromHandle(handle, NULL));
    (void)GIVES(BAD, aclrtMemGetAllocationPropertiesFromHandle(made_up[0], &read));
    (void)GIVES(PARAM, aclrtFreePhysical(NULL));
    (void)GIVES(BAD, aclrtFreePhysical(made_up[0]));
    (void)GIVES(ACL_SUCCESS, aclrtFreePhysical(handle));
    (void)GIVES(BAD, aclrtFreePhysical(handle));
    fixture_end();
}

static void test_map_rules(void)
{
    fixture_begin();
    char *ptr = reserve(16 * MIB);
    aclrtDrvMemHandle small = take(0, 2 * MIB), large = take(0, 4 * MIB), other = take(1, 2 * MIB);
    aclrtDrvMemHandle again = NULL;
    (void)GIVES(PARAM, aclrtMapMem(NULL, 2 * MIB, 0, small, 0));
    (void)GIVES(PARAM, aclrtMapMem(ptr, 2 * MIB, 0, NULL, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr, 2 * MIB, 0, made_up[0], 0));
    (void)GIVES(PARAM, aclrtMapMem(ptr, 0, 0, small, 0));
    (void)GIVES(PARAM, aclrtMapMem(ptr, 2 * MIB, 0, small, 1));
    (void)GIVES(BAD, aclrtMapMem(ptr, 2 * MIB, 2 * MIB, large, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr, 2 * MIB, 0, large, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr + MIB, 2 * MIB, 0, small, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr + 14 * MIB, 4 * MIB, 0, large, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMapMem(ptr + 2 * MIB, 4 * MIB, 0, large, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr + 4 * MIB, 2 * MIB, 0, small, 0));
    (void)GIVES(BAD, aclrtMapMem(ptr, 2 * MIB, 0, other, 0));
    (void)SAYS("device");
    (void)GIVES(PARAM, aclrtMemRetainAllocationHandle(ptr, NULL));
    (void)GIVES(BAD, aclrtMemRetainAllocationHandle(ptr, &again));
    (void)GIVES(ACL_SUCCESS, aclrtMemRetainAllocationHandle(ptr + 2 * MIB, &again));
    (void)EXPECT(again == large, "another handle");
    (void)GIVES(ACL_SUCCESS, aclrtFreePhysical(large));
    (void)GIVES(ACL_SUCCESS, aclrtFreePhysical(large));
    (void)GIVES(BAD, aclrtFreePhysical(large));
    (void)GIVES(ACL_SUCCESS, aclrtMemRetainAllocationHandle(ptr + 2 * MIB, &again));
    (void)GIVES(PARAM, aclrtUnmapMem(NULL));
    (void)GIVES(BAD, aclrtUnmapMem(ptr));
    (void)GIVES(BAD, aclrtReleaseMemAddress(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtUnmapMem(ptr + 2 * MIB));
    (void)GIVES(ACL_SUCCESS, aclrtMapMem(ptr, 4 * MIB, 0, again, 0));
    (void)GIVES(ACL_SUCCESS, aclrtFreePhysical(again));
    (void)GIVES(BAD, aclrtFree(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtUnmapMem(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtMapMem(ptr, 2 * MIB, 0, other, 0));
    fixture_end();
}

static void test_access(void)
{
    aclrtPtrAttributes attributes;
    aclrtMemAccessDesc rules[2] = {{.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE},
                                   {.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE}};
    aclrtMemLocation here = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE};
    uint64_t flag = 7;
    char byte = 'x', back = 0;
    fixture_begin();
    char *ptr = reserve(8 * MIB);
    aclrtDrvMemHandle handle = take(0, 2 * MIB);
    rules[0].location = rules[1].location = here;
    (void)GIVES(ACL_SUCCESS, aclrtMemMapNoAccess(ptr, 2 * MIB, 0, handle, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAccess(ptr, &here, &flag));
    (void)EXPECT(flag == ACL_RT_MEM_ACCESS_FLAGS_NONE, "%llu", (unsigned long long)flag);
    (void)GIVES(BAD, aclrtMemcpy(ptr, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(BAD, aclrtMemSetAccess(NULL, 2 * MIB, rules, 1));
    (void)GIVES(BAD, aclrtMemSetAccess(ptr, 2 * MIB, NULL, 1));
    (void)GIVES(BAD, aclrtMemSetAccess(ptr, 2 * MIB, rules, 0));
    (void)GIVES(BAD, aclrtMemSetAccess(ptr, 4 * MIB, rules, 1));
    (void)GIVES(BAD, aclrtMemSetAccess(ptr + 2 * MIB, 2 * MIB, rules, 1));
    rules[1].flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    (void)GIVES(BAD, aclrtMemSetAccess(ptr, 2 * MIB, rules, 2));
    rules[1].flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    rules[1].location.type = ACL_MEM_LOCATION_TYPE_HOST;
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemSetAccess(ptr, 2 * MIB, rules, 2));
    rules[1].location = (aclrtMemLocation){.id = 8, .type = ACL_MEM_LOCATION_TYPE_DEVICE};
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemSetAccess(ptr, 2 * MIB, rules, 2));
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAccess(ptr, &here, &flag));
    (void)EXPECT(flag == ACL_RT_MEM_ACCESS_FLAGS_NONE, "a refused call gave access");
    rules[1].location.id = 1;
    (void)GIVES(ACL_SUCCESS, aclrtMemSetAccess(ptr, 2 * MIB, rules, 2));
    for (here.id = 0; here.id < 3; here.id++) {
        (void)GIVES(ACL_SUCCESS, aclrtMemGetAccess(ptr, &here, &flag));
        (void)EXPECT(flag == (here.id < 2 ? 3 : 0), "device %u: %llu", here.id,
                     (unsigned long long)flag);
    }
    here = (aclrtMemLocation){.id = 0, .type = ACL_MEM_LOCATION_TYPE_HOST};
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAccess(ptr, &here, &flag));
    (void)EXPECT(flag == 0, "the host");
    here.type = ACL_MEM_LOCATION_TYPE_MANAGED;
    (void)GIVES(BAD, aclrtMemGetAccess(ptr, &here, &flag));
    (void)GIVES(PARAM, aclrtMemGetAccess(ptr, NULL, &flag));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(ptr + 5, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&back, 1, ptr + 5, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(back == 'x', "%c", back);
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes(ptr + MIB, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE &&
                     attributes.location.id == 0 && attributes.pageSize == 2 * MIB,
                 "type %d", (int)attributes.location.type);
    fixture_end();
}

/* Handles and addresses go with their device, addresses with the session. */
static void test_reset(void)
{
    fixture_begin();
    char *ptr = reserve(8 * MIB);
    aclrtDrvMemHandle handle = take(0, 2 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtMapMem(ptr, 2 * MIB, 0, handle, 0));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(BAD, aclrtFreePhysical(handle));
    (void)GIVES(BAD, aclrtUnmapMem(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtReleaseMemAddress(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    fixture_end();
}

/* ---- expandable segments ---- */

/* A segment that grows piece by piece, as torch_npu's: addresses for more than the device has, a
 * piece of physical memory at a time, tensors across their edges. */
struct segment {
    char *base;
    size_t piece, pieces;
    aclrtDrvMemHandle handles[64];
};

static bool grow(struct segment *segment)
{
    const aclrtPhysicalMemProp prop = prop_of(0);
    aclrtDrvMemHandle handle = NULL;
    aclError error = aclrtMallocPhysical(&handle, segment->piece, &prop, 0);
    if (error == ACL_ERROR_RT_MEMORY_ALLOCATION)
        return aclGetRecentErrMsg() == NULL;
    (void)EXPECT(error == ACL_SUCCESS, "aclrtMallocPhysical: %d", error);
    (void)GIVES(ACL_SUCCESS, aclrtMapMem(segment->base + segment->pieces * segment->piece,
                                         segment->piece, 0, handle, 0));
    segment->handles[segment->pieces++] = handle;
    return true;
}

static void shrink(struct segment *segment, size_t at)
{
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS, aclrtUnmapMem(segment->base + at * segment->piece));
    (void)GIVES(ACL_SUCCESS, aclrtFreePhysical(segment->handles[at]));
}

static void test_expandable_segment(void)
{
    struct segment segment = {.piece = 20 * MIB};
    size_t has = 0, total = 0;
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &has, &total));
    void *reserved = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtReserveMemAddress(&reserved, total + total / 8, 0, NULL, 1));
    segment.base = reserved;
    for (int i = 0; i < 3; i++)
        (void)EXPECT(grow(&segment), "full");
    (void)EXPECT(has - free_bytes() == 60 * MIB, "%zu", has - free_bytes());

    /* A tensor of 30 MiB across two pieces: copies in several parts, fills, copies on the device.
     */
    size_t size = 30 * MIB;
    char *tensor = segment.base + 5 * MIB;
    unsigned char *host = malloc(size), *back = malloc(size);
    for (size_t i = 0; i < size; i++)
        host[i] = (unsigned char)(i * 7 + i / 251);
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(tensor, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(tensor + 15 * MIB - 8, 16, 0xab, 16, stream));
    memset(host + 15 * MIB - 8, 0xab, 16);
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(tensor + 10 * MIB, 25 * MIB, tensor, 20 * MIB,
                                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    memmove(host + 10 * MIB, host, 20 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(back, size, tensor, size, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(memcmp(host, back, size) == 0, "other bytes");

    /* The middle goes: its neighbours stay, and nothing may cross the hole. */
    shrink(&segment, 1);
    (void)EXPECT(has - free_bytes() == 40 * MIB, "%zu", has - free_bytes());
    (void)GIVES(BAD, aclrtMemcpy(back, size, tensor, size, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpy(back, 15 * MIB, tensor, 15 * MIB, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(memcmp(host, back, 15 * MIB) == 0, "a neighbour has changed");
    shrink(&segment, 0);
    shrink(&segment, 2);
    (void)EXPECT(free_bytes() == has, "%zu", has - free_bytes());
    (void)GIVES(ACL_SUCCESS, aclrtReleaseMemAddress(reserved));
    free(host);
    free(back);
    fixture_end();
}

/* Until the device is full; what comes back is used again. */
static void test_full_device(void)
{
    struct segment segment = {.piece = 2 * GIB};
    fixture_begin();
    segment.base = reserve(80 * GIB);
    while (segment.pieces < 63 && grow(&segment))
        continue;
    (void)EXPECT(segment.pieces == 32 && free_bytes() == 0, "%zu pieces", segment.pieces);
    shrink(&segment, 7);
    segment.pieces = 32; /* the hole's memory goes to the end */
    (void)EXPECT(grow(&segment), "still full");
    (void)EXPECT(!grow(&segment), "more than there is");
    fixture_end();
}

static const struct client_test tests[] = {
    {"granularity", test_granularity},
    {"addresses", test_reserve_rules},
    {"physical memory", test_physical_rules},
    {"mappings", test_map_rules},
    {"access", test_access},
    {"a device that is reset", test_reset},
    {"expandable segments", test_expandable_segment},
    {"a full device", test_full_device},
    {NULL, NULL},
};

const struct client_suite suite_memory_map = {"memory_map", tests};
