/* Make a key from a circuit and a trapdoor, as a file that snarkjs, rapidsnark and penstock read. For tests: whoever
 * makes a key this way could keep the trapdoor and forge proofs. */
#ifndef PROVER_SETUP_H
#define PROVER_SETUP_H

#include <stdio.h>

#include "cuda/device.h"
#include "prover/groth16.h"
#include "prover/r1cs.h"
#include "prover/trapdoor.h"

struct setup_stats {
    size_t n_vars, n_public, n_constraints, domain_size, n_coefs;
    uint64_t zkey_bytes;
};

/* Write the key (all ten sections, in snarkjs's order) to `zkey` and its verification_key.json to `vk`. The points are
 * made on `device`. -EINVAL, -ENOMEM, -EIO. stats and progress may be NULL. */
int setup_write(FILE *zkey, FILE *vk, struct device *device, const struct r1cs *r1cs, const struct trapdoor *trapdoor,
                struct setup_stats *stats, groth16_progress *progress, void *ctx);

#endif
