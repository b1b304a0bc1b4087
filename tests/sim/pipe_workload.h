/* Random commands on pipes: mostly sensible ones, made with a look at the model, and some that make
 * no sense. */
#ifndef SIM_PIPE_WORKLOAD_H
#define SIM_PIPE_WORKLOAD_H

#include "pipe_model.h"

/* The next command. What it borrows is static. */
void pipe_workload_next(const struct pipe_model *model, struct random_source *source,
                        struct soma_command *command);

#endif
