/* aclrtReduceAsync and aclrtRandomNumAsync. */
#include "client_fixture.h"
#include "suites.h"

#include <math.h>
#include <string.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM, COUNT = 4096 };

static void *malloc_bytes(size_t size)
{
    void *ptr = NULL;
    (void)GIVES(ACL_SUCCESS, aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return ptr;
}

static void to_device(void *ptr, const void *from, size_t size)
{
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(ptr, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void to_host(void *to, const void *ptr, size_t size)
{
    (void)GIVES(ACL_SUCCESS, aclrtMemcpy(to, size, ptr, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

/* ---- reductions ---- */

static void test_reduce(void)
{
    static const float ones[] = {1, 2, 3, 4}, others[] = {5, 1, -7, 4};
    static const struct {
        aclrtReduceKind kind;
        float want[4];
    } rows[] = {
        {ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, {6, 3, -4, 8}},
        {ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, {5, 2, 3, 4}},
        {ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, {1, 1, -7, 4}},
    };
    float got[4];
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    void *dst = malloc_bytes(sizeof(ones)), *src = malloc_bytes(sizeof(ones));
    to_device(src, others, sizeof(others));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        to_device(dst, ones, sizeof(ones));
        (void)GIVES(ACL_SUCCESS, aclrtReduceAsync(dst, src, sizeof(ones), rows[i].kind, ACL_FLOAT,
                                                  i == 1 ? NULL : stream, NULL));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        to_host(got, dst, sizeof(got));
        (void)EXPECT(memcmp(got, rows[i].want, sizeof(got)) == 0, "row %zu: %g %g %g %g", i,
                     (double)got[0], (double)got[1], (double)got[2], (double)got[3]);
    }
    fixture_end();
}

static void test_reduce_refusals(void)
{
    const aclrtReduceKind sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    aclrtStream stream = NULL, other = NULL;
    char host[16];
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    char *dst = malloc_bytes(16), *src = malloc_bytes(16);
    (void)GIVES(PARAM, aclrtReduceAsync(NULL, src, 16, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(PARAM, aclrtReduceAsync(dst, NULL, 16, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(PARAM, aclrtReduceAsync(dst, src, 16, sum, ACL_FLOAT, stream, host));
    (void)GIVES(PARAM, aclrtReduceAsync(dst, src, 16, sum, ACL_DOUBLE, stream, NULL));
    (void)GIVES(PARAM, aclrtReduceAsync(dst, src, 16, sum, ACL_INT64, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst, src, 0, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst, src, 16, (aclrtReduceKind)9, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst, src, 16, (aclrtReduceKind)14, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD,
                aclrtReduceAsync(dst, src, (UINT64_C(4) << 30) + 4, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst, src, 36, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst + 2, src, 4, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(BAD, aclrtReduceAsync(dst, host, 16, sum, ACL_FLOAT, stream, NULL));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtReduceAsync(dst, src, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT,
                                 stream, NULL));
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtReduceAsync(dst, src, 16, sum, ACL_UINT32, stream, NULL));
    (void)SAYS("Ascend910B1");
    (void)GIVES(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtReduceAsync(dst, src, 16, sum, ACL_INT4, stream, NULL));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE,
                aclrtReduceAsync(dst, src, 16, sum, ACL_FLOAT, made_up[0], NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(1));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    (void)GIVES(BAD, aclrtReduceAsync(dst, src, 16, sum, ACL_FLOAT, other, NULL));
    fixture_end();
}

/* ---- random numbers ---- */

static aclrtRandomParaInfo value(const void *from, size_t size)
{
    aclrtRandomParaInfo info = {.size = (uint8_t)size};
    memcpy(info.valueOrAddr, from, size);
    return info;
}

static aclrtRandomParaInfo at(const void *address)
{
    aclrtRandomParaInfo info = value(&address, sizeof(address));
    info.isAddr = 1;
    return info;
}

static aclrtRandomNumTaskInfo normal_task(void *result, void *counter, uint64_t seed, uint64_t num)
{
    const float mean = 3, deviation = 2;
    aclrtRandomNumTaskInfo task = {.dataType = ACL_FLOAT,
                                   .randomResultAddr = result,
                                   .randomCounterAddr = counter,
                                   .randomSeed = value(&seed, sizeof(seed)),
                                   .randomNum = value(&num, sizeof(num))};
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean = value(&mean, sizeof(mean));
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev =
        value(&deviation, sizeof(deviation));
    return task;
}

static double mean_of(const float *values)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += (double)values[i];
    return sum / COUNT;
}

static void test_random(void)
{
    static float first[COUNT], second[COUNT], again[COUNT];
    static const unsigned char zeros[16];
    unsigned char counter_bytes[16];
    aclrtStream stream = NULL;
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    void *result = malloc_bytes(sizeof(first)), *counter = malloc_bytes(16);
    aclrtRandomNumTaskInfo task = normal_task(result, counter, 42, COUNT);
    float *results[] = {first, second, again};
    for (size_t i = 0; i < 3; i++) {
        if (i != 1) /* the second goes on where the first ended */
            to_device(counter, zeros, sizeof(zeros));
        (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, stream, NULL));
        (void)GIVES(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        to_host(results[i], result, sizeof(first));
        (void)EXPECT(fabs(mean_of(results[i]) - 3) < 0.2, "%zu: mean %g", i, mean_of(results[i]));
    }
    to_host(counter_bytes, counter, 16);
    (void)EXPECT(counter_bytes[0] == 0 && counter_bytes[1] == COUNT / 4 / 256, "counter %u",
                 counter_bytes[1]);
    (void)EXPECT(memcmp(first, again, sizeof(first)) == 0, "same seed, other numbers");
    (void)EXPECT(memcmp(first, second, sizeof(first)) != 0, "the counter does not count");
    fixture_end();
}

/* Parameters in device memory are read there; randomParaAddr shows what stood in the task. */
static void test_random_addresses(void)
{
    static float plain[COUNT], by_address[COUNT];
    static const unsigned char zeros[16];
    const float mean = 3, deviation = 2;
    const uint64_t seed = 42, num = COUNT;
    float shown[4];
    fixture_begin();
    char *result = malloc_bytes(sizeof(plain)), *counter = malloc_bytes(16);
    char *parameters = malloc_bytes(64);
    to_device(counter, zeros, sizeof(zeros));
    aclrtRandomNumTaskInfo task = normal_task(result, counter, seed, num);
    task.randomParaAddr = parameters + 32;
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(plain, result, sizeof(plain));
    to_host(shown, parameters + 32, sizeof(shown));
    (void)EXPECT(shown[0] == mean && shown[2] == deviation, "%g, %g", (double)shown[0],
                 (double)shown[2]);
    to_device(counter, zeros, sizeof(zeros));
    to_device(parameters, &mean, 4);
    to_device(parameters + 4, &deviation, 4);
    to_device(parameters + 8, &seed, 8);
    to_device(parameters + 16, &num, 8);
    task.randomParaAddr = NULL;
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean = at(parameters);
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev = at(parameters + 4);
    task.randomSeed = at(parameters + 8);
    task.randomNum = at(parameters + 16);
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(by_address, result, sizeof(by_address));
    (void)EXPECT(memcmp(plain, by_address, sizeof(plain)) == 0, "other numbers");
    fixture_end();
}

/* Every distribution and element type that CANN's sample makes. */
static void test_random_kinds(void)
{
    const uint16_t one_bf16 = 0x3f80, two_bf16 = 0x4000, one_f16 = 0x3c00, two_f16 = 0x4000;
    const int32_t low = 1, high = 100;
    const float rate = 0.4f;
    uint16_t halves[128];
    int32_t integers[128];
    unsigned char mask[17];
    fixture_begin();
    char *result = malloc_bytes(1024), *counter = malloc_bytes(16);
    (void)GIVES(ACL_SUCCESS, aclrtMemset(result, 1024, 0, 1024));
    aclrtRandomNumTaskInfo task = normal_task(result, counter, 0, 128);
    memset(task.rsv, 0x5a, sizeof(task.rsv)); /* CANN's sample leaves it as it is */
    task.dataType = ACL_BF16;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean = value(&one_bf16, 2);
    task.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev = value(&two_bf16, 2);
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(halves, result, sizeof(halves));
    for (size_t i = 0; i < 128; i++)
        (void)EXPECT((halves[i] & 0x8000u) != 0 ? halves[i] <= 0xc040 : halves[i] <= 0x40a0,
                     "0x%x is not within -3 and 5", halves[i]);
    task.dataType = ACL_FLOAT16;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = value(&one_f16, 2);
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = value(&two_f16, 2);
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(halves, result, sizeof(halves));
    for (size_t i = 0; i < 128; i++)
        (void)EXPECT(halves[i] >= one_f16 && halves[i] < two_f16, "0x%x", halves[i]);
    task.dataType = ACL_INT32;
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = value(&low, 4);
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = value(&high, 4);
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(integers, result, sizeof(integers));
    for (size_t i = 0; i < 128; i++)
        (void)EXPECT(integers[i] >= low && integers[i] < high, "%d", integers[i]);
    (void)GIVES(ACL_SUCCESS, aclrtMemset(result, 1024, 0, 1024));
    task.dataType = ACL_FLOAT;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
    task.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation = value(&rate, 4);
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&task, NULL, NULL));
    to_host(mask, result, sizeof(mask));
    int kept = 0;
    for (size_t i = 0; i < 128; i++)
        kept += mask[i / 8] >> i % 8 & 1;
    (void)EXPECT(kept > 45 && kept < 110 && mask[16] == 0, "%d of 128 kept", kept);
    fixture_end();
}

static void test_random_refusals(void)
{
    const float low = 1, high = 2, infinite = HUGE_VALF, no_number = NAN;
    fixture_begin();
    char *result = malloc_bytes(64), *counter = malloc_bytes(16);
    const aclrtRandomNumTaskInfo good = normal_task(result, counter, 1, 16);
    aclrtRandomNumTaskInfo task = good;
    (void)GIVES(PARAM, aclrtRandomNumAsync(NULL, NULL, NULL));
    (void)GIVES(BAD, aclrtRandomNumAsync(&good, NULL, result));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclrtRandomNumAsync(&good, made_up[0], NULL));
#define REFUSED(number, ...)                                                                       \
    task = good;                                                                                   \
    __VA_ARGS__;                                                                                   \
    (void)GIVES(number, aclrtRandomNumAsync(&task, NULL, NULL))
    REFUSED(PARAM, task.dataType = ACL_INT8);
    REFUSED(BAD, task.dataType = ACL_INT32);
    REFUSED(BAD, task.randomNumFuncParaInfo.funcType = (aclrtRandomNumFuncType)4);
    REFUSED(BAD, task.randomCounterAddr = NULL);
    REFUSED(BAD, task.randomResultAddr = NULL);
    REFUSED(BAD, task.randomSeed.size = 0);
    REFUSED(BAD, task.randomSeed.size = 9);
    REFUSED(BAD, task.randomNum.isAddr = 2);
    REFUSED(BAD, task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean.size = 5);
    REFUSED(BAD, task.randomResultAddr = result + 32);
    REFUSED(BAD, task.randomCounterAddr = counter + 24);
    REFUSED(BAD, task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
            task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = value(&high, 4);
            task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = value(&low, 4));
    REFUSED(BAD, task.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev = value(&infinite, 4));
    REFUSED(BAD, task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean = value(&no_number, 4));
#undef REFUSED
    (void)GIVES(ACL_SUCCESS, aclrtRandomNumAsync(&good, NULL, NULL));
    fixture_end();
}

static const struct client_test tests[] = {
    {"reductions", test_reduce},
    {"refused reductions", test_reduce_refusals},
    {"random numbers", test_random},
    {"parameters in device memory", test_random_addresses},
    {"every distribution", test_random_kinds},
    {"refused random numbers", test_random_refusals},
    {NULL, NULL},
};

const struct client_suite suite_tasks = {"tasks", tests};
