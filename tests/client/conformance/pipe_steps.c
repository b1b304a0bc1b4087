/* Each pipe operation by its function. The answers have the members of the service's, as far as the
 * functions tell them. */
#include "pipe_steps.h"

#include "command.h"
#include "soma/tpipe.h"

#include <stdlib.h>
#include <string.h>

enum { LAYOUT_BYTES_MAX = 1 << 20, NO_ENUMERATOR = 999 };

/* ---- fields ---- */

static const cJSON *field(const cJSON *step, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(step, name);
}

static uint64_t number(const cJSON *step, const char *name, uint64_t fallback)
{
    const cJSON *value = field(step, name);
    return cJSON_IsNumber(value) ? (uint64_t)value->valuedouble : fallback;
}

static const char *text(const cJSON *step, const char *name)
{
    const cJSON *value = field(step, name);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

static int word(enum soma_enum_group group, const cJSON *step, const char *name, int fallback)
{
    int value = NO_ENUMERATOR;
    const char *given = text(step, name);
    if (given == NULL)
        return fallback;
    (void)soma_value_of(group, given, strlen(given), &value);
    return value;
}

static void add(cJSON *answer, const char *name, uint64_t value)
{
    (void)cJSON_AddNumberToObject(answer, name, (double)value);
}

static void add_memory(cJSON *answer, soma_tmemory memory)
{
    const char *name = soma_word_of(SOMA_GROUP_onchip_memory, (int)memory);
    (void)cJSON_AddStringToObject(answer, "memory", name);
}

static soma_tpipe pipe_of(const cJSON *step)
{
    return (soma_tpipe){number(step, "pipe", 0)};
}

static soma_tque tque_of(const cJSON *step)
{
    return (soma_tque){number(step, "pipe", 0), number(step, "tque", 0)};
}

static soma_tbuf tbuf_of(const cJSON *step)
{
    return (soma_tbuf){number(step, "pipe", 0), number(step, "tbuf", 0)};
}

static soma_tbufpool tbufpool_of(const cJSON *step, const char *name)
{
    return (soma_tbufpool){number(step, "pipe", 0), number(step, name, 0)};
}

static soma_tposition position_of(const cJSON *step)
{
    return (soma_tposition)word(SOMA_GROUP_position, step, "position", NO_ENUMERATOR);
}

static soma_tdtype dtype_of(const cJSON *step)
{
    return (soma_tdtype)word(SOMA_GROUP_dtype, step, "dtype", NO_ENUMERATOR);
}

/* ---- pipes and objects ---- */

static aclError add_pipe(soma_tpipe pipe, cJSON *answer)
{
    soma_tpipe_info info;
    aclError error = soma_tpipe_describe(pipe, &info);
    if (error != ACL_SUCCESS)
        return error;
    add(answer, "pipe", info.pipe.id);
    (void)cJSON_AddStringToObject(answer, "soc", info.soc);
    cJSON *memories = cJSON_AddObjectToObject(answer, "memories");
    for (int i = 0; i < SOMA_TMEMORY_COUNT; i++)
        add(memories, soma_word_of(SOMA_GROUP_onchip_memory, i), info.memory_bytes[i]);
    cJSON *limits = cJSON_AddObjectToObject(answer, "limits");
    add(limits, "buffers", info.buffers_max);
    add(limits, "poolBuffers", info.pool_buffers_max);
    add(limits, "queueBuffersPerPosition", info.tensors_per_position_max);
    return ACL_SUCCESS;
}

static aclError create(const cJSON *step, cJSON *answer)
{
    soma_tpipe pipe;
    aclError error = soma_tpipe_create(&pipe, text(step, "soc"),
                                       (soma_tchecks)word(SOMA_GROUP_checks, step, "checks", 0));
    return error == ACL_SUCCESS ? add_pipe(pipe, answer) : error;
}

static aclError describe(const cJSON *step, cJSON *answer)
{
    return add_pipe(pipe_of(step), answer);
}

static aclError destroy(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return soma_tpipe_destroy(pipe_of(step));
}

static aclError reset(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return soma_tpipe_reset(pipe_of(step));
}

static aclError create_tque(const cJSON *step, cJSON *answer)
{
    soma_tque tque = {0, 0};
    aclError error =
        soma_tpipe_create_tque(pipe_of(step), position_of(step), (uint32_t)number(step, "depth", 1),
                               text(step, "name"), &tque);
    add(answer, "tque", tque.id);
    return error;
}

static aclError create_tbuf(const cJSON *step, cJSON *answer)
{
    soma_tbuf tbuf = {0, 0};
    aclError error =
        soma_tpipe_create_tbuf(pipe_of(step), position_of(step), text(step, "name"), &tbuf);
    add(answer, "tbuf", tbuf.id);
    return error;
}

static aclError create_tbufpool(const cJSON *step, cJSON *answer)
{
    soma_tbufpool tbufpool = {0, 0};
    aclError error = soma_tpipe_create_tbufpool(pipe_of(step), position_of(step),
                                                (uint32_t)number(step, "bufIdSize", 0),
                                                text(step, "name"), &tbufpool);
    add(answer, "tbufpool", tbufpool.id);
    return error;
}

/* ---- memory ---- */

static void add_buffers(cJSON *answer, const soma_tbuffers *got)
{
    add_memory(answer, got->memory);
    add(answer, "len", got->len);
    add(answer, "paddingBytes", got->padding_bytes);
    cJSON *buffers = cJSON_AddArrayToObject(answer, "buffers");
    for (uint64_t i = 0; i < got->count; i++) {
        cJSON *buffer = cJSON_CreateObject();
        add(buffer, "address", got->addresses[i]);
        add(buffer, "len", got->len);
        (void)cJSON_AddItemToArray(buffers, buffer);
    }
}

static aclError init_buffer(const cJSON *step, cJSON *answer)
{
    soma_tbuffers got = {.count = 0};
    uint64_t len = number(step, "len", 0);
    aclError error =
        field(step, "tque") != NULL
            ? soma_tpipe_init_tque(pipe_of(step), tque_of(step), number(step, "num", 0), len, &got)
            : soma_tpipe_init_tbuf(pipe_of(step), tbuf_of(step), len, &got);
    add_buffers(answer, &got);
    return error;
}

static aclError pool_init_buffer(const cJSON *step, cJSON *answer)
{
    soma_tbuffers got = {.count = 0};
    uint64_t len = number(step, "len", 0);
    soma_tbufpool tbufpool = tbufpool_of(step, "tbufpool");
    aclError error =
        field(step, "tque") != NULL
            ? soma_tbufpool_init_tque(tbufpool, tque_of(step), number(step, "num", 0), len, &got)
            : soma_tbufpool_init_tbuf(tbufpool, tbuf_of(step), len, &got);
    add_buffers(answer, &got);
    return error;
}

static aclError init_buf_pool_in(const cJSON *step, cJSON *answer, bool is_nested)
{
    soma_tregion_given got = {.len = 0};
    soma_tbufpool tbufpool = tbufpool_of(step, "tbufpool"), share = tbufpool_of(step, "shareBuf");
    const soma_tbufpool *shared = field(step, "shareBuf") != NULL ? &share : NULL;
    uint64_t len = number(step, "len", 0);
    aclError error =
        is_nested
            ? soma_tbufpool_init_buf_pool(tbufpool_of(step, "parent"), tbufpool, len, shared, &got)
            : soma_tpipe_init_buf_pool(pipe_of(step), tbufpool, len, shared, &got);
    add(answer, "tbufpool", tbufpool.id);
    add_memory(answer, got.memory);
    add(answer, "startAddress", got.start_address);
    add(answer, "len", got.len);
    add(answer, "paddingBytes", got.padding_bytes);
    return error;
}

static aclError init_buf_pool(const cJSON *step, cJSON *answer)
{
    return init_buf_pool_in(step, answer, false);
}

static aclError pool_init_buf_pool(const cJSON *step, cJSON *answer)
{
    return init_buf_pool_in(step, answer, true);
}

static aclError pool_reset(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return soma_tbufpool_reset(tbufpool_of(step, "tbufpool"));
}

/* ---- tensors and pieces ---- */

static void add_tensor(cJSON *answer, const soma_ttensor *tensor)
{
    add(answer, "tensor", tensor->id);
    add(answer, "address", tensor->address);
    add(answer, "len", tensor->len);
}

static aclError alloc_tensor(const cJSON *step, cJSON *answer)
{
    soma_ttensor tensor = {0, 0, 0, 0};
    aclError error = soma_tque_alloc_tensor(tque_of(step), &tensor);
    add_tensor(answer, &tensor);
    return error;
}

static aclError de_que(const cJSON *step, cJSON *answer)
{
    soma_ttensor tensor = {0, 0, 0, 0};
    aclError error = soma_tque_de_que(tque_of(step), &tensor);
    add_tensor(answer, &tensor);
    return error;
}

static soma_ttensor tensor_of(const cJSON *step)
{
    return (soma_ttensor){number(step, "pipe", 0), number(step, "tensor", 0), 0, 0};
}

static aclError en_que(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return soma_tque_en_que(tque_of(step), tensor_of(step));
}

static aclError free_tensor(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return soma_tque_free_tensor(tque_of(step), tensor_of(step));
}

static void add_slice(cJSON *answer, const soma_tslice *slice)
{
    add(answer, "address", slice->address);
    add(answer, "elements", slice->elements);
    add(answer, "bytes", slice->bytes);
}

static aclError tbuf_get(const cJSON *step, cJSON *answer)
{
    soma_tslice slice = {0, 0, 0};
    aclError error =
        soma_tbuf_get(tbuf_of(step), dtype_of(step), number(step, "len", SOMA_TPIPE_NONE), &slice);
    add_slice(answer, &slice);
    return error;
}

static aclError tbuf_get_with_offset(const cJSON *step, cJSON *answer)
{
    soma_tslice slice = {0, 0, 0};
    aclError error =
        soma_tbuf_get_with_offset(tbuf_of(step), dtype_of(step), number(step, "size", 0),
                                  number(step, "bufOffset", 0), &slice);
    add_slice(answer, &slice);
    return error;
}

/* The members of the JSON text go to the answer. */
static aclError layout(const cJSON *step, cJSON *answer)
{
    static char json[LAYOUT_BYTES_MAX];
    size_t needed = 0;
    aclError error = soma_tpipe_layout(pipe_of(step), json, sizeof(json), &needed);
    cJSON *root = error == ACL_SUCCESS ? cJSON_Parse(json) : NULL;
    while (root != NULL && root->child != NULL) {
        cJSON *member = cJSON_DetachItemViaPointer(root, root->child);
        (void)cJSON_AddItemToObject(answer, member->string, member);
    }
    cJSON_Delete(root);
    return error;
}

/* ---- all of them ---- */

static const struct {
    const char *op;
    aclError (*run)(const cJSON *step, cJSON *answer);
} rows[] = {
    {"pipe.create", create},
    {"pipe.describe", describe},
    {"pipe.destroy", destroy},
    {"pipe.createTQue", create_tque},
    {"pipe.createTBuf", create_tbuf},
    {"pipe.createTBufPool", create_tbufpool},
    {"pipe.initBuffer", init_buffer},
    {"pipe.initBufPool", init_buf_pool},
    {"pipe.poolInitBuffer", pool_init_buffer},
    {"pipe.poolInitBufPool", pool_init_buf_pool},
    {"pipe.poolReset", pool_reset},
    {"pipe.reset", reset},
    {"pipe.allocTensor", alloc_tensor},
    {"pipe.enQue", en_que},
    {"pipe.deQue", de_que},
    {"pipe.freeTensor", free_tensor},
    {"pipe.tbufGet", tbuf_get},
    {"pipe.tbufGetWithOffset", tbuf_get_with_offset},
    {"pipe.layout", layout},
};

static int find(const char *op)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].op, op) == 0)
            return (int)i;
    }
    return -1;
}

bool pipe_steps_can(const char *op)
{
    return find(op) >= 0;
}

aclError pipe_steps_run(const cJSON *step, cJSON *answer)
{
    return rows[find(text(step, "op"))].run(step, answer);
}
