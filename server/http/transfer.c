/* Below these sizes a copy costs less than what avoids it. */
#include "transfer.h"

#include "bodies.h"
#include "sessions.h"

#include <stdlib.h>
#include <unistd.h>

#define SNAPSHOT_BYTES (UINT64_C(1) << 17)
#define GIVEN_BYTES ((uint64_t)BODIES_BYTES_MAX + 1) /* smaller bodies are used again */

enum soma_status transfer_prepare(struct request *req, bool sends_snapshot)
{
    struct soma_command *command = &req->command;
    uint64_t max = req->conn->server->max_body_bytes;
    char text[32];
    if (command->op == SOMA_OP_MEMORY_WRITE) {
        command->gives_data = command->data.len >= GIVEN_BYTES;
        command->gives_pages =
            bodies_can_exchange(&req->pages, command->data.ptr, command->data.len);
    }
    if (command->op != SOMA_OP_MEMORY_READ)
        return SOMA_OK;
    if (command->size > max)
        return soma_fail(&req->error, SOMA_VALUE_OUT_OF_RANGE, "size",
                         "size: one answer holds at most %s (--max-body); read in parts",
                         soma_bytes_text(text, max));
    if (!sends_snapshot || command->size < SNAPSHOT_BYTES)
        return SOMA_OK;
    req->snapshot = snapshot_create(command->size);
    if (req->snapshot == NULL)
        return soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "", "no memory to read contents");
    command->reads_apart = true;
    return SOMA_OK;
}

bool transfer_is_quick(const struct request *req, const struct soma_command *command)
{
    return command->op == SOMA_OP_MEMORY_WRITE && command->data.len <= BODIES_BYTES_MAX &&
           command->ptr % (uint64_t)sysconf(_SC_PAGESIZE) == 0 &&
           bodies_can_exchange(&req->pages, command->data.ptr, command->data.len);
}

void transfer_settle(struct request *req)
{
    struct session *session = req->session;
    struct engine_piece piece;
    if (req->snapshot == NULL)
        return;
    bool is_apart = req->status == SOMA_OK && req->result.u.memory_bytes.data.ptr == NULL;
    if (is_apart) {
        engine_translate(session->engine, req->command.ptr, &piece);
        bytes_attach(session->bytes, req->snapshot, piece.address);
    } else {
        snapshot_release(req->snapshot);
        req->snapshot = NULL;
    }
}

/* Copy the contents, piece by piece as they are kept, into the result. */
static enum soma_status read_pieces(struct request *req)
{
    struct session *session = req->session;
    const struct soma_command *command = &req->command;
    struct engine_bytes table = bytes_table(session->bytes);
    struct soma_buffer *data = &req->result.u.memory_bytes.data;
    struct engine_piece piece;
    enum soma_status status = SOMA_OK;
    req->result.message = SOMA_MESSAGE_MEMORY_BYTES;
    *data = (struct soma_buffer){malloc((size_t)command->size), (size_t)command->size};
    if (data->ptr == NULL)
        return soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "size", "no memory for the bytes");
    for (uint64_t at = 0, size; at < command->size && status == SOMA_OK; at += size) {
        engine_translate(session->engine, command->ptr + at, &piece);
        size = piece.bytes < command->size - at ? piece.bytes : command->size - at;
        status = table.read(table.ctx, piece.address, (char *)data->ptr + at, size, &req->error);
    }
    if (status != SOMA_OK)
        session_result_clear(&req->result);
    return status;
}

enum soma_status transfer_read_again(struct request *req, bool sends_snapshot)
{
    struct session *session = req->session;
    const struct soma_command *command = &req->command;
    struct engine_piece piece;
    uint64_t base, block, requested;
    req->result.u.memory_bytes.data = (struct soma_buffer){NULL, 0};
    if (session->engine == NULL)
        return soma_fail(&req->error, SOMA_NO_SUCH_SESSION, "session", "the session has ended");
    req->status = engine_resolve(session->engine, command->device, command->ptr, command->size,
                                 &base, &block, &requested, &req->error);
    if (req->status == SOMA_OK) {
        engine_translate(session->engine, command->ptr, &piece);
        req->status = transfer_prepare(req, sends_snapshot && piece.bytes >= command->size);
    }
    if (req->status == SOMA_OK && req->snapshot == NULL)
        req->status = read_pieces(req);
    transfer_settle(req);
    return req->status;
}
