// Streams: many tasks, timeouts, settings, work from several threads on one stream.
#include "device_number.hpp"

#include <thread>
#include <vector>

namespace
{

aclrtStreamStatus status_of(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    (void)GAVE(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    return status;
}

// The default stream and one that was made; each does all that it is given, in order.
void test_many_tasks()
{
    constexpr uint32_t tasks = 300;
    aclrtStream stream = nullptr;
    DeviceNumber number(0);
    (void)GAVE(ACL_SUCCESS, program_op("EasyOP", 1, number.at(), nullptr));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
    (void)HOLDS(number.get() == 1);
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (uint32_t i = 0; i < tasks; i++)
        (void)GAVE(ACL_SUCCESS, program_op("EasyOP", 1, number.at(), stream));
    (void)HOLDS(status_of(stream) == ACL_STREAM_STATUS_NOT_READY);
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)HOLDS(status_of(stream) == ACL_STREAM_STATUS_COMPLETE);
    (void)HOLDS(number.get() == 1 + tasks);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
}

void test_timeouts()
{
    aclrtStream stream = nullptr;
    DeviceNumber number(7);
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GAVE(ACL_SUCCESS, program_op("LongOP", 1, number.at(), stream));
    (void)GAVE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 500));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 600));
    (void)HOLDS(number.get() == 8);
    (void)GAVE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, 0));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
    (void)GAVE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
}

void test_settings()
{
    aclrtStreamConfigHandle *settings = aclrtCreateStreamConfigHandle();
    aclrtStream stream = nullptr;
    uint32_t flags = 0, priority = 3, got_flags = 9, got_priority = 9;
    int32_t id = -1;
    (void)HOLDS(settings != nullptr);
    (void)GAVE(ACL_SUCCESS,
               aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_FLAG, &flags, sizeof(flags)));
    (void)GAVE(ACL_SUCCESS, aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_PRIORITY, &priority,
                                                    sizeof(priority)));
    (void)GAVE(ACL_SUCCESS, aclrtCreateStreamV2(&stream, settings));
    (void)GAVE(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
    (void)GAVE(ACL_SUCCESS, aclrtStreamGetFlags(stream, &got_flags));
    (void)GAVE(ACL_SUCCESS, aclrtStreamGetPriority(stream, &got_priority));
    (void)HOLDS(id > 0 && got_flags == 0 && got_priority == 3);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStreamConfigHandle(settings));
}

// Threads share a stream: each one's own tasks keep their order. No task is lost.
void test_shared_by_threads()
{
    constexpr uint32_t count = 4, tasks = 60;
    aclrtStream stream = nullptr;
    aclrtContext context = nullptr;
    std::vector<std::thread> threads;
    DeviceNumber number(0);
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GAVE(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    for (uint32_t i = 0; i < count; i++) {
        threads.emplace_back([&number, stream, context] {
            (void)GAVE(ACL_SUCCESS, aclrtSetCurrentContext(context));
            for (uint32_t task = 0; task < tasks; task++)
                (void)GAVE(ACL_SUCCESS, program_op("EasyOP", 1, number.at(), stream));
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)HOLDS(number.get() == count * tasks);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
}

} // namespace

int program_streams()
{
    program_begin();
    test_many_tasks();
    test_timeouts();
    test_settings();
    test_shared_by_threads();
    program_end();
    return program_failures();
}
