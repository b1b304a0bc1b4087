/* Answers compared and printed field by field, by the descriptors of message.h. */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "command.h"
#include "message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* true when both answers are the same message with the same fields. Otherwise `path` says which
 * field differs, such as "segments[2].size". */
bool compare_results(const struct soma_result *left, const struct soma_result *right, char *path,
                     size_t path_bytes);

bool compare_messages(enum soma_message message, const void *left, const void *right, char *path,
                      size_t path_bytes);

/* One line of JSON. */
void print_result(FILE *file, const struct soma_result *result);

void print_base64(FILE *file, const unsigned char *ptr, size_t len);

#endif
