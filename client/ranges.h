/* Which addresses belong to whom: memory of the devices (allocations and pools), and page-locked
 * memory of the host. Thread-safe. Ranges of one set never overlap. */
#ifndef SOMA_CLIENT_RANGES_H
#define SOMA_CLIENT_RANGES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_HOST_RANGES UINT32_MAX /* instead of a device: page-locked memory of the host */

struct client_range {
    uint64_t address;
    uint64_t size_bytes;
    uint32_t device;   /* or CLIENT_HOST_RANGES */
    bool is_pool;      /* the address range of a pool */
    void *owned;       /* host memory: what to free with the range; else NULL */
    bool is_mapped;    /* host memory that is registered: kernels reach it; what is owned they do */
    bool is_read_only; /* they do not write to it */
};

/* Make room and add; false: no memory. A range that overlaps an old one replaces it: the service
 * gave the addresses away again, so the old one is gone. */
bool client_ranges_add(const struct client_range *range) SOMA_MUST_USE;

/* The device range that holds this address. */
bool client_ranges_find(uint64_t address, struct client_range *range);

/* The page-locked range of the host that holds this address. */
bool client_ranges_find_host(uint64_t address, struct client_range *range);

/* Remove the range of this device (or CLIENT_HOST_RANGES) that begins at the address; false when
 * there is none. range may be NULL. */
bool client_ranges_remove(uint32_t device, uint64_t address, struct client_range *range);

/* Remove all ranges of a device. */
void client_ranges_remove_device(uint32_t device);

/* Remove all ranges of all devices; page-locked memory stays. */
void client_ranges_remove_devices(void);

/* Whether an address lies in the range that soma gives to devices. No pointer of the program does:
 * client_addresses_reserve keeps the range free. */
bool client_is_device_address(const void *ptr);

/* Take the device addresses out of the process's address space, once. Where that is impossible
 * (a limit on address space) nothing happens: the system hands out other addresses anyway. */
void client_addresses_reserve(void);

/* Memory of the process at device addresses that the service has given to it, zeroed; false: there
 * is none. unmap takes the addresses back. */
bool client_addresses_map(uint64_t address, uint64_t size_bytes) SOMA_MUST_USE;
void client_addresses_unmap(uint64_t address, uint64_t size_bytes);

#endif
