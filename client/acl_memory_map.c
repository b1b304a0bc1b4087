/* Addresses that are reserved and mapped by hand. A handle of physical memory leads to its number
 * in the service, which counts how often it is held; every retain of the same memory hands out the
 * same handle. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "ranges.h"

#include "acl/acl.h"

#include <string.h>

/* ---- what physical memory is ---- */

struct page_kind {
    aclrtMemAttr attr;
    uint64_t page_bytes; /* 0: not emulated */
    bool is_host_only;
};

static const struct page_kind page_kinds[] = {
    {ACL_HBM_MEM_HUGE, SOMA_GRANULE_BYTES, false},
    {ACL_HBM_MEM_NORMAL, SOMA_GRANULE_BYTES, false},
    {ACL_HBM_MEM_HUGE1G, SOMA_GIANT_PAGE_BYTES, false},
    {ACL_MEM_HUGE, SOMA_GRANULE_BYTES, false},
    {ACL_MEM_NORMAL, SOMA_GRANULE_BYTES, false},
    {ACL_MEM_HUGE1G, SOMA_GIANT_PAGE_BYTES, false},
    {ACL_MEM_P2P_HUGE, SOMA_GRANULE_BYTES, false},
    {ACL_MEM_P2P_NORMAL, SOMA_GRANULE_BYTES, false},
    {ACL_MEM_P2P_HUGE1G, 0, false},
    {ACL_DDR_MEM_HUGE, 0, true},
    {ACL_DDR_MEM_NORMAL, 0, true},
    {ACL_DDR_MEM_P2P_HUGE, 0, true},
    {ACL_DDR_MEM_P2P_NORMAL, 0, true},
};

/* The pages of a property. ACL_SUCCESS; 100000 what cannot be; 107001; 207000 what is not emulated.
 */
static aclError read_prop(const aclrtPhysicalMemProp *prop, uint64_t *page_bytes)
{
    const struct page_kind *kind = NULL;
    for (size_t i = 0; i < sizeof(page_kinds) / sizeof(page_kinds[0]); i++) {
        if (page_kinds[i].attr == prop->memAttr)
            kind = &page_kinds[i];
    }
    bool is_device = prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    bool is_host = prop->location.type == ACL_MEM_LOCATION_TYPE_HOST ||
                   prop->location.type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
    if (!is_device && !is_host)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "location.type is %d: physical memory is taken from a device, "
                           "ACL_MEM_LOCATION_TYPE_DEVICE (1)",
                           (int)prop->location.type);
    if (kind == NULL || (is_device && kind->is_host_only))
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "memAttr is %d: give one for memory of a device, such as "
                           "ACL_HBM_MEM_HUGE (%d)",
                           (int)prop->memAttr, (int)ACL_HBM_MEM_HUGE);
    if (is_host || kind->page_bytes == 0)
        return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "location.type %d with memAttr %d is not emulated: take memory of a "
                           "device, and ACL_HBM_MEM_HUGE",
                           (int)prop->location.type, (int)prop->memAttr);
    *page_bytes = kind->page_bytes;
    return client_device_check((int32_t)prop->location.id);
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                          aclrtMemGranularityOptions option, size_t *granularity)
{
    client_begin("aclrtMemGetAllocationGranularity");
    uint64_t page_bytes = 0;
    if (prop == NULL || granularity == NULL)
        return client_fail_null(prop == NULL ? "prop" : "granularity");
    aclError error = read_prop(prop, &page_bytes);
    if (error == ACL_SUCCESS && option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        error = client_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "option is %d: give ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM (0) or "
                            "ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED (1)",
                            (int)option);
    if (error == ACL_SUCCESS)
        *granularity = (size_t)page_bytes;
    return error;
}

/* ---- addresses ---- */

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags)
{
    client_begin("aclrtReserveMemAddress");
    struct soma_command command;
    struct soma_result result;
    if (virPtr == NULL)
        return client_fail_null("virPtr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    if (flags > 1)
        return client_fail(ACL_ERROR_INVALID_PARAM, "flags is %llu: it is reserved, give 0",
                           (unsigned long long)flags);
    if (alignment != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "alignment is %zu: it is reserved, give 0 (addresses begin at multiples "
                           "of 2 MiB)",
                           alignment);
    soma_command_init(&command, SOMA_OP_MEMORY_RESERVE);
    soma_command_set(&command, SOMA_FIELD_size, size);
    if (expectPtr != NULL)
        soma_command_set(&command, SOMA_FIELD_expect_ptr, (uint64_t)(uintptr_t)expectPtr);
    aclError error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *virPtr = (void *)(uintptr_t)result.u.memory_block.ptr;
    return error;
}

static aclError run_at(enum soma_op op, const void *ptr)
{
    struct soma_command command;
    if (ptr == NULL)
        return client_fail_null("virPtr");
    soma_command_init(&command, op);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)ptr);
    return client_call(&command, NULL);
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    client_begin("aclrtReleaseMemAddress");
    return run_at(SOMA_OP_MEMORY_RELEASE, virPtr);
}

/* ---- physical memory ---- */

static aclError find_physical(const void *handle, struct client_object *object)
{
    if (handle == NULL)
        return client_fail_null("handle");
    if (client_handle_get(CLIENT_PHYSICAL, handle, object))
        return ACL_SUCCESS;
    return client_fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "%p is no physical memory: it was freed as often as it was taken, or did not "
        "come from aclrtMallocPhysical",
        handle);
}

static aclError check_physical(size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags,
                               uint64_t *page_bytes)
{
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least a page");
    if (flags != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "flags is %llu: it is reserved, give 0",
                           (unsigned long long)flags);
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "handleType is %d and allocationType %d: give ACL_MEM_HANDLE_TYPE_NONE "
                           "(0) and ACL_MEM_ALLOCATION_TYPE_PINNED (0)",
                           (int)prop->handleType, (int)prop->allocationType);
    return read_prop(prop, page_bytes);
}

/* A handle for memory that the service has just handed out once more; without memory for it, that
 * is taken back. */
static aclError add_physical(const struct soma_physical *physical, aclrtMemAttr attr,
                             aclrtDrvMemHandle *handle)
{
    struct soma_command command;
    struct client_object object = {.kind = CLIENT_PHYSICAL,
                                   .device = (uint32_t)physical->device,
                                   .id = physical->physical,
                                   .flags = (uint32_t)attr};
    if (client_handle_add(&object) != NULL) {
        *handle = object.handle;
        return ACL_SUCCESS;
    }
    soma_command_init(&command, SOMA_OP_MEMORY_FREE_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_physical, physical->physical);
    (void)!client_call(&command, NULL);
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a handle");
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    client_begin("aclrtMallocPhysical");
    struct soma_command command;
    struct soma_result result;
    uint64_t page_bytes = 0;
    if (handle == NULL || prop == NULL)
        return client_fail_null(handle == NULL ? "handle" : "prop");
    aclError error = check_physical(size, prop, flags, &page_bytes);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_MALLOC_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_device, prop->location.id);
    soma_command_set(&command, SOMA_FIELD_size, size);
    soma_command_set(&command, SOMA_FIELD_page_size, page_bytes);
    error = client_call(&command, &result);
    return error != ACL_SUCCESS ? error : add_physical(&result.u.physical, prop->memAttr, handle);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    client_begin("aclrtFreePhysical");
    struct client_object object;
    struct soma_command command;
    struct soma_result result;
    aclError error = find_physical(handle, &object);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_FREE_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_physical, object.id);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS && result.u.physical_left.handles == 0)
        (void)client_handle_remove(CLIENT_PHYSICAL, handle, NULL);
    return error;
}

static bool is_physical(const struct client_object *object, const void *user)
{
    const uint64_t *id = user;
    return object->kind == CLIENT_PHYSICAL && object->id == *id;
}

aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle)
{
    client_begin("aclrtMemRetainAllocationHandle");
    struct client_object object;
    struct soma_command command;
    struct soma_result result;
    if (virPtr == NULL || handle == NULL)
        return client_fail_null(virPtr == NULL ? "virPtr" : "handle");
    soma_command_init(&command, SOMA_OP_MEMORY_RETAIN_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)virPtr);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_physical *physical = &result.u.physical;
    if (!client_handle_find(is_physical, &physical->physical, &object))
        return add_physical(physical,
                            physical->page_size == SOMA_GIANT_PAGE_BYTES ? ACL_HBM_MEM_HUGE1G
                                                                         : ACL_HBM_MEM_HUGE,
                            handle);
    *handle = object.handle;
    return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp *prop)
{
    client_begin("aclrtMemGetAllocationPropertiesFromHandle");
    struct client_object object;
    if (handle == NULL || prop == NULL)
        return client_fail_null(handle == NULL ? "handle" : "prop");
    aclError error = find_physical(handle, &object);
    if (error == ACL_SUCCESS)
        *prop = (aclrtPhysicalMemProp){
            .handleType = ACL_MEM_HANDLE_TYPE_NONE,
            .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
            .memAttr = (aclrtMemAttr)object.flags,
            .location = {.id = object.device, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    return error;
}

/* ---- mapping ---- */

static aclError map(void *ptr, size_t size, size_t offset, const void *handle, uint64_t flags,
                    enum soma_access access)
{
    struct client_object object;
    struct soma_command command;
    if (ptr == NULL)
        return client_fail_null("virPtr");
    aclError error = find_physical(handle, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (size == 0 || flags != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "size is %zu (that of the physical memory) and flags %llu (reserved, "
                           "give 0)",
                           size, (unsigned long long)flags);
    if (offset != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "offset is %zu: physical memory is mapped from its beginning, give 0",
                           offset);
    soma_command_init(&command, SOMA_OP_MEMORY_MAP);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)ptr);
    soma_command_set(&command, SOMA_FIELD_size, size);
    soma_command_set(&command, SOMA_FIELD_physical, object.id);
    soma_command_set(&command, SOMA_FIELD_access, (uint64_t)access);
    error = client_call(&command, NULL);
    if (error != ACL_SUCCESS)
        return error;
    struct client_range range = {
        .address = (uint64_t)(uintptr_t)ptr, .size_bytes = size, .device = object.device};
    if (client_ranges_add(&range))
        return ACL_SUCCESS;
    (void)!run_at(SOMA_OP_MEMORY_UNMAP, ptr);
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the books");
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags)
{
    client_begin("aclrtMapMem");
    return map(virPtr, size, offset, handle, flags, SOMA_ACCESS_READWRITE);
}

aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                             uint64_t flags)
{
    client_begin("aclrtMemMapNoAccess");
    return map(virPtr, size, offset, handle, flags, SOMA_ACCESS_NONE);
}

aclError aclrtUnmapMem(void *virPtr)
{
    client_begin("aclrtUnmapMem");
    struct client_range range;
    aclError error = run_at(SOMA_OP_MEMORY_UNMAP, virPtr);
    uint64_t address = (uint64_t)(uintptr_t)virPtr;
    if (error == ACL_SUCCESS && client_ranges_find(address, &range))
        (void)client_ranges_remove(range.device, address, NULL);
    return error;
}

/* ---- access ---- */

static aclError check_access(const aclrtMemAccessDesc *desc, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
            return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                               "desc[%zu].flags is %d: give ACL_RT_MEM_ACCESS_FLAGS_READWRITE (3)",
                               i, (int)desc[i].flags);
        if (desc[i].location.type == ACL_MEM_LOCATION_TYPE_HOST)
            return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                               "desc[%zu]: the host does not reach memory of a device; copy it, or "
                               "use aclrtMemAllocManaged",
                               i);
        if (desc[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
            return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                               "desc[%zu].location.type is %d: give ACL_MEM_LOCATION_TYPE_DEVICE "
                               "(1)",
                               i, (int)desc[i].location.type);
        aclError error = client_device_check((int32_t)desc[i].location.id);
        if (error != ACL_SUCCESS)
            return error;
    }
    return ACL_SUCCESS;
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    client_begin("aclrtMemSetAccess");
    struct soma_command command;
    if (virPtr == NULL || desc == NULL || count == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "virPtr is %p, desc %p and count %zu: give mapped memory and at least "
                           "one rule",
                           virPtr, (void *)desc, count);
    aclError error = check_access(desc, count);
    for (size_t i = 0; i < count && error == ACL_SUCCESS; i++) {
        soma_command_init(&command, SOMA_OP_MEMORY_SET_ACCESS);
        soma_command_set(&command, SOMA_FIELD_device, desc[i].location.id);
        soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)virPtr);
        soma_command_set(&command, SOMA_FIELD_size, size);
        soma_command_set(&command, SOMA_FIELD_access, SOMA_ACCESS_READWRITE);
        error = client_call(&command, NULL);
    }
    return error;
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag)
{
    client_begin("aclrtMemGetAccess");
    struct soma_command command;
    struct soma_result result;
    if (virPtr == NULL || location == NULL || flag == NULL)
        return client_fail_null(virPtr == NULL ? "virPtr" : location == NULL ? "location" : "flag");
    bool is_host = location->type == ACL_MEM_LOCATION_TYPE_HOST;
    if (!is_host && location->type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "location->type is %d: give ACL_MEM_LOCATION_TYPE_HOST (0) or "
                           "ACL_MEM_LOCATION_TYPE_DEVICE (1)",
                           (int)location->type);
    uint32_t device = is_host ? 0 : location->id;
    aclError error = client_device_check((int32_t)device);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_MEMORY_GET_ACCESS);
    soma_command_set(&command, SOMA_FIELD_device, device);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)virPtr);
    error = client_call(&command, &result);
    if (error == ACL_SUCCESS)
        *flag = is_host ? ACL_RT_MEM_ACCESS_FLAGS_NONE : (uint64_t)result.u.access_right.access;
    return error;
}
