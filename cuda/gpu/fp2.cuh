/* Fq2 = Fq[u] / (u^2 + 1), coefficients below 2p like the elements of field.cuh. */
#ifndef CUDA_GPU_FP2_CUH
#define CUDA_GPU_FP2_CUH

#include "cuda/gpu/field.cuh"

template <class P> struct Fe2 {
    using Params = P;
    Fe<P> c0, c1;
};

template <class P> HD void field_zero(Fe2<P> &r)
{
    field_zero(r.c0);
    field_zero(r.c1);
}

template <class P> HD void field_one(Fe2<P> &r)
{
    field_one(r.c0);
    field_zero(r.c1);
}

template <class P> HD void field_canon(Fe2<P> &r, const Fe2<P> &a)
{
    field_canon(r.c0, a.c0);
    field_canon(r.c1, a.c1);
}

template <class P> HD void field_add(Fe2<P> &r, const Fe2<P> &a, const Fe2<P> &b)
{
    field_add(r.c0, a.c0, b.c0);
    field_add(r.c1, a.c1, b.c1);
}

template <class P> HD void field_dbl(Fe2<P> &r, const Fe2<P> &a)
{
    field_add(r, a, a);
}

template <class P> HD void field_sub(Fe2<P> &r, const Fe2<P> &a, const Fe2<P> &b)
{
    field_sub(r.c0, a.c0, b.c0);
    field_sub(r.c1, a.c1, b.c1);
}

template <class P> HD void field_neg(Fe2<P> &r, const Fe2<P> &a)
{
    field_neg(r.c0, a.c0);
    field_neg(r.c1, a.c1);
}

template <class P> HD bool field_is_zero(const Fe2<P> &a)
{
    return field_is_zero(a.c0) && field_is_zero(a.c1);
}

template <class P> HD bool field_words_zero(const Fe2<P> &a)
{
    return field_words_zero(a.c0) && field_words_zero(a.c1);
}

/* a + b without reduction: below 4p, which fits (4p < R) */
template <class P> HD void field_sum_4p(Fe<P> &r, const Fe<P> &a, const Fe<P> &b)
{
    static_assert(P::mul_below_2p, "needs spare bits");
    r.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < P::N - 1; i++)
        r.l[i] = addc_cc(a.l[i], b.l[i]);
    r.l[P::N - 1] = addc(a.l[P::N - 1], b.l[P::N - 1]);
}

template <class P> HD void wide_sub_exact(Wide<P> &t, const Wide<P> &a)
{
    t.l[0] = sub_cc(t.l[0], a.l[0]);
#pragma unroll
    for (int i = 1; i < 2 * P::N - 1; i++)
        t.l[i] = subc_cc(t.l[i], a.l[i]);
    t.l[2 * P::N - 1] = subc(t.l[2 * P::N - 1], a.l[2 * P::N - 1]);
}

/* Reduce a number below 8 p^2: p/R = 0.19 (BN254) leaves 2.5 p, 0.10 (BLS12-381) 1.8 p */
template <class P> HD void wide_reduce_8(Fe<P> &r, const Wide<P> &t)
{
    wide_reduce(r, t);
    if (P::p(P::N - 1) >> 28 > 1) /* p/R > 1/8 */
        field_below_2p<P>(r, r.l, 0);
}

/* Three products and two reductions (Karatsuba on the products before reduction). */
template <class P> HD void field_mul(Fe2<P> &r, const Fe2<P> &a, const Fe2<P> &b)
{
    Wide<P> t0, t1, t2;
    Fe<P> sa, sb;
    field_sum_4p(sa, a.c0, a.c1);
    field_sum_4p(sb, b.c0, b.c1);
    wide_mul(t2, sa, sb);
    wide_mul(t0, a.c0, b.c0);
    wide_sub_exact(t2, t0);
    wide_mul(t1, a.c1, b.c1);
    wide_sub_exact(t2, t1);
    wide_sub(t0, t0, t1);
    wide_reduce_8(r.c1, t2);
    wide_reduce(r.c0, t0);
}

/* (c0 + c1)(c0 - c1), 2 c0 c1 */
template <class P> HD void field_sqr(Fe2<P> &r, const Fe2<P> &a)
{
    Wide<P> t;
    Fe<P> s, d;
    field_sum_4p(s, a.c0, a.c1);
    field_sub(d, a.c0, a.c1);
    wide_mul(t, a.c0, a.c1);
    wide_reduce(r.c1, t);
    field_dbl(r.c1, r.c1);
    wide_mul(t, s, d);
    wide_reduce_8(r.c0, t);
}

template <class P> HD void field_mul_sub(Fe2<P> &r, const Fe2<P> &a, const Fe2<P> &b, const Fe2<P> &c, const Fe2<P> &d)
{
    Fe2<P> x, y;
    field_mul(x, a, b);
    field_mul(y, c, d);
    field_sub(r, x, y);
}

/* For kernels that do not matter: the same, called instead of inlined. BLS12-381 G2 took 280 s to compile without. */
template <class P> struct Fe2Cold : Fe2<P> {
};
template <class F> struct ColdOf {
    using Type = F;
};
template <class P> struct ColdOf<Fe2<P>> {
    using Type = Fe2Cold<P>;
};

template <class P> __host__ __device__ __noinline__ void fe2_mul_call(Fe2<P> &r, const Fe2<P> &a, const Fe2<P> &b)
{
    field_mul(r, a, b);
}
template <class P> __host__ __device__ __noinline__ void fe2_sqr_call(Fe2<P> &r, const Fe2<P> &a)
{
    field_sqr(r, a);
}
template <class P> HD void field_mul(Fe2Cold<P> &r, const Fe2Cold<P> &a, const Fe2Cold<P> &b)
{
    fe2_mul_call<P>(r, a, b);
}
template <class P> HD void field_sqr(Fe2Cold<P> &r, const Fe2Cold<P> &a)
{
    fe2_sqr_call<P>(r, a);
}
template <class P>
HD void field_mul_sub(Fe2Cold<P> &r, const Fe2Cold<P> &a, const Fe2Cold<P> &b, const Fe2Cold<P> &c, const Fe2Cold<P> &d)
{
    Fe2Cold<P> x, y;
    field_mul(x, a, b);
    field_mul(y, c, d);
    field_sub(r, x, y);
}

template <class P> HD void field_inv(Fe2<P> &r, const Fe2<P> &a)
{
    Fe<P> n, t;
    field_sqr(n, a.c0);
    field_sqr(t, a.c1);
    field_add(n, n, t);
    field_inv(n, n);
    field_mul(r.c0, a.c0, n);
    field_mul(t, a.c1, n);
    field_neg(r.c1, t);
}

#endif
