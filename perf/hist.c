#include "perf/hist.h"

const double hist_bounds_s[HIST_BUCKETS] = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600};

void hist_add(struct hist *h, uint64_t ns)
{
    double seconds = (double)ns * 1e-9;
    int i = 0;
    while (i < HIST_BUCKETS && seconds > hist_bounds_s[i])
        i++;
    atomic_fetch_add_explicit(&h->count[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ns, ns, memory_order_relaxed);
}

uint64_t hist_total(const struct hist *h)
{
    uint64_t n = 0;
    for (int i = 0; i <= HIST_BUCKETS; i++)
        n += atomic_load_explicit(&h->count[i], memory_order_relaxed);
    return n;
}
