/* The compact form of a request: commands to records and back. See batch.h for the layout. */
#include "batch.h"

#include "wire_internal.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES = 32, RECORD_BYTES = 8 };
#define EXPIRED_BIT UINT64_C(0x80000000)
#define HAS_ID_BIT UINT64_C(0x100000000)

/* ---- little-endian numbers ---- */

static void put_u64(struct soma_writer *writer, uint64_t value)
{
    uint64_t little = htole64(value);
    if (writer->failed || writer->capacity - writer->len < sizeof(little)) {
        soma_writer_raw(writer, (const char *)&little, sizeof(little));
        return;
    }
    memcpy(writer->ptr + writer->len, &little, sizeof(little)); /* one instruction */
    writer->len += sizeof(little);
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t little;
    memcpy(&little, at, sizeof(little));
    return le64toh(little);
}

static void put_padded(struct soma_writer *writer, const char *ptr, size_t len)
{
    static const char zeros[8] = {0};
    soma_writer_raw(writer, ptr, len);
    soma_writer_raw(writer, zeros, (8 - len % 8) % 8);
}

/* ---- writing ---- */

void soma_batch_writer_init(struct soma_batch_writer *batch, size_t max_bytes)
{
    soma_writer_init(&batch->records, max_bytes);
    soma_writer_init(&batch->payload, max_bytes);
    batch->count = 0;
    batch->leaves_bytes = false;
    batch->left_bytes = 0;
}

void soma_batch_writer_release(struct soma_batch_writer *batch)
{
    soma_writer_release(&batch->records);
    soma_writer_release(&batch->payload);
    batch->count = 0;
}

size_t soma_batch_bytes(const struct soma_batch_writer *batch)
{
    return HEADER_BYTES + batch->records.len + batch->payload.len;
}

static void add_args(struct soma_batch_writer *batch, const struct soma_kernel_args *args)
{
    put_u64(&batch->records, args->count);
    for (size_t i = 0; i < args->count; i++) {
        const struct soma_kernel_arg *arg = &args->items[i];
        bool is_bytes = arg->kind == SOMA_ARG_BYTES;
        put_u64(&batch->payload, (uint64_t)arg->kind);
        put_u64(&batch->payload, is_bytes ? arg->bytes.len : arg->bits);
        if (is_bytes)
            put_padded(&batch->payload, arg->bytes.ptr, arg->bytes.len);
    }
}

static void add_field(struct soma_batch_writer *batch, const struct soma_command *command,
                      const struct soma_field_row *row)
{
    const void *place = (const char *)command + soma_field_offset(row->field);
    struct soma_text text;
    switch ((int)row->kind) {
    case SOMA_KIND_TEXT:
    case SOMA_KIND_BASE64:
        memcpy(&text, place, sizeof(text));
        put_u64(&batch->records, text.len);
        if (batch->leaves_bytes && row->kind == SOMA_KIND_BASE64)
            batch->left_bytes = (text.len + 7) / 8 * 8;
        else
            put_padded(&batch->payload, text.ptr, text.len);
        return;
    case SOMA_KIND_ARGS: add_args(batch, place); return;
    case SOMA_KIND_LOCATION:
        put_u64(&batch->records,
                command->location_type |
                    ((command->present & SOMA_HAS(location_id)) != 0 ? HAS_ID_BIT : 0));
        put_u64(&batch->records, command->location_id);
        return;
    default: put_u64(&batch->records, soma_command_get(command, row->field)); return;
    }
}

/* Half of a location is one too. */
static bool is_given(const struct soma_command *command, const struct soma_field_row *row)
{
    uint64_t bits = UINT64_C(1) << row->field;
    if (row->kind == SOMA_KIND_LOCATION)
        bits |= SOMA_HAS(location_id);
    return (command->present & bits) != 0;
}

bool soma_batch_add(struct soma_batch_writer *batch, const struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    size_t records_len = batch->records.len, payload_len = batch->payload.len;
    uint64_t given = 0;
    for (size_t i = 0; i < info->field_count; i++)
        given |= (uint64_t)is_given(command, &info->fields[i]) << i;
    put_u64(&batch->records,
            (uint64_t)command->op | (command->expired ? EXPIRED_BIT : 0) | given << 32);
    for (size_t i = 0; i < info->field_count; i++) {
        if ((given >> i & 1u) != 0)
            add_field(batch, command, &info->fields[i]);
    }
    if (batch->records.failed || batch->payload.failed) {
        batch->records.len = records_len;
        batch->payload.len = payload_len;
        batch->records.failed = batch->payload.failed = false;
        return false;
    }
    batch->count++;
    return true;
}

bool soma_batch_finish(struct soma_batch_writer *batch, uint32_t flags, uint64_t sequence,
                       struct soma_writer *out)
{
    soma_writer_clear(out);
    put_u64(out, SOMA_BATCH_REQUEST | (uint64_t)SOMA_BATCH_VERSION << 32 | (uint64_t)flags << 48);
    put_u64(out, batch->count);
    put_u64(out, sequence);
    put_u64(out, batch->payload.len + batch->left_bytes);
    soma_writer_raw(out, batch->records.ptr, batch->records.len);
    soma_writer_raw(out, batch->payload.ptr, batch->payload.len);
    if (out->failed)
        return false;
    soma_writer_clear(&batch->records);
    soma_writer_clear(&batch->payload);
    batch->count = 0;
    batch->left_bytes = 0;
    return true;
}

/* ---- reading ---- */

static enum soma_status malformed(struct soma_error *error, const char *what)
{
    return soma_fail(
        error, SOMA_MALFORMED_BATCH, "",
        "the batch is not what %s describes: %s; build it with version %u of the layout",
        SOMA_BATCH_TYPE, what, SOMA_BATCH_VERSION);
}

enum soma_status soma_batch_open(struct soma_batch_reader *reader, const void *body, size_t len,
                                 struct soma_error *error)
{
    const unsigned char *bytes = body;
    if (len < HEADER_BYTES)
        return malformed(error, "it is shorter than its header of 32 bytes");
    uint64_t first = get_u64(bytes), count = get_u64(bytes + 8);
    *reader = (struct soma_batch_reader){
        .at = bytes + HEADER_BYTES,
        .header = {.flags = (uint32_t)(first >> 48),
                   .count = (uint32_t)count,
                   .sequence = get_u64(bytes + 16),
                   .payload_bytes = get_u64(bytes + 24)},
    };
    if ((first & UINT32_MAX) != SOMA_BATCH_REQUEST)
        return malformed(error, "it does not begin with SMBQ");
    if ((first >> 32 & 0xffff) != SOMA_BATCH_VERSION)
        return malformed(error, "its version is another one");
    if (reader->header.flags > SOMA_BATCH_FLAGS_ALL)
        return malformed(error, "it has flags that do not exist");
    if (reader->header.payload_bytes > len - HEADER_BYTES)
        return malformed(error, "its payload is longer than the body");
    if (count > (len - HEADER_BYTES) / RECORD_BYTES)
        return malformed(error, "it has fewer records than it says");
    reader->payload_end = bytes + len;
    reader->payload = reader->payload_end - reader->header.payload_bytes;
    reader->records_end = reader->payload;
    if (count == 0 && len > HEADER_BYTES)
        return malformed(error, "bytes are left over behind no command");
    return SOMA_OK;
}

/* The next number of the records; false: there is none. */
static bool take_u64(struct soma_batch_reader *reader, uint64_t *value)
{
    if (reader->records_end - reader->at < 8)
        return false;
    *value = get_u64(reader->at);
    reader->at += 8;
    return true;
}

/* The next len bytes of the payload and their padding. */
static bool take_payload(struct soma_batch_reader *reader, uint64_t len, struct soma_text *text)
{
    uint64_t left = (uint64_t)(reader->payload_end - reader->payload);
    if (len > left || (len + 7) / 8 * 8 > left)
        return false;
    text->ptr = (const char *)reader->payload;
    text->len = (size_t)len;
    reader->payload += (len + 7) / 8 * 8;
    return true;
}

/* Does the value fit its kind? */
static bool arg_fits(enum soma_arg_kind kind, uint64_t bits)
{
    static const uint64_t max[] = {
        [SOMA_ARG_PTR] = UINT64_MAX, [SOMA_ARG_U8] = UINT8_MAX,     [SOMA_ARG_U16] = UINT16_MAX,
        [SOMA_ARG_U32] = UINT32_MAX, [SOMA_ARG_U64] = UINT64_MAX,   [SOMA_ARG_I32] = UINT64_MAX,
        [SOMA_ARG_I64] = UINT64_MAX, [SOMA_ARG_F16] = UINT16_MAX,   [SOMA_ARG_F32] = UINT32_MAX,
        [SOMA_ARG_F64] = UINT64_MAX, [SOMA_ARG_BYTES] = UINT64_MAX,
    };
    if (kind == SOMA_ARG_I32)
        return bits <= INT32_MAX || bits >= (uint64_t)INT32_MIN;
    return bits <= max[kind];
}

static enum soma_status take_args(struct soma_batch_reader *reader, uint64_t count,
                                  struct wire_arena *arena, struct soma_kernel_args *args,
                                  struct soma_error *error)
{
    struct soma_text word;
    if (count > SOMA_KERNEL_ARGS_MAX)
        return malformed(error, "a command has more kernel arguments than there may be");
    struct soma_kernel_arg *items =
        wire_arena_alloc(arena, (size_t)(count == 0 ? 1 : count) * sizeof(*items));
    if (items == NULL)
        return soma_fail(error, SOMA_OUT_OF_MEMORY, "args", "no memory for the arguments");
    for (size_t i = 0; i < count; i++) {
        if (!take_payload(reader, 16, &word))
            return malformed(error, "its payload ends inside kernel arguments");
        uint64_t kind = get_u64((const unsigned char *)word.ptr);
        uint64_t bits = get_u64((const unsigned char *)word.ptr + 8);
        if (kind > SOMA_ARG_BYTES)
            return malformed(error, "a kernel argument has a kind that does not exist");
        if (!arg_fits((enum soma_arg_kind)kind, bits))
            return malformed(error, "a kernel argument has a value that its type cannot have");
        items[i] = (struct soma_kernel_arg){.kind = (enum soma_arg_kind)kind, .bits = bits};
        if (kind != SOMA_ARG_BYTES)
            continue;
        items[i].bits = 0;
        if (!take_payload(reader, bits, &items[i].bytes))
            return malformed(error, "its payload ends inside kernel arguments");
    }
    *args = (struct soma_kernel_args){items, (size_t)count};
    return SOMA_OK;
}

/* Text as JSON has it: bounded, UTF-8, no NUL. */
static enum soma_status check_text(const struct soma_field_row *row, const struct soma_text *text,
                                   struct soma_error *error)
{
    const char *field = soma_field_json(row->field);
    const unsigned char *at = (const unsigned char *)text->ptr, *end = at + text->len;
    if (text->len > SOMA_NAME_BYTES_MAX)
        return wire_check_length(field, text->len, error);
    while (at < end) {
        size_t step = *at == 0 ? 0 : wire_utf8_len(at, end);
        if (step == 0)
            return soma_fail(error, SOMA_INVALID_VALUE, field, "%s: not text in UTF-8", field);
        at += step;
    }
    return SOMA_OK;
}

static enum soma_status check_number(const struct soma_field_row *row, uint64_t value,
                                     struct soma_error *error)
{
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    enum soma_enum_group group = kind->words;
    char shown[24];
    if (group == SOMA_GROUP_COUNT)
        return value >= kind->min && value <= kind->max ? SOMA_OK
                                                        : wire_check_number(row, value, error);
    if (value <= INT32_MAX && soma_word_of(group, (int)value) != NULL)
        return SOMA_OK;
    (void)snprintf(shown, sizeof(shown), "%" PRIu64, value);
    return wire_refuse_word(error, soma_field_json(row->field), group, shown);
}

static enum soma_status take_location(struct soma_batch_reader *reader, uint64_t type,
                                      struct soma_command *command, struct soma_error *error)
{
    uint64_t id;
    bool has_id = (type & HAS_ID_BIT) != 0;
    type &= ~HAS_ID_BIT;
    if (!take_u64(reader, &id))
        return malformed(error, "its records end inside a location");
    char shown[24];
    if (type > INT32_MAX || soma_word_of(SOMA_GROUP_location_type, (int)type) == NULL) {
        (void)snprintf(shown, sizeof(shown), "%" PRIu64, type);
        return wire_refuse_word(error, "location.type", SOMA_GROUP_location_type, shown);
    }
    soma_command_set(command, SOMA_FIELD_location_type, type);
    if (has_id)
        soma_command_set(command, SOMA_FIELD_location_id, id);
    return SOMA_OK;
}

static enum soma_status take_field(struct soma_batch_reader *reader, struct wire_arena *arena,
                                   const struct soma_field_row *row, struct soma_command *command,
                                   struct soma_error *error)
{
    uint64_t value;
    struct soma_text text;
    void *place = (char *)command + soma_field_offset(row->field);
    if (!take_u64(reader, &value))
        return malformed(error, "its records end inside a command");
    command->present |= UINT64_C(1) << row->field;
    switch ((int)row->kind) {
    case SOMA_KIND_TEXT:
    case SOMA_KIND_BASE64:
        if (!take_payload(reader, value, &text))
            return malformed(error, "its payload is shorter than its records say");
        memcpy(place, &text, sizeof(text));
        return row->kind == SOMA_KIND_TEXT ? check_text(row, &text, error) : SOMA_OK;
    case SOMA_KIND_ARGS: return take_args(reader, value, arena, place, error);
    case SOMA_KIND_LOCATION: return take_location(reader, value, command, error);
    default: memcpy(place, &value, sizeof(value)); return check_number(row, value, error);
    }
}

enum soma_status soma_batch_next(struct soma_batch_reader *reader, struct wire_arena *arena,
                                 struct soma_command *command, struct soma_error *error)
{
    uint64_t head;
    if (!take_u64(reader, &head))
        return malformed(error, "it has fewer records than it says");
    uint64_t op = head & UINT32_MAX & ~EXPIRED_BIT, given = head >> 32;
    if (op >= SOMA_OP_COUNT)
        return malformed(error, "no command has the number that stands in a record");
    const struct soma_op_info *info = soma_op_info((enum soma_op)op);
    if (given >> info->field_count != 0)
        return malformed(error, "a record gives fields that its command does not have");
    soma_command_init(command, (enum soma_op)op);
    command->expired = (head & EXPIRED_BIT) != 0;
    /* A value that is refused does not end the record: the next command follows behind it. */
    enum soma_status first = SOMA_OK;
    for (size_t i = 0; i < info->field_count; i++) {
        if ((given >> i & 1u) == 0)
            continue;
        enum soma_status status =
            take_field(reader, arena, &info->fields[i], command, first == SOMA_OK ? error : NULL);
        if (status == SOMA_MALFORMED_BATCH || status == SOMA_OUT_OF_MEMORY)
            return first == SOMA_OK ? status
                                    : malformed(error, "its payload does not fit its records");
        first = first == SOMA_OK ? status : first;
    }
    reader->taken++;
    if (reader->taken == reader->header.count &&
        (reader->at != reader->records_end || reader->payload != reader->payload_end))
        return malformed(error, "bytes are left over behind the last command");
    return first == SOMA_OK ? wire_finish_command(command, true, error) : first;
}

/* What one value of a record adds to the bytes that its command moves. */
static uint64_t moved_by(enum soma_op op, enum soma_field field, uint64_t value)
{
    if (op == SOMA_OP_MEMORY_RANDOM && field == SOMA_FIELD_count)
        return value > UINT64_MAX / 8 ? UINT64_MAX : value * 8;
    bool is_move =
        op == SOMA_OP_MEMORY_SET || op == SOMA_OP_MEMORY_COPY || op == SOMA_OP_MEMORY_REDUCE;
    return is_move && field == SOMA_FIELD_size ? value : 0;
}

bool soma_batch_moves(const struct soma_batch_reader *reader, uint64_t bytes)
{
    struct soma_batch_reader at = *reader;
    uint64_t head, value, moved = 0;
    for (uint32_t i = reader->taken; i < reader->header.count && take_u64(&at, &head); i++) {
        uint64_t op = head & UINT32_MAX & ~EXPIRED_BIT, given = head >> 32;
        const struct soma_op_info *info =
            op < SOMA_OP_COUNT ? soma_op_info((enum soma_op)op) : NULL;
        if (info == NULL || given >> info->field_count != 0)
            return false;
        for (size_t k = 0; given >> k != 0; k++) {
            const struct soma_field_row *row = &info->fields[k];
            if ((given >> k & 1u) == 0)
                continue;
            if (!take_u64(&at, &value))
                return false;
            uint64_t more = moved_by((enum soma_op)op, row->field, value);
            if (more >= bytes - moved)
                return true;
            moved += more;
            if (row->kind == SOMA_KIND_LOCATION && !take_u64(&at, &value))
                return false;
        }
    }
    return false;
}
