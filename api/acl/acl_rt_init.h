/* Start and end of ACL in a process, versions, process-wide settings, and snapshots of a
 * process.
 *
 * The environment says where the devices are: SOMA_SERVER is http://host:port or unix:/path;
 * unset, the library starts its own service for this process. SOMA_SESSION_TTL (seconds),
 * SOMA_DEVICES and SOMA_SOC choose the session's lease, its number of devices and what they
 * emulate. */
#ifndef SOMA_ACL_RT_INIT_H
#define SOMA_ACL_RT_INIT_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---- */

/* Version of the ACL interface that these headers follow. */
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/* Bytes of a version text, its NUL included. */
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

/* Packages whose version can be asked for. */
typedef enum aclCANNPackageName {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7
} aclCANNPackageName;

/* Version of a package; each text ends with NUL. */
typedef struct aclCANNPackageVersion {
    char version[ACL_PKG_VERSION_MAX_SIZE]; /* all of it, such as "8.3.0" */
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE]; /* "0" if there is none */
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];   /* "0" if there is none */
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/* Version of the ACL interface: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION. Works
 * without aclInit and without a service.
 * Errors: 100000 a NULL pointer. */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                             int32_t *patchVersion);

/* Version of a package of the CANN release that soma emulates. Works without aclInit.
 *   version  out: the whole struct is written
 * Errors: 100000 NULL, or no such package. */
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                                  aclCANNPackageVersion *version);

/* Version of a package as text. Works without aclInit.
 *   pkgName     such as "runtime"; only read
 *   versionStr  out: at least ACL_PKG_VERSION_MAX_SIZE bytes
 * Errors: 100000 NULL, or no such package. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/* Version of a package as a number: a later release has a larger one. Works without aclInit.
 *   pkgName  such as "runtime"; only read
 * Errors: 100000 NULL, or no such package. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum);

/* Whether programs built for a SoC run on the emulated one: *canCompatible is 1 if both have the
 * same NPU architecture, else 0. Errors: 107000 NULL, or no such SoC. */
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char *socVersion,
                                                         int32_t *canCompatible);

/* ---- Start and end ---- */

/* Connect to the service, check that it speaks the same protocol, and open the session of this
 * process. Says once on stderr that the devices are emulated, and where. Other functions that
 * need a session open it themselves, so a program may leave aclInit out.
 *   configPath  JSON file with settings, or NULL
 * Errors: 100002 initialised before (it counts for aclFinalizeReference; go on); 100003 no such
 * file; 100006 not JSON; 507901 no service, or another protocol version. After an error aclInit
 * may be called again. */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

/* End the session: everything that the process holds on its devices is freed, whatever the
 * number of aclInit calls was. The service ends by itself if the library started it. aclInit may
 * follow. Before the first aclInit it succeeds once, and does nothing.
 * Errors: 100037 finalised before. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/* Undo one aclInit; the last one does what aclFinalize does.
 *   refCount  out: how many aclInit calls are left; may be NULL
 * Errors: 100037 nothing left to undo. */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);

/* What a start or end callback belongs to. */
typedef enum aclRegisterCallbackType {
    ACL_REG_TYPE_ACL_MODEL = 0,
    ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
    ACL_REG_TYPE_ACL_OP_CBLAS = 2,
    ACL_REG_TYPE_ACL_OP_COMPILER = 3,
    ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
    ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
    ACL_REG_TYPE_ACL_DVPP = 6,
    ACL_REG_TYPE_ACL_RETR = 7,
    ACL_REG_TYPE_OTHER = 65535
} aclRegisterCallbackType;

/* Called in aclInit with the text of its configuration file, len bytes ("" without one). Another
 * answer than ACL_SUCCESS makes aclInit fail with it. */
typedef aclError (*aclInitCallbackFunc)(const char *configStr, size_t len, void *userData);

/* Called in aclFinalize before anything ends. Another answer than ACL_SUCCESS makes aclFinalize
 * fail with it. */
typedef aclError (*aclFinalizeCallbackFunc)(void *userData);

/* Have cbFunc called in every aclInit to come; now too if ACL is initialised. Only callbacks of the
 * types ACL_MODEL, ACL_OP_EXECUTOR (with a configuration file), ACL_DVPP and OTHER are called, in
 * this order.
 *   userData  kept
 * Errors: 100000 NULL; 500000 the type has one; OTHER can have several. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type,
                                                     aclInitCallbackFunc cbFunc, void *userData);

/* Undo aclInitCallbackRegister.
 * Errors: 100000 NULL; 500000 the type has no such callback. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                                       aclInitCallbackFunc cbFunc);

/* Have cbFunc called in every aclFinalize to come that ends something: types ACL_OP_COMPILER,
 * ACL_MODEL, ACL_DVPP and OTHER, in this order.
 *   userData  kept
 * Errors: as aclInitCallbackRegister. */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                         aclFinalizeCallbackFunc cbFunc,
                                                         void *userData);

/* Undo aclFinalizeCallbackRegister.
 * Errors: as aclInitCallbackUnRegister. */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc cbFunc);

/* ---- Settings of the process ---- */

/* Read a setting of the process: opt 0 to 3.
 * Errors: 100000 NULL or another opt; 107021 never set. */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/* Change a setting of the process: opt 0 to 3. Kept only, until aclFinalize.
 * Errors: 100000 another opt; 107000 value is not 0 or 1 (ACL_OPT_DETERMINISTIC: 0 to 3). */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/* ---- Snapshots of a process ---- */

/* Whether a process is locked for a snapshot. */
typedef enum aclrtProcessState {
    ACL_RT_PROCESS_STATE_RUNNING = 0,
    ACL_RT_PROCESS_STATE_LOCKED = 1
} aclrtProcessState;

/* When a snapshot callback runs. */
typedef enum aclrtSnapShotStage {
    ACL_RT_SNAPSHOT_LOCK_PRE = 0,
    ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
    ACL_RT_SNAPSHOT_BACKUP_POST = 2,
    ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
    ACL_RT_SNAPSHOT_RESTORE_POST = 4,
    ACL_RT_SNAPSHOT_UNLOCK_POST = 5
} aclrtSnapShotStage;

/* How to back up. */
typedef struct aclrtSnapShotBackupArgs {
    uint32_t backupFlags;
    char reserved[60];
} aclrtSnapShotBackupArgs;

/* How to restore. */
typedef struct aclrtSnapShotRestoreArgs {
    uint32_t restoreFlags;
    char reserved[60];
} aclrtSnapShotRestoreArgs;

/* Called at a stage of a snapshot; other than 0 refuses. */
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void *args);

/* Stop a process for a snapshot. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessLock(int pid, void *reserve);

/* Let a stopped process go on. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessUnlock(int pid, void *reserve);

/* Save what a stopped process holds on its devices. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args);

/* Give a process back what was saved. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args);

/* Have a function called at a stage. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage,
                                                           aclrtSnapShotCallBack callback,
                                                           void *args);

/* Undo aclrtSnapShotCallbackRegister. Answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000). */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage,
                                                             aclrtSnapShotCallBack callback);

#ifdef __cplusplus
}
#endif

#endif
