/* Answers: one struct per message of messages.def, one union that holds any of them, and
 * descriptors by which an encoder or decoder walks them without knowing one. */
#ifndef SOMA_MESSAGE_H
#define SOMA_MESSAGE_H

#include "limits.h"
#include "messages.def"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOMA_NONE UINT64_MAX /* OPT_U64 and NULL_U64: no value */

struct soma_buffer {
    unsigned char *ptr;
    size_t len;
};

struct soma_names {
    char (*items)[SOMA_MESSAGE_BYTES];
    size_t count;
};

enum soma_message {
    SOMA_MESSAGE_NONE = -1,
#define SOMA_ROW(NAME, name) SOMA_MESSAGE_##NAME,
    SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW
        SOMA_MESSAGE_COUNT
};

#define SOMA_MEMBER_U64(member, sub) uint64_t member;
#define SOMA_MEMBER_OPT_U64(member, sub) uint64_t member;
#define SOMA_MEMBER_NULL_U64(member, sub) uint64_t member;
#define SOMA_MEMBER_BOOL(member, sub) bool member;
#define SOMA_MEMBER_F64(member, sub) double member;
#define SOMA_MEMBER_ADDRESS(member, sub) uint64_t member;
#define SOMA_MEMBER_ENUM(member, sub) int member;
#define SOMA_MEMBER_TEXT(member, sub) const char *member;
#define SOMA_MEMBER_NAME(member, sub) char member[SOMA_NAME_BYTES_MAX + 1];
#define SOMA_MEMBER_DATA(member, sub) struct soma_buffer member;
#define SOMA_MEMBER_OBJECT(member, sub) struct soma_##sub member;
#define SOMA_MEMBER_ARRAY(member, sub)                                                             \
    struct {                                                                                       \
        struct soma_##sub *items;                                                                  \
        size_t count;                                                                              \
    } member;
#define SOMA_MEMBER_NAMES(member, sub) struct soma_names member;

#define SOMA_FIELD_ROW(X, KIND, member, json, sub) SOMA_MEMBER_##KIND(member, sub)
#define SOMA_ROW(NAME, name)                                                                       \
    struct soma_##name {                                                                           \
        SOMA_MESSAGE_##NAME##_FIELDS(SOMA_FIELD_ROW, _)                                            \
    };
SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW
#undef SOMA_FIELD_ROW

/* Layout shared by every ARRAY member. */
struct soma_array {
    void *items;
    size_t count;
};

enum soma_member_kind {
    SOMA_MEMBER_KIND_U64,
    SOMA_MEMBER_KIND_OPT_U64,
    SOMA_MEMBER_KIND_NULL_U64,
    SOMA_MEMBER_KIND_BOOL,
    SOMA_MEMBER_KIND_F64,
    SOMA_MEMBER_KIND_ADDRESS,
    SOMA_MEMBER_KIND_ENUM,
    SOMA_MEMBER_KIND_TEXT,
    SOMA_MEMBER_KIND_NAME,
    SOMA_MEMBER_KIND_DATA,
    SOMA_MEMBER_KIND_OBJECT,
    SOMA_MEMBER_KIND_ARRAY,
    SOMA_MEMBER_KIND_NAMES
};

struct soma_member {
    const char *json;
    enum soma_member_kind kind;
    size_t offset; /* in the message's struct, bytes */
    int sub;       /* OBJECT, ARRAY: enum soma_message; ENUM: enum soma_enum_group */
};

struct soma_message_info {
    const char *name; /* "pool_usage" */
    size_t size;      /* of its struct, bytes */
    const struct soma_member *members;
    size_t member_count;
};

const struct soma_message_info *soma_message_info(enum soma_message message);

/* The answer to one command. `message` tells which member of the union holds. */
struct soma_result {
    enum soma_message message;
    union {
#define SOMA_ROW(NAME, name) struct soma_##name name;
        SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW
    } u;
};

/* How to give back what a message owns. */
typedef void soma_release_fn(void *ctx, void *ptr);

/* Release every array and buffer inside *result with release(ctx, ptr) and empty it. */
void soma_result_clear(struct soma_result *result, soma_release_fn *release, void *ctx);

#endif
