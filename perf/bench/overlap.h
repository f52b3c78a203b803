/* What a list of spans says about a pipeline: how full the lanes were, what gaps there were, how fast copies ran. */
#ifndef PERF_BENCH_OVERLAP_H
#define PERF_BENCH_OVERLAP_H

#include <stdbool.h>

#include "perf/span.h"

struct overlap {
    double wall_s;               /* from the end of the first job's compute to the end of the last one's */
    unsigned jobs;               /* that ended in it: all but the first */
    double compute_s;            /* that the compute lane was at work */
    double gap_max_s, gap_sum_s; /* between two jobs on the compute lane */
    double copy_s;               /* that at least one copy was under way, whole run */
    uint64_t copy_bytes;         /* whole run */
    double read_s, fold_s;
};

/* Of the spans from number `first` on; lanes end in " read", " copy", " compute", " fold". False: no two jobs. */
bool overlap_of(struct overlap *o, const struct span_list *spans, size_t first);

#endif
