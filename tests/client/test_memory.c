/* Device and host memory, copies and fills. */
#include "client_fixture.h"
#include "suites.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void test_malloc_rules(void)
{
    static const int policies[] = {0, 1, 2, 3, 4, 5, 6, 7, 256, 256 + 1, 4096 + 2, 1048576};
    void *ptr = &ptr;
    size_t free_bytes = 0, total = 0, later = 0;
    fixture_begin();
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&ptr, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&ptr, 8, (aclrtMemMallocPolicy)8));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&ptr, 8, (aclrtMemMallocPolicy)-1));
    (void)GIVES(ACL_ERROR_RT_MEMORY_ALLOCATION,
                aclrtMalloc(&ptr, (size_t)65 << 30, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)EXPECT(ptr == &ptr, "a refusal wrote the output");
    (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    (void)EXPECT(total == (size_t)64 << 30 && free_bytes == total, "%zu of %zu", free_bytes, total);
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 2 * MIB, (aclrtMemMallocPolicy)policies[i]));
        (void)EXPECT((uintptr_t)ptr % (2 * MIB) == 0, "%p", ptr);
        (void)GIVES(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &later, &total));
        (void)EXPECT(free_bytes - later == 2 * MIB, "%zu", free_bytes - later);
        (void)GIVES(ACL_SUCCESS, aclrtFree(ptr));
    }
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtMallocAlign32(&ptr, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFree((char *)ptr + 32));
    (void)GIVES(ACL_SUCCESS, aclrtFreeWithDevSync(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtMallocCached(&ptr, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemFlush(ptr, 32));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtMemInvalidate(ptr, 33));
    aclrtMallocAttribute attribute = {ACL_RT_MEM_ATTR_DEVICE_ID, {.deviceId = 1}};
    aclrtMallocConfig config = {&attribute, 1};
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtMallocWithCfg(&ptr, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    attribute.value.deviceId = 0;
    (void)GIVES(ACL_SUCCESS, aclrtMallocWithCfg(&ptr, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    fixture_end();
}

static void test_host_memory(void)
{
    void *ptr = NULL, *base = NULL;
    size_t size = 0;
    aclrtPtrAttributes attributes;
    fixture_begin();
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&ptr, 0));
    (void)GIVES(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocHost(&ptr, SIZE_MAX / 2));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&ptr, 1000));
    (void)EXPECT((uintptr_t)ptr % 64 == 0, "%p", ptr);
    memset(ptr, 1, 1000);
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes((char *)ptr + 999, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST, "page-locked");
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes(&ptr, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED, "ordinary");
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAddressRange((char *)ptr + 10, &base, &size));
    (void)EXPECT(base == ptr && size == 1000, "%p, %zu", base, size);
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost((char *)ptr + 1));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(&ptr));
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(ptr));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(ptr));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHostWithCfg(&ptr, 8, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtFreeHostWithDevSync(ptr));
    fixture_end();
}

static void test_what_an_address_is(void)
{
    void *ptr = NULL, *base = NULL;
    size_t size = 0;
    uint32_t result = 7;
    aclrtPtrAttributes attributes;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(3));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtPointerGetAttributes((char *)ptr + MIB, &attributes));
    (void)EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE &&
                     attributes.location.id == 3 && attributes.pageSize == 2 * MIB,
                 "type %d, device %u", (int)attributes.location.type, attributes.location.id);
    (void)GIVES(ACL_SUCCESS, aclrtMemGetAddressRange((char *)ptr + MIB, &base, &size));
    (void)EXPECT(base == ptr && size >= 3 * MIB, "%p, %zu", base, size);
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAddressRange(&size, &base, &size));
    void *list[] = {ptr, (char *)ptr + 5};
    (void)GIVES(ACL_SUCCESS, aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    (void)EXPECT(result == 1, "%u", result);
    list[1] = &size;
    (void)GIVES(ACL_SUCCESS, aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    (void)EXPECT(result == 0, "%u", result);
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtCheckMemType(list, 0, 2, &result, 0));
    fixture_end();
}

static void test_copy_rules(void)
{
    char from[128] = "0123456789", to[64];
    void *ptr = NULL;
    aclrtStream stream = NULL;
    fixture_begin();
    enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(PARAM, aclrtMemcpy(NULL, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(PARAM, aclrtMemcpy(ptr, 8, NULL, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(ptr, 8, from, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)8));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(NULL, 0, NULL, 0, ACL_MEMCPY_DEFAULT, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy2d(NULL, 0, NULL, 0, 4, 0, ACL_MEMCPY_DEFAULT));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy2dAsync(NULL, 0, NULL, 0, 0, 4, ACL_MEMCPY_DEFAULT, NULL));
    (void)GIVES(PARAM, aclrtMemcpy(ptr, 8, from, 8, (aclrtMemcpyKind)8));
    (void)GIVES(BAD, aclrtMemcpy(ptr, 8, from, 9, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)SAYS("destMax");
    (void)GIVES(BAD, aclrtMemcpy(ptr, 65, from, 65, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(BAD, aclrtMemcpy((char *)ptr + 64, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(BAD, aclrtMemcpy(to, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(BAD, aclrtMemcpy(to, 8, from, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)GIVES(BAD, aclrtMemcpyAsync(ptr, 8, from, 9, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(ptr, 64, from, 10, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, 64, ptr, 10, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(memcmp(from, to, 10) == 0, "there and back");
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy((char *)ptr + 2, 62, ptr, 8, ACL_MEMCPY_DEVICE_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, 64, ptr, 10, ACL_MEMCPY_DEFAULT));
    (void)EXPECT(memcmp(to, "0101234567", 10) == 0, "overlapping: %.10s", to);
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, 64, from, 10, ACL_MEMCPY_HOST_TO_HOST));
    (void)EXPECT(memcmp(from, to, 10) == 0, "host to host");
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to + 20, 40, to, 10, ACL_MEMCPY_DEFAULT));
    (void)EXPECT(memcmp(from, to + 20, 10) == 0, "host to host by default");
    fixture_end();
}

/* Pageable memory may be changed when the call has returned. */
static void test_async_copies(void)
{
    char from[64] = "first", to[64] = "";
    void *ptr = NULL, *pinned = NULL;
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, 64));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyAsync(ptr, 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    memcpy(from, "later", 5);
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(to, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    (void)EXPECT(same_words(to, "first"), "%s", to);
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpyAsync(pinned, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(ptr, 64, pinned, 64, ACL_MEMCPY_DEFAULT, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(same_words(pinned, "first"), "%s", (char *)pinned);
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    fixture_end();
}

static aclrtStreamStatus status_of(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    (void)GIVES(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    return status;
}

/* Copies of 32 KiB take longer than the host's next call. */
static void test_when_copies_are_done(void)
{
    enum { BYTES = 1 << 15 };
    static const struct {
        bool to_device, is_pinned, is_matrix;
        aclrtStreamStatus status;
        const char *what;
    } rows[] = {
        {true, false, false, ACL_STREAM_STATUS_COMPLETE, "from ordinary memory"},
        {false, false, false, ACL_STREAM_STATUS_COMPLETE, "to ordinary memory"},
        {true, true, false, ACL_STREAM_STATUS_NOT_READY, "from page-locked memory"},
        {false, true, false, ACL_STREAM_STATUS_NOT_READY, "to page-locked memory"},
        {true, false, true, ACL_STREAM_STATUS_COMPLETE, "a matrix from ordinary memory"},
        {false, true, true, ACL_STREAM_STATUS_NOT_READY, "a matrix to page-locked memory"},
    };
    static char ordinary[BYTES];
    void *ptr = NULL, *pinned = NULL;
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMallocHost(&pinned, BYTES));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *host = rows[i].is_pinned ? pinned : ordinary;
        void *to = rows[i].to_device ? ptr : host, *from = rows[i].to_device ? host : ptr;
        aclError error = rows[i].is_matrix
                             ? aclrtMemcpy2dAsync(to, BYTES / 8, from, BYTES / 8, BYTES / 8, 8,
                                                  ACL_MEMCPY_DEFAULT, stream)
                             : aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEFAULT, stream);
        (void)EXPECT(error == ACL_SUCCESS, "%s: %d", rows[i].what, error);
        (void)EXPECT(status_of(stream) == rows[i].status, "%s: when is it done?", rows[i].what);
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    }
    /* Part of the page-locked block, and beyond its end. */
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync((char *)pinned + BYTES / 2, BYTES / 2, ptr, BYTES / 2,
                                              ACL_MEMCPY_DEVICE_TO_HOST, stream));
    (void)EXPECT(status_of(stream) == ACL_STREAM_STATUS_NOT_READY, "a part of a block");
    (void)GIVES(ACL_SUCCESS, aclrtFreeHost(pinned));
    fixture_end();
}

/* A copy of ordinary memory waits for its stream, and is no synchronisation for the pools. */
static void test_copies_release_nothing(void)
{
    static char ordinary[1 << 15];
    void *block = NULL, *ptr = NULL;
    aclrtStream stream = NULL;
    uint64_t reserved = 0;
    fixture_begin();
    aclrtMemPool pool = make_pool(8 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, sizeof(ordinary), ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&block, 4 * MIB, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(block, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpyAsync(ptr, sizeof(ordinary), ordinary, sizeof(ordinary),
                                              ACL_MEMCPY_HOST_TO_DEVICE, stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    (void)EXPECT(reserved == 4 * MIB, "%llu", (unsigned long long)reserved);
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    (void)EXPECT(reserved == 0, "%llu", (unsigned long long)reserved);
    fixture_end();
}

struct reader {
    aclrtContext context;
    aclrtStream stream;
    const void *from;
    char to[8];
    atomic_bool has_begun;
    aclError error;
};

static void *read_behind_a_wait(void *user)
{
    struct reader *reader = user;
    reader->error = aclrtSetCurrentContext(reader->context);
    atomic_store(&reader->has_begun, true);
    if (reader->error == ACL_SUCCESS)
        reader->error = aclrtMemcpyAsync(reader->to, sizeof(reader->to), reader->from, 8,
                                         ACL_MEMCPY_DEVICE_TO_HOST, reader->stream);
    return NULL;
}

/* A stream that waits for an event holds up a copy to ordinary memory until the event comes. */
static void test_copy_behind_a_wait(void)
{
    struct reader reader = {.error = ACL_SUCCESS};
    aclrtStream other = NULL;
    aclrtEvent event = NULL;
    void *ptr = NULL;
    pthread_t thread;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(ptr, 8, 'a', 8));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&reader.stream));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GIVES(ACL_SUCCESS, aclrtResetEvent(event, other));
    (void)GIVES(ACL_SUCCESS, aclrtStreamWaitEvent(reader.stream, event));
    (void)GIVES(ACL_SUCCESS, aclrtGetCurrentContext(&reader.context));
    reader.from = ptr;
    if (EXPECT(pthread_create(&thread, NULL, read_behind_a_wait, &reader) == 0, "a thread")) {
        while (!atomic_load(&reader.has_begun))
            (void)sched_yield();
        for (int i = 0; i < 50; i++)
            (void)status_of(other); /* time for a copy that does not wait */
        (void)GIVES(ACL_SUCCESS, aclrtMemset(ptr, 8, 'b', 8));
        (void)GIVES(ACL_SUCCESS, aclrtRecordEvent(event, other));
        (void)pthread_join(thread, NULL);
    }
    (void)EXPECT(reader.error == ACL_SUCCESS, "%d", reader.error);
    (void)EXPECT(memcmp(reader.to, "bbbbbbbb", 8) == 0, "read before the event: %.8s", reader.to);
    fixture_end();
}

static void test_fills(void)
{
    char host[64] = "";
    uint32_t words[16];
    void *ptr = NULL;
    fixture_begin();
    enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(PARAM, aclrtMemset(NULL, 8, 1, 8));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(NULL, 0, 1, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(ptr, 8, 1, 0, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetD32(NULL, 0, 1, 0));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetD32Async(NULL, 0, 1, 0, NULL));
    (void)GIVES(PARAM, aclrtMemsetD32((char *)ptr + 1, 8, 1, 1));
    (void)GIVES(BAD, aclrtMemset(ptr, 8, 1, 9));
    (void)GIVES(BAD, aclrtMemset(ptr, 65, 1, 65));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(ptr, 64, 0x1ab, 64)); /* the low byte counts */
    (void)GIVES(ACL_SUCCESS, aclrtMemsetAsync(ptr, 64, -1, 8, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(host, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT((unsigned char)host[7] == 0xff && (unsigned char)host[8] == 0xab, "bytes");
    (void)GIVES(ACL_SUCCESS, aclrtMemset(host, 64, 'x', 64));
    (void)EXPECT(host[63] == 'x', "memory of the host");
    (void)GIVES(PARAM, aclrtMemsetD32(ptr, 63, 7, 16));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetD32(ptr, 64, 0x01020304, 16));
    (void)GIVES(ACL_SUCCESS, aclrtMemsetD32Async(ptr, 64, 0x07070707, 4, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(words, 64, ptr, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(words[0] == 0x07070707 && words[3] == 0x07070707 && words[4] == 0x01020304 &&
                     words[15] == 0x01020304,
                 "words: %x %x", words[0], words[4]);
    fixture_end();
}

static void test_matrices(void)
{
    char from[4][8], to[4][8];
    void *ptr = NULL;
    aclrtStream stream = NULL;
    fixture_begin();
    memset(from, 'a', sizeof(from));
    memset(from[2], 'c', 8);
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_ERROR_INVALID_PARAM,
                aclrtMemcpy2d(ptr, 4, from, 8, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy2d(ptr, 32, from, 8, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy2d(ptr, SIZE_MAX, from, 8, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemset(ptr, 64, '-', 64));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy2d(ptr, 16, from, 8, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(to, '.', sizeof(to));
    (void)GIVES(ACL_SUCCESS,
                aclrtMemcpy2dAsync(to, 8, ptr, 16, 6, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    (void)EXPECT(memcmp(to[0], "aaaaa-..", 8) == 0 && memcmp(to[2], "ccccc-..", 8) == 0,
                 "%.8s, %.8s", to[0], to[2]);
    fixture_end();
}

/* Larger than one piece, and between two devices. */
static void test_large_copies(void)
{
    const size_t size = 130 * MIB + 12345;
    char *from = malloc(size), *to = calloc(1, size);
    void *a = NULL, *b = NULL;
    fixture_begin();
    if (!EXPECT(from != NULL && to != NULL, "memory"))
        return;
    for (size_t i = 0; i < size; i += 4096)
        from[i] = (char)(i >> 12);
    from[size - 1] = 'z';
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&a, size, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(1));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&b, size, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(a, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(b, size, a, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, size, b, size, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(memcmp(from, to, size) == 0, "the bytes differ");
    memset(to, 0, 4096);
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy((char *)a + 4096, size, to, size, ACL_MEMCPY_HOST_TO_DEVICE));
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, size, a, 8192, ACL_MEMCPY_DEVICE_TO_HOST));
    (void)EXPECT(memcmp(from, to, 8192) == 0, "a refused copy changed something");
    free(from);
    free(to);
    fixture_end();
}

static const struct client_test tests[] = {
    {"aclrtMalloc and aclrtFree", test_malloc_rules},
    {"page-locked memory", test_host_memory},
    {"what an address is", test_what_an_address_is},
    {"rules of copies", test_copy_rules},
    {"asynchronous copies", test_async_copies},
    {"when copies are done", test_when_copies_are_done},
    {"copies release nothing", test_copies_release_nothing},
    {"a copy behind a wait", test_copy_behind_a_wait},
    {"fills", test_fills},
    {"matrices", test_matrices},
    {"large copies, and between devices", test_large_copies},
    {NULL, NULL},
};
const struct client_suite suite_memory = {"memory", tests};
