/* Random programs of reservations, physical memory and mappings, with contents, against a model
 * that keeps one entry for each granule. The engine runs on the server's own table of bytes, so
 * kernels see across mappings as in the service. */
#include "bytes.h"
#include "engine.h"
#include "expect.h"
#include "host_memory.h"
#include "kernels.h"
#include "random.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define G SOMA_GRANULE_BYTES

enum {
    SLOTS = 6,        /* reservations, and pieces of physical memory, at a time */
    GRANULES_MAX = 6, /* of one reservation */
    PIECE_MAX = 3,    /* granules of one piece */
    EDGE_BYTES = 24,  /* accesses reach so far to both sides of a granule's edge */
    STEPS = 6000,
    NOBODY = -1
};

/* The first and the last bytes of each granule: all that is ever accessed. */
struct granule {
    unsigned char first[EDGE_BYTES], last[EDGE_BYTES];
};

struct piece {
    bool is_live; /* has a handle or is mapped */
    uint64_t id;
    unsigned device, granules;
    unsigned handles, mappings;
    struct granule contents[PIECE_MAX];
};

struct spot {
    int piece; /* NOBODY: nothing is mapped */
    unsigned granule;
    unsigned access; /* bit d: device d */
};

struct area {
    uint64_t address; /* 0: none */
    unsigned granules;
    struct spot spots[GRANULES_MAX];
};

struct world {
    struct random_source random;
    struct kernels *kernels;
    struct bytes *bytes;
    struct engine *engine;
    struct piece pieces[SLOTS];
    struct area areas[SLOTS];
    struct soma_error error;
    unsigned accepted;
};

static unsigned below(struct world *world, unsigned limit)
{
    return (unsigned)random_below(&world->random, limit);
}

/* Run a command that the model says succeeds or not. */
static bool run(struct world *world, const struct soma_command *command, bool wanted,
                struct soma_result *result)
{
    struct soma_result unwanted;
    struct soma_result *out = result != NULL ? result : &unwanted;
    char why[256];
    enum soma_status status = engine_apply(world->engine, command, out, &world->error);
    EXPECT((status == SOMA_OK) == wanted, "%s: status %d, %s", soma_op_info(command->op)->name,
           (int)status, status == SOMA_OK ? "but the model refuses it" : world->error.message);
    EXPECT(engine_check(world->engine, why, sizeof(why)), "%s", why);
    if (status == SOMA_OK && result == NULL)
        engine_result_clear(world->engine, out);
    world->accepted += status == SOMA_OK;
    return status == SOMA_OK && wanted;
}

/* ---- reservations and physical memory ---- */

static void do_reserve(struct world *world, struct area *area)
{
    struct soma_command command;
    struct soma_result result;
    if (area->address == 0) {
        area->granules = 1 + below(world, GRANULES_MAX);
        soma_command_init(&command, SOMA_OP_MEMORY_RESERVE);
        soma_command_set(&command, SOMA_FIELD_size, area->granules * G - below(world, 100));
        if (!run(world, &command, true, &result))
            return;
        area->address = result.u.memory_block.ptr;
        for (unsigned i = 0; i < area->granules; i++)
            area->spots[i].piece = NOBODY;
        return;
    }
    bool is_empty = true;
    for (unsigned i = 0; i < area->granules; i++)
        is_empty = is_empty && area->spots[i].piece == NOBODY;
    soma_command_init(&command, SOMA_OP_MEMORY_RELEASE);
    soma_command_set(&command, SOMA_FIELD_ptr, area->address);
    if (run(world, &command, is_empty, NULL))
        area->address = 0;
}

static void drop(struct piece *piece)
{
    piece->is_live = piece->handles > 0 || piece->mappings > 0;
}

static void do_physical(struct world *world, struct piece *piece)
{
    struct soma_command command;
    struct soma_result result;
    if (!piece->is_live) {
        memset(piece, 0, sizeof(*piece));
        piece->granules = 1 + below(world, PIECE_MAX);
        piece->device = below(world, 5) == 0;
        soma_command_init(&command, SOMA_OP_MEMORY_MALLOC_PHYSICAL);
        soma_command_set(&command, SOMA_FIELD_device, piece->device);
        soma_command_set(&command, SOMA_FIELD_size, piece->granules * G);
        if (!run(world, &command, true, &result))
            return;
        piece->id = result.u.physical.physical;
        piece->handles = 1;
        drop(piece);
        return;
    }
    soma_command_init(&command, SOMA_OP_MEMORY_FREE_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_physical, piece->id);
    if (run(world, &command, piece->handles > 0, &result)) {
        piece->handles--;
        EXPECT(result.u.physical_left.handles == piece->handles &&
                   result.u.physical_left.mappings == piece->mappings,
               "what is left");
        drop(piece);
    }
}

/* ---- mappings ---- */

static bool may_map(const struct world *world, const struct area *area, unsigned at, int index)
{
    const struct piece *piece = &world->pieces[index];
    if (area->address == 0 || piece->handles == 0 || at + piece->granules > area->granules)
        return false;
    for (unsigned i = 0; i < area->granules; i++) {
        bool is_mapped = area->spots[i].piece != NOBODY;
        if (is_mapped && ((i >= at && i < at + piece->granules) ||
                          world->pieces[area->spots[i].piece].device != piece->device))
            return false;
    }
    return true;
}

static void do_map(struct world *world, struct area *area)
{
    struct soma_command command;
    unsigned at = area->address != 0 ? below(world, area->granules) : 0;
    int index = (int)below(world, SLOTS);
    struct piece *piece = &world->pieces[index];
    bool wanted = may_map(world, area, at, index);
    bool has_access = below(world, 8) != 0;
    if (area->address == 0 || piece->id == 0)
        return;
    soma_command_init(&command, SOMA_OP_MEMORY_MAP);
    soma_command_set(&command, SOMA_FIELD_ptr, area->address + at * G);
    soma_command_set(&command, SOMA_FIELD_size, piece->granules * G);
    soma_command_set(&command, SOMA_FIELD_physical, piece->id);
    soma_command_set(&command, SOMA_FIELD_access,
                     has_access ? SOMA_ACCESS_READWRITE : SOMA_ACCESS_NONE);
    if (!run(world, &command, wanted, NULL))
        return;
    piece->mappings++;
    for (unsigned i = 0; i < piece->granules; i++)
        area->spots[at + i] = (struct spot){index, i, has_access ? 1u << piece->device : 0};
}

/* A granule at which a mapping begins; *index: whose. Often one that is no start. */
static bool starts_at(const struct area *area, unsigned at)
{
    return at < area->granules && area->spots[at].piece != NOBODY && area->spots[at].granule == 0;
}

static void do_unmap(struct world *world, struct area *area)
{
    struct soma_command command;
    unsigned at = below(world, area->granules);
    bool wanted = starts_at(area, at);
    soma_command_init(&command, SOMA_OP_MEMORY_UNMAP);
    soma_command_set(&command, SOMA_FIELD_ptr, area->address + at * G);
    if (!run(world, &command, wanted, NULL))
        return;
    struct piece *piece = &world->pieces[area->spots[at].piece];
    for (unsigned i = 0; i < piece->granules; i++)
        area->spots[at + i].piece = NOBODY;
    piece->mappings--;
    drop(piece);
}

static void do_access(struct world *world, struct area *area)
{
    struct soma_command command;
    unsigned at = below(world, area->granules), device = below(world, 2);
    bool wanted = starts_at(area, at), allow = below(world, 3) != 0;
    unsigned granules = wanted ? world->pieces[area->spots[at].piece].granules : 1;
    soma_command_init(&command, SOMA_OP_MEMORY_SET_ACCESS);
    soma_command_set(&command, SOMA_FIELD_device, device);
    soma_command_set(&command, SOMA_FIELD_ptr, area->address + at * G);
    soma_command_set(&command, SOMA_FIELD_size, granules * G);
    soma_command_set(&command, SOMA_FIELD_access, allow ? SOMA_ACCESS_READWRITE : SOMA_ACCESS_NONE);
    if (!run(world, &command, wanted, NULL))
        return;
    for (unsigned i = 0; i < granules; i++) {
        unsigned *access = &area->spots[at + i].access;
        *access = allow ? *access | 1u << device : *access & ~(1u << device);
    }
}

static void do_retain(struct world *world, struct area *area)
{
    struct soma_command command;
    struct soma_result result;
    unsigned at = below(world, area->granules);
    bool wanted = starts_at(area, at);
    soma_command_init(&command, SOMA_OP_MEMORY_RETAIN_PHYSICAL);
    soma_command_set(&command, SOMA_FIELD_ptr, area->address + at * G);
    if (run(world, &command, wanted, &result)) {
        struct piece *piece = &world->pieces[area->spots[at].piece];
        piece->handles++;
        EXPECT(result.u.physical.physical == piece->id &&
                   result.u.physical.handles == piece->handles,
               "another one was retained");
    }
}

/* ---- accesses ---- */

/* A span around the edge in front of granule `edge` of an area. */
struct span {
    struct area *area;
    unsigned device;
    uint64_t address;
    int from; /* bytes before the edge, as a negative number */
    unsigned size, edge;
};

static struct span any_span(struct world *world, struct area *area, unsigned device)
{
    int from = -(int)below(world, EDGE_BYTES);
    unsigned edge = below(world, area->granules + 1);
    if (edge == 0)
        from = 0;
    unsigned size = 1 + below(world, EDGE_BYTES);
    if (edge == area->granules && from + (int)size > 0)
        from = -(int)size; /* up to the end */
    return (struct span){area, device, area->address + edge * G + (uint64_t)(int64_t)from,
                         from, size,   edge};
}

/* Byte i of the span in the model; NULL: it may not be accessed. */
static unsigned char *byte_of(struct world *world, const struct span *span, unsigned i)
{
    int at = span->from + (int)i;
    unsigned granule = at < 0 ? span->edge - 1 : span->edge;
    const struct spot *spot = &span->area->spots[granule];
    if (spot->piece == NOBODY || (spot->access >> span->device & 1u) == 0)
        return NULL;
    struct granule *contents = &world->pieces[spot->piece].contents[spot->granule];
    return at < 0 ? &contents->last[EDGE_BYTES + at] : &contents->first[at];
}

static bool may_access(struct world *world, const struct span *span)
{
    for (unsigned i = 0; i < span->size; i++) {
        if (byte_of(world, span, i) == NULL)
            return false;
    }
    return true;
}

static void do_write(struct world *world, const struct span *span)
{
    struct soma_command command;
    unsigned char data[EDGE_BYTES];
    for (unsigned i = 0; i < span->size; i++)
        data[i] = (unsigned char)random_next(&world->random);
    soma_command_init(&command, SOMA_OP_MEMORY_WRITE);
    soma_command_set(&command, SOMA_FIELD_device, span->device);
    soma_command_set(&command, SOMA_FIELD_ptr, span->address);
    command.data = (struct soma_text){(const char *)data, span->size};
    command.present |= SOMA_HAS(data);
    if (run(world, &command, may_access(world, span), NULL)) {
        for (unsigned i = 0; i < span->size; i++)
            *byte_of(world, span, i) = data[i];
    }
}

static void do_read(struct world *world, const struct span *span)
{
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, SOMA_OP_MEMORY_READ);
    soma_command_set(&command, SOMA_FIELD_device, span->device);
    soma_command_set(&command, SOMA_FIELD_ptr, span->address);
    soma_command_set(&command, SOMA_FIELD_size, span->size);
    if (!run(world, &command, may_access(world, span), &result))
        return;
    for (unsigned i = 0; i < span->size; i++)
        EXPECT((unsigned char)result.u.memory_bytes.data.ptr[i] == *byte_of(world, span, i),
               "byte %u at 0x%llx", i, (unsigned long long)span->address + i);
    engine_result_clear(world->engine, &result);
}

/* A copy, by memory.copy or by the kernel of that name. Not between two mappings of one piece,
 * whose bytes would overlap in secret. */
static void do_copy(struct world *world, struct span *to, struct span *from)
{
    struct soma_command command;
    unsigned char data[EDGE_BYTES];
    unsigned size = to->size < from->size ? to->size : from->size;
    to->size = from->size = size;
    bool wanted = may_access(world, to) && may_access(world, from);
    for (unsigned i = 0; i < size && wanted; i++) {
        data[i] = *byte_of(world, from, i);
        for (unsigned k = 0; k < size; k++) {
            if (to->address + k != from->address + i &&
                byte_of(world, to, k) == byte_of(world, from, i))
                return;
        }
    }
    struct soma_kernel_arg args[] = {{SOMA_ARG_PTR, to->address, {NULL, 0}},
                                     {SOMA_ARG_PTR, from->address, {NULL, 0}},
                                     {SOMA_ARG_U64, size, {NULL, 0}}};
    bool by_kernel = below(world, 2) == 0;
    soma_command_init(&command, by_kernel ? SOMA_OP_STREAM_LAUNCH_KERNEL : SOMA_OP_MEMORY_COPY);
    soma_command_set(&command, SOMA_FIELD_device, to->device);
    if (by_kernel) {
        soma_command_set(&command, SOMA_FIELD_stream, 0);
        command.kernel = (struct soma_text){"copy", 4};
        command.args = (struct soma_kernel_args){args, 3};
        command.present |= SOMA_HAS(kernel) | SOMA_HAS(args);
    } else {
        soma_command_set(&command, SOMA_FIELD_dst, to->address);
        soma_command_set(&command, SOMA_FIELD_src, from->address);
        soma_command_set(&command, SOMA_FIELD_size, size);
    }
    if (run(world, &command, wanted, NULL)) {
        for (unsigned i = 0; i < size; i++)
            *byte_of(world, to, i) = data[i];
    }
}

/* ---- all together ---- */

static void step(struct world *world)
{
    struct area *area = &world->areas[below(world, SLOTS)];
    struct area *other = &world->areas[below(world, SLOTS)];
    unsigned choice = below(world, 28), device = below(world, 2);
    if (choice == 0 || area->address == 0 || other->address == 0) {
        do_reserve(world, other->address == 0 ? other : area);
        return;
    }
    for (unsigned i = 0; i < area->granules && choice % 4 != 0; i++) {
        if (area->spots[i].piece != NOBODY) /* most accesses are those of its device */
            device = world->pieces[area->spots[i].piece].device;
    }
    struct span span = any_span(world, area, device), from = any_span(world, other, device);
    if (choice <= 1)
        do_physical(world, &world->pieces[below(world, SLOTS)]);
    else if (choice <= 5)
        do_map(world, area);
    else if (choice == 6)
        do_unmap(world, area);
    else if (choice == 7)
        do_access(world, area);
    else if (choice == 8)
        do_retain(world, area);
    else if (choice <= 13)
        do_write(world, &span);
    else if (choice <= 21)
        do_read(world, &span);
    else
        do_copy(world, &span, &from);
}

static void check_free(struct world *world)
{
    struct soma_command command;
    struct soma_result result;
    for (unsigned device = 0; device < 2; device++) {
        uint64_t taken = 0;
        for (unsigned i = 0; i < SLOTS; i++)
            taken += world->pieces[i].is_live && world->pieces[i].device == device
                         ? world->pieces[i].granules * G
                         : 0;
        soma_command_init(&command, SOMA_OP_MEMORY_INFO);
        soma_command_set(&command, SOMA_FIELD_device, device);
        if (run(world, &command, true, &result))
            EXPECT(result.u.memory_info.total_bytes - result.u.memory_info.free_bytes == taken,
                   "device %u: %llu taken", device, (unsigned long long)taken);
    }
}

static void run_program(uint64_t seed)
{
    static struct world world;
    struct engine_mem mem = host_memory_table();
    struct engine_config config = {
        .device_count = 2, .soc = soma_soc_row(3), .memory_bytes = 64 * G};
    world = (struct world){.random = {seed}, .kernels = kernels_create()};
    world.bytes = bytes_create(world.kernels);
    CU_ASSERT_FATAL(world.kernels != NULL && world.bytes != NULL);
    struct engine_bytes table = bytes_table(world.bytes);
    world.engine = engine_create(&config, &mem, &table);
    CU_ASSERT_FATAL(world.engine != NULL);
    for (int i = 0; i < STEPS; i++)
        step(&world);
    check_free(&world);
    EXPECT(world.accepted > STEPS / 4, "only %u of %d accepted", world.accepted, (int)STEPS);
    engine_destroy(world.engine);
    EXPECT(bytes_mapped(world.bytes) == 0, "contents are left");
    bytes_destroy(world.bytes);
    kernels_destroy(world.kernels);
}

static void test_random_programs(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        run_program(seed * 7919);
}

static const struct soma_test tests[] = {
    {"random programs", test_random_programs},
    {NULL, NULL},
};

const struct soma_suite suite_addresses_model = {"addresses_model", tests};
