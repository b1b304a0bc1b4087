/* Steps of conformance cases about on-chip memory as calls of soma/tpipe.h. */
#ifndef SOMA_TESTS_PIPE_STEPS_H
#define SOMA_TESTS_PIPE_STEPS_H

#include "acl/acl_base.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Whether an op has a call. */
bool pipe_steps_can(const char *op);

/* Run a step whose op has a call: what it answers goes to the object answer. */
aclError pipe_steps_run(const cJSON *step, cJSON *answer);

#endif
