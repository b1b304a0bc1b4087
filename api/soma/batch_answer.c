/* The compact form of an answer: results and errors to records and back. See batch.h. */
#include "batch.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 40, NESTING_MAX = 4 };

/* ---- writing ---- */

static void store_u64(unsigned char *at, uint64_t value)
{
    uint64_t little = htole64(value);
    memcpy(at, &little, sizeof(little));
}

static void put_u64(struct soma_writer *writer, uint64_t value)
{
    unsigned char bytes[8];
    store_u64(bytes, value);
    soma_writer_raw(writer, (const char *)bytes, sizeof(bytes));
}

static void put_bytes(struct soma_writer *writer, const void *ptr, size_t len)
{
    static const char zeros[8] = {0};
    put_u64(writer, len);
    soma_writer_raw(writer, ptr, len);
    soma_writer_raw(writer, zeros, (8 - len % 8) % 8);
}

static void put_names(struct soma_writer *writer, const struct soma_names *names)
{
    put_u64(writer, names->count);
    for (size_t i = 0; i < names->count; i++)
        put_bytes(writer, names->items[i], strlen(names->items[i]));
}

static void put_message(struct soma_writer *writer, enum soma_message message, const char *base);

static void put_array(struct soma_writer *writer, enum soma_message message, const void *place)
{
    struct soma_array array;
    memcpy(&array, place, sizeof(array));
    size_t item_size = soma_message_info(message)->size;
    put_u64(writer, array.count);
    for (size_t i = 0; i < array.count; i++)
        put_message(writer, message, (const char *)array.items + i * item_size);
}

static void put_member(struct soma_writer *writer, const struct soma_member *member,
                       const char *place)
{
    uint64_t value = 0;
    switch (member->kind) {
    case SOMA_MEMBER_KIND_BOOL: put_u64(writer, *(const bool *)place); return;
    case SOMA_MEMBER_KIND_ENUM: put_u64(writer, (uint64_t) * (const int *)place); return;
    case SOMA_MEMBER_KIND_TEXT: {
        const char *text = *(const char *const *)place;
        put_bytes(writer, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
        return;
    }
    case SOMA_MEMBER_KIND_NAME: put_bytes(writer, place, strlen(place)); return;
    case SOMA_MEMBER_KIND_DATA: {
        const struct soma_buffer *data = (const struct soma_buffer *)place;
        put_bytes(writer, data->ptr, data->len);
        return;
    }
    case SOMA_MEMBER_KIND_NAMES: put_names(writer, (const struct soma_names *)place); return;
    case SOMA_MEMBER_KIND_OBJECT:
        put_message(writer, (enum soma_message)member->sub, place);
        return;
    case SOMA_MEMBER_KIND_ARRAY: put_array(writer, (enum soma_message)member->sub, place); return;
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_F64:
    case SOMA_MEMBER_KIND_ADDRESS:
    default:
        memcpy(&value, place, sizeof(value));
        put_u64(writer, value);
        return;
    }
}

static void put_message(struct soma_writer *writer, enum soma_message message, const char *base)
{
    const struct soma_message_info *info = soma_message_info(message);
    for (size_t i = 0; i < info->member_count; i++)
        put_member(writer, &info->members[i], base + info->members[i].offset);
}

void soma_batch_begin_answer(struct soma_writer *writer)
{
    static const char header[HEADER_BYTES] = {0};
    soma_writer_raw(writer, header, sizeof(header));
}

void soma_batch_put_result(struct soma_writer *writer, const struct soma_result *result)
{
    put_u64(writer, (uint64_t)(result->message + 1) << 16);
    if (result->message != SOMA_MESSAGE_NONE)
        put_message(writer, result->message, (const char *)&result->u);
}

void soma_batch_put_bytes_head(struct soma_writer *writer, uint64_t bytes)
{
    put_u64(writer, (uint64_t)(SOMA_MESSAGE_MEMORY_BYTES + 1) << 16);
    put_u64(writer, bytes);
}

void soma_batch_put_error(struct soma_writer *writer, const struct soma_error *error,
                          uint32_t index)
{
    put_u64(writer, (uint64_t)error->status | (uint64_t)index << 32);
    put_bytes(writer, error->field, strlen(error->field));
    put_bytes(writer, error->message, strlen(error->message));
}

void soma_batch_end_answer(struct soma_writer *writer, const struct soma_batch_answer *answer)
{
    if (writer->failed || writer->len < HEADER_BYTES)
        return;
    unsigned char *at = (unsigned char *)writer->ptr;
    store_u64(at, SOMA_BATCH_ANSWER | (uint64_t)SOMA_BATCH_VERSION << 32);
    store_u64(at + 8, answer->records | (uint64_t)answer->completed << 32);
    store_u64(at + 16, answer->next_sequence);
    store_u64(at + 24, answer->digest);
    store_u64(at + 32, answer->now_ns);
}

/* ---- reading ---- */

static uint64_t load_u64(const unsigned char *at)
{
    uint64_t little;
    memcpy(&little, at, sizeof(little));
    return le64toh(little);
}

static bool take_u64(struct soma_batch_answer_reader *reader, uint64_t *value)
{
    if (reader->end - reader->at < 8)
        return false;
    *value = load_u64(reader->at);
    reader->at += 8;
    return true;
}

static bool take_bytes(struct soma_batch_answer_reader *reader, struct soma_text *text)
{
    uint64_t len;
    if (!take_u64(reader, &len))
        return false;
    uint64_t left = (uint64_t)(reader->end - reader->at);
    if (len > left || (len + 7) / 8 * 8 > left)
        return false;
    *text = (struct soma_text){(const char *)reader->at, (size_t)len};
    reader->at += (len + 7) / 8 * 8;
    return true;
}

/* Copy what fits into a NUL-terminated field. */
static void copy_text(char *to, size_t to_bytes, const struct soma_text *text)
{
    size_t len = text->len < to_bytes - 1 ? text->len : to_bytes - 1;
    memcpy(to, text->ptr, len);
    to[len] = '\0';
}

static bool take_message(struct soma_batch_answer_reader *reader, enum soma_message message,
                         char *base, unsigned depth);

/* Room for count items, each of which needs at least 8 bytes of what is left. */
static void *items_for(const struct soma_batch_answer_reader *reader, uint64_t count,
                       size_t item_size)
{
    if (count > (uint64_t)(reader->end - reader->at) / 8)
        return NULL;
    return calloc((size_t)count, item_size);
}

static bool take_array(struct soma_batch_answer_reader *reader, enum soma_message message,
                       void *place, unsigned depth)
{
    struct soma_array array = {NULL, 0};
    uint64_t count;
    size_t item_size = soma_message_info(message)->size;
    if (!take_u64(reader, &count))
        return false;
    if (count == 0)
        return true;
    array.items = items_for(reader, count, item_size);
    if (array.items == NULL)
        return false;
    bool good = true;
    while (good && array.count < count)
        good = take_message(reader, message, (char *)array.items + array.count++ * item_size,
                            depth + 1);
    memcpy(place, &array, sizeof(array)); /* released with the result, whole or not */
    return good;
}

static bool take_names(struct soma_batch_answer_reader *reader, struct soma_names *names)
{
    uint64_t count;
    struct soma_text text;
    if (!take_u64(reader, &count))
        return false;
    if (count == 0)
        return true;
    names->items = items_for(reader, count, sizeof(names->items[0]));
    if (names->items == NULL)
        return false;
    for (; names->count < count; names->count++) {
        if (!take_bytes(reader, &text))
            return false;
        copy_text(names->items[names->count], sizeof(names->items[0]), &text);
    }
    return true;
}

/* Texts of answers name SoCs; static storage is all that a result may borrow. */
static void set_static_text(void *place, const struct soma_text *text)
{
    const struct soma_soc *soc = soma_soc_find(text->ptr, text->len);
    const char *found = soc == NULL ? "" : soc->name;
    memcpy(place, &found, sizeof(found));
}

static bool take_data(struct soma_buffer *data, const struct soma_text *text)
{
    data->ptr = malloc(text->len == 0 ? 1 : text->len);
    if (data->ptr == NULL)
        return false;
    memcpy(data->ptr, text->ptr, text->len);
    data->len = text->len;
    return true;
}

static bool take_member(struct soma_batch_answer_reader *reader, const struct soma_member *member,
                        char *place, unsigned depth)
{
    uint64_t value;
    struct soma_text text;
    switch (member->kind) {
    case SOMA_MEMBER_KIND_TEXT:
        if (take_bytes(reader, &text)) {
            set_static_text(place, &text);
            return true;
        }
        return false;
    case SOMA_MEMBER_KIND_NAME:
        if (!take_bytes(reader, &text))
            return false;
        copy_text(place, SOMA_NAME_BYTES_MAX + 1, &text);
        return true;
    case SOMA_MEMBER_KIND_DATA:
        return take_bytes(reader, &text) && take_data((struct soma_buffer *)place, &text);
    case SOMA_MEMBER_KIND_NAMES: return take_names(reader, (struct soma_names *)place);
    case SOMA_MEMBER_KIND_OBJECT:
        return take_message(reader, (enum soma_message)member->sub, place, depth + 1);
    case SOMA_MEMBER_KIND_ARRAY:
        return take_array(reader, (enum soma_message)member->sub, place, depth);
    case SOMA_MEMBER_KIND_BOOL:
    case SOMA_MEMBER_KIND_ENUM:
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_F64:
    case SOMA_MEMBER_KIND_ADDRESS:
    default:
        if (!take_u64(reader, &value))
            return false;
        if (member->kind == SOMA_MEMBER_KIND_BOOL)
            *(bool *)place = value != 0;
        else if (member->kind == SOMA_MEMBER_KIND_ENUM)
            *(int *)place = (int)value;
        else
            memcpy(place, &value, sizeof(value));
        return true;
    }
}

static bool take_message(struct soma_batch_answer_reader *reader, enum soma_message message,
                         char *base, unsigned depth)
{
    const struct soma_message_info *info = soma_message_info(message);
    if (depth > NESTING_MAX)
        return false;
    for (size_t i = 0; i < info->member_count; i++) {
        if (!take_member(reader, &info->members[i], base + info->members[i].offset, depth))
            return false;
    }
    return true;
}

bool soma_batch_open_answer(struct soma_batch_answer_reader *reader, const void *body, size_t len)
{
    const unsigned char *bytes = body;
    if (len < HEADER_BYTES ||
        load_u64(bytes) != (SOMA_BATCH_ANSWER | (uint64_t)SOMA_BATCH_VERSION << 32))
        return false;
    uint64_t counts = load_u64(bytes + 8);
    *reader = (struct soma_batch_answer_reader){
        .at = bytes + HEADER_BYTES,
        .end = bytes + len,
        .answer = {(uint32_t)counts, (uint32_t)(counts >> 32), load_u64(bytes + 16),
                   load_u64(bytes + 24), load_u64(bytes + 32)},
    };
    return true;
}

static enum soma_status broken(struct soma_error *error)
{
    return soma_fail(error, SOMA_MALFORMED_BATCH, "",
                     "the answer is not a batch in the compact form");
}

static void release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

enum soma_status soma_batch_next_answer(struct soma_batch_answer_reader *reader,
                                        struct soma_result *result, struct soma_error *error)
{
    uint64_t head;
    struct soma_text field, message;
    result->message = SOMA_MESSAGE_NONE;
    if (!take_u64(reader, &head))
        return broken(error);
    if ((head & 0xffff) != 0) {
        if (!take_bytes(reader, &field) || !take_bytes(reader, &message))
            return broken(error);
        char name[SOMA_FIELD_BYTES];
        reader->error_index = (uint32_t)(head >> 32);
        copy_text(name, sizeof(name), &field);
        return soma_fail(error, soma_status_info((enum soma_status)(head & 0xffff))->status, name,
                         "%.*s", (int)message.len, message.ptr);
    }
    uint64_t number = head >> 16;
    if (number > SOMA_MESSAGE_COUNT)
        return broken(error);
    if (number == 0)
        return SOMA_OK;
    result->message = (enum soma_message)(number - 1);
    memset(&result->u, 0, soma_message_info(result->message)->size);
    if (take_message(reader, result->message, (char *)&result->u, 0))
        return SOMA_OK;
    soma_result_clear(result, release, NULL);
    return broken(error);
}

bool soma_batch_answers_bytes(const struct soma_batch_answer_reader *reader, uint64_t bytes)
{
    uint64_t head = (uint64_t)(SOMA_MESSAGE_MEMORY_BYTES + 1) << 16;
    return reader->answer.records == 1 && reader->end - reader->at >= 16 &&
           load_u64(reader->at) == head && load_u64(reader->at + 8) == bytes;
}
