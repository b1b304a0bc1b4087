/* Reserved addresses and what is mapped there: aclrtReserveMemAddress, aclrtMapMem and their kin;
 * managed memory, which is both at once. */
#include "internal.h"

#include <inttypes.h>

struct reservation *reservation_at(const struct engine *engine, uint64_t address)
{
    struct reservation *reservation =
        TREE_ENTRY(tree_floor(&engine->reservations, address, 0), struct reservation, by_address);
    bool holds = reservation != NULL && address - reservation->address < reservation->size;
    return holds ? reservation : NULL;
}

/* The mapping of a reservation that holds the address; NULL: nothing is mapped there. */
static struct mapping *mapping_at(const struct reservation *reservation, uint64_t address)
{
    struct mapping *mapping =
        TREE_ENTRY(tree_floor(&reservation->mappings, address, 0), struct mapping, by_address);
    bool holds = mapping != NULL && address - mapping->address < mapping->physical->size;
    return holds ? mapping : NULL;
}

static uint64_t end_of(const struct mapping *mapping)
{
    return mapping->address + mapping->physical->size;
}

static bool may_access(const struct mapping *mapping, const struct device *device)
{
    return (mapping->access >> device->number & 1u) != 0;
}

/* ---- what is where ---- */

void engine_translate(const struct engine *engine, uint64_t address, struct engine_piece *piece)
{
    const struct reservation *reservation = reservation_at(engine, address);
    const struct mapping *mapping = reservation == NULL ? NULL : mapping_at(reservation, address);
    if (mapping == NULL) {
        *piece = (struct engine_piece){address, address, UINT64_MAX - address};
        return;
    }
    uint64_t offset = address - mapping->address;
    *piece = (struct engine_piece){mapping->physical->contents + offset, offset,
                                   mapping->physical->size - offset};
}

static enum soma_status fail_access(const struct device *device, const struct mapping *mapping,
                                    uint64_t address, const char *field, struct soma_error *error)
{
    if (mapping == NULL)
        return soma_fail(error, SOMA_INVALID_ADDRESS, field,
                         "0x%" PRIx64 " is reserved, but no memory is mapped there", address);
    return soma_fail(error, SOMA_INVALID_ADDRESS, field,
                     "device %" PRIu64 " may not access 0x%" PRIx64
                     ", where memory of device %" PRIu64 " is mapped; call setAccess for it",
                     device->number, address,
                     mapping->physical->device != NULL ? mapping->physical->device->number : 0);
}

/* The mapping behind this one, when they touch and the device may access both. */
static struct mapping *next_of_run(const struct mapping *mapping, const struct device *device)
{
    struct mapping *next = TREE_ENTRY(tree_next(&mapping->by_address), struct mapping, by_address);
    bool joins = next != NULL && next->address == end_of(mapping) && may_access(next, device);
    return joins ? next : NULL;
}

enum soma_status reservation_locate(const struct reservation *reservation,
                                    const struct device *device, const struct range *range,
                                    struct place *place, struct soma_error *error)
{
    const struct mapping *first = mapping_at(reservation, range->address), *last = first, *next;
    if (first == NULL || !may_access(first, device))
        return fail_access(device, first, range->address, range->field, error);
    uint64_t offset = range->address - first->address;
    while (end_of(last) - range->address < range->size &&
           (next = next_of_run(last, device)) != NULL)
        last = next;
    uint64_t end = end_of(last);
    *place = (struct place){.base = first->address,
                            .size = end - first->address,
                            .requested_size = first->physical->size,
                            .reservation = reservation};
    if (reservation->is_managed)
        place->requested_size = reservation->requested_size;
    if (range->size <= place->size - offset)
        return SOMA_OK;
    const struct mapping *behind = mapping_at(reservation, end);
    if (end == reservation->address + reservation->size)
        return soma_fail(error, SOMA_INVALID_ADDRESS, range->size_field,
                         "%" PRIu64 " bytes from 0x%" PRIx64
                         " leave the reserved addresses; at most %" PRIu64 " are left there",
                         range->size, range->address, end - range->address);
    return fail_access(device, behind, end, range->size_field, error);
}

void reservation_run(const struct reservation *reservation, const struct device *device,
                     struct place *place)
{
    const struct mapping *first = mapping_at(reservation, place->base), *last = first, *other;
    for (;;) {
        other = TREE_ENTRY(tree_previous_below(&first->by_address, UINT64_MAX), struct mapping,
                           by_address);
        if (other == NULL || next_of_run(other, device) != first || !may_access(other, device))
            break;
        first = other;
    }
    while ((other = next_of_run(last, device)) != NULL)
        last = other;
    place->base = first->address;
    place->size = end_of(last) - first->address;
}

/* ---- making and ending ---- */

static enum soma_status take_addresses(struct call *call, uint64_t size,
                                       struct reservation **reservation)
{
    struct engine *engine = call->engine;
    struct reservation *taken = engine_alloc(engine, sizeof(*taken));
    uint64_t wanted = call_has(call, SOMA_HAS(expect_ptr)) ? call->command->expect_ptr : 0;
    enum soma_status status = SOMA_OUT_OF_MEMORY;
    if (taken != NULL && wanted != 0)
        status = space_take_at(engine, &engine->large, wanted, size, &taken->gap);
    else if (taken != NULL)
        status = space_take(engine, &engine->large, size, &taken->address, &taken->gap);
    if (status == SOMA_OK) {
        taken->address = wanted != 0 ? wanted : taken->address;
        taken->size = size;
        *reservation = taken;
        return SOMA_OK;
    }
    engine_free(engine, taken);
    if (status == SOMA_OUT_OF_MEMORY)
        return engine_no_memory(call);
    if (wanted != 0)
        return soma_fail(call->error, SOMA_ADDRESS_TAKEN, "expectPtr",
                         "%" PRIu64 " bytes from 0x%" PRIx64
                         " are not free, or not within 0x%" PRIx64 " and 0x%" PRIx64
                         "; leave expectPtr out",
                         size, wanted, SOMA_ADDRESS_BASE, SOMA_ADDRESS_END);
    return soma_fail(call->error, status, "size",
                     "the session's device addresses have no gap of %" PRIu64
                     " bytes left; release addresses, free memory or destroy pools",
                     size);
}

static enum soma_status check_expected(struct call *call, uint64_t size)
{
    uint64_t wanted = call->command->expect_ptr;
    uint64_t unit = size > SOMA_GIANT_PAGE_BYTES ? SOMA_GIANT_PAGE_BYTES : SOMA_GRANULE_BYTES;
    if (!call_has(call, SOMA_HAS(expect_ptr)) || wanted % unit == 0)
        return SOMA_OK;
    return soma_fail(call->error, SOMA_ADDRESS_UNALIGNED, "expectPtr",
                     "0x%" PRIx64 " is no multiple of %" PRIu64 " bytes, as %" PRIu64
                     " bytes need it",
                     wanted, unit, size);
}

/* The size in whole granules. */
static enum soma_status size_of_new(struct call *call, uint64_t *size)
{
    *size = round_up(call->command->size, SOMA_GRANULE_BYTES);
    if (call->command->size == 0)
        return soma_fail(call->error, SOMA_ZERO_SIZE, "size", "size is 0; give at least 1 byte");
    if (*size == 0)
        return soma_fail(call->error, SOMA_SIZE_OVERFLOW, "size",
                         "size %" PRIu64 " rounded up leaves 64 bits", call->command->size);
    return SOMA_OK;
}

enum soma_status memory_reserve(struct call *call)
{
    struct reservation *reservation = NULL;
    uint64_t size = 0;
    enum soma_status status = size_of_new(call, &size);
    if (status == SOMA_OK)
        status = check_expected(call, size);
    if (status == SOMA_OK)
        status = take_addresses(call, size, &reservation);
    if (status != SOMA_OK)
        return status;
    tree_insert(&call->engine->reservations, &reservation->by_address, reservation->address, 0);
    call->result->u.memory_block = (struct soma_memory_block){reservation->address, size};
    return SOMA_OK;
}

static void unmap(struct engine *engine, struct reservation *reservation, struct mapping *mapping)
{
    struct physical *physical = mapping->physical;
    tree_remove(&reservation->mappings, &mapping->by_address);
    reservation->mapped_bytes -= physical->size;
    reservation->mapping_count--;
    physical->mappings--;
    engine_free(engine, mapping);
    physical_drop(engine, physical);
}

void reservation_unmap_all(struct engine *engine, struct reservation *reservation,
                           const struct device *device)
{
    struct tree_node *node, *next;
    for (node = tree_first(&reservation->mappings); node != NULL; node = next) {
        struct mapping *mapping = TREE_ENTRY(node, struct mapping, by_address);
        next = tree_next(node);
        if (device == NULL || mapping->physical->device == device)
            unmap(engine, reservation, mapping);
    }
}

void reservation_release(struct engine *engine, struct reservation *reservation)
{
    reservation_unmap_all(engine, reservation, NULL);
    if (reservation->is_managed)
        engine->managed_bytes -= reservation->size;
    tree_remove(&engine->reservations, &reservation->by_address);
    space_give(engine, &engine->large, reservation->address, reservation->size, reservation->gap);
    engine_free(engine, reservation);
}

/* The reservation, not a managed one, that holds command->ptr. */
static struct reservation *named_reservation(struct call *call)
{
    uint64_t ptr = call->command->ptr;
    struct reservation *reservation = reservation_at(call->engine, ptr);
    if (reservation == NULL || reservation->is_managed) {
        (void)soma_fail(call->error, SOMA_NO_SUCH_RESERVATION, "ptr",
                        "0x%" PRIx64 " is not reserved: it was released, or never was%s", ptr,
                        reservation != NULL ? " (it is managed memory, free it)" : "");
        return NULL;
    }
    return reservation;
}

enum soma_status memory_release(struct call *call)
{
    struct reservation *reservation = named_reservation(call);
    uint64_t ptr = call->command->ptr;
    if (reservation == NULL)
        return call->error->status;
    if (reservation->address != ptr)
        return soma_fail(call->error, SOMA_NO_SUCH_RESERVATION, "ptr",
                         "0x%" PRIx64 " lies inside reserved addresses; release their start, "
                         "0x%" PRIx64,
                         ptr, reservation->address);
    if (reservation->mapping_count > 0)
        return soma_fail(call->error, SOMA_ALREADY_MAPPED, "ptr",
                         "memory is mapped in the reserved addresses at 0x%" PRIx64
                         " (mappings: %" PRIu64 "); unmap it first",
                         ptr, reservation->mapping_count);
    reservation_release(call->engine, reservation);
    return SOMA_OK;
}

/* ---- mapping ---- */

static enum soma_status check_map(struct call *call, const struct reservation *reservation,
                                  const struct physical *physical)
{
    const struct soma_command *command = call->command;
    uint64_t ptr = command->ptr, size = physical->size;
    if (command->size != size)
        return soma_fail(call->error, SOMA_MAPPING_SIZE, "size",
                         "size is %" PRIu64 "; physical memory %" PRIu64 " is mapped as a whole, "
                         "%" PRIu64 " bytes",
                         command->size, physical->id, size);
    if (ptr % SOMA_GRANULE_BYTES != 0)
        return soma_fail(call->error, SOMA_ADDRESS_UNALIGNED, "ptr",
                         "0x%" PRIx64 " is no multiple of the granularity, 2 MiB", ptr);
    if (size > reservation->address + reservation->size - ptr)
        return soma_fail(
            call->error, SOMA_NO_SUCH_RESERVATION, "size",
            "%" PRIu64 " bytes from 0x%" PRIx64 " leave the reserved addresses at 0x%" PRIx64
            "; %" PRIu64 " are left there",
            size, ptr, reservation->address, reservation->address + reservation->size - ptr);
    struct tree_node *node = tree_floor(&reservation->mappings, ptr + size - 1, 0);
    const struct mapping *other = TREE_ENTRY(node, struct mapping, by_address);
    if (other != NULL && end_of(other) > ptr)
        return soma_fail(call->error, SOMA_ALREADY_MAPPED, "ptr",
                         "0x%" PRIx64 " to 0x%" PRIx64 " meet the mapping of %" PRIu64
                         " bytes at 0x%" PRIx64 "; unmap it first",
                         ptr, ptr + size - 1, other->physical->size, other->address);
    other = TREE_ENTRY(tree_first(&reservation->mappings), struct mapping, by_address);
    if (other != NULL && other->physical->device != physical->device)
        return soma_fail(call->error, SOMA_MAPPING_OF_OTHER_DEVICE, "physical",
                         "physical memory %" PRIu64 " is device %" PRIu64
                         "'s, and the addresses reserved at 0x%" PRIx64
                         " hold memory of device %" PRIu64 "; reserve others for it",
                         physical->id, physical->device->number, reservation->address,
                         other->physical->device->number);
    return SOMA_OK;
}

/* All is checked, `mapping` is new: cannot fail. */
static void map(struct reservation *reservation, struct mapping *mapping, struct physical *physical,
                uint64_t address)
{
    mapping->physical = physical;
    mapping->address = address;
    physical->mappings++;
    reservation->mapped_bytes += physical->size;
    reservation->mapping_count++;
    tree_insert(&reservation->mappings, &mapping->by_address, address, 0);
}

enum soma_status memory_map(struct call *call)
{
    struct reservation *reservation = named_reservation(call);
    if (reservation == NULL)
        return call->error->status;
    struct physical *physical = physical_find(call, call->command->physical);
    if (physical == NULL)
        return call->error->status;
    enum soma_status status = check_map(call, reservation, physical);
    if (status != SOMA_OK)
        return status;
    struct mapping *mapping = engine_alloc(call->engine, sizeof(*mapping));
    if (mapping == NULL)
        return engine_no_memory(call);
    if (call->command->access == SOMA_ACCESS_READWRITE)
        mapping->access = UINT64_C(1) << physical->device->number;
    map(reservation, mapping, physical, call->command->ptr);
    return SOMA_OK;
}

/* The mapping that begins at command->ptr, and where. */
static struct mapping *named_mapping(struct call *call, struct reservation **reservation)
{
    uint64_t ptr = call->command->ptr;
    *reservation = named_reservation(call);
    if (*reservation == NULL)
        return NULL;
    struct mapping *mapping = mapping_at(*reservation, ptr);
    if (mapping != NULL && mapping->address == ptr)
        return mapping;
    if (mapping != NULL)
        (void)soma_fail(call->error, SOMA_NOT_MAPPED, "ptr",
                        "0x%" PRIx64 " lies inside a mapping; name its start, 0x%" PRIx64, ptr,
                        mapping->address);
    else
        (void)soma_fail(call->error, SOMA_NOT_MAPPED, "ptr", "nothing is mapped at 0x%" PRIx64,
                        ptr);
    return NULL;
}

enum soma_status memory_unmap(struct call *call)
{
    struct reservation *reservation = NULL;
    struct mapping *mapping = named_mapping(call, &reservation);
    if (mapping == NULL)
        return call->error->status;
    unmap(call->engine, reservation, mapping);
    return SOMA_OK;
}

enum soma_status memory_retain_physical(struct call *call)
{
    struct reservation *reservation = NULL;
    struct mapping *mapping = named_mapping(call, &reservation);
    if (mapping == NULL)
        return call->error->status;
    mapping->physical->handles++;
    physical_describe(mapping->physical, &call->result->u.physical);
    return SOMA_OK;
}

/* ---- access ---- */

enum soma_status memory_set_access(struct call *call)
{
    struct reservation *reservation = NULL;
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    struct mapping *mapping = named_mapping(call, &reservation);
    if (mapping == NULL)
        return call->error->status;
    if (call->command->size != mapping->physical->size)
        return soma_fail(call->error, SOMA_MAPPING_SIZE, "size",
                         "size is %" PRIu64 "; access is set for a whole mapping, here %" PRIu64
                         " bytes",
                         call->command->size, mapping->physical->size);
    uint64_t bit = UINT64_C(1) << device->number;
    if (call->command->access == SOMA_ACCESS_READWRITE)
        mapping->access |= bit;
    else
        mapping->access &= ~bit;
    return SOMA_OK;
}

enum soma_status memory_get_access(struct call *call)
{
    struct reservation *reservation = NULL;
    const struct device *device = device_find(call);
    if (device == NULL)
        return call->error->status;
    const struct mapping *mapping = named_mapping(call, &reservation);
    if (mapping == NULL)
        return call->error->status;
    call->result->u.access_right.access =
        may_access(mapping, device) ? SOMA_ACCESS_READWRITE : SOMA_ACCESS_NONE;
    return SOMA_OK;
}

/* ---- managed memory: addresses of its own with memory of no device behind them ---- */

enum soma_status memory_malloc_managed(struct call *call)
{
    struct engine *engine = call->engine;
    struct reservation *reservation = NULL;
    struct physical *physical = NULL;
    uint64_t size = 0;
    if (device_find(call) == NULL)
        return call->error->status;
    if (engine->soc->npu_arch != SOMA_ARCH_A2)
        return soma_fail(call->error, SOMA_SOC_UNSUPPORTED, "",
                         "%s has no managed memory; Ascend910B and Ascend910_93 do",
                         engine->soc->name);
    enum soma_status status = size_of_new(call, &size);
    if (status != SOMA_OK)
        return status;
    if (size > SOMA_MANAGED_BYTES_MAX - engine->managed_bytes)
        return soma_fail(call->error, SOMA_DEVICE_OUT_OF_MEMORY, "size",
                         "%" PRIu64 " bytes of managed memory are in use and at most %" PRIu64
                         " may be; free some",
                         engine->managed_bytes, SOMA_MANAGED_BYTES_MAX);
    struct mapping *mapping = engine_alloc(engine, sizeof(*mapping));
    if (mapping == NULL)
        return engine_no_memory(call);
    status = take_addresses(call, size, &reservation);
    if (status == SOMA_OK)
        status = physical_new(call, NULL, size, &physical);
    if (status != SOMA_OK) {
        if (reservation != NULL)
            space_give(engine, &engine->large, reservation->address, size, reservation->gap);
        engine_free(engine, reservation);
        engine_free(engine, mapping);
        return status;
    }
    reservation->is_managed = true;
    reservation->requested_size = call->command->size;
    mapping->access = UINT64_MAX;
    engine->managed_bytes += size;
    tree_insert(&engine->reservations, &reservation->by_address, reservation->address, 0);
    map(reservation, mapping, physical, reservation->address);
    call->result->u.memory_block = (struct soma_memory_block){reservation->address, size};
    return SOMA_OK;
}

/* ---- what there is ---- */

static bool is_listed(const struct reservation *reservation)
{
    return !reservation->is_managed;
}

static enum soma_status describe(struct call *call, const struct reservation *reservation,
                                 struct soma_reservation *out)
{
    void *items = NULL;
    size_t count = 0;
    *out = (struct soma_reservation){.ptr = reservation->address,
                                     .size = reservation->size,
                                     .mapped_bytes = reservation->mapped_bytes};
    enum soma_status status = engine_result_array(call, (size_t)reservation->mapping_count,
                                                  sizeof(struct soma_mapping), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_mapping *mappings = items;
    for (struct tree_node *node = tree_first(&reservation->mappings); node != NULL;
         node = tree_next(node)) {
        const struct mapping *mapping = TREE_ENTRY(node, struct mapping, by_address);
        mappings[count++] =
            (struct soma_mapping){mapping->address, mapping->physical->size, mapping->physical->id,
                                  mapping->physical->device->number};
    }
    out->mappings.items = mappings;
    out->mappings.count = count;
    return SOMA_OK;
}

enum soma_status memory_reservations(struct call *call)
{
    struct engine *engine = call->engine;
    void *items = NULL;
    size_t count = 0, filled = 0;
    struct tree_node *node;
    for (node = tree_first(&engine->reservations); node != NULL; node = tree_next(node))
        count += is_listed(TREE_ENTRY(node, struct reservation, by_address));
    enum soma_status status =
        engine_result_array(call, count, sizeof(struct soma_reservation), &items);
    if (status != SOMA_OK)
        return status;
    struct soma_reservation *reservations = items;
    call->result->u.reservation_list.reservations.items = reservations;
    for (node = tree_first(&engine->reservations); node != NULL && status == SOMA_OK;
         node = tree_next(node)) {
        const struct reservation *reservation = TREE_ENTRY(node, struct reservation, by_address);
        if (is_listed(reservation))
            status = describe(call, reservation, &reservations[filled++]);
        call->result->u.reservation_list.reservations.count = filled;
    }
    return status;
}
