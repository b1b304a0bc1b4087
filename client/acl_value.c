/* Values in memory that streams write, and wait for. */
#include "call.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

static aclError queue(struct soma_command *command, const void *address, uint64_t value,
                      aclrtStream stream)
{
    struct client_object object;
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_set(command, SOMA_FIELD_device, object.device);
    soma_command_set(command, SOMA_FIELD_stream, object.id);
    soma_command_set(command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)address);
    soma_command_set(command, SOMA_FIELD_value, value);
    return client_queue(command);
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    client_begin("aclrtValueWrite");
    struct soma_command command;
    if (devAddr == NULL)
        return client_fail_null("devAddr");
    if (flag != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "flag is %u: give 0", flag);
    soma_command_init(&command, SOMA_OP_STREAM_WRITE_VALUE);
    return queue(&command, devAddr, value, stream);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    client_begin("aclrtValueWait");
    struct soma_command command;
    if (devAddr == NULL)
        return client_fail_null("devAddr");
    if (flag > ACL_STREAM_WAIT_VALUE_NOR)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "flag is %u: give ACL_STREAM_WAIT_VALUE_GEQ (0), _EQ (1), _AND (2) or "
                           "_NOR (3)",
                           flag);
    soma_command_init(&command, SOMA_OP_STREAM_WAIT_VALUE);
    soma_command_set(&command, SOMA_FIELD_condition, flag);
    return queue(&command, devAddr, value, stream);
}
