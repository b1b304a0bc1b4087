/* Allocators of the program. */
#include "client_fixture.h"
#include "suites.h"

#include "acl/acl_rt_allocator.h"

enum { PARAM = ACL_ERROR_INVALID_PARAM };

static void *take(aclrtAllocator allocator, size_t size)
{
    return size > 0 ? allocator : NULL;
}

static void give(aclrtAllocator allocator, aclrtAllocatorBlock block)
{
    (void)allocator;
    (void)block;
}

static void *take_at(aclrtAllocator allocator, size_t size, aclrtAllocatorAddr address)
{
    (void)size;
    (void)address;
    return allocator;
}

static void *address_of(aclrtAllocatorBlock block)
{
    return block;
}

static void test_descriptions(void)
{
    static int object;
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    (void)EXPECT(desc != NULL, "none");
    (void)GIVES(PARAM, aclrtAllocatorSetObjToDesc(NULL, &object));
    (void)GIVES(PARAM, aclrtAllocatorSetObjToDesc(desc, NULL));
    (void)GIVES(PARAM, aclrtAllocatorSetObjToDesc(&object, &object));
    (void)GIVES(PARAM, aclrtAllocatorSetAllocFuncToDesc(desc, NULL));
    (void)GIVES(PARAM, aclrtAllocatorSetFreeFuncToDesc(desc, NULL));
    (void)GIVES(PARAM, aclrtAllocatorSetAllocAdviseFuncToDesc(desc, NULL));
    (void)GIVES(PARAM, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, NULL));
    (void)GIVES(PARAM, aclrtAllocatorDestroyDesc(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorDestroyDesc(desc));
    (void)GIVES(PARAM, aclrtAllocatorDestroyDesc(desc));
    (void)GIVES(PARAM, aclrtAllocatorSetObjToDesc(desc, &object));
}

static void test_registry(void)
{
    static int object;
    aclrtStream stream = NULL;
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), got = NULL;
    aclrtAllocator allocator = NULL;
    aclrtAllocatorAllocFunc alloc = NULL;
    aclrtAllocatorFreeFunc free_block = NULL;
    aclrtAllocatorAllocAdviseFunc advise = NULL;
    aclrtAllocatorGetAddrFromBlockFunc address = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(PARAM, aclrtAllocatorRegister(stream, desc));
    (void)SAYS("not complete");
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorSetObjToDesc(desc, &object));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorSetAllocFuncToDesc(desc, take));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorSetFreeFuncToDesc(desc, give));
    (void)GIVES(PARAM, aclrtAllocatorRegister(stream, desc));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of));
    (void)GIVES(PARAM, aclrtAllocatorRegister(NULL, desc));
    (void)GIVES(PARAM, aclrtAllocatorRegister(stream, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorRegister(stream, desc));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorSetAllocAdviseFuncToDesc(desc, take_at));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorGetByStream(stream, &got, &allocator, &alloc,
                                                       &free_block, &advise, &address));
    (void)EXPECT(got == desc && allocator == &object && alloc == take && free_block == give &&
                     advise == NULL && address == address_of,
                 "what was registered, and when");
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorRegister(stream, desc));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorDestroyDesc(desc));
    (void)GIVES(ACL_SUCCESS,
                aclrtAllocatorGetByStream(stream, &got, NULL, NULL, NULL, &advise, NULL));
    (void)EXPECT(advise == take_at, "registered again");
    (void)GIVES(PARAM, aclrtAllocatorGetByStream(NULL, &got, NULL, NULL, NULL, NULL, NULL));
    (void)GIVES(PARAM, aclrtAllocatorGetByStream(stream, NULL, NULL, NULL, NULL, NULL, NULL));
    (void)GIVES(PARAM, aclrtAllocatorUnregister(NULL));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorUnregister(stream));
    (void)GIVES(ACL_SUCCESS, aclrtAllocatorUnregister(stream));
    (void)GIVES(PARAM, aclrtAllocatorGetByStream(stream, &got, NULL, NULL, NULL, NULL, NULL));
    fixture_end();
}

static const struct client_test tests[] = {
    {"descriptions", test_descriptions},
    {"registry", test_registry},
    {NULL, NULL},
};
const struct client_suite suite_allocator = {"allocator", tests};
