/* Commands: what a session can be asked, as one flat struct with every field of the vocabulary.
 * Structs and descriptors are expanded from enums.def, fields.def and commands.def. */
#ifndef SOMA_COMMAND_H
#define SOMA_COMMAND_H

#include "commands.def"
#include "enums.def"
#include "fields.def"
#include "limits.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- words ---- */

#define SOMA_ROW(GROUP, NAME, value, word, alias) SOMA_##GROUP##_##NAME = (value),
#define SOMA_GROUP(GROUP, type) enum soma_##type{SOMA_ENUM_##GROUP(SOMA_ROW)};
SOMA_ENUM_GROUPS(SOMA_GROUP)
#undef SOMA_GROUP
#undef SOMA_ROW

enum soma_enum_group {
#define SOMA_GROUP(GROUP, type) SOMA_GROUP_##type,
    SOMA_ENUM_GROUPS(SOMA_GROUP)
#undef SOMA_GROUP
        SOMA_GROUP_COUNT
};

struct soma_word {
    int value;
    const char *word;  /* the JSON word */
    const char *alias; /* also understood; NULL: none */
};

struct soma_word_list {
    const char *name; /* such as "event_kind" */
    const struct soma_word *words;
    size_t count;
};

const struct soma_word_list *soma_words(enum soma_enum_group group);

/* The word of a value, NULL when the group has none. */
const char *soma_word_of(enum soma_enum_group group, int value);

/* The value of a word or alias of len bytes (case matters). */
bool soma_value_of(enum soma_enum_group group, const char *word, size_t len, int *value);

/* ---- commands ---- */

enum soma_op {
#define SOMA_ROW(OP, op, METHOD, path, http, RESULT) SOMA_OP_##OP,
    SOMA_COMMANDS(SOMA_ROW)
#undef SOMA_ROW
        SOMA_OP_COUNT
};

enum soma_method { SOMA_METHOD_GET, SOMA_METHOD_POST, SOMA_METHOD_PUT, SOMA_METHOD_DELETE };

const char *soma_method_name(enum soma_method method);

enum soma_field {
#define SOMA_ROW(TYPE, member, json, help) SOMA_FIELD_##member,
    SOMA_FIELDS(SOMA_ROW)
#undef SOMA_ROW
        SOMA_FIELD_COUNT
};
_Static_assert((int)SOMA_FIELD_COUNT <= 64, "soma_command.present has one bit per field");

#define SOMA_HAS(field) (UINT64_C(1) << SOMA_FIELD_##field)

enum soma_field_kind {
#define SOMA_ROW(KIND, min, max, words, type) SOMA_KIND_##KIND,
    SOMA_FIELD_KINDS(SOMA_ROW)
#undef SOMA_ROW
        SOMA_KIND_COUNT
};

enum soma_field_where { SOMA_WHERE_PATH, SOMA_WHERE_QUERY, SOMA_WHERE_BODY };

struct soma_field_kind_info {
    const char *name;
    uint64_t min;
    uint64_t max;
    enum soma_enum_group words; /* SOMA_GROUP_COUNT when it is not a word */
    const char *type;           /* for messages and docs */
};

const struct soma_field_kind_info *soma_field_kind_info(enum soma_field_kind kind);

/* One field of one command. */
struct soma_field_row {
    enum soma_field field;
    enum soma_field_kind kind;
    enum soma_field_where where;
    bool required;
    uint64_t default_value; /* of optional numbers */
};

/* What the table says of one command. */
struct soma_op_info {
    enum soma_op op;
    const char *name; /* "pool.malloc" */
    enum soma_method method;
    const char *path; /* "/v1/devices/{device}/pools/{pool}:malloc" */
    int http;         /* code of success */
    int result;       /* enum soma_message; SOMA_MESSAGE_NONE: nothing to say */
    const struct soma_field_row *fields;
    size_t field_count;
};

const struct soma_op_info *soma_op_info(enum soma_op op);

/* The row whose name is these len bytes, NULL when there is none. */
const struct soma_op_info *soma_op_find(const char *name, size_t len);

const char *soma_field_json(enum soma_field field);
const char *soma_field_help(enum soma_field field);

/* The place of a field inside struct soma_command, in bytes. */
size_t soma_field_offset(enum soma_field field);

/* Bytes borrowed from the request. */
struct soma_text {
    const char *ptr;
    size_t len;
};

/* Kernel arguments, in order. Integers stand in `bits` as two's complement, floats as the bits of
 * their own width; an address as itself; bytes of base64 in `bytes`. */
enum soma_arg_kind {
    SOMA_ARG_PTR,
    SOMA_ARG_U8,
    SOMA_ARG_U16,
    SOMA_ARG_U32,
    SOMA_ARG_U64,
    SOMA_ARG_I32,
    SOMA_ARG_I64,
    SOMA_ARG_F16,
    SOMA_ARG_F32,
    SOMA_ARG_F64,
    SOMA_ARG_BYTES /* "base64": a raw argument block, as a C program hands it over */
};

struct soma_kernel_arg {
    enum soma_arg_kind kind;
    uint64_t bits;
    struct soma_text bytes;
};

struct soma_kernel_args {
    const struct soma_kernel_arg *items;
    size_t count;
};

#define SOMA_TYPE_NUM uint64_t
#define SOMA_TYPE_TEXT struct soma_text
#define SOMA_TYPE_DATA struct soma_text
#define SOMA_TYPE_ARGS struct soma_kernel_args

/* A command. Fields that are not `present` hold their default (soma_command_init). */
struct soma_command {
    enum soma_op op;
    bool expired; /* set by the caller of a command that had to wait: its timeout is over */
    uint64_t
        kernel_cost_ns; /* set by who predicts a launch: the kernel's own figure, as answered */
    enum soma_status
        kernel_status; /* likewise: SOMA_OK, or how it is known to fail or to be refused */
    bool gives_data;   /* MEMORY_WRITE: the caller needs the bytes at data no more */
    bool gives_pages;  /* likewise, and their whole pages can be exchanged for others: data begins
                        * with a page, of one private mapping that is never exchanged in parts */
    bool reads_apart;  /* MEMORY_READ: bytes that lie together are not answered (data.ptr NULL): the
                        * caller reads them where engine_translate says */
    uint64_t present;  /* bit SOMA_HAS(member) for each field that was given */
#define SOMA_ROW(TYPE, member, json, help) SOMA_TYPE_##TYPE member;
    SOMA_FIELDS(SOMA_ROW)
#undef SOMA_ROW
};

/* An empty command of this op: nothing present, every optional field at its default. */
void soma_command_init(struct soma_command *command, enum soma_op op);

/* Set a number field and mark it present. */
void soma_command_set(struct soma_command *command, enum soma_field field, uint64_t value);

uint64_t soma_command_get(const struct soma_command *command, enum soma_field field);

/* SOMA_OK, or SOMA_MISSING_FIELD with *error when a required field is not present. */
enum soma_status soma_command_complete(const struct soma_command *command,
                                       struct soma_error *error) SOMA_MUST_USE;

/* ---- SoCs ---- */

struct soma_soc {
    const char *name;
    uint32_t npu_arch, ai_cores, cube_cores, vector_cores, ai_cpus;
    uint64_t memory_bytes; /* never 0 here: SOMA_MEMORY_BYTES_DEFAULT stands in */
    uint64_t l2_bytes;
    uint32_t ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes, ub_block_bytes;
    uint32_t max_streams;
};

/* NULL when no SoC has this name (case matters). */
const struct soma_soc *soma_soc_find(const char *name, size_t len);

/* Row i of the SoC table, NULL past the end. */
const struct soma_soc *soma_soc_row(unsigned i);

#endif
