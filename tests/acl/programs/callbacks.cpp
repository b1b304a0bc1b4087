// Functions of the host in streams: in the library's thread, in threads of the program, and when a
// kernel fails.
#include "device_number.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>

namespace
{

// What was called, in order.
class Journal
{
  public:
    void add(char what)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        text_ += what;
    }
    std::string text()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return text_;
    }

  private:
    std::mutex lock_;
    std::string text_;
};

struct Note {
    Journal *journal;
    char what;
};

void note(void *user)
{
    const Note *note = static_cast<const Note *>(user);
    note->journal->add(note->what);
}

void test_host_functions()
{
    Journal journal;
    Note notes[] = {{&journal, 'a'}, {&journal, 'b'}, {&journal, 'c'}};
    aclrtStream stream = nullptr;
    DeviceNumber number(1);
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (Note &each : notes) {
        (void)GAVE(ACL_SUCCESS, program_op("EasyOP", 1, number.at(), stream));
        (void)GAVE(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note, &each));
    }
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)HOLDS(journal.text() == "abc");
    (void)HOLDS(number.get() == 4);
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
}

// Callbacks run in the thread that was named for the stream, while it asks for them.
void test_callbacks_in_a_thread()
{
    Journal journal;
    Note notes[] = {{&journal, '1'}, {&journal, '2'}};
    aclrtStream stream = nullptr;
    aclrtContext context = nullptr;
    std::atomic<bool> is_over{false};
    DeviceNumber number(1);
    (void)GAVE(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    std::atomic<uint64_t> id{0};
    std::thread thread([&] {
        (void)GAVE(ACL_SUCCESS, aclrtSetCurrentContext(context));
        id = static_cast<uint64_t>(pthread_self());
        while (!is_over) {
            (void)aclrtProcessReport(20);
            (void)aclGetRecentErrMsg(); // nothing within the time, or not named yet
        }
    });
    while (id == 0)
        std::this_thread::yield();
    (void)GAVE(ACL_SUCCESS, aclrtSubscribeReport(id, stream));
    (void)GAVE(ACL_SUCCESS, aclrtLaunchCallback(note, &notes[0], ACL_CALLBACK_BLOCK, stream));
    (void)GAVE(ACL_SUCCESS, program_op("ShortOP", 1, number.at(), stream));
    (void)GAVE(ACL_SUCCESS, aclrtLaunchCallback(note, &notes[1], ACL_CALLBACK_BLOCK, stream));
    (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    (void)HOLDS(journal.text() == "12");
    (void)HOLDS(number.get() == 2);
    (void)GAVE(ACL_SUCCESS, aclrtUnSubscribeReport(id, stream));
    is_over = true;
    thread.join();
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
}

std::atomic<int> failures_told{0};

void on_failure(aclrtExceptionInfo *info)
{
    failures_told++;
    (void)HOLDS(aclrtGetDeviceIdFromExceptionInfo(info) == 0);
    (void)HOLDS(aclrtGetErrorCodeFromExceptionInfo(info) == ACL_ERROR_RT_AICORE_EXCEPTION);
}

void test_failures()
{
    aclrtStream stream = nullptr;
    DeviceNumber number(1);
    void *nowhere = reinterpret_cast<void *>(static_cast<uintptr_t>(0x8000));
    (void)GAVE(ACL_SUCCESS, aclrtSetExceptionInfoCallback(on_failure));
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    (void)GAVE(ACL_SUCCESS, program_op("EasyOP", 1, number.at(), stream));
    (void)GAVE(ACL_SUCCESS, program_add(nowhere, nowhere, nowhere, 4, stream));
    (void)HOLDS(failures_told == 0);
    (void)GAVE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    (void)HOLDS(failures_told == 1);
    (void)HOLDS(number.get() == 2);
    (void)GAVE(ACL_SUCCESS, aclrtSetExceptionInfoCallback(nullptr));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStream(stream));
}

} // namespace

int program_callbacks()
{
    program_begin();
    test_host_functions();
    test_callbacks_in_a_thread();
    test_failures();
    program_end();
    return program_failures();
}
