/* The types of the contract as JSON Schema (2020-12), from the tables: kinds of fields, bodies of
 * routes, commands of POST /v1/commands, messages, errors. Used by OpenAPI and by messages/. */
#ifndef SOMA_SCHEMA_TYPES_H
#define SOMA_SCHEMA_TYPES_H

#include "command.h"
#include "message.h"
#include "schema_json.h"
#include "status.h"

/* A schema that is being written. */
struct schema {
    struct json json;
    const char *refs; /* where named types stand, such as "#/$defs/"; NULL: written in place */
    bool has_formats; /* with OpenAPI's formats, which JSON Schema does not know */
};

enum { SCHEMA_NAME_BYTES = 96 };

/* prefix + name in camel case: "Field", "ENUM_DTYPE" -> "FieldEnumDtype". Returns buf. */
const char *schema_name(char buf[SCHEMA_NAME_BYTES], const char *prefix, const char *name);

/* What schema_docs.def says. */
const char *schema_op_summary(enum soma_op op);
const char *schema_absent(enum soma_op op, enum soma_field field); /* NULL: its default */

/* Does the single route of this command read or answer raw bytes? */
bool schema_is_raw_body(const struct soma_op_info *info);
bool schema_is_raw_answer(const struct soma_op_info *info);

/* Is a field of this kind given inside some JSON body, as it is, or with "$name" as well? */
bool schema_kind_is_used(enum soma_field_kind kind);
bool schema_takes_name(enum soma_field_kind kind);

/* Each writes the members of the schema that is open. */
void schema_kind(struct schema *schema, enum soma_field_kind kind, bool or_name);
void schema_path_kind(struct schema *schema, enum soma_field_kind kind);
void schema_count(struct schema *schema, uint64_t max); /* 1 to max */
void schema_body(struct schema *schema, const struct soma_op_info *info);
void schema_command(struct schema *schema, const struct soma_op_info *info);
void schema_session_create(struct schema *schema);
void schema_message(struct schema *schema, enum soma_message message);
void schema_error(struct schema *schema);
void schema_batch(struct schema *schema);         /* refs are needed */
void schema_batch_results(struct schema *schema); /* refs are needed */

/* "key": a reference to a named type, or the type itself. */
void schema_ref(struct schema *schema, const char *key, const char *name);

/* Every type that refs can name, as members of what is open. */
void schema_define_kinds(struct schema *schema);
void schema_define_commands(struct schema *schema);
void schema_define_messages(struct schema *schema);

#endif
