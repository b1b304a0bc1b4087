/* POST /v1/commands: many commands, one after the other, under one hold of the session's lock. A
 * command that has to wait gives the lock back; the batch goes on behind it when it is over. */
#include "handlers.h"

#include "handle_batch.h"
#include "headers.h"
#include "input.h"
#include "metrics.h"
#include "reply.h"
#include "router.h"
#include "sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- prepare ---- */

static enum soma_status read_on_error(struct request *req, const struct wire_value *item)
{
    req->batch.goes_on = wire_is_word(item, "continue");
    if (req->batch.goes_on || wire_is_word(item, "stop"))
        return SOMA_OK;
    return soma_fail(&req->error, item->type == WIRE_STRING ? SOMA_INVALID_VALUE : SOMA_WRONG_TYPE,
                     "onError", "onError: use \"stop\" or \"continue\"");
}

static enum soma_status refuse_member(struct request *req, const struct wire_value *item)
{
    char field[SOMA_FIELD_BYTES];
    (void)snprintf(field, sizeof(field), "%.*s", (int)item->key_len, item->key);
    return soma_fail(&req->error, SOMA_UNKNOWN_FIELD, field,
                     "POST /v1/commands has the fields commands and onError");
}

static enum soma_status read_body(struct request *req)
{
    const struct wire_value *commands = NULL;
    enum soma_status status = input_read(req);
    if (status != SOMA_OK)
        return status;
    const struct wire_value *body = req->tree.values;
    if (body->type != WIRE_OBJECT)
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "", "the body must be an object");
    const struct wire_value *item = wire_first(body);
    for (; item < wire_next(body) && status == SOMA_OK; item = wire_next(item)) {
        if (wire_is_key(item, "commands"))
            commands = item;
        else if (wire_is_key(item, "onError"))
            status = read_on_error(req, item);
        else
            status = refuse_member(req, item);
    }
    if (status != SOMA_OK)
        return status;
    if (commands == NULL)
        return soma_fail(&req->error, SOMA_MISSING_FIELD, "commands",
                         "POST /v1/commands needs the field \"commands\", an array of commands");
    if (commands->type != WIRE_ARRAY)
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "commands",
                         "commands: an array of commands is needed");
    req->batch.next = wire_first(commands);
    req->batch.end = wire_next(commands);
    return SOMA_OK;
}

/* Bytes that a command moves, as far as it says so. */
static double moved_bytes(const struct wire_value *element)
{
    const struct wire_value *size = wire_member(element, "size");
    if (size == NULL || (size->type != WIRE_NUMBER && size->type != WIRE_STRING))
        return 0;
    if (size->type == WIRE_STRING)
        return (double)SLOW_BYTES;                 /* "1GiB" or so */
    return (double)strtoull(size->text, NULL, 10); /* ends at the comma or brace behind it */
}

/* Whether the batch holds work that other connections of the thread would notice. */
static bool is_slow(const struct request *req)
{
    double moved = 0;
    const struct wire_value *element = req->batch.next;
    if (req->body_len >= SLOW_BODY_BYTES)
        return true;
    for (; element < req->batch.end && moved < (double)SLOW_BYTES; element = wire_next(element)) {
        const struct wire_value *op =
            element->type == WIRE_OBJECT ? wire_member(element, "op") : NULL;
        if (op == NULL || op->type != WIRE_STRING)
            continue;
        if (wire_is_word(op, "stream.launchKernel") || wire_is_word(op, "pool.segments") ||
            wire_is_word(op, "device.reset"))
            return true;
        if (op->len > 7 && memcmp(op->text, "memory.", 7) == 0 &&
            !wire_is_word(op, "memory.malloc"))
            moved += moved_bytes(element);
    }
    return moved >= (double)SLOW_BYTES;
}

static bool prepare(struct request *req)
{
    struct batch *batch = &req->batch;
    memset(batch, 0, sizeof(*batch));
    wire_names_init(&batch->names);
    soma_writer_init(&batch->writer, SOMA_ANSWER_BYTES_MAX);
    req->is_batch = true;
    batch->is_compact =
        req->content_type.ptr != NULL && headers_is_type(req->content_type, SOMA_BATCH_TYPE);
    enum soma_status status = input_read_target(req);
    if (status == SOMA_OK && batch->is_compact)
        return batch_prepare(req);
    if (status == SOMA_OK)
        status = read_body(req);
    if (status != SOMA_OK) {
        reply_error(req, &req->error);
        return false;
    }
    soma_writer_text(&batch->writer, "{\"results\":[");
    req->is_slow = is_slow(req);
    return true;
}

/* ---- execute ---- */

static enum soma_status read_op(struct request *req, const struct wire_value *element,
                                const struct soma_op_info **op)
{
    if (element->type != WIRE_OBJECT)
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "commands",
                         "a command is an object with the field \"op\"");
    const struct wire_value *name = wire_member(element, "op");
    if (name == NULL)
        return soma_fail(&req->error, SOMA_MISSING_FIELD, "op",
                         "a command needs the field \"op\", such as \"pool.malloc\"");
    if (name->type != WIRE_STRING)
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "op", "op: a string is needed");
    *op = router_op(req->conn->server->router, name->text, name->len);
    if (*op == NULL)
        return soma_fail(&req->error, SOMA_UNKNOWN_OP, "op", "no command is named \"%.*s\"",
                         (int)(name->len < 64 ? name->len : 64), name->text);
    return SOMA_OK;
}

/* Refused before it runs: an answer that cannot be sent would hide what the others did. */
static enum soma_status check_read(struct request *req)
{
    char text[32];
    uint64_t size = req->command.size;
    if (size > SOMA_JSON_BODY_BYTES_MAX)
        return soma_fail(&req->error, SOMA_VALUE_OUT_OF_RANGE, "size",
                         "size: memory.read gives at most %s in base64; read in parts, or raw "
                         "with GET",
                         soma_bytes_text(text, SOMA_JSON_BODY_BYTES_MAX));
    return batch_check_room(req, (size + 2) / 3 * 4);
}

static enum soma_status read_command(struct request *req, const struct wire_value *element)
{
    const struct soma_op_info *op;
    enum soma_status status = read_op(req, element, &op);
    if (status != SOMA_OK)
        return status;
    soma_command_init(&req->command, op->op);
    status = wire_decode_command(element, true, &req->batch.names, &req->arena, &req->command,
                                 &req->error);
    if (status == SOMA_OK && op->op == SOMA_OP_MEMORY_READ)
        status = check_read(req);
    /* Room for its name: there must be no want of memory behind a command that has run. */
    if (status == SOMA_OK && wire_member(element, "as") != NULL)
        status = wire_names_reserve(&req->batch.names, 1, &req->error);
    return status == SOMA_OK ? batch_check_room(req, 0) : status;
}

/* What the command creates gets the name that "as" gives it. */
static void keep_name(struct request *req, const struct wire_value *element)
{
    uint64_t value;
    const struct wire_value *as = wire_member(element, "as");
    if (as != NULL && wire_created_value(req->command.op, &req->result, &value))
        (void)!wire_names_put(&req->batch.names, as->text, as->len, value, NULL);
}

static void append_outcome(struct request *req, const struct wire_value *element)
{
    struct batch *batch = &req->batch;
    if (batch->count++ > 0)
        soma_writer_raw(&batch->writer, ",", 1);
    if (req->status == SOMA_OK) {
        batch->completed++;
        keep_name(req, element);
        wire_encode_result(&batch->writer, &req->result);
        session_result_clear(&req->result);
    } else {
        wire_encode_error(&batch->writer, &req->error);
        metrics_count_error(req->conn->server->metrics, req->conn->shard, req->status);
    }
}

/* The connection ended at a wait that was over: nothing behind it is run, and whoever sends the key
 * again hears so. */
static void append_cut(struct request *req)
{
    req->status = soma_fail(&req->error, SOMA_CLIENT_GONE, "",
                            "the client closed its connection while the request waited: this "
                            "command and those behind it were not run");
    append_outcome(req, NULL);
}

static enum step execute(struct request *req)
{
    struct batch *batch = &req->batch;
    if (batch->is_compact)
        return batch_execute(req);
    while (batch->next < batch->end) {
        const struct wire_value *element = batch->next;
        if (!req->has_outcome) {
            req->status = read_command(req, element);
            if (req->status == SOMA_OK)
                req->status = session_apply(req->session, &req->command, &req->result, &req->error);
            if (req->status == SOMA_MUST_WAIT)
                return STEP_WAIT;
        }
        req->has_outcome = false;
        req->wait.deadline_ns = 0;
        append_outcome(req, element);
        bool is_cut = req->status == SOMA_CLIENT_GONE || req->status == SOMA_DRAINING;
        bool stops = req->status != SOMA_OK && (is_cut || !batch->goes_on);
        stops =
            stops || req->is_cut || batch->writer.failed || req->status == SOMA_CONTENT_TOO_LARGE;
        batch->next = stops ? batch->end : wire_next(element);
        req->is_abandoned = is_cut && batch->completed == 0;
        if (req->is_cut && req->status == SOMA_OK && wire_next(element) < batch->end)
            append_cut(req);
    }
    return STEP_DONE;
}

/* ---- finish ---- */

static void finish(struct request *req)
{
    struct batch *batch = &req->batch;
    if (batch->is_compact) {
        batch_finish(req);
        return;
    }
    soma_writer_text(&batch->writer, "],\"completed\":");
    soma_writer_u64(&batch->writer, batch->completed);
    soma_writer_text(&batch->writer, "}");
    metrics_count_batch(req->conn->server->metrics, req->conn->shard, batch->count);
    reply_writer(req, 200, "application/json", &batch->writer);
}

const struct handler handler_commands = {prepare, execute, finish};
