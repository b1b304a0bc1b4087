/* Callbacks of start and end, and of the states of devices and streams. */
#include "client_fixture.h"
#include "suites.h"

#include <string.h>

enum { BAD = ACL_ERROR_RT_PARAM_INVALID, PARAM = ACL_ERROR_INVALID_PARAM };

static char seen[64]; /* a letter for each call */

static void note(char letter)
{
    size_t len = strlen(seen);
    if (len + 1 < sizeof(seen)) {
        seen[len] = letter;
        seen[len + 1] = '\0';
    }
}

static void expect_seen(const char *want)
{
    (void)EXPECT(strcmp(seen, want) == 0, "called \"%s\", not \"%s\"", seen, want);
    seen[0] = '\0';
}

static aclError at_init(const char *config, size_t len, void *letter)
{
    (void)EXPECT(config != NULL && strlen(config) == len, "no text");
    note(*(const char *)letter);
    return ACL_SUCCESS;
}

static aclError at_init_fails(const char *config, size_t len, void *letter)
{
    (void)config;
    (void)len;
    note(*(const char *)letter);
    return ACL_ERROR_FAILURE;
}

static aclError at_end(void *letter)
{
    note(*(const char *)letter);
    return ACL_SUCCESS;
}

static void test_start_and_end(void)
{
    const aclRegisterCallbackType OTHER = ACL_REG_TYPE_OTHER, MODEL = ACL_REG_TYPE_ACL_MODEL;
    static char letters[] = "abcdef";
    seen[0] = '\0';
    fake_service_start();
    (void)GIVES(PARAM, aclInitCallbackRegister(OTHER, NULL, NULL));
    (void)GIVES(PARAM, aclFinalizeCallbackRegister(OTHER, NULL, NULL));
    (void)GIVES(PARAM, aclInitCallbackUnRegister(OTHER, NULL));
    (void)GIVES(ACL_ERROR_INTERNAL_ERROR, aclInitCallbackUnRegister(OTHER, at_init));
    (void)GIVES(ACL_SUCCESS, aclInitCallbackRegister(OTHER, at_init, &letters[0]));
    (void)GIVES(ACL_SUCCESS, aclInitCallbackRegister(OTHER, at_init, &letters[1]));
    (void)GIVES(ACL_SUCCESS, aclInitCallbackRegister(MODEL, at_init, &letters[2]));
    (void)GIVES(ACL_ERROR_INTERNAL_ERROR, aclInitCallbackRegister(MODEL, at_init, NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalizeCallbackRegister(OTHER, at_end, &letters[3]));
    (void)GIVES(ACL_SUCCESS, aclFinalizeCallbackRegister(MODEL, at_end, &letters[4]));
    expect_seen("");
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    expect_seen("cab");
    (void)GIVES(ACL_SUCCESS, aclInitCallbackRegister(OTHER, at_init, &letters[5]));
    expect_seen("f");
    (void)GIVES(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    (void)GIVES(ACL_SUCCESS, aclFinalizeReference(NULL));
    expect_seen("");
    (void)GIVES(ACL_SUCCESS, aclFinalize());
    expect_seen("ed");
    (void)GIVES(ACL_SUCCESS, aclInitCallbackUnRegister(MODEL, at_init));
    (void)GIVES(ACL_SUCCESS, aclInitCallbackRegister(MODEL, at_init_fails, &letters[2]));
    (void)GIVES(ACL_ERROR_FAILURE, aclInit(NULL));
    expect_seen("c");
    (void)GIVES(ACL_SUCCESS, aclInitCallbackUnRegister(MODEL, at_init_fails));
    (void)GIVES(ACL_SUCCESS, aclInit(NULL));
    expect_seen("abf");
    for (int i = 0; i < 3; i++)
        (void)GIVES(ACL_SUCCESS, aclInitCallbackUnRegister(OTHER, at_init));
    (void)GIVES(ACL_SUCCESS, aclFinalizeReference(NULL));
    expect_seen("ed");
    (void)GIVES(ACL_SUCCESS, aclFinalizeCallbackUnRegister(OTHER, at_end));
    (void)GIVES(ACL_SUCCESS, aclFinalizeCallbackUnRegister(MODEL, at_end));
    (void)GIVES(ACL_ERROR_INTERNAL_ERROR, aclFinalizeCallbackUnRegister(MODEL, at_end));
    fake_service_stop();
}

static void at_device(int32_t device, aclrtDeviceState state, void *args)
{
    (void)EXPECT(device == 0 && args == seen, "device %d", device);
    note((char)('0' + (int)state));
}

static void test_device_states(void)
{
    fixture_begin();
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    seen[0] = '\0';
    (void)GIVES(PARAM, aclrtRegDeviceStateCallback(NULL, at_device, seen));
    (void)GIVES(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", at_device, seen));
    (void)GIVES(BAD, aclrtRegDeviceStateCallback("test", at_device, seen));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    expect_seen("01");
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    expect_seen("");
    (void)GIVES(ACL_SUCCESS, aclrtResetDevice(0));
    expect_seen("23");
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GIVES(ACL_SUCCESS, aclrtResetDeviceForce(0));
    expect_seen("0123");
    (void)GIVES(507007, aclrtResetDevice(0));
    expect_seen("");
    (void)GIVES(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", NULL, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", NULL, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtSetDevice(0));
    expect_seen("");
    fixture_end();
}

static aclrtStream last_stream;

static void at_stream(aclrtStream stream, aclrtStreamState state, void *args)
{
    int32_t id = -1;
    (void)GIVES(ACL_SUCCESS, aclrtStreamGetId(stream, &id)); /* it is there in both states */
    (void)EXPECT(args == seen, "args");
    last_stream = stream;
    note((char)('0' + (int)state));
}

static void test_stream_states(void)
{
    aclrtStream stream = NULL, other = NULL;
    aclrtContext context = NULL;
    fixture_begin();
    seen[0] = '\0';
    (void)GIVES(PARAM, aclrtRegStreamStateCallback(NULL, at_stream, seen));
    (void)GIVES(ACL_SUCCESS, aclrtRegStreamStateCallback("test", at_stream, seen));
    (void)GIVES(BAD, aclrtRegStreamStateCallback("test", at_stream, seen));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&stream));
    expect_seen("1");
    (void)EXPECT(last_stream == stream, "another stream");
    (void)GIVES(ACL_SUCCESS, aclrtDestroyStream(stream));
    expect_seen("2");
    (void)GIVES(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    (void)GIVES(ACL_SUCCESS, aclrtCreateStream(&other));
    expect_seen("1");
    (void)GIVES(ACL_SUCCESS, aclrtRegStreamStateCallback("test", NULL, NULL));
    (void)GIVES(ACL_SUCCESS, aclrtDestroyContext(context));
    expect_seen("");
    fixture_end();
}

static const struct client_test tests[] = {
    {"start and end", test_start_and_end},
    {"device states", test_device_states},
    {"stream states", test_stream_states},
    {NULL, NULL},
};
const struct client_suite suite_callbacks = {"callbacks", tests};
