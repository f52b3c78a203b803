/* What a verifier takes: proof, verifying key, public values. Plain data; see proof_json.h, vk_json.h, public_json.h
 * for the files and verify.h for the judgement. */
#ifndef PROVER_PROOF_H
#define PROVER_PROOF_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/math/curve.h"

struct zkey;

struct proof {
    const struct curve *curve;
    struct point a; /* G1 */
    struct point b; /* G2 */
    struct point c; /* G1 */
};

struct vk {
    const struct curve *curve;
    struct point alpha1, beta2, gamma2, delta2;
    size_t n_public;
    struct point *ic; /* n_public + 1 */
};

struct publics {
    struct scalar *values;
    size_t n;
    bool was_null; /* the file said null, as rapidsnark does for none: accepted only where none are due */
};

/* The verifying key inside a proving key. IC is checked (canonical, on curve, in subgroup): -EBADMSG naming the index.
 * Close with vk_close. */
int vk_from_zkey(struct vk *vk, const struct zkey *zkey);
void vk_close(struct vk *vk); /* also a zeroed one */

void publics_close(struct publics *publics); /* also a zeroed one */

/* "is not on the curve", ... to go after the name of a point; POINT_OK: "is good" */
const char *point_fault_text(enum point_fault fault);

#endif
