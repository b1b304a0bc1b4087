/* Arguments of kernels that are put together piece by piece. The pieces live in memory of the
 * library, also for aclrtKernelArgsInitByUserMem: then the caller's handle memory only serves as a
 * name and is never read. A parameter handle is 1 + its index. */
#include "acl_exception.h"
#include "error.h"
#include "handle.h"
#include "launches.h"
#include "tables.h"

#include "acl/acl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 128u
#define BLOCK_BYTES_MAX 16384u
#define HANDLE_BYTES 64u /* asked for at aclrtKernelArgsGetHandleMemSize */
#define HANDLE_ALIGN 8u

struct parameter {
    size_t at, size; /* in the block, bytes */
    bool is_pointer; /* a placeholder */
    void *data;      /* of a placeholder: owned; NULL until it is asked for */
    size_t data_size;
};

struct args {
    struct args *next;
    const void *name; /* the caller's memory; NULL: the handle is ours */
    void *function;
    char block[BLOCK_BYTES_MAX];
    size_t len;
    struct parameter parameters[PARAMETERS_MAX];
    size_t count;
    bool is_final;
};

static struct args
    *by_user; /* those that are named by the caller's memory; under the tables' lock */

static struct args *find_by_user(const void *name)
{
    client_tables_lock();
    struct args *args = by_user;
    while (args != NULL && args->name != name)
        args = args->next;
    client_tables_unlock();
    return args;
}

/* NULL: the error is recorded. */
static struct args *find_args(const void *handle)
{
    struct client_object object;
    if (handle == NULL) {
        (void)client_fail_null("argsHandle");
        return NULL;
    }
    if (client_handle_get(CLIENT_ARGS, handle, &object))
        return object.data;
    struct args *args = find_by_user(handle);
    if (args == NULL)
        (void)client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                          "%p holds no arguments: it did not come from aclrtKernelArgsInit",
                          handle);
    return args;
}

static aclError check_function(const void *function)
{
    if (function == NULL)
        return client_fail_null("funcHandle");
    if (client_handle_get(CLIENT_FUNCTION, function, NULL))
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "%p is no function: its library was unloaded, or it did not come from "
                       "aclrtBinaryGetFunction",
                       function);
}

/* ---- beginning ---- */

static void args_free(struct args *args)
{
    for (size_t i = 0; i < args->count; i++)
        free(args->parameters[i].data);
    free(args);
}

static bool is_stale(const struct client_object *object, const void *user)
{
    return object->kind == CLIENT_ARGS && (user == NULL || object->context == user);
}

void client_args_forget(const void *function)
{
    struct client_object object;
    while (client_handle_find(is_stale, function, &object)) {
        if (client_handle_remove(CLIENT_ARGS, object.handle, &object))
            args_free(object.data);
    }
    struct args *gone = NULL;
    client_tables_lock();
    for (struct args **link = &by_user; *link != NULL;) {
        struct args *args = *link;
        if (function != NULL && args->function != function) {
            link = &args->next;
            continue;
        }
        *link = args->next;
        args->next = gone;
        gone = args;
    }
    client_tables_unlock();
    while (gone != NULL) {
        struct args *next = gone->next;
        args_free(gone);
        gone = next;
    }
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
    client_begin("aclrtKernelArgsInit");
    if (argsHandle == NULL)
        return client_fail_null("argsHandle");
    aclError error = check_function(funcHandle);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {
        .kind = CLIENT_ARGS, .context = funcHandle, .data = calloc(1, sizeof(struct args))};
    struct args *args = object.data;
    if (args == NULL || client_handle_add(&object) == NULL) {
        free(args);
        return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                           "the host has no memory for the arguments");
    }
    args->function = funcHandle;
    *argsHandle = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize)
{
    client_begin("aclrtKernelArgsGetHandleMemSize");
    if (memSize == NULL)
        return client_fail_null("memSize");
    aclError error = check_function(funcHandle);
    if (error == ACL_SUCCESS)
        *memSize = HANDLE_BYTES;
    return error;
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                   size_t *actualArgsSize)
{
    client_begin("aclrtKernelArgsGetMemSize");
    if (actualArgsSize == NULL)
        return client_fail_null("actualArgsSize");
    aclError error = check_function(funcHandle);
    if (error == ACL_SUCCESS && userArgsSize > SIZE_MAX - 8)
        error = client_fail(ACL_ERROR_RT_PARAM_INVALID, "userArgsSize %zu leaves 64 bits",
                            userArgsSize);
    if (error == ACL_SUCCESS)
        *actualArgsSize = (userArgsSize + 7) / 8 * 8;
    return error;
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                                      void *userHostMem, size_t actualArgsSize)
{
    client_begin("aclrtKernelArgsInitByUserMem");
    if (argsHandle == NULL || userHostMem == NULL)
        return client_fail_null(argsHandle == NULL ? "argsHandle" : "userHostMem");
    aclError error = check_function(funcHandle);
    if (error != ACL_SUCCESS)
        return error;
    if ((uintptr_t)argsHandle % HANDLE_ALIGN != 0 || client_handle_is_ours(argsHandle) ||
        actualArgsSize == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "argsHandle %p has to be memory of yours, aligned to 8 bytes, and "
                           "actualArgsSize (%zu) what aclrtKernelArgsGetMemSize gave",
                           argsHandle, actualArgsSize);
    struct args *args = find_by_user(argsHandle);
    if (args == NULL) {
        args = calloc(1, sizeof(*args));
        if (args == NULL)
            return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                               "the host has no memory for the arguments");
        args->name = argsHandle;
        client_tables_lock();
        args->next = by_user;
        by_user = args;
        client_tables_unlock();
    }
    for (size_t i = 0; i < args->count; i++)
        free(args->parameters[i].data);
    args->function = funcHandle;
    args->len = 0;
    args->count = 0;
    args->is_final = false;
    return ACL_SUCCESS;
}

/* ---- parameters ---- */

/* Room for a parameter, aligned as in a C struct. NULL: the error is recorded. */
static struct parameter *append(struct args *args, size_t size)
{
    size_t align = size >= 8 || (size & (size - 1)) != 0 ? 8 : size;
    size_t at = (args->len + align - 1) / align * align;
    if (args->is_final || args->count == PARAMETERS_MAX || size > BLOCK_BYTES_MAX ||
        at > BLOCK_BYTES_MAX - size) {
        (void)client_fail(ACL_ERROR_RT_PARAM_INVALID,
                          "%s: a kernel has at most %u arguments in %u bytes, and none can be "
                          "appended after aclrtKernelArgsFinalize",
                          args->is_final ? "the arguments are final" : "there is no room",
                          PARAMETERS_MAX, BLOCK_BYTES_MAX);
        return NULL;
    }
    struct parameter *parameter = &args->parameters[args->count++];
    *parameter = (struct parameter){.at = at, .size = size};
    args->len = at + size;
    return parameter;
}

static void *parameter_handle(const struct args *args)
{
    return (void *)(uintptr_t)args->count;
}

static struct parameter *find_parameter(struct args *args, const void *handle)
{
    uintptr_t number = (uintptr_t)handle;
    if (number >= 1 && number <= args->count)
        return &args->parameters[number - 1];
    (void)client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                      "%p is no parameter of these arguments: it did not come from "
                      "aclrtKernelArgsAppend",
                      handle);
    return NULL;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
                               aclrtParamHandle *paramHandle)
{
    client_begin("aclrtKernelArgsAppend");
    if (param == NULL || paramHandle == NULL)
        return client_fail_null(param == NULL ? "param" : "paramHandle");
    if (paramSize == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "paramSize is 0; give at least 1");
    struct args *args = find_args(argsHandle);
    struct parameter *parameter = args != NULL ? append(args, paramSize) : NULL;
    if (parameter == NULL)
        return client_error_last(false);
    memcpy(args->block + parameter->at, param, paramSize);
    *paramHandle = parameter_handle(args);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
    client_begin("aclrtKernelArgsAppendPlaceHolder");
    if (paramHandle == NULL)
        return client_fail_null("paramHandle");
    struct args *args = find_args(argsHandle);
    struct parameter *parameter = args != NULL ? append(args, sizeof(uint64_t)) : NULL;
    if (parameter == NULL)
        return client_error_last(false);
    parameter->is_pointer = true;
    *paramHandle = parameter_handle(args);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void **bufferAddr)
{
    client_begin("aclrtKernelArgsGetPlaceHolderBuffer");
    if (bufferAddr == NULL)
        return client_fail_null("bufferAddr");
    struct args *args = find_args(argsHandle);
    struct parameter *parameter = args != NULL ? find_parameter(args, paramHandle) : NULL;
    if (parameter == NULL)
        return client_error_last(false);
    if (dataSize == 0 || !parameter->is_pointer)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "dataSize is %zu (at least 1), and the parameter has to be one of "
                           "aclrtKernelArgsAppendPlaceHolder",
                           dataSize);
    void *data = dataSize <= BLOCK_BYTES_MAX ? calloc(1, dataSize) : NULL;
    if (data == NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "dataSize is %zu: a placeholder has at most %u bytes, and the host must "
                           "have them",
                           dataSize, BLOCK_BYTES_MAX);
    free(parameter->data);
    parameter->data = data;
    parameter->data_size = dataSize;
    *bufferAddr = data;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void *param, size_t paramSize)
{
    client_begin("aclrtKernelArgsParaUpdate");
    if (param == NULL)
        return client_fail_null("param");
    struct args *args = find_args(argsHandle);
    struct parameter *parameter = args != NULL ? find_parameter(args, paramHandle) : NULL;
    if (parameter == NULL)
        return client_error_last(false);
    if (parameter->is_pointer || parameter->size != paramSize)
        return client_fail(ACL_ERROR_INVALID_PARAM, "paramSize is %zu: this parameter %s",
                           paramSize,
                           parameter->is_pointer ? "is a placeholder, whose buffer is changed"
                                                 : "was appended with another size");
    memcpy(args->block + parameter->at, param, paramSize);
    args->is_final = false;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    client_begin("aclrtKernelArgsFinalize");
    struct args *args = find_args(argsHandle);
    if (args == NULL)
        return client_error_last(false);
    args->is_final = true;
    return ACL_SUCCESS;
}

/* ---- launching ---- */

static aclError launch_args(struct args *args, struct client_launch *launch)
{
    struct client_patch patches[PARAMETERS_MAX];
    char block[BLOCK_BYTES_MAX];
    memcpy(block, args->block, args->len);
    for (size_t i = 0; i < args->count; i++) {
        const struct parameter *parameter = &args->parameters[i];
        if (parameter->data != NULL)
            patches[launch->patch_count++] =
                (struct client_patch){parameter->at, parameter->data, parameter->data_size};
    }
    launch->block = block;
    launch->block_size = args->len;
    launch->patches = patches;
    return acl_launch(launch);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                     aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                     aclrtArgsHandle argsHandle, void *reserve)
{
    client_begin("aclrtLaunchKernelWithConfig");
    struct client_object function, the_stream;
    if (reserve != NULL || numBlocks == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "numBlocks is %u (at least 1) and reserve %p (NULL)", numBlocks,
                           reserve);
    aclError error = client_launch_check_config(cfg);
    if (error == ACL_SUCCESS)
        error = client_launch_find(funcHandle, stream, &function, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    struct args *args = find_args(argsHandle);
    if (args == NULL)
        return client_error_last(false);
    if (!args->is_final || args->function != funcHandle || args->len == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "the arguments are %s",
                           args->function != funcHandle ? "another kernel's"
                           : args->len == 0             ? "none: append them first"
                                            : "not final: call aclrtKernelArgsFinalize first");
    struct client_launch launch = {
        .function = &function, .stream = &the_stream, .blocks = numBlocks};
    return launch_args(args, &launch);
}
