/* What needs no session: half precision, data types, data buffers, versions. */
#include "client_fixture.h"
#include "suites.h"

#include <math.h>
#include <string.h>

static void test_half_precision(void)
{
    static const struct {
        float wide;
        uint16_t half;
    } rows[] = {{0.0f, 0},          {-0.0f, 0x8000},          {1.0f, 0x3c00},
                {-2.0f, 0xc000},    {65504.0f, 0x7bff},       {6.103515625e-5f, 0x0400},
                {5.9604645e-8f, 1}, {0.333251953125f, 0x3555}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)EXPECT(aclFloatToFloat16(rows[i].wide) == rows[i].half, "%g -> 0x%x",
                     (double)rows[i].wide, aclFloatToFloat16(rows[i].wide));
        float back = aclFloat16ToFloat(rows[i].half);
        (void)EXPECT(memcmp(&back, &rows[i].wide, sizeof(back)) == 0, "0x%x -> %g", rows[i].half,
                     (double)back);
    }
    (void)EXPECT(aclFloatToFloat16(1.00048828125f) == 0x3c00, "a tie goes to even");
    (void)EXPECT(aclFloatToFloat16(1.00146484375f) == 0x3c02, "a tie goes to even");
    (void)EXPECT(aclFloatToFloat16(1e6f) == 0x7bff && aclFloatToFloat16(-INFINITY) == 0xfbff &&
                     aclFloatToFloat16(65519.9f) == 0x7bff &&
                     aclFloatToFloat16(65520.0f) == 0x7bff && aclFloatToFloat16(NAN) == 0x7bff,
                 "too large becomes the largest");
    (void)EXPECT(aclFloatToFloat16(1e-10f) == 0 && aclFloatToFloat16(-1e-10f) == 0x8000, "tiny");
    (void)EXPECT(fabsf(aclFloat16ToFloat(0x7c00) - 65536.0f) < 1.0f, "no infinity");
    for (unsigned half = 0; half < 0x7c00; half++)
        (void)EXPECT(aclFloatToFloat16(aclFloat16ToFloat((uint16_t)half)) == half, "0x%x", half);
}

static void test_data_types(void)
{
    static const struct {
        aclDataType type;
        size_t size;
    } rows[] = {{ACL_FLOAT, 4},  {ACL_FLOAT16, 2},      {ACL_INT8, 1},        {ACL_INT32, 4},
                {ACL_UINT8, 1},  {ACL_INT16, 2},        {ACL_UINT16, 2},      {ACL_UINT32, 4},
                {ACL_INT64, 8},  {ACL_UINT64, 8},       {ACL_DOUBLE, 8},      {ACL_BOOL, 1},
                {ACL_BF16, 2},   {ACL_COMPLEX64, 8},    {ACL_COMPLEX128, 16}, {ACL_COMPLEX32, 4},
                {ACL_STRING, 0}, {ACL_DT_UNDEFINED, 0}, {(aclDataType)999, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        (void)EXPECT(aclDataTypeSize(rows[i].type) == rows[i].size, "type %d: %zu",
                     (int)rows[i].type, aclDataTypeSize(rows[i].type));
}

static void test_data_buffers(void)
{
    char data[16];
    aclDataBuffer *buffer = aclCreateDataBuffer(data, 16);
    (void)EXPECT(buffer != NULL && aclGetDataBufferAddr(buffer) == data &&
                     aclGetDataBufferSize(buffer) == 16 && aclGetDataBufferSizeV2(buffer) == 16,
                 "as made");
    (void)GIVES(ACL_SUCCESS, aclUpdateDataBuffer(buffer, data + 1, (size_t)5 << 32));
    (void)EXPECT(aclGetDataBufferAddr(buffer) == data + 1 && aclGetDataBufferSize(buffer) == 0 &&
                     aclGetDataBufferSizeV2(buffer) == (size_t)5 << 32,
                 "as updated");
    (void)GIVES(ACL_SUCCESS, aclDestroyDataBuffer(buffer));
    (void)GIVES(ACL_ERROR_RT_INVALID_HANDLE, aclDestroyDataBuffer(buffer));
    (void)EXPECT(aclGetDataBufferAddr(buffer) == NULL && aclGetDataBufferSizeV2(NULL) == 0, "gone");
    (void)aclGetRecentErrMsg();
}

static void test_versions(void)
{
    aclCANNPackageVersion version;
    char text[ACL_PKG_VERSION_MAX_SIZE];
    int32_t number = 0;
    (void)GIVES(ACL_SUCCESS, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    (void)GIVES(ACL_SUCCESS, aclsysGetVersionStr((char *)(uintptr_t) "runtime", text));
    (void)EXPECT(same_words(text, version.version), "%s, %s", text, version.version);
    (void)GIVES(ACL_SUCCESS, aclsysGetVersionNum((char *)(uintptr_t) "cann", &number));
    (void)EXPECT(number > 0, "%d", number);
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion((aclCANNPackageName)99, &version));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr((char *)(uintptr_t) "none", text));
    (void)GIVES(ACL_ERROR_INVALID_PARAM, aclsysGetVersionNum(NULL, &number));
    fixture_begin();
    (void)EXPECT(same_words(aclrtGetSocName(), "Ascend910B1"), "%s", aclrtGetSocName());
    (void)GIVES(ACL_SUCCESS, aclrtSynchronizeDevice()); /* the name was no command */
    fixture_end();
}

static const struct client_test tests[] = {
    {"half precision", test_half_precision},
    {"data types", test_data_types},
    {"data buffers", test_data_buffers},
    {"versions and SoC", test_versions},
    {NULL, NULL},
};
const struct client_suite suite_data = {"data", tests};
