/* On-chip memory from C: one function for each operation on a pipe. A program plans the memories
 * next to a core (UB, L1, L0A ...) as Ascend C's TPipe, TQue, TBuf and TBufPool divide them, and
 * gets the addresses that the device would use; schema/ONCHIP.md tells the rules.
 *
 * What holds for every function here:
 * - It returns ACL_SUCCESS (0) or the number of an error, whose text aclGetRecentErrMsg gives. The
 *   text ends with the reason of the service in brackets, such as "(MEMORY_OVERFLOW)". Refused
 *   calls change nothing and write no output.
 * - Handles are small structs of ids, given and copied by value; nothing has to be freed. An id
 *   that the service does not have is an error, never a crash. Objects live until their pipe is
 *   destroyed or the session ends (aclFinalize).
 * - Addresses are offsets in bytes in a memory; sizes are bytes unless elements are named.
 * - Functions may be called from any thread at any time. Each is answered before it returns, so
 *   calls of one thread are in order; calls of several threads for one pipe happen in some order.
 * - The session is that of aclInit; without one it is opened by the first call.
 * - NULL where an output or a value is needed, an enumerator or a number that cannot be: 100000. No
 *   memory on the host: 200000. The service cannot be reached: 507901. Objects that the service
 *   does not have (NO_SUCH_PIPE, NO_SUCH_TQUE, NO_SUCH_TBUF, NO_SUCH_TBUFPOOL, NO_SUCH_TENSOR):
 *   107017. All other refusals are 107000; the lists under "Errors" tell their reasons.
 * - Two handles of different pipes in one call: 100000. */
#ifndef SOMA_TPIPE_H
#define SOMA_TPIPE_H

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SOMA_TPIPE_BUFFERS_MAX 64  /* of one pipe, those in its pools counted */
#define SOMA_TPIPE_NAME_BYTES 65   /* of a name, its NUL included */
#define SOMA_TPIPE_TEXT_BYTES 768  /* of a warning, its NUL included */
#define SOMA_TPIPE_NONE UINT64_MAX /* no id, no value */

/* Where an object lies; the position decides the memory. */
typedef enum soma_tposition {
    SOMA_TPOSITION_VECIN = 0,
    SOMA_TPOSITION_VECOUT = 1,
    SOMA_TPOSITION_VECCALC = 2,
    SOMA_TPOSITION_A1 = 3,
    SOMA_TPOSITION_B1 = 4,
    SOMA_TPOSITION_C1 = 5,
    SOMA_TPOSITION_TSCM = 6,
    SOMA_TPOSITION_A2 = 7,
    SOMA_TPOSITION_B2 = 8,
    SOMA_TPOSITION_CO1 = 9,
    SOMA_TPOSITION_C2 = 10,
    SOMA_TPOSITION_CO2 = 11
} soma_tposition;

/* The memories. */
typedef enum soma_tmemory {
    SOMA_TMEMORY_UB = 0,
    SOMA_TMEMORY_L1 = 1,
    SOMA_TMEMORY_L0A = 2,
    SOMA_TMEMORY_L0B = 3,
    SOMA_TMEMORY_L0C = 4,
    SOMA_TMEMORY_BT = 5
} soma_tmemory;

#define SOMA_TMEMORY_COUNT 6

/* Types of elements. */
typedef enum soma_tdtype {
    SOMA_TDTYPE_INT8 = 0,
    SOMA_TDTYPE_UINT8 = 1,
    SOMA_TDTYPE_INT16 = 2,
    SOMA_TDTYPE_UINT16 = 3,
    SOMA_TDTYPE_INT32 = 4,
    SOMA_TDTYPE_UINT32 = 5,
    SOMA_TDTYPE_INT64 = 6,
    SOMA_TDTYPE_UINT64 = 7,
    SOMA_TDTYPE_FLOAT16 = 8,
    SOMA_TDTYPE_BFLOAT16 = 9,
    SOMA_TDTYPE_FLOAT32 = 10
} soma_tdtype;

/* Which set of checks a pipe has: the articles', or the device code's. */
typedef enum soma_tchecks { SOMA_TCHECKS_DOCUMENTED = 0, SOMA_TCHECKS_DEVICE = 1 } soma_tchecks;

/* What a region of a layout is, and how a buffer is used. */
typedef enum soma_tregion_kind { SOMA_TREGION_BUFFER = 0, SOMA_TREGION_POOL = 1 } soma_tregion_kind;

typedef enum soma_tregion_state {
    SOMA_TSTATE_IDLE = 0,
    SOMA_TSTATE_ALLOCATED = 1,
    SOMA_TSTATE_QUEUED = 2,
    SOMA_TSTATE_DEQUEUED = 3
} soma_tregion_state;

/* ---- handles ---- */

typedef struct soma_tpipe {
    uint64_t id;
} soma_tpipe;

typedef struct soma_tque {
    uint64_t pipe, id;
} soma_tque;

typedef struct soma_tbuf {
    uint64_t pipe, id;
} soma_tbuf;

typedef struct soma_tbufpool {
    uint64_t pipe, id;
} soma_tbufpool;

/* One buffer of a TQue in use. */
typedef struct soma_ttensor {
    uint64_t pipe, id;
    uint64_t address; /* in the memory of its TQue */
    uint64_t len;     /* bytes */
} soma_ttensor;

/* ---- pipes ---- */

/* A pipe: whose memories it divides and what it allows. */
typedef struct soma_tpipe_info {
    soma_tpipe pipe;
    soma_tchecks checks;
    char soc[SOMA_TPIPE_NAME_BYTES];
    uint64_t memory_bytes[SOMA_TMEMORY_COUNT]; /* by soma_tmemory; 0: the SoC does not have it */
    uint64_t buffers_max;                      /* of the pipe */
    uint64_t pool_buffers_max;                 /* of one TBufPool */
    uint64_t tensors_per_position_max;         /* held at a time: event ids */
} soma_tpipe_info;

/* Make a pipe.
 *   pipe    out
 *   soc     such as "Ascend910B1"; NULL: that of the session
 * Errors: UNKNOWN_SOC; INVALID_VALUE, checks is none of the two. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_create(soma_tpipe *pipe, const char *soc,
                                               soma_tchecks checks);

/* The pipes of the session, in the order of their ids.
 *   pipes     out: the first `capacity` of them; NULL with capacity 0
 *   count     out: how many there are, which may be more than capacity */
ACL_FUNC_VISIBILITY aclError soma_tpipe_list(soma_tpipe *pipes, size_t capacity, size_t *count);

/* What a pipe is. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_describe(soma_tpipe pipe, soma_tpipe_info *info);

/* End a pipe and all its objects. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_destroy(soma_tpipe pipe);

/* Back to the state after making: all memory is free, tensors end, contents are undefined. The
 * objects stay, without memory, and can be initialised again. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_reset(soma_tpipe pipe);

/* ---- objects; they have no memory until they are initialised ---- */

/* Make a TQue.
 *   depth  tensors between EnQue and DeQue at most; 0: used in place, holds one
 *   name   for messages and layouts, 1 to 64 bytes; NULL: q1, q2 ...
 * Errors: INVALID_VALUE, position is none; POSITION_UNSUPPORTED, it has no memory on this SoC;
 * VALUE_OUT_OF_RANGE; INVALID_VALUE, the name. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_create_tque(soma_tpipe pipe, soma_tposition position,
                                                    uint32_t depth, const char *name,
                                                    soma_tque *tque);

/* Make a TBuf. Parameters and errors as soma_tpipe_create_tque. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_create_tbuf(soma_tpipe pipe, soma_tposition position,
                                                    const char *name, soma_tbuf *tbuf);

/* Make a TBufPool, at VECIN, VECOUT, VECCALC, A1, B1 or C1.
 *   buf_id_size  buffers that it may hold, 1 to 16. 0: not given. That is 4, and a pool around it
 *                sets nothing aside for it, unlike for a 4 that is given.
 * Errors: as soma_tpipe_create_tque; VALUE_OUT_OF_RANGE, buf_id_size. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_create_tbufpool(soma_tpipe pipe, soma_tposition position,
                                                        uint32_t buf_id_size, const char *name,
                                                        soma_tbufpool *tbufpool);

/* ---- memory for them ---- */

/* What InitBuffer gave. */
typedef struct soma_tbuffers {
    soma_tmemory memory;
    uint64_t len;                               /* of each buffer: asked for, rounded up to 32 */
    uint64_t count;                             /* buffers */
    uint64_t addresses[SOMA_TPIPE_BUFFERS_MAX]; /* the first `count` of them */
    uint64_t padding_bytes;                     /* what rounding added, over all buffers */
    uint64_t warning_count;                     /* things that are allowed and may not be meant */
    char warning[SOMA_TPIPE_TEXT_BYTES];        /* the first of them; "" */
} soma_tbuffers;

/* What InitBufPool gave. */
typedef struct soma_tregion_given {
    soma_tmemory memory;
    uint64_t start_address;
    uint64_t len;           /* asked for, rounded up to 32; of a shared region that of the other */
    uint64_t padding_bytes; /* 0 where the region is shared */
} soma_tregion_given;

/* TPipe.InitBuffer of a TQue: num buffers of len bytes each.
 *   num   1 to 64
 *   len   at least 1; it is rounded up to 32
 *   got   out; NULL: not wanted
 * Errors: ALREADY_INITIALIZED until the pipe's reset; VALUE_OUT_OF_RANGE; MEMORY_OVERFLOW;
 * BUFFER_LIMIT, more than 64 in the pipe. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_init_tque(soma_tpipe pipe, soma_tque tque, uint64_t num,
                                                  uint64_t len, soma_tbuffers *got);

/* TPipe.InitBuffer of a TBuf: one buffer. As soma_tpipe_init_tque with num 1. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_init_tbuf(soma_tpipe pipe, soma_tbuf tbuf, uint64_t len,
                                                  soma_tbuffers *got);

/* TPipe.InitBufPool: a region for a pool.
 *   share_buf  NULL: a region of its own; else the pool whose region it gets, start and length,
 *              and len is at most that length
 *   got        out; NULL: not wanted
 * Errors: ALREADY_INITIALIZED; NOT_INITIALIZED, share_buf has no region; VALUE_OUT_OF_RANGE;
 * MEMORY_OVERFLOW; SHARE_TOO_LARGE; SHARE_MISMATCH; BUF_ID_SIZE, larger than that of share_buf. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_init_buf_pool(soma_tpipe pipe, soma_tbufpool tbufpool,
                                                      uint64_t len, const soma_tbufpool *share_buf,
                                                      soma_tregion_given *got);

/* TBufPool.InitBuffer of a TQue: as soma_tpipe_init_tque, inside a pool.
 * Errors also: NOT_INITIALIZED, the pool has no region; POSITION_MISMATCH, it lies in another
 * memory; POOL_OVERFLOW; BUF_ID_LIMIT. */
ACL_FUNC_VISIBILITY aclError soma_tbufpool_init_tque(soma_tbufpool tbufpool, soma_tque tque,
                                                     uint64_t num, uint64_t len,
                                                     soma_tbuffers *got);

/* TBufPool.InitBuffer of a TBuf: one buffer inside a pool. Errors as soma_tbufpool_init_tque. */
ACL_FUNC_VISIBILITY aclError soma_tbufpool_init_tbuf(soma_tbufpool tbufpool, soma_tbuf tbuf,
                                                     uint64_t len, soma_tbuffers *got);

/* TBufPool.InitBufPool: a region for a pool, cut out of another. As soma_tpipe_init_buf_pool.
 *   parent  the pool that is divided
 * Errors also: NOT_INITIALIZED, the parent has no region; POSITION_MISMATCH; POOL_OVERFLOW;
 * BUF_ID_LIMIT. */
ACL_FUNC_VISIBILITY aclError soma_tbufpool_init_buf_pool(soma_tbufpool parent,
                                                         soma_tbufpool tbufpool, uint64_t len,
                                                         const soma_tbufpool *share_buf,
                                                         soma_tregion_given *got);

/* End what is in flight in a pool and the pools in it. Region and buffers stay and can be used
 * again; contents are undefined. With SOMA_TCHECKS_DEVICE the pool is empty and has no region.
 * Errors: NOT_INITIALIZED (with SOMA_TCHECKS_DOCUMENTED). */
ACL_FUNC_VISIBILITY aclError soma_tbufpool_reset(soma_tbufpool tbufpool);

/* ---- tensors ---- */

/* Take the next free buffer of a TQue, round and round.
 * Errors: NOT_INITIALIZED; QUEUE_BUFFERS_HELD, no buffer or no event id is free (on a device the
 * call would never return); BUFFER_OVERLAP, the bytes are live in a pool that shares them. */
ACL_FUNC_VISIBILITY aclError soma_tque_alloc_tensor(soma_tque tque, soma_ttensor *tensor);

/* Put a tensor of the TQue into it. Of a tensor only pipe and id count here.
 * Errors: NO_SUCH_TENSOR; TENSOR_STATE, it is in the queue, or of another; QUEUE_FULL. */
ACL_FUNC_VISIBILITY aclError soma_tque_en_que(soma_tque tque, soma_ttensor tensor);

/* Take the tensor out that has been in the TQue for longest. Errors: NOT_INITIALIZED; QUEUE_EMPTY.
 */
ACL_FUNC_VISIBILITY aclError soma_tque_de_que(soma_tque tque, soma_ttensor *tensor);

/* Give the buffer of a tensor back. Errors: NO_SUCH_TENSOR; TENSOR_STATE, it is in the queue, or of
 * another. */
ACL_FUNC_VISIBILITY aclError soma_tque_free_tensor(soma_tque tque, soma_ttensor tensor);

/* A typed piece of a TBuf. */
typedef struct soma_tslice {
    uint64_t address;
    uint64_t elements;
    uint64_t bytes;
} soma_tslice;

/* TBuf.Get: a TBuf from its start.
 *   elements  how many; SOMA_TPIPE_NONE: as many as it has room for
 * Errors: NOT_INITIALIZED; BUFFER_RANGE, it is longer than the TBuf; VALUE_OUT_OF_RANGE, none;
 * INVALID_VALUE, dtype; BUFFER_OVERLAP. */
ACL_FUNC_VISIBILITY aclError soma_tbuf_get(soma_tbuf tbuf, soma_tdtype dtype, uint64_t elements,
                                           soma_tslice *slice);

/* TBuf.GetWithOffset: a piece from an offset.
 *   elements  how many
 *   offset    bytes, a multiple of 32
 * Errors: as soma_tbuf_get; OFFSET_UNALIGNED. */
ACL_FUNC_VISIBILITY aclError soma_tbuf_get_with_offset(soma_tbuf tbuf, soma_tdtype dtype,
                                                       uint64_t elements, uint64_t offset,
                                                       soma_tslice *slice);

/* ---- layout ---- */

/* One memory of a pipe. */
typedef struct soma_tpipe_usage {
    uint64_t capacity_bytes;
    uint64_t used_bytes;     /* given out, pools as a whole */
    uint64_t peak_bytes;     /* most of that ever */
    uint64_t free_bytes;     /* the rest */
    uint64_t padding_bytes;  /* lost to rounding, over all buffers */
    uint64_t live_bytes;     /* in tensors between AllocTensor and FreeTensor */
    uint64_t reserved_bytes; /* the end, where vector operations may keep values of their own */
} soma_tpipe_usage;

/* One buffer, or the region of a pool. Of tque, tbuf and tbufpool one is not SOMA_TPIPE_NONE. */
typedef struct soma_tregion {
    soma_tmemory memory;
    soma_tregion_kind kind;
    soma_tregion_state state; /* a pool is ALLOCATED while a tensor is live in it */
    soma_tposition position;
    uint64_t address, len;
    uint64_t level;  /* how many pools are around it */
    uint64_t tque;   /* whose buffer it is */
    uint64_t index;  /* which buffer of its TQue */
    uint64_t tensor; /* in use as; SOMA_TPIPE_NONE: not in use */
    uint64_t tbuf;
    uint64_t tbufpool;
    char name[SOMA_TPIPE_NAME_BYTES];
    char owner[SOMA_TPIPE_NAME_BYTES]; /* the pool that gave the memory, or "pipe" */
} soma_tregion;

/* What lies where: the regions of all memories, memory by memory in address order, a pool before
 * what it holds.
 *   regions   out: the first `capacity` of them; NULL with capacity 0
 *   count     out: how many there are, which may be more than capacity */
ACL_FUNC_VISIBILITY aclError soma_tpipe_regions(soma_tpipe pipe, soma_tregion *regions,
                                                size_t capacity, size_t *count);

/* How much of a memory is used. A memory that the SoC does not have is all 0.
 * Errors: 100000, memory is none of soma_tmemory. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_memory(soma_tpipe pipe, soma_tmemory memory,
                                               soma_tpipe_usage *usage);

/* The whole layout as the JSON text that GET /v1/pipes/{pipe}/layout answers.
 *   text      out: the text with its NUL, when it fits; NULL with capacity 0
 *   capacity  bytes at text
 *   needed    out: bytes of the text, its NUL included; not NULL. Text that does not fit is no
 *             error: nothing is written to text then. */
ACL_FUNC_VISIBILITY aclError soma_tpipe_layout(soma_tpipe pipe, char *text, size_t capacity,
                                               size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
