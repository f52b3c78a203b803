/* One prime field on eight lanes of 52-bit limbs, stamped by inclusion.
 *
 *   #define IFMA_FIELD bn254_fr     #define IFMA_LIMBS 5      #define IFMA_WORDS 4
 *   #include "cuda/host/ifma_stamp.h"     .. and ifma_end.h behind its last use
 *
 * The product is a b / 2^(52 limbs), while elements in memory carry the factor 2^(64 words): see the comments at the
 * uses how the factors cancel without a conversion (8 GF(p) products a 105 multiply-adds: 13 cycles each on Zen 4,
 * against 36 for mulx).
 *
 * Limbs are "tight" (0 .. 2^52 - 1, the top one may be larger) or "loose" (any signed 64-bit number of the right sum).
 * Products take tight operands whose product is below p 2^(52 limbs) and give a loose value below 2p. */
#include "cuda/host/ifma.h"
#include "cuda/host/ifma_consts.h"

#define IFMA_CAT_(a, b) a##_##b
#define IFMA_CAT(a, b)  IFMA_CAT_(a, b)
#define IV(name)        IFMA_CAT(IFMA_FIELD, IFMA_CAT(x8, name))
#define IC              IFMA_CAT(ifma, IFMA_FIELD)
#define IVEC            struct IV(vec)

IVEC
{
    __m512i l[IFMA_LIMBS];
};

IFMA_INLINE __m512i IV(constant)(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* loose -> tight; the sum must be >= 0 */
IFMA_INLINE void IV(tight)(IVEC *r, const IVEC *a)
{
    __m512i carry = _mm512_setzero_si512();
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS - 1; i++) {
        __m512i t = _mm512_add_epi64(a->l[i], carry);
        carry = _mm512_srai_epi64(t, 52);
        r->l[i] = _mm512_and_si512(t, IFMA_MASK);
    }
    r->l[IFMA_LIMBS - 1] = _mm512_add_epi64(a->l[IFMA_LIMBS - 1], carry);
}

/* t has 2 limbs columns; r = t / 2^(52 limbs) mod p, loose */
IFMA_INLINE void IV(redc)(IVEC *r, __m512i *t)
{
    const __m512i inv = IV(constant)(IC.inv), zero = _mm512_setzero_si512();
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++) {
        __m512i m = _mm512_madd52lo_epu64(zero, t[i], inv);
        t[i] = _mm512_madd52lo_epu64(t[i], m, IV(constant)(IC.p[0]));
        t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], m, IV(constant)(IC.p[0]));
        IFMA_UNROLL
        for (int j = 1; j < IFMA_LIMBS; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], m, IV(constant)(IC.p[j]));
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], m, IV(constant)(IC.p[j]));
        }
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64(t[i], 52));
    }
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = t[IFMA_LIMBS + i];
}

IFMA_INLINE void IV(columns)(__m512i *t, const IVEC *a, const IVEC *b)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++) {
        IFMA_UNROLL
        for (int j = 0; j < IFMA_LIMBS; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[i], b->l[j]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[i], b->l[j]);
        }
    }
}

IFMA_INLINE void IV(mul)(IVEC *r, const IVEC *a, const IVEC *b)
{
    __m512i t[2 * IFMA_LIMBS + 1];
    IFMA_UNROLL
    for (int i = 0; i <= 2 * IFMA_LIMBS; i++)
        t[i] = _mm512_setzero_si512();
    IV(columns)(t, a, b);
    IV(redc)(r, t);
}

/* r = a b + c d, one reduction for both */
IFMA_INLINE void IV(mul2)(IVEC *r, const IVEC *a, const IVEC *b, const IVEC *c, const IVEC *d)
{
    __m512i t[2 * IFMA_LIMBS + 1];
    IFMA_UNROLL
    for (int i = 0; i <= 2 * IFMA_LIMBS; i++)
        t[i] = _mm512_setzero_si512();
    IV(columns)(t, a, b);
    IV(columns)(t, c, d);
    IV(redc)(r, t);
}

IFMA_INLINE void IV(add)(IVEC *r, const IVEC *a, const IVEC *b)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
}

IFMA_INLINE void IV(sub)(IVEC *r, const IVEC *a, const IVEC *b)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = _mm512_sub_epi64(a->l[i], b->l[i]);
}

/* r = a + k, k one of the multiples in the constants */
IFMA_INLINE void IV(add_const)(IVEC *r, const IVEC *a, const uint64_t *k)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = _mm512_add_epi64(a->l[i], IV(constant)(k[i]));
}

/* r = k - a in the lanes of `lanes`, a elsewhere */
IFMA_INLINE void IV(negate_lanes)(IVEC *r, const IVEC *a, const uint64_t *k, __mmask8 lanes)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = _mm512_mask_sub_epi64(a->l[i], lanes, IV(constant)(k[i]), a->l[i]);
}

IFMA_INLINE void IV(blend)(IVEC *r, __mmask8 take_b, const IVEC *a, const IVEC *b)
{
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        r->l[i] = _mm512_mask_mov_epi64(a->l[i], take_b, b->l[i]);
}

/* tight a -> a - k where a >= k (tight) */
IFMA_INLINE void IV(drop)(IVEC *r, const IVEC *a, const uint64_t *k)
{
    IVEC t;
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++)
        t.l[i] = _mm512_sub_epi64(a->l[i], IV(constant)(k[i]));
    IV(tight)(&t, &t);
    __mmask8 less = _mm512_movepi64_mask(t.l[IFMA_LIMBS - 1]);
    IV(blend)(r, less, &t, a);
}

/* loose, 0 <= a < 2^(52 limbs) -> tight, below 2p */
IFMA_INLINE void IV(weak)(IVEC *r, const IVEC *a)
{
    IVEC t;
    IV(tight)(&t, a);
    __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), t.l[IFMA_LIMBS - 1], IV(constant)(IC.recip));
    q = _mm512_srli_epi64(q, IC.shift);
    IFMA_UNROLL
    for (int i = 0; i < IFMA_LIMBS; i++) {
        t.l[i] = _mm512_madd52lo_epu64(t.l[i], q, IV(constant)(IC.wrap[i]));
        if (i > 0)
            t.l[i] = _mm512_madd52hi_epu64(t.l[i], q, IV(constant)(IC.wrap[i - 1]));
    }
    IV(tight)(r, &t);
    r->l[IFMA_LIMBS - 1] = _mm512_and_si512(r->l[IFMA_LIMBS - 1], IFMA_MASK);
}

/* tight, below 2p -> below p */
IFMA_INLINE void IV(canonical)(IVEC *r, const IVEC *a)
{
    IV(drop)(r, a, IC.p);
}
