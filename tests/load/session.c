/* The life of a session: opened, set up, used by all lanes, looked at, ended, checked. Whatever the
 * kinds think of goes through here: into HTTP, and back into the journal. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AUDIT_POOLS_MAX 24u
#define KEYED_THOUSANDTHS 20u
#define ASIDE_THOUSANDTHS 5u

static void release_any(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static void clear_result(struct soma_result *result)
{
    if (result->message != SOMA_MESSAGE_NONE)
        soma_result_clear(result, release_any, NULL);
    result->message = SOMA_MESSAGE_NONE;
}

static bool has_chance(struct load_session *session, uint32_t thousandths)
{
    return random_below(&session->random, 1000) < thousandths;
}

/* ---- begin and end ---- */

static void init_lane(struct load_request *request)
{
    if (request->commands == NULL) {
        request->commands = calloc(LOAD_COMMANDS_MAX, sizeof(*request->commands));
        soma_writer_init(&request->text, UINT64_C(1) << 28);
        soma_writer_init(&request->first, UINT64_C(1) << 28);
    }
    if (request->commands == NULL)
        abort();
    request->is_replay = false;
}

void load_session_begin(struct load_session *session, const struct load_kind *kind, uint64_t seed,
                        uint32_t lane_count, uint32_t command_limit)
{
    load_journal_clear(&session->journal);
    if (session->state != NULL)
        session->kind->end(session);
    session->state = NULL;
    session->kind = kind;
    session->seed = seed;
    session->random = (struct random_source){seed};
    session->id[0] = '\0';
    session->stage = LOAD_OPENING;
    session->lane_count = lane_count;
    session->busy_count = 0;
    session->command_count = 0;
    session->command_limit = command_limit;
    session->pool_count = 0;
    for (uint32_t i = 0; i < lane_count; i++)
        init_lane(&session->lanes[i]);
    kind->begin(session);
}

void load_session_release(struct load_session *session)
{
    load_journal_clear(&session->journal);
    if (session->state != NULL)
        session->kind->end(session);
    for (uint32_t i = 0; i < LOAD_LANES_MAX; i++) {
        free(session->lanes[i].commands);
        soma_writer_release(&session->lanes[i].text);
        soma_writer_release(&session->lanes[i].first);
    }
    free(session->journal.entries);
    free(session->pools);
    memset(session, 0, sizeof(*session));
}

/* ---- what is sent ---- */

static void make_opening(struct load_session *session, struct load_request *request)
{
    char body[128];
    int len = snprintf(body, sizeof(body), "{\"label\":\"%s\",\"devices\":%u,\"ttlSeconds\":600}",
                       session->kind->name, (unsigned)session->config.device_count);
    load_text_request(&request->text, "POST", "/v1/sessions", "", NULL, body, (size_t)len);
}

static void make_ending(const struct load_session *session, struct load_request *request)
{
    char path[LOAD_ID_BYTES + 32];
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", session->id);
    load_text_request(&request->text, "DELETE", path, "", NULL, NULL, 0);
}

static void add_command(struct load_request *request, enum soma_op op, uint64_t device,
                        uint64_t pool)
{
    struct soma_command *command = &request->commands[request->count++];
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, device);
    if (pool != 0)
        soma_command_set(command, SOMA_FIELD_pool, pool);
}

/* Everything that can be seen of a session, or of its pools when there are many. */
static void make_audit(const struct load_session *session, struct load_request *request)
{
    size_t first =
        session->pool_count > AUDIT_POOLS_MAX ? session->pool_count - AUDIT_POOLS_MAX : 0;
    for (uint64_t device = 0; device < session->config.device_count; device++) {
        add_command(request, SOMA_OP_DEVICE_GET, device, 0);
        add_command(request, SOMA_OP_POOL_LIST, device, 0);
        if (!session->kind->has_times)
            continue;
        add_command(request, SOMA_OP_STREAM_LIST, device, 0);
        add_command(request, SOMA_OP_EVENT_LIST, device, 0);
    }
    for (size_t i = first; i < session->pool_count; i++) {
        add_command(request, SOMA_OP_POOL_GET, session->pools[i].device, session->pools[i].pool);
        add_command(request, SOMA_OP_POOL_SEGMENTS, session->pools[i].device,
                    session->pools[i].pool);
        add_command(request, SOMA_OP_POOL_GET_ATTRIBUTES, session->pools[i].device,
                    session->pools[i].pool);
    }
}

/* The command that tells the session's clock: on the last device, which the kind leaves alone. */
static void add_stamp(const struct load_session *session, struct load_request *request)
{
    add_command(request, SOMA_OP_DEVICE_SYNCHRONIZE, session->config.device_count - 1, 0);
}

static void make_aside(struct load_session *session, struct load_request *request)
{
    static const char *const paths[] = {"/readyz",     "/livez",       "/metrics",
                                        "/v1/version", "/v1/sessions", "/v1/kernels"};
    const char *path = paths[random_below(&session->random, sizeof(paths) / sizeof(paths[0]))];
    request->is_aside = true;
    load_text_request(&request->text, "GET", path, "", NULL, NULL, 0);
}

static void put_commands(struct load_session *session, uint32_t lane, struct load_request *request)
{
    char key[32];
    request->is_batch = session->kind->is_batch || session->stage != LOAD_RUNNING;
    if (session->kind->is_batch)
        add_stamp(session, request);
    bool is_get =
        !request->is_batch && soma_op_info(request->commands[0].op)->method == SOMA_METHOD_GET;
    request->is_keyed = !is_get && has_chance(session, KEYED_THOUSANDTHS);
    (void)snprintf(key, sizeof(key), "%u-%" PRIx64, lane, random_next(&session->random) >> 16);
    session->command_count += request->count;
    if (request->is_batch)
        load_text_batch(&request->text, request->commands, request->count, session->id,
                        request->is_keyed ? key : NULL);
    else
        load_text_command(&request->text, &request->commands[0], session->id,
                          request->is_keyed ? key : NULL);
}

/* false: nothing to send in this stage. */
static bool make_request(struct load_session *session, uint32_t lane, struct load_request *request)
{
    request->count = 0;
    request->is_aside = false;
    request->is_keyed = false;
    if (session->stage == LOAD_RUNNING) {
        if (has_chance(session, ASIDE_THOUSANDTHS)) {
            make_aside(session, request);
            return true;
        }
        session->kind->next(session, lane, request);
    } else if (session->stage == LOAD_OPENING) {
        make_opening(session, request);
        return true;
    } else if (session->stage == LOAD_ENDING) {
        make_ending(session, request);
        return true;
    } else if (session->stage == LOAD_SETUP) {
        session->kind->setup(session, request);
    } else {
        make_audit(session, request);
    }
    if (request->count == 0)
        return false;
    put_commands(session, lane, request);
    return true;
}

bool load_session_next(struct load_session *session, uint32_t lane, bool is_late)
{
    struct load_request *request = &session->lanes[lane];
    if (request->is_replay) {
        session->busy_count++;
        return true;
    }
    if (session->stage == LOAD_RUNNING &&
        (is_late || session->command_count >= session->command_limit))
        session->stage = LOAD_SETTLING;
    if (session->stage == LOAD_SETTLING && session->busy_count == 0)
        session->stage = LOAD_AUDIT;
    if (session->stage == LOAD_SETTLING || session->stage == LOAD_OVER)
        return false;
    if (session->stage != LOAD_RUNNING && session->busy_count > 0)
        return false; /* one lane is at it */
    if (!make_request(session, lane, request)) {
        /* Nothing to set up. */
        session->stage = LOAD_RUNNING;
        if (!make_request(session, lane, request))
            return false;
    }
    session->busy_count++;
    return true;
}

/* ---- what comes back ---- */

static bool take_opening(struct load_session *session, const cJSON *tree)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(tree, "session");
    if (!cJSON_IsString(id) || strlen(id->valuestring) >= LOAD_ID_BYTES)
        return load_fail(session, "the answer to its opening has no id");
    (void)snprintf(session->id, sizeof(session->id), "%s", id->valuestring);
    session->stage = LOAD_SETUP;
    return true;
}

static bool take_ending(struct load_session *session, const cJSON *tree, struct load_totals *totals)
{
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    struct soma_error error;
    if (wire_decode_result(tree, SOMA_MESSAGE_SESSION_ENDED, &result, &error) != SOMA_OK)
        return load_fail(session, "the answer to its end: %s", error.message);
    bool good = load_journal_check(session, &result.u.session_ended);
    clear_result(&result);
    session->stage = LOAD_OVER;
    totals->sessions++;
    return good;
}

/* A pool that was made will be looked at in the end. */
static void note_pool(struct load_session *session, const struct soma_result *result)
{
    session->pools = realloc(session->pools, (session->pool_count + 1) * sizeof(*session->pools));
    if (session->pools == NULL)
        abort();
    session->pools[session->pool_count++] =
        (struct load_pool){result->u.pool_created.device, result->u.pool_created.pool};
}

static bool decode(const struct load_session *session, const cJSON *tree,
                   const struct soma_command *command, enum soma_status *status,
                   struct soma_result *result)
{
    struct soma_error error = {.status = SOMA_OK};
    int acl_error;
    *status = SOMA_OK;
    result->message = SOMA_MESSAGE_NONE;
    if (wire_decode_error(tree, &error, &acl_error)) {
        *status = error.status;
        return true;
    }
    enum soma_message message = (enum soma_message)soma_op_info(command->op)->result;
    if (message == SOMA_MESSAGE_NONE)
        return true;
    return wire_decode_result(tree, message, result, &error) == SOMA_OK ||
           load_fail(session, "the answer to %s: %s", soma_op_info(command->op)->name,
                     error.message);
}

static void note(struct load_session *session, uint32_t lane, uint32_t index, uint64_t order,
                 enum soma_status status, struct soma_result *result, struct load_totals *totals)
{
    const struct load_request *request = &session->lanes[lane];
    const struct soma_command *command = &request->commands[index];
    bool is_stamp = session->kind->is_batch && index + 1 == request->count;
    bool is_kinds = session->stage != LOAD_AUDIT && !is_stamp;
    if (status == SOMA_OK && command->op == SOMA_OP_POOL_CREATE)
        note_pool(session, result);
    if (is_kinds)
        session->kind->learn(session, lane, request->tokens[index], command, status, result);
    totals->commands++;
    totals->refused += status != SOMA_OK;
    load_journal_add(&session->journal, order, command, status, result);
}

/* Where the commands of this request stand among all. */
static uint64_t order_of(const struct load_session *session, uint32_t lane,
                         const struct soma_result *last)
{
    if (session->kind->is_batch)
        return last->u.synchronized.now_ns;
    if (session->stage == LOAD_SETUP)
        return 0;
    return session->stage == LOAD_AUDIT ? UINT64_MAX : lane + 1;
}

static bool take_batch(struct load_session *session, uint32_t lane, const cJSON *tree,
                       struct load_totals *totals)
{
    const struct load_request *request = &session->lanes[lane];
    static enum soma_status statuses[LOAD_COMMANDS_MAX];
    static struct soma_result results[LOAD_COMMANDS_MAX];
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(tree, "results");
    const cJSON *completed = cJSON_GetObjectItemCaseSensitive(tree, "completed");
    uint32_t count = 0, good_count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, items)
    {
        if (count == request->count ||
            !decode(session, item, &request->commands[count], &statuses[count], &results[count]))
            return load_fail(session, "result %u of a batch of %u is wrong", count, request->count);
        good_count += statuses[count] == SOMA_OK;
        count++;
    }
    if (count != request->count || !cJSON_IsNumber(completed) ||
        completed->valuedouble != (double)good_count)
        return load_fail(session, "%u results for %u commands", count, request->count);
    bool has_stamp = !session->kind->is_batch || statuses[count - 1] == SOMA_OK;
    if (!has_stamp)
        return load_fail(session, "an idle device did not synchronise: %s",
                         soma_status_reason(statuses[count - 1]));
    uint64_t order = order_of(session, lane, &results[count - 1]);
    for (uint32_t i = 0; i < count; i++)
        note(session, lane, i, order, statuses[i], &results[i], totals);
    return true;
}

/* Raw bytes come as they are. */
static void take_bytes(const struct raw_answer *answer, struct soma_result *result)
{
    unsigned char *copy = malloc(answer->body_len + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, answer->body, answer->body_len);
    result->message = SOMA_MESSAGE_MEMORY_BYTES;
    result->u.memory_bytes.data = (struct soma_buffer){copy, answer->body_len};
}

static bool take_single(struct load_session *session, uint32_t lane, const cJSON *tree,
                        const struct raw_answer *answer, struct load_totals *totals)
{
    const struct soma_command *command = &session->lanes[lane].commands[0];
    enum soma_status status = SOMA_OK;
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    if (command->op == SOMA_OP_MEMORY_READ && answer->status == 200)
        take_bytes(answer, &result);
    else if (!decode(session, tree, command, &status, &result))
        return false;
    int expected =
        status == SOMA_OK ? soma_op_info(command->op)->http : soma_status_info(status)->http;
    if (answer->status != expected)
        return load_fail(session, "%s: HTTP %d with %s", soma_op_info(command->op)->name,
                         answer->status, soma_status_reason(status));
    note(session, lane, 0, order_of(session, lane, &result), status, &result, totals);
    return true;
}

/* The stage that this answer to a batch of commands ends. */
static void advance(struct load_session *session, enum load_stage answered)
{
    if (answered == LOAD_SETUP)
        session->stage = LOAD_RUNNING;
    else if (answered == LOAD_AUDIT)
        session->stage = LOAD_ENDING;
}

static bool take_tree(struct load_session *session, uint32_t lane, const struct raw_answer *answer,
                      struct load_totals *totals)
{
    const struct load_request *request = &session->lanes[lane];
    cJSON *tree = answer->body_len == 0 ? cJSON_CreateObject()
                                        : cJSON_ParseWithLength(answer->body, answer->body_len);
    bool is_json =
        request->count == 1 && request->commands[0].op == SOMA_OP_MEMORY_READ ? true : tree != NULL;
    bool is_strict = request->count == 0 || request->is_batch;
    bool good = is_json && (!is_strict || answer->status / 100 == 2);
    if (!good)
        (void)load_fail(session, "answered %d: %.*s", answer->status,
                        (int)(answer->body_len < 300 ? answer->body_len : 300), answer->body);
    else if (session->stage == LOAD_OPENING)
        good = take_opening(session, tree);
    else if (session->stage == LOAD_ENDING)
        good = take_ending(session, tree, totals);
    else if (request->is_batch)
        good = take_batch(session, lane, tree, totals);
    else
        good = take_single(session, lane, tree, answer, totals);
    cJSON_Delete(tree);
    return good;
}

/* The second answer to a request with a key is the first one again. */
static bool take_replay(struct load_session *session, struct load_request *request,
                        const struct raw_answer *answer, struct load_totals *totals)
{
    totals->replays++;
    request->is_replay = false;
    return (answer->is_replay && answer->body_len == request->first.len &&
            (answer->body_len == 0 ||
             memcmp(answer->body, request->first.ptr, answer->body_len) == 0)) ||
           load_fail(session, "a replay is not the first answer: %d %.*s", answer->status,
                     (int)(answer->body_len < 300 ? answer->body_len : 300), answer->body);
}

bool load_session_take(struct load_session *session, uint32_t lane, const struct raw_answer *answer,
                       struct load_totals *totals)
{
    struct load_request *request = &session->lanes[lane];
    enum load_stage answered = session->stage;
    session->busy_count--;
    totals->requests++;
    if (request->is_replay)
        return take_replay(session, request, answer, totals);
    if (request->is_aside) {
        totals->asides++;
        return answer->status == 200 ||
               load_fail(session, "a look at the service: %d", answer->status);
    }
    if (!take_tree(session, lane, answer, totals))
        return false;
    if (request->is_keyed) {
        soma_writer_clear(&request->first);
        soma_writer_raw(&request->first, answer->body, answer->body_len);
        request->is_replay = true;
    }
    advance(session, answered);
    return true;
}
