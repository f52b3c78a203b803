/* What the benchmark programs share: options, rows of results as text or JSON, middle and spread. Every program prints
 *
 *     text    a line for each row, as it is measured
 *     --json  {"bench": NAME, "rows": [...]} at the end
 */
#ifndef PERF_BENCH_BENCH_H
#define PERF_BENCH_BENCH_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench {
    const char *name;
    bool json;
    json_t *rows;
};
extern const struct argp bench_argp; /* --json; input: struct bench * */

/* Read the command line; exits with 2 on a wrong one. */
void bench_options(const struct argp *argp, int argc, char **argv, void *input);
/* For parsers: a whole number from least to most. */
unsigned long bench_number(struct argp_state *state, const char *option, const char *arg, unsigned long least,
                           unsigned long most);
uint64_t bench_size(struct argp_state *state, const char *option, const char *arg);

/* Print the text, or keep the row for the end; steals it. The text gets a line break. */
void bench_row(struct bench *b, json_t *row, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A line for people only. */
void bench_say(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The exit code. */
int bench_end(struct bench *b);

/* A failure ends the program with its sentence and its exit code (engine/cli/exit.h). */
void bench_must(const struct bench *b, int rc);

struct bench_spread {
    double least, middle, most;
};
/* Sorts the values. */
struct bench_spread bench_spread(double *values, size_t n);
json_t *bench_spread_json(const struct bench_spread *s);

double bench_now_s(void);

#endif
