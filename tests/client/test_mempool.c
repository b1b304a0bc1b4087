/* The seven calls of stream-ordered pools. */
#include "client_fixture.h"
#include "suites.h"

#include <string.h>

#define MIB ((size_t)1 << 20)

static uint64_t get(aclrtMemPool pool, aclrtMemPoolAttr attr)
{
    uint64_t value = 0;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolGetAttr(pool, attr, &value));
    return value;
}

static void test_create_rules(void)
{
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps good, props;
    fixture_begin();
    memset(&good, 0, sizeof(good));
    good.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    good.maxSize = 3 * MIB;
    props = good;
    props.allocType = (aclrtMemAllocationType)1;
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
    props = good;
    props.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
    props = good;
    props.handleType = (aclrtMemHandleType)1;
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
    for (size_t i = 0; i < sizeof(props.reserved); i++) {
        props = good;
        props.reserved[i] = 1;
        (void)GIVES(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
    }
    props = good;
    props.location.id = 8;
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
    props.location.id = UINT32_MAX;
    (void)GIVES(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
    props = good;
    props.maxSize = SIZE_MAX;
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolCreate(&pool, &props));
    props.maxSize = (size_t)65 << 30;
    (void)GIVES(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolCreate(&pool, &props));
    props.maxSize = (size_t)60 << 30;
    aclrtMemPool large = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&large, &props));
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtMemPoolCreate(&pool, &props));
    (void)EXPECT(pool == NULL, "an output was written");
    props = good;
    props.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolDestroy(pool));
    (void)GIVES(ACL_ERROR_RT_INTERNAL_ERROR, aclrtMemPoolDestroy(pool));
    props.maxSize = 0;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    fixture_end();
}

/* Not a byte more than the attribute's width is read or written. */
static void test_attribute_widths(void)
{
    static const struct {
        aclrtMemPoolAttr attr;
        size_t width;
        aclError set_7, set_0; /* setting 7, setting 0 */
        uint64_t after_7;      /* value then */
    } rows[] = {
        {ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES, 4, 0, 0, 1},
        {ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, 4, 0, 0, 1},
        {ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 4, 0, 0, 1},
        {ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 8, 0, 0, 7},
        {ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, 8, 107000, 107000, 0},
        {ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, 8, 507000, 0, 0},
        {ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, 8, 107000, 107000, 0},
        {ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 8, 507000, 0, 0},
    };
    fixture_begin();
    aclrtMemPool pool = make_pool(8 * MIB);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char in[16], out[16];
        memset(in, 0xee, sizeof(in));
        memset(out, 0xee, sizeof(out));
        memset(in + 1, 0, rows[i].width); /* unaligned on purpose */
        in[1] = 7;
        (void)GIVES(rows[i].set_7, aclrtMemPoolSetAttr(pool, rows[i].attr, in + 1));
        (void)GIVES(ACL_SUCCESS, aclrtMemPoolGetAttr(pool, rows[i].attr, out + 1));
        uint64_t value = 0;
        memcpy(&value, out + 1, rows[i].width);
        (void)EXPECT(value == rows[i].after_7, "attribute %d: %u", (int)rows[i].attr,
                     (unsigned)value);
        for (size_t b = 0; b < sizeof(out); b++) {
            bool is_inside = b >= 1 && b < 1 + rows[i].width;
            (void)EXPECT(is_inside || out[b] == 0xee, "attribute %d: byte %zu was written",
                         (int)rows[i].attr, b);
        }
        in[1] = 0;
        (void)GIVES(rows[i].set_0, aclrtMemPoolSetAttr(pool, rows[i].attr, in + 1));
    }
    uint64_t value = 9 * MIB;
    (void)GIVES(507000, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value));
    static const int unknown[] = {0, 9, -1, 1000};
    for (size_t i = 0; i < 4; i++) {
        (void)GIVES(507000, aclrtMemPoolSetAttr(pool, (aclrtMemPoolAttr)unknown[i], &value));
        (void)GIVES(507000, aclrtMemPoolGetAttr(pool, (aclrtMemPoolAttr)unknown[i], &value));
    }
    (void)GIVES(107000, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, NULL));
    (void)GIVES(107000, aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, NULL));
    fixture_end();
}

static void test_malloc_and_free(void)
{
    aclrtStream stream = NULL;
    void *a = NULL, *b = NULL, *c = NULL;
    fixture_begin();
    aclrtMemPool pool = make_pool(8 * MIB);
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&a, 8, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&b, 2 * MIB + 1, pool, stream));
    (void)EXPECT((uintptr_t)a % (2 * MIB) == 0 && (uintptr_t)b == (uintptr_t)a + 2 * MIB, "%p, %p",
                 a, b);
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 6 * MIB, "used");
    void *untouched = &pool;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&untouched, 0, pool, stream));
    (void)EXPECT(untouched == &pool, "size 0 wrote the output");
    (void)GIVES(507000, aclrtMemPoolMallocAsync(&untouched, 4 * MIB, pool, stream));
    (void)SAYS("2 MiB");
    (void)GIVES(107000, aclrtMemPoolMallocAsync(&untouched, SIZE_MAX, pool, stream));
    (void)EXPECT(untouched == &pool, "a refusal wrote the output");
    (void)GIVES(107000, aclrtMemPoolFreeAsync((char *)a + 1, stream));
    (void)GIVES(107000, aclrtMemPoolFreeAsync(&untouched, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(a, stream));
    (void)GIVES(107000, aclrtMemPoolFreeAsync(a, stream));
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 4 * MIB &&
                     get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 6 * MIB,
                 "a free lowers used, not reserved");
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&c, 1, pool, stream));
    (void)EXPECT(c == a, "same stream: the block comes back");
    (void)GIVES(ACL_SUCCESS, aclrtFree(c)); /* aclrtFree takes pool memory */
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 4 * MIB, "both fall");
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(b, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0, "released");
    fixture_end();
}

static void test_trim(void)
{
    aclrtStream stream = NULL;
    void *a = NULL, *b = NULL;
    uint64_t threshold = 64 * MIB;
    fixture_begin();
    aclrtMemPool pool = make_pool(64 * MIB);
    (void)GIVES(ACL_SUCCESS,
                aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&a, 16 * MIB, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&b, 16 * MIB, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(a, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 32 * MIB, "kept");
    (void)GIVES(507000, aclrtMemPoolTrimTo(pool, 64 * MIB + 1));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolTrimTo(pool, 20 * MIB));
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 20 * MIB, "trimmed");
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolTrimTo(pool, 0));
    (void)EXPECT(get(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 16 * MIB, "used stays");
    fixture_end();
}

static void test_other_devices(void)
{
    aclrtStream stream = NULL;
    void *a = NULL, *b = NULL;
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    fixture_begin();
    memset(&props, 0, sizeof(props));
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = 1;
    props.maxSize = 8 * MIB;
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolCreate(&pool, &props));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GIVES(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemPoolMallocAsync(&a, 8, pool, stream));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(1));
    aclrtStream on_1 = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&on_1));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolMallocAsync(&a, 8, pool, on_1));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemPoolFreeAsync(a, stream));
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&b, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GIVES(ACL_SUCCESS, aclrtMemPoolFreeAsync(b, stream)); /* of aclrtMalloc: allowed */
    (void)GIVES(107000, aclrtFree(b));
    (void)GIVES(ACL_SUCCESS, aclrtFree(a)); /* of device 1, from a thread on device 0 */
    fixture_end();
}

static const struct client_test tests[] = {
    {"what a pool may be", test_create_rules},
    {"attributes and their widths", test_attribute_widths},
    {"malloc and free", test_malloc_and_free},
    {"trim", test_trim},
    {"pools and streams of different devices", test_other_devices},
    {NULL, NULL},
};
const struct client_suite suite_mempool = {"mempool", tests};
