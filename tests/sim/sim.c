/* soma_sim: random programs in the engine and in the plain model, until they differ.
 *
 *   soma_sim [--seed N] [--runs N] [--commands N] [--faults] [--quiet] [--stats]
 *   soma_sim --mutate [--seed N] [--runs N] [--commands N]
 *   soma_sim --mutant NAME ...   breaks this one rule of mutants.def
 *
 * A run is one session with its own seed (--seed, --seed + 1, ...). A difference is printed with
 * its seed, shrunk, and written as a conformance case to sim-<seed>.json in the current directory.
 * --quiet neither shrinks nor writes; --stats tells how often each command and each refusal came.
 * --faults lets allocations and contents of the engine fail now and then. --mutate breaks one rule
 * of the model after the other and passes for each that is noticed. Exit code 0 only when nothing
 * failed. */
#include "shrink.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_SECONDS_MAX 120u /* a session takes milliseconds; its shrinking a little longer */

struct arguments {
    uint64_t seed, runs, commands;
    bool has_faults, is_mutating, is_quiet, has_statistics;
    enum model_mutant mutant; /* --mutant */
};

static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static bool parse_mutant(const char *name, enum model_mutant *mutant)
{
    for (int i = MUTANT_NONE; i < MUTANT_COUNT; i++) {
        if (strcmp(model_mutant_name((enum model_mutant)i), name) == 0) {
            *mutant = (enum model_mutant)i;
            return true;
        }
    }
    return false;
}

static bool parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t *number = NULL;
        if (strcmp(argv[i], "--faults") == 0)
            arguments->has_faults = true;
        else if (strcmp(argv[i], "--mutate") == 0)
            arguments->is_mutating = true;
        else if (strcmp(argv[i], "--quiet") == 0)
            arguments->is_quiet = true;
        else if (strcmp(argv[i], "--stats") == 0)
            arguments->has_statistics = true;
        else if (strcmp(argv[i], "--seed") == 0)
            number = &arguments->seed;
        else if (strcmp(argv[i], "--runs") == 0)
            number = &arguments->runs;
        else if (strcmp(argv[i], "--commands") == 0)
            number = &arguments->commands;
        else if (strcmp(argv[i], "--mutant") != 0 || !parse_mutant(value, &arguments->mutant))
            return false;
        if (number != NULL && (!parse_number(value, number) || *number > UINT32_MAX))
            return false;
        i += number != NULL || strcmp(argv[i], "--mutant") == 0;
    }
    return arguments->commands > 0 && arguments->runs > 0;
}

/* ---- sessions without an end ---- */

static volatile sig_atomic_t seed_of_run;

/* A command that does not come back is a difference too; where, a debugger tells. */
static void on_alarm(int number)
{
    static const char text[] = "a session does not end; its seed: ";
    char digits[24];
    size_t place = sizeof(digits);
    (void)number;
    digits[--place] = '\n';
    for (unsigned long seed = (unsigned long)seed_of_run; place > 0; seed /= 10) {
        digits[--place] = (char)('0' + seed % 10);
        if (seed < 10)
            break;
    }
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
        write(STDERR_FILENO, digits + place, sizeof(digits) - place) < 0)
        _exit(3);
    _exit(1);
}

static void watch_run(uint64_t seed)
{
    seed_of_run = (sig_atomic_t)seed;
    (void)signal(SIGALRM, on_alarm);
    (void)alarm(RUN_SECONDS_MAX);
}

/* ---- differences ---- */

static void print_difference(const struct workload_program *program,
                             const struct run_difference *difference)
{
    printf("seed %" PRIu64 ", step %" PRIu32 ": %s\n  command ", program->seed, difference->step,
           difference->what);
    print_step(stdout, program, difference->step);
    if (difference->engine_answer != NULL)
        printf("\n  engine  %s\n  model   %s", difference->engine_answer, difference->model_answer);
    printf("\n");
}

static void print_program(const struct workload_program *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        if (program->steps[i].is_disabled)
            continue;
        printf("  %4" PRIu32 " ", i);
        print_step(stdout, program, i);
        printf("\n");
    }
}

static void report_difference(struct workload_program *program, const struct run_options *options,
                              struct run_difference *difference)
{
    char path[64];
    print_difference(program, difference);
    shrink(program, options, difference);
    printf("the same, shrunk:\n");
    print_program(program);
    print_difference(program, difference);
    (void)snprintf(path, sizeof(path), "sim-%" PRIu64 ".json", program->seed);
    if (write_case(path, program, options, difference))
        printf("written to %s\n\n", path);
    else
        printf("%s cannot be written\n\n", path);
}

/* ---- modes ---- */

static int finish(uint64_t passed, uint64_t failed)
{
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

static int simulate(const struct arguments *arguments)
{
    uint64_t failed = 0;
    uint64_t commands = 0;
    struct run_statistics statistics = {0};
    for (uint64_t run = 0; run < arguments->runs; run++) {
        struct run_options options = {.command_count = (uint32_t)arguments->commands,
                                      .mutant = arguments->mutant,
                                      .has_faults = arguments->has_faults,
                                      .statistics = &statistics};
        struct workload_program program;
        struct run_difference difference;
        watch_run(arguments->seed + run);
        run_seed(arguments->seed + run, &options, &program, &difference);
        commands += program.count;
        failed += difference.is_found;
        if (difference.is_found && arguments->is_quiet)
            print_difference(&program, &difference);
        else if (difference.is_found)
            report_difference(&program, &options, &difference);
        run_difference_release(&difference);
        workload_program_release(&program);
    }
    if (arguments->has_statistics)
        run_print_statistics(&statistics);
    printf("%" PRIu64 " commands in %" PRIu64 " sessions\n", commands, arguments->runs);
    return finish(arguments->runs - failed, failed);
}

/* Is a difference found while the model breaks this rule? */
static bool is_noticed(const struct arguments *arguments, enum model_mutant mutant)
{
    uint64_t commands = 0;
    struct run_options options = {.command_count = (uint32_t)arguments->commands, .mutant = mutant};
    for (uint64_t run = 0; run < arguments->runs; run++) {
        struct workload_program program;
        struct run_difference difference;
        watch_run(arguments->seed + run);
        run_seed(arguments->seed + run, &options, &program, &difference);
        bool is_found = difference.is_found;
        commands += program.count;
        if (is_found)
            printf("%-22s noticed after %" PRIu64 " commands: %s\n", model_mutant_name(mutant),
                   commands, difference.what);
        run_difference_release(&difference);
        workload_program_release(&program);
        if (is_found)
            return true;
    }
    printf("%-22s NOT noticed in %" PRIu64 " commands: %s\n", model_mutant_name(mutant), commands,
           model_mutant_text(mutant));
    return false;
}

static int mutate(const struct arguments *arguments)
{
    uint64_t passed = 0;
    uint64_t failed = 0;
    for (int mutant = MUTANT_NONE + 1; mutant < MUTANT_COUNT; mutant++) {
        bool is_good = is_noticed(arguments, (enum model_mutant)mutant);
        passed += is_good;
        failed += !is_good;
    }
    return finish(passed, failed);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.seed = 1, .runs = 300, .commands = 4000};
    if (!parse_arguments(argc, argv, &arguments)) {
        fprintf(stderr, "usage: soma_sim [--seed N] [--runs N] [--commands N] [--faults] "
                        "[--quiet] [--stats] [--mutate] [--mutant NAME]\n");
        return 2;
    }
    return arguments.is_mutating ? mutate(&arguments) : simulate(&arguments);
}
