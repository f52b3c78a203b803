/* Points of y^2 = x^3 + b over F (Fe or Fe2): affine as stored ("LEM", all zero = infinity) and extended Jacobian
 * x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2, where ZZ = 0 words = infinity. Formulas: Bernstein and Lange, Explicit-Formulas
 * Database, "XYZZ coordinates for short Weierstrass curves", a = 0: madd-2008-s 8M + 2S, add-2008-s 12M + 2S,
 * dbl-2008-s-1 6M + 3S, mdbl-2008-s-1. All are complete here: equal and opposite points are told apart. */
#ifndef CUDA_GPU_POINT_CUH
#define CUDA_GPU_POINT_CUH

#include "cuda/gpu/fp2.cuh"

template <class F> struct Affine {
    F x, y;
};
template <class F> struct Xyzz {
    F x, y, zz, zzz;
};

template <class F> HD bool affine_is_infinity(const Affine<F> &p)
{
    return field_words_zero(p.x) && field_words_zero(p.y);
}

template <class F> HD void xyzz_zero(Xyzz<F> &r)
{
    field_zero(r.x);
    field_zero(r.y);
    field_zero(r.zz);
    field_zero(r.zzz);
}

template <class F> HD bool xyzz_is_infinity(const Xyzz<F> &p)
{
    return field_words_zero(p.zz);
}

template <class F> HD void xyzz_from_affine(Xyzz<F> &r, const Affine<F> &p)
{
    if (affine_is_infinity(p)) {
        xyzz_zero(r);
        return;
    }
    r.x = p.x;
    r.y = p.y;
    field_one(r.zz);
    field_one(r.zzz);
}

/* Doubling; a point with y = 0 (order 2: possible off the prime-order subgroup) gives infinity. */
template <class F> HD void xyzz_dbl(Xyzz<F> &r, const Xyzz<F> &p)
{
    if (xyzz_is_infinity(p) || field_is_zero(p.y)) {
        xyzz_zero(r);
        return;
    }
    F u, v, w, s, m;
    field_dbl(u, p.y);
    field_sqr(v, u);
    field_mul(w, u, v);
    field_mul(s, p.x, v);
    field_sqr(m, p.x);
    field_dbl(u, m);
    field_add(m, m, u);
    field_mul(r.zz, v, p.zz);
    field_mul(r.zzz, w, p.zzz);
    field_sqr(u, m);
    field_sub(u, u, s);
    field_sub(u, u, s);
    field_sub(s, s, u);
    field_mul_sub(r.y, m, s, w, p.y);
    r.x = u;
}

/* r = 2 p, p affine and not infinity */
template <class F> __host__ __device__ __noinline__ void xyzz_dbl_affine(Xyzz<F> &r, const Affine<F> &p)
{
    Xyzz<F> q;
    q.x = p.x;
    q.y = p.y;
    field_one(q.zz);
    field_one(q.zzz);
    xyzz_dbl(r, q);
}

/* acc += p. p is not infinity; acc neither (callers hold that in a flag). False: the sum is infinity, acc unchanged. */
template <class F> HD bool xyzz_madd(Xyzz<F> &acc, const Affine<F> &p)
{
    F u, s, pp, ppp, q;
    field_mul(u, p.x, acc.zz);
    field_mul(s, p.y, acc.zzz);
    field_sub(u, u, acc.x); /* P */
    field_sub(s, s, acc.y); /* R */
    if (field_is_zero(u)) {
        if (!field_is_zero(s))
            return false;
        using Cold = typename ColdOf<F>::Type;
        Xyzz<F> twice;
        xyzz_dbl_affine((Xyzz<Cold> &)twice, (const Affine<Cold> &)p);
        acc = twice;
        return !xyzz_is_infinity(twice);
    }
    field_sqr(pp, u);
    field_mul(ppp, u, pp);
    field_mul(q, acc.x, pp);
    field_mul(acc.zz, acc.zz, pp);
    field_mul(acc.zzz, acc.zzz, ppp);
    field_sqr(pp, s);
    field_sub(pp, pp, ppp);
    field_sub(pp, pp, q);
    field_sub(acc.x, pp, q);
    field_sub(q, q, acc.x);
    field_mul_sub(acc.y, s, q, ppp, acc.y);
    return true;
}

/* acc += p, any points */
template <class F> HD void xyzz_add_inline(Xyzz<F> &acc, const Xyzz<F> &p)
{
    if (xyzz_is_infinity(p))
        return;
    if (xyzz_is_infinity(acc)) {
        acc = p;
        return;
    }
    F u1, s1, u, s, pp, ppp;
    field_mul(u1, acc.x, p.zz);
    field_mul(s1, acc.y, p.zzz);
    field_mul(u, p.x, acc.zz);
    field_mul(s, p.y, acc.zzz);
    field_sub(u, u, u1);
    field_sub(s, s, s1);
    if (field_is_zero(u)) {
        if (field_is_zero(s))
            xyzz_dbl(acc, p);
        else
            xyzz_zero(acc);
        return;
    }
    field_sqr(pp, u);
    field_mul(ppp, u, pp);
    field_mul(u1, u1, pp); /* Q */
    field_mul(acc.zz, acc.zz, p.zz);
    field_mul(acc.zz, acc.zz, pp);
    field_mul(acc.zzz, acc.zzz, p.zzz);
    field_mul(acc.zzz, acc.zzz, ppp);
    field_sqr(pp, s);
    field_sub(pp, pp, ppp);
    field_sub(pp, pp, u1);
    field_sub(acc.x, pp, u1);
    field_sub(u1, u1, acc.x);
    field_mul_sub(acc.y, s, u1, ppp, s1);
}

template <class F> __host__ __device__ __noinline__ void xyzz_add(Xyzz<F> &acc, const Xyzz<F> &p)
{
    xyzz_add_inline(acc, p);
}

/* acc += p, any points */
template <class F> __host__ __device__ __noinline__ void xyzz_add_affine(Xyzz<F> &acc, const Affine<F> &p)
{
    if (affine_is_infinity(p))
        return;
    if (xyzz_is_infinity(acc))
        xyzz_from_affine(acc, p);
    else if (!xyzz_madd(acc, p))
        xyzz_zero(acc);
}

/* With iz = 1 / ZZZ: x = X iz^2 ZZ^2 (1/ZZ = ZZ^2 / ZZZ^2), y = Y iz, canonical */
template <class F> HD void xyzz_to_affine(Affine<F> &r, const Xyzz<F> &p, const F &iz)
{
    F t, u;
    field_mul(t, p.zz, iz);
    field_sqr(t, t);
    field_mul(u, p.x, t);
    field_canon(r.x, u);
    field_mul(u, p.y, iz);
    field_canon(r.y, u);
}

/* One point alone (host): infinity becomes all zero. */
template <class F> __host__ __device__ __noinline__ void xyzz_normalize(Affine<F> &r, const Xyzz<F> &p)
{
    F iz;
    if (xyzz_is_infinity(p)) {
        field_zero(r.x);
        field_zero(r.y);
        return;
    }
    field_inv(iz, p.zzz);
    xyzz_to_affine(r, p, iz);
}

/* acc = k p, k of `words` words */
template <class F>
__host__ __device__ __noinline__ void xyzz_mul(Xyzz<F> &acc, const Affine<F> &p, const uint32_t *k, int words)
{
    xyzz_zero(acc);
    for (int i = words * 32 - 1; i >= 0; i--) {
        xyzz_dbl(acc, acc);
        if (k[i >> 5] >> (i & 31) & 1)
            xyzz_add_affine(acc, p);
    }
}

template <class F> HD void affine_neg_if(Affine<F> &p, bool negative)
{
    F n;
    field_neg(n, p.y);
    if (negative)
        p.y = n;
}

#endif
