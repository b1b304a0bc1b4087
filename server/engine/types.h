/* Every struct of the engine. Times are virtual nanoseconds, sizes bytes, `position` a number of
 * commands on a stream. Only the file named after a struct changes its fields. */
#ifndef SOMA_ENGINE_TYPES_H
#define SOMA_ENGINE_TYPES_H

#include "engine.h"
#include "radix.h"
#include "slab.h"
#include "tree.h"

/* ---- order: what a stream knows of other streams (vclock.c) ---- */

/* One stream of a vector clock: everything before `position` on it is over for the owner. */
struct vclock_entry {
    uint64_t stream_key;
    uint64_t position;
};

/* A vector clock: immutable, shared by reference count. NULL is the clock that knows nothing. */
struct vclock {
    uint32_t refs;
    uint32_t count;
    struct vclock_entry entries[]; /* ascending stream_key */
};

/* What makes a point come: told to who waits for it in vain. */
enum point_kind {
    POINT_OF_STREAM,
    POINT_OF_EVENT,
    POINT_OF_HOST_FUNC,
    POINT_OF_NOTIFY,
    POINT_OF_VALUE
};

/* A point in a stream that others may wait for: an event's record, or the place of a free. Or one
 * that the host makes come. Shared by reference count. */
struct point {
    uint32_t refs;
    enum point_kind kind;
    uint64_t id;      /* of what the kind says; POINT_OF_STREAM: 0; POINT_OF_VALUE: the address */
    bool is_resolved; /* time_ns is known */
    bool is_placed;   /* it stands in a stream; false: the record is still to come */
    uint64_t time_ns;
    uint64_t stream_key;
    uint64_t position;    /* commands of that stream up to and with this point */
    struct vclock *clock; /* what that stream knew there */
    uint64_t news;        /* the pass (engine.passes) in which that last grew by a record to come */
    struct point *next;   /* next point that the same task resolves; the task owns a reference */
};

/* ---- streams (stream.c) ---- */

/* What a task does with 8 bytes of memory when its stream comes there (value.c). */
enum value_use { VALUE_UNUSED, VALUE_WRITTEN, VALUE_AWAITED };

struct value_access {
    enum value_use use;
    enum soma_value_condition condition; /* VALUE_AWAITED */
    uint64_t address, value;
    bool is_seen; /* VALUE_AWAITED: the condition did not hold at the end of an earlier command */
};

/* A task behind a wait whose end is not known yet. */
struct task {
    struct task *next;
    struct point *after;  /* starts no earlier than this; owns a reference; NULL: nothing */
    struct point *points; /* resolved by its end */
    uint64_t after_ns;    /* starts no earlier than this either */
    uint64_t submitted_ns;
    uint64_t cost_ns;
    uint64_t position;     /* commands of the stream up to and with this task */
    struct point *arrival; /* resolved when the task comes to the front; owned; NULL: nobody asks */
    uint64_t limit_ns;     /* of the wait for `after`, from the arrival on */
    uint64_t deadline_ns;  /* arrival and limit; known when has_arrived */
    struct value_access access;
    bool has_limit;
    bool has_arrived; /* it stands at the front of its stream, and arrived_ns is known */
    bool is_gate;     /* only waits; not a task that a user submitted */
    bool is_ordered;  /* `after` orders memory as an event does, not only time */
};

/* Tasks in flight that end at the same time. */
struct flight {
    uint64_t end_ns;
    uint64_t position; /* commands of the stream up to and with the last of them */
    uint64_t tasks;
};

struct stream {
    struct tree_node by_id; /* in engine.streams: major id, minor device of stream 0 */
    struct device *device;
    uint64_t id;
    uint64_t key; /* names the stream in clocks and block lists; never reused */
    uint64_t priority;
    bool is_alive;          /* false: destroyed, but blocks freed on it are still cached */
    uint64_t cached_blocks; /* over all pools */
    uint64_t position;      /* commands submitted, pool frees not counted */
    uint64_t done_position; /* of these, over by the last stream_settle */
    uint64_t ready_ns;      /* end of the last task whose end is known */
    struct vclock *clock;   /* its own position is not in it */
    struct flight *flights; /* ring of tasks that end after the host clock */
    size_t flight_first, flight_count, flight_capacity;
    struct task *head, *tail;  /* tasks whose end is not known; empty: the stream is not blocked */
    uint64_t unresolved_tasks; /* of these, without gates */
    enum soma_failure_mode failure_mode;
    bool is_stopped;            /* a kernel has failed on it, with failure mode STOP */
    bool has_fault;             /* a limited wait ran out: the next synchronise tells */
    enum point_kind fault_kind; /* what it waited for */
    uint64_t fault_id;
};

/* ---- functions of the host (host_func.c) ---- */

struct host_func {
    struct tree_node by_id; /* in engine.host_funcs */
    struct tree_node
        by_group; /* in engine.free_host_funcs unless is_taken: major group, minor id */
    struct device *device;
    uint64_t stream_key, stream_id;
    uint64_t id, group;
    struct point *arrival; /* all before it on the stream is over */
    struct point *release; /* it is complete; NULL: the stream does not wait for that */
    bool is_taken;
};

/* ---- events (event.c) ---- */

struct event {
    struct tree_node by_id; /* in engine.events */
    struct device *device;
    uint64_t id;
    enum soma_event_kind kind;
    bool was_reset;        /* since its last record */
    struct point *record;  /* the latest; NULL: none, or reset */
    struct point *to_come; /* what waits after a reset wait for; NULL: nobody waits */
};

/* ---- notifies (notify.c) ---- */

/* A record that no wait has taken, or a wait that no record has been given to. */
struct signal {
    struct signal *next;
    struct point *point; /* owns a reference */
};

struct notify {
    struct tree_node by_id; /* in engine.notifies */
    struct device *device;
    uint64_t id;
    bool is_awaited;        /* the signals are waits; false: they are records */
    struct signal *signals; /* oldest first */
};

/* ---- pools (pool.c, block.c, malloc.c, release.c) ---- */

/* Memory that was released before its free had completed: who takes it waits. */
struct late {
    struct tree_node by_address; /* in pool.lates */
    struct late *next_spare;
    uint64_t size;
    uint64_t time_ns;
    struct point *point; /* NULL: time_ns holds */
};

/* A part of a pool. Small, because most blocks of a busy program are BUSY. */
struct block {
    struct block *previous, *next; /* neighbours in the pool; NULL: the pool ends here */
    struct pool *pool;
    uint64_t address, size;
    enum soma_block_state state;
    bool goes_on; /* CACHED: its run began before it; then it has no mark in pool.blocks */
    union {
        struct { /* BUSY */
            uint64_t requested_size;
            uint64_t stream_id;    /* stream that allocated it */
            uint64_t allocated_by; /* number of the command */
        };
        struct idle *idle; /* FREE, CACHED; owned */
    };
};

/* What only blocks have that are not BUSY. */
struct idle {
    struct block *block;
    struct idle *next_spare;
    struct tree_node by_size; /* FREE: in pool.free_blocks; CACHED: in cached_list.blocks, weight:
                                 position */
    /* CACHED */
    struct tree_node in_runs; /* first of its run: in cached_list.runs */
    struct cached_list *list;
    uint64_t position; /* of the free on its stream */
    uint64_t freed_ns; /* when the free completes; with a point, as that says */
    struct point *point;
    struct vclock *clock; /* what the freeing stream knew there */
    struct late *late;    /* at hand for a release before freed_ns; NULL: completed when freed */
};

/* CACHED blocks of one pool that one stream freed. */
struct cached_list {
    struct tree_node by_stream; /* in pool.cached_lists: major stream key */
    struct tree_node by_head;   /* during a cached_walk: in its heads */
    struct tree_node *head;     /* of blocks: the one that the walk comes to next */
    struct stream *stream;
    struct tree blocks; /* major size, minor address */
    struct tree runs;   /* neighbouring blocks of the list, by the first: major bytes of all, minor
                           address */
    uint64_t bytes;
};

struct pool {
    struct tree_node by_id;   /* in engine.pools */
    struct tree_node by_base; /* in engine.pools_by_base */
    struct device *device;
    struct gap *gap; /* takes the address range back */
    uint64_t id, base, max_size;
    bool on_demand;          /* maxSize 0: draws on the device as it grows */
    uint64_t attributes[9];  /* by enum soma_pool_attribute; 0 unused */
    struct tree free_blocks; /* major size, minor address */
    struct tree cached_lists;
    struct tree lates;
    uint64_t free_bytes, cached_bytes;
    uint64_t live_allocations, requested_bytes;
    uint64_t mallocs, frees, reuse[5];
    uint64_t mapped_total, unmapped_total;
    struct radix blocks; /* every block, by block_number: they cover the pool exactly */
};

/* ---- memory outside pools (memory.c) ---- */

struct allocation {
    struct tree_node by_address; /* in engine.allocations */
    struct tree_node by_time;    /* while is_freeing and the time is known: in engine.due_frees */
    struct allocation
        *next_unresolved; /* while is_freeing and it is not: engine.unresolved_frees */
    struct device *device;
    struct gap *gap;
    uint64_t address, size; /* rounded to 32 bytes */
    uint64_t paged_size;    /* what the device gave */
    uint64_t requested_size, allocated_by;
    bool is_freeing;          /* freed on a stream that has not come there */
    struct point *free_point; /* NULL: the time is by_time.major */
};

/* ---- physical memory and what it is mapped to (physical.c, addresses.c) ---- */

struct physical {
    struct tree_node by_id; /* in engine.physicals; not that of managed memory, whose id is 0 */
    struct device *device;  /* NULL: managed memory, which is no device's */
    struct gap *gap;
    uint64_t id;
    uint64_t contents; /* where its bytes are kept: an address for engine_bytes */
    uint64_t size, page_size;
    uint64_t handles, mappings; /* with none of either it goes */
    uint64_t allocated_by;
};

struct mapping {
    struct tree_node by_address; /* in reservation.mappings */
    struct physical *physical;   /* all of it */
    uint64_t address;
    uint64_t access; /* bit d: device d may read and write */
};

struct reservation {
    struct tree_node by_address; /* in engine.reservations */
    struct gap *gap;
    struct tree mappings; /* by address; they never overlap, and all are of one device */
    uint64_t address, size;
    uint64_t mapping_count, mapped_bytes;
    bool is_managed;         /* managed memory: one mapping over all of it */
    uint64_t requested_size; /* of managed memory */
};

/* ---- on-chip memory (pipe*.c) ---- */

enum onchip_kind { ONCHIP_TQUE, ONCHIP_TBUF, ONCHIP_TBUFPOOL, ONCHIP_KINDS };

enum { ONCHIP_MEMORIES = SOMA_ONCHIP_MEMORY_BT + 1, ONCHIP_POSITIONS = SOMA_POSITION_CO2 + 1 };

/* The tensor that lives in one buffer of a TQue. */
struct onchip_slot {
    uint64_t tensor; /* 0: none */
    uint32_t order;  /* QUEUED: the lowest of the queue is the oldest */
    uint8_t state;   /* enum soma_region_state */
};

/* A TQue, TBuf or TBufPool. One struct, so that what they have in common is written once; small,
 * because a session may plan thousands of kernels. Bytes and addresses fit 32 bits: the largest
 * memory has 1 MiB. */
struct onchip {
    uint64_t id;
    struct onchip *pool; /* the TBufPool that gave its memory; NULL: the pipe, or not initialised */
    struct onchip *next; /* of what gave its memory: next lower address; among equals the older */
    union {
        struct onchip_slot *slots; /* TQUE: `num` of them */
        struct onchip *first;      /* TBUFPOOL: the highest of what it gave memory */
    };
    uint32_t address;
    uint32_t size;  /* of one buffer or of the region, rounded up */
    uint32_t asked; /* before rounding; of a sharing pool too */
    union {
        uint32_t depth;     /* TQUE: tensors that may be queued; 0: used in place, one */
        uint32_t next_free; /* TBUFPOOL: address of the next buffer */
    };
    union {
        uint32_t last_order; /* TQUE: of the latest EnQue */
        uint32_t region;     /* TBUFPOOL: number of its region; pools that share it have the same */
    };
    uint8_t kind;        /* enum onchip_kind */
    uint8_t position;    /* enum soma_position */
    uint8_t memory;      /* enum soma_onchip_memory */
    bool is_initialized; /* false: everything about memory is 0 */
    bool is_shared;      /* TBUFPOOL: its region is another's */
    bool has_own_ids;    /* TBUFPOOL: bufIdSize was given, so it is set aside in its parent */
    uint8_t num;         /* TQUE, TBUF: buffers */
    uint8_t last;        /* TQUE: 1 + buffer taken last; 0: none yet */
    uint8_t buf_id_size; /* TBUFPOOL */
    uint8_t buffers;     /* TBUFPOOL: initialised in it, its child pools not counted */
    uint8_t promised;    /* TBUFPOOL: sum of bufIdSize of its child pools that do not share */
    uint8_t taken;       /* TBUFPOOL: buffers, and what these child pools take */
    uint8_t name_len;    /* 0: it has no name of its own */
    char name[];
};

enum {
    ONCHIP_UB_TAIL_BYTES = 8192,                 /* see onchip_reserved */
    ONCHIP_NAME_BYTES = SOMA_NAME_BYTES_MAX + 1, /* for onchip_name */
    ONCHIP_TITLE_BYTES = ONCHIP_NAME_BYTES + 16, /* for onchip_title */
};

struct onchip_list {
    struct onchip **items; /* ascending id */
    uint32_t count, capacity;
};

struct pipe {
    struct tree_node by_id; /* in engine.pipes; major: its id */
    const struct soma_soc *soc;
    bool follows_device;                    /* checks=device */
    uint8_t buffers;                        /* of all TQues and TBufs */
    uint8_t held[ONCHIP_POSITIONS];         /* live tensors */
    uint8_t tque_buffers[ONCHIP_POSITIONS]; /* buffers of TQues */
    uint32_t shared_pools;                  /* initialised ones with is_shared */
    uint32_t last_region;                   /* number of the latest region of its own */
    uint32_t next_free[ONCHIP_MEMORIES];
    uint32_t top;                          /* of L1: TSCM buffers lie from here to its end */
    uint32_t peak[ONCHIP_MEMORIES];        /* most bytes ever given out; a reset keeps it */
    struct onchip *first[ONCHIP_MEMORIES]; /* what the pipe itself gave memory, as onchip.first */
    struct onchip_list objects[ONCHIP_KINDS];
};

/* ---- address space (space.c) ---- */

/* A range of device addresses that nothing has. */
struct gap {
    struct tree_node by_address;
    struct tree_node by_size; /* major size, minor address */
    uint64_t address, size;
};

struct space {
    struct tree by_address, by_size;
};

/* ---- the session ---- */

struct device {
    uint64_t number;
    uint64_t total_bytes;
    uint64_t set_aside_bytes; /* pools with an explicit maxSize */
    uint64_t on_demand_bytes; /* mapped by the others */
    uint64_t allocated_bytes; /* aclrtMalloc, in pages */
    uint64_t physical_bytes;  /* aclrtMallocPhysical */
    uint64_t stream_count;    /* created streams, stream 0 not counted */
    uint64_t pool_count;
    uint64_t notify_count;
    struct stream default_stream;
};

struct engine {
    struct engine_mem mem;
    struct engine_bytes bytes;
    bool has_bytes;
    const struct soma_soc *soc;
    struct engine_costs costs;
    bool wall_clock;
    uint64_t wall_ns;        /* as last told */
    uint64_t now_ns;         /* the host clock */
    uint64_t wait_ns;        /* engine_wait_ns */
    uint64_t digest;         /* engine_digest */
    uint64_t passes;         /* over the queues, by event.c, to spread what records tell */
    bool resolve_again;      /* memory ran out while tasks got their times */
    uint64_t command_number; /* of the command that runs, from 1 */
    uint64_t wrote_ns;    /* when the latest timed task of this command is over; 0: there is none */
    uint64_t value_waits; /* tasks with VALUE_AWAITED */
    uint64_t deadline_ns; /* the earliest of tasks at the front of a stream; SOMA_NONE: none */
    uint64_t last_id[11]; /* by enum id_kind */
    uint32_t device_count;
    struct device *devices;
    struct tree streams, events, pools, pools_by_base, allocations, due_frees, pipes;
    struct tree host_funcs, free_host_funcs, notifies;
    struct tree reservations, physicals;
    uint64_t managed_bytes;
    uint64_t pipe_count;
    struct allocation *unresolved_frees;
    struct space large, small;
    struct space contents;      /* for physical.contents */
    struct slab blocks, nodes;  /* of all pools; nodes: of pool.blocks */
    struct block *spare_blocks; /* by next */
    size_t spare_block_count;
    struct idle *spare_idles;
    size_t spare_idle_count;
    struct radix_spares spare_nodes; /* for pool.blocks */
    struct late *spare_lates;
    size_t spare_late_count;
    struct engine_totals past; /* of destroyed pools */
};

#endif
