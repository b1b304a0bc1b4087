/* Text or a tree of cJSON to a command, as the server reads it. */
#ifndef SOMA_TESTS_DECODE_H
#define SOMA_TESTS_DECODE_H

#include "wire.h"

/* Read len bytes as one object and fill *command (soma_command_init done) from it; see
 * wire_decode_command. What the command borrows is in the arena. */
enum soma_status decode_text(const char *text, size_t len, bool in_batch, struct wire_arena *arena,
                             struct soma_command *command, struct soma_error *error) SOMA_MUST_USE;

/* The command that an element of "commands" is, its op included. */
enum soma_status decode_step(const cJSON *step, struct wire_arena *arena,
                             struct soma_command *command, struct soma_error *error) SOMA_MUST_USE;

/* Whether cJSON has read the same value: types, keys, texts and numbers, all the way down. */
bool decode_same(const struct wire_value *value, const cJSON *item);

#endif
