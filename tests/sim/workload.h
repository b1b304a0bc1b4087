/* Random programs for a session, the same for the same seed on every machine.
 *
 * A program is a list of steps. A step is a command whose ids and addresses may be given by what an
 * earlier step created, plus an offset; so a program still means something after steps have been
 * taken out of it. The generator makes one step at a time and is told how it went: it keeps its own
 * list of what lives, so that most commands are right and some are wrong on purpose. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "command.h"
#include "message.h"
#include "model.h"

#define WORKLOAD_NONE UINT32_MAX
#define WORKLOAD_REFERENCES_MAX 4u

/* The value that step `step` created is added to this field. */
struct workload_reference {
    enum soma_field field;
    uint32_t step;
};

struct workload_step {
    struct soma_command command;
    struct workload_reference references[WORKLOAD_REFERENCES_MAX];
    uint32_t reference_count;
    struct soma_kernel_arg args[2]; /* command.args.items points here once the step is taken */
    uint32_t arg_step;     /* args[0] is an address that this step created; WORKLOAD_NONE: not */
    uint32_t target;       /* the generator's own: the object that the command ends */
    uint32_t fail_alloc;   /* first run with the engine's n-th allocation failing; 0: not */
    bool fail_bytes;       /* first run with the first call for contents failing */
    bool is_retried;       /* when it has to wait: run again with its timeout over, or */
    bool is_patient;       /* with a wall clock, when what it waits for is over */
    uint64_t wall_step_ns; /* the wall clock moves so far before it */
    bool is_disabled;      /* taken out by shrinking */
};

struct workload_program {
    uint64_t seed;
    struct model_config config; /* the mutant is not used */
    struct workload_step *steps;
    uint32_t count, capacity;
};

void workload_program_release(struct workload_program *program);

struct workload;

/* Starts an empty *program (release what it held before) and chooses its session. Aborts when the
 * host has no memory. has_faults: steps may ask for failing allocations. */
struct workload *workload_create(struct workload_program *program, uint64_t seed, bool has_faults);
void workload_destroy(struct workload *workload);

/* Append one step to the program. Returns its index. */
uint32_t workload_next(struct workload *workload);

/* How the step with this index went. result: only for SOMA_OK. */
void workload_learn(struct workload *workload, uint32_t index, enum soma_status status,
                    const struct soma_result *result);

/* The command of a step. values: what each earlier step created, 0 where nothing. *command borrows
 * from args (as many as the step has) and from static storage. */
void workload_command(const struct workload_step *step, const uint64_t *values,
                      struct soma_command *command, struct soma_kernel_arg args[2]);

/* What a step created: an id or an address; 0: nothing. */
uint64_t workload_created(enum soma_op op, const struct soma_result *result);

#endif
