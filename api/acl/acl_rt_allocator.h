/* Allocators of the program: how operators get memory on a stream. The description only holds
 * what the program puts in. The library itself needs no memory on streams, so it never calls the
 * functions: whoever runs operators asks for them.
 *
 * A description that is NULL, destroyed or made up, and a NULL where something is to be set:
 * 100000. */
#ifndef SOMA_ACL_RT_ALLOCATOR_H
#define SOMA_ACL_RT_ALLOCATOR_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A description that is being put together. */
typedef void *aclrtAllocatorDesc;

/* The allocator itself: an object of the program. */
typedef void *aclrtAllocator;

/* A block of the allocator: an object of the program. */
typedef void *aclrtAllocatorBlock;

/* A device address. */
typedef void *aclrtAllocatorAddr;

/* Take a block of size bytes; NULL if there is none. */
typedef void *(*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);

/* Give a block back. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);

/* Take a block, if possible at addr. */
typedef void *(*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                               aclrtAllocatorAddr addr);

/* Device address of a block. */
typedef void *(*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

/* Make an empty description, for aclrtAllocatorDestroyDesc; NULL when the host has no memory. */
ACL_FUNC_VISIBILITY aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);

/* Free a description; registered allocators stay. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc);

/* Set the allocator, which is kept. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc,
                                                        aclrtAllocator allocator);

/* Set the function that takes a block. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                              aclrtAllocatorAllocFunc func);

/* Set the function that gives a block back. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                             aclrtAllocatorFreeFunc func);

/* Set the function that takes a block at an address. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocAdviseFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func);

/* Set the function that says where a block lies. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func);

/* Use the description, which must be complete (only the function for advised addresses may be
 * missing), for a stream; it is copied and replaces the one before. The stream is only a key.
 * Errors: 100000 NULL, or not complete. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorRegister(aclrtStream stream,
                                                    aclrtAllocatorDesc allocatorDesc);

/* What is registered for a stream. All pointers but stream and allocatorDesc may be NULL.
 * Errors: 100000 nothing is. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorGetByStream(
    aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
    aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
    aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
    aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc);

/* Undo aclrtAllocatorRegister; nothing to undo is no error.
 * Errors: 100000 NULL. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorUnregister(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
