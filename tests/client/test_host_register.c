/* Registered memory of the program, many copies in one call, and who uses memory. */
#include "client_fixture.h"
#include "suites.h"

#include <string.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static void test_registering(void)
{
    enum { TWICE = ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED };
    static char memory[8192];
    void *device = NULL, *pinned = NULL, *ptr = NULL;
    aclrtPtrAttributes attributes;
    fixture_begin();
    (void)GIVES(PARAM, aclrtHostRegister(NULL, 4096, ACL_HOST_REGISTER_MAPPED, &device));
    (void)GIVES(PARAM, aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, NULL));
    (void)GIVES(PARAM, aclrtHostRegister(memory, 0, ACL_HOST_REGISTER_MAPPED, &device));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtHostRegister(memory, 4096, (aclrtHostRegisterType)1, &device));
    (void)GIVES(PARAM, aclrtHostRegisterV2(NULL, 4096, ACL_HOST_REG_MAPPED));
    (void)GIVES(PARAM, aclrtHostRegisterV2(memory, 0, ACL_HOST_REG_MAPPED));
    (void)GIVES(BAD, aclrtHostRegisterV2(memory, 4096, 0));
    (void)GIVES(BAD, aclrtHostRegisterV2(memory, 4096, 1));
    (void)GIVES(BAD, aclrtHostRegisterV2(memory, UINT64_MAX, ACL_HOST_REG_PINNED));
    (void)GIVES(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(memory));
    (void)GIVES(BAD, aclrtHostGetDevicePointer(memory, &device, 0));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &device));
    (void)EXPECT(device == memory, "%p", device);
    (void)GIVES(TWICE, aclrtHostRegisterV2(memory + 4095, 4096, ACL_HOST_REG_PINNED));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(memory + 4096, 4096, ACL_HOST_REG_PINNED));
    (void)GIVES(TWICE, aclrtHostRegisterV2(memory, sizeof(memory), ACL_HOST_REG_PINNED));
    (void)GIVES(PARAM, aclrtHostGetDevicePointer(memory, &device, 1));
    (void)GIVES(ACL_SUCCESS, aclrtHostGetDevicePointer(memory + 100, &device, 0));
    (void)EXPECT(device == memory + 100, "%p", device);
    (void)GIVES(BAD, aclrtHostGetDevicePointer(memory + 4096, &device, 0)); /* only pinned */
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes(memory + 5000, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST, "registered");
    (void)GIVES(BAD, aclrtFreeHost(memory));
    memcpy(memory, "zero copy", 10);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(ptr, 64, memory, 10, ACL_MEMCPY_DEFAULT, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(memory + 20, 64, ptr, 10, ACL_MEMCPY_DEFAULT, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)EXPECT(strcmp(memory + 20, "zero copy") == 0, "%s", memory + 20);
    (void)GIVES(BAD, aclrtHostRegisterV2(ptr, 64, ACL_HOST_REG_PINNED));
    (void)GIVES(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(memory + 1));
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(memory));
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(memory + 4096));
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes(memory, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED, "gone");
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, 64));
    (void)GIVES(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pinned));
    (void)GIVES(BAD, aclrtHostRegisterV2(pinned, 1 << 20, ACL_HOST_REG_PINNED));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(pinned, 64, ACL_HOST_REG_MAPPED));
    (void)GIVES(TWICE, aclrtHostRegisterV2(pinned, 64, ACL_HOST_REG_MAPPED));
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(pinned));
    (void)GIVES(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pinned));
    (void)GIVES(ACL_SUCCESS, aclrtHostGetDevicePointer(pinned, &device, 0));
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtHostUnregister(memory));
    (void)GIVES(ACL_ERROR_RT_CONTEXT_NULL, aclrtHostRegisterV2(memory, 1, ACL_HOST_REG_PINNED));
    fixture_end();
}

/* "Zero copy": kernels read and write memory of the host where its device address is given. */
static void test_kernels_reach_it(void)
{
    enum { HALVES = 2048, FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };
    static _Alignas(4096) aclFloat16 two[4096], locked[4096]; /* registered by halves */
    aclrtBinHandle library = NULL;
    aclrtFuncHandle add = NULL;
    aclFloat16 *pinned = NULL;
    void *x = NULL, *y = NULL, *z = NULL;
    size_t free_before = 0, free_after = 0, total = 0;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("zero_copy.o", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &add));
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost((void **)&pinned, HALVES * 2));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(pinned, HALVES * 2, ACL_HOST_REG_MAPPED));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(two, sizeof(two), ACL_HOST_REG_MAPPED));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(locked, sizeof(locked), ACL_HOST_REG_PINNED));
    for (unsigned i = 0; i < HALVES; i++)
        pinned[i] = two[i] = two[HALVES + i] = locked[i] = aclFloatToFloat16((float)(i % 100));
    (void)GIVES(ACL_SUCCESS, aclrtHostGetDevicePointer(pinned, &x, 0));
    (void)GIVES(ACL_SUCCESS, aclrtHostGetDevicePointer(two, &y, 0));
    (void)GIVES(ACL_SUCCESS, aclrtHostGetDevicePointer(two + 2048, &z, 0));
    struct {
        void *x, *y, *z;
        uint32_t count, type;
    } block = {x, y, z, HALVES - 1, ACL_FLOAT16};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 8, &block, sizeof(block), NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    for (unsigned i = 0; i < HALVES - 1; i++)
        (void)EXPECT(two[HALVES + i] == aclFloatToFloat16((float)(i % 100 * 2)) &&
                         two[i] == pinned[i],
                     "element %u is 0x%x", i, two[HALVES + i]);
    (void)EXPECT(two[2 * HALVES - 1] == pinned[HALVES - 1], "behind the sum");
    (void)EXPECT(block.z == z, "the program's arguments were changed");
    /* The whole range, without a count, and the same memory read and written. */
    block.z = x;
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 8, &block, 24, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)EXPECT(pinned[7] == aclFloatToFloat16(14.0f), "0x%x", pinned[7]);
    /* What is only page-locked has no device address; a kernel that fails changes nothing. */
    block.y = locked;
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 8, &block, sizeof(block), NULL));
    (void)GIVES(FAULT, aclrtSynchronizeStream(NULL));
    (void)EXPECT(pinned[7] == aclFloatToFloat16(14.0f), "0x%x", pinned[7]);
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(locked));
    (void)GIVES(ACL_SUCCESS, aclrtHostRegisterV2(locked, sizeof(locked),
                                                 ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY));
    block.z = locked;
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(add, 8, &block, sizeof(block), NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)EXPECT(locked[9] == aclFloatToFloat16(9.0f), "read-only memory was written");
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(locked));
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(two));
    (void)GIVES(ACL_SUCCESS, aclrtHostUnregister(pinned));
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    (void)EXPECT(free_before == free_after, "%zu bytes stayed", free_before - free_after);
    fixture_end();
}

static void test_batches(void)
{
    char from[3][8] = {"first", "second", "third"}, to[3][8] = {"", "", ""};
    void *block = NULL;
    size_t fail = 0, sizes[3] = {8, 0, 8}, maxs[3] = {8, 0, 8}, starts[2] = {0, 1};
    aclrtMemcpyBatchAttr attrs[2];
    fixture_begin();
    memset(attrs, 0, sizeof(attrs));
    attrs[0].dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attrs[1].srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&block, 24, ACL_MEM_MALLOC_HUGE_FIRST));
    char *base = block;
    void *places[3] = {base, NULL, base + 8}, *hosts[3] = {from[0], NULL, from[2]};
    void *backs[3] = {to[0], NULL, to[2]};
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, NULL, 3, attrs, starts, 1, &fail));
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts, 1, NULL));
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, sizes, 0, attrs, starts, 1, &fail));
    (void)GIVES(PARAM, aclrtMemcpyBatch(NULL, maxs, hosts, sizes, 3, attrs, starts, 1, &fail));
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, NULL, starts, 1, &fail));
    (void)GIVES(BAD, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts, 0, &fail));
    (void)GIVES(BAD, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts + 1, 1, &fail));
    maxs[2] = 7;
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts, 1, &fail));
    (void)EXPECT(fail == SIZE_MAX, "%zu", fail);
    maxs[2] = 8;
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts, 1, &fail));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyBatchAsync(backs, maxs, places, sizes, 3, attrs + 1, starts,
                                                   1, &fail, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)EXPECT(fail == SIZE_MAX && strcmp(to[0], "first") == 0 && strcmp(to[2], "third") == 0,
                 "%s %s", to[0], to[2]);
    hosts[2] = NULL;
    (void)GIVES(PARAM, aclrtMemcpyBatch(places, maxs, hosts, sizes, 3, attrs, starts, 1, &fail));
    (void)EXPECT(fail == 2, "%zu", fail);
    hosts[2] = from[2];
    (void)GIVES(BAD, aclrtMemcpyBatch(hosts, maxs, places, sizes, 3, attrs, starts, 1, &fail));
    (void)EXPECT(fail == 0, "%zu", fail);
    memset(sizes, 0, sizeof(sizes));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyBatch(NULL, NULL, NULL, sizes, 3, NULL, NULL, 0, &fail));
    fixture_end();
}

static void test_usage(void)
{
    aclrtMemUsageInfo usage;
    size_t count = 9;
    void *ptr = NULL;
    fixture_begin();
    (void)GIVES(PARAM, aclrtGetMemUsageInfo(0, NULL, 1, &count));
    (void)GIVES(PARAM, aclrtGetMemUsageInfo(0, &usage, 1, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetMemUsageInfo(99, &usage, 1, &count));
    (void)GIVES(ACL_SUCCESS, aclrtGetMemUsageInfo(0, &usage, 0, &count));
    (void)EXPECT(count == 0, "%zu", count);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtGetMemUsageInfo(0, &usage, 1, &count));
    (void)EXPECT(count == 1 && usage.curMemSize >= 4 << 20 && usage.name[0] != '\0', "%zu: %llu",
                 count, (unsigned long long)usage.curMemSize);
    fixture_end();
}

static const struct client_test tests[] = {
    {"registering", test_registering},
    {"kernels reach it", test_kernels_reach_it},
    {"batches", test_batches},
    {"usage", test_usage},
    {NULL, NULL},
};
const struct client_suite suite_host_register = {"host_register", tests};
