/* soma_bench [--json] [--quick] [--rounds N] [--seconds S] [--only GROUP] [--grpc PATH]
 *            [--redis]
 * JSON on stdout, progress on stderr. Exit code 0 unless something answered wrongly (1) or an
 * option is wrong (2): no time, rate or ratio makes it fail. */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool (*run)(struct bench *bench);
} groups[] = {
    {"engine", group_engine}, {"unary", group_unary}, {"pipeline", group_pipeline},
    {"copies", group_copies}, {"json", group_json},   {"sessions", group_sessions},
};

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

static void usage(FILE *file)
{
    (void)fputs("usage: soma_bench [--json] [--quick] [--rounds N] [--seconds S] [--only GROUP]\n"
                "                  [--grpc PATH] [--redis]\n"
                "  --json        print JSON (the default)\n"
                "  --quick       a short form that checks answers; its figures mean little\n"
                "  --rounds N    rounds of every measurement, 1..64 (default 7)\n"
                "  --seconds S   of one measurement (default 1)\n"
                "  --only GROUP  one of:",
                file);
    for (size_t i = 0; i < GROUP_COUNT; i++)
        (void)fprintf(file, " %s", groups[i].name);
    (void)fputs("\n  --grpc PATH   the gRPC peer (tests/bench/grpc), to stand beside it\n"
                "  --redis       run redis-server and redis-benchmark, to stand beside them\n",
                file);
}

static bool is_group(const char *name)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (strcmp(groups[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Takes an option that has a value. */
static bool set_option(struct bench_options *options, const char *name, const char *value)
{
    char *end;
    if (strcmp(name, "--grpc") == 0) {
        options->grpc = value;
        return true;
    }
    if (strcmp(name, "--only") == 0) {
        options->only = value;
        return is_group(value);
    }
    if (strcmp(name, "--rounds") == 0) {
        options->rounds = (unsigned)strtoul(value, &end, 10);
        return *end == '\0' && options->rounds >= 1 && options->rounds <= BENCH_ROUNDS_MAX;
    }
    options->seconds = strtod(value, &end);
    return strcmp(name, "--seconds") == 0 && *end == '\0' && options->seconds > 0 &&
           options->seconds <= 3600;
}

static bool read_options(struct bench_options *options, int argc, char **argv)
{
    bool has_rounds = false, has_seconds = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            continue;
        if (strcmp(argv[i], "--quick") == 0) {
            options->is_quick = true;
            continue;
        }
        if (strcmp(argv[i], "--redis") == 0) {
            options->redis = true;
            continue;
        }
        if (i + 1 == argc || !set_option(options, argv[i], argv[i + 1])) {
            (void)fprintf(stderr, "soma_bench: %s: unknown, or its value is missing or wrong\n",
                          argv[i]);
            return false;
        }
        has_rounds = has_rounds || strcmp(argv[i], "--rounds") == 0;
        has_seconds = has_seconds || strcmp(argv[i], "--seconds") == 0;
        i++;
    }
    if (!has_rounds)
        options->rounds = options->is_quick ? 1 : 7;
    if (!has_seconds)
        options->seconds = options->is_quick ? 0.1 : 1;
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = {.row_count = 0};
    bool good = true;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (!read_options(&bench.options, argc, argv)) {
        usage(stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (bench.options.only == NULL || strcmp(bench.options.only, groups[i].name) == 0)
            good = groups[i].run(&bench) && good;
    }
    good = bench_print(&bench, stdout) && good;
    free(bench.rows);
    return good ? 0 : 1;
}
