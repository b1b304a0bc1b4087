/* What the model of pipes keeps, for its own files. */
#ifndef SIM_PIPE_MODEL_STATE_H
#define SIM_PIPE_MODEL_STATE_H

#include "pipe_model.h"

enum { CELL = 32, MEMORIES = 6, POSITIONS = 12, BUFFERS_MAX = 64 };

struct pipe_of_model;

/* A TQue, TBuf or TBufPool. */
struct item {
    struct pipe_of_model *pipe;
    enum pipe_model_kind kind;
    uint64_t id;
    unsigned position, memory;
    uint64_t depth, ids;
    bool gave_ids; /* bufIdSize was given */
    char name[SOMA_NAME_BYTES_MAX + 1];

    bool has_memory;
    struct item *giver; /* NULL: the pipe */
    bool is_sharing;
    uint64_t region;   /* of a pool; sharing pools have the same */
    uint64_t sequence; /* when it got its memory */
    uint64_t address, each, asked, num;
    const struct item **cells;     /* of a pool: who was given them; NULL: nobody */
    uint64_t tensors[BUFFERS_MAX]; /* 0: none is live */
    int states[BUFFERS_MAX];       /* enum soma_region_state */
    uint64_t queue[BUFFERS_MAX];   /* tensors, the oldest first */
    size_t queued;
    unsigned turn; /* buffer that comes next */
};

struct pipe_of_model {
    uint64_t id;
    const struct soma_soc *soc;
    bool follows_device;
    const struct item **given[MEMORIES]; /* cells */
    uint64_t *live[MEMORIES];            /* cells: the tensor that lives there */
    uint64_t peak[MEMORIES];
};

struct pipe_model {
    const struct soma_soc *soc;
    enum pipe_mutant mutant;
    struct pipe_of_model **pipes;
    size_t pipe_count;
    struct item **items;
    size_t item_count;
    uint64_t last_pipe, last_id[PIPE_MODEL_KINDS], last_tensor, last_region, last_sequence;
};

void *must_alloc(size_t count, size_t size); /* zeroed */
bool has_mutant(const struct pipe_model *model, enum pipe_mutant mutant);
bool is_old_arch(const struct soma_soc *soc);
uint64_t memory_bytes(const struct soma_soc *soc, unsigned memory);
uint64_t most_held(const struct pipe_of_model *pipe);
struct pipe_of_model *find_pipe(const struct pipe_model *model, uint64_t id);
struct item *find_item(const struct pipe_model *model, const struct pipe_of_model *pipe,
                       enum pipe_model_kind kind, uint64_t id);
bool is_inside(const struct item *item, const struct item *pool);
const char *item_name(const struct item *item, char *buf); /* SOMA_NAME_BYTES_MAX + 1 */
uint64_t bytes_given(const struct pipe_of_model *pipe, unsigned memory);

/* pipe_model_init.c; giver NULL: the pipe */
const struct item **cells_of(const struct pipe_of_model *pipe, const struct item *giver,
                             unsigned memory, uint64_t *count);
enum soma_status model_init_buffer(struct pipe_model *model, const struct soma_command *command,
                                   struct pipe_of_model *pipe, struct item *giver,
                                   struct soma_result *result);
enum soma_status model_init_pool(struct pipe_model *model, const struct soma_command *command,
                                 struct pipe_of_model *pipe, struct item *giver,
                                 struct soma_result *result);

/* pipe_model_reset.c */
void drop_memory(struct item *item); /* back to its declaration; not the giver's cells */
enum soma_status model_reset_pool(struct pipe_model *model, const struct soma_command *command);
enum soma_status model_reset_pipe(struct pipe_model *model, const struct soma_command *command);

/* pipe_model_queue.c */
enum soma_status model_alloc_tensor(struct pipe_model *model, const struct soma_command *command,
                                    struct soma_result *result);
enum soma_status model_en_que(struct pipe_model *model, const struct soma_command *command);
enum soma_status model_de_que(struct pipe_model *model, const struct soma_command *command,
                              struct soma_result *result);
enum soma_status model_free_tensor(struct pipe_model *model, const struct soma_command *command);
enum soma_status model_get_slice(struct pipe_model *model, const struct soma_command *command,
                                 struct soma_result *result);

/* pipe_model_layout.c */
void model_layout(const struct pipe_model *model, const struct pipe_of_model *pipe,
                  struct soma_layout *out);
size_t model_warnings(const struct pipe_model *model, const struct pipe_of_model *pipe);

#endif
