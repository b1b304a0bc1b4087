/* Registering memory of the program. Its device address is its host address: copies and fills reach
 * it there; for a kernel it is brought to the device with the launch (launches.c). */
#include "context.h"
#include "error.h"
#include "ranges.h"
#include "tables.h"

#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>

#define REGISTER_TYPES ((uint32_t)ACL_HOST_REGISTER_IOMEMORY | (uint32_t)ACL_HOST_REGISTER_READONLY)
#define MAP_FLAGS ((uint32_t)(ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY))
#define REGISTER_FLAGS (MAP_FLAGS | (uint32_t)ACL_HOST_REG_PINNED)

struct registration {
    struct registration *next;
    uint64_t address;
    uint64_t size_bytes;
    bool is_mapped; /* it has a device address */
    bool is_ours;   /* it lies in memory of aclrtMallocHost, which has a range of its own */
};

static struct registration *registrations; /* none overlap; under the tables' lock */

static struct registration **overlapping_locked(uint64_t address, uint64_t size_bytes)
{
    struct registration **link = &registrations;
    while (*link != NULL && ((*link)->address >= address + size_bytes ||
                             address >= (*link)->address + (*link)->size_bytes))
        link = &(*link)->next;
    return link;
}

static bool take(const struct registration *row)
{
    client_tables_lock();
    struct registration **link = &registrations;
    while (*link != NULL && *link != row)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        *link = row->next;
    client_tables_unlock();
    return found;
}

/* Note it. false: a part of it is registered already. */
static bool note(struct registration *row)
{
    client_tables_lock();
    bool is_free = *overlapping_locked(row->address, row->size_bytes) == NULL;
    if (is_free) {
        row->next = registrations;
        registrations = row;
    }
    client_tables_unlock();
    return is_free;
}

/* flags: MAP_FLAGS */
static aclError register_host(void *ptr, uint64_t size, uint32_t flags)
{
    struct client_object context;
    struct client_range range = {.address = (uint64_t)(uintptr_t)ptr,
                                 .size_bytes = size,
                                 .device = CLIENT_HOST_RANGES,
                                 .is_mapped = flags != 0,
                                 .is_read_only = (flags & ACL_HOST_REG_READONLY) != 0};
    struct client_range old;
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    if (client_is_device_address(ptr) || range.address + size < range.address)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "%llu bytes at %p are no memory of the host",
                           (unsigned long long)size, ptr);
    bool is_ours = client_ranges_find_host(range.address, &old) && old.owned != NULL;
    if (is_ours && size > old.address + old.size_bytes - range.address)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%llu bytes at %p leave the %llu bytes of aclrtMallocHost at %p",
                           (unsigned long long)size, ptr, (unsigned long long)old.size_bytes,
                           old.owned);
    struct registration *row = malloc(sizeof(*row));
    if (row == NULL)
        return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory for the books");
    *row = (struct registration){NULL, range.address, size, range.is_mapped, is_ours};
    bool is_free = note(row);
    if (is_free && (is_ours || client_ranges_add(&range)))
        return ACL_SUCCESS;
    if (is_free)
        (void)take(row);
    free(row);
    return is_free
               ? client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no memory for the books")
               : client_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                             "memory among the %llu bytes at %p is registered: call "
                             "aclrtHostUnregister first",
                             (unsigned long long)size, ptr);
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    client_begin("aclrtHostRegister");
    if (ptr == NULL || devPtr == NULL)
        return client_fail_null(ptr == NULL ? "ptr" : "devPtr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    if (((uint32_t)type & ~REGISTER_TYPES) != 0)
        return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "type is %d: give an enumerator of aclrtHostRegisterType", (int)type);
    aclError error = register_host(ptr, size,
                                   ACL_HOST_REG_MAPPED |
                                       (((uint32_t)type & (uint32_t)ACL_HOST_REGISTER_READONLY) != 0
                                            ? ACL_HOST_REG_READONLY
                                            : 0u));
    if (error == ACL_SUCCESS)
        *devPtr = ptr;
    return error;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    client_begin("aclrtHostRegisterV2");
    if (ptr == NULL)
        return client_fail_null("ptr");
    if (size == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "size is 0; give at least 1 byte");
    if (flag == 0 || (flag & ~REGISTER_FLAGS) != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "flag is 0x%x: combine ACL_HOST_REG_MAPPED (2), ACL_HOST_REG_IOMEMORY "
                           "(4), ACL_HOST_REG_READONLY (8), ACL_HOST_REG_PINNED (0x10000000)",
                           flag);
    return register_host(ptr, size, flag & MAP_FLAGS);
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    client_begin("aclrtHostGetDevicePointer");
    struct client_object context;
    struct client_range range;
    if (pHost == NULL || pDevice == NULL)
        return client_fail_null(pHost == NULL ? "pHost" : "pDevice");
    if (flag != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "flag is %u: it is reserved, give 0", flag);
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    client_tables_lock();
    const struct registration *row = *overlapping_locked((uint64_t)(uintptr_t)pHost, 1);
    bool is_mapped = row != NULL && row->is_mapped;
    client_tables_unlock();
    if (!is_mapped &&
        !(client_ranges_find_host((uint64_t)(uintptr_t)pHost, &range) && range.owned != NULL))
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%p is not registered for devices: call aclrtHostRegister, or "
                           "aclrtHostRegisterV2 with ACL_HOST_REG_MAPPED",
                           pHost);
    *pDevice = pHost;
    return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void *ptr)
{
    client_begin("aclrtHostUnregister");
    struct client_object context;
    if (ptr == NULL)
        return client_fail_null("ptr");
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    client_tables_lock();
    struct registration **link = &registrations;
    while (*link != NULL && (*link)->address != address)
        link = &(*link)->next;
    struct registration *gone = *link;
    if (gone != NULL)
        *link = gone->next;
    client_tables_unlock();
    bool has_range = gone != NULL && !gone->is_ours;
    free(gone);
    if (gone == NULL)
        return client_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                           "%p is not registered, or not its start", ptr);
    if (has_range)
        (void)client_ranges_remove(CLIENT_HOST_RANGES, address, NULL);
    return ACL_SUCCESS;
}
