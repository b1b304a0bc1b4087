/* The table behind every opaque handle of ACL.
 *
 * A handle is a number dressed as a pointer: a magic that no address of a program has, the kind,
 * the generation and the index of a row. It is looked up, never followed, so NULL, destroyed,
 * made-up handles and those of another kind are found out and harmless. A row is copied out;
 * rows change only under the table's lock. Thread-safe. */
#ifndef SOMA_CLIENT_HANDLE_H
#define SOMA_CLIENT_HANDLE_H

#include "limits.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum client_kind {
    CLIENT_CONTEXT = 1,
    CLIENT_STREAM,
    CLIENT_EVENT,
    CLIENT_POOL,
    CLIENT_LIBRARY_DATA, /* aclrtBinary */
    CLIENT_LIBRARY,      /* aclrtBinHandle */
    CLIENT_FUNCTION,     /* aclrtFuncHandle */
    CLIENT_ARGS,         /* aclrtArgsHandle */
    CLIENT_NOTIFY,
    CLIENT_PHYSICAL, /* aclrtDrvMemHandle */
    CLIENT_BUFFER    /* aclDataBuffer: needs no session */
};

/* What is known of the thing behind a handle. Which members mean something depends on the kind. */
struct client_object {
    enum client_kind kind;
    void *handle;          /* its own */
    uint32_t device;       /* CONTEXT, STREAM, EVENT, POOL, PHYSICAL */
    uint64_t id;           /* STREAM, EVENT, POOL, PHYSICAL: of the service */
    void *context;         /* STREAM, EVENT: the context it was made in; FUNCTION: its library */
    void *stream;          /* CONTEXT: its default stream */
    bool is_primary;       /* CONTEXT: of aclrtSetDevice */
    bool is_default;       /* STREAM: of its context */
    bool is_ex;            /* EVENT: of aclrtCreateEventExWithFlag */
    bool is_waited;        /* EVENT: a stream was made to wait for it */
    bool is_recorded;      /* EVENT: on the stream recorded_on */
    uint64_t recorded_on;  /* EVENT: of the service */
    uint32_t flags;        /* STREAM, EVENT: as created; PHYSICAL: its aclrtMemAttr */
    bool uses_library;     /* STREAM: a thread of the library runs its functions */
    uint32_t priority;     /* STREAM */
    uint64_t aborts;       /* STREAM: how often its work was dropped */
    uint64_t failure_mode; /* STREAM */
    uint64_t address;      /* POOL: where its range begins */
    void *data;  /* BUFFER, ARGS, LIBRARY_DATA: borrowed or owned as the file of the kind says */
    size_t size; /* BUFFER, LIBRARY_DATA: bytes at data */
    char name[SOMA_NAME_BYTES_MAX + 1];    /* LIBRARY, FUNCTION */
    char library[SOMA_NAME_BYTES_MAX + 1]; /* FUNCTION: of the service; "": its name says all */
};

/* Add a row; *object is copied, its handle member is set.
 * The handle; NULL when the host has no memory. */
void *client_handle_add(struct client_object *object);

/* Copy the row of a handle of this kind to *object (NULL: only look); false when there is none. */
bool client_handle_get(enum client_kind kind, const void *handle, struct client_object *object);

/* Replace the row of object->handle; false when it is gone. */
bool client_handle_put(const struct client_object *object);

/* Remove the row; of several threads one gets true, and the row. object may be NULL. */
bool client_handle_remove(enum client_kind kind, const void *handle, struct client_object *object);

/* Whether a handle of any kind, alive or not, ever looked like this. */
bool client_handle_is_ours(const void *handle);

/* One row for which match(row, user) is true; false when there is none. match must not call the
 * table. */
typedef bool client_match_fn(const struct client_object *object, const void *user);
bool client_handle_find(client_match_fn *match, const void *user, struct client_object *object);

/* Remove all rows that match. */
void client_handle_remove_all(client_match_fn *match, const void *user);

#endif
