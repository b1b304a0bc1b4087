/* Copies and fills; those of 0 bytes succeed before anything is looked at. Addresses decide what is
 * copied where: those of devices are never those of the host (ranges.h). Contents go over the raw
 * route in pieces, so that no side holds a large copy twice; a copy of several pieces is checked
 * whole before its first byte moves. */
#include "acl_stream.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "handle.h"
#include "managed.h"
#include "ranges.h"
#include "session.h"
#include "stream.h"

#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((size_t)16 << 20) /* largest part of a copy between host and device */
#define STAGE_BYTES ((size_t)4 << 20)  /* of a copy between devices, and of a pattern */

/* A place that contents come from or go to, and on which stream. */
struct spot {
    uint64_t address;
    bool is_device;
    uint32_t device; /* of a device address */
    bool is_managed; /* both: it is copied as the host's */
};

struct order {
    bool has_stream; /* false: done when the call returns, on no stream */
    uint64_t stream_id;
};

static struct spot spot_of(const void *ptr, const struct client_object *context)
{
    struct spot spot = {(uint64_t)(uintptr_t)ptr, client_is_device_address(ptr), context->device,
                        false};
    struct client_range range;
    spot.is_managed = spot.is_device && client_managed_left(spot.address) > 0;
    spot.is_device = spot.is_device && !spot.is_managed;
    if (spot.is_device && client_ranges_find(spot.address, &range))
        spot.device = range.device;
    return spot;
}

static void spot_command(struct soma_command *command, enum soma_op op, const struct order *order,
                         uint32_t device)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, device);
    if (order->has_stream)
        soma_command_set(command, SOMA_FIELD_stream, order->stream_id);
}

/* ---- between host and device ---- */

static aclError write_piece(const struct order *order, uint32_t device, uint64_t to,
                            const void *from, size_t count)
{
    struct soma_command command;
    spot_command(&command, SOMA_OP_MEMORY_WRITE, order, device);
    soma_command_set(&command, SOMA_FIELD_ptr, to);
    command.data = (struct soma_text){from, count};
    command.present |= SOMA_HAS(data);
    return client_queue(&command);
}

static aclError read_piece(const struct order *order, uint32_t device, void *to, uint64_t from,
                           size_t count)
{
    struct soma_command command;
    spot_command(&command, SOMA_OP_MEMORY_READ, order, device);
    soma_command_set(&command, SOMA_FIELD_ptr, from);
    soma_command_set(&command, SOMA_FIELD_size, count);
    return client_read(&command, to);
}

/* Whether count bytes lie in one live block. */
static aclError check_block(const struct spot *spot, size_t count)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_MEMORY_DESCRIBE);
    soma_command_set(&command, SOMA_FIELD_device, spot->device);
    soma_command_set(&command, SOMA_FIELD_ptr, spot->address);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    const struct soma_memory_description *block = &result.u.memory_description;
    if (count <= block->size - block->offset)
        return ACL_SUCCESS;
    return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%zu bytes at 0x%llx leave the block of %llu bytes at 0x%llx (%s)", count,
                       (unsigned long long)spot->address, (unsigned long long)block->size,
                       (unsigned long long)block->base, soma_status_reason(SOMA_INVALID_ADDRESS));
}

static aclError to_device(const struct order *order, const struct spot *to, const char *from,
                          size_t count)
{
    aclError error = count > PIECE_BYTES ? check_block(to, count) : ACL_SUCCESS;
    for (size_t at = 0; at < count && error == ACL_SUCCESS; at += PIECE_BYTES) {
        size_t piece = count - at < PIECE_BYTES ? count - at : PIECE_BYTES;
        error = write_piece(order, to->device, to->address + at, from + at, piece);
    }
    return error;
}

static aclError from_device(const struct order *order, char *to, const struct spot *from,
                            size_t count)
{
    aclError error = count > PIECE_BYTES ? check_block(from, count) : ACL_SUCCESS;
    for (size_t at = 0; at < count && error == ACL_SUCCESS; at += PIECE_BYTES) {
        size_t piece = count - at < PIECE_BYTES ? count - at : PIECE_BYTES;
        error = read_piece(order, from->device, to + at, from->address + at, piece);
    }
    return error;
}

/* ---- on and between devices ---- */

static aclError on_device(const struct order *order, const struct spot *to, const struct spot *from,
                          size_t count)
{
    struct soma_command command;
    spot_command(&command, SOMA_OP_MEMORY_COPY, order, to->device);
    soma_command_set(&command, SOMA_FIELD_dst, to->address);
    soma_command_set(&command, SOMA_FIELD_src, from->address);
    soma_command_set(&command, SOMA_FIELD_size, count);
    return client_queue(&command);
}

/* Through the host, in stages. A stream belongs to one of the two devices; the other side's part
 * is done when it is called. */
static aclError between_devices(const struct order *order, uint32_t stream_device,
                                const struct spot *to, const struct spot *from, size_t count)
{
    const struct order none = {false, 0};
    const struct order *write_order = stream_device == to->device ? order : &none;
    const struct order *read_order = stream_device == from->device ? order : &none;
    size_t stage_bytes = count < STAGE_BYTES ? count : STAGE_BYTES;
    aclError error = check_block(to, count);
    if (error == ACL_SUCCESS)
        error = check_block(from, count);
    char *stage = error == ACL_SUCCESS ? malloc(stage_bytes) : NULL;
    if (error == ACL_SUCCESS && stage == NULL)
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a copy");
    for (size_t at = 0; at < count && error == ACL_SUCCESS; at += stage_bytes) {
        size_t piece = count - at < stage_bytes ? count - at : stage_bytes;
        error = read_piece(read_order, from->device, stage, from->address + at, piece);
        if (error == ACL_SUCCESS)
            error = write_piece(write_order, to->device, to->address + at, stage, piece);
    }
    free(stage);
    return error;
}

/* ---- one copy ---- */

static aclError check_kind(aclrtMemcpyKind kind, const struct spot *to, const struct spot *from)
{
    static const struct {
        bool to_device, from_device;
    } kinds[] = {
        [ACL_MEMCPY_HOST_TO_HOST] = {false, false},
        [ACL_MEMCPY_HOST_TO_DEVICE] = {true, false},
        [ACL_MEMCPY_DEVICE_TO_HOST] = {false, true},
        [ACL_MEMCPY_DEVICE_TO_DEVICE] = {true, true},
        [ACL_MEMCPY_DEFAULT] = {false, false},
        [ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE] = {true, false},
        [ACL_MEMCPY_INNER_DEVICE_TO_DEVICE] = {true, true},
        [ACL_MEMCPY_INTER_DEVICE_TO_DEVICE] = {true, true},
    };
    if ((int)kind < 0 || (size_t)kind >= sizeof(kinds) / sizeof(kinds[0]))
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "kind is %d: give an enumerator of aclrtMemcpyKind, 0 to 7", (int)kind);
    if (kinds[kind].to_device && !to->is_device && !to->is_managed)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "kind %d writes to a device, and 0x%llx is no device address: is dst "
                           "memory of the host, or freed?",
                           (int)kind, (unsigned long long)to->address);
    if (kinds[kind].from_device && !from->is_device && !from->is_managed)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "kind %d reads from a device, and 0x%llx is no device address: is src "
                           "memory of the host?",
                           (int)kind, (unsigned long long)from->address);
    return ACL_SUCCESS;
}

static aclError check_sizes(const void *dst, size_t destMax, const void *src, size_t count)
{
    if (dst == NULL || src == NULL)
        return client_fail_null(dst == NULL ? "dst" : "src");
    if (count > destMax)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "count is %zu and dst holds only %zu bytes (destMax): copy less", count,
                           destMax);
    return ACL_SUCCESS;
}

/* The host is about to touch count bytes of managed memory: see that they are there, and what
 * devices wrote. */
static aclError settle(const struct spot *spot, size_t count)
{
    struct client_session *session;
    if (!spot->is_managed)
        return ACL_SUCCESS;
    if (count > client_managed_left(spot->address))
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%zu bytes at 0x%llx leave their managed memory; %llu are left there",
                           count, (unsigned long long)spot->address,
                           (unsigned long long)client_managed_left(spot->address));
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    error = client_managed_fetch(session);
    client_session_release(session);
    return error;
}

static aclError move(const struct order *order, uint32_t stream_device, const struct spot *to,
                     const struct spot *from, size_t count)
{
    char *host_to = (char *)(uintptr_t)to->address;
    const char *host_from = (const char *)(uintptr_t)from->address;
    aclError error = settle(to, count);
    if (error == ACL_SUCCESS)
        error = settle(from, count);
    if (error != ACL_SUCCESS)
        return error;
    if (to->is_device && from->is_device)
        return to->device == from->device ? on_device(order, to, from, count)
                                          : between_devices(order, stream_device, to, from, count);
    if (to->is_device)
        return to_device(order, to, host_from, count);
    if (from->is_device)
        return from_device(order, host_to, from, count);
    memmove(host_to, host_from, count);
    return ACL_SUCCESS;
}

/* A copy in a stream of another device than its memory: the service would refuse the stream. */
static aclError check_stream_device(const struct client_object *stream, const struct spot *to,
                                    const struct spot *from)
{
    bool is_other = (to->is_device || from->is_device) &&
                    !(to->is_device && to->device == stream->device) &&
                    !(from->is_device && from->device == stream->device);
    if (!is_other)
        return ACL_SUCCESS;
    return client_fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "stream %p is on device %u and the memory is not: use a stream of its device",
        stream->handle, stream->device);
}

/* When a copy in a stream is done. Ordinary memory of the host must not be touched later than the
 * call, so such a copy waits for the stream and is then done on none. */
static aclError choose_order(const struct client_object *stream, const struct spot *to,
                             const struct spot *from, const size_t spans[2], struct order *order)
{
    *order = (struct order){true, stream->id};
    if (to->is_device == from->is_device)
        return ACL_SUCCESS;
    uint64_t host = to->is_device ? from->address : to->address;
    size_t span = to->is_device ? spans[1] : spans[0];
    struct client_range range;
    if (client_ranges_find_host(host, &range) && span <= range.size_bytes - (host - range.address))
        return ACL_SUCCESS;
    *order = (struct order){false, 0};
    return acl_settle_stream(stream);
}

static aclError copy_now(void *dst, const void *src, size_t count, aclrtMemcpyKind kind)
{
    struct client_object context;
    const struct order order = {false, 0};
    aclError error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    struct spot to = spot_of(dst, &context), from = spot_of(src, &context);
    error = check_kind(kind, &to, &from);
    return error != ACL_SUCCESS ? error : move(&order, context.device, &to, &from, count);
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    client_begin("aclrtMemcpy");
    if (count == 0)
        return ACL_SUCCESS;
    aclError error = check_sizes(dst, destMax, src, count);
    return error != ACL_SUCCESS ? error : copy_now(dst, src, count, kind);
}

static aclError copy_async(void *dst, const void *src, size_t count, aclrtMemcpyKind kind,
                           aclrtStream stream)
{
    struct client_object context, the_stream;
    aclError error = client_stream_find_to_move(stream, &the_stream);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    struct order order;
    struct spot to = spot_of(dst, &context), from = spot_of(src, &context);
    error = check_kind(kind, &to, &from);
    if (error == ACL_SUCCESS)
        error = check_stream_device(&the_stream, &to, &from);
    if (error == ACL_SUCCESS)
        error = choose_order(&the_stream, &to, &from, (const size_t[2]){count, count}, &order);
    return error != ACL_SUCCESS ? error : move(&order, the_stream.device, &to, &from, count);
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream)
{
    client_begin("aclrtMemcpyAsync");
    if (count == 0)
        return ACL_SUCCESS;
    aclError error = check_sizes(dst, destMax, src, count);
    return error != ACL_SUCCESS ? error : copy_async(dst, src, count, kind, stream);
}

/* ---- many copies ---- */

struct batch {
    void **dsts, **srcs;
    size_t *dest_maxs, *sizes;
    size_t count;
    const aclrtMemcpyBatchAttr *attrs;
    const size_t *attr_indexes;
    size_t attr_count;
};

static aclError check_batch(const struct batch *batch)
{
    static const uint8_t zeros[sizeof(batch->attrs->rsv)];
    if (batch->dsts == NULL || batch->srcs == NULL || batch->dest_maxs == NULL)
        return client_fail_null("dsts, srcs or destMaxs");
    if (batch->attrs == NULL || batch->attr_indexes == NULL)
        return client_fail_null("attrs or attrsIndexes");
    if (batch->attr_count == 0 || batch->attr_count > batch->count || batch->attr_indexes[0] != 0)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "numAttrs is %zu: give 1 to %zu, the first with index 0",
                           batch->attr_count, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->sizes[i] > batch->dest_maxs[i])
            return client_fail(ACL_ERROR_INVALID_PARAM,
                               "sizes[%zu] is %zu and its target holds only %zu bytes", i,
                               batch->sizes[i], batch->dest_maxs[i]);
    }
    for (size_t i = 0; i < batch->attr_count; i++) {
        if (memcmp(batch->attrs[i].rsv, zeros, sizeof(zeros)) != 0)
            return client_fail(ACL_ERROR_INVALID_PARAM, "attrs[%zu].rsv is reserved: set it to 0",
                               i);
        if (batch->attr_indexes[i] >= batch->count ||
            (i > 0 && batch->attr_indexes[i] <= batch->attr_indexes[i - 1]))
            return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                               "attrsIndexes[%zu] is %zu: they must rise and be below %zu", i,
                               batch->attr_indexes[i], batch->count);
    }
    return ACL_SUCCESS;
}

static aclError kind_of(const aclrtMemcpyBatchAttr *attr, aclrtMemcpyKind *kind)
{
    bool to_device = attr->dstLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    bool from_device = attr->srcLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    bool is_good = (to_device || attr->dstLoc.type == ACL_MEM_LOCATION_TYPE_HOST) &&
                   (from_device || attr->srcLoc.type == ACL_MEM_LOCATION_TYPE_HOST) &&
                   (to_device != from_device);
    *kind = to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    return is_good ? ACL_SUCCESS
                   : client_fail(ACL_ERROR_RT_PARAM_INVALID,
                                 "copies go from the host to a device or back, not from location "
                                 "type %d to %d",
                                 (int)attr->srcLoc.type, (int)attr->dstLoc.type);
}

static aclError copy_batch(const struct batch *batch, size_t *fail_index, bool is_async,
                           aclrtStream stream)
{
    aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
    size_t some = 0, attr = 0;
    if (batch->sizes == NULL || fail_index == NULL)
        return client_fail_null(batch->sizes == NULL ? "sizes" : "failIndex");
    if (batch->count == 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "numBatches is 0; give at least 1");
    for (size_t i = 0; i < batch->count; i++)
        some |= batch->sizes[i];
    aclError error = some == 0 ? ACL_SUCCESS : check_batch(batch);
    *fail_index = SIZE_MAX;
    for (size_t i = 0; i < batch->count && some != 0 && error == ACL_SUCCESS; i++) {
        if (attr < batch->attr_count && batch->attr_indexes[attr] == i)
            error = kind_of(&batch->attrs[attr++], &kind);
        if (error == ACL_SUCCESS && batch->sizes[i] > 0)
            error =
                check_sizes(batch->dsts[i], batch->dest_maxs[i], batch->srcs[i], batch->sizes[i]);
        if (error == ACL_SUCCESS && batch->sizes[i] > 0)
            error = is_async
                        ? copy_async(batch->dsts[i], batch->srcs[i], batch->sizes[i], kind, stream)
                        : copy_now(batch->dsts[i], batch->srcs[i], batch->sizes[i], kind);
        if (error != ACL_SUCCESS)
            *fail_index = i;
    }
    return error;
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                          size_t numAttrs, size_t *failIndex)
{
    client_begin("aclrtMemcpyBatch");
    const struct batch batch = {dsts,       srcs,  destMaxs,     sizes,
                                numBatches, attrs, attrsIndexes, numAttrs};
    return copy_batch(&batch, failIndex, false, NULL);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                               size_t numAttrs, size_t *failIndex, aclrtStream stream)
{
    client_begin("aclrtMemcpyBatchAsync");
    const struct batch batch = {dsts,       srcs,  destMaxs,     sizes,
                                numBatches, attrs, attrsIndexes, numAttrs};
    return copy_batch(&batch, failIndex, true, stream);
}

/* ---- matrices ---- */

static aclError check_matrix(size_t dpitch, size_t spitch, size_t width, size_t height)
{
    size_t span;
    if (dpitch < width || spitch < width)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "dpitch is %zu and spitch %zu; rows of %zu bytes do not fit", dpitch,
                           spitch, width);
    if (__builtin_mul_overflow(dpitch, height, &span) ||
        __builtin_mul_overflow(spitch, height, &span))
        return client_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%zu rows of %zu and %zu bytes leave 64 bits", height, dpitch, spitch);
    return ACL_SUCCESS;
}

/* Row by row; whole when there is nothing between the rows. */
static aclError move_rows(const struct order *order, uint32_t stream_device, struct spot to,
                          struct spot from, const size_t pitch[2], const size_t shape[2])
{
    size_t width = shape[0], height = shape[1];
    if (pitch[0] == width && pitch[1] == width)
        return move(order, stream_device, &to, &from, width * height);
    aclError error = ACL_SUCCESS;
    if (to.is_device)
        error = check_block(&to, pitch[0] * (height - 1) + width);
    if (error == ACL_SUCCESS && from.is_device)
        error = check_block(&from, pitch[1] * (height - 1) + width);
    for (size_t row = 0; row < height && error == ACL_SUCCESS; row++) {
        error = move(order, stream_device, &to, &from, width);
        to.address += pitch[0];
        from.address += pitch[1];
    }
    return error;
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind)
{
    client_begin("aclrtMemcpy2d");
    struct client_object context;
    const struct order order = {false, 0};
    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    if (dst == NULL || src == NULL)
        return client_fail_null(dst == NULL ? "dst" : "src");
    aclError error = check_matrix(dpitch, spitch, width, height);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    struct spot to = spot_of(dst, &context), from = spot_of(src, &context);
    error = check_kind(kind, &to, &from);
    if (error != ACL_SUCCESS)
        return error;
    return move_rows(&order, context.device, to, from, (const size_t[2]){dpitch, spitch},
                     (const size_t[2]){width, height});
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    client_begin("aclrtMemcpy2dAsync");
    struct client_object context, the_stream;
    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    if (dst == NULL || src == NULL)
        return client_fail_null(dst == NULL ? "dst" : "src");
    aclError error = check_matrix(dpitch, spitch, width, height);
    if (error == ACL_SUCCESS)
        error = client_stream_find_to_move(stream, &the_stream);
    if (error == ACL_SUCCESS)
        error = client_context_require(&context);
    if (error != ACL_SUCCESS)
        return error;
    struct order order;
    const size_t spans[2] = {dpitch * (height - 1) + width, spitch * (height - 1) + width};
    struct spot to = spot_of(dst, &context), from = spot_of(src, &context);
    error = check_kind(kind, &to, &from);
    if (error == ACL_SUCCESS)
        error = check_stream_device(&the_stream, &to, &from);
    if (error == ACL_SUCCESS)
        error = choose_order(&the_stream, &to, &from, spans, &order);
    if (error != ACL_SUCCESS)
        return error;
    return move_rows(&order, the_stream.device, to, from, (const size_t[2]){dpitch, spitch},
                     (const size_t[2]){width, height});
}

/* ---- fills ---- */

static aclError check_fill(const void *ptr, size_t maxCount, size_t count)
{
    if (ptr == NULL)
        return client_fail_null("devPtr");
    if (count > maxCount)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "count is %zu and only %zu fit: set less",
                           count, maxCount);
    return ACL_SUCCESS;
}

static aclError fill(const struct order *order, const struct spot *to, int32_t value, size_t count)
{
    struct soma_command command;
    aclError error = settle(to, count);
    if (error != ACL_SUCCESS)
        return error;
    if (!to->is_device) {
        memset((void *)(uintptr_t)to->address, value, count);
        return ACL_SUCCESS;
    }
    spot_command(&command, SOMA_OP_MEMORY_SET, order, to->device);
    soma_command_set(&command, SOMA_FIELD_ptr, to->address);
    soma_command_set(&command, SOMA_FIELD_value, (uint64_t)((uint32_t)value & 0xffu));
    soma_command_set(&command, SOMA_FIELD_size, count);
    return client_queue(&command);
}

static void fill_words(char *to, uint32_t value, size_t words)
{
    for (size_t i = 0; i < words; i++)
        memcpy(to + i * sizeof(value), &value, sizeof(value));
}

static aclError fill32(const struct order *order, const struct spot *to, uint32_t value,
                       size_t words)
{
    size_t count = words * sizeof(value);
    if (value == (value & 0xffu) * 0x01010101u)
        return fill(order, to, (int32_t)(value & 0xffu), count);
    aclError error = settle(to, count);
    if (error != ACL_SUCCESS)
        return error;
    if (!to->is_device) {
        fill_words((char *)(uintptr_t)to->address, value, words);
        return ACL_SUCCESS;
    }
    size_t stage_bytes = count < STAGE_BYTES ? count : STAGE_BYTES;
    error = check_block(to, count);
    char *stage = error == ACL_SUCCESS ? malloc(stage_bytes) : NULL;
    if (error == ACL_SUCCESS && stage == NULL)
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the pattern");
    if (error == ACL_SUCCESS)
        fill_words(stage, value, stage_bytes / sizeof(value));
    for (size_t at = 0; at < count && error == ACL_SUCCESS; at += stage_bytes) {
        size_t piece = count - at < stage_bytes ? count - at : stage_bytes;
        error = write_piece(order, to->device, to->address + at, stage, piece);
    }
    free(stage);
    return error;
}

static aclError check_words(const void *ptr, size_t memSize, size_t words)
{
    if (ptr == NULL)
        return client_fail_null("ptr");
    if ((uintptr_t)ptr % sizeof(uint32_t) != 0)
        return client_fail(ACL_ERROR_INVALID_PARAM, "ptr is %p: give a multiple of 4", ptr);
    if (words > memSize / sizeof(uint32_t))
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "N is %zu words and memSize %zu bytes: set less", words, memSize);
    return ACL_SUCCESS;
}

/* Where a fill goes; stream NULL-checked by the caller's order. */
static aclError prepare_fill(void *ptr, struct spot *to)
{
    struct client_object context;
    aclError error = client_context_require(&context);
    if (error == ACL_SUCCESS)
        *to = spot_of(ptr, &context);
    return error;
}

static aclError prepare_fill_async(void *ptr, aclrtStream stream, struct spot *to,
                                   struct order *order)
{
    struct client_object the_stream;
    aclError error = client_stream_find_to_move(stream, &the_stream);
    if (error == ACL_SUCCESS)
        error = prepare_fill(ptr, to);
    if (error == ACL_SUCCESS)
        error = check_stream_device(&the_stream, to, to);
    *order = (struct order){true, error == ACL_SUCCESS ? the_stream.id : 0};
    return error;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    client_begin("aclrtMemset");
    const struct order order = {false, 0};
    struct spot to;
    if (count == 0)
        return ACL_SUCCESS;
    aclError error = check_fill(devPtr, maxCount, count);
    if (error == ACL_SUCCESS)
        error = prepare_fill(devPtr, &to);
    return error != ACL_SUCCESS ? error : fill(&order, &to, value, count);
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream)
{
    client_begin("aclrtMemsetAsync");
    struct order order;
    struct spot to;
    if (count == 0)
        return ACL_SUCCESS;
    aclError error = check_fill(devPtr, maxCount, count);
    if (error == ACL_SUCCESS)
        error = prepare_fill_async(devPtr, stream, &to, &order);
    return error != ACL_SUCCESS ? error : fill(&order, &to, value, count);
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N)
{
    client_begin("aclrtMemsetD32");
    const struct order order = {false, 0};
    struct spot to;
    if (N == 0)
        return ACL_SUCCESS;
    aclError error = check_words(ptr, memSize, N);
    if (error == ACL_SUCCESS)
        error = prepare_fill(ptr, &to);
    return error != ACL_SUCCESS ? error : fill32(&order, &to, value, N);
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N,
                             aclrtStream stream)
{
    client_begin("aclrtMemsetD32Async");
    struct order order;
    struct spot to;
    if (N == 0)
        return ACL_SUCCESS;
    aclError error = check_words(ptr, memSize, N);
    if (error == ACL_SUCCESS)
        error = prepare_fill_async(ptr, stream, &to, &order);
    return error != ACL_SUCCESS ? error : fill32(&order, &to, value, N);
}
