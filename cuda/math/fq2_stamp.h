/* Fq2 = Fq[u]/(u^2 + 1) over a stamped field, by textual inclusion. The functions have the field stamp's names and
 * shapes, so that a group is stamped over either.
 *
 *   #define FQ2      bn254_fq2       prefix of the functions
 *   #define FQ2_TYPE struct fe4x2    with members c0 and c1
 *   #define FQ       bn254_fq        a field stamped before, with FIELD_SPARE 2
 *   #define FQ_TYPE  struct fe4
 *   #include "cuda/math/fq2_stamp.h" (undefines the four)
 */
#define FQ2_CAT_(a, b) a##_##b
#define FQ2_CAT(a, b)  FQ2_CAT_(a, b)
#define F2(name)       FQ2_CAT(FQ2, name)
#define F(name)        FQ2_CAT(FQ, name)
#define FQ2_INLINE     __attribute__((unused)) static inline
#define FQ2_WIDE       (2 * sizeof(FQ_TYPE) / sizeof(uint64_t))

FQ2_INLINE void F2(zero)(FQ2_TYPE *r)
{
    memset(r, 0, sizeof *r);
}

FQ2_INLINE void F2(one)(FQ2_TYPE *r)
{
    F(one)(&r->c0);
    F(zero)(&r->c1);
}

FQ2_INLINE bool F2(is_zero)(const FQ2_TYPE *a)
{
    return F(is_zero)(&a->c0) && F(is_zero)(&a->c1);
}

FQ2_INLINE bool F2(eq)(const FQ2_TYPE *a, const FQ2_TYPE *b)
{
    return F(eq)(&a->c0, &b->c0) && F(eq)(&a->c1, &b->c1);
}

FQ2_INLINE void F2(add)(FQ2_TYPE *r, const FQ2_TYPE *a, const FQ2_TYPE *b)
{
    F(add)(&r->c0, &a->c0, &b->c0);
    F(add)(&r->c1, &a->c1, &b->c1);
}

FQ2_INLINE void F2(dbl)(FQ2_TYPE *r, const FQ2_TYPE *a)
{
    F2(add)(r, a, a);
}

FQ2_INLINE void F2(sub)(FQ2_TYPE *r, const FQ2_TYPE *a, const FQ2_TYPE *b)
{
    F(sub)(&r->c0, &a->c0, &b->c0);
    F(sub)(&r->c1, &a->c1, &b->c1);
}

FQ2_INLINE void F2(neg)(FQ2_TYPE *r, const FQ2_TYPE *a)
{
    F(neg)(&r->c0, &a->c0);
    F(neg)(&r->c1, &a->c1);
}

/* c0 - c1 u, which is also the q-th power */
FQ2_INLINE void F2(conj)(FQ2_TYPE *r, const FQ2_TYPE *a)
{
    r->c0 = a->c0;
    F(neg)(&r->c1, &a->c1);
}

/* Karatsuba with three full products and two reductions (88 word products instead of 108 for 4 limbs, 192 instead of
 * 234 for 6). The wide values stay below p R because p < R / 4. Not inlined: 1.5 kB of code. */
__attribute__((unused, noinline)) static void F2(mul)(FQ2_TYPE *r, const FQ2_TYPE *a, const FQ2_TYPE *b)
{
    uint64_t w0[FQ2_WIDE], w1[FQ2_WIDE], w2[FQ2_WIDE];
    FQ_TYPE s, t;
    F(sum)(&s, &a->c0, &a->c1);
    F(sum)(&t, &b->c0, &b->c1);
    F(mul_wide)(w2, &s, &t);
    F(mul_wide)(w0, &a->c0, &b->c0);
    F(mul_wide)(w1, &a->c1, &b->c1);
    F(sub_wide)(w2, w2, w0);
    F(sub_wide)(w2, w2, w1);
    F(sub_mod_wide)(w0, w0, w1);
    F(redc)(&r->c1, w2);
    F(redc)(&r->c0, w0);
}

/* (c0 + c1)(c0 - c1) + 2 c0 c1 u */
__attribute__((unused, noinline)) static void F2(sqr)(FQ2_TYPE *r, const FQ2_TYPE *a)
{
    FQ_TYPE s, d, t;
    F(sum)(&s, &a->c0, &a->c1);
    F(sub)(&d, &a->c0, &a->c1);
    F(sum)(&t, &a->c0, &a->c0);
    F(mul)(&r->c1, &t, &a->c1);
    F(mul)(&r->c0, &s, &d);
}

FQ2_INLINE void F2(mul_fq)(FQ2_TYPE *r, const FQ2_TYPE *a, const FQ_TYPE *k)
{
    F(mul)(&r->c0, &a->c0, k);
    F(mul)(&r->c1, &a->c1, k);
}

/* c0^2 + c1^2 */
FQ2_INLINE void F2(norm)(FQ_TYPE *r, const FQ2_TYPE *a)
{
    FQ_TYPE t;
    F(sqr)(&t, &a->c0);
    F(sqr)(r, &a->c1);
    F(add)(r, r, &t);
}

/* 1/0 = 0 */
FQ2_INLINE void F2(inv)(FQ2_TYPE *r, const FQ2_TYPE *a)
{
    FQ_TYPE n;
    F2(norm)(&n, a);
    F(inv)(&n, &n);
    F2(conj)(r, a);
    F2(mul_fq)(r, r, &n);
}

/* In place, zeros stay zero; scratch: n elements. */
FQ2_INLINE void F2(batch_inv)(FQ2_TYPE *a, FQ2_TYPE *scratch, size_t n)
{
    FQ2_TYPE acc, t;
    F2(one)(&acc);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!F2(is_zero)(&a[i]))
            F2(mul)(&acc, &acc, &a[i]);
    }
    F2(inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (F2(is_zero)(&a[i]))
            continue;
        F2(mul)(&t, &acc, &scratch[i]);
        F2(mul)(&acc, &acc, &a[i]);
        a[i] = t;
    }
}

/* a^e, variable time */
FQ2_INLINE void F2(pow)(FQ2_TYPE *r, const FQ2_TYPE *a, const uint64_t *e, int limbs)
{
    FQ2_TYPE base = *a, acc;
    F2(one)(&acc);
    for (int i = limbs * 64 - 1; i >= 0; i--) {
        F2(sqr)(&acc, &acc);
        if (e[i / 64] >> (i % 64) & 1)
            F2(mul)(&acc, &acc, &base);
    }
    *r = acc;
}

#undef F2
#undef F
#undef FQ2_CAT
#undef FQ2_CAT_
#undef FQ2_INLINE
#undef FQ2_WIDE
#undef FQ2
#undef FQ2_TYPE
#undef FQ
#undef FQ_TYPE
