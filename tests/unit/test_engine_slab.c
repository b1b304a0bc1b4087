/* Slabs: objects that never overlap, chunks that grow and go back, memory that runs out. */
#include "expect.h"
#include "random.h"
#include "slab.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 3000, ROUNDS = 40000 };

/* A host that counts, and that has memory for `left` more requests. */
struct host {
    long live, left;
    size_t largest;
};

static void *host_alloc(void *ctx, size_t size_bytes)
{
    struct host *host = ctx;
    void *ptr = host->left-- > 0 ? malloc(size_bytes) : NULL;
    if (ptr == NULL)
        return NULL;
    memset(ptr, 0xa5, size_bytes);
    host->live++;
    host->largest = size_bytes > host->largest ? size_bytes : host->largest;
    return ptr;
}

static void host_release(void *ctx, void *ptr)
{
    struct host *host = ctx;
    host->live--;
    free(ptr);
}

static bool is_filled(const unsigned char *object, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++) {
        if (object[i] != value)
            return false;
    }
    return true;
}

/* Objects come zeroed and keep what is written into them while others come and go. */
static void test_random(void)
{
    static unsigned char *objects[OBJECTS];
    static const size_t sizes[] = {8, 72, 528};
    for (size_t row = 0; row < sizeof(sizes) / sizeof(sizes[0]); row++) {
        struct host host = {.left = ROUNDS};
        struct engine_mem mem = {&host, host_alloc, host_release};
        struct slab slab = {.object_bytes = sizes[row]};
        struct random_source source = {row + 1};
        size_t count = 0, wrong = 0;
        memset(objects, 0, sizeof(objects));
        for (int round = 0; round < ROUNDS; round++) {
            size_t i = (size_t)random_below(&source, OBJECTS);
            unsigned char value = (unsigned char)(i % 251 + 1);
            if (objects[i] == NULL) {
                objects[i] = slab_take(&slab, &mem);
                wrong += objects[i] == NULL || !is_filled(objects[i], sizes[row], 0);
                memset(objects[i], value, sizes[row]);
                count++;
            } else {
                wrong += !is_filled(objects[i], sizes[row], value);
                slab_give(&slab, &mem, objects[i]);
                objects[i] = NULL;
                count--;
            }
        }
        EXPECT(wrong == 0 && slab.count == count, "%zu bytes: %zu of %zu are wrong", sizes[row],
               wrong, slab.count);
        EXPECT(host.live > 0 && (size_t)host.live < count / 8, "%ld chunks for %zu objects",
               host.live, count);
        for (size_t i = 0; i < OBJECTS; i++) {
            if (objects[i] != NULL)
                slab_give(&slab, &mem, objects[i]);
        }
        EXPECT(host.live == 0 && slab.count == 0 && slab.open == NULL, "all chunks go back");
    }
}

/* Few objects cost little; the largest chunks have the size that is told. */
static void test_sizes(void)
{
    enum { MANY = 200000 };
    struct host host = {.left = 1000};
    struct engine_mem mem = {&host, host_alloc, host_release};
    struct slab slab = {.object_bytes = 72};
    void **objects = malloc(MANY * sizeof(*objects));
    if (!EXPECT(objects != NULL, "memory"))
        return;
    objects[0] = slab_take(&slab, &mem);
    EXPECT(host.largest <= 4 * 80 + 64, "%zu bytes for the first object", host.largest);
    for (size_t i = 1; i < MANY; i++)
        objects[i] = slab_take(&slab, &mem);
    EXPECT(host.largest == SLAB_CHUNK_BYTES, "%zu bytes in the largest chunk", host.largest);
    EXPECT(host.live < 60, "%ld chunks", host.live);
    for (size_t i = 0; i < MANY; i++)
        slab_give(&slab, &mem, objects[i]);
    EXPECT(host.live == 0, "all chunks go back");
    free(objects);
}

static void test_no_memory(void)
{
    struct host host = {.left = 1};
    struct engine_mem mem = {&host, host_alloc, host_release};
    struct slab slab = {.object_bytes = 16};
    void *objects[16];
    size_t count = 0;
    while (count < 16 && (objects[count] = slab_take(&slab, &mem)) != NULL)
        count++;
    EXPECT(count > 0 && count < 16 && slab.count == count, "%zu objects of one chunk", count);
    void *other = objects[--count];
    slab_give(&slab, &mem, other);
    EXPECT(slab_take(&slab, &mem) == other, "what was given back is there again");
    count++;
    EXPECT(slab_take(&slab, &mem) == NULL, "and no more");
    while (count > 0)
        slab_give(&slab, &mem, objects[--count]);
    EXPECT(host.live == 0, "the chunk goes back");
}

static const struct soma_test tests[] = {
    {"objects keep what is written", test_random},
    {"sizes of chunks", test_sizes},
    {"no memory", test_no_memory},
    {NULL, NULL},
};

const struct soma_suite suite_engine_slab = {"engine_slab", tests};
