/* Handles and types that more than one area of the runtime uses. Every handle is opaque: it is
 * made and ended by functions of its area and means nothing in another process. */
#ifndef SOMA_ACL_RT_TYPES_H
#define SOMA_ACL_RT_TYPES_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles ---- */

/* Streams and settings on one device; each thread has one current context. */
typedef void *aclrtContext;

/* A queue of work; NULL means the default stream of the current context. */
typedef void *aclrtStream;

/* A point in a stream that others wait for. */
typedef void *aclrtEvent;

/* A one-bit signal between streams. */
typedef void *aclrtNotify;

/* A counter that streams change and wait for. */
typedef void *aclrtCntNotify;

/* A jump target in a model. */
typedef void *aclrtLabel;

/* Jump targets that are chosen by index. */
typedef void *aclrtLabelList;

/* A buffer of a shared queue. */
typedef void *aclrtMbuf;

/* Tasks of a captured model that are updated together. */
typedef void *aclrtTaskGrp;

/* Physical memory that can be mapped. */
typedef void *aclrtDrvMemHandle;

/* A kernel library in memory, not loaded yet. */
typedef void *aclrtBinary;

/* A loaded kernel library. */
typedef void *aclrtBinHandle;

/* A kernel of a loaded library. */
typedef void *aclrtFuncHandle;

/* Arguments of a launch that are being put together. */
typedef void *aclrtArgsHandle;

/* One argument of them. */
typedef void *aclrtParamHandle;

/* A model: work that was captured and can run again. */
typedef void *aclmdlRI;

/* One task of a model. */
typedef void *aclmdlRITask;

/* A condition of a model. */
typedef void *aclmdlRICondHandle;

/* What is known of a task that failed; valid during the callback only. */
typedef struct rtExceptionInfo aclrtExceptionInfo;

/* The groups of cores of a device. */
typedef struct tagRtGroupInfo aclrtGroupInfo;

/* Reserved. */
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/* ---- Functions that the program hands over ---- */

/* Run for aclrtLaunchCallback, and when a model is destroyed. */
typedef void (*aclrtCallback)(void *userData);

/* Run for aclrtLaunchHostFunc. */
typedef void (*aclrtHostFunc)(void *args);

/* ---- Places and kinds of memory ---- */

/* Where memory is. */
typedef enum aclrtMemLocationType {
    ACL_MEM_LOCATION_TYPE_HOST = 0,
    ACL_MEM_LOCATION_TYPE_DEVICE = 1,
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2, /* ordinary host memory */
    ACL_MEM_LOCATION_TYPE_MANAGED = 3,
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

/* A place. */
typedef struct aclrtMemLocation {
    uint32_t id; /* device or NUMA node */
    aclrtMemLocationType type;
} aclrtMemLocation;

/* How physical memory is held. */
typedef enum aclrtMemAllocationType { ACL_MEM_ALLOCATION_TYPE_PINNED = 0 } aclrtMemAllocationType;

/* Whether a handle of the memory can be exported. */
typedef enum aclrtMemHandleType {
    ACL_MEM_HANDLE_TYPE_NONE = 0,
    ACL_MEM_HANDLE_TYPE_POSIX = 2
} aclrtMemHandleType;

/* Kinds of device memory. */
typedef enum aclrtMemAttr {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/* ---- Settings and processes ---- */

/* Settings of a process or a context. */
typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
    ACL_OPT_STRONG_CONSISTENCY = 2,
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3
} aclSysParamOpt;

/* Processes of one host that may import something. */
typedef struct aclrtServerPid {
    uint32_t sdid; /* device in the pod */
    int32_t *pid;  /* array of num */
    size_t num;
} aclrtServerPid;

#ifdef __cplusplus
}
#endif

#endif
