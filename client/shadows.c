/* Bringing page-locked memory to a kernel and back. */
#include "shadows.h"

#include "call.h"
#include "catalog.h"
#include "error.h"
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

/* The range that a kernel reaches at this address, which is a host's. */
static bool find(uint64_t address, struct client_range *range)
{
    return address != 0 && !client_is_device_address((const void *)(uintptr_t)address) &&
           client_ranges_find_host(address, range) && (range->owned != NULL || range->is_mapped);
}

static uint64_t load(const char *block, size_t at)
{
    uint64_t word;
    memcpy(&word, block + at, sizeof(word));
    return word;
}

bool client_shadows_are_needed(const void *block, size_t size)
{
    struct client_range range;
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        if (find(load(block, at), &range))
            return true;
    }
    return false;
}

static aclError fail_memory(void)
{
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a copy of the mapped "
                                            "memory that a kernel uses");
}

static void command_on(struct soma_command *command, enum soma_op op,
                       const struct client_object *stream, uint64_t address)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, stream->device);
    soma_command_set(command, SOMA_FIELD_stream, stream->id);
    soma_command_set(command, SOMA_FIELD_ptr, address);
}

static aclError bring(struct client_shadow *shadow, const struct client_object *stream)
{
    struct soma_command command;
    struct soma_result result;
    shadow->before = malloc(shadow->size);
    if (shadow->before == NULL)
        return fail_memory();
    memcpy(shadow->before, shadow->host, shadow->size);
    soma_command_init(&command, SOMA_OP_MEMORY_MALLOC);
    soma_command_set(&command, SOMA_FIELD_device, stream->device);
    soma_command_set(&command, SOMA_FIELD_size, shadow->size);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    shadow->address = result.u.memory_block.ptr;
    command_on(&command, SOMA_OP_MEMORY_WRITE, stream, shadow->address);
    command.data = (struct soma_text){(const char *)shadow->before, shadow->size};
    command.present |= SOMA_HAS(data);
    return client_queue(&command);
}

/* The shadow of a range: two pointers into one range share it. */
static aclError get(struct client_shadows *shadows, const struct client_object *stream,
                    const struct client_range *range, const struct client_shadow **found)
{
    unsigned char *host = (unsigned char *)(uintptr_t)range->address;
    for (size_t i = 0; i < shadows->count; i++) {
        *found = &shadows->items[i];
        if (shadows->items[i].host == host)
            return ACL_SUCCESS;
    }
    struct client_shadow *fresh = &shadows->items[shadows->count++];
    *fresh = (struct client_shadow){
        .host = host, .size = (size_t)range->size_bytes, .is_read_only = range->is_read_only};
    *found = fresh;
    return bring(fresh, stream);
}

aclError client_shadows_bring(struct client_shadows *shadows, const struct client_object *stream,
                              const struct soma_command *command)
{
    const struct soma_text block = command->args.items[0].bytes;
    size_t offsets[SOMA_KERNEL_PARAMETERS_MAX];
    size_t count = client_kernel_pointers(command, offsets);
    aclError error = ACL_SUCCESS;
    shadows->count = 0;
    shadows->block = malloc(block.len);
    if (shadows->block == NULL)
        return fail_memory();
    memcpy(shadows->block, block.ptr, block.len);
    for (size_t i = 0; i < count && error == ACL_SUCCESS; i++) {
        struct client_range range;
        const struct client_shadow *shadow;
        uint64_t address = load(block.ptr, offsets[i]);
        if (!find(address, &range))
            continue;
        error = get(shadows, stream, &range, &shadow);
        address = shadow->address + (address - range.address);
        memcpy(shadows->block + offsets[i], &address, sizeof(address));
    }
    return error;
}

/* Only what has changed: the rest of the range may be in other hands. */
static void merge(const struct client_shadow *shadow, const unsigned char *after)
{
    for (size_t page = 0; page < shadow->size; page += PAGE_BYTES) {
        size_t end = shadow->size - page < PAGE_BYTES ? shadow->size : page + PAGE_BYTES;
        if (memcmp(shadow->before + page, after + page, end - page) == 0)
            continue;
        for (size_t at = page; at < end; at++) {
            if (shadow->before[at] != after[at])
                shadow->host[at] = after[at];
        }
    }
}

aclError client_shadows_take_back(const struct client_shadows *shadows,
                                  const struct client_object *stream)
{
    aclError error = ACL_SUCCESS;
    for (size_t i = 0; i < shadows->count && error == ACL_SUCCESS; i++) {
        const struct client_shadow *shadow = &shadows->items[i];
        struct soma_command command;
        if (shadow->is_read_only)
            continue;
        unsigned char *after = malloc(shadow->size);
        if (after == NULL)
            return fail_memory();
        memcpy(after, shadow->before, shadow->size); /* a stream that has stopped reads nothing */
        command_on(&command, SOMA_OP_MEMORY_READ, stream, shadow->address);
        soma_command_set(&command, SOMA_FIELD_size, shadow->size);
        error = client_read(&command, after);
        if (error == ACL_SUCCESS)
            merge(shadow, after);
        free(after);
    }
    return error;
}

void client_shadows_release(struct client_shadows *shadows, const struct client_object *stream)
{
    struct client_errors before = client_errors_save();
    for (size_t i = 0; i < shadows->count; i++) {
        struct soma_command command;
        free(shadows->items[i].before);
        if (shadows->items[i].address == 0)
            continue;
        command_on(&command, SOMA_OP_MEMORY_FREE_ASYNC, stream, shadows->items[i].address);
        (void)!client_queue(&command);
    }
    free(shadows->block);
    client_errors_restore(&before);
}
