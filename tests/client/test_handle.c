/* The table of handles. */
#include "client_fixture.h"
#include "handle.h"
#include "suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void *add(enum client_kind kind, uint64_t id)
{
    struct client_object object = {.kind = kind, .id = id};
    void *handle = client_handle_add(&object);
    (void)EXPECT(handle != NULL && object.handle == handle, "no handle");
    return handle;
}

static void test_finds_what_was_added(void)
{
    struct client_object object;
    void *handle = add(CLIENT_STREAM, 42);
    (void)EXPECT(client_handle_get(CLIENT_STREAM, handle, &object) && object.id == 42, "not found");
    object.id = 43;
    (void)EXPECT(client_handle_put(&object), "not replaced");
    (void)EXPECT(client_handle_remove(CLIENT_STREAM, handle, &object) && object.id == 43, "not 43");
}

static void test_refuses_all_else(void)
{
    struct client_object object = {.id = 7};
    void *handle = add(CLIENT_STREAM, 1);
    (void)EXPECT(!client_handle_get(CLIENT_EVENT, handle, &object), "a stream is no event");
    (void)EXPECT(!client_handle_get(CLIENT_STREAM, NULL, &object), "NULL");
    for (unsigned i = 0; i < made_up_count; i++) {
        for (int kind = CLIENT_CONTEXT; kind <= CLIENT_BUFFER; kind++)
            (void)EXPECT(!client_handle_get((enum client_kind)kind, made_up[i], &object),
                         "%p is a handle of kind %d", made_up[i], kind);
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        void *near = (void *)((uintptr_t)handle ^ ((uintptr_t)1 << bit));
        (void)EXPECT(!client_handle_get(CLIENT_STREAM, near, &object), "bit %u does not matter",
                     bit);
    }
    (void)EXPECT(object.id == 7, "a miss wrote something");
    (void)client_handle_remove(CLIENT_STREAM, handle, NULL);
}

static void test_a_destroyed_handle_never_comes_back(void)
{
    void *old = add(CLIENT_POOL, 1);
    (void)EXPECT(client_handle_remove(CLIENT_POOL, old, NULL), "removed");
    (void)EXPECT(!client_handle_remove(CLIENT_POOL, old, NULL), "removed twice");
    struct client_object stale = {.kind = CLIENT_POOL, .handle = old};
    (void)EXPECT(!client_handle_put(&stale), "put back");
    for (unsigned i = 0; i < 2000; i++) {
        void *handle = add(CLIENT_POOL, i);
        (void)EXPECT(handle != old, "the same handle again");
        (void)client_handle_remove(CLIENT_POOL, handle, NULL);
    }
}

static void test_many_at_once(void)
{
    enum { COUNT = 3000 };
    static void *handles[COUNT];
    struct client_object object;
    for (uint64_t i = 0; i < COUNT; i++)
        handles[i] = add(i % 2 == 0 ? CLIENT_STREAM : CLIENT_EVENT, i);
    for (uint64_t i = 0; i < COUNT; i++) {
        enum client_kind kind = i % 2 == 0 ? CLIENT_STREAM : CLIENT_EVENT;
        (void)EXPECT(client_handle_get(kind, handles[i], &object) && object.id == i, "%d", (int)i);
        (void)client_handle_remove(kind, handles[i], NULL);
    }
}

static bool has_id_over(const struct client_object *object, const void *user)
{
    return object->kind == CLIENT_EVENT && object->id > *(const uint64_t *)user;
}

static void test_find_and_remove_all(void)
{
    struct client_object object;
    void *handles[10];
    uint64_t limit = 1006;
    for (uint64_t i = 0; i < 10; i++)
        handles[i] = add(CLIENT_EVENT, 1000 + i);
    (void)EXPECT(client_handle_find(has_id_over, &limit, &object) && object.id > limit, "found");
    client_handle_remove_all(has_id_over, &limit);
    (void)EXPECT(!client_handle_find(has_id_over, &limit, &object), "none is left");
    for (uint64_t i = 0; i < 10; i++)
        (void)EXPECT(client_handle_remove(CLIENT_EVENT, handles[i], NULL) == (i <= 6), "%d",
                     (int)i);
}

struct race {
    void *handle;
    atomic_int winners;
    pthread_barrier_t start;
};

static void *racer(void *user)
{
    struct race *race = user;
    (void)pthread_barrier_wait(&race->start);
    if (client_handle_remove(CLIENT_STREAM, race->handle, NULL))
        atomic_fetch_add(&race->winners, 1);
    return NULL;
}

static void test_one_thread_removes(void)
{
    struct race race;
    pthread_t threads[4];
    for (unsigned round = 0; round < 50; round++) {
        race.handle = add(CLIENT_STREAM, round);
        atomic_init(&race.winners, 0);
        (void)pthread_barrier_init(&race.start, NULL, 4);
        for (size_t i = 0; i < 4; i++)
            (void)pthread_create(&threads[i], NULL, racer, &race);
        for (size_t i = 0; i < 4; i++)
            (void)pthread_join(threads[i], NULL);
        (void)pthread_barrier_destroy(&race.start);
        (void)EXPECT(atomic_load(&race.winners) == 1, "%d winners", atomic_load(&race.winners));
    }
}

static const struct client_test tests[] = {
    {"finds what was added", test_finds_what_was_added},
    {"refuses NULL, other kinds, made-up and near misses", test_refuses_all_else},
    {"a destroyed handle never comes back", test_a_destroyed_handle_never_comes_back},
    {"many at once", test_many_at_once},
    {"find and remove all", test_find_and_remove_all},
    {"of many threads one removes", test_one_thread_removes},
    {NULL, NULL},
};
const struct client_suite suite_handle = {"handle", tests};
