/* One prime field, stamped by textual inclusion: every function is static inline, so that the code around it (NTT, MSM)
 * is compiled for exactly this field and instruction set.
 *
 *   #define FIELD       bn254_fq        prefix of the functions; FIELD##_const holds the constants
 *   #define FIELD_TYPE  struct fe4      element type with an array l[FIELD_LIMBS]
 *   #define FIELD_LIMBS 4               4 or 6
 *   #define FIELD_SPARE 2               bits of the top limb that the modulus leaves free, at most 2 count; may be left
 *                                       out (1: sums of two elements fit; 2: squaring has its own code, and sums of two
 *                                       wide products may be reduced)
 *   #include "cuda/math/field_stamp.h"  (undefines the four)
 *
 * ISA_ADX defined by the including unit: mulx/adcx/adox assembly; otherwise portable C.
 * All results are fully reduced; outputs may alias inputs, except wide ones. Both moduli leave the top bit of the top
 * limb free, so the interleaved multiplication needs no limb above the top one (C. K. Koc, T. Acar, B. Kaliski,
 * "Analyzing and comparing Montgomery multiplication algorithms", 1996: CIOS). */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cuda/math/fe.h"
#include "cuda/math/field_const.h"
#include "cuda/math/inverse.h"
#include "cuda/math/limbs.h"
#ifdef ISA_ADX
#include "cuda/math/limbs_adx.h"
#endif

#define FIELD_CAT_(a, b) a##_##b
#define FIELD_CAT(a, b)  FIELD_CAT_(a, b)
#define F(name)          FIELD_CAT(FIELD, name)
#define FK               FIELD_CAT(FIELD, const)
#define FIELD_INLINE     __attribute__((unused)) static inline
#ifndef FIELD_SPARE
#define FIELD_SPARE 1
#endif

FIELD_INLINE void F(zero)(FIELD_TYPE *r)
{
    memset(r, 0, sizeof *r);
}

FIELD_INLINE void F(one)(FIELD_TYPE *r)
{
    memcpy(r->l, FK.one, sizeof r->l);
}

FIELD_INLINE bool F(is_zero)(const FIELD_TYPE *a)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->l[i];
    return any == 0;
}

FIELD_INLINE bool F(eq)(const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->l[i] ^ b->l[i];
    return any == 0;
}

/* r = a - p if a >= p, else a; branch-free */
FIELD_INLINE void F(reduce_once)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    limbs_reduce_c(r->l, a->l, FK.p, FIELD_LIMBS);
}

FIELD_INLINE void F(add)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_add4_adx(r->l, a->l, b->l, FK.p);
    else
        limbs_add6_adx(r->l, a->l, b->l, FK.p);
#else
    FIELD_TYPE t;
    limbs_add(t.l, a->l, b->l, FIELD_LIMBS);
    F(reduce_once)(r, &t);
#endif
}

FIELD_INLINE void F(dbl)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    F(add)(r, a, a);
}

FIELD_INLINE void F(sub)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_sub4_adx(r->l, a->l, b->l, FK.p);
    else
        limbs_sub6_adx(r->l, a->l, b->l, FK.p);
#else
    FIELD_TYPE t;
    uint64_t borrow = limbs_sub(t.l, a->l, b->l, FIELD_LIMBS);
    limbs_add_masked(r->l, t.l, FK.p, 0 - borrow, FIELD_LIMBS);
#endif
}

FIELD_INLINE void F(neg)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    static const FIELD_TYPE zero = {{0}};
    F(sub)(r, &zero, a);
}

/* Montgomery product a * b / R. */
FIELD_INLINE void F(mul)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_mont4_adx(r->l, a->l, b->l, FK.p, &FK.inv);
    else
        limbs_mont6_adx(r->l, a->l, b->l, FK.p, &FK.inv);
#else
    limbs_mont_c(r->l, a->l, b->l, FK.p, FK.inv, FIELD_LIMBS);
#endif
}

FIELD_INLINE void F(sqr)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
#ifdef ISA_ADX
    if (FIELD_SPARE < 2)
        F(mul)(r, a, a);
    else if (FIELD_LIMBS == 4)
        limbs_sqr4_adx(r->l, a->l, FK.p, &FK.inv);
    else
        limbs_sqr6_adx(r->l, a->l, FK.p, &FK.inv);
#else
    F(mul)(r, a, a);
#endif
}

/* The product unreduced, 2 FIELD_LIMBS limbs, w apart from a and b. */
FIELD_INLINE void F(mul_wide)(uint64_t w[2 * FIELD_LIMBS], const FIELD_TYPE *a, const FIELD_TYPE *b)
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_mul_wide4_adx(w, a->l, b->l);
    else
        limbs_mul_wide6_adx(w, a->l, b->l);
#else
    limbs_mul_wide_c(w, a->l, b->l, FIELD_LIMBS);
#endif
}

/* r = w / R, reduced, for w < p R. */
FIELD_INLINE void F(redc)(FIELD_TYPE *r, const uint64_t w[2 * FIELD_LIMBS])
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_redc4_adx(r->l, w, FK.p, &FK.inv);
    else
        limbs_redc6_adx(r->l, w, FK.p, &FK.inv);
#else
    limbs_redc_c(r->l, w, FK.p, FK.inv, FIELD_LIMBS);
#endif
}

/* r = a + b unreduced, below 2p; only as an operand of one product with a reduced factor, or of mul_wide. */
FIELD_INLINE void F(sum)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_sum4_adx(r->l, a->l, b->l);
    else
        limbs_sum6_adx(r->l, a->l, b->l);
#else
    limbs_add(r->l, a->l, b->l, FIELD_LIMBS);
#endif
}

/* Wide r = a - b, a >= b. */
FIELD_INLINE void F(sub_wide)(uint64_t r[2 * FIELD_LIMBS], const uint64_t a[2 * FIELD_LIMBS],
                              const uint64_t b[2 * FIELD_LIMBS])
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_sub_wide4_adx(r, a, b);
    else
        limbs_sub_wide6_adx(r, a, b);
#else
    limbs_sub(r, a, b, 2 * FIELD_LIMBS);
#endif
}

/* Wide r = a - b mod p R, a and b below p R. */
FIELD_INLINE void F(sub_mod_wide)(uint64_t r[2 * FIELD_LIMBS], const uint64_t a[2 * FIELD_LIMBS],
                                  const uint64_t b[2 * FIELD_LIMBS])
{
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_sub_mod_wide4_adx(r, a, b, FK.p);
    else
        limbs_sub_mod_wide6_adx(r, a, b, FK.p);
#else
    uint64_t borrow = limbs_sub(r, a, b, 2 * FIELD_LIMBS);
    limbs_add_masked(r + FIELD_LIMBS, r + FIELD_LIMBS, FK.p, 0 - borrow, FIELD_LIMBS);
#endif
}

/* Plain number below p <-> Montgomery form. */
FIELD_INLINE void F(from_plain)(FIELD_TYPE *r, const uint64_t plain[FIELD_LIMBS])
{
    FIELD_TYPE a, r2;
    memcpy(a.l, plain, sizeof a.l);
    memcpy(r2.l, FK.r2, sizeof r2.l);
    F(mul)(r, &a, &r2);
}

FIELD_INLINE void F(to_plain)(uint64_t plain[FIELD_LIMBS], const FIELD_TYPE *a)
{
    FIELD_TYPE one = {{1}}, t;
    F(mul)(&t, a, &one);
    memcpy(plain, t.l, sizeof t.l);
}

/* r = a^e, e of `limbs` limbs; variable time (public exponents only). */
FIELD_INLINE void F(pow)(FIELD_TYPE *r, const FIELD_TYPE *a, const uint64_t *e, int limbs)
{
    FIELD_TYPE base = *a, acc;
    F(one)(&acc);
    for (int i = limbs * 64 - 1; i >= 0; i--) {
        F(sqr)(&acc, &acc);
        if (e[i / 64] >> (i % 64) & 1)
            F(mul)(&acc, &acc, &base);
    }
    *r = acc;
}

/* r = 1/a; 1/0 = 0. Variable time: never on secrets that a neighbour may time. The inverse of x = a R is brought back
 * to Montgomery form by two factors R^2. */
FIELD_INLINE void F(inv)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    FIELD_TYPE t, r2;
    inverse_mod(t.l, a->l, FK.p, FK.inv, FIELD_LIMBS);
    memcpy(r2.l, FK.r2, sizeof r2.l);
    F(mul)(&t, &t, &r2);
    F(mul)(r, &t, &r2);
}

/* a[i] = 1/a[i] in place by one inversion and 3 n products (P. Montgomery's trick); zeros stay zero. scratch: n
 * elements. */
FIELD_INLINE void F(batch_inv)(FIELD_TYPE *a, FIELD_TYPE *scratch, size_t n)
{
    FIELD_TYPE acc, t;
    F(one)(&acc);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!F(is_zero)(&a[i]))
            F(mul)(&acc, &acc, &a[i]);
    }
    F(inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (F(is_zero)(&a[i]))
            continue;
        F(mul)(&t, &acc, &scratch[i]);
        F(mul)(&acc, &acc, &a[i]);
        a[i] = t;
    }
}

#undef F
#undef FK
#undef FIELD_CAT
#undef FIELD_CAT_
#undef FIELD_INLINE
#undef FIELD
#undef FIELD_TYPE
#undef FIELD_LIMBS
#undef FIELD_SPARE
