/* The service under measurement in a process of its own: somad's server, and beside it listeners
 * with the same daemon options whose handler reads the body and answers a constant. What the
 * constant costs is what HTTP costs. One makes a response for each answer, as every handler must
 * whose answers differ; the other sends the same two again and again, which is as little as
 * libmicrohttpd can do. */
#ifndef SOMA_BENCH_SERVICE_H
#define SOMA_BENCH_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#define SERVICE_URL_BYTES 64u

struct service {
    pid_t pid;
    int control; /* closing it ends the process */
    char url[SERVICE_URL_BYTES];
    char unix_url[SERVICE_URL_BYTES];     /* of the same server: unix:PATH */
    char constant_url[SERVICE_URL_BYTES]; /* a response for each answer */
    char prepared_url[SERVICE_URL_BYTES]; /* made beforehand */
};

/* What the constant handler answers to POST of a path that ends so. The length is that of what the
 * server answers in the same place. */
extern const char service_malloc_answer[];
extern const char service_free_answer[];

/* Forks: call it while there is one thread. false: why is printed. */
bool service_start(struct service *service);
void service_stop(struct service *service);

/* Processor time that the process has used so far, in seconds. */
double service_cpu(const struct service *service);

/* Resident memory of the process in MiB. */
double service_resident(const struct service *service);

#endif
