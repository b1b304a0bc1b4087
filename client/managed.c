/* The blocks, in a list; programs have few. Bytes are compared page by page with those of the last
 * exchange (shadow), so that only what has changed is sent. */
#include "managed.h"

#include "call.h"
#include "error.h"
#include "ranges.h"
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES ((uint64_t)4096)
#define PIECE_BYTES ((uint64_t)16 << 20) /* exchanged at a time */

struct block {
    struct block *next;
    uint64_t address, size_bytes, used_bytes;
    unsigned char *shadow; /* used_bytes: what both sides had last */
    bool is_out;           /* a device may have written since */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static atomic_uint block_count;

/* ---- which blocks there are ---- */

static struct block *find(uint64_t address)
{
    struct block *block = blocks;
    while (block != NULL && address - block->address >= block->size_bytes)
        block = block->next;
    return block;
}

static unsigned char *host_of(const struct block *block)
{
    return (unsigned char *)(uintptr_t)block->address;
}

aclError client_managed_add(uint64_t address, uint64_t size_bytes, uint64_t used_bytes)
{
    struct block *block = calloc(1, sizeof(*block));
    unsigned char *shadow = calloc(1, (size_t)used_bytes);
    if (block == NULL || shadow == NULL || !client_addresses_map(address, size_bytes)) {
        free(block);
        free(shadow);
        return client_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                           "the host gave no memory for %llu bytes at 0x%llx; free some, or raise "
                           "the limit on address space",
                           (unsigned long long)size_bytes, (unsigned long long)address);
    }
    *block = (struct block){NULL, address, size_bytes, used_bytes, shadow, false};
    (void)pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    atomic_fetch_add(&block_count, 1);
    (void)pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

static void drop_locked(struct block **link, bool gives_addresses)
{
    struct block *block = *link;
    *link = block->next;
    atomic_fetch_sub(&block_count, 1);
    if (gives_addresses)
        client_addresses_unmap(block->address, block->size_bytes);
    free(block->shadow);
    free(block);
}

bool client_managed_remove(uint64_t address)
{
    (void)pthread_mutex_lock(&lock);
    struct block **link = &blocks;
    while (*link != NULL && (*link)->address != address)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        drop_locked(link, true);
    (void)pthread_mutex_unlock(&lock);
    return found;
}

void client_managed_remove_all(void)
{
    (void)pthread_mutex_lock(&lock);
    while (blocks != NULL)
        drop_locked(&blocks, true);
    (void)pthread_mutex_unlock(&lock);
}

void client_managed_forked(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof(lock));
    while (blocks != NULL)
        drop_locked(&blocks, false);
}

uint64_t client_managed_left(uint64_t address)
{
    if (atomic_load(&block_count) == 0)
        return 0;
    (void)pthread_mutex_lock(&lock);
    const struct block *block = find(address);
    uint64_t end = block != NULL ? block->address + block->used_bytes : 0;
    uint64_t left = address < end ? end - address : 0;
    (void)pthread_mutex_unlock(&lock);
    return left;
}

/* ---- the exchange; with the lock held ---- */

static uint64_t page_at(const struct block *block, uint64_t at)
{
    uint64_t left = block->used_bytes - at;
    return left < PAGE_BYTES ? left : PAGE_BYTES;
}

static bool is_changed(const struct block *block, uint64_t at)
{
    return memcmp(host_of(block) + at, block->shadow + at, (size_t)page_at(block, at)) != 0;
}

/* Take the device's bytes of one piece, but for those that the program has changed. */
static void merge(struct block *block, uint64_t piece_at, const unsigned char *fresh, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += PAGE_BYTES) {
        unsigned char *host = host_of(block) + piece_at + at;
        unsigned char *shadow = block->shadow + piece_at + at;
        uint64_t bytes = page_at(block, piece_at + at);
        bool is_host_changed = is_changed(block, piece_at + at);
        if (!is_host_changed && memcmp(shadow, fresh + at, (size_t)bytes) != 0)
            memcpy(host, fresh + at, (size_t)bytes);
        for (uint64_t i = 0; i < bytes && is_host_changed; i++)
            host[i] = host[i] != shadow[i] ? host[i] : fresh[at + i];
        memcpy(shadow, fresh + at, (size_t)bytes);
    }
}

static aclError fetch(struct client_session *session, struct block *block)
{
    uint64_t piece_bytes = block->used_bytes < PIECE_BYTES ? block->used_bytes : PIECE_BYTES;
    struct soma_command command;
    if (!block->is_out)
        return ACL_SUCCESS;
    unsigned char *fresh = malloc((size_t)piece_bytes);
    if (fresh == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for managed memory");
    aclError error = ACL_SUCCESS;
    for (uint64_t at = 0; at < block->used_bytes && error == ACL_SUCCESS; at += piece_bytes) {
        uint64_t left = block->used_bytes - at;
        uint64_t size = left < piece_bytes ? left : piece_bytes;
        soma_command_init(&command, SOMA_OP_MEMORY_READ);
        soma_command_set(&command, SOMA_FIELD_device, 0);
        soma_command_set(&command, SOMA_FIELD_ptr, block->address + at);
        soma_command_set(&command, SOMA_FIELD_size, size);
        error = client_session_read(session, &command, fresh);
        if (error == ACL_SUCCESS)
            merge(block, at, fresh, size);
    }
    free(fresh);
    block->is_out = error != ACL_SUCCESS;
    return error;
}

/* Send [at, end), in which every page has changed. */
static aclError send(struct client_session *session, struct block *block, uint64_t at, uint64_t end)
{
    struct soma_command command;
    aclError error = ACL_SUCCESS;
    while (at < end && error == ACL_SUCCESS) {
        uint64_t size = end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        memcpy(block->shadow + at, host_of(block) + at, (size_t)size);
        soma_command_init(&command, SOMA_OP_MEMORY_WRITE);
        soma_command_set(&command, SOMA_FIELD_device, 0);
        soma_command_set(&command, SOMA_FIELD_ptr, block->address + at);
        command.data = (struct soma_text){(const char *)block->shadow + at, (size_t)size};
        command.present |= SOMA_HAS(data);
        error = client_session_call(session, &command, NULL);
        at += size;
    }
    return error;
}

/* Bring what the program has written to the service, which may then write. */
static aclError bring(struct client_session *session, struct block *block)
{
    uint64_t at = 0, start;
    aclError error = ACL_SUCCESS;
    while (at < block->used_bytes && !is_changed(block, at))
        at += PAGE_BYTES;
    if (at < block->used_bytes)
        error = fetch(session, block); /* first join what both have written */
    while (at < block->used_bytes && error == ACL_SUCCESS) {
        start = at;
        while (at < block->used_bytes && is_changed(block, at))
            at += page_at(block, at);
        error = send(session, block, start, at);
        while (at < block->used_bytes && !is_changed(block, at))
            at += page_at(block, at);
    }
    block->is_out = true;
    return error;
}

/* ---- around commands ---- */

static aclError bring_at(struct client_session *session, uint64_t address)
{
    struct block *block = find(address);
    return block != NULL ? bring(session, block) : ACL_SUCCESS;
}

/* Every word of the arguments that may be an address. */
static aclError bring_args(struct client_session *session, const struct soma_kernel_args *args)
{
    aclError error = ACL_SUCCESS;
    uint64_t word;
    for (size_t i = 0; i < args->count && error == ACL_SUCCESS; i++) {
        const struct soma_kernel_arg *arg = &args->items[i];
        if (arg->kind == SOMA_ARG_PTR)
            error = bring_at(session, arg->bits);
        for (size_t at = 0; arg->kind == SOMA_ARG_BYTES && at + sizeof(word) <= arg->bytes.len &&
                            error == ACL_SUCCESS;
             at += sizeof(word)) {
            memcpy(&word, arg->bytes.ptr + at, sizeof(word));
            error = bring_at(session, word);
        }
    }
    return error;
}

aclError client_managed_before(struct client_session *session, const struct soma_command *command)
{
    if (atomic_load(&block_count) == 0)
        return ACL_SUCCESS;
    aclError error = ACL_SUCCESS;
    (void)pthread_mutex_lock(&lock);
    switch ((int)command->op) {
    case SOMA_OP_STREAM_LAUNCH_KERNEL: error = bring_args(session, &command->args); break;
    case SOMA_OP_MEMORY_COPY:
    case SOMA_OP_MEMORY_REDUCE:
        error = bring_at(session, command->dst);
        if (error == ACL_SUCCESS)
            error = bring_at(session, command->src);
        break;
    case SOMA_OP_MEMORY_RANDOM:
        error = bring_at(session, command->ptr);
        if (error == ACL_SUCCESS)
            error = bring_at(session, command->counter);
        break;
    case SOMA_OP_STREAM_WRITE_VALUE:
    case SOMA_OP_STREAM_WAIT_VALUE:
    case SOMA_OP_MEMORY_SET:
    case SOMA_OP_MEMORY_WRITE:
    case SOMA_OP_MEMORY_READ: error = bring_at(session, command->ptr); break;
    default: break;
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

aclError client_managed_fetch(struct client_session *session)
{
    if (atomic_load(&block_count) == 0)
        return ACL_SUCCESS;
    aclError error = ACL_SUCCESS;
    (void)pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL && error == ACL_SUCCESS; block = block->next)
        error = fetch(session, block);
    (void)pthread_mutex_unlock(&lock);
    return error;
}

/* The program knows now that work is over. */
static bool is_wait(const struct soma_command *command, const struct soma_result *result)
{
    switch ((int)command->op) {
    case SOMA_OP_DEVICE_SYNCHRONIZE:
    case SOMA_OP_STREAM_SYNCHRONIZE:
    case SOMA_OP_EVENT_SYNCHRONIZE:
    case SOMA_OP_STREAM_DESTROY: return true;
    case SOMA_OP_STREAM_GET:
        return result == NULL || result->u.stream.status == SOMA_COMPLETION_COMPLETE;
    case SOMA_OP_EVENT_GET:
        return result == NULL || result->u.event.status == SOMA_COMPLETION_COMPLETE;
    default: return false;
    }
}

aclError client_managed_after(struct client_session *session, const struct soma_command *command,
                              const struct soma_result *result)
{
    bool fetches = atomic_load(&block_count) > 0 && is_wait(command, result);
    return fetches ? client_managed_fetch(session) : ACL_SUCCESS;
}
