/* What the programs share. */
#include "program.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int failures;

bool program_gave(aclError want, aclError got, const char *call, const char *file, int line)
{
    const char *text = aclGetRecentErrMsg();
    if (got == want && (got != ACL_SUCCESS || text == NULL))
        return true;
    atomic_fetch_add(&failures, 1);
    (void)fprintf(stderr, "%s:%d: %s gave %d, not %d: %s\n", file, line, call, got, want,
                  text != NULL ? text : "(no text)");
    return false;
}

bool program_holds(bool holds, const char *condition, const char *file, int line)
{
    if (holds)
        return true;
    atomic_fetch_add(&failures, 1);
    (void)fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    return false;
}

int program_failures(void)
{
    return atomic_exchange(&failures, 0);
}

void program_begin(void)
{
    (void)GAVE(ACL_SUCCESS, aclInit(NULL));
    (void)GAVE(ACL_SUCCESS, aclrtSetDevice(0));
}

void program_end(void)
{
    (void)GAVE(ACL_SUCCESS, aclFinalize());
}

/* By name each time: what a program with a kernel linked into it would do in one step. */
static aclError launch(const char *kernel, uint32_t blocks, const void *args, size_t bytes,
                       aclrtStream stream)
{
    aclrtBinHandle library = NULL;
    aclrtFuncHandle function = NULL;
    aclError error = aclrtBinaryLoadFromFile("kernels.o", NULL, &library);
    if (error == ACL_SUCCESS)
        error = aclrtBinaryGetFunction(library, kernel, &function);
    if (error == ACL_SUCCESS)
        error = aclrtLaunchKernelV2(function, blocks, args, bytes, NULL, stream);
    aclError unloaded = library != NULL ? aclrtBinaryUnLoad(library) : ACL_SUCCESS;
    return error != ACL_SUCCESS ? error : unloaded;
}

aclError program_add(const void *x, const void *y, void *z, uint32_t count, aclrtStream stream)
{
    const struct {
        const void *x, *y;
        void *z;
        uint32_t count, type;
    } args = {x, y, z, count, ACL_FLOAT};
    return launch("add_custom", 8, &args, sizeof(args), stream);
}

aclError program_op(const char *kernel, uint32_t blocks, void *x, aclrtStream stream)
{
    return launch(kernel, blocks, &x, sizeof(x), stream);
}

aclrtMemPool program_pool(size_t max_bytes)
{
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = max_bytes;
    (void)GAVE(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    return pool;
}
