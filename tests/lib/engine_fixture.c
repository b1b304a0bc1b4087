/* The fixture: memory, contents, one command at a time, replay. */
#include "engine_fixture.h"

#include "expect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text that grows ---- */

void fixture_text_add(struct fixture_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int wrote = vsnprintf(NULL, 0, format, args);
    size_t len = wrote < 0 ? 0 : (size_t)wrote;
    if (text->len + len + 1 > text->capacity) {
        text->capacity = (text->len + len + 1) * 2;
        text->ptr = realloc(text->ptr, text->capacity);
        if (text->ptr == NULL)
            abort();
    }
    (void)vsnprintf(text->ptr + text->len, len + 1, format, again);
    va_end(again);
    va_end(args);
    text->len += len;
}

void fixture_text_clear(struct fixture_text *text)
{
    free(text->ptr);
    *text = (struct fixture_text){0};
}

/* ---- memory ---- */

/* What stands before each block; as long as any type's alignment asks for. */
union block_head {
    max_align_t align;
    struct {
        uint64_t magic;
        size_t size_bytes;
    } block;
};

enum { HEAD_MAGIC = 0x50a1, RUBBISH = 0xa5 };

static void *counted_alloc(void *ctx, size_t size_bytes)
{
    struct counted_memory *memory = ctx;
    long number = ++memory->allocations;
    if (memory->fail_at > 0 && number >= memory->fail_at &&
        number <= memory->fail_at + memory->fail_more) {
        memory->has_failed = true;
        return NULL;
    }
    union block_head *head = malloc(sizeof(*head) + size_bytes);
    if (head == NULL)
        abort();
    head->block.magic = HEAD_MAGIC;
    head->block.size_bytes = size_bytes;
    memset(head + 1, RUBBISH, size_bytes);
    memory->live++;
    return head + 1;
}

static void counted_release(void *ctx, void *ptr)
{
    struct counted_memory *memory = ctx;
    if (ptr == NULL)
        return;
    union block_head *head = (union block_head *)ptr - 1;
    if (!EXPECT(head->block.magic == HEAD_MAGIC, "a block that is not the table's is given back"))
        return;
    memset(head, RUBBISH, sizeof(*head) + head->block.size_bytes);
    memory->live--;
    free(head);
}

struct engine_mem counted_memory_table(struct counted_memory *memory)
{
    return (struct engine_mem){memory, counted_alloc, counted_release};
}

/* ---- contents ---- */

static bool must_fail(struct kept_contents *contents, struct soma_error *error)
{
    if (!contents->fail_next)
        return false;
    contents->fail_next = false;
    (void)soma_fail(error, SOMA_HOST_MEMORY_EXHAUSTED, "", "told to fail");
    return true;
}

static enum soma_status kept_reserve(void *ctx, uint64_t address, uint64_t size_bytes,
                                     struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.reserve(contents->flat, address, size_bytes, error);
}

static void kept_release(void *ctx, uint64_t address, uint64_t size_bytes)
{
    const struct kept_contents *contents = ctx;
    contents->flat_table.release(contents->flat, address, size_bytes);
}

static void kept_unmap(void *ctx, uint64_t address, uint64_t size_bytes)
{
    const struct kept_contents *contents = ctx;
    contents->flat_table.unmap(contents->flat, address, size_bytes);
}

static enum soma_status kept_touch(void *ctx, uint64_t address, uint64_t size_bytes,
                                   struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.touch(contents->flat, address, size_bytes, error);
}

static enum soma_status kept_write(void *ctx, uint64_t address, const void *from,
                                   uint64_t size_bytes, struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.write(contents->flat, address, from, size_bytes, error);
}

static enum soma_status kept_read(void *ctx, uint64_t address, void *to, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.read(contents->flat, address, to, size_bytes, error);
}

static enum soma_status kept_set(void *ctx, uint64_t address, uint8_t value, uint64_t size_bytes,
                                 struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.set(contents->flat, address, value, size_bytes, error);
}

static enum soma_status kept_copy(void *ctx, uint64_t dst, uint64_t src, uint64_t size_bytes,
                                  struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.copy(contents->flat, dst, src, size_bytes, error);
}

static enum soma_status kept_reduce(void *ctx, const struct engine_reduce *what,
                                    struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    return contents->flat_table.reduce(contents->flat, what, error);
}

static void kept_random(void *ctx, const struct engine_random *what, uint64_t first, uint64_t count,
                        void *to)
{
    struct kept_contents *contents = ctx;
    contents->flat_table.random(contents->flat, what, first, count, to);
}

static enum soma_status kept_kernel(void *ctx, const struct engine *engine,
                                    const struct soma_command *command, uint64_t *cost_ns,
                                    struct soma_error *error)
{
    struct kept_contents *contents = ctx;
    uint64_t base, block_bytes, requested_bytes;
    if (must_fail(contents, error))
        return SOMA_HOST_MEMORY_EXHAUSTED;
    if (command->kernel.len != 4 || memcmp(command->kernel.ptr, "poke", 4) != 0)
        return soma_fail(error, SOMA_NO_SUCH_KERNEL, "kernel", "only poke is there");
    if (command->args.count != 1)
        return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args", "poke takes an address");
    uint64_t address = command->args.items[0].bits;
    *cost_ns = 7000;
    if (engine_resolve(engine, command->device, address, 1, &base, &block_bytes, &requested_bytes,
                       error) != SOMA_OK)
        return soma_fail(error, SOMA_KERNEL_FAULT, "args", "poke hits no live memory");
    struct engine_piece piece;
    engine_translate(engine, address, &piece);
    return contents->flat_table.set(contents->flat, piece.address, '*', 1, error);
}

struct engine_bytes kept_contents_table(struct kept_contents *contents)
{
    return (struct engine_bytes){.ctx = contents,
                                 .reserve = kept_reserve,
                                 .release = kept_release,
                                 .unmap = kept_unmap,
                                 .touch = kept_touch,
                                 .write = kept_write,
                                 .read = kept_read,
                                 .set = kept_set,
                                 .copy = kept_copy,
                                 .reduce = kept_reduce,
                                 .random = kept_random,
                                 .kernel = kept_kernel};
}

/* ---- answers as text ---- */

static void describe_message(enum soma_message message, const char *base, const char *prefix,
                             struct fixture_text *out);

static void describe_number(uint64_t value, enum soma_member_kind kind, struct fixture_text *out)
{
    if (value == SOMA_NONE && kind != SOMA_MEMBER_KIND_U64)
        fixture_text_add(out, "none");
    else
        fixture_text_add(out, kind == SOMA_MEMBER_KIND_ADDRESS ? "0x%" PRIx64 : "%" PRIu64, value);
}

static void describe_array(const struct soma_member *member, const void *place, const char *path,
                           struct fixture_text *out)
{
    struct soma_array array;
    char prefix[192];
    memcpy(&array, place, sizeof(array));
    fixture_text_add(out, "%s.count=%zu\n", path, array.count);
    for (size_t i = 0; i < array.count; i++) {
        (void)snprintf(prefix, sizeof(prefix), "%s[%zu].", path, i);
        size_t item_size = soma_message_info((enum soma_message)member->sub)->size;
        describe_message((enum soma_message)member->sub, (const char *)array.items + i * item_size,
                         prefix, out);
    }
}

static void describe_names(const struct soma_names *names, const char *path,
                           struct fixture_text *out)
{
    fixture_text_add(out, "%s.count=%zu\n", path, names->count);
    for (size_t i = 0; i < names->count; i++)
        fixture_text_add(out, "%s[%zu]=%s\n", path, i, names->items[i]);
}

/* Printable bytes as themselves, zeroes as '.', the rest as '?'. */
static void describe_data(const struct soma_buffer *data, struct fixture_text *out)
{
    for (size_t i = 0; i < data->len; i++) {
        unsigned char byte = data->ptr[i];
        fixture_text_add(out, "%c", byte == 0 ? '.' : byte > ' ' && byte < 0x7f ? byte : '?');
    }
}

/* Members that are one value. */
static void describe_value(const struct soma_member *member, const void *place,
                           struct fixture_text *out)
{
    uint64_t number = 0;
    int word = 0;
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_ADDRESS:
        memcpy(&number, place, sizeof(number));
        describe_number(number, member->kind, out);
        break;
    case SOMA_MEMBER_KIND_BOOL:
        fixture_text_add(out, "%s", *(const bool *)place ? "true" : "false");
        break;
    case SOMA_MEMBER_KIND_F64: fixture_text_add(out, "%.9g", *(const double *)place); break;
    case SOMA_MEMBER_KIND_ENUM:
        memcpy(&word, place, sizeof(word));
        fixture_text_add(out, "%s", soma_word_of((enum soma_enum_group)member->sub, word));
        break;
    case SOMA_MEMBER_KIND_TEXT: fixture_text_add(out, "%s", *(const char *const *)place); break;
    case SOMA_MEMBER_KIND_DATA: describe_data(place, out); break;
    case SOMA_MEMBER_KIND_NAME: fixture_text_add(out, "%s", (const char *)place); break;
    case SOMA_MEMBER_KIND_NAMES:
    case SOMA_MEMBER_KIND_OBJECT:
    case SOMA_MEMBER_KIND_ARRAY:
    default: EXPECT(false, "%s: the fixture does not know this kind of member", member->json);
    }
}

static void describe_message(enum soma_message message, const char *base, const char *prefix,
                             struct fixture_text *out)
{
    const struct soma_message_info *info = soma_message_info(message);
    char path[128];
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        const char *place = base + member->offset;
        (void)snprintf(path, sizeof(path), "%s%s", prefix, member->json);
        if (member->kind == SOMA_MEMBER_KIND_ARRAY) {
            describe_array(member, place, path, out);
        } else if (member->kind == SOMA_MEMBER_KIND_NAMES) {
            describe_names((const void *)place, path, out);
        } else if (member->kind == SOMA_MEMBER_KIND_OBJECT) {
            (void)snprintf(path, sizeof(path), "%s%s.", prefix, member->json);
            describe_message((enum soma_message)member->sub, place, path, out);
        } else {
            fixture_text_add(out, "%s=", path);
            describe_value(member, place, out);
            fixture_text_add(out, "\n");
        }
    }
}

void fixture_describe(const struct soma_result *result, struct fixture_text *out)
{
    if (result->message != SOMA_MESSAGE_NONE)
        describe_message(result->message, (const char *)&result->u, "", out);
}

/* ---- the fixture ---- */

struct fixture_setup fixture_setup_default(void)
{
    return (struct fixture_setup){
        .config = {.device_count = 2,
                   .soc = soma_soc_find(SOMA_SOC_DEFAULT, strlen(SOMA_SOC_DEFAULT)),
                   .memory_bytes = 64 * SOMA_GRANULE_BYTES},
        .has_contents = true,
    };
}

bool fixture_start_failing(struct fixture *fixture, const struct fixture_setup *setup, long fail_at)
{
    *fixture = (struct fixture){.setup = setup != NULL ? *setup : fixture_setup_default(),
                                .memory.fail_at = fail_at};
    fixture->contents.flat = flat_bytes_create(UINT64_MAX);
    fixture->contents.flat_table = flat_bytes_table(fixture->contents.flat);
    struct engine_mem mem = counted_memory_table(&fixture->memory);
    struct engine_bytes bytes = kept_contents_table(&fixture->contents);
    fixture->engine =
        engine_create(&fixture->setup.config, &mem, fixture->setup.has_contents ? &bytes : NULL);
    return fixture->engine != NULL;
}

bool fixture_start(struct fixture *fixture, const struct fixture_setup *setup)
{
    return fixture_start_failing(fixture, setup, 0);
}

void fixture_set_wall(struct fixture *fixture, uint64_t wall_ns)
{
    if (wall_ns > fixture->wall_ns)
        fixture->wall_ns = wall_ns;
    engine_set_wall(fixture->engine, wall_ns);
}

/* Keep an accepted command, with all that it borrows. */
/* The text of a command, which has one at most. */
static const struct soma_text *text_of(const struct soma_command *command)
{
    const struct soma_text *texts[] = {&command->data, &command->kernel, &command->soc,
                                       &command->object_name};
    size_t i = 0;
    while (i + 1 < sizeof(texts) / sizeof(texts[0]) && texts[i]->len == 0)
        i++;
    return texts[i];
}

static void log_input(struct fixture *fixture, const struct soma_command *command)
{
    if (fixture->log_count == fixture->log_capacity) {
        fixture->log_capacity = fixture->log_capacity == 0 ? 32 : fixture->log_capacity * 2;
        fixture->log = realloc(fixture->log, fixture->log_capacity * sizeof(*fixture->log));
        if (fixture->log == NULL)
            abort();
    }
    struct fixture_input *input = &fixture->log[fixture->log_count++];
    *input = (struct fixture_input){.command = *command, .wall_ns = fixture->wall_ns};
    const struct soma_text *text = text_of(command);
    if (text->len > sizeof(input->text) || command->args.count > FIXTURE_ARGS_MAX)
        abort();
    if (text->len > 0)
        memcpy(input->text, text->ptr, text->len);
    for (size_t i = 0; i < command->args.count; i++)
        input->args[i] = command->args.items[i];
}

/* The command of an input, its pointers set to where the input lies now. */
static struct soma_command command_of(const struct fixture_input *input)
{
    struct soma_command command = input->command;
    command.kernel.ptr = command.data.ptr = input->text; /* one text a command */
    command.soc.ptr = command.object_name.ptr = input->text;
    command.args.items = input->args;
    return command;
}

static bool moves_clock(enum soma_status status)
{
    return status == SOMA_STREAM_SYNC_TIMEOUT || status == SOMA_EVENT_SYNC_TIMEOUT ||
           status == SOMA_DEVICE_SYNC_TIMEOUT || status == SOMA_STREAM_WAIT_TIMEOUT ||
           soma_is_kernel_failure(status);
}

enum soma_status fixture_apply(struct fixture *fixture, const struct soma_command *command)
{
    struct soma_result result;
    fixture_text_clear(&fixture->answer);
    fixture->status = engine_apply(fixture->engine, command, &result, &fixture->error);
    if (fixture->status == SOMA_OK) {
        fixture_describe(&result, &fixture->answer);
        if (result.message == SOMA_MESSAGE_POOL_CREATED &&
            result.u.pool_created.pool < FIXTURE_POOLS_MAX)
            fixture->bases[result.u.pool_created.pool] = result.u.pool_created.base_address;
        engine_result_clear(fixture->engine, &result);
    } else {
        EXPECT(fixture->status == SOMA_MUST_WAIT || fixture->error.status == fixture->status,
               "status %d, but the error says %d", (int)fixture->status,
               (int)fixture->error.status);
    }
    if (fixture->status == SOMA_OK || moves_clock(fixture->status))
        log_input(fixture, command);
    return fixture->status;
}

enum soma_status fixture_run(struct fixture *fixture, const char *format, ...)
{
    char line[512];
    struct fixture_input input;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (!fixture_parse(fixture, line, &input))
        return SOMA_INTERNAL;
    struct soma_command command = command_of(&input);
    return fixture_apply(fixture, &command);
}

uint64_t fixture_number(const struct fixture *fixture, const char *path)
{
    size_t len = strlen(path);
    const char *at = fixture->answer.ptr;
    while (at != NULL && !(strncmp(at, path, len) == 0 && at[len] == '=')) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    EXPECT(at != NULL, "the answer has no %s", path);
    if (at == NULL)
        return 0;
    return strncmp(at + len + 1, "none\n", 5) == 0 ? SOMA_NONE : strtoull(at + len + 1, NULL, 0);
}

/* ---- dumps ---- */

/* Run a command and append its answer or refusal. */
static void dump_command(struct fixture *fixture, const char *line, struct fixture_text *out)
{
    enum soma_status status = fixture_run(fixture, "%s", line);
    fixture_text_add(out, "%s: %s\n", line,
                     status == SOMA_OK ? "OK" : soma_status_info(status)->name);
    for (const char *at = fixture->answer.ptr; at != NULL && *at != '\0';) {
        size_t len = strcspn(at, "\n");
        fixture_text_add(out, "%.*s\n", (int)len, at);
        at += len + (at[len] != '\0');
    }
}

/* dump_command on each id in [0, last]; `format` has device and id. */
static void dump_each(struct fixture *fixture, const char *op, const char *field, uint64_t last,
                      struct fixture_text *out)
{
    char line[256];
    for (uint32_t device = 0; device < fixture->setup.config.device_count; device++) {
        for (uint64_t id = 0; id <= last; id++) {
            (void)snprintf(line, sizeof(line), "%s device=%" PRIu32 " %s=%" PRIu64, op, device,
                           field, id);
            dump_command(fixture, line, out);
        }
    }
}

static void dump_sums(const struct fixture *fixture, struct fixture_text *out)
{
    struct soma_counts counts;
    struct engine_totals totals;
    engine_counts(fixture->engine, &counts);
    engine_totals(fixture->engine, &totals);
    fixture_text_add(out, "now=%" PRIu64 " mapped=%" PRIu64 " digest=%" PRIx64 "\n",
                     engine_now_ns(fixture->engine), engine_mapped_bytes(fixture->engine),
                     engine_digest(fixture->engine));
    const uint64_t *values = (const uint64_t *)&counts;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*values); i++)
        fixture_text_add(out, "count %zu: %" PRIu64 "\n", i, values[i]);
    values = (const uint64_t *)&totals;
    for (size_t i = 0; i < sizeof(totals) / sizeof(*values); i++)
        fixture_text_add(out, "total %zu: %" PRIu64 "\n", i, values[i]);
}

/* Every pipe: its layout, then what its queues and buffers would do next. */
static void dump_pipes(struct fixture *fixture, struct fixture_text *out)
{
    static const char *const creates[] = {"pipe.createTQue", "pipe.createTBuf",
                                          "pipe.createTBufPool"};
    static const char *const uses[] = {"pipe.allocTensor pipe=%" PRIu64 " tque=%" PRIu64,
                                       "pipe.deQue pipe=%" PRIu64 " tque=%" PRIu64,
                                       "pipe.tbufGet pipe=%" PRIu64 " tbuf=%" PRIu64 " dtype=int8"};
    char line[128];
    uint64_t last_id = 0;
    dump_command(fixture, "pipe.list", out);
    dump_command(fixture, "pipe.create", out);
    uint64_t last_pipe = fixture_number(fixture, "pipe");
    for (uint64_t pipe = 1; pipe <= last_pipe; pipe++) {
        for (size_t i = 0; i < sizeof(creates) / sizeof(creates[0]); i++) {
            (void)snprintf(line, sizeof(line), "%s pipe=%" PRIu64 " position=VECIN", creates[i],
                           pipe);
            dump_command(fixture, line, out);
            if (i == 0 && fixture->status == SOMA_OK)
                last_id = fixture_number(fixture, "tque");
        }
        for (uint64_t id = 1; id <= last_id * 3; id++) {
            (void)snprintf(line, sizeof(line), uses[id % 3], pipe, id / 3);
            dump_command(fixture, line, out);
        }
        (void)snprintf(line, sizeof(line), "pipe.layout pipe=%" PRIu64, pipe);
        dump_command(fixture, line, out);
    }
}

void fixture_dump(struct fixture *fixture, struct fixture_text *out)
{
    char line[128];
    dump_command(fixture, "device.list", out); /* first: it settles what is due */
    dump_sums(fixture, out);
    for (uint32_t device = 0; device < fixture->setup.config.device_count; device++) {
        static const char *const lists[] = {"stream.list", "event.list", "pool.list"};
        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
            (void)snprintf(line, sizeof(line), "%s device=%" PRIu32, lists[i], device);
            dump_command(fixture, line, out);
        }
    }
    dump_command(fixture, "stream.create", out);
    uint64_t last_stream = fixture_number(fixture, "stream");
    dump_command(fixture, "event.create", out);
    uint64_t last_event = fixture_number(fixture, "event");
    dump_command(fixture, "pool.create", out);
    uint64_t last_pool =
        fixture->status == SOMA_OK ? fixture_number(fixture, "pool") : FIXTURE_POOLS_MAX;
    dump_each(fixture, "pool.get", "pool", last_pool, out);
    dump_each(fixture, "pool.segments", "pool", last_pool, out);
    dump_each(fixture, "event.get", "event", last_event, out);
    for (uint64_t pool = 1; pool <= last_pool; pool++) {
        (void)snprintf(line, sizeof(line), "pool.malloc size=1 pool=%" PRIu64, pool);
        dump_each(fixture, line, "stream", last_stream, out);
    }
    dump_each(fixture, "stream.get", "stream", last_stream, out);
    dump_command(fixture, "memory.malloc size=1", out);
    dump_command(fixture, "memory.malloc size=1g", out);
    dump_pipes(fixture, out);
    dump_sums(fixture, out);
}

/* ---- the end of a fixture ---- */

static void expect_no_leak(struct fixture *fixture, const char *what)
{
    engine_destroy(fixture->engine);
    fixture->engine = NULL;
    EXPECT(fixture->memory.live == 0, "%s: %ld blocks of memory are left", what,
           fixture->memory.live);
    EXPECT(flat_bytes_ranges(fixture->contents.flat) == 0, "%s: ranges of contents are left", what);
    flat_bytes_destroy(fixture->contents.flat);
    fixture->contents.flat = NULL;
}

void fixture_abandon(struct fixture *fixture, const char *what)
{
    expect_no_leak(fixture, what);
    fixture_text_clear(&fixture->answer);
    free(fixture->log);
    fixture->log = NULL;
}

/* Fail with the first line in which two dumps differ. */
static void expect_same(const char *a, const char *b, const char *what)
{
    size_t at = 0, line = 0;
    while (a[at] != '\0' && a[at] == b[at]) {
        at++;
        line = a[at - 1] == '\n' ? at : line;
    }
    EXPECT(a[at] == b[at],
           "%s: a session that ran only what was accepted has \"%.*s\", not \"%.*s\"", what,
           (int)strcspn(b + line, "\n"), b + line, (int)strcspn(a + line, "\n"), a + line);
}

/* A second engine that is told only what the first one accepted is in the same state. */
static void expect_same_as_replay(struct fixture *fixture, const char *what)
{
    struct fixture second;
    struct fixture_text dump = {0}, second_dump = {0};
    if (!fixture_start(&second, &fixture->setup))
        abort();
    size_t count = fixture->log_count;
    for (size_t i = 0; i < count; i++) {
        struct soma_command command = command_of(&fixture->log[i]);
        fixture_set_wall(&second, fixture->log[i].wall_ns);
        (void)fixture_apply(&second, &command);
    }
    fixture_set_wall(&second, fixture->wall_ns);
    fixture_dump(fixture, &dump);
    fixture_dump(&second, &second_dump);
    expect_same(dump.ptr, second_dump.ptr, what);
    fixture_text_clear(&dump);
    fixture_text_clear(&second_dump);
    fixture_abandon(&second, what);
}

void fixture_finish(struct fixture *fixture, const char *what)
{
    char why[256] = "";
    fixture->memory.fail_at = 0;
    EXPECT(engine_check(fixture->engine, why, sizeof(why)), "%s: %s", what, why);
    expect_same_as_replay(fixture, what);
    EXPECT(engine_check(fixture->engine, why, sizeof(why)), "%s, after its dump: %s", what, why);
    fixture_abandon(fixture, what);
}
