/* The registry of sessions: ids, leases, limits, and the session that is always there. */
#include "expect.h"
#include "kernels.h"
#include "sessions.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static struct soma_server *create_server(void)
{
    struct soma_server *server = calloc(1, sizeof(*server));
    CU_ASSERT_FATAL(server != NULL);
    server->log.fd = -1;
    server->devices = 2;
    server->soc = soma_soc_row(3);
    server->max_sessions = 3;
    server->kernels = kernels_create();
    server->sessions = sessions_create(server);
    CU_ASSERT_FATAL(server->kernels != NULL && server->sessions != NULL);
    return server;
}

static void destroy_server(struct soma_server *server)
{
    sessions_destroy(server->sessions);
    kernels_destroy(server->kernels);
    free(server);
}

static enum soma_status open_one(struct soma_server *server, uint64_t ttl_seconds,
                                 struct session **session, struct soma_error *error)
{
    struct session_options options = {
        .label = {"lab", 3}, .ttl_seconds = ttl_seconds, .device_count = 1, .soc = server->soc};
    return sessions_open(server->sessions, &options, session, error);
}

static void test_default(void)
{
    struct soma_server *server = create_server();
    struct session *first = sessions_find(server->sessions, "default", 7);
    CU_ASSERT_FATAL(first != NULL);
    EXPECT(first->ttl_seconds == 0 && first->device_count == 2, "default");
    sessions_expire(server->sessions, monotonic_ns() + 1000000 * NS_PER_S);
    EXPECT(sessions_count(server->sessions) == 1, "it never expires");
    EXPECT(sessions_take_out(server->sessions, first), "taken out");
    struct session *second = sessions_find(server->sessions, "default", 7);
    EXPECT(second != NULL && second != first, "another takes its place");
    EXPECT(!sessions_take_out(server->sessions, first), "once only");
    session_unreference(first);
    session_unreference(second);
    destroy_server(server);
}

static void test_open_and_find(void)
{
    struct soma_server *server = create_server();
    struct session *a = NULL, *b = NULL;
    struct soma_error error;
    CU_ASSERT_FATAL(open_one(server, 5, &a, &error) == SOMA_OK);
    CU_ASSERT_FATAL(open_one(server, 5, &b, &error) == SOMA_OK);
    EXPECT(strlen(a->id) == 34 && strncmp(a->id, "s-", 2) == 0 && strcmp(a->id, b->id) != 0,
           "ids %s %s", a->id, b->id);
    EXPECT(same_words(a->label, "lab"), "label");
    struct session *found = sessions_find(server->sessions, a->id, strlen(a->id));
    EXPECT(found == a, "found by id");
    session_unreference(found);
    EXPECT(sessions_find(server->sessions, a->id, 33) == NULL &&
               sessions_find(server->sessions, "", 0) == NULL,
           "half an id is none");
    session_unreference(a);
    session_unreference(b);
    destroy_server(server);
}

static void test_limit(void)
{
    struct soma_server *server = create_server();
    struct session *sessions[4] = {NULL};
    struct soma_error error;
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT(open_one(server, 5, &sessions[i], &error) == SOMA_OK);
    EXPECT(open_one(server, 5, &sessions[3], &error) == SOMA_SESSION_LIMIT &&
               strstr(error.message, "--max-sessions") != NULL,
           "a fourth one");
    EXPECT(sessions_take_out(server->sessions, sessions[0]), "one goes");
    EXPECT(open_one(server, 5, &sessions[3], &error) == SOMA_OK, "another comes");
    for (unsigned i = 0; i < 4; i++)
        session_unreference(sessions[i]);
    destroy_server(server);
}

static void test_lease(void)
{
    struct soma_server *server = create_server();
    struct session *session = NULL;
    struct soma_error error;
    CU_ASSERT_FATAL(open_one(server, 5, &session, &error) == SOMA_OK);
    char id[SESSION_ID_BYTES];
    memcpy(id, session->id, sizeof(id));
    uint64_t later = monotonic_ns() + 6 * NS_PER_S;
    sessions_expire(server->sessions, later);
    EXPECT(sessions_count(server->sessions) == 2, "a session in use does not expire");
    session_unreference(session);
    sessions_expire(server->sessions, later - 3 * NS_PER_S);
    EXPECT(sessions_count(server->sessions) == 2, "nor before its time");
    sessions_expire(server->sessions, later);
    EXPECT(sessions_count(server->sessions) == 1, "then it does");
    EXPECT(sessions_find(server->sessions, id, strlen(id)) == NULL, "and is not found");
    destroy_server(server);
}

static void test_apply_and_end(void)
{
    struct soma_server *server = create_server();
    struct session *session = sessions_find(server->sessions, "default", 7);
    struct soma_command command;
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    struct soma_error error;
    struct session_snapshot snapshot;
    struct sessions_totals totals;
    CU_ASSERT_FATAL(session != NULL);
    soma_command_init(&command, SOMA_OP_POOL_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    CU_ASSERT(session_apply(session, &command, &result, &error) == SOMA_OK);
    session_result_clear(&result);
    session_look(session, &snapshot);
    EXPECT(snapshot.counts.pools == 1 && snapshot.counts.devices == 2, "counts");
    sessions_totals(server->sessions, &totals);
    EXPECT(totals.sessions == 1 && totals.engines.pools == 1, "totals");
    session_end(session);
    EXPECT(session_apply(session, &command, &result, &error) == SOMA_NO_SUCH_SESSION, "ended");
    session_look(session, &snapshot);
    EXPECT(snapshot.counts.pools == 0, "nothing is held");
    session_unreference(session);
    destroy_server(server);
}

static const struct soma_test tests[] = {
    {"default", test_default}, {"open and find", test_open_and_find}, {"limit", test_limit},
    {"lease", test_lease},     {"apply and end", test_apply_and_end}, {NULL, NULL},
};
const struct soma_suite suite_sessions = {"sessions", tests};
