/* Runs a program in the engine and in the model and compares everything that can be seen. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "workload.h"

/* How often things happened: to see that a workload reaches what it should. */
struct run_statistics {
    uint64_t done[SOMA_OP_COUNT], refused[SOMA_OP_COUNT];
    uint64_t statuses[300]; /* by enum soma_status */
    uint64_t reuse[5];      /* by enum soma_reuse */
    uint64_t failures;      /* commands refused because something in the engine was made to fail */
};

void run_print_statistics(const struct run_statistics *statistics);

struct run_options {
    uint32_t command_count; /* of a program that is made */
    enum model_mutant mutant;
    bool has_faults;
    struct run_statistics *statistics; /* counted on; NULL: not counted */
};

/* The first thing that was not the same. */
struct run_difference {
    bool is_found;
    uint32_t step;
    enum soma_status engine_status, model_status;
    char what[320];
    char *engine_answer, *model_answer; /* JSON; NULL: none */
};

void run_difference_release(struct run_difference *difference);

/* Make the program of this seed while running it, up to the first difference.
 *   program     out: release with workload_program_release
 *   difference  out: release with run_difference_release */
void run_seed(uint64_t seed, const struct run_options *options, struct workload_program *program,
              struct run_difference *difference);

/* Run a program that exists, without the steps that are disabled.
 *   statuses  out: the model's, one per step; free() it; may be NULL */
void run_program(const struct workload_program *program, const struct run_options *options,
                 struct run_difference *difference, enum soma_status **statuses);

#endif
