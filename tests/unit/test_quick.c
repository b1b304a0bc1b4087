/* The short way takes nothing that the long way would read otherwise: both are run on bodies that
 * are made up, and compared. */
#include "expect.h"
#include "quick.h"
#include "random.h"
#include "suites.h"
#include "wire.h"

#include <stdio.h>
#include <string.h>

/* Whether the long way takes the body too, with the same outcome. */
static bool same_long_way(enum soma_op op, const struct soma_command *quick, const char *body,
                          const struct soma_command *before)
{
    struct soma_command command = *before;
    struct wire_arena arena;
    struct soma_error error;
    cJSON *root = NULL;
    (void)op;
    wire_arena_init(&arena);
    bool good = wire_parse(body, strlen(body), &root, &error) == SOMA_OK &&
                wire_decode_command(root, false, NULL, &arena, &command, &error) == SOMA_OK;
    good = good && memcmp(&command, quick, sizeof(command)) == 0;
    cJSON_Delete(root);
    wire_arena_release(&arena);
    return good;
}

/* A command of this op whose path and query fields are set. */
static void begin(enum soma_op op, struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(op);
    memset(command, 0, sizeof(*command));
    soma_command_init(command, op);
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].where != SOMA_WHERE_BODY)
            soma_command_set(command, info->fields[i].field, 1);
    }
}

static void test_taken(void)
{
    static const struct {
        enum soma_op op;
        const char *body;
    } rows[] = {
        {SOMA_OP_POOL_MALLOC, "{\"size\":64}"},
        {SOMA_OP_POOL_MALLOC, "{\"size\":64,\"stream\":3}"},
        {SOMA_OP_POOL_MALLOC, "{ \"size\" : \"64\" , \"stream\" : 0 }"},
        {SOMA_OP_POOL_FREE, "{\"ptr\":\"0x12c0c0000000\",\"stream\":7}"},
        {SOMA_OP_STREAM_SYNCHRONIZE, "{\"timeoutMs\":5}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_command before, command;
        begin(rows[i].op, &before);
        command = before;
        EXPECT(quick_read(&command, rows[i].body, strlen(rows[i].body)), "%s", rows[i].body);
        EXPECT(same_long_way(rows[i].op, &command, rows[i].body, &before), "%s", rows[i].body);
    }
}

static void test_left(void)
{
    static const char *const bodies[] = {
        "{}",
        "",
        "{\"size\":64,}",
        "{\"size\":64}x",
        "{\"size\":064}",
        "{\"size\":6.4}",
        "[1]",
        "{",
        "{\"size\":-1}",
        "{\"size\":64",
        "{\"size\":1e3}",
        "{\"nope\":1}",
        "{\"size\":1,\"size\":2}",
        "{\"size\":null}",
        "{\"si\\u007ae\":1}",
        "{\"size\":9007199254740993}",
        "{\"pool\":1,\"size\":2}",
        "{\"stream\":1}",
        "{\"size\":\"1GiB\"}",
        "{\"size\":1 2}",
        "{\"size\":}",
        "{\"stream\":99999999999999999999,\"size\":1}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct soma_command before, command;
        begin(SOMA_OP_POOL_MALLOC, &before);
        command = before;
        EXPECT(!quick_read(&command, bodies[i], strlen(bodies[i])), "%s was taken", bodies[i]);
        EXPECT(memcmp(&command, &before, sizeof(command)) == 0, "%s left something behind",
               bodies[i]);
    }
}

/* A body of some fields of the op with values of all kinds, now and then damaged. */
static void make_body(struct random_source *random, const struct soma_op_info *op, char *body,
                      size_t size)
{
    static const char *const values[] = {
        "0",      "1",        "64",     "\"64\"", "\"0x10\"",        "\"0X10\"",
        "-1",     "\"-1\"",   "255",    "256",    "4294967296",      "true",
        "\"EX\"", "\"1KiB\"", "\"00\"", "65535",  "999999999999999", "1000000000000000",
        "\"\""};
    size_t len = (size_t)snprintf(body, size, "{");
    size_t count = random_below(random, 4);
    for (size_t i = 0; i < count && op->field_count > 0; i++) {
        const struct soma_field_row *row = &op->fields[random_below(random, op->field_count)];
        len += (size_t)snprintf(body + len, size - len, "%s\"%s\":%s", i > 0 ? "," : "",
                                soma_field_json(row->field),
                                values[random_below(random, sizeof(values) / sizeof(values[0]))]);
    }
    len += (size_t)snprintf(body + len, size - len, "}");
    if (random_below(random, 4) == 0)
        body[random_below(random, len)] = (char)(' ' + random_below(random, 95));
}

static void test_made_up(void)
{
    struct random_source random = {20240917};
    size_t taken = 0;
    for (unsigned i = 0; i < 200000; i++) {
        enum soma_op op = (enum soma_op)random_below(&random, SOMA_OP_COUNT);
        struct soma_command before, command;
        char body[1024];
        begin(op, &before);
        command = before;
        make_body(&random, soma_op_info(op), body, sizeof(body));
        if (!quick_read(&command, body, strlen(body)))
            continue;
        taken++;
        if (!EXPECT(same_long_way(op, &command, body, &before), "%s %s", soma_op_info(op)->name,
                    body))
            return;
    }
    EXPECT(taken > 1000, "only %zu bodies were taken", taken);
}

static const struct soma_test tests[] = {
    {"taken", test_taken}, {"left", test_left}, {"made up", test_made_up}, {NULL, NULL}};
const struct soma_suite suite_quick = {"quick", tests};
