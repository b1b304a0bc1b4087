/* Rows in chunks that never move; free rows in a list. */
#include "handle.h"

#include "tables.h"

#include <stdlib.h>
#include <string.h>

/* Bits of a handle, from the top: 8 magic, 8 kind, 24 generation, 24 index. With the top bit clear
 * and the next set it is no address that x86-64 or AArch64 give to a program. */
#define MAGIC UINT64_C(0x5a)
#define INDEX_BITS 24u
#define GENERATION_BITS 24u
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)
#define GENERATION_MASK ((UINT64_C(1) << GENERATION_BITS) - 1)
#define CHUNK_ROWS 256u
#define CHUNKS_MAX ((1u << INDEX_BITS) / CHUNK_ROWS)
#define NO_ROW UINT32_MAX

struct row {
    struct client_object object; /* kind 0: free */
    uint32_t generation;         /* of the next or present handle */
    uint32_t next_free;          /* index; NO_ROW: the last */
};

static struct row **chunks;
static size_t chunk_count, chunk_capacity;
static uint32_t first_free = NO_ROW;

static struct row *row_at(uint32_t index)
{
    return &chunks[index / CHUNK_ROWS][index % CHUNK_ROWS];
}

static void *handle_of(enum client_kind kind, uint32_t generation, uint32_t index)
{
    uint64_t bits = MAGIC << 56 | (uint64_t)kind << 48 | (uint64_t)generation << INDEX_BITS | index;
    return (void *)(uintptr_t)bits;
}

bool client_handle_is_ours(const void *handle)
{
    return (uint64_t)(uintptr_t)handle >> 56 == MAGIC;
}

/* The live row of a handle, NULL when there is none. */
static struct row *row_of(enum client_kind kind, const void *handle)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)(bits & INDEX_MASK);
    if (bits >> 48 != (MAGIC << 8 | (uint64_t)kind) || index / CHUNK_ROWS >= chunk_count)
        return NULL;
    struct row *row = row_at(index);
    bool is_live =
        row->object.kind == kind && row->generation == (bits >> INDEX_BITS & GENERATION_MASK);
    return is_live ? row : NULL;
}

static bool add_chunk(void)
{
    if (chunk_count == CHUNKS_MAX)
        return false;
    if (chunk_count == chunk_capacity) {
        size_t capacity = chunk_capacity == 0 ? 16 : chunk_capacity * 2;
        struct row **grown = realloc(chunks, capacity * sizeof(struct row *));
        if (grown == NULL)
            return false;
        chunks = grown;
        chunk_capacity = capacity;
    }
    struct row *rows = calloc(CHUNK_ROWS, sizeof(*rows));
    if (rows == NULL)
        return false;
    chunks[chunk_count] = rows;
    uint32_t base = (uint32_t)chunk_count * CHUNK_ROWS;
    chunk_count++;
    for (uint32_t i = CHUNK_ROWS; i-- > 0;) {
        rows[i].generation = 1;
        rows[i].next_free = first_free;
        first_free = base + i;
    }
    return true;
}

/* A row whose generations are used up is never used again. */
static void free_row(struct row *row, uint32_t index)
{
    memset(&row->object, 0, sizeof(row->object));
    if (row->generation == GENERATION_MASK)
        return;
    row->generation++;
    row->next_free = first_free;
    first_free = index;
}

void *client_handle_add(struct client_object *object)
{
    void *handle = NULL;
    client_tables_lock();
    if (first_free != NO_ROW || add_chunk()) {
        uint32_t index = first_free;
        struct row *row = row_at(index);
        first_free = row->next_free;
        handle = handle_of(object->kind, row->generation, index);
        object->handle = handle;
        row->object = *object;
    }
    client_tables_unlock();
    return handle;
}

bool client_handle_get(enum client_kind kind, const void *handle, struct client_object *object)
{
    client_tables_lock();
    const struct row *row = row_of(kind, handle);
    if (row != NULL && object != NULL)
        *object = row->object;
    client_tables_unlock();
    return row != NULL;
}

bool client_handle_put(const struct client_object *object)
{
    client_tables_lock();
    struct row *row = row_of(object->kind, object->handle);
    if (row != NULL)
        row->object = *object;
    client_tables_unlock();
    return row != NULL;
}

bool client_handle_remove(enum client_kind kind, const void *handle, struct client_object *object)
{
    client_tables_lock();
    struct row *row = row_of(kind, handle);
    if (row != NULL && object != NULL)
        *object = row->object;
    if (row != NULL)
        free_row(row, (uint32_t)((uintptr_t)handle & INDEX_MASK));
    client_tables_unlock();
    return row != NULL;
}

bool client_handle_find(client_match_fn *match, const void *user, struct client_object *object)
{
    bool found = false;
    client_tables_lock();
    for (uint32_t i = 0; i < chunk_count * CHUNK_ROWS && !found; i++) {
        const struct row *row = row_at(i);
        found = row->object.kind != 0 && match(&row->object, user);
        if (found)
            *object = row->object;
    }
    client_tables_unlock();
    return found;
}

void client_handle_remove_all(client_match_fn *match, const void *user)
{
    client_tables_lock();
    for (uint32_t i = 0; i < chunk_count * CHUNK_ROWS; i++) {
        struct row *row = row_at(i);
        if (row->object.kind != 0 && match(&row->object, user))
            free_row(row, i);
    }
    client_tables_unlock();
}
