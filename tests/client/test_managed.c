/* Managed memory: one address for the program and for kernels. ThreadSanitizer leaves no address
 * that both can have. */
#include "client_fixture.h"
#include "sanitizers.h"
#include "suites.h"

#include <string.h>

enum { COUNT = 3000, BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static aclrtStream stream;
static aclrtFuncHandle add;

static void begin(void)
{
    aclrtBinHandle library = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile("add_custom.o", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &add));
}

static void *managed(size_t size)
{
    void *ptr = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtMemAllocManaged(&ptr, size, ACL_RT_MEM_ATTACH_GLOBAL));
    return ptr;
}

/* z = x + y, count elements of int32. */
static void launch(const void *x, const void *y, void *z, uint32_t count)
{
    struct {
        const void *x, *y;
        void *z;
        uint32_t count, type;
    } args = {x, y, z, count, ACL_INT32};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(add, 8, &args, sizeof(args), NULL, stream));
}

static void synchronize(void)
{
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

static void test_host_and_kernel(void)
{
    if (HAS_THREAD_SANITIZER)
        return;
    begin();
    int32_t *x = managed(COUNT * 4), *y = managed(COUNT * 4), *z = managed(COUNT * 4);
    for (int32_t round = 0; round < 3; round++) {
        for (int32_t i = 0; i < COUNT; i++) {
            x[i] = i * 3 + round;
            y[i] = round == 0 ? 7 : y[i] + 1;
        }
        launch(x, y, z, COUNT);
        launch(z, y, z, COUNT);
        synchronize();
        int32_t good = 0;
        for (int32_t i = 0; i < COUNT; i++)
            good += z[i] == i * 3 + round + 2 * (7 + round);
        (void)EXPECT(good == COUNT, "round %d: %d of %d", round, good, (int)COUNT);
    }
    (void)GIVES(ACL_SUCCESS, aclrtFree(x));
    (void)GIVES(ACL_SUCCESS, aclrtFree(y));
    (void)GIVES(ACL_SUCCESS, aclrtFreeWithDevSync(z));
    fixture_end();
}

/* What ends a wait: each of them shows what the kernel wrote. */
static void test_waits(void)
{
    if (HAS_THREAD_SANITIZER)
        return;
    aclrtEvent event = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    int32_t *x = managed(64), *z = managed(64);
    x[0] = 1;
    for (int32_t way = 0; way < 4; way++) {
        x[0]++;
        launch(x, x, z, 1);
        (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, stream));
        switch (way) {
        case 0: (void)GIVES(ACL_SUCCESS, aclrtSynchronizeEvent(event)); break;
        case 1: (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice()); break;
        case 2:
            do
                (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
            while (status != ACL_STREAM_STATUS_COMPLETE);
            break;
        default: (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream)); break;
        }
        (void)EXPECT(z[0] == 2 * x[0], "way %d: %d", way, z[0]);
    }
    fixture_end();
}

static void test_copies(void)
{
    if (HAS_THREAD_SANITIZER)
        return;
    int32_t host[4] = {1, 2, 3, 4};
    void *device = NULL;
    begin();
    int32_t *a = managed(64), *b = managed(64);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(a, 64, 0, 64));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(a, 64, host, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)EXPECT(a[3] == 4 && a[4] == 0, "%d", a[3]);
    launch(a, a, b, 4); /* and without a wait: */
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyAsync(device, 64, b, 16, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(a, 64, device, 16, ACL_MEMCPY_DEFAULT, stream));
    synchronize();
    (void)EXPECT(a[0] == 2 && a[3] == 8, "%d, %d", a[0], a[3]);
    launch(a, a, b, 4);
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(host, 16, b, 16, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(host[3] == 16, "%d", host[3]);
    launch(a, a, b, 4);
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(b, 64, 1, 4, stream));
    (void)EXPECT(b[0] == 0x01010101 && b[3] == 16, "%d, %d", b[0], b[3]);
    (void)GIVES(ACL_SUCCESS, aclrtReduceAsync(b, a, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                                              stream, NULL));
    synchronize();
    (void)EXPECT(b[3] == 24, "%d", b[3]);
    (void)GIVES(BAD, aclrtMemcpy(a, 128, host, 65, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(BAD, aclrtMemset(a, 128, 0, 65));
    fixture_end();
}

/* The program writes into a block while a kernel has it: neither loses. */
static void test_both_write(void)
{
    if (HAS_THREAD_SANITIZER)
        return;
    begin();
    int32_t *x = managed(COUNT * 4);
    for (int32_t i = 0; i < COUNT; i++)
        x[i] = i;
    launch(x, x, x, 10);
    x[10] = -1;
    x[2000] = -2;
    launch(x, x, x, 11);
    x[2001] = -3;
    synchronize();
    (void)EXPECT(x[9] == 36 && x[10] == -2 && x[11] == 11, "%d, %d, %d", x[9], x[10], x[11]);
    (void)EXPECT(x[2000] == -2 && x[2001] == -3 && x[2002] == 2002, "%d", x[2000]);
    launch(x + 2000, x + 2000, x + 2000, 2);
    synchronize();
    (void)EXPECT(x[2000] == -4 && x[2001] == -6, "%d, %d", x[2000], x[2001]);
    fixture_end();
}

static void test_rules(void)
{
    if (HAS_THREAD_SANITIZER)
        return;
    void *ptr = NULL, *base = NULL;
    size_t size = 0, free_bytes = 0, later = 0, total = 0;
    aclrtPtrAttributes attributes;
    begin();
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    (void)GIVES(PARAM, aclrtMemAllocManaged(NULL, 8, ACL_RT_MEM_ATTACH_GLOBAL));
    (void)GIVES(PARAM, aclrtMemAllocManaged(&ptr, 8, 0));
    (void)GIVES(BAD, aclrtMemAllocManaged(&ptr, 0, ACL_RT_MEM_ATTACH_GLOBAL));
    (void)GIVES(ACL_ERROR_RT_MEMORY_ALLOCATION,
                aclrtMemAllocManaged(&ptr, UINT64_C(4) << 40, ACL_RT_MEM_ATTACH_GLOBAL));
    (void)EXPECT(ptr == NULL, "a refusal wrote the output");
    ptr = managed(100);
    (void)EXPECT((uintptr_t)ptr % ((size_t)2 << 20) == 0 && *(char *)ptr == 0, "%p", ptr);
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &later, &total));
    (void)EXPECT(later == free_bytes, "%zu of the device's memory", free_bytes - later);
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes((char *)ptr + 99, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_MANAGED, "type %d",
                 (int)attributes.location.type);
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAddressRange((char *)ptr + 5, &base, &size));
    (void)EXPECT(base == ptr && size == (size_t)2 << 20, "%zu", size);
    (void)GIVES(BAD, aclrtFree((char *)ptr + 8));
    (void)GIVES(BAD, aclrtReleaseMemAddress(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtFree(ptr));
    (void)GIVES(BAD, aclrtFree(ptr));
    ptr = managed(100);
    *(char *)ptr = 5;
    fixture_end();
    begin(); /* another session: the same address, fresh */
    void *fresh = managed(100);
    (void)EXPECT(fresh == ptr && *(char *)fresh == 0, "%p", fresh);
    fixture_end();
}

static const struct client_test tests[] = {
    {"the host and kernels", test_host_and_kernel},
    {"every wait", test_waits},
    {"copies and fills", test_copies},
    {"both write", test_both_write},
    {"rules", test_rules},
    {NULL, NULL},
};

const struct client_suite suite_managed = {"managed", tests};
