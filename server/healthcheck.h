/* somad --healthcheck: a client of one request, for machines and images without another. */
#ifndef SOMA_HEALTHCHECK_H
#define SOMA_HEALTHCHECK_H

#include "config.h"

/* Ask the first listener of these options for /readyz, with TLS when they have it. Certificates
 * are not verified: it asks the machine itself. Says on stderr what is wrong.
 * 0: ready; 1: it is not, or nothing answers within seconds. */
int soma_healthcheck(const struct soma_config *config);

#endif
