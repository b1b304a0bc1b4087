/* Keys in a tree by their hash; completed ones in a list, oldest first. Requests behind a key that
 * is in flight stand in one list: there are few. */
#include "idempotency.h"

#include "run.h"
#include "waiters.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct idempotency_entry {
    RB_ENTRY(idempotency_entry) tree_entry;
    TAILQ_ENTRY(idempotency_entry) age_entry; /* of completed ones */
    uint64_t key_hash;
    XXH128_hash_t request_hash;
    bool is_complete;
    bool is_dropped; /* the answer is not kept */
    struct answer answer;
    size_t key_len;
    const char *key; /* right behind the struct; not NUL-terminated */
};

RB_HEAD(entry_tree, idempotency_entry);
TAILQ_HEAD(entry_list, idempotency_entry);

struct idempotency {
    pthread_mutex_t lock;
    struct entry_tree tree;
    struct entry_list completed;
    size_t completed_count;
    uint64_t bytes_kept;
    struct request_list behind;
};

static int compare_entries(const struct idempotency_entry *a, const struct idempotency_entry *b)
{
    if (a->key_hash != b->key_hash)
        return a->key_hash < b->key_hash ? -1 : 1;
    if (a->key_len != b->key_len)
        return a->key_len < b->key_len ? -1 : 1;
    return memcmp(a->key, b->key, a->key_len);
}

RB_GENERATE_INTERNAL(entry_tree, idempotency_entry, tree_entry, compare_entries,
                     __attribute__((unused)) static)

struct idempotency *idempotency_create(void)
{
    struct idempotency *keys = calloc(1, sizeof(*keys));
    if (keys == NULL)
        return NULL;
    (void)pthread_mutex_init(&keys->lock, NULL);
    RB_INIT(&keys->tree);
    TAILQ_INIT(&keys->completed);
    TAILQ_INIT(&keys->behind);
    return keys;
}

/* With the lock held, as everywhere below. */
static void free_entry(struct idempotency *keys, struct idempotency_entry *entry)
{
    RB_REMOVE(entry_tree, &keys->tree, entry);
    if (entry->is_complete) {
        TAILQ_REMOVE(&keys->completed, entry, age_entry);
        keys->completed_count--;
        keys->bytes_kept -= entry->answer.owned != NULL ? entry->answer.len : 0;
        free(entry->answer.owned);
    }
    free(entry);
}

void idempotency_destroy(struct idempotency *keys)
{
    struct idempotency_entry *entry, *next;
    if (keys == NULL)
        return;
    for (entry = RB_MIN(entry_tree, &keys->tree); entry != NULL; entry = next) {
        next = entry_tree_RB_NEXT(entry);
        free_entry(keys, entry);
    }
    (void)pthread_mutex_destroy(&keys->lock);
    free(keys);
}

/* ---- what makes a request the same ---- */

static void hash_text(XXH3_state_t *state, const char *text)
{
    if (text != NULL)
        (void)XXH3_128bits_update(state, text, strlen(text));
    (void)XXH3_128bits_update(state, "", 1);
}

static enum MHD_Result hash_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    (void)kind;
    hash_text(ctx, key);
    hash_text(ctx, value);
    return MHD_YES;
}

static XXH128_hash_t hash_request(const struct request *req)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    (void)XXH3_128bits_reset(&state);
    hash_text(&state, req->method);
    hash_text(&state, req->path);
    (void)MHD_get_connection_values(req->conn->mhd, MHD_GET_ARGUMENT_KIND, hash_argument, &state);
    hash_text(&state, NULL);
    if (req->body_len > 0)
        (void)XXH3_128bits_update(&state, req->body, req->body_len);
    return XXH3_128bits_digest(&state);
}

/* ---- answers ---- */

/* Copy an answer, its body included; false: no memory. */
static bool copy_answer(struct answer *copy, const struct answer *answer)
{
    *copy = *answer;
    if (answer->owned == NULL)
        return true;
    char *body = malloc(answer->len > 0 ? answer->len : 1);
    if (body == NULL)
        return false;
    memcpy(body, answer->body, answer->len);
    copy->body = copy->owned = body;
    return true;
}

static void drop_answer(struct idempotency *keys, struct idempotency_entry *entry)
{
    keys->bytes_kept -= entry->answer.len;
    free(entry->answer.owned);
    entry->answer = (struct answer){.http = 0};
    entry->is_dropped = true;
}

/* Keep within the limits: the oldest keys go, then the answers of the oldest that have any. */
static void evict(struct idempotency *keys)
{
    struct idempotency_entry *entry;
    while (keys->completed_count > SOMA_IDEMPOTENCY_KEYS_KEPT)
        free_entry(keys, TAILQ_FIRST(&keys->completed));
    for (entry = TAILQ_FIRST(&keys->completed);
         entry != NULL && keys->bytes_kept > SOMA_IDEMPOTENCY_BYTES_KEPT;
         entry = TAILQ_NEXT(entry, age_entry)) {
        if (entry->answer.owned != NULL)
            drop_answer(keys, entry);
    }
}

static void complete(struct idempotency *keys, struct idempotency_entry *entry,
                     const struct answer *answer)
{
    entry->is_complete = true;
    TAILQ_INSERT_TAIL(&keys->completed, entry, age_entry);
    keys->completed_count++;
    if (copy_answer(&entry->answer, answer)) {
        keys->bytes_kept += entry->answer.owned != NULL ? entry->answer.len : 0;
    } else {
        entry->answer = (struct answer){.http = 0};
        entry->is_dropped = true;
    }
    evict(keys);
}

/* ---- the life of a key ---- */

static struct idempotency_entry *find_entry(struct idempotency *keys, struct soma_text key,
                                            uint64_t key_hash)
{
    struct idempotency_entry wanted = {.key_hash = key_hash, .key_len = key.len, .key = key.ptr};
    return RB_FIND(entry_tree, &keys->tree, &wanted);
}

static enum idempotency_outcome start(struct idempotency *keys, struct request *req,
                                      uint64_t key_hash, XXH128_hash_t request_hash,
                                      struct soma_error *error)
{
    struct idempotency_entry *entry = calloc(1, sizeof(*entry) + req->key.len);
    if (entry == NULL) {
        (void)soma_fail(error, SOMA_OUT_OF_MEMORY, "", "no memory for an Idempotency-Key");
        return IDEMPOTENCY_REFUSED;
    }
    entry->key_hash = key_hash;
    entry->request_hash = request_hash;
    entry->key_len = req->key.len;
    entry->key = (const char *)(entry + 1);
    memcpy(entry + 1, req->key.ptr, req->key.len);
    (void)entry_tree_RB_INSERT(&keys->tree, entry);
    req->entry = entry;
    return IDEMPOTENCY_RUN;
}

static enum idempotency_outcome replay(const struct idempotency_entry *entry, struct answer *answer,
                                       struct soma_error *error)
{
    if (entry->is_dropped || !copy_answer(answer, &entry->answer)) {
        (void)soma_fail(error, SOMA_ANSWER_NOT_KEPT, "",
                        "the request with this Idempotency-Key ran before, and is not run again; "
                        "its answer was too large to keep");
        return IDEMPOTENCY_REFUSED;
    }
    answer->is_replay = true;
    return IDEMPOTENCY_REPLAY;
}

static enum idempotency_outcome park(struct idempotency *keys, struct idempotency_entry *entry,
                                     struct request *req, struct soma_error *error)
{
    if (!request_park(req)) {
        (void)soma_fail(error, SOMA_DRAINING, "", "the server is going down");
        return IDEMPOTENCY_REFUSED;
    }
    req->behind = entry;
    req->wait.due_ns = UINT64_MAX;
    TAILQ_INSERT_TAIL(&keys->behind, req, queue_entry);
    waiters_add(req->conn->server->waiters, req);
    return IDEMPOTENCY_PARKED;
}

enum idempotency_outcome idempotency_begin(struct idempotency *keys, struct request *req,
                                           struct answer *answer, struct soma_error *error)
{
    uint64_t key_hash = XXH3_64bits(req->key.ptr, req->key.len);
    XXH128_hash_t request_hash = hash_request(req);
    enum idempotency_outcome outcome = IDEMPOTENCY_REFUSED;
    (void)pthread_mutex_lock(&keys->lock);
    struct idempotency_entry *entry = find_entry(keys, req->key, key_hash);
    if (entry == NULL)
        outcome = start(keys, req, key_hash, request_hash, error);
    else if (!XXH128_isEqual(entry->request_hash, request_hash))
        (void)soma_fail(error, SOMA_IDEMPOTENCY_KEY_REUSED, "",
                        "Idempotency-Key \"%.*s\" came with another request before; every "
                        "request needs its own",
                        (int)req->key.len, req->key.ptr);
    else if (entry->is_complete)
        outcome = replay(entry, answer, error);
    else
        outcome = park(keys, entry, req, error);
    (void)pthread_mutex_unlock(&keys->lock);
    return outcome;
}

/* Wake those behind the entry; those of gone clients when entry is NULL. */
static void wake_behind(struct idempotency *keys, const struct idempotency_entry *entry)
{
    struct request *next, *req = TAILQ_FIRST(&keys->behind);
    for (; req != NULL; req = next) {
        next = TAILQ_NEXT(req, queue_entry);
        if (entry != NULL ? req->behind != entry : !atomic_load(&req->wait.is_gone))
            continue;
        TAILQ_REMOVE(&keys->behind, req, queue_entry);
        req->behind = NULL;
        waiters_remove(req->conn->server->waiters, req);
        request_wake(req);
    }
}

void idempotency_end(struct idempotency *keys, struct request *req)
{
    struct idempotency_entry *entry = req->entry;
    (void)pthread_mutex_lock(&keys->lock);
    req->entry = NULL;
    wake_behind(keys, entry);
    if (req->is_abandoned)
        free_entry(keys, entry);
    else
        complete(keys, entry, &req->answer);
    (void)pthread_mutex_unlock(&keys->lock);
}

void idempotency_wake_gone(struct idempotency *keys)
{
    (void)pthread_mutex_lock(&keys->lock);
    wake_behind(keys, NULL);
    (void)pthread_mutex_unlock(&keys->lock);
}
