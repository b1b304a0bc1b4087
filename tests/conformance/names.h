/* The names of one case, and JSON with its names resolved. */
#ifndef SOMA_CONFORMANCE_NAMES_H
#define SOMA_CONFORMANCE_NAMES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Remember under `name` what a step of this op created, by its answer. false: the answer has
 * nothing to name. names: an object, one member a name. */
bool conformance_name(cJSON *names, const char *name, const char *op, const cJSON *answer);

/* A copy of value with every "$x" and {"$add":[...]} replaced; given to the caller. NULL when a
 * name is not known. */
cJSON *conformance_resolve(const cJSON *names, const cJSON *value);

/* Whether "$add" stands anywhere in value. */
bool conformance_has_add(const cJSON *value);

#endif
