/* Finding kernels and reading their arguments. */
#include "kernel_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names as in launchKernel's args, and sizes in a raw argument block. */
static const struct {
    const char *name;
    size_t size_bytes;
} arg_kinds[] = {
    [SOMA_ARG_PTR] = {"ptr", 8}, [SOMA_ARG_U8] = {"u8", 1},        [SOMA_ARG_U16] = {"u16", 2},
    [SOMA_ARG_U32] = {"u32", 4}, [SOMA_ARG_U64] = {"u64", 8},      [SOMA_ARG_I32] = {"i32", 4},
    [SOMA_ARG_I64] = {"i64", 8}, [SOMA_ARG_F16] = {"f16", 2},      [SOMA_ARG_F32] = {"f32", 4},
    [SOMA_ARG_F64] = {"f64", 8}, [SOMA_ARG_BYTES] = {"base64", 0},
};

const char *soma_arg_kind_name(enum soma_arg_kind kind)
{
    return arg_kinds[kind].name;
}

size_t soma_arg_kind_bytes(enum soma_arg_kind kind)
{
    return arg_kinds[kind].size_bytes;
}

bool soma_arg_kind_of(const char *name, enum soma_arg_kind *kind)
{
    for (size_t i = 0; i < sizeof(arg_kinds) / sizeof(arg_kinds[0]); i++) {
        if (strcmp(arg_kinds[i].name, name) != 0)
            continue;
        *kind = (enum soma_arg_kind)i;
        return true;
    }
    return false;
}

/* ---- names ---- */

/* Whether `text` is NAME, or LIBRARY/NAME. */
static bool is_named(const struct soma_kernel_row *row, struct soma_text text)
{
    size_t len = strlen(row->name);
    if (text.len == len && memcmp(text.ptr, row->name, len) == 0)
        return true;
    size_t library = row->library != NULL ? strlen(row->library) : 0;
    return library > 0 && text.len == library + 1 + len &&
           memcmp(text.ptr, row->library, library) == 0 && text.ptr[library] == '/' &&
           memcmp(text.ptr + library + 1, row->name, len) == 0;
}

/* ---- what a row takes ---- */

/* Bytes of a C struct of the first `count` parameters. *unpadded: without its tail padding. */
static size_t block_bytes(const struct soma_kernel_row *row, size_t count, size_t *unpadded)
{
    size_t at = 0, align_max = 1;
    for (size_t i = 0; i < count; i++) {
        size_t size = arg_kinds[row->parameters[i].kind].size_bytes;
        at = (at + size - 1) / size * size + size;
        align_max = size > align_max ? size : align_max;
    }
    *unpadded = at;
    return (at + align_max - 1) / align_max * align_max;
}

static size_t append(char *buf, size_t size, size_t len, const char *text)
{
    return len < size ? len + (size_t)snprintf(buf + len, size - len, "%s", text) : len;
}

/* "(ptr x, ptr y, ptr z [, u32 count, u32 aclDataType]), or one block of 24 or 32 bytes" */
static size_t tell_form(const struct soma_kernel_row *row, char *buf, size_t size, size_t len)
{
    char text[96];
    size_t unpadded, whole = block_bytes(row, row->parameter_count, &unpadded);
    bool has_optional = row->required < row->parameter_count;
    len = append(buf, size, len, "(");
    for (size_t i = 0; i < row->parameter_count; i++) {
        const struct soma_kernel_row_parameter *parameter = &row->parameters[i];
        (void)snprintf(text, sizeof(text), "%s%s %.64s",
                       i == row->required && has_optional ? " [, "
                       : i == 0                           ? ""
                                                          : ", ",
                       arg_kinds[parameter->kind].name, parameter->name);
        len = append(buf, size, len, text);
    }
    if (has_optional)
        (void)snprintf(text, sizeof(text),
                       "]), or one argument block of %zu or %zu bytes laid out as a C struct",
                       block_bytes(row, row->required, &unpadded), whole);
    else
        (void)snprintf(text, sizeof(text),
                       "), or one argument block of %zu bytes laid out as a C struct", whole);
    return append(buf, size, len, text);
}

/* `what` does not fit: tell what each form of the name takes. */
static enum soma_status wrong_arguments(const struct soma_kernel_row *rows, size_t count,
                                        const struct soma_command *command, const char *what,
                                        struct soma_error *error)
{
    char forms[560];
    size_t len = 0;
    forms[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!is_named(&rows[i], command->kernel))
            continue;
        len = append(forms, sizeof(forms), len, len > 0 ? "; or " : "");
        len = tell_form(&rows[i], forms, sizeof(forms), len);
    }
    return soma_fail(error, SOMA_KERNEL_ARGUMENTS, "args", "%.*s: %s; it takes %s",
                     (int)(command->kernel.len < 64 ? command->kernel.len : 64),
                     command->kernel.ptr, what, forms);
}

/* ---- reading arguments ---- */

static uint64_t load_bits(const char *from, size_t size_bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size_bytes) {
    case 1: memcpy(&u8, from, 1); return u8;
    case 2: memcpy(&u16, from, 2); return u16;
    case 4: memcpy(&u32, from, 4); return u32;
    default: memcpy(&u64, from, 8); return u64;
    }
}

static bool read_block(struct soma_kernel_call *call, struct soma_text block, char *what,
                       size_t what_bytes)
{
    const struct soma_kernel_row *row = call->row;
    size_t counts[] = {row->required, row->parameter_count};
    for (size_t c = 0; c < 2; c++) {
        size_t unpadded, padded = block_bytes(row, counts[c], &unpadded);
        if (block.len != unpadded && block.len != padded)
            continue;
        size_t at = 0;
        for (size_t i = 0; i < counts[c]; i++) {
            size_t size = arg_kinds[row->parameters[i].kind].size_bytes;
            at = (at + size - 1) / size * size;
            call->values[i] = load_bits(block.ptr + at, size);
            at += size;
        }
        call->value_count = counts[c];
        return true;
    }
    (void)snprintf(what, what_bytes, "an argument block of %zu bytes", block.len);
    return false;
}

static bool read_list(struct soma_kernel_call *call, const struct soma_kernel_args *args,
                      char *what, size_t what_bytes)
{
    const struct soma_kernel_row *row = call->row;
    if (args->count != row->required && args->count != row->parameter_count) {
        (void)snprintf(what, what_bytes, "%zu arguments", args->count);
        return false;
    }
    for (size_t i = 0; i < args->count; i++) {
        const struct soma_kernel_row_parameter *parameter = &row->parameters[i];
        if (args->items[i].kind != parameter->kind) {
            (void)snprintf(what, what_bytes, "argument %zu (%.64s) is given as %s", i,
                           parameter->name, arg_kinds[args->items[i].kind].name);
            return false;
        }
        call->values[i] = args->items[i].bits;
    }
    call->value_count = args->count;
    return true;
}

enum soma_status soma_kernel_read(const struct soma_kernel_row *rows, size_t count,
                                  const struct soma_command *command, struct soma_kernel_call *call,
                                  struct soma_error *error)
{
    const struct soma_kernel_args *args = &command->args;
    bool is_block = args->count == 1 && args->items[0].kind == SOMA_ARG_BYTES;
    char what[160] = "", other[160];
    call->device = command->device;
    call->block_dim = command->block_dim;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(&rows[i], command->kernel))
            continue;
        call->row = &rows[i];
        char *why = what[0] == '\0' ? what : other; /* the first form's is told */
        if (is_block ? read_block(call, args->items[0].bytes, why, sizeof(what))
                     : read_list(call, args, why, sizeof(what)))
            return rows[i].check != NULL ? rows[i].check(call, error) : SOMA_OK;
    }
    if (what[0] != '\0')
        return wrong_arguments(rows, count, command, what, error);
    return soma_fail(error, SOMA_NO_SUCH_KERNEL, "kernel",
                     "no kernel is named \"%.*s\"; GET /v1/kernels lists them",
                     (int)(command->kernel.len < 200 ? command->kernel.len : 200),
                     command->kernel.ptr);
}

/* ---- telling ---- */

static void value_text(enum soma_arg_kind kind, uint64_t bits, char *text, size_t size)
{
    float f32;
    double f64;
    uint32_t low = (uint32_t)bits;
    switch (kind) {
    case SOMA_ARG_PTR:
    case SOMA_ARG_F16: (void)snprintf(text, size, "0x%" PRIx64, bits); break;
    case SOMA_ARG_I32: (void)snprintf(text, size, "%" PRId32, (int32_t)low); break;
    case SOMA_ARG_I64: (void)snprintf(text, size, "%" PRId64, (int64_t)bits); break;
    case SOMA_ARG_F32:
        memcpy(&f32, &low, sizeof(f32));
        (void)snprintf(text, size, "%.9g", (double)f32);
        break;
    case SOMA_ARG_F64:
        memcpy(&f64, &bits, sizeof(f64));
        (void)snprintf(text, size, "%.17g", f64);
        break;
    case SOMA_ARG_U8:
    case SOMA_ARG_U16:
    case SOMA_ARG_U32:
    case SOMA_ARG_U64:
    case SOMA_ARG_BYTES: (void)snprintf(text, size, "%" PRIu64, bits); break;
    }
}

const char *soma_kernel_call_text(const struct soma_kernel_call *call, char *buf, size_t size)
{
    char value[32], text[128];
    size_t len = 0;
    buf[0] = '\0';
    len = append(buf, size, len, call->row->name);
    for (size_t i = 0; i < call->value_count; i++) {
        const struct soma_kernel_row_parameter *parameter = &call->row->parameters[i];
        value_text(parameter->kind, call->values[i], value, sizeof(value));
        (void)snprintf(text, sizeof(text), "%s%.64s=%s", i == 0 ? "(" : ", ", parameter->name,
                       value);
        len = append(buf, size, len, text);
    }
    (void)append(buf, size, len, call->value_count > 0 ? ")" : "()");
    return buf;
}

/* ---- time ---- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Units of an argument that cost time: a number's own value, a pointer's bytes; negative: none. */
static uint64_t units(const struct soma_kernel_call *call, size_t index)
{
    enum soma_arg_kind kind = call->row->parameters[index].kind;
    uint64_t bits = call->values[index];
    if (kind == SOMA_ARG_PTR)
        return call->requested(call->ctx, call->device, bits);
    if (kind == SOMA_ARG_I32)
        return (int32_t)(uint32_t)bits > 0 ? bits & UINT32_MAX : 0;
    if (kind == SOMA_ARG_I64)
        return (int64_t)bits > 0 ? bits : 0;
    return kind == SOMA_ARG_F16 || kind == SOMA_ARG_F32 || kind == SOMA_ARG_F64 ? 0 : bits;
}

static uint64_t linear_cost_ns(const struct soma_kernel_call *call)
{
    const struct soma_kernel_row *row = call->row;
    uint64_t ps = 0;
    for (size_t i = 0; i < call->value_count; i++) {
        if (row->parameters[i].unit_ps > 0)
            ps =
                add_saturating(ps, multiply_saturating(row->parameters[i].unit_ps, units(call, i)));
    }
    uint64_t ns = ps / 1000 + (ps % 1000 != 0);
    return add_saturating(
        ns, add_saturating(row->fixed_ns, multiply_saturating(row->block_ns, call->block_dim)));
}

uint64_t soma_kernel_cost_ns(const struct soma_kernel_call *call)
{
    uint64_t ns = call->row->cost_ns != NULL ? call->row->cost_ns(call) : linear_cost_ns(call);
    return ns < SOMA_DURATION_NS_MAX ? ns : SOMA_DURATION_NS_MAX;
}
