/* A program in which, one after the other, each allocation of the client fails: the call says so,
 * nothing leaks, nothing is left behind on the service, and the program can go on. */
#include "client_fixture.h"
#include "fault.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

struct script {
    aclError error; /* of the first call that failed */
    unsigned done;  /* calls that worked */
};

static bool step(struct script *script, aclError error)
{
    if (script->error == ACL_SUCCESS && error == ACL_SUCCESS)
        script->done++;
    if (script->error == ACL_SUCCESS)
        script->error = error;
    return script->error == ACL_SUCCESS;
}

static void use_pool(struct script *script, aclrtStream stream)
{
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    void *ptr = NULL;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = (size_t)4 << 20;
    if (!step(script, aclrtMemPoolCreate(&pool, &props)))
        return;
    if (step(script, aclrtMemPoolMallocAsync(&ptr, 8, pool, stream)))
        (void)step(script, aclrtMemPoolFreeAsync(ptr, stream));
    (void)step(script, aclrtMemPoolDestroy(pool));
}

static void use_memory(struct script *script)
{
    char bytes[16] = "bytes";
    void *ptr = NULL, *host = NULL;
    if (step(script, aclrtMalloc(&ptr, 16, ACL_MEM_MALLOC_HUGE_FIRST))) {
        (void)step(script, aclrtMemcpy(ptr, 16, bytes, 16, ACL_MEMCPY_HOST_TO_DEVICE));
        (void)step(script, aclrtMemcpy(bytes, 16, ptr, 16, ACL_MEMCPY_DEVICE_TO_HOST));
        (void)step(script, aclrtMemsetD32(ptr, 16, 0x1020304, 4));
        (void)step(script, aclrtFree(ptr));
    }
    if (step(script, aclrtMallocHost(&host, 16)))
        (void)step(script, aclrtFreeHost(host));
}

static void use_kernel(struct script *script, aclrtStream stream)
{
    aclrtBinHandle library = NULL;
    aclrtFuncHandle function = NULL;
    aclrtArgsHandle args = NULL;
    struct {
        uint64_t x, y, z;
    } block = {1, 2, 3}; /* faults */
    if (!step(script, aclrtBinaryLoadFromFile("k.o", NULL, &library)))
        return;
    if (step(script, aclrtBinaryGetFunction(library, "add_custom", &function))) {
        (void)step(script, aclrtKernelArgsInit(function, &args));
        aclError error = aclrtLaunchKernelV2(function, 1, &block, sizeof(block), NULL, stream);
        (void)step(script, error == ACL_ERROR_RT_AICORE_EXCEPTION ? ACL_SUCCESS : error);
    }
    (void)step(script, aclrtBinaryUnLoad(library));
}

static void run(struct script *script)
{
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclDataBuffer *buffer = aclCreateDataBuffer(script, 1);
    (void)step(script, buffer != NULL ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC);
    if (step(script, aclInit(NULL)) && step(script, aclrtSetDevice(0)) &&
        step(script, aclrtCreateContext(&context, 1)) && step(script, aclrtSetDevice(0)) &&
        step(script, aclrtCreateStream(&stream))) {
        if (step(script, aclrtCreateEvent(&event))) {
            (void)step(script, aclrtRecordEvent(event, stream));
            (void)step(script, aclrtSynchronizeEvent(event));
            (void)step(script, aclrtDestroyEvent(event));
        }
        use_memory(script);
        use_pool(script, stream);
        use_kernel(script, stream);
        (void)step(script, aclrtResetDevice(0));
    }
    if (buffer != NULL)
        (void)aclDestroyDataBuffer(buffer);
}

static void test_each_allocation_fails_once(void)
{
    struct script script = {ACL_SUCCESS, 0};
    fake_service_start();
    fault_hook_cjson();
    run(&script); /* tables that stay, such as that of handles, get their memory here */
    (void)aclFinalize();
    (void)EXPECT(script.error == ACL_SUCCESS, "without a fault: %d after %u calls, %s",
                 script.error, script.done, aclGetRecentErrMsg());
    fault_begin(0);
    run(&script);
    long count = fault_end();
    (void)aclFinalize();
    (void)EXPECT(count > 30, "only %ld allocations", count);
    for (long at = 1; at <= count; at++) {
        script = (struct script){ACL_SUCCESS, 0};
        fault_begin(at);
        run(&script);
        (void)fault_end();
        const char *text = aclGetRecentErrMsg();
        (void)EXPECT(script.error == ACL_SUCCESS || text != NULL, "allocation %ld: %d, no text", at,
                     script.error);
        (void)aclFinalize();
        /* Only an answer of POST /v1/sessions that could not be read leaves one, to its lease. */
        (void)EXPECT(!fake_service_has_session() || script.done <= 1,
                     "allocation %ld: the session stayed after %u calls", at, script.done);
    }
    script = (struct script){ACL_SUCCESS, 0};
    run(&script);
    (void)EXPECT(script.error == ACL_SUCCESS, "afterwards: %d", script.error);
    (void)aclFinalize();
    fake_service_stop();
}

static const struct client_test tests[] = {
    {"each allocation fails once", test_each_allocation_fails_once},
    {NULL, NULL},
};
const struct client_suite suite_no_memory = {"no_memory", tests};
