/* b of y^2 = x^3 + b in Montgomery form, packed as coordinates are: BN254 3 and 3/(9 + u), BLS12-381 4 and 4(1 + u). */
#ifndef CUDA_HOST_CURVE_B_H
#define CUDA_HOST_CURVE_B_H

#include <stdint.h>

static const uint64_t bn254_g1_b[4] = {0x7a17caa950ad28d7, 0x1f6ac17ae15521b9, 0x334bea4e696bd284, 0x2a1f6744ce179d8e};
static const uint64_t bn254_g2_b[8] = {0x3bf938e377b802a8, 0x020b1b273633535d, 0x26b7edf049755260, 0x2514c6324384a86d,
                                       0x38e7ecccd1dcff67, 0x65f0b37d93ce0d3e, 0xd749d0dd22ac00aa, 0x0141b9ce4a688d4d};
static const uint64_t bls12381_g1_b[6] = {0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
                                          0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e};
static const uint64_t bls12381_g2_b[12] = {0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
                                           0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e,
                                           0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
                                           0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e};

#endif
