/* aclrtMemAllocManaged; aclrtFree frees it. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "managed.h"

#include "acl/acl.h"

aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag)
{
    client_begin("aclrtMemAllocManaged");
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    if (ptr == NULL)
        return client_fail_null("ptr");
    if (flag != ACL_RT_MEM_ATTACH_GLOBAL)
        return client_fail(ACL_ERROR_INVALID_PARAM, "flag is %u: give ACL_RT_MEM_ATTACH_GLOBAL (1)",
                           flag);
    if (size == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "size is 0; give at least 1 byte");
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_MALLOC_MANAGED);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    soma_command_set(&command, SOMA_FIELD_size, size);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_memory_block *block = &result.u.memory_block;
    error = client_managed_add(block->ptr, block->size, size);
    if (error == ACL_SUCCESS) {
        *ptr = (void *)(uintptr_t)block->ptr;
        return ACL_SUCCESS;
    }
    soma_command_init(&command, SOMA_OP_MEMORY_FREE);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    soma_command_set(&command, SOMA_FIELD_ptr, block->ptr);
    (void)!client_call(&command, NULL);
    return error;
}
