/* Signed digits of a scalar, on GPU and CPU. s and r - s give the same bucket sums with the sign turned, so the smaller
 * one is taken: then the carry out of the top window cannot happen while windows * c > bits of r - 1. */
#ifndef CUDA_GPU_DIGITS_CUH
#define CUDA_GPU_DIGITS_CUH

#include "cuda/gpu/carry.cuh"

/* The rest of the scalar still to be cut, and the carry into it */
struct Digits {
    uint32_t s[8];
    uint32_t carry;
    bool negative;
};

HD void digits_begin(Digits &d, const uint32_t *scalar, const uint32_t *r)
{
    uint32_t t[8];
    t[0] = sub_cc(r[0], scalar[0]);
#pragma unroll
    for (int i = 1; i < 7; i++)
        t[i] = subc_cc(r[i], scalar[i]);
    t[7] = subc(r[7], scalar[7]);
    /* t < s ? */
    sub_cc(t[0], scalar[0]);
#pragma unroll
    for (int i = 1; i < 8; i++)
        subc_cc(t[i], scalar[i]);
    d.negative = subc(0, 0) != 0;
    d.carry = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        d.s[i] = d.negative ? t[i] : scalar[i];
}

/* The next digit, least significant first: its size 0..2^(c-1), and its sign. c 1..26 */
HD uint32_t digits_next(Digits &d, uint32_t c, bool &negative)
{
    uint32_t v = (d.s[0] & ((1u << c) - 1)) + d.carry;
#pragma unroll
    for (int i = 0; i < 7; i++) {
#ifdef __CUDA_ARCH__
        d.s[i] = __funnelshift_r(d.s[i], d.s[i + 1], c);
#else
        d.s[i] = d.s[i] >> c | d.s[i + 1] << (32 - c);
#endif
    }
    d.s[7] >>= c;
    bool high = v > 1u << (c - 1);
    d.carry = high;
    negative = d.negative != high;
    return high ? (1u << c) - v : v;
}

#endif
