/* What a program learns about errors, versions and its devices. */
#include "program.h"

#include <stdio.h>
#include <string.h>

static void test_an_error_is_told_once(void)
{
    aclrtErrorInfo info;
    (void)HOLDS(aclrtGetRunMode(NULL) == ACL_ERROR_INVALID_PARAM);
    (void)HOLDS(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
    (void)HOLDS(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
    const char *text = aclGetRecentErrMsg();
    (void)HOLDS(text != NULL && strstr(text, "aclrtGetRunMode") != NULL);
    (void)HOLDS(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
    (void)HOLDS(aclGetRecentErrMsg() == NULL);
    memset(&info, 0xff, sizeof(info));
    (void)GAVE(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
    (void)HOLDS(info.errorType == ACL_RT_NO_ERROR);
}

/* A launch whose kernel fails is a success; the stream's synchronisation tells, once. */
static void test_a_kernel_that_fails(void)
{
    aclrtStream stream = NULL;
    aclrtErrorInfo info;
    const void *nowhere = (const void *)(uintptr_t)0x4000;
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GAVE(ACL_SUCCESS, program_add(nowhere, nowhere, (void *)(uintptr_t)0x4000, 4, stream));
    (void)HOLDS(aclGetRecentErrMsg() == NULL);
    (void)HOLDS(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
    const char *text = aclGetRecentErrMsg();
    (void)HOLDS(text != NULL && strstr(text, "0x4000") != NULL);
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GAVE(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
    (void)HOLDS(info.errorType == ACL_RT_ERROR_AICORE);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
}

static void test_what_is_installed(void)
{
    char package[] = "runtime", text[ACL_PKG_VERSION_MAX_SIZE] = "";
    int32_t number = 0, value = -1, fits = 0;
    const aclCannAttr *attributes = NULL;
    size_t count = 0;
    uint32_t devices = 0;
    aclrtRunMode mode = ACL_DEVICE;
    (void)GAVE(ACL_SUCCESS, aclsysGetVersionStr(package, text));
    (void)GAVE(ACL_SUCCESS, aclsysGetVersionNum(package, &number));
    (void)HOLDS(strchr(text, '.') != NULL && number > 10000000);
    (void)GAVE(ACL_SUCCESS, aclGetCannAttributeList(&attributes, &count));
    for (size_t i = 0; i < count; i++) {
        (void)GAVE(ACL_SUCCESS, aclGetCannAttribute(attributes[i], &value));
        (void)HOLDS(value == 0 || value == 1);
    }
    const char *soc = aclrtGetSocName();
    if (HOLDS(soc != NULL))
        (void)GAVE(ACL_SUCCESS, aclrtCheckArchCompatibility(soc, &fits));
    (void)HOLDS(fits == 1);
    (void)GAVE(ACL_SUCCESS, aclrtGetDeviceCount(&devices));
    (void)HOLDS(devices > 0);
    (void)GAVE(ACL_SUCCESS, aclrtGetRunMode(&mode));
    (void)HOLDS(mode == ACL_HOST);
    (void)HOLDS(aclFloat16ToFloat(aclFloatToFloat16(1.625f)) > 1.6f);
    (void)HOLDS(aclDataTypeSize(ACL_FLOAT) == 4 && aclDataTypeSize(ACL_FLOAT16) == 2);
}

int program_diagnostics(void)
{
    program_begin();
    test_an_error_is_told_once();
    test_what_is_installed();
    test_a_kernel_that_fails();
    (void)GAVE(ACL_SUCCESS, aclrtResetDeviceForce(0));
    (void)HOLDS(aclrtResetDevice(0) == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    (void)aclGetRecentErrMsg();
    program_end();
    (void)HOLDS(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
    (void)aclGetRecentErrMsg();
    return program_failures();
}
