/* The runtime: devices, streams, events, memory, kernels and pools, by area. What holds for
 * every function of the ACL headers stands at the top of acl_base.h. */
#ifndef SOMA_ACL_RT_H
#define SOMA_ACL_RT_H

#include "acl_base.h"
#include "acl_rt_device.h"
#include "acl_rt_error.h"
#include "acl_rt_event.h"
#include "acl_rt_init.h"
#include "acl_rt_kernel.h"
#include "acl_rt_memcpy.h"
#include "acl_rt_memory.h"
#include "acl_rt_memory_map.h"
#include "acl_rt_memory_soma.h"
#include "acl_rt_model.h"
#include "acl_rt_stream.h"
#include "acl_rt_types.h"

#endif
