/* Prime field arithmetic for kernels, and the same on the CPU.
 *
 * Elements are Montgomery residues that are kept below 2p, not below p ("lazy"): a product then needs no final
 * subtraction. field_canon gives the unique residue below p. mul takes `a` below p (tables, inputs) or, on fields with
 * mul_below_2p, below 2p; `b` may be any number below 2p.
 *
 * A number is accumulated in two halves, `even` and `odd` (one word higher), so that the two words of each product are
 * neighbours and every row is one unbroken carry chain of wide multiply-adds: 2 N^2 + N of them a multiplication
 * (Montgomery multiplication by rows; N. Emmart, F. Zheng, C. Weems, "Faster Modular Exponentiation Using Double
 * Precision Floating Point Arithmetic on the GPU", 2018, describes the split).
 * Measured on an H200: a wide multiply-add occupies its pipe for four cycles of a scheduler, with carry or without, so a
 * 254-bit product cannot be done in less than 136 * 4 = 544 cycles, and takes that: 6.2e10 products/s. Limbs of 28 or 29
 * bits without carries need more of them and gave 4.6e10. */
#ifndef CUDA_GPU_FIELD_CUH
#define CUDA_GPU_FIELD_CUH

#include "cuda/gpu/carry.cuh"
#include "cuda/gpu/params.cuh"

template <class P> struct alignas(16) Fe {
    using Params = P;
    static constexpr int N = P::N;
    uint32_t l[N];
};

/* A product before reduction: below R p on entry to wide_reduce */
template <class P> struct Wide {
    uint32_t l[2 * P::N];
};

template <class P> HD uint32_t field_2p(int i)
{
    return i == 0 ? P::p(0) << 1 : P::p(i) << 1 | P::p(i - 1) >> 31;
}

template <class P> HD void field_zero(Fe<P> &r)
{
#pragma unroll
    for (int i = 0; i < P::N; i++)
        r.l[i] = 0;
}

template <class P> HD void field_one(Fe<P> &r)
{
#pragma unroll
    for (int i = 0; i < P::N; i++)
        r.l[i] = P::one(i);
}

/* r = a - 2p if that is not negative, else a; a below 4p. `top` = word above a (only Bls381Fr overflows 256 bits) */
template <class P> HD void field_below_2p(Fe<P> &r, const uint32_t *a, uint32_t top)
{
    uint32_t t[P::N];
    t[0] = sub_cc(a[0], field_2p<P>(0));
#pragma unroll
    for (int i = 1; i < P::N; i++)
        t[i] = subc_cc(a[i], field_2p<P>(i));
    bool less = subc(top, 0) >> 31;
#pragma unroll
    for (int i = 0; i < P::N; i++)
        r.l[i] = less ? a[i] : t[i];
}

/* The residue below p of a number below 2p. */
template <class P> HD void field_canon(Fe<P> &r, const Fe<P> &a)
{
    uint32_t t[P::N];
    t[0] = sub_cc(a.l[0], P::p(0));
#pragma unroll
    for (int i = 1; i < P::N; i++)
        t[i] = subc_cc(a.l[i], P::p(i));
    bool less = subc(0, 0) != 0;
#pragma unroll
    for (int i = 0; i < P::N; i++)
        r.l[i] = less ? a.l[i] : t[i];
}

template <class P> HD void field_add(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
    uint32_t s[P::N];
    s[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < P::N; i++)
        s[i] = addc_cc(a.l[i], b.l[i]);
    uint32_t top = addc(0, 0);
    field_below_2p<P>(r, s, top);
}

template <class P> HD void field_dbl(Fe<P> &r, const Fe<P> &a)
{
    field_add(r, a, a);
}

template <class P> HD void field_sub(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
    uint32_t t[P::N];
    t[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < P::N; i++)
        t[i] = subc_cc(a.l[i], b.l[i]);
    uint32_t mask = subc(0, 0);
    r.l[0] = add_cc(t[0], field_2p<P>(0) & mask);
#pragma unroll
    for (int i = 1; i < P::N - 1; i++)
        r.l[i] = addc_cc(t[i], field_2p<P>(i) & mask);
    r.l[P::N - 1] = addc(t[P::N - 1], field_2p<P>(P::N - 1) & mask);
}

template <class P> HD void field_neg(Fe<P> &r, const Fe<P> &a)
{
    Fe<P> zero;
    field_zero(zero);
    field_sub(r, zero, a);
}

/* Is it 0 mod p? The numbers below 2p that are: 0 and p. */
template <class P> HD bool field_is_zero(const Fe<P> &a)
{
    uint32_t any = 0, diff = 0;
#pragma unroll
    for (int i = 0; i < P::N; i++) {
        any |= a.l[i];
        diff |= a.l[i] ^ P::p(i);
    }
    return any == 0 || diff == 0;
}

template <class P> HD bool field_words_zero(const Fe<P> &a)
{
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < P::N; i++)
        any |= a.l[i];
    return any == 0;
}

/* One reduction row: acc (low) += p m so that its word 0 becomes 0 */
template <class P> HD void field_row_reduce(uint32_t *low, uint32_t *high, const uint32_t *p)
{
    uint32_t m = mul_lo(low[0], P::operand_inv());
    row_mad<P::N>(high, p + 1, m);
    row_mad<P::N>(low, p, m);
    high[P::N - 1] = addc(high[P::N - 1], 0);
}

/* One row of the product and its reduction: low was `odd`, high was `even` of the row before. */
template <class P> HD void field_row(uint32_t *low, uint32_t *high, const uint32_t *a, uint32_t b, const uint32_t *p)
{
    low[0] = add_cc(low[0], high[1]);
    row_madc_down<P::N>(high, a + 1, b);
    row_mad<P::N>(low, a, b);
    high[P::N - 1] = addc(high[P::N - 1], 0);
    field_row_reduce<P>(low, high, p);
}

/* r = low / 2^32 + high, at the end of the rows */
template <class P> HD void field_join(Fe<P> &r, const uint32_t *low, const uint32_t *high)
{
    r.l[0] = add_cc(low[1], high[0]);
#pragma unroll
    for (int i = 1; i < P::N - 1; i++)
        r.l[i] = addc_cc(low[i + 1], high[i]);
    r.l[P::N - 1] = addc(high[P::N - 1], 0);
}

template <class P> HD void field_load_p(uint32_t *p)
{
#pragma unroll
    for (int i = 0; i < P::N; i++)
        p[i] = P::operand(i);
}

/* The multiplication as the GPU does it; on the CPU only for tests, see field_mul. */
template <class P> HD void field_mul_rows(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
    uint32_t even[P::N], odd[P::N], p[P::N];
    field_load_p<P>(p);
    row_mul<P::N>(even, a.l, b.l[0]);
    row_mul<P::N>(odd, a.l + 1, b.l[0]);
    field_row_reduce<P>(even, odd, p);
#pragma unroll
    for (int i = 1; i < P::N; i += 2) {
        field_row<P>(odd, even, a.l, b.l[i], p);
        if (i + 1 < P::N)
            field_row<P>(even, odd, a.l, b.l[i + 1], p);
    }
    field_join<P>(r, odd, even);
}

/* t = a b, 2N words */
template <class P> HD void wide_mul(Wide<P> &t, const Fe<P> &a, const Fe<P> &b)
{
    constexpr int N = P::N;
    uint32_t even[2 * N], odd[2 * N];
    row_mul<N>(even, a.l, b.l[0]);
    row_mul<N>(odd, a.l + 1, b.l[0]);
    even[N] = 0;
    even[N + 1] = 0;
#pragma unroll
    for (int i = 1; i < N; i++) {
        if (i & 1) {
            odd[i + N - 1] = 0;
            if (i > 1)
                even[i + N] = 0;
            row_mad<N>(odd + i - 1, a.l, b.l[i]);
            odd[i + N - 1] = addc(0, 0);
            row_mad<N>(even + i + 1, a.l + 1, b.l[i]);
        } else {
            odd[i + N - 1] = 0;
            row_mad<N>(even + i, a.l, b.l[i]);
            even[i + N] = addc(0, 0);
            row_mad<N>(odd + i, a.l + 1, b.l[i]);
        }
    }
    t.l[0] = even[0];
    t.l[1] = add_cc(even[1], odd[0]);
#pragma unroll
    for (int i = 2; i < 2 * N - 1; i++)
        t.l[i] = addc_cc(even[i], odd[i - 1]);
    t.l[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
}

template <int count> HD void square_row(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    if constexpr (count > 0)
        row_mad<2 * count>(acc, a, b);
}

/* The products a_i a_j with j > i, of row i and the rows after it, each parity of i + j as one chain. */
template <class P, int i> HD void square_rows(uint32_t *even, uint32_t *odd, const uint32_t *a)
{
    constexpr int N = P::N;
    if constexpr (i < N - 1) {
        constexpr int n_odd = (N - i) / 2;               /* j = i + 1, i + 3, .. */
        constexpr int n_even = (N - 1 - i) / 2;          /* j = i + 2, i + 4, .. */
        square_row<n_odd>(odd + 2 * i, a + i + 1, a[i]); /* weight 2i + 1, index one less */
        if constexpr (2 * i + 2 * n_odd < 2 * N)
            odd[2 * i + 2 * n_odd] = addc(odd[2 * i + 2 * n_odd], 0);
        square_row<n_even>(even + 2 * i + 2, a + i + 2, a[i]);
        if constexpr (n_even > 0 && 2 * i + 2 + 2 * n_even < 2 * N)
            even[2 * i + 2 + 2 * n_even] = addc(even[2 * i + 2 + 2 * n_even], 0);
        square_rows<P, i + 1>(even, odd, a);
    }
}

/* t = a^2: the products above the diagonal once, doubled, plus the squares: N (N + 1) / 2 wide multiply-adds */
template <class P> HD void wide_sqr(Wide<P> &t, const Fe<P> &a)
{
    constexpr int N = P::N;
    uint32_t even[2 * N], odd[2 * N];
#pragma unroll
    for (int i = 0; i < 2 * N; i++)
        even[i] = odd[i] = 0;
    square_rows<P, 0>(even, odd, a.l);
    uint32_t s[2 * N];
    s[0] = 0;
    s[1] = add_cc(even[1], odd[0]);
#pragma unroll
    for (int i = 2; i < 2 * N - 1; i++)
        s[i] = addc_cc(even[i], odd[i - 1]);
    s[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
#pragma unroll
    for (int i = 2 * N - 1; i > 0; i--)
        s[i] = s[i] << 1 | s[i - 1] >> 31;
    t.l[0] = mad_lo_cc(a.l[0], a.l[0], 0);
    t.l[1] = madc_hi_cc(a.l[0], a.l[0], s[1]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) {
        t.l[2 * i] = madc_lo_cc(a.l[i], a.l[i], s[2 * i]);
        t.l[2 * i + 1] = madc_hi_cc(a.l[i], a.l[i], s[2 * i + 1]);
    }
    t.l[2 * N - 2] = madc_lo_cc(a.l[N - 1], a.l[N - 1], s[2 * N - 2]);
    t.l[2 * N - 1] = madc_hi(a.l[N - 1], a.l[N - 1], s[2 * N - 1]);
}

/* r = t / R mod p, below t / R + p */
template <class P> HD void wide_reduce(Fe<P> &r, const Wide<P> &t)
{
    constexpr int N = P::N;
    uint32_t even[N], odd[N], p[N];
    field_load_p<P>(p);
#pragma unroll
    for (int i = 0; i < N; i++)
        even[i] = t.l[i];
    uint32_t m = mul_lo(even[0], P::operand_inv());
    row_mul<N>(odd, p + 1, m);
    row_mad<N>(even, p, m);
    odd[N - 1] = addc(odd[N - 1], 0);
#pragma unroll
    for (int i = 1; i < N; i++) {
        uint32_t *low = i & 1 ? odd : even, *high = i & 1 ? even : odd;
        uint32_t word = low[0] + high[1];
        m = mul_lo(word, P::operand_inv());
        low[0] = add_cc(low[0], high[1]);
        row_madc_down<N>(high, p + 1, m);
        row_mad<N>(low, p, m);
        high[N - 1] = addc(high[N - 1], 0);
    }
    uint32_t *low = odd, *high = even; /* N is even: the last row was an odd one */
    Fe<P> s;
    field_join<P>(s, low, high);
    r.l[0] = add_cc(s.l[0], t.l[N]);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        r.l[i] = addc_cc(s.l[i], t.l[N + i]);
    r.l[N - 1] = addc(s.l[N - 1], t.l[2 * N - 1]);
}

/* On the CPU by 64-bit words: the host folds a few hundred points with it. */
template <class P> inline void field_mul_words(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
    constexpr int n = P::N / 2;
    uint64_t t[n] = {0}, inv = 1, p0 = P::p(0) | (uint64_t)P::p(1) << 32;
    for (int i = 0; i < 6; i++)
        inv *= 2 - p0 * inv;
    inv = 0 - inv;
    for (int i = 0; i < n; i++) {
        uint64_t bi = b.l[2 * i] | (uint64_t)b.l[2 * i + 1] << 32, m = 0;
        unsigned __int128 s = 0, u = 0;
        for (int j = 0; j < n; j++) {
            uint64_t aj = a.l[2 * j] | (uint64_t)a.l[2 * j + 1] << 32;
            uint64_t pj = P::p(2 * j) | (uint64_t)P::p(2 * j + 1) << 32;
            s = (unsigned __int128)aj * bi + t[j] + (uint64_t)(s >> 64);
            if (j == 0)
                m = (uint64_t)s * inv;
            u = (unsigned __int128)m * pj + (uint64_t)s + (uint64_t)(u >> 64);
            if (j > 0)
                t[j - 1] = (uint64_t)u;
        }
        t[n - 1] = (uint64_t)(s >> 64) + (uint64_t)(u >> 64);
    }
    for (int i = 0; i < n; i++) {
        r.l[2 * i] = (uint32_t)t[i];
        r.l[2 * i + 1] = (uint32_t)(t[i] >> 32);
    }
}

template <class P> HD void field_mul(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
#ifdef __CUDA_ARCH__
    field_mul_rows(r, a, b);
#else
    field_mul_words(r, a, b);
#endif
}

template <class P> HD void field_sqr(Fe<P> &r, const Fe<P> &a)
{
#ifdef __CUDA_ARCH__
    Wide<P> t;
    wide_sqr(t, a);
    wide_reduce(r, t);
#else
    field_mul_words(r, a, a);
#endif
}

/* t = a - b, plus R p where that is negative: products of numbers below 2p differ by less than 4 p^2 < R p, so the
 * difference reduces to below 2p. */
template <class P> HD void wide_sub(Wide<P> &t, const Wide<P> &a, const Wide<P> &b)
{
    constexpr int N = P::N;
    t.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < 2 * N; i++)
        t.l[i] = subc_cc(a.l[i], b.l[i]);
    uint32_t mask = subc(0, 0);
    t.l[N] = add_cc(t.l[N], P::p(0) & mask);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        t.l[N + i] = addc_cc(t.l[N + i], P::p(i) & mask);
    t.l[2 * N - 1] = addc(t.l[2 * N - 1], P::p(N - 1) & mask);
}

/* r = a b - c d with one reduction */
template <class P> HD void field_mul_sub(Fe<P> &r, const Fe<P> &a, const Fe<P> &b, const Fe<P> &c, const Fe<P> &d)
{
    static_assert(P::mul_below_2p, "needs spare bits");
    Wide<P> x, y;
    wide_mul(x, a, b);
    wide_mul(y, c, d);
    wide_sub(x, x, y);
    wide_reduce(r, x);
}

/* r = a^e, e of `words` 32-bit words; the same for all threads of a warp or slow. a below p or mul_below_2p. */
template <class P> HD void field_pow(Fe<P> &r, const Fe<P> &a, const uint32_t *e, int words)
{
    Fe<P> acc, base;
    field_one(acc);
    field_canon(base, a);
    for (int i = words * 32 - 1; i >= 0; i--) {
        field_canon(acc, acc);
        field_mul(acc, acc, acc);
        if (e[i >> 5] >> (i & 31) & 1)
            field_mul(acc, base, acc);
    }
    r = acc;
}

template <class P> HD void field_pow_u64(Fe<P> &r, const Fe<P> &a, uint64_t e)
{
    uint32_t words[2] = {(uint32_t)e, (uint32_t)(e >> 32)};
    field_pow(r, a, words, e >> 32 ? 2 : 1);
}

/* 1/a by Fermat; 1/0 = 0 */
template <class P> HD void field_inv(Fe<P> &r, const Fe<P> &a)
{
    uint32_t e[P::N];
    for (int i = 0; i < P::N; i++)
        e[i] = P::p(i);
    e[0] -= 2; /* Bls381Fr: p ends in 0x00000001, so a borrow */
    if (P::p(0) < 2)
        e[1] -= 1;
    field_pow(r, a, e, P::N);
}

#endif
