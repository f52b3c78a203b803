/* Constants of BN254 in Montgomery form; tests check each by what follows from it. */
#ifndef CUDA_MATH_BN254_CONST_H
#define CUDA_MATH_BN254_CONST_H

#include "cuda/math/fe.h"

/* y^2 = x^3 + b, and the twist y^2 = x^3 + b2, b2 = 3/(9 + u): a D-twist. */
static const struct fe4 bn254_b = {{0x7a17caa950ad28d7, 0x1f6ac17ae15521b9, 0x334bea4e696bd284, 0x2a1f6744ce179d8e}};
static const struct fe4x2 bn254_b2 = {
    {{0x3bf938e377b802a8, 0x020b1b273633535d, 0x26b7edf049755260, 0x2514c6324384a86d}},
    {{0x38e7ecccd1dcff67, 0x65f0b37d93ce0d3e, 0xd749d0dd22ac00aa, 0x0141b9ce4a688d4d}}};

/* The generators, as words for struct point. */
#define BN254_G1_X 0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c, 0x0e0a77c19a07df2f
#define BN254_G1_Y 0xa6ba871b8b1e1b3a, 0x14f1d651eb8e167b, 0xccdd46def0f28c58, 0x1c14ef83340fbe5e
#define BN254_G2_X                                                                                                     \
    0x8e83b5d102bc2026, 0xdceb1935497b0172, 0xfbb8264797811adf, 0x19573841af96503b, 0xafb4737da84c6140,                \
        0x6043dd5a5802d8c4, 0x09e950fc52a02f86, 0x14fef0833aea7b6b
#define BN254_G2_Y                                                                                                     \
    0x619dfa9d886be9f6, 0xfe7fd297f59e9b78, 0xff9e1a62231b7dfe, 0x28fd7eebae9e4206, 0x64095b56c71856ee,                \
        0xdc57f922327d3cbb, 0x55f935be33351076, 0x0da4a0e693fd6482

/* Frobenius through the twist: psi(x, y) = (conj(x) psi_x, conj(y) psi_y); xi^((q-1)/3) and xi^((q-1)/2). */
static const struct fe4x2 bn254_psi_x = {
    {{0xb5773b104563ab30, 0x347f91c8a9aa6454, 0x7a007127242e0991, 0x1956bcd8118214ec}},
    {{0x6e849f1ea0aa4757, 0xaa1c7b6d89f89141, 0xb6e713cdfae0ca3a, 0x26694fbb4e82ebc3}}};
static const struct fe4x2 bn254_psi_y = {
    {{0xe4bbdd0c2936b629, 0xbb30f162e133bacb, 0x31a9d1b6f9645366, 0x253570bea500f8dd}},
    {{0xa1d77ce45ffe77c7, 0x07affd117826d1db, 0x6d16bd27bb7edc6b, 0x2c87200285defecc}}};

/* 5^((r-1)/2^s) */
static const struct fr bn254_root = {{0x636e735580d13d9c, 0xa22bf3742445ffd6, 0x56452ac01eb203d8, 0x1860ef942963f9e7}};

/* xi^(k(q-1)/6), k = 1..5: w^(k q) = frob[k-1] w^k */
static const struct fe4x2 bn254_frob[5] = {
    {{{0xaf9ba69633144907, 0xca6b1d7387afb78a, 0x11bded5ef08a2087, 0x02f34d751a1f3a7c}},
     {{0xa222ae234c492d72, 0xd00f02a4565de15b, 0xdc2ff3a253dfc926, 0x10a75716b3899551}}},
    {{{0xb5773b104563ab30, 0x347f91c8a9aa6454, 0x7a007127242e0991, 0x1956bcd8118214ec}},
     {{0x6e849f1ea0aa4757, 0xaa1c7b6d89f89141, 0xb6e713cdfae0ca3a, 0x26694fbb4e82ebc3}}},
    {{{0xe4bbdd0c2936b629, 0xbb30f162e133bacb, 0x31a9d1b6f9645366, 0x253570bea500f8dd}},
     {{0xa1d77ce45ffe77c7, 0x07affd117826d1db, 0x6d16bd27bb7edc6b, 0x2c87200285defecc}}},
    {{{0x7361d77f843abe92, 0xa5bb2bd3273411fb, 0x9c941f314b3e2399, 0x15df9cddbb9fd3ec}},
     {{0x5dddfd154bd8c949, 0x62cb29a5a4445b60, 0x37bc870a0c7dd2b9, 0x24830a9d3171f0fd}}},
    {{{0xc970692f41690fe7, 0xe240342127694b0b, 0x32bee66b83c459e8, 0x12aabced0ab08841}},
     {{0x0d485d2340aebfa9, 0x05193418ab2fcc57, 0xd3b0a40b8a4910f5, 0x2f21ebb535d2925a}}}};

#endif
