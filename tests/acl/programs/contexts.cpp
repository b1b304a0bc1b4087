// Contexts and devices: one current context for each thread, counted devices, limits.
#include "device_number.hpp"

#include <thread>
#include <vector>

namespace
{

// A context that ends with its scope.
class Context
{
  public:
    explicit Context(int32_t device)
    {
        (void)GAVE(ACL_SUCCESS, aclrtCreateContext(&handle_, device));
    }
    ~Context()
    {
        (void)GAVE(ACL_SUCCESS, aclrtDestroyContext(handle_));
    }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    [[nodiscard]] aclrtContext handle() const
    {
        return handle_;
    }

  private:
    aclrtContext handle_ = nullptr;
};

aclrtContext current()
{
    aclrtContext context = nullptr;
    (void)GAVE(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    return context;
}

void test_the_current_context()
{
    aclrtContext primary = current();
    aclrtStream of_primary = nullptr, of_other = nullptr;
    (void)GAVE(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&of_primary));
    {
        Context other(0);
        (void)HOLDS(current() == other.handle());
        (void)GAVE(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&of_other));
        (void)HOLDS(of_other != nullptr && of_other != of_primary);
        (void)GAVE(ACL_ERROR_RT_STREAM_CONTEXT, program_op("EasyOP", 1, nullptr, of_primary));
        (void)GAVE(ACL_SUCCESS, aclrtSetCurrentContext(primary));
        (void)HOLDS(current() == primary);
    }
    (void)HOLDS(current() == primary);
}

void test_threads()
{
    std::vector<std::thread> threads;
    aclrtContext primary = current();
    for (int32_t device = 0; device < 4; device++) {
        threads.emplace_back([device, primary] {
            aclrtContext context = nullptr;
            int32_t number = -1;
            (void)GAVE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
            (void)GAVE(ACL_SUCCESS, aclrtSetDevice(device));
            (void)GAVE(ACL_SUCCESS, aclrtGetDevice(&number));
            (void)HOLDS(number == device);
            (void)HOLDS((current() == primary) == (device == 0));
            DeviceNumber here(20);
            (void)GAVE(ACL_SUCCESS, program_op("ShortOP", 1, here.at(), nullptr));
            (void)GAVE(ACL_SUCCESS, aclrtSynchronizeDevice());
            (void)HOLDS(here.get() == 40);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    for (int32_t device = 1; device < 4; device++) // each was set once
        (void)GAVE(ACL_SUCCESS, aclrtResetDevice(device));
    (void)GAVE(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(3));
    (void)GAVE(ACL_SUCCESS, aclrtResetDevice(0)); // of two
    (void)HOLDS(current() == primary);
}

void test_limits()
{
    uint32_t limit = 0, again = 0;
    (void)GAVE(ACL_SUCCESS, aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &again));
    (void)GAVE(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 1));
    (void)GAVE(ACL_SUCCESS, aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &limit));
    (void)HOLDS(limit == 1);
    (void)GAVE(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
    (void)GAVE(ACL_SUCCESS, aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &limit));
    (void)HOLDS(limit == again && limit > 1);
}

} // namespace

int program_contexts()
{
    program_begin();
    test_the_current_context();
    test_threads();
    test_limits();
    (void)GAVE(ACL_SUCCESS, aclrtResetDevice(0));
    program_end();
    return program_failures();
}
