/* Everything of BN254 for one instruction set (G. Pereira et al., "A family of implementation-friendly BN elliptic
 * curves", 2011, z = 4965661367192848881; "alt_bn128" of Ethereum). The including unit defines ISA_ADX or not, and
 * CURVE_TABLE, the name of its table. */
#include "cuda/math/bn254_const.h"
#include "cuda/math/curve.h"

#define FIELD       bn254_fq
#define FIELD_TYPE  struct fe4
#define FIELD_LIMBS 4
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FIELD       bn254_fr
#define FIELD_TYPE  struct fr
#define FIELD_LIMBS 4
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FQ2      bn254_fq2
#define FQ2_TYPE struct fe4x2
#define FQ       bn254_fq
#define FQ_TYPE  struct fe4
#include "cuda/math/fq2_stamp.h"

#define GROUP       bn254_g1
#define GROUP_FIELD bn254_fq
#define GROUP_COORD struct fe4
#include "cuda/math/group_stamp.h"

#define GROUP       bn254_g2
#define GROUP_FIELD bn254_fq2
#define GROUP_COORD struct fe4x2
#include "cuda/math/group_stamp.h"

/* The curve has r points. */
static bool bn254_g1_in_subgroup(const struct bn254_g1_affine *a)
{
    (void)a;
    return true;
}

/* psi(a) = 6 z^2 a. Then psi^2 - t psi + q = 0 with t = 6 z^2 + 1 gives (q + 1 - t) a = r a = 0. */
static bool bn254_g2_in_subgroup(const struct bn254_g2_affine *a)
{
    static const uint64_t six_z2[2] = {0xf83e9682e87cfd46, 0x6f4d8248eeb859fb};
    struct bn254_g2_affine psi;
    struct bn254_g2_xyzz m, p;
    bn254_fq2_conj(&psi.x, &a->x);
    bn254_fq2_mul(&psi.x, &psi.x, &bn254_psi_x);
    bn254_fq2_conj(&psi.y, &a->y);
    bn254_fq2_mul(&psi.y, &psi.y, &bn254_psi_y);
    bn254_g2_mul(&m, a, six_z2, 2);
    bn254_g2_set(&p, &psi);
    return bn254_g2_eq(&m, &p);
}

#define CURVE             bn254
#define CURVE_COORD       struct fe4
#define CURVE_COORD2      struct fe4x2
#define CURVE_LIMBS       4
#define CURVE_TWO_ADICITY 28
#include "cuda/math/curve_stamp.h"

/* xi = 9 + u */
static inline void bn254_mul_xi(struct fe4x2 *r, const struct fe4x2 *a)
{
    struct fe4x2 t;
    struct fe4 c0;
    bn254_fq2_dbl(&t, a);
    bn254_fq2_dbl(&t, &t);
    bn254_fq2_dbl(&t, &t);
    bn254_fq2_add(&t, &t, a);
    bn254_fq_sub(&c0, &t.c0, &a->c1);
    bn254_fq_add(&r->c1, &t.c1, &a->c0);
    r->c0 = c0;
}

/* 6 z + 2, lowest bit first, in non-adjacent form: 22 additions instead of 37 */
enum { bn254_loop_top = 65 };
static const signed char bn254_loop[bn254_loop_top] = {
    0, 0, 0,  1, 0, 1, 0, -1, 0, 0, -1, 0,  0, 0, 1,  0, 0, -1, 0,  -1, 0, 0, 0,  1, 0,  -1, 0, 0, 0, 0, -1, 0, 0,
    1, 0, -1, 0, 0, 1, 0, 0,  0, 0, 0,  -1, 0, 0, -1, 0, 1, 0,  -1, 0,  0, 0, -1, 0, -1, 0,  0, 0, 1, 0, -1, 0};
#define PAIRING_D_TWIST 1
#include "cuda/math/fq12_stamp.h"
#include "cuda/math/pairing_stamp.h"

/* Two more lines: through psi(Q), then through -psi^2(Q). */
static void bn254_miller_end(struct bn254_fq12 *f, struct bn254_miller *m)
{
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < m->n; i++) {
            struct bn254_g2_affine *q = &m->pair[i].q;
            bn254_fq2_conj(&q->x, &q->x);
            bn254_fq2_mul(&q->x, &q->x, &bn254_psi_x);
            bn254_fq2_conj(&q->y, &q->y);
            bn254_fq2_mul(&q->y, &q->y, &bn254_psi_y);
        }
        bn254_miller_add(f, m, round == 1);
    }
}

/* f^-z */
static void bn254_pow_neg_z(struct bn254_fq12 *r, const struct bn254_fq12 *f)
{
    bn254_fq12_cyclotomic_pow(r, f, 4965661367192848881u);
    bn254_fq12_conj(r, r);
}

/* k = 2 z (6 z^2 + 3 z + 1) (L. Fuentes-Castaneda et al., "Faster hashing to G2", 2011). snarkjs takes the same k,
 * which shows in vk_alphabeta_12. */
static void bn254_hard_part(struct bn254_fq12 *r, const struct bn254_fq12 *f)
{
    struct bn254_fq12 a, b, d, e, g, k, t;
    bn254_pow_neg_z(&a, f);
    bn254_fq12_cyclotomic_sqr(&b, &a);
    bn254_fq12_cyclotomic_sqr(&d, &b);
    bn254_fq12_mul(&d, &d, &b);
    bn254_pow_neg_z(&e, &d);
    bn254_fq12_cyclotomic_sqr(&g, &e);
    bn254_pow_neg_z(&g, &g);
    bn254_fq12_conj(&d, &d);
    bn254_fq12_conj(&g, &g);
    bn254_fq12_mul(&k, &g, &e);
    bn254_fq12_mul(&k, &k, &d);
    bn254_fq12_mul(&g, &k, &b); /* kept */
    bn254_fq12_mul(&t, &k, &e);
    bn254_fq12_mul(&t, &t, f);
    bn254_fq12_frob(&e, &g, 1);
    bn254_fq12_mul(&t, &t, &e);
    bn254_fq12_frob(&e, &k, 2);
    bn254_fq12_mul(&t, &t, &e);
    bn254_fq12_conj(&e, f);
    bn254_fq12_mul(&e, &e, &g);
    bn254_fq12_frob(&e, &e, 3);
    bn254_fq12_mul(r, &t, &e);
}

const struct curve CURVE_TABLE = {
    .id = CURVE_BN254,
    .name = "bn128",
    .title = "BN254",
    .fq_bytes = 32,
    .fr_bits = 254,
    .two_adicity = CURVE_TWO_ADICITY,
    .point_bytes = {64, 128},
    .fq = &bn254_fq_info,
    .fr = &bn254_fr_info,
    .generator = {{{BN254_G1_X, BN254_G1_Y}}, {{BN254_G2_X, BN254_G2_Y}}},
    CURVE_FUNCTIONS,
    PAIRING_FUNCTIONS,
};
