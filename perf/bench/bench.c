#include "perf/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/cli/exit.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/units.h"

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the results as one JSON object on standard output", 10},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;
    (void)arg;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    b->json = true;
    return 0;
}

const struct argp bench_argp = {.options = options, .parser = parse};

void bench_options(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(argp, argc, argv, 0, NULL, input);
}

unsigned long bench_number(struct argp_state *state, const char *option, const char *arg, unsigned long least,
                           unsigned long most)
{
    char *end;
    unsigned long n = strtoul(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || n < least || n > most)
        argp_error(state, "%s takes a number from %lu to %lu, not \"%s\"", option, least, most, arg);
    return n;
}

uint64_t bench_size(struct argp_state *state, const char *option, const char *arg)
{
    uint64_t bytes = 0;
    if (units_parse_bytes(arg, &bytes) || bytes == 0)
        argp_error(state, "%s takes a size like 64MiB, not \"%s\"", option, arg);
    return bytes;
}

void bench_row(struct bench *b, json_t *row, const char *fmt, ...)
{
    if (b->json) {
        if (!b->rows)
            b->rows = json_array();
        if (json_array_append_new(b->rows, row))
            bench_must(b, err_fail(-ENOMEM, "no memory for the results"));
        return;
    }
    json_decref(row);
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

void bench_say(const struct bench *b, const char *fmt, ...)
{
    if (b->json)
        return;
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

int bench_end(struct bench *b)
{
    if (b->json) {
        json_t *tree = json_pack("{s:s, s:o}", "bench", b->name, "rows", b->rows ? b->rows : json_array());
        json_dumpf(tree, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(tree);
        b->rows = NULL;
    }
    return fflush(stdout) ? EXIT_OUTPUT : EXIT_DONE;
}

void bench_must(const struct bench *b, int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "penstock: bench %s: %s\n", b->name, pen_last_error());
    exit(exit_of_errno(rc));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench_spread bench_spread(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return (struct bench_spread){values[0], n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2,
                                 values[n - 1]};
}

json_t *bench_spread_json(const struct bench_spread *s)
{
    return json_pack("{s:f, s:f, s:f}", "median", s->middle, "min", s->least, "max", s->most);
}

double bench_now_s(void)
{
    return (double)clock_now_ns() * 1e-9;
}
