/* Sessions: open, list, describe, extend, end. */
#include "handlers.h"

#include "input.h"
#include "reply.h"
#include "sessions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool fail(struct request *req)
{
    reply_error(req, &req->error);
    return false;
}

/* ---- POST /v1/sessions ---- */

static enum soma_status wrong_type(struct request *req, const char *field, const char *needed)
{
    return soma_fail(&req->error, SOMA_WRONG_TYPE, field, "%s: %s is needed", field, needed);
}

/* A number token, which the parser has found to be exact, or a string of decimal digits. */
static enum soma_status read_number(struct request *req, const cJSON *item, uint64_t min,
                                    uint64_t max, uint64_t *number)
{
    const char *field = item->string;
    bool good = false;
    uint64_t value = 0;
    if (cJSON_IsNumber(item)) {
        good = item->valuedouble >= 0;
        value = good ? (uint64_t)item->valuedouble : 0;
    } else if (cJSON_IsString(item)) {
        const char *text = item->valuestring;
        size_t len = strlen(text);
        good = len > 0 && len < 20 && strspn(text, "0123456789") == len &&
               (text[0] != '0' || len == 1);
        value = good ? strtoull(text, NULL, 10) : 0;
        if (!good)
            return soma_fail(&req->error, SOMA_INVALID_VALUE, field,
                             "%s: write decimal digits without sign, spaces or leading zeros",
                             field);
    } else {
        return wrong_type(req, field, "a number or a string of digits");
    }
    if (!good || value < min || value > max)
        return soma_fail(&req->error, SOMA_VALUE_OUT_OF_RANGE, field,
                         "%s: it lies in %" PRIu64 "..%" PRIu64, field, min, max);
    *number = value;
    return SOMA_OK;
}

static enum soma_status read_label(struct request *req, const cJSON *item,
                                   struct session_options *options)
{
    if (!cJSON_IsString(item))
        return wrong_type(req, "label", "a string");
    options->label = (struct soma_text){item->valuestring, strlen(item->valuestring)};
    if (options->label.len > SOMA_LABEL_BYTES_MAX)
        return soma_fail(&req->error, SOMA_VALUE_OUT_OF_RANGE, "label",
                         "label: %zu bytes; it may have %u", options->label.len,
                         SOMA_LABEL_BYTES_MAX);
    return SOMA_OK;
}

static enum soma_status read_soc(struct request *req, const cJSON *item,
                                 struct session_options *options)
{
    if (!cJSON_IsString(item))
        return wrong_type(req, "soc", "a string");
    options->soc = soma_soc_find(item->valuestring, strlen(item->valuestring));
    if (options->soc == NULL)
        return soma_fail(&req->error, SOMA_UNKNOWN_SOC, "soc",
                         "soc: no SoC is named \"%.64s\"; such as Ascend910B1", item->valuestring);
    return SOMA_OK;
}

static enum soma_status read_clock(struct request *req, const cJSON *item,
                                   struct session_options *options)
{
    int clock;
    if (!cJSON_IsString(item))
        return wrong_type(req, "clock", "a string");
    if (!soma_value_of(SOMA_GROUP_clock, item->valuestring, strlen(item->valuestring), &clock))
        return soma_fail(&req->error, SOMA_INVALID_VALUE, "clock",
                         "clock: use \"virtual\" or \"wall\"");
    options->clock = (enum soma_clock)clock;
    return SOMA_OK;
}

static enum soma_status read_option(struct request *req, const cJSON *item,
                                    struct session_options *options)
{
    const char *field = item->string;
    if (strcmp(field, "label") == 0)
        return read_label(req, item, options);
    if (strcmp(field, "soc") == 0)
        return read_soc(req, item, options);
    if (strcmp(field, "clock") == 0)
        return read_clock(req, item, options);
    if (strcmp(field, "ttlSeconds") == 0)
        return read_number(req, item, 1, SOMA_SESSION_TTL_SECONDS_MAX, &options->ttl_seconds);
    if (strcmp(field, "devices") == 0) {
        uint64_t count = 0;
        enum soma_status status = read_number(req, item, 1, SOMA_DEVICES_MAX, &count);
        options->device_count = status == SOMA_OK ? (uint32_t)count : 0;
        return status;
    }
    return soma_fail(&req->error, SOMA_UNKNOWN_FIELD, field,
                     "POST /v1/sessions has no field \"%.64s\"; it has label, ttlSeconds, devices, "
                     "soc, clock",
                     field);
}

static enum soma_status read_options(struct request *req, struct session_options *options)
{
    enum soma_status status = input_read_target(req);
    if (status == SOMA_OK)
        status = input_parse(req);
    if (status != SOMA_OK)
        return status;
    if (!cJSON_IsObject(req->root))
        return soma_fail(&req->error, SOMA_WRONG_TYPE, "", "the body must be an object");
    for (const cJSON *item = req->root->child; item != NULL && status == SOMA_OK; item = item->next)
        status = read_option(req, item, options);
    return status;
}

static bool create(struct request *req)
{
    struct soma_server *server = req->conn->server;
    struct session_options options = {.label = {"", 0},
                                      .ttl_seconds = server->session_ttl_seconds,
                                      .device_count = server->devices,
                                      .soc = server->soc,
                                      .clock = SOMA_CLOCK_VIRTUAL};
    struct session *session;
    char shown[SESSION_ID_SHOWN_BYTES];
    enum soma_status status = read_options(req, &options);
    if (status == SOMA_OK && atomic_load(&server->is_draining))
        status = soma_fail(&req->error, SOMA_DRAINING, "",
                           "the server is going down and takes no new sessions");
    if (status == SOMA_OK)
        status = sessions_open(server->sessions, &options, &session, &req->error);
    if (status != SOMA_OK)
        return fail(req);
    struct soma_session_created created = {.session = session->id,
                                           .ttl_seconds = session->ttl_seconds,
                                           .devices = session->device_count,
                                           .soc = options.soc->name};
    LOG(&server->log, LOG_LEVEL_INFO, "session_opened",
        LOG_TEXT("session", session_shown(session, shown)), LOG_TEXT("label", session->label),
        LOG_NUMBER("ttlSeconds", session->ttl_seconds),
        LOG_NUMBER("devices", session->device_count));
    reply_message(req, 201, SOMA_MESSAGE_SESSION_CREATED, &created);
    session_unreference(session);
    return false;
}

/* ---- GET ---- */

static uint64_t seconds_since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? (now_ns - then_ns) / UINT64_C(1000000000) : 0;
}

static struct soma_session describe(struct session *session)
{
    struct session_snapshot snapshot;
    uint64_t now_ns = monotonic_ns();
    session_look(session, &snapshot);
    return (struct soma_session){
        .session = session->id,
        .label = session->label,
        .clock = (int)session->clock,
        .age_seconds = seconds_since(session->start_ns, now_ns),
        .idle_seconds = seconds_since(atomic_load(&session->last_used_ns), now_ns),
        .ttl_seconds = session->ttl_seconds != 0 ? session->ttl_seconds : SOMA_NONE,
        .counts = snapshot.counts,
        .mapped_bytes = snapshot.device_bytes};
}

static bool list(struct request *req)
{
    size_t count;
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    struct session **sessions = sessions_list(req->conn->server->sessions, &count);
    struct soma_session *items = calloc(count + 1, sizeof(*items));
    struct soma_session_list message = {.sessions = {.items = items, .count = count}};
    for (size_t i = 0; items != NULL && i < count; i++)
        items[i] = describe(sessions[i]);
    if (sessions == NULL || items == NULL) {
        (void)soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "", "no memory for the list");
        reply_error(req, &req->error);
    } else {
        reply_message(req, 200, SOMA_MESSAGE_SESSION_LIST, &message);
    }
    for (size_t i = 0; i < count; i++)
        session_unreference(sessions[i]);
    free(sessions);
    free(items);
    return false;
}

static enum soma_status find_named(struct request *req, struct session **session)
{
    struct capture id = req->captures[0];
    enum soma_status status = input_expect_none(req);
    if (status != SOMA_OK)
        return status;
    *session = sessions_peek(req->conn->server->sessions, id.text, id.len);
    if (*session != NULL)
        return SOMA_OK;
    return sessions_missing(req->conn->server->sessions, (struct soma_text){id.text, id.len},
                            "session", &req->error);
}

static bool get(struct request *req)
{
    struct session *session;
    if (find_named(req, &session) != SOMA_OK)
        return fail(req);
    struct soma_session message = describe(session);
    reply_message(req, 200, SOMA_MESSAGE_SESSION, &message);
    session_unreference(session);
    return false;
}

static bool keep_alive(struct request *req)
{
    struct session *session;
    if (find_named(req, &session) != SOMA_OK)
        return fail(req);
    session_touch(session);
    session_unreference(session);
    reply_message(req, 204, SOMA_MESSAGE_NONE, NULL);
    return false;
}

/* ---- DELETE ---- */

static bool prepare_delete(struct request *req)
{
    if (find_named(req, &req->session) != SOMA_OK)
        return fail(req);
    req->is_slow = true; /* its contents go back to the system */
    return true;
}

static enum soma_status end_session(struct request *req, struct soma_session_ended *ended)
{
    struct session *session = req->session;
    if (session->engine == NULL)
        return soma_fail(&req->error, SOMA_NO_SUCH_SESSION, "session",
                         "the session ended while the request was on its way");
    engine_counts(session->engine, &ended->freed);
    enum soma_status status =
        engine_leaks(session->engine, SOMA_LEAKS_MAX, &ended->leaks.items, &ended->leaks.count);
    if (status != SOMA_OK)
        return soma_fail(&req->error, status, "", "no memory to list what the session holds");
    if (!sessions_take_out(session->owner, session))
        return soma_fail(&req->error, SOMA_OUT_OF_MEMORY, "",
                         "no memory for the session that takes the place of \"default\"");
    session_end(session);
    return SOMA_OK;
}

static enum step execute_delete(struct request *req)
{
    memset(&req->result, 0, sizeof(req->result));
    req->result.message = SOMA_MESSAGE_SESSION_ENDED;
    req->status = end_session(req, &req->result.u.session_ended);
    return STEP_DONE;
}

static void finish_delete(struct request *req)
{
    char shown[SESSION_ID_SHOWN_BYTES];
    if (req->status != SOMA_OK) {
        reply_error(req, &req->error);
        return;
    }
    LOG(&req->conn->server->log, LOG_LEVEL_INFO, "session_ended",
        LOG_TEXT("session", session_shown(req->session, shown)),
        LOG_NUMBER("leaks", req->result.u.session_ended.leaks.count));
    reply_message(req, 200, SOMA_MESSAGE_SESSION_ENDED, &req->result.u);
}

const struct handler handler_session_create = {create, NULL, NULL};
const struct handler handler_session_list = {list, NULL, NULL};
const struct handler handler_session_get = {get, NULL, NULL};
const struct handler handler_session_keep_alive = {keep_alive, NULL, NULL};
const struct handler handler_session_delete = {prepare_delete, execute_delete, finish_delete};
