/* The plain model of a session: the rules of devices, streams, events, pools and memory once more,
 * written separately from the engine and as naively as possible, so that a difference between the
 * two means something. Arrays and linear scans; every task of a session is kept; a pool is an array
 * with one entry per 2 MiB. It knows neither the engine nor how fast anything ought to be.
 *
 * With a mutant other than MUTANT_NONE the model breaks one rule on purpose: a simulation that
 * does not notice is worth nothing. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "command.h"
#include "message.h"
#include "mutants.def"
#include "status.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- mutants ---- */

enum model_mutant {
    MUTANT_NONE,
#define SOMA_ROW(NAME, text) MUTANT_##NAME,
    SIM_MUTANTS(SOMA_ROW)
#undef SOMA_ROW
        MUTANT_COUNT
};

const char *model_mutant_name(enum model_mutant mutant);
const char *model_mutant_text(enum model_mutant mutant);

/* ---- model ---- */

/* What tasks cost, as nanoseconds and bytes per microsecond. */
struct model_costs {
    uint64_t host_call_ns;
    uint64_t host_copy_ns, host_copy_bytes_per_us;
    uint64_t device_copy_ns, device_copy_bytes_per_us;
    uint64_t set_ns, set_bytes_per_us;
    uint64_t kernel_ns;
};

struct model_config {
    uint32_t device_count;
    const struct soma_soc *soc;
    uint64_t memory_bytes; /* of each device */
    bool is_wall_clock;
    struct model_costs costs;
    enum model_mutant mutant;
};

struct model;

/* Aborts when the host has no memory: so does everything in here. */
struct model *model_create(const struct model_config *config);
void model_destroy(struct model *model);

/* Run one command; the contract of engine_apply. The answer is given back with
 * soma_result_clear(result, model_release, NULL). */
enum soma_status model_apply(struct model *model, const struct soma_command *command,
                             struct soma_result *result);
void model_release(void *ctx, void *ptr);

uint64_t model_now_ns(const struct model *model);

/* As engine_set_wall and engine_wait_ns. */
void model_set_wall(struct model *model, uint64_t now_ns);
uint64_t model_wait_ns(const struct model *model);

/* Bytes of device memory mapped by pools and allocations. */
uint64_t model_mapped_bytes(const struct model *model);

/* Was memory never given to a stream before the stream that had freed it was done with it? */
bool model_is_safe(const struct model *model);

/* Live blocks and allocations of the session, lowest address first. *items: free() it. */
void model_leaks(const struct model *model, struct soma_leak **items, size_t *count);

void model_counts(const struct model *model, struct soma_counts *counts);

/* Of all pools of the session, past ones included (`past`), or of the living. */
struct model_totals {
    uint64_t pools, reserved_bytes, used_bytes; /* living */
    uint64_t mapped_bytes, unmapped_bytes;      /* past and living */
    uint64_t mallocs, frees;
    uint64_t reuse[5];
};

void model_totals(const struct model *model, struct model_totals *totals);

#endif
