/* The engine called directly: a malloc and a free, with few and with many live blocks in the pool.
 *   lifo     take a block and give it back
 *   replace  give a random block back, take another of a random size: blocks are found, split and
 *            merged all over the pool
 * Cost may grow with the logarithm of the number of blocks, and with what memory costs that no
 * cache holds. */
#include "bench.h"
#include "engine.h"
#include "host_memory.h"
#include "random.h"

#include <inttypes.h>
#include <stdlib.h>

#define FEW 1000u
#define MANY 1000000u
#define MANY_QUICK 20000u
#define BATCH 1000u
#define GRANULES_MAX 4u /* of a block */

struct subject {
    struct engine *engine;
    uint64_t pool, stream;
    uint64_t *blocks;
    uint64_t *next; /* the block to replace in the next pair; chosen one pair ahead, so that what
                       this table costs, which is not the engine's, lies outside of the pair */
    uint32_t count;
    struct random_source random;
};

/* ---- commands ---- */

static bool apply(struct subject *subject, const struct soma_command *command,
                  struct soma_result *result)
{
    struct soma_error error;
    if (engine_apply(subject->engine, command, result, &error) == SOMA_OK)
        return true;
    return bench_fail("engine: %s: %s", soma_op_info(command->op)->name, error.message);
}

static bool take(struct subject *subject, uint64_t size_bytes, uint64_t *address)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_POOL_MALLOC);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_pool, subject->pool);
    soma_command_set(&command, SOMA_FIELD_size, size_bytes);
    soma_command_set(&command, SOMA_FIELD_stream, subject->stream);
    if (!apply(subject, &command, &result))
        return false;
    *address = result.u.pool_block.ptr;
    return result.u.pool_block.requested_size == size_bytes ||
           bench_fail("engine: a block of %" PRIu64 " bytes for %" PRIu64,
                      result.u.pool_block.requested_size, size_bytes);
}

static bool give(struct subject *subject, uint64_t address)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_POOL_FREE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_pool, subject->pool);
    soma_command_set(&command, SOMA_FIELD_ptr, address);
    soma_command_set(&command, SOMA_FIELD_stream, subject->stream);
    return apply(subject, &command, &result);
}

static uint64_t random_size(struct subject *subject)
{
    return (1 + random_below(&subject->random, GRANULES_MAX)) * SOMA_GRANULE_BYTES;
}

/* ---- states ---- */

static bool create_objects(struct subject *subject)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_STREAM_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    if (!apply(subject, &command, &result))
        return false;
    subject->stream = result.u.stream_created.stream;
    soma_command_init(&command, SOMA_OP_POOL_CREATE);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    if (!apply(subject, &command, &result))
        return false;
    subject->pool = result.u.pool_created.pool;
    return true;
}

static void subject_release(struct subject *subject)
{
    engine_destroy(subject->engine);
    free(subject->blocks);
}

/* An engine with so many live blocks, allocated and replaced in no order. */
static bool subject_init(struct subject *subject, uint32_t count)
{
    struct engine_mem mem = host_memory_table();
    struct engine_config config = {.device_count = 1,
                                   .soc = soma_soc_row(0),
                                   .memory_bytes =
                                       (uint64_t)count * 2 * GRANULES_MAX * SOMA_GRANULE_BYTES};
    *subject = (struct subject){.count = count, .random = {count}};
    subject->blocks = calloc(count, sizeof(*subject->blocks));
    subject->engine = engine_create(&config, &mem, NULL);
    if (subject->blocks == NULL || subject->engine == NULL)
        return bench_fail("engine: no memory for %u blocks", count);
    if (!create_objects(subject))
        return false;
    subject->next = subject->blocks;
    for (uint32_t i = 0; i < count; i++) {
        if (!take(subject, random_size(subject), &subject->blocks[i]))
            return false;
    }
    return true;
}

static bool check(const struct subject *subject)
{
    struct soma_counts counts;
    char why[256];
    engine_counts(subject->engine, &counts);
    if (counts.pool_allocations != subject->count)
        return bench_fail("engine: %" PRIu64 " live blocks, expected %u", counts.pool_allocations,
                          subject->count);
    return engine_check(subject->engine, why, sizeof(why)) || bench_fail("engine: %s", why);
}

/* ---- pairs ---- */

static bool lifo(struct subject *subject)
{
    uint64_t address;
    for (uint32_t i = 0; i < BATCH; i++) {
        if (!take(subject, SOMA_GRANULE_BYTES, &address) || !give(subject, address))
            return false;
    }
    return true;
}

static bool replace(struct subject *subject)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        uint64_t *block = subject->next;
        subject->next = &subject->blocks[random_below(&subject->random, subject->count)];
        __builtin_prefetch(subject->next);
        if (!give(subject, *block) || !take(subject, random_size(subject), block))
            return false;
    }
    return true;
}

typedef bool pairs_fn(struct subject *subject);

/* Nanoseconds per pair, over some time. */
static bool measure(struct subject *subject, pairs_fn *pairs, double seconds,
                    struct bench_series *series)
{
    double start = bench_now(), end = start;
    uint64_t count = 0;
    while (end - start < seconds) {
        if (!pairs(subject))
            return false;
        count += BATCH;
        end = bench_now();
    }
    if (series != NULL)
        bench_series_add(series, (end - start) * 1e9 / (double)count);
    return true;
}

static bool measure_both(struct bench *bench, struct subject *few, struct subject *many,
                         pairs_fn *pairs, const char *name_few, const char *name_many)
{
    struct bench_row row = {.name = name_many,
                            .unit = "ns/pair",
                            .peer = "the same with 1,000 live blocks",
                            .goal = BENCH_AT_MOST,
                            .goal_ratio = 3};
    struct bench_row row_few = {.name = name_few, .unit = "ns/pair"};
    double seconds = bench->options.seconds / 2;
    bool good = measure(few, pairs, seconds / 2, NULL) && measure(many, pairs, seconds / 2, NULL);
    for (unsigned round = 0; good && round < bench->options.rounds; round++)
        good = measure(few, pairs, seconds, &row.peer_values) &&
               measure(many, pairs, seconds, &row.values);
    if (!good)
        return false;
    row_few.values = row.peer_values;
    bench_add(bench, &row_few);
    bench_add(bench, &row);
    return true;
}

bool group_engine(struct bench *bench)
{
    struct subject few, many;
    bool is_quick = bench->options.is_quick;
    bool good = subject_init(&few, FEW);
    bool made = subject_init(&many, is_quick ? MANY_QUICK : MANY);
    good = good && made &&
           measure_both(bench, &few, &many, lifo, "engine.lifo.1k",
                        is_quick ? "engine.lifo.20k" : "engine.lifo.1m") &&
           measure_both(bench, &few, &many, replace, "engine.replace.1k",
                        is_quick ? "engine.replace.20k" : "engine.replace.1m") &&
           check(&few) && check(&many);
    subject_release(&few);
    subject_release(&many);
    return good;
}
