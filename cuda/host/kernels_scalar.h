/* The kernel table of one scalar instruction set. The including unit defines ISA_ADX or not, and
 *
 *   #define KERNELS        kernels_adx
 *   #define KERNELS_NAME   "adx"
 *   #define KERNELS_ISA    ISA_ID_ADX
 *   #define KERNELS_USABLE usable         static bool usable(void): may this CPU run it?
 */
#include "cuda/host/kernels_fields.h"

#define LANES_FIELD bn254_fr
#include "cuda/host/lanes_scalar_stamp.h"

#include "cuda/host/ntt_stamp.h"
#undef LANES_FIELD

#define LANES_FIELD bls12381_fr
#include "cuda/host/lanes_scalar_stamp.h"

#include "cuda/host/ntt_stamp.h"
#undef LANES_FIELD

#define KERNELS_NTT(f)                                                                                                 \
    .lanes = 4, .ntt_decimate = f##_lanes_ntt_decimate, .ntt_gather = f##_lanes_ntt_gather,                            \
    .ntt_scale = f##_lanes_ntt_scale, .ntt_small = f##_ntt_small

const struct kernels KERNELS = {
    .name = KERNELS_NAME,
    .isa = KERNELS_ISA,
    .usable = KERNELS_USABLE,
    .fr = {[CURVE_BN254] = {KERNELS_FR(bn254_fr), KERNELS_NTT(bn254_fr),
                            /* 2^256 mod r */
                            .tw_one = {{0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e,
                                        0x0e0a77c19a07df2f}}},
           [CURVE_BLS12_381] = {KERNELS_FR(bls12381_fr), KERNELS_NTT(bls12381_fr),
                                .tw_one = {{0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5,
                                            0x1824b159acc5056f}}}},
    .group = {[CURVE_BN254] = {[GROUP_G1] = {KERNELS_GROUP(bn254_g1), KERNELS_PAIRS(bn254_g1)},
                               [GROUP_G2] = {KERNELS_GROUP(bn254_g2), KERNELS_PAIRS(bn254_g2)}},
              [CURVE_BLS12_381] = {[GROUP_G1] = {KERNELS_GROUP(bls12381_g1), KERNELS_PAIRS(bls12381_g1)},
                                   [GROUP_G2] = {KERNELS_GROUP(bls12381_g2), KERNELS_PAIRS(bls12381_g2)}}},
};
