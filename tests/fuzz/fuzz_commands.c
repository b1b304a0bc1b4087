/* libFuzzer: bytes as a program of commands. After each the engine's invariants hold; a refused
 * command has changed nothing; every answer can be sent; at the end nothing is left behind. */
#include "engine.h"
#include "flat_bytes.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS_MAX 400u
#define ADDRESSES_KEPT 16u
#define ALLOC_BYTES_MAX (1u << 20) /* larger allocations of the engine fail */
#define WRITTEN_BYTES_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, read from the front; zeros past its end. */
struct feed {
    const uint8_t *at, *end;
};

struct program {
    struct feed feed;
    struct engine *engine;
    struct flat_bytes *bytes;
    size_t blocks;                      /* allocations that the engine holds */
    uint8_t fail_in;                    /* the n-th allocation from now fails; 0: none */
    uint64_t addresses[ADDRESSES_KEPT]; /* of the latest mallocs */
    size_t address_count;
    uint64_t wall_ns;
    bool is_told; /* print every command: SOMA_FUZZ_TELL is set */
};

/* What must stay as it was when a command is refused. */
struct picture {
    uint64_t now_ns, mapped_bytes;
    struct soma_counts counts;
    struct engine_totals totals;
};

static void require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static uint8_t take(struct feed *feed)
{
    return feed->at < feed->end ? *feed->at++ : 0;
}

/* ---- the engine's memory ---- */

static void *mem_alloc(void *ctx, size_t size_bytes)
{
    struct program *program = ctx;
    if (size_bytes > ALLOC_BYTES_MAX || (program->fail_in > 0 && --program->fail_in == 0))
        return NULL;
    void *ptr = malloc(size_bytes);
    program->blocks += ptr != NULL;
    return ptr;
}

static void mem_release(void *ctx, void *ptr)
{
    struct program *program = ctx;
    program->blocks -= ptr != NULL;
    free(ptr);
}

/* ---- commands out of bytes ---- */

static uint64_t take_raw(struct feed *feed, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | take(feed);
    return value;
}

static uint64_t take_size(struct feed *feed)
{
    static const uint64_t sizes[] = {1,
                                     32,
                                     4096,
                                     SOMA_SMALL_ALLOC_BYTES,
                                     SOMA_GRANULE_BYTES - 1,
                                     SOMA_GRANULE_BYTES,
                                     SOMA_GRANULE_BYTES + 1,
                                     2 * SOMA_GRANULE_BYTES,
                                     3 * SOMA_GRANULE_BYTES,
                                     4 * SOMA_GRANULE_BYTES,
                                     32 * SOMA_GRANULE_BYTES,
                                     UINT64_C(1) << 30,
                                     UINT64_C(1) << 36,
                                     UINT64_MAX};
    uint8_t choice = take(feed);
    if (choice >= 0xf0)
        return take_raw(feed, 8);
    if (choice >= 0xe0)
        return take(feed);
    return sizes[choice % (sizeof(sizes) / sizeof(sizes[0]))];
}

static uint64_t take_address(struct program *program)
{
    uint8_t choice = take(&program->feed);
    if (choice >= 0xf0)
        return take_raw(&program->feed, 8);
    uint64_t address = program->addresses[choice % ADDRESSES_KEPT];
    return choice < 0xc0 ? address : address + take_size(&program->feed);
}

static uint64_t take_word(struct feed *feed, enum soma_enum_group group)
{
    const struct soma_word_list *list = soma_words(group);
    return (uint64_t)list->words[take(feed) % list->count].value;
}

static uint64_t take_number(struct program *program, enum soma_field_kind kind)
{
    struct feed *feed = &program->feed;
    const struct soma_field_kind_info *info = soma_field_kind_info(kind);
    uint64_t value;
    if (info->words != SOMA_GROUP_COUNT)
        return take_word(feed, info->words);
    if (kind == SOMA_KIND_DEVICE)
        return take(feed) % 3u;
    if (kind == SOMA_KIND_ID)
        return take(feed) % 8u;
    if (kind == SOMA_KIND_ADDRESS)
        return take_address(program);
    if (kind == SOMA_KIND_TIMEOUT) {
        uint8_t choice = take(feed);
        return choice >= 0x80 ? UINT64_MAX : choice % 8u;
    }
    if (kind == SOMA_KIND_DURATION)
        value = take(feed) * UINT64_C(100000);
    else
        value = take_size(feed);
    if (value >= info->min && value <= info->max)
        return value;
    uint64_t span = info->max - info->min;
    return span == UINT64_MAX ? value : info->min + value % (span + 1);
}

static void take_args(struct program *program, struct wire_arena *arena,
                      struct soma_kernel_args *args)
{
    size_t count = take(&program->feed) % 5u;
    struct soma_kernel_arg *items = wire_arena_alloc(arena, count * sizeof(*items));
    require(items != NULL, "no memory");
    memset(items, 0, count * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i].kind = take(&program->feed) % 2 == 0 ? SOMA_ARG_PTR : SOMA_ARG_U32;
        items[i].bits =
            items[i].kind == SOMA_ARG_PTR ? take_address(program) : take(&program->feed);
    }
    *args = (struct soma_kernel_args){items, count};
}

static void take_struct(struct program *program, const struct soma_field_row *row,
                        struct wire_arena *arena, struct soma_command *command)
{
    static const char *const texts[] = {"Ascend910B1", "Ascend910A", "x", "a name"};
    void *place = (char *)command + soma_field_offset(row->field);
    if (row->kind == SOMA_KIND_ARGS) {
        take_args(program, arena, place);
    } else if (row->kind == SOMA_KIND_TEXT) {
        const char *text = texts[take(&program->feed) % 4u];
        *(struct soma_text *)place = (struct soma_text){text, strlen(text)};
    } else {
        size_t len = take(&program->feed) % 40u;
        char *bytes = wire_arena_alloc(arena, len);
        require(bytes != NULL, "no memory");
        memset(bytes, take(&program->feed), len);
        *(struct soma_text *)place = (struct soma_text){bytes, len};
    }
    command->present |= UINT64_C(1) << row->field;
}

static void take_command(struct program *program, struct wire_arena *arena,
                         struct soma_command *command)
{
    const struct soma_op_info *info =
        soma_op_info((enum soma_op)(take(&program->feed) % SOMA_OP_COUNT));
    uint8_t optional = take(&program->feed);
    soma_command_init(command, info->op);
    for (size_t i = 0; i < info->field_count; i++) {
        const struct soma_field_row *row = &info->fields[i];
        if (!row->required && (optional >> i % 8 & 1u) == 0)
            continue;
        if (row->kind == SOMA_KIND_ARGS || row->kind == SOMA_KIND_TEXT ||
            row->kind == SOMA_KIND_BASE64) {
            take_struct(program, row, arena, command);
        } else if (row->kind == SOMA_KIND_LOCATION) {
            soma_command_set(command, SOMA_FIELD_location_type,
                             take_word(&program->feed, SOMA_GROUP_location_type));
            soma_command_set(command, SOMA_FIELD_location_id, take(&program->feed) % 3u);
        } else {
            soma_command_set(command, row->field, take_number(program, row->kind));
        }
    }
}

/* ---- running them ---- */

static void draw(const struct program *program, struct picture *picture)
{
    memset(picture, 0, sizeof(*picture));
    picture->now_ns = engine_now_ns(program->engine);
    picture->mapped_bytes = engine_mapped_bytes(program->engine);
    engine_counts(program->engine, &picture->counts);
    engine_totals(program->engine, &picture->totals);
}

static bool moves_clock(enum soma_status status)
{
    return status == SOMA_STREAM_SYNC_TIMEOUT || status == SOMA_EVENT_SYNC_TIMEOUT ||
           status == SOMA_DEVICE_SYNC_TIMEOUT || status == SOMA_STREAM_WAIT_TIMEOUT;
}

/* For the report of a failure. */
static void print_command(const struct soma_command *command, enum soma_status status)
{
    struct soma_writer writer;
    soma_writer_init(&writer, 1 << 20);
    wire_encode_command(&writer, command);
    fprintf(stderr, "%.*s -> %s\n", (int)writer.len, writer.ptr == NULL ? "" : writer.ptr,
            status == SOMA_OK ? "OK" : soma_status_reason(status));
    soma_writer_release(&writer);
}

static void check_refused(const struct program *program, const struct picture *before,
                          enum soma_status status)
{
    struct picture after;
    draw(program, &after);
    if (moves_clock(status))
        after.now_ns = before->now_ns;
    /* Frees that are due by the command's clock are settled even if it is refused. */
    if (after.mapped_bytes < before->mapped_bytes)
        after.mapped_bytes = before->mapped_bytes;
    require(memcmp(before, &after, sizeof(after)) == 0, "a refused command changed the session");
}

/* Integers of answers are exact: wire_parse takes them only so. */
static void check_answer(const struct soma_result *result)
{
    struct soma_writer writer;
    struct soma_error error;
    cJSON *root = NULL;
    soma_writer_init(&writer, 1 << 28);
    wire_encode_result(&writer, result);
    require(!writer.failed, "an answer too large");
    if (writer.len > 0 && wire_parse(writer.ptr, writer.len, &root, &error) != SOMA_OK) {
        fprintf(stderr, "%s\n%.*s\n", error.message, (int)writer.len, writer.ptr);
        require(false, "an answer that cannot be sent");
    }
    cJSON_Delete(root);
    soma_writer_release(&writer);
}

static void keep_address(struct program *program, const struct soma_command *command,
                         const struct soma_result *result)
{
    uint64_t value;
    bool is_malloc = command->op == SOMA_OP_POOL_MALLOC || command->op == SOMA_OP_MEMORY_MALLOC;
    if (is_malloc && wire_created_value(command->op, result, &value))
        program->addresses[program->address_count++ % ADDRESSES_KEPT] = value;
}

/* One call of engine_apply and all that must hold after it. */
static enum soma_status apply(struct program *program, const struct soma_command *command)
{
    struct soma_result result;
    struct soma_error error = {.status = SOMA_OK};
    struct picture before;
    char why[256] = "";
    draw(program, &before);
    enum soma_status status = engine_apply(program->engine, command, &result, &error);
    if (program->is_told)
        print_command(command, status);
    if (!engine_check(program->engine, why, sizeof(why))) {
        fprintf(stderr, "after %s: ", soma_op_info(command->op)->name);
        require(false, why);
    }
    if (status == SOMA_OK) {
        check_answer(&result);
        keep_address(program, command, &result);
        engine_result_clear(program->engine, &result);
        return status;
    }
    check_refused(program, &before, status);
    if (status != SOMA_MUST_WAIT) {
        require(error.status == status && error.message[0] != '\0', "an error without words");
        require(status != SOMA_INTERNAL, error.message);
    }
    return status;
}

static void run_command(struct program *program)
{
    struct wire_arena arena;
    struct soma_command command;
    wire_arena_init(&arena);
    take_command(program, &arena, &command);
    bool may_expire = command.op != SOMA_OP_STREAM_DESTROY && command.timeout_ms != UINT64_MAX;
    if (apply(program, &command) == SOMA_MUST_WAIT && may_expire) {
        command.expired = true;
        require(apply(program, &command) != SOMA_MUST_WAIT, "it waits past its timeout");
    }
    wire_arena_release(&arena);
}

static void run_program(struct program *program, bool wall_clock)
{
    struct soma_leak *leaks = NULL;
    size_t leak_count = 0;
    for (unsigned i = 0; i < COMMANDS_MAX && program->feed.at < program->feed.end; i++) {
        if (wall_clock) {
            program->wall_ns += take(&program->feed) * UINT64_C(1000);
            engine_set_wall(program->engine, program->wall_ns);
        }
        run_command(program);
    }
    program->fail_in = 0;
    if (engine_leaks(program->engine, 5, &leaks, &leak_count) == SOMA_OK)
        mem_release(program, leaks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const socs[] = {"Ascend910B1", "Ascend910A", "Ascend910B4", "Ascend910B1"};
    struct program program = {.feed = {data, data + size},
                              .is_told = getenv("SOMA_FUZZ_TELL") != NULL};
    uint8_t choice = take(&program.feed);
    const char *soc = socs[choice % 4u];
    bool wall_clock = (choice & 0x10u) != 0;
    const struct engine_mem mem = {&program, mem_alloc, mem_release};
    const struct engine_config config = {.device_count = 2,
                                         .soc = soma_soc_find(soc, strlen(soc)),
                                         .memory_bytes = 64 * SOMA_GRANULE_BYTES,
                                         .wall_clock = wall_clock};
    program.fail_in = (choice & 0x20u) != 0 ? take(&program.feed) : 0;
    program.bytes = flat_bytes_create(WRITTEN_BYTES_MAX);
    struct engine_bytes table = flat_bytes_table(program.bytes);
    bool has_bytes = (choice & 0x40u) == 0;
    program.engine = engine_create(&config, &mem, has_bytes ? &table : NULL);
    if (program.engine != NULL) {
        run_program(&program, wall_clock);
        engine_destroy(program.engine);
    }
    require(program.blocks == 0, "the engine kept memory");
    require(flat_bytes_ranges(program.bytes) == 0, "the engine kept ranges");
    flat_bytes_destroy(program.bytes);
    return 0;
}
