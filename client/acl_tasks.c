/* Tasks that devices have built in: reductions and random numbers. */
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

#include "acl/acl.h"

#include <string.h>

#define SUM_BYTES_MAX (UINT64_C(4) << 30)
#define REDUCE_KIND_END ((int)ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL + 1)
#define PARAMETER_BYTES 8u

static void task_command(struct soma_command *command, enum soma_op op,
                         const struct client_object *stream)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, stream->device);
    soma_command_set(command, SOMA_FIELD_stream, stream->id);
}

/* ---- element types ---- */

struct element {
    aclDataType type;
    enum soma_dtype dtype;
    size_t size_bytes;
    bool is_reduced;            /* a type that aclrtReduceAsync knows */
    bool is_random;             /* one that aclrtRandomNumAsync knows */
    enum soma_arg_kind as_kind; /* of a parameter of it */
};

static const struct element elements[] = {
    {ACL_FLOAT, SOMA_DTYPE_FLOAT32, 4, true, true, SOMA_ARG_F32},
    {ACL_FLOAT16, SOMA_DTYPE_FLOAT16, 2, true, true, SOMA_ARG_F16},
    {ACL_BF16, SOMA_DTYPE_BFLOAT16, 2, true, true, SOMA_ARG_F32},
    {ACL_INT8, SOMA_DTYPE_INT8, 1, true, false, SOMA_ARG_I32},
    {ACL_UINT8, SOMA_DTYPE_UINT8, 1, true, false, SOMA_ARG_U8},
    {ACL_INT16, SOMA_DTYPE_INT16, 2, true, false, SOMA_ARG_I32},
    {ACL_UINT16, SOMA_DTYPE_UINT16, 2, true, false, SOMA_ARG_U16},
    {ACL_INT32, SOMA_DTYPE_INT32, 4, true, true, SOMA_ARG_I32},
    {ACL_UINT32, SOMA_DTYPE_UINT32, 4, true, true, SOMA_ARG_U32},
    {ACL_INT64, SOMA_DTYPE_INT64, 8, false, true, SOMA_ARG_I64},
    {ACL_UINT64, SOMA_DTYPE_UINT64, 8, false, true, SOMA_ARG_U64},
};

static const struct element *element_of(aclDataType type)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        if (elements[i].type == type)
            return &elements[i];
    }
    return NULL;
}

/* ---- reductions ---- */

static aclError check_reduce(uint64_t count, aclrtReduceKind kind)
{
    if (count == 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "count is 0; give at least one element");
    if ((int)kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || (int)kind >= REDUCE_KIND_END)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "kind is %d: give an enumerator of aclrtReduceKind, such as "
                           "ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM (10)",
                           (int)kind);
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
        return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "kind is ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL: what it computes is not "
                           "documented; use SUM, MAX or MIN");
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM && count > SUM_BYTES_MAX)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "count is %llu bytes: a SUM takes at most 4 GiB, do it in parts",
                           (unsigned long long)count);
    return ACL_SUCCESS;
}

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void *reserve)
{
    client_begin("aclrtReduceAsync");
    struct client_object the_stream;
    struct soma_command command;
    if (dst == NULL || src == NULL)
        return client_fail_null(dst == NULL ? "dst" : "src");
    if (reserve != NULL)
        return client_fail(ACL_ERROR_INVALID_PARAM, "reserve is %p: give NULL", reserve);
    const struct element *element = element_of(type);
    if ((element == NULL || !element->is_reduced) && type != ACL_INT4)
        return client_fail(
            ACL_ERROR_INVALID_PARAM,
            "type is %d: reductions take ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, "
            "ACL_INT16 and ACL_INT32",
            (int)type);
    aclError error = check_reduce(count, kind);
    if (error == ACL_SUCCESS)
        error = client_stream_find_to_move(stream, &the_stream);
    if (error != ACL_SUCCESS)
        return error;
    if (type == ACL_INT4)
        return client_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "type is ACL_INT4: no emulated SoC reduces it");
    task_command(&command, SOMA_OP_MEMORY_REDUCE, &the_stream);
    soma_command_set(&command, SOMA_FIELD_dst, (uint64_t)(uintptr_t)dst);
    soma_command_set(&command, SOMA_FIELD_src, (uint64_t)(uintptr_t)src);
    soma_command_set(&command, SOMA_FIELD_size, count);
    soma_command_set(&command, SOMA_FIELD_reduce_kind, (uint64_t)kind);
    soma_command_set(&command, SOMA_FIELD_dtype, (uint64_t)element->dtype);
    return client_queue(&command);
}

/* ---- random numbers ---- */

/* The parameters of a task: names for texts, and their bytes. */
struct parameter {
    const char *name;
    const aclrtRandomParaInfo *info;
    size_t size_max; /* bytes of its type */
};

static aclError check_parameter(const struct parameter *parameter)
{
    const aclrtRandomParaInfo *info = parameter->info;
    size_t max = info->isAddr == 1 ? PARAMETER_BYTES : parameter->size_max;
    if (info->isAddr <= 1 && info->size > 0 && info->size <= max)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: isAddr is %u (0 or 1) and size %u (1 to %zu)", parameter->name,
                       info->isAddr, info->size, max);
}

/* Its value; one that lies in device memory is read there, in the order of the stream. */
static aclError load_parameter(const struct client_object *stream,
                               const struct parameter *parameter, uint64_t *value)
{
    struct soma_command command;
    uint64_t address = 0;
    *value = 0;
    if (parameter->info->isAddr == 0) {
        memcpy(value, parameter->info->valueOrAddr, parameter->info->size);
        return ACL_SUCCESS;
    }
    memcpy(&address, parameter->info->valueOrAddr, sizeof(address));
    task_command(&command, SOMA_OP_MEMORY_READ, stream);
    soma_command_set(&command, SOMA_FIELD_ptr, address);
    soma_command_set(&command, SOMA_FIELD_size, parameter->size_max);
    return client_read(&command, value);
}

/* Those of the distribution; *count: how many. */
static aclError list_parameters(const aclrtRandomNumTaskInfo *info, const struct element *element,
                                struct parameter parameters[2], size_t *count)
{
    const aclrtRandomNumFuncParaInfo *function = &info->randomNumFuncParaInfo;
    size_t size = element->size_bytes;
    *count = 2;
    switch ((int)function->funcType) {
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK:
        parameters[0] = (struct parameter){
            "dropoutRation", &function->paramInfo.dropoutBitmaskInfo.dropoutRation, size};
        *count = 1;
        return ACL_SUCCESS;
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS:
        parameters[0] = (struct parameter){"min", &function->paramInfo.uniformDisInfo.min, size};
        parameters[1] = (struct parameter){"max", &function->paramInfo.uniformDisInfo.max, size};
        return ACL_SUCCESS;
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS:
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS:
        parameters[0] = (struct parameter){"mean", &function->paramInfo.normalDisInfo.mean, size};
        parameters[1] =
            (struct parameter){"stddev", &function->paramInfo.normalDisInfo.stddev, size};
        return ACL_SUCCESS;
    default:
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "funcType is %d: give an enumerator of aclrtRandomNumFuncType, 0 to 3",
                           (int)function->funcType);
    }
}

/* What CANN does with randomParaAddr: the distribution's parameters are put there. */
static aclError show_parameters(const struct client_object *stream, void *to,
                                const struct parameter *parameters, size_t count)
{
    struct soma_command command;
    char block[2 * PARAMETER_BYTES] = {0};
    if (to == NULL)
        return ACL_SUCCESS;
    for (size_t i = 0; i < count; i++)
        memcpy(block + i * PARAMETER_BYTES, parameters[i].info->valueOrAddr,
               parameters[i].info->size);
    task_command(&command, SOMA_OP_MEMORY_WRITE, stream);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)to);
    command.data = (struct soma_text){block, sizeof(block)};
    command.present |= SOMA_HAS(data);
    return client_queue(&command);
}

/* All of a task's parameters are there: put them into the command. */
static aclError load_parameters(const struct client_object *stream,
                                const struct parameter parameters[4], size_t count,
                                const struct element *element, struct soma_kernel_arg args[2],
                                struct soma_command *command)
{
    uint64_t values[4] = {0};
    aclError error = ACL_SUCCESS;
    for (size_t i = 0; i < count + 2 && error == ACL_SUCCESS; i++)
        error = load_parameter(stream, &parameters[i], &values[i]);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = element->dtype == SOMA_DTYPE_BFLOAT16 ? values[i] << 16 : values[i];
        args[i] = (struct soma_kernel_arg){.kind = element->as_kind, .bits = bits};
    }
    command->args = (struct soma_kernel_args){args, count};
    command->present |= SOMA_HAS(args);
    soma_command_set(command, SOMA_FIELD_seed, values[count]);
    soma_command_set(command, SOMA_FIELD_count, values[count + 1]);
    return error;
}

static aclError random_numbers(const aclrtRandomNumTaskInfo *info, const struct element *element,
                               const struct client_object *stream)
{
    struct parameter parameters[4];
    struct soma_kernel_arg args[2];
    struct soma_command command;
    size_t count = 0;
    aclError error = list_parameters(info, element, parameters, &count);
    if (error == ACL_SUCCESS && (info->randomCounterAddr == NULL || info->randomResultAddr == NULL))
        error =
            client_fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL: give device memory",
                        info->randomCounterAddr == NULL ? "randomCounterAddr" : "randomResultAddr");
    if (error != ACL_SUCCESS)
        return error;
    parameters[count] = (struct parameter){"randomSeed", &info->randomSeed, PARAMETER_BYTES};
    parameters[count + 1] = (struct parameter){"randomNum", &info->randomNum, PARAMETER_BYTES};
    for (size_t i = 0; i < count + 2 && error == ACL_SUCCESS; i++)
        error = check_parameter(&parameters[i]);
    if (error == ACL_SUCCESS)
        error = show_parameters(stream, info->randomParaAddr, parameters, count);
    task_command(&command, SOMA_OP_MEMORY_RANDOM, stream);
    soma_command_set(&command, SOMA_FIELD_ptr, (uint64_t)(uintptr_t)info->randomResultAddr);
    soma_command_set(&command, SOMA_FIELD_counter, (uint64_t)(uintptr_t)info->randomCounterAddr);
    soma_command_set(&command, SOMA_FIELD_distribution,
                     (uint64_t)info->randomNumFuncParaInfo.funcType);
    soma_command_set(&command, SOMA_FIELD_dtype, (uint64_t)element->dtype);
    if (error == ACL_SUCCESS)
        error = load_parameters(stream, parameters, count, element, args, &command);
    return error != ACL_SUCCESS ? error : client_queue(&command);
}

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream,
                             void *reserve)
{
    client_begin("aclrtRandomNumAsync");
    struct client_object the_stream;
    if (taskInfo == NULL)
        return client_fail_null("taskInfo");
    const struct element *element = element_of(taskInfo->dataType);
    if (element == NULL || !element->is_random)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "dataType is %d: random numbers are ACL_FLOAT, ACL_FLOAT16, ACL_BF16, "
                           "ACL_INT32, ACL_UINT32, ACL_INT64 or ACL_UINT64",
                           (int)taskInfo->dataType);
    if (reserve != NULL)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "reserve is %p: give NULL", reserve);
    aclError error = client_stream_find_to_move(stream, &the_stream);
    return error != ACL_SUCCESS ? error : random_numbers(taskInfo, element, &the_stream);
}
