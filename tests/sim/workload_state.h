/* What the generator remembers. Included by workload*.c and nobody else. */
#ifndef SIM_WORKLOAD_STATE_H
#define SIM_WORKLOAD_STATE_H

#include "workload.h"

#define WORKLOAD_PLANS_MAX 512u
#define WORKLOAD_OPS_MAX 64u

enum workload_kind {
    WORKLOAD_STREAM,
    WORKLOAD_EVENT,
    WORKLOAD_POOL,
    WORKLOAD_BLOCK,
    WORKLOAD_ALLOCATION
};

/* Something that a step created. */
struct workload_object {
    enum workload_kind kind;
    uint32_t step; /* WORKLOAD_NONE: a default stream */
    uint32_t device;
    uint32_t owner; /* BLOCK: its pool, an object */
    uint64_t bytes; /* POOL: maxSize; BLOCK, ALLOCATION: size */
    bool is_live;
    bool is_plain; /* EVENT */
};

struct workload {
    struct workload_program *program;
    uint64_t random[4];
    struct workload_object *objects;
    uint32_t object_count, object_capacity;
    uint32_t live[5], made[5];   /* by kind */
    struct workload_step *plans; /* steps that come next, first in first out */
    uint32_t plan_first, plan_count;
    uint32_t weights[WORKLOAD_OPS_MAX];
    uint32_t weight_sum;
    /* What this session is like; chances in thousandths. */
    uint32_t wrong, has_event_reuse, has_opportunistic, has_internal, is_demand, is_plain, faults;
    uint64_t delay_ns;       /* usual length of a delay */
    uint32_t pool_granules;  /* largest usual pool */
    uint32_t block_granules; /* largest usual block */
    uint32_t streams_per_device, events_per_device, pools_per_device;
    uint64_t funcs;      /* of the host, launched or refused */
    uint32_t next_audit; /* step */
};

/* ---- workload_random.c ---- */

void workload_seed(struct workload *workload, uint64_t seed);
uint64_t workload_random(struct workload *workload);
/* 0 .. limit - 1; limit > 0. */
uint64_t workload_below(struct workload *workload, uint64_t limit);
/* min .. max, both included. */
uint64_t workload_between(struct workload *workload, uint64_t min, uint64_t max);
/* With this chance in a thousand. */
bool workload_chance(struct workload *workload, uint32_t thousandths);

/* ---- workload.c ---- */

void workload_set(struct workload_step *step, enum soma_field field, uint64_t value);

/* The field names what this object is, plus an offset. */
void workload_refer(const struct workload *workload, struct workload_step *step,
                    enum soma_field field, uint32_t object, uint64_t offset);

struct workload_step workload_step_of(enum soma_op op);

/* A live object of this kind on the device (WORKLOAD_NONE: on any): WORKLOAD_NONE: there is none.
 */
uint32_t workload_pick(struct workload *workload, enum workload_kind kind, uint32_t device);

/* Run the step soon, after those planned before it. Dropped when too many are planned. */
void workload_plan(struct workload *workload, const struct workload_step *step);

/* ---- workload_ops.c: one random step ---- */

void workload_weigh(struct workload *workload);
struct workload_step workload_random_step(struct workload *workload);
/* The data of a write: size_bytes of them, at most 32 KiB. */
void workload_put_bytes(struct workload *workload, struct workload_step *step, uint64_t size_bytes);

/* ---- workload_plans.c: steps that belong together ---- */

/* Attributes of a new pool. */
void workload_plan_attributes(struct workload *workload, uint32_t pool);
/* Look at everything. */
void workload_plan_audit(struct workload *workload);
/* A free, a chain of records and waits, and a malloc of the same size at its end. */
void workload_plan_chain(struct workload *workload);
/* A wait for an event that was reset, work behind it, and later the record. */
void workload_plan_pending(struct workload *workload);
/* Fill a pool with blocks of several streams, free most of them, ask for something large. */
void workload_plan_pressure(struct workload *workload);
/* Write, copy within the same place, set, read. */
void workload_plan_contents(struct workload *workload);

#endif
