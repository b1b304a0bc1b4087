/* POST /v1/commands in the compact form (api/soma/batch.h): the same commands under the same lock,
 * without JSON, and each sequence number once, whatever a client re-sends. */
#include "handle_batch.h"

#include "transfer.h"
#include "metrics.h"
#include "reply.h"
#include "sessions.h"
#include "waiters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_FAILURES_BYTES ((size_t)4 << 20) /* of one batch, for when it is sent again */
#define KEPT_ANSWER_BYTES ((size_t)1 << 16)   /* of one command, likewise */

static bool has_flag(const struct batch *batch, uint32_t flag)
{
    return (batch->reader.header.flags & flag) != 0;
}

static bool is_quiet(const struct batch *batch)
{
    return has_flag(batch, SOMA_BATCH_QUIET);
}

/* ---- prepare ---- */

/* Whether all that it moves is a write at its end, which takes no time. */
static bool is_quick(struct request *req)
{
    struct soma_batch_reader reader = req->batch.reader;
    struct soma_command command = {.op = SOMA_OP_COUNT};
    if (req->pages.map == NULL)
        return false;
    while (reader.taken < reader.header.count) {
        if (soma_batch_next(&reader, &req->arena, &command, NULL) != SOMA_OK)
            return false;
    }
    return transfer_is_quick(req, &command);
}

bool batch_prepare(struct request *req)
{
    struct batch *batch = &req->batch;
    enum soma_status status =
        soma_batch_open(&batch->reader, req->body, req->body_len, &req->error);
    if (status != SOMA_OK) {
        reply_error(req, &req->error);
        return false;
    }
    batch->goes_on = has_flag(batch, SOMA_BATCH_CONTINUE);
    soma_batch_begin_answer(&batch->writer);
    /* What is answered may be a kernel's launch or a large read. */
    req->is_slow = !is_quiet(batch) || has_flag(batch, SOMA_BATCH_KERNELS) ||
                   soma_batch_moves(&batch->reader, SLOW_BYTES) ||
                   (req->body_len >= SLOW_BODY_BYTES && !is_quick(req));
    return true;
}

/* ---- execute ---- */

enum soma_status batch_check_room(struct request *req, uint64_t more)
{
    uint64_t max = req->conn->server->commands_answer_bytes;
    const struct batch *batch = &req->batch;
    char text[32];
    /* The compact answer to one read is bounded by transfer_prepare alone. */
    bool is_first = batch->is_compact && batch->records == 0;
    if (is_first || batch->writer.len + more <= max)
        return SOMA_OK;
    return soma_fail(&req->error, SOMA_CONTENT_TOO_LARGE, "commands",
                     "the answer to one request holds at most %s: this command and those behind "
                     "it were not run; send them in another request, or read raw with GET",
                     soma_bytes_text(text, max));
}

/* Whether the batch can go on where the session is; only of a sequenced one. */
static enum soma_status check_sequence(const struct request *req, struct soma_error *error)
{
    const struct soma_batch_header *header = &req->batch.reader.header;
    uint64_t next = req->session->next_sequence;
    if (next >= header->sequence && next - header->sequence <= header->count)
        return SOMA_OK;
    return soma_fail(error, SOMA_SEQUENCE_GAP, "sequence",
                     "the batch has the commands %" PRIu64 " to %" PRIu64 " of its client, and the "
                     "session has run %" PRIu64
                     ": a batch was lost, or came twice with another content",
                     header->sequence, header->sequence + header->count, next);
}

/* Keep the answer to the last command of an asking batch: the client may never get it. */
static void keep_answer(struct request *req, size_t start)
{
    struct soma_writer *kept = &req->session->kept_answer;
    const struct soma_writer *writer = &req->batch.writer;
    soma_writer_release(kept);
    soma_writer_init(kept, KEPT_ANSWER_BYTES);
    if (!writer->failed && req->snapshot == NULL && writer->len - start <= KEPT_ANSWER_BYTES)
        soma_writer_raw(kept, writer->ptr + start, writer->len - start);
    req->session->kept_sequence = req->session->next_sequence;
}

/* Keep the record of a kernel that failed, from `start` of the answer on. */
static void keep_failure(struct request *req, size_t start)
{
    struct session *session = req->session;
    const struct soma_writer *writer = &req->batch.writer;
    if (writer->failed)
        return;
    soma_writer_raw(&session->kept_failures, writer->ptr + start, writer->len - start);
    session->failure_records++;
}

/* A sequenced quiet batch begins: tell again which kernels failed in it when it was sent before;
 * else nothing is known of it yet. */
static void begin_failures(struct request *req)
{
    struct session *session = req->session;
    struct batch *batch = &req->batch;
    uint64_t first = batch->reader.header.sequence;
    if (!is_quiet(batch) || !has_flag(batch, SOMA_BATCH_SEQUENCED))
        return;
    if (session->failures_sequence != first || session->next_sequence == first) {
        soma_writer_release(&session->kept_failures);
        soma_writer_init(&session->kept_failures, KEPT_FAILURES_BYTES);
        session->failures_sequence = first;
        session->failure_records = 0;
    } else if (session->failure_records > 0 && !session->kept_failures.failed) {
        soma_writer_raw(&batch->writer, session->kept_failures.ptr, session->kept_failures.len);
        batch->records += session->failure_records;
    }
}

/* Whether what became of req->command is answered. */
static bool is_told(struct request *req)
{
    struct batch *batch = &req->batch;
    if (!is_quiet(batch) || soma_is_kernel_failure(req->status))
        return true;
    bool is_first = req->status != SOMA_OK && !batch->has_error;
    batch->has_error = batch->has_error || is_first;
    return is_first;
}

/* Write what became of req->command, as far as it is answered. */
static void put_outcome(struct request *req)
{
    struct batch *batch = &req->batch;
    bool is_good = req->status == SOMA_OK;
    size_t start = batch->writer.len;
    if (is_told(req)) {
        if (is_good && req->snapshot != NULL)
            soma_batch_put_bytes_head(&batch->writer, req->command.size);
        else if (is_good)
            soma_batch_put_result(&batch->writer, &req->result);
        else
            soma_batch_put_error(&batch->writer, &req->error,
                                 batch->reader.taken > 0 ? batch->reader.taken - 1 : 0);
        batch->records++;
        if (is_quiet(batch) && soma_is_kernel_failure(req->status))
            keep_failure(req, start);
    }
    if (is_good)
        session_result_clear(&req->result);
}

static void append_outcome(struct request *req)
{
    struct batch *batch = &req->batch;
    batch->count++;
    batch->completed += req->status == SOMA_OK ? 1 : 0;
    if (req->status != SOMA_OK)
        metrics_count_error(req->conn->server->metrics, req->conn->shard, req->status);
    put_outcome(req);
}

/* Whether what the command reads can be the end of the answer. */
static bool can_end_answer(const struct request *req)
{
    const struct batch *batch = &req->batch;
    return !is_quiet(batch) && batch->records == 0 && req->entry == NULL &&
           batch->reader.taken == batch->reader.header.count;
}

/* The command has run already. The last one of an asking batch is answered again. */
static void answer_again(struct request *req)
{
    struct batch *batch = &req->batch;
    struct session *session = req->session;
    const struct soma_writer *kept = &session->kept_answer;
    if (is_quiet(batch) || session->kept_sequence != session->next_sequence ||
        batch->reader.header.sequence + batch->reader.taken != session->next_sequence)
        return;
    if (kept->len > 0) {
        soma_writer_raw(&batch->writer, kept->ptr, kept->len);
        batch->records++;
        return;
    }
    req->status = req->command.op == SOMA_OP_MEMORY_READ
                      ? transfer_read_again(req, can_end_answer(req))
                      : soma_fail(&req->error, SOMA_SEQUENCE_GAP, "sequence",
                                  "the answer to this command was too large to keep");
    put_outcome(req);
}

/* The session as it stands behind the batch; with its lock held, at the end of execute. */
static void look(struct request *req)
{
    struct batch *batch = &req->batch;
    const struct session *session = req->session;
    batch->outcome = (struct soma_batch_answer){
        .records = batch->records,
        .completed = (uint32_t)batch->completed,
        .next_sequence = session->next_sequence,
        .digest = session->engine != NULL ? engine_digest(session->engine) : 0,
        .now_ns = session->engine != NULL ? engine_now_ns(session->engine) : 0,
    };
}

/* Whether the session has run the next command of the batch before: it was sent again. */
static bool is_run_already(const struct request *req)
{
    const struct soma_batch_reader *reader = &req->batch.reader;
    return has_flag(&req->batch, SOMA_BATCH_SEQUENCED) &&
           reader->header.sequence + reader->taken < req->session->next_sequence;
}

/* Read and run the next command. false: it had run before. */
static bool run_next(struct request *req, bool *is_broken)
{
    struct batch *batch = &req->batch;
    bool is_repeated = is_run_already(req);
    req->status = soma_batch_next(&batch->reader, &req->arena, &req->command, &req->error);
    *is_broken = req->status == SOMA_MALFORMED_BATCH || req->status == SOMA_OUT_OF_MEMORY;
    if (is_repeated && !*is_broken) {
        answer_again(req);
        return false;
    }
    if (req->status == SOMA_OK)
        req->status = transfer_prepare(req, can_end_answer(req));
    if (req->status == SOMA_OK && !is_quiet(batch)) {
        bool is_read = req->command.op == SOMA_OP_MEMORY_READ;
        req->status = batch_check_room(req, is_read ? req->command.size : 0);
        *is_broken = req->status != SOMA_OK;
    }
    if (req->status == SOMA_OK)
        req->status = session_apply(req->session, &req->command, &req->result, &req->error);
    transfer_settle(req);
    return true;
}

/* One command is over, well or not: it has its sequence number, so that a re-sent batch agrees.
 * Whether the batch goes on. */
static bool end_command(struct request *req, bool is_broken)
{
    struct batch *batch = &req->batch;
    bool is_cut = req->status == SOMA_CLIENT_GONE || req->status == SOMA_DRAINING;
    bool is_good = req->status == SOMA_OK;
    req->has_outcome = false;
    req->wait.deadline_ns = 0;
    bool is_counted = has_flag(batch, SOMA_BATCH_SEQUENCED) && !is_cut && !is_broken;
    size_t start = batch->writer.len;
    req->session->next_sequence += is_counted ? 1 : 0;
    append_outcome(req);
    if (is_counted && !is_quiet(batch))
        keep_answer(req, start);
    req->is_abandoned = is_cut && batch->completed == 0;
    return !is_cut && !is_broken && !req->is_cut && !batch->writer.failed &&
           (is_good || batch->goes_on);
}

/* The client sends a batch while an earlier one waits for a command, or has not yet gone on behind
 * it: it can only be the same one again. The earlier one ends there, so that the command is run and
 * counted once. */
static void supersede(struct session *session)
{
    struct request *earlier = session->waiting_batch;
    if (earlier == NULL)
        return;
    bool waits = !earlier->has_outcome;
    if (waits)
        earlier->status = soma_fail(&earlier->error, SOMA_CLIENT_GONE, "",
                                    "the client sent the batch again while it waited");
    (void)end_command(earlier, false);
    earlier->batch.is_superseded = true;
    session->waiting_batch = NULL;
    if (waits)
        waiters_end(session, earlier);
}

static enum step run(struct request *req)
{
    struct batch *batch = &req->batch;
    const struct soma_batch_reader *reader = &batch->reader;
    if (batch->is_superseded)
        return STEP_DONE;
    if (has_flag(batch, SOMA_BATCH_SEQUENCED) && !batch->has_begun)
        supersede(req->session);
    if (!batch->has_begun && has_flag(batch, SOMA_BATCH_SEQUENCED)) {
        req->status = check_sequence(req, &req->error);
        if (req->status != SOMA_OK) {
            append_outcome(req);
            return STEP_DONE;
        }
    }
    if (!batch->has_begun)
        begin_failures(req);
    batch->has_begun = true;
    while (reader->taken < reader->header.count || req->has_outcome) {
        bool is_broken = false; /* nothing behind this can be read */
        if (!req->has_outcome && !run_next(req, &is_broken))
            continue;
        if (req->status == SOMA_MUST_WAIT)
            return STEP_WAIT;
        if (!end_command(req, is_broken))
            break;
    }
    return STEP_DONE;
}

enum step batch_execute(struct request *req)
{
    struct session *session = req->session;
    enum step step = run(req);
    if (step == STEP_WAIT && has_flag(&req->batch, SOMA_BATCH_SEQUENCED))
        session->waiting_batch = req;
    else if (session->waiting_batch == req)
        session->waiting_batch = NULL;
    if (step == STEP_DONE)
        look(req);
    return step;
}

/* ---- finish ---- */

void batch_finish(struct request *req)
{
    struct batch *batch = &req->batch;
    soma_batch_end_answer(&batch->writer, &batch->outcome);
    metrics_count_batch(req->conn->server->metrics, req->conn->shard, batch->count);
    reply_writer(req, 200, SOMA_BATCH_TYPE, &batch->writer);
    if (req->snapshot != NULL && req->answer.http == 200)
        reply_snapshot(req, SOMA_BATCH_BYTES_LEN(req->command.size) - SOMA_BATCH_BYTES_AT);
}
