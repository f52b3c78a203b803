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

/* 2^262 and 2^432 mod p */
static const uint64_t bn254_unit[4] = {0x9d0709d62af99842, 0xf7214c0419c29186, 0xa603f5090339546d, 0x1b906c52ac7a88ea};
static const uint64_t bls12381_unit[6] = {0x48aca8e9fde36676, 0x7f3e81ec2e0c7cea, 0x6547e4c7fba1f6b3,
                                          0xd4221fc8e41ccfd2, 0x0a003db64c9a1624, 0x07173ac25996deeb};

#define IFMA_FIELD bn254_fq
#define IFMA_LIMBS 5
#define IFMA_WORDS 4
#include "cuda/host/ifma_stamp.h"

#include "cuda/host/coord_ifma_stamp.h"

#include "cuda/host/ifma_end.h"

#define PX       bn254_g1
#define PX_FIELD bn254_fq
#define PX_COORD struct fe4
#define PX_Q     bn254_fq_x8_q1
#define PX_WORDS 4
#define PX_CONST ifma_bn254_fq
#define PX_BATCH 2048
#define PX_E     2
#define PX_UNIT  bn254_unit
#include "cuda/host/pairs_ifma_stamp.h"

#define PX       bn254_g2
#define PX_FIELD bn254_fq2
#define PX_COORD struct fe4x2
#define PX_Q     bn254_fq_x8_q2
#define PX_WORDS 8
#define PX_CONST ifma_bn254_fq
#define PX_BATCH 1024
#define PX_E     2
#define PX_UNIT  bn254_unit
#include "cuda/host/pairs_ifma_stamp.h"

#define IFMA_FIELD bls12381_fq
#define IFMA_LIMBS 8
#define IFMA_WORDS 6
#include "cuda/host/ifma_stamp.h"

#include "cuda/host/coord_ifma_stamp.h"

#include "cuda/host/ifma_end.h"

#define PX       bls12381_g1
#define PX_FIELD bls12381_fq
#define PX_COORD struct fe6
#define PX_Q     bls12381_fq_x8_q1
#define PX_WORDS 6
#define PX_CONST ifma_bls12381_fq
#define PX_BATCH 2048
#define PX_E     16
#define PX_UNIT  bls12381_unit
#include "cuda/host/pairs_ifma_stamp.h"

#define PX       bls12381_g2
#define PX_FIELD bls12381_fq2
#define PX_COORD struct fe6x2
#define PX_Q     bls12381_fq_x8_q2
#define PX_WORDS 12
#define PX_CONST ifma_bls12381_fq
#define PX_BATCH 1024
#define PX_E     16
#define PX_UNIT  bls12381_unit
#include "cuda/host/pairs_ifma_stamp.h"

#define KERNELS_X8(g)                                                                                                  \
    .batch = g##_x8_batch,                                                                                             \
    .scratch_bytes = (size_t)g##_x8_scratch > g##_batch * sizeof(struct g##_pair)                                      \
                         ? (size_t)g##_x8_scratch                                                                      \
                         : g##_batch * sizeof(struct g##_pair),                                                        \
    .add_pairs = g##_x8_add_pairs

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
    .group = {[CURVE_BN254] = {[GROUP_G1] = {KERNELS_GROUP(bn254_g1), KERNELS_X8(bn254_g1)},
                               [GROUP_G2] = {KERNELS_GROUP(bn254_g2), KERNELS_X8(bn254_g2)}},
              [CURVE_BLS12_381] = {[GROUP_G1] = {KERNELS_GROUP(bls12381_g1), KERNELS_X8(bls12381_g1)},
                                   [GROUP_G2] = {KERNELS_GROUP(bls12381_g2), KERNELS_X8(bls12381_g2)}}},
};
