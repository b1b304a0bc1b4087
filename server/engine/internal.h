/* Functions shared inside engine/, grouped by the file that holds them. A function that can fail
 * for want of memory does so before anything is changed; `_prepare` and `_reserve` make the call
 * that follows safe. */
#ifndef SOMA_ENGINE_INTERNAL_H
#define SOMA_ENGINE_INTERNAL_H

#include "types.h"

/* One command on its way through the engine. */
struct call {
    struct engine *engine;
    const struct soma_command *command;
    struct soma_result *result;
    struct soma_error *error;
    uint64_t now_ns;  /* the host clock for this command; it becomes the session's on success */
    bool keeps_clock; /* a failure that moves the clock all the same: a timeout, a kernel's failure
                       */
};

typedef enum soma_status command_handler(struct call *call);

enum id_kind {
    ID_STREAM,
    ID_EVENT,
    ID_POOL,
    ID_PIPE,
    ID_TQUE,
    ID_TBUF,
    ID_TBUFPOOL,
    ID_TENSOR,
    ID_HOST_FUNC,
    ID_PHYSICAL,
    ID_NOTIFY,
    ID_KINDS
};

/* ---- engine.c ---- */
void *engine_alloc(struct engine *engine, size_t size_bytes); /* zeroed; NULL: no memory */
void engine_free(struct engine *engine, void *ptr);
enum soma_status engine_no_memory(struct call *call); /* SOMA_OUT_OF_MEMORY with its message */
/* Room for count items in a result's array; *items NULL when count is 0. */
enum soma_status engine_result_array(struct call *call, size_t count, size_t item_size,
                                     void **items);
bool call_has(const struct call *call, uint64_t field_bit);

/* ---- device.c ---- */
struct device *device_find(struct call *call); /* command->device; NULL with *error set */
uint64_t device_free_bytes(const struct device *device);
command_handler device_list, device_get, device_synchronize, device_reset, device_abort;

/* ---- vclock.c ---- */
struct vclock *vclock_ref(struct vclock *clock);
void vclock_unref(struct engine *engine, struct vclock *clock);
/* The join of both clocks and of `position` on stream `key` (0: none), without `self`; streams that
 * no longer matter are dropped. *out owns a reference; false: no memory. */
bool vclock_join(struct engine *engine, struct vclock *a, struct vclock *b, uint64_t key,
                 uint64_t position, uint64_t self, struct vclock **out);
uint64_t vclock_get(const struct vclock *clock, uint64_t stream_key);

/* ---- stream.c ---- */
struct stream *stream_find(struct call *call, struct device *device, uint64_t id);
struct stream *stream_named(struct call *call); /* the command's; NULL with *error set */
/* The same two for work: SOMA_STREAM_STOPPED when it takes none any more. */
struct stream *stream_find_going(struct call *call, struct device *device, uint64_t id);
struct stream *stream_named_going(struct call *call);
struct stream *stream_by_key(const struct engine *engine, uint64_t key);
void stream_init(struct stream *stream, struct device *device, uint64_t id);
void stream_clear(struct engine *engine, struct stream *stream); /* its memory; not its tree node */
void stream_drop(struct engine *engine, struct stream *stream, uint64_t now_ns);
void stream_settle(struct stream *stream, uint64_t now_ns);
bool stream_is_blocked(const struct stream *stream);
void stream_forget(struct engine *engine, struct stream *stream); /* a dead one without blocks */
command_handler stream_create, stream_list, stream_get, stream_destroy, stream_synchronize;
/* Tell once that a limited wait on the stream ran out. SOMA_OK: none did. */
enum soma_status stream_take_fault(struct call *call, struct stream *stream);
/* Drop its work, its host functions with it. timeline_resolve afterwards. */
void stream_abort_work(struct call *call, struct stream *stream);
command_handler stream_wait_event, stream_delay, stream_launch_kernel, stream_set_failure_mode;
command_handler stream_abort, stream_stop;

/* ---- value.c ---- */
/* Write what a task writes, which is over at end_ns. false: the host has no memory for it now. */
bool value_write(struct engine *engine, const struct stream *stream,
                 const struct value_access *access, uint64_t end_ns);
/* Let streams go on whose condition holds. After every command that has changed something. */
void values_check(struct engine *engine, uint64_t now_ns);
command_handler stream_write_value, stream_wait_value;

/* ---- notify.c ---- */
void notify_release(struct engine *engine, struct notify *notify);
command_handler notify_create, notify_list, notify_get, notify_reset, notify_destroy;
command_handler stream_wait_notify, stream_record_notify;

/* ---- host_func.c ---- */
/* Drop the host functions of a device, or of one stream of it (key 0: of all). */
void host_funcs_drop(struct engine *engine, const struct device *device, uint64_t stream_key);
void host_func_drop(struct engine *engine, uint64_t id); /* one of them, if it is there */
void host_func_release(struct engine *engine, struct host_func *func);
command_handler stream_launch_host_func, host_func_list, host_func_take, host_func_complete;

/* ---- timeline.c: tasks in time ---- */
/* What a task needs, prepared before anything changes. */
struct submission {
    struct stream *stream;
    struct task *tasks; /* prepared, last one is the task itself; NULL: known at once */
    uint64_t after_ns;  /* the task starts no earlier */
    uint64_t cost_ns;
    bool is_free;   /* a pool free: does not move the position */
    bool has_limit; /* the wait runs out limit_ns after the task's arrival */
    uint64_t limit_ns;
    struct value_access access;
    struct point *arrival;     /* borrowed: resolved when the task comes to the front of a queue */
    size_t late_count;         /* the first so many points only take time: they order no memory */
    uint64_t start_ns, end_ns; /* out: SOMA_NONE while unknown */
};
/* Prepare a task on sub->stream behind `count` unresolved points, sub->late_count of them first
 * (resolved ones are folded into after_ns). false: no memory. */
bool submission_prepare(struct call *call, struct submission *sub, struct point *const *points,
                        size_t count);
void submission_drop(struct engine *engine, struct submission *sub);
/* Queue it; `point` (may be NULL) is placed at its end. Cannot fail. */
void submission_commit(struct call *call, struct submission *sub, struct point *point);
/* A time and a span behind it. Virtual time ends after 2^62 ns, 146 years: nothing is later. */
uint64_t time_add(uint64_t time_ns, uint64_t span_ns);
/* Give every task that can be given one its time. */
void timeline_resolve(struct engine *engine, uint64_t now_ns);
struct point *point_new(struct engine *engine);
struct point *point_new_of(struct engine *engine, enum point_kind kind, uint64_t id);
struct point *point_ref(struct point *point);
void point_unref(struct engine *engine, struct point *point);
/* Is it over by now_ns? NULL: fallback_ns decides. */
bool point_is_over(const struct point *point, uint64_t fallback_ns, uint64_t now_ns);
uint64_t point_time(const struct point *point, uint64_t fallback_ns); /* SOMA_NONE: unknown */
/* What a command waits for. */
struct wait {
    uint64_t target_ns;       /* SOMA_NONE: unknown */
    enum soma_status timeout; /* what running out of time is called */
    const char *noun;         /* "stream" */
    uint64_t id;
    const struct point *point; /* what has no time while that is unknown; may be NULL */
};
/* Wait until target_ns as the command's timeoutMs says. */
enum soma_status timeline_wait(struct call *call, const struct wait *wait);
/* When the stream is idle, and if it is blocked, what by. */
/* The command's timeoutMs as the limit of a wait in a stream. */
void submission_limit(const struct call *call, struct submission *sub);
void timeline_wait_for_stream(const struct stream *stream, struct wait *wait);
command_handler clock_advance;

/* ---- event.c ---- */
/* A record that streams have waited for has been placed: what its stream knows there is known to
 * them now, and to all that stands behind their waits. */
void event_spread(struct engine *engine, struct point *point);
struct event *event_find(struct call *call, struct device *device, uint64_t id);
void event_release(struct engine *engine, struct event *event);
command_handler event_create, event_list, event_get, event_destroy, event_record, event_reset;
command_handler event_synchronize, event_elapsed;

/* ---- space.c ---- */
bool space_init(struct engine *engine, struct space *space, uint64_t address, uint64_t end);
void space_clear(struct engine *engine, struct space *space);
/* Take size bytes: smallest gap that holds them, then lowest. *gap takes them back later.
 * SOMA_OK, SOMA_ADDRESS_SPACE_EXHAUSTED, SOMA_OUT_OF_MEMORY (no message). */
enum soma_status space_take(struct engine *engine, struct space *space, uint64_t size,
                            uint64_t *address, struct gap **gap);
/* The same at this address; SOMA_ADDRESS_SPACE_EXHAUSTED: part of it is taken or outside. */
enum soma_status space_take_at(struct engine *engine, struct space *space, uint64_t address,
                               uint64_t size, struct gap **gap);
void space_give(struct engine *engine, struct space *space, uint64_t address, uint64_t size,
                struct gap *gap);

/* ---- block.c: the blocks of a pool and the lists they stand in ---- */
/* Keep at least this many spare structs: each split takes one block, and one late when the block's
 * free had not completed. false: no memory. */
bool blocks_reserve(struct engine *engine, size_t blocks, size_t lates);
/* Keep at least this many spare nodes of pool.blocks. false: no memory. */
bool nodes_reserve(struct engine *engine, size_t count);
/* For a split after which a block begins at this address. */
bool block_reserve_at(struct engine *engine, const struct pool *pool, uint64_t address);
size_t blocks_nodes_max(const struct pool *pool); /* that a split takes, wherever it is */
void spares_clear(struct engine *engine);
struct late *late_take_spare(struct engine *engine);
void late_put_spare(struct engine *engine, struct late *late);
/* A first FREE block over the whole pool; takes a spare. */
void blocks_init(struct engine *engine, struct pool *pool);
void blocks_clear(struct engine *engine, struct pool *pool);
struct block *block_at(const struct pool *pool, uint64_t address); /* the one that holds it */
struct block *block_first(const struct pool *pool);
uint64_t
block_number(const struct block *block); /* its address, in granules from the pool's base */
bool block_is_cached_in(const struct block *block, const struct cached_list *list); /* NULL: no */
struct cached_list *cached_list_of(const struct pool *pool, uint64_t stream_key);
/* Made when missing; NULL: no memory. */
struct cached_list *cached_list_get(struct engine *engine, struct pool *pool,
                                    struct stream *stream);
/* A stream is gone: its list goes with it unless blocks are left. */
void cached_lists_drop(struct engine *engine, struct pool *pool, const struct stream *stream);
/* Cut the low `size` bytes off a FREE or CACHED block; both parts keep its state. Returns the low
 * part, the block itself when it has that size. */
struct block *block_split_low(struct engine *engine, struct block *block, uint64_t size);
/* Make the `size` bytes from the start of a FREE or CACHED block on one BUSY block; of a CACHED one
 * the run may go on as far. Takes a spare. */
struct block *block_take_low(struct engine *engine, struct block *block, uint64_t size);
/* The place of a free. */
struct freed {
    struct cached_list *list;
    uint64_t position, freed_ns;
    struct point *point; /* given */
    struct late *late;   /* given; NULL: the free completed at once */
};
void block_set_cached(struct engine *engine, struct block *block, const struct freed *freed);
/* BUSY or CACHED -> FREE, one with its FREE neighbours; remembers a free not completed by now_ns.
 */
void block_set_free(struct engine *engine, struct block *block, uint64_t now_ns);
/* The CACHED blocks of a pool, whoever freed them: smallest first, among equals the lowest address.
 * Between two steps nothing becomes CACHED; the block that the walk came to last may leave. */
struct cached_walk {
    struct tree heads; /* lists by the block that comes next */
};
void cached_walk_begin(const struct pool *pool, struct cached_walk *walk);
struct block *cached_walk_next(struct cached_walk *walk); /* NULL: that was the last */

/* ---- pool.c ---- */
struct pool *pool_find(struct call *call, struct device *device, enum soma_status absent);
struct pool *pool_by_address(const struct engine *engine, uint64_t address);
void pool_release(struct engine *engine, struct pool *pool);
size_t pool_leaks(const struct pool *pool, struct soma_leak *items, size_t max);
uint64_t pool_reserved(const struct pool *pool);
uint64_t pool_used(const struct pool *pool);
/* 0 when it leaves 64 bits and size is not 0 */
static inline uint64_t round_up(uint64_t size, uint64_t unit)
{
    return size > UINT64_MAX - (unit - 1) ? 0 : (size + unit - 1) / unit * unit;
}
command_handler pool_create, pool_list, pool_get, pool_segments, pool_get_attributes;
command_handler pool_get_attribute, pool_set_attribute, pool_destroy;

/* ---- malloc.c, free.c, release.c ---- */
command_handler pool_malloc, pool_free, pool_trim_to;
/* Free the BUSY block at an address of this pool as aclrtFree does: at once. */
enum soma_status pool_free_now(struct call *call, struct pool *pool, uint64_t address);
enum soma_status pool_free_on(struct call *call, struct pool *pool, struct stream *stream,
                              uint64_t address, uint64_t *size);
/* Unmap CACHED blocks, smallest first, until at most target bytes are reserved; returns how many
 * bytes went. blocks_reserve(1, 1) and nodes_reserve(blocks_nodes_max) before, unless the target is
 * USED. */
uint64_t pool_shrink(struct engine *engine, struct pool *pool, uint64_t target, uint64_t now_ns);
/* Release at synchronisation, all pools of the device. */
enum soma_status device_release(struct call *call, const struct device *device);
enum soma_status device_release_prepare(struct call *call, const struct device *device);

/* ---- memory.c, contents.c ---- */
void memory_settle(struct engine *engine, uint64_t now_ns); /* frees that streams have reached */
/* Frees of this device (NULL: of all) whose time is not known are about to be released. */
void memory_forget_unresolved(struct engine *engine, const struct device *device);
/* A range of device addresses, and the field of the command that names its address. */
struct range {
    uint64_t address, size;
    const char *field;      /* names the address */
    const char *size_field; /* names the size */
};
/* The live block or allocation around an address. */
struct place {
    const struct pool *pool; /* NULL: an allocation */
    uint64_t base, size, requested_size;
    const struct reservation *reservation; /* NULL: neither mapped nor managed memory */
};
/* SOMA_OK and *place, or SOMA_INVALID_ADDRESS with a message. */
enum soma_status memory_locate(const struct engine *engine, const struct device *device,
                               const struct range *range, struct place *place,
                               struct soma_error *error);
/* Whether the device has room for so much, if idle memory of pools that draw on it goes where
 * *must_trim says so. SOMA_OK, SOMA_DEVICE_OUT_OF_MEMORY, SOMA_OUT_OF_MEMORY. */
enum soma_status memory_check_room(struct call *call, const struct device *device, uint64_t bytes,
                                   bool *must_trim);
void memory_trim(struct call *call, const struct device *device); /* after memory_check_room */
void allocation_release(struct engine *engine, struct allocation *allocation);
command_handler memory_info, memory_malloc, memory_free, memory_free_async, memory_describe;

/* ---- physical.c ---- */
struct physical *physical_find(struct call *call, uint64_t id); /* NULL with *error set */
/* New memory without handles or mappings; device NULL: of no device. Room was checked. */
enum soma_status physical_new(struct call *call, struct device *device, uint64_t size,
                              struct physical **out);
void physical_drop(struct engine *engine, struct physical *physical); /* unless it is in use */
/* Handles of memory of this device (NULL: of all) are gone; what is still mapped stays. */
void physicals_release(struct engine *engine, const struct device *device);
void physical_describe(const struct physical *physical, struct soma_physical *out);
command_handler memory_malloc_physical, memory_free_physical, memory_get_physical;

/* ---- addresses.c ---- */
struct reservation *reservation_at(const struct engine *engine, uint64_t address);
/* memory_locate for an address of this reservation. The place begins with the mapping that holds
 * the address and ends with the one that holds the range's end, or the last that the device may
 * access; requested_size is the first mapping's, or what was asked for of managed memory. */
enum soma_status reservation_locate(const struct reservation *reservation,
                                    const struct device *device, const struct range *range,
                                    struct place *place, struct soma_error *error);
/* Widen a place to all mappings around it that touch and that the device may access. */
void reservation_run(const struct reservation *reservation, const struct device *device,
                     struct place *place);
/* Unmap what belongs to this device; NULL: all. */
void reservation_unmap_all(struct engine *engine, struct reservation *reservation,
                           const struct device *device);
void reservation_release(struct engine *engine, struct reservation *reservation);
command_handler memory_reserve, memory_release, memory_reservations, memory_map, memory_unmap;
command_handler memory_retain_physical, memory_set_access, memory_get_access;
command_handler memory_malloc_managed;

/* ---- contents.c, random.c ---- */
/* See that writes to these bytes cannot fail for want of memory. */
enum soma_status contents_touch(struct call *call, uint64_t address, uint64_t size_bytes);
/* Write to, and read from, live memory, which may lie in several mappings. A refusal changes
 * nothing. */
enum soma_status contents_write(struct call *call, uint64_t address, const void *from,
                                uint64_t size_bytes);
enum soma_status contents_read(struct call *call, uint64_t address, void *to, uint64_t size_bytes);
/* Check device, ranges and stream, and prepare the task: all that can be refused but the bytes
 * themselves. sub->stream NULL afterwards: the host waits. */
enum soma_status contents_prepare(struct call *call, const struct range *ranges, size_t count,
                                  struct submission *sub);
/* The bytes have been moved, or could not be: queue the task, or let the host wait. */
enum soma_status contents_finish(struct call *call, struct submission *sub,
                                 enum soma_status status);
/* What bytes take at bytes_per_us, after a start-up time. */
uint64_t contents_cost(uint64_t start_ns, uint64_t size_bytes, uint64_t bytes_per_us);
unsigned dtype_bytes(enum soma_dtype dtype); /* of one element */
const char *dtype_name(enum soma_dtype dtype);
command_handler memory_set, memory_copy, memory_write, memory_read, memory_reduce;
command_handler memory_random; /* random.c */

/* ---- pipe.c: on-chip memory ---- */
uint32_t onchip_capacity(const struct soma_soc *soc, unsigned memory);
/* Bytes at the end of UB in which some vector operations keep what is theirs. */
uint32_t onchip_reserved(const struct soma_soc *soc);
const char *onchip_position_name(unsigned position);
const char *onchip_memory_name(unsigned memory);
const char *onchip_noun(const struct onchip *object);            /* "TQue" */
const char *onchip_name(const struct onchip *object, char *buf); /* "q1"; ONCHIP_NAME_BYTES */
const char *onchip_title(const struct onchip *object,
                         char *buf);       /* "TQue q1"; ONCHIP_TITLE_BYTES */
struct pipe *pipe_find(struct call *call); /* command->pipe; NULL with *error set */
/* field NULL: that of the kind. */
struct onchip *onchip_find(struct call *call, const struct pipe *pipe, enum onchip_kind kind,
                           uint64_t id, const char *field);
unsigned pipe_tensors_max(const struct pipe *pipe);           /* held at one position */
uint32_t pipe_used(const struct pipe *pipe, unsigned memory); /* bytes given out */
void pipe_release(struct engine *engine, struct pipe *pipe);
command_handler pipe_create, pipe_list, pipe_describe, pipe_destroy;
command_handler pipe_create_tque, pipe_create_tbuf, pipe_create_tbufpool;

/* ---- pipe_ids.c ---- */
/* Whether bufIdSize of nested and sharing pools is compared: no device code does. */
bool ids_are_nested(const struct pipe *pipe);
/* The pool, this one or one around it, that has no ids left for `more` buffers; NULL: all have. */
const struct onchip *ids_lacking(const struct pipe *pipe, const struct onchip *pool, uint64_t more);
void ids_take(const struct pipe *pipe, struct onchip *pool, uint64_t more);
void ids_give_back(const struct pipe *pipe, struct onchip *pool, uint64_t fewer);
/* "bufIdSize 4: 1 for its buffers, 3 for its pools, 0 left" */
const char *ids_text(const struct onchip *pool, char *buf, size_t size);

/* ---- pipe_memory.c ---- */
/* What an InitBuffer or InitBufPool wants. */
struct demand {
    struct pipe *pipe;
    struct onchip *pool;   /* that gives the memory; NULL: the pipe */
    struct onchip *object; /* that gets it */
    uint64_t num, len;     /* as asked for */
    uint64_t size, total;  /* of one, rounded up; of all */
};
/* Sets size and total. SOMA_OK, SOMA_ZERO_SIZE, SOMA_SIZE_OVERFLOW. */
enum soma_status demand_check_len(struct call *call, struct demand *demand);
/* SOMA_OK, SOMA_POOL_OVERFLOW, SOMA_MEMORY_OVERFLOW. */
enum soma_status demand_check_room(struct call *call, const struct demand *demand);
/* Into the list of its giver, which runs from high addresses to low ones. */
void demand_link(const struct demand *demand);
/* Give the object its memory, for which there is room. */
void demand_take(const struct demand *demand);
uint64_t onchip_bytes(const struct onchip *object); /* its buffers together, or its region */

/* ---- pipe_init.c ---- */
/* SOMA_OK, or SOMA_NOT_INITIALIZED on that field. */
enum soma_status onchip_check_initialized(struct call *call, const struct onchip *object,
                                          const char *field);
command_handler pipe_init_buffer, pipe_init_buf_pool, pipe_pool_init_buffer;
command_handler pipe_pool_init_buf_pool;

/* ---- pipe_reset.c ---- */
/* Walk over all that stands below `root` (a pool; NULL: the pipe), whose list begins at `first`:
 * high addresses before low ones, what a pool holds before the pool. `object` NULL: the first of
 * them; else the one after it, NULL after the last. */
struct onchip *onchip_walk(struct onchip *first, const struct onchip *root,
                           const struct onchip *object);
command_handler pipe_pool_reset, pipe_reset;

/* ---- pipe_queue.c ---- */
command_handler pipe_alloc_tensor, pipe_en_que, pipe_de_que, pipe_free_tensor;
command_handler pipe_tbuf_get, pipe_tbuf_get_with_offset;

/* ---- pipe_warn.c, pipe_layout.c ---- */
/* "more buffers at this position than event ids", SOMA_MESSAGE_BYTES. */
void pipe_warn_event_ids(const struct pipe *pipe, unsigned position, unsigned buffers, char *out);
/* Write what ought to be told of the plan; items NULL: only count. */
size_t pipe_warnings(const struct pipe *pipe, char (*items)[SOMA_MESSAGE_BYTES]);
command_handler pipe_layout;

/* ---- pipe_check.c ---- */
/* The first rule that this pipe breaks, in a sentence; NULL: none. */
const char *pipe_check(const struct engine *engine, const struct pipe *pipe);

#endif
