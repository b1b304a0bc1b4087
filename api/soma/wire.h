/* JSON <-> commands, answers and errors, driven by the tables; both sides of the wire.
 *
 * Reading a request is strict (schema/PROTOCOL.md, "Strict input"): one pass refuses what is not
 * JSON and notes where each value stands; the table walk behind it reads commands from the text
 * itself. What is no command is read with cJSON, behind the same pass. Reading an answer is
 * lenient: fields that are not known are skipped. Nothing here knows HTTP or the engine. Not shared
 * between threads; no globals. */
#ifndef SOMA_WIRE_H
#define SOMA_WIRE_H

#include "command.h"
#include "message.h"
#include "status.h"

#include <cjson/cJSON.h>
#include <string.h>

/* ---- growing text ---- */

/* Text that grows up to max bytes. After the first failure (no memory, or past max) every further
 * write is ignored and `failed` stays set: check once at the end. */
struct soma_writer {
    char *ptr; /* not NUL-terminated; NULL while empty; owned */
    size_t len, capacity, max;
    bool failed;
};

void soma_writer_init(struct soma_writer *writer, size_t max);
void soma_writer_release(struct soma_writer *writer);
void soma_writer_clear(struct soma_writer *writer); /* empty, memory kept */
void soma_writer_raw(struct soma_writer *writer, const char *ptr, size_t len);
void soma_writer_text(struct soma_writer *writer, const char *text); /* NUL-terminated, as it is */
void soma_writer_u64(struct soma_writer *writer, uint64_t value);    /* decimal digits */

/* In double quotes: a JSON string, escaped, U+FFFD for what is no UTF-8; base64. */
void soma_writer_string(struct soma_writer *writer, const char *ptr, size_t len);
void soma_writer_base64(struct soma_writer *writer, const unsigned char *ptr, size_t len);

/* ---- memory of one request ---- */

/* Decoded strings, bytes and kernel arguments live here until the request is over. */
struct wire_arena {
    struct wire_chunk *chunks;
};

void wire_arena_init(struct wire_arena *arena);
void wire_arena_release(struct wire_arena *arena);
void *wire_arena_alloc(struct wire_arena *arena, size_t size_bytes); /* NULL: no memory */

/* ---- "as" names of POST /v1/commands ---- */

struct wire_names {
    struct wire_name *table; /* NULL while empty */
    size_t count, capacity;
    uint64_t key[2]; /* of the hash */
};

void wire_names_init(struct wire_names *names);
void wire_names_release(struct wire_names *names);

/* Make room, so that the next `more` puts cannot fail for want of memory: to be called before a
 * command that may not be undone. SOMA_OK; SOMA_OUT_OF_MEMORY. */
enum soma_status wire_names_reserve(struct wire_names *names, size_t more,
                                    struct soma_error *error) SOMA_MUST_USE;

/* Later values replace earlier ones. name: 1..SOMA_NAME_BYTES_MAX bytes, copied.
 * SOMA_OK; SOMA_INVALID_VALUE (length); SOMA_OUT_OF_MEMORY. */
enum soma_status wire_names_put(struct wire_names *names, const char *name, size_t len,
                                uint64_t value, struct soma_error *error) SOMA_MUST_USE;
bool wire_names_get(const struct wire_names *names, const char *name, size_t len, uint64_t *value);

/* ---- requests: strict ---- */

enum wire_type { WIRE_NULL, WIRE_BOOLEAN, WIRE_NUMBER, WIRE_STRING, WIRE_ARRAY, WIRE_OBJECT };

/* One value of a body. All of them stand in one array in the order of the text, so that what is in
 * an object or array stands right behind it. */
struct wire_value {
    const char *key;       /* of a member of an object, without escapes; NULL: it is no member */
    const char *text;      /* of a string: without quotes and escapes; else as it stands */
    uint32_t key_len, len; /* bytes; len is 0 for objects and arrays */
    uint32_t size;         /* values: this one and those in it */
    enum wire_type type;
};

/* The first value in an object or array; equal to wire_next(parent) when it is empty. */
static inline const struct wire_value *wire_first(const struct wire_value *parent)
{
    return parent + 1;
}

/* The value behind this one and all that is in it; past the last one of its parent it is
 * wire_next(parent). */
static inline const struct wire_value *wire_next(const struct wire_value *value)
{
    return value + value->size;
}

/* Whether the text is this word; neither holds a NUL byte, and the word is not empty. */
static inline bool wire_is_text(const char *text, size_t len, const char *word)
{
    return len > 0 && text[0] == word[0] && strncmp(text, word, len) == 0 && word[len] == '\0';
}

/* Whether the value is the member with this key. */
static inline bool wire_is_key(const struct wire_value *value, const char *key)
{
    return wire_is_text(value->key, value->key_len, key);
}

/* Whether the value is this word in quotes. */
static inline bool wire_is_word(const struct wire_value *value, const char *word)
{
    return value->type == WIRE_STRING && wire_is_text(value->text, value->len, word);
}

/* The member of an object with this key, NULL when it has none. */
const struct wire_value *wire_member(const struct wire_value *object, const char *key);

#define WIRE_VALUES_FIRST 16u

/* The values of a body: values[0] is the whole of it. */
struct wire_tree {
    struct wire_value *values; /* owned, or `first`: a tree does not move */
    size_t count, capacity;
    struct wire_value first[WIRE_VALUES_FIRST];
};

void wire_tree_init(struct wire_tree *tree);
void wire_tree_release(struct wire_tree *tree);

/* Read a whole body: RFC 8259 and nothing else, UTF-8, no duplicate keys at any level, no text
 * after it, at most SOMA_JSON_DEPTH_MAX deep and SOMA_JSON_VALUES_MAX values. len 0 gives an empty
 * object. Numbers are exact integers below 2^53, but for floats (f16, f32, f64, elapsedMs); inside
 * an element of "commands" another number is left to wire_decode_command, which refuses that
 * command alone. Errors name the path of the field ("args[2].u32") and the byte.
 *   body   borrowed for as long as the values are used
 *   arena  holds strings that have escapes
 *   tree   initialised and empty; to be read only on SOMA_OK, and released in any case */
enum soma_status wire_read(const char *body, size_t len, struct wire_arena *arena,
                           struct wire_tree *tree, struct soma_error *error) SOMA_MUST_USE;

/* As wire_read, into a tree of cJSON. *root: out, only on SOMA_OK; free with cJSON_Delete. */
enum soma_status wire_parse(const char *body, size_t len, cJSON **root,
                            struct soma_error *error) SOMA_MUST_USE;

/* Set one number or word field from the text of a path segment or query value (already
 * percent-decoded). */
enum soma_status wire_set_text(struct soma_command *command, const struct soma_field_row *row,
                               const char *text, size_t len,
                               struct soma_error *error) SOMA_MUST_USE;

/* Fill *command (soma_command_init done; fields set from the path stay) from an object of
 * wire_read.
 *   in_batch false: the body of a single route, SOMA_WHERE_BODY fields only. true: an element of
 *            POST /v1/commands: all fields, `op` and `as` are passed over, device is 0 by default,
 *            and "$name" in id and address fields is looked up in names (NULL: there are none)
 *   arena    holds what the command borrows and does not stand in the body as it is
 * Unknown, missing, mistyped and out-of-range fields are refused by name. Checks completeness, and
 * the form of `as`. "location" sets location_type and location_id; without "id" it is the
 * command's device. *command may be half filled when it is refused. */
enum soma_status wire_decode_command(const struct wire_value *object, bool in_batch,
                                     const struct wire_names *names, struct wire_arena *arena,
                                     struct soma_command *command,
                                     struct soma_error *error) SOMA_MUST_USE;

/* Whether this command creates something that `"as"` can name; others may not have the field. */
bool wire_creates(enum soma_op op);

/* The value that `"as"` names in an answer: the id that was created, the ptr of a malloc, the
 * tensor of allocTensor and deQue. false when the command creates nothing that can be named. */
bool wire_created_value(enum soma_op op, const struct soma_result *result, uint64_t *value);

/* ---- answers ---- */

/* One message as a JSON object; SOMA_MESSAGE_NONE as {}. */
void wire_encode_result(struct soma_writer *writer, const struct soma_result *result);
void wire_encode_message(struct soma_writer *writer, enum soma_message message, const void *base);

/* {"error":{"code","status","message","details":[{"reason","field","aclError"}]}}; "field" only
 * when there is one. Never fails but for want of memory. */
void wire_encode_error(struct soma_writer *writer, const struct soma_error *error);

/* ---- the client's side ---- */

/* A command as an element of POST /v1/commands: {"op":...,present fields}. */
void wire_encode_command(struct soma_writer *writer, const struct soma_command *command);

/* Read an answer into *result (malloc; release with soma_result_clear and free). TEXT members are
 * matched against static words where possible, else "". */
enum soma_status wire_decode_result(const cJSON *object, enum soma_message message,
                                    struct soma_result *result,
                                    struct soma_error *error) SOMA_MUST_USE;

/* Read {"error":{...}} (or the inner object). false when it is not one; acl_error: as sent. */
bool wire_decode_error(const cJSON *object, struct soma_error *error, int *acl_error);

#endif
