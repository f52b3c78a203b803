/* Kernels with AVX-512 IFMA: eight lanes of 52-bit limbs for transforms and additions, mulx code for the rest. */
#include <stdbool.h>

#include "cuda/math/isa.h"

#define ISA_ADX

/* Every CPU with IFMA that we know has VBMI2 and BW too, except Cannon Lake. */
static bool usable(void)
{
    __builtin_cpu_init();
    return isa_of_cpu() >= ISA_ID_IFMA && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}

#include "cuda/host/kernels_fields.h"

#define IFMA_FIELD bn254_fr
#define IFMA_LIMBS 5
#define IFMA_WORDS 4
#include "cuda/host/ifma_stamp.h"

#include "cuda/host/lanes_ifma_stamp.h"

#include "cuda/host/ntt_stamp.h"

#include "cuda/host/ifma_end.h"

#define IFMA_FIELD bls12381_fr
#define IFMA_LIMBS 5
#define IFMA_WORDS 4
#include "cuda/host/ifma_stamp.h"

#include "cuda/host/lanes_ifma_stamp.h"

#include "cuda/host/ntt_stamp.h"

#include "cuda/host/ifma_end.h"

#define KERNELS_NTT(f)                                                                                                 \
    .lanes = 8, .ntt_decimate = f##_x8_ntt_decimate, .ntt_gather = f##_x8_ntt_gather, .ntt_scale = f##_x8_ntt_scale,   \
    .ntt_small = f##_ntt_small

const struct kernels kernels_ifma = {
    .name = "ifma",
    .isa = ISA_ID_IFMA,
    .usable = usable,
    .fr =
        {[CURVE_BN254] = {KERNELS_FR(bn254_fr), KERNELS_NTT(bn254_fr),
                          /* 2^260 mod r */
                          .tw_one = {{0xb9db6b753fffffac, 0xcef7c8380f271055, 0x85a9201d818f016e, 0x1f16424e1bb7724f}}},
         [CURVE_BLS12_381] = {KERNELS_FR(bls12381_fr), KERNELS_NTT(bls12381_fr),
                              .tw_one = {{0x22ffffffdd, 0x8d12939700396c23, 0xff1776e6aedf7745, 0x26821fa14f77df20}}}},
    .group = {[CURVE_BN254] = {[GROUP_G1] = {KERNELS_GROUP(bn254_g1), KERNELS_PAIRS(bn254_g1)},
                               [GROUP_G2] = {KERNELS_GROUP(bn254_g2), KERNELS_PAIRS(bn254_g2)}},
              [CURVE_BLS12_381] = {[GROUP_G1] = {KERNELS_GROUP(bls12381_g1), KERNELS_PAIRS(bls12381_g1)},
                                   [GROUP_G2] = {KERNELS_GROUP(bls12381_g2), KERNELS_PAIRS(bls12381_g2)}}},
};
