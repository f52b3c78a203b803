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
};
