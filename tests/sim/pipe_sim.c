/* soma_pipe_sim: random programs on pipes in the engine and in the plain model, until they differ.
 *
 *   soma_pipe_sim [--seed N] [--runs N] [--commands N] [--stats]
 *   soma_pipe_sim --mutate [--seed N] [--runs N] [--commands N]
 *
 * A run is one session with its own seed (--seed, --seed + 1, ...). After each command the engine's
 * invariants hold, and every answer is the model's. A difference is printed with its seed and
 * shrunk to few commands. --stats tells how often each command and each refusal came; --mutate
 * breaks one rule of the model after the other and passes for each that is noticed. Exit code 0
 * only when nothing failed. */
#include "compare.h"
#include "engine.h"
#include "pipe_workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUT_EVERY = 50 }; /* commands after which all layouts are compared */

struct arguments {
    uint64_t seed, runs, commands;
    bool is_mutating, has_statistics;
};

struct statistics {
    uint64_t done[SOMA_OP_COUNT], refused[SOMA_OP_COUNT], statuses[300];
};

struct program {
    struct soma_command *commands;
    size_t count, capacity;
};

struct difference {
    bool is_found;
    size_t step;
    char what[640];
};

static void *sim_alloc(void *ctx, size_t size_bytes)
{
    (void)ctx;
    return malloc(size_bytes);
}

static void sim_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

/* ---- one command in both ---- */

struct session {
    struct engine *engine;
    struct pipe_model *model;
    struct statistics *statistics; /* NULL: not counted */
    struct difference *difference;
};

static bool same_names(const struct soma_names *a, const struct soma_names *b)
{
    bool is_same = a->count == b->count;
    for (size_t i = 0; is_same && i < a->count; i++)
        is_same = strcmp(a->items[i], b->items[i]) == 0;
    return is_same;
}

/* The lists of names in a layout, which compare_results does not look into. */
static bool same_lists(const struct soma_layout *a, const struct soma_layout *b, const char **what)
{
    for (size_t i = 0; i < a->memories.count; i++) {
        const struct soma_layout_memory *left = &a->memories.items[i],
                                        *right = &b->memories.items[i];
        for (size_t j = 0; j < left->regions.count; j++) {
            *what = "sharedWith";
            if (!same_names(&left->regions.items[j].shared_with,
                            &right->regions.items[j].shared_with))
                return false;
        }
        for (size_t j = 0; j < left->stages.count; j++) {
            *what = "live";
            if (!same_names(&left->stages.items[j].live, &right->stages.items[j].live))
                return false;
        }
    }
    *what = "warnings";
    return a->warnings.count == b->warnings.count;
}

static bool same_answers(const struct soma_result *engine, const struct soma_result *model,
                         char *what, size_t size)
{
    char path[256];
    const char *list = "";
    if (!compare_results(engine, model, path, sizeof(path))) {
        (void)snprintf(what, size, "answers differ in %s", path);
        return false;
    }
    bool is_same = engine->message == SOMA_MESSAGE_BUFFERS
                       ? engine->u.buffers.warnings.count == model->u.buffers.warnings.count
                       : engine->message != SOMA_MESSAGE_LAYOUT ||
                             same_lists(&engine->u.layout, &model->u.layout, &list);
    if (!is_same)
        (void)snprintf(what, size, "answers differ in %s", list[0] == '\0' ? "warnings" : list);
    return is_same;
}

/* Run a command in both; false: they differ, or the engine broke a rule. */
static bool apply(struct session *session, const struct soma_command *command)
{
    struct soma_result engine, model;
    struct soma_error error = {.message = ""};
    char *what = session->difference->what, why[256];
    size_t size = sizeof(session->difference->what);
    enum soma_status status = engine_apply(session->engine, command, &engine, &error);
    enum soma_status wanted = pipe_model_apply(session->model, command, &model);
    bool is_same = status == wanted;
    if (!is_same)
        (void)snprintf(what, size, "the engine says %s, the model %s (%.300s)",
                       status == SOMA_OK ? "OK" : soma_status_info(status)->name,
                       wanted == SOMA_OK ? "OK" : soma_status_info(wanted)->name, error.message);
    else if (status == SOMA_OK)
        is_same = same_answers(&engine, &model, what, size);
    if (is_same && !engine_check(session->engine, why, sizeof(why))) {
        (void)snprintf(what, size, "the engine broke a rule: %s", why);
        is_same = false;
    }
    if (session->statistics != NULL) {
        session->statistics->done[command->op] += status == SOMA_OK;
        session->statistics->refused[command->op] += status != SOMA_OK;
        session->statistics->statuses[status]++;
    }
    if (status == SOMA_OK)
        engine_result_clear(session->engine, &engine);
    if (wanted == SOMA_OK)
        soma_result_clear(&model, pipe_model_release, NULL);
    return is_same;
}

/* Every layout in both. */
static bool compare_layouts(struct session *session)
{
    struct soma_command command;
    struct soma_result list;
    bool is_same = true;
    soma_command_init(&command, SOMA_OP_PIPE_LIST);
    (void)pipe_model_apply(session->model, &command, &list);
    for (size_t i = 0; is_same && i < list.u.pipe_list.pipes.count; i++) {
        soma_command_init(&command, SOMA_OP_PIPE_LAYOUT);
        soma_command_set(&command, SOMA_FIELD_pipe, list.u.pipe_list.pipes.items[i].pipe);
        is_same = apply(session, &command);
    }
    soma_result_clear(&list, pipe_model_release, NULL);
    return is_same;
}

/* ---- programs ---- */

static struct session session_start(uint64_t seed, enum pipe_mutant mutant,
                                    struct difference *difference)
{
    static const char *const socs[] = {"Ascend910B1", "Ascend310P3", "Ascend910A", "Ascend310B1"};
    const char *name = socs[seed % 4];
    const struct soma_soc *soc = soma_soc_find(name, strlen(name));
    struct engine_mem mem = {NULL, sim_alloc, sim_release};
    struct engine_config config = {.device_count = 1, .soc = soc};
    struct session session = {.engine = engine_create(&config, &mem, NULL),
                              .model = pipe_model_create(soc, mutant),
                              .difference = difference};
    if (session.engine == NULL)
        abort();
    *difference = (struct difference){0};
    return session;
}

static void session_end(struct session *session)
{
    engine_destroy(session->engine);
    pipe_model_destroy(session->model);
}

static void add_command(struct program *program, const struct soma_command *command)
{
    if (program->count == program->capacity) {
        program->capacity = program->capacity == 0 ? 256 : program->capacity * 2;
        program->commands =
            realloc(program->commands, program->capacity * sizeof(*program->commands));
        if (program->commands == NULL)
            abort();
    }
    program->commands[program->count++] = *command;
}

/* A program that is to be made. */
struct plan {
    uint64_t seed, commands;
    enum pipe_mutant mutant;
    struct statistics *statistics; /* counted on; NULL: not counted */
};

/* Make the program while running it, up to the first difference. */
static void run_plan(const struct plan *plan, struct program *program,
                     struct difference *difference)
{
    struct random_source source = {plan->seed};
    struct session session = session_start(plan->seed, plan->mutant, difference);
    session.statistics = plan->statistics;
    program->count = 0;
    for (uint64_t i = 0; i < plan->commands && !difference->is_found; i++) {
        struct soma_command command;
        pipe_workload_next(session.model, &source, &command);
        add_command(program, &command);
        difference->step = program->count - 1;
        difference->is_found =
            !apply(&session, &command) || (i % LAYOUT_EVERY == 0 && !compare_layouts(&session));
    }
    session_end(&session);
}

/* Run these commands once more. */
static bool still_differs(uint64_t seed, const struct program *program, enum pipe_mutant mutant,
                          struct difference *difference)
{
    struct session session = session_start(seed, mutant, difference);
    for (size_t i = 0; i < program->count && !difference->is_found; i++) {
        difference->step = i;
        difference->is_found = !apply(&session, &program->commands[i]);
    }
    if (!difference->is_found)
        difference->is_found = !compare_layouts(&session);
    session_end(&session);
    return difference->is_found;
}

/* Take pieces out, ever smaller ones, while a difference remains. */
static void shrink(uint64_t seed, struct program *program, enum pipe_mutant mutant,
                   struct difference *difference)
{
    struct program smaller = {NULL, 0, 0};
    struct difference found;
    for (size_t piece = program->count / 2; piece > 0; piece /= 2) {
        for (size_t first = 0; first < program->count;) {
            smaller.count = 0;
            for (size_t i = 0; i < program->count; i++) {
                if (i < first || i >= first + piece)
                    add_command(&smaller, &program->commands[i]);
            }
            if (!still_differs(seed, &smaller, mutant, &found)) {
                first += piece;
                continue;
            }
            struct program larger = *program;
            *program = smaller;
            smaller = larger;
            *difference = found;
            if (found.step + 1 < program->count)
                program->count = found.step + 1;
        }
    }
    free(smaller.commands);
}

/* ---- printing ---- */

static void print_field(const struct soma_command *command, const struct soma_field_row *row)
{
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    printf(",\"%s\":", soma_field_json(row->field));
    if (row->kind == SOMA_KIND_TEXT) {
        const struct soma_text *text =
            row->field == SOMA_FIELD_soc ? &command->soc : &command->object_name;
        printf("\"%.*s\"", (int)text->len, text->ptr);
        return;
    }
    uint64_t value = soma_command_get(command, row->field);
    if (kind->words != SOMA_GROUP_COUNT)
        printf("\"%s\"", soma_word_of(kind->words, (int)value));
    else
        printf(value > SOMA_JSON_INTEGER_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}

static void print_command(const struct soma_command *command)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    printf("  {\"op\":\"%s\"", info->name);
    for (size_t i = 0; i < info->field_count; i++) {
        if ((command->present >> info->fields[i].field & 1u) != 0)
            print_field(command, &info->fields[i]);
    }
    printf("}\n");
}

static void report(uint64_t seed, struct program *program, struct difference *difference)
{
    printf("seed %" PRIu64 ", step %zu: %s\n", seed, difference->step, difference->what);
    print_command(&program->commands[difference->step]);
    shrink(seed, program, PIPE_MUTANT_NONE, difference);
    printf("the same, shrunk to %zu commands: %s\n", program->count, difference->what);
    for (size_t i = 0; i < program->count; i++)
        print_command(&program->commands[i]);
}

static void print_statistics(const struct statistics *statistics)
{
    for (int op = SOMA_OP_PIPE_CREATE; op <= SOMA_OP_PIPE_LAYOUT; op++)
        printf("%-26s %9" PRIu64 " done %9" PRIu64 " refused\n",
               soma_op_info((enum soma_op)op)->name, statistics->done[op], statistics->refused[op]);
    for (int status = 1; status < 300; status++) {
        if (statistics->statuses[status] > 0)
            printf("%-26s %9" PRIu64 "\n", soma_status_info((enum soma_status)status)->name,
                   statistics->statuses[status]);
    }
}

/* ---- modes ---- */

static int finish(uint64_t passed, uint64_t failed)
{
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

static int simulate(const struct arguments *arguments)
{
    struct program program = {NULL, 0, 0};
    struct statistics statistics = {0};
    struct difference difference;
    uint64_t failed = 0, commands = 0;
    for (uint64_t run = 0; run < arguments->runs; run++) {
        uint64_t seed = arguments->seed + run;
        struct plan plan = {seed, arguments->commands, PIPE_MUTANT_NONE, &statistics};
        run_plan(&plan, &program, &difference);
        commands += program.count;
        failed += difference.is_found;
        if (difference.is_found)
            report(seed, &program, &difference);
    }
    free(program.commands);
    if (arguments->has_statistics)
        print_statistics(&statistics);
    printf("%" PRIu64 " commands in %" PRIu64 " sessions\n", commands, arguments->runs);
    return finish(arguments->runs - failed, failed);
}

static bool is_noticed(const struct arguments *arguments, enum pipe_mutant mutant)
{
    struct program program = {NULL, 0, 0};
    struct difference difference = {0};
    uint64_t commands = 0;
    for (uint64_t run = 0; run < arguments->runs && !difference.is_found; run++) {
        struct plan plan = {arguments->seed + run, arguments->commands, mutant, NULL};
        run_plan(&plan, &program, &difference);
        commands += program.count;
    }
    free(program.commands);
    if (difference.is_found)
        printf("%-20s noticed after %" PRIu64 " commands\n", pipe_mutant_name(mutant), commands);
    else
        printf("%-20s NOT noticed in %" PRIu64 " commands: %s\n", pipe_mutant_name(mutant),
               commands, pipe_mutant_text(mutant));
    return difference.is_found;
}

static int mutate(const struct arguments *arguments)
{
    uint64_t noticed = 0, missed = 0;
    for (int mutant = PIPE_MUTANT_NONE + 1; mutant < PIPE_MUTANT_COUNT; mutant++) {
        bool is_good = is_noticed(arguments, (enum pipe_mutant)mutant);
        noticed += is_good;
        missed += !is_good;
    }
    return finish(noticed, missed);
}

static bool parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        uint64_t *number = strcmp(argv[i], "--seed") == 0       ? &arguments->seed
                           : strcmp(argv[i], "--runs") == 0     ? &arguments->runs
                           : strcmp(argv[i], "--commands") == 0 ? &arguments->commands
                                                                : NULL;
        if (strcmp(argv[i], "--mutate") == 0) {
            arguments->is_mutating = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            arguments->has_statistics = true;
        } else if (number != NULL && i + 1 < argc) {
            char *end;
            errno = 0;
            *number = strtoull(argv[++i], &end, 10);
            if (errno != 0 || *end != '\0' || end == argv[i])
                return false;
        } else {
            return false;
        }
    }
    return arguments->runs > 0 && arguments->commands > 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.seed = 1, .runs = 60, .commands = 4000};
    if (!parse_arguments(argc, argv, &arguments)) {
        fprintf(stderr,
                "usage: soma_pipe_sim [--seed N] [--runs N] [--commands N] [--stats] [--mutate]\n");
        return 2;
    }
    return arguments.is_mutating ? mutate(&arguments) : simulate(&arguments);
}
