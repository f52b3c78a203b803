/* The public values, folded into the one point that a verifier pairs with gamma. */
#ifndef PROVER_PUBLIC_FOLD_H
#define PROVER_PUBLIC_FOLD_H

#include "prover/proof.h"

/* *sum = IC0 + sum over i of value_i IC_(i+1). As many values as the key asks for, all < r. -ENOMEM. Any thread. */
int public_fold(struct point *sum, const struct vk *vk, const struct publics *publics);

#endif
