/* Field elements and the words they are made of. Limbs are 64 bits, least significant first.
 *
 * Two forms of a scalar exist and the type tells them apart:
 *   struct fr      Montgomery form, x * 2^256 mod r, always reduced (< r)
 *   struct scalar  the plain number, as witness files hold it
 * Coordinates (Fq) are always in Montgomery form: R = 2^256 on BN254, 2^384 on BLS12-381. */
#ifndef CUDA_MATH_FE_H
#define CUDA_MATH_FE_H

#include <stdint.h>

struct fe4 {
    uint64_t l[4];
};
struct fe6 {
    uint64_t l[6];
};
/* Fq2 = Fq[u]/(u^2 + 1): c0 + c1 u */
struct fe4x2 {
    struct fe4 c0, c1;
};
struct fe6x2 {
    struct fe6 c0, c1;
};
struct fr {
    uint64_t l[4];
};
struct scalar {
    uint64_t l[4];
};

/* Constants of one prime field, as the stamped code and the curve tables share them. */
struct field_info {
    unsigned limbs, bits;
    uint64_t p[6];   /* modulus */
    uint64_t one[6]; /* R mod p */
    uint64_t r2[6];  /* R^2 mod p */
    uint64_t inv;    /* -p^-1 mod 2^64 */
};

extern const struct field_info bn254_fq_info, bn254_fr_info, bls12381_fq_info, bls12381_fr_info;

#endif
