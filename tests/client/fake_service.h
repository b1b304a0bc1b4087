/* A service without a server: stands in for libcurl, decodes what the client sends and runs it in
 * an engine of this process. One session at a time; any number of threads. */
#ifndef SOMA_TESTS_FAKE_SERVICE_H
#define SOMA_TESTS_FAKE_SERVICE_H

#include "status.h"

#include <stdbool.h>

/* Instead of the fake, let the client start real servers from this program; NULL: the fake. */
void fake_service_use_somad(const char *path);
bool fake_service_is_real(void);

/* From now on the client talks to the fake; its environment is set as tests need it. */
void fake_service_start(void);

/* Back to libcurl. The engine, if one is left, is destroyed. */
void fake_service_stop(void);

/* How many requests came since the start. */
unsigned fake_service_requests(void);

/* Whether a session is open. */
bool fake_service_has_session(void);

/* What the next requests meet: FAKE_GOOD again after `count` of them. */
enum fake_mood {
    FAKE_GOOD,
    FAKE_GONE,        /* 507901: nobody answers */
    FAKE_NO_SESSION,  /* 404 NO_SUCH_SESSION */
    FAKE_NONSENSE,    /* 200 with something that is not JSON */
    FAKE_PROTOCOL_2,  /* GET /v1/version says protocol 2 */
    FAKE_OTHER_BUILD, /* GET /v1/version says other tables */
    FAKE_TOKEN        /* 401 UNAUTHENTICATED */
};
void fake_service_set_mood(enum fake_mood mood, unsigned count);

#endif
