/* Steps of conformance cases that no ACL function does alone: the command itself, through the seam
 * that ACL's functions use, so that the copy of the pipeline has to foresee it. */
#ifndef SOMA_TESTS_RAW_STEPS_H
#define SOMA_TESTS_RAW_STEPS_H

#include "acl/acl_base.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Whether an op is run so. */
bool raw_steps_can(const char *op);

/* Run a step: *answer is replaced by what it answers. */
aclError raw_steps_run(const cJSON *step, cJSON **answer);

#endif
