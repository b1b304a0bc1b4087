/* Parts that were saved stand in an array by their place; what is not there is read at the host. */
#include "snapshot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    TAILQ_ENTRY(snapshot) entry; /* under the lock of the list */
    uint64_t size_bytes;         /* constant */

    pthread_mutex_t lock;      /* guards the rest */
    const unsigned char *host; /* NULL: all zero */
    uint64_t passed;           /* bytes before this place are not needed any more */
    unsigned sides;            /* that have the snapshot: reader and list */
    bool has_reader;
    bool is_broken;         /* there was no memory for a part */
    unsigned char *parts[]; /* owned; NULL: as it is at the host */
};

static uint64_t part_count(uint64_t size_bytes)
{
    return (size_bytes + SNAPSHOT_PART_BYTES - 1) / SNAPSHOT_PART_BYTES;
}

static uint64_t part_bytes(const struct snapshot *snapshot, uint64_t part)
{
    uint64_t left = snapshot->size_bytes - part * SNAPSHOT_PART_BYTES;
    return left < SNAPSHOT_PART_BYTES ? left : SNAPSHOT_PART_BYTES;
}

struct snapshot *snapshot_create(uint64_t size_bytes)
{
    struct snapshot *snapshot =
        calloc(1, sizeof(*snapshot) + (size_t)part_count(size_bytes) * sizeof(snapshot->parts[0]));
    if (snapshot == NULL)
        return NULL;
    snapshot->size_bytes = size_bytes;
    snapshot->sides = 1;
    snapshot->has_reader = true;
    (void)pthread_mutex_init(&snapshot->lock, NULL);
    return snapshot;
}

uint64_t snapshot_size(const struct snapshot *snapshot)
{
    return snapshot->size_bytes;
}

/* With the lock held: give up the parts before this place. */
static void pass(struct snapshot *snapshot, uint64_t at)
{
    uint64_t first = snapshot->passed / SNAPSHOT_PART_BYTES;
    uint64_t end =
        at < snapshot->size_bytes ? at / SNAPSHOT_PART_BYTES : part_count(snapshot->size_bytes);
    for (uint64_t part = first; part < end; part++) {
        free(snapshot->parts[part]);
        snapshot->parts[part] = NULL;
    }
    snapshot->passed = at;
}

/* One side lets go. */
static void let_go(struct snapshot *snapshot, bool is_reader)
{
    (void)pthread_mutex_lock(&snapshot->lock);
    if (is_reader) {
        snapshot->has_reader = false;
        pass(snapshot, snapshot->size_bytes);
    }
    bool is_last = --snapshot->sides == 0;
    (void)pthread_mutex_unlock(&snapshot->lock);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&snapshot->lock);
    free(snapshot);
}

void snapshot_release(struct snapshot *snapshot)
{
    if (snapshot != NULL)
        let_go(snapshot, true);
}

bool snapshot_read(struct snapshot *snapshot, uint64_t at, void *to, size_t len)
{
    unsigned char *out = to;
    (void)pthread_mutex_lock(&snapshot->lock);
    bool good = !snapshot->is_broken && at >= snapshot->passed && len <= snapshot->size_bytes - at;
    for (size_t done = 0; good && done < len;) {
        uint64_t place = at + done, part = place / SNAPSHOT_PART_BYTES,
                 in = place % SNAPSHOT_PART_BYTES;
        uint64_t left = part_bytes(snapshot, part) - in;
        size_t piece = len - done < left ? len - done : (size_t)left;
        if (snapshot->parts[part] != NULL)
            memcpy(out + done, snapshot->parts[part] + in, piece);
        else if (snapshot->host != NULL)
            memcpy(out + done, snapshot->host + place, piece);
        else
            memset(out + done, 0, piece);
        done += piece;
    }
    if (good)
        pass(snapshot, at + len);
    (void)pthread_mutex_unlock(&snapshot->lock);
    return good;
}

/* With the lock held: save the parts that hold bytes [start, end) of the snapshot. */
static void save(struct snapshot *snapshot, uint64_t start, uint64_t end)
{
    if (start < snapshot->passed)
        start = snapshot->passed;
    for (uint64_t part = start / SNAPSHOT_PART_BYTES;
         start < end && part * SNAPSHOT_PART_BYTES < end; part++) {
        uint64_t bytes = part_bytes(snapshot, part);
        if (snapshot->parts[part] != NULL)
            continue;
        snapshot->parts[part] = malloc((size_t)bytes);
        if (snapshot->parts[part] == NULL) {
            snapshot->is_broken = true;
            return;
        }
        memcpy(snapshot->parts[part], snapshot->host + part * SNAPSHOT_PART_BYTES, (size_t)bytes);
    }
}

/* false: it has no reader any more. */
static bool keep(struct snapshot *snapshot, uintptr_t start, uintptr_t end)
{
    (void)pthread_mutex_lock(&snapshot->lock);
    bool has_reader = snapshot->has_reader;
    uintptr_t from = (uintptr_t)snapshot->host, to = from + snapshot->size_bytes;
    if (has_reader && !snapshot->is_broken && start < to && from < end)
        save(snapshot, start > from ? start - from : 0, (end < to ? end : to) - from);
    (void)pthread_mutex_unlock(&snapshot->lock);
    return has_reader;
}

void snapshots_keep(struct snapshot_list *snapshots, const void *host, uint64_t size_bytes)
{
    struct snapshot *next, *snapshot = TAILQ_FIRST(snapshots);
    for (; snapshot != NULL; snapshot = next) {
        next = TAILQ_NEXT(snapshot, entry);
        if (keep(snapshot, (uintptr_t)host, (uintptr_t)host + size_bytes))
            continue;
        TAILQ_REMOVE(snapshots, snapshot, entry);
        let_go(snapshot, false);
    }
}

void snapshot_attach(struct snapshot *snapshot, struct snapshot_list *snapshots, const void *host)
{
    snapshots_keep(snapshots, NULL, 0); /* lets go of those without a reader */
    (void)pthread_mutex_lock(&snapshot->lock);
    snapshot->host = host;
    snapshot->sides++;
    (void)pthread_mutex_unlock(&snapshot->lock);
    TAILQ_INSERT_TAIL(snapshots, snapshot, entry);
}

void snapshots_forget(struct snapshot_list *snapshots)
{
    struct snapshot *snapshot;
    while ((snapshot = TAILQ_FIRST(snapshots)) != NULL) {
        TAILQ_REMOVE(snapshots, snapshot, entry);
        let_go(snapshot, false);
    }
}
