/* The compact form of POST /v1/commands: the same commands and answers as JSON, from the same
 * tables, as little-endian records. Content-Type of both sides: application/vnd.soma.batch.
 *
 * Request:  header, records, payload
 *   header  u32 SOMA_BATCH_REQUEST, u16 version, u16 flags, u64 count,
 *           u64 sequence of the first command, u64 payload bytes
 *   record  u32 op (bit 31: the client has waited out its timeoutMs already),
 *           u32 fields (bit i: row i of the command's fields is given),
 *           then one u64 for each given field, in the order of the rows
 *           LOCATION: u64 type (bit 32: an id is given), u64 id
 *           TEXT, BASE64: u64 length; the bytes stand in the payload, in order, each padded to 8
 *           ARGS: u64 count; per argument in the payload: u64 kind, u64 bits or length, bytes
 * Answer:   header, records
 *   header  u32 SOMA_BATCH_ANSWER, u16 version, u16 flags, u32 count of records, u32 completed,
 *           u64 next sequence, u64 digest of the session, u64 its host clock in ns
 *   record  u16 0: an answer: u16 message + 1, u32 0, its members (messages.def) in order
 *           u16 status number: u16 0, u32 index of the command in its batch, then field and
 *           message: u64 length and bytes padded to 8
 *   member  numbers, words, booleans, addresses and doubles: u64; TEXT, NAME, DATA: u64 length and
 *           bytes padded to 8; OBJECT: its members; ARRAY: u64 count and items
 * Everything is bounded by the body; anything that does not fit exactly is refused as a whole. */
#ifndef SOMA_BATCH_H
#define SOMA_BATCH_H

#include "wire.h"

#define SOMA_BATCH_TYPE "application/vnd.soma.batch"
#define SOMA_BATCH_REQUEST UINT32_C(0x51424d53) /* "SMBQ" */
#define SOMA_BATCH_ANSWER UINT32_C(0x41424d53)  /* "SMBA" */
#define SOMA_BATCH_VERSION 1u

/* Flags of a request. */
enum {
    SOMA_BATCH_CONTINUE = 1,  /* onError: continue */
    SOMA_BATCH_QUIET = 2,     /* answer only with the first error, if any, and with each kernel that
                               * fails:     the digest tells the rest */
    SOMA_BATCH_SEQUENCED = 4, /* run each sequence number of the session once, whatever is re-sent;
                               * the last command is answered again, if it was the last to run */
    SOMA_BATCH_KERNELS = 8,   /* kernels are launched in it: it may take long */
    SOMA_BATCH_FLAGS_ALL = 15
};

struct soma_batch_header {
    uint32_t flags;
    uint32_t count;
    uint64_t sequence;
    uint64_t payload_bytes;
};

/* A number that stands for this build's version and tables of commands and answers. Records are
 * made of places in these tables, and a client foresees by the rules of its version: so only
 * programs with the same number exchange batches. GET /v1/version tells a service's. */
uint64_t soma_batch_tables(void);

/* ---- writing a request ---- */

/* A request under construction. records and payload are separate until soma_batch_finish. */
struct soma_batch_writer {
    struct soma_writer records, payload;
    uint32_t count;
    bool leaves_bytes; /* the contents of the next command are not copied: who sends the request
                        * sends them, padded to 8, behind it. Nothing may be added after that. */
    size_t left_bytes; /* so many, padding included */
};

void soma_batch_writer_init(struct soma_batch_writer *batch, size_t max_bytes);
void soma_batch_writer_release(struct soma_batch_writer *batch);
/* Append a command; its texts and bytes are copied. false: no memory or past max; nothing added. */
bool soma_batch_add(struct soma_batch_writer *batch, const struct soma_command *command);
size_t soma_batch_bytes(const struct soma_batch_writer *batch);
/* The whole request into out (emptied first), and the batch is empty again. false: no memory. */
bool soma_batch_finish(struct soma_batch_writer *batch, uint32_t flags, uint64_t sequence,
                       struct soma_writer *out);

/* ---- reading a request ---- */

struct soma_batch_reader {
    const unsigned char *at, *records_end; /* records */
    const unsigned char *payload, *payload_end;
    struct soma_batch_header header;
    uint32_t taken;
};

/* body: borrowed until the last soma_batch_next, 8-byte alignment not needed. Checks the header. */
enum soma_status soma_batch_open(struct soma_batch_reader *reader, const void *body, size_t len,
                                 struct soma_error *error) SOMA_MUST_USE;
/* The next command; texts and bytes point into the body, arguments into the arena. Only while
 * reader->taken < reader->header.count. Ranges and words are checked as in JSON. */
enum soma_status soma_batch_next(struct soma_batch_reader *reader, struct wire_arena *arena,
                                 struct soma_command *command,
                                 struct soma_error *error) SOMA_MUST_USE;

/* Whether the commands that are not taken yet set, copy, reduce or draw at least so many bytes of
 * memory in all, as far as the batch can be read. Changes nothing. */
bool soma_batch_moves(const struct soma_batch_reader *reader, uint64_t bytes);

/* ---- answers ---- */

struct soma_batch_answer {
    uint32_t records, completed;
    uint64_t next_sequence, digest, now_ns;
};

/* Reserve the header at the start of an empty writer; soma_batch_end_answer fills it in. */
void soma_batch_begin_answer(struct soma_writer *writer);
void soma_batch_put_result(struct soma_writer *writer, const struct soma_result *result);
/* index: of the command in its batch */
void soma_batch_put_error(struct soma_writer *writer, const struct soma_error *error,
                          uint32_t index);
void soma_batch_end_answer(struct soma_writer *writer, const struct soma_batch_answer *answer);

struct soma_batch_answer_reader {
    const unsigned char *at, *end;
    struct soma_batch_answer answer;
    uint32_t error_index; /* of the last error: the command's place in its batch */
};

bool soma_batch_open_answer(struct soma_batch_answer_reader *reader, const void *body, size_t len);
/* The next record: SOMA_OK and *result (malloc; release with soma_result_clear and free), or the
 * error that was answered in *error. SOMA_MALFORMED_BATCH: the body is broken. */
enum soma_status soma_batch_next_answer(struct soma_batch_answer_reader *reader,
                                        struct soma_result *result,
                                        struct soma_error *error) SOMA_MUST_USE;

/* A read of `bytes` bytes, answered alone, has them at this place of the body, and is as long as
 * this with its padding: so they can be received where they belong. */
#define SOMA_BATCH_BYTES_AT 56u
#define SOMA_BATCH_BYTES_LEN(bytes) (SOMA_BATCH_BYTES_AT + ((bytes) + 7) / 8 * 8)
/* The record of such a read up to its bytes, which are sent behind the writer's text. */
void soma_batch_put_bytes_head(struct soma_writer *writer, uint64_t bytes);
/* Whether the first SOMA_BATCH_BYTES_AT bytes of the answer are those of such a read. */
bool soma_batch_answers_bytes(const struct soma_batch_answer_reader *reader, uint64_t bytes);

#endif
