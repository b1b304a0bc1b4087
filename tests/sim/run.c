/* One step after the other, in both. */
#include "run.h"

#include "compare.h"
#include "kernel.h"
#include "subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_EVERY 16u /* steps between two engine_check */
#define AUDIT_EVERY 64u /* steps between two looks at the whole session */

struct runner {
    const struct workload_program *program;
    struct subject subject;
    struct model *model;
    uint64_t wall_ns;
    uint64_t *values; /* what each step created */
    uint32_t value_capacity;
    struct run_difference *difference;
    struct run_statistics *statistics; /* never NULL */
    struct run_statistics unused;
};

/* What one step gave, in both. */
struct outcome {
    enum soma_status engine_status, model_status;
    struct soma_result engine_result, model_result;
    struct soma_error error;
};

void run_difference_release(struct run_difference *difference)
{
    free(difference->engine_answer);
    free(difference->model_answer);
    memset(difference, 0, sizeof(*difference));
}

/* ---- differences ---- */

static char *answer_text(enum soma_status status, const struct soma_result *result,
                         const char *message)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    if (file == NULL)
        abort();
    if (status == SOMA_OK)
        print_result(file, result);
    else
        fprintf(file, "%s (%d) %s", soma_status_info(status)->name,
                soma_status_info(status)->acl_error, message);
    (void)fclose(file);
    return text;
}

static void note(struct runner *runner, uint32_t step, const char *what)
{
    struct run_difference *difference = runner->difference;
    if (difference->is_found)
        return;
    difference->is_found = true;
    difference->step = step;
    (void)snprintf(difference->what, sizeof(difference->what), "%s", what);
}

static void note_outcome(struct runner *runner, uint32_t step, const struct outcome *outcome,
                         const char *what)
{
    if (runner->difference->is_found)
        return;
    note(runner, step, what);
    runner->difference->engine_status = outcome->engine_status;
    runner->difference->model_status = outcome->model_status;
    runner->difference->engine_answer =
        answer_text(outcome->engine_status, &outcome->engine_result, outcome->error.message);
    runner->difference->model_answer =
        answer_text(outcome->model_status, &outcome->model_result, "");
}

static void compare_numbers(struct runner *runner, uint32_t step, const char *name,
                            uint64_t engine_value, uint64_t model_value)
{
    char what[160];
    if (engine_value == model_value)
        return;
    (void)snprintf(what, sizeof(what), "%s: engine %" PRIu64 ", model %" PRIu64, name, engine_value,
                   model_value);
    note(runner, step, what);
}

/* ---- one step ---- */

/* Run the command with something failing in the engine. Returns true when it was refused for that:
 * then nothing has changed and it is to be run again. */
static bool is_refused_for_want(struct runner *runner, const struct workload_step *step,
                                uint32_t index, const struct soma_command *command,
                                struct outcome *outcome)
{
    struct subject *subject = &runner->subject;
    uint64_t before_ns = engine_now_ns(subject->engine);
    subject->fail_alloc = step->fail_alloc;
    subject->fail_bytes = step->fail_bytes;
    subject->has_failed = false;
    outcome->engine_status =
        engine_apply(subject->engine, command, &outcome->engine_result, &outcome->error);
    subject->fail_alloc = 0;
    subject->fail_bytes = false;
    bool is_refused = outcome->engine_status == SOMA_OUT_OF_MEMORY ||
                      outcome->engine_status == SOMA_HOST_MEMORY_EXHAUSTED;
    if (is_refused && !subject->has_failed)
        note(runner, index, "refused for want of memory, but nothing had failed");
    if (is_refused)
        compare_numbers(runner, index, "clock after a refusal for want of memory",
                        engine_now_ns(subject->engine), before_ns);
    runner->statistics->failures += is_refused;
    return is_refused;
}

/* An engine that keeps no contents must say the same, but for the bytes themselves; a kernel's cost
 * has to be told. */
static void predict(struct runner *runner, uint32_t index, const struct soma_command *command,
                    const struct outcome *outcome)
{
    struct engine *predictor = runner->subject.predictor;
    struct soma_command predicted = *command;
    struct soma_result result;
    struct soma_error error;
    struct sim_kernel kernel;
    char path[200];
    char what[256];
    if (command->op == SOMA_OP_STREAM_LAUNCH_KERNEL) {
        bool has_failed = soma_is_kernel_failure(outcome->engine_status);
        if ((outcome->engine_status != SOMA_OK && !has_failed) ||
            sim_kernel_parse(command, &kernel) != SOMA_OK)
            return;
        predicted.kernel_cost_ns = kernel.cost_ns;
        predicted.kernel_status = outcome->engine_status;
    }
    enum soma_status status = engine_apply(predictor, &predicted, &result, &error);
    if (status != outcome->engine_status)
        note_outcome(runner, index, outcome, "status without contents");
    if (status == SOMA_OK && command->op != SOMA_OP_MEMORY_READ &&
        !compare_results(&outcome->engine_result, &result, path, sizeof(path))) {
        (void)snprintf(what, sizeof(what), "answer without contents: %s", path);
        note_outcome(runner, index, outcome, what);
    }
    compare_numbers(runner, index, "digest without contents", engine_digest(predictor),
                    engine_digest(runner->subject.engine));
    if (status == SOMA_OK)
        engine_result_clear(predictor, &result);
}

static void count(struct run_statistics *statistics, const struct soma_command *command,
                  const struct outcome *outcome)
{
    statistics->statuses[outcome->model_status]++;
    if (outcome->model_status != SOMA_OK)
        statistics->refused[command->op]++;
    else
        statistics->done[command->op]++;
    if (outcome->model_status == SOMA_OK && command->op == SOMA_OP_POOL_MALLOC)
        statistics->reuse[outcome->model_result.u.pool_block.reuse]++;
}

void run_print_statistics(const struct run_statistics *statistics)
{
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        if (statistics->done[op] + statistics->refused[op] > 0)
            printf("%-22s %10" PRIu64 " done %10" PRIu64 " refused\n",
                   soma_op_info((enum soma_op)op)->name, statistics->done[op],
                   statistics->refused[op]);
    }
    for (unsigned i = 0; soma_status_row(i) != NULL; i++) {
        const struct soma_status_info *info = soma_status_row(i);
        if (statistics->statuses[info->status] > 0)
            printf("%-26s %10" PRIu64 "\n", info->name, statistics->statuses[info->status]);
    }
    for (int reuse = 0; reuse < 5; reuse++)
        printf("malloc %-19s %10" PRIu64 "\n", soma_word_of(SOMA_GROUP_reuse, reuse),
               statistics->reuse[reuse]);
    printf("%" PRIu64 " commands refused for want of memory, then repeated\n",
           statistics->failures);
}

static void apply_both(struct runner *runner, uint32_t index, const struct soma_command *command,
                       bool has_faults, struct outcome *outcome)
{
    const struct workload_step *step = &runner->program->steps[index];
    memset(outcome, 0, sizeof(*outcome));
    bool is_faulty = has_faults && (step->fail_alloc > 0 || step->fail_bytes);
    if (!is_faulty || is_refused_for_want(runner, step, index, command, outcome)) {
        memset(&outcome->error, 0, sizeof(outcome->error));
        outcome->engine_status =
            engine_apply(runner->subject.engine, command, &outcome->engine_result, &outcome->error);
    }
    predict(runner, index, command, outcome);
    outcome->model_status = model_apply(runner->model, command, &outcome->model_result);
    count(runner->statistics, command, outcome);
}

/* The field at fault is one of the command's. */
static bool is_field_known(const struct soma_command *command, const char *field)
{
    const struct soma_op_info *info = soma_op_info(command->op);
    size_t len = strcspn(field, ".[");
    for (size_t i = 0; i < info->field_count; i++) {
        const char *json = soma_field_json(info->fields[i].field);
        if (strlen(json) == len && strncmp(json, field, len) == 0)
            return true;
    }
    return len == 0;
}

static void compare_errors(struct runner *runner, uint32_t index,
                           const struct soma_command *command, const struct outcome *outcome)
{
    const struct soma_error *error = &outcome->error;
    char what[160];
    if (error->status != outcome->engine_status || error->message[0] == '\0')
        note_outcome(runner, index, outcome, "the error says nothing, or something else");
    if (!is_field_known(command, error->field)) {
        (void)snprintf(what, sizeof(what), "the error names a field \"%s\"", error->field);
        note_outcome(runner, index, outcome, what);
    }
}

static void compare_outcome(struct runner *runner, uint32_t index,
                            const struct soma_command *command, const struct outcome *outcome)
{
    char path[256];
    char what[300];
    enum soma_status status = outcome->engine_status;
    if (status != outcome->model_status) {
        note_outcome(runner, index, outcome, "status");
        return;
    }
    if (status == SOMA_OK &&
        !compare_results(&outcome->engine_result, &outcome->model_result, path, sizeof(path))) {
        (void)snprintf(what, sizeof(what), "answer: %s", path);
        note_outcome(runner, index, outcome, what);
    }
    if (status == SOMA_MUST_WAIT)
        compare_numbers(runner, index, "wait until", engine_wait_ns(runner->subject.engine),
                        model_wait_ns(runner->model));
    else if (status != SOMA_OK)
        compare_errors(runner, index, command, outcome);
    if (engine_now_ns(runner->subject.engine) != model_now_ns(runner->model)) {
        (void)snprintf(what, sizeof(what), "host clock: engine %" PRIu64 ", model %" PRIu64,
                       engine_now_ns(runner->subject.engine), model_now_ns(runner->model));
        note_outcome(runner, index, outcome, what);
    }
}

static void release_outcome(struct runner *runner, struct outcome *outcome)
{
    if (outcome->engine_status == SOMA_OK)
        engine_result_clear(runner->subject.engine, &outcome->engine_result);
    if (outcome->model_status == SOMA_OK)
        soma_result_clear(&outcome->model_result, model_release, NULL);
}

static void keep_value(struct runner *runner, uint32_t index, uint64_t value)
{
    while (index >= runner->value_capacity) {
        uint32_t capacity = runner->value_capacity * 2 + 1024;
        runner->values = realloc(runner->values, capacity * sizeof(*runner->values));
        if (runner->values == NULL)
            abort();
        runner->value_capacity = capacity;
    }
    runner->values[index] = value;
}

static void set_wall(struct runner *runner, uint64_t wall_ns)
{
    runner->wall_ns = wall_ns;
    engine_set_wall(runner->subject.engine, wall_ns);
    engine_set_wall(runner->subject.predictor, wall_ns);
    model_set_wall(runner->model, wall_ns);
}

/* Run step `index` in both. *outcome: give back with release_outcome. */
static void run_step(struct runner *runner, uint32_t index, struct outcome *outcome)
{
    const struct workload_step *step = &runner->program->steps[index];
    struct soma_command command;
    struct soma_kernel_arg args[2];
    workload_command(step, runner->values, &command, args);
    set_wall(runner, runner->wall_ns + step->wall_step_ns);
    apply_both(runner, index, &command, true, outcome);
    compare_outcome(runner, index, &command, outcome);
    if (outcome->engine_status == SOMA_MUST_WAIT && step->is_retried &&
        !runner->difference->is_found) {
        uint64_t wait_ns = model_wait_ns(runner->model);
        if (step->is_patient && wait_ns != SOMA_NONE)
            set_wall(runner, wait_ns);
        else
            command.expired = true;
        apply_both(runner, index, &command, false, outcome);
        compare_outcome(runner, index, &command, outcome);
    }
    keep_value(runner, index,
               outcome->model_status == SOMA_OK
                   ? workload_created(command.op, &outcome->model_result)
                   : 0);
}

/* ---- the whole session ---- */

static void audit_totals(struct runner *runner, uint32_t step)
{
    struct engine_totals engine;
    struct model_totals model;
    engine_totals(runner->subject.engine, &engine);
    model_totals(runner->model, &model);
    compare_numbers(runner, step, "totals: pools", engine.pools, model.pools);
    compare_numbers(runner, step, "totals: reserved", engine.reserved_bytes, model.reserved_bytes);
    compare_numbers(runner, step, "totals: used", engine.used_bytes, model.used_bytes);
    compare_numbers(runner, step, "totals: mapped", engine.mapped_bytes, model.mapped_bytes);
    compare_numbers(runner, step, "totals: unmapped", engine.unmapped_bytes, model.unmapped_bytes);
    compare_numbers(runner, step, "totals: mallocs", engine.mallocs, model.mallocs);
    compare_numbers(runner, step, "totals: frees", engine.frees, model.frees);
    for (int reuse = 0; reuse < 5; reuse++)
        compare_numbers(runner, step, "totals: reuse", engine.reuse[reuse], model.reuse[reuse]);
    compare_numbers(runner, step, "mapped bytes", engine_mapped_bytes(runner->subject.engine),
                    model_mapped_bytes(runner->model));
}

static void audit_leaks(struct runner *runner, uint32_t step)
{
    struct soma_result engine = {.message = SOMA_MESSAGE_POOL_DESTROYED};
    struct soma_result model = {.message = SOMA_MESSAGE_POOL_DESTROYED};
    char path[128];
    char what[200];
    if (engine_leaks(runner->subject.engine, SIZE_MAX, &engine.u.pool_destroyed.leaks.items,
                     &engine.u.pool_destroyed.leaks.count) != SOMA_OK) {
        note(runner, step, "engine_leaks fails");
        return;
    }
    model_leaks(runner->model, &model.u.pool_destroyed.leaks.items,
                &model.u.pool_destroyed.leaks.count);
    if (!compare_results(&engine, &model, path, sizeof(path))) {
        struct outcome outcome = {.engine_result = engine, .model_result = model};
        (void)snprintf(what, sizeof(what), "engine_leaks: %s", path);
        note_outcome(runner, step, &outcome, what);
    }
    engine_result_clear(runner->subject.engine, &engine);
    soma_result_clear(&model, model_release, NULL);
}

static void audit(struct runner *runner, uint32_t step)
{
    struct soma_counts engine;
    struct soma_counts model;
    char path[128];
    char what[200];
    engine_counts(runner->subject.engine, &engine);
    model_counts(runner->model, &model);
    if (!compare_messages(SOMA_MESSAGE_COUNTS, &engine, &model, path, sizeof(path))) {
        (void)snprintf(what, sizeof(what), "engine_counts: %s", path);
        note(runner, step, what);
    }
    if (!model_is_safe(runner->model))
        note(runner, step, "memory went to a stream while another one still used it");
    audit_totals(runner, step);
    audit_leaks(runner, step);
}

static void check(struct runner *runner, uint32_t step, bool is_last)
{
    char why[200];
    char what[256];
    if (runner->subject.complaint[0] != '\0')
        note(runner, step, runner->subject.complaint);
    if ((is_last || step % CHECK_EVERY == 0) &&
        !engine_check(runner->subject.engine, why, sizeof(why))) {
        (void)snprintf(what, sizeof(what), "engine_check: %s", why);
        note(runner, step, what);
    }
    if (is_last || step % AUDIT_EVERY == 0)
        audit(runner, step);
}

static void start(struct runner *runner, const struct workload_program *program,
                  const struct run_options *options, struct run_difference *difference)
{
    memset(runner, 0, sizeof(*runner));
    memset(difference, 0, sizeof(*difference));
    struct model_config config = program->config;
    config.mutant = options->mutant;
    runner->program = program;
    runner->difference = difference;
    runner->statistics = options->statistics != NULL ? options->statistics : &runner->unused;
    runner->model = model_create(&config);
    subject_init(&runner->subject, &config);
}

static void stop(struct runner *runner, uint32_t step)
{
    subject_release(&runner->subject);
    if (runner->subject.complaint[0] != '\0')
        note(runner, step, runner->subject.complaint);
    model_destroy(runner->model);
    free(runner->values);
}

void run_seed(uint64_t seed, const struct run_options *options, struct workload_program *program,
              struct run_difference *difference)
{
    struct runner runner;
    struct workload *workload = workload_create(program, seed, options->has_faults);
    start(&runner, program, options, difference);
    uint32_t index = 0;
    while (program->count < options->command_count && !difference->is_found) {
        struct outcome outcome;
        index = workload_next(workload);
        run_step(&runner, index, &outcome);
        check(&runner, index, program->count == options->command_count);
        workload_learn(workload, index, outcome.model_status, &outcome.model_result);
        release_outcome(&runner, &outcome);
    }
    workload_destroy(workload);
    stop(&runner, index);
}

void run_program(const struct workload_program *program, const struct run_options *options,
                 struct run_difference *difference, enum soma_status **statuses)
{
    struct runner runner;
    uint32_t index = 0;
    start(&runner, program, options, difference);
    if (statuses != NULL)
        *statuses = calloc(program->count + 1, sizeof(**statuses));
    for (; index < program->count && !difference->is_found; index++) {
        struct outcome outcome;
        keep_value(&runner, index, 0);
        if (program->steps[index].is_disabled)
            continue;
        run_step(&runner, index, &outcome);
        check(&runner, index, index + 1 == program->count);
        if (statuses != NULL && *statuses != NULL)
            (*statuses)[index] = outcome.model_status;
        release_outcome(&runner, &outcome);
    }
    stop(&runner, index > 0 ? index - 1 : 0);
}
