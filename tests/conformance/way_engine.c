/* Commands without a server: text, tree, command, engine, answer, text, and back to a tree. */
#include "bytes.h"
#include "decode.h"
#include "engine.h"
#include "flat_bytes.h"
#include "host_memory.h"
#include "kernels.h"
#include "ways.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (256u << 20)

struct engine_way {
    bool own_memory;
    struct kernels *kernels;
    struct engine *engine;   /* while a session is open */
    struct bytes *bytes;     /* own_memory */
    struct flat_bytes *flat; /* else */
};

struct engine_way *engine_way_create(bool own_memory)
{
    struct engine_way *way = calloc(1, sizeof(*way));
    if (way == NULL)
        abort();
    way->own_memory = own_memory;
    way->kernels = own_memory ? kernels_create() : NULL;
    return way;
}

void engine_way_destroy(struct engine_way *way)
{
    if (way->own_memory)
        kernels_destroy(way->kernels);
    free(way);
}

/* ---- session ---- */

static void read_config(const cJSON *session, struct engine_config *config)
{
    const cJSON *soc = cJSON_GetObjectItemCaseSensitive(session, "soc");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(session, "devices");
    const char *name = cJSON_IsString(soc) ? soc->valuestring : SOMA_SOC_DEFAULT;
    config->soc = soma_soc_find(name, strlen(name));
    config->device_count =
        cJSON_IsNumber(devices) ? (uint32_t)devices->valueint : SOMA_DEVICES_DEFAULT;
}

static bool way_begin(void *ctx, const cJSON *session)
{
    struct engine_way *way = ctx;
    struct engine_config config = {0};
    const struct engine_mem mem = host_memory_table();
    struct engine_bytes table;
    read_config(session, &config);
    if (config.soc == NULL) {
        printf("the session's SoC is not known\n");
        return false;
    }
    if (way->own_memory) {
        way->bytes = bytes_create(way->kernels);
        if (way->bytes == NULL)
            return false;
        table = bytes_table(way->bytes);
    } else {
        way->flat = flat_bytes_create(UINT64_MAX);
        table = flat_bytes_table(way->flat);
    }
    way->engine = engine_create(&config, &mem, &table);
    return way->engine != NULL;
}

static void way_end(void *ctx)
{
    struct engine_way *way = ctx;
    engine_destroy(way->engine);
    way->engine = NULL;
    bytes_destroy(way->bytes);
    way->bytes = NULL;
    if (way->flat != NULL) {
        if (flat_bytes_ranges(way->flat) != 0)
            printf("the engine left %zu ranges behind\n", flat_bytes_ranges(way->flat));
        flat_bytes_destroy(way->flat);
        way->flat = NULL;
    }
}

/* ---- commands ---- */

/* A wait that only time can end is over at once; one that nothing ends is a fault of the case. */
static enum soma_status apply(struct engine *engine, struct soma_command *command,
                              struct soma_result *result, struct soma_error *error)
{
    enum soma_status status = engine_apply(engine, command, result, error);
    if (status != SOMA_MUST_WAIT)
        return status;
    if (command->op == SOMA_OP_STREAM_DESTROY || command->timeout_ms == UINT64_MAX)
        return soma_fail(error, SOMA_INTERNAL, "", "the step would wait for ever");
    command->expired = true;
    return engine_apply(engine, command, result, error);
}

static void run_text(struct engine_way *way, const char *text, struct soma_writer *answer)
{
    cJSON *root = NULL;
    struct wire_arena arena;
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    wire_arena_init(&arena);
    enum soma_status status = wire_parse(text, strlen(text), &root, &error);
    if (status == SOMA_OK)
        status = decode_step(root, &arena, &command, &error);
    if (status == SOMA_OK)
        status = apply(way->engine, &command, &result, &error);
    if (status == SOMA_OK) {
        wire_encode_result(answer, &result);
        engine_result_clear(way->engine, &result);
    } else {
        wire_encode_error(answer, &error);
    }
    wire_arena_release(&arena);
    cJSON_Delete(root);
}

static cJSON *way_send(void *ctx, const cJSON *step)
{
    struct engine_way *way = ctx;
    struct soma_writer answer;
    char why[256] = "";
    char *text = cJSON_PrintUnformatted(step);
    soma_writer_init(&answer, ANSWER_BYTES_MAX);
    if (text != NULL)
        run_text(way, text, &answer);
    cJSON *tree = answer.failed ? NULL : cJSON_ParseWithLength(answer.ptr, answer.len);
    if (!engine_check(way->engine, why, sizeof(why))) {
        printf("the engine's state is broken: %s\n", why);
        cJSON_Delete(tree);
        tree = NULL;
    }
    soma_writer_release(&answer);
    cJSON_free(text);
    return tree;
}

struct conformance_way engine_way_table(struct engine_way *way)
{
    return (struct conformance_way){
        .name = way->own_memory ? "memory" : "engine",
        .ctx = way,
        .begin = way_begin,
        .send = way_send,
        .end = way_end,
    };
}
