/* Multiplication by a constant whose quotient was worked out beforehand (V. Shoup, NTL): for w below p and
 * wq = floor(w R / p), R = 2^(32 N),
 *     q = x wq / R, downwards        r = x w - q p, of which the low N words are all
 * r is congruent to x w and below p (1 + x / R + a billionth), so below 2p when x is below R - p and, on BLS12-381's r,
 * when x is below 2p. Of x wq the columns below N - 2 are left out: they move q by less than N / 2^32.
 * 99 wide multiply-adds and 16 low ones and no chain from digit to digit, where Montgomery's multiplication has 128 and
 * 8; on BLS12-381's r, where the lowest words of -p are -1 and 0, 86 and 14. H200: 458 and 411 cycles of a scheduler
 * instead of 552 (7.3e10 and 8.1e10 products/s, not 6.1e10). */
#ifndef CUDA_GPU_SHOUP_CUH
#define CUDA_GPU_SHOUP_CUH

#include "cuda/gpu/field.cuh"

/* 2^256 - r: in constant memory, where the assembler cannot see words like 2^28 - 1 and break the chains (params.cuh),
 * and because the register file has no reads to spare */
static __constant__ uint32_t bn254_fr_minus[] = {0x0fffffff, 0xbc1e0a6c, 0x86468f6e, 0xd7cc17b7,
                                                 0x7e7ea7a2, 0x47afba49, 0x1ece5fd6, 0xcf9bb18d};
static __constant__ uint32_t bls381_fr_minus[] = {0xffffffff, 0x00000000, 0x0001a401, 0xac425bfd,
                                                  0xf65e27fa, 0xccc627f7, 0xd66282b7, 0x8c1258ac};
template <class P> HD uint32_t shoup_minus_p(int i)
{
#ifdef __CUDA_ARCH__
    return P::mul_below_2p ? bn254_fr_minus[i] : bls381_fr_minus[i];
#else
    return ~P::p(i) + (i == 0); /* p is odd: no carry out of word 0 */
#endif
}

/* The low half of a product, added without and with the carry */
HD uint32_t mad_lo(uint32_t a, uint32_t b, uint32_t c)
{
    return a * b + c;
}
HD uint32_t madc_lo(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
    uint32_t r;
    asm volatile("madc.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
#else
    return a * b + c + carry_flag;
#endif
}

/* A constant as tables hold it: plain, not a Montgomery residue, so that x keeps its form */
template <class P> struct Shoup {
    Fe<P> w, wq;
};

/* acc[i + j] += a[j] b for the j from `first` below `end` with i + j even (array even) or odd (array odd, an index
 * lower), each as a chain; words from 2N on are dropped */
template <int N, int i, int parity, int first> HD void shoup_upper(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    constexpr int from = first + ((i + first + parity) & 1), last = N - 1 - ((i + N - 1 + parity) & 1);
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (j < from || (i + j + parity) & 1)
            continue;
        acc[i + j - parity] =
            j == from ? mad_lo_cc(a[j], b, acc[i + j - parity]) : madc_lo_cc(a[j], b, acc[i + j - parity]);
        acc[i + j - parity + 1] = madc_hi_cc(a[j], b, acc[i + j - parity + 1]);
    }
    if constexpr (from <= last && i + last - parity + 2 < 2 * N)
        acc[i + last - parity + 2] = addc(acc[i + last - parity + 2], 0);
}

template <class P, int i> HD void shoup_upper_rows(uint32_t *even, uint32_t *odd, const uint32_t *a, const uint32_t *b)
{
    constexpr int N = P::N, first = i < N - 2 ? N - 2 - i : 0;
    if constexpr (i < N) {
        shoup_upper<N, i, 0, first>(even, a, b[i]);
        shoup_upper<N, i, 1, first>(odd, a, b[i]);
        shoup_upper_rows<P, i + 1>(even, odd, a, b);
    }
}

/* The low N words of the same; of the product for the top word only the low half */
template <int N, int i, int parity> HD void shoup_lower(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    constexpr int from = (i + parity) & 1;
#pragma unroll
    for (int j = 0; j < N - i; j++) {
        if ((i + j + parity) & 1)
            continue;
        if (i + j == N - 1) {
            acc[i + j - parity] =
                j == from ? mad_lo(a[j], b, acc[i + j - parity]) : madc_lo(a[j], b, acc[i + j - parity]);
        } else {
            acc[i + j - parity] =
                j == from ? mad_lo_cc(a[j], b, acc[i + j - parity]) : madc_lo_cc(a[j], b, acc[i + j - parity]);
            acc[i + j - parity + 1] = madc_hi_cc(a[j], b, acc[i + j - parity + 1]);
        }
    }
}

template <class P, int i> HD void shoup_lower_rows(uint32_t *even, uint32_t *odd, const uint32_t *a, const uint32_t *b)
{
    if constexpr (i < P::N) {
        shoup_lower<P::N, i, 0>(even, a, b[i]);
        shoup_lower<P::N, i, 1>(odd, a, b[i]);
        shoup_lower_rows<P, i + 1>(even, odd, a, b);
    }
}

/* r = x w */
template <class P> HD void field_mul_shoup(Fe<P> &r, const Fe<P> &x, const Shoup<P> &s)
{
    constexpr int N = P::N;
    uint32_t even[2 * N], odd[2 * N], q[N], minus_p[N];
#pragma unroll
    for (int i = 0; i < 2 * N; i++)
        even[i] = odd[i] = 0;
    shoup_upper_rows<P, 0>(even, odd, x.l, s.wq.l);
    add_cc(even[N - 1], odd[N - 2]);
#pragma unroll
    for (int i = 0; i < N - 1; i++)
        q[i] = addc_cc(even[N + i], odd[N + i - 1]);
    q[N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
    constexpr bool special = P::p(0) == 1 && P::p(1) == 0xffffffffu;
#pragma unroll
    for (int i = 0; i < N; i++) {
        even[i] = 0;
        odd[i] = special && i < N - 1 ? q[i] : 0; /* q times the 2^32 of -p = .. + 2^32 - 1 */
        minus_p[i] = shoup_minus_p<P>(i);
    }
    shoup_lower_rows<P, 0>(even, odd, x.l, s.w.l);
    shoup_lower_rows<P, special ? 2 : 0>(even, odd, q, minus_p);
    if (special) {
        even[0] = sub_cc(even[0], q[0]);
#pragma unroll
        for (int i = 1; i < N - 1; i++)
            even[i] = subc_cc(even[i], q[i]);
        even[N - 1] = subc(even[N - 1], q[N - 1]);
    }
    r.l[0] = even[0];
    r.l[1] = add_cc(even[1], odd[0]);
#pragma unroll
    for (int i = 2; i < N - 1; i++)
        r.l[i] = addc_cc(even[i], odd[i - 1]);
    r.l[N - 1] = addc(even[N - 1], odd[N - 2]);
}

/* The pair of w from its Montgomery residue m = w R mod p, below p: w R = wq p + m, so wq = -m / p mod R: the digits of
 * Montgomery's reduction of m, whose result is w. */
template <class P> HD void shoup_of(Shoup<P> &s, const Fe<P> &m)
{
    constexpr int N = P::N;
    uint32_t t[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        t[i] = m.l[i];
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t d = t[0] * P::inv;
        uint64_t c = 0;
        s.wq.l[i] = d;
#pragma unroll
        for (int j = 0; j < N; j++) {
            c += (uint64_t)d * P::p(j) + t[j];
            if (j > 0)
                t[j - 1] = (uint32_t)c;
            c >>= 32;
        }
        t[N - 1] = (uint32_t)c;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        s.w.l[i] = t[i];
    field_canon(s.w, s.w);
}

#endif
