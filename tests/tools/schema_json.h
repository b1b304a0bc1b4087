/* Writes JSON for people: one member a line, short containers on one line. Knows no schema. */
#ifndef SOMA_SCHEMA_JSON_H
#define SOMA_SCHEMA_JSON_H

#include "wire.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 40u

/* A text that is being written. Failures stay in out->failed: check once at the end. */
struct json {
    struct soma_writer *out;
    unsigned depth;
    unsigned line_depth; /* from this depth on all stands on one line; 0: nowhere */
    bool is_filled[JSON_DEPTH_MAX];
};

/* key NULL: an element of an array, or the whole. open: '{' or '['. */
void json_open(struct json *json, const char *key, char open);
void json_open_line(struct json *json, const char *key, char open); /* all of it on one line */
void json_close(struct json *json, char close);

void json_text(struct json *json, const char *key, const char *text);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* "key": ["word", ...] on one line; the last argument is NULL. */
void json_list(struct json *json, const char *key, ...);

/* "key": {"type": type, "description": text} on one line. */
void json_property(struct json *json, const char *key, const char *type, const char *text);

#endif
