/* Contents as they were at one moment, to be read piece by piece while others go on changing them.
 *
 * A snapshot costs no copy. Who is about to change bytes that a snapshot has not given out yet
 * saves them first (snapshots_keep), in parts of SNAPSHOT_PART_BYTES, which the snapshot frees
 * again once they are read. A slow reader therefore holds nothing up and holds no memory but for
 * what has changed since. Two sides have each snapshot, and the last one frees it: the list that it
 * stands in, guarded by the lock of its session, and its reader, one thread at a time, without that
 * lock. */
#ifndef SOMA_MEMORY_SNAPSHOT_H
#define SOMA_MEMORY_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define SNAPSHOT_PART_BYTES ((uint64_t)1 << 20)

struct snapshot;

TAILQ_HEAD(snapshot_list, snapshot);

/* ---- the reader ---- */

/* A snapshot of size_bytes, at least 1; zeros until it is attached. NULL: no memory. */
struct snapshot *snapshot_create(uint64_t size_bytes);

/* The reader needs it no more. Takes NULL. */
void snapshot_release(struct snapshot *snapshot);

uint64_t snapshot_size(const struct snapshot *snapshot);

/* Copy bytes [at, at + len) of the snapshot, which lie in it and behind all that were read before;
 * what is before them is given up. false: there was no memory to keep them. */
bool snapshot_read(struct snapshot *snapshot, uint64_t at, void *to, size_t len);

/* ---- the owner of the bytes, with the lock of the list held ---- */

/* The snapshot shows what is at `host` now, and stands in the list from here on. Once for each
 * snapshot. host  stays readable until snapshots_keep was told that it changes */
void snapshot_attach(struct snapshot *snapshot, struct snapshot_list *snapshots, const void *host);

/* Bytes [host, host + size_bytes) are about to change, or to go. Never fails: where there is no
 * memory the reading of a snapshot fails. */
void snapshots_keep(struct snapshot_list *snapshots, const void *host, uint64_t size_bytes);

/* Let go of all snapshots; their bytes are about to go, and snapshots_keep was told. */
void snapshots_forget(struct snapshot_list *snapshots);

#endif
