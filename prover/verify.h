/* Strict Groth16 verification: e(a, b) = e(alpha, beta) e(IC0 + sum public_i IC_i, gamma) e(c, delta)
 * (J. Groth, "On the size of pairing-based non-interactive arguments", 2016, section 3.2). */
#ifndef PROVER_VERIFY_H
#define PROVER_VERIFY_H

#include "penstock/verify.h"
#include "prover/proof.h"

/* Judge a proof. Returns 0 with *verdict, and for every verdict but PEN_VALID the reason as this thread's sentence
 * (without a file name). `vk` is trusted: it comes checked from vk_json_read or vk_from_zkey. -EBADMSG when the publics
 * are null and some are due; -ENOMEM. */
int verify_groth16(enum pen_verdict *verdict, const struct vk *vk, const struct proof *proof,
                   const struct publics *publics);

#endif
