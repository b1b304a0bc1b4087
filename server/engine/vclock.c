/* Vector clocks: which part of every other stream is over for a stream, by events alone. Immutable
 * snapshots, so that a free or a record can keep what its stream knew at that point. */
#include "internal.h"

#include <string.h>

struct vclock *vclock_ref(struct vclock *clock)
{
    if (clock != NULL)
        clock->refs++;
    return clock;
}

void vclock_unref(struct engine *engine, struct vclock *clock)
{
    if (clock != NULL && --clock->refs == 0)
        engine_free(engine, clock);
}

uint64_t vclock_get(const struct vclock *clock, uint64_t stream_key)
{
    uint32_t low = 0, high = clock == NULL ? 0 : clock->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clock->entries[middle].stream_key < stream_key)
            low = middle + 1;
        else
            high = middle;
    }
    bool found =
        clock != NULL && low < clock->count && clock->entries[low].stream_key == stream_key;
    return found ? clock->entries[low].position : 0;
}

/* Is the entry of use for a clock of `self`? Of itself a stream needs none, and nothing that a
 * stream freed is left when it is gone. */
static bool matters(const struct engine *engine, struct vclock_entry entry, uint64_t self)
{
    return entry.stream_key != self && stream_by_key(engine, entry.stream_key) != NULL;
}

/* Append an entry, or raise the last one when it is of the same stream. */
static void push(const struct engine *engine, struct vclock *clock, struct vclock_entry entry,
                 uint64_t self)
{
    if (!matters(engine, entry, self))
        return;
    struct vclock_entry *last = clock->count > 0 ? &clock->entries[clock->count - 1] : NULL;
    if (last == NULL || last->stream_key != entry.stream_key)
        clock->entries[clock->count++] = entry;
    else if (last->position < entry.position)
        last->position = entry.position;
}

/* Does `clock` hold all that `other` and the extra entry say and that matters? Where it does not, a
 * join is a greater clock: what repeats joins until none grows, comes to an end. */
static bool covers(const struct engine *engine, const struct vclock *clock,
                   const struct vclock *other, struct vclock_entry extra, uint64_t self)
{
    if (matters(engine, extra, self) && vclock_get(clock, extra.stream_key) < extra.position)
        return false;
    for (uint32_t i = 0; other != NULL && i < other->count; i++) {
        struct vclock_entry entry = other->entries[i];
        if (matters(engine, entry, self) && vclock_get(clock, entry.stream_key) < entry.position)
            return false;
    }
    return true;
}

bool vclock_join(struct engine *engine, struct vclock *a, struct vclock *b, uint64_t key,
                 uint64_t position, uint64_t self, struct vclock **out)
{
    struct vclock_entry extra = {key, position};
    if (covers(engine, a, b, extra, self)) {
        *out = vclock_ref(a);
        return true;
    }
    uint32_t count_a = a == NULL ? 0 : a->count, count_b = b == NULL ? 0 : b->count;
    struct vclock *joined = engine_alloc(engine, sizeof(*joined) + ((size_t)count_a + count_b + 1) *
                                                                       sizeof(joined->entries[0]));
    if (joined == NULL)
        return false;
    joined->refs = 1;
    uint32_t i = 0, j = 0;
    bool extra_left = key != 0;
    while (i < count_a || j < count_b || extra_left) {
        uint64_t next_a = i < count_a ? a->entries[i].stream_key : UINT64_MAX;
        uint64_t next_b = j < count_b ? b->entries[j].stream_key : UINT64_MAX;
        if (extra_left && key <= next_a && key <= next_b) {
            push(engine, joined, extra, self);
            extra_left = false;
        } else if (next_a <= next_b) {
            push(engine, joined, a->entries[i++], self);
        } else {
            push(engine, joined, b->entries[j++], self);
        }
    }
    *out = joined;
    return true;
}
