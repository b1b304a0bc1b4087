/* Growing text, the memory of one request, and the names of a batch. Every allocation that fails
 * is told to the caller; nothing is half done. */
#include "wire_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- growing text ---- */

#define WRITER_BYTES_FIRST 512u

void soma_writer_init(struct soma_writer *writer, size_t max)
{
    memset(writer, 0, sizeof(*writer));
    writer->max = max;
}

void soma_writer_release(struct soma_writer *writer)
{
    free(writer->ptr);
    soma_writer_init(writer, writer->max);
}

void soma_writer_clear(struct soma_writer *writer)
{
    writer->len = 0;
    writer->failed = false;
}

bool wire_writer_grow(struct soma_writer *writer, size_t len)
{
    if (writer->failed || len > writer->max - writer->len) {
        writer->failed = true;
        return false;
    }
    size_t needed = writer->len + len;
    size_t capacity = writer->capacity > writer->max / 2 ? writer->max : writer->capacity * 2;
    if (capacity < WRITER_BYTES_FIRST)
        capacity = WRITER_BYTES_FIRST < writer->max ? WRITER_BYTES_FIRST : writer->max;
    if (capacity < needed)
        capacity = needed;
    char *ptr = realloc(writer->ptr, capacity);
    if (ptr == NULL) {
        writer->failed = true;
        return false;
    }
    writer->ptr = ptr;
    writer->capacity = capacity;
    return true;
}

void soma_writer_raw(struct soma_writer *writer, const char *ptr, size_t len)
{
    char *room = len == 0 ? NULL : wire_writer_room(writer, len);
    if (room != NULL) {
        memcpy(room, ptr, len);
        writer->len += len;
    }
}

void soma_writer_text(struct soma_writer *writer, const char *text)
{
    soma_writer_raw(writer, text, strlen(text));
}

void soma_writer_u64(struct soma_writer *writer, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    soma_writer_raw(writer, digits + at, sizeof(digits) - at);
}

/* One character that cannot stand in a JSON string as it is. */
static void write_escaped(struct soma_writer *writer, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = memchr(plain, c, sizeof(plain) - 1);
    if (found != NULL) {
        char escape[2] = {'\\', letters[found - plain]};
        soma_writer_raw(writer, escape, sizeof(escape));
    } else {
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        soma_writer_raw(writer, escape, sizeof(escape));
    }
}

/* What is no UTF-8 becomes U+FFFD, so that the text is JSON whatever it was given. */
void soma_writer_string(struct soma_writer *writer, const char *ptr, size_t len)
{
    const unsigned char *at = (const unsigned char *)ptr;
    const unsigned char *end = at + len;
    const unsigned char *run = at; /* what is not yet written and needs no escape */
    soma_writer_raw(writer, "\"", 1);
    while (at < end) {
        size_t step = *at < 0x80 ? 1 : wire_utf8_len(at, end);
        if (step != 0 && *at >= 0x20 && *at != '"' && *at != '\\') {
            at += step;
            continue;
        }
        soma_writer_raw(writer, (const char *)run, (size_t)(at - run));
        if (step == 0)
            soma_writer_raw(writer, "\xef\xbf\xbd", 3);
        else
            write_escaped(writer, *at);
        run = ++at;
    }
    soma_writer_raw(writer, (const char *)run, (size_t)(at - run));
    soma_writer_raw(writer, "\"", 1);
}

static void base64_group(char *out, unsigned bits)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out[0] = digits[bits >> 18 & 63];
    out[1] = digits[bits >> 12 & 63];
    out[2] = digits[bits >> 6 & 63];
    out[3] = digits[bits & 63];
}

void soma_writer_base64(struct soma_writer *writer, const unsigned char *ptr, size_t len)
{
    if (len > SIZE_MAX / 2) {
        writer->failed = true;
        return;
    }
    size_t text_len = (len + 2) / 3 * 4 + 2;
    char *out = wire_writer_room(writer, text_len);
    if (out == NULL)
        return;
    *out++ = '"';
    size_t i = 0;
    for (; i + 3 <= len; i += 3, out += 4)
        base64_group(out, (unsigned)ptr[i] << 16 | (unsigned)ptr[i + 1] << 8 | ptr[i + 2]);
    if (i < len) {
        bool two = i + 1 < len;
        base64_group(out, (unsigned)ptr[i] << 16 | (two ? (unsigned)ptr[i + 1] << 8 : 0u));
        out[3] = '=';
        if (!two)
            out[2] = '=';
        out += 4;
    }
    *out = '"';
    writer->len += text_len;
}

/* ---- memory of one request ---- */

#define ARENA_CHUNK_BYTES 4096u

struct wire_chunk {
    struct wire_chunk *next;
    size_t used, size; /* of `bytes` */
    max_align_t bytes[];
};

void wire_arena_init(struct wire_arena *arena)
{
    arena->chunks = NULL;
}

void wire_arena_release(struct wire_arena *arena)
{
    while (arena->chunks != NULL) {
        struct wire_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

void *wire_arena_alloc(struct wire_arena *arena, size_t size_bytes)
{
    const size_t align = sizeof(max_align_t);
    if (size_bytes > SIZE_MAX / 2)
        return NULL;
    size_t size = (size_bytes == 0 ? 1 : size_bytes) + align - 1;
    size -= size % align;
    struct wire_chunk *chunk = arena->chunks;
    if (chunk == NULL || size > chunk->size - chunk->used) {
        size_t chunk_size = size < ARENA_CHUNK_BYTES ? ARENA_CHUNK_BYTES : size;
        chunk = malloc(sizeof(*chunk) + chunk_size);
        if (chunk == NULL)
            return NULL;
        chunk->next = arena->chunks;
        chunk->used = 0;
        chunk->size = chunk_size;
        arena->chunks = chunk;
    }
    void *place = (char *)chunk->bytes + chunk->used;
    chunk->used += size;
    return place;
}

/* ---- "as" names ---- */

/* Open addressing with a keyed hash: the sender of a batch cannot choose names that collide. */
struct wire_name {
    uint64_t hash;
    uint64_t value;
    size_t len; /* 0: the slot is empty */
    char text[SOMA_NAME_BYTES_MAX];
};

#define NAMES_CAPACITY_FIRST 16u

void wire_names_init(struct wire_names *names)
{
    memset(names, 0, sizeof(*names));
}

void wire_names_release(struct wire_names *names)
{
    free(names->table);
    wire_names_init(names);
}

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 of a name of at most SOMA_NAME_BYTES_MAX bytes. */
static uint64_t name_hash(const struct wire_names *names, const char *name, size_t len)
{
    uint64_t v[4] = {
        names->key[0] ^ UINT64_C(0x736f6d6570736575), names->key[1] ^ UINT64_C(0x646f72616e646f6d),
        names->key[0] ^ UINT64_C(0x6c7967656e657261), names->key[1] ^ UINT64_C(0x7465646279746573)};
    for (size_t i = 0; i <= len; i += 8) {
        uint64_t word = i + 8 > len ? (uint64_t)len << 56 : 0;
        for (size_t byte = 0; byte < 8 && i + byte < len; byte++)
            word |= (uint64_t)(unsigned char)name[i + byte] << (8 * byte);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot that holds the name, or the empty one where it belongs. The table is never full. */
static struct wire_name *find_slot(struct wire_name *table, size_t capacity, uint64_t hash,
                                   const char *name, size_t len)
{
    size_t i = (size_t)hash & (capacity - 1);
    while (table[i].len != 0 &&
           (table[i].hash != hash || table[i].len != len || memcmp(table[i].text, name, len) != 0))
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

enum soma_status wire_names_reserve(struct wire_names *names, size_t more, struct soma_error *error)
{
    size_t capacity = names->capacity == 0 ? NAMES_CAPACITY_FIRST : names->capacity;
    while (names->count + more > capacity / 2 && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    if (capacity == names->capacity)
        return SOMA_OK;
    struct wire_name *table = calloc(capacity, sizeof(*table));
    if (table == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "as", "no memory for %zu names", capacity / 2);
    if (names->table == NULL && getrandom(names->key, sizeof(names->key), 0) < 0)
        names->key[0] = (uint64_t)(uintptr_t)table;
    for (size_t i = 0; i < names->capacity; i++) {
        const struct wire_name *old = &names->table[i];
        if (old->len != 0)
            *find_slot(table, capacity, old->hash, old->text, old->len) = *old;
    }
    free(names->table);
    names->table = table;
    names->capacity = capacity;
    return SOMA_OK;
}

enum soma_status wire_names_put(struct wire_names *names, const char *name, size_t len,
                                uint64_t value, struct soma_error *error)
{
    if (len == 0 || len > SOMA_NAME_BYTES_MAX)
        return soma_fail(error, SOMA_INVALID_VALUE, "as", "as: a name has 1 to %u bytes, not %zu",
                         SOMA_NAME_BYTES_MAX, len);
    enum soma_status status = wire_names_reserve(names, 1, error);
    if (status != SOMA_OK)
        return status;
    uint64_t hash = name_hash(names, name, len);
    struct wire_name *slot = find_slot(names->table, names->capacity, hash, name, len);
    if (slot->len == 0) {
        names->count++;
        slot->hash = hash;
        slot->len = len;
        memcpy(slot->text, name, len);
    }
    slot->value = value;
    return SOMA_OK;
}

bool wire_names_get(const struct wire_names *names, const char *name, size_t len, uint64_t *value)
{
    if (names->count == 0 || len == 0 || len > SOMA_NAME_BYTES_MAX)
        return false;
    uint64_t hash = name_hash(names, name, len);
    const struct wire_name *slot = find_slot(names->table, names->capacity, hash, name, len);
    if (slot->len == 0)
        return false;
    *value = slot->value;
    return true;
}
