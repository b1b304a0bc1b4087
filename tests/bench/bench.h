/* soma_bench: what things cost, always beside a peer measured in the same run.
 *
 * A group measures one subject and adds rows. Groups stand in main.c's list; a new subject is a
 * file group_<subject>.c and a line there. Every answer is checked while it is timed: a group
 * returns false when one was wrong, never because something was slow. */
#ifndef SOMA_BENCH_H
#define SOMA_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_ROUNDS_MAX 64u

/* Figures of one subject, one for each round of a run. */
struct bench_series {
    double values[BENCH_ROUNDS_MAX];
    size_t count;
};

void bench_series_add(struct bench_series *series, double value);
double bench_series_median(const struct bench_series *series);

/* What a row's ratio has to be; for people, nothing fails because of it. */
enum bench_goal { BENCH_NO_GOAL, BENCH_AT_LEAST, BENCH_AT_MOST };

struct bench_row {
    const char *name; /* "unary.pairs.1" */
    const char *unit; /* "pairs/s" */
    const char *peer; /* what it stands beside; NULL: nothing, then there is no ratio */
    enum bench_goal goal;
    double goal_ratio;
    struct bench_series values;
    struct bench_series peer_values; /* of the same rounds */
};

struct bench_options {
    bool is_quick;    /* a short form: fewer rounds, less time, smaller states */
    const char *grpc; /* program of the gRPC peer; NULL: its rows are left out */
    bool redis;       /* measure Redis too */
    const char *only; /* a group's name; NULL: all */
    unsigned rounds;  /* 1..BENCH_ROUNDS_MAX */
    double seconds;   /* of one measurement */
};

struct bench {
    struct bench_options options;
    struct bench_row *rows; /* owned */
    size_t row_count;
};

/* Copies the row. The ratio is the median of the rounds' ratios, so that what slows the machine for
 * a while slows both sides of a round. Names, units and peers are string literals. */
void bench_add(struct bench *bench, const struct bench_row *row);

/* One JSON document; false when it could not be written. */
bool bench_print(const struct bench *bench, FILE *file);

double bench_ratio(const struct bench_row *row);

/* Say on stderr what was wrong; false. */
bool bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

double bench_now(void); /* seconds, monotonic */

/* ---- the groups ---- */

bool group_engine(struct bench *bench);
bool group_unary(struct bench *bench);
bool group_sessions(struct bench *bench);
bool group_pipeline(struct bench *bench);
bool group_copies(struct bench *bench);
bool group_json(struct bench *bench);

#endif
