/* One prime field, stamped by textual inclusion: every function is static inline, so that the code around it (NTT, MSM)
 * is compiled for exactly this field and instruction set.
 *
 *   #define FIELD       bn254_fq        prefix of the functions; FIELD##_info holds the constants
 *   #define FIELD_TYPE  struct fe4      element type with an array l[FIELD_LIMBS]
 *   #define FIELD_LIMBS 4               4 or 6
 *   #include "cuda/math/field_stamp.h"  (undefines the three)
 *
 * ISA_ADX defined by the including unit: multiplication by mulx/adcx/adox assembly; otherwise portable C.
 * All results are fully reduced. Both moduli leave the top bit of the top limb free, so the interleaved multiplication
 * needs no limb above the top one (C. K. Koc, T. Acar, B. Kaliski, "Analyzing and comparing Montgomery multiplication
 * algorithms", 1996: CIOS; the saved carry needs p < 2^(64 n - 1)). */
#include <stdbool.h>
#include <string.h>

#include "cuda/math/fe.h"
#include "cuda/math/limbs.h"

#define FIELD_CAT_(a, b) a##_##b
#define FIELD_CAT(a, b)  FIELD_CAT_(a, b)
#define F(name)          FIELD_CAT(FIELD, name)
#define FI               FIELD_CAT(FIELD, info)

static inline void F(zero)(FIELD_TYPE *r)
{
    memset(r, 0, sizeof *r);
}

static inline void F(one)(FIELD_TYPE *r)
{
    memcpy(r->l, FI.one, sizeof r->l);
}

static inline bool F(is_zero)(const FIELD_TYPE *a)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->l[i];
    return any == 0;
}

static inline bool F(eq)(const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->l[i] ^ b->l[i];
    return any == 0;
}

/* r = a - p if a >= p, else a; branch-free */
static inline void F(reduce_once)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    FIELD_TYPE t;
    uint64_t borrow = limbs_sub(t.l, a->l, FI.p, FIELD_LIMBS);
    limbs_select(r->l, a->l, t.l, borrow, FIELD_LIMBS);
}

static inline void F(add)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    FIELD_TYPE t;
    limbs_add(t.l, a->l, b->l, FIELD_LIMBS);
    F(reduce_once)(r, &t);
}

static inline void F(dbl)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    F(add)(r, a, a);
}

static inline void F(sub)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    FIELD_TYPE t;
    uint64_t borrow = limbs_sub(t.l, a->l, b->l, FIELD_LIMBS);
    limbs_add_masked(r->l, t.l, FI.p, 0 - borrow, FIELD_LIMBS);
}

static inline void F(neg)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    FIELD_TYPE t;
    limbs_sub(t.l, FI.p, a->l, FIELD_LIMBS);
    uint64_t keep = F(is_zero)(a) ? 0 : ~(uint64_t)0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        r->l[i] = t.l[i] & keep;
}

/* Montgomery product a * b / R. */
static inline void F(mul)(FIELD_TYPE *r, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    FIELD_TYPE t;
#ifdef ISA_ADX
    if (FIELD_LIMBS == 4)
        limbs_mont4_adx(t.l, a->l, b->l, FI.p, FI.inv);
    else
        limbs_mont6_adx(t.l, a->l, b->l, FI.p, FI.inv);
#else
    limbs_mont(t.l, a->l, b->l, FI.p, FI.inv, FIELD_LIMBS);
#endif
    F(reduce_once)(r, &t);
}

static inline void F(sqr)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    F(mul)(r, a, a);
}

/* Plain number below p <-> Montgomery form. */
static inline void F(from_plain)(FIELD_TYPE *r, const uint64_t plain[FIELD_LIMBS])
{
    FIELD_TYPE a, r2;
    memcpy(a.l, plain, sizeof a.l);
    memcpy(r2.l, FI.r2, sizeof r2.l);
    F(mul)(r, &a, &r2);
}

static inline void F(to_plain)(uint64_t plain[FIELD_LIMBS], const FIELD_TYPE *a)
{
    FIELD_TYPE one = {{1}}, t;
    F(mul)(&t, a, &one);
    memcpy(plain, t.l, sizeof t.l);
}

/* r = a^e, e of `limbs` limbs; variable time (public exponents only). */
static inline void F(pow)(FIELD_TYPE *r, const FIELD_TYPE *a, const uint64_t *e, int limbs)
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

/* r = 1/a by Fermat; 1/0 = 0. One inversion serves thousands of batch-affine additions, so its speed does not show. */
static inline void F(inv)(FIELD_TYPE *r, const FIELD_TYPE *a)
{
    uint64_t e[FIELD_LIMBS];
    memcpy(e, FI.p, sizeof e);
    e[0] -= 2; /* p is odd and > 2 */
    F(pow)(r, a, e, FIELD_LIMBS);
}

#undef F
#undef FI
#undef FIELD_CAT
#undef FIELD_CAT_
#undef FIELD
#undef FIELD_TYPE
#undef FIELD_LIMBS
