/* Tensors of TQues, pieces of TBufs, and the layout. */
#include "tpipe_internal.h"

#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LAYOUT_BYTES_MAX ((size_t)4 << 20)

/* ---- tensors ---- */

/* AllocTensor and DeQue. */
static aclError get_tensor(enum soma_op op, soma_tque tque, soma_ttensor *tensor)
{
    struct soma_command command;
    struct soma_result result;
    if (tensor == NULL)
        return client_fail_null("tensor");
    tpipe_command(&command, op, tque.pipe);
    soma_command_set(&command, SOMA_FIELD_tque, tque.id);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_tensor *told = &result.u.tensor;
    *tensor = (soma_ttensor){tque.pipe, told->tensor, told->address, told->len};
    return ACL_SUCCESS;
}

/* EnQue and FreeTensor. */
static aclError give_tensor(enum soma_op op, soma_tque tque, soma_ttensor tensor)
{
    struct soma_command command;
    if (tensor.pipe != tque.pipe)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "tensor %" PRIu64 " is of pipe %" PRIu64 ", the TQue of pipe %" PRIu64
                           ": pipes share nothing",
                           tensor.id, tensor.pipe, tque.pipe);
    tpipe_command(&command, op, tque.pipe);
    soma_command_set(&command, SOMA_FIELD_tque, tque.id);
    soma_command_set(&command, SOMA_FIELD_tensor, tensor.id);
    return tpipe_run(&command);
}

aclError soma_tque_alloc_tensor(soma_tque tque, soma_ttensor *tensor)
{
    client_begin("soma_tque_alloc_tensor");
    return get_tensor(SOMA_OP_PIPE_ALLOC_TENSOR, tque, tensor);
}

aclError soma_tque_de_que(soma_tque tque, soma_ttensor *tensor)
{
    client_begin("soma_tque_de_que");
    return get_tensor(SOMA_OP_PIPE_DE_QUE, tque, tensor);
}

aclError soma_tque_en_que(soma_tque tque, soma_ttensor tensor)
{
    client_begin("soma_tque_en_que");
    return give_tensor(SOMA_OP_PIPE_EN_QUE, tque, tensor);
}

aclError soma_tque_free_tensor(soma_tque tque, soma_ttensor tensor)
{
    client_begin("soma_tque_free_tensor");
    return give_tensor(SOMA_OP_PIPE_FREE_TENSOR, tque, tensor);
}

/* ---- pieces of a TBuf ---- */

static aclError get_slice(struct soma_command *command, soma_tbuf tbuf, soma_tdtype dtype,
                          soma_tslice *slice)
{
    struct soma_result result;
    if (slice == NULL)
        return client_fail_null("slice");
    aclError error = tpipe_check_word(SOMA_GROUP_dtype, (int)dtype, "dtype");
    if (error != ACL_SUCCESS)
        return error;
    soma_command_set(command, SOMA_FIELD_tbuf, tbuf.id);
    soma_command_set(command, SOMA_FIELD_dtype, (uint64_t)dtype);
    error = client_call(command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_tbuf_slice *told = &result.u.tbuf_slice;
    *slice = (soma_tslice){told->address, told->elements, told->bytes};
    return ACL_SUCCESS;
}

aclError soma_tbuf_get(soma_tbuf tbuf, soma_tdtype dtype, uint64_t elements, soma_tslice *slice)
{
    client_begin("soma_tbuf_get");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_TBUF_GET, tbuf.pipe);
    if (elements != SOMA_TPIPE_NONE)
        soma_command_set(&command, SOMA_FIELD_len, elements);
    return get_slice(&command, tbuf, dtype, slice);
}

aclError soma_tbuf_get_with_offset(soma_tbuf tbuf, soma_tdtype dtype, uint64_t elements,
                                   uint64_t offset, soma_tslice *slice)
{
    client_begin("soma_tbuf_get_with_offset");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_TBUF_GET_WITH_OFFSET, tbuf.pipe);
    soma_command_set(&command, SOMA_FIELD_size, elements);
    soma_command_set(&command, SOMA_FIELD_buf_offset, offset);
    return get_slice(&command, tbuf, dtype, slice);
}

/* ---- layout ---- */

static aclError get_layout(soma_tpipe pipe, struct soma_result *result)
{
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_LAYOUT, pipe.id);
    return client_call(&command, result);
}

static void tell_region(int memory, const struct soma_layout_region *told, soma_tregion *region)
{
    *region = (soma_tregion){.memory = (soma_tmemory)memory,
                             .kind = (soma_tregion_kind)told->kind,
                             .state = (soma_tregion_state)told->state,
                             .position = (soma_tposition)told->position,
                             .address = told->address,
                             .len = told->len,
                             .level = told->level,
                             .tque = told->tque,
                             .index = told->index,
                             .tensor = told->tensor,
                             .tbuf = told->tbuf,
                             .tbufpool = told->tbufpool};
    (void)snprintf(region->name, sizeof(region->name), "%s", told->name);
    (void)snprintf(region->owner, sizeof(region->owner), "%s", told->owner);
}

aclError soma_tpipe_regions(soma_tpipe pipe, soma_tregion *regions, size_t capacity, size_t *count)
{
    client_begin("soma_tpipe_regions");
    struct soma_result result;
    if (count == NULL || (regions == NULL && capacity > 0))
        return client_fail_null(count == NULL ? "count" : "regions");
    aclError error = get_layout(pipe, &result);
    if (error != ACL_SUCCESS)
        return error;
    size_t found = 0;
    for (size_t m = 0; m < result.u.layout.memories.count; m++) {
        const struct soma_layout_memory *memory = &result.u.layout.memories.items[m];
        for (size_t i = 0; i < memory->regions.count; i++, found++) {
            if (found < capacity)
                tell_region(memory->memory, &memory->regions.items[i], &regions[found]);
        }
    }
    *count = found;
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_memory(soma_tpipe pipe, soma_tmemory memory, soma_tpipe_usage *usage)
{
    client_begin("soma_tpipe_memory");
    struct soma_result result;
    if (usage == NULL)
        return client_fail_null("usage");
    aclError error = tpipe_check_word(SOMA_GROUP_onchip_memory, (int)memory, "memory");
    if (error == ACL_SUCCESS)
        error = get_layout(pipe, &result);
    if (error != ACL_SUCCESS)
        return error;
    memset(usage, 0, sizeof(*usage));
    for (size_t m = 0; m < result.u.layout.memories.count; m++) {
        const struct soma_layout_memory *told = &result.u.layout.memories.items[m];
        if (told->memory == (int)memory)
            *usage = (soma_tpipe_usage){told->capacity_bytes, told->used_bytes,    told->peak_bytes,
                                        told->free_bytes,     told->padding_bytes, told->live_bytes,
                                        told->reserved_bytes};
    }
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_layout(soma_tpipe pipe, char *text, size_t capacity, size_t *needed)
{
    client_begin("soma_tpipe_layout");
    struct soma_result result;
    struct soma_writer writer;
    if (needed == NULL || (text == NULL && capacity > 0))
        return client_fail_null(needed == NULL ? "needed" : "text");
    aclError error = get_layout(pipe, &result);
    if (error != ACL_SUCCESS)
        return error;
    soma_writer_init(&writer, LAYOUT_BYTES_MAX);
    wire_encode_result(&writer, &result);
    if (writer.failed) {
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a layout");
    } else {
        *needed = writer.len + 1;
        if (*needed <= capacity) {
            memcpy(text, writer.ptr, writer.len);
            text[writer.len] = '\0';
        }
    }
    soma_writer_release(&writer);
    client_result_clear(&result);
    return error;
}
