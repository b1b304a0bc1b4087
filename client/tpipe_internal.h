/* What the files of tpipe.h share. Thread-safe. */
#ifndef SOMA_CLIENT_TPIPE_INTERNAL_H
#define SOMA_CLIENT_TPIPE_INTERNAL_H

#include "call.h"
#include "error.h"
#include "soma/tpipe.h"

/* Begin a command on a pipe. */
void tpipe_command(struct soma_command *command, enum soma_op op, uint64_t pipe);

/* Run a command of which only success counts; its refusal is returned here, not later. */
aclError tpipe_run(const struct soma_command *command) SOMA_MUST_USE;

/* 100000 when the group has no word of this value. what: the parameter, for the text */
aclError tpipe_check_word(enum soma_enum_group group, int value, const char *what) SOMA_MUST_USE;

#endif
