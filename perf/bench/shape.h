/* The published sizes of one partition of Filecoin's four circuits, and the same scaled down. */
#ifndef PERF_BENCH_SHAPE_H
#define PERF_BENCH_SHAPE_H

#include <stddef.h>
#include <stdint.h>

struct shape {
    const char *name;
    const char *title;
    unsigned partitions;      /* of one proof */
    size_t inputs, aux, rows; /* inputs with ONE; rows without the one for each input */
    size_t terms_a, terms_b;  /* A with the input rows */
    size_t dense_a, dense_b;  /* aux variables with a term; of the inputs A has all, B only ONE */
    size_t full;              /* aux variables that are not 0 or 1 */
    unsigned log_domain;
    unsigned full_coef_permille; /* terms whose coefficient is neither +-1 nor a power of two */
};

/* NULL: no such shape. */
const struct shape *shape_find(const char *name);

/* All counts times num / den, so that rows and densities keep their relation; the domain is what then fits. -EINVAL
 * with a sentence: nothing would be left. */
int shape_scale(struct shape *out, const struct shape *shape, uint64_t num, uint64_t den);

#endif
