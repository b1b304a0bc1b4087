/* The session's device addresses: which ranges are taken. Best fit, so that the same commands give
 * the same addresses. A range that is taken brings the gap struct that takes it back: giving
 * never fails. */
#include "internal.h"

static void gap_link(struct space *space, struct gap *gap)
{
    tree_insert(&space->by_address, &gap->by_address, gap->address, 0);
    tree_insert(&space->by_size, &gap->by_size, gap->size, gap->address);
}

static void gap_unlink(struct space *space, struct gap *gap)
{
    tree_remove(&space->by_address, &gap->by_address);
    tree_remove(&space->by_size, &gap->by_size);
}

bool space_init(struct engine *engine, struct space *space, uint64_t address, uint64_t end)
{
    struct gap *gap = engine_alloc(engine, sizeof(*gap));
    if (gap == NULL)
        return false;
    gap->address = address;
    gap->size = end - address;
    gap_link(space, gap);
    return true;
}

void space_clear(struct engine *engine, struct space *space)
{
    struct tree_node *node;
    while ((node = tree_first(&space->by_address)) != NULL) {
        struct gap *gap = TREE_ENTRY(node, struct gap, by_address);
        gap_unlink(space, gap);
        engine_free(engine, gap);
    }
}

enum soma_status space_take(struct engine *engine, struct space *space, uint64_t size,
                            uint64_t *address, struct gap **gap)
{
    struct tree_node *node = tree_ceil(&space->by_size, size);
    if (node == NULL)
        return SOMA_ADDRESS_SPACE_EXHAUSTED;
    struct gap *found = TREE_ENTRY(node, struct gap, by_size);
    struct gap *token = found;
    if (found->size > size) {
        token = engine_alloc(engine, sizeof(*token));
        if (token == NULL)
            return SOMA_OUT_OF_MEMORY;
    }
    gap_unlink(space, found);
    *address = found->address;
    if (token != found) {
        found->address += size;
        found->size -= size;
        gap_link(space, found);
    }
    *gap = token;
    return SOMA_OK;
}

enum soma_status space_take_at(struct engine *engine, struct space *space, uint64_t address,
                               uint64_t size, struct gap **gap)
{
    struct gap *found =
        TREE_ENTRY(tree_floor(&space->by_address, address, 0), struct gap, by_address);
    if (found == NULL || address - found->address >= found->size ||
        size > found->size - (address - found->address))
        return SOMA_ADDRESS_SPACE_EXHAUSTED;
    uint64_t before = address - found->address, behind = found->size - before - size;
    struct gap *token = before > 0 || behind > 0 ? engine_alloc(engine, sizeof(*token)) : found;
    struct gap *rest = before > 0 && behind > 0 ? engine_alloc(engine, sizeof(*rest)) : NULL;
    if (token == NULL || (before > 0 && behind > 0 && rest == NULL)) {
        engine_free(engine, token);
        engine_free(engine, rest);
        return SOMA_OUT_OF_MEMORY;
    }
    gap_unlink(space, found);
    if (token != found) {
        found->address = before > 0 ? found->address : address + size;
        found->size = before > 0 ? before : behind;
        gap_link(space, found);
    }
    if (rest != NULL) {
        rest->address = address + size;
        rest->size = behind;
        gap_link(space, rest);
    }
    *gap = token;
    return SOMA_OK;
}

void space_give(struct engine *engine, struct space *space, uint64_t address, uint64_t size,
                struct gap *gap)
{
    gap->address = address;
    gap->size = size;
    struct gap *before =
        TREE_ENTRY(tree_floor(&space->by_address, address, 0), struct gap, by_address);
    struct gap *behind =
        TREE_ENTRY(tree_find(&space->by_address, address + size, 0), struct gap, by_address);
    if (before != NULL && before->address + before->size == address) {
        gap_unlink(space, before);
        gap->address = before->address;
        gap->size += before->size;
        engine_free(engine, before);
    }
    if (behind != NULL) {
        gap_unlink(space, behind);
        gap->size += behind->size;
        engine_free(engine, behind);
    }
    gap_link(space, gap);
}
