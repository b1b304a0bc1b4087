/* The short way for what nearly all requests look like: small flat bodies of plain numbers and
 * strings. It accepts a part of what the wire decoder accepts, with the same outcome, and never
 * refuses: whatever it does not take, right or wrong, goes the long way. */
#ifndef SOMA_HTTP_QUICK_H
#define SOMA_HTTP_QUICK_H

#include "command.h"

/* Set a number field from plain digits, or an address from "0x" and digits. false: not taken, and
 * nothing was set; wire_set_text decides. */
bool quick_set(struct soma_command *command, const struct soma_field_row *row, const char *text,
               size_t len);

/* Fill the body fields of a command whose other fields are set from {"key":value,...}. false: not
 * taken; the command is as it was. true: it is complete. */
bool quick_read(struct soma_command *command, const char *body, size_t len);

#endif
