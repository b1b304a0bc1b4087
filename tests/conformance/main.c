/* conformance WAY DIR [--somad PATH] [--skip PREFIX]: run the cases of a directory through one way
 * into soma. Exit code 0 only when at least one case ran and none failed. */
#include "runner.h"
#include "ways.h"

#include <stdio.h>
#include <string.h>

struct options {
    const char *way, *dir, *somad, *skip;
};

static bool read_options(struct options *options, int argc, char **argv)
{
    memset(options, 0, sizeof(*options));
    if (argc < 3)
        return false;
    options->way = argv[1];
    options->dir = argv[2];
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--somad") == 0)
            options->somad = argv[i + 1];
        else if (strcmp(argv[i], "--skip") == 0)
            options->skip = argv[i + 1];
        else
            return false;
    }
    return argc % 2 == 1;
}

static bool run_engine(const struct options *options, struct conformance_counts *counts)
{
    struct engine_way *way = engine_way_create(strcmp(options->way, "memory") == 0);
    struct conformance_way table = engine_way_table(way);
    bool good = conformance_run(&table, options->dir, options->skip, counts);
    engine_way_destroy(way);
    return good;
}

static bool run_http(const struct options *options, struct conformance_counts *counts)
{
    struct http_way *way = options->somad == NULL ? NULL : http_way_create(options->somad);
    if (way == NULL)
        return false;
    struct conformance_way table =
        strcmp(options->way, "routes") == 0 ? http_way_routes(way) : http_way_commands(way);
    bool good = conformance_run(&table, options->dir, options->skip, counts);
    http_way_destroy(way);
    return good;
}

static bool run_batch(const struct options *options, struct conformance_counts *counts)
{
    struct http_way *http = options->somad == NULL ? NULL : http_way_create(options->somad);
    if (http == NULL)
        return false;
    struct batch_way *way = batch_way_create(http);
    struct conformance_way table = batch_way_table(way);
    bool good = conformance_run(&table, options->dir, options->skip, counts);
    batch_way_destroy(way);
    http_way_destroy(http);
    return good;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(const struct options *options, struct conformance_counts *counts);
    } ways[] = {
        {"engine", run_engine}, {"memory", run_engine}, {"commands", run_http},
        {"routes", run_http},   {"batch", run_batch},
    };
    struct options options;
    struct conformance_counts counts = {0, 0, 0};
    bool known = false, good = false;
    if (read_options(&options, argc, argv)) {
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            if (strcmp(ways[i].name, options.way) == 0) {
                known = true;
                good = ways[i].run(&options, &counts);
            }
        }
    }
    if (!known) {
        fprintf(stderr, "usage: conformance engine|memory|commands|routes|batch DIR "
                        "[--somad PATH] [--skip PREFIX]\n");
        return 2;
    }
    if (counts.skipped > 0)
        printf("%u skipped\n", counts.skipped);
    printf("%u passed, %u failed\n", counts.passed, counts.failed);
    return good && counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}
