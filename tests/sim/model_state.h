/* What the model remembers. Included by model*.c and nobody else.
 * Indices into the arrays below are `uint32_t`, MODEL_NONE where there is none. Nothing is ever
 * removed from an array while the session lives. */
#ifndef SIM_MODEL_STATE_H
#define SIM_MODEL_STATE_H

#include "bytes.h"
#include "model.h"

#define MODEL_NONE UINT32_MAX
#define MODEL_STREAMS_MAX 128u /* ever made in one session, default streams included */

/* A growing array: items of one size. */
struct model_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
};

/* Why a task waits for another, and whether that orders memory. */
enum model_reason {
    MODEL_BECAUSE_TIME,  /* memory released too early: time only */
    MODEL_BECAUSE_FREE,  /* internal reuse: as an event recorded right after that free */
    MODEL_BECAUSE_RECORD /* a wait for a record */
};

struct model_dependency {
    uint32_t task;
    enum model_reason reason;
};

/* One command on a stream. Tasks stand in the order of submission. */
struct model_task {
    uint32_t stream;
    uint32_t previous; /* the task before it on its stream */
    uint32_t position; /* commands other than pool frees before it on its stream */
    bool is_counted;   /* such a command itself */
    bool is_dropped;   /* by a reset of its device */
    bool is_resolved;  /* start_ns and end_ns are known */
    uint64_t submit_ns, cost_ns, start_ns, end_ns;
    uint32_t awaited_event; /* its next record is awaited */
    bool is_held;           /* a function of the host, not complete */
    uint64_t released_ns;   /* when it was complete */
    uint32_t dependency_first, dependency_count;
    uint32_t seen[MODEL_STREAMS_MAX]; /* vector clock after this task: commands of each stream */
};

struct model_stream {
    uint64_t id; /* 0: the default stream of its device */
    uint32_t device;
    uint64_t priority;
    bool is_live;
    uint32_t last_task;
    uint32_t position; /* commands other than pool frees so far */
    bool stops_on_failure, is_stopped;
    uint64_t idle_ns; /* ready time while it has no task: 0, or as a reset left it */
};

enum model_event_state { MODEL_NEVER_RECORDED, MODEL_RECORDED, MODEL_RESET };

struct model_event {
    uint64_t id;
    uint32_t device;
    int kind; /* enum soma_event_kind */
    bool is_live;
    enum model_event_state state;
    uint32_t record; /* the latest: a task */
};

/* A function of the host. */
struct model_func {
    uint64_t id;
    uint64_t group;
    uint32_t task;
    bool is_blocking, is_taken, is_live;
};

/* 2 MiB of a pool. */
struct model_granule {
    uint8_t state;         /* enum soma_block_state */
    uint32_t first;        /* BUSY: first granule of its block */
    uint32_t stream;       /* BUSY: allocated on; CACHED: freed on */
    uint32_t position;     /* CACHED: of the free */
    uint32_t free_task;    /* CACHED: the free */
    uint32_t late_task;    /* FREE: the free that had not completed when it was released */
    uint32_t last_free;    /* the last free on a stream, whatever came of it since */
    uint64_t requested;    /* BUSY, first of its block: bytes asked for */
    uint64_t allocated_by; /* BUSY, first of its block: number of the command */
};

struct model_pool {
    uint64_t id;
    uint32_t device;
    bool is_live;
    bool is_demand;
    uint64_t base, max_bytes;
    uint32_t granule_count;
    uint32_t touched;               /* granules from here on have never been anything but FREE */
    struct model_granule *granules; /* these, and at least one more that is FREE */
    uint32_t granule_capacity;
    bool follow_events, allow_opportunistic, allow_internal;
    uint64_t threshold;
    uint64_t used, reserved, used_high, reserved_high; /* bytes */
    uint64_t mallocs, frees, reuse[5], mapped_total, unmapped_total;
};

/* Memory that went from one user to the next: the free comes first, whatever the rules say. */
struct model_hand_over {
    uint32_t free_task, malloc_task;
    bool is_void; /* a reset came between */
};

/* An aclrtMalloc allocation. */
struct model_allocation {
    uint32_t device;
    uint64_t base, bytes, page_bytes; /* bytes: rounded to 32; page_bytes: whole pages */
    uint64_t requested, allocated_by;
    bool is_live;       /* may be accessed and freed */
    bool is_gone;       /* its pages are free again */
    uint32_t free_task; /* freeAsync */
};

struct model {
    struct model_config config;
    uint64_t clock_ns; /* the host clock after the last applied command */
    uint64_t now_ns;   /* the host clock as the running command sees it */
    uint64_t wall_ns;  /* is_wall_clock: as last told */
    uint64_t wait_ns;  /* after MUST_WAIT: when it is over; SOMA_NONE: unknown */
    uint64_t applied;  /* commands applied so far */
    struct model_list tasks, dependencies, streams, events, pools, allocations;
    struct model_list hand_overs, funcs;
    uint64_t next_stream, next_event, next_pool; /* ids */
    struct sim_bytes *bytes;
};

/* ---- model.c: small things ---- */

bool model_has_mutant(const struct model *model, enum model_mutant mutant);
void *model_list_add(struct model_list *list, size_t item_bytes);
void *model_alloc(size_t size_bytes);

struct model_task *model_task(const struct model *model, uint32_t index);
struct model_stream *model_stream(const struct model *model, uint32_t index);
struct model_event *model_event(const struct model *model, uint32_t index);
struct model_pool *model_pool(const struct model *model, uint32_t index);
struct model_allocation *model_allocation(const struct model *model, uint32_t index);

/* `device` of the command is one of the session's. */
bool model_has_device(const struct model *model, const struct soma_command *command);
enum soma_status model_find_stream(const struct model *model, uint64_t device, uint64_t id,
                                   uint32_t *stream);
/* For work: SOMA_STREAM_STOPPED when a kernel has stopped it. */
enum soma_status model_find_going_stream(const struct model *model, uint64_t device, uint64_t id,
                                         uint32_t *stream);
enum soma_status model_find_event(const struct model *model, uint64_t device, uint64_t id,
                                  uint32_t *event);
enum soma_status model_find_pool(const struct model *model, uint64_t device, uint64_t id,
                                 uint32_t *pool);

/* ---- model_time.c: tasks, their times and their order ---- */

struct model_submission {
    uint32_t stream;
    bool is_pool_free;
    uint64_t cost_ns;
    uint32_t awaited_event; /* MODEL_NONE: none */
    bool is_held;           /* until a function of the host is complete */
    const struct model_dependency *dependencies;
    uint32_t dependency_count;
};

/* A task that only takes time. */
struct model_submission model_plain_task(uint32_t stream, uint64_t cost_ns);

/* Queue a task now. Returns its index. */
uint32_t model_submit(struct model *model, const struct model_submission *submission);

/* Every wait for the next record of this event waits for this record from now on. */
/* When the stream came, or will come, to the task; false when that is not known. */
bool model_arrival_ns(const struct model *model, uint32_t task, uint64_t *arrival_ns);

/* The function of the host that holds this task has returned. */
void model_complete(struct model *model, uint32_t task);

void model_resolve_waits(struct model *model, uint32_t event, uint32_t record);

/* The task is over by the host clock. MODEL_NONE: nothing to wait for, true. */
bool model_is_over(const struct model *model, uint32_t task, uint64_t now_ns);

/* Does work queued on this stream now come after the commands of `other` that a free at this
 * position came after? */
bool model_is_ordered(const struct model *model, uint32_t stream, uint32_t other,
                      uint32_t position);

/* When the stream is idle again; false when that is not known. */
bool model_ready_ns(const struct model *model, uint32_t stream, uint64_t *ready_ns);

/* A reset of the device: its unfinished work is dropped. */
void model_drop_work(struct model *model, uint32_t device);

/* Wait for something that is over at ready_ns (is_known) or nobody knows when. Moves now_ns. */
enum soma_status model_wait(struct model *model, const struct soma_command *command, bool is_known,
                            uint64_t ready_ns, enum soma_status timeout);

uint64_t model_cost(const struct model *model, uint64_t fixed_ns, uint64_t size_bytes,
                    uint64_t bytes_per_us);

/* The answer to a synchronise; releases idle memory. */
void model_answer_synchronized(struct model *model, uint32_t device, struct soma_result *result);

/* ---- model_pool.c: blocks of pools ---- */

/* Nothing was ever allocated in the new pool. */
void model_pool_init(struct model_pool *pool);

/* Past the last granule of the block at `first`. */
uint32_t model_block_end(const struct model *model, const struct model_pool *pool, uint32_t first);

/* Unmap CACHED granules, smallest block first, until `reserved` is at most target_bytes. Returns
 * the bytes unmapped. */
uint64_t model_shrink(struct model *model, struct model_pool *pool, uint64_t target_bytes);

/* As a synchronisation does, in all pools of the device. Returns the bytes unmapped. */
uint64_t model_release_idle(struct model *model, uint32_t device);

/* The first granule of the BUSY block that starts at this address: MODEL_NONE: none does. */
uint32_t model_busy_start(const struct model_pool *pool, uint64_t address);

void model_pool_free_on(struct model *model, struct model_pool *pool, uint32_t first,
                        uint32_t stream);
void model_pool_free_now(struct model *model, struct model_pool *pool, uint32_t first);

/* The pool is gone with everything in it. */
void model_pool_drop(struct model *model, struct model_pool *pool);

/* Append a leak for each BUSY block. */
void model_pool_leaks(const struct model *model, const struct model_pool *pool,
                      struct model_list *leaks);

/* ---- model_memory.c: the device's memory and addresses ---- */

uint64_t model_device_free(const struct model *model, uint32_t device);

/* Best fit among the gaps of [begin, end); 0 when there is none. */
uint64_t model_find_space(const struct model *model, uint64_t size_bytes, uint64_t begin,
                          uint64_t end);

/* The live block that holds these bytes. false: they are not all in one. */
struct model_place {
    uint32_t pool; /* MODEL_NONE: an allocation */
    uint64_t base, bytes;
};

bool model_locate(const struct model *model, uint64_t device, uint64_t address, uint64_t size_bytes,
                  struct model_place *place);

/* The pool whose range holds the address: MODEL_NONE: none. */
uint32_t model_pool_of_address(const struct model *model, uint64_t address);

/* ---- one function per command ---- */

#define MODEL_COMMANDS(C)                                                                          \
    C(DEVICE_LIST, device_list)                                                                    \
    C(DEVICE_GET, device_get)                                                                      \
    C(DEVICE_SYNCHRONIZE, device_synchronize)                                                      \
    C(DEVICE_RESET, device_reset)                                                                  \
    C(STREAM_CREATE, stream_create)                                                                \
    C(STREAM_LIST, stream_list)                                                                    \
    C(STREAM_GET, stream_get)                                                                      \
    C(STREAM_DESTROY, stream_destroy)                                                              \
    C(STREAM_SYNCHRONIZE, stream_synchronize)                                                      \
    C(STREAM_WAIT_EVENT, stream_wait_event)                                                        \
    C(STREAM_DELAY, stream_delay)                                                                  \
    C(STREAM_LAUNCH_KERNEL, stream_launch_kernel)                                                  \
    C(STREAM_SET_FAILURE_MODE, stream_set_failure_mode)                                            \
    C(STREAM_LAUNCH_HOST_FUNC, stream_launch_host_func)                                            \
    C(HOST_FUNC_LIST, host_func_list)                                                              \
    C(HOST_FUNC_TAKE, host_func_take)                                                              \
    C(HOST_FUNC_COMPLETE, host_func_complete)                                                      \
    C(CLOCK_ADVANCE, clock_advance)                                                                \
    C(EVENT_CREATE, event_create)                                                                  \
    C(EVENT_LIST, event_list)                                                                      \
    C(EVENT_GET, event_get)                                                                        \
    C(EVENT_DESTROY, event_destroy)                                                                \
    C(EVENT_RECORD, event_record)                                                                  \
    C(EVENT_RESET, event_reset)                                                                    \
    C(EVENT_SYNCHRONIZE, event_synchronize)                                                        \
    C(EVENT_ELAPSED, event_elapsed)                                                                \
    C(POOL_CREATE, pool_create)                                                                    \
    C(POOL_LIST, pool_list)                                                                        \
    C(POOL_GET, pool_get)                                                                          \
    C(POOL_SEGMENTS, pool_segments)                                                                \
    C(POOL_GET_ATTRIBUTES, pool_get_attributes)                                                    \
    C(POOL_GET_ATTRIBUTE, pool_get_attribute)                                                      \
    C(POOL_SET_ATTRIBUTE, pool_set_attribute)                                                      \
    C(POOL_MALLOC, pool_malloc)                                                                    \
    C(POOL_FREE, pool_free)                                                                        \
    C(POOL_TRIM_TO, pool_trim_to)                                                                  \
    C(POOL_DESTROY, pool_destroy)                                                                  \
    C(MEMORY_INFO, memory_info)                                                                    \
    C(MEMORY_MALLOC, memory_malloc)                                                                \
    C(MEMORY_FREE, memory_free)                                                                    \
    C(MEMORY_FREE_ASYNC, memory_free_async)                                                        \
    C(MEMORY_SET, memory_set)                                                                      \
    C(MEMORY_COPY, memory_copy)                                                                    \
    C(MEMORY_DESCRIBE, memory_describe)                                                            \
    C(MEMORY_WRITE, memory_write)                                                                  \
    C(MEMORY_READ, memory_read)

#define SOMA_ROW(OP, name)                                                                         \
    enum soma_status model_##name(struct model *model, const struct soma_command *command,         \
                                  struct soma_result *result);
MODEL_COMMANDS(SOMA_ROW)
#undef SOMA_ROW

#endif
