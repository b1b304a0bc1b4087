#include "decode.h"

#include <stdlib.h>
#include <string.h>

enum soma_status decode_text(const char *text, size_t len, bool in_batch, struct wire_arena *arena,
                             struct soma_command *command, struct soma_error *error)
{
    struct wire_tree tree;
    char *copy = wire_arena_alloc(arena, len);
    if (copy == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "", "no memory for the text");
    memcpy(copy, text, len);
    wire_tree_init(&tree);
    enum soma_status status = wire_read(copy, len, arena, &tree, error);
    if (status == SOMA_OK)
        status = wire_decode_command(tree.values, in_batch, NULL, arena, command, error);
    wire_tree_release(&tree);
    return status;
}

enum soma_status decode_step(const cJSON *step, struct wire_arena *arena,
                             struct soma_command *command, struct soma_error *error)
{
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(step, "op");
    const struct soma_op_info *info =
        cJSON_IsString(op) ? soma_op_find(op->valuestring, strlen(op->valuestring)) : NULL;
    if (info == NULL)
        return soma_fail(error, SOMA_UNKNOWN_OP, "op", "no command has this name");
    char *text = cJSON_PrintUnformatted(step);
    if (text == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "", "no memory for the text");
    soma_command_init(command, info->op);
    enum soma_status status = decode_text(text, strlen(text), true, arena, command, error);
    cJSON_free(text);
    return status;
}

static bool same_text(const char *text, size_t len, const char *other)
{
    return other != NULL && strlen(other) == len && memcmp(text, other, len) == 0;
}

static bool same_number(const struct wire_value *value, const cJSON *item)
{
    char token[64];
    if (!cJSON_IsNumber(item) || value->len >= sizeof(token))
        return false;
    memcpy(token, value->text, value->len);
    token[value->len] = '\0';
    return strtod(token, NULL) == item->valuedouble;
}

static bool same_inside(const struct wire_value *value, const cJSON *item)
{
    const cJSON *child = item->child;
    const struct wire_value *end = wire_next(value);
    for (const struct wire_value *at = wire_first(value); at < end; at = wire_next(at)) {
        if (child == NULL || (at->key != NULL) != (child->string != NULL) ||
            (at->key != NULL && !same_text(at->key, at->key_len, child->string)) ||
            !decode_same(at, child))
            return false;
        child = child->next;
    }
    return child == NULL;
}

bool decode_same(const struct wire_value *value, const cJSON *item)
{
    switch (value->type) {
    case WIRE_NULL: return cJSON_IsNull(item) && value->size == 1;
    case WIRE_BOOLEAN:
        return cJSON_IsBool(item) && value->size == 1 &&
               same_text(value->text, value->len, cJSON_IsTrue(item) ? "true" : "false");
    case WIRE_NUMBER: return same_number(value, item) && value->size == 1;
    case WIRE_STRING:
        return cJSON_IsString(item) && value->size == 1 &&
               same_text(value->text, value->len, item->valuestring);
    case WIRE_ARRAY: return cJSON_IsArray(item) && same_inside(value, item);
    case WIRE_OBJECT: return cJSON_IsObject(item) && same_inside(value, item);
    }
    return false;
}
