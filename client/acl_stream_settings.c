/* Settings of streams: those to make one with, and those that can change. All but the failure mode
 * and the priority are only kept. */
#include "acl_attach.h"
#include "acl_device_info.h"
#include "acl_stream.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITY_MAX 7u

/* ---- settings to make a stream with ---- */

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void)
{
    client_begin("aclrtCreateStreamConfigHandle");
    aclrtStreamConfigHandle *handle = calloc(1, sizeof(*handle));
    if (handle == NULL)
        (void)client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for settings");
    return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
    client_begin("aclrtDestroyStreamConfigHandle");
    if (handle == NULL)
        return client_fail_null("handle");
    free(handle);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
                                 const void *attrValue, size_t valueSize)
{
    client_begin("aclrtSetStreamConfigOpt");
    if (handle == NULL || attrValue == NULL)
        return client_fail_null(handle == NULL ? "handle" : "attrValue");
    const struct {
        void *to;
        size_t size;
    } settings[] = {
        [ACL_RT_STREAM_WORK_ADDR_PTR] = {&handle->workptr, sizeof(handle->workptr)},
        [ACL_RT_STREAM_WORK_SIZE] = {&handle->workSize, sizeof(handle->workSize)},
        [ACL_RT_STREAM_FLAG] = {&handle->flag, sizeof(handle->flag)},
        [ACL_RT_STREAM_PRIORITY] = {&handle->priority, sizeof(handle->priority)},
    };
    if ((unsigned)attr >= sizeof(settings) / sizeof(settings[0]))
        return client_fail(ACL_ERROR_INVALID_PARAM, "attr is %d: settings are 0 to 3", (int)attr);
    bool is_short_flag = attr == ACL_RT_STREAM_FLAG && valueSize == sizeof(uint32_t);
    if (valueSize != settings[attr].size && !is_short_flag)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "valueSize is %zu: setting %d takes a value of %zu bytes", valueSize,
                           (int)attr, settings[attr].size);
    memset(settings[attr].to, 0, settings[attr].size);
    memcpy(settings[attr].to, attrValue,
           valueSize); /* a short flag is the low half: little endian */
    return ACL_SUCCESS;
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
    client_begin("aclrtCreateStreamV2");
    if (handle == NULL)
        return acl_create_stream(stream, 0, 0);
    uint32_t flags = handle->flag > UINT32_MAX ? UINT32_MAX : (uint32_t)handle->flag;
    return acl_create_stream(stream, handle->priority, flags);
}

/* ---- how many more ---- */

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    client_begin("aclrtGetStreamAvailableNum");
    struct client_object context;
    struct soma_command command;
    struct soma_result result;
    const struct soma_soc *soc = NULL;
    if (streamCount == NULL)
        return client_fail_null("streamCount");
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        error = acl_soc(&soc);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_STREAM_LIST);
    soma_command_set(&command, SOMA_FIELD_device, context.device);
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    size_t used = result.u.stream_list.streams.count;
    *streamCount = used < soc->max_streams ? soc->max_streams - (uint32_t)used : 0;
    client_result_clear(&result);
    return ACL_SUCCESS;
}

/* ---- settings that can change ---- */

static bool goes_on_in_context(const struct client_object *object, const void *user)
{
    return object->kind == CLIENT_STREAM && object->context == user &&
           object->failure_mode != ACL_STOP_ON_FAILURE;
}

/* The stream to set something of: as for work, it must be of the thread's context. */
static aclError set_failure_mode(aclrtStream stream, uint64_t mode)
{
    struct client_object object;
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    uint64_t wanted = mode & ACL_STOP_ON_FAILURE;
    if (object.failure_mode == ACL_STOP_ON_FAILURE && wanted == ACL_CONTINUE_ON_FAILURE)
        return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "stream %p stops on failure, which cannot be undone: make another one",
                           object.handle);
    /* It is a setting of the context: its other streams stop on failure too. */
    struct client_object other = object;
    while (error == ACL_SUCCESS && wanted == ACL_STOP_ON_FAILURE &&
           client_handle_find(goes_on_in_context, object.context, &other))
        error = acl_stop_on_failure(&other);
    return error;
}

static aclError set_setting(aclrtStream stream, enum acl_setting setting, uint64_t value)
{
    struct client_object object;
    aclError error = client_stream_find_to_queue(stream, &object);
    return error != ACL_SUCCESS ? error : acl_attach(object.handle, setting, value);
}

static aclError set_switch(aclrtStream stream, enum acl_setting setting, uint32_t value)
{
    if (value > 1)
        return client_fail(ACL_ERROR_INVALID_PARAM, "the switch is %u: give 0 or 1", value);
    return set_setting(stream, setting, value);
}

static aclError set_priority(aclrtStream stream, uint32_t priority)
{
    struct client_object object;
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (priority > PRIORITY_MAX)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "the priority is %u: give 0 to %u", priority,
                           PRIORITY_MAX);
    object.priority = priority;
    (void)client_handle_put(&object);
    return ACL_SUCCESS;
}

static aclError get_setting(aclrtStream stream, enum acl_setting setting, uint32_t *value)
{
    struct client_object object;
    uint64_t set = 0;
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    (void)acl_attached(object.handle, setting, &set);
    *value = (uint32_t)set;
    return ACL_SUCCESS;
}

static aclError fail_setting(aclrtStreamAttr attr)
{
    return client_fail(ACL_ERROR_RT_PARAM_INVALID, "stmAttrType is %d: settings are 1 to 5",
                       (int)attr);
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    client_begin("aclrtSetStreamFailureMode");
    return set_failure_mode(stream, mode);
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue *value)
{
    client_begin("aclrtSetStreamAttribute");
    if (value == NULL)
        return client_fail_null("value");
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE: return set_failure_mode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return set_switch(stream, ACL_SETTING_OVERFLOW_SWITCH, value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        return set_setting(stream, ACL_SETTING_USER_TAG, value->userCustomTag);
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        return set_switch(stream, ACL_SETTING_CACHE_OP_INFO, value->cacheOpInfoSwitch);
    case ACL_STREAM_ATTR_PRIORITY: return set_priority(stream, value->streamPriority);
    default: return fail_setting(stmAttrType);
    }
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue *value)
{
    client_begin("aclrtGetStreamAttribute");
    struct client_object object;
    if (value == NULL)
        return client_fail_null("value");
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE: value->failureMode = object.failure_mode; return ACL_SUCCESS;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return get_setting(stream, ACL_SETTING_OVERFLOW_SWITCH, &value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        return get_setting(stream, ACL_SETTING_USER_TAG, &value->userCustomTag);
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        return get_setting(stream, ACL_SETTING_CACHE_OP_INFO, &value->cacheOpInfoSwitch);
    case ACL_STREAM_ATTR_PRIORITY: value->streamPriority = object.priority; return ACL_SUCCESS;
    default: return fail_setting(stmAttrType);
    }
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    client_begin("aclrtSetStreamOverflowSwitch");
    return set_switch(stream, ACL_SETTING_OVERFLOW_SWITCH, flag);
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    client_begin("aclrtGetStreamOverflowSwitch");
    struct client_object object;
    if (flag == NULL)
        return client_fail_null("flag");
    aclError error = client_stream_find_to_queue(stream, &object);
    return error != ACL_SUCCESS ? error : get_setting(stream, ACL_SETTING_OVERFLOW_SWITCH, flag);
}

/* ---- overflow status ---- */

/* No kernel here reports an overflow: the status that is written is 0. */
aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream)
{
    client_begin("aclrtGetOverflowStatus");
    struct client_object object;
    struct soma_command command;
    if (outputAddr == NULL)
        return client_fail_null("outputAddr");
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (outputSize == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "outputSize is 0: give 64 bytes or more");
    soma_command_init(&command, SOMA_OP_MEMORY_SET);
    soma_command_set(&command, SOMA_FIELD_device, object.device);
    soma_command_set(&command, SOMA_FIELD_stream, object.id);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)outputAddr);
    soma_command_set(&command, SOMA_FIELD_value, 0);
    soma_command_set(&command, SOMA_FIELD_size, outputSize);
    return client_queue(&command);
}

aclError aclrtResetOverflowStatus(aclrtStream stream)
{
    client_begin("aclrtResetOverflowStatus");
    struct client_object object;
    return client_stream_find_to_queue(stream, &object);
}
