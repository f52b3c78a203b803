/* The real circuits that tests run over: those of tests/data, and those of the folder that the environment variable
 * PENSTOCK_CORPUS names (its good/CURVE/NAME), when it is set. */
#ifndef TESTS_PROVER_CIRCUITS_H
#define TESTS_PROVER_CIRCUITS_H

#include <stddef.h>

#include "cuda/math/curve.h"

enum { CIRCUITS_MAX = 64, CIRCUIT_PATH = 600 };

struct circuit {
    char dir[512], name[64];
    const struct curve *curve;
};

/* Sorted by path; how many. Aborts when tests/data is not there. */
size_t circuits_find(struct circuit found[CIRCUITS_MAX]);

/* DIR/NAME.ending for "zkey", "wtns", "r1cs"; DIR/ending for what has a dot ("proof.json"). */
const char *circuit_path(char path[CIRCUIT_PATH], const struct circuit *c, const char *ending);

#endif
