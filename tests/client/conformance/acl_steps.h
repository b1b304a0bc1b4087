/* Steps of conformance cases as ACL calls. One session at a time. */
#ifndef SOMA_TESTS_ACL_STEPS_H
#define SOMA_TESTS_ACL_STEPS_H

#include "acl/acl.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* After aclInit. false: the error is recorded. */
bool acl_steps_begin(void);
void acl_steps_end(void);

/* Whether an op has an ACL call. */
bool acl_steps_can(const char *op);

/* Run a step: the answer, or {"error":{...}} with number, text and, where the text has it, the
 * reason. NULL: the step makes no sense. */
cJSON *acl_steps_run(const cJSON *step);

#endif
