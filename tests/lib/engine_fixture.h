/* An engine for tests. Its memory is counted, can be made to fail and is checked for leaks; its
 * contents are kept byte by byte; commands and what is expected of them are written as text.
 *
 * A scene is a script of lines
 *
 *     [name:] op field=value ... [-> expectation ...]
 *
 * such as  a: pool.malloc pool=1 size=1g stream=2 -> ptr=p1+3g reuse=EVENT
 *
 *   op           as in POST /v1/commands; fields by their JSON names, `device` is 0 when absent;
 *                "!op" tells the engine that the command's timeout is over
 *   value        sums and differences of numbers (suffix g: granules of 2 MiB, K: KiB, us, ms), of
 *                $name (what that line answered: an address or an id), pN (base address of pool N),
 *                large and small (first addresses of the two areas), max (2^64 - 1); or a word; of
 *                args also f32:X, f16:X, i32:N, u32:N, i64:N, u64:N
 *   expectation  nothing: it succeeds; NAME of a status: it is refused so; then member=value of the
 *                answer (dotted: usage.mallocs, segments[0].state, segments.count); acl, field and
 *                says (part of the message) of an error; now and wait (engine_now_ns,
 * engine_wait_ns)
 *
 * Two lines are no commands:  "map pool=1 -> B1@2 C2@0 F5" (the blocks of a pool: state, granules,
 * stream) and "wall TIME" (engine_set_wall). After every line the engine's invariants hold, and at
 * the end a second engine that ran only what was accepted must be in the same state: so each scene
 * also shows that refused commands change nothing and that the engine is deterministic. */
#ifndef SOMA_TESTS_ENGINE_FIXTURE_H
#define SOMA_TESTS_ENGINE_FIXTURE_H

#include "engine.h"
#include "flat_bytes.h"

/* ---- text that grows ---- */

struct fixture_text {
    char *ptr; /* NULL: empty */
    size_t len, capacity;
};

void fixture_text_add(struct fixture_text *text, const char *format, ...) SOMA_PRINTF(2, 3);
void fixture_text_clear(struct fixture_text *text);

/* ---- memory ---- */

struct counted_memory {
    long allocations; /* asked for so far, refused ones too */
    long fail_at;     /* the one of this number, from 1, fails; 0: none */
    long fail_more;   /* and so do so many behind it */
    long live;        /* blocks not given back */
    bool has_failed;
};

/* A table on the heap. New blocks hold rubbish, and so do those given back. */
struct engine_mem counted_memory_table(struct counted_memory *memory);

/* ---- contents ---- */

/* A flat_bytes with two additions: calls that fail on demand, and a kernel "poke" that writes '*'
 * at its address and takes 7000 ns. */
struct kept_contents {
    struct flat_bytes *flat;
    struct engine_bytes flat_table;
    bool fail_next; /* the next call that can fail does, with SOMA_HOST_MEMORY_EXHAUSTED */
};

struct engine_bytes kept_contents_table(struct kept_contents *contents);

/* ---- the fixture ---- */

enum { FIXTURE_POOLS_MAX = 16, FIXTURE_NAMES_MAX = 32, FIXTURE_ARGS_MAX = 4 };

struct fixture_setup {
    struct engine_config config;
    bool has_contents;
};

/* Two devices of 64 granules, virtual clock, contents kept. */
struct fixture_setup fixture_setup_default(void);

/* One thing that the engine was told. */
struct fixture_input {
    struct soma_command command;
    uint64_t wall_ns; /* engine_set_wall before it */
    struct soma_kernel_arg args[FIXTURE_ARGS_MAX];
    char text[64]; /* the kernel's name, or data */
};

struct fixture_name {
    char name[16];
    uint64_t value;
};

struct fixture {
    struct fixture_setup setup;
    struct engine *engine; /* NULL: there was no memory for it */
    struct counted_memory memory;
    struct kept_contents contents;
    enum soma_status status;    /* of the last command */
    struct soma_error error;    /* when it was refused */
    struct fixture_text answer; /* when it was not: a line "path=value" for each member */
    uint64_t wall_ns;
    uint64_t bases[FIXTURE_POOLS_MAX]; /* by pool id */
    struct fixture_name names[FIXTURE_NAMES_MAX];
    size_t name_count;
    struct fixture_input *log; /* what was accepted, and time-outs */
    size_t log_count, log_capacity;
};

/* setup NULL: the default. false: no memory for the engine (its memory was told to fail). */
bool fixture_start(struct fixture *fixture, const struct fixture_setup *setup);
bool fixture_start_failing(struct fixture *fixture, const struct fixture_setup *setup,
                           long fail_at);

/* Check invariants, compare with a replay, destroy, look for leaks. */
void fixture_finish(struct fixture *fixture, const char *what);

/* Destroy and look for leaks only: of an engine that was corrupted on purpose and mended. */
void fixture_abandon(struct fixture *fixture, const char *what);

void fixture_set_wall(struct fixture *fixture, uint64_t wall_ns);

/* Run one command; answer or error are kept in the fixture. */
enum soma_status fixture_apply(struct fixture *fixture, const struct soma_command *command);

/* The same, written as a line without an expectation. */
enum soma_status fixture_run(struct fixture *fixture, const char *format, ...) SOMA_PRINTF(2, 3);

/* A member of the last answer as a number. A missing one fails the test and is 0. */
uint64_t fixture_number(const struct fixture *fixture, const char *path);

/* Everything that commands can tell of the session, and what they would do next: ids, addresses,
 * who may reuse what. Moves the clock and leaves objects behind: to be done last. */
void fixture_dump(struct fixture *fixture, struct fixture_text *out);

/* Append "path=value" for every member of an answer. */
void fixture_describe(const struct soma_result *result, struct fixture_text *out);

/* ---- scenes (engine_fixture_scene.c) ---- */

struct scene {
    const char *rule; /* the rule that it shows, in a sentence */
    const char *script;
};

/* Run the lines of a script; false at the first that is not as expected, which fails the test. */
bool fixture_script(struct fixture *fixture, const char *rule, const char *script);

/* Each scene on a fixture of its own. */
void scenes_run(const struct scene *scenes, size_t count, const struct fixture_setup *setup);

#define RUN_SCENES(scenes) scenes_run((scenes), sizeof(scenes) / sizeof((scenes)[0]), NULL)
#define RUN_SCENES_ON(scenes, setup)                                                               \
    scenes_run((scenes), sizeof(scenes) / sizeof((scenes)[0]), (setup))

/* One command of a line's text. false: it makes no sense, which fails the test. */
bool fixture_parse(const struct fixture *fixture, const char *line, struct fixture_input *input);

#endif
