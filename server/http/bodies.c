/* A short list, the last one given back first: it is the warmest. */
#include "bodies.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define STEP_BYTES ((size_t)1 << 20) /* capacities are multiples of it */

struct kept_body {
    void *ptr; /* owned */
    size_t capacity;
    bool is_old; /* it was there at the last sweep */
};

struct bodies {
    pthread_mutex_t lock; /* guards the rest */
    unsigned count;
    struct kept_body kept[BODIES_KEPT];
};

struct bodies *bodies_create(void)
{
    struct bodies *bodies = calloc(1, sizeof(*bodies));
    if (bodies != NULL)
        (void)pthread_mutex_init(&bodies->lock, NULL);
    return bodies;
}

void bodies_destroy(struct bodies *bodies)
{
    if (bodies == NULL)
        return;
    for (unsigned i = 0; i < bodies->count; i++)
        free(bodies->kept[i].ptr);
    (void)pthread_mutex_destroy(&bodies->lock);
    free(bodies);
}

static bool is_kept_size(size_t bytes)
{
    return bytes >= BODIES_BYTES_MIN && bytes <= BODIES_BYTES_MAX;
}

/* With the lock held. */
static struct kept_body remove_at(struct bodies *bodies, unsigned place)
{
    struct kept_body body = bodies->kept[place];
    bodies->count--;
    for (unsigned i = place; i < bodies->count; i++)
        bodies->kept[i] = bodies->kept[i + 1];
    return body;
}

void *bodies_take(struct bodies *bodies, size_t bytes, size_t *capacity)
{
    struct kept_body body = {NULL, bytes, false};
    if (is_kept_size(bytes)) {
        (void)pthread_mutex_lock(&bodies->lock);
        for (unsigned i = bodies->count; i > 0 && body.ptr == NULL; i--) {
            if (bodies->kept[i - 1].capacity >= bytes)
                body = remove_at(bodies, i - 1);
        }
        (void)pthread_mutex_unlock(&bodies->lock);
    }
    if (body.ptr == NULL && is_kept_size(bytes))
        body.capacity = (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    if (body.ptr == NULL)
        body.ptr = malloc(body.capacity);
    if (body.ptr != NULL)
        *capacity = body.capacity;
    return body.ptr;
}

void bodies_give(struct bodies *bodies, void *ptr, size_t capacity)
{
    bool is_kept = false;
    if (is_kept_size(capacity)) {
        (void)pthread_mutex_lock(&bodies->lock);
        is_kept = bodies->count < BODIES_KEPT;
        if (is_kept)
            bodies->kept[bodies->count++] = (struct kept_body){ptr, capacity, false};
        (void)pthread_mutex_unlock(&bodies->lock);
    }
    if (!is_kept)
        free(ptr);
}

void bodies_sweep(struct bodies *bodies)
{
    (void)pthread_mutex_lock(&bodies->lock);
    for (unsigned i = bodies->count; i > 0; i--) {
        if (bodies->kept[i - 1].is_old)
            free(remove_at(bodies, i - 1).ptr);
        else
            bodies->kept[i - 1].is_old = true;
    }
    (void)pthread_mutex_unlock(&bodies->lock);
}
