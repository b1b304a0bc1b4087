/* Pipes, their objects, and memory for them. */
#include "tpipe_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- commands ---- */

void tpipe_command(struct soma_command *command, enum soma_op op, uint64_t pipe)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_pipe, pipe);
}

/* With a result even where there is nothing to tell: the answer is waited for, and a refusal is
 * that of this call. */
aclError tpipe_run(const struct soma_command *command)
{
    struct soma_result result;
    aclError error = client_call(command, &result);
    if (error == ACL_SUCCESS)
        client_result_clear(&result);
    return error;
}

aclError tpipe_check_word(enum soma_enum_group group, int value, const char *what)
{
    if (soma_word_of(group, value) != NULL)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_INVALID_PARAM, "%s is %d: give an enumerator of tpipe.h (%s)",
                       what, value, soma_status_reason(SOMA_INVALID_VALUE));
}

static aclError check_pipe(const char *what, uint64_t id, uint64_t of_pipe, uint64_t pipe)
{
    if (of_pipe == pipe)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_INVALID_PARAM,
                       "%s %" PRIu64 " is of pipe %" PRIu64 ", not of pipe %" PRIu64
                       ": pipes share nothing",
                       what, id, of_pipe, pipe);
}

/* The text stays borrowed from name. */
static aclError set_name(struct soma_command *command, const char *name)
{
    if (name == NULL)
        return ACL_SUCCESS;
    size_t len = strnlen(name, SOMA_NAME_BYTES_MAX + 1);
    if (len == 0 || len > SOMA_NAME_BYTES_MAX)
        return client_fail(ACL_ERROR_INVALID_PARAM, "name: a name has 1 to %u bytes (%s)",
                           SOMA_NAME_BYTES_MAX, soma_status_reason(SOMA_INVALID_VALUE));
    command->object_name = (struct soma_text){name, len};
    command->present |= SOMA_HAS(object_name);
    return ACL_SUCCESS;
}

/* ---- pipes ---- */

aclError soma_tpipe_create(soma_tpipe *pipe, const char *soc, soma_tchecks checks)
{
    client_begin("soma_tpipe_create");
    struct soma_command command;
    struct soma_result result;
    if (pipe == NULL)
        return client_fail_null("pipe");
    aclError error = tpipe_check_word(SOMA_GROUP_checks, (int)checks, "checks");
    if (error != ACL_SUCCESS)
        return error;
    soma_command_init(&command, SOMA_OP_PIPE_CREATE);
    soma_command_set(&command, SOMA_FIELD_checks, (uint64_t)checks);
    if (soc != NULL) {
        command.soc = (struct soma_text){soc, strnlen(soc, SOMA_NAME_BYTES_MAX + 1)};
        command.present |= SOMA_HAS(soc);
    }
    error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    pipe->id = result.u.pipe.pipe;
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_list(soma_tpipe *pipes, size_t capacity, size_t *count)
{
    client_begin("soma_tpipe_list");
    struct soma_command command;
    struct soma_result result;
    if (count == NULL || (pipes == NULL && capacity > 0))
        return client_fail_null(count == NULL ? "count" : "pipes");
    soma_command_init(&command, SOMA_OP_PIPE_LIST);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    *count = result.u.pipe_list.pipes.count;
    for (size_t i = 0; i < *count && i < capacity; i++)
        pipes[i].id = result.u.pipe_list.pipes.items[i].pipe;
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_describe(soma_tpipe pipe, soma_tpipe_info *info)
{
    client_begin("soma_tpipe_describe");
    struct soma_command command;
    struct soma_result result;
    if (info == NULL)
        return client_fail_null("info");
    tpipe_command(&command, SOMA_OP_PIPE_DESCRIBE, pipe.id);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_pipe *told = &result.u.pipe;
    const struct soma_pipe_memories *memories = &told->memories;
    *info = (soma_tpipe_info){
        .pipe = pipe,
        .checks = (soma_tchecks)told->checks,
        .memory_bytes = {memories->ub, memories->l1, memories->l0a, memories->l0b, memories->l0c,
                         memories->bt == SOMA_NONE ? 0 : memories->bt},
        .buffers_max = told->limits.buffers,
        .pool_buffers_max = told->limits.pool_buffers,
        .tensors_per_position_max = told->limits.queue_buffers_per_position,
    };
    (void)snprintf(info->soc, sizeof(info->soc), "%s", told->soc != NULL ? told->soc : "");
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_destroy(soma_tpipe pipe)
{
    client_begin("soma_tpipe_destroy");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_DESTROY, pipe.id);
    return tpipe_run(&command);
}

aclError soma_tpipe_reset(soma_tpipe pipe)
{
    client_begin("soma_tpipe_reset");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_RESET, pipe.id);
    return tpipe_run(&command);
}

/* ---- objects ---- */

/* Give the command a position and a name, and run it. */
static aclError create(struct soma_command *command, soma_tposition position, const char *name,
                       struct soma_result *result)
{
    aclError error = tpipe_check_word(SOMA_GROUP_position, (int)position, "position");
    if (error == ACL_SUCCESS)
        error = set_name(command, name);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_set(command, SOMA_FIELD_position, (uint64_t)position);
    return client_call(command, result);
}

aclError soma_tpipe_create_tque(soma_tpipe pipe, soma_tposition position, uint32_t depth,
                                const char *name, soma_tque *tque)
{
    client_begin("soma_tpipe_create_tque");
    struct soma_command command;
    struct soma_result result;
    if (tque == NULL)
        return client_fail_null("tque");
    tpipe_command(&command, SOMA_OP_PIPE_CREATE_TQUE, pipe.id);
    soma_command_set(&command, SOMA_FIELD_depth, depth);
    aclError error = create(&command, position, name, &result);
    if (error == ACL_SUCCESS)
        *tque = (soma_tque){pipe.id, result.u.tque_created.tque};
    return error;
}

aclError soma_tpipe_create_tbuf(soma_tpipe pipe, soma_tposition position, const char *name,
                                soma_tbuf *tbuf)
{
    client_begin("soma_tpipe_create_tbuf");
    struct soma_command command;
    struct soma_result result;
    if (tbuf == NULL)
        return client_fail_null("tbuf");
    tpipe_command(&command, SOMA_OP_PIPE_CREATE_TBUF, pipe.id);
    aclError error = create(&command, position, name, &result);
    if (error == ACL_SUCCESS)
        *tbuf = (soma_tbuf){pipe.id, result.u.tbuf_created.tbuf};
    return error;
}

aclError soma_tpipe_create_tbufpool(soma_tpipe pipe, soma_tposition position, uint32_t buf_id_size,
                                    const char *name, soma_tbufpool *tbufpool)
{
    client_begin("soma_tpipe_create_tbufpool");
    struct soma_command command;
    struct soma_result result;
    if (tbufpool == NULL)
        return client_fail_null("tbufpool");
    tpipe_command(&command, SOMA_OP_PIPE_CREATE_TBUFPOOL, pipe.id);
    if (buf_id_size != 0)
        soma_command_set(&command, SOMA_FIELD_buf_id_size, buf_id_size);
    aclError error = create(&command, position, name, &result);
    if (error == ACL_SUCCESS)
        *tbufpool = (soma_tbufpool){pipe.id, result.u.tbufpool_created.tbufpool};
    return error;
}

/* ---- InitBuffer ---- */

static void tell_buffers(const struct soma_buffers *told, soma_tbuffers *got)
{
    *got = (soma_tbuffers){.memory = (soma_tmemory)told->memory,
                           .len = told->len,
                           .count = told->buffers.count,
                           .padding_bytes = told->padding_bytes,
                           .warning_count = told->warnings.count};
    for (size_t i = 0; i < told->buffers.count && i < SOMA_TPIPE_BUFFERS_MAX; i++)
        got->addresses[i] = told->buffers.items[i].address;
    if (told->warnings.count > 0)
        (void)snprintf(got->warning, sizeof(got->warning), "%s", told->warnings.items[0]);
}

static aclError run_init_buffer(const struct soma_command *command, soma_tbuffers *got)
{
    struct soma_result result;
    aclError error = client_call(command, &result);
    if (error != ACL_SUCCESS)
        return error;
    if (got != NULL)
        tell_buffers(&result.u.buffers, got);
    client_result_clear(&result);
    return ACL_SUCCESS;
}

aclError soma_tpipe_init_tque(soma_tpipe pipe, soma_tque tque, uint64_t num, uint64_t len,
                              soma_tbuffers *got)
{
    client_begin("soma_tpipe_init_tque");
    struct soma_command command;
    aclError error = check_pipe("TQue", tque.id, tque.pipe, pipe.id);
    if (error != ACL_SUCCESS)
        return error;
    tpipe_command(&command, SOMA_OP_PIPE_INIT_BUFFER, pipe.id);
    soma_command_set(&command, SOMA_FIELD_tque, tque.id);
    soma_command_set(&command, SOMA_FIELD_num, num);
    soma_command_set(&command, SOMA_FIELD_len, len);
    return run_init_buffer(&command, got);
}

aclError soma_tpipe_init_tbuf(soma_tpipe pipe, soma_tbuf tbuf, uint64_t len, soma_tbuffers *got)
{
    client_begin("soma_tpipe_init_tbuf");
    struct soma_command command;
    aclError error = check_pipe("TBuf", tbuf.id, tbuf.pipe, pipe.id);
    if (error != ACL_SUCCESS)
        return error;
    tpipe_command(&command, SOMA_OP_PIPE_INIT_BUFFER, pipe.id);
    soma_command_set(&command, SOMA_FIELD_tbuf, tbuf.id);
    soma_command_set(&command, SOMA_FIELD_len, len);
    return run_init_buffer(&command, got);
}

aclError soma_tbufpool_init_tque(soma_tbufpool tbufpool, soma_tque tque, uint64_t num, uint64_t len,
                                 soma_tbuffers *got)
{
    client_begin("soma_tbufpool_init_tque");
    struct soma_command command;
    aclError error = check_pipe("TQue", tque.id, tque.pipe, tbufpool.pipe);
    if (error != ACL_SUCCESS)
        return error;
    tpipe_command(&command, SOMA_OP_PIPE_POOL_INIT_BUFFER, tbufpool.pipe);
    soma_command_set(&command, SOMA_FIELD_tbufpool, tbufpool.id);
    soma_command_set(&command, SOMA_FIELD_tque, tque.id);
    soma_command_set(&command, SOMA_FIELD_num, num);
    soma_command_set(&command, SOMA_FIELD_len, len);
    return run_init_buffer(&command, got);
}

aclError soma_tbufpool_init_tbuf(soma_tbufpool tbufpool, soma_tbuf tbuf, uint64_t len,
                                 soma_tbuffers *got)
{
    client_begin("soma_tbufpool_init_tbuf");
    struct soma_command command;
    aclError error = check_pipe("TBuf", tbuf.id, tbuf.pipe, tbufpool.pipe);
    if (error != ACL_SUCCESS)
        return error;
    tpipe_command(&command, SOMA_OP_PIPE_POOL_INIT_BUFFER, tbufpool.pipe);
    soma_command_set(&command, SOMA_FIELD_tbufpool, tbufpool.id);
    soma_command_set(&command, SOMA_FIELD_tbuf, tbuf.id);
    soma_command_set(&command, SOMA_FIELD_len, len);
    return run_init_buffer(&command, got);
}

/* ---- InitBufPool ---- */

/* The command has its pipe and, of a nested pool, its parent. */
static aclError run_init_buf_pool(struct soma_command *command, soma_tbufpool tbufpool,
                                  uint64_t len, const soma_tbufpool *share_buf,
                                  soma_tregion_given *got)
{
    struct soma_result result;
    aclError error = check_pipe("TBufPool", tbufpool.id, tbufpool.pipe, command->pipe);
    if (error == ACL_SUCCESS && share_buf != NULL)
        error = check_pipe("TBufPool", share_buf->id, share_buf->pipe, command->pipe);
    if (error != ACL_SUCCESS)
        return error;
    soma_command_set(command, SOMA_FIELD_tbufpool, tbufpool.id);
    soma_command_set(command, SOMA_FIELD_len, len);
    if (share_buf != NULL)
        soma_command_set(command, SOMA_FIELD_share_buf, share_buf->id);
    error = client_call(command, &result);
    if (error != ACL_SUCCESS || got == NULL)
        return error;
    const struct soma_buf_pool *told = &result.u.buf_pool;
    *got = (soma_tregion_given){(soma_tmemory)told->memory, told->start_address, told->len,
                                told->padding_bytes};
    return ACL_SUCCESS;
}

aclError soma_tpipe_init_buf_pool(soma_tpipe pipe, soma_tbufpool tbufpool, uint64_t len,
                                  const soma_tbufpool *share_buf, soma_tregion_given *got)
{
    client_begin("soma_tpipe_init_buf_pool");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_INIT_BUF_POOL, pipe.id);
    return run_init_buf_pool(&command, tbufpool, len, share_buf, got);
}

aclError soma_tbufpool_init_buf_pool(soma_tbufpool parent, soma_tbufpool tbufpool, uint64_t len,
                                     const soma_tbufpool *share_buf, soma_tregion_given *got)
{
    client_begin("soma_tbufpool_init_buf_pool");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_POOL_INIT_BUF_POOL, parent.pipe);
    soma_command_set(&command, SOMA_FIELD_parent, parent.id);
    return run_init_buf_pool(&command, tbufpool, len, share_buf, got);
}

aclError soma_tbufpool_reset(soma_tbufpool tbufpool)
{
    client_begin("soma_tbufpool_reset");
    struct soma_command command;
    tpipe_command(&command, SOMA_OP_PIPE_POOL_RESET, tbufpool.pipe);
    soma_command_set(&command, SOMA_FIELD_tbufpool, tbufpool.id);
    return tpipe_run(&command);
}
