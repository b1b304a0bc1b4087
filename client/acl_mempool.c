/* Memory pools with stream-ordered allocation. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "ranges.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>
#include <string.h>

static void pool_command(struct soma_command *command, enum soma_op op,
                         const struct client_object *pool)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, pool->device);
    soma_command_set(command, SOMA_FIELD_pool, pool->id);
}

/* gone: the number for a pool that was destroyed or never was; it differs between calls. */
static aclError find_pool(const void *pool, aclError gone, struct client_object *object)
{
    if (pool == NULL)
        return client_fail_null("memPool");
    if (client_handle_get(CLIENT_POOL, pool, object))
        return ACL_SUCCESS;
    return client_fail(
        gone, "%p is no pool: it was destroyed, or did not come from aclrtMemPoolCreate", pool);
}

/* ---- making and ending ---- */

static aclError check_props(const aclrtMemPoolProps *props)
{
    static const unsigned char zeros[sizeof(props->reserved)];
    if (props->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "allocType is %d: pools are ACL_MEM_ALLOCATION_TYPE_PINNED (0) only",
                           (int)props->allocType);
    if (props->handleType != ACL_MEM_HANDLE_TYPE_NONE &&
        props->handleType != ACL_MEM_HANDLE_TYPE_POSIX)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "handleType is %d: give ACL_MEM_HANDLE_TYPE_NONE (0) or "
                           "ACL_MEM_HANDLE_TYPE_POSIX (2)",
                           (int)props->handleType);
    if (props->location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "location.type is %d: pools live on a device, "
                           "ACL_MEM_LOCATION_TYPE_DEVICE (1)",
                           (int)props->location.type);
    if (memcmp(props->reserved, zeros, sizeof(zeros)) != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "reserved is not all 0: clear the struct first");
    return ACL_SUCCESS;
}

static aclError check_place(const aclrtMemPoolProps *props)
{
    struct client_object context;
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    return client_device_check(props->location.id <= INT32_MAX ? (int32_t)props->location.id
                                                               : INT32_MAX);
}

static aclError adopt_pool(struct client_object *object, const struct soma_pool_created *created)
{
    struct client_range range = {.address = created->base_address,
                                 .size_bytes = created->max_size,
                                 .device = object->device,
                                 .is_pool = true};
    object->id = created->pool;
    object->address = created->base_address;
    if (client_ranges_add(&range) && client_handle_add(object) != NULL)
        return ACL_SUCCESS;
    struct soma_command command;
    (void)client_ranges_remove(object->device, range.address, NULL);
    pool_command(&command, SOMA_OP_POOL_DESTROY, object);
    (void)!client_call(&command, NULL);
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a pool");
}

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
{
    client_begin("aclrtMemPoolCreate");
    struct soma_command command;
    struct soma_result result;
    if (memPool == NULL || poolProps == NULL)
        return client_fail_null(memPool == NULL ? "memPool" : "poolProps");
    aclError error = check_props(poolProps);
    if (error == ACL_SUCCESS)
        error = check_place(poolProps);
    if (error != ACL_SUCCESS)
        return error;
    struct client_object object = {.kind = CLIENT_POOL, .device = poolProps->location.id};
    soma_command_init(&command, SOMA_OP_POOL_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, object.device);
    soma_command_set(&command, SOMA_FIELD_max_size, poolProps->maxSize);
    soma_command_set(&command, SOMA_FIELD_handle_type, (uint64_t)poolProps->handleType);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        error = adopt_pool(&object, &result.u.pool_created);
    if (error == ACL_SUCCESS)
        *memPool = object.handle;
    return error;
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool)
{
    client_begin("aclrtMemPoolDestroy");
    struct client_object object;
    struct soma_command command;
    struct soma_result result;
    aclError error = find_pool(memPool, ACL_ERROR_RT_INTERNAL_ERROR, &object);
    if (error != ACL_SUCCESS)
        return error;
    pool_command(&command, SOMA_OP_POOL_DESTROY, &object);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    client_result_clear(&result);
    (void)client_ranges_remove(object.device, object.address, NULL);
    (void)client_handle_remove(CLIENT_POOL, memPool, NULL);
    return ACL_SUCCESS;
}

/* ---- attributes ---- */

/* Attributes 1 to 3 are 4 bytes wide in the program, 4 to 8 are 8: not a byte more is touched. */
static aclError check_attribute(int attr, const void *value, size_t *width)
{
    if (value == NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "value is NULL: give the address of %s",
                           attr <= 3 ? "a uint32_t" : "a uint64_t");
    if (attr < ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attr > ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH)
        return client_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                           "attr is %d: pools have the attributes 1 to 8", attr);
    *width = attr <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? 4 : 8;
    return ACL_SUCCESS;
}

static aclError find_attribute(const void *pool, int attr, const void *value,
                               struct client_object *object, size_t *width)
{
    if (pool == NULL)
        return client_fail_null("memPool");
    if (value != NULL) {
        aclError error = find_pool(pool, ACL_ERROR_RT_PARAM_INVALID, object);
        if (error != ACL_SUCCESS)
            return error;
    }
    return check_attribute(attr, value, width);
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    client_begin("aclrtMemPoolSetAttr");
    struct client_object object;
    struct soma_command command;
    size_t width = 0;
    uint32_t narrow = 0;
    uint64_t wide = 0;
    aclError error = find_attribute(memPool, (int)attr, value, &object, &width);
    if (error != ACL_SUCCESS)
        return error;
    if (width == sizeof(narrow))
        memcpy(&narrow, value, sizeof(narrow));
    else
        memcpy(&wide, value, sizeof(wide));
    pool_command(&command, SOMA_OP_POOL_SET_ATTRIBUTE, &object);
    soma_command_set(&command, SOMA_FIELD_attribute, (uint64_t)attr);
    soma_command_set(&command, SOMA_FIELD_value, width == sizeof(narrow) ? narrow : wide);
    return client_call(&command, NULL);
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    client_begin("aclrtMemPoolGetAttr");
    struct client_object object;
    struct soma_command command;
    struct soma_result result;
    size_t width = 0;
    aclError error = find_attribute(memPool, (int)attr, value, &object, &width);
    if (error != ACL_SUCCESS)
        return error;
    pool_command(&command, SOMA_OP_POOL_GET_ATTRIBUTE, &object);
    soma_command_set(&command, SOMA_FIELD_attribute, (uint64_t)attr);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    uint64_t wide = result.u.attribute_value.value;
    uint32_t narrow = (uint32_t)wide;
    if (width == sizeof(narrow))
        memcpy(value, &narrow, sizeof(narrow));
    else
        memcpy(value, &wide, sizeof(wide));
    return ACL_SUCCESS;
}

/* ---- allocating ---- */

static aclError check_same_device(const struct client_object *stream, uint32_t device,
                                  const char *what)
{
    if (stream->device == device)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                       "stream %p is on device %u and %s on device %u: use a stream of device %u",
                       stream->handle, stream->device, what, device, device);
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
{
    client_begin("aclrtMemPoolMallocAsync");
    struct client_object pool, the_stream;
    struct soma_command command;
    struct soma_result result;
    if (ptr == NULL || memPool == NULL || stream == NULL)
        return client_fail_null(ptr == NULL ? "ptr" : memPool == NULL ? "memPool" : "stream");
    if (size == 0)
        return ACL_SUCCESS;
    aclError error = client_stream_find_to_queue(stream, &the_stream);
    if (error == ACL_SUCCESS)
        error = find_pool(memPool, ACL_ERROR_RT_INTERNAL_ERROR, &pool);
    if (error == ACL_SUCCESS)
        error = check_same_device(&the_stream, pool.device, "the pool");
    if (error != ACL_SUCCESS)
        return error;
    pool_command(&command, SOMA_OP_POOL_MALLOC, &pool);
    soma_command_set(&command, SOMA_FIELD_size, size);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *ptr = (void *)(uintptr_t)result.u.pool_block.ptr;
    return error;
}

aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream)
{
    client_begin("aclrtMemPoolFreeAsync");
    struct client_object the_stream;
    struct client_range range;
    struct soma_command command;
    if (ptr == NULL)
        return client_fail_null("ptr");
    if (stream == NULL)
        return client_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                           "stream is NULL: here NULL is not the default stream, which "
                           "aclrtCtxGetCurrentDefaultStream gives");
    aclError error = client_stream_find_to_queue(stream, &the_stream);
    bool is_known = client_ranges_find((uint64_t)(uintptr_t)ptr, &range);
    if (error == ACL_SUCCESS && is_known)
        error = check_same_device(&the_stream, range.device, "the memory");
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_FREE_ASYNC);
    soma_command_set(&command, SOMA_FIELD_device, the_stream.device);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)ptr);
    soma_command_set(&command, SOMA_FIELD_stream, the_stream.id);
    error = client_queue(&command);
    if (error == ACL_SUCCESS && is_known && !range.is_pool)
        (void)client_ranges_remove(range.device, range.address, NULL);
    return error;
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep)
{
    client_begin("aclrtMemPoolTrimTo");
    struct client_object object;
    struct soma_command command;
    aclError error = find_pool(memPool, ACL_ERROR_RT_INTERNAL_ERROR, &object);
    if (error != ACL_SUCCESS)
        return error;
    pool_command(&command, SOMA_OP_POOL_TRIM_TO, &object);
    soma_command_set(&command, SOMA_FIELD_min_bytes_to_keep, minBytesToKeep);
    return client_call(&command, NULL);
}
