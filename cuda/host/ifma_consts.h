/* The four primes in limbs of 52 bits, for the vector multipliers (VPMADD52). All derived from p:
 *   p2, p8, p16  multiples of p, added so that differences stay positive
 *   wrap         2^(52 limbs) - p: adding q wrap and dropping the carry subtracts q p
 *   recip        floor(2^(52 + shift) / (top limb + 1)): top * recip >> (52 + shift) is value / p or one less
 *   inv          -p^-1 mod 2^52 */
#ifndef CUDA_HOST_IFMA_CONSTS_H
#define CUDA_HOST_IFMA_CONSTS_H

#include <stdint.h>

struct ifma_consts {
    uint64_t p[8], p2[8], p8[8], p16[8], wrap[8];
    uint64_t recip, inv;
    unsigned shift;
};

static const struct ifma_consts ifma_bn254_fq = {
    .p = {0x8c16d87cfd47, 0x916871ca8d3c2, 0x181585d97816a, 0xa029b85045b68, 0x30644e72e131},
    .p2 = {0x1182db0f9fa8e, 0x22d0e3951a784, 0x302b0bb2f02d5, 0x405370a08b6d0, 0x60c89ce5c263},
    .p8 = {0x460b6c3e7ea38, 0x8b438e5469e10, 0xc0ac2ecbc0b54, 0x14dc2822db40, 0x183227397098d},
    .p16 = {0x8c16d87cfd470, 0x16871ca8d3c20, 0x81585d97816a9, 0x29b85045b681, 0x30644e72e131a},
    .wrap = {0xf73e9278302b9, 0x6e978e3572c3d, 0xe7ea7a2687e95, 0x5fd647afba497, 0xfcf9bb18d1ece},
    .recip = 0xa948e8c4c472b,
    .inv = 0x20782e4866389,
    .shift = 45,
};

static const struct ifma_consts ifma_bn254_fr = {
    .p = {0x1f593f0000001, 0x4879b9709143e, 0x181585d2833e8, 0xa029b85045b68, 0x30644e72e131},
    .p2 = {0x3eb27e0000002, 0x90f372e12287c, 0x302b0ba5067d0, 0x405370a08b6d0, 0x60c89ce5c263},
    .p8 = {0xfac9f80000008, 0x43cdcb848a1f0, 0xc0ac2e9419f42, 0x14dc2822db40, 0x183227397098d},
    .p16 = {0xf593f00000010, 0x879b9709143e1, 0x81585d2833e84, 0x29b85045b681, 0x30644e72e131a},
    .wrap = {0xe0a6c0fffffff, 0xb786468f6ebc1, 0xe7ea7a2d7cc17, 0x5fd647afba497, 0xfcf9bb18d1ece},
    .recip = 0xa948e8c4c472b,
    .inv = 0x1f593efffffff,
    .shift = 45,
};

static const struct ifma_consts ifma_bls12381_fq = {
    .p = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f, 0x764774b84f385, 0x1ba7b6434bacd,
          0x1ea397fe69a4b, 0x1a011},
    .p2 = {0xdffffffff5556, 0xfd62a7ffff73f, 0xd61ec483d57ff, 0x257ece61a541e, 0xec8ee9709e70a, 0x374f6c869759a,
           0x3d472ffcd3496, 0x34022},
    .p8 = {0x7fffffffd5558, 0xf58a9ffffdcff, 0x587b120f55fff, 0x95fb39869507b, 0xb23ba5c279c28, 0xdd3db21a5d66b,
           0xf51cbff34d258, 0xd0088},
    .p16 = {0xffffffffaaab0, 0xeb153ffffb9fe, 0xb0f6241eabfff, 0x2bf6730d2a0f6, 0x64774b84f3851, 0xba7b6434bacd7,
            0xea397fe69a4b1, 0x1a0111},
    .wrap = {0x1000000005555, 0x14eac0000460, 0x94f09dbe15400, 0xed4098cf2d5f0, 0x89b88b47b0c7a, 0xe45849bcb4532,
             0xe15c6801965b4, 0xffffffffe5fee},
    .recip = 0x9d8307de6dc2a,
    .inv = 0x3fffcfffcfffd,
    .shift = 16,
};

static const struct ifma_consts ifma_bls12381_fr = {
    .p = {0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080, 0x73eda753299d},
    .p2 = {0xffffe00000002, 0x5fffcb7fdfff, 0x343b00aa77b48, 0xfa906673b0101, 0xe7db4ea6533a},
    .p8 = {0xffff800000008, 0x17fff2dff7fff, 0xd0ec02a9ded20, 0xea4199cec0404, 0x39f6d3a994ceb},
    .p16 = {0xffff000000010, 0x2fffe5bfeffff, 0xa1d80553bda40, 0xd483339d80809, 0x73eda753299d7},
    .wrap = {0xffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f, 0xf8c1258acd662},
    .recip = 0x8d54253b7fb6e,
    .inv = 0xffffeffffffff,
    .shift = 46,
};

#endif
