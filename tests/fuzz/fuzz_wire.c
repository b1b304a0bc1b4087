/* libFuzzer: any bytes as a body, JSON or compact. What is accepted becomes the same command again
 * when it is written and read once more; what is refused is refused with an error that can be
 * sent. */
#include "batch.h"
#include "decode.h"
#include "sample.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

/* Every error is a valid answer: it names a status, says something, and is JSON. */
static void check_error(enum soma_status status, const struct soma_error *error)
{
    struct soma_writer writer;
    cJSON *root = NULL;
    struct soma_error again;
    require(status == error->status && status != SOMA_INTERNAL && status != SOMA_OUT_OF_MEMORY);
    require(strlen(error->field) < SOMA_FIELD_BYTES && error->message[0] != '\0');
    soma_writer_init(&writer, 1 << 20);
    wire_encode_error(&writer, error);
    require(!writer.failed && wire_parse(writer.ptr, writer.len, &root, &again) == SOMA_OK);
    cJSON_Delete(root);
    soma_writer_release(&writer);
}

static void check_round_trip(const struct soma_command *command)
{
    struct soma_writer writer;
    struct wire_arena arena;
    struct soma_command again;
    struct soma_error error;
    soma_writer_init(&writer, 1 << 28);
    wire_arena_init(&arena);
    soma_command_init(&again, command->op);
    wire_encode_command(&writer, command);
    require(!writer.failed);
    require(decode_text(writer.ptr, writer.len, true, &arena, &again, &error) == SOMA_OK);
    require(sample_same_command(command, &again));
    wire_arena_release(&arena);
    soma_writer_release(&writer);
}

/* Path fields as a router would have set them. */
static void init_routed(struct soma_command *command, enum soma_op op)
{
    const struct soma_op_info *info = soma_op_info(op);
    soma_command_init(command, op);
    for (size_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].where == SOMA_WHERE_PATH)
            soma_command_set(command, info->fields[i].field, 1);
    }
}

static void check_command(const struct wire_value *object, enum soma_op op, bool in_batch,
                          const struct wire_names *names)
{
    struct wire_arena arena;
    struct soma_command command;
    struct soma_error error;
    wire_arena_init(&arena);
    soma_command_init(&command, op);
    if (!in_batch)
        init_routed(&command, op);
    enum soma_status status =
        wire_decode_command(object, in_batch, names, &arena, &command, &error);
    if (status == SOMA_OK)
        check_round_trip(&command);
    else
        check_error(status, &error);
    wire_arena_release(&arena);
}

/* As the element of a batch: its own op where it has one, else each in turn. */
static void check_element(const struct wire_value *element, const struct wire_names *names)
{
    const struct wire_value *name =
        element->type == WIRE_OBJECT ? wire_member(element, "op") : NULL;
    if (name != NULL && name->type == WIRE_STRING) {
        const struct soma_op_info *info = soma_op_find(name->text, name->len);
        if (info != NULL)
            check_command(element, info->op, true, names);
        return;
    }
    for (int op = 0; op < SOMA_OP_COUNT; op++)
        check_command(element, (enum soma_op)op, true, names);
}

/* ---- the compact form ---- */

static void check_batch_round_trip(const struct soma_command *command)
{
    struct soma_batch_writer batch;
    struct soma_batch_reader reader;
    struct soma_writer body;
    struct wire_arena arena;
    struct soma_command again;
    struct soma_error error;
    soma_batch_writer_init(&batch, 1 << 28);
    soma_writer_init(&body, 1 << 28);
    wire_arena_init(&arena);
    require(soma_batch_add(&batch, command) && soma_batch_finish(&batch, 0, 1, &body));
    require(soma_batch_open(&reader, body.ptr, body.len, &error) == SOMA_OK);
    require(soma_batch_next(&reader, &arena, &again, &error) == SOMA_OK);
    require(sample_same_command(command, &again));
    wire_arena_release(&arena);
    soma_writer_release(&body);
    soma_batch_writer_release(&batch);
}

static void check_batch(const uint8_t *data, size_t size)
{
    struct soma_batch_reader reader;
    struct soma_command command;
    struct wire_arena arena;
    struct soma_error error;
    enum soma_status status = soma_batch_open(&reader, data, size, &error);
    wire_arena_init(&arena);
    while (status == SOMA_OK && reader.taken < reader.header.count) {
        status = soma_batch_next(&reader, &arena, &command, &error);
        if (status == SOMA_OK)
            check_batch_round_trip(&command);
    }
    if (status != SOMA_OK)
        check_error(status, &error);
    wire_arena_release(&arena);
}

static void release_malloc(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static void check_batch_answer(const uint8_t *data, size_t size)
{
    struct soma_batch_answer_reader reader;
    struct soma_result result;
    struct soma_error error = {.status = SOMA_OK};
    if (!soma_batch_open_answer(&reader, data, size))
        return;
    for (uint32_t i = 0; i < reader.answer.records && error.status != SOMA_MALFORMED_BATCH; i++) {
        struct soma_writer writer;
        soma_writer_init(&writer, 1 << 28);
        if (soma_batch_next_answer(&reader, &result, &error) == SOMA_OK) {
            wire_encode_result(&writer, &result);
            soma_result_clear(&result, release_malloc, NULL);
        } else {
            wire_encode_error(&writer, &error);
        }
        soma_writer_release(&writer);
    }
}

/* What was read is what cJSON reads. */
static void check_values(const struct wire_value *values, const char *body, size_t len)
{
    struct soma_error error;
    cJSON *root = NULL;
    require(wire_parse(body, len, &root, &error) == SOMA_OK && decode_same(values, root));
    cJSON_Delete(root);
}

static void check_json(const char *body, size_t len)
{
    struct soma_error error;
    struct wire_names names;
    struct wire_tree tree;
    struct wire_arena arena;
    wire_names_init(&names);
    wire_tree_init(&tree);
    wire_arena_init(&arena);
    require(wire_names_put(&names, "a", 1, UINT64_C(0x12c0c0000000), &error) == SOMA_OK);
    enum soma_status status = wire_read(body, len, &arena, &tree, &error);
    if (status == SOMA_OK) {
        check_values(tree.values, body, len);
        const struct wire_value *root = tree.values;
        const struct wire_value *commands =
            root->type == WIRE_OBJECT ? wire_member(root, "commands") : NULL;
        const struct wire_value *end = commands != NULL ? wire_next(commands) : NULL;
        const struct wire_value *item = commands != NULL ? wire_first(commands) : NULL;
        for (; item < end; item = wire_next(item))
            check_element(item, &names);
        for (int op = 0; op < SOMA_OP_COUNT; op++)
            check_command(root, (enum soma_op)op, false, NULL);
        check_element(root, &names);
    } else {
        check_error(status, &error);
    }
    wire_tree_release(&tree);
    wire_arena_release(&arena);
    wire_names_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_batch(data, size);
    check_batch_answer(data, size);
    check_json((const char *)data, size);
    return 0;
}
