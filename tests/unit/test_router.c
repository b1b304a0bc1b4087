/* Routing: every row of both tables is found by its path, and nothing else is. */
#include "expect.h"
#include "handlers.h"
#include "router.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static enum router_match match(const struct router *router, const char *method, const char *path,
                               const struct route **route, struct capture *captures,
                               const char **allow)
{
    struct wire_arena arena;
    wire_arena_init(&arena);
    enum router_match found = router_match(router, method, path, &arena, route, captures, allow);
    wire_arena_release(&arena);
    return found;
}

/* "/v1/devices/{device}" -> "/v1/devices/71": member i is 71 + i. */
static size_t fill_path(const char *template, char *path)
{
    size_t count = 0;
    while (*template != '\0') {
        if (*template != '{') {
            *path++ = *template ++;
            continue;
        }
        path += snprintf(path, 8, "%zu", 71 + count++);
        template = strchr(template, '}') + 1;
    }
    *path = '\0';
    return count;
}

static void test_every_route(void)
{
    struct router *router = router_create();
    CU_ASSERT_FATAL(router != NULL);
    for (size_t i = 0; i < router_route_count(router); i++) {
        const struct route *wanted = router_route(router, i), *found = NULL;
        const char *method = soma_method_name(wanted->method), *allow = NULL;
        struct capture captures[CAPTURES_MAX];
        char path[256];
        size_t count = fill_path(wanted->path, path);
        EXPECT(match(router, method, path, &found, captures, &allow) == ROUTER_FOUND &&
                   found == wanted,
               "%s %s", method, path);
        for (size_t c = 0; c < count; c++) {
            char text[8];
            (void)snprintf(text, sizeof(text), "%zu", 71 + c);
            EXPECT(captures[c].len == 2 && memcmp(captures[c].text, text, 2) == 0, "%s: member %zu",
                   wanted->path, c);
            EXPECT(wanted->op == NULL || wanted->captured[c] != NULL, "%s: field of member %zu",
                   wanted->path, c);
        }
        EXPECT(match(router, "PATCH", path, &found, captures, &allow) == ROUTER_NO_METHOD &&
                   strstr(allow, method) != NULL,
               "PATCH %s", path);
        strncat(path, "/", sizeof(path) - strlen(path) - 1);
        EXPECT(match(router, method, path, &found, captures, &allow) == ROUTER_NO_ROUTE, "%s",
               path);
    }
    router_destroy(router);
}

static void test_ops(void)
{
    struct router *router = router_create();
    CU_ASSERT_FATAL(router != NULL);
    for (int i = 0; i < SOMA_OP_COUNT; i++) {
        const struct soma_op_info *op = soma_op_info((enum soma_op)i);
        EXPECT(router_op(router, op->name, strlen(op->name)) == op, "%s", op->name);
    }
    EXPECT(router_op(router, "pool.mallo", 10) == NULL && router_op(router, "", 0) == NULL,
           "unknown ops");
    router_destroy(router);
}

static void test_paths(void)
{
    static const struct {
        const char *method, *path;
        enum router_match match;
        const char *expected; /* template, or the methods */
    } rows[] = {
        {"GET", "/livez", ROUTER_FOUND, "/livez"},
        {"GET", "/%6Civez", ROUTER_FOUND, "/livez"},
        {"GET", "http://host:1/livez", ROUTER_FOUND, "/livez"},
        {"POST", "/v1/devices/0/memory:free", ROUTER_FOUND, "/v1/devices/{device}/memory:free"},
        {"PUT", "/v1/devices/0/memory/0x10", ROUTER_FOUND, "/v1/devices/{device}/memory/{ptr}"},
        {"DELETE", "/v1/devices/0/memory/0x10", ROUTER_NO_METHOD, "GET, HEAD, PUT"},
        {"HEAD", "/livez", ROUTER_FOUND, "/livez"},
        {"HEAD", "/v1/commands", ROUTER_NO_METHOD, "POST"},
        {"GET", "/v1/commands", ROUTER_NO_METHOD, "POST"},
        {"get", "/livez", ROUTER_NO_METHOD, "GET, HEAD"},
        {"GET", "/v1/sessions/a:keepAlive", ROUTER_NO_METHOD, "POST"},
        {"POST", "/v1/devices/0/pools/1:fre", ROUTER_NO_ROUTE, NULL},
        {"POST", "/v1/devices/0/pools/1:", ROUTER_NO_ROUTE, NULL},
        {"POST", "/v1/devices/0/pools/:free", ROUTER_NO_ROUTE, NULL},
        {"GET", "/", ROUTER_NO_ROUTE, NULL},
        {"GET", "//livez", ROUTER_NO_ROUTE, NULL},
        {"GET", "/v1", ROUTER_NO_ROUTE, NULL},
        {"GET", "/livez%2F", ROUTER_NO_ROUTE, NULL},
        {"GET", "*", ROUTER_NO_ROUTE, NULL},
        {"GET", "", ROUTER_NO_ROUTE, NULL},
        {"GET", "livez", ROUTER_NO_ROUTE, NULL},
        {"GET", "/v1/pipes/%2", ROUTER_BAD_PATH, NULL},
        {"GET", "/v1/pipes/%00", ROUTER_BAD_PATH, NULL},
        {"GET", "/v1/pipes/%zz", ROUTER_BAD_PATH, NULL},
        {"GET", "/v1/pipes/%", ROUTER_BAD_PATH, NULL},
    };
    struct router *router = router_create();
    CU_ASSERT_FATAL(router != NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct route *found = NULL;
        const char *allow = NULL;
        struct capture captures[CAPTURES_MAX];
        enum router_match got =
            match(router, rows[i].method, rows[i].path, &found, captures, &allow);
        EXPECT(got == rows[i].match, "%s %s: %d", rows[i].method, rows[i].path, (int)got);
        if (got == ROUTER_FOUND && rows[i].match == ROUTER_FOUND)
            EXPECT(same_words(found->path, rows[i].expected), "%s: %s", rows[i].path, found->path);
        if (got == ROUTER_NO_METHOD && rows[i].match == ROUTER_NO_METHOD)
            EXPECT(same_words(allow, rows[i].expected), "%s: %s", rows[i].path, allow);
    }
    router_destroy(router);
}

static void test_unescape(void)
{
    char text[] = "a%20b%7e%41";
    size_t len = strlen(text);
    EXPECT(router_unescape(text, &len) && len == 5 && memcmp(text, "a b~A", 5) == 0, "%.*s",
           (int)len, text);
}

static void test_open_routes(void)
{
    struct router *router = router_create();
    CU_ASSERT_FATAL(router != NULL);
    size_t open = 0;
    for (size_t i = 0; i < router_route_count(router); i++)
        open += router_route(router, i)->is_open;
    EXPECT(open == 2, "%zu routes need no token; /livez and /readyz are two", open);
    router_destroy(router);
}

static const struct soma_test tests[] = {
    {"every route", test_every_route},
    {"ops", test_ops},
    {"paths", test_paths},
    {"unescape", test_unescape},
    {"open routes", test_open_routes},
    {NULL, NULL},
};
const struct soma_suite suite_router = {"router", tests};
