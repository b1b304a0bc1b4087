/* What the programs under test share. */
#ifndef SOMA_TESTS_CLIENT_ROLES_H
#define SOMA_TESTS_CLIENT_ROLES_H

#include "process.h"

#include "acl/acl.h"

/* A call that has to give `want`; else the role ends with exit code 1. */
#define NEED(want, call) need((want), (call), #call)
void need(aclError want, aclError got, const char *call);

void say(const char *word);

/* aclInit and aclrtSetDevice(0). */
void begin(void);

/* A little of everything. */
void work(void);

/* A stream that waits for what nobody signals. */
aclrtStream make_blocked_stream(void);

/* The roles of roles_end.c. */
int role_run_end(const char *role);

#endif
