/* Random commands and answers, valid by the tables: for round trips and fuzzing. */
#ifndef SOMA_TESTS_SAMPLE_H
#define SOMA_TESTS_SAMPLE_H

#include "command.h"
#include "message.h"
#include "random.h"
#include "wire.h"

/* A command of this op: every required field and some of the others. What it borrows lives in
 * the arena. Floats among kernel arguments are finite. */
void sample_command(struct random_source *source, enum soma_op op, struct wire_arena *arena,
                    struct soma_command *command);

/* An answer; release with sample_release. Texts are names of SoCs. */
void sample_result(struct random_source *source, enum soma_message message,
                   struct soma_result *result);

void sample_release(struct soma_result *result);

/* Whether the two have the same op, the same fields present and equal values in them. */
bool sample_same_command(const struct soma_command *a, const struct soma_command *b);

#endif
