/* Strict JSON. One pass over the text refuses everything that RFC 8259 does not know and notes
 * where each value stands; a look at what was noted then refuses keys that stand twice. Recursion
 * is bounded by SOMA_JSON_DEPTH_MAX. wire_parse has cJSON make its tree of text that is known to be
 * strict.
 *
 * Number tokens that are no exact integers are refused here, with the path of their field. Inside
 * the elements of "commands" they are left to wire_decode_command, which refuses the one command
 * and not the whole batch. */
#include "wire_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One object or array that is open. */
struct level {
    bool is_object;
    const unsigned char *key; /* the last key, escapes as they stand; NULL: none yet */
    size_t key_len;
    size_t index; /* of the element that is being read, in an array */
};

struct guard {
    const unsigned char *body, *at, *end;
    struct level levels[SOMA_JSON_DEPTH_MAX];
    unsigned depth;
    struct soma_text key; /* of the value that comes next; ptr NULL: it has none */
    struct wire_tree *tree;
    struct wire_arena *arena;
    struct soma_error *error;
};

/* ---- errors ---- */

static size_t append(char *path, size_t len, const char *text, size_t text_len)
{
    size_t room = SOMA_FIELD_BYTES - 1 - len;
    if (text_len > room) {
        text_len = room;
        while (text_len > 0 && ((unsigned char)text[text_len] & 0xc0u) == 0x80u)
            text_len--;
    }
    memcpy(path + len, text, text_len);
    return len + text_len;
}

/* Where the guard stands: "size", "args[2].u32", "commands[7].ptr"; "" outside every field. */
static void path_text(const struct guard *guard, char path[SOMA_FIELD_BYTES])
{
    size_t len = 0;
    for (unsigned i = 0; i < guard->depth; i++) {
        const struct level *level = &guard->levels[i];
        if (!level->is_object) {
            char index[32];
            (void)snprintf(index, sizeof(index), "[%zu]", level->index);
            len = append(path, len, index, strlen(index));
        } else if (level->key != NULL) {
            if (len > 0)
                len = append(path, len, ".", 1);
            len = append(path, len, (const char *)level->key, level->key_len);
        }
    }
    path[len] = '\0';
}

static enum soma_status malformed(const struct guard *guard, const char *what)
{
    char path[SOMA_FIELD_BYTES];
    path_text(guard, path);
    return soma_fail(guard->error, SOMA_MALFORMED_JSON, path,
                     "%s%sthe body is not strict JSON at byte %zu: %s", path,
                     path[0] == '\0' ? "" : ": ", (size_t)(guard->at - guard->body), what);
}

static enum soma_status no_memory(const struct guard *guard)
{
    return soma_fail(guard->error, SOMA_OUT_OF_MEMORY, "",
                     "the server has no memory for this body of %zu bytes",
                     (size_t)(guard->end - guard->body));
}

/* ---- strings ---- */

static bool is_hex(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The code unit of \uXXXX at `at`, or -1. */
static long read_code_unit(const struct guard *guard, const unsigned char *at)
{
    if (guard->end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (!is_hex(at[i]))
            return -1;
    }
    char digits[5] = {(char)at[2], (char)at[3], (char)at[4], (char)at[5], '\0'};
    return strtol(digits, NULL, 16);
}

/* The text in the arena, without its escapes. */
static enum soma_status unescape(struct guard *guard, struct soma_text *text)
{
    char *copy = wire_arena_alloc(guard->arena, text->len);
    if (copy == NULL)
        return no_memory(guard);
    *text = (struct soma_text){copy, wire_unescape(text->ptr, text->len, copy)};
    return SOMA_OK;
}

static enum soma_status scan_escape(struct guard *guard)
{
    if (guard->end - guard->at < 2)
        return malformed(guard, "the text ends inside a string");
    unsigned char c = guard->at[1];
    if (c != 'u') {
        if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL)
            return malformed(guard, "this escape is not one of JSON's");
        guard->at += 2;
        return SOMA_OK;
    }
    long unit = read_code_unit(guard, guard->at);
    if (unit < 0)
        return malformed(guard, "\\u needs four hexadecimal digits");
    if (unit == 0)
        return malformed(guard, "\\u0000 is not accepted");
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return malformed(guard, "a low surrogate without a high one before it");
    if (unit >= 0xd800 && unit <= 0xdbff) {
        long low = read_code_unit(guard, guard->at + 6);
        if (low < 0xdc00 || low > 0xdfff)
            return malformed(guard, "a high surrogate without a low one after it");
        guard->at += 6;
    }
    guard->at += 6;
    return SOMA_OK;
}

/* Bytes that stand in a string for themselves, one by one. */
static bool is_plain(unsigned char c)
{
    return (unsigned char)(c - 0x20) < 0x60 && c != '"' && c != '\\';
}

/* A string; guard->at is at its quote. *raw: out, what stands between the quotes; *text: the same,
 * without escapes. */
static enum soma_status scan_string(struct guard *guard, struct soma_text *raw,
                                    struct soma_text *text)
{
    const unsigned char *begin = ++guard->at;
    const unsigned char *end = guard->end;
    bool has_escape = false;
    for (;;) {
        const unsigned char *at = guard->at;
        while (at < end && is_plain(*at))
            at++;
        guard->at = at;
        if (at == end)
            return malformed(guard, "the text ends inside a string");
        if (*at == '"')
            break;
        if (*at < 0x20)
            return malformed(guard, "control characters in strings must be escaped");
        if (*at == '\\') {
            enum soma_status status = scan_escape(guard);
            if (status != SOMA_OK)
                return status;
            has_escape = true;
            continue;
        }
        size_t step = wire_utf8_len(at, end);
        if (step == 0)
            return malformed(guard, "these bytes are not UTF-8");
        guard->at += step;
    }
    *raw = (struct soma_text){(const char *)begin, (size_t)(guard->at++ - begin)};
    *text = *raw;
    return has_escape ? unescape(guard, text) : SOMA_OK;
}

/* ---- numbers ---- */

_Static_assert(WIRE_NUMBER_BYTES_MAX == 63, "cJSON reads no more characters of a number");

/* Keys whose numbers are floating point: kernel arguments, and a field of an answer. */
static bool is_float_key(const struct guard *guard)
{
    static const char *const keys[] = {"f16", "f32", "f64", "elapsedMs"};
    if (guard->depth == 0 || !guard->levels[guard->depth - 1].is_object)
        return false;
    const struct level *level = &guard->levels[guard->depth - 1];
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i]) == level->key_len && memcmp(keys[i], level->key, level->key_len) == 0)
            return true;
    }
    return false;
}

static bool is_in_command(const struct guard *guard)
{
    static const char key[] = "commands";
    const struct level *levels = guard->levels;
    return guard->depth >= 3 && levels[0].is_object && levels[0].key_len == sizeof(key) - 1 &&
           memcmp(levels[0].key, key, sizeof(key) - 1) == 0 && !levels[1].is_object &&
           levels[2].is_object;
}

/* Digits at guard->at, at least one. */
static bool scan_digits(struct guard *guard)
{
    const unsigned char *start = guard->at;
    while (guard->at < guard->end && *guard->at >= '0' && *guard->at <= '9')
        guard->at++;
    return guard->at > start;
}

/* The fraction and exponent behind an integer; *present: out, whether there was any. */
static enum soma_status scan_fraction(struct guard *guard, bool *present)
{
    const unsigned char *start = guard->at;
    if (guard->at < guard->end && *guard->at == '.') {
        guard->at++;
        if (!scan_digits(guard))
            return malformed(guard, "a digit must follow the decimal point");
    }
    if (guard->at < guard->end && (*guard->at == 'e' || *guard->at == 'E')) {
        guard->at++;
        if (guard->at < guard->end && (*guard->at == '+' || *guard->at == '-'))
            guard->at++;
        if (!scan_digits(guard))
            return malformed(guard, "a digit must follow the exponent's letter");
    }
    *present = guard->at > start;
    return SOMA_OK;
}

/* Whether these digits (no leading zero) are below 2^53. */
static bool is_exact(const unsigned char *digits, size_t len)
{
    uint64_t value;
    return len <= 15 || /* 10^15 is less than 2^53 */
           (wire_read_decimal((const char *)digits, len, &value) == WIRE_NUMBER_OK &&
            value <= SOMA_JSON_INTEGER_MAX);
}

static enum soma_status scan_number(struct guard *guard)
{
    const unsigned char *start = guard->at;
    if (*guard->at == '-')
        guard->at++;
    const unsigned char *digits = guard->at;
    if (!scan_digits(guard))
        return malformed(guard, "a digit must follow the minus sign");
    size_t digits_len = (size_t)(guard->at - digits);
    if (digits[0] == '0' && digits_len > 1)
        return malformed(guard, "a number may not begin with 0");
    bool has_fraction = false;
    enum soma_status status = scan_fraction(guard, &has_fraction);
    if (status != SOMA_OK)
        return status;
    size_t len = (size_t)(guard->at - start);
    char path[SOMA_FIELD_BYTES];
    if (len > WIRE_NUMBER_BYTES_MAX) {
        path_text(guard, path);
        return soma_fail(guard->error, SOMA_VALUE_OUT_OF_RANGE, path,
                         "%s: a number of %zu characters: at most %u are read", path, len,
                         WIRE_NUMBER_BYTES_MAX);
    }
    if ((!has_fraction && is_exact(digits, digits_len)) || is_float_key(guard) ||
        is_in_command(guard))
        return SOMA_OK;
    path_text(guard, path);
    return wire_refuse_number(guard->error, path, (const char *)start, len);
}

/* ---- values ---- */

static enum soma_status scan_value(struct guard *guard);

static void skip_space(struct guard *guard)
{
    const unsigned char *at = guard->at;
    while (at < guard->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    guard->at = at;
}

/* Skip space, then take the character if it is there. */
static bool take(struct guard *guard, unsigned char c)
{
    skip_space(guard);
    if (guard->at == guard->end || *guard->at != c)
        return false;
    guard->at++;
    return true;
}

static bool grow_tree(struct wire_tree *tree)
{
    size_t capacity = 2 * tree->capacity;
    bool is_first = tree->values == tree->first;
    struct wire_value *values = realloc(is_first ? NULL : tree->values, capacity * sizeof(*values));
    if (values == NULL)
        return false;
    if (is_first)
        memcpy(values, tree->first, sizeof(tree->first));
    tree->values = values;
    tree->capacity = capacity;
    return true;
}

/* Note that a value of this type begins here. */
static enum soma_status begin_value(struct guard *guard, enum wire_type type)
{
    struct wire_tree *tree = guard->tree;
    if (tree->count == SOMA_JSON_VALUES_MAX)
        return soma_fail(guard->error, SOMA_CONTENT_TOO_LARGE, "",
                         "the body holds more than %u values: send it in several requests",
                         SOMA_JSON_VALUES_MAX);
    if (tree->count == tree->capacity && !grow_tree(tree))
        return no_memory(guard);
    tree->values[tree->count++] = (struct wire_value){.key = guard->key.ptr,
                                                      .key_len = (uint32_t)guard->key.len,
                                                      .text = (const char *)guard->at,
                                                      .size = 1,
                                                      .type = type};
    guard->key = (struct soma_text){NULL, 0};
    return SOMA_OK;
}

/* The value that was begun last, a number or a word, ends here. */
static enum soma_status end_token(struct guard *guard, enum soma_status status)
{
    struct wire_value *value = &guard->tree->values[guard->tree->count - 1];
    value->len = (uint32_t)((const char *)guard->at - value->text);
    return status;
}

static enum soma_status scan_member(struct guard *guard)
{
    struct level *level = &guard->levels[guard->depth - 1];
    struct soma_text raw;
    skip_space(guard);
    if (guard->at == guard->end || *guard->at != '"')
        return malformed(guard, "a key in double quotes is expected");
    enum soma_status status = scan_string(guard, &raw, &guard->key);
    if (status != SOMA_OK)
        return status;
    level->key = (const unsigned char *)raw.ptr;
    level->key_len = raw.len;
    if (!take(guard, ':'))
        return malformed(guard, "':' is expected after the key");
    return scan_value(guard);
}

/* What stands between the brackets of the object or array that guard->at is at. */
static enum soma_status scan_inside(struct guard *guard, struct level *level)
{
    const unsigned char close = level->is_object ? '}' : ']';
    if (take(guard, close))
        return SOMA_OK;
    for (;;) {
        enum soma_status status = level->is_object ? scan_member(guard) : scan_value(guard);
        if (status != SOMA_OK)
            return status;
        if (take(guard, close))
            return SOMA_OK;
        if (!take(guard, ','))
            return malformed(guard, level->is_object ? "',' or '}' is expected"
                                                     : "',' or ']' is expected");
        level->index++;
    }
}

_Static_assert(SOMA_JSON_DEPTH_MAX == 16, "the message below says 16");

static enum soma_status scan_nested(struct guard *guard)
{
    size_t place = guard->tree->count - 1;
    if (guard->depth == SOMA_JSON_DEPTH_MAX)
        return malformed(guard, "it is nested more than 16 deep");
    struct level *level = &guard->levels[guard->depth++];
    *level = (struct level){.is_object = *guard->at == '{'};
    guard->at++;
    enum soma_status status = scan_inside(guard, level);
    guard->depth--;
    guard->tree->values[place].size = (uint32_t)(guard->tree->count - place);
    return status;
}

static enum soma_status scan_text(struct guard *guard)
{
    struct soma_text raw, text;
    enum soma_status status = scan_string(guard, &raw, &text);
    if (status != SOMA_OK)
        return status;
    struct wire_value *value = &guard->tree->values[guard->tree->count - 1];
    value->text = text.ptr;
    value->len = (uint32_t)text.len;
    return SOMA_OK;
}

static enum soma_status scan_word(struct guard *guard)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t left = (size_t)(guard->end - guard->at);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (left >= len && memcmp(guard->at, words[i], len) == 0) {
            guard->at += len;
            return SOMA_OK;
        }
    }
    return malformed(guard, "a value is expected here");
}

static enum wire_type type_at(unsigned char c)
{
    switch (c) {
    case '{': return WIRE_OBJECT;
    case '[': return WIRE_ARRAY;
    case '"': return WIRE_STRING;
    case 't':
    case 'f': return WIRE_BOOLEAN;
    case 'n': return WIRE_NULL;
    default: return WIRE_NUMBER;
    }
}

static enum soma_status scan_value(struct guard *guard)
{
    skip_space(guard);
    if (guard->at == guard->end)
        return malformed(guard, "the text ends where a value is expected");
    unsigned char c = *guard->at;
    enum wire_type type = type_at(c);
    enum soma_status status = begin_value(guard, type);
    if (status != SOMA_OK)
        return status;
    if (type == WIRE_OBJECT || type == WIRE_ARRAY)
        return scan_nested(guard);
    if (type == WIRE_STRING)
        return scan_text(guard);
    if (c == '-' || (c >= '0' && c <= '9'))
        return end_token(guard, scan_number(guard));
    return end_token(guard, scan_word(guard));
}

static enum soma_status scan_body(struct guard *guard)
{
    enum soma_status status = scan_value(guard);
    if (status != SOMA_OK)
        return status;
    skip_space(guard);
    return guard->at == guard->end ? SOMA_OK : malformed(guard, "text follows the value");
}

/* ---- keys that stand twice ---- */

/* The path of a member: the keys and indices that lead to it, then its own key. */
static void member_path(const struct wire_tree *tree, const struct wire_value *member,
                        char path[SOMA_FIELD_BYTES])
{
    const struct wire_value *at = tree->values;
    size_t len = 0;
    while (at < member) {
        size_t index = 0;
        bool is_array = at->type == WIRE_ARRAY;
        for (at = wire_first(at); at + at->size <= member; at = wire_next(at))
            index++;
        char text[32];
        (void)snprintf(text, sizeof(text), "[%zu]", index);
        if (!is_array && len > 0)
            len = append(path, len, ".", 1);
        len = is_array ? append(path, len, text, strlen(text))
                       : append(path, len, at->key, at->key_len);
    }
    path[len] = '\0';
}

static enum soma_status refuse_duplicate(const struct guard *guard, const struct wire_value *member)
{
    char path[SOMA_FIELD_BYTES], quoted[WIRE_QUOTE_BYTES];
    member_path(guard->tree, member, path);
    return soma_fail(guard->error, SOMA_DUPLICATE_FIELD, path,
                     "the key %s stands twice in the same object: give it once",
                     wire_quote(quoted, member->key, member->key_len));
}

static int compare_keys(const void *a, const void *b)
{
    const struct wire_value *one = *(const struct wire_value *const *)a;
    const struct wire_value *other = *(const struct wire_value *const *)b;
    uint32_t len = one->key_len < other->key_len ? one->key_len : other->key_len;
    int order = memcmp(one->key, other->key, len);
    return order != 0 ? order : (one->key_len > other->key_len) - (one->key_len < other->key_len);
}

static bool same_key(const struct wire_value *a, const struct wire_value *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* Objects that no command has. */
static enum soma_status check_many_keys(const struct guard *guard, const struct wire_value *object,
                                        size_t count)
{
    const struct wire_value **members = malloc(count * sizeof(*members));
    if (members == NULL)
        return no_memory(guard);
    size_t filled = 0;
    const struct wire_value *end = wire_next(object);
    for (const struct wire_value *item = wire_first(object); item < end; item = wire_next(item))
        members[filled++] = item;
    qsort(members, count, sizeof(*members), compare_keys);
    enum soma_status status = SOMA_OK;
    for (size_t i = 1; i < count && status == SOMA_OK; i++) {
        if (same_key(members[i - 1], members[i]))
            status = refuse_duplicate(guard, members[i]);
    }
    free(members);
    return status;
}

#define FEW_KEYS 16u

static enum soma_status check_keys(const struct guard *guard, const struct wire_value *object)
{
    const struct wire_value *members[FEW_KEYS];
    const struct wire_value *end = wire_next(object);
    size_t count = 0;
    for (const struct wire_value *item = wire_first(object); item < end; item = wire_next(item)) {
        if (count < FEW_KEYS)
            members[count] = item;
        count++;
    }
    if (count > FEW_KEYS)
        return check_many_keys(guard, object, count);
    for (size_t i = 0; i + 1 < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (same_key(members[i], members[j]))
                return refuse_duplicate(guard, members[i]);
        }
    }
    return SOMA_OK;
}

static enum soma_status check_all_keys(const struct guard *guard)
{
    const struct wire_tree *tree = guard->tree;
    enum soma_status status = SOMA_OK;
    for (size_t i = 0; i < tree->count && status == SOMA_OK; i++) {
        if (tree->values[i].type == WIRE_OBJECT)
            status = check_keys(guard, &tree->values[i]);
    }
    return status;
}

/* ---- bodies ---- */

void wire_tree_init(struct wire_tree *tree)
{
    tree->values = tree->first;
    tree->count = 0;
    tree->capacity = WIRE_VALUES_FIRST;
}

void wire_tree_release(struct wire_tree *tree)
{
    if (tree->values != tree->first)
        free(tree->values);
    wire_tree_init(tree);
}

enum soma_status wire_read(const char *body, size_t len, struct wire_arena *arena,
                           struct wire_tree *tree, struct soma_error *error)
{
    struct guard guard = {.tree = tree, .arena = arena, .error = error};
    guard.body = (const unsigned char *)(len == 0 ? "{}" : body);
    guard.at = guard.body;
    guard.end = guard.body + (len == 0 ? 2 : len);
    if (len > UINT32_MAX)
        return soma_fail(error, SOMA_CONTENT_TOO_LARGE, "",
                         "a body of %zu bytes: at most %" PRIu32 " are read", len, UINT32_MAX);
    enum soma_status status = scan_body(&guard);
    return status == SOMA_OK ? check_all_keys(&guard) : status;
}

const struct wire_value *wire_member(const struct wire_value *object, const char *key)
{
    const struct wire_value *end = wire_next(object);
    for (const struct wire_value *item = wire_first(object); item < end; item = wire_next(item)) {
        if (wire_is_key(item, key))
            return item;
    }
    return NULL;
}

enum soma_status wire_parse(const char *body, size_t len, cJSON **root, struct soma_error *error)
{
    struct wire_tree tree;
    struct wire_arena arena;
    wire_tree_init(&tree);
    wire_arena_init(&arena);
    enum soma_status status = wire_read(body, len, &arena, &tree, error);
    wire_tree_release(&tree);
    wire_arena_release(&arena);
    if (status != SOMA_OK)
        return status;
    cJSON *parsed = len == 0 ? cJSON_CreateObject() : cJSON_ParseWithLength(body, len);
    if (parsed == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "",
                         "the server has no memory for this body of %zu bytes", len);
    *root = parsed;
    return SOMA_OK;
}
