/* The engine: the state of one session, as a pure deterministic state machine.
 *
 * The same commands give the same addresses, numbers, times and errors on every machine. It does
 * no I/O, reads no clock, has no threads or globals and allocates only through the table that its
 * owner hands in. It never sees JSON or sockets. One engine is used by one thread at a time; the
 * owner locks. Rules: schema/PROTOCOL.md and schema/FIDELITY.md. */
#ifndef SOMA_ENGINE_H
#define SOMA_ENGINE_H

#include "command.h"
#include "message.h"
#include "status.h"

struct engine;

/* Where the engine's memory comes from. alloc returns NULL when there is none; release takes NULL.
 * Blocks come aligned for any type. What is kept of many pool blocks comes in requests of 2 MiB,
 * which large pages serve well. */
struct engine_mem {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size_bytes);
    void (*release)(void *ctx, void *ptr);
};

/* aclrtReduceAsync: dst[i] = kind of dst[i] and src[i]. Addresses and size are whole elements. */
struct engine_reduce {
    uint64_t dst, src, size_bytes;
    enum soma_reduce_kind kind;
    enum soma_dtype dtype;
};

/* A sequence of random numbers: Philox4x32-10 with key `seed`. The block of four words at
 * `counter` + i serves the elements from i * per_block on. */
struct engine_random {
    enum soma_distribution distribution;
    enum soma_dtype dtype;
    uint64_t seed;
    uint64_t counter[2];    /* low half first */
    uint64_t per_block;     /* elements that one block of the generator serves: 1, 2 or 4 */
    uint64_t parameters[2]; /* bits: of float for bfloat16, else of dtype */
};

/* The bytes behind device addresses. The engine checks every range before it calls; a range never
 * leaves one pool block, one allocation or one piece of physical memory, which is reserved at an
 * address of its own. A failing call changes nothing.
 * A NULL table means that nobody keeps contents, as in a copy that only predicts: writing, copying
 * and setting take their time, reading takes its time and answers no bytes, a kernel takes
 * command->kernel_cost_ns. */
struct engine_bytes {
    void *ctx;
    /* A new range (a pool or an aclrtMalloc allocation): reads as zero until written. */
    enum soma_status (*reserve)(void *ctx, uint64_t address, uint64_t size_bytes,
                                struct soma_error *error);
    /* The range is gone; address and size are those of reserve. */
    void (*release)(void *ctx, uint64_t address, uint64_t size_bytes);
    /* The contents of this part of a range are gone: it reads as zero and costs no memory. */
    void (*unmap)(void *ctx, uint64_t address, uint64_t size_bytes);
    /* From now on a write there does not fail for want of memory. */
    enum soma_status (*touch)(void *ctx, uint64_t address, uint64_t size_bytes,
                              struct soma_error *error);
    enum soma_status (*write)(void *ctx, uint64_t address, const void *from, uint64_t size_bytes,
                              struct soma_error *error);
    enum soma_status (*read)(void *ctx, uint64_t address, void *to, uint64_t size_bytes,
                             struct soma_error *error);
    enum soma_status (*set)(void *ctx, uint64_t address, uint8_t value, uint64_t size_bytes,
                            struct soma_error *error);
    enum soma_status (*copy)(void *ctx, uint64_t dst, uint64_t src, uint64_t size_bytes,
                             struct soma_error *error); /* as memmove */
    enum soma_status (*reduce)(void *ctx, const struct engine_reduce *what,
                               struct soma_error *error);
    /* Elements [first, first + count) of a sequence to host memory; a mask's elements are bits, and
     * first is a multiple of 8 there. Cannot fail. */
    void (*random)(void *ctx, const struct engine_random *what, uint64_t first, uint64_t count,
                   void *to);
    /* Run a kernel: STREAM_LAUNCH_KERNEL's command. May call engine_resolve on `engine` and nothing
     * else of it. cost_ns: out, the kernel's own figure, also when it fails
     * (soma_is_kernel_failure): then it has been launched all the same. */
    enum soma_status (*kernel)(void *ctx, const struct engine *engine,
                               const struct soma_command *command, uint64_t *cost_ns,
                               struct soma_error *error);
    /* As write, of bytes that the caller gives away (command->gives_data): what they held is
     * undefined afterwards; their memory stays the caller's. NULL: write is called. */
    enum soma_status (*take)(void *ctx, uint64_t address, void *from, uint64_t size_bytes,
                             struct soma_error *error);
    /* As take, of bytes whose whole pages are given away (command->gives_pages): where the contents
     * can have them, others come in their place. false: nothing has changed, take or write do it.
     * NULL: they are called. */
    bool (*exchange)(void *ctx, uint64_t address, void *from, uint64_t size_bytes);
};

/* What tasks cost, virtual time. bytes_per_us: 1 GB/s is 1000. */
struct engine_costs {
    uint64_t host_call_ns;
    uint64_t host_copy_ns, host_copy_bytes_per_us;     /* between host and device */
    uint64_t device_copy_ns, device_copy_bytes_per_us; /* on the device */
    uint64_t set_ns, set_bytes_per_us;
    uint64_t kernel_ns;
};

struct engine_config {
    uint32_t device_count;            /* 1..SOMA_DEVICES_MAX */
    const struct soma_soc *soc;       /* not NULL; static storage */
    uint64_t memory_bytes;            /* of each device; 0: as the SoC has */
    bool wall_clock;                  /* clock=wall */
    const struct engine_costs *costs; /* NULL: the SoC's */
};

/* The cost table of a SoC; static storage. */
const struct engine_costs *engine_costs_of(const struct soma_soc *soc);

/* A new session. mem is copied and must stay usable until engine_destroy; bytes (may be NULL) is
 * copied too. NULL when there is no memory. */
struct engine *engine_create(const struct engine_config *config, const struct engine_mem *mem,
                             const struct engine_bytes *bytes) SOMA_MUST_USE;

/* Frees everything the session holds, contents included. Takes NULL. */
void engine_destroy(struct engine *engine);

/* Run one command.
 *   command  borrowed until return; complete (soma_command_complete)
 *   result   out: the answer, only on SOMA_OK; give it back with engine_result_clear
 *   error    out: filled on every other status except SOMA_MUST_WAIT; may be NULL
 * Any error leaves the session as it was, the clock included. Two are no refusals: a synchronise
 * that times out moves the clock, and a kernel that fails has been launched: it took its time.
 * SOMA_MUST_WAIT: only from synchronise, stream.destroy and hostFunc.take; nothing changed: call
 * again when another command has run in the session or when engine_wait_ns says so, with
 * command->expired set once the timeout (command->timeout_ms) is over. */
enum soma_status engine_apply(struct engine *engine, const struct soma_command *command,
                              struct soma_result *result, struct soma_error *error) SOMA_MUST_USE;

void engine_result_clear(struct engine *engine, struct soma_result *result);

/* After SOMA_MUST_WAIT with clock=wall: the session time at which the awaited work is over, in
 * nanoseconds; SOMA_NONE when only another command can end the wait. */
uint64_t engine_wait_ns(const struct engine *engine);

/* When the first of the waits that streams stand at runs out, unless what it waits for comes
 * before; SOMA_NONE: none has a limit. After SOMA_MUST_WAIT on a virtual clock, on which no time
 * passes by itself, the owner lets that much real time pass, moves the clock there with
 * SOMA_OP_CLOCK_ADVANCE, and applies the command again. */
uint64_t engine_deadline_ns(const struct engine *engine);

/* clock=wall: tell the engine the time since the session began, before each engine_apply. The host
 * clock is never behind it. No effect on a virtual clock. */
void engine_set_wall(struct engine *engine, uint64_t now_ns);

uint64_t engine_now_ns(const struct engine *engine);

/* A number that stands for the session's history: two engines of the same configuration that have
 * run the same commands with the same outcomes have the same digest; any other two differ, but for
 * one chance in 2^64. Refused commands leave it as it is. */
uint64_t engine_digest(const struct engine *engine);

/* What the session holds now. */
void engine_counts(const struct engine *engine, struct soma_counts *counts);

/* Bytes of device memory mapped by pools and allocations, over all devices. */
uint64_t engine_mapped_bytes(const struct engine *engine);

/* Sums over all pools of the session, past ones included: for metrics. Every value only grows,
 * but for the first three. */
struct engine_totals {
    uint64_t pools, reserved_bytes, used_bytes; /* now */
    uint64_t mapped_bytes, unmapped_bytes;
    uint64_t mallocs, frees;
    uint64_t reuse[5]; /* by enum soma_reuse */
};

void engine_totals(const struct engine *engine, struct engine_totals *totals);

/* Live pool blocks, allocations, managed and physical memory, for the report at the session's end:
 * allocates *items (give back with the mem table) and says how many. At most `max` are listed:
 * blocks and allocations by address, then managed, then physical memory. */
enum soma_status engine_leaks(struct engine *engine, size_t max, struct soma_leak **items,
                              size_t *count) SOMA_MUST_USE;

/* The live block, or the mappings that touch, that hold [address, address + size_bytes) and that
 * this device may access; contents by engine_translate, piece by piece. SOMA_OK and its start, size
 * (rounded) and the size that was asked for, or SOMA_INVALID_ADDRESS with a message. */
enum soma_status engine_resolve(const struct engine *engine, uint64_t device, uint64_t address,
                                uint64_t size_bytes, uint64_t *base, uint64_t *block_bytes,
                                uint64_t *requested_bytes, struct soma_error *error);

/* The block around one address as engine_resolve finds it; of mapped memory, all mappings around it
 * that touch and that the device may access. SOMA_OK; SOMA_INVALID_ADDRESS (no message). */
enum soma_status engine_block_around(const struct engine *engine, uint64_t device, uint64_t address,
                                     uint64_t *base, uint64_t *block_bytes);

/* Where the contents of an address are kept, for the owner of engine_bytes: that table knows pools
 * and allocations by their own addresses, and physical and managed memory by others. */
struct engine_piece {
    uint64_t address;       /* for engine_bytes */
    uint64_t before, bytes; /* so many together below it, and from it on */
};

void engine_translate(const struct engine *engine, uint64_t address, struct engine_piece *piece);

/* Verify every invariant of the state. true, or false and a sentence in why (why_bytes long).
 * Builds with SOMA_ENGINE_CHECK call it after each command and abort when it fails. */
bool engine_check(const struct engine *engine, char *why, size_t why_bytes);

#endif
