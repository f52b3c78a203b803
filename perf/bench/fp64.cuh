/* Multiplication on the FP64 pipe: limbs of 52 bits in doubles, products split into halves by two fused multiply-adds.
 *
 * With a below 2^52 as the bits of a subnormal number, a 2^-1074, and b as the double b 2^970, a b 2^-104 is below 1:
 *     hi = fma_rz(a, b, 1)                  1 + H 2^-52: its bits are a constant plus H = floor(a b / 2^52)
 *     lo = fma(a, b, (1 + 2^-52) - hi)      2^-52 + L 2^-104, exact: its bits are a constant plus L = a b mod 2^52
 * The bits are summed by columns as 64-bit integers; the constants' sum is known for each column and is where the
 * column begins. (The split: Emmart, Zheng, Weems, "Faster Modular Exponentiation Using Double Precision Floating Point
 * Arithmetic on the GPU", 2018; that subnormal operands cost nothing on a GPU saves the conversion of one operand.)
 *
 * The result is the same residue as from the integer rows of field.cuh, R = 2^(32 N), with the same bounds: one operand
 * is shifted up by 52 n - 32 N bits as its limbs are cut, n limbs, and Montgomery's reduction takes 2^(52 n) off. */
#ifndef PERF_BENCH_FP64_CUH
#define PERF_BENCH_FP64_CUH

#include "cuda/gpu/carry.cuh"
#include "cuda/gpu/params.cuh"

#ifndef __CUDA_ARCH__
#include <cfenv>
#include <cmath>
#include <cstring>
#endif

template <class P> struct Limbs {
    static constexpr int n = (32 * P::N + 51) / 52;
    static constexpr int shift = 52 * n - 32 * P::N;
    static constexpr uint64_t mask = ((uint64_t)1 << 52) - 1;
    static constexpr uint64_t hi_bits = (uint64_t)0x3ff << 52, lo_bits = (uint64_t)0x3cb << 52;

    __host__ __device__ static constexpr uint64_t p(int i)
    {
        uint64_t v = 0;
        for (int bit = 0; bit < 52; bit++) {
            int at = 52 * i + bit;
            if (at < 32 * P::N)
                v |= (uint64_t)(P::p(at / 32) >> (at % 32) & 1) << bit;
        }
        return v;
    }
    __host__ __device__ static constexpr uint64_t inverse() /* -1/p mod 2^52 */
    {
        uint64_t p0 = p(0), v = 1;
        for (int i = 0; i < 6; i++)
            v *= 2 - p0 * v;
        return (0 - v) & mask;
    }
    /* where column k begins, so that its sum ends without the constants of its lo and hi summands */
    __host__ __device__ static constexpr uint64_t begin(uint64_t lo, uint64_t hi)
    {
        return 0 - (lo * lo_bits + hi * hi_bits);
    }
};

static constexpr double fp64_scale = 0x1p970;
static constexpr double fp64_hi = 1.0, fp64_lo = 1.0 + 0x1p-52;

template <class P> struct LimbsOfP {
    double l[Limbs<P>::n];
};
template <class P> __host__ __device__ constexpr LimbsOfP<P> limbs_of_p()
{
    LimbsOfP<P> r{};
    for (int i = 0; i < Limbs<P>::n; i++)
        r.l[i] = (double)Limbs<P>::p(i) * fp64_scale;
    return r;
}
#ifdef __CUDACC__
template <class P> static __constant__ LimbsOfP<P> fp64_p = limbs_of_p<P>();
#endif

#ifdef __CUDA_ARCH__
static __device__ __forceinline__ double fp64_of(uint32_t lo, uint32_t hi)
{
    return __hiloint2double((int)hi, (int)lo);
}
static __device__ __forceinline__ uint64_t fp64_bits(double x)
{
    return (uint64_t)__double_as_longlong(x);
}
static __device__ __forceinline__ double fp64_fma(double a, double b, double c)
{
    return __fma_rz(a, b, c);
}
static __device__ __forceinline__ double fp64_sub(double a, double b)
{
    return __dsub_rn(a, b);
}
template <class P> static __device__ __forceinline__ double fp64_modulus(int i)
{
    return fp64_p<P>.l[i];
}
static __device__ __forceinline__ uint32_t fp64_funnel(uint32_t lo, uint32_t hi, int s)
{
    return __funnelshift_r(lo, hi, s);
}
#else
static inline double fp64_of(uint32_t lo, uint32_t hi)
{
    uint64_t v = (uint64_t)hi << 32 | lo;
    double x;
    memcpy(&x, &v, sizeof x);
    return x;
}
static inline uint64_t fp64_bits(double x)
{
    uint64_t v;
    memcpy(&v, &x, sizeof v);
    return v;
}
static inline double fp64_fma(double a, double b, double c)
{
    int mode = fegetround();
    fesetround(FE_TOWARDZERO);
    volatile double va = a, vb = b, vc = c; /* not moved over the change of mode */
    volatile double r = std::fma(va, vb, vc);
    fesetround(mode);
    return r;
}
static inline double fp64_sub(double a, double b)
{
    return a - b;
}
template <class P> static inline double fp64_modulus(int i)
{
    return limbs_of_p<P>().l[i];
}
static inline uint32_t fp64_funnel(uint32_t lo, uint32_t hi, int s)
{
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> s);
}
#endif

/* 32 bits of a number of N words from bit `at`, which may lie outside */
template <int N> HD uint32_t fp64_cut(const uint32_t *w, int at)
{
    int i = (at + 1024) / 32 - 32, s = at - 32 * i;
    uint32_t lo = i >= 0 && i < N ? w[i] : 0, hi = i + 1 >= 0 && i + 1 < N ? w[i + 1] : 0;
    return s == 0 ? lo : fp64_funnel(lo, hi, s);
}

/* Limb i of w 2^shift: as a subnormal number; as a double times 2^970 */
template <int N> HD double fp64_limb_low(const uint32_t *w, int i, int shift)
{
    int at = 52 * i - shift;
    return fp64_of(fp64_cut<N>(w, at), fp64_cut<N>(w, at + 32) & 0xfffffu);
}
template <int N> HD double fp64_limb_high(const uint32_t *w, int i, int shift)
{
    int at = 52 * i - shift;
    return fp64_sub(fp64_of(fp64_cut<N>(w, at), (fp64_cut<N>(w, at + 32) & 0xfffffu) | 0x7fd00000u), 0x1p1022);
}

/* words[0 .. W-1] = sum of t[i] 2^(52 i), t[i] below 2^64: even limbs do not overlap, nor do odd ones */
template <int W, int n> HD void fp64_pack(uint32_t *words, const uint64_t *t)
{
    uint32_t part[2][W];
#pragma unroll
    for (int i = 0; i < W; i++)
        part[0][i] = part[1][i] = 0;
#pragma unroll
    for (int i = 0; i < n; i++) {
        int w = 52 * i / 32, s = 52 * i % 32;
        uint32_t lo = (uint32_t)t[i], hi = (uint32_t)(t[i] >> 32);
        if (w < W)
            part[i & 1][w] |= lo << s;
        if (w + 1 < W)
            part[i & 1][w + 1] |= s ? fp64_funnel(lo, hi, 32 - s) : hi;
        if (s && w + 2 < W)
            part[i & 1][w + 2] |= hi >> (32 - s);
    }
    words[0] = part[0][0];
    words[1] = add_cc(part[0][1], part[1][1]);
#pragma unroll
    for (int i = 2; i < W - 1; i++)
        words[i] = addc_cc(part[0][i], part[1][i]);
    words[W - 1] = addc(part[0][W - 1], part[1][W - 1]);
}

/* One row: t[j] += lo(x_j y), t[j+1] += hi(x_j y). Like work together: y then stays in the operand buffers. */
template <int n> HD void fp64_row(uint64_t *t, const double *x, double y)
{
    double hi[n], lo[n];
#pragma unroll
    for (int j = 0; j < n; j++)
        hi[j] = fp64_fma(x[j], y, fp64_hi);
#pragma unroll
    for (int j = 0; j < n; j++)
        lo[j] = fp64_sub(fp64_lo, hi[j]);
#pragma unroll
    for (int j = 0; j < n; j++)
        lo[j] = fp64_fma(x[j], y, lo[j]);
    t[0] += fp64_bits(lo[0]);
#pragma unroll
    for (int j = 1; j < n; j++)
        t[j] += fp64_bits(lo[j]) + fp64_bits(hi[j - 1]);
    t[n] += fp64_bits(hi[n - 1]);
}

/* t[0 .. n] += m p with t[0] becoming 0 mod 2^52: t[0]'s carry goes to t[1] and its low half is not worked out. */
template <class P> HD void fp64_row_reduce(uint64_t *t)
{
    using L = Limbs<P>;
    uint64_t m = t[0] * L::inverse() & L::mask;
    double y = fp64_of((uint32_t)m, (uint32_t)(m >> 32)), hi[L::n], lo[L::n];
    t[1] += (t[0] + L::mask) >> 52;
#pragma unroll
    for (int j = 0; j < L::n; j++)
        hi[j] = fp64_fma(y, fp64_modulus<P>(j), fp64_hi);
#pragma unroll
    for (int j = 1; j < L::n; j++)
        lo[j] = fp64_sub(fp64_lo, hi[j]);
#pragma unroll
    for (int j = 1; j < L::n; j++)
        lo[j] = fp64_fma(y, fp64_modulus<P>(j), lo[j]);
#pragma unroll
    for (int j = 1; j < L::n; j++)
        t[j] += fp64_bits(lo[j]) + fp64_bits(hi[j - 1]);
    t[L::n] += fp64_bits(hi[L::n - 1]);
}

/* r = a b / R mod p, as field_mul_rows, with the same bounds */
template <class P> HD void field_mul_fp64(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    using L = Limbs<P>;
    double x[L::n];
    uint64_t t[2 * L::n];
#pragma unroll
    for (int i = 0; i < L::n; i++)
        x[i] = fp64_limb_low<P::N>(a, i, 0);
#pragma unroll
    for (int k = 0; k < 2 * L::n; k++)
        t[k] = k < L::n ? L::begin(2 * k + 1, 2 * k) : L::begin(2 * (2 * L::n - 1 - k), 2 * (2 * L::n - k));
#pragma unroll
    for (int i = 0; i < L::n; i++) {
        fp64_row<L::n>(t + i, x, fp64_limb_high<P::N>(b, i, L::shift));
        fp64_row_reduce<P>(t + i);
    }
    fp64_pack<P::N, L::n>(r, t + L::n);
}

/* The columns of a b 2^shift: t[k] for 2^(52 k) */
template <class P> HD void fp64_columns_mul(uint64_t *t, const uint32_t *a, const uint32_t *b, int shift)
{
    using L = Limbs<P>;
    double x[L::n];
#pragma unroll
    for (int k = 0; k < 2 * L::n; k++)
        t[k] = k < L::n ? L::begin((uint64_t)k + 1, (uint64_t)k)
                        : L::begin((uint64_t)(2 * L::n - 1 - k), (uint64_t)(2 * L::n - k));
#pragma unroll
    for (int i = 0; i < L::n; i++)
        x[i] = fp64_limb_low<P::N>(a, i, 0);
#pragma unroll
    for (int i = 0; i < L::n; i++)
        fp64_row<L::n>(t + i, x, fp64_limb_high<P::N>(b, i, shift));
}

/* The columns of a^2 2^(2 shift): the products above the diagonal once and doubled */
template <class P> HD void fp64_columns_sqr(uint64_t *t, const uint32_t *a, int shift)
{
    using L = Limbs<P>;
    constexpr int n = L::n;
    double x[n], y[n];
#pragma unroll
    for (int i = 0; i < n; i++) {
        x[i] = fp64_limb_low<P::N>(a, i, shift);
        y[i] = fp64_limb_high<P::N>(a, i, shift);
    }
#pragma unroll
    for (int k = 0; k < 2 * n; k++) { /* i < j: pairs with i + j = k give a lo, with i + j = k - 1 a hi */
        int lo = (k < n ? k + 1 : 2 * n - 1 - k) / 2, hi = (k - 1 < n ? k : 2 * n - k) / 2;
        t[k] = L::begin((uint64_t)lo, (uint64_t)hi);
    }
#pragma unroll
    for (int i = 0; i < n - 1; i++) {
        uint64_t above = 0;
#pragma unroll
        for (int j = i + 1; j < n; j++) {
            double hi = fp64_fma(x[j], y[i], fp64_hi);
            t[i + j] += fp64_bits(fp64_fma(x[j], y[i], fp64_sub(fp64_lo, hi))) + above;
            above = fp64_bits(hi);
        }
        t[i + n] += above;
    }
#pragma unroll
    for (int i = 0; i < n; i++) {
        double hi = fp64_fma(x[i], y[i], fp64_hi), lo = fp64_fma(x[i], y[i], fp64_sub(fp64_lo, hi));
        t[2 * i] = 2 * t[2 * i] + (fp64_bits(lo) - L::lo_bits);
        t[2 * i + 1] = 2 * t[2 * i + 1] + (fp64_bits(hi) - L::hi_bits);
    }
}

/* r = t / 2^(52 n) mod p */
template <class P> HD void fp64_columns_reduce(uint32_t *r, uint64_t *t)
{
    using L = Limbs<P>;
#pragma unroll
    for (int k = 0; k < 2 * L::n; k++) /* m p gives a lo less to the columns below n */
        t[k] += k < L::n ? L::begin((uint64_t)k, (uint64_t)k)
                         : L::begin((uint64_t)(2 * L::n - 1 - k), (uint64_t)(2 * L::n - k));
#pragma unroll
    for (int i = 0; i < L::n; i++)
        fp64_row_reduce<P>(t + i);
    fp64_pack<P::N, L::n>(r, t + L::n);
}

/* r = a^2 / R mod p */
template <class P> HD void field_sqr_fp64(uint32_t *r, const uint32_t *a)
{
    uint64_t t[2 * Limbs<P>::n];
    fp64_columns_sqr<P>(t, a, Limbs<P>::shift / 2);
    fp64_columns_reduce<P>(r, t);
}

#endif
