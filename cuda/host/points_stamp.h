/* Bulk work on the affine points of one group, in scalar code.
 *
 *   #define PTS       bn254_g1      a group stamped before by math/group_stamp.h
 *   #define PTS_FIELD bn254_fq      its coordinates' field, and their type
 *   #define PTS_COORD struct fe4
 *   #define PTS_P     bn254_fq_info.p     the prime
 *   #define PTS_LIMBS 4                   and its limbs
 *   #include "cuda/host/points_stamp.h"     (undefines them)
 *
 * Needs PTS##_b, the curve's b in packed form.
 *
 * Sums are affine: many independent pairs share one inversion (P. Montgomery's trick), so one sum costs 5 products and
 * a square, against 8 and 2 for XYZZ. */
#define PTS_CAT_(a, b) a##_##b
#define PTS_CAT(a, b)  PTS_CAT_(a, b)
#define P(name)        PTS_CAT(PTS, name)
#define C(name)        PTS_CAT(PTS_FIELD, name)
#define AFFINE         struct PTS_CAT(PTS, affine)
#define XYZZ           struct PTS_CAT(PTS, xyzz)

enum { P(batch) = 1024 };

struct P(pair) {
    PTS_COORD den, prefix;
    enum { P(PAIR_ADD), P(PAIR_DOUBLE), P(PAIR_FIRST), P(PAIR_SECOND), P(PAIR_ZERO) } kind;
};

static inline void P(take)(AFFINE *r, point_ref a)
{
    memcpy(r, point_ref_at(a), sizeof *r);
    if (a & POINT_REF_NEGATIVE)
        C(neg)(&r->y, &r->y);
}

static void P(resolve)(void *out, point_ref a)
{
    AFFINE t;
    P(take)(&t, a);
    memcpy(out, &t, sizeof t);
}

/* What to do with a pair, and the denominator of its slope (left alone where there is none). */
static inline void P(pair_look)(struct P(pair) * p, const AFFINE *a, const AFFINE *b)
{
    C(sub)(&p->den, &b->x, &a->x);
    p->kind = P(PAIR_ADD);
    if (__builtin_expect(P(affine_is_infinity)(b), 0))
        p->kind = P(PAIR_FIRST);
    else if (__builtin_expect(P(affine_is_infinity)(a), 0))
        p->kind = P(PAIR_SECOND);
    else if (__builtin_expect(C(is_zero)(&p->den), 0)) {
        p->kind = C(eq)(&a->y, &b->y) && !C(is_zero)(&a->y) ? P(PAIR_DOUBLE) : P(PAIR_ZERO);
        C(dbl)(&p->den, &a->y);
    }
}

static inline void P(pair_sum)(AFFINE *r, const AFFINE *a, const AFFINE *b, const PTS_COORD *den_inv, bool twice)
{
    PTS_COORD slope, t;
    if (twice) {
        C(sqr)(&t, &a->x);
        C(dbl)(&slope, &t);
        C(add)(&slope, &slope, &t);
    } else {
        C(sub)(&slope, &b->y, &a->y);
    }
    C(mul)(&slope, &slope, den_inv);
    C(sqr)(&t, &slope);
    C(sub)(&t, &t, &a->x);
    C(sub)(&r->x, &t, &b->x);
    C(sub)(&t, &a->x, &r->x);
    C(mul)(&t, &t, &slope);
    C(sub)(&r->y, &t, &a->y);
}

static void P(add_batch)(unsigned char *out, const point_ref *a, const point_ref *b, size_t n, struct P(pair) * pair)
{
    enum { AHEAD = 8 };
    PTS_COORD acc, t;
    C(one)(&acc);
    for (size_t i = 0; i < n; i++) {
        AFFINE pa, pb;
        if (i + AHEAD < n) {
            __builtin_prefetch(point_ref_at(a[i + AHEAD]));
            __builtin_prefetch(point_ref_at(b[i + AHEAD]));
        }
        P(take)(&pa, a[i]);
        P(take)(&pb, b[i]);
        P(pair_look)(&pair[i], &pa, &pb);
        pair[i].prefix = acc;
        if (pair[i].kind <= P(PAIR_DOUBLE))
            C(mul)(&acc, &acc, &pair[i].den);
    }
    C(inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        AFFINE pa, pb, sum;
        P(take)(&pa, a[i]);
        P(take)(&pb, b[i]);
        if (pair[i].kind <= P(PAIR_DOUBLE)) {
            C(mul)(&t, &acc, &pair[i].prefix);
            C(mul)(&acc, &acc, &pair[i].den);
            P(pair_sum)(&sum, &pa, &pb, &t, pair[i].kind == P(PAIR_DOUBLE));
        } else if (pair[i].kind == P(PAIR_ZERO)) {
            memset(&sum, 0, sizeof sum);
        } else {
            sum = pair[i].kind == P(PAIR_FIRST) ? pa : pb;
        }
        memcpy(out + i * sizeof sum, &sum, sizeof sum);
    }
}

static void P(add_pairs)(void *out, const point_ref *a, const point_ref *b, size_t n, void *scratch)
{
    for (size_t at = 0; at < n; at += P(batch)) {
        size_t m = n - at < P(batch) ? n - at : P(batch);
        P(add_batch)((unsigned char *)out + at * sizeof(AFFINE), a + at, b + at, m, scratch);
    }
}

static void P(weighted_sum)(void *out, const void *points, size_t n)
{
    XYZZ run, sum;
    AFFINE t;
    P(set_infinity)(&run);
    P(set_infinity)(&sum);
    for (size_t i = n; i-- > 0;) {
        memcpy(&t, (const unsigned char *)points + i * sizeof t, sizeof t);
        P(madd)(&run, &run, &t);
        P(add)(&sum, &sum, &run);
    }
    P(to_affine)(&t, &sum);
    memcpy(out, &t, sizeof t);
}

static void P(horner)(void *out, const void *points, size_t n, unsigned bits)
{
    XYZZ acc;
    AFFINE t;
    P(set_infinity)(&acc);
    for (size_t i = n; i-- > 0;) {
        for (unsigned j = 0; j < bits; j++)
            P(dbl)(&acc, &acc);
        memcpy(&t, (const unsigned char *)points + i * sizeof t, sizeof t);
        P(madd)(&acc, &acc, &t);
    }
    P(to_affine)(&t, &acc);
    memcpy(out, &t, sizeof t);
}

static void P(finite)(uint64_t *bits, const void *points, size_t n)
{
    const unsigned char *at = points;
    for (size_t i = 0; i < n; i++, at += sizeof(AFFINE)) {
        uint64_t any = 0, w;
        for (size_t j = 0; j < sizeof(AFFINE) && !any; j += sizeof w) {
            memcpy(&w, at + j, sizeof w);
            any |= w;
        }
        if (i % 64 == 0)
            bits[i / 64] = 0;
        bits[i / 64] |= (uint64_t)(any != 0) << (i % 64);
    }
}

static enum point_fault P(on_curve)(const void *packed)
{
    AFFINE a;
    uint64_t word[sizeof a / sizeof(uint64_t)], t[PTS_LIMBS];
    memcpy(&a, packed, sizeof a);
    memcpy(word, packed, sizeof word);
    for (size_t i = 0; i < sizeof a / sizeof(uint64_t); i += PTS_LIMBS) {
        if (limbs_sub(t, word + i, PTS_P, PTS_LIMBS) == 0)
            return POINT_NOT_CANONICAL;
    }
    if (P(affine_is_infinity)(&a))
        return POINT_OK;
    PTS_COORD left, right, b;
    memcpy(&b, P(b), sizeof b);
    C(sqr)(&left, &a.y);
    C(sqr)(&right, &a.x);
    C(mul)(&right, &right, &a.x);
    C(add)(&right, &right, &b);
    return C(eq)(&left, &right) ? POINT_OK : POINT_NOT_ON_CURVE;
}

#undef P
#undef C
#undef AFFINE
#undef XYZZ
#undef PTS_CAT
#undef PTS_CAT_
#undef PTS
#undef PTS_FIELD
#undef PTS_COORD
#undef PTS_P
#undef PTS_LIMBS
