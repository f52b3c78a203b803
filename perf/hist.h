/* A histogram of durations with fixed buckets, so that many of them add up. */
#ifndef PERF_HIST_H
#define PERF_HIST_H

#include <stdatomic.h>
#include <stdint.h>

enum { HIST_BUCKETS = 16 };

struct hist {
    _Atomic uint64_t count[HIST_BUCKETS + 1]; /* the last one: above every bound */
    _Atomic uint64_t sum_ns;
};

/* Upper bounds in seconds, ascending: 5 ms to 600 s. */
extern const double hist_bounds_s[HIST_BUCKETS];

/* Any thread, no lock. */
void hist_add(struct hist *h, uint64_t ns);

/* Values seen so far; the sum of all buckets. */
uint64_t hist_total(const struct hist *h);

#endif
