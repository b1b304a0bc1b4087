/* Kernels: loading libraries of them, putting arguments together, launching.
 *
 * A kernel library is named by its base name: the service has the kernels built in, and the
 * file named here is not run (kernels of your own are not supported yet). Launches are
 * asynchronous; a kernel that touches memory that is not live fails with
 * ACL_ERROR_RT_AICORE_EXCEPTION (507015) at the next synchronisation. */
#ifndef SOMA_ACL_RT_KERNEL_H
#define SOMA_ACL_RT_KERNEL_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Loading ---- */

/* Values of ACL_RT_BINARY_LOAD_OPT_MAGIC. */
#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

/* Options of loading; accepted and of no effect here. */
typedef enum aclrtBinaryLoadOptionType {
    ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
    ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2, /* old name of the next */
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
    ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3
} aclrtBinaryLoadOptionType;

/* Value of an option. */
typedef union aclrtBinaryLoadOptionValue {
    uint32_t isLazyLoad; /* 1 or 0 */
    uint32_t magic;
    int32_t cpuKernelMode;
    uint32_t rsv[4]; /* 0 */
} aclrtBinaryLoadOptionValue;

/* One option. */
typedef struct aclrtBinaryLoadOption {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

/* Options of loading. */
typedef struct aclrtBinaryLoadOptions {
    aclrtBinaryLoadOption *options; /* array of numOpt */
    size_t numOpt;
} aclrtBinaryLoadOptions;

/* Load the kernel library that has the base name of a path, without its ending.
 *   binPath    the file need not exist
 *   options    NULL for none
 *   binHandle  out: for aclrtBinaryUnLoad
 * Errors: 107002 no context; 100000 NULL or an unknown option; 107000 no base name. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char *binPath,
                                                     aclrtBinaryLoadOptions *options,
                                                     aclrtBinHandle *binHandle);

/* Load a kernel library from memory. Its kernels are found by name among all that the service
 * has.
 *   data     not run
 *   length   bytes, at least 1
 *   options  NULL for none
 * Errors: 107002 no context; 100000 length 0, or an unknown option. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                                     const aclrtBinaryLoadOptions *options,
                                                     aclrtBinHandle *binHandle);

/* Name a kernel library in memory, for aclrtBinaryLoad.
 *   data     kept until aclrtDestroyBinary; not run
 *   dataLen  bytes, at least 1
 * Returns the library, for aclrtDestroyBinary; NULL for NULL, 0 bytes, or no memory on the host. */
ACL_FUNC_VISIBILITY aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen);

/* Undo aclrtCreateBinary; what was loaded from it stays, and data stays as it is.
 * Errors: 100000 NULL; 107017 destroyed before. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyBinary(aclrtBinary binary);

/* Load what aclrtCreateBinary named.
 *   binHandle  out: for aclrtBinaryUnLoad
 * Errors: 107002 no context; 107017. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle);

/* Unload a library; its function handles are invalid from then on. Launches that are queued
 * still run.
 * Errors: 100000 NULL; 107017 unloaded before. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/* Find a kernel of a library.
 *   kernelName  such as "add_custom"
 *   funcHandle  out: valid until the library is unloaded
 * Errors: 107017; 100029 no such kernel, the text lists those that are there. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle,
                                                    const char *kernelName,
                                                    aclrtFuncHandle *funcHandle);

/* Find a kernel by its entry number. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle,
                                                           uint64_t funcEntry,
                                                           aclrtFuncHandle *funcHandle);

/* Where a library lies on the device. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle,
                                                      void **binAddr, size_t *binSize);

/* Find a variable of a library. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name,
                                                  void **dptr, size_t *size);

/* Called once for every task of a library that fails. */
typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo *exceptionInfo, void *userData);

/* Have callback called for failed tasks of a library. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle,
                                                             aclrtOpExceptionCallback callback,
                                                             void *userData);

/* ---- Asking about a kernel ---- */

/* What can be asked. */
typedef enum aclrtFuncAttribute {
    ACL_FUNC_ATTR_KERNEL_TYPE = 1,
    ACL_FUNC_ATTR_KERNEL_RATIO = 2,
    ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3
} aclrtFuncAttribute;

/* Answers for ACL_FUNC_ATTR_KERNEL_TYPE. */
typedef enum aclrtKernelType {
    ACL_KERNEL_TYPE_AICORE = 0,
    ACL_KERNEL_TYPE_CUBE = 1,
    ACL_KERNEL_TYPE_VECTOR = 2,
    ACL_KERNEL_TYPE_MIX = 3,
    ACL_KERNEL_TYPE_AICPU = 100
} aclrtKernelType;

/* Name of a kernel.
 *   maxLen  bytes at name, its NUL included
 *   name    out
 * Errors: 107017; 100000 maxLen is too small. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen,
                                                  char *name);

/* Read an attribute of a kernel. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle,
                                                       aclrtFuncAttribute attrType,
                                                       int64_t *attrValue);

/* Where the code of a kernel lies. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr,
                                                  void **aivAddr);

/* How long the code of a kernel is. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize,
                                                  size_t *aivSize);

/* Kernel of a host symbol. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle);

/* Library of a kernel. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle,
                                                    aclrtBinHandle *binHandle);

/* Number of parameters. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount);

/* Place and size of a parameter. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex,
                                                       size_t *paramOffset, size_t *paramSize);

/* On-chip memory that a block can have. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags,
                                                                  size_t *dynamicUbufSize);

/* Name a kernel that runs on the CPU of the device. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName,
                                                  const char *kernelName,
                                                  aclrtFuncHandle *funcHandle);

/* Address by which cores wait for each other. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtGetHardwareSyncAddr(void **addr);

/* ---- Putting arguments together ---- */

/* Begin the arguments of a kernel, in memory of the library. One thread at a time may use them.
 *   argsHandle  out: valid until the kernel's library is unloaded
 * Errors: 107017; 207001 the host has no memory. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle,
                                                 aclrtArgsHandle *argsHandle);

/* Memory that a handle for aclrtKernelArgsInitByUserMem needs.
 *   memSize  out: bytes
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle,
                                                             size_t *memSize);

/* Memory that arguments need for aclrtKernelArgsInitByUserMem.
 *   userArgsSize    bytes of all arguments, each rounded up to 8, and of what placeholders point
 *                   to
 *   actualArgsSize  out: bytes
 * Errors: 107017; 107000 overflow. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle,
                                                       size_t userArgsSize, size_t *actualArgsSize);

/* Begin the arguments of a kernel, in memory of the program.
 *   argsHandle      memory of aclrtKernelArgsGetHandleMemSize bytes, aligned to 8; it is the
 *                   handle
 *   userHostMem     kept as long as the handle is used
 *   actualArgsSize  bytes at userHostMem, from aclrtKernelArgsGetMemSize
 * Errors: 107017; 100000 not aligned, or too small. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle,
                                                          aclrtArgsHandle argsHandle,
                                                          void *userHostMem, size_t actualArgsSize);

/* Append an argument, in the order of the kernel's parameters; at most 128.
 *   param        copied
 *   paramSize    bytes, at least 1
 *   paramHandle  out: for aclrtKernelArgsParaUpdate
 * Errors: 107017; 100000 size 0; 107000 no room, or finalised. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param,
                                                   size_t paramSize, aclrtParamHandle *paramHandle);

/* Append a pointer whose memory the launch provides: what it points to travels with the
 * arguments.
 *   paramHandle  out: for aclrtKernelArgsGetPlaceHolderBuffer
 * Errors: 107017; 107000 no room, or finalised. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                                              aclrtParamHandle *paramHandle);

/* Memory of a placeholder, to be filled before the launch; after all arguments are appended.
 *   dataSize    bytes, at least 1
 *   bufferAddr  out: host memory that lives as long as the arguments
 * Errors: 107017; 100000 size 0, or not a placeholder; 107000 no room. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                                                 aclrtParamHandle paramHandle,
                                                                 size_t dataSize,
                                                                 void **bufferAddr);

/* Replace an argument; finalise again afterwards.
 *   param      copied
 *   paramSize  bytes: as many as were appended
 * Errors: 107017; 100000 another size, or a placeholder. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle,
                                                       aclrtParamHandle paramHandle, void *param,
                                                       size_t paramSize);

/* Say that the arguments are complete: they can be launched, several times.
 * Errors: 107017. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

/* ---- Launching ---- */

/* Cores to run on. */
typedef enum aclrtEngineType {
    ACL_RT_ENGINE_TYPE_AIC = 0,
    ACL_RT_ENGINE_TYPE_AIV = 1
} aclrtEngineType;

/* A time of 64 bits, in microseconds. */
typedef struct aclrtTimeoutUs {
    uint32_t timeoutLow;
    uint32_t timeoutHigh;
} aclrtTimeoutUs;

/* Settings of a launch; accepted and of no effect here, the time limits apart. */
typedef enum aclrtLaunchKernelAttrId {
    ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
    ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE = 2, /* old name of the next */
    ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,
    ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
    ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,    /* seconds */
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8, /* microseconds */
    ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9
} aclrtLaunchKernelAttrId;

/* Value of a setting. */
typedef union aclrtLaunchKernelAttrValue {
    uint8_t schemMode;
    uint32_t localMemorySize; /* bytes */
    uint32_t dynUBufSize;     /* bytes */
    aclrtEngineType engineType;
    uint32_t blockDimOffset;
    uint8_t isBlockTaskPrefetch; /* 1 or 0 */
    uint8_t isDataDump;          /* 1 or 0 */
    uint16_t timeout;            /* seconds; 0 without limit */
    aclrtTimeoutUs timeoutUs;    /* 0 without limit */
    uint8_t enableProfiling;     /* 1 or 0 */
    uint32_t rsv[4];             /* 0 */
} aclrtLaunchKernelAttrValue;

/* One setting. */
typedef struct aclrtLaunchKernelAttr {
    aclrtLaunchKernelAttrId id;
    aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

/* Settings of a launch. */
typedef struct aclrtLaunchKernelCfg {
    aclrtLaunchKernelAttr *attrs; /* array of numAttrs */
    size_t numAttrs;
} aclrtLaunchKernelCfg;

/* A pointer in an argument block that points into the same block. */
typedef struct aclrtPlaceHolderInfo {
    uint32_t addrOffset; /* where the pointer stands, in bytes */
    uint32_t dataOffset; /* what it points to, in bytes */
} aclrtPlaceHolderInfo;

/* Queue numBlocks blocks of a kernel.
 *   numBlocks  at least 1
 *   argsData   argument block: in device memory it is read when the kernel runs; elsewhere it is
 *              host memory and copied now
 *   argsSize   bytes
 * Errors: 107002, 107003, 107017; 100000 NULL; 107000 no blocks, or the argument block does not
 * fit the kernel or is not live memory. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                               const void *argsData, size_t argsSize,
                                               aclrtStream stream);

/* As aclrtLaunchKernel, with settings.
 *   cfg  NULL for none; copied
 * Errors: as aclrtLaunchKernel; 100000 an unknown setting. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                 const void *argsData, size_t argsSize,
                                                 aclrtLaunchKernelCfg *cfg, aclrtStream stream);

/* As aclrtLaunchKernelV2, with arguments that were put together.
 *   argsHandle  finalised; copied
 *   reserve     NULL
 * Errors: as aclrtLaunchKernelV2; 107000 not finalised, or of another kernel. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle,
                                                         uint32_t numBlocks, aclrtStream stream,
                                                         aclrtLaunchKernelCfg *cfg,
                                                         aclrtArgsHandle argsHandle, void *reserve);

/* As aclrtLaunchKernelV2, with an argument block in host memory.
 *   hostArgs          copied
 *   placeHolderArray  placeHolderNum pointers that the launch fills in; NULL for none
 * Errors: as aclrtLaunchKernelV2; 100000 an offset leaves the block. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
    void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);

/* As aclrtLaunchKernelV2, with one pointer to each argument.
 *   func  an aclrtFuncHandle
 *   args  as many pointers as the kernel has parameters; what they point to is copied
 * Errors: as aclrtLaunchKernelV2; 207000 a kernel whose parameters are not declared. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks,
                                                            aclrtStream stream,
                                                            aclrtLaunchKernelCfg *cfg, void **args);

/* Sizes of a grid or a block of threads; in C++ those that are left out are 1. */
typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
#ifdef __cplusplus
    constexpr dim3(uint32_t sizeX = 1, uint32_t sizeY = 1, uint32_t sizeZ = 1)
        : x(sizeX), y(sizeY), z(sizeZ)
    {
    }
#endif
} dim3;

/* Launch a kernel of threads. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim,
                                                                dim3 blockDim, size_t dynUbufSize,
                                                                aclrtStream stream,
                                                                aclrtLaunchKernelCfg *cfg,
                                                                void **args);

/* Launch a kernel of threads. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithHostArgs(
    void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
    aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);

#ifdef __cplusplus
}
#endif

#endif
