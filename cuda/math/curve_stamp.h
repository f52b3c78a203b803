/* The functions behind struct curve for one curve and instruction set, stamped by textual inclusion. Before it:
 *
 *   fields CURVE##_fq, CURVE##_fr, Fq2 CURVE##_fq2, groups CURVE##_g1, CURVE##_g2, constants CURVE##_b, _b2, _root,
 *   bool CURVE##_g1_in_subgroup(affine), CURVE##_g2_in_subgroup(affine)
 *   #define CURVE       bn254
 *   #define CURVE_COORD struct fe4, CURVE_COORD2 struct fe4x2
 *   #define CURVE_LIMBS 4
 *   #define CURVE_TWO_ADICITY 28
 */
#define CURVE_CAT_(a, b) a##_##b
#define CURVE_CAT(a, b)  CURVE_CAT_(a, b)
#define C(name)          CURVE_CAT(CURVE, name)
#define AFFINE1          struct C(g1_affine)
#define AFFINE2          struct C(g2_affine)
#define XYZZ1            struct C(g1_xyzz)
#define XYZZ2            struct C(g2_xyzz)

static void C(do_fr_add)(struct fr *r, const struct fr *a, const struct fr *b)
{
    C(fr_add)(r, a, b);
}

static void C(do_fr_sub)(struct fr *r, const struct fr *a, const struct fr *b)
{
    C(fr_sub)(r, a, b);
}

static void C(do_fr_mul)(struct fr *r, const struct fr *a, const struct fr *b)
{
    C(fr_mul)(r, a, b);
}

static void C(do_fr_inv)(struct fr *r, const struct fr *a)
{
    C(fr_inv)(r, a);
}

/* In portions, so that the scratch fits a stack and the caches: an inversion per 256 adds 2 ns to each element. */
static void C(do_fr_batch_inv)(struct fr *a, size_t n)
{
    enum { PORTION = 256 };
    struct fr scratch[PORTION];
    for (size_t i = 0; i < n; i += PORTION)
        C(fr_batch_inv)(a + i, scratch, n - i < PORTION ? n - i : PORTION);
}

static void C(do_fr_pow)(struct fr *r, const struct fr *a, uint64_t e)
{
    C(fr_pow)(r, a, &e, 1);
}

static void C(do_fr_from_scalar)(struct fr *r, const struct scalar *s)
{
    C(fr_from_plain)(r, s->l);
}

static void C(do_fr_to_scalar)(struct scalar *s, const struct fr *a)
{
    C(fr_to_plain)(s->l, a);
}

static void C(do_fr_from_u64)(struct fr *r, uint64_t x)
{
    uint64_t plain[4] = {x};
    C(fr_from_plain)(r, plain);
}

static void C(do_fr_root)(struct fr *r, unsigned k)
{
    struct fr t = C(root);
    for (unsigned i = k; i < CURVE_TWO_ADICITY; i++)
        C(fr_sqr)(&t, &t);
    *r = t;
}

static void C(do_fq_from_plain)(void *mont, const void *plain)
{
    uint64_t w[CURVE_LIMBS];
    CURVE_COORD t;
    memcpy(w, plain, sizeof w);
    C(fq_from_plain)(&t, w);
    memcpy(mont, &t, sizeof t);
}

static void C(do_fq_to_plain)(void *plain, const void *mont)
{
    uint64_t w[CURVE_LIMBS];
    CURVE_COORD t;
    memcpy(&t, mont, sizeof t);
    C(fq_to_plain)(w, &t);
    memcpy(plain, w, sizeof w);
}

/* Affine points of either group in and out of struct point; what is behind the coordinates is zero. */
static void C(get1)(AFFINE1 *a, const struct point *p)
{
    memcpy(a, p->w, sizeof *a);
}

static void C(get2)(AFFINE2 *a, const struct point *p)
{
    memcpy(a, p->w, sizeof *a);
}

static void C(put1)(struct point *p, const AFFINE1 *a)
{
    memset(p, 0, sizeof *p);
    memcpy(p->w, a, sizeof *a);
}

static void C(put2)(struct point *p, const AFFINE2 *a)
{
    memset(p, 0, sizeof *p);
    memcpy(p->w, a, sizeof *a);
}

static void C(do_add)(enum group g, struct point *r, const struct point *a, const struct point *b)
{
    if (g == GROUP_G1) {
        AFFINE1 x, y;
        XYZZ1 t;
        C(get1)(&x, a);
        C(get1)(&y, b);
        C(g1_set)(&t, &x);
        C(g1_madd)(&t, &t, &y);
        C(g1_to_affine)(&x, &t);
        C(put1)(r, &x);
    } else {
        AFFINE2 x, y;
        XYZZ2 t;
        C(get2)(&x, a);
        C(get2)(&y, b);
        C(g2_set)(&t, &x);
        C(g2_madd)(&t, &t, &y);
        C(g2_to_affine)(&x, &t);
        C(put2)(r, &x);
    }
}

static void C(do_neg)(enum group g, struct point *r, const struct point *a)
{
    if (g == GROUP_G1) {
        AFFINE1 x;
        C(get1)(&x, a);
        C(g1_affine_neg)(&x, &x);
        C(put1)(r, &x);
    } else {
        AFFINE2 x;
        C(get2)(&x, a);
        C(g2_affine_neg)(&x, &x);
        C(put2)(r, &x);
    }
}

static void C(do_mul)(enum group g, struct point *r, const struct point *a, const struct scalar *k)
{
    if (g == GROUP_G1) {
        AFFINE1 x;
        XYZZ1 t;
        C(get1)(&x, a);
        C(g1_mul)(&t, &x, k->l, 4);
        C(g1_to_affine)(&x, &t);
        C(put1)(r, &x);
    } else {
        AFFINE2 x;
        XYZZ2 t;
        C(get2)(&x, a);
        C(g2_mul)(&t, &x, k->l, 4);
        C(g2_to_affine)(&x, &t);
        C(put2)(r, &x);
    }
}

static bool C(g1_on_curve)(const AFFINE1 *a)
{
    CURVE_COORD l, r;
    C(fq_sqr)(&l, &a->y);
    C(fq_sqr)(&r, &a->x);
    C(fq_mul)(&r, &r, &a->x);
    C(fq_add)(&r, &r, &C(b));
    return C(fq_eq)(&l, &r);
}

static bool C(g2_on_curve)(const AFFINE2 *a)
{
    CURVE_COORD2 l, r;
    C(fq2_sqr)(&l, &a->y);
    C(fq2_sqr)(&r, &a->x);
    C(fq2_mul)(&r, &r, &a->x);
    C(fq2_add)(&r, &r, &C(b2));
    return C(fq2_eq)(&l, &r);
}

static enum point_fault C(do_check)(enum group g, const struct point *a)
{
    size_t words = g == GROUP_G1 ? 2 * CURVE_LIMBS : 4 * CURVE_LIMBS;
    for (size_t i = 0; i < words; i += CURVE_LIMBS)
        if (limbs_cmp(a->w + i, C(fq_const).p, CURVE_LIMBS) >= 0)
            return POINT_NOT_CANONICAL;
    if (g == GROUP_G1) {
        AFFINE1 x;
        C(get1)(&x, a);
        if (C(g1_affine_is_infinity)(&x))
            return POINT_OK;
        if (!C(g1_on_curve)(&x))
            return POINT_NOT_ON_CURVE;
        return C(g1_in_subgroup)(&x) ? POINT_OK : POINT_NOT_IN_SUBGROUP;
    }
    AFFINE2 x;
    C(get2)(&x, a);
    if (C(g2_affine_is_infinity)(&x))
        return POINT_OK;
    if (!C(g2_on_curve)(&x))
        return POINT_NOT_ON_CURVE;
    return C(g2_in_subgroup)(&x) ? POINT_OK : POINT_NOT_IN_SUBGROUP;
}

/* Square roots: q = 3 mod 4 on both curves, so a root is a^((q+1)/4) if there is one. */
static bool C(fq_sqrt)(CURVE_COORD *r, const CURVE_COORD *a)
{
    uint64_t e[CURVE_LIMBS], carry = 1;
    for (int i = 0; i < CURVE_LIMBS; i++) {
        e[i] = C(fq_const).p[i] + carry;
        carry = carry && e[i] == 0;
    }
    for (int i = 0; i < CURVE_LIMBS; i++)
        e[i] = e[i] >> 2 | (i + 1 < CURVE_LIMBS ? e[i + 1] << 62 : 0);
    CURVE_COORD t, s;
    C(fq_pow)(&t, a, e, CURVE_LIMBS);
    C(fq_sqr)(&s, &t);
    if (!C(fq_eq)(&s, a))
        return false;
    *r = t;
    return true;
}

/* By the norm: (x0 + x1 u)^2 = a0 + a1 u means x0^2 = (a0 +- |a|)/2, x1 = a1 / (2 x0), where |a|^2 = a0^2 + a1^2. */
static bool C(fq2_sqrt)(CURVE_COORD2 *r, const CURVE_COORD2 *a)
{
    CURVE_COORD n, t, x, half;
    C(fq_one)(&half);
    C(fq_dbl)(&half, &half);
    C(fq_inv)(&half, &half);
    C(fq2_norm)(&t, a);
    if (!C(fq_sqrt)(&n, &t))
        return false;
    C(fq_add)(&t, &a->c0, &n);
    C(fq_mul)(&t, &t, &half);
    if (C(fq_is_zero)(&t) || !C(fq_sqrt)(&x, &t)) {
        C(fq_sub)(&t, &a->c0, &n);
        C(fq_mul)(&t, &t, &half);
        if (!C(fq_sqrt)(&x, &t))
            return false;
    }
    CURVE_COORD2 s;
    if (C(fq_is_zero)(&x)) { /* a1 = 0 and a0 = -n, or a = 0 */
        C(fq_zero)(&s.c0);
        C(fq_neg)(&t, &a->c0);
        if (!C(fq_sqrt)(&s.c1, &t))
            return false;
    } else {
        s.c0 = x;
        C(fq_dbl)(&x, &x);
        C(fq_inv)(&x, &x);
        C(fq_mul)(&s.c1, &a->c1, &x);
    }
    CURVE_COORD2 check;
    C(fq2_sqr)(&check, &s);
    if (!C(fq2_eq)(&check, a))
        return false;
    *r = s;
    return true;
}

static bool C(do_lift_x)(enum group g, struct point *p)
{
    if (g == GROUP_G1) {
        AFFINE1 a;
        CURVE_COORD t;
        C(get1)(&a, p);
        C(fq_sqr)(&t, &a.x);
        C(fq_mul)(&t, &t, &a.x);
        C(fq_add)(&t, &t, &C(b));
        if (!C(fq_sqrt)(&a.y, &t))
            return false;
        C(put1)(p, &a);
        return true;
    }
    AFFINE2 a;
    CURVE_COORD2 t;
    C(get2)(&a, p);
    C(fq2_sqr)(&t, &a.x);
    C(fq2_mul)(&t, &t, &a.x);
    C(fq2_add)(&t, &t, &C(b2));
    if (!C(fq2_sqrt)(&a.y, &t))
        return false;
    C(put2)(p, &a);
    return true;
}

#define CURVE_FUNCTIONS                                                                                                \
    .fr_add = C(do_fr_add), .fr_sub = C(do_fr_sub), .fr_mul = C(do_fr_mul), .fr_inv = C(do_fr_inv),                    \
    .fr_batch_inv = C(do_fr_batch_inv), .fr_pow = C(do_fr_pow), .fr_from_scalar = C(do_fr_from_scalar),                \
    .fr_to_scalar = C(do_fr_to_scalar), .fr_from_u64 = C(do_fr_from_u64), .fr_root = C(do_fr_root),                    \
    .fq_from_plain = C(do_fq_from_plain), .fq_to_plain = C(do_fq_to_plain), .add = C(do_add), .neg = C(do_neg),        \
    .mul = C(do_mul), .check = C(do_check), .lift_x = C(do_lift_x)
