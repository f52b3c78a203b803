/* Scalars uniform in [0, order), by rejection: no bias, unlike 31 random bytes or a reduced 256-bit number. */
#ifndef PROVER_SCALAR_RANDOM_H
#define PROVER_SCALAR_RANDOM_H

#include "cuda/math/curve.h"

/* From the kernel's generator (getrandom). -EIO. Any thread. */
int scalar_random(const struct curve *curve, struct scalar *s);

/* From a seed and a label, the same everywhere: BLAKE2b-512 of counter | seed | label. For test keys. -EIO. */
int scalar_derive(const struct curve *curve, struct scalar *s, uint64_t seed, const char *label);

#endif
