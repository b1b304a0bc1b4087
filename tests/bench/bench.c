/* Rows, medians and the JSON document. */
#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("soma_bench: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return false;
}

/* ---- series ---- */

void bench_series_add(struct bench_series *series, double value)
{
    if (series->count < BENCH_ROUNDS_MAX)
        series->values[series->count++] = value;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_series_median(const struct bench_series *series)
{
    struct bench_series sorted = *series;
    size_t half = sorted.count / 2;
    if (sorted.count == 0)
        return 0;
    qsort(sorted.values, sorted.count, sizeof(sorted.values[0]), compare_doubles);
    return sorted.count % 2 == 1 ? sorted.values[half]
                                 : (sorted.values[half - 1] + sorted.values[half]) / 2;
}

static struct bench_series ratios_of(const struct bench_row *row)
{
    struct bench_series ratios = {.count = 0};
    for (size_t i = 0; i < row->values.count && i < row->peer_values.count; i++) {
        if (row->peer_values.values[i] > 0)
            bench_series_add(&ratios, row->values.values[i] / row->peer_values.values[i]);
    }
    return ratios;
}

double bench_ratio(const struct bench_row *row)
{
    struct bench_series ratios = ratios_of(row);
    return bench_series_median(&ratios);
}

/* ---- rows ---- */

void bench_add(struct bench *bench, const struct bench_row *row)
{
    struct bench_row *rows = realloc(bench->rows, (bench->row_count + 1) * sizeof(*rows));
    if (rows == NULL)
        abort();
    bench->rows = rows;
    bench->rows[bench->row_count++] = *row;
    (void)fprintf(stderr, "%-28s %12.1f %-10s", row->name, bench_series_median(&row->values),
                  row->unit);
    if (row->peer != NULL)
        (void)fprintf(stderr, " %6.2f of %.1f, %s", bench_ratio(row),
                      bench_series_median(&row->peer_values), row->peer);
    (void)fputc('\n', stderr);
}

static void print_series(FILE *file, const char *name, const struct bench_series *series)
{
    (void)fprintf(file, ",\"%s\":[", name);
    for (size_t i = 0; i < series->count; i++)
        (void)fprintf(file, "%s%.6g", i > 0 ? "," : "", series->values[i]);
    (void)fputc(']', file);
}

static void print_peer(FILE *file, const struct bench_row *row)
{
    struct bench_series ratios = ratios_of(row);
    double ratio = bench_series_median(&ratios);
    (void)fprintf(file, ",\"peer\":\"%s\",\"peerValue\":%.6g,\"ratio\":%.4g", row->peer,
                  bench_series_median(&row->peer_values), ratio);
    if (row->goal != BENCH_NO_GOAL)
        (void)fprintf(
            file, ",\"%s\":%.6g,\"met\":%s", row->goal == BENCH_AT_LEAST ? "atLeast" : "atMost",
            row->goal_ratio,
            (row->goal == BENCH_AT_LEAST ? ratio >= row->goal_ratio : ratio <= row->goal_ratio)
                ? "true"
                : "false");
    print_series(file, "ratios", &ratios);
}

bool bench_print(const struct bench *bench, FILE *file)
{
    (void)fprintf(file,
                  "{\"version\":\"%s\",\"quick\":%s,\"rounds\":%u,\"seconds\":%.3g,\"rows\":[",
                  SOMA_VERSION, bench->options.is_quick ? "true" : "false", bench->options.rounds,
                  bench->options.seconds);
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        (void)fprintf(file, "%s\n{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", i > 0 ? "," : "",
                      row->name, bench_series_median(&row->values), row->unit);
        if (row->peer != NULL)
            print_peer(file, row);
        print_series(file, "samples", &row->values);
        if (row->peer != NULL)
            print_series(file, "peerSamples", &row->peer_values);
        (void)fputc('}', file);
    }
    (void)fputs("\n]}\n", file);
    return fflush(file) == 0 && ferror(file) == 0;
}
