/* aclrtRandomNumAsync: what is asked for, where it goes, and how far the counter moves on. The
 * numbers themselves come from the owner's table. */
#include "internal.h"

#include <inttypes.h>
#include <string.h>

enum {
    COUNTER_BYTES = 16,          /* of the generator: 128 bits, low byte first */
    CHUNK_ELEMENTS = 64 * 1024u, /* made at a time */
};

/* The kind of argument that a parameter of this element type is given as. */
static enum soma_arg_kind parameter_kind(enum soma_dtype dtype)
{
    switch ((int)dtype) {
    case SOMA_DTYPE_INT32: return SOMA_ARG_I32;
    case SOMA_DTYPE_UINT32: return SOMA_ARG_U32;
    case SOMA_DTYPE_INT64: return SOMA_ARG_I64;
    case SOMA_DTYPE_UINT64: return SOMA_ARG_U64;
    case SOMA_DTYPE_FLOAT16: return SOMA_ARG_F16;
    default: return SOMA_ARG_F32; /* float32, bfloat16 */
    }
}

static bool is_integer(enum soma_dtype dtype)
{
    return dtype == SOMA_DTYPE_INT32 || dtype == SOMA_DTYPE_UINT32 || dtype == SOMA_DTYPE_INT64 ||
           dtype == SOMA_DTYPE_UINT64;
}

static bool is_real(enum soma_dtype dtype)
{
    return dtype == SOMA_DTYPE_FLOAT16 || dtype == SOMA_DTYPE_BFLOAT16 ||
           dtype == SOMA_DTYPE_FLOAT32;
}

/* A number that rises with the value that the bits stand for. */
static uint64_t rank(enum soma_dtype dtype, uint64_t bits)
{
    unsigned width = dtype == SOMA_DTYPE_BFLOAT16 ? 32 : 8 * dtype_bytes(dtype);
    uint64_t top = UINT64_C(1) << (width - 1);
    uint64_t mask = top - 1 + top;
    bits &= mask;
    if (dtype == SOMA_DTYPE_UINT32 || dtype == SOMA_DTYPE_UINT64)
        return bits;
    if (is_integer(dtype))
        return bits ^ top;
    if (bits == top) /* -0 */
        return top;
    return (bits & top) != 0 ? mask - bits : bits | top;
}

/* Neither infinite nor a NaN; only numbers of floating point can be. */
static bool is_finite(enum soma_dtype dtype, uint64_t bits)
{
    uint64_t exponent = dtype == SOMA_DTYPE_FLOAT16 ? 0x7c00 : 0x7f800000;
    return is_integer(dtype) || (bits & exponent) != exponent;
}

/* Parameters of the right number and type: do their values go together? Numbers of floating point
 * are compared as their bits, so 0 and 1 are given as such. */
static enum soma_status check_values(struct call *call, const struct engine_random *what)
{
    uint64_t one = what->dtype == SOMA_DTYPE_FLOAT16 ? 0x3c00 : 0x3f800000;
    uint64_t first = rank(what->dtype, what->parameters[0]);
    uint64_t second = rank(what->dtype, what->parameters[1]);
    uint64_t zero = rank(what->dtype, 0);
    switch (what->distribution) {
    case SOMA_DISTRIBUTION_DROPOUT_BITMASK:
        if (first >= zero && first <= rank(what->dtype, one))
            return SOMA_OK;
        return soma_fail(call->error, SOMA_RANDOM_PARAMETERS, "args",
                         "the rate that is dropped is outside 0 to 1");
    case SOMA_DISTRIBUTION_UNIFORM:
        if (first <= second)
            return SOMA_OK;
        return soma_fail(call->error, SOMA_RANDOM_PARAMETERS, "args",
                         "min is above max; numbers are drawn from min up to below max");
    case SOMA_DISTRIBUTION_NORMAL:
    case SOMA_DISTRIBUTION_TRUNCATED_NORMAL:
    default:
        if (second >= zero)
            return SOMA_OK;
        return soma_fail(call->error, SOMA_RANDOM_PARAMETERS, "args",
                         "the standard deviation is below 0");
    }
}

static enum soma_status check_parameters(struct call *call, struct engine_random *what)
{
    const struct soma_kernel_args *args = &call->command->args;
    size_t wanted = what->distribution == SOMA_DISTRIBUTION_DROPOUT_BITMASK ? 1 : 2;
    bool is_uniform = what->distribution == SOMA_DISTRIBUTION_UNIFORM;
    bool is_good = args->count == wanted;
    for (size_t i = 0; i < wanted && is_good; i++) {
        is_good = args->items[i].kind == parameter_kind(what->dtype) &&
                  is_finite(what->dtype, args->items[i].bits);
        what->parameters[i] = args->items[i].bits;
    }
    if (!is_good)
        return soma_fail(call->error, SOMA_RANDOM_PARAMETERS, "args",
                         "%s of %s takes %s, each a finite number of its type (bfloat16 as f32)",
                         soma_word_of(SOMA_GROUP_distribution, (int)what->distribution),
                         dtype_name(what->dtype),
                         wanted == 1  ? "the rate that is dropped"
                         : is_uniform ? "min and max"
                                      : "the mean and the standard deviation");
    return check_values(call, what);
}

/* *size_bytes: of the result. */
static enum soma_status check(struct call *call, struct engine_random *what, uint64_t *size_bytes)
{
    const struct soma_soc *soc = call->engine->soc;
    uint64_t count = call->command->count;
    bool is_mask = what->distribution == SOMA_DISTRIBUTION_DROPOUT_BITMASK;
    if (soc->npu_arch != SOMA_ARCH_A2)
        return soma_fail(call->error, SOMA_SOC_UNSUPPORTED, "",
                         "%s makes no random numbers; Ascend910B and Ascend910_93 do", soc->name);
    if (!is_real(what->dtype) &&
        !(is_integer(what->dtype) && what->distribution == SOMA_DISTRIBUTION_UNIFORM))
        return soma_fail(call->error, SOMA_DTYPE_UNSUPPORTED, "dtype",
                         "%s cannot be %s: use float32, float16 or bfloat16, for UNIFORM also "
                         "int32, uint32, int64 or uint64",
                         soma_word_of(SOMA_GROUP_distribution, (int)what->distribution),
                         dtype_name(what->dtype));
    if (count == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "count", "count is 0; give at least 1");
    unsigned element = dtype_bytes(what->dtype);
    if (!is_mask && count > UINT64_MAX / element)
        return soma_fail(call->error, SOMA_SIZE_OVERFLOW, "count",
                         "%" PRIu64 " numbers of %u bytes leave 64 bits", count, element);
    *size_bytes = is_mask ? count / 8 + (count % 8 != 0) : count * element;
    return check_parameters(call, what);
}

static uint64_t per_block(const struct engine_random *what)
{
    if (what->distribution == SOMA_DISTRIBUTION_TRUNCATED_NORMAL)
        return 1;
    return dtype_bytes(what->dtype) == 8 ? 2 : 4;
}

static uint64_t load_le(const unsigned char *from)
{
    uint64_t value = 0;
    for (unsigned i = 8; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static void store_le(unsigned char *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t bytes_of(const struct engine_random *what, uint64_t count)
{
    if (what->distribution == SOMA_DISTRIBUTION_DROPOUT_BITMASK)
        return count / 8 + (count % 8 != 0);
    return count * dtype_bytes(what->dtype);
}

/* Make the numbers, a chunk at a time, and move the counter on. */
static enum soma_status make(struct call *call, struct engine_random *what, void *chunk)
{
    const struct engine_bytes *bytes = &call->engine->bytes;
    const struct soma_command *command = call->command;
    unsigned char counter[COUNTER_BYTES];
    enum soma_status status = contents_read(call, command->counter, counter, sizeof(counter));
    if (status != SOMA_OK)
        return status;
    status = contents_touch(call, command->ptr, bytes_of(what, command->count));
    if (status == SOMA_OK)
        status = contents_touch(call, command->counter, sizeof(counter));
    what->counter[0] = load_le(counter);
    what->counter[1] = load_le(counter + 8);
    uint64_t blocks = command->count / what->per_block + (command->count % what->per_block != 0);
    uint64_t low = what->counter[0] + blocks;
    store_le(counter, low);
    store_le(counter + 8, what->counter[1] + (low < blocks));
    for (uint64_t at = 0; at < command->count && status == SOMA_OK; at += CHUNK_ELEMENTS) {
        uint64_t left = command->count - at;
        uint64_t count = left < CHUNK_ELEMENTS ? left : CHUNK_ELEMENTS;
        bytes->random(bytes->ctx, what, at, count, chunk);
        status =
            contents_write(call, command->ptr + bytes_of(what, at), chunk, bytes_of(what, count));
    }
    if (status == SOMA_OK)
        status = contents_write(call, command->counter, counter, sizeof(counter));
    return status;
}

enum soma_status memory_random(struct call *call)
{
    struct engine *engine = call->engine;
    const struct soma_command *command = call->command;
    const struct engine_costs *costs = &engine->costs;
    struct engine_random what = {.distribution = (enum soma_distribution)command->distribution,
                                 .dtype = (enum soma_dtype)command->dtype,
                                 .seed = command->seed};
    uint64_t size_bytes = 0;
    enum soma_status status = check(call, &what, &size_bytes);
    if (status != SOMA_OK)
        return status;
    what.per_block = per_block(&what);
    struct range ranges[] = {{command->ptr, size_bytes, "ptr", "count"},
                             {command->counter, COUNTER_BYTES, "counter", "counter"}};
    struct submission sub = {.cost_ns = contents_cost(costs->device_copy_ns, size_bytes,
                                                      costs->device_copy_bytes_per_us)};
    status = contents_prepare(call, ranges, 2, &sub);
    if (status != SOMA_OK)
        return status;
    if (engine->has_bytes) {
        uint64_t count = command->count < CHUNK_ELEMENTS ? command->count : CHUNK_ELEMENTS;
        void *chunk = engine_alloc(engine, (size_t)bytes_of(&what, count));
        status = chunk == NULL ? engine_no_memory(call) : make(call, &what, chunk);
        engine_free(engine, chunk);
    }
    return contents_finish(call, &sub, status);
}
