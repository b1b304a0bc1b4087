/* Commands over HTTP in the compact form, to a somad that is started here. Each is sent twice, as
 * after a lost connection: the second time nothing may run, and the answer must be the same. */
#include "batch.h"
#include "decode.h"
#include "http_client.h"
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX ((size_t)256 << 20)
enum { RECORDS_AT = 40, STATE_AT = 16 }; /* of an answer: the session's state, then the records */

struct batch_way {
    struct http_way *http;
    struct conformance_way commands; /* opens and closes the sessions */
    uint64_t sequence;
};

struct batch_way *batch_way_create(struct http_way *http)
{
    struct batch_way *way = calloc(1, sizeof(*way));
    if (way == NULL)
        abort();
    way->http = http;
    way->commands = http_way_commands(http);
    return way;
}

void batch_way_destroy(struct batch_way *way)
{
    free(way);
}

static bool way_begin(void *ctx, const cJSON *session)
{
    struct batch_way *way = ctx;
    way->sequence = 0;
    return way->commands.begin(way->commands.ctx, session);
}

static void way_end(void *ctx)
{
    struct batch_way *way = ctx;
    way->commands.end(way->commands.ctx);
}

/* ---- one step ---- */

static bool post(struct batch_way *way, const struct soma_writer *body, struct http_answer *answer)
{
    struct http_client *client = http_way_client(way->http);
    struct http_request request = {.method = "POST",
                                   .path = "/v1/commands",
                                   .content_type = SOMA_BATCH_TYPE,
                                   .body = body->ptr,
                                   .body_len = body->len};
    if (!http_send(client, &request, answer)) {
        printf("POST /v1/commands: %s\n", http_client_why(client));
        return false;
    }
    if (answer->status == 200 && strcmp(answer->content_type, SOMA_BATCH_TYPE) == 0 &&
        answer->body_len > RECORDS_AT)
        return true;
    printf("POST /v1/commands: status %ld, %s\n", answer->status, answer->content_type);
    http_answer_release(answer);
    return false;
}

/* Send once more; the session and the answer have to be as they were. */
static bool is_repeated(struct batch_way *way, const struct soma_writer *body,
                        const struct http_answer *first)
{
    struct http_answer again;
    if (!post(way, body, &again))
        return false;
    bool same =
        again.body_len == first->body_len &&
        memcmp(again.body + STATE_AT, first->body + STATE_AT, again.body_len - STATE_AT) == 0;
    if (!same)
        printf("sent again, the batch has another answer\n");
    http_answer_release(&again);
    return same;
}

static void release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static bool write_answer(const struct http_answer *answer, struct soma_writer *text)
{
    struct soma_batch_answer_reader reader;
    struct soma_result result;
    struct soma_error error;
    if (!soma_batch_open_answer(&reader, answer->body, answer->body_len) ||
        reader.answer.records != 1) {
        printf("the answer is no batch with one record\n");
        return false;
    }
    enum soma_status status = soma_batch_next_answer(&reader, &result, &error);
    if (reader.answer.completed != (status == SOMA_OK ? 1u : 0u) || reader.at != reader.end) {
        printf("completed is %u, or bytes are left over\n", reader.answer.completed);
        status = SOMA_MALFORMED_BATCH;
    }
    if (status == SOMA_OK) {
        wire_encode_result(text, &result);
        soma_result_clear(&result, release, NULL);
    } else {
        wire_encode_error(text, &error);
    }
    return status != SOMA_MALFORMED_BATCH;
}

static bool run_command(struct batch_way *way, const struct soma_command *command,
                        struct soma_writer *text)
{
    struct soma_batch_writer batch;
    struct soma_writer body;
    struct http_answer answer;
    soma_batch_writer_init(&batch, ANSWER_BYTES_MAX);
    soma_writer_init(&body, ANSWER_BYTES_MAX);
    bool good = soma_batch_add(&batch, command) &&
                soma_batch_finish(&batch, SOMA_BATCH_SEQUENCED, way->sequence++, &body) &&
                post(way, &body, &answer);
    if (good) {
        good = write_answer(&answer, text) && is_repeated(way, &body, &answer);
        http_answer_release(&answer);
    }
    soma_batch_writer_release(&batch);
    soma_writer_release(&body);
    return good;
}

static cJSON *way_send(void *ctx, const cJSON *step)
{
    struct soma_command command;
    struct soma_writer text;
    struct soma_error error;
    struct wire_arena arena;
    bool good = true;
    wire_arena_init(&arena);
    soma_writer_init(&text, ANSWER_BYTES_MAX);
    if (decode_step(step, &arena, &command, &error) == SOMA_OK)
        good = run_command(ctx, &command, &text);
    else
        wire_encode_error(&text, &error);
    cJSON *tree = good && !text.failed ? cJSON_ParseWithLength(text.ptr, text.len) : NULL;
    soma_writer_release(&text);
    wire_arena_release(&arena);
    return tree;
}

struct conformance_way batch_way_table(struct batch_way *way)
{
    return (struct conformance_way){
        .name = "batch",
        .ctx = way,
        .begin = way_begin,
        .send = way_send,
        .end = way_end,
    };
}
