/* Coordinates of G1 (one element) and G2 (c0 + c1 u, u^2 = -1) on eight lanes, over a field stamped by ifma_stamp.h
 * with its names still defined. Defined here: IV(q1_..) and IV(q2_..), the same functions for both.
 *
 * Bounds: mul wants a < 2p in each part and gives a loose value below 2p, as long as 4 (bound of b) p < 2^(52 limbs):
 * b below 20 p (BN254), 2^33 p (BLS12-381). */
#define Q1VEC struct IV(q1_vec)
#define Q2VEC struct IV(q2_vec)

Q1VEC
{
    IVEC c[1];
};

Q2VEC
{
    IVEC c[2];
};

/* a tight -> a 2^e, tight */
IFMA_INLINE void IV(shift_up)(IVEC *r, const IVEC *a, unsigned e)
{
    IVEC t;
    t.l[0] = _mm512_and_si512(_mm512_slli_epi64(a->l[0], e), IFMA_MASK);
    IFMA_UNROLL
    for (int i = 1; i < IFMA_LIMBS; i++) {
        t.l[i] = _mm512_or_si512(_mm512_slli_epi64(a->l[i], e), _mm512_srli_epi64(a->l[i - 1], 52 - e));
        if (i < IFMA_LIMBS - 1)
            t.l[i] = _mm512_and_si512(t.l[i], IFMA_MASK);
    }
    *r = t;
}

IFMA_INLINE void IV(q1_mul)(Q1VEC *r, const Q1VEC *a, const Q1VEC *b)
{
    IV(mul)(&r->c[0], &a->c[0], &b->c[0]);
}

/* four products, two reductions: 320 multiply-adds instead of 315 by Karatsuba, and none of its sums to carry */
IFMA_INLINE void IV(q2_mul)(Q2VEC *r, const Q2VEC *a, const Q2VEC *b)
{
    IVEC minus;
    Q2VEC t;
    IV(negate_lanes)(&minus, &a->c[1], IC.p2, 0xff);
    IV(tight)(&minus, &minus);
    IV(mul2)(&t.c[0], &a->c[0], &b->c[0], &minus, &b->c[1]);
    IV(mul2)(&t.c[1], &a->c[0], &b->c[1], &a->c[1], &b->c[0]);
    *r = t;
}

IFMA_INLINE void IV(q1_sqr)(Q1VEC *r, const Q1VEC *a)
{
    IV(mul)(&r->c[0], &a->c[0], &a->c[0]);
}

/* (c0 + c1)(c0 - c1), 2 c0 c1 */
IFMA_INLINE void IV(q2_sqr)(Q2VEC *r, const Q2VEC *a)
{
    IVEC sum, dif, twice;
    IV(add)(&sum, &a->c[0], &a->c[1]);
    IV(tight)(&sum, &sum);
    IV(sub)(&dif, &a->c[0], &a->c[1]);
    IV(add_const)(&dif, &dif, IC.p2);
    IV(tight)(&dif, &dif);
    IV(shift_up)(&twice, &a->c[0], 1);
    IV(mul)(&r->c[1], &twice, &a->c[1]);
    IV(mul)(&r->c[0], &sum, &dif);
}

/* What is done part by part. */
#define IFMA_COORD(q, QVEC, PARTS)                                                                                     \
    IFMA_INLINE void IV(q##_split)(QVEC * r, const __m512i *w)                                                         \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            ifma_split(r->c[i].l, w + i * IFMA_WORDS, IFMA_WORDS);                                                     \
    }                                                                                                                  \
    IFMA_INLINE void IV(q##_join)(__m512i * w, const QVEC *a)                                                          \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            ifma_join(w + i * IFMA_WORDS, a->c[i].l, IFMA_WORDS);                                                      \
    }                                                                                                                  \
    IFMA_INLINE void IV(q##_tight)(QVEC * r, const QVEC *a)                                                            \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            IV(tight)(&r->c[i], &a->c[i]);                                                                             \
    }                                                                                                                  \
    /* a - b + k, loose */                                                                                             \
    IFMA_INLINE void IV(q##_sub)(QVEC * r, const QVEC *a, const QVEC *b, const uint64_t *k)                            \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++) {                                                                              \
            IV(sub)(&r->c[i], &a->c[i], &b->c[i]);                                                                     \
            IV(add_const)(&r->c[i], &r->c[i], k);                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    IFMA_INLINE void IV(q##_triple)(QVEC * r, const QVEC *a)                                                           \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++) {                                                                              \
            IVEC t;                                                                                                    \
            IV(add)(&t, &a->c[i], &a->c[i]);                                                                           \
            IV(add)(&r->c[i], &t, &a->c[i]);                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    IFMA_INLINE void IV(q##_shift_up)(QVEC * r, const QVEC *a, unsigned e)                                             \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            IV(shift_up)(&r->c[i], &a->c[i], e);                                                                       \
    }                                                                                                                  \
    /* p - a in `lanes`, loose */                                                                                      \
    IFMA_INLINE void IV(q##_negate)(QVEC * r, const QVEC *a, __mmask8 lanes)                                           \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            IV(negate_lanes)(&r->c[i], &a->c[i], IC.p, lanes);                                                         \
    }                                                                                                                  \
    IFMA_INLINE void IV(q##_blend)(QVEC * r, __mmask8 take_b, const QVEC *a, const QVEC *b)                            \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++)                                                                                \
            IV(blend)(&r->c[i], take_b, &a->c[i], &b->c[i]);                                                           \
    }                                                                                                                  \
    /* loose below 4p -> canonical */                                                                                  \
    IFMA_INLINE void IV(q##_canonical)(QVEC * r, const QVEC *a)                                                        \
    {                                                                                                                  \
        IFMA_UNROLL                                                                                                    \
        for (int i = 0; i < PARTS; i++) {                                                                              \
            IV(tight)(&r->c[i], &a->c[i]);                                                                             \
            IV(drop)(&r->c[i], &r->c[i], IC.p2);                                                                       \
            IV(drop)(&r->c[i], &r->c[i], IC.p);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    /* lanes where canonical a and b are the same modulo p; p itself counts as 0 */                                    \
    IFMA_INLINE __mmask8 IV(q##_same)(const QVEC *a, const QVEC *b)                                                    \
    {                                                                                                                  \
        QVEC d;                                                                                                        \
        __m512i any = _mm512_setzero_si512();                                                                          \
        IV(q##_sub)(&d, a, b, IC.p);                                                                                   \
        IV(q##_canonical)(&d, &d);                                                                                     \
        for (int i = 0; i < PARTS; i++) {                                                                              \
            for (int j = 0; j < IFMA_LIMBS; j++)                                                                       \
                any = _mm512_or_si512(any, d.c[i].l[j]);                                                               \
        }                                                                                                              \
        return _mm512_testn_epi64_mask(any, any);                                                                      \
    }

IFMA_COORD(q1, Q1VEC, 1)
IFMA_COORD(q2, Q2VEC, 2)
#undef IFMA_COORD
#undef Q1VEC
#undef Q2VEC
