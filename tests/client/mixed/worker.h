/* One thread of the mix, and what all of them share. */
#ifndef SOMA_TESTS_CLIENT_MIXED_WORKER_H
#define SOMA_TESTS_CLIENT_MIXED_WORKER_H

#include "random.h"

#include "acl/acl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_BYTES ((uint64_t)192 << 20)
enum { SHARED_POOLS = 3, OWN_BLOCKS = 8, MAILBOX = 32, STAMP_BYTES = 512 };

/* A live block, with the same bytes at its start and at its end. */
struct block {
    char *ptr;
    size_t size_bytes; /* as asked for, at least 2 * STAMP_BYTES */
    uint32_t stamp;    /* of which the bytes are made */
};

struct shared {
    aclrtContext context;
    aclrtMemPool pools[SHARED_POOLS];
    pthread_mutex_t mailbox_lock;
    struct block mailbox[MAILBOX]; /* blocks whose last owner has synchronised */
    size_t mailbox_count;
    long calls;
    atomic_long handed_over, times_full;
};

struct worker {
    pthread_t thread;
    struct shared *shared;
    uint32_t number;
    long wanted, calls;
    struct random_source random;
    bool has_failed;
    aclrtMemPool pool; /* of its own */
    aclrtStream streams[2];
    aclrtEvent event;
    char *pinned; /* STAMP_BYTES of page-locked memory */
    struct block blocks[OWN_BLOCKS];
    size_t count;
    uint32_t stamps;
};

/* A pool of POOL_BYTES; the attributes that it has depend on its number. */
bool mixed_create_pool(aclrtMemPool *pool, int number);

/* A thread's life: `user` is its struct worker. */
void *mixed_worker_run(void *user);

/* Check and free what nobody has taken. The caller has a context, and the threads are gone. */
bool mixed_empty_mailbox(struct shared *shared);

#endif
