/* Events as JSON, one line each, on one file descriptor. Thread-safe: a line is one write. */
#ifndef SOMA_LOG_H
#define SOMA_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR, LOG_LEVEL_OFF };

struct log {
    int fd;               /* -1: nothing is written */
    enum log_level level; /* events below it are dropped */
};

/* One member of a line. Borrowed until log_event returns. */
struct log_field {
    const char *key;  /* NULL ends the list */
    const char *text; /* NULL: the number counts */
    uint64_t number;
};

#define LOG_TEXT(name, value)                                                                      \
    {                                                                                              \
        .key = (name), .text = (value)                                                             \
    }
#define LOG_NUMBER(name, value)                                                                    \
    {                                                                                              \
        .key = (name), .number = (value)                                                           \
    }

/* Write {"time","level","event",fields...}. Use LOG. */
void log_event(const struct log *log, enum log_level level, const char *event,
               const struct log_field *fields);

/* LOG(log, LOG_LEVEL_INFO, "listening", LOG_TEXT("address", text)); at least one field. */
#define LOG(log, level, event, ...)                                                                \
    log_event((log), (level), (event), (const struct log_field[]){__VA_ARGS__, {.key = NULL}})

bool log_level_of(const char *word, enum log_level *level);

#endif
