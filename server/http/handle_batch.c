/* POST /v1/commands in the compact form (api/soma/batch.h): the same commands under the same lock,
 * without JSON, and each sequence number once, whatever a client re-sends. */
#include "handle_batch.h"

#include "metrics.h"
#include "reply.h"
#include "sessions.h"

#include <inttypes.h>
#include <string.h>

/* ---- prepare ---- */

bool batch_prepare(struct request *req)
{
    struct batch *batch = &req->batch;
    enum soma_status status =
        soma_batch_open(&batch->reader, req->body, req->body_len, &req->error);
    if (status != SOMA_OK) {
        reply_error(req, &req->error);
        return false;
    }
    batch->goes_on = (batch->reader.header.flags & SOMA_BATCH_CONTINUE) != 0;
    soma_batch_begin_answer(&batch->writer);
    req->is_slow = req->body_len >= SLOW_BODY_BYTES;
    return true;
}

/* ---- execute ---- */

/* A sequenced batch goes on where the session is: how many of its commands have run already. */
static enum soma_status skip_of(const struct request *req, uint64_t *skip, struct soma_error *error)
{
    const struct soma_batch_header *header = &req->batch.reader.header;
    uint64_t next = req->session->next_sequence;
    *skip = 0;
    if ((header->flags & SOMA_BATCH_SEQUENCED) == 0)
        return SOMA_OK;
    if (next >= header->sequence && next - header->sequence <= header->count) {
        *skip = next - header->sequence;
        return SOMA_OK;
    }
    return soma_fail(error, SOMA_SEQUENCE_GAP, "sequence",
                     "the batch has the commands %" PRIu64 " to %" PRIu64 " of its client, and the "
                     "session has run %" PRIu64
                     ": a batch was lost, or came twice with another content",
                     header->sequence, header->sequence + header->count, next);
}

static void append_outcome(struct request *req)
{
    struct batch *batch = &req->batch;
    bool is_quiet = (batch->reader.header.flags & SOMA_BATCH_QUIET) != 0;
    batch->count++;
    if (req->status == SOMA_OK) {
        batch->completed++;
        if (!is_quiet) {
            soma_batch_put_result(&batch->writer, &req->result);
            batch->records++;
        }
        session_result_clear(&req->result);
        return;
    }
    req->answer.status = req->status;
    if (is_quiet && batch->records > 0)
        return;
    soma_batch_put_error(&batch->writer, &req->error);
    batch->records++;
}

/* Find where to begin; once. false: the batch is refused. */
static bool begin(struct request *req)
{
    struct batch *batch = &req->batch;
    if (batch->has_begun)
        return true;
    batch->has_begun = true;
    req->status = skip_of(req, &batch->skip, &req->error);
    if (req->status == SOMA_OK)
        return true;
    append_outcome(req);
    return false;
}

/* One command is over, well or not: it has its sequence number, so that a re-sent batch agrees. */
static void count_sequence(struct request *req)
{
    if ((req->batch.reader.header.flags & SOMA_BATCH_SEQUENCED) != 0)
        req->session->next_sequence++;
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

static enum step run(struct request *req)
{
    struct batch *batch = &req->batch;
    struct soma_batch_reader *reader = &batch->reader;
    if (!begin(req))
        return STEP_DONE;
    while (reader->taken < reader->header.count || req->has_outcome) {
        bool is_broken = false; /* nothing behind this can be read */
        if (!req->has_outcome) {
            req->status = soma_batch_next(reader, &req->arena, &req->command, &req->error);
            is_broken = req->status == SOMA_MALFORMED_BATCH || req->status == SOMA_OUT_OF_MEMORY;
            if (!is_broken && batch->skip > 0) {
                batch->skip--;
                continue;
            }
            if (req->status == SOMA_OK)
                req->status = session_apply(req->session, &req->command, &req->result, &req->error);
            if (req->status == SOMA_MUST_WAIT)
                return STEP_WAIT;
        }
        req->has_outcome = false;
        req->wait.deadline_ns = 0;
        bool is_cut = req->status == SOMA_CLIENT_GONE || req->status == SOMA_DRAINING;
        if (!is_cut)
            count_sequence(req);
        append_outcome(req);
        req->is_abandoned = is_cut && batch->completed == 0;
        if (is_cut || is_broken || batch->writer.failed ||
            (req->status != SOMA_OK && !batch->goes_on))
            break;
    }
    return STEP_DONE;
}

enum step batch_execute(struct request *req)
{
    enum step step = run(req);
    if (step == STEP_DONE)
        look(req);
    return step;
}

/* ---- finish ---- */

void batch_finish(struct request *req)
{
    struct batch *batch = &req->batch;
    enum soma_status last_error = req->answer.status;
    soma_batch_end_answer(&batch->writer, &batch->outcome);
    metrics_count_batch(req->conn->server->metrics, req->conn->shard, batch->count);
    reply_writer(req, 200, SOMA_BATCH_TYPE, &batch->writer);
    if (req->answer.status == SOMA_OK)
        req->answer.status = last_error; /* for the metrics */
}
