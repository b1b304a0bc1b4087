/* The books of addresses. */
#include "client_fixture.h"
#include "limits.h"
#include "ranges.h"
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static bool add(uint64_t address, uint64_t size, uint32_t device)
{
    struct client_range range = {.address = address, .size_bytes = size, .device = device};
    return EXPECT(client_ranges_add(&range), "no memory");
}

static void test_finds_the_range_of_an_address(void)
{
    struct client_range range;
    client_ranges_remove_devices();
    for (uint64_t i = 0; i < 200; i++) /* out of order */
        (void)add(((i * 77) % 200) * 1000, 500, (uint32_t)(i % 3));
    for (uint64_t i = 0; i < 200; i++) {
        (void)EXPECT(client_ranges_find(i * 1000, &range) && range.address == i * 1000, "start");
        (void)EXPECT(client_ranges_find(i * 1000 + 499, &range) && range.address == i * 1000,
                     "end");
        (void)EXPECT(!client_ranges_find(i * 1000 + 500, &range), "behind the end");
    }
    (void)EXPECT(!client_ranges_remove(0, 1, NULL), "an inner address");
    (void)EXPECT(!client_ranges_remove(7, 0, NULL), "another device");
    client_ranges_remove_device(1);
    unsigned left = 0;
    for (uint64_t i = 0; i < 200; i++)
        left += client_ranges_find(i * 1000, &range) ? 1 : 0;
    (void)EXPECT(left == 133 || left == 134, "%u left", left);
    client_ranges_remove_devices();
    (void)EXPECT(!client_ranges_find(0, &range), "all gone");
}

static void test_a_new_range_replaces_old_ones(void)
{
    struct client_range range;
    client_ranges_remove_devices();
    (void)add(1000, 100, 0);
    (void)add(1100, 100, 0);
    (void)add(1300, 100, 0);
    (void)add(1050, 200, 2);
    (void)EXPECT(client_ranges_find(1060, &range) && range.device == 2, "the new one");
    (void)EXPECT(!client_ranges_find(1000, &range), "what it overlapped is gone");
    (void)EXPECT(client_ranges_find(1300, &range) && range.device == 0, "the rest stays");
    client_ranges_remove_devices();
}

static void test_host_ranges_are_apart(void)
{
    struct client_range range;
    (void)add(5000, 10, CLIENT_HOST_RANGES);
    (void)EXPECT(client_ranges_find_host(5009, &range), "found");
    (void)EXPECT(!client_ranges_find(5009, &range), "not among the devices'");
    client_ranges_remove_devices();
    (void)EXPECT(client_ranges_remove(CLIENT_HOST_RANGES, 5000, NULL), "stayed");
}

static void test_no_host_pointer_in_device_addresses(void)
{
    int local = 0;
    void *heap = malloc(10);
    (void)EXPECT(!client_is_device_address(&local) && !client_is_device_address(heap) &&
                     !client_is_device_address((void *)(uintptr_t)&client_is_device_address),
                 "stack, heap or code look like device memory");
    free(heap);
    (void)EXPECT(client_is_device_address((void *)(uintptr_t)SOMA_ADDRESS_BASE) &&
                     !client_is_device_address((void *)(uintptr_t)(SOMA_ADDRESS_BASE - 1)) &&
                     !client_is_device_address((void *)(uintptr_t)SOMA_ADDRESS_SMALL_END),
                 "limits");
    client_addresses_reserve();
    void *wish = (void *)(uintptr_t)(SOMA_ADDRESS_BASE + (UINT64_C(1) << 30));
    void *got = mmap(wish, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)EXPECT(got == MAP_FAILED || !client_is_device_address(got), "the system gave out %p",
                 got);
    if (got != MAP_FAILED)
        (void)munmap(got, 4096);
}

static const struct client_test tests[] = {
    {"finds the range of an address", test_finds_the_range_of_an_address},
    {"a new range replaces old ones", test_a_new_range_replaces_old_ones},
    {"host ranges are apart", test_host_ranges_are_apart},
    {"no host pointer in device addresses", test_no_host_pointer_in_device_addresses},
    {NULL, NULL},
};
const struct client_suite suite_ranges = {"ranges", tests};
