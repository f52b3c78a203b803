/* Everything of BLS12-381 for one instruction set (S. Bowe, "BLS12-381: New zk-SNARK Elliptic Curve Construction",
 * 2017; z = -0xd201000000010000). The including unit defines ISA_ADX or not, and CURVE_TABLE, the name of its table. */
#include "cuda/math/bls12381_const.h"
#include "cuda/math/curve.h"

#define FIELD       bls12381_fq
#define FIELD_TYPE  struct fe6
#define FIELD_LIMBS 6
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FIELD       bls12381_fr
#define FIELD_TYPE  struct fr
#define FIELD_LIMBS 4
#define FIELD_SPARE 1
#include "cuda/math/field_stamp.h"

#define FQ2      bls12381_fq2
#define FQ2_TYPE struct fe6x2
#define FQ       bls12381_fq
#define FQ_TYPE  struct fe6
#include "cuda/math/fq2_stamp.h"

#define GROUP       bls12381_g1
#define GROUP_FIELD bls12381_fq
#define GROUP_COORD struct fe6
#include "cuda/math/group_stamp.h"

#define GROUP       bls12381_g2
#define GROUP_FIELD bls12381_fq2
#define GROUP_COORD struct fe6x2
#include "cuda/math/group_stamp.h"

#define BLS12381_Z 0xd201000000010000 /* -z */

/* phi(a) = (beta x, y) = -z^2 a. Since phi^2 + phi + 1 = 0 on the whole curve, (z^4 - z^2 + 1) a = r a = 0 (M. Scott,
 * "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", 2021). */
static bool bls12381_g1_in_subgroup(const struct bls12381_g1_affine *a)
{
    static const uint64_t z2[2] = {0x0000000100000000, 0xac45a4010001a402};
    struct bls12381_g1_affine phi = *a;
    struct bls12381_g1_xyzz m, p;
    bls12381_fq_mul(&phi.x, &phi.x, &bls12381_beta);
    bls12381_g1_affine_neg(&phi, &phi);
    bls12381_g1_mul(&m, a, z2, 2);
    bls12381_g1_set(&p, &phi);
    return bls12381_g1_eq(&m, &p);
}

/* psi(a) = z a (the same note). */
static bool bls12381_g2_in_subgroup(const struct bls12381_g2_affine *a)
{
    static const uint64_t z = BLS12381_Z;
    struct bls12381_g2_affine psi;
    struct bls12381_g2_xyzz m, p;
    bls12381_fq2_conj(&psi.x, &a->x);
    bls12381_fq2_mul(&psi.x, &psi.x, &bls12381_psi_x);
    bls12381_fq2_conj(&psi.y, &a->y);
    bls12381_fq2_mul(&psi.y, &psi.y, &bls12381_psi_y);
    bls12381_g2_mul(&m, a, &z, 1);
    bls12381_g2_neg(&m, &m);
    bls12381_g2_set(&p, &psi);
    return bls12381_g2_eq(&m, &p);
}

#define CURVE             bls12381
#define CURVE_COORD       struct fe6
#define CURVE_COORD2      struct fe6x2
#define CURVE_LIMBS       6
#define CURVE_TWO_ADICITY 32
#include "cuda/math/curve_stamp.h"

/* xi = 1 + u */
static inline void bls12381_mul_xi(struct fe6x2 *r, const struct fe6x2 *a)
{
    struct fe6 c0;
    bls12381_fq_sub(&c0, &a->c0, &a->c1);
    bls12381_fq_add(&r->c1, &a->c0, &a->c1);
    r->c0 = c0;
}

/* -z, lowest bit first: six bits are set */
enum { bls12381_loop_top = 63 };
static const signed char bls12381_loop[bls12381_loop_top] = {[16] = 1, [48] = 1, [57] = 1, [60] = 1, [62] = 1};
#define PAIRING_D_TWIST 0
#include "cuda/math/fq12_stamp.h"
#include "cuda/math/pairing_stamp.h"

/* z is negative: 1/f, for which the conjugate stands until the final exponentiation. */
static void bls12381_miller_end(struct bls12381_fq12 *f, struct bls12381_miller *m)
{
    (void)m;
    bls12381_fq12_conj(f, f);
}

/* f^z */
static void bls12381_pow_z(struct bls12381_fq12 *r, const struct bls12381_fq12 *f)
{
    bls12381_fq12_cyclotomic_pow(r, f, BLS12381_Z);
    bls12381_fq12_conj(r, r);
}

/* k = 3: (z - 1)^2 (z + q) (z^2 + q^2 - 1) + 3 (D. Hayashida et al., "Efficient final exponentiation via cyclotomic
 * structure for pairings over families of elliptic curves", 2020). */
static void bls12381_hard_part(struct bls12381_fq12 *r, const struct bls12381_fq12 *f)
{
    struct bls12381_fq12 a, b, t;
    a = *f;
    for (int i = 0; i < 2; i++) {
        bls12381_pow_z(&b, &a);
        bls12381_fq12_conj(&t, &a);
        bls12381_fq12_mul(&a, &b, &t);
    }
    bls12381_pow_z(&b, &a);
    bls12381_fq12_frob(&t, &a, 1);
    bls12381_fq12_mul(&a, &b, &t);
    bls12381_pow_z(&b, &a);
    bls12381_pow_z(&b, &b);
    bls12381_fq12_frob(&t, &a, 2);
    bls12381_fq12_mul(&b, &b, &t);
    bls12381_fq12_conj(&t, &a);
    bls12381_fq12_mul(&b, &b, &t);
    bls12381_fq12_cyclotomic_sqr(&t, f);
    bls12381_fq12_mul(&t, &t, f);
    bls12381_fq12_mul(r, &b, &t);
}

const struct curve CURVE_TABLE = {
    .id = CURVE_BLS12_381,
    .name = "bls12381",
    .title = "BLS12-381",
    .fq_bytes = 48,
    .fr_bits = 255,
    .two_adicity = CURVE_TWO_ADICITY,
    .point_bytes = {96, 192},
    .fq = &bls12381_fq_info,
    .fr = &bls12381_fr_info,
    .generator = {{{BLS12381_G1_X, BLS12381_G1_Y}}, {{BLS12381_G2_X, BLS12381_G2_Y}}},
    CURVE_FUNCTIONS,
    PAIRING_FUNCTIONS,
};
