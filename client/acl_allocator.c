/* Allocators of the program: descriptions, and which stream has which. The library itself never
 * needs memory of a stream, so it never calls them; libraries of operators ask for them here. */
#include "error.h"
#include "tables.h"

#include "acl/acl.h"
#include "acl/acl_rt_allocator.h"

#include <stdlib.h>

struct allocator {
    aclrtAllocator object;
    aclrtAllocatorAllocFunc alloc;
    aclrtAllocatorFreeFunc free;
    aclrtAllocatorAllocAdviseFunc alloc_advise; /* may be NULL */
    aclrtAllocatorGetAddrFromBlockFunc address;
};

struct description {
    struct description *next;
    struct allocator allocator;
};

struct registered {
    struct registered *next;
    aclrtStream stream;
    aclrtAllocatorDesc description; /* only shown: it may be gone */
    struct allocator allocator;
};

/* Under the tables' lock. */
static struct description *descriptions;
static struct registered *registry;

/* ---- descriptions ---- */

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void)
{
    client_begin("aclrtAllocatorCreateDesc");
    struct description *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        (void)client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a description");
        return NULL;
    }
    client_tables_lock();
    made->next = descriptions;
    descriptions = made;
    client_tables_unlock();
    return made;
}

/* The link to a description; its target is NULL when there is none. */
static struct description **find_locked(const void *handle)
{
    struct description **link = &descriptions;
    while (*link != NULL && *link != handle)
        link = &(*link)->next;
    return link;
}

static aclError fail_description(const void *handle)
{
    if (handle == NULL)
        return client_fail_null("allocatorDesc");
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "%p is no description: it was destroyed, or did not come from "
                       "aclrtAllocatorCreateDesc",
                       handle);
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc)
{
    client_begin("aclrtAllocatorDestroyDesc");
    client_tables_lock();
    struct description **link = find_locked(allocatorDesc);
    struct description *gone = *link;
    if (gone != NULL)
        *link = gone->next;
    client_tables_unlock();
    free(gone);
    return gone != NULL ? ACL_SUCCESS : fail_description(allocatorDesc);
}

/* Set the members that are not NULL in `given`. */
static aclError change(const char *call, aclrtAllocatorDesc handle, const struct allocator *given)
{
    client_begin(call);
    bool has_any = given->object != NULL || given->alloc != NULL || given->free != NULL ||
                   given->alloc_advise != NULL || given->address != NULL;
    if (handle != NULL && !has_any)
        return client_fail_null("the allocator or function");
    client_tables_lock();
    struct description *found = *find_locked(handle);
    if (found != NULL) {
        struct allocator *to = &found->allocator;
        to->object = given->object != NULL ? given->object : to->object;
        to->alloc = given->alloc != NULL ? given->alloc : to->alloc;
        to->free = given->free != NULL ? given->free : to->free;
        to->alloc_advise = given->alloc_advise != NULL ? given->alloc_advise : to->alloc_advise;
        to->address = given->address != NULL ? given->address : to->address;
    }
    client_tables_unlock();
    return found != NULL ? ACL_SUCCESS : fail_description(handle);
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator)
{
    const struct allocator given = {.object = allocator};
    return change("aclrtAllocatorSetObjToDesc", allocatorDesc, &given);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func)
{
    const struct allocator given = {.alloc = func};
    return change("aclrtAllocatorSetAllocFuncToDesc", allocatorDesc, &given);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func)
{
    const struct allocator given = {.free = func};
    return change("aclrtAllocatorSetFreeFuncToDesc", allocatorDesc, &given);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func)
{
    const struct allocator given = {.alloc_advise = func};
    return change("aclrtAllocatorSetAllocAdviseFuncToDesc", allocatorDesc, &given);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func)
{
    const struct allocator given = {.address = func};
    return change("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", allocatorDesc, &given);
}

/* ---- the registry; as in CANN, the stream is only a key ---- */

static struct registered **registered_locked(aclrtStream stream)
{
    struct registered **link = &registry;
    while (*link != NULL && (*link)->stream != stream)
        link = &(*link)->next;
    return link;
}

static aclError describe(aclrtAllocatorDesc handle, struct allocator *allocator)
{
    client_tables_lock();
    const struct description *found = *find_locked(handle);
    if (found != NULL)
        *allocator = found->allocator;
    client_tables_unlock();
    if (found == NULL)
        return fail_description(handle);
    bool is_complete = allocator->object != NULL && allocator->alloc != NULL &&
                       allocator->free != NULL && allocator->address != NULL;
    return is_complete ? ACL_SUCCESS
                       : client_fail(ACL_ERROR_INVALID_PARAM,
                                     "the description is not complete: it needs an allocator and "
                                     "functions to allocate, to free and for addresses");
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc)
{
    client_begin("aclrtAllocatorRegister");
    struct allocator allocator;
    if (stream == NULL)
        return client_fail_null("stream");
    aclError error = describe(allocatorDesc, &allocator);
    if (error != ACL_SUCCESS)
        return error;
    struct registered *fresh = malloc(sizeof(*fresh));
    if (fresh == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the books");
    *fresh = (struct registered){NULL, stream, allocatorDesc, allocator};
    client_tables_lock();
    struct registered **link = registered_locked(stream);
    struct registered *old = *link;
    fresh->next = old != NULL ? old->next : NULL;
    *link = fresh;
    client_tables_unlock();
    free(old);
    return ACL_SUCCESS;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
                                   aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc,
                                   aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc)
{
    client_begin("aclrtAllocatorGetByStream");
    struct registered row = {NULL, NULL, NULL, {NULL, NULL, NULL, NULL, NULL}};
    if (allocatorDesc == NULL || stream == NULL)
        return client_fail_null(allocatorDesc == NULL ? "allocatorDesc" : "stream");
    client_tables_lock();
    const struct registered *found = *registered_locked(stream);
    if (found != NULL)
        row = *found;
    client_tables_unlock();
    if (found == NULL)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "stream %p has no allocator: aclrtAllocatorRegister gives it one",
                           stream);
    *allocatorDesc = row.description;
    if (allocator != NULL)
        *allocator = row.allocator.object;
    if (allocFunc != NULL)
        *allocFunc = row.allocator.alloc;
    if (freeFunc != NULL)
        *freeFunc = row.allocator.free;
    if (allocAdviseFunc != NULL)
        *allocAdviseFunc = row.allocator.alloc_advise;
    if (getAddrFromBlockFunc != NULL)
        *getAddrFromBlockFunc = row.allocator.address;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream)
{
    client_begin("aclrtAllocatorUnregister");
    if (stream == NULL)
        return client_fail_null("stream");
    client_tables_lock();
    struct registered **link = registered_locked(stream);
    struct registered *gone = *link;
    if (gone != NULL)
        *link = gone->next;
    client_tables_unlock();
    free(gone);
    return ACL_SUCCESS;
}
