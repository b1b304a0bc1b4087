/* The bytes behind the device addresses of one session: real, sparse host memory.
 *
 * A range (a pool or an allocation) is only noted when it is reserved. It gets host address space,
 * contiguous and without commitment, when something is first written into it; until then it reads
 * as zero and costs nothing. What is unmapped or released goes back to the system at once.
 * Ranges of at most 64 MiB share mappings, so that millions of them can be touched
 * without meeting the system's limit on mappings. Used by one thread at a time: its session's lock
 * guards it; only bytes_mapped may be called from any thread. Knows nothing of JSON or sockets. */
#ifndef SOMA_MEMORY_BYTES_H
#define SOMA_MEMORY_BYTES_H

#include "engine.h"
#include "snapshot.h"

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct kernels;

/* kernels: what STREAM_LAUNCH_KERNEL can run; kept until bytes_destroy; NULL: nothing.
 * NULL when there is no memory. */
struct bytes *bytes_create(const struct kernels *kernels);

/* Gives everything back to the system. Takes NULL. */
void bytes_destroy(struct bytes *bytes);

/* The table to hand to engine_create; valid as long as bytes is. */
struct engine_bytes bytes_table(struct bytes *bytes);

/* Where the bytes at an address of the table can be touched by the host: for kernels.
 *   host  out, only on SOMA_OK: borrowed until the range is unmapped or released
 * The caller has checked that the bytes are live memory.
 * SOMA_OK; SOMA_INVALID_ADDRESS; SOMA_HOST_MEMORY_EXHAUSTED (nothing changed). */
enum soma_status bytes_host(struct bytes *bytes, uint64_t address, uint64_t size_bytes, void **host,
                            struct soma_error *error) SOMA_MUST_USE;

/* Where the contents of [address, address + size_bytes) lie, to look at: borrowed until the next
 * change. NULL: they are zeros that nobody has touched, or the range is not there. */
const void *bytes_peek(struct bytes *bytes, uint64_t address, uint64_t size_bytes);

/* Pieces of physical memory one behind the other, as the device sees them, for the host. The same
 * bytes as those that bytes_host leads to. */
struct bytes_view {
    unsigned char *map; /* NULL: closed */
    uint64_t map_bytes;
    unsigned char *host; /* the first byte that was asked for */
};

/* Addresses of a device. */
struct bytes_span {
    uint64_t address, size_bytes;
};

/* Whether an address of the device is that of mapped or managed memory. */
bool bytes_is_mapped(const struct engine *engine, uint64_t address);

/* See [address, address + size_bytes) of mapped memory, which is live, in one view.
 * SOMA_OK; SOMA_INVALID_ADDRESS; SOMA_HOST_MEMORY_EXHAUSTED. On an error the view is closed. */
enum soma_status bytes_view_open(struct bytes *bytes, const struct engine *engine,
                                 const struct bytes_span *span, struct bytes_view *view,
                                 struct soma_error *error) SOMA_MUST_USE;
void bytes_view_close(struct bytes_view *view);

/* Let the snapshot (snapshot.h) show what is kept at [address, address + its size) now. The address
 * is one of engine_translate, and the caller has checked that the bytes are live memory. */
void bytes_attach(struct bytes *bytes, struct snapshot *snapshot, uint64_t address);

/* Host address space that is mapped for contents, in bytes; resident memory is at most this. */
uint64_t bytes_mapped(const struct bytes *bytes);

#endif
