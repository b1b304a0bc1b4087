/* Kernels of libraries from C: programs of the kind that CANN's samples are, with kernels of
 * examples/kernels. Only with a real server, which SOMAD_KERNEL_DIR tells where they are. */
#include "client_fixture.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

enum { FAULT = ACL_ERROR_RT_AICORE_EXCEPTION };

static bool is_there(void)
{
    const char *directory = getenv("SOMAD_KERNEL_DIR");
    return directory != NULL && directory[0] != '\0' && fake_service_is_real();
}

static aclrtFuncHandle find(const char *path, const char *name)
{
    aclrtBinHandle library = NULL;
    aclrtFuncHandle function = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtBinaryLoadFromFile(path, NULL, &library));
    (void)GIVES(ACL_SUCCESS, aclrtBinaryGetFunction(library, name, &function));
    return function;
}

static uint32_t read_word(const void *from)
{
    uint32_t word = UINT32_MAX;
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(&word, 4, from, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return word;
}

static void launch(aclrtFuncHandle function, aclrtStream stream, void *x)
{
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelV2(function, 1, &x, sizeof(x), NULL, stream));
}

/* A stream with and without "stop on failure". */
static void test_failure_modes(void)
{
    if (!is_there())
        return;
    aclrtStream stream = NULL;
    void *x = NULL;
    const uint32_t unused = 0;
    fixture_begin();
    aclrtFuncHandle easy = find("./out/easy_ops.o", "EasyOP");
    aclrtFuncHandle error = find("./out/faults.o", "ErrorOP");
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&x, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    for (uint64_t mode = ACL_CONTINUE_ON_FAILURE; mode <= ACL_STOP_ON_FAILURE; mode++) {
        (void)GIVES(ACL_SUCCESS, aclrtMemset(x, 4, 0, 4));
        (void)GIVES(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, mode));
        launch(easy, stream, x);
        (void)GIVES(ACL_SUCCESS, aclrtLaunchKernel(error, 1, &unused, sizeof(unused), stream));
        launch(easy, stream, x);
        (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
        (void)SAYS("ErrorOP(unused=0)");
        (void)EXPECT(read_word(x) == (mode == ACL_STOP_ON_FAILURE ? 1u : 2u), "%u", read_word(x));
    }
    (void)GIVES(FAULT, aclrtLaunchKernel(easy, 1, &x, sizeof(x), stream));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    fixture_end();
}

static struct {
    unsigned calls;
    uint32_t task, code;
    aclrtFuncHandle function;
} seen;

static void on_failure(aclrtExceptionInfo *info)
{
    seen.calls++;
    seen.task = aclrtGetTaskIdFromExceptionInfo(info);
    seen.code = aclrtGetErrorCodeFromExceptionInfo(info);
    (void)aclrtGetFuncHandleFromExceptionInfo(info, &seen.function);
}

/* Faults of all kinds, each told with what happened; memory is untouched, and callbacks are called.
 */
static void test_faults(void)
{
    if (!is_there())
        return;
    static const struct {
        const char *kernel, *says;
        bool has_pointer;
        uint64_t offset;
    } rows[] = {
        {"Poke", "touched 0x", true, UINT64_C(1) << 40},
        {"Poke", "behind the end", true, 64},
        {"HalfDone", "SIGABRT", true, 0},
        {"ErrorOP", "SIG", false, 0},
        {"Heap", "SIG", false, 0},
        {"Leaves", "ended its process", false, 0},
    };
    aclrtStream stream = NULL;
    void *x = NULL;
    fixture_begin();
    memset(&seen, 0, sizeof(seen));
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(on_failure));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&x, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct {
            void *x;
            uint64_t offset;
        } args = {rows[i].has_pointer ? x : NULL, rows[i].offset};
        uint32_t task = 0;
        aclrtFuncHandle function = find("faults.o", rows[i].kernel);
        (void)GIVES(ACL_SUCCESS,
                    aclrtLaunchKernelV2(function, 1, &args, rows[i].has_pointer ? sizeof(args) : 4,
                                        NULL, stream));
        (void)GIVES(ACL_SUCCESS, aclrtGetThreadLastTaskId(&task));
        (void)GIVES(FAULT, aclrtSynchronizeStream(stream));
        (void)SAYS("aclrtLaunchKernelV2");
        (void)SAYS(rows[i].kernel);
        (void)SAYS(rows[i].says);
        (void)EXPECT(seen.calls == i + 1 && seen.task == task && seen.code == FAULT &&
                         seen.function == function,
                     "row %u: %u calls, task %u", i, seen.calls, seen.task);
        (void)EXPECT(read_word(x) == 0, "row %u has left something", i);
    }
    (void)GIVES(ACL_SUCCESS, aclrtSetExceptionInfoCallback(NULL));
    fixture_end();
}

/* Costs, names of libraries, all forms of launches, memory of the host. */
static void test_launches(void)
{
    if (!is_there())
        return;
    aclrtStream stream = NULL;
    aclrtEvent start = NULL, stop = NULL;
    aclrtArgsHandle args = NULL;
    aclrtParamHandle handle;
    float ms = 0;
    void *x = NULL;
    uint32_t *pinned = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&start));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&stop));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&x, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtFuncHandle easy = find("easy_ops.o", "EasyOP");
    aclrtFuncHandle slow = find("another_name.o", "LongOP"); /* found by its name alone */
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(start, stream));
    launch(slow, stream, x);
    (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(stop, stream));
    launch(easy, stream, x);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS, aclrtEventElapsedTime(&ms, start, stop));
    (void)EXPECT(ms > 999.9f && ms < 1000.1f, "%f ms", (double)ms);
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsInit(easy, &args));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsAppend(args, &x, 8, &handle));
    (void)GIVES(ACL_SUCCESS, aclrtKernelArgsFinalize(args));
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelWithConfig(easy, 1, stream, NULL, args, NULL));
    void *array[] = {&x};
    (void)GIVES(ACL_SUCCESS, aclrtLaunchKernelWithArgsArray(easy, 1, stream, NULL, array));
    (void)GIVES(ACL_SUCCESS,
                aclrtLaunchKernelWithHostArgs(easy, 1, stream, NULL, &x, sizeof(x), NULL, 0));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(read_word(x) == 5, "%u", read_word(x));
    void *more[] = {x, x};
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernel(easy, 1, more, 12, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost((void **)&pinned, 4096));
    pinned[0] = 0;
    pinned[1] = 41;
    launch(easy, stream, &pinned[1]);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(pinned[1] == 42 && pinned[0] == 0, "%u", pinned[1]);
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    fixture_end();
}

static const struct client_test tests[] = {
    {"failure modes", test_failure_modes},
    {"faults", test_faults},
    {"launches", test_launches},
    {NULL, NULL},
};
const struct client_suite suite_kernel_dir = {"kernel_dir", tests};
