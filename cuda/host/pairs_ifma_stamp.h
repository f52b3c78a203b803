/* Sums of pairs of affine points of one group, eight pairs at a time.
 *
 *   #define PX       bn254_g1           the group, stamped in scalar code before (points_stamp.h)
 *   #define PX_FIELD bn254_fq           its coordinates' scalar field stamp and element type
 *   #define PX_COORD struct fe4
 *   #define PX_Q     bn254_fq_x8_q1     its coordinates on eight lanes (coord_ifma_stamp.h)
 *   #define PX_WORDS 4                  words of a coordinate
 *   #define PX_CONST ifma_bn254_fq
 *   #define PX_BATCH 2048               pairs to an inversion
 *   #define PX_E     2                  (52 limbs - 64 words) / 2
 *   #define PX_UNIT  bn254_unit         2^(64 words + 3 E) mod p in words
 *   #include "cuda/host/pairs_ifma_stamp.h"     (undefines them)
 *
 * Factors. Write f for the exponent of a value x 2^f. The points have f = R = 64 words, and the vector product takes
 * f, g to f + g - R', R' = R + 2 E. No operand is converted:
 *     d = x2 - x1                     R
 *     1/d                             R + 3 E      by the choice of the unit that the batch inversion starts from
 *     s = (y2 - y1) (1/d)             R + E
 *     s^2 = x3 + x1 + x2              R
 *     s ((x1 - x3) 2^E) = y3 + y1     R
 * and for a doubling x1 (x1 2^(2 E)) is x1^2 with R. The products of the batch inversion drift by 2 E each, but every
 * inverse drifts back by the same amount. */
#define PX_CAT_(a, b) a##_##b
#define PX_CAT(a, b)  PX_CAT_(a, b)
#define X(name)       PX_CAT(PX, PX_CAT(x8, name))
#define Q(name)       PX_CAT(PX_Q, name)
#define QVEC          struct PX_CAT(PX_Q, vec)
#define C(name)       PX_CAT(PX_FIELD, name)
#define PX_BYTES      (2 * PX_WORDS * sizeof(uint64_t))

struct X(eight) {
    QVEC den, prefix;
    __mmask8 twice, first, second, zero; /* lanes that are no plain addition */
};

struct X(refs) {
    const void *row[8];
    __mmask8 minus;
};

IFMA_INLINE void X(refs_take)(struct X(refs) * r, const point_ref *a, size_t n)
{
    r->minus = 0;
    for (size_t i = 0; i < 8; i++) {
        point_ref ref = a[i < n ? i : 0]; /* missing lanes repeat the first pair */
        r->row[i] = point_ref_at(ref);
        r->minus |= (__mmask8)((ref >> 63) << i);
    }
}

IFMA_INLINE void X(load)(QVEC *r, __m512i *w, const struct X(refs) * p, size_t coordinate)
{
    const void *row[8];
    for (int i = 0; i < 8; i++)
        row[i] = (const uint64_t *)p->row[i] + coordinate * PX_WORDS;
    ifma_load(w, row, PX_WORDS);
    Q(split)(r, w);
}

IFMA_INLINE __mmask8 X(zero_lanes)(const __m512i *w)
{
    __m512i any = w[0];
    IFMA_UNROLL
    for (int i = 1; i < PX_WORDS; i++)
        any = _mm512_or_si512(any, w[i]);
    return _mm512_testn_epi64_mask(any, any);
}

/* Rare: some lane has an infinite point or equal x. */
static __attribute__((noinline)) void X(look_closer)(struct X(eight) * e, const struct X(refs) * a,
                                                     const struct X(refs) * b, __mmask8 zero_a, __mmask8 zero_b,
                                                     __mmask8 equal)
{
    QVEC ya, yb, twice, one;
    __m512i w[PX_WORDS];
    X(load)(&ya, w, a, 1);
    __mmask8 none_a = zero_a & X(zero_lanes)(w), still = X(zero_lanes)(w);
    X(load)(&yb, w, b, 1);
    __mmask8 none_b = zero_b & X(zero_lanes)(w);
    Q(negate)(&ya, &ya, a->minus);
    Q(negate)(&yb, &yb, b->minus);
    __mmask8 same = Q(same)(&ya, &yb);
    e->first = none_b;
    e->second = (__mmask8)(none_a & ~none_b);
    equal = (__mmask8)(equal & ~(none_a | none_b));
    e->twice = (__mmask8)(equal & same & ~still);
    e->zero = (__mmask8)(equal & ~e->twice);
    Q(tight)(&ya, &ya);
    Q(shift_up)(&twice, &ya, 1);
    memset(&one, 0, sizeof one);
    one.c[0].l[0] = _mm512_set1_epi64(1);
    Q(blend)(&e->den, e->twice, &e->den, &twice);
    Q(blend)(&e->den, e->first | e->second | e->zero, &e->den, &one);
}

IFMA_INLINE void X(look)(struct X(eight) * e, const struct X(refs) * a, const struct X(refs) * b)
{
    QVEC xa, xb;
    __m512i wa[PX_WORDS], wb[PX_WORDS];
    X(load)(&xa, wa, a, 0);
    X(load)(&xb, wb, b, 0);
    Q(sub)(&e->den, &xb, &xa, PX_CONST.p);
    Q(tight)(&e->den, &e->den);
    e->twice = e->first = e->second = e->zero = 0;
    __mmask8 zero_a = X(zero_lanes)(wa), zero_b = X(zero_lanes)(wb);
    IFMA_UNROLL
    for (int i = 0; i < PX_WORDS; i++)
        wa[i] = _mm512_xor_si512(wa[i], wb[i]);
    __mmask8 equal = X(zero_lanes)(wa);
    if (__builtin_expect(zero_a | zero_b | equal, 0))
        X(look_closer)(e, a, b, zero_a, zero_b, equal);
}

/* acc -> unit / acc in every lane: to scalar code and back */
static __attribute__((noinline)) void X(invert)(QVEC *acc)
{
    PX_COORD lane[8], scratch[8], unit;
    __m512i w[PX_WORDS];
    void *row[8];
    const void *from[8];
    memset(&unit, 0, sizeof unit);
    memcpy(&unit, PX_UNIT, sizeof PX_UNIT);
    for (int i = 0; i < 8; i++)
        from[i] = row[i] = &lane[i];
    Q(canonical)(acc, acc);
    Q(join)(w, acc);
    ifma_store(row, w, PX_WORDS);
    C(batch_inv)(lane, scratch, 8);
    for (int i = 0; i < 8; i++)
        C(mul)(&lane[i], &lane[i], &unit);
    ifma_load(w, from, PX_WORDS);
    Q(split)(acc, w);
}

IFMA_INLINE void X(sum)(__m512i *out, const struct X(eight) * e, const struct X(refs) * a, const struct X(refs) * b,
                        const QVEC *den_inv)
{
    QVEC xa, xb, ya, yb, slope, x, y, t;
    __m512i w[PX_WORDS];
    X(load)(&xa, w, a, 0);
    X(load)(&xb, w, b, 0);
    X(load)(&ya, w, a, 1);
    X(load)(&yb, w, b, 1);
    Q(negate)(&ya, &ya, a->minus);
    Q(negate)(&yb, &yb, b->minus);
    Q(sub)(&slope, &yb, &ya, PX_CONST.p);
    if (__builtin_expect(e->twice, 0)) {
        Q(shift_up)(&t, &xa, 2 * PX_E);
        Q(mul)(&t, &xa, &t);
        Q(triple)(&t, &t);
        Q(blend)(&slope, e->twice, &slope, &t);
    }
    Q(tight)(&slope, &slope);
    Q(mul)(&slope, den_inv, &slope);
    Q(tight)(&slope, &slope);
    Q(sqr)(&x, &slope);
    Q(sub)(&x, &x, &xa, PX_CONST.p2);
    for (size_t i = 0; i < sizeof x.c / sizeof x.c[0]; i++) {
        IFMA_UNROLL
        for (size_t j = 0; j < sizeof x.c[0].l / sizeof x.c[0].l[0]; j++)
            x.c[i].l[j] = _mm512_sub_epi64(x.c[i].l[j], xb.c[i].l[j]);
    }
    Q(canonical)(&x, &x);
    Q(sub)(&t, &xa, &x, PX_CONST.p);
    Q(tight)(&t, &t);
    Q(shift_up)(&t, &t, PX_E);
    Q(mul)(&y, &slope, &t);
    Q(sub)(&y, &y, &ya, PX_CONST.p);
    Q(canonical)(&y, &y);
    Q(join)(out, &x);
    Q(join)(out + PX_WORDS, &y);
}

static __attribute__((noinline)) void X(patch)(unsigned char *out, const struct X(eight) * e, const point_ref *a,
                                               const point_ref *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *at = out + i * PX_BYTES;
        if (e->zero >> i & 1)
            memset(at, 0, PX_BYTES);
        else if (e->first >> i & 1)
            PX_CAT(PX, resolve)(at, a[i]);
        else if (e->second >> i & 1)
            PX_CAT(PX, resolve)(at, b[i]);
    }
}

IFMA_INLINE void X(prefetch)(const point_ref *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *p = point_ref_at(a[i]);
        for (size_t at = 0; at < PX_BYTES; at += 64)
            __builtin_prefetch(p + at);
        __builtin_prefetch(p + PX_BYTES - 1);
    }
}

static void X(add_batch)(unsigned char *out, const point_ref *a, const point_ref *b, size_t n, struct X(eight) * eight)
{
    enum { AHEAD = 16 };
    QVEC acc, t;
    struct X(refs) ra, rb;
    memset(&acc, 0, sizeof acc);
    acc.c[0].l[0] = _mm512_set1_epi64(1);
    for (size_t i = 0; i < n; i += 8) {
        struct X(eight) *e = &eight[i / 8];
        if (i + AHEAD + 8 <= n) {
            X(prefetch)(a + i + AHEAD, 8);
            X(prefetch)(b + i + AHEAD, 8);
        }
        X(refs_take)(&ra, a + i, n - i);
        X(refs_take)(&rb, b + i, n - i);
        X(look)(e, &ra, &rb);
        e->prefix = acc;
        Q(mul)(&acc, &acc, &e->den);
        Q(tight)(&acc, &acc);
    }
    X(invert)(&acc);
    unsigned char spare[8][PX_BYTES];
    for (size_t i = (n - 1) / 8 * 8;; i -= 8) {
        const struct X(eight) *e = &eight[i / 8];
        __m512i w[2 * PX_WORDS];
        void *row[8];
        X(refs_take)(&ra, a + i, n - i);
        X(refs_take)(&rb, b + i, n - i);
        Q(mul)(&t, &acc, &e->prefix);
        Q(tight)(&t, &t);
        Q(mul)(&acc, &acc, &e->den);
        Q(tight)(&acc, &acc);
        X(sum)(w, e, &ra, &rb, &t);
        for (size_t j = 0; j < 8; j++)
            row[j] = i + j < n ? out + (i + j) * PX_BYTES : spare[j];
        ifma_store(row, w, 2 * PX_WORDS);
        if (__builtin_expect(e->first | e->second | e->zero, 0))
            X(patch)(out + i * PX_BYTES, e, a + i, b + i, n - i < 8 ? n - i : 8);
        if (i == 0)
            break;
    }
}

static void X(add_pairs)(void *out, const point_ref *a, const point_ref *b, size_t n, void *scratch)
{
    for (size_t at = 0; at < n; at += PX_BATCH) {
        size_t m = n - at < PX_BATCH ? n - at : PX_BATCH;
        if (m < 8)
            PX_CAT(PX, add_pairs)((unsigned char *)out + at * PX_BYTES, a + at, b + at, m, scratch);
        else
            X(add_batch)((unsigned char *)out + at * PX_BYTES, a + at, b + at, m, scratch);
    }
}

enum { X(batch) = PX_BATCH, X(scratch) = sizeof(struct X(eight)) * (PX_BATCH / 8) };

#undef X
#undef Q
#undef QVEC
#undef C
#undef PX_CAT
#undef PX_CAT_
#undef PX_BYTES
#undef PX
#undef PX_FIELD
#undef PX_COORD
#undef PX_Q
#undef PX_WORDS
#undef PX_CONST
#undef PX_BATCH
#undef PX_E
#undef PX_UNIT
