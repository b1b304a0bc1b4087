/* Kernel libraries, functions and launches. A library is only a name here: the service has the
 * kernels, and a function is found in it by the kernel's name. */
#include "acl_exception.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "catalog.h"
#include "launches.h"
#include "ranges.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEHOLDERS_MAX 128u

/* ---- libraries ---- */

static aclError check_options(const aclrtBinaryLoadOptions *options)
{
    if (options == NULL)
        return ACL_SUCCESS;
    if (options->numOpt > 0 && options->options == NULL)
        return client_fail_null("options->options");
    for (size_t i = 0; i < options->numOpt; i++) {
        int type = (int)options->options[i].type;
        if (type < ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD ||
            type > ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE)
            return client_fail(ACL_ERROR_INVALID_PARAM,
                               "options->options[%zu].type is %d: options are 1 to 3", i, type);
    }
    return ACL_SUCCESS;
}

static aclError load(const char *name, size_t len, aclrtBinHandle *library)
{
    struct client_object context, object = {.kind = CLIENT_LIBRARY};
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    (void)snprintf(object.name, sizeof(object.name), "%.*s", (int)len, name);
    if (client_handle_add(&object) == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a library");
    *library = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle)
{
    client_begin("aclrtBinaryLoadFromFile");
    if (binPath == NULL || binHandle == NULL)
        return client_fail_null(binPath == NULL ? "binPath" : "binHandle");
    aclError error = check_options(options);
    if (error != ACL_SUCCESS)
        return error;
    const char *slash = strrchr(binPath, '/');
    const char *name = slash != NULL ? slash + 1 : binPath;
    size_t len = strcspn(name, ".");
    if (len == 0 || len > SOMA_NAME_BYTES_MAX)
        return client_fail(
            ACL_ERROR_RT_PARAM_INVALID,
            "binPath \"%.200s\" ends in no name of 1 to %u bytes, such as add_custom.o", binPath,
            SOMA_NAME_BYTES_MAX);
    return load(name, len, binHandle);
}

static aclError check_data(const void *data, size_t length)
{
    if (data == NULL)
        return client_fail_null("data");
    return length > 0 ? ACL_SUCCESS
                      : client_fail(ACL_ERROR_INVALID_PARAM, "the length of data is 0");
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                 const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
    client_begin("aclrtBinaryLoadFromData");
    if (binHandle == NULL)
        return client_fail_null("binHandle");
    aclError error = check_data(data, length);
    if (error == ACL_SUCCESS)
        error = check_options(options);
    return error != ACL_SUCCESS ? error : load("data", strlen("data"), binHandle);
}

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen)
{
    client_begin("aclrtCreateBinary");
    struct client_object object = {.kind = CLIENT_LIBRARY_DATA, .size = dataLen};
    if (check_data(data, dataLen) != ACL_SUCCESS)
        return NULL;
    if (client_handle_add(&object) == NULL)
        (void)client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a library");
    return object.handle;
}

static aclError fail_library(const void *library, const char *maker)
{
    return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "%p is no kernel library: it was ended, or did not come from %s", library,
                       maker);
}

aclError aclrtDestroyBinary(aclrtBinary binary)
{
    client_begin("aclrtDestroyBinary");
    if (binary == NULL)
        return client_fail_null("binary");
    return client_handle_remove(CLIENT_LIBRARY_DATA, binary, NULL)
               ? ACL_SUCCESS
               : fail_library(binary, "aclrtCreateBinary");
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle)
{
    client_begin("aclrtBinaryLoad");
    if (binary == NULL || binHandle == NULL)
        return client_fail_null(binary == NULL ? "binary" : "binHandle");
    if (!client_handle_get(CLIENT_LIBRARY_DATA, binary, NULL))
        return fail_library(binary, "aclrtCreateBinary");
    return load("data", strlen("data"), binHandle);
}

static bool is_function_of(const struct client_object *object, const void *user)
{
    return object->kind == CLIENT_FUNCTION && object->context == user;
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    client_begin("aclrtBinaryUnLoad");
    if (binHandle == NULL)
        return client_fail_null("binHandle");
    struct client_object function;
    if (!client_handle_remove(CLIENT_LIBRARY, binHandle, NULL))
        return fail_library(binHandle, "aclrtBinaryLoadFromFile");
    while (client_handle_find(is_function_of, binHandle, &function)) {
        client_args_forget(function.handle);
        (void)client_handle_remove(CLIENT_FUNCTION, function.handle, NULL);
    }
    return ACL_SUCCESS;
}

/* ---- functions ---- */

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
                                aclrtFuncHandle *funcHandle)
{
    client_begin("aclrtBinaryGetFunction");
    struct client_kernel kernel;
    struct client_object library;
    if (binHandle == NULL || kernelName == NULL || funcHandle == NULL)
        return client_fail_null(binHandle == NULL    ? "binHandle"
                                : kernelName == NULL ? "kernelName"
                                                     : "funcHandle");
    if (!client_handle_get(CLIENT_LIBRARY, binHandle, &library))
        return fail_library(binHandle, "aclrtBinaryLoadFromFile");
    aclError error = client_kernel_find(library.name, kernelName, &kernel);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {.kind = CLIENT_FUNCTION, .context = binHandle};
    (void)snprintf(object.name, sizeof(object.name), "%s", kernel.name);
    (void)snprintf(object.library, sizeof(object.library), "%s", kernel.library);
    if (client_handle_add(&object) == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a function");
    *funcHandle = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    client_begin("aclrtGetFunctionName");
    struct client_object object;
    if (funcHandle == NULL || name == NULL)
        return client_fail_null(funcHandle == NULL ? "funcHandle" : "name");
    if (!client_handle_get(CLIENT_FUNCTION, funcHandle, &object))
        return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                           "%p is no function: its library was unloaded, or it did not come from "
                           "aclrtBinaryGetFunction",
                           funcHandle);
    size_t len = strlen(object.name);
    if (len >= maxLen)
        return client_fail(ACL_ERROR_INVALID_PARAM, "maxLen is %u; the name needs %zu bytes",
                           maxLen, len + 1);
    memcpy(name, object.name, len + 1);
    return ACL_SUCCESS;
}

/* ---- launches ---- */

static aclError launch_block(aclrtFuncHandle function, uint32_t blocks, const void *args,
                             size_t args_size, aclrtStream stream)
{
    struct client_object the_function, the_stream;
    if (function == NULL || args == NULL)
        return client_fail_null(function == NULL ? "funcHandle" : "argsData");
    aclError error = client_launch_find(function, stream, &the_function, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    if (blocks == 0 || args_size == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "numBlocks is %u and argsSize %zu; give at least 1", blocks, args_size);
    struct client_launch launch = {.function = &the_function,
                                   .stream = &the_stream,
                                   .blocks = blocks,
                                   .block_size = args_size};
    if (client_is_device_address(args))
        launch.block_address = (uint64_t)(uintptr_t)args;
    else
        launch.block = (void *)(uintptr_t)args; /* without patches it is only read */
    return acl_launch(&launch);
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                           size_t argsSize, aclrtStream stream)
{
    client_begin("aclrtLaunchKernel");
    return launch_block(funcHandle, numBlocks, argsData, argsSize, stream);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                             size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    client_begin("aclrtLaunchKernelV2");
    aclError error = client_launch_check_config(cfg);
    return error != ACL_SUCCESS ? error
                                : launch_block(funcHandle, numBlocks, argsData, argsSize, stream);
}

/* Turn placeholders into patches; *args_size: what is in front of all data. */
static aclError read_placeholders(const aclrtPlaceHolderInfo *holders, size_t count,
                                  const char *block, size_t block_size,
                                  struct client_patch *patches, size_t *args_size)
{
    *args_size = block_size;
    for (size_t i = 0; i < count; i++) {
        size_t at = holders[i].addrOffset, data = holders[i].dataOffset;
        if (at > block_size || block_size - at < sizeof(uint64_t) || data >= block_size)
            return client_fail(ACL_ERROR_INVALID_PARAM,
                               "placeHolderArray[%zu]: a pointer at %zu to data at %zu leaves the "
                               "block of %zu bytes",
                               i, at, data, block_size);
        patches[i] = (struct client_patch){at, block + data, block_size - data};
        if (data < *args_size)
            *args_size = data;
    }
    return ACL_SUCCESS;
}

static aclError launch_host_args(struct client_launch *launch, const void *host_args, size_t size,
                                 const aclrtPlaceHolderInfo *holders, size_t count)
{
    struct client_patch *patches = calloc(count > 0 ? count : 1, sizeof(*patches));
    char *block = malloc(size);
    aclError error = ACL_SUCCESS;
    if (patches == NULL || block == NULL) {
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the arguments");
    } else {
        memcpy(block, host_args, size);
        error = read_placeholders(holders, count, host_args, size, patches, &launch->block_size);
    }
    launch->block = block;
    launch->patches = patches;
    launch->patch_count = count;
    if (error == ACL_SUCCESS)
        error = acl_launch(launch);
    free(block);
    free(patches);
    return error;
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                       void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray,
                                       size_t placeHolderNum)
{
    client_begin("aclrtLaunchKernelWithHostArgs");
    struct client_object function, the_stream;
    if (funcHandle == NULL || hostArgs == NULL)
        return client_fail_null(funcHandle == NULL ? "funcHandle" : "hostArgs");
    if (placeHolderNum > 0 && placeHolderArray == NULL)
        return client_fail_null("placeHolderArray");
    aclError error = client_launch_check_config(cfg);
    if (error == ACL_SUCCESS)
        error = client_launch_find(funcHandle, stream, &function, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    if (numBlocks == 0 || argsSize == 0 || placeHolderNum > PLACEHOLDERS_MAX)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "numBlocks is %u and argsSize %zu (at least 1), placeHolderNum %zu (at "
                           "most %u)",
                           numBlocks, argsSize, placeHolderNum, PLACEHOLDERS_MAX);
    struct client_launch launch = {
        .function = &function, .stream = &the_stream, .blocks = numBlocks};
    return launch_host_args(&launch, hostArgs, argsSize, placeHolderArray, placeHolderNum);
}

/* The kernel's parameters, as the service declares them, put together as a C struct. */
static aclError gather(const struct client_kernel *kernel, void *const *args, char *block,
                       size_t *block_size)
{
    size_t at = 0;
    for (size_t i = 0; i < kernel->required; i++) {
        size_t size = kernel->size_bytes[i];
        if (args[i] == NULL)
            return client_fail(ACL_ERROR_INVALID_PARAM, "args[%zu] is NULL: %s takes %zu arguments",
                               i, kernel->name, kernel->required);
        at = (at + size - 1) / size * size;
        memcpy(block + at, args[i], size);
        at += size;
    }
    *block_size = at;
    return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg *cfg, void **args)
{
    client_begin("aclrtLaunchKernelWithArgsArray");
    struct client_object function, the_stream;
    struct client_kernel kernel;
    char block[SOMA_KERNEL_ARGS_MAX * sizeof(uint64_t)] = {0};
    if (func == NULL || args == NULL)
        return client_fail_null(func == NULL ? "func" : "args");
    aclError error = client_launch_check_config(cfg);
    if (error == ACL_SUCCESS)
        error = client_launch_find(func, stream, &function, &the_stream);
    if (error == ACL_SUCCESS && numBlocks == 0)
        error = client_fail(ACL_ERROR_RT_PARAM_INVALID, "numBlocks is 0; give at least 1");
    if (error == ACL_SUCCESS)
        error = client_kernel_find(function.library, function.name, &kernel);
    struct client_launch launch = {
        .function = &function, .stream = &the_stream, .blocks = numBlocks, .block = block};
    if (error == ACL_SUCCESS)
        error = gather(&kernel, args, block, &launch.block_size);
    return error != ACL_SUCCESS ? error : acl_launch(&launch);
}
