/* Every command route: decode by the command's rows, one engine call, encode by its message. */
#include "handlers.h"

#include "transfer.h"
#include "input.h"
#include "reply.h"
#include "reply_layout.h"
#include "router.h"
#include "sessions.h"

#include <inttypes.h>

/* ---- prepare ---- */

/* Raw bytes are handed to the engine where they were gathered. */
static enum soma_status read_raw(struct request *req)
{
    req->command.data = (struct soma_text){req->body, req->body_len};
    req->command.present |= SOMA_HAS(data);
    return soma_command_complete(&req->command, &req->error);
}

static enum soma_status read_json(struct request *req)
{
    if (req->body_len == 0)
        return soma_command_complete(&req->command, &req->error);
    enum soma_status status = input_read(req);
    if (status != SOMA_OK)
        return status;
    return wire_decode_command(req->tree.values, false, NULL, &req->arena, &req->command,
                               &req->error);
}

/* Work that takes so long that other connections of the thread would notice. */
static bool is_slow(const struct request *req)
{
    const struct soma_command *command = &req->command;
    enum soma_op op = command->op;
    if (op == SOMA_OP_STREAM_LAUNCH_KERNEL || op == SOMA_OP_POOL_SEGMENTS ||
        op == SOMA_OP_DEVICE_RESET)
        return true;
    if (op == SOMA_OP_MEMORY_WRITE)
        return command->data.len >= SLOW_BYTES && !transfer_is_quick(req, command);
    if (op == SOMA_OP_MEMORY_RANDOM)
        return command->count >= SLOW_BYTES / sizeof(uint64_t);
    return (op == SOMA_OP_MEMORY_READ || op == SOMA_OP_MEMORY_SET || op == SOMA_OP_MEMORY_COPY ||
            op == SOMA_OP_MEMORY_REDUCE) &&
           command->size >= SLOW_BYTES;
}

static bool prepare(struct request *req)
{
    enum soma_op op = req->route->op->op;
    soma_command_init(&req->command, op);
    enum soma_status status = input_read_target(req);
    if (status == SOMA_OK)
        status = op == SOMA_OP_MEMORY_WRITE ? read_raw(req) : read_json(req);
    if (status == SOMA_OK)
        status = transfer_prepare(req, true);
    if (status != SOMA_OK) {
        reply_error(req, &req->error);
        return false;
    }
    req->is_slow = is_slow(req);
    return true;
}

/* ---- execute, finish ---- */

static enum step execute(struct request *req)
{
    if (req->has_outcome)
        return STEP_DONE;
    req->status = session_apply(req->session, &req->command, &req->result, &req->error);
    req->has_outcome = req->status != SOMA_MUST_WAIT;
    transfer_settle(req);
    return req->has_outcome ? STEP_DONE : STEP_WAIT;
}

/* The answer takes the bytes over. */
static void reply_contents(struct request *req)
{
    struct soma_buffer *data = &req->result.u.memory_bytes.data;
    if (req->snapshot != NULL) {
        reply_bytes(req, "application/octet-stream", "", 0, NULL);
        reply_snapshot(req, (size_t)req->command.size);
        return;
    }
    reply_bytes(req, "application/octet-stream", data->ptr, data->len, data->ptr);
    data->ptr = NULL;
    data->len = 0;
}

static void finish(struct request *req)
{
    if (req->status != SOMA_OK) {
        req->is_abandoned = req->status == SOMA_CLIENT_GONE || req->status == SOMA_DRAINING;
        reply_error(req, &req->error);
    } else if (req->command.op == SOMA_OP_MEMORY_READ) {
        reply_contents(req);
    } else if (req->command.op == SOMA_OP_PIPE_LAYOUT) {
        reply_layout(req);
    } else {
        reply_result(req, &req->result);
    }
}

const struct handler handler_command = {prepare, execute, finish};
