/* The secret numbers behind a key ("toxic waste"). Whoever has them can forge proofs, so keys made here are for tests
 * and demonstrations. gamma is 1, as in every snarkjs key. */
#ifndef PROVER_TRAPDOOR_H
#define PROVER_TRAPDOOR_H

#include "cuda/math/curve.h"

struct trapdoor {
    struct fr tau, alpha, beta, delta;
};

/* Uniform from the kernel. -EIO. */
int trapdoor_random(const struct curve *curve, struct trapdoor *t);
/* The same seed gives the same key on every machine. */
int trapdoor_derive(const struct curve *curve, struct trapdoor *t, uint64_t seed);
/* From a JSON object with "tau", "alpha", "beta", "delta" as hexadecimal strings ("0x..."), none of them zero:
 * such a key would hold points at infinity. -EBADMSG. */
int trapdoor_read(const struct curve *curve, struct trapdoor *t, const char *path);

#endif
