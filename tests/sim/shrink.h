/* From a program that shows a difference to a short one that still shows one. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "run.h"

#include <stdio.h>

/* Delta debugging: take steps out of the program, in halves, then in ever smaller pieces, while a
 * difference remains. *difference: in: that of the program; out: that of the shrunken program.
 * Steps that are not needed are disabled and those behind the difference cut off. */
void shrink(struct workload_program *program, const struct run_options *options,
            struct run_difference *difference);

/* Write the program as a conformance case: the last step expects the model's answer. false when the
 * file cannot be written. */
bool write_case(const char *path, const struct workload_program *program,
                const struct run_options *options, const struct run_difference *difference);

/* The command of a step on one line, as POST /v1/commands has it; what earlier steps created is
 * written "$x<step>". */
void print_step(FILE *file, const struct workload_program *program, uint32_t step);

#endif
