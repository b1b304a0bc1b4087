/* Strict JSON on top of cJSON. A guard reads the body first and refuses everything that RFC 8259
 * does not know, so that cJSON only ever builds trees of valid text; a walk over the tree then
 * refuses keys that stand twice. Recursion is bounded by SOMA_JSON_DEPTH_MAX.
 *
 * Number tokens that are no exact integers are refused here, with the path of their field. Inside
 * the elements of "commands" they are only marked (item->valuestring holds the token), so that
 * decoding refuses the one command and not the whole batch. */
#include "wire_internal.h"

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

/* A number token that waits for the tree. */
struct inexact {
    size_t ordinal; /* of its value, counting from 1 in the order of the text */
    size_t offset, len;
};

struct guard {
    const unsigned char *body, *at, *end;
    struct level levels[SOMA_JSON_DEPTH_MAX];
    unsigned depth;
    size_t value_count;
    struct inexact *inexact;
    size_t inexact_count, inexact_capacity;
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

/* A string; guard->at is at its quote. start and len: out, what stands between the quotes. */
static enum soma_status scan_string(struct guard *guard, const unsigned char **start, size_t *len)
{
    const unsigned char *begin = ++guard->at;
    while (guard->at < guard->end) {
        unsigned char c = *guard->at;
        if (c == '"') {
            *start = begin;
            *len = (size_t)(guard->at - begin);
            guard->at++;
            return SOMA_OK;
        }
        if (c < 0x20)
            return malformed(guard, "control characters in strings must be escaped");
        if (c == '\\') {
            enum soma_status status = scan_escape(guard);
            if (status != SOMA_OK)
                return status;
        } else if (c < 0x80) {
            guard->at++;
        } else {
            size_t step = wire_utf8_len(guard->at, guard->end);
            if (step == 0)
                return malformed(guard, "these bytes are not UTF-8");
            guard->at += step;
        }
    }
    return malformed(guard, "the text ends inside a string");
}

/* ---- numbers ---- */

/* cJSON reads no more characters of a number than this. */
#define NUMBER_BYTES_MAX 63u

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

static enum soma_status keep_inexact(struct guard *guard, const unsigned char *start, size_t len)
{
    if (guard->inexact_count == guard->inexact_capacity) {
        size_t capacity = guard->inexact_capacity == 0 ? 8 : guard->inexact_capacity * 2;
        struct inexact *grown = realloc(guard->inexact, capacity * sizeof(*grown));
        if (grown == NULL)
            return no_memory(guard);
        guard->inexact = grown;
        guard->inexact_capacity = capacity;
    }
    struct inexact *kept = &guard->inexact[guard->inexact_count++];
    kept->ordinal = guard->value_count;
    kept->offset = (size_t)(start - guard->body);
    kept->len = len;
    return SOMA_OK;
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
    return wire_read_decimal((const char *)digits, len, &value) == WIRE_NUMBER_OK &&
           value <= SOMA_JSON_INTEGER_MAX;
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
    if (len > NUMBER_BYTES_MAX) {
        path_text(guard, path);
        return soma_fail(guard->error, SOMA_VALUE_OUT_OF_RANGE, path,
                         "%s: a number of %zu characters: at most %u are read", path, len,
                         NUMBER_BYTES_MAX);
    }
    if (is_float_key(guard) || (!has_fraction && is_exact(digits, digits_len)))
        return SOMA_OK;
    if (is_in_command(guard))
        return keep_inexact(guard, start, len);
    path_text(guard, path);
    return wire_refuse_number(guard->error, path, (const char *)start, len);
}

/* ---- values ---- */

static enum soma_status scan_value(struct guard *guard);

static void skip_space(struct guard *guard)
{
    while (guard->at < guard->end &&
           (*guard->at == ' ' || *guard->at == '\t' || *guard->at == '\n' || *guard->at == '\r'))
        guard->at++;
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

static enum soma_status scan_member(struct guard *guard)
{
    struct level *level = &guard->levels[guard->depth - 1];
    skip_space(guard);
    if (guard->at == guard->end || *guard->at != '"')
        return malformed(guard, "a key in double quotes is expected");
    const unsigned char *key;
    size_t key_len;
    enum soma_status status = scan_string(guard, &key, &key_len);
    if (status != SOMA_OK)
        return status;
    level->key = key;
    level->key_len = key_len;
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
    if (guard->depth == SOMA_JSON_DEPTH_MAX)
        return malformed(guard, "it is nested more than 16 deep");
    struct level *level = &guard->levels[guard->depth++];
    *level = (struct level){.is_object = *guard->at == '{'};
    guard->at++;
    enum soma_status status = scan_inside(guard, level);
    guard->depth--;
    return status;
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

static enum soma_status scan_value(struct guard *guard)
{
    skip_space(guard);
    if (guard->at == guard->end)
        return malformed(guard, "the text ends where a value is expected");
    if (++guard->value_count > SOMA_JSON_VALUES_MAX)
        return soma_fail(guard->error, SOMA_CONTENT_TOO_LARGE, "",
                         "the body holds more than %u values: send it in several requests",
                         SOMA_JSON_VALUES_MAX);
    unsigned char c = *guard->at;
    if (c == '{' || c == '[')
        return scan_nested(guard);
    if (c == '"') {
        const unsigned char *start;
        size_t len;
        return scan_string(guard, &start, &len);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(guard);
    return scan_word(guard);
}

static enum soma_status scan_body(struct guard *guard)
{
    enum soma_status status = scan_value(guard);
    if (status != SOMA_OK)
        return status;
    skip_space(guard);
    return guard->at == guard->end ? SOMA_OK : malformed(guard, "text follows the value");
}

/* ---- the tree ---- */

struct walk {
    const struct guard *guard;
    size_t ordinal;      /* of the value that is looked at */
    size_t next_inexact; /* the first of guard->inexact that has no item yet */
};

/* An error came from below: put the key or index that leads there before its field. */
static void prefix_field(struct soma_error *error, const cJSON *item, size_t index)
{
    char path[2 * SOMA_FIELD_BYTES + 32];
    if (error == NULL)
        return;
    const char *dot = error->field[0] == '\0' || error->field[0] == '[' ? "" : ".";
    if (item->string != NULL)
        (void)snprintf(path, sizeof(path), "%.60s%s%s", item->string, dot, error->field);
    else
        (void)snprintf(path, sizeof(path), "[%zu]%s%s", index, dot, error->field);
    error->field[append(error->field, 0, path, strlen(path))] = '\0';
}

static enum soma_status refuse_duplicate(const struct walk *walk, const char *key)
{
    char quoted[WIRE_QUOTE_BYTES];
    return soma_fail(walk->guard->error, SOMA_DUPLICATE_FIELD, key,
                     "the key %s stands twice in the same object: give it once",
                     wire_quote(quoted, key, strlen(key)));
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Objects that no command has. */
static enum soma_status check_many_keys(const struct walk *walk, const cJSON *object, size_t count)
{
    const char **keys = malloc(count * sizeof(*keys));
    if (keys == NULL)
        return no_memory(walk->guard);
    size_t filled = 0;
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        keys[filled++] = item->string;
    qsort(keys, count, sizeof(*keys), compare_keys);
    enum soma_status status = SOMA_OK;
    for (size_t i = 1; i < count && status == SOMA_OK; i++) {
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = refuse_duplicate(walk, keys[i]);
    }
    free(keys);
    return status;
}

static enum soma_status check_keys(const struct walk *walk, const cJSON *object)
{
    size_t count = 0;
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        count++;
    if (count > 16)
        return check_many_keys(walk, object, count);
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        for (const cJSON *other = item->next; other != NULL; other = other->next) {
            if (item->string[0] == other->string[0] && strcmp(item->string, other->string) == 0)
                return refuse_duplicate(walk, item->string);
        }
    }
    return SOMA_OK;
}

/* Give the item its token, if it is the next one that waits. */
static enum soma_status mark_inexact(struct walk *walk, cJSON *item)
{
    const struct guard *guard = walk->guard;
    if (walk->next_inexact == guard->inexact_count ||
        guard->inexact[walk->next_inexact].ordinal != walk->ordinal)
        return SOMA_OK;
    const struct inexact *kept = &guard->inexact[walk->next_inexact++];
    item->valuestring = cJSON_malloc(kept->len + 1);
    if (item->valuestring == NULL)
        return no_memory(guard);
    memcpy(item->valuestring, guard->body + kept->offset, kept->len);
    item->valuestring[kept->len] = '\0';
    return SOMA_OK;
}

static enum soma_status walk_tree(struct walk *walk, cJSON *item)
{
    walk->ordinal++;
    if (cJSON_IsNumber(item))
        return mark_inexact(walk, item);
    enum soma_status status = cJSON_IsObject(item) ? check_keys(walk, item) : SOMA_OK;
    size_t index = 0;
    for (cJSON *child = item->child; child != NULL && status == SOMA_OK; child = child->next) {
        status = walk_tree(walk, child);
        if (status == SOMA_DUPLICATE_FIELD)
            prefix_field(walk->guard->error, child, index);
        index++;
    }
    return status;
}

enum soma_status wire_parse(const char *body, size_t len, cJSON **root, struct soma_error *error)
{
    struct guard guard = {.error = error};
    guard.body = (const unsigned char *)(len == 0 ? "" : body);
    guard.at = guard.body;
    guard.end = guard.body + len;
    enum soma_status status = len == 0 ? SOMA_OK : scan_body(&guard);
    cJSON *tree = NULL;
    if (status == SOMA_OK) {
        tree = len == 0 ? cJSON_CreateObject() : cJSON_ParseWithLength(body, len);
        if (tree == NULL)
            status = no_memory(&guard);
    }
    if (status == SOMA_OK) {
        struct walk walk = {.guard = &guard};
        status = walk_tree(&walk, tree);
    }
    free(guard.inexact);
    if (status != SOMA_OK) {
        cJSON_Delete(tree);
        return status;
    }
    *root = tree;
    return SOMA_OK;
}
