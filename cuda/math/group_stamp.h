/* One group y^2 = x^3 + b, stamped by textual inclusion over a stamped field (Fq or Fq2). b is not needed: no formula
 * here uses it.
 *
 *   #define GROUP       bn254_g1        prefix of types and functions
 *   #define GROUP_FIELD bn254_fq        prefix of a field or Fq2 stamped before
 *   #define GROUP_COORD struct fe4      its element type
 *   #include "cuda/math/group_stamp.h"  (undefines the three)
 *
 * struct GROUP##_affine {x, y}: (0, 0) is the point at infinity (b != 0, so it is not on the curve).
 * struct GROUP##_xyzz {x, y, zz, zzz}: the point (x/zz, y/zzz) with zz^3 = zzz^2; zz = 0 is infinity. XYZZ adds an
 * affine point with 8 products and 2 squares and doubles with 6 and 3 (Explicit-Formulas Database, "shortw/xyzz":
 * madd-2008-s, add-2008-s, dbl-2008-s-1, M. Scott). All functions are complete: equal, opposite and infinite operands
 * give the right result. Outputs may alias inputs. Variable time. */
#define GROUP_CAT_(a, b) a##_##b
#define GROUP_CAT(a, b)  GROUP_CAT_(a, b)
#define G(name)          GROUP_CAT(GROUP, name)
#define F(name)          GROUP_CAT(GROUP_FIELD, name)
#define AFFINE           struct GROUP_CAT(GROUP, affine)
#define XYZZ             struct GROUP_CAT(GROUP, xyzz)
#define GROUP_INLINE     __attribute__((unused)) static inline

AFFINE
{
    GROUP_COORD x, y;
};

XYZZ
{
    GROUP_COORD x, y, zz, zzz;
};

GROUP_INLINE bool G(affine_is_infinity)(const AFFINE *a)
{
    return F(is_zero)(&a->x) && F(is_zero)(&a->y);
}

GROUP_INLINE bool G(affine_eq)(const AFFINE *a, const AFFINE *b)
{
    return F(eq)(&a->x, &b->x) && F(eq)(&a->y, &b->y);
}

GROUP_INLINE void G(affine_neg)(AFFINE *r, const AFFINE *a)
{
    r->x = a->x;
    F(neg)(&r->y, &a->y);
}

GROUP_INLINE void G(set_infinity)(XYZZ *r)
{
    memset(r, 0, sizeof *r);
}

GROUP_INLINE bool G(is_infinity)(const XYZZ *a)
{
    return F(is_zero)(&a->zz);
}

/* r = affine a */
GROUP_INLINE void G(set)(XYZZ *r, const AFFINE *a)
{
    if (G(affine_is_infinity)(a)) {
        G(set_infinity)(r);
        return;
    }
    r->x = a->x;
    r->y = a->y;
    F(one)(&r->zz);
    F(one)(&r->zzz);
}

GROUP_INLINE void G(neg)(XYZZ *r, const XYZZ *a)
{
    *r = *a;
    F(neg)(&r->y, &a->y);
}

GROUP_INLINE void G(dbl)(XYZZ *r, const XYZZ *a)
{
    GROUP_COORD u, v, w, s, m, t;
    F(dbl)(&u, &a->y);
    F(sqr)(&v, &u);
    F(mul)(&w, &u, &v);
    F(mul)(&s, &a->x, &v);
    F(sqr)(&m, &a->x);
    F(dbl)(&t, &m);
    F(add)(&m, &m, &t);
    F(mul)(&t, &w, &a->y);
    F(mul)(&r->zz, &v, &a->zz);
    F(mul)(&r->zzz, &w, &a->zzz);
    F(sqr)(&r->x, &m);
    F(sub)(&r->x, &r->x, &s);
    F(sub)(&r->x, &r->x, &s);
    F(sub)(&s, &s, &r->x);
    F(mul)(&r->y, &m, &s);
    F(sub)(&r->y, &r->y, &t);
}

/* The same of an affine point. */
GROUP_INLINE void G(dbl_affine)(XYZZ *r, const AFFINE *a)
{
    XYZZ t;
    G(set)(&t, a);
    G(dbl)(r, &t);
}

/* What add and madd share: (x1, y1) with denominators zz, zzz, and p = x2 - x1, d = y2 - y1 over the same ones. */
GROUP_INLINE void G(add_slope)(XYZZ *r, const GROUP_COORD *x1, const GROUP_COORD *y1, const GROUP_COORD *zz,
                               const GROUP_COORD *zzz, const GROUP_COORD *p, const GROUP_COORD *d)
{
    GROUP_COORD pp, ppp, q, t;
    F(sqr)(&pp, p);
    F(mul)(&ppp, p, &pp);
    F(mul)(&q, x1, &pp);
    F(mul)(&t, y1, &ppp);
    F(mul)(&r->zz, zz, &pp);
    F(mul)(&r->zzz, zzz, &ppp);
    F(sqr)(&r->x, d);
    F(sub)(&r->x, &r->x, &ppp);
    F(sub)(&r->x, &r->x, &q);
    F(sub)(&r->x, &r->x, &q);
    F(sub)(&q, &q, &r->x);
    F(mul)(&r->y, d, &q);
    F(sub)(&r->y, &r->y, &t);
}

/* r = a + affine b */
GROUP_INLINE void G(madd)(XYZZ *r, const XYZZ *a, const AFFINE *b)
{
    GROUP_COORD p, d;
    if (__builtin_expect(G(affine_is_infinity)(b), 0)) {
        *r = *a;
        return;
    }
    if (__builtin_expect(G(is_infinity)(a), 0)) {
        G(set)(r, b);
        return;
    }
    F(mul)(&p, &b->x, &a->zz);
    F(mul)(&d, &b->y, &a->zzz);
    F(sub)(&p, &p, &a->x);
    F(sub)(&d, &d, &a->y);
    if (__builtin_expect(F(is_zero)(&p), 0)) {
        if (F(is_zero)(&d))
            G(dbl_affine)(r, b);
        else
            G(set_infinity)(r);
        return;
    }
    G(add_slope)(r, &a->x, &a->y, &a->zz, &a->zzz, &p, &d);
}

/* r = a - affine b */
GROUP_INLINE void G(msub)(XYZZ *r, const XYZZ *a, const AFFINE *b)
{
    AFFINE t;
    G(affine_neg)(&t, b);
    G(madd)(r, a, &t);
}

GROUP_INLINE void G(add)(XYZZ *r, const XYZZ *a, const XYZZ *b)
{
    GROUP_COORD x1, y1, p, d, zz, zzz;
    if (G(is_infinity)(b)) {
        *r = *a;
        return;
    }
    if (G(is_infinity)(a)) {
        *r = *b;
        return;
    }
    F(mul)(&x1, &a->x, &b->zz);
    F(mul)(&y1, &a->y, &b->zzz);
    F(mul)(&p, &b->x, &a->zz);
    F(mul)(&d, &b->y, &a->zzz);
    F(sub)(&p, &p, &x1);
    F(sub)(&d, &d, &y1);
    if (F(is_zero)(&p)) {
        if (F(is_zero)(&d))
            G(dbl)(r, a);
        else
            G(set_infinity)(r);
        return;
    }
    F(mul)(&zz, &a->zz, &b->zz);
    F(mul)(&zzz, &a->zzz, &b->zzz);
    G(add_slope)(r, &x1, &y1, &zz, &zzz, &p, &d);
}

GROUP_INLINE bool G(eq)(const XYZZ *a, const XYZZ *b)
{
    GROUP_COORD s, t;
    if (G(is_infinity)(a) || G(is_infinity)(b))
        return G(is_infinity)(a) == G(is_infinity)(b);
    F(mul)(&s, &a->x, &b->zz);
    F(mul)(&t, &b->x, &a->zz);
    if (!F(eq)(&s, &t))
        return false;
    F(mul)(&s, &a->y, &b->zzz);
    F(mul)(&t, &b->y, &a->zzz);
    return F(eq)(&s, &t);
}

/* a/zz, a/zzz from i = 1/zzz: 1/zz = (zz/zzz)^2 */
GROUP_INLINE void G(to_affine_by)(AFFINE *r, const XYZZ *a, const GROUP_COORD *i)
{
    GROUP_COORD j;
    F(mul)(&j, &a->zz, i);
    F(sqr)(&j, &j);
    F(mul)(&r->y, &a->y, i);
    F(mul)(&r->x, &a->x, &j);
}

GROUP_INLINE void G(to_affine)(AFFINE *r, const XYZZ *a)
{
    GROUP_COORD i;
    F(inv)(&i, &a->zzz); /* 1/0 = 0 makes infinity (0, 0) */
    G(to_affine_by)(r, a, &i);
}

/* n points with one inversion; scratch: 2 n coordinates. */
GROUP_INLINE void G(to_affine_batch)(AFFINE *r, const XYZZ *a, GROUP_COORD *scratch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = a[i].zzz;
    F(batch_inv)(scratch, scratch + n, n);
    for (size_t i = 0; i < n; i++)
        G(to_affine_by)(&r[i], &a[i], &scratch[i]);
}

/* r = k a, k plain of `limbs` words; windows of four bits. Not for bulk work. */
__attribute__((unused)) static void G(mul)(XYZZ *r, const AFFINE *a, const uint64_t *k, int limbs)
{
    XYZZ table[16], acc;
    G(set_infinity)(&table[0]);
    for (int i = 1; i < 16; i++)
        G(madd)(&table[i], &table[i - 1], a);
    G(set_infinity)(&acc);
    for (int i = limbs * 16 - 1; i >= 0; i--) {
        if (!G(is_infinity)(&acc))
            for (int j = 0; j < 4; j++)
                G(dbl)(&acc, &acc);
        G(add)(&acc, &acc, &table[k[i / 16] >> (i % 16 * 4) & 15]);
    }
    *r = acc;
}

#undef G
#undef F
#undef AFFINE
#undef XYZZ
#undef GROUP_CAT
#undef GROUP_CAT_
#undef GROUP_INLINE
#undef GROUP
#undef GROUP_FIELD
#undef GROUP_COORD
