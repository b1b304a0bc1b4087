/* Kernel libraries, arguments and launches. */
#include "client_fixture.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

enum { COUNT = 64 };

struct scene {
    aclrtBinHandle library;
    aclrtFuncHandle add;
    aclrtStream stream;
    void *x, *y, *z;
};

static void begin(struct scene *scene)
{
    float values[COUNT];
    fixture_begin();
    memset(scene, 0, sizeof(*scene));
    (void)GIVES(ACL_SUCCESS,
                aclrtBinaryLoadFromFile("./out/add_custom/add_custom.o", NULL, &scene->library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(scene->library, "add_custom", &scene->add));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&scene->stream));
    void **places[] = {&scene->x, &scene->y, &scene->z};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < COUNT; k++)
            values[k] = (float)(k * (i + 1));
        (void)GIVES(ACL_SUCCESS, aclrtMalloc(places[i], sizeof(values), ACL_MEM_MALLOC_HUGE_FIRST));
        (void)GIVES(ACL_SUCCESS, aclrtMemcpy(*places[i], sizeof(values), values, sizeof(values),
                                             ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

/* z = x + y = 3k; then z is cleared. */
static void check_sum(const struct scene *scene)
{
    float sums[COUNT] = {0};
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpy(sums, sizeof(sums), scene->z, sizeof(sums), ACL_MEMCPY_DEVICE_TO_HOST));
    for (int k = 0; k < COUNT; k++)
        (void)EXPECT(sums[k] > (float)(3 * k) - 0.5f && sums[k] < (float)(3 * k) + 0.5f,
                     "z[%d] is %f", k, (double)sums[k]);
    (void)GIVES(ACL_SUCCESS, aclrtMemset(scene->z, sizeof(sums), 0, sizeof(sums)));
}

struct block {
    void *x, *y, *z;
    uint32_t count, type;
};

static void test_launches(void)
{
    struct scene scene;
    void *on_device = NULL;
    begin(&scene);
    struct block block = {scene.x, scene.y, scene.z, COUNT, ACL_FLOAT};
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 8, &block, sizeof(block), NULL, scene.stream));
    check_sum(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &block, sizeof(block), scene.stream));
    check_sum(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&on_device, sizeof(block), ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(on_device, sizeof(block), &block, sizeof(block),
                                              ACL_MEMCPY_HOST_TO_DEVICE, scene.stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 3, on_device, sizeof(block), NULL, scene.stream));
    check_sum(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelWithHostArgs(scene.add, 2, scene.stream, NULL, &block,
                                                           sizeof(block), NULL, 0));
    check_sum(&scene);
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtLaunchKernelV2(scene.add, 0, &block, sizeof(block), NULL, scene.stream));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtLaunchKernelV2(scene.add, 1, &block, 0, NULL, scene.stream));
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtLaunchKernelV2(scene.add, 1, NULL, 8, NULL, scene.stream));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtLaunchKernelV2(scene.add, 1, &block, 31, NULL, scene.stream));
    (void)SAYS("add_custom");
    aclrtLaunchKernelAttr attr = {(aclrtLaunchKernelAttrId)99, {0}};
    aclrtLaunchKernelCfg cfg = {&attr, 1};
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), &cfg, scene.stream));
    attr.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), &cfg, scene.stream));
    check_sum(&scene);
    fixture_end();
}

static void test_libraries_and_functions(void)
{
    struct scene scene;
    aclrtFuncHandle function = NULL;
    aclrtBinHandle library = NULL;
    char name[32];
    begin(&scene);
    (void)GIVES(ACL_ERROR_KERNEL_NOT_FOUND,
                aclrtBinaryGetFunction(scene.library, "no_such", &function));
    (void)SAYS("add_custom"); /* lists what there is */
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("dir/", NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtGetFunctionName(scene.add, sizeof(name), name));
    (void)EXPECT(same_words(name, "add_custom"), "%s", name);
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtGetFunctionName(scene.add, 10, name));
    aclrtBinary binary = aclrtCreateBinary(&scene, sizeof(scene));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoad(binary, &library));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyBinary(binary));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, "add_custom", &function));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryUnLoad(library));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetFunctionName(function, sizeof(name), name));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryUnLoad(library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromData(&scene, 1, NULL, &library));
    (void)EXPECT(aclrtCreateBinary(NULL, 1) == NULL && aclrtCreateBinary(&scene, 0) == NULL,
                 "made");
    (void)aclGetRecentErrMsg();
    fixture_end();
}

/* Told at the next synchronisation, once, with the call that queued it; the stream goes on. */
static void test_a_kernel_that_faults(void)
{
    struct scene scene;
    aclrtStreamStatus status;
    begin(&scene);
    struct block block = {scene.x, scene.y, (void *)(uintptr_t)0x4242, COUNT, ACL_FLOAT};
    enum { FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), NULL, scene.stream));
    (void)GIVES(FAULT, aclrtSynchronizeStream(scene.stream));
    (void)SAYS("aclrtLaunchKernelV2");
    (void)SAYS("0x4242");
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), NULL, scene.stream));
    (void)GIVES(FAULT, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), NULL, scene.stream));
    unsigned queries = 0;
    while (aclrtStreamQuery(scene.stream, &status) == ACL_SUCCESS && queries++ < 100)
        (void)EXPECT(status == ACL_STREAM_STATUS_NOT_READY, "query %u", queries);
    (void)EXPECT(queries > 1 && queries < 100 && aclrtGetLastError(ACL_RT_THREAD_LEVEL) == FAULT,
                 "%u queries", queries);
    (void)aclGetRecentErrMsg();
    char bytes[8] = "to, from";
    for (int way = 0; way < 2;
         way++) { /* copies of ordinary memory wait for the stream: they tell */
        void *to = way == 0 ? scene.y : (void *)bytes, *from = way == 0 ? (void *)bytes : scene.x;
        (void)GIVES(ACL_SUCCESS,
                    aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), NULL, scene.stream));
        (void)GIVES(FAULT, aclrtMemcpyAsync(to, 8, from, 8, ACL_MEMCPY_DEFAULT, scene.stream));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene.stream));
    }
    block.z = scene.z;
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelV2(scene.add, 1, &block, sizeof(block), NULL, scene.stream));
    check_sum(&scene);
    fixture_end();
}

/* Many launches, some of which fail: each stream tells its first failure, what follows is done, and
 * nothing waits for it. */
static void test_failures_among_others(void)
{
    enum { LAUNCHES = 200, FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };
    struct scene scene;
    aclrtStream other = NULL;
    int32_t counter = 0;
    begin(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    struct block good = {scene.x, scene.y, scene.x, 1, ACL_INT32};
    const int32_t numbers[2] = {0, 1};
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(scene.x, 4, &numbers[0], 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(scene.y, 4, &numbers[1], 4, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int i = 0; i < LAUNCHES; i++) {
        struct block bad = {(void *)(uintptr_t)(0x5000u + (unsigned)i), scene.y, scene.z, 1, 3};
        bool fails = i % 20 == 7;
        (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(scene.add, 1, fails ? &bad : &good, 32, NULL,
                                                     i % 3 == 0 ? other : scene.stream));
    }
    (void)GIVES(FAULT, aclrtSynchronizeStream(scene.stream));
    (void)SAYS("0x5007");
    (void)GIVES(FAULT, aclrtSynchronizeStream(other));
    (void)SAYS("0x501b"); /* 27 */
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&counter, 4, scene.x, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(counter == LAUNCHES - LAUNCHES / 20, "%d of them ran", counter);
    fixture_end();
}

/* With STOP the rest is not run, and is refused once the failure was told; others go on. */
static void test_stop_on_failure(void)
{
    enum { FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };
    struct scene scene;
    aclrtContext context = NULL;
    aclrtStream second = NULL;
    aclrtEvent event = NULL;
    aclrtStreamStatus status;
    int32_t counter = -1, numbers[2] = {0, 1};
    begin(&scene);
    struct block good = {scene.x, scene.y, scene.x, 1, ACL_INT32};
    struct block bad = {(void *)(uintptr_t)0x4242, scene.y, scene.x, 1, ACL_INT32};
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(scene.x, 4, &numbers[0], 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(scene.y, 4, &numbers[1], 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtSetStreamFailureMode(scene.stream, ACL_STOP_ON_FAILURE));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &good, 32, scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &bad, 32, scene.stream));
    /* Nobody has told the program yet. */
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &good, 32, scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(scene.x, 4, 7, 4, scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, scene.stream));
    (void)GIVES(FAULT, aclrtSynchronizeStream(scene.stream));
    (void)SAYS("aclrtLaunchKernel");
    (void)SAYS("x=0x4242");
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&counter, 4, scene.x, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(counter == 1, "what was behind the failure has run: %d", counter);
    (void)GIVES(FAULT, aclrtSynchronizeStream(scene.stream));
    (void)SAYS("destroy");
    (void)GIVES(FAULT, aclrtStreamQuery(scene.stream, &status));
    (void)GIVES(FAULT, aclrtLaunchKernel(scene.add, 1, &good, 32, scene.stream));
    (void)SAYS("stopped");
    /* The stream is looked at before the arguments. */
    struct block unknown = {scene.x, scene.y, scene.x, 1, 99};
    (void)GIVES(FAULT, aclrtLaunchKernel(scene.add, 1, &unknown, 32, scene.stream));
    (void)SAYS("stopped");
    (void)GIVES(FAULT, aclrtMemsetAsync(scene.x, 4, 7, 4, scene.stream));
    (void)GIVES(FAULT, aclrtRecordEvent(event, scene.stream));
    /* Another stream of the context stops on failures too, and has had none. */
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&second));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &good, 32, second));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(second));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &bad, 32, second));
    (void)GIVES(FAULT, aclrtSynchronizeDevice());
    (void)GIVES(FAULT, aclrtLaunchKernel(scene.add, 1, &good, 32, second));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStreamForce(second));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(scene.stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 1, &good, 32, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(context));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&counter, 4, scene.x, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(counter == 3, "%d", counter);
    fixture_end();
}

static void test_trap(void)
{
    struct scene scene;
    aclrtFuncHandle trap = NULL;
    const uint32_t code = 7;
    begin(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(scene.library, "trap", &trap));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(trap, 1, &code, sizeof(code), scene.stream));
    (void)GIVES(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(scene.stream));
    (void)SAYS("trap(code=7)");
    fixture_end();
}

static void test_arguments_piece_by_piece(void)
{
    struct scene scene;
    aclrtArgsHandle args = NULL;
    aclrtParamHandle handles[5], pointer;
    uint32_t count = COUNT, type = ACL_FLOAT;
    size_t size = 0;
    uint64_t user_handle[16], user_memory[16];
    begin(&scene);
    for (int round = 0; round < 2; round++) {
        if (round == 0) {
            (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInit(scene.add, &args));
        } else {
            args = user_handle;
            (void)GIVES(ACL_SUCCESS, aclrtKernelArgsGetHandleMemSize(scene.add, &size));
            (void)EXPECT(size <= sizeof(user_handle), "%zu", size);
            (void)GIVES(ACL_SUCCESS, aclrtKernelArgsGetMemSize(scene.add, 33, &size));
            (void)EXPECT(size >= 33 && size <= sizeof(user_memory), "%zu", size);
            (void)GIVES(ACL_ERROR_INVALID_PARAM,
                        aclrtKernelArgsInitByUserMem(scene.add, (char *)user_handle + 1,
                                                     user_memory, sizeof(user_memory)));
            (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInitByUserMem(scene.add, args, user_memory,
                                                                  sizeof(user_memory)));
        }
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.y, 8, &handles[0]));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.y, 8, &handles[1]));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.z, 8, &handles[2]));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &count, 4, &handles[3]));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &type, 4, &handles[4]));
        (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                    aclrtLaunchKernelWithConfig(scene.add, 1, scene.stream, NULL, args, NULL));
        (void)GIVES(ACL_ERROR_INVALID_PARAM,
                    aclrtKernelArgsParaUpdate(args, handles[0], &count, 4));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsParaUpdate(args, handles[0], &scene.x, 8));
        (void)GIVES(ACL_SUCCESS, aclrtKernelArgsFinalize(args));
        (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(args, &type, 4, &handles[4]));
        (void)GIVES(ACL_ERROR_INVALID_PARAM,
                    aclrtLaunchKernelWithConfig(scene.add, 0, scene.stream, NULL, args, NULL));
        (void)GIVES(ACL_SUCCESS,
                    aclrtLaunchKernelWithConfig(scene.add, 8, scene.stream, NULL, args, NULL));
        check_sum(&scene);
    }
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInit(scene.add, &args));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE,
                aclrtKernelArgsGetPlaceHolderBuffer(args, handles[4], 8, &scene.x));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppendPlaceHolder(args, &pointer));
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtKernelArgsGetPlaceHolderBuffer(args, pointer, 0, &scene.x));
    fixture_end();
}

/* x comes with the launch: as a placeholder, and behind the arguments of one block. */
static void test_placeholders(void)
{
    struct scene scene;
    aclrtArgsHandle args = NULL;
    aclrtParamHandle pointer, other;
    void *buffer = NULL;
    uint32_t count = COUNT, type = ACL_FLOAT;
    size_t free_before = 0, free_after = 0, total = 0;
    begin(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInit(scene.add, &args));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppendPlaceHolder(args, &pointer));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.y, 8, &other));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.z, 8, &other));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &count, 4, &other));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &type, 4, &other));
    (void)GIVES(ACL_SUCCESS,
                aclrtKernelArgsGetPlaceHolderBuffer(args, pointer, COUNT * sizeof(float), &buffer));
    for (int k = 0; k < COUNT; k++)
        ((float *)buffer)[k] = (float)k;
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsFinalize(args));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelWithConfig(scene.add, 1, scene.stream, NULL, args, NULL));
    check_sum(&scene);
    struct {
        struct block block;
        float x[COUNT];
    } all = {{NULL, scene.y, scene.z, COUNT, ACL_FLOAT}, {0}};
    for (int k = 0; k < COUNT; k++)
        all.x[k] = (float)k;
    aclrtPlaceHolderInfo holder = {0, sizeof(struct block)};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelWithHostArgs(scene.add, 1, scene.stream, NULL, &all,
                                                           sizeof(all), &holder, 1));
    check_sum(&scene);
    holder.dataOffset = sizeof(all);
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtLaunchKernelWithHostArgs(scene.add, 1, scene.stream, NULL, &all, sizeof(all),
                                              &holder, 1));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice());
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    (void)EXPECT(free_before == free_after, "%zu bytes stayed", free_before - free_after);
    fixture_end();
}

static void put_halves(const struct scene *scene)
{
    aclFloat16 halves[COUNT];
    for (int k = 0; k < COUNT; k++)
        halves[k] = aclFloatToFloat16((float)k);
    for (int i = 0; i < 2; i++)
        (void)GIVES(ACL_SUCCESS, aclrtMemcpy(i == 0 ? scene->x : scene->y, sizeof(halves), halves,
                                             sizeof(halves), ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(scene->z, sizeof(halves), 0, sizeof(halves)));
}

static void check_halves(const struct scene *scene, const char *form)
{
    aclFloat16 halves[COUNT];
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(scene->stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(halves, sizeof(halves), scene->z, sizeof(halves),
                                         ACL_MEMCPY_DEVICE_TO_HOST));
    for (int k = 0; k < COUNT; k++)
        (void)EXPECT(halves[k] == aclFloatToFloat16((float)(2 * k)), "%s: z[%d] is 0x%x", form, k,
                     halves[k]);
    (void)GIVES(ACL_SUCCESS, aclrtMemset(scene->z, sizeof(halves), 0, sizeof(halves)));
}

/* add_custom(x, y, z, tilingLength, tilingNum): the last two are pointers to data that comes with
 * the launch, in both ways in which it can, or that lies in device memory. */
static void test_tiling(void)
{
    struct scene scene;
    aclrtArgsHandle args = NULL;
    aclrtParamHandle handle, length, tiles;
    void *buffer = NULL, *tiling = NULL;
    const int32_t numbers[2] = {COUNT, 8};
    begin(&scene);
    put_halves(&scene);
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInit(scene.add, &args));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.x, 8, &handle));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.y, 8, &handle));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &scene.z, 8, &handle));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppendPlaceHolder(args, &length));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppendPlaceHolder(args, &tiles));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsGetPlaceHolderBuffer(args, length, 4, &buffer));
    memcpy(buffer, &numbers[0], 4);
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsGetPlaceHolderBuffer(args, tiles, 4, &buffer));
    memcpy(buffer, &numbers[1], 4);
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsFinalize(args));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelWithConfig(scene.add, 8, scene.stream, NULL, args, NULL));
    check_halves(&scene, "WithConfig");
    struct {
        void *x, *y, *z, *length, *tiles;
        int32_t numbers[2];
    } all = {scene.x, scene.y, scene.z, NULL, NULL, {COUNT, 8}};
    aclrtPlaceHolderInfo holders[2] = {{24, 40}, {32, 44}};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelWithHostArgs(scene.add, 8, scene.stream, NULL, &all,
                                                           sizeof(all), holders, 2));
    check_halves(&scene, "WithHostArgs");
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&tiling, sizeof(numbers), ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(tiling, sizeof(numbers), numbers, sizeof(numbers),
                                         ACL_MEMCPY_HOST_TO_DEVICE));
    all.length = tiling;
    all.tiles = (char *)tiling + 4;
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(scene.add, 8, &all, 40, scene.stream));
    check_halves(&scene, "LaunchKernel");
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(scene.add, 8, &all, 40, NULL, scene.stream));
    check_halves(&scene, "V2");
    fixture_end();
}

static void test_array_of_arguments(void)
{
    struct scene scene;
    begin(&scene);
    put_halves(&scene);
    void *args[] = {&scene.x, &scene.y, &scene.z};
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelWithArgsArray(scene.add, 4, scene.stream, NULL, args));
    check_halves(&scene, "WithArgsArray");
    fixture_end();
}

static const struct client_test tests[] = {
    {"launches with an argument block", test_launches},
    {"libraries and functions", test_libraries_and_functions},
    {"a kernel that faults", test_a_kernel_that_faults},
    {"failures among others", test_failures_among_others},
    {"stop on failure", test_stop_on_failure},
    {"trap", test_trap},
    {"arguments piece by piece", test_arguments_piece_by_piece},
    {"placeholders", test_placeholders},
    {"tiling in placeholders", test_tiling},
    {"an array of arguments", test_array_of_arguments},
    {NULL, NULL},
};
const struct client_suite suite_kernel = {"kernel", tests};
