/* Carries and products of limb arrays in plain C: what the fields are stamped from where no assembly is compiled in.
 * Counts are compile-time constants at every call, so the loops unroll. */
#ifndef CUDA_MATH_LIMBS_H
#define CUDA_MATH_LIMBS_H

#include <stdint.h>

typedef unsigned __int128 limbs_u128;

#define LIMBS_INLINE static inline __attribute__((always_inline))

/* r = a + b, returns the carry */
LIMBS_INLINE uint64_t limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] + b[i] + carry;
        r[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return carry;
}

/* r = a - b, returns the borrow (0 or 1) */
LIMBS_INLINE uint64_t limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] - b[i] - borrow;
        r[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

/* r = a + (b & mask) */
LIMBS_INLINE void limbs_add_masked(uint64_t *r, const uint64_t *a, const uint64_t *b, uint64_t mask, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] + (b[i] & mask) + carry;
        r[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

/* r = take_a ? a : b, branch-free */
LIMBS_INLINE void limbs_select(uint64_t *r, const uint64_t *a, const uint64_t *b, uint64_t take_a, int n)
{
    uint64_t mask = 0 - take_a;
    for (int i = 0; i < n; i++)
        r[i] = (a[i] & mask) | (b[i] & ~mask);
}

/* -1, 0, 1; variable time */
LIMBS_INLINE int limbs_cmp(const uint64_t *a, const uint64_t *b, int n)
{
    for (int i = n - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* r = a - p if a >= p, else a; branch-free */
LIMBS_INLINE void limbs_reduce_c(uint64_t *r, const uint64_t *a, const uint64_t *p, int n)
{
    uint64_t t[6];
    uint64_t borrow = limbs_sub(t, a, p, n);
    limbs_select(r, a, t, borrow, n);
}

/* r[0..2n) = a * b */
LIMBS_INLINE void limbs_mul_wide_c(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t t[12] = {0};
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n; j++) {
            limbs_u128 s = (limbs_u128)a[i] * b[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        t[i + n] = carry;
    }
    for (int i = 0; i < 2 * n; i++)
        r[i] = t[i];
}

/* r = t / R mod p, reduced, t of 2n limbs below p R. */
LIMBS_INLINE void limbs_redc_c(uint64_t *r, const uint64_t *t, const uint64_t *p, uint64_t inv, int n)
{
    uint64_t u[7];
    for (int i = 0; i < n; i++)
        u[i] = t[i];
    u[n] = 0;
    for (int i = 0; i < n; i++) {
        uint64_t m = u[0] * inv;
        limbs_u128 s = (limbs_u128)m * p[0] + u[0];
        for (int j = 1; j < n; j++) {
            s = (limbs_u128)m * p[j] + u[j] + (uint64_t)(s >> 64);
            u[j - 1] = (uint64_t)s;
        }
        u[n - 1] = (uint64_t)(s >> 64);
    }
    limbs_add(u, u, t + n, n);
    limbs_reduce_c(r, u, p, n);
}

/* Montgomery product, interleaved (CIOS), reduced. Needs p < 2^(64n-1). */
LIMBS_INLINE void limbs_mont_c(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p, uint64_t inv,
                               int n)
{
    uint64_t t[7] = {0};
    for (int i = 0; i < n; i++) {
        limbs_u128 s = (limbs_u128)a[i] * b[0] + t[0];
        uint64_t carry_ab = (uint64_t)(s >> 64);
        uint64_t m = (uint64_t)s * inv;
        limbs_u128 u = (limbs_u128)m * p[0] + (uint64_t)s;
        uint64_t carry_mp = (uint64_t)(u >> 64);
        for (int j = 1; j < n; j++) {
            s = (limbs_u128)a[i] * b[j] + t[j] + carry_ab;
            carry_ab = (uint64_t)(s >> 64);
            u = (limbs_u128)m * p[j] + (uint64_t)s + carry_mp;
            carry_mp = (uint64_t)(u >> 64);
            t[j - 1] = (uint64_t)u;
        }
        t[n - 1] = carry_ab + carry_mp;
    }
    limbs_reduce_c(r, t, p, n);
}

#endif
