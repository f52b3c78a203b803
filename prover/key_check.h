/* Is a key what it says? Every point of every section, every coefficient, and what pairings can tell without the
 * ceremony's transcript. */
#ifndef PROVER_KEY_CHECK_H
#define PROVER_KEY_CHECK_H

#include "cuda/device.h"
#include "prover/groth16.h"
#include "prover/zkey.h"

/* 0, or -EBADMSG with a sentence naming section and index: every point canonical, on its curve and in its subgroup;
 * every coefficient in range; beta and delta the same number in both groups; B1 and B2 the same numbers point by point
 * (a random combination of 128-bit weights, so a difference escapes with probability 2^-128). -ENOMEM, -EIO. */
int key_check(struct device *device, const struct zkey *zkey, groth16_progress *progress, void *ctx);

#endif
