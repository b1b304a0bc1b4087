/* Commands that act on the bytes: set, copy, reduce, write, read. Their effect is at once, in the
 * order of submission; their time is the stream's, or the host's when no stream is named. */
#include "internal.h"

#include <inttypes.h>
#include <string.h>

uint64_t contents_cost(uint64_t start_ns, uint64_t size_bytes, uint64_t bytes_per_us)
{
    uint64_t us = size_bytes / bytes_per_us, rest = size_bytes % bytes_per_us;
    return start_ns + us * 1000 + rest * 1000 / bytes_per_us;
}

enum soma_status contents_prepare(struct call *call, const struct range *ranges, size_t count,
                                  struct submission *sub)
{
    struct place place;
    struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].size == 0)
            return soma_fail(call->error, SOMA_ZERO_SIZE, ranges[i].size_field,
                             "%s is 0 bytes; give at least 1", ranges[i].size_field);
        enum soma_status status =
            memory_locate(call->engine, device, &ranges[i], &place, call->error);
        if (status != SOMA_OK)
            return status;
    }
    if (!call_has(call, SOMA_HAS(stream)))
        return SOMA_OK;
    sub->stream = stream_find_going(call, device, call->command->stream);
    if (sub->stream == NULL)
        return call->error->status;
    return submission_prepare(call, sub, NULL, 0) ? SOMA_OK : engine_no_memory(call);
}

enum soma_status contents_finish(struct call *call, struct submission *sub, enum soma_status status)
{
    if (status != SOMA_OK)
        submission_drop(call->engine, sub);
    else if (sub->stream != NULL)
        submission_commit(call, sub, NULL);
    else
        call->now_ns = time_add(call->now_ns, sub->cost_ns);
    return status;
}

/* ---- bytes that may lie in several mappings ---- */

/* Where the contents of an address are kept, and how many of the next size_bytes lie together. */
static uint64_t piece_at(const struct engine *engine, uint64_t address, uint64_t size_bytes,
                         uint64_t *contents)
{
    struct engine_piece piece;
    engine_translate(engine, address, &piece);
    *contents = piece.address;
    return piece.bytes < size_bytes ? piece.bytes : size_bytes;
}

/* The same for the last bytes of [address, address + size_bytes). */
static uint64_t piece_before(const struct engine *engine, uint64_t address, uint64_t size_bytes,
                             uint64_t *contents)
{
    struct engine_piece piece;
    engine_translate(engine, address + size_bytes - 1, &piece);
    uint64_t bytes = piece.before < size_bytes ? piece.before + 1 : size_bytes;
    *contents = piece.address + 1 - bytes;
    return bytes;
}

enum soma_status contents_touch(struct call *call, uint64_t address, uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    enum soma_status status = SOMA_OK;
    uint64_t contents;
    for (uint64_t at = 0, piece; at < size_bytes && status == SOMA_OK; at += piece) {
        piece = piece_at(call->engine, address + at, size_bytes - at, &contents);
        status = bytes->touch(bytes->ctx, contents, piece, call->error);
    }
    return status;
}

/* A write to several pieces must not stop half way; one to a single piece does not. */
static enum soma_status touch_all(struct call *call, uint64_t address, uint64_t size_bytes)
{
    uint64_t contents;
    bool is_one = piece_at(call->engine, address, size_bytes, &contents) == size_bytes;
    return is_one ? SOMA_OK : contents_touch(call, address, size_bytes);
}

enum soma_status contents_write(struct call *call, uint64_t address, const void *from,
                                uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    enum soma_status status = touch_all(call, address, size_bytes);
    uint64_t contents;
    for (uint64_t at = 0, piece; at < size_bytes && status == SOMA_OK; at += piece) {
        piece = piece_at(call->engine, address + at, size_bytes - at, &contents);
        status = bytes->write(bytes->ctx, contents, (const char *)from + at, piece, call->error);
    }
    return status;
}

enum soma_status contents_read(struct call *call, uint64_t address, void *to, uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    enum soma_status status = SOMA_OK;
    uint64_t contents;
    for (uint64_t at = 0, piece; at < size_bytes && status == SOMA_OK; at += piece) {
        piece = piece_at(call->engine, address + at, size_bytes - at, &contents);
        status = bytes->read(bytes->ctx, contents, (char *)to + at, piece, call->error);
    }
    return status;
}

static enum soma_status set_all(struct call *call, uint64_t address, uint8_t value,
                                uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    enum soma_status status = touch_all(call, address, size_bytes);
    uint64_t contents;
    for (uint64_t at = 0, piece; at < size_bytes && status == SOMA_OK; at += piece) {
        piece = piece_at(call->engine, address + at, size_bytes - at, &contents);
        status = bytes->set(bytes->ctx, contents, value, piece, call->error);
    }
    return status;
}

/* As memmove: from the end when dst lies behind src. */
static enum soma_status copy_all(struct call *call, uint64_t dst, uint64_t src, uint64_t size_bytes)
{
    const struct engine *engine = call->engine;
    const struct engine_bytes *bytes = &engine->bytes;
    enum soma_status status = touch_all(call, dst, size_bytes);
    bool is_backward = dst > src;
    for (uint64_t left = size_bytes, piece; left > 0 && status == SOMA_OK; left -= piece) {
        uint64_t at = is_backward ? 0 : size_bytes - left, to, from;
        if (is_backward) {
            piece = piece_before(engine, dst, left, &to);
            uint64_t other = piece_before(engine, src, left, &from);
            uint64_t shorter = other < piece ? other : piece;
            to += piece - shorter;
            from += other - shorter;
            piece = shorter;
        } else {
            piece = piece_at(engine, dst + at, left, &to);
            piece = piece_at(engine, src + at, piece, &from);
        }
        status = bytes->copy(bytes->ctx, to, from, piece, call->error);
    }
    return status;
}

enum soma_status memory_set(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {command->ptr, command->size, "ptr", "size"};
    struct submission sub = {
        .cost_ns = contents_cost(costs->set_ns, command->size, costs->set_bytes_per_us)};
    enum soma_status status = contents_prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = set_all(call, range.address, (uint8_t)command->value, range.size);
    return contents_finish(call, &sub, status);
}

enum soma_status memory_copy(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range ranges[] = {{command->dst, command->size, "dst", "size"},
                             {command->src, command->size, "src", "size"}};
    struct submission sub = {.cost_ns = contents_cost(costs->device_copy_ns, command->size,
                                                      costs->device_copy_bytes_per_us)};
    enum soma_status status = contents_prepare(call, ranges, 2, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = copy_all(call, command->dst, command->src, command->size);
    return contents_finish(call, &sub, status);
}

/* ---- reductions ---- */

unsigned dtype_bytes(enum soma_dtype dtype)
{
    switch (dtype) {
    case SOMA_DTYPE_INT8:
    case SOMA_DTYPE_UINT8: return 1;
    case SOMA_DTYPE_INT16:
    case SOMA_DTYPE_UINT16:
    case SOMA_DTYPE_FLOAT16:
    case SOMA_DTYPE_BFLOAT16: return 2;
    case SOMA_DTYPE_INT32:
    case SOMA_DTYPE_UINT32:
    case SOMA_DTYPE_FLOAT32: return 4;
    case SOMA_DTYPE_INT64:
    case SOMA_DTYPE_UINT64: return 8;
    }
    return 1;
}

const char *dtype_name(enum soma_dtype dtype)
{
    return soma_word_of(SOMA_GROUP_dtype, (int)dtype);
}

#define DTYPE_BIT(name) (1u << SOMA_DTYPE_##name)

/* What the SDMA engine of a SoC can reduce, by its npu_arch. */
static const struct {
    uint32_t npu_arch;
    uint32_t dtypes;
    bool only_sum;
} reductions[] = {
    {1001, DTYPE_BIT(FLOAT32), true},
    {2002, DTYPE_BIT(FLOAT32) | DTYPE_BIT(FLOAT16) | DTYPE_BIT(INT16), true},
    {2201,
     DTYPE_BIT(INT8) | DTYPE_BIT(INT16) | DTYPE_BIT(INT32) | DTYPE_BIT(FLOAT16) |
         DTYPE_BIT(FLOAT32) | DTYPE_BIT(BFLOAT16),
     false},
    {3002,
     DTYPE_BIT(INT8) | DTYPE_BIT(INT16) | DTYPE_BIT(INT32) | DTYPE_BIT(FLOAT16) |
         DTYPE_BIT(FLOAT32),
     false},
};

static enum soma_status check_reduction(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct soma_soc *soc = call->engine->soc;
    enum soma_dtype dtype = (enum soma_dtype)command->dtype;
    uint64_t element = dtype_bytes(dtype);
    bool is_able = false;
    for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
        is_able =
            is_able ||
            (reductions[i].npu_arch == soc->npu_arch && (reductions[i].dtypes >> dtype & 1u) != 0 &&
             !(reductions[i].only_sum && command->reduce_kind != SOMA_REDUCE_KIND_SUM));
    if (!is_able)
        return soma_fail(call->error, SOMA_SOC_UNSUPPORTED, "dtype",
                         "%s cannot reduce %s by %s; every SoC can do SUM of float32", soc->name,
                         dtype_name(dtype),
                         soma_word_of(SOMA_GROUP_reduce_kind, (int)command->reduce_kind));
    if (command->dst % element != 0 || command->src % element != 0 || command->size % element != 0)
        return soma_fail(call->error, SOMA_ADDRESS_UNALIGNED,
                         command->dst % element != 0   ? "dst"
                         : command->src % element != 0 ? "src"
                                                       : "size",
                         "dst 0x%" PRIx64 ", src 0x%" PRIx64 " and size %" PRIu64
                         " have to be multiples of %" PRIu64 " bytes, the size of %s",
                         command->dst, command->src, command->size, element, dtype_name(dtype));
    return SOMA_OK;
}

/* Pieces are whole elements: they end at multiples of 2 MiB, as aligned addresses see them. */
static enum soma_status reduce_all(struct call *call, const struct engine_reduce *what)
{
    const struct engine *engine = call->engine;
    enum soma_status status = touch_all(call, what->dst, what->size_bytes);
    struct engine_reduce part = *what;
    for (uint64_t at = 0; at < what->size_bytes && status == SOMA_OK; at += part.size_bytes) {
        part.size_bytes = piece_at(engine, what->dst + at, what->size_bytes - at, &part.dst);
        part.size_bytes = piece_at(engine, what->src + at, part.size_bytes, &part.src);
        status = engine->bytes.reduce(engine->bytes.ctx, &part, call->error);
    }
    return status;
}

enum soma_status memory_reduce(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    const struct engine_reduce what = {command->dst, command->src, command->size,
                                       (enum soma_reduce_kind)command->reduce_kind,
                                       (enum soma_dtype)command->dtype};
    struct range ranges[] = {{command->dst, command->size, "dst", "size"},
                             {command->src, command->size, "src", "size"}};
    struct submission sub = {.cost_ns = contents_cost(costs->device_copy_ns, command->size,
                                                      costs->device_copy_bytes_per_us)};
    enum soma_status status = check_reduction(call);
    if (status == SOMA_OK)
        status = contents_prepare(call, ranges, 2, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes)
        status = reduce_all(call, &what);
    return contents_finish(call, &sub, status);
}

/* ---- host memory ---- */

/* Commands borrow what they are given as constant; these bytes are given away. */
static char *given_bytes(const struct soma_command *command)
{
    char *bytes;
    memcpy(&bytes, &command->data.ptr, sizeof(bytes));
    return bytes;
}

/* Have the pages of what is written, if the contents lie together. false: it has to be copied. */
static bool exchange_all(struct call *call, uint64_t address, uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    uint64_t contents;
    return call->command->gives_pages && bytes->exchange != NULL &&
           piece_at(call->engine, address, size_bytes, &contents) == size_bytes &&
           bytes->exchange(bytes->ctx, contents, given_bytes(call->command), size_bytes);
}

/* As contents_write, of bytes that are given away. */
static enum soma_status take_all(struct call *call, uint64_t address, uint64_t size_bytes)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    enum soma_status status = touch_all(call, address, size_bytes);
    uint64_t contents;
    char *from = given_bytes(call->command);
    for (uint64_t at = 0, piece; at < size_bytes && status == SOMA_OK; at += piece) {
        piece = piece_at(call->engine, address + at, size_bytes - at, &contents);
        status = bytes->take(bytes->ctx, contents, from + at, piece, call->error);
    }
    return status;
}

enum soma_status memory_write(struct call *call)
{
    const struct soma_command *command = call->command;
    const struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {command->ptr, command->data.len, "ptr", "base64"};
    struct submission sub = {
        .cost_ns = contents_cost(costs->host_copy_ns, range.size, costs->host_copy_bytes_per_us)};
    enum soma_status status = contents_prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (!engine->has_bytes || exchange_all(call, range.address, range.size))
        return contents_finish(call, &sub, SOMA_OK);
    if (command->gives_data && engine->bytes.take != NULL)
        status = take_all(call, range.address, range.size);
    else
        status = contents_write(call, range.address, command->data.ptr, range.size);
    return contents_finish(call, &sub, status);
}

enum soma_status memory_read(struct call *call)
{
    struct engine *engine = call->engine;
    const struct engine_costs *costs = &engine->costs;
    struct range range = {call->command->ptr, call->command->size, "ptr", "size"};
    struct submission sub = {
        .cost_ns = contents_cost(costs->host_copy_ns, range.size, costs->host_copy_bytes_per_us)};
    enum soma_status status = contents_prepare(call, &range, 1, &sub);
    if (status != SOMA_OK)
        return status;
    if (!engine->has_bytes)
        return contents_finish(call, &sub, SOMA_OK);
    struct soma_buffer *data = &call->result->u.memory_bytes.data;
    uint64_t contents;
    bool is_one = piece_at(engine, range.address, range.size, &contents) == range.size;
    if (call->command->reads_apart && is_one)
        return contents_finish(call, &sub, SOMA_OK);
    data->ptr =
        engine->mem.alloc(engine->mem.ctx, (size_t)range.size); /* read fills it: not zeroed */
    if (data->ptr == NULL)
        return contents_finish(call, &sub, engine_no_memory(call));
    data->len = (size_t)range.size;
    status = contents_read(call, range.address, data->ptr, range.size);
    return contents_finish(call, &sub, status);
}
