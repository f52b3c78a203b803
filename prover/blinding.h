/* The two secrets of a Groth16 proof. Whoever knows them learns about the witness, so there is no way to choose them:
 * tests link another blinding.c in this one's place. */
#ifndef PROVER_BLINDING_H
#define PROVER_BLINDING_H

#include "cuda/math/curve.h"

/* r and s uniform in [0, order), from the kernel's generator. -EIO when it cannot be read. Any thread. */
int blinding_draw(const struct curve *curve, struct scalar *r, struct scalar *s);

#endif
