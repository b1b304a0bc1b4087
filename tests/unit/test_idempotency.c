/* Keys: what is replayed, what is refused, what is forgotten. Requests that come at the same time
 * are tested over HTTP. */
#include "expect.h"
#include "idempotency.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct idempotency *keys;
    struct connection conn;
    struct request *req;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    f->keys = idempotency_create();
    CU_ASSERT_FATAL(f->keys != NULL);
    f->req = &f->conn.request;
    f->req->conn = &f->conn;
    f->req->method = "POST";
    f->req->path = "/v1/sessions";
}

static enum idempotency_outcome begin(struct fixture *f, const char *key, const char *body,
                                      struct answer *answer)
{
    f->req->key = (struct soma_text){key, strlen(key)};
    free(f->req->body);
    f->req->body = strdup(body);
    f->req->body_len = strlen(body);
    memset(answer, 0, sizeof(*answer));
    return idempotency_begin(f->keys, f->req, answer, &f->req->error);
}

/* Answer the request that was begun with this text. */
static void end(struct fixture *f, const char *text)
{
    f->req->answer = (struct answer){.http = 201,
                                     .content_type = "application/json",
                                     .body = text,
                                     .len = strlen(text),
                                     .owned = strdup(text)};
    f->req->answer.body = f->req->answer.owned;
    idempotency_end(f->keys, f->req);
    free(f->req->answer.owned);
    f->req->answer.owned = NULL;
}

static void tear_down(struct fixture *f)
{
    free(f->req->body);
    idempotency_destroy(f->keys);
}

static void test_replay(void)
{
    struct fixture f;
    struct answer answer;
    set_up(&f);
    EXPECT(begin(&f, "k", "{}", &answer) == IDEMPOTENCY_RUN && f.req->entry != NULL, "first");
    end(&f, "the answer");
    EXPECT(f.req->entry == NULL, "settled");
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(begin(&f, "k", "{}", &answer) == IDEMPOTENCY_REPLAY, "again");
        EXPECT(answer.is_replay && answer.http == 201 && answer.len == 10 &&
                   memcmp(answer.body, "the answer", 10) == 0,
               "the first answer");
        free(answer.owned);
    }
    tear_down(&f);
}

static void test_other_request(void)
{
    struct fixture f;
    struct answer answer;
    set_up(&f);
    (void)begin(&f, "k", "{}", &answer);
    end(&f, "x");
    EXPECT(begin(&f, "k", "{ }", &answer) == IDEMPOTENCY_REFUSED &&
               f.req->error.status == SOMA_IDEMPOTENCY_KEY_REUSED,
           "other body");
    f.req->path = "/v1/session";
    EXPECT(begin(&f, "k", "{}", &answer) == IDEMPOTENCY_REFUSED, "other path");
    f.req->path = "/v1/sessions";
    f.req->method = "PUT";
    EXPECT(begin(&f, "k", "{}", &answer) == IDEMPOTENCY_REFUSED, "other method");
    EXPECT(begin(&f, "K", "{}", &answer) == IDEMPOTENCY_RUN, "other key");
    end(&f, "y");
    tear_down(&f);
}

static void test_abandoned(void)
{
    struct fixture f;
    struct answer answer;
    set_up(&f);
    (void)begin(&f, "k", "{}", &answer);
    f.req->is_abandoned = true;
    idempotency_end(f.keys, f.req);
    f.req->is_abandoned = false;
    EXPECT(begin(&f, "k", "{\"a\":1}", &answer) == IDEMPOTENCY_RUN, "an abandoned key is free");
    end(&f, "x");
    tear_down(&f);
}

static void test_last_ten_thousand(void)
{
    struct fixture f;
    struct answer answer;
    char key[32];
    set_up(&f);
    for (unsigned i = 0; i <= SOMA_IDEMPOTENCY_KEYS_KEPT; i++) {
        (void)snprintf(key, sizeof(key), "key %u", i);
        CU_ASSERT_FATAL(begin(&f, key, "{}", &answer) == IDEMPOTENCY_RUN);
        end(&f, key);
    }
    for (unsigned i = 1; i <= SOMA_IDEMPOTENCY_KEYS_KEPT; i++) {
        (void)snprintf(key, sizeof(key), "key %u", i);
        if (!EXPECT(begin(&f, key, "{}", &answer) == IDEMPOTENCY_REPLAY &&
                        answer.len == strlen(key) && memcmp(answer.body, key, answer.len) == 0,
                    "%s", key))
            break;
        free(answer.owned);
    }
    EXPECT(begin(&f, "key 0", "{}", &answer) == IDEMPOTENCY_RUN, "the oldest one went");
    end(&f, "x");
    tear_down(&f);
}

static void test_large_answers(void)
{
    struct fixture f;
    struct answer answer;
    char key[32];
    size_t size = (size_t)SOMA_IDEMPOTENCY_BYTES_KEPT / 4 + 1;
    set_up(&f);
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        (void)begin(&f, key, "{}", &answer);
        f.req->answer = (struct answer){.http = 200, .len = size, .owned = calloc(1, size)};
        f.req->answer.body = f.req->answer.owned;
        idempotency_end(f.keys, f.req);
        free(f.req->answer.owned);
        f.req->answer.owned = NULL;
    }
    EXPECT(begin(&f, "0", "{}", &answer) == IDEMPOTENCY_REFUSED &&
               f.req->error.status == SOMA_ANSWER_NOT_KEPT,
           "the oldest large answer is dropped, its key is not");
    EXPECT(begin(&f, "3", "{}", &answer) == IDEMPOTENCY_REPLAY && answer.len == size, "the last");
    free(answer.owned);
    tear_down(&f);
}

static void test_without_body(void)
{
    struct fixture f;
    struct answer answer;
    set_up(&f);
    (void)begin(&f, "k", "", &answer);
    f.req->answer = (struct answer){.http = 204};
    idempotency_end(f.keys, f.req);
    EXPECT(begin(&f, "k", "", &answer) == IDEMPOTENCY_REPLAY && answer.http == 204 &&
               answer.owned == NULL,
           "204");
    tear_down(&f);
}

static const struct soma_test tests[] = {
    {"replay", test_replay},
    {"other request", test_other_request},
    {"abandoned", test_abandoned},
    {"the last ten thousand", test_last_ten_thousand},
    {"large answers", test_large_answers},
    {"without a body", test_without_body},
    {NULL, NULL},
};
const struct soma_suite suite_idempotency = {"idempotency", tests};
