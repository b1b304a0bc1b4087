/* Every route of the tables, with the code of success that its row promises. */
#include "fixture.h"
#include "handlers.h"
#include "router.h"

#include <stdlib.h>
#include <string.h>

struct route_step {
    const char *method;
    const char *path; /* @ is the last "ptr" or "session" that was answered */
    const char *body;
};

/* Ids count from 1, so that they are known. */
static const struct route_step steps[] = {
    {"GET", "/livez", NULL},
    {"GET", "/readyz", NULL},
    {"GET", "/metrics", NULL},
    {"GET", "/v1/version", NULL},
    {"GET", "/v1/openapi.json", NULL},
    {"GET", "/v1/kernels", NULL},
    {"GET", "/v1/devices", NULL},
    {"GET", "/v1/devices/1", NULL},
    {"POST", "/v1/devices/0/streams", "{\"priority\":1}"},
    {"POST", "/v1/devices/0/streams", NULL},
    {"GET", "/v1/devices/0/streams", NULL},
    {"GET", "/v1/devices/0/streams/1", NULL},
    {"POST", "/v1/devices/0/streams/1:delay", "{\"durationNs\":5000}"},
    {"POST", "/v1/devices/0/streams/1:setFailureMode", "{\"failureMode\":\"STOP\"}"},
    {"POST", "/v1/devices/0/streams/1:launchHostFunc", "{\"group\":3}"},
    {"GET", "/v1/hostFuncs", NULL},
    {"POST", "/v1/devices/0/notifies", NULL},
    {"GET", "/v1/devices/0/notifies", NULL},
    {"GET", "/v1/devices/0/notifies/1", NULL},
    {"POST", "/v1/devices/0/streams/2:recordNotify", "{\"notify\":1}"},
    {"POST", "/v1/devices/0/streams/2:waitNotify", "{\"notify\":1,\"timeoutMs\":5}"},
    {"POST", "/v1/devices/0/notifies/1:reset", NULL},
    {"DELETE", "/v1/devices/0/notifies/1", NULL},
    {"POST", "/v1/devices/0/streams/2:stop", NULL},
    {"POST", "/v1/devices/0/streams/2:abort", NULL},
    {"POST", "/v1/hostFuncs:take", "{\"group\":3,\"timeoutMs\":1000}"},
    {"POST", "/v1/hostFuncs/1:complete", NULL},
    {"POST", "/v1/clock:advance", "{\"durationNs\":5000}"},
    {"POST", "/v1/devices/0/events", "{\"kind\":\"PLAIN\"}"},
    {"POST", "/v1/devices/0/events", "{}"},
    {"POST", "/v1/devices/0/events/1:record", "{\"stream\":1}"},
    {"POST", "/v1/devices/0/events/2:record", "{\"stream\":1}"},
    {"POST", "/v1/devices/0/streams/2:waitEvent", "{\"event\":1}"},
    {"POST", "/v1/devices/0/events/1:synchronize", "{\"timeoutMs\":1000}"},
    {"POST", "/v1/devices/0/events/2:synchronize", NULL},
    {"GET", "/v1/devices/0/events", NULL},
    {"GET", "/v1/devices/0/events/1", NULL},
    {"GET", "/v1/devices/0/events/2/elapsed?since=1", NULL},
    {"POST", "/v1/devices/0/streams/1:synchronize", NULL},
    {"POST", "/v1/devices/0:synchronize", "{\"timeoutMs\":-1}"},
    {"POST", "/v1/devices/0/events/1:reset", "{\"stream\":1}"},
    {"DELETE", "/v1/devices/0/events/1", NULL},
    {"POST", "/v1/devices/0/pools",
     "{\"maxSize\":\"64MiB\",\"location\":{\"type\":\"DEVICE\",\"id\":0}}"},
    {"GET", "/v1/devices/0/pools", NULL},
    {"GET", "/v1/devices/0/pools/1", NULL},
    {"GET", "/v1/devices/0/pools/1/attributes", NULL},
    {"GET", "/v1/devices/0/pools/1/attributes/usedMemHigh", NULL},
    {"PUT", "/v1/devices/0/pools/1/attributes/ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD",
     "{\"value\":\"4MiB\"}"},
    {"POST", "/v1/devices/0/pools/1:malloc", "{\"size\":64,\"stream\":1}"},
    {"GET", "/v1/devices/0/pools/1/segments", NULL},
    {"PUT", "/v1/devices/0/memory/@?stream=1", "raw:0123456789abcdef"},
    {"GET", "/v1/devices/0/memory/@?size=16&stream=1", NULL},
    {"GET", "/v1/devices/0/memory/@/info", NULL},
    {"POST", "/v1/devices/0/memory:set", "{\"ptr\":\"@\",\"value\":7,\"size\":8}"},
    {"POST", "/v1/devices/0/memory:copy", "{\"dst\":\"@\",\"src\":\"@\",\"size\":8,\"stream\":1}"},
    {"POST", "/v1/devices/0/streams/1:launchKernel",
     "{\"kernel\":\"fill\",\"blockDim\":8,\"args\":[{\"ptr\":\"@\"},{\"u64\":4},{\"u32\":1}]}"},
    {"POST", "/v1/devices/0/streams/2:writeValue", "{\"ptr\":\"@\",\"value\":7}"},
    {"POST", "/v1/devices/0/streams/2:waitValue",
     "{\"ptr\":\"@\",\"value\":7,\"condition\":\"EQ\"}"},
    {"POST", "/v1/devices/0/pools/1:free", "{\"ptr\":\"@\",\"stream\":1}"},
    {"POST", "/v1/devices/0/pools/1:trimTo", "{\"minBytesToKeep\":0}"},
    {"DELETE", "/v1/devices/0/pools/1", NULL},
    {"GET", "/v1/devices/0/memory", NULL},
    {"POST", "/v1/devices/0/memory:malloc", "{\"size\":100}"},
    {"POST", "/v1/devices/0/memory:free", "{\"ptr\":\"@\"}"},
    {"POST", "/v1/devices/0/memory:malloc", "{\"size\":100}"},
    {"POST", "/v1/devices/0/memory:reduce",
     "{\"dst\":\"@\",\"src\":\"@\",\"size\":8,\"kind\":\"SUM\",\"dtype\":\"float\",\"stream\":1}"},
    {"POST", "/v1/devices/0/memory:random",
     "{\"ptr\":\"@\",\"counter\":\"@\",\"distribution\":\"NORMAL\",\"dtype\":\"float32\",\"seed\":"
     "1,"
     "\"count\":4,\"args\":[{\"f32\":0},{\"f32\":1.5}]}"},
    {"POST", "/v1/devices/0/memory:freeAsync", "{\"ptr\":\"@\",\"stream\":1}"},
    {"POST", "/v1/devices/0/memory:mallocManaged", "{\"size\":100}"},
    {"PUT", "/v1/devices/1/memory/@", "raw:0123456789abcdef"},
    {"POST", "/v1/addresses:reserve", "{\"size\":\"8MiB\"}"},
    {"POST", "/v1/devices/0/memory:mallocPhysical", "{\"size\":\"2MiB\"}"},
    {"POST", "/v1/addresses:map", "{\"ptr\":\"@\",\"size\":\"2MiB\",\"physical\":1}"},
    {"POST", "/v1/devices/1/memory:setAccess",
     "{\"ptr\":\"@\",\"size\":\"2MiB\",\"access\":\"READWRITE\"}"},
    {"GET", "/v1/devices/1/memory/@/access", NULL},
    {"PUT", "/v1/devices/1/memory/@", "raw:0123456789abcdef"},
    {"POST", "/v1/addresses:retainPhysical", "{\"ptr\":\"@\"}"},
    {"GET", "/v1/addresses", NULL},
    {"POST", "/v1/addresses:unmap", "{\"ptr\":\"@\"}"},
    {"GET", "/v1/physicals/1", NULL},
    {"DELETE", "/v1/physicals/1", NULL},
    {"POST", "/v1/addresses:release", "{\"ptr\":\"@\"}"},
    {"DELETE", "/v1/devices/0/streams/1", NULL},
    {"POST", "/v1/devices/0:abort", NULL},
    {"POST", "/v1/devices/0:reset", NULL},
    {"POST", "/v1/commands", "{\"commands\":[{\"op\":\"device.list\"}]}"},
    {"POST", "/v1/pipes", "{\"soc\":\"Ascend910B1\"}"},
    {"GET", "/v1/pipes", NULL},
    {"GET", "/v1/pipes/1", NULL},
    {"POST", "/v1/pipes/1/tques", "{\"position\":\"VECIN\",\"depth\":2}"},
    {"POST", "/v1/pipes/1/tbufs", "{\"position\":\"VECCALC\"}"},
    {"POST", "/v1/pipes/1/tbufs", "{\"position\":\"VECCALC\"}"},
    {"POST", "/v1/pipes/1/tbufpools", "{\"position\":\"VECCALC\",\"bufIdSize\":8}"},
    {"POST", "/v1/pipes/1/tbufpools", "{\"position\":\"VECCALC\",\"bufIdSize\":2}"},
    {"POST", "/v1/pipes/1:initBuffer", "{\"tque\":1,\"num\":2,\"len\":1024}"},
    {"POST", "/v1/pipes/1:initBuffer", "{\"tbuf\":1,\"len\":512}"},
    {"POST", "/v1/pipes/1:initBufPool", "{\"tbufpool\":1,\"len\":4096}"},
    {"POST", "/v1/pipes/1/tbufpools/1:initBuffer", "{\"tbuf\":2,\"len\":512}"},
    {"POST", "/v1/pipes/1/tbufpools/1:initBufPool", "{\"tbufpool\":2,\"len\":1024}"},
    {"POST", "/v1/pipes/1/tques/1:allocTensor", NULL},
    {"POST", "/v1/pipes/1/tques/1:enQue", "{\"tensor\":1}"},
    {"POST", "/v1/pipes/1/tques/1:deQue", NULL},
    {"POST", "/v1/pipes/1/tques/1:freeTensor", "{\"tensor\":1}"},
    {"POST", "/v1/pipes/1/tbufs/1:get", "{\"dtype\":\"half\"}"},
    {"POST", "/v1/pipes/1/tbufs/1:getWithOffset",
     "{\"dtype\":\"int32\",\"size\":4,\"bufOffset\":32}"},
    {"GET", "/v1/pipes/1/layout", NULL},
    {"POST", "/v1/pipes/1/tbufpools/1:reset", NULL},
    {"POST", "/v1/pipes/1:reset", NULL},
    {"DELETE", "/v1/pipes/1", NULL},
    {"POST", "/v1/sessions", "{\"label\":\"other\",\"devices\":1}"},
    {"GET", "/v1/sessions", NULL},
    {"GET", "/v1/sessions/@", NULL},
    {"POST", "/v1/sessions/@:keepAlive", NULL},
    {"DELETE", "/v1/sessions/@", NULL},
};

#define ROUTES_MAX 128u

struct run {
    struct fixture f;
    struct router *router;
    bool hit[ROUTES_MAX];
    char kept[64];
};

/* Copy with every @ replaced. */
static void substitute(char *to, size_t size, const char *from, const char *kept)
{
    size_t len = 0;
    for (; *from != '\0' && len + strlen(kept) + 1 < size; from++) {
        if (*from == '@')
            len += (size_t)snprintf(to + len, size - len, "%s", kept);
        else
            to[len++] = *from;
    }
    to[len] = '\0';
}

static long promised_code(const struct route *route)
{
    static const struct {
        const char *path;
        enum soma_method method;
        long code;
    } rows[] = {
#define SOMA_ROW(NAME, METHOD, path_, http, summary) {(path_), SOMA_METHOD_##METHOD, (http)},
        SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW
    };
    if (route->op != NULL)
        return route->op->http;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].method == route->method && strcmp(rows[i].path, route->path) == 0)
            return rows[i].code;
    }
    return 0;
}

static const struct route *route_of(struct run *run, const char *method, const char *path)
{
    const struct route *route = NULL;
    const char *allow;
    char bare[256];
    struct capture captures[CAPTURES_MAX];
    struct wire_arena arena;
    (void)snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(path, "?"), path);
    wire_arena_init(&arena);
    (void)router_match(run->router, method, bare, &arena, &route, captures, &allow);
    wire_arena_release(&arena);
    return route;
}

static void keep(struct run *run, const char *text)
{
    cJSON *tree = cJSON_Parse(text);
    const char *ptr = text_of(tree, "ptr"), *session = text_of(tree, "session");
    if (ptr != NULL || session != NULL)
        (void)snprintf(run->kept, sizeof(run->kept), "%s", ptr != NULL ? ptr : session);
    cJSON_Delete(tree);
}

static void run_step(struct run *run, const struct route_step *step)
{
    char path[256], body[512];
    substitute(path, sizeof(path), step->path, run->kept);
    substitute(body, sizeof(body), step->body != NULL ? step->body : "", run->kept);
    bool is_raw = strncmp(body, "raw:", 4) == 0;
    const char *text = is_raw ? body + 4 : body;
    const struct route *route = route_of(run, step->method, path);
    if (!EXPECT(route != NULL, "%s %s has no route", step->method, path))
        return;
    struct http_request request = {.method = step->method,
                                   .path = path,
                                   .content_type = step->body == NULL ? NULL
                                                   : is_raw           ? "application/octet-stream"
                                                                      : "application/json",
                                   .body = step->body != NULL ? text : NULL,
                                   .body_len = strlen(text)};
    struct http_answer answer;
    if (!EXPECT(http_send(run->f.client, &request, &answer), "%s %s: %s", step->method, path,
                http_client_why(run->f.client)))
        return;
    long promised = promised_code(route);
    EXPECT(answer.status == promised, "%s %s: %ld, not %ld: %.300s", step->method, path,
           answer.status, promised, answer.body);
    EXPECT((promised == 204) == (answer.body_len == 0), "%s %s: %zu bytes", step->method, path,
           answer.body_len);
    run->hit[route->index] = true;
    keep(run, answer.body);
    http_answer_release(&answer);
}

static void test_every_route(void)
{
    struct run run = {.kept = ""};
    char id[64];
    fixture_start(&run.f, NULL);
    run.router = router_create();
    CU_ASSERT_FATAL(run.router != NULL && router_route_count(run.router) <= ROUTES_MAX);
    fixture_open_session(run.f.client, "{\"devices\":2}", id);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        run_step(&run, &steps[i]);
    for (size_t i = 0; i < router_route_count(run.router); i++) {
        const struct route *route = router_route(run.router, i);
        EXPECT(run.hit[i], "%s %s was never sent", soma_method_name(route->method), route->path);
    }
    router_destroy(run.router);
    fixture_stop(&run.f);
}

static void test_openapi_tells_every_route(void)
{
    struct fixture f;
    struct router *router = router_create();
    fixture_start(&f, NULL);
    cJSON *tree = fixture_call(f.client, "GET", "/v1/openapi.json", NULL, 200);
    const cJSON *paths = cJSON_GetObjectItemCaseSensitive(tree, "paths");
    for (size_t i = 0; router != NULL && i < router_route_count(router); i++)
        EXPECT(cJSON_GetObjectItemCaseSensitive(paths, router_route(router, i)->path) != NULL,
               "%s is not told", router_route(router, i)->path);
    cJSON_Delete(tree);
    router_destroy(router);
    fixture_stop(&f);
}

static void test_bytes_of_a_read(void)
{
    struct fixture f;
    fixture_start(&f, NULL);
    fixture_do(f.client, "POST", "/v1/devices/0/memory:malloc", "{\"size\":64}", 200);
    struct http_answer answer =
        fixture_send(f.client, "GET", "/v1/devices/0/memory/0x500000000000?size=5", NULL);
    EXPECT(answer.status == 200 && answer.body_len == 5 &&
               memcmp(answer.body, "\0\0\0\0\0", 5) == 0 &&
               strcmp(answer.content_type, "application/octet-stream") == 0,
           "%ld %s", answer.status, answer.content_type);
    http_answer_release(&answer);
    fixture_stop(&f);
}

static const struct soma_test tests[] = {
    {"every route", test_every_route},
    {"openapi tells every route", test_openapi_tells_every_route},
    {"bytes of a read", test_bytes_of_a_read},
    {NULL, NULL},
};
const struct soma_suite suite_http_routes = {"http_routes", tests};
