/* Start and end of ACL, errors, versions. */
#include "acl_attach.h"
#include "acl_callbacks.h"
#include "acl_device_info.h"
#include "acl_limits.h"
#include "call.h"
#include "endpoint.h"
#include "error.h"
#include "host_funcs.h"
#include "session.h"
#include "tables.h"

#include "acl/acl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_BYTES_MAX (10L << 20)

/* ---- start and end ---- */

static _Atomic uint64_t init_calls; /* of aclInit that were not undone: when callbacks are due */
static char *config;                /* text of the last aclInit; under the tables' lock */

bool acl_is_initialized(void)
{
    return atomic_load(&init_calls) > 0;
}

/* Stays until the next aclInit that succeeds. */
const char *acl_config_text(void)
{
    client_tables_lock();
    const char *text = config != NULL ? config : "";
    client_tables_unlock();
    return text;
}

static void keep_config(char *text)
{
    client_tables_lock();
    char *old = config;
    config = text;
    client_tables_unlock();
    free(old);
}

/* The configuration is only checked: nothing in it changes what soma does. */
static aclError check_config_text(const char *path, char *text, size_t len)
{
    text[len] = '\0';
    cJSON *root = cJSON_Parse(text);
    bool is_good = len == 0 || cJSON_IsObject(root);
    cJSON_Delete(root);
    return is_good ? ACL_SUCCESS
                   : client_fail(ACL_ERROR_PARSE_FILE,
                                 "%.300s is not a JSON object: correct it, or give NULL", path);
}

/* *text: the file's, on ACL_SUCCESS; free it. NULL: there is no file. */
static aclError check_config(const char *path, char **text)
{
    if (path == NULL || path[0] == '\0')
        return ACL_SUCCESS;
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        aclError error =
            client_fail(ACL_ERROR_INVALID_FILE, "%.300s cannot be read: %s", path, strerror(errno));
        if (file != NULL)
            (void)fclose(file);
        return error;
    }
    long size = ftell(file);
    aclError error = ACL_SUCCESS;
    if (size < 0 || size > CONFIG_BYTES_MAX) {
        error = client_fail(ACL_ERROR_INVALID_FILE,
                            "%.300s is no configuration file: it may have %ld bytes", path,
                            CONFIG_BYTES_MAX);
    } else {
        *text = malloc((size_t)size + 1);
        rewind(file);
        if (*text == NULL)
            error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for %.300s", path);
        else
            error = check_config_text(path, *text, fread(*text, 1, (size_t)size, file));
    }
    (void)fclose(file);
    return error;
}

aclError aclInit(const char *configPath)
{
    client_begin("aclInit");
    char *text = NULL;
    aclError error = check_config(configPath, &text);
    if (error == ACL_SUCCESS)
        error = client_session_init();
    if (error == ACL_ERROR_REPEAT_INITIALIZE)
        atomic_fetch_add(&init_calls, 1);
    if (error != ACL_SUCCESS) {
        free(text);
        return error;
    }
    keep_config(text);
    error = acl_call_init(text != NULL ? text : "", text != NULL);
    if (error == ACL_SUCCESS)
        atomic_store(&init_calls, 1);
    else
        (void)!client_session_finalize_one(NULL);
    return error;
}

static void forget_settings(void)
{
    atomic_store(&init_calls, 0);
    acl_detach_all();
    acl_op_wait_timeout_forget();
    for (uint32_t device = 0; device < SOMA_DEVICES_MAX; device++)
        acl_device_forget(device);
}

aclError aclFinalize(void)
{
    client_begin("aclFinalize");
    aclError error = acl_is_initialized() ? acl_call_finalize() : ACL_SUCCESS;
    if (error != ACL_SUCCESS)
        return error;
    client_host_funcs_hold();
    error = client_session_finalize();
    client_host_funcs_resume(error == ACL_SUCCESS);
    if (error == ACL_SUCCESS)
        forget_settings();
    return error;
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    client_begin("aclFinalizeReference");
    uint64_t left = 0;
    aclError error = atomic_load(&init_calls) == 1 ? acl_call_finalize() : ACL_SUCCESS;
    if (error != ACL_SUCCESS)
        return error;
    client_host_funcs_hold();
    error = client_session_finalize_one(&left);
    client_host_funcs_resume(error == ACL_SUCCESS && left == 0);
    if (error == ACL_SUCCESS && left == 0)
        forget_settings();
    else if (error == ACL_SUCCESS)
        atomic_store(&init_calls, left);
    if (error == ACL_SUCCESS && refCount != NULL)
        *refCount = left;
    return error;
}

/* ---- errors ---- */

const char *aclGetRecentErrMsg(void)
{
    return client_error_take();
}

static aclError last_error(const char *call, aclrtLastErrLevel level, bool clear)
{
    client_begin(call);
    if (level != ACL_RT_THREAD_LEVEL)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "level is %d: only ACL_RT_THREAD_LEVEL (0) exists", (int)level);
    return client_error_last(clear);
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    return last_error("aclrtPeekAtLastError", level, false);
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    return last_error("aclrtGetLastError", level, true);
}

/* ---- versions ---- */

#define CANN_MAJOR 8 /* the CANN release whose behaviour is emulated */
#define CANN_MINOR 5
#define CANN_RELEASE 0
#define CANN_VERSION "8.5.0"

static const char *const package_names[] = {[ACL_PKG_NAME_CANN] = "cann",
                                            [ACL_PKG_NAME_RUNTIME] = "runtime",
                                            [ACL_PKG_NAME_COMPILER] = "compiler",
                                            [ACL_PKG_NAME_HCCL] = "hccl",
                                            [ACL_PKG_NAME_TOOLKIT] = "toolkit",
                                            [ACL_PKG_NAME_OPP] = "opp",
                                            [ACL_PKG_NAME_OPP_KERNEL] = "opp_kernel",
                                            [ACL_PKG_NAME_DRIVER] = "driver"};

#define PACKAGE_COUNT (sizeof(package_names) / sizeof(package_names[0]))

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    client_begin("aclrtGetVersion");
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL)
        return client_fail_null("majorVersion, minorVersion or patchVersion");
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    client_begin("aclsysGetCANNVersion");
    if (version == NULL)
        return client_fail_null("version");
    if ((int)name < 0 || (size_t)name >= PACKAGE_COUNT)
        return client_fail(ACL_ERROR_INVALID_PARAM, "name is %d: packages are 0 to %zu", (int)name,
                           PACKAGE_COUNT - 1);
    memset(version, 0, sizeof(*version));
    (void)snprintf(version->version, sizeof(version->version), "%s", CANN_VERSION);
    (void)snprintf(version->majorVersion, sizeof(version->majorVersion), "%d", CANN_MAJOR);
    (void)snprintf(version->minorVersion, sizeof(version->minorVersion), "%d", CANN_MINOR);
    (void)snprintf(version->releaseVersion, sizeof(version->releaseVersion), "%d", CANN_RELEASE);
    (void)snprintf(version->patchVersion, sizeof(version->patchVersion), "0");
    return ACL_SUCCESS;
}

static aclError check_package(const char *name)
{
    for (size_t i = 0; i < PACKAGE_COUNT; i++) {
        if (strcmp(package_names[i], name) == 0)
            return ACL_SUCCESS;
    }
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "there is no package \"%.64s\"; there are cann, runtime, compiler, hccl, "
                       "toolkit, opp, opp_kernel and driver",
                       name);
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    client_begin("aclsysGetVersionStr");
    if (pkgName == NULL || versionStr == NULL)
        return client_fail_null("pkgName or versionStr");
    aclError error = check_package(pkgName);
    if (error == ACL_SUCCESS)
        memcpy(versionStr, CANN_VERSION, sizeof(CANN_VERSION));
    return error;
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
    client_begin("aclsysGetVersionNum");
    if (pkgName == NULL || versionNum == NULL)
        return client_fail_null("pkgName or versionNum");
    aclError error = check_package(pkgName);
    if (error == ACL_SUCCESS)
        *versionNum = CANN_MAJOR * 10000000 + CANN_MINOR * 100000 + CANN_RELEASE * 1000;
    return error;
}
