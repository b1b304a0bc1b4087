/* Copies in every direction, at once and in a stream, and between devices. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

enum { SPACES = 4 }; /* ordinary, page-locked, two of the device */

struct place {
    unsigned char *ptr;
    bool is_device;
};

static bool fill(const struct place *place, int value)
{
    if (place->is_device)
        return GAVE(ACL_SUCCESS, aclrtMemset(place->ptr, MIB, value, MIB));
    memset(place->ptr, value, MIB);
    return true;
}

static bool is_filled(const struct place *place, int value, size_t bytes)
{
    unsigned char *copy = place->ptr;
    bool good = true;
    if (place->is_device) {
        copy = malloc(bytes);
        good = HOLDS(copy != NULL) && GAVE(ACL_SUCCESS, aclrtMemcpy(copy, bytes, place->ptr, bytes,
                                                                    ACL_MEMCPY_DEVICE_TO_HOST));
    }
    for (size_t i = 0; i < bytes && good; i++)
        good = copy[i] == value;
    if (place->is_device)
        free(copy);
    return good;
}

static aclrtMemcpyKind kind_of(const struct place *to, const struct place *from)
{
    if (to->is_device)
        return from->is_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    return from->is_device ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
}

static void copy_each_way(const struct place *places, aclrtStream stream)
{
    int value = 0;
    for (int way = 0; way < SPACES * SPACES * 2; way++) {
        const struct place *to = &places[way / 2 % SPACES], *from = &places[way / 2 / SPACES];
        aclrtMemcpyKind kind = kind_of(to, from);
        if (to == from || !fill(from, ++value) || !fill(to, 0xff))
            continue;
        if (way % 2 == 0)
            (void)GAVE(ACL_SUCCESS, aclrtMemcpy(to->ptr, MIB, from->ptr, MIB - 64, kind));
        else if (GAVE(ACL_SUCCESS,
                      aclrtMemcpyAsync(to->ptr, MIB, from->ptr, MIB - 64, kind, stream)))
            (void)GAVE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        struct place rest = {to->ptr + MIB - 64, to->is_device};
        (void)HOLDS(is_filled(to, value, MIB - 64));
        (void)HOLDS(is_filled(&rest, 0xff, 64));
    }
}

static void copy_between_devices(void)
{
    void *here = NULL, *there = NULL;
    int32_t may = 0;
    unsigned char back[64] = {0};
    (void)GAVE(ACL_SUCCESS, aclrtDeviceCanAccessPeer(&may, 0, 1));
    (void)HOLDS(may == 1);
    (void)GAVE(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
    (void)GAVE(ACL_SUCCESS, aclrtMalloc(&here, 64, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    (void)GAVE(ACL_SUCCESS, aclrtMemset(here, 64, 0x5a, 64));
    (void)GAVE(ACL_SUCCESS, aclrtSetDevice(1));
    (void)GAVE(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(0, 0));
    (void)GAVE(ACL_SUCCESS, aclrtMalloc(&there, 64, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    (void)GAVE(ACL_SUCCESS, aclrtMemcpy(there, 64, here, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
    (void)GAVE(ACL_SUCCESS, aclrtMemcpy(back, 64, there, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 64; i++)
        (void)HOLDS(back[i] == 0x5a);
    (void)GAVE(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(0));
    (void)GAVE(ACL_SUCCESS, aclrtFree(there));
    (void)GAVE(ACL_SUCCESS, aclrtResetDeviceForce(1));
    (void)GAVE(ACL_SUCCESS, aclrtSetDevice(0));
    (void)GAVE(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
    (void)GAVE(ACL_SUCCESS, aclrtFree(here));
}

int program_copies(void)
{
    void *ptr[SPACES] = {NULL};
    aclrtStream stream = NULL;
    program_begin();
    ptr[0] = malloc(MIB);
    (void)GAVE(ACL_SUCCESS, aclrtMallocHost(&ptr[1], MIB));
    (void)GAVE(ACL_SUCCESS, aclrtMalloc(&ptr[2], MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GAVE(ACL_SUCCESS, aclrtMalloc(&ptr[3], MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    (void)GAVE(ACL_SUCCESS, aclrtCreateStream(&stream));
    const struct place places[SPACES] = {
        {ptr[0], false}, {ptr[1], false}, {ptr[2], true}, {ptr[3], true}};
    if (HOLDS(ptr[0] != NULL && ptr[1] != NULL && ptr[2] != NULL && ptr[3] != NULL))
        copy_each_way(places, stream);
    copy_between_devices();
    free(ptr[0]);
    (void)GAVE(ACL_SUCCESS, aclrtFreeHost(ptr[1]));
    (void)GAVE(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    (void)GAVE(ACL_SUCCESS, aclrtResetDeviceForce(0));
    program_end();
    return program_failures();
}
