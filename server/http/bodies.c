/* A short list, the last one given back first: it is the warmest. One is taken only for a body that
 * is laid out alike: of a larger one pages could be exchanged in parts only, which would split it,
 * and bodies come in few sizes. */
#include "bodies.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct kept_body {
    struct body body; /* owned */
    bool is_old;      /* it was there at the last sweep */
};

struct bodies {
    size_t system_page_bytes; /* constant */
    pthread_mutex_t lock;     /* guards the rest */
    unsigned count;
    struct kept_body kept[BODIES_KEPT];
};

struct bodies *bodies_create(void)
{
    struct bodies *bodies = calloc(1, sizeof(*bodies));
    if (bodies == NULL)
        return NULL;
    bodies->system_page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    (void)pthread_mutex_init(&bodies->lock, NULL);
    return bodies;
}

static void unmap(struct body *body)
{
    if (body->map != NULL)
        (void)munmap(body->map, body->map_bytes);
    *body = (struct body){0};
}

void bodies_destroy(struct bodies *bodies)
{
    if (bodies == NULL)
        return;
    for (unsigned i = 0; i < bodies->count; i++)
        unmap(&bodies->kept[i].body);
    (void)pthread_mutex_destroy(&bodies->lock);
    free(bodies);
}

static bool is_kept_size(size_t bytes)
{
    return bytes >= BODIES_BYTES_MIN && bytes <= BODIES_BYTES_MAX;
}

/* With the lock held. */
static struct body remove_at(struct bodies *bodies, unsigned place)
{
    struct body body = bodies->kept[place].body;
    bodies->count--;
    for (unsigned i = place; i < bodies->count; i++)
        bodies->kept[i] = bodies->kept[i + 1];
    return body;
}

/* As it would be made for such a body, without its addresses: pages is a place in the mapping. */
static struct body lay_out(const struct bodies *bodies, size_t bytes, bool ends, size_t *pages_at)
{
    size_t page = bodies->system_page_bytes;
    struct body body = {.map_bytes = (bytes + page - 1) / page * page};
    *pages_at = ends ? page : 0;
    body.page_bytes = (ends ? body.map_bytes : bytes / page * page) - *pages_at;
    return body;
}

static bool is_alike(const struct body *body, const struct body *wanted, size_t pages_at)
{
    return body->map_bytes == wanted->map_bytes && body->page_bytes == wanted->page_bytes &&
           (size_t)(body->pages - body->map) == pages_at;
}

/* A kept one; its map is NULL when there is none. */
static struct body take_kept(struct bodies *bodies, const struct body *wanted, size_t pages_at)
{
    struct body found = {0};
    (void)pthread_mutex_lock(&bodies->lock);
    for (unsigned i = bodies->count; i > 0 && found.map == NULL; i--) {
        if (is_alike(&bodies->kept[i - 1].body, wanted, pages_at))
            found = remove_at(bodies, i - 1);
    }
    (void)pthread_mutex_unlock(&bodies->lock);
    return found;
}

char *bodies_take(struct bodies *bodies, size_t bytes, bool ends, struct body *body)
{
    size_t pages_at;
    struct body wanted = lay_out(bodies, bytes, ends, &pages_at);
    struct body taken = {0};
    if (is_kept_size(wanted.map_bytes))
        taken = take_kept(bodies, &wanted, pages_at);
    if (taken.map == NULL) {
        void *map = mmap(NULL, wanted.map_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED)
            return NULL;
        taken = wanted;
        taken.map = map;
        taken.pages = taken.map + pages_at;
    }
    *body = taken;
    return taken.map + (ends ? taken.map_bytes - bytes : 0);
}

void bodies_give(struct bodies *bodies, struct body *body)
{
    struct body gone = *body;
    *body = (struct body){0};
    if (is_kept_size(gone.map_bytes)) {
        struct kept_body given = {gone, false};
        (void)pthread_mutex_lock(&bodies->lock);
        gone = bodies->count == BODIES_KEPT ? remove_at(bodies, 0) : *body;
        bodies->kept[bodies->count++] = given;
        (void)pthread_mutex_unlock(&bodies->lock);
    }
    unmap(&gone);
}

bool bodies_can_exchange(const struct body *body, const void *bytes, size_t len)
{
    return body->map != NULL && body->page_bytes > 0 && bytes == body->pages &&
           len >= body->page_bytes && len - body->page_bytes < (size_t)sysconf(_SC_PAGESIZE);
}

void bodies_sweep(struct bodies *bodies)
{
    (void)pthread_mutex_lock(&bodies->lock);
    for (unsigned i = bodies->count; i > 0; i--) {
        if (bodies->kept[i - 1].is_old) {
            struct body body = remove_at(bodies, i - 1);
            unmap(&body);
        } else {
            bodies->kept[i - 1].is_old = true;
        }
    }
    (void)pthread_mutex_unlock(&bodies->lock);
}
