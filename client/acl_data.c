/* What needs neither device nor session: half precision, data types, data buffers, the log. */
#include "error.h"
#include "handle.h"

#include "acl/acl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- half precision ---- */

/* As CANN does it: the largest exponent is one like the others, so infinities and NaN become the
 * finite numbers that their bits spell. */
float aclFloat16ToFloat(aclFloat16 value)
{
    uint32_t sign = (uint32_t)(value & 0x8000u) << 16;
    uint32_t exponent = value >> 10 & 0x1fu, fraction = value & 0x3ffu;
    uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
    float number = (float)fraction * 0x1p-24f; /* exact, for exponent 0 */
    if (exponent == 0) {
        memcpy(&bits, &number, sizeof(bits));
        bits |= sign;
    }
    memcpy(&number, &bits, sizeof(number));
    return number;
}

#define HALF_MAX 0x7bffu /* 65504 */

/* To the nearest, ties to even; as CANN does it, never to an infinity, and NaN to 65504. */
aclFloat16 aclFloatToFloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return HALF_MAX;
    if (magnitude >= 0x47800000u) /* 65536 and more */
        return (aclFloat16)(sign | HALF_MAX);
    if (magnitude < 0x33000000u) /* below half of the smallest */
        return (aclFloat16)sign;
    uint32_t exponent = magnitude >> 23;
    bool is_small = exponent < 113; /* has fewer digits than others */
    uint32_t shift = is_small ? 126 - exponent : 13;
    uint32_t fraction = is_small ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    uint32_t half = fraction >> shift, rest = fraction & ((1u << shift) - 1);
    uint32_t tie = 1u << (shift - 1);
    if (rest > tie || (rest == tie && (half & 1u) != 0))
        half++;
    return (aclFloat16)(sign | (half > HALF_MAX ? HALF_MAX : half));
}

/* ---- data types ---- */

size_t aclDataTypeSize(aclDataType dataType)
{
    switch ((int)dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0; /* no type, text, or less than a byte */
    }
}

/* ---- data buffers ---- */

static bool find_buffer(const aclDataBuffer *buffer, struct client_object *object)
{
    if (client_handle_get(CLIENT_BUFFER, buffer, object))
        return true;
    (void)client_fail(buffer == NULL ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE,
                      "%p is no data buffer: it was destroyed, or did not come from "
                      "aclCreateDataBuffer",
                      (const void *)buffer);
    return false;
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
    client_begin("aclCreateDataBuffer");
    struct client_object object = {.kind = CLIENT_BUFFER, .data = data, .size = size};
    if (client_handle_add(&object) == NULL)
        (void)client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a data buffer");
    return object.handle;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
    client_begin("aclDestroyDataBuffer");
    struct client_object object;
    if (!find_buffer(dataBuffer, &object))
        return client_error_last(false);
    (void)client_handle_remove(CLIENT_BUFFER, dataBuffer, NULL);
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
    client_begin("aclUpdateDataBuffer");
    struct client_object object;
    if (!find_buffer(dataBuffer, &object))
        return client_error_last(false);
    object.data = data;
    object.size = size;
    (void)client_handle_put(&object);
    return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
    client_begin("aclGetDataBufferAddr");
    struct client_object object;
    return find_buffer(dataBuffer, &object) ? object.data : NULL;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
    client_begin("aclGetDataBufferSizeV2");
    struct client_object object;
    return find_buffer(dataBuffer, &object) ? object.size : 0;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
    client_begin("aclGetDataBufferSize");
    struct client_object object;
    return find_buffer(dataBuffer, &object) ? (uint32_t)object.size : 0;
}

/* ---- log ---- */

/* Errors only, unless ASCEND_GLOBAL_LOG_LEVEL says otherwise: 0 debug ... 3 error, 4 nothing. */
static int log_threshold(void)
{
    const char *level = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    bool is_set = level != NULL && level[0] >= '0' && level[0] <= '4' && level[1] == '\0';
    return is_set ? level[0] - '0' : ACL_ERROR;
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    char text[1024];
    va_list args;
    if (fmt == NULL || (int)logLevel < ACL_DEBUG || (int)logLevel > ACL_ERROR ||
        (int)logLevel < log_threshold())
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)fprintf(stderr, "[%s] %s:%u %s: %s\n", names[logLevel], file != NULL ? file : "?", line,
                  func != NULL ? func : "?", text);
}
