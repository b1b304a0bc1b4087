/* All of ACL that soma has: the base types, the runtime with its pools, and allocators. */
#ifndef SOMA_ACL_H
#define SOMA_ACL_H

#include "acl_base.h"
#include "acl_rt.h"
#include "acl_rt_allocator.h"
#include "acl_rt_memory_soma.h"

#endif
