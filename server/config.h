/* The options of somad: from the command line, SOMAD_* of the environment, a file, or defaults, in
 * this order of rank. All of it expands from one table (config.c). */
#ifndef SOMA_CONFIG_H
#define SOMA_CONFIG_H

#include "log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_LISTEN_MAX 16u
#define CONFIG_ERROR_BYTES 512u
#define CONFIG_INSTANCE_BYTES_MAX 32u

/* Strings are owned by the struct. */
struct soma_config {
    char *listen[CONFIG_LISTEN_MAX]; /* "HOST:PORT", "[ADDR]:PORT", "unix:PATH" */
    size_t listen_count;
    uint64_t devices;              /* of a session that does not say */
    char *soc;                     /* likewise */
    uint64_t threads;              /* per listener; never 0 once loaded */
    uint64_t max_body_bytes;       /* of raw bodies */
    uint64_t max_sessions;         /* `default` not counted */
    uint64_t session_ttl_seconds;  /* of a session that does not say */
    uint64_t idle_timeout_seconds; /* of connections, and for a request to arrive */
    char *token_file;              /* NULL: anyone may ask */
    enum log_level log_level;
    char *kernel_dir;             /* shared objects with kernels; NULL: only built-in ones */
    uint64_t kernel_timeout_ms;   /* for one launch of theirs */
    uint64_t kernel_memory_bytes; /* likewise: device blocks that it may touch; its own memory */
    char *config_file;
    char *tls_cert; /* PEM files; NULL: TCP listeners speak plain HTTP */
    char *tls_key;
    char *instance;                 /* begins session ids; NULL: this server has no name */
    uint64_t drain_timeout_seconds; /* for sessions to end in, once told to go */
    bool insecure;
    bool healthcheck; /* ask the server that these options describe, and exit */
    bool version;     /* say it and exit */
    bool help;
};

/* Every option at its default. Release with soma_config_release. false: no memory. */
bool soma_config_init(struct soma_config *config);
void soma_config_release(struct soma_config *config);

/* Read all sources.
 *   argv, envp   as main gets them; borrowed
 *   error        out, on false: one line that names the option */
bool soma_config_load(struct soma_config *config, int argc, char *const *argv, char *const *envp,
                      char error[CONFIG_ERROR_BYTES]);

/* A line for each SOMAD_* variable that names no option, SOMAD_SERVICE_* and SOMAD_PORT* apart:
 * those are Kubernetes's, where a service is called somad. */
void soma_config_warn(FILE *out, char *const *envp);

/* The text of --help. */
void soma_config_help(FILE *out);

#endif
