/* The trie: a node per path prefix, with literal children, at most one {member} child and verbs
 * behind a colon. A node that ends a path has a row per method. */
#include "router.h"

#include "handlers.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define METHOD_COUNT 4u
#define OP_SLOTS 256u /* a power of two, some times the number of commands */
#define COMMAND_ROUTES ((size_t)SOMA_OP_COUNT)

struct node {
    const char *text; /* of the segment or verb; NULL: a {member} */
    size_t len;
    struct node *children, *next, *verbs;
    const struct route *rows[METHOD_COUNT];
    char allow[32]; /* "GET, HEAD, POST" */
};

struct router {
    struct route *routes;
    size_t route_count;
    struct node root;
    const struct soma_op_info *ops[OP_SLOTS]; /* open addressing */
};

_Static_assert((int)SOMA_OP_COUNT * 2 <= (int)OP_SLOTS, "half of the slots stay free");

/* ---- names of commands ---- */

static size_t op_slot(const struct router *router, const char *name, size_t len)
{
    size_t slot = (size_t)(XXH3_64bits(name, len) % OP_SLOTS);
    while (router->ops[slot] != NULL && (strlen(router->ops[slot]->name) != len ||
                                         memcmp(router->ops[slot]->name, name, len) != 0))
        slot = (slot + 1) % OP_SLOTS;
    return slot;
}

const struct soma_op_info *router_op(const struct router *router, const char *name, size_t len)
{
    return router->ops[op_slot(router, name, len)];
}

/* ---- building ---- */

static struct node *add_node(struct node **list, const char *text, size_t len)
{
    for (struct node *node = *list; node != NULL; node = node->next) {
        bool same = text == NULL ? node->text == NULL
                                 : node->text != NULL && node->len == len &&
                                       memcmp(node->text, text, len) == 0;
        if (same)
            return node;
    }
    struct node *node = calloc(1, sizeof(*node));
    if (node == NULL)
        return NULL;
    node->text = text;
    node->len = len;
    /* In the order of the tables; a {member} matches anything, so it is looked at last. */
    while (*list != NULL && (text == NULL || (*list)->text != NULL))
        list = &(*list)->next;
    node->next = *list;
    *list = node;
    return node;
}

/* The {name} of a path is that of a field. */
static const struct soma_field_row *captured_row(const struct soma_op_info *op, const char *name,
                                                 size_t len)
{
    for (size_t i = 0; op != NULL && i < op->field_count; i++) {
        const char *field = soma_field_json(op->fields[i].field);
        if (strlen(field) == len && memcmp(field, name, len) == 0)
            return &op->fields[i];
    }
    return NULL;
}

static void set_allow(struct node *node)
{
    node->allow[0] = '\0';
    size_t len = 0;
    for (unsigned m = 0; m < METHOD_COUNT; m++) {
        if (node->rows[m] == NULL)
            continue;
        const char *name =
            m == SOMA_METHOD_GET ? "GET, HEAD" : soma_method_name((enum soma_method)m);
        len += (size_t)snprintf(node->allow + len, sizeof(node->allow) - len, "%s%s",
                                len > 0 ? ", " : "", name);
    }
}

static bool add_route(struct router *router, struct route *route)
{
    struct node *node = &router->root;
    const char *at = route->path;
    size_t captures = 0;
    while (*at == '/') {
        const char *segment = at + 1;
        size_t len = strcspn(segment, "/:");
        if (segment[0] == '{') {
            route->captured[captures++] = captured_row(route->op, segment + 1, len - 2);
            node = add_node(&node->children, NULL, 0);
        } else {
            node = add_node(&node->children, segment, len);
        }
        at = segment + len;
        if (node != NULL && *at == ':') {
            node = add_node(&node->verbs, at + 1, strlen(at + 1));
            at += strlen(at);
        }
        if (node == NULL)
            return false;
    }
    node->rows[route->method] = route;
    set_allow(node);
    return true;
}

static const struct route service_routes[] = {
#define SOMA_ROW(NAME, METHOD, path_, http, summary)                                               \
    {.method = SOMA_METHOD_##METHOD, .path = (path_), .handler = &handler_##NAME},
    SOMA_SERVICE_ROUTES(SOMA_ROW)
#undef SOMA_ROW
};

#define SERVICE_ROUTES (sizeof(service_routes) / sizeof(service_routes[0]))

struct router *router_create(void)
{
    struct router *router = calloc(1, sizeof(*router));
    if (router == NULL)
        return NULL;
    router->routes = calloc(COMMAND_ROUTES + SERVICE_ROUTES, sizeof(*router->routes));
    bool good = router->routes != NULL;
    for (size_t i = 0; good && i < COMMAND_ROUTES + SERVICE_ROUTES; i++) {
        struct route *route = &router->routes[i];
        if (i < COMMAND_ROUTES) {
            route->op = soma_op_info((enum soma_op)i);
            route->method = route->op->method;
            route->path = route->op->path;
            route->handler = &handler_command;
            router->ops[op_slot(router, route->op->name, strlen(route->op->name))] = route->op;
        } else {
            *route = service_routes[i - COMMAND_ROUTES];
            route->is_open = route->handler == &handler_livez || route->handler == &handler_readyz;
        }
        route->index = (unsigned)i;
        good = add_route(router, route);
    }
    router->route_count = COMMAND_ROUTES + SERVICE_ROUTES;
    if (good)
        return router;
    router_destroy(router);
    return NULL;
}

/* As deep as paths have segments. */
static void destroy_nodes(struct node *node)
{
    while (node != NULL) {
        struct node *next = node->next;
        destroy_nodes(node->children);
        destroy_nodes(node->verbs);
        free(node);
        node = next;
    }
}

void router_destroy(struct router *router)
{
    if (router == NULL)
        return;
    destroy_nodes(router->root.children);
    destroy_nodes(router->root.verbs);
    free(router->routes);
    free(router);
}

size_t router_route_count(const struct router *router)
{
    return router->route_count;
}

const struct route *router_route(const struct router *router, size_t index)
{
    return &router->routes[index];
}

/* ---- looking up ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool router_unescape(char *text, size_t *len)
{
    size_t out = 0;
    for (size_t i = 0; i < *len; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < *len ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < *len ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        text[out++] = c;
    }
    *len = out;
    return true;
}

static const struct node *find_node(const struct node *list, const char *text, size_t len)
{
    for (const struct node *node = list; node != NULL; node = node->next) {
        if (node->text == NULL ||
            (node->len == len && node->text[0] == text[0] && memcmp(node->text, text, len) == 0))
            return node;
    }
    return NULL;
}

struct walk {
    const struct node *node;
    struct capture *captures;
    size_t count;
};

/* Go one segment down; `escaped` is its text in memory that may be changed, NULL: as it stands. */
static enum router_match step_down(struct walk *walk, const char *segment, size_t len,
                                   char *escaped)
{
    if (escaped != NULL) {
        if (!router_unescape(escaped, &len))
            return ROUTER_BAD_PATH;
        segment = escaped;
    }
    walk->node = len == 0 ? NULL : find_node(walk->node->children, segment, len);
    if (walk->node == NULL)
        return ROUTER_NO_ROUTE;
    if (walk->node->text == NULL)
        walk->captures[walk->count++] = (struct capture){segment, len};
    return ROUTER_FOUND;
}

/* The path begins with '/'; copy is the same text, changeable, or NULL when it has no escapes. */
static enum router_match walk_path(struct walk *walk, const char *path, char *copy)
{
    const char *at = path;
    while (*at == '/') {
        const char *segment = at + 1;
        const char *verb = NULL;
        at = strchrnul(segment, '/');
        size_t len = (size_t)(at - segment);
        if (*at == '\0' && (verb = memchr(segment, ':', len)) != NULL)
            len = (size_t)(verb - segment);
        char *escaped = copy != NULL ? copy + (segment - path) : NULL;
        enum router_match match = step_down(walk, segment, len, escaped);
        if (match != ROUTER_FOUND)
            return match;
        if (verb != NULL) {
            walk->node = find_node(walk->node->verbs, verb + 1, strlen(verb + 1));
            return walk->node != NULL ? ROUTER_FOUND : ROUTER_NO_ROUTE;
        }
    }
    return ROUTER_FOUND;
}

/* "http://host/path" -> "/path" [RFC 9112, absolute-form]. */
static const char *skip_authority(const char *path)
{
    if (strncmp(path, "http://", 7) != 0)
        return path;
    const char *slash = strchr(path + 7, '/');
    return slash != NULL ? slash : "/";
}

/* HEAD is GET: libmicrohttpd leaves the body out [RFC 9110, 9.3.2]. */
static int method_index(const char *method)
{
    if (strcmp(method, "HEAD") == 0)
        return SOMA_METHOD_GET;
    for (int m = 0; m < (int)METHOD_COUNT; m++) {
        if (strcmp(soma_method_name((enum soma_method)m), method) == 0)
            return m;
    }
    return -1;
}

enum router_match router_match(const struct router *router, const char *method, const char *path,
                               struct wire_arena *arena, const struct route **route,
                               struct capture captures[CAPTURES_MAX], const char **allow)
{
    struct walk walk = {.node = &router->root, .captures = captures};
    char *copy = NULL;
    path = skip_authority(path);
    if (strchr(path, '%') != NULL) {
        size_t size = strlen(path) + 1;
        copy = wire_arena_alloc(arena, size);
        if (copy == NULL)
            return ROUTER_BAD_PATH;
        memcpy(copy, path, size);
    }
    enum router_match match = path[0] != '/' ? ROUTER_NO_ROUTE : walk_path(&walk, path, copy);
    if (match != ROUTER_FOUND)
        return match;
    if (walk.node->allow[0] == '\0')
        return ROUTER_NO_ROUTE;
    int m = method_index(method);
    if (m < 0 || walk.node->rows[m] == NULL) {
        *allow = walk.node->allow;
        return ROUTER_NO_METHOD;
    }
    *route = walk.node->rows[m];
    return ROUTER_FOUND;
}

/* ---- memory ---- */

bool router_recall(const struct route_memo memos[ROUTE_MEMOS], const char *method, const char *path,
                   const struct route **route, struct capture captures[CAPTURES_MAX])
{
    const struct route_memo *memo = memos;
    while (memo < memos + ROUTE_MEMOS &&
           (memo->route == NULL || strcmp(memo->path, path) != 0 ||
            strcmp(soma_method_name(memo->route->method), method) != 0))
        memo++;
    if (memo == memos + ROUTE_MEMOS)
        return false;
    for (size_t i = 0; i < CAPTURES_MAX && memo->captures[i].len > 0; i++)
        captures[i] = (struct capture){path + memo->captures[i].at, memo->captures[i].len};
    *route = memo->route;
    return true;
}

void router_remember(struct route_memo *memo, const char *path, const struct route *route,
                     const struct capture captures[CAPTURES_MAX])
{
    size_t len = strlen(path);
    if (len >= ROUTE_MEMO_BYTES || strchr(path, '%') != NULL)
        return;
    memcpy(memo->path, path, len + 1);
    memset(memo->captures, 0, sizeof(memo->captures));
    for (size_t i = 0; i < CAPTURES_MAX && captures[i].text != NULL; i++) {
        memo->captures[i].at = (uint8_t)(captures[i].text - path);
        memo->captures[i].len = (uint8_t)captures[i].len;
    }
    memo->route = route;
}
