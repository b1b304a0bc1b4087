// One number in device memory, freed with the object.
#ifndef SOMA_TESTS_ACL_DEVICE_NUMBER_HPP
#define SOMA_TESTS_ACL_DEVICE_NUMBER_HPP

#include "program.h"

class DeviceNumber
{
  public:
    explicit DeviceNumber(uint32_t value)
    {
        (void)GAVE(ACL_SUCCESS, aclrtMalloc(&at_, sizeof(value), ACL_MEM_MALLOC_HUGE_FIRST));
        set(value);
    }
    ~DeviceNumber()
    {
        (void)GAVE(ACL_SUCCESS, aclrtFree(at_));
    }
    DeviceNumber(const DeviceNumber &) = delete;
    DeviceNumber &operator=(const DeviceNumber &) = delete;

    void set(uint32_t value)
    {
        (void)GAVE(ACL_SUCCESS, aclrtMemcpy(at_, sizeof(value), &value, sizeof(value),
                                            ACL_MEMCPY_HOST_TO_DEVICE));
    }
    [[nodiscard]] uint32_t get() const
    {
        uint32_t value = 0xdead;
        (void)GAVE(ACL_SUCCESS, aclrtMemcpy(&value, sizeof(value), at_, sizeof(value),
                                            ACL_MEMCPY_DEVICE_TO_HOST));
        return value;
    }
    [[nodiscard]] void *at() const
    {
        return at_;
    }

  private:
    void *at_ = nullptr;
};

#endif
