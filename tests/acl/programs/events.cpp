// Events: their status before and after, times, reset, and order between streams and threads.
#include "device_number.hpp"

#include <thread>
#include <vector>

namespace
{

aclrtEventRecordedStatus status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    (void)GAVE(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    return status;
}

void test_status(aclrtStream stream)
{
    aclrtEvent event = nullptr;
    DeviceNumber number(0);
    (void)GAVE(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)HOLDS(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    (void)GAVE(ACL_SUCCESS, program_op("LongOP", 1, number.at(), stream));
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    (void)HOLDS(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    (void)GAVE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 900));
    (void)HOLDS(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    (void)HOLDS(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    (void)HOLDS(number.get() == 1);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyEvent(event));
}

void test_times(aclrtStream stream)
{
    aclrtEvent start = nullptr, end = nullptr;
    uint64_t start_us = 0, end_us = 0;
    float ms = 0;
    DeviceNumber number(3);
    (void)GAVE(ACL_SUCCESS, aclrtCreateEvent(&start));
    (void)GAVE(ACL_SUCCESS, aclrtCreateEvent(&end));
    (void)GAVE(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&ms, start, end));
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(start, stream));
    (void)GAVE(ACL_SUCCESS, program_op("LongOP", 1, number.at(), stream));
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(end, stream));
    (void)GAVE(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, end));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)GAVE(ACL_SUCCESS, aclrtEventGetTimestamp(start, &start_us));
    (void)GAVE(ACL_SUCCESS, aclrtEventGetTimestamp(end, &end_us));
    (void)HOLDS(end_us - start_us >= 1000000 && end_us - start_us < 1100000);
    (void)GAVE(ACL_SUCCESS, aclrtEventElapsedTime(&ms, start, end));
    (void)HOLDS(ms >= 1000.0F && ms < 1100.0F);
    (void)GAVE(ACL_SUCCESS, aclrtEventElapsedTime(&ms, end, start));
    (void)HOLDS(ms <= -1000.0F);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyEvent(start));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyEvent(end));
}

// One event goes from hand to hand: recorded, waited for, reset, recorded by the other stream.
void test_two_streams(aclrtStream first)
{
    aclrtStream second = nullptr;
    aclrtEvent event = nullptr;
    DeviceNumber number(5);
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&second));
    (void)GAVE(ACL_SUCCESS, aclrtCreateEvent(&event));
    (void)GAVE(ACL_SUCCESS, program_op("LongOP", 1, number.at(), first));
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(event, first));
    (void)GAVE(ACL_SUCCESS, aclrtStreamWaitEvent(second, event));
    (void)GAVE(ACL_SUCCESS, aclrtResetEvent(event, second));
    (void)GAVE(ACL_SUCCESS, program_op("ShortOP", 1, number.at(), second));
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(event, second));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    (void)HOLDS(number.get() == 12);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyEvent(event));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(second));
}

// A chain through threads: each waits, with its own stream, for the one before.
void test_chain_of_threads(aclrtStream stream)
{
    constexpr size_t length = 6;
    std::vector<aclrtEvent> events(length + 1);
    std::vector<std::thread> threads;
    aclrtContext context = nullptr;
    DeviceNumber number(1);
    (void)GAVE(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    for (aclrtEvent &event : events) {
        (void)GAVE(ACL_SUCCESS, aclrtCreateEvent(&event));
        (void)GAVE(ACL_SUCCESS,
                   aclrtResetEvent(event, stream)); // to be waited for before its record
    }
    for (size_t i = 0; i < length; i++) {
        threads.emplace_back([&events, &number, context, i] {
            aclrtStream own = nullptr;
            (void)GAVE(ACL_SUCCESS, aclrtSetCurrentContext(context));
            (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&own));
            (void)GAVE(ACL_SUCCESS, aclrtStreamWaitEvent(own, events[i]));
            (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(own));
            (void)GAVE(ACL_SUCCESS,
                       program_op(i % 2 == 0 ? "EasyOP" : "ShortOP", 1, number.at(), own));
            (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(events[i + 1], own));
            (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(own));
        });
    }
    (void)GAVE(ACL_SUCCESS, aclrtRecordEvent(events[0], stream));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeEvent(events[length]));
    for (std::thread &thread : threads)
        thread.join();
    (void)HOLDS(number.get() == 22); // ((1 + 1) * 2 + 1) * 2 ...
    for (aclrtEvent event : events)
        (void)GAVE(ACL_SUCCESS, aclrtDestroyEvent(event));
}

} // namespace

int program_events()
{
    aclrtStream stream = nullptr;
    program_begin();
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    test_status(stream);
    test_times(stream);
    test_two_streams(stream);
    test_chain_of_threads(stream);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
    program_end();
    return program_failures();
}
