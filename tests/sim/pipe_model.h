/* The plain model of pipes: the rules of on-chip memory once more, written separately from the
 * engine and as naively as possible. A memory is an array with one cell per 32 bytes that says who
 * was given them, another that says which tensor is live there; so is the region of a pool. Sums
 * are counted anew each time.
 *
 * With a mutant other than PIPE_MUTANT_NONE the model breaks one rule on purpose: a simulation that
 * does not notice is worth nothing. */
#ifndef SIM_PIPE_MODEL_H
#define SIM_PIPE_MODEL_H

#include "command.h"
#include "message.h"
#include "random.h"
#include "status.h"

/* M(NAME, "the rule that is broken") */
#define PIPE_MUTANTS(M)                                                                            \
    M(NO_ROUNDING, "lengths are rounded up to 32")                                                 \
    M(TSCM_UPWARDS, "TSCM comes from the top of L1")                                               \
    M(C1_IN_L1, "C1 is unified buffer on npu_arch 1001 and 2002")                                  \
    M(BUFFERS_65, "a pipe has at most 64 buffers")                                                 \
    M(POOL_BUFFERS_FREE, "buffers in pools count among the pipe's")                                \
    M(INIT_TWICE, "a buffer gets its memory once")                                                 \
    M(SHARE_SHORTER, "a sharing pool has the other's length")                                      \
    M(SHARE_LONGER, "a sharing pool is not longer")                                                \
    M(SHARE_ANY_IDS, "a sharing pool has no larger bufIdSize")                                     \
    M(SHARE_TAKES, "a sharing pool takes no ids of its parent")                                    \
    M(CHILD_TAKES_NOTHING, "a bufIdSize that is given is set aside in the parent")                 \
    M(DEFAULT_TAKES_ALL, "the default bufIdSize is taken as buffers come")                         \
    M(DEFAULT_UNPROMISED, "the default bufIdSize counts against other pools")                      \
    M(DEVICE_NESTS, "checks=device does not compare nested bufIdSizes on npu_arch 2201")           \
    M(RESET_KEEPS_TENSORS, "a reset of a pool ends what is in flight")                             \
    M(RESET_IS_FLAT, "a reset of a pool reaches its child pools")                                  \
    M(DEVICE_KEEPS, "with checks=device a reset empties the pool")                                 \
    M(DEVICE_GIVES_BACK, "bytes of an emptied pool are lost")                                      \
    M(FIRST_FREE, "AllocTensor goes round all buffers")                                            \
    M(HELD_9, "8 or 4 tensors are held at one position")                                           \
    M(LIFO, "queues are first in, first out")                                                      \
    M(DEPTH_PLUS_1, "a queue holds no more than its depth")                                        \
    M(FREE_QUEUED, "a tensor in a queue is not freed")                                             \
    M(OVERLAP, "no two live tensors overlap")                                                      \
    M(GET_ANYWAY, "TBuf.Get is a use")                                                             \
    M(GET_UNROUNDED, "a TBuf may be used up to its rounded length")                                \
    M(PEAK_FORGETS, "a peak outlives the pipe's reset")

enum pipe_mutant {
    PIPE_MUTANT_NONE,
#define SOMA_ROW(NAME, text) PIPE_MUTANT_##NAME,
    PIPE_MUTANTS(SOMA_ROW)
#undef SOMA_ROW
        PIPE_MUTANT_COUNT
};

const char *pipe_mutant_name(enum pipe_mutant mutant);
const char *pipe_mutant_text(enum pipe_mutant mutant);

struct pipe_model;

/* Aborts when the host has no memory: so does everything in here. */
struct pipe_model *pipe_model_create(const struct soma_soc *soc, enum pipe_mutant mutant);
void pipe_model_destroy(struct pipe_model *model);

/* Run one command on pipes; the contract of engine_apply. Give the answer back with
 * soma_result_clear(result, pipe_model_release, NULL). */
enum soma_status pipe_model_apply(struct pipe_model *model, const struct soma_command *command,
                                  struct soma_result *result);
void pipe_model_release(void *ctx, void *ptr);

/* ---- for whoever makes up commands ---- */

enum pipe_model_kind { PIPE_MODEL_TQUE, PIPE_MODEL_TBUF, PIPE_MODEL_TBUFPOOL, PIPE_MODEL_KINDS };

/* One that exists, by chance; 0: none does. */
uint64_t pipe_model_pick_pipe(const struct pipe_model *model, struct random_source *source);
uint64_t pipe_model_pick(const struct pipe_model *model, struct random_source *source,
                         uint64_t pipe, enum pipe_model_kind kind, bool is_initialized);
uint64_t pipe_model_pick_tensor(const struct pipe_model *model, struct random_source *source,
                                uint64_t pipe, uint64_t *tque);

/* Bytes that this pool, or with pool 0 the unified buffer of the pipe, has left. */
uint64_t pipe_model_left(const struct pipe_model *model, uint64_t pipe, uint64_t pool);

#endif
